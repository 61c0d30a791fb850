# ---
# jupyter:
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
# On this page you put convolution, pooling and dense layers together to the network that read handwriting in 1998,
# count what every layer costs, train it, and look at what it still gets wrong.
#
# **K** is Prof. Dey's lecture 56 at IIT Kharagpur with its slides, **H** is ECE 508 lecture 10 by Prof. Hwu and
# colleagues at Illinois. The page takes about 45 minutes, the optional parts at its end 20 more.

# %% [markdown]
# ## You will be able to
#
# - follow an image through LeNet-5 and say the shape after every layer;
# - compute parameters and multiply-adds of a layer, and say why they are two different things;
# - explain the output that measures distances, and which loss fits it;
# - compare two networks fairly, mistakes included.

# %% [markdown]
# ## Why
#
# A network must fit into a memory and answer in time. What fills the memory are its **parameters**, the numbers that
# training changes. What takes the time are, to begin with, its **multiply-adds**: one product added to a sum. Many
# people expect that **bigger layers hold the parameters, so they cost the time**.
#
# **Write down a guess.** One layer of LeNet-5 holds four fifths of its parameters. What share of the multiply-adds
# does the same layer do?
#
# (a) nearly all (b) about four fifths (c) about a half (d) about a seventh

# %%
import json
from pathlib import Path
from time import perf_counter

import numpy as np

from course_lib import checks, data, fast, figures, nn
from course_lib import reference as ops

# %% [markdown]
# ## The input: 32 × 32 from 28 × 28
#
# The data set's images are 28 × 28. LeNet-5 gets them with a border of two zeros, so that the middle of a mask can lie
# on every part of a stroke (H, "Inputs Inflated to Provide Padding"): the middle of a 5 × 5 mask is two pixels away
# from its edge. `np.pad` takes the width of the border for each of the four axes.

# %%
digits = data.load_digits(seed=0)

def padded(rows):
    return np.pad(rows.reshape(-1, 1, 28, 28), ((0, 0), (0, 0), (2, 2), (2, 2)))

x_train, x_test = padded(digits.x_train), padded(digits.x_test)
print(x_train.shape, x_test.shape, x_train.dtype)

# %% [markdown]
# ## Seven layers
#
# Convolutions are called C, subsampling layers S, the fully connected layer F (H, "Convolution Layers in LeNet-5" and
# the slides after it). 6@28 means six maps of 28 × 28.
#
# | layer | what it does | output |
# |---|---|---|
# | C1 | convolution 5 × 5, finds features | 6@28 |
# | S2 | 2 × 2 to one number | 6@14 |
# | C3 | convolution 5 × 5 over maps | 16@10 |
# | S4 | 2 × 2 to one number | 16@5 |
# | C5 | convolution 5 × 5 on 5 × 5: one place | 120@1 |
# | F6 | dense layer | 84 |
# | OUTPUT | compares with ten digits | 10 |
#
# The sizes by hand: $32 - 5 + 1 = 28$, half of it 14, $14 - 5 + 1 = 10$, half of it 5, $5 - 5 + 1 = 1$. None has a
# remainder, and a table further down prints the same.
#
# ### S2 and S4: pooling with two numbers to train
#
# Subsampling makes the network less sensitive to scale and reduces the data (H, "Subsampling Layers in LeNet-5"). In
# the 1998 paper that the slide cites, such a layer adds the four pixels of a window, multiplies the sum by one weight
# per map and adds one bias:
#
# $$y_{chv} = w_c \sum_{p=0}^{1} \sum_{q=0}^{1} x_{c,\,2h+p,\,2v+q} + b_c \qquad (B, C, H, W) \to (B, C, H/2, W/2)$$
#
# With $w_c = 1/4$ and $b_c = 0$ it is average pooling, and there it starts. Each of C1, S2, C3, S4, C5 and F6 is
# followed by a tanh.

# %% [markdown]
# ### C3: a convolution with a table
#
# In C3 an output map does not see all six maps of S2. A **connection table** says which ones it sees. Every column
# below is one of the sixteen output maps.

# %%
table = nn.models.c3_table()  # (16, 6): a row per output map
figures.show(
    figures.lenet.connections(table),
    alt="C3's table: six maps see 3 of S2's maps, nine see 4, one sees all 6; "
    f"together {table.sum()} connections.",
    caption="A filled cell: this output map sees this input map. No two columns are equal.",
)

# %% [markdown]
# **By hand.** Six maps see three, nine see four, one sees six: $6\cdot3 + 9\cdot4 + 6 = 60$ connections. Each has its
# own 5 × 5 mask, and each output map has one bias. **Predict** the number of parameters before you run the cell.

# %%
connected = int(table.sum())
print(connected, "x 25 + 16 =", connected * 25 + 16, "  without the table:", 16 * 6 * 25 + 16)

# %% [markdown]
# 1,516 instead of 2,416. The table is also there to **break symmetry** (H, "Convolution Layers in LeNet-5"): no two
# maps see the same inputs, so they cannot stay copies of each other (an optional part below shows it). Random starting
# weights do that too, and today's networks need no table.
#
# ### OUTPUT: how far from a drawing?
#
# The last layer of 1998 gives no scores. F6's 84 numbers, between -1 and 1 after the tanh, are read as a picture of
# 12 × 7. Each digit has a fixed drawing of that size, its **prototype**, with pixels -1 and 1 (these are the course's):

# %%
prototypes = ops.digit_prototypes()  # (10, 84)
figures.show(
    figures.plots.image_grid((prototypes.reshape(10, 12, 7) + 1) / 2, range(10)),
    alt="Ten drawings of digits, 12 pixels high and 7 wide, each pixel black for 1 or white for -1.",
    caption="The ten prototypes. The 3 and the 8 differ least.",
)

# %% [markdown]
# The output is the squared distance to each prototype $w_i$, a **radial basis function**, and **the smallest wins**. It
# moves the identification of the digit back into the network (H, "OUTPUT Layer in LeNet-5"): F6 must already draw the
# digit, and the last layer only compares. The paper's formula, as loops, against the library:
#
# $$y[b, i] = \sum_{d=0}^{83} (x[b, d] - w[i, d])^2 \qquad (B, 84), (10, 84) \to (B, 10)$$

# %%
def distances_loops(x, w):
    y = np.zeros((len(x), len(w)))
    for b, i in np.ndindex(y.shape):
        for d in range(w.shape[1]):
            y[b, i] += (x[b, d] - w[i, d]) ** 2
    return y

f6 = np.random.default_rng(2).uniform(-1, 1, (3, 84))
checks.check_close(ops.rbf_forward(f6, prototypes)[0], distances_loops(f6, prototypes), rtol=1e-12)
checks.check_op_gradients(ops.rbf_forward, ops.rbf_backward, [f6, prototypes], rng=np.random.default_rng(3))
apart = distances_loops(prototypes, prototypes)
print("from the 3 to 0 ... 9:", apart[3].astype(int))
assert apart[3, 8] == apart[~np.eye(10, dtype=bool)].min()

# %% [markdown]
# An opposite pixel adds $2^2 = 4$. So the 3 is 0 away from itself, 24 from the 8 (six pixels differ, the closest pair
# of all), and nothing can be farther than $84 \cdot 4 = 336$.
#
# ## What each layer costs
#
# A mask has $K^2$ weights for each connected pair of maps and is used at every place of the output. So a convolution
# with $n$ connections and $M$ output maps has
#
# $$\text{parameters} = n K^2 + M, \qquad \text{multiply-adds} = n K^2 \, H_{out} W_{out}$$
#
# The second is the first, without the $M$ biases, times the number of places; in a dense layer there is one place. S2
# and S4 have a weight and a bias per map and multiply once per output; OUTPUT takes one square per pixel of each
# drawing, $10 \cdot 84$. **Look at your guess again** before you read the table.

# %%
classic = nn.models.lenet5(rng=np.random.default_rng(0), classic=True)
print(classic.summary((1, 32, 32)))

# %% [markdown]
# Exactly 60,000 parameters. In the picture, the upper bar is a layer's share of the parameters, the lower its share of
# the work.

# %%
costs = figures.lenet.named_costs(classic)
figures.show(
    figures.lenet.cost_bars(costs, title="Classic LeNet-5: what holds the numbers, what does the work"),
    alt=f"C5 holds {costs['C5'].trainable / 60_000:.0%} of the parameters but does "
    f"{costs['C5'].multiply_adds / 328_096:.0%} of the multiply-adds; C1 and C3 are the other way round.",
    caption="Where the upper bar, striped, is long, the lower one, checked, is short.",
)

# %% [markdown]
# The answer is (d). Now **today's variant** ([`nn.models.lenet5`](../course_lib/nn/models.py)): ReLU in place of tanh
# (and none after pooling), max pooling in place of S2 and S4, all connections in C3, ten scores for softmax in place
# of the distances.

# %%
today = nn.models.lenet5(rng=np.random.default_rng(0))
print(today.summary((1, 32, 32)))

# %% [markdown]
# Both variants in shares, and lesson 06's MLP 784-128-10. **Predict**: does the belief hold for the MLP's first layer?

# %%
def share(costs, field, names):
    return sum(getattr(costs[n], field) for n in names) / sum(getattr(c, field) for c in costs.values())

mlp = nn.models.mlp((784, 128, 10), rng=np.random.default_rng(0))
named = {"classic": figures.lenet.named_costs(classic), "today": figures.lenet.named_costs(today),
         "MLP": {c.layer: c for c in mlp.costs((784,))}}
shares = {}
for network, names in (("classic", ["C5"]), ("classic", ["C1", "C3"]), ("today", ["C5"]),
                       ("today", ["C1", "C3"]), ("MLP", ["Dense 784 -> 128"])):
    held, done = (share(named[network], f, names) for f in ("trainable", "multiply_adds"))
    shares[network, *names] = [held, done]
    print(f"{network:8} {'+'.join(names):16} holds {held:5.1%} of the parameters, does {done:5.1%} of the work")

# %% [markdown]
# In the MLP the belief is right: a dense weight is used once per image. In LeNet-5 it fails. C5 holds about 80 % and
# does 15 % of the work or less; C1 and C3 hold 3 to 4 % and do more than 80 %. A mask is stored once and used 784 times
# in C1, 100 times in C3, once in C5. **Parameters say how much is stored; places say how often it is used.**

# %% [markdown]
# ### And the clock?
#
# `nn` computes with [`course_lib.fast`](../course_lib/fast/__init__.py), compiled once per machine, unless it is told
# otherwise; `ops=ops` asks for the reference, the lectures' formulas in NumPy. Build today's network with both, with
# equal weights, and time each layer, both in turns: 64 digits forward, nine times, on one thread.

# %% tags=["nbval-ignore-output"]
fast.set_threads(1)
both = {name: nn.models.lenet5(rng=np.random.default_rng(0), ops=backend)
        for name, backend in (("reference", ops), ("fast", fast))}
seconds = {name: np.zeros((9, len(network))) for name, network in both.items()}
for run in range(9):
    for name, network in both.items():
        x = x_train[:64]
        for i, layer in enumerate(network):
            start = perf_counter()
            x = layer.forward(x)
            seconds[name][run, i] = perf_counter() - start

# %% [markdown]
# **Predict**: both do the same 416,520 multiply-adds per digit. Do they take the same time? And does C5, with 78 % of
# the parameters, take most of it? The medians, with each layer's activation (yours will differ):

# %% tags=["nbval-ignore-output"]
places = {"C1": (0, 2), "S2": (2, 3), "C3": (3, 5), "S4": (5, 6), "C5": (6, 9), "F6": (9, 11), "OUTPUT": (11, 12)}
ms = {backend: {name: 1000 * np.median(t, axis=0)[slice(*place)].sum() for name, place in places.items()}
      for backend, t in seconds.items()}
total = {backend: sum(layers.values()) for backend, layers in ms.items()}
for name in places:
    print(f"{name:6}", *(f"{b} {ms[b][name]:7.3f} ms = {ms[b][name] / total[b]:4.0%}   " for b in ms))
print("all   ", *(f"{b} {total[b]:7.3f} ms          " for b in ms))

# %% [markdown]
# C5's share of the time is far below its share of the parameters: the belief fails by the clock, too. But the clock
# knows more than the count. Max pooling does no multiply-add, and yet S2 and S4 take time. And the same multiply-adds
# take `fast` a fraction of the time: the reference unrolls, and copies C1's pixels 19 times (lesson 08); `fast` copies
# nothing 19 times. The same pixel of all images lies side by side in memory, so that one instruction works on 8 or 16
# images.

# %%
assert total["fast"] < total["reference"] / 1.5
assert max(ms[b]["C5"] / total[b] for b in ms) < 0.5

# %% [markdown]
# ## Training today's variant
#
# LeNet-5 against the MLP, on equal terms: the same digits in batches of 64, momentum 0.9, seven epochs, the last two
# with a tenth of the learning rate to end the jumping about. Only the rate is each one's own, 0.03 and 0.1.
# **Predict**: the MLP makes about 50 mistakes in 1,000 test digits. LeNet-5 has fewer parameters. How many mistakes:
# 90, 50 or 30?

# %%
def fit(net, x, schedule, rng, **options):
    curve = []
    for epochs, lr in schedule:
        history = nn.train(net, (x, digits.y_train[:len(x)]), epochs=epochs, batch_size=64, lr=lr,
                           momentum=0.9, rng=rng, **options)
        curve += history.loss
    return curve

rng = np.random.default_rng(0)
net = nn.models.lenet5(rng=rng)
lenet_loss = fit(net, x_train, [(5, 0.03), (2, 0.003)], rng)
rng = np.random.default_rng(0)
mlp = nn.models.mlp((784, 128, 10), rng=rng)
mlp_loss = fit(mlp, digits.x_train, [(5, 0.1), (2, 0.01)], rng)

# %% [markdown]
# (`**options` takes any further named arguments and hands them on.) The training loss of both, then both networks on
# the test digits:

# %% tags=["nbval-ignore-output"]
result = {}
for name, network, x in (("MLP", mlp, digits.x_test), ("LeNet-5", net, x_test)):
    cost = network.costs(x.shape[1:])
    result[name] = nn.evaluate(network, x, digits.y_test)
    print(f"{name:8} {sum(c.trainable for c in cost):7,} parameters,",
          f"{sum(c.multiply_adds for c in cost):7,} multiply-adds: test loss {result[name].loss:.3f},",
          f"accuracy {result[name].accuracy:.1%}")
figures.show(
    figures.plots.curves({"LeNet-5": lenet_loss, "MLP": mlp_loss}, x=np.arange(1, 8),
                         xlabel="epoch", ylabel="training loss", log=True, title="Two networks learn"),
    alt=f"Both training losses fall: the MLP's to {mlp_loss[-1]:.4f}, LeNet-5's to {lenet_loss[-1]:.4f}.",
    caption="LeNet-5 ends with the lower training loss, and with the lower test loss.",
)

# %% [markdown]
# About 30 mistakes instead of about 50, with fewer parameters and four times the work. LeNet-5 looks locally, shares
# its masks and pools; which of the three does how much, this comparison cannot say. And it is one run each, on test
# digits that the course looked at when it chose its settings (lesson 06: a little too good).

# %%
assert result["LeNet-5"].accuracy >= 0.965
assert result["MLP"].accuracy < result["LeNet-5"].accuracy
assert lenet_loss[-1] < mlp_loss[-1]
assert result["LeNet-5"].loss < result["MLP"].loss

# %% [markdown]
# ### One digit on its way
#
# Step through the trained network. The maps become smaller and more numerous, and from C3 on you can no longer see
# which digit it is, while the network can.

# %% tags=["nbval-ignore-output"]
figures.lenet.walk(net, x_test[0, 0], digits.y_test[0])

# %% [markdown]
# ### What it still gets wrong
#
# The **confusion matrix** says which digits are mixed up: row = label, column = answer, right answers on the diagonal.
# **Predict**: which two digits most, in either direction?

# %% tags=["nbval-ignore-output"]
answers = net.predict(x_test)
counts = nn.confusion_matrix(answers, digits.y_test, 10)
wrong = counts - np.diag(np.diag(counts))
pairs = np.triu(wrong + wrong.T)  # both directions in one cell above the diagonal
i, k = np.argwhere(pairs == pairs.max())[0]
row = wrong.sum(axis=1).argmax()
print(f"{wrong.sum()} mistakes. Fullest pair: {i} and {k} with {pairs.max()}; row {row} has {wrong[row].sum()}")
figures.show(
    figures.training.confusion(counts),
    alt=f"{wrong.sum()} of 1,000 test digits are off the diagonal; the fullest pair, {i} and {k}, "
    f"has {pairs.max()} of them, row {row} has {wrong[row].sum()}.",
    caption="Row = label, column = answer. The mistakes are spread over many pairs.",
)

# %% [markdown]
# Even the fullest pair, printed above, holds only a few of the mistakes, and with another seed it may be another one.
# The fullest row says a little more: that label is missed most often.
#
# The ten of which the network was surest are the worst mistakes. Would you have read them as the label says?

# %% tags=["nbval-ignore-output"]
found = nn.worst_mistakes(net, x_test, digits.y_test, 10)
assert wrong.sum() == (answers != digits.y_test).sum() <= 35
assert pairs.max() <= 10
figures.show(
    figures.training.mistakes(digits.images("test"), found),
    alt=f"The ten surest mistakes; the surest is a {found.label[0]} read as {found.predicted[0]} with "
    f"{found.confidence[0]:.0%}.",
    caption="Sure and wrong. Some of them people would dispute; others are plain to you.",
)

# %% [markdown]
# ### Digits that moved
#
# Do the examples include all versions of an input (H, "Inputs and Labels May be Biased")? These all lie in the middle.
# So train on more versions: `augment` moves each image of a batch by up to two pixels, anew every time. That needs more
# epochs, 30. To be fair, a second network gets 30 epochs without it.

# %%
nets = {"7 epochs": net}
for name, options in (("30 epochs", {}), ("30 epochs, moved", {"augment": nn.random_shifts(2)})):
    rng = np.random.default_rng(0)
    nets[name] = nn.models.lenet5(rng=rng)
    fit(nets[name], x_train, [(25, 0.03), (5, 0.003)], rng, **options)
moved = nn.random_shifts(2)(x_test, np.random.default_rng(9))

# %% [markdown]
# All three read the test digits, as they are and moved by up to two pixels. **Predict**: `net` read 97 of 100. How many
# of 100 moved ones: 97, 84 or 50? And what do 23 more epochs change?

# %% tags=["nbval-ignore-output"]
score = {}
for name, network in nets.items():
    score[name] = [nn.evaluate(network, x, digits.y_test) for x in (x_test, moved)]
    as_is, shifted = score[name]
    print(f"{name:17} as they are: {as_is.accuracy:.1%}, loss {as_is.loss:.3f}    "
          f"moved: {shifted.accuracy:.1%}, loss {shifted.loss:.3f}")

# %% [markdown]
# About 84 with seven epochs, and hardly more with 30. Shared masks and pooling forgive a small shift (lesson 07), but
# C5 and F6 have learned at which places to expect what. Only the network that saw moved digits reads both kinds, 97 or
# more of 100. On the digits as they are it makes fewer mistakes than `net`, but so do 30 epochs without moving: without
# the second network you would have credited the shifts with what patience did.

# %%
plain, longer, shifts = score.values()
assert shifts[0].accuracy > plain[0].accuracy
assert shifts[0].loss < longer[0].loss
assert shifts[1].accuracy > 0.95
assert max(plain[1].accuracy, longer[1].accuracy) < 0.92

# %% [markdown]
# ## Training the classic one
#
# It needs a loss for distances. The paper's, with $y$ the distances and $T$ the label, is
#
# $$E = y[T] + \ln\Big(e^{-j} + \sum_{i} e^{-y[i]}\Big)$$
#
# The first term pulls F6 towards the right drawing. The second pushes it away from all ten while they are near, from
# the right one too, but always less than the first pulls. The constant $j$ (0.1 here) ends the pushing once all are
# far. Fifteen epochs:

# %% tags=["nbval-ignore-output"]
rng = np.random.default_rng(0)
classic = nn.models.lenet5(rng=rng, classic=True)
fit(classic, x_train, [(15, 0.003)], rng, loss="rbf_loss")
right = nn.accuracy(classic.predict(x_test), digits.y_test)
print(f"classic variant after 15 epochs: {right:.1%}")
assert right >= 0.95

# %% [markdown]
# And what does F6 hold now? No example ever said what F6 should be; the loss spoke of distances only. Run all layers
# but the last, and look at the first four test digits and at the four that stay farthest from every drawing.

# %% tags=["nbval-ignore-output"]
features = x_test
for layer in list(classic)[:-1]:
    features = layer.forward(features)
distance = ops.rbf_forward(features, prototypes.astype(np.float32))[0]
shown = [0, 1, 2, 3, *distance.min(axis=1).argsort()[-4:]]
figures.show(
    figures.lenet.read_by_distance(x_test[shown, 0], features[shown], prototypes),
    alt=f"F6 as pictures resembles the prototypes; the nearest ones are {distance[shown].argmin(axis=1)}, "
    f"the labels {digits.y_test[shown]}.",
    caption="Above the input, in the middle F6, below the nearest prototype: the answer and its distance.",
)

# %% [markdown]
# Where the nearest distance is large, F6's picture is a blend of drawings: the network hesitates, and you can see
# between which digits.
#
# ## What goes wrong: a loss that fits
#
# The classic network gives ten numbers, so softmax's loss from lesson 06 fits, and no error appears. Train a fresh one
# with it on 1,000 digits for three epochs. **Predict** the test accuracy: (a) about 80 %, only less good, (b) about
# 10 %, guessing, (c) less than guessing.

# %% tags=["nbval-ignore-output"]
rng = np.random.default_rng(0)
other = nn.models.lenet5(rng=rng, classic=True)
other_loss = fit(other, x_train[:1000], [(3, 0.003)], rng, loss="softmax_cross_entropy")
y = other.forward(x_test)
nearest = nn.accuracy(y.argmin(axis=1), digits.y_test)
farthest = nn.accuracy(y.argmax(axis=1), digits.y_test)
print("loss", np.round(other_loss, 2), f" right: nearest {nearest:.1%}, farthest {farthest:.1%}")

# %% [markdown]
# (c), and the loss fell all the way. Softmax takes a large number for a likely class. But here large means far. So it
# learns the opposite: to be as **far** as possible from the right drawing. The answer, the nearest one, is nearly
# never right, while the *farthest* one mostly is. The loss curve looks healthy; only the accuracy shows it.
#
# The cure is a minus sign: softmax of $-y$ gives the near classes the large probabilities.

# %%
assert other_loss[-1] < other_loss[0] / 2
assert nearest < 0.05
assert farthest > 0.7

# %% [markdown]
# ## Where the lecture is loose
#
# The digits start as 20 × 20 and "are scaled to 28 × 28", which makes the greys (H, "Inputs Inflated to Provide
# Padding"). If so, their ink would fill 28 pixels. Measure its height and width, and its centre of mass
# (`argmax` finds the first `True`):

# %%
images = np.concatenate([digits.images("train"), digits.images("test")])
extent = []
for axis in (1, 2):
    ink = (images > 0).any(axis=axis)  # (5000, 28): columns, then rows, with ink
    extent.append(28 - ink.argmax(axis=1) - ink[:, ::-1].argmax(axis=1))
longer = np.max(extent, axis=0)
print(f"longer side: 20 pixels in {(longer == 20).sum():,} of {len(longer):,} digits, at most {longer.max()}")
centre = [images.sum(axis=axis) @ np.arange(28) / images.sum(axis=(1, 2)) for axis in (1, 2)]
print(f"centre of mass: {np.min(centre):.1f} to {np.max(centre):.1f}")

# %% [markdown]
# The digits were fitted into 20 × 20, where they became grey, and then *placed* in 28 × 28, not scaled, each with its
# centre of mass in row and column 14, one of the two in the middle. This is the bias that you met above.

# %% [markdown]
# ## Optional: how a table breaks symmetry
#
# Suppose all sixteen maps of C3 start with equal masks, and the layers behind treat them alike, so that `dy` is the
# same for all. How many different gradients do they get? (`[:, :, None, None]` adds two axes, so that each connection
# fills its 5 × 5 mask; `np.unique(..., axis=0)` keeps one of equal rows.)

# %%
full_table = np.ones((16, 6), dtype=bool)
s2 = np.random.default_rng(1).integers(0, 10, (4, 6, 14, 14)).astype(np.float32)  # whole: sums are exact
for name, connections in (("all connections", full_table), ("C3's table", table)):
    c3 = nn.Conv2d(6, 16, 5, rng=np.random.default_rng(0), connections=connections)
    c3.params["w"][...] = 0.1 * connections[:, :, None, None]
    c3.forward(s2)
    c3.backward(np.ones((4, 16, 10, 10), dtype=np.float32))
    different = len(np.unique(c3.grads["w"].reshape(16, -1), axis=0))
    print(f"{name}: {different} different gradients in 16 maps")
    assert different == (1 if connections.all() else 16)

# %% [markdown]
# With all connections the sixteen maps stay copies of one map for ever. With the table, which has no two equal rows,
# each learns something of its own.
#
# ## Optional: two losses for distances
#
# The gradient shows at once which way a loss pulls. For the distances (9, 4) and the label 0, the step against the
# gradient should make the first smaller. (`getattr` finds a function by its name.)

# %%
y, T = np.array([[9.0, 4.0]]), np.array([0])
for loss in ("softmax_cross_entropy", "rbf_loss"):
    _, cache = getattr(ops, f"{loss}_forward")(y, T)
    gradient = getattr(ops, f"{loss}_backward")(cache)[0]
    print(f"{loss:22} dE/dy[T] = {gradient[0]:+.3f}, so a step makes the right distance",
          "smaller" if gradient[0] > 0 else "larger")

# %% [markdown]
# Cross-entropy of softmax of $-y$ is $y[T] + \ln \sum_i e^{-y[i]}$: the paper's loss without $e^{-j}$. What is the
# rest? It is an eleventh class with the constant distance $j$, "none of these":

# %%
y = np.random.default_rng(4).uniform(0, 3, (5, 10))
T = np.arange(5)
eleven = np.column_stack([y, np.full(5, 0.1)])  # j = 0.1
paper, _ = ops.rbf_loss_forward(y, T, j=0.1)
by_softmax, _ = ops.softmax_cross_entropy_forward(-eleven, T)
checks.check_close(paper, by_softmax, rtol=1e-12)
print(f"paper {paper:.6f}  softmax of minus distance, eleven classes {by_softmax:.6f}")

# %% [markdown]
# With the eleventh class the size of a distance counts, and not only the differences. That is what softmax lacks when
# it shares out 100 % among ten digits, whatever the image shows.
#
# ## Optional: colour
#
# The other lecture's network takes images of 3 × 32 × 32 (K, "End to End CNN"). Nothing new is needed: the first masks
# have $C = 3$. The course makes its own pictures for it, ten shapes in random colours, so that no colour gives the
# answer away. **Predict**: which layer holds most of the parameters, and does it do most of the work?

# %%
rng = np.random.default_rng(0)
x_shapes, y_shapes = data.colour_shapes(900, rng=rng)
colour = nn.models.cnn_color(rng=rng)
print(colour.summary((3, 32, 32)))
layers = {c.layer: c for c in colour.costs((3, 32, 32))}
held, done = (share(layers, f, ["Dense 2048 -> 64"]) for f in ("trainable", "multiply_adds"))
print(f"Dense 2048 -> 64 holds {held:.1%} and does {done:.1%}")
print("one forward pass:", x_shapes[:2].shape, "->", colour.forward(x_shapes[:2]).shape)

# %% [markdown]
# The first dense layer holds 96 % of the parameters and does 7.5 % of the work. A short training, on 600 pictures for
# four epochs in batches of 16. (Minus 0.5 centres the pixels around 0, so that dark and bright shapes count alike.)

# %% tags=["nbval-ignore-output"]
learned = nn.train(colour, (x_shapes[:600] - 0.5, y_shapes[:600]), epochs=4, batch_size=16, lr=0.02,
                   momentum=0.9, rng=rng)
seen = colour.predict(x_shapes[600:] - 0.5)
accuracy = nn.accuracy(seen, y_shapes[600:])
print(f"training loss {np.round(learned.loss, 2)}; 300 new pictures: {accuracy:.0%} right; guessing: 10 %")
figures.show(
    figures.lenet.shapes(x_shapes[600:610], seen[:10], y_shapes[600:610], data.SHAPE_NAMES),
    alt="Ten coloured shapes with the network's answers, "
    f"{(seen[:10] == y_shapes[600:610]).sum()} of them right.",
    caption="Ten new pictures with the answer above; a cross marks a wrong one, with the right name below.",
)

# %% [markdown]
# The same layers read colour, and four epochs are only a beginning: the loss is still falling.

# %%
assert accuracy > 0.4
assert learned.loss[-1] < learned.loss[-2]

# %% [markdown]
# ## Optional: the same layers against a framework
#
# `course bench cpu` times the course's two backends, and PyTorch where it is installed: the same weights, batch and
# threads, taking turns. The cell reads the files that it wrote, so every number comes from a run on the processor
# named above it. In brackets: how many times PyTorch's time it took; below 1 is faster than PyTorch.

# %% tags=["nbval-ignore-output"]
files = sorted(Path("../results").glob("cpu.*.json"))
if not files:
    print("no results/cpu.*.json here: run `course bench cpu` in the course's folder to measure and write it")
for file in files:
    bench = json.loads(file.read_text(encoding="utf-8"))
    print(f"{bench['machine']['cpu']}, threads: {bench['threads']}, batch: {bench['batch']}, {bench['date']}")
    for row in bench["rows"]:
        if row["network"] == "LeNet-5" and ("Conv2d" in row["part"] or row["part"] == "training step"):
            cells = []
            for rival, t in row["timings"].items():
                against = row["timings"].get("PyTorch")
                ratio = f" ({t['median'] / against['median']:.2f})" if against else ""
                cells.append(f"{rival} {1000 * t['median']:6.3f} ms{ratio}")
            print(f"{row['part']:23} {row['direction']:8}", *cells, sep="  ")

# %% [markdown]
# Where a bracket is missing, PyTorch was not installed. Compare the rows: one ratio for a whole training step hides in
# which layers, and in which direction, it is won or lost. And a file tells of one processor only; yours may order the
# rivals differently.

# %% [markdown]
# ## Try it
#
# - Give the MLP 30 epochs, `[(25, 0.1), (5, 0.01)]`. Does patience help it as much as LeNet-5?
# - Give the moved digits `[(80, 0.03), (20, 0.003)]`, a quarter of a minute. Does it pay, and on which test digits?
# - Double the maps of C1 with `nn.Conv2d(1, 12, 5, rng=rng)` and adapt C3. Predict parameters and work of both first.

# %% [markdown]
# ## Check yourself
#
# **1.** A colleague wants LeNet-5 twice as fast and proposes to halve C5 to 60 maps, "as it holds most of the
# network". What does it save of today's 416,520 multiply-adds, and which layers would you look at?
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
# A network that has learned nothing is right in one of ten. To be right less often, it must know the right answer and
# avoid it: learning works, in the wrong direction. Check the sign: does the loss reward large numbers where the answer
# is read from the smallest?
#
# </details>
