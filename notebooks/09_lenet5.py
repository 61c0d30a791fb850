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
# abstract"] and the part that recognised the digits was a network of the kind you are about to meet. You know all of
# its layers from lessons 06 to 08. Here they work together.
#
# A network has to fit into a memory, and it has to answer in time. It seems obvious that both come to the same thing:
# **bigger layers hold the parameters, so they cost the time**. Keep that sentence in mind. First, have a look around.

# %% tags=["hide-input", "nbval-ignore-output"]
# LeNet-5, trained for seven epochs, and what it makes of one digit.
import numpy as np

from course_lib import checks, data, fast, figures, gpu, nn
from course_lib import cuda as cuda_ops
from course_lib import reference as ops
from course_lib.lesson import colour_images, cost_share, layer_times, padded, predict, table, train_in_phases

digits = data.load_digits(seed=0)
x_train, x_test = padded(digits.x_train), padded(digits.x_test)
LAYERS, SHAPE = figures.lenet.NAMES, (1, 32, 32)

rng = np.random.default_rng(0)
net = nn.models.lenet5(rng=rng)
lenet_loss = train_in_phases(net, (x_train, digits.y_train), [(5, 0.03), (2, 0.003)], rng=rng)
figures.network_volumes(net, SHAPE, names=LAYERS, image=x_test[0], costs=False,
                        title="LeNet-5 reads a digit. Choose a layer, by mouse or with the arrow keys")

# %% [markdown]
# Every box is what comes out of one layer, drawn to scale: as high and wide as its maps, as deep as there are maps.
# Walk through it from left to right. The maps become smaller and more numerous. In C1 you see strokes and edges. From
# C3 on you would hardly recognise the digit, while the network still does. And a number sees more of the image from
# layer to layer, until a single number in C5 sees all of it.

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
# The images of our data set have 28 × 28 pixels. LeNet-5 gets them with a border of two zeros, as 32 × 32, so that the
# middle of a 5 × 5 mask can lie on every part of a stroke.[^Hwu "Inputs Inflated to Provide Padding"] Convolutions are
# called C, subsampling layers S, the fully connected layer F.[^Hwu "Convolution Layers in LeNet-5"]
#
# | layer | what it does | output |
# |---|---|---|
# | C1 | convolution 5 × 5, finds features | 6@28 |
# | S2 | turns 2 × 2 numbers into one | 6@14 |
# | C3 | convolution 5 × 5 over several maps | 16@10 |
# | S4 | turns 2 × 2 numbers into one | 16@5 |
# | C5 | convolution 5 × 5 on maps of 5 × 5: a single place | 120@1 |
# | F6 | dense layer | 84 |
# | OUTPUT | compares with ten digits | 10 |
#
# 6@28 means six maps of 28 × 28. By hand: $32 - 5 + 1 = 28$, half of it is 14, $14 - 5 + 1 = 10$, half of it is 5, and
# $5 - 5 + 1 = 1$. No division leaves a remainder.

# %% [markdown]
# ### S2 and S4: pooling with two numbers to train
#
# Subsampling makes the network less sensitive to the size of a digit, and leaves less data to work on.[^Hwu
# "Subsampling Layers in LeNet-5"] In the paper, such a layer adds the four pixels of a window, multiplies the sum by a
# weight and adds a bias, with one weight and one bias for each map:
#
# $$y_{chv} = w_c \sum_{p=0}^{1} \sum_{q=0}^{1} x_{c,\,2h+p,\,2v+q} + b_c \qquad (B, C, H, W) \to (B, C, H/2, W/2)$$
#
# With $w_c = 1/4$ and $b_c = 0$ that is average pooling, and there we let it start.

# %% [markdown]
# ### C3: a convolution with a table
#
# In C3 an output map does not see all six maps of S2. A **connection table** says which ones it sees. Every column
# below is one of the sixteen output maps.

# %%
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
in_c3 = predict("How many parameters has C3?", ["76", "1,516", "2,416", "9,000"], answer="1,516", reveals=2)
in_c3

# %% tags=["hide-output"]
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
# The last layer of 1998 gives no scores. The 84 numbers of F6 are read as a picture of 12 × 7 pixels. Each digit has a
# fixed drawing of that size, its **prototype**, with pixels -1 and 1. (The drawings below are ours; the paper has them
# for letters and other characters, too.)

# %%
prototypes = ops.digit_prototypes()  # (10, 84)
figures.show(
    figures.plots.image_grid((prototypes.reshape(10, 12, 7) + 1) / 2, range(10)),
    alt="Ten drawings of digits, 12 pixels high and 7 wide, each pixel black for 1 or white for -1.",
    caption="The ten prototypes. The 3 and the 8 differ least.",
)

# %% [markdown]
# The output is the squared distance to each prototype $w_i$, a **radial basis function**, and **the smallest one
# wins**. So F6 has to *draw* the digit, and the last layer only compares: the identification of the digit is pushed
# back into the network.[^Hwu "OUTPUT Layer in LeNet-5"] The formula, and the same as loops:
#
# $$y[b, i] = \sum_{d=0}^{83} (x[b, d] - w[i, d])^2 \qquad (B, 84), (10, 84) \to (B, 10)$$

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
# and no other pair is as close. Nothing that is made of -1 and 1 can be farther away than $84 \cdot 4 = 336$.

# %% [markdown]
# ## What each layer costs
#
# What fills a memory are the **parameters**, the numbers that training changes. What takes time is, first of all, the
# **multiply-adds**: a product that is added to a sum. A mask has $K^2$ weights for each connected pair of maps, and it
# is used at every place of the output. So a convolution with $n$ connections and $M$ output maps has
#
# $$\text{parameters} = n K^2 + M, \qquad \text{multiply-adds} = n K^2 \, H_{out} W_{out}$$
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

# %% tags=["hide-output"]
figures.show(
    figures.lenet.cost_bars(costs, title="Classic LeNet-5: what holds the numbers, what does the work"),
    alt=f"C5 holds {costs['C5'].trainable / totals[0]:.0%} of the parameters but does "
    f"{costs['C5'].multiply_adds / totals[1]:.0%} of the multiply-adds; C1 and C3 are the other way round.",
    caption="Where the upper bar, striped, is long, the lower one, checked, is short.",
)

# %% [markdown]
# <details class="reveal"><summary>How often is a number used?</summary>
#
# There are exactly 60,000 parameters, and C5 holds 48,120 of them. But C5 uses each of its weights once for each image,
# because its masks fit in one place only. A mask of C3 is used at 100 places, and a mask of C1 at 784. C1 and C3 hold
# 3 % of the parameters and do 82 % of the work. **Parameters say how much is stored; places say how often it is used.**
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was counted.
held, done = cost_share(costs, "C5")
assert 0.78 < held < 0.82
work.confirm("about a seventh" if abs(done - 1 / 7) < 0.01 else f"{done:.1%}")

# %% [markdown]
# The network at the top of the page is **today's variant** ([`nn.models.lenet5`](../course_lib/nn/models.py)): ReLU
# where the classic one has tanh (and none after pooling), max pooling for S2 and S4, all connections in C3, and ten
# scores for softmax in place of the distances. Here are both, and lesson 06's MLP 784-128-10. Does the belief hold for
# the first layer of the MLP?

# %%
mlp = nn.models.mlp((784, 128, 10), rng=np.random.default_rng(0))
today, dense = figures.lenet.named_costs(net), {c.layer: c for c in mlp.costs((784,))}
shares = {("classic", "C5"): cost_share(costs, "C5"), ("classic", "C1 + C3"): cost_share(costs, "C1", "C3"),
          ("today", "C5"): cost_share(today, "C5"), ("today", "C1 + C3"): cost_share(today, "C1", "C3"),
          ("MLP", "first layer"): cost_share(dense, "Dense 784 -> 128")}
table([(*where, *share) for where, share in shares.items()], ["network", "layer", "holds", "does"],
      formats={"holds": ".1%", "does": ".1%"}, caption="Shares of all parameters and of all multiply-adds")

# %% [markdown]
# In the MLP the belief is right, since each weight of a dense layer is used once per image. In LeNet-5 it is not. Below
# are the boxes once more, now with their costs. If the network had to become smaller, you would work on C5. If it had
# to become faster, on C3 and C1.

# %%
figures.network_volumes(net, SHAPE, names=LAYERS, chosen="C5", title="Today's LeNet-5 with its costs: choose a layer")

# %% [markdown]
# ### And the clock?
#
# A count of multiply-adds is only the beginning. Each layer of our networks leaves its arithmetic to a module, its
# `ops`. `course_lib.reference` has the formulas of these lessons in NumPy; `course_lib.fast`, the usual choice, has
# compiled loops. Both do the same 416,520 multiply-adds for a digit. We time every layer on 64 digits, nine times, the
# two in turns, on one thread.

# %% tags=["hide-input"]
# A prediction.
clock = predict(
    "Does C5, with 78 % of the parameters, take most of the time?",
    ["yes, with both", "with NumPy only", "with the compiled loops only", "no, with neither"],
    answer="no, with neither",
    reveals=2,
)
clock

# %% tags=["hide-output", "nbval-ignore-output"]
both = {name: nn.models.lenet5(rng=np.random.default_rng(0), ops=backend)
        for name, backend in (("reference", ops), ("fast", fast))}
seconds = layer_times(both, x_train[:64], LAYERS)
total = {name: sum(layers.values()) for name, layers in seconds.items()}
table([(layer, *(1000 * seconds[name][layer] for name in both), *(seconds[name][layer] / total[name] for name in both))
       for layer in LAYERS], ["layer", "reference, ms", "fast, ms", "reference, share", "fast, share"],
      formats={"reference, ms": ".2f", "fast, ms": ".2f", "reference, share": ".0%", "fast, share": ".0%"},
      caption=f"For 64 digits, reference takes {total['reference'] / total['fast']:.1f} times as long as fast")

# %% [markdown]
# <details class="reveal"><summary>Where the time goes</summary>
#
# Most of it goes to C1 and C3 with their pooling, as the counts said. But equal counts do not take equal time. A
# processor has vector instructions that do one operation on several numbers at once (4, 8 or 16 of them, depending on
# the processor; the name is **SIMD**, single instruction, multiple data). `fast` keeps the pixels of neighbouring
# images side by side, so that one instruction works on the same pixel of several images, and it unrolls nothing into
# memory. Lessons 11 to 16 are about the same questions on a GPU. (`course bench cpu` compares both with PyTorch, if you
# have it.)
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
most = {name: seconds[name]["C5"] / total[name] > 0.5 for name in both}
clock.confirm("no, with neither" if not any(most.values()) else f"with {most}")
assert all(sum(seconds[name][layer] for layer in LAYERS[:4]) > total[name] / 2 for name in both)
assert total["fast"] < total["reference"] / 1.5

# %% [markdown]
# ## Does it read better than the MLP?
#
# We compare LeNet-5 with the MLP of lesson 06 on equal terms: the same 4,000 digits in batches of 64, momentum 0.9,
# seven epochs, the last two with a tenth of the learning rate. Only the rate differs, 0.03 for LeNet-5 and 0.1 for the
# MLP. LeNet-5 has been trained already, at the top of the page; now it is the MLP's turn.

# %%
rng = np.random.default_rng(0)
mlp = nn.models.mlp((784, 128, 10), rng=rng)
mlp_loss = train_in_phases(mlp, (digits.x_train, digits.y_train), [(5, 0.1), (2, 0.01)], rng=rng)

# %% [markdown]
# Now both read the 1,000 test digits.

# %% tags=["hide-input"]
# A prediction.
fewer = predict(
    "Of 1,000 test digits the MLP, with 101,770 parameters, misreads about 50. LeNet-5 has 61,706. How many does it "
    "misread?",
    [90, 50, 30],
    answer=30,
    reveals=3,
)
fewer

# %% tags=["hide-output", "nbval-ignore-output"]
result = {"LeNet-5": nn.evaluate(net, x_test, digits.y_test), "MLP": nn.evaluate(mlp, digits.x_test, digits.y_test)}
mistakes = {name: round(1000 * (1 - r.accuracy)) for name, r in result.items()}
table([(name, mistakes[name], result[name].accuracy, result[name].loss) for name in result],
      ["network", "mistakes", "accuracy", "test loss"], formats={"accuracy": ".1%", "test loss": ".3f"})

# %% tags=["hide-output", "nbval-ignore-output", "continued"]
figures.show(
    figures.plots.curves({"LeNet-5": lenet_loss, "MLP": mlp_loss}, x=np.arange(1, 8),
                         xlabel="epoch", ylabel="training loss", log=True, title="Two networks learn"),
    alt=f"Both training losses fall: the MLP's to {mlp_loss[-1]:.4f}, LeNet-5's to {lenet_loss[-1]:.4f}.",
    caption="LeNet-5 ends with the lower training loss, and with the lower test loss.",
)

# %% [markdown]
# <details class="reveal"><summary>Fewer parameters, more work, fewer mistakes</summary>
#
# About 30 instead of about 50, with four times as many multiply-adds. LeNet-5 looks at small neighbourhoods, shares its
# masks and pools. Which of the three does how much, this comparison cannot say. It is also one run each, on test
# digits that we looked at when we chose the settings, which makes both a little too good (lesson 06).
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured, and what the text says of the two.
fewer.confirm(mistakes["LeNet-5"], rel=0.3)
assert 42 <= mistakes["MLP"] <= 62
assert lenet_loss[-1] < mlp_loss[-1]
assert result["LeNet-5"].loss < result["MLP"].loss

# %% [markdown]
# ### What it still gets wrong
#
# The **confusion matrix** says which digits are mixed up: a row for each label, a column for each answer, the right
# answers on the diagonal. Before you look, which two digits would you mix up?

# %% tags=["nbval-ignore-output"]
answers = net.predict(x_test)
counts = nn.confusion_matrix(answers, digits.y_test, 10)
wrong = counts - np.diag(np.diag(counts))
pairs = np.triu(wrong + wrong.T)  # both directions in one cell above the diagonal
i, k = np.argwhere(pairs == pairs.max())[0]
print(f"{wrong.sum()} mistakes; {pairs.max()} of them mix up {i} and {k}, more than any other pair")
figures.show(
    figures.training.confusion(counts),
    alt=f"{wrong.sum()} of 1,000 test digits are off the diagonal; the fullest pair, {i} and {k}, "
    f"has {pairs.max()} of them.",
    caption="Row = label, column = answer. The mistakes are spread over many pairs.",
)

# %% [markdown]
# Even the fullest pair holds only a few of the mistakes, and with another seed it may be another pair. A single image
# tells more. Here are the ten mistakes of which the network was surest. Would you have read them as the label says?

# %% tags=["nbval-ignore-output"]
found = nn.worst_mistakes(net, x_test, digits.y_test, 10)
figures.show(
    figures.training.mistakes(digits.images("test"), found),
    alt=f"The ten surest mistakes; the surest is a {found.label[0]} read as {found.predicted[0]} with "
    f"{found.confidence[0]:.0%}.",
    caption="Sure and wrong. Some of them people would dispute; others are plain to you.",
)

# %% tags=["hide-input"]
# What the text says of the mistakes.
assert wrong.sum() == (answers != digits.y_test).sum()
assert pairs.max() <= wrong.sum() / 2

# %% [markdown]
# ### Digits that moved
#
# Do the examples include all versions of an input?[^Hwu "Inputs and Labels May be Biased"] Ours do not: each digit was
# placed with its centre of mass in the middle of the image. So train a second network on more versions. `augment` moves
# each image of a batch by up to two pixels, another way every time. All else stays, the seven epochs too.

# %%
rng = np.random.default_rng(0)
shifted = nn.models.lenet5(rng=rng)
train_in_phases(shifted, (x_train, digits.y_train), [(5, 0.03), (2, 0.003)], rng=rng, augment=nn.random_shifts(2))
moved_test = nn.random_shifts(2)(x_test, np.random.default_rng(9))

# %% [markdown]
# Both networks read the test digits twice: as they are, and moved.

# %% tags=["hide-input"]
# A prediction.
after_move = predict(
    "Of 100 test digits the first network reads 97. How many does it read when each was moved by up to two pixels?",
    [97, 84, 50],
    answer=84,
    reveals=2,
)
after_move

# %% tags=["hide-output", "nbval-ignore-output"]
score = {name: [nn.accuracy(network.predict(x), digits.y_test) for x in (x_test, moved_test)]
         for name, network in (("as they are", net), ("moved", shifted))}
table([(name, *accuracies) for name, accuracies in score.items()],
      ["trained on digits", "reads them as they are", "reads them moved"],
      formats={"reads them as they are": ".1%", "reads them moved": ".1%"})

# %% [markdown]
# <details class="reveal"><summary>Shared masks are not enough</summary>
#
# Convolutions follow a digit that moves, and pooling forgives a pixel (lesson 07). But C5 and F6 have learned *where*
# to expect what. Only the network that has seen moved digits reads both kinds. On the digits as they are, neither of
# the two is clearly better: with 1,000 test digits, a difference of one in a hundred may be chance.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured, and what the text says of the two networks.
after_move.confirm(100 * score["as they are"][1], rel=0.08)
assert score["moved"][1] > 0.93
assert abs(score["moved"][0] - score["as they are"][0]) < 0.02

# %% [markdown]
# ## Training the classic one
#
# The classic network needs a loss for distances. The paper's, with $y$ the distances and $T$ the label, is
#
# $$E = y[T] + \ln\Big(e^{-j} + \sum_{i} e^{-y[i]}\Big)$$
#
# The first term pulls F6 towards the right drawing. The second pushes it away from every drawing that it is close to.
# It pushes away from the right one as well, but never as hard as the first term pulls. The constant $j$ (0.1 here) puts
# an end to the pushing once all drawings are far away.
#
# You have met this formula before. It is the cross-entropy of softmax, taken of *minus* the distances, with an eleventh
# class whose distance is always $j$: "none of these".

# %%
y, T = np.random.default_rng(4).uniform(0, 3, (5, 10)), np.arange(5)
eleven = np.column_stack([y, np.full(5, 0.1)])  # j = 0.1
paper, _ = ops.rbf_loss_forward(y, T, j=0.1)
by_softmax, _ = ops.softmax_cross_entropy_forward(-eleven, T)
print(f"the paper's loss {paper:.6f}, softmax of minus the distances {by_softmax:.6f}")

# %% [markdown]
# ### A tanh that reaches 1
#
# In the classic network a tanh follows each of C1, S2, C3, S4, C5 and F6. But a tanh comes close to 1 without ever
# reaching it, while the pixels of the drawings *are* -1 and 1. F6 could draw them only with infinite sums. So the paper
# stretches it: $f(z) = 1.7159 \tanh(\tfrac{2}{3} z)$ is 1 at $z = 1$ and -1 at $z = -1$, and that is where it bends
# most.[^LeCun, Bottou, Bengio, Haffner "Gradient-Based Learning Applied to Document Recognition, 1998, appendix A"]

# %%
z = np.linspace(-4, 4, 161)
figures.show(
    figures.plots.curves({"tanh": ops.tanh(z), "scaled tanh": ops.scaled_tanh(z)}, x=z,
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
# We look at the losses, and at what F6 holds for the test digits.

# %% tags=["hide-input"]
# A prediction.
lower = predict(
    "Which of the two ends with the lower training loss?",
    ["plain tanh", "scaled tanh", "neither: they differ by less than a tenth"],
    answer="plain tanh",
    reveals=2,
)
lower

# %% tags=["hide-output", "nbval-ignore-output"]
def drawings(network):
    x = x_test
    for layer in list(network)[:-1]:
        x = layer.forward(x)
    return x  # F6, with its tanh

drawn = {name: drawings(network) for name, network in rivals.items()}
slopes = {"plain": 1 - drawn["plain"] ** 2, "scaled": (2 / 3) * (1.7159 - drawn["scaled"] ** 2 / 1.7159)}
table([(name, rival_loss[name][-1], nn.accuracy(rivals[name].predict(x_test), digits.y_test),
        np.mean(np.abs(drawn[name]) >= 1), np.median(slopes[name])) for name in rivals],
      ["tanh", "training loss", "test accuracy", "F6 beyond 1", "median slope"],
      formats={"training loss": ".2f", "test accuracy": ".1%", "F6 beyond 1": ".0%", "median slope": ".2f"},
      caption="F6 beyond 1: the share of its numbers; slope: of the tanh behind F6, at these numbers")

# %% [markdown]
# <details class="reveal"><summary>Cheap and stuck</summary>
#
# The plain tanh wins, and the last column shows at what price. Its numbers have gone to the ends, mostly beyond 0.98,
# so each pixel is nearly right. But there the curve is flat. Of a gradient that comes back, only a few per cent get
# through F6: the layer is **saturated**, and if it has to change its mind, it does so very slowly. The scaled tanh
# overshoots about half of the pixels, which costs a little loss, and still passes about three quarters of a gradient.
# That is what the paper wanted it for. In a training as short as ours you do not see it in the accuracy: the two differ
# by no more than different seeds do.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured, and what the text says of slopes and accuracies.
better = min(rival_loss, key=lambda name: rival_loss[name][-1])
close = abs(rival_loss["plain"][-1] / rival_loss["scaled"][-1] - 1) < 0.1
lower.confirm("neither: they differ by less than a tenth" if close else f"{better} tanh")
right = {name: nn.accuracy(network.predict(x_test), digits.y_test) for name, network in rivals.items()}
assert min(right.values()) > 0.88
assert abs(right["plain"] - right["scaled"]) < 0.05
assert (np.abs(drawn["plain"]) < 1).all()
assert 0.3 < np.mean(np.abs(drawn["scaled"]) >= 1) < 0.7
assert 0.01 < np.median(slopes["plain"]) < 0.04
assert 0.7 < np.median(slopes["scaled"]) < 0.8

# %% [markdown]
# ### What F6 draws
#
# No example ever said what F6 should hold; the loss spoke of distances only. Here are the first four test digits, and
# the four that stay farthest from every drawing, read by the network with the scaled tanh.

# %% tags=["nbval-ignore-output"]
distance = ops.rbf_forward(drawn["scaled"], prototypes.astype(np.float32))[0]
chosen = [0, 1, 2, 3, *distance.min(axis=1).argsort()[-4:]]
figures.show(
    figures.lenet.read_by_distance(x_test[chosen, 0], drawn["scaled"][chosen], prototypes),
    alt=f"F6 as pictures resembles the prototypes; the nearest ones are {distance[chosen].argmin(axis=1)}, "
    f"the labels {digits.y_test[chosen]}.",
    caption="Above the input, in the middle F6, below the nearest prototype: the answer and its distance.",
)

# %% [markdown]
# Where even the nearest drawing is far away, F6 has drawn a blend of two or three. The network hesitates, and you can
# see between which digits.

# %% [markdown]
# ## What goes wrong: a loss that fits
#
# The classic network gives ten numbers, so the loss of lesson 06, softmax with cross-entropy, fits, and no error
# appears. We train a fresh one with it, on 1,000 digits for three epochs. The loss falls nicely.

# %% tags=["nbval-ignore-output"]
rng = np.random.default_rng(0)
other = nn.models.lenet5(rng=rng, classic=True)
other_loss = train_in_phases(other, (x_train[:1000], digits.y_train[:1000]), [(3, 0.003)], rng=rng)
print("training loss:", " -> ".join(f"{v:.2f}" for v in other_loss))

# %% [markdown]
# It has learned something. What?

# %% tags=["hide-input"]
# A prediction.
fits = predict(
    "How many of the test digits does it read?",
    ["about 80 %, a little less well", "about 10 %, it guesses", "nearly none"],
    answer="nearly none",
    reveals=2,
)
fits

# %% tags=["hide-output", "nbval-ignore-output"]
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
# as you will write from lesson 11 on. If your machine has a GPU, the trained network now reads all 1,000 test digits on
# it. If not, our executor walks through the same kernels, thread by thread, and two digits have to do; that takes some
# seconds.

# %%
def read_on(backend, x):
    twin = nn.models.lenet5(rng=np.random.default_rng(0), ops=backend)
    for name, p in twin.parameters().items():
        backend.assign(p, net.parameters()[name])  # the trained weights
    return backend.to_host(twin.forward(backend.to_backend(x)))

# %% [markdown]
# The first line of output names the device. The second compares the scores with those of the formulas in NumPy.

# %% tags=["nbval-ignore-output"]
n = 2 if "no GPU" in gpu.device_name() else 1000
by_kernels = read_on(cuda_ops, x_test[:n])
print(f"{n:,} digits read on: {gpu.device_name()}")

# %% tags=["continued"]
by_formula = read_on(ops, x_test[:n])
print("same scores, but for rounding:", np.allclose(by_kernels, by_formula, rtol=1e-3, atol=1e-3))

# %% tags=["hide-input"]
# What the text says of both.
assert np.allclose(by_kernels, by_formula, rtol=1e-3, atol=1e-3)
assert by_kernels.shape == (n, 10)

# %% [markdown]
# They differ in the last digits only, since a sum in another order is rounded in other places. Nothing else in the
# network had to change: a layer does not know on what it runs.

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
figures.show(
    figures.lenet.shapes(pictures.x_test[:10], seen[:10], pictures.y_test[:10], pictures.names),
    alt=f"Ten colour pictures with the network's answers, {(seen[:10] == pictures.y_test[:10]).sum()} of them right.",
    caption="Ten test pictures with the answer above; a cross marks a wrong one, with the right name below.",
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
#   few epochs, and what it lacks is more examples.
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
#   before you look at `costs`. <details><summary>Answer</summary>
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
# The parameters fall by nearly a half. For time, C3 (240,000) and C1 (117,600) are the ones to look at.
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
