# ---
# jupyter:
#   course_form: 2
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
# # 03 · Loss and gradient descent: which way is better, and how far to step
#
# The perceptron of lesson 01 learned to tell 4s from 9s by a rule made for one neuron. A network that reads all ten
# digits has a hundred thousand weights and no such rule. Instead, a single number, the **loss**, says how wrong it
# is, and the weights walk downhill on that number, step by step. On this page the 4s and 9s are learned once more,
# downhill.
#
# The map shows a loss over two weights. Click anywhere to put a walker there (or go to the map with Tab and use the
# arrow keys), then press "One step" again and again. The dashed line shows what the slope promises for the next step;
# the open circle, what the step gives. Can you find a start from which the walk never reaches the deepest valley, the
# large dark one? And a learning rate with which it never comes to rest?
#
# Most people bring a belief to this page: *a smaller step is safer. It may take longer, but it gets there.* Decide now
# how far you trust it. You will measure where it holds.

# %% tags=["hide-input"]
# What this page uses, and the map.
from collections import Counter

import numpy as np

from course_lib import checks, figures
from course_lib import reference as ops
from course_lib.lesson import predict, table, two_digits

figures.walk_downhill()

# %% [markdown]
# ## You will be able to
#
# - compute a loss and its gradient by hand for a small model, and check the gradient by measuring it
# - predict from the curvature of a loss whether a learning rate crawls, converges, oscillates or diverges, on paper and
#   for 785 weights that read digits
# - derive why a small step against the gradient lowers the loss, and by how much
# - train a model in mini-batches, and say what the batch size changes

# %% [markdown]
# <details><summary>About this page</summary>
#
# It follows Prof. Dey's lecture 56 at IIT Kharagpur, Prof. Owens' EEC 289Q lecture 11 at UC Davis, and lecture 10 of
# ECE 508 by Prof. Hwu and colleagues at Illinois. You need lessons 01 and 02, and derivatives of one variable.
#
# The letters of this page: a model's output, $\hat y$ in lesson 01 and $a$ in lesson 02, is called $o$. Samples are
# numbered $i = 1, \dots, n$, weights $j = 1, \dots, d$; a batch has $m$ samples. $J$ is a loss that adds up over the
# samples, $C$ one that takes their mean. $h$ is a curvature, not a hidden neuron.
#
# Reading and trying takes about 60 minutes; the optional section takes 5 more.
#
# </details>

# %% [markdown]
# ## The smallest example, by hand
#
# Before the digits, an example small enough for paper. There are two samples, with the inputs $x = (1, 2)$ and the
# right answers $y = (4, 3)$. The model is the smallest there is: $o = w\,x$, one weight and no bias. At $w = 1$ the
# outputs are $o = (1, 2)$, so the differences $y - o$ are $3$ and $1$. A loss turns them into one number: the smaller
# it is, the better the model fits. Ours is half the sum of their squares,
# $J = (3^2 + 1^2) / 2 = 5$.[^Dey "Loss Function"]

# %%
x, y = np.array([1.0, 2.0]), np.array([4.0, 3.0])

def loss(w):
    return 0.5 * np.sum((y - w * x) ** 2)

print("y - o =", y - 1.0 * x, "  J =", loss(1.0))

# %% [markdown]
# Should $w$ grow or shrink? The derivative tells: as $w$ changes, the loss $(y - w x)^2 / 2$ of one sample changes at
# the rate $-(y - w x)\,x = (o - y)\,x$. For both samples together that is $(1 - 4)\cdot 1 + (2 - 3)\cdot 2 = -5$. It
# is negative, so a larger $w$ gives a smaller loss. You can also measure a derivative: nudge $w$ up and down by a
# millionth, and see how much $J$ changes.

# %%
def slope(w):
    return np.sum((w * x - y) * x)

measured = (loss(1 + 1e-6) - loss(1 - 1e-6)) / 2e-6
print(f"by hand {slope(1.0):.6f}, measured {measured:.6f}")

# %% [markdown]
# The lowest point is where the derivative is zero: $\sum (w x - y)\,x = 0$, so $w = \sum x y / \sum x^2 = 10 / 5 = 2$.
# The tangent at $w = 1$ leans down towards it, as the lower half of the picture shows. At the lowest point the loss is
# 2.5 and not 0, because no line through the origin meets both samples.

# %%
figures.losses.samples_and_loss(
    x, y, (1.0, 2.0), lambda w: (loss(w), slope(w)),
    caption="Every weight is one line above and one point below.")

# %% [markdown]
# ## How far should a step go?
#
# Here we could compute the lowest point. For a network nobody can. But you can always compute the slope where you
# stand. So take a step downhill, look at the slope there, and step again. This is **gradient descent**. You choose a
# positive number lr, the **learning rate**, and repeat a single line:
#
# $$w \leftarrow w - \mathrm{lr} \cdot \frac{dJ}{dw}$$
#
# Where the slope is negative, $w$ grows; where it is positive, $w$ shrinks. Either way the step points downhill, and
# the steps get shorter by themselves as the ground levels out. Whether a step also *ends* lower depends on its length.

# %%
def descend(lr, steps, w=1.0):
    path = [w]
    for _ in range(steps):
        path.append(path[-1] - lr * slope(path[-1]))
    return np.array(path)

# %% [markdown]
# Five walks start at $w = 1$, where the slope is $-5$. The learning rate 0.2 is exactly right here: its first step is
# $0.2 \cdot 5 = 1$, straight to the lowest point, 2.

# %%
walks_on_parabola = {lr: descend(lr, 20) for lr in (0.02, 0.2, 0.38, 0.4, 0.402)}

# %% tags=["hide-input"]
# A prediction.
rate = predict(
    "Which walk is nearer to 2 after 20 steps: that with 0.02, a tenth of the right rate, or that with 0.38, nearly "
    "twice it?",
    ["0.02", "0.38", "both are equally near"], answer="both are equally near", reveals=3,
)  # fmt: skip
rate

# %% tags=["hide-output", "hide-input"]
# The five walks in numbers.
table(
    [(lr, *path[1:4], abs(path[-1] - 2)) for lr, path in walks_on_parabola.items()],
    ["lr", "w after 1 step", "2 steps", "3 steps", "distance from 2 after 20"],
    formats=dict.fromkeys(("w after 1 step", "2 steps", "3 steps", "distance from 2 after 20"), ".4f"),
)

# %% [markdown]
# <details class="reveal"><summary>One line of algebra explains all five rows</summary>
#
# The loss is the parabola $J = 2.5 + h\,(w - 2)^2 / 2$ with $h = \sum x^2 = 5$. This $h$ is the **curvature**, the
# second derivative: how fast the slope changes. The slope is $h\,(w - 2)$, so one step gives
#
# $$w_{\mathrm{new}} - 2 = (w - 2) - \mathrm{lr}\; h\, (w - 2)$$
#
# $$w_{\mathrm{new}} - 2 = (1 - \mathrm{lr}\; h)\,(w - 2)$$
#
# Every step multiplies the distance from the lowest point by $1 - \mathrm{lr}\,h$. At $\mathrm{lr} = 1/h = 0.2$ that is
# 0: one step and you are there. At $2/h = 0.4$ it is $-1$: you land on the other side, equally far, for ever. At 0.402
# it is $-1.01$: the walk **diverges**. The distance of 1 has become 1.10 after ten steps, and 21,000 after a thousand.
# And 0.02 and 0.38 have the factors $0.9$ and $-0.9$, so both are 0.1216 away after 20 steps: **ten times too small is
# as slow as 1.9 times too large.**
#
# In the picture, look at the side of the valley on which the steps land. Above 0.2 every step jumps across the bottom.
#
# </details>

# %% tags=["hide-output", "hide-input"]
# The five walks, drawn.
rates = {"0.02: crawls": 0.02, "0.38: jumps": 0.38, "0.2: at once": 0.2, "0.4: for ever": 0.4, "0.402: climbs": 0.402}
figures.descent.parabola_paths(
    lambda w: 2.5 + 2.5 * (w - 2) ** 2, 2.0,
    {f"lr {name}": descend(lr, 20 if lr <= 0.4 else 40) for name, lr in rates.items()},
    caption="The same start, 20 steps each, and 40 for 0.402. The square is the start, the diamond the last step.")

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
after = {lr: abs(path[-1] - 2) for lr, path in walks_on_parabola.items()}
rate.confirm("both are equally near" if np.isclose(after[0.02], after[0.38], rtol=1e-9) else "one is nearer")

# %% [markdown]
# ### A bowl with a dent
#
# On a parabola the belief holds: below $2/h$ the loss never grows, and a rate that is too small only takes longer. But
# the loss of a network is no parabola. Take the next simplest thing, a bowl with a dent: a wide bowl of curvature 1
# around $w = 2$, with a narrow dent pressed into its side, near $w = 0$. The dent is bent far more sharply than the
# bowl:

# %%
def dented(w):
    return 0.5 * (w - 2) ** 2 - np.exp(-(w**2) / 0.08)

def dented_slope(w):
    return (w - 2) + 25 * w * np.exp(-(w**2) / 0.08)

bottom = 0.0837  # of the dent; the curvature there is the slope of the slope, measured
print("curvature of the dent", round((dented_slope(bottom + 1e-6) - dented_slope(bottom - 1e-6)) / 2e-6, 1))

# %% [markdown]
# Walks start at $w = -1$, on the left slope of the bowl, and make 1,000 steps. On their way to 2 they come to the dent.
# Each place has a $2/h$ of its own; compare the rates with both.

# %%
walks_with_dent = {lr: [-1.0] for lr in (0.05, 0.5, 1.5, 2.02)}
for lr, path in walks_with_dent.items():
    for _ in range(1000):
        path.append(path[-1] - lr * dented_slope(path[-1]))

# %% tags=["hide-input"]
# A prediction.
dent = predict(
    "Learning rates 0.05, 0.5 and 1.5: with which of them does the walk arrive at the lowest point, w = 2?",
    ["only 0.05", "only 0.5", "0.05 and 0.5", "0.5 and 1.5", "all three"], answer="0.5 and 1.5", reveals=3,
)  # fmt: skip
dent

# %% tags=["hide-output", "hide-input"]
# The walks in numbers.
table(
    [(f"{lr:g}", *(f"{path[k]:.3g}" for k in (1, 100, 1000)), f"{round(dented(path[-1]), 2) + 0.0:.2g}")
     for lr, path in walks_with_dent.items()],
    ["lr", "w after 1 step", "100 steps", "1,000 steps", "loss"], align="lrrrr",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>The small step walks into the trap and stays there</summary>
#
# With 0.05 the walk follows the ground closely, down into the dent, and stops there at $w = 0.084$, with a loss of
# 0.92. More steps do not help, because the slope there is zero. The rule of the parabola says why: $2/h$ is about
# $2/20 = 0.1$ for the dent and $2/1 = 2$ for the bowl. A rate below 0.1 comes to rest in either. A rate between them,
# well above 0.1 and well below 2, comes to rest only in the bowl: with 0.5 even a walk that starts *in* the dent, at
# $w = 0$, leaves it. And above 2 there is no rest at all, as the last row shows: with 2.02 the walk runs away.
#
# So neither side is the safe one. Small steps keep you in the valley where you happen to be, good or bad. Large ones
# may jump out of a narrow valley, and out of a good one too.
#
# </details>

# %% tags=["hide-output", "hide-input"]
# Three of the walks, drawn.
figures.descent.parabola_paths(
    dented, 2.0, {f"lr {lr:g}: {words}": np.array(walks_with_dent[lr][:41])
                  for lr, words in ((0.05, "into the dent"), (0.5, "over it"), (1.5, "far over it"))},
    reach=(-1.4, 4.0), caption="A bowl with a dent: 40 steps with each of three learning rates.")  # fmt: skip

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
there = [f"{lr:g}" for lr in (0.05, 0.5, 1.5) if abs(walks_with_dent[lr][-1] - 2) < 1e-3]
dent.confirm("all three" if len(there) == 3 else "only " + there[0] if len(there) == 1 else " and ".join(there))

# %% [markdown]
# ## Many weights: the formula, with shapes
#
# For $n$ samples, right answers $y$ and outputs $o$, both of shape $(n,)$:
#
# $$J = \frac{1}{2} \; \sum_{i} \; (y_i - o_i)^2 \qquad\qquad \frac{\partial J}{\partial o_i} = o_i - y_i$$
#
# The curly $\partial$ marks a **partial derivative**: only this one number changes, all others stay as they are. The
# one half cancels the 2 that comes down from the square.
#
# Why a square? Its slope is the error itself, so steps shrink as the errors do. But a sample that is ten times as wrong
# pulls ten times as hard. The absolute difference $|y_i - o_i|$
# is used too.[^Hwu "Choose a Simple Error Function"] Its slope is 1 or $-1$, however large the error. With it,
# one wild sample pulls no harder than the others, but the steps do not shrink near the goal.
#
# With $d$ inputs per sample, $X$ has the shape $(n, d)$ and $w$ the shape $(d,)$:
#
# $$o_i = \sum_{j} X_{ij} \, w_j \qquad
# \frac{\partial J}{\partial w_j} = \sum_{i} \; (o_i - y_i) \, X_{ij}$$
#
# $$\frac{\partial J}{\partial w} = X^T (o - y)$$
#
# The second is the chain rule: when $w_j$ grows by a little, output $o_i$ grows by $X_{ij}$ times as much, and $J$ by
# $o_i - y_i$ times that. The third says the same for all $j$ at once. This list of all partial derivatives is the
# **gradient**. It has the shape of $w$: one number per weight, which says what a small change of that weight alone does
# to the loss.

# %% [markdown]
# Now the digits: the 800 black and white 4s and 9s of lesson 01. The output is $o = X w$, a weight for each pixel,
# and it should be 0 for a 4 and 1 for a 9. `add_bias_input` appends a column of ones, so that the last of the 785
# weights is the bias. As loops, the gradient reads: every sample adds its error times its input to every weight.

# %%
pair = two_digits(4, 9)
X, answers = ops.add_bias_input(pair.x), pair.y.astype(float)  # (800, 785), (800,): 0 for a 4, 1 for a 9

def gradient_by_loops(X, y, w):
    dw = np.zeros_like(w)
    for i in range(len(X)):
        error = X[i] @ w - y[i]
        for j in range(len(w)):
            dw[j] += error * X[i, j]
    return dw

# %% [markdown]
# The library ([`losses.py`](../course_lib/reference/losses.py)) splits the work, so that one loss serves every model.
# `half_squared_sum_forward` returns the loss, and beside it the differences $o - y$, put aside for later; such a store
# is called a **cache**. `half_squared_sum_backward` returns $\partial J/\partial o$, computed from the cache.
# `checks.numerical_gradient` nudges one weight after the other, as you did above. All weights start at zero. Here are
# three ways to one gradient:

# %%
w = np.zeros(785)
_, cache = ops.half_squared_sum_forward(X @ w, answers)
dw = X.T @ ops.half_squared_sum_backward(cache)
by_measuring = checks.numerical_gradient(lambda w: ops.half_squared_sum_forward(X @ w, answers)[0], w)
by_loops = gradient_by_loops(X, answers, w)
print("shape", dw.shape)
print("the same as the loops:", np.allclose(dw, by_loops), " as measured:", np.allclose(dw, by_measuring, atol=1e-4))

# %% [markdown]
# The formula reads the 800 digits twice, in $Xw$ and in the product with $X^T$. Measuring reads them twice *for every
# weight*, 1,570 times.
#
# There is one slope for each pixel, so the gradient is an image. Its opposite is the first step: which pixels gain
# weight, and which lose it? At $w = 0$ every output is 0. So for a 4, what is the error $o - y$? And for a 9?

# %% tags=["hide-input"]
# A prediction.
first_step = predict(
    "All weights are 0, and the first step goes against the gradient. Which image does it add to the weights?",
    ["grey noise", "an average 9", "an average 9 minus an average 4", "the outline that 4s and 9s share"],
    answer="an average 9", reveals=2,
)  # fmt: skip
first_step

# %% tags=["hide-output", "hide-input"]
# The first step and the second, as images, and the weights after 20 and 200.
def digit_gradient(w):
    return X.T @ (X @ w - answers) / 800

walk = figures.surfaces.descend(digit_gradient, np.zeros(785), lr=0.02, steps=200)  # (201, 785)
figures.show(
    figures.digit_pair.weight_images(
        [(walk[1] - walk[0]).round(4), (walk[2] - walk[1]).round(4), walk[20].round(3), walk[200].round(2)],
        ["the first step", "the second step", "after 20 steps", "after 200 steps"]),
    alt="The first step is a blurred 9, all of it positive. The second is positive where only 9s have ink and negative "
    "where only 4s have. After 20 and after 200 steps the weights are ever finer patterns of the same kind.",
    caption="Two steps with learning rate 0.02, and the weights of the 784 pixels after more of them. "
    "Nearly white is 0; each image has its own scale.")

# %% [markdown]
# <details class="reveal"><summary>Each digit adds its image, times its error</summary>
#
# At $w = 0$ a 4 has the error 0, since 0 is what it should give, and a 9 has $-1$. So $-X^T(o - y)$ is the sum of all
# 9s. The 4s do not appear in it at all.
#
# After that step the outputs are near 0.4 for 4s and 0.46 for 9s, not far apart, because they share most of their ink.
# So a 4 now has an error of $+0.4$, and a 9 of $-0.54$. The second step adds 0.54 of the 9s and takes away 0.4 of the
# 4s: more is added than taken, and most of the image is orange. Compare lesson 01: there only *misread* digits
# were added, and each counted the same. Here every digit counts as much as it is wrong.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was computed.
nine = pair.x[pair.y == 1].mean(axis=0)
direction = walk[1][:-1] / np.linalg.norm(walk[1][:-1])
first_step.confirm("an average 9" if np.isclose(direction @ nine, np.linalg.norm(nine)) else "something else")

# %% [markdown]
# Often the loss is divided by the number of samples.[^Owens "How good is our network?"] With outputs $o_i$ and answers
# $y_i$ that may have several numbers per sample, the **quadratic cost** is
#
# $$C = \frac{1}{2 n} \; \sum_{i} \; \|y_i - o_i\|^2$$
#
# where $\|v\|^2$ is the sum of the squares of all numbers in $v$, so that $\|v\|$ is the length of $v$. The best
# weights are the same as for $J$; the values, gradients and curvatures are $n$ times smaller. Show the two samples of
# the beginning once, then twice: at $w = 1$, $J$ goes from 5 to 10, while $C$ stays at 2.5. Without the one half, $C$
# is called the **mean squared error**. For the 800 digits we shall use $C$.

# %% [markdown]
# ### Why minus the gradient goes down
#
# With several weights, gradient descent moves each against its own slope, all at once. Why should that lower the loss?
# With one weight it is plain: slope times distance is the change in height, as long as the distance is small. With
# several, change one after the other, weight $j$ by a little $\Delta w_j$. Each change adds its own slope times its own
# distance, since a small move along one weight hardly changes the slope along the next:
#
# $$\Delta J \approx \sum_j \frac{\partial J}{\partial w_j} \, \Delta w_j$$
#
# Remember this line as the **linear estimate**;[^Owens "Find the global minimum"] the dashed line beside the map
# draws it. Now let each weight move against its slope, $\Delta w_j = -\mathrm{lr} \cdot \partial J / \partial w_j$.
# Every term becomes minus a square:
#
# $$\Delta J \approx -\mathrm{lr} \sum_j \left(\frac{\partial J}{\partial w_j}\right)^2$$
#
# $$\Delta J \approx -\mathrm{lr} \; \|\nabla J\|^2$$
#
# where $\nabla J$ is the gradient and $\|\nabla J\|$ its length. A sum of squares is never negative, so the estimate
# predicts a fall wherever the gradient is not zero.
#
# No other direction falls faster.[^Dey "Minimizing Loss Function"] The estimate is the dot product of $\nabla J$ and
# $\Delta w$: their lengths times the cosine of the angle between them. For steps of one length only the angle counts,
# and the cosine is lowest, $-1$, straight against the gradient.

# %% [markdown]
# Give the two samples a model with a bias, $o = w x + b$, and stand at $w = 1,\ b = 0$. By hand: the errors $o - y$ are
# $-3$ and $-1$, so the gradient is $(-3 \cdot 1 - 1 \cdot 2,\; -3 - 1) = (-5, -4)$, and $\|\nabla J\|^2 = 25 + 16 =
# 41$.

# %%
X2 = ops.add_bias_input(x[:, None])

def loss2(weights):
    return ops.half_squared_sum_forward(X2 @ weights, y)[0]

def gradient2(weights):
    return X2.T @ (X2 @ weights - y)

at = np.array([1.0, 0.0])
figures.losses.linear_estimate(
    loss2, gradient2, at, lr=0.05,
    caption="The estimate is the tangent. This loss bends upward, so the tangent lies below it: it promises too much.")

# %% [markdown]
# Compare the predicted with the actual change. At lr 0.01 the estimate says $-0.01 \cdot 41 = -0.41$, and the loss
# falls a little less, because it bends away from its tangent. (On the map at the top it was the other
# way: the first step promised 0.398 and gave 0.405, because there, on the shoulder of the valley, the ground bends
# downward.)

# %%
estimates = []
for lr in (0.1, 0.01, 0.001):
    predicted, actual = -lr * np.sum(gradient2(at) ** 2), loss2(at - lr * gradient2(at)) - loss2(at)
    estimates.append((lr, predicted, actual, actual - predicted))

# %% tags=["hide-input"]
# A prediction.
hope = predict(
    "If the step is ten times shorter, how much smaller is the gap between the estimate and the actual change?",
    ["as large as before", "10 times smaller", "100 times smaller"], answer="100 times smaller", reveals=2,
)  # fmt: skip
hope

# %% tags=["hide-output", "hide-input"]
# The predicted and the actual change.
table(
    estimates, ["lr", "predicted", "actual", "gap"], formats={"predicted": ".4f", "actual": ".4f", "gap": ".6f"},
    caption="The change of the loss",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>The estimate shrinks tenfold, the gap a hundredfold</summary>
#
# The gap grows with the *square* of the step's length, as a parabola does: 1.385, 0.01385, 0.0001385. Make the step
# short enough, and the gap no longer matters beside the estimate. So a step against the gradient goes down if it is
# small enough.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
hope.confirm(f"{estimates[1][3] / estimates[2][3]:.0f} times smaller")

# %% [markdown]
# How small is small enough? With one weight: smaller than $2/h$, as you have seen. The same two parts, estimate and
# gap, show why. On a parabola, a step of length $\mathrm{lr}\,s$ against the slope $s$ changes the loss by the estimate
# $-\mathrm{lr}\,s^2$ and by the bend $h\,(\mathrm{lr}\,s)^2/2$, so
#
# $$\Delta J = -\mathrm{lr}\; s^2 \left(1 - \frac{\mathrm{lr}\; h}{2}\right)$$
#
# The factor in front is the promise, and the bracket says how much of it is kept: half at $\mathrm{lr} = 1/h$, nothing
# at $2/h$. Beyond that the loss grows.

# %% [markdown]
# ### One rate for several curvatures
#
# With several weights, each direction has a curvature of its own, and one learning rate must do for all. Take a
# *ravine*, nearly flat along $u$ and steep along $v$:
#
# $$J = \frac{1}{2} \; (0.1\,u^2 + 1.25\,v^2)$$
#
# A step multiplies $u$ by $1 - 0.1\,\mathrm{lr}$ and $v$ by $1 - 1.25\,\mathrm{lr}$, each on its own. The best rate for
# $v$ is $1 / 1.25 = 0.8$, the best for $u$ is $1/0.1 = 10$. But the steep direction sets the limit, $2 / 1.25 = 1.6$.
# The best compromise makes both factors equally large, with opposite signs: $1 - 0.1\,\mathrm{lr} = 1.25\,\mathrm{lr} -
# 1$, so $\mathrm{lr} = 2/1.35 = 1.48$.

# %%
rows = []
for lr in (0.8, 2 / 1.35, 1.6, 1.65):
    path = figures.surfaces.descend(figures.surfaces.ravine_gradient, (2.0, 2.0), lr, steps=20)
    rows.append((f"{lr:.2f}", *path[-1], np.linalg.norm(path[-1])))
table(rows, ["lr", "u", "v", "distance"], caption="After 20 steps from u = v = 2",
      formats=dict.fromkeys(("u", "v", "distance"), ".3f"), align="rrrr")  # fmt: skip

# %% [markdown]
# At 0.8, $v$ is done after one step, and $u$ is still at 0.377 after twenty. At 1.48 both shrink by 15 % a step, and no
# rate does better for the slower of the two. In general, with $k$ for the ratio of the curvatures, the best factor is
# $(k-1)/(k+1)$: here $k = 12.5$ and the factor is 0.85. The more the curvatures differ, the closer it is to 1.
#
# Walk in the ravine yourself. The gradient's arrow stands at right angles to the contours, and that is hardly ever the
# way to the bottom. Try 1.6, then 1.65, and look at the estimate beside the loss.

# %%
figures.walk_downhill("ravine", start=(-2.75, 2.0), lr=1.5, steps=3, title="How large may a step be in a ravine?")

# %% [markdown]
# ### The ravine of the digits
#
# What does the loss of the 800 digits look like, over its 785 weights? It cannot be drawn, but its curvatures can be
# computed. The matrix $X^T X / 800$ holds all second derivatives of $C$. From it, `eigh` finds 785 directions at right
# angles to each other, and the curvature along each, from the smallest to the largest.

# %%
H_digits = X.T @ X / 800
curvatures, directions = np.linalg.eigh(H_digits)  # directions: one a column, of length 1
print("the three largest:", curvatures[-3:].round(1))

# %% [markdown]
# Along one direction the curvature is seven times as large as along the next. Which one is it? Think of a step of
# length 1 along a direction: it changes the output of every digit by some amount. The curvature along this direction
# is the mean of the squares of these 800 amounts.

# %% tags=["hide-input"]
# A prediction.
steep = predict(
    "Along which direction is the loss of the digits steepest?",
    ["the average 9 minus the average 4", "the average of all digits", "the bias alone", "the darkest single pixel"],
    answer="the average of all digits", reveals=2,
)  # fmt: skip
steep

# %% tags=["hide-output", "hide-input"]
# The steepest direction, beside the average of all digits.
average = X.mean(axis=0)
steepest = directions[:, -1] * np.sign(directions[:, -1] @ average)  # its sign is left to chance
apart = X[pair.y == 1].mean(axis=0) - X[pair.y == 0].mean(axis=0)  # from the average 4 to the average 9
print(f"cosine of the angle between the two: {steepest @ average / np.linalg.norm(average):.4f}")
print(f"curvature from the average 4 to the average 9: {apart @ H_digits @ apart / (apart @ apart):.1f}")
figures.show(
    figures.digit_pair.weight_images(
        [steepest.round(3) + 0.0, average.round(3)], ["steepest direction", "average digit"], names=None),
    alt="Two images that look the same: the steepest direction of the loss is a blurred digit, and so is the average "
    "of all digits.",
    caption="Of the 785 directions, the steepest one and the average digit. Each image has its own scale.")

# %% [markdown]
# <details class="reveal"><summary>The wall of this ravine</summary>
#
# The steep direction *is* the average digit. Add a little of it to the weights, and every output grows at once, since
# all digits have ink in the same places. The direction that tells a 4 from a 9 is far flatter: what it adds to a 9 it
# takes from a 4, where they differ, and the curvature is only 3.9.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was computed.
along_average = average @ H_digits @ average / (average @ average)
steep.confirm("the average of all digits" if along_average > 0.99 * curvatures[-1] else "another direction")

# %% [markdown]
# From weights of zero, walk 200 steps on all 800 digits, with each of three learning rates.

# %%
digit_walks = {lr: figures.surfaces.descend(digit_gradient, np.zeros(785), lr, 200) for lr in (0.004, 0.04, 0.05)}

def digit_loss(w):
    return ops.quadratic_cost_forward((X @ w)[:, None], answers[:, None])[0]

# %% tags=["hide-input"]
# A prediction.
digit_rates = predict(
    "With which of the learning rates 0.004, 0.04 and 0.05 is the loss lower at the end than at the start?",
    ["only 0.004", "0.004 and 0.04", "all three: these are tiny steps", "none: 785 weights are too many"],
    answer="0.004 and 0.04", reveals=3,
)  # fmt: skip
digit_rates

# %% tags=["hide-output", "hide-input"]
# The three walks in numbers.
def digits_right(w, x=X, y=pair.y):
    return int(np.sum((x @ w >= 0.5) == y))

X_new = ops.add_bias_input(pair.x_new)
table(
    [(f"{lr:g}", *(f"{digit_loss(path[k]):.3g}" for k in (1, 10, 200)), digits_right(path[200]),
      digits_right(path[200], X_new, pair.y_new)) for lr, path in digit_walks.items()],
    ["lr", "1 step", "10 steps", "200 steps", "right of 800", "of 200 new"], align="rrrrrr",
    caption=f"The loss, {digit_loss(np.zeros(785)):g} at the start, and the right answers after 200 steps",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>The limit that you found for one weight holds for 785</summary>
#
# The largest curvature is 43.8, so the limit is $2/43.8$, about 0.046. With 0.05 the steep direction is multiplied by
# $1 - 0.05 \cdot 43.8 = -1.19$ at each step, and after 200 steps the loss has thirty digits. 0.05 *looks* small.
# Whether a rate is small or large only the curvature can say.
#
# Below the limit both walks learn, and the larger rate is far ahead. Along the flat directions, where 4s and 9s
# differ, a walk with 0.004 gets only about a tenth as far at each step. But the best rate is not the limit itself.
# Close to it the jumps across the ravine die away slowly: after 10 steps 0.04 is best. The longer the walk,
# the closer the best rate comes to the limit, as the picture shows.
#
# </details>

# %% tags=["hide-output", "hide-input"]
# Walks with 61 rates at once, one in each column; two of the rates are the limit and a little less.
many_rates = np.sort([*np.linspace(0.002, 0.06, 59), 0.995 * 2 / curvatures[-1], 2 / curvatures[-1]])
columns, after_steps = np.zeros((785, len(many_rates))), {}
for step in range(1, 201):
    columns = columns - many_rates * (H_digits @ columns - (X.T @ answers / 800)[:, None])
    if step in (10, 50, 200):
        after_steps[f"after {step} steps"] = 0.5 * np.mean((X @ columns - answers[:, None]) ** 2, axis=0)
figures.descent.rates_and_losses(
    many_rates, after_steps, 2 / curvatures[-1],
    caption="The loss of the 800 digits for every rate. The lowest point of each curve is marked: it moves towards the "
    "limit as the walk gets longer.")

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
fell = [f"{lr:g}" for lr, path in digit_walks.items() if digit_loss(path[200]) < digit_loss(path[0])]
digit_rates.confirm("0.004 and 0.04" if fell == ["0.004", "0.04"] else ", ".join(fell))

# %% [markdown]
# What do the outputs of the digits do while the weights zigzag? Follow the walk with 0.04. Along the steep direction
# the factor is $1 - 0.04 \cdot 43.8 = -0.75$: there each step jumps to the other side. Since this direction is the
# average digit, *all* outputs jump together, too high, too low, too high. Meanwhile, slowly, the two heaps move apart:
# the 4s go to 0, the 9s to 1. This slow part is the way along the ravine, and it is what we call learning.
#
# (Right of the dotted line, the answer is 9. Lesson 06 adds **momentum**, which uses just this: steps that change their
# sign cancel, steps that keep it add up.)

# %%
figures.digit_pair.outputs_by_step(
    digit_walks[0.04], X, pair.y, at=[1, 2, 3, 4, 5, 6, 8, 12, 20, 50, 100, 200],
    title="The outputs of 800 digits, step by step, with learning rate 0.04")

# %% [markdown]
# ## A whole landscape: minimum, plateau, saddle
#
# On the digits the loss is one bowl, because the output is a plain weighted sum. With a hidden layer it is a landscape,
# like the map at the top of the page. That one is made up, to show the places where a walk comes to rest, or nearly so.
#
# - A **minimum** is lower than all that surrounds it. The map has three: the wide dent on the right, with a loss of
#   0.05, is the deepest. The two narrow ones on the left, with 0.39, are only **local minima**.
# - A **plateau** is flat and high: hardly any slope, so hardly any step. A search crawls there, like a hiker lost in
#   the foothills.[^Dey "Minimizing Loss Function"]
# - A **saddle** is level too: lowest along one direction, and highest along another.
#
# Send out 25 walkers, from a grid of starts over the whole map, each for 100 steps with learning rate 0.4.

# %%
foothills, foothills_gradient = figures.surfaces.foothills, figures.surfaces.foothills_gradient
line = np.linspace(-3, 3, 5)
starts = np.array([[u, v] for v in line for u in line])  # (25, 2)
paths = figures.surfaces.descend(foothills_gradient, starts, lr=0.4, steps=100)  # (101, 25, 2)
figures.descent.endings_map(
    paths, caption="Marker and colour of a start say where its walk is after 100 steps.")

# %% [markdown]
# Descent knows only the slope under its feet. Most walks went down into the dent nearest to them. The four in the
# corners have hardly moved: where the slope is nearly zero, so is the step. And two walks ended at the saddle. They
# started exactly on the mirror line $v = 0$, where nothing pushes them sideways.
#
# Would another learning rate find the deepest minimum more often? In the bowl with a dent it did.

# %%
kinds = ("deepest minimum", "local minimum", "saddle", "plateau", "on the way")
landscape = {}
for lr, steps in ((0.02, 100), (0.1, 100), (1.2, 100), (0.1, 1000), (1.2, 1000)):
    last = figures.surfaces.descend(foothills_gradient, starts, lr, steps)[-1]
    count = Counter(figures.surfaces.ending(p) for p in last)
    landscape[lr, steps] = [count[kind] for kind in kinds]
table([(lr, steps, *row[:2], row[3]) for (lr, steps), row in landscape.items()],
      ["lr", "steps", "deepest", "local", "plateau"],
      caption="Where the 25 walks are; the others stand at the saddle or are on the way")  # fmt: skip

# %% [markdown]
# Here it makes no difference, except in time. The limits $2/h$ are 1.7 for the wide dent and 1.4 for the narrow ones.
# Both 0.1 and 1.2 lie below, so every dent can hold a walk; in the end, each of the 25 stands at the same place with
# either. The smaller the rate, the longer it takes: with 0.02, eleven are still on the plateau after 100 steps.

# %% [markdown]
# One warning: a map of two weights makes local minima look more important than they are. In a minimum the ground bends
# upward along *every* direction. Suppose that each of 100,000 directions bends up or down by chance. Then at a level
# place hardly ever do all of them bend up: nearly all level places are saddles.
#
# ### When to stop
#
# Stop when the error is small enough, or after a fixed number of steps, whichever comes first.[^Owens "Stochastic
# gradient descent"] Another rule is to stop when the gradient is nearly zero, since then nothing moves. But at the four
# starts in the corners the gradient is shorter than 0.01 before the first step. There the rule stops at once, on the
# highest ground there is.
#
# So look at the loss curve too, and be patient. Below are three walks: one along the mirror line to the saddle, one
# that starts a millionth beside that line, and one that crosses the plateau. Each curve has a level stretch, and two
# of them fall after it.

# %%
three = {"on the mirror line": (-2, 0), "0.000001 beside it": (-2, 1e-6), "on the plateau": (-3, 3)}
walks = {name: foothills(figures.surfaces.descend(foothills_gradient, start, 0.4, 300))
         for name, start in three.items()}  # fmt: skip
figures.descent.waiting(walks, caption="A level loss is not always the end of the walk.")

# %% [markdown]
# ### Where should a network start?
#
# The digits started with all weights at zero. With a hidden layer that does not work. Here is the smallest example: two
# hidden neurons, $o = v_1 \tanh(u_1 x) + v_2 \tanh(u_2 x)$, on the two samples of the beginning. Look at the slopes for
# three starts.

# %%
def two_layer_loss(weights):
    u, v = weights[:2], weights[2:]
    return ops.half_squared_sum_forward(ops.tanh(np.outer(x, u)) @ v, y)[0]

starts_of_two = {"all zero": [0.0, 0.0, 0.0, 0.0], "equal": [0.5, 0.5, 0.3, 0.3], "different": [0.5, -0.2, 0.3, 0.1]}
rows = [(name, *checks.numerical_gradient(two_layer_loss, np.array(start)).round(3) + 0.0)  # + 0.0 turns -0 into 0
        for name, start in starts_of_two.items()]  # fmt: skip
table(rows, ["weights", "dJ/du₁", "dJ/du₂", "dJ/dv₁", "dJ/dv₂"])

# %% [markdown]
# From zero nothing moves: every slope is zero. (It is a saddle, not a minimum: there are ways down, but the slope does
# not show them.) From equal weights, equal neurons get equal gradients, take equal steps, and stay equal for ever. A
# hundred of them would be worth one. So networks start with weights that are *random*. How large these should be is a
# question for lessons 04 and 06b.

# %% [markdown]
# ## Mini-batches and epochs
#
# Whose errors does a step look at? One recipe takes **all training samples**: evaluate every one, add up, then make one
# step.[^Hwu "Stochastic Gradient Descent"] That is full-batch descent, as above. With a million samples it is a lot of
# work for one step. So the usual recipe takes a random handful for each step, a **mini-batch** of size $m$; one pass
# through all samples is an **epoch**.[^Owens "Stochastic gradient descent"] In the strict sense, **stochastic gradient
# descent** (SGD) is the case $m = 1$. Many texts call all three by this name.

# %%
def run_epoch(w, batch_size, lr, rng, average=True):
    order = rng.permutation(800)  # the numbers 0 to 799 in random order
    for first in range(0, 800, batch_size):
        batch = order[first : first + batch_size]  # numbers of digits; X[batch] are their rows
        gradient = X[batch].T @ (X[batch] @ w - answers[batch])
        w = w - lr * (gradient / len(batch) if average else gradient)
    return w

# %% [markdown]
# Why may a step look at 20 of the 800 digits? On average it is right: at fixed weights, the mean of the 40 mini-batch
# gradients of an epoch is the gradient of all digits. But each of them is off by some noise. How large is it? At
# weights of zero, draw 1,000 batches of each size, and measure how far their gradients lie from the whole one (the
# root of the mean squared distance).

# %%
whole = digit_gradient(np.zeros(785))

def noise(m):
    rng, off = np.random.default_rng(0), []
    for _ in range(1000):
        batch = rng.permutation(800)[:m]
        off.append(-X[batch].T @ answers[batch] / m - whole)  # with w = 0, the error o - y is -y
    return np.sqrt(np.mean(np.sum(np.square(off), axis=1)))

print("length of the gradient", round(float(np.linalg.norm(whole)), 1))
print("noise", {m: round(float(noise(m)), 1) for m in (1, 4, 16)})

# %% [markdown]
# With four times as many samples the noise is half as large: it falls as $1/\sqrt{m}$. A batch of 16 costs sixteen
# times the work of a single digit, and is only four times as exact. The batch size trades one for the other: many
# rough steps, or few exact ones.
#
# Race for ten epochs at the learning rate 0.01, in batches of 800 (all), of 20, and of 1. So all of them read the
# same number of digits. `race` makes ten runs, because a single one may be lucky. It returns the loss on all 800
# digits after each epoch, and how many of the 200 new digits are misread at the end.

# %%
def race(batch_size, rates, average=True, runs=10):  # rates: one learning rate for each epoch
    curves, ends = np.zeros((runs, len(rates))), []
    for run in range(runs):
        w, rng = np.zeros(785), np.random.default_rng(run)
        for epoch, lr in enumerate(rates):
            w = run_epoch(w, batch_size, lr, rng, average)
            curves[run, epoch] = digit_loss(w)
        ends.append(200 - digits_right(w, X_new, pair.y_new))
    return curves, ends

races = {size: race(size, [0.01] * 10) for size in (800, 20, 1)}  # [0.01] * 10: ten times 0.01

# %% tags=["hide-input"]
# A prediction.
sizes = predict(
    "Which batch size has the lowest loss, on average over the runs, after one epoch, and which after ten?",
    ["1, then 1", "1, then 20", "20, then 20", "800, then 800"], answer="1, then 20", reveals=2,
)  # fmt: skip
sizes

# %% tags=["hide-output", "hide-input"]
# The race in numbers.
curves = {f"batches of {size}": runs.mean(axis=0) for size, (runs, _) in races.items()}
table(
    [(size, f"{runs[:, 0].mean():.3f}", f"{runs[:, 9].mean():.3f}",
      f"{runs[:, 9].min():.3f} to {runs[:, 9].max():.3f}", f"{np.mean(ends):.0f}")
     for size, (runs, ends) in races.items()],
    ["batch size", "after 1 epoch", "after 10", "the ten runs", "misread of 200 new"], align="rrrrr",
    caption="Loss of the 800 digits, mean of ten runs",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>More steps win early, then the noise holds them up</summary>
#
# In one epoch the full batch makes one step, batches of 20 make 40, and batches of 1 make 800. Early, every step in
# roughly the right direction helps, so batches of 1 lead after one epoch.
#
# But they never settle. Each step follows the noise of a single digit, and where a run stands after an epoch is a
# matter of luck: at the end the ten of them lie between 0.018 and 0.065, and one bad run can cost them the lead.
# Batches of 20 go on sinking, all ten close together, and on average they are ahead after ten epochs. The new digits
# show it too: 12 are misread instead of 22. The full batch, with ten steps in all, is far behind: its loss is still
# 0.088.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
leaders = [min(curves, key=lambda name, epoch=epoch: curves[name][epoch]) for epoch in (0, 9)]
sizes.confirm(", then ".join(name.removeprefix("batches of ") for name in leaders))

# %% [markdown]
# What would a smaller rate do for batches of 1? With a tenth of the rate the jumps are a tenth as long, but so is the
# way. Let three walks race: one with 0.01, one with 0.001, and one that changes from 0.01 to 0.001 after five epochs.
# And to see how far the first has come, look also at the *middle* of its jumps: the mean of the 800 places at which it
# stands in an epoch.

# %%
late = "batches of 1, then lr 0.001"
slower, misread_late = race(1, [0.01] * 5 + [0.001] * 5)
always, misread_always = race(1, [0.001] * 10)
curves[late], curves["batches of 1, lr 0.001"] = slower.mean(axis=0), always.mean(axis=0)

middle = np.zeros((10, 10))  # ten runs, ten epochs: the loss in the middle of the jumps
for run in range(10):
    w, rng = np.zeros(785), np.random.default_rng(run)
    for epoch in range(10):
        places = [w := w - 0.01 * X[i] * (X[i] @ w - answers[i]) for i in rng.permutation(800)]
        middle[run, epoch] = digit_loss(np.mean(places, axis=0))

# %% tags=["hide-input"]
# The race, drawn; the walk that changes its rate is that with 0.01 until epoch 5.
print(f"loss at the end: 0.01 {curves['batches of 1'][9]:.4f}, 0.001 {always[:, 9].mean():.4f}, "
      f"0.01 then 0.001 {slower[:, 9].mean():.4f}")
print(f"misread of 200 new digits, in ten runs: 0.001 {min(misread_always)} to {max(misread_always)}, "
      f"0.01 then 0.001 {min(misread_late)} to {max(misread_late)}")
figures.descent.race(
    {"lr 0.01": curves["batches of 1"], "lr 0.001": curves["batches of 1, lr 0.001"],
     "lr 0.01, then 0.001": curves[late][4:], "lr 0.01, the middle of its jumps": middle.mean(axis=0)},
    ylabel="loss C of the 800 digits",
    caption="Batches of 1, means of ten runs. The walk with 0.01 jumps about a place that is far lower than it looks.")

# %% [markdown]
# By its loss, the walk with 0.001 is ahead of that with 0.01 from the second epoch on. But such a loss has two parts:
# the way that is still to go, and the jumps. In the middle of its jumps the walk with 0.01 has come much farther. After
# five epochs the loss is 0.015 there, and the walk with 0.001 is still at 0.022. The large steps had long covered the
# way along the flat directions; only the noise hid it. Make the steps small, and within one epoch the noise is nearly
# gone. So large steps first, to get there, and small ones at the end, against the noise.
#
# (On the 200 new digits this is no better than 0.001 throughout. The loss of the training digits is not all that
# counts.)
#
# ### Sum or mean?
#
# The update of a mini-batch divides the sum of its samples' gradients by $m$:
# $w \leftarrow w - (\mathrm{lr} / m) \sum_i \partial C_i / \partial w$, where $C_i$ is the loss of one
# sample.[^Owens "Stochastic gradient descent"] Suppose you forget the division. The shapes still fit, and no error
# appears. What happens to the training? Take a learning rate of 0.005, and remember the largest curvature of the
# digits, 43.8.

# %%
rows = {size: [race(size, [0.005] * 3, average, runs=3)[0][:, -1].max() for average in (False, True)]
        for size in (2, 5, 10, 20, 50)}  # fmt: skip

# %% tags=["hide-input"]
# A prediction.
summing = predict(
    "With batches of 2, 5 and 20: which of them learn, if the gradients are summed and not averaged?",
    ["none of them", "only batches of 2", "2 and 5", "all three"], answer="2 and 5", reveals=2,
)  # fmt: skip
summing

# %% tags=["hide-output", "hide-input"]
# Summed and averaged, batch size by batch size.
def in_words(value):
    return f"{value:.3f}" if value < 1 else "explodes"

table(
    [(size, f"{0.005 * size:g}", in_words(summed), in_words(averaged)) for size, (summed, averaged) in rows.items()],
    ["m", "lr · m", "summed", "averaged"], align="rrrr", caption="Loss after 3 epochs, the worst of three runs",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>The batch size has become a second learning rate</summary>
#
# A sum over $m$ samples is $m$ times their mean, so the real step is $\mathrm{lr} \cdot m$: 0.01, 0.025 and 0.1. The
# limit is about $2/43.8 = 0.046$. So batches of 2 and 5 learn, and batches of 20 explode; the table shows that 10 is
# too many already. With the mean there is no such limit on $m$.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
learned = [str(size) for size in (2, 5, 20) if rows[size][0] < digit_loss(np.zeros(785))]
summing.confirm("all three" if len(learned) == 3 else " and ".join(learned) or "none of them")

# %% [markdown]
# ## What the loss does not see
#
# Training follows the loss. But what you want is right answers. Do the two always go together? In 785 dimensions it is
# hard to see, so take one last small example, with one input. There are seven samples, class 1 from $x = 3$ on, and one
# of them lies far out at $x = 15$. The model is a line $o = w x + b$ that answers 1 where $o \ge 0.5$. With
# $w = 0.2,\ b = 0$ it has all seven right.

# %%
far_x, far_y = np.array([[0.0], [1], [2], [3], [4], [5], [15]]), np.array([0, 0, 0, 1, 1, 1, 1])

def right_answers(w, b):
    o = ops.linear_regression_predict(far_x, w, b)
    return int(np.sum((o >= 0.5) == far_y))

print("right at the start:", right_answers(np.array([0.2]), 0.0), "of 7")

# %% [markdown]
# From there, walk downhill on the mean loss $C$ for 500 steps, so short that it falls at every one of them. (What is
# the output at $x = 15$ at the start, and what should it be?)

# %%
w, b = np.array([0.2]), 0.0
losses, right = [], [right_answers(w, b)]
for _ in range(500):
    w, b, history = ops.linear_regression_descend(far_x, far_y, lr=0.02, steps=1, w=w, b=b)
    losses.append(history[0])  # history: the loss before and after the step
    right.append(right_answers(w, b))
losses.append(history[1])
w_best, b_best = ops.linear_regression_fit(far_x, far_y)

# %% tags=["hide-input"]
# A prediction.
parting = predict(
    "What becomes of the seven right answers while the loss falls?",
    ["some are lost on the way, and all come back", "one is lost for good", "most are lost for good"],
    answer="one is lost for good", reveals=3,
)  # fmt: skip
parting

# %% tags=["hide-output", "hide-input"]
# Loss and right answers on the way.
lowest_of_all = 0.5 * np.mean((ops.linear_regression_predict(far_x, w_best, b_best) - far_y) ** 2)
table(
    [*((f"{k}", losses[k], right[k]) for k in (0, 1, 5, 20, 100, 500)),
     ("the best line", lowest_of_all, right_answers(w_best, b_best))],
    ["step", "C", "right of 7"], formats={"C": ".4f"}, align="lrr",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>The loss falls to a quarter, and an answer is lost for good</summary>
#
# Seven right answers become 4, then 6, while the loss falls to a quarter. Even the line with the least loss of all has
# only 6. The loss asks *how far* each output is from 0 or 1. The far sample starts with $o = 3$, farther off than any
# other, so the line tilts to reduce this one error. The count of right answers only asks *on which side* of 0.5 an
# output lies, and there the far sample was right all the time.
#
# </details>

# %% tags=["hide-output", "hide-input"]
# The two lines, and the loss and the right answers on the way.
figures.losses.loss_against_accuracy(
    far_x[:, 0], far_y, ((0.2, 0.0), (w[0], b)), losses, right,
    caption="The dashed line has a quarter of the solid one's loss, and a mistake.")

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
lost = right[0] - right[-1]
parting.confirm("some are lost on the way, and all come back" if lost == 0 else
                "one is lost for good" if lost == 1 else "most are lost for good")  # fmt: skip

# %% [markdown]
# Then why not make the number of right answers the goal? Take weights that have not learned for long, ten steps from
# zero, and 40 new digits. Move the bias alone, and look at the number of mistakes and at the loss.

# %%
young = figures.surfaces.descend(digit_gradient, np.zeros(785), 0.02, 10)[-1]
outputs, labels = X_new[:40] @ young, pair.y_new[:40]
places = np.linspace(-0.8, 0.8, 401)  # what is added to the bias

def wrong_answers(b):
    return int(np.sum((outputs + b >= 0.5) != labels))

def smooth_loss(b):
    return 0.5 * np.mean((outputs + b - labels) ** 2)

figures.losses.staircase(
    places, [wrong_answers(b) for b in places], [smooth_loss(b) for b in places],
    xlabel="added to the bias",
    caption="Standing on a stair, you cannot tell which way leads down. On the curve you can.")

# %% [markdown]
# The count is a staircase: level almost everywhere, and at its jumps there is no derivative. It tells you *that* you
# are wrong, never *which way* is better. Choosing the largest of several outputs, argmax, has the same fault: its
# derivative is zero wherever there is one.[^Hwu "Why Not Use the Intuitive Measure?"] So we follow a loss that is
# smooth, as a stand-in for what we want. It is not the same thing: here it is lowest where 4 digits are misread,
# although 3 are possible. So keep an eye on the right answers too.[^Owens "How good is our network?"]
#
# For several classes most networks today use another stand-in, the **cross-entropy**: $-\ln p$, where $p$ is the
# probability that the network gives to the right class. [Lesson 06](06_training_an_mlp.ipynb) compares it with others.

# %% [markdown]
# ## So, is a smaller step safer?
#
# Go back to the belief at the top of the page: *a smaller step is safer; it may take longer, but it gets there.* Here
# is what you measured.
#
# | where | is the smaller step safer? |
# |---|---|
# | a parabola, a ravine, the digits | Against running away, yes. But far below $2/h$ it only costs time. |
# | a bowl with a dent | No. The small step stays in the poor valley; a larger one jumps over it. |
# | a landscape | Below the limits of all its dents it made no difference, except in time. |
# | batches of 1 | Of two fixed rates, yes: it ends lower. But large steps first and small ones then end lowest. |
#
# %% [markdown]
# So no rate is safe in itself. What you can do about it has three parts:
#
# - **In a valley**, stay below $2/h$ of its steepest direction, and not far below: beyond it the walk cannot come to
#   rest there, and a much smaller rate only takes longer.
# - **Between valleys** there is no such rule. A rate above the limit of a narrow valley cannot stay in it, which is
#   good where the valley is poor. But the limit does not tell you which valleys are.
# - **Against noise**, start with large steps and end with small ones. The loss is lowest then; whether new digits are
#   read better is another question.

# %% [markdown]
# And what does a step need? One slope for each weight. On this page the formula $X^T (o - y)$ gave all of them,
# because the model was a single weighted sum. A network that reads all ten digits has 101,770 weights and biases, in
# layers. To measure its slopes one by one you would run it 203,540 times, for a single step. [Lesson
# 04](04_backpropagation.ipynb) finds all of them in one pass back.

# %% [markdown]
# ## Optional: a step that knows the curvatures
#
# <details><summary>The best step along the gradient, and Newton's</summary>
#
# In the ravine, and with the digits, the steepest direction dictated the step for all. Could a step be chosen that
# knows the curvatures? For a linear model the matrix $H = X^T X$ holds all second derivatives of $J$. The best step
# *along* the gradient $g$ is the one with $\mathrm{lr} = g^T g \,/\, g^T H g$.[^Hwu "Stochastic Gradient Descent"]
# **Newton's method** also changes the direction: it solves $H\,\Delta w = -g$ and jumps to where the gradient would
# be zero, if the loss were a parabola.
#
# </details>

# %%
H = X2.T @ X2  # (2, 2), the second derivatives of the two-weight example
g = gradient2(at)
best_along = g @ g / (g @ H @ g)
newton = at - np.linalg.solve(H, g)
counted = figures.surfaces.steps_along_gradient(loss2, gradient2, H, at, below=1e-6)
print(f"at the start {loss2(at)}; after one step along the gradient {loss2(at - best_along * g):.3f}")
print(f"below 0.000001 after {counted} such steps; after one of Newton's {loss2(newton):.6f}")

# %% [markdown]
# <details><summary>Why nobody trains networks like this</summary>
#
# "Newton's method in 100,000 dimensions"[^Hwu "Iterative Tuning Relies on Derivatives"] needs all second derivatives,
# $d^2 = 10^{10}$ numbers for $d = 100{,}000$ weights: 80 GB of 8-byte numbers, where the gradient has 0.8 MB. Solving
# the system takes about $d^3/3$ multiplications, $3 \cdot 10^{14}$ for one step. And far from a minimum it may go *up*,
# to a saddle, where the gradient is zero too.
#
# </details>

# %% [markdown]
# ## Try it
#
# - In the ravine, move the start to $v = 0$ (on the map, press the down arrow eight times). Why is 1.65 harmless now?
#   Then press the up arrow once: $v = 0.25$.
#   <details><summary>Answer</summary>
#
#   At $v = 0$ nothing moves along $v$, and along $u$ the limit is $2/0.1 = 20$. Beside the line,
#   $v$ is multiplied by $1 - 1.25 \cdot 1.65 = -1.0625$ at each step. From 0.25 it is off the map after 43 steps.
#
#   </details>
# - On the foothills, find a rate with which walks come to rest in the wide dent, but never in a narrow one.
#   <details><summary>Answer</summary>
#
#   Between 1.42 and 1.71, for example 1.6. A narrow dent is more strongly curved, so its $2/h$ is smaller. A walk that
#   comes near one jumps from side to side for ever, and the wide dent still brings it to rest.
#
#   </details>
# - In the cell with `far_x`, move the last sample from 15 to 6 and run the cells below it. Are right answers still
#   lost at the end?
#   <details><summary>Answer</summary>
#
#   No. At 6 the best line has all seven right. It loses its first answer once the sample is farther out than about
#   10.7. (A walk of 500 steps has not quite arrived, and loses it at 10.45.)
#
#   </details>

# %% [markdown]
# <details><summary>For those who know the lectures</summary>
#
# **The mean.** Dey calls the half sum "mean squared error", but no mean is taken. For the two samples at $w = 1$, $J$
# and the mean squared error are both 5; show them twice, and they are 10 and 5.
#
# **The square.** Dey's slide for a network reads $\sum (Y - f(\ldots)^2) / 2$: the inner parentheses square the output
# alone. The whole difference is squared. Read literally, the loss is 1, $-6.5$ and $-24996.5$ at $w = 1$, 2 and 100 of
# the first example: it would sink for ever.
#
# **The update.** "Training Using Backpropagation" lists four steps, the fourth being the update of the weights, and
# then says "repeat steps 1-3". Repeated so, the weights would change once and then stay. The same slide stops "when
# there is no change in gradient". On a plateau, and at the rate $2/h$, that rule fails.
#
# **Stochastic.** Hwu's first slide of that name takes the sum over all training inputs, which is full-batch descent;
# Owens' takes mini-batches.
#
# </details>

# %% [markdown]
# ## Check yourself
#
# **1.** Two classes, three samples. Model A gives each sample's right class the probability 0.51. Model B gives 0.99,
# 0.99 and 0.40. Which has more right answers, and which has the smaller mean cross-entropy?
#
# <details><summary>Answer</summary>
#
# A is right on all three, with the mean $-\ln 0.51 = 0.67$. B is right on two, since 0.40 is below one half, with the
# mean $(0.01 + 0.01 + 0.92)/3 = 0.31$. The smaller loss belongs to the model with fewer right answers: the loss also
# counts how sure a model is.
#
# </details>

# %% [markdown]
# **2.** The gradient at some point is $(3, -4)$. What does the linear estimate promise for a step with learning rate
# 0.01? The loss $J = 8\, w^2 / 2$ has one weight and starts at $w = 1$: where is $w$ after three steps, if the learning
# rate is 0.125? If it is 0.25? If it is 0.2525?
#
# <details><summary>Answer</summary>
#
# A fall by $0.01 \cdot (9 + 16) = 0.25$. For the parabola the factor is $1 - 8\,\mathrm{lr}$. At 0.125 it is 0: $w = 0$
# after the first step. At 0.25 it is $-1$: $w = -1$, and the loss stays level for ever although $w$ jumps. At 0.2525 it
# is $-1.02$: $w = -1.02^3 = -1.06$, and the loss grows by 4 % per step, so slowly that it looks level at first.
#
# </details>

# %% [markdown]
# **3.** A friend's training works with batches of 32 and learning rate 0.01. On a machine with more memory she takes
# batches of 256, changes nothing else, and the loss explodes. What is the likely mistake, and what are two ways out?
#
# <details><summary>Answer</summary>
#
# Her gradient is summed over the batch, so a batch of 256 makes steps 8 times as long, past $2/h$. One way out is to
# divide by the batch size, with the learning rate $0.01 \cdot 32 = 0.32$ for steps as long as before. A learning rate 8
# times smaller works as well, until the batch size changes again.
#
# </details>
