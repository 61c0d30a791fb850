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
# # 11 · Exercises: the GPU programming model
#
# You write your first kernels, choose launches, repair a kernel, and count what an `if` costs a warp. The sheet belongs
# to lesson 11, [The GPU programming model](../notebooks/11_gpu_programming_model.ipynb). The first three exercises need
# half of the lesson, the others all of it. A warm-up takes about five minutes, a core exercise ten to twenty, the
# stretch half an hour.
#
# No GPU is needed. A check runs your kernel in the course's executor, which reads it and walks all threads in
# lock-step. "Dey" is Prof. Dey's lecture 56 at IIT Kharagpur with its slides, "Hwu" is lecture 10 of ECE 508 by Prof.
# Hwu and colleagues at Illinois.

# %% [markdown]
# ## What a check looks at
#
# 1. **The values.** Before the launch, the arrays to fill hold NaN, "not a number" (whole numbers: -1). If an element
#    is wrong, you are told which one, and which thread wrote it.
# 2. **Hazards.** A kernel can give the right numbers by luck. So the check also looks for an index outside of an array,
#    for a read of something that nobody wrote, and for two threads that write the same element.
# 3. **Traffic.** Some exercises have a budget. The 32 threads of a *warp* load or store together, and that is one
#    *request*. Memory moves in *sectors* of 32 bytes, which are 8 neighbouring float32. Operations in float64 are
#    counted too: most GPUs are slow at them.
#
# The check launches your kernel; each statement says with how many threads. The numbers are float32, and inputs may
# only be read. Take sizes from the arrays, such as `x.size` or `x.shape[0]`, and not from the grid.

# %%
import numpy as np
from numba import cuda, float32

from course_lib import gpu
from course_lib.checks import check

# %% [markdown]
# ## 11.1 · Add two vectors, with a guard
#
# *1 point, warm-up. Trains: one thread an element; the guard. (Dey, "Course Organization")*
#
# A *kernel* is a function that many threads run at the same time, each with a number of its own. It returns nothing; it
# writes its results into an array that it was given. This one writes `value` into all elements of y, if there are
# exactly as many threads as elements:
#
# ```python
# @gpu.jit                     # makes a kernel of the function
# def fill(y, value):
#     i = cuda.grid(1)         # this thread's number among all threads: 0, 1, 2, ...
#     y[i] = value             # this thread's element
# ```
#
# Threads come in *blocks* of equal size, here 64, so there are nearly always more threads than elements. A thread whose
# number is no index must do nothing. An `if` around the work takes care of that: the *guard*.
#
# Write a kernel that adds two vectors of n elements. Each thread makes one element of c. Several blocks are launched,
# and always more than n threads. At most 2 store requests for every 32 elements are allowed.
#
# Specification: `c = a + b`
#
# <details><summary>Hint 1</summary>
#
# Begin as `fill` does: `i = cuda.grid(1)`.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Which numbers are indices of c? Those from 0 to `c.size - 1`.
#
# </details>
# <details><summary>Hint 3</summary>
#
# Three lines: the number i, then `if i < c.size:`, and below it the addition of the elements number i.
#
# </details>

# %% exercise="11.1"
@gpu.jit
def guarded_add(a, b, c):
    """Write c (n,) = a (n,) + b (n,); there are more than n threads, numbered along one axis."""
    ### BEGIN SOLUTION
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]
    ### END SOLUTION


# %% check="11.1"
check("11.1", guarded_add)

# %% [markdown]
# ## 11.2 · Leaky ReLU with a grid-stride loop
#
# *2 points, warm-up. Trains: a grid-stride loop; float32 only. (Dey, "RELU Activation Function")*
#
# Dey's ReLU kernel multiplies negative numbers by a slope, where plain ReLU would make them 0. It also works for any n
# with any number of threads, by a loop that he calls `CUDA_KERNEL_LOOP`: a thread takes the element with its own
# number, then the one that lies *all threads* further on, and so on to the end. With 96 threads, thread 5 takes the
# elements 5, 101, 197, ... This is a *grid-stride loop*. `cuda.gridsize(1)` is the number of all threads, and
# `range(first, end, step)` counts in steps.
#
# Write such a kernel. x and y have n elements, slope is any float32: it may be above 1, 0 or negative. There are about
# a hundred threads, however large n is: 2 blocks of 64, or 3 of 32. At most 2 store requests for every 32 elements are
# allowed, and no operation in float64. In a kernel a number such as `0.5` is a float64, and so is what is computed with
# it; the same number as a float32 is written `float32(0.5)`. Comparing with 0 is no arithmetic and costs nothing.
#
# Specification: `y = np.where(x > 0, x, slope * x)`
#
# <details><summary>Hint 1</summary>
#
# The first element is `cuda.grid(1)`, the step `cuda.gridsize(1)`. This is the one thing that the grid may tell a
# kernel.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `for i in range(first, x.size, step):` A thread whose first element is beyond the end takes no turn, so no guard is
# needed.
#
# </details>
# <details><summary>Hint 3</summary>
#
# In the loop `if x[i] > 0:` y[i] is x[i], and after `else:` it is slope times x[i]. All of these are float32 already.
#
# </details>

# %% exercise="11.2"
@gpu.jit
def leaky_relu(x, slope, y):
    """Write y (n,) = x (n,) where x > 0, slope * x elsewhere, with any number of threads along one axis."""
    ### BEGIN SOLUTION
    step = cuda.gridsize(1)
    for i in range(cuda.grid(1), x.size, step):
        if x[i] > 0:
            y[i] = x[i]
        else:
            y[i] = slope * x[i]
    ### END SOLUTION


# %% check="11.2"
check("11.2", leaky_relu)

# %% [markdown]
# ## 11.3 · The sum of each row
#
# *2 points, core. Trains: a loop in a thread; sizes from the array's shape. (Dey, "Course Organization")*
#
# x has R rows and C columns; an element is `x[r, j]`, and `x.shape` is (R, C). s has R elements. One thread adds up one
# row, in a variable of its own that no other thread sees, and stores the sum once. Such a variable must begin as a
# float32: `acc = float32(0)`. With `acc = 0` or `acc = 0.0` the whole sum would be in float64, and so it is with
# Python's `sum`.
#
# There are blocks of 32 threads, and more threads than rows. Their number says nothing about the number of columns.
# The budget: one store a row, each element of x loaded once, nothing in float64. Every 32 rows may cost at most 2 load
# requests a column: one warp reads a column of its 32 rows at once.
#
# Specification: `s = x.sum(axis=1)`
#
# <details><summary>Hint 1</summary>
#
# The thread's number is its row: `r = cuda.grid(1)`, with a guard against `x.shape[0]`.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Do not add up in s itself: before the launch it holds NaN, `s[r] += ...` reads what nobody wrote, and each turn of the
# loop would load and store a number.
#
# </details>
# <details><summary>Hint 3</summary>
#
# In the guard: `acc = float32(0)`, then `for j in range(x.shape[1]):` with `acc += x[r, j]`, and after the loop
# `s[r] = acc`.
#
# </details>

# %% exercise="11.3"
@gpu.jit
def row_sum(x, s):
    """Write s (R,), the sums of the rows of x (R, C); one thread a row, more threads than rows."""
    ### BEGIN SOLUTION
    r = cuda.grid(1)
    if r < x.shape[0]:
        acc = float32(0)
        for j in range(x.shape[1]):
            acc += x[r, j]
        s[r] = acc
    ### END SOLUTION


# %% check="11.3"
check("11.3", row_sum)

# %% [markdown]
# ## 11.4 · Choose a launch
#
# *2 points, core. Trains: grid, block, warp; x is the last axis. (Hwu, "Design of a Basic Kernel")*
#
# A kernel for an image begins with `col, row = cuda.grid(2)` and a guard. Whoever launches it writes
# `kernel[grid, block](...)`. Both are pairs (x, y): `grid` counts blocks, `block` counts the threads of one. x is the
# *last* axis of the image, so it counts columns.
#
# Write an ordinary Python function that returns (grid, block) for an image of any size up to 500,000 rows. Many
# launches are right. Yours is if
#
# - every element has a thread,
# - a block has whole warps, that is a multiple of 32 threads, and at most 1,024,
# - no block is without work: only the last block along an axis may be partly beyond the end,
# - along y there are at most 65,535 blocks. More a GPU does not take; along x it takes about two billion.
#
# Specification: `grid_x * block_x >= columns > (grid_x - 1) * block_x`, the same with rows for y, and
# `block_x * block_y % 32 == 0`
#
# <details><summary>Hint 1</summary>
#
# One block shape for all images is enough. Divide to get the number of blocks, and round up.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `(n + b - 1) // b` is n / b rounded up, in whole numbers: 300 columns and blocks of 32 give 10, and so do 320.
#
# </details>
# <details><summary>Hint 3</summary>
#
# 500,000 rows in at most 65,535 blocks: a block needs at least 8 threads along y. Columns belong to x, rows to y, so
# the result is `((blocks for the columns, blocks for the rows), block)`.
#
# </details>

# %% exercise="11.4"
def launch_for(rows, columns):
    """Return ((blocks along x, blocks along y), (threads along x, threads along y)) for an image (rows, columns)."""
    ### BEGIN SOLUTION
    block = (32, 8)
    grid = ((columns + 31) // 32, (rows + 7) // 8)
    return grid, block
    ### END SOLUTION


# %% check="11.4"
check("11.4", launch_for)

# %% [markdown]
# ## 11.5 · Repair a kernel from its report
#
# *2 points, core. Trains: reading a finding; axes and guard. (the course's own)*
#
# A colleague has written this kernel, which makes an image brighter. On 32 x 32 and 64 x 64 pixels the numbers were
# right, so it went into the library. Then somebody had a photograph with 40 rows and 24 columns.
#
# Run the check before you change anything. Its message is a report: it says at which line which thread of which block
# does what, or which pixels nobody wrote. Mend one thing at a time and run it again: there is more than one. The check
# launches blocks of 16 x 8 threads (16 along x), as many along x as there are columns to cover, and as many along y as
# there are rows. A row of 16 pixels may cost at most 3 sectors to load.
#
# Specification: `out = gain * image`
#
# <details><summary>Hint 1</summary>
#
# A thread uses an index that the image does not have. On which axis, and which part of the guard should have stopped
# the thread?
#
# </details>
# <details><summary>Hint 2</summary>
#
# The guard compares rows with `shape[0]` and columns with `shape[1]`. On a square image both are the same number, and
# nobody notices.
#
# </details>
# <details><summary>Hint 3</summary>
#
# When the guard is right, rows are missing: x reaches 32 and y reaches 40. `cuda.grid(2)` returns x first, and x is the
# last axis, so the first of its two numbers is the column.
#
# </details>

# %% exercise="11.5"
@gpu.jit
def brighten(image, gain, out):
    """Write out (rows, columns) = gain * image (rows, columns); x covers the columns, y the rows."""
    ### BEGIN BROKEN
    row, column = cuda.grid(2)
    if row < image.shape[0] and column < image.shape[0]:
        out[row, column] = gain * image[row, column]
    ### END BROKEN
    ### BEGIN SOLUTION
    column, row = cuda.grid(2)
    if row < image.shape[0] and column < image.shape[1]:
        out[row, column] = gain * image[row, column]
    ### END SOLUTION


# %% check="11.5"
check("11.5", brighten)

# %% [markdown]
# ## 11.6 · What an if costs
#
# *2 points, core. Trains: a warp whose lanes do not agree pays for both sides. (the course's own)*
#
# The threads of a block are dealt to warps in order: threads 0 to 31 are the first warp, 32 to 63 the second, and so
# on; the last one may be only partly filled. A thread's place in its warp is its *lane*. A warp has one instruction at
# a time for all of its 32 lanes. Take an `if` and `else` with one line each:
#
# ```python
# if takes[i]:
#     y[i] = 1
# else:
#     y[i] = 2
# ```
#
# If all threads of a warp go the same way, the warp issues one of the two lines. If they do not agree, it issues first
# one line, with the other lanes idle, and then the other: two passes. Each pass has room for 32 lanes.
#
# `takes` is an array of truth values, one a thread: True where it goes into the `if`. Return two whole numbers: how
# many passes the warps of this block need together for the two lines, and how many lane slots are idle in them, 32
# slots a pass. Lanes for which there is no thread are idle too.
#
# Specification, where all warps are full: with `lanes = takes.reshape(-1, 32)`, passes is
# `lanes.any(axis=1).sum() + (~lanes).any(axis=1).sum()`
#
# <details><summary>Hint 1</summary>
#
# Go through the warps: `for first in range(0, takes.size, 32):`. Slicing beyond the end of an array is fine in Python.
#
# </details>
# <details><summary>Hint 2</summary>
#
# A warp w is divided if `np.any(w) and not np.all(w)`. Then it costs 2, otherwise 1.
#
# </details>
# <details><summary>Hint 3</summary>
#
# Every thread is busy in exactly one pass, so over all passes as many slots are busy as there are threads.
#
# </details>

# %% exercise="11.6"
def warp_passes(takes):
    """Return (passes, idle slots) of an if and else of one line each; takes (threads,) are truth values."""
    ### BEGIN SOLUTION
    passes = 0
    for first in range(0, takes.size, 32):
        warp = takes[first : first + 32]
        divided = np.any(warp) and not np.all(warp)
        passes += 2 if divided else 1
    return passes, 32 * passes - takes.size
    ### END SOLUTION


# %% check="11.6"
check("11.6", warp_passes)

# %% [markdown]
# ## 11.7 · Which block computes what
#
# *2 points, core. Trains: from block indices to a tile, and back. (Hwu, "Design of a Basic Kernel")*
#
# Hwu's convolution kernel has M output maps of H_out x W_out elements. A block computes one *tile* of one map, 4 x 4
# elements here. A grid has three axes at most, and images take one of them, so two must do for the maps and for both
# directions of the tiles: `blockIdx.x` is the map, and `blockIdx.y` counts the tiles of a map row by row. With 8 x 8
# outputs there are 2 x 2 tiles:
#
# | blockIdx.y | rows of the map | columns of the map |
# |---|---|---|
# | 0 | 0 to 3 | 0 to 3 |
# | 1 | 0 to 3 | 4 to 7 |
# | 2 | 4 to 7 | 0 to 3 |
# | 3 | 4 to 7 | 4 to 7 |
#
# So M = 4 maps give a grid of 4 x 4 blocks. The lecture's maps are whole tiles; here the last tile of a row or of a
# column may stick out, as in 5 x 11 outputs with 2 x 3 tiles.
#
# Find from the block's indices and the thread's indices (`cuda.threadIdx.x` counts columns, `cuda.threadIdx.y` rows,
# both 0 to 3) the element that the thread has to compute, and write there who it is: 16 blockIdx.y + 4 threadIdx.y +
# threadIdx.x. y is a whole-number array (M, H_out, W_out); its shape is all that you are given.
#
# Specification, which is the way back: `y[m, h, w] = 16 * (h // 4 * tiles + w // 4) + 4 * (h % 4) + w % 4` with `tiles`
# the number of tiles in a row, W_out / 4 rounded up
#
# <details><summary>Hint 1</summary>
#
# First the tiles in a row: W_out is `y.shape[2]`, and `(n + TILE - 1) // TILE` rounds up.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Tile number t is in tile row `t // tiles` and in tile column `t % tiles`. Its first row of the map is the tile row
# times 4.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `h = cuda.blockIdx.y // tiles * TILE + cuda.threadIdx.y`, and w with `%` and `threadIdx.x`. Then the guard of both,
# against `y.shape[1]` and `y.shape[2]`, and the store to `y[cuda.blockIdx.x, h, w]`.
#
# </details>

# %% exercise="11.7"
TILE = 4


@gpu.jit
def number_tiles(y):
    """Write into y (M, H_out, W_out) who computes it: 16 blockIdx.y + 4 threadIdx.y + threadIdx.x; x = maps."""
    ### BEGIN SOLUTION
    tiles = (y.shape[2] + TILE - 1) // TILE
    h = cuda.blockIdx.y // tiles * TILE + cuda.threadIdx.y
    w = cuda.blockIdx.y % tiles * TILE + cuda.threadIdx.x
    if h < y.shape[1] and w < y.shape[2]:
        y[cuda.blockIdx.x, h, w] = 16 * cuda.blockIdx.y + 4 * cuda.threadIdx.y + cuda.threadIdx.x
    ### END SOLUTION


# %% check="11.7"
check("11.7", number_tiles)

# %% [markdown]
# ## 11.8 · No divided warp
#
# *3 points, stretch. Trains: dealing out work so that a warp agrees. (the course's own)*
#
# a, b and y have n elements. Elements with an even index follow one formula, those with an odd index another. The
# obvious kernel says `if i % 2 == 0`, and every warp is divided: half of its lanes wait, first the odd ones, then the
# even ones.
#
# A thread need not take the element with its own number. Give the elements to the threads in another way, so that the
# 32 threads of each warp all take the same side. There are n threads in blocks of 64, and n is a multiple of 64, so no
# guard is needed. A block has two warps: threads 0 to 31 and 32 to 63.
#
# The budget: no divergent branch, where a warp goes both ways (`a if c else b` is a branch too); n elements loaded and
# n stored in all, so to compute both formulas and choose one is not allowed; nothing in float64.
#
# Specification: `y[0::2] = a[0::2] + 1` and `y[1::2] = 2 * b[1::2]`
#
# <details><summary>Hint 1</summary>
#
# A block writes 64 elements: 32 have an even index, 32 an odd one. Let its first warp take all of the even ones.
#
# </details>
# <details><summary>Hint 2</summary>
#
# With `t = cuda.threadIdx.x`, the condition `t < 32` is the same for all threads of a warp. The block's first element
# is `cuda.blockIdx.x * 64`.
#
# </details>
# <details><summary>Hint 3</summary>
#
# If t < 32, the element is the block's first plus 2 t. Otherwise it is the block's first plus 2 (t - 32) + 1. In the
# formulas write `float32(1)` and `float32(2)`.
#
# </details>

# %% exercise="11.8"
@gpu.jit
def alternate(a, b, y):
    """Write y (n,): a + 1 where the index is even, 2 b where it is odd; blocks of 64 threads, n in all."""
    ### BEGIN SOLUTION
    t = cuda.threadIdx.x
    first = cuda.blockIdx.x * cuda.blockDim.x
    if t < 32:
        i = first + 2 * t
        y[i] = a[i] + float32(1)
    else:
        i = first + 2 * (t - 32) + 1
        y[i] = float32(2) * b[i]
    ### END SOLUTION


# %% check="11.8"
check("11.8", alternate)

# %% [markdown]
# ## 11.9 · In your own words
#
# *2 points, core. Trains: the guard; float32 and float64. (Dey, "Course Organization")*
#
# Answer for somebody who knows Python, but has never seen a kernel, in two to four sentences each.
#
# 1. Why does a kernel need a guard, although the launch could be made for exactly this array? What can happen without
#    one, and why might nobody notice?
# 2. All arrays are float32. A kernel says `y[i] = 0.5 * x[i]`, a better one `y[i] = float32(0.5) * x[i]`. What is
#    different, although y holds float32 either way, and what does it cost?

# %% [markdown] answer="11.9"
# <!-- BEGIN SOLUTION -->
# 1. A launch has whole blocks, and a block should have whole warps of 32 threads, so the number of threads is rounded
#    up: for 1,000 elements and blocks of 256 there are 1,024 threads, and 24 of them have no element. Without a guard
#    these 24 read and write behind the array. Python would raise an error; a GPU mostly does not. The memory behind the
#    array often belongs to something else of the program, so the result looks right and another array is changed.
# 2. `0.5` is a float64 in Numba. Therefore x[i] is converted to float64, multiplied there, and the product rounded back
#    to float32 at the store. The stored number is nearly always the same. The multiplication, however, runs on the
#    units for float64, of which many GPUs have 1/32 or 1/64 as many, and the two conversions are instructions as well.
#
# **Marking**, half a point each: (a) threads come in whole blocks, so there are more of them than elements; (b) threads
# beyond the end read or write foreign memory, and no error need be seen; (c) the literal is float64 and takes the
# arithmetic with it, while the array stays float32; (d) float64 arithmetic is many times slower on most GPUs, or the
# conversions are named. "It needs more memory" for (d) earns nothing: nothing in memory is larger.
# <!-- END SOLUTION -->
