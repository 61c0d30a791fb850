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
# # 15 · Convolution kernels: unroll, but only in thought
#
# In lesson 08 a convolution became one matrix product: copy every window into a column, multiply, done. Ask around, and
# you will hear that frameworks do it this way. Here are six kernels for C1, the first layer of lesson 09's network. All
# six compute the same 4,704 outputs of an image. See what each has to fetch from the card's memory and send back to it.

# %% tags=["hide-input"]
import numpy as np
from numba import cuda, float32

from course_lib import checks, data, figures, gpu
from course_lib import reference as ops
from course_lib.cuda.ladders.conv2d import forward
from course_lib.lesson import count_layer, counts, estimated, measured, memory_ladder, predict, table
from course_lib.simt.estimate.devices import find_device

LAYERS = {"C1": (1, 32, 5, 6), "C3": (6, 14, 5, 16), "C5": (16, 5, 5, 120)}  # maps in, their size, mask, maps out
NAMES = {
    "v01_basic": "basic", "v02_constant_masks": "tile in shared memory", "v03_im2col_gemm": "unrolled for real",
    "v04_implicit_gemm": "unrolled in thought", "v05_register_tiled": "in thought, with registers",
    "v06_specialised": "generated for C1",
}  # fmt: skip
BY_HAND = {"v05b_c1_layer": "by hand for C1"}
ladder = {rung.name: rung.launch for rung in forward.LADDER}
on_c1 = count_layer({k: ladder[k] for k in NAMES | BY_HAND}, (2, 1, 32, 32), (6, 1, 5, 5), (2, 6, 28, 28))
figures.data_movement([(called, on_c1[k].moves) for k, called in NAMES.items()], title="One image through C1")

# %% [markdown]
# Five of the six move 24 kB, and nearly all of that is the image and its outputs. The one that unrolls moves nearly
# eight times as much. On the card of these lessons it takes twice as long as the next one, which computes the very same
# matrix product and writes no matrix at all. By the end of the page you can say why, and when it would not matter.
#
# ## You will be able to
#
# - lay output maps, tiles and images out on a grid, and say whether a layer fills a card;
# - bring a tile with its halo into shared memory, and predict how often each of its pixels is used;
# - tell in bytes why unrolling loses on C1, unroll in thought instead, and get both gradients from the same kernels;
# - choose between a general product, a kernel made for one layer, and a Fourier transform.

# %% [markdown]
# <details><summary>About this page</summary>
#
# It follows ECE 508 lecture 10 by Prof. Hwu and colleagues at Illinois, with the four strategies of its Lab 7, and
# Prof. Dey's unrolling kernel. You need lessons 08, 11, 12 and 13. Lesson 14 treats the matrix product at length; what
# is needed of it is said again here. Counts come from the executor and are the same on every machine, times from the
# card that is named beside them. Reading and trying takes about 90 minutes.
#
# </details>

# %% [markdown]
# ## One thread for each output
#
# The layer once more, in the letters of lesson 08: $B$ images of $C$ maps come in, $M$ maps go out, a mask has $K
# \times K$ weights.
#
# $$y_{n,m,h,v} = \sum_{c,\,p,\,q} x_{n,\,c,\,h+p,\,v+q}\; w_{m,c,p,q}$$
#
# No output waits for another, so each gets a thread. Outputs have four axes and a grid has three. Here is one good way
# to place them: blocks along x are the output maps, blocks along y the *tiles* of a map, numbered row by row, and
# blocks along z the images.[^Hwu "Design of a Basic Kernel"] A block computes a tile, a thread one of its outputs.[^Hwu
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
# Sizes need not be multiples of the tile: the number of tiles is rounded up, and the guard stops the threads beyond the
# edge. With 4 maps of 8 × 8 outputs and tiles of 4 × 4, there are four blocks along x and four along y.[^Hwu "Example
# of Block Y Dimension Mapping"]

# %%
small = np.zeros((1, 4, 8, 8), np.float32)
print("4 maps of 8 x 8, tiles of 4 x 4:", grid_for(small, 4))

# %% [markdown]
# A map of 16 × 20 outputs has four rows of five tiles.[^Hwu "Host Code for a Basic Kernel: CUDA Grid"] The picture is
# drawn from the executor's record of which block wrote which output.

# %% tags=["hide-input"]
# The tiles, as blocks wrote them.
image, mask, wide = (np.ones((1, 1, *shape), np.float32) for shape in ((18, 22), (3, 3), (16, 20)))
report = gpu.simulate(basic, grid_for(wide, 4), (4, 4), image, mask, wide)
corner = {}
for at in np.ndindex(16, 20):
    (_, block, _), _ = report.writer("y", (0, 0, *at))
    corner.setdefault(block, at)
figures.tile_numbers(16, 20, 4, where=corner.get)

# %% [markdown]
# ## Does a layer fill a card?
#
# An H200 has 132 multiprocessors with room for 2,048 threads each: 270,336 places. Deeper layers of LeNet-5 have more
# maps, but smaller ones, and in C5 a map is a single output.[^Hwu "Parallelism in a Convolution Layer"]

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
# One image leaves 98 % of the card empty, even in C1. Lesson 03 took mini-batches because they make good steps. Here is
# a second reason: images are independent, so they are one more axis of the grid.[^Hwu "Mini-Batching May be Needed to
# Fill GPU"] With a batch of 64, C5 still has only 7,680 outputs. It could be split further, with different threads for
# different *input* maps of one output. But then several threads add to the same number, and lesson 13 says what that
# takes: atomics or a tree.[^Hwu "Parallelism in a Convolution Layer"]
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
fill.confirm(f"about {round(places / outputs['C5'], -1):,.0f}")

# %% [markdown]
# ## Every map loads the same tile
#
# Now C1 itself, with a real digit framed to 32 × 32. Pixels and weights are whole numbers here, so sums are exact, and
# a kernel that is right agrees with lesson 08's operation to the last bit.

# %%
digit = data.load_digits(0).images("test")[0]
x = np.pad(256 - np.rint(255 * digit), 2, constant_values=256).astype(np.float32)[None, None]
MASKS = np.random.default_rng(0).integers(1, 5, (6, 1, 5, 5)).astype(np.float32)
right, _ = ops.conv2d_forward(x, MASKS)

y = gpu.to_device(np.zeros_like(right))
basic[grid_for(y, 16), (16, 16)](gpu.to_device(x), gpu.to_device(MASKS), y)
print("as lesson 08:", np.array_equal(gpu.to_host(y), right))

# %% [markdown]
# How often does it load a pixel? The report's column *reuse* says it: loads of an array in global memory, divided by
# the elements that were loaded at all.

# %%
plain = gpu.simulate(basic, grid_for(y, 16), (16, 16), x, MASKS, y)
reuse = plain.arrays["x"].reuse
print(f"loads of each pixel: {reuse:.1f} = 6 maps x {reuse / 6:.1f} windows")

# %% [markdown]
# 115 times: by each of the six maps, since their blocks do not know of each other,[^Hwu "Some Observations"] and within
# a map by each of up to 25 windows. Few of these loads go as far as the card's memory, because a cache still has the
# pixel. How well that works depends on who runs beside whom. Blocks start in the order of their numbers, x first. With
# maps along x, the blocks that want the *same* tile start together. Turn the grid, and they do not:

# %% tags=["hide-input"]
# The order of blocks and the caches.
turned_grid = measured("block order, conv 4->16 k7", card="h200")
orders = ["maps, tiles, images", "tiles, maps, images", "images, tiles, maps"]
table(
    [(order, *(turned_grid.counters[order][rate] / 100 for rate in ("l1_hit_rate", "l2_hit_rate")),
      turned_grid.counters[order]["memory_bytes_read"] / 1e6, 1e6 * turned_grid.seconds[order]) for order in orders],
    ["blocks along x, y, z", "found in L1", "found in L2", "MB read from memory", "microseconds"],
    formats={"found in L1": ".0%", "found in L2": ".0%", "MB read from memory": ",.0f", "microseconds": ",.0f"},
    caption=f"The basic kernel on a layer of 4 maps in, 16 out, K = 7, {turned_grid.size}, measured on an "
    f"{turned_grid.card} with its profiler",
)  # fmt: skip

# %% [markdown]
# The benefit is there. With maps along x, the 256 MB of images are read from memory once. With images along x, every
# map reads them again, and every tile its part of its neighbours': 43 times as much has to come. And now look at the
# times: they are the same. This kernel is busy with instructions, two loads and a good deal of index arithmetic for
# each multiply-add, and meanwhile memory can bring even eleven gigabytes. A cache helps where memory is what a kernel
# waits for. Keep the good order all the same; a faster kernel will need it.

# %% [markdown]
# ## A tile and its halo
#
# A cache helps by luck, shared memory on purpose. Let a block bring the pixels that it needs into shared memory once,
# and let its threads read them there. The difficulty is at the rim. An output looks at a window of $K \times K$ pixels,
# so a tile of $T \times T$ outputs needs $(T + K - 1) \times (T + K - 1)$ of them. What exceeds $T \times T$ is the
# tile's **halo**: in the picture a rim around the windows' middles, outside of the dashed frame. Choose an output, and
# see which threads load what it needs. Then choose an input.

# %%
figures.halo_explorer(10, 10, 3, 4, padding=False, at=(3, 3))

# %% [markdown]
# The first of four strategies is to load tiles like these, and to put the masks into constant memory,[^Hwu "Strategies
# for Lab 7"] since all lanes of a warp want the same weight at the same moment (lesson 12). The sizes of shared arrays,
# and the constants, must be known when a kernel is compiled. So let a Python function *make* the kernel, one for each
# tile size and each set of masks:

# %%
def tiled_for(TILE, MASKS):
    (_, C, K, _), SIDE = MASKS.shape, TILE + MASKS.shape[2] - 1
    @gpu.jit
    def tiled(x, y):
        masks = cuda.const.array_like(MASKS)
        seen = cuda.shared.array((SIDE, SIDE), float32)
        m, tile, n = cuda.blockIdx.x, cuda.blockIdx.y, cuda.blockIdx.z
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        across = (y.shape[3] + TILE - 1) // TILE
        top, left = tile // across * TILE, tile % across * TILE
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
# Two barriers, and both outside the guards: nobody may read before all have loaded, and nobody may load the next map
# while others still read. There are more pixels than threads, so the two loops over `i` and `j` let each thread bring
# several.

# %%
tiled = tiled_for(16, MASKS)
tiled[grid_for(y, 16), (16, 16)](gpu.to_device(x), y)
print("as lesson 08:", np.array_equal(gpu.to_host(y), right))
with_tile = gpu.simulate(tiled, grid_for(y, 16), (16, 16), x, y)
counts(
    plain, with_tile, global_requests="global_load_requests", shared_requests="shared_load_requests",
    constant_requests="constant_load_requests", loads_of_a_pixel=lambda r: r.arrays["x"].reuse,
    formats={"loads of a pixel": ".1f"},
)  # fmt: skip

# %% [markdown]
# A pixel is loaded from global memory 7.6 times instead of 115 times: once for each of the six maps, and some of them
# again as halo of a neighbouring tile.
#
# ## Forget the halo
#
# It is tempting to let every thread bring one pixel, its own, and done. Where a window leaves the tile, the kernel then
# takes zeros, so that nothing is read out of bounds:
#
# ```python
# seen[ty, tx] = x[n, c, top + ty, left + tx]
# ...
# if ty + p < TILE and tx + q < TILE:
#     total += seen[ty + p, tx + q] * masks[m, c, p, q]
# ```
#
# With an image of 16 × 16, which one tile covers, it passes every test. C1 has 28 × 28 outputs and four tiles. Take a
# pencil and shade the outputs that will be wrong.

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
    K = MASKS.shape[2]

    @gpu.jit
    def without_halo(x, y):
        masks = cuda.const.array_like(MASKS)
        seen = cuda.shared.array((TILE, TILE), float32)
        m, tile, n = cuda.blockIdx.x, cuda.blockIdx.y, cuda.blockIdx.z
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        across = (y.shape[3] + TILE - 1) // TILE
        top, left = tile // across * TILE, tile % across * TILE
        if top + ty < x.shape[2] and left + tx < x.shape[3]:
            seen[ty, tx] = x[n, 0, top + ty, left + tx]
        cuda.syncthreads()
        if top + ty < y.shape[2] and left + tx < y.shape[3]:
            total = float32(0)
            for p in range(K):
                for q in range(K):
                    if ty + p < TILE and tx + q < TILE:
                        total += seen[ty + p, tx + q] * masks[m, 0, p, q]
            y[n, m, top + ty, left + tx] = total

    return without_halo

without_halo = without_halo_for(16, MASKS)
torn = gpu.to_device(np.zeros_like(right))
without_halo[grid_for(y, 16), (16, 16)](gpu.to_device(x), torn)
wrong = gpu.to_host(torn) != right
figures.error_image(gpu.to_host(torn)[0, 0], right[0, 0], 16)

# %% [markdown]
# <details class="reveal"><summary>Wrong only at the seams</summary>
#
# The first tile computes outputs 0 to 15 and holds pixels 0 to 15. Output 12 looks at pixels 12 to 16, and pixel 16 is
# not there. So outputs 12 to 15 are wrong, in rows as in columns. The second tile begins at output 16 and has only
# outputs 16 to 27. They look at pixels 16 to 31, and it holds all of these: at the map's own edge everything is right.
# In an image such a fault is a faint cross. In training it is a network that learns a little worse, and nobody knows
# why. So test a tiled kernel with an image of several tiles and no multiple of one, and compare *every* output.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
rows = [h for h in range(28) if wrong[0, 0, h].all()]
assert not np.delete(np.delete(wrong[0, 0], rows, axis=0), rows, axis=1).any()
seams.confirm(f"rows and columns {rows[0]} to {rows[-1]}, and no others")

# %% [markdown]
# ## How often is a pixel used?
#
# A tile pays if its pixels are used often. $T^2$ outputs read $K^2$ pixels each, and $(T + K - 1)^2$ were brought. So
# each is used[^Hwu "Reuse in 2D Tiled Convolution"]
#
# $$\frac{K^2\, T^2}{(T + K - 1)^2}$$
#
# times on average. The report counts the same: for a shared array, *reuse* is its loads divided by its stores.

# %%
rows = []
for layer, T in (("C1", 4), ("C1", 14), ("C1", 28), ("C3", 10), ("C5", 1)):
    C, H, K, M = LAYERS[layer]
    maps, out = np.ones((1, C, H, H), np.float32), np.zeros((1, 1, H - K + 1, H - K + 1), np.float32)
    one = gpu.simulate(tiled_for(T, np.ones((1, C, K, K), np.float32)), grid_for(out, T), (T, T), maps, out)
    formula = K**2 * T**2 / (T + K - 1) ** 2
    rows.append((layer, T, formula, one.arrays["seen"].reuse, ops.replication((1, C, H, H), K)))
heads = ["layer", "tile", "formula", "report", "replication when unrolled"]
table(rows, heads, formats=dict.fromkeys(heads[2:], ".1f"))

# %% [markdown]
# The larger the tile, the smaller the share of its halo; the limit is $K^2 = 25$. With a whole map as one tile, C1 has
# 19.1, C3 12.8, and C5 just 1.
#
# Now the last column. That is lesson 08's **replication**: how many copies of a pixel the unrolled matrix holds. It is
# the same number, and it must be. Whoever unrolls writes a copy for each use; whoever tiles keeps one copy and uses it
# as often.[^Hwu "Convolution Reuse Matches Unrolling Replication!"] Unrolling turns *uses* into *copies*. Whether that
# is bad depends on where the copies are kept.

# %% [markdown]
# ## Unrolling, for real
#
# The second strategy writes the matrix $X_{cols}$, with $C K^2$ rows and a column for each output place, and
# multiplies. First the writing. One way gives each thread one element of the matrix:

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
# The other gives it one window, so one column. It works out once where the window begins, and walks down.[^Dey "Im2Col
# Operation"]

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
# Each thread fills a *column*. That smells of lesson 12's most expensive mistake. Is it one?

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
# At any moment the 32 lanes stand side by side in one *row* of the matrix, in both kernels: neighbours in a warp are
# neighbouring places, and places are the matrix's last axis. The second kernel has 25 times fewer threads and half of
# the instructions, since it divides once for 25 numbers.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
sectors = [r.total.global_load_sectors + r.total.global_store_sectors for r in (elements, columns)]
walk.confirm("as many" if abs(sectors[1] / sectors[0] - 1) < 0.02 else f"about {sectors[1] / sectors[0]:.0f} times")

# %% [markdown]
# ## Why it loses on C1
#
# The matrix is written; a tiled product would do the rest. Before that, count the bytes that have to travel between the
# card and its memory for one image of C1. Reading `x` and writing `y` takes 22,912.

# %% tags=["hide-input"]
floor = predict(
    "The unrolled matrix has to be written once, and read once by the product. How many bytes is that, compared with "
    "everything else that has to travel?",
    ["a fifth as many", "about as many", "about 7 times as many", "about 38 times as many"],
    answer="about 7 times as many",
    reveals=2,
)
floor

# %% tags=["hide-input", "hide-output"]
# Bytes, from the arrays of the reports.
matrix_bytes = 4 * elements.arrays["cols"].distinct_stored
image_bytes, output_bytes = 4 * x.size, 4 * right.size
without, with_matrix = (image_bytes, 0, 0, output_bytes), (image_bytes, matrix_bytes, matrix_bytes, output_bytes)
steps = ["the image is read", "the matrix is written", "the matrix is read", "the outputs are written", "together"]
table(
    list(zip(steps, (*without, sum(without)), (*with_matrix, sum(with_matrix)), strict=True)),
    ["bytes for one image of C1", "without a matrix", "with it"],
)

# %% [markdown]
# <details class="reveal"><summary>25 × 784 numbers, there and back</summary>
#
# The image has 1,024 numbers, the matrix 19,600. Each of these is written once and read once: 156,800 bytes for a
# detour that computes nothing.[^Hwu "Conceptual Unrolling May Help Performance"]
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
floor.confirm(f"about {2 * matrix_bytes / (image_bytes + output_bytes):.0f} times as many")

# %% [markdown]
# What does the detour buy? In the product each number of the matrix meets one weight of every map, so it is used $M$
# times, and C1 has $M = 6$.[^Hwu "Matrix-Multiplication Enables Additional Reuse"] That makes 12 operations for the 8
# bytes of its way there and back, 1.5 for each byte. The roofline of lesson 12 has its corner at 14; far below it,
# memory decides. In microseconds:

# %% tags=["hide-input"]
# What the detour costs.
dram = memory_ladder("H200")[-1][-1]
detour = 10_000 * 2 * matrix_bytes / dram
c1, unrolling = (measured(case, card="h200") for case in ("conv 1->6 k5 forward", "unrolling C1"))
table(
    [
        ("matrix written and read, at the full speed of memory (computed)", 1e6 * detour),
        ("only the matrix written, a thread for a column", 1e6 * unrolling.seconds["unroll_columns"]),
        ("only the matrix written, a thread for an element", 1e6 * unrolling.seconds["unroll_elements"]),
        ("the whole layer, unrolled for real (a thread for an element)", 1e6 * c1.seconds["v03_im2col_gemm"]),
        ("the whole layer, unrolled in thought", 1e6 * c1.seconds["v04_implicit_gemm"]),
        ("the whole layer, by a kernel made for C1", 1e6 * c1.seconds["v06_specialised"]),
    ],
    ["10,000 images of C1", "microseconds"],
    formats={"microseconds": ",.0f"},
    caption=f"Measured on an {c1.card} ({c1.date}, {unrolling.date})",
)

# %% [markdown]
# Compare the first row with the last. There is a kernel that does the whole layer in a quarter of the time that memory
# needs for the detour *alone*. No product, however good, can save the unrolled way: it starts with a debt larger than
# the other's whole bill.
#
# The rows between say that bytes are not all. Both unrolling kernels touch the same sectors, and one takes seven times
# as long: 196 million threads divide again and again to find out which number to carry, carry it, and are done. Written
# like that, the matrix costs more than the whole layer unrolled in thought. Written well, it still costs five times the
# last row.
#
# %% [markdown]
# So unrolling loses on C1, because
#
# 1. it makes 19 copies of a pixel, and the product uses each copy only 6 times;
# 2. the copies go to far memory and come back, where the pixel itself would have stayed in a cache;
# 3. nothing gets cheaper by it: the product that follows has the same multiplications to do.
#
# Turn it round, and you know where unrolling does *little* harm. With 64 output maps each copy is used 64 times, and
# the detour disappears behind the arithmetic. The last table of this page has such a layer.

# %% [markdown]
# ## Unrolling in thought
#
# The third strategy keeps the product and drops the matrix. A tile of the matrix is needed in shared memory, and
# nowhere else. So the thread that is to load its element works out which pixel that would be, and loads the pixel: an
# **implicit GEMM**, after the usual name of a general matrix product.
#
# The rest is the tiled product. A block computes 16 maps × 16 places. It walks along the $C K^2$ products of an output
# in steps of 16: bring a tile of weights and a tile of pixels, barrier, multiply, barrier. A thread that has brought
# one weight and one pixel finds sixteen of each.

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
# The line `pixels[ty, tx] = x[...]` is all of the unrolling. Put `cols[n, k, place]` in its place, and you have the
# product for the real matrix.

# %%
flat, rows = gpu.to_device(np.zeros((1, 6, 784), np.float32)), MASKS.reshape(6, 25)
implicit[(784 // 16, 1), (16, 16)](gpu.to_device(x), gpu.to_device(rows), 5, 28, flat)
print("as lesson 08:", np.array_equal(gpu.to_host(flat).reshape(right.shape), right))

in_thought = gpu.simulate(implicit, (784 // 16, 1), (16, 16), x, rows, 5, 28, flat)
print(f"loads of each pixel: {in_thought.arrays['x'].reuse:.1f}, stores: {in_thought.arrays['y'].stores:,}")
print(f"multiply-adds: {in_thought.total.flops // 2:,} for {6 * 784 * 25:,} that are needed")

# %% [markdown]
# A pixel is loaded 19.1 times, as often as there would be copies. But these are loads of *one* number, which comes from
# far memory once and from a cache after that. Of the real matrix, the product loads each number just once: all reuse
# has become copies.
#
# The last line has a second reason why products suit C1 badly, in thought or not. A tile has room for 16 maps and C1
# has 6; the 25 products of an output are padded to 32. So the kernel does 3.4 times the arithmetic that is needed, most
# of it with zeros.
#
# ## Registers as well
#
# The tiled product reads two numbers from shared memory for each multiply-add. The fourth strategy is lesson 14's: a
# thread computes several maps × several places, with the sums in registers. A weight that it has read serves all its
# places, a pixel all its maps. That is **joint register and shared tiling**, rung 5 of the ladder in
# `course_lib/cuda/ladders/conv2d/forward`. It takes 2 × 2 outputs a thread where there are few maps, as in C1, and 4 ×
# 4 for C3:

# %% tags=["hide-input"]
# Shared loads for a multiply-add.
products = ("v04_implicit_gemm", "v05_register_tiled")
on_c3 = count_layer({k: ladder[k] for k in products}, (4, 6, 14, 14), (16, 6, 5, 5), (4, 16, 10, 10))
table(
    [(NAMES[k], *(64 * layer[k].shared / layer[k].flops for layer in (on_c1, on_c3))) for k in products],
    ["shared loads for a multiply-add", "C1", "C3"],
    formats={"C1": ".2f", "C3": ".2f"},
)

# %% [markdown]
# ## A kernel for one layer
#
# So far every kernel took any layer. Now forget all layers but one. C1 has one input map and 6 output maps of 28 × 28,
# and these numbers alone make a kernel:
#
# - 112 = 4 × 28 threads compute four rows of outputs *of all six maps*, six sums each. 7 blocks make the 28 rows.[^Hwu
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
# It has no guard for edges, no padding, and no size that is not a constant.[^Hwu "Pseudo-Code for LeNet-5 C1 Layer"]

# %%
c1_by_maps[(7, 1), 128](gpu.to_device(x), y)
print("as lesson 08:", np.array_equal(gpu.to_host(y), right))
by_maps = gpu.simulate(c1_by_maps, (7, 1), 128, x, y)
sums = by_maps.arrays["sums"].shape[-1]
print("blocks:", by_maps.grid[0], " threads:", by_maps.block[0], " tile:", by_maps.arrays["tile"].shape)
print("threads that compute:", by_maps.arrays["y"].stores // (sums * by_maps.grid[0]), " sums of each:", sums)
print(f"loads of a pixel: {by_maps.arrays['x'].reuse:.2f}, uses of it in the tile: {by_maps.arrays['tile'].reuse:.1f}")

# %% [markdown]
# A thread takes a pixel into a register and uses it for all six maps. In lesson 13's word, the kernel is *coarsened*
# over maps. There is a catch: every thread loads every weight, all 150 of them. The other way round, a thread takes
# four pixels of *one* map, and a weight that it has loaded serves all four:

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
# A block is now 32 × 6 threads, a warp for each map, with 28 lanes that compute.

# %% tags=["hide-input"]
coarse = predict(
    "Both kernels, a block each: four warps with six sums a lane, or six warps with four. How many times as many "
    "requests to constant memory does the first one make?",
    [1, "1.5", 4, 6],
    answer=4,
    reveals=2,
)
coarse

# %% tags=["hide-input", "hide-output"]
# Both coarsenings: checked, counted, and measured.
c1_by_pixels[(7, 1), (32, 6)](gpu.to_device(x), y)
assert np.array_equal(gpu.to_host(y), right)
by_pixels = gpu.simulate(c1_by_pixels, (7, 1), (32, 6), x, y)
two = measured("two coarsenings of C1", card="h200")
table(
    [(r.kernel, r.total.constant_load_requests, r.total.shared_load_requests, 1e6 * two.seconds[r.kernel])
     for r in (by_maps, by_pixels)],
    ["kernel", "constant requests", "shared requests", "microseconds"],
    formats={"microseconds": ",.0f"},
    caption=f"Requests of one image; times of {two.size}, measured on an {two.card} ({two.date})",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>Coarsened the wrong way, and still the faster one</summary>
#
# 4 warps × 150 weights against 6 warps × 25: four times as many. By this count the first kernel is coarsened the wrong
# way.[^Hwu "Coarsening Does Not Match Tiling Choices"] But what the second one saves on weights, it pays for with
# pixels: six times the requests to shared memory. And the two memories are not alike. All lanes want the same weight at
# the same time, in the same order, in every block. Constant memory serves that in one turn, and a multiply-add can take
# such a number as an operand, without any load.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
coarse.confirm(by_maps.total.constant_load_requests // by_pixels.total.constant_load_requests)

# %% [markdown]
# Nobody wants to write such a kernel by hand for every layer. Rung 6 of the ladder is a Python function that
# *generates* one for a shape, as `tiled_for` did above, with everything that lessons 12 to 14 have to offer: several
# images to a block, a run of outputs to a thread, the pixels under it in registers while the mask slides along.
#
# ## One layer, all kernels
#
# Now C1 by all of them. The predicted time is made from a kernel's machine code, its traffic, and the rates of the
# card, which were measured with other kernels; no time of this table went into it. Counts are for one image: operations
# (those on padding too), kB that must travel, operations for each of these bytes, load requests, sectors loaded and
# stored, and loads of a pixel from global memory.

# %% tags=["hide-input"]
# All kernels on C1.
short = ["basic", "tile", "for real", "in thought", "registers", "by hand", "generated"]
expected, vendor, rows = estimated("conv 1->6 k5 forward", card="H200"), c1.seconds["cuDNN"], []
taken = {"v05b_c1_layer": two.seconds["c1_by_maps"]} | c1.seconds
for called, name in zip(short, sorted(NAMES | BY_HAND), strict=True):
    k, seconds, guess = on_c1[name], taken[name], expected.get(name)
    rows.append((
        called, guess and 1e6 * guess, 1e6 * seconds, vendor / seconds,
        k.flops / 1e6, k.travels / 1e3, k.intensity, k.requests, k.sectors, k.reuse,
    ))  # fmt: skip
heads = ["kernel", "predicted µs", "µs", "× cuDNN", "MFLOP", "kB", "FLOP/B", "requests", "sectors", "reuse"]
table(
    [*rows, ("cuDNN", None, 1e6 * vendor, 1.0, *[None] * 6)],
    heads, align="l" + "r" * 9,
    formats=dict(zip(heads[1:], (",.0f", ",.0f", ".2f", ".2f", ".0f", ".1f", ",.0f", ",.0f", ".1f"), strict=True)),
    caption=f"C1: times of {c1.size}, measured on an {c1.card} ({c1.date}); counts of one image",
)  # fmt: skip

# %% [markdown]
# Take your time with this table; most of the lesson is in it.
#
# - *Basic* asks for the most sectors by far, and is not the slowest. Caches serve nearly all of it.
# - *Tile* asks for a thirteenth of them, and gains little. A multiply-add still needs two numbers; they come from other
#   memories now. Where a cache does the same work, a tile does not always win.
# - *For real* and *in thought* differ in what travels, and in the time.
# - *Registers* halves the loads from shared memory, the padded arithmetic too, and the time.
# - *By hand* is the kernel of the last section: a pixel that is read serves six sums, and nothing is padded. Its twenty
#   lines take less than half of the library's time.
# - *Generated* loads each pixel once, and most of its multiply-adds find both numbers in registers.

# %% [markdown]
# ## Two gradients from what is there
#
# Lesson 08 found that $\partial E/\partial X$ is a convolution again: of $\partial E/\partial Y$ in a frame of $K - 1$
# zeros, with masks turned by half a circle, input and output maps exchanged.[^Hwu "Calculating dE/dX"] So there is
# nothing to write. `basic` does it:

# %%
dy = np.random.default_rng(1).integers(-3, 4, right.shape).astype(np.float32)
dx, dw, _ = ops.conv2d_backward(dy, ops.conv2d_forward(x, MASKS)[1])
framed = np.pad(dy, ((0, 0), (0, 0), (4, 4), (4, 4)))
turned = np.ascontiguousarray(MASKS.transpose(1, 0, 2, 3)[:, :, ::-1, ::-1])

ours = gpu.empty(dx.shape, np.float32)
basic[grid_for(dx, 16), (16, 16)](gpu.to_device(framed), gpu.to_device(turned), ours)
print("as lesson 08:", np.array_equal(gpu.to_host(ours), dx))

# %% [markdown]
# Why a convolution? Go back to the explorer and choose an *input*. The outputs that light up are those that used it,
# and each sends it a part of its gradient. Here every pixel collects for itself, so no two threads write to one place.
# If the outputs sent instead, that would need atomics.
#
# ### The masks' gradient is a reduction
#
# A weight has a part in every output of its map, in every image:[^Hwu "Calculating dE/dW"]
#
# $$\frac{\partial E}{\partial w_{m,c,p,q}} =
# \sum_{n,\,h,\,v} \frac{\partial E}{\partial y_{n,m,h,v}}\; x_{n,\,c,\,h+p,\,v+q}$$
#
# C1 has 150 weights, and with 10,000 images each is a sum of 7.84 million products. A thread for each weight would be
# 150 threads on a whole card. A thread for each output is easy to write, and meets lesson 13's queue:

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
# The lanes of a warp are outputs of one map and walk through the mask in step. At each moment they all want to add to
# the same weight.

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
# Of 28 lanes one goes first and 27 wait. Warps of other images wait as well, since all of them mean the same 150
# numbers.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
queue.confirm(f"{28 * atomics.total.atomic_serialised / (dy.size * 25):.0f} of 28")

# %% [markdown]
# The other price of atomics is lesson 13's, too. They add in the order of arrival, and float32 rounds after each
# addition. One weight's sum over 100 images, in twenty orders, with numbers that are not whole:

# %%
rng = np.random.default_rng(2)
terms = (rng.normal(size=100 * 784) * rng.normal(size=100 * 784)).astype(np.float32)
sums = [float(np.add.accumulate(rng.permutation(terms))[-1]) for _ in range(20)]
print(f"different sums: {len(set(sums))} of {len(sums)}")
print(f"from {min(sums):.3f} to {max(sums):.3f}, right is {terms.sum(dtype=np.float64):.3f}")

# %% [markdown]
# Two ways keep an order; both are rungs of the ladder `backward_weights`. A *tree*: a block for each weight, whose
# threads share the places and add up as in lesson 13. And *ordered parts*: a block keeps rows of a mask in registers
# while it walks over its share of the images, writes its sums to a place of its own, and a small second kernel adds
# these up, always in the same order.

# %% tags=["hide-input"]
# Four ways to the masks' gradient.
dw_times, queued = (measured(case, card="h200") for case in ("conv 1->6 k5 dW", "masks' gradient by atomics"))
table(
    [
        ("a thread for each weight", "always the same", 1e6 * dw_times.seconds["v01_basic"]),
        ("atomics, a thread for each output", "as they arrive", 1e6 * queued.seconds["weights_by_atomics"]),
        ("a tree, a block for each weight", "always the same", 1e6 * dw_times.seconds["v02_block"]),
        ("ordered parts, in registers", "always the same", 1e6 * dw_times.seconds["v06_specialised"]),
        ("cuDNN", None, 1e6 * dw_times.seconds["cuDNN"]),
    ],
    ["way", "order of the additions", "microseconds"],
    formats={"microseconds": ",.0f"},
    caption=f"Gradient of C1's masks, {dw_times.size}, measured on an {dw_times.card} ({dw_times.date})",
)

# %% [markdown]
# With atomics, 47 million threads need nearly as long as 150 without. What helps is that nobody waits: a tree takes a
# hundredth of the time, and sums that stay in registers take a thirtieth of that, with the same bits in every run.
#
# And pooling? Its forward kernel is in [lesson 13](13_reductions_and_fusion.ipynb). Backward, a thread for each *pixel*
# asks whether the mask of its window names it, and takes the gradient if so. It collects, as above, and nothing has to
# be atomic.

# %% [markdown]
# ## The same by a Fourier transform
#
# For large masks there is quite another way.[^Hwu "Some Other Optimizations"] A Fourier transform writes an image as a
# sum of waves. Sliding a mask over the image becomes, in that form, a multiplication of each wave by one number. So
# transform image and mask, multiply, and transform back. A fast transform, the FFT, takes about $N^2 \log_2 N$ steps
# for $N \times N$ pixels, and how large the mask is does not matter.

# %%
waves = np.fft.rfft2(x[0, 0]) * np.conj(np.fft.rfft2(MASKS[0, 0], s=(32, 32)))
by_waves = np.fft.irfft2(waves, s=(32, 32))[:28, :28]
print("map 0, rounded to whole numbers, is right:", np.array_equal(np.rint(by_waves), right[0, 0]))

# %% [markdown]
# Waves repeat, so the image is treated as if it went on at the opposite edge. Outputs whose window does that are thrown
# away; 28 × 28 are left. Without `conj` the mask would be turned.
#
# The result is right up to rounding only, since most waves are no whole numbers. How far off can it be? Each of the
# transform's stages rounds once, which gives a bound for the operation of the library, in float32:

# %%
all_maps, _ = ops.conv2d_fft_forward(x, MASKS)
norms = np.linalg.norm(x) * np.linalg.norm(MASKS.reshape(6, -1), axis=1)
bound = checks.fft_tolerance(norms, points=32 * 32).max()
error = np.abs(all_maps - right).max()
print(f"outputs up to {right.max():,.0f}, bound of the error {bound:.2f}")
print("error below the bound:", bool(error < bound), " below a tenth of it:", bool(error < bound / 10))

# %% [markdown]
# Now count multiplications. Direct, an output takes $K^2$ for each input map. By FFT, the transform of a map takes $2
# N^2 \log_2 N$, and each pair of maps $2 N^2$ products; the masks are transformed once for a whole batch. For one
# output and one input map, to be compared with $K^2$, that is:

# %%
def by_fft(C, H, K, M):
    N = 2 ** int(np.ceil(np.log2(H)))
    return ((C + M) * 2 * N**2 * np.log2(N) + C * M * 2 * N**2) / (C * M * (H - K + 1) ** 2)

# %% tags=["hide-input"]
crossing = predict(
    "C1's sizes, one 32 × 32 map in and six out. From which K on does the FFT need fewer multiplications?",
    [3, 5, 9, 15],
    answer=5,
    reveals=2,
)
crossing

# %% tags=["hide-input", "hide-output"]
# Multiplications, direct and by FFT.
C, H, _, M = LAYERS["C1"]
table(
    [(K, K**2, by_fft(C, H, K, M)) for K in (1, 3, 4, 5, 7, 11, 15)],
    ["K", "direct", "by FFT"],
    formats={"by FFT": ".1f"},
    caption="Multiplications for an output and an input map",
)

# %% [markdown]
# <details class="reveal"><summary>C1 is just beyond the crossing</summary>
#
# 17.9 against 25. By multiplications the FFT wins on C1, and the vendor's library takes it there, as on three more
# layers of the last table. It loses to a direct kernel, and the reason is an old acquaintance. Its kernels hand the
# waves on through memory: seven spectra of 32 × 17 complex numbers, 8 bytes each, written and read again, are 60,928
# bytes, where the layer needs 22,912. Multiplications were not what was short.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
crossing.confirm(next(K for K in range(1, 32) if by_fft(C, H, K, M) < K**2))

# %% [markdown]
# Multiplications are one thing, time another. Here are C1's maps on a processor, mask after mask, for images of two
# sizes: by FFT and directly in NumPy, and directly by lesson 09's compiled kernels.

# %% tags=["hide-input"]
# On a processor.
def sweep(card, ways):
    cases = {side: measured(f"FFT or direct, 1->6, {side} x {side}", card=card) for side in (32, 128)}
    along = {side: {way: case.along(*names) for way, names in ways.items()} for side, case in cases.items()}
    masks = list(along[32]["FFT"])
    seconds = {f"{n} x {n}": {way: [t.get(K) for K in masks] for way, t in along[n].items()} for n in along}
    return figures.crossing(masks, seconds, where=f"{cases[32].card}, {cases[32].date}")

sweep("xeon", {"FFT": ["transforms"], "direct": ["reference"], "direct, compiled": ["fast"]})

# %% [markdown]
# The direct times climb with the mask, the FFT's stay where they are. Against NumPy the FFT pays from masks of about 10
# × 10 on. Against the compiled kernel it pays from 15 × 15 on for the large images, and never for the small ones. (A
# mask of 31 × 31 leaves four outputs of a 32 × 32 image, which is why the direct times fall again.) Where a method pays
# depends on how good its rival is.
#
# For the card the course has this convolution too, as `conv2d_fft_forward` in `course_lib.cuda`. It transforms tiles of
# the image in registers, so that an image's spectra never go to memory.

# %% [markdown]
# ## When does a kernel of one's own pay?
#
# In a course at Illinois, teams of students compete with kernels for two such layers. Their teachers advise to unroll
# in thought and tile jointly. One may do as well or better, they say, by solving the general convolution directly, but
# previous teams have not succeeded.[^Hwu "Unrolling May Boost Your Performance"] Here is what our ladder says about it,
# for five layers.

# %% tags=["hide-input"]
# Five layers.
layers = {
    "1->6 k5": "C1: 1 → 6, 5 × 5", "6->16 k5": "C3: 6 → 16, 5 × 5", "1->4 k7": "1 → 4, 7 × 7",
    "4->16 k7": "4 → 16, 7 × 7", "64->64 k3": "64 → 64, 3 × 3",
}  # fmt: skip
ways = {"v01_basic": "direct", "v05_register_tiled": "product", "v06_specialised": "generated", "cuDNN": "cuDNN"}
rows = []
for case, called in layers.items():
    one = measured(f"conv {case} forward", card="h200")
    gain = one.seconds["cuDNN"] / one.seconds["v06_specialised"]
    rows.append((called, *(1e6 * one.seconds[way] for way in ways), one.algorithm, gain))
table(
    rows, ["layer", *ways.values(), "its choice", "cuDNN / generated"], align="lrrrrlr",
    formats=dict.fromkeys(ways.values(), ",.0f") | {"cuDNN / generated": ".2f"},
    caption=f"Microseconds for 10,000 images (the last: {one.size}), float32, measured on an {one.card} ({one.date})",
)  # fmt: skip

# %% [markdown]
# *Direct* and *product* both take any layer, and the product wins on all five, up to fifteenfold. So the teams found
# what is true, and the advice is good.
#
# *Generated* is a direct convolution again, but everything about its layer is known when it is compiled. It beats the
# general product on all five layers. On the first four it beats the vendor's library too, by a factor of three to
# eleven: small layers with few maps, for which the library takes an FFT.
#
# The last row is the other side. With 64 maps in and out, a product has reuse enough. The library takes an implicit
# GEMM, years of work are in that kernel, and ours reaches 0.79 of its speed. Large networks are made of such layers.

# %% [markdown]
# So is unrolling how frameworks do it? In thought, yes. For real, on none of these layers. For a layer with many maps,
# take the library. For a layer with few maps, whose shape you know and which you run ten thousand times a second, a
# generated kernel may be worth an afternoon. Measure before you begin.

# %% [markdown]
# ## Optional: 16 multiplications for 36
#
# <details><summary>Winograd's way with 3 × 3 masks</summary>
#
# There is a third way to fewer multiplications, for small masks. Take $4 \times 4$ pixels $d$ and a mask $g$ of $3
# \times 3$. The $2 \times 2$ outputs under it need $4 \cdot 9 = 36$ multiplications. With three small matrices of
# zeros, ones and halves, they are
#
# $$A^T \left[ (G\, g\, G^T) \odot (B^T d\, B) \right] A$$
#
# and $\odot$, the product number by number, has only 16.[^Lavin "Fast Algorithms for Convolutional Neural Networks"]
# Everything else is additions, and the mask's part is done once. With $6 \times 6$ pixels it is 36 for 144. The price
# is rounding: numbers are added up on the way in and cancel on the way out.
#
# </details>

# %% tags=["hide-input"]
# Winograd's errors beside the plain one's.
noise = np.random.default_rng(3)
xr, wr = (noise.normal(size=shape).astype(np.float32) for shape in ((2, 64, 18, 18), (16, 64, 3, 3)))
exact, _ = ops.conv2d_forward(xr.astype(np.float64), wr.astype(np.float64))
ways = {"direct": ops.conv2d_forward(xr, wr)[0]} | {
    f"Winograd, {t} x {t} outputs": ops.conv2d_winograd_forward(xr, wr, tile=t)[0] for t in (2, 4)
}
typical = {name: np.sqrt(((y_ - exact) ** 2).mean() / (exact**2).mean()) for name, y_ in ways.items()}
against = {name: error / typical["direct"] for name, error in typical.items()}
table(
    [(name, n, "about the same" if against[name] < 2 else "several times as large" if against[name] > 3 else "larger")
     for (name, n) in zip(typical, (9, 4, 2.25), strict=True)],
    ["way", "multiplications for an output", "error, compared with the direct way's"],
    caption="64 input maps, float32 against float64",
)  # fmt: skip

# %% [markdown]
# ## Try it
#
# - What does `tiled_for` say of C5's masks? For how many output maps would C5's masks fit into constant memory?
#   <details><summary>Answer</summary>
#
#   120 × 400 weights are 192,000 bytes, and the executor refuses the kernel: constant memory has 65,536. That is 16,384
#   weights, or 40 maps. Larger masks must be passed as an array.
#
#   </details>
# - Launch `basic` for C1 with blocks of 32 × 8 instead of 16 × 16. (It takes the tile's side from `blockDim.x`, so the
#   line with `h` needs `blockDim.y`.) Which count moves, and why?
#   <details><summary>Answer</summary>
#
#   A warp is then one row of 28 outputs instead of two half rows. It touches one run of pixels and not two: as many
#   requests, an eighth fewer sectors.
#
#   </details>
# - In `weights_by_atomics`, let each thread add up its output over all images first, and add once. How many atomic
#   additions are left for 10,000 images?
#   <details><summary>Answer</summary>
#
#   784 places × 150 weights = 117,600, as for one image, instead of 1,176 million. It is coarsening over images.
#
#   </details>

# %% [markdown]
# <details><summary>For those who know the lectures</summary>
#
# - The slide on reuse lists 19.1, 12.8 and 1 for C1, C2 and C3. They belong to C1, C3 and C5: layers 2 and 4 are the
#   poolings. The numbers are right.
# - That student teams did not win by solving the general convolution agrees with the columns *direct* and *product* of
#   the last table. It is no law: the generated kernel is such a convolution, for one shape at a time.
# - The lab is for a Titan V and allows to optimise for the given sizes, "with C++ templates". `tiled_for` and rung 6
#   are that in Python. Our times are from an H200.
# - The lab does not allow to assume that all weights are 1, and recommends constant memory for them. In Numba a
#   constant array is frozen into the machine code, so other weights are another kernel. That suits a trained network,
#   not training, which is why most rungs read weights from an array.
#
# </details>

# %% [markdown]
# ## Check yourself
#
# **1.** A layer has $C = 3$, $K = 3$, $M = 64$ and inputs of 224 × 224. How many times larger than the image is its
# unrolled matrix, how often is each number of it used, and would you expect real unrolling to hurt as much as on C1?
#
# <details><summary>Answer</summary>
#
# Replication is $222^2 \cdot 9 / 224^2 = 8.8$. Each number is used 64 times: 128 operations for 8 bytes, an intensity
# of 16, just beyond the corner of lesson 12's roofline at 14. The detour still costs, but the arithmetic takes as long,
# so the loss is a fraction of the time and not a multiple.
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
# **3.** A colleague's tiled kernel passes with images of $16 \times 16$ pixels. With $32 \times 32$, outputs 14 and 15
# of each row and column are wrong. How large are mask and tile, and what has been forgotten?
#
# <details><summary>Answer</summary>
#
# The last two outputs of a tile of 16 look at pixels beyond it, so $K - 1 = 2$: the mask is $3 \times 3$, and the halo
# was forgotten. An image of $16 \times 16$ has 14 outputs in a row, one tile, and all of its pixels are there. (With
# $32 \times 32$ there are 30 outputs, 16 to 29 in the second tile, and these are right.)
#
# </details>
