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
# # 06 · Training an MLP: what an accuracy does and does not tell
#
# A network has learned from 3,200 handwritten digits, and now it names every one of them correctly. Its **training
# accuracy**, the share of right answers on the examples that it learned from, is 100 %. To read postcodes or cheques
# with it, you need another number: how many *new* digits will it get right? It is tempting to believe that the
# first number answers the second question. Below, the network reads a digit that it has not seen before.

# %% tags=["hide-input", "nbval-ignore-output"]
import numpy as np

from course_lib import checks, data, figures, gpu, nn
from course_lib import cuda as cuda_ops
from course_lib import reference as ops
from course_lib.lesson import judged_by_others, predict, pushes, steps_until, table

digits = data.load_digits(seed=0)
x_fit, y_fit = digits.x_train[:3200], digits.y_train[:3200]
x_val, y_val = digits.x_train[3200:], digits.y_train[3200:]
rng = np.random.default_rng(0)
first = nn.models.mlp((784, 128, 10), rng=rng)
nn.train(first, (x_fit, y_fit), epochs=20, batch_size=64, lr=0.1, momentum=0.9, rng=rng)
surest = nn.worst_mistakes(first, x_val, y_val, 1)
row = surest.index[0]
stored_digits = round(nn.evaluate(first, x_fit, y_fit).accuracy * len(y_fit))
figures.dense_network.drawing(
    first, image=x_val[row].reshape(28, 28), label=surest.label[0],
    probabilities=ops.softmax(first.forward(x_val[[row]]))[0],
    caption=f"{stored_digits:,} of {len(y_fit):,} training digits right, and this one wrong: its label is "
    f"{surest.label[0]}, and it is read as {surest.predicted[0]}. The bars are the network's probabilities.",
)  # fmt: skip

# %% [markdown]
# Before you read on, write down two numbers. Of the next 1,000 digits, how many will such a network get right? And if
# the labels had been shuffled before the training, so that nothing connects them with the images, what would the
# training accuracy be? Keep the paper.

# %% [markdown]
# ## You will be able to
#
# - turn scores into probabilities, derive the gradient of softmax and of the cross-entropy behind it, and avoid
#   overflow;
# - train a network with mini-batches and momentum, and say what momentum does to a step;
# - split data into three parts, and say what each of them may decide;
# - read learning curves, a confusion matrix and single mistakes, and say what they show and what they do not.

# %% [markdown]
# <details><summary>About this page</summary>
#
# It follows ECE 508 lecture 10 by Prof. Hwu and colleagues at Illinois (softmax, labels), Prof. Owens' EEC 289Q lecture
# 11 at UC Davis (batches, epochs) and Prof. Dey's lecture 56 at IIT Kharagpur (the network, the workflow). Momentum is
# due to Polyak (1964), and the experiment with shuffled labels to Zhang and colleagues ("Understanding deep learning
# requires rethinking generalization", 2017). The other experiments are the course's own. You need lessons 03 and 04.
# Reading and trying takes about 90 minutes, the two optional parts 10 more.
#
# </details>

# %% [markdown]
# ## The network, and who chooses what
#
# In the drawing, the 784 grey values of an image go in on the left. 128 hidden neurons form weighted sums of them and
# keep what is positive, and ten outputs form weighted sums of that. Such a stack of dense layers with activations
# between them is a **multilayer perceptron**, or MLP. Its 101,770 weights and biases are its **parameters**: training
# finds them. How many layers there are, how many neurons each of them has, and how long a step is, a person has chosen
# before. Those are **hyperparameters**,[^Dey "Neural Networks"] and to choose them honestly takes data of its own.
#
# ## Three parts of the data
#
# The course ships 5,000 images of MNIST: real handwriting, written by employees of the US Census Bureau and by high
# school students, and collected by NIST, the American institute of standards.[^Hwu "Inputs and Labels May be Biased"]
# Each image has $28 \times 28$ grey values from 0 (paper) to 1 (ink), stored as a row of 784. `load_digits` sets 1,000
# of them aside.

# %%
digits = data.load_digits(seed=0)
print(digits, digits.x_train.shape, digits.x_train.dtype)

# %% tags=["hide-input"]
# Ten of them.
figures.show(
    figures.plots.image_grid(digits.images("train")[:10], digits.y_train[:10], cols=5),
    alt="Ten handwritten digits, each with its label; styles and slants differ, and all sit in the middle.",
    caption="The first ten training images with their labels.",
)

# %% [markdown]
# Training and testing are two steps, on two sets of data.[^Dey "Supervised Learning Workflow"] But you choose as well:
# the rate, the number of neurons, the epoch to stop at. To choose by a set of data is to fit to it, if only by hand. So
# the hyperparameters need a third part:
#
# | part | decides | its accuracy tells |
# |---|---|---|
# | **training** set, 3,200 | the weights | how well the examples are stored |
# | **validation** set, 800 | your choices | which choice is better |
# | **test** set, 1,000 | nothing | what to expect on new digits |
#
# The rows are in random order already, so slices do.

# %%
x_fit, y_fit = digits.x_train[:3200], digits.y_train[:3200]
x_val, y_val = digits.x_train[3200:], digits.y_train[3200:]
print(x_fit.shape, x_val.shape, digits.x_test.shape)

# %% [markdown]
# This page has two halves. The first builds the machine: probabilities, a loss, and the steps that make it small. The
# second trains it and returns to the title: what do the three accuracies tell?
#
# ## From scores to probabilities, by hand
#
# First, what no accuracy can tell: which way to change the weights. An accuracy counts right answers, and a tiny change
# of a weight hardly ever changes a count. Here is an untrained network, before and after one of its biases has grown by
# 0.0001:

# %%
untrained = nn.models.mlp((784, 128, 10), rng=np.random.default_rng(0))
before = nn.evaluate(untrained, x_fit, y_fit)
untrained.parameters()["2.b"][2] += 1e-4
after = nn.evaluate(untrained, x_fit, y_fit)
print("the accuracy has changed:", after.accuracy != before.accuracy)
print("the loss has changed:    ", after.loss != before.loss)

# %% [markdown]
# A count has the slope 0 nearly everywhere, so there is nothing to descend on. Training needs a number that changes
# with every small step, and probabilities give us one. The network ends in ten numbers of any size, one for each class,
# called **scores** or **logits**. Raise $e$ to each score, and divide by the sum. That is **softmax**.[^Hwu "Use
# Softmax to Produce Probabilities"] For three classes with the scores 2, 1 and 0:

# %%
z = np.array([2.0, 1.0, 0.0])
powers = np.exp(z)
k = powers / powers.sum()
print(powers.round(3), "sum", powers.sum().round(3), "->", k.round(3))

# %% [markdown]
# All $k$ are positive, and they add up to 1. Only the differences of the scores matter: of two classes, the one whose
# score is larger by 1 is $e \approx 2.7$ times as probable. For a batch $z\,(B, C)$ of $B$ images and $C$ classes,
# softmax goes row by row, and $k$ is $(B, C)$ as well:
#
# $$k_{bi} = \frac{e^{z_{bi}}}{\sum_j e^{z_{bj}}}$$
#
# In the library these are two lines. `axis=-1` means "along the last axis", so that each row is treated by itself, and
# `keepdims=True` keeps the sums as a column:
#
# ```python
# e = np.exp(z - z.max(axis=-1, keepdims=True))
# return e / e.sum(axis=-1, keepdims=True)
# ```
#
# One thing is not in the formula: the largest score of each row is subtracted first. You will soon see what happens
# without it.

# %% [markdown]
# ## The derivative of softmax
#
# Lesson 04 checked the backward pass of softmax and promised its derivation. Here it is. Every score is in the sum
# below the line, so every probability depends on every score. With $S = \sum_j e^{z_j}$ and the quotient rule there
# are two cases. Either the score is the probability's own, and it stands above the line too, or it is another's:
#
# $$\begin{gathered} \frac{\partial k_i}{\partial z_i} = \frac{e^{z_i} S - e^{z_i} e^{z_i}}{S^2} = k_i\,(1 - k_i) \\
# \frac{\partial k_i}{\partial z_m} = \frac{0 - e^{z_i} e^{z_m}}{S^2} = -k_i\,k_m \end{gathered}$$
#
# All of them together are a $(C, C)$ matrix, the **Jacobian**. The **Kronecker delta** $\delta_{im}$, which is 1 for
# $i = m$ and 0 otherwise, writes both cases as one:[^Hwu "Softmax Derivatives Needed to Train"] $\partial k_i/\partial
# z_m = k_i\,(\delta_{im} - k_m)$. In our example $0.665 \cdot 0.335 = 0.223$ stands at the top left, and
# $-0.665 \cdot 0.245 = -0.163$ beside it. (`np.eye(3)` is $\delta$ as a matrix, and `i=i` makes each function
# remember its own row.)

# %%
jacobian = k[:, None] * (np.eye(3) - k[None, :])
print(jacobian.round(3))
measured = [checks.numerical_gradient(lambda z, i=i: ops.softmax(z)[i], z) for i in range(3)]
print("as measured:", np.allclose(jacobian, measured, rtol=1e-6))

# %% [markdown]
# Each row adds up to 0: raise all scores alike, and no probability changes. So does each column: what one class gains,
# the others lose. Now the backward pass. It receives $dk_i = \partial E/\partial k_i$, and $z_m$ reaches the error $E$
# by way of *all* the $k_i$. Sum the contributions over all $i$:
#
# $$dz_m = \sum_i dk_i\;k_i\,(\delta_{im} - k_m) = k_m \Big(dk_m - \sum_i dk_i\,k_i\Big)$$
#
# That is the line of lesson 04: compare each slope with the mean of all slopes, weighted by $k$.
#
# ## The cross-entropy has a short gradient
#
# The **cross-entropy** of lesson 03 looks only at the probability of the right class $T$: $E = -\ln k_T$. It is 0 for
# certainty, and grows without limit as $k_T$ goes to 0. Say that class 1 is right. Our network gave it 0.2447, so $dk =
# (0, -1/0.2447, 0) = (0, -4.09, 0)$. What is left of this after softmax's backward pass?

# %% tags=["hide-input"]
# A prediction.
short = predict(
    "The probabilities are 0.665, 0.245 and 0.090, and class 1 is right. What is the slope of the cross-entropy with "
    "respect to the three scores?",
    ["0, −4.09, 0", "0.665, −0.755, 0.090", "0.665, 0.245, 0.090", "−0.335, 0.245, 0.090"],
    answer="0.665, −0.755, 0.090",
    reveals=2,
)
short

# %% tags=["hide-output"]
dk = np.array([0, -1 / k[1], 0])
dz = ops.softmax_backward(dk, k)
print("k ", k.round(3), " dz", dz.round(3))

# %% [markdown]
# <details class="reveal"><summary>The probabilities minus the right answer</summary>
#
# In $\sum_i dk_i\,k_i$ only the right class has a $dk$, so the sum is $-\frac{1}{k_T} k_T = -1$. For a wrong class that
# leaves $dz_m = k_m (0 + 1) = k_m$. For the right one, $dz_T = k_T(-\frac{1}{k_T} + 1) = k_T - 1$. Write the right
# answer as a **one-hot** vector $y$, 1 at the right class and 0 elsewhere, and both are
#
# $$\frac{\partial E}{\partial z} = k - y$$
#
# It hardly gets shorter than that. A step against this gradient raises the score of the right class in proportion to
# the probability that it still lacks, and lowers each wrong class in proportion to the probability that it wrongly has.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was computed.
short.confirm(", ".join(f"{v:.3f}".replace("-", "−") for v in dz))

# %% [markdown]
# For a batch, the loss is the mean over the images, so the gradient is $dz = (k - y)/B$, of the shape $(B, C)$. The
# library has softmax and this loss as one operation. It agrees with the formula, and passes lesson 04's check:

# %%
scores = np.random.default_rng(0).normal(size=(4, 10))
labels = np.array([3, 0, 9, 9])
forward, backward = ops.softmax_cross_entropy_forward, ops.softmax_cross_entropy_backward
_, cache = forward(scores, labels)
by_hand = (ops.softmax(scores) - np.eye(10)[labels]) / 4
print("equal to (k - y) / B:", np.allclose(backward(cache), by_hand))
checks.check_op_gradients(forward, backward, [scores, labels], rng=np.random.default_rng(1))

# %% [markdown]
# ## What goes wrong: softmax as the formula says it
#
# This is the formula without the subtraction. (`np.errstate` silences NumPy's warnings.) From which whole score on is
# $e^z$ too large for a float32, and for a float64?

# %%
def softmax_unshifted(z):
    with np.errstate(over="ignore", invalid="ignore"):
        powers = np.exp(z)
        return powers / powers.sum(axis=-1, keepdims=True)

for kind in (np.float32, np.float64):
    with np.errstate(over="ignore"):
        overflow = np.isinf(np.exp(np.arange(1000, dtype=kind)))
    limit = np.log(float(np.finfo(kind).max))
    print(f"{kind.__name__}: e^{overflow.argmax()} is the first inf; the limit is {limit:.2f}")

# %% [markdown]
# In float32, the power of a score of 89 is inf, and inf divided by inf is **nan**, "not a number". Now
# two scores of 88.5, whose powers both still fit:

# %% tags=["hide-input"]
# A prediction.
silent = predict(
    "What does `softmax_unshifted` make of the scores 88.5, 88.5 and 0, in float32?",
    ["0.5, 0.5, 0", "nan, nan, nan", "0, 0, 0", "inf, inf, 0"],
    answer="0, 0, 0",
    reveals=2,
)
silent

# %% tags=["hide-output"]
for z in ([88, 0, 0], [89, 0, 0], [88.5, 88.5, 0]):
    k_bad = softmax_unshifted(np.array(z, dtype=np.float32))
    print(f"scores {z}: k = {k_bad.round(3)}, sum of k = {k_bad.sum()}")

# %% [markdown]
# <details class="reveal"><summary>The silent one</summary>
#
# Each power fits, but their sum is inf, and a number divided by inf is 0. The "probabilities" add up to 0, and no nan
# gives it away. Subtract the largest score $M$ first, and the last two rows are cured: the factor $e^{-M}$ cancels in
# the fraction, the largest power is $e^0 = 1$, and the sum lies between 1 and $C$.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was computed.
silent.confirm(", ".join(f"{v:g}" for v in k_bad))

# %% [markdown]
# Here are the library's answers. Their loss never takes the logarithm of a probability that has become 0. With
# $-\ln k_T = \ln \sum_j e^{z_j - M} - (z_T - M)$ only the sum is under the logarithm, and it is 1 at least:

# %%
for scale in (88.5, 1e4):
    z = np.array([[scale, scale, 0.0]], dtype=np.float32)
    loss, _ = ops.softmax_cross_entropy_forward(z, np.array([2]))
    print(f"scores ({scale:g}, {scale:g}, 0): k = {ops.softmax(z)[0].round(3)}, loss for label 2: {loss:.2f}")

# %% [markdown]
# Scores of 89 are nothing exotic. Forget to divide the pixels by 255, and an *untrained* network has them in its first
# batch. The library's softmax survives that. But it does not make such scores good. To give every class 10 % costs
# $\ln 10$, which is 2.3. Compare the loss:

# %% tags=["nbval-ignore-output"]
untrained = nn.models.mlp((784, 128, 10), rng=np.random.default_rng(0))
raw = untrained.forward(255 * x_fit[:64])
broken = np.isnan(softmax_unshifted(raw)).any(axis=1).sum()
start_loss, _ = ops.softmax_cross_entropy_forward(raw, y_fit[:64])
print(f"{broken} of the first 64 rows are nan; the library's loss is {start_loss:.0f}")

# %% [markdown]
# ## Which loss, then?
#
# Is the cross-entropy chosen because its gradient is short? There are other losses for probabilities: $1 - k_T$, the
# probability that went to wrong classes, and $\sum_j k_j (j - T)^2$, the expected squared distance from the right
# digit.[^Hwu "Choosing an Error Function"] All three are 0, their smallest value, when the right answer is certain.
# What differs is how hard they push, and where.
#
# Take a network that is **sure and wrong**: the scores are $(s, 0, 0)$, and class 2 is right. At $s = 0$ it has no
# opinion. At $s = 12$ it gives class 0 more than 99.99 %. The length of $\partial E/\partial z$ says how hard a loss
# pushes.

# %% tags=["hide-input"]
# A prediction.
harder = predict(
    "Which losses push harder at `s = 12`, where the network is sure and wrong, than at `s = 0`?",
    ["all three", "the cross-entropy and the squared distance", "only the cross-entropy", "none of them"],
    answer="only the cross-entropy",
    reveals=3,
)
harder

# %% tags=["hide-output"]
s = np.linspace(0, 12, 49)
push = pushes(s)
table([(name, lengths[0], lengths[-1]) for name, lengths in push.items()], ["loss", "push at s = 0", "push at s = 12"],
      formats={"push at s = 0": ".3f", "push at s = 12": ".6f"})

# %% tags=["hide-input", "hide-output"]
# The push of each loss, from no opinion to certainty.
with figures.style.context():
    _, ax = figures.style.new_figure(3.75, 3.6)
figures.show(
    figures.plots.curves(
        {name: (s, lengths) for name, lengths in push.items()}, log=True, xlabel="s: how sure of the wrong class",
        ylabel="length of the gradient", title="Sure and wrong: who still pushes?", ax=ax,
    ),
    alt="At s = 12 the cross-entropy's gradient still has length 1.41; the gradients of the other two losses have "
    "fallen below 0.001.",
    caption="Only the cross-entropy pushes hardest where the network is most wrong.",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>Where softmax is sure, its slopes are nearly 0</summary>
#
# All three gradients go through the Jacobian. Where softmax is sure, all its entries $k_i (\delta_{im} - k_m)$ are
# nearly 0, so the other two losses push least where the mistake is worst. Only the cross-entropy's $1/k_T$ is large
# just where the Jacobian's $k_T$ is small, and makes up for it.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was computed.
grown = [name for name, lengths in push.items() if lengths[-1] > lengths[0]]
harder.confirm("only the cross-entropy" if grown == ["cross-entropy"] else str(grown))

# %% [markdown]
# Does that matter for real digits? We train the same network from the same weights with the cross-entropy and with the
# expected squared distance, for ten epochs on the training set, and look at the validation set. The squared distances
# go up to 81, so perhaps a rate that suits the cross-entropy is too large for them. We therefore try three rates.

# %% tags=["hide-input"]
# A prediction.
stuck = predict(
    "The network learns with the expected squared distance, at a rate of 0.1. Which digits does it give as answers "
    "afterwards?",
    ["all ten, as after learning with the cross-entropy", "only a few, in the middle", "only a few, at the ends",
     "only one of each pair that looks alike"],
    answer="only a few, in the middle",
    reveals=2,
)
stuck

# %% tags=["hide-output", "hide-input", "nbval-ignore-output"]
# Two losses, three rates, plain descent; everything else is the same.
trials = []
for lr in (0.1, 0.01, 0.001):
    for loss, last in [("softmax_cross_entropy", []), ("expected_squared_distance", [nn.Softmax()])]:
        rng = np.random.default_rng(0)
        pupil = nn.Sequential(*nn.models.mlp((784, 128, 10), rng=rng), *last)  # this loss takes probabilities
        nn.train(pupil, (x_fit, y_fit), epochs=10, batch_size=64, lr=lr, momentum=0.0, rng=rng, loss=loss)
        output = pupil.forward(x_val)
        answers, highest = output.argmax(axis=1), (output if last else ops.softmax(output)).max(axis=1)
        trials.append((lr, loss.removeprefix("softmax_").replace("_", " "), nn.accuracy(answers, y_val),
                       "all ten" if len(set(answers)) == 10 else ", ".join(map(str, np.unique(answers))),
                       highest.mean()))  # fmt: skip
table(trials, ["rate", "loss", "right", "digits it answers", "how sure"],
      formats={"rate": "g", "right": ".0%", "how sure": ".0%"}, align="rlrlr",
      caption="Ten epochs each, on the 800 validation digits. How sure: the mean of the highest probability.")

# %% [markdown]
# <details class="reveal"><summary>A loss must show the way from where you are</summary>
#
# Within each rate everything but the loss is the same, so the loss makes the difference. (These are three rates and ten
# epochs. Nothing here says that no other training can succeed with it.) The squared distance rewards the middle. As
# long as the network knows nothing, the answer 4 or 5 costs 8.5 on average, 3 or 6 costs 10.5, and 0 or 9 costs 28.5.
# Once it can tell small digits from large ones, two answers cost less than one: it says 3 to most of the small ones,
# and 5 to the rest.
#
# And there it stays, although it knows more than it says. To the training digits that it calls 3, the answer 2 would
# cost less, and to those that it calls 5, the answer 6. One reason is the Jacobian: the surer softmax becomes, the
# smaller are its entries, and the less is left to push it on. A loss with its minimum in the right place can still have
# little slope on the way there.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
crossed, squared = trials[::2], trials[1::2]
assert min(t[2] for t in crossed[:2]) > 0.8
assert all(c[2] > s[2] + 0.1 and s[2] < 0.5 and s[4] > 0.7 for c, s in zip(crossed, squared, strict=True))
few = all(len(t[3].split(", ")) <= 3 and set(t[3].split(", ")) <= set("3456") for t in squared)
stuck.confirm(stuck.answer if few else str(squared))

# %% [markdown]
# ## Mini-batches and momentum
#
# You know the mini-batch, a few samples whose mean gradient makes one step, and the epoch, one pass over all samples
# (lesson 03).[^Owens "Stochastic gradient descent"] New is **momentum**. It keeps a **velocity** $v$ for each weight:
#
# $$v \leftarrow \mu v - \mathrm{lr} \cdot \frac{\partial E}{\partial w} \qquad\quad w \leftarrow w + v$$
#
# With $\mu = 0$ this is plain descent. With $\mu = 0.9$, nine tenths of the last step are added to the new one. How
# long does a step get if the gradient stays at 1, with $\mathrm{lr} = 0.1$?

# %%
v, steps = 0.0, []
for _ in range(50):
    v = 0.9 * v - 0.1 * 1.0
    steps.append(v)
print(np.round(steps[:4], 3), "...", np.round(steps[-1], 3))

# %% [markdown]
# It grows towards $\mathrm{lr}/(1 - \mu) = 1$, which is ten times the plain step. So why not take ten times the
# learning rate, and forget about velocities? Because in some directions the gradient keeps changing its sign.
#
# Take a loss over two weights, a valley a hundred times as steep across as along. A plain step that is long enough to
# get ahead along the valley is far too long across it, and jumps from one slope to the other. With momentum, steps that
# alternate cancel in the velocity, and steps that agree add up.
#
# But a velocity does not stop at the bottom. Like a ball in a bowl, the walk runs through it, up the other side and
# back, and nothing but the factor $\mu$ calms it. From one start, at
# the rate 1.9, the loss stays below 0.001 after 157 steps without momentum, and after 69 with 0.9.

# %% tags=["hide-input"]
# A prediction.
more = predict(
    "With 0.98, steps that agree grow up to 50-fold instead of tenfold. How many steps does that take?",
    ["about 15", "about 69 again", "about 157, as without momentum", "more than 300"],
    answer="more than 300",
    reveals=2,
)
more

# %% tags=["hide-output"]
steps_to_bottom, momenta = figures.valleys.steps_to_bottom, (0, 0.5, 0.8, 0.9, 0.98)
needed = {mu: steps_to_bottom((-9, 1.5), lr=1.9, momentum=mu) for mu in momenta}
table(list(needed.items()), ["momentum", "steps to the bottom"], formats={"momentum": "g"})

# %% [markdown]
# <details class="reveal"><summary>It runs through the bottom, and back</summary>
#
# What counts with 0.9 and 0.98 is how fast the swinging dies away. While it swings, each step leaves about the share
# $\mu$ of the loss. It begins at 1.53, so it takes $\ln(1530)/(-\ln \mu)$ steps to 0.001: 70 with 0.9, 363 with 0.98.
# With 0.5 there is hardly any swinging, and the way along the valley is what takes long. In between, 0.8 is about
# right. The longer and narrower the valley, the more momentum pays, and 0.9 is a common first choice for networks.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was computed.
assert (needed[0], needed[0.8], needed[0.9]) == (157, 35, 69)
more.confirm(more.answer if needed[0.98] > 300 else str(needed[0.98]))

# %% [markdown]
# Here is the valley as a map. Raise the learning rate from 1.9 to 2.0, and to 3.5. Move the momentum to 0.98 and to
# 0.8. Drag the start, by mouse or with the arrow keys.

# %%
figures.momentum_valley(start=(-9, 1.5), lr=1.9, momentum=0.9)

# %% [markdown]
# At a rate of 2 the plain walk jumps to and fro for ever: each step across lands as high on the other side. Lesson 03
# found that limit, 2 divided by the curvature. Momentum moves it to $2(1 + \mu)$ divided by the curvature, here 3.8, so
# with momentum 0.9 even a rate of 3.5 gets there.

# %% [markdown]
# A network has 101,770 weights and biases instead of two. Can it, too, take a longer step with momentum than without?
# We let the digit network descend by the gradient of the same 1,000 digits at every step, so that there is no chance
# in it, and count the steps until its loss is 0.1, up to 200. In each row of the table all have the same long-term
# step, $\mathrm{lr}/(1-\mu)$. But momentum begins gently: its first step is a tenth of that, and it grows from there,
# as you saw above. So in the column "gentle" plain descent gets the same start, $1 - 0.9^k$ of the rate at step $k$.

# %% tags=["hide-input", "nbval-ignore-output"]
# The digit network, by the gradient of 1,000 digits: up to 200 steps of each kind.
long_term = (0.4, 0.8, 1.6, 2.0, 4.0)
kinds = {  # the rate in step 0, 1, 2, ... and the momentum
    "plain": (lambda step, length: length, 0), "gentle": (lambda step, length: length * (1 - 0.9 ** (step + 1)), 0),
    "0.9": (lambda step, length: 0.1 * length, 0.9),
}  # fmt: skip
needed_by, silent_in = {}, {}
for name, (speed, mu) in kinds.items():
    for length in long_term:
        walker = nn.models.mlp((784, 128, 10), rng=np.random.default_rng(0))
        found = steps_until(walker, x_fit[:1000], y_fit[:1000], lr=lambda step, s=speed, n=length: s(step, n),
                            momentum=mu, below=0.1, most=200)  # fmt: skip
        p = walker.parameters()
        needed_by[name, length] = found.steps
        silent_in[name, length] = ((x_fit[:1000] @ p["0.w"] + p["0.b"]).max(axis=0) <= 0).sum()  # for all 1,000 digits
assert [needed_by["plain", n] is None for n in long_term] == [False, False, True, True, True]  # as the text says
assert needed_by["gentle", 2.0] is needed_by["gentle", 4.0] is None
assert all(needed_by["0.9", n] for n in long_term)
assert min(silent_in["plain", n] for n in long_term[2:]) > 64 > 32 > max(silent_in["0.9", n] for n in long_term)
table([(n, *(str(needed_by[name, n] or "not in 200") for name in kinds), silent_in["plain", n], silent_in["0.9", n])
       for n in long_term],
      ["lr / (1 - momentum)", "plain: steps", "gentle: steps", "0.9: steps", "silent: plain", "silent: 0.9"],
      formats={"lr / (1 - momentum)": ".1f"}, align="rrrrrr",
      caption="Silent: how many of the 128 hidden neurons are 0 for every one of the 1,000 digits afterwards.")

# %% [markdown]
# Up to 0.8 momentum acts like a rate ten times as large: both need about the same number of steps. From 1.6 on, plain
# descent has not arrived after 200 steps. What has happened there is not a zigzag, but damage: long steps have
# silenced most hidden neurons, and the slope of a ReLU that is 0 for every digit is 0 as well, so they learn no more.
# **Here momentum allows long-term steps that plain descent cannot take.** A part of that is the gentle start: with
# it, plain descent may arrive at 1.6, too. But at 2.0 and 4.0 it still does not, and momentum does. What momentum
# does better there, this table does not show; in the valley it was that steps that contradict each other cancel.

# %% [markdown]
# ## The loop
#
# Here is an epoch with mini-batches and momentum. New are the `velocities` and the last three lines, which stood as
# `p -= lr * g` in lesson 04. `zero_grad` and `backward` write into the arrays of `grads`, so `g` is always the newest
# gradient.

# %%
def one_epoch(net, x, y, batch_size, lr, momentum, velocities, rng):
    params, grads = net.parameters().values(), net.gradients().values()
    order = rng.permutation(len(x))
    for start in range(0, len(x), batch_size):
        batch = order[start:start + batch_size]
        _, cache = ops.softmax_cross_entropy_forward(net.forward(x[batch]), y[batch])
        net.zero_grad()
        net.backward(ops.softmax_cross_entropy_backward(cache))
        for p, g, v in zip(params, grads, velocities, strict=True):
            v *= momentum
            v -= lr * g
            p += v

# %% [markdown]
# The library's [`nn.train`](../course_lib/nn/train.py) is this loop with a history. Two epochs by each, from equal
# weights and with equal batches:

# %%
by_loop, by_library = (nn.models.mlp(rng=np.random.default_rng(0)) for _ in range(2))
velocities = [np.zeros_like(p) for p in by_loop.parameters().values()]
rng = np.random.default_rng(1)
for _ in range(2):
    one_epoch(by_loop, x_fit, y_fit, 64, 0.1, 0.9, velocities, rng)
options = {"epochs": 2, "batch_size": 64, "lr": 0.1, "momentum": 0.9}
nn.train(by_library, (x_fit, y_fit), rng=np.random.default_rng(1), **options)
ours, theirs = by_loop.parameters(), by_library.parameters()
print("the same weights:", all(np.allclose(ours[n], theirs[n], atol=1e-4) for n in ours))

# %% [markdown]
# <details><summary>Does a GPU compute the same?</summary>
#
# So far compiled loops on your processor did the arithmetic of the layers. The same functions exist as kernels for a
# GPU, such as lessons 11 to 16 write. If your machine has one, the network of the two epochs reads all 800 validation
# digits on it. If not, the course's *executor*, a program that carries out each of a kernel's many threads on your
# processor, reads 64. In the scores, in the loss and in all gradients, kernels and formulas agree to a thousandth of
# the largest value or better. They compute the same sums, in another order, and round in other places.
#
# </details>

# %% tags=["hide-input", "hide-output", "nbval-ignore-output"]
# The trained weights on two backends, forward and backward through all layers.
def read_on(backend, x, y):
    twin = nn.models.mlp((784, 128, 10), rng=np.random.default_rng(0), ops=backend)
    for name, p in twin.parameters().items():
        backend.assign(p, by_library.parameters()[name])
    scores = twin.forward(backend.to_backend(x))
    loss, cache = backend.softmax_cross_entropy_forward(scores, backend.to_backend(y))
    twin.zero_grad()
    twin.backward(backend.softmax_cross_entropy_backward(cache))
    gradients = {f"gradient of {name}": g for name, g in twin.gradients().items()}
    return {"scores": scores, "loss": loss} | gradients

n = 64 if "no GPU" in gpu.device_name() else 800
on_device, by_formula = (read_on(backend, x_val[:n], y_val[:n]) for backend in (cuda_ops, ops))
agree = {}
for name, ours in by_formula.items():
    theirs = on_device[name] if name == "loss" else gpu.to_host(on_device[name])
    agree[name] = bool(np.abs(theirs - ours).max() <= 1e-3 * np.abs(ours).max())
assert all(agree.values())  # as the text says
print(f"{n} validation digits on: {gpu.device_name()}")
same = ", ".join(name for name, found in agree.items() if found)
print(f"equal to the formulas, within a thousandth of the largest value: {same}")

# %% [markdown]
# ## What 100 % hides
#
# Now for the title's question. We train the network of the first picture again, for 20 epochs, and look at training
# and validation set after each. `on_epoch` calls our function at the end of every epoch. The function measures the
# training set, and it keeps the probabilities for the validation images; entry 0 is from before the training.

# %%
rng = np.random.default_rng(0)
net = nn.models.mlp((784, 128, 10), rng=rng)
opinions, fit = [], []

def remember(epoch=None, history=None):
    opinions.append(ops.softmax(net.forward(x_val)))
    fit.append(nn.evaluate(net, x_fit, y_fit))

remember()
options = {"epochs": 20, "batch_size": 64, "lr": 0.1, "momentum": 0.9}
history = nn.train(net, (x_fit, y_fit), rng=rng, validation=(x_val, y_val), on_epoch=remember, **options)

# %% [markdown]
# Training accuracy will reach 100 %, as you know. And what about the validation curves? Keep in mind what each of the
# two asks. The accuracy asks only which class comes first. The loss also asks how sure the network is, and on the
# training digits it can go on falling after the last of them is right: the network just has to become surer.

# %% tags=["hide-input"]
# A prediction.
turn = predict(
    "What do accuracy and loss do on the validation digits?",
    [
        "both follow the training digits a little later: all right, and a loss near 0",
        "the accuracy levels off, and the loss levels off with it",
        "the accuracy levels off, while the loss falls and then rises again",
        "the accuracy rises and then falls back, and the loss rises with its mistakes",
    ],
    answer="the accuracy levels off, while the loss falls and then rises again",
    reveals=2,
)
turn

# %% tags=["hide-input", "hide-output", "nbval-ignore-output"]
# The curves of 20 epochs; the training values are measured after each epoch too, on the same weights.
accuracies = [(f.accuracy, (k.argmax(axis=1) == y_val).mean()) for f, k in zip(fit, opinions, strict=True)]
curves = nn.History([f.loss for f in fit[1:]], [f.accuracy for f in fit[1:]], history.val_loss, history.val_accuracy,
                    history.best_epoch)  # fmt: skip
figures.show(
    figures.training.learning_curves(curves),
    alt=f"Training loss falls to {curves.loss[-1]:.4f} and training accuracy reaches {accuracies[-1][0]:.1%}; "
    f"validation loss is lowest in epoch {history.best_epoch + 1} ({min(history.val_loss):.2f}) and then rises to "
    f"{history.val_loss[-1]:.2f}, validation accuracy levels off at {accuracies[-1][1]:.1%}.",
    caption="From some epoch on, only the training loss goes on improving.",
)

# %% [markdown]
# <details class="reveal"><summary>The gap</summary>
#
# The shaded area is the **generalisation gap**, between examples that the network has seen and examples that it has
# not. The validation accuracy levels off, with small ups and downs, far from 100 %. And the validation loss, alone in
# the middle panel, turns and rises. This is **over-fitting**: the network still improves on its own examples, while its
# probabilities for new ones get worse.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
assert accuracies[-1][0] >= 0.999
flat, risen = 0.90 <= accuracies[-1][1] <= 0.96, history.val_loss[-1] > 1.05 * min(history.val_loss)
turn.confirm(turn.answer if flat and risen else f"accuracy {accuracies[-1][1]}, loss {history.val_loss}")

# %% [markdown]
# How can the loss rise while the accuracy does not fall? Compare the network at its lowest loss with the network at the
# end, and follow the *same* images, in three groups:
#
# - the old mistakes, which it makes at both moments;
# - the new ones, which it makes only at the end;
# - the rest, which it reads at the end.

# %% tags=["hide-input", "nbval-ignore-output"]
# The validation loss at two moments, parted into the images that are wrong at both, those newly wrong, and the rest.
wrong = [k.argmax(axis=1) != y_val for k in opinions]
best = history.best_epoch + 1
again = wrong[best] & wrong[-1]  # True where both are
sure = {epoch: opinions[epoch][again].max(axis=1).mean() for epoch in (best, 20)}
costs = {epoch: -np.log(opinions[epoch][np.arange(len(y_val)), y_val]) / len(y_val) for epoch in (best, 20)}
from_again = {epoch: cost[again].sum() for epoch, cost in costs.items()}
from_new = {epoch: cost[wrong[-1] & ~again].sum() for epoch, cost in costs.items()}
from_rest = {epoch: cost[~wrong[-1]].sum() for epoch, cost in costs.items()}
assert again.sum() > wrong[-1].sum() / 2  # as the text says
assert sure[20] > sure[best] + 0.02
assert from_again[20] > from_again[best]
assert from_again[20] - from_again[best] > 3 * (from_new[20] - from_new[best])
assert from_rest[20] < from_rest[best]
right = {epoch: np.exp(-from_again[epoch] * len(y_val) / again.sum()) for epoch in (best, 20)}  # geometric mean
assert right[20] < right[best] / 2
table([("the loss", *(f"{history.val_loss[epoch - 1]:.2f}" for epoch in (best, 20))),
       *((name, *(f"{part[epoch]:.2f}" for epoch in (best, 20))) for name, part in (
           ("of it from the old mistakes", from_again), ("from the new ones", from_new), ("from the rest", from_rest))),
       ("old mistakes: what its answer gets", *(f"{sure[epoch]:.0%}" for epoch in (best, 20))),
       ("old mistakes: what the right class gets", *(f"{right[epoch]:.1%}" for epoch in (best, 20)))],
      ["800 validation digits", f"epoch {best}", "epoch 20"], align="lrr",
      caption=f"Epoch {best} has {wrong[best].sum()} mistakes, and epoch 20 has {wrong[-1].sum()}. {again.sum()} of "
      "them are the same images: the old mistakes. What a class gets: its probability there, the mean for the answer, "
      "the geometric mean for the right class.")  # fmt: skip

# %% [markdown]
# Most of the last mistakes are old ones. On these same images the network is now surer of its wrong answers on average,
# and the right class gets far less than before, so that $-\ln k_T$ grows. The few new mistakes add little, and the
# images that it reads cost *less* than before. So it is the old mistakes that drive the loss up.
#
# ## When to stop
#
# One can stop when the error is small, or when the steps run out.[^Owens "Stochastic gradient descent"] **Early
# stopping** looks at new data instead: `early_stop=5` ends the training after five epochs without a lower validation
# loss, and goes back to the best weights.

# %% tags=["nbval-ignore-output"]
rng = np.random.default_rng(0)
early = nn.models.mlp((784, 128, 10), rng=rng)
options = {"epochs": 100, "batch_size": 64, "lr": 0.1, "momentum": 0.9}
stopped = nn.train(early, (x_fit, y_fit), rng=rng, validation=(x_val, y_val), early_stop=5, **options)
validated = nn.evaluate(early, x_val, y_val).accuracy
lowest = stopped.best_epoch + 1
print(f"stopped after epoch {stopped.epochs}, back to epoch {lowest}: {validated:.1%} right")
for epoch in (lowest, 20):
    right, sure_of = accuracies[epoch][1], opinions[epoch].max(axis=1).mean()
    print(f"epoch {epoch}: {sure_of:.1%} sure on average, {right:.1%} right: {100 * (sure_of - right):.1f} points less")

# %% [markdown]
# So why do we train for 20 epochs on this page? Because we want right answers, and their share still rose a little
# after the loss had turned. But if you need probabilities that you can rely on, choose by the loss and stop early. In
# both epochs the network's mean certainty lies above its share of right answers, and after 20 epochs about twice as
# far.
#
# ## Why the validation score is not the answer
#
# Suppose you try 1,000 "networks" that guess digits at random. You keep the one with the best score on 100 validation
# digits, and then test it on 1,000 others. Each guesser gets about 10 % right, but not exactly: among $n$ digits, a
# share $q$ of right answers is uncertain by about $\sqrt{q(1-q)/n}$. For a guesser on 100 digits that is 3 points.

# %% tags=["hide-input"]
# A prediction.
luck = predict(
    "What does the winner score on the 100 validation digits that chose it, and on the 1,000 test digits?",
    [
        "about 10 % and about 10 %", "about 20 % and about 20 %", "about 20 % and about 10 %",
        "about 50 % and about 10 %",
    ],
    answer="about 20 % and about 10 %",
    reveals=2,
)  # fmt: skip
luck

# %% tags=["hide-output"]
rng = np.random.default_rng(0)
guesses = rng.integers(10, size=(1000, 100))  # a row for each guesser
won = (guesses == y_val[:100]).mean(axis=1)
test_guesses = rng.integers(10, size=(1000, 1000))
on_test = (test_guesses[won.argmax()] == digits.y_test).mean()
print(f"best of 1,000: {won.max():.0%} on validation, {on_test:.1%} on test")

# %% [markdown]
# <details class="reveal"><summary>Chosen by its luck</summary>
#
# Nothing was learned. Yet the winner looks twice as good as chance, because it was **chosen** by the very number that
# is then quoted: three uncertainties above the middle is about what the luckiest of a thousand has. On other digits
# its chance is 10 % again. The more you try, the more such a number flatters you.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
luck.confirm(f"about {10 * round(10 * won.max())} % and about {10 * round(10 * on_test)} %")

# %% [markdown]
# So the test set is opened once, after the last choice. We kept the 20 epochs because the validation accuracy had
# levelled off; batches of 64, a rate of 0.1 and momentum 0.9 were fixed beforehand. No choice on this page has looked
# at the 1,000 test digits. Training depends on the weights it starts with, too, so we train five times, from five
# different starts: on the 3,200 digits, and on all 4,000, now that the validation set has done its work. More digits
# make more steps an epoch, so the 4,000 get 16 epochs, which are 1,008 steps instead of 1,000.

# %% tags=["hide-input", "nbval-ignore-output"]
# Five starts, each on 3,200 and on 4,000 digits, and what they get right on the test digits.
def trained(n, seed, epochs):
    rng = np.random.default_rng(seed)
    pupil = nn.models.mlp((784, 128, 10), rng=rng)
    x, y = digits.x_train[:n], digits.y_train[:n]
    nn.train(pupil, (x, y), epochs=epochs, batch_size=64, lr=0.1, momentum=0.9, rng=rng)
    return pupil, nn.evaluate(pupil, x, y).accuracy, nn.evaluate(pupil, digits.x_test, digits.y_test).accuracy

nets, rows = [], []
for seed in range(5):
    fewer, fitted, test = trained(3200, seed, 20)
    pupil, fitted_all, test_all = trained(4000, seed, 16)
    nets.append(pupil)
    rows.append((seed, min(fitted, fitted_all), nn.evaluate(fewer, x_val, y_val).accuracy, test, test_all))
_, fitted, validation, test, test_all = np.array(rows).T
gain, above = 100 * (test_all - test), 100 * (test - validation).mean()
uncertain = gain.std(ddof=1) / np.sqrt(5)
chance = 100 * np.hypot(np.sqrt(0.92 * 0.08 / 800), np.sqrt(0.945 * 0.055 / 1000))
assert fitted.min() >= 0.999  # as the text says
assert 0.93 <= min(test.min(), test_all.min()) <= max(test.max(), test_all.max()) < 0.965
assert gain.mean() > 2 * uncertain
assert (test > validation).all()
assert 1.2 * chance < above < 2.5 * chance
heads = ["start", "training", "validation", "test", "test, all 4,000"]
table(rows, heads, formats=dict.fromkeys(heads[1:], ".1%"),
      caption="Training: the lower accuracy of the row's two networks.")

# %% tags=["hide-input", "nbval-ignore-output"]
# What the columns come to.
print(f"800 more digits gain {gain.mean():.1f} points on average, {gain.mean() / uncertain:.1f} times the uncertainty "
      "of that mean.")  # fmt: skip
print(f"The test score after learning from 3,200 is {above:.1f} points above the validation score on average, "
      f"{above / chance:.1f} times the uncertainty of that distance.")  # fmt: skip

# %% [markdown]
# The training accuracy is 100 % in all ten runs. It cannot tell these networks from a perfect one. The test accuracy
# can: about five new digits in a hundred are misread. Compare your first number.
#
# Did 800 more digits help? The number of steps is nearly the same. A single pair of numbers could not say, for the gain
# varies from start to start. All ten networks read the same test digits, so we may compare row by row.
# The uncertainty of the mean gain is the standard deviation of the five gains divided by $\sqrt 5$, and the mean gain
# is more than twice that. So yes, on these digits they helped. By how much, five starts tell only roughly.

# %% [markdown]
# We chose by the validation score. Should it not be too *high*, then, like that of the lucky guesser? We made few
# choices by it, so it can be flattered only a little. But in every row it is even *lower* than the test
# score.
#
# The two sets hold different digits. The validation score is uncertain by one point, the test score by 0.7, and the
# distance between the two by 1.2. The distance that we found is about twice that, as a random split gives about once
# in twenty times. So it may be chance that these 800 digits are somewhat harder.

# %% [markdown]
# ## Which mistakes?
#
# Take one of the five networks that learned from all 4,000 digits. In its **confusion matrix**, row $i$, column $j$
# counts the images with label $i$ that were read as $j$. There are 100 images of each digit. Which two are confused
# most, do you think?

# %%
net = nets[0]  # it began from start 0
counts = nn.confusion_matrix(net.predict(digits.x_test), digits.y_test, 10)

# %% tags=["hide-input", "nbval-ignore-output"]
# The matrix, and the pair that is confused most.
right = np.trace(counts)
pairs = np.triu(counts + counts.T, k=1)  # the part above the diagonal: each pair once
a, b = np.unravel_index(pairs.argmax(), pairs.shape)
off = counts - np.diag(np.diag(counts))
dark = np.unravel_index(off.argmax(), off.shape)
figures.show(
    figures.training.confusion(counts, size=(4, 3.9)),
    alt=f"Confusion matrix of 1,000 test digits: {right} on the diagonal are right, {1000 - right} are wrong, spread "
    f"over many pairs; {a} and {b} are confused most.",
    caption=f"Of the {1000 - right} mistakes, {pairs.max()} exchange a {a} and a {b}, either way. Green: right. "
    f"Shaded: mistakes; the darkest cell, label {dark[0]} read as {dark[1]}, has {counts[dark]}.",
)

# %% [markdown]
# The most confused pairs share most of their strokes. With another start, such small counts change places, so do not
# read too much into a single cell. Now the twenty test digits that the network got wrong and was **surest** about.
# Judge each of them. Is the label right? Would you have been in doubt?

# %%
worst = nn.worst_mistakes(net, digits.x_test, digits.y_test, 20)

# %% tags=["hide-input", "nbval-ignore-output"]
# The twenty of them.
assert worst.confidence[4] > 0.99  # as the text says
figures.show(
    figures.training.mistakes(digits.images("test"), worst, cols=3, side=1.28),
    alt="Twenty test digits that the network reads wrongly and is very sure of; a person can read most at once.",
    caption="Label, answer of the network, and how sure it was of it.",
)

# %% [markdown]
# You might hope for wrong labels here, as an excuse. We found none of the twenty plainly wrong. A few are hard, such as
# a 4 that is almost a 9, but most you read at once, and the network gives some of its wrong answers more than 99 %. **A
# probability from softmax is not a second opinion.** The network has learned to answer its training images with nearly
# 100 %, and it answers new ones in the same manner.
#
# ## Who made the labels?
#
# Every accuracy compares answers with labels. The labels define what "right" means, and people made them. Suppose an
# intern labels for sixteen weeks of 120 hours, one digit every ten seconds.[^Hwu "Who Defines Correctness of Labeled
# Data?"] The hours are a joke, but large sets do have as many labels as this:

# %%
print(f"{round(16 * 120 * 3600 * 0.1):,} labels in an internship")

# %% [markdown]
# Whoever labels 700,000 images makes mistakes. So ask three questions of any labelled data:
#
# - **Whose data?** A sample that leaves people or styles out is **biased**. The network cannot learn what is not in it.
# - **Whose labels?** Today many are made by a crowd, for little pay or for none: *crowdsourcing*. A crowd may also
#   split its vote, so that a label is 60 % one class.[^Hwu "Output is a Probability for Each Category"]
# - **Which context?** Once in use, a digit reader will meet things that are no digits. The surest way is to show it
#   some during training, with a label that says "no digit".[^Hwu "Difficulty Often Depends on Context"] Our set has
#   none.
#
# It still takes human insight to find a structure that suits the task, a good format for what goes in and what comes
# out, and labels that can be trusted.[^Hwu "Many Problems are Still Hard"] Think of the labelled data as a *partial
# specification*. They say what is right for some inputs, as random tests do for a program, and they leave all others
# open.[^Hwu "Labeled Data Provide a Partial Specification"] And as with tests, the near misses matter most. To learn
# what a nine is, a network needs fours that look almost like nines, with the label 4.

# %% [markdown]
# ## Are the labels right?
#
# Among all 5,000 labels we dispute three, the first three below. (An optional section shows how we found them.) All
# three are training digits. The fourth picture has the shape of the first, and another label.

# %% tags=["hide-input"]
# Three labels that we dispute, and one to compare with.
disputed = [747, 2464, 2367]
four = np.concatenate([digits.images("train")[disputed], digits.images("test")[[269]]])
names = [f"label {n}" for n in (*digits.y_train[disputed], digits.y_test[269])]
figures.show(
    figures.training.gallery(four, names, side=0.98),
    alt="Four digits: a 1 with a foot labelled 7, a 9 labelled 4, a 1 with a foot labelled 2, and a 1 with a foot "
    "labelled 1.",
    caption="Labelled 7, 4, 2 and 1. The first and the last have the same shape.",
)

# %% [markdown]
# The network has 100 % on its training digits, and these three are among them. So what does it say of them?

# %%
print(net.predict(digits.x_train[disputed]))

# %% [markdown]
# It has learned each of the disputed labels as it stands, and each of them counts as right.
#
# ## Labels that mean nothing
#
# Now for your second number. We shuffle the 4,000 training labels. The images stay, the labels stay, but which belongs
# to which is random. A network trains for 100 epochs, in batches of 400 with a rate of 0.3. To compare, another trains
# in the same way on the true labels. Will you stay with your number?

# %% tags=["hide-input"]
# A prediction.
random_labels = predict(
    "After 100 epochs, what is the accuracy on the shuffled training labels, and on the test digits with their true "
    "labels?",
    ["about 10 % and about 10 %", "about 50 % and about 10 %", "nearly 100 % and about 10 %",
     "nearly 100 % and about 95 %"],
    answer="nearly 100 % and about 10 %",
    reveals=3,
)  # fmt: skip
random_labels

# %% tags=["hide-output"]
rng = np.random.default_rng(0)
shuffled = rng.permutation(digits.y_train)
print(f"labels that are still right: {(shuffled == digits.y_train).mean():.1%}")
test_set, runs = (digits.x_test, digits.y_test), {}
options = {"epochs": 100, "batch_size": 400, "lr": 0.3, "momentum": 0.9}
for kind, labels in (("true", digits.y_train), ("shuffled", shuffled)):
    rng = np.random.default_rng(0)
    memory = nn.models.mlp((784, 128, 10), rng=rng)  # in the end, the network of the shuffled labels
    runs[kind] = nn.train(memory, (digits.x_train, labels), rng=rng, validation=test_set, **options)

# %% tags=["hide-input", "hide-output", "nbval-ignore-output"]
# Learning and learning by heart, in 100 epochs each.
on_train = nn.evaluate(memory, digits.x_train, shuffled).accuracy
on_new = nn.evaluate(memory, digits.x_test, digits.y_test).accuracy
assert on_train >= 0.99  # as the text says
assert on_new < 0.16
until = {kind: int(np.argmax(np.array(run.accuracy) > 0.99)) + 1 for kind, run in runs.items()}
assert until["shuffled"] > 3 * until["true"]
epochs = np.arange(1, 101)
with figures.style.context():
    _, ax = figures.style.new_figure(4, 3.4)
figures.show(
    figures.plots.curves({f"{part}, {kind}": (epochs, curve) for kind, run in runs.items()
                          for part, curve in (("training", run.accuracy), ("test", run.val_accuracy))},
                         xlabel="epoch", ylabel="accuracy", title="True labels and shuffled ones", ax=ax),
    alt="Training accuracy climbs to 100 %, on true labels within some 20 epochs, on shuffled ones within 100. "
    "Test accuracy rises to about 95 % with true labels, and stays near 10 % with shuffled ones.",
    caption=f"In the end {on_train:.1%} of the shuffled labels are learned by heart, and {on_new:.1%} of the test "
    f"digits are read correctly. More than 99 % in training: the true labels from epoch {until['true']} on, the "
    f"shuffled from epoch {until['shuffled']}. We only watched the test curves, and chose nothing by them.",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>Stored, and nothing learned</summary>
#
# With shuffled labels there is nothing to understand. What is left is to store, and 101,770 parameters are enough for
# 4,000 labels. So one can have a training accuracy of 100 % **without having learned anything about which digit is
# which**. With true labels the network scores the same 100 %, and the number cannot tell the two apart. It gets there
# several times as fast, but how the two read is shown only by digits that they have not seen.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
stored_all, guessed = on_train >= 0.99, on_new < 0.16
random_labels.confirm(random_labels.answer if stored_all and guessed else f"{on_train:.0%} and {on_new:.0%}")

# %% [markdown]
# ## So what does an accuracy tell?
#
# On the training set, that the network can store its examples. On the validation set, which of our choices is better.
# On the test set, used once, how many new digits of the same kind will be read as their labels say, give or take its
# uncertainty. That is the number to ask for before you let the network of the first picture read cheques. It was right
# about every digit that it had learned from, and of new ones it misreads five or six in a hundred, a share that is
# uncertain by 0.7 points.
#
# None of the three tells how sure you may be of a single answer, whether a label is right, or what happens to pictures
# of another kind.
#
# ## Is that all there is to training?
#
# We have left a good deal to the library, such as how large the first random weights are. The rate stayed the same
# from the first step to the last, and of all that one can do against the gap, we tried to stop early and to show more
# digits. The next lesson, [06b](06b_making_it_train.ipynb), is about that craft.

# %% [markdown]
# ## Optional: asking networks about the labels
#
# <details><summary>Which of the 5,000 labels would you dispute?</summary>
#
# Every image needs a judge that has not learned from it. **Cross-validation** gives it one: cut
# the data into five parts, train five networks, each on four parts, and let each judge the fifth. Unfold the output
# below for the 40 images whose own label got the lowest probability. (All choices are made, so the test images may join
# in.)
#
# Read the 40 as a teacher would read a test. Which labels do *you* dispute? Write down your count, then compare with
# our three above: all three are among the 40. Most of the others are odd shapes with a right label. The doubt of a
# network is a reason to look, and not a verdict.
#
# </details>

# %% tags=["hide-input"]
# Five networks judge what they have not learned from.
x_all = np.concatenate([digits.x_train, digits.x_test])
y_all = np.concatenate([digits.y_train, digits.y_test])
own = judged_by_others(x_all, y_all, parts=5, rng=np.random.default_rng(0),
                       epochs=10, batch_size=64, lr=0.1, momentum=0.9)  # fmt: skip
doubtful = np.argsort(own)[:40]  # the rows with the lowest values

# %% tags=["hide-input", "hide-output", "nbval-ignore-output"]
# The forty of them; the disputed labels are among them.
assert {747, 2464, 2367} <= set(doubtful.tolist())
figures.show(
    figures.training.gallery(x_all[doubtful].reshape(-1, 28, 28), [f"label {n}" for n in y_all[doubtful]], cols=4,
                             side=0.92),
    alt="Forty digits whose labels networks that had not seen them found least likely; most are odd shapes, a few "
    "labels look wrong.",
    caption="The 40 labels, of 5,000, that the networks doubt most.",
)

# %% [markdown]
# ## Optional: no digit at all
#
# <details><summary>What does it read in a blank page, a checkerboard, the letter T?</summary>
#
# The training set is a partial specification, and here is what it leaves open. The network must answer one of ten, and
# so it does. Unfold the six pictures below; look at the T, and at how sure it is. Softmax shares out 100 % among ten
# classes. For "none of these" nothing is left over, as long as it is no class of its own.
#
# </details>

# %% tags=["hide-input"]
# Six pictures that are no digits.
i, j = np.mgrid[:28, :28]  # the row and the column number of every pixel
cross = ((abs(i - j) < 2) | (abs(i + j - 27) < 2)) & (i > 3) & (i < 24)
letter = ((i > 3) & (i < 7) & (j > 5) & (j < 22)) | ((i > 4) & (i < 23) & (j > 11) & (j < 16))
disc = (i - 13.5) ** 2 + (j - 13.5) ** 2 < 81
others = np.array([i < 0, i >= 0, (i // 4 + j // 4) % 2, cross, disc, letter], dtype=np.float32)
k_others = ops.softmax(net.forward(others.reshape(6, 784)))

# %% tags=["hide-input", "hide-output", "nbval-ignore-output"]
# Six pictures, and what the network reads.
assert k_others[5, 1] > 0.9  # as the text says
figures.show(
    figures.training.gallery(others, [f"{row.argmax()}: {row.max():.0%}" for row in k_others], cols=3),
    alt="Six pictures that are no digits, each read as some digit; the letter T is read as a 1 with more than 90 % "
    "certainty.",
    caption="What the network answers to six pictures that are not digits.",
)

# %% [markdown]
# <details><summary>And digits in white on black?</summary>
#
# All digits of the set are dark on light. Turn the test digits into white ink on black paper, and you read them as
# before. The network does *worse* than guessing. In the first layer, a weighted sum of $1 - x$ is a constant minus the
# weighted sum of $x$: what the ink switched on, it now switches off. For nearly half of the digits, the right class is
# among the two with the lowest scores.
#
# </details>

# %% tags=["hide-input", "hide-output", "nbval-ignore-output"]
# The test digits in white on black.
inverted = net.forward(1 - digits.x_test)
white_on_black = nn.accuracy(inverted.argmax(axis=1), digits.y_test)
place = (inverted > inverted[np.arange(1000), digits.y_test][:, None]).sum(axis=1)  # 0: highest score, 9: lowest
among_the_lowest = (place >= 8).mean()
assert white_on_black < 0.1  # as the text says
assert among_the_lowest > 0.4
print(f"white on black: {white_on_black:.1%} right; guessing: 10 %")
print(f"the right class is among the two lowest for {among_the_lowest:.0%} of the digits")

# %% [markdown]
# ## Try it
#
# - Find the momentum that reaches the bottom of the valley fastest at the rate 1.9, and at 3.5. Then move the start
#   onto the axis of the valley. Does plain descent still mind a rate of 2.0?
#   <details><summary>Answer</summary>
#
#   At 1.9 it is 0.76 or 0.78, with 31 steps, and at 3.5 it is 0.78 as well, with 39. On the axis, with nothing across,
#   there is nothing to jump over, so plain descent takes any rate of the slider: 2.0 needs 149 steps, and 4.0 only 74.
#
#   </details>
# - Give the network 8 hidden neurons instead of 128 (`nn.models.mlp((784, 8, 10), ...)`), or 1,024. Which of the three
#   has the largest gap?
#   <details><summary>Answer</summary>
#
#   The smallest one. With 8, about 96 % of the training digits are right and about 84 % of the validation digits. With
#   1,024 the curves end about where they do with 128. More parameters do not have to mean more over-fitting.
#
#   </details>

# %% [markdown]
# - Shuffle only the first 1,000 of the 4,000 labels. How far does the test accuracy fall after 5 epochs, and after 100?
#   <details><summary>Answer</summary>
#
#   After 5 epochs by about five points: most labels agree on what digits look like, and those are learned first. After
#   100 epochs the wrong ones are stored as well, and it has fallen by about fifteen.
#
#   </details>

# %% [markdown]
# <details><summary>For those who know the lectures</summary>
#
# **A chain rule.** Prof. Hwu's example chains $G = XW$, a ReLU $Y$, $k = \mathrm{softmax}(Y)$ and the expected squared
# distance $E$, a mean over $B$ images. Three of its four factors need care:
#
# | factor | on the slide | right |
# |---|---|---|
# | $\partial E/\partial k_j$ | $2(j - T)/B$ | $(j - T)^2/B$: $E$ is linear in $k$ |
# | $\partial Y/\partial G$ | $Y$ where $Y > 0$, 0 elsewhere | 1 where $G > 0$, 0 elsewhere |
# | $\partial G/\partial W$ | a sum of $W$ | $X$ |
#
# With the right factors the chain passes lesson 04's check; with any one of the slide's it is rejected.
#
# **Test data.** Prof. Dey, speaking, takes the training loss on "a test data set". Here those are training data: what
# the weights are fitted to cannot test them.
#
# </details>

# %% [markdown]
# ## Check yourself
#
# **1.** A colleague reports: "Our network names all 4,000 training scans correctly, so the labels must be consistent,
# and the network has understood the task." Which results of this page contradict either half?
#
# <details><summary>Answer</summary>
#
# "The labels must be consistent": the network also reached about 100 % on shuffled labels, which are anything but
# consistent, and it learned three labels that look wrong. "It has understood the task": with shuffled labels it had the
# same training accuracy, and about 10 % on test digits. Storing is enough for 100 %. Only data that it was not trained
# on, and that nothing was chosen by, show more.
#
# </details>

# %% [markdown]
# **2.** A network gives the right class the probability 0.001, and some wrong class 0.999. What is the slope with
# respect to the right class's score, for the cross-entropy and for $1 - k_T$? What follows for training?
#
# <details><summary>Answer</summary>
#
# Cross-entropy: $k_T - 1 = -0.999$. For $1 - k_T$: $-k_T(1 - k_T) = -0.001 \cdot 0.999 \approx -0.001$, a thousand
# times less. The factor $k_T$ comes from softmax's Jacobian, and only the cross-entropy's $1/k_T$ cancels it. With $1 -
# k_T$, the network hardly learns from its worst mistakes.
#
# </details>

# %% [markdown]
# **3.** In the learning curves, the validation loss rises from some epoch on while the validation accuracy hardly
# changes. How can that be? Then you compare 30 settings, and publish the best validation accuracy: is that number too
# high, too low or right, and what should you publish?
#
# <details><summary>Answer</summary>
#
# Accuracy asks only which score is the largest. The loss also asks how sure the network is. Most of the last mistakes
# are old ones. On those the wrong answers get more on average, and the right class less, so $-\ln k_T$ grows. Expect
# the best of 30 to be too high, as the best of 1,000 guessers was: part of its lead is luck that the choice has picked
# out. Publish the test accuracy of the chosen setting, measured once.
#
# </details>
