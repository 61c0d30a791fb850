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
# Convolution, pooling and dense layers are on the table. On this page you put them together to the network that read
# handwriting in 1998, count what every layer costs, train it, and look at what it still gets wrong.
#
# **K** is Prof. Dey's lecture 56 at IIT Kharagpur with its slides, **O** is Prof. Owens' EEC 289Q lecture 11 at UC
# Davis, **H** is ECE 508 lecture 10 by Prof. Hwu and colleagues at Illinois. The page takes about 40 minutes.

# %% [markdown]
# ## You will be able to
#
# - follow an image through LeNet-5 and say the shape after every layer;
# - compute parameters and multiply-adds of a layer, and say why they are two different things;
# - explain the output that measures distances, and what its loss has to do with softmax;
# - compare two networks fairly, mistakes included.

# %% [markdown]
# ## Why
#
# A network must fit into a memory and answer in time. What fills the memory are its **parameters**, the numbers that
# training changes. What takes the time are, to begin with, its **multiply-adds**: one product added to a sum.
#
# **Write down a guess.** One layer of LeNet-5 holds four fifths of its parameters. What share of the multiply-adds
# does the same layer do?
#
# (a) nearly all (b) about four fifths (c) about a half (d) about a seventh

# %%
import inspect
from time import perf_counter

import numpy as np

from course_lib import checks, data, figures, nn
from course_lib import reference as ops

# %% [markdown]
# ## The input: 32 × 32 from 28 × 28
#
# The digits began as 20 × 20 pixels in black and white. They were scaled to 28 × 28, which made greys, and then padded
# to 32 × 32 so that the middle of a mask can lie on every part of a stroke (H, "Inputs Inflated to Provide Padding").
# Two pixels all around, because the middle of a 5 × 5 mask is two pixels away from its edge. `np.pad` takes the width
# of the border for each of the four axes.

# %%
digits = data.load_digits(seed=0)

def padded(rows):
    return np.pad(rows.reshape(-1, 1, 28, 28), ((0, 0), (0, 0), (2, 2), (2, 2)))

x_train, x_test = padded(digits.x_train), padded(digits.x_test)
print(x_train.shape, x_test.shape, x_train.dtype)

# %% [markdown]
# How much would be lost without it? Without padding no mask can be centred on the outer two rows and columns of the
# 28 × 28. Count the ink there:

# %%
ink = digits.images("train") > 0
rim = np.ones((28, 28), dtype=bool)
rim[2:-2, 2:-2] = False
print(f"digits with ink in the rim: {(ink & rim).any(axis=(1, 2)).mean():.1%}")
print(f"share of all ink:           {(ink & rim).sum() / ink.sum():.1%}")

# %% [markdown]
# Only 0.3 % of the ink, but 12 % of the digits have some there: the ends of their strokes.
#
# ## Seven layers
#
# H calls convolutions C, subsampling layers S, the fully connected layer F (H, "Convolution Layers in LeNet-5" and the
# slides after it). 6@28 means six maps of 28 × 28.
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
# The sizes by hand: $32 - 5 + 1 = 28$, half of it 14, $14 - 5 + 1 = 10$, half of it 5, $5 - 5 + 1 = 1$. Lesson 07's
# function says the same, and none has a remainder:

# %%
size = 32
for name, mask, stride in (("C1", 5, 1), ("S2", 2, 2), ("C3", 5, 1), ("S4", 2, 2), ("C5", 5, 1)):
    assert ops.unseen(size, mask, stride) == 0
    size = ops.output_size(size, mask, stride)
    print(f"{name}: {size} x {size}")

# %% [markdown]
# ### S2 and S4: pooling with two numbers to train
#
# H's subsampling layers make the network less sensitive to scale and reduce the data (H, "Subsampling Layers in
# LeNet-5"). In the 1998 paper that H cites, such a layer adds the four pixels of a window, multiplies by one weight
# for each map and adds one bias:
#
# $$y_{chv} = w_c \sum_{p=0}^{1} \sum_{q=0}^{1} x_{c,\,2h+p,\,2v+q} + b_c \qquad (B, C, H, W) \to (B, C, H/2, W/2)$$
#
# With $w_c = 1/4$ and $b_c = 0$ it is average pooling, and there it starts.

# %%
subsample = nn.Subsample(6)
example = np.random.default_rng(0).standard_normal((2, 6, 28, 28)).astype(np.float32)
checks.check_close(subsample.forward(example), nn.AveragePool(2).forward(example), rtol=1e-5, atol=1e-6)
print("trainable:", subsample.trainable(), " output", subsample.output_shape((6, 28, 28)))

# %% [markdown]
# ### C3: a convolution with a table
#
# In C3 an output map does not see all six maps of S2. A **connection table** says which ones it sees. Every column
# below is one of the sixteen output maps.

# %%
table = nn.models.c3_table()
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
assert len({tuple(column) for column in table}) == 16

# %% [markdown]
# 1,516 instead of 2,416. But the table is there for another reason as well: to **break symmetry** (H, "Convolution
# Layers in LeNet-5"). Suppose all sixteen maps start with the same masks, and the layers behind treat them alike, so
# that `dy` is the same for all. With a full table they also receive the same gradient, and stay sixteen copies of one
# map for ever.

# %%
full_table = np.ones((16, 6), dtype=bool)
s2 = np.random.default_rng(1).integers(0, 10, (4, 6, 14, 14)).astype(np.float32)  # whole: sums are exact
for name, connections in (("all connections", full_table), ("C3's table", table)):
    c3 = nn.Conv2d(6, 16, 5, rng=np.random.default_rng(0), connections=connections)
    c3.params["w"][...] = 0.1 * connections[:, :, None, None]
    c3.forward(s2)
    c3.backward(np.ones((4, 16, 10, 10), dtype=np.float32))
    different = len({g.tobytes() for g in c3.grads["w"]})
    print(f"{name}: {different} different gradients in 16 maps")
    assert different == (1 if connections.all() else 16)

# %% [markdown]
# (`tobytes` makes each gradient a byte string, so that a set can count the different ones.) Random starting weights
# break the symmetry too, and today's networks rely on them and do without a table.
#
# ### OUTPUT: how far from a drawing?
#
# The last layer of 1998 gives no scores. F6's 84 numbers, each between -1 and 1 after a tanh, are read as a picture of
# 12 × 7. Each digit has a fixed drawing of that size, its **prototype** $w_i$, with pixels -1 and 1. The output is the
# squared distance to each of the ten, and **the smallest wins**. Such a function of a distance is a **radial basis
# function**; H says it pushes the identification of the digit back into the network (H, "OUTPUT Layer in LeNet-5").
#
# $$y[b, i] = \sum_{j=0}^{83} (x[b, j] - w[i, j])^2 \qquad (B, 84), (10, 84) \to (B, 10)$$
#
# H gives no formula; this one is the paper's, and the drawings are this course's. As loops, against the library:

# %%
def distances_loops(x, w):
    y = np.zeros((len(x), len(w)))
    for b, i in np.ndindex(y.shape):
        for j in range(w.shape[1]):
            y[b, i] += (x[b, j] - w[i, j]) ** 2
    return y

prototypes = ops.digit_prototypes()
f6 = np.random.default_rng(2).uniform(-1, 1, (3, 84))
checks.check_close(ops.rbf_forward(f6, prototypes)[0], distances_loops(f6, prototypes), rtol=1e-12)
checks.check_op_gradients(ops.rbf_forward, ops.rbf_backward, [f6, prototypes], rng=np.random.default_rng(3))
print(distances_loops(f6, prototypes).round(1)[0])

# %% [markdown]
# ## What each layer costs
#
# A mask has $K^2$ weights for each connected pair of maps and is used at every place of the output. So with $n$
# connections
#
# $$\text{parameters} = n K^2 + M, \qquad \text{multiply-adds} = n K^2 \, H_{out} W_{out}$$
#
# The second is the first, without the $M$ biases, times the number of places. In a dense layer there is one place, and
# both are nearly equal. **Look at your guess again** before you read the table of the classic network.

# %%
classic = nn.models.lenet5(rng=np.random.default_rng(0), classic=True)
print(classic.summary((1, 32, 32)))

# %% [markdown]
# Exactly 60,000 parameters. In the picture, every layer has two bars: its share of the parameters above, its share of
# the work below.

# %%
costs = figures.lenet.named_costs(classic)
figures.show(
    figures.lenet.cost_bars(costs, title="Classic LeNet-5: what holds the numbers, what does the work"),
    alt=f"C5 holds {costs['C5'].trainable / 60_000:.0%} of the parameters but does "
    f"{costs['C5'].multiply_adds / 328_096:.0%} of the multiply-adds; C1 and C3 are the other way round.",
    caption="Where the upper bar, striped, is long, the lower one, checked, is short.",
)

# %% [markdown]
# The answer is (d). And now the same count for **today's variant**: ReLU in place of tanh, max pooling in place of
# S2 and S4, all connections in C3, ten scores for softmax in place of the distances.

# %%
def share(costs, field, names):
    return sum(getattr(costs[n], field) for n in names) / sum(getattr(c, field) for c in costs.values())

today = nn.models.lenet5(rng=np.random.default_rng(0))
shares = {}
for variant, net in (("classic", classic), ("today", today)):
    costs = figures.lenet.named_costs(net)
    for names in (["C5"], ["C1", "C3"]):
        shares[variant, *names] = [share(costs, f, names) for f in ("trainable", "multiply_adds")]
        held, done = shares[variant, *names]
        print(f"{variant:8} {'+'.join(names):6} holds {held:5.1%} of the parameters,",
              f"does {done:5.1%} of the work")

# %% [markdown]
# C5 holds about 80 % of the parameters and does 15 % of the work or less. C1 and C3 hold 3 to 4 % and do more than
# 80 %. A shared mask is stored once and used 784 times in C1, 100 times in C3, once in C5. **Parameters say how much
# is stored; places say how often it is used.**

# %% [markdown]
# ### And the clock?
#
# Multiply-adds are a count, not a time. Measure today's variant forward, 64 digits at a time, and take the median of
# nine runs for each layer, with its activation. (A time belongs to this machine and this code; yours will differ.)

# %% tags=["nbval-ignore-output"]
times = np.zeros((9, len(today)))
for run in range(9):
    x = x_train[:64]
    for i, layer in enumerate(today):
        start = perf_counter()
        x = layer.forward(x)
        times[run, i] = perf_counter() - start
ms = 1000 * np.median(times, axis=0)
groups = {"C1": ms[:2], "S2": ms[2:3], "C3": ms[3:5], "S4": ms[5:6], "C5": ms[6:9], "F6": ms[9:11]}
for name, part in groups.items():
    print(f"{name}: {part.sum():6.3f} ms, {part.sum() / ms.sum():4.0%}")
assert ms[:2].sum() + ms[3:5].sum() > 2 * ms[6:9].sum()

# %% [markdown]
# The layer with most of the parameters takes a few percent of the time. And the clock knows two things that the count
# does not. S2 and S4 multiply nothing, and yet take a large part here: comparing and copying cost time too. And
# C1 takes about as long as C3 for half the multiply-adds: its image is copied 19 times for 6 uses per copy (lesson 08).
#
# ## Training today's variant
#
# Here is the whole network, as the library builds it:

# %%
source = inspect.getsource(nn.models.lenet5)
print(source[source.index("return Sequential("):source.index("net = Sequential(")])

# %% [markdown]
# Five epochs with a learning rate of 0.03, then two with a tenth of it: long steps first, then short ones, which end
# the jumping about. Lesson 06's MLP, with its own settings, trains beside it. **Predict**: the MLP makes about 50
# mistakes in 1,000 test digits. LeNet-5 has only 61 % of its parameters. How many mistakes: 90, 50 or 30?

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
mlp_loss = fit(mlp, digits.x_train, [(12, 0.1)], rng)

# %% [markdown]
# (`**options` takes any further named arguments and hands them on.) The training loss of both, then both networks on
# the test digits:

# %% tags=["nbval-ignore-output"]
rows = [("MLP", mlp, digits.x_test, (784,)), ("LeNet-5", net, x_test, (1, 32, 32))]
result = {}
for name, network, x, shape in rows:
    total = network.costs(shape)
    result[name] = nn.evaluate(network, x, digits.y_test)
    print(f"{name:8} {sum(c.trainable for c in total):7,} parameters,",
          f"{sum(c.multiply_adds for c in total):7,} multiply-adds: test loss {result[name].loss:.3f},",
          f"accuracy {result[name].accuracy:.1%}")
assert result["LeNet-5"].accuracy >= 0.965
assert result["MLP"].accuracy < result["LeNet-5"].accuracy
assert result["LeNet-5"].loss < result["MLP"].loss
figures.show(
    figures.plots.curves({"LeNet-5": (np.arange(1, 8), lenet_loss), "MLP": (np.arange(1, 13), mlp_loss)},
                         xlabel="epoch", ylabel="training loss", log=True, title="Two networks learn"),
    alt=f"Both training losses fall: the MLP's to {mlp_loss[-1]:.4f}, LeNet-5's to {lenet_loss[-1]:.4f}.",
    caption="The MLP's training loss is the lower one in the end, and its test loss is the higher one.",
)

# %% [markdown]
# About 30 mistakes in 1,000 instead of about 50, with 61 % of the parameters and four times the work. The MLP fits its
# examples even better. What it lacks is lesson 07's sharing: it must learn the same stroke anew at every place.
#
# Read the numbers with care: it is one run each, and these 1,000 test digits were looked at while this course chose
# its settings (lesson 06 says why that makes them a little too good).

# %% [markdown]
# ### One digit on its way
#
# Step through the layers with the trained network. Watch two things: the maps become smaller and more numerous, and
# from C3 on you can no longer see which digit it is, while the network can.

# %% tags=["nbval-ignore-output"]
figures.lenet.walk(net, x_test[0, 0], digits.y_test[0])

# %% [markdown]
# ### What it still gets wrong
#
# An accuracy says how many. The **confusion matrix** says which: row = label, column = answer. The diagonal holds the
# right answers. Before you look: which two digits do you expect to be mixed up most?

# %% tags=["nbval-ignore-output"]
answers = net.predict(x_test)
counts = nn.confusion_matrix(answers, digits.y_test, 10)
wrong = counts - np.diag(np.diag(counts))
print(f"{wrong.sum()} mistakes in {(wrong > 0).sum()} different cells, at most {wrong.max()} in one")
assert wrong.sum() == (answers != digits.y_test).sum() <= 35
figures.show(
    figures.training.confusion(counts),
    alt=f"{wrong.sum()} of 1,000 test digits are off the diagonal, spread over {(wrong > 0).sum()} cells "
    f"with at most {wrong.max()} each.",
    caption="Row = label, column = answer. The mistakes are few and scattered.",
)

# %% [markdown]
# Did your pair stand out? With two or three mistakes in the fullest cell, none does. The picture says "scattered", and
# no more.
#
# The ten of which the network was surest are the worst mistakes. For each one, decide: would you have read it as the
# label says?

# %% tags=["nbval-ignore-output"]
found = nn.worst_mistakes(net, x_test, digits.y_test, 10)
figures.show(
    figures.training.mistakes(digits.images("test"), found),
    alt=f"The ten surest mistakes; the surest is a {found.label[0]} read as {found.predicted[0]} with "
    f"{found.confidence[0]:.0%}.",
    caption="Sure and wrong. Some of them people would dispute; others are plain to you.",
)

# %% [markdown]
# ## Training the classic one
#
# It needs a loss for distances. The paper's, with $y$ the distances and $T$ the label, is
#
# $$E = y[T] + \ln\Big(e^{-j} + \sum_{i} e^{-y[i]}\Big)$$
#
# The first term pulls F6 towards the right drawing. The second pushes the others away while they are near. The
# constant $j$ (0.1 here) ends the pushing once all are far. Four epochs:

# %% tags=["nbval-ignore-output"]
rng = np.random.default_rng(0)
classic = nn.models.lenet5(rng=rng, classic=True)
fit(classic, x_train, [(4, 0.003)], rng, loss="rbf_loss")
right = nn.accuracy(classic.predict(x_test), digits.y_test)
print(f"classic variant after 4 epochs: {right:.1%}")
assert right > 0.9

# %% [markdown]
# And what does F6 hold now? Nobody drew the input for it on 12 × 7 pixels; the loss taught it to. (The loop runs all
# layers but the last.)

# %% tags=["nbval-ignore-output"]
features = x_test[:8]
for layer in list(classic)[:-1]:
    features = layer.forward(features)
near = ops.rbf_forward(features, prototypes.astype(np.float32))[0]
print(f"answers {near.argmin(axis=1)}, labels {digits.y_test[:8]}")
figures.show(
    figures.lenet.read_by_distance(x_test[:8, 0], features, prototypes),
    alt=f"F6 as pictures resembles the prototypes; the nearest ones are {near.argmin(axis=1)}, "
    f"the labels {digits.y_test[:8]}.",
    caption="Above the input, in the middle F6, below the nearest prototype with its digit and distance.",
)

# %% [markdown]
# Where the nearest distance is large, F6's picture is a blend of two drawings: the network hesitates, and you can see
# between which digits.
#
# ## What goes wrong: softmax's loss on distances
#
# The classic network also gives ten numbers, so softmax's loss from lesson 06 fits without any error. Train a fresh
# one with it on 1,000 digits for three epochs. **Predict** the test accuracy: (a) about 80 %, only less good,
# (b) about 10 %, guessing, (c) less than guessing.

# %% tags=["nbval-ignore-output"]
rng = np.random.default_rng(0)
misled = nn.models.lenet5(rng=rng, classic=True)
wrong_loss = fit(misled, x_train[:1000], [(3, 0.003)], rng, loss="softmax_cross_entropy")
y = misled.forward(x_test)
nearest = nn.accuracy(y.argmin(axis=1), digits.y_test)
farthest = nn.accuracy(y.argmax(axis=1), digits.y_test)
print("loss", np.round(wrong_loss, 2), f" right: nearest {nearest:.1%}, farthest {farthest:.1%}")
assert wrong_loss[-1] < wrong_loss[0] / 2
assert nearest < 0.05
assert farthest > 0.7

# %% [markdown]
# (c), and the loss fell all the way. Softmax takes a large number for a likely class. But here large means far. So
# the network learned with success to be as **far** as possible from the right drawing, and the answer, the nearest
# one, is nearly never right, while the *farthest* one mostly is. No shape is wrong, no error appears, the loss curve
# looks healthy. Only the accuracy shows it.
#
# The gradient says so at once. For the distances (9, 4) and the label 0, the step against the gradient should make the
# first smaller:

# %%
y, T = np.array([[9.0, 4.0]]), np.array([0])
for loss in ("softmax_cross_entropy", "rbf_loss"):
    _, cache = getattr(ops, f"{loss}_forward")(y, T)
    gradient = getattr(ops, f"{loss}_backward")(cache)[0]
    print(f"{loss:22} dE/dy[T] = {gradient[0]:+.3f}, so a step makes the right distance",
          "smaller" if gradient[0] > 0 else "larger")

# %% [markdown]
# The cure is a minus sign. Softmax of $-y$ gives the near classes the large probabilities, and its cross-entropy is
# $y[T] + \ln \sum_i e^{-y[i]}$: the paper's loss without $e^{-j}$. What is the rest? It is an eleventh class with the
# constant distance $j$, "none of these":

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
# ## Colour: K's network from end to end
#
# K's network takes images of 3 × 32 × 32 (K, "End to End CNN"). Nothing new is needed: the first masks have $C = 3$.
# The course makes its own pictures for it, ten shapes in random colours, so that no colour gives the answer away.

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
# Here one dense layer holds 96 % of the parameters and does 7.5 % of the work: the belief fails again.
#
# A short training, on 600 pictures for four epochs in batches of 16. (Minus 0.5 centres the pixels around 0, so that
# dark and bright shapes count alike.)

# %% tags=["nbval-ignore-output"]
nn.train(colour, (x_shapes[:600] - 0.5, y_shapes[:600]), epochs=4, batch_size=16, lr=0.02,
         momentum=0.9, rng=rng)
seen = colour.predict(x_shapes[600:] - 0.5)
accuracy = nn.accuracy(seen, y_shapes[600:])
print(f"300 new pictures: {accuracy:.0%} right; guessing: 10 %")
assert accuracy > 0.4
figures.show(
    figures.plots.image_grid(x_shapes[600:610], [data.SHAPE_NAMES[k] for k in seen[:10]],
                             wrong=seen[:10] != y_shapes[600:610], cols=5),
    alt="Ten coloured shapes with the network's answers, "
    f"{(seen[:10] == y_shapes[600:610]).sum()} of them right.",
    caption="Ten new pictures and the answers; a cross marks a wrong one.",
)

# %% [markdown]
# Four epochs are a beginning; the loss was still falling. You have now seen three networks, and in each the layer
# that holds the numbers is not the layer that does the work.

# %% [markdown]
# ## Try it
#
# - Move every training digit by up to two pixels at random: add `augment=nn.random_shifts(2)` to the call of `fit` for
#   LeNet-5. Seven epochs show no clear gain: with three seeds we measured 97.3 %, 96.5 % and 97.7 %, without it 97.1 %,
#   97.3 % and 97.2 %. Half a minute of `[(25, 0.03), (5, 0.003)]` shows it: 97.8 %, 98.0 % and 98.1 %.
# - Give the classic network 15 epochs. How many mistakes are left? Are they the same digits?
# - Double the maps of C1 with `nn.Conv2d(1, 12, 5, rng=rng)` and adapt C3. Predict parameters and work of both first.

# %% [markdown]
# ## Check yourself
#
# **1.** A colleague wants LeNet-5 twice as fast and proposes to halve C5 to 60 maps, "as it holds most of the
# network". What does it save of today's 416,520 multiply-adds, and which layer would you look at?
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
