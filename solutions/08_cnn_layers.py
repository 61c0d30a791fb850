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
# # 08 · Exercises: the layers of a convolutional network, backward
#
# You find the gradient of a bias, mix maps, pool and send gradients back to the winners, unroll an image and count what
# that costs, and write both gradients of a convolution. One exercise asks which masks make a test blind. The sheet
# belongs to lesson 08, [The layers of a convolutional network, backward](../notebooks/08_cnn_layers.ipynb). It uses the
# lesson's letters: $B$ images, $C$ maps in, $M$ maps out, $K$ the size of the mask, $F$ that of a pooling window, $S$
# the stride; `dy` is $\partial E/\partial Y$. Sources are named by their lecturer: Dey, Owens, Hwu.
#
# A warm-up takes about five minutes, a core exercise ten to twenty, the stretch half an hour. Below each answer is a
# cell that checks it: it says which call is wrong and what was expected. Nothing may change its arguments. Arrays may
# hold whole numbers or fractions. No padding anywhere, unless you put it there yourself.

# %%
import numpy as np

from course_lib import reference as ops
from course_lib.checks import check

# %% [markdown]
# ## 08.1 · One bias, many places
#
# *2 points, warm-up. Trains: the gradient of a bias that a whole map shares. (Hwu, "Calculating dE/dW"; the bias is the
# course's own)*
#
# A convolution adds `b[m]` to every number of output map m, in every image. Given `dy` of shape (B, M, H_out, W_out),
# return $\partial E/\partial b$, an array of shape (M,). $E$ is the error of the whole batch.
#
# By hand: two images, one map of 1 × 2 pixels, `dy` is (1, 2) in the first and (4, 8) in the second. Raise the bias by
# a small h and $E$ grows by (1 + 2 + 4 + 8) h. So the gradient is (15,).
#
# <details><summary>Hint 1</summary>
#
# Paths from one bias to $E$: one through each output number that it was added to. Paths add.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Which of the four axes of `dy` must survive? All the others are summed over.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# `sum` takes a tuple of axes. The map is axis 1.
#
# </details>

# %% exercise="08.1"
def bias_gradient(dy):
    """Return dE/db (M,) for dy (B, M, H_out, W_out)."""
    ### BEGIN SOLUTION
    return dy.sum(axis=(0, 2, 3))
    ### END SOLUTION

# %% check="08.1"
check("08.1", bias_gradient)

# %% [markdown]
# ## 08.2 · A mask of one pixel
#
# *3 points, core. Trains: several maps and a bias: what a 1 x 1 convolution can do. (Dey, "Convolution Layer")*
#
# A mask of 1 × 1 pixel sees no neighbours, but it sees all maps: it mixes them. Three colours become one brightness,
# for instance. `x` has shape (B, C, H, W), `w` has shape (M, C), `b` has shape (M,). Return the output of this
# convolution, of shape (B, M, H, W), with stride 1. For one pixel,
# $y_{n,m,h,v} = b_m + \sum_c w_{m,c}\, x_{n,c,h,v}$.
#
# In other words, every pixel is a sample with C inputs, and all pixels go through the same dense layer. Write it
# without the library's convolutions. Loops over pixels are allowed, but one line is enough.
#
# <details><summary>Hint 1</summary>
#
# `einsum` takes the formula as it stands: name the axes of `w` and of `x` by letters, and after the arrow those of the
# result. A letter that is missing there is summed over.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The axes of `w` are "mc", those of `x` "nchv", those of the result "nmhv". The other way is `@`, with the maps moved
# to the last axis by `transpose(0, 2, 3, 1)`, and moved back afterwards. `reshape` moves no axis.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# NumPy lines up shapes from the right: `b` as it is would be added along the columns. `b[:, None, None]` has shape (M,
# 1, 1), which lines up with (M, H, W).
#
# </details>

# %% exercise="08.2"
def mix(x, w, b):
    """Return the 1 x 1 convolution (B, M, H, W) of x (B, C, H, W) with w (M, C) and bias b (M,)."""
    ### BEGIN SOLUTION
    return np.einsum("mc,nchv->nmhv", w, x) + b[:, None, None]
    ### END SOLUTION

# %% check="08.2"
check("08.2", mix)

# %% [markdown]
# ## 08.3 · Who won, and where
#
# *3 points, core. Trains: max pooling with the winner index. (Dey, "Pooling Layer", "Pooling Kernel"; Owens,
# "Max-Pooling")*
#
# One map `x` of shape (H, W), windows of F × F pixels, stride S. Return two arrays `(y, place)`, both of shape (H_out,
# W_out): the largest value of each window, and where it stands, as a whole number. Places are counted row by row
# through the whole map, from 0, so the pixel in row i and column j has place i · W + j. Of equal values the first one
# in this order wins. Pixels left over at the end are in no window.
#
# What must hold: `x.ravel()[place]` equals `y`. In the lesson's example the map is 2 × 4, F = S = 2, and `place` is
# [[5, 2]]. Write it without `max_pool_forward`.
#
# <details><summary>Hint 1</summary>
#
# Two loops over the outputs (h, v). Output (h, v) looks at `x[h * S : h * S + F, v * S : v * S + F]`.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `window.argmax()` counts through the window, from 0, and takes the first of equal values. `divmod(number, F)` makes a
# row and a column of it, inside the window.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# With p, q inside the window, the pixel stands in row `h * S + p` and column `v * S + q` of the map. Make `place` with
# `np.zeros((H_out, W_out), dtype=int)`.
#
# </details>

# %% exercise="08.3"
def max_pool(x, F, S):
    """Return (y, place), each (H_out, W_out): the largest values of x (H, W) and their places row * W + column."""
    ### BEGIN SOLUTION
    H, W = x.shape
    y = np.zeros((1 + (H - F) // S, 1 + (W - F) // S))
    place = np.zeros(y.shape, dtype=int)
    for h, v in np.ndindex(y.shape):
        window = x[h * S : h * S + F, v * S : v * S + F]
        p, q = divmod(window.argmax(), F)
        y[h, v] = window[p, q]
        place[h, v] = (h * S + p) * W + v * S + q
    return y, place
    ### END SOLUTION

# %% check="08.3"
check("08.3", max_pool)

# %% [markdown]
# ## 08.4 · Back to the winners
#
# *3 points, core. Trains: max pooling backward, with windows that overlap. (Dey, "Pooling Kernel")*
#
# Now C maps. `dy` and `place` have shape (C, H_out, W_out): for each window its gradient and the place of its winner,
# counted row by row through its own map, from 0 in every map. `shape` is (C, H, W). Return `dx`, a float array of this
# shape. Windows may overlap, so a pixel may have won several of them; nothing else is known of F and S, and nothing
# else is needed.
#
# By hand: one map of 2 × 4 pixels, `dy` is (2, 3, 7), `place` is (5, 5, 2). Pixel 5 gets 5, pixel 2 gets 7. However the
# windows lie, `dx` and `dy` have the same sum. Write it without `max_pool_backward`.
#
# <details><summary>Hint 1</summary>
#
# Start with zeros and walk through all outputs. Each hands its `dy` to one pixel. What must happen if that pixel has
# something already?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Place i · W + j is row i, column j: `divmod` by W. For loops over all outputs of all maps there is
# `np.ndindex(dy.shape)`.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# `+=`, one output at a time. With a whole array of places, `dx[places] += ...` keeps only one of the values that meet;
# `np.add.at` keeps all.
#
# </details>

# %% exercise="08.4"
def max_pool_gradient(dy, place, shape):
    """Return dx (C, H, W) for dy and place (C, H_out, W_out) and shape (C, H, W)."""
    ### BEGIN SOLUTION
    dx = np.zeros(shape)
    for c, h, v in np.ndindex(dy.shape):
        row, column = divmod(place[c, h, v], shape[2])
        dx[c, row, column] += dy[c, h, v]
    return dx
    ### END SOLUTION

# %% check="08.4"
check("08.4", max_pool_gradient)

# %% [markdown]
# ## 08.5 · What unrolling costs
#
# *2 points, warm-up. Trains: shapes of the matrix product and the replication factor. (Hwu, "Analyzing the Amount of
# Input Replication")*
#
# A convolution takes C maps of H × W pixels to M maps with K × K masks and stride S. As a matrix product it is
# $W_{rows} X_{cols}$, as in the lesson. Return three things: the shape of $W_{rows}$ as a pair, the shape of $X_{cols}$
# as a pair (for one image), and the replication: how many numbers $X_{cols}$ has, divided by how many the image has.
#
# The lecture's small layer, C = 3, H = W = 3, M = 2, K = 2, S = 1, gives `((2, 12), (12, 4), 1.777...)`. With a stride
# the replication may be below 1. Compute with whole numbers, without unrolling anything.
#
# <details><summary>Hint 1</summary>
#
# One row of $W_{rows}$ holds all masks of one output map. One column of $X_{cols}$ holds what one output sees.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# An output sees K × K pixels in each of the C maps. The number of columns is the number of places, H_out · W_out, with
# lesson 07's formula.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# The product of the two numbers of $X_{cols}$'s shape, divided with `/` by C · H · W.
#
# </details>

# %% exercise="08.5"
def unrolled(C, H, W, M, K, S):
    """Return (shape of W_rows, shape of X_cols, replication) of a convolution layer, for one image."""
    ### BEGIN SOLUTION
    places = (1 + (H - K) // S) * (1 + (W - K) // S)
    seen = C * K * K
    return (M, seen), (seen, places), seen * places / (C * H * W)
    ### END SOLUTION

# %% check="08.5"
check("08.5", unrolled)

# %% [markdown]
# ## 08.6 · Windows as samples
#
# *4 points, core. Trains: unrolling, in the order of lesson 04. (Dey, "Im2Col Operation"; Hwu, "Reorganize Input X for
# Matrix Multiplication")*
#
# In lesson 04 samples are rows and weights stand on the right, $Z = X W$. Unroll an image for that order: `x` has shape
# (C, H, W), the masks are K_h × K_w, the stride is S in both directions. Return the matrix of shape (H_out · W_out, C ·
# K_h · K_w) with one window in each *row*. Rows are in the order of the outputs, row by row. Within a row comes all of
# map 0, read row by row, then map 1, and so on.
#
# What must hold, for masks `w` (M, C, K_h, K_w): `windows_as_rows(x, K_h, K_w, S) @ w.reshape(M, -1).T` is the
# convolution, one column for each output map. The map [[1, 2, 3], [4, 5, 6]] and a mask of 2 × 2 give
# [[1, 2, 4, 5], [2, 3, 5, 6]]. Write it without `im2col`.
#
# <details><summary>Hint 1</summary>
#
# Each row is one cut-out of `x`, through all maps, as a vector. Which cut-out belongs to output (h, v)?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `x[:, h * S : h * S + K_h, v * S : v * S + K_w]` has shape (C, K_h, K_w), and `ravel` reads it in the order asked for:
# the last axis changes fastest.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# Loop over h in `range(H_out)` and v in `range(W_out)`, append the vectors to a list, and make an array of the list
# with `np.array`.
#
# </details>

# %% exercise="08.6"
def windows_as_rows(x, K_h, K_w, S):
    """Return the windows of x (C, H, W) as a matrix (H_out W_out, C K_h K_w), one window in each row."""
    ### BEGIN SOLUTION
    _, H, W = x.shape
    rows = []
    for h in range(1 + (H - K_h) // S):
        for v in range(1 + (W - K_w) // S):
            rows.append(x[:, h * S : h * S + K_h, v * S : v * S + K_w].ravel())
    return np.array(rows)
    ### END SOLUTION

# %% check="08.6"
check("08.6", windows_as_rows)

# %% [markdown]
# ## 08.7 · The full convolution, several maps
#
# *4 points, core. Trains: dE/dX as a full convolution with the flipped mask. (Hwu, "Back-propagation dE/dX for a
# convolutional layer")*
#
# A convolution with masks `w` (M, C, K_h, K_w), stride 1 and no padding has put out M maps, and `dy` (B, M, H_out,
# W_out) has come back. Return $\partial E/\partial X$, of shape (B, C, H, W), where H = H_out + K_h - 1 and
# W = W_out + K_w - 1. The lesson did it for one map as a full convolution; here there are several, and the masks need
# not be square. You may use `ops.conv2d_forward(x, w, pad=(rows, columns))`, which returns `(y, cache)`, but no
# backward function of the library and no `col2im`; loops are fine too.
#
# In numbers, one product of the forward pass: if pixel `x[c, i, j]` met weight `w[m, c, p, q]` in output
# `y[m, i - p, j - q]`, it now receives `dy[m, i - p, j - q] * w[m, c, p, q]`. All such shares are added.
#
# <details><summary>Hint 1</summary>
#
# `dy` plays the part of the image, and the maps change sides: M come in, C go out. Which shape must the masks have for
# that, and what has to happen to each mask?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `transpose(1, 0, 2, 3)` swaps the first two axes of `w`. The flip reverses the last two: `[:, :, ::-1, ::-1]`.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# The border of zeros is K_h - 1 rows and K_w - 1 columns wide, on each side: that is the `pad` of the one call that you
# need.
#
# </details>

# %% exercise="08.7"
def input_gradient(dy, w):
    """Return dE/dX (B, C, H, W) for dy (B, M, H_out, W_out) and masks w (M, C, K_h, K_w), stride 1, no padding."""
    ### BEGIN SOLUTION
    K_h, K_w = w.shape[2:]
    flipped = w.transpose(1, 0, 2, 3)[:, :, ::-1, ::-1]
    return ops.conv2d_forward(dy, flipped, pad=(K_h - 1, K_w - 1))[0]
    ### END SOLUTION

# %% check="08.7"
check("08.7", input_gradient)

# %% [markdown]
# ## 08.8 · Masks on which a test is blind
#
# *2 points, warm-up. Trains: test data in which no symmetry hides a mistake. (Hwu, "Back-propagation dE/dX for a
# convolutional layer"; the test is the course's own)*
#
# Somebody forgets the flip in 08.7 and tests with certain masks, `w` of shape (M, C, K_h, K_w), and random `dy`. Return
# True if the test cannot notice it, because with these masks the result is the same without the flip; False if it can.
# The flip turns every mask by 180 degrees and leaves the order of the maps alone. Equal means equal to the last bit; no
# tolerance.
#
# The lesson's blur: True. The lesson's pencil mask [[1, 2], [3, 4]]: False.
#
# <details><summary>Hint 1</summary>
#
# When does forgetting to do something change nothing? When doing it would have changed nothing.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# So compare `w` with its flip. All masks must agree: one that differs is seen in the result.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# The flip is `w[:, :, ::-1, ::-1]`, and `np.array_equal` compares two arrays and returns one truth value.
#
# </details>

# %% exercise="08.8"
def hides_the_flip(w):
    """Return True if the masks w (M, C, K_h, K_w) give the same dE/dX with and without the flip."""
    ### BEGIN SOLUTION
    return np.array_equal(w, w[:, :, ::-1, ::-1])
    ### END SOLUTION

# %% check="08.8"
check("08.8", hides_the_flip)

# %% [markdown]
# ## 08.9 · dE/dW with a stride
#
# *4 points, stretch. Trains: the gradient of a shared weight, with pixels that nobody saw. (Hwu, "Calculating dE/dW";
# the stride is the course's own)*
#
# One image, one map: `x` has shape (H, W). A mask of shape `mask`, a pair (K_h, K_w), was slid over it with stride S in
# both directions, no padding, and `dy` (H_out, W_out) has come back. Return $\partial E/\partial W$, a float array of
# shape (K_h, K_w). The lesson's formula is for stride 1; find the one for S yourself. The last rows and columns of `x`
# may have been seen by no window: then no product contains them, and no gradient does.
#
# By hand: x = (1, 2, 3, 4, 5, 6), a mask of one row and two columns, S = 3, dy = (1, 10). Weight 0 met 1 and 4, so its
# gradient is 1 · 1 + 10 · 4 = 41; weight 1 met 2 and 5: 52. Pixels 3 and 6 are in no window.
#
# <details><summary>Hint 1</summary>
#
# Write down the forward pass with stride S for one output, `y[h, v]`. Which pixel meets `w[p, q]` there? Every such
# product sends `dy[h, v]` times the pixel to the weight.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The lesson's `backward_loops` has the two pairs of loops. In its line for `dw`, two indices change.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# The pixel is in row `h * S + p` and column `v * S + q`: the stride belongs to the output, not to the weight. Take the
# shape of `dw` from `mask`; with unseen pixels it does not follow from the other shapes.
#
# </details>

# %% exercise="08.9"
def weight_gradient(dy, x, mask, S):
    """Return dE/dW of shape `mask` for dy (H_out, W_out) and x (H, W), with stride S."""
    ### BEGIN SOLUTION
    dw = np.zeros(mask)
    for h, v in np.ndindex(dy.shape):
        for p, q in np.ndindex(mask):
            dw[p, q] += dy[h, v] * x[h * S + p, v * S + q]
    return dw
    ### END SOLUTION

# %% check="08.9"
check("08.9", weight_gradient)
