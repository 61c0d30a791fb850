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
# # 03 · Exercises: loss and gradient descent
#
# These belong to lesson 03. You measure mistakes in several ways, derive the gradient of a loss that is not in the
# lesson, predict walks from curvature and learning rate, and put the gradients of mini-batches together. The warm-up
# takes five minutes, the others ten to twenty each.
#
# Below each exercise is a cell with `check`. It runs your function on a few examples and says what is wrong with
# the first that fails. Grading runs the same examples and others. All arrays are NumPy arrays, some of whole numbers.

# %%
import numpy as np

from course_lib.checks import check

# %% [markdown]
# ## 03.1 · Three measures of one mistake
#
# *1 point, warm-up. Trains: half squared sum, quadratic cost, mean squared error. (Dey, "Loss Function"; Owens, "How
# good is our network?")*
#
# The outputs `o` and the right answers `y` have shape (n, M): n samples in the rows, M outputs for each. Return three
# numbers as a tuple, in this order:
#
# - the half squared sum $J = \frac{1}{2} \sum (y - o)^2$, over all n · M numbers;
# - the quadratic cost $C = \frac{1}{2n} \sum_x \|y(x) - a(x)\|^2$, where $a$ is our `o`;
# - the mean squared error, the mean of the squared differences over all n · M numbers.
#
# By hand: for three samples of two outputs with the squared differences 9, 1, 0, 4, 0, 4 the result is (9, 3, 3).
# The last two are equal only because M is 2 here.
#
# <details><summary>Hint 1</summary>
#
# All three are made from the same sum of squared differences. Compute it once.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# $\|v\|^2$ is the sum of the squares of the elements of $v$, so the sum over the samples is the sum over all numbers.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# `len(o)` is n, the number of rows; `o.size` is n · M. With `total = np.sum((y - o) ** 2)`, divide by 2, by twice n,
# and by n · M.
#
# </details>

# %% exercise="03.1"
def three_measures(o, y):
    """Return (J, C, mean squared error) of outputs o (n, M) against right answers y (n, M)."""
    ### BEGIN SOLUTION
    total = np.sum((y - o) ** 2)
    return total / 2, total / (2 * len(o)), total / o.size
    ### END SOLUTION

# %% check="03.1"
check("03.1", three_measures)

# %% [markdown]
# ## 03.2 · A loss that does not run after one sample
#
# *2 points, core. Trains: from a loss to its gradient; what a far sample pulls. (Dey, "Loss Function" and "Minimizing
# Loss Function"; the loss is the course's addition)*
#
# In the lesson a line tilts to please one sample far out. A remedy is a loss that grows more slowly for large errors.
# For the error $e = o - y$ of one sample and a positive number `limit`, written $L$, it is
#
# $$\ell(e) = \frac{e^2}{2} \quad \mbox{if } |e| \le L, \qquad \ell(e) = L\,|e| - \frac{L^2}{2} \quad \mbox{else}.$$
#
# The model is linear, $o = X w$, with `X` (n, d), and `y` (n,), `w` (d,); a bias is a column of ones. The loss of all
# samples is the **sum** $J = \sum_i \ell(o_i - y_i)$. Derive its gradient $\partial J / \partial w$ and return it, an
# array (d,). A measured gradient is not exact enough.
#
# By hand: for one input, the samples $x$ = 1, 2 and 6 with the errors 1, -2 and 5 and $L = 3$ have the gradient
# $1 \cdot 1 - 2 \cdot 2 + 3 \cdot 6 = 15$.
#
# <details><summary>Hint 1</summary>
#
# Derive $\ell$ by $e$ first, in three pieces: $e < -L$, the middle, $e > L$.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The slope of $|e|$ is 1 for positive and -1 for negative $e$. The chain rule with $o = X w$ is the lesson's: the
# gradient is $X^T$ times the derivatives by $o$.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# The slope of $\ell$ is $e$ where $|e| \le L$, else $L$ with the sign of $e$: the error cut off at both ends.
# `np.clip` does that.
#
# </details>

# %% exercise="03.2"
def robust_gradient(X, y, w, limit):
    """Return dJ/dw (d,) of the sum of the losses above for X (n, d), y (n,), w (d,) and the limit L > 0."""
    ### BEGIN SOLUTION
    error = X @ w - y
    slope = np.clip(error, -limit, limit)
    return X.T @ slope
    ### END SOLUTION

# %% check="03.2"
check("03.2", robust_gradient)

# %% [markdown]
# ## 03.3 · Right answers and two losses
#
# *2 points, core. Trains: number of right answers, 1 - k[T], cross-entropy. (Hwu, "Choosing an Error Function" and "Why
# Not Use the Intuitive Measure?")*
#
# A network gave each of n samples a row of probabilities: `k` (n, C), all above 0, each row with the sum 1. The right
# classes are `labels` (n,), whole numbers from 0 to C - 1. Return a tuple of three:
#
# - how many samples are right, a whole number: a sample is right if its right class has the largest probability of
#   its row (there are no ties);
# - the mean over the samples of $1 - k[T]$, with the sample's own row $k$ and its right class $T$;
# - the mean over the samples of the cross-entropy $-\ln k[T]$.
#
# Example: the rows (0.51, 0.24, 0.25) and (0.25, 0.25, 0.5) with the labels 0 and 2 give 2 right answers and the means
# $(0.49 + 0.5)/2 = 0.495$ and $(-\ln 0.51 - \ln 0.5)/2 \approx 0.683$.
#
# <details><summary>Hint 1</summary>
#
# `np.argmax(k, axis=1)` is the place of the largest probability in each row.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# You need one number from each row: `k[0, labels[0]]`, `k[1, labels[1]]`, ... Two index arrays of the same length pick
# pairs; a colon in place of the first would take whole columns.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# `right = k[np.arange(len(k)), labels]` has shape (n,). The losses are `np.mean(1 - right)` and the mean of
# `-np.log(right)`.
#
# </details>

# %% exercise="03.3"
def opinions(k, labels):
    """Return (number of right answers, mean of 1 - k[T], mean cross-entropy) of k (n, C) for labels (n,)."""
    ### BEGIN SOLUTION
    right = k[np.arange(len(k)), labels]
    count = int(np.sum(np.argmax(k, axis=1) == labels))
    return count, np.mean(1 - right), np.mean(-np.log(right))
    ### END SOLUTION

# %% check="03.3"
check("03.3", opinions)

# %% [markdown]
# ## 03.4 · How many steps?
#
# *2 points, core. Trains: curvature and learning rate. (Dey, "Minimizing Loss Function"; Owens, "Find the global
# minimum")*
#
# A walk goes down a parabola of curvature `h` > 0 with the learning rate `lr` > 0: the slope is `h` times the distance
# from the lowest point, as in the lesson. It starts `distance` ≥ 0 away from that point. Return after how many steps
# it is first at most `tolerance` > 0 away, on whichever side: a whole number, 0 if it is near enough at the start. If
# it will never be, return -1. Walks may be long. Count the steps: a formula with logarithms can be one off where the
# tolerance is met exactly.
#
# Example: with `h = 4` and `lr = 0.375` each step multiplies $w - w_{\mathrm{lowest}}$ by -0.5. From 8 the walk goes to
# -4, 2, -1, so it is within 1 after 3 steps.
#
# <details><summary>Hint 1</summary>
#
# One line of algebra in the lesson gives the number by which each step multiplies the distance. Only its size counts
# here.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# If that size is 1 or more, the walk never comes nearer. Ask this only after you have asked whether it is near enough
# already.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# With `factor = abs(1 - lr * h)`: while `distance > tolerance`, return -1 if `factor >= 1`, else multiply and count.
#
# </details>

# %% exercise="03.4"
def steps_to_arrive(h, lr, distance, tolerance):
    """Return the number of steps (int) until the walk is within the tolerance, or -1 if it never is."""
    ### BEGIN SOLUTION
    factor, steps = abs(1 - lr * h), 0
    while distance > tolerance:
        if factor >= 1:
            return -1
        distance = distance * factor
        steps += 1
    return steps
    ### END SOLUTION

# %% check="03.4"
check("03.4", steps_to_arrive)

# %% [markdown]
# ## 03.5 · The gradient of all, from unequal parts
#
# *2 points, core. Trains: mini-batches, averaging. (Owens, "Stochastic gradient descent")*
#
# The samples are spread over p machines, and each sends one gradient: the **mean** of the gradients of its own samples,
# at the same weights. Machine $i$ has `sizes[i]` samples; the numbers may differ. Given `gradients` (p, d), one row per
# machine, and `sizes` (p,), whole numbers from 1 on, return the mean of the gradients of **all** samples, (d,).
#
# In the lesson all mini-batches had the same size, and the plain mean was right. By hand: a machine with 2 samples
# sends (1, 2, -1), one with 1 sample sends (4, -1, 0). The gradients of the three samples add up to (6, 3, -2), so the
# mean is (2, 1, -2/3).
#
# <details><summary>Hint 1</summary>
#
# What is the sum of the gradients of one machine's samples, if you know their mean and their number?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Add these sums up over the machines, and divide by the number of all samples.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# `sizes[:, None]` is a column (p, 1), which multiplies each row of `gradients` with its own number. Then sum over
# axis 0 and divide by `np.sum(sizes)`.
#
# </details>

# %% exercise="03.5"
def merge_gradients(gradients, sizes):
    """Return the mean gradient (d,) of all samples from the parts' means (p, d) and their sizes (p,)."""
    ### BEGIN SOLUTION
    sums = gradients * sizes[:, None]
    return np.sum(sums, axis=0) / np.sum(sizes)
    ### END SOLUTION

# %% check="03.5"
check("03.5", merge_gradients)

# %% [markdown]
# ## 03.6 · The best rate for a ravine
#
# *3 points, stretch. Trains: several curvatures, one learning rate. (Dey, "Minimizing Loss Function"; Owens, "Find the
# global minimum")*
#
# A loss has the curvatures `h` (d,), all positive, in any order, one for each of d directions, as the lesson's ravine
# has 0.1 and 1.25. A step with the learning rate lr multiplies the distance in direction $j$ by $1 - \mathrm{lr}\,h_j$.
# The slowest direction is the one where the size of this factor is largest; call that size
#
# $$r(\mathrm{lr}) = \max_j \, |1 - \mathrm{lr}\, h_j| .$$
#
# Find the learning rate for which $r$ is smallest. Return the tuple `(lr, r)`. A formula gives it exactly; trying out
# many rates does not.
#
# Example: curvatures 1 and 5 give lr = 1/3 and r = 2/3. The lesson's rate 0.8 for the ravine has $r = 0.92$; the best
# one has $r \approx 0.852$.
#
# <details><summary>Hint 1</summary>
#
# Draw $|1 - \mathrm{lr}\,h|$ over lr for a small and for a large curvature, and one in between: each falls from 1 to 0
# and rises again. Which of them is the largest, on the left and on the right?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Only the smallest and the largest curvature matter. On the left the flat direction is the slowest, on the right the
# steep one. The best rate is where the two lines cross.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# Where they cross, $1 - \mathrm{lr}\,h_{\min} = \mathrm{lr}\,h_{\max} - 1$. Solve for lr, then put it into either side.
#
# </details>

# %% exercise="03.6"
def best_rate(h):
    """Return (lr, r): the learning rate with the smallest max |1 - lr h|, and that number, for curvatures h (d,)."""
    ### BEGIN SOLUTION
    flat, steep = np.min(h), np.max(h)
    lr = 2 / (flat + steep)
    return lr, (steep - flat) / (steep + flat)
    ### END SOLUTION

# %% check="03.6"
check("03.6", best_rate)
