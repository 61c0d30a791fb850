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
# A network that reads handwritten digits has 101,770 weights and biases, and gradient descent wants a slope for each
# of them, at every step. Lesson 03 could measure slopes: nudge one weight up and down, and run the network again each
# time. For 101,770 of them that is 203,540 runs, and then you may take one step. **Backpropagation** computes every
# slope for the cost of a few forward runs. It is the chain rule, in an order in which nothing is computed twice.
#
# Here it is on a small network. Press Next and follow the green numbers from left to right, as far as the loss J. Then
# choose a weight, change it, and see what becomes of J; or press Step downhill, which moves every weight a little
# against its slope. Where these slopes come from, the red numbers show on the way back. Leave them for now: this page
# asks you about them first.

# %% tags=["hide-input"]
import timeit
from itertools import pairwise

import numpy as np

from course_lib import checks, data, figures, nn
from course_lib import reference as ops
from course_lib.lesson import predict, table

x, y = np.array([0.5, 0.9, -0.3]), np.array([0.9, 0.1])
W = np.array([[1, 2, 1], [-2, 1, -1], [2, -4, 0]], dtype=float)
W2 = np.array([[-3, 0], [1, 1], [-3, 2]], dtype=float)
figures.delta_explorer(x, W, W2, y)

# %% [markdown]
# ## You will be able to
#
# - derive the gradients of a two-layer network in matrix form, and say the shape of every matrix on the way;
# - write the forward and the backward pass, for two layers and for any number of them, and train with it;
# - count what a gradient costs by backpropagation and by measuring it weight by weight;
# - check the gradients of a network, and of one operation alone.

# %% [markdown]
# <details><summary>About this page</summary>
#
# The derivation in matrices follows Prof. Dey's lecture 56 at IIT Kharagpur. The small network, and the four equations
# with biases, are from Prof. Owens' lecture 11 of EEC 289Q at UC Davis; softmax and the parity of three inputs are from
# lecture 10 of ECE 508 by Prof. Hwu and colleagues at Illinois. You need lessons 02 and 03, and the chain rule for one
# variable. Reading and trying takes about 60 minutes.
#
# The letters of this page. $J$ is the loss (lesson 03 wrote $C$ for a cost; here $C$ counts outputs). Small letters are
# the numbers of one sample: $x$ goes in, $z$ and $g$ are weighted sums,
# $a = f(z)$ and $o = f(g)$ are what the sigmoid $f$ makes of them, $y$ is what is wanted. Capitals are
# the same for a whole batch, and $W$, $W_2$ are the matrices of weights. A prime, as in $f'$, is always a derivative.
# Samples are numbered $i = 1, \dots, B$, inputs $p = 1, \dots, D$, hidden neurons $j = 1, \dots, M$, outputs $k = 1,
# \dots, C$.
#
# </details>

# %% [markdown]
# ## One weight, by hand
#
# The network above is that of lesson 02: three inputs, three hidden neurons, two outputs, sigmoid
# everywhere.[^Owens "Inference"] These are its numbers. We shall stay with them for half of this page, from one weight
# to one layer, and from there to a batch.

# %%
print("x =", x, "  y =", y)
print(f"\nW (rows: from I1, I2, I3; columns: to H1, H2, H3):\n{W}")
print(f"\nW2 (rows: from H1, H2, H3; columns: to O1, O2):\n{W2}")

# %% [markdown]
# Forward: each hidden neuron sums its inputs times the weights of its column, which gives $z$, and takes the sigmoid,
# $a = f(z)$. The outputs do the same with what they get: a sum $g$, and $o = f(g)$. O1 should say 0.9, and O2 should
# say 0.1.

# %%
f, f_prime = ops.ACTIVATIONS["sigmoid"]

a = f(x @ W)   # (3 inputs) (3, 3) -> (3 hidden)
o = f(a @ W2)  # (3 hidden) (3, 2) -> (2 outputs)
J = 0.5 * np.sum((o - y) ** 2)
print("hidden", a.round(2), "output", o.round(2), f"loss {J:.4f}")

# %% [markdown]
# Which way should the weight $w = -3$ from H1 to O1 move? O1 says 0.35 and should say 0.9, and H1 is positive: make
# a guess before you read on. Then follow the weight forward. It enters the sum $g = w\,a_1 + \dots$,
# the sum enters the output $o = f(g)$, and the output enters the loss $J = \frac12 (o - y)^2 + \dots$ There is only one
# path from $w$ to $J$:

# %% tags=["hide-input"]
# One path.
figures.show(
    figures.backprop.path_diagram(x, a, o, W, W2, [(1, 0, 0)]),
    alt=f"The weight -3 leads from H1 = {a[0]:.2f} to O1 = {o[0]:.2f}, and O1 to the loss: one path.",
    caption="One weight of the output layer: one path to the loss.",
)

# %% [markdown]
# The chain rule multiplies the three slopes along this path.[^Owens "Backpropagation Example"] From the end to the
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
    changed = W2.copy()
    changed[0, 0] = w
    return 0.5 * np.sum((f(a @ changed) - y) ** 2)

measured = (loss_with(-3 + 1e-6) - loss_with(-3 - 1e-6)) / 2e-6
print(f"measured {measured:.4f}")

# %% [markdown]
# ## What the weights of one neuron share
#
# The first two of the three factors do not mention $a_1$. They belong to the neuron O1, and all three weights of O1 use
# them. Their product has a name, **delta**: $\delta = \partial J/\partial g$, how the loss changes with the neuron's
# weighted sum. Compute it once for a neuron, and each of its weights costs one more multiplication.

# %%
delta_g = (o - y) * o * (1 - o)  # (2,): one number for each output neuron
print("delta of O1 and O2", delta_g.round(4))
print("dJ/dw of O1's three weights", (delta_g[0] * a).round(4))

# %% [markdown]
# In the figure at the top, press Next two or three times after J: first come the deltas, then these numbers, on the
# edges into O1.
#
# ## One layer further back
#
# Now take the weight $w = 2$ from I1 to H2. It changes H2, and H2 feeds *both* outputs. Two paths lead to the loss.

# %% tags=["hide-input"]
# Two paths.
figures.show(
    figures.backprop.path_diagram(x, a, o, W, W2, [(0, 0, 1), (1, 1, 0), (1, 1, 1)]),
    alt="The weight 2 leads from I1 to H2, and H2 to both outputs: two paths from one weight to the loss.",
    caption="A weight of the hidden layer: two paths, which share their first part.",
)

# %% [markdown]
# The two outputs disagree about H2. O1 says too little and wants more of it; O2 says too much and wants less. Both
# weights that leave H2 happen to be 1. So through O1, the slope of $J$ with respect to $a_2$ is $-0.1254$, and through
# O2 it is $+0.0944$. What is it in all?

# %% tags=["hide-input"]
# A prediction.
paths = predict(
    "One quantity acts on the loss along two paths, with the slopes −0.1254 and +0.0944. What is its slope?",
    ["their product, −0.0118", "their mean, −0.0155", "their sum, −0.0310", "the steeper one, −0.1254"],
    answer="their sum, −0.0310",
    reveals=2,
)
paths

# %% tags=["hide-output"]
def loss_at(g1, g2):
    return 0.5 * np.sum((f(np.array([g1, g2])) - y) ** 2)

g1, g2 = a @ W2
tiny = 0.001

def slope_if(move1, move2):  # when a2 grows, g1 and g2 move by so much
    up = loss_at(g1 + move1 * tiny, g2 + move2 * tiny)
    down = loss_at(g1 - move1 * tiny, g2 - move2 * tiny)
    return (up - down) / (2 * tiny)

both = slope_if(1, 1)  # the weights from H2 are 1 and 1
table([("O1 only", slope_if(1, 0)), ("O2 only", slope_if(0, 1)), ("both", both)],
      ["a2 reaches", "slope of J, measured"],
      formats={"slope of J, measured": ".4f"})

# %% [markdown]
# <details class="reveal"><summary>Why paths add</summary>
#
# Lesson 03 has the reason: the **linear estimate**. If several quantities move a little, the loss moves by the sum of
# their contributions, each its own slope times its own move. Here the quantities are the two sums $g_1$ and $g_2$, with
# the slopes $\delta_1$ and $\delta_2$:
#
# $$\Delta J \approx \delta_1\,\Delta g_1 + \delta_2\,\Delta g_2$$
#
# If $a_2$ moves by $\Delta a_2$, then $g_1$ moves by $(W_2)_{21}\,\Delta a_2$ and $g_2$ by $(W_2)_{22}\,\Delta a_2$:
# these are the two weights that leave H2. Put both in, and divide by $\Delta a_2$:
#
# $$\frac{\partial J}{\partial a_2} = \delta_1 (W_2)_{21} + \delta_2 (W_2)_{22}$$
#
# The smaller the moves, the better the estimate, and a derivative is the limit of ever smaller moves. So for
# derivatives this is exact.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
paths.confirm(f"their sum, {both:.4f}".replace("-", "−"))
checks.check_close(dJ_dw, measured, rtol=1e-6)

# %% [markdown]
# The rest of the path is as before: times the slope of H2's own sigmoid, which gives the delta of H2; times the input,
# here $x_1 = 0.5$.

# %%
da2 = delta_g[0] * W2[1, 0] + delta_g[1] * W2[1, 1]  # along O1, along O2
delta_h2 = da2 * a[1] * (1 - a[1])
print(f"{delta_g[0]:+.4f} {delta_g[1]:+.4f} = {da2:+.4f}")
print(f"delta of H2 {delta_h2:.5f}, dJ/dw {delta_h2 * x[0]:.5f}")

# %% [markdown]
# That is all of backpropagation:
#
# - **deltas flow back along the edges, each weighted by the edge's own weight;**
# - **where paths meet, they are summed;**
# - **the sum, times the local slope, is the next delta;**
# - **a weight's gradient is the delta at its end times what comes in at its beginning.**
#
# The first three steps for all hidden neurons, in numbers:

# %% tags=["hide-input"]
# What each hidden neuron hears from the outputs.
shares = W2 * delta_g  # (3, 2): from each hidden neuron's edges, delta times weight
table(
    [(f"H{j + 1}", *(f"{W2[j, k]:g} · ({delta_g[k]:.4f}) = {shares[j, k] + 0.0:.4f}" for k in (0, 1)),
      f"{shares[j].sum():.4f}", "more" if shares[j].sum() < 0 else "less") for j in range(3)],
    ["", "from O1", "from O2", "sum", "so it should say"], align="lrrrl",
    caption="Weight times delta. Times the slope of its own sigmoid, the sum is the neuron's delta.",
)

# %% [markdown]
# H1 and H3 push O1 down, and O1 wants to rise, so both are asked for less. Now go on with Next in the figure at the
# top: the same numbers stand on the edges when it comes to the delta of each hidden neuron.
#
# What remains is to write this for many neurons and samples at once, to find out what it costs, and to make sure that
# it is right.
#
# ## A whole layer
#
# The sum over both outputs, for all three hidden neurons at once, is a product of a matrix and a vector:
# $\partial J/\partial a_j = \sum_k (W_2)_{jk}\,\delta_k$. And each weight's gradient is what comes in at its beginning
# times the delta at its end. `np.outer` makes a matrix of all such pairs.

# %%
delta_z = (W2 @ delta_g) * a * (1 - a)  # (3, 2) (2,) -> (3,)
dW2_x = np.outer(a, delta_g)            # (3,) (2,) -> (3, 2)
dW_x = np.outer(x, delta_z)             # (3,) (3,) -> (3, 3)
print(f"dJ/dW2 =\n{dW2_x.round(4)}\ndJ/dW =\n{dW_x.round(5)}")

# %% [markdown]
# Three lines give all fifteen slopes. In the second column of $\partial J/\partial W$, at the top, is the $-0.00064$ of
# the weight from I1 to H2; compare others with the figure at the top, after All.
#
# ## A whole batch: the formulas with shapes
#
# One sample is a row. Put $B$ samples under each other, and every vector becomes a matrix.[^Dey "Feedforward NN Forward
# Propagation"] There are $D$ inputs, $M$ hidden neurons and $C$ outputs.
#
# | forward | shapes |
# |---|---|
# | $Z = X W$ | $(B, D)\,(D, M) \to (B, M)$ |
# | $A = f(Z)$ | $(B, M)$ |
# | $G = A W_2$ | $(B, M)\,(M, C) \to (B, C)$ |
# | $O = f(G)$ | $(B, C)$ |
# | $J = \frac12 \sum (O - Y)^2$ | one number |
#
# Our sample is the first row, and three others join it. The network stays the same.

# %%
X = np.array([x, [1, 0, 0.5], [-0.5, 0.2, 1], [0, 1, -1]])  # (4, 3)
Y = np.array([y, [0.1, 0.9], [0.9, 0.9], [0.1, 0.1]])       # (4, 2)

def forward(X, W, W2):
    Z = X @ W    # (B, D) (D, M) -> (B, M)
    A = f(Z)
    G = A @ W2   # (B, M) (M, C) -> (B, C)
    O = f(G)
    return Z, A, G, O

Z, A, G, O = forward(X, W, W2)
print(f"outputs, a row for each sample:\n{O.round(2)}")

# %% [markdown]
# The first row is our sample, as before. The forward pass returns the matrices in between as well, since the backward
# pass needs them. This is why training takes more memory than prediction.
#
# ### From the loss to the second matrix
#
# For sample $i$ and output $k$, delta is what it was by hand: $(o_{ik} - y_{ik})\,f'(g_{ik})$.[^Dey "Chain Rule"] All
# of them together are a matrix, $\delta_G = \partial J/\partial G$, of the shape of $G$. A weight of $W_2$ reaches the
# loss through every sample. Each sample is one path, and paths add. For the weight from hidden neuron $j$ to output
# $k$ that is $\sum_i a_{ij}\,(\delta_G)_{ik}$, and the sum over the samples is just what a product of matrices does:
#
# $$\frac{\partial J}{\partial W_2} = A^T \delta_G$$
#
# The shapes are $(M, B)\,(B, C) \to (M, C)$.
#
# ### From there to the first
#
# $a_{ij}$ feeds every output $k$. The paths add over $k$ this time: row $i$ of $\delta_G$ times column $j$ of
# ${W_2}^T$. That is the sum over the outputs in the table above, for each sample. Times the local slope $f'(z_{ij})$ it
# is the delta of hidden neuron $j$. And times the input $x_{ip}$, summed over the samples, it is the gradient of the
# weight from input $p$.[^Dey "Computing gradient w.r.t W"] The star multiplies element by element:
#
# $$\delta_Z = (\delta_G {W_2}^T) * f'(Z)$$
#
# $$\frac{\partial J}{\partial W} = X^T \delta_Z$$
#
# The shapes are $(B, C)\,(C, M) \to (B, M)$ and $(D, B)\,(B, M) \to (D, M)$.
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
print(f"dJ/dW2 =\n{dW2.round(4)}\ndJ/dW =\n{dW.round(4)}")

# %% [markdown]
# If you would rather see the sums than the products of matrices, here is the same with loops. Each inner line adds one
# path's contribution.

# %%
def backward_loops(X, Y, W2, Z, A, G, O):
    (B, D), (M, C) = X.shape, W2.shape
    dW, dW2 = np.zeros((D, M)), np.zeros((M, C))
    for i in range(B):
        delta = (O[i] - Y[i]) * f_prime(G[i])
        for j in range(M):
            da = 0.0
            for k in range(C):
                dW2[j, k] += A[i, j] * delta[k]
                da += delta[k] * W2[j, k]
            for p in range(D):
                dW[p, j] += X[i, p] * da * f_prime(Z[i, j])
    return dW, dW2

# %% tags=["hide-input"]
# The comparison of three ways: matrices, loops and measurement.
def loss(W, W2):
    return 0.5 * np.sum((forward(X, W, W2)[-1] - Y) ** 2)

loop_dW, loop_dW2 = backward_loops(X, Y, W2, Z, A, G, O)
by_nudging = checks.numerical_gradient(lambda w: loss(w, W2), W), checks.numerical_gradient(lambda w: loss(W, w), W2)
for ours, loops, measured_dw in zip((dW, dW2), (loop_dW, loop_dW2), by_nudging):
    checks.check_close(loops, ours, rtol=1e-12)
    checks.check_close(ours, measured_dw, rtol=1e-6, atol=1e-9)
print("matrices and loops give the same to 12 digits, matrices and nudging to 6")

# %% [markdown]
# ### See it run
#
# Below each matrix, on a coloured strip, stands its gradient: it has the same shape. Dashed cells are still to be
# computed. At each step, look at the matrices with a grey rim, which are read: do their shapes fit? `dO` is
# $\partial J/\partial O$, `dA` is $\partial J/\partial A$. (`Y` is given and needs no gradient, so the loss J has the
# place below it.)

# %%
figures.backprop.backprop_stepper(X, W, W2, Y)

# %% [markdown]
# There are three things to see.
#
# - The backward steps need what is given, `X`, `Y` and `W2`, and all that the forward pass returned: `Z`, `A`, `G` and
#   `O`. (For a sigmoid `A` and `O` would do, since its slope can be had from its value. The loop
#   below uses that.)
# - Only the two gradients of weights, `dW` and `dW2`, mix samples. In all other gradients each row belongs to one
#   sample.
# - The last sample has 0 at I1, so in $X^T \delta_Z$ its row of $\delta_Z$ is multiplied by 0 there. A sample cannot
#   teach the weights of an input that it does not have.
#
# ### Two slips that NumPy lets pass
#
# Put the backward pass into one line, and it holds two kinds of product: $X^T \big((\delta_G {W_2}^T) * f'(Z)\big)$. It
# is tempting to write it from left to right, without the brackets, as `X.T @ delta_G @ W2.T * f_prime(Z)`. With our
# four samples and three inputs, NumPy refuses: (3, 3) and (4, 3) do not fit. But take only the first three samples,
# as many as there are inputs:

# %%
first = slice(0, 3)
delta_G = (O - Y) * f_prime(G)
left_to_right = X[first].T @ delta_G[first] @ W2.T * f_prime(Z[first])
right_order = X[first].T @ ((delta_G[first] @ W2.T) * f_prime(Z[first]))

def loss_of_three(w):
    return 0.5 * np.sum((forward(X[first], w, W2)[-1] - Y[first]) ** 2)

truth = checks.numerical_gradient(loss_of_three, W)
ways = {"left to right": left_to_right, "right order": right_order, "measured": truth}
table(
    [(name, *dw[0]) for name, dw in ways.items()],
    ["first row of dJ/dW", "H1", "H2", "H3"],
    formats=dict.fromkeys(("H1", "H2", "H3"), ".4f"),
)

# %% [markdown]
# The result is wrong, for H2 even in its sign, and there is no error message.
#
# The other slip needs a network with *one* output. Its outputs are a column, $(B, 1)$, while the answers often come
# as a plain list of $B$ numbers. Subtract one from the other, and **broadcasting** stretches both to a square:

# %%
column, answers = O[:, :1], Y[:, 0]  # one output, one answer for each sample
print("shapes:", column.shape, answers.shape,
      "difference:", (column - answers).shape)
stretched = 0.5 * np.sum((column - answers) ** 2)
print(f"loss {stretched:.3f}, right: {0.5 * np.sum((column[:, 0] - answers) ** 2):.3f}")

# %% [markdown]
# Every output is compared with every answer: sixteen differences instead of four, and a loss without an error message.
# (A backward pass by hand would stop soon, at shapes that clash. A framework that differentiates this loss for you does
# not.)
#
# Shapes catch a slip only when the wrong sizes clash. A gradient check, near the end of this page, does not depend on
# them, and catches the first slip. It cannot catch the second: it asks whether the slopes fit the loss, not whether the
# loss is the one you meant.
#
# ## With biases
#
# A neuron usually has a **bias** $b$ as well: $Z = XW + b$. A bias is the weight of an input that is always 1. So its
# gradient is delta times 1, summed over the samples: $\partial J/\partial b = \sum_i \delta_i$, the sums of delta's
# columns.

# %% [markdown]
# <details><summary>The same four equations in columns, as most books write them: BP1 to BP4</summary>
#
# There, a sample is a column, $l$ is the number of the layer, $L$ the last one, and $\odot$ the star. $w^l$ has a *row*
# for each neuron, so it is the transpose of our matrix.[^Owens "Backpropagation"]
#
# | | one sample, as a column | here, a batch of rows |
# |---|---|---|
# | BP1 | $\delta^L = (a^L - y) \odot f'(z^L)$ | $\delta_G = (O - Y) * f'(G)$ |
# | BP2 | $\delta^l = ((w^{l+1})^T \delta^{l+1}) \odot f'(z^l)$ | $\delta_Z = (\delta_G {W_2}^T) * f'(Z)$ |
# | BP3 | $\partial J/\partial b^l = \delta^l$ | column sums of delta |
# | BP4 | $\partial J/\partial w^l = \delta^l\,(a^{l-1})^T$ | $X^T\delta_Z$, $A^T\delta_G$ |
#
# </details>

# %% tags=["hide-input"]
# BP1 to BP4 as code, for one sample.
def bp_one_sample(x, y, w_1, b_1, w_2, b_2):
    z_hid = w_1 @ x + b_1                       # (M, D) (D,) -> (M,)
    a_hid = f(z_hid)
    z_out = w_2 @ a_hid + b_2                   # (C, M) (M,) -> (C,)
    d_out = (f(z_out) - y) * f_prime(z_out)     # BP1
    d_hid = (w_2.T @ d_out) * f_prime(z_hid)    # BP2
    return np.outer(d_hid, x), d_hid, np.outer(d_out, a_hid), d_out  # BP4, BP3, BP4, BP3

# %% [markdown]
# ## Any number of layers
#
# The step from $\delta_G$ to $\delta_Z$ is the same between any two layers. So a loop does it. Forward, we keep
# the list of all activations, with the input in front. Backward, we walk the list from its end, and carry one thing
# along: the delta. For the sigmoid, $f'(z) = a(1 - a)$. So the activations are enough, and no $z$ has to be kept.

# %%
def forward_all(X, weights, biases):
    values = [X]
    for W, b in zip(weights, biases):
        values.append(f(values[-1] @ W + b))
    return values

def backward_all(Y, weights, values):
    delta = (values[-1] - Y) * values[-1] * (1 - values[-1])
    grads = []
    for layer in reversed(range(len(weights))):
        A = values[layer]  # what went into this layer
        grads.append((A.T @ delta, delta.sum(axis=0)))
        if layer > 0:
            delta = (delta @ weights[layer].T) * A * (1 - A)
    return grads[::-1]     # first layer first

# %% tags=["hide-input"]
# Six layers against a measurement; two layers, with biases, against BP1 to BP4.
rng, sizes = np.random.default_rng(0), (3, 8, 8, 8, 8, 8, 2)
weights, biases = [rng.standard_normal(shape) for shape in pairwise(sizes)], [np.zeros(n) for n in sizes[1:]]
grads = backward_all(Y, weights, forward_all(X, weights, biases))
for layer, (dw, _) in enumerate(grads):
    def moved(w, layer=layer):
        changed = [*weights[:layer], w, *weights[layer + 1 :]]
        return 0.5 * np.sum((forward_all(X, changed, biases)[-1] - Y) ** 2)
    checks.check_close(dw, checks.numerical_gradient(moved, weights[layer]), rtol=1e-5, atol=1e-9)
b, b2 = np.array([0.5, -0.25, 1.0]), np.array([-0.5, 0.25])
(loop_dW, loop_db), (loop_dW2, loop_db2) = backward_all(Y, [W, W2], forward_all(X, [W, W2], [b, b2]))
samples = [bp_one_sample(X[i], Y[i], W.T, b, W2.T, b2) for i in range(len(X))]
dW_sum, db_sum, dW2_sum, db2_sum = [sum(sample[part] for sample in samples) for part in range(4)]
for ours, theirs in ((loop_dW, dW_sum.T), (loop_db, db_sum), (loop_dW2, dW2_sum.T), (loop_db2, db2_sum)):
    checks.check_close(ours, theirs, rtol=1e-12)
print(f"through {len(grads)} layers, as measured; through 2 layers with biases, as BP1 to BP4")

# %% [markdown]
# Fourteen lines, and they are all that a sigmoid network of any depth needs. Let them go back through six layers, with
# eight neurons in each hidden layer, and look at the size of each layer's gradient. The weights are random numbers from
# a normal distribution with standard deviation 1. To be fair, take twenty such networks. One network's gradient may be
# many times another's, so we average the logarithms and take exp of that: the *geometric mean*.

# %%
def random_network(sizes, rng, scale=1.0):
    weights = [scale * rng.standard_normal(shape) for shape in pairwise(sizes)]
    return weights, [np.zeros(n) for n in sizes[1:]]

def gradient_sizes(seed, scale):
    weights, biases = random_network((3, 8, 8, 8, 8, 8, 2), np.random.default_rng(seed), scale)
    grads = backward_all(Y, weights, forward_all(X, weights, biases))
    return [np.abs(dw).mean() for dw, _ in grads]

def geometric_mean(sizes):  # of the networks, layer by layer
    return np.exp(np.mean(np.log(sizes), axis=0))

layer_sizes = geometric_mean([gradient_sizes(seed, 1.0) for seed in range(20)])
table(list(enumerate(layer_sizes, start=1)), ["layer", "mean size of an entry of dJ/dW"], align="rr",
      formats={"mean size of an entry of dJ/dW": ".5f"}, caption="Geometric mean of twenty networks")  # fmt: skip

# %% [markdown]
# From the last layer to the first, the gradient shrinks 43 times. This is the **vanishing gradient**: the first layers
# hardly learn. The reason is the line `delta = (delta @ weights[layer].T) * A * (1 - A)`. At each layer a delta is
# multiplied by weights, and by the slope of the sigmoid, which is a quarter at best.
#
# Would larger weights help? With standard deviation 3, each delta is multiplied by three times as much at each layer.
# Five layers back, that is $3^5 = 243$ times; with 20 it is 3.2 million times. But the sums $z$ are wider too, and a
# sigmoid is steep only where $z$ is near 0. Call it flat if its slope is below 0.05, a fifth of the steepest. With 3,
# about half of the hidden sigmoids are still steep; with 20, one in twelve. A delta comes back along $8^5 = 32{,}768$
# paths, and a single flat sigmoid of five closes a path. How many are left?

# %% tags=["hide-input"]
# A prediction.
depth = predict(
    "In a typical network (by the geometric mean), the first layer's gradient is 43 times smaller than the last "
    "layer's with standard deviation 1. And with 3, and with 20?",
    ["with both it is the larger one", "with both it is smaller, but by less than 43 times",
     "with 3 it is less than 43 times smaller, with 20 more", "with both it is more than 43 times smaller"],
    answer="with 3 it is less than 43 times smaller, with 20 more",
    reveals=2,
)  # fmt: skip
depth

# %% tags=["hide-output", "hide-input"]
# Weights of five standard deviations, in the same twenty networks.
def open_paths(seed, scale):  # of the 8**5 paths through the hidden layers, those without a flat sigmoid, by sample
    weights, biases = random_network((3, 8, 8, 8, 8, 8, 2), np.random.default_rng(seed), scale)
    hidden = forward_all(X, weights, biases)[1:-1]
    return np.prod([np.sum(A * (1 - A) >= 0.05, axis=1) for A in hidden], axis=0)

scales = (0.3, 1.0, 3.0, 10.0, 20.0)
by_scale = {scale: [gradient_sizes(seed, scale) for seed in range(20)] for scale in scales}
paths_open = {scale: np.array([open_paths(seed, scale) for seed in range(20)]) for scale in scales}
shrinking = {scale: (lambda size: size[-1] / size[0])(geometric_mean(sizes)) for scale, sizes in by_scale.items()}
table(
    [(f"{scale:g}", f"{float(f'{shrinking[scale]:.2g}'):,g}", f"{paths_open[scale].mean():,.0f}",
      f"{np.sum(paths_open[scale].max(axis=1) == 0)}") for scale in scales],
    ["weights", "times smaller", "open paths", "networks with none"], align="rrrr",
    caption="By the standard deviation of the weights: how many times the first layer's gradient is smaller than the "
    "last's, and how many of 32,768 paths meet no flat sigmoid (mean)",
)

# %% [markdown]
# <details class="reveal"><summary>Larger weights on fewer and fewer paths</summary>
#
# With standard deviation 1 most paths are open. With 3, about $1/2^5$ of them should be, and one in 36 is. But it
# carries 243 times as much as before: a win. With 20 an open path would carry 3.2 million times as much. But
# $32{,}768/12^5$ is about 0.1: most networks have none, 17 of the 20 here, for any sample. So the win sits in
# a few networks, and the typical one loses. (With 20, one network's first layer has more than 20 times the gradient
# of its last, another's less than a hundred-millionth of it.)
#
# No size in the table cures it. Small weights shrink the deltas, and large ones flatten the sigmoids. That is one
# reason why deep networks use ReLU today, whose slope is 1 or 0, with weights of a well-chosen size (lesson 06b).
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was measured.
three, twenty = shrinking[3.0] / shrinking[1.0], shrinking[20.0] / shrinking[1.0]
depth.confirm("with both it is the larger one" if max(shrinking[3.0], shrinking[20.0]) < 1
              else "with 3 it is less than 43 times smaller, with 20 more" if three < 1 < twenty
              else "with both it is more than 43 times smaller" if three > 1
              else "with both it is smaller, but by less than 43 times")  # fmt: skip

# %% [markdown]
# ## It learns what the perceptron could not
#
# Lesson 01 ended with XOR and with the parity of three inputs,[^Hwu "the truth table of three inputs"] which no single
# neuron can do.[^Dey "XOR?"] A network with a hidden layer can, and now you can train one: forward, backward, one step
# *against* the gradient, and again.[^Dey "Training Using Backpropagation"]

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
# First with two hidden neurons, because two activations can be drawn as a point. In the lower pictures, each mark is a
# sample of XOR as the hidden layer sees it. The line is the output neuron's: on its shaded side the answer is 1.

# %% tags=["hide-input"]
# XOR: the loss of every step, and the hidden activations before and after.
X_xor, labels = data.truth_table("xor")
Y_xor = labels[:, None].astype(float)  # (4,) -> (4, 1): a column, for the reason above
start = random_network((2, 2, 1), np.random.default_rng(2))
*trained_two, losses = train(X_xor, Y_xor, (2, 2, 1), 2.0, 1000, np.random.default_rng(2))
before, after = forward_all(X_xor, *start)[1], forward_all(X_xor, *trained_two)[1]
figures.show(
    figures.backprop.learning(
        losses, before, after, labels, [(w2.ravel(), b2.item()) for (_, w2), (_, b2) in (start, trained_two)]),
    alt="The loss of XOR stays on a plateau near a half at first, then falls to almost zero. Before the training no "
    "line separates the classes in the plane of the hidden activations, and all four lie on the side of class 1; "
    "after it, the two samples of class 0 lie together in one corner, the two of class 1 in two other corners, and the "
    "output neuron's line runs between.",
    caption="XOR with two hidden neurons: the loss at each step, and where the hidden layer puts the four samples.",
)

# %% [markdown]
# Before, the classes lie crosswise, as in the truth table itself: the two dotted lines, one for each class, cross. No
# line separates them, and all four samples lie on the shaded side. After, the hidden layer has moved the samples to
# where *one line* does. (The two of class 0 lie on each other, so you see three marks.) Nobody told the hidden neurons
# to do this. All they ever got was their delta.
#
# And in the plane of the inputs? Each hidden neuron draws a line of its own there, where its sum is 0:

# %% tags=["hide-input"]
# The plane of XOR, cut by the network of two hidden neurons, with the line of each.
def xor_class(points):
    return (forward_all(points, *trained_two)[-1].ravel() > 0.5).astype(int)

assert list(xor_class(np.array([[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]]))) == [1, 0, 1]
(w_hidden, _), (b_hidden, _) = trained_two
figures.show(
    figures.backprop.learned_plane(
        X_xor, labels, xor_class, [(f"H{j + 1}", w_hidden[:, j], b_hidden[j]) for j in (0, 1)]),
    alt="Two dashed lines, one for each hidden neuron, run from bottom left to top right. The two corners of class 0 "
    "lie in the band between them, a corner of class 1 on either side of it.",
    caption="Walk from (0, 1) to (1, 0): class 1, then class 0, then class 1 again. A walk along a straight path "
    "crosses a single straight line at most once. Two neurons draw two lines.",
)

# %% [markdown]
# Each hidden neuron has put its line between one sample of class 1 and the three others. The output neuron says 1 where
# either of them fires, so the borders of its answer follow the two lines.
#
# Not every start is as lucky with two neurons. With eight there is room to spare, and both tables are learned:

# %%
trained = {}
for name in ("xor", "parity3"):
    inputs, answers = data.truth_table(name)
    rng = np.random.default_rng(0)
    sizes = (inputs.shape[1], 8, 1)
    *trained[name], _ = train(inputs, answers[:, None], sizes, 2.0, 3000, rng)
    out = forward_all(inputs, *trained[name])[-1].ravel()
    print(name, "targets", answers, "predicted", (out > 0.5).astype(int))

# %% [markdown]
# ### How large should the starting weights be?
#
# The training starts with random numbers of standard deviation 1, in all layers. Equal weights are no use: equal
# neurons get equal deltas and stay equal (lesson 03). But how large should different ones be? Training changes them
# anyway. So multiply all starting weights by 0.1, and count the steps until the loss of XOR is below 0.05.
#
# Think of what such a network does at first. What does a hidden neuron say when its weights are nearly 0? And how much
# of the output's delta comes back to it through $W_2$?

# %% tags=["hide-input"]
# A prediction.
start_scale = predict(
    "XOR, 8 hidden neurons, five seeds, the same learning rate. How many steps does it take with starting weights a "
    "tenth as large?",
    ["fewer: it is a careful start", "about as many: training soon makes up for it", "about twice as many",
     "about ten times as many"],
    answer="about ten times as many",
    reveals=2,
)
start_scale

# %% tags=["hide-output", "hide-input"]
# Fifteen trainings, and the step at which each is below 0.05.
needed_steps, solved = {}, {}
for scale in (0.01, 0.1, 1.0):
    needed_steps[scale] = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        *_, losses = train(X_xor, Y_xor, (2, 8, 1), 2.0, 3000, rng, scale)
        if min(losses) < 0.05:
            needed_steps[scale].append(int(np.argmax(np.array(losses) < 0.05)))
    solved[scale] = len(needed_steps[scale])

def about(steps):
    return f"{round(min(steps), -1):,} to {round(max(steps), -1):,}" if steps else "not in 3,000"

table([(scale, solved[scale], about(steps)) for scale, steps in needed_steps.items()],
      ["starting weights times", "learned, of five", "after about so many steps"], align="rrr")

# %% [markdown]
# <details class="reveal"><summary>Too small is nearly equal</summary>
#
# With weights near 0, every hidden neuron says about a half, whatever goes in. So they are nearly equal. And the way
# back to the first layer leads through $W_2$, which is nearly 0 too, so hardly any delta arrives. A scale of 0.1 gets
# away after about ten times as many steps as 1.
#
# A scale of 0.01 makes the deltas of the hidden layer a hundred times smaller. The network soon gives 0.5 for all
# four samples, and after 20,000 steps the loss is still 0.500000. (It is a saddle, as in lesson 03: most runs get
# away, after some 100,000 steps.) Random is not enough: the size matters too, and lesson 06b finds a good one.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed.
times_longer = np.median(needed_steps[0.1]) / np.median(needed_steps[1.0])
start_scale.confirm("it never learns" if solved[0.1] == 0 else "about ten times as many" if times_longer > 5 else
                    "about twice as many" if times_longer > 1.5 else "fewer: it is a careful start"
                    if times_longer < 0.8 else "about as many: training soon makes up for it")  # fmt: skip
assert solved == {0.01: 0, 0.1: 5, 1.0: 5}

# %% [markdown]
# ## What does it cost?
#
# Take the digit network of lesson 06: 784 inputs, 128 hidden neurons, 10 outputs, and a batch of 64. We count
# multiplications in products of matrices. A product $(q, r)\,(r, s)$ has $q\,s$ results, each a sum of $r$ products, so
# it costs $qrs$. (Elementwise steps are left out; there are several hundred times fewer.)

# %% tags=["hide-input"]
# A prediction.
price = predict(
    "A layer's backward pass computes the slopes of its weights, and the slopes of its inputs for the layer before it. "
    "How much does it cost, compared with the layer's forward pass?",
    ["half as much", "the same", "twice as much", "three times as much"],
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
# Each product of the forward pass has two partners on the way back: one for the slopes of its weights, one for the
# slopes of its input. Both have the same three sizes in another order, so each costs as much as the forward product.
# Hence twice, whatever the sizes are.
#
# The very first layer can do without the second partner, $\partial J/\partial X$, because nobody trains the pixels.
# Here the first layer is 98.7 % of the work, so backward costs only about one forward pass. With $L$ equal layers it
# is $(2L - 1)/L$ forward passes: 1 for one layer, 1.5 for two, 1.9 for ten. So "backward costs twice forward" is
# nearly true of deep networks, and too high a figure for shallow ones.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by the counts.
price.confirm("twice as much" if every == 2 * one_forward else "the same")

# %% [markdown]
# Now the rival. Measuring slopes by nudging is called **finite differences**. Central ones, as above, cost two forward
# passes for each parameter. **One-sided** ones, $(J(w + \epsilon) - J(w))/\epsilon$, cost one for each, and
# one for $J(w)$.

# %% tags=["hide-input"]
# What one gradient of the digit network costs, in forward passes.
parameters = 784 * 128 + 128 + 128 * 10 + 10  # weights and biases
costs = {
    "forward": one_forward,
    "forward + backward": one_forward + needed,
    "the same with dX": one_forward + every,
    "one-sided differences": (parameters + 1) * one_forward,
    "central differences": 2 * parameters * one_forward,
}
passes = {name: f"{cost / one_forward:,.2f}".removesuffix(".00") for name, cost in costs.items()}
table([(name, passes[name]) for name in costs if name != "forward"], ["one gradient by", "forward passes"], align="lr")

# %% [markdown]
# Two forward passes, or three, against 101,771 or 203,540, for the same 101,770 numbers. There are many weights
# and one loss. Finite differences start at the weights, and go through the same later layers anew for each of them.
# Backpropagation goes through those layers once, from the loss back, and keeps the result: the delta.
#
# In seconds, on the machine that built this page: a forward pass and a whole backpropagation were measured, the rest is
# multiplied. One epoch means the 4,000 digits of lesson 06, in 63 batches.

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
# A wrong backward pass need not raise an error. Often the network still learns, only worse, and nobody notices. So
# finite differences keep one job: they are too slow for training, and just right for checking. You have used such a
# check several times on this page, where the loss was at hand. How do you check one operation alone, such as the
# sigmoid?
#
# ### First: invent a loss
#
# In the library, a network is cut into operations. Each has a `_forward`, which returns its result and a cache of what
# the way back will need. Its `_backward` gets the slope of the loss with respect to its result, and gives back the
# slope with respect to its input. What it gets is called the **upstream gradient**: it comes from the operations that
# use the result.
#
# An operation alone has no loss behind it. So we invent one. Draw a random matrix $R$ of the shape of the result $A$,
# and call the sum $S = \sum R * A$ the loss. Its slope with respect to $A$ is $R$, so $R$ is the upstream gradient.
# What `_backward` makes of it must be the slope of $S$ with respect to $Z$, and that can be measured entry by entry.

# %%
rng = np.random.default_rng(4)
Z_any, R = 2 * rng.standard_normal((3, 4)), rng.standard_normal((3, 4))

def S(Z):
    return np.sum(R * ops.sigmoid(Z))

result, cache = ops.sigmoid_forward(Z_any)
dZ = ops.sigmoid_backward(R, cache)
by_entry = checks.numerical_gradient(S, Z_any)
print("largest difference below 1e-8:", np.abs(dZ - by_entry).max() < 1e-8)

# %% [markdown]
# ### Second: move everything at once
#
# Entry by entry takes two forward passes for each entry. The linear estimate offers something cheaper: move *all*
# entries at once. Draw a random matrix $V$ of the shape of $Z$, and move $Z$ to $Z + \epsilon V$ and to
# $Z - \epsilon V$. Divided by $2\epsilon$, the change of $S$ must be $\sum dZ * V$: each slope times its entry of
# $V$, summed.
#
# If one slope is wrong, this one number is wrong too. Two wrong slopes could cancel, but with a random $V$ that is very
# unlikely. (Among 100,000 slopes, a tiny error in one can hide below the tolerance. But a wrong formula is rarely wrong
# by so little.)

# %%
V = rng.standard_normal(Z_any.shape)
along = (S(Z_any + 1e-6 * V) - S(Z_any - 1e-6 * V)) / 2e-6
print(f"measured along V {along:.6f}, from the slopes {np.sum(dZ * V):.6f}")

# %% [markdown]
# Two forward passes, for an operation of any size. Both are done in float64, since in float32 such small differences
# drown in rounding. `checks.check_op_gradients` does this for any operation and all of its arguments. Here are all
# operations of the first six lessons, and after them the whole digit network: one random direction for each of its four
# parameter arrays, and one for its input, 64 images. That makes ten forward passes; entry by entry it would
# be 303,892.

# %% tags=["hide-input"]
# Every operation with a backward pass, on small random arguments, and the digit network of lesson 06.
classes = np.array([0, 3, 1])
cases = {name: [Z_any] for name in ("identity", "sigmoid", "tanh", "relu", "leaky_relu", "softplus", "softmax")}
cases["dense"] = [Z_any, rng.standard_normal((4, 5)), rng.standard_normal(5)]
for name in ("half_squared_sum", "quadratic_cost"):
    cases[name] = [Z_any, rng.standard_normal((3, 4))]
for name in ("one_minus_probability", "expected_squared_distance"):
    cases[name] = [ops.softmax(Z_any), classes]
cases["softmax_cross_entropy"] = [Z_any, classes]
for name, args in cases.items():
    checks.check_op_gradients(getattr(ops, name + "_forward"), getattr(ops, name + "_backward"), args, rng=rng)
net = nn.models.mlp((784, 128, 10), rng=np.random.default_rng(0), dtype=np.float64)
checks.check_network_gradients(net, Xd, digits.y_train[:64], rng=rng)
print("no gradient differs: of", len(cases), "operations, and of the digit network")

# %% [markdown]
# ### Does the check catch a slip?
#
# A plain sum of the results would be a loss too, with an upstream gradient of ones. Compare the two on **softmax**,
# which turns each row of scores into probabilities $P$, positive and with the sum 1.[^Hwu "Use Softmax to Produce
# Probabilities"] Lesson 06 derives its backward pass, `right` below; it was among the operations above. Here are three
# wrong ones. All are easy to make: a factor forgotten, a plain mean in place of a weighted sum, two terms swapped.

# %%
def total(rows):
    return rows.sum(axis=-1, keepdims=True)

right = {"right": lambda dP, P: P * (dP - total(dP * P))}
wrong = {
    "forgot P": lambda dP, P: dP - total(dP * P),
    "plain mean": lambda dP, P: P * (dP - total(dP) / dP.shape[-1]),
    "wrong sign": lambda dP, P: P * (total(dP * P) - dP),
}
backwards = right | wrong

def plain_sum_check(backward):
    def plain_sum(Z):
        return ops.softmax(Z).sum()

    measured = checks.numerical_gradient(plain_sum, Z_any)
    computed = backward(np.ones_like(Z_any), ops.softmax(Z_any))
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
    checks.check_op_gradients(ops.softmax_forward, backward, [Z_any], rng=np.random.default_rng(1))

verdicts = {
    name: [verdict(check, backward) for check in (plain_sum_check, random_check)]
    for name, backward in backwards.items()
}
table([(n, *both_checks) for n, both_checks in verdicts.items()], ["backward pass", "plain sum", "random R"])

# %% tags=["hide-output", "hide-input"]
# Entry by entry: computed against measured.
def compare(R):
    measured = checks.numerical_gradient(lambda Z: np.sum(R * ops.softmax(Z)), Z_any)
    return {name: (measured, candidate(R, ops.softmax(Z_any))) for name, candidate in backwards.items()}

results = {"R all ones": compare(np.ones_like(Z_any)),
           "R random": compare(np.random.default_rng(1).standard_normal(Z_any.shape))}
figures.show(
    figures.backprop.check_scatter(results),
    alt="With R all ones, every mark of all four lies on the origin; with a random R only the right one is on the "
    "diagonal.",
    caption="Hollow squares, R all ones: computed and measured are 0 for all four. Crosses, R random: only the right "
    "pass lies on the diagonal; the thin lines are the errors. Each panel has a scale of its own.",
)

# %% [markdown]
# <details class="reveal"><summary>Zero compared with zero</summary>
#
# Each row of a softmax sums to 1 for *every* input. So the plain sum never changes, and its true slope is 0. The three
# wrong passes also give 0 when all upstream gradients are equal. The check compared 0 with 0, twelve times. With a
# random $R$ the right answer is not 0, and only the right pass lies on the diagonal.
#
# So on softmax the plain sum sees no slip that gives 0 for an upstream gradient of ones, the only one that it tries.
# `P * dP`, with the sum forgotten, it would have rejected, since that gives `P` and not 0.
#
# The rule behind it: **a check that has never failed has not been tested.** Break the code on purpose, once, and see
# whether the check rejects it. Data that is all zeros, all ones or symmetric hides mistakes in the same way.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed.
rejected = sum(verdicts[name][0] == "rejected" for name in wrong)
caught.confirm("none" if rejected == 0 else "one" if rejected == 1 else "two" if rejected == 2 else "all three")
assert [both_checks[1] for both_checks in verdicts.values()] == ["passes", *["rejected"] * 3]

# %% [markdown]
# ## Back to the digits
#
# This page began with a network that reads handwritten digits: 101,770 weights and biases, and a slope for each, at
# every step. Now nothing is missing. Take the fourteen lines as they stand, mini-batches of 64 digits, and all 4,000 of
# them. (Lesson 03 took the mean over a batch. `backward_all` takes the sum, so a rate of 0.02 here is one of $64 \cdot
# 0.02 = 1.28$ there.)

# %%
def train_on_digits(epochs, lr, rng):
    weights, biases = random_network((784, 128, 10), rng, scale=0.05)
    x, y = digits.x_train.astype(float), np.eye(10)[digits.y_train]
    for _ in range(epochs):
        order = rng.permutation(len(x))
        for first in range(0, len(x), 64):
            batch = order[first : first + 64]
            grads = backward_all(y[batch], weights, forward_all(x[batch], weights, biases))
            for W, b, (dW, db) in zip(weights, biases, grads):
                W -= lr * dW
                b -= lr * db
    return weights, biases

# %% [markdown]
# Ten epochs make 630 steps. Then let the network read 1,000 digits that it has never seen.

# %%
reads = train_on_digits(10, 0.02, np.random.default_rng(0))
said = forward_all(digits.x_test.astype(float), *reads)[-1].argmax(axis=1)
share = np.mean(said == digits.y_test)
print(f"read correctly: {share:.0%} of {len(said):,} new digits, after {10 * 63} steps")

# %% tags=["hide-input"]
# Eight of the digits that it misreads.
misread = np.flatnonzero(said != digits.y_test)[:8]
figures.show(
    figures.plots.image_grid(
        digits.x_test[misread].reshape(-1, 28, 28),
        [f"{digits.y_test[k]}, read as {said[k]}" for k in misread], cols=4),
    alt="Eight handwritten digits that the network misreads; several are written carelessly.",
    caption="The first eight of the new digits that are misread.",
)

# %% [markdown]
# Each of the 630 steps had all its 101,770 slopes for the price of two forward runs; by nudging, one
# step would have taken 203,540. Every one of these slopes is a product along the paths from a weight to the loss,
# summed over the paths. Backpropagation starts at the end, where the paths meet, and so computes what they share once:
# the delta.
#
# In [lesson 05](05_computation_graph.ipynb) a program finds the backward pass by itself, and in
# [lesson 06](06_training_an_mlp.ipynb) this network learns to read better.

# %% [markdown]
# ## Try it
#
# - In `random_network`, replace the random weights by `np.ones(...)` and train XOR with 8 hidden neurons. It is not
#   learned any more. Look at the columns of `weights[0]` after the training.
#   <details><summary>Answer</summary>
#
#   All columns are equal, as they were at the start. Equal neurons have equal activations and equal deltas, so they get
#   equal steps, for ever. Eight hidden neurons are worth one.
#
#   </details>
# - Train XOR with 2 hidden neurons and seeds 0 to 9, at a rate of 2.0 for 1,500 steps. How many runs get all four rows
#   right? Then with 4, then with 8.
#   <details><summary>Answer</summary>
#
#   8 of 10 with 2, all ten with 4 and with 8. Two are enough to *represent* XOR, but the descent may get stuck.
#
#   </details>

# %% [markdown]
# - In the drawing at the top, set both weights that leave H2 to 0. What is its delta, and which weights can no longer
#   learn? Predict before you press All.
#   <details><summary>Answer</summary>
#
#   H2's delta is 0, since nothing that H2 does reaches the loss, so its three incoming weights have gradients of 0. The
#   two weights that leave H2 still learn: their gradients are the activation of H2 times the deltas of the outputs.
#   After one step they are no longer 0, and H2 is back.
#
#   </details>

# %% [markdown]
# <details><summary>For those who know the lectures</summary>
#
# **Letters.** Prof. Dey writes $W'$ for the second matrix, $\delta^1$ for $\delta_G$ and $\delta^2$ for $\delta_Z$, and
# counts from the end. Prof. Owens counts layers from the beginning, calls the loss $C$, and takes its mean over the
# samples, so his gradients are ours divided by their number.
#
# **Two kinds of product in one line.** Prof. Dey's last line, $\partial J/\partial W = X^T \delta^1 W'^T f'(Z)$, does
# not tell products of matrices from the elementwise one. From left to right it is the slip shown above.
#
# **The sign of the step.** The slide says to update every matrix "with the gradient". The gradient points uphill:
# the update is *minus* the learning rate times the gradient.
#
# **When to step.** In the spoken summary, $W'$ is changed as soon as $\delta^1$ is there. Then $\delta^2$ goes back
# through the *new* matrix, and the result is no gradient of $J$. Compute all gradients first, then take all steps.
#
# **Rounded numbers.** Prof. Owens' example multiplies $.13\,(.35 - .9)\,.35\,(1 - .35)$, where $.13$ and $.35$ are
# rounded, and has $-0.01627$. With all digits it is $-0.01631$.
#
# </details>

# %% [markdown]
# ## Check yourself
#
# **1.** `forward_all` keeps the activations and no weighted sums, because the slope of the sigmoid can be had from its
# value. With which of these could it do the same: tanh, ReLU, and $f(z) = z^2$?
#
# <details><summary>Answer</summary>
#
# With tanh, whose slope is $1 - a^2$, and with ReLU, whose slope is 1 where $a > 0$ and 0 elsewhere. Not with $z^2$:
# its slope is $2z$, and from $a = z^2$ you get the size of $z$, but not its sign.
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
