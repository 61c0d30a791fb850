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
# # 02 · Neurons and layers: why the bend matters
#
# We want a program that reads a handwritten digit. In lesson 01 a perceptron came part of the way, and then four points
# stopped it. They are the corners of XOR, and you see them below, at the left. A perceptron's border is one straight
# line, and no straight line has the two filled corners on one side and the two hollow ones on the other. The cure
# seems plain: take several perceptrons, and let another one decide from what they say. Many people believe that **more
# layers always make a network more powerful**.
#
# Here are two layers, with nine numbers in all. Move them until all four corners are right: the filled ones in the
# shaded part, the hollow ones outside. (The right half is for later.) Give it two minutes, not more.

# %% tags=["hide-input"]
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
# - name six activation functions, and say where their slopes vanish and why that matters;
# - show that layers without an activation function are one single layer, and solve XOR with one that has it.

# %% [markdown]
# <details><summary>About this page</summary>
#
# Three lectures stand behind this course. **Dey** is Prof. Soumyajit Dey's lecture 56 on GPU architectures at IIT
# Kharagpur, **Owens** is lecture 11 of Prof. John Owens' EEC 289Q at UC Davis, and **Hwu** is lecture 10 of ECE 508 by
# Prof. Wen-mei Hwu and colleagues at Illinois. The network of three inputs on this page is Owens' own example, with
# his numbers; a raised number leads to the source. You need lesson 01. Reading and trying takes about 50 minutes.
#
# </details>

# %% [markdown]
# ## One neuron
#
# You probably got three of the four, and never the last one. Was it bad luck? Keep the question in mind while we look
# at the parts of a network, one by one.
#
# A nerve cell collects signals from many other cells. Where two cells meet, at a **synapse**, a signal arrives
# strongly or weakly, and learning changes how strongly. If enough comes together, the cell sends a signal of its own
# along its **axon**. The artificial neuron is a rough model of that: weights for the synapses, a sum for the cell body,
# and a function for the decision to fire.[^Owens "Biological Inspiration"] What we call a neural network is many such
# simple classifiers, usually in layers.[^Hwu "Neural Networks Model Human Neural Activity"]

# %% tags=["hide-input"]
# A nerve cell and its model.
figures.show(
    figures.neurons.cell(),
    alt="A nerve cell with synapses, cell body and axon, and below it the model: inputs x times weights w are added "
    "to z, and a function f makes the output a of it.",
    caption="Synapses become weights, the cell body a sum, the decision to fire a function.",
)

# %% [markdown]
# The likeness goes one step further, and then ends. Over a very long time, brains have evolved a structure that learns
# what matters to us quickly, such as language and the behaviour of things.[^Hwu "Brains Evolve Architecturally to Learn
# Faster"] Our networks do not grow theirs: a person chooses how many layers and neurons there are, and training only
# finds the weights.
#
# In symbols, a **neuron** forms a weighted sum of its inputs, and applies an **activation function** $f$ to
# it:[^Dey "Building Block of a NN"]
#
# $$z = \sum_j w_j x_j, \qquad a = f(z).$$
#
# $z$ is the **pre-activation** and $a$ the **activation**. (The figure above adds a bias $b$ to each sum. The example
# that follows has none; a bias is the weight of an input that is always 1, as in lesson 01.) The perceptron is a neuron
# whose $f$ is a step. A step with rounded corners is the **sigmoid**, which climbs from 0 to 1:
#
# $$\sigma(z) = \frac{1}{1 + e^{-z}}.$$
#
# Take the weights 1, -2, 2 and the inputs 0.5, 0.9, -0.3.[^Owens "Inference"]

# %%
x = np.array([0.5, 0.9, -0.3])
z = 0.5 * 1 + 0.9 * -2 + -0.3 * 2
a = 1 / (1 + np.exp(-z))
print(f"z = {z:.1f}, a = {a:.2f}")

# %% [markdown]
# ## A layer
#
# A **layer** is several neurons that see the same inputs. Write the weights of each neuron as one row of a matrix. The
# plainest program then has two loops, over the neurons and over the inputs of each:

# %%
hidden = np.array([
    [1.0, -2.0, 2.0],
    [2.0, 1.0, -4.0],
    [1.0, -1.0, 0.0],
])  # (3 neurons, 3 inputs)
z = np.zeros(3)
for i in range(3):
    for j in range(3):
        z[i] += hidden[i, j] * x[j]
print("pre-activations", z.round(1))
print("activations    ", ops.sigmoid(z).round(2))

# %% [markdown]
# These two loops are what a matrix times a vector means.[^Owens "Matrix Formulation"] With $M$ neurons and $D$ inputs:
#
# $$z = W x, \qquad W\,(M, D), \quad x\,(D,), \quad z\,(M,).$$
#
# A second layer takes the activations of the first as its inputs. The first layer is called **hidden**, because its
# outputs stay inside the network; the last one gives the answer. Running a network forward like this, layer by layer,
# is a **forward pass**. A trained network that answers does nothing else, and that is called **inference**. Two output
# neurons, with the weights -3, 1, -3 and 0, 1, 2, make the example complete. Work out the shape of each line before you
# run it.

# %%
output = np.array([
    [-3.0, 1.0, -3.0],
    [0.0, 1.0, 2.0],
])  # (2 neurons, 3 inputs)
h = ops.sigmoid(hidden @ x)
o = ops.sigmoid(output @ h)
print("hidden", h.round(2), " outputs", o.round(2))

# %% [markdown]
# Here is the same network as a drawing. Follow one neuron: the weights on the edges that enter it are its row of the
# matrix. Thick edges are large weights, dashed ones are negative, and thin grey ones are zero.

# %% tags=["hide-input"]
# The network with its numbers.
figures.show(
    figures.neurons.network(x, [hidden, output], ops.sigmoid),
    alt="A network: inputs 0.5, 0.9, -0.3; hidden activations 0.13, 0.96, 0.40; outputs 0.35 and 0.85.",
    caption="Inference from left to right. In each neuron stands its activation, below it the pre-activation.",
)

# %% [markdown]
# ## Many samples at once
#
# Now to the digits. An image of 28 × 28 pixels is a row of 784 numbers, so it is one sample with 784 inputs. A
# **batch** of $B$ samples is a matrix $X$ with one sample in each row. Every sample has to meet every neuron. Both
# are rows, so one of the matrices must be turned: $Z = X W^T$.
#
# Since the turned matrix is the one that is needed, our library stores it that way round from the beginning, with one
# **column** for each neuron. From here on so do we, and the formula loses its $T$:
#
# $$Z = X W, \qquad X\,(B, D), \quad W\,(D, M), \quad Z\,(B, M).$$

# %%
X = np.array([
    [0.5, 0.9, -0.3],
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
])  # (4 samples, 3 inputs)
W = hidden.T  # (3 inputs, 3 neurons): column i belongs to neuron i
print((X @ W).round(1))

# %% [markdown]
# The first row is the sample that you know. The others are a useful trick: a sample with a single 1 shows one row of
# $W$. Each row of the result belongs to one sample, and knows nothing of the others. One sample is a matrix times a
# vector, a batch is a matrix times a matrix;[^Owens "What this means computationally"] lessons 13 and 14 make both
# fast.
#
# In the library, `dense_forward` is the product and `sigmoid_forward` the activation. **Dense** means that each neuron
# sees every input. Both also return a **cache**, which lesson 04 will need on the way back; here we drop it.

# %%
z1, _ = ops.dense_forward(X[:1], hidden.T)
a1, _ = ops.sigmoid_forward(z1)
z2, _ = ops.dense_forward(a1, output.T)
print(ops.sigmoid_forward(z2)[0].round(2))

# %% [markdown]
# A network for digits looks just the same, only larger: 784 inputs, let us say 128 hidden neurons, and one output for
# each digit. The largest output is the answer. Here are five samples, and each of them is one row of $X$:

# %% tags=["hide-input"]
# Five digits that no network of this course has been trained on.
digits = data.load_digits(seed=0)
figures.show(
    figures.plots.image_grid(digits.images("test")[:5], cols=5),
    alt=f"Five handwritten digits of 28 by 28 pixels: {', '.join(map(str, digits.y_test[:5]))}.",
)

# %% tags=["hide-input"]
weights = predict(
    "Every hidden neuron sees all 784 pixels, and each of the ten outputs sees all 128 hidden neurons. How many "
    "weights are there, without biases?",
    [922, 13_824, 101_632, 1_003_520],
    answer=101_632,
    reveals=2,
)
weights

# %% tags=["hide-output"]
rng = np.random.default_rng(0)
W1 = rng.normal(size=(784, 128)) / 28  # with 784 inputs, smaller weights
W2 = rng.normal(size=(128, 10))
outputs = ops.sigmoid(digits.x_test @ W1) @ W2  # (1000, 10)
right = outputs.argmax(axis=1) == digits.y_test
print(f"{W1.size + W2.size:,} weights, {right.mean():.0%} right")

# %% [markdown]
# <details class="reveal"><summary>A large machine that knows nothing</summary>
#
# It is $784 \cdot 128 + 128 \cdot 10 = 101{,}632$. With random weights it reads about one digit in ten, which is what
# guessing gives. The weights have to come from somewhere, and finding them is the subject of lessons 03 and 04. But it
# is no use looking for weights if the network cannot do the task with any, and that was the trouble with XOR.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was counted.
weights.confirm(W1.size + W2.size)

# %% [markdown]
# ## Take the activation away
#
# So how much can a network without activation functions do? Build a deep one: three layers of eight neurons, with
# random weights, and nothing between them.

# %% tags=["hide-input"]
depth = predict(
    "Three layers of eight neurons, 192 weights, without activation functions. Compared with one layer of 64 weights, "
    "they can compute ...",
    ["three times as much", "more, but not three times", "exactly the same, and nothing more"],
    answer="exactly the same, and nothing more",
    reveals=2,
)
depth

# %% tags=["hide-output", "nbval-ignore-output"]
rng = np.random.default_rng(2)
X = rng.normal(size=(1000, 8))
W1, W2, W3 = (rng.normal(size=(8, 8)) for _ in range(3))
three_layers = ((X @ W1) @ W2) @ W3
one_layer = X @ (W1 @ W2 @ W3)
difference = np.abs(three_layers - one_layer).max()
difference /= np.abs(three_layers).max()
print(f"largest difference: {difference:.0e} of the largest value")

# %% [markdown]
# <details class="reveal"><summary>Three layers melt into one</summary>
#
# Products may be bracketed as you like: $((X W_1) W_2) W_3 = X (W_1 W_2 W_3)$. The three matrices are one matrix, which
# can be worked out before any sample arrives. What is left of a difference, below $10^{-15}$, is rounding. Biases do
# not help, since two layers with biases are one layer with another bias:
#
# $$(X W_1 + b_1)\, W_2 + b_2 = X\, (W_1 W_2) + (b_1 W_2 + b_2) .$$
#
# So a deep network without activations is one score of its inputs, and its border is a straight line, as in lesson 01.
# At the top you moved nine numbers, but they were worth three. That is why nobody gets beyond three of four.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
depth.confirm("exactly the same, and nothing more" if difference < 1e-15 else f"off by {difference}")

# %% [markdown]
# ## One bend
#
# Now put the smallest bend there is between the two layers. The **ReLU**, short for rectified linear unit, keeps what
# is above 0 and makes the rest 0. Let two hidden neurons both see the sum of the inputs, one of them with the bias -1:
#
# $$h_1 = \mathrm{relu}(x_1 + x_2), \quad h_2 = \mathrm{relu}(x_1 + x_2 - 1), \quad o = h_1 - 2 h_2 .$$
#
# By hand: the sum is 0, 1 or 2. So $h_1$ is 0, 1, 2, and $h_2$ is 0, 0, 1, and $o$ is 0, 1, 0. That is XOR.

# %%
x_xor, y_xor = data.truth_table("xor")
X = ops.add_bias_input(x_xor)  # (4, 3), the last column is 1
W = np.array([[1.0, 1.0], [1.0, 1.0], [0.0, -1.0]])  # (3, 2)
W_out = np.array([[1.0], [-2.0]])  # (2, 1)
with_relu = ops.relu(X @ W) @ W_out
without = X @ W @ W_out
table(
    zip(*x_xor.T, y_xor, with_relu[:, 0], without[:, 0], strict=True),
    ["x1", "x2", "XOR", "with ReLU", "without"],
)

# %% [markdown]
# Where does the ReLU act? On a single number. For the input (0, 0) the second neuron has $z = -1$, and ReLU makes it
# 0; you find it in the first row of the drawing. Without it, the two matrices melt into one column, the three weights
# of a perceptron.

# %% tags=["hide-input"]
# With ReLU, without, and as one matrix.
figures.show(
    figures.neurons.collapse(X, W, W_out),
    alt="With ReLU the outputs are 0, 1, 1, 0, which is XOR; without it the two matrices equal one column -1, -1, 2 "
    "and the outputs are 2, 1, 1, 0.",
    caption="Top: two layers with ReLU give XOR. Middle: without it they do not. Bottom: they are one matrix.",
)

# %% [markdown]
# These are the nine numbers (the ninth is the output's bias, 0) that you could not find, because the bend was missing.
# Here they are, to take hold of. At the left is the map of answers: shaded means above 0.5, halfway between the two
# labels. At the right the same corners stand where the hidden layer has put them, at $(h_1, h_2)$. The second layer
# sees nothing but this picture, and it can still only draw one straight line. Now one line is enough: the hidden layer
# has put (0, 1) and (1, 0) on the same place, and moved the others out of the way.

# %%
figures.nine_numbers("XOR solved")

# %% [markdown]
# Walk the cross along the diagonal from (0, 0) to (1, 1), by clicks on the map or by the arrow keys. At the right it
# turns a corner, where the ReLU of $h_2$ switches on. Then try the other buttons. **One line only** still has its ReLU,
# but the output no longer uses the second neuron. **No activation** has the nine numbers of the solution, without the
# fold. **Two steps** is XOR made of perceptrons: a step is a bend too, and it is enough. Why does hardly anyone use it,
# then? Press *two steps* once more, and move a weight of a hidden neuron a little. None of the four outputs changes;
# and if you go on, one of them flips all at once. A method that improves weights in small steps gets no hint of where
# to go.
#
# ## Six activation functions
#
# That method is called **gradient descent**, and lesson 03 is about it. It asks of each weight: if I change it a
# little, how much does the output change? Part of the answer is the slope $f'(z)$ of the activation function, so
# slopes decide which functions are useful. These are the ones you will meet:

# %% tags=["hide-input"]
# Six functions and their slopes.
figures.show(
    figures.activations.curves(),
    alt="Six activation functions with their slopes: the step's slope is 0 everywhere, ReLU's is 0 or 1, those of "
    "sigmoid and tanh are hills that fall to 0 on both sides, and softplus has the sigmoid as its slope.",
    caption="Solid: the function. Dashed: its slope. From left to right z goes from -4 to 4; the grey lines are at 0, "
    "1 and 2. Leaky ReLU is drawn with s = 0.1.",
)

# %% [markdown]
# The step is the perceptron's, and the sigmoid is its smooth form.[^Hwu "One Choice: Sigmoid/Logistic Function"] ReLU
# needs no exponential; **softplus** is a smooth ReLU, and its slope is exactly the sigmoid.[^Hwu "Today's Choice:
# ReLU"] **Leaky ReLU** lets a little through below zero, and $s$ is its negative slope (0.01 in our library). **Tanh**
# is the sigmoid stretched to run from -1 to 1: $2\,\sigma(2z) - 1$. ReLU has a kink at 0, where it has no slope; by
# convention we take 0. Where there is no activation at all, we write $f(z) = z$ and call it the identity.
#
# You can check a whole column of slopes at once. A slope is close to the rise of the function over a very short way:

# %%
z, eps = np.array([-2.0, -0.5, 0.3, 1.7]), 1e-6
rows = []
for name, (f, f_prime) in ops.ACTIVATIONS.items():
    measured = (f(z + eps) - f(z - eps)) / (2 * eps)
    agree = np.allclose(f_prime(z), measured, atol=1e-8)
    rows.append((name, *f_prime(z), agree))
names = ["slope at", *(f"{v:g}" for v in z), "as measured"]
table(rows, names, align="lrrrrr")

# %% [markdown]
# Training wants slopes that are not zero.[^Hwu "Neural Networks Model Human Neural Activity"] Where the slope is 0, a
# small change of the weights changes nothing. For the step that is everywhere. ReLU's slope is 0 for half of all $z$,
# and in practice it is enough that each neuron is above 0 for some samples. A neuron that is below 0 for all of them is
# **dead**: no slope reaches its own weights any more. Leaky ReLU is made to avoid that. The sigmoid has another
# weakness.

# %% tags=["hide-input"]
steepest = predict(
    "Look at the sigmoid's dashed curve. How large does its slope get, and how much is left of it at z = 4?",
    ["1 at the most, 0.5 at z = 4", "0.5 at the most, 0.1 at z = 4", "0.25 at the most, 0.018 at z = 4"],
    answer="0.25 at the most, 0.018 at z = 4",
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
# It never climbs faster than 1/4, and far from zero it hardly climbs at all: it **saturates**. Lesson 04 sends slopes
# back through the layers, where they are multiplied, together with the weights. Ten sigmoids bring a factor of a
# millionth at the best, whereas a ReLU that is switched on brings a factor of 1. In 2011 Glorot, Bordes and Bengio
# showed that deep networks train well with ReLU,[^Glorot "Deep Sparse Rectifier Neural Networks"] and in 2012 AlexNet,
# the network that made the world look at deep learning, was built with it.[^Krizhevsky "ImageNet Classification with
# Deep Convolutional Neural Networks"]
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
steepest.confirm(f"{largest:.2f} at the most, {at_4:.3f} at z = 4")

# %% [markdown]
# ## What goes wrong: transposed weights
#
# A file with weights does not say whether a neuron is a row or a column, and sooner or later you will use one the wrong
# way round. With the output layer of our example you are lucky:

# %%
try:
    ops.dense_forward(h[None, :], output)  # should be output.T
except ValueError as error:
    print(error)

# %% [markdown]
# The message names the fix. (`h[None, :]` is the vector as a matrix with one row.) Now make the same mistake in the
# hidden layer, whose matrix is 3 × 3.

# %% tags=["hide-input"]
turned = predict(
    "X is (1, 3), and the hidden layer's weights are (3, 3). What happens if you forget the transposition there?",
    ["an error about shapes", "the right numbers in another order", "no error, and wrong numbers"],
    answer="no error, and wrong numbers",
    reveals=2,
)
turned

# %% tags=["hide-output"]
X = x[None, :]
right, wrong = X @ hidden.T, X @ hidden
print("right:", right.round(1))
print("wrong:", wrong.round(1))

# %% [markdown]
# <details class="reveal"><summary>The shapes fit, and the numbers do not</summary>
#
# A square matrix fits both ways, so nothing complains. Only a comparison with numbers from elsewhere finds the mistake,
# such as a sample worked out by hand. Two habits help. Test with layers that are not square, so that a wrong
# transposition cannot pass. And test with weights that are not symmetric: with $W = W^T$ the mistake is invisible.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was computed.
same = np.allclose(np.sort(right), np.sort(wrong))
turned.confirm("the right numbers in another order" if same else "no error, and wrong numbers")

# %% [markdown]
# More layers alone are worth nothing; layers with a bend between them can do what no single one can. Which weights
# make the bends useful, and how a program finds them for a hundred thousand weights, is the next question. It needs a
# measure of how wrong a network is, and that is where lesson 03 begins.

# %% [markdown]
# ## Try it
#
# - In the figure with nine numbers, choose *your turn* with ReLU, and find a solution of XOR that is not the one shown.
#   <details><summary>Answer</summary>
#
#   Set $w_{12} = w_{21} = -1$ and all biases to 0, with $v_1 = v_2 = 1$. Then $o = \mathrm{relu}(x_1 - x_2) +
#   \mathrm{relu}(x_2 - x_1) = |x_1 - x_2|$. In the hidden space (0, 0) and (1, 1) fall on one place, and the other two
#   on different axes.
#
#   </details>
# - In a new cell, replace `ops.relu` in the XOR network by `ops.leaky_relu` with `negative_slope=0.1`. Then try the
#   slopes 0.5 and 1. At which of the three is it a perceptron again, and why? <details><summary>Answer</summary>
#
#   The only number below 0 is the -1 of the input (0, 0). It becomes $-s$, so that output is $2s$: 0.2, then 1, then 2.
#   Above $s = 0.25$ it counts as a 1. At $s = 1$ leaky ReLU is the identity, and the network is a perceptron.
#
#   </details>
# - Build the three layers again with `np.tanh` between them, and with inputs of size 0.001:
#   `X = 0.001 * rng.normal(size=(1000, 8))`. How well does one matrix match now? <details><summary>Answer</summary>
#
#   To within a few parts in a thousand. Near 0 tanh is almost the straight line $f(z) = z$. A bend
#   helps only where the numbers reach it, so the size of the weights matters too.
#
#   </details>

# %% [markdown]
# <details><summary>For those who know the lectures</summary>
#
# Owens writes the weights of a neuron as a row, $z = W x$; Dey has one column for each neuron, and writes a network as
# $Z = X W$, $A = f(Z)$, $G = A W'$, $O = f(G)$. One is the transpose of the other: $(W x)^T = x^T W^T$.
#
# Owens' slide "Activation Functions" says that they are applied to the inputs at each neuron, with a note that his
# reference says outputs. They are applied to the weighted sum, as in his own example: $f(w \cdot x)$ is 0.13 for his
# first neuron; the sum of the squashed inputs would be 0.05.
#
# Hwu's slides date ReLU's rise to 2017; the papers named above are of 2011 and 2012.
#
# Dey names the step, `heaviside`, without a formula; that it is 1 at $z = 0$ is our choice. Leaky ReLU comes from the
# negative slope in Dey's kernel. Tanh is in none of the three lectures.
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
# gradient descent never moves them: the neuron is dead. Leaky ReLU keeps the slope $s$ below zero, so the neuron can
# come back. Softplus works too: its slope, a sigmoid, is small there but never 0.
#
# </details>

# %% [markdown]
# **3.** You receive a file with a (64, 64) weight matrix, and `X @ W` runs without an error. How do you find out
# whether its neurons are rows or columns, if you also have one input and the right output of the layer? When could even
# that fail to tell?
#
# <details><summary>Answer</summary>
#
# Compute `X @ W` and `X @ W.T`, and compare both with the right pre-activations; one of them matches. It cannot tell if
# the matrix is symmetric, and then it does not matter. It cannot tell either if the input makes both products equal: an
# input with a single 1 picks row $i$ of $W$ or column $i$, and these two may be the same. And after a ReLU both outputs
# may be nothing but zeros, so compare before the activation if you can.
#
# </details>
