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
# # 08 · The layers of a convolutional network, backward
#
# A network that reads digits needs masks, and nobody types them in: it has to learn them. Below, a mask starts as
# noise. It is shown ten handwritten digits (one of them is drawn), and step by step its nine numbers change, until it
# finds vertical edges as well as lesson 07's mask does. (Orange is positive, purple negative.) At each step we need to
# know how the error depends on each of the nine, and that is the backward pass of a convolution. Does that need new
# rules?

# %% tags=["hide-input"]
from timeit import repeat

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from course_lib import checks, data, figures
from course_lib import reference as ops
from course_lib.lesson import predict, table

rng = np.random.default_rng(8)
digits = data.load_digits(seed=0).x_train[:10].reshape(10, 28, 28).astype(float)
edges = np.array([[1.0, 0, -1], [2, 0, -2], [1, 0, -1]])  # lesson 07's mask `edge`, for vertical edges
noise = rng.standard_normal((3, 3))
figures.learned_mask.mask_learning(digits, edges, noise, example=3)

# %% [markdown]
# On this page we compute that backward pass in three ways that look nothing alike, and then ask why they agree. Each is
# a few lines long, and at the end those lines teach the mask.
#
# ## You will be able to
#
# - run max pooling, average pooling and the leaky ReLU forward and backward by hand;
# - compute $\partial E/\partial W$ and $\partial E/\partial X$ of a convolution by loops, as convolutions and as matrix
#   products, for one map and for several;
# - say what unrolling an image costs, and what one gains by it all the same;
# - choose test data on which a mistake cannot hide.

# %% [markdown]
# <details><summary>About this page</summary>
#
# It follows Prof. Dey's lecture 56 at IIT Kharagpur with its slides, Prof. Owens' EEC 289Q lecture 11 at UC Davis, and
# ECE 508 lecture 10 by Prof. Hwu and colleagues at Illinois. You need lessons 04 and 07. Reading and trying takes about
# 60 minutes, the optional part 5 more.
#
# </details>

# %% [markdown]
# ## Two questions for every layer
#
# A network can learn if each of its layers answers two questions: given $\partial E/\partial Y$, how does the error $E$
# change with the layer's weights, and how with its input?[^Hwu "Overview of Gradient Back-Propagation"] The first
# answer trains the layer. The second is handed to the layer before, which takes it as its own $\partial E/\partial Y$.
#
# In code, `dy` is $\partial E/\partial Y$, `dx` is $\partial E/\partial X$, and `dw` is $\partial E/\partial W$. Each
# has the shape of its array. As in lesson 04, a forward function returns its output and a `cache`, a tuple of whatever
# the backward function will need. The letters are lesson 07's:
#
# | | how many | counted by |
# |---|---|---|
# | images | $B$ | $n$ |
# | input maps | $C$ | $c$ |
# | output maps | $M$ | $m$ |
# | rows and columns of a map | $H, W$ | $h, v$ |
# | rows and columns of a mask | $K_h, K_w$ | $p, q$ |
#
# We begin with the layers that have no weights.

# %% [markdown]
# ## ReLU with a slope
#
# A plain ReLU returns 0 for every negative input. The **leaky ReLU** returns the input times a small number instead,
# the **negative slope**, which is chosen once.[^Dey "RELU Activation Function"] Backward, `dy` is
# multiplied by 1 where the input was positive, and by the negative slope elsewhere, at 0 too.

# %%
z = np.array([-2.0, -0.5, 0.0, 3.0])
a, cache = ops.leaky_relu_forward(z, 0.1)
print("forward ", a)
print("backward", ops.leaky_relu_backward(np.array([10.0, 10.0, 10.0, 10.0]), cache))

# %% [markdown]
# A plain ReLU would have stopped the first three gradients. With slope 0.1 a tenth of each gets through, so even a
# neuron whose sum is negative for every sample can still learn.
#
# ## Max pooling
#
# **Pooling** replaces a whole window of $F \times F$ pixels by one number: its largest value in **max pooling**, its
# mean in **average pooling**. The maps become smaller, and, as lesson 07 promised, the position is forgotten a little
# at a time. Nothing is trained, and each map is treated on its own.[^Dey "Pooling Layer"] The windows move by the
# stride $S$, which is $F$ unless you say otherwise. The sizes are those of a convolution without padding, rounded
# down:[^Dey "Pooling Layer: Spatial Transformations"]
#
# $$\begin{gathered} H_{out} = 1 + \left\lfloor \frac{H - F}{S} \right\rfloor \\
# (B, C, H, W) \to (B, C, H_{out}, W_{out}) \end{gathered}$$

# Here is a strong answer in a map, and the same one pixel, then two pixels further right. Each map is pooled with
# $F = S = 2$.

# %%
for column in (2, 3, 4):
    answer = np.zeros((1, 1, 2, 6))
    answer[0, 0, 0, column] = 9
    print("row of the map", answer[0, 0, 0], "  pooled", ops.max_pool_forward(answer, 2)[0][0, 0, 0])

# %% [markdown]
# The first step stays within a window, and the layers that follow notice nothing. The second step crosses into the next
# window, and the answer moves with it. So the network still knows *roughly* where it is.
#
# Take two rows of four pixels, and windows of $2 \times 2$ side by side.[^Owens "Max-Pooling"] The backward pass has to
# know *which* pixel won. So the forward pass keeps the **winner index**: for each output, the place of the winner,
# counted row by row through the map.[^Dey "Pooling Kernel"] It is the second thing in the cache, after the shape of the
# input. (`four[None, None]` puts two axes of length 1 in front: one image, one map.)

# %%
four = np.array([[1.0, 0, 2, 2],
                 [1.0, 3, 0, 1]])
y, cache = ops.max_pool_forward(four[None, None], 2)
shape, place = cache
print("y", y[0, 0], "place", place[0, 0])

# %% [markdown]
# Place 5 is row 1, column 1, since $5 = 1 \cdot 4 + 1$. The second window holds 2 twice, and place 2 is the first of
# them: a later value must be strictly larger to win, so ties keep the first. Backward, every `dy` goes to its winner.
# (`reshape(-1)` lists the pixels of a map row by row, as `place` counts them. `np.add.at` adds at the listed places,
# also where one is listed twice.)

# %%
def max_pool_backward(dy, cache):
    shape, place = cache
    dx = np.zeros(shape)
    for n, c in np.ndindex(shape[:2]):  # every map
        np.add.at(dx[n, c].reshape(-1), place[n, c], dy[n, c])
    return dx

dy_pool = np.array([[4.0, 7]])
dx_pool = max_pool_backward(dy_pool[None, None], cache)[0, 0]

# %% tags=["hide-input"]
# Where the 4 and the 7 go.
figures.show(
    figures.cnn_layers.pooling_routes(four, dy_pool),
    alt="The winners at places 5 and 2 receive 4 and 7; every other dx is 0.",
    caption="The dashed line separates the two windows, frames mark the winners. Forward, each winner is kept, and its "
    "place. Backward, dy says how much comes back, and place says where it goes.",
)

# %% [markdown]
# Nudge a value that has lost, and the maximum stays the same: no effect, no gradient. At a tie the maximum has a kink,
# like ReLU at 0, and no single right answer: giving the 7 to the first 2, to the second, or 3.5 to each would all be
# valid. Ours and PyTorch give it to the first.
#
# Now move the windows by one pixel at a time. There are three of them, and they overlap.

# %% tags=["hide-input"]
# A prediction.
pooled = predict(
    "With stride 1, `dy` holds 4, 6 and 7 for the three windows. What is `dx` at the 3?",
    [4, 6, 10, 17],
    answer=10,
    reveals=2,
)
pooled

# %% tags=["hide-output"]
y, cache = ops.max_pool_forward(four[None, None], 2, stride=1)
dx_overlap = max_pool_backward(np.array([[[[4.0, 6, 7]]]]), cache)[0, 0]
print("y", y[0, 0], "  dx:")
print(dx_overlap)

# %% [markdown]
# <details class="reveal"><summary>Two wins, two gradients</summary>
#
# The 3 is the largest of the first window and of the second, so two paths lead from it to $E$, and paths add:
# $4 + 6 = 10$. The third window does not contain it.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was computed.
pooled.confirm(int(dx_overlap[1, 1]))

# %% [markdown]
# In average pooling there is no winner. Raising one pixel by $d$ raises the mean by $d/F^2$, so each pixel of the
# window gets `dy` $/ F^2$. Here `dy` is 8 and 4.
#
# Are the three backward passes, leaky ReLU's and the two poolings', right on larger arrays too? Lesson 04's check
# compares each with measured slopes, on random inputs and with a random `dy`, and raises an error if one is wrong. The
# windows are $3 \times 3$ with stride 2, so that they overlap.

# %%
y, cache = ops.average_pool_forward(four[None, None], 2)
print("average", y[0, 0], "backward:")
print(ops.average_pool_backward(np.array([[[[8.0, 4]]]]), cache)[0, 0])
x_random = rng.standard_normal((2, 5, 13, 10))
checked = {
    "leaky ReLU": (lambda x: ops.leaky_relu_forward(x, 0.1), ops.leaky_relu_backward),
    "max pooling": (lambda x: ops.max_pool_forward(x, 3, stride=2), max_pool_backward),
    "average pooling": (lambda x: ops.average_pool_forward(x, 3, stride=2), ops.average_pool_backward),
}
for name, (forward, backward) in checked.items():
    checks.check_op_gradients(forward, backward, [x_random], rng=rng)
    print(name, "right, for x", x_random.shape)

# %% [markdown]
# ## A convolution small enough for a pencil
#
# One image, one map, stride 1, no padding. The input is the first map of a small example from the lectures;[^Hwu "A
# Small Convolution Layer Example, Generating dE/dW"] the mask and `dy` are our own. The mask has four different
# numbers and `dy` nine, so that no two of either can be exchanged unnoticed. The output is
# $(3, 3)$, so `dy` is $(3, 3)$ too.

# %%
x = np.array([[0.0, 2, 1, 0], [0, 3, 2, 1], [1, 1, 0, 2], [2, 1, 0, 3]])
w = np.array([[1.0, 2], [3, 4]])
dy = np.array([[2.0, 3, 4], [5, 1, 6], [8, 7, 9]])
y, cache = ops.conv2d_forward(x[None, None], w[None, None])
print(y[0, 0])

# %% [markdown]
# ### One weight
#
# The weight $w_{00}$ is used once in every output: in $y_{00}$ it meets $x_{00}$, in $y_{01}$ it meets $x_{01}$, and so
# on. So nine paths lead from it to $E$. Each contributes $\partial E/\partial y$ times the pixel that the weight met,
# and paths add:[^Hwu "Back-propagation for a convolutional layer"]
#
# $$\frac{\partial E}{\partial w_{pq}} = \sum_{h,v} \frac{\partial E}{\partial y_{hv}}\; x_{h+p,\,v+q}$$
#
# For $w_{00}$, row after row of `dy`:
#
# $$\begin{gathered} (2\cdot0 + 3\cdot2 + 4\cdot1) + (5\cdot0 + 1\cdot3 + 6\cdot2) \\
# {} + (8\cdot1 + 7\cdot1 + 9\cdot0) = 40 \end{gathered}$$
#
# For $w_{01}$ the same nine numbers meet the pixels one column further to the right. In other
# words, **`dy` slides over `x` like a mask.** Step through the four weights.

# %%
figures.cnn_layers.weight_gradient_stepper(x, dy)

# %% [markdown]
# So $\partial E/\partial W$ is a convolution of `x` with `dy`, and lesson 07's own function computes it: $(4,4)$ with
# $(3,3)$ gives $(2,2)$. (A bias is added once to every output. So $\partial E/\partial b$ is the sum of `dy`. With
# several maps each has its own bias: sum its `dy` over its places and over all images, `dy.sum(axis=(0, 2, 3))`.)

# %%
dw = ops.conv2d_forward(x[None, None], dy[None, None])[0][0, 0]
print(dw, "db", dy.sum())

# %% [markdown]
# ### One pixel
#
# Now the pixel $x_{11}$, in the middle. Four windows saw it, and in each of them it met another weight. In $y_{11}$ it
# stood at the top left and met $w_{00}$. In $y_{10}$ it met $w_{01}$, in $y_{01}$ it met $w_{10}$, and in $y_{00}$ it
# met $w_{11}$.[^Hwu "Example"] Four paths:
#
# $$\frac{\partial E}{\partial x_{hv}} = \sum_{p,q} \frac{\partial E}{\partial y_{h-p,\,v-q}}\; w_{pq}$$
#
# The output's index is $h - p$: a weight further down or further right in the mask meets this pixel for an output
# further up or further left. Near the border some of these outputs do not exist, and their terms are left out.

# %%
pixel = dy[1, 1] * w[0, 0] + dy[1, 0] * w[0, 1] + dy[0, 1] * w[1, 0] + dy[0, 0] * w[1, 1]
print("dE/dx[1,1] =", pixel, "  dE/dx[0,0] =", dy[0, 0] * w[0, 0])

# %% [markdown]
# ## First way: loops
#
# The forward pass is full of products $x \cdot w$ that are added to an output. For each of them, the backward pass
# sends `dy * w` to the pixel and `dy * x` to the weight. That is the whole rule, and it needs no special case at the
# border:[^Hwu "Calculating dE/dX"]

# %%
def backward_loops(dy, x, w):
    dx, dw = np.zeros_like(x), np.zeros_like(w)
    for h, v in np.ndindex(dy.shape):      # every output
        for p, q in np.ndindex(w.shape):   # every product in it
            dx[h + p, v + q] += dy[h, v] * w[p, q]
            dw[p, q] += dy[h, v] * x[h + p, v + q]
    return dx, dw

dx, dw_loops = backward_loops(dy, x, w)
print(dx)
print("dw as before:", np.array_equal(dw_loops, dw))

# %% [markdown]
# (`np.ndindex(3, 3)` counts through all pairs of indices.) The numbers that we found by hand are there: 28 for
# $x_{11}$, and 2 in the corner. The loops **scatter**: each output throws its gradient at the four pixels that it saw.
#
# ## Second way: a convolution
#
# Turn the question around. Instead of scattering from each output, **gather** for each pixel. First in one direction,
# with a mask of three: $y_0 = x_0 w_0 + x_1 w_1 + x_2 w_2$, then $y_1 = x_1 w_0 + \dots$, and so on. The pixel $x_2$ is
# the last one in the window of $y_0$, the middle one for $y_1$, and the first one for $y_2$:
#
# $$\frac{\partial E}{\partial x_2} = \frac{\partial E}{\partial y_0} w_2 + \frac{\partial E}{\partial y_1} w_1 +
# \frac{\partial E}{\partial y_2} w_0$$
#
# As we walk along `dy` from left to right, the weights come from right to left. So this is a convolution of `dy` with
# the **flipped** mask $(w_2, w_1, w_0)$. In two directions, rows and columns are both reversed, which is a turn by 180
# degrees: `w[::-1, ::-1]`. (Mathematicians call this very thing a convolution, as lesson 07 said.)

# %% [markdown]
# The result has to grow from $(3,3)$ to $(4,4)$, so `dy` gets a border of $K - 1$ zeros. The zeros are the outputs that
# do not exist. Padded so far that at the corner only one cell of the mask lies on `dy`, a convolution is called
# **full**. Step through it; the dashed cells are the border. At the corner one product lies on `dy`, at an edge two,
# inside four: as many as there were windows that saw the pixel.

# %%
figures.cnn_layers.full_convolution_stepper(dy, w)

# %% [markdown]
# In code it is one line again:

# %%
full = ops.conv2d_forward(dy[None, None], w[None, None, ::-1, ::-1], pad=1)[0][0, 0]
print(full.shape, "largest difference from the loops:", np.abs(full - dx).max())

# %% [markdown]
# ## Several maps
#
# A real layer has several maps on both sides, and a mask for each pair of them. Nothing changes for a single product.
# There are more of them, and the question is which ones are added up. Here is an example small enough to follow
# every number: two images, two maps in, three out, masks of $2 \times 2$. (`W` is the array of weights now; widths are
# written in the comments.)

# %%
# (B, C, H, W), (M, C, K_h, K_w) and (B, M, H_out, W_out)
X = rng.integers(0, 4, (2, 2, 3, 3)).astype(float)
W = rng.integers(1, 5, (3, 2, 2, 2)).astype(float)
dY = rng.integers(0, 4, (2, 3, 2, 2)).astype(float)
dX, dW, _ = ops.conv2d_backward(dY, ops.conv2d_forward(X, W)[1])
print("dX", dX.shape, " dW", dW.shape)

# %% [markdown]
# With one map on either side, the pixel in the middle had four paths to $E$. How many are there now?

# %% tags=["hide-input"]
# A prediction.
many = predict(
    "How many products `dy · w` does the gradient of a pixel in the middle of an input map add up?",
    [4, 8, 12, 24],
    answer=12,
    reveals=2,
)
many

# %% tags=["hide-output"]
reached = ops.conv2d_backward(np.ones_like(dY), ops.conv2d_forward(X, np.ones_like(W))[1])[0]
print("with all dy and w equal to 1, dE/dx of that pixel is", reached[0, 0, 1, 1])

# %% [markdown]
# <details class="reveal"><summary>Which maps take part</summary>
#
# The pixel was seen by four windows, as before, but *every* output map looked at it, each with its own mask: 3 times 4
# products. The other input map has nothing to do with it, and neither has the other image.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was computed.
many.confirm(int(reached[0, 0, 1, 1]))

# %% [markdown]
# Choose a number in the picture by mouse, or with the arrow keys. Cells with the same letter are multiplied, and the
# lines below show how the products are added up. Start with a pixel, then go to a weight and to an output. Which maps
# light up?

# %%
figures.gradient_explorer(X, W, dY)

# %% [markdown]
# One pixel, one weight and one output belong together in each product. Forward it is $xw$; backward it gives
# $w\,\partial E/\partial y$ to the pixel and $x\,\partial E/\partial y$ to the weight. What differs is the sum:
#
# - an output adds over the input maps $c$ and the mask;
# - a pixel adds over the **output maps** $m$ and the mask, since all of them have used it;
# - a weight adds over the **images** $n$ and all places, since it is the same everywhere.
#
# As before, terms whose index lies outside are left out.
#
# $$\frac{\partial E}{\partial X_{n,c,h,v}} =
# \sum_{m,\,p,\,q} \frac{\partial E}{\partial Y_{n,m,h-p,v-q}}\; W_{m,c,p,q}$$
#
# $$\frac{\partial E}{\partial W_{m,c,p,q}} =
# \sum_{n,\,h,\,v} \frac{\partial E}{\partial Y_{n,m,h,v}}\; X_{n,c,h+p,v+q}$$
#
# The **first way** for several maps: the same two lines, with more indices.

# %%
def maps_by_loops(dy, x, w):
    dx, dw = np.zeros_like(x), np.zeros_like(w)
    for n, m, h, v in np.ndindex(dy.shape):      # every output
        for c, p, q in np.ndindex(w.shape[1:]):  # every product in it
            dx[n, c, h + p, v + q] += dy[n, m, h, v] * w[m, c, p, q]
            dw[m, c, p, q] += dy[n, m, h, v] * x[n, c, h + p, v + q]
    return dx, dw

# %% [markdown]
# The **second way** is again one convolution for each gradient. But `conv2d_forward` adds over axis 1, which both
# arguments share: over the input maps $c$. For `dx` it has to add over $m$, and for `dw` over $n$. So the axes must be
# exchanged first. To see which, draw each map as one cell. Then `x` is a grid of images by input maps, and so on:

# %% tags=["hide-input"]
# Forward pass, dx and dw as products of grids whose entries are maps.
figures.show(
    figures.exchanged.exchanged_axes(len(X), X.shape[1], len(W)),
    alt="Three products of grids. Forward, a row of x meets a row of w. For dx, a row of dy meets a row of w with its "
    "axes exchanged. For dw, a row of x meets a row of dy, both exchanged, and the result is dw, exchanged.",
    caption="Framed: an entry of the result, and the two rows that make it. Entry meets entry, each pair is convolved "
    "(*), and the results are added. A small T: these two axes exchanged. For dx, masks are flipped, dy is padded.")

# %% [markdown]
# These are matrix products whose entries are maps, and the product of two entries is a convolution: a plain one forward
# and for $dw$, a full one with the flipped mask for $dx$. Given $a$ and $b$, `conv2d_forward` lets rows meet rows: it
# computes $a\,b^\top$. Forward that is $y = x\,w^\top$, and lesson 04's rules for the two gradients follow:
#
# | wanted | first argument | second | what comes out |
# |---|---|---|---|
# | $y = x\,w^\top$ | $x$ | $w$ | $y$ |
# | $dx = dy\; w$ | $dy$ | $w^\top$ | $dx$ |
# | $dw = dy^\top x$ | $x^\top$ | $dy^\top$ | $x^\top dy = dw^\top$ |
#
# In the last line the axes are exchanged back. In code, `transpose(1, 0, 2, 3)` does each exchange:

# %%
def maps_by_convolution(dy, x, w):
    border = (w.shape[2] - 1, w.shape[3] - 1)
    # (B, M, H_out, W_out) with (C, M, K_h, K_w), adds over m
    flipped = w.transpose(1, 0, 2, 3)[:, :, ::-1, ::-1]
    dx = ops.conv2d_forward(dy, flipped, pad=border)[0]
    # (C, B, H, W) with (M, B, H_out, W_out), adds over n
    turned = x.transpose(1, 0, 2, 3), dy.transpose(1, 0, 2, 3)
    dw = ops.conv2d_forward(*turned)[0]  # (C, M, K_h, K_w)
    return dx, dw.transpose(1, 0, 2, 3)

for way in (maps_by_loops, maps_by_convolution):
    found = way(dY, X, W)
    print(way.__name__, np.array_equal(found[0], dX), np.array_equal(found[1], dW))

# %% [markdown]
# ## Third way: matrix products
#
# Copy each window of `x` into a column of a matrix. This is called **unrolling**, or **im2col**.[^Dey "Im2Col
# Operation"] Write the masks of each output map as a row. Then the whole convolution is a matrix product:[^Hwu
# "Reorganize Input X for Matrix Multiplication"]
#
# $$\begin{gathered} Y = W_{rows}\, X_{cols} \\
# (M,\; C K^2)\,(C K^2,\; H_{out} W_{out}) \\
# \to (M,\; H_{out} W_{out}) \end{gathered}$$
#
# The index in brackets says which pixel a number came from; the copies of one pixel are framed and shaded. A column
# holds what one output sees. A row holds what one weight meets. Step from a corner to an edge, and on to the inside.

# %%
figures.cnn_layers.unrolled_stepper(x, (2, 2))

# %% [markdown]
# No pixel stands twice in one column or in one row: an output sees it once, and a weight meets it once. In code, take
# lesson 07's windows and give their axes another order: the axes of the mask run down a column, those of the
# place run from column to column. (`reshape(1, -1)` makes one row; -1 means "as many as there are".)

# %%
def im2col(x, mask):  # mask: (K_h, K_w)
    windows = sliding_window_view(x, mask, axis=(2, 3))
    B, C, H_out, W_out, K_h, K_w = windows.shape
    columns = windows.transpose(0, 1, 4, 5, 2, 3)
    return columns.reshape(B, C * K_h * K_w, H_out * W_out)  # the copy

cols = im2col(x[None, None], (2, 2))[0]
w_rows, dy_rows = w.reshape(1, -1), dy.reshape(1, -1)
print("cols", cols.shape, " w_rows", w_rows.shape, " dy_rows", dy_rows.shape)
print("the product is y:", np.array_equal(w_rows @ cols, y.reshape(1, -1)))

# %% [markdown]
# And the backward pass is lesson 04's. There, samples were rows and the weights stood on the right, $Z = XW$. Here the
# weights stand on the left, so every product is the other way round:
#
# $$\frac{\partial E}{\partial W_{rows}} = \frac{\partial E}{\partial Y} X_{cols}^\top, \qquad
# \frac{\partial E}{\partial X_{cols}} = W_{rows}^\top \frac{\partial E}{\partial Y}$$
#
# for one image; over a batch, sum the first over the images. Only the copying is new. If you copy a pixel to several
# places, then on the way back you add up what comes from those places. That is **col2im**. Which pixel did each number
# come from? Number the pixels, unroll the *numbers*, and you know:

# %%
def col2im(cols, shape, mask):  # shape: that of x
    dx = np.zeros(shape)
    came_from = im2col(np.arange(dx.size).reshape(shape), mask)
    np.add.at(dx.reshape(-1), came_from, cols)
    return dx

# (1, 9) (9, 4) -> (1, 4)
dw_product = (dy_rows @ cols.T).reshape(2, 2)
# (4, 1) (1, 9) -> (4, 9)
dcols = w_rows.T @ dy_rows
dx_product = col2im(dcols[None], (1, 1, 4, 4), (2, 2))[0, 0]
print("largest difference from the loops:")
print("dx", np.abs(dx_product - dx).max(), " dw", np.abs(dw_product - dw).max())

# %% [markdown]
# Col2im does not undo im2col. Unroll and add back, and a pixel that was copied four times comes back four times as
# large.
#
# For several maps the rows and columns are longer: a column holds the window of map 0, then, below it, the window of
# map 1 at the same place, and so on. Each image has products of its own. Here is the first image of the small example,
# with its two maps.

# %% tags=["hide-input"]
# The unrolled matrix of two maps of 3 x 3, mask 2 x 2.
two_maps = im2col(X[:1], (2, 2))[0].astype(int)  # (C K_h K_w, places) = (8, 4)
for k, line in enumerate(two_maps):
    print("map", k // 4, " w", divmod(k % 4, 2), " | ", *line)

# %%
def maps_by_product(dy, x, w):
    # (B, C K_h K_w, places), (M, C K_h K_w) and (B, M, places)
    cols = im2col(x, w.shape[2:])
    w_rows = w.reshape(len(w), -1)
    dy_rows = dy.reshape(len(dy), len(w), -1)
    # (M, C K_h K_w), added over the images
    dw = (dy_rows @ cols.transpose(0, 2, 1)).sum(axis=0)
    dx = col2im(w_rows.T @ dy_rows, x.shape, w.shape[2:])
    return dx, dw.reshape(w.shape)

# %% [markdown]
# ## Do all three agree?
#
# The small example had many sizes equal to 2 or 3, and where two sizes are equal, exchanged axes raise no error.
# So now random numbers, and no two sizes alike: two images of $11 \times 10$ with three maps, seven maps out, masks of
# $4 \times 5$. The windows overlap.

# %%
xb, wb = rng.standard_normal((2, 3, 11, 10)), rng.standard_normal((7, 3, 4, 5))
dy1 = rng.standard_normal((2, 7, 8, 6))
ways = (maps_by_loops, maps_by_convolution, maps_by_product)
gradients = {way.__name__: way(dy1, xb, wb) for way in ways}

# %% tags=["hide-input"]
# Each array against that of the loops.
def near(arrays):
    return [bool(np.allclose(other, arrays[0], rtol=1e-12, atol=1e-12)) for other in arrays[1:]]

rows = [(name, str(wanted.shape), *near([found[k] for found in gradients.values()]))
        for k, (name, wanted) in enumerate((("dx", xb), ("dw", wb)))]
table(rows, ["array", "shape", "convolution = loops", "matrix product = loops"], align="llcc",
      caption="Equal to 1e-12?")

# %% [markdown]
# They agree to $10^{-12}$. We cannot ask for equality to the last bit, since each way adds the same products in another
# order, and floating-point addition rounds. But all three could share a mistake. So nudge every pixel and every weight,
# and compare the measured slopes with each of the three functions. (The cache of `conv2d_forward` begins with `x` and
# `w`.)

# %%
def with_cache(way):
    return lambda dy, cache: way(dy, *cache[:2])

for way in ways:
    checks.check_op_gradients(ops.conv2d_forward, with_cache(way), [xb, wb], rng=rng)
    print(way.__name__, "is right: dx", xb.shape, " dw", wb.shape)

# %% [markdown]
# ## Why must they agree?
#
# Lesson 07 wrote the layer as one matrix $T$ full of zeros and repeated weights, $y = T x$. Then lesson 04's rule for a
# dense layer says at once that $\partial E/\partial x = T^\top\, \partial E/\partial y$, with shapes $(16, 9)\,(9,) \to
# (16,)$. Build $T$ from 16 images with a single 1 each, as we did there:

# %%
units = np.eye(16).reshape(16, 1, 4, 4)
T = ops.conv2d_forward(units, w[None, None])[0].reshape(16, 9).T
print("largest difference from the loops:", np.abs((T.T @ dy.ravel()).reshape(4, 4) - dx).max())

# %% [markdown]
# For the weights, the rule is $\partial E/\partial T = \partial E/\partial y\; x^\top$, with shapes
# $(9, 1)\,(1, 16) \to (9, 16)$: one slope for each cell of $T$. Cells that hold the same weight move together, so their
# slopes add up. (`as_matrix` says which weight each cell holds, 1 to 4, or 0 for none.)

# %%
holds = figures.convolution_matrix.as_matrix((2, 2), (4, 4))
dT = dy.reshape(9, 1) @ x.reshape(1, 16)
print("dw", [float(dT[holds == k].sum()) for k in (1, 2, 3, 4)])

# %% [markdown]
# That is `dw`. So the backward pass of a convolution needs *no* new rules. Scattering, sliding a mask and unrolling are
# three ways to compute $T^\top\, \partial E/\partial y$. For the weights, they add up the cells of $\partial E/\partial
# y\; x^\top$ that hold the same weight. None of them builds $T$. As loops or as matrix products it costs what lesson 04
# counted: two products of the size of the forward one. The second way also multiplies the zeros of the border: 64
# products for our `dx`, where the forward pass and the loops have 36.
#
# ## What does unrolling cost, and what does one gain?
#
# The convolutions of LeNet-5, the network of lesson 09, are its layers C1, C3 and C5. (Here C stands for convolution.)
# C1 has an input of $32\times32$, one map in and six out, and $K = 5$. The table to come has a column "uses": how often
# the matrix product uses each number of $X_{cols}$, once for each row of $W_{rows}$. (C3 is counted with all maps
# connected, 96 pairs; the original connects 60 of them, as lesson 09 shows.)

# %% tags=["hide-input"]
# A prediction.
larger = predict(
    "How many times as large as the image is the unrolled matrix of C1?",
    [16.0, 19.1, 22.6, 25.0],
    answer=19.1,
    reveals=3,
)
larger

# %% tags=["hide-output"]
layers = {"C1": (1, 32, 5, 6), "C3": (6, 14, 5, 16), "C5": (16, 5, 5, 120)}
costs = {}
for name, (C, H, K, M) in layers.items():  # maps in, their size, mask, maps out
    _, depth, places = ops.im2col(np.zeros((1, C, H, H)), K).shape
    costs[name] = (f"{M} x {C * K * K}", f"{depth} x {places}", depth * places, ops.replication((1, C, H, H), K), M)
table([(name, *cost) for name, cost in costs.items()],
      ["layer", "W_rows", "X_cols", "elements", "replication", "uses"], formats={"replication": ".2f"}, align="lrrrrr")

# %% [markdown]
# <details class="reveal"><summary>Nineteen copies of a pixel, and not 25</summary>
#
# $25 \times 784$ elements are made from 1,024 pixels: 19.1 times as many. In general, for stride 1 and no padding, the
# **replication** is[^Hwu "Analyzing the Amount of Input Replication"]
#
# $$\frac{H_{out} W_{out} K^2}{(H_{out} + K - 1)(W_{out} + K - 1)}$$
#
# Why not 25, since the mask has 25 weights? Only a pixel at least four away from every border is met by all 25. A
# corner pixel is copied once, and the rim keeps the average down.
#
# </details>

# %% tags=["hide-input", "hide-output"]
# Copies of each pixel of C1's input: an image of ones, unrolled and added back.
counts = ops.col2im(ops.im2col(np.ones((1, 1, 32, 32)), 5), (1, 1, 32, 32), 5)[0, 0]
figures.show(
    figures.cnn_layers.copies(counts, title="C1: how often each pixel is copied"),
    alt=f"Corner pixels are copied {counts[0, 0]:g} time, inner pixels {counts.max():g} times, "
    f"{counts.mean():.1f} times on average.",
    caption=f"From {counts.min():.0f} to {counts.max():.0f} copies, {counts.mean():.1f} on average.",
)

# %% tags=["hide-input"]
# The answer, confirmed by what was computed.
larger.confirm(round(costs["C1"][3], 1))

# %% [markdown]
# This memory is the price of im2col, and no product is saved for it: an inner pixel of C1 takes part in 25 products per
# output map either way. What is gained, then? One large, regular matrix product, and matrix products are what
# computers' libraries have been tuned for most. Here is the forward pass of C3 for 64 images, with the same products
# each time:

# %% tags=["nbval-ignore-output"]
x64 = rng.standard_normal((64, 6, 14, 14))
w16 = rng.standard_normal((16, 6, 5, 5))

def windows_and_weights():  # lesson 07's way, no copy
    windows = sliding_window_view(x64, (5, 5), axis=(2, 3))
    return np.einsum("nchvpq,mcpq->nmhv", windows, w16)

def unrolled():  # the copy and the product
    product = w16.reshape(16, -1) @ im2col(x64, (5, 5))
    return product.reshape(64, 16, 10, 10)

took = [1000 * min(repeat(way, number=1, repeat=5))
        for way in (windows_and_weights, unrolled)]
table([("windows, no copy", took[0]), ("im2col and a matrix product", took[1])],
      ["C3 forward", "milliseconds"], formats={"milliseconds": ".1f"})

# %% [markdown]
# The copy is paid back many times over, because it makes the other product possible: for `@`
# NumPy calls a tuned library, while this `einsum` runs plain loops. (How such a product is made fast is the matter of
# [lesson 14](14_matrix_multiplication.ipynb).) The bill differs from layer to layer. Each number of $X_{cols}$ is used
# $M$ times: 6, 16 and 120 times.[^Hwu "Matrix-Multiplication Enables Additional Reuse"] The matrix of C5 is no larger
# than its input: the mask covers all of it, so there is one window, and no pixel is copied twice. C1 is the bad case:
# 19 copies per pixel, each used only 6 times.
#
# Unrolled, the 25 reads of a pixel go to 25 addresses instead of one.[^Hwu "Convolution Reuse Matches Unrolling
# Replication!"] So fast GPU programs mostly do not store $X_{cols}$: they compute, while loading, where each element
# comes from.[^Hwu "Conceptual Unrolling May Help Performance"] [Lesson 15](15_convolution_kernels.ipynb) does that on a
# GPU, and measures what it saves. Our library unrolls a block of bounded size at a time
# ([`course_lib/reference/conv2d.py`](../course_lib/reference/conv2d.py)).

# %% [markdown]
# ## Is this backward pass right?
#
# Here is another backward pass for several maps, both gradients as convolutions. Read it as you would read the code of
# a colleague.

# %%
def backward_by_sliding(dy, cache):
    x, w = cache[:2]
    border = (w.shape[2] - 1, w.shape[3] - 1)
    dx, _ = ops.conv2d_forward(dy, w.transpose(1, 0, 2, 3), pad=border)
    dw, _ = ops.conv2d_forward(x.transpose(1, 0, 2, 3), dy.transpose(1, 0, 2, 3))
    return dx, dw.transpose(1, 0, 2, 3)

x_test = rng.standard_normal((7, 2, 8, 12))
# ten masks of 3 x 4
A = np.outer([1, 2, 1], [1, 3, 3, 1]) * rng.standard_normal((5, 2, 1, 1))
B = rng.standard_normal((5, 2, 3, 4))

# %% [markdown]
# Lesson 04's check compares both gradients with measured slopes, for seven random images and a random `dy`. We run it
# once with the masks A and once with the masks B.

# %% tags=["hide-input"]
# A prediction.
passing = predict(
    "Does `backward_by_sliding` pass?",
    ["with A and with B", "with neither", "with A alone", "with B alone"],
    answer="with A alone",
    reveals=2,
)
passing

# %% tags=["hide-input", "hide-output"]
# The check, with both.
verdicts = {}
for name, tried in (("A", A), ("B", B)):
    try:
        checks.check_op_gradients(ops.conv2d_forward, backward_by_sliding, [x_test, tried], rng=rng)
        verdicts[name] = "passes"
    except checks.GradientMismatch as problem:
        verdicts[name] = str(problem).split(":")[0]
    print(f"{name}: {verdicts[name]}")

# %% [markdown]
# <details class="reveal"><summary>What the blurs of A have hidden</summary>
#
# `args[0]` is `x`: in its gradient the flip is missing. Each mask of A is a multiple of one blur, and a blur looks the
# same after a turn by 180 degrees. So the check could notice nothing, and it could not with a mask of ones either. The
# shapes fit in both cases, so training would never raise an error. It would quietly train the layers before this one on
# wrong gradients.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was computed.
only_blurs = verdicts["A"] == "passes" and "args[0]" in verdicts["B"]
passing.confirm("with A alone" if only_blurs else str(verdicts))

# %% [markdown]
# Our own mask of 1, 2, 3, 4 shows the mistake at once. Here is the first row of `dx`:

# %%
wrong = ops.conv2d_forward(dy[None, None], w[None, None], pad=1)[0][0, 0]
print("without flip", wrong[0], " right", dx[0])

# %% [markdown]
# **Test with data in which no symmetry can hide a mistake**: random numbers instead of ones, no two sizes alike,
# windows that overlap, and, where a layer has them, strides and padding that differ from each other and per axis, such
# as `stride=(2, 1), pad=(1, 2)`. That is why no two sizes were alike in the checks of convolutions above.
#
# ## The mask learns
#
# Back to the mask that was noise (`noise`, from the first cell of the page, as are `digits` and lesson 07's mask
# `edges`). We show it the ten digits and what lesson 07's mask makes of them. $E$ is half the
# mean squared difference, `dy` is the difference divided by the number of outputs, and you have derived the rest of the
# step on this page.

# %%
goal = ops.conv2d_forward(digits[:, None], edges[None, None])[0]
mask = noise[None, None]
for _ in range(400):
    y, _ = ops.conv2d_forward(digits[:, None], mask)
    dy_digits = (y - goal) / y.size
    # the step, by matrix products
    mask = mask - 2.0 * maps_by_product(dy_digits, digits[:, None], mask)[1]
print(np.round(mask[0, 0], 1))
print(f"largest difference from lesson 07's mask: {np.abs(mask[0, 0] - edges).max():.2f}")

# %% [markdown]
# (The 2.0 is the learning rate, found by trying.) Every weight is within 0.1 of a mask that training never saw: it saw
# only what that mask makes of ten digits, and the weights came back through `dw`. In a network, nobody knows the right
# outputs of a layer in the middle. There, `dy` is the `dx` of the next layer, and lesson 09 trains all of LeNet-5 that
# way.

# %% [markdown]
# ## Optional: stride and padding, backward
#
# <details><summary>Zeros between the gradients</summary>
#
# With stride 2 only every other window is computed. Write `dy` into an array as large as the output for stride 1
# would be: $S - 1$ zeros between neighbours, and zeros at the end for places that the stride did not reach. Then the
# full convolution runs as before. Below, 6 pixels and a mask of 3 give two outputs, and the last row and column are
# never seen: their gradient is 0 (the output of the next cell shows it). With padding, `dx` is computed for the
# padded image, and its border is cut off: padding is not an input, so its gradient is not needed.
#
# </details>

# %% tags=["hide-input", "hide-output"]
# Stride 2, backward.
x6, w3 = rng.integers(0, 4, (6, 6)).astype(float), np.arange(1.0, 10).reshape(3, 3)
dy2 = np.array([[5.0, 6], [7, 8]])
spread = np.zeros((4, 4))  # as many places as with stride 1: 6 - 3 + 1
spread[::2, ::2] = dy2     # every second row and column
full6 = figures.cnn_layers.full_convolution(spread, w3)
_, cache = ops.conv2d_forward(x6[None, None], w3[None, None], stride=2)
dx_stride = ops.conv2d_backward(dy2[None, None], cache)[0][0, 0]
print(spread, full6, sep="\n")
print("equal to the library's:", np.array_equal(full6, dx_stride))

# %% [markdown]
# ## Try it
#
# - Compare `backward_loops(dy, x, tried)[0]` with the full convolution that forgets the flip, for `tried` equal to
#   `np.ones((2, 2))`, `np.array([[1.0, 2], [2, 1]])` and `np.array([[1.0, 2], [1, 2]])`. Which two agree, and why?
#   <details><summary>Answer</summary>
#
#   The first two: turned by 180 degrees they are what they were. The third becomes `[[2, 1], [2, 1]]`.
#
#   </details>
# - Give `maps_by_loops` a `stride` argument. Which indices change? Which of the other two ways needs more than that?
#   <details><summary>Answer</summary>
#
#   Those of the pixel, in both lines: `h + p` becomes `h * stride + p`, and `v + q` becomes `v * stride + q`. For the
#   matrix product it is enough to give `im2col` and `col2im` the stride. The convolution has to spread `dy` out, with
#   zeros between its values, for `dx` and for `dw`.
#
#   </details>
# - Compute `ops.replication` of a $1\times1$ mask. When is unrolling free? For C1 with `stride=5` it is below 1. Which
#   pixels are missing?
#   <details><summary>Answer</summary>
#
#   It is 1, as for C5: if each pixel stands in one window only, nothing is copied twice. With stride 5, six windows of
#   5 cover 30 of the 32 rows and columns: the last two rows and the last two columns are missing, as
#   `ops.unseen(32, 5, 5)`, which is 2, tells. So $900 / 1024 = 0.88$.
#
#   </details>

# %% [markdown]
# <details><summary>For those who know the lectures</summary>
#
# - In Hwu's "Example", $\partial E/\partial W[0,0,0,0]$ ends with $\partial E/\partial Y[0,1,0] \cdot X[0,1,1]$. It
#   must be $\partial E/\partial Y[0,1,1]$, since pixel and output stand at the same place. With the upper left
#   $3 \times 3$ pixels of our `x` and `dy` = [[1, 2], [3, 5]], the slide's sum is 13 and the right one 19, which is
#   also the measured slope.
# - The slide on reuse lists 19.1, 12.8 and 1 for C1, C2 and C3. They belong to C1, C3 and C5: LeNet-5's layers 2 and 4
#   are poolings, S2 and S4.
#
# </details>

# %% [markdown]
# ## Check yourself
#
# **1.** A pooling layer takes $2\times2$ windows, and the four pixels of one window are all different. Its `dy` is 8.
# What do they receive in max pooling, and in average pooling? A second window, with `dy` 4, overlaps the first. Can a
# pixel receive 12?
#
# <details><summary>Answer</summary>
#
# Max pooling: the largest receives 8, the others 0. Average pooling: 2 each. Yes, in max pooling: a pixel that is the
# largest of both windows receives 8 + 4. In average pooling a shared pixel receives 2 + 1.
#
# </details>

# %% [markdown]
# **2.** Why does $\partial E/\partial X$ need the flipped mask, and $\partial E/\partial W$ no flip?
#
# <details><summary>Answer</summary>
#
# Follow one product $x_{h+p,v+q}\,w_{pq}$ of $y_{hv}$. Fix the weight: when the output moves right, so does the pixel,
# so `dy` and `x` are walked in the same direction. Fix the pixel: when the output moves right, the pixel stands
# further *left* in the window, so `dy` and `w` are walked in opposite directions. The flip turns one of them around.
#
# </details>

# %% [markdown]
# **3.** A convolution has $C = 8$, $K = 1$, $M = 64$. What is its replication, how often is each unrolled number
# used in the matrix product, and would the gradient check notice a forgotten flip?
#
# <details><summary>Answer</summary>
#
# Each pixel stands in exactly one window, so the replication is 1 and nothing is copied twice. Each value meets 64
# rows of $W_{rows}$: 64 uses. A $1\times1$ mask is its own flip, so the check passes, and such a test says
# nothing about the flip.
#
# </details>
