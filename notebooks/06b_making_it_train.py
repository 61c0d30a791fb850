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
# # 06b · Making it train
#
# Take the network of lesson 06, which reads nine digits in ten after three passes through the data, and give it eight
# hidden layers instead of one. Keep the formulas and the digits. Draw its weights with standard deviation 0.05, which
# is fine for one hidden layer. Now it reads one digit in ten, and fifteen passes change nothing. There is no mistake in
# its gradients. Most of us begin with the belief that **if the formulas are right, the network trains**, and that the
# numbers it starts with are a detail. On this page one such number makes the difference between guessing and nine
# digits in ten.
#
# Below is that network before its first step. Each row shows what one layer puts out for 200 digits. On the right is
# the **spread** of these outputs, which is the root of their mean square, and the spread of the loss's gradient with
# respect to the layer's weights. Move the slider, and watch what arrives in the eighth layer. (Layer 1 is left alone:
# it keeps weights that suit its 784 pixels, so that the same signal always sets out.)

# %% tags=["hide-input"]
from functools import partial

import numpy as np

from course_lib import data, figures, nn
from course_lib import reference as ops
from course_lib.lesson import (
    examine,
    lead,
    predict,
    rate_range,
    sick_curves,
    signals,
    strangers,
    table,
    training_runs,
    waking_epochs,
    warm_up_runs,
    xor_runs,
)

digits = data.load_digits()
x_fit, y_fit = digits.x_train[:3200], digits.y_train[:3200]
x_val, y_val = digits.x_train[3200:], digits.y_train[3200:]
figures.signal_explorer(sd=0.05)

# %% [markdown]
# ## You will be able to
#
# - find out in a minute why a network does not learn, by four measurements in a fixed order;
# - derive how large the initial weights of a layer must be, and say why they are drawn at random;
# - narrow down the learning rate by one short training, and do a step of Adam by hand;
# - search for hyperparameters from coarse to fine, over several seeds, without fooling yourself.

# %% [markdown]
# <details><summary>About this page</summary>
#
# This lesson goes beyond the three lectures of the course. Prof. Dey's lecture 56 names the hyperparameters and says
# that they are the user's to decide; how one decides them well is what this page is about. It rests on the papers
# named in its notes. You need lessons 03 and 06. Where a table gives five trainings, they differ in nothing but the
# seed of their random numbers, and were measured once by `tools/measure_training.py`. Reading and trying takes about
# 90 minutes.
#
# </details>

# %% [markdown]
# ## The patient
#
# The patient is the network 784-100-…-100-10, with eight hidden layers of 100 units. Its weights are normal random
# numbers with standard deviation 0.05, and its biases are 0. In a network with a single hidden layer, as we shall see,
# that is a good choice. The rate is 0.02 and not 0.1 as in lesson 06, since a deep network bears less. As there, 3,200
# digits are for training and 800 for validation; we compare on these, and leave the test digits alone until the end.

# %%
DEEP = (784, *[100] * 8, 10)

def train_deep(init, rows=3200, epochs=5):
    rng = np.random.default_rng(0)
    net = nn.models.mlp(DEEP, rng=rng, init=init)
    nn.train(net, (x_fit[:rows], y_fit[:rows]), epochs=epochs, batch_size=64, lr=0.02, momentum=0.9, rng=rng)
    return net

patient = train_deep(nn.init.normal(0.05))
print("different answers to the validation digits:", len(set(patient.predict(x_val))))
print("below 15 % of them right:", nn.evaluate(patient, x_val, y_val).accuracy < 0.15)

# %% [markdown]
# More epochs, another learning rate, a few more layers: one can spend a night on such attempts. A doctor examines
# first. Here are four examinations, from the cheapest to the most precise. Each takes seconds.
#
# ## First: can it learn ten samples by heart?
#
# Ten digits and a network with more than a hundred thousand weights. Anything that can learn at all learns ten digits
# by heart; nobody asks here whether it understands them. So do this before every long training. Our ten have the
# labels 9, 9, 8, 0, 7, 9, 1, 5, 9 and 7.
#
# Look at the figure once more before you answer. In the eighth layer hardly anything is left of a digit, whichever it
# is. So the ten output neurons see next to nothing of the image, and each of them still has a bias.

# %% tags=["hide-input"]
# A prediction.
ten = predict(
    "The patient takes 100 steps with these ten digits. What does it answer afterwards?",
    ["the right label for all ten", "the right label for the simplest shapes, such as 0 and 1", "nine, to all ten",
     "one answer to all ten; which one is left to chance"],
    answer="nine, to all ten",
    reveals=2,
)
ten

# %% tags=["hide-output"]
few = train_deep(nn.init.normal(0.05), rows=10, epochs=100)
answers = few.predict(x_fit[:10])
print("labels ", y_fit[:10])
print("answers", answers)

# %% [markdown]
# <details class="reveal"><summary>What it has learned</summary>
#
# Four of the ten digits happen to be nines, and the patient answers "nine" to everything. It has found out how often
# each label occurs, and nothing about the images: its scores for the ten are the same to three digits. To learn how
# often a label occurs, the biases near its end are enough. So the end of the network learns, and what comes before it
# does not.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was computed.
ten.confirm("nine, to all ten" if (answers == 9).all() else str(answers))

# %% [markdown]
# A network that fails here has a mistake in its code, a start from which it learns far too slowly or not at all, or a
# learning rate that is far too small or too large. Find the cause before you add data, layers or time. (A network that
# passes may still be ill. The test is cheap; it is not complete.)
#
# ## Second: what is the loss before the first step?
#
# A network that knows nothing should give each of ten digits the probability $1/10$. Its loss is then $-\ln(1/10) =
# \ln 10 = 2.303$. Here is the loss of five networks that nobody has trained. All but the patient have one hidden layer
# of 128 units, as in lesson 06.

# %%
def first_loss(sizes, sd):
    net = nn.models.mlp(sizes, rng=np.random.default_rng(0), init=nn.init.normal(sd))
    return nn.evaluate(net, x_fit, y_fit).loss

cases = [("the patient", DEEP, 0.05), *[("one hidden layer", (784, 128, 10), sd) for sd in (0.001, 0.05, 1, 5)]]
starts = [(name, sd, first_loss(sizes, sd)) for name, sizes, sd in cases]
table(starts, ["network", "sd of the weights", "loss at step 0"], formats={"loss at step 0": ",.4g"})

# %% [markdown]
# About $\ln 10$ is healthy. Far above it, as in the last two rows, the network is very sure of itself without any
# reason, and it must unlearn that first. And exactly $\ln 10$, as in the first two, says only that in each image all
# ten classes get nearly the same score. Are those two equally ill? For that, we have to look inside.
#
# ## Third and fourth: the signal, layer by layer
#
# `signals` sends a batch through the network and the gradient back. For each layer it reports the spread of its
# outputs, and the spread of the loss's slopes with respect to its weights. The column "step / weights" says how far one
# step of our rate moves the weights, as a share of their own spread. Idle units are 0 for all 200 digits.

# %%
untrained = nn.models.mlp(DEEP, rng=np.random.default_rng(0), init=nn.init.normal(0.05), dtype=np.float64, ops=ops)
found = signals(untrained, x_fit[:200].astype(float), y_fit[:200])
table(
    [(s.layer, s.output, s.gradient, s.step(0.02), s.idle) for s in found],
    ["layer", "outputs", "weights' slopes", "step / weights", "idle units"],
    formats={"outputs": ".2g", "weights' slopes": ".1e", "step / weights": ".0e", "idle units": ".0%"},
)

# %% [markdown]
# This is the diagnosis. From the second on, each layer passes on about a third of what it gets, and what comes out of
# the eighth is less than a thousandth of what came out of the first. A weight's slope is its input times its delta.
# Small weights make both small: the input has passed the layers before it, the delta those behind it. In the late
# layers it is the input that is faint, in the early ones the delta. So in layers 2 to 8 the product is about the same,
# and a thousand times too small. A step moves the weights by less than a millionth of themselves; after a healthy start
# it is roughly a thousandth. The formulas are right, but the weights hardly move.
#
# A few idle units are harmless; other digits wake some of them. A ReLU whose sum is negative for *every* training digit
# is another matter. Its slope is 0, so its own weights no longer get a gradient; what can still wake it are changes in
# the layers below. It is called a **dead** unit. One step that is far too long can kill many, as in lesson 06.

# %% [markdown]
# ## How large must a weight be? Three lines
#
# A neuron adds up $n$ products of inputs and weights, $z = w_1x_1 + \dots + w_nx_n$, and its activation makes $a$ of
# the sum $z$. The weights are drawn independently, with mean 0 and variance $\sigma^2$. Now follow the mean
# square.[^He et al. "Delving Deep into Rectifiers (2015)"]
#
# 1. Variances of independent terms add, so $z$ has the variance $n\,\sigma^2\,\overline{x^2}$, where $\overline{x^2}$
#    is the mean square of the inputs.
# 2. Weights are drawn symmetrically about 0, so $z$ is negative as often as positive, and ReLU sets that half to 0. So
#    half of the mean square is left:
#    $\overline{a^2} = \tfrac12\, n\,\sigma^2\,\overline{x^2}$.
# 3. From one layer to the next the spread keeps its size if $\tfrac12 n\,\sigma^2 = 1$, that is, if
#    $$\sigma = \sqrt{2/n}.$$
#
# In any other case each layer multiplies the spread by the factor $\sigma\sqrt{n/2}$, and eight layers do so eight
# times.

# %% tags=["hide-input"]
# A prediction.
factor = predict(
    "All weights of the patient have σ = 0.05. By which factor does its first layer, with 784 inputs, "
    "multiply the spread?",
    [0.05, 0.35, 0.99, 1.4],
    answer=0.99,
    reveals=2,
)
factor

# %% tags=["hide-output"]
inputs = [784, *[100] * 7]
before = np.sqrt(np.mean(x_fit[:200] ** 2)), *[s.output for s in found[:-1]]
measured = [s.output / b for s, b in zip(found, before)]
table(
    [(s.layer, n, 0.05 * np.sqrt(n / 2), m) for s, n, m in zip(found, inputs, measured)],
    ["hidden layer", "n", "factor by the formula", "measured"],
    formats={"factor by the formula": ".2f", "measured": ".2f"},
)

# %% [markdown]
# <details class="reveal"><summary>Right for the first layer, wrong for all others</summary>
#
# For $n = 784$ inputs the factor is 0.99, as $\sqrt{2/784}$ happens to be 0.051. So a deviation of 0.05 is right for
# the layer that sees the pixels. (The factor 1.4 forgets what ReLU cuts off.) In the other layers it is
# $0.05 \cdot \sqrt{50} = 0.35$. So 0.05 was never a rule. The rule is $\sqrt{2/n}$, for every layer its own.
#
# The measured factors scatter around the formula's, because a layer has only 100 units. More digits would hardly help:
# they all pass through the same 100.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by the measured factor of layer 1.
factor.confirm(measured[0], rel=0.1)

# %% [markdown]
# The library has this rule as `nn.init.he_normal`, and it is the default of every layer: you used it in lesson 06
# without being told. Give it to the patient, and nothing else.

# %% tags=["nbval-ignore-output"]
cured = train_deep(nn.init.he_normal)
few = train_deep(nn.init.he_normal, rows=10, epochs=100)
print(f"{nn.evaluate(cured, x_val, y_val).accuracy:.0%} of the validation digits")
print("of ten samples by heart:", (few.predict(x_fit[:10]) == y_fit[:10]).sum())

# %% [markdown]
# Could one have waited instead? Five such patients, each from its own seed, were given 40 epochs.

# %%
awake = waking_epochs()
print("the loss leaves ln 10 in epoch", sorted(awake))

# %% [markdown]
# So waiting would have helped, after more than twenty epochs. But who waits that long? Through all of them the loss
# stood at $\ln 10$, and nothing in it showed that the network would learn in the end. So measure inside, before the
# training.
#
# Now go back to the figure at the top and press the button √(2/n), with $n = 100$. (Layer 1 has had its own,
# $\sqrt{2/784}$, all along.) With ReLU, both curves are nearly vertical: the signal arrives, and so does the gradient.

# %% [markdown]
# Then choose tanh. It has slope 1 at 0 and halves nothing, so its weights may be smaller: $\sqrt{1/n}$. Weights that
# are too large do not blow up its outputs. They push them to the ends, $-1$ and $1$, where tanh is flat and its slope
# nearly 0. Such units are called **saturated**.
#
# And the way back? There a delta is a sum over the layer's $n_{out}$ outputs, so the same three lines ask for
# $n_{out}$ in the place of $n$. Where a layer's inputs and outputs differ in number, one cannot have both; the usual
# compromise for tanh is $\sqrt{2/(n_{in} + n_{out})}$.[^Glorot and Bengio "Understanding the Difficulty of Training
# Deep Feedforward Neural Networks (2010)"]

# %% [markdown]
# ## Or let the network keep the size itself
#
# A good start sets the signal's size once. **Batch normalisation** sets it at every step, between a layer's sums and
# its activation.[^Ioffe and Szegedy "Batch Normalization (2015)"] From each unit's sums it subtracts their mean over
# the batch, and divides by their standard deviation. (A learned factor and a learned shift follow.) Make the layer's
# weights three times as large: the sums and their deviation grow by three, and the division takes it out again. Here is
# the patient, forward only:

# %%
a, weights = x_fit[:200].astype(float), untrained.parameters()
for layer in range(8):
    z = a @ weights[f"{2 * layer}.w"]
    a = np.maximum((z - z.mean(axis=0)) / z.std(axis=0), 0)
print(f"spread in layer 8: {np.sqrt(np.mean(a**2)):.1f}, and without it {found[-1].output:.4f}")

# %% [markdown]
# So on the way forward the size of the first weights hardly matters any more. This has a price. While the network
# trains, its answer to one image depends on the other images of the batch. And when it is used, stored averages must
# take the place of the batch's. The networks of this course do without it.
#
# ## One number for every weight
#
# If the size is all that counts, why not give each weight the same number?

# %% tags=["hide-input"]
# A prediction.
alike = predict(
    "In 784-128-10, every weight begins as 0.05. After three epochs, how many of the 128 hidden units are different?",
    ["all 128", "some dozens", "10, one for each class", "1: all are alike"],
    answer="1: all are alike",
    reveals=2,
)
alike

# %% tags=["hide-output"]
def constant(rng, shape, n_in, n_out):
    return np.full(shape, 0.05)

rng = np.random.default_rng(0)
net = nn.models.mlp((784, 128, 10), rng=rng, init=constant)
nn.train(net, (x_fit, y_fit), epochs=3, batch_size=64, lr=0.1, momentum=0.9, rng=rng)
w = net.parameters()["0.w"]  # (784, 128): a column is a unit
print("weights have moved:", np.abs(w - 0.05).max() > 0.1)
print("units unlike the first one:", (np.abs(w - w[:, :1]).max(axis=0) > 0.001).sum())

# %% [markdown]
# <details class="reveal"><summary>128 times the same</summary>
#
# Units with equal weights compute the same value. If the weights that leave them are equal too, they get the same
# delta, hence the same gradient, and after the step they are equal again. A network of 128 such units knows no more
# than a network of one, and costs 128 times as much. Any start in which the units differ breaks this **symmetry**, and
# random numbers are the simplest. Zeros are the extreme case: every hidden output is 0, so the last weights get no
# gradient, and no delta passes back through them. Nothing but the last biases ever moves. Biases may start at 0, since
# the weights already make the units different.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was computed.
alike.confirm("1: all are alike" if np.abs(w - w[:, :1]).max() < 0.001 else "they differ")

# %% [markdown]
# ## How much does it matter with one hidden layer?
#
# Now the network of lesson 06: 784-128-10, three epochs, momentum 0.9, learning rate 0.1. With $\sigma = 0$ it
# guesses. With 0.05 it reads 90 % of the validation digits. And with 0.001, fifty times less?
#
# Before you choose, follow the gradient. A layer's gradient is its input times its delta. The layers before it are in
# the input, the layers behind it in the delta: each of the *other* layers is a factor. In the patient these are eight
# factors, and at least seven of them are too small. Here there is one other layer. So if both layers have weights fifty
# times smaller, by how much does the gradient shrink, and how long is a step compared with the weights?

# %% tags=["hide-input"]
# A prediction.
tiny = predict(
    "With σ = 0.001 in both layers, how long is the first step, as a share of the weights, and how many digits does it "
    "read after three epochs?",
    ["fifty times shorter, and it guesses", "fifty times shorter, and it reads about half of them",
     "as long as with 0.05, and it reads nearly as many"],
    answer="as long as with 0.05, and it reads nearly as many",
    reveals=2,
)
tiny

# %% tags=["hide-output"]
shallow = {sd: nn.models.mlp((784, 128, 10), rng=np.random.default_rng(0), init=nn.init.normal(sd), dtype=np.float64)
           for sd in (0.05, 0.001)}
shares = {sd: signals(net, x_fit[:200], y_fit[:200])[0].step(0.1) for sd, net in shallow.items()}
for sd, share in shares.items():
    print(f"σ = {sd}: the first step is {share:.4f} of the first layer's weights")

runs = training_runs("scales")
rows = [(sd, runs[f"N(0, {sd}^2), momentum 0.9"]) for sd in ("0", "0.001", "0.05", "1", "5")]
rows.append(("√(2/n), each layer its own", runs["he_normal, momentum 0.9"]))
table(
    [(name, r.mean, r.range) for name, r in rows],
    ["σ", "validation accuracy, %", "least to greatest of five"],
    formats={"validation accuracy, %": ".1f"},
)

# %% [markdown]
# <details class="reveal"><summary>Shallow networks forgive</summary>
#
# The gradient of either layer has one factor of the other's weights. With both fifty times smaller it is fifty times
# smaller, and so are the weights that it moves: as a share of them, the step is as long as before. In the patient seven
# factors or more are too small, and a layer's own small weights, by which the step is divided, make up for only one of
# them. (So the loss of $\ln 10$ before the first step was no illness here.)
#
# Weights that are too large do more harm. With $\sigma = 1$ and 5 the scores begin around 70 and 1,700. Softmax is as
# good as certain of something wrong, and three epochs are not enough to unlearn that.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by the measurement.
behind = rows[2][1].mean - rows[1][1].mean
as_long = abs(shares[0.001] / shares[0.05] - 1) < 0.1
tiny.confirm(tiny.answer if behind < 4 and as_long else f"{behind:.1f} points fewer")

# %% [markdown]
# Not every shallow network forgives. Here is lesson 04's XOR, with eight hidden sigmoids:

# %% tags=["hide-input"]
# How many of ten trainings solve XOR.
table(
    [(sd, *xor_runs()[f"N(0, {sd}^2), inputs 0, 1"]) for sd in (0.01, 0.1, 1)],
    ["σ", "XOR solved", "trainings"],
    caption="2-8-1 with sigmoids, 3,000 steps with a learning rate of 2",
)

# %% [markdown]
# Between 0.01 and 0.1 lies a cliff. From weights of 0.01 all eight hidden units begin with an output of about 1/2, as
# nearly the same unit, and 3,000 steps are not enough to tell them apart. It is the symmetry again, this time only
# slightly broken.
#
# ## The scale of the inputs
#
# In $z = \sum w_i x_i$ the inputs stand beside the weights, so their size matters just as much. Pixels from 0 to 255
# instead of 0 to 1 make every first sum 255 times as large, and with equal deltas the gradient of the first layer, too.
# The usual cure is to **standardise**: subtract the mean of each input and divide by its standard deviation, both
# measured on the training data. (Where the deviation is 0, as for a pixel that never has ink, divide by 1.)[^LeCun et
# al. "Efficient BackProp (1998)"] This is what you do when ages stand beside incomes. Is it also right for pixels? Here
# is what it makes of them:

# %%
change = data.fit_standardiser(x_fit)
standard, in_val = change.apply(x_fit), change.apply(x_val)
image, pixel = np.unravel_index(in_val.argmax(), in_val.shape)
print(f"mean square of a pixel: {(x_fit**2).mean():.2f} became {(standard**2).mean():.2f}")
print(f"validation image {image}, pixel {pixel}: {x_val[image, pixel]:.2f} became {in_val[image, pixel]:.0f}")
print("training images with ink there:", (x_fit[:, pixel] > 0).sum(), "of", len(x_fit))
print(f"training images with a pixel beyond 10: {(abs(standard) > 10).any(axis=1).mean():.0%}")

# %% [markdown]
# Two things happen. On average the inputs become larger: the mean square grows about seven times, and with it what one
# step does to the sums. And a few become enormous. Pixels near the border are paper in nearly all images, so their
# deviation is tiny, and dividing by it turns an ordinary stroke into 374.
#
# With plain pixels, three epochs at a rate of 0.1 lead to 90.0 % of the validation digits. At 0.01 they lead to 87.0 %:
# there the steps are somewhat short.

# %% tags=["hide-input"]
# A prediction.
scaled = predict(
    "Each of the 784 pixels is standardised. What becomes of the 87.0 % at the rate 0.01, and of the 90.0 % at 0.1?",
    ["both rise: now every pixel has the same say", "both fall: the exploding pixels spoil them",
     "87.0 rises, 90.0 falls", "87.0 falls, 90.0 rises"],
    answer="87.0 rises, 90.0 falls",
    reveals=2,
)  # fmt: skip
scaled

# %% tags=["hide-output", "hide-input"]
# Five trainings for each way and each rate.
prepared = training_runs("inputs")
ways = ["pixels 0 to 1", "pixels 0 to 255", "each pixel standardised", "standardised, kept within 3",
        "standardised together"]
columns = {f"rate {lr}": [prepared[f"{way}, lr {lr}"].mean for way in ways] for lr in (0.001, 0.01, 0.1)}
table(
    {"inputs": ways, **columns}, formats=dict.fromkeys(columns, ".1f"),
    caption="Validation accuracy in %, mean of five. Kept within 3: what lies beyond −3 or 3 is moved to there. "
    "Together: one mean and one deviation for all pixels.",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>Larger inputs, longer steps</summary>
#
# With larger inputs the same rate goes further. At 0.01, where the steps were short, that helps by two points or three.
# At 0.1 they were long enough, and now they are too long. What that costs by itself is in the last row, where inputs
# are larger on average and none explodes: three points. "Each pixel standardised" loses six more, and those are the
# work of the exploding pixels. Keep them within 3, and only the three points are lost.
#
# The recipe makes every input equally *large*. But our inputs had the same unit from the beginning, and those near the
# border were small because they say little. So ask two questions: have my inputs the same unit, and is any of them
# nearly constant? And judge an input scale and a learning rate together.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by the measurement.
risen, fallen = (prepared[f"each pixel standardised, lr {lr}"].mean - prepared[f"pixels 0 to 1, lr {lr}"].mean
                 for lr in (0.01, 0.1))  # fmt: skip
scaled.confirm(scaled.answer if risen > 1 and fallen < -1 else f"{risen:+.1f} and {fallen:+.1f}")

# %% [markdown]
# ## The learning rate: let it rise until it breaks
#
# Lesson 03 tried rates one after the other. There is a faster way: train once, and make the rate a little larger at
# every batch. Too small a rate shows as a level line. Then the loss falls. And where the rate gets too large, the loss
# climbs out again.[^Smith "Cyclical Learning Rates for Training Neural Networks (2017)"]

# %%
rng = np.random.default_rng(0)
net = nn.models.mlp((784, 128, 10), rng=rng)
rates, losses = rate_range(net, (x_fit, y_fit), rng=rng, highest=3.0)

# %% tags=["hide-input", "nbval-ignore-output", "continued"]
figures.show(
    figures.rates.range_test(rates, losses, guessing=np.log(10)),
    alt="The loss stays near 2.3 while the rate is below a thousandth, falls as the rate grows, is lowest for rates "
    "around 0.3, and climbs again as the rate goes on growing.",
    caption="Range test of 784-128-10 with momentum 0.9: 120 batches, each with a rate 9 % above the one before.",
)

# %% [markdown]
# Where the loss is lowest, the rate is already on the verge of being too large. So take one from the slope before it; a
# third of the lowest point's rate is a common first choice. Does it hold here, and does it depend on the seed? We
# repeat the test with five seeds, and train for three epochs at rates around what it says.

# %% tags=["hide-input", "nbval-ignore-output"]
# The range test with five seeds.
lowest = []
for seed in range(5):
    rng = np.random.default_rng(seed)
    rates_of, losses_of = rate_range(nn.models.mlp((784, 128, 10), rng=rng), (x_fit, y_fit), rng=rng, highest=3.0)
    lowest.append(rates_of[4:][figures.rates.running_mean(losses_of, 5).argmin()])
print("lowest points:      ", *[f"{rate:.2f}" for rate in sorted(lowest)])
print("a third of the rate:", *[f"{rate / 3:.2f}" for rate in sorted(lowest)])

# %% tags=["hide-input", "continued"]
# Whole trainings at rates around them.
rules = training_runs("rules")
tried = {lr: rules[f"momentum 0.9, lr {lr}"] for lr in (0.01, 0.03, 0.05, 0.1, 0.2, 0.3)}
table([(lr, r.mean, r.range, *(lead(tried[0.1], r) if lr != 0.1 else (None, None))) for lr, r in tried.items()],
      ["rate", "validation accuracy, %", "least to greatest of five", "0.1 leads by", "uncertain by"],
      formats={"rate": "g", "validation accuracy, %": ".1f", "0.1 leads by": ".2f", "uncertain by": ".2f"})

# %% [markdown]
# The lowest point differs from seed to seed, but a third of it always lies between 0.05 and 0.2. Is 0.1 better than
# 0.05 and 0.2? That two ranges overlap does not settle it. Equal seeds begin with equal weights and see equal batches,
# so compare seed by seed, as lesson 06 did row by row: the last columns have the mean lead of 0.1, and how uncertain
# that mean is. With so few seeds, ask for three uncertainties before you believe a lead. The lead over 0.05 and 0.2 is
# far from that: any of the three would do. Over 0.01 and 0.03 it is more: those are worse.
#
# At 0.3, about where our first test was lowest, the network reads three or four points less on average. One seed does
# better there, and the lead is a little less than three uncertainties, so take that as likely, not as settled. The test
# need not find the best rate. It finds the neighbourhood, for less than three epochs.

# %% [markdown]
# One rate need not serve the whole training. At the beginning the weights are random and the gradient changes quickly,
# so a long step can do harm; near the end, long steps jump to and fro across the valley of lesson 03. A **schedule**
# changes it from step to step. Ours lets it climb at first, a **warm-up**,[^Goyal et al. "Accurate, Large Minibatch SGD
# (2017)"] and then fall along half a cosine.[^Loshchilov and Hutter "SGDR: Stochastic Gradient Descent with Warm
# Restarts (2017)"]

# %%
steps = nn.schedules.count_steps(3200, 64, 3)  # batches in three epochs
schedule = nn.schedules.warm_up(20, nn.schedules.cosine(0.1, steps - 20))
rising_then_falling = [schedule(k) for k in range(steps)]

# %% tags=["hide-input", "continued"]
plain, cosine = rules["momentum 0.9, lr 0.1"], rules["momentum 0.9, warm-up of 20, cosine"]
figures.show(
    figures.rates.schedule(rising_then_falling),
    alt="The learning rate climbs in a straight line to 0.1 at step 20 and falls along half a cosine to 0 at step 150.",
    caption=f"With this schedule five trainings end at {cosine.mean:.1f} % of the validation digits ({cosine.range}), "
    f"with the rate always at 0.1 they end at {plain.mean:.1f} % ({plain.range}).",
)

# %% [markdown]
# In this small network the schedule makes no difference that five trainings could show. And in a deep one? Give the
# eight layers weights of $\sqrt{2/n}$ and lesson 06's rate of 0.1, which we avoided because it is too much for so many
# layers. Whether such a training fails is partly luck, so we take forty seeds, each without a warm-up and with one:

# %% tags=["hide-input"]
# Forty deep networks without a warm-up, and the same forty with one.
reads = {name: np.array(found) for name, found in warm_up_runs().items()}
without, gentle = reads.values()
table([(name, (r >= 80).sum(), len(r), np.median(r)) for name, r in reads.items()],
      ["eight layers, from √(2/n)", "learned", "trainings", "the middle one reads, %"],
      formats={"the middle one reads, %": ".1f"},
      caption="With a warm-up the rate climbs to 0.1 in 100 steps, without one it begins there; then it falls along "
      "half a cosine, in five epochs. Learned: 80 % of the validation digits, or more.")  # fmt: skip

# %% tags=["hide-input", "continued"]
# The same, seed by seed.
saved, lost = ((without < 80) & (gentle >= 80)).sum(), ((without >= 80) & (gentle < 80)).sum()
gains = (gentle - without)[(without >= 80) & (gentle >= 80)]
print(f"learned only with the warm-up: {saved} seeds, only without it: {lost}")
print(f"where both learned, {len(gains)} seeds, the warm-up reads {gains.mean():.1f} points more,",
      f"uncertain by {gains.std(ddof=1) / np.sqrt(len(gains)):.1f}")  # fmt: skip

# %% [markdown]
# After the first ten seeds it stood at 5 against 9, which looks decisive. After forty it is 31 against 36. Seed by
# seed, it saves nine networks and loses four, and 13 throws of a coin fall as unevenly as that about once in four
# times. So these trainings do not show that a warm-up saves networks. They do show that it helps those that learn: by
# more than two points, which is more than three times its uncertainty.
#
# ## A step of its own for every weight: Adam
#
# So far all weights share one rate. Momentum from lesson 06 sums up their *gradients*. **Adam** keeps a running average
# $m$ of the gradients and another one, $v$, of their *squares*, and divides the first by the root of the
# second.[^Kingma and Ba "Adam: A Method for Stochastic Optimization (2015)"] (So $v$ is no velocity here.) For each
# weight, with gradient $g$ at step $t = 1, 2, \dots$:
#
# $$m \leftarrow \beta_1 m + (1-\beta_1)\,g \qquad v \leftarrow \beta_2 v + (1-\beta_2)\,g^2$$
#
# $$\begin{gathered} m' = \frac{m}{1-\beta_1^t} \qquad v' = \frac{v}{1-\beta_2^t} \\
# w \leftarrow w - \mathrm{lr}\, \frac{m'}{\sqrt{v'} + \epsilon} \end{gathered}$$

# %% [markdown]
# Usual are $\beta_1 = 0.9$, $\beta_2 = 0.999$, $\epsilon = 10^{-8}$. Both averages begin at 0, so the first ones are
# far too small; dividing by $1-\beta^t$ corrects this.

# %% tags=["hide-input"]
# A prediction.
longer = predict(
    "Two weights get the gradients 3 and 3,000. How much longer is Adam's first step for the second one?",
    ["1,000 times", "about 32 times, the root of it", "as long as the other"],
    answer="as long as the other",
    reveals=2,
)
longer

# %% tags=["hide-output"]
w, gradient = np.zeros(2), np.array([3.0, 3000.0])
m, v = np.zeros(2), np.zeros(2)
ops.adam_step([w], [gradient], 0.01, [m], [v], step=1)
print("Adam ", w.round(6))
print("plain", -0.01 * gradient)

# %% [markdown]
# <details class="reveal"><summary>A rate in the unit of the weights</summary>
#
# By hand, for the gradient 3: $m = 0.1 \cdot 3 = 0.3$ and $v = 0.001 \cdot 9 = 0.009$. Then $m' = 0.3/0.1 = 3$ and
# $v' = 0.009/0.001 = 9$. So the step is $\mathrm{lr} \cdot 3/\sqrt9 = \mathrm{lr}$. For 3,000 the factor cancels.
#
# What is left is the sign, and how well the last gradients agree: if they keep changing their sign, $m'$ is small
# against $\sqrt{v'}$ and the step is short. So Adam's learning rate is about the length of a step, whatever the size of
# the gradient. (After a long silence, when $v$ has faded, the first steps can be several times as long.) This is why
# its default, 0.001, is a fair first try in many networks.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was computed.
longer.confirm("as long as the other" if np.isclose(w[1], w[0], rtol=1e-6) else "another length")

# %% [markdown]
# See it walk. Here is lesson 06's valley, a hundred times as steep across as along: above with momentum at the rate
# 1.9, below with Adam. Multiply the whole loss by 10, then by 0.01. A change of units should not matter, but momentum
# leaves the map with the one and hardly gets anywhere with the other. Adam takes the same steps each time, and its
# first one is as long along the valley as across.

# %%
figures.adam_valley(start=(-9, 1.5), lr=0.3)

# %% [markdown]
# Is it better on digits, too? Here are three rules at four rates, on the network of lesson 06.

# %% tags=["hide-input"]
names = {"SGD": "plain SGD", "momentum 0.9": "momentum 0.9", "Adam": "Adam"}
by_rate = {f"{lr}": [rules[f"{rule}, lr {lr}"].mean for rule in names] for lr in (0.001, 0.01, 0.1, 1)}
table(
    {"rule": list(names.values()), **by_rate},
    formats=dict.fromkeys(by_rate, ".1f"),
    caption="Validation accuracy in % after three epochs, by learning rate; mean of five trainings",
)

# %% [markdown]
# Look first for the best entry of each row. Seed by seed, Adam at 0.01 leads momentum at 0.1 by half a point, and this
# lead is smaller than its uncertainty: five seeds cannot tell which of the two is better. Then look at the column
# 0.001, which is Adam's default. Plain SGD has hardly begun, momentum is on its way, and Adam is a point or two below
# its best. That is its merit: the first try is seldom wasted. Its price is two more numbers for every weight, where
# momentum keeps one. And it too can be ruined: see the columns 0.1 and 1.

# %% [markdown]
# ## Two brakes against learning by heart
#
# **Weight decay** pulls every weight a little towards 0 at each step: add $\lambda w$ to the gradient, and in the end
# only weights whose gradient keeps opposing the pull stay large. For Adam the pull is kept out of the gradient and
# done beside it, or the division would distort it; that version is called AdamW.[^Loshchilov and Hutter "Decoupled
# Weight Decay Regularization (2019)"]
#
# **Dropout** sets units to 0 by chance, in training only.[^Srivastava et al. "Dropout: A Simple Way to Prevent Neural
# Networks from Overfitting (2014)"] No unit can then rely on another one being there. Those that stay are divided by
# the chance to stay, so the next layer's sums keep their mean, and nothing needs to change when the network is used.

# %%
a = np.ones((1, 10))
for seed in (4, 9):
    print(ops.dropout_forward(a, 0.5, seed)[0])
many = ops.dropout_forward(np.ones(100_000), 0.5, 3)[0]
print("the mean stays near 1:", abs(many.mean() - 1) < 0.02)

# %% [markdown]
# What do the two brakes do for a network that has only 300 digits to learn from? After 60 epochs the plain one reads
# all of them, and 84.5 % of the validation digits. With 3,200 digits it was 90 %. Two things may cause such a gap. The
# network may have learned its digits in too much detail, or it may never have seen enough different hands. A brake can
# mend only the first.

# %% tags=["hide-input"]
# A prediction.
brake = predict(
    "How many validation digits does it read with dropout of half the hidden units?",
    ["at least five points more: as many as from 3,200 digits", "one to five points more",
     "within a point of 84.5 %", "at least a point less"],
    answer="within a point of 84.5 %",
    reveals=2,
)
brake

# %% tags=["hide-output", "hide-input"]
on_few = training_runs("few")
kinds = ["plain", "dropout 0.2", "dropout 0.5", "dropout 0.8", "weight decay 0.01", "weight decay 0.1",
         "dropout 0.5 and decay 0.001"]  # fmt: skip
plain_few = on_few["300 digits, plain"]
table(
    [(kind, r.mean, *(lead(r, plain_few) if r is not plain_few else (None, None)))
     for kind, r in ((kind, on_few[f"300 digits, {kind}"]) for kind in kinds)],
    ["300 digits", "validation accuracy, %", "lead over plain", "uncertain by"],
    formats={"validation accuracy, %": ".1f", "lead over plain": ".2f", "uncertain by": ".2f"},
    caption="Means of five. The number after “dropout” is the share of hidden units that is set to 0.",
)

# %% [markdown]
# <details class="reveal"><summary>Half a point at most</summary>
#
# No brake gains more than half a point. The only gain beyond three uncertainties is that of dropout 0.2, and it was
# picked as the best of six. A decay of 0.01 loses about as much, as surely. And the strongest of each kind do harm:
# dropping four units in five costs most of a point, and a decay of 0.1 costs four.
#
# Ten times as many digits brought more than five points, and no brake here brings one. So for this network the gap is
# mostly a want of other digits. (Elsewhere brakes can be worth more.) First ask for more data, and then try a brake.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by the measurement.
gained = on_few["300 digits, dropout 0.5"].mean - on_few["300 digits, plain"].mean
brake.confirm(brake.answer if abs(gained) < 1 else f"{gained:+.1f} points")

# %% [markdown]
# ## A search that does not fool you
#
# Training finds the parameters; whatever you set before is a hyperparameter,[^Dey "Neural Networks"] and this page has
# added a good many: the size of the first weights, the scale of the inputs, rate and schedule, the betas, decay and
# dropout. No gradient says how to change them, so one tries, and looks at **validation** digits while trying, as every
# comparison of accuracies on this page has done.
#
# A search goes from coarse to fine. The table of the three rules was the coarse half: rates by powers of ten, and for
# Adam the best was 0.01. For the fine half we try the neighbours, about a factor of two apart, each with five seeds:

# %% tags=["hide-input"]
finer = training_runs("search")
finer = {lr: finer[f"Adam, lr {lr}"] for lr in (0.001, 0.002, 0.005, 0.01, 0.02, 0.05)}
table([(lr, r.mean, r.range) for lr, r in finer.items()],
      ["rate", "validation accuracy, %", "least to greatest of five"],
      formats={"rate": "g", "validation accuracy, %": ".1f"}, caption="Adam on 784-128-10, three epochs.")

# %% [markdown]
# The best mean is that of 0.005. By how much, and how sure is that? Once more seed by seed:

# %%
rivals = [lr for lr in finer if lr != 0.005]
leads = {lr: np.subtract(finer[0.005].validation, finer[lr].validation) for lr in rivals}
table([(lr, *leads[lr], *lead(finer[0.005], finer[lr])) for lr in rivals],
      ["0.005 against", *(f"seed {seed}" for seed in range(5)), "mean lead", "uncertain by"],
      formats={"0.005 against": "g", "mean lead": ".2f", "uncertain by": ".2f"}
      | {f"seed {seed}": ".1f" for seed in range(5)})

# %% [markdown]
# The lead over 0.01 and 0.02 is between two and three times its uncertainty. And 0.005 was picked as the best of six;
# being picked flatters it, as it flattered the best of lesson 06's thousand guessers. So it may be a little better than
# 0.01, and it may not: either would do. One seed alone could have misled you, for seed 1 prefers 0.02. What five seeds
# do settle is that 0.001, 0.002 and 0.05 are worse: those leads are more than five times their uncertainty. We take
# 0.005. Now, for the first and last time on this page, we look at the test digits.

# %% tags=["nbval-ignore-output", "continued"]
def trained_by_adam(lr, seed):
    rng = np.random.default_rng(seed)
    net = nn.models.mlp((784, 128, 10), rng=rng)
    nn.train(net, (x_fit, y_fit), epochs=3, batch_size=64, lr=lr, rng=rng, optimiser=nn.Adam(net))
    return net

best = max(finer, key=lambda lr: finer[lr].mean)
chosen = np.mean([nn.evaluate(trained_by_adam(best, s), digits.x_test, digits.y_test).accuracy for s in range(5)])
print(f"chosen: {best}; validation accuracy {finer[best].mean:.1f} %, test accuracy {chosen:.1%}, means of five")

# %% [markdown]
# The two may differ by some points, since they are two sets of digits; here the test happens to be the easier one, as
# in lesson 06. Two habits make such a search honest. Space the rates by factors, not by differences, since nobody knows
# the power of ten. And know how far seeds lie apart before you believe a lead.
#
# ## Your turn: six curves
#
# In practice you rarely see layers. You see a curve. Each of the six patients below is a training of a digit network,
# with its loss on training and on validation digits before training and after each of 20 epochs. One of them is in good
# health. What ails the others?

# %% tags=["hide-input"]
curves = sick_curves()
figures.diagnose(curves)

# %% [markdown]
# <details><summary>The six diagnoses</summary>
#
# | patient | diagnosis | how you see it | what to do |
# |---|---|---|---|
# | 1 | weights too small | both losses on the dotted line, ln 10, and still | $\sqrt{2/n}$ |
# | 2 | over-fitting | training loss to 0, validation loss stops falling | more data, stop early |
# | 3 | rate too large | the training loss jumps; that it ends near ln 10 is no clue | a rate ten times smaller |
# | 4 | sound | fast, then slow, lines close together | nothing |
# | 5 | weights too large | the first loss is far above ln 10 | $\sqrt{2/n}$, or scale the inputs |
# | 6 | rate too small | both fall evenly, far from done | a rate ten times larger |
#
# </details>

# %% [markdown]
# ## The checklist
#
# When the next network refuses, go through this list before you change anything.
#
# 1. **Ten samples.** It learns them by heart in about 100 steps. If not, points 2 to 4 test the signal and the rate. If
#    they find nothing, look through the code.
# 2. **Step 0.** The loss of $C$ classes is about $\ln C$. Far above it, the weights or the inputs are too large.
# 3. **Forward.** The spread of the last hidden layer's outputs is within a factor of ten of the first one's, and fewer
#    than half of the units are idle or saturated.
# 4. **Back.** In every layer, the first step moves the weights by a ten-thousandth to a fiftieth of their spread. If
#    it is less, the signal or the rate is too small, or all units are alike; if it is more, one of them is too large.
# 5. **Rate.** A range test; then a third of the lowest point's rate, or Adam at 0.001. Then search around it.
# 6. **The gap.** Only when it learns at all: compare training and validation loss, and think of data and of brakes.
#
# And change one thing at a time.

# %% [markdown]
# Here are points 1 to 4 for networks of this page. Of the layers' steps the shortest is shown, and the last column is
# the validation accuracy after the training that followed.

# %% tags=["hide-input", "nbval-ignore-output"]
# `examine` makes the four measurements; the digits are then learned for as many epochs as above.
def seeded(sizes, **options):
    return nn.models.mlp(sizes, rng=np.random.default_rng(0), **options)

SHALLOW, HE = (784, 128, 10), nn.init.he_normal
cases = [
    ("1 layer, √(2/n)", SHALLOW, HE, 0.1, {}), ("1 layer, σ = 0.05", SHALLOW, nn.init.normal(0.05), 0.1, {}),
    ("1 layer, σ = 0.001", SHALLOW, nn.init.normal(0.001), 0.1, {}), ("8 layers, √(2/n)", DEEP, HE, 0.02, {}),
    ("8 layers, tanh, σ = 0.1", DEEP, nn.init.normal(0.1), 0.02, {"activation": "tanh"}),
    ("8 layers, σ = 0.05, the patient", DEEP, nn.init.normal(0.05), 0.02, {}),
    ("1 layer, all weights 0.05", SHALLOW, constant, 0.1, {}),
    ("1 layer, σ = 1", SHALLOW, nn.init.normal(1), 0.1, {}),
    ("1 layer, √(2/n), rate 0.0001", SHALLOW, HE, 0.0001, {}), ("1 layer, √(2/n), rate 1", SHALLOW, HE, 1, {}),
]  # fmt: skip
rows = []
for name, sizes, init, lr, more in cases:
    make = partial(seeded, sizes, init=init, **more)
    seen, rng = examine(make, (x_fit, y_fit), lr=lr), np.random.default_rng(0)
    net = nn.models.mlp(sizes, rng=rng, init=init, **more)  # as `make`; `rng` goes on to draw the batches, as above
    nn.train(net, (x_fit, y_fit), epochs=5 if sizes == DEEP else 3, batch_size=64, lr=lr, momentum=0.9, rng=rng)
    rows.append((name, seen.learned, f"{seen.loss:.{0 if seen.loss > 10 else 2}f}", seen.forward, seen.step[0],
                 ", ".join(map(str, seen.failed)) or "none", nn.evaluate(net, x_val, y_val).accuracy))  # fmt: skip
table(rows, ["network", "1: of ten", "2: loss", "3: last / first", "4: step", "fails", "then reads"],
      formats={"3: last / first": ".1g", "4: step": ".0e", "then reads": ".0%"}, align="lrrrrlr")  # fmt: skip

# %% [markdown]
# The first five pass, and learn. Each of the others fails a point, and learns less or nothing. But no point finds them
# all: only its loss gives $\sigma = 1$ away, and the equal weights have an ordinary signal on the way forward. On the
# way back every hidden unit's delta is 0.05 times the sum of $k - y$ over the ten classes, and that sum is 0.
#
# No wonder: the limits were set with these networks in view. To judge a list by the networks it was made from is to
# quote a training accuracy. So here is its test: 60 networks whose layers, weights and rates were drawn by lot after
# the limits were fixed. We examined each of them, and then trained it for five epochs.

# %% tags=["hide-input"]
# Sixty strangers: what the list says of them, and what they learn.
drawn = strangers()
groups = {"none": [s for s in drawn if not s.failed], "only 2": [s for s in drawn if s.failed == (2,)],
          "only 4": [s for s in drawn if s.failed == (4,)], "2 and 4": [s for s in drawn if s.failed == (2, 4)],
          "1, and not 3": [s for s in drawn if 1 in s.failed and 3 not in s.failed],
          "3, and not 1": [s for s in drawn if 3 in s.failed and 1 not in s.failed],
          "1 and 3": [s for s in drawn if {1, 3} <= set(s.failed)]}  # fmt: skip
table([(name, len(group), sum(s.learns for s in group), f"{min(s.reads for s in group):.0f} to "
        f"{max(s.reads for s in group):.0f}") for name, group in groups.items()],
      ["fails", "networks", "of them learn", "read, %"],
      caption="1 to 12 hidden layers of 30, 60 or 200 units, ReLU or tanh, weights from a quarter to four times "
      "√(2/n), rates from 0.0003 to 1. Learn: read at least 80 % of the validation digits after five epochs. A "
      "network whose numbers ran away reads 0 %.")  # fmt: skip

# %% [markdown]
# All ten that pass have learned. Of the fifty that fail, seven have learned all the same, so the list sometimes cries
# wolf. Its mildest warning is point 2: the four networks that fail nothing else all learned. To fail
# nothing but point 4 means slow rather than lost: those three read 70 to 80 %. Points 1 and 3 are the serious ones: of
# the 41 networks in the last three rows, two learned. Still, only ten networks passed, and all sixty learned the same
# kind of data, digits. Take the list as a doctor takes a thermometer: as a reason to look.
#
# ## Back to the patient
#
# We began with a network that has no mistake in it, and does not learn. Its formulas are still the same. All that we
# changed is the size of its random numbers, to $\sqrt{2/n}$ in each layer, and it went from one digit in ten to nine.
# So the formulas of the gradient being right is not enough. They say which way each weight should go, and nothing about
# how much of a signal is left when it gets there. That has to be measured, before the first step, and it takes a
# minute.

# %% [markdown]
# ## Try it
#
# - Train the patient with tanh instead of ReLU (`nn.models.mlp(DEEP, activation="tanh", ...)`) and weights of deviation
#   0.05. First ask the figure at the top whether it will learn.
#   <details><summary>Answer</summary>
#
#   At 0.05 tanh halves the signal where ReLU leaves a third of it, so 0.0026 of spread arrives in layer 8 instead of
#   0.0002, and a gradient some twenty times as large comes back. That is still too little: after three epochs it reads
#   fewer than a quarter of the validation digits. With 0.1, which is $\sqrt{1/n}$, it reads about eight in ten by then.
#
#   </details>
# - Give the first layer pixels from 0 to 255, and repair the network without touching the pixels. Which weights must be
#   smaller, and by how much?
#   <details><summary>Answer</summary>
#
#   Those of the first layer, by 255: then every sum is what it was. But their gradient is 255 times as large, and they
#   are 255 times as small, so they need a rate that is $255^2 = 65{,}025$ times smaller than the other layers'. Adam
#   cancels one of the two 255s, the gradient's. Its step is still about lr, which for such weights is 255 times too
#   long.
#
#   </details>

# %% [markdown]
# ## Check yourself
#
# **1.** A layer has 400 inputs, and the spread of its input is 1. The weights have $\sigma = 0.1$, the activation is
# ReLU. What is the spread of its output, and after five such layers? Which $\sigma$ would be right?
#
# <details><summary>Answer</summary>
#
# The factor is $0.1 \cdot \sqrt{400/2} = \sqrt 2 = 1.41$, and after five layers the spread is $(\sqrt 2)^5 = 5.7$.
# Right would be $\sigma = \sqrt{2/400} = 0.071$.
#
# </details>

# %% [markdown]
# **2.** A network for 100 classes has the loss 4.605 before training and 4.605 after an hour. A colleague proposes
# dropout. What do you say, and what do you measure first?
#
# <details><summary>Answer</summary>
#
# $\ln 100 = 4.605$: the network guesses, and has learned nothing at all. Dropout is a brake on learning by heart; here
# nothing is learned, by heart or otherwise. Give it ten samples. If it cannot learn them, look at the spread of outputs
# and gradients layer by layer.
#
# </details>

# %% [markdown]
# **3.** Someone trains 40 settings, and reports the best test accuracy, 94.1 %, as the effect of a new dropout rate;
# the old one had 93.4 %. Name two things that are wrong.
#
# <details><summary>Answer</summary>
#
# The choice was made on the test digits, so the number is probably too high; it should have been made on validation
# digits, and the test looked at once. And seeds of one setting often differ by a point or more, so the best of 40 can
# beat an old run by 0.7 without any effect. Train both rates with several seeds.
#
# </details>
