# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 13 · Exercises: reductions and fusion
#
# You add up arrays with shuffles, atomics and trees, mend a tree, make one kernel of three, and write the loss of a
# softmax and a max pooling so that nothing is read twice. The sheet belongs to lesson 13,
# [Reductions and fusion](../notebooks/13_reductions_and_fusion.ipynb). A warm-up takes about five minutes, a core
# exercise ten to twenty, the stretch half an hour.
#
# No GPU is needed. A check runs your kernel in the course's executor and looks at three things: the values, hazards (an
# index outside of an array, a race between threads, a barrier that not all threads reach), and a budget, which each
# statement names. Numbers are float32, inputs may only be read, and sizes come from the arrays.

# %% [markdown]
# ## The words of the budgets
#
# - The executor counts what is written: each `x[i]` in the text is a **load**, also the second one of the same element.
#   Keep a value that you need twice in a variable, as in `v = x[i]`.
# - A **warp** is 32 threads with neighbouring numbers, its **lanes**. What they load or store together is one
#   **request**. Global memory moves in **sectors** of 32 bytes, 8 neighbouring float32.
# - Lanes that do an **atomic** operation on the same element do so one after the other. Each turn is an **atomic
#   round**.
# - A number such as `0.5` is a float64 in a kernel, and so is what is computed with it; `float32(0.5)` is not. No
#   exercise of this sheet allows operations in float64.

# %%
import math

import numpy as np
from numba import cuda, float32

from course_lib import gpu
from course_lib.checks import check

# %% [markdown]
# ## 13.1 · Predict the warps at work
#
# *2 points, warm-up. Trains: a tree, step by step: lanes and warps. (M. Harris, "Optimizing Parallel Reduction in
# CUDA")*
#
# A block adds up as many numbers as it has threads, in a tree: in each step some of the threads add the number of
# another thread to their own. There are two common orders. t is the number of a thread in its block, and all threads
# go through the loop:
#
# | order | steps, for 256 threads | thread t adds if |
# |---|---|---|
# | "neighbours" | 1, 2, 4, ..., 128 | `t % (2 * step) == 0` |
# | "halves" | 128, 64, 32, ..., 1 | `t < step` |
#
# In both orders 128 threads add in the first step, then 64, and so on. But a warp (threads 0 to 31, 32 to 63, ...) is
# at work as soon as *one* of its lanes adds. Return a list: for each step, in the order of the table, how many warps
# have at least one lane that adds. `threads` is a power of two, from 2 to 1,024; below 32 there is one warp.
#
# Specification: with `adding` the numbers of the threads that add in a step, the number of different values of
# `adding // 32`
#
# <details><summary>Hint 1</summary>
#
# Write down the steps first. `while step < threads:` with `step *= 2` goes through 1, 2, 4, ... The halves are the same
# steps, the other way round.
#
# </details>
# <details><summary>Hint 2</summary>
#
# With `t = np.arange(threads)`, the threads that add in a step are `t[...]`, with the condition of the table in the
# brackets.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `np.unique` keeps each value once, so `len(np.unique(adding // 32))` is the number of warps. Append it to the result.
#
# </details>

# %% exercise="13.1"
def live_warps(threads, order):
    """Return [warps with a lane that adds, for each step] of a tree; order is "neighbours" or "halves"."""
    ### BEGIN SOLUTION
    steps = []
    step = 1
    while step < threads:
        steps.append(step)
        step *= 2
    if order == "halves":
        steps.reverse()
    t = np.arange(threads)
    live = []
    for step in steps:
        adding = t[t % (2 * step) == 0] if order == "neighbours" else t[t < step]
        live.append(len(np.unique(adding // 32)))
    return live
    ### END SOLUTION


# %% check="13.1"
check("13.1", live_warps)

# %% [markdown]
# ## 13.2 · One sum, and a short queue
#
# *2 points, core. Trains: shuffles; one atomic operation a warp. (M. Harris, "Optimizing Parallel Reduction in CUDA")*
#
# x has n elements. total has one, which is 0 before the launch. Add all elements of x to it. Blocks have 32 threads, so
# each of them is one warp, and there are only 3 or 5 of them, however large n is.
#
# `total[0] += v` would be a race, since several threads load, add and store at the same time. An *atomic* addition is
# one step in which nobody comes between. But if every thread makes one for every element, they all stand in one queue.
# So let each thread first add up its elements in a variable of its own, as in the grid-stride loop of exercise 11.2,
# and then let the warp agree on one number. These are the words for it:
#
# ```python
# lane = cuda.laneid                                  # the thread's place in its warp, 0 to 31
# other = cuda.shfl_down_sync(0xFFFFFFFF, acc, 16)    # a shuffle: what acc is in the lane 16 places on
# cuda.atomic.add(total, 0, acc)                      # adds acc to total[0]
# ```
#
# In a *shuffle* every lane gets a number out of another lane's register, with no memory in between. All lanes must take
# part (`0xFFFFFFFF` names them, one bit each), so a shuffle never stands in an `if` that some lanes do not enter. If
# each lane adds the value 16 places on, then 8, 4, 2 and 1, lane 0 has the sum of all 32. What the other lanes have
# then is of no use.
#
# The budget: one atomic round for each block, each element loaded once.
#
# Specification: `total[0] = x.sum()`
#
# <details><summary>Hint 1</summary>
#
# `acc = float32(0)`, then `for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):` with `acc += x[i]`. A thread
# without an element keeps its 0, and still takes part in what follows.
#
# </details>
# <details><summary>Hint 2</summary>
#
# After the loop `step = 16`, and `while step > 0:` each lane adds to acc what a shuffle with `step` brings, and step is
# halved: `step //= 2`.
#
# </details>
# <details><summary>Hint 3</summary>
#
# In the end `if cuda.laneid == 0:` and below it the atomic addition. That is the only `if` of the kernel.
#
# </details>

# %% exercise="13.2"
@gpu.jit
def grid_sum(x, total):
    """Add the sum of x (n,) to total (1,); blocks of one warp, and fewer threads than elements."""
    ### BEGIN SOLUTION
    acc = float32(0)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        acc += x[i]
    step = 16
    while step > 0:
        acc += cuda.shfl_down_sync(0xFFFFFFFF, acc, step)
        step //= 2
    if cuda.laneid == 0:
        cuda.atomic.add(total, 0, acc)
    ### END SOLUTION


# %% check="13.2"
check("13.2", grid_sum)

# %% [markdown]
# ## 13.3 · The sum of a block, as a tree
#
# *2 points, core. Trains: shared memory and barriers; a race. (M. Harris, "Optimizing Parallel Reduction in CUDA")*
#
# x has n elements; the launch has blocks of 128 threads, as many as n needs, and sums has one element for each block.
# Block b adds up x[128 b] to x[128 b + 127], as far as they exist. A shuffle reaches the lanes of one warp only. The
# four warps of a block meet in *shared memory*, which belongs to the block:
#
# ```python
# part = cuda.shared.array(WIDTH, float32)   # one for each block; it begins with nothing in it
# part[t] = ...                              # any thread of the block may write and read any element
# cuda.syncthreads()                         # the barrier: wait until all threads of the block are here
# ```
#
# What one thread writes, another may read only behind a barrier. All threads of a block must come to it, so it never
# stands in an `if`.
#
# Each element of x is loaded once; the rest happens in shared memory: 64 threads add two numbers each, then 32, 16, 8,
# 4, 2, 1. Atomics are not allowed.
#
# The budget: the warps of a block may read shared memory 64 times together. A tree needs fewer, and one thread that
# adds up alone needs 128. And let whole warps drop out: where the threads that add stand side by side, nearly all warps
# agree at the `if`. At most 8 times may a warp of a block go both ways at one (these are its *divergent branches*). Of
# the two orders in 13.1, only one keeps to that.
#
# Specification: `sums[b] = x[128 * b : 128 * (b + 1)].sum()`
#
# <details><summary>Hint 1</summary>
#
# Thread `t = cuda.threadIdx.x` puts the element `i = cuda.grid(1)` into shared memory, and a thread without one puts
# `float32(0)` there, which changes no sum.
#
# </details>
# <details><summary>Hint 2</summary>
#
# The distance begins with 64 and is halved each time. Threads below it add the element at that distance to their own.
# The next step reads what other threads wrote in this one.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `while distance > 0:` the barrier, then `if t < distance:` the addition, then `distance //= 2`. The barrier stands
# in the loop, which all threads walk equally often, and not in the `if`. In the end thread 0 writes the sum to
# `sums[cuda.blockIdx.x]`.
#
# </details>

# %% exercise="13.3"
WIDTH = 128


@gpu.jit
def block_sum(x, sums):
    """Write sums (blocks,), of each block's WIDTH elements of x (n,); blocks of WIDTH threads."""
    ### BEGIN SOLUTION
    part = cuda.shared.array(WIDTH, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = x[i] if i < x.size else float32(0)
    distance = WIDTH // 2
    while distance > 0:
        cuda.syncthreads()
        if t < distance:
            part[t] += part[t + distance]
        distance //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = part[0]
    ### END SOLUTION


# %% check="13.3"
check("13.3", block_sum)

# %% [markdown]
# ## 13.4 · Repair: a tree that waits in the wrong place
#
# *2 points, core. Trains: barriers; reading a report; what changes no maximum. (the course's own)*
#
# A colleague has made a maximum of the sum: out is to hold the largest of each block's 128 elements, as far as they
# exist. The launch is that of exercise 13.3, the order that of the neighbours in 13.1. "Only threads that work need to
# wait", the colleague said, and on the card in the office the numbers were right.
#
# Run the check before you change anything, and read what it says of which thread in which line. Mend one thing at a
# time and run it again: there is more than one. The budget: one load a thread, and 96 reads of shared memory by the
# warps of a block. Atomics are not allowed.
#
# Specification: `out[b] = x[128 * b : 128 * (b + 1)].max()`
#
# <details><summary>Hint 1</summary>
#
# A barrier counts all threads of the block. Which threads never come to this one? They must come to it without doing
# anything else there.
#
# </details>
# <details><summary>Hint 2</summary>
#
# When the barrier stands right, the last block is still wrong: all of its numbers are negative, and its result is 0.
# Where does this 0 come from?
#
# </details>
# <details><summary>Hint 3</summary>
#
# 0 changes no sum, but it changes a maximum. What changes no maximum is minus infinity: `-float32(math.inf)`.
#
# </details>

# %% exercise="13.4"
WIDTH = 128


@gpu.jit
def block_max(x, out):
    """Write out (blocks,), the largest of each block's WIDTH elements of x (n,); blocks of WIDTH threads."""
    ### BEGIN BROKEN
    s = cuda.shared.array(WIDTH, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = float32(0)
    if i < x.size:
        s[t] = x[i]
    step = 1
    while step < WIDTH:
        if t % (2 * step) == 0:
            cuda.syncthreads()
            s[t] = max(s[t], s[t + step])
        step *= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]
    ### END BROKEN
    ### BEGIN SOLUTION
    s = cuda.shared.array(WIDTH, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = -float32(math.inf)
    if i < x.size:
        s[t] = x[i]
    step = 1
    while step < WIDTH:
        cuda.syncthreads()
        if t % (2 * step) == 0:
            s[t] = max(s[t], s[t + step])
        step *= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]
    ### END SOLUTION


# %% check="13.4"
check("13.4", block_max)

# %% [markdown]
# ## 13.5 · Three passes in one
#
# *2 points, core. Trains: fusion: a value stays in its register. (Dey, "Course Organization")*
#
# z is (N, F): N samples, F features, and the bias has one number a feature. After a dense layer a program runs three
# kernels, one after the other. Each has its own guard; only its last line is written down here:
#
# ```python
# a[row, column] = z[row, column] + bias[column]
# b[row, column] = a[row, column] if a[row, column] > 0 else slope * a[row, column]
# out[row, column] = factor * b[row, column]
# ```
#
# Between them everything travels to memory and back: three arrays are read and three written. Make one kernel of them
# that computes the same, for a slope of any size, also above 1. Blocks have 32 x 4 threads (32 along x); the grid
# covers the columns along x and the rows along y, and may reach beyond both.
#
# The budget: N F elements of z and as many of the bias are loaded, N F are stored, and a row of 32 may cost 10 sectors.
#
# Specification: with `v = z + bias`, `out = factor * np.where(v > 0, v, slope * v)`
#
# <details><summary>Hint 1</summary>
#
# `column, row = cuda.grid(2)`, and a guard for both.
#
# </details>
# <details><summary>Hint 2</summary>
#
# What was an array between the passes is a variable now: `v = z[row, column] + bias[column]`. It lies in a register and
# costs no traffic.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `if v < 0:` v becomes slope times v. Then store factor times v. Nothing else is loaded or stored.
#
# </details>

# %% exercise="13.5"
@gpu.jit
def fused(z, bias, slope, factor, out):
    """Write out (N, F): z (N, F) plus bias (F,), leaky ReLU with a slope, times a factor; x covers the columns."""
    ### BEGIN SOLUTION
    column, row = cuda.grid(2)
    if row < z.shape[0] and column < z.shape[1]:
        v = z[row, column] + bias[column]
        if v < 0:
            v = slope * v
        out[row, column] = factor * v
    ### END SOLUTION


# %% check="13.5"
check("13.5", fused)

# %% [markdown]
# ## 13.6 · The loss of a row, read once
#
# *3 points, stretch. Trains: shuffles; softmax that does not overflow. (Dey, "Course Organization")*
#
# z is (N, C): N samples with a logit for each of C classes, C at most 64. labels has N whole numbers, the right class
# of each sample. loss is to hold the cross-entropy of each row's softmax. One warp does one row, and a block has two
# warps. If N is odd, the last warp has no row.
#
# As in lesson 06, take the largest logit out first. Logits here go up to some hundreds, and float32 holds nothing
# beyond exp(88). With t the largest logit and y the right class, the loss of a row is log(sum of exp(z - t)) minus
# (z[y] - t).
#
# Here each lane has two classes, number `lane` and number `lane + 32`, as far as they exist. Load these logits once,
# into two variables. The rest happens in registers. The shuffle of this exercise exchanges values between pairs of
# lanes, so that after five steps *every* lane has the result:
#
# ```python
# other = cuda.shfl_xor_sync(0xFFFFFFFF, value, step)   # step 16: lanes 0 and 16, 1 and 17, ... exchange values
# ```
#
# The largest value of a warp is there already, as a *device function*: kernels call it, and it has no launch of its
# own. A logarithm is `math.log(v)`, an exponential `math.exp(v)`, minus infinity `-float32(math.inf)`.
#
# The budget: C + 33 loads a row. That is each logit once, and the label by all 32 lanes.
#
# Specification: `-np.log(softmax(z))[np.arange(N), labels]`
#
# <details><summary>Hint 1</summary>
#
# `row = cuda.grid(1) // 32`, and a guard for the row around everything. It holds for all lanes of a warp or for none,
# so shuffles may stand in it. A lane without a class must bring a number that changes neither the maximum nor the sum.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `a = z[row, lane] if lane < z.shape[1] else -float32(math.inf)`, and b likewise. Then `top = warp_max(max(a, b))` and
# `total = math.exp(a - top) + math.exp(b - top)`, which you add up over the warp as `warp_max` compares.
#
# </details>
# <details><summary>Hint 3</summary>
#
# The label's logit lies in lane `labels[row] % 32`, in a if the label is below 32, in b otherwise. So this lane stores
# `math.log(total) - (logit - top)`.
#
# </details>

# %% exercise="13.6"
@gpu.jit(device=True)
def warp_max(value):
    """Return the largest value of the warp, to every lane."""
    step = 16
    while step > 0:
        value = max(value, cuda.shfl_xor_sync(0xFFFFFFFF, value, step))
        step //= 2
    return value


@gpu.jit
def row_losses(z, labels, loss):
    """Write loss (N,), the softmax cross-entropy of each row of z (N, C <= 64) with labels (N,); a warp a row."""
    ### BEGIN SOLUTION
    lane, row = cuda.laneid, cuda.grid(1) // 32
    if row < z.shape[0]:
        a = z[row, lane] if lane < z.shape[1] else -float32(math.inf)
        b = z[row, lane + 32] if lane + 32 < z.shape[1] else -float32(math.inf)
        top = warp_max(max(a, b))
        total = math.exp(a - top) + math.exp(b - top)
        step = 16
        while step > 0:
            total += cuda.shfl_xor_sync(0xFFFFFFFF, total, step)
            step //= 2
        label = labels[row]
        if lane == label % 32:
            logit = a if label < 32 else b
            loss[row] = math.log(total) - (logit - top)
    ### END SOLUTION


# %% check="13.6"
check("13.6", row_losses)

# %% [markdown]
# ## 13.7 · Max pooling with its mask
#
# *3 points, core. Trains: from one number to an output; padding; the first of equals wins. (Dey, "Pooling Kernel")*
#
# x is (C, H, W): C maps. Windows are size x size. They are stride apart, and the first one begins pad rows above and
# pad columns left of the map. What lies outside of the map never wins. y holds the largest value of each window, and
# mask, in whole numbers, where in its map this value lies: row * W + column. Of equal values the first one wins, row by
# row. Every window has at least one element of the map.
#
# Dey's kernel numbers all outputs in one row, map by map and row by row, and a thread takes those with its number in a
# grid-stride loop. So one axis of threads is enough for three axes of outputs. Do the same: there are 2 or 3 blocks of
# 32 threads, whatever the sizes. Take the shape of the outputs from y; `y.size` is their number.
#
# Specification, where pad is 0: y[c, i, j] is the largest value of `x[c, i*stride : i*stride + size, j*stride :
# j*stride + size]`, and mask[c, i, j] the row times W plus the column of the first element that has it
#
# <details><summary>Hint 1</summary>
#
# Of output number n, the column is `n % columns`, with `columns = y.shape[2]`. `n // columns` counts rows through all
# maps; divide it in the same way into map and row.
#
# </details>
# <details><summary>Hint 2</summary>
#
# The window's first row is `top = i * stride - pad`. Of its rows only those from `max(top, 0)` to below
# `min(top + size, x.shape[1])` are in the map.
#
# </details>
# <details><summary>Hint 3</summary>
#
# Begin with `best = -float32(math.inf)`, not with 0: all values may be negative. Two loops, rows outside. Only a value
# that is larger than best, not an equal one, takes its place. Keep value and place together, and store both at the end.
#
# </details>

# %% exercise="13.7"
@gpu.jit
def max_pool(x, size, stride, pad, y, mask):
    """Write y and mask (C, H_out, W_out) of the size x size windows of x (C, H, W), with any number of threads."""
    ### BEGIN SOLUTION
    H, W = x.shape[1], x.shape[2]
    rows, columns = y.shape[1], y.shape[2]
    for n in range(cuda.grid(1), y.size, cuda.gridsize(1)):
        j = n % columns
        i = n // columns % rows
        c = n // columns // rows
        top, left = i * stride - pad, j * stride - pad
        best = -float32(math.inf)
        place = -1
        for row in range(max(top, 0), min(top + size, H)):
            for column in range(max(left, 0), min(left + size, W)):
                if x[c, row, column] > best:
                    best = x[c, row, column]
                    place = row * W + column
        y[c, i, j] = best
        mask[c, i, j] = place
    ### END SOLUTION


# %% check="13.7"
check("13.7", max_pool)

# %% [markdown]
# ## 13.8 · Four elements a thread, before the tree
#
# *2 points, core. Trains: coarsening, and which four. (Dey, "Course Organization")*
#
# In a tree half of the threads load one number and are done. So give a thread more to do before the tree begins:
# *thread coarsening*. x has n elements, and sums is to hold the sum of the squares of each 256 of them; such sums tell
# how long a gradient is. A block has 64 threads for its 256 elements. Each thread first adds up the squares of four
# elements in a variable; then a tree adds up 64 numbers in shared memory, as in exercise 13.3. The last block may have
# fewer elements.
#
# Which four? Look at the warp at one moment, never at one thread through time. The budget: n / 8 sectors, rounded up,
# which is each sector once; each element loaded once; 16 shared load requests a block. Atomics are not allowed.
#
# Specification: `sums[b] = (x[256 * b : 256 * (b + 1)] ** 2).sum()`
#
# <details><summary>Hint 1</summary>
#
# In one turn the 64 threads should load 64 neighbours. So a thread's four elements lie 64 places apart.
#
# </details>
# <details><summary>Hint 2</summary>
#
# In turn k, thread t has element `cuda.blockIdx.x * FOUR * THREADS + k * THREADS + t`, if there is such an element.
# Load it once, `v = x[i]`, and add `v * v` to a variable that began as `float32(0)`.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `part[t] = acc` stands behind the loop, with no guard: the tree wants a number from every thread. Then the tree as in
# 13.3, beginning with a distance of `THREADS // 2`.
#
# </details>

# %% exercise="13.8"
FOUR = 4
THREADS = 64


@gpu.jit
def square_sums(x, sums):
    """Write sums (blocks,), of the squares of FOUR * THREADS elements of x (n,) each; blocks of THREADS threads."""
    ### BEGIN SOLUTION
    part = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    first = cuda.blockIdx.x * FOUR * THREADS
    acc = float32(0)
    for k in range(FOUR):
        i = first + k * THREADS + t
        if i < x.size:
            v = x[i]
            acc += v * v
    part[t] = acc
    distance = THREADS // 2
    while distance > 0:
        cuda.syncthreads()
        if t < distance:
            part[t] += part[t + distance]
        distance //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = part[0]
    ### END SOLUTION


# %% check="13.8"
check("13.8", square_sums)

# %% [markdown]
# ## 13.9 · In your own words: a sum that changes
#
# *2 points, core. Trains: rounding and order. (the course's own)*
#
# A program adds up a million losses in float32 with `cuda.atomic.add(total, 0, loss[i])`. On the same GPU, with the
# same numbers, the last digits of the result change from run to run. With the tree of exercise 13.3, launched again and
# again for its own partial sums until one number is left, they never do.
#
# Explain both, in about six sentences. Use this example: three threads add 1,000,000,000, then 1, then -1,000,000,000
# to a total of 0, in any order. Near 1,000,000,000 the float32 numbers lie 64 apart. Which results are possible, and
# when? And is the result of the tree, which is always the same, therefore the exact sum?

# %% [markdown] answer="13.9"
# <!-- BEGIN SOLUTION -->
# Each addition of floating-point numbers is rounded to the nearest number that float32 has. 1,000,000,000 + 1 lies
# between two of them and becomes 1,000,000,000 again. So if the 1 arrives before one of the large numbers, it is lost
# and the result is 0; only if it arrives last, the large numbers have gone and the result is 1. An atomic addition lets
# nobody come between, but it does not say who comes first. That is decided by which warps and blocks the hardware
# happens to run earlier, and may be different in each run. In the tree the threads' numbers say who adds
# what to what, and the barriers see to it that nobody is early. The same additions in the same order round in the same
# way, so the bits are the same. That does not make the result exact: each addition of the tree rounds too, and a tree
# with another block size may give other last digits.
#
# **Marking**, half a point each: (a) each addition rounds, so the result depends on the order, with 0 and 1 for the
# example; (b) the order in which atomic additions arrive is not fixed and may change from run to run; (c) in the tree
# thread numbers and barriers fix the order, so all roundings are the same; (d) the same each time does not mean exact:
# the tree rounds too. "Atomics lose additions" for (b) earns nothing: that would be the race, and atomics are its cure.
# <!-- END SOLUTION -->
