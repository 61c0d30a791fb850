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
# # 04 · Backpropagation: every gradient in one pass back
#
# Many students file backpropagation under "a trick on top of calculus". On this page it is nothing but the chain
# rule, done in an order in which nothing is computed twice. What that order saves is the surprise.
#
# **K** is Prof. Dey's lecture 56 at IIT Kharagpur with its slides, **O** is Prof. Owens' EEC 289Q lecture 11 at UC
# Davis, **H** is ECE 508 lecture 10 by Prof. Hwu and colleagues at Illinois. A note such as (K, "Chain Rule") names
# the lecture and the slide that a fact comes from. The page takes about 45 minutes, the optional part 10 more.

# %% [markdown]
# ## You will be able to
#
# - derive the gradients of a two-layer network in matrix form, and say the shape of every matrix on the way;
# - write the forward and the backward pass in ten lines, with and without biases;
# - count what a gradient costs by backpropagation and by measuring it weight by weight;
# - check a gradient, and explain why a check that has never rejected anything proves little.

# %% [markdown]
# ## Why
#
# Gradient descent needs $\partial J/\partial w$ for every weight. Lesson 03 measured it: nudge one weight, run the
# network, see how the loss moves, go on to the next weight. That works for ten weights. The digit network of lesson
# 06 has 101,770.
#
# **Backpropagation** computes all of them in one walk from the loss back to the input: the **backward pass**, as
# the walk from input to loss is the **forward pass**. We begin with a single weight.

# %%
import inspect
import time

import numpy as np

from course_lib import checks, data, figures, nn
from course_lib import reference as ops

f, f_prime = ops.ACTIVATIONS["sigmoid"]

# %% [markdown]
# ## One weight, by hand
#
# Take the network of lesson 02 (O, "Inference"): three inputs, three hidden neurons, two outputs, sigmoid
# everywhere. Each column of a weight matrix belongs to one neuron. Output neuron O1 should say 0.9 (O,
# "Backpropagation Example"); for O2, which the slide leaves open, we ask 0.1.

# %%
x = np.array([0.5, 0.9, -0.3])
w_hidden = np.array([[1, 2, 1], [-2, 1, -1], [2, -4, 0]], dtype=float)  # (3 inputs, 3 hidden)
w_output = np.array([[-3, 0], [1, 1], [-3, 2]], dtype=float)            # (3 hidden, 2 outputs)
target = np.array([0.9, 0.1])
hidden = f(x @ w_hidden)
output = f(hidden @ w_output)
print("hidden", hidden.round(2), "output", output.round(2))

# %% [markdown]
# Which way should the weight $w = -3$ from H1 to O1 move? Follow it forward: $w$ enters the sum
# $g = w\,h_1 + \dots$, the sum enters $o = f(g)$, the output enters the loss $J = \frac12 (o - t)^2 + \dots$ with the
# target $t$. The thick arrows are the only road from $w$ to $J$.

# %%
figures.show(
    figures.backprop.path_diagram(x, hidden, output, w_hidden, w_output, [(1, 0, 0)]),
    alt=f"The weight -3 leads from H1 = {hidden[0]:.2f} to O1 = {output[0]:.2f}, and O1 to the loss: one road.",
    caption="One weight of the output layer: one road to the loss.",
)

# %% [markdown]
# The chain rule multiplies the three slopes along the road (O, "Backpropagation Example"):
# $\partial J/\partial o = o - t$, then $\partial o/\partial g = f'(g) = o(1-o)$, which lesson 02 lists and measures,
# then $\partial g/\partial w = h_1$, the value that the weight multiplies.

# %%
error, slope, incoming = output[0] - target[0], output[0] * (1 - output[0]), hidden[0]
dJ_dw = error * slope * incoming
print(f"{error:.4f} * {slope:.4f} * {incoming:.4f} = {dJ_dw:.4f}")

# %% [markdown]
# The result is negative: a larger $w$ makes the loss smaller. Do not believe a derivation that has not been measured.
# Measure as in lesson 03: move this one weight by $\epsilon$, a millionth, both ways, and divide the change of $J$ by
# $2\epsilon$. This is a **central difference**.

# %%
def loss_with(w):
    changed = w_output.copy()
    changed[0, 0] = w
    return 0.5 * np.sum((f(hidden @ changed) - target) ** 2)

measured = (loss_with(-3 + 1e-6) - loss_with(-3 - 1e-6)) / 2e-6
checks.check_close(dJ_dw, measured, rtol=1e-6)
print(f"measured {measured:.4f}")

# %% [markdown]
# ## What the neighbours share
#
# The first two factors do not mention $h_1$. They belong to the neuron O1, and all three of its weights use them.
# Their product is called **delta**, $\delta = \partial J/\partial g$: how the loss changes with the neuron's
# weighted sum. Compute it once per neuron, and each weight costs one more multiplication.

# %%
delta = (output - target) * output * (1 - output)  # (2,): one number per output neuron
print("delta", delta.round(4))
print("dJ/dw of O1's three weights", (delta[0] * hidden).round(4))

# %% [markdown]
# ## One layer further back
#
# Now the weight $w = 2$ from I1 to H2. It changes H2, and H2 feeds *both* outputs: two roads lead to the loss.
# When a quantity acts along several roads, its effects add. Along each road the slopes multiply, and the road
# begins with a delta that is already there.

# %%
figures.show(
    figures.backprop.path_diagram(x, hidden, output, w_hidden, w_output, [(0, 0, 1), (1, 1, 0), (1, 1, 1)]),
    alt="The weight 2 leads from I1 to H2, and H2 to both outputs: two roads from one weight to the loss.",
    caption="A weight of the hidden layer: two roads, which share their first part.",
)

# %% [markdown]
# The two outputs disagree about H2: O1 is too small and wants more of it, O2 is too large and wants less. Their
# sum, times the slope of H2's own sigmoid, is the delta of H2.

# %%
blame = delta[0] * w_output[1, 0] + delta[1] * w_output[1, 1]  # along O1, along O2
delta_h2 = blame * hidden[1] * (1 - hidden[1])
print(f"{delta[0]:+.4f} {delta[1]:+.4f} = {blame:+.4f}")
print(f"delta of H2 {delta_h2:.5f}, dJ/dw {delta_h2 * x[0]:.5f}")

# %% [markdown]
# That is all of backpropagation: **deltas flow back along the edges, weighted by the edges' own weights, summed
# where roads meet, and multiplied by the local slope.** Matrices do it for many samples and neurons at once.

# %% [markdown]
# ## The same for a whole batch: the formulas with shapes
#
# K's network (K, "Feedforward NN Forward Propagation") has no biases. $B$ samples, $D$ inputs, $M$ hidden neurons,
# $C$ outputs:
#
# | forward | shapes |
# |---|---|
# | $Z = X W$ | $(B, D)\,(D, M) \to (B, M)$ |
# | $A = f(Z)$ | $(B, M)$ |
# | $G = A W'$ | $(B, M)\,(M, C) \to (B, C)$ |
# | $O = f(G)$ | $(B, C)$ |
# | $J = \frac12 \sum (Y - O)^2$ | one number |
#
# Four different sizes, so that no mistake in a shape can hide: $B=4$, $D=2$, $M=3$, $C=1$. The four samples are
# XOR's truth table. $W'$ is called `W2` in code.

# %%
X, y = data.truth_table("xor")
Y = y[:, None].astype(float)  # (4,) -> (4, 1): a column
W = np.array([[1.0, -2.0, -1.0], [-1.0, 1.0, 1.0]])
W2 = np.array([[2.0], [4.0], [-4.0]])
print(X.shape, W.shape, W2.shape, Y.shape)

# %% [markdown]
# The forward pass in four lines. It returns the matrices in between as well, because the backward pass needs them.
# That is why training takes more memory than use.

# %%
def forward(X, W, W2):
    Z = X @ W    # (B, D) (D, M) -> (B, M)
    A = f(Z)
    G = A @ W2   # (B, M) (M, C) -> (B, C)
    O = f(G)
    return Z, A, G, O

Z, A, G, O = forward(X, W, W2)
J = 0.5 * np.sum((Y - O) ** 2)
print(f"J = {J:.4f}, outputs", O.ravel().round(2))

# %% [markdown]
# ### From the loss to W'
#
# Sample $i$, output $k$: as by hand, $\delta^1_{ik} = -(y_{ik} - o_{ik})\,f'(g_{ik})$ (K, "Chain Rule"). The 1 is an
# index, not a power: 1 for the last layer, 2 for the one before. Weight $w'_{jk}$ reaches the loss through every
# sample, so its roads are the samples, and they add:
#
# $$\frac{\partial J}{\partial w'_{jk}} = \sum_i a_{ij}\,\delta^1_{ik} \qquad\Longrightarrow\qquad
# \frac{\partial J}{\partial W'} = A^T \delta^1 \quad (M, B)\,(B, C) \to (M, C)$$
#
# The matrix product itself adds over the samples. So K's slides, which begin with $\sum_{i=1}^n$ and treat the
# examples 1, 2, 3 one at a time, may end with $A^T\delta^1$ and no $\sum$. (`A[i, :, None]` is row $i$ as a column.)

# %%
delta1 = -(Y - O) * f_prime(G)  # (B, C)
dW2 = A.T @ delta1              # (M, B) (B, C) -> (M, C)
one_at_a_time = sum(A[i, :, None] * delta1[i, None, :] for i in range(len(X)))  # (M, 1) * (1, C)
checks.check_close(dW2, one_at_a_time, rtol=1e-12)
print("dW'", dW2.ravel().round(4), dW2.shape)

# %% [markdown]
# ### From W' to W
#
# $a_{ij}$ feeds every output $k$ through $w'_{jk}$; the roads add over $k$: $\sum_k \delta^1_{ik} w'_{jk}$, which
# is row $i$ of $\delta^1$ times column $j$ of $W'^T$. Then the local slope, then the input (K, "Computing gradient
# w.r.t W"):
#
# $$\delta^2 = (\delta^1 W'^T) * f'(Z) \quad (B, C)\,(C, M) \to (B, M), \qquad
# \frac{\partial J}{\partial W} = X^T \delta^2 \quad (D, B)\,(B, M) \to (D, M)$$
#
# Here $*$ multiplies element by element. The whole backward pass is four lines, and each gradient has the shape of
# its matrix.

# %%
def backward(X, Y, W2, Z, A, G, O):
    delta1 = -(Y - O) * f_prime(G)         # (B, C)
    dW2 = A.T @ delta1                     # (M, B) (B, C) -> (M, C)
    delta2 = (delta1 @ W2.T) * f_prime(Z)  # (B, C) (C, M) -> (B, M)
    dW = X.T @ delta2                      # (D, B) (B, M) -> (D, M)
    return dW, dW2

dW, dW2 = backward(X, Y, W2, Z, A, G, O)
print(dW.round(4))

# %% [markdown]
# ## The loop version
#
# The same without a single matrix product. Every line is a road of the pictures above. Use it to convince yourself of
# the four lines.

# %%
def backward_loops(X, Y, W2, Z, A, G, O):
    (B, D), (M, C) = X.shape, W2.shape
    dW, dW2 = np.zeros((D, M)), np.zeros((M, C))
    for i in range(B):
        delta1 = [(O[i, k] - Y[i, k]) * f_prime(G[i, k]) for k in range(C)]
        for j in range(M):
            blame = 0.0
            for k in range(C):
                dW2[j, k] += A[i, j] * delta1[k]
                blame += delta1[k] * W2[j, k]
            for d in range(D):
                dW[d, j] += X[i, d] * blame * f_prime(Z[i, j])
    return dW, dW2

# %% [markdown]
# Three ways to the same numbers: matrices, loops, and lesson 03's measurement, which knows no chain rule. (`atol`
# allows for the rounding of the measurement.)

# %%
def loss(W, W2):
    return 0.5 * np.sum((Y - forward(X, W, W2)[-1]) ** 2)

loop_dW, loop_dW2 = backward_loops(X, Y, W2, Z, A, G, O)
checks.check_close(loop_dW, dW, rtol=1e-12)
checks.check_close(loop_dW2, dW2, rtol=1e-12)
checks.check_close(dW, checks.numerical_gradient(lambda w: loss(w, W2), W), rtol=1e-6, atol=1e-9)
checks.check_close(dW2, checks.numerical_gradient(lambda w: loss(W, w), W2), rtol=1e-6, atol=1e-9)

# %% [markdown]
# ## See it run
#
# Step through it. Every gradient stands below the matrix whose shape it has. At each step, ask which dashed matrices
# are used and whether their shapes fit. `dO` is $\partial J/\partial O$, `dA` is $\partial J/\partial A$.

# %%
figures.backprop.backprop_stepper(X, W, W2, Y)

# %% [markdown]
# Three things to see. First, the backward steps come back to `O`, `G`, `A`, `Z` and `X`, which had to be kept. Second,
# only the two weight gradients mix samples; every row of the other gradients belongs to one sample. Third, sample 1 is
# $(0, 0)$, so $X^T$ multiplies its row of $\delta^2$ by zero: it cannot teach $W$ anything. A bias could learn from it.

# %% [markdown]
# ## With biases, and in O's letters
#
# O's network has a **bias** $b$ in each neuron: $Z = XW + b$. A bias is the weight of an input that is always 1, so
# its gradient is the delta times 1, summed over the samples: $\partial J/\partial b = \sum_i \delta_i$, shape
# $(M,)$. O writes the whole backward pass as four equations for *one sample as a column* (O, "Backpropagation"),
# with the layer as a superscript and $\odot$ for $*$:
#
# | | O, one sample | here, a batch |
# |---|---|---|
# | BP1 | $\delta^L = \nabla_a C \odot \sigma'(z^L)$ | $\delta^1 = (O - Y) * f'(G)$ |
# | BP2 | $\delta^l = ((w^{l+1})^T \delta^{l+1}) \odot \sigma'(z^l)$ | $\delta^2 = (\delta^1 W'^T) * f'(Z)$ |
# | BP3 | $\partial C/\partial b^l_j = \delta^l_j$ | column sums of $\delta$ |
# | BP4 | $\partial C/\partial w^l_{jk} = a^{l-1}_k \delta^l_j$ | $X^T\delta^2$, $A^T\delta^1$ |
#
# O's $w^l$ is (outputs, inputs), the transpose of $W$; and $\delta^L$, the *last* layer's, is K's $\delta^1$. The
# letters clash: O's $C$ is the loss, our $J$, while our $C$ counts outputs; and the lecture O, the neurons O1 and O2
# and the matrix $O$ share one. $\nabla_a C$ lists all slopes $\partial C/\partial a_k$.

# %%
def bp_one_sample(x, y, w1, b1, w2, b2):
    z_hid = w1 @ x + b1                         # (M, D) (D,) -> (M,)
    a_hid = f(z_hid)
    z_out = w2 @ a_hid + b2                     # (C, M) (M,) -> (C,)
    d_out = (f(z_out) - y) * f_prime(z_out)     # BP1
    d_hid = (w2.T @ d_out) * f_prime(z_hid)     # BP2
    return np.outer(d_hid, x), d_hid, np.outer(d_out, a_hid), d_out  # BP4, BP3, BP4, BP3

# %% [markdown]
# ## The library's version
#
# The library cuts the network into operations. The forward step of each returns `(result, cache)`. Its backward step
# takes the **upstream gradient**, which is $\partial J/\partial\,$result and comes from the operation after it, and the
# cache. A cache holds no more than is needed: dense keeps `x` and `w`, the sigmoid its output and nothing else. This
# is the dense layer's ([`course_lib/reference/dense.py`](../course_lib/reference/dense.py)); its last lines are
# the formulas above. (`need_dx=False` leaves out dx where nobody needs it, as in the first layer of a network.)

# %%
source = inspect.getsource(ops.dense_backward).splitlines()
print(source[0], "    ...", "\n".join(source[-4:]), sep="\n")

# %% [markdown]
# A backward pass is then the forward pass read from the bottom up, every `_forward` replaced by its `_backward`.
# Each cache used in the lower half was made in the upper half, in reverse order.

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

# %% [markdown]
# Are O's four equations and K's matrices the same thing? Add the results of BP1-BP4 over the samples, transpose the
# weights, and compare. With $b = 0$ the weight gradients must also be those of our four lines.

# %%
b, b2 = np.zeros(3), np.zeros(1)
J, (lib_dW, lib_db, lib_dW2, lib_db2) = gradients(X, Y, W, b, W2, b2)
samples = [bp_one_sample(X[i], Y[i], W.T, b, W2.T, b2) for i in range(len(X))]
w1_sum, b1_sum, w2_sum, b2_sum = [sum(sample[part] for sample in samples) for part in range(4)]
for ours, theirs in ((lib_dW, w1_sum.T), (lib_db, b1_sum), (lib_dW2, w2_sum.T), (lib_db2, b2_sum)):
    checks.check_close(ours, theirs, rtol=1e-12)
checks.check_close(lib_dW, dW, rtol=1e-12)
print("db", lib_db.round(4), " db2", lib_db2.round(4))

# %% [markdown]
# ## It learns what the perceptron could not
#
# Lesson 01 ended with XOR and the three-input parity (K, "XOR?"; H, the truth table of three inputs): no single
# neuron can do them. A hidden layer can, and now we can train it: forward, backward, one step *against* the
# gradient, repeat (K, "Training Using Backpropagation").

# %%
def train(X, Y, hidden, lr, steps, rng):
    W, W2 = rng.standard_normal((X.shape[1], hidden)), rng.standard_normal((hidden, 1))
    params = [W, np.zeros(hidden), W2, np.zeros(1)]
    for _ in range(steps):
        _, grads = gradients(X, Y, *params)
        ops.sgd_step(params, grads, lr)  # each parameter -= lr * its gradient
    return params

def predict(params, X):
    W, b, W2, b2 = params
    return f(f(X @ W + b) @ W2 + b2).ravel()

# %% [markdown]
# Eight hidden neurons, 3,000 steps, one seed. The cell raises unless every output lies within 0.1 of its target.

# %%
trained = {}
for name in ("xor", "parity3"):
    inputs, labels = data.truth_table(name)
    trained[name] = train(inputs, labels[:, None], 8, 2.0, 3000, np.random.default_rng(0))
    out = predict(trained[name], inputs)
    assert np.abs(out - labels).max() < 0.1
    print(name, "targets", labels, "predicted", (out > 0.5).astype(int))

# %% [markdown]
# The plane below shows what the hidden layer bought. Walk along the diagonal from $(0, 1)$ to $(1, 0)$: class 1,
# then class 0 in the middle, then class 1 again. One line can be crossed once on a straight walk, and never twice.

# %%
def xor_class(points):
    return (predict(trained["xor"], points) > 0.5).astype(int)

assert list(xor_class(np.array([[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]]))) == [1, 0, 1]
figures.show(
    figures.plots.decision_plane(X, y, xor_class, title="XOR, learned"),
    alt="The two corners of class 0 lie in one band; the two corners of class 1 lie on either side of it.",
    caption="The network cuts the plane twice: class 0 is the band, class 1 what lies beside it.",
)

# %% [markdown]
# ## What does it cost?
#
# **Predict first.** Take the digit network of lesson 06: 784 inputs, 128 hidden neurons, 10 outputs, a batch of 64.
# How many multiplications does the backward pass need, compared with the forward pass?
#
# (a) half as many (b) the same (c) twice as many (d) about 100,000 times as many, one forward pass per weight
#
# What is counted: a product $(p, q)\,(q, r)$ has $p\,r$ results, each a sum of $q$ products, so $pqr$
# multiplications. Elementwise steps are left out; they are several hundred times fewer.

# %%
digits = data.load_digits(seed=0)
rng = np.random.default_rng(0)
Xd = digits.x_train[:64].astype(float)
Yd = np.eye(10)[digits.y_train[:64]]  # row T of the unit matrix for label T: a 1 at class T
Wd, W2d = 0.05 * rng.standard_normal((784, 128)), 0.1 * rng.standard_normal((128, 10))
Zd, Ad, Gd, Od = forward(Xd, Wd, W2d)
delta1d = -(Yd - Od) * f_prime(Gd)
delta2d = (delta1d @ W2d.T) * f_prime(Zd)

# %% [markdown]
# Here are all matrix products, as pairs of the arrays themselves, so that no shape is typed. The last one,
# $\partial J/\partial X$, is what a layer before this one would need. There is none: the pixels are not trained.
# (`|` joins dictionaries.)

# %%
forward_products = {"Z = X W": (Xd, Wd), "G = A W'": (Ad, W2d)}
needed_products = {"dW' = A^T delta1": (Ad.T, delta1d), "dA = delta1 W'^T": (delta1d, W2d.T),
                   "dW = X^T delta2": (Xd.T, delta2d)}
unused_product = {"dX = delta2 W^T": (delta2d, Wd.T)}

def multiplications(products):
    return sum(left.shape[0] * left.shape[1] * right.shape[1] for left, right in products.values())

for name, (left, right) in (forward_products | needed_products | unused_product).items():
    print(f"{name:<17} {left.shape} @ {right.shape} = {multiplications({name: (left, right)}):,}")

# %% [markdown]
# Each forward product has two partners with the same three sizes in another order: one for its weights, one for its
# input. So a layer costs **twice** its forward pass, whatever its size: (c), if you count $\partial J/\partial X$.
# K's four lines leave it out. Then this network pays only 1.01, answer (b), because nearly all its work is in the
# first layer:

# %%
one_forward = multiplications(forward_products)
needed = multiplications(needed_products)
every = needed + multiplications(unused_product)
print(f"backward / forward = {needed / one_forward:.2f}, with dX {every / one_forward:.2f}")
print(f"share of the first layer: {Xd.size * Wd.shape[1] / one_forward:.1%}")

# %% [markdown]
# With $L$ layers of equal size, the backward pass without $\partial J/\partial X$ costs $(2L - 1)/L$ forward passes:
# 1 for one layer, 1.5 for two, 1.9 for ten. So "backward is twice forward" is the rule for deep networks, and the
# upper limit for all.
#
# Measuring each derivative is called **finite differences**. Central ones, as above, cost two forward passes per
# weight. **One-sided** ones, $(J(w + \epsilon) - J(w))/\epsilon$, cost one per weight and one for $J(w)$.

# %%
parameters = 784 * 128 + 128 + 128 * 10 + 10  # weights and biases
costs = {
    "forward": one_forward,
    "forward + backward": one_forward + needed,
    "the same with dX": one_forward + every,
    "one-sided differences": (parameters + 1) * one_forward,
    "central differences": 2 * parameters * one_forward,
}
for name, cost in costs.items():
    print(f"{name:<22} {cost:>18,} = {cost / one_forward:>10,.2f} forward passes")
figures.show(
    figures.backprop.cost_bars(costs, unit=one_forward),
    alt=f"Backpropagation costs 2 or 3 forward passes, one-sided differences {parameters + 1:,}, "
    f"central differences {2 * parameters:,}.",
    caption="One gradient of the digit network. Mind the scale: every grid line is ten times the one before.",
)

# %% [markdown]
# Two forward passes (three with $\partial J/\partial X$) against a hundred thousand, for the same 101,770 numbers. The
# reason is the shared delta: finite differences run the whole network again per weight, although almost nothing in
# it has changed.
#
# In seconds, on the machine that built this page (run the cell to see yours). `backward` leaves
# $\partial J/\partial X$ out, so these are the times of the second row.

# %% tags=["nbval-ignore-output"]
def seconds(work):
    times = []
    for _ in range(100):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)

one_pass = seconds(lambda: forward(Xd, Wd, W2d))
both = seconds(lambda: backward(Xd, Yd, W2d, *forward(Xd, Wd, W2d)))
print(f"one gradient by backpropagation: {1e3 * both:.2f} ms")
print(f"one gradient by central differences: {2 * parameters * one_pass:.0f} s")
print(f"ten epochs of 63 batches: {630 * both:.1f} s against {630 * 2 * parameters * one_pass / 3600:.0f} hours")

# %% [markdown]
# ## Checking a gradient
#
# A wrong backward pass raises no error, and often the network still learns, only worse. So finite differences keep
# one job: too slow for training, they are right for checking. **Gradient checking** compares the backward pass with a
# measurement, in float64, since in float32 the small difference drowns in rounding.
#
# An operation returns a whole matrix, and a gradient is of one number. So the check draws a random matrix $R$ of that
# shape and takes $s(z) = \sum R * \mathrm{out}$. The backward pass, given $R$ as upstream gradient, must return
# $dz = \partial s/\partial z$. To save time the check draws a random $d$ of $z$'s shape as well, and moves all
# elements at once: $(s(z + \epsilon d) - s(z - \epsilon d))/2\epsilon$ must be $\sum dz * d$. That takes two forward
# passes instead of two per element.

# %% [markdown]
# Below, every operation of the first six lessons. A loss is one number already and needs no $R$.
# (`getattr(ops, "relu_forward")` is `ops.relu_forward`, found by its name as a text.)

# %%
rng = np.random.default_rng(4)
z, labels = 2 * rng.standard_normal((3, 4)), np.array([0, 3, 1])
cases = {name: [z] for name in ("identity", "sigmoid", "tanh", "relu", "leaky_relu", "softplus", "softmax")}
cases["dense"] = [z, rng.standard_normal((4, 5)), rng.standard_normal(5)]
for name in ("half_squared_sum", "quadratic_cost"):
    cases[name] = [z, rng.standard_normal((3, 4))]
for name in ("one_minus_probability", "expected_squared_distance"):
    cases[name] = [ops.softmax(z), labels]
cases["softmax_cross_entropy"] = [z, labels]

for name, args in cases.items():
    forward_op, backward_op = getattr(ops, name + "_forward"), getattr(ops, name + "_backward")
    checks.check_op_gradients(forward_op, backward_op, args, rng=rng)
print(len(cases), "operations checked")

# %% [markdown]
# And a whole network: the digit network, built by the library (lesson 05 opens it). One random $d$ for each of its
# four parameter arrays and one for the input: ten forward passes instead of 203,540.

# %%
net = nn.models.mlp((784, 128, 10), rng=np.random.default_rng(0), dtype=np.float64)
checks.check_network_gradients(net, Xd, digits.y_train[:64], rng=rng)
print(net.summary())

# %% [markdown]
# ## What goes wrong: a check that passes everything
#
# It is tempting to leave out $R$ and add up the plain outputs. Try this on **softmax**, which turns a row of scores
# into probabilities $k$ that sum to 1 (H, "Use Softmax to Produce Probabilities"). Its right backward pass is
# $k * (dk - \sum dk * k)$; take it on trust here, lesson 06 derives it. Here are three wrong ones, each a slip you
# could make: the factor $k$ forgotten, a plain mean instead of the sum weighted by $k$, the two terms swapped.

# %%
wrong = {
    "forgot k": lambda dk, k: dk - (dk * k).sum(axis=-1, keepdims=True),
    "plain mean": lambda dk, k: k * (dk - dk.mean(axis=-1, keepdims=True)),
    "wrong sign": lambda dk, k: k * ((dk * k).sum(axis=-1, keepdims=True) - dk),
}
backwards = {"right": ops.softmax_backward} | wrong

# %% [markdown]
# **Predict:** the check below measures the gradient of the plain sum, hands the backward pass an upstream gradient
# of ones, and raises if they differ. How many of the three wrong ones does it catch: none, one, two, or all three?

# %%
def plain_sum_check(backward):
    measured = checks.numerical_gradient(lambda z: ops.softmax(z).sum(), z)
    computed = backward(np.ones_like(z), ops.softmax(z))
    checks.check_close(computed, measured, atol=1e-8)

for name, candidate in backwards.items():
    plain_sum_check(candidate)
    print(f"{name}: passes")

# %% [markdown]
# None. Each row of a softmax sums to 1 for *every* input, so the plain sum never changes and its true gradient is
# 0. The three wrong ones also give 0 when all upstream gradients are equal. The check compared 0 with 0. With a
# random $R$ the right answer is not 0, and the slips show:

# %%
for name, candidate in backwards.items():
    try:
        checks.check_op_gradients(ops.softmax_forward, candidate, [z], rng=np.random.default_rng(1))
        print(f"{name}: passes")
    except checks.GradientMismatch as problem:
        print(f"{name}: {str(problem).split(':')[0]}")

# %% [markdown]
# Element by element: measure each derivative of $\sum R * \mathrm{softmax}(z)$ and plot what each backward pass
# computes against it, one mark per element. Where $R$ is all ones, all twelve marks of every panel lie on the origin,
# right and wrong alike. With a random $R$, only the right backward pass lies on the diagonal.

# %%
def compare(R):
    measured = checks.numerical_gradient(lambda v: np.sum(R * ops.softmax(v)), z)
    return {name: (measured, candidate(R, ops.softmax(z))) for name, candidate in backwards.items()}

results = {"R all ones": compare(np.ones_like(z)),
           "R random": compare(np.random.default_rng(1).standard_normal(z.shape))}
for title, pairs in results.items():
    print(title, "- differ:", [name for name, (m, c) in pairs.items() if np.abs(c - m).max() > 1e-6])
figures.show(
    figures.backprop.check_scatter(results),
    alt="With R all ones, every mark of all four lies on the origin; with a random R only the right one is on the "
    "diagonal.",
    caption="Hollow squares, R all ones: a check that cannot fail. Crosses, R random: one panel of four passes.",
)

# %% [markdown]
# The rule behind it: **a check that has never failed has not been tested.** Break the code on purpose, once, and
# see the check object. Data that is all zeros, all ones or symmetric hides mistakes in the same way.

# %% [markdown]
# ## Where the lecture is loose
#
# **Two kinds of product in one line.** K's last slide of the derivation writes
# $\partial J/\partial W = X^T \delta^1 W'^T f'(Z)$; nothing tells the matrix products from the elementwise one. Read
# as matrix products throughout, the shapes do not fit. Read from left to right, $f'(Z)$ last and elementwise, they
# fit only where there are as many samples as inputs. Take samples 2 and 3 alone, and the wrong reading runs:

# %%
try:
    (delta1 @ W2.T) @ f_prime(Z)
except ValueError:
    print("all matrix products:", (delta1 @ W2.T).shape, "@", Z.shape, "does not exist")
two = slice(1, 3)
left_to_right = (X[two].T @ delta1[two] @ W2.T) * f_prime(Z[two])
right_order = X[two].T @ ((delta1[two] @ W2.T) * f_prime(Z[two]))
truth = checks.numerical_gradient(lambda w: 0.5 * np.sum((Y[two] - forward(X[two], w, W2)[-1]) ** 2), W)
checks.check_close(right_order, truth, rtol=1e-6, atol=1e-9)
for name, result in {"left to right": left_to_right, "right order": right_order, "measured": truth}.items():
    print(f"{name:<13}", result.round(3).tolist())

# %% [markdown]
# The line "left to right" is a wrong gradient that raised nothing. The order is: $\delta^1 W'^T$ first, then
# $*\,f'(Z)$, then $X^T$ from the left.

# %% [markdown]
# ## Optional: four smaller differences from the lectures
#
# **Mean or sum.** O's loss is $C = \frac{1}{2n}\sum_x \lVert y - a\rVert^2$, a mean over $n$ samples; K's $J$ is a
# sum. So O's gradients are K's divided by $n$, here by 4, and a learning rate for one is off by that factor for the
# other (lesson 03).

# %%
_, cache = ops.quadratic_cost_forward(O, Y)
delta_mean = ops.quadratic_cost_backward(cache) * f_prime(G)
checks.check_close(A.T @ delta_mean, dW2 / len(X), rtol=1e-12)

# %% [markdown]
# **The sign of the step.** K's slide says to update every weight matrix "with the gradient". The gradient points
# uphill: the update is $W \leftarrow W - \mathrm{lr}\cdot\partial J/\partial W$, with a minus and a learning rate.

# %%
lr = 0.5
before, minus, plus = (loss(W + s * lr * dW, W2 + s * lr * dW2) for s in (0, -1, 1))
assert minus < before < plus
print(f"J before {before:.4f}, after minus {minus:.4f}, after plus {plus:.4f}")

# %% [markdown]
# **When to step.** K's spoken summary changes $W'$ as soon as $\delta^1$ is there and computes $\delta^2$
# afterwards. Then $\delta^2$ goes back through the *new* $W'$, a network that never made these outputs, and the
# result is not the gradient of $J$ at any point. Compute all gradients first, then take all steps.

# %%
W2_stepped = W2 - 0.5 * dW2
too_late, _ = backward(X, Y, W2_stepped, Z, A, G, O)
print("row 1 of dW with the old W':", dW[0].round(4), " with the new W':", too_late[0].round(4))
assert not np.allclose(dW, too_late, rtol=1e-3)

# %% [markdown]
# **Rounded numbers.** O's example multiplies $.13\,(.35 - .9)\,.35\,(1 - .35)$. Both $.13$ and $.35$ are rounded.
# The slide's factors give $-0.01627$; with all digits the gradient is $-0.01631$. Both are $-0.016$; only the
# second is what the measurement above found.

# %%
from_slide = 0.13 * (0.35 - 0.9) * 0.35 * (1 - 0.35)
print(f"with the slide's digits {from_slide:.5f}, with all digits {dJ_dw:.5f}, measured {measured:.5f}")

# %% [markdown]
# ## Try it
#
# - In `train`, replace the random weights by `np.ones(...)`. XOR is not learned any more. Look at the columns of
#   `params[0]` after training: why can no step ever tell the hidden neurons apart?
# - Train XOR with 2 hidden neurons and seeds 0 to 9. How many runs get all four rows right? Then 4, then 8.
# - In the stepper's cell, set `W2` to zeros. Which gradients vanish, and which does not? Predict before you run it.

# %% [markdown]
# ## Check yourself
#
# **1.** The forward pass keeps $Z, A, G$ and $O$ for the backward pass. With sigmoid as $f$, which two could it
# throw away?
#
# <details><summary>Answer</summary>
#
# $Z$ and $G$. They are used only in $f'(Z)$ and $f'(G)$, and for the sigmoid that slope is $a(1-a)$, so $A$ and $O$
# are enough; so the library's sigmoid keeps its output alone. $A$ is needed a second time, for
# $\partial J/\partial W' = A^T\delta^1$.
#
# </details>

# %% [markdown]
# **2.** You make the hidden layer of the digit network ten times as wide. What happens to the ratio backward :
# forward, and to the ratio finite differences : backpropagation?
#
# <details><summary>Answer</summary>
#
# The first stays: each product still has two partners of its own size (2 with $\partial J/\partial X$, 1.01 without
# it). The second grows about tenfold: there are about ten times as many parameters, finite differences need one or
# two forward passes per parameter, and backpropagation still costs 2.01 in all (3 with $\partial J/\partial X$).
#
# </details>

# %% [markdown]
# **3.** Someone's sigmoid backward pass is `return a * (1 - a)`; it forgets to multiply by the upstream gradient.
# Does a check with a plain sum notice? Does one with a random $R$?
#
# <details><summary>Answer</summary>
#
# The plain sum does not: its upstream gradient is all ones, and multiplying by 1 changes nothing, so the wrong code
# gives the right answer there. With a random $R$ the right answer is $R * a(1-a)$, and the code returns $a(1-a)$:
# rejected. In a network the mistake would cut every delta before that layer off from the loss.
#
# </details>
