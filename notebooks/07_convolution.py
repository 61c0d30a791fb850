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
# # 07 · Convolution: a dense layer that shares its weights
#
# The network of lesson 06 reads more than nine handwritten digits in ten. Here it reads one and the same digit four
# times, each time one pixel further to the right. You still read the same digit; before long, the network reads
# another.

# %% tags=["hide-input", "nbval-ignore-output"]
# Lesson 06's network, trained, and one digit that it reads four times.
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from course_lib import data, figures, nn
from course_lib import reference as ops
from course_lib.lesson import moved, predict, table, with_room

digits, rng = data.load_digits(), np.random.default_rng(0)
room = with_room(digits.images("test"), 3)
test, labels = digits.images("test")[room], digits.y_test[room]
training = dict(epochs=5, batch_size=64, lr=0.1, momentum=0.9, rng=rng)
dense_net = nn.models.mlp((784, 64, 10), rng=rng)
nn.train(dense_net, (digits.x_train, digits.y_train), **training)

shifts = [0, 1, 2, 3]
read = np.stack([dense_net.predict(moved(test, s).reshape(-1, 784)) for s in shifts])
one = int(np.argmax((read[0] == labels) & (read[3] != labels)))  # the first that is lost on the way
figures.show(
    figures.convolution.read_again([moved(test[one], s) for s in shifts], read[:, one]),
    alt=f"A handwritten {labels[one]}, moved to the right by 0, 1, 2 and 3 pixels. The network reads "
    f"{', '.join(map(str, read[:, one]))}",
    caption="Above each digit, what the network takes it for.")

# %% [markdown]
# Every weight of the first dense layer belongs to one pixel, so a digit that has moved meets weights that were trained
# for something else. This page is about a layer whose answer moves along with the digit, the **convolution**. It is
# tempting to think of it as a new kind of layer, with mathematics of its own. You will build one by hand, and then find
# it inside the dense layer that you know already: most weights are fixed at zero, and the few that remain are used
# again and again. Whether that is enough to read a digit that has moved, you will see at the end.

# %% [markdown]
# ## You will be able to
#
# - compute a convolution by hand, with one map and with several, and write it as loops and without loops;
# - say the shape of the output for any mask, stride and padding, and find the pixels that are never looked at;
# - draw a convolution as the matrix of a dense layer, with its zeros and its repeated weights;
# - tell "equivariant" from "invariant", and say which of the two it takes to read a digit that has moved.

# %% [markdown]
# <details><summary>About this page</summary>
#
# It follows Prof. Dey's lecture 56 at IIT Kharagpur with its slides, Prof. Owens' EEC 289Q lecture 11 at UC Davis, and
# ECE 508 lecture 10 by Prof. Hwu and colleagues at Illinois. You need lessons 02 and 06. Reading and trying takes about
# 60 minutes.
#
# </details>

# %% [markdown]
# ## Why not a dense layer
#
# The moved digit is one problem of the dense layer; the number of its weights is another. Take a small photograph, of
# 250 × 250 pixels.

# %% tags=["hide-input"]
# A prediction.
size = predict(
    "A dense layer on 250 × 250 pixels has as many nodes as pixels. How many weights does it have?",
    ["62,500", "125,000", "3.9 billion"],
    answer="3.9 billion",
    reveals=2,
)
size

# %% tags=["hide-output"]
pixels = 250 * 250
table([("one node", pixels), ("all nodes", pixels**2)], ["of", "weights"])

# %% [markdown]
# <details class="reveal"><summary>Every node has a weight for every pixel</summary>
#
# 62,500 nodes with 62,500 weights each make about 3.9 billion weights.[^Hwu "Fully Connected Layers Not Always Useful"]
# In float32 they fill 15.6 GB, and every single one has to be learned.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed.
size.confirm(f"{pixels**2 / 1e9:.1f} billion")

# %% [markdown]
# All these weights, and the layer does not even know which pixels are neighbours: it sees a vector. Three things can be
# done differently.[^Hwu "Differences Between CNN and Traditional Network"] The image can stay an image. An output can
# look at a small neighbourhood only: the layer is **local**. And the same weights can be used everywhere: they are
# **shared**.

# %% [markdown]
# ## The smallest example, by hand
#
# Take a signal of four numbers, and two weights. Lay the weights on the first two numbers, multiply what lies on top of
# each other, and add. Then move one step to the right and do it again:
#
# $$x = (1, 4, 2, 2), \quad w = (-1, 1): \qquad -1 + 4 = 3, \quad -4 + 2 = -2, \quad -2 + 2 = 0.$$
#
# The weights are called the **mask** (elsewhere also kernel or filter). This one measures the step from one number to
# the next.

# %%
x, w = np.array([1.0, 4, 2, 2]), np.array([-1.0, 1])
y = [sum(x[place + p] * w[p] for p in range(2)) for place in range(3)]
print([float(v) for v in y])

# %% [markdown]
# That is a **convolution**. Mathematicians turn the mask round first, and call what we do a cross-correlation. Networks
# learn their masks, so it makes no difference, and today's deep-learning libraries (PyTorch, TensorFlow, JAX) skip the
# flip.
#
# On an image the mask slides in two directions, and it may move by more than one pixel at a time: its step is the
# **stride**. One may first lay zeros around the image, the **padding**; then every pixel can be the middle of a window.
# Type your own mask below, or take one that is ready, and point at the
# output (or walk over it with the arrow keys): the frame on the left shows which pixels are multiplied, and below you
# see the products and their sum. Three things to find out:
#
# - Which mask makes the digit thicker? Which one, typed by you, moves it to the left?
# - Why does the even sky behind the lighthouse turn middle grey under every mask whose numbers add up to 0?
# - What do stride 2 and stride 3 cost, and what do they save?

# %%
figures.mask_explorer()

# %% [markdown]
# <details><summary>What you may have found</summary>
#
# Blur spreads every stroke over its neighbours. A single 1 to the *right* of the middle moves the picture to the
# *left*: each output copies its right neighbour. On an even patch all products share one factor, the grey of the patch,
# so the sum is that grey times the sum of the mask, which is 0. A stride of 2 computes a quarter of the outputs and a
# stride of 3 about a ninth (of 28 × 28 it is 100 in 784, a little more); you lose the fine detail between them.
#
# </details>

# %% [markdown]
# ## Pixel by pixel
#
# Now the same on paper. Take 4 × 4 pixels $I_0 \dots I_{15}$, numbered row by row, a 3 × 3 mask $A_0 \dots A_8$,[^Owens
# "Convolutional Neural Networks"] and a padding of one zero on each side. Write output 5, the one around pixel 5, as a
# formula in $A$ and $I$. The cell below keeps no values, only the *numbers* of the pixels, with -1 for the padding;
# `sliding_window_view` lists all windows.

# %% tags=["hide-output"]
numbers = np.pad(np.arange(16).reshape(4, 4), 1, constant_values=-1)
windows = sliding_window_view(numbers, (3, 3)).reshape(16, 9)

def terms(output):
    return " + ".join(f"A{a} I{i}" for a, i in enumerate(windows[output]) if i >= 0)

print("O5 =", terms(5))
print("O0 =", terms(0))

# %% [markdown]
# O5 has nine products. O0, in the corner, has only four, because the other five meet zeros. Now with
# numbers.[^Hwu "A Small Convolution Layer Example, Generating dE/dW"] The mask is the explorer's *vertical edges*: left
# column minus right column, the middle row counted twice. Textbooks call it the Sobel mask.
#
# $$\begin{bmatrix} 0&2&1&0 \\ 0&3&2&1 \\ 1&1&0&2 \\ 2&1&0&3 \end{bmatrix} \qquad
# \begin{bmatrix} 1&0&-1 \\ 2&0&-2 \\ 1&0&-1 \end{bmatrix}$$
#
# Work out output 5 on paper before you open the cell's output. (`pad=1` puts the zeros around. The library wants four
# axes, as the next section explains; `[None, None]` adds the first two.)

# %% tags=["hide-output"]
image = np.array([[0.0, 2, 1, 0], [0, 3, 2, 1], [1, 1, 0, 2], [2, 1, 0, 3]])
edge = np.array([[1.0, 0, -1], [2, 0, -2], [1, 0, -1]])
y, _ = ops.conv2d_forward(image[None, None], edge[None, None], pad=1)
print(f"output 5: {y[0, 0, 1, 1]:g}")

# %% [markdown]
# That is $(0 \cdot 1 + 0 \cdot 2 + 1 \cdot 1) - (1 \cdot 1 + 2 \cdot 2 + 0 \cdot 1)$, the left column less the right,
# each with its middle counted twice.

# %% [markdown]
# ## Several maps
#
# A colour image has three numbers per pixel: red, green and blue. Each of the three images is a **map** or channel, and
# each has its own mask. The products are added over all maps, so three maps go in and *one* comes out.[^Dey
# "Convolution Layer"] Here are three maps of 3 × 3 and three masks of 2 × 2.[^Hwu "Analysis of Small Example"] The
# upper left output, by hand:
#
# $$\begin{aligned}
# &(1{\cdot}1 + 2{\cdot}0 + 0{\cdot}0 + 1{\cdot}1) \\
# {}+{} &(1{\cdot}0 + 0{\cdot}1 + 2{\cdot}1 + 1{\cdot}0) \\
# {}+{} &(0{\cdot}2 + 1{\cdot}1 + 1{\cdot}0 + 0{\cdot}(-1)) \\
# {}={} &2 + 2 + 1 = 5
# \end{aligned}$$

# %% tags=["hide-output"]
x3 = np.array([[[1.0, 2, 0], [0, 1, 3], [2, 1, 0]],
               [[1.0, 0, 2], [2, 1, 0], [0, 1, 1]],
               [[0.0, 1, 1], [1, 0, 2], [3, 0, 1]]])
w3 = np.array([[[1.0, 0], [0, 1]], [[0, 1], [1, 0]], [[2, 1], [0, -1]]])
y3, _ = ops.conv2d_forward(x3[None], w3[None])
print(y3[0, 0])

# %% [markdown]
# Step through all four outputs, map by map, and say the next sum before you press. Watch two things: which numbers of
# `w` change from one place to the next, and which pixels are used more than once.

# %%
figures.convolution.slide_stepper(x3, w3)

# %% [markdown]
# No number of `w` changes: the masks that slide are always the same. The pixel in the middle of each map is in all four
# windows. (A mask can also slide along one axis, as over a sound, or along three, as through a medical
# scan.[^Hwu "Example Convolution Inputs"] Several maps are added just the same.)

# %% [markdown]
# For $M$ output maps there are $M$ such sets of masks, and $B$ images go through together. The mask has
# $K_h \times K_w$ weights, and $S$ is the stride. As in a dense layer, each output map can have a bias $b_m$, which is
# added everywhere. At row $h$, column $v$ (we keep the letter $w$ for the weights), output map $m$ of image $n$ is
#
# $$y_{n,m,h,v} = b_m + \sum_{c,\,p,\,q} x_{n,\,c,\,hS+p,\,vS+q}\; w_{m,c,p,q}$$
#
# where $c$ counts the input maps and $p, q$ the rows and columns of the mask, all from 0. With padding, the $x$ of the
# formula has its zeros already; $H$ and $W$ below are the sizes before padding.
#
# | | shape |
# |---|---|
# | $x$ | $(B, C, H, W)$ |
# | $w$ | $(M, C, K_h, K_w)$ |
# | bias $b$ | $(M,)$, one per output map |
# | $y$ | $(B, M, H_{out}, W_{out})$ |
#
# $H$ and $W$ appear only in $x$ and $y$. So one set of weights serves images of any size.[^Hwu "Convolution Naturally
# Supports Varying Input Sizes"]

# %% [markdown]
# The smallest mask has one weight. With one map, a **1 × 1 convolution** would only multiply the picture by a number.
# With several it mixes the maps of each pixel: every pixel sends its $C$ numbers through one and the same little dense
# layer. That is how networks reduce 256 maps to 64 without changing height or width, and how a colour
# image becomes a grey one. Two mixtures of the three maps above, their sum and the first less the last:

# %%
mix = np.array([[1.0, 1, 1], [1, 0, -1]])  # (M, C)
mixed, _ = ops.conv2d_forward(x3[None], mix[:, :, None, None])
# 9 pixels, 3 numbers each
pixel_by_pixel, _ = ops.dense_forward(x3.reshape(3, 9).T, mix.T)
print(mixed[0])
same = np.array_equal(mixed[0].reshape(2, 9), pixel_by_pixel.T)
print("a dense layer at each pixel:", same)

# %% [markdown]
# ## The loop version
#
# Seven loops:[^Hwu "Sequential Code: Forward Convolutional Layer"] four choose an output value, three add its products.
# (The bias is left out.)

# %%
def conv_loops(x, w, stride=1):
    (B, C, H, W), (M, _, K_h, K_w) = x.shape, w.shape
    H_out, W_out = 1 + (H - K_h) // stride, 1 + (W - K_w) // stride
    y = np.zeros((B, M, H_out, W_out))
    for n in range(B):                              # each image
        for m in range(M):                          # each output map
            for h in range(H_out):
                for v in range(W_out):              # each output value
                    for c in range(C):              # add over the maps
                        for p in range(K_h):
                            for q in range(K_w):    # and the mask
                                pixel = x[n, c, h * stride + p, v * stride + q]
                                y[n, m, h, v] += pixel * w[m, c, p, q]
    return y

# %% [markdown]
# ## Without loops
#
# `sliding_window_view` makes the windows at every place, and `[:, :, ::S, ::S]` keeps every $S$-th, so that $(B, C,
# H_{out}, W_{out}, K_h, K_w)$ is left. Then `einsum` reads like the formula: name the axes of both arrays by letters,
# and every letter that is missing after the arrow is summed over, here $c$, $p$ and $q$.

# %%
def conv_windows(x, w, stride=1):
    windows = sliding_window_view(x, w.shape[2:], axis=(2, 3))[:, :, ::stride, ::stride]
    return np.einsum("nchvpq,mcpq->nmhv", windows, w)

# %% [markdown]
# Both must agree with the library, which goes a [third way](../course_lib/reference/conv2d.py) that lesson 08 explains.
# They are tried on sizes of which no two are alike, so that a swapped axis cannot hide.

# %%
draw = np.random.default_rng(0)
x, w = draw.standard_normal((2, 3, 14, 21)), draw.standard_normal((4, 3, 6, 7))
rows = []
for stride in (1, 2):
    y, _ = ops.conv2d_forward(x, w, stride=stride)
    agree = [np.allclose(version(x, w, stride), y) for version in (conv_loops, conv_windows)]
    rows.append((stride, str(y.shape), *agree))
table(rows, ["stride", "shape of y", "loops agree", "windows agree"])

# %% [markdown]
# ## How many places: stride and padding
#
# Left to itself, the image shrinks: a mask 5 wide has only $28 - 5 + 1 = 24$ places in a row of 28. Padding puts $P$
# zeros on each side. LeNet-5, the network of lesson 09, pads digits of 28 × 28 to 32 × 32,[^Hwu "Inputs Inflated to
# Provide Padding"] so that the end of a stroke near the edge can still be in the middle of a window of a later layer.
# How many places are there in general? The last window must still fit into the padded image:
# $(H_{out} - 1)\,S + K \le H + 2P$. So[^Dey "Convolution Layer: Spatial Transformations"]
#
# $$H_{out} = 1 + \left\lfloor \frac{H - K + 2P}{S} \right\rfloor$$
#
# where $\lfloor\;\rfloor$ is the **floor**, rounding down. Compute all four sizes of the table before you open it.

# %% tags=["hide-output"]
settings = [(28, 5, 1, 0), (28, 5, 1, 2), (28, 4, 2, 1), (8, 3, 2, 0)]
table([(*s, ops.output_size(s[0], s[1], stride=s[2], pad=s[3])) for s in settings], ["H", "K", "S", "P", "H_out"])

# %% [markdown]
# Take the layer of the last row: 8 pixels, mask 3, stride 2. Show it an image of 8 × 8 pixels that is dark but for one
# bright column. The columns are numbered from 0.

# %% tags=["hide-input"]
# A prediction.
bars = predict(
    "The bright column is column 6, and in another image column 7. The mask is `edge`. Which of the two does it see?",
    ["both", "only column 6", "only column 7"],
    answer="only column 6",
    reveals=2,
)
bars

# %% tags=["hide-output"]
strongest = {}
for column in (6, 7):
    bar = np.zeros((1, 1, 8, 8))
    bar[..., column] = 1
    blind, _ = ops.conv2d_forward(bar, edge[None, None], stride=2)
    strongest[column] = float(np.abs(blind).max())
table(list(strongest.items()), ["bar in column", "strongest answer"])

# %% [markdown]
# <details class="reveal"><summary>Column 7 does not exist for this layer</summary>
#
# There are $1 + \lfloor 2.5 \rfloor = 3$ windows in a row. They begin at columns 0, 2 and 4, and the last one ends at
# column 6. So the answer to column 7 is 0 everywhere,
# as for an empty image, and nothing after this layer can bring the bar back. Training cannot help either: no product
# contains a pixel of that column, so no weight's gradient depends on it.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed.
bars.confirm({(True, True): "both", (True, False): "only column 6"}.get(
    (strongest[6] > 0, strongest[7] > 0), "only column 7"))

# %% [markdown]
# In the pictures below, every number says how many windows see that pixel, and a cross means that none does. The first
# is this very layer. Three more follow: mask 2 with stride 3, mask 5 with stride 3, and mask 3 with stride 2 and
# padding 1. Before you press, say
#
# - which of them sees every pixel without padding;
# - which one misses nothing but padding;
# - which one has gaps between its windows.

# %%
# (size, K, S, P)
layers = [(8, 3, 2, 0), (8, 2, 3, 0), (8, 5, 3, 0), (8, 3, 2, 1)]
figures.convolution.coverage_stepper(layers)

# %% [markdown]
# Our layer loses one column and one row: 15 of 64 pixels, nearly a quarter. With padding 1 a column is left over again,
# but it is one of the added zeros, and column 7 is seen. So whenever you choose a stride above 1, compute what is left
# over.
#
# Padding has a second effect: it gives the edge more weight. With mask 3 and stride 1, a corner pixel is seen once
# without padding and four times with padding 1; a pixel in the middle is seen nine times either way.

# %%
right_bar = np.zeros((1, 1, 8, 8))
right_bar[..., 7] = 1  # the column that was not seen
right, _ = ops.conv2d_forward(right_bar, edge[None, None], stride=2, pad=1)
lost = figures.convolution.never_seen(8, 3, stride=2)
print("pixels unseen without padding:", lost.sum(), "of", lost.size)
print("last column of the answer, with padding 1:", right[0, 0, :, -1])

# %% [markdown]
# ## The same layer as a matrix
#
# Without its bias, a convolution multiplies by constants and adds. So it is linear, and every linear function from 16
# numbers to 4 can be written as a 4 × 16 matrix. To find that matrix, feed in images with a single 1: what comes out
# for a 1 at pixel $k$ is column $k$. `np.eye(16)` holds these 16 images, one per row.

# %%
units = np.eye(16).reshape(16, 1, 4, 4)
T = ops.conv2d_forward(units, edge[None, None])[0].reshape(16, 4).T
print("T", T.shape)

# %% [markdown]
# `edge` has zeros and equal weights of its own, so it hides the pattern. Give the mask nine different weights
# $A_0 \dots A_8$ instead. (Without padding, four of the outputs above are left: 5, 6, 9 and 10.)

# %% tags=["hide-input"]
# A prediction.
cells = predict(
    "The matrix has 4 rows and 16 columns. How many of its 64 cells hold a weight?",
    [9, 16, 36, 64],
    answer=36,
    reveals=2,
)
cells

# %% tags=["hide-input", "hide-output"]
# The matrix, drawn.
named = figures.convolution_matrix.as_matrix((3, 3), (4, 4))
figures.show(
    figures.convolution_matrix.matrix_of_weights(named, ["O5", "O6", "O9", "O10"]),
    alt=f"A matrix {named.shape}: each row holds A0 to A8 once, in three runs of three, and "
    f"{np.sum(named[0] == 0)} zeros; each row is the one above, moved to the right",
    caption="Read along a row: one window. Follow one name from row to row: one weight, used four times.")

# %% [markdown]
# <details class="reveal"><summary>Each row is one window</summary>
#
# Four windows of nine pixels fill 36 cells, and all four use the same nine weights. The first row is O5, term by term.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by the matrix.
cells.confirm(int(np.count_nonzero(named)))

# %% [markdown]
# Now back to the belief from the top of the page, that a convolution is a new kind of layer. Give `T` to the dense
# layer of lesson 02. Its weights have the shape (inputs, outputs), so it gets `T.T`, and its input is the image as a
# row of 16 numbers.

# %%
dense, _ = ops.dense_forward(image.reshape(1, 16), T.T)
y, _ = ops.conv2d_forward(image[None, None], edge[None, None])
print("dense layer ", dense[0])
print("convolution ", y.ravel())

# %% [markdown]
# So it is a dense layer under two rules. Where a pixel lies outside an output's window, the weight between them is 0
# and stays 0: the layer is local. And the nine weights that remain are the same nine in every row: they are shared.
# Training keeps them the same, since all copies of a weight take one common step, against the sum of their gradients,
# as lesson 08 shows. On a larger image, with padding, you can see the pattern.

# %%
large = figures.convolution_matrix.as_matrix((3, 3), (8, 8), pad=1)
figures.show(
    figures.convolution_matrix.bands(large, "3 x 3 mask, 8 x 8 image, T"),
    alt=f"A matrix {large.shape}, {np.mean(large == 0):.0%} white; "
    "nine weights repeat along nine slanting lines",
    caption=f"{np.mean(large == 0):.0%} of {large.size:,} cells are 0. Three bands, one per row of the mask; in each, "
    "three lines side by side, one per weight. A gap in a line is a place where the mask hangs over the edge.")

# %% [markdown]
# Back to the 250 × 250 photograph, with a 5 × 5 mask and padding 2, so that there is one output per pixel. How many
# cells of the matrix hold a weight, and how many different weights are there? (Ones, convolved with ones, count the
# pixels that each window really covers.)

# %%
covered, _ = ops.conv2d_forward(np.ones((1, 1, 250, 250)), np.ones((1, 1, 5, 5)), pad=2)
table([("dense", pixels**2), ("only local", int(covered.sum())), ("only shared", (2 * 250 - 1) ** 2),
       ("local and shared", 5 * 5)], ["layer", "weights"])

# %% [markdown]
# From 3.9 billion to 25, and it takes both rules. Locality without sharing leaves 1.5 million weights. Sharing without
# locality leaves one mask of 499 × 499, large enough to cover the whole image from every place: a quarter of a million
# weights.
#
# Does an output then see no more than 5 × 5 pixels? In the first layer, yes. But an output of a second such layer sees
# 5 × 5 outputs of the first, and through them 9 × 9 pixels. Layer by layer, the view widens.

# %% [markdown]
# ## The digit moves
#
# Now take the digit from the top of the page, and the same digit three pixels further to the right. In a dense layer
# every weight meets another pixel. In a convolution the same mask sees the same pixels, just elsewhere:

# %% tags=["hide-input", "nbval-ignore-output"]
# The digit and its map of vertical edges, twice.
pair = np.stack([test[one], moved(test[one], 3)])
y, y_moved = ops.conv2d_forward(pair[:, None], edge[None, None], pad=1)[0][:, 0]
assert np.allclose(y_moved[:, 3:], y[:, :-3])
figures.show(
    figures.convolution.moved_maps(*pair, y, y_moved, 3),
    alt="A digit and its map of vertical edges; below, both moved by three pixels and otherwise unchanged",
    caption="Strokes answer with a minus (purple) at their left edge and a plus (orange) at their right. "
    "Below, the dashed line and everything else stand three columns further right.")

# %% [markdown]
# **Move the input, and the output moves with it**: the layer is **equivariant** to shifts, because it shares its
# weights. There are two limits. What moves over the border is lost. And with stride 2, a shift by 2 pixels moves the
# map by 1, but a shift by 1 pixel gives another map.
#
# So does a network that begins with a convolution read digits that have moved? Build one. It has 64 masks, and nobody
# trains them: they are pieces of 9 × 9 pixels cut out of 64 training digits, about in the middle, less their mean, so
# that even grey gives 0. `pad=8` lets a mask hang over the edge until only one of its rows or columns is left on
# the image. (From the first cell of this
# page: `digits`, `training`, `moved`. Only digits with room for the move are used, so no ink leaves the picture.)

# %%
def cut_masks(images, rng):
    masks = []
    for image in images:
        # upper left corner, 6 to 12
        row, column = rng.integers(6, 13, size=2)
        piece = image[row : row + 9, column : column + 9]
        masks.append(piece - piece.mean())
    return np.stack(masks)[:, None]

masks = cut_masks(digits.images("train")[:64], rng)  # (64, 1, 9, 9)

def maps_of(images):
    maps, _ = ops.conv2d_forward(images[:, None], masks, pad=8)
    return np.maximum(maps, 0)  # ReLU; (B, 64, 36, 36)

# %% [markdown]
# The sum is large where ink meets the mask's positive numbers, and paper, which is 0, lies under the negative ones. So
# each map says where something like its piece of a stroke stands, and how much of it. Here are three of the masks; the
# frame is the place of the largest sum.

# %% tags=["hide-input", "nbval-ignore-output"]
# Three masks, and the place of each one's largest sum, before and after the move.
chosen = [3, 16, 29]
found = maps_of(pair)[:, chosen]
figures.show(
    figures.convolution.best_places(pair, masks[chosen, 0], found, chosen),
    alt="Three masks, each a piece of a stroke. On the digit each has a frame where its sum is largest; on the digit "
    "moved by three pixels the frame has moved along.",
    caption="Left, a mask: where it is orange it wants ink, where it is purple it wants paper.")

# %% [markdown]
# After the convolution stands a single dense layer, which gets all 82,944 numbers of the 64 maps. A step for one digit
# changes a score by up to the learning rate times the sum of the squared inputs, and with so many inputs that sum is
# large. So the rate has to be small: 0.0001 works. (The training digits go through in 16 parts; the maps of all at once
# would take 1.3 GB.)

# %%
train = np.array_split(digits.images("train"), 16)
train_labels = np.array_split(digits.y_train, 16)
gently = {**training, "epochs": 1, "lr": 0.0001, "progress": False}
all_net = nn.models.mlp((64 * 36 * 36, 10), rng=rng)
for _ in range(2):  # twice through all digits
    for images, theirs in zip(train, train_labels):
        nn.train(all_net, (maps_of(images).reshape(len(images), -1), theirs), **gently)

# %% [markdown]
# Both networks learned from digits as they are, and both read about nine in ten of the test digits that have not moved.
# Now move all test digits by three pixels. The network of the page's first picture is left with about a half.

# %% tags=["hide-input"]
# A prediction.
on_shifted = predict(
    "Which share does the network with the convolution still read, three pixels further right?",
    ["as many as before, since its maps move along", "clearly more than the dense network",
     "about a half, like the dense network"],
    answer="about a half, like the dense network",
    reveals=2,
)  # fmt: skip
on_shifted

# %% tags=["hide-input", "hide-output", "nbval-ignore-output"]
# Both networks on digits moved by 0, 1, 2 and 3 pixels. The largest values are kept for later.
def through_all(images):
    scores, largest = [], []
    for part in np.array_split(images, 16):
        maps = maps_of(part)
        scores.append(all_net.predict(maps.reshape(len(part), -1)))
        largest.append(maps.max(axis=(2, 3)))
    return np.concatenate(scores), np.concatenate(largest)

passed = [through_all(moved(test, s)) for s in shifts]
dense_right = [float(np.mean(answers == labels)) for answers in read]
all_right = [float(np.mean(scores == labels)) for scores, _ in passed]
table(list(zip(shifts, dense_right, all_right)), ["moved by", "dense", "convolution, then dense"],
      formats={"dense": ".0%", "convolution, then dense": ".0%"})

# %% [markdown]
# <details class="reveal"><summary>The maps moved along, the weights after them did not</summary>
#
# A dense layer on the maps has one weight for each place again, so a map that has moved meets weights that were trained
# for another place. Three pixels on, it does a little better than the dense layer on pixels, but it fails too.
# Equivariance keeps what is in a picture *and* where it is. Something still has to forget the where.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed.
half = all(0.35 <= shares[3] <= 0.65 for shares in (dense_right, all_right))
on_shifted.confirm("about a half, like the dense network" if half else str(all_right))

# %% [markdown]
# The third network has the *same* 64 masks and the same ReLU. Of each map it keeps a single number, the largest, and
# again one dense layer learns the digit, now from 64 numbers. A 0 and a 7 are made of different pieces, so these
# numbers differ. (Each of the 64 is brought to mean 0 and standard deviation 1 first.)

# %%
def largest(images):
    parts = np.array_split(images, 16)
    return np.concatenate([maps_of(part).max(axis=(2, 3)) for part in parts])

fits = largest(digits.images("train"))
centre, spread = fits.mean(axis=0), fits.std(axis=0)
conv_net = nn.models.mlp((64, 10), rng=rng)
history = nn.train(conv_net, ((fits - centre) / spread, digits.y_train), **training)

# %% [markdown]
# Now the digits move again.

# %% tags=["hide-input"]
# A prediction.
shifted = predict(
    "This network reads about nine in ten of the unmoved test digits. And three pixels further right?",
    ["about a half, like the other two", "somewhat fewer than unmoved, about eight in ten", "as many as unmoved"],
    answer="as many as unmoved",
    reveals=2,
)  # fmt: skip
shifted

# %% tags=["hide-input", "hide-output", "nbval-ignore-output"]
# All three networks on the digits that have moved.
seen = [(best - centre) / spread for _, best in passed]
conv_right = [nn.accuracy(conv_net.predict(v), labels) for v in seen]
three = {"dense": (shifts, dense_right), "64 masks, all values": (shifts, all_right),
         "64 masks, the largest": (shifts, conv_right)}
figures.show(
    figures.convolution.shares_read(three),
    alt=f"Over three pixels the dense network falls from {dense_right[0]:.0%} to {dense_right[3]:.0%}, a dense layer "
    f"on all values of the maps from {all_right[0]:.0%} to {all_right[3]:.0%}; with the largest of each map it stays "
    f"at {conv_right[0]:.0%}",
    caption=f"No network ever saw a moved digit. The dense one falls from {dense_right[0]:.0%} to "
    f"{dense_right[3]:.0%}, the one on all values from {all_right[0]:.0%} to {all_right[3]:.0%}; the largest values of "
    f"the same maps keep {conv_right[0]:.0%}.")

# %% [markdown]
# <details class="reveal"><summary>The largest value is the same, wherever it stands</summary>
#
# The masks are the same as in the network that failed, and again the maps moved along. But of each map only the largest
# number is kept, and that number does not depend on its place. As long as no ink leaves the picture, the result is
# **invariant** (here up to the rounding of float32).
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed.
stays = max(conv_right) - min(conv_right) <= 0.005
shifted.confirm("as many as unmoved" if stays else str(conv_right))

# %% [markdown]
# Keep the two words apart. A convolution is *equivariant*: its maps move along with the object. The largest value of a
# map is *invariant*: it does not say where the object is. Here is the digit from the top of this page again:

# %% tags=["hide-input", "nbval-ignore-output"]
# The third network's four readings of the first digit.
again = [int(conv_net.predict(v)[one]) for v in seen]
figures.show(
    figures.convolution.read_again([moved(test[one], s) for s in shifts], again),
    alt=f"The {labels[one]} from the top, moved by 0, 1, 2 and 3 pixels. The third network reads "
    f"{', '.join(map(str, again))}",
    caption="Above each digit, what the third network takes it for.")

# %% [markdown]
# One answer four times. Nothing promises that it is right: about one digit in ten is misread where it stands, and then
# at every other place too.
#
# What does the network pay for not asking *where*? Each mask still tells above from below within its own 9 × 9 pixels.
# But can it tell how the pieces lie relative to each other? Cut every test digit into an upper and a lower half, with
# nine rows of paper between them, so that no mask sees both. Then exchange the halves. (A mask does not mind a taller
# image.)

# %%
upper, lower = test[:, :14], test[:, 14:]
paper = np.zeros_like(test[:, :9])
torn = np.concatenate((upper, paper, lower), axis=1)
swapped = np.concatenate((lower, paper, upper), axis=1)
told = [conv_net.predict((largest(images) - centre) / spread)
        for images in (torn, swapped)]

# %% tags=["hide-input", "nbval-ignore-output"]
# The digit of the top, torn and with its halves exchanged.
figures.show(
    figures.convolution.read_again([torn[one], swapped[one]], [t[one] for t in told], ["cut in two", "exchanged"]),
    alt=f"The {labels[one]}, cut in two, and its halves exchanged; the network gives both the same answer.",
    caption=f"The same answer to both: for {np.mean(told[0] == told[1]):.0%} of all test digits.")

# %% [markdown]
# To this network the two are one picture: the same pieces, somewhere. That is the price of forgetting the place all at
# once. Pooling, in lessons 08 and 09, forgets it a little at a time. And nobody will cut out masks any more: in lesson
# 08 a mask learns.

# %% [markdown]
# ## Try it
#
# - In the cell of `figures.convolution.slide_stepper`, replace `w3` by `w3[::-1]`, the masks in reverse order. Which
#   outputs change? Then add `stride=2`: how many frames are left, and which pixels are never framed?
#   <details><summary>Answer</summary>
#
#   Three of the four: the upper row is 5 and 7 now, the lower one 2 and 7. (The 5 stays by chance.) With stride 2 only
#   one place is left: three frames, one for each map. The last row and the last column are never framed.
#
#   </details>
# - In the cell of the moved digit, replace `edge` by its transpose, `edge.T`. Which strokes answer now? Does the map
#   still move along?
#   <details><summary>Answer</summary>
#
#   Now the horizontal strokes answer, with a minus above and a plus below. The map still moves along with the digit:
#   that comes from sharing, whatever the weights are.
#
#   </details>
# - Cut masks out of 16 digits instead of 64, then out of 128 (`mlp` needs the same number). What happens to the
#   accuracy on unmoved digits, and does the curve stay flat?
#   <details><summary>Answer</summary>
#
#   With 16 masks it falls to about three quarters, with 128 it comes close to the dense network. The curve stays flat
#   each time: that is how the network is built, whatever it has learned.
#
#   </details>

# %% [markdown]
# <details><summary>For those who know the lectures</summary>
#
# **The floor.** Prof. Dey's slide "Convolution Layer: Spatial Transformations" has a fraction bar and rounds nothing,
# and it calls the size of the mask F. For 8 pixels, mask 3, stride 2 and no padding it promises 3.5 rows. The library
# rounds down to 3, as frameworks do, and leaves pixels unseen.
#
# **Equivariant, not invariant.** Prof. Hwu's table "Example Convolution Inputs" says that a convolution over the
# frequency axis is invariant to frequency shifts. On this page it is the maps that move along (equivariant), and
# something after them, here the largest value, that makes the result invariant.
#
# **Where counting starts.** Prof. Owens counts pixels and weights from 1, so our output 5 is his O6. Prof. Hwu's
# listing "Sequential Code: Forward Convolutional Layer" starts its sums at 0, the formulas of "Back-propagation for a
# convolutional layer" at 1, with the same pixel $X(c, h + p, w + q)$. With a 2 × 2 mask of ones on this page's 4 × 4
# image the first output is $0 + 2 + 0 + 3 = 5$; counted from 1 it would be $3 + 2 + 1 + 0 = 6$, one row and one column
# too far.
#
# </details>

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
# **2.** In the matrix $T$ you change a single cell, from $A_4$ to $A_4 + 1$, and keep the others. Is the result a
# dense layer? Is it a convolution? What do you lose?
#
# <details><summary>Answer</summary>
#
# It is a dense layer, as any matrix is. It is not a convolution any more, because one output now uses a different mask
# from its neighbours. An object that moves there gets a different answer, so the equivariance is gone. (A training step
# on a convolution cannot do that: it changes all four copies of $A_4$ together.)
#
# </details>

# %% [markdown]
# **3.** An image is 11 pixels wide, the mask 4, the stride 3. How many outputs are there per row, and which columns
# does no window see? Does padding 1 help?
#
# <details><summary>Answer</summary>
#
# $1 + \lfloor 7 / 3 \rfloor = 3$. The windows begin at columns 0, 3 and 6; the last one ends at column 9, so column 10
# is unseen. With padding 1, $1 + \lfloor 9 / 3 \rfloor = 4$ and nothing is left over: the last window ends exactly at
# the last padded column, and every pixel is seen.
#
# </details>
