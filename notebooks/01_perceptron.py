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
# # 01 · The perceptron: learning from mistakes
#
# A perceptron is the smallest machine that learns to decide between two answers. Many people who have met one
# believe that it finds **the best line** between two groups of points. On this page you train one, watch every
# single step, and see that it does something else.
#
# Three lectures stand behind this course. **K** is Prof. Dey's lecture 56 at IIT Kharagpur with its slides, **O**
# is Prof. Owens' EEC 289Q lecture 11 at UC Davis, **H** is ECE 508 lecture 10 by Prof. Hwu and colleagues at
# Illinois. A note such as (K, "Linear Regression") names the lecture and the slide that a fact comes from.
#
# Reading takes about 45 minutes; the two optional sections near the end take ten more.

# %% [markdown]
# ## You will be able to
#
# - say what makes a program a learning program, and tell three kinds of learning apart;
# - fit a line to numbers in two ways, and check one against the other;
# - train a perceptron by hand and in code, and draw the line that its weights mean;
# - prove that no line computes XOR, and recognise a training run that will never end.

# %% [markdown]
# ## Why learn at all?
#
# A function of a few bits needs no learning: write down its **truth table**, one row per input, and look the
# answer up. An image of 32 × 32 pixels with 8 bits each has 8192 bits (H, "Some Problems Too Large to Sample").
# Before you run the cell, guess: how many digits has the number of rows of that table?

# %%
rows = 2 ** (32 * 32 * 8)
print(f"2^{32 * 32 * 8} rows: a number of {len(str(rows))} digits")

# %% [markdown]
# No machine stores that table, and nobody knows its rule. So the rule is learned from examples. Mitchell's
# definition (K, "Machine Learning") has three parts. A program learns if its **performance** at a **task**
# improves with **experience**.
#
# | part | for reading digits |
# |---|---|
# | task | say which digit an image shows |
# | performance | the share of new images answered rightly |
# | experience | images together with the right answer |
#
# The right answer that comes with an example is its **label**. With labels, learning is **supervised**. Without
# them it is **unsupervised**: the program looks for structure, such as groups. If there are no examples at all,
# and the program must act and see what comes of it, learning is by **reinforcement** (K, "Machine Learning").
# This course is about supervised learning. A label that is a category makes the task **classification**; a label
# that is a continuous number makes it **regression** (K, "What is Performance P?").

# %% [markdown]
# In the code, `ops` is the course's library of formulas, `data` makes samples and `figures` draws.
# `check_close(a, b)` says nothing if both agree to a relative error `rtol` (1e-7 unless given), and stops with an
# error otherwise; `assert` does so for any condition. `@` is the matrix product.

# %%
import numpy as np

from course_lib import data, figures
from course_lib import reference as ops
from course_lib.checks import check_close

# %% [markdown]
# ## A first machine that learns: a line through points
#
# **Linear regression** predicts a number by a line, $\hat y = w x + b$ (K, "Linear Regression"). The **weight**
# $w$ is the slope, the **bias** $b$ the height at $x = 0$. Learning means choosing $w$ and $b$ so that the
# squared errors $(\hat y - y)^2$ add up to as little as possible.
#
# Where that sum is smallest, its derivatives by $w$ and by $b$ are 0; solving these two equations gives the formula
# below. By hand, for the points $(0, 0)$, $(1, 2)$, $(2, 1)$: the means are $\bar x = 1$ and $\bar y = 1$, and
#
# $$w = \frac{\sum (x - \bar x)(y - \bar y)}{\sum (x - \bar x)^2} = \frac{1 + 0 + 0}{1 + 0 + 1} = 0.5,
# \qquad b = \bar y - w \bar x = 0.5 .$$
#
# The library must agree. Its inputs are a matrix with one row per example, so three numbers become shape (3, 1).

# %%
x_small, y_small = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 2.0, 1.0])
w, b = ops.linear_regression_fit(x_small, y_small)
check_close(w, [0.5], name="w")
check_close(b, 0.5, name="b")
print(f"w = {w[0]:.3f}, b = {b:.3f}")

# %% [markdown]
# Now 30 noisy points around the line $y = 2x - 1$. A **random generator** made with a fixed seed gives you the
# same points as everyone else. Can the fit find 2 and -1 again, although no point lies on that line?

# %%
rng = np.random.default_rng(1)
x_line, y_line = data.line(30, slope=2, intercept=-1, noise=0.4, rng=rng)
w, b = ops.linear_regression_fit(x_line, y_line)
print(f"learned: w = {w[0]:.2f}, b = {b:.2f}")

# %% [markdown]
# Close to 2 and -1, and not exact: 30 noisy examples are little experience. In the figure each purple stroke is
# one error. The fit makes the sum of their squares as small as any line can.

# %%
figures.show(
    figures.perceptron.fitted_line(x_line, y_line, w, b),
    alt=f"30 noisy points; the fitted line, slope {w[0]:.2f} and intercept {b:.2f}, "
    "passes through their middle",
    caption="Linear regression: the line with the least sum of squared errors (purple strokes).",
)

# %% [markdown]
# That was the **closed form**: one formula, one answer. The other way is **descent**: start anywhere, and move
# $w$ and $b$ many times in small steps that make the **loss** smaller, the number to be minimised (here half the
# mean of the squared errors). The **learning rate** `lr` scales the steps. Both ways are in
# [`linear_regression.py`](../course_lib/reference/linear_regression.py). After 200 steps they must agree.

# %%
w_steps, b_steps, history = ops.linear_regression_descend(x_line, y_line, lr=0.5, steps=200)
check_close(w_steps, w, rtol=1e-6, name="w by descent")
check_close(b_steps, b, rtol=1e-6, name="b by descent")
for step in (0, 10, 200):
    print(f"loss after {step:3} steps: {history[step]:.3f}")

# %% [markdown]
# The closed form is better here: one computation instead of 200, and exact. K names the reason to learn descent all
# the same: for larger models nobody can solve the equations ("Minimizing Loss Function"). Lesson 03 is about
# descent alone.
#
# With several inputs the line becomes a plane, $\hat y = w_1 x_1 + \dots + w_d x_d + b$. For all $n$ examples at
# once it is one matrix product, with shapes
#
# $$\hat y = X w + b, \qquad X\,(n, d), \quad w\,(d,), \quad \hat y\,(n,).$$
#
# The same function fits it (K, "Linear Regression", second slide).

# %%
x_plane, y_plane = data.plane(60, w=(2.0, -1.0, 0.5), b=0.3, noise=0.1, rng=rng)
w, b = ops.linear_regression_fit(x_plane, y_plane)
print("X", x_plane.shape, " w", w.round(2), " b", round(b, 2))

# %% [markdown]
# ## From a number to a decision
#
# A **perceptron** answers 0 or 1. It computes a weighted sum as above, the **score** $z$, and then applies a
# step:
#
# $$z = w_1 x_1 + \dots + w_d x_d + b, \qquad \hat y = \mathrm{heaviside}(z).$$
#
# The **Heaviside function** is 1 for $z \ge 0$ and 0 below (K, "Perceptron Algorithm"). Where $z$ is exactly 0,
# the answer is 1: a convention, and you will see it matter.
#
# The bias can be treated as one more weight, on an input that is always 1:
#
# $$x = (x_1, \dots, x_d, 1), \quad w = (w_1, \dots, w_d, b), \qquad z = w \cdot x .$$
#
# Both have the shape (d + 1,).
#
# As labelled data we take truth tables (H, "Many Problems Have Systematic Solutions"). K's example is NAND, which
# is 0 only where both inputs are 1.

# %%
x, y = data.truth_table("nand")
print(ops.add_bias_input(x))  # columns: x1, x2, the bias input
print("labels", y)

# %% [markdown]
# ## Learning by hand
#
# The rule (K, "Perceptron Algorithm") looks at one sample at a time. With the label $y$ and the answer $\hat y$,
#
# $$w \leftarrow w + (y - \hat y)\, \mathrm{lr}\; x .$$
#
# The learning rate $\mathrm{lr}$ scales the change; here it is 1. If the answer is right, $y - \hat y = 0$
# and nothing happens. Start with $w = (0, 0, 0)$. The first three samples have score 0, answer 1, label 1: right.
# The fourth:
#
# $$x = (1, 1, 1), \quad z = 0, \quad \hat y = 1, \quad y = 0,$$
#
# $$w \leftarrow (0, 0, 0) + (0 - 1)\,(1, 1, 1) = (-1, -1, -1).$$

# %%
w = np.zeros(3)
sample, label = np.array([1.0, 1.0, 1.0]), 0
y_hat = int(w @ sample >= 0)
w = w + (label - y_hat) * 1.0 * sample
print("answer", y_hat, " weights after", w)

# %% [markdown]
# Why does this help? Put the new weights into the score of the same sample:
#
# $$(w + (y - \hat y)\,\mathrm{lr}\;x) \cdot x = z + (y - \hat y)\,\mathrm{lr}\;(x \cdot x).$$
#
# $x \cdot x$ is positive. So a sample that should answer 1 gets a higher score, and one that should answer 0 a
# lower one. Here $x \cdot x = 3$: the score falls from 0 to -3. Nothing is said about the other samples. A
# correction may spoil them.
#
# ## The loop
#
# One pass over all samples is an **epoch**. K's loop runs "while convergence is not reached". We make that exact:
# stop after a whole epoch without a mistake.

# %%
def train(x, y, lr, epochs):
    x = np.hstack([x, np.ones((len(x), 1))])  # the bias input, (n, d + 1)
    w = np.zeros(x.shape[1])
    for epoch in range(epochs):
        mistakes = 0
        for i in range(len(y)):
            y_hat = int(w @ x[i] >= 0)
            w = w + (y[i] - y_hat) * lr * x[i]
            mistakes += int(y_hat != y[i])
        if mistakes == 0:
            return w, epoch + 1
    return w, None

# %% [markdown]
# The library's version is in [`perceptron.py`](../course_lib/reference/perceptron.py). It does the same and also
# remembers every step it took. Both must reach the same weights after the same number of epochs.

# %%
w, epochs = train(x, y, lr=1.0, epochs=100)
fit = ops.perceptron_fit(x, y)
check_close(fit.w, w, name="weights")
assert fit.epochs == epochs
print("weights", w, " epochs", epochs, " mistakes per epoch", fit.mistakes_per_epoch)

# %% [markdown]
# NAND is learned exactly (K, "Perceptron NAND Example"), in six epochs. Notice that the mistakes first grow.
#
# Step through all 24 samples shown. In the picture, the perceptron answers 1 on the green side of the orange
# line. The ringed sample is the one shown now; a purple cross beside it means a wrong answer, and then the dashed
# line is where the weights move next. Watch for the steps at which the line does not move.

# %%
frames = figures.perceptron_steps.training_frames(fit, x, y)
figures.stepper(frames, title="A perceptron learns NAND: one sample after another", static=7)

# %% [markdown]
# Why is the edge of the green side always straight? With two inputs the score $z = w_1 x_1 + w_2 x_2 + b$ is a
# plane above the square of inputs. The answer changes where this plane cuts height 0, and two planes meet in a
# straight line. That is all a perceptron can draw.

# %%
scores = ops.add_bias_input(x) @ fit.w  # (4, 3)(3,) -> (4,)
print("scores ", scores)
print("answers", ops.perceptron_predict(x, fit.w), " labels", y)
figures.show(
    figures.perceptron.score_plane(x, y, fit.w),
    alt="The score is a tilted plane. It cuts height 0 in a straight line; "
    "the three NAND inputs of label 1 are on or above it, (1, 1) is below",
    caption="Left: the score above the four inputs. Right: the same from above. Green: score ≥ 0, "
    "so the answer is 1. Filled: label 1, hollow: label 0. The sample (1, 0) lies on the line.",
)

# %% [markdown]
# AND and OR are learned as well. `perceptron_predict` answers all four samples, in the order 00, 01, 10, 11.

# %%
for name in ("nand", "and", "or"):
    xs, ys = data.truth_table(name)
    run = ops.perceptron_fit(xs, ys)
    assert run.converged
    answers = ops.perceptron_predict(xs, run.w)
    print(f"{name:5} weights {run.w}  answers {answers}  labels {ys}")

# %% [markdown]
# ## Does it find the best line?
#
# So far the samples came in the order 00, 01, 10, 11. There are 24 orders. **Predict:** if you train on NAND in
# each of them, you get
#
# - (a) one line, the same for all orders;
# - (b) several lines, some of them wrong;
# - (c) several lines, all of them right.
#
# `permutations` lists the orders. `Counter` counts equal results: tuples, since arrays cannot be counted; its
# `.items()` are the pairs (result, count).

# %%
from collections import Counter
from itertools import permutations

runs = [ops.perceptron_fit(x, y, order=order) for order in permutations(range(4))]
assert all(run.converged for run in runs)
for weights, count in sorted(Counter(tuple(run.w.tolist()) for run in runs).items()):
    print(f"{count} orders end at {weights}")

# %% [markdown]
# It is (c): two lines, mirror images of each other, and both answer all four samples rightly. Which is better?
# The distance of a sample from the line is $|z| / \sqrt{w_1^2 + w_2^2}$ (`np.hypot` is this root). The smallest
# such distance is the **margin**: every sample may move by less than this, in any direction, without changing its
# answer. Compare the learned line with $x_1 + x_2 = 1.5$.

# %%
def margin(x, w):
    return np.min(np.abs(ops.add_bias_input(x) @ w)) / np.hypot(w[0], w[1])

between = np.array([-1.0, -1.0, 1.5])
assert np.array_equal(ops.perceptron_predict(x, between), y)
print(f"margin of the learned line:      {margin(x, fit.w):.3f}")
print(f"margin of the line x1 + x2 = 1.5: {margin(x, between):.3f}")

# %% [markdown]
# The learned line has margin 0. It runs straight through the sample (1, 0), which is right only because a score
# of 0 counts as 1. The perceptron does not look for a good line. **It stops at the first one that makes no
# mistake.**
#
# On four points that is a curiosity. Take 30 points from two clouds, train in 50 random orders, and try each
# result on 10,000 fresh points from the same clouds. **Predict** the gap between the best and the worst order:
# (a) none, (b) less than one percent, (c) several percent. (`**clouds` passes the entries of a dictionary as
# named arguments.)

# %%
rng = np.random.default_rng(7)
clouds = dict(centers=[(1.0, 1.0), (3.0, 2.5)], spread=0.5, rng=rng)
x30, y30 = data.blobs(30, **clouds)
x_fresh, y_fresh = data.blobs(10_000, **clouds)
runs = [ops.perceptron_fit(x30, y30, order=rng.permutation(30)) for _ in range(50)]
assert all(run.converged for run in runs)  # no mistake on the 30 points
right = [np.mean(ops.perceptron_predict(x_fresh, run.w) == y_fresh) for run in runs]
worst, best = runs[np.argmin(right)], runs[np.argmax(right)]
print(f"right on fresh points: worst order {min(right):.1%}, best order {max(right):.1%}")
print(f"margins: worst order {margin(x30, worst.w):.2f}, best order {margin(x30, best.w):.2f}")

# %% [markdown]
# It is (c), nine percent. Every one of the 50 runs ended without a mistake on its 30 points, so their mistakes cannot
# tell them apart; the order of the samples decided. Of the margins, the best order's is ten times as wide: a wide
# margin is a hint that fresh points go well, no guarantee.

# %%
figures.show(
    figures.perceptron.orders(x30, y30, worst.w, best.w, right),
    alt="Two very different lines, both without a mistake on 30 points; on fresh points "
    f"50 orders are right between {min(right):.0%} and {max(right):.0%} of the time",
    caption="Left: the worst and the best of 50 orders; both separate the 30 points. "
    "Right: how the 50 do on fresh points.",
)

# %% [markdown]
# How does such a line come about? The figure takes the run with the fewest mistakes. In the top row the
# ringed sample was answered wrongly; the dashed line turns into the solid one. Below, the vector $(w_1, w_2)$,
# which stands at right angles to the line, jumps by that sample: added if the label is 1, subtracted if it is 0.
# (`key=` takes the function to compare by; a **lambda** is a function without a name: input, colon, result.)

# %%
short = min(runs, key=lambda run: sum(run.mistakes_per_epoch))
jumps = sum(short.mistakes_per_epoch)
print(jumps, "mistakes in", len(short.steps), "samples shown")
figures.show(
    figures.perceptron.jumps(short, x30, y30),
    alt=f"{jumps} columns: at each mistake the weight vector jumps by the wrong sample, "
    "and the line turns with it",
    caption="Dashed: before the mistake. Solid: after it. "
    "Broad, pale blue: the sample that was added or subtracted.",
)

# %% [markdown]
# Between mistakes nothing happens, however close a point is to the line. A rule that cares about closeness needs
# an error that shrinks smoothly as the score gets better, and a step has none. That is the road to lesson 03. One
# thing is sure all the same: where some line separates the samples, this rule always ends. That is the **perceptron
# convergence theorem**, which the lectures do not prove. And where no line does?
#
# ## What no line can do: XOR
#
# XOR is 1 where exactly one input is 1. Train for 100 epochs. **Predict:** how many mistakes does each of the last
# epochs make? (a) none, (b) one, (c) more.

# %%
x_xor, y_xor = data.truth_table("xor")
xor = ops.perceptron_fit(x_xor, y_xor, epochs=100)
print("labels", y_xor, " converged:", xor.converged)
print("mistakes per epoch", xor.mistakes_per_epoch[:6], "...", xor.mistakes_per_epoch[-3:])

# %% [markdown]
# It is (c): from epoch 3 on four mistakes, so each sample is wrong at the moment it is shown. No run can ever end,
# and the proof has four lines. Suppose some weights gave all four answers. Then
#
# | sample | label | so the score must satisfy |
# |---|---|---|
# | (0, 0) | 0 | $b < 0$ |
# | (0, 1) | 1 | $w_2 + b \ge 0$ |
# | (1, 0) | 1 | $w_1 + b \ge 0$ |
# | (1, 1) | 0 | $w_1 + w_2 + b < 0$ |
#
# Add the two middle rows: $w_1 + w_2 + 2b \ge 0$. Add the first and the last: $w_1 + w_2 + 2b < 0$. Both cannot
# hold. So there are no such weights, whatever the training rule (K, "XOR?").

# %% [markdown]
# What does training do instead? Print the weights at the end of each epoch. `steps[3::4]` takes step 3 and then
# every fourth, the last of its epoch. (The library counts epochs from 0, this page from 1.)

# %%
for step in xor.steps[3::4][:5]:
    mistakes = xor.mistakes_per_epoch[step.epoch]
    print("epoch", step.epoch + 1, " weights at its end", step.w_after, " mistakes", mistakes)

# %% [markdown]
# From epoch 2 on the weights are the same at the end of every epoch. That looks like convergence, and it is the
# opposite: four mistakes, four changes that add up to zero. The figure shows one turn of this circle. Each panel
# shows the weights before a sample, and the sample that they get wrong.

# %%
lap = xor.steps[-4:]
assert np.array_equal(lap[0].w_before, lap[-1].w_after)
figures.show(
    figures.perceptron.cycle(lap, x_xor, y_xor),
    alt="Four weight vectors in turn, each wrong on the sample shown; "
    "after the fourth the weights are the first again",
    caption="One epoch on XOR, left to right: every sample (ringed) is answered wrongly, "
    "and after the last panel comes the first again. Green: answer 1.",
)

# %% [markdown]
# This also proves that waiting is useless. With a fixed order, the weights at the end of an epoch decide
# everything that follows. Call them the **state**. If a state comes back, all that followed it comes back too,
# for ever. So look for the first repeated state; the epochs in between are the length of the **cycle**. A dictionary
# keeps the epoch in which each state was first seen.

# %%
def cycle(fit, n):
    """Epoch at whose end the cycle is entered, and its length in epochs."""
    first_seen = {}
    for epoch, step in enumerate(fit.steps[n - 1 :: n], start=1):
        state = tuple(step.w_after)
        if state in first_seen:
            return first_seen[state], epoch - first_seen[state]
        first_seen[state] = epoch

start, length = cycle(xor, 4)
lengths = {cycle(ops.perceptron_fit(x_xor, y_xor, order=o), 4)[1] for o in permutations(range(4))}
print(f"XOR: cycle entered in epoch {start}, length {length} epoch = {4 * length} samples")
print("lengths that occur among the 24 orders:", lengths)

# %% [markdown]
# The shortest cycle there can be, one epoch, and in all 24 orders.
#
# ## What goes wrong: the forgotten bias input
#
# Leave out the column of ones, and every score is $w_1 x_1 + w_2 x_2$. NAND, which took six epochs, is trained
# again for 100. What do you expect?

# %%
no_bias = ops.perceptron_fit(x, y, bias=False, epochs=100)
print("converged:", no_bias.converged, " last mistakes", no_bias.mistakes_per_epoch[-3:])
print("answers without bias", ops.perceptron_predict(x, no_bias.w))
print("answers with bias   ", ops.perceptron_predict(x, fit.w), " labels", y)
assert not np.array_equal(ops.perceptron_predict(x, no_bias.w), y)

# %% [markdown]
# Nothing raises an error, and it never ends. Three mistakes per epoch, but two wrong answers at the end: the weights
# change during an epoch, and the answers are those of the last weights alone.
#
# Without a bias the score of (0, 0) is 0 for any weights, so every line passes through the origin. NAND then asks for
# $w_2 \ge 0$, $w_1 \ge 0$ and $w_1 + w_2 < 0$: a contradiction again.

# %%
figures.show(
    figures.perceptron.lines_seen([fit, no_bias], x, y, ["with bias", "bias forgotten"]),
    alt="With a bias the lines move freely and end right; without it all pass through "
    "the origin and the last one gets two samples wrong",
    caption="The last line (solid) and every line before it (dashed; the paler, the earlier). "
    "Ring and cross: wrong in the end. Without a bias all lines are pinned to (0, 0).",
)

# %% [markdown]
# If a training run never ends, you now have two suspects. Either the task is beyond any such model, as XOR is. Or a
# slip of yours, here a missing input column, made the model smaller than you think. They look the same from outside.
#
# ## Where the lecture is loose
#
# K's slide "Perceptron Algorithm" adds the 1 to $x$ and $b$ to $w$, and then says that $w \cdot x$ equals
# $\sum_{j=1}^{n} w_j x_j$, where K's $n$ is the number of inputs, our $d$. That sum stops one short: it leaves out
# the last product, $b \cdot 1$. For the sample (1, 0) of NAND the difference decides.

# %%
sample = np.array([1.0, 0.0, 1.0])
all_products, without_last = fit.w @ sample, fit.w[:2] @ sample[:2]
print(f"w . x        = {all_products:2g}, answer {int(all_products >= 0)}")
print(f"the sum to n = {without_last:2g}, answer {int(without_last >= 0)}")
assert all_products >= 0 > without_last

# %% [markdown]
# Two more points differ between the lectures. K's loop says "while convergence is not reached" and no more; on
# XOR it never stops, so a program needs a limit on epochs. H's perceptron uses the sign instead of the Heaviside
# step: the same line, with the answers called -1 and +1 instead of 0 and 1 (H, "Perceptron is a Simple Example").
# Only at $z = 0$ do they part: the sign of 0 is 0, which is neither answer.

# %% [markdown]
# ## Optional: how near does the perceptron come to XOR?
#
# No line gets all four right. Does any reach three? Try 729 sets of weights: `meshgrid` makes every combination of
# nine values for $w_1$, $w_2$ and $b$ as three arrays, `stack` and `reshape` put them side by side as rows (729, 3),
# and one product scores them all, (4, 3) times (3, 729). `[:, None]` turns the labels into a column (4, 1), which
# NumPy compares with each of the 729 columns.

# %%
values = np.linspace(-2, 2, 9)
tried = np.stack(np.meshgrid(values, values, values), axis=-1).reshape(-1, 3)
answers = ops.add_bias_input(x_xor) @ tried.T >= 0  # (4, 729)
best_line = np.sum(answers == y_xor[:, None], axis=0).max()
passed = [ops.perceptron_predict(x_xor, step.w_after) for step in xor.steps]
best_passed = max(np.sum(answer == y_xor) for answer in passed)
print(f"best of {len(tried)} lines: {best_line} of 4 right")
print(f"best of the {len(xor.steps)} that the perceptron held: {best_passed} of 4 right")

# %% [markdown]
# The best line is right on three. The perceptron, in 400 steps, never held weights better than two of four, which
# is what a coin gives on average. So where no perfect line exists, it does not find the best one either.
#
# ## Optional: three inputs, parity
#
# H's truth table has three inputs and is 1 for 001, 010, 100 and 111, so for an odd number of ones: the
# **parity** function (H, "Many Problems Have Systematic Solutions"). Can a plane in three dimensions do what a
# line could not? Look at the four rows whose third input is 0. They are the XOR table, and $w_3$ plays no part in
# them. So the contradiction above forbids this table too. Its cycles can be longer.

# %%
x_par, y_par = data.truth_table("parity3")
for order in (np.arange(8), np.random.default_rng(6).permutation(8)):
    parity = ops.perceptron_fit(x_par, y_par, order=order)
    assert not parity.converged
    print("order", order, " cycle of", cycle(parity, 8)[1], "epoch(s), last mistakes",
          parity.mistakes_per_epoch[-3:])

# %% [markdown]
# ## Try it
#
# - Train NAND with `lr=0.5`, and then with `lr=8.0`. Compare weights, epochs and line with those above.
# - Start NAND from other weights: `ops.perceptron_fit(x, y, w=np.array([5.0, -3.0, 0.5]))`. Does it still learn?
#   Is it one of the two lines? Then look for a start that reaches a margin above 0.3.
# - In a new cell, move the clouds together: `centers=[(1.0, 1.0), (2.0, 1.8)]`, and train once. Is `converged`
#   true? Look at the last few entries of `mistakes_per_epoch`: do they settle?

# %% [markdown]
# ## Check yourself
#
# **1.** The sample (1, 0) has label 1 and, with the present weights, the score -2.5. The learning rate is 1. It
# is shown twice in a row. What is its score after each of the two, and what is the answer then?
#
# <details><summary>Answer</summary>
#
# With the bias input, $x = (1, 0, 1)$ and $x \cdot x = 2$. The answer to -2.5 is 0, wrong, so the score rises by
# 2 to -0.5. That is wrong still, so it rises to 1.5, and now the answer is 1. One correction moves the score the
# right way; it need not be enough.
#
# </details>

# %% [markdown]
# **2.** A friend stops training "when the weights at the end of an epoch equal those at the end of the epoch
# before". What happens on NAND, and what on XOR? What should the test be?
#
# <details><summary>Answer</summary>
#
# On NAND it stops at the right moment: an epoch without a mistake leaves the weights as they were. On XOR it
# stops as well, and reports success with every sample wrong, because the four changes of an epoch cancel. Count
# the mistakes within the epoch instead, and limit the number of epochs.
#
# </details>

# %% [markdown]
# **3.** Two runs on the same data both end with no mistakes, at different lines. Which line is better? Can the
# perceptron's rule improve the worse one if you let it go on?
#
# <details><summary>Answer</summary>
#
# The training samples cannot tell you: both lines are right on all of them. Fresh samples can, or the margin
# gives a hint. Going on does nothing. Without a mistake, $y - \hat y = 0$ for every sample, so the weights never
# change again.
#
# </details>
