# ---
# jupyter:
#   course_form: 2
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 02 · Neurons and layers: what a second layer adds
#
# We want a program that reads a handwritten digit. In lesson 01 a perceptron learned to tell 4s from 9s, and then it
# failed at a table of four rows. The rows are the corners of a square, labelled by XOR, and you see them below, at the
# left. A perceptron's border is one straight line, and no straight line has the two filled corners on one side and the
# two hollow ones on the other. The cure seems plain: take several perceptrons, and feed what they compute to one more.
# **Does a further layer always make a network more powerful?**
#
# Here are two layers, with nine numbers in all. Leave out the steps for now: the first layer passes on its bare scores.
# It turns the inputs into $h_1$ and $h_2$, the second layer turns these into one output $o$, and the answer is 1 where
# $o$ is above 0.5, halfway between the two labels:
#
# $$h_1 = w_{11} x_1 + w_{21} x_2 + b_1,$$
#
# $$h_2 = w_{12} x_1 + w_{22} x_2 + b_2,$$
#
# $$o = v_1 h_1 + v_2 h_2 + c .$$
#
# Move the numbers until all four corners are right: the filled ones in the shaded part, the hollow ones outside. (The
# right half is for later.) Give it two minutes, not more.

# %% tags=["hide-input"]
# What this page uses, and two layers to move.
import numpy as np

from course_lib import data, figures
from course_lib import reference as ops
from course_lib.lesson import predict, table

figures.nine_numbers("your turn", presets=(), between=("none",), explains=False, title="Two layers: can you reach XOR?")

# %% [markdown]
# ## You will be able to
#
# - compute a neuron and a layer by hand, in a loop, and as one matrix product, with the shapes;
# - run a whole network forward, for one sample and for many;
# - say what a second layer can add and what it cannot, and build one that computes XOR;
# - name six activation functions with their formulas, and say where their slopes vanish and why that matters.

# %% [markdown]
# <details><summary>About this page</summary>
#
# Three lectures stand behind this course. **Dey** is Prof. Soumyajit Dey's lecture 56 on GPU architectures at IIT
# Kharagpur, **Owens** is lecture 11 of Prof. John Owens' EEC 289Q at UC Davis, and **Hwu** is lecture 10 of ECE 508 by
# Prof. Wen-mei Hwu and colleagues at Illinois. The network of three inputs on this page is Owens' own example, with
# his numbers; a raised number leads to the source. You need lesson 01. Reading and trying takes about 60 minutes.
#
# </details>

# %% [markdown]
# ## One neuron
#
# Perhaps you got three of the four corners, and whenever you mended the last one, another went wrong. Keep that in mind
# while we look at the parts of a network, one by one.
#
# A nerve cell collects signals from many other cells. Where two cells meet, at a **synapse**, there is a narrow gap; a
# signal crosses it strongly or weakly, and learning changes how strongly. If the signals add up to enough, the cell
# sends one of its own along its **axon**. The artificial neuron is a rough model of it: weights for the synapses, a
# sum for the cell body, and a function for the decision to fire.[^Owens "Biological Inspiration"] A neural network is
# many such neurons, usually in layers.[^Hwu "Neural Networks Model Human Neural Activity"] A brain's structure has
# evolved;[^Hwu "Brains Evolve Architecturally to Learn Faster"] that of a network is chosen by a person, and training
# only finds the weights.

# %% tags=["hide-input"]
# A nerve cell and its model.
figures.show(
    figures.neurons.cell(),
    alt="A nerve cell with synapses, cell body and axon, and below it the model: inputs x times weights w and a bias b "
    "are added to z, and a function f makes the output a of it.",
    caption="Synapses become weights, the cell body a sum, the decision to fire a function.",
)

# %% [markdown]
# In symbols, a **neuron** forms a weighted sum of its inputs, adds its bias, and applies an **activation function** $f$
# to the result:[^Dey "Building Block of a NN"]
#
# $$z = \sum_j x_j w_j + b, \qquad a = f(z).$$
#
# $z$ is the **pre-activation** and $a$ the **activation**. The perceptron is a neuron whose $f$ is a step. A step with
# rounded corners is the **sigmoid**, which climbs from 0 to 1:
#
# $$\sigma(z) = \frac{1}{1 + e^{-z}}.$$
#
# Take the inputs 0.5, 0.9, -0.3, the weights 1, -2, 2 and the bias 0.[^Owens "Inference"]

# %%
x = np.array([0.5, 0.9, -0.3])
w, b = np.array([1.0, -2.0, 2.0]), 0.0
z = x @ w + b  # 0.5 * 1 + 0.9 * -2 + -0.3 * 2 + 0
a = 1 / (1 + np.exp(-z))
print(f"z = {z:.1f}, a = {a:.2f}")

# %% [markdown]
# ## A layer
#
# A **layer** is several neurons that see the same inputs. Put the weights of each neuron into one **column** of a
# matrix: $W_{ji}$ leads from input $j$ to neuron $i$. The plainest program then has two loops, over the neurons and
# over the inputs of each:

# %%
W1 = np.array([
    [1.0, 2.0, 1.0],
    [-2.0, 1.0, -1.0],
    [2.0, -4.0, 0.0],
])  # (3 inputs, 3 neurons): the first column is the neuron above
b1 = np.zeros(3)
z = b1.copy()
for i in range(3):
    for j in range(3):
        z[i] += x[j] * W1[j, i]
print("pre-activations", z.round(1))
print("activations    ", ops.sigmoid(z).round(2))

# %% [markdown]
# These two loops are what a vector times a matrix means.[^Owens "Matrix Formulation"] With $D$ inputs and $M$ neurons:
#
# $$z = x W + b, \qquad x\,(D,), \quad W\,(D, M), \quad b\,(M,), \quad z\,(M,).$$
#
# The brackets are shapes as NumPy writes them: $(D,)$ is a list of $D$ numbers, $(D, M)$ a matrix of $D$ rows and $M$
# columns. A second layer takes the activations of the first as its inputs. The first layer is called **hidden**,
# because its outputs stay inside the network; the last one gives the answer. Running a network forward like this,
# layer by layer, is a **forward pass**. Inference is a forward pass and nothing more; training begins with one. Add
# two output neurons to the example; their weights are the columns of `W2`. Work out the shape of each line before you
# run it.

# %%
W2 = np.array([
    [-3.0, 0.0],
    [1.0, 1.0],
    [-3.0, 2.0],
])  # (3 hidden neurons, 2 outputs)
b2 = np.zeros(2)
h = ops.sigmoid(x @ W1 + b1)
o = ops.sigmoid(h @ W2 + b2)
print("hidden", h.round(2), " outputs", o.round(2))

# %% [markdown]
# Here is the same network as a drawing. Follow one neuron: the weights on the edges that enter it are its column of the
# matrix. Thick edges are large weights, dashed ones are negative, and thin grey ones are zero.

# %% tags=["hide-input"]
# The network with its numbers.
figures.show(
    figures.neurons.network(x, [W1, W2], ops.sigmoid),
    alt="A network: inputs 0.5, 0.9, -0.3; hidden activations 0.13, 0.96, 0.40; outputs 0.35 and 0.85.",
    caption="The forward pass, from left to right. In each neuron stands its activation, below it the pre-activation.",
)

# %% [markdown]
# ## Many samples at once
#
# A **batch** of $B$ samples is a matrix $X$ with one sample in each row. Nothing else changes:
#
# $$Z = X W + b, \qquad X\,(B, D), \quad W\,(D, M), \quad b\,(M,), \quad Z\,(B, M).$$

# %%
X = np.array([
    [0.5, 0.9, -0.3],
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
])  # (4 samples, 3 inputs)
print((X @ W1 + b1).round(1))

# %% [markdown]
# The first row is the sample that you know. The others are a useful trick: a sample with a single 1 shows one row of
# $W$. Each row of the result belongs to one sample, and does not depend on the others. One sample is a vector times a
# matrix, a batch is a matrix times a matrix;[^Owens "What this means computationally"] lessons 13 and 14 make both
# fast.
#
# In the library, `dense_forward` is the product and `sigmoid_forward` the activation. **Dense** means that each neuron
# sees every input. Both also return a **cache**, which lesson 04 will need on the way back; here we drop it.

# %%
z1, _ = ops.dense_forward(X[:1], W1, b1)
a1, _ = ops.sigmoid_forward(z1)
z2, _ = ops.dense_forward(a1, W2, b2)
print(ops.sigmoid_forward(z2)[0].round(2))

# %% [markdown]
# A network for digits looks just the same, only larger: 784 inputs for the 28 × 28 pixels, say 128 hidden neurons, and
# one output for each digit. The largest output is the answer. That makes 784 · 128 + 128 · 10 = 101,632 weights. Fill
# them with random numbers, so small in the first layer that each sum of pixels times weights stays near 0. (There the
# sigmoid is near 1/2.) Then let the network read 1,000 digits, 100 of each kind.

# %% tags=["hide-input"]
# A prediction.
untrained = predict(
    "Which answers does a network with such random weights give to the 1,000 digits?",
    ["each of the ten about 100 times, as if it threw dice", "all ten, and similar shapes get similar answers",
     "nearly always the same one"],
    answer="nearly always the same one",
    reveals=2,
)  # fmt: skip
untrained

# %% tags=["hide-output"]
digits = data.load_digits(seed=0)
rng = np.random.default_rng(0)
V1 = rng.normal(size=(784, 128)) / 28  # divided by the square root of the 784 terms
V2 = rng.normal(size=(128, 10))
hidden = ops.sigmoid(digits.x_test @ V1)  # (1000, 128)
answers = (hidden @ V2).argmax(axis=1)  # of ten outputs for each digit
right = answers == digits.y_test
commonest = np.bincount(answers).max()
print(f"{V1.size + V2.size:,} weights: the same answer for {commonest} of 1,000 digits, {right.mean():.0%} right")

# %% [markdown]
# <details class="reveal"><summary>A large machine that knows nothing</summary>
#
# Whatever the image, nearly all hidden activations are between 0.3 and 0.7. So the ten outputs hardly depend on the
# image, and the same one is the largest again and again. The network reads about one digit in ten: there are 100 images
# of each, and a program that always says 7 is right 100 times, too.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was counted.
untrained.confirm("nearly always the same one" if commonest > 800 else f"{commonest} times the same")

# %% [markdown]
# ## Take the activation away
#
# Better weights have to come from somewhere, and finding them is the subject of lessons 03 and 04. But do such weights
# exist at all? For XOR, at the top of the page, you found none. You had two layers there, and nothing between them: we
# had taken the steps away. How much can such a network do? Build a larger one: three layers of eight neurons, with
# random weights and no activation function. Beside it, multiply the three matrices, and use the product as a single
# layer.

# %% tags=["nbval-ignore-output"]
rng = np.random.default_rng(2)
X = rng.normal(size=(1000, 8))
A, B, C = (rng.normal(size=(8, 8)) for _ in range(3))
three_layers = ((X @ A) @ B) @ C
one_layer = X @ (A @ B @ C)
difference = np.abs(three_layers - one_layer).max() / np.abs(three_layers).max()
print(f"largest difference: {difference:.0e} of the largest value")

# %% [markdown]
# Products may be bracketed as you like: $((X A) B)\, C = X (A B C)$. The three matrices are one matrix, which can be
# worked out before any sample arrives. What is left of a difference, below $10^{-15}$, is rounding. Biases do not help,
# since two layers with biases are one layer with another bias:
#
# $$(X W_1 + b_1)\, W_2 + b_2 = X\, (W_1 W_2) + (b_1 W_2 + b_2) .$$
#
# So each output is one score of the inputs, and its border is flat: with two inputs a straight line, as in lesson 01.
# At the top you moved nine numbers, but they do the work of only three. That is why nobody gets beyond three of four.
#
# Now let the middle of the network be narrow: eight inputs, two hidden neurons, eight outputs, and again no activation.

# %% tags=["hide-input"]
# A prediction.
depth = predict(
    "Two layers, 8 inputs to 2 neurons to 8 outputs, without an activation function. Compared with one layer of 8 "
    "inputs and 8 outputs, they can compute ...",
    ["less", "exactly the same", "more"],
    answer="less",
    reveals=2,
)
depth

# %% tags=["hide-output", "hide-input"]
# Two layers with a narrow middle, as one matrix.
narrow, wide = rng.normal(size=(8, 2)), rng.normal(size=(2, 8))
product = narrow @ wide  # (8, 8), as the matrix of one layer
print("shape", product.shape, " independent rows:", np.linalg.matrix_rank(product))

# %% [markdown]
# <details class="reveal"><summary>A layer that takes something away</summary>
#
# The two layers are one 8 × 8 matrix, but not every 8 × 8 matrix can be made in this way. Only two numbers pass through
# the middle, so all its rows are mixtures of two rows. Its **rank** is at most 2, where a single layer may have 8.
# Layers without a bend between them never add anything, and a middle that is narrower than both ends takes something
# away.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
depth.confirm("less" if np.linalg.matrix_rank(product) < 8 else "exactly the same")

# %% [markdown]
# ## One bend
#
# Now put the simplest bend there is between the two layers. The **ReLU**, short for rectified linear unit, keeps what
# is above 0 and makes the rest 0: $\mathrm{relu}(z) = \max(0, z)$. Here are your nine sliders again, with a choice of
# what stands between the layers. Choose *ReLU*, and try once more for all four corners before you read on.

# %% tags=["hide-input"]
# Two layers to move, with a ReLU between them.
figures.nine_numbers(
    "your turn", presets=(), between=("none", "ReLU"), explains=False, title="The same layers, with a bend if you like"
)

# %% [markdown]
# Here is one way. Let two hidden neurons both see the sum of the inputs, one of them with the bias -1:
#
# $$h_1 = \mathrm{relu}(x_1 + x_2 + 0),$$
#
# $$h_2 = \mathrm{relu}(x_1 + x_2 - 1),$$
#
# $$o = 1\,h_1 - 2\,h_2 + 0 .$$
#
# By hand: the sum is 0, 1 or 2. So $h_1$ is 0, 1, 2, and $h_2$ is 0, 0, 1, and $o$ is 0, 1, 0. That is XOR.

# %%
x_xor, y_xor = data.truth_table("xor")
W1, b1 = np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([0.0, -1.0])
W2, b2 = np.array([[1.0], [-2.0]]), 0.0
with_relu = ops.relu(x_xor @ W1 + b1) @ W2 + b2
without = (x_xor @ W1 + b1) @ W2 + b2
table(
    zip(*x_xor.T, y_xor, with_relu[:, 0], without[:, 0], strict=True),
    ["x1", "x2", "XOR", "with ReLU", "without"],
)

# %% [markdown]
# ReLU changes just one number in this table. For the input (0, 0) the second neuron has $z = -1$, and ReLU makes it 0;
# you find it in the first row of the drawing below. Without it, the two matrices multiply to one column, the three
# numbers of a perceptron. (As in lesson 01, the drawing has the biases as weights of a third input that is always 1:
# they are the last row of $W_1$.)

# %% tags=["hide-input"]
# With ReLU, without, and as one matrix.
figures.show(
    figures.neurons.collapse(ops.add_bias_input(x_xor), np.vstack([W1, b1]), W2),
    alt="With ReLU the outputs are 0, 1, 1, 0, which is XOR; without it the two matrices equal one column -1, -1, 2 "
    "and the outputs are 2, 1, 1, 0.",
    caption="Top: two layers with ReLU give XOR. Middle: without it they do not. Bottom: they are one matrix.",
)

# %% [markdown]
# So these nine numbers solve XOR: four weights in $W_1$, two biases in $b_1$, the weights $v_1 = 1$ and $v_2 = -2$, and
# the output's bias $c = 0$. At the top no nine could. What has the bend done? Look at the figure below. On the left is
# the map of answers. On the right the same corners stand where the hidden layer has put them, at $(h_1, h_2)$. The
# second layer sees nothing but the picture on the right, and it can still only draw one straight line.
#
# Without the ReLU the corners would stand there at $(0, -1)$, $(1, 0)$ and $(2, 1)$; (0, 1) and (1, 0) share the middle
# place. These three places lie on one line, and no cut takes the middle one away from both of its neighbours. ReLU
# lifts the first to $(0, 0)$, off that line. Now one cut is enough: the two hollow corners lie on one side of it, and
# the two filled ones on the other.

# %%
figures.nine_numbers("XOR solved")

# %% [markdown]
# The plus sign is a point that you can carry across the map, with clicks or the arrow keys. Walk it along the diagonal
# from (0, 0) to (1, 1). At the right it turns a corner, just when $x_1 + x_2 - 1$, the pre-activation of $h_2$, passes
# 0 and its ReLU switches on. The dashed lines on the map are the places where a ReLU switches: along each of them it
# **folds** the plane. (One side is pressed flat. A sheet of paper, folded over, would be $|z|$.) Here both neurons see
# only the sum of the inputs, so the whole plane ends up on one broken line, the grey one at the right.

# %% [markdown]
# Now try the other buttons. *One line only* still has its ReLU, but the output no longer uses the second neuron. *No
# activation* has the nine numbers of the solution, without the fold. *Two steps* puts a step behind each hidden neuron:
# perceptrons that feed one more, the cure from the top of the page. It works, too. Why does hardly anyone use it, then?
# Press *two steps* once more, and move a weight of a hidden neuron a little. None of the four outputs changes; and if
# you go on, one of them flips all at once. A method that improves weights in small steps gets no hint of where to go.

# %% [markdown]
# ## How much can bends do?
#
# Two hidden neurons were enough for XOR. What would a hundred be good for? Take the simplest case, one input $x$
# between 0 and 1 and one output, and let the network draw a curve. A hidden neuron $\mathrm{relu}(x - t)$ is flat up to
# $t$ and climbs from there on. Multiplied by $v$ and added to the output, it changes nothing to the left of $t$, and to
# the right it changes the slope by $v$. It is a bend at $t$. So here is a recipe, without any training. Cut the
# interval into $n$ equal pieces, put a bend between neighbouring pieces, and choose each $v$ as the change of slope
# that the curve needs there. (The first neuron stands at 0 and gives the first slope.)

# %%
def network_through(curve, n):
    ends = np.linspace(0, 1, n + 1)  # of n straight pieces
    slopes = n * np.diff(curve(ends))
    W1, b1 = np.ones((1, n)), -ends[:-1]  # neuron k bends at ends[k]
    W2, b2 = np.diff(slopes, prepend=0)[:, None], curve(0)
    return lambda x: (ops.relu(x[:, None] @ W1 + b1) @ W2 + b2)[:, 0]

def wave(x):
    return 0.5 + 0.38 * np.sin(2 * np.pi * x)

# %% [markdown]
# More bends allow a better fit. How much closer do they bring us? Between two bends the network runs straight from one
# point of the curve to another, and the curve bulges away from it. Try that on a curve that is easy to compute: $x^2$.
# Between 0 and 1 the straight line has the height 1/2 in the middle, and the curve 1/4, so the line is off by 1/4. How
# far off is it in the middle between 0 and 1/2?

# %% tags=["hide-input"]
# A prediction.
bends = predict(
    "With 8 hidden neurons the network misses the wave by 0.027 where it is worst. How far off is it with 16?",
    ["about half as far", "about a quarter", "about an eighth"],
    answer="about a quarter",
    reveals=2,
)
bends

# %% tags=["hide-output"]
x = np.linspace(0, 1, 2001)
misses = {n: np.abs(network_through(wave, n)(x) - wave(x)).max() for n in (2, 4, 8, 16, 32)}
table(misses.items(), ["hidden neurons", "largest miss"], formats={"largest miss": ".4f"})

# %% [markdown]
# <details class="reveal"><summary>Twice the bends, a quarter of the miss</summary>
#
# Between 0 and 1/2 the line over $x^2$ has the height 1/8 in the middle, and the curve 1/16, so it is off by 1/16: a
# quarter of 1/4. A short piece of any smooth curve looks like a piece of such a parabola, so half the width leaves a
# quarter of the bulge. (Once the pieces are short, that is: from 4 to 8 the miss falls by a factor of 3.0, from 16 to
# 32 by 3.9.) So any smooth curve can be met as closely as you like. Ask for a miss below a thousandth, or below a
# millionth: some number of neurons gets there.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
bends.confirm("about a quarter" if 0.22 < misses[16] / misses[8] < 0.3 else f"{misses[16] / misses[8]:.2f}")

# %% [markdown]
# Equal pieces need not be the best choice: bends are worth most where the curve turns. Do it by hand. Click where the
# next bend should stand (or use the arrow keys and Enter), or let the figure put it where the miss is largest.
#
# Try that rule on the wave. Its first bend makes things worse: the miss grows from 0.38 to 0.52. Why? The network runs
# straight from bend to bend, so when it meets the top of the wave, the piece to the right of the top is lifted, too,
# and passes high over the valley. The next bend mends that. Nor is the rule the best one later on: with 5 neurons it
# misses the wave by 0.080, equal pieces miss it by 0.069, and well-placed bends by 0.035. Can you find the places?
# Watch the output weights at the bottom, and try the jump, which needs its bends close together.

# %% tags=["hide-input"]
# A curve, and bends to add.
figures.bend_by_bend("a wave")

# %% [markdown]
# With two inputs a neuron's bend is a line, the fold that you saw on the map. Folds can fence something in. Let $d_k$
# be how far a point lies beyond fold $k$, negative on the near side, and take
#
# $$o = 1 - 2 \sum_k \mathrm{relu}(d_k) .$$
#
# Within all folds the output is 1. A quarter beyond one of them it falls to 0.5, and there the answer changes: the
# border runs just outside of the folds. Near a corner two folds pull the output down together, and the border cuts the
# corner off. Three folds make a triangle with blunt tips; five already keep a disc and the ring around it apart:

# %% tags=["hide-input"]
# A disc in a ring, with one fold after another.
ring_x, ring_y = figures.bends.ring(60, np.random.default_rng(0))
shares = {n: np.mean((figures.bends.fence_output(ring_x, n) > 0.5) == ring_y) for n in (1, 2, 3, 5)}
figures.show(
    figures.bends.fences(ring_x, ring_y),
    alt="A disc of points and a ring around it. With 1, 2, 3 and 5 folds the shaded part is a half-plane, a strip, a "
    f"blunt triangle and a shape with ten corners; {', '.join(f'{v:.0%}' for v in shares.values())} of the points are "
    "right.",
    caption="Dashed: the folds, one for each hidden neuron. Shaded: the output is above 0.5, so the answer is 1.",
)

# %% [markdown]
# Nothing here depends on the wave or on the disc. With enough neurons in **one** hidden layer, a network comes as close
# as you like to any continuous function on a closed and bounded region, with any number of inputs. It was proved for
# sigmoids
# in 1989,[^Cybenko "Approximation by Superpositions of a Sigmoidal Function, 1989"] and by 1993 for every piecewise
# continuous activation function that is no polynomial.[^Leshno, Lin, Pinkus and Schocken "Multilayer Feedforward
# Networks With a Nonpolynomial Activation Function Can Approximate Any Function, 1993"]
#
# The theorem leaves two things open. How many neurons do you need? The number can grow very fast with the number of
# inputs. And where do the weights come from? You placed the bends because you saw the curve. A program sees samples,
# and must find the bends from them.
#
# Why have more layers, then? Take a tent: two ReLU neurons and an output that rises from 0 to 1 and falls back to 0.
# Feed the output into a second tent of the same kind, and that into a third.

# %%
def tent(x):
    return ops.relu(2 * x) - ops.relu(4 * x - 2)  # slope 2 up to x = 1/2, then 2 - 4 = -2

x = np.linspace(0, 1, 2**11 + 1)
heights = [tent(x)]
for _ in range(9):
    heights.append(tent(heights[-1]))  # after 1, 2, ..., 10 layers

# %% tags=["hide-input"]
# A prediction.
folded = predict(
    "One tent has 2 straight pieces, one up and one down. How many pieces do three tents have, one after the other?",
    [4, 6, 8],
    answer=8,
    reveals=3,
)
folded

# %% tags=["hide-output", "hide-input"]
# One, two and three tents.
figures.show(
    figures.bends.zigzags(x, heights[:3]),
    alt="One tent has 2 straight pieces; a tent of it has 4, up and down twice; a third has 8, up and down four times.",
    caption="From top to bottom: one, two and three layers of two ReLU neurons each.",
)

# %% tags=["hide-output", "hide-input"]
# Straight pieces, counted.
pieces = [1 + np.count_nonzero(np.diff(y, 2)) for y in heights]
table(
    [(k, 2 * k, pieces[k - 1], 2 * k + 1) for k in (1, 2, 3, 5, 10)],
    ["layers", "ReLU neurons", "straight pieces", "at most, in one layer"],
)

# %% [markdown]
# <details class="reveal"><summary>Pieces multiply</summary>
#
# The first tent goes through the whole range from 0 to 1 twice, once up and once down. So the second does all that it
# can do twice over, the third four times. In one layer every neuron adds one bend, so $n$ of them make $n + 1$ pieces
# at most. In layers the number of pieces can **multiply**.[^Montúfar, Pascanu, Cho and Bengio "On the Number of Linear
# Regions of Deep Neural Networks, 2014"] Ten layers of two neurons draw 1,024 pieces; in one layer that takes at least
# 1,023 neurons.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was counted.
folded.confirm(pieces[2])

# %% [markdown]
# ## Six activation functions
#
# You placed the bends by hand. A program finds its weights by what is called **gradient descent**, and lesson 03 is
# about it. It measures how wrong the network is, and asks of each weight: if I change it a little, how much does that
# measure change? Part of the answer is the slope $f'(z)$ of the activation function, so slopes decide which functions
# are useful. These are the ones you will meet:
#
# | name | $f(z)$ | slope $f'(z)$ |
# |---|---|---|
# | step | $1$ if $z \ge 0$, else $0$ | $0$, and none at $z = 0$ |
# | sigmoid | $\sigma(z) = 1 / (1 + e^{-z})$ | $\sigma(z)\,(1 - \sigma(z))$ |
# | tanh | $(e^z - e^{-z}) / (e^z + e^{-z})$ | $1 - f(z)^2$ |
# | ReLU | $\max(0, z)$ | $1$ if $z > 0$, else $0$ |
# | leaky ReLU | $z$ if $z > 0$, else $s z$ | $1$ if $z > 0$, else $s$ |
# | softplus | $\ln(1 + e^z)$ | $\sigma(z)$ |

# %% tags=["hide-input"]
# Six functions and their slopes.
figures.show(
    figures.activations.curves(),
    alt="Six activation functions with their slopes: the step's slope is 0 on both sides, ReLU's is 0 or 1, those of "
    "sigmoid and tanh are hills that fall to 0 on both sides, and softplus has the sigmoid as its slope.",
    caption="Solid: the function. Dashed: its slope. z goes to the right. Leaky ReLU is drawn with s = 0.1.",
)

# %% [markdown]
# The step is the perceptron's, and the sigmoid is its smooth form.[^Hwu "One Choice: Sigmoid/Logistic Function"] Tanh
# is the sigmoid stretched to run from -1 to 1: $\tanh z = 2\,\sigma(2z) - 1$. ReLU needs no exponential, and
# **softplus** is a smooth ReLU.[^Hwu "Today's Choice: ReLU"] **Leaky ReLU** multiplies negative $z$ by a small $s$
# (0.01 in our library). ReLU has a kink at 0, where it has no slope; by convention we take 0, as we do at the step's
# jump. Where there is no activation at all, we write $f(z) = z$ and call it the identity.
#
# You need not believe the formulas: slopes can be measured. Take a very short step, and divide the rise of the function
# by the length of the step:

# %%
z, eps = np.array([-2.0, -0.5, 0.3, 1.7]), 1e-6
rows = []
for name, called in figures.activations.NAMES.items():
    f, f_prime = ops.ACTIVATIONS[name]
    measured = (f(z + eps) - f(z - eps)) / (2 * eps)
    agree = np.allclose(f_prime(z), measured, atol=1e-8)
    rows.append((called, *f_prime(z), agree))
places = [f"{v:g}".replace("-", "\u2212") for v in z]
table(rows, ["slope at", *places, "agree"], align="lrrrrr", formats=dict.fromkeys(places, ".2f"))

# %% [markdown]
# A step downhill needs a slope.[^Hwu "Neural Networks Model Human Neural Activity"] Where the slope is 0, a small
# change of the weights changes nothing. For the step that is so on both sides of its jump. ReLU's slope is 0 for
# negative $z$. That does no harm as long as the neuron is above 0 for some of the samples. One that is below 0 for
# all of them is **dead**: its weights get slope 0, and only a change in the earlier layers can wake it up. (In the
# first hidden layer nothing can, for its inputs stay as they are.) Leaky ReLU is made to avoid that. The sigmoid has
# another weakness. Lesson 04 sends slopes back through the layers, where they are multiplied with each other, and
# with the weights.

# %% tags=["hide-input"]
# A prediction.
steepest = predict(
    "Ten layers of sigmoids multiply ten of their slopes. Take each as large as a sigmoid's slope can be, and leave "
    "the weights aside. How large is the product?",
    ["about a tenth", "about a thousandth", "about a millionth"],
    answer="about a millionth",
    reveals=2,
)
steepest

# %% tags=["hide-output"]
largest = ops.sigmoid_prime(np.linspace(-8, 8, 3201)).max()
at_4 = ops.sigmoid_prime(np.array(4.0))
print(f"largest slope {largest:.4f}, at 4 {at_4:.4f}")
print(f"ten of the largest multiplied: {largest**10:.1e}")

# %% [markdown]
# <details class="reveal"><summary>Why deep networks gave up the sigmoid</summary>
#
# Its slope is never above 1/4, and far from zero it hardly climbs at all: it **saturates**. Weights aside, ten of
# them bring a factor of a millionth at best, and the weights would have to be large to make up for it. A ReLU that is
# switched on brings a factor of 1. The idea was old: Fukushima used such units in
# 1969.[^Fukushima "Visual Feature Extraction by a Multilayered Network of Analog Threshold Elements, 1969"] In 2010
# Nair and Hinton gave the unit its name and showed that it learns
# well,[^Nair and Hinton "Rectified Linear Units Improve Restricted Boltzmann Machines, 2010"] in 2011 Glorot, Bordes
# and Bengio trained deep networks with it,[^Glorot "Deep Sparse Rectifier Neural Networks"] and in 2012 AlexNet was
# built with it.[^Krizhevsky "ImageNet Classification with Deep Convolutional Neural Networks"]
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
steepest.confirm("about a millionth" if 0.5e-6 < largest**10 < 2e-6 else f"{largest**10:.1e}")

# %% [markdown]
# ## What goes wrong: transposed weights
#
# In this course each neuron is a column, and $Z = X W + b$. Elsewhere it may be a row: PyTorch, for one, stores a layer
# as $W\,(M, D)$ and computes $X W^T + b$. A square matrix in a file does not show which, and sooner or later you will
# use one the wrong way round. Suppose that the two layers of our first network come from such a file:

# %%
rows_1 = np.array([[1.0, -2.0, 2.0], [2.0, 1.0, -4.0], [1.0, -1.0, 0.0]])  # a row for each neuron
rows_2 = np.array([[-3.0, 1.0, -3.0], [0.0, 1.0, 2.0]])
X = np.array([[0.5, 0.9, -0.3]])  # one sample

# %% [markdown]
# Write down the shapes before you decide.

# %% tags=["hide-input"]
# A prediction.
turned = predict(
    "You forget to transpose both, and compute `X @ rows_1` in the first layer and `h @ rows_2` in the second. Which "
    "of the two products raises an error?",
    ["both", "only the first", "only the second", "neither"],
    answer="only the second",
    reveals=2,
)
turned

# %% tags=["hide-output", "hide-input"]
# Both layers, the wrong way round.
z = X @ rows_1
print("first layer: ", z.round(1), " should be", (X @ rows_1.T).round(1))
raised = False
try:
    ops.dense_forward(ops.sigmoid(z), rows_2)
except ValueError as error:
    raised = True
    print("second layer:", error)

# %% [markdown]
# <details class="reveal"><summary>The shapes fit, and the numbers do not</summary>
#
# The second matrix is not square, so its shape gives the mistake away, and the message names the fix. The first is
# square, fits both ways, and nothing complains: its numbers are wrong, and not even the right ones in another order.
# Only a comparison with numbers from elsewhere finds this, such as a sample worked out by hand. Two habits help. Test
# with layers that are not square, so that a wrong transposition cannot pass. And test with weights that are not
# symmetric: with $W = W^T$ the mistake is invisible.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was computed.
wrong, due = X @ rows_1, X @ rows_1.T
turned.confirm("only the second" if raised and not np.allclose(np.sort(wrong), np.sort(due)) else "another")

# %% [markdown]
# ## Does a further layer always help?
#
# That was the question at the top of the page, and the answer is no. Without a bend between them two layers are one,
# and a narrow middle even takes something away; nine numbers could not do what three cannot. With a bend between them,
# nine numbers compute XOR. One hidden layer, if it is wide enough, comes as close as you like to any continuous
# function on a closed and bounded region, and further layers reach some functions with far fewer neurons.
#
# So for digits, too, there is something to search for. The network with random weights read one in ten. In lesson 06
# one of the same size, with ReLU and trained, reads about 95 % of new ones. How does a program find a hundred
# thousand useful weights? It needs a measure of how wrong a network is, and that is where lesson 03 begins.

# %% [markdown]
# ## Try it
#
# - In the figure with nine numbers, choose *your turn* with ReLU, and find a solution of XOR that is not the one shown.
#   <details><summary>Answer</summary>
#
#   Set $w_{11} = w_{22} = 1$ and $w_{12} = w_{21} = -1$, all biases to 0, and $v_1 = v_2 = 1$. Then the output is
#   $\mathrm{relu}(x_1 - x_2) + \mathrm{relu}(x_2 - x_1) = |x_1 - x_2|$. In the hidden space (0, 0) and (1, 1) fall in
#   one place, and the other two on different axes.
#
#   </details>
# - In a new cell, replace `ops.relu` in the XOR network by `ops.leaky_relu` with `negative_slope=0.1`. Then try the
#   slopes 0.5 and 1. At which of the three is it a perceptron again, and why?
#   <details><summary>Answer</summary>
#
#   The only number below 0 is the -1 of the input (0, 0). It becomes $-s$, so that output is $2s$: 0.2, then 1, then 2.
#   Above $s = 0.25$ it counts as a 1. At $s = 1$ leaky ReLU is the identity, and the network is a perceptron.
#
#   </details>

# %% [markdown]
# - Build the three layers again with `np.tanh` between them, and with inputs of size 0.001:
#   `X = 0.001 * rng.normal(size=(1000, 8))`. How well does one matrix match now?
#   <details><summary>Answer</summary>
#
#   To within about one part in a thousand, mostly better. Near 0 tanh is almost the straight line $f(z) = z$. A bend
#   helps only where the numbers reach it, so the size of the weights matters too.
#
#   </details>

# %% [markdown]
# <details><summary>For those who know the lectures</summary>
#
# Owens writes the weights of a neuron as a row, $z = W x$; Dey has one column for each neuron, and writes a network as
# $Z = X W$, $A = f(Z)$, $G = A W'$, $O = f(G)$. One is the transpose of the other: $(W x)^T = x^T W^T$. We follow Dey,
# and Owens' example stands here with its matrices transposed.
#
# Owens' slide "Activation Functions" says that they are applied to the inputs at each neuron, with a note that his
# reference says outputs. They are applied to the weighted sum, as in his own example: $f(w \cdot x)$ is 0.13 for his
# first neuron; the sum of the squashed inputs would be 0.05.
#
# Hwu's slides date ReLU's rise to 2017; the papers named above are older. Dey names the step, `heaviside`, without a
# formula; that it is 1 at $z = 0$ is our choice. Leaky ReLU comes from the negative slope in Dey's kernel. Tanh is in
# none of the three lectures.
#
# </details>

# %% [markdown]
# ## Check yourself
#
# **1.** A network has 784 inputs, layers of 128 and 64 neurons, and 10 outputs, without activation functions and
# without biases. How many weights does it hold? How many weights does the smallest single layer need that computes the
# same?
#
# <details><summary>Answer</summary>
#
# It holds 784 · 128 + 128 · 64 + 64 · 10 = 109,184 weights. The product of the three matrices has shape (784, 10), so
# one layer with 7,840 weights computes the same.
#
# </details>

# %% [markdown]
# **2.** A ReLU neuron has a negative pre-activation for every sample of the training set. What does it put out? What is
# its slope, and what does that mean for gradient descent? Which activation functions avoid it?
#
# <details><summary>Answer</summary>
#
# It puts out 0 for every sample, and its slope is 0 for every sample. A small change of its weights changes nothing, so
# gradient descent does not move them: the neuron is dead, as long as the earlier layers do not change its inputs. Leaky
# ReLU keeps the slope $s$ below zero, so the neuron can come back. The slopes of softplus, sigmoid and tanh are small
# far below zero but never 0.
#
# </details>

# %% [markdown]
# **3.** You receive a file with a (64, 64) weight matrix, and `X @ W` runs without an error. How do you find out
# whether its neurons are rows or columns, if you also have one input and the right output of the layer? When could even
# that fail to tell?
#
# <details><summary>Answer</summary>
#
# Compute `X @ W + b` and `X @ W.T + b`, and compare both with the right pre-activations; one of them matches. It cannot
# tell if the matrix is symmetric, and then it does not matter; nor if the input is all zeros, since then only the bias
# is left. After a ReLU both may be nothing but zeros, so compare before the activation if you can.
#
# </details>
