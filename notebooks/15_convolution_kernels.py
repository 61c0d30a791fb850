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
# # 15 · Convolution kernels: unroll it, or only in thought
#
# In lesson 08 a convolution became one matrix product: copy every window into a column, multiply, done. Ask around, and
# you will hear that this is how the frameworks do it. Here are six kernels for the first layer of lesson 09's network,
# C1. All of them compute the same 4,704 outputs. Look at what each has to send to the card's memory, and fetch from it.

# %% tags=["hide-input"]
import numpy as np
from numba import cuda, float32

from course_lib import data, figures, gpu
from course_lib import reference as ops
from course_lib.cuda.ladders.conv2d import forward
from course_lib.lesson import count_layer, counts, estimated, measured, memory_ladder, predict, table
from course_lib.simt.estimate.devices import find_device

LAYERS = {"C1": (1, 32, 5, 6), "C3": (6, 14, 5, 16), "C5": (16, 5, 5, 120)}  # maps in, their size, mask, maps out
NAMES = {
    "v01_basic": "basic", "v02_constant_masks": "tile, constants", "v03_im2col_gemm": "unrolled",
    "v04_implicit_gemm": "in thought", "v05_register_tiled": "and registers", "v06_specialised": "generated for C1",
}  # fmt: skip
C1_LAYER = {"v05b_c1_layer": "the lecture's for C1"}
ladder = {rung.name: rung.launch for rung in forward.LADDER}
on_c1 = count_layer({k: ladder[k] for k in NAMES | C1_LAYER}, (2, 1, 32, 32), (6, 1, 5, 5), (2, 6, 28, 28))
figures.convolution_kernels.movement(on_c1, NAMES)

# %% [markdown]
# Five of the six have to move 24 KB for an image, and that is the image and its outputs. The one that unrolls has to
# move seven times as much. On the card of these lessons it takes twice as long as the next one, which computes the very
# same matrix product and writes no matrix at all. By the end of the page you can say why, and also when it would not
# matter.
#
# ## You will be able to
#
# - lay output maps, tiles and images out on a grid, and say whether a layer fills a card;
# - bring a tile with its halo into shared memory, and predict how often each of its pixels is used;
# - tell in bytes why unrolling an image loses, unroll it in thought instead, and reuse the kernels for both gradients;
# - choose between a general product, a kernel made for one layer, and a Fourier transform.

# %% [markdown]
# <details><summary>About this page</summary>
#
# It follows ECE 508 lecture 10 by Prof. Hwu and colleagues at Illinois, with the four strategies of its Lab 7, and
# Prof. Dey's unrolling kernel. You need lessons 08, 11, 12 and 13. Lesson 14 treats the matrix product at length; what
# of it is needed here is said again. Counts come from the executor and are the same on every machine, times from the
# card that is named beside them. Reading and trying takes about 90 minutes.
#
# </details>

# %% [markdown]
# ## One thread for each output
#
# The layer, once more, in the letters of lesson 08: $B$ images of $C$ maps come in, $M$ maps go out, and a mask has $K
# \times K$ weights.
#
# $$y_{n,m,h,v} = \sum_{c,\,p,\,q} x_{n,\,c,\,h+p,\,v+q}\; w_{m,c,p,q}$$
#
# No output waits for another one, so each gets a thread. There are four axes to place and a grid has three. One good
# way: blocks along x are the output maps, blocks along y are the *tiles* of a map, numbered row by row, and blocks
# along z are the images.[^Hwu "Design of a Basic Kernel"] A block is one tile, a thread one of its pixels.[^Hwu
# "Partial Kernel Code for a Convolution Layer"]

# %%
@gpu.jit
def basic(x, w, y):
    tile = cuda.blockDim.x
    tiles_in_a_row = (y.shape[3] + tile - 1) // tile
    m, n = cuda.blockIdx.x, cuda.blockIdx.z
    h = cuda.blockIdx.y // tiles_in_a_row * tile + cuda.threadIdx.y
    v = cuda.blockIdx.y % tiles_in_a_row * tile + cuda.threadIdx.x
    if h < y.shape[2] and v < y.shape[3]:
        total = float32(0)
        for c in range(x.shape[1]):
            for p in range(w.shape[2]):
                for q in range(w.shape[3]):
                    total += x[n, c, h + p, v + q] * w[m, c, p, q]
        y[n, m, h, v] = total

def grid_for(y, tile):
    B, M, H_out, W_out = y.shape
    return M, -(-H_out // tile) * -(-W_out // tile), B

# %% [markdown]
# The guard is for sizes that are no multiple of the tile; the number of tiles is rounded up for the same reason. With 4
# output maps of 8 × 8 and tiles of 4 × 4, that makes four blocks along x and four along y.[^Hwu "Example of Block Y
# Dimension Mapping"] A map of 16 × 20 outputs takes five tiles in a row and four rows of them.[^Hwu "Host Code for a
# Basic Kernel: CUDA Grid"] The picture is drawn from the executor's record of who wrote which output.

# %%
small = np.zeros((1, 4, 8, 8), np.float32)
print("4 maps of 8 x 8:", grid_for(small, 4))

image, mask = np.ones((1, 1, 18, 22), np.float32), np.ones((1, 1, 3, 3), np.float32)
wide = np.zeros((1, 1, 16, 20), np.float32)
report = gpu.simulate(basic, grid_for(wide, 4), (4, 4), image, mask, wide)
figures.convolution_kernels.tiles(report)

# %% [markdown]
# ## Does a layer fill a card?
#
# An H200 has 132 multiprocessors, and each has room for 2,048 threads. That is 270,336 at a time. LeNet-5's layers have
# the outputs below. Deeper layers have more maps, but smaller ones, and the last has one pixel in each.[^Hwu
# "Parallelism in a Convolution Layer"]

# %% tags=["hide-input"]
fill = predict(
    "C5 has 120 outputs for an image. How many images must be in a mini-batch before every place for a thread on an "
    "H200 is taken?",
    [120, 132, "about 2,250", "about 270,000"],
    answer="about 2,250",
    reveals=2,
)
fill

# %% tags=["hide-output"]
card = find_device("H200")
places = card.sms * card.threads_per_sm
outputs = {name: M * (H - K + 1) ** 2 for name, (C, H, K, M) in LAYERS.items()}
table(
    [(name, n, n / places, -(-places // n)) for name, n in outputs.items()],
    ["layer", "outputs of an image", "of the card's places", "images to fill it"],
    formats={"of the card's places": ".2%"},
)

# %% [markdown]
# <details class="reveal"><summary>What a mini-batch is for, seen from a card</summary>
#
# One image leaves more than 98 % of the card empty, even in C1. A **mini-batch** was introduced in lesson 03 to save
# steps; here it has a second purpose. The images of a batch are independent, so they are one more axis of the grid, and
# with 2,253 of them even C5 has a thread for every place.[^Hwu "Mini-Batching May be Needed to Fill GPU"] With a batch
# of 64, as in lesson 09, C5 has 7,680 outputs and needs another idea.
#
# There is one. The $C K^2$ products of an output could be computed by different threads, input maps in parallel. But
# then several threads add to one output, and lesson 13 says what that takes: atomics or a tree.[^Hwu "Parallelism in a
# Convolution Layer"]
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
fill.confirm(f"about {round(places / outputs['C5'], -1):,.0f}")

# %% [markdown]
# ## Each tile of the image is loaded by every map
#
# Here is C1 itself, with a real digit, framed to 32 × 32, and with weights that are small whole numbers. So sums are
# exact, and a kernel that is right agrees with lesson 08's operation to the last bit.

# %%
digit = data.load_digits(0).images("test")[0]
x = np.pad(256 - np.rint(255 * digit), 2, constant_values=256).astype(np.float32)[None, None]
MASKS = np.random.default_rng(0).integers(1, 5, (6, 1, 5, 5)).astype(np.float32)

y = np.zeros((1, 6, 28, 28), np.float32)
on_card = gpu.to_device(y)
basic[grid_for(y, 16), (16, 16)](gpu.to_device(x), gpu.to_device(MASKS), on_card)
right, _ = ops.conv2d_forward(x, MASKS)
print("as lesson 08:", np.array_equal(gpu.to_host(on_card), right))

report = gpu.simulate(basic, grid_for(y, 16), (16, 16), x, MASKS, y)
print(f"loads of each pixel: {report.arrays['x'].reuse:.1f} = {MASKS.shape[0]} maps x", end=" ")
print(f"{report.arrays['x'].reuse / MASKS.shape[0]:.1f}")

# %% [markdown]
# Every pixel is loaded 115 times on average: by each of the 6 maps, since their blocks do not know of each other,[^Hwu
# "Some Observations"] and within a map by each of up to 25 windows in which it stands. Most of these loads never reach
# the card's memory, because a cache still has the pixel. How well that works depends on who runs beside whom. Blocks
# start in the order of their numbers, x first. With maps along x, the six blocks which want the *same* tile start
# together.

# %% tags=["hide-input"]
# The order of blocks and the caches.
turned_grid = measured("block order, conv 4->16 k7", card="h200")
orders = ["maps, tiles, images", "tiles, maps, images", "images, tiles, maps"]
table(
    [(order, *(turned_grid.counters[order][rate] / 100 for rate in ("l1_hit_rate", "l2_hit_rate")),
      turned_grid.counters[order]["memory_bytes_read"] / 1e6, 1e6 * turned_grid.seconds[order]) for order in orders],
    ["blocks along x, y, z", "found in L1", "found in L2", "MB read from memory", "microseconds"],
    formats={"found in L1": ".0%", "found in L2": ".0%", "MB read from memory": ",.0f", "microseconds": ",.0f"},
    caption=f"`basic` on a layer with 4 maps in, 16 out, {turned_grid.size}, K = 7, measured on an {turned_grid.card} "
    "with its profiler",
)  # fmt: skip

# %% [markdown]
# ## A tile and its halo
#
# A cache helps by luck; shared memory helps on purpose. So let a block bring the pixels that it needs into shared
# memory, once, and let its threads read them there. The catch is at the rim. An output looks at $K \times K$ pixels to
# its right and below it, so a tile of $T \times T$ outputs needs $(T + K - 1) \times (T + K - 1)$ pixels. Those beyond
# $T \times T$ are the tile's **halo**. There are more of them than threads, so some threads load several.

# %%
# figures.halo_explorer()

# %% [markdown]
# This is the first of four strategies that the lecture has for its students.[^Hwu "Strategies for Lab 7"] The masks go
# into constant memory, since all lanes of a warp want the same weight at the same moment (lesson 12). The size of a
# shared array must be known when a kernel is compiled, and so must constants. A Python function that *makes* the kernel
# knows both.

# %%
def tiled_for(TILE, MASKS):
    (_, C, K, _), SIDE = MASKS.shape, TILE + MASKS.shape[2] - 1

    @gpu.jit
    def tiled(x, y):
        masks = cuda.const.array_like(MASKS)
        seen = cuda.shared.array((SIDE, SIDE), float32)
        m, n, ty, tx = cuda.blockIdx.x, cuda.blockIdx.z, cuda.threadIdx.y, cuda.threadIdx.x
        across = (y.shape[3] + TILE - 1) // TILE
        top, left = cuda.blockIdx.y // across * TILE, cuda.blockIdx.y % across * TILE
        total = float32(0)
        for c in range(C):
            for i in range(ty, SIDE, TILE):
                for j in range(tx, SIDE, TILE):
                    if top + i < x.shape[2] and left + j < x.shape[3]:
                        seen[i, j] = x[n, c, top + i, left + j]
            cuda.syncthreads()
            if top + ty < y.shape[2] and left + tx < y.shape[3]:
                for p in range(K):
                    for q in range(K):
                        total += seen[ty + p, tx + q] * masks[m, c, p, q]
            cuda.syncthreads()
        if top + ty < y.shape[2] and left + tx < y.shape[3]:
            y[n, m, top + ty, left + tx] = total

    return tiled

# %% [markdown]
# Two barriers, as for every tile that is filled more than once: nobody may read before all have loaded, and nobody may
# load the next map while others still read. Both stand outside the guards.

# %%
tiled = tiled_for(16, MASKS)
on_card = gpu.to_device(y)
tiled[grid_for(y, 16), (16, 16)](gpu.to_device(x), on_card)
print("as lesson 08:", np.array_equal(gpu.to_host(on_card), right))

with_tile = gpu.simulate(tiled, grid_for(y, 16), (16, 16), x, y)
counts(
    report, with_tile, global_requests="global_load_requests", shared_requests="shared_load_requests",
    constant_requests="constant_load_requests", loads_of_a_pixel=lambda r: r.arrays["x"].reuse,
)  # fmt: skip

# %% [markdown]
# A pixel is loaded from global memory 7.6 times instead of 115 times. Six of these are for the six maps, and the rest
# is the halo, which neighbouring tiles load as well.
#
# ## Forget the halo
#
# It is tempting to give every thread one pixel to bring, and done. Where the window leaves the tile, one takes a zero,
# so that nothing is read out of bounds. These are the lines that differ:
#
# ```python
# seen[ty, tx] = x[n, c, top + ty, left + tx]
# ...
# if ty + p < TILE and tx + q < TILE:
#     total += seen[ty + p, tx + q] * masks[m, c, p, q]
# ```
#
# With blocks of 16 × 16 and an image of 16 × 16, hence 12 × 12 outputs, it passes every test. Now C1 has 28 × 28
# outputs, so four tiles. Take a pencil and shade the outputs that will be wrong.

# %% tags=["hide-input"]
seams = predict(
    "Without a halo, tiles of 16 × 16 outputs, K = 5, 28 × 28 outputs. Which outputs are wrong?",
    [
        "all of them",
        "the last four rows and columns of the map",
        "rows and columns 12 to 15, and no others",
        "rows and columns 14 to 17, and no others",
    ],
    answer="rows and columns 12 to 15, and no others",
    reveals=2,
)
seams

# %% tags=["hide-input", "hide-output"]
# The kernel without a halo.
def without_halo_for(TILE, MASKS):
    C, K = MASKS.shape[1:3]

    @gpu.jit
    def without_halo(x, y):
        masks = cuda.const.array_like(MASKS)
        seen = cuda.shared.array((TILE, TILE), float32)
        m, n, ty, tx = cuda.blockIdx.x, cuda.blockIdx.z, cuda.threadIdx.y, cuda.threadIdx.x
        tiles_in_a_row = (y.shape[3] + TILE - 1) // TILE
        top, left = cuda.blockIdx.y // tiles_in_a_row * TILE, cuda.blockIdx.y % tiles_in_a_row * TILE
        total = float32(0)
        for c in range(C):
            seen[ty, tx] = x[n, c, top + ty, left + tx]
            cuda.syncthreads()
            for p in range(K):
                for q in range(K):
                    if ty + p < TILE and tx + q < TILE:
                        total += seen[ty + p, tx + q] * masks[m, c, p, q]
            cuda.syncthreads()
        if top + ty < y.shape[2] and left + tx < y.shape[3]:
            y[n, m, top + ty, left + tx] = total

    return without_halo

torn = gpu.to_device(y)
without_halo = without_halo_for(16, MASKS)
without_halo[grid_for(y, 16), (16, 16)](gpu.to_device(x), torn)
wrong = gpu.to_host(torn)
figures.convolution_kernels.seams(right[0, 0], wrong[0, 0])

# %% [markdown]
# <details class="reveal"><summary>Wrong only at the seams</summary>
#
# The first tile computes outputs 0 to 15 and holds pixels 0 to 15. Output 12 looks at pixels 12 to 16, and pixel 16 is
# not there. So outputs 12 to 15 are wrong, in rows as in columns. The second tile begins at output 16. It has only
# outputs 16 to 27, and these look at pixels 16 to 31, all of which it holds: the map's own edge is right. In a picture
# such a fault is a faint cross. In training it is a network that learns a little worse, and nobody knows why.
#
# Small sizes hid it. So test a tiled kernel with an image of more than one tile, no multiple of it, and compare *every*
# output.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
rows = [h for h in range(28) if (wrong[0, 0, h] != right[0, 0, h]).all()]
others = np.delete(np.delete(wrong[0, 0] != right[0, 0], rows, axis=0), rows, axis=1)
assert rows == [12, 13, 14, 15]
assert not others.any()
seams.confirm(f"rows and columns {rows[0]} to {rows[-1]}, and no others")

# %% [markdown]
# ## How often is a pixel used?
#
# A tile in shared memory pays if each of its pixels is used often. Count: $T^2$ outputs read $K^2$ pixels each, and $(T
# + K - 1)^2$ pixels were brought. So each is used[^Hwu "Reuse in 2D Tiled Convolution"]
#
# $$\frac{K^2\, T^2}{(T + K - 1)^2}$$
#
# times on average. The report has the same number, in its column *reuse*: loads of the shared array, divided by its
# stores.

# %%
def uses(T, K):
    return K**2 * T**2 / (T + K - 1) ** 2

rows = []
for layer, T in (("C1", 4), ("C1", 14), ("C1", 28), ("C3", 10), ("C5", 1)):
    C, H, K, M = LAYERS[layer]
    maps, out = np.ones((1, C, H, H), np.float32), np.zeros((1, 1, H - K + 1, H - K + 1), np.float32)
    one = gpu.simulate(tiled_for(T, np.ones((1, C, K, K), np.float32)), grid_for(out, T), (T, T), maps, out)
    rows.append((layer, T, uses(T, K), one.arrays["seen"].reuse, ops.replication((1, C, H, H), K)))
table(
    rows, ["layer", "tile", "formula", "report", "replication when unrolled"],
    formats=dict.fromkeys(["formula", "report", "replication when unrolled"], ".1f"),
)  # fmt: skip

# %% [markdown]
# The larger the tile, the smaller the share of its halo. In the limit a pixel would be used $K^2 = 25$ times. With a
# whole map as one tile, C1 has 19.1, C3 12.8 and C5 just 1.
#
# Now look at the last column. That is lesson 08's **replication**: how many copies of a pixel the unrolled matrix
# holds. The two are the same number, and they must be. Whoever unrolls writes a copy for each use, and whoever tiles
# keeps one copy and uses it as often.[^Hwu "Convolution Reuse Matches Unrolling Replication!"] So unrolling turns
# *reuse* into *copies*. Whether that is bad depends on where the copies are kept, and that is the next section.
#
# ## Unrolling, for real
#
# The second strategy: write the matrix $X_{cols}$ with $C K^2$ rows and $H_{out} W_{out}$ columns, then multiply with
# tiles in shared memory. First the writing. One way gives each thread one element of the matrix. The other gives it one
# window, so one column, and lets it walk down.[^Dey "Im2Col Operation"]

# %%
@gpu.jit
def unroll_elements(x, K, cols):
    i = cuda.grid(1)
    if i < cols.size:
        W_out, (_, depth, places) = x.shape[3] - K + 1, cols.shape
        place, k, n = i % places, i // places % depth, i // places // depth
        c, p, q = k // (K * K), k // K % K, k % K
        cols[n, k, place] = x[n, c, place // W_out + p, place % W_out + q]

# %% [markdown]
# A thread of the second kernel works out once where its window begins, and then takes $K^2$ pixels:

# %%
@gpu.jit
def unroll_columns(x, K, cols):
    i = cuda.grid(1)
    C, W_out, places = x.shape[1], x.shape[3] - K + 1, cols.shape[2]
    if i < x.shape[0] * C * places:
        place, c, n = i % places, i // places % C, i // places // C
        h, v = place // W_out, place % W_out
        for p in range(K):
            for q in range(K):
                cols[n, (c * K + p) * K + q, place] = x[n, c, h + p, v + q]

# %% [markdown]
# A thread of the first kernel moves one number, of the second 25. In the second, each thread fills a *column*, which
# smells of the mistake of lesson 12. Is it one?

# %% tags=["hide-input"]
walk = predict(
    "C1, one image: 25 × 784 numbers. How many times as many sectors does the kernel with one thread a column touch?",
    ["as many", "about 3 times", "about 8 times", "25 times"],
    answer="as many",
    reveals=2,
)
walk

# %% tags=["hide-output"]
cols = np.zeros((1, 25, 784), np.float32)
elements = gpu.simulate(unroll_elements, -(-cols.size // 256), 256, x, 5, cols)
columns = gpu.simulate(unroll_columns, -(-784 // 256), 256, x, 5, cols)
counts(
    elements, columns, requests=lambda r: r.total.global_load_requests + r.total.global_store_requests,
    sectors=lambda r: r.total.global_load_sectors + r.total.global_store_sectors, instructions="instructions",
    loads_of_a_pixel=lambda r: r.arrays["x"].reuse,
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>Look at the warp at one moment</summary>
#
# At any moment the 32 lanes stand in the same row of the matrix, side by side, whichever kernel it is: neighbours in a
# warp are neighbouring *places*, and those are the matrix's last axis. So sectors agree but for what hangs over where
# warps begin. The second kernel saves instructions, since it divides once for 25 numbers. It has 25 times fewer
# threads, which with 10,000 images is no loss.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
sectors = [r.total.global_load_sectors + r.total.global_store_sectors for r in (elements, columns)]
walk.confirm("as many" if abs(sectors[1] / sectors[0] - 1) < 0.02 else f"about {sectors[1] / sectors[0]:.0f} times")

# %% [markdown]
# ## Why it loses on C1
#
# The matrix is there now, and a tiled product would do the rest. Before that, count the bytes: those that have to
# travel between the card and its memory for one image of C1, $1 \times 32 \times 32$ in, $6 \times 28 \times 28$ out. A
# kernel that reads `x` and writes `y` needs 22,912 of them, caches permitting.

# %% tags=["hide-input"]
floor = predict(
    "The unrolled matrix has to be written once, and read once by the product. How many bytes is that, compared with "
    "everything else that has to travel?",
    ["a fifth as many", "about as many", "about 7 times as many", "about 38 times as many"],
    answer="about 7 times as many",
    reveals=2,
)
floor

# %% tags=["hide-output"]
matrix_bytes = 4 * elements.arrays["cols"].distinct_stored
image_bytes, output_bytes = 4 * x.size, 4 * right.size
table(
    [
        ("the image is read", image_bytes, image_bytes),
        ("the matrix is written", 0, matrix_bytes),
        ("the matrix is read", 0, matrix_bytes),
        ("the outputs are written", output_bytes, output_bytes),
        ("together", image_bytes + output_bytes, image_bytes + 2 * matrix_bytes + output_bytes),
    ],
    ["bytes for one image of C1", "unrolled in thought", "unrolled for real"],
)

# %% [markdown]
# <details class="reveal"><summary>25 × 784 numbers, there and back</summary>
#
# The image has 1,024 numbers. The matrix has 25 × 784 = 19,600, each of them written once and read once: 156,800 bytes
# for a detour that computes nothing. It is nearly seven times everything else.[^Hwu "Conceptual Unrolling May Help
# Performance"]
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
floor.confirm(f"about {2 * matrix_bytes / (image_bytes + output_bytes):.0f} times as many")

# %% [markdown]
# What does the detour buy? Lesson 08 has the answer: in the product, each number of the matrix meets one weight of
# every map, so it is used $M$ times, and C1 has $M = 6$.[^Hwu "Matrix-Multiplication Enables Additional Reuse"] That is
# 6 multiplications and 6 additions for 8 bytes. Lesson 12's roofline says what becomes of such a kernel: it lies far
# down the slope, and memory decides. Put numbers in:

# %% tags=["hide-input"]
# What the detour costs.
dram = memory_ladder("H200")[-1][-1]
detour = 10_000 * 2 * matrix_bytes / dram
c1, unrolling = (measured(case, card="h200") for case in ("conv 1->6 k5 forward", "unrolling C1"))
table(
    [
        ("matrix written and read, at the full speed of memory (computed)", 1e6 * detour),
        ("only to write the matrix, a thread a column", 1e6 * unrolling.seconds["unroll_columns"]),
        ("only to write the matrix, a thread an element", 1e6 * unrolling.seconds["unroll_elements"]),
        ("the whole layer, unrolled for real (a thread an element)", 1e6 * c1.seconds["v03_im2col_gemm"]),
        ("the whole layer, unrolled in thought", 1e6 * c1.seconds["v04_implicit_gemm"]),
        ("the whole layer, a kernel made for C1", 1e6 * c1.seconds["v06_specialised"]),
    ],
    ["10,000 images of C1", "microseconds"],
    formats={"microseconds": ",.0f"},
    caption=f"Measured on an {c1.card} ({c1.date}, {unrolling.date})",
)

# %% [markdown]
# Begin with the first row and the last. There is a kernel that does the whole layer in a quarter of the time that
# memory needs for the detour *alone*. So no product, however good, can save the unrolled way: it starts with a debt
# that is larger than the other's whole bill.
#
# The rows between say that bytes are not all. The two kernels which write the matrix touch the same sectors, and one
# takes seven times as long: 196 million threads each divide six times to find out which number to carry, and are done.
# With such a kernel the writing alone takes longer than all of the layer unrolled in thought. With the better one it is
# still five times as long as all of the layer in the last row. So, in short, unrolling loses on C1 because
#
# 1. it makes 19 copies of a pixel, and the product uses each copy only 6 times;
# 2. copies go to far memory and come back, where the pixel itself would have stayed in a cache;
# 3. nothing gets cheaper by it: the product that follows has the same multiplications to do.
#
# Turn it round, and you know when unrolling does *little* harm: with many output maps. With $M = 64$ each copy is used
# 64 times, and the detour disappears behind the arithmetic. The last table of this page has such a layer.

# %% [markdown]
# ## Unrolling in thought
#
# The third strategy keeps the product and drops the matrix. A tile of the matrix is needed in shared memory, and only
# there. So the thread that is to load element $(k, \text{place})$ of a matrix works out which pixel that would be, and
# loads the pixel. This is called an **implicit GEMM**, after the usual name for a general matrix product.
#
# What else is in this kernel is the tiled product. The block computes a tile of 16 maps × 16 places. It walks along the
# $C K^2$ products of each output in steps of 16: bring a tile of weights and a tile of pixels, barrier, multiply,
# barrier. A thread that brought one weight and one pixel finds 16 of each.

# %%
TILE = 16

@gpu.jit
def implicit(x, rows, K, W_out, y):
    weights = cuda.shared.array((TILE, TILE), float32)
    pixels = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, m = cuda.blockIdx.x * TILE + tx, cuda.blockIdx.y * TILE + ty
    n, place = column // y.shape[2], column % y.shape[2]
    total = float32(0)
    for start in range(0, rows.shape[1], TILE):
        weights[ty, tx] = pixels[ty, tx] = float32(0)
        if m < rows.shape[0] and start + tx < rows.shape[1]:
            weights[ty, tx] = rows[m, start + tx]
        k = start + ty
        if n < x.shape[0] and k < rows.shape[1]:
            pixels[ty, tx] = x[n, k // (K * K), place // W_out + k // K % K, place % W_out + k % K]
        cuda.syncthreads()
        for k in range(TILE):
            total += weights[ty, k] * pixels[k, tx]
        cuda.syncthreads()
    if m < y.shape[1] and n < y.shape[0]:
        y[n, m, place] = total

# %% [markdown]
# The line `pixels[ty, tx] = x[...]` is the whole of the unrolling. Put `cols[n, k, place]` in its place, and you have
# the product for the real matrix. Columns run through all images of the batch, one behind the other.

# %%
flat = gpu.to_device(y.reshape(1, 6, 784))
rows = MASKS.reshape(6, 25)
implicit[(784 // 16, 1), (16, 16)](gpu.to_device(x), gpu.to_device(rows), 5, 28, flat)
print("as lesson 08:", np.array_equal(gpu.to_host(flat).reshape(right.shape), right))

in_thought = gpu.simulate(implicit, (784 // 16, 1), (16, 16), x, rows, 5, 28, y.reshape(1, 6, 784))
print(f"loads of each pixel: {in_thought.arrays['x'].reuse:.1f}, stores: {in_thought.arrays['y'].stores:,}")
print(f"multiply-adds: {in_thought.total.flops // 2:,} for {6 * 784 * 25:,} that are needed")

# %% [markdown]
# A pixel is loaded 19.1 times, as often as there would be copies of it. But now they are loads of *one* number, which
# comes from the card's memory once and from a cache after that. Of the real matrix, the product loads each element just
# once: all its reuse has been turned into copies.
#
# The last line has a second reason why products suit C1 badly, in thought or not. A tile has room for 16 maps and C1
# has 6; the 25 products of an output are padded to 32. So the kernel does 3.4 times the arithmetic that is needed, most
# of it with zeros.
#
# ## Registers as well
#
# The tiled product reads two numbers from shared memory for each multiply-add. The fourth strategy is lesson 14's: let
# a thread compute several maps × several places, and keep the sums in registers. A weight that it has read then serves
# all of its places, a pixel all of its maps. That is **joint register and shared tiling**, rung 5 of the ladder in
# `course_lib/cuda/ladders/conv2d/forward`. For $2 \times 2$ outputs, four multiply-adds share four loads; for $4 \times
# 4$, sixteen share eight.

# %%
shapes = {"C1": ((2, 1, 32, 32), (6, 1, 5, 5), (2, 6, 28, 28)), "C3": ((4, 6, 14, 14), (16, 6, 5, 5), (4, 16, 10, 10))}
products = {name: ladder[name] for name in ("v04_implicit_gemm", "v05_register_tiled")}
on_c3 = count_layer({name: ladder[name] for name in NAMES}, *shapes["C3"])
table(
    [(NAMES[name], 64 * on_c1[name].shared / on_c1[name].flops, 64 * on_c3[name].shared / on_c3[name].flops)
     for name in products],
    ["kernel", "C1: shared loads for a multiply-add", "C3"],
    formats={"C1: shared loads for a multiply-add": ".2f", "C3": ".2f"},
)  # fmt: skip

# %% [markdown]
# The rung gives a thread 2 × 2 outputs where there are at most 8 maps, as in C1, and 4 × 4 for C3.
#
# ## A kernel for one layer
#
# So far every kernel took any layer. Now forget all layers but one. C1 has one input map, rows of 28 outputs, 6 maps,
# and all of that is known. The lecture builds a kernel for it from the numbers:
#
# - 112 = 4 × 28 threads compute four rows of outputs, *of all six maps*: six sums each. 7 blocks make the 28 rows.[^Hwu
#   "Block Organization for LeNet-5 C1 Layer"]
# - Four rows of outputs need eight rows of the image. 8 × 32 pixels are two for each of 128 threads. So 128 threads
#   load, and 112 of them compute.[^Hwu "Shared Tile for LeNet-5 C1 Layer"]

# %%
@gpu.jit
def c1_by_maps(x, y):
    masks = cuda.const.array_like(MASKS)
    tile = cuda.shared.array((8, 32), float32)
    sums = cuda.local.array(6, float32)
    t, top, n = cuda.threadIdx.x, 4 * cuda.blockIdx.x, cuda.blockIdx.y
    tile[t // 32, t % 32] = x[n, 0, top + t // 32, t % 32]
    tile[t // 32 + 4, t % 32] = x[n, 0, top + t // 32 + 4, t % 32]
    for m in range(6):
        sums[m] = float32(0)
    cuda.syncthreads()
    if t < 112:
        h, v = t // 28, t % 28
        for p in range(5):
            for q in range(5):
                pixel = tile[h + p, v + q]
                for m in range(6):
                    sums[m] += pixel * masks[m, 0, p, q]
        for m in range(6):
            y[n, m, top + h, v] = sums[m]

# %% [markdown]
# No guard, no division by a size that is not known, no padding.[^Hwu "Pseudo-Code for LeNet-5 C1 Layer"]

# %%
on_card = gpu.to_device(y)
c1_by_maps[(7, 1), 128](gpu.to_device(x), on_card)
print("as lesson 08:", np.array_equal(gpu.to_host(on_card), right))

by_maps = gpu.simulate(c1_by_maps, (7, 1), 128, x, y)
print("blocks:", by_maps.grid[0], " threads:", by_maps.block[0], " tile:", by_maps.arrays["tile"].shape)
print("threads that compute:", by_maps.arrays["y"].stores // (6 * by_maps.grid[0]), " sums of each: 6")
print(f"loads of a pixel: {by_maps.arrays['x'].reuse:.2f}, uses of it in the tile: {by_maps.arrays['tile'].reuse:.1f}")

# %% [markdown]
# Each thread takes its pixel into a register and uses it for all six maps at once. In the words of lesson 13, the
# kernel is *coarsened* over maps. And there is a catch in it: every thread loads every weight, all 150.[^Hwu
# "Coarsening Does Not Match Tiling Choices"] The other way round, a thread takes four pixels of *one* map, and each
# weight that it loads serves four:

# %%
@gpu.jit
def c1_by_pixels(x, y):
    masks = cuda.const.array_like(MASKS)
    tile = cuda.shared.array((8, 32), float32)
    sums = cuda.local.array(4, float32)
    v, m, top, n = cuda.threadIdx.x, cuda.threadIdx.y, 4 * cuda.blockIdx.x, cuda.blockIdx.y
    for row in range(m, 8, 6):
        tile[row, v] = x[n, 0, top + row, v]
    for h in range(4):
        sums[h] = float32(0)
    cuda.syncthreads()
    if v < 28:
        for p in range(5):
            for q in range(5):
                weight = masks[m, 0, p, q]
                for h in range(4):
                    sums[h] += weight * tile[h + p, v + q]
        for h in range(4):
            y[n, m, top + h, v] = sums[h]

# %% [markdown]
# A block is now 32 × 6 threads, a warp for each map; 28 lanes of it compute.

# %% tags=["hide-input"]
coarse = predict(
    "Both kernels, a block each: four warps with six sums a lane, or six warps with four. How many times as many "
    "requests to constant memory does the first one make?",
    [1, "1.5", 4, 6],
    answer=4,
    reveals=2,
)
coarse

# %% tags=["hide-output"]
on_card = gpu.to_device(y)
c1_by_pixels[(7, 1), (32, 6)](gpu.to_device(x), on_card)
print("as lesson 08:", np.array_equal(gpu.to_host(on_card), right))
by_pixels = gpu.simulate(c1_by_pixels, (7, 1), (32, 6), x, y)
counts(
    by_maps, by_pixels, constant_requests="constant_load_requests", shared_requests="shared_load_requests",
    both=lambda r: r.total.constant_load_requests + r.total.shared_load_requests,
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>Coarsened the wrong way, and still right</summary>
#
# 4 warps × 150 weights against 6 warps × 25: four times as many. Looked at by itself, the lecture's kernel is coarsened
# the wrong way, and the lecture says so. But what one saves on weights, the other saves on pixels: six times fewer
# requests to shared memory. And the two memories are not alike. All lanes want the same weight at the same time, in the
# same order, in every block. That is the one access that constant memory serves in one turn, and a multiply-add can
# take such a number as an operand, with no load at all.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
coarse.confirm(by_maps.total.constant_load_requests // by_pixels.total.constant_load_requests)

# %% tags=["hide-input"]
# Both on a card.
both_ways = measured("two coarsenings of C1", card="h200")
table(
    [(name, 1e6 * seconds) for name, seconds in both_ways.seconds.items()],
    ["kernel", "microseconds"],
    formats={"microseconds": ",.0f"},
    caption=f"C1, {both_ways.size}, measured on an {both_ways.card} ({both_ways.date})",
)

# %% [markdown]
# So the wrong way wins, by a fifth, and with the page's thirty lines it takes less than half of the time that the
# vendor's library needs for the layer (393 microseconds).
#
# Nobody wants to write such a kernel for every layer by hand. The ladder's rung 6 is a Python function that writes one
# for the shape it is given, as `tiled_for` did above, but with everything that the last two lessons have to offer.
# Several images share a block. A thread computes a run of neighbouring outputs in one row, keeps the pixels under it in
# registers while the mask slides along, and reads weights four at a time.
#
# ## One layer, all kernels
#
# Now everything side by side, for C1. The first six columns are counted, for one image. The predicted time is the
# model's of lesson 12: it knows the kernel's machine code, its traffic, and the rates of the card, but none of the
# measured times beside it.

# %% tags=["hide-input"]
# All kernels on C1.
vendor = c1.seconds["cuDNN"]
expected = estimated("conv 1->6 k5 forward", card="H200")
rows = []
for name, called in sorted((NAMES | C1_LAYER).items()):
    k, seconds = on_c1[name], c1.seconds.get(name)
    rows.append((
        called, k.flops / 1e6, k.travels / 1e3, k.intensity, k.requests, k.sectors, k.reuse,
        expected.get(name) and 1e6 * expected[name], seconds and 1e6 * seconds, seconds and vendor / seconds,
    ))  # fmt: skip
table(
    [*rows, ("cuDNN", *[None] * 7, 1e6 * vendor, 1.0)],
    ["kernel", "MFLOP", "KB that travel", "FLOP a byte", "load requests", "sectors", "loads of a pixel", "predicted µs",
     "measured µs", "times cuDNN's speed"],
    align="l" + "r" * 9,
    formats={"MFLOP": ".2f", "KB that travel": ".0f", "FLOP a byte": ".1f", "load requests": ",.0f", "sectors": ",.0f",
             "loads of a pixel": ".1f", "predicted µs": ",.0f", "measured µs": ",.0f", "times cuDNN's speed": ".2f"},
    caption=f"C1: counts of one image, times of {c1.size}, measured on an {c1.card} ({c1.date})",
)  # fmt: skip

# %% [markdown]
# Take your time with this table; most of the lesson is in it.
#
# - *Basic* asks for the most, by far, and is not the slowest. The caches serve nearly all of it.
# - *Tile, constants* asks for a thirteenth of the sectors, and gains little. One thread still loads two numbers for
#   each multiply-add; they come from other memories now. "Tiling always wins" is not true where a cache does the same.
# - *Unrolled* and *in thought* differ in the KB that travel, and in the time.
# - *And registers* halves what is left, as it halves the loads from shared memory.
# - *Generated for C1* does only what must be done: hardly more arithmetic than needed, each pixel loaded once.

# %% [markdown]
# ## Two gradients with the kernels that are there
#
# For training, the layer needs $\partial E/\partial X$ and $\partial E/\partial W$. Lesson 08 found that the first one
# is a convolution again: of $\partial E/\partial Y$ with a frame of $K - 1$ zeros, and with masks that are turned by
# half a circle, input and output maps exchanged.[^Hwu "Calculating dE/dX"] So there is nothing to write. `basic` does
# it:

# %%
dy = np.random.default_rng(1).integers(-3, 4, right.shape).astype(np.float32)
_, cache = ops.conv2d_forward(x, MASKS)
dx, dw, _ = ops.conv2d_backward(dy, cache)

framed = np.pad(dy, ((0, 0), (0, 0), (4, 4), (4, 4)))
turned = np.ascontiguousarray(MASKS.transpose(1, 0, 2, 3)[:, :, ::-1, ::-1])
ours = gpu.empty(dx.shape, np.float32)
basic[grid_for(dx, 16), (16, 16)](gpu.to_device(framed), gpu.to_device(turned), ours)
print("as lesson 08:", np.array_equal(gpu.to_host(ours), dx))

# %% [markdown]
# Why a convolution, and why is the mask turned? Go back to the explorer and click a pixel of the *input*. It lights up
# the outputs that used it, and those are the ones that send it a part of their gradient. Each pixel collects for
# itself, so no two threads write to the same place. If the outputs sent instead, several would write to one pixel, and
# that needs atomics.
#
# ### The masks' gradient is a reduction
#
# $\partial E/\partial W$ is another matter. A weight has a part in every output of its map, in every image:[^Hwu
# "Calculating dE/dW"]
#
# $$\frac{\partial E}{\partial w_{m,c,p,q}} =
# \sum_{n,\,h,\,v} \frac{\partial E}{\partial y_{n,m,h,v}}\; x_{n,\,c,\,h+p,\,v+q}$$
#
# C1 has 150 weights, and with 10,000 images each of them is a sum of 7.84 million products. A thread for each weight
# would use 150 threads of a card. A thread for each output is easy to write, and meets lesson 13's queue:

# %%
@gpu.jit
def weights_by_atomics(x, dy, dw):
    v, h, z = cuda.grid(3)
    m, n = z % dy.shape[1], z // dy.shape[1]
    if n < dy.shape[0] and h < dy.shape[2] and v < dy.shape[3]:
        for c in range(dw.shape[1]):
            for p in range(dw.shape[2]):
                for q in range(dw.shape[3]):
                    cuda.atomic.add(dw, (m, c, p, q), dy[n, m, h, v] * x[n, c, h + p, v + q])

# %% [markdown]
# All lanes of a warp are outputs of one map, and they walk through the mask in step. So they all want to add to the
# same weight at the same time.

# %% tags=["hide-input"]
queue = predict(
    "One image of C1 makes 117,600 products, and each is an atomic addition. A warp covers a row of 28 outputs. How "
    "many of the additions have to wait for another lane of their own warp?",
    ["none", "150", "about half", "27 of 28"],
    answer="27 of 28",
    reveals=2,
)
queue

# %% tags=["hide-output"]
atomic = gpu.to_device(np.zeros_like(dw))
weights_by_atomics[(1, 7, 6), (32, 4, 1)](gpu.to_device(x), gpu.to_device(dy), atomic)
print("as lesson 08:", np.array_equal(gpu.to_host(atomic), dw))
atomics = gpu.simulate(weights_by_atomics, (1, 7, 6), (32, 4, 1), x, dy, np.zeros_like(dw))
print(f"additions: {dy.size * 25:,}, that wait: {atomics.total.atomic_serialised:,}")

# %% [markdown]
# <details class="reveal"><summary>A queue in every warp</summary>
#
# Of 28 lanes one goes first, and 27 wait: 113,400 of 117,600. And warps of other images wait as well, since all of them
# mean the same 150 numbers.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
waiting = atomics.total.atomic_serialised / (dy.size * 25)
queue.confirm(f"{28 * waiting:.0f} of 28")

# %% [markdown]
# The second price of atomics is lesson 13's too: they add in the order of arrival, and float32 rounds after each
# addition. Here is one weight's sum over 100 images, in twenty orders. (Values of a trained network are no whole
# numbers; with whole ones nothing would show.)

# %%
rng = np.random.default_rng(2)
terms = (rng.normal(size=100 * 784) * rng.normal(size=100 * 784)).astype(np.float32)
sums = [float(np.add.accumulate(rng.permutation(terms))[-1]) for _ in range(20)]
print(f"different sums: {len(set(sums))} of {len(sums)}")
print(f"from {min(sums):.3f} to {max(sums):.3f}, right is {terms.sum(dtype=np.float64):.3f}")

# %% [markdown]
# The other ways keep an order. A *tree* for each weight is rung 2 of the ladder `backward_weights`: a block for each of
# the 150 weights, its threads share the places, and add up as in lesson 13. *Ordered parts* are rung 6: a block keeps a
# row of a mask for several pairs of maps in registers while it walks over its share of the images, writes its sums to a
# place of its own, and a second, small kernel adds these up, always in the same order.

# %% tags=["hide-input"]
dw_times = measured("conv 1->6 k5 dW", card="h200")
by_hand = measured("masks' gradient by atomics", card="h200")
table(
    [
        ("a thread for each weight", "as in a loop", 1e6 * dw_times.seconds["v01_basic"]),
        ("atomics, a thread for each output", "as they arrive", 1e6 * by_hand.seconds["weights_by_atomics"]),
        ("a tree, a block for each weight", "always the same", 1e6 * dw_times.seconds["v02_block"]),
        ("ordered parts, in registers", "always the same", 1e6 * dw_times.seconds["v06_specialised"]),
        ("cuDNN", "its own affair", 1e6 * dw_times.seconds["cuDNN"]),
    ],
    ["way", "order of the additions", "microseconds"],
    formats={"microseconds": ",.0f"},
    caption=f"Gradient of C1's masks, {dw_times.size}, measured on an {dw_times.card} ({dw_times.date})",
)

# %% [markdown]
# With atomics, 47 million threads need nearly as long as 150. What helps is that nobody waits: a tree takes a hundredth
# of the time, and sums that stay in registers a thirtieth of that, with the same bits in every run.
#
# And pooling? Its forward kernel is in [lesson 13](13_reductions_and_fusion.ipynb). Backward, a thread for each *pixel*
# looks whether the mask of its window names it, and takes the gradient if so: it collects, as above, and nothing has to
# be atomic.
#
# ## The same by a Fourier transform
#
# For large masks there is quite another way.[^Hwu "Some Other Optimizations"] A Fourier transform writes an image as a
# sum of waves. To slide a mask over the image means, in that form, to multiply each wave by one number. So transform
# the image and the mask, multiply, and transform back. A fast transform, the FFT, takes about $N^2 \log_2 N$ steps for
# $N \times N$ pixels, and how large the mask is does not matter at all.

# %%
waves = np.fft.rfft2(x[0, 0]) * np.conj(np.fft.rfft2(MASKS[0, 0], s=(32, 32)))
by_waves = np.fft.irfft2(waves, s=(32, 32))[:28, :28]
print("map 0, right when rounded:", np.array_equal(np.rint(by_waves), right[0, 0]))

all_maps, _ = ops.conv2d_fft_forward(x, MASKS)
error = np.abs(all_maps - right).max() / right.max()
print("all maps, largest error below 1e-6 of the largest output:", bool(error < 1e-6))

# %% [markdown]
# (Waves repeat, so the image is treated as if it went on at the opposite edge. Outputs whose window does that are
# thrown away, and 28 × 28 are left. Without `conj` the mask would be turned.) The result is right up to rounding only,
# since most waves are no whole numbers.
#
# Count multiplications. Direct, an output takes $K^2$ of them for each input map. The transforms of an image's maps
# take $2 N^2 \log_2 N$ each and the products $2 N^2$ for each pair of maps. (The masks are transformed once for a whole
# batch.)

# %%
def by_fft(C, H, K, M):
    N = 2 ** int(np.ceil(np.log2(H)))
    return ((C + M) * 2 * N**2 * np.log2(N) + C * M * 2 * N**2) / (C * M * (H - K + 1) ** 2)

# %% tags=["hide-input"]
crossing = predict(
    "For C1's sizes, one 32 × 32 map in and six out: from which K on does the FFT need fewer multiplications than K²?",
    [3, 5, 9, 15],
    answer=5,
    reveals=2,
)
crossing

# %% tags=["hide-output"]
C, H, _, M = LAYERS["C1"]
table(
    [(K, K**2, by_fft(C, H, K, M)) for K in (1, 3, 4, 5, 7, 11, 15)],
    ["K", "direct", "by FFT"],
    formats={"by FFT": ".1f"},
    caption="Multiplications for an output and an input map",
)

# %% [markdown]
# <details class="reveal"><summary>C1 is just beyond the break-even point</summary>
#
# 17.9 against 25. So by multiplications the FFT wins on C1, and the vendor's library takes it: it has chosen an FFT for
# the first four layers of the next table. It loses there to a direct kernel, and the reason is an old acquaintance. Its
# three kernels hand the waves on through memory: seven spectra of 32 × 17 complex numbers, 8 bytes each, written and
# read again, are 60,928 bytes, where the layer needs 22,912. Multiplications were not what was short. With masks of 15
# × 15 it is another matter.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
crossing.confirm(next(K for K in range(1, 32) if by_fft(C, H, K, M) < K**2))

# %% [markdown]
# FFT-PLOT

# %% [markdown]
# ## When does a kernel of one's own pay?
#
# The lecture leaves a sentence for its students: unrolling, in thought, fits a known pattern, and one may do as well or
# better by solving the general convolution, but previous teams have not succeeded.[^Hwu "Unrolling May Boost Your
# Performance"] Here is what our ladder says about it, for five layers.

# %% tags=["hide-input"]
# Five layers.
cases = ["1->6 k5", "6->16 k5", "1->4 k7", "4->16 k7", "64->64 k3"]
ways = {"v01_basic": "direct", "v05_register_tiled": "product", "v06_specialised": "direct, generated"}
five = {case: measured(f"conv {case} forward", card="h200") for case in cases}
table(
    [(case.replace("->", " → "), five[case].size, *(1e6 * five[case].seconds[way] for way in ways),
      1e6 * five[case].seconds["cuDNN"], five[case].algorithm,
      five[case].seconds["cuDNN"] / five[case].seconds["v06_specialised"]) for case in cases],
    ["layer", "images", *ways.values(), "cuDNN", "cuDNN's choice", "generated, times cuDNN's speed"],
    align="llrrrrlr",
    formats=dict.fromkeys([*ways.values(), "cuDNN"], ",.0f") | {"generated, times cuDNN's speed": ".2f"},
    caption=f"Microseconds, float32, measured on an {five['1->6 k5'].card} ({five['1->6 k5'].date})",
)  # fmt: skip

# %% [markdown]
# Compare the first two columns of times. Both kernels take any layer, and the *product* wins on all five, up to
# fifteenfold. So the lecture's teams were right, and so was the advice: with a general kernel in mind, unroll in
# thought, and tile jointly.
#
# Now the third column. A direct convolution again, but *generated for the shape*, and it beats the general product on
# all five layers. It beats the vendor's library, too, on the first four: these are small layers with few maps, which a
# library that has to serve everybody does not care for. It takes an FFT for them.
#
# And the last row is the other side. With 64 maps in and out, the product has reuse enough: 64 for every pixel. The
# library takes an implicit GEMM, years of work are in that kernel, and ours has 0.79 of its speed. That is the kind of
# layer that large networks are made of.
#
# %% [markdown]
# So: unrolling for real is not how frameworks do it, at least not here. In thought, yes. For a layer with many maps
# take the library. For a layer with few maps, which you run ten thousand times a second and whose shape you know, an
# afternoon with a generated kernel may be worth a factor of four. Measure first.

# %% [markdown]
# ## Try it
#
# - Which is the largest $M$ for which a layer with $C = 16$ and $K = 5$ has its masks in constant memory? What does
#   `tiled_for` say of C5's?
#   <details><summary>Answer</summary>
#
#   65,536 bytes are 16,384 weights, and a map takes 400 of them: 40 maps. C5 has 120, so its masks take 192,000 bytes,
#   and the executor refuses the kernel: "constant memory has 65,536". The masks must be passed as an array.
#
#   </details>
# - Launch `basic` for C1 with blocks of 32 × 8 instead of 16 × 16 (the kernel takes its tile from `blockDim.x`; change
#   that). Which count in the report moves, and why?
#   <details><summary>Answer</summary>
#
#   A warp is then one row of 32 outputs and no longer two rows of 16, so a request touches one run of pixels instead of
#   two: fewer sectors. Of 32 columns four are idle, as C1 has 28.
#
#   </details>
# - In `weights_by_atomics`, let each thread add up all images for its output first, and add once. How many atomic
#   additions are left for 10,000 images?
#   <details><summary>Answer</summary>
#
#   784 outputs × 150 weights = 117,600, as for one image, instead of 1,176 million. Nothing else had to change. It is
#   coarsening over images.
#
#   </details>

# %% [markdown]
# <details><summary>For those who know the lectures</summary>
#
# - The slide on reuse lists 19.1, 12.8 and 1 for C1, C2 and C3. They belong to C1, C3 and C5: layers 2 and 4 are the
#   poolings. The numbers are right.
# - That student teams did not win by solving the general convolution agrees with the first two columns of the last
#   table. It is no law: the third column is such a convolution, with everything known when it is compiled.
# - The lab is for a Titan V, and it allows to optimise for the given sizes, "with C++ templates". `tiled_for` and rung
#   6 are that in Python. It does not allow to rely on weights that are all 1; neither do we, and no kernel here could
#   pass the comparison that way.
# - It recommends weights in constant memory. In Numba such an array is frozen into the machine code, so other weights
#   are another kernel. That suits a trained network and not training, which is why the rungs from 3 on read weights
#   from an array.
#
# </details>

# %% [markdown]
# ## Check yourself
#
# **1.** A layer has $C = 3$, $K = 3$, $M = 64$ and 224 × 224 inputs. How many times larger is its unrolled matrix than
# the image, how often is each of its elements used, and would you expect real unrolling to hurt as much as in C1?
#
# <details><summary>Answer</summary>
#
# Replication is $222^2 \cdot 9 / 224^2 = 8.8$. Each element is used 64 times: 128 operations for 8 bytes, an intensity
# of 16, about where the roofline of lesson 12 bends. So the detour still costs, but the arithmetic of the product is as
# large, and the loss is a fraction and not a multiple.
#
# </details>

# %% [markdown]
# **2.** A tile of $8 \times 8$ outputs and a mask of $3 \times 3$. How many pixels must the block load, how many of
# them are halo, and how often is each used?
#
# <details><summary>Answer</summary>
#
# $10 \times 10 = 100$, of which 36 are halo, more than a third. Uses: $9 \cdot 64 / 100 = 5.8$, of at most 9.
#
# </details>

# %% [markdown]
# **3.** A colleague's tiled kernel passes with images of $16 \times 16$ and fails with $32 \times 32$: outputs 14 and
# 15 of each row are wrong, and 30 and 31 do not exist. What is the size of the mask, and what has been forgotten?
#
# <details><summary>Answer</summary>
#
# Two outputs at the end of a tile of 16 look at pixels beyond it, so $K - 1 = 2$ and the mask is $3 \times 3$. The halo
# was forgotten. With $16 \times 16$ pixels there are 14 outputs in a row, one tile, and all of its pixels are there.
#
# </details>
