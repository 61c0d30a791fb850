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
# The perceptron of lesson 01 corrected itself at each mistake, by a rule made for one neuron. A network that reads
# handwritten digits has a hundred thousand weights and no such rule. It learns in another way. A single number, the
# **loss**, says how wrong it is, and it walks downhill on that number, step by step.
#
# The map shows a loss over two weights. Click anywhere to put a walker there (or go to the map with Tab and use the
# arrow keys), then press "One step" again and again. The dashed line on the right shows what the slope promises for the
# next step; the open circle shows what the step gives. Can you find a start from which the walk never reaches the
# deepest valley? And a learning rate with which it never comes to rest?
#
# Most people bring a belief to this page: *a smaller step is safer. It may take longer, but it gets there.* Decide now
# how far you trust it. You will measure where it holds.

# %% tags=["hide-input"]
# What this page uses, and the map.
from collections import Counter

import numpy as np

from course_lib import checks, data, figures
from course_lib import reference as ops
from course_lib.lesson import predict, table

figures.walk_downhill()

# %% [markdown]
# ## You will be able to
#
# - compute a loss and its gradient by hand for a small model, and check the gradient by measuring it
# - predict from the curvature of a loss whether a learning rate crawls, converges, oscillates or diverges
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
# Reading and trying takes about 60 minutes, and the optional section 5 more.
#
# </details>

# %% [markdown]
# ## The smallest example, by hand
#
# Take two samples, with the inputs $x = (1, 2)$ and the right answers $y = (4, 3)$, and the smallest model there is:
# $o = w\,x$, one weight and no bias. At $w = 1$ the outputs are $o = (1, 2)$, so the differences $y - o$ are $3$ and
# $1$. A loss turns them into one number: the smaller it is, the better the model fits. Ours is half the sum of their
# squares, $J = (3^2 + 1^2) / 2 = 5$.[^Dey "Loss Function"]

# %%
x, y = np.array([1.0, 2.0]), np.array([4.0, 3.0])

def loss(w):
    return 0.5 * np.sum((y - w * x) ** 2)

print("y - o =", y - 1.0 * x, "  J =", loss(1.0))

# %% [markdown]
# Should $w$ grow or shrink? If $w$ changes, the loss $(y - w x)^2 / 2$ of one sample changes at the rate $-(y - w x)\,x
# = (o - y)\,x$; that is its derivative. For both samples together: $(1 - 4)\cdot 1 + (2 - 3)\cdot 2 = -5$. It is
# negative, so a larger $w$ gives a smaller loss. You can also measure a derivative: nudge $w$ up and down, and see how
# much $J$ changes.

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
# Here the lowest point could be computed. For a network it cannot, so one looks at the slope, takes a step downhill,
# and looks again. This is **gradient descent**. With a positive number lr that you choose, the **learning rate**, it
# repeats a single line:
#
# $$w \leftarrow w - \mathrm{lr} \cdot \frac{dJ}{dw}$$
#
# Where the slope is negative, $w$ grows; where it is positive, $w$ shrinks. Either way the step points downhill, and
# the steps get shorter by themselves as the ground gets level. Whether a step also *ends* lower depends on its length.

# %%
def descend(lr, steps, w=1.0):
    path = [w]
    for _ in range(steps):
        path.append(path[-1] - lr * slope(path[-1]))
    return np.array(path)

# %% [markdown]
# Five walks start at $w = 1$. The learning rate 0.2 is exactly right here: it reaches the lowest point, 2, in a single
# step.

# %%
walks_on_parabola = {lr: descend(lr, 20) for lr in (0.02, 0.2, 0.38, 0.4, 0.402)}

# %% tags=["hide-input"]
# A prediction.
rate = predict(
    "Which walk is nearer to 2 after 20 steps: 0.02, ten times smaller, or 0.38, nearly twice as large?",
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
# 0: one step and you are there. At $2/h = 0.4$ it is $-1$: the other side, equally far, for ever. At 0.402 it is
# $-1.01$: the walk **diverges**. The distance of 1 has become 1.10 after ten steps, and 21,000 after a thousand. And
# 0.02 and 0.38 have the factors $0.9$ and $-0.9$, so both are 0.1216 away after 20 steps: **ten times too small is as
# slow as 1.9 times too large.**
#
# In the picture, look at the side of the valley on which the steps land. Above 0.2 every step jumps across the bottom.
#
# </details>

# %% tags=["hide-output", "hide-input"]
# The five walks, drawn.
rates = {"0.02: crawls": 0.02, "0.2: at once": 0.2, "0.38: jumps": 0.38, "0.4: for ever": 0.4, "0.402: climbs": 0.402}
figures.descent.parabola_paths(
    lambda w: 2.5 + 2.5 * (w - 2) ** 2, 2.0, {f"lr {name}": descend(lr, 40) for name, lr in rates.items()},
    caption="The same start, 40 steps each. The square is the start, the diamond the last step.")

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
after = {lr: abs(path[-1] - 2) for lr, path in walks_on_parabola.items()}
rate.confirm("both are equally near" if np.isclose(after[0.02], after[0.38], rtol=1e-9) else "one is nearer")

# %% [markdown]
# ### A bowl with a dent
#
# On a parabola the belief holds, as long as you have time: below $2/h$ the loss never grows. But the loss of a network
# is no parabola. Take a wide bowl of curvature 1 around $w = 2$, and press a narrow dent into its side, near $w = 0$.

# %%
def dented(w):
    return 0.5 * (w - 2) ** 2 - np.exp(-(w**2) / 0.08)

def dented_slope(w):
    return (w - 2) + 25 * w * np.exp(-(w**2) / 0.08)

bottom = 0.0837  # of the dent; the curvature there is the slope of the slope, measured
print("curvature", round((dented_slope(bottom + 1e-6) - dented_slope(bottom - 1e-6)) / 2e-6, 1))

# %% [markdown]
# Walks start at $w = -1$, on the left slope of the bowl, and make 1,000 steps.

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
# At 0.05 the walk follows the ground so faithfully that it goes down into the dent and stops at $w = 0.084$, with a
# loss of 0.92. No number of further steps helps, because the slope there is zero. The rule from the parabola says why:
# $2/h$ is about $2/20 = 0.1$ for the dent and $2/1 = 2$ for the bowl. Below 0.1 the dent brings a walk to rest. Well
# above 0.1 and well below 2 only the bowl does: with 0.5 even a walk that starts in the dent, at $w = 0$, leaves it.
# And above 2 neither does, as the last row shows: at 2.02 the walk climbs out of all bounds.
#
# So there is no safe side. A small step keeps you in the valley where you happen to stand, good or bad; a large one may
# jump out of a narrow valley, and out of a good one too.
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
# Why a square? Its slope is the error itself, so the steps shrink near the goal. The absolute difference, $y_i - o_i$
# without its sign, is used too.[^Hwu "Choose a Simple Error Function"] Its slope is 1 or $-1$, however large the error.
# So one wild sample pulls no harder than the others, but the steps do not shrink near the goal.
#
# With $d$ inputs per sample, $X$ has the shape $(n, d)$ and $w$ the shape $(d,)$:
#
# $$o_i = \sum_{j} X_{ij} \, w_j \qquad
# \frac{\partial J}{\partial w_j} = \sum_{i} \; (o_i - y_i) \, X_{ij}$$
#
# $$\frac{\partial J}{\partial w} = X^T (o - y)$$
#
# The second is the chain rule: $w_j$ moves each output $o_i$ by $X_{ij}$, and that output moves $J$ by $o_i - y_i$. The
# third says the same for all $j$ at once. This list of all partial derivatives is the **gradient**. It has the shape of
# $w$: one number per weight, which says what a small change of that weight alone does to the loss.

# %% [markdown]
# As loops: every sample $i$ adds its error times its input to every weight. `add_bias_input` (lesson 01) appends a
# column of ones, so that the last weight is the bias.

# %%
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
# is called a **cache**. `half_squared_sum_backward` makes $\partial J/\partial o$ of it. `checks.numerical_gradient`
# measures as you did above, one weight after the other. Six samples, three weights, and three ways to one gradient:

# %%
points, answers = data.plane(6, w=[1.0, -2.0], b=0.5, noise=0.1, rng=np.random.default_rng(1))
X, w = ops.add_bias_input(points), np.array([0.3, 0.1, -0.2])
_, cache = ops.half_squared_sum_forward(X @ w, answers)
dw = X.T @ ops.half_squared_sum_backward(cache)
by_measuring = checks.numerical_gradient(lambda w: ops.half_squared_sum_forward(X @ w, answers)[0], w)
by_loops = gradient_by_loops(X, answers, w)
print("library ", dw.round(3))
print("the same as the loops:", np.allclose(dw, by_loops), " as measured:", np.allclose(dw, by_measuring))

# %% [markdown]
# Often the loss is divided by the number of samples.[^Owens "How good is our network?"] With outputs $o_i$ and answers
# $y_i$ that may have several numbers per sample, the **quadratic cost** is
#
# $$C = \frac{1}{2 n} \; \sum_{i} \; \|y_i - o_i\|^2$$
#
# where $\|v\|^2$ is the sum of the squares of all numbers in $v$, so that $\|v\|$ is the length of $v$. The best
# weights are the same as for $J$; the values and the gradients are $n$ times smaller. Show the two samples once, then
# twice: at $w = 1$, $J$ goes from 5 to 10, while $C$ stays at 2.5. Without the one half, $C$ is called the **mean
# squared error**.

# %% [markdown]
# ### Why minus the gradient goes down
#
# With several weights, gradient descent moves each against its own slope, all at once. Why should that lower the loss?
# With one weight it is plain: slope times distance is the change in height, as long as the distance is small. Now
# change one weight after the other, weight $j$ by a little $\Delta w_j$. Each adds its own slope times its own
# distance, since a small move along one weight hardly changes the slope along the next:
#
# $$\Delta J \approx \sum_j \frac{\partial J}{\partial w_j} \, \Delta w_j$$
#
# Remember this line as the **linear estimate**;[^Owens "Find the global minimum"] the dashed line beside the map draws
# it. Now choose $\Delta w_j = -\mathrm{lr} \cdot \partial J / \partial w_j$ and put it in. Every term becomes minus a
# square:
#
# $$\Delta J \approx -\mathrm{lr} \sum_j \left(\frac{\partial J}{\partial w_j}\right)^2$$
#
# $$\Delta J \approx -\mathrm{lr} \; \|\nabla J\|^2$$
#
# where $\nabla J$ is the gradient and $\|\nabla J\|$ its length. A sum of squares is never negative, so the estimate
# predicts a fall wherever the gradient is not zero. It is even the *steepest* way down:[^Dey "Minimizing Loss
# Function"] the estimate is the dot product of $\nabla J$ and $\Delta w$, the two lengths times the cosine of the angle
# between them, and the cosine is lowest straight against the gradient.

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
# falls a little less. (On the map at the top it was the other way: the first step promised 0.398 and gave 0.405,
# because there, on the shoulder of the valley, the ground bends downward.)

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
# The loss bends away from its tangent as the *square* of the step's length: 1.385, 0.01385, 0.0001385. Make the step
# short enough, and the gap no longer matters beside the estimate. So a step against the gradient goes down if it is
# small enough.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
hope.confirm(f"{estimates[1][3] / estimates[2][3]:.0f} times smaller")

# %% [markdown]
# How small is small enough? With one weight: smaller than $2/h$, the limit that you have met. The two are joined by one
# line. On a parabola, a step of length $\mathrm{lr}\,s$ against the slope $s$ changes the loss by the estimate
# $-\mathrm{lr}\,s^2$ and by the bend $h\,(\mathrm{lr}\,s)^2/2$, so
#
# $$\Delta J = -\mathrm{lr}\; s^2 \left(1 - \frac{\mathrm{lr}\; h}{2}\right)$$
#
# In front stands the promise, and the bracket says how much of it is kept. At $\mathrm{lr} = 1/h$ half of the promise
# is kept, at $2/h$ nothing, and beyond that the loss grows: $\Delta J$ is negative exactly when $\mathrm{lr} < 2/h$.

# %% [markdown]
# ### One rate for several curvatures
#
# With several weights, each direction has a curvature of its own. Take a *ravine*, nearly flat along $u$ and steep
# along $v$:
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
# rate does better for the slower of the two. With the ratio $k$ of the curvatures the factor is $(k-1)/(k+1)$: here $k
# = 12.5$ and the factor 0.85. The more the curvatures differ, the closer it is to 1. Walk in the ravine: the gradient's
# arrow stands at right angles to the contours, and that is hardly ever the way to the bottom. Try 1.6, then 1.65, and
# look at the estimate beside the loss.

# %%
figures.walk_downhill("ravine", start=(-2.75, 2.0), lr=1.5, steps=3, title="How large may a step be in a ravine?")

# %% [markdown]
# ## A whole landscape: minimum, plateau, saddle
#
# Back to the map at the top of the page. It is made up, and shows three kinds of places where a walk can come to rest,
# or nearly so. There are **local minima**, lower than all their surroundings and not the lowest of all, and flat
# stretches where a search gets stuck, like a hiker in the foothills.[^Dey "Minimizing Loss Function"] Such a flat
# stretch is called a **plateau**. A third kind of place is level too: a **saddle**, lowest along one direction and
# highest along another.
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
# Now change the rate, and give every walk time.

# %%
kinds = ("deepest minimum", "local minimum", "saddle", "plateau", "on the way")
landscape = {}
for lr, steps in ((0.02, 100), (0.1, 100), (1.2, 100), (0.1, 1000), (1.2, 1000)):
    last = figures.surfaces.descend(foothills_gradient, starts, lr, steps)[-1]
    count = Counter(figures.surfaces.ending(p) for p in last)
    landscape[lr, steps] = [count[kind] for kind in kinds] + [np.mean(foothills(last))]

# %% tags=["hide-input"]
# A prediction.
ending = predict(
    "Each of the 25 starts makes two walks: 1,000 steps with 0.1, and 1,000 with 1.2. "
    "Which rate brings more walks to the deepest minimum?",
    ["0.1", "1.2", "both the same number"], answer="both the same number", reveals=2,
)  # fmt: skip
ending

# %% tags=["hide-output", "hide-input"]
# Where the walks are.
table([(lr, steps, *row[:2], row[3]) for (lr, steps), row in landscape.items()],
      ["lr", "steps", "deepest", "local", "plateau"],
      caption="Where the 25 walks are; the others stand at the saddle or are on the way")  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>On this map both rates lead every walk to the same place</summary>
#
# Eleven both times, and twelve in a local minimum. Even walk by walk, each of the 25 ends at the same place with either
# rate. With a rate below $2/h$ of every dent (1.4 for the narrow ones, 1.7 for the wide one), each dent can hold a
# walk, and a smaller step finds no better valley here. What it costs is time: after 100 steps with 0.02, one walk has
# arrived in the deepest minimum, and eleven are still on the plateau.
#
# This is no law. On $J = (w^2 - 1)^2 / 4$ both minima hold every rate below 1. Yet from $w = 2$ the rate 0.1 ends at
# $+1$, and 0.55 jumps across the middle and ends at $-1$.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
small, large = landscape[0.1, 1000][0], landscape[1.2, 1000][0]
ending.confirm("both the same number" if small == large else "0.1" if small > large else "1.2")

# %% [markdown]
# One warning: a map of two weights makes local minima look more important than they are. With a hundred thousand
# weights, a minimum has to bend upward along every direction at once, so a level place is more likely a saddle.
#
# ### When to stop
#
# Stop when the error is small enough, or after a largest number of steps.[^Owens "Stochastic gradient descent"] The
# second half makes sure that it ends. Another rule is to stop when the gradient is nearly zero, since then nothing
# moves. But at four of the 25 starts, those in the corners, the gradient is shorter than 0.01 before the first step.
# There the rule stops at once, on the highest ground there is.
#
# So look at the loss curve too, with care: each of the three below has a level stretch, and two of them fall after it.
# One walks along the mirror line to the saddle, one starts a millionth beside it, one crosses the plateau.

# %%
three = {"on the mirror line": (-2, 0), "0.000001 beside it": (-2, 1e-6), "on the plateau": (-3, 3)}
walks = {name: foothills(figures.surfaces.descend(foothills_gradient, start, 0.4, 300))
         for name, start in three.items()}  # fmt: skip
figures.descent.waiting(walks, caption="A level loss is not always the end of the walk.")

# %% [markdown]
# ### Where should a network start?
#
# Not with all weights at zero. The smallest network with two layers shows a first reason: $o = v \tanh(u x)$, on the
# two samples from the beginning.

# %%
def two_layer_loss(weights):
    u, v = weights.reshape(2, -1)  # as many of each as there are hidden neurons
    return ops.half_squared_sum_forward(ops.tanh(np.outer(x, u)) @ v, y)[0]

rows = []
for weights in ([0.0, 0.0], [0.1, 0.1], [0.1, -0.1]):
    du, dv = checks.numerical_gradient(two_layer_loss, np.array(weights)).round(3) + 0.0  # + 0.0 turns -0 into 0
    rows.append((*weights, two_layer_loss(np.array(weights)), du, dv))
table(rows, ["u", "v", "J", "dJ/du", "dJ/dv"], formats={"J": ".3f"})

# %% [markdown]
# At zero both slopes are zero, so nothing moves. Yet it is no minimum. If $u$ and $v$ both grow to 0.1, the loss falls
# to 12.401; if one grows and the other shrinks, it rises to 12.599. Down along one direction and up along another: a
# saddle.
#
# The main reason is another one, **symmetry**. At zero all hidden neurons are alike, and nothing will ever make them
# differ. Give the network two of them, and start both with the same weights, which need not be zero:

# %%
g = checks.numerical_gradient(two_layer_loss, np.array([0.5, 0.5, 0.3, 0.3]))  # u₁, u₂, v₁, v₂
print("dJ/du", g[:2].round(3), " dJ/dv", g[2:].round(3))

# %% [markdown]
# Equal neurons get equal gradients, take equal steps, and stay equal for ever. A hundred of them would be worth one.
# So networks start with weights that are random. How large these should be is a question for lessons 04 and 06b.

# %% [markdown]
# ## Mini-batches and epochs
#
# Whose errors does a step look at? One recipe takes **all training samples**: evaluate every one, add up, then make one
# step.[^Hwu "Stochastic Gradient Descent"] That is full-batch descent, as on our two samples so far. With a million
# samples it is a lot of work for one step. So the usual recipe takes a random handful for each step, a **mini-batch**
# of size $m$; one pass through all samples is an **epoch**.[^Owens "Stochastic gradient descent"] In the strict sense,
# **stochastic gradient descent** (SGD) is the case $m = 1$. You will find all three under this name, although the full
# batch leaves nothing to chance.

# %%
def run_epoch(theta, X, y, batch_size, lr, rng, average=True):
    order = rng.permutation(len(X))  # the numbers 0 to n - 1 in random order
    for first in range(0, len(X), batch_size):
        batch = order[first : first + batch_size]  # numbers of samples; X[batch] are their rows
        gradient = X[batch].T @ (X[batch] @ theta - y[batch])
        theta = theta - lr * (gradient / len(batch) if average else gradient)
    return theta

# %% [markdown]
# Here are 200 noisy samples of a line; `theta` holds its slope and its bias. Why may a step look at 20 of them? On
# average it is right: at fixed weights, here zero, the mean of the ten mini-batch gradients of an epoch is the gradient
# of all samples. Each of the ten is off by some noise.

# %%
x200, y200 = data.line(200, slope=2.0, intercept=-1.0, noise=0.3, rng=np.random.default_rng(0))
X200 = ops.add_bias_input(x200)
batches = np.random.default_rng(1).permutation(200).reshape(10, 20)
at_zero = [-X200[batch].T @ y200[batch] / 20 for batch in batches]  # with theta = 0, X @ theta - y is -y
of_all = -X200.T @ y200 / 200
print("gradient (slope, bias) of all 200:", of_all.round(3))
print("mean of the ten batches:", np.mean(at_zero, axis=0).round(3), " first batch:", at_zero[0].round(3))

# %% [markdown]
# How large is this noise? Draw 2,000 batches of each size and measure how far their gradients lie from the whole one,
# as the root of the mean squared distance.

# %%
def noise(m):
    rng, off = np.random.default_rng(0), []
    for _ in range(2000):
        batch = rng.permutation(200)[:m]
        off.append(-X200[batch].T @ y200[batch] / m - of_all)
    return np.sqrt(np.mean(np.sum(np.square(off), axis=1)))

print({m: round(float(noise(m)), 2) for m in (1, 4, 16)})

# %% [markdown]
# Four times as many samples, half the noise: it falls as $1/\sqrt{m}$. So a larger batch makes each step better, but
# less and less so for the work that it costs. That is what the batch size trades.

# %% [markdown]
# A line has a closed form too (lesson 01), so we know the lowest loss there is. Full-batch descent must find the same
# line. To compare runs, we measure the **excess loss**: how far the mean loss lies above the lowest one. `race` returns
# it after each epoch, as the mean of 20 runs, because a single one may be lucky; `rates` holds one learning rate per
# epoch.

# %%
w, b = ops.linear_regression_fit(x200, y200)
w_exact, b_exact = w[0], b
lowest = 0.5 * np.mean((X200 @ [w_exact, b_exact] - y200) ** 2)

def excess(theta):
    return 0.5 * np.mean((X200 @ theta - y200) ** 2) - lowest

def race(batch_size, rates, average=True):
    curves = np.zeros((20, len(rates)))
    for run in range(20):
        theta, rng = np.zeros(2), np.random.default_rng(run)
        for epoch, lr in enumerate(rates):
            theta = run_epoch(theta, X200, y200, batch_size, lr, rng, average)
            curves[run, epoch] = excess(theta)
    return curves.mean(axis=0)

theta, rng = np.zeros(2), np.random.default_rng(1)
for _ in range(300):
    theta = run_epoch(theta, X200, y200, 200, 0.5, rng)
print("slope and bias: descended", theta.round(4), f" closed form {w_exact:.4f} {b_exact:.4f}")
h_low, h = np.linalg.eigvalsh(X200.T @ X200 / 200)  # the smallest and the largest curvature of the mean loss
print(f"curvatures {h_low:.2f} and {h:.2f}")

# %% [markdown]
# Now race for ten epochs at learning rate 0.1, in batches of 200 (all), 20, and 1. All see every sample ten times. From
# the curvatures you can work out what a step without noise leaves of the distance: $1 - 0.036$ along one direction and
# $1 - 0.101$ along the other. Count the steps that each batch size makes, and remember the noise.

# %%
curves = {f"batches of {size}": race(size, [0.1] * 10) for size in (200, 20, 1)}  # [0.1] * 10: ten times 0.1

# %% tags=["hide-input"]
# A prediction.
sizes = predict(
    "Which batch size leads after one epoch, and which after ten?",
    ["1, then 1", "1, then 20", "20, then 20", "200, then 200"], answer="1, then 20", reveals=2,
)  # fmt: skip
sizes

# %% tags=["hide-output", "hide-input"]
# The race in numbers.
table(
    [(name, curve[0], curve[4], curve[9]) for name, curve in curves.items()],
    ["", "after 1 epoch", "after 5", "after 10"],
    formats={"after 1 epoch": ".4f", "after 5": ".4f", "after 10": ".4f"}, caption="Excess loss, mean of 20 runs",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>More steps win early, less noise wins late</summary>
#
# In one epoch a batch of 200 makes one step, batches of 20 make ten, batches of 1 make 200. So after one epoch batches
# of 1 lead by far: $0.964^{200}$ is nearly nothing, and $0.964^{10}$ is 0.69. But at 0.1 they never settle: each step
# follows the noise of one sample, and the loss stays near 0.003. After ten epochs, 100 steps, batches of 20 have passed
# them, with a sixth of that (in 17 of the 20 runs; in a single one, luck may hide it).
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
leaders = [min(curves, key=lambda name, epoch=epoch: curves[name][epoch]) for epoch in (0, 9)]
sizes.confirm(", then ".join(name.removeprefix("batches of ") for name in leaders))

# %% [markdown]
# Small steps do have one merit: they average out the noise, since many of them together look at many samples. So begin
# with batches of 1 at 0.1, and from epoch 6 on go down to 0.01.

# %%
late = "batches of 1, then lr 0.01"
curves[late] = race(1, [0.1] * 5 + [0.01] * 5)
print(f"excess loss after ten epochs: {curves[late][9]:.6f}")
figures.descent.race(
    {**curves, late: curves[late][4:]},  # the same dictionary, but the last curve from epoch 5 on
    caption="Large steps first, to get there; small ones at the end, against the noise.")

# %% [markdown]
# It ends ahead of all, at a small part of the loss of batches of 20, which kept their rate. Near the lowest point,
# where noise is what is left, small steps pay.
#
# ### Sum or mean?
#
# The update of a mini-batch divides the sum of its samples' gradients by $m$:
# $w \leftarrow w - (\mathrm{lr} / m) \sum_i \partial C_i / \partial w$, where $C_i$ is the loss of one
# sample.[^Owens "Stochastic gradient descent"] Leave the division out by mistake. The shapes still fit, and no error
# appears. The largest curvature of $C$ on our 200 samples is 1.01, as printed above, and lr is 0.1 again.

# %%
rows = {}
for size in (2, 5, 10, 21, 22, 50):
    summed, averaged = race(size, [0.1] * 3, average=False)[-1], race(size, [0.1] * 3)[-1]
    rows[size] = (0.1 * size, 200 % size or size, summed, averaged)  # 200 % size: what is left for the last batch

# %% tags=["hide-input"]
# A prediction.
summing = predict(
    "With batches of 2, 10 and 50: which of them learn, if the gradients are summed and not averaged?",
    ["none of them", "only batches of 2", "2 and 10", "all three"], answer="2 and 10", reveals=2,
)  # fmt: skip
summing

# %% tags=["hide-output", "hide-input"]
# Summed and averaged, batch size by batch size.
table(
    [(size, *row) for size, row in rows.items()], ["m", "lr · m", "last batch", "summed", "averaged"],
    formats={"lr · m": ".1f", "summed": ".1g", "averaged": ".1g"},
    caption="Excess loss after 3 epochs, mean of 20 runs",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>The batch size has become a second learning rate</summary>
#
# A sum over $m$ samples is $m$ times their mean, so the real step is $\mathrm{lr} \cdot m$: 0.2, 1 and 5. The limit is
# $2/h$, about 2, so batches of 50 explode. Batches of 2 and 5 learn, but end higher than with the mean, because a
# longer step follows the noise of its batch farther. Batches of 10 end lower: their longer steps arrive in three
# epochs, and the averaged ones have not. (That is also why the averaged column grows farther down: fewer steps.)
#
# Then why does 21 get through, with 2.1? Not because its batches are gentler. The input of the bias is always 1, so
# *every* batch has a curvature of at least 1, and every full batch of 21 throws the walk outward along its steepest
# direction. What saves it is the short last batch of an epoch: $200 = 9 \cdot 21 + 11$, and these 11 multiply the
# distance by about $1 - 1.1 \cdot 1.01 = -0.11$. Leave it out, and 21 explodes too. With 22 only 2 samples are left,
# too few to save it. The mean has no such limit on $m$.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
learned = [str(size) for size in (2, 10, 50) if rows[size][2] < excess(np.zeros(2)) / 10]
summing.confirm("all three" if len(learned) == 3 else " and ".join(learned) or "none of them")

# %% [markdown]
# ## What the loss does not see
#
# So training follows the loss. But what you want is right answers. Do the two always go together? Take seven samples,
# class 1 from $x = 3$ on, and one of them far out at $x = 15$. The model is a line $o = w x + b$ that answers 1 where
# $o \ge 0.5$. With $w = 0.2,\ b = 0$ it has all seven right.

# %%
far_x, far_y = np.array([[0.0], [1], [2], [3], [4], [5], [15]]), np.array([0, 0, 0, 1, 1, 1, 1])

def right_answers(w, b):
    o = ops.linear_regression_predict(far_x, w, b)
    return int(np.sum((o >= 0.5) == far_y))

print("right at the start:", right_answers(np.array([0.2]), 0.0), "of 7")

# %% [markdown]
# From there, walk downhill on the mean loss $C$, 500 steps, so short that it falls at every single one.

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
# only 6. The loss asks *how far* each output is from 0 or 1, and the far sample starts with $o = 3$, farther off than
# any other. The count only asks *on which side* of 0.5 an output lies. The line tilts to reduce one sample's error.
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
# Then why not make the number of right answers the goal? Take six samples of two classes that overlap. A classifier
# says 1 where $x + b \ge 0$, else 0; count its mistakes. Below the count stands the loss of a smooth version with the
# output $o = \mbox{sigmoid}(x + b)$:

# %%
inputs, labels = np.arange(6.0), np.array([0, 0, 1, 0, 1, 1])
places = np.linspace(-5.5, 0.5, 200)

def wrong_answers(b):
    return int(np.sum(ops.heaviside(inputs + b) != labels))

def smooth_loss(b):
    return ops.half_squared_sum_forward(ops.sigmoid(inputs + b), labels)[0]

figures.losses.staircase(
    places, [wrong_answers(b) for b in places], [smooth_loss(b) for b in places],
    caption="Standing on a stair, you cannot tell which way leads down. On the curve you can.")

# %% [markdown]
# The count is a staircase: level almost everywhere, and at its few jumps there is no derivative. It tells you *that*
# you are wrong, never *which way* is better. Choosing the largest of several outputs, argmax, has the same fault: its
# derivative is zero wherever there is one.[^Hwu "Why Not Use the Intuitive Measure?"] So we follow a loss that is
# smooth, a stand-in for what we want. It is not the same: here it is lowest where the count is 2, although 1 is
# possible. So keep an eye on the right answers too.[^Owens "How good is our network?"]
#
# For several classes most networks today use another stand-in, the **cross-entropy**: $-\ln p$, where $p$ is the
# probability that the network gives to the right class. [Lesson 06](06_training_an_mlp.ipynb) compares it with others.

# %% [markdown]
# ## Optional: a step that knows the curvatures
#
# <details><summary>The best step along the gradient, and Newton's</summary>
#
# In the ravine one direction dictated the step for both. Could a step be chosen that knows the curvatures? For a linear
# model the matrix $H = X^T X$ holds all second derivatives of $J$. The best step *along* the gradient $g$ has the
# length $\mathrm{lr} = g^T g \,/\, g^T H g$.[^Hwu "Stochastic Gradient Descent"] **Newton's method** also changes the
# direction: it solves $H\,\Delta w = -g$ and jumps to where the gradient would be zero, if the loss were a parabola.
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
# the system takes about $d^3/3$ multiplications, 3·10¹⁴ for one step. And far from a minimum it may go *up*, to a
# saddle, where the gradient is zero too.
#
# </details>

# %% [markdown]
# ## Try it
#
# - In the ravine, move the start to $v = 0$ (on the map, press the down arrow eight times). Why is 1.65 harmless now?
#   Then press the up arrow once: $v = 0.25$.
#   <details><summary>Answer</summary>
#
#   At $v = 0$ nothing moves along $v$, and along $u$ the limit is $2/0.1 = 20$. A start beside the line, however
#   little, is multiplied by $1 - 1.25 \cdot 1.65 = -1.0625$ at each step and grows out of the map in time. From 0.25 it
#   takes 43 steps to get beyond 3.2, the edge of the map.
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
#   10.6.
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
# then says "repeat steps 1-3". Repeated so, the weights would never change. The same slide stops "when there is no
# change in gradient". On a plateau, and at the rate $2/h$, that rule fails.
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
# 0.01? The loss $J = 8\, w^2 / 2$ has one weight and starts at $w = 1$: where is $w$ after three steps with 0.125, 0.25
# and 0.2525?
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
