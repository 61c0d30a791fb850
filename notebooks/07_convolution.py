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
# # 07 · Convolution: a dense layer that shares its weights
#
# It is tempting to think of convolution as a new kind of layer, with mathematics of its own. On this page you build one
# by hand, and then find it inside the dense layer that you know: most weights are struck out, and the few that remain
# are the same for every output. What those two restrictions buy is the surprise.
#
# **K** is Prof. Dey's lecture 56 at IIT Kharagpur with its slides, **O** is Prof. Owens' EEC 289Q lecture 11 at UC
# Davis, **H** is ECE 508 lecture 10 by Prof. Hwu and colleagues at Illinois. A note such as (K, "Convolution Layer")
# names the lecture and the slide that a fact comes from; elsewhere K and H are sizes. The page takes about 45 minutes,
# the optional parts 8 more.

# %% [markdown]
# ## You will be able to
#
# - compute a convolution by hand, with one map and with several, and write it as loops and without loops;
# - say the shape of the output for any mask, stride and padding, and find the pixels that are never looked at;
# - draw a convolution as the matrix of a dense layer, with its zeros and its repeated weights;
# - explain what happens in a dense layer, and in a convolution, when the object in an image moves.

# %% [markdown]
# ## Why not a dense layer
#
# Take an image of 250 × 250 pixels. In a dense layer every node has one weight per pixel. **Predict:** with as many
# nodes as pixels, how many weights has the layer: a million, a hundred million, or more?

# %%
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from course_lib import data, figures, nn
from course_lib import reference as ops
from course_lib.checks import check_close

pixels = 250 * 250
print(f"{pixels:,} weights per node, {pixels**2:,} in all, {4 * pixels**2 / 1e9:.1f} GB in float32")

# %% [markdown]
# More: about 3.9 billion (H, "Fully Connected Layers Not Always Useful"). And each is a number to be learned, by a
# layer that does not even know which pixels are neighbours: it sees a vector. Three things can be done differently
# (H, "Differences Between CNN and Traditional Network"). Keep the image an image. Let an output look only at a small
# neighbourhood: the layer is **local**. Use the same weights everywhere: they are **shared**.

# %% [markdown]
# ## The smallest example, by hand
#
# A signal of four numbers, and two weights. Lay the weights on the first two numbers, multiply what lies on top of each
# other, add. Move one step to the right, and again:
#
# $$x = (1, 4, 2, 2), \quad w = (-1, 1): \qquad -1 + 4 = 3, \quad -4 + 2 = -2, \quad -2 + 2 = 0.$$
#
# The weights are called the **mask** (also kernel or filter). This one measures the step from one number to the next.

# %%
x, w = np.array([1.0, 4, 2, 2]), np.array([-1.0, 1])
y = [sum(x[place + p] * w[p] for p in range(2)) for place in range(3)]
print([float(v) for v in y])

# %% [markdown]
# That is a **convolution**. Mathematicians turn the mask round first, and call what we do a cross-correlation.
# Networks learn their masks, so it makes no difference, and every deep-learning library leaves the turn out.
#
# On an image the mask slides in two directions. Take 4 × 4 pixels $I_1 \dots I_{16}$, numbered row by row, a 3 × 3 mask
# $A_1 \dots A_9$ (O, "Convolutional Neural Networks"), and zeros around the image, so that every pixel is the middle of
# a window. Write output 6, the one around pixel 6, as a formula in $A$ and $I$. The cell stores no values but the
# *numbers* of the pixels, 0 for the zeros around; `sliding_window_view` lists all windows.

# %%
numbers = np.pad(np.arange(1, 17).reshape(4, 4), 1)
windows = sliding_window_view(numbers, (3, 3)).reshape(16, 9)

def terms(output):
    return " + ".join(f"A{a} I{i}" for a, i in enumerate(windows[output - 1], start=1) if i > 0)

print("O6 =", terms(6))
print("O1 =", terms(1))

# %% [markdown]
# O6 is the slide's formula. O1 has four products, the other five meet zeros. Now with numbers. The image comes from (H,
# "A Small Convolution Layer Example, Generating dE/dW"); the mask subtracts what is right from what is left, so it
# answers strongly at upright edges:
#
# $$\begin{bmatrix} 0&2&1&0 \\ 0&3&2&1 \\ 1&1&0&2 \\ 2&1&0&3 \end{bmatrix} \qquad
# \begin{bmatrix} 1&0&-1 \\ 2&0&-2 \\ 1&0&-1 \end{bmatrix}$$
#
# Work out output 6 on paper. (`pad=1` puts the zeros around. The library wants four axes, as the next section
# explains; `[None, None]` adds the first two.)

# %%
image = np.array([[0.0, 2, 1, 0], [0, 3, 2, 1], [1, 1, 0, 2], [2, 1, 0, 3]])
edge = np.array([[1.0, 0, -1], [2, 0, -2], [1, 0, -1]])
y, _ = ops.conv2d_forward(image[None, None], edge[None, None], pad=1)
print(f"output 6: {y[0, 0, 1, 1]:g}")

# %% [markdown]
# That is $(0 \cdot 1 + 0 \cdot 2 + 1 \cdot 1) - (1 \cdot 1 + 2 \cdot 2 + 0 \cdot 1)$, the left column less the right.
#
# ## Several maps
#
# A colour image has three numbers per pixel, red, green and blue. Each of the three images is a **map** or channel,
# and each has its own mask. The products are added over all maps, so that three maps go in and *one* comes out (K,
# "Convolution Layer"). Here are three maps of 3 × 3 and three masks of 2 × 2, the sizes of (H, "Analysis of
# Small Example"). By hand, for the upper left output:
#
# $$(1{\cdot}1 + 2{\cdot}0 + 0{\cdot}0 + 1{\cdot}1) + (1{\cdot}0 + 0{\cdot}1 + 2{\cdot}1 + 1{\cdot}0) +
# (0{\cdot}2 + 1{\cdot}1 + 1{\cdot}0 + 0{\cdot}(-1)) = 2 + 2 + 1 = 5$$

# %%
x3 = np.array([[[1.0, 2, 0], [0, 1, 3], [2, 1, 0]],
               [[1.0, 0, 2], [2, 1, 0], [0, 1, 1]],
               [[0.0, 1, 1], [1, 0, 2], [3, 0, 1]]])
w3 = np.array([[[1.0, 0], [0, 1]], [[0, 1], [1, 0]], [[2, 1], [0, -1]]])
y3, _ = ops.conv2d_forward(x3[None], w3[None])
assert y3[0, 0, 0, 0] == 2 + 2 + 1
print(y3[0, 0])

# %% [markdown]
# Step through all four outputs, map by map. Before each step, say the next sum. Watch two things: which numbers of `w`
# change from one place to the next (none), and which parts of `x` are used twice (the windows overlap).

# %%
figures.convolution.slide_stepper(x3, w3)

# %% [markdown]
# For $M$ output maps there are $M$ such sets of masks. $B$ images go through together. With $K_h \times K_w$ masks and
# a step of $S$ pixels, the **stride**, output map $m$ of image $n$ has at row $h$ and column $v$ (the weights are
# called $w$)
#
# $$y_{n,m,h,v} = b_m + \sum_{c,\,p,\,q} x_{n,\,c,\,hS+p,\,vS+q}\; w_{m,c,p,q}$$
#
# where $c$ counts the input maps and $p, q$ the rows and columns of the mask, all from 0.
#
# | | shape |
# |---|---|
# | $x$ | $(B, C, H, W)$ |
# | $w$ | $(M, C, K_h, K_w)$ |
# | bias $b$ | $(M,)$, one per output map |
# | $y$ | $(B, M, H_{out}, W_{out})$ |
#
# $H$ and $W$ appear only in $x$ and $y$. So one set of weights serves images of any size (H, "Convolution Naturally
# Supports Varying Input Sizes").
#
# ## The loop version
#
# Seven loops, in the lecture's order (H, "Sequential Code: Forward Convolutional Layer"): four that choose an output
# value, three that add its products. The bias is left out here, as there.

# %%
def conv_loops(x, w, stride=1):
    (B, C, H, W), (M, _, K_h, K_w) = x.shape, w.shape
    H_out, W_out = 1 + (H - K_h) // stride, 1 + (W - K_w) // stride
    y = np.zeros((B, M, H_out, W_out))
    for n in range(B):                              # each image
        for m in range(M):                          # each output map
            for h in range(H_out):
                for v in range(W_out):              # each output value
                    for c in range(C):              # add over the input maps
                        for p in range(K_h):
                            for q in range(K_w):    # and over the mask
                                y[n, m, h, v] += x[n, c, h * stride + p, v * stride + q] * w[m, c, p, q]
    return y

# %% [markdown]
# ## Without loops
#
# `sliding_window_view` makes all windows, of shape $(B, C, H_{out}, W_{out}, K_h, K_w)$, and `[:, :, ::S, ::S]` keeps
# every $S$-th. Then `einsum` reads like the formula: name the axes of both arrays by letters, and every letter that is
# missing after the arrow is summed over, here $c$, $p$ and $q$.

# %%
def conv_windows(x, w, stride=1):
    windows = sliding_window_view(x, w.shape[2:], axis=(2, 3))[:, :, ::stride, ::stride]
    return np.einsum("nchvpq,mcpq->nmhv", windows, w)

# %% [markdown]
# The library has [loops](../course_lib/reference/conv2d_loops.py), [windows](../course_lib/reference/conv2d_windows.py)
# and, as its fast default, a [matrix product](../course_lib/reference/conv2d.py), the subject of lesson 08. All must
# agree, on sizes that are all different so that no swapped axis can hide.

# %%
rng = np.random.default_rng(0)
x, w = rng.standard_normal((2, 3, 9, 8)), rng.standard_normal((4, 3, 5, 2))
for stride in (1, 2, 3):
    y, _ = ops.conv2d_forward(x, w, stride=stride)
    check_close(conv_loops(x, w, stride), y, rtol=1e-10, atol=1e-12)
    check_close(conv_windows(x, w, stride), y, rtol=1e-10, atol=1e-12)
    print("stride", stride, " y", y.shape)

# %% [markdown]
# ## How many places: stride and padding
#
# Without help the image shrinks: a mask of 5 fits only $28 - 5 + 1 = 24$ times into 28. **Padding** puts $P$ zeros on
# each side. LeNet-5, the network of lesson 09, pads digits of 28 × 28 to 32 × 32, so that the middle of a 5 × 5 mask
# can lie on every stroke (H, "Inputs Inflated to Provide Padding"). The last window must still fit:
# $(H_{out} - 1)\,S + K \le H + 2P$. So
#
# $$H_{out} = 1 + \left\lfloor \frac{H - K + 2P}{S} \right\rfloor$$
#
# (K, "Convolution Layer: Spatial Transformations", where $K$ is called F and nothing is rounded). $\lfloor\;\rfloor$ is
# the **floor**, rounding down. Compute four sizes before you run the cell: $(H, K, S, P)$ = (28, 5, 1, 0), (28, 5, 1,
# 2), (28, 4, 2, 1) and (8, 3, 2, 0).

# %%
for H, K, S, P in ((28, 5, 1, 0), (28, 5, 1, 2), (28, 4, 2, 1), (8, 3, 2, 0)):
    print(f"H {H:2}  K {K}  S {S}  P {P}:  H_out = {ops.output_size(H, K, stride=S, pad=P)}")

# %% [markdown]
# The last is $1 + \lfloor 2.5 \rfloor = 3$: one pixel is left over. What becomes of it? In the picture every number
# says how many windows see that pixel; a cross means none does. In JupyterLab, move the sliders (in the call: from, to,
# step, start) and find a setting with stride 3 that sees every pixel, one in which only padding is missed, and one with
# gaps between the windows.

# %%
figures.explore(figures.convolution.coverage, title="Which pixels does a window see?",
                size=(5, 12, 1, 10), mask=(1, 5, 1, 3), stride=(1, 4, 1, 3), pad=(0, 2, 1, 0))

# %% [markdown]
# <details><summary>Three settings</summary>
#
# Size 8: mask 5 with stride 3; mask 3 with stride 2 and pad 1; mask 2 with stride 3.
#
# </details>
#
# With mask 3, stride 1 and pad 0 a corner pixel is seen once, one in the middle nine times. With pad 1 the corner is
# seen four times: padding also gives the edge more say.

# %% [markdown]
# ## The same layer as a matrix product
#
# A convolution multiplies by constants and adds. So it is linear, and every linear function from 16 numbers to 4 is a
# matrix. To find it, feed in images with a single 1: what comes out for a 1 at pixel $k$ is column $k$.
# `np.eye(16)` holds these 16 images, one per row.

# %%
units = np.eye(16).reshape(16, 1, 4, 4)
T = ops.conv2d_forward(units, edge[None, None])[0].reshape(16, 4).T
y, _ = ops.conv2d_forward(image[None, None], edge[None, None])
check_close(T @ image.ravel(), y.ravel(), name="T x")
print("T", T.shape, " T x =", T @ image.ravel())

# %% [markdown]
# `edge` has zeros and equal weights of its own. Take any nine weights $A_1 \dots A_9$ instead. **Predict:** how many of
# the 64 cells hold a weight, and how many different weights are there? (Without padding, four of the outputs above are
# left: 6, 7, 10 and 11.)

# %%
named = figures.convolution_matrix.as_matrix((3, 3), (4, 4))
print("cells", named.size, " with a weight", np.count_nonzero(named), " different weights", named.max())
figures.show(
    figures.convolution_matrix.matrix_of_weights(named, ["O6", "O7", "O10", "O11"]),
    alt=f"A matrix {named.shape}: each row holds A1 to A9 once, in three runs of three, and "
    f"{np.sum(named[0] == 0)} zeros; each row is the one above, moved to the right",
    caption="Read along a row: one window. Follow one name from row to row: one weight, used four times.")

# %% [markdown]
# 36 cells, 9 weights. The first row is O6, term by term. Now the belief from the top of the page: **is convolution a
# new kind of layer?** Give `T` to the dense layer of lesson 02. Its weights are (inputs, outputs), so `T.T`, and its
# input is the image as a row of 16 numbers.

# %%
dense, _ = ops.dense_forward(image.reshape(1, 16), T.T)
check_close(dense, y.reshape(1, 4), name="the dense layer")
print("dense layer ", dense[0])
print("convolution ", y.ravel())

# %% [markdown]
# So it is not new. It is a dense layer under two rules: weights between far pixels are 0 and stay 0 (local), and the
# nine that remain in each row are the same nine (shared). Training keeps them the same: all copies of a weight take one
# common step, along the sum of their gradients (lesson 08). On a larger image, with padding, the pattern shows.

# %%
large = figures.convolution_matrix.as_matrix((3, 3), (8, 8), pad=1)
print(f"{np.mean(large == 0):.0%} of {large.size:,} cells are 0, the others hold {large.max()} weights")
figures.show(
    figures.convolution_matrix.bands(large, "3 x 3 mask, 8 x 8 image, T"),
    alt=f"A matrix {large.shape}, {np.mean(large == 0):.0%} white; "
    "nine weights repeat along nine slanting lines",
    caption="Three bands, one per row of the mask; in each, three lines side by side, one per weight. "
    "A gap in a line is a place where the mask hangs over the edge.")

# %% [markdown]
# Back to the 250 × 250 image, with a 5 × 5 mask and padding 2, so that there is one output per pixel. How many cells
# of the matrix hold a weight? A convolution of ones with ones counts them: each output is the number of pixels that
# its window really covers.

# %%
covered, _ = ops.conv2d_forward(np.ones((1, 1, 250, 250)), np.ones((1, 1, 5, 5)), pad=2)
print(f"dense             {pixels**2:13,} weights")
print(f"local             {int(covered.sum()):13,} weights, {covered.sum() / pixels**2:.2%} of them")
print(f"shared            {(2 * 250 - 1) ** 2:13,} weights")
print(f"local and shared  {5 * 5:13,} weights")

# %% [markdown]
# From 3.9 billion to 25, and it takes both rules. Local alone leaves 1.5 million weights. Shared alone means one mask
# so large that it covers every pixel from every place, 499 × 499: a quarter of a million.

# %% [markdown]
# ## What sharing buys besides: the object moves
#
# Take a digit, and the same digit three pixels further right. Each weight of a dense layer now meets another pixel. And
# the convolution? **Predict** its output for the moved digit: (a) the same numbers, (b) the same numbers three columns
# further right, (c) other numbers. (`~` means not. `np.roll` moves columns; those that leave on the right come in on
# the left, so the cell keeps the digits whose last three columns are empty.)

# %%
digits = data.load_digits()
test = digits.images("test")
room = ~test[:, :, 25:].any(axis=(1, 2))  # digits with three empty columns on the right
test, labels = test[room], digits.y_test[room]

def move(images, shift):
    return np.roll(images, shift, axis=-1)  # the columns that leave are empty

digit, moved = test[0], move(test[0], 3)
maps = [ops.conv2d_forward(v[None, None], edge[None, None], pad=1)[0][0, 0] for v in (digit, moved)]
print(len(test), "of 1,000 test digits have room to move")

# %% [markdown]
# It is (b). **Move the input, and the output moves along**: the layer is **equivariant** to shifts. Sharing is the
# reason: the same numbers meet the same mask, at another place. Two limits: what moves over the border is lost, and
# with stride 2 only shifts by 2, 4, ... pixels give a shifted map.

# %%
check_close(maps[1][:, 3:], maps[0][:, :-3], name="the map of the moved digit")
figures.show(
    figures.convolution.moved_maps(digit, moved, *maps, 3),
    alt="A digit and its map of upright edges; below, both moved by three pixels and otherwise unchanged",
    caption="Strokes answer with a minus at their left edge and a plus at their right. "
    "Below, the dashed line and everything else stand three columns further right.")

# %% [markdown]
# What is that worth? Take two networks, trained on digits as they are, never on moved ones. The first is lesson 06's,
# with 64 hidden neurons. The second begins with 64 masks that nobody trains: 9 × 9 pieces cut out of training digits.
# Their mean is subtracted, so that even grey gives 0.

# %%
train, rng = digits.images("train"), np.random.default_rng(0)
pieces = []
for whole in train[:64]:
    r, c = rng.integers(6, 14, 2)  # the upper left corner, two numbers from 6 to 13
    piece = whole[r : r + 9, c : c + 9]
    pieces.append(piece - piece.mean())
masks = np.stack(pieces)[:, None]  # (64, 1, 9, 9)

# %% [markdown]
# Of each map it keeps one number, the largest. A dense layer learns the digit from these 64 numbers, each scaled to
# mean 0 and spread 1 over the training digits, so that one learning rate suits all. (`pad=8` lets a mask hang over the
# edge as far as it can. The images go through in 16 parts, since all maps at once would fill the memory.)

# %%
def best_fits(images):
    parts = np.array_split(images, 16)
    return np.concatenate([ops.conv2d_forward(v[:, None], masks, pad=8)[0].max(axis=(2, 3)) for v in parts])

fits = best_fits(train)
centre, spread = fits.mean(axis=0), fits.std(axis=0)
dense_net, conv_net = nn.models.mlp((784, 64, 10), rng=rng), nn.models.mlp((64, 10), rng=rng)
options = dict(epochs=5, batch_size=64, lr=0.1, momentum=0.9, rng=rng)
nn.train(dense_net, (digits.x_train, digits.y_train), **options)
history = nn.train(conv_net, ((fits - centre) / spread, digits.y_train), **options)

# %% [markdown]
# Both are right on about nine of ten unmoved digits. **Predict** the accuracy of each on digits moved by three pixels:
# (a) within 5 points of that, (b) about 75 %, (c) about half. Ten percent would be guessing.

# %% tags=["nbval-ignore-output"]
shifts = [0, 1, 2, 3]
dense_right = [nn.accuracy(dense_net.predict(move(test, s).reshape(-1, 784)), labels) for s in shifts]
seen = [(best_fits(move(test, s)) - centre) / spread for s in shifts]
conv_right = [nn.accuracy(conv_net.predict(v), labels) for v in seen]
for s in shifts:
    print(f"moved by {s}:  dense {dense_right[s]:.0%}  convolution {conv_right[s]:.0%}")

# %% [markdown]
# It is (c) for the dense network, and (a) for the other, which in fact loses nothing. Its 64 numbers say how well each
# piece fits *anywhere*: the map moved, and its largest value does not depend on where it stands. In one word the result
# is **invariant**, here up to the rounding of float32.

# %%
check_close(seen[3], seen[0], rtol=1e-4, atol=1e-4, name="best fits of the moved digits")
assert np.ptp(conv_right) <= 0.003  # ptp: the largest minus the smallest
assert min(conv_right) >= 0.85
assert dense_right[0] >= 0.9
assert dense_right[3] <= 0.6

# %% [markdown]
# The same as curves. The first pixel already nearly doubles the dense network's errors; the second and the third each
# cost it about twenty answers in a hundred.

# %% tags=["nbval-ignore-output"]
both = {"dense": (shifts, dense_right), "convolution, then the largest": (shifts, conv_right)}
fig = figures.plots.curves(both, xlabel="pixels that the digits moved to the right",
                           ylabel="share answered rightly")
fig.axes[0].set_ylim(0, 1)
figures.show(
    fig,
    alt=f"The dense network falls from {dense_right[0]:.0%} to {dense_right[3]:.0%} over three pixels, "
    f"the convolution stays at {conv_right[0]:.0%}",
    caption="Neither network ever saw a moved digit.")

# %% [markdown]
# Read the result with care. Unmoved, the dense network is the better one: throwing away *where* a piece was found
# costs something. And equivariance alone is not invariance. A dense layer directly on the maps would again have one
# weight per place; it was the largest value that forgot the place. Lessons 08 and 09 forget it little by little.

# %% [markdown]
# ## What goes wrong: a column that nobody looks at
#
# Eight pixels, mask 3, stride 2, no padding: a setting that raises no error. Show the layer an image that is dark but
# for a bright bar, in column 6 or in column 7, the last. Does it answer to both?

# %%
for column in (6, 7):
    bar = np.zeros((1, 1, 8, 8))
    bar[..., column] = 1
    blind, _ = ops.conv2d_forward(bar, edge[None, None], stride=2)
    print(f"bar in column {column}: strongest answer {np.abs(blind).max():g}")

# %% [markdown]
# The second bar does not exist for this layer, nor for anything after it: the answer is 0 everywhere, as for an empty
# image. Nor can training help. No product contains a pixel of that column, so no gradient does. `ops.unseen` counts
# the columns left over at the end; the drawing marks the pixels.

# %%
lost = figures.convolution.never_seen(8, 3, stride=2)
print("columns unseen:", ops.unseen(8, 3, stride=2), " pixels unseen:", lost.sum(), "of", lost.size)
figures.convolution.coverage(8, 3, stride=2)

# %% [markdown]
# One column and one row, 15 of 64 pixels, nearly a quarter. With padding 1 the column left over is one of zeros, and
# the bar is seen. Whenever you choose a stride above 1, compute what is left over.

# %%
right, _ = ops.conv2d_forward(bar, edge[None, None], stride=2, pad=1)
assert not figures.convolution.never_seen(8, 3, stride=2, pad=1).any()
print("columns of the padded image unseen:", ops.unseen(8, 3, stride=2, pad=1))
print("last column of the answer:", right[0, 0, :, -1])

# %% [markdown]
# ## Where the lecture is loose
#
# **The floor.** The slide's formula has a fraction bar and nothing else. For 8 pixels, mask 3, stride 2 and no padding
# it promises 3.5 rows. The library rounds down, as frameworks do, at the price of the unseen pixels above.

# %%
print("the slide's formula:", 1 + (8 - 3 + 2 * 0) / 2, " the library:", ops.output_size(8, 3, stride=2))

# %% [markdown]
# A mask that fits nowhere is another matter: the formula gives a size below 1. That is an error, and its message
# computes the way out.

# %% tags=["raises-exception"]
ops.output_size(4, 7, pad=1)

# %% [markdown]
# **One name for two things.** The lecture's listing (H, "Sequential Code: Forward Convolutional Layer") has two
# parameters called `W`, the width and the weights, which no compiler accepts. Here the width is `W` and the weights are
# `w`; and since the listing's column counter is `w` too, ours is `v`. Its formulas count from 1, its code from 0: see
# the optional part below.

# %% [markdown]
# ## Optional: one, two, three dimensions
#
# Nothing in the idea asks for two directions. A table (H, "Example Convolution Inputs") sorts inputs by the directions
# in which the mask slides, and by whether there is one map or several:
#
# | | one map | several maps |
# |---|---|---|
# | 1-D | sound | a moving skeleton: one angle per joint |
# | 2-D | the spectrum of a sound over time | a colour image |
# | 3-D | a medical scan | a colour film: rows, columns, time |
#
# In each row the same function serves both columns: maps are added up, whatever they are. (`+` and `*` join and repeat
# tuples; `!s` turns one into text, so that it can be printed in a column.)

# %%
inputs = {"sound": (1, 1, 100), "skeleton": (1, 20, 100),
          "spectrum": (1, 1, 40, 50), "colour image": (1, 3, 40, 50),
          "scan": (1, 1, 12, 16, 16), "colour film": (1, 3, 12, 16, 16)}
convolutions = {3: ops.conv1d_forward, 4: ops.conv2d_forward, 5: ops.conv3d_forward}
for name, shape in inputs.items():
    mask = (4, shape[1]) + (3,) * (len(shape) - 2)  # 4 output maps, 3 weights along each direction
    y, _ = convolutions[len(shape)](np.ones(shape), np.ones(mask))
    print(f"{name:13} x {shape!s:20} w {mask!s:16} y {y.shape}")

# %% [markdown]
# ## Optional: where counting starts
#
# The listing starts its sums at 0. The lecture's formulas start them at 1, with the same pixel $X(c, h + p, w + q)$
# (H, "Back-propagation for a convolutional layer"). For the first $h$ and the first $p$ that is row 2, in arrays that
# start at 1 the *second*. So row 1 would never be used. Here is the first output of a 2 × 2 mask of ones, which should
# add the four pixels in the corner:

# %%
from_zero = sum(image[0 + p, 0 + q] for p in (0, 1) for q in (0, 1))
skipping = sum(image[1 + p - 1, 1 + q - 1] for p in (1, 2) for q in (1, 2))  # the slide's 1 is our 0
print("from 0:", from_zero, " from 1, one row and column too far:", skipping)
assert from_zero == image[:2, :2].sum()

# %% [markdown]
# ## Try it
#
# - In the stepper's cell, replace `w3` by `w3[::-1]`, the masks in reverse order. Which outputs change? Then add
#   `stride=2`: how many frames are left, and which pixels are never framed?
# - Turn `edge` into its transpose, `edge.T`, and run the cells of the moved digit again. Which strokes answer now? Is
#   the map still equivariant?
# - Cut pieces out of 16 digits instead of 64, then out of 128 (`mlp` needs the same number). How does the
#   accuracy on unmoved digits change, and does the curve stay flat?

# %% [markdown]
# ## Check yourself
#
# **1.** A layer takes colour images of 32 × 32 to 10 maps with 5 × 5 masks, stride 1 and one bias per output map. How
# many numbers does it learn? And if the images become 320 × 320?
#
# <details><summary>Answer</summary>
#
# $w$ is $(10, 3, 5, 5)$, so 750 weights, and 10 biases: 760. For the larger images still 760. The sizes of the image
# are in $x$ and $y$ alone; there are more windows, so there is more work, but no new weight.
#
# </details>

# %% [markdown]
# **2.** In the matrix $T$ you change one single cell, from $A_5$ to $A_5 + 1$, and keep the others. Is the result a
# dense layer? Is it a convolution? What do you lose?
#
# <details><summary>Answer</summary>
#
# Any matrix is a dense layer. A convolution it is no more: one output now uses another mask than its neighbours. So
# an object that moves there gets another answer, and the equivariance is gone. A training step on a convolution
# changes all four copies of $A_5$ together.
#
# </details>

# %% [markdown]
# **3.** An image is 11 pixels wide, the mask 4, the stride 3. How many outputs are there per row, and which columns
# does no window see? Does padding 1 help?
#
# <details><summary>Answer</summary>
#
# $1 + \lfloor 7 / 3 \rfloor = 3$. The windows begin at columns 0, 3 and 6; the last ends at 9, so column 10 is unseen.
# With padding 1, $1 + \lfloor 9 / 3 \rfloor = 4$ and nothing is left over: the last window ends exactly at the last
# padded column, and every pixel is seen.
#
# </details>
