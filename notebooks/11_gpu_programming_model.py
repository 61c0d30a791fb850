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
# # 11 · The GPU: thirty-two threads, one instruction
#
# Lesson 09's network reads a digit in 416,520 multiplications, and hardly any of them has to wait for another.
# A graphics processor is built for exactly that: it holds hundreds of thousands of **threads** at once. Most people
# picture each of them as a small computer that goes its own way. Watch thirty-two of them meet an `if`: press *Next*.

# %% tags=["hide-input"]
import numpy as np
from numba import cuda, float32

from course_lib import data, gpu
from course_lib.lesson import counts, measured, predict, table


@gpu.jit
def odd_and_even(x, y):
    i = cuda.grid(1)
    if i % 2 == 0:
        y[i] = x[i] * float32(3)
    else:
        y[i] = x[i] + float32(1)

numbers = np.arange(256, dtype=np.float32)
gpu.trace(odd_and_even[8, 32], numbers, np.zeros_like(numbers)).walk()

# %% [markdown]
# This is what they carried out. The line numbers are those of the picture.
#
# ```python
# @gpu.jit
# def odd_and_even(x, y):
#     i = cuda.grid(1)                     # which thread am I?
#     if i % 2 == 0:
#         y[i] = x[i] * float32(3)
#     else:
#         y[i] = x[i] + float32(1)
# ```
#
# Do not mind the words yet; look at the `if`. Half of the threads stand still while the other half works, and then they
# change places. Nobody goes their own way. By the end of this page you will know why, what it costs, and how to write
# kernels in which it hardly ever happens.
#
# ## You will be able to
#
# - turn a loop into a kernel, choose how many threads to launch, and guard the ones that have nothing to do;
# - say which thread works on which element, for one axis and for two, and write a loop that fits any launch;
# - predict which `if` divides a warp and which does not, and count what it costs;
# - read a kernel's report, a finding and a trace.

# %% [markdown]
# <details><summary>About this page</summary>
#
# It follows Prof. Dey's course plan at IIT Kharagpur ("Introduction to CUDA programming", "Warp scheduling and
# divergence"), and takes its examples from his lecture 56 and from ECE 508 lecture 10 by Prof. Hwu and colleagues at
# Illinois. You need Python, NumPy, and the activation functions of lesson 02. You do not need a GPU: without one, the
# course runs your kernels in an *executor*, which reads the kernel's text, walks all of its threads, and reports what
# the hardware would do. With one, the same cells run on it. Reading and trying takes about 60 minutes.
#
# </details>

# %% [markdown]
# ## Why the arithmetic of lessons 02 to 09 suits a GPU
#
# Graphics cards were made to colour millions of pixels, all by the same formula. Since 2007 they can be given formulas
# of one's own, and that cut the time to train a network so far that it started the present wave of machine
# learning.[^Hwu "Why Machine Learning Again?"] It works because training and using a network is *regular*: the same few
# operations on many numbers, in an order that is known beforehand.[^Hwu "Focus on Neural Networks"]
#
# Take ReLU, the simplest of them. Each output depends on one input and on nothing else, so sixty-seven million outputs
# can be computed in any order, or all at once. Here is what that takes on a data-centre card.

# %% tags=["hide-input"]
# ReLU on a card.
relu = measured("ReLU", card="h200")
elements = 2**26
table(
    [(name, f"{elements:,}", 1e6 * seconds, elements / seconds / 1e9) for name, seconds in
     (("ReLU", relu.seconds["operation"]), ("a plain copy", relu.seconds["copy"]))],
    ["kernel", "numbers", "microseconds", "billion numbers a second"],
    align="lrrr",
    caption=f"Arrays in float32, measured on an {relu.card} ({relu.date})",
)

# %% [markdown]
# A tenth of a millisecond, and no more than it takes to copy the numbers without looking at them. One GPU thread is
# much slower than a core of your laptop. A CPU is a few people who hurry; a GPU is a very large crowd that does not.
# The question of the next eight lessons is how to keep the crowd busy.
#
# ## A loop, taken apart
#
# ReLU with a slope for the negative numbers, as a plain loop over ten numbers:

# %%
def leaky_relu_loop(x, slope, y):
    for i in range(x.size):
        if x[i] > 0:
            y[i] = x[i]
        else:
            y[i] = slope * x[i]

x = np.array([3, -1, 4, -1, 5, -9, 2, -6, 5, 3], np.float32)
y = np.zeros_like(x)
leaky_relu_loop(x, 0.5, y)
print(y)

# %% [markdown]
# The body of the loop does not care in which order `i` runs. So take it out, and give it a name of its own. Whoever
# calls it decides in which order, and who does what:

# %%
def one_element(i, x, slope, y):
    if x[i] > 0:
        y[i] = x[i]
    else:
        y[i] = slope * x[i]

y = np.zeros_like(x)
for i in [7, 2, 9, 0, 4, 1, 8, 3, 6, 5]:
    one_element(i, x, 0.5, y)
print(y)

# %% [markdown]
# A GPU does not call the body once per element in one long row. It has many places where work can be done, called
# **multiprocessors** or SMs; the card of the table has 132. Each of them is handed a **block** at a time, or several: a
# block is a group of a fixed number of **threads**. All blocks together are the **grid**. Say there
# are four threads to a block. Thread 1 of block 2 then takes element $2 \cdot 4 + 1 = 9$. Written as loops:

# %%
threads_per_block = 4
y = np.zeros_like(x)
for block in range(2):
    for thread in range(threads_per_block):
        one_element(block * threads_per_block + thread, x, 0.5, y)
print(y)

# %% [markdown]
# Two elements are missing at the end: two blocks of four make eight. A third block is needed, and blocks come whole.

# %% tags=["hide-input"]
idle = predict(
    "Ten elements, three blocks of four threads. How many threads have no element to work on?",
    [0, 1, 2, 4],
    answer=2,
    reveals=2,
)
idle

# %% tags=["hide-output"]
places = [4 * block + thread for block in range(3) for thread in range(4)]
without = [i for i in places if i >= x.size]
print("without an element:", without)

# %% [markdown]
# <details class="reveal"><summary>What that means for the body</summary>
#
# Numbers 10 and 11 lie beyond the end of the array. `one_element(10, ...)` would read what is not there, so the body
# must ask first: `if i < x.size`. This question is called the **guard**. Nearly every kernel has one, because the
# number of elements is hardly ever a multiple of the number of threads in a block.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
idle.confirm(len(without))

# %% [markdown]
# ## The same as a kernel
#
# A **kernel** is the loop's body, with the guard, and with one line on top that asks "which thread am I?". The two
# loops around it are gone: the GPU is the loop.

# %%
@gpu.jit
def leaky_relu(x, slope, y):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < x.size:
        if x[i] > 0:
            y[i] = x[i]
        else:
            y[i] = slope * x[i]

# %% [markdown]
# `cuda.blockIdx.x` is the block's number, `cuda.blockDim.x` the number of threads in a block, `cuda.threadIdx.x` the
# thread's number in its block. `@gpu.jit` says that this function is for the device. And a **launch** says how many
# blocks, and how many threads to a block, in square brackets:

# %%
x_device = gpu.to_device(x)
y_device = gpu.empty(x.shape, np.float32)
leaky_relu[3, 4](x_device, float32(0.5), y_device)
print(gpu.to_host(y_device))

# %% [markdown]
# Three things are new. A GPU has its own memory, so the numbers are carried there with `gpu.to_device` and back with
# `gpu.to_host`; the course never does that behind your back. A kernel returns nothing: it writes into an array that it
# was given, here one made by `gpu.empty`, whose elements hold nothing yet. And the launch does not say which thread
# does what. The kernel's first line does.
#
# That first line is so common that it has a short form, `cuda.grid(1)`; the 1 is the number of axes. Here is the launch
# as a map. Move to any lane
# and read off who it is.

# %%
@gpu.jit
def leaky_relu(x, slope, y):
    i = cuda.grid(1)
    if i < x.size:
        if x[i] > 0:
            y[i] = x[i]
        else:
            y[i] = slope * x[i]

gpu.simulate(leaky_relu, 3, 4, x, float32(0.5), np.zeros_like(x)).launch_map()

# %% [markdown]
# ## Leave the guard out
#
# `gpu.simulate(kernel, grid, block, ...)` runs a kernel in the executor, on any machine, and returns a **report**. It
# works on copies, so your own arrays stay as they are. And it looks over the kernel's shoulder: it says what no GPU
# would tell you. Suppose the guard were forgotten.

# %% tags=["hide-input"]
first = predict(
    "Which is the first thread that goes wrong without a guard?",
    ["thread 2 of block 2", "thread 10 of block 0", "thread 3 of block 2", "none: it is simply skipped"],
    answer="thread 2 of block 2",
    reveals=2,
)
first

# %% tags=["hide-output"]
@gpu.jit
def no_guard(x, slope, y):
    i = cuda.grid(1)
    if x[i] > 0:
        y[i] = x[i]
    else:
        y[i] = slope * x[i]

y = np.zeros_like(x)
report = gpu.simulate(no_guard, 3, 4, x, float32(0.5), y, on_error="collect")
finding = report.hazards[0]
print(finding)

# %% [markdown]
# <details class="reveal"><summary>What a GPU would have done</summary>
#
# Block 2 begins at element 8, so its thread 2 asks for element 10. On a GPU nothing stops it. It reads whatever lies
# beyond the array, and then *writes* beyond the other one, perhaps over somebody else's numbers. The ten elements that
# you look at are right, so the mistake shows up later, somewhere else, or never. The executor names the line, the
# thread, the block and the index.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
(thread, *_), (block, *_) = finding.details["thread"], finding.details["block"]
first.confirm(f"thread {thread} of block {block}")

# %% [markdown]
# ## Two axes: x is the last one
#
# Images have rows and columns, and a grid may have two axes as well, or three. Their names are x, y and z, and there is
# one convention to remember: **x runs along the last axis of an array**, so it counts columns. `cuda.grid(2)` gives the
# pair in the order x, y. The kernel below turns a digit into its negative with blocks of 16 × 16 threads.

# %%
@gpu.jit
def negative(image, out):
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        out[row, col] = float32(1) - image[row, col]

digit = data.load_digits(0).images("test")[0].astype(np.float32)
report = gpu.simulate(negative, (2, 2), (16, 16), digit, np.zeros_like(digit))
report.launch_map()

# %% [markdown]
# 28 is no multiple of 16. Two blocks reach beyond the right edge, two beyond the lower one, and the guard has two
# conditions. How many blocks an axis needs is a division that rounds up. Python's `//` rounds down, so it is written
# with two minus signs, `-(-28 // 16)`, which is 2. Plain `28 // 16` is 1 and forgets the last rows and columns: the
# most frequent mistake of all in a launch.
#
# Kernels often use the axes for other things than rows and columns. In the basic convolution kernel of lesson 15 the
# blocks along x are the output maps, and those along y are the tiles of one map, numbered row by row.[^Hwu "Example of
# Block Y Dimension Mapping"] With 4 maps of 8 × 8 outputs and tiles of 4 × 4 threads:

# %%
maps, side, tile = 4, 8, 4
tiles_in_a_row = side // tile
grid = (maps, tiles_in_a_row**2)
print("grid:", grid)
for t in range(4):
    row, col = t // tiles_in_a_row * tile, t % tiles_in_a_row * tile
    print(f"tile {t} begins at row {row}, column {col}")

# %% [markdown]
# ## A loop that fits any launch
#
# So far there was a thread for each element. Often that is not what you want: with millions of elements, to start a
# thread may cost more than the one element that it does. A **grid-stride loop** makes the kernel
# independent of the launch. A thread takes its own element, then the one as many places further as there are threads
# in the whole grid, and so on until the array ends.[^Dey "Im2Col Operation"]

# %%
@gpu.jit
def leaky_relu_any(x, slope, y):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        if x[i] > 0:
            y[i] = x[i]
        else:
            y[i] = slope * x[i]

# %% [markdown]
# `cuda.gridsize(1)` is the number of all threads, the loop's step. A thread whose first number lies behind the end
# makes no turn at all, so the loop is its own guard.

# %% tags=["hide-input"]
turns = predict(
    "A layer of 1,000 neurons for 128 digits has 128,000 numbers. Launched with 4 blocks of 32 threads, how many "
    "elements does each thread take?",
    [32, 128, 1000, 4000],
    answer=1000,
    reveals=2,
)
turns

# %% tags=["hide-output"]
layer = np.random.default_rng(0).normal(size=128_000).astype(np.float32)
made = gpu.empty(layer.shape, np.float32)
leaky_relu_any[4, 32](gpu.to_device(layer), float32(0.5), made)
right = np.where(layer > 0, layer, np.float32(0.5) * layer)
print("equal to NumPy's:", np.array_equal(gpu.to_host(made), right))
print("elements for each of", 4 * 32, "threads:", layer.size // (4 * 32))

# %% [markdown]
# <details class="reveal"><summary>And why 4 × 32 threads is still a poor choice</summary>
#
# 128,000 elements, 128 threads: each makes 1,000 turns. The loop makes any launch *right*, not any launch fast. An H100
# has room for 132 × 2,048 = 270,336 threads at a
# time;[^NVIDIA "H100 Tensor Core GPU Architecture"] with 128 of them, more than 99.9 % of it would be empty. Choose
# enough blocks to fill the card, and let the loop take care of the rest.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
turns.confirm(layer.size // (4 * 32))

# %% [markdown]
# ## Right at one size, wrong at the next
#
# A missing guard, a division that rounds down, a loop with the wrong step: all of them can hide behind sizes that
# divide evenly. So try sizes that do not. `gpu.try_sizes` runs a kernel at sizes around the multiples of the block, and
# compares with what NumPy says. Here the kernel is right, and the launch was computed in the most natural way.

# %% tags=["nbval-ignore-output"]
def inputs(n):
    x = np.arange(n, dtype=np.float32) - 20
    return x, float32(0.5), np.zeros_like(x)

def in_numpy(x, slope):
    return np.where(x > 0, x, slope * x)

def natural(n):
    return n // 32, 32

sizes = gpu.try_sizes(
    leaky_relu, [32, 64, 65, 96, 128], make=inputs, expected=in_numpy, launch=natural
)
sizes

# %% tags=["hide-input"]
# The table says on a GPU that values only are looked at; what it found is the same.
assert sizes.smallest == 65

# %% [markdown]
# Two blocks of 32 cover 64 elements, and the 65th is left as it was. `-(-n // 32)` blocks would be right at every size;
# try it.

# %% [markdown]
# With this you can solve the first three exercises of this lesson's sheet. What follows is about what happens inside a
# block.
#
# ## A warp walks together
#
# A block's threads are not started one by one. They are numbered, along x first, then y, then z, and the hardware takes
# 32 neighbours at a time. Such a group is a **warp**, and a thread's place in it is its **lane**. A warp has *one*
# instruction to carry out at a time, and all of its lanes carry it out together, each on its own numbers.
#
# So what does a warp do at an `if` whose condition holds for some lanes only? It cannot take two ways at once. It walks
# through one side with the other lanes switched off, and then through the other side. That is called
# **divergence**. The picture on top of this page shows it for `i % 2`. And now the same with another condition:

# %%
@gpu.jit
def warp_by_warp(x, y):
    i = cuda.grid(1)
    if i // 32 % 2 == 0:
        y[i] = x[i] * float32(3)
    else:
        y[i] = x[i] + float32(1)

# %% [markdown]
# Before you look: do not ask what a thread does. Ask what the 32 lanes of one warp have in common.

# %% tags=["hide-input"]
divided = predict(
    "Both kernels work on 256 numbers, so with 8 warps, and both treat half of the numbers one way and half the other. "
    "With i % 2 all 8 warps are divided. How many are with i // 32 % 2?",
    [0, 1, 4, 8],
    answer=0,
    reveals=2,
)
divided

# %% tags=["hide-output"]
out = np.zeros_like(numbers)
by_thread = gpu.simulate(odd_and_even, 8, 32, numbers, out)
by_warp = gpu.simulate(warp_by_warp, 8, 32, numbers, out)
counts(
    by_thread, by_warp, divided_warps="divergent_branches",
    instructions_of_warps="instructions",
    lanes_at_work=lambda r: r.total.lanes / r.total.instructions / 32,
    formats={"lanes at work": ".0%"},
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>Nobody stands still</summary>
#
# No warp is divided. Warps 0, 2, 4 and 6 go one way, all together, the others the other way, all together. A branch
# costs nothing where a warp agrees. So the belief from the beginning has to be turned round: the thing that goes its
# own way is the *warp*; a thread is one of its 32 lanes. If the two sides of the `if` were ten lines long each,
# `odd_and_even` would take nearly twice as long as `warp_by_warp`, although both compute as much.
#
# (The share of lanes at work differs from that of the picture on top. The picture counts lines; the table counts
# instructions, and a line may be several.)
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
divided.confirm(by_warp.total.divergent_branches)

# %% [markdown]
# The same strip as above, for warp 1 of the second kernel. It takes the other side, and nobody is switched off.

# %%
gpu.trace(warp_by_warp[4, 64], numbers, np.zeros_like(numbers), warp=1).walk()

# %% [markdown]
# ## Look inside: the step debugger
#
# `gpu.trace(kernel[grid, block], ...)` runs a kernel in the executor, on copies, and keeps what every lane of one warp
# held after each line. Step through it, choose the variables to watch, and stop at the first line where lanes are
# switched off.

# %%
gpu.trace(leaky_relu[1, 32], layer[:24], float32(0.5), np.zeros(24, np.float32))

# %% [markdown]
# ## Twice as wide as it need be
#
# The networks of this course use **float32**: four bytes a number, and the width that GPUs are built for. Python's own
# numbers are float64, eight bytes. The kernel below looks harmless; `x` and `y` are arrays of float32.

# %%
@gpu.jit
def halve(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = 0.5 * x[i]

# %% [markdown]
# NumPy would multiply in float32 here, since it takes Python's 0.5 for a number of any width. What does Numba do, which
# compiles the kernel?

# %% tags=["hide-input"]
wide = predict(
    "x and y hold 256 float32 numbers. How many of the 256 multiplications are in float64?",
    [0, 1, 128, 256],
    answer=256,
    reveals=2,
)
wide

# %% tags=["hide-output"]
report = gpu.simulate(halve, 8, 32, numbers, np.zeros_like(numbers))
print(report.advice[0])

# %% [markdown]
# <details class="reveal"><summary>What it costs</summary>
#
# All 256 are in float64. For Numba, 0.5 is what Python says it is, and an operation with one float64 in it is carried
# out in float64. Nothing shows it: the result is rounded back to float32 on its way into `y`. Consumer cards have one
# float64 unit for every 64 of float32,[^NVIDIA "CUDA C++ Programming Guide, Arithmetic Instructions"] so the arithmetic
# of such a line can be 64 times slower than it looks. Whether you notice depends on what else the kernel waits for,
# which is lesson 12's subject. Write `float32(0.5)`, always.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
wide.confirm(report.total.float64_flops)

# %% [markdown]
# ## How to read a report
#
# The report of `odd_and_even` in full. Read it from the top: first findings, then the source with the cost of each
# line, then the totals. Bold marks the largest number of a column.

# %%
by_thread

# %% [markdown]
# Three habits make reports useful. Ask what you *expect* before you look. Here 8 warps load 32 numbers each, so one
# would expect 8 **requests**, a request being what a warp asks memory for in one go. The report says 16: each divided
# warp asks twice, for half of its lanes each time. That is also why it advises on *uncoalesced* loads. Look for the
# line with the largest share, since a line that costs little is not worth your evening. And keep **sectors** for lesson
# 12: they are the pieces of 32 bytes that memory sends. Every column is explained, with a small kernel that moves it,
# on the page [Reading the report](91_reading_the_report.ipynb); what the usual mistakes look like, on the page [Ten
# mistakes](92_ten_mistakes.ipynb).
#
# ## The same things under other names
#
# Two languages are widely used to program GPUs: NVIDIA's CUDA, which Numba speaks and this course uses, and OpenCL,
# an open standard that also runs on cards of other makers. The ideas are the same and the words are not; *local memory*
# even means two different things.

# %% tags=["hide-input"]
table(
    [
        ("thread", "work-item", "a lane of a warp"),
        ("warp", "sub-group", "32 lanes with one instruction at a time"),
        ("block", "work-group", "stays on one multiprocessor (SM)"),
        ("grid", "NDRange", "all blocks of a launch, over all SMs"),
        ("cuda.threadIdx.x", "get_local_id(0)", ""),
        ("cuda.blockIdx.x", "get_group_id(0)", ""),
        ("cuda.blockDim.x", "get_local_size(0)", ""),
        ("cuda.grid(1)", "get_global_id(0)", ""),
        ("cuda.gridsize(1)", "get_global_size(0)", ""),
        ("global memory", "global memory", "the card's DRAM, behind two caches"),
        ("shared memory", "local memory", "inside the SM, seen by one block"),
        ("local memory", "private memory", "of one thread: registers, else DRAM"),
        ("constant memory", "constant memory", "64 KB, cached, read by all"),
        ("cuda.syncthreads()", "barrier(...)", "the block's warps wait for each other"),
        ("stream", "command queue", "launches and copies, one after the other"),
    ],
    ["CUDA, as in this course", "OpenCL", "in the hardware"],
    caption="One idea, three vocabularies",
)

# %% [markdown]
# ## Try it
#
# - In `odd_and_even`, replace `i % 2` by `i % 33 == 0`. How many of the 8 warps are divided now? Predict, then run.
#   <details><summary>Answer</summary>
#
#   All of them. Multiples of 33 below 256 are 0, 33, 66, ..., 231: one in each warp, and one lane is enough.
#
#   </details>
# - Launch `negative` with blocks of 32 × 8 instead of 16 × 16. How many blocks are needed, and how many lanes are idle?
#   <details><summary>Answer</summary>
#
#   One block along x (32 ≥ 28), four along y (4 · 8 = 32 ≥ 28). 1,024 threads again, 240 of them idle, as before; but
#   now no row is split over two blocks.
#
#   </details>

# %% [markdown]
# <details><summary>For those who know the lectures</summary>
#
# - Prof. Dey's kernels begin with a macro, `CUDA_KERNEL_LOOP(index, n)`. It is the grid-stride loop of this page, word
#   for word `for i in range(cuda.grid(1), n, cuda.gridsize(1))`.
# - Prof. Hwu's host code assumes that the outputs' width and height are multiples of the tile. Where they are not, the
#   number of tiles must be rounded up and the kernel needs a guard, as `negative` has one.
# - His grid for 4 maps of 8 × 8 outputs, 4 blocks along x and 4 along y, is the one printed above. On his earlier
#   drawing with tiles 0 to 19 there are five tiles in a row and four rows of them.
#
# </details>

# %% [markdown]
# ## Check yourself
#
# **1.** 1,000 numbers, blocks of 128 threads. How many blocks, how many idle threads, and how many warps in which some
# lanes work and some do not?
#
# <details><summary>Answer</summary>
#
# 8 blocks, since 7 · 128 = 896 is too few. 1,024 − 1,000 = 24 threads are idle. They are all in the last warp: its
# first 8 lanes have an element, so exactly one warp is divided by the guard.
#
# </details>

# %% [markdown]
# **2.** A block of 128 threads meets `if cuda.threadIdx.x < 48`. How many of its four warps are divided?
#
# <details><summary>Answer</summary>
#
# One. Warp 0 (threads 0 to 31) agrees on yes, warps 2 and 3 agree on no. Warp 1 (threads 32 to 63) has 16 of each.
#
# </details>

# %% [markdown]
# **3.** In a block of 16 × 16 threads, `if cuda.threadIdx.y % 2 == 0`. Is a warp divided? And in one of 32 × 8?
#
# <details><summary>Answer</summary>
#
# Threads are numbered along x first. With 16 threads to a row, a warp holds two rows, an even and an odd one: every
# warp is divided. With 32 threads to a row, a warp is exactly one row, and none is.
#
# </details>
