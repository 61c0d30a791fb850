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
# # 09 · Exercises: LeNet-5
#
# You count what layers cost, give C3 its table, train the two numbers of S2 and read the output that measures
# distances. The first is done in five minutes, the next three take ten to twenty each. Then comes a **project** for an
# evening, 09.5 to 09.8: the forward pass of a small LeNet that has learned to read, and what each of its maps is worth.
#
# The sheet belongs to lesson 09, [LeNet-5](../notebooks/09_lenet5.ipynb). Write into the cells where it says so; the
# cell below each runs the check. Sources are named by their lecturer: Hwu is ECE 508 lecture 10 by Prof. Hwu and
# colleagues.

# %%
import numpy as np

from course_lib import data
from course_lib.checks import check
from course_lib.data.small_lenet import small_lenet

# %% [markdown]
# ## 09.1 · What a layer with a table costs
#
# *2 points, warm-up. Trains: parameters and multiply-adds. (Hwu, "Convolution Layers in LeNet-5")*
#
# A convolution has a connection table `table (M, C)`: `table[m, c]` is `True` where output map `m` sees input map `c`.
# Each connection has a mask of `K` × `K` weights, each output map one bias. The input maps are `H` rows by `W` columns;
# stride 1, no padding. Return the pair (parameters, multiply-adds) as whole numbers. A multiply-add is a product of a
# pixel and a weight that is added to a sum; adding the bias is none.
#
# C3 of LeNet-5, with 60 connections, `K = 5`, `H = W = 14`: (1516, 150000). By hand: 4 connections to 2 output maps,
# masks of 2 × 2 on 3 × 5 pixels: $4\cdot4 + 2 = 18$ parameters, and $4\cdot4$ products at each of $2\cdot4$ places.
#
# <details><summary>Hint 1</summary>
#
# `True` counts as 1 in a sum. The number of output maps is an axis of the table.
#
# </details>
# <details><summary>Hint 2</summary>
#
# A mask of `K` rows has `H - K + 1` places from top to bottom.
#
# </details>
# <details><summary>Hint 3</summary>
#
# With $n$ connections and $M$ output maps: $nK^2 + M$ parameters, $nK^2 (H-K+1)(W-K+1)$ multiply-adds.
# `int(table.sum())` makes a whole number of the sum.
#
# </details>

# %% exercise="09.1"
def conv_cost(table, K, H, W):
    """Return (parameters, multiply-adds) of a convolution with a table (M, C) of bool and K x K masks on (H, W)."""
    ### BEGIN SOLUTION
    weights = int(table.sum()) * K * K
    places = (H - K + 1) * (W - K + 1)
    return weights + table.shape[0], weights * places
    ### END SOLUTION

# %% check="09.1"
check("09.1", conv_cost)

# %% [markdown]
# ## 09.2 · C3 with its masks in a row
#
# *3 points, core. Trains: a convolution with a connection table. (Hwu, "Convolution Layers in LeNet-5")*
#
# C3 stores only the masks that it has. `masks (n, K, K)` holds one for each `True` of `table (M, C)`, in the order in
# which you read the table: row 0 from left to right, then row 1, and so on. Compute the layer for one image `x`
# (C, H, W) with the biases `b (M,)`; stride 1, no padding, no activation. Return `y (M, H - K + 1, W - K + 1)`. The
# masks lie on the image as they are, as in lesson 07. A map without any connection is its bias everywhere.
#
# $$y[m, h, v] = b[m] + \sum_{c:\ \text{table}[m, c]}\ \sum_{p, q} x[c, h + p, v + q]\ \text{mask}_{m, c}[p, q]$$
#
# You may use the library, with `from course_lib import reference as ops` in your cell, or write the loops yourself.
#
# <details><summary>Hint 1</summary>
#
# `zip(np.argwhere(table), masks)` goes through the connections in the right order, each with its mask.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Start with an output that holds each map's bias everywhere. Each connection adds to one map of it. For a mask of
# `K` × `K`, that is a sum of `K * K` shifted pieces of `x[c]`, each times one weight.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `y[m] += mask[p, q] * x[c, p : p + y.shape[1], q : q + y.shape[2]]` is the line within all the loops. Or: make
# `w = np.zeros((M, C, K, K))`, fill it with `w[table] = masks`, and call `ops.conv2d_forward`.
#
# </details>

# %% exercise="09.2"
def partial_conv(x, masks, table, b):
    """Return y (M, H - K + 1, W - K + 1) of x (C, H, W), masks (n, K, K) for the n True of table (M, C), b (M,)."""
    ### BEGIN SOLUTION
    K = masks.shape[-1]
    y = np.zeros((len(table), x.shape[1] - K + 1, x.shape[2] - K + 1)) + b[:, None, None]
    for i, (m, c) in enumerate(np.argwhere(table)):
        for p, q in np.ndindex(K, K):
            y[m] += masks[i, p, q] * x[c, p : p + y.shape[1], q : q + y.shape[2]]
    return y
    ### END SOLUTION

# %% check="09.2"
check("09.2", partial_conv)

# %% [markdown]
# ## 09.3 · Training the two numbers of S2
#
# *3 points, stretch. Trains: the gradients of subsampling with a coefficient. (Hwu, "Subsampling Layers in LeNet-5")*
#
# S2 adds the four pixels of each 2 × 2 window, multiplies the sum by its map's weight and adds its map's bias:
#
# $$y[b, c, h, v] = w[c] \sum_{p, q \in \{0, 1\}} x[b, c, 2h + p, 2v + q] + \text{bias}[c]$$
#
# Given `dy (B, C, H/2, W/2)`, the input `x (B, C, H, W)` with even `H` and `W`, and `w (C,)`, return the three
# gradients `(dx, dw, db)`, in the shapes of `x`, `w` and the bias. By hand, one window with the pixels 1, 2, 4, 8,
# `w = 5`, `dy = 3`: every `dx` is 15, `dw` is $3 \cdot 15 = 45$, `db` is 3. Do not use the library's own subsampling.
#
# <details><summary>Hint 1</summary>
#
# Ask of each number of the layer: which outputs does it touch, and by how much does each of them change with it? A
# pixel touches one output. A weight touches every output of its map, in all images.
#
# </details>
# <details><summary>Hint 2</summary>
#
# The sums of all windows: `x[:, :, ::2, ::2]` are the pixels at the upper left, and three more such arrays are the
# others. `dw` is a sum over the axes 0, 2 and 3.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `x.reshape(B, C, H // 2, 2, W // 2, 2).sum(axis=(3, 5))` are the sums too. For `dx`, `np.repeat` along axis 2 and then
# along axis 3 copies each number of `dy * w[:, None, None]` to its window.
#
# </details>

# %% exercise="09.3"
def subsample_gradients(dy, x, w):
    """Return (dx, dw, db) for dy (B, C, H/2, W/2), x (B, C, H, W) and w (C,)."""
    ### BEGIN SOLUTION
    B, C, H, W = x.shape
    sums = x.reshape(B, C, H // 2, 2, W // 2, 2).sum(axis=(3, 5))
    dx = np.repeat(np.repeat(dy * w[:, None, None], 2, axis=2), 2, axis=3)
    return dx, (dy * sums).sum(axis=(0, 2, 3)), dy.sum(axis=(0, 2, 3))
    ### END SOLUTION

# %% check="09.3"
check("09.3", subsample_gradients)

# %% [markdown]
# ## 09.4 · Reading by distance, with a way to say no
#
# *2 points, core. Trains: the radial-basis output. (Hwu, "OUTPUT Layer in LeNet-5")*
#
# The classic output is the squared distance of F6 to each prototype, and the smallest wins. Such an output can refuse:
# if even the nearest prototype is far, the image is probably no digit. Given `f6 (B, D)`, `prototypes (N, D)` and a
# number `limit`, return an array of B whole numbers: the row of the nearest prototype, or -1 where its **squared**
# distance is larger than the limit. Exactly the limit is not larger. Of equally near prototypes take the first.
#
# Prototypes (1, 1), (-1, 1), (-1, -1) and the limit 1: (0.5, 1) is 0.25 away from the first, so 0. (-1, 0) is exactly 1
# away from the second and from the third, so 1. (9, 9) is 128 away from the nearest, so -1. The numbers may be any, not
# only -1 and 1. Do not use the library's own distances.
#
# <details><summary>Hint 1</summary>
#
# First make all distances, (B, N), then look for the smallest in each row.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `f6[:, None, :] - prototypes` has the shape (B, N, D). `argmin` returns the first of equal ones.
#
# </details>
# <details><summary>Hint 3</summary>
#
# With the distances `y`: `np.where(y.min(axis=1) > limit, -1, ...)`.
#
# </details>

# %% exercise="09.4"
def read_by_distance(f6, prototypes, limit):
    """Return (B,) whole numbers: the nearest of prototypes (N, D) to each row of f6 (B, D), -1 beyond the limit."""
    ### BEGIN SOLUTION
    y = ((f6[:, None, :] - prototypes) ** 2).sum(axis=2)
    return np.where(y.min(axis=1) > limit, -1, y.argmin(axis=1))
    ### END SOLUTION

# %% check="09.4"
check("09.4", read_by_distance)

# %% [markdown]
# # The project: a small LeNet
#
# `small_lenet()` returns the weights of a network that has learned: C1 with four maps, C3 with eight, each followed by
# ReLU and max pooling, and a dense layer from 128 numbers to ten scores. Every weight is a whole number of 64ths. It
# takes digits of 28 × 28 without padding. You plan it (09.5), run it (09.6), and find out which of its maps it needs
# (09.7, 09.8).

# %%
w1, b1, w3, b3, w5, b5 = small_lenet()
digits = data.load_digits(seed=0)
test_images, test_labels = digits.images("test"), digits.y_test
print(w1.shape, w3.shape, w5.shape, test_images.shape, test_labels.shape)

# %% [markdown]
# ## 09.5 · Project: the plan of a network
#
# *2 points, project. Trains: sizes, parameters and work, layer after layer. (Hwu, "Convolution Layers in LeNet-5")*
#
# `layers` is a list of tuples: `("conv", M, K)` is a convolution to `M` maps with `K` × `K` masks, stride 1, no
# padding, all connections, one bias for each map. `("pool", F)` is max pooling in windows of `F` × `F` side by side;
# what is left over at the end is not seen. `("dense", N)` takes all numbers that arrive and gives `N`, with `N`
# biases. `shape` is the image's (C, H, W).
#
# Return a list with one entry for each layer: `((C, H, W), parameters, multiply_adds)`, the shape being the one
# *after* the layer. After a dense layer it is `(N, 1, 1)`. Pooling has no parameters and no multiply-adds. All are
# whole numbers. For the small LeNet the list begins `[((4, 24, 24), 104, 57600), ((4, 12, 12), 0, 0), ...`
#
# <details><summary>Hint 1</summary>
#
# Keep `C, H, W` as three variables that always say what arrives; let each kind of layer change them.
#
# </details>
# <details><summary>Hint 2</summary>
#
# For a convolution, count with the `C` that arrives and with the `H, W` that leave. `kind, *numbers = layer` takes a
# tuple apart.
#
# </details>
# <details><summary>Hint 3</summary>
#
# Convolution: `M * C * K * K` weights, each used at all places that leave; `H - K + 1` rows. Pooling: `H // F` rows.
# Dense: `N * C * H * W` weights, each used once; then `C, H, W = N, 1, 1`.
#
# </details>

# %% exercise="09.5"
def plan(layers, shape):
    """Return [((C, H, W) after it, parameters, multiply-adds), ...], one for each layer, for an image (C, H, W)."""
    ### BEGIN SOLUTION
    (C, H, W), rows = shape, []
    for kind, n, *K in layers:
        parameters = multiply_adds = 0
        if kind == "pool":
            H, W = H // n, W // n
        else:
            weights = n * C * (K[0] ** 2 if kind == "conv" else H * W)
            C, H, W = (n, H - K[0] + 1, W - K[0] + 1) if kind == "conv" else (n, 1, 1)
            parameters, multiply_adds = weights + n, weights * H * W
        rows.append(((C, H, W), parameters, multiply_adds))
    return rows
    ### END SOLUTION

# %% check="09.5"
check("09.5", plan)

# %% [markdown]
# ## 09.6 · Project: two stages forward
#
# *3 points, project. Trains: the forward pass of a convolutional network. (Hwu, "Convolution Layers in LeNet-5")*
#
# Run `images (B, H, W)` through C1, S2, C3 and S4, for masks `w1 (M1, 1, K1, K1)` and `w3 (M3, M1, K3, K3)` with
# biases `b1 (M1,)` and `b3 (M3,)`. Each convolution (stride 1, no padding, masks as they are) is followed by ReLU and
# then by max pooling in windows of 2 × 2 side by side; a last row or column without a partner is dropped. Return the
# output of S4, `(B, M3, ...)`.
#
# This time write it in NumPy alone, without the library's convolution and pooling. Loops over images and pixels in
# Python are allowed, but loops over the mask's positions alone are a hundred times faster, and 09.8 asks for 1,000
# images. Of the small LeNet and one digit comes `(1, 8, 4, 4)`.
#
# <details><summary>Hint 1</summary>
#
# Both stages do the same, with other weights. Write a function for one stage within the cell, for `x (B, C, H, W)`, and
# call it twice. `images[:, None]` gives the images their one map.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Start with `y` full of biases. For each `p, q`, `x[:, :, p : p + H_out, q : q + W_out]` is what the mask's position
# (p, q) sees, (B, C, H_out, W_out), and `w[:, :, p, q]` is (M, C). `np.einsum("bchv,mc->bmhv", seen, w[:, :, p, q])`
# sums over the maps.
#
# </details>
# <details><summary>Hint 3</summary>
#
# ReLU is `np.maximum(y, 0)`. Cut off a row without a partner with `y[:, :, : H_out // 2 * 2, : W_out // 2 * 2]`; then
# the largest of the four arrays `y[:, :, ::2, ::2]`, `y[:, :, 1::2, ::2]`, `y[:, :, ::2, 1::2]`, `y[:, :, 1::2, 1::2]`
# is max pooling.
#
# </details>

# %% exercise="09.6"
def feature_maps(images, w1, b1, w3, b3):
    """Return S4's maps (B, M3, rows, columns) of images (B, H, W): convolution, ReLU, 2 x 2 max pooling, twice."""
    ### BEGIN SOLUTION
    def stage(x, w, b):
        K = w.shape[-1]
        rows, columns = x.shape[2] - K + 1, x.shape[3] - K + 1
        y = np.zeros((len(x), len(w), rows, columns)) + b[:, None, None]
        for p, q in np.ndindex(K, K):
            y += np.einsum("bchv,mc->bmhv", x[:, :, p : p + rows, q : q + columns], w[:, :, p, q])
        y = np.maximum(y, 0)[:, :, : rows // 2 * 2, : columns // 2 * 2]
        return y.reshape(*y.shape[:2], rows // 2, 2, columns // 2, 2).max(axis=(3, 5))

    return stage(stage(images[:, None], w1, b1), w3, b3)
    ### END SOLUTION

# %% check="09.6"
check("09.6", feature_maps)

# %% [markdown]
# ## 09.7 · Project: what is each map worth?
#
# *3 points, project. Trains: counting mistakes, with and without a part. (Hwu, "Convolution Layers in LeNet-5")*
#
# `maps (B, C, H, W)` is the output of S4 for B images with the labels `labels (B,)`. The last layer flattens each
# image's maps, map after map and row after row, and computes N scores with `w5 (C*H*W, N)` and `b5 (N,)`; the answer
# is the place of the largest score. An **ablation** switches one part off: here, all numbers of one map are set to 0.
#
# Return `(mistakes, without)`: how many of the B images the network reads wrongly, a whole number, and an array of C
# whole numbers, `without[c]` being how many it reads wrongly when map c alone is off. Leave `maps` unchanged.
#
# By hand: two maps of one pixel, `w5` the identity, `b5 = (0, 0.5)`, labels 0, 0, 0, 1, and the maps (4, 1), (3, 1),
# (1, 3), (3, 3). The third is read as 1: one mistake. With map 0 off it is three, with map 1 off it is one.
#
# <details><summary>Hint 1</summary>
#
# Write a small function within the cell that counts the mistakes for any maps, and call it C + 1 times.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `maps.reshape(len(maps), -1)` flattens each image in the right order. `maps.copy()` is an array of its own.
#
# </details>
# <details><summary>Hint 3</summary>
#
# For map c: `off = maps.copy()`, then `off[:, c] = 0`. Mistakes: `int((scores.argmax(axis=1) != labels).sum())`.
#
# </details>

# %% exercise="09.7"
def ablation(maps, w5, b5, labels):
    """Return (mistakes, without (C,)) for maps (B, C, H, W), w5 (C*H*W, N), b5 (N,) and labels (B,)."""
    ### BEGIN SOLUTION
    def mistakes(m):
        return int(((m.reshape(len(m), -1) @ w5 + b5).argmax(axis=1) != labels).sum())

    without = []
    for c in range(maps.shape[1]):
        off = maps.copy()
        off[:, c] = 0
        without.append(mistakes(off))
    return mistakes(maps), np.array(without)
    ### END SOLUTION

# %% check="09.7"
check("09.7", ablation)

# %% [markdown]
# ## 09.8 · Project: read your own counts
#
# *2 points, project. Trains: what an ablation says. (Hwu, "Convolution Layers in LeNet-5")*
#
# Run your functions on all 1,000 test digits, `maps = feature_maps(test_images, w1, b1, w3, b3)` and then
# `ablation(maps, w5, b5, test_labels)`. Then answer in about ten sentences, with your numbers:
#
# 1. Which map could you leave out for nothing? How many parameters and multiply-adds would your plan save?
# 2. Which map is missed most? Does that say that it is a detector of one digit? What would you measure to find out?
# 3. Switch off the two maps 1 and 3 together. Compare with what each costs alone: why do the costs not add up?
# 4. Repeat the ablation with the first 100 test digits only. What would you have concluded about maps 1 and 7?

# %% [markdown] answer="09.8"
# <!-- BEGIN SOLUTION -->
# 1. The network misreads 22 of 1,000 digits, and without map 0 also 22: its ReLU is nearly always closed. C3's share
#    of that map is $4\cdot25 + 1 = 101$ parameters and $100 \cdot 64 = 6{,}400$ multiply-adds, and in the dense layer
#    another 160 of both: 261 of 2,202 parameters, 6,560 of 110,080 multiply-adds (6 %).
# 2. Map 3: 79 mistakes. The count does not say which digits they are. One would count the additional mistakes for each
#    label, or look at the patches that excite the map most: it may serve several digits.
# 3. Without 1 there are 40 mistakes, 18 more; without 3 there are 79, 57 more; without both 153, 131 more and not 75.
#    Each can in part stand in for the other; an argmax flips only when the sum of what is missing is large enough. The
#    network was also never trained without them: trained anew it could do better, so the count is no measure of need.
# 4. Of 100 digits, 1 is misread, and without map 1 or without map 7 also 1. One would have called both superfluous,
#    and on 1,000 digits they cost 18 and 26 mistakes. A handful of mistakes is too few to rank maps by; and whoever
#    chooses a map by test digits has used them up as a test (lesson 06).
# <!-- END SOLUTION -->
