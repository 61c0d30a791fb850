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
# In the 1990s a bank could buy a machine that read the amounts on cheques. By 1998 such machines read several million
# cheques a day,[^LeCun, Bottou, Bengio, Haffner "Gradient-Based Learning Applied to Document Recognition, 1998,
# abstract"] and the part that recognised the digits was a network of the kind you are about to meet. You know most of
# its layers from lessons 06 to 08. Here they work together.
#
# A network has to fit into a memory, and it has to answer in time. You might think that these are one demand: **the
# layer with the most parameters takes the most time**. First, have a look around.

# %% tags=["hide-input", "nbval-ignore-output"]
# LeNet-5, trained for seven epochs, and what it makes of one digit.
import numpy as np

from course_lib import checks, data, fast, figures, gpu, nn
from course_lib import cuda as cuda_ops
from course_lib import reference as ops
from course_lib.lesson import (
    colour_images,
    cost_share,
    fullest_pairs,
    layer_times,
    padded,
    predict,
    table,
    train_in_phases,
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
# Every box is what comes out of one layer, drawn to scale: as high and wide as its maps, as deep as there are maps.
# Walk through it from left to right. The maps become smaller and more numerous. In C1 each map is a version of the
# digit. From C3 on you would hardly recognise it, while the network still does. And a number sees more of the image
# from layer to layer, until a single number in C5 sees all of it.
#
# This is LeNet-5 as one would build it **today**. The **classic** one, of 1998, has the same boxes and some other parts
# inside. The next sections take the classic one apart, and this page always says which of the two it means.

# %% [markdown]
# ## You will be able to
#
# - follow an image through LeNet-5 and say the shape after every layer;
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
# Convolutions are called C, subsampling layers S, the fully connected layer F.[^Hwu "Convolution Layers in LeNet-5"] In
# the classic network a tanh follows every layer but the last. Today's has ReLU, and none after pooling.
#
# | layer | output | classic, 1998 | today |
# |---|---|---|---|
# | C1 | 6@28 | convolution 5 × 5 | the same |
# | S2 | 6@14 | sum of 2 × 2 numbers, with trained weight and bias | maximum of 2 × 2 |
# | C3 | 16@10 | convolution 5 × 5, each map over some maps of S2 | over all maps of S2 |
# | S4 | 16@5 | as S2 | as S2 |
# | C5 | 120@1 | convolution 5 × 5 on maps of 5 × 5: a single place | the same |
# | F6 | 84 | dense layer | the same |
# | OUTPUT | 10 | distances from ten drawings | ten scores, for softmax |
#
# 6@28 means six maps of 28 × 28. By hand: $32 - 5 + 1 = 28$, half of it is 14, $14 - 5 + 1 = 10$, half of it is 5, and
# $5 - 5 + 1 = 1$. No division leaves a remainder.

# %% [markdown]
# The images of our data set have 28 × 28 pixels. LeNet-5 gets them with a border of two zeros, as 32 × 32.[^Hwu "Inputs
# Inflated to Provide Padding"] The reason lies in C3. One of its numbers sees 14 × 14 pixels, and the middles of these
# windows span the central 18 × 18 pixels of the 32 × 32, so that the end of nearly every stroke comes to the middle of
# some window.[^LeCun, Bottou, Bengio, Haffner "Gradient-Based Learning Applied to Document Recognition, 1998, section
# II"] Without the border they would span 14 × 14, while our digits are 20 pixels long.

# %% [markdown]
# ### S2 and S4: pooling with two numbers to train
#
# Subsampling makes the network less sensitive to small shifts and distortions,[^LeCun, Bottou, Bengio, Haffner
# "Gradient-Based Learning Applied to Document Recognition, 1998, section II"] and leaves less data to work on.[^Hwu
# "Subsampling Layers in LeNet-5"] In the classic network, such a layer adds the four pixels of a window, multiplies the
# sum by a weight and adds a bias, with one weight and one bias for each map:
#
# $$y_{chv} = w_c \sum_{p=0}^{1} \sum_{q=0}^{1} x_{c,\,2h+p,\,2v+q} + b_c$$
#
# From $(B, C, H, W)$ it makes $(B, C, H/2, W/2)$. With $w_c = 1/4$ and $b_c = 0$ that is average pooling, and there we
# let it start.

# %% [markdown]
# ### C3: a convolution with a table
#
# In the classic C3 an output map does not see all six maps of S2. A **connection table** says which ones it sees. Every
# column below is one of the sixteen output maps.

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
# Each connection has a 5 × 5 mask of its own, and each output map has one bias.

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
# Six maps see three, nine see four and one sees six: $6\cdot3 + 9\cdot4 + 6 = 60$ connections, with 25 weights each.
# The table saves 900 of 2,416 parameters. It also **breaks symmetry**:[^Hwu "Convolution Layers in LeNet-5"] no two
# maps see the same inputs, so they cannot stay copies of each other (an optional part at the end shows it). Random
# starting weights do that too, and today's networks need no table.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was computed.
in_c3.confirm(f"{connected * 25 + 16:,}")

# %% [markdown]
# ### OUTPUT: how far from a drawing?
#
# The last layer of the classic network gives no scores. The 84 numbers of F6 are read as a picture of 12 × 7 pixels.
# Each digit has a fixed drawing of that size, its **prototype**, with pixels -1 and 1. (The drawings below are ours;
# the paper has them for letters and other characters, too.)

# %% tags=["hide-input"]
# The drawings.
prototypes = ops.digit_prototypes()  # (10, 84)
figures.show(
    figures.lenet.drawings(prototypes),
    alt="Ten drawings of digits, 12 pixels high and 7 wide, each pixel black for 1 or white for -1.",
    caption="The ten prototypes. The 3 and the 8 differ least.",
)

# %% [markdown]
# The output is the squared distance to each prototype $w_i$, a **radial basis function**, and **the smallest one
# wins**. So F6 has to *draw* the digit, and the last layer only compares: F6 must already know which digit it
# is.[^Hwu "OUTPUT Layer in LeNet-5"] The formula, and the same as loops:
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
# and no other pair is as close.

# %% [markdown]
# ## What each layer costs
#
# What a trained network must store are its **parameters**, the numbers that training changes, and its fixed tables,
# such as the 840 numbers of the ten drawings. (While it runs, its maps take memory as well. Training keeps those of a
# whole batch: with 64 digits they are 518,016 numbers, more than eight times the parameters.) What takes time is, first
# of all, the **multiply-adds**: a product that is added to a sum. A mask has $K^2$ weights for each connected pair of
# maps, and it is used at every place of the output. So a convolution with $n$ connections and $M$ output maps has
#
# $$\text{parameters} = n K^2 + M$$
#
# $$\text{multiply-adds} = n K^2 \, H_{out} W_{out}$$
#
# The second is the first, without the $M$ biases, times the number of places. In a dense layer there is one place. S2
# and S4 multiply once for each output, and OUTPUT takes one square per pixel of each drawing, $10 \cdot 84$.

# %% tags=["hide-input"]
# A prediction.
work = predict(
    "One layer of the classic LeNet-5 holds four fifths of the parameters. What share of the multiply-adds does it do?",
    ["nearly all", "about four fifths", "about a half", "about a seventh"],
    answer="about a seventh",
    reveals=3,
)
work

# %% tags=["hide-input", "hide-output"]
# Parameters and multiply-adds of each layer, counted by the network itself.
classic = nn.models.lenet5(rng=np.random.default_rng(0), classic=True)
costs = figures.lenet.named_costs(classic)
totals = (sum(c.trainable for c in costs.values()), sum(c.multiply_adds for c in costs.values()))
table(
    [*((name, str(c.output_shape), c.trainable, c.multiply_adds) for name, c in costs.items()), ("all", "", *totals)],
    ["layer", "output", "parameters", "multiply-adds"], caption="The classic LeNet-5")

# %% tags=["hide-input", "hide-output"]
# The same as bars.
figures.show(
    figures.lenet.cost_bars(costs, title="Classic LeNet-5, layer by layer"),
    alt=f"C5 holds {costs['C5'].trainable / totals[0]:.0%} of the parameters but does "
    f"{costs['C5'].multiply_adds / totals[1]:.0%} of the multiply-adds; C1 and C3 are the other way round.",
    caption="C5 stores; C1 and C3 work.",
)

# %% [markdown]
# <details class="reveal"><summary>How often is a number used?</summary>
#
# There are exactly 60,000 parameters, and C5 holds 48,120 of them. But C5 uses each of its weights once for each image,
# because its masks fit in one place only. A mask of C3 is used at 100 places, and a mask of C1 at 784. C1 and C3 hold 3
# % of the parameters and do 82 % of the work. **Parameters say how much is stored; places say how often each weight is
# used.**
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was counted.
held, done = cost_share(costs, "C5")
assert 0.78 < held < 0.82
work.confirm("about a seventh" if abs(done - 1 / 7) < 0.01 else f"{done:.1%}")

# %% [markdown]
# Here are the same shares for the classic LeNet-5, for today's, which you saw at the top of the page
# ([`nn.models.lenet5`](../course_lib/nn/models.py) makes both), and for lesson 06's MLP 784-128-10. Does the belief
# hold for the first layer of the MLP?

# %% tags=["hide-input"]
# Shares of the whole, in three networks.
mlp = nn.models.mlp((784, 128, 10), rng=np.random.default_rng(0))
today, dense = figures.lenet.named_costs(net), {c.layer: c for c in mlp.costs((784,))}
shares = {("classic", "C5"): cost_share(costs, "C5"), ("classic", "C1 + C3"): cost_share(costs, "C1", "C3"),
          ("today", "C5"): cost_share(today, "C5"), ("today", "C1 + C3"): cost_share(today, "C1", "C3"),
          ("MLP", "first layer"): cost_share(dense, "Dense 784 -> 128")}
table([(*where, *share) for where, share in shares.items()], ["network", "layer", "holds", "does"],
      formats={"holds": ".1%", "does": ".1%"}, caption="Shares of all parameters and of all multiply-adds")

# %% [markdown]
# In the MLP the layer with the most parameters has the most to do, since each weight of a dense layer is used once per
# image. In LeNet-5 that is not so. Below are the boxes of today's once more, now with their costs. If the network had
# to become smaller, you would work on C5. If it had to become faster, the counts send you to C3 first, then to C1.

# %%
figures.network_volumes(net, SHAPE, names=LAYERS, chosen="C5", title="Today's LeNet-5 with its costs: choose a layer")

# %% [markdown]
# ### And the clock?
#
# So much for counting. Each layer of our networks leaves its arithmetic to a module, its `ops`. `course_lib.reference`
# has the formulas of these lessons in NumPy; a convolution copies its windows into a matrix and multiplies (lesson 08
# called it unrolling). `course_lib.fast`, the usual choice, has compiled loops that read the pixels where they are.
# Both do the same 416,520 multiply-adds for a digit of today's LeNet-5. We time every layer with its ReLU on 64 digits,
# 31 times, the two in turns, on one thread, and keep the shortest time: what disturbs a run only adds to it.

# %% tags=["hide-input"]
# A prediction.
clock = predict(
    "C3 does twice the multiply-adds of C1. What does the clock say, with both modules?",
    ["C3 takes twice as long, as counted", "C3 takes four times as long", "C3 takes about as long as C1, or less"],
    answer="C3 takes about as long as C1, or less",
    reveals=2,
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
dearer = {name: seconds[name]["C1"] / seconds[name]["C3"] * counted["C3"] / counted["C1"] for name in both}
print(f"reference takes {total['reference'] / total['fast']:.0f} times as long as fast")
print("C5's share of the time:", ", ".join(f"{part[name]['C5']:.0%} with {name}" for name in both))
print("S2's share of the time:", ", ".join(f"{part[name]['S2']:.0%} with {name}" for name in both))
print("a multiply-add of C1 takes as long as", ", ".join(f"{dearer[name]:.1f} of C3 with {name}" for name in both))
table([(layer, counted[layer], *(1000 * seconds[name][layer] for name in both)) for layer in LAYERS],
      ["layer", "multiply-adds", "reference, ms", "fast, ms"],
      formats={"multiply-adds": ".0%", "reference, ms": ".2f", "fast, ms": ".2f"},
      caption="Share of the multiply-adds, and milliseconds for 64 digits")

# %% [markdown]
# <details class="reveal"><summary>Counts are not times</summary>
#
# C5, with 78 % of the parameters, takes little time, as counted: the belief is wrong. But the counts are not right
# either. C3 takes about as long as C1, or less, with twice the multiply-adds. And S2, which has none at all, takes more
# time than C5. What the count leaves out is **moving numbers**, which we did not measure. Unrolled, each number that C1
# fetches serves 6 products, in C3 it serves 16. And C1 gives 4,704 numbers to its ReLU and to S2, while C3 gives 1,600.
#
# Why is `fast` faster? It copies no windows. And it keeps the same pixel of neighbouring images side by side, because a
# processor has vector instructions that do one operation on several numbers at once (4, 8 or 16 of them, depending on
# the processor; the name is **SIMD**, single instruction, multiple data). NumPy's products use them too; what
# `reference` loses is the copying. In F6 and OUTPUT, plain matrix products in both, `fast` gains little or nothing.
# Lessons 11 to 16 ask the same questions on a GPU. (`course bench cpu` compares both with PyTorch, if you have it.)
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
ratio = max(seconds[name]["C3"] / seconds[name]["C1"] for name in both)
clock.confirm("C3 takes about as long as C1, or less" if ratio < 1.4 else f"C3 takes {ratio:.1f} times as long")
assert all(part[name]["C5"] < 0.25 for name in both)
assert all(times > 1.2 for times in dearer.values())
assert total["fast"] < total["reference"] / 1.5

# %% [markdown]
# ## Does it read better than the MLP?
#
# We compare today's LeNet-5 with the MLP of lesson 06 on equal terms: the same 4,000 digits in batches of 64, momentum
# 0.9, seven epochs, the last two with a tenth of the learning rate. Only the rate differs, 0.03 for LeNet-5 and 0.1 for
# the MLP. LeNet-5 has been trained already, at the top of the page; now it is the MLP's turn.

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
    reveals=3,
)
fewer

# %% tags=["hide-input", "hide-output", "nbval-ignore-output"]
# Both networks on the test digits.
result = {"today's LeNet-5": nn.evaluate(net, x_test, digits.y_test),
          "MLP": nn.evaluate(mlp, digits.x_test, digits.y_test)}
mistakes = {name: round(1000 * (1 - r.accuracy)) for name, r in result.items()}
table([(name, mistakes[name], result[name].accuracy, result[name].loss) for name in result],
      ["network", "mistakes", "accuracy", "test loss"], formats={"accuracy": ".1%", "test loss": ".3f"})

# %% tags=["hide-input", "hide-output", "nbval-ignore-output"]
# How the losses fell.
figures.show(
    figures.lenet.narrow_curves({"today's LeNet-5": lenet_loss, "MLP": mlp_loss}, x=np.arange(1, 8),
                                xlabel="epoch", ylabel="training loss", log=True, title="Two networks learn"),
    alt=f"Both training losses fall: the MLP's to {mlp_loss[-1]:.4f}, LeNet-5's to {lenet_loss[-1]:.4f}.",
    caption="Today's LeNet-5 ends with the lower training loss, and with the lower test loss.",
)

# %% [markdown]
# <details class="reveal"><summary>Fewer parameters, more work, fewer mistakes</summary>
#
# About 30 instead of about 50, with four times as many multiply-adds. Today's LeNet-5 looks at small neighbourhoods,
# shares its masks and pools. Which of the three does how much, this comparison cannot say. It is also one run each, on
# test digits that we looked at when we chose the settings, which makes both a little too good (lesson 06).
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
# The **confusion matrix** says which digits are mixed up: a row for each label, a column for each answer, the right
# answers on the diagonal. Before you look, which two digits would you mix up?

# %% tags=["nbval-ignore-output"]
answers = net.predict(x_test)
counts = nn.confusion_matrix(answers, digits.y_test, 10)
wrong = counts - np.diag(np.diag(counts))
most, fullest = fullest_pairs(counts)  # both directions of a pair counted together
named = ", ".join(f"{i} and {k}" for i, k in fullest)
print(f"{wrong.sum()} mistakes. No pair of digits is mixed up more often than {named}: {most} mistakes each.")

# %% tags=["hide-input", "nbval-ignore-output"]
# The matrix.
figures.show(
    figures.lenet.confusion(counts),
    alt=f"{wrong.sum()} of 1,000 test digits are off the diagonal. Most often mixed up: {named}, {most} mistakes each.",
    caption="Row = label, column = answer. The mistakes are spread over many pairs.",
)

# %% [markdown]
# Even the fullest pair holds only a few of the mistakes, and with another seed it will often be another pair. A single
# image tells more. Here are the nine mistakes of which the network was surest. Would you have read them as the label
# says?

# %% tags=["hide-input", "nbval-ignore-output"]
# The surest mistakes.
found = nn.worst_mistakes(net, x_test, digits.y_test, 9)
figures.show(
    figures.training.mistakes(digits.images("test"), found, cols=3, side=1.2),
    alt=f"The nine surest mistakes; the surest is a {found.label[0]} read as {found.predicted[0]} with "
    f"{found.confidence[0]:.0%}.",
    caption="Sure and wrong. Which labels would you dispute?",
)

# %% tags=["hide-input"]
# What the text says of the mistakes.
assert wrong.sum() == (answers != digits.y_test).sum()
assert most <= wrong.sum() / 2

# %% [markdown]
# ### Digits that moved
#
# All our digits are centred: each was placed with its centre of mass in the middle of the image. Someone who writes in
# a form does not aim so well. Let us move each test digit by up to two pixels in both directions.

# %% tags=["hide-input"]
# A prediction.
after_move = predict(
    "Of 100 test digits today's LeNet-5 reads 97. About how many does it read when each was moved by up to two pixels?",
    [95, 85, 50],
    answer=85,
    reveals=2,
)
after_move

# %% tags=["hide-output", "nbval-ignore-output"]
moved_test = nn.random_shifts(2)(x_test, np.random.default_rng(9))
print(f"moved digits read: {nn.accuracy(net.predict(moved_test), digits.y_test):.1%}")

# %% [markdown]
# <details class="reveal"><summary>Shared masks are not enough</summary>
#
# Convolutions follow a digit that moves, and pooling forgives a pixel (lesson 07). But C5 and F6 have learned *where*
# to expect what.
#
# </details>

# %% [markdown]
# The cure is in the examples, which should include all versions of an input.[^Hwu "Inputs and Labels May be Biased"]
# `augment` moves each image of a batch by up to two pixels, another way every time. All else stays, the seven epochs
# too.

# %% tags=["nbval-ignore-output"]
rng = np.random.default_rng(0)
shifted = nn.models.lenet5(rng=rng)
train_in_phases(shifted, (x_train, digits.y_train), [(5, 0.03), (2, 0.003)], rng=rng, augment=nn.random_shifts(2))
score = {name: [nn.accuracy(network.predict(x), digits.y_test) for x in (x_test, moved_test)]
         for name, network in (("as they are", net), ("moved", shifted))}
table([(name, *accuracies) for name, accuracies in score.items()],
      ["trained on digits", "reads them as they are", "reads them moved"],
      formats={"reads them as they are": ".1%", "reads them moved": ".1%"})

# %% tags=["hide-input"]
# The answer, confirmed by what was measured, and what the text says of the two networks.
after_move.confirm(100 * score["as they are"][1], rel=0.08)
assert score["moved"][1] > 0.93
assert abs(score["moved"][0] - score["as they are"][0]) < 0.02

# %% [markdown]
# Only the network that has seen moved digits reads both kinds about equally well. On the digits as they are, neither of
# the two is clearly better: with 1,000 test digits, a difference of one in a hundred may be chance.

# %% [markdown]
# ## Training the classic one
#
# The classic network needs a loss for distances. The paper's, with $y$ the distances and $T$ the label, is
#
# $$E = y[T] + \ln\Big(e^{-j} + \sum_{i} e^{-y[i]}\Big)$$
#
# The first term pulls F6 towards the right drawing. The second pushes it away from the drawings that it is close to,
# from the right one as well, but never as hard as the first term pulls. The constant $j$ (0.1 here) puts an end to the
# pushing once all drawings are far away: then every $e^{-y}$ is nothing beside $e^{-j}$.
#
# You have met this formula before. It is the cross-entropy of softmax, taken of *minus* the distances, with an eleventh
# class whose distance is always $j$: "none of these".
#
# How strong is the pushing? Let F6 hesitate as much as it can, halfway between the 3 and the 8, the two drawings that
# are closest. The label is 3.

# %%
y = distances_loops((prototypes[3:4] + prototypes[8:9]) / 2, prototypes)
_, cache = ops.rbf_loss_forward(y, np.array([3]), j=0.1)
dy = ops.rbf_loss_backward(cache)[0]
print(f"distances: {y[0, 3]:.0f} from the 3, {y[0, 8]:.0f} from the 8")
print(f"dE/dy: {dy[3]:.3f} pulls to the 3, {dy[8]:.3f} pushes off the 8")

# %% tags=["hide-input"]
# The formula as softmax with an eleventh class, and what the text says of the push.
eleven = np.column_stack([y, [0.1]])
checks.check_close(ops.rbf_loss_forward(y, np.array([3]), j=0.1)[0],
                   ops.softmax_cross_entropy_forward(-eleven, np.array([3]))[0], rtol=1e-12)
assert -dy[8] < 0.003 * dy[3]
with_10 = ops.rbf_loss_backward(ops.rbf_loss_forward(y, np.array([3]), j=10.0)[1])[0]
assert 0.9 < -with_10[8] / with_10[3] <= 1  # "push and pull would be almost equal"

# %% [markdown]
# Even there the push is less than 0.3 % of the pull. Since $j = 0.1$ is small, "none of these" is nearly always nearer
# than a wrong drawing, and in effect $E = y[T] - j$: the distance from the right one. With a larger $j$ the second term
# would matter: at $j = 10$ push and pull would be almost equal here. And it has to matter where the drawings are
# trained as well: the pull alone would make all ten of them equal.

# %% [markdown]
# ### A tanh that reaches 1
#
# In the classic network a tanh follows each of C1, S2, C3, S4, C5 and F6. A plain tanh comes close to 1 without ever
# reaching it, while the pixels of the drawings *are* -1 and 1. F6 could draw them only with infinite sums. So the paper
# stretches it: $f(z) = 1.7159 \tanh(\tfrac{2}{3} z)$ is 1 at $z = 1$ and -1 at $z = -1$, and that is where it bends
# most.[^LeCun, Bottou, Bengio, Haffner "Gradient-Based Learning Applied to Document Recognition, 1998, appendix A"]

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
# Both kinds, with equal starting weights and the same batches, for five epochs:

# %%
rivals, rival_loss = {}, {}
for name, scaled in (("plain", False), ("scaled", True)):
    rng = np.random.default_rng(0)
    rivals[name] = nn.models.lenet5(rng=rng, classic=True, scaled=scaled)
    rival_loss[name] = train_in_phases(rivals[name], (x_train, digits.y_train), [(5, 0.003)], rng=rng, loss="rbf_loss")

# %% [markdown]
# After training we look at F6's 84 numbers for each test digit. Going back, a gradient is multiplied by the slope of
# the tanh at each of them.

# %% tags=["hide-input"]
# A prediction.
slope = predict(
    "F6 has learned to draw with the plain tanh. How large is its slope at the numbers of F6, in the middle (median)?",
    ["about 0.8", "about 0.4", "a few hundredths"],
    answer="a few hundredths",
    reveals=2,
)
slope

# %% tags=["hide-input", "hide-output", "nbval-ignore-output"]
# What F6 holds for the test digits, the slopes there, and how much of the distance lies beyond the drawings' pixels.
def drawings(network):
    x = x_test
    for layer in list(network)[:-1]:
        x = layer.forward(x)
    return x  # F6, with its tanh

drawn, target = {name: drawings(network) for name, network in rivals.items()}, prototypes[digits.y_test]
slopes = {"plain": 1 - drawn["plain"] ** 2, "scaled": (2 / 3) * (1.7159 - drawn["scaled"] ** 2 / 1.7159)}
squares = {name: (f6 - target) ** 2 for name, f6 in drawn.items()}
far = {name: squares[name].sum() / 1000 for name in drawn}
beyond = {name: squares[name][f6 * target > 1].sum() / 1000 for name, f6 in drawn.items()}
right = {name: nn.accuracy(network.predict(x_test), digits.y_test) for name, network in rivals.items()}
print(f"mean distance from the right drawing: plain {far['plain']:.1f}; "
      f"scaled {far['scaled']:.1f}, of which {beyond['scaled']:.1f} lie beyond -1 and 1")
table([(name, np.median(slopes[name]), np.mean(np.abs(drawn[name]) >= 1), rival_loss[name][-1], right[name])
       for name in rivals],
      ["tanh", "slope", "beyond 1", "loss", "read"],
      formats={"loss": ".2f", "read": ".1%", "beyond 1": ".0%", "slope": ".2f"},
      caption="At F6's numbers: the median slope, the share beyond -1 and 1. Training loss; test digits read")

# %% [markdown]
# <details class="reveal"><summary>Near, and stuck</summary>
#
# To come near -1 and 1 the plain tanh has gone to its ends: most of its numbers lie beyond 0.98, where the curve is
# flat. Only a few hundredths of a gradient get through: the layer is **saturated**. The scaled tanh reaches 1 where it
# is still steep, and passes about three quarters of a gradient. So it can still learn; the paper chose it for this.
#
# Yet the plain tanh ends with the *lower* training loss, and both read about equally well. In five epochs saturation
# does no harm that we could see. Nor is it the overshooting that costs the scaled one its loss: the line above the
# table shows that it would be farther from the drawings without that part, too. All six tanhs were exchanged, not F6's
# alone, so this comparison cannot name the cause.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured, and what the text says of slopes and accuracies.
middle = np.median(slopes["plain"])
slope.confirm("a few hundredths" if 0.01 < middle < 0.04 else f"{middle:.2f}")  # 0.04 is the slope at 0.98
assert rival_loss["plain"][-1] < rival_loss["scaled"][-1]
assert far["scaled"] - beyond["scaled"] > far["plain"]
assert min(right.values()) > 0.88
assert abs(right["plain"] - right["scaled"]) < 0.05
assert (np.abs(drawn["plain"]) < 1).all()
assert 0.3 < np.mean(np.abs(drawn["scaled"]) >= 1) < 0.7
assert 0.7 < np.median(slopes["scaled"]) < 0.8

# %% [markdown]
# ### What F6 draws
#
# The label chose the drawing, and F6 learned to make it. How near does it come? Here are the first four test digits,
# and the four that stay farthest from every drawing, read by the network with the scaled tanh.

# %% tags=["hide-input", "nbval-ignore-output"]
# The first four test digits.
distance = ops.rbf_forward(drawn["scaled"], prototypes.astype(np.float32))[0]
least, answer = distance.min(axis=1), distance.argmin(axis=1)
chosen = {"first": np.arange(4), "farthest": least.argsort()[-4:]}
figures.show(
    figures.lenet.read_by_distance(x_test[chosen["first"], 0], drawn["scaled"][chosen["first"]], prototypes,
                                   labels=digits.y_test[chosen["first"]]),
    alt=f"F6 as pictures resembles the prototypes; the nearest ones are {answer[chosen['first']]}, "
    f"the labels {digits.y_test[chosen['first']]}.",
    caption="The first four. Above the input, in the middle F6, below the nearest prototype: the answer.",
)

# %% tags=["hide-input", "nbval-ignore-output"]
# The four that are farthest from every drawing.
figures.show(
    figures.lenet.read_by_distance(x_test[chosen["farthest"], 0], drawn["scaled"][chosen["farthest"]], prototypes,
                                   labels=digits.y_test[chosen["farthest"]]),
    alt=f"Where F6 is far from every drawing its picture is a grey blend; labels {digits.y_test[chosen['farthest']]}, "
    f"answers {answer[chosen['farthest']]}.",
    caption="The four that are farthest from every drawing.",
)

# %% [markdown]
# Where even the nearest drawing is far away, F6 has drawn a blend of two or three. The network hesitates. Is a large
# distance a warning?

# %% tags=["nbval-ignore-output"]
correct = answer == digits.y_test
print(f"median distance from the nearest drawing: {np.median(least[correct]):.0f} where the answer is right, "
      f"{np.median(least[~correct]):.0f} where it is wrong")
print(f"farther than that: {(least[correct] > np.median(least[~correct])).mean():.0%} of the digits read correctly")

# %% tags=["hide-input"]
# What the text says of the distances.
assert np.median(least[~correct]) > 3 * np.median(least[correct])

# %% [markdown]
# It is. A machine that reads cheques can hand such a digit to a person. Some digits that it reads correctly lie far
# away too, and would be handed over as well.

# %% [markdown]
# ## What goes wrong: another loss
#
# The classic network gives ten numbers, so the loss of lesson 06, softmax with cross-entropy, fits, and no error
# appears. We train a fresh one with it, on 1,000 digits for three epochs. The loss falls nicely.

# %% tags=["nbval-ignore-output"]
rng = np.random.default_rng(0)
other = nn.models.lenet5(rng=rng, classic=True)
other_loss = train_in_phases(other, (x_train[:1000], digits.y_train[:1000]), [(3, 0.003)], rng=rng)
print("training loss:", " -> ".join(f"{v:.2f}" for v in other_loss))

# %% [markdown]
# So far nothing looks wrong. Now it reads the test digits, by the nearest drawing.

# %% tags=["hide-input"]
# A prediction.
fits = predict(
    "How many of the test digits does it read?",
    ["about 95 %, as before", "about 80 %, a little less well", "about 10 %, it guesses", "nearly none"],
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
# Softmax takes a large number for a likely class. Here, large means far. So the network has learned to be as *far* as
# possible from the right drawing. The nearest drawing is almost never the right one, and the farthest mostly is. The
# loss curve looks healthy; only the accuracy shows that something is wrong. The cure is a minus sign: softmax of $-y$.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
fits.confirm("nearly none" if nearest < 0.05 else f"{nearest:.0%}")
assert other_loss[-1] < other_loss[0] / 2
assert farthest > 0.7

# %% [markdown]
# ## The same network on another device
#
# Beside `reference` and `fast` there is a third module with the same names, `course_lib.cuda`: kernels for a GPU, such
# as you will write from lesson 11 on. With a GPU they read all 1,000 test digits, with the weights that were trained
# above. Without one, our executor walks through the same kernels thread by thread, and two digits have to do.

# %% tags=["hide-input", "nbval-ignore-output"]
# The trained network, by kernels and by the formulas.
def read_on(backend, x):
    twin = nn.models.lenet5(rng=np.random.default_rng(0), ops=backend)
    for name, p in twin.parameters().items():
        backend.assign(p, net.parameters()[name])  # the trained weights
    return backend.to_host(twin.forward(backend.to_backend(x)))

n = 2 if "no GPU" in gpu.device_name() else 1000
by_kernels, by_formula = read_on(cuda_ops, x_test[:n]), read_on(ops, x_test[:n])
print(f"{n:,} digits read on: {gpu.device_name()}")
apart = np.abs(by_kernels - by_formula).max()
print(f"scores up to {np.abs(by_formula).max():.0f}; kernels and formulas differ by {apart:.0e}")
assert np.allclose(by_kernels, by_formula, rtol=1e-3, atol=1e-3)

# %% [markdown]
# The small difference comes from sums in another order, which are rounded in other places. Nothing else in the network
# had to change: a layer does not know on what it runs.

# %% [markdown]
# ## Optional: how a table breaks symmetry
#
# <details><summary>Sixteen maps that begin as copies</summary>
#
# Suppose all sixteen maps of C3 start with equal masks, and the layers behind treat them alike, so that `dy` is the
# same for all of them. How many different gradients do they get? (`[:, :, None, None]` adds two axes, so that each
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
# the frog may sit anywhere, in any size, before any background. 600 photographs teach this network little; that is why
# the data set has 50,000 for training.
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
figures.network_volumes(colour, (3, 32, 32), image=pictures.x_test[0], title="A network for colour: choose a layer")

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
# The parameters fall by nearly a half. By the counts, C3 (240,000) and then C1 (117,600) are the ones to look at. The
# clock of this page puts C1 level or first: measure before you choose.
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
# **3.** Someone trains the classic network and sees the loss fall smoothly while the accuracy sinks below 10 %. Why is
# an accuracy *below* guessing a better clue than one at 10 %, and what would you check first?
#
# <details><summary>Answer</summary>
#
# A network that has learned nothing is right in one case of ten. To be right less often, it must know the right answer
# and avoid it: learning works, in the wrong direction. Check the sign: does the loss reward large numbers while the
# answer is read from the smallest?
#
# </details>
