# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 02 · Exercises: neurons and layers
#
# These belong to lesson 02. You look for dead neurons, find out how a weight matrix is meant, run a network, derive a
# slope, merge layers into one, and build the hidden layer that the lesson used for XOR for any table that only counts
# its ones. The warm-up takes five minutes, the others ten to twenty each.
#
# Below each exercise is a cell with `check`. It runs your function on a few examples and says what is wrong with
# the first that fails. Grading runs the same examples and others. All arrays are NumPy arrays, some of whole numbers.

# %%
import numpy as np

from course_lib.checks import check

# %% [markdown]
# ## 02.1 · Which neurons are dead?
#
# *1 point, warm-up. Trains: pre-activations of a batch, the slope of ReLU. (Hwu, "Today's Choice: ReLU")*
#
# A layer with ReLU sees the samples `X` (B, D). Its weights `W` (D, M) have one column for each neuron, and its
# biases are `b` (M,): $Z = X W + b$. A neuron is dead for these samples if the slope of its ReLU is 0 for every one
# of them. Return an array (M,) of truth values, True where the neuron is dead.
#
# Remember the convention for the slope at $z = 0$. Example: pre-activations -2, 0, -3 of one neuron for three samples
# make it dead, and -2, 1, -3 do not.
#
# <details><summary>Hint 1</summary>
#
# The slope of ReLU is 1 where $z > 0$, and 0 everywhere else.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `X @ W + b` has shape (B, M). One column holds all pre-activations of one neuron.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# `Z <= 0` is an array of truth values, and `np.all(..., axis=0)` asks per column whether all of them are True.
#
# </details>

# %% exercise="02.1"
def dead_neurons(X, W, b):
    """Return (M,) truth values: True where a ReLU neuron with a column of W (D, M) is dead for X (B, D)."""
    ### BEGIN SOLUTION
    Z = X @ W + b
    return np.all(Z <= 0, axis=0)
    ### END SOLUTION

# %% check="02.1"
check("02.1", dead_neurons)

# %% [markdown]
# ## 02.2 · Rows or columns?
#
# *2 points, core. Trains: rows and columns as neurons, and how to find a wrong transposition. (Owens, "Matrix
# Formulation"; Dey, "Feedforward propagation")*
#
# You receive a square weight matrix `W` (n, n), and nobody says whether one neuron is a row or a
# column. There is no bias. You also have one input `x` (n,) and the correct pre-activations `z` (n,) of the
# layer. Return one of four words:
#
# - `"rows"` if `z` fits $z = W x$ only, and `"columns"` if it fits $z^T = x^T W$ only;
# - `"both"` if it fits both, `"neither"` if it fits none of them.
#
# "Fits" means that every element agrees to within 1e-9: decimal numbers are rounded. Example: the lesson's hidden rows
# (1, -2, 2), (2, 1, -4), (1, -1, 0) as `W`, with the input (0.5, 0.9, -0.3) and $z$ = (-1.9, 3.1, -0.4), are `"rows"`.
#
# <details><summary>Hint 1</summary>
#
# Compute both products for a vector `x`: with `W` on the left, and with `W` on the right.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `np.allclose(a, b, rtol=0, atol=1e-9)` is True if all elements agree to within 1e-9. Without `rtol=0`, a difference
# in proportion to `b` is let through too. Compare with the transposed matrix, `W.T @ x`, if you like: it is the same as
# `x @ W`.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# Make two truth values first, then decide among four cases. Ask for "both" before you ask for one of the two.
#
# </details>

# %% exercise="02.2"
def orientation(W, x, z):
    """Return "rows", "columns", "both" or "neither": which form of W (n, n) gives z (n,) from x (n,)."""
    ### BEGIN SOLUTION
    rows = np.allclose(W @ x, z, rtol=0, atol=1e-9)
    columns = np.allclose(x @ W, z, rtol=0, atol=1e-9)
    if rows and columns:
        return "both"
    if rows:
        return "rows"
    return "columns" if columns else "neither"
    ### END SOLUTION

# %% check="02.2"
check("02.2", orientation)

# %% [markdown]
# ## 02.3 · Inference from rows
#
# *2 points, core. Trains: inference layer by layer, a batch as rows. (Owens, "Inference" and "What this means
# computationally")*
#
# `layers` is a list of weight matrices: `layers[i]` has one row per neuron and one column per input,
# so its shape is (neurons of this layer, neurons of the one before). There are no biases. `X` (B, D) holds a batch of
# samples, one in each row, and `f` is the activation function of every layer, the last included; it takes an array of
# any shape and works on each element. Return the outputs of the last layer, one **row** per sample: (B, neurons of the
# last layer).
#
# Example: with the two matrices `rows_1` and `rows_2` of the lesson, the sigmoid, and the batch of the one sample
# (0.5, 0.9, -0.3), the result is (0.35, 0.85), rounded, of shape (1, 2).
#
# <details><summary>Hint 1</summary>
#
# Both the samples and the neurons are rows here. The lesson's section "What goes wrong: transposed weights" says what
# that needs.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The activations of one layer are the inputs of the next, so one variable is enough. Begin with `A = X`.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# In a loop over `layers`: `A` becomes `f` of the product of `A` and the transposed matrix.
#
# </details>

# %% exercise="02.3"
def inference(X, layers, f):
    """Return the outputs (B, M) of a network for X (B, D); each matrix of `layers` has one row per neuron."""
    ### BEGIN SOLUTION
    A = X
    for rows in layers:
        A = f(A @ rows.T)
    return A
    ### END SOLUTION

# %% check="02.3"
check("02.3", inference)

# %% [markdown]
# ## 02.4 · A slope that is not in the picture
#
# *2 points, core. Trains: derivatives of activation functions. (Hwu, "Sigmoid/Logistic Function"; swish is the course's
# addition)*
#
# A later relative of ReLU is **swish**, $f(z) = z\,\sigma(z)$ with the sigmoid $\sigma$. Unlike ReLU it is smooth, and
# far below zero, up to about -1.28, it even falls. Return its slope $f'(z)$ for every element of `z`, an array of any
# shape. Derive it; a slope measured by a difference is not exact enough here.
#
# To compare with: $f'(0) = 1/2$, and far from zero the slope is that of ReLU, 0 on the left and 1 on the right; also
# for $z = \pm 800$ the result must be a number.
#
# <details><summary>Hint 1</summary>
#
# A product has the derivative $(u v)' = u' v + u v'$. Here $u = z$.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The slope of the sigmoid is in the lesson's picture of six functions: $\sigma(z) (1 - \sigma(z))$.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# Compute `s = 1 / (1 + np.exp(-z))` once. The slope is `s` plus `z` times the slope of the sigmoid.
# At -800 NumPy warns of an overflow, and `s` is 0 as it should be.
#
# </details>

# %% exercise="02.4"
def swish_slope(z):
    """Return the slope (...) of z * sigmoid(z) at each element of z (...)."""
    ### BEGIN SOLUTION
    s = 1 / (1 + np.exp(-z))
    return s + z * s * (1 - s)
    ### END SOLUTION

# %% check="02.4"
check("02.4", swish_slope)

# %% [markdown]
# ## 02.5 · Many layers without activation are one
#
# *2 points, core. Trains: layers without activation functions, order of matrix products, shapes. (Owens, "Matrix
# Formulation"; Dey, "Feedforward propagation")*
#
# A network has one or more layers, with one column for each neuron, and no activation functions. Layer $i$ maps its
# inputs $X$ to $X W_i + b_i$. The list `weights` holds the matrices, first layer first, of shapes that fit each other;
# `biases` holds one vector per layer. Return `(W, b)` of the single layer that computes the same for every input. The
# given lists and arrays must stay as they are.
#
# Shapes: if the first matrix is (D, ...) and the last is (..., M), then `W` is (D, M) and `b` is (M,). By hand: the
# matrices (1, 2) of shape (1, 2) and (3, 4) of shape (2, 1) with the biases (1, -1) and (5) give
# $W = 1\cdot3 + 2\cdot4 = 11$ and $b = 1\cdot3 - 1\cdot4 + 5 = 4$.
#
# <details><summary>Hint 1</summary>
#
# The lesson has the formula for two layers. Merge the first two, then the result with the third, and so on.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# What the biases of earlier layers add up to passes through the next matrix before the next bias is added.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# Start with `W, b = weights[0], biases[0]`. For every further layer `(W_next, b_next)`, `W` becomes `W @ W_next`, and
# `b` becomes `b @ W_next + b_next`. `zip(weights[1:], biases[1:])` runs over both lists; avoid `+=` and `@=`.
#
# </details>

# %% exercise="02.5"
def collapse(weights, biases):
    """Return (W (D, M), b (M,)) of the one layer that equals the layers X @ weights[i] + biases[i] in a row."""
    ### BEGIN SOLUTION
    W, b = weights[0], biases[0]
    for W_next, b_next in zip(weights[1:], biases[1:], strict=True):
        W, b = W @ W_next, b @ W_next + b_next
    return W, b
    ### END SOLUTION

# %% check="02.5"
check("02.5", collapse)

# %% [markdown]
# ## 02.6 · Any truth table that only counts
#
# *3 points, stretch. Trains: what a hidden layer of ReLUs can do that one matrix cannot. (Hwu, "Many Problems Have
# Systematic Solutions" and "Today's Choice: ReLU")*
#
# XOR, NAND, parity and majority have something in common: only the number $s$ of ones among the $n$ inputs counts. Such
# a table is a row of $n + 1$ numbers: the output for $s = 0, 1, \dots, n$. XOR is (0, 1, 0). The lesson computes it by
# a hidden layer whose neurons all see the sum of the inputs. In general there are $n$ of them, neuron $k$ with the bias
# $-k$:
#
# $$h_k = \mathrm{relu}(s - k), \quad k = 0, \dots, n - 1, \qquad o = b + \sum_k c_k\, h_k .$$
#
# Given `t`, an array (n + 1,) with n ≥ 1, return `(b, c)`: the number $b$ and the array $c$ (n,), such that $o$ equals
# `t[s]` for all $s$ from 0 to $n$. There is exactly one solution. For XOR it is $b = 0$, $c = (1, -2)$. For parity of
# three inputs, which no perceptron computes, $b = 0$, $c = (1, -2, 2)$. Do not let a routine solve the equations.
#
# <details><summary>Hint 1</summary>
#
# At $s = 0$ all hidden neurons give 0. At $s = 1$ only $h_0$ is above 0. What do these two say about $b$ and $c_0$?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Draw the output over $s$: between two whole numbers it is a straight piece, with the slope `t[s + 1] - t[s]`. At
# $s = k$ the neuron $k$ switches on and stays on, so it adds $c_k$ to the slope of this and of all later pieces.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# `slopes = np.diff(t)` has n entries. The first of `c` is the first slope, and each further one is the change from the
# slope before. `np.diff(..., prepend=0)` gives both.
#
# </details>

# %% exercise="02.6"
def fold(t):
    """Return (b, c (n,)) so that b + sum of c[k] relu(s - k) is t[s] for s = 0 .. n; t is (n + 1,)."""
    ### BEGIN SOLUTION
    slopes = np.diff(t)
    c = np.diff(slopes, prepend=0)
    return t[0], c
    ### END SOLUTION

# %% check="02.6"
check("02.6", fold)
