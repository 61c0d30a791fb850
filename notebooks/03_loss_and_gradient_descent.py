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
# arrow keys), then press "One step" again and again. Can you find a start from which it never reaches the deepest
# valley? And a learning rate that throws it out of a valley it was already in?
#
# Most people bring two beliefs to this page: *a smaller loss means more right answers*, and *a smaller step is safer*.
# Decide now whether you share them. You will measure both.

# %% tags=["hide-input"]
# What this page uses, and the map.
import numpy as np

from course_lib import checks, data, figures
from course_lib import reference as ops
from course_lib.lesson import predict, table

figures.walk_downhill()

# %% [markdown]
# ## You will be able to
#
# - compute a loss and its gradient by hand for a small model, and check the gradient by measuring it
# - derive why a small step against the gradient lowers the loss, and by how much
# - predict from the curvature of a loss whether a learning rate crawls, converges, oscillates or diverges
# - explain why training follows a smooth loss, in mini-batches, and show a case where loss and right answers part

# %% [markdown]
# <details><summary>About this page</summary>
#
# It follows Prof. Dey's lecture 56 at IIT Kharagpur, Prof. Owens' EEC 289Q lecture 11 at UC Davis, and lecture 10 of
# ECE 508 by Prof. Hwu and colleagues at Illinois. You need lesson 01 and derivatives of one variable. Two letters are
# new: a model's output, $\hat y$ in lesson 01 and $a$ in lesson 02, is called $o$ here, and $h$ is a curvature, not a
# hidden neuron. $J$ is a loss that adds up over the samples, $C$ one that takes their mean. Reading and trying takes
# about 60 minutes, and the two optional sections 10 more.
#
# </details>

# %% [markdown]
# ## The smallest example, by hand
#
# Take two samples, with the inputs $x = (1, 2)$ and the right answers $y = (4, 3)$, and the smallest model there is:
# $o = w\,x$, one weight and no bias. At $w = 1$ the outputs are $o = (1, 2)$, so the differences $y - o$ are $3$ and
# $1$. A loss turns them into one number that is smaller for a better model. Ours is half the sum of their squares,
# $J = (3^2 + 1^2) / 2 = 5$.[^Dey "Loss Function"]

# %%
x, y = np.array([1.0, 2.0]), np.array([4.0, 3.0])

def loss(w):
    return 0.5 * np.sum((y - w * x) ** 2)

print("y - o =", y - 1.0 * x, "  J =", loss(1.0))

# %% [markdown]
# Should $w$ grow or shrink? If $w$ changes, the loss $(y - w x)^2 / 2$ of one sample changes at the rate $-(y - w x)\,x
# = (o - y)\,x$; that is its derivative. For both samples together: $(1 - 4)\cdot 1 + (2 - 3)\cdot 2 = -5$. It is
# negative, so a larger $w$ gives a smaller loss. You can also measure a derivative: move $w$ a little both ways and see
# how much $J$ changes.

# %%
def slope(w):
    return np.sum((w * x - y) * x)

measured = (loss(1 + 1e-6) - loss(1 - 1e-6)) / 2e-6
print(f"by hand {slope(1.0):.6f}, measured {measured:.6f}")

# %% [markdown]
# The lowest point is where the derivative is zero: $\sum (w x - y)\,x = 0$, so $w = \sum x y / \sum x^2 = 10 / 5 = 2$.
# The tangent at $w = 1$ leans down towards it, as the right side of the picture shows. The loss there is 2.5 and not 0,
# because no line through the origin meets both samples.

# %%
figures.losses.samples_and_loss(
    x, y, (1.0, 2.0), lambda w: (loss(w), slope(w)),
    caption="Every weight is one line on the left and one point on the right.")

# %% [markdown]
# ## The formula, with shapes
#
# For $n$ samples, right answers $y$ and outputs $o$, both of shape $(n,)$:
#
# $$J = \frac{1}{2} \; \sum_{i} \; (y_i - o_i)^2 \qquad\qquad \frac{\partial J}{\partial o_i} = o_i - y_i$$
#
# The factor one half cancels the 2 that comes down from the square. Why a square? The absolute difference $|y_i - o_i|$
# is used too.[^Hwu "Choose a Simple Error Function"] Its slope is 1 or $-1$, however large the mistake, so one wild
# sample pulls no harder than the others; but it has a kink at zero, and the steps do not shrink near the goal.
#
# With $d$ inputs per sample, $X$ has the shape $(n, d)$ and $w$ the shape $(d,)$:
#
# $$o_i = \sum_{j} X_{ij} \, w_j \qquad
# \frac{\partial J}{\partial w_j} = \sum_{i} \; (o_i - y_i) \, X_{ij} \qquad
# \frac{\partial J}{\partial w} = X^T (o - y)$$
#
# The middle one is the chain rule: $w_j$ moves each output $o_i$ by $X_{ij}$, and that output moves $J$ by $o_i - y_i$.
# The last says the same for all $j$ at once. This list of all partial derivatives is the **gradient**. It has the shape
# of $w$: one number per weight, which says what a small change of that weight alone does to the loss.

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
# The library ([`losses.py`](../course_lib/reference/losses.py)) splits the work, so that one loss serves every model:
# `half_squared_sum_forward` returns the loss and what its derivative needs, called the **cache**, and
# `half_squared_sum_backward` turns the cache into $\partial J/\partial o$. `checks.numerical_gradient` measures as you
# did above, one weight after the other. Six samples, three weights, three ways:

# %%
points, answers = data.plane(6, w=[1.0, -2.0], b=0.5, noise=0.1, rng=np.random.default_rng(1))
X, w = ops.add_bias_input(points), np.array([0.3, 0.1, -0.2])
_, cache = ops.half_squared_sum_forward(X @ w, answers)
dw = X.T @ ops.half_squared_sum_backward(cache)
by_measuring = checks.numerical_gradient(lambda w: ops.half_squared_sum_forward(X @ w, answers)[0], w)
table(
    [("loops", *gradient_by_loops(X, answers, w)), ("library", *dw), ("measured", *by_measuring)],
    ["dJ/dw", "w₁", "w₂", "bias"],
    formats=dict.fromkeys(("w₁", "w₂", "bias"), ".3f"),
)

# %% [markdown]
# Often the loss is divided by the number of samples.[^Owens "How good is our network?"] With outputs $a(x)$ and answers
# $y(x)$, which may have several numbers per sample, the **quadratic cost** is
#
# $$C = \frac{1}{2 n} \; \sum_{x} \; \|y(x) - a(x)\|^2$$
#
# The lowest point is the same, the size is not. Show the two samples once, then twice: $J$ doubles, $C$ stays.

# %%
rows = []
for times in (1, 2):
    o, target = np.tile(1.0 * x, times), np.tile(y, times)  # np.tile(x, 2): x twice in a row
    J, C = ops.half_squared_sum_forward(o, target)[0], ops.quadratic_cost_forward(o[:, None], target[:, None])[0]
    rows.append((2 * times, J, C, np.mean((target - o) ** 2)))
table(rows, ["samples", "half squared sum J", "quadratic cost C", "mean squared error"])

# %% [markdown]
# ## Why not count the right answers?
#
# If you want right answers, why not make their number the goal? Take six samples of two classes that overlap. A
# classifier says 1 where $x + b \ge 0$, else 0. A smooth version of it has the output $o = \mbox{sigmoid}(x + b)$.

# %%
inputs, labels = np.arange(6.0), np.array([0, 0, 1, 0, 1, 1])
places = np.linspace(-5.5, 0.5, 200)

def wrong_answers(b):
    return int(np.sum(ops.heaviside(inputs + b) != labels))

def smooth_loss(b):
    return ops.half_squared_sum_forward(ops.sigmoid(inputs + b), labels)[0]

def slopes(f):
    return np.array([(f(b + 1e-6) - f(b - 1e-6)) / 2e-6 for b in places])

# %% [markdown]
# A slope is measured as before, a little to both sides.

# %% tags=["hide-input"]
# A prediction.
stairs = predict(
    "Take 200 values of b. At how many of them does the number of wrong answers have a slope that is not zero?",
    [0, 10, 100, 200], answer=0, reveals=3,
)  # fmt: skip
stairs

# %% tags=["hide-output"]
count_slopes, loss_slopes = (np.count_nonzero(slopes(f)) for f in (wrong_answers, smooth_loss))
table([("wrong answers", count_slopes), ("smooth loss", loss_slopes)], ["", "slope not zero, of 200"])

# %% [markdown]
# <details class="reveal"><summary>A staircase has no slope</summary>
#
# At none. The count is a staircase: level almost everywhere, and at its few jumps there is no derivative. It tells you
# *that* you are wrong, never *which way* is better. Choosing the largest of several outputs, argmax, has the same
# fault: its derivative is zero wherever there is one.[^Hwu "Why Not Use the Intuitive Measure?"] So we follow a loss
# that is smooth.[^Owens "How good is our network?"]
#
# </details>

# %% tags=["hide-output"]
figures.losses.staircase(
    places, [wrong_answers(b) for b in places], [smooth_loss(b) for b in places],
    caption="Standing on a stair, you cannot tell which way leads down. On the curve you can.")

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
stairs.confirm(int(count_slopes))

# %% [markdown]
# ## First belief: does a smaller loss mean more right answers?
#
# Look where that curve leads. At its lowest point 2 answers are wrong, although 1 is possible: training follows a
# stand-in for what you want. All we ask is that the two go together most of the time. How far can they part?
#
# Seven samples, class 1 from $x = 3$ on, and one of them lies far out at $x = 15$. The model is a line $o = w x + b$
# that answers 1 where $o \ge 0.5$. With $w = 0.2,\ b = 0$ it has all seven right.

# %%
far_x, far_y = np.array([[0.0], [1], [2], [3], [4], [5], [15]]), np.array([0, 0, 0, 1, 1, 1, 1])

def right_answers(w, b):
    o = ops.linear_regression_predict(far_x, w, b)
    return int(np.sum((o >= 0.5) == far_y))

print("right at the start:", right_answers(np.array([0.2]), 0.0), "of 7")

# %% [markdown]
# From there, walk downhill on the loss, 500 steps, so short that the loss falls at every single one.

# %% tags=["hide-input"]
# A prediction.
parting = predict(
    "How many of the seven are right at the worst moment of the walk?",
    [7, 6, 4, 0], answer=4, reveals=3,
)  # fmt: skip
parting

# %% tags=["hide-output"]
w, b = np.array([0.2]), 0.0
losses, right = [], [right_answers(w, b)]
for _ in range(500):
    w, b, history = ops.linear_regression_descend(far_x, far_y, lr=0.02, steps=1, w=w, b=b)
    losses.append(history[0])  # history: the loss before and after the step
    right.append(right_answers(w, b))
losses.append(history[1])
w_best, b_best = ops.linear_regression_fit(far_x, far_y)
rises = np.sum(np.diff(losses) >= 0)
print(f"loss  {losses[0]:.3f} -> {losses[-1]:.3f}, rises in {rises} of 500 steps")
print(f"right {right[0]} -> {min(right)} at worst -> {right[-1]};",
      "the best line of all:", right_answers(w_best, b_best))  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>The loss falls to a quarter, and three answers go wrong</summary>
#
# Seven right answers become 4, then 6, while the loss falls to a quarter. Even the line with the least loss of all has
# 6. The loss asks *how far* each output is from 0 or 1, and the far sample starts with $o = 3$, farther off than any
# other. The count only asks *on which side* of 0.5 an output lies. To please one sample, the line tilts.
#
# </details>

# %% tags=["hide-output"]
figures.losses.loss_against_accuracy(
    far_x[:, 0], far_y, ((0.2, 0.0), (w[0], b)), losses, right,
    caption="The dashed line has a quarter of the solid one's loss, and a mistake.")

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
parting.confirm(min(right))

# %% [markdown]
# For several classes there is a better loss. A network then gives a list $k$ of probabilities, one per class (lesson 06
# shows how), and most networks today use the **cross-entropy**, $-\ln k[T]$ for a sample of class $T$. It is 0 if the
# right class has probability 1. Its slope is $-1/k[T]$: at $k[T] = 0.01$, where the network is sure and wrong, it
# pushes 100 times as hard as near 1. An optional section compares it with two others.

# %% [markdown]
# ## Why minus the gradient goes down
#
# **Gradient descent** repeats one line, with a positive number lr that you choose, the **learning rate**:
#
# $$w \leftarrow w - \mathrm{lr} \cdot \frac{\partial J}{\partial w}$$
#
# Why should that lower the loss? With one weight it is plain: slope times distance is the change in height, as long as
# the distance is small. With several weights, change one after the other, weight $j$ by a little $\Delta w_j$. Each
# adds its own slope times its own distance, since a small move along one weight hardly alters the slope along the next:
#
# $$\Delta J \approx \sum_j \frac{\partial J}{\partial w_j} \, \Delta w_j \qquad \mbox{(the linear estimate)}$$
#
# Remember this line by its name; lesson 04 builds on it.[^Owens "Find the global minimum"] Now choose
# $\Delta w_j = -\mathrm{lr} \cdot \partial J / \partial w_j$ and put it in. Every term becomes minus a square:
#
# $$\Delta J \approx -\mathrm{lr} \sum_j \left(\frac{\partial J}{\partial w_j}\right)^2 = -\mathrm{lr} \; |\nabla J|^2$$
#
# where $\nabla J$ is the gradient and $|\nabla J|$ its length. A sum of squares is never negative, so the estimate
# promises a fall wherever the gradient is not zero: each weight moves against its own slope, and each helps.

# %% [markdown]
# Give the two samples a model with a bias, $o = w x + b$, and stand at $w = 1,\ b = 0$. By hand: the errors $o - y$ are
# $-3$ and $-1$, so the gradient is $(-3 \cdot 1 - 1 \cdot 2,\; -3 - 1) = (-5, -4)$, and $|\nabla J|^2 = 25 + 16 = 41$.

# %%
X2 = ops.add_bias_input(x[:, None])

def loss2(weights):
    return ops.half_squared_sum_forward(X2 @ weights, y)[0]

def gradient2(weights):
    return X2.T @ (X2 @ weights - y)

at = np.array([1.0, 0.0])
figures.losses.linear_estimate(
    loss2, gradient2, at, lr=0.05,
    caption="The estimate is the tangent: it is right at the start and too hopeful farther on.")

# %% [markdown]
# The estimate promises, the loss delivers. For each learning rate, compare the two:

# %% tags=["hide-input"]
# A prediction.
hope = predict(
    "At lr 0.01 the promise is 0.01 · 41 = 0.41, and the loss falls a little less. If the step is ten times shorter, "
    "how much smaller is the gap between promise and loss?",
    ["as large as before", "10 times smaller", "100 times smaller"], answer="100 times smaller", reveals=2,
)  # fmt: skip
hope

# %% tags=["hide-output"]
promises = []
for lr in (0.1, 0.01, 0.001):
    promised, came = -lr * np.sum(gradient2(at) ** 2), loss2(at - lr * gradient2(at)) - loss2(at)
    promises.append((lr, promised, came, came - promised))
table(promises, ["lr", "promised", "came", "gap"], formats={"promised": ".4f", "came": ".4f", "gap": ".6f"})

# %% [markdown]
# <details class="reveal"><summary>The promise shrinks tenfold, the gap a hundredfold</summary>
#
# The step bends away from the tangent as the *square* of its length: 1.385, 0.01385, 0.0001385. Make the step short
# enough, and the gap no longer matters next to the promise. So a step against the gradient, if it is small enough,
# always goes down. How small is enough? That is a question of curvature, and the next section answers it.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
hope.confirm(f"{promises[1][3] / promises[2][3]:.0f} times smaller")

# %% [markdown]
# It is even the *steepest* way down.[^Dey "Minimizing Loss Function"] The estimate is the dot product of $\nabla J$ and
# $\Delta w$, and that is the two lengths times the cosine of the angle between them. Among all steps of one length it
# is lowest where the cosine is $-1$: straight against the gradient. Try a tiny step in each of 360 directions:

# %%
angles = np.radians(np.arange(360))
directions = np.column_stack([np.cos(angles), np.sin(angles)])  # (360, 2), one direction per row
changes = [loss2(at + 1e-4 * direction) - loss2(at) for direction in directions]
uphill = gradient2(at)
downhill = np.degrees(np.arctan2(-uphill[1], -uphill[0]))  # the angle of the arrow against the gradient
print(f"against the gradient: {downhill:.1f} degrees; the best of 360: {np.argmin(changes)}")

# %% [markdown]
# Now repeat it. A line has a closed form too (lesson 01), but for a network nobody can solve the equations; so one
# takes the gradient where one stands, makes a step, and looks again. Where both ways exist, they must agree. Here is a
# line through 40 noisy samples. The loss is the mean one, so the gradient is divided by $n$, and `theta` holds slope
# and bias together.

# %%
x40, y40 = data.line(40, slope=2.0, intercept=-1.0, noise=0.3, rng=np.random.default_rng(3))
X40, theta = ops.add_bias_input(x40), np.zeros(2)
for _ in range(300):
    theta = theta - 0.5 * X40.T @ (X40 @ theta - y40) / len(X40)
w_exact, b_exact = ops.linear_regression_fit(x40, y40)
print("slope and bias:  descended", theta.round(4), f" closed form {w_exact[0]:.4f} {b_exact:.4f}")

# %% [markdown]
# ## Second belief: is a smaller step safer?
#
# Back to one weight, where you can follow every step. The loss of the first example is the parabola
# $J = 2.5 + h\,(w - 2)^2 / 2$ with $h = \sum x^2 = 5$. This $h$ is the **curvature**, the second derivative: how fast
# the slope changes. Five walks start at $w = 1$.

# %%
def descend(lr, steps, w=1.0):
    path = [w]
    for _ in range(steps):
        path.append(path[-1] - lr * slope(path[-1]))
    return np.array(path)

# %% [markdown]
# The learning rate 0.2 will turn out to be a lucky one: it reaches the lowest point, 2, in a single step.

# %% tags=["hide-input"]
# A prediction.
rate = predict(
    "Which walk is nearer to 2 after 20 steps: 0.02, ten times smaller, or 0.38, nearly twice as large?",
    ["0.02", "0.38", "both are equally near"], answer="both are equally near", reveals=3,
)  # fmt: skip
rate

# %% tags=["hide-output"]
walks_on_parabola = {lr: descend(lr, 20) for lr in (0.02, 0.2, 0.38, 0.4, 0.402)}
table(
    [(lr, *path[1:4], abs(path[-1] - 2)) for lr, path in walks_on_parabola.items()],
    ["lr", "w after 1 step", "2 steps", "3 steps", "distance from 2 after 20"],
    formats=dict.fromkeys(("w after 1 step", "2 steps", "3 steps", "distance from 2 after 20"), ".4f"),
)

# %% [markdown]
# <details class="reveal"><summary>One line of algebra explains all five rows</summary>
#
# The slope is $h\,(w - 2)$, so one step gives
#
# $$w_{\mathrm{new}} - 2 = (w - 2) - \mathrm{lr}\; h\, (w - 2) = (1 - \mathrm{lr}\; h)\,(w - 2)$$
#
# Every step multiplies the distance from the lowest point by the same factor, $1 - \mathrm{lr}\,h$. At
# $\mathrm{lr} = 1/h = 0.2$ it is 0: one step and you are there. At twice that, $2/h = 0.4$, it is $-1$: the other side,
# equally far, for ever. At 0.402 it is $-1.01$: farther away with each step. And 0.02 and 0.38 have the factors $0.9$
# and $-0.9$, so both are 0.1216 away after 20 steps: **ten times too small is as slow as 1.9 times too large.**
#
# In the picture, look at which side of the valley the steps land. Above 0.2 every step jumps across the bottom.
#
# </details>

# %% tags=["hide-output"]
rates = {"0.02: crawls": 0.02, "0.2 = 1/h: one step": 0.2, "0.38: jumps across": 0.38,
         "0.4 = 2/h: for ever": 0.4, "0.402 = 2.01/h: climbs": 0.402}  # fmt: skip
paths = {f"lr {name}": descend(lr, 40) for name, lr in rates.items()}
figures.descent.parabola_paths(
    lambda w: 2.5 + 2.5 * (w - 2) ** 2, 2.0, paths,
    caption="The same parabola and the same start, 40 steps with each of five learning rates.")

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
after = {lr: abs(path[-1] - 2) for lr, path in walks_on_parabola.items()}
rate.confirm("both are equally near" if np.isclose(after[0.02], after[0.38], rtol=1e-9) else "one is nearer")

# %% [markdown]
# Take the two critical rates to the end. At 0.4 the walk visits two values, even after 10,000 steps. At 0.402 it is 1 %
# farther away after each step: it is **diverging**, which ten steps hardly show, and a thousand do.

# %%
print("lr 0.4 visits", np.unique(descend(0.4, 10_000)))
table(
    [(steps, abs(descend(0.402, steps)[-1] - 2)) for steps in (10, 100, 1000)],
    ["steps at 0.402", "distance from 2"], formats={"distance from 2": ",.2f"},
)  # fmt: skip

# %% [markdown]
# So a small step is safe in one sense only: below $2/h$ the loss does not grow. You pay for it in steps.
#
# With several weights, each direction has a curvature of its own. Take a *ravine*, nearly flat along $u$ and steep
# along $v$:
#
# $$J = \frac{1}{2} \; (0.1\,u^2 + 1.25\,v^2)$$
#
# A step multiplies $u$ by $1 - 0.1\,\mathrm{lr}$ and $v$ by $1 - 1.25\,\mathrm{lr}$, each on its own. The best rate for
# $v$ is $1 / 1.25 = 0.8$: it is there in one step. Where is $u$ by then? The steep direction sets the limit,
# $2 / 1.25 = 1.6$, and the flat one has to crawl below it.

# %%
rows = []
for lr in (0.8, 1.6, 1.65):
    path = figures.surfaces.descend(figures.surfaces.ravine_gradient, (2.0, 2.0), lr, steps=20)
    rows.append((lr, *path[-1]))
table(rows, ["lr", "u after 20 steps", "v after 20 steps"],
      formats={"u after 20 steps": ".3f", "v after 20 steps": ".3f"}, caption="From u = v = 2")  # fmt: skip

# %% [markdown]
# At 0.8, $v$ is done and $u$ is still at 0.377. No rate suits both. The loss of every linear model is such a valley,
# though its axes usually lie askew. Walk in it: the gradient's arrow stands at right angles to the contours, and in a
# ravine that is hardly ever the way to the bottom. Try 1.6, then 1.65, and look at the promise beside the loss.

# %%
figures.walk_downhill("ravine", start=(-2.75, 2.0), lr=1.5, steps=3, title="How large may a step be in a ravine?")

# %% [markdown]
# ## Loss surfaces: minimum, plateau, saddle
#
# A network's loss is no parabola. There are **local minima**, lower than all their surroundings and not the lowest of
# all, and flat stretches where a search gets stuck, like a hiker in the foothills.[^Dey "Minimizing Loss Function"]
# Such a flat stretch is called a **plateau**. A third kind of place is level too: a **saddle**, lowest along one
# direction and highest along another.
#
# The map at the top of the page has all three. It is made up: a flat board with dents of depth $d_k$ and width $s_k$
# around the points $c_k$, over two weights $p = (u, v)$.
#
# $$J(p) = 1 - \sum_{k} \; d_k \; \exp(\, -|p - c_k|^2 \; / \; 2 s_k^2 \,)$$

# %%
foothills, foothills_gradient = figures.surfaces.foothills, figures.surfaces.foothills_gradient
line = np.linspace(-3, 3, 5)
starts = np.array([[u, v] for v in line for u in line])  # (25, 2)

# %% [markdown]
# Each of the 25 takes 100 steps with learning rate 0.4.

# %% tags=["hide-input"]
# A prediction.
ending = predict(
    "Of 25 walks, from a grid of 5 × 5 starts over the whole map, how many end in the deepest minimum?",
    [9, 15, 21, 25], answer=9, reveals=3,
)  # fmt: skip
ending

# %% tags=["hide-output"]
paths = figures.surfaces.descend(foothills_gradient, starts, lr=0.4, steps=100)  # (101, 25, 2)
ends = [figures.surfaces.ending(p) for p in paths[-1]]
table([(name, ends.count(name)) for name in sorted(set(ends))], ["where the walk ends", "walks"])

# %% [markdown]
# <details class="reveal"><summary>Most end in the valley they started in</summary>
#
# 9, fewer than half. Descent knows only the slope under its feet. The four corners have hardly moved, because where the
# slope is nearly zero, so is the step. And two walks ended at the saddle: they started exactly on the mirror line
# $v = 0$, where nothing pushes them sideways.
#
# </details>

# %% tags=["hide-output"]
figures.descent.endings_map(
    paths, caption="Marker and colour of a start say where its walk is after 100 steps.")

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
ending.confirm(ends.count("deepest minimum"))

# %% [markdown]
# Does a walk stay at a saddle? One that starts a millionth beside the mirror line finds the way out, after a while.
# Each of the three losses below has a level stretch, and two of them fall after it. From a level stretch alone you
# cannot tell whether a walk has arrived, waits at a saddle, or is crossing a plateau.

# %%
three = {"on the mirror line": (-2, 0), "0.000001 beside it": (-2, 1e-6), "on the plateau": (-3, 3)}
walks = {name: foothills(figures.surfaces.descend(foothills_gradient, start, 0.4, 300))
         for name, start in three.items()}  # fmt: skip
figures.descent.waiting(walks, caption="A level loss is not always the end of the walk.")

# %% [markdown]
# Networks begin at such a place if you let them. The smallest one with two layers is $o = v \tanh(u x)$. The gradient
# for each weight is zero where the other weight is, so with both at zero it never learns:

# %%
def two_layer_loss(weights):
    u, v = weights
    return ops.half_squared_sum_forward(v * ops.tanh(u * x), y)[0]

rows = []
for weights in ([0.0, 0.0], [0.1, 0.1], [0.1, -0.1]):
    du, dv = checks.numerical_gradient(two_layer_loss, np.array(weights)).round(3) + 0.0  # + 0.0 turns -0 into 0
    rows.append((*weights, two_layer_loss(weights), du, dv))
table(rows, ["u", "v", "J", "dJ/du", "dJ/dv"], formats={"J": ".3f"})

# %% [markdown]
# That is why networks start at random weights and not at zero. Random, but not *tiny*: a start a hair beside a saddle
# takes longer to leave it, as the curve "0.000001 beside it" shows. The network of lesson 04 learns XOR from ten of ten
# starts if its weights have a standard deviation of 1 or of 0.1, and from none of ten at 0.01, in the same 3,000 steps.
# Lesson 06b is about the right scale.

# %% [markdown]
# ## Mini-batches and epochs
#
# Whose errors does a step look at? One recipe takes **all training samples**: evaluate every one, add up, then make one
# step.[^Hwu "Stochastic Gradient Descent"] That is full-batch descent, and all our walks so far were of this kind. With
# a million samples it is a lot of work for one step. So the usual recipe takes a random handful for each step, a
# **mini-batch** of size $m$; one pass through all samples is an **epoch**.[^Owens "Stochastic gradient descent"] You
# will find both under the name *stochastic gradient descent*, though only the second leaves anything to chance.

# %%
def run_epoch(theta, X, y, batch_size, lr, rng, average=True):
    order = rng.permutation(len(X))  # the numbers 0 to n - 1 in random order
    for first in range(0, len(X), batch_size):
        batch = order[first : first + batch_size]  # numbers of samples; X[batch] are their rows
        gradient = X[batch].T @ (X[batch] @ theta - y[batch])
        theta = theta - lr * (gradient / len(batch) if average else gradient)
    return theta

# %% [markdown]
# Why may a step look at 20 of 200 samples? Because on average it is right. At fixed weights, here zero, the mean of the
# ten mini-batch gradients of an epoch is the gradient of all samples. Each of the ten is off by some noise.

# %%
x200, y200 = data.line(200, slope=2.0, intercept=-1.0, noise=0.3, rng=np.random.default_rng(0))
X200 = ops.add_bias_input(x200)
batches = np.random.default_rng(1).permutation(200).reshape(10, 20)
at_zero = [-X200[batch].T @ y200[batch] / 20 for batch in batches]  # with theta = 0, X @ theta - y is -y
of_all = -X200.T @ y200 / 200
table(
    [("all 200 samples", *of_all), ("mean of ten batches", *np.mean(at_zero, axis=0)),
     ("first batch", *at_zero[0]), ("second batch", *at_zero[1])],
    ["gradient of", "slope", "bias"], formats={"slope": ".3f", "bias": ".3f"},
)  # fmt: skip

# %% [markdown]
# To compare runs, measure the **excess loss**: how far the loss lies above the lowest possible one (closed form).
# `race` returns it after each epoch; `rates` holds one learning rate per epoch.

# %%
w, b = ops.linear_regression_fit(x200, y200)
lowest = 0.5 * np.mean((X200 @ [w[0], b] - y200) ** 2)

def excess(theta):
    return 0.5 * np.mean((X200 @ theta - y200) ** 2) - lowest

def race(batch_size, rates, average=True):
    theta, rng, curve = np.zeros(2), np.random.default_rng(1), []
    for lr in rates:
        theta = run_epoch(theta, X200, y200, batch_size, lr, rng, average)
        curve.append(excess(theta))
    return curve

# %% [markdown]
# Three runs of ten epochs at learning rate 0.1 look at every sample ten times, in batches of 200 (all), 20, and 1.

# %% tags=["hide-input"]
# A prediction.
sizes = predict(
    "Which batch size leads after one epoch, and which after ten?",
    ["1, then 1", "1, then 20", "20, then 20", "200, then 200"], answer="1, then 20", reveals=3,
)  # fmt: skip
sizes

# %% tags=["hide-output"]
curves = {f"batches of {size}": race(size, [0.1] * 10) for size in (200, 20, 1)}
late = "batches of 1, then lr 0.01"
curves[late] = race(1, [0.1] * 5 + [0.01] * 5)  # [0.1] * 5: a list of five times 0.1
table(
    [(name, curve[0], curve[4], curve[9]) for name, curve in curves.items()],
    ["", "after 1 epoch", "after 5", "after 10"],
    formats={"after 1 epoch": ".4f", "after 5": ".4f", "after 10": ".5f"}, caption="Excess loss",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>More steps win early, less noise wins late</summary>
#
# Small batches take more steps for the same work, so after one epoch batches of 1 lead by far (0.0008). But at 0.1 they
# never settle: each step follows the noise of one sample, and the loss jitters. After ten epochs batches of 20 have
# passed them (0.0005 against 0.006). The fourth run shows the way out: batches of 1 again, and from epoch 6 on a
# learning rate of 0.01. It ends ahead of all (0.00006). That is the true core of the second belief: a smaller step is
# worth its price *late*, against noise.
#
# </details>

# %% tags=["hide-output"]
figures.descent.race(
    {**curves, late: curves[late][4:]},  # the same dictionary, but the last curve from epoch 5 on
    caption="More steps for the same work win early; less noise wins late.")

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
at_one_rate = [name for name in curves if name != late]
leaders = [min(at_one_rate, key=lambda name, epoch=epoch: curves[name][epoch]) for epoch in (0, 9)]
sizes.confirm(", then ".join(name.removeprefix("batches of ") for name in leaders))

# %% [markdown]
# ## What goes wrong: summing instead of averaging
#
# The update of a mini-batch divides by $m$:
# $w \leftarrow w - (\mathrm{lr} / m) \sum_j \partial C_j / \partial w$.[^Owens "Stochastic gradient descent"] Leave the
# division out. The shapes still fit, no error appears, and with batches of 5 it trains.

# %% tags=["hide-input"]
# A prediction.
summing = predict(
    "What do batches of 50 do with the same learning rate 0.1, if their gradients are summed and not averaged?",
    ["they learn ten times faster", "they learn as batches of 5 do", "they explode"], answer="they explode", reveals=2,
)  # fmt: skip
summing

# %% tags=["hide-output"]
rows = []
for size in (5, 10, 21, 22, 50):
    summed, averaged = race(size, [0.1] * 3, average=False)[-1], race(size, [0.1] * 3)[-1]
    rows.append((size, -(-200 // size), 0.1 * size, summed, averaged))
table(
    rows, ["batch size", "steps an epoch", "lr · m", "summed", "averaged"],
    formats={"lr · m": ".1f", "summed": ".2g", "averaged": ".2g"}, caption="Excess loss after 3 epochs",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>The batch size has become a second learning rate</summary>
#
# They explode. (The averaged column grows only because larger batches take fewer steps.) A sum over $m$ samples is $m$
# times their mean, so the real step is $\mathrm{lr} \cdot m$. It breaks at $\mathrm{lr} \cdot m = 2/h$. The steepest
# direction here is nearly that of the bias, whose input is always 1, so $h$ is close to 1 and the limit close to 2.
#
# For the gradient of **all** samples that limit is exact. For random batches it is a guide, since each batch has a
# curvature of its own, and a step too long in one direction may be followed by one that mends it. In this run 21 still
# gets through with 2.1, and 22 does not. The average has no such limit on $m$.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
summing.confirm("they explode" if rows[-1][3] > 1e6 * excess(np.zeros(2)) else "they learn")

# %% [markdown]
# If you replace a sum by a mean, you need the learning rate $\mathrm{lr} \cdot m$ to take the same steps:

# %%
with_sum, with_mean = race(10, [0.1] * 3, average=False)[-1], race(10, [1.0] * 3)[-1]
print(f"batches of 10: the sum with lr 0.1 gives {with_sum:.4f}, the mean with lr 1.0 {with_mean:.4f}")

# %% [markdown]
# ## When to stop
#
# Stop when the error is small enough, or after a largest number of steps.[^Owens "Stochastic gradient descent"] Such a
# rule always ends. Another one is to stop when the gradient is nearly zero, since then nothing moves. Try it on the 25
# starts of the map, before the first step.

# %%
steepness = np.linalg.norm(foothills_gradient(starts), axis=1)  # the length of each of the 25 gradients
done = steepness < 0.01
print(np.count_nonzero(done), "of 25 would stop at once; losses:", foothills(starts[done]).round(3))

# %% [markdown]
# The rule stops at the four corners, the highest ground there is. And at the rate $2/h$ it never stops: the walk
# between 1 and 3 has the slope $-5$ or $5$ for ever. So always set a largest number of steps, and look at the loss
# curve. Lesson 06 adds a better rule, with samples kept aside.

# %% [markdown]
# ## Optional: curvatures, and a step that knows them
#
# <details><summary>The axes of a valley</summary>
#
# For a linear model $H = X^T X$ holds all second derivatives of $J$. Its **eigenvectors** are the axes of the valley;
# along each one the loss is a parabola whose curvature is the **eigenvalue**, and $1 - \mathrm{lr}\,h$ applies to each
# by itself. For the mean loss $C$, divide $H$ by $n$. Take the seven samples with the far one among them, and walk once
# 1 % below the limit $2/h$ of the largest eigenvalue and once 1 % above it:
#
# </details>

# %%
X7 = ops.add_bias_input(far_x)
curvatures = np.linalg.eigvalsh(X7.T @ X7 / len(X7))  # smallest first
limit = 2 / curvatures[-1]
print(f"curvatures {curvatures[0]:.3f} and {curvatures[1]:.2f}, limit {limit:.4f}")
for lr in (0.99 * limit, 1.01 * limit):
    history = ops.linear_regression_descend(far_x, far_y, lr=lr, steps=500)[2]
    print(f"lr {lr:.4f}: loss {history[0]:.3f} -> {history[-1]:.3g} after 500 steps")
h = np.linalg.eigvalsh(X200.T @ X200 / 200)[-1]
print(f"the 200 samples: h = {h:.3f}, so sums at lr 0.1 have their limit near batches of {2 / (0.1 * h):.1f}")

# %% [markdown]
# <details><summary>The best step along the gradient, and Newton's</summary>
#
# One direction is 76 times as curved as the other and dictates the step for both. Could a step be chosen that knows the
# curvatures? The best one *along* the gradient $g$ has the length $\mathrm{lr} = g^T g \,/\, g^T H g$.[^Hwu "Stochastic
# Gradient Descent"] **Newton's method** also changes the direction: it solves $H\,\Delta w = -g$ and jumps to where the
# gradient would be zero, if the loss were a parabola.
#
# </details>

# %%
H = X2.T @ X2  # (2, 2), the second derivatives of the two-weight example
g = gradient2(at)
best_along = g @ g / (g @ H @ g)
newton = at - np.linalg.solve(H, g)
counted = figures.surfaces.steps_along_gradient(loss2, gradient2, H, at, below=1e-6)
print(f"along the gradient, lr {best_along:.3f}: loss {loss2(at)} -> {loss2(at - best_along * g):.3f};",
      f"{counted} such steps until it is below 0.000001")  # fmt: skip
print(f"Newton: from {at} to {newton.round(6)}, loss {loss2(newton):.6f}, in one step")

# %% [markdown]
# <details><summary>Why nobody trains networks like this</summary>
#
# One step, and it is exact. But "Newton's method in 100,000 dimensions"[^Hwu "Iterative Tuning
# Relies on Derivatives"] needs all second derivatives, $d^2 = 10^{10}$ numbers for $d = 100{,}000$ weights: 80 GB of
# 8-byte numbers, where the gradient has 0.8 MB. Solving the system then takes about $d^3/3$ multiplications, 3·10¹⁴ for
# one step. Far from a minimum it may also go *up*, towards a saddle, since that is a place with zero gradient too. So
# this course descends by first derivatives, and gets its cleverness from elsewhere: momentum in lesson 06 remembers the
# last steps.
#
# </details>

# %% [markdown]
# ## Optional: three losses for probabilities
#
# <details><summary>What each of them asks</summary>
#
# For a sample of class $T$ one can also take $1 - k[T]$, the probability given to wrong classes, or
# $\sum_j k[j]\,(j - T)^2$, which asks *how far* a wrong digit is from the right one.[^Hwu "Choosing an Error Function"]
# Five opinions on an image of a 3:
#
# </details>

# %%
def opinion(digits):
    k = np.full(10, 0.01)
    k[digits] += 0.9 / len(digits)  # a list as index: at all these places
    return k

opinions = {"sure of 3": opinion([3]), "sure of 4": opinion([4]), "sure of 9": opinion([9]),
            "2 or 4": opinion([2, 4]), "no idea": np.full(10, 0.1)}  # fmt: skip

# %% [markdown]
# The first is nearly sure and right, the next two are nearly sure and wrong.

# %% tags=["hide-input"]
# A prediction.
harmless = predict(
    "Which of the losses finds `no idea` worse than `sure of 4`, although `sure of 4` is wrong with full confidence?",
    ["1 - k[T]", "the sum of k[j] (j - T)²", "cross-entropy", "none of them"], answer="the sum of k[j] (j - T)²",
    reveals=2,
)  # fmt: skip
harmless

# %% tags=["hide-output"]
T, rows = np.array([3]), {}
for name, k in opinions.items():
    first, _ = ops.one_minus_probability_forward(k[None], T)  # k[None]: a batch of one, (1, 10)
    second, _ = ops.expected_squared_distance_forward(k[None], T)
    rows[name] = (k[3], first, second, -np.log(k[3]))
table(
    [(name, *values) for name, values in rows.items()],
    ["opinion", "k[3]", "1 - k[T]", "the sum of k[j] (j - T)²", "cross-entropy"],
    formats=dict.fromkeys(("k[3]", "1 - k[T]", "the sum of k[j] (j - T)²", "cross-entropy"), ".2f"),
)

# %% [markdown]
# <details class="reveal"><summary>A digit's number is only a name</summary>
#
# $1 - k[T]$ and cross-entropy look at $k[T]$ alone, so 4 and 9 are the same mistake, and so is "2 or 4". The squared
# distance finds a sure 4 nearly harmless (1.95) and "no idea" much worse (10.5). That makes sense for quantities. For
# digits the number is only a name: a 3 looks more like an 8 than like a 4, and no formula in $j - T$ knows that. And
# where cross-entropy pushes 100 times as hard, $1 - k[T]$ has the slope $-1$ as everywhere. Lesson 06 shows why that
# decides for cross-entropy.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
names = ("1 - k[T]", "the sum of k[j] (j - T)²", "cross-entropy")
worse = [name for k, name in enumerate(names, 1) if rows["no idea"][k] > rows["sure of 4"][k]]
harmless.confirm(worse[0] if len(worse) == 1 else "none of them")

# %% [markdown]
# ## Try it
#
# - In the cell with `far_x`, move the last sample from 15 to 6 and run the cells below it. Are right answers still
#   lost at the end? <details><summary>Answer</summary>
#
#   No. At 6 the best line has all seven right: the sample no longer lies far from the line that separates the classes
#   well. Between the two, the best line loses its first answer once the sample is farther out than about 10.6.
#
#   </details>
# - In the ravine, start at $v = 0$. Why is 1.65 harmless now? Then set $v$ to 0.25.
#   <details><summary>Answer</summary>
#
#   At $v = 0$ nothing moves along $v$, and along $u$ the limit is $2/0.1 = 20$. A start beside the line, however
#   little, is multiplied by $1 - 1.25 \cdot 1.65 = -1.0625$ at each step and grows out of the map in time. From 0.25 it
#   takes 43 steps to get beyond 3.2, the edge of the map.
#
#   </details>
# - On the foothills, find a rate so large that the narrow dents cannot hold a walker while the wide one still can.
#   <details><summary>Answer</summary>
#
#   1.6, for example. A narrow dent is more strongly curved, so its $2/h$ is smaller. Start near one and watch the
#   walker jump from side to side until it is thrown out or keeps circling; the deep dent holds it.
#
#   </details>

# %% [markdown]
# <details><summary>For those who know the lectures</summary>
#
# **The mean.** Dey calls the half sum "mean squared error", but no mean is taken. In the table above $J$ and the mean
# squared error are both 5 for two samples, where you could miss it; for four they are 10 and 5. The lowest point is the
# same, but a learning rate that suits the one does not suit the other.
#
# **The square.** Dey's slide for a network reads $\sum (Y - f(\ldots)^2) / 2$: the inner parentheses square the output
# alone. The whole difference is squared, as in the first formula. Read literally, the loss is 1, $-6.5$ and $-24996.5$
# at $w = 1$, 2 and 100 of the first example: it would sink for ever as the outputs grow.
#
# **The update.** "Training Using Backpropagation" lists four steps, the fourth being the update of the weights, and
# then says "repeat steps 1-3". Repeated so, the weights would never change. All four are repeated.
#
# **No change in gradient.** The same slide stops "when there is no change in gradient". On the plateau and at the rate
# $2/h$ that rule fails, as above.
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
