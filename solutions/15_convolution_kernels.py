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
# # 15 · Exercises: convolution kernels
#
# You write the basic convolution kernel and then what comes after it: a tile with a halo, masks in constant memory, the
# unrolled matrix for real and in thought, a kernel for one layer only, and the gradient of the input. The sheet belongs
# to lesson 15, [Convolution kernels](../notebooks/15_convolution_kernels.ipynb). A warm-up takes about five minutes, a
# core exercise ten to twenty, a stretch half an hour.
#
# No GPU is needed. A check runs your kernel in the course's executor and looks at three things: the values, hazards (an
# index outside an array, a race between threads, a barrier that not all threads reach), and a budget, where the
# statement names one. Numbers are float32, inputs may only be read, and sizes come from the arrays, never from the
# grid. A helper with `@gpu.jit(device=True)` may stand in the same cell.

# %% [markdown]
# ## The letters, and the words of the budgets
#
# - B images (an image is b here, n in the lesson), C input maps, M output maps; x is H high and W wide, a mask K x K,
#   so that y is H_out = H - K + 1 high and W_out = W - K + 1 wide. Row h and column v of y look at rows h to h + K - 1
#   and columns v to v + K - 1 of x.
# - A weight is *not* turned: mask row p and column q meet the pixel in row h + p and column v + q.
# - The executor counts what is written: each `x[...]` that a thread reads is a **load**, also the second one of the
#   same element. Global memory moves in **sectors** of 32 bytes, 8 neighbouring float32.
# - What lies in shared memory or in constant memory costs no global load once it is there.
# - The size of a shared or local array is a number, or a name from outside the kernel such as SEEN. A sum in the
#   brackets, such as TILE + 1, is refused by Numba too: give it a name above the kernel.
# - A number such as `0.5` is a float64 in a kernel; `float32(0)` is not. Where there is a budget, float64 is not
#   allowed.
#
# Real code for a trained network keeps its masks in *constant memory*. Numba puts an array there that a kernel reads
# from outside: it copies the numbers into the compiled kernel, which then belongs to these masks. The cell below makes
# masks for exercises 15.4 and 15.7. The checks launch your kernels with other masks of the same shape under the same
# names, so read the weights by name and write none of them down.

# %%
import numpy as np
from numba import cuda, float32

from course_lib import gpu
from course_lib.checks import check

rng = np.random.default_rng(15)
MASKS = rng.integers(-2, 3, (3, 2, 3, 3)).astype(np.float32)  # (M, C, K, K), for 15.4
C1_MASKS = rng.integers(-2, 3, (6, 5, 5)).astype(np.float32)  # (M, K, K), for 15.7

# %% [markdown]
# ## 15.1 · Count the threads, and those with nothing to do
#
# *2 points, warm-up. Trains: what X, Y and Z of the grid stand for; parallelism of a layer. (Hwu, "Parallelism in a
# Convolution Layer", "Host Code for a Basic Kernel: CUDA Grid")*
#
# In the basic kernel a thread computes one output, and a block of `tile` x `tile` threads one tile of one output map of
# one image. Along X the grid has the output maps, along Y the tiles of a map, along Z the images. The tiles cover a map
# row by row; at its right and lower edge a tile may reach beyond the map, and still needs its block.
#
# Return `((X, Y, Z), outputs, threads)`, all of them whole numbers: the grid, the number of outputs that all images
# have together, and the number of threads that are launched. Then try it on LeNet-5 with 16 x 16 threads and one image.
# C1 has 6 maps of 28 x 28, C3 16 of 10 x 10, C5 120 of 1 x 1: how many threads have an output in each layer?
#
# Specification: a map has `ceil(H_out / tile) * ceil(W_out / tile)` tiles
#
# <details><summary>Hint 1</summary>
#
# Rows and columns are cut separately. A map of 9 x 20 outputs has 2 rows of tiles of 8 x 8, with 3 tiles in each.
#
# </details>
# <details><summary>Hint 2</summary>
#
# In whole numbers, n / tile rounded up is `(n + tile - 1) // tile`.
#
# </details>
# <details><summary>Hint 3</summary>
#
# There are M, times the tiles, times B blocks, and each has tile * tile threads. For C5 that makes 120 blocks of 256
# threads for 120 outputs.
#
# </details>

# %% exercise="15.1"
def basic_launch(B, M, H_out, W_out, tile):
    """Return ((X, Y, Z), outputs, threads) of the basic kernel for B images and M maps of H_out x W_out outputs."""
    ### BEGIN SOLUTION
    rows = (H_out + tile - 1) // tile
    columns = (W_out + tile - 1) // tile
    grid = (M, rows * columns, B)
    outputs = B * M * H_out * W_out
    return grid, outputs, M * rows * columns * B * tile * tile
    ### END SOLUTION


# %% check="15.1"
check("15.1", basic_launch)

# %% [markdown]
# ## 15.2 · The basic convolution kernel
#
# *3 points, core. Trains: maps, tiles and images from a block's place. (Hwu, "Design of a Basic Kernel")*
#
# x is (B, C, H, W), w is (M, C, K, K), y is (B, M, H_out, W_out). The launch is that of 15.1 with tiles of 4 x 4:
# blockIdx.x is the map m, blockIdx.z the image b, and blockIdx.y the number of the tile. The tiles of a map are
# numbered row by row. They need not fill the map exactly.
#
# Specification: y[b, m, h, v] is the sum over c, p, q of x[b, c, h + p, v + q] w[m, c, p, q]
#
# <details><summary>Hint 1</summary>
#
# Tiles in a row: W_out divided by the block's width, rounded up. W_out is `y.shape[3]`, the block's width
# `cuda.blockDim.x`.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Tile number t is in tile row t // tiles and tile column t % tiles. The thread's output row is that tile row times
# the block's height plus `threadIdx.y`.
#
# </details>
# <details><summary>Hint 3</summary>
#
# Guard h and v against y's shape. Then `acc = float32(0)` and three loops, over `x.shape[1]`, `w.shape[2]`,
# `w.shape[3]`.
#
# </details>

# %% exercise="15.2"
@gpu.jit
def conv_basic(x, w, y):
    """Write y (B, M, H_out, W_out), x (B, C, H, W) convolved with w (M, C, K, K); X = maps, Y = tiles, Z = images."""
    ### BEGIN SOLUTION
    m, b = cuda.blockIdx.x, cuda.blockIdx.z
    tiles = (y.shape[3] + cuda.blockDim.x - 1) // cuda.blockDim.x
    h = cuda.blockIdx.y // tiles * cuda.blockDim.y + cuda.threadIdx.y
    v = cuda.blockIdx.y % tiles * cuda.blockDim.x + cuda.threadIdx.x
    if h < y.shape[2] and v < y.shape[3]:
        acc = float32(0)
        for c in range(x.shape[1]):
            for p in range(w.shape[2]):
                for q in range(w.shape[3]):
                    acc += x[b, c, h + p, v + q] * w[m, c, p, q]
        y[b, m, h, v] = acc
    ### END SOLUTION


# %% check="15.2"
check("15.2", conv_basic)

# %% [markdown]
# ## 15.3 · A sum of neighbours from a tile with halo
#
# *3 points, core. Trains: a halo; loads of a block. (Hwu, "Reuse in 2D Tiled Convolution")*
#
# In the basic kernel neighbouring threads load nearly the same pixels. First in one dimension: x and y have n elements,
# and y[i] is the sum of x[i - 2] to x[i + 2], where elements outside x count as 0. Blocks have 64 threads, as many
# blocks as n needs.
#
# The threads of a block bring what they all need into shared memory, once: their own 64 elements, and the *halo*, the 2
# neighbours at each end that belong to other blocks. The budget: a block may load 68 elements of x.
#
# Specification: `y[i] = x[max(0, i - 2) : i + 3].sum()`
#
# <details><summary>Hint 1</summary>
#
# A shared tile of 68 elements: tile[0] is x[first - 2], where first is the block's first element. Thread t's own
# element lies in tile[t + 2].
#
# </details>
# <details><summary>Hint 2</summary>
#
# 64 threads bring 68 elements: each brings one, and the first four bring one more, 64 places on. What lies outside
# x comes as `float32(0)`.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `for k in range(t, 68, 64):` puts element `first - 2 + k` into tile[k], with a guard on both sides. Then a barrier
# for all threads, then the guard of the store, and in it the sum of tile[t] to tile[t + 4].
#
# </details>

# %% exercise="15.3"
SPAN = 64
WITH_HALO = SPAN + 4


@gpu.jit
def smooth_tiled(x, y):
    """Write y (n,), sums of five neighbours of x (n,), from a shared tile; blocks of SPAN threads."""
    ### BEGIN SOLUTION
    tile = cuda.shared.array(WITH_HALO, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    for k in range(t, WITH_HALO, SPAN):
        j = i - t - 2 + k
        if 0 <= j < x.size:
            tile[k] = x[j]
        else:
            tile[k] = float32(0)
    cuda.syncthreads()
    if i < y.size:
        acc = float32(0)
        for d in range(5):
            acc += tile[t + d]
        y[i] = acc
    ### END SOLUTION


# %% check="15.3"
check("15.3", smooth_tiled)

# %% [markdown]
# ## 15.4 · A tile in shared memory, the masks in constant memory
#
# *4 points, stretch. Trains: a halo in two dimensions; constant memory; two barriers. (Hwu, "Strategies for Lab 7")*
#
# Now the first of the lecture's four strategies. x is one image, (C, H, W); y is (M, H_out, W_out). The masks do not
# come as an argument: `MASKS`, (M, C, 3, 3), stands outside the kernel, and inside it
#
# ```python
# masks = cuda.const.array_like(MASKS)   # in constant memory: all lanes of a warp get the same weight in one turn
# ```
#
# A block has 8 x 8 threads and computes a tile of 8 x 8 outputs of one map: blockIdx.x is the map, blockIdx.y the
# number of the tile, row by row as in 15.2. For one input map after the other, the block brings the 10 x 10 pixels that
# its outputs look at into shared memory, and each thread adds up its nine products from there.
#
# The budget: 100 C loads a block. So no weight comes from global memory, and each pixel once.
#
# Specification: y[m, h, v] is the sum over c, p, q of x[c, h + p, v + q] MASKS[m, c, p, q]
#
# <details><summary>Hint 1</summary>
#
# 64 threads bring 100 pixels, so some bring two, and some four: `for i in range(ty, 10, 8):` and in it `for j in
# range(tx, 10, 8):`, for the pixel (top + i, left + j), where top and left belong to the tile. What is outside x
# comes as `float32(0)`, or not at all if nobody reads it.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Two barriers in each turn of the loop over c: before the tile is read all must have written, and before the pixels of
# the next map are written all must have read.
#
# </details>
# <details><summary>Hint 3</summary>
#
# A thread without an output brings pixels too and comes to all barriers. So nobody returns early: only the loads and
# the store have guards. `acc` begins before the loop over c and is stored after it.
#
# </details>

# %% exercise="15.4"
TILE = 8
K = 3
SEEN = TILE + K - 1


@gpu.jit
def conv_constant(x, y):
    """Write y (M, H_out, W_out), x (C, H, W) convolved with MASKS (M, C, K, K); X = maps, Y = tiles."""
    ### BEGIN SOLUTION
    masks = cuda.const.array_like(MASKS)
    seen = cuda.shared.array((SEEN, SEEN), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    m = cuda.blockIdx.x
    tiles = (y.shape[2] + TILE - 1) // TILE
    top, left = cuda.blockIdx.y // tiles * TILE, cuda.blockIdx.y % tiles * TILE
    acc = float32(0)
    for c in range(x.shape[0]):
        for i in range(ty, SEEN, TILE):
            for j in range(tx, SEEN, TILE):
                pixel = float32(0)
                if top + i < x.shape[1] and left + j < x.shape[2]:
                    pixel = x[c, top + i, left + j]
                seen[i, j] = pixel
        cuda.syncthreads()
        for p in range(K):
            for q in range(K):
                acc += seen[ty + p, tx + q] * masks[m, c, p, q]
        cuda.syncthreads()
    if top + ty < y.shape[1] and left + tx < y.shape[2]:
        y[m, top + ty, left + tx] = acc
    ### END SOLUTION


# %% check="15.4"
check("15.4", conv_constant)

# %% [markdown]
# ## 15.5 · Unroll the input
#
# *3 points, core. Trains: rows and columns of the unrolled matrix; who stores what. (Dey, "Im2Col Operation")*
#
# The second strategy makes a matrix product of the convolution. For it the input is *unrolled* into a matrix with one
# column for each output pixel, holding the C K K pixels that it looks at. x is (C, H, W), masks are K x K, and
# cols is (C K K, H_out W_out).
#
# There are 2 or 3 blocks of 64 threads, whatever the sizes, so let each thread go on in a grid-stride loop. You choose
# what a thread's number means. Dey's kernel gives a thread one input map and one column, and lets it copy K K pixels;
# the lesson's other kernel gives it one element of cols. Either is right. But think of a warp at one moment: which
# mapping lets neighbouring threads store neighbouring elements?
#
# The budget: one load for each element of cols, and for a row of n elements at most 2 (s + 1) stored sectors, where s
# is n / 8 rounded up. A warp whose threads store far from each other needs n sectors for the same row.
#
# Specification: `cols[c*K*K + p*K + q, h*W_out + v] = x[c, h + p, v + q]`
#
# <details><summary>Hint 1</summary>
#
# Neighbours in memory are elements of one row of cols, that is, neighbouring output pixels. So the pixel must be the
# fast part of a thread's number: `n % pixels`, not `n // ...`.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `pixels = cols.shape[1]`; in `for n in range(cuda.grid(1), cols.size, cuda.gridsize(1)):` element n is in row
# `k = n // pixels` and column `n % pixels`. The column gives h and v: divide it by `W_out = x.shape[2] - K + 1`.
#
# </details>
# <details><summary>Hint 3</summary>
#
# k = c K K + p K + q: so `c = k // (K * K)`, `p = k // K % K`, `q = k % K`.
#
# </details>

# %% exercise="15.5"
@gpu.jit
def unroll(x, K, cols):
    """Write cols (C K K, H_out W_out): in each column the pixels of x (C, H, W) that an output looks at."""
    ### BEGIN SOLUTION
    W_out = x.shape[2] - K + 1
    pixels = cols.shape[1]
    for n in range(cuda.grid(1), cols.size, cuda.gridsize(1)):
        k, pixel = n // pixels, n % pixels
        c, p, q = k // (K * K), k // K % K, k % K
        h, v = pixel // W_out, pixel % W_out
        cols[k, pixel] = x[c, h + p, v + q]
    ### END SOLUTION


# %% check="15.5"
check("15.5", unroll)

# %% [markdown]
# ## 15.6 · Unroll in thought only
#
# *4 points, stretch. Trains: a tiled product whose matrix is not there. (Hwu, "Conceptual Unrolling May Help
# Performance")*
#
# With `rows = w.reshape(M, -1)`, (M, C K K), all outputs are the product `rows @ cols`. A tiled product, as in sheet
# 14, reads cols tile by tile into shared memory. The third strategy leaves cols out: a thread that would load cols[k,
# pixel] works out which element of x that is, and loads that one. The matrix is never written.
#
# x is (C, H, W), y is (M, H_out, W_out). A block has 8 x 8 threads and computes 8 maps (along y) of 8 pixels (along x);
# a pixel's number is h W_out + v. The grid has as many blocks as pixels and maps need. None of M, C K K and the number
# of pixels need be a multiple of 8.
#
# The budget: with N pixels and D = C K K, all threads together load at most 2 M N D / T elements. Here T is 8, and M, N
# and D are each rounded up to a multiple of it.
#
# Specification: `y = (rows @ cols).reshape(M, H_out, W_out)`, with cols as in 15.5
#
# <details><summary>Hint 1</summary>
#
# Write the tiled product first, as if there were cols: in each turn a thread brings one element of rows and one of
# cols, 0 where there is none; a barrier; eight products; a barrier.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `pixel, m = cuda.grid(2)`, and before the loop `h, v = pixel // W_out, pixel % W_out`. In the turn that begins at
# `start`, the thread brings rows[m, start + tx] and the element k = start + ty of column pixel.
#
# </details>
# <details><summary>Hint 3</summary>
#
# That element is x[k // (K * K), h + k // K % K, v + k % K], if k is below `rows.shape[1]` and pixel is one. Guard both
# loads and the store; nobody returns before the last barrier.
#
# </details>

# %% exercise="15.6"
TILE = 8


@gpu.jit
def conv_implicit(x, rows, K, y):
    """Write y (M, H_out, W_out) = rows (M, C K K) @ unrolled x (C, H, W), which is not made; TILE x TILE threads."""
    ### BEGIN SOLUTION
    weights = cuda.shared.array((TILE, TILE), float32)
    seen = cuda.shared.array((TILE, TILE), float32)
    pixel, m = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    M, depth = rows.shape
    W_out = y.shape[2]
    pixels = y.shape[1] * W_out
    h, v = pixel // W_out, pixel % W_out
    acc = float32(0)
    for start in range(0, depth, TILE):
        weights[ty, tx] = float32(0)
        if m < M and start + tx < depth:
            weights[ty, tx] = rows[m, start + tx]
        k = start + ty
        seen[ty, tx] = float32(0)
        if k < depth and pixel < pixels:
            seen[ty, tx] = x[k // (K * K), h + k // K % K, v + k % K]
        cuda.syncthreads()
        for i in range(TILE):
            acc += weights[ty, i] * seen[i, tx]
        cuda.syncthreads()
    if m < M and pixel < pixels:
        y[m, h, v] = acc
    ### END SOLUTION


# %% check="15.6"
check("15.6", conv_implicit)

# %% [markdown]
# ## 15.7 · One thread, six maps
#
# *4 points, stretch. Trains: joint register and shared-memory tiling. (Hwu, "Specialization for the LeNet-5 C1
# Layer")*
#
# Here you write the lecture's kernel for one layer. LeNet-5's C1 has one input map of 32 x 32, masks of 5 x 5, and six
# output maps of 28 x 28. The sizes are known, so write them down; only the weights are not: `C1_MASKS`, (6, 5, 5), is
# to be read from constant memory. x is (B, 32, 32), y is (B, 6, 28, 28).
#
# blockIdx.y is the image. Along x there are 7 blocks, and each computes 4 rows of all six maps. It has 128 threads.
# These bring the 8 rows of 32 pixels that are needed into shared memory, two pixels a thread. Then 4 x 28 = 112 threads
# compute and the other 16 have nothing to do. A thread computes the *same* pixel of all six maps: it reads a pixel from
# shared memory once, and uses it for six sums, which stay in registers.
#
# ```python
# acc = cuda.local.array(6, float32)   # six numbers of a thread's own, for acc[m]; or write six variables
# ```
#
# The budget, for each block: 256 global loads, and 25 reads of shared memory by each of its 4 warps.
#
# Specification: y[b, m, h, v] is the sum over p, q of x[b, h + p, v + q] C1_MASKS[m, p, q]
#
# <details><summary>Hint 1</summary>
#
# A tile of (8, 32), and `top = 4 * cuda.blockIdx.x`. With `row, col = t // 32, t % 32` thread t brings the pixels in
# rows `row` and `row + 4` of the tile.
#
# </details>
# <details><summary>Hint 2</summary>
#
# After the barrier, `if t < 112:`. Among the computing threads a row has 28: `h, v = t // 28, t % 28`. These are other
# rows and columns than those of the pixels that the thread brought.
#
# </details>
# <details><summary>Hint 3</summary>
#
# The loops over p and q are outside, the loop over the six maps inside. Between them the pixel goes into a variable:
# `pixel = tile[h + p, v + q]`. At the end six stores, to y[b, m, top + h, v].
#
# </details>

# %% exercise="15.7"
@gpu.jit
def conv_c1(x, y):
    """Write y (B, 6, 28, 28), x (B, 32, 32) convolved with C1_MASKS (6, 5, 5); 7 blocks of 128 threads an image."""
    ### BEGIN SOLUTION
    masks = cuda.const.array_like(C1_MASKS)
    tile = cuda.shared.array((8, 32), float32)
    acc = cuda.local.array(6, float32)
    t = cuda.threadIdx.x
    b, top = cuda.blockIdx.y, 4 * cuda.blockIdx.x
    row, col = t // 32, t % 32
    tile[row, col] = x[b, top + row, col]
    tile[row + 4, col] = x[b, top + row + 4, col]
    cuda.syncthreads()
    if t < 112:
        h, v = t // 28, t % 28
        for m in range(6):
            acc[m] = float32(0)
        for p in range(5):
            for q in range(5):
                pixel = tile[h + p, v + q]
                for m in range(6):
                    acc[m] += pixel * masks[m, p, q]
        for m in range(6):
            y[b, m, top + h, v] = acc[m]
    ### END SOLUTION


# %% check="15.7"
check("15.7", conv_c1)

# %% [markdown]
# ## 15.8 · The gradient of the input, gathered
#
# *3 points, core. Trains: from scattering to gathering; the mask turned by 180 degrees. (Hwu, "Calculating dE/dX")*
#
# dy is (M, H_out, W_out), the gradient of one image's outputs; w is (M, C, K, K). dx, (C, H, W), is to be the gradient
# of its input. Read as a loop over outputs, each one gives its part to the pixels that it saw:
#
# ```python
# dx[c, h + p, v + q] += dy[m, h, v] * w[m, c, p, q]      # for all m, h, v, c, p, q
# ```
#
# As a kernel with a thread for each output this is a race, since many outputs saw the same pixel, and with atomics a
# queue. So turn it round: a thread owns one pixel of dx, asks which outputs saw it, and adds up what they give. That is
# a convolution of dy too, with the mask turned. Blocks have 8 x 8 threads, the grid covers columns along x and rows
# along y, and may reach beyond; blockIdx.z is the input map c. Atomics are not allowed.
#
# The budget: each element of dx is stored once.
#
# Specification: dx[c, i, j] is the sum over m, p, q of dy[m, i - p, j - q] w[m, c, p, q]; outside it dy is 0
#
# <details><summary>Hint 1</summary>
#
# `j, i = cuda.grid(2)` and `c = cuda.blockIdx.z`. Begin with `acc = float32(0)`; three loops, over m, p and q, as in
# 15.2.
#
# </details>
# <details><summary>Hint 2</summary>
#
# The output that saw pixel (i, j) with its weight (p, q) is (h, v) = (i - p, j - q). Near the upper and left edge that
# may be negative, near the others too large.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `if 0 <= h < dy.shape[1] and 0 <= v < dy.shape[2]:` and below it the addition. The store comes once, after all three
# loops, with a guard for i and j around everything.
#
# </details>

# %% exercise="15.8"
@gpu.jit
def input_gradient(dy, w, dx):
    """Write dx (C, H, W) from dy (M, H_out, W_out) and w (M, C, K, K); a thread gathers one pixel, Z = input maps."""
    ### BEGIN SOLUTION
    j, i = cuda.grid(2)
    c = cuda.blockIdx.z
    if i < dx.shape[1] and j < dx.shape[2]:
        acc = float32(0)
        for m in range(dy.shape[0]):
            for p in range(w.shape[2]):
                for q in range(w.shape[3]):
                    h, v = i - p, j - q
                    if 0 <= h < dy.shape[1] and 0 <= v < dy.shape[2]:
                        acc += dy[m, h, v] * w[m, c, p, q]
        dx[c, i, j] = acc
    ### END SOLUTION


# %% check="15.8"
check("15.8", input_gradient)

# %% [markdown]
# ## 15.9 · In your own words: what unrolling costs on C1
#
# *2 points, core. Trains: what a matrix costs that is written and read again. (Hwu, "Conceptual Unrolling May Help
# Performance")*
#
# C1 once more: one input map of 32 x 32, masks of 5 x 5, six output maps of 28 x 28. On an H200, lesson 15 measured for
# 10,000 images: 2,703 µs with the basic kernel; 5,188 µs really unrolled with a thread for each element of the matrix,
# then multiplied; 1,853 µs with a thread for each column, then multiplied; 2,582 µs unrolled in thought; and 92 µs with
# a kernel that was generated for this layer.
#
# Explain these times in about six sentences. How many elements has the unrolled matrix of one image, and how many has
# x? The matrices of all images are written once and read once: how long does that take at least, at 4.2 TB/s, and what
# follows if you compare it with the 92 µs? Elements or columns, the bytes are the same: where do the 3,335 µs between
# them come from? How often is an element of the matrix used in the product, for C1 and for a layer with 120 output
# maps? And what does 15.6 keep of both ways, and what does it pay?

# %% [markdown] answer="15.9"
# <!-- BEGIN SOLUTION -->
# The unrolled matrix of an image has 25 x 784 = 19,600 elements, x has 1,024: each pixel stands in the matrix 19.1
# times on average. Written once and read once, that is 2 x 4 x 19,600 = 156,800 bytes an image, and at 4.2 TB/s about
# 370 µs for 10,000 images. That is four times what the generated kernel needs for the whole layer, so no product,
# however fast, can make up for it. But it is a small part of 5,188 µs. Most of the difference between the two unrollers
# is index arithmetic: a thread for each element divides several times for one number, a thread for each column divides
# once for 25. So real unrolling by elements loses to the basic kernel, and by columns it does not. In the product an
# element is used once for each output map, so 6 times for C1 and 120 times in a layer with 120 maps, where the copies
# cost little beside the arithmetic. The implicit product keeps the product's reuse across maps and writes no matrix: it
# reads x itself, which is small and stays in the caches. It pays with divisions inside the product, for every element
# that it brings into shared memory, which is why it is slower on C1 than columns and product.
#
# **Marking**, half a point each: (a) 19,600 against 1,024 elements, 19.1 times; (b) about 370 µs for the matrix there
# and back, more than the generated kernel's whole run, so the detour alone decides against unrolling there; (c) index
# arithmetic, and not bytes, is the difference between elements and columns; (d) in the product an element is used M
# times, 6 or 120; the implicit product has that reuse without the matrix, and pays with index arithmetic. "Unrolling
# needs more multiplications" earns nothing: what is needed is the same, and only the tile's padding comes on top, in
# 15.6 as well. Nor does "memory is why 5,188 is more than 2,703".
# <!-- END SOLUTION -->
