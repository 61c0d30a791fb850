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
# # Project · The convolution competition
#
# You write the forward pass of a convolution layer four times, each time by another strategy, and then as fast as you
# can for two layers of LeNet-5. This is Lab 7 of the lecture; teams of up to three hand in one notebook. No GPU is
# needed: a check runs your kernel in the course's executor, which counts what it asks of a card, and predicts a time
# from these counts. Plan two evenings for stages 1 to 4, and one or more for the free stage.
#
# **H** is ECE 508 lecture 10 by Prof. Hwu and colleagues at Illinois. Lesson 15 explains the strategies.

# %% [markdown]
# ## The rules
#
# 1. **Code must work for any credit.** A kernel that is wrong, has a hazard or is over its budget in one case, public
#    or hidden, earns nothing. In the free stage it has to be right for every number of images; then its time counts.
# 2. **The last step is enough.** Whoever has all points of stage 4's kernel gets those of the kernels of stages 1 to 3
#    as well. The questions on the effects are answered for each stage.
# 3. In the free stage you **may** optimise for the two given layers: write 5, 28 or 16 into the kernel, as you like.
#    The number of images is not given. It differs from case to case, and every image has to be computed.
# 4. You **may not** assume anything of the weights, such as that all are 1. They differ from case to case.
# 5. You **may** keep the masks in constant memory, and in stage 1 you must: `MASKS` is such an array. Read it by its
#    name in the kernel; the check puts the masks of its case in its place. Numba freezes them into the machine code,
#    so other masks are another kernel. That suits a trained network.
# 6. The work is yours: no kernel of this library, no vendor's library. Sums are in float32; operations in float64 are
#    over the budget, and half precision and TF32 are not exact enough.
# 7. Graders read a kernel and never run your Python. They compile it for a card only if the executor took it.
#
# ## How times are predicted
#
# The check walks every block of a launch for 24 images, compares each result, and counts. Then it predicts how long an
# H200 would need for as many such blocks as 10,000 images need. It counts multiply-adds, requests, sectors and
# barriers, and guesses from your text what indices cost: a division by a size of an array takes some forty
# instructions, a division by a number that you wrote fifteen, a dimension of an index into x or y fourteen. Loops of a
# known length are written out by a compiler, and then an index made of their counters costs nothing. Nobody's clock is
# asked, so the same kernel has the same time on every machine.
#
# (This is another prediction than lesson 15's column of that name, which is made from machine code. Only the grader and
# `predicted_time` in this sheet use the one described here.)
#
# How good is it? Eight kernels for these two layers were timed on an H200. The prediction puts them in the card's order
# on both layers, and its times are 1.0 to 2.6 times too short. So trust a factor of two between your kernels, and not
# a tenth.
#
# Points of the free stage go by this time. A right kernel has three of a layer's seven points, and each of four marks
# that its predicted time is below is worth one more. The first mark is a basic kernel's time, the last one that of a
# kernel made for the layer, and two lie between them, each by the same factor below the one before:
#
# | predicted microseconds for 10,000 images | basic | a third | two thirds | made for it | factor |
# |---|---|---|---|---|---|
# | C1 | 670 | 425 | 272 | 173 | 1.6 |
# | C3 | 920 | 680 | 500 | 370 | 1.4 |
#
# This basic kernel has the mask's size written in, as yours may, and that changes the order of lesson 15, whose kernels
# take any size. On an H200 it takes 1,234 µs on C1 and 2,489 on C3, where the lesson's takes 2,703 and 6,146. Beside
# it, tiles as in stage 1 are slower on both layers (1,463 and 3,472 µs), and joint tiles as in stage 4 are slower on C1
# (2,506 µs), though in the lesson both gain. The strategies pay for general sizes, and you know yours.
#
# Where the grading machine has a GPU, times are measured too. They decide the order on the leaderboard, and no points.
#
# ## The leaderboard
#
# It shows teams by the name that they choose here. Leave it empty, and you appear as "team" with a number; your own
# names are never shown.

# %%
TEAM = ""

# %%
import numpy as np
from numba import cuda, float32

from course_lib import gpu
from course_lib.checks import check
from course_lib.checks.predicted_time import predicted_time

rng = np.random.default_rng(7)
MASKS = rng.standard_normal((4, 3, 5, 5)).astype(np.float32)
C1_MASKS = rng.standard_normal((6, 1, 5, 5)).astype(np.float32)
C3_MASKS = rng.standard_normal((16, 6, 5, 5)).astype(np.float32)

# %% [markdown]
# ## project.1 · Stage 1: input tiles in shared memory, masks in constant memory
#
# *5 points, project. Trains: tiles with a halo; constant memory. (H, "Strategies for Lab 7", 1)*
#
# x is (B, C, H, W), MASKS is (M, C, K, K), y is (B, M, H_out, W_out) with H_out = H - K + 1 and W_out = W - K + 1. A
# block has 16 x 16 threads and computes a tile of 16 x 16 pixels of one output map: blockIdx.x is the map, blockIdx.y
# counts the tiles of a map row by row, blockIdx.z is the image. Of each input map a block loads
# every element that its tile needs, and loads it only once.
#
# Specification: `y = ops.conv2d_forward(x, MASKS)[0]`
#
# <details><summary>Hint 1</summary>
#
# A tile of outputs looks at 20 x 20 inputs for masks of 5 x 5. 256 threads bring 400 elements: let each take every
# 16th row and column, from its own on.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Two barriers for each input map: before the sums all must have written, and before the next map is brought all must
# have read. Threads outside y reach them too.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `masks = cuda.const.array_like(MASKS)`; then `seen[ty + p, tx + q] * masks[m, c, p, q]` for all p and q.
#
# </details>

# %% exercise="project.1"
SIDE = 16
SEEN = SIDE + MASKS.shape[2] - 1


@gpu.jit
def conv_tiled(x, y):
    """Write y (B, M, H_out, W_out), x (B, C, H, W) convolved with MASKS (M, C, K, K); a block, a tile of 16 x 16."""
    ### BEGIN SOLUTION
    masks = cuda.const.array_like(MASKS)
    seen = cuda.shared.array((SEEN, SEEN), float32)
    m, b = cuda.blockIdx.x, cuda.blockIdx.z
    tiles = (y.shape[3] + SIDE - 1) // SIDE
    top, left = cuda.blockIdx.y // tiles * SIDE, cuda.blockIdx.y % tiles * SIDE
    ty, tx = cuda.threadIdx.y, cuda.threadIdx.x
    h, v = top + ty, left + tx
    acc = float32(0)
    for c in range(x.shape[1]):
        for i in range(ty, SEEN, SIDE):
            for j in range(tx, SEEN, SIDE):
                pixel = float32(0)
                if top + i < x.shape[2] and left + j < x.shape[3]:
                    pixel = x[b, c, top + i, left + j]
                seen[i, j] = pixel
        cuda.syncthreads()
        for p in range(masks.shape[2]):
            for q in range(masks.shape[3]):
                acc += seen[ty + p, tx + q] * masks[m, c, p, q]
        cuda.syncthreads()
    if h < y.shape[2] and v < y.shape[3]:
        y[b, m, h, v] = acc
    ### END SOLUTION

# %% check="project.1"
check("project.1", conv_tiled)

# %% [markdown]
# ## project.2 · Stage 1: explain the effect
#
# *2 points, project. Trains: what constant memory and tiles save. (H, "Reuse in 2D Tiled Convolution")*
#
# How many times is an element in the middle of x loaded from global memory by the basic kernel of lesson 15, and how
# many times by yours, for M = 4 and K = 5? Put numbers from a report beside your formula. Why is constant memory the
# right place for the masks here, and what would make it the wrong one?

# %% [markdown] answer="project.2"
# <!-- BEGIN SOLUTION -->
# A model answer. One point for the two numbers with their formula, one for constant memory with its condition.
#
# The basic kernel loads an element in the middle K² M = 100 times: by 25 pixels of each of 4 maps. With tiles, each
# map's blocks load a tile's 20 x 20 inputs once for 16 x 16 outputs, so an element is loaded (20/16)² = 1.56 times for
# a map, 6.3 times in all: 16 times less, which is K² T² / (T + K - 1)². The report says so: global loads fall, and
# shared loads take their place, one for each multiply-add. To load an input once for all maps, a block would have to
# compute all maps.
#
# All lanes of a warp want the same weight at the same time, and constant memory serves that in one turn, without a
# load from global or shared memory. Where lanes want different weights, say if neighbours computed different maps, it
# would need a turn for each of them. It holds 64 KiB, and its numbers are frozen when the kernel is compiled.
# <!-- END SOLUTION -->

# %% [markdown]
# ## project.3 · Stage 2: unroll the input
#
# *3 points, project. Trains: the unrolled matrix, coalesced stores. (H, "Matrix Multiplication for a Convolution
# Layer")*
#
# Write the matrix that turns a convolution into a product, for each image: row c K K + p K + q of column h W_out + v
# holds x[b, c, h + p, v + q]. cols is (B, C K K, P) with P = H_out W_out. Blocks have 256 threads, one for each
# element of cols, and neighbours in a warp store neighbours.
#
# Specification: `cols[b, c*K*K + p*K + q, h*W_out + v] = x[b, c, h + p, v + q]`
#
# <details><summary>Hint 1</summary>
#
# The last axis is the fastest: thread i stores pixel i % P of row i // P % (C K K).
#
# </details>
# <details><summary>Hint 2</summary>
#
# W_out is `x.shape[3] - K + 1`. From the pixel come h and v, from the row c, p and q, by // and %.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `c, p, q = k // (K * K), k // K % K, k % K`
#
# </details>

# %% exercise="project.3"
@gpu.jit
def unroll_input(x, K, cols):
    """Write cols (B, C K K, P), in column h W_out + v what pixel (h, v) is made of; one element a thread."""
    ### BEGIN SOLUTION
    i = cuda.grid(1)
    _, depth, P = cols.shape
    if i < cols.size:
        pixel, k, b = i % P, i // P % depth, i // (P * depth)
        W_out = x.shape[3] - K + 1
        h, v = pixel // W_out, pixel % W_out
        c, p, q = k // (K * K), k // K % K, k % K
        cols[b, k, pixel] = x[b, c, h + p, v + q]
    ### END SOLUTION

# %% check="project.3"
check("project.3", unroll_input)

# %% [markdown]
# ## project.4 · Stage 2: the product of masks and unrolled input
#
# *4 points, project. Trains: a tiled product for each image. (H, "Tiled Matrix Multiplication")*
#
# rows is (M, D): each row holds the C K K weights of a map. y (B, M, P) is rows times each image of cols (B, D, P). A
# block has 16 x 16 threads and computes a tile of 16 maps x 16 pixels: x counts pixels, y maps, z images. It loads
# each element of its rows and columns once.
#
# Specification: `y[b] = rows @ cols[b]`
#
# <details><summary>Hint 1</summary>
#
# It is the tiled product of lesson 14, with blockIdx.z for the image.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Bring 0 where there is no element. Two barriers in each turn, which all threads reach.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `pixel, m = cuda.blockIdx.x * 16 + tx, cuda.blockIdx.y * 16 + ty`; weights come by tx along D, pixels by ty.
#
# </details>

# %% exercise="project.4"
@gpu.jit
def product_tiled(rows, cols, y):
    """Write y (B, M, P), rows (M, D) times each of cols (B, D, P); a block, a tile of 16 x 16 of one image."""
    ### BEGIN SOLUTION
    weights = cuda.shared.array((16, 16), float32)
    pixels = cuda.shared.array((16, 16), float32)
    M, depth = rows.shape
    P = cols.shape[2]
    tx, ty, b = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.z
    pixel, m = cuda.blockIdx.x * 16 + tx, cuda.blockIdx.y * 16 + ty
    acc = float32(0)
    for start in range(0, depth, 16):
        weight, value = float32(0), float32(0)
        if m < M and start + tx < depth:
            weight = rows[m, start + tx]
        if pixel < P and start + ty < depth:
            value = cols[b, start + ty, pixel]
        weights[ty, tx] = weight
        pixels[ty, tx] = value
        cuda.syncthreads()
        for k in range(16):
            acc += weights[ty, k] * pixels[k, tx]
        cuda.syncthreads()
    if m < M and pixel < P:
        y[b, m, pixel] = acc
    ### END SOLUTION

# %% check="project.4"
check("project.4", product_tiled)

# %% [markdown]
# ## project.5 · Stage 2: explain the effect
#
# *2 points, project. Trains: what unrolling costs and brings. (H, "Analyzing the Amount of Input Replication")*
#
# How many times larger than x is cols for C1 and for C3? What does the product gain by it, and what is lost against
# stage 1? On an H200, the library's kernels for any size took so many microseconds for 10,000 images:
#
# | | basic | unrolled by elements, then multiplied | unrolled by columns, then multiplied |
# |---|---|---|---|
# | C1 | 2,703 | 5,307 | 1,853 |
# | C3 | 6,146 | 3,860 | not measured |
#
# Your unroll_input goes by elements; by columns, a thread copies K K numbers, and moves the same bytes. Why do elements
# lose on C1 and win on C3? What does the last column say of the reason?

# %% [markdown] answer="project.5"
# <!-- BEGIN SOLUTION -->
# A model answer. One point for the two factors and what is gained and lost, one for the reasons of the times.
#
# C1: 25 · 784 / 1,024 = 19.1 times. C3: 150 · 100 / (6 · 14²) = 12.8 times. The product brings an unrolled element into
# shared memory once for 16 maps and a weight once for 16 pixels, its accesses are coalesced, and any fast product will
# do. But x is written 19.1 times over and read back, and the reuse of K² = 25 which a tile of x itself would have had
# is gone: it is now in memory as copies.
#
# Unrolling is done once for an element, and an element serves M maps: 6 on C1 and 16 on C3. So its cost is spread over
# 2.7 times as many multiply-adds on C3, and 16 maps fill the product's tile, where on C1 ten of its 16 rows are idle.
# By elements that makes twice the basic kernel's time on C1, and a third less than it on C3. The last column says that
# the loss is not one of bytes: by columns C1 takes a third less than the basic kernel. What elements cost is index
# arithmetic, several divisions for each of 196 million copies, where a column divides once for 25 of them.
# <!-- END SOLUTION -->

# %% [markdown]
# ## project.6 · Stage 3: unroll while loading
#
# *6 points, project. Trains: an unrolled matrix in thought. (H, "Conceptual Unrolling May Help Performance")*
#
# The product of stage 2 without its matrix: where a block of stage 2 loads an element of cols, yours loads the element
# of x of which that one is a copy. rows is (M, C K K), y is (B, M, H_out, W_out). Blocks and grid are those of stage
# 2's product, and so is the number of loads.
#
# Specification: `y = ops.conv2d_forward(x, rows.reshape(M, C, K, K))[0]`
#
# <details><summary>Hint 1</summary>
#
# Only the line that loads a pixel changes, and the one that stores.
#
# </details>
# <details><summary>Hint 2</summary>
#
# The thread keeps h and v of its pixel; from k come c, p and q as in unroll_input.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `x[b, k // (K * K), h + k // K % K, v + k % K]`, guarded for pixel and k.
#
# </details>

# %% exercise="project.6"
@gpu.jit
def conv_implicit(x, rows, K, y):
    """Write y (B, M, H_out, W_out), rows (M, C K K) times the unrolled x, of which each block unrolls what it loads."""
    ### BEGIN SOLUTION
    weights = cuda.shared.array((16, 16), float32)
    pixels = cuda.shared.array((16, 16), float32)
    M, depth = rows.shape
    W_out = y.shape[3]
    P = y.shape[2] * W_out
    tx, ty, b = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.z
    pixel, m = cuda.blockIdx.x * 16 + tx, cuda.blockIdx.y * 16 + ty
    h, v = pixel // W_out, pixel % W_out
    acc = float32(0)
    for start in range(0, depth, 16):
        weight, value = float32(0), float32(0)
        if m < M and start + tx < depth:
            weight = rows[m, start + tx]
        k = start + ty
        if pixel < P and k < depth:
            value = x[b, k // (K * K), h + k // K % K, v + k % K]
        weights[ty, tx] = weight
        pixels[ty, tx] = value
        cuda.syncthreads()
        for k in range(16):
            acc += weights[ty, k] * pixels[k, tx]
        cuda.syncthreads()
    if m < M and pixel < P:
        y[b, m, h, v] = acc
    ### END SOLUTION

# %% check="project.6"
check("project.6", conv_implicit)

# %% [markdown]
# ## project.7 · Stage 3: explain the effect
#
# *2 points, project. Trains: unrolling in thought against for real. (H, "Conceptual Unrolling May Help Performance")*
#
# The number of global loads is that of stage 2's product. With the library's kernels for any size, C3 with 10,000
# images takes 3,860 µs on an H200 when it is unrolled by elements, and 1,235 in thought. How many bytes have gone, how
# long do they take at 4.2 TB/s, and what else has gone? Which memory serves the loads that remain, and what new work
# does each of them need? C1 takes 1,853 µs unrolled by columns, and 2,582 in thought: how can a matrix that is written
# win?

# %% [markdown] answer="project.7"
# <!-- BEGIN SOLUTION -->
# A model answer. One point for the bytes, their time and the caches, one for index arithmetic on both sides.
#
# cols for C3 has 10,000 · 150 · 100 = 150 million numbers, 600 MB, which were written once and read once by the
# product: 1.2 GB of traffic, 0.29 ms at 4.2 TB/s. That is a ninth of the 2.6 ms between the two times. The rest is the
# unroller's index arithmetic: a thread for each of 150 million numbers, several divisions each, of 64 bits. x has 47
# MB. A block's loads now hit neighbouring and overlapping rows of x, which the L1 and L2 caches hold, so what is copied
# 12.8 times crosses DRAM once.
#
# The price is index arithmetic inside the product: two divisions and two remainders by K for each element that is
# loaded, and again for each tile of maps. By columns, the unroller divides once for 25 numbers and the product not at
# all. On C1 that saves more than the matrix costs there and back, 0.37 ms; so the real matrix wins.
# <!-- END SOLUTION -->

# %% [markdown]
# ## project.8 · Stage 4: tiles in shared memory and in registers
#
# *8 points, project. Trains: joint register-shared tiling. (H, "Strategies for Lab 7", 4)*
#
# As stage 3, but a thread computes several maps of several pixels. A block has 64 threads and computes a tile of 16
# maps x 64 pixels of one image: x counts tiles of pixels, y tiles of maps, z images. It loads each element of its rows
# and columns once. Shared memory has a budget too: half a load for each multiply-add. With 4 x 4 results a thread, 8
# loads serve 16 multiply-adds. The cell's names MAPS, PIXELS and THREADS are 16, 64 and 64. STEP is how many of the C K
# K positions a block brings in one turn, TM and TN how many maps and pixels a thread computes; these three are yours to
# change.
#
# Specification: `y = ops.conv2d_forward(x, rows.reshape(M, C, K, K))[0]`
#
# <details><summary>Hint 1</summary>
#
# For one k a thread loads 4 weights and 4 pixels into arrays of its own, `cuda.local.array(4, float32)`, and does 16
# multiply-adds with them.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Let a thread take 4 neighbouring maps, and pixels that lie 16 apart: then neighbours read neighbours.
#
# </details>
# <details><summary>Hint 3</summary>
#
# Bring a stage of 8 positions: 8 x 16 weights, two a thread, and 8 x 64 pixels, a column a thread. Barriers as before.
#
# </details>

# %% exercise="project.8"
MAPS, PIXELS, THREADS = 16, 64, 64
STEP, TM, TN = 8, 4, 4


@gpu.jit
def conv_joint(x, rows, K, y):
    """Write y (B, M, H_out, W_out), rows (M, C K K) times the unrolled x; a block, 16 maps x 64 pixels."""
    ### BEGIN SOLUTION
    weights = cuda.shared.array((STEP, MAPS), float32)
    pixels = cuda.shared.array((STEP, PIXELS), float32)
    acc = cuda.local.array((TM, TN), float32)
    own_weights, own_pixels = cuda.local.array(TM, float32), cuda.local.array(TN, float32)
    M, depth = rows.shape
    W_out = y.shape[3]
    P = y.shape[2] * W_out
    t, b = cuda.threadIdx.x, cuda.blockIdx.z
    first_pixel, first_map = cuda.blockIdx.x * PIXELS, cuda.blockIdx.y * MAPS
    h, v = (first_pixel + t) // W_out, (first_pixel + t) % W_out
    tn, tm = t % (PIXELS // TN), t // (PIXELS // TN)
    for i in range(TM):
        for j in range(TN):
            acc[i, j] = float32(0)
    for start in range(0, depth, STEP):
        for i in range(t, STEP * MAPS, THREADS):
            k, m = start + i % STEP, first_map + i // STEP
            weight = float32(0)
            if m < M and k < depth:
                weight = rows[m, k]
            weights[i % STEP, i // STEP] = weight
        for i in range(STEP):
            k = start + i
            value = float32(0)
            if first_pixel + t < P and k < depth:
                value = x[b, k // (K * K), h + k // K % K, v + k % K]
            pixels[i, t] = value
        cuda.syncthreads()
        for k in range(STEP):
            for i in range(TM):
                own_weights[i] = weights[k, tm * TM + i]
            for j in range(TN):
                own_pixels[j] = pixels[k, tn + j * (PIXELS // TN)]
            for i in range(TM):
                for j in range(TN):
                    acc[i, j] += own_weights[i] * own_pixels[j]
        cuda.syncthreads()
    for j in range(TN):
        pixel = first_pixel + tn + j * (PIXELS // TN)
        for i in range(TM):
            m = first_map + tm * TM + i
            if m < M and pixel < P:
                y[b, m, pixel // W_out, pixel % W_out] = acc[i, j]
    ### END SOLUTION

# %% check="project.8"
check("project.8", conv_joint)

# %% [markdown]
# ## project.9 · Stage 4: explain the effect
#
# *2 points, project. Trains: shared loads for a multiply-add. (H, "Tiled Matrix Multiplication 2x4 example")*
#
# How many loads from shared memory does a multiply-add take in stages 2 and 3, how many in yours, and how many would
# it take with 4 x 8 results a thread? Which part of a card was the limit before, and what limits how large a thread's
# tile can be?

# %% [markdown] answer="project.9"
# <!-- BEGIN SOLUTION -->
# A model answer. One point for the three numbers, one for the limits.
#
# Stages 2 and 3: two loads, a weight and a pixel. With 4 x 4 results: (4 + 4) / 16 = 1/2. With 4 x 8: (4 + 8) / 32 =
# 3/8. Shared memory was the limit: an SM serves 32 numbers in a clock and could do 128 multiply-adds. A larger tile
# needs more registers: 16 sums became 32, and with fewer warps on an SM there is less to do while one waits. It also
# needs enough maps: with C1's 6 maps most of a tile of 16 is idle.
# <!-- END SOLUTION -->

# %% [markdown]
# ## project.10 · Free stage: LeNet-5's C1
#
# *7 points, project. Trains: a kernel for one layer. (H, "Specialization for the LeNet-5 C1 Layer")*
#
# x is (B, 1, 32, 32), w is (6, 1, 5, 5), y is (B, 6, 28, 28). C1_MASKS holds the same weights as w: read either, by its
# own name. Below the kernel write `c1_launch(B)`, which returns (grid, block) for B images, such as `((7, B), 128)`.
# Graders read it, as they read the kernel, and do not run it: it may use B, numbers, constants of the cell, arithmetic,
# if, loops and `math.ceil`. It has to give a launch for 10,000 images too; along y and z a grid ends at 65,535 blocks.
#
# Specification: `y = ops.conv2d_forward(x, w)[0]`
#
# <details><summary>Hint 1</summary>
#
# The lecture's block: 128 threads bring 8 rows of 32 inputs, two elements each; then 112 of them, 4 rows of 28,
# compute 6 maps each. 7 blocks make an image.
#
# </details>
# <details><summary>Hint 2</summary>
#
# A pixel that a thread has read serves all 6 maps: `cuda.local.array(6, float32)` holds their sums.
#
# </details>
# <details><summary>Hint 3</summary>
#
# Loops over the 25 positions outside, over the 6 maps inside. `predicted_time("project.10", conv_c1)` says where you
# are and what the limit is.
#
# </details>

# %% exercise="project.10"
@gpu.jit
def conv_c1(x, w, y):
    """Write y (B, 6, 28, 28), x (B, 1, 32, 32) convolved with w (6, 1, 5, 5), which C1_MASKS holds too."""
    ### BEGIN SOLUTION
    masks = cuda.const.array_like(C1_MASKS)
    tile = cuda.shared.array((8, 32), float32)
    acc = cuda.local.array(6, float32)
    t, top, b = cuda.threadIdx.x, cuda.blockIdx.x * 4, cuda.blockIdx.y
    row, col = t // 32, t % 32
    h, v = t // 28, t % 28
    for m in range(6):
        acc[m] = float32(0)
    tile[row, col] = x[b, 0, top + row, col]
    tile[row + 4, col] = x[b, 0, top + row + 4, col]
    cuda.syncthreads()
    if t < 112:
        for p in range(5):
            for q in range(5):
                pixel = tile[h + p, v + q]
                for m in range(6):
                    acc[m] += pixel * masks[m, 0, p, q]
        for m in range(6):
            y[b, m, top + h, v] = acc[m]


def c1_launch(B):
    """Grid and block for B images."""
    return (7, B), 128
    ### END SOLUTION

# %% check="project.10"
check("project.10", conv_c1)

# %%
predicted_time("project.10", conv_c1)

# %% [markdown]
# ## project.11 · Free stage: LeNet-5's C3
#
# *7 points, project. Trains: a kernel for one layer. (H, "Coarsening Does Not Match Tiling Choices")*
#
# x is (B, 6, 14, 14), w is (16, 6, 5, 5), y is (B, 16, 10, 10), and C3_MASKS holds the same weights as w. Below the
# kernel write `c3_launch(B)`, by the rules of c1_launch.
#
# Specification: `y = ops.conv2d_forward(x, w)[0]`
#
# <details><summary>Hint 1</summary>
#
# An image has 1,176 inputs: all of them fit into shared memory, with those of some more images.
#
# </details>
# <details><summary>Hint 2</summary>
#
# A thread that computes a row of 10 pixels for 4 maps reads 14 inputs for a row of the masks, and does 200
# multiply-adds with them. Let a warp have the same 4 maps, so that all its lanes want the same weight.
#
# </details>
# <details><summary>Hint 3</summary>
#
# Rows of 10 pixels lie badly in memory when each thread stores its own. Put the results into shared memory, and let
# neighbours store neighbours.
#
# </details>

# %% exercise="project.11"
@gpu.jit
def conv_c3(x, w, y):
    """Write y (B, 16, 10, 10), x (B, 6, 14, 14) convolved with w (16, 6, 5, 5), which C3_MASKS holds too."""
    ### BEGIN SOLUTION
    masks = cuda.const.array_like(C3_MASKS)
    seen = cuda.shared.array((IMAGES, 6, 14, 14), float32)
    made = cuda.shared.array((IMAGES, 16, 10, 10), float32)
    acc, line = cuda.local.array((4, 10), float32), cuda.local.array(14, float32)
    t, first = cuda.threadIdx.x, cuda.blockIdx.x * IMAGES
    for i in range(t, IMAGES * 1176, GROUPS * LANES):
        n, k = i // 1176, i % 1176
        if first + n < x.shape[0]:
            seen[n, k // 196, k // 14 % 14, k % 14] = x[first + n, k // 196, k // 14 % 14, k % 14]
    cuda.syncthreads()
    group, n, h = t // LANES, t % LANES // 10, t % LANES % 10
    if n < IMAGES and first + n < x.shape[0]:
        for i in range(4):
            for j in range(10):
                acc[i, j] = float32(0)
        for c in range(6):
            for p in range(5):
                for j in range(14):
                    line[j] = seen[n, c, h + p, j]
                for q in range(5):
                    for i in range(4):
                        for j in range(10):
                            acc[i, j] += line[j + q] * masks[4 * group + i, c, p, q]
        for i in range(4):
            for j in range(10):
                made[n, 4 * group + i, h, j] = acc[i, j]
    cuda.syncthreads()
    for i in range(t, IMAGES * 1600, GROUPS * LANES):
        n, k = i // 1600, i % 1600
        if first + n < x.shape[0]:
            y[first + n, k // 100, k // 10 % 10, k % 10] = made[n, k // 100, k // 10 % 10, k % 10]


IMAGES, GROUPS, LANES = 3, 4, 32


def c3_launch(B):
    """Grid and block for B images."""
    return (B + IMAGES - 1) // IMAGES, GROUPS * LANES
    ### END SOLUTION

# %% check="project.11"
check("project.11", conv_c3)

# %%
predicted_time("project.11", conv_c3)

# %% [markdown]
# ## project.12 · Free stage: what you tried
#
# *2 points, project. Trains: measure, change one thing, say why. (H, "Rules for Lab 7 Performance Boosting")*
#
# Name three changes to your kernels in the order in which you made them, with the predicted time before and after
# each. Say for one of them why it helped, by a counter of the report; and name one that did not help, and why.

# %% [markdown] answer="project.12"
# <!-- BEGIN SOLUTION -->
# A model answer. One point for three changes with times, one for a reason that a counter shows.
#
# C3: joint tiles 776 µs; nearly all of it is index arithmetic. An image in shared memory, a row of 10 pixels x 4 maps a
# thread, 6 images a block: 473 µs. 3 images a block: 363 µs, as more blocks fit on an SM. The report showed what was
# left: each lane stored a row of its own, 40 bytes apart, so each request to store touched 32 sectors and wrote each in
# part. With the results in shared memory first, and stored by neighbours: 350 µs; sectors stored fell from 38,400 to
# 4,800. What did not help: one image a block, 761 µs, as only 10 lanes of each warp have a row to compute then.
# <!-- END SOLUTION -->
