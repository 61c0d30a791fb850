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
# # 10 · Exercises: what convolutional networks learn
#
# You write the tools with which a trained network is asked: masks as pictures, what a place sees, what an answer rests
# on, a climb on the image, images that look alike to a layer. The last exercise takes away a reason to trust a picture
# of a mask. The first is done in five minutes, the others take ten to twenty each.
#
# The sheet belongs to lesson 10, [What convolutional networks learn](../notebooks/10_what_convnets_learn.ipynb). Write
# into the cells where it says so; the cell below each runs the check. Sources are named by their lecturer, Owens.

# %%
import numpy as np

from course_lib.checks import check

# %% [markdown]
# ## 10.1 · Masks as grey levels
#
# *2 points, warm-up. Trains: one scale for all masks, with 0 in the middle. (Owens, "Visualizing what ConvNets learn")*
#
# To draw masks `w (M, K, L)` their weights must become grey levels from 0 to 1, in an array of the same shape. All
# masks share one scale: a weight of 0 becomes 0.5, and $t$, the largest absolute value of all weights, sets how steep
# it is: $t$ would become 1 and $-t$ would become 0, and between them it is a straight line. If all weights are 0,
# everything is 0.5.
#
# By hand: the masks ((-1, 2)) and ((0, 4)) become ((0.375, 0.75)) and ((0.5, 1)).
#
# <details><summary>Hint 1</summary>
#
# `np.abs(w).max()` is one number for all masks.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Divided by the largest absolute value, the weights lie from -1 to 1. Halve that range, then move it.
#
# </details>
# <details><summary>Hint 3</summary>
#
# $0.5 + w / (2t)$, and a case of its own for $t = 0$, where this would divide by zero.
#
# </details>

# %% exercise="10.1"
def for_display(w):
    """Return grey levels (M, K, L) in 0 .. 1 for masks w (M, K, L): 0 becomes 0.5, one scale for all masks."""
    ### BEGIN SOLUTION
    t = np.abs(w).max()
    if t == 0:
        return np.full(w.shape, 0.5)
    return 0.5 + w / (2 * t)
    ### END SOLUTION

# %% check="10.1"
check("10.1", for_display)

# %% [markdown]
# ## 10.2 · Which pixels does it see?
#
# *3 points, core. Trains: the receptive field of a place in a layer. (Owens, "Visualizing what ConvNets learn")*
#
# `layers` is a list of tuples `(K, S, P)`, from the image upwards: the rows of a mask or of a pooling window, its
# stride, and the rows of padding added above and below. Row `r` of a layer's output sees the rows `r S - P` to
# `r S - P + K - 1` of its input. Return the pair `(first, last)` of whole numbers: the first and the last row of the
# **image** that row `h` of the top layer sees. Both belong to what it sees. Rows of the padding count too: the row just
# before the image is -1, and nothing is cut off at the other end.
#
# C1, S2 and C3 of LeNet-5 are `[(5, 1, 0), (2, 2, 0), (5, 1, 0)]`. Lesson 10 found rows $2h$ to $2h + 13$, so row 3
# sees (6, 19). A single `(3, 1, 1)` gives (-1, 1) for row 0.
#
# <details><summary>Hint 1</summary>
#
# Begin at the top with `first = last = h`, and go down one layer after the other. `reversed(layers)` or `layers[::-1]`.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Of rows `first` to `last` of an output, the lowest input row is the lowest of what `first` sees, and the highest is
# the highest of what `last` sees.
#
# </details>
# <details><summary>Hint 3</summary>
#
# In every layer, `first` becomes `first * S - P`. What does `last` become, with the K - 1 rows more?
#
# </details>

# %% exercise="10.2"
def receptive_rows(layers, h):
    """Return (first, last) image row that row h of the top layer sees; layers is [(K, S, P), ...] from the image up."""
    ### BEGIN SOLUTION
    first = last = h
    for K, S, P in reversed(layers):
        first = first * S - P
        last = last * S - P + K - 1
    return first, last
    ### END SOLUTION

# %% check="10.2"
check("10.2", receptive_rows)

# %% [markdown]
# ## 10.3 · Cover it with every grey
#
# *3 points, core. Trains: what an answer rests on, whatever covers it. (the course's own)*
#
# Lesson 10 covers a square with one grey, and that grey is an assumption: on white paper a grey square is ink itself,
# on a stroke a white one is an eraser. A place matters for sure only if the score falls *whatever* covers it. So try
# several greys, and keep what they have in common, the smallest fall.
#
# `score` is a function that takes one image (H, W) and returns a number. For every place `(i, j)` at which a square of
# `size` × `size` pixels lies wholly on the image, set its pixels, rows i to i + size - 1 and columns j to j + size - 1,
# to one number of the list `fills`, and return
#
# $$\text{map}[i, j] = \min_{\text{fill in fills}} \big(\text{score}(\text{image}) -
# \text{score}(\text{image with the square at } (i, j) \text{ on fill})\big)$$
#
# as an array of floats, (H - size + 1, W - size + 1). A negative number says that with some grey the score rises. Each
# square is put on the image as it was, and `image` stays unchanged. It may hold whole numbers, and the greys need not
# be whole.
#
# By hand: the score is the sum, the image ((1, 2, 4), (8, 16, 32)), size 2, `fills` [4, 2, 10, 3]. With 4 the falls are
# 11 and 38, with 2 they are 19 and 46, with 10 they are -13 and 14, with 3 they are 15 and 42: the map is ((-13, 14)).
#
# In the check, `score` is a function of NumPy. When you are done, try it with a network:
# `lambda image: net.forward(image[None, None])[0, 3]` is lesson 10's score of "3".
#
# <details><summary>Hint 1</summary>
#
# Two loops, over `i` and `j`, and inside a third over the greys. Each turn works on a copy of its own.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `covered[i : i + size, j : j + size] = fill`. A number written into an array of whole numbers loses its digits behind
# the point; `image.astype(float)` is a copy with floats.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `whole = score(image)` once. `result = np.zeros((H - size + 1, W - size + 1))`. For each place, collect
# `whole - score(covered)` of all greys in a list, and write its `min` into `result[i, j]`.
#
# </details>

# %% exercise="10.3"
def occlusion_map(score, image, size, fills):
    """Return (H - size + 1, W - size + 1): the smallest fall of score(image (H, W)) as the square takes each fill."""
    ### BEGIN SOLUTION
    H, W = image.shape
    whole, result = score(image), np.zeros((H - size + 1, W - size + 1))
    for i, j in np.ndindex(result.shape):
        falls = []
        for fill in fills:
            covered = image.astype(float)
            covered[i : i + size, j : j + size] = fill
            falls.append(whole - score(covered))
        result[i, j] = min(falls)
    return result
    ### END SOLUTION

# %% check="10.3"
check("10.3", occlusion_map)

# %% [markdown]
# ## 10.4 · Climb within the space of images
#
# *3 points, core. Trains: gradient ascent on the input, with a prior and a clip. (Owens, "Understanding Neural Networks
# Through Deep Visualization")*
#
# A network of one layer, so that you can write its gradient yourself: the scores of an image `x (D,)` are `x @ w`, for
# `w (D, N)`, and $k$ = softmax of the scores. Make $k_c$ large by moving the image. With $E = -\ln k_c$ the gradient
# is, with $e_c$ the vector that has a 1 at c and 0 elsewhere,
#
# $$dx = \frac{\partial E}{\partial x} = w\,(k - e_c)$$
#
# Do `steps` times, in this order: a step of length `lr` against `dx`; the decay, all pixels times `1 - decay`; the clip
# to 0 .. 1. Where `dx` is 0 everywhere, the step is left out, the decay and the clip are not. Return the image, (D,);
# `x` stays unchanged. The scores may be large, a thousand or more: lesson 06 says what softmax needs then.
#
# By hand: x = (0.5, 0.5), w the identity, c = 0. Then k = (0.5, 0.5) and dx = (-0.5, 0.5), of length $\sqrt{0.5}$. A
# step of length $\sqrt{0.02}$ without decay ends at (0.6, 0.4).
#
# <details><summary>Hint 1</summary>
#
# `k` changes with the image: compute it anew in each step. Subtract the largest score before `np.exp`.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `k[c] -= 1` makes `k` to what stands in the brackets, then `dx = w @ k`. Its length is `np.linalg.norm(dx)`.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `x = np.clip((1 - decay) * (x - lr * dx / length), 0, 1)`, where length is 1 if it would be 0. Such a line makes a new
# array; `x -= ...` would change the one that was handed in.
#
# </details>

# %% exercise="10.4"
def climb(x, w, c, steps, lr, decay):
    """Return image x (D,) after steps that raise the softmax probability of class c of the scores x @ w, w (D, N)."""
    ### BEGIN SOLUTION
    for _ in range(steps):
        z = x @ w
        k = np.exp(z - z.max())
        k /= k.sum()
        k[c] -= 1
        dx = w @ k
        length = np.linalg.norm(dx)
        x = np.clip((1 - decay) * (x - lr * dx / (length if length > 0 else 1)), 0, 1)
    return x
    ### END SOLUTION

# %% check="10.4"
check("10.4", climb)

# %% [markdown]
# ## 10.5 · Neighbours in feature space
#
# *2 points, core. Trains: which images look alike to a layer. (Owens, "Visualizing what ConvNets learn")*
#
# Two images that are far apart as pixels may be alike to a layer. To see what a layer takes for alike, look for
# neighbours among its outputs. `features (B, D)` are the outputs for B images, `bank (N, D)` those for N others.
# Return an array `(B, k)` of whole numbers: for each of the B, the rows of `bank` that are nearest, the nearest
# first. Distance is the root of the summed squares of the differences. Of equally far ones, the smaller number comes
# first.
#
# By hand: to (0, 0), of the rows (3, 0), (1, 1), (4, 4), (0, 3) row 1 is the nearest, then 0 and 3, equally far. To
# compare with pixels, the same function takes images as rows. Those may be of the type `uint8`, which has no negative
# numbers: 3 - 5 is 254 there.
#
# <details><summary>Hint 1</summary>
#
# First all B × N distances. The order is the same without the root.
#
# </details>
# <details><summary>Hint 2</summary>
#
# `features[:, None, :] - bank` has the shape (B, N, D). Make floats of both before.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `np.argsort(distances, axis=1, kind="stable")` sorts each row and leaves equal ones in their order. Keep k columns.
#
# </details>

# %% exercise="10.5"
def neighbours(features, bank, k):
    """Return (B, k) whole numbers: the k rows of bank (N, D) nearest to each row of features (B, D), nearest first."""
    ### BEGIN SOLUTION
    difference = features[:, None, :].astype(float) - bank
    distances = (difference**2).sum(axis=2)
    return np.argsort(distances, axis=1, kind="stable")[:, :k]
    ### END SOLUTION

# %% check="10.5"
check("10.5", neighbours)

# %% [markdown]
# ## 10.6 · Equally strong masks, the same network
#
# *3 points, stretch. Trains: a mask has no scale of its own. (Owens, "Visualizing what ConvNets learn")*
#
# In a drawing of C1 some masks are stronger than others. Are they more important? Make them all equally strong
# without changing what the network computes. C1 has the masks `w1 (M, C, K, L)` and the biases `b1 (M,)`, then come
# ReLU and max pooling, then C3 with the masks `w3 (N, M, ...)`. The **length** of a mask is the root of the summed
# squares of all its C K L weights.
#
# Return new `(w1, b1, w3)` in the same shapes, such that each mask of C1 has length 1 and points in its old direction,
# and C3 puts out the same as before for every image. A mask of length 0 stays as it is, with its bias and what C3 does
# with its map. The given arrays stay unchanged.
#
# By hand, masks of 1 × 2: ((3, 4)) with the bias 10 becomes ((0.6, 0.8)) with the bias 2, and what was 1 in C3 for this
# map becomes 5.
#
# <details><summary>Hint 1</summary>
#
# For $s > 0$, ReLU and max pooling of $z / s$ are $1 / s$ times what they are of $z$. So each map is divided by its own
# number s, before them and behind them.
#
# </details>
# <details><summary>Hint 2</summary>
#
# $z$ is a sum with the bias in it: all of it has to be divided. C3 multiplies map c by the masks `w3[:, c]`.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `s = np.sqrt((w1**2).sum(axis=(1, 2, 3)))`, with 1 where it is 0. `w1 / s[:, None, None, None]` divides each mask by
# its own; for `w3`, `s[:, None, None]` lies along the second axis.
#
# </details>

# %% exercise="10.6"
def equal_strength(w1, b1, w3):
    """Return (w1, b1, w3) with each of C1's masks w1 (M, C, K, L) of length 1 and the same output of C3."""
    ### BEGIN SOLUTION
    s = np.sqrt((w1**2).sum(axis=(1, 2, 3)))
    s = np.where(s > 0, s, 1)
    return w1 / s[:, None, None, None], b1 / s, w3 * s[:, None, None]
    ### END SOLUTION

# %% check="10.6"
check("10.6", equal_strength)
