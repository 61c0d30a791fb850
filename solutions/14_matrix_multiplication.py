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
# # 14 · Exercises: matrix multiplication
#
# You climb the ladder of the lesson once more, with the products of a backward pass: a plain one, one with tiles in
# shared memory, then several results a thread. In between you count, mend a kernel that is right only sometimes, and
# choose the sizes of a tile. The sheet belongs to lesson 14,
# [Matrix multiplication](../notebooks/14_matrix_multiplication.ipynb). A warm-up takes about five minutes, a core
# exercise ten to twenty, a stretch half an hour.
#
# No GPU is needed. A check runs your kernel in the course's executor and looks at three things: the values, hazards (an
# index outside of an array, a race between threads, a barrier that not all threads reach), and a budget, which each
# statement names. Numbers are float32, inputs may only be read, and sizes come from the arrays.

# %% [markdown]
# ## The words of this sheet
#
# - Unless an exercise says otherwise, A is (M, K), B is (K, N) and C is (M, N). Element C[i, j] is the sum over k of
#   A[i, k] B[k, j].
# - The executor counts what is written: each `A[i, k]` in the text is a **load**, for each thread that comes to it.
#   What the 32 threads of a **warp** load together is one **request**, and global memory moves in **sectors** of 32
#   bytes, 8 neighbouring float32.
# - Shared memory is read by requests too. Threads of a warp that want the same number share it. Different numbers in
#   the same one of the 32 banks have to wait for each other; each further turn is a **bank conflict**.
# - Sizes are seldom multiples of a tile. A budget that speaks of tiles counts whole ones: sizes rounded up.
# - A number such as `0.5` is a float64 in a kernel, and so is what is computed with it; `float32(0)` is not. No
#   exercise of this sheet allows operations in float64.

# %%
from numba import cuda, float32

from course_lib import gpu
from course_lib.checks import check

# %% [markdown]
# ## 14.1 · What tiles save
#
# *2 points, warm-up. Trains: loads with and without tiles; ragged edges. (Hwu, "Tiled Matrix Multiplication 2×2
# example")*
#
# Two kernels compute C = A B. In the plain one a thread has one element of C, and loads everything that it needs from
# global memory. In the tiled one a block has a tile of C with BM rows and BN columns. It brings whatever these rows and
# columns need of A and of B into shared memory, each element once, and takes all else from there. At the edges a tile
# reaches beyond C; what does not exist is not loaded.
#
# Return two numbers: how many elements the plain kernel loads, all threads together, and how many the tiled one.
#
# Specification, by examples:
#
# | M | N | K | BM | BN | plain | tiled | |
# |---|---|---|---|---|---|---|---|
# | 4 | 4 | 12 | 2 | 2 | 384 | 192 | each element that is loaded is used twice |
# | 4 | 4 | 12 | 2 | 4 | 384 | 144 | an element of A is used 4 times, one of B twice |
# | 5 | 5 | 3 | 4 | 4 | 150 | 60 | 2 x 2 tiles, three of them not full |
#
# <details><summary>Hint 1</summary>
#
# One element of C needs a whole row of A and a whole column of B. How many elements are these, and how many elements
# has C?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Tiles stand in a grid. All tiles in one row of this grid need the same rows of A, and each of them loads these rows
# again. So each element of A is loaded as often as there are tiles side by side.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `-(-N // BN)` is N / BN rounded up: the tiles side by side. A has M K elements. For B it is the number of tiles one
# below the other that counts.
#
# </details>

# %% exercise="14.1"
def loads(M, N, K, BM, BN):
    """Return (elements loaded by the plain kernel, by the one with tiles of BM x BN) for A (M, K) times B (K, N)."""
    ### BEGIN SOLUTION
    plain = 2 * M * N * K
    across, down = -(-N // BN), -(-M // BM)
    return plain, across * M * K + down * K * N
    ### END SOLUTION


# %% check="14.1"
check("14.1", loads)

# %% [markdown]
# ## 14.2 · The gradient of the weights
#
# *2 points, warm-up. Trains: which axis is x; what coalescing asks of stores. (NVIDIA, "CUDA C++ Best Practices
# Guide")*
#
# In the backward pass of a dense layer (lesson 06) the gradient of the weights is a product too: dW = Xᵀ dZ. X is
# (S, F), S samples with F features; dZ is (S, M), what comes back to the M outputs; and dW is (F, M). Element
# dW[f, m] is the sum over the samples s of X[s, f] dZ[s, m].
#
# A thread computes one element of dW: it walks along s, adds up in a variable and stores once. Blocks have 32 x 8
# threads (32 along x), so a warp is 32 threads with neighbouring x. The grid has enough threads for the larger one of F
# and M along both axes. So you may let x count the rows of dW, or its columns. In the lesson the loads decide which is
# better. Do they here? Both ways give the right numbers, and one of them costs several times as much.
#
# The budget: 2 F M S loads, 6 sectors for a warp in each step of s, and 5 sectors for the store of a warp. (One sector
# is enough where all threads of the warp want the same element, four or five for 32 neighbours.)
#
# Specification: `dW = X.T @ dZ`
#
# <details><summary>Hint 1</summary>
#
# Take one step of s and write down the 32 elements of X, and of dZ, that a warp wants: once if x counts the rows of dW,
# once if it counts the columns. Then do the same with the 32 elements of dW that it stores.
#
# </details>
# <details><summary>Hint 2</summary>
#
# X[s, f] and dZ[s, m] both lie in row s, so 32 neighbours are side by side whichever of f and m has them. In dW only
# neighbouring m lie side by side. `m, f = cuda.grid(2)` gives x first.
#
# </details>
# <details><summary>Hint 3</summary>
#
# A guard for f and m, since the grid may be larger than dW. In it `acc = float32(0)`, then a loop over the samples,
# `X.shape[0]` of them, with `acc += X[s, f] * dZ[s, m]`, then the store.
#
# </details>

# %% exercise="14.2"
@gpu.jit
def weight_gradient(X, dZ, dW):
    """Write dW (F, M) = X.T @ dZ, X (S, F), dZ (S, M), an element a thread; the grid has max(F, M) both ways."""
    ### BEGIN SOLUTION
    m, f = cuda.grid(2)
    if f < dW.shape[0] and m < dW.shape[1]:
        acc = float32(0)
        for s in range(X.shape[0]):
            acc += X[s, f] * dZ[s, m]
        dW[f, m] = acc
    ### END SOLUTION


# %% check="14.2"
check("14.2", weight_gradient)

# %% [markdown]
# ## 14.3 · Rows times rows, within 2MNK/T loads
#
# *4 points, core. Trains: tiles, two barriers, ragged edges, banks. (Hwu, "Tiled Matrix Multiplication 2×2 example")*
#
# The backward pass has a third product: what goes back to the inputs is dX = dZ Wᵀ. In the letters of this sheet,
# C = A Bᵀ with A (M, K) and B (N, K): element C[i, j] is row i of A times row j of B. Without tiles one of the two is
# always read down a column. With tiles you choose: bring both along their rows, and read them in shared memory as you
# need them.
#
# A block has T x T threads, T = 16, and a tile of C of the same size. The grid has as many blocks along x as N needs,
# along y as M needs; it says nothing about K. The block walks along K in steps of 16. In each step
#
# 1. every thread brings one element of A and one of B into two shared arrays,
# 2. and every thread adds 16 products to its sum, all out of shared memory.
#
# ```python
# As = cuda.shared.array((TILE, TILE), float32)   # one for each block; it begins with nothing in it
# cuda.syncthreads()                              # the barrier: wait until all threads of the block are here
# ```
#
# What one thread writes into shared memory, another may read only behind a barrier; and it may be overwritten only
# behind a barrier, when all have read it. All threads of the block must come to each barrier, those outside of C too.
# M, N and K may be anything from 1 on. A shape is made of numbers and of names of constants: to pad a row, write the
# number, or give it a new name below `TILE`; `TILE + 1` is no constant to the compiler.
#
# The budget: 2 M N K / T loads, with M, N and K rounded up to whole tiles; 6 sectors for each request from global
# memory; 32 bank conflicts for a block in each step, though there need be hardly any.
#
# Specification: `C = A @ B.T`
#
# <details><summary>Hint 1</summary>
#
# Where there is no element of A or B, put a 0 into the tile: it does not change a sum. Then all threads can do the
# same, and only two loads and the store need a guard.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `tx, ty = cuda.threadIdx.x, cuda.threadIdx.y` and `column, row = cuda.grid(2)`. In the step that begins with k0 the
# thread brings A[row, k0 + tx] into `As[ty, tx]`, if it exists. The tile of B holds 16 rows of B, from
# `first = 16 * cuda.blockIdx.x` on: B[first + ty, k0 + tx] goes into `Bs[ty, tx]`.
#
# </details>
# <details><summary>Hint 3</summary>
#
# The line that works is `acc += As[ty, k] * Bs[tx, k]`, between two barriers. Threads with neighbouring tx read a
# column of `Bs`. In rows of 16 numbers these lie in two banks only; rows of 17 spread them over all (lesson 12).
#
# </details>

# %% exercise="14.3"
TILE = 16


@gpu.jit
def tiled_product(A, B, C):
    """Write C (M, N) = A (M, K) @ B.T, B (N, K), from shared tiles; blocks of TILE x TILE threads, a tile of C each."""
    ### BEGIN SOLUTION
    As = cuda.shared.array((TILE, TILE), float32)
    Bs = cuda.shared.array((TILE, 17), float32)  # a column of it lies in 16 banks
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    first = cuda.blockIdx.x * TILE
    M, K = A.shape
    N = B.shape[0]
    acc = float32(0)
    for k0 in range(0, K, TILE):
        As[ty, tx] = A[row, k0 + tx] if row < M and k0 + tx < K else float32(0)
        Bs[ty, tx] = B[first + ty, k0 + tx] if first + ty < N and k0 + tx < K else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            acc += As[ty, k] * Bs[tx, k]
        cuda.syncthreads()
    if row < M and column < N:
        C[row, column] = acc
    ### END SOLUTION


# %% check="14.3"
check("14.3", tiled_product)

# %% [markdown]
# ## 14.4 · Repair: a layer that is right on square matrices
#
# *3 points, core. Trains: the second barrier; what the grid does not know; reading a report. (the course's own)*
#
# A colleague has written a whole layer as one kernel: x is (N, F), N samples with F features; w is (F, M), b is (M,),
# and a (N, M) is to hold ReLU of x w + b. A block of 8 x 8 threads has a tile of a of the same size, and walks along F
# in turns of 8. The colleague tried it with 64 samples and 64 x 64 weights, on the card in the office. The numbers were
# right, every time.
#
# Run the check before you change anything, and read what it says of which thread in which line. Mend one thing at a
# time and run it again. There are three faults; the first never showed on that card, and the other two cannot show on
# those sizes. The budget is that of tiles: 2 N M F / 8 elements of x and w and 64 of b for each block, with N, M and F
# rounded up to multiples of 8.
#
# Specification: `a = np.maximum(x @ w + b, 0)`
#
# <details><summary>Hint 1</summary>
#
# The first finding names two threads of different warps: one has read an element of `ws`, the other writes it. The
# writer is already in its next turn. What keeps a fast warp from going there while a slow one still reads?
#
# </details>
# <details><summary>Hint 2</summary>
#
# The second finding is an element of a tile which nobody has written. Which thread should have brought it, and where is
# that thread? A thread without an output of its own is still needed, until the loop is over. Then its loads and its
# store need a guard each, and so does its number of b.
#
# </details>
# <details><summary>Hint 3</summary>
#
# When the tiles are right, the numbers are still wrong. Compare the number of turns with F, which is `x.shape[1]`:
# `cuda.gridDim.x` counts the tiles along M.
#
# </details>

# %% exercise="14.4"
SIDE = 8


@gpu.jit
def dense_relu(x, w, b, a):
    """Write a (N, M), ReLU of x (N, F) @ w (F, M) + b (M,); blocks of SIDE x SIDE threads, one tile of a each."""
    ### BEGIN BROKEN
    xs = cuda.shared.array((SIDE, SIDE), float32)
    ws = cuda.shared.array((SIDE, SIDE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    if row >= a.shape[0] or column >= a.shape[1]:
        return
    z = b[column]
    for turn in range(cuda.gridDim.x):
        f = turn * SIDE
        xs[ty, tx] = x[row, f + tx] if f + tx < x.shape[1] else float32(0)
        ws[ty, tx] = w[f + ty, column] if f + ty < x.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(SIDE):
            z += xs[ty, k] * ws[k, tx]
    a[row, column] = max(z, float32(0))
    ### END BROKEN
    ### BEGIN SOLUTION
    xs = cuda.shared.array((SIDE, SIDE), float32)
    ws = cuda.shared.array((SIDE, SIDE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    z = b[column] if column < b.size else float32(0)
    for f in range(0, x.shape[1], SIDE):
        xs[ty, tx] = x[row, f + tx] if row < x.shape[0] and f + tx < x.shape[1] else float32(0)
        ws[ty, tx] = w[f + ty, column] if f + ty < x.shape[1] and column < w.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(SIDE):
            z += xs[ty, k] * ws[k, tx]
        cuda.syncthreads()
    if row < a.shape[0] and column < a.shape[1]:
        a[row, column] = max(z, float32(0))
    ### END SOLUTION


# %% check="14.4"
check("14.4", dense_relu)

# %% [markdown]
# ## 14.5 · Four results a thread
#
# *3 points, stretch. Trains: reuse in a register; who brings what. (Hwu, "Strategies for Lab 7")*
#
# In exercise 14.3 a thread reads two numbers from shared memory for one multiplication, and a warp makes a request for
# each. That is what the kernel waits for now. So let a thread compute four elements of C, one below the other: a number
# of B that it has read once serves four times.
#
# A block has 32 x 8 threads and a tile of C of 32 x 32: thread (tx, ty) has column tx of the tile and the rows 4 ty to
# 4 ty + 3. The grid has as many such tiles along x as N needs, along y as M needs. In a turn along K of 8 the block
# brings 32 x 8 elements of A and 8 x 32 of B. These are 256 each, so every thread still brings one of both. But A's
# tile is 32 high and 8 wide, and the block is 8 high and 32 wide. Number the threads and deal out the elements row by
# row: with `t = 32 * ty + tx`, thread t brings row `t // 8`, column `t % 8` of A's tile.
#
# The four sums lie in four variables, or in an array of the thread's own:
#
# ```python
# acc = cuda.local.array(4, float32)   # in registers, if the compiler knows all indices, as in: for i in range(4)
# ```
#
# The budget: each element of A loaded once for each tile along N, each of B once for each tile along M; 8 sectors for a
# warp's request of A and 5 for one of B; and for each 4 multiplications of a warp 5 requests to shared memory, not 8.
#
# Specification: `C = A @ B`
#
# <details><summary>Hint 1</summary>
#
# The first row of the tile is `row0 = 32 * cuda.blockIdx.y`, its first column `column0 = 32 * cuda.blockIdx.x`. What a
# thread brings and what it computes are two different things: A[row0 + t // 8, k0 + t % 8] on the one hand, the rows
# row0 + 4 ty + i on the other.
#
# </details>
# <details><summary>Hint 2</summary>
#
# For B nothing changes: the thread brings B[k0 + ty, column0 + tx] into `Bs[ty, tx]`. Then, between two barriers, k is
# the outer loop, i the inner one: read `b = Bs[k, tx]` before the inner loop begins.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `acc[i] += As[4 * ty + i, k] * b` for i from 0 to 3. Set all four to `float32(0)` before the loop along K. In the end
# store each of them at row `row0 + 4 * ty + i`, column `column0 + tx`, each with its own guard.
#
# </details>

# %% exercise="14.5"
WIDE = 32
DEEP = 8
ROWS = 4


@gpu.jit
def four_rows(A, B, C):
    """Write C (M, N) = A (M, K) @ B (K, N); blocks of 32 x 8 threads with a tile of 32 x 32, four rows a thread."""
    ### BEGIN SOLUTION
    As = cuda.shared.array((WIDE, DEEP), float32)
    Bs = cuda.shared.array((DEEP, WIDE), float32)
    acc = cuda.local.array(ROWS, float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row0, column0 = cuda.blockIdx.y * WIDE, cuda.blockIdx.x * WIDE
    M, K = A.shape
    N = B.shape[1]
    t = ty * WIDE + tx
    r, c = t // DEEP, t % DEEP
    for i in range(ROWS):
        acc[i] = float32(0)
    for k0 in range(0, K, DEEP):
        As[r, c] = A[row0 + r, k0 + c] if row0 + r < M and k0 + c < K else float32(0)
        Bs[ty, tx] = B[k0 + ty, column0 + tx] if k0 + ty < K and column0 + tx < N else float32(0)
        cuda.syncthreads()
        for k in range(DEEP):
            b = Bs[k, tx]
            for i in range(ROWS):
                acc[i] += As[ROWS * ty + i, k] * b
        cuda.syncthreads()
    for i in range(ROWS):
        row = row0 + ROWS * ty + i
        if row < M and column0 + tx < N:
            C[row, column0 + tx] = acc[i]
    ### END SOLUTION


# %% check="14.5"
check("14.5", four_rows)

# %% [markdown]
# ## 14.6 · Sixteen results a thread
#
# *4 points, stretch. Trains: reuse in two directions. (Hwu, "Strategies for Lab 7")*
#
# Four rows save requests for B only; those for A stay. Let a thread have 4 x 4 elements of C. In each step of k it
# reads four numbers of A and four of B into registers and makes 16 multiplications of them.
#
# A block has 8 x 8 threads, two warps, and again a tile of C of 32 x 32, and it walks along K in turns of 8. The grid
# is that of 14.5. Now there are 64 threads for 256 elements of each tile, so every thread brings four of both. Which
# four rows and columns of C a thread has is up to you. A good choice is every eighth one, so that neighbouring threads
# have neighbouring columns: the rows ty + 8 i and the columns tx + 8 j, for i and j from 0 to 3. Four rows side by side
# work too, if you look after the banks: what do threads with different ty read of A's tile at the same time? An array
# of a thread may have two axes: `cuda.local.array((4, 4), float32)`.
#
# The budget: loads as in 14.5; 8 sectors for each request from global memory; for each 16 multiplications of a warp 8
# requests to shared memory; and 96 bank conflicts for a block in each turn, which makes 128 such requests.
#
# Specification: `C = A @ B`
#
# <details><summary>Hint 1</summary>
#
# Bringing: with `t = 8 * ty + tx`, a loop takes the elements t, t + 64, t + 128, t + 192 of a tile, row by row. Element
# e of A's tile is row `e // 8`, column `e % 8`, as that tile is 8 wide. B's tile is 32 wide.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Computing: three arrays of the thread's own, acc (4, 4), a (4) and b (4). In a step of k first a loop that fills a and
# b from shared memory, then two loops that use nothing but registers: `acc[i, j] += a[i] * b[j]`.
#
# </details>
# <details><summary>Hint 3</summary>
#
# With every eighth row and column `a[i] = As[ty + 8 * i, k]` and `b[j] = Bs[k, tx + 8 * j]`, and the sum acc[i, j] goes
# to row `row0 + ty + 8 * i`, column `column0 + tx + 8 * j`, if they exist. A barrier behind the bringing, one behind
# the computing.
#
# </details>

# %% exercise="14.6"
WIDE = 32
DEEP = 8
SIDE = 8
EACH = 4


@gpu.jit
def sixteen(A, B, C):
    """Write C (M, N) = A (M, K) @ B (K, N); blocks of 8 x 8 threads with a tile of 32 x 32, 4 x 4 elements a thread."""
    ### BEGIN SOLUTION
    As = cuda.shared.array((WIDE, DEEP), float32)
    Bs = cuda.shared.array((DEEP, WIDE), float32)
    acc = cuda.local.array((EACH, EACH), float32)
    a = cuda.local.array(EACH, float32)
    b = cuda.local.array(EACH, float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row0, column0 = cuda.blockIdx.y * WIDE, cuda.blockIdx.x * WIDE
    M, K = A.shape
    N = B.shape[1]
    for i in range(EACH):
        for j in range(EACH):
            acc[i, j] = float32(0)
    for k0 in range(0, K, DEEP):
        for e in range(ty * SIDE + tx, WIDE * DEEP, SIDE * SIDE):
            r, k = e // DEEP, e % DEEP
            As[r, k] = A[row0 + r, k0 + k] if row0 + r < M and k0 + k < K else float32(0)
            k, c = e // WIDE, e % WIDE
            Bs[k, c] = B[k0 + k, column0 + c] if k0 + k < K and column0 + c < N else float32(0)
        cuda.syncthreads()
        for k in range(DEEP):
            for i in range(EACH):
                a[i] = As[ty + SIDE * i, k]
                b[i] = Bs[k, tx + SIDE * i]
            for i in range(EACH):
                for j in range(EACH):
                    acc[i, j] += a[i] * b[j]
        cuda.syncthreads()
    for i in range(EACH):
        for j in range(EACH):
            row, column = row0 + ty + SIDE * i, column0 + tx + SIDE * j
            if row < M and column < N:
                C[row, column] = acc[i, j]
    ### END SOLUTION


# %% check="14.6"
check("14.6", sixteen)

# %% [markdown]
# ## 14.7 · Choose a tile
#
# *3 points, core. Trains: intensity, and what limits a tile. (the course's own)*
#
# A block has a tile of C of BM x BN and walks along K in turns of BK. A thread has TM x TN elements of C. Given how
# many `threads` the block shall have (a power of two), how many operations for each byte loaded from global memory are
# wanted (`intensity`), and how many multiplications for each number read from shared memory (`reuse`), return five
# whole numbers BM, BN, BK, TM, TN such that
#
# 1. the threads fit: TM divides BM, TN divides BN, and BM/TM times BN/TN is `threads`;
# 2. BK and BN are multiples of 8, so that the rows of both tiles are whole sectors;
# 3. shared memory is enough: the two tiles, BM x BK and BK x BN in float32, take at most 48 KiB, which is 49,152 bytes;
# 4. registers are enough: a thread needs TM TN for its sums, TM + TN for the numbers it multiplies and 24 for the rest.
#    This may be at most 255, and for all threads of the block together at most 65,536;
# 5. in a turn the block loads (BM + BN) BK numbers of 4 bytes and does 2 BM BN BK operations: at least `intensity` for
#    each byte;
# 6. in a step of k a thread reads TM + TN numbers and makes TM TN multiplications: at least `reuse` for each number.
#
# Many answers are right. Wherever a check asks, there is one that has powers of two only.
#
# Specification: any BM, BN, BK, TM, TN that fulfil 1 to 6
#
# <details><summary>Hint 1</summary>
#
# BK is on both sides of the division in 5, so it does not change the intensity: BM BN / (2 (BM + BN)) is left. The
# smallest BK that 2 allows is good enough.
#
# </details>
# <details><summary>Hint 2</summary>
#
# You need no formula. Try all pairs of TM and TN among 1, 2, 4, 8, 16, and for each of them all ways to write `threads`
# as a product of two powers of two, `down * across`. Then BM is TM times down, and BN is TN times across.
#
# </details>
# <details><summary>Hint 3</summary>
#
# In the innermost loop compute the registers, the intensity and the reuse, and return as soon as all of 2 to 6 hold.
# `across = threads // down` makes 1 true by itself.
#
# </details>

# %% exercise="14.7"
def choose_tile(threads, intensity, reuse):
    """Return (BM, BN, BK, TM, TN) for a block of so many threads, operations a byte, and multiplications a number."""
    ### BEGIN SOLUTION
    BK = 8
    for TM in (1, 2, 4, 8, 16):
        for TN in (1, 2, 4, 8, 16):
            for down in (1, 2, 4, 8, 16, 32):
                across = threads // down
                BM, BN = TM * down, TN * across
                registers = TM * TN + TM + TN + 24
                fits = across > 0 and BN % 8 == 0 and 4 * (BM + BN) * BK <= 49_152
                fits = fits and registers <= 255 and registers * threads <= 65_536
                if fits and intensity <= BM * BN / (2 * (BM + BN)) and reuse <= TM * TN / (TM + TN):
                    return BM, BN, BK, TM, TN
    ### END SOLUTION


# %% check="14.7"
check("14.7", choose_tile)

# %% [markdown]
# ## 14.8 · Four vectors at once
#
# *3 points, core. Trains: a product bound by memory; what a batch saves; shuffles. (Owens, "Matrix Formulation")*
#
# The lesson's product of a matrix and one vector has a warp for each row and loads each element of the matrix once. It
# waits for memory, and no tile can help. Launched for four vectors, one after the other, it loads the whole matrix four
# times. Write the kernel that loads it once and serves all four.
#
# A is (M, K), with a row for each output, and X is (4, K): four images, a row each. Y is (4, M). Blocks have 128
# threads, which are four warps, and a warp has one row of A: warp number `cuda.grid(1) // 32` has the row of that
# number, if there is one. Its lanes go through the row together, 32 neighbours at a time, and each adds up in variables
# of its own, or in an array such as `cuda.local.array(4, float32)`. Then the warp agrees on the sums, as in exercise
# 13.2:
#
# ```python
# lane = cuda.laneid                                  # the thread's place in its warp, 0 to 31
# other = cuda.shfl_down_sync(0xFFFFFFFF, acc, 16)    # what acc is in the lane 16 places on; all lanes take part
# ```
#
# The budget: 5 M K loads, that is each element of A once and four elements of X for each of them; 25 sectors for each
# 32 elements of a row; 4 M stores; no atomics.
#
# Specification: `Y = X @ A.T`
#
# <details><summary>Hint 1</summary>
#
# Which element does lane l take first, and which next? In one moment the 32 lanes should want 32 neighbours, so a
# lane's own elements lie 32 apart. What a lane has loaded of A stays in a variable until it has met all four vectors.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `row = cuda.grid(1) // 32`. Inside of `if row < A.shape[0]:`, which holds for a whole warp or not at all, four sums
# begin with `float32(0)`. Then `for k in range(lane, A.shape[1], 32):` with `a = A[row, k]`, and below it a loop over
# the four images n: `acc[n] += a * X[n, k]`. A lane without an element keeps its zeros and still takes part in the
# shuffles.
#
# </details>
# <details><summary>Hint 3</summary>
#
# For each n `step = 16`, and `while step > 0:` each lane adds to acc[n] what a shuffle of acc[n] with `step` brings,
# then `step //= 2`. In the end lane 0 has the sum and stores it in Y[n, row].
#
# </details>

# %% exercise="14.8"
IMAGES = 4


@gpu.jit
def four_vectors(A, X, Y):
    """Write Y (4, M) = X (4, K) @ A.T with A (M, K), a warp a row of A; blocks of four warps."""
    ### BEGIN SOLUTION
    acc = cuda.local.array(IMAGES, float32)
    lane, row = cuda.laneid, cuda.grid(1) // 32
    if row < A.shape[0]:
        for n in range(IMAGES):
            acc[n] = float32(0)
        for k in range(lane, A.shape[1], 32):
            a = A[row, k]
            for n in range(IMAGES):
                acc[n] += a * X[n, k]
        for n in range(IMAGES):
            step = 16
            while step > 0:
                acc[n] += cuda.shfl_down_sync(0xFFFFFFFF, acc[n], step)
                step //= 2
            if lane == 0:
                Y[n, row] = acc[n]
    ### END SOLUTION


# %% check="14.8"
check("14.8", four_vectors)

# %% [markdown]
# ## 14.9 · In your own words: one image, or sixteen
#
# *2 points, core. Trains: reuse decides; batches. (the course's own)*
#
# A dense layer has 4,096 inputs and 4,096 outputs, so its weights take 64 MiB. On a certain GPU the layer takes about
# as long for one image as for a batch of 16. A colleague says: "For one image the kernel reads the weights from slow
# global memory. Put them into shared memory, and one image will be fast."
#
# Answer in about six sentences, with numbers. How many operations does the layer do for each byte of weights that it
# loads: with one image, and with a batch of 16? The GPU can do about 15 operations in the time in which it loads one
# byte. Why does shared memory not help with a single image, why does a batch, and from about which batch on will more
# images take more time?

# %% [markdown] answer="14.9"
# <!-- BEGIN SOLUTION -->
# Each weight is a float32 of 4 bytes, and for one image it is used in one multiplication and one addition: 2 operations
# for 4 bytes, half an operation for each byte. The GPU could do 15 in that time, so it waits for memory for nearly all
# of it. Shared memory only helps where a number that has been loaded is used again. For one image every weight is used
# once, so it would still have to come from global memory once, and then take a detour. In a batch the same weight is
# used for every image, so of 16 images each weight that is loaded serves 16 times: 8 operations for a byte. That is
# still below 15, so the layer still takes as long as its weights take to load, and the 15 other images cost next to
# nothing. From about 30 images on there are 15 operations for a byte, and the arithmetic takes as long as the loading;
# beyond that more images take more time. To reach that the kernel must really use each loaded weight for all images,
# and that is what the tiles in shared memory and registers are for.
#
# **Marking**, half a point each: (a) 0.5 operations a byte for one image and 8 for 16, or in words: 2 operations for 4
# bytes, and 16 times as many; (b) with one image each weight is used once, so shared memory has nothing to save: all
# weights must be loaded all the same; (c) in a batch each loaded weight is used for every image, so more operations
# come for the same bytes while memory is the limit; (d) the turn comes at about 30 images, where both take equally
# long. "Shared memory is too small for 64 MiB" for (b) is true, but earns nothing alone: a larger one would not help.
# <!-- END SOLUTION -->
