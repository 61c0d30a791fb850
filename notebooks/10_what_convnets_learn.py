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
# # 10 · What convolutional networks learn: asking a trained network
#
# LeNet-5 reads about 97 of 100 test digits. What do its neurons look for? Many people believe that you can read what a
# neuron wants from its weights. On this page you try, then you watch the neurons at work, and in the end you let the
# network paint what it wants to see.
#
# **O** is Prof. Owens' EEC 289Q lecture 11 at UC Davis, **H** is ECE 508 lecture 10 by Prof. Hwu and colleagues at
# Illinois. A note such as (O, "Visualizing what ConvNets learn") names the lecture and the slide. The page takes about
# 45 minutes, the six optional parts 20 more.

# %% [markdown]
# ## You will be able to
#
# - look at masks and feature maps, and say what they do and do not tell;
# - find the real patches that excite a map most;
# - build an image that maximises a neuron, by gradient ascent on the input;
# - say what a prior adds to such an image, and what the clip is for.

# %% [markdown]
# ## Why
#
# A network that works may work for reasons you would not accept. To find out, you have to ask it.
#
# **Write down a guess.** You will search for an image that LeNet-5 calls a "3" with 99.9 %, starting from random grey
# pixels. What will it look like?
#
# (a) like a handwritten 3 (b) like a blurred 3 (c) like random grey pixels

# %%
import copy

import numpy as np

from course_lib import checks, data, figures, nn
from course_lib import reference as ops

# %% [markdown]
# The digits, padded to 32 × 32, and the recipe of lesson 09. `copy.deepcopy` makes an independent copy of the network,
# here before its first step. You question one network, `net`. Its four **sisters** differ from it only in their random
# numbers: the start, and the order of the samples. They are asked for a second opinion later.

# %%
digits = data.load_digits(seed=0)

def padded(rows):
    return np.pad(rows.reshape(-1, 1, 28, 28), ((0, 0), (0, 0), (2, 2), (2, 2)))

def trained(seed):
    rng = np.random.default_rng(seed)
    net = nn.models.lenet5(rng=rng)
    before = copy.deepcopy(net)
    for epochs, lr in ((5, 0.03), (2, 0.003)):
        nn.train(net, (x_train, digits.y_train), epochs=epochs, batch_size=64, lr=lr, momentum=0.9, rng=rng)
    return before, net

x_train, x_test, labels = padded(digits.x_train), padded(digits.x_test), digits.y_test
before, net = trained(0)
sisters = [trained(seed)[1] for seed in (1, 2, 3, 4)]

# %% [markdown]
# All five must read well before it makes sense to question them:

# %% tags=["nbval-ignore-output"]
accuracies = [nn.accuracy(network.predict(x_test), labels) for network in (net, *sisters)]
print("test digits read rightly: net", f"{accuracies[0]:.1%}, sisters", *(f"{a:.1%}" for a in accuracies[1:]))
assert min(accuracies) >= 0.955

# %% [markdown]
# H calls the output of a convolution **feature maps**. The library returns the output of every layer. The number at
# the left is the layer's number in the rest of the page: `net[3]` is C3.

# %%
found = nn.feature_maps(net, x_test)
for number, (name, values) in enumerate(found):
    print(f"{number:2} {name:24} {values.shape}")

# %% [markdown]
# ## Where the belief is true: one neuron that looks at pixels
#
# Take a neuron that looks at four pixels, $z = w \cdot x$ with $w = (2, -1, 0, 3)$. **By hand**: which pixels in
# [0, 1] make $z$ largest? Ink where $w > 0$, none where $w < 0$: (1, 0, any, 1), and $z = 5$. Its gradient to the
# input says the same, $\partial z / \partial x = w$, at whatever image you ask:

# %%
neuron = nn.Sequential(nn.Dense(4, 1, bias=False, rng=np.random.default_rng(0), dtype=np.float64))
neuron[0].params["w"][:, 0] = 2, -1, 0, 3
for pixels in ([0, 0, 0, 0], [0.2, 0.9, 0.5, 0.1]):
    neuron.forward(np.array([pixels]))
    print("at", pixels, "the gradient is", neuron.backward(np.ones((1, 1)))[0])

# %% [markdown]
# So for a neuron that looks at pixels, the weights are the picture of what it wants. The first layer, C1, consists of
# such neurons: six masks of 5 × 5.
#
# ## The first layer: it can be looked at
#
# O's slide shows masks of AlexNet, a large network for photographs, and points out how smooth those of its first layer
# are (O, "Visualizing what ConvNets learn"). Here are yours, before and after training.

# %% tags=["nbval-ignore-output"]
masks_before, masks = before[0].params["w"][:, 0], net[0].params["w"][:, 0]
figures.show(
    figures.convnets.mask_rows({"random\nstart": masks_before, "after\ntraining": masks}, title="C1: six masks"),
    alt="Each trained mask of C1 still looks like its random start: most squares keep their sign and strength.",
    caption="Purple squares ask for ink, orange ones for paper. Compare the two rows.",
)

# %% [markdown]
# It is tempting to see an edge or a stroke in the lower row. But look at the upper one. **Predict** two numbers: the
# correlation between the 150 weights before and after (0 no relation, 1 the same up to scale), and the test accuracy
# when the untrained masks are put back into the trained network: 10 %, 50 % or more than 80 %?

# %% tags=["nbval-ignore-output"]
correlation = np.corrcoef(masks_before.ravel(), masks.ravel())[0, 1]
patched = copy.deepcopy(net)
patched[0].params["w"][...] = before[0].params["w"]
without = nn.accuracy(patched.predict(x_test), labels)
print(f"correlation {correlation:.2f}, accuracy {accuracies[0]:.1%}, with the random masks {without:.1%}")

# %% [markdown]
# A correlation of about 0.9, and with the random masks more than 80 % are still right. Training did change the masks,
# and without that change the network makes clearly more mistakes. But most of what you *see* in a mask are the random
# numbers it started from, and the layers behind have learned to use six nearly random masks.

# %%
assert 0.7 < correlation < 0.98
assert 0.8 < without < accuracies[0]

# %% [markdown]
# ## The second layer: can it be read?
#
# C3 has 16 output maps, and each looks at all six maps of S2: 96 masks. O says that the second layer's weights are
# less easy to interpret (O, same slide). **Predict**: choose a column and write down which stroke that map looks for.

# %% tags=["nbval-ignore-output"]
w3 = net[3].params["w"]
figures.show(
    figures.convnets.mask_table(w3, title=f"C3: {w3.shape[0] * w3.shape[1]} masks"),
    alt="All 96 masks of C3, six for each of 16 output maps; they look like random squares.",
    caption="One column for each output map. A purple square asks for a large value in that input map.",
)

# %% [markdown]
# A weight here does not speak of ink. It says "it helps if mask 4 fits, two places to the left", and mask 4 is hardly
# readable itself. So stop reading weights and watch what they do: here are a 3 and a 5, first with C1's six maps, then
# with seven of C3's sixteen, those with the largest values. (The ReLU behind each convolution keeps the positive part.)

# %% tags=["nbval-ignore-output"]
pair = [int(np.flatnonzero(labels == digit)[0]) for digit in (3, 5)]
strong = sorted(np.argsort(-found[4][1].max(axis=(0, 2, 3)))[:7].tolist())
for layer, maps in ((1, None), (4, strong)):
    figures.show(
        figures.convnets.maps_of(x_test[pair, 0], found[layer][1][pair], maps=maps),
        alt=f"Maps of a 3 and a 5 behind layer {layer}: "
        + ("the digits can be recognised in all of them." if layer == 1 else "a few dark spots, no digits."),
        caption="C1: each map is a version of the digit." if layer == 1 else "C3: marks at some places, no digit.",
    )

# %% [markdown]
# C1's maps are versions of the digit. In C3's you see *where* something was found, and not *what*.
#
# ## Ask the data: what excites a map most?
#
# There is an honest way to find the "what". Take all test digits, look where a map is largest, and cut out the pixels
# it saw there. How many? C1 sees 5 pixels in a row. S2 adds a neighbour: 6. C3's mask spans five S2 values, two pixels
# apart: $6 + 4 \cdot 2 = 14$. Place $(h, v)$ sees rows $2h$ to $2h + 13$, columns $2v$ to $2v + 13$: its **receptive
# field**. (`argsort` of the negative sorts downwards; `divmod` turns a position from 0 to 99 into row and column.)

# %%
c3 = found[3][1]

def strongest(m, count=8):
    best = c3[:, m].max(axis=(1, 2))
    images = np.argsort(-best)[:count]
    places = [divmod(int(c3[i, m].argmax()), 10) for i in images]
    patches = [x_test[i, 0, 2 * h : 2 * h + 14, 2 * v : 2 * v + 14] for i, (h, v) in zip(images, places)]
    return np.array(patches), best[images], labels[images]

# %% [markdown]
# The six maps with the largest values, two at a time. Compare the two rows: first their masks, then their patches. Is
# your column among them?

# %% tags=["nbval-ignore-output"]
loud = np.argsort(-c3.max(axis=(0, 2, 3)))[:6].tolist()
frames = []
for two in (loud[:2], loud[2:4], loud[4:]):
    patches, values, cut_from = zip(*(strongest(m) for m in two))
    frames.append(figures.convnets.excited(w3[two], patches, values, cut_from, two))
figures.stepper(frames, title="Masks that nobody can read, patches that everybody can", static=0)

# %% [markdown]
# From one map to the next, the masks look alike and the patches do not. Within a map, the eight patches share a
# stroke, cut from different digits. So most maps look for strokes, and a digit is recognised from the mixture. Mind
# the method's limit: the patches show what a map likes *most*, out of what the data happen to contain.
#
# ## An image that maximises a neuron
#
# O's other way of looking needs no data. An image is made by computer so that one neuron becomes as active as
# possible, and O reads it as what the neuron "wants to see" (O, "Understanding Neural Networks Through Deep
# Visualization"). It is lesson 03 with the roles exchanged: the weights stay, and **the image moves**.
#
# For the single neuron above, the gradient was $w$ everywhere. For a network it changes with the image, because the
# image decides which ReLUs are open and which pixel wins a pooling window. **A network has no one picture of what it
# wants; it has a direction at every point** (an optional part measures how different they are). So go in small steps,
# and ask for the direction again at each. The start is noise:

# %%
noise = np.random.default_rng(0).uniform(0, 1, (1, 1, 32, 32)).astype(np.float32)

# %% [markdown]
# ### The loop
#
# Training steps the *weights* against the gradient, to lower the loss $E = -\ln k_c$, where $k_c$ is the probability
# of the right class $c$ (lesson 06). Now take $c = 3$ and step the *image*: down in $E$ is up in $k_3$. Every step has
# the same length $\eta$, and a pixel must stay between paper (0) and ink (1):
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
# ### The surprise
#
# `on_step` is called after each step; a true answer ends the climb. What does the network say about the noise itself,
# and how many steps is it to 99.9 %? **Look at your guess**, then run.

# %% tags=["nbval-ignore-output"]
def sure(step, x, log_k):
    return log_k[0] > np.log(0.999)

ascent = nn.maximise(net, 3, noise, steps=300, lr=0.25, on_step=sure)
three, k_start, k_end = ascent.image, *np.exp(ascent.history[[0, -1], 0])
figures.show(
    figures.convnets.before_after(net, noise[0, 0], three[0, 0], 3, steps=ascent.steps),
    alt=f"Noise that the network calls a 3 with {k_start:.1%}, and noise that it calls a 3 with {k_end:.2%}; "
    "between them lie blots without the form of a 3.",
    caption="From left to right: the start, the end, end minus start, and the ten probabilities of both.",
)

# %% [markdown]
# (c): noise before and noise after, perhaps with a short dark stroke. Is it only our eyes? Measure the **roughness**:
# the mean difference between neighbours in a row plus that in a column. And is it only this network? Ask the sisters.

# %% tags=["nbval-ignore-output"]
def roughness(x):
    return np.abs(np.diff(x, axis=-1)).mean() + np.abs(np.diff(x, axis=-2)).mean()

print(f"roughness: noise {roughness(noise):.2f}, this '3' {roughness(three):.2f},",
      f"real digits {roughness(x_test):.2f}")
real = ops.softmax(net.forward(x_test)).max(axis=1)
print(f"real digits that get less than 99.9 % from the network: {(real < 0.999).mean():.0%}")
second = np.array([ops.softmax(sister.forward(three))[0] for sister in sisters])
for k in second:
    print(f"a sister gives the '3' {k[3]:.0%}; her answer is {k.argmax()} with {k.max():.0%}")

# %% [markdown]
# The network is surer of this image than of about a quarter of the real digits. No sister comes near 99.9 %: most of
# the certainty is this one network's own.
#
# Why is it possible? Training asked to tell 3s from other *digits*; no loss ever punished an answer about noise. And
# softmax must share out 100 % among ten digits, whatever it is shown: there is no answer "none of these". In a space
# of 1,024 pixels nearly every point is not a digit, and there the answers are left over from what helped elsewhere.
# **99.9 % means "rather a 3 than another digit", and not "this is a 3".**

# %%
assert k_start < 0.9 < 0.999 < k_end
assert roughness(three) > 4 * roughness(x_test)
assert 0.1 < (real < 0.999).mean() < 0.5
assert second[:, 3].max() < 0.99

# %% [markdown]
# ## A prior
#
# The authors whom O cites say that the key to good pictures is a good **prior** for natural images (O, same slide): an
# assumption about images, made before the network is asked. Here are two for digits, applied after every step:
#
# - **decay**, $x \leftarrow (1 - r)\,x$: most of the paper is white;
# - **blur**, $x \leftarrow (1 - s)\,x + s \cdot$ (mean of the four neighbours): neighbours are alike.
#
# Six digits, from the same noise, 120 steps of length 0.5, with four assumptions. **Predict** for each row whether you
# will be able to read it. (`lambda` writes a function without a name, here one made of two.)

# %% tags=["nbval-ignore-output"]
priors = {
    "no prior": None,
    "decay": nn.decay(0.02),
    "blur": nn.blur(0.1),
    "blur and\ndecay": lambda x: nn.decay(0.02)(nn.blur(0.1)(x)),
}
six, starts = np.arange(2, 8), np.repeat(noise, 6, axis=0)  # one start for each digit
painted = {name: nn.maximise(net, six, starts, steps=120, lr=0.5, prior=prior) for name, prior in priors.items()}
lowest = min(np.exp(a.history[-1].min()) for a in painted.values())
lowest = np.floor(1000 * lowest) / 1000  # rounded down
figures.show(
    figures.convnets.image_rows({name: a.image[:, 0] for name, a in painted.items()}, [f"'{d}'" for d in six]),
    alt=f"24 images that the network reads as wanted with at least {lowest:.1%}: strokes in noise without a prior, "
    "thin strokes with decay, soft strokes on grey with blur, strokes on paper with both.",
    caption=f"Each column is one digit. The network is sure of all 24, with at least {lowest:.1%}.",
)

# %% [markdown]
# 120 steps go far beyond 99.9 %, and now even the first row shows strokes: something about digits is in there. The
# prior clears away the rest. Which row shows "what the network wants"? All four satisfy it; only our assumption
# differs.
#
# Ask the sisters again, now about five starts for each of the ten digits, and once more about images stopped at
# 99.9 %. **Predict**: which of these convince the sisters most?

# %% tags=["nbval-ignore-output"]
fifty = np.random.default_rng(1).uniform(0, 1, (50, 1, 32, 32)).astype(np.float32)
wanted = np.tile(np.arange(10), 5)
until = [nn.maximise(net, d, x[None], steps=400, on_step=sure).image for d, x in zip(wanted, fifty)]
shown = {"the start": fifty, "until 99.9 %": np.concatenate(until)}
for name, prior in priors.items():
    shown[name] = nn.maximise(net, wanted, fifty, steps=120, lr=0.5, prior=prior).image
agree = {name: np.array([nn.accuracy(sister.predict(x), wanted) for sister in sisters])
         for name, x in shown.items()}
print("as wanted, each sister:    mean    roughness")
for name, share in agree.items():
    print(f"{' '.join(name.split()):15}", *(f"{a:4.0%}" for a in share), f"{share.mean():6.0%}",
          f"{roughness(shown[name]):8.2f}")

# %% [markdown]
# Guessing is right in 10 %. Stopped at 99.9 %, the images convince the sisters in about half of the cases or fewer:
# part of what the network likes, they like too, because they learned from the same digits; the rest is its own. More
# steps help, and any prior helps more. Which prior hardly matters: among the three, the means differ by a few per cent,
# no more than the sisters differ among themselves.

# %%
assert lowest > 0.9
for name in ("decay", "blur", "blur and\ndecay"):
    assert agree[name].mean() > agree["no prior"].mean() > agree["until 99.9 %"].mean()

# %% [markdown]
# ### Whose picture is it?
#
# A prior is *our* knowledge, put in by us. To see how much of it comes out again, put in something false: every image
# is symmetric, left and right alike. A 0 or an 8 may be so, but not the six digits below. **Predict**: does the
# network refuse?

# %% tags=["nbval-ignore-output"]
def symmetric(x):
    return nn.decay(0.02)((x + x[..., ::-1]) / 2)  # ::-1 reverses the columns

false = nn.maximise(net, six, starts, steps=120, lr=0.5, prior=symmetric)
least = np.floor(1000 * np.exp(false.history[-1].min())) / 1000
figures.show(
    figures.convnets.image_rows({"symmetric\nand decay": false.image[:, 0]}, [f"'{d}'" for d in six]),
    alt=f"Six symmetric figures like masks and insects, each read as wanted with at least {least:.1%}.",
    caption=f"Each is read as the digit above it, with at least {least:.1%}.",
)

# %% [markdown]
# It does not refuse. Had you seen only this row, you might have concluded that the network believes in symmetric
# digits. The picture says something about the network *and* something about the prior, and the picture alone does not
# tell which is which.

# %%
assert least > 0.9

# %% [markdown]
# Change the assumptions yourself: how little of each is enough for you to read the digit? When does the prior erase
# it? With both at 0, `steps` walks along the climb of the surprise, in larger steps.

# %% tags=["nbval-ignore-output"]
def paint(digit, decay, blur, steps):
    a = nn.maximise(net, digit, noise, steps=steps, lr=0.5, prior=lambda x: nn.decay(decay)(nn.blur(blur)(x)))
    return figures.convnets.painted(net, a.image[0, 0], digit)

figures.explore(paint, title="Which assumption makes the picture?", quick=False, digit=(0, 9, 1, 3),
                decay=(0.0, 0.05, 0.005, 0.02), blur=(0.0, 0.4, 0.05, 0.1), steps=(10, 200, 10, 120))

# %% [markdown]
# ## What goes wrong: no clip
#
# Leave out the clip. The goal is now the score itself (layer 11, the last), which has no upper end. 400 steps with the
# clip and without. **Predict** the score without it, given that the best of 1,000 real digits gets about 25.

# %% tags=["nbval-ignore-output"]
inside = nn.maximise(net, 3, noise, steps=400, layer=11)
free = nn.maximise(net, 3, noise, steps=400, layer=11, clip=None)
top = net.forward(x_test)[:, 3].max()
cut = net.forward(np.clip(free.image, 0, 1))[0, 3]
print(f"score of '3': best real digit {top:.0f}, with the clip {inside.history[-1, 0]:.0f},",
      f"without {free.history[-1, 0]:.0f}, cut off afterwards {cut:.0f}")
figures.show(
    figures.convnets.outside(free.image[0, 0], x_test),
    alt=f"Drawn from 0 to 1 the image looks like black and white spots; its values go from {free.image.min():.0f} "
    f"to {free.image.max():.0f}, real pixels from 0 to 1.",
    caption="Left: what a plot from 0 to 1 shows. Middle and right: what the network saw. At the right, each line "
    "upwards is ten times more.",
)

# %% [markdown]
# More than ten times the best real digit's score, and nothing raised an error. But a pixel of -5 is less ink than
# none: there is no such image. The left plot draws everything above 1 as 1 and everything below 0 as 0, so it shows an
# image that the network never saw. **Look at the range of your numbers before you look at their picture.** The clip is
# a prior too, the weakest one: it says what a pixel can be.

# %%
assert free.history[-1, 0] > 5 * top
assert free.image.min() < -5
assert free.image.max() > 5

# %% [markdown]
# ## Where the lecture is loose
#
# - O takes AlexNet's smooth first-layer masks as a sign that training has converged (O, "Visualizing what ConvNets
#   learn"). The converse is not true, that rough masks mean bad training: yours reads 97 % with masks that look
#   nearly random. (The first optional part measures it.)
# - O concludes from what a neuron "wants to see" to what it has learned to look for (O, "Understanding Neural Networks
#   Through Deep Visualization"). The noise was wanted too, and nobody taught it. The slide's last remark, that the
#   prior is the key, is the more careful one.

# %% [markdown]
# ## Optional: how rough are the masks?
#
# Here is a measure of roughness that does not depend on a mask's strength: 1 stands for independent random numbers,
# and the less, the smoother. A **ramp**, which rises evenly from left to right, shows what smooth means.

# %% tags=["nbval-ignore-output"]
def relative_roughness(w):
    squares = np.mean(np.diff(w, axis=-1) ** 2) + np.mean(np.diff(w, axis=-2) ** 2)
    return np.sqrt(squares) / (2 * np.std(w))  # independent numbers: 1

ramp = np.tile(np.arange(5.0) - 2, (5, 1))
print(f"ramp {relative_roughness(ramp):.2f}, random start {relative_roughness(masks_before):.2f},",
      f"trained C1 {relative_roughness(masks):.2f}")

# %% [markdown]
# The trained masks are only a little smoother than random numbers, and the network reads 97 % all the same.
#
# ## Optional: the weights have no scale of their own
#
# Make mask 0 and its bias 8 times as strong, and divide by 8 what C3 does with that map. ReLU and max pooling pass a
# factor on. **Predict**: what changes in the output?

# %%
assert relative_roughness(masks) > 0.7  # of the part before
scaled = copy.deepcopy(net)
for name in ("w", "b"):
    scaled[0].params[name][0] *= 8
scaled[3].params["w"][:, 0] /= 8
one, other = net.forward(x_test), scaled.forward(x_test)
checks.check_close(other, one, rtol=1e-4, atol=1e-4)
print(f"{one.size:,} scores, largest difference {np.abs(other - one).max():.3f}")

# %% [markdown]
# Nothing. The drawing of mask 0 would now outshine all others, and the network is the same function. A strong mask is
# not an important one: what a map means is decided by the layers behind it.
#
# ## Optional: how many digits drive a map?
#
# For each of C3's 16 maps: how many different digits do its eight top patches come from, and how many digits drive it,
# on average, to more than half of what its favourite digit does?

# %% tags=["nbval-ignore-output"]
peak = found[4][1].max(axis=(2, 3))
by_digit = np.array([peak[labels == digit].mean(axis=0) for digit in range(10)])
sources = [len(set(strongest(m)[2])) for m in range(16)]
shared = (by_digit > by_digit.max(axis=0) / 2).sum(axis=0)
print("different digits among the eight:     ", *(f"{n:2}" for n in sources))
print("digits with more than half the effect:", *(f"{n:2}" for n in shared))
assert np.mean(sources) > 2
assert np.median(shared) >= 6

# %% [markdown]
# Most maps answer to most digits. Where the second line has a 1, 2 or 3, you have found an exception: a map that
# answers mainly to that many digits.
#
# ## Optional: ten 3s, ten wishes
#
# Take ten real 3s, ask each for the gradient of the score of "3", and compare directions. The **cosine** of two
# gradients is 1 for the same direction, 0 for a right angle. **Predict** the average: 1, 0.9 or below 0.5?

# %% tags=["nbval-ignore-output"]
def cosines_of(v):
    v = v / np.linalg.norm(v, axis=1, keepdims=True)
    return (v @ v.T)[np.triu_indices(len(v), 1)]  # each pair once

dout = np.zeros_like(net.forward(x_test[labels == 3][:10]))
dout[:, 3] = 1
cosines = cosines_of(net.backward(dout).reshape(10, -1))
random = cosines_of(np.random.default_rng(0).standard_normal((10, 1024)))
print(f"45 pairs of 3s: mean cosine {cosines.mean():.2f}, from {cosines.min():.2f} to {cosines.max():.2f}")
print(f"random directions: mean {random.mean():.2f}, from {random.min():.2f} to {random.max():.2f}")

# %% [markdown]
# Below 0.5: some 0.2 to 0.35. Random directions have about 0, so the ten wishes share something. But most of each wish
# belongs to its own image.

# %%
assert 0.1 < cosines.mean() < 0.5

# %% [markdown]
# ## Optional: a hidden neuron
#
# The same can be done for every hidden neuron (O, "Understanding Neural Networks Through Deep Visualization"). Take
# five maps of C3, the neuron at place (4, 4). `layer=3` is the convolution, *before* its ReLU: behind a closed ReLU
# the gradient is 0, and there is no way up.

# %% tags=["nbval-ignore-output"]
rows, reached = {"best real\npatch": [strongest(m, 1)[0][0] for m in loud[:5]]}, {}
for name in ("no prior", "blur and\ndecay"):
    climbs = [nn.maximise(net, (m, 4, 4), noise, steps=80, layer=3, prior=priors[name]) for m in loud[:5]]
    rows[name] = [a.image[0, 0, 8:22, 8:22] for a in climbs]  # its receptive field
    reached[name] = np.array([a.history[-1, 0] for a in climbs])
    print(f"{' '.join(name.split()):21}", reached[name].round(1))
best = c3.max(axis=(0, 2, 3))[loud[:5]]
print(f"{'best of 1,000 digits':21}", best.round(1))
figures.show(
    figures.convnets.image_rows(rows, [f"map {m}" for m in loud[:5]]),
    alt="Five maps of C3: the real patch that excites each most, and images made for it without and with a prior.",
    caption="Each column is one map. Look for the stroke that all three images share.",
)

# %% [markdown]
# In most columns, real patch and made image agree on a stroke, which makes both more believable. Without a prior the
# made image exceeds every real patch: the ascent says what *would* excite a neuron, among everything you allow. With
# the prior most stay below the best real patch, because the decay takes ink away at every step: such an image is a
# compromise between the neuron and our assumption, and no maximum.
#
# ## Optional: from a real 5 to a "3"
#
# Noise is one thing. Start the same ascent from real 5s that the network reads rightly, in steps of length 0.1, and
# stop each when it is read as a 3. Such an image is called an **adversarial example**. **Predict** how far it is from
# its 5. For comparison: a 5 has length 9 (the root of its summed squares), and the nearest training 3 lies 7 away.

# %% tags=["nbval-ignore-output"]
def length(x):
    return np.linalg.norm(x.reshape(len(x), -1), axis=1)

assert (reached["no prior"] > best).all()
fives = x_test[(labels == 5) & (net.predict(x_test) == 5)][:50]
tricked = np.concatenate([
    nn.maximise(net, 3, x[None], steps=100, lr=0.1, on_step=lambda step, x, log_k: net.predict(x)[0] == 3).image
    for x in fives])
distance, real_threes = length(tricked - fives), x_train[digits.y_train == 3]
nearest = np.array([length(real_threes - x).min() for x in fives])
print(f"median of {len(fives)}: distance {np.median(distance):.1f}; length of a 5 {np.median(length(fives)):.1f};",
      f"from a 5 to the nearest training 3 {np.median(nearest):.1f}")

# %% [markdown]
# All of them became a "3", typically at less than a quarter of the distance to a real 3. Is the network that sensitive
# to any change? Go as far in 20 random directions from each 5. The clip takes away part of a random change, so its
# length is set again after the clip, until it fits.

# %% tags=["nbval-ignore-output"]
rng, still = np.random.default_rng(0), []
for _ in range(20):
    change = rng.standard_normal(fives.shape)
    for _ in range(20):
        change *= (distance / length(np.clip(fives + change, 0, 1) - fives))[:, None, None, None]
    jittered = np.clip(fives + change, 0, 1).astype(np.float32)
    still.append((net.predict(jittered) == 5).mean())
print(f"{20 * len(fives):,} random changes, at least {(length(jittered - fives) / distance).min():.3f} as long:",
      f"{np.mean(still):.1%} are still read as 5")
sees = np.array([[(sister.predict(tricked) == digit).mean() for digit in (5, 3)] for sister in sisters])
print("the sisters read the tricked ones as 5:", *(f"{a:.0%}" for a in sees[:, 0]),
      " as 3:", *(f"{a:.0%}" for a in sees[:, 1]))
figures.show(
    figures.convnets.image_rows(
        {"read as 5": fives[:8, 0], "read as 3": tricked[:8, 0], "random,\nas far": jittered[:8, 0]}),
    alt="Eight 5s, the same 5s changed a little and read as 3, and changed as much at random.",
    caption="To you all three rows are 5s, the middle one with some grey smears. To the network, that one is a 3.",
)

# %% [markdown]
# Random changes of this length hardly ever matter; the gradient's direction does it for every 5. And it is a weakness
# of this one network: to the sisters nearly all of them are still 5s. The reason is that of the noise. Between a 5 and
# a 3 lie images that no training example ever spoke about.

# %%
assert (net.predict(tricked) == 3).all()
assert np.median(distance) < np.median(nearest) / 3
assert np.mean(still) > 0.95
assert sees[:, 0].min() > 0.7

# %% [markdown]
# ## Try it
#
# - Start the surprise from a blank image, `0 * noise`, and from `0.5 + 0 * noise`. How many steps, and what do you see?
# - Invent a prior: up and down alike, or ink only in the middle. Which rows do the sisters believe?
# - Look at a sister's C3 maps: set `found = nn.feature_maps(sisters[0], x_test)`, then run the cells from
#   `c3 = found[3][1]` on. Is one of her maps like one of yours? At the same number?

# %% [markdown]
# ## Check yourself
#
# **1.** A colleague shows you a beautiful image that maximises the neuron "lung disease" of a network for X-ray
# pictures, and says: "It clearly looks for the ribs' shadows." Which two questions do you ask first?
#
# <details><summary>Answer</summary>
#
# Which prior was used, and what comes out with another one: the ribs may have been put in by the prior, as the
# symmetry was here. And which real pictures excite the neuron most: if the data and the made image agree, the claim
# gains weight.
#
# </details>

# %% [markdown]
# **2.** Why can the weights of one neuron on pixels be read as a picture, those of C1 in principle too, but not those
# of C3?
#
# <details><summary>Answer</summary>
#
# For a neuron on pixels the gradient to the image is its weights, at every image, and C1's neurons are such. A weight
# of C3 multiplies a value of a pooled feature map. Its effect on pixels goes through six masks, ReLU and pooling, and
# which of those are open depends on the image.
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
