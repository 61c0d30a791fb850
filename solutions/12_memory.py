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
# # 12 · Exercises: memory
#
# You let neighbours read neighbours, count sectors and turns at the banks, turn an image in shared memory, mend a
# kernel that waits, and find out what limits a launch. The sheet belongs to lesson 12,
# [Memory](../notebooks/12_memory.ipynb). A warm-up takes about five minutes, a core exercise ten to twenty.
#
# No GPU is needed. A check runs your kernel in the course's executor and looks at three things: the values, hazards (an
# index outside of an array, a race between threads), and a budget of traffic, which each statement names. Numbers are
# float32, inputs may only be read, and sizes come from the arrays.

# %% [markdown]
# ## The words of the budgets
#
# - A **warp** is 32 threads with neighbouring numbers. What they load or store together is one **request**.
# - Global memory moves in **sectors** of 32 bytes, 8 neighbouring float32. A request costs as many sectors as its lanes
#   touch: 4 if 32 threads read 32 neighbours from the beginning of a sector on, 32 if each reads somewhere else.
# - Shared memory belongs to a block. It has 32 **banks**, and word number w (4 bytes, one float32) lies in bank w % 32.
#   A bank gives one word a turn. If lanes of a warp want different words of the same bank, they take turns: a **bank
#   conflict**. If they want the same word, one turn is enough for all.

# %%
import numpy as np
from numba import cuda, float32

from course_lib import gpu
from course_lib.checks import check

# %% [markdown]
# ## 12.1 · Four elements a thread
#
# *2 points, warm-up. Trains: coalescing: neighbours side by side. (the course's own)*
#
# x and y have n elements. Copy x to y with a quarter of the threads: blocks have 64 threads, and there is one block for
# each 256 elements, the last 256 perhaps not complete. So each thread copies four elements, or fewer near the end.
#
# Which four? "Each thread its own four, one after the other" sounds tidy, but then the 32 threads of a warp touch
# elements 0, 4, 8, ... at the same time, and each request moves 16 sectors for 128 useful bytes. The budget is the
# minimum: loads and stores together touch each sector once, n / 8 rounded up on either side.
#
# Specification: `y = x`
#
# <details><summary>Hint 1</summary>
#
# Think of what a warp does in one instruction: thread t must touch the element beside that of thread t + 1. So a
# thread's four elements lie far apart. How far, you may choose: by the threads of a block, if block b copies the
# elements from 256 b on, or by all threads of the grid.
#
# </details>
# <details><summary>Hint 2</summary>
#
# By the block: in turn k, thread t takes the element `k * cuda.blockDim.x + cuda.threadIdx.x` of its block, whose first
# element is `cuda.blockIdx.x * FOUR * cuda.blockDim.x`. By the grid: it takes `cuda.grid(1) + k * cuda.gridsize(1)`.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `for k in range(FOUR):` compute i in one of the two ways, then `if i < x.size:` and the copy.
#
# </details>

# %% exercise="12.1"
FOUR = 4


@gpu.jit
def copy_four(x, y):
    """Write y (n,) = x (n,); blocks of 64 threads, each thread copies FOUR elements, one block for each FOUR * 64."""
    ### BEGIN SOLUTION
    first = cuda.blockIdx.x * FOUR * cuda.blockDim.x + cuda.threadIdx.x
    for k in range(FOUR):
        i = first + k * cuda.blockDim.x
        if i < x.size:
            y[i] = x[i]
    ### END SOLUTION


# %% check="12.1"
check("12.1", copy_four)

# %% [markdown]
# ## 12.2 · How many sectors
#
# *2 points, warm-up. Trains: from addresses to sectors. (NVIDIA, "CUDA C++ Best Practices Guide")*
#
# Lane l of a warp, 0 to 31, reads element `offset + stride * l` of a float32 array, which begins at the beginning of a
# sector. How many sectors move? Return a whole number, for any stride and offset from 0 on. A sector moves once,
# however many lanes touch it, and one that no lane touches does not move.
#
# Specification, by examples:
#
# | stride | offset | elements of lanes 0, 1, 2, ..., 31 | sectors |
# |---|---|---|---|
# | 1 | 0 | 0, 1, 2, ..., 31 | 4 |
# | 1 | 1 | 1, 2, 3, ..., 32 | 5 |
# | 2 | 0 | 0, 2, 4, ..., 62 | 8 |
# | 8 | 0 | 0, 8, 16, ..., 248 | 32 |
#
# <details><summary>Hint 1</summary>
#
# Write down the elements of the 32 lanes: `offset + stride * np.arange(32)`.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Eight float32 are a sector, so element e lies in sector e // 8.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `np.unique` keeps each value once; `len` counts them. A Python set does it too.
#
# </details>

# %% exercise="12.2"
def sectors(stride, offset):
    """Return how many sectors of 32 bytes a warp touches whose lane l reads float32 number offset + stride * l."""
    ### BEGIN SOLUTION
    elements = offset + stride * np.arange(32)
    return len(np.unique(elements // 8))
    ### END SOLUTION


# %% check="12.2"
check("12.2", sectors)

# %% [markdown]
# ## 12.3 · A quarter turn within a traffic budget
#
# *3 points, core. Trains: coalescing, a shared tile, its padding. (M. Harris, "An Efficient Matrix Transpose in CUDA
# C/C++")*
#
# A photograph that was taken with the camera held upright has to be turned by 90 degrees to the right. x is the image
# (R, C), y is (C, R), of any size. A block has 32 x 32 threads and one tile of x; the grid has as many tiles along x as
# C needs, along y as R needs. Threads with neighbouring `threadIdx.x` are a warp. The first row of x becomes the last
# column of y, and a small image shows the rest:
#
# ```
# x   1 2 3      y   4 1
#     4 5 6          5 2
#                    6 3
# ```
#
# A kernel that says `y[column, R - 1 - row] = x[row, column]` is right, but a warp that reads a row of x writes a
# column of y: 32 sectors a request. The way out is a tile in *shared memory*, which all threads of a block see:
#
# ```python
# tile = cuda.shared.array((32, 32), float32)   # one for each block; it begins with nothing in it
# tile[i, j] = ...                              # any thread of the block may write and read any element
# cuda.syncthreads()                            # the barrier: wait until all threads of the block are here
# ```
#
# What one thread writes, another may read only behind a barrier. All threads of a block must come to it, so it never
# stands in an `if`. Sizes of a shared array are numbers, or names of constants such as `SIDE`; `SIDE + 1` is not
# allowed.
#
# The budget: at most 5 sectors for each row of a tile, on both sides (a row that begins in the middle of a sector
# touches five), and no bank conflict.
#
# Specification: `y[c, R - 1 - r] = x[r, c]`
#
# <details><summary>Hint 1</summary>
#
# Read the tile row by row into shared memory, wait for all, and write it to y row by row of y. Neighbours of a warp
# write neighbours of a row of y also if they do it from right to left.
#
# </details>
# <details><summary>Hint 2</summary>
#
# For the store, let thread (tx, ty) of the block take the element of x with column `c = blockIdx.x * SIDE + ty` and row
# `r = blockIdx.y * SIDE + tx`: the thread's two indices have changed places. Where in the tile is it, and where does it
# go in y? Both accesses need a guard, the barrier none.
#
# </details>
# <details><summary>Hint 3</summary>
#
# The element r, c of x lies in `tile[tx, ty]` and goes to `y[c, x.shape[0] - 1 - r]`, if r and c are inside of x. So a
# warp reads a column of the tile. A column of a (32, 32) tile lies in one bank; in a tile with one unused column more
# it lies in all 32.
#
# </details>

# %% exercise="12.3"
SIDE = 32


@gpu.jit
def turn_right(x, y):
    """Write y (C, R), the image x (R, C) turned to the right; blocks of SIDE x SIDE threads, one tile of x each."""
    ### BEGIN SOLUTION
    tile = cuda.shared.array((SIDE, 33), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        tile[ty, tx] = x[row, column]
    cuda.syncthreads()
    c, r = cuda.blockIdx.x * SIDE + ty, cuda.blockIdx.y * SIDE + tx
    if c < x.shape[1] and r < x.shape[0]:
        y[c, x.shape[0] - 1 - r] = tile[tx, ty]
    ### END SOLUTION


# %% check="12.3"
check("12.3", turn_right)

# %% [markdown]
# ## 12.4 · Repair: a kernel that waits for banks
#
# *2 points, core. Trains: bank conflicts; reading a report. (the course's own)*
#
# x has R rows of 32 numbers, and s is to hold the sum of each row. If thread t read row t, a warp would touch 32 rows
# at once: 32 sectors a request. So this kernel first brings a tile of 32 rows into shared memory, row by row, and then
# thread t adds up row t of the tile. The loads from global memory are as good as can be, the sums are right, and still
# it is slow.
#
# Run the check and read what it counts, and in which line. Then mend the kernel; a single line is enough. The budget: 4
# sectors a row, each element loaded once, no bank conflict, nothing in float64.
#
# Specification: `s = x.sum(axis=1)`
#
# <details><summary>Hint 1</summary>
#
# In turn k all lanes read column k of the tile. Which words are these, counted row by row, and in which banks do they
# lie?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Word number of `tile[t, k]` is 32 t + k, and its bank the remainder by 32: k for every t. What if a row of the tile
# were not 32 words long?
#
# </details>
# <details><summary>Hint 3</summary>
#
# With rows of 33 words, the word is 33 t + k and the bank (t + k) % 32: another one for each t. The additional column
# holds nothing.
#
# </details>

# %% exercise="12.4"
SIDE = 32


@gpu.jit
def tile_sums(x, s):
    """Write s (R,), the sums of the rows of x (R, 32), by way of a shared tile; a block has 32 threads and 32 rows."""
    ### BEGIN BROKEN
    tile = cuda.shared.array((SIDE, SIDE), float32)
    ### END BROKEN
    ### BEGIN SOLUTION
    tile = cuda.shared.array((SIDE, 33), float32)
    ### END SOLUTION
    t = cuda.threadIdx.x
    first = cuda.blockIdx.x * SIDE
    for r in range(SIDE):
        if first + r < x.shape[0]:
            tile[r, t] = x[first + r, t]
        else:
            tile[r, t] = float32(0)
    cuda.syncthreads()
    acc = float32(0)
    for k in range(SIDE):
        acc += tile[t, k]
    if first + t < s.size:
        s[first + t] = acc


# %% check="12.4"
check("12.4", tile_sums)

# %% [markdown]
# ## 12.5 · How many turns at the banks
#
# *2 points, core. Trains: from words to banks; a broadcast. (NVIDIA, "CUDA C++ Programming Guide")*
#
# Lane l of a warp reads word `stride * l` of shared memory. Return how many turns this takes; the profiler's name for a
# turn is *wavefront*. Word w lies in bank w % 32. In a turn each bank gives one word, to all lanes that want this word.
# So the number of turns is the largest number of *different* words in one bank: 1 for neighbours, 32 for a column of a
# 32 x 32 tile (31 more than needed), and 1 again for a padded one with a stride of 33.
#
# Specification: with `words` the different values of `stride * l`, the most words with the same `words % 32`
#
# <details><summary>Hint 1</summary>
#
# First the words, each once: `np.unique(stride * np.arange(32))`.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Then their banks, `words % 32`. How often does each bank occur?
#
# </details>
# <details><summary>Hint 3</summary>
#
# `np.bincount(banks)` counts how often each number occurs. The largest of these counts, as a whole number: `int(...)`.
#
# </details>

# %% exercise="12.5"
def wavefronts(stride):
    """Return the turns of a warp's read of shared memory, lane l reading word stride * l; stride >= 0."""
    ### BEGIN SOLUTION
    words = np.unique(stride * np.arange(32))
    banks = words % 32
    return int(np.bincount(banks).max())
    ### END SOLUTION


# %% check="12.5"
check("12.5", wavefronts)

# %% [markdown]
# ## 12.6 · What keeps an SM from more blocks
#
# *3 points, core. Trains: occupancy and its four limits. (NVIDIA, "CUDA C++ Programming Guide")*
#
# An SM holds several blocks at a time, so that it has something to do while some warps wait for memory. How many it
# holds is the smallest of four numbers:
#
# 1. **threads**: a block takes whole warps, and an SM has room for so many warps.
# 2. **blocks**: an SM takes no more than so many blocks, whatever their size.
# 3. **shared memory**: a block takes its shared bytes and 1,024 more for the driver, together rounded up to a multiple
#    of 128. The SM has so many bytes.
# 4. **registers**: a warp takes 32 times the registers of a thread, rounded up to a multiple of 256. An SM is made of
#    four quarters with 16,384 registers each, and a warp lies in one of them. So first find how many warps a quarter
#    holds, four times as many in the SM, and from these the whole blocks.
#
# Return two things: the number of blocks, and what limits them, as one of the texts "threads", "blocks", "shared
# memory", "registers". If several allow equally few, the first of them in this order.
#
# Specification: `min(limits.values())` of the four limits, each rounded down
#
# <details><summary>Hint 1</summary>
#
# `-(-n // m)` is n / m rounded up, so `-(-n // m) * m` is the next multiple of m. Warps of a block: `-(-threads //
# 32)`.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Keep the limits in a dict in the order of the list: `limits = {"threads": room // warps, "blocks": ..., ...}`. For the
# registers: `16_384 // taken * 4 // warps` with the registers `taken` by a warp.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `name = min(limits, key=limits.get)` is the first key with the smallest value; return `limits[name]` and `name`.
#
# </details>

# %% exercise="12.6"
SM = {  # room for warps, most blocks, bytes of shared memory
    "A100": (64, 32, 167_936),
    "H200": (64, 32, 233_472),
    "RTX 4090": (48, 24, 102_400),
}


def blocks_per_sm(device, threads, shared_bytes, registers):
    """Return (blocks that an SM of a device in SM holds, what limits them); registers are those of a thread."""
    ### BEGIN SOLUTION
    room, most, shared = SM[device]
    warps = -(-threads // 32)
    block_bytes = -(-(shared_bytes + 1024) // 128) * 128
    warp_registers = -(-32 * registers // 256) * 256
    limits = {
        "threads": room // warps,
        "blocks": most,
        "shared memory": shared // block_bytes,
        "registers": 16_384 // warp_registers * 4 // warps,
    }
    name = min(limits, key=limits.get)
    return limits[name], name
    ### END SOLUTION


# %% check="12.6"
check("12.6", blocks_per_sm)

# %% [markdown]
# ## 12.7 · Which roof
#
# *2 points, core. Trains: the roofline as a time. (Williams, Waterman, Patterson, "Roofline")*
#
# A kernel does `flops` operations and moves `moved` bytes to and from memory. A device does at most `peak` operations a
# second and moves at most `bandwidth` bytes a second. Both go on at the same time, so at best the kernel takes as long
# as the slower of the two: this is its roof.
#
# Return two things: "memory" or "arithmetic", whichever takes longer, and this time in seconds. If both take equally
# long, the kernel is at the ridge of the roofline; call that "arithmetic". flops or moved may be 0.
#
# Specification: `max(flops / peak, moved / bandwidth)`
#
# <details><summary>Hint 1</summary>
#
# Compute both times. Operations divided by operations a second are seconds.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Memory is the limit if its time is longer. Compare the two times: `flops / moved`, as the roofline has it, cannot be
# computed for a kernel that moves nothing.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `if by_memory > by_arithmetic:` return "memory" and its time; otherwise return "arithmetic" and the other time.
#
# </details>

# %% exercise="12.7"
def bound(flops, moved, peak, bandwidth):
    """Return ("memory" or "arithmetic", the least seconds); flops operations, moved bytes, rates a second."""
    ### BEGIN SOLUTION
    by_arithmetic = flops / peak
    by_memory = moved / bandwidth
    if by_memory > by_arithmetic:
        return "memory", by_memory
    return "arithmetic", by_arithmetic
    ### END SOLUTION


# %% check="12.7"
check("12.7", bound)

# %% [markdown]
# ## 12.8 · In your own words: the best hit rate, and the slowest
#
# *2 points, core. Trains: what a ratio does not say. (the course's own)*
#
# Two kernels compute the same: y[i] is the sum of the 64 neighbours of x[i]. In the first kernel each thread reads its
# 64 elements from global memory. In the second kernel a block loads its elements once into shared memory and adds them
# up there. Suppose that a profiler shows a cache hit rate of 97 % for the first kernel and of 5 % for the second, and
# that the first one takes several times as long.
#
# Explain in about six sentences to somebody who says "97 % hits, this kernel cannot be improved": what does the hit
# rate say, what does it not say, and which number would you look at first?

# %% [markdown] answer="12.8"
# <!-- BEGIN SOLUTION -->
# The hit rate is a ratio: of the reads that were made, which share was answered by the cache. It does not say how many
# reads were made, and whether they were needed. The first kernel reads every element of x about 64 times. The cache
# answers nearly all of these reads *because* they are repetitions, so the good hit rate is a sign of redundant work.
# Each hit still is a request, takes its turn at the cache, and is slower than shared memory or a register. The second
# kernel has left out the repetitions; what remains are the first reads, which no cache can answer, so its hit rate must
# be low. I would look at the number of requests (or of sectors), compared with the least possible, and at the time
# itself.
#
# **Marking**, half a point each: (a) a rate is relative to the reads that are made and does not tell their number; (b)
# the many hits come from reading the same elements again and again, which is avoidable; (c) a hit is not free: it is a
# request and takes cache bandwidth and latency; (d) an absolute number is named: requests, sectors or bytes against the
# minimum, or the time. "The cache is too small" for any of them earns nothing: the cache works as well as it can.
# <!-- END SOLUTION -->
