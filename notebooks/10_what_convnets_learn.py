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
# LeNet-5 reads 97 of 100 test digits. What do its neurons look for? Many people expect the answer in the weights.
# On this page you look there, then at the feature maps, then you let the network paint what it wants to see.
#
# **O** is Prof. Owens' EEC 289Q lecture 11 at UC Davis, **H** is ECE 508 lecture 10 by Prof. Hwu and colleagues at
# Illinois. A note such as (O, "Visualizing what ConvNets learn") names the lecture and the slide. The page takes about
# 40 minutes, the optional part 5 more.

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
# A network that works may work for reasons you would not accept. To find out, you have to ask it, and some ways of
# asking are better than others.
#
# **Write down a guess.** We will search for an image that LeNet-5 calls a "3" with 99.9 %, starting from random grey
# pixels. What will it look like?
#
# (a) like a handwritten 3 (b) like a blurred 3 (c) like random grey pixels

# %%
import copy

import numpy as np

from course_lib import checks, data, figures, nn
from course_lib import reference as ops

# %% [markdown]
# The digits, padded to 32 × 32, and the recipe of lesson 09: five epochs at 0.03, two at 0.003. `copy.deepcopy` makes
# an independent copy of the network, here before its first step. There will be two networks, equal but for their
# random start: the one we question, and a **sister**, who is asked for a second opinion later.

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
_, sister = trained(1)

# %% [markdown]
# Both must read well before it makes sense to question them:

# %% tags=["nbval-ignore-output"]
for name, network in (("net", net), ("sister", sister)):
    accuracy = nn.accuracy(network.predict(x_test), labels)
    print(f"{name}: {accuracy:.1%} of the test digits right")
    assert accuracy >= 0.955

# %% [markdown]
# ## Where the belief comes from: one neuron
#
# Take a neuron that looks at four pixels, $z = w \cdot x$ with $w = (2, -1, 0, 3)$. Its gradient to the input is
# $\partial z / \partial x = w$. **By hand**: which pixels in [0, 1] make $z$ largest? Ink where $w > 0$, none where
# $w < 0$: (1, 0, any, 1), and $z = 5$. `backward` returns the same wish, at whatever image you ask:

# %%
neuron = nn.Sequential(nn.Dense(4, 1, bias=False, rng=np.random.default_rng(0), dtype=np.float64))
neuron[0].params["w"][:, 0] = 2, -1, 0, 3
for pixels in ([0, 0, 0, 0], [0.2, 0.9, 0.5, 0.1]):
    neuron.forward(np.array([pixels]))
    wish = neuron.backward(np.ones((1, 1)))
    print("at", pixels, "the gradient is", wish[0])
    assert (wish[0] == [2, -1, 0, 3]).all()

# %% [markdown]
# So for one neuron on pixels, the weights are the picture of what it wants. The first layer, C1, consists of such
# neurons: six masks of 5 × 5.
#
# ## The first layer: it can be looked at
#
# O shows masks of a trained AlexNet and points out how smooth those of the first layer are (O, "Visualizing what
# ConvNets learn"). Here are yours, before and after training.

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
# when the untrained masks are put back into the trained network: 10 %, 50 % or more than 85 %?

# %% tags=["nbval-ignore-output"]
correlation = np.corrcoef(masks_before.ravel(), masks.ravel())[0, 1]
patched = copy.deepcopy(net)
patched[0].params["w"][...] = before[0].params["w"]
without = nn.accuracy(patched.predict(x_test), labels)
print(f"correlation {correlation:.2f}, accuracy with the random masks {without:.1%}")
assert 0.7 < correlation < 0.98
assert without > 0.85

# %% [markdown]
# About 0.9, and far more than 85 % are still right. Most of what you see in these masks are the dice of
# `default_rng(0)`. Training changed them a little, and taught the layers behind to use six nearly random masks.
#
# **The weights have no scale of their own either.** Make mask 0 and its bias 8 times as strong, and divide by 8 what
# C3 does with that map. ReLU and max pooling pass a factor on. What changes in the output?

# %%
scaled = copy.deepcopy(net)
for name in ("w", "b"):
    scaled[0].params[name][0] *= 8
scaled[3].params["w"][:, 0] /= 8
one, other = net.forward(x_test), scaled.forward(x_test)
checks.check_close(other, one, rtol=1e-4, atol=1e-4)
print(f"{one.size:,} scores, largest difference {np.abs(other - one).max():.3f}")

# %% [markdown]
# The drawing of mask 0 would now outshine all others, and the network is the same function. A strong mask is not an
# important one: what a map means is decided by the layers behind it.
#
# ## The second layer: can it be read?
#
# C3 has 16 output maps, and each looks at all six maps of S2: 96 masks. O says that the second layer's weights are
# less easy to interpret (O, "Visualizing what ConvNets learn"). Choose a column and say what that map looks for.

# %% tags=["nbval-ignore-output"]
w3 = net[3].params["w"]
figures.show(
    figures.convnets.mask_table(w3, title=f"C3: {w3.shape[0] * w3.shape[1]} masks"),
    alt="All 96 masks of C3, six for each of 16 output maps; they look like random squares.",
    caption="One column for each output map. A purple square asks for ink in a map, not for ink on paper.",
)

# %% [markdown]
# Nobody can. A weight here does not ask for ink. It asks for "mask 4 fits, two places to the left", and mask 4 is
# hardly readable itself. So stop reading weights and watch what they do.
#
# ## Feature maps of two digits
#
# H calls the output of a convolution **feature maps**. The library returns those of every layer; a ReLU keeps the
# positive part.

# %%
found = nn.feature_maps(net, x_test)
for name, values in found[:6]:
    print(f"{name:20} {values.shape}")

# %% [markdown]
# A 3 and a 5: first C1's six maps, then seven of C3's sixteen, those with the largest values. Each map has one scale
# for both digits, so that you can compare within a column.

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
# field**. The gradient confirms it: outside it must be 0.

# %%
h, v = 4, 3
dout = np.zeros_like(found[3][1][:50])
dout[:, :, h, v] = 1
x = x_test[:50]
for layer in net[:4]:
    x = layer.forward(x)
for layer in reversed(net[:4]):
    dout = layer.backward(dout)
rows, columns = np.nonzero(dout.any(axis=(0, 1)))
print("rows", rows.min(), "to", rows.max(), " columns", columns.min(), "to", columns.max())
assert (rows.min(), rows.max(), columns.min(), columns.max()) == (2 * h, 2 * h + 13, 2 * v, 2 * v + 13)

# %% [markdown]
# Now the search: the largest value of map $m$ in each image, the eight images with the largest ones, and the window at
# that place. (`argsort` of the negative sorts downwards; `divmod` turns a position in a row of 100 numbers into row
# and column.)

# %%
c3 = found[3][1]

def strongest(m, k=8):
    best = c3[:, m].max(axis=(1, 2))
    images = np.argsort(-best)[:k]
    places = [divmod(int(c3[i, m].argmax()), 10) for i in images]
    patches = [x_test[i, 0, 2 * h : 2 * h + 14, 2 * v : 2 * v + 14] for i, (h, v) in zip(images, places)]
    return np.array(patches), best[images], labels[images]

# %% [markdown]
# Step through the five maps with the largest values. **Predict** from the six masks on the left what stands on the
# right, before you look there.

# %% tags=["nbval-ignore-output"]
loud = np.argsort(-c3.max(axis=(0, 2, 3)))[:5].tolist()
frames = [figures.convnets.excited(w3[m], *strongest(m), m) for m in loud]
figures.stepper(frames, title="Six masks that nobody can read, eight patches that everybody can", static=0)

# %% [markdown]
# The masks look alike, the patches do not. A bow that is open to the left, a slanted stroke, a flat line at the
# bottom: strokes, and not digits. Count how many different digits the eight patches come from, and how many digits
# drive a map to more than half of what its favourite digit does:

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
# Most maps answer to most digits. A digit is recognised from the mixture. And mind the method's limit: eight top
# patches show what a map likes *most*, out of what the data happen to contain.
#
# ## An image that maximises a neuron
#
# O's second way needs no data. An image is made by computer so that one neuron becomes as active as possible, and O
# reads it as what the neuron "wants to see" (O, "Understanding Neural Networks Through Deep Visualization"). It is
# lesson 03 with the roles exchanged: the weights stay, **the image moves**, and uphill.
#
# For the single neuron above, the gradient was $w$ everywhere. Is it the same for a whole network? Take ten real 3s,
# ask each for the gradient of the score of "3", and compare directions. The **cosine** of two gradients is 1 for the
# same direction, 0 for a right angle. **Predict** the average: 1, 0.9 or below 0.5?

# %% tags=["nbval-ignore-output"]
threes = x_test[labels == 3][:10]
dout = np.zeros_like(net.forward(threes))
dout[:, 3] = 1
wishes = net.backward(dout).reshape(10, -1)
wishes /= np.linalg.norm(wishes, axis=1, keepdims=True)
cosines = (wishes @ wishes.T)[np.triu_indices(10, 1)]  # each pair once
print(f"45 pairs of 3s: mean cosine {cosines.mean():.2f}, from {cosines.min():.2f} to {cosines.max():.2f}")
assert cosines.mean() < 0.6

# %% [markdown]
# Ten 3s, ten different wishes. Which ReLUs are open and which pixel wins a pooling window depends on the image. **A
# network has no one picture of what it wants; it has a direction at every point.**
#
# ### The loop
#
# Training computes the loss for the label, runs backward, and steps *weights* against the gradient. With the label 3
# and a step of the *image* instead, the probability $k_3$ of "3" rises. Every step has the same length $\eta$, and a
# pixel must stay between paper (0) and ink (1):
#
# $$x \leftarrow \mathrm{clip}\Big(x - \eta\, \frac{dx}{\Vert dx \Vert},\ 0,\ 1\Big), \qquad E = -\ln k_3, \quad
# dx = \frac{\partial E}{\partial x}, \quad x: (1, 1, 32, 32)$$

# %%
def climb(x, digit, steps, lr=0.25):
    for _ in range(steps):
        _, cache = ops.softmax_cross_entropy_forward(net.forward(x), np.array([digit]))
        dx = net.backward(ops.softmax_cross_entropy_backward(cache))
        x = np.clip(x - lr * dx / np.linalg.norm(dx), 0, 1)
    return x

noise = np.random.default_rng(0).uniform(0, 1, (1, 1, 32, 32)).astype(np.float32)

# %% [markdown]
# The library's `nn.maximise` does the same and keeps the history of its goal, $\ln k_3$. Five steps of both:

# %%
by_library = nn.maximise(net, 3, noise, steps=5, lr=0.25)
checks.check_close(by_library.image, climb(noise, 3, 5), rtol=1e-3, atol=1e-3)
print("the loop and nn.maximise agree after", by_library.steps, "steps; history:", by_library.history.shape)

# %% [markdown]
# ### The surprise
#
# What does the network say about the noise itself, and how many steps to 99.9 %? `on_step` is called after each step
# and ends the climb when it returns true; it also keeps the images. **Look at your guess**, then run.

# %% tags=["nbval-ignore-output"]
images = [noise[0, 0]]

def sure_enough(step, x, log_k):
    images.append(x[0, 0].copy())
    return log_k[0] > np.log(0.999)

ascent = nn.maximise(net, 3, noise, steps=300, on_step=sure_enough)
k = np.exp(ascent.history[:, 0])
real = ops.softmax(net.forward(x_test)).max(axis=1)
print(f"'3': {k[0]:.1%} for the noise, {k[-1]:.2%} after {ascent.steps} steps")
print(f"real digits that get less than 99.9 % for their answer: {(real < 0.999).mean():.0%}")
assert k[-1] > 0.999
assert k[0] < 0.9
assert 0.1 < (real < 0.999).mean() < 0.5

# %% [markdown]
# Step through the climb: the image, what has changed in it, and the ten probabilities. At which step do you begin to
# see a 3?

# %% tags=["nbval-ignore-output"]
picked = sorted({round(i) for i in np.linspace(0, ascent.steps, min(5, ascent.steps + 1))})
figures.convnets.climb(net, [images[i] for i in picked], picked, 3)

# %% [markdown]
# (c): noise before and noise after, with a short dark stroke at most. The network is surer of it than of a quarter of
# the real digits. Is it only our eyes? Measure the **roughness**: the mean difference between neighbours in a row plus
# that in a column.

# %% tags=["nbval-ignore-output"]
def roughness(x):
    return np.abs(np.diff(x, axis=-1)).mean() + np.abs(np.diff(x, axis=-2)).mean()

change = np.sqrt(np.mean((ascent.image - noise) ** 2))
print(f"roughness: noise {roughness(noise):.2f}, this '3' {roughness(ascent.image):.2f},",
      f"real digits {roughness(x_test):.2f}; typical change of a pixel {change:.2f}")
assert roughness(ascent.image) > 4 * roughness(x_test)
assert change < 0.3

# %% [markdown]
# Why is that possible? The network has only ever seen digits. Training asked it to tell 3s from other *digits*; no
# loss ever punished an answer about noise. And softmax must share out 100 % among ten digits, whatever it is shown
# (lesson 09). In a space of 1,024 pixels nearly every point is not a digit, and there the answers are left over from
# what helped elsewhere. **99.9 % means "rather a 3 than another digit", and not "this is a 3".**
#
# ## A prior
#
# The authors whom O cites say that the key to good pictures is a good **prior** for natural images (O, same slide): an
# assumption about images, made before the network is asked. Here are two for digits, applied after every step:
#
# - **decay**, $x \leftarrow (1 - r)\,x$: most of the paper is white;
# - **blur**, $x \leftarrow (1 - s)\,x + s \cdot$ (mean of the four neighbours): neighbours are alike.

# %%
dot = np.zeros((1, 1, 3, 3))
dot[0, 0, 1, 1] = 1.0
print(nn.decay(0.1)(dot)[0, 0])
print(nn.blur(0.4)(dot)[0, 0])

# %% [markdown]
# All ten digits, from the same noise, 120 steps each, with four assumptions. **Predict** for each row whether you will
# be able to read it. (A function made of two: `lambda` writes a function without a name.)

# %% tags=["nbval-ignore-output"]
priors = {
    "no prior": None,
    "decay": nn.decay(0.02),
    "blur": nn.blur(0.1),
    "blur and\ndecay": lambda x: nn.decay(0.02)(nn.blur(0.1)(x)),
}
ten, starts = np.arange(10), np.repeat(noise, 10, axis=0)  # one start for each digit
painted = {name: nn.maximise(net, ten, starts, steps=120, lr=0.3, prior=p) for name, p in priors.items()}
lowest = min(np.exp(a.history[-1].min()) for a in painted.values())
assert lowest > 0.9
figures.show(
    figures.convnets.image_rows({name: a.image[:, 0] for name, a in painted.items()}, [f"'{d}'" for d in ten]),
    alt=f"Forty images that the network reads as wanted with at least {lowest:.1%}: strokes in noise without a "
    "prior, thin strokes with decay, soft strokes on grey with blur, strokes on paper with both.",
    caption="Each column is one digit. The network is sure of all forty; the last row is the one to read.",
)

# %% [markdown]
# 120 steps go far beyond 99.9 %, and even the first row shows strokes: something about digits is in there. The prior
# clears away the rest. Same network, same neurons, same start; only the assumption differs. Which row shows "what the
# network wants"? All four satisfy it.
#
# For another opinion, ask the sister, with five starts for each digit. **Predict**: which row convinces her most?

# %% tags=["nbval-ignore-output"]
fifty = np.random.default_rng(1).uniform(0, 1, (50, 1, 32, 32)).astype(np.float32)
wanted = np.tile(ten, 5)
agrees = {}
for name, prior in priors.items():
    x = nn.maximise(net, wanted, fifty, steps=120, lr=0.3, prior=prior).image
    agrees[name] = nn.accuracy(sister.predict(x), wanted)
    print(f"{' '.join(name.split()):15} the sister reads {agrees[name]:.0%} as wanted, roughness {roughness(x):.2f}")
assert all(agrees[name] > agrees["no prior"] for name in priors if name != "no prior")

# %% [markdown]
# Each assumption convinces her more than none. What one network alone likes, the sister does not share; strokes they
# share. With a prior, more of the picture is about digits and less about one network's accidents.
#
# ### Whose picture is it?
#
# A prior is *our* knowledge, put in by us. To see how much of it comes out again, put in something false: every image
# is symmetric, left and right alike. Nobody writes a symmetric 3. **Predict**: does the network refuse?

# %% tags=["nbval-ignore-output"]
def symmetric(x):
    return nn.decay(0.02)((x + x[..., ::-1]) / 2)  # ::-1 reverses the columns

false = nn.maximise(net, ten, starts, steps=120, lr=0.3, prior=symmetric)
sure = np.exp(false.history[-1])
print("probability of the wanted digit:", np.round(sure, 3))
assert sure.min() > 0.9
figures.show(
    figures.convnets.image_rows(
        {"symmetric\nand decay": false.image[:, 0], "blur and\ndecay": painted["blur and\ndecay"].image[:, 0]},
        [f"'{d}'" for d in ten]),
    alt=f"Ten symmetric figures like masks and insects, each read as wanted with at least {sure.min():.1%}.",
    caption="Above the false assumption, below the good one. The network is sure of both.",
)

# %% [markdown]
# It does not refuse. Had you seen only the upper row, you might have concluded that the network believes in symmetric
# digits. The pretty picture says something about the network *and* something about the prior, and the picture alone
# does not tell which is which.
#
# Change the assumptions yourself: how little of each is enough for you to read the digit? And when does the prior
# erase it?

# %% tags=["nbval-ignore-output"]
def paint(digit, decay, blur, steps):
    a = nn.maximise(net, digit, noise, steps=steps, lr=0.3, prior=lambda x: nn.decay(decay)(nn.blur(blur)(x)))
    return figures.convnets.climb_frames(net, [noise[0, 0], a.image[0, 0]], [0, steps], digit)[1]

figures.explore(paint, title="Which assumption makes the picture?", quick=False, digit=(0, 9, 1, 3),
                decay=(0.0, 0.05, 0.005, 0.02), blur=(0.0, 0.4, 0.05, 0.1), steps=(10, 200, 10, 120))

# %% [markdown]
# ### A hidden neuron
#
# The same can be done for every hidden neuron (O, same slide). Take C3, the five maps with the largest values, the
# neuron at place (4, 4). `layer=3` is the convolution, *before* its ReLU: behind a closed ReLU the gradient is 0, and
# there is no way up.

# %% tags=["nbval-ignore-output"]
rows, reached = {"best real\npatch": [strongest(m, 1)[0][0] for m in loud]}, {}
for name in ("no prior", "blur and\ndecay"):
    climbs = [nn.maximise(net, (m, 4, 4), noise, steps=80, layer=3, prior=priors[name]) for m in loud]
    rows[name] = [a.image[0, 0, 8:22, 8:22] for a in climbs]  # its receptive field
    reached[name] = np.array([a.history[-1, 0] for a in climbs])
    print(f"{' '.join(name.split()):21}", reached[name].round(1))
best = c3.max(axis=(0, 2, 3))[loud]
print(f"{'best of 1,000 digits':21}", best.round(1))
assert (reached["no prior"] > best).all()
figures.show(
    figures.convnets.image_rows(rows, [f"map {m}" for m in loud]),
    alt="Five maps of C3: the real patch that excites each most, and images made for it without and with a prior.",
    caption="Each column is one map. Look for the stroke that all three images share.",
)

# %% [markdown]
# In most columns, real patch and made image agree on a stroke, which makes both more believable. Without a prior the
# made image exceeds every real patch. The data say what excites a neuron *among digits*; the ascent says what *would*,
# among everything you allow.
#
# ## What goes wrong: no clip
#
# Leave out the clip. The goal is now the score itself (layer 11, the last), which has no upper end. 400 steps with the
# clip and without. **Predict** the score without it, given that the best of 1,000 real digits gets about 25.

# %% tags=["nbval-ignore-output"]
inside = nn.maximise(net, 3, noise, steps=400, layer=11)
free = nn.maximise(net, 3, noise, steps=400, layer=11, clip=None)
top = net.forward(x_test)[:, 3].max()
print(f"score of '3': best real digit {top:.0f}, with the clip {inside.history[-1, 0]:.0f},",
      f"without {free.history[-1, 0]:.0f}")
print(f"pixels: real digits {x_test.min():.0f} to {x_test.max():.0f},",
      f"without the clip {free.image.min():.1f} to {free.image.max():.1f}")
assert free.history[-1, 0] > 5 * top
assert free.image.min() < -3
assert free.image.max() > 4

# %% [markdown]
# A score of more than ten times the best real digit's. But a pixel of -10 is less ink than none: there is no such
# image. Nothing raised an error, and the plot of it looks harmless:

# %% tags=["nbval-ignore-output"]
left_out = np.mean((free.image < 0) | (free.image > 1))
cut = net.forward(np.clip(free.image, 0, 1))[0, 3]
print(f"{left_out:.0%} of the pixels lie outside 0..1; cut off afterwards, the score is {cut:.0f}")
assert left_out > 0.3
assert cut < free.history[-1, 0] / 4
figures.show(
    figures.convnets.outside(free.image[0, 0], x_test),
    alt=f"Drawn from 0 to 1 the image looks like black and white spots; its values go from {free.image.min():.0f} "
    f"to {free.image.max():.0f}.",
    caption="The left plot cuts off what it cannot show. The middle and the right one show what the network saw.",
)

# %% [markdown]
# The plot on the left drew 25 as 1 and -10 as 0, so it showed an image that the network never saw. **Look at the range
# of your numbers before you look at their picture.** The clip is a prior too, the weakest one: it says what a pixel
# can be.
#
# ## Where the lecture is loose
#
# - O takes AlexNet's smooth first-layer masks as a sign that training has converged (O, "Visualizing what ConvNets
#   learn"). Do not take home the converse, that rough masks mean bad training: yours reads 97 % with masks nearly as
#   rough as random ones. In the numbers below, 1 stands for independent random numbers.
# - O concludes from what a neuron "wants to see" to what it has learned to look for (O, "Understanding Neural Networks
#   Through Deep Visualization"). The noise was wanted too, and nobody taught it. The slide's last remark, that the
#   prior is the key, is the more careful one.

# %% tags=["nbval-ignore-output"]
def relative_roughness(w):
    squares = np.mean(np.diff(w, axis=-1) ** 2) + np.mean(np.diff(w, axis=-2) ** 2)
    return np.sqrt(squares) / (2 * np.std(w))  # independent numbers: 1

ramp = np.tile(np.arange(5.0) - 2, (5, 1))
print(f"ramp {relative_roughness(ramp):.2f}, random start {relative_roughness(masks_before):.2f},",
      f"trained C1 {relative_roughness(masks):.2f}")
assert relative_roughness(masks) > 0.7

# %% [markdown]
# ## Optional: from a real 5 to a "3"
#
# Noise is one thing. Start the same ascent from real 5s that the network reads rightly, in steps of length 0.1, and
# stop each when it is read as a 3. Such an image is called an **adversarial example**. **Predict** the length of the
# way. For comparison: a 5 has length 9 (the root of its summed squares), and the nearest training 3 lies 7 away.

# %% tags=["nbval-ignore-output"]
fives = x_test[(labels == 5) & (net.predict(x_test) == 5)][:50]
tricked, done = fives.copy(), np.zeros(len(fives), dtype=bool)

def keep_first(step, x, log_k):
    new = (net.predict(x) == 3) & ~done
    tricked[new] = x[new]
    done[new] = True
    return done.all()

nn.maximise(net, 3, fives, steps=100, lr=0.1, on_step=keep_first)
print(f"{done.mean():.0%} of {len(fives)} became a '3'")
assert done.all()

# %% [markdown]
# How far did they go, and how far is it to the nearest real 3?

# %% tags=["nbval-ignore-output"]
def length(x):
    return np.linalg.norm(x.reshape(len(x), -1), axis=1)

way, real_threes = length(tricked - fives), x_train[digits.y_train == 3]
nearest = np.array([length(real_threes - x).min() for x in fives])
print(f"median way {np.median(way):.1f}, mean change of a pixel {np.abs(tricked - fives).mean():.3f}")
print(f"length of a 5 {np.median(length(fives)):.1f}, from it to the nearest training 3 {np.median(nearest):.1f}")
assert np.median(way) < np.median(nearest) / 2

# %% [markdown]
# A way of about 1.6, a fifth of the way to a real 3. Is the network that sensitive to any change? Go the same way in
# a random direction:

# %% tags=["nbval-ignore-output"]
random_way = np.random.default_rng(0).standard_normal(fives.shape)
random_way *= (way / length(random_way))[:, None, None, None]
jittered = np.clip(fives + random_way, 0, 1).astype(np.float32)
still = (net.predict(jittered) == 5).mean()
sees = [(sister.predict(tricked) == digit).mean() for digit in (5, 3)]
print(f"random changes of the same length: {still:.0%} are still read as 5")
print(f"the sister reads {sees[0]:.0%} of the tricked ones as 5, {sees[1]:.0%} as 3")
assert still > 0.9
figures.show(
    figures.convnets.image_rows(
        {"read as 5": fives[:8, 0], "read as 3": tricked[:8, 0], "random,\nsame way": jittered[:8, 0]}),
    alt=f"Eight 5s, the same 5s changed a little and read as 3, and changed as much at random; {still:.0%} of those "
    "stay 5.",
    caption="To you all three rows are 5s. Only the middle one is a 3 to the network.",
)

# %% [markdown]
# One direction among a thousand does it, and the gradient knows which. The reason is that of the noise: between a 5
# and a 3 lie images that no training example ever spoke about.

# %% [markdown]
# ## Try it
#
# - Start the surprise from a blank image, `0 * noise`, and from `0.5 + 0 * noise`. How many steps, and what do you see?
# - Invent a prior: up and down alike, or ink only in the middle. Which rows does the sister believe?
# - Train a third network with `trained(2)` and step through its C3 maps. Is one of them like one of yours? At the
#   same number?

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
# which of those are open depends on the image. And the scale of a map can be moved between C1 and C3 without any
# change of the function.
#
# </details>

# %% [markdown]
# **3.** Someone proposes to reject bad inputs: "If the largest probability is below 99.9 %, say: not a digit." Name an
# image from this page that passes, a kind that would be rejected wrongly, and an output that could do better.
#
# <details><summary>Answer</summary>
#
# The noise passes, it has 99.9 %. A quarter of the real digits get less, and would be rejected. Better: an output that
# can say "none of these", such as the classic network's distances with their constant $j$ (lesson 09), or training that
# also shows images that are no digits. Neither closes every gap: the ascent can be run against them as well.
#
# </details>
