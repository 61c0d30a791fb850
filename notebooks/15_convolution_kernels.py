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
# # 15 · Convolution kernels: what does unrolling cost?
#
# In lesson 08 a convolution became one matrix product: copy every window into a column, multiply, done. Many textbooks
# do it this way. Here are six kernels for C1, the first layer of lesson 09's network. (One by hand comes later.) All
# six compute the same 4,704 outputs of an image. See what each has to fetch from the card's memory for one image, and
# send back to it.

# %% tags=["hide-input"]
import numpy as np
from numba import cuda, float32

from course_lib import data, figures, gpu
from course_lib import reference as ops
from course_lib.cuda.ladders.conv2d import forward
from course_lib.lesson import count_layer, counts, estimated, issued, measured, memory_ladder, predict, registers, table
from course_lib.simt.estimate.devices import find_device

LAYERS = {"C1": (1, 32, 5, 6), "C3": (6, 14, 5, 16), "C5": (16, 5, 5, 120)}  # maps in, their size, mask, maps out
NAMES = {
    "v01_basic": "basic", "v02_constant_masks": "tile in shared memory", "v03_im2col_gemm": "unrolled for real",
    "v04_implicit_gemm": "unrolled in thought", "v05_register_tiled": "in thought, with registers",
    "v06_specialised": "generated for C1",
}  # fmt: skip
BY_HAND = {"v05b_c1_layer": "by hand for C1"}
ladder = {rung.name: rung.launch for rung in forward.LADDER}
c1_shapes = (1, 1, 32, 32), (6, 1, 5, 5), (1, 6, 28, 28)
on_c1 = count_layer({k: ladder[k] for k in NAMES | BY_HAND}, *c1_shapes, bias=False)
figures.data_movement([(called, on_c1[k].moves) for k, called in NAMES.items()], title="One image through C1")

# %% [markdown]
# Five move 23 to 25 kB, and nearly all of that is the image and its outputs. (The one without weights has them in its
# code.) The one that unrolls moves nearly eight times as much. On the card of these lessons, our first version of it
# takes twice as long as the kernel below it, unrolled in thought, which writes no matrix at all. The bytes look like
# the cause, but at the card's full speed they account for at most a seventh of the extra time. By the end of the page
# you can say where the rest goes, and what unrolling costs when it is done well.
#
# ## You will be able to
#
# - lay output maps, tiles and images out on a grid, and say whether a layer fills a card;
# - bring a tile with its halo into shared memory, and predict how often each of its pixels is used;
# - say what unrolling costs in bytes and in instructions, for real and in thought, and what a kernel for one layer
#   saves;
# - get one gradient from a kernel that is there, and the other by a reduction that needs a new one.

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
# Outputs are independent, so each gets a thread. Outputs have four axes and a grid has three. Here is one good way
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
# of Block Y Dimension Mapping"] A map of 16 × 20 outputs has four rows of five tiles.[^Hwu "Host Code for a Basic
# Kernel: CUDA Grid"] The picture of these is drawn from the executor's record of which block wrote which output;
# `W_grid` is the number of tiles in a row.

# %% tags=["hide-input"]
# Blocks as they are numbered, and as they wrote.
small = np.zeros((1, 4, 8, 8), np.float32)
print("4 maps of 8 x 8, tiles of 4 x 4:", grid_for(small, 4))

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
# An H200 has 132 multiprocessors with room for 2,048 threads each: 270,336 slots. Deeper layers of LeNet-5 have more
# maps, but smaller ones, and in C5 a map is a single output.[^Hwu "Parallelism in a Convolution Layer"]

# %% tags=["hide-input"]
fill = predict(
    "C5 has 120 outputs for an image, and a thread computes one. How many images must be in a mini-batch before there "
    "is an output for every slot of an H200?",
    [120, 132, "about 2,250", "about 270,000"],
    answer="about 2,250",
    reveals=2,
)
fill

# %% tags=["hide-output"]
card = find_device("H200")
slots = card.sms * card.threads_per_sm
outputs = {name: M * (H - K + 1) ** 2 for name, (C, H, K, M) in LAYERS.items()}
table(
    [(name, n, n / slots, -(-slots // n)) for name, n in outputs.items()],
    ["layer", "outputs of an image", "of the card's slots", "images to fill it"],
    formats={"of the card's slots": ".2%"},
)

# %% [markdown]
# <details class="reveal"><summary>What a mini-batch is for, seen from a card</summary>
#
# One image leaves 98 % of the card without an output, even in C1. That is a second reason for mini-batches: images are
# independent, so they are one more axis of the grid.[^Hwu "Mini-Batching May be Needed to Fill GPU"]
#
# A full card is not yet a busy one. In blocks of 16 × 16 threads, nine images of C5 (1,080 blocks) occupy every slot,
# and 255 of 256 threads have no output. C5 could be split further, with different threads for different *input* maps of
# one output. But then several threads add to the same number, and lesson 13 says what that takes: atomics or a
# tree.[^Hwu "Parallelism in a Convolution Layer"]
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
fill.confirm(f"about {round(slots / outputs['C5'], -1):,.0f}")

# %% [markdown]
# Here is C1's time, by the kernel of a later section that has seven blocks of 128 threads for an image. That makes 896
# threads, so 302 images fill every slot. Several fillings are needed before start and end stop mattering:

# %% tags=["hide-input"]
# Batch by batch.
batches = measured("C1, batch by batch", card="h200")
took = batches.along("v05b_c1_layer")
each = {B: 1e6 * seconds / B for B, seconds in took.items()}
enough = min(B for B in each if each[B] < 1.1 * min(each.values()))
print(f"From {enough:,} images on, an image takes the least time, give or take a tenth.")
table(
    [(B, 7 * B, 1e6 * took[B], each[B]) for B in took if B in (1, 8, 64, 256, 1024, enough, 4096, 10_000)],
    ["images", "blocks", "microseconds", "for each image"],
    formats={"microseconds": ",.1f", "for each image": ".3f"},
    caption=f"C1, {batches.size}, measured on an {batches.card} ({batches.date})",
)

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
# 115 times: by each of the six maps, since blocks cannot share what they load,[^Hwu "Some Observations"] and within a
# map by each of up to 25 windows. Few of these loads go as far as the card's memory, because a cache still has the
# pixel. How well that works depends on who runs beside whom. Blocks start in the order of their numbers, x first. With
# maps along x, the blocks that want the *same* tile start together. Here are two other orders, on a layer that is large
# enough for the order to show:

# %% tags=["hide-input"]
# The order of blocks and the caches.
turned_grid = measured("block order, conv 4->16 k7", card="h200")
orders = ["maps, tiles, images", "tiles, maps, images", "images, tiles, maps"]
table(
    [(order, *(turned_grid.counters[order][rate] / 100 for rate in ("l1_hit_rate", "l2_hit_rate")),
      turned_grid.counters[order]["memory_bytes_read"] / 1e6, 1e6 * turned_grid.seconds[order]) for order in orders],
    ["blocks along x, y, z", "found in L1", "found in L2", "MB read from memory", "microseconds"],
    formats={"found in L1": ".0%", "found in L2": ".0%", "MB read from memory": ",.0f", "microseconds": ",.0f"},
    caption=f"The basic kernel, without padding and bias, on a layer of 4 maps in, 16 out, K = 7, {turned_grid.size}, "
    f"tiles of 16 x 16, measured on an {turned_grid.card} with NVIDIA's profiler, which reads the card's own counters",
)  # fmt: skip

# %% [markdown]
# Exchange maps and tiles, and nothing changes: blocks that want the same pixels still start close together. Put images
# first, and 10,000 blocks start between two that share a tile. Now every map reads the images again, and every tile its
# halo. A map of 34 × 34 outputs has three rows of three tiles, which look at 22, 22 and 8 pixels, or 3, 3 and 1 sectors
# of 32 bytes. For 16 maps that is 16 × (3 + 3 + 1) × (22 + 22 + 8) = 5,824 sectors of an input map that has 200: 29
# times as many. We measured 43 times the bytes: more than was requested.
#
# Traffic rises 43-fold; time does not. This kernel is busy with instructions, and eleven gigabytes take 2.6 of its 71
# milliseconds. A cache helps only a kernel that waits for memory. Keep the good order all the same; a faster kernel
# will need it.

# %% [markdown]
# ## A tile and its halo
#
# A cache may drop a pixel; shared memory keeps it until the block overwrites it. Let a block bring the pixels that it
# needs into shared memory once, and let its threads read them there. The difficulty is at the rim. An output looks at a
# window of $K \times K$ pixels, so a tile of $T \times T$ outputs needs $(T + K - 1) \times (T + K - 1)$ of them. What
# exceeds $T \times T$ is the tile's **halo**. Measured from the tile's first pixel, it is $K - 1$ rows below and
# $K - 1$ columns to the right. Choose an output, and see which threads load what it needs. Then choose an input.

# %%
figures.halo_explorer(10, 10, 3, 4, padding=False, at=(3, 3))

# %% [markdown]
# The lecture's lab asks for four strategies.[^Hwu "Strategies for Lab 7"] The first is to load tiles like these, and to
# put the masks into constant memory, since all lanes of a warp want the same weight at the same moment (lesson 12).
# Sizes of shared arrays, and constants, must be known when a kernel is compiled. So let a Python function *make* the
# kernel, one for each tile size and each set of masks. (In training the masks change at every step, and each time this
# kernel would have to be compiled again. Use it when training is over.)

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
# again as halo of a neighbouring tile. All in all the kernel asks global memory for a 26th of the requests.
#
# And in time? The course's library has the kernels of this page too. There they take any stride, a frame of zeros and a
# **bias** (a number that is added to each output map); each builds on the one before, so we call them the *rungs* of a
# *ladder*. Unless a table says otherwise, its times are those of the rungs, without a bias.

# %% tags=["hide-input"]
gain = predict(
    "10,000 images of C1 on an H200, by the rungs for these two kernels. How much faster is the tiled one?",
    ["26 times", "about 5 times", "about twice", "by about a tenth"],
    answer="by about a tenth",
    reveals=2,
)
gain

# %% tags=["hide-input", "hide-output"]
# The first two rungs, on the card.
c1, machine = measured("conv 1->6 k5 forward", card="h200"), issued("conv 1->6 k5 forward")
of_a_thread = registers("conv 1->6 k5 forward")
table(
    [(NAMES[k], machine[k][0].of_a_warp, machine[k][0].multiply_adds, of_a_thread[k], 1e6 * c1.seconds[k])
     for k in ("v01_basic", "v02_constant_masks")],
    ["kernel", "machine instructions of a warp", "multiply-adds of these", "registers of a thread", "microseconds"],
    formats={"machine instructions of a warp": ",.0f", "multiply-adds of these": ".0f", "microseconds": ",.0f"},
    caption=f"C1, {c1.size}: times measured on an {c1.card} ({c1.date}). Instructions are the compiler's; how often "
    "each of them runs is estimated from the executor's counts, mostly to within a tenth",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>It was not memory that basic waited for</summary>
#
# The caches had the pixels already. Most of the time goes into everything *around* the multiply-adds: addresses,
# guards, loops. Of the 1,596 machine instructions of a warp, 24 are multiply-adds. The tiled kernel has half as many
# left. But its threads need 86 registers instead of 64, so only half as many warps are there to take turns, and they
# wait for each other at two barriers.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
saved = 1 - c1.seconds["v02_constant_masks"] / c1.seconds["v01_basic"]
gain.confirm("by about a tenth" if 0.05 < saved < 0.15 else f"by {saved:.0%}")

# %% [markdown]
# ## Forget the halo
#
# It is tempting to let every thread bring only its own pixel. Where a window leaves the tile, the kernel then
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
# why. So test a tiled kernel with an image of more than one tile, and not a whole number of them, and compare *every*
# output.
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
# Now the last column. That is lesson 08's **replication**: how many copies of a pixel the unrolled matrix holds. With
# the whole map as one tile it is the same number, and must be. Whoever unrolls writes a copy for each use; whoever
# tiles keeps one copy and uses it as often.[^Hwu "Convolution Reuse Matches Unrolling Replication!"] Unrolling turns
# *uses* into *copies*. Whether that is bad depends on where the copies are kept.

# %% [markdown]
# ## Unrolling, for real
#
# The second strategy writes the matrix $X_{cols}$, with $C K^2$ rows and a column for each output place, and
# multiplies. First the writing. One way gives each thread one element of the matrix. It has to divide several times to
# find out which pixel that is; the kernel is folded here.

# %% tags=["hide-input"]
# A thread for each element.
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
# neighbouring places, and places are the matrix's last axis. The second kernel has 25 times fewer threads, and it
# divides once for 25 numbers.
#
# The executor counts half of the instructions for it. On the card the gap in time is far wider, because an integer
# division is one step to the executor and many on the card.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
sectors = [r.total.global_load_sectors + r.total.global_store_sectors for r in (elements, columns)]
walk.confirm("as many" if abs(sectors[1] / sectors[0] - 1) < 0.02 else f"about {sectors[1] / sectors[0]:.0f} times")
steps = measured("unrolling C1, then the product", card="h200")
one, other = (1e6 * steps.seconds[name] for name in ("elements", "columns"))
print(f"10,000 images on an {steps.card}, by the library's two kernels: {one:,.0f} µs by elements, "
      f"{other:,.0f} µs by columns")

# %% [markdown]
# ## What the detour costs at least
#
# The matrix is written; a tiled product would do the rest. We call the matrix's way to memory and back the *detour*.
# Before that, count the bytes that have to travel between the card and its memory for one image of C1.

# %% tags=["hide-input"]
# Bytes, from the arrays of the reports.
matrix_bytes = 4 * elements.arrays["cols"].distinct_stored
image_bytes, output_bytes = 4 * x.size, 4 * right.size
without, with_matrix = (image_bytes, 0, 0, output_bytes), (image_bytes, matrix_bytes, matrix_bytes, output_bytes)
stages = ["the image is read", "the matrix is written", "the matrix is read", "the outputs are written", "together"]
table(
    list(zip(stages, (*without, sum(without)), (*with_matrix, sum(with_matrix)), strict=True)),
    ["bytes for one image of C1", "without a matrix", "with it"],
)

# %% [markdown]
# The image has 1,024 numbers, the matrix 19,600. Each of these is written once and read once: 156,800 bytes for a
# detour that computes nothing, seven times as many as everything else.[^Hwu "Conceptual Unrolling May Help
# Performance"]
#
# How much arithmetic pays for each copy? In the product each number of the matrix meets one weight of every map, so it
# is used $M$ times, and C1 has $M = 6$.[^Hwu "Matrix-Multiplication Enables Additional Reuse"] That makes 12 operations
# for the 8 bytes of its way there and back, 1.5 for each byte, where the roofline of lesson 12 has its corner at 14
# (and at 16 with the rates that were measured). A product that used the card fully would wait for memory. So here is
# the *least* that unrolling can take, a **floor** below its time, beside two kernels of a later section that do the
# whole layer without it.

# %% tags=["hide-input"]
# Floors, and two kernels for C1.
l2, dram = (rate for *_, rate in memory_ladder("H200")[-2:])
peak, by_hand = card.float32_peak, c1.seconds["v05b_c1_layer"]
detour = 10_000 * 2 * matrix_bytes / dram
table(
    [
        ("matrix written and read, by memory at its full speed", "computed", 1e6 * detour),
        ("the same by the L2 cache, a few images at a time", "computed", 1e6 * detour * dram / l2),
        ("image read and outputs written, by memory at its full speed", "computed", 1e10 * sum(without) / dram),
        ("multiplications and additions, at the card's full speed", "computed", 1e10 * 2 * 25 * right.size / peak),
        ("the whole layer, by a kernel made by hand for C1", "measured", 1e6 * by_hand),
        ("the whole layer, by a kernel generated for C1", "measured", 1e6 * c1.seconds["v06_specialised"]),
    ],
    ["10,000 images of C1", "", "microseconds"],
    formats={"microseconds": ",.0f"},
    caption=f"Rates and times of an {c1.card} ({c1.date})",
)

# %% [markdown]
# Compare the first row with the last. There is a kernel that does the whole layer in a quarter of the time that memory
# needs for the detour *alone*. 10,000 images make 784 MB; an L2 cache of 60 MB holds a small part. 256 images make 20
# MB, which would fit; that halves the detour, and it is still twice the last row. No product, however good, can make up
# for that: through memory, unrolling's traffic alone costs four times the generated kernel's whole run.
#
# So bytes are enough to say that unrolling loses against a kernel made for C1. They are not enough to say why *ours*
# takes so long. For that, see the other way first.

# %% [markdown]
# ## Unrolling in thought
#
# The third strategy keeps the product and drops the matrix. A tile of the matrix is needed in shared memory, and
# nowhere else. So the thread that is to load its element works out which pixel that would be, and loads the pixel: an
# **implicit GEMM**, after the usual name of a general matrix product.
#
# The rest is the tiled product. A block computes 16 maps × 16 places. It walks along the $C K^2$ products of an output
# in steps of 16: bring a tile of weights and a tile of pixels, barrier, multiply, barrier. A thread that has brought
# one weight and one pixel then reads sixteen of each.

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
# product for the real matrix. (In the tables below it is *multiply*.)

# %%
flat, rows = gpu.to_device(np.zeros((1, 6, 784), np.float32)), MASKS.reshape(6, 25)
implicit[(784 // 16, 1), (16, 16)](gpu.to_device(x), gpu.to_device(rows), 5, 28, flat)
print("as lesson 08:", np.array_equal(gpu.to_host(flat).reshape(right.shape), right))

in_thought = gpu.simulate(implicit, (784 // 16, 1), (16, 16), x, rows, 5, 28, flat)
print(f"loads of each pixel: {in_thought.arrays['x'].reuse:.1f}, stores: {in_thought.arrays['y'].stores:,}")
print(f"multiply-adds: {in_thought.total.flops // 2:,} for {6 * 784 * 25:,} that are needed")

# %% [markdown]
# A pixel is loaded 19.1 times, as often as there would be copies. But these are loads of *one* number, which comes from
# far memory once and from a cache after that. Of the real matrix, each copy is loaded once, then used from shared
# memory.
#
# The last line shows a reason why products suit C1 badly, in thought or not. A tile has room for 16 maps and C1 has 6;
# the 25 products of an output are padded to 32. So the kernel does 3.4 times the arithmetic that is needed, most of it
# with zeros.
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
# ## Where the time goes
#
# The bytes of the detour account for at most a seventh of the extra time of real unrolling. So count what else a card
# has to do: issue instructions. A multiprocessor has four schedulers, and each issues an instruction of one warp in a
# clock (lesson 12). Divide the machine instructions of all warps by what all schedulers issue, and you have a time to
# put beside the floors of memory and arithmetic. It is no floor in the strict sense: how often an instruction runs is
# estimated here. For *basic* the estimate is 2,930 µs, 8 % above the 2,703 that were measured. For real is two kernels,
# shown one by one.

# %% tags=["hide-input"]
# An estimate, two floors, and the time.
def moved(name, *kinds):  # weights are the same for all images
    return sum(on_c1[name].moves[kind] for kind in kinds or ("input", "output"))

real, thought = "v03_im2col_gemm", "v04_implicit_gemm"
both = steps.seconds["elements, then product"]
gap = 1e6 * (both - c1.seconds[thought])
print(f"For real, with one matrix for the whole batch: {1e6 * both:,.0f} µs. In thought: "
      f"{1e6 * c1.seconds[thought]:,.0f}. A difference of {gap:,.0f}, and the detour's bytes are "
      f"{1e6 * detour:,.0f} of it at most.")
launches = [
    (called, machine[name][0], on_c1[name].flops, moved(name), c1.seconds[name])
    for name, called in (("v01_basic", "basic"), ("v02_constant_masks", "tile"))
] + [
    ("for real: unroll", machine[real][0], 0,
     moved(real, "input", "unrolled, written"), steps.seconds["elements"]),
    ("for real: multiply", machine[real][1], on_c1[real].flops,
     moved(real, "unrolled, read", "output"), steps.seconds["product alone"]),
] + [
    (called, machine[name][-1], on_c1[name].flops, moved(name), c1.seconds.get(name, by_hand))
    for name, called in ((thought, "in thought"), ("v05_register_tiled", "registers"),
                         ("v05b_c1_layer", "by hand"), ("v06_specialised", "generated"))
]
floors = [(called, k.of_a_warp, k.multiply_adds, 1e6 * k.seconds("H200"), 1e10 * moves / dram, 1e10 * flops / peak,
           1e6 * seconds) for called, k, flops, moves, seconds in launches]
heads = ["kernel", "of a warp", "float32", "issue", "memory", "FLOPs", "measured"]
table(
    floors, heads, align="lrrrrrr", formats=dict.fromkeys(heads[1:], ",.0f"),
    caption="Machine instructions of a warp, and how many of them go to the unit that multiplies and adds float32. "
    "Microseconds for instructions (an estimate), for bytes and for operations on padding too (floors), each alone, at "
    f"the full speed of an {c1.card}; and measured ({' and '.join(sorted({c1.date, steps.date}))}), the two halves of "
    f"for real with one matrix for the whole batch; C1, {c1.size}",
)  # fmt: skip

# %% [markdown]
# *Issue* is the largest of the three in all rows. For *basic* and for the two ways to unroll, the measured time follows
# it, far above the floors of memory and arithmetic. What these kernels wait for is neither. It is instructions, and few
# of these multiply.
#
# - *Tile* is the exception. It issues half as many as *basic* and hardly gains. Two of its blocks fit on a
#   multiprocessor, where four of *basic* do, and each waits at two barriers: for most of the time nobody there has an
#   instruction that could be issued.
# - *Unroll* has 618 of them to copy one number a lane. Indices have 64 bits in Numba; a card divides such numbers step
#   by step, and each thread divides several times. This takes many times as long as the bytes, which travel meanwhile.
#   (Its 5 for the float32 unit compute nothing: the compiler sets registers to a constant that way.)
# - *Multiply* has 334, of which 32 are multiply-adds. The rest loads, stores and counts.

# %% [markdown]
# - *In thought* has no unroller, but the divisions are not gone. They have moved into the product, where a thread works
#   out a pixel for each of its two steps along $C K^2$: 592 instructions instead of 334. (This rung divides 32-bit
#   numbers, which is cheaper.) That is why it needs so much more than its bytes and its arithmetic do.
# - The kernels for C1 know all sizes when they are compiled. Nothing is divided and hardly anything padded;
#   multiply-adds are a quarter of one's instructions, and more than half of the other's.

# %% tags=["hide-input"]
# What in thought saves.
issue = {row[0]: row[3] for row in floors}
saves, pays = issue["for real: unroll"], issue["in thought"] - issue["for real: multiply"]
print(f"In thought saves {saves:,.0f} µs of issuing in the unroller, and pays {pays:,.0f} more inside the product.")
print(f"Together that is {saves - pays:,.0f} µs by this estimate, where {gap:,.0f} were measured.")
in_64_bits = measured("unrolling C1", card="h200").seconds["implicit"]
print(f"This page's kernel in thought, with divisions of 64 bits: {1e6 * in_64_bits:,.0f} µs. Against it, real "
      f"unrolling by elements takes {steps.seconds['elements, then product'] / in_64_bits:.1f} times as long.")

# %% [markdown]
# The picture at the top shows bytes, and is right about them. Index arithmetic takes most of this time. And *twice as
# long* was not like for like: the timed rung in thought divides 32-bit numbers, our unroller 64-bit ones. With 64 bits
# in both, twice becomes one and a half.
#
# ### Unrolling done well
#
# So give real unrolling its chance: a thread for each column, and then also 256 images at a time, whose matrix would
# fit into L2. The product is the same kernel.

# %% tags=["hide-input"]
chance = predict(
    "A thread for each column, then the same product. How long does real unrolling take now, against in thought?",
    ["still about twice as long", "about a quarter longer", "about as long", "about a quarter less"],
    answer="about a quarter less",
    reveals=3,
)
chance

# %% tags=["hide-input", "hide-output"]
# Real unrolling, from bad to good.
chunks = next(name for name in steps.seconds if name.startswith("columns, then product, "))
alone = chunks.replace("columns, then product", "product alone")
ms = {name: 1e6 * seconds for name, seconds in steps.seconds.items()} | {"in thought": 1e6 * c1.seconds[thought]}
table(
    [
        ("an element a thread, then the product", ms["elements"], ms["product alone"], ms["elements, then product"]),
        ("a column a thread, then the product", ms["columns"], ms["product alone"], ms["columns, then product"]),
        (f"the same, {chunks.split(', ')[-1]}", None, ms[alone], ms[chunks]),
        ("a column a thread, then a product with registers", ms["columns"], ms["product with registers alone"],
         ms["columns, then product with registers"]),
        ("in thought", None, None, ms["in thought"]),
        ("in thought, with registers", None, None, 1e6 * c1.seconds["v05_register_tiled"]),
        ("generated for C1", None, None, 1e6 * c1.seconds["v06_specialised"]),
    ],
    ["10,000 images of C1", "unrolling alone, µs", "product alone, µs", "together, µs"],
    align="lrrr", formats=dict.fromkeys(["unrolling alone, µs", "product alone, µs", "together, µs"], ",.0f"),
    caption=f"C1, {steps.size}, one matrix for the whole batch but in the third row: measured on an {steps.card} "
    f"({steps.date}). The last three rows are rungs. So is *for real* in the other tables, which unrolls 816 "
    f"images at a time, as many as fill 64 MB: {1e6 * c1.seconds[real]:,.0f}",
)  # fmt: skip

# %% tags=["hide-input", "hide-output"]
# The same in sentences.
def against(one, other):
    ratio = other / one
    if 0.95 < ratio < 1.05:
        return "about as long as"
    return f"{abs(1 - one / other):.0%} {'less' if one < other else 'more'} than"

better = ms["elements, then product"] - ms["columns, then product"]
near = ms["columns, then product"] - ms[chunks]
print(f"Columns instead of elements: {better:,.0f} µs {'less' if better > 0 else 'more'}, with the same bytes.")
print(f"A matrix that would fit into L2: {abs(near):,.0f} µs {'less' if near > 0 else 'more'}.")
parts = 2 * -(-10_000 // int(chunks.split(", ")[-1].split()[0]))
print(f"That way has {parts} launches; at {1e6 * took[1]:.1f} µs, C1 with one image, "
      f"they are {1e6 * parts * took[1]:,.0f} µs.")
print(f"Real unrolling by columns takes {against(ms['columns, then product'], ms['in thought'])} unrolling in thought;")
print(f"in portions, {against(ms[chunks], ms['in thought'])} in thought, "
      f"and {ms[chunks] / 1e6 / c1.seconds['v06_specialised']:.0f} times as long as the kernel generated for C1.")

# %% [markdown]
# <details class="reveal"><summary>It divides less</summary>
#
# So real unrolling, done well, beats our kernel that unrolls in thought: one division serves 25 numbers. L2 does not
# help, since the product did not wait for memory, and every launch has to fill the card anew and empty it again.
# (The library's operation `im2col` goes by columns for this reason. The rung keeps elements, to show what they cost.)
#
# One thing stays open: columns take 472 µs, where image and matrix need 195 at memory's full speed. What the rest goes
# into, we did not measure.
#
# A kernel in thought can save divisions as well. The one *with registers* does, and multiplies out of registers, too.
# To be fair, the fourth row gives such a product to the real matrix. Alone it takes 886 µs; with the unroller, 1,359.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
less = 1 - ms["columns, then product"] / ms["in thought"]
chance.confirm("about a quarter less" if 0.2 < less < 0.3 else f"{less:.0%} less")

# %% [markdown]
# What loses on C1, then, and why?
#
# 1. *Written badly*, real unrolling loses by its index arithmetic, done for each of 196 million copies. Once for a
#    column of 25 is enough.
# 2. *Written well*, unrolling alone takes 472 µs, before anything is multiplied. In that time the kernel generated for
#    C1 does the whole layer five times. Even a perfect unroller would have the detour left: 19 copies of a pixel, each
#    used only 6 times, 371 µs through memory or half of that through L2.
# 3. *The product that follows* is cheaper than the one in thought, 1,380 µs against 2,580, as it works out no pixels.
#    But both pad 6 maps to 16 and 25 products to 32, and most of their instructions are not multiply-adds.

# %% [markdown]
# So on C1 real unrolling loses against kernels that were made for this layer, whatever product follows. It does not
# lose against *basic* (2,703 µs), nor against *in thought*. Against *in thought, with registers* it does: 1,359 µs
# against 1,136, with registers in both. Now like is compared with like, and you can see the price of each way. Without
# any unrolling, that product takes 886 µs. Working out the pixels while loading adds 250. Writing them down and reading
# them again adds 472.

# %% [markdown]
# With 64 output maps, a copy is used 64 times. Does unrolling cost less there? Here is such a layer.

# %% tags=["hide-input"]
# A layer with many maps.
many = measured("unrolling 64 -> 64, then the product", card="h200")
us = {name: 1e6 * seconds for name, seconds in many.seconds.items()}
numbers = 64 * 64 * 9 * 56 * 56  # images, input maps, mask, places
table(
    [
        ("matrix written and read, by memory at its full speed (computed)", 1e6 * 8 * numbers / dram),
        ("multiplications and additions, at the card's full speed (computed)", 1e6 * 2 * 64 * numbers / peak),
        ("unrolling alone, an element a thread", us["elements"]),
        ("unrolling alone, a column a thread", us["columns"]),
        ("product alone", us["product alone"]),
        ("a column a thread, then the product", us["columns, then product"]),
        ("in thought", us["in thought"]),
        ("product with registers alone", us["product with registers alone"]),
        ("a column a thread, then the product with registers", us["columns, then product with registers"]),
        ("in thought, with registers", us["in thought, with registers"]),
    ],
    ["64 maps in and out, 3 × 3", "microseconds"], formats={"microseconds": ",.0f"},
    caption=f"{many.size}: measured on an {many.card} ({many.date})",
)  # fmt: skip

# %% tags=["hide-input"]
# The same in sentences.
share = 1 - us["product alone"] / us["columns, then product"]
on_c1_share = 1 - ms["product alone"] / ms["columns, then product"]
print(f"Of real unrolling by columns, the unroller takes {share:.0%} here, and {on_c1_share:.0%} on C1.")
print(f"Together with the product that is {against(us['columns, then product'], us['in thought'])} in thought.")
ratio = against(us["columns, then product with registers"], us["in thought, with registers"])
print(f"With registers in both products, real unrolling takes {ratio} in thought.")

# %% [markdown]
# The unroller is a smaller part here, though not by much. A second kernel starts when the first has ended, so the
# unroller's time is never hidden behind the arithmetic; it is added. At full speed, detour and arithmetic would take
# equally long here, where on C1 the detour takes ten times as long. Our tiled product is far from full speed, so the
# unroller is a smaller part of the whole than that. In thought gains nothing by the many maps: a block works out its
# pixels' places for 16 of them, so with 64 maps all of it is done four times, and real unrolling saves as much as on
# C1. A block with registers covers all 64 maps, works out each place once, and is ahead again.

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
# It has no guard for edges, no padding, and no size that is not a constant. An array in local memory was a warning in
# lesson 12; here the bounds of all loops are constants, so the compiler writes the loops out, knows every index, and
# keeps `sums` in registers.[^Hwu "Pseudo-Code for LeNet-5 C1 Layer"]

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
# four pixels of *one* map, and a weight that it has loaded serves all four. (That kernel, `c1_by_pixels`, is folded
# here.)

# %% tags=["hide-input"]
# A thread takes four pixels of one map.
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
# pixels: six times the requests to shared memory. The first has 4,900 requests of both kinds, the second 5,250. Nor are
# the two kinds alike. A multiply-add can take a number from constant memory as its operand, without a load before it,
# if all lanes want the same one; from shared memory it cannot.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
coarse.confirm(by_maps.total.constant_load_requests // by_pixels.total.constant_load_requests)

# %% [markdown]
# Nobody wants to write such a kernel by hand for every layer. Rung 6 of the ladder is a Python function that
# *generates* one for a shape, as `tiled_for` did above, with everything that lessons 12 to 14 have to offer: several
# images to a block, a run of outputs to a thread, the pixels under it in registers while the mask slides along.

# %% [markdown]
# ## One layer, all kernels
#
# Now C1 by all of them, and by cuDNN, NVIDIA's library for networks. PyTorch called it in plain float32 (not in TF32,
# which drops 13 bits of each factor so that other, faster units can multiply), and let it try its ways first. The
# column *× cuDNN* says how many times as fast as the library a kernel is. The predicted time is made from a kernel's
# machine instructions and traffic, of its barriers and of how many warps take turns on a multiprocessor, with the rates
# and delays of the card, which were measured with other kernels; no time of this table went into it. Counts are for one
# image by itself, without a bias: operations (those on padding too), kB that must travel, operations for each of these
# bytes, load requests, sectors loaded and stored, and loads of a pixel from global memory.

# %% tags=["hide-input"]
# All kernels on C1.
short = ["basic", "tile", "for real", "in thought", "registers", "by hand", "generated"]
expected, vendor, rows = estimated("conv 1->6 k5 forward", card="H200"), c1.seconds["cuDNN"], []
taken = {"v05b_c1_layer": by_hand} | c1.seconds
for called, name in zip(short, sorted(NAMES | BY_HAND), strict=True):
    k, seconds, guess = on_c1[name], taken[name], expected.get(name)
    rows.append((
        called, guess and 1e6 * guess, 1e6 * seconds, vendor / seconds,
        k.flops / 1e6, k.travels / 1e3, k.intensity, k.requests, k.sectors, k.reuse,
    ))  # fmt: skip
heads = ["kernel", "predicted µs", "µs", "× cuDNN", "MFLOP", "kB", "FLOP/B", "requests", "sectors", "pixel loads"]
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
# - *Tile* asks for a fourteenth of them, and gains only 10 %. A multiply-add still needs two numbers; they come from
#   other memories now. (Its rung lets threads beyond the edge compute, too, and throws their sums away.)
# - *For real* and *in thought* differ most in what travels. Most of the time difference is the unroller's index
#   arithmetic. (For real has 4.5 operations a byte, and not 1.5 as above: these count padding, and also
#   the bytes of image and outputs.)
# - *Registers* needs one load from shared memory where *in thought* needs two, divides and pads less, and takes less
#   than half of the time.
# - *By hand* is the kernel of the last section: a pixel that is read serves six sums, and nothing is padded. Its twenty
#   lines take less than half of the library's time. (As a rung it takes a little longer than above.)
# - *Generated* loads each pixel once, and most of its multiply-adds find both numbers in registers.

# %% [markdown]
# ## Two gradients
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
# 150 threads on a whole card. A thread for each output is easy to write, makes 47 million threads, and meets lesson
# 13's queue:

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
# the same weight: of 28 lanes one goes first, and 27 wait. Warps of other images wait as well, since all of them
# compete for the same 150 numbers.

# %%
atomic = gpu.to_device(np.zeros_like(dw))
weights_by_atomics[(1, 7, 6), (32, 4, 1)](gpu.to_device(x), gpu.to_device(dy), atomic)
print("as lesson 08:", np.array_equal(gpu.to_host(atomic), dw))
atomics = gpu.simulate(weights_by_atomics, (1, 7, 6), (32, 4, 1), x, dy, np.zeros_like(dw))
print(f"additions: {dy.size * 25:,}, that wait: {atomics.total.atomic_serialised:,}")

# %% [markdown]
# The other price of atomics is lesson 13's, too: they add in the order of arrival, so the last bits differ from run to
# run. Two ways keep an order; both are rungs of the ladder `backward_weights`. A *tree*: a block for each weight, whose
# threads share the places and add up as in lesson 13. And *ordered parts*: a block keeps rows of a mask in registers
# while it walks over its share of the images, writes its sums to an array of its own, and a small second kernel adds
# these up, always in the same order.

# %% tags=["hide-input"]
queues = predict(
    "10,000 images on an H200: 150 threads, one for each weight, or 47 million threads with atomics. Which is faster?",
    ["atomics, 1,000 times or more", "atomics, about 30 times", "neither by much", "the 150 threads, about 30 times"],
    answer="neither by much",
    reveals=2,
)
queues

# %% tags=["hide-input", "hide-output"]
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
# <details class="reveal"><summary>150 queues</summary>
#
# 150 threads leave a card empty. 47 million threads fill it, and stand in queues for the same 150 numbers; they need
# nearly as long. A tree has 150 blocks and no queue, and takes a hundredth of the time. Sums that stay in registers
# fill the card as well, and take a thirtieth of that, with the same bits in every run.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
alone, crowd = dw_times.seconds["v01_basic"], queued.seconds["weights_by_atomics"]
queues.confirm("neither by much" if 0.8 < crowd / alone < 1.25 else f"a factor of {alone / crowd:.1f}")

# %% [markdown]
# And pooling? Its forward kernel is in [lesson 13](13_reductions_and_fusion.ipynb). Backward, a thread for each *pixel*
# asks whether it was its window's maximum, and takes the gradient if so. It collects, as above, and nothing has to
# be atomic.

# %% [markdown]
# ## When does a kernel of one's own pay?
#
# In a course at Illinois, teams of students compete with kernels for two such layers. Their teachers advise to unroll
# in thought and tile jointly. One may do as well or better, they say, by solving the general convolution directly, but
# previous teams have not succeeded.[^Hwu "Unrolling May Boost Your Performance"] Here are our rungs on five layers. One
# more way takes part that is neither direct nor a product: a Fourier transform, whose work does not grow with the
# mask.[^Hwu "Some Other Optimizations"] The first optional section below shows how it goes.

# %% tags=["hide-input"]
# Five layers.
layers = {
    "1->6 k5": "C1: 1→6, 5×5", "6->16 k5": "C3: 6→16, 5×5", "1->4 k7": "1→4, 7×7", "4->16 k7": "4→16, 7×7",
    "64->64 k3": "64→64, 3×3",
}  # fmt: skip
ways = {
    "v01_basic": "direct", "v05_register_tiled": "product", "v08_fft": "FFT", "v06_specialised": "generated",
    "cuDNN": "cuDNN", "cuDNN FFT tiling": "its FFT",
}  # fmt: skip
rows = []
for case, called in layers.items():
    one = measured(f"conv {case} forward", card="h200")
    times = (1e6 * one.seconds[way] if way in one.seconds else None for way in ways)
    rows.append((called, *times, one.algorithm))
table(
    rows, ["layer", *ways.values(), "its way"], align="lrrrrrrl",
    formats=dict.fromkeys(ways.values(), ",.0f"),
    caption="Microseconds for 10,000 images of 32 × 32, 14 × 14, 86 × 86 and 40 × 40 pixels and, in the last row, for "
    f"{one.size}; float32 without TF32, measured on an {one.card} ({one.date}). Direct: basic; product: in thought, "
    "with registers. FFT: ours, in tiles. cuDNN: as PyTorch calls it, and *its way*, judged by the names of the "
    "kernels that it launches; its FFT: when it is told to transform in tiles",
)  # fmt: skip

# %% [markdown]
# *Direct* and *product* both take any layer, and the product wins on all five, up to fifteenfold. That is what the
# teams found. But it sets the plainest direct kernel against the best product.
#
# *Generated* is a direct convolution again, with as much care, and everything about its layer is known when it is
# compiled. It beats the general product on all five layers. On the first four, small layers with few maps, it beats the
# vendor's library too, whichever way that goes, by a factor of two to nine. Our *FFT* comes close to it there, and
# would not mind a larger mask.
#
# The last row is the other side. With 64 maps in and out, a product has reuse enough. The library takes an implicit
# GEMM, years of work are in that kernel, and ours reaches 0.79 of its speed. It can do better still: PyTorch's search
# did not choose the tiled transform (*its FFT*); forced to it, cuDNN is faster on three of the five layers, and on this
# one twice as fast as our generated kernel. Large networks are made of such layers.

# %% [markdown]
# So is unrolling how frameworks do it? As PyTorch calls it, this one library wrote the matrix on none of these five
# layers. It unrolled in thought once, and took a Fourier transform four times. What other libraries do, and this one on
# other layers, we did not look at.
#
# For a layer with many maps, take the library. For a layer with few maps, whose shape you know and which you run ten
# thousand times a second, a generated kernel may be worth an afternoon. Measure before you begin.

# %% [markdown]
# ## Optional: by a Fourier transform
#
# <details><summary>Waves instead of windows</summary>
#
# A Fourier transform writes an image as a sum of *waves*, stripes of every width and direction that go smoothly from
# dark to light and back. How much of each wave is in it is its *spectrum*. Sliding a mask over the image becomes, in
# that form, a multiplication of each wave by one number. So transform image and mask, multiply, and transform back. A
# fast transform, the FFT, takes a number of steps that grows like $N^2 \log N$ for $N \times N$ pixels, and how large
# the mask is does not matter.
#
# In NumPy, `rfft2` is the transform of a real image. Half of its spectrum repeats the other half, so 32 × 17 waves are
# kept of 32 × 32. Without `conj`, which turns each wave's phase round, the mask would be turned by half a circle. Waves
# repeat, so the image is treated as if it went on at the opposite edge; outputs whose window does that are thrown away,
# and 28 × 28 are left.
#
# </details>

# %%
waves = np.fft.rfft2(x[0, 0]) * np.conj(np.fft.rfft2(MASKS[0, 0], s=(32, 32)))
by_waves = np.fft.irfft2(waves, s=(32, 32))[:28, :28]
print("map 0, rounded to whole numbers, is right:", np.array_equal(np.rint(by_waves), right[0, 0]))

# %% [markdown]
# <details><summary>From which mask on?</summary>
#
# Count multiplications. Direct, an output takes $K^2$ for each input map. By FFT, the transform of a map takes $2 N^2
# \log_2 N$, and each pair of maps $2 N^2$ products; the masks are transformed once for a whole batch. For one output
# and one input map of C1 that makes 17.9, to be compared with $K^2$: the FFT needs fewer multiplications from $K = 5$
# on.
#
# </details>

# %% tags=["hide-input"]
# Multiplications for an output and an input map.
def by_fft(C, H, K, M):
    N = 2 ** int(np.ceil(np.log2(H)))
    return ((C + M) * 2 * N**2 * np.log2(N) + C * M * 2 * N**2) / (C * M * (H - K + 1) ** 2)

C, H, _, M = LAYERS["C1"]
fewer = next(K for K in range(1, 32) if by_fft(C, H, K, M) < K**2)
print(f"C1 by FFT: {by_fft(C, H, 5, M):.1f} multiplications, direct 25; the FFT needs fewer from K = {fewer} on")

# %% [markdown]
# <details><summary>And in time?</summary>
#
# Multiplications are one thing, time another. On a processor the FFT pays against NumPy's direct way from masks of
# about 10 × 10 on for the large images; for the small ones between about 13 × 13 and 22 × 22, beyond which few outputs
# are left. Against lesson 09's compiled kernels it pays only beyond about 19 × 19 on the large images, and never on the
# small.
#
# </details>

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
# <details><summary>The same on a card</summary>
#
# On a card it also depends on where the waves are kept. If cuDNN's kernels hand seven spectra of C1 on through memory,
# 32 × 17 complex numbers of 8 bytes each, written and read again, then these are 60,928 bytes, where the layer needs
# 22,912. At full speed both together take 198 µs, about half of the library's time; we did not look into its kernels.
# The course's own FFT, `conv2d_fft_forward` in `course_lib.cuda`, transforms tiles of the image in registers, so that
# its spectra never go to memory. In the picture it is *FFT*; *direct* is the faster one of product and generated kernel
# (generated for masks up to 11 × 11), and cuDNN goes its own way. At 5 × 5 the generated kernel is the fastest. From 9
# × 9 on the FFT is, for images of both sizes, and at 3 × 3 as well, where the generated kernel takes longer than at
# 5 × 5.
#
# </details>

# %% tags=["hide-input"]
# On a card.
sweep("h200", {"FFT": ["FFT in tiles"], "direct": ["v05_register_tiled", "v06_specialised"], "cuDNN": ["cuDNN"]})

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
# is rounding: numbers are added up on the way in and cancel on the way out. Here are both with 64 input maps, in
# float32:
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
winograd_errors = {name: error / typical["direct"] for name, error in typical.items()}
print("typical error, in typical errors of the direct way:", *(
    f"about {error:.0f} ({name})" for name, error in winograd_errors.items() if name != "direct"
))  # fmt: skip

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
#   line with `h` needs `blockDim.y`; and four tiles lie below each other now: a grid of `(6, 4, 1)`.) Which count
#   moves, and why?
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
# - The lab allows to optimise for the given sizes, "with C++ templates". `tiled_for` and rung 6 are that in Python.
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
# of 16, about where the roofline has its corner (14 by the data sheet, 16 by measured rates). The matrix there and back
# is 10.6 MB an image, beside 13.2 MB for image and outputs: 0.8 times as much, where it is 6.8 times as much on C1. So
# at full speed the detour costs about as long again as the arithmetic. It still hurts, since a second kernel's time is
# added, but far less than on C1.
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
