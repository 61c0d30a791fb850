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
# # 07 · Exercises: convolution
#
# You compute sizes and find the pixels that nobody looks at, slide masks in one and two directions by loops, write a
# convolution as the matrix of a dense layer, count what is learned, and find out what the flip of the mathematicians
# is for. The sheet belongs to lesson 07 and uses its letters: $x$ is the input, $w$ the mask, $C$ input maps, $M$
# output maps, $K$ the size of the mask, $S$ the stride, $P$ the padding on each side. "Dey", "Hwu" and "Owens" are the
# lectures that the lesson names.
#
# A warm-up takes about five minutes, a core exercise ten to twenty, the stretch half an hour. Below each answer is a
# cell that checks it: it says which call is wrong and what was expected. Nothing may change its arguments. Arrays may
# hold whole numbers or fractions. As in all libraries, *convolution* does not turn the mask unless the text says so.

# %%
import numpy as np

from course_lib import reference as ops
from course_lib.checks import check

# %% [markdown]
# ## 07.1 · Sizes through a network
#
# *2 points, warm-up. Trains: output sizes with mask, stride and padding. (Dey, "Convolution Layer: Spatial
# Transformations")*
#
# A square image passes through several layers, convolutions and poolings. `size` is its number of rows. `layers` is a
# list of triples (mask, stride, pad), one for each layer; `pad` zeros stand on each side. Return a list of whole
# numbers: the size behind each layer, in order. Every mask fits. No layers give an empty list.
#
# In numbers: 8 pixels, mask 3, stride 2, no padding leave a size of 3, so `sizes(8, [(3, 2, 0)])` is `[3]`. Write it
# without the library's `output_size`, and give nothing else that name.
#
# <details><summary>Hint 1</summary>
#
# What one layer puts out is what the next one gets. So there is one number that changes as you walk through the list.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The last window must fit: `(places - 1) * stride + mask` is at most the padded size. Solve it for the largest whole
# number `places`.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# The lesson's formula has a floor, which is `//` in Python. Inside the loop, give `size` its new value and append it to
# a list.
#
# </details>

# %% exercise="07.1"
def sizes(size, layers):
    """Return the list of sizes behind each layer (mask, stride, pad), for an image of `size` rows."""
    ### BEGIN SOLUTION
    found = []
    for mask, stride, pad in layers:
        size = 1 + (size - mask + 2 * pad) // stride
        found.append(size)
    return found
    ### END SOLUTION

# %% check="07.1"
check("07.1", sizes)

# %% [markdown]
# ## 07.2 · The columns that no window sees
#
# *3 points, core. Trains: what a stride leaves out, at the end and between windows. (Dey, "Stride"; the floor is the
# course's own)*
#
# One row of an image has `width` pixels, its columns are 0 to `width - 1`. `pad` zeros are put on each side, and a mask
# of `mask` numbers slides over it with stride `stride`, as in the lesson: the first window begins with the first zero
# of the padding, and every window lies inside the padded row. Return the list of the image's columns that no window
# sees, in increasing order. Zeros of the padding are no columns of the image.
#
# By hand, 11 pixels, mask 3, stride 4, padding 1: windows see columns -1 to 1, 3 to 5 and 7 to 9, so columns 2, 6 and
# 10 are left: `[2, 6, 10]`. Write it without `col2im`.
#
# <details><summary>Hint 1</summary>
#
# Do not look for a formula: there are two kinds of unseen columns, those at the end and those in gaps. Collect what
# *is* seen and take the rest.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# In the padded row the windows begin at 0, `stride`, `2 * stride` and so on, as long as `place + mask` is at most
# `width + 2 * pad`. `range` has a step.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# A window that begins at `place` of the padded row sees the columns `place - pad` to `place - pad + mask - 1` of the
# image. Put them into a set, and return the numbers of `range(width)` that are not in it.
#
# </details>

# %% exercise="07.2"
def unseen_columns(width, mask, stride, pad):
    """Return the columns 0 ... width - 1 that no window sees, as a list in increasing order."""
    ### BEGIN SOLUTION
    seen = set()
    for place in range(0, width + 2 * pad - mask + 1, stride):
        seen.update(range(place - pad, place - pad + mask))
    return [column for column in range(width) if column not in seen]
    ### END SOLUTION

# %% check="07.2"
check("07.2", unseen_columns)

# %% [markdown]
# ## 07.3 · A skeleton in motion
#
# *3 points, core. Trains: one direction, several maps, stride and padding, by loops. (Hwu, "Example Convolution
# Inputs")*
#
# A camera follows a person and writes down the angle of every joint, again and again. So `x` has shape (C, L): one map
# for each of C joints, L moments. `w` has shape (M, C, K): M output maps, each with one mask of K numbers for each
# joint. Put `pad` zeros before the first and after the last moment of every joint, and return the convolution with
# stride `stride`, a float array of shape (M, L_out), without a bias. The mask slides along time only; joints are added
# up.
#
# The scalar formula, with $\tilde x$ for the padded input: $y_{m,v} = \sum_{c,\,q} \tilde x_{c,\,vS+q}\; w_{m,c,q}$.
# Loops or `einsum` are up to you, but no ready-made convolution, neither the library's nor NumPy's.
#
# <details><summary>Hint 1</summary>
#
# First decide the sizes: C, L, M, K are in the shapes of `x` and `w`, and L_out is the lesson's formula. Then you need
# a place for the padded input and one for the output.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `np.pad(x, ((0, 0), (pad, pad)))` pads the second axis only. For the output use `np.zeros`, which makes floats.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# Two loops choose an output, `m` and `v`; two more, `c` and `q`, add its products with `+=`. Instead of the inner two
# you can sum a product of two (C, K) arrays: `padded[:, v * stride : v * stride + K]` and `w[m]`.
#
# </details>

# %% exercise="07.3"
def conv1d(x, w, stride, pad):
    """Return the convolution (M, L_out) of x (C, L) with masks w (M, C, K), zeros on both ends, no bias."""
    ### BEGIN SOLUTION
    (C, L), (M, _, K) = x.shape, w.shape
    padded = np.pad(x, ((0, 0), (pad, pad)))
    L_out = 1 + (L - K + 2 * pad) // stride
    y = np.zeros((M, L_out))
    for m in range(M):
        for v in range(L_out):
            for c in range(C):
                for q in range(K):
                    y[m, v] += padded[c, v * stride + q] * w[m, c, q]
    return y
    ### END SOLUTION

# %% check="07.3"
check("07.3", conv1d)

# %% [markdown]
# ## 07.4 · A picture without left and right ends
#
# *4 points, core. Trains: two directions and several maps by loops; equivariance without a border. (Hwu, "Sequential
# Code: Forward Convolutional Layer"; the ring is the course's own)*
#
# A camera on a tower takes a picture all around. Its left end is the right neighbour of its right end: on the right of
# the last column comes column 0 again. Above and below there is nothing. `x` has shape (C, H, W), `w` has shape (C,
# K_h, K_w), with K_h at most H and K_w at most W. Return the one output map, a float array of shape (H - K_h + 1, W):
# stride 1, no padding, and output column v belongs to the window that begins at column v and goes to the right, across
# the join where it must. Products are added over all maps.
#
# By hand, one row: (1, 4, 2, 2) with mask (-1, 1) gives (3, -2, 0, **-1**); the last is -2 + 1. Whatever you return,
# turning the camera by one column must turn the output by one column, with nothing lost:
#
#     panorama(np.roll(x, 1, axis=2), w)  equals  np.roll(panorama(x, w), 1, axis=1)
#
# Write it without the library's `conv2d_forward` and its relatives.
#
# <details><summary>Hint 1</summary>
#
# Start from the lesson's loop version. There is one image and one output map, so two of its loops are gone. What is the
# number of output columns now?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Rows are as before. Only the column that is read changes: after W - 1 comes 0. The remainder operator `%` does that.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# Loop over h, v (the output), then c, p, q (its products), and read `x` at map c, row `h + p`, column `(v + q) % W`.
# W is the last number of `x.shape`, not the second.
#
# </details>

# %% exercise="07.4"
def panorama(x, w):
    """Return the output map (H - K_h + 1, W) of x (C, H, W) and masks w (C, K_h, K_w), columns joined to a ring."""
    ### BEGIN SOLUTION
    (C, H, W), (_, K_h, K_w) = x.shape, w.shape
    y = np.zeros((H - K_h + 1, W))
    for h in range(H - K_h + 1):
        for v in range(W):
            for c in range(C):
                for p in range(K_h):
                    for q in range(K_w):
                        y[h, v] += x[c, h + p, (v + q) % W] * w[c, p, q]
    return y
    ### END SOLUTION

# %% check="07.4"
check("07.4", panorama)

# %% [markdown]
# ## 07.5 · The matrix inside a convolution
#
# *4 points, stretch. Trains: a convolution as a dense layer with zeros and shared weights. (Owens, "Convolutional
# Neural Networks"; the matrix is the course's own)*
#
# One map, one mask, no padding. `w` has shape (K_h, K_w), the image has `H` rows and `W` columns, the stride is
# `stride` in both directions. Return the float matrix T of shape (H_out · W_out, H · W) with
# $T\,x = y$, where the image and the output are written as vectors, row after row (as `ravel` does). Fill it by place:
# which pixel does weight (p, q) meet in output (h, v)?
#
# For a row of four pixels and the mask (-1, 1), so H = 1, W = 4, T is
#
#     [[-1,  1,  0,  0],
#      [ 0, -1,  1,  0],
#      [ 0,  0, -1,  1]]
#
# Every row holds the K_h · K_w weights once and zeros otherwise. The library's convolutions and `im2col` are not
# allowed here: with them you would read the matrix off, as the lesson did, instead of finding out where its weights
# stand.
#
# <details><summary>Hint 1</summary>
#
# Two numberings are needed. Pixel (i, j) of an image with W columns is number `i * W + j`. Outputs are numbered in the
# same way, but their rows have another length.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Start with `np.zeros`. Loop over every output (h, v) and every weight (p, q): each visit fills one cell. The pixel
# that they share is in row `h * stride + p`.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# The cell is `T[h * W_out + v, (h * stride + p) * W + v * stride + q]`. What goes into it?
#
# </details>

# %% exercise="07.5"
def as_dense(w, H, W, stride):
    """Return T (H_out W_out, H W), the convolution with mask w (K_h, K_w) as a matrix."""
    ### BEGIN SOLUTION
    H_out, W_out = 1 + (H - w.shape[0]) // stride, 1 + (W - w.shape[1]) // stride
    T = np.zeros((H_out * W_out, H * W))
    for h, v in np.ndindex(H_out, W_out):
        for p, q in np.ndindex(w.shape):
            T[h * W_out + v, (h * stride + p) * W + v * stride + q] = w[p, q]
    return T
    ### END SOLUTION

# %% check="07.5"
check("07.5", as_dense)

# %% [markdown]
# ## 07.6 · Dense, local, shared: what is to be learned
#
# *2 points, warm-up. Trains: parameters of a convolution against a dense layer. (Hwu, "Fully Connected Layers Not
# Always Useful")*
#
# A layer takes C maps of H × W pixels to M maps, with the output size of a convolution that has K_h × K_w masks, stride
# 1 and no padding. Return three whole numbers, how many numbers (weights *and* biases) are learned by
#
# 1. a **dense** layer between all input numbers and all output numbers, with one bias for each output number;
# 2. a **local** layer: each output number has weights for its own window in all C maps only, but weights and a bias of
#    its own, nothing is shared;
# 3. the **convolution**: local, and within one output map all places share the weights and the bias.
#
# Four pixels in one row and a mask of two, with C = M = 1, have three outputs: (3 · 5, 3 · 3, 3) = (15, 9, 3).
#
# <details><summary>Hint 1</summary>
#
# Find two numbers first: how many output numbers there are, and how many input numbers one window covers.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# A window lies in all C maps, so it covers C · K_h · K_w numbers. Each output number needs as many weights as it looks
# at numbers, and one bias.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# Dense: outputs times (C · H · W + 1). Local: outputs times (window + 1). For the convolution it no longer matters how
# many places an output map has: only how many output maps there are.
#
# </details>

# %% exercise="07.6"
def numbers_to_learn(C, H, W, M, K_h, K_w):
    """Return (dense, local, convolution): weights and biases of three layers with the same inputs and outputs."""
    ### BEGIN SOLUTION
    outputs = M * (H - K_h + 1) * (W - K_w + 1)
    window = C * K_h * K_w
    return outputs * (C * H * W + 1), outputs * (window + 1), M * (window + 1)
    ### END SOLUTION

# %% check="07.6"
check("07.6", numbers_to_learn)

# %% [markdown]
# ## 07.7 · Two dice, and why mathematicians flip
#
# *3 points, core. Trains: flipping or not: convolution and cross-correlation. (Owens, "Convolutional Neural Networks";
# the dice are the course's own)*
#
# Two bent dice are thrown. The first shows i with probability `a[i]`, the second j with probability `b[j]`, both
# counted from 0. Return the float array of the probabilities of their sum, of shape (len(a) + len(b) - 1,): entry k is
# the sum of all `a[i] * b[j]` with i + j = k. Multiplying two polynomials with coefficients `a` and `b` is the same
# task: (1 + 2X)(3 + 5X) = 3 + 11X + 10X², so (1, 2) and (3, 5) give (3, 11, 10).
#
# Use the networks' convolution for it, `ops.conv1d_forward(x, w, pad=...)`. It takes `x` (B, C, L) and `w` (M, C, K)
# and returns `(y, cache)` with `y` (B, M, L_out). (Loops are fine too; `np.convolve` and its relatives are not.)
#
# <details><summary>Hint 1</summary>
#
# Write down entry 1 of the example: `a[0] * b[1] + a[1] * b[0]`. Walk through `a` from left to right: in which order do
# the numbers of `b` come? And in which order do the weights of a mask meet them?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# So one of the two must be turned round, `b[::-1]`. The first output is `a[0] * b[0]` alone: the mask touches `a` with
# one number, and everything else meets zeros. How many zeros must stand on each side?
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# `len(b) - 1` zeros. `a[None, None]` has shape (1, 1, len(a)). From the result take image 0, map 0.
#
# </details>

# %% exercise="07.7"
def multiply(a, b):
    """Return the probabilities (len(a) + len(b) - 1,) of the sum of two dice with probabilities a and b."""
    ### BEGIN SOLUTION
    turned = b[::-1]
    y, _ = ops.conv1d_forward(a[None, None], turned[None, None], pad=len(b) - 1)
    return y[0, 0]
    ### END SOLUTION

# %% check="07.7"
check("07.7", multiply)
