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
# Of all the mistakes that LeNet-5 makes on 1,000 test digits, it is surest of this one. Why does it say that? All that
# it has is 61,706 numbers. Below the digit you see some of them: the 96 masks of its second convolution. Can you read
# in them what went wrong?

# %% tags=["hide-input", "nbval-ignore-output"]
# Lesson 09's network, trained, its two sisters, and its surest mistake.
import copy

import numpy as np

from course_lib import checks, data, figures, nn
from course_lib import reference as ops
from course_lib.lesson import climb_each, predict, random_changes, table

digits = data.load_digits(seed=0)
labels = digits.y_test
x_train, x_test = (np.pad(part.reshape(-1, 1, 28, 28), ((0, 0), (0, 0), (2, 2), (2, 2)))
                   for part in (digits.x_train, digits.x_test))

def trained(seed, used=slice(None)):  # on those training digits
    rng = np.random.default_rng(seed)
    net = nn.models.lenet5(rng=rng)
    start = copy.deepcopy(net)
    for epochs, lr in ((5, 0.03), (2, 0.003)):
        nn.train(net, (x_train[used], digits.y_train[used]), epochs=epochs, batch_size=64, lr=lr, momentum=0.9, rng=rng)
    return start, net

before, net = trained(0)
sisters = [trained(seed)[1] for seed in (1, 2)]
worst = nn.worst_mistakes(net, x_test, labels, 1)
wrong = int(worst.index[0])
figures.show(
    figures.convnets.digit_and_masks(x_test[wrong, 0], net[3].params["w"], worst.predicted[0], worst.confidence[0]),
    alt=f"A handwritten {labels[wrong]} that the network reads as {worst.predicted[0]} with "
    f"{figures.convnets.percent(worst.confidence[0])}; below it 96 small squares that look like noise.",
    caption=f"A {labels[wrong]}, and what the network says about it. Below, a column of squares for each of 16 output "
    "maps: orange asks for a large input, purple for a small one.")

# %% [markdown]
# Many people believe that you can: *the weights of a neuron show what it is looking for.* On this page you try that,
# layer by layer, and you learn to ask in other ways. What excites a neuron? How does one answer react if you touch the
# image, or cover a part of it? What does a layer take for alike? Which image would a neuron like best? Each of these
# questions has a true answer, and each can mislead you. That is why you will look for a **control** before you
# conclude: a case in which the effect should *not* show. Halfway down you come back to the digit above.
#
# Why ask at all? Because a network that works may work for reasons that you would not accept. In a well-known
# experiment, a classifier was trained badly on purpose: every wolf that it was shown stood in snow, and no husky did.
# It told the two apart by the snow.[^Ribeiro, Singh and Guestrin 2016 "Why Should I Trust You?"]

# %% [markdown]
# ## You will be able to
#
# - look at masks and feature maps, and say what they do and do not tell;
# - ask how a single answer reacts, by its gradient and by covering parts of the image, and say by a control what in
#   these maps is evidence;
# - draw a map of what a layer takes for alike;
# - build an image that maximises a neuron, and say what a prior, a clip and a second network add to it.

# %% [markdown]
# <details><summary>About this page</summary>
#
# It follows Prof. Owens' EEC 289Q lecture 11 at UC Davis, and ECE 508 lecture 10 by Prof. Hwu and colleagues at
# Illinois. The lectures do not treat saliency, covering and the map; the notes name their inventors. You
# need lessons 03, 04, 06 and 09. Reading and trying takes about 75 minutes, the optional part 3 more.
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
    ["2 to 5, about as before", "6 to 15", "40 to 60", "85 or more, as by chance"],
    answer="6 to 15",
    reveals=2,
)
put_back

# %% tags=["hide-output", "nbval-ignore-output"]
patched = copy.deepcopy(net)
patched[0].params["w"][...] = before[0].params["w"]
without = nn.accuracy(patched.predict(x_test), labels)
foreign = []
for seed in range(77, 84):  # seven draws of six other masks
    patched[0].params["w"][...] = nn.models.lenet5(rng=np.random.default_rng(seed))[0].params["w"]
    foreign.append(nn.accuracy(patched.predict(x_test), labels))
print(f"correlation of start and end {correlation:.2f}")
table([("trained", accuracies[0]), ("the random ones of its start", without),
       ("six other random ones, median of 7 draws", np.median(foreign)), ("the best of the 7 draws", max(foreign))],
      ["masks in C1", "read correctly"], formats={"read correctly": ".1%"})

# %% [markdown]
# <details class="reveal"><summary>What the layers behind have learned</summary>
#
# Start and end have a correlation of about 0.9. Yet the little that training changed matters: without it the network
# makes about twice as many mistakes, or more. Still, most digits are read. Is that because any masks will do? The last
# lines are the control, and they say no: with six *other* random masks it typically misreads most digits. The layers
# behind have learned to work with these six, random as they look. So masks that look meaningless are no sign of a bad
# network.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
put_back.confirm("6 to 15" if 0.85 < without < 0.945 else f"{100 - 100 * without:.0f}")

# %% [markdown]
# (In a larger network masks can be told apart by eye. AlexNet, which won the ImageNet contest of 2012, computed in two
# streams that hardly talked to each other, since one GPU could not hold it. Its first masks came out sorted: those of
# one stream are grey and fine, those of the other coloured and coarse.[^Owens "Visualizing what ConvNets learn"]
# Nobody had asked for that.)

# %% [markdown]
# ## The second layer
#
# The masks of C3 do not look at pixels any more, but at what C1 has made of them. One weight there says only: "the sum
# rises if map 4 is large two places to the left." And mask 4 is hardly readable itself.[^Owens "Visualizing what
# ConvNets learn"] Look at the 96 squares at the top once more: can you say which stroke one column is looking for?
#
# So stop reading weights, and watch what they do. The outputs of a convolution are its **feature maps**. Here are those
# of a 3 and a 5: all six behind C1, and of the sixteen behind C3 the six with the largest values. (Layers 10 and 11,
# the 84 numbers behind F6 and the ten scores, are for later.)

# %%
# of every layer: a name, and the outputs for all 1,000 digits
found = nn.feature_maps(net, x_test)
rows = [(k, name, str(values.shape)) for k, (name, values) in enumerate(found)]
table(rows[:6] + rows[10:], ["layer", "what it is", "shape of its output"])

# %% tags=["hide-input", "nbval-ignore-output", "continued"]
# Feature maps of a 3 and a 5, behind the ReLU of C1 and of C3.
pair = [int(np.flatnonzero(labels == digit)[0]) for digit in (3, 5)]
strong = sorted(np.argsort(-found[4][1].max(axis=(0, 2, 3)))[:6].tolist())
for layer, maps, title in ((1, None, "Maps behind C1"), (4, strong, "Maps behind C3")):
    figures.show(
        figures.convnets.maps_of(x_test[pair, 0], found[layer][1][pair], maps=maps, title=title),
        alt=f"Maps of a 3 and a 5 behind layer {layer}: "
        + ("the digits can be recognised in all of them." if layer == 1 else "a few dark spots, no digits."),
        caption="C1: each map is a version of the digit." if layer == 1 else "C3: marks at some places, no digit.",
    )

# %% [markdown]
# ## What excites a map most?
#
# The maps of C3 show *where* something was found, and not *what*. To find out, take all test digits, look where a map
# is largest, and cut out the pixels that it saw there. How wide is that piece? A value of C1 sees 5 pixels in a row. A
# value of S2 takes two neighbours of C1: 6 pixels. C3's mask spans five values of S2, which are two pixels apart: $6 +
# 4 \cdot 2 = 14$. So place $(h, v)$ sees rows $2h$ to $2h + 13$ and columns $2v$ to $2v + 13$. That window is its
# **receptive field**.
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
# Here are the six maps with the largest values, two at a time. Look at their masks first, then at their patches.

# %% tags=["nbval-ignore-output"]
loud = np.argsort(-c3.max(axis=(0, 2, 3)))[:6].tolist()
frames = []
for two in (loud[:2], loud[2:4], loud[4:]):
    patches, values, cut_from = zip(*(strongest(m) for m in two))
    frames.append(figures.convnets.excited(net[3].params["w"][two], patches, values, cut_from, two))
figures.stepper(frames, title="Six maps of C3: their masks, and what excites them most", static=0)

# %% [markdown]
# Could you have drawn the patches from the masks? In a map or two the strongest squares may give you a hint, such as a
# band that runs as the stroke does. The patches leave no doubt: each map has its own stroke, in all eight of them. They
# need not share a digit, as the labels below them show. How choosy is a map, then? In each image it has 100 values;
# call the largest of them its **peak**.

# %% tags=["hide-input"]
# A prediction.
driven = predict(
    "Average a map's peak over all 0s, over all 1s, and so on. How many of the ten averages are at least half as large "
    "as the largest one, for a typical map of C3?",
    ["one", "two or three", "four to seven", "eight or more"],
    answer="eight or more",
    reveals=2,
)
driven

# %% tags=["hide-output", "nbval-ignore-output"]
def driven_by(network):  # how many digits excite each map at least half
    peak = nn.feature_maps(network, x_test)[4][1].max(axis=(2, 3))
    by_digit = np.array([peak[labels == digit].mean(axis=0) for digit in range(10)])
    return (by_digit > by_digit.max(axis=0) / 2).sum(axis=0)

shared, at_start = driven_by(net), driven_by(before)
table([(name, *(int(((counts >= low) & (counts <= high)).sum()) for counts in (at_start, shared)))
       for name, low, high in (("at most three", 0, 3), ("four to seven", 4, 7), ("eight to ten", 8, 10))],
      ["digits that excite it", "maps before training", "after training"])

# %% [markdown]
# <details class="reveal"><summary>Shared, and not because of training</summary>
#
# Nearly every digit excites nearly every map. One place in a hundred is enough for a peak, and in nearly every digit
# there is a bit of stroke somewhere that fits. Did the network learn this sharing? The control is the column "before
# training": random masks are shared even more. So sharing was there from the start, and training has done the opposite:
# it made a few maps choosier.
#
# The patches have a limit, too. They show what a map likes most *among the images that you happen to have*.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
typical = float(np.median(shared))
driven.confirm("eight or more" if typical >= 8 else "four to seven" if typical >= 4 else "two or three")

# %% [markdown]
# ## Question one answer: the slope at every pixel
#
# So far you asked what a neuron likes in general. Now ask about one digit and one answer. Begin with a light touch: if
# you add a little ink at one pixel, how fast does the score of that answer rise? Lesson 04's backward pass tells it for
# all pixels at once. Give it a 1 at the score and 0 at the nine others, and what arrives at the image is $\partial\,
# \text{score} / \partial x$, a slope for each pixel. Drawn as an image, the slopes are called the **saliency** of the
# answer.[^Simonyan, Vedaldi and Zisserman 2013 "Deep Inside Convolutional Networks"]

# %%
three = x_test[labels == 3][:1]
net.forward(three)
# a 1 at the score of "3"
slopes = net.backward(np.eye(10, dtype=np.float32)[[3]])
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
answers, ink = net.predict(x_test), x_test > 0.1
shifts = [(h, v) for h in range(-2, 3) for v in range(-2, 3)]
rim = sum(np.roll(ink, shift, axis=(2, 3)) for shift in shifts) * ~ink > 0
parts = {"ink": ink, "paper at most 2 pixels from ink": rim, "other paper": ~ink & ~rim}

def share_of(network, part):
    size = np.abs(nn.saliency(network, x_test, answers))
    return ((size * part).sum(axis=(1, 2, 3)) / size.sum(axis=(1, 2, 3))).mean()

shares = {name: (share_of(net, part), share_of(before, part)) for name, part in parts.items()}
table([(name, part.mean(), *shares[name]) for name, part in parts.items()],
      ["pixels", "how many", "share of the slopes", "before training"],
      formats=dict.fromkeys(["how many", "share of the slopes", "before training"], ".0%"))

# %% tags=["hide-input", "hide-output", "nbval-ignore-output"]
# Three digits and their saliency.
some = [int(np.flatnonzero((labels == digit) & (answers == digit))[0]) for digit in (3, 4, 7)]
asked = {"digit": x_test[some, 0], "saliency": nn.saliency(net, x_test[some], answers[some])[:, 0]}
figures.show(
    figures.convnets.answers_of(asked, [f"read as {answers[i]}" for i in some]),
    alt="Three digits and the slopes of their scores: specks of both signs on and around the strokes, no clear shape.",
    caption="Orange: ink here would raise the score. Purple: it would lower it. The line is the outline of the digit.",
)

# %% [markdown]
# <details class="reveal"><summary>Paper counts too</summary>
#
# A slope does not ask what the network *used*. It asks what a small change would do, and a little ink on empty paper
# can do a lot. More than half of the slopes lie on paper, most of them within two pixels of a stroke.
#
# Has the network learned, then, to watch the strokes and their edges? Look at the control in the last column. Before
# training, when the network knew nothing, its slopes lay in much the same places. *Where* the slopes are large comes
# from the digit and from how such a network is built. It is no evidence of anything that was learned. (This kind of
# test was proposed by Adebayo and colleagues.[^Adebayo and colleagues 2018 "Sanity Checks for Saliency Maps"])
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
share = shares["ink"][0]
on_ink.confirm("less than half" if share < 0.5 else "about two thirds" if share < 0.8 else "nearly all")

# %% [markdown]
# Is there something learned in the signs? Take ten 3s, and compare the gradients of their score "3", two at a time. The
# **cosine** of two gradients is 1 if they point in the same direction, and 0 if they stand at a right angle. Two
# controls go with it: the same score at ten 7s, and the network before training.

# %% tags=["nbval-ignore-output"]
# of the score "3", at ten images of a digit
def directions(network, digit):
    slopes = nn.saliency(network, x_test[labels == digit][:10], 3).reshape(10, -1)
    return slopes / np.linalg.norm(slopes, axis=1, keepdims=True)

at_3, at_7, at_3_before = directions(net, 3), directions(net, 7), directions(before, 3)
once = np.triu_indices(10, 1)  # each pair of different 3s once
cosines = {"a 3 and another 3": (at_3 @ at_3.T)[once].mean(), "a 3 and a 7": (at_3 @ at_7.T).mean(),
           "a 3 and another 3, before training": (at_3_before @ at_3_before.T)[once].mean()}
table(list(cosines.items()), ["gradients of the score '3' at", "mean cosine"], formats={"mean cosine": ".2f"})

# %% [markdown]
# The 3s share more with each other than with the 7s, and more than they did before training. So the signs do hold
# something that was learned, and that belongs to the 3s. But about a quarter is far from 1: most of each gradient
# belongs to its own image, which decides which ReLUs are open and which numbers win a pooling window. For the single
# neuron at the top of the page, all the gradients would have been equal. A deep network has no picture of "a 3". It has
# a direction at every image.
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
    caption="Occlusion, orange: the score falls if a square with its middle here is covered. Purple: it rises. The rim "
    "stays white, since no square has its middle there.",
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
    "A correlation of 1 would mean that covering does what the slopes say, up to a factor and a constant, and 0 "
    "that one tells nothing (in a straight line) of the other. How large is it, on average?",
    ["above 0.95, since a gradient is exact", "0.5 to 0.9", "below 0.3, since they ask different things"],
    answer="0.5 to 0.9",
    reveals=2,
)
promise

# %% tags=["hide-output", "nbval-ignore-output"]
twenty = x_test[:20]
promised = nn.promised_fall(twenty, nn.saliency(net, twenty, answers[:20]), size=5, stride=2)

# correlation of two maps, on average over the digits
def alike(maps, others):
    return np.mean([np.corrcoef(m.ravel(), o.ravel())[0, 1] for m, o in zip(maps, others)])

agreement = {}
# 0.01: the square hides 1 % of what is below it
for opacity in (0.01, 0.1, 1):
    measured = nn.occlusion(net, twenty, answers[:20], size=5, stride=2, opacity=opacity)
    agreement[opacity] = alike(measured, promised)
table([(f"{opacity:.0%}", r) for opacity, r in agreement.items()], ["the square hides", "correlation"],
      formats={"correlation": ".2f"})

# %% [markdown]
# <details class="reveal"><summary>Exact, but only for small changes</summary>
#
# About 0.7 for the square that hides everything: alike, and far from equal. A square that hides hardly anything
# keeps the promise almost exactly. A gradient *is* exact, for changes so small that no ReLU opens or closes and no
# pooling window gets another winner. Covering a whole square is no small change. So the two do not contradict each
# other: saliency tells how the score reacts to a touch, occlusion what it loses when a part is covered. Neither is
# "the" explanation.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
promise.confirm("0.5 to 0.9" if 0.5 < agreement[1] < 0.9 else f"{agreement[1]:.2f}")

# %% [markdown]
# Which of the two maps is evidence of what the network has learned? Such a map should agree with that of a sister, who
# has learned the same. And it should *not* agree with the map that the network gave before training. Compare the same
# 20 digits:

# %%
def signs(network):
    return nn.saliency(network, twenty, answers[:20])[:, 0]

def sizes(network):
    return np.abs(signs(network))

def covering(network):
    return nn.occlusion(network, twenty, answers[:20], size=5, stride=2)

# the mean over the squares that occlusion covers
def over_squares(maps):
    return np.lib.stride_tricks.sliding_window_view(maps, (5, 5), axis=(1, 2))[:, ::2, ::2].mean(axis=(3, 4))

# %% tags=["nbval-ignore-output", "continued"]
asked_in = {"saliency, its sizes": sizes, "saliency, with signs": signs,
            "its sizes, over squares": lambda network: over_squares(sizes(network)),
            "its signs, over squares": lambda network: over_squares(signs(network)), "occlusion": covering}
tested = {name: [alike(ask(net), ask(other)) for other in (sisters[0], before)] for name, ask in asked_in.items()}
table([(name, *np.round(row, 2) + 0.0) for name, row in tested.items()],
      ["map", "agrees with a sister's", "with that before training"],
      formats=dict.fromkeys(["agrees with a sister's", "with that before training"], ".2f"))

# %% [markdown]
# The sizes of the slopes fail, as pixels and over squares: they agree at least as well with the untrained network as
# with the sister. (This control is a strict one: it is the network's own start, and its masks in C1 resemble the
# trained ones.) So a bright spot in a picture of sizes is no evidence. The signs pass. Pixel by pixel they agree with
# the sister's only weakly. Averaged over occlusion's squares they agree better, if still less than
# occlusion does, and not at all with the untrained network's. So the signs at that scale, and the occlusion map, do
# show something that was learned.
#
# But occlusion shows it *for this square and this grey*. On paper a grey square is ink, so the grey is an assumption,
# too. And it says what the score loses, not why.

# %% [markdown]
# ## What a layer takes for alike: a map
#
# F6, the last layer before the scores, turns every digit into 84 numbers, and the scores are computed from these alone.
# Two digits are alike to the network if their 84 numbers are near each other. Nobody can draw 84 dimensions. But you
# can draw the cloud's shadow on a wall, and turn the cloud first until the shadow is as wide as it can be. The two
# directions of that wall, in which the digits differ most, are found by a **principal component analysis**.[^Pearson
# 1901 "On Lines and Planes of Closest Fit to Systems of Points in Space"]
#
# Subtract the mean, and let the singular value decomposition $F = U S V^\top$ do the rest: the columns of $V$ are the
# directions, sorted, and $U S$ holds the digits' coordinates along them. A direction's spread (its variance) is the
# square of its entry in $S$, up to a factor, so that two directions keep the share $(S_1^2 + S_2^2) / \sum_i S_i^2$.

# %%
f6 = found[10][1]  # (1000, 84), behind F6's ReLU

def flat_map(features):
    centred = features - features.mean(axis=0)
    U, S, _ = np.linalg.svd(centred, full_matrices=False)
    return U[:, :2] * S[:2], (S[:2] ** 2).sum() / (S**2).sum()

points, kept = flat_map(f6)  # (1000, 2)

# %% [markdown]
# Each numeral below is a test digit, drawn as its true label, and the grey dots are the others of the 1,000. Click on
# one, or walk with the arrow keys. You see the digit, the saliency and the occlusion map of the answer, and what the
# network read. A frame marks a misread digit. Three things to find out:
#
# - Which kinds of digits lie next to each other, and would you have said so?
# - Find a digit for which grey on *empty paper* costs most. Remember that grey is ink there: what would it draw?
# - Go through the framed ones. Where on the map do they lie?

# %% tags=["nbval-ignore-output"]
figures.digit_map(net, x_test, labels, points, first=some[1])

# %% [markdown]
# <details><summary>What you may have found</summary>
#
# The 2s and the 8s overlap, and the 7s lie close to the 9s. (On a sister's map other kinds may be neighbours.) At
# several 4s, grey in the open top costs most: it draws a roof, and a 4 with a roof is a 9. At some 0s it is grey in the
# empty middle. Many of the misread digits lie where groups meet, but not all of them.
#
# </details>

# %% [markdown]
# On the map some kinds overlap. Does the network not keep them apart? Take for each digit its nearest neighbour, once
# on the map and once by all the numbers: does it have the same label? And what if you do the same with the pixels?

# %% tags=["nbval-ignore-output"]
pixel_points, pixel_kept = flat_map(x_test.reshape(1000, -1))
near = [(name, count, share_kept, nn.neighbour_accuracy(flat, labels), nn.neighbour_accuracy(whole, labels))
        for name, count, share_kept, flat, whole in (("pixels", 1024, pixel_kept, pixel_points, x_test),
                                                     ("F6", 84, kept, points, f6))]
table(near, ["digits as", "numbers", "spread kept by two", "same label on the map", "same label in all"],
      formats=dict.fromkeys(["spread kept by two", "same label on the map", "same label in all"], ".0%"))

# %% [markdown]
# In 84 dimensions digits with the same label do lie together. But two directions keep less than half of the spread, and
# groups that are far apart fall onto each other like shadows on a wall. What lies *apart* on the map is apart; what
# lies together may not be. The other row shows what the network has achieved: as pixels, the same digits are more mixed
# up.
#
# And the misread digits? For each digit, measure how far it is from the centres of the ten groups, in all 84
# dimensions, and divide the smallest distance by the second smallest. Deep in a group this ratio is small. It comes
# close to 1 where two centres are equally far: midway between two groups, or far out from all.

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
# A typical misread digit is almost as near to one group as to another. And the digit at the top of this page, of which
# the network is so sure? You can ask four things now:
#
# - In which group does it lie, and how deep?
# - Can a grey square anywhere let another digit overtake? A square may lower the score of the answer *and raise that of
#   a rival*, so follow the **lead**, the difference of the two.
# - What do the two sisters say?
# - What would you get without any network? Take the ten training digits whose *pixels* are nearest.

# %% tags=["hide-input", "nbval-ignore-output"]
# Four questions to the digit at the top.
case, said = x_test[wrong : wrong + 1], answers[wrong]
order = np.linalg.norm(f6[wrong] - centres, axis=1).argsort()
scores = net.forward(case)[0]
rivals = np.arange(10) != said
falls_of = np.array([nn.occlusion(net, case, digit, size=5)[0] for digit in range(10)])  # of all ten scores
covered_scores = scores[:, None, None] - falls_of
leads = covered_scores[said] - covered_scores[rivals].max(axis=0)  # what is left of the lead under each square
lead = scores[said] - scores[rivals].max()
closest = length(x_train - case).argsort()  # the training digits, by the distance of their pixels
by_pixels = digits.y_train[closest[:10]]
print(f"a {labels[wrong]}, read as {said}; nearest group {order[0]}, then {order[1]}; ratio {between[wrong]:.2f}")
print(f"it leads by {lead:.1f}, under the worst of {leads.size} squares by {leads.min():.1f}")
print("the sisters read it as", *(int(sister.predict(case)[0]) for sister in sisters))
print("the ten nearest training digits, by their pixels:", *by_pixels)

# %% [markdown]
# Line by line. The digit lies in the group of the wrong answer, about as deep as a typical digit that is read
# correctly. No grey square lets another digit overtake, so the answer does not hang on one spot of that size being
# half grey. Both sisters make the same mistake, so the random start is not to blame. And even the pixels agree: this
# 6 lies among the training 0s before any network has touched it.
#
# Case closed? "These 0s have misled the network": it sounds convincing, and it can be tested. Is a digit misread more
# often if nine or ten of its neighbours are of one and the same wrong kind? The control: all other digits.

# %% tags=["nbval-ignore-output"]
# squared distances, but for a term that is the same for all training digits
flat, known = x_test.reshape(1000, -1), x_train.reshape(4000, -1)
far_from = (known**2).sum(axis=1) - 2 * flat @ known.T
beside = digits.y_train[far_from.argsort(axis=1)[:, :10]]  # (1000, 10)
against = np.array([np.bincount(row[row != y], minlength=10).max() for row, y in zip(beside, labels)])
crowd = against >= 9
table([(name, int(of.sum()), int((of & missed).sum()), missed[of].mean())
       for name, of in (("with such neighbours", crowd), ("all others", ~crowd))],
      ["digits", "how many", "misread", "share"], formats={"share": ".0%"})

# %% [markdown]
# Such neighbours do not force a mistake, but they go with it: many times as often as without. Do they also *cause* it?
# That takes an experiment: train again without the 0s next to our 6, and, as a control, without some other 0s.

# %% tags=["nbval-ignore-output"]
def lead_of_0(network):  # over 6
    scores = network.forward(case)[0]
    return int(scores.argmax()), scores[0] - scores[6]

zeros = closest[digits.y_train[closest] == 0]  # the nearest first
left_out = {"its 10 nearest 0s": zeros[:10], "its 50 nearest 0s": zeros[:50], "50 other 0s": zeros[50::7]}
retrained = {f"without {name}": trained(0, np.setdiff1d(np.arange(4000), out))[1] for name, out in left_out.items()}
asked_again = {"net": net, "a sister": sisters[0], "the other": sisters[1], **retrained}
table([(name, *lead_of_0(network)) for name, network in asked_again.items()],
      ["network", "reads it as", "0 leads 6 by"], formats={"0 leads 6 by": ".1f"})

# %% [markdown]
# Without its nearest 0s the network still reads a 0. (How large the lead is differs from training to training,
# whichever digits are left out.) So the mistake goes with such neighbours, but it does not need them.
#
# So what do you know? What it is *not*: neither a whim of one start, nor a spot that a grey square would mend, nor a
# handful of misleading examples. What it *is*, you don't know. A good story offers itself: the round belly under a
# short neck. But a story is all that it is until somebody tests it against a control.

# %% [markdown]
# ## An image that maximises a neuron
#
# The last way of asking needs no data. Let the computer make an image that excites one neuron as much as
# possible,[^Erhan, Bengio, Courville and Vincent 2009 "Visualizing Higher-Layer Features of a Deep Network"] and read
# it as what the neuron "wants to see". Published ones show flamingos and school buses, painted by a
# network that was only asked for its neuron "flamingo" or "school bus".[^Owens "Understanding Neural Networks Through
# Deep Visualization"] It is lesson 03 with the roles exchanged: the weights stay, and **the image moves**.
#
# Which way does it move? The ten 3s gave the answer: the network has a direction at every image, and another one at the
# next. So go in small steps, and ask for the direction again at each. The start is random grey:

# %%
noise = np.random.default_rng(0).uniform(0, 1, (1, 1, 32, 32)).astype(np.float32)

# %% [markdown]
# Training steps the *weights* against the gradient of the loss $E = -\ln k_c$, where $k_c$ is the probability of the
# right class $c$ (lesson 06). Take $c = 3$ and step the *image* instead: down in $E$ is up in $k_3$. (The probability
# $k_3$ rises when the score of "3" rises, and also when the nine other scores sink. At the end of the page you climb
# the score alone.) Every step has the length $\eta$, before the clip that keeps each pixel between paper (0) and ink
# (1):
#
# $$\begin{gathered} x \leftarrow \mathrm{clip}\Big(x - \eta\, \frac{dx}{\Vert dx \Vert},\ 0,\ 1\Big), \\
# dx = \frac{\partial E}{\partial x}, \quad x: (1, 1, 32, 32) \end{gathered}$$

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
# mean difference between neighbours in a row, plus that in a column
def roughness(x):
    return np.abs(np.diff(x, axis=-1)).mean() + np.abs(np.diff(x, axis=-2)).mean()

real = ops.softmax(net.forward(x_test)).max(axis=1)
print(f"roughness: noise {roughness(noise):.2f}, this '3' {roughness(painted_three):.2f}, real {roughness(x_test):.2f}")
print(f"real digits of which the network is less sure: {(real < 0.999).mean():.0%}")

# %% [markdown]
# <details class="reveal"><summary>A 3 to the network, noise to you</summary>
#
# Noise before and noise after: you may find a dark stroke, but no 3. It is as rough as the start, and yet the network
# is surer of it than of about a quarter of the real digits.[^Nguyen, Yosinski and Clune 2014 "Deep Neural Networks
# are Easily Fooled"]
#
# Why is that possible? Training asked it to tell 3s from other *digits*; no loss ever punished an answer about noise.
# And softmax must share out 100 % among ten digits, whatever it is shown: there is no answer "none of these". In a
# space of 1,024 pixels nearly every point is no digit, and there no answer was ever trained.
# **99.9 % means "rather a 3 than another digit", and not "this is a 3".**
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
surprise.confirm("like random grey pixels" if roughness(painted_three) > 4 * roughness(x_test) else "like a blurred 3")

# %% [markdown]
# ## A prior
#
# How did the flamingos come about, then? Their makers say that the key is a good **prior** for natural images,[^Owens
# "Understanding Neural Networks Through Deep Visualization"] that is, an assumption about images, made before the
# network is asked. Here are two for digits, applied after every step:
#
# - **decay**, $x \leftarrow (1 - r)\,x$: most pixels are paper;
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
# row is "what the network wants"? All four satisfy it; only our assumption differs. So ask the sisters, who were not
# asked on the way up. Make forty images of each kind, four for each of the ten digits. And make forty more noises like
# the one above, which stop as soon as `net` is 99.9 % sure.

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
table([(name, *right.sum(axis=1).tolist(), int(right.all(axis=0).sum())) for name, right in read.items()],
      ["of 40 images", "as wanted by one sister", "by the other", "by both"])

# %% [markdown]
# <details class="reveal"><summary>What two networks share</summary>
#
# By chance, 4 of 40 would be read as wanted. The sisters read clearly more of the noises in that way, and far from
# all. Part of what `net` likes about them the sisters like too; the rest is `net`'s own. (A sister has noise of her
# own: try it, at the end of the page.) The longer climbs convince them more often, and those with a prior more often
# still. Which of the three priors is best, forty images cannot say.
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
uneven = (wanted >= 2) & (wanted <= 7)  # of the forty: 24 images of 2 to 7
mirrored = nn.maximise(net, wanted[uneven], forty[uneven], steps=80, lr=0.5, prior=symmetric).image
believed_by = {"symmetric": [int((sister.predict(mirrored) == wanted[uneven]).sum()) for sister in sisters]}
for name in ("decay", "no prior"):
    believed_by[name] = [int(row.sum()) for row in read[name][:, uneven]]
table([(name, *counts) for name, counts in believed_by.items()],
      ["24 images of 2 to 7", "as wanted by one sister", "by the other"])

# %% tags=["hide-input", "hide-output", "nbval-ignore-output"]
# What came out.
figures.show(
    figures.convnets.image_rows({"symmetric": false.image[:, 0]}, [f"'{d}'" for d in six]),
    alt="Six symmetric figures like masks and insects, each read as wanted.",
    caption="Each is read as the digit that stands below it.",
)

# %% [markdown]
# <details class="reveal"><summary>The network goes along</summary>
#
# Had you seen only this row, you might have concluded that the network believes in symmetric digits. Such a picture
# says something about the network *and* something about the prior, and the picture alone does not tell which is which.
#
# The sisters notice a part of it. Compare like with like, the two rows with decay: with the symmetry they believe
# fewer. But it is still most of them. They learned from the same digits, and nobody showed *them* a false one either.
# Agreement of networks that are alike is no proof.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
sure_of = int((certain > 0.9).sum())
false_prior.confirm("it becomes sure of all six" if sure_of == 6 else f"it becomes sure of {sure_of}")

# %% [markdown]
# ## From a real 5 to a "3"
#
# Noise is one thing. Now start from real 5s that the network reads correctly, climb towards "3" in steps of length 0.1,
# and stop each image as soon as it is read as a 3. The result is called an **adversarial example**.[^Szegedy and
# colleagues 2013 "Intriguing properties of neural networks"] For comparison: the length of a 5, the root of its summed
# squares, is about 9, and the nearest 3 among the 4,000 training digits lies about 7 away.

# %% tags=["nbval-ignore-output"]
fives = x_test[(labels == 5) & (answers == 5)][:40]
tricked, _ = climb_each(net, 3, fives, lambda images, log_k: net.predict(images) == 3, lr=0.1)
distance, real_threes = length(tricked - fives), x_train[digits.y_train == 3]
nearest = np.array([length(real_threes - x).min() for x in fives])
print(f"medians of {len(fives)}: distance {np.median(distance):.1f}, length of a 5 {np.median(length(fives)):.1f},",
      f"to the nearest real 3 {np.median(nearest):.1f}")

# %% [markdown]
# Each climb ends where `net` says "3", typically at a quarter of a real one's distance, or less. Is so small a change
# enough, or does it take this direction? Go from each 5 just as far, but in a random direction.

# %% tags=["hide-input"]
# A prediction.
far = predict(
    "How many of the 5s that were changed as much at random are still read as 5?",
    ["hardly any: the size of the change decides", "about half", "nearly all: the direction decides"],
    answer="nearly all: the direction decides",
    reveals=3,
)
far

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

# %% [markdown]
# <details class="reveal"><summary>A thousand small slopes</summary>
#
# The slopes $g$ of the lead of "5" over "3" promise that a change $d$ lowers it by $-g \cdot d = \Vert g \Vert\, \Vert
# d \Vert \cos\varphi$, where $\varphi$ is the angle between $d$ and the way straight down. There are 1,024 pixels, each
# with a slope of its own. A step along the gradient moves every pixel the way that helps, unless the clip holds it:
# many small terms of one sign add up. In a random direction about half of the terms have the wrong sign, and nearly
# everything cancels. (Not quite: on paper, the clip lets a change only add ink.) The promise is nearly kept along the
# gradient; at random, what is promised and what happens are both small. Many small terms of both signs behave like
# that.[^Goodfellow, Shlens and Szegedy 2014 "Explaining and Harnessing Adversarial Examples"]
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
far.confirm("nearly all: the direction decides" if still > 0.9 else f"{still:.0%}")

# %% [markdown]
# Is it a weakness of this one network? Ask the sisters: can they be tricked themselves, and what do they say to `net`'s
# images?

# %% tags=["nbval-ignore-output"]
fooled = [int((sister.predict(tricked) == 3).sum()) for sister in sisters]
rows = []
for name, sister, count in zip(("one sister", "the other"), sisters, fooled):
    own, steps = climb_each(sister, 3, fives, lambda images, log_k, s=sister: s.predict(images) == 3, lr=0.1, steps=80)
    rows.append((name, count, int((steps > 0).sum()), np.median(length(own - fives))))
table(rows, ["", "reads net's images as 3", "tricked herself, of 40", "distance"], formats={"distance": ".1f"})

# %% [markdown]
# Each of the three can be tricked, after about the same distance. But an image that has just crossed `net`'s border,
# and surely still is a 5, seldom tricks a sister, if ever: her border runs a little elsewhere. Climb further, and
# some images begin to look like a 3 to you, too; to call *those* a 3 is no mistake. So more than that cannot be said
# here. Elsewhere it has been shown: many adversarial examples **transfer** to
# networks that learned the same task.[^Szegedy and colleagues 2013 "Intriguing properties of neural networks"] That
# matters in practice, since an attacker then does not need your network.

# %% [markdown]
# ## What goes wrong: no clip
#
# Each of these climbs kept every pixel between paper and ink. Leave out that clip. The goal is now the score itself
# (layer 11, the last), and the 200 steps have a length of 0.25, as in the first climb. Two things to think of: how far
# 200 such steps can lead, and how steep the lead of a 5 was above.

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
    caption="Above, what a plot from 0 to 1 shows, and what the network saw. Below, each step up of the axis is a "
    "factor of ten.",
)

# %% [markdown]
# <details class="reveal"><summary>No such image</summary>
#
# Several times the best real digit's score, and nothing raised an error. A score is no probability: it is held down
# only by what the pixels can be, and now nothing holds them. But a pixel of −3 is less ink than none: there is no such
# image. The plot draws everything above 1 as 1 and everything below 0 as 0, so it shows an image that the climb never
# saw. (That one, cut off, is the last line of the table: noise to you, and about as much of a "3" as the best real
# digit.) **Look at the range of your numbers before you look at their picture.** The clip is a prior too, the weakest
# one: it says what a pixel can be.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
highest = free.history[-1, 0]
no_clip.confirm("more than 100" if highest > 100 else "about 50" if highest > 40 else "about 25")

# %% [markdown]
# ## What the squares could not say
#
# You began with a digit, 96 squares, and the hope that weights show what a neuron is looking for. For a neuron that
# looks at pixels that is true. One layer further the squares gave you a hint at most. Asked in other ways, the network
# told you a good deal: which strokes excite a map, how the answer reacts, what lies near the 6, and what its mistake is
# not due to.
#
# Every way of asking has its own assumption: patches the data, saliency the small step, occlusion the grey of the
# square, the map its two directions, the painted image the prior. So ask in more than one way, look for a control that
# should *not* show the effect, and ask a second network. What survives all three has at least not been refuted. In
# the wolf experiment the authors had put the snow in. Once people were shown which part of the picture the answer
# needed, most of them named the snow.

# %% [markdown]
# ## Optional: a hidden neuron
#
# <details><summary>The same for a map of C3</summary>
#
# Images can be made for every hidden neuron too.[^Owens "Understanding Neural Networks Through Deep Visualization"]
# Take five maps of C3, and in each the neuron at place (4, 4). `layer=3` is the convolution *before* its ReLU: behind a
# closed ReLU the gradient is 0, and there is no way up. Look for the stroke that all three images of a column share.
# Where the patch and the made image agree, both become more believable. Without a prior the made image excites the
# neuron more than every real patch does: the climb says what *would* excite it, among everything that you allow.
#
# </details>

# %% tags=["nbval-ignore-output"]
rows, reached = {"real patch": [strongest(m, 1)[0][0] for m in loud[:5]]}, {}
for name in ("no prior", "both"):
    climbs = [nn.maximise(net, (m, 4, 4), noise, steps=60, layer=3, prior=priors[name]) for m in loud[:5]]
    shown = "made with decay and blur" if name == "both" else "made without a prior"
    rows[shown] = [a.image[0, 0, 8:22, 8:22] for a in climbs]  # its receptive field
    reached[name] = [a.history[-1, 0] for a in climbs]
best = c3.max(axis=(0, 2, 3))[loud[:5]]
figures.show(
    figures.convnets.image_rows(rows, [f"map {m}" for m in loud[:5]]),
    alt="Five maps of C3: the real patch that excites each most, and images made for it without and with a prior.",
    caption="Largest value on real digits: " + ", ".join(f"{v:.1f}" for v in best) + "; without a prior: "
    + ", ".join(f"{v:.1f}" for v in reached["no prior"]) + ".")

# %% [markdown]
# ## Try it
#
# - Repeat the surprise with other digits and from other noise, such as `np.random.default_rng(5)`. How many steps does
#   it take, and do you ever see the digit?
#   <details><summary>Answer</summary>
#
#   A few dozen steps, and no: the end is as rough as the start. Put `sisters[0]` in the place of `net`, and you get
#   noise that convinces this sister. Once in a while a climb gets stuck, because all ways up lead out of the range from
#   0 to 1.
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
#   Nothing, up to rounding. ReLU and max pooling pass a positive factor on, and C3 takes it back. So how strong a mask
#   looks in a drawing says nothing about how important it is (exercise 10.6). Do it with a copy: `copy.deepcopy(net)`.
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
#   ConvNets learn"). That may well be so for AlexNet. But rough masks need not mean bad training: ours
#   stayed rough, and the network reads 97 of 100 digits with them.
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
# The square also covers other pixels, and their slopes need not be 0. And even for the pixel alone the slope speaks
# of small changes only: it can be 0 because another number wins the pooling window, or a ReLU is closed, and a large
# change makes this pixel win, or opens the ReLU.
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
