# ---
# jupyter:
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
# A network is made of layers, and between the layers stands a small function such as a sigmoid or a ReLU. Beside
# matrices with thousands of weights it looks like a detail. On this page you take it away, and see what is left
# of the network.
#
# As before, **K** is Prof. Dey's lecture 56 at IIT Kharagpur with its slides, **O** is Prof. Owens' EEC 289Q
# lecture 11 at UC Davis, **H** is ECE 508 lecture 10 by Prof. Hwu and colleagues at Illinois.
#
# Reading takes about 45 minutes; the optional section near the end takes five more.

# %% [markdown]
# ## You will be able to
#
# - compute a neuron and a layer by hand, in a loop, and as one matrix product, with the shapes;
# - translate between weights written as rows (O) and as columns (K);
# - name six activation functions with their slopes, and say where a slope vanishes;
# - show that layers without activation functions are one single layer.

# %% [markdown]
# ## Why layers?
#
# Lesson 01 ended at a wall: no perceptron computes XOR, because a single score can only draw a straight line. The
# natural idea is to use several perceptrons, and to feed their answers to further ones. Does that pass the wall?
# Keep the question in mind. First you need the machine itself.

# %%
import numpy as np

from course_lib import data, figures
from course_lib import reference as ops
from course_lib.checks import check_close, numerical_gradient

# %% [markdown]
# ## One neuron by hand
#
# A **neuron** takes inputs, forms their weighted sum, and applies an **activation function** $f$ (K, "Building
# Block of a NN"):
#
# $$z = \sum_j w_j x_j, \qquad a = f(z).$$
#
# $z$ is the **pre-activation**, $a$ the **activation**. There is no bias here, since O's example has none; where you
# want one, it is a weight on an input of 1 (lesson 01). The perceptron is a neuron whose $f$ is the step. O uses the
# **sigmoid**, a step with rounded corners that goes from 0 to 1:
#
# $$\sigma(z) = \frac{1}{1 + e^{-z}}.$$
#
# O's first neuron has the weights (1, -2, 2) and sees the inputs (0.5, 0.9, -0.3) (O, "Inference"):
#
# $$z = 0.5 \cdot 1 + 0.9 \cdot (-2) + (-0.3) \cdot 2 = -1.9, \qquad a = \sigma(-1.9) = 0.13 .$$

# %%
x = np.array([0.5, 0.9, -0.3])
z = 0.5 * 1 + 0.9 * -2 + -0.3 * 2
a = 1 / (1 + np.exp(-z))
print(f"z = {z:.1f}, a = {a:.2f}")

# %% [markdown]
# ## A layer
#
# A **layer** is several neurons that see the same inputs. O's hidden layer has three; it is called **hidden**
# because its outputs stay inside the network. O writes one row of weights per neuron. The plainest program has two
# loops: over the neurons, and over the inputs of each.

# %%
rows = np.array([[1.0, -2.0, 2.0], [2.0, 1.0, -4.0], [1.0, -1.0, 0.0]])  # (3 neurons, 3 inputs)
z_loop = np.zeros(3)
for i in range(3):
    for j in range(3):
        z_loop[i] += rows[i, j] * x[j]
print("pre-activations", z_loop.round(1), " activations", ops.sigmoid(z_loop).round(2))

# %% [markdown]
# -1.9, 3.1, -0.4, and .13, .96, .40: O's numbers. The two loops are the definition of a matrix times a vector (O,
# "Matrix Formulation"), with $M$ neurons and $D$ inputs:
#
# $$z = W_{\mathrm{O}}\, x, \qquad W_{\mathrm{O}}\,(M, D), \quad x\,(D,), \quad z\,(M,).$$
#
# K writes the inputs on the left, as the row of a matrix $X$, and so needs one **column** per neuron (K,
# "Feedforward propagation"):
#
# $$Z = X W, \qquad X\,(1, D), \quad W\,(D, M), \quad Z\,(1, M).$$
#
# Both say the same, since $(W_{\mathrm{O}}\, x)^T = x^T W_{\mathrm{O}}^T$. The dictionary is one transposition:
# $W = W_{\mathrm{O}}^T$. From here on we use K's form, which the library uses too.

# %%
X = x[None, :]  # one more axis in front: (3,) becomes (1, 3), a matrix with one row
W = rows.T  # column i holds the weights of neuron i
check_close(rows @ x, z_loop, name="O's product")
check_close(X @ W, z_loop[None, :], name="K's product")
print("X", X.shape, " W", W.shape, " Z = X W", (X @ W).shape, (X @ W).round(1))

# %% [markdown]
# The second layer takes the activations of the first as its inputs. Running a network forward like this, layer by
# layer, is **inference**. K's letters for the whole network are
#
# $$Z = X W, \quad A = f(Z), \quad G = A W', \quad O = f(G).$$
#
# Two letters do double work: $O$ is a matrix and O a lecture; the prime in $W'$ marks a second matrix, in $f'$ below
# a derivative.
#
# O's output neurons have the weights (-3, 1, -3) and (0, 1, 2). Before you run the cell, work out the shapes of
# $W'$, $G$ and $O$.

# %%
rows_out = np.array([[-3.0, 1.0, -3.0], [0.0, 1.0, 2.0]])  # (2 neurons, 3 inputs)
W_out = rows_out.T
A = ops.sigmoid(X @ W)
G = A @ W_out
O = ops.sigmoid(G)
print("W'", W_out.shape, " G", G.shape, " O", O.shape, O.round(2))

# %% [markdown]
# .35 and .85, as in the lecture (O, "Inference"). The library splits a layer into two operations: `dense_forward`
# for the product, in [`dense.py`](../course_lib/reference/dense.py), and the activation, in
# [`activations.py`](../course_lib/reference/activations.py). **Dense** means that each neuron sees each input.
# Each operation also returns a **cache**: what lesson 04 will need to go backward. Here we drop it.

# %%
z1, _ = ops.dense_forward(X, W)
a1, _ = ops.sigmoid_forward(z1)
z2, _ = ops.dense_forward(a1, W_out)
o, _ = ops.sigmoid_forward(z2)
check_close(o, O, name="outputs")
assert np.array_equal(z1.round(1), [[-1.9, 3.1, -0.4]])
assert np.array_equal(o.round(2), [[0.35, 0.85]])

# %% [markdown]
# Here is the same network as a drawing. Follow one hidden neuron: its weights stand on the edges that enter it,
# so they are one row of O's matrix, one column of K's. Thick edges are large weights, dashed ones are negative,
# grey ones are zero.

# %%
figures.show(
    figures.neurons.network(x, [rows, rows_out], ops.sigmoid),
    alt="O's network: inputs 0.5, 0.9, -0.3; hidden activations 0.13, 0.96, 0.40; "
    "outputs 0.35 and 0.85",
    caption="Inference from left to right. Below each neuron stands its pre-activation, "
    "in it the activation.",
)

# %% [markdown]
# ## Six activation functions
#
# | name | $f(z)$ | slope $f'(z)$ | source |
# |---|---|---|---|
# | step | 1 if $z \ge 0$, else 0 | 0 | K |
# | sigmoid | $1 / (1 + e^{-z})$ | $f(z)(1 - f(z))$ | O, H |
# | tanh | $(e^z - e^{-z}) / (e^z + e^{-z})$ | $1 - f(z)^2$ | K |
# | ReLU | $\max(0, z)$ | 1 if $z > 0$, else 0 | H |
# | leaky ReLU | $z$ if $z > 0$, else $s z$ | 1 if $z > 0$, else $s$ | K |
# | softplus | $\ln(1 + e^z)$ | $1 / (1 + e^{-z})$ | H |
#
# **ReLU** is short for rectified linear unit. **Leaky ReLU** lets a little through below zero: $s$ is its
# negative slope. **Softplus** is a smooth ReLU, and its slope is exactly the sigmoid (H, "Today's Choice: ReLU").
# ReLU has a kink at 0 and no slope there; by convention it is 0. In the library the step is called `heaviside`; its
# `leaky_relu` has $s = 0.01$ unless you say otherwise (the pictures take 0.1, which is easier to see). A seventh
# function, `identity`, is $f(z) = z$ with slope 1: no activation at all.
#
# Slopes matter because training follows them (lesson 03). Check the whole column at once: a slope is close to
# $(f(z + \varepsilon) - f(z - \varepsilon)) / 2\varepsilon$. `numerical_gradient(g, z)` computes that for each element
# of `z`, where `g` must return one number. So `g` is the sum of all $f(z_i)$: when one $z_i$ moves, the other terms
# stay. `lambda v: ...` is a function without a name, of the input `v`.

# %%
def measured_slopes(f, z):
    return numerical_gradient(lambda v: f(v).sum(), z)

z = np.array([-2.0, -0.5, 0.3, 1.7])
for name, (f, f_prime) in ops.ACTIVATIONS.items():
    check_close(f_prime(z), measured_slopes(f, z), rtol=1e-6, atol=1e-9, name=name)
    print(f"{name:10} slopes {f_prime(z).round(3)}")
check_close(ops.softplus_prime(z), ops.sigmoid(z), name="softplus'")

# %% [markdown]
# **Predict** two numbers from the table before you scroll. How large can the slope of the sigmoid get? And how large
# is it at $z = 4$, compared with ReLU's? Then look at the figure. Each panel shows a function (solid, blue) and its
# slope (dash-dotted, orange-red).

# %%
figures.show(
    figures.activations.gallery(),
    alt="Six activation functions with slopes: the step's slope is 0 everywhere, "
    "ReLU's is 0 or 1, the sigmoid's and tanh's are hills that fall to 0 on both sides",
    caption="Solid: the function. Dash-dotted: its slope. "
    "Leaky ReLU is drawn with a negative slope of 0.1.",
)

# %% [markdown]
# Where a slope is 0, a small change of the weights changes nothing in the output, and a method that follows slopes
# has nothing to follow. H therefore asks for derivatives that are not zero ("Neural Networks Model Human Neural
# Activity"). For the step that rules out every point. ReLU's slope is 0 for half of all $z$; in practice it is enough
# that each neuron is above 0 for some samples. One that is below 0 for every sample is **dead**: no slope moves its
# weights any more. Leaky ReLU repairs that.
#
# Now move $z$ and read off your two numbers. The dashed line behind each function is leaky ReLU with the negative
# slope that you choose.

# %%
def draw(function, z, negative_slope):
    drawing = figures.activations.explorer(function, z, negative_slope)
    texts = figures.activations.explorer_texts(function, z, negative_slope)
    return figures.picture(drawing, **texts)

figures.explore(
    draw,
    title="Activation functions and their slopes",
    function=figures.activations.CHOICES,
    z=(-4.0, 4.0, 0.25, 1.5),
    negative_slope=(0.0, 1.0, 0.05, 0.1),
    labels={"negative_slope": "negative slope of leaky ReLU"},
)

# %% [markdown]
# Compare what you read off with the numbers: the largest of 3201 slopes between -8 and 8, and the slopes at 4.

# %%
largest = ops.sigmoid_prime(np.linspace(-8, 8, 3201)).max()
four = np.array(4.0)
print(f"sigmoid: largest slope {largest:.4f}, slope at 4 {ops.sigmoid_prime(four):.4f}")
print(f"ReLU: slope at 4 {ops.relu_prime(four):.4f}")

# %% [markdown]
# The sigmoid never climbs faster than 1/4, and at $z = 4$ its slope is 0.018 against ReLU's 1: it **saturates**. A
# method that passes slopes back through ten such layers multiplies ten of them, besides the weights (lesson 04).
# That, and the price of an exponential, is why ReLU took the sigmoid's place as the most common choice; H dates the
# change to 2017 (H, "Today's Choice: ReLU").

# %%
print(f"ten factors of the largest slope: {largest ** 10:.1e}")
assert largest**10 < 1e-6

# %% [markdown]
# ## Many samples at once
#
# Training and testing send many samples through the same weights. Put them below each other as the rows of one
# matrix, a **batch** of $B$ samples, and the formula stays as it is:
#
# $$Z = X W, \qquad X\,(B, D), \quad W\,(D, M), \quad Z\,(B, M).$$
#
# One sample is a matrix-vector product, a batch is a matrix-matrix product (O, "What this means
# computationally"). Every row of the result belongs to one sample and knows nothing of the others.

# %%
batch = np.array([[0.5, 0.9, -0.3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
Z = batch @ W  # (4, 3)(3, 3) -> (4, 3)
for i in range(4):
    check_close(Z[i], batch[i] @ W, name=f"sample {i}")
print(Z.round(1))

# %% [markdown]
# The last three samples are a useful trick: each has a single 1, and so its row of $Z$ shows one row of $W$.
#
# The batch does exactly the multiplications of a loop over samples, $B \cdot D \cdot M$. **Predict** for 1000
# samples how much longer the loop takes: (a) the same, (b) about twice, (c) ten times or more. Would you say the
# same for O's small layer and for one of 784 inputs and 128 neurons?

# %% [markdown]
# A fair clock runs each candidate many times and keeps the shortest time, the one that other programs disturbed
# least. `perf_counter` reads a clock in seconds; `run` is a function without inputs, to be timed.

# %% tags=["nbval-ignore-output"]
from time import perf_counter


def best_time(run, repeats=30):
    times = []
    for _ in range(repeats):
        start = perf_counter()
        run()
        times.append(1000 * (perf_counter() - start))
    return min(times)  # milliseconds

# %% [markdown]
# Each layer gets 1000 random samples and random weights. One clock reading is for the loop `row @ weights`, one
# for the single product. (`race(*sizes)` passes the two numbers of a pair as two arguments.)

# %% tags=["nbval-ignore-output"]
def race(inputs, neurons):
    rng = np.random.default_rng(0)
    samples, weights = rng.normal(size=(1000, inputs)), rng.normal(size=(inputs, neurons))
    loop, product = lambda: [row @ weights for row in samples], lambda: samples @ weights
    check_close(loop(), product(), rtol=1e-9, atol=1e-9)
    return best_time(loop), best_time(product)

layers = {"3 inputs, 3 neurons": (3, 3), "784 inputs, 128 neurons": (784, 128)}
times = np.array([race(*sizes) for sizes in layers.values()])  # milliseconds: loop, product
ratios = times[:, 0] / times[:, 1]
assert ratios[0] > 10
assert ratios[1] < ratios[0]

# %% [markdown]
# The figure was measured on the machine that built this page; run it to see yours. Each mark of the axis is ten
# times the one before.

# %% tags=["nbval-ignore-output"]
figures.show(
    figures.neurons.race(list(layers), times[:, 0], times[:, 1]),
    alt=f"A loop over 1000 samples takes {figures.neurons.times(ratios[0])} times as long as one "
    f"product for the small layer and {figures.neurons.times(ratios[1])} times for the large one",
    caption="Time of a loop over 1000 samples, divided by that of one product. "
    "At the left, below each layer: the two times.",
)

# %% [markdown]
# For the small layer it is (c), and far more than ten; the large layer gains much less, and how much depends on the
# machine. In the small layer, the nine multiplications of a sample cost far less than the Python call that asks for
# them, and the batch needs one call instead of 1000. In the large layer the call hardly counts. One reason why the
# batch wins there too: a weight fetched from memory can serve many samples. This page does not measure that; lessons
# 11 to 15 put it to the test.

# %% [markdown]
# ## Take the activation away
#
# Now to the question. Build three layers of eight neurons each, without activation functions. **Predict:**
# compared with one layer, this network can compute (a) three times as much, (b) more, but not three times, (c)
# nothing more.

# %% tags=["nbval-ignore-output"]
rng = np.random.default_rng(2)
X = rng.normal(size=(1000, 8))
W1, W2, W3 = (rng.normal(size=(8, 8)) for _ in range(3))
three_layers = ((X @ W1) @ W2) @ W3
one_matrix = W1 @ W2 @ W3  # (8, 8)
difference = np.abs(three_layers - X @ one_matrix).max() / np.abs(three_layers).max()
assert difference <= 1e-15
print(f"largest difference: {difference:.0e} of the largest value")

# %% [markdown]
# It is (c). Products may be bracketed as you like, $((X W_1) W_2) W_3 = X (W_1 W_2 W_3)$, so the 192 weights of
# three layers do what 64 weights do. The difference, below $10^{-15}$, is rounding: a float64 keeps about 16 digits,
# and another bracketing rounds at other places. With biases, two layers are still one, with another bias:
#
# $$(X W_1 + b_1)\, W_2 + b_2 = X\, (W_1 W_2) + (b_1 W_2 + b_2) .$$
#
# So a deep network without activations is a perceptron's score, and XOR stays out of reach.
#
# Put a ReLU between two layers instead. Two hidden neurons see the sum of both inputs, one of them with bias -1:
#
# $$h_1 = \mathrm{relu}(x_1 + x_2), \quad h_2 = \mathrm{relu}(x_1 + x_2 - 1), \quad o = h_1 - 2 h_2 .$$
#
# By hand: the sums 0, 1, 2 give $h_1 = 0, 1, 2$ and $h_2 = 0, 0, 1$, so $o = 0, 1, 0$. That is XOR.

# %%
x_xor, y_xor = data.truth_table("xor")
X = ops.add_bias_input(x_xor)  # (4, 3), the last column is 1
W = np.array([[1.0, 1.0], [1.0, 1.0], [0.0, -1.0]])  # (3, 2), one column per neuron
W_out = np.array([[1.0], [-2.0]])  # (2, 1)
with_relu = ops.relu(X @ W) @ W_out
without = X @ W @ W_out
print("labels", y_xor, " with ReLU", with_relu[:, 0], " without", without[:, 0])
assert np.array_equal(with_relu[:, 0], y_xor)

# %% [markdown]
# Where does the ReLU act? In a single number: for the input (0, 0), the second neuron has $z = -1$, and ReLU
# makes it 0. Find it in the first row of the drawing. Without ReLU the two matrices melt into one column, three
# weights of a perceptron.

# %%
figures.show(
    figures.neurons.collapse(X, W, W_out),
    alt="With ReLU the outputs are 0, 1, 1, 0, which is XOR; without it the two matrices "
    "equal one column -1, -1, 2 and the outputs are 2, 1, 1, 0",
    caption="Top: two layers with ReLU give XOR. Middle: without it they do not. "
    "Bottom: they are one matrix.",
)

# %% [markdown]
# As a map over all inputs, with a decision at 0.5, halfway between the labels 0 and 1: without ReLU the output is a
# plane, and it reaches 0.5 on one straight line, as for any perceptron. With ReLU the plane is folded twice, and 0.5
# is reached on two lines.

# %%
check_close(without, X @ (W @ W_out), name="one matrix")
figures.show(
    figures.neurons.outputs(x_xor, y_xor, W, W_out),
    alt="With ReLU a folded surface separates XOR by two lines; "
    "without it a plane is above 0.5 at (0, 0) too, which is wrong",
    caption="Green: output above 0.5. Grey lines join equal outputs. "
    "Filled: label 1, hollow: label 0; beside it the output.",
)

# %% [markdown]
# So the answer to the question at the top is yes: several neurons pass the wall. Must it be the ReLU? The step bends
# too. A sum of 1 passes the first step below and not the second.

# %%
total = x_xor.sum(axis=1)  # x1 + x2 of each sample
with_steps = ops.heaviside(total - 1) - ops.heaviside(total - 2)
slopes = ops.heaviside_prime(total - 1)
print("labels", y_xor, " two perceptrons", with_steps, " slopes of the first", slopes)
assert np.array_equal(with_steps, y_xor)

# %% [markdown]
# Two perceptrons and a subtraction are XOR. But the step's slope is 0, so a method that follows slopes cannot find
# such weights; we had to choose them by hand.
#
# XOR has four samples. How much does the bend matter for a network with random weights and 1000 random inputs?
# For each activation, `lstsq` finds the one matrix that comes closest to the network; the star collects results
# that we do not need. What no single matrix can do is the rest. Its size (`norm`: the root of the sum of squares) is
# printed as a share of the network's output. **Predict** it for ReLU: (a) 1 %, (b) 10 %, (c) about half.

# %%
rng = np.random.default_rng(0)
X = ops.add_bias_input(rng.normal(size=(1000, 4)))
W, W_out = rng.normal(size=(5, 8)), rng.normal(size=(8, 3))
for name in ("identity", "relu", "tanh"):
    f, _ = ops.ACTIVATIONS[name]
    network = f(X @ W) @ W_out
    nearest, *_ = np.linalg.lstsq(X, network)
    rest = np.linalg.norm(network - X @ nearest) / np.linalg.norm(network)
    print(f"{name:8} beyond any one matrix: {rest:.0%} of the output")

# %% [markdown]
# It is (c). The activation is no detail. It is the reason why a second layer is worth having. With it, hidden
# layers can fold the input space; how to find weights that fold it usefully is the subject of the next two lessons.
#
# ## What goes wrong: transposed weights
#
# O's rows are K's columns, and here is the trap. Use O's matrix in K's formula and forget the transposition. For
# the output layer you are lucky.

# %% tags=["raises-exception"]
X = x[None, :]
A = ops.sigmoid(X @ rows.T)
ops.dense_forward(A, rows_out)  # should be rows_out.T

# %% [markdown]
# The shapes do not fit, and the message names the fix. The hidden layer is square, (3, 3), so there the shapes
# **do** fit. Nothing complains, and every number is wrong.

# %%
right, wrong = X @ rows.T, X @ rows
print("right:", right.round(1), right.shape)
print("wrong:", wrong.round(1), wrong.shape)
print("activations, right:", ops.sigmoid(right).round(2), " wrong:", ops.sigmoid(wrong).round(2))

# %% [markdown]
# Only a comparison with numbers from elsewhere finds it, such as a sample worked out by hand. `check_close` stops
# with the first element that differs.

# %% tags=["raises-exception"]
check_close(wrong, [[-1.9, 3.1, -0.4]], name="hidden pre-activations")

# %% [markdown]
# Two habits help. Test with layers that are not square, so that a wrong transposition cannot pass. And test with
# weights that are not symmetric: with $W = W^T$ the mistake would be invisible.

# %% [markdown]
# ## Where the lecture is loose
#
# O's slide "Activation Functions" says that they are applied to the inputs at each neuron. They are applied to
# the weighted sum, as O's own example does. Squashing the inputs first gives another number. (A second point, about
# hardware, is in the optional section that follows.)

# %%
weighted_sum_first = ops.sigmoid(rows[0] @ x)
inputs_first = rows[0] @ ops.sigmoid(x)
print(f"f(w . x) = {weighted_sum_first:.2f}, the lecture's number")
print(f"w . f(x) = {inputs_first:.2f}")

# %% [markdown]
# ## Optional: what a tensor core counts
#
# A **GPU** is a processor that does the same operation on many numbers at once; lesson 11 begins there. Its
# **clock** is its beat: everything it does takes a whole number of beats. Matrix products are so central that GPUs
# have a circuit for them: a **tensor core** computes $D = A B + C$ for 4 × 4 matrices in one clock. O's slide "Tesla
# V100 Tensor Cores" gives it "64 FLOPS/clock", where **FLOPS** are operations on floating-point numbers. Count what
# the product needs.

# %%
rng = np.random.default_rng(0)
A, B, C = (rng.integers(-3, 4, size=(4, 4)) for _ in range(3))
D, multiply_adds = C.copy(), 0
for i in range(4):
    for j in range(4):
        for k in range(4):
            D[i, j] += A[i, k] * B[k, j]
            multiply_adds += 1
assert np.array_equal(D, A @ B + C)
print(multiply_adds, "multiply-adds =", 2 * multiply_adds, "floating-point operations")

# %% [markdown]
# 64 is the number of **fused multiply-adds**, each of which is a multiplication and an addition: 128 operations per
# clock. The card as a whole, a V100, decides it. It has 80 **multiprocessors** (each an independent part of the
# GPU) with 8 tensor cores each and 1.53 billion clocks per second, and it is sold as 125 TFLOP/s: 125 times
# $10^{12}$ operations per second.

# %%
for operations in (64, 128):
    print(f"{operations} per clock: {80 * 8 * operations * 1.53e9 / 1e12:.1f} TFLOP/s")

# %% [markdown]
# ## Try it
#
# - In a new cell, replace `ops.relu` in the XOR network by `ops.leaky_relu` with `negative_slope=0.1`, then 0.5,
#   then 1. Print the four outputs. At which slope is it a perceptron again, and why?
# - Build three layers again with `np.tanh` between them and inputs of size 0.001:
#   `X = 0.001 * rng.normal(size=(1000, 8))`. How well does `X @ one_matrix` match now? Look at tanh near 0 in the
#   explorer.
# - In the explorer, set the negative slope to 1 and then to 0. Which two functions from this page do you get?

# %% [markdown]
# ## Check yourself
#
# **1.** A network has 784 inputs, layers of 128 and 64 neurons, and 10 outputs, without activation functions and
# without biases. How many weights does it hold? How many weights does the smallest network need that computes the
# same?
#
# <details><summary>Answer</summary>
#
# It holds 784 · 128 + 128 · 64 + 64 · 10 = 109,184 weights. The product of the three matrices has shape (784,
# 10), so one layer with 7,840 weights computes the same.
#
# </details>

# %% [markdown]
# **2.** A ReLU neuron has a negative pre-activation for every sample of the training set. What does it put out?
# What is its slope, and what does that mean for a method that follows slopes? Which variant of ReLU avoids it?
#
# <details><summary>Answer</summary>
#
# It puts out 0 for every sample, and its slope is 0 for every sample. A small change of its weights changes
# nothing, so a method that follows slopes never moves it: the neuron is dead. Leaky ReLU keeps the slope $s$
# below zero, so the neuron can come back. Softplus works too: its slope, a sigmoid, is small there but never 0.
#
# </details>

# %% [markdown]
# **3.** You receive a file with a (64, 64) weight matrix, and `X @ W` runs without an error. How do you find out
# whether its neurons are rows or columns, if you also have one input and the correct output of the layer? When
# could even that fail to tell?
#
# <details><summary>Answer</summary>
#
# Compute `X @ W` and `X @ W.T` and compare both with the correct pre-activations; one of them matches. It cannot tell
# if the matrix is symmetric, and then it does not matter. It cannot tell either if the input makes both products
# equal: an input with a single 1 picks row $i$ of $W$ or column $i$, and these two may be the same. And after a ReLU
# both outputs may be nothing but zeros, so compare before the activation if you can.
#
# </details>
