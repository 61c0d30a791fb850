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
# # 09 · LeNet-5: a whole network, layer by layer
#
# In 1998 machines read several million bank cheques a day,[^LeCun, Bottou, Bengio, Haffner "Gradient-Based Learning
# Applied to Document Recognition, 1998, abstract"] and what recognised the digits in them was a network like the one
# you see below. You know most of its layers from lessons 06 to 08. Here they work together.
#
# Such a machine has to fit into its memory, and it has to answer in time. It is easy to believe that both come to the
# same: **the layer with the most parameters takes the most time**. You are going to count both, and then hold a clock
# to them. But first, have a look around.

# %% tags=["hide-input", "nbval-ignore-output"]
# LeNet-5, trained for seven epochs, and what it makes of one digit.
import numpy as np

from course_lib import checks, data, fast, figures, gpu, nn
from course_lib import cuda as cuda_ops
from course_lib import reference as ops
from course_lib.lesson import (
    colour_images,
    cost_share,
    layer_times,
    padded,
    predict,
    table,
    train_in_phases,
    unrolled_times,
)

digits = data.load_digits(seed=0)
x_train, x_test = padded(digits.x_train), padded(digits.x_test)
LAYERS, SHAPE = figures.lenet.NAMES, (1, 32, 32)

rng = np.random.default_rng(0)
net = nn.models.lenet5(rng=rng)
lenet_loss = train_in_phases(net, (x_train, digits.y_train), [(5, 0.03), (2, 0.003)], rng=rng)
figures.network_volumes(net, SHAPE, names=LAYERS, image=x_test[0], costs=False, chosen="C1",
                        title="LeNet-5 reads a digit. Choose a layer, by mouse or with the arrow keys")

# %% [markdown]
# Every box is what comes out of one layer. It is drawn to scale: as high and wide as the layer's maps, as deep as there
# are maps. Walk through it from left to right. The maps become smaller, and there are more of them. In C1 you see the
# digit six times over; from C3 on you would hardly recognise it, though the network does. And each number depends on
# more of the image, until a single number of C5 depends on all of it. (C5 and F6 look like needles: their maps are
# single pixels, 120 and 84 of them, one behind the other.)
#
# This is LeNet-5 as one would build it **today**. The **classic** network, of 1998, has the same boxes with some other
# parts inside. We build today's first and then look at what was different. The page always says which one it means.

# %% [markdown]
# ## You will be able to
#
# - build LeNet-5 from layers, and say the shape of an image after each of them;
# - compute parameters and multiply-adds of a layer, and say why they are two different things;
# - explain the output that measures distances, the tanh that goes with it, and the loss that fits it;
# - compare two networks fairly, mistakes included.

# %% [markdown]
# <details><summary>About this page</summary>
#
# It follows ECE 508 lecture 10 by Prof. Hwu and colleagues at Illinois and, for colour, Prof. Dey's lecture 56 at IIT
# Kharagpur with its slides. The network itself is that of a paper by LeCun, Bottou, Bengio and Haffner. You need
# lessons 06, 07 and 08. Reading and trying takes about 55 minutes, the two optional parts 10 more.
#
# </details>

# %% [markdown]
# ## Seven layers
#
# A name says what a layer does and which in the row it is: C for a convolution, S for subsampling, as pooling was
# called then, F for the fully connected layer.[^Hwu "Convolution Layers in LeNet-5"] Here are the boxes once more, each
# beside what makes it.

# %% tags=["hide-input"]
# The boxes with what makes them.
figures.show(
    figures.lenet.layer_rows(net),
    alt="From top to bottom the input 1@32, C1 6@28, S2 6@14, C3 16@10, S4 16@5, C5 120@1, F6 84, OUTPUT 10. Different "
    "in 1998 and today: S2 and S4 (trained sums or maxima), C3 (over some or all maps), OUTPUT (distances or scores).",
    caption="6@28 means six maps of 28 × 28. Activations stand in between: in 1998 a tanh after each layer but the "
    "last, today a ReLU, and none after pooling.",
)

# %% [markdown]
# Every size follows from the one above. A mask of 5 × 5 fits in $32 - 5 + 1 = 28$ places along a side. Pooling halves
# that to 14. Then $14 - 5 + 1 = 10$, half of it is 5, and $5 - 5 + 1 = 1$: in C5 a mask fits in one place only. Each
# halving comes out even, so no row of pixels is lost.

# %% [markdown]
# ### In code
#
# Today's network is a dozen layers in a row. `Conv2d(6, 16, 5)` makes 16 maps out of 6, with masks of 5 × 5. After C5
# there are 120 maps of a single pixel, and `Flatten` writes them as 120 numbers, since that is what a dense layer
# takes.

# %%
def todays_lenet5(rng):
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, rng=rng), nn.ReLU(), nn.MaxPool(2),  # C1, S2
        nn.Conv2d(6, 16, 5, rng=rng), nn.ReLU(), nn.MaxPool(2),  # C3, S4
        nn.Conv2d(16, 120, 5, rng=rng), nn.ReLU(), nn.Flatten(),  # C5
        nn.Dense(120, 84, rng=rng), nn.ReLU(),  # F6
        nn.Dense(84, 10, rng=rng),  # OUTPUT
    )

# %% tags=["hide-input"]
# These lines make what the library makes, with the same weights.
twins = [build(rng=np.random.default_rng(0)) for build in (todays_lenet5, nn.models.lenet5)]
assert repr(twins[0]) == repr(twins[1])
for one, other in zip(*(twin.parameters().values() for twin in twins), strict=True):
    assert np.array_equal(one, other)

# %% [markdown]
# The network at the top of the page consists of these layers, and has been trained. Let us send the 5 through it, one
# layer at a time. The image is a batch of one with one map, (1, 1, 32, 32). Can you say each shape before you read it?

# %%
x = x_test[:1]
print(x.shape, "the image")
for layer in net:
    x = layer.forward(x)
    print(x.shape, "after", layer.describe())
print("largest score:", x.argmax())

# %% [markdown]
# Seven of the twelve layers have a box in the drawing, and each of them makes another shape. `Flatten` only writes the
# same numbers in a row, and a ReLU leaves the shape as it is. The largest of the ten scores is the answer.

# %% [markdown]
# ### Why 32 × 32?
#
# Our digits have 28 × 28 pixels. LeNet-5 gets them with a border of two zeros.[^Hwu "Inputs Inflated to Provide
# Padding"] What for? Where a stroke ends or turns is what tells digits apart, and a detector should be able to have
# such a place in the middle of its window.[^LeCun, Bottou, Bengio, Haffner "Gradient-Based Learning Applied to Document
# Recognition, 1998, section II"] The detectors here are the numbers of C3. Each sees a window of 14 × 14 pixels, and
# the next one sees the window two pixels further on.

# %% tags=["hide-input"]
# The middles of C3's windows, and how much of all digits' ink lies there.
ink = np.concatenate([digits.images(part) for part in ("train", "test")]).astype(float)
inside = {side: ink[:, 14 - side // 2 : 14 + side // 2, 14 - side // 2 : 14 + side // 2].sum() / ink.sum()
          for side in (20, 16)}
figures.show(
    figures.lenet.window_middles(x_test[0, 0, 2:-2, 2:-2]),
    alt="A digit with a grid of small squares, the middles of all windows of C3. With the border they cover 20 x 20 "
    "pixels and nearly all of the digit, without it 16 x 16, and the digit sticks out on the right and below.",
    caption=f"Dashed: one window, with its middle. With the border {inside[20]:.0%} of the ink of our 5,000 digits "
    f"lies in some window's middle, without it {inside[16]:.0%}.",
)

# %% [markdown]
# A window of 14 pixels has no pixel in its middle but a block of two by two. With the border there are ten windows side
# by side, so the blocks cover $10 \cdot 2 = 20$ pixels each way. This is the **20 × 20** that the paper names. (The
# first centre and the last are $9 \cdot 2 = 18$ pixels apart.)
# Our digits are 20 pixels long as well. Without the border there would be eight windows and 16 × 16 pixels, too few for
# them.

# %% [markdown]
# ## What was different in 1998
#
# ### S2 and S4: pooling with two numbers to train
#
# Pooling makes the network less sensitive to small shifts and distortions,[^LeCun, Bottou, Bengio, Haffner
# "Gradient-Based Learning Applied to Document Recognition, 1998, section II"] and leaves less data to work on.[^Hwu
# "Subsampling Layers in LeNet-5"] Today one takes the largest of four numbers. The classic S2 adds the four, multiplies
# the sum by a weight and adds a bias, and each map has its own weight and bias, which are trained:
#
# $$y_{chv} = w_c \sum_{p=0}^{1} \sum_{q=0}^{1} x_{c,\,2h+p,\,2v+q} + b_c$$
#
# With $w_c = 1/4$ and $b_c = 0$ this is the average of the four, and that is where we let it start. From
# $(B, C, H, W)$ it makes $(B, C, H/2, W/2)$.

# %% [markdown]
# ### C3: a convolution with a table
#
# Today each map of C3 looks at all six maps of S2. In 1998 it looked at some of them only. A **connection table** says
# at which: below, every column is one of the sixteen maps of C3.

# %% tags=["hide-input"]
# C3's connection table.
sees = nn.models.c3_table()  # (16, 6): a row per output map
figures.show(
    figures.lenet.connections(sees),
    alt="C3's table: six maps see 3 of S2's maps, nine see 4, one sees all 6; "
    f"together {sees.sum()} connections.",
    caption="A filled cell: this output map sees this input map. No two columns are equal.",
)

# %% [markdown]
# Each filled cell stands for a mask of 5 × 5 weights, and each column has one bias.

# %% tags=["hide-input"]
# A prediction.
in_c3 = predict("How many parameters has the classic C3?", ["76", "1,516", "2,416", "9,000"], answer="1,516", reveals=2)
in_c3

# %% tags=["hide-input", "hide-output"]
# C3's parameters, with and without its table.
connected = int(sees.sum())
print(connected, "x 25 + 16 =", connected * 25 + 16, "  without the table:", 16 * 6 * 25 + 16)

# %% [markdown]
# <details class="reveal"><summary>Count the filled cells</summary>
#
# Six maps see three, nine see four and one sees six: $6\cdot3 + 9\cdot4 + 6 = 60$ connections with 25 weights each, and
# 16 biases. The table saves 900 of 2,416 parameters. And it **breaks symmetry**:[^Hwu "Convolution Layers in LeNet-5"]
# since no two maps see the same inputs, they cannot stay copies of each other (an optional part at the end shows it).
# Random starting weights do the same, and so today's networks need no table.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was computed.
in_c3.confirm(f"{connected * 25 + 16:,}")

# %% [markdown]
# ### OUTPUT: how far from a drawing?
#
# Today's network ends with ten scores. The classic one ends with ten drawings. Each digit has a **prototype**, a fixed
# picture of 12 × 7 pixels that are -1 or 1, and the $12 \cdot 7 = 84$ numbers of F6 are read as such a picture, too.
# (The drawings below are ours. The paper drew letters and other characters as well.)

# %% tags=["hide-input"]
# The drawings.
prototypes = ops.digit_prototypes()  # (10, 84)
figures.show(
    figures.lenet.drawings(prototypes),
    alt="Ten drawings of digits, 12 pixels high and 7 wide, each pixel black for 1 or white for -1.",
    caption="The ten prototypes. Which two of them differ least?",
)

# %% [markdown]
# OUTPUT only compares. Its ten numbers are the squared distances of F6's picture from the prototypes $w_i$, and **the
# smallest one wins**; such an output is a **radial basis function**. So F6 has to *draw* the digit, and by then it must
# know which digit it is.[^Hwu "OUTPUT Layer in LeNet-5"] As a formula, and as loops:
#
# $$y[b, i] = \sum_{d=0}^{83} (x[b, d] - w[i, d])^2$$
#
# From $x$, $(B, 84)$, and $w$, $(10, 84)$, it makes $(B, 10)$.

# %%
def distances_loops(x, w):
    y = np.zeros((len(x), len(w)))
    for b, i in np.ndindex(y.shape):
        for d in range(w.shape[1]):
            y[b, i] += (x[b, d] - w[i, d]) ** 2
    return y

apart = distances_loops(prototypes, prototypes)
print("from the 3 to 0 ... 9:", apart[3].astype(int))

# %% tags=["hide-input"]
# The library computes the same, its gradients are right, and what the text says of the 3 and the 8 is true.
f6 = np.random.default_rng(2).uniform(-1, 1, (3, 84))
checks.check_close(ops.rbf_forward(f6, prototypes)[0], distances_loops(f6, prototypes), rtol=1e-12)
checks.check_op_gradients(ops.rbf_forward, ops.rbf_backward, [f6, prototypes], rng=np.random.default_rng(3))
assert apart[3, 8] == apart[~np.eye(10, dtype=bool)].min() == 4 * 6

# %% [markdown]
# A pixel that is -1 instead of 1 adds $2^2 = 4$. So the 3 is 0 away from itself and 24 from the 8: six pixels differ,
# and no other two prototypes are as close.
#
# These are the parts that only the classic network has. Here is all of it (the second convolution has the
# table):

# %%
classic = nn.models.lenet5(rng=np.random.default_rng(0), classic=True)
for layer in classic:
    print(layer.describe())

# %% [markdown]
# ## What each layer costs
#
# Back to the machine that has to fit into a memory and to answer in time. What it must store are the network's
# **parameters**, the numbers that training changes (and the 840 pixels of the ten drawings, which are fixed). A first
# guess at the time is the number of **multiply-adds**, one product added to a sum each.
#
# Let us count both for C1. It has 6 masks of 25 weights and 6 biases, so $150 + 6 = 156$ parameters. But each mask is
# used at $28 \cdot 28 = 784$ places. That makes $150 \cdot 784 = 117{,}600$ multiply-adds. In general, a convolution
# with masks of $K \times K$, $n$ connections and $M$ output maps has
#
# $$\text{parameters} = n K^2 + M$$
#
# $$\text{multiply-adds} = n K^2 \, H_{out} W_{out}$$
#
# The second is the first, without the $M$ biases, times the number of places. A dense layer has one place. S2 and S4
# multiply once for each output, and OUTPUT takes one square for each pixel of each drawing, $10 \cdot 84$.

# %% tags=["hide-input"]
# A prediction.
work = predict(
    "C5 of the classic LeNet-5 holds 48,120 of 60,000 parameters. What share of all multiply-adds does it do? (C1 does "
    "117,600; C3 has 60 connections and 10 x 10 places; C5 has one place.)",
    ["nearly all", "about four fifths", "about a half", "about a seventh"],
    answer="about a seventh",
    reveals=2,
)
work

# %% tags=["hide-input", "hide-output"]
# Parameters and multiply-adds of each layer, counted by the network itself.
costs = figures.lenet.named_costs(classic)
totals = (sum(c.trainable for c in costs.values()), sum(c.multiply_adds for c in costs.values()))
table(
    [*((name, str(c.output_shape), c.trainable, c.multiply_adds) for name, c in costs.items()), ("all", "", *totals)],
    ["layer", "output", "parameters", "multiply-adds"], caption="The classic LeNet-5")

# %% [markdown]
# <details class="reveal"><summary>How often is a weight used?</summary>
#
# C3 does $60 \cdot 25 \cdot 100 = 150{,}000$ multiply-adds, C1 117,600, and C5 no more than its 48,000 weights, each
# used once for each image: its masks fit in one place. A mask of C3 is used at 100 places, and a mask of C1 at 784. So
# C1 and C3 hold 3 % of the parameters and do 82 % of the work. **Parameters say how much is stored; places say how
# often each weight is used.**
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was counted.
held, done = cost_share(costs, "C5")
assert 0.78 < held < 0.82
work.confirm("about a seventh" if abs(done - 1 / 7) < 0.01 else f"{done:.1%}")

# %% [markdown]
# So the belief fails for LeNet-5. Where does it come from? From networks like lesson 06's MLP, perhaps. Here are its
# shares beside those of the two LeNets.

# %% tags=["hide-input"]
# Shares of the whole, in three networks.
mlp = nn.models.mlp((784, 128, 10), rng=np.random.default_rng(0))
today, dense = figures.lenet.named_costs(net), {c.layer: c for c in mlp.costs((784,))}
shares = {("classic", "C5"): cost_share(costs, "C5"), ("classic", "C1 + C3"): cost_share(costs, "C1", "C3"),
          ("today", "C5"): cost_share(today, "C5"), ("today", "C1 + C3"): cost_share(today, "C1", "C3"),
          ("MLP", "first layer"): cost_share(dense, "Dense 784 -> 128")}
table([(*where, *share) for where, share in shares.items()], ["network", "layer", "parameters", "multiply-adds"],
      formats={"parameters": ".1%", "multiply-adds": ".1%"}, caption="Shares of the whole")

# %% [markdown]
# In the MLP each weight is used once for each image, and the layer with the most parameters also has the most to do.
# What is true of dense layers is not true of convolutions. To make LeNet-5 smaller, you would work on C5. To make it
# faster, the counts send you to C3 first, then to C1. Go through the boxes once more and see the costs of each.

# %%
figures.network_volumes(net, SHAPE, names=LAYERS, chosen="C5", title="Today's LeNet-5 with its costs: choose a layer")

# %% [markdown]
# (While a network runs, its maps take memory as well. Training keeps those of a whole batch: with 64 digits they are
# 518,016 numbers, more than eight times the parameters.)

# %% [markdown]
# ### And the clock?
#
# So far we have counted. Will a clock agree? We time today's network in two ways. `course_lib.reference` unrolls, as in
# lesson 08: it copies each window into a column of a matrix, and one product does all multiply-adds.
# `course_lib.fast`, which our networks use, has compiled loops that read the pixels where they are. Each layer, with
# its ReLU, gets 64 digits 31 times on one thread, and the shortest time counts: what disturbs a run only adds to it.

# %% tags=["hide-input"]
# A prediction.
clock = predict(
    "C3 does twice the multiply-adds of C1 (240,000 against 117,600), and a third as many numbers come out of it "
    "(1,600 against 4,704). How long does it take?",
    ["about twice as long as C1: the time goes into multiply-adds",
     "about as long as C1: multiplying is only a part of the work",
     "about a third as long: the time goes into writing numbers down"],
    answer="about as long as C1: multiplying is only a part of the work",
    reveals=3,
)
clock

# %% tags=["hide-input", "hide-output", "nbval-ignore-output"]
# Every layer of today's LeNet-5, counted and timed.
both = {name: nn.models.lenet5(rng=np.random.default_rng(0), ops=backend)
        for name, backend in (("reference", ops), ("fast", fast))}
seconds = layer_times(both, x_train[:64], LAYERS, runs=31)
total = {name: sum(layers.values()) for name, layers in seconds.items()}
counted = {layer: cost_share(today, layer)[1] for layer in LAYERS}
part = {name: {layer: seconds[name][layer] / total[name] for layer in LAYERS} for name in both}
print("C5's share of the time:", ", ".join(f"{part[name]['C5']:.0%} with {name}" for name in both))
table([(layer, counted[layer], *(1000 * seconds[name][layer] for name in both)) for layer in LAYERS],
      ["layer", "multiply-adds", "reference, ms", "fast, ms"],
      formats={"multiply-adds": ".0%", "reference, ms": ".2f", "fast, ms": ".2f"}, caption="Time for 64 digits")

# %% tags=["hide-input", "hide-output", "nbval-ignore-output"]
# What reference does in that time, and C1's product with more masks.
steps = unrolled_times(both["reference"], x_train[:64], ("C1", "C3", "C5"), runs=31)
rest = {name: seconds["reference"][name] - sum(steps[name]) for name in ("C1", "C3")}
wider = nn.Sequential(nn.Conv2d(1, 16, 5, rng=np.random.default_rng(0)), ops=ops)
more = unrolled_times(wider, x_train[:64], ("C1",), runs=31)["C1"][1] / steps["C1"][1]
print(f"C1 with 16 masks instead of 6: {16 / 6:.1f} times the multiply-adds in {more:.1f} times the time")
table([(name, *(1000 * s for s in (*steps[name], rest[name], seconds["reference"][name]))) for name in rest],
      ["in ms", "copying", "product", "rest", "all"], caption="Steps of reference",
      formats=dict.fromkeys(("copying", "product", "rest", "all"), ".2f"))

# %% [markdown]
# <details class="reveal"><summary>Counts are not times</summary>
#
# (The times are those of the computer that made this page; run the cells, and you see yours.) C5, with 78 % of the
# parameters, takes little time: the belief is wrong. But the counts are no clock either. C3 takes about as long as C1,
# with twice the multiply-adds. And S2, which has none at all, takes more time than C5.
#
# The second table takes `reference` apart. The **product** is only a part of the time, and from C1 to C3 it does not
# double. As the line above the table shows, more masks make a multiply-add cheaper: a number of the matrix, once
# fetched, is used for all of them, 16 in C3 and 6 in C1. **Copying** is no cheaper in C3, though there is less to copy
# (15,000 numbers for an image; in C1, 19,600). They come in rows of 10, in C1 in rows of 28, and every row is a new
# start. The **rest** is the bias, the ReLU and writing down the result, and there C3 gains.
#
# So a clock sees what is computed, what is moved, and how. `fast` copies no windows at all.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured: far from twice as long.
ratio = max(seconds[name]["C3"] / seconds[name]["C1"] for name in both)
clock.confirm("about as long as C1: multiplying is only a part of the work" if ratio < 1.7 else f"{ratio:.1f} times")

# %% [markdown]
# ## Does it read better than the MLP?
#
# A small network is worth something only if it reads well. Our measure is the MLP of lesson 06, and the terms are
# equal: the same 4,000 digits in batches of 64, momentum 0.9, seven epochs, the last two with a tenth of the learning
# rate. Only the rate itself was chosen for each, 0.03 for LeNet-5 and 0.1 for the MLP. LeNet-5 was trained at the top
# of the page. Now it is the MLP's turn.

# %%
rng = np.random.default_rng(0)
mlp = nn.models.mlp((784, 128, 10), rng=rng)
mlp_loss = train_in_phases(mlp, (digits.x_train, digits.y_train), [(5, 0.1), (2, 0.01)], rng=rng)

# %% [markdown]
# Now both read the 1,000 test digits.

# %% tags=["hide-input"]
# A prediction.
fewer = predict(
    "Of 1,000 test digits the MLP, with 101,770 parameters, misreads about 50. Today's LeNet-5 has 61,706. How many "
    "does it misread?",
    [90, 50, 30],
    answer=30,
    reveals=2,
)
fewer

# %% tags=["hide-input", "hide-output", "nbval-ignore-output"]
# Both networks on the test digits.
result = {"today's LeNet-5": nn.evaluate(net, x_test, digits.y_test),
          "MLP": nn.evaluate(mlp, digits.x_test, digits.y_test)}
mistakes = {name: round(1000 * (1 - r.accuracy)) for name, r in result.items()}
table([(name, mistakes[name], result[name].accuracy, result[name].loss) for name in result],
      ["network", "mistakes", "accuracy", "test loss"], formats={"accuracy": ".1%", "test loss": ".3f"})

# %% [markdown]
# <details class="reveal"><summary>Fewer parameters, more work, fewer mistakes</summary>
#
# About 30 instead of about 50, with three fifths of the parameters and four times the multiply-adds. LeNet-5 also ends
# with the lower loss, on the training digits and on the test digits. It spends its work differently: it looks at small
# neighbourhoods, shares its masks and pools. Which of the three helps how much, this comparison cannot say. And it is
# one run of each, on test digits that we also looked at when we chose the settings, which makes both results a little
# too good (lesson 06).
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured, and what the text says of the two.
fewer.confirm(mistakes["today's LeNet-5"], rel=0.3)
assert 42 <= mistakes["MLP"] <= 62
assert lenet_loss[-1] < mlp_loss[-1]
assert result["today's LeNet-5"].loss < result["MLP"].loss

# %% [markdown]
# ### What it still gets wrong
#
# Here are the nine mistakes of which today's network was surest. Would you have read what the label says?

# %% tags=["hide-input", "nbval-ignore-output"]
# The surest mistakes.
found = nn.worst_mistakes(net, x_test, digits.y_test, 9)
figures.show(
    figures.training.mistakes(digits.images("test"), found, cols=3, side=1.2),
    alt=f"The nine surest mistakes; the surest is a {found.label[0]} read as {found.predicted[0]} with "
    f"{found.confidence[0]:.0%}.",
    caption="Sure and wrong. Which labels would you dispute?",
)

# %% [markdown]
# ### Digits that moved
#
# Those digits are odd ones. What of ordinary ones that are not where the network expects them? Ours
# were all placed with their centre of mass in the middle of the image; someone who fills in a cheque does not aim so
# well. Let us move each test digit by up to two pixels in both directions.

# %% tags=["hide-input"]
# A digit, and the same digit moved.
shift = nn.random_shifts(2)
moved_test = shift(x_test, np.random.default_rng(9))
by = np.abs(moved_test - x_test).sum(axis=(1, 2, 3))
shown = int(by[:100].argmax())
figures.show(
    figures.lenet.pictures([x_test[shown, 0], moved_test[shown, 0]], ["in the middle", "moved"], cols=2),
    alt=f"A handwritten {digits.y_test[shown]} in the middle of its image, and the same digit a little further out.",
    caption="To a reader nothing has changed. To a weight that looks at one pixel, much has.",
)

# %% tags=["hide-input"]
# A prediction.
after_move = predict(
    "Of 100 test digits the MLP reads 95 and today's LeNet-5 97. About how many do they read when each digit was moved "
    "by up to two pixels?",
    ["both about 95: two pixels of 28 are not much",
     "the MLP 65, LeNet-5 95: masks and pooling do not mind where a digit is",
     "the MLP 65, LeNet-5 85: not all of its layers have masks that slide",
     "both about 65: all training digits were in the middle"],
    answer="the MLP 65, LeNet-5 85: not all of its layers have masks that slide",
    reveals=2,
)
after_move

# %% tags=["hide-output", "nbval-ignore-output"]
def for_mlp(images):
    return images[:, 0, 2:-2, 2:-2].reshape(-1, 784)  # without the border, as rows

plain = {"MLP": nn.accuracy(mlp.predict(for_mlp(moved_test)), digits.y_test),
         "LeNet-5": nn.accuracy(net.predict(moved_test), digits.y_test)}
print("moved digits read:", ", ".join(f"{name} {share:.1%}" for name, share in plain.items()))

# %% [markdown]
# <details class="reveal"><summary>Sliding masks help, and are not enough</summary>
#
# The MLP has a weight of its own for every pixel, and now the ink lies on other pixels. In LeNet-5, C1's maps move
# along with the digit, and C3's nearly so (pooling, in between, takes steps of two), and pooling forgives a pixel
# (lesson 07). But C5 and F6 have one place only. They have learned *where* to expect what.
#
# </details>

# %% [markdown]
# The cure is in the examples, which should include all versions of an input.[^Hwu "Inputs and Labels May be Biased"]
# `augment` moves each image of a batch by up to two pixels, in a new direction every time. All else stays as it was.
# Both networks get such examples.

# %% tags=["nbval-ignore-output"]
rng = np.random.default_rng(0)
shifted = nn.models.lenet5(rng=rng)
shifted_loss = train_in_phases(
    shifted, (x_train, digits.y_train), [(5, 0.03), (2, 0.003)], rng=rng, augment=shift)

def shift_rows(rows, rng):
    return for_mlp(shift(padded(rows), rng))

rng = np.random.default_rng(0)
mlp_shifted = nn.models.mlp((784, 128, 10), rng=rng)
mlp_shifted_loss = train_in_phases(
    mlp_shifted, (digits.x_train, digits.y_train), [(5, 0.1), (2, 0.01)], rng=rng, augment=shift_rows)

# %% tags=["hide-input", "nbval-ignore-output"]
# All four on the test digits, as they are and moved.
kinds = {"as they are": x_test, "moved": moved_test}
score = {("MLP", "as they are"): [nn.accuracy(mlp.predict(for_mlp(x)), digits.y_test) for x in kinds.values()],
         ("MLP", "moved"): [nn.accuracy(mlp_shifted.predict(for_mlp(x)), digits.y_test) for x in kinds.values()],
         ("LeNet-5", "as they are"): [nn.accuracy(net.predict(x), digits.y_test) for x in kinds.values()],
         ("LeNet-5", "moved"): [nn.accuracy(shifted.predict(x), digits.y_test) for x in kinds.values()]}
table([(*which, *shares) for which, shares in score.items()], ["network", "trained on digits", "reads as they are",
      "reads moved"], formats={"reads as they are": ".1%", "reads moved": ".1%"})

# %% tags=["hide-input"]
# The answer, confirmed by what was measured, and what the text says of the four networks.
hundred = [round(100 * plain[name]) for name in plain]
near = abs(hundred[0] - 65) <= 6 and abs(hundred[1] - 85) <= 6
after_move.confirm("the MLP 65, LeNet-5 85: not all of its layers have masks that slide" if near else str(hundred))
assert score["MLP", "moved"][1] > score["MLP", "as they are"][1] + 0.2
assert score["LeNet-5", "moved"][1] > score["MLP", "moved"][1] + 0.01
assert 0 < score["LeNet-5", "moved"][0] - score["LeNet-5", "moved"][1] < 0.025
assert abs(score["LeNet-5", "moved"][0] - score["LeNet-5", "as they are"][0]) < 0.02

# %% [markdown]
# The examples help both, and the MLP more. Yet LeNet-5 stays ahead, and it loses only one or two in a hundred when the
# digits move. So examples can replace a part of what its layers give, and not all of it. (On digits in the
# middle the two LeNets are about as good: with 1,000 test digits, one in a hundred may be chance.)

# %% [markdown]
# ## Training the classic one
#
# Today's network was trained with softmax and cross-entropy. What does one tell a network whose ten numbers are
# distances? First of all: bring F6's picture nearer to the right drawing. With $y$ the distances and $T$ the label, the
# loss could be $y[T]$ and nothing else. The paper adds a second term, which pushes the picture away from every drawing
# that it is near (from the right one too, but never as hard as the first term pulls):
#
# $$E = y[T] + \ln\Big(e^{-j} + \sum_{i} e^{-y[i]}\Big)$$
#
# You have met this formula before. It is the cross-entropy of softmax, taken of *minus* the distances, with an eleventh
# class whose distance is always $j$ (0.1 here): "none of these".
#
# Does the push matter? Let the label be 3, and let F6 go from the 8, the drawing closest to the 3, straight to the 3.
# How hard does the 8 push, compared with the pull of the 3? (F6 feels a squared distance $y$ with the slope
# $2 \sqrt{y}$, times $dE/dy$.)

# %%
steps_to_3 = []
for way in (0, 0.1, 0.2, 0.3, 0.5):
    f6 = (1 - way) * prototypes[8:9] + way * prototypes[3:4]
    y = distances_loops(f6, prototypes)
    dy = ops.rbf_loss_backward(ops.rbf_loss_forward(y, np.array([3]), j=0.1)[1])[0]
    steps_to_3.append((way, y[0, 3], y[0, 8], dy[8], -dy[8] / dy[3] * np.sqrt(y[0, 8] / y[0, 3])))

# %% tags=["hide-input"]
# The steps in rows.
table(steps_to_3, ["on the way", "from the 3", "from the 8", "dE/dy of the 8", "push / pull"],
      formats={"on the way": ".0%", "from the 3": ".1f", "from the 8": ".1f", "dE/dy of the 8": ".3f",
               "push / pull": ".1%"})

# %% tags=["hide-input"]
# The formula as softmax with an eleventh class, and what the text says of the push.
eleven = np.column_stack([y, [0.1]])
checks.check_close(ops.rbf_loss_forward(y, np.array([3]), j=0.1)[0],
                   ops.softmax_cross_entropy_forward(-eleven, np.array([3]))[0], rtol=1e-12)
assert max(row[-1] for row in steps_to_3) < 1 / 12
with_10 = ops.rbf_loss_backward(ops.rbf_loss_forward(y, np.array([3]), j=10.0)[1])[0]
assert 0.9 < -with_10[8] / with_10[3] * np.sqrt(y[0, 8] / y[0, 3]) < 1  # "nearly as strong"

# %% [markdown]
# Hardly. At the 8 itself $dE/dy$ is large, but a squared distance has no slope where it is 0. On the way the push
# never gets beyond a twelfth of the pull, and halfway it is next to nothing. So the wrong drawings hardly count: to
# make $E$ small is to come near the right one. The second term matters in two other cases: with a larger $j$ (at
# $j = 10$, the push would be nearly as strong as the pull halfway), and where the drawings are trained as well, since
# the pull alone would make all ten of them equal.

# %% [markdown]
# ### A tanh that reaches 1
#
# F6 has to draw pixels of -1 and 1, and behind it stands a tanh, as behind each layer of the classic network but the
# last. A plain tanh comes close to 1 and never gets there. To draw a pixel exactly, F6 would need an infinite sum. So
# the paper stretches the curve: $f(z) = 1.7159 \tanh(\tfrac{2}{3} z)$ is 1 at $z = 1$ and -1 at $z = -1$, and that is
# where its slope changes fastest.[^LeCun, Bottou, Bengio, Haffner "Gradient-Based Learning Applied to Document
# Recognition, 1998, appendix A"]

# %% tags=["hide-input"]
# Both curves.
z = np.linspace(-4, 4, 161)
figures.show(
    figures.lenet.narrow_curves({"tanh": ops.tanh(z), "scaled tanh": ops.scaled_tanh(z)}, x=z,
                                xlabel="z", ylabel="f(z)", title="Which of them reaches 1?"),
    alt="Plain tanh levels off just below 1. The scaled one passes through 1 at z = 1 and levels off at 1.7.",
    caption="The drawings' pixels, -1 and 1, lie at the ends of the plain tanh, but well inside the scaled one.",
)

# %% [markdown]
# We train both kinds, with equal starting weights and the same batches, for five epochs:

# %%
rivals, rival_loss = {}, {}
for name, scaled in (("plain", False), ("scaled", True)):
    rng = np.random.default_rng(0)
    rivals[name] = nn.models.lenet5(rng=rng, classic=True, scaled=scaled)
    rival_loss[name] = train_in_phases(rivals[name], (x_train, digits.y_train), [(5, 0.003)], rng=rng, loss="rbf_loss")

# %% [markdown]
# On its way back, a gradient is multiplied by the slope of the tanh. At an output $f$, the plain tanh has the slope
# $1 - f^2$ (lesson 02): it is 1 where $f$ is 0, and 0.19 where $f$ is 0.9. Training pulls F6's 84 numbers towards -1
# and 1. We look at them for all test digits.

# %% tags=["hide-input"]
# A prediction.
slope = predict(
    "F6 has learned to draw with the plain tanh. How large is the slope at its numbers, in the middle (median)?",
    ["about 0.9: its numbers are near 1", "about 0.2: its numbers are near 0.9, where the curve is not yet flat",
     "a few hundredths: they are much nearer to 1 than 0.9 is"],
    answer="a few hundredths: they are much nearer to 1 than 0.9 is",
    reveals=2,
)
slope

# %% tags=["hide-input", "hide-output", "nbval-ignore-output"]
# What F6 holds for the test digits, and the slopes there.
def drawings(network):
    x = x_test
    for layer in list(network)[:-1]:
        x = layer.forward(x)
    return x  # F6, with its tanh

drawn = {name: drawings(network) for name, network in rivals.items()}
slopes = {"plain": 1 - drawn["plain"] ** 2, "scaled": (2 / 3) * (1.7159 - drawn["scaled"] ** 2 / 1.7159)}
right = {name: nn.accuracy(network.predict(x_test), digits.y_test) for name, network in rivals.items()}
table([(name, np.median(slopes[name]), rival_loss[name][-1], right[name]) for name in rivals],
      ["tanh", "median slope at F6", "training loss", "test digits read"],
      formats={"median slope at F6": ".2f", "training loss": ".2f", "test digits read": ".1%"})

# %% [markdown]
# <details class="reveal"><summary>Near 1, and flat</summary>
#
# To come near -1 and 1, the plain tanh had to go to its flat ends. Most of its numbers lie beyond 0.98, where the slope
# is below 0.04. A few hundredths of a gradient get through: the layer is **saturated** (lesson 06b). The scaled tanh
# reaches 1 where it is still steep and lets about three quarters pass. That is why the paper chose it.
#
# Yet the plain tanh ends with the *lower* training loss, and both read about equally well. In five epochs saturation
# does no harm that we could see. (We exchanged all six tanhs, not F6's alone, so this comparison cannot say why the
# scaled one is behind.)
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured, and what the text says of slopes and accuracies.
middle = np.median(slopes["plain"])
few = "a few hundredths: they are much nearer to 1 than 0.9 is"
slope.confirm(few if 0.01 < middle < 0.04 else f"{middle:.2f}")  # 0.04 is the slope at 0.98
assert rival_loss["plain"][-1] < rival_loss["scaled"][-1]
assert min(right.values()) > 0.88
assert abs(right["plain"] - right["scaled"]) < 0.05
assert 0.7 < np.median(slopes["scaled"]) < 0.8

# %% [markdown]
# ### What F6 draws
#
# How good are the drawings? Here are two digits whose distance is the usual one, and beside them the two that stay
# farthest from every drawing, as the network with the scaled tanh reads them.

# %% tags=["hide-input", "nbval-ignore-output"]
# Two digits at the median distance, and the two that are farthest from every drawing.
distance = ops.rbf_forward(drawn["scaled"], prototypes.astype(np.float32))[0]
least, answer = distance.min(axis=1), distance.argmin(axis=1)
four = least.argsort()[[499, 500, -2, -1]]
figures.show(
    figures.lenet.read_by_distance(x_test[four, 0], drawn["scaled"][four], prototypes, labels=digits.y_test[four]),
    alt=f"Two digits whose pictures in F6 resemble a prototype, and two whose picture is a grey blend; the nearest "
    f"prototypes are {answer[four]}, the labels {digits.y_test[four]}.",
    caption="Left two at the usual distance, right the two farthest. The nearest prototype is the answer; a cross "
    "marks a wrong one.",
)

# %% [markdown]
# On the right even the nearest drawing is far away: F6 has drawn a blend, as if the network hesitated. Is a large
# distance a warning? A machine could hand the farthest digits to a person. Two numbers tell what that is worth: how
# many mistakes are among them, and how many digits that it would have read correctly. Today's network can do the same
# with the digits for which softmax's largest probability is smallest. (Missed are the mistakes that it keeps.)

# %%
def hand_over(doubt, correct, n):
    most = doubt.argsort()[-n:]  # the n digits with the largest doubt
    caught = (~correct[most]).sum()
    return n, caught, n - caught, (~correct).sum() - caught

# %% tags=["hide-input", "nbval-ignore-output"]
# Handed over: the farthest digits, and those of which softmax is least sure.
scores = net.forward(x_test)
sure = ops.softmax(scores).max(axis=1)
judged = {"classic": (least, answer == digits.y_test),
          "today's": (1 - sure, scores.argmax(axis=1) == digits.y_test)}
handed = {(name, n): hand_over(*judged[name], n) for name in judged for n in (25, 50, 100)}
table([(name, *map(int, row)) for (name, _), row in handed.items()],
      ["network", "handed over", "mistakes", "right", "missed"])

# %% tags=["hide-input"]
# What the text says of the digits handed over.
old, new = (handed[name, 50] for name in judged)
assert 1 / 3 < old[1] / (old[1] + old[3]) < 0.65
assert 15 <= old[2] <= 35
assert new[1] / (new[1] + new[3]) > old[1] / (old[1] + old[3])
assert new[3] < old[3]

# %% [markdown]
# It is a warning. The 50 farthest are one digit in twenty, and they hold more than a third of the mistakes. The price
# is high: about half of these 50 would have been read correctly, and many mistakes still pass. And softmax warns, too.
# The classic network catches more mistakes, but it makes more, and it was trained otherwise. Of its own mistakes
# today's network catches the larger share, and it leaves fewer. A picture that resembles no drawing looks like an
# honest doubt; that it is an advantage, this table does not show.

# %% [markdown]
# ## One loss for both?
#
# Today's network learned with softmax and cross-entropy. Why not the classic one, too? It has ten outputs as well, so
# the loss fits, and no error appears. A fresh network gets 1,000 digits for three epochs.

# %% tags=["nbval-ignore-output"]
rng = np.random.default_rng(0)
other = nn.models.lenet5(rng=rng, classic=True)
other_loss = train_in_phases(other, (x_train[:1000], digits.y_train[:1000]), [(3, 0.003)], rng=rng)
print("training loss:", " -> ".join(f"{v:.2f}" for v in other_loss))

# %% [markdown]
# The loss falls nicely. Now the network reads the test digits, as before by the nearest drawing.

# %% tags=["hide-input"]
# A prediction.
fits = predict(
    "How many of the test digits does it read?",
    ["about 95 %, as before", "about 80 %: it had fewer digits to learn from", "about 10 %: it guesses", "nearly none"],
    answer="nearly none",
    reveals=2,
)
fits

# %% tags=["hide-input", "hide-output", "nbval-ignore-output"]
# The digits, read in two ways.
y = other.forward(x_test)
nearest, farthest = (nn.accuracy(best(y, axis=1), digits.y_test) for best in (np.argmin, np.argmax))
print(f"right by the nearest drawing: {nearest:.1%}, by the farthest: {farthest:.1%}")

# %% [markdown]
# <details class="reveal"><summary>Large is far</summary>
#
# Softmax takes a large number for a likely class. Here, large means far. So the network has learned to draw as *far* as
# possible from the right drawing: the nearest one is almost never right, and the farthest mostly is. The loss curve
# looks healthy, and only the accuracy shows that something is wrong. The cure is a minus sign: softmax of $-y$.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
fits.confirm("nearly none" if nearest < 0.05 else f"{nearest:.0%}")
assert other_loss[-1] < other_loss[0] / 2
assert farthest > 0.7

# %% [markdown]
# ## And on a GPU?
#
# You have seen `reference` and `fast` do the same work in different times. A third module has the same names,
# `course_lib.cuda`: kernels for a GPU, such as you will write from lesson 11 on. With a GPU they read all 1,000 test
# digits here. Without one, our executor goes through the same kernels thread by thread, and two digits have to do.

# %% tags=["nbval-ignore-output"]
n = 2 if "no GPU" in gpu.device_name() else 1000
twin = nn.models.lenet5(rng=np.random.default_rng(0), ops=cuda_ops)
for name, p in twin.parameters().items():
    cuda_ops.assign(p, net.parameters()[name])  # the trained weights
by_kernels = cuda_ops.to_host(twin.forward(cuda_ops.to_backend(x_test[:n])))
difference = np.abs(by_kernels - net.forward(x_test[:n])).max()
print(f"{n:,} digits read on {gpu.device_name()}: scores at most {difference:.0e} apart")

# %% tags=["hide-input"]
# Kernels and formulas agree.
np.testing.assert_allclose(by_kernels, net.forward(x_test[:n]), rtol=1e-3, atol=1e-3)

# %% [markdown]
# The small difference comes from sums in another order, which are rounded in other places. A layer does not know what
# it runs on.

# %% [markdown]
# ## Back to the bank
#
# At the top of the page stood a machine that has to fit into its memory and to answer in time. Say there are five
# million cheques a day with ten digits each. How does today's LeNet-5 do, on one thread of the computer that ran this
# page? Each number takes four bytes.

# %% tags=["nbval-ignore-output"]
kilobytes = 4 * sum(cost.trainable for cost in today.values()) / 1000
per_second = 64 / total["fast"]
print(f"{kilobytes:.0f} kB of parameters, {kilobytes * cost_share(today, 'C5')[0]:.0f} of them in C5")
print(f"{per_second:,.0f} digits a second: the day's 50 million take {50e6 / per_second / 60:.0f} minutes")

# %% [markdown]
# Both demands are met. But memory and time go to different layers. C5 fills what has to be stored: it has 48,000
# weights. They cost little time, since each works once for each image. C1 and C3 fill the time: their few weights
# work hundreds of times, and their numbers have to be moved. **What is stored, what is computed and what is moved are
# three different things**, and time goes into the last two. Lessons 11 to 18 begin with what is moved. First, lesson
# 10 asks what those masks have learned.

# %% [markdown]
# ## Optional: how a table breaks symmetry
#
# <details><summary>Sixteen maps that begin as copies</summary>
#
# Suppose all sixteen maps of C3 start with equal masks, and the layers behind them treat them alike, so that `dy` is
# the same for all. How many different gradients do they get? (`[:, :, None, None]` adds two axes, so that each
# connection fills its 5 × 5 mask; `np.unique(..., axis=0)` keeps one of equal rows.)
#
# With all connections there is a single gradient, and the sixteen maps stay copies of one map for ever. With the table,
# which has no two equal rows, each of them learns something of its own.
#
# </details>

# %%
full_table = np.ones((16, 6), dtype=bool)
s2 = np.random.default_rng(1).integers(0, 10, (4, 6, 14, 14)).astype(np.float32)  # whole: sums are exact
for name, connections in (("all connections", full_table), ("C3's table", sees)):
    c3 = nn.Conv2d(6, 16, 5, rng=np.random.default_rng(0), connections=connections)
    c3.params["w"][...] = 0.1 * connections[:, :, None, None]
    c3.forward(s2)
    c3.backward(np.ones((4, 16, 10, 10), dtype=np.float32))
    different = len(np.unique(c3.grads["w"].reshape(16, -1), axis=0))
    print(f"{name}: {different} different gradients in 16 maps")

# %% [markdown]
# ## Optional: colour
#
# <details><summary>Three maps instead of one</summary>
#
# The same layers read colour images; the first masks have $C = 3$. The standard example is **CIFAR-10**: 60,000 small
# photographs, 3 × 32 × 32, of ten classes such as frogs and trucks.[^Dey "CIFAR 10 Dataset"] Its file has 163 MB and
# does not come with this course. Put `cifar-10-python.tar.gz` (from
# [its home page](https://www.cs.toronto.edu/~kriz/cifar.html)) into the folder of the notebooks, and the cell below
# reads it. Otherwise it draws ten shapes in random colours, so that no colour gives the answer away.
#
# The two are not the same task. Our shapes are plain, one to a picture, and a few hundred are enough. In a photograph
# the frog may sit anywhere, in any size, before any background, and 600 photographs teach this network little.
#
# </details>

# %% tags=["nbval-ignore-output"]
rng = np.random.default_rng(0)
pictures = colour_images(600, 300, rng=rng)
colour = nn.models.cnn_color(rng=rng)
learned = nn.train(colour, (pictures.x_train - 0.5, pictures.y_train), epochs=4, batch_size=16, lr=0.02,
                   momentum=0.9, rng=rng)
seen = colour.predict(pictures.x_test - 0.5)
print(f"{pictures}; {nn.accuracy(seen, pictures.y_test):.0%} of the test pictures read")

# %% tags=["hide-input", "nbval-ignore-output"]
# Nine test pictures.
figures.show(
    figures.lenet.shapes(pictures.x_test[:9], seen[:9], pictures.y_test[:9], pictures.names),
    alt=f"Nine colour pictures with the network's answers, {(seen[:9] == pictures.y_test[:9]).sum()} of them right.",
    caption="Nine test pictures with the answer above; a cross marks a wrong one, with the right name below.",
)

# %% [markdown]
# (Minus 0.5 centres the pixels around 0, so that dark and bright things count alike.) Guessing would read 10 %, and
# the loss is still falling. Where does *this* network keep its parameters, and where does it do its work?

# %% tags=["nbval-ignore-output"]
figures.network_volumes(colour, (3, 32, 32), image=pictures.x_test[0] - 0.5,
                        title="A network for colour: choose a layer")

# %% tags=["hide-input"]
# What the text says of the training, for our shapes.
if pictures.name != "CIFAR-10":
    assert nn.accuracy(seen, pictures.y_test) > 0.4
assert learned.loss[-1] < learned.loss[-2]

# %% [markdown]
# ## Try it
#
# - Give the MLP 30 epochs, `[(25, 0.1), (5, 0.01)]`. Does patience help it to catch up with LeNet-5?
#   <details><summary>Answer</summary>
#
#   Hardly. It reads about 95 of 100, as before, and stays behind LeNet-5. It knows its 4,000 digits by heart after a
#   few epochs, and more epochs have nothing new to show it. LeNet-5 had the same digits: the
#   difference lies in its layers.
#
#   </details>
# - Give the moved digits 20 epochs, `[(16, 0.03), (4, 0.003)]`. Does it pay, and on which test digits?
#   <details><summary>Answer</summary>
#
#   Above all on the moved ones, which go up by one or two in a hundred. With moved digits no two epochs are the same,
#   so there is still something to learn.
#
#   </details>
# - Double the maps of C1 with `nn.Conv2d(1, 12, 5, rng=rng)` and adapt C3. Predict parameters and multiply-adds of both
#   before you look at `costs`.
#   <details><summary>Answer</summary>
#
#   C1 goes from 156 to 312 parameters and from 117,600 to 235,200 multiply-adds, C3 from 2,416 to 4,816 and from
#   240,000 to 480,000. The network grows by 4 % and works nearly twice as much.
#
#   </details>

# %% [markdown]
# <details><summary>For those who know the lectures</summary>
#
# - **20 × 20 in 28 × 28.** Prof. Hwu's slide "Inputs Inflated to Provide Padding" lets the digits start as 20 × 20 and
#   be "scaled to 28 × 28", which makes the greys. If so, their ink would fill 28 pixels. In our 5,000 images the longer
#   side of the ink is 20 pixels in 4,999 and never more, and every centre of mass lies between 13.5 and 14.5 in both
#   directions. So the digits were fitted into 20 × 20, where they became grey, and then *placed* in 28 × 28.
# - **F6 and OUTPUT.** His slide "OUTPUT Layer in LeNet-5" puts "(F6)" beside the radial basis functions. In the paper,
#   and here, F6 is the dense layer with 84 numbers, and OUTPUT is a layer of its own behind it.
# - **Which tanh.** The slides name no activation. That it is a tanh, and a scaled one, is in the paper.
# - **CIFAR-10.** Prof. Dey's example of a classification problem, on the slide "CIFAR 10 Dataset", is 3 × 32 × 32. We
#   have its reader (`data.load_cifar10`), not its file, and show our own shapes where the file is missing.
#
# </details>

# %% [markdown]
# ## Check yourself
#
# **1.** A colleague wants today's LeNet-5 to be twice as fast and proposes to halve C5 to 60 maps, "since it holds most
# of the network". What does that save of the 416,520 multiply-adds, and which layers would you look at?
#
# <details><summary>Answer</summary>
#
# C5 has 48,000 multiply-adds; half of them, 24,000, are saved, and half of F6's 10,080 too: together 29,040, or 7 %.
# The parameters fall by nearly a half. By the counts, C3 (240,000) and then C1 (117,600) are the ones to look at. On
# the clock of this page the two are about level: measure before you choose.
#
# </details>

# %% [markdown]
# **2.** Feed today's network images of 64 × 64 (with a C5 that still has 5 × 5 masks). Which numbers change in C1: its
# parameters, its multiply-adds? And does the dense layer behind C5 still fit?
#
# <details><summary>Answer</summary>
#
# C1 keeps its 156 parameters; its output is 60 × 60, so it does $25 \cdot 6 \cdot 3600 = 540{,}000$ multiply-adds
# instead of 117,600. The sizes go on 30, 26, 13, and C5 gives 9 × 9 places instead of one. Flatten then hands over
# $120 \cdot 81$ numbers, and F6, made for 120, raises an error.
#
# </details>

# %% [markdown]
# **3.** Someone trains a network, and while the loss falls smoothly the accuracy sinks nearly to 0. Why is that a
# better clue than an accuracy of 10 %, and what would you check first?
#
# <details><summary>Answer</summary>
#
# A network that has learned nothing is right in about one case of ten. To be right almost never, its answers must
# depend on what is in the image. So it has learned something, and the error lies in how that is rewarded or read. Check
# the sign: does the loss reward large numbers while the answer is read from the smallest? Then the labels: is each 3
# called 4, for instance?
#
# </details>
