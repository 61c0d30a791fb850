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
# # 06b · Exercises: making it train
#
# The sheet belongs to lesson 06b, [Making it train](../notebooks/06b_making_it_train.ipynb). You write the tools that
# the lesson used ready-made: the size of the first weights, one scale for all features, a step with weight decay,
# dropout there and back, Adam, a schedule, and the examination of layers. At the end are four patients.
#
# A warm-up takes about five minutes, a core exercise ten to twenty, the stretch half an hour. Write your code in place
# of `raise NotImplementedError`, run the cell, then run the `check` below it: it calls your function, and says at the
# first wrong value what was expected. Arguments must stay as they are. Arrays may hold whole numbers or fractions.

# %%
import numpy as np

from course_lib.checks import check

# %% [markdown]
# ## 06b.1 · How large may a weight be?
#
# *2 points, warm-up. Trains: the deviation of a layer's weights, from its shape. (He et al., 2015)*
#
# `shape` is the shape of a layer's weights: `(n_in, n_out)` for a dense layer, or `(M, C, K_h, K_w)` for a convolution
# with $C$ maps in, $M$ maps out and masks of $K_h \times K_w$. Its activation is ReLU. Return the standard deviation
# that its random weights must have, so that the spread of the signal stays as it is on the way forward:
# $\sqrt{2/n}$, where $n$ is how many inputs are added up in **one** output.
#
# For `(784, 128)` it is 0.0505. For `(6, 1, 5, 5)`, the first layer of LeNet-5, it is $\sqrt{2/25} = 0.283$.
#
# <details><summary>Hint 1</summary>
#
# Look at a single number that comes out. How many products are added up in it?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# In a dense layer it is `n_in`. In a convolution an output sees a window of $K_h \times K_w$ pixels, in each of the $C$
# input maps.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# `shape[0]` if there are two numbers, else the product of all but the first: `np.prod(shape[1:])`.
#
# </details>

# %% exercise="06b.1"
def deviation(shape):
    """Return the standard deviation of the initial weights of a layer with ReLU, whose weights have this shape."""
    ### BEGIN SOLUTION
    inputs = shape[0] if len(shape) == 2 else np.prod(shape[1:])
    return np.sqrt(2 / inputs)
    ### END SOLUTION

# %% check="06b.1"
check("06b.1", deviation)

# %% [markdown]
# ## 06b.2 · One scale for all features
#
# *3 points, core. Trains: standardising by the training data, and nothing else. (LeCun et al., 1998)*
#
# `x_train` $(n, D)$ holds training data, `x_new` $(m, D)$ data to come, with the same $D$ features in their columns.
# Return both, standardised, as a tuple: from each feature subtract its mean, and divide by its standard deviation, the
# root of the mean squared distance from the mean. **Both numbers are measured on the training data**, for the new data
# too.
#
# A feature that is the same in all training samples has the deviation 0. Divide it by 1 instead. Write it without
# `fit_standardiser`.
#
# By hand: for `x_train = [[1, 20], [3, 40]]` the means are 2 and 30 and the deviations 1 and 10. So the new sample
# `[[2, 50]]` becomes `[[0, 2]]`.
#
# <details><summary>Hint 1</summary>
#
# A network has learned what "1.5 deviations above the mean" looks like. What happens to that if the ruler is another
# one on the next day?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `mean(axis=0)` and `std(axis=0)` give one number for each column. Which array do you call them on?
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# `np.where(sd == 0, 1, sd)` replaces the zeros. Then return `(x_train - mean) / sd` and `(x_new - mean) / sd`.
#
# </details>

# %% exercise="06b.2"
def standardise(x_train, x_new):
    """Return (x_train, x_new), (n, D) and (m, D), both by means and deviations of x_train."""
    ### BEGIN SOLUTION
    mean, sd = x_train.mean(axis=0), x_train.std(axis=0)
    sd = np.where(sd == 0, 1, sd)
    return (x_train - mean) / sd, (x_new - mean) / sd
    ### END SOLUTION

# %% check="06b.2"
check("06b.2", standardise)

# %% [markdown]
# ## 06b.3 · A step with momentum and weight decay
#
# *3 points, core. Trains: the decay as part of the gradient, and what it is not for. (Loshchilov and Hutter, 2019, on
# both kinds of decay)*
#
# `params`, `gradients` and `velocities` are lists of arrays of the same shapes: weights with two axes, biases with one.
# Take one step of lesson 06's momentum, with a **weight decay** $\lambda$ (`decay`) in the gradient of the weights:
#
# $$g' = g + \lambda w \qquad v \leftarrow \mu v - \mathrm{lr}\; g' \qquad w \leftarrow w + v$$
#
# $\mu$ is `momentum`. Biases do not decay: for them $g' = g$. Return two lists, the new parameters and the new
# velocities. The arrays that you are given must stay as they are.
#
# By hand, for one weight 4 with gradient 0, velocity 0, `lr = 0.5`, `decay = 0.1`: $g' = 0.4$, $v = -0.2$, $w = 3.8$.
#
# <details><summary>Hint 1</summary>
#
# Why would one pull a weight towards 0, and not a bias? In code, how do you tell one from the other?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `p.ndim` is 2 for weights and 1 for biases. Make the gradient first; the rest is the same for both.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# In a loop over `zip(params, gradients, velocities)`: `slope = g + decay * p if p.ndim > 1 else g`, then
# `v = momentum * v - lr * slope`, a new array, and append `p + v` and `v` to two lists.
#
# </details>

# %% exercise="06b.3"
def decayed_step(params, gradients, velocities, lr, momentum, decay):
    """Return (new params, new velocities), two lists of arrays, after one step."""
    ### BEGIN SOLUTION
    moved, kept = [], []
    for p, g, v in zip(params, gradients, velocities, strict=True):
        slope = g + decay * p if p.ndim > 1 else g
        v = momentum * v - lr * slope
        moved.append(p + v)
        kept.append(v)
    return moved, kept
    ### END SOLUTION

# %% check="06b.3"
check("06b.3", decayed_step)

# %% [markdown]
# ## 06b.4 · Dropout, there and back
#
# *3 points, core. Trains: one mask and one factor for both ways, and training against use. (Srivastava et al., 2014)*
#
# `x` are the outputs of a layer, `dy` is $\partial E/\partial y$ for what leaves the dropout, `u` are random numbers
# from 0 to 1, all of one shape. `rate`, at least 0 and below 1, is the chance that a number is dropped.
#
# In training (`training` is true), a number **stays where `u >= rate`** and is then divided by $1 - \mathrm{rate}$;
# elsewhere $y$ is 0. In use, $y$ is `x` itself. Return the tuple `(y, dx)`, where `dx` is $\partial E/\partial x$.
#
# By hand, with `rate = 0.5`: `x = [1, 2]` and `u = [0.9, 0.1]` give `y = [2, 0]`, and `dy = [10, 20]` gives
# `dx = [20, 0]`.
#
# <details><summary>Hint 1</summary>
#
# Where a number stays, $y = x/(1 - \mathrm{rate})$. What is the slope of that? And where it was dropped?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Both ways multiply by the same array: $1/(1 - \mathrm{rate})$ where a number stays and 0 elsewhere.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# In use, return `x, dy`. Else let `factor = (u >= rate) / (1 - rate)` and return `x * factor, dy * factor`.
#
# </details>

# %% exercise="06b.4"
def dropout(x, dy, u, rate, training):
    """Return (y, dx), arrays of the shape of x."""
    ### BEGIN SOLUTION
    if not training:
        return x, dy
    factor = (u >= rate) / (1 - rate)
    return x * factor, dy * factor
    ### END SOLUTION

# %% check="06b.4"
check("06b.4", dropout)

# %% [markdown]
# ## 06b.5 · The path of Adam
#
# *4 points, stretch. Trains: both running means, their corrections, and where $\epsilon$ stands. (Kingma and Ba, 2015)*
#
# The weights begin at `w` $(n,)$, and `gradients` $(T, n)$ holds the gradient of each step: row 0 for step $t = 1$, row
# 1 for step $t = 2$, and so on. ($T$ may be 0.) Take the steps by the lesson's rule,
#
# $$m \leftarrow \beta_1 m + (1-\beta_1)\,g \qquad v \leftarrow \beta_2 v + (1-\beta_2)\,g^2$$
#
# $$m' = \frac{m}{1-\beta_1^t} \qquad v' = \frac{v}{1-\beta_2^t} \qquad w \leftarrow w - \mathrm{lr}\,
# \frac{m'}{\sqrt{v'} + \epsilon}$$
#
# with $m$ and $v$ 0 at the start, and return the path, an array $(T + 1, n)$: the start, then the weights after each
# step. Write it without the library's Adam. By hand, whatever the first gradient is (unless it is 0, or as small as
# $\epsilon$), the first step has the length `lr`.
#
# <details><summary>Hint 1</summary>
#
# The corrected $m'$ and $v'$ are used in the step, and forgotten. What is carried on to the next step?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `enumerate(gradients, start=1)` counts the steps from 1. Take care not to write into `w`, or into a row of the path
# that you have stored.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# In the loop: `m = beta1 * m + (1 - beta1) * g`, `v = beta2 * v + (1 - beta2) * g**2`, then
# `step = lr * (m / (1 - beta1**t)) / (np.sqrt(v / (1 - beta2**t)) + eps)`, and `path.append(path[-1] - step)`.
#
# </details>

# %% exercise="06b.5"
def adam_path(w, gradients, lr, beta1, beta2, eps):
    """Return the path (T + 1, n) of weights that start at w (n,), for gradients (T, n)."""
    ### BEGIN SOLUTION
    m, v, path = np.zeros(len(w)), np.zeros(len(w)), [w]
    for t, g in enumerate(gradients, start=1):
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g**2
        step = lr * (m / (1 - beta1**t)) / (np.sqrt(v / (1 - beta2**t)) + eps)
        path.append(path[-1] - step)
    return np.array(path, dtype=float)
    ### END SOLUTION

# %% check="06b.5"
check("06b.5", adam_path)

# %% [markdown]
# ## 06b.6 · A rate that climbs and falls
#
# *2 points, warm-up. Trains: what a schedule counts, and from where. (Loshchilov and Hutter, 2017)*
#
# A training has `steps` steps, $k = 0, 1, \dots$ In the first `warm` of them, fewer than all and perhaps none, the rate
# climbs in a straight line: step $k$ has $\frac{k+1}{\mathrm{warm}}$ of `lr`. From there on it falls along half a
# cosine. If $j = k - \mathrm{warm}$ counts the steps since the warm-up, and $n = \mathrm{steps} - \mathrm{warm}$ is how
# many there are, step $k$ has
#
# $$\mathrm{lr}\;\frac{1 + \cos(\pi j/n)}{2}$$
#
# Return all rates, an array of length `steps`. For `rates(8, 4, 0.1)`: 0.025, 0.05, 0.075, 0.1, then 0.1, 0.0854, 0.05,
# 0.0146.
#
# <details><summary>Hint 1</summary>
#
# Two formulas, and one question that decides between them: is $k$ below `warm`?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Two pieces, one behind the other: `np.arange(1, warm + 1) / warm` for the climb. What does `np.arange(steps - warm)`
# count?
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# `fall = (1 + np.cos(np.pi * np.arange(n) / n)) / 2` with `n = steps - warm`. Join both by `np.concatenate`, and
# multiply by `lr`. If `warm` is 0 the climb is an empty array; 0 numbers divided by 0 are no error.
#
# </details>

# %% exercise="06b.6"
def rates(steps, warm, lr):
    """Return the learning rate of each step, (steps,)."""
    ### BEGIN SOLUTION
    n = steps - warm
    climb = np.arange(1, warm + 1) / max(warm, 1)
    fall = (1 + np.cos(np.pi * np.arange(n) / n)) / 2
    return lr * np.concatenate([climb, fall])
    ### END SOLUTION

# %% check="06b.6"
check("06b.6", rates)

# %% [markdown]
# ## 06b.7 · Examine the layers
#
# *3 points, core. Trains: what to look at when a network does not learn.*
#
# `outputs` is a list of what the hidden layers of a ReLU network put out for the same $B$ samples, from the input on:
# arrays $(B, n_1), (B, n_2), \dots$ Return a tuple of three things:
#
# - an array with the **spread** of each layer: the root of the mean of all its squared numbers;
# - an array with the share of its **dead** units, those that are 0 for every sample;
# - a word: `"fades"` if the spread of the last layer is below a tenth of the first one's, `"explodes"` if it is above
#   ten times that, else `"arrives"`.
#
# The first layer is never all 0. By hand, for the single layer `[[3, 0, 4], [0, 0, 0]]`: the spread is
# $\sqrt{25/6} = 2.04$, one of three units is dead, and the word is `"arrives"`.
#
# <details><summary>Hint 1</summary>
#
# A row is a sample, a column is a unit. Which of the two may be 0 without anything being wrong?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `(a == 0).all(axis=0)` has one truth value for each unit. The mean of truth values is the share of the true ones.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# `spreads = np.array([np.sqrt(np.mean(a**2)) for a in outputs])`, likewise the dead ones; then compare
# `spreads[-1] / spreads[0]` with 0.1 and with 10.
#
# </details>

# %% exercise="06b.7"
def examine(outputs):
    """Return (spreads (L,), shares of dead units (L,), "fades", "explodes" or "arrives") of L layers' outputs."""
    ### BEGIN SOLUTION
    spreads = np.array([np.sqrt(np.mean(a**2)) for a in outputs])
    dead = np.array([(a == 0).all(axis=0).mean() for a in outputs])
    ratio = spreads[-1] / spreads[0]
    return spreads, dead, "fades" if ratio < 0.1 else "explodes" if ratio > 10 else "arrives"
    ### END SOLUTION

# %% check="06b.7"
check("06b.7", examine)

# %% [markdown]
# ## 06b.8 · Four patients
#
# *2 points, core. Trains: reading an examination.*
#
# Four classmates train networks for ten classes, and none of them is content. Here is what they tell you. For each one,
# say in one or two sentences what is wrong or most likely wrong, and what to do or to measure next.
#
# | | loss at step 0 | ten samples by heart | training loss at the end | validation loss at the end |
# |---|---|---|---|---|
# | A | 2.303 | 3 of 10 | 2.30 | 2.30 |
# | B | 2.41 | 10 of 10 | 0.01 | 1.90 |
# | C | 2.38 | 10 of 10 | between 0.9 and 2.6, jumping | the same |
# | D | 2.35 | 1 of 10, its loss rises | 14.2 | 14.6 |
#
# This question is graded by a person.

# %% [markdown] answer="06b.8"
# <!-- BEGIN SOLUTION -->
# A model answer.
#
# A: The loss is $\ln 10$ before and after, so the network guesses; that it cannot learn ten samples rules out a lack of
# data. Most likely no signal passes: measure the spread of outputs and gradients layer by layer, and begin with
# weights of $\sqrt{2/n}$.
#
# B: Start and ten samples are fine. It has learned its training set by heart: the gap between 0.01 and 1.90 is
# over-fitting. More data, or stopping at the lowest validation loss; dropout and weight decay if that is not enough.
#
# C: It can learn, and the start is sound. The training loss jumps, so the learning rate is too large: take a tenth of
# it, or make a range test.
#
# D: The start is sound, but on ten samples the loss rises, where every network should succeed. So look for a mistake
# before anything else: the sign of the step (it climbs), or a wrong gradient; check the gradient by central
# differences. A rate far too large would look alike, so one run with a hundredth of the rate tells the two apart.
# <!-- END SOLUTION -->
