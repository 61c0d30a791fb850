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
# # 10 · What convolutional networks learn: asking a trained network
#
# Of all the mistakes that LeNet-5 makes on 1,000 test digits, it is surest of this one. The network is nothing but its
# 61,706 parameters. What can they tell you? The squares below the digit are some of them: the 96 masks of its second
# convolution.

# %% tags=["hide-input", "nbval-ignore-output"]
# Lesson 09's network, trained, its two sisters, and its surest mistake.
import copy

import numpy as np

from course_lib import checks, data, figures, nn
from course_lib import reference as ops
from course_lib.lesson import climb_each, predict, random_changes, table

digits, labels = data.load_digits(seed=0), data.load_digits(seed=0).y_test
x_train, x_test = (np.pad(part.reshape(-1, 1, 28, 28), ((0, 0), (0, 0), (2, 2), (2, 2)))
                   for part in (digits.x_train, digits.x_test))

def trained(seed):
    rng = np.random.default_rng(seed)
    net = nn.models.lenet5(rng=rng)
    start = copy.deepcopy(net)
    for epochs, lr in ((5, 0.03), (2, 0.003)):
        nn.train(net, (x_train, digits.y_train), epochs=epochs, batch_size=64, lr=lr, momentum=0.9, rng=rng)
    return start, net

before, net = trained(0)
sisters = [trained(seed)[1] for seed in (1, 2)]
worst = nn.worst_mistakes(net, x_test, labels, 1)
wrong = int(worst.index[0])
figures.show(
    figures.convnets.digit_and_masks(x_test[wrong, 0], net[3].params["w"], worst.predicted[0], worst.confidence[0]),
    alt=f"A handwritten {labels[wrong]} that the network reads as {worst.predicted[0]} with "
    f"{figures.convnets.percent(worst.confidence[0])}; below it 96 small squares that look like noise.",
    caption=f"A {labels[wrong]}, and what the network says about it. One column of squares for each of 16 output maps: "
    "orange asks for a large input, purple for a small one.")

# %% [markdown]
# It is natural to hope that such squares can be read, and many people believe it: *the weights of a neuron show what it
# is looking for.* On this page you try. It works in the first layer, up to a point, and fails in the second. So you
# learn other ways of asking: what excites a neuron, which pixels an answer rests on, what a layer takes for alike, and
# which image a neuron would like best. Every one of them tells something true, and every one can mislead you. Halfway
# down you come back to the digit above.
#
# Why ask at all? Because a network that works may work for reasons that you would not accept. In a well-known
# experiment, a classifier was trained badly on purpose: every wolf that it was shown stood in snow, and no husky did.
# It told the two apart by the snow.[^Ribeiro, Singh and Guestrin 2016 "Why Should I Trust You?"]

# %% [markdown]
# ## You will be able to
#
# - look at masks and feature maps, and say what they do and do not tell;
# - ask a single answer what it rests on, by its gradient and by covering parts of the image;
# - draw a map of what a layer takes for alike;
# - build an image that maximises a neuron, and say what a prior, a clip and a second network add to it.

# %% [markdown]
# <details><summary>About this page</summary>
#
# It follows Prof. Owens' EEC 289Q lecture 11 at UC Davis, and ECE 508 lecture 10 by Prof. Hwu and colleagues at
# Illinois. The lectures do not treat saliency, covering and the map; their inventors are named where you meet them. You
# need lessons 03, 06 and 09. Reading and trying takes about 60 minutes, the two optional parts 6 more.
#
# </details>

# %% [markdown]
# ## One neuron that looks at pixels
#
# First a case in which the belief is true. A neuron looks at four pixels, $z = w \cdot x$ with $w = (2, -1, 0, 3)$.
# Which pixels in [0, 1] make $z$ largest? Ink where $w > 0$, none where $w < 0$: (1, 0, any, 1), and $z = 5$. The
# gradient of $z$ with respect to the input says the same, $\partial z / \partial x = w$, and it says so at every image:

# %%
neuron = nn.Sequential(nn.Dense(4, 1, bias=False, rng=np.random.default_rng(0), dtype=np.float64))
neuron[0].params["w"][:, 0] = 2, -1, 0, 3
for pixels in ([0, 0, 0, 0], [0.2, 0.9, 0.5, 0.1]):
    neuron.forward(np.array([pixels]))
    print("at", pixels, "the gradient is", neuron.backward(np.ones((1, 1)))[0])

# %% [markdown]
# For a neuron that looks at pixels, the weights *are* the picture of what it wants. The first layer of LeNet-5, C1,
# consists of such neurons: six masks of 5 × 5. Here they are, before and after training. The network, `net`, has lesson
# 09's layers, digits and recipe. Later you will ask its two **sisters** for a second opinion: networks that differ from
# it only in their random numbers, that is, the start and the order of the samples.

# %% tags=["hide-input", "nbval-ignore-output"]
# C1's masks.
accuracies = [nn.accuracy(network.predict(x_test), labels) for network in (net, *sisters)]
masks_before, masks = before[0].params["w"][:, 0], net[0].params["w"][:, 0]
correlation = np.corrcoef(masks_before.ravel(), masks.ravel())[0, 1]
figures.show(
    figures.convnets.mask_rows({"random start": masks_before, "after training": masks}),
    alt="Each trained mask of C1 still looks like its random start: most squares keep their sign.",
    caption="Orange squares ask for ink, purple ones for paper. Compare the two rows.",
)

# %% [markdown]
# It is tempting to see a stroke or an edge in the lower row, until you look at the upper one. The pattern is still
# mostly that of the start. Does it matter, then, what training has changed? Take the trained network and put its
# *untrained* masks back, in C1 alone.

# %% tags=["hide-input"]
# A prediction.
put_back = predict(
    "The other layers stay as they are. The network used to misread about 3 of 100 test digits. How many does it "
    "misread now?",
    ["about 3, as before", "6 to 15", "about 50", "about 90, as by chance"],
    answer="6 to 15",
    reveals=2,
)
put_back

# %% tags=["hide-output", "nbval-ignore-output"]
patched = copy.deepcopy(net)
patched[0].params["w"][...] = before[0].params["w"]
without = nn.accuracy(patched.predict(x_test), labels)
patched[0].params["w"][...] = nn.models.lenet5(rng=np.random.default_rng(77))[0].params["w"]
foreign = nn.accuracy(patched.predict(x_test), labels)
print(f"correlation of start and end {correlation:.2f}")
table([("trained", accuracies[0]), ("the random ones of its start", without), ("six other random ones", foreign)],
      ["masks in C1", "read correctly"], formats={"read correctly": ".1%"})

# %% [markdown]
# <details class="reveal"><summary>What the layers behind have learned</summary>
#
# A correlation of 0.9 between start and end: the pattern is still mostly that of the start. Yet it is not *all* of
# it, and the rest matters, since without it the network makes about twice as many mistakes, or more. Most digits
# are still read. Is that because any masks will do? The last line says no: with six *other* random masks the network
# is lost. The layers behind have learned to work with these six, random as they look. Masks that look meaningless are
# no sign of a bad network.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
put_back.confirm("6 to 15" if 0.85 < without < 0.945 else f"{100 - 100 * without:.0f}")

# %% [markdown]
# ## The second layer
#
# A weight of C3 does not speak of ink any more. It says "it helps if mask 4 fits two places to the left", and mask 4 is
# hardly readable itself.[^Owens "Visualizing what ConvNets learn"] Look at the 96 squares above once more: can you
# say which stroke one column is looking for? So stop reading weights, and watch what they do. The outputs of a
# convolution are its **feature maps**. Here are those of a 3 and a 5, first behind C1, then the largest six behind C3.

# %%
found = nn.feature_maps(net, x_test)  # of every layer: a name, and the outputs for all 1,000 digits
print("later on this page: layer 10,", found[10][0], found[10][1].shape, "behind F6, and layer 11, the ten scores")
table([(number, name, str(values.shape)) for number, (name, values) in enumerate(found) if number < 6],
      ["layer", "what it is", "shape of its output"])

# %% tags=["hide-input", "nbval-ignore-output", "continued"]
# Feature maps of a 3 and a 5, behind the ReLU of C1 and of C3.
pair = [int(np.flatnonzero(labels == digit)[0]) for digit in (3, 5)]
strong = sorted(np.argsort(-found[4][1].max(axis=(0, 2, 3)))[:6].tolist())
for layer, maps in ((1, None), (4, strong)):
    figures.show(
        figures.convnets.maps_of(x_test[pair, 0], found[layer][1][pair], maps=maps),
        alt=f"Maps of a 3 and a 5 behind layer {layer}: "
        + ("the digits can be recognised in all of them." if layer == 1 else "a few dark spots, no digits."),
        caption="C1: each map is a version of the digit." if layer == 1 else "C3: marks at some places, no digit.",
    )

# %% [markdown]
# C1's maps are versions of the digit. C3's show *where* something was found, and not *what*.
#
# ## What excites a map most?
#
# There is an honest way to find the "what". Take all test digits, look where a map is largest, and cut out the pixels
# that it saw there. How many are these? C1 sees 5 pixels in a row. S2 adds a neighbour: 6. C3's mask spans five values
# of S2, which are two pixels apart: $6 + 4 \cdot 2 = 14$. So place $(h, v)$ sees rows $2h$ to $2h + 13$ and columns
# $2v$ to $2v + 13$. That window is its **receptive field**.
#
# (`argsort` of the negative sorts downwards; `divmod` turns a position from 0 to 99 into row and column.)

# %%
c3 = found[3][1]

def strongest(m, count=8):
    best = c3[:, m].max(axis=(1, 2))
    images = np.argsort(-best)[:count]
    places = [divmod(int(c3[i, m].argmax()), 10) for i in images]
    patches = [x_test[i, 0, 2 * h : 2 * h + 14, 2 * v : 2 * v + 14] for i, (h, v) in zip(images, places)]
    return np.array(patches), best[images], labels[images]

# %% [markdown]
# The six maps with the largest values, two at a time. Look at their masks first, then at their patches.

# %% tags=["nbval-ignore-output"]
loud = np.argsort(-c3.max(axis=(0, 2, 3)))[:6].tolist()
frames = []
for two in (loud[:2], loud[2:4], loud[4:]):
    patches, values, cut_from = zip(*(strongest(m) for m in two))
    frames.append(figures.convnets.excited(net[3].params["w"][two], patches, values, cut_from, two))
figures.stepper(frames, title="Masks that nobody can read, patches that everybody can", static=0)

# %% [markdown]
# From one map to the next the masks look alike, and the patches do not. Within a map the eight patches share a stroke.
# They do not share a digit: below each patch stands the digit that it was cut from.

# %% tags=["hide-input"]
# A prediction.
driven = predict(
    "Call a map driven by a digit if that digit excites it, on average, at least half as much as the map's favourite "
    "digit does. By how many of the ten digits is a typical map of C3 driven?",
    ["one", "two or three", "four to seven", "eight or more"],
    answer="eight or more",
    reveals=2,
)
driven

# %% tags=["hide-output", "nbval-ignore-output"]
def driven_by(network):  # by how many of the ten digits each map of C3 is driven, behind the ReLU
    peak = nn.feature_maps(network, x_test)[4][1].max(axis=(2, 3))  # (1000, 16)
    by_digit = np.array([peak[labels == digit].mean(axis=0) for digit in range(10)])
    return (by_digit > by_digit.max(axis=0) / 2).sum(axis=0)

shared, at_start = driven_by(net), driven_by(before)
table([(name, *(int(((counts >= low) & (counts <= high)).sum()) for counts in (at_start, shared)))
       for name, low, high in (("at most three", 0, 3), ("four to seven", 4, 7), ("eight to ten", 8, 10))],
      ["driven by so many digits", "maps before training", "after training"])

# %% [markdown]
# <details class="reveal"><summary>Shared, before training and after</summary>
#
# Most maps answer to nearly all digits. Is that something the network has learned? The column "before training" is
# the control, and it says no: random masks are shared even more. Among a map's 100 places there is one that fits a
# little in nearly every digit. Training has made a few maps choosier, but none of them is "the 3": which digit it is
# shows only in the mixture of the sixteen. And mind the limit of the method: the patches show what a map likes most
# *out of what the data happen to contain*.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
typical = float(np.median(shared))
driven.confirm("eight or more" if typical >= 8 else "four to seven" if typical >= 4 else "two or three")

# %% [markdown]
# ## Question one answer: the slope at every pixel
#
# So far you asked what a neuron likes in general. Now ask about one digit and one answer: which pixels does the score
# of that answer depend on? Lesson 04's backward pass knows. Give it a 1 at the score and 0 at the nine others, and what
# arrives at the image is $\partial\, \text{score} / \partial x$, a number for each pixel: how fast the score would rise
# if a little ink were added there. This picture is called the **saliency** of the answer.[^Simonyan, Vedaldi and
# Zisserman 2013 "Deep Inside Convolutional Networks"]

# %%
three = x_test[labels == 3][:1]
net.forward(three)
slopes = net.backward(np.eye(10, dtype=np.float32)[[3]])  # a 1 at the score of "3"
checks.check_close(nn.saliency(net, three, 3), slopes, rtol=1e-5, atol=1e-6)
print("saliency", slopes.shape)

# %% [markdown]
# A digit is a few strokes on much paper: about 13 of 100 pixels hold ink.

# %% tags=["hide-input"]
# A prediction.
on_ink = predict(
    "Add up the sizes of the slopes at all pixels, and then only at those that hold ink. Which share of the total lies "
    "on ink, on average over the test digits?",
    ["less than half", "about two thirds", "nearly all"],
    answer="less than half",
    reveals=3,
)
on_ink

# %% tags=["hide-output", "nbval-ignore-output"]
answers = net.predict(x_test)
size = np.abs(nn.saliency(net, x_test, answers))
ink = x_test > 0.1
rim = sum(np.roll(ink, (h, v), axis=(2, 3)) for h in range(-2, 3) for v in range(-2, 3)) * ~ink > 0  # 2 pixels wide
parts = {"ink": ink, "paper at most 2 pixels from ink": rim, "other paper": ~ink & ~rim}
shares = {name: (size * part).sum(axis=(1, 2, 3)) / size.sum(axis=(1, 2, 3)) for name, part in parts.items()}
share = shares["ink"]
table([(name, part.mean(), shares[name].mean(), shares[name].mean() / part.mean()) for name, part in parts.items()],
      ["pixels", "how many", "their share of the slopes", "share for one pixel in 100"],
      formats={"how many": ".0%", "their share of the slopes": ".0%", "share for one pixel in 100": ".1f"})

# %% tags=["hide-input", "hide-output", "nbval-ignore-output"]
# Three digits and their saliency.
some = [int(np.flatnonzero((labels == digit) & (answers == digit))[0]) for digit in (3, 4, 7)]
asked = {"digit": x_test[some, 0], "saliency": nn.saliency(net, x_test[some], answers[some])[:, 0]}
figures.show(
    figures.convnets.answers_of(asked, [f"read as {answers[i]}" for i in some]),
    alt="Three digits and the slopes of their scores: specks of both signs on and around the strokes, no clear shape.",
    caption="Orange: ink here would raise the score. Purple with a dash: it would lower it.",
)

# %% [markdown]
# <details class="reveal"><summary>Paper counts too</summary>
#
# The slope does not ask what the network *used*. It asks what a small change would do, and a little ink on empty
# paper can do a lot: close the gap of a 3, and it is on its way to an 8. More than half of the slopes lie on paper,
# most of them in a rim of two pixels around the strokes. A single pixel of ink still has the largest slope, but not
# by much: one beside the ink has more than half as much, and one far away very little. And do not read too much into
# the single specks. At another 3 they are others, since the image decides which ReLUs are open and which pixel wins a
# pooling window.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
on_ink.confirm("less than half" if share.mean() < 0.5 else "about two thirds" if share.mean() < 0.8 else "nearly all")

# %% [markdown]
# How different? Take ten 3s and compare their gradients, two at a time. The **cosine** of two gradients is 1 if they
# point in the same direction, and 0 if they stand at a right angle.

# %% tags=["nbval-ignore-output"]
gradients = nn.saliency(net, x_test[labels == 3][:10], 3).reshape(10, -1)
gradients = gradients / np.linalg.norm(gradients, axis=1, keepdims=True)
cosines = (gradients @ gradients.T)[np.triu_indices(10, 1)]  # each pair once
print(f"45 pairs of 3s: mean cosine {cosines.mean():.2f}, from {cosines.min():.2f} to {cosines.max():.2f}")

# %% [markdown]
# Random directions in 1,024 dimensions would give 0, give or take 0.03. So the ten share something, but most of each
# gradient belongs to its own image. For the single neuron at the top, all ten would have been equal.
#
# ## Question one answer: cover it and see
#
# Here is a way that needs no gradient, and no knowledge of the network at all. Cover a square of the image with grey,
# and see how far the score falls. Then move the square on. The map of these falls is called an **occlusion
# map**:[^Zeiler and Fergus 2013 "Visualizing and Understanding Convolutional Networks"]

# %%
i = some[0]
covered = x_test[i].copy()
covered[:, 10:15, 12:17] = 0.5
whole, less = nn.class_scores(net, np.stack([x_test[i], covered]), answers[i])
falls = nn.occlusion(net, x_test[some], answers[some], size=5, fill=0.5, stride=2)
checks.check_close(falls[0, 5, 6], whole - less, rtol=1e-3, atol=1e-3)
print("a number for each place of the square:", falls.shape)

# %% tags=["hide-input", "nbval-ignore-output", "continued"]
# Both answers side by side.
figures.show(
    figures.convnets.answers_of({**asked, "occlusion": falls}, [f"read as {answers[i]}" for i in some]),
    alt="Three digits with their saliency, scattered specks, and their occlusion maps, a few soft spots: most of them "
    "on the stroke, some on the paper beside it.",
    caption="Occlusion, orange: the score falls if this is covered. Purple with a dash: it rises.",
)

# %% [markdown]
# Two answers to one question, and they do not look alike. Do they contradict each other? The slopes make a promise,
# lesson 03's linear estimate: if each pixel $x$ of a square becomes 0.5, the score falls by about
#
# $$\sum_{\text{square}} \frac{\partial\, \text{score}}{\partial x}\, (x - 0.5)$$
#
# Occlusion measures what happens. Take 20 digits, and compare promise and measurement at each of the 196 places.

# %% tags=["hide-input"]
# A prediction.
promise = predict(
    "A correlation of 1 would mean that covering does what the slopes say, up to a factor, and 0 that they have "
    "nothing to do with each other. How large is it, on average?",
    ["1, since a gradient is exact", "about 0.7", "about 0"],
    answer="about 0.7",
    reveals=2,
)
promise

# %% tags=["hide-output", "nbval-ignore-output"]
twenty = x_test[:20]
promised = nn.promised_fall(twenty, nn.saliency(net, twenty, answers[:20]), size=5, stride=2)
agreement = {}
for opacity in (0.01, 0.1, 1):  # 0.01: the square hides 1 % of what is below it
    measured = nn.occlusion(net, twenty, answers[:20], size=5, stride=2, opacity=opacity)
    agreement[opacity] = np.mean([np.corrcoef(m.ravel(), p.ravel())[0, 1] for m, p in zip(measured, promised)])
table([(f"{opacity:.0%}", r) for opacity, r in agreement.items()], ["the square hides", "correlation"],
      formats={"correlation": ".2f"})

# %% [markdown]
# <details class="reveal"><summary>Exact, but only for small changes</summary>
#
# About 0.7 for the square that hides everything: roughly alike, and far from equal. A square that hides hardly anything
# keeps the promise almost exactly. A gradient *is* exact, for changes so small that no ReLU opens or closes and no
# pooling window gets another winner. Covering a whole square is no small change. So saliency tells how the score would
# react to a touch, occlusion what it would lose without a part, and neither is "the" explanation. Grey, by the way, is
# an assumption too: on paper a grey square is ink.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
promise.confirm("about 0.7" if 0.5 < agreement[1] < 0.9 else f"{agreement[1]:.2f}")

# %% [markdown]
# ## What a layer takes for alike: a map
#
# F6, the last layer before the scores, turns every digit into 84 numbers. Two digits are alike to the network if
# these numbers are near each other. Nobody can draw 84 dimensions, but one can look for the two directions in which
# the digits differ most, and draw only these. That is a **principal component analysis**.[^Pearson 1901 "On Lines and
# Planes of Closest Fit to Systems of Points in Space"] Subtract the mean, and let the singular value decomposition $F
# = U S V^\top$ do the rest: the columns of $V$ are the directions, sorted, and $U S$ holds the digits' coordinates
# along them. A direction's spread (its variance) is the square of its entry in $S$, up to a factor, so that two
# directions keep the share $(S_1^2 + S_2^2) / \sum_i S_i^2$.

# %%
f6 = found[10][1]  # (1000, 84), behind F6's ReLU

def flat_map(features):
    centred = features - features.mean(axis=0)
    U, S, _ = np.linalg.svd(centred, full_matrices=False)
    return U[:, :2] * S[:2], (S[:2] ** 2).sum() / (S**2).sum()

points, kept = flat_map(f6)
print("points", points.shape)

# %% [markdown]
# Each numeral below is a test digit, and the grey dots are the others of the 1,000. Click on one, or walk with the
# arrow keys. You see the digit, the saliency and the occlusion map of the answer, and what the network read. A frame
# marks a misread digit. Three things to find out:
#
# - Which kinds of digits lie next to each other, and would you have said so?
# - Find a digit for which grey on *empty paper* costs most. Remember that grey is ink there: what would it draw?
# - Go through the misread ones. Where on the map do they lie?

# %% tags=["nbval-ignore-output"]
figures.digit_map(net, x_test, labels, points, first=some[1])

# %% [markdown]
# On the map some kinds overlap. Is the network unable to tell them apart? Take, for each digit, its nearest neighbour.

# %% tags=["hide-input"]
# A prediction.
shadow = predict(
    "On the map, about two thirds of the nearest neighbours have the same label. Now take the nearest neighbour by all "
    "84 numbers. Which share has the same label?",
    ["about two thirds as well", "about 80 %", "more than 95 %"],
    answer="more than 95 %",
    reveals=2,
)
shadow

# %% tags=["hide-output", "nbval-ignore-output"]
pixel_points, pixel_kept = flat_map(x_test.reshape(1000, -1))
near = [(name, count, share_kept, nn.neighbour_accuracy(flat, labels), nn.neighbour_accuracy(whole, labels))
        for name, count, share_kept, flat, whole in (("pixels", 1024, pixel_kept, pixel_points, x_test),
                                                     ("F6", 84, kept, points, f6))]
table(near, ["digits as", "numbers", "spread kept by two", "same label on the map", "same label in all"],
      formats=dict.fromkeys(["spread kept by two", "same label on the map", "same label in all"], ".0%"))

# %% [markdown]
# <details class="reveal"><summary>A map is a shadow</summary>
#
# In 84 dimensions like digits do lie together. Two directions keep less than half of the spread, and groups that are
# far apart fall onto each other like shadows on a wall. What lies *apart* on the map is apart; what lies together may
# not be. The other row shows what the network has achieved: as pixels, the same digits are more mixed up.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
shadow.confirm("more than 95 %" if near[1][4] > 0.95 else f"{near[1][4]:.0%}")

# %% [markdown]
# And the misread digits? Measure the distance from each to the centres of the ten groups, in all 84 dimensions, and
# divide the nearest by the second nearest. The ratio is small deep in a group, and 1 where the two are equally far:
# midway between two groups, or far out from all.

# %% tags=["nbval-ignore-output"]
def length(x):  # of each image: the root of its summed squares
    return np.linalg.norm(x.reshape(len(x), -1), axis=1)

centres = np.array([f6[labels == digit].mean(axis=0) for digit in range(10)])
apart = np.sort(np.linalg.norm(f6[:, None] - centres, axis=2), axis=1)
between = apart[:, 0] / apart[:, 1]
missed = answers != labels
table([("read correctly", int((~missed).sum()), np.median(between[~missed])), ("misread", int(missed.sum()),
       np.median(between[missed]))], ["digits", "how many", "median ratio"], formats={"median ratio": ".2f"})

# %% [markdown]
# A typical misread digit is almost as near to one group as to another. But the surest mistakes can be exceptions.
# What can you say now about the one at the top of this page? Ask four things: in which group does it lie, and how
# deep? Can a grey square anywhere let another digit overtake? A square may lower the score of the answer *and raise
# that of a rival*, so follow the lead, the difference of the two. What do the sisters say? And what does somebody say
# who has never heard of convolutions: the ten training digits whose *pixels* are nearest?

# %% tags=["nbval-ignore-output"]
case, said = x_test[wrong : wrong + 1], answers[wrong]
order = np.linalg.norm(f6[wrong] - centres, axis=1).argsort()
scores = net.forward(case)[0]
rivals = np.arange(10) != said
falls_of = np.array([nn.occlusion(net, case, digit, size=5)[0] for digit in range(10)])  # of all ten scores
covered_scores = scores[:, None, None] - falls_of
leads = covered_scores[said] - covered_scores[rivals].max(axis=0)  # what is left of the lead under each square
lead = scores[said] - scores[rivals].max()
by_pixels = digits.y_train[length(x_train - case).argsort()[:10]]
print(f"a {labels[wrong]}, read as {said}; nearest group {order[0]}, then {order[1]}; ratio {between[wrong]:.2f}")
print(f"it leads by {lead:.1f}, under the worst of {leads.size} squares by {leads.min():.1f}")
print("the sisters read it as", *(int(sister.predict(case)[0]) for sister in sisters))
print("the ten nearest training digits, by their pixels:", *by_pixels)

# %% [markdown]
# Line by line. The digit lies in the group of the wrong answer, as deep as a typical digit that is read correctly.
# The answer does not hang on one spot: no grey square lets another digit overtake. Both sisters make the same
# mistake, so the random start is not to blame. And even the pixels agree: this 6, with its round belly and short
# neck, lies among the training 0s before any network has touched it. You
# have found out what *kind* of mistake it is: not a whim of this network, but a digit for which these 4,000 examples
# point the wrong way. So look at the examples next, and not at the weights.

# %% [markdown]
# ## An image that maximises a neuron
#
# The last way of asking needs no data. An image is made by computer so that one neuron becomes as active as
# possible,[^Erhan, Bengio, Courville and Vincent 2009 "Visualizing Higher-Layer Features of a Deep Network"] and the
# image is read as what the neuron "wants to see". Published ones show flamingos and school buses, painted by a
# network that was only asked for its neuron "flamingo" or "school bus".[^Owens "Understanding Neural Networks Through
# Deep Visualization"] It is lesson 03 with the roles exchanged: the weights stay, and **the image moves**.
#
# A network has no single picture of what it wants. As you saw with the ten 3s, it has a *direction* at every image. So
# go in small steps, and ask for the direction again at each. The start is random grey:

# %%
noise = np.random.default_rng(0).uniform(0, 1, (1, 1, 32, 32)).astype(np.float32)

# %% [markdown]
# Training steps the *weights* against the gradient of the loss $E = -\ln k_c$, where $k_c$ is the probability of the
# right class $c$ (lesson 06). Take $c = 3$ and step the *image* instead: down in $E$ is up in $k_3$. (The probability
# $k_3$ rises when the score of "3" rises, and also when the nine other scores sink. At the end of the page you climb
# the score alone.) Every step has the length $\eta$, before the clip that keeps each pixel between paper (0) and ink
# (1):
#
# $$x \leftarrow \mathrm{clip}\Big(x - \eta\, \frac{dx}{\Vert dx \Vert},\ 0,\ 1\Big), \qquad
# dx = \frac{\partial E}{\partial x}, \quad x: (1, 1, 32, 32)$$

# %%
def climb(x, digit, steps, lr=0.25):
    for _ in range(steps):
        _, cache = ops.softmax_cross_entropy_forward(net.forward(x), np.array([digit]))
        dx = net.backward(ops.softmax_cross_entropy_backward(cache))
        x = np.clip(x - lr * dx / np.linalg.norm(dx), 0, 1)
    return x

by_library = nn.maximise(net, 3, noise, steps=5, lr=0.25)
checks.check_close(by_library.image, climb(noise, 3, 5), rtol=1e-3, atol=1e-3)
print("the loop and nn.maximise agree after", by_library.steps, "steps")

# %% [markdown]
# Climb until the network calls the image a 3 with 99.9 %.

# %% tags=["hide-input"]
# A prediction.
surprise = predict(
    "What does the image look like then?",
    ["like a handwritten 3", "like random grey pixels", "like a blurred 3"],
    answer="like random grey pixels",
    reveals=4,
)
surprise

# %% tags=["hide-output", "nbval-ignore-output"]
def sure(images, log_k):
    return log_k > np.log(0.999)

painted_three, taken = climb_each(net, 3, noise, sure, lr=0.25)
k_start, k_end = (float(ops.softmax(net.forward(x))[0, 3]) for x in (noise, painted_three))
print(f"probability of '3': {k_start:.1%} at the start, {k_end:.1%} after {taken[0]} steps")

# %% tags=["hide-input", "hide-output", "nbval-ignore-output"]
# The start, the end and the change.
figures.show(
    figures.convnets.before_after(net, noise[0, 0], painted_three[0, 0], 3, steps=taken[0]),
    alt=f"Noise that the network calls a 3 with {figures.convnets.percent(k_start)}, and after {taken[0]} steps noise "
    f"that it calls a 3 with {figures.convnets.percent(k_end)}; the change is blots without the form of a 3.",
    caption="The start, the end, and the end minus the start: orange is more ink, purple less.",
)

# %% tags=["hide-output", "nbval-ignore-output", "continued"]
def roughness(x):  # mean difference between neighbours in a row, plus that in a column
    return np.abs(np.diff(x, axis=-1)).mean() + np.abs(np.diff(x, axis=-2)).mean()

real = ops.softmax(net.forward(x_test)).max(axis=1)
second = [float(ops.softmax(sister.forward(painted_three))[0, 3]) for sister in sisters]
print(f"roughness: noise {roughness(noise):.2f}, this '3' {roughness(painted_three):.2f}, real {roughness(x_test):.2f}")
print(f"real digits of which the network is less sure: {(real < 0.999).mean():.0%}")
print("the sisters give this '3'", *(f"{k:.0%}" for k in second))

# %% [markdown]
# <details class="reveal"><summary>A 3, and nothing to see</summary>
#
# Noise before and noise after: you may find a dark stroke, but no 3. It is as rough as the start, and yet the network
# is surer of it than of about a quarter of the real digits.[^Nguyen, Yosinski and Clune 2014 "Deep Neural Networks
# are Easily Fooled"] No sister comes near 99.9 %. But that is no wonder: the climb asked `net` only, and stopped as
# soon as `net` was sure. A sister has noise of her own (try it, at the end of the page).
#
# Why is that possible? Training asked to tell 3s from other *digits*; no loss ever punished an answer about noise. And
# softmax must share out 100 % among ten digits, whatever it is shown: there is no answer "none of these". In a space of
# 1,024 pixels nearly every point is not a digit, and there nothing has ever trained the answers.
# **99.9 % means "rather a 3 than another digit", and not "this is a 3".**
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
surprise.confirm("like random grey pixels" if roughness(painted_three) > 4 * roughness(x_test) else "like a blurred 3")

# %% [markdown]
# ## A prior
#
# How did the flamingos come about, then? Their authors say that the key is a good **prior** for natural images,[^Owens
# "Understanding Neural Networks Through Deep Visualization"] that is, an assumption about images, made before the
# network is asked. Here are two for digits, applied after every step:
#
# - **decay**, $x \leftarrow (1 - r)\,x$: most of the paper is white;
# - **blur**, $x \leftarrow (1 - s)\,x + s \cdot$ (mean of the four neighbours): neighbours are alike.
#
# Six digits, from the same noise, 80 steps of length 0.5, with four assumptions.

# %% tags=["nbval-ignore-output"]
priors = {"no prior": None, "decay": nn.decay(0.02), "blur": nn.blur(0.1),
          "both": lambda x: nn.decay(0.02)(nn.blur(0.1)(x))}
six, starts = np.arange(2, 8), np.repeat(noise, 6, axis=0)  # one start for each digit
painted = {name: nn.maximise(net, six, starts, steps=80, lr=0.5, prior=prior) for name, prior in priors.items()}
lowest = min(np.exp(a.history[-1].min()) for a in painted.values())
figures.show(
    figures.convnets.image_rows({name: a.image[:, 0] for name, a in painted.items()}, [f"'{d}'" for d in six]),
    alt="24 images that the network reads as wanted: strokes in noise without a prior, thin strokes with decay, soft "
    "strokes on grey with blur, strokes on paper with both.",
    caption="Each column is one digit. The network gives each of the 24 images at least "
    f"{np.floor(1000 * lowest) / 1000:.1%}.",
)

# %% [markdown]
# 80 steps go far beyond 99.9 %, and now even the first row shows some strokes. The prior clears away the rest. Which
# row is "what the network wants"? All of them satisfy it; only our assumption differs. So ask the sisters again. Make
# forty images of each kind, four for each of the ten digits, and among them forty noises that stop at 99.9 %.

# %% tags=["hide-input"]
# A prediction.
convinced = predict(
    "How many of the forty noises that stop at 99.9 % does a sister read as `net` does?",
    ["about 4, as by chance", "8 to 24", "28 or more"],
    answer="8 to 24",
    reveals=2,
)
convinced

# %% tags=["hide-output", "nbval-ignore-output"]
forty = np.random.default_rng(1).uniform(0, 1, (40, 1, 32, 32)).astype(np.float32)
wanted = np.tile(np.arange(10), 4)
images = {"the start": forty, "until 99.9 %": climb_each(net, wanted, forty, sure)[0]}
for name, prior in priors.items():
    images[name] = nn.maximise(net, wanted, forty, steps=80, lr=0.5, prior=prior).image
read = {name: np.array([sister.predict(x) == wanted for sister in sisters]) for name, x in images.items()}
agree = {name: right.mean(axis=1) for name, right in read.items()}
table([(name, *right.sum(axis=1).tolist(), int(right.all(axis=0).sum()), roughness(images[name]))
       for name, right in read.items()],
      ["of 40 images", "as wanted by one sister", "by the other", "by both", "roughness"], formats={"roughness": ".2f"})

# %% [markdown]
# <details class="reveal"><summary>What two networks share</summary>
#
# By chance, 4 of 40 would be read as wanted. Of the noises that stop at 99.9 % the sisters believe some, more than by
# chance. Part of what `net` likes about them the sisters like as well, since all three learned from the same digits;
# the rest is `net`'s own. More steps convince them more often, and a prior more often still: it keeps the climb near
# digits, and there the networks agree. (The two columns can show the same count without meaning the same images: see
# "by both".) Which of the three priors is best, forty images cannot say.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
believed = np.mean(read["until 99.9 %"].sum(axis=1))
convinced.confirm("8 to 24" if 8 <= believed <= 24 else f"{believed:.0f}")

# %% [markdown]
# ### Whose picture is it?
#
# A prior is *our* knowledge, put in by us. To see how much of it comes out again, put in something false: every image
# is symmetric, left and right alike. A 0 or an 8 may be so, but not the digits 2 to 7.

# %% tags=["hide-input"]
# A prediction.
false_prior = predict(
    "The climb is made for 2 to 7 with the false prior. What happens?",
    ["it becomes sure of all six", "it becomes sure of one or two", "it stays unsure of all six"],
    answer="it becomes sure of all six",
    reveals=3,
)
false_prior

# %% tags=["hide-output", "nbval-ignore-output"]
def symmetric(x):
    return nn.decay(0.02)((x + x[..., ::-1]) / 2)  # ::-1 reverses the columns

false = nn.maximise(net, six, starts, steps=80, lr=0.5, prior=symmetric)
certain = np.exp(false.history[-1])
print("probability of the digit that was wanted, at least", f"{np.floor(1000 * certain.min()) / 1000:.1%}")

# %% tags=["hide-input", "hide-output", "nbval-ignore-output"]
# What came out.
figures.show(
    figures.convnets.image_rows({"symmetric": false.image[:, 0]}, [f"'{d}'" for d in six]),
    alt="Six symmetric figures like masks and insects, each read as wanted.",
    caption="Each is read as the digit that stands below it.",
)

# %% [markdown]
# <details class="reveal"><summary>It does not refuse</summary>
#
# Had you seen only this row, you might have concluded that the network believes in symmetric digits. Such a picture
# says something about the network *and* something about the prior, and the picture alone does not tell which is which.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
sure_of = int((certain > 0.9).sum())
false_prior.confirm("it becomes sure of all six" if sure_of == 6 else f"it becomes sure of {sure_of}")

# %% [markdown]
# ## From a real 5 to a "3"
#
# Noise is one thing. Now start from real 5s that the network reads correctly, take steps of length 0.1, and stop each
# as soon as it is read as a 3. Such an image is called an **adversarial example**.[^Szegedy and colleagues 2013
# "Intriguing properties of neural networks"] For comparison: the length of a 5, the root of its summed squares, is
# about 9, and the nearest 3 among the 4,000 training digits lies about 7 away.

# %% tags=["hide-input"]
# A prediction.
far = predict(
    "How far from its 5 is a typical image that is read as a 3?",
    ["less than 2.5", "about 4", "about 7, as far as a real 3"],
    answer="less than 2.5",
    reveals=5,
)
far

# %% tags=["hide-output", "nbval-ignore-output"]
fives = x_test[(labels == 5) & (answers == 5)][:40]
tricked, _ = climb_each(net, 3, fives, lambda images, log_k: net.predict(images) == 3, lr=0.1)
distance, real_threes = length(tricked - fives), x_train[digits.y_train == 3]
nearest = np.array([length(real_threes - x).min() for x in fives])
print(f"medians of {len(fives)}: distance {np.median(distance):.1f}, length of a 5 {np.median(length(fives)):.1f},",
      f"to the nearest real 3 {np.median(nearest):.1f}")

# %% [markdown]
# <details class="reveal"><summary>A quarter of the way</summary>
#
# All of them became a "3", typically after a quarter of the way to a real one, or less. Is the network sensitive to
# *any* change of that length? Go just as far in random directions, and follow the **lead**, the score of "5" minus
# that of "3". Its slopes $g$ promise that a change $d$ lowers it by $-g \cdot d = \Vert g \Vert\, \Vert d \Vert
# \cos\varphi$, where $\varphi$ is the angle between $d$ and the way straight down:
#
# </details>

# %% tags=["hide-output", "nbval-ignore-output"]
def leading(images):  # by how much "5" leads "3"
    scores = net.forward(images)
    return scores[:, 5] - scores[:, 3]

rng = np.random.default_rng(0)
jittered = [random_changes(fives, distance, rng=rng) for _ in range(10)]
still = np.mean([net.predict(x) == 5 for x in jittered])
g = nn.saliency(net, fives, 5) - nn.saliency(net, fives, 3)
effect = {}
for name, images_now in (("by the gradient", tricked), ("at random", jittered[0])):
    promised_now = -(g * (images_now - fives)).sum(axis=(1, 2, 3))
    cosine = promised_now / (length(g) * distance)
    effect[name] = [np.median(v) for v in (distance, cosine, promised_now, leading(fives) - leading(images_now))]
print(f"lead at the start {np.median(leading(fives)):.1f}; after random changes {still:.1%} are still read as 5")
table([(name, *row) for name, row in effect.items()],
      ["change", "its length", "cosine", "the lead should fall by", "and falls by"],
      formats={"its length": ".1f", "cosine": ".2f", "the lead should fall by": ".1f", "and falls by": ".1f"})

# %% tags=["hide-input", "hide-output", "nbval-ignore-output"]
# The 5s, the tricked ones, and the random changes.
figures.show(
    figures.convnets.image_rows(
        {"read as 5": fives[:6, 0], "read as 3": tricked[:6, 0], "at random": jittered[-1][:6, 0]}),
    alt="Six 5s, the same 5s changed a little and read as 3, and changed as much at random: all eighteen look like 5s.",
    caption="To you all three rows are 5s, the middle one with some grey smears. To the network, that one is a 3.",
)

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
far.confirm("less than 2.5" if np.median(distance) < 2.5 else f"{np.median(distance):.1f}")

# %% [markdown]
# The same length, and a tenth of the effect or less. Why? There are 1,024 pixels, each with a slope of its own. A step
# along the gradient moves every pixel that the clip leaves free the way that helps: many small terms, all of one sign,
# add up. In a random direction about half of the terms have the wrong sign, and nearly everything cancels. The promise
# of the slopes comes close both times, so this needs no strange bend of the network. Any sum of many terms behaves like
# that.[^Goodfellow, Shlens and Szegedy 2014 "Explaining and Harnessing Adversarial Examples"]
#
# Is it a weakness of this one network? Two questions to the sisters. What do they say to `net`'s images, and can they
# be tricked themselves? To be fair, ask about a second set as well. The images so far stop just across `net`'s
# border, and a sister's border need not run exactly there. So climb on, until "3" leads by as much as "5" did at the
# start.

# %% tags=["hide-output", "nbval-ignore-output"]
lead_before = leading(fives)
pushed, _ = climb_each(net, 3, fives, lambda images, log_k: leading(images) <= -lead_before, lr=0.1, steps=120)
as_far = random_changes(fives, length(pushed - fives), rng=rng)
sets = {"the 5s": fives, "just across the border": tricked, "pushed on": pushed, "as far, at random": as_far}
transfer = {name: [int((network.predict(x) == 3).sum()) for network in (net, *sisters)] for name, x in sets.items()}
own = [climb_each(sister, 3, fives, lambda images, log_k, s=sister: s.predict(images) == 3, lr=0.1, steps=80)
       for sister in sisters]
own_distance = [float(np.median(length(images_now - fives))) for images_now, _ in own]
print("the sisters, attacked themselves:", *(f"{(steps > 0).sum()} of 40 tricked," for _, steps in own),
      "typical distances", *(f"{d:.1f}" for d in own_distance))
table([(name, np.median(length(x - fives)), *transfer[name]) for name, x in sets.items()],
      ["of 40 images", "distance", "as 3 by net", "by one sister", "by the other"], formats={"distance": ".1f"})

# %% [markdown]
# No, every one of the three can be tricked, after about the same distance. Images that stop at `net`'s own border
# seldom trick a sister, and that proves little. Pushed on, still nearer to their 5 than a real 3 is, many of them do,
# though nobody asked for a sister's gradient, and though random changes of that length trick none. Adversarial
# examples **transfer**: networks that learned from the same examples have slopes in common. That is why they matter
# in practice: an attacker does not need your network, only one that learned the same task from much the same examples.

# %% [markdown]
# ## What goes wrong: no clip
#
# Leave out the clip. The goal is now the score itself (layer 11, the last), and the 200 steps have a length of 0.25, as
# before. At a real 3 the score rises by about 6 or 7 for each unit of length along the gradient, at noise by 2 to 4.

# %% tags=["hide-input"]
# A prediction.
no_clip = predict(
    "The best of 1,000 real digits gets a score for '3' of about 25. How high is it after 200 steps without the clip?",
    ["about 25", "about 50", "more than 100"],
    answer="more than 100",
    reveals=3,
)
no_clip

# %% tags=["hide-output", "nbval-ignore-output"]
inside = nn.maximise(net, 3, noise, steps=200, layer=11)
free = nn.maximise(net, 3, noise, steps=200, layer=11, clip=None)
top = net.forward(x_test)[:, 3].max()
cut = net.forward(np.clip(free.image, 0, 1))[0, 3]
table([("best real digit", top), ("with the clip", inside.history[-1, 0]), ("without", free.history[-1, 0]),
       ("without, cut off afterwards", cut)], ["image", "score of '3'"], formats={"score of '3'": ".0f"})

# %% tags=["hide-input", "hide-output", "nbval-ignore-output"]
# What a plot shows of it, and what the network saw.
figures.show(
    figures.convnets.outside(free.image[0, 0], x_test),
    alt=f"Drawn from 0 to 1 the image looks like black and white spots; its values go from {free.image.min():.0f} "
    f"to {free.image.max():.0f}, real pixels from 0 to 1.",
    caption="Above, what a plot from 0 to 1 shows, and what the network saw. Below, each line is ten times the next.",
)

# %% [markdown]
# <details class="reveal"><summary>No such image</summary>
#
# Several times the best real digit's score, and nothing raised an error. But a pixel of −3 is less ink than none: there
# is no such image. The plot draws everything above 1 as 1 and everything below 0 as 0, so it shows an image that the
# network never saw. **Look at the range of your numbers before you look at their picture.** The clip is a prior too,
# the weakest one: it says what a pixel can be.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
highest = free.history[-1, 0]
no_clip.confirm("more than 100" if highest > 100 else "about 50" if highest > 40 else "about 25")

# %% [markdown]
# Every way of asking has its own assumption: patches the data, saliency the small step, occlusion the grey of the
# square, the map its two directions, the painted image the prior. So ask in more than one way, look for a control that
# should *not* show the effect, and ask a second network. What survives all three is worth saying.

# %% [markdown]
# ## Optional: a hidden neuron
#
# <details><summary>The same for a map of C3</summary>
#
# Images can be made for every hidden neuron too.[^Owens "Understanding Neural Networks Through Deep Visualization"]
# Take five maps of C3, the neuron at place (4, 4). `layer=3` is the convolution *before* its ReLU: behind a closed ReLU
# the gradient is 0, and there is no way up. Look for the stroke that all three images of a column share. Where patch
# and made image agree, both become more believable. Without a prior the made image exceeds every real patch: the
# ascent says what *would* excite a neuron, among everything that you allow.
#
# </details>

# %% tags=["nbval-ignore-output"]
rows, reached = {"real patch": [strongest(m, 1)[0][0] for m in loud[:5]]}, {}
for name in ("no prior", "both"):
    climbs = [nn.maximise(net, (m, 4, 4), noise, steps=60, layer=3, prior=priors[name]) for m in loud[:5]]
    rows[name] = [a.image[0, 0, 8:22, 8:22] for a in climbs]  # its receptive field
    reached[name] = [a.history[-1, 0] for a in climbs]
best = c3.max(axis=(0, 2, 3))[loud[:5]]
figures.show(
    figures.convnets.image_rows(rows, [f"map {m}" for m in loud[:5]]),
    alt="Five maps of C3: the real patch that excites each most, and images made for it without and with a prior.",
    caption="Largest value on real digits: " + ", ".join(f"{v:.1f}" for v in best) + "; without a prior: "
    + ", ".join(f"{v:.1f}" for v in reached["no prior"]) + ".")

# %% [markdown]
# ## Optional: filters in colour
#
# <details><summary>Grey and coloured filters, and why ours are neither</summary>
#
# AlexNet, the network that won the ImageNet contest of 2012, computed in two streams that hardly talked to each other,
# since one GPU could not hold it. Its first filters came out sorted: those of one stream are grey and fine (high
# frequency), those of the other coloured and coarse (low frequency).[^Owens "Visualizing what ConvNets learn"] Nobody
# had asked for that.
#
# Can you see something like it in lesson 09's colour network? It has one stream, masks of 3 × 3, which are too small
# to be fine or coarse, and a few hundred pictures in which colour tells nothing about the shape. A mask is as grey as
# its red, green and blue parts are equal. Random masks are grey to a third on average; ours happen to start a little
# greyer. After a short training they are greyer still, as one would expect where colour says nothing; but what you
# see is mostly their random start.
#
# </details>

# %% tags=["nbval-ignore-output"]
rng = np.random.default_rng(0)
shapes, kinds = data.colour_shapes(600, rng=rng)
colour_net = nn.models.cnn_color(rng=rng)
colour_start = colour_net[0].params["w"].copy()
nn.train(colour_net, (shapes - 0.5, kinds), epochs=3, batch_size=16, lr=0.02, momentum=0.9, rng=rng)
colour_masks = colour_net[0].params["w"]

def greyness(w):  # (M, 3, K, K): the share of the squares that remains if each weight is replaced by its colours' mean
    return 3 * (w.mean(axis=1) ** 2).sum() / (w**2).sum()

figures.show(
    figures.convnets.colour_rows({"random start": colour_start[:6], "after training": colour_masks[:6]}),
    alt="Six masks of 3 by 3 coloured squares before and after training: hardly changed, and neither grey nor smooth.",
    caption=f"Grey to {greyness(colour_start):.0%} at the start and to {greyness(colour_masks):.0%} after training.")

# %% [markdown]
# ## Try it
#
# - Repeat the surprise with other digits and from other noise, such as `np.random.default_rng(5)`. How many steps does
#   it take, and do you ever see the digit?
#   <details><summary>Answer</summary>
#
#   A few dozen steps, and no: the end is as rough as the start. Put `sisters[0]` in the place of `net`, and you get
#   noise that convinces her. Once in a while a climb gets stuck, because all ways
#   up lead out of the range from 0 to 1.
#
#   </details>
# - Which assumption makes the picture? Change the four numbers: how little of each is enough for you to read the digit,
#   and when does the prior erase it? `a = nn.maximise(net, 3, noise, steps=80, lr=0.5, prior=lambda x:
#   nn.decay(0.02)(nn.blur(0.1)(x)))`, and then `figures.convnets.painted(net, a.image[0, 0], 3)`.
#   <details><summary>Answer</summary>
#
#   A quarter of each already clears away much of the noise: the roughness falls by more than half. With a blur of 0.4
#   the strokes become clouds. With a decay of 0.2 nearly all ink is gone, and the network is no longer sure.
#
#   </details>

# %% [markdown]
# - Multiply mask 0 of C1 and its bias by 8, and divide by 8 what C3 does with that map, `net[3].params["w"][:, 0]`.
#   What changes in the ten scores?
#   <details><summary>Answer</summary>
#
#   Nothing, up to rounding. ReLU and max pooling pass a positive factor on, and C3 takes it back. So a mask that looks
#   strong in a drawing is not an important one (exercise 10.6). Do it with a copy: `copy.deepcopy(net)`.
#
#   </details>
# - Cover with paper instead of grey, `fill=0`. Where does the occlusion map become 0, and why?
#   <details><summary>Answer</summary>
#
#   Wherever the square lies on empty paper: nothing changes there. Now the map can only speak about ink, and it no
#   longer tells that an answer rests on an empty place. Exercise 10.3 covers with several greys, and keeps what they
#   have in common.
#
#   </details>

# %% [markdown]
# <details><summary>For those who know the lectures</summary>
#
# - Prof. Owens takes AlexNet's smooth first-layer masks as a sign that training has converged ("Visualizing what
#   ConvNets learn"). That may well be so for AlexNet. But rough masks need not mean bad training. On a scale on which
#   independent random numbers have a roughness of 1 and an even ramp has 0.35, the masks of C1 stay above 0.7, and the
#   network reads 97 of 100 digits with them.
# - His slide concludes from what a neuron "wants to see" to what it has learned to look for ("Understanding Neural
#   Networks Through Deep Visualization"). The noise was wanted too, and nobody taught it. The slide's last remark, that
#   the prior is the key, is the more careful one.
#
# </details>

# %% [markdown]
# ## Check yourself
#
# **1.** A colleague shows you a beautiful image that maximises the neuron "lung disease" of a network for X-ray
# pictures, and says: "It clearly looks for the ribs' shadows." Which two questions do you ask first?
#
# <details><summary>Answer</summary>
#
# Which prior was used, and what comes out with another one: the ribs may have been put in by the prior, as the symmetry
# was here. And which real pictures excite the neuron most: if the data and the made image agree, the claim gains
# weight.
#
# </details>

# %% [markdown]
# **2.** At a pixel the saliency is 0, and yet covering the square around it lowers the score a lot. Give two ways in
# which that can happen.
#
# <details><summary>Answer</summary>
#
# The square also covers other pixels, and their slopes need not be 0. And even for the pixel alone the slope speaks of
# small changes only: it can be 0 because another pixel wins the pooling window, or a ReLU is closed, and a large change
# makes this pixel win, or opens the ReLU.
#
# </details>

# %% [markdown]
# **3.** Someone proposes to reject bad inputs: "If the largest probability is below 99.9 %, say: not a digit." Name an
# image from this page that passes, a kind that would be rejected wrongly, and an output that could do better.
#
# <details><summary>Answer</summary>
#
# The noise passes, it has 99.9 %. About a quarter of the real digits get less, and would be rejected. Better: an output
# that need not share out 100 % among the ten digits, such as an eleventh class "none of these", trained with images
# that are no digits. It would still know only the kinds of non-digits that it was shown.
#
# </details>
