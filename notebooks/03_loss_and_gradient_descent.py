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
# # 03 · Loss and gradient descent: which way is better, and how far to step
#
# In lesson 01 the perceptron changed its weights only at a mistake, by a rule made for one neuron. A network needs a
# method that works for any model: first one number that says how wrong the model is, then a way to walk downhill on
# that number. This lesson builds both: about 45 minutes, and 12 more for the four optional sections.
#
# Many people bring two beliefs to it: *a smaller loss means more right answers*, and *a smaller step is safer*.
# Decide now whether you agree with each. You will measure both.
#
# Three lectures are named in the text: **K** is Prof. Dey's lecture 56 at IIT Kharagpur with its slides, **O** is
# Prof. Owens' EEC 289Q lecture 11 at UC Davis, **H** is lecture 10 of ECE 508 by Prof. Hwu and colleagues at Illinois.
# Two letters change: the output, $\hat y$ in lesson 01 and $a$ in lesson 02, is $o$ here, as in K; and $h$ is a
# curvature here, no hidden neuron.

# %% [markdown]
# ## You will be able to
#
# - compute a loss and its gradient by hand for a small model, and check the gradient by measuring it
# - explain why training follows a smooth loss and not the number of right answers, and show a case where they disagree
# - predict from the curvature of a loss whether a learning rate crawls, converges, oscillates or diverges
# - say what a mini-batch and an epoch are, why its gradient is averaged, and when to stop

# %% [markdown]
# ## The smallest example, by hand
#
# Two samples: inputs $x = (1, 2)$, right answers $y = (4, 3)$. The smallest model there is: $o = w\,x$, one weight and
# no bias. At $w = 1$ the outputs are $o = (1, 2)$, so the differences $y - o$ are $3$ and $1$. A **loss** turns the
# differences into one number that is smaller for a better model. K's is half the sum of their squares:
# $J = (3^2 + 1^2) / 2 = 5$ (K, "Loss Function").

# %%
import numpy as np

from course_lib import checks, data, figures
from course_lib import reference as ops

x, y = np.array([1.0, 2.0]), np.array([4.0, 3.0])

def loss(w):
    return 0.5 * np.sum((y - w * x) ** 2)

print("y - o =", y - 1.0 * x, "  J =", loss(1.0))

# %% [markdown]
# Should $w$ grow or shrink? The derivative of $(y - w x)^2 / 2$ with respect to $w$ is
# $-(y - w x)\,x = (o - y)\,x$. Summed over the two samples: $(1 - 4)\cdot 1 + (2 - 3)\cdot 2 = -5$. It is negative,
# so a larger $w$ gives a smaller loss. You can also measure a derivative: move $w$ a little both ways and see how
# much $J$ changes.

# %%
def slope(w):
    return np.sum((w * x - y) * x)

measured = (loss(1 + 1e-6) - loss(1 - 1e-6)) / 2e-6
print(f"by hand {slope(1.0):.6f}, measured {measured:.6f}")

# %% [markdown]
# The lowest point is where the derivative is zero: $\sum (w x - y)\,x = 0$, so $w = \sum x y / \sum x^2 = 10 / 5 = 2$.
# See on the right that the tangent at $w = 1$ points down towards it. The loss there is 2.5 and not 0: no line through
# the origin meets both samples.

# %%
figures.losses.samples_and_loss(
    x, y, (1.0, 2.0), lambda w: (loss(w), slope(w)),
    caption="Every weight is one line on the left and one point on the right.")

# %% [markdown]
# ## The formula, with shapes
#
# For $n$ samples, right answers $y$ and outputs $o$, both of shape $(n,)$ (K, "Loss Function"):
#
# $$J = \frac{1}{2} \; \sum_{i} \; (y_i - o_i)^2 \qquad\qquad \frac{\partial J}{\partial o_i} = o_i - y_i$$
#
# The factor one half cancels the 2 of the derivative. With $d$ inputs per sample, $X$ has the shape $(n, d)$ and $w$
# the shape $(d,)$:
#
# $$o_i = \sum_{j} X_{ij} \, w_j \qquad \frac{\partial o_i}{\partial w_j} = X_{ij} \qquad
# \frac{\partial J}{\partial w_j} = \sum_{i} \; (o_i - y_i) \, X_{ij}$$
#
# The last is the chain rule: $w_j$ moves each output $o_i$ by $X_{ij}$, and that output moves $J$ by $o_i - y_i$. For
# all $j$ at once it is one product:
#
# $$\frac{\partial J}{\partial w} = X^T (o - y) \qquad \mbox{of shape } (d,)$$
#
# This list of all partial derivatives is the **gradient**. It has the shape of what it is taken for: one number per
# weight, and each says what a small change of that weight alone does to the loss.

# %% [markdown]
# Here it is as loops: every sample $i$ adds its error times its input to every weight. `add_bias_input` (lesson 01)
# appends a column of ones, so the last weight is the bias.

# %%
def gradient_by_loops(X, y, w):
    dw = np.zeros_like(w)
    for i in range(len(X)):
        error = X[i] @ w - y[i]
        for j in range(len(w)):
            dw[j] += error * X[i, j]
    return dw

points, answers = data.plane(6, w=[1.0, -2.0], b=0.5, noise=0.1, rng=np.random.default_rng(1))
X, w = ops.add_bias_input(points), np.array([0.3, 0.1, -0.2])
print("X", X.shape, " w", w.shape, " dJ/dw", gradient_by_loops(X, answers, w).round(3))

# %% [markdown]
# The library ([`losses.py`](../course_lib/reference/losses.py)) splits the work, so that one loss serves every model:
# `half_squared_sum_forward` returns the loss and what its derivative needs (the **cache**),
# `half_squared_sum_backward` returns $\partial J/\partial o$. `checks.numerical_gradient` measures as you did above,
# one weight after the other. All three ways must agree.

# %%
_, cache = ops.half_squared_sum_forward(X @ w, answers)
dw = X.T @ ops.half_squared_sum_backward(cache)
measured = checks.numerical_gradient(lambda w: ops.half_squared_sum_forward(X @ w, answers)[0], w)
checks.check_close(dw, gradient_by_loops(X, answers, w), name="dJ/dw against the loops")
checks.check_close(dw, measured, rtol=1e-6, name="dJ/dw against the measurement")
print("library", dw.round(3), " measured", measured.round(3))

# %% [markdown]
# O divides by the number of samples (O, "How good is our network?"); $a$ holds the outputs, of shape $(n, M)$ for $M$
# outputs per sample:
#
# $$C = \frac{1}{2 n} \; \sum_{x} \; \|y(x) - a(x)\|^2$$
#
# The lowest point is the same, the size is not. Show the two samples once, then twice: $J$ doubles, $C$ stays.

# %%
for times in (1, 2):
    o, target = np.tile(1.0 * x, times), np.tile(y, times)  # np.tile(x, 2): x twice in a row
    J, C = ops.half_squared_sum_forward(o, target)[0], ops.quadratic_cost_forward(o[:, None], target[:, None])[0]
    print(f"n = {2 * times}:  J = {J:4}   C = {C}   mean squared error = {np.mean((target - o) ** 2)}")

# %% [markdown]
# ## Why not count the right answers?
#
# If you want right answers, why not make their number the goal? Take six samples of two classes that overlap. The
# classifier says 1 where $x + b \ge 0$, else 0; a smooth version has the output $o = \mbox{sigmoid}(x + b)$.

# %%
inputs, labels = np.arange(6.0), np.array([0, 0, 1, 0, 1, 1])

def wrong_answers(b):
    return int(np.sum(ops.heaviside(inputs + b) != labels))

def smooth_loss(b):
    return ops.half_squared_sum_forward(ops.sigmoid(inputs + b), labels)[0]

# %% [markdown]
# **Predict.** Put $b$ at 200 places between $-5.5$ and $0.5$ and measure both slopes at each. At how many places is
# the slope of the count different from zero: at none, at about 10, at about 100?

# %%
places = np.linspace(-5.5, 0.5, 200)

def slopes(f):
    return np.array([(f(b + 1e-6) - f(b - 1e-6)) / 2e-6 for b in places])

print("slope not zero:  count", np.count_nonzero(slopes(wrong_answers)), "of 200,",
      " smooth loss", np.count_nonzero(slopes(smooth_loss)), "of 200")

# %% [markdown]
# At none. The count is a staircase: level almost everywhere, and at its few jumps there is no derivative. It tells you
# *that* you are wrong, never *which way* is better. H says the same of choosing the largest output, argmax: its
# derivative is zero wherever there is one (H, "Why Not Use the Intuitive Measure?"). O chose a quadratic cost because
# it is smooth, which the count is not (O, "How good is our network?").

# %%
figures.losses.staircase(
    places, [wrong_answers(b) for b in places], [smooth_loss(b) for b in places],
    caption="Standing on a stair, you cannot tell which way leads down. On the curve you can.")

# %% [markdown]
# ## First belief: does a smaller loss mean more right answers?
#
# Look where the curve leads: at its lowest point 2 answers are wrong, although 1 is possible. Training follows a
# stand-in for what you want; H asks only that it correlates with the number of right answers. How far can the two
# part? Seven samples, class 1 from $x = 3$ on, and one lies far out at $x = 15$. The model is a line $o = w x + b$
# that answers 1 where $o \ge 0.5$.

# %%
far_x, far_y = np.array([[0.0], [1], [2], [3], [4], [5], [15]]), np.array([0, 0, 0, 1, 1, 1, 1])

def right_answers(w, b):
    o = ops.linear_regression_predict(far_x, w, b)
    return int(np.sum((o >= 0.5) == far_y))

print("right at the start:", right_answers(np.array([0.2]), 0.0), "of 7")

# %% [markdown]
# **Predict.** The start $w = 0.2,\ b = 0$ has all seven right. Now descend on the loss from there, with the library's
# [`linear_regression_descend`](../course_lib/reference/linear_regression.py), in steps so short that the loss
# (O's mean) falls every time. After 500 steps: still 7 right, or fewer? Does the best line of all, in closed form, have
# 7 right?

# %%
w, b = np.array([0.2]), 0.0
losses, right = [], [right_answers(w, b)]
for _ in range(500):
    w, b, history = ops.linear_regression_descend(far_x, far_y, lr=0.02, steps=1, w=w, b=b)
    losses.append(history[0])  # history: the loss before and after the step
    right.append(right_answers(w, b))
losses.append(history[1])
print(f"loss  {losses[0]:.3f} -> {losses[-1]:.3f}, rises in {np.sum(np.diff(losses) >= 0)} of 500 steps")
w_best, b_best = ops.linear_regression_fit(far_x, far_y)
print(f"right {right[0]} -> {min(right)} at worst -> {right[-1]};",
      "the best line of all:", right_answers(w_best, b_best))

# %% [markdown]
# Fewer: the loss falls to a quarter, and 7 right answers become 4, then 6. Even the line with the least loss of all
# has 6. The loss asks *how far* each output is from 0 or 1, and the far sample, with $o = 3$ at the start, is the
# farthest. The count only asks *on which side* of 0.5 it lies. To please one sample, the line tilts.

# %%
figures.losses.loss_against_accuracy(
    far_x[:, 0], far_y, ((0.2, 0.0), (w[0], b)), losses, right,
    caption="The dashed line has a quarter of the solid one's loss, and a mistake.")

# %% [markdown]
# ## A loss for probabilities
#
# With several classes a network gives a vector $k$ of probabilities, one per class (lesson 06 shows how). Most networks
# today then use the **cross-entropy**, $-\ln k[T]$ for a sample of class $T$. It is 0 if the right class has
# probability 1. Its slope is $-1/k[T]$, so at $k[T] = 0.01$, where the network is surely wrong, it pushes 100 times as
# hard as near 1. H names two other losses; an optional section below compares the three.

# %% [markdown]
# ## Walking downhill
#
# **Gradient descent** repeats one line: $w \leftarrow w - \mathrm{lr} \cdot \partial J / \partial w$. The **learning
# rate** lr is a positive number that you choose (O writes $\eta$, "Find the global minimum"; H $\lambda$, "Adjusting
# Weights"). A line has a closed form too (lesson 01). For a network nobody can solve the equations, and a place with
# zero gradient need not be the lowest, so K evaluates the gradient at the current weights and steps (K, "Minimizing
# Loss Function"). Where both exist they must agree.
#
# Fit a line to 40 noisy samples: your loop, the library's descent, the closed form. Here the loss is O's mean, so the
# gradient is divided by $n$, and $\theta$ (`theta`) holds slope and bias together.

# %%
x40, y40 = data.line(40, slope=2.0, intercept=-1.0, noise=0.3, rng=np.random.default_rng(3))
X40, theta = ops.add_bias_input(x40), np.zeros(2)
for _ in range(300):
    theta = theta - 0.5 * X40.T @ (X40 @ theta - y40) / len(X40)
w, b, history = ops.linear_regression_descend(x40, y40, lr=0.5, steps=300)
w_exact, b_exact = ops.linear_regression_fit(x40, y40)
checks.check_close(theta, [w[0], b], name="your loop")
checks.check_close(theta, [w_exact[0], b_exact], rtol=1e-9, name="descended")
print("slope and bias:  descended", theta.round(4), f" closed form {w_exact[0]:.4f} {b_exact:.4f}")

# %% [markdown]
# ## Second belief: is a smaller step safer?
#
# Back to the first example, where you can follow every step. Its loss is the parabola
# $J = 2.5 + h\,(w - 2)^2 / 2$ with $h = \sum x^2 = 5$. The second derivative $h$ is the **curvature**: how fast
# the slope changes. **Predict** for each learning rate, from $w = 1$: does the walk arrive at 2, and is 0.02 or 0.38
# nearer after 20 steps?

# %%
def descend(lr, steps, w=1.0):
    path = [w]
    for _ in range(steps):
        path.append(path[-1] - lr * slope(path[-1]))
    return np.array(path)

print("   lr        w after 1, 2, 3 steps      |w - 2| after 20")
for lr in (0.02, 0.2, 0.38, 0.4, 0.402):
    path = descend(lr, 20)
    print(f"{lr:5}   {path[1]:8.4f} {path[2]:8.4f} {path[3]:8.4f} {abs(path[-1] - 2):18.4f}")

# %% [markdown]
# Only 0.2 is there; 0.02 and 0.38 are equally near, 0.1216. One line of algebra explains all five rows. The slope is
# $h\,(w - 2)$, so one step gives
#
# $$w_{\mathrm{new}} - 2 = (w - 2) - \mathrm{lr}\; h\, (w - 2) = (1 - \mathrm{lr}\; h)\,(w - 2)$$
#
# Every step multiplies the distance to the lowest point by the same factor $1 - \mathrm{lr}\,h$. At
# $\mathrm{lr} = 1/h = 0.2$ it is 0: one step and you are there. At twice that, $2/h = 0.4$, it is $-1$: the other
# side, equally far, for ever. At 0.402 it is $-1.01$: farther away with each step. And 0.02 and 0.38 have the factors
# $0.9$ and $-0.9$: **ten times too small is as slow as 1.9 times too large.**
#
# In the picture, look at which side of the valley the steps land. Above 0.2 every step jumps across the bottom.

# %%
rates = {"0.02: crawls": 0.02, "0.2 = 1/h: one step": 0.2, "0.38: jumps across": 0.38,
         "0.4 = 2/h: for ever": 0.4, "0.402 = 2.01/h: climbs": 0.402}
paths = {f"lr {name}": descend(lr, 40) for name, lr in rates.items()}
figures.descent.parabola_paths(
    lambda w: 2.5 + 2.5 * (w - 2) ** 2, 2.0, paths,
    caption="The same parabola and the same start, 40 steps with each of five learning rates.")

# %% [markdown]
# Take the two critical rates to the end. At 0.4 the walk visits two values, also after 10,000 steps. At 0.402 it is
# 1 % farther away after each step: it is **diverging**, which ten steps would hardly tell you and a thousand do.

# %%
print("lr 0.4  visits", np.unique(descend(0.4, 10_000)))
for steps in (10, 100, 1000):
    print(f"lr 0.402, {steps:4} steps: |w - 2| = {abs(descend(0.402, steps)[-1] - 2):.2f}")

# %% [markdown]
# So a small step is safe in one sense only: below $2/h$ the loss does not grow. The price is paid in steps.
#
# With several weights each direction has a curvature of its own. Take a *ravine*, flat along $u$ and steep along $v$:
#
# $$J = \frac{1}{2} \; (0.1\,u^2 + 1.25\,v^2)$$
#
# A step multiplies $u$ by $1 - 0.1\,\mathrm{lr}$ and $v$ by $1 - 1.25\,\mathrm{lr}$, each on its own. **Predict** from
# $u = v = 2$: which of the two arrives first at $\mathrm{lr} = 0.8$, and where is the limit?

# %%
for lr in (0.8, 1.6, 1.65):
    path = figures.surfaces.descend(figures.surfaces.ravine_gradient, (2.0, 2.0), lr, steps=20)
    print(f"lr {lr:4}: after 20 steps  u = {path[-1, 0]:.3f}  v = {path[-1, 1]:.3f}")

# %% [markdown]
# At 0.8 $v$ arrives in one step, while $u$ is still at 0.377 after 20. The steep direction sets the limit,
# $2 / 1.25 = 1.6$; the flat one then crawls. No rate suits both. The loss of every linear model is such a valley,
# turned: an optional section below computes its curvatures.

# %% [markdown]
# ## Loss surfaces: minimum, plateau, saddle
#
# A network's loss is no parabola. K's drawing has a **local minimum**, lower than all its surroundings but not the
# lowest of all, and a flat "foot hill" where a search gets stuck (K, "Minimizing Loss Function"); such a flat region
# is called a **plateau**. A third place is level too: a **saddle**, lowest along one direction and highest along
# another. This made-up surface has all three: a flat board with dents of depth $d_k$ and width $s_k$ around the points
# $c_k$, over two weights $p = (u, v)$.
#
# $$J(p) = 1 - \sum_{k} \; d_k \; \exp(\, -|p - c_k|^2 \; / \; 2 s_k^2 \,)$$
#
# **Predict.** Start descents from a grid of 5 x 5 points, 100 steps each with learning rate 0.4. How many end in the
# deepest minimum: nearly all, about 15, or fewer than 10?

# %%
foothills, foothills_gradient = figures.surfaces.foothills, figures.surfaces.foothills_gradient
line = np.linspace(-3, 3, 5)
starts = np.array([[u, v] for v in line for u in line])  # (25, 2)
paths = figures.surfaces.descend(foothills_gradient, starts, lr=0.4, steps=100)  # (101, 25, 2)
ends = [figures.surfaces.ending(p) for p in paths[-1]]
for name in sorted(set(ends)):
    print(f"{name:16} {ends.count(name):3}")

# %% [markdown]
# 9, fewer than half. Descent is a local method: it takes the slope under its feet and ends in the valley it started
# in. The four corners have hardly moved, because where the slope is nearly zero, so is the step. And two walks ended
# at the saddle: they started exactly on the mirror line $v = 0$, where nothing pushes them sideways.

# %%
figures.descent.endings_map(
    paths, caption="Marker and colour of a start say where its walk is after 100 steps.")

# %% [markdown]
# Is the saddle a place to stay? A walker that starts one millionth beside the mirror line finds the way out, after a
# while. The three curves below are losses step by step. Each has a level stretch, and two of them fall after it. From
# a level stretch alone you cannot tell whether a walk has arrived, waits at a saddle, or is crossing a plateau.

# %%
three = {"on the mirror line": (-2, 0), "0.000001 beside it": (-2, 1e-6), "on the plateau": (-3, 3)}
walks = {name: foothills(figures.surfaces.descend(foothills_gradient, start, 0.4, 300))
         for name, start in three.items()}
figures.descent.waiting(walks, caption="A level loss is not always the end of the walk.")

# %% [markdown]
# ## Explore: the learning rate on two surfaces
#
# Move the start, the learning rate and the number of steps. On the ravine set the limit, 1.6, then 1.65. On the
# foothills, find a rate so large that the narrow dents cannot hold a walker, while the wide one still can.

# %%
figures.explore(
    figures.descent.learning_rate_picture, title="How large a step may be", quick=False,
    surface=["ravine", "foothills"], lr=(0.05, 2.5, 0.05, 1.5), steps=(1, 100, 1, 30),
    u=(-3.0, 3.0, 0.25, -2.75), v=(-3.0, 3.0, 0.25, 2.0),
    labels={"lr": "learning rate", "u": "start u", "v": "start v"})

# %% [markdown]
# ## Mini-batches and epochs
#
# With a million samples, one exact gradient is a lot of work for one step. **Stochastic gradient descent** takes a
# small random part of the samples for each step, a **mini-batch** of size $m$; one pass through all samples is an
# **epoch** (O, "Stochastic gradient descent"). `rng.permutation(n)` is a random order of the numbers 0 to $n - 1$.

# %%
def run_epoch(theta, X, y, batch_size, lr, rng, average=True):
    order = rng.permutation(len(X))
    for first in range(0, len(X), batch_size):
        batch = order[first : first + batch_size]  # numbers of samples; X[batch] are their rows
        gradient = X[batch].T @ (X[batch] @ theta - y[batch])
        theta = theta - lr * (gradient / len(batch) if average else gradient)
    return theta

# %% [markdown]
# Why may a step look at 20 of 200 samples? Because on average it is right. At fixed weights, here zero, the mean of
# the ten mini-batch gradients of an epoch is the gradient of all samples; each of the ten is off by some noise.

# %%
x200, y200 = data.line(200, slope=2.0, intercept=-1.0, noise=0.3, rng=np.random.default_rng(0))
X200 = ops.add_bias_input(x200)
batches = np.random.default_rng(1).permutation(200).reshape(10, 20)
at_zero = [-X200[batch].T @ y200[batch] / 20 for batch in batches]  # with theta = 0, X @ theta - y is -y
checks.check_close(np.mean(at_zero, axis=0), -X200.T @ y200 / 200)
print("mean of ten", np.mean(at_zero, axis=0).round(3))
print("the first two", at_zero[0].round(3), at_zero[1].round(3))

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
# **Predict.** Ten epochs with the same learning rate 0.1, in batches of 200 (all), of 20, and of 1. All three look at
# every sample ten times. Which is nearest to the best line after one epoch? Which after ten? A fourth run, batches of
# 1 again, goes on with a learning rate of 0.01 from epoch 6: better or worse?

# %%
curves = {f"batches of {size}": race(size, [0.1] * 10) for size in (200, 20, 1)}
late = "batches of 1, then lr 0.01"
curves[late] = race(1, [0.1] * 5 + [0.01] * 5)  # [0.1] * 5: a list of five times 0.1
for name, curve in curves.items():
    print(f"{name:27} after 1 epoch {curve[0]:.4f}, after 5 {curve[4]:.4f}, after 10 {curve[9]:.5f}")

# %% [markdown]
# Small batches take more steps for the same work, so after one epoch batches of 1 lead by far (0.0008). But at 0.1 they
# never settle: each step follows the noise of one sample, and the loss jitters. After ten epochs batches of 20 have
# passed them (0.0005 against 0.006), and the run with the late smaller rate is ahead of all (0.00006). That is the true
# core of the second belief: a smaller step is worth its price *late*, against noise.

# %%
figures.descent.race(
    {**curves, late: curves[late][4:]},  # the same dictionary, but the last curve from epoch 5 on
    caption="More steps for the same work win early; less noise wins late.")

# %% [markdown]
# ## What goes wrong: summing instead of averaging
#
# O's update divides by $m$: $w \leftarrow w - (\eta / m) \sum_j \partial C_j / \partial w$. Leave the division out. The
# shapes fit, nothing raises, and with batches of 5 it still trains. **Predict** what batches of 50 do with the same
# learning rate 0.1.

# %%
print("batch size  steps      summed   averaged    (excess loss after 3 epochs)")
for size in (5, 10, 50):
    summed, averaged = race(size, [0.1] * 3, average=False)[-1], race(size, [0.1] * 3)[-1]
    print(f"{size:10} {3 * 200 // size:6} {summed:11.3g} {averaged:10.3g}")

# %% [markdown]
# They explode. (The averaged column gets worse only because larger batches take fewer steps.) A sum over $m$ samples
# is $m$ times the mean, so the real step is $\mathrm{lr} \cdot m$: the batch size has become a second learning rate.
# The sum breaks at $\mathrm{lr}\, m = 2/h$, with the largest curvature $h$ of this loss (`eigvalsh` finds it, see the
# optional section); the average has no such limit on $m$. Whoever replaces the sum by the mean needs the learning rate
# $\mathrm{lr} \cdot m$ for the same steps.

# %%
h = np.linalg.eigvalsh(X200.T @ X200 / 200)[-1]
print(f"h = {h:.3f}: with lr 0.1 the sum is at its limit for batches of {2 / (0.1 * h):.1f}")
checks.check_close(race(10, [0.1] * 3, average=False), race(10, [1.0] * 3), rtol=1e-6)
print("batches of 10: the sum with lr 0.1 = the mean with lr 1.0")

# %% [markdown]
# ## When to stop
#
# O stops when the error is small enough, or after a largest number of steps ("Stochastic gradient descent"). K's slide
# repeats "until there is no change in gradient" ("Training Using Backpropagation"). A common reading is *until the
# gradient is nearly zero*. Try that rule on the 25 starts of the map, before the first step.

# %%
steepness = np.linalg.norm(foothills_gradient(starts), axis=1)  # the length of each of the 25 gradients
done = steepness < 0.01
print(np.count_nonzero(done), "of 25 would stop at once; losses:", foothills(starts[done]).round(3))

# %% [markdown]
# The rule stops at the four corners, the highest ground there is: K's own warning about the foot hill. And at the rate
# $2/h$ it never stops: the walk between 1 and 3 has the slope $-5$ or $5$ for ever. So always set a largest number of
# steps, and look at the loss curve. Lesson 06 adds a better rule, with samples kept aside.

# %% [markdown]
# ## Where the lecture is loose
#
# **The mean.** K calls the half sum "mean squared error", but no mean is taken. In the table above, under O's formula,
# both are 5 for $n = 2$, where you could miss it; for $n = 4$ they are 10 and 5. The lowest point is the same, but a
# learning rate that suits the one does not suit the other.
#
# **The square.** K's slide for a network reads $\sum (Y - f(\ldots)^2) / 2$: the inner parentheses square the
# output alone. The whole difference is squared, as in K's own first formula. Read literally, the loss could be
# negative and would sink for ever as the outputs grow.

# %%
for w in (1.0, 2.0, 3.0, 100.0):
    literal = np.sum(0.5 * (y - (w * x) ** 2))
    print(f"w = {w:5}: as printed {literal:9.1f}    whole difference squared {loss(w):9.1f}")

# %% [markdown]
# ## Optional: three losses for probabilities
#
# For a sample of class $T$, H names $1 - k[T]$, the probability given to wrong classes, and
# $\sum_j k[j]\,(j - T)^2$, which also asks *how far* a wrong digit is from the right one (H, "Choosing an Error
# Function"; H goes on with the second). Five opinions on an image of a 3:

# %%
def opinion(digits):
    k = np.full(10, 0.01)
    k[digits] += 0.9 / len(digits)  # a list as index: at all these places
    return k

opinions = {"sure of 3": opinion([3]), "sure of 4": opinion([4]), "sure of 9": opinion([9]),
            "2 or 4": opinion([2, 4]), "no idea": np.full(10, 0.1)}

# %% [markdown]
# **Predict.** Which losses cannot tell "sure of 4" from "sure of 9"? Which one finds "no idea" worse than "sure of 4",
# although "sure of 4" is wrong with full confidence?

# %%
T = np.array([3])
print("               k[3]   1 - k[T]   sum k[j](j-T)^2   cross-entropy")
for name, k in opinions.items():
    first, _ = ops.one_minus_probability_forward(k[None], T)  # k[None]: a batch of one, (1, 10)
    second, _ = ops.expected_squared_distance_forward(k[None], T)
    print(f"{name:12} {k[3]:6.2f} {first:10.2f} {second:17.2f} {-np.log(k[3]):15.2f}")

# %% [markdown]
# $1 - k[T]$ and cross-entropy look at $k[T]$ alone, so 4 and 9 are the same mistake, and so is "2 or 4". The squared
# distance finds a sure 4 nearly harmless (1.95) and "no idea" much worse (10.5). That makes sense for quantities. For
# digits the number is only a name: a 3 looks more like an 8 than like a 4, and no formula in $j - T$ knows that.
# And where cross-entropy pushes 100 times as hard, $1 - k[T]$ has the slope $-1$ as everywhere. Lesson 06 shows why
# that decides for cross-entropy.

# %% [markdown]
# ## Optional: is it the steepest way down?
#
# K calls the direction against the gradient *steepest* descent. Test the word: from $w = 1,\ b = 0$ of the first
# example, now with a bias, try a tiny step in each of 360 directions. Which lowers the loss most?

# %%
X2, start = ops.add_bias_input(x[:, None]), np.array([1.0, 0.0])
gradient = X2.T @ (X2 @ start - y)
angles = np.radians(np.arange(360))
steps = 1e-4 * np.column_stack([np.cos(angles), np.sin(angles)])  # (360, 2), one step per row
changes = [ops.half_squared_sum_forward(X2 @ (start + step), y)[0] - loss(1.0) for step in steps]
downhill = np.degrees(np.arctan2(-gradient[1], -gradient[0]))  # the angle of the arrow -gradient
print(f"gradient {gradient}; against it: {downhill:.1f} degrees; best of 360: {np.argmin(changes)}")

# %% [markdown]
# The best of all equally long steps goes against the gradient, to the nearest degree.
#
# ## Optional: the curvatures of a linear model
#
# For a linear model and O's mean, $X^T X / n$ of shape $(d, d)$ holds the second derivatives of the loss. Along each of
# the $d$ eigenvectors of that matrix the loss is a parabola whose curvature is the eigenvalue, so the factor
# $1 - \mathrm{lr}\,h$ applies to each eigenvector separately, as to $u$ and $v$ in the ravine. `np.linalg.eigvalsh`
# returns the eigenvalues, smallest first. Test the limit $2/h$ of the largest one on the seven samples with the far
# one, 1 % below it and 1 % above it.

# %%
X7 = ops.add_bias_input(far_x)
curvatures = np.linalg.eigvalsh(X7.T @ X7 / len(X7))
limit = 2 / curvatures[-1]
print(f"curvatures {curvatures[0]:.3f} and {curvatures[1]:.2f}, limit {limit:.4f}")
for lr in (0.99 * limit, 1.01 * limit):
    history = ops.linear_regression_descend(far_x, far_y, lr=lr, steps=500)[2]
    print(f"lr {lr:.4f}: loss {history[0]:.3f} -> {history[-1]:.3g} after 500 steps")

# %% [markdown]
# One direction is 76 times as curved as the other, so it dictates the step for both.
#
# ## Optional: a network that starts at a saddle
#
# The smallest network with two layers is $o = v \tanh(u x)$. Each weight's gradient is zero when the other weight is,
# so with both at zero it would never learn. That place is a saddle: near zero, $J$ is about a constant minus
# $u\,v \sum x y$, lower for $u v > 0$ and higher for $u v < 0$. This is why lesson 04 starts at small random weights.

# %%
def two_layer_loss(weights):
    u, v = weights
    return ops.half_squared_sum_forward(v * ops.tanh(u * x), y)[0]

for weights in (np.array([0.0, 0.0]), np.array([0.1, 0.1]), np.array([0.1, -0.1])):
    measured = checks.numerical_gradient(two_layer_loss, weights).round(3) + 0.0  # + 0.0 turns -0 into 0
    print("weights", weights, f" J {two_layer_loss(weights):.3f}  gradient", measured)

# %% [markdown]
# ## Try it
#
# - In the cell with `far_x`, move the last sample from 15 to 6 and run the cells below it. Are right answers still
#   lost? Where between 6 and 15 does it begin?
# - In the explorer on the ravine, start at $v = 0$. Why is 1.65 harmless now? Then set $v$ to 0.25.
# - In the ten-epoch race, give batches of 1 the learning rate 0.3, then 0.01 from the start. How high is the jitter,
#   and how long is the way?

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
# **2.** $J = 8\, w^2 / 2$, start $w = 1$. Where is $w$ after three steps with learning rate 0.125, 0.25 and
# 0.2525? What would you see in a plot of the loss in each case?
#
# <details><summary>Answer</summary>
#
# The factor is $1 - 8\,\mathrm{lr}$. For 0.125 it is 0: $w = 0$ after the first step, the loss drops to zero. For
# 0.25 it is $-1$: $w = -1$, and the loss stays level for ever although $w$ jumps. For 0.2525 it is $-1.02$:
# $w = -1.02^3 = -1.06$, and the loss grows by 4 % per step, so slowly at first that it looks level.
#
# </details>

# %% [markdown]
# **3.** A friend's training works with batches of 32 and learning rate 0.01. On a machine with more memory she takes
# batches of 256, changes nothing else, and the loss explodes. What is the likely mistake, and what are two ways out?
#
# <details><summary>Answer</summary>
#
# Her gradient is summed over the batch, so a batch of 256 makes steps 8 times as long, past $2/h$. The way out is to
# divide by the batch size, with the learning rate $\mathrm{lr} \cdot m = 0.01 \cdot 32 = 0.32$ for steps as long as
# before. A learning rate 8 times smaller also works, until the batch size changes again.
#
# </details>
