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
# # GPU warm-up · Exercises: kernels of lessons to come
#
# Here you write kernels in Numba-CUDA's language: a matrix product from tiles, the basic convolution kernel, and a sum
# of neighbours with a halo. The sheets 11 to 13 come first; they explain shared memory and barriers. No GPU is needed:
# a check runs your kernel in the course's executor, which reads it and walks all threads in lock-step. A core exercise
# takes ten to twenty minutes, a stretch half an hour.
#
# **H** is ECE 508 lecture 10 by Prof. Hwu and colleagues at Illinois.

# %% [markdown]
# ## What a check looks at
#
# 1. **Value.** Outputs are full of NaN before the launch. A wrong element is named, with the thread that wrote it.
# 2. **Hazards.** An index outside of an array, a read of what nobody wrote, two threads that race, a barrier that not
#    all threads of a block reach: each is an error, even where the numbers came out right.
# 3. **Traffic.** Some exercises have a budget: elements loaded (one for each thread that reads one), requests (what the
#    32 threads of a warp load or store together counts once), 32-byte sectors moved, bank conflicts, operations in
#    float64.
#
# The check chooses grid and block; each statement says which. Inputs are float32 and are only read. Take sizes from
# the arrays' shapes, never from the grid, and use no name from outside beside those of the cell below and constants
# of the exercise's own cell. A helper with `@gpu.jit(device=True)` may stand in the same cell.

# %%
from numba import cuda, float32

from course_lib import gpu
from course_lib.checks import check

# %% [markdown]
# ## gpu.6 · Matrix product within 2N³/T loads
#
# *4 points, stretch. Trains: tiles, two barriers, ragged edges. (H, "Tiled Matrix Multiplication")*
#
# A is (M, K), B is (K, N), C is (M, N), all of any size. A block has 16 x 16 threads; the grid has as many blocks
# along x as N needs, along y as M needs, and says nothing about K. Rounded up to whole tiles of T = 16, the threads
# together load at most 2 M N K / T elements: 2 N³/T for square matrices. Each thread sums in float32.
#
# Specification: `C = A @ B`
#
# <details><summary>Hint 1</summary>
#
# Walk along K tile by tile. Each thread brings one element of A and one of B into shared memory, and 0 where there is
# none: a 0 does not change a sum.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Two barriers in each turn: before the tiles are used all must have written, and before the next ones are written all
# must have read. A thread outside of C must reach them too, so guard loads and the store, and do not return.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `col, row = cuda.grid(2)`; `(A.shape[1] + TILE - 1) // TILE` turns; in turn m the thread loads A[row, m TILE + tx]
# and B[m TILE + ty, col]; then `acc += As[ty, k] * Bs[k, tx]` for k below TILE.
#
# </details>

# %% exercise="gpu.6"
TILE = 16


@gpu.jit
def tiled_product(A, B, C):
    """Write C (M, N) = A (M, K) @ B (K, N) from shared tiles; blocks of TILE x TILE threads, one tile of C each."""
    ### BEGIN SOLUTION
    As = cuda.shared.array((TILE, TILE), float32)
    Bs = cuda.shared.array((TILE, TILE), float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    acc = float32(0)
    for m in range((A.shape[1] + TILE - 1) // TILE):
        As[ty, tx] = float32(0)
        if row < A.shape[0] and m * TILE + tx < A.shape[1]:
            As[ty, tx] = A[row, m * TILE + tx]
        Bs[ty, tx] = float32(0)
        if m * TILE + ty < B.shape[0] and col < B.shape[1]:
            Bs[ty, tx] = B[m * TILE + ty, col]
        cuda.syncthreads()
        for k in range(TILE):
            acc += As[ty, k] * Bs[k, tx]
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc
    ### END SOLUTION


# %% check="gpu.6"
check("gpu.6", tiled_product)

# %% [markdown]
# ## gpu.8 · The basic convolution kernel
#
# *4 points, core. Trains: what X, Y and Z of the grid stand for. (H, "Design of a Basic Kernel")*
#
# x is (B, C, H, W), w is (M, C, K, K), y is (B, M, H_out, W_out) with H_out = H - K + 1 and W_out = W - K + 1. A block
# has 4 x 4 threads and computes one 4 x 4 tile of one output map of one image. blockIdx.x is the map m, blockIdx.z the
# image b. blockIdx.y counts the tiles of a map row by row, with as many tiles in a row as W_out needs. The lecture
# assumes that tiles fill the map exactly; here they need not.
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

# %% exercise="gpu.8"
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


# %% check="gpu.8"
check("gpu.8", conv_basic)

# %% [markdown]
# ## gpu.9 · A sum of neighbours from a tile with halo
#
# *3 points, stretch. Trains: a halo; loads per block. (H, "Reuse in 2D Tiled Convolution")*
#
# x and y have n elements. y[i] is the sum of x[i - 2] to x[i + 2]; elements outside of x count as 0. Blocks have 64
# threads, as many blocks as n needs. A block may load 68 elements of x: its own 64, and the halo of 2 at each end.
# Sums are in float32.
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
# 64 threads bring 68 elements: each brings one, and the first four bring one more, 64 places on. What lies outside of
# x comes as `float32(0)`.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `for k in range(t, 68, 64):` puts element `first - 2 + k` into tile[k], with a guard on both sides. Then a barrier
# for all threads, then the guard of the store, and in it the sum of tile[t] to tile[t + 4].
#
# </details>

# %% exercise="gpu.9"
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


# %% check="gpu.9"
check("gpu.9", smooth_tiled)
