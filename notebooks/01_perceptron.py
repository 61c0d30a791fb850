# ---
# jupyter:
#   course_form: 2
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
# # 01 · The perceptron: learning from mistakes
#
# Here are twenty digits, written by hand. You read them without noticing that you do, and yet you could not say how:
# nobody has ever written down the rule for what makes a 4 a 4. In the first ten lessons you build a program that learns
# to read such digits from examples, and in the lessons after them you make it fast.
#
# It begins with the smallest machine that learns, the **perceptron**. The one on this page has learned to tell 4s from
# 9s, and on its 800 examples it makes no mistake at all. It is natural to believe that such a machine has found **the
# best dividing line** between the two kinds. The large digit on the right, which it had not seen before, is a reason to
# doubt that.

# %% tags=["hide-input"]
# Twenty digits, and one that a program got wrong.
import numpy as np

from course_lib import data, figures
from course_lib import reference as ops
from course_lib.figures.perceptron import vector
from course_lib.lesson import lines, predict, table, two_digits

pair = two_digits(4, 9)
reader = ops.perceptron_fit(pair.x, pair.y)
misread = np.flatnonzero(ops.perceptron_predict(pair.x_new, reader.w) != pair.y_new)
first = misread[0]
figures.show(
    figures.digit_pair.front_door(data.load_digits().images("train")[:20], pair.grey[first], pair.said(first)),
    alt=f"Twenty handwritten digits, each in its own way, and a large one in a purple frame: {pair.said(first)}",
    caption="Handwritten digits of 28 × 28 pixels. The perceptron of this page misread the large one.",
)

# %% [markdown]
# ## You will be able to
#
# - say what makes a program a learning program, and why some tasks leave no other way;
# - train a perceptron by hand and in code, and see what its weights mean, as a line and as an image;
# - explain which line it finds, and why that need not be a good one;
# - prove that no line computes XOR, and recognise a training run that will never end.

# %% [markdown]
# <details><summary>About this page</summary>
#
# The course is built on three lectures: lecture 56 of Prof. Dey's course at IIT Kharagpur, lecture 11 of Prof. Owens'
# EEC 289Q at UC Davis, and lecture 10 of ECE 508 by Prof. Hwu and colleagues at Illinois. A raised number leads to the
# list of sources at the end of the page. You need some Python and the basics of NumPy: arrays, shapes, `@` for the
# matrix product. Reading and trying takes about 60 minutes.
#
# </details>

# %% [markdown]
# ## Why learn at all?
#
# A function of a few bits needs no learning. You write down its **truth table**, one row for each input, and look the
# answer up.[^Hwu "Many Problems Have Systematic Solutions"] Could we do that for images? Take one of 32 × 32 pixels,
# with 8 bits for the grey of each.

# %% tags=["hide-input"]
# A prediction.
rows_asked = predict(
    "The image has 8,192 bits, so the truth table of a program that reads it has 2^8192 rows. How many digits does "
    "that number have?",
    [10, 82, 2467, 8192],
    answer=2467,
    reveals=2,
)
rows_asked

# %% tags=["hide-output"]
bits = 32 * 32 * 8
rows = 2**bits
print(f"2^{bits} rows: a number of {len(str(rows))} digits")
print(f"a billion images (2^30) cover one row in 2^{bits - 30}")

# %% [markdown]
# <details class="reveal"><summary>A table that nobody can fill</summary>
#
# It has 2,467 digits. A billion labelled images are about $2^{30}$ rows. Divide that by $2^{8192}$, and the share is
# $2^{-8162}$: for every purpose, 0 %.[^Hwu "Some Problems Too Large to Sample"] So nearly every image that a program
# will ever meet is one that it has not met before.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by the cell above.
rows_asked.confirm(len(str(rows)))

# %% [markdown]
# What do examples tell about the rows in between? Look at a table that is small enough to count. It has three inputs,
# so eight rows. Suppose somebody has shown you four of them, and you want a rule for all.[^Hwu "What if We Lack a Truth
# Table?"]

# %% tags=["hide-input"]
# A prediction.
rules = predict(
    "You have seen 4 of the 8 rows. How many different truth tables agree with everything that you have seen?",
    [1, 4, 16, 256],
    answer=16,
    reveals=2,
)
rules

# %% tags=["hide-output"]
x_par, y_par = data.truth_table("parity3")
fitting = [(k, lines.tables_that_fit(y_par, seen=range(k))) for k in range(9)]
table(fitting, ["rows seen", "tables that fit"])

# %% [markdown]
# <details class="reveal"><summary>Examples alone decide nothing</summary>
#
# Each of the four rows that you have not seen may be 0 or 1, so $2^4 = 16$ tables fit. With $k$ rows seen it is
# $2^{8-k}$: every row halves the number, and only the last one leaves a single table. Of any row that you have not
# seen, half of the fitting tables say 0 and half say 1. The examples have no opinion.
#
# So a program that learns must bring something of its own: a reason to prefer some rules over others. The perceptron's
# reason is a straight line. Keep that in mind; later on this page it is what helps, and then what fails.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by the cell above.
rules.confirm(dict(fitting)[4])

# %% [markdown]
# ## What it means to learn
#
# **Machine learning** is a way to build programs whose logic nobody can write down, mostly where a wrong output is no
# catastrophe.[^Hwu "What is Machine Learning?"] A misread digit sends a letter to the wrong town. That is annoying, but
# the letter comes back.
#
# When may we say that a program learns? If its **performance** at a **task** improves with **experience**.[^Dey
# "Machine Learning"] Here the task is to say which digit an image shows, the performance is the share of new images
# that it reads correctly, and the experience is a pile of images, each with the correct answer beside it, its
# **label**.
#
# With labels, learning is **supervised**. Without them it is **unsupervised**: the program looks for structure, such as
# groups. If there are no examples at all, and it must act and see what comes of it, it learns by **reinforcement**.
# This course is about supervised learning, and mostly about the first row of this table:

# %% tags=["hide-input"]
# Kinds of tasks.
table(
    [
        ("classification", "a category", "which digit is this? is this chip defective?"),
        ("regression", "a number", "how warm will it be tomorrow?"),
        ("transcription", "text, from something that is none", "from a photograph of a page to its words"),
        ("translation", "symbols of another language", "from English to Hindi"),
        ("structured output", "parts that depend on each other", "from a sentence to its grammar"),
        ("anomaly detection", "what does not fit in", "is this payment unlike all the others?"),
        ("variant calling", "places where a genome differs", "which letters differ in this patient?"),
        ("synthesis, denoising", "something new, something mended", "a voice; an old song without its hiss"),
    ],
    ["task", "what comes out", "for example"],
    caption="Kinds of tasks that programs learn",
)

# %% [markdown]
# The first three are everyday work by now,[^Hwu "Types of Learning Tasks"] of the others some are, and some are not
# yet.[^Hwu "More Advanced Learning Tasks"] Whatever the task, a program that learns has two phases. In the **training**
# its weights are found, and in the **inference** they are used:[^Hwu "Machine Learning Separates into Two Phases"]

# %% tags=["hide-input"]
# Two phases, side by side.
table(
    [
        ("what goes in", "examples with their labels", "one new input, without a label"),
        ("what happens", "the weights are changed, again and again", "the weights stay as they are"),
        ("what comes out", "weights", "an answer"),
        ("how often", "once, over all examples many times", "every time somebody asks"),
        ("on this page", "perceptron_fit", "perceptron_predict"),
    ],
    ["", "training", "inference"],
    caption="The two phases of a program that learns",
)

# %% [markdown]
# ## One line, two answers
#
# A perceptron answers 0 or 1. It multiplies each input by a **weight**, adds the products and a **bias**, and calls the
# sum its **score** $z$. Where the score is at least 0, the answer is 1, else 0. This step is the **Heaviside
# function**:[^Dey "Perceptron Algorithm"]
#
# $$z = w_1 x_1 + \dots + w_d x_d + b, \qquad \hat y = \mathrm{heaviside}(z).$$
#
# With two inputs you can see all of it. The points where $z = 0$ form a straight line, and the perceptron answers 1 on
# one side of it. The filled points have label 1, the hollow ones label 0. Drag the line by its ends until no mistake is
# left. You will find that many lines will do. The **margin** is the distance from the line to the point nearest to it:
# try to make it as wide as you can.

# %% tags=["hide-input"]
# Two groups of points, and a line to drag.
rng = np.random.default_rng(7)
clouds = dict(centers=[(1.0, 1.0), (3.0, 2.5)], spread=0.5, rng=rng)
x30, y30 = data.blobs(30, **clouds)
figures.separators.line_to_drag(x30, y30, start=(-0.3, 1.0, -1.2))

# %% [markdown]
# A perceptron looks for a line without a mistake, too, and it does so by a rule. (The figure keeps $w_1^2 + w_2^2 = 1$,
# so that the score of a point *is* its distance from the line, with a sign. If you double $w_1$, $w_2$ and $b$, the
# line stays where it is.)
#
# ## Five lines of history
#
# In 1958 the psychologist Frank Rosenblatt described the perceptron.[^Rosenblatt "The Perceptron: A Probabilistic Model
# for Information Storage and Organization in the Brain, 1958"] His machine, the Mark I, saw through 400 photocells, and
# its weights were knobs that small motors turned. Newspapers wrote of a machine that would walk, talk and know of its
# own existence. In 1969 Marvin Minsky and Seymour Papert proved what a single layer of such units can never
# do,[^Minsky and Papert "Perceptrons: An Introduction to Computational Geometry, 1969"] and interest went elsewhere for
# more than a decade. On this page you meet both halves of the story: the rule that learns, and the table that it cannot
# learn.

# %% [markdown]
# ## Learning by hand
#
# The bias can be treated as one more weight, on an input that is always 1. Then weights and inputs are two lists of
# equal length, and the score is one product:[^Dey "Perceptron Algorithm"]
#
# $$x = (x_1, \dots, x_d, 1), \quad w = (w_1, \dots, w_d, b), \qquad z = w \cdot x .$$
#
# As a first task take NAND, a truth table that is 0 only where both inputs are 1.[^Dey "Perceptron NAND Example"] In
# the code, `ops` is the course's library of formulas and `data` makes samples.

# %%
x, y = data.truth_table("nand")
print(ops.add_bias_input(x))  # columns: x1, x2, the bias input
print("labels", y)

# %% [markdown]
# The rule looks at one sample at a time. With the label $y$ and the answer $\hat y$,[^Dey "Perceptron Algorithm"]
#
# $$w \leftarrow w + (y - \hat y)\, \mathrm{lr}\; x .$$
#
# The **learning rate** $\mathrm{lr}$ scales the change; here it is 1. If the answer is correct, $y - \hat y = 0$ and
# nothing happens. Start with $w = (0, 0, 0)$. The first three samples have score 0, so the answer is 1, and so is the
# label. The fourth is the first mistake:
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
# $x \cdot x$ is positive. So a sample that should answer 1 gets a higher score, and one that should answer 0 gets a
# lower one. Here $x \cdot x = 3$, and the score falls from 0 to -3. About the other samples the formula says nothing. A
# correction may spoil them.
#
# ## The loop
#
# One pass over all samples is an **epoch**. When should the loop stop? After a whole epoch without a mistake, since
# from then on nothing would ever change.

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

w, epochs = train(x, y, lr=1.0, epochs=100)
print("weights", w, " epochs", epochs)

# %% [markdown]
# NAND is learned exactly, in six epochs. The library's version, in
# [`perceptron.py`](../course_lib/reference/perceptron.py), does the same and also remembers every step. Walk through
# all 24 samples that were shown. The perceptron answers 1 on the green side of the orange line. The ring marks the
# sample that is shown now; a purple cross beside it means a wrong answer, and then the dashed line is where the weights
# move next. Watch for the steps at which the line does not move.

# %% tags=["hide-input"]
# The run on NAND, step by step.
fit = ops.perceptron_fit(x, y)
frames = figures.perceptron_steps.training_frames(fit, x, y)
figures.stepper(frames, title="A perceptron learns NAND: one sample after another", static=7)

# %% [markdown]
# Why is the edge of the green side always straight? With two inputs the score is a plane above the square of inputs.
# The answer changes where this plane cuts height 0, and two planes meet in a straight line. That is all a perceptron
# can draw.

# %% tags=["hide-input"]
# The score as a plane.
figures.show(
    figures.perceptron.score_plane(x, y, fit.w),
    alt="The score is a tilted plane. It cuts height 0 in a straight line; "
    "the three NAND inputs of label 1 are on or above it, (1, 1) is below",
    caption="Left: the score above the four inputs. Right: the same from above. Green: score ≥ 0, "
    "so the answer is 1. Filled: label 1, hollow: label 0. The sample (1, 0) lies on the line.",
)

# %% [markdown]
# AND and OR are learned as well:

# %%
learned = {name: ops.perceptron_fit(*data.truth_table(name)) for name in ("nand", "and", "or")}
table(
    [(name, vector(run.w), run.epochs, run.converged) for name, run in learned.items()],
    ["table", "weights (w1, w2, b)", "epochs", "learned"],
)

# %% [markdown]
# ## A 4 or a 9?
#
# Nothing in the rule says that there must be two inputs. Take 784 of them: the 28 × 28 pixels of a handwritten digit, 1
# where there is ink and 0 where there is paper. The label is 0 for a 4 and 1 for a 9. The course ships 400 of each for
# training, and 100 of each to try the result on. The data are new, the rule is the same:

# %%
pair = two_digits(4, 9)
reader = ops.perceptron_fit(pair.x, pair.y)
print("digits", pair.x.shape, " weights", reader.w.shape, " converged", reader.converged)
print("mistakes per epoch", reader.mistakes_per_epoch)

# %% [markdown]
# Twelve epochs, and all 800 digits are read correctly. What has it learned? There is one weight for each pixel, so the
# weights can be drawn as an image. Begin at the beginning, when it has made a single mistake.

# %% tags=["hide-input"]
# A prediction.
image = predict(
    "The weights start at zero. What do they look like as an image after the first mistake?",
    ["grey noise", "the very digit that was misread, as a negative", "the outline of a 9"],
    answer="the very digit that was misread, as a negative",
    reveals=2,
)
image

# %% tags=["hide-output", "hide-input"]
# The weights after some of the mistakes.
corrected = [step for step in reader.steps if step.w_after is not step.w_before]
moments = (1, 2, 20, len(corrected))
figures.show(
    figures.digit_pair.weight_images(
        [corrected[k - 1].w_after for k in moments],
        ["after 1 mistake", "after 2", "after 20", f"after all {moments[-1]}"],
    ),
    alt="Four images of the 784 weights. After the first mistake the image is the misread 4 itself, negative; after "
    "two a 9 lies on top of it; after all mistakes it is a patchwork that speaks for a 9 where only a 9 has ink",
    caption="The weights of the perceptron as images. Nearly white is 0; each image has its own scale.",
)
wrong_digit = pair.x[corrected[0].index]
image.confirm(
    "the very digit that was misread, as a negative"
    if np.array_equal(corrected[0].w_after[:-1], -wrong_digit)
    else "something else"
)

# %% [markdown]
# <details class="reveal"><summary>Weights are a sum of mistakes</summary>
#
# The rule adds a misread 9 to the weights and subtracts a misread 4. It starts at zero, where the answer is 1, so its
# first mistake is a 4, and the weights become that 4 with a minus in front. From then on images are laid one over the
# other. In the end each weight is a count: how many of the misread 9s had ink at this place, minus how many of the
# misread 4s had. Nobody told it about strokes. The bright orange patch at the top is where a 9 closes its loop and a 4
# stays open.
#
# </details>

# %% [markdown]
# Now the other 200 digits, which the perceptron has never seen:

# %% tags=["hide-input"]
# The digits that it misread.
answers = ops.perceptron_predict(pair.x_new[misread], reader.w)
figures.show(
    figures.plots.image_grid(
        pair.grey[misread], [f"as a {pair.names[k]}" for k in answers], cols=4, wrong=np.ones(len(misread), bool)
    ),
    alt=f"The {len(misread)} of 200 new digits that were misread: most are 4s, some with a tail as slanted as a 9's; "
    "one of the 9s is as round as an 8",
    caption=f"Misread, and as what: {len(misread)} of {len(pair.y_new)} new digits; of the {len(pair.y)} old ones, 0.",
)

# %% [markdown]
# Some you would misread yourself, and others you would not. No mistake on the old ones, several on the new ones: that
# is the gap which the rest of this page looks into. A hyperplane, a flat cut through 784 dimensions, separates the 800
# examples without a mistake. Is it the best one?
#
# ## Does it find the best line?
#
# Back to where we can see it. So far, NAND's samples came in the order 00, 01, 10, 11. There are 24 orders.

# %% tags=["hide-input"]
# A prediction.
which = predict(
    "A perceptron is trained on NAND in each of the 24 orders of its samples. What comes out?",
    ["one line, the same for all orders", "several lines, some of them wrong", "several lines, all of them right"],
    answer="several lines, all of them right",
    reveals=2,
)
which

# %% tags=["hide-output"]
ends, counts = np.unique([run.w for run in lines.all_orders(x, y)], axis=0, return_counts=True)
rights = [np.array_equal(ops.perceptron_predict(x, end), y) for end in ends]
table(
    [(vector(end), int(count), right) for end, count, right in zip(ends, counts, rights, strict=True)],
    ["weights at the end", "orders", "all four right"],
)

# %% [markdown]
# <details class="reveal"><summary>Two lines, mirror images of each other</summary>
#
# Half of the orders end at one line and half at the other, and both answer all four samples correctly. Which of them
# you get has nothing to do with NAND. It depends on who came first.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by the cell above.
how_many = "one line" if len(ends) == 1 else "several lines"
which.confirm(f"{how_many}, {'all' if all(rights) else 'some'} of them right")

# %% [markdown]
# How good are they? The distance of a sample from the line is $|z| / \sqrt{w_1^2 + w_2^2}$, and the smallest of these
# distances is the margin: every sample may move by less than this, in any direction, without changing its answer.
# Compare the learned line with $x_1 + x_2 = 1.5$, which runs right between the samples.

# %%
def margin(x, w):
    return np.min(np.abs(ops.add_bias_input(x) @ w)) / np.linalg.norm(w[:-1])

between = np.array([-1.0, -1.0, 1.5])
print(f"margin of the learned line:       {margin(x, fit.w):.3f}")
print(f"margin of the line x1 + x2 = 1.5: {margin(x, between):.3f}")

# %% [markdown]
# The learned line has margin 0. It runs straight through the sample (1, 0), which is right only because a score of 0
# counts as 1. The perceptron does not look for a good line. **It stops at the first one that makes no mistake.**
#
# With four points that is a curiosity. So take the 30 points that you separated by hand. Train in 50 random orders, and
# try each result on 10,000 fresh points from the same two clouds.

# %% tags=["hide-input"]
# A prediction.
gap = predict(
    "All 50 runs end without a mistake on the 30 points. How far apart are the best and the worst of them on fresh "
    "points?",
    ["not at all", "less than one percent", "several percent"],
    answer="several percent",
    reveals=3,
)
gap

# %% tags=["hide-output"]
x_fresh, y_fresh = data.blobs(10_000, **clouds)
runs = lines.random_orders(x30, y30, 50, rng)
right = [np.mean(ops.perceptron_predict(x_fresh, run.w) == y_fresh) for run in runs]
worst, best = runs[np.argmin(right)], runs[np.argmax(right)]
widest = lines.widest_line(x30, y30)
rows = [("worst of 50 orders", worst.w), ("best of 50 orders", best.w), ("widest margin", widest)]
table(
    [(name, margin(x30, w), np.mean(ops.perceptron_predict(x_fresh, w) == y_fresh)) for name, w in rows],
    ["line", "margin", "right on fresh points"],
    formats={"margin": ".3f", "right on fresh points": ".1%"},
)

# %% tags=["hide-output", "hide-input"]
# The worst and the best order.
figures.show(
    figures.perceptron.orders(x30, y30, worst.w, best.w, right),
    alt="Two very different lines, both without a mistake on 30 points; on fresh points "
    f"50 orders are right between {min(right):.0%} and {max(right):.0%} of the time",
    caption="Left: the worst and the best of 50 orders; both separate the 30 points. "
    "Right: how the 50 do on fresh points.",
)

# %% [markdown]
# <details class="reveal"><summary>Nine percentage points, decided by the order</summary>
#
# Every one of the 50 runs ended without a mistake on its 30 points, so their mistakes cannot tell them apart. The order
# of the samples decided, and it decided between one mistake in ten and one in 170. The best order happened upon a
# margin ten times as wide as that of the worst one, and nearly as wide as any line can have. A wide margin is a hint
# that fresh points will go well, but no guarantee.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by the cells above.
apart = max(right) - min(right)
gap.confirm("several percent" if apart > 0.02 else "less than one percent" if 0 < apart < 0.01 else "not at all")

# %% [markdown]
# How does such a line come about? The figure takes the run with the fewest mistakes. In the top row the ringed sample
# was answered wrongly, and the dashed line turns into the solid one. Below, the vector $(w_1, w_2)$, which stands at
# right angles to the line, jumps by that sample: added if the label is 1, subtracted if it is 0.

# %% tags=["hide-input"]
# The run with the fewest mistakes.
short = min(runs, key=lambda run: sum(run.mistakes_per_epoch))
jumps = sum(short.mistakes_per_epoch)
figures.show(
    figures.perceptron.jumps(short, x30, y30),
    alt=f"{jumps} columns: at each mistake the weight vector jumps by the wrong sample, "
    "and the line turns with it",
    caption=f"{jumps} mistakes in {len(short.steps)} samples shown. Dashed: before the mistake. Solid: after it. "
    "Broad, pale blue: the sample that was added or subtracted.",
)

# %% [markdown]
# Between mistakes nothing happens, however close a point is to the line. A rule that cares about closeness needs an
# error that shrinks smoothly as the score gets better, and a step has none. That is the road to lesson 03. One thing is
# sure all the same. Where some line separates the samples, this rule always ends: the **perceptron convergence
# theorem**.[^Novikoff "On Convergence Proofs for Perceptrons, 1962"] And where no line does?
#
# ## What no line can do: XOR
#
# XOR is 1 where exactly one of its two inputs is 1. Train on it for 100 epochs.

# %% tags=["hide-input"]
# A prediction.
xor_asked = predict(
    "How many mistakes does each of the last epochs make on the four samples of XOR?",
    ["none", "one", "two", "all four"],
    answer="all four",
    reveals=2,
)
xor_asked

# %% tags=["hide-output"]
x_xor, y_xor = data.truth_table("xor")
xor = ops.perceptron_fit(x_xor, y_xor, epochs=100)
print("labels", y_xor, " converged:", xor.converged)
print("mistakes per epoch", xor.mistakes_per_epoch[:6], "...", xor.mistakes_per_epoch[-3:])

# %% [markdown]
# <details class="reveal"><summary>Each sample is wrong whenever it is shown</summary>
#
# From epoch 3 on there are four mistakes in every epoch: each sample is wrong at the very moment at which it is shown.
# A coin would do better.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by the cell above.
xor_asked.confirm({(0,): "none", (1,): "one", (2,): "two", (4,): "all four"}[tuple(set(xor.mistakes_per_epoch[-50:]))])

# %% [markdown]
# No run can ever end, and the proof has four lines. Suppose some weights gave all four answers.[^Dey "XOR?"] Then
#
# | sample | label | so the score must satisfy |
# |---|---|---|
# | (0, 0) | 0 | $b < 0$ |
# | (0, 1) | 1 | $w_2 + b \ge 0$ |
# | (1, 0) | 1 | $w_1 + b \ge 0$ |
# | (1, 1) | 0 | $w_1 + w_2 + b < 0$ |
#
# Add the two middle rows: $w_1 + w_2 + 2b \ge 0$. Add the first and the last: $w_1 + w_2 + 2b < 0$. Both cannot hold.
# So there are no such weights, whatever the training rule.

# %% [markdown]
# What does training do instead? Look at the weights at the end of each epoch:

# %%
ends = xor.steps[3::4]  # step 3 and then every fourth one, the last of its epoch
table(
    [(k + 1, vector(ends[k].w_after), xor.mistakes_per_epoch[k]) for k in range(5)],
    ["epoch", "weights at its end", "mistakes"],
)

# %% [markdown]
# From epoch 2 on, the weights are the same at the end of every epoch. That looks like convergence, and it is the
# opposite: four mistakes, four changes that add up to zero. The figure shows one turn of this circle. Each panel has
# the weights before a sample, and the sample that they get wrong.

# %% tags=["hide-input"]
# One epoch on XOR.
figures.show(
    figures.perceptron.cycle(xor.steps[-4:], x_xor, y_xor),
    alt="Four weight vectors in turn, each wrong on the sample shown; "
    "after the fourth the weights are the first again",
    caption="One epoch on XOR, left to right: every sample (ringed) is answered wrongly, "
    "and after the last panel comes the first again. Green: answer 1.",
)

# %% [markdown]
# This also proves that waiting is useless. With a fixed order, the weights at the end of an epoch decide everything
# that follows. If they come back once, then all that followed comes back too, for ever. The number of epochs in between
# is the length of the **cycle**. `lines.cycle_of` looks for the first weights that return.

# %%
entered, length = lines.cycle_of(xor)
print(f"XOR: cycle entered in epoch {entered}, length {length} epoch = {4 * length} samples")
lengths = {lines.cycle_of(run)[1] for run in lines.all_orders(x_xor, y_xor)}
print("lengths that occur among the 24 orders:", lengths)

# %% [markdown]
# It is the shortest cycle there can be, in all 24 orders.
#
# ## What goes wrong: the forgotten bias input
#
# Leave out the column of ones, and every score is $w_1 x_1 + w_2 x_2$. NAND, which took six epochs, is trained again
# for 100. What do you expect?

# %%
no_bias = ops.perceptron_fit(x, y, bias=False, epochs=100)
print("converged:", no_bias.converged, " last mistakes", no_bias.mistakes_per_epoch[-3:])
print("answers without bias", ops.perceptron_predict(x, no_bias.w))
print("answers with bias   ", ops.perceptron_predict(x, fit.w), " labels", y)

# %% [markdown]
# Nothing raises an error, and it never ends. (There are three mistakes in an epoch, but two wrong answers at the end:
# the weights change during an epoch, and the answers are those of the last weights alone.)
#
# Without a bias the score of (0, 0) is 0 for any weights, so every line passes through the origin. NAND then asks for
# $w_2 \ge 0$, $w_1 \ge 0$ and $w_1 + w_2 < 0$: a contradiction again.

# %% tags=["hide-input"]
# With a bias and without.
figures.show(
    figures.perceptron.lines_seen([fit, no_bias], x, y, ["with bias", "bias forgotten"]),
    alt="With a bias the lines move freely and end right; without it all pass through "
    "the origin and the last one gets two samples wrong",
    caption="The last line (solid) and every line before it (dashed; the paler, the earlier). "
    "Ring and cross: wrong in the end. Without a bias all lines are pinned to (0, 0).",
)

# %% [markdown]
# If a training run never ends, you now have two suspects. Either the task is beyond any such model, as XOR is. Or a
# slip of yours, here a missing input column, made the model smaller than you think. From outside they look the same.
#
# ## When the answer is a number
#
# Take away the step, and the same weighted sum predicts a number: **linear regression**, $\hat y = w x + b$.[^Dey
# "Linear Regression"] Learning now means choosing $w$ and $b$ so that the squares of the errors $\hat y - y$ add up to
# as little as possible. Where that sum is smallest, its derivatives with respect to $w$ and $b$ are both 0, and solving
# these two equations gives a formula. By hand, for the points $(0, 0)$, $(1, 2)$, $(2, 1)$, whose means are $\bar x =
# \bar y = 1$:
#
# $$w = \frac{\sum (x - \bar x)(y - \bar y)}{\sum (x - \bar x)^2} = \frac{1 + 0 + 0}{1 + 0 + 1} = 0.5,
# \qquad b = \bar y - w \bar x = 0.5 .$$
#
# With this formula the library fits a line to 30 noisy points, scattered around $y = 2x - 1$. With several inputs the
# line becomes a plane, $\hat y = X w + b$ with $X\,(n, d)$ and $w\,(d,)$, and the same function fits it.

# %%
rng = np.random.default_rng(1)
x_line, y_line = data.line(30, slope=2, intercept=-1, noise=0.4, rng=rng)
x_plane, y_plane = data.plane(60, w=(2.0, -1.0, 0.5), b=0.3, noise=0.1, rng=rng)
w_line, b_line = ops.linear_regression_fit(x_line, y_line)
w_plane, b_plane = ops.linear_regression_fit(x_plane, y_plane)
print(f"line:  w = {w_line[0]:.2f}, b = {b_line:.2f}")
print("plane: w =", w_plane.round(2), f" b = {b_plane:.2f}")

# %% tags=["hide-input"]
# The fitted line.
figures.show(
    figures.perceptron.fitted_line(x_line, y_line, w_line, b_line),
    alt=f"30 noisy points; the fitted line, slope {w_line[0]:.2f} and intercept {b_line:.2f}, "
    "passes through their middle",
    caption="Linear regression: the line with the least sum of squared errors (purple strokes).",
)

# %% [markdown]
# The result is close to 2 and -1, and not equal to them: thirty noisy examples do not pin a line down any better.
# Notice the difference from the perceptron. Here "best" is part of the definition, so there is one line, whatever the
# order of the points. There is another way to find it, **descent**: start anywhere, and move $w$ and $b$ many times in
# small steps that make the error smaller. For two weights the formula is quicker. For a network nobody can solve the
# equations, and descent is all that is left.[^Dey "Minimizing Loss Function"] Lesson 03 is about nothing else.

# %%
w_steps, b_steps, history = ops.linear_regression_descend(x_line, y_line, lr=0.5, steps=200)
print(f"after 200 steps: w = {w_steps[0]:.2f}, b = {b_steps:.2f}")

# %% [markdown]
# ## Optional: how near does the perceptron come to XOR?
#
# <details><summary>Try all lines of a grid</summary>
#
# No line gets all four samples right. Does any get three? The library tries 729 lines, with nine values for each of
# $w_1$, $w_2$ and $b$. The best of them is right on three samples. The perceptron, in 400 steps, never held weights
# better than two of four, which is what a coin gives on average. So where no perfect line exists, it does not find the
# best one either. Exercise 01.4 mends that.
#
# </details>

# %% tags=["hide-input"]
# Lines of a grid, and the lines that the perceptron held.
on_grid = lines.right_of_grid(x_xor, y_xor, np.linspace(-2, 2, 9))
held = max(np.sum(ops.perceptron_predict(x_xor, step.w_after) == y_xor) for step in xor.steps)
table(
    [(f"the best of {len(on_grid)} lines", int(on_grid.max())),
     (f"the best of {len(xor.steps)} that the perceptron held", int(held))],
    ["line", "right, of 4"],
)  # fmt: skip

# %% [markdown]
# ## Optional: three inputs, parity
#
# <details><summary>Why one more dimension does not help</summary>
#
# The table of three inputs at the top of this page is 1 for an odd number of ones, the **parity** function.[^Hwu "Many
# Problems Have Systematic Solutions"] Can a plane in three dimensions do what a line could not? Look at the four rows
# whose third input is 0. They are the table of XOR, and $w_3$ plays no part in them. So the contradiction above forbids
# this table too. Its cycles can be longer, three epochs for one of the orders below.
#
# </details>

# %% tags=["hide-input"]
# Two orders on parity.
orders = [("by rows", np.arange(8)), ("shuffled", np.random.default_rng(6).permutation(8))]
parity = [(name, ops.perceptron_fit(x_par, y_par, order=order)) for name, order in orders]
table(
    [(name, run.converged, lines.cycle_of(run)[1], str(run.mistakes_per_epoch[-3:])) for name, run in parity],
    ["order", "learned", "epochs of the cycle", "last mistakes"],
)

# %% [markdown]
# ## Try it
#
# - Train NAND with `lr=0.5`, and then with `lr=8.0`. Compare weights, epochs and line with those above.
#   <details><summary>Answer</summary>
#
#   The weights are half as large and eight times as large, the epochs are six each time, and the line is the same. From
#   a start at zero, the learning rate only scales the weights.
#
#   </details>
# - Start NAND from other weights: `ops.perceptron_fit(x, y, w=np.array([5.0, -3.0, 0.5]))`. Is it one of the two lines?
#   <details><summary>Answer</summary>
#
#   No: it ends at (-2, -1, 2.5), with a margin of 0.22. The start has a say, just as the order has. All that is sure is
#   that some line without a mistake comes out.
#
#   </details>
# - Take `two_digits(3, 8)` in place of the 4s and 9s, and then `two_digits(0, 1)`. How many of the 200 new digits are
#   misread?
#   <details><summary>Answer</summary>
#
#   17 of the 3s and 8s, after 16 epochs: that pair is harder. Only 2 of the 0s and 1s, after 3 epochs: a 0 has hardly
#   any ink in its middle, and a 1 goes right through it.
#
#   </details>

# %% [markdown]
# <details><summary>For those who know the lectures</summary>
#
# - Prof. Dey's slide "Perceptron Algorithm" adds the 1 to $x$ and $b$ to $w$, and then says that $w \cdot x$ equals
#   $\sum_{j=1}^{n} w_j x_j$, with $n$ the number of inputs. That sum stops one short: it leaves out the last product,
#   $b \cdot 1$. For the sample (1, 0) of NAND the difference decides: the whole product is 0, so the answer is 1; the
#   sum to $n$ is -2, so it would be 0.
# - The slide names the Heaviside function and does not say what it is at 0. That it is 1 there is our convention.
# - Its loop says "while convergence is not reached" and no more. On XOR it never stops, so a program needs a limit.
# - Prof. Hwu's perceptron uses the sign instead of the Heaviside step: the same line, with the answers called -1 and
#   +1. Only at $z = 0$ do they part, since the sign of 0 is 0, which is neither answer.
#
# </details>

# %% [markdown]
# ## Check yourself
#
# **1.** The sample (1, 0) has label 1 and, with the present weights, the score -2.5. The learning rate is 1. It is
# shown twice in a row. What is its score after each of the two, and what is the answer then?
#
# <details><summary>Answer</summary>
#
# With the bias input, $x = (1, 0, 1)$ and $x \cdot x = 2$. The answer to -2.5 is 0, which is wrong, so the score rises
# by 2 to -0.5. That is still wrong, so it rises to 1.5, and now the answer is 1. One correction moves the score in the
# right direction; it need not be enough.
#
# </details>

# %% [markdown]
# **2.** A friend stops training "when the weights at the end of an epoch equal those at the end of the epoch before".
# What happens on NAND, and what on XOR? What should the test be?
#
# <details><summary>Answer</summary>
#
# On NAND it stops at the right moment: an epoch without a mistake leaves the weights as they were. On XOR it stops as
# well, and reports success where there is none, because the changes of an epoch cancel. Count the mistakes
# within the epoch instead, and limit the number of epochs.
#
# </details>

# %% [markdown]
# **3.** Two runs on the same data both end with no mistakes, at different lines. Which line is better? Can the
# perceptron's rule improve the worse one if you let it go on?
#
# <details><summary>Answer</summary>
#
# The training samples cannot tell you: both lines are right on all of them. Fresh samples can, or the margin gives a
# hint. Going on does nothing. Without a mistake, $y - \hat y = 0$ for every sample, so the weights never change again.
#
# </details>
