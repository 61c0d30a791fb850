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
# # 04 · Backpropagation: every gradient in one pass back
#
# A network that reads handwritten digits has 101,770 weights and biases, and gradient descent wants a slope for each of
# them, at every step. Lesson 03 measured a slope by moving one weight a little, both ways, and running the network
# again. For 101,770 of them that is 203,540 runs, and then you may take one step. **Backpropagation** has all slopes
# for the price of a few runs. Many take it for a clever trick on top of calculus. It is no trick: it is the chain rule,
# in an order in which nothing is computed twice.
#
# Here it is on a small network. Press Next and follow the numbers: first the green ones from left to right, then the
# red ones from right to left. Then choose a weight, change it, and see what follows.

# %% tags=["hide-input"]
import timeit
from itertools import pairwise

import numpy as np

from course_lib import checks, data, figures, nn
from course_lib import reference as ops
from course_lib.lesson import listing, predict, table

x = np.array([0.5, 0.9, -0.3])
w_hidden = np.array([[1, 2, 1], [-2, 1, -1], [2, -4, 0]], dtype=float)
w_output = np.array([[-3, 0], [1, 1], [-3, 2]], dtype=float)
y = np.array([0.9, 0.1])
figures.delta_explorer(x, w_hidden, w_output, y)

# %% [markdown]
# ## You will be able to
#
# - derive the gradients of a two-layer network in matrix form, and say the shape of every matrix on the way;
# - write the forward and the backward pass, for two layers and for any number of them, and train with it;
# - count what a gradient costs by backpropagation and by measuring it weight by weight;
# - check a gradient, and explain why a check that has never rejected anything proves little.

# %% [markdown]
# <details><summary>About this page</summary>
#
# The derivation in matrices follows Prof. Dey's lecture 56 at IIT Kharagpur. The small network, and the four equations
# with biases, are from Prof. Owens' lecture 11 of EEC 289Q at UC Davis; softmax and the parity of three inputs are from
# lecture 10 of ECE 508 by Prof. Hwu and colleagues at Illinois. You need lessons 02 and 03, and the chain rule for one
# variable. Reading and trying takes about 60 minutes.
#
# The letters of this page. Small letters are the numbers of one sample: $x$ goes in, $z$ and $g$ are
# weighted sums, $a = f(z)$ and $o = f(g)$ are what the sigmoid $f$ makes of them, $y$ is what is wanted, $J$ is the
# loss. Capitals are the same for a whole batch. A prime, as in $f'$, is always a derivative.
#
# </details>

# %% [markdown]
# ## One weight, by hand
#
# The network above is that of lesson 02: three inputs, three hidden neurons, two outputs, sigmoid
# everywhere.[^Owens "Inference"] In its matrices of weights, each column belongs to one neuron. Output neuron O1 should
# say 0.9, and O2 should say 0.1.

# %%
f, f_prime = ops.ACTIVATIONS["sigmoid"]

a = f(x @ w_hidden)  # (3 inputs) (3, 3) -> (3 hidden)
o = f(a @ w_output)  # (3 hidden) (3, 2) -> (2 outputs)
J = 0.5 * np.sum((o - y) ** 2)
print("hidden", a.round(2), "output", o.round(2), f"loss {J:.4f}")

# %% [markdown]
# Which way should the weight $w = -3$ from H1 to O1 move? Follow it forward. It enters the sum $g = w\,a_1 + \dots$,
# the sum enters the output $o = f(g)$, and the output enters the loss $J = \frac12 (o - y)^2 + \dots$ There is a
# single road from $w$ to $J$:

# %% tags=["hide-input"]
# One road.
figures.show(
    figures.backprop.path_diagram(x, a, o, w_hidden, w_output, [(1, 0, 0)]),
    alt=f"The weight -3 leads from H1 = {a[0]:.2f} to O1 = {o[0]:.2f}, and O1 to the loss: one road.",
    caption="One weight of the output layer: one road to the loss.",
)

# %% [markdown]
# The chain rule multiplies the three slopes along this road.[^Owens "Backpropagation Example"] From the end to the
# beginning: $\partial J/\partial o = o - y$; then $\partial o/\partial g = f'(g) = o(1-o)$, the slope of the sigmoid
# from lesson 02; then $\partial g/\partial w = a_1$, the number that the weight multiplies.

# %%
error, slope, incoming = o[0] - y[0], o[0] * (1 - o[0]), a[0]
dJ_dw = error * slope * incoming
print(f"{error:.4f} * {slope:.4f} * {incoming:.4f} = {dJ_dw:.4f}")

# %% [markdown]
# The result is negative, so a larger $w$ makes the loss smaller. Do not believe a derivation before you have measured
# it. Move this one weight by $\epsilon$, a millionth, both ways, and divide the change of $J$ by $2\epsilon$. This is a
# **central difference**.

# %%
def loss_with(w):
    changed = w_output.copy()
    changed[0, 0] = w
    return 0.5 * np.sum((f(a @ changed) - y) ** 2)

measured = (loss_with(-3 + 1e-6) - loss_with(-3 - 1e-6)) / 2e-6
print(f"measured {measured:.4f}")

# %% [markdown]
# ## What the neighbours share
#
# The first two of the three factors do not mention $a_1$. They belong to the neuron O1, and all three weights of O1 use
# them. Their product has a name, **delta**: $\delta = \partial J/\partial g$, how the loss changes with the neuron's
# weighted sum. Compute it once for a neuron, and each of its weights costs one more multiplication.

# %%
delta = (o - y) * o * (1 - o)  # (2,): one number for each output neuron
print("delta of O1 and O2", delta.round(4))
print("dJ/dw of O1's three weights", (delta[0] * a).round(4))

# %% [markdown]
# These are the numbers that the drawing at the top writes on the edges into O1.
#
# ## One layer further back
#
# Now take the weight $w = 2$ from I1 to H2. It changes H2, and H2 feeds *both* outputs. Two roads lead to the loss.

# %% tags=["hide-input"]
# Two roads.
figures.show(
    figures.backprop.path_diagram(x, a, o, w_hidden, w_output, [(0, 0, 1), (1, 1, 0), (1, 1, 1)]),
    alt="The weight 2 leads from I1 to H2, and H2 to both outputs: two roads from one weight to the loss.",
    caption="A weight of the hidden layer: two roads, which share their first part.",
)

# %% [markdown]
# The two outputs disagree about H2. O1 says too little and wants more of it; O2 says too much and wants less. Both
# weights that leave H2 happen to be 1. So through O1, the slope of $J$ with respect to $a_2$ is $-0.1254$, and through
# O2 it is $+0.0944$. What is it in all?

# %% tags=["hide-input"]
# A prediction.
roads = predict(
    "One quantity acts on the loss along two roads, with the slopes −0.1254 and +0.0944. What is its slope?",
    ["their product, −0.0118", "their mean, −0.0155", "their sum, −0.0310", "the larger one, −0.1254"],
    answer="their sum, −0.0310",
    reveals=2,
)
roads

# %% tags=["hide-output"]
def loss_at(g1, g2):
    return 0.5 * np.sum((f(np.array([g1, g2])) - y) ** 2)

g1, g2 = a @ w_output
d = 0.001  # a2 moves by d, and with the weights 1 and 1 so do g1 and g2
table(
    [
        ("O1 only", (loss_at(g1 + d, g2) - loss_at(g1 - d, g2)) / (2 * d)),
        ("O2 only", (loss_at(g1, g2 + d) - loss_at(g1, g2 - d)) / (2 * d)),
        ("both", both := (loss_at(g1 + d, g2 + d) - loss_at(g1 - d, g2 - d)) / (2 * d)),
    ],
    ["a2 reaches", "slope of J, measured"],
    formats={"slope of J, measured": ".4f"},
)

# %% [markdown]
# <details class="reveal"><summary>Why roads add</summary>
#
# Lesson 03 has the reason: the **linear estimate**. If several quantities $v_1, v_2, \dots$ move a little, the loss
# moves by $\Delta J \approx \sum_k \frac{\partial J}{\partial v_k}\,\Delta v_k$: each contributes its own slope times
# its own move, and the contributions add. Here the quantities are the two sums $g_1$ and $g_2$. If $a_2$ moves by
# $\Delta a_2$, then $g_1$ moves by $w_1 \Delta a_2$ and $g_2$ by $w_2 \Delta a_2$, where $w_1$ and $w_2$ are the two
# weights that leave H2. Put both into the estimate, and divide by $\Delta a_2$:
#
# $$\frac{\partial J}{\partial a_2} = \delta_1 w_1 + \delta_2 w_2$$
#
# The smaller the moves, the better the estimate, and a slope is about moves as small as you like. So for slopes this
# is exact.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
roads.confirm(f"their sum, {both:.4f}".replace("-", "−"))
checks.check_close(dJ_dw, measured, rtol=1e-6)

# %% [markdown]
# The rest of the road is as before: times the slope of H2's own sigmoid, which gives the delta of H2; times the input.

# %%
blame = delta[0] * w_output[1, 0] + delta[1] * w_output[1, 1]  # along O1, along O2
delta_h2 = blame * a[1] * (1 - a[1])
print(f"{delta[0]:+.4f} {delta[1]:+.4f} = {blame:+.4f}")
print(f"delta of H2 {delta_h2:.5f}, dJ/dw {delta_h2 * x[0]:.5f}")

# %% [markdown]
# That is all of backpropagation: **deltas flow back along the edges, weighted by the edges' own weights, summed where
# roads meet, and multiplied by the local slope.** What remains is to write it for many neurons and samples at once, to
# find out what it costs, and to make sure that it is right.
#
# ## The same for a whole batch: the formulas with shapes
#
# The next network has no biases.[^Dey "Feedforward NN Forward Propagation"] There are $B$ samples, $D$ inputs, $M$
# hidden neurons and $C$ outputs. Its two matrices of weights are $W$ and $W_2$.
#
# | forward | shapes |
# |---|---|
# | $Z = X W$ | $(B, D)\,(D, M) \to (B, M)$ |
# | $A = f(Z)$ | $(B, M)$ |
# | $G = A W_2$ | $(B, M)\,(M, C) \to (B, C)$ |
# | $O = f(G)$ | $(B, C)$ |
# | $J = \frac12 \sum (O - Y)^2$ | one number |
#
# We take four different sizes, so that hardly any mistake in a shape can hide: $B=4$, $D=2$, $M=3$, $C=1$. The four
# samples are XOR's truth table.

# %%
X, labels = data.truth_table("xor")
Y = labels[:, None].astype(float)  # (4,) -> (4, 1): a column
W = np.array([[1.0, -2.0, -1.0], [-1.0, 1.0, 1.0]])
W2 = np.array([[2.0], [4.0], [-4.0]])

def forward(X, W, W2):
    Z = X @ W    # (B, D) (D, M) -> (B, M)
    A = f(Z)
    G = A @ W2   # (B, M) (M, C) -> (B, C)
    O = f(G)
    return Z, A, G, O

Z, A, G, O = forward(X, W, W2)
print("outputs", O.ravel().round(2))

# %% [markdown]
# The forward pass returns the matrices in between as well, since the backward pass needs them. This is why training
# takes more memory than use.
#
# ### From the loss to the second matrix
#
# For sample $i$ and output $k$, delta is what it was by hand: $(o_{ik} - y_{ik})\,f'(g_{ik})$.[^Dey "Chain Rule"] All
# of them together are a matrix, $\delta_G = \partial J/\partial G$, of the shape of $G$. A weight of $W_2$ reaches the
# loss through every sample. So its roads are the samples, and they add. For the weight from hidden neuron $j$ to output
# $k$ that is $\sum_i a_{ij}\,(\delta_G)_{ik}$, and the sum over the samples is just what a product of matrices does:
#
# $$\frac{\partial J}{\partial W_2} = A^T \delta_G \qquad (M, B)\,(B, C) \to (M, C)$$
#
# ### From there to the first
#
# $a_{ij}$ feeds every output $k$. The roads add over $k$ this time: row $i$ of $\delta_G$ times column $j$ of $W_2^T$.
# Then comes the local slope, and then the input.[^Dey "Computing gradient w.r.t W"] The star multiplies element by
# element:
#
# $$\delta_Z = (\delta_G W_2^T) * f'(Z) \quad (B, C)\,(C, M) \to (B, M), \qquad
# \frac{\partial J}{\partial W} = X^T \delta_Z \quad (D, B)\,(B, M) \to (D, M)$$
#
# The whole backward pass is four lines, and each gradient has the shape of its matrix.

# %%
def backward(X, Y, W2, Z, A, G, O):
    delta_G = (O - Y) * f_prime(G)           # (B, C)
    dW2 = A.T @ delta_G                      # (M, B) (B, C) -> (M, C)
    delta_Z = (delta_G @ W2.T) * f_prime(Z)  # (B, C) (C, M) -> (B, M)
    dW = X.T @ delta_Z                       # (D, B) (B, M) -> (D, M)
    return dW, dW2

dW, dW2 = backward(X, Y, W2, Z, A, G, O)
print("dW", dW.round(4).tolist(), " dW2", dW2.ravel().round(4).tolist())

# %% [markdown]
# If you would rather see the sums than the products of matrices, here is the same with loops. Every line is a road of
# the pictures above. (The fold also compares the two, and both with a measurement that knows no chain rule.)

# %% tags=["hide-input"]
# The loop version, and the comparison of three ways.
def backward_loops(X, Y, W2, Z, A, G, O):
    (B, D), (M, C) = X.shape, W2.shape
    dW, dW2 = np.zeros((D, M)), np.zeros((M, C))
    for i in range(B):
        delta = [(O[i, k] - Y[i, k]) * f_prime(G[i, k]) for k in range(C)]
        for j in range(M):
            blame = 0.0
            for k in range(C):
                dW2[j, k] += A[i, j] * delta[k]
                blame += delta[k] * W2[j, k]
            for d in range(D):
                dW[d, j] += X[i, d] * blame * f_prime(Z[i, j])
    return dW, dW2

def loss(W, W2):
    return 0.5 * np.sum((forward(X, W, W2)[-1] - Y) ** 2)

loop_dW, loop_dW2 = backward_loops(X, Y, W2, Z, A, G, O)
checks.check_close(loop_dW, dW, rtol=1e-12)
checks.check_close(loop_dW2, dW2, rtol=1e-12)
checks.check_close(dW, checks.numerical_gradient(lambda w: loss(w, W2), W), rtol=1e-6, atol=1e-9)
checks.check_close(dW2, checks.numerical_gradient(lambda w: loss(W, w), W2), rtol=1e-6, atol=1e-9)
print("matrices, loops and measurement agree")

# %% [markdown]
# ### See it run
#
# Every gradient stands below the matrix whose shape it has. At each step, ask which dashed matrices are used, and
# whether their shapes fit. `dO` is $\partial J/\partial O$, `dA` is $\partial J/\partial A$.

# %%
figures.backprop.backprop_stepper(X, W, W2, Y)

# %% [markdown]
# There are three things to see. The backward steps come back to `O`, `G`, `A`, `Z` and `X`, which had to be kept. Only
# the two gradients of weights mix samples; in all the other gradients, each row belongs to one sample. And the first
# sample is $(0, 0)$, so $X^T$ multiplies its row of $\delta_Z$ by zero: it cannot teach $W$ anything. A bias could
# learn from it.
#
# ### A slip that raises nothing
#
# The last line of the derivation has two kinds of product in it: $X^T \big((\delta_G W_2^T) * f'(Z)\big)$. It is
# tempting to write it down from left to right, without the brackets, as `X.T @ delta_G @ W2.T * f_prime(Z)`. With our
# four samples and two inputs, NumPy refuses: (2, 3) and (4, 3) do not fit. But take the second and the third sample
# alone, as many samples as inputs:

# %%
two = slice(1, 3)
delta_G = (O - Y) * f_prime(G)
left_to_right = X[two].T @ delta_G[two] @ W2.T * f_prime(Z[two])
right_order = X[two].T @ ((delta_G[two] @ W2.T) * f_prime(Z[two]))
truth = checks.numerical_gradient(lambda w: 0.5 * np.sum((forward(X[two], w, W2)[-1] - Y[two]) ** 2), W)
ways = {"left to right": left_to_right, "right order": right_order, "measured": truth}
table(
    [(name, *dw[0]) for name, dw in ways.items()],
    ["first row of dJ/dW", "H1", "H2", "H3"],
    formats=dict.fromkeys(("H1", "H2", "H3"), ".4f"),
)

# %% [markdown]
# Look at H2: a wrong gradient, and no error. Shapes protect you only where all sizes differ; the last part of this page
# is about a protection that does not depend on them.
#
# ## With biases
#
# A neuron usually has a **bias** $b$ as well: $Z = XW + b$. A bias is the weight of an input that is always 1. So its
# gradient is delta times 1, summed over the samples: $\partial J/\partial b = \sum_i \delta_i$, the sums of delta's
# columns. The backward pass then has four equations, which are often written for one sample as a column, with the
# number $l$ of the layer on top, $L$ for the last one, and $\odot$ for the star:[^Owens "Backpropagation"]
#
# | | one sample | here, a batch |
# |---|---|---|
# | BP1 | $\delta^L = (a^L - y) \odot f'(z^L)$ | $\delta_G = (O - Y) * f'(G)$ |
# | BP2 | $\delta^l = ((w^{l+1})^T \delta^{l+1}) \odot f'(z^l)$ | $\delta_Z = (\delta_G W_2^T) * f'(Z)$ |
# | BP3 | $\partial J/\partial b^l_j = \delta^l_j$ | column sums of delta |
# | BP4 | $\partial J/\partial w^l_{jk} = a^{l-1}_k \delta^l_j$ | $X^T\delta_Z$, $A^T\delta_G$ |
#
# There, $w^l$ has a *row* for each neuron, so it is the transpose of our matrix.

# %%
def bp_one_sample(x, y, w1, b1, w2, b2):
    z_hid = w1 @ x + b1                         # (M, D) (D,) -> (M,)
    a_hid = f(z_hid)
    z_out = w2 @ a_hid + b2                     # (C, M) (M,) -> (C,)
    d_out = (f(z_out) - y) * f_prime(z_out)     # BP1
    d_hid = (w2.T @ d_out) * f_prime(z_hid)     # BP2
    return np.outer(d_hid, x), d_hid, np.outer(d_out, a_hid), d_out  # BP4, BP3, BP4, BP3

# %% [markdown]
# ## Any number of layers
#
# BP2 leads from layer $l + 1$ to layer $l$, and nothing in it depends on how many layers there are. So a loop does it.
# Forward, we keep the list of all activations, with the input in front. Backward, we walk the list from its end, and
# carry one thing along: the delta.

# %%
def forward_all(X, weights, biases):
    values = [X]
    for W, b in zip(weights, biases):
        values.append(f(values[-1] @ W + b))
    return values

def backward_all(Y, weights, values):
    delta = (values[-1] - Y) * values[-1] * (1 - values[-1])            # BP1
    grads = []
    for layer in reversed(range(len(weights))):
        a = values[layer]                                               # what went into this layer
        grads.append((a.T @ delta, delta.sum(axis=0)))                  # BP4, BP3
        if layer > 0:
            delta = (delta @ weights[layer].T) * a * (1 - a)            # BP2
    return grads[::-1]                                                  # [(dW, db), ...], first layer first

# %% [markdown]
# Fourteen lines, and they are all that a plain network of any depth needs. Let them go back through six layers with
# random weights, and look at the size of each layer's gradient. In which layer are the gradients largest?

# %% tags=["hide-input"]
# A prediction.
depth = predict(
    "Six layers of sigmoids with random weights. How do the gradients of the first layer's weights compare with those "
    "of the last layer's?",
    ["about the same size", "more than 50 times smaller", "more than 50 times larger"],
    answer="more than 50 times smaller",
    reveals=2,
)
depth

# %% tags=["hide-output"]
def random_network(sizes, rng, scale=1.0):
    weights = [scale * rng.standard_normal(shape) for shape in pairwise(sizes)]
    return weights, [np.zeros(n) for n in sizes[1:]]

weights, biases = random_network((2, 8, 8, 8, 8, 8, 1), np.random.default_rng(0))
grads = backward_all(Y, weights, forward_all(X, weights, biases))
sizes = [np.abs(dw).mean() for dw, _ in grads]
table(
    [(k, f"{w.shape}", size) for k, (w, size) in enumerate(zip(weights, sizes), start=1)],
    ["layer", "shape of dJ/dW", "mean size of an entry"],
    formats={"mean size of an entry": ".5f"},
)

# %% [markdown]
# <details class="reveal"><summary>Every layer takes its toll</summary>
#
# On its way through a layer, delta is multiplied by weights, and by the slope of the sigmoid, which is a quarter at
# best. Unless the weights make up for that, not much is left after five layers: this is the **vanishing gradient**. It
# is why deep networks were so hard to train, and one reason why they use ReLU today, whose slope is 1 or 0.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed; the loop, compared with a measurement and, for two layers, with BP1 to BP4.
depth.confirm("more than 50 times smaller" if sizes[-1] > 50 * sizes[0] else "about the same size")
for k, (dw, _) in enumerate(grads):
    def moved(w, k=k):
        changed = [*weights[:k], w, *weights[k + 1 :]]
        return 0.5 * np.sum((forward_all(X, changed, biases)[-1] - Y) ** 2)
    checks.check_close(dw, checks.numerical_gradient(moved, weights[k]), rtol=1e-5, atol=1e-9)
b, b2 = np.array([0.5, -0.25, 1.0]), np.array([-0.5])
(loop_dW, loop_db), (loop_dW2, loop_db2) = backward_all(Y, [W, W2], forward_all(X, [W, W2], [b, b2]))
samples = [bp_one_sample(X[i], Y[i], W.T, b, W2.T, b2) for i in range(len(X))]
w1_sum, b1_sum, w2_sum, b2_sum = [sum(sample[part] for sample in samples) for part in range(4)]
for ours, theirs in ((loop_dW, w1_sum.T), (loop_db, b1_sum), (loop_dW2, w2_sum.T), (loop_db2, b2_sum)):
    checks.check_close(ours, theirs, rtol=1e-12)

# %% [markdown]
# ## It learns what the perceptron could not
#
# Lesson 01 ended with XOR and with the parity of three inputs,[^Hwu "the truth table of three inputs"] which no single
# neuron can do.[^Dey "XOR?"] A hidden layer can, and now you can train one: forward, backward, one step *against* the
# gradient, and again.[^Dey "Training Using Backpropagation"]

# %%
def train(X, Y, sizes, lr, steps, rng, scale=1.0):
    weights, biases = random_network(sizes, rng, scale)
    losses = []
    for _ in range(steps):
        values = forward_all(X, weights, biases)
        losses.append(0.5 * np.sum((values[-1] - Y) ** 2))
        for W, b, (dW, db) in zip(weights, biases, backward_all(Y, weights, values)):
            W -= lr * dW
            b -= lr * db
    return weights, biases, losses

# %% [markdown]
# First with two hidden neurons, since what two neurons make of a sample can be drawn as a point. Watch the four samples
# of XOR in the lower pictures.

# %% tags=["hide-input"]
# The loss of every step, and the hidden activations before and after.
start = random_network((2, 2, 1), np.random.default_rng(2))
*trained_two, losses = train(X, Y, (2, 2, 1), 2.0, 1000, np.random.default_rng(2))
before, after = forward_all(X, *start)[1], forward_all(X, *trained_two)[1]
figures.show(
    figures.backprop.learning(losses, before, after, labels),
    alt="The loss of XOR stays on a plateau near a half at first, then falls to almost zero. Before the training no "
    "line separates the classes in the plane of the hidden activations; after it, the two samples of class 0 lie "
    "together in one corner, the two of class 1 in two other corners, and a line does.",
    caption="XOR with two hidden neurons: the loss at each step, and where the hidden layer puts the four samples.",
)

# %% [markdown]
# Before, the classes lie crosswise, as in the truth table itself. After, the hidden layer has moved the samples to
# where *one line* separates them, and that line is what the output neuron draws. Nobody told the hidden neurons to do
# this. All they ever got was their delta.
#
# Not every start is as lucky with two neurons. With eight there is room to spare, and both tables are learned:

# %%
trained = {}
for name in ("xor", "parity3"):
    inputs, answers = data.truth_table(name)
    rng = np.random.default_rng(0)
    *trained[name], _ = train(inputs, answers[:, None], (inputs.shape[1], 8, 1), 2.0, 3000, rng)
    out = forward_all(inputs, *trained[name])[-1].ravel()
    print(name, "targets", answers, "predicted", (out > 0.5).astype(int))

# %% tags=["hide-input", "continued"]
# The plane of XOR, cut by the network.
def xor_class(points):
    return (forward_all(points, *trained["xor"])[-1].ravel() > 0.5).astype(int)

assert list(xor_class(np.array([[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]]))) == [1, 0, 1]
figures.show(
    figures.backprop.learned_plane(X, labels, xor_class),
    alt="The two corners of class 0 lie in one band; the two corners of class 1 lie on either side of it.",
    caption="Walk from (0, 1) to (1, 0): class 1, then class 0, then class 1 again. One line is crossed only once.",
)

# %% [markdown]
# ### How large should the first weights be?
#
# The training starts with random numbers from a bell curve of width 1. Why not smaller ones? Equal weights are no use,
# since equal neurons get equal deltas and stay equal. But small and different ones look like a modest, careful start.

# %% tags=["hide-input"]
# A prediction.
start_scale = predict(
    "XOR, 8 hidden neurons, 3,000 steps, five seeds. The first weights are multiplied by 0.01, by 0.1 or by 1. Which "
    "of the three learn XOR?",
    ["all three", "only 1", "0.1 and 1", "0.01 and 0.1"],
    answer="0.1 and 1",
    reveals=2,
)
start_scale

# %% tags=["hide-output"]
solved = {}
for scale in (0.01, 0.1, 1.0):
    runs = [train(X, Y, (2, 8, 1), 2.0, 3000, np.random.default_rng(seed), scale) for seed in range(5)]
    solved[scale] = sum(losses[-1] < 0.05 for *_, losses in runs)
table(list(solved.items()), ["first weights times", "solved, of five"])

# %% [markdown]
# <details class="reveal"><summary>Too small is as bad as equal</summary>
#
# With weights near 0, every hidden neuron says about a half, whatever goes in. So they are nearly equal, and the way
# back to the first layer leads through $W_2$, which is nearly 0 too: at a scale of 0.01, it makes the deltas of the
# hidden layer a hundred times smaller. The network gives 0.5 for all four samples and stays there, beside the saddle of
# lesson 03. Random is not enough; the scale has to be right too. Lesson 06b, "Making it train", finds out what right
# means for larger networks.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed.
start_scale.confirm(" and ".join(f"{scale:g}" for scale, n in solved.items() if n == 5))
assert solved == {0.01: 0, 0.1: 5, 1.0: 5}

# %% [markdown]
# ## What does it cost?
#
# Take the digit network of lesson 06: 784 inputs, 128 hidden neurons, 10 outputs, and a batch of 64. We count
# multiplications in products of matrices. A product $(p, q)\,(q, r)$ has $p\,r$ results, each a sum of $q$ products, so
# it costs $pqr$. (Elementwise steps are left out; there are several hundred times fewer.)

# %% tags=["hide-input"]
# A prediction.
price = predict(
    "A layer's backward pass computes the slopes of its weights, and the slopes of its inputs for the layer before it. "
    "How much does it cost, compared with the layer's forward pass?",
    ["half as much", "the same", "twice as much", "100,000 times as much: a forward pass for each weight"],
    answer="twice as much",
    reveals=3,
)
price

# %% tags=["hide-output", "hide-input"]
# All products of the digit network, counted from the shapes of the arrays themselves.
digits = data.load_digits(seed=0)
rng = np.random.default_rng(0)
Xd = digits.x_train[:64].astype(float)
Yd = np.eye(10)[digits.y_train[:64]]  # row T of the unit matrix for label T: a 1 at class T
Wd, W2d = 0.05 * rng.standard_normal((784, 128)), 0.1 * rng.standard_normal((128, 10))
Zd, Ad, Gd, Od = forward(Xd, Wd, W2d)
delta_Gd = (Od - Yd) * f_prime(Gd)
delta_Zd = (delta_Gd @ W2d.T) * f_prime(Zd)
forward_products = {"Z = X W": (Xd, Wd), "G = A W2": (Ad, W2d)}
needed_products = {"dW2 = A.T delta_G": (Ad.T, delta_Gd), "dA = delta_G W2.T": (delta_Gd, W2d.T),
                   "dW = X.T delta_Z": (Xd.T, delta_Zd)}
unused_product = {"dX = delta_Z W.T": (delta_Zd, Wd.T)}

def multiplications(products):
    return sum(left.shape[0] * left.shape[1] * right.shape[1] for left, right in products.values())

table(
    [(name, f"{left.shape} @ {right.shape}", multiplications({name: (left, right)}))
     for name, (left, right) in (forward_products | needed_products | unused_product).items()],
    ["product", "shapes", "multiplications"],
)

# %% tags=["hide-output", "hide-input"]
# In forward passes.
one_forward = multiplications(forward_products)
needed = multiplications(needed_products)
every = needed + multiplications(unused_product)
print(f"backward / forward: with dX {every / one_forward:.2f}, without it {needed / one_forward:.2f}")
print(f"share of the first layer: {Xd.size * Wd.shape[1] / one_forward:.1%}")

# %% [markdown]
# <details class="reveal"><summary>Two partners for each product</summary>
#
# Each product of the forward pass has two partners on the way back, one for its weights and one for its input. Both
# have the same three sizes in another order, so they cost the same. Hence twice, whatever the sizes are. The very first
# layer can leave out $\partial J/\partial X$, because nobody trains the pixels. In this network nearly all the work is
# in the first layer, so it pays only once in all. With $L$ equal layers it is $(2L - 1)/L$ forward passes: 1 for one
# layer, 1.5 for two, 1.9 for ten. "Backward costs twice forward" is the rule for deep networks, and the upper limit for
# all.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by the counts.
price.confirm("twice as much" if every == 2 * one_forward else "the same")

# %% [markdown]
# Now the rival. Measuring every derivative is called **finite differences**. Central ones, as above, cost two forward
# passes for each parameter. **One-sided** ones, $(J(w + \epsilon) - J(w))/\epsilon$, cost one for each, and one for
# $J(w)$.

# %% tags=["hide-input"]
# One gradient of the digit network, in five ways.
parameters = 784 * 128 + 128 + 128 * 10 + 10  # weights and biases
costs = {
    "forward": one_forward,
    "forward + backward": one_forward + needed,
    "the same with dX": one_forward + every,
    "one-sided differences": (parameters + 1) * one_forward,
    "central differences": 2 * parameters * one_forward,
}
figures.show(
    figures.backprop.cost_bars(costs, unit=one_forward),
    alt=f"Backpropagation costs 2.01 or 3 forward passes, one-sided differences {parameters + 1:,}, "
    f"central differences {2 * parameters:,}.",
    caption="One gradient of the digit network. Mind the scale: every number on it is ten times the one before.",
)

# %% [markdown]
# Two forward passes, or three, against a hundred thousand, for the same 101,770 numbers. The reason is the shared
# delta. Finite differences run the whole network again for each weight, although almost nothing in it has changed. In
# seconds, on the machine that built this page:

# %% tags=["nbval-ignore-output", "hide-input"]
# Times of this machine.
one_pass = min(timeit.repeat(lambda: forward(Xd, Wd, W2d), number=1, repeat=100))
both_passes = min(timeit.repeat(lambda: backward(Xd, Yd, W2d, *forward(Xd, Wd, W2d)), number=1, repeat=100))
table(
    [("backpropagation", f"{1e3 * both_passes:.1f} ms", f"{630 * both_passes:.1f} s"),
     ("central differences", f"{2 * parameters * one_pass:.0f} s", f"{630 * 2 * parameters * one_pass / 3600:.0f} h")],
    ["way", "one gradient", "ten epochs of 63 batches"],
    align="lrr",
)

# %% [markdown]
# ## Checking a gradient
#
# A wrong backward pass raises no error. Often the network still learns, only worse, and nobody notices. So finite
# differences keep one job: they are too slow for training, and just right for checking. You have used such a check
# several times on this page, where the loss was at hand. How do you check one operation alone, such as the sigmoid?
#
# ### First: give it a number to be the slope of
#
# In the library, the network is cut into operations. Each has a `_forward`, which returns its result and a `cache` of
# what the way back will need. Its `_backward` gets the slope of the loss with respect to its result, and gives back the
# slope with respect to its input. What it gets is called the **upstream gradient**, since it comes from where the
# result went. A backward pass is the forward pass read from the bottom up:

# %%
def gradients(X, Y, W, b, W2, b2):
    Z, c1 = ops.dense_forward(X, W, b)
    A, c2 = ops.sigmoid_forward(Z)
    G, c3 = ops.dense_forward(A, W2, b2)
    O, c4 = ops.sigmoid_forward(G)
    J, c5 = ops.half_squared_sum_forward(O, Y)
    dO = ops.half_squared_sum_backward(c5)
    dG = ops.sigmoid_backward(dO, c4)
    dA, dW2, db2 = ops.dense_backward(dG, c3)
    dZ = ops.sigmoid_backward(dA, c2)
    _, dW, db = ops.dense_backward(dZ, c1)  # the first is dX, unused
    return J, (dW, db, dW2, db2)

# %% tags=["hide-input", "continued"]
# The library's version agrees with the loop over layers.
J, (lib_dW, lib_db, lib_dW2, lib_db2) = gradients(X, Y, W, b, W2, b2)
for ours, theirs in ((lib_dW, loop_dW), (lib_db, loop_db), (lib_dW2, loop_dW2), (lib_db2, loop_db2)):
    checks.check_close(ours, theirs, rtol=1e-12)
listing(ops.dense_backward, "The dense layer's backward pass in the library", start="x, w, has_bias")

# %% [markdown]
# An operation alone has no loss behind it. So we invent one. Draw a random matrix $R$ of the shape of the result, and
# call $s = \sum R * \mathrm{result}$ the loss. Its slope with respect to the result is $R$ itself: there is the
# upstream gradient. What `_backward` makes of it must be the slope of $s$, and that can be measured entry by entry.

# %%
rng = np.random.default_rng(4)
z = 2 * rng.standard_normal((3, 4))
R = rng.standard_normal((3, 4))

result, cache = ops.sigmoid_forward(z)
dz = ops.sigmoid_backward(R, cache)
by_entry = checks.numerical_gradient(lambda z: np.sum(R * ops.sigmoid(z)), z)
print("largest difference below 1e-8:", np.abs(dz - by_entry).max() < 1e-8)

# %% [markdown]
# ### Second: move everything at once
#
# Entry by entry takes two forward passes for each of them. The linear estimate offers something cheaper. Draw a random
# direction $d$ of the shape of $z$, and move *all* entries a little along it. Then $s$ must change by the sum of all
# slopes times all moves, $\sum dz * d$. If one slope is wrong, this one number is wrong too, unless errors happen to
# cancel, and with random $d$ they do not.

# %%
d = rng.standard_normal(z.shape)
def s(z):
    return np.sum(R * ops.sigmoid(z))

along = (s(z + 1e-6 * d) - s(z - 1e-6 * d)) / 2e-6
print(f"measured along d {along:.6f}, from the slopes {np.sum(dz * d):.6f}")

# %% [markdown]
# Two forward passes, for an operation of any size. Both are done in float64, since in float32 such small differences
# drown in rounding. `checks.check_op_gradients` does this for any operation and all of its arguments. Here are all
# operations of the first six lessons, and after them the whole digit network: one random direction for each of its four
# parameter arrays, and one for the input. That makes ten forward passes instead of 203,540.

# %% tags=["hide-input"]
# Every operation with a backward pass, on small random arguments, and the digit network of lesson 06.
classes = np.array([0, 3, 1])
cases = {name: [z] for name in ("identity", "sigmoid", "tanh", "relu", "leaky_relu", "softplus", "softmax")}
cases["dense"] = [z, rng.standard_normal((4, 5)), rng.standard_normal(5)]
for name in ("half_squared_sum", "quadratic_cost"):
    cases[name] = [z, rng.standard_normal((3, 4))]
for name in ("one_minus_probability", "expected_squared_distance"):
    cases[name] = [ops.softmax(z), classes]
cases["softmax_cross_entropy"] = [z, classes]
for name, args in cases.items():
    checks.check_op_gradients(getattr(ops, name + "_forward"), getattr(ops, name + "_backward"), args, rng=rng)
print(len(cases), "operations checked")
net = nn.models.mlp((784, 128, 10), rng=np.random.default_rng(0), dtype=np.float64)
checks.check_network_gradients(net, Xd, digits.y_train[:64], rng=rng)
print("the digit network checked")

# %% [markdown]
# ## A check that passes everything
#
# It is tempting to leave out $R$ and to add up the plain results. Try this on **softmax**. It turns a row of scores $z$
# into probabilities, which are positive and sum to 1: $k_i = e^{z_i} / \sum_j e^{z_j}$.[^Hwu "Use Softmax to Produce
# Probabilities"]
#
# Its backward pass takes three steps, and the quotient rule. If $z_i$ itself moves, $k_i$ has the slope
# $k_i (1 - k_i)$. If another score $z_m$ moves, only the sum below the line changes, and the slope of $k_i$ is
# $-k_i k_m$. Now $z_m$ acts on *all* $k_i$, so its roads add, each with its upstream gradient $dk_i$:
#
# $$dz_m = dk_m\,k_m - \sum_i dk_i\,k_i\,k_m = k_m \Big(dk_m - \sum_i dk_i\,k_i\Big)$$
#
# The library has just that, and it was among the operations above. Here are three wrong ones, each a slip that you
# could make: the factor $k_m$ forgotten; a plain mean in place of the weighted sum; the two terms swapped.

# %%
wrong = {
    "forgot k": lambda dk, k: dk - (dk * k).sum(axis=-1, keepdims=True),
    "plain mean": lambda dk, k: k * (dk - dk.mean(axis=-1, keepdims=True)),
    "wrong sign": lambda dk, k: k * ((dk * k).sum(axis=-1, keepdims=True) - dk),
}
backwards = {"right": ops.softmax_backward} | wrong

def plain_sum_check(backward):
    measured = checks.numerical_gradient(lambda z: ops.softmax(z).sum(), z)
    computed = backward(np.ones_like(z), ops.softmax(z))
    checks.check_close(computed, measured, atol=1e-8)

# %% [markdown]
# The check measures the slopes of the plain sum, hands the backward pass an upstream gradient of ones, and raises if
# the two differ.

# %% tags=["hide-input"]
# A prediction.
caught = predict(
    "How many of the three wrong backward passes does `plain_sum_check` catch?",
    ["none", "one", "two", "all three"],
    answer="none",
    reveals=3,
)
caught

# %% tags=["hide-output", "hide-input"]
# Each backward pass, judged by both checks.
def verdict(check, backward):
    try:
        check(backward)
        return "passes"
    except AssertionError:
        return "rejected"

def random_check(backward):
    checks.check_op_gradients(ops.softmax_forward, backward, [z], rng=np.random.default_rng(1))

verdicts = {
    name: [verdict(check, backward) for check in (plain_sum_check, random_check)]
    for name, backward in backwards.items()
}
table([(n, *both) for n, both in verdicts.items()], ["backward pass", "plain sum", "random R"])

# %% tags=["hide-output", "hide-input"]
# Entry by entry: computed against measured.
def compare(R):
    measured = checks.numerical_gradient(lambda v: np.sum(R * ops.softmax(v)), z)
    return {name: (measured, candidate(R, ops.softmax(z))) for name, candidate in backwards.items()}

results = {"R all ones": compare(np.ones_like(z)),
           "R random": compare(np.random.default_rng(1).standard_normal(z.shape))}
figures.show(
    figures.backprop.check_scatter(results),
    alt="With R all ones, every mark of all four lies on the origin; with a random R only the right one is on the "
    "diagonal.",
    caption="Hollow squares, R all ones: a check that cannot fail. Crosses, R random: one panel of four passes.",
)

# %% [markdown]
# <details class="reveal"><summary>Zero compared with zero</summary>
#
# Each row of a softmax sums to 1 for *every* input. So the plain sum never changes, and its true slope is 0. The three
# wrong passes also give 0 when all upstream gradients are equal. The check compared 0 with 0, twelve times. With a
# random $R$ the right answer is not 0, and only the right pass lies on the diagonal.
#
# The rule behind it: **a check that has never failed has not been tested.** Break the code on purpose, once, and see
# the check object. Data that is all zeros, all ones or symmetric hides mistakes in the same way.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed.
rejected = sum(verdicts[name][0] == "rejected" for name in wrong)
caught.confirm("none" if rejected == 0 else "one" if rejected == 1 else "two" if rejected == 2 else "all three")
assert [both[1] for both in verdicts.values()] == ["passes", *["rejected"] * 3]

# %% [markdown]
# ## Try it
#
# - In `random_network`, replace the random weights by `np.ones(...)` and train XOR with 8 hidden neurons. It is not
#   learned any more. Look at the columns of `weights[0]` after the training. <details><summary>Answer</summary>
#
#   All columns are equal, as they were at the start. Equal neurons have equal activations and equal deltas, so they get
#   equal steps, for ever. Eight hidden neurons are worth one.
#
#   </details>
# - Train XOR with 2 hidden neurons and seeds 0 to 9. How many runs get all four rows right? Then with 4, then with 8.
#   <details><summary>Answer</summary>
#
#   8 of 10 with 2, all ten with 4 and with 8. Two are enough to *represent* XOR, but the descent may get stuck.
#
#   </details>
# - In the drawing at the top, set both weights that leave H2 to 0. What is its delta, and which weights can no longer
#   learn? Predict before you press All. <details><summary>Answer</summary>
#
#   H2's delta is 0, since nothing that H2 does reaches the loss, so its three incoming weights have gradients of 0. The
#   two weights that leave H2 still learn: their gradients are the activation of H2 times the deltas of the outputs.
#   After one step they are no longer 0, and H2 is back.
#
#   </details>

# %% [markdown]
# <details><summary>For those who know the lectures</summary>
#
# **Letters.** Prof. Dey writes $W'$ for the second matrix, $\delta^1$ for $\delta_G$ and $\delta^2$ for $\delta_Z$,
# and counts from the end. Prof. Owens counts layers from the beginning and calls the loss $C$.
#
# **Two kinds of product in one line.** The last slide of Prof. Dey's derivation has
# $\partial J/\partial W = X^T \delta^1 W'^T f'(Z)$, where nothing tells the products of matrices from the elementwise
# one. As products of matrices throughout, the shapes do not fit; from left to right it is the slip shown above.
#
# **The sign of the step.** The slide says to update every matrix "with the gradient". The gradient points uphill:
# the update is *minus* the learning rate times the gradient.
#
# **When to step.** In the spoken summary, $W'$ is changed as soon as $\delta^1$ is there, and $\delta^2$ is computed
# afterwards. Then $\delta^2$ goes back through the *new* matrix, through a network that never made these outputs, and
# the result is no gradient of $J$. Compute all gradients first, then take all steps.
#
# **Mean or sum.** Prof. Owens' loss is a mean over $n$ samples, Prof. Dey's a sum. So the gradients of the one are
# those of the other divided by $n$, and the learning rates differ by that factor (lesson 03). Prof. Owens' symbol
# $\nabla_a C$ in BP1 is the list of slopes $\partial J/\partial a_k$; for half the squared error it is $a^L - y$.
#
# **Rounded numbers.** Prof. Owens' example multiplies $.13\,(.35 - .9)\,.35\,(1 - .35)$, where $.13$ and $.35$ are
# rounded, and has $-0.01627$. With all digits it is $-0.01631$. Both are $-0.016$.
#
# </details>

# %% [markdown]
# ## Check yourself
#
# **1.** The forward pass keeps $Z, A, G$ and $O$ for the backward pass. With the sigmoid as $f$, which two of them
# could it throw away?
#
# <details><summary>Answer</summary>
#
# $Z$ and $G$. They are used only in $f'(Z)$ and $f'(G)$, and for the sigmoid these slopes are $a(1-a)$ and $o(1-o)$. So
# $A$ and $O$ are enough, and `backward_all` keeps nothing else. $A$ is needed a second time, for
# $\partial J/\partial W_2 = A^T\delta_G$.
#
# </details>

# %% [markdown]
# **2.** You make the hidden layer of the digit network ten times as wide. What happens to the cost of backward compared
# with forward, and to the cost of finite differences compared with backpropagation?
#
# <details><summary>Answer</summary>
#
# The first stays: each product still has two partners of its own size. (2 with $\partial J/\partial X$, 1.01 without.)
# The second grows about tenfold. There are about ten times as many parameters, finite differences need one or two
# forward passes for each, and backpropagation still costs 2.01 forward passes in all.
#
# </details>

# %% [markdown]
# **3.** Someone's backward pass for the sigmoid is `return a * (1 - a)`: it forgets to multiply by the upstream
# gradient. Does a check with a plain sum notice? Does one with a random $R$?
#
# <details><summary>Answer</summary>
#
# The plain sum does not: its upstream gradient is all ones, and multiplying by 1 changes nothing. With a random $R$ the
# right answer is $R * a(1-a)$, the code returns $a(1-a)$, and is rejected. In a network the mistake would cut every
# delta before that layer off from the loss.
#
# </details>
