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
# # 04 · Exercises: backpropagation
#
# These exercises belong to lesson 04. You follow paths from a weight to the loss in networks that are not the
# lesson's: another activation, another loss, a matrix that is used twice. The warm-ups take about five minutes each,
# core exercises ten to twenty, the last one half an hour.
#
# Write your code in place of `raise NotImplementedError`, run the cell, then run the `check` below it: it calls your
# function, and says at the first wrong value what was expected. Arguments must stay as they are. Dey, Owens and
# Hwu are the lectures that the lesson cites.

# %%
import numpy as np

from course_lib.checks import check

# %% [markdown]
# ## 04.1 · All the weights of one output neuron
#
# *2 points, warm-up. Trains: the delta is shared by all weights of a neuron. (Owens, "Backpropagation Example")*
#
# An output neuron received $m$ hidden values $h$. It multiplied each by its weight, added them up with its bias, and
# the sigmoid of this sum is its output $o$. The target is $t$, and the loss is $J = \frac12 (o - t)^2$. You get `h`
# $(m,)$ and the numbers `o` and `t`, but not the weights: they are not needed.
#
# Return an array $(m + 1,)$: the derivatives of $J$ with respect to the $m$ weights, in the order of `h`, and last the
# one with respect to the bias. With the lesson's numbers, rounded, `h = (0.13, 0.96, 0.40)`, `o = 0.35`,
# `t = 0.9`, the first is $-0.01627$. The last does not depend on `h`.
#
# <details><summary>Hint 1</summary>
#
# One path leads from each weight to $J$. Two of the three slopes along it are the same for all weights.
#
# </details>
# <details><summary>Hint 2</summary>
#
# The shared part is $\delta = \partial J/\partial g$ with $o = f(g)$: the slope of $J$ times the slope of the sigmoid,
# which can be had from `o` alone. The bias is the weight of an input that is always 1.
#
# </details>
# <details><summary>Hint 3</summary>
#
# Compute `delta`, one number, from `o - t` and `o * (1 - o)`. Then `np.append(array, number)` puts the bias's
# derivative behind those of the weights.
#
# </details>

# %% exercise="04.1"
def neuron_gradients(h, o, t):
    """Return (m + 1,) derivatives of J: of the weights of h (m,), then of the bias, for output o and target t."""
    ### BEGIN SOLUTION
    delta = (o - t) * o * (1 - o)
    return np.append(delta * h, delta)
    ### END SOLUTION

# %% check="04.1"
check("04.1", neuron_gradients)

# %% [markdown]
# ## 04.2 · What a gradient costs
#
# *2 points, warm-up. Trains: counting the multiplications of a backward pass. (Dey, "Computing gradient w.r.t W")*
#
# A network of dense layers has `sizes`, a list such as `[784, 128, 10]`: inputs, then the neurons of each layer, two
# numbers or more. Every neuron has a bias. One step looks at `batch` samples. Return a tuple of three whole numbers,
# the multiplications in matrix products only, as in the lesson:
#
# 1. of one forward pass;
# 2. of one backward pass, which computes the gradients of all weights, and of each layer's input except the
#    network's own;
# 3. of one gradient by one-sided differences: a forward pass for each weight and each bias, and one for $J(w)$.
#
# A product $(p, q)\,(q, r)$ costs $pqr$. By hand: `multiplications([2, 3, 1], 4)` is `(36, 48, 504)`, as
# $36 = 4 \cdot 2 \cdot 3 + 4 \cdot 3 \cdot 1$.
#
# <details><summary>Hint 1</summary>
#
# Layer $l$ multiplies $(B, n_l)$ by $(n_l, n_{l+1})$ on the way forward. Which sizes do its two backward products have?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Each forward product has two partners of equal cost, for its weights and for its input. The first layer does not need
# the second. A layer has $n_l n_{l+1}$ weights and $n_{l+1}$ biases.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `np.dot(sizes[:-1], sizes[1:])` multiplies neighbours and adds up: that is the number of weights, and `batch` times it
# is the forward pass. Subtract `batch * sizes[0] * sizes[1]` from twice the forward pass.
#
# </details>

# %% exercise="04.2"
def multiplications(sizes, batch):
    """Return multiplications (forward, backward, one-sided differences) of a network of the given sizes."""
    ### BEGIN SOLUTION
    weights = int(np.dot(sizes[:-1], sizes[1:]))
    forward = batch * weights
    backward = 2 * forward - batch * sizes[0] * sizes[1]
    return forward, backward, (weights + sum(sizes[1:]) + 1) * forward
    ### END SOLUTION

# %% check="04.2"
check("04.2", multiplications)

# %% [markdown]
# ## 04.3 · A backward pass that kept only A and O
#
# *3 points, core. Trains: the backward pass in matrix form. (Dey, "Computing gradient w.r.t W"; Owens, "How good is our
# network?")*
#
# A network without biases has a **tanh** hidden layer, $A = \tanh(XW)$, and sigmoid outputs, $O = f(AW_2)$. Its cost is
# a mean over the $B$ samples, $J = \frac{1}{2B}\sum_{i,k} (o_{ik} - y_{ik})^2$. To save memory, the
# forward pass kept `A` $(B, M)$ and `O` $(B, C)$ and threw the weighted sums away; `W` is not needed.
#
# Return `(dW, dW2)`, the derivatives of the cost with respect to $W$ and $W_2$. You have `X` $(B, D)$, `Y` $(B, C)$,
# `W2` $(M, C)$, and `A` and `O`. `X` and `Y` may hold whole numbers. The slope of tanh is
# $1 - \tanh(z)^2$.
#
# <details><summary>Hint 1</summary>
#
# The path is the lesson's: $\delta_G$ at the outputs, $\partial J/\partial W_2$, $\delta_Z$ at the hidden layer,
# $\partial J/\partial W$. Write the shape of each beside it: $(B, C)$, $(M, C)$, $(B, M)$, $(D, M)$.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Both slopes come from what was kept: $o(1 - o)$ and $1 - a^2$. The mean divides $\delta_G$ by $B$, and everything
# behind it inherits that.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `delta_G = (O - Y) / len(X) * O * (1 - O)`. Then `delta_G @ W2.T` first, and only then, element by element, the
# slope of tanh. The two gradients are `A.T @ ...` and `X.T @ ...`.
#
# </details>

# %% exercise="04.3"
def backward_from_outputs(X, Y, W2, A, O):
    """Return (dW (D, M), dW2 (M, C)) of the mean cost; A (B, M) is tanh(X W), O (B, C) is sigmoid(A W2)."""
    ### BEGIN SOLUTION
    delta_G = (O - Y) * O * (1 - O) / len(X)
    delta_Z = (delta_G @ W2.T) * (1 - A * A)
    return X.T @ delta_Z, A.T @ delta_G
    ### END SOLUTION

# %% check="04.3"
check("04.3", backward_from_outputs)

# %% [markdown]
# ## 04.4 · A gradient check that says where
#
# *3 points, core. Trains: central differences, and what makes them lie. (Owens, "Backpropagation Example")*
#
# `f` is a function that takes an array and returns a number, such as `np.prod`. Somebody claims that its gradient at
# `x` is `gradient`; both are arrays of one shape with two axes, and may hold whole numbers.
#
# Return a list of the places `(row, column)` where the claim is wrong, row by row; `[]` where it is right. Measure each
# entry's slope by a central difference with $\epsilon = 10^{-5}$ in float64. A claim is wrong if it is more than
# $10^{-4}$ off, to either side. Each entry is measured with all others as they were. For `np.prod` at
# `[[1, 2], [3, 4]]`, the claim `[[24, 12], [8, 7]]` has the wrong places `[(1, 1)]`: the product of the others is 6.
#
# <details><summary>Hint 1</summary>
#
# `np.ndindex(x.shape)` runs over the places, row by row, as tuples. At each of them you need `f` twice.
#
# </details>
# <details><summary>Hint 2</summary>
#
# With `a = np.array([1, 2])`, what is `a` after `a[0] = 1.00001`? An array of whole numbers cuts off what you put in.
# Copy `x` as floats: `x.astype(float)` makes a copy.
#
# </details>
# <details><summary>Hint 3</summary>
#
# Make two fresh copies for each place, `up` and `down`. Add `1e-5` to one entry of the first, subtract it from the
# same of the second. The slope is `(f(up) - f(down)) / 2e-5`; compare `abs(slope - gradient[place])` with `1e-4`.
#
# </details>

# %% exercise="04.4"
def wrong_entries(f, x, gradient):
    """Return [(row, column), ...] where gradient is more than 1e-4 off the measured slopes of f at x (n, m)."""
    ### BEGIN SOLUTION
    wrong = []
    for place in np.ndindex(x.shape):
        up, down = x.astype(float), x.astype(float)
        up[place] += 1e-5
        down[place] -= 1e-5
        slope = (f(up) - f(down)) / 2e-5
        if abs(slope - gradient[place]) > 1e-4:
            wrong.append(place)
    return wrong
    ### END SOLUTION

# %% check="04.4"
check("04.4", wrong_entries)

# %% [markdown]
# ## 04.5 · One matrix, two layers
#
# *4 points, stretch. Trains: a weight that acts along two paths. (Dey, "Computing gradient w.r.t W")*
#
# An **autoencoder** squeezes each sample through a few hidden neurons and tries to give it back: its target is its own
# input. Ours uses the same matrix both times: $A = \tanh(XW)$, $O = A W^T$ (no activation at the output), and
# $J = \frac12 \sum (O - X)^2$, a sum over all elements. There are no biases.
#
# Return $\partial J/\partial W$, an array $(D, M)$ as `W`, for `X` $(B, D)$. Every entry of `W` now acts in both
# layers. Derive it; a measured gradient is not exact enough. `X` and `W` may hold whole numbers. For the single numbers
# $X = 2$, $W = 0.5$: $A = 0.762$, $O = 0.381$, and the derivative is about $-1.913$, to which both layers contribute.
#
# <details><summary>Hint 1</summary>
#
# Pretend that there are two matrices, $W$ in $Z = XW$ and $V$ in $O = AV^T$, of the same shape. Derive a gradient
# for each. What has to happen to the two when $V$ is $W$?
#
# </details>
# <details><summary>Hint 2</summary>
#
# The error $E = O - X$ has shape $(B, D)$. The gradient of $V$ must have the shape $(D, M)$: which of $A^T E$ and
# $E^T A$ has it? The longer path goes back through $V$, then through the slope of tanh, then to $X$.
#
# </details>
# <details><summary>Hint 3</summary>
#
# Compute `A`, then `E = A @ W.T - X`. The shorter path gives `E.T @ A`. For the longer one, `E @ W` arrives at `A`;
# multiply by `1 - A * A` to arrive at `Z`, and multiply `X.T` by that. Return the sum of the two paths.
#
# </details>

# %% exercise="04.5"
def tied_gradient(X, W):
    """Return dJ/dW (D, M) of the autoencoder tanh(X W) W^T for samples X (B, D), J = half the squared sum."""
    ### BEGIN SOLUTION
    A = np.tanh(X @ W)
    E = A @ W.T - X
    by_output = E.T @ A
    by_hidden = X.T @ ((E @ W) * (1 - A * A))
    return by_output + by_hidden
    ### END SOLUTION

# %% check="04.5"
check("04.5", tied_gradient)
