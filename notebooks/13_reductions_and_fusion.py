# ---
# jupyter:
#   course_form: 2
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
# # 13 · Reductions and fusion: many hands, one result
#
# The loss of a mini-batch is *one* number, made from thousands. So far every thread had an output of its own, and none
# had to know of another. Now all of them want to add to the same place. More threads, more speed, one would think. Here
# are 256 of them, adding up 256 numbers.

# %% tags=["hide-input"]
import numpy as np
from numba import cuda, float32, int32

from course_lib import data, gpu
from course_lib import reference as ops
from course_lib.lesson import measured, predict, table

THREADS = 256

@gpu.jit
def tree_of_neighbours(x, out):
    s = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = 1
    while step < THREADS:
        if t % (2 * step) == 0:
            s[t] += s[t + step]
        cuda.syncthreads()
        step *= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]

numbers = np.arange(THREADS, dtype=np.float32)
gpu.trace(tree_of_neighbours[1, THREADS], numbers, np.zeros(1, np.float32), warp=None).tree()

# %% [markdown]
# In the last step one thread adds and 255 look on. On this page you make such trees quick, and then you find that the
# best thing to do with a number on its way is to do everything with it at once.
#
# ## You will be able to
#
# - recognise a race, and say which barrier or atomic operation removes it, and what that costs;
# - add up an array in six ways, and say of each which waste it removes;
# - write softmax, loss, and max pooling as kernels that read their input once;
# - fuse kernels, give a thread more than one element, and predict from counted bytes what that is worth.

# %% [markdown]
# <details><summary>About this page</summary>
#
# It covers three points of Prof. Dey's course plan, "Optimizing reduction kernels" and "Kernel fusion, thread and block
# coarsening" among them, and his max pooling kernel. The ladder of sums follows an idea of Mark Harris. You need
# lessons 11 and 12, and softmax from lesson 06. Reading and trying takes about 75 minutes.
#
# </details>

# %% [markdown]
# ## A race
#
# Start with what everybody writes first: each thread adds its number to the total.

# %%
@gpu.jit
def racy_sum(x, total):
    i = cuda.grid(1)
    if i < x.size:
        total[0] += x[i]

# %% [markdown]
# It looks like one step. Take only two threads, and a number each.

# %% tags=["hide-input"]
ones = predict(
    "Two threads execute total[0] += 1 when total[0] is 0. Which results are possible?",
    ["always 2", "1 or 2", "0, 1 or 2"],
    answer="1 or 2",
    reveals=2,
)
ones

# %% tags=["hide-output"]
two, total = np.ones(2, np.float32), np.zeros(1, np.float32)
report = gpu.simulate(racy_sum, 1, 2, two, total, on_error="collect")
print(report.hazards[0])

# %% [markdown]
# <details class="reveal"><summary>Three steps that look like one</summary>
#
# `total[0] += 1` is a load, an addition, and a store. If both threads load before either stores, both load 0, both
# store 1, and one of the additions is lost. It cannot be 0: whoever stores last stores 1 at least. Which of them
# happens is up to the hardware, and may change from run to run.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
ones.confirm("1 or 2" if report.hazards[0].kind == "race" else "always 2")

# %%
report.race_picture()

# %% [markdown]
# An **atomic** operation makes the three steps one: nobody else comes in between.

# %%
@gpu.jit
def atomic_sum(x, total):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(total, 0, x[i])

report = gpu.simulate(atomic_sum, 8, 128, np.ones(1000, np.float32), total)
print("findings:", len(report.hazards))
print("threads that had to queue:", report.total.atomic_serialised)

# %% [markdown]
# The result is right, but it is slow: the threads stand in a queue. (The executor counts it for each warp: of 32
# threads one goes ahead and 31 wait, together 1,000 − 32 = 968. On a card the warps wait for each other as well.) For
# sixty-seven million numbers:

# %% tags=["hide-input"]
queue = measured("atomics or a tree", card="h200")
table(
    [(name.replace("_", " "), 1e6 * queue.seconds[name]) for name in ("atomic_sum", "tree_of_neighbours")],
    ["kernel", "microseconds"],
    formats={"microseconds": ",.0f"},
    caption=f"Sum of {queue.size} numbers, measured on an {queue.card}",
)

# %% [markdown]
# A tenth of a second against half a millisecond. There is a second, quieter price. Floating-point sums depend
# on their order, because each addition is rounded. Atomics add in the order of arrival, so the last digits may differ
# from one run to the next:

# %%
values = np.random.default_rng(0).normal(size=100_000).astype(np.float32)
one_order = np.add.accumulate(values)[-1]
other_order = np.add.accumulate(values[::-1])[-1]
print(f"{one_order:.4f} forwards, {other_order:.4f} backwards")
print(f"{values.sum(dtype=np.float64):.4f} in float64")

# %% [markdown]
# ## A tree, and where its barriers stand
#
# A **reduction** makes one number from many, with an operation that may be regrouped, up to rounding. Neighbours are
# added pairwise, then the sums pairwise, and after eight steps 256 numbers are one. In each step a thread reads what
# another one wrote in the step before. So there is a barrier after each.
#
# This is the tree of the picture on top:
#
# ```python
# @gpu.jit
# def tree_of_neighbours(x, out):
#     s = cuda.shared.array(THREADS, float32)      # THREADS = 256, also the size of the block
#     t = cuda.threadIdx.x
#     s[t] = x[cuda.grid(1)]
#     cuda.syncthreads()
#     step = 1
#     while step < THREADS:
#         if t % (2 * step) == 0:
#             s[t] += s[t + step]
#         cuda.syncthreads()
#         step *= 2
#     if t == 0:
#         out[cuda.blockIdx.x] = s[0]
# ```
#
# The barrier in the loop stands behind the `if`, not in it, although only those threads add that are in it. Move it in,
# and see what the executor says:

# %%
@gpu.jit
def barrier_in_the_branch(x, out):
    s = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = 1
    while step < THREADS:
        if t % (2 * step) == 0:
            s[t] += s[t + step]
            cuda.syncthreads()
        step *= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]

report = gpu.simulate(barrier_in_the_branch, 1, 256, numbers, total, on_error="collect")
print(report.hazards[0])

# %% [markdown]
# A barrier waits for *all* threads of the block. Those that do not enter the branch never come to it, and what happens
# then is undefined: the block may hang, or go on with half of the sums.
#
# Now for the waste. In the first round every second thread adds, in the next one every fourth, then every eighth. They
# are spread over all warps of the block.

# %% tags=["hide-input"]
steps = predict(
    "A block of 512 threads, 16 warps. Count the warps that have at least one adding lane, over all nine rounds. If "
    "the adding threads stood side by side, it would be 8 + 4 + 2 + 1 + 1 + 1 + 1 + 1 + 1 = 20. How many is it with "
    "t % (2 * step)?",
    [20, 47, 95, 144],
    answer=95,
    reveals=2,
)
steps

# %% tags=["hide-output"]
rounds = [2**k for k in range(9)]
adding = [[t for t in range(512) if t % (2 * step) == 0] for step in rounds]
at_work = [len({t // 32 for t in threads}) for threads in adding]
print("warps at work in each round:", at_work, "in all:", sum(at_work))

# %% [markdown]
# <details class="reveal"><summary>Where the twenty come from</summary>
#
# Up to a distance of 16 every warp has an adding lane, so all sixteen walk through the branch, most of their lanes
# switched off: 5 · 16 + 8 + 4 + 2 + 1 = 95. Let instead the first threads add, `if t < step` with distances of 256,
# 128, ..., 1. The same 511 additions, but now whole warps have nothing to do and drop out.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
steps.confirm(sum(at_work))

# %%
@gpu.jit
def tree_of_halves(x, out):
    s = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = THREADS // 2
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]

gpu.trace(tree_of_halves[1, 256], numbers, total, warp=None).tree()

# %% [markdown]
# ## Six rungs
#
# Look at the picture again: even now, half of the warps *never* add anything. They load one number each and are done.
# So let every thread add two numbers while it loads them. That is half as many threads, and rung 3 of the ladder in
# `course_lib/cuda/ladders/reduce`; `tree_of_neighbours` and `tree_of_halves` are its rungs 1, interleaved, and 2,
# sequential. Each rung removes one waste:

# %% tags=["hide-input"]
from course_lib.cuda.ladders import reduce

table(
    [(f"{rung.number} {rung.name[4:].replace('_', ' ')}", rung.changed) for rung in reduce.LADDER],
    ["rung", "what changed"],
)

# %% [markdown]
# What the executor counts for each of them is known beforehand: every rung comes with a formula, `traffic(n)`. Here
# both are side by side for 10,000 numbers.

# %% tags=["hide-input"]
n, counters = 10_000, ("divergent_branches", "barriers", "shared_load_requests", "global_load_requests")
rows = []
for rung in reduce.LADDER:
    reports = gpu.simulate_launches(rung.launch, np.ones(n, np.float32), np.zeros(1, np.float32))
    counted = {name: sum(getattr(r.total, name) for r in reports) for name in {*counters, *rung.traffic(n)}}
    assert all(counted[name] == number for name, number in rung.traffic(n).items())
    name = f"{rung.number} {rung.name[4:].replace('_', ' ')}"
    rows.append((name, len(reports), *(counted[counter] for counter in counters)))
heads = ["rung", "launches", *(name.replace("_", " ") for name in counters)]
table(rows, heads, caption=f"Counted, and as the formulas say, for {n:,} numbers; all but launches once for each warp")

# %% [markdown]
# Read it from row to row. Rung 2 cuts the divided branches, rung 3 halves what is left of everything, rung 4 almost
# empties shared memory and the list of barriers. (It has a few more divided branches, since lane 0 of every warp hands
# over the warp's sum.) Rung 5 has its second launch in the counts, and what it saves shows with larger arrays: its
# barriers do not grow with them. Rung 6 needs a third of the load requests, because each of its loads brings four
# numbers for every lane.
#
# And who adds up the blocks' sums? In rungs 1 to 4 a further launch of the same kernel does, until one number is left.
# Rung 5 needs just two launches, for any size. In rung 6, each block counts itself off with an atomic operation on a
# whole number; the one that draws the last number adds up the sums of all, in the order of the blocks, so that the bits
# are always the same.

# %% [markdown]
# What makes the fall in rung 4 is a new instruction. In a **shuffle**, `cuda.shfl_down_sync(mask, value, step)`, each
# lane gets the value of the lane `step` places on, out of that lane's register. (Where there is no such lane, it gets
# its own back, and the sum of those lanes is of no use; the result is in lane 0.) It needs no shared memory and no
# barrier, as the 32 lanes of a warp are together anyway; the mask has one bit for each lane that takes part, and
# `0xFFFFFFFF` is all 32 of them.

# %%
@gpu.jit
def sum_of_a_warp(x, out):
    total = x[cuda.laneid]
    step = 16
    while step > 0:
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, step)
        step //= 2
    if cuda.laneid == 0:
        out[0] = total

gpu.trace(sum_of_a_warp[1, 32], np.arange(32, dtype=np.float32), total)

# %% [markdown]
# Did it pay? More threads are not more speed. Rungs 5 and 6 use at most a few hundred thousand threads for sixty-seven
# million numbers, where rung 1 uses one thread for each.

# %% tags=["hide-input"]
sums = measured("reduce", card="h200")
names = {rung.name: f"{rung.number} {rung.name[4:].replace('_', ' ')}" for rung in reduce.LADDER}
names |= {"copy": "a copy that moves as many bytes, half in and half out"}
table(
    [(names[name], 1e6 * s, sums.bytes / s / 1e12) for name, s in sums.seconds.items()],
    ["rung", "microseconds", "terabytes a second"],
    formats={"microseconds": ",.0f", "terabytes a second": ".2f"},
    caption=f"Sum of {sums.size} float32 numbers, measured on an {sums.card} ({sums.date})",
)

# %% [markdown]
# With this you can solve the first four exercises of this lesson's sheet.

# %% [markdown]
# ## Fusion: everything on one journey
#
# What follows a dense layer is small change: add the bias, apply leaky ReLU, scale. Three kernels of one line each, or
# one kernel of three lines?

# %%
@gpu.jit
def add_bias(z, bias, out):
    i = cuda.grid(1)
    if i < z.size:
        out[i] = z[i] + bias[i % bias.size]

@gpu.jit
def activate(z, slope, out):
    i = cuda.grid(1)
    if i < z.size:
        out[i] = z[i] if z[i] > 0 else slope * z[i]

@gpu.jit
def scale(z, factor, out):
    i = cuda.grid(1)
    if i < z.size:
        out[i] = factor * z[i]


# %% [markdown]
# And the same in one:

# %%
@gpu.jit
def all_in_one(z, bias, slope, factor, out):
    i = cuda.grid(1)
    if i < z.size:
        v = z[i] + bias[i % bias.size]
        v = v if v > 0 else slope * v
        out[i] = factor * v

# %% [markdown]
# Count in arrays, not in operations: how often does the whole of `z` travel to a multiprocessor, or back?

# %% tags=["hide-input"]
journeys = predict(
    "Both ways do the same arithmetic. Leave the small bias aside: how many times as many bytes do the three kernels "
    "move, compared with the one?",
    ["as many", "1.5 times", "2 times", "3 times"],
    answer="3 times",
    reveals=2,
)
journeys

# %% tags=["hide-output", "hide-input"]
# Bytes counted, and times measured.
z, bias, out = np.zeros(2**14, np.float32), np.ones(128, np.float32), np.zeros(2**14, np.float32)
arguments = {
    add_bias: (z, bias, out),
    activate: (z, float32(0.1), out),
    scale: (z, float32(2), out),
    all_in_one: (z, bias, float32(0.1), float32(2), out),
}
moved = {}
for kernel, given in arguments.items():
    uses = gpu.simulate(kernel, 64, 256, *given).arrays
    moved[kernel.__name__] = 4 * (uses["z"].distinct_loaded + uses["out"].stores)
apart = moved["add_bias"] + moved["activate"] + moved["scale"]

on_card = measured("three kernels or one", card="h200")
table(
    [
        ("three kernels", apart, 1e6 * on_card.seconds["three kernels"]),
        ("one kernel", moved["all_in_one"], 1e6 * on_card.seconds["one kernel"]),
    ],
    ["way", f"bytes for {z.size:,} numbers", f"microseconds for {on_card.size}"],
    formats={f"microseconds for {on_card.size}": ",.0f"},
    caption=f"Bytes counted by the executor, times measured on an {on_card.card}",
)

# %% [markdown]
# <details class="reveal"><summary>Six journeys or two</summary>
#
# Each of the three reads its input and writes its output: six times the array, and the time follows, 2.7 times as long.
# The fused kernel reads once and writes once, and between them the value stays in a register. **Fusion** saves no
# arithmetic. It saves journeys, and for kernels on the slope of the roofline these are most of what counts. It also
# saves two launches. (Both ways are slower here than the plain copy of lesson 11: a thread that does one number, and
# divides to find its bias, asks for little at a time.)
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
journeys.confirm(f"{apart // moved['all_in_one']} times")

# %% [markdown]
# ## Softmax and loss, a row at a time
#
# Softmax with cross-entropy for one sample needs the largest logit, then the sum of exponentials, then one logarithm
# (lesson 06). Written as three kernels, each row would be read three times. A row fits into the registers of one warp,
# so read it once, and reduce by shuffles:

# %%
@gpu.jit(device=True)
def largest_of_the_warp(value):
    step = 16
    while step > 0:
        value = max(value, cuda.shfl_xor_sync(0xFFFFFFFF, value, step))
        step //= 2
    return value

# %% [markdown]
# And the same with a plus sign:

# %%
@gpu.jit(device=True)
def sum_over_the_warp(value):
    step = 16
    while step > 0:
        value += cuda.shfl_xor_sync(0xFFFFFFFF, value, step)
        step //= 2
    return value

# %% [markdown]
# `shfl_xor_sync` exchanges values between lanes whose numbers differ in one bit: with a step of 16 lanes 0 and 16, 1
# and 17, and so on. So after five steps *every* lane has the result. A device function is called by kernels; it has no
# launch of its own. Now one warp for each sample, and lane $j$ for class $j$, which is enough for up to 32 classes;
# with ten, lanes 10 to 31 take part with a value that changes nothing.

# %%
from math import exp, log


@gpu.jit
def softmax_loss(z, labels, loss):
    lane, row = cuda.laneid, cuda.grid(1) // 32
    if row < z.shape[0]:
        logit = z[row, lane] if lane < z.shape[1] else -float32(np.inf)
        top = largest_of_the_warp(logit)
        total = sum_over_the_warp(exp(logit - top))
        if lane == labels[row]:
            loss[row] = log(total) - (logit - top)

# %% [markdown]
# The `if row < ...` is the same for all lanes of a warp, so it divides none, and the shuffles inside it are safe. Does
# it agree with lesson 06's function, and how often is each logit read?

# %%
digits = data.load_digits(0)
logits = np.random.default_rng(1).normal(size=(1000, 10)).astype(np.float32)
loss = gpu.empty((1000,), np.float32)
labels = digits.y_test.astype(np.int32)
softmax_loss[125, 256](gpu.to_device(logits), gpu.to_device(labels), loss)
ours = gpu.to_host(loss).mean(dtype=np.float64)
mean, _ = ops.softmax_cross_entropy_forward(logits.astype(np.float64), labels)
print(f"{ours:.5f} from the kernel, {mean:.5f} from lesson 06")

report = gpu.simulate(softmax_loss, 125, 256, logits, labels, np.zeros(1000, np.float32))
print("loads for each logit:", report.arrays["z"].reuse)

# %% [markdown]
# ## Max pooling with its mask
#
# Pooling is a reduction too, a small one for each output. Here with stride and padding, one thread for each output, and
# the mask that the backward pass of lesson 08 needs: the place of the winner in its map.[^Dey "Pooling Kernel"]

# %%
@gpu.jit
def max_pool(x, size, stride, pad, y, mask):
    C, H, W = x.shape
    w, h, c = cuda.grid(3)
    if c < C and h < y.shape[1] and w < y.shape[2]:
        top, left = h * stride - pad, w * stride - pad
        best, at = -float32(np.inf), int32(-1)
        for r in range(max(top, 0), min(top + size, H)):
            for q in range(max(left, 0), min(left + size, W)):
                if x[c, r, q] > best:
                    best, at = x[c, r, q], r * W + q
        y[c, h, w] = best
        mask[c, h, w] = at

# %% [markdown]
# Against the operation of lesson 08, with windows of 3 × 3, a stride of 2, and a frame of one pixel:

# %%
maps = np.random.default_rng(2).normal(size=(6, 28, 28)).astype(np.float32)
y, (_, mask) = ops.max_pool_forward(maps[None], size=3, stride=2, pad=1)
ours, places = gpu.empty(y.shape[1:], np.float32), gpu.empty(y.shape[1:], np.int32)
max_pool[(1, 1, 6), (16, 16, 1)](gpu.to_device(maps), 3, 2, 1, ours, places)
print(y.shape[1:])
print(np.array_equal(gpu.to_host(ours), y[0]), np.array_equal(gpu.to_host(places), mask[0]))

# %% [markdown]
# Padding needs no copy of the map: `max` and `min` cut the window where it leaves the image. Of equal values the first
# one wins, since `>` is strict.
#
# ## Coarsening, the right way and the wrong one
#
# A thread that does several elements saves starts, index arithmetic, and in a reduction whole steps of the tree. That
# is called **thread coarsening** (and **block coarsening** if a block does the work of several). The question is
# *which* elements. Both kernels below give each thread four:

# %%
@gpu.jit
def four_in_a_row(x, y):
    first = 4 * cuda.grid(1)
    for k in range(4):
        if first + k < x.size:
            y[first + k] = float32(2) * x[first + k]
# %% [markdown]
# or, with the numbers of all threads as the step:

# %%
@gpu.jit
def four_far_apart(x, y):
    i, step = cuda.grid(1), cuda.gridsize(1)
    for k in range(4):
        if i + k * step < x.size:
            y[i + k * step] = float32(2) * x[i + k * step]

# %% [markdown]
# Same elements, same arithmetic, as many loads. Put yourself in a warp's place.

# %% tags=["hide-input"]
wrong_way = predict(
    "Of the two, one fetches as few sectors as a kernel with one element a thread. How many times as many does the "
    "other one fetch?",
    [1, 2, 4, 8],
    answer=4,
    reveals=2,
)
wrong_way

# %% tags=["hide-output"]
many = np.zeros(4096, np.float32)
fetched = {
    k.__name__: gpu.simulate(k, 8, 128, many, many.copy()).total.global_load_sectors
    for k in (four_in_a_row, four_far_apart)
}
print(fetched)

# %% [markdown]
# <details class="reveal"><summary>Coarsened the wrong way</summary>
#
# With four in a row, the lanes stand four numbers apart: 16 sectors a request instead of 4, and each sector is fetched
# again in each of the four turns. Far apart, the lanes stay neighbours in every turn. It is the mistake of lesson 12
# again: look at the warp at one moment, never at one thread through time.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
wrong_way.confirm(fetched["four_in_a_row"] // fetched["four_far_apart"])

# %% tags=["hide-input"]
coarse = measured("coarsening", card="h200")
table(
    [(name.replace("_", " "), 1e6 * s, coarse.bytes / s / 1e12) for name, s in coarse.seconds.items()],
    ["kernel", "microseconds", "terabytes a second"],
    formats={"microseconds": ",.0f", "terabytes a second": ".2f"},
    caption=f"Doubling {coarse.size} numbers, measured on an {coarse.card} ({coarse.date})",
)

# %% [markdown]
# Four far apart are a little faster than one each: a thread has more loads under way before it waits (lesson 12). Four
# in a row are much slower, though not four times, as caches keep some of the sectors until the next turn.
#
# ## Try it
#
# - Try sizes around the block. Which sizes fail, and what is missing in the kernel?
#
#   ```python
#   def make(n):
#       return np.ones(n, np.float32), np.zeros(-(-n // 256), np.float32)
#
#   def expected(x):
#       return [x[i : i + 256].sum() for i in range(0, x.size, 256)]
#
#   gpu.try_sizes(tree_of_halves, [255, 256, 257], make=make, expected=expected, launch=lambda n: (-(-n // 256), 256))
#   ```
#
#   <details><summary>Answer</summary>
#
#   255 and 257: in the last block some threads have no element, and read beyond the end. With `x[i] if i < x.size else
#   float32(0)` they take a zero, which changes no sum. (For a maximum, minus infinity would be the number that changes
#   nothing.)
#
#   </details>
# - After which round of `tree_of_halves` do only lanes of one warp exchange numbers? Are the barriers needed from there
#   on? Leave them out, and see what the executor says.
#   <details><summary>Answer</summary>
#
#   After the round with a distance of 32: from then on all threads that add are in warp 0, and so is everything that
#   they read. On old cards the lanes of a warp were always together, so people left the last barriers out. Since Volta
#   that is no longer promised, and the executor calls it a race. Within one warp, `cuda.syncwarp()` is enough.
#
#   </details>

# %% [markdown]
# <details><summary>For those who know the lectures</summary>
#
# Prof. Dey's pooling kernel takes one thread for each output through a macro with a loop over the whole grid, so that
# it works with any launch; ours has three axes instead. His mask is the index within the map, as ours. Prof. Hwu
# mentions that adding input maps in parallel needs atomic operations or a tree: both are on this page.
#
# </details>

# %% [markdown]
# ## Check yourself
#
# **1.** A block of 256 threads adds up 256 numbers with `if t < step`. In which steps is a warp divided?
#
# <details><summary>Answer</summary>
#
# With step 128, 64 and 32 whole warps are in or out. With 16, 8, 4, 2 and 1 warp 0 is divided: five times.
#
# </details>

# %% [markdown]
# **2.** Ten elementwise operations follow each other, each as a kernel of its own. How many times faster can one fused
# kernel be, at most, if memory is the limit? And if the intermediate results are needed by the backward pass?
#
# <details><summary>Answer</summary>
#
# Ten kernels read and write ten times, twenty journeys; fused there are two. At most ten times faster. If every
# intermediate result must be kept, each is still written: eleven journeys, and not quite twice as fast.
#
# </details>

# %% [markdown]
# **3.** A colleague finds that his sum of a million float32 numbers differs in the sixth digit from run to run. What
# does his kernel contain, and how could the result be made the same every time?
#
# <details><summary>Answer</summary>
#
# Atomic additions of floating-point numbers: the order of arrival decides how they are rounded. A tree with a fixed
# order, as in all six rungs, gives the same bits every time.
#
# </details>
