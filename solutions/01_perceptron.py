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
# # 01 · Exercises: the perceptron
#
# The sheet belongs to lesson 01, [The perceptron](../notebooks/01_perceptron.ipynb). You fit a line with a formula,
# follow single corrections, measure margins, and then repair two weaknesses of the perceptron: that it forgets good
# weights, and that it does not notice when it will never end. The warm-up takes five minutes, the others ten to twenty
# each, the last one perhaps longer.
#
# Below each exercise is a cell with `check`. It runs your function on a few examples and says what is wrong with
# the first that fails. Grading runs the same examples and others. As in the lesson, the answer is 1 where the score
# is at least 0, and the bias is the last entry of the weights.

# %%
import numpy as np

from course_lib.checks import check

# %% [markdown]
# ## 01.1 · The line of least squares
#
# *1 point, warm-up. Trains: linear regression in closed form. (Dey, "Linear Regression")*
#
# Given are the numbers `x` and `y`, both of shape (n,), with n ≥ 2 and not all `x` equal; they may be whole numbers.
# Return the pair `(w, b)` of the line $\hat y = w x + b$ with the smallest sum of squared errors. Use sums and means,
# no ready-made fit.
#
# Two properties pin the line down: with $e = y - (w x + b)$, both $\sum_i e_i = 0$ and $\sum_i e_i x_i = 0$. By hand:
# `x` = (1, 3, 5) and `y` = (6, 1, 2) give $w = -1$ and $b = 6$.
#
# <details><summary>Hint 1</summary>
#
# The lesson has the formula, with an example of three points. Compute the two means first.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The slope is a fraction of two sums. Both are over products of distances from a mean; below the bar it is the
# distance of `x` times itself.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# With `dx = x - np.mean(x)`, the sum below the bar is `np.sum(dx * dx)`. The line passes through the point of the two
# means, which gives `b` as soon as `w` is known.
#
# </details>

# %% exercise="01.1"
def fit_line(x, y):
    """Return (w, b) of the least-squares line through the points x (n,), y (n,)."""
    ### BEGIN SOLUTION
    dx, dy = x - np.mean(x), y - np.mean(y)
    w = np.sum(dx * dy) / np.sum(dx * dx)
    b = np.mean(y) - w * np.mean(x)
    return w, b
    ### END SOLUTION

# %% check="01.1"
check("01.1", fit_line)

# %% [markdown]
# ## 01.2 · How often must it be shown?
#
# *2 points, core. Trains: what one correction does to the score. (Dey, "Perceptron Algorithm")*
#
# A perceptron gives one sample the score `z`. The sample has the inputs `x` of shape (d,), without the bias input, and
# the label `y`, 0 or 1. Show it this sample again and again; each time the answer is wrong, all weights and the bias
# are corrected by the perceptron's rule with the learning rate `lr`. Return the number of corrections until the answer
# is right, as a whole number: 0 if it is right at once.
#
# The weights themselves are not given, and not needed: the lesson says what a correction adds to the score of its own
# sample. By hand: `z = -9`, `x = (1, 0)`, `y = 1`, `lr = 1` has the scores -9, -7, -5, -3, -1, 1, so 5 corrections.
#
# <details><summary>Hint 1</summary>
#
# Find "Why does this help?" in the lesson. The change of the score does not depend on the weights.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The bias input is 1 and counts in $x \cdot x$ like every other input. With label 0 the score falls, with label 1 it
# rises, always by the same amount.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# Loop: while the answer `int(z >= 0)` differs from `y`, move `z` by `(y - answer) * lr * (x @ x + 1)` and count.
#
# </details>

# %% exercise="01.2"
def corrections_needed(z, x, y, lr):
    """Return how many corrections (int) a sample x (d,) of score z and label y needs until its answer is y."""
    ### BEGIN SOLUTION
    size, corrections = lr * (x @ x + 1), 0
    while int(z >= 0) != y:
        z = z + size if y == 1 else z - size
        corrections += 1
    return corrections
    ### END SOLUTION

# %% check="01.2"
check("01.2", corrections_needed)

# %% [markdown]
# ## 01.3 · A margin with a sign
#
# *2 points, core. Trains: score, distance from the line, margin. (Dey, "Perceptron: Linear Binary Classifier")*
#
# The lesson's margin is the smallest distance of a sample from the line. It cannot tell a good line from a bad one if
# samples lie on the wrong side. So give each distance a sign: positive where the sample is on the side of its label
# (score above 0 for label 1, below 0 for label 0), negative on the other side. Return the smallest of these numbers, as
# one number.
#
# Inputs are `x` of shape (n, d) with any d ≥ 1, labels `y` (n,) of 0 and 1, and `w` (d + 1,), the bias last. The
# distance from the line, or from the plane for d > 2, is $|z|\, / \sqrt{w_1^2 + \dots + w_d^2}$. Example:
# with `w` = (3, 4, -5) the sample (3, 1) has the score 8 and the distance 8/5. If its label is 1 it counts 1.6, and if
# its label is 0 it counts -1.6.
#
# <details><summary>Hint 1</summary>
#
# Compute all scores first: `x` times the weights without the bias, plus the bias.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The root holds the weights without the bias. Double all entries of `w`: the line is the same, so your result must be.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# `np.where(y == 1, z, -z)` turns the sign of the scores of label 0. Divide by `np.linalg.norm(w[:-1])` and take the
# smallest.
#
# </details>

# %% exercise="01.3"
def margin(x, y, w):
    """Return the smallest signed distance of the samples x (n, d) with labels y (n,) from the line w (d + 1,)."""
    ### BEGIN SOLUTION
    z = x @ w[:-1] + w[-1]
    right_side = np.where(y == 1, z, -z)
    return np.min(right_side) / np.linalg.norm(w[:-1])
    ### END SOLUTION

# %% check="01.3"
check("01.3", margin)

# %% [markdown]
# ## 01.4 · A perceptron with a pocket
#
# *3 points, core. Trains: the learning rule, and what it does where no line is right. (Dey, "Perceptron Algorithm" and
# "XOR?")*
#
# Where no line is right, the perceptron's weights wander for ever, and the last ones are no better than others. The
# remedy is a pocket. It holds the best weights so far, and how many of all samples they answer wrongly.
#
# Train by the perceptron's rule with the learning rate `lr`: start with zeros, show the samples `x` (n, d) with labels
# `y` (n,) in the order of their rows, in each of `epochs` epochs. At the start, the zeros go into the pocket. After
# each correction, count the mistakes of the new weights on **all** samples. If there are fewer than the pocket's, the
# new weights replace those in the pocket. Among equals the earlier ones stay. Return `(weights, mistakes)` of the
# pocket: an array (d + 1,), the bias last, and a whole number.
#
# The result is defined by: `mistakes == np.sum((x @ weights[:-1] + weights[-1] >= 0) != y)`, and no weights that the
# run held have fewer. With `lr = 1` and enough epochs, on XOR it is the zeros with 2 mistakes; on NAND
# (-2, -1, 2) with 0.
#
# <details><summary>Hint 1</summary>
#
# Begin with the lesson's `train`. Its loop over epochs and samples stays; what is new happens right after a
# correction.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# With the column of ones attached, the mistakes of `w` are `int(np.sum((inputs @ w >= 0) != y))`. You need this at the
# start and after each correction.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# `w = w + ...` makes a new array, and the one in the pocket stays as it is. `w += ...` changes the array that the
# pocket holds too, unless you put a copy there. Compare with `<`, not with `<=`.
#
# </details>

# %% exercise="01.4"
def train_with_pocket(x, y, lr, epochs):
    """Return (weights (d + 1,), mistakes) of the best weights that a run on x (n, d), y (n,) held."""
    ### BEGIN SOLUTION
    inputs = np.hstack([x, np.ones((len(x), 1))])
    w = np.zeros(inputs.shape[1])
    best, fewest = w, int(np.sum((inputs @ w >= 0) != y))
    for _ in range(epochs):
        for i in range(len(y)):
            y_hat = int(inputs[i] @ w >= 0)
            if y_hat == y[i]:
                continue
            w = w + (y[i] - y_hat) * lr * inputs[i]
            mistakes = int(np.sum((inputs @ w >= 0) != y))
            if mistakes < fewest:
                best, fewest = w, mistakes
    return best, fewest
    ### END SOLUTION

# %% check="01.4"
check("01.4", train_with_pocket)

# %% [markdown]
# ## 01.5 · A run that knows when it will never end
#
# *3 points, stretch. Trains: convergence, cycles of the weights. (Dey, "Perceptron Algorithm"; Hwu, "Many Problems Have
# Systematic Solutions")*
#
# "Train until it converges" is no program on XOR, and a limit on epochs only hides the question. With a fixed order of
# the samples you can decide it. Train from zeros with learning rate 1 on `x` (n, d), whole numbers, with labels `y`
# (n,), showing in each epoch the samples in the order given by `order` (n,): `order[0]` is the row that comes first.
# There is no limit on epochs.
#
# Return `(True, epochs)` as soon as an epoch passes without a mistake; `epochs` counts all that were run, that one
# included. Return `(False, length)` as soon as the weights at the end of an epoch equal those at the end of an earlier
# epoch; `length` is the number of epochs from the earlier one to this one. NAND in the order 0, 1, 2, 3 gives
# `(True, 6)`, XOR `(False, 1)`; there are tables with longer cycles.
#
# One of the two always happens. The weights are whole numbers, and it is known that they stay within bounds, so only
# finitely many can occur.
#
# <details><summary>Hint 1</summary>
#
# Per epoch you need two things: the number of mistakes, and the weights at its end in a form that you can look up.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# A dictionary from `tuple(w)` to the number of the epoch at whose end it was seen. Ask for mistakes before you ask
# whether the weights were seen: an epoch without a mistake repeats its weights too.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# `for epoch in itertools.count(1)` (or `while True` with a counter): train one epoch; `if mistakes == 0` return
# `True, epoch`; `if state in seen` return `False, epoch - seen[state]`; else `seen[state] = epoch`.
#
# </details>

# %% exercise="01.5"
def fate(x, y, order):
    """Return (True, epochs until one without a mistake) or (False, length of the cycle in epochs)."""
    ### BEGIN SOLUTION
    inputs = np.hstack([x, np.ones((len(x), 1))])
    w, seen, epoch = np.zeros(inputs.shape[1]), {}, 0
    while True:
        epoch += 1
        mistakes = 0
        for i in order:
            y_hat = int(inputs[i] @ w >= 0)
            w = w + (y[i] - y_hat) * inputs[i]
            mistakes += int(y_hat != y[i])
        if mistakes == 0:
            return True, epoch
        state = tuple(w)
        if state in seen:
            return False, epoch - seen[state]
        seen[state] = epoch
    ### END SOLUTION

# %% check="01.5"
check("01.5", fate)
