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
# # 05 · The computation graph: how a library finds gradients by itself
#
# Frameworks look like magic: you write the forward pass, and they hand back every gradient. On this page you build
# that yourself: a list, a loop forward, the same loop backward, and one plus sign.
#
# **K** is Prof. Dey's lecture 56 at IIT Kharagpur with its slides, **O** is Prof. Owens' EEC 289Q lecture 11 at UC
# Davis, **H** is ECE 508 lecture 10 by Prof. Hwu and colleagues at Illinois. A note such as (K, "Computation
# Graph") names the lecture and the slide that a fact comes from. The page takes about 45 minutes.

# %% [markdown]
# ## You will be able to
#
# - draw a formula as a graph, and put its nodes into an order in which they can be computed;
# - write a small library that finds every gradient of such a graph, on one screen;
# - say where gradients must be added, and which weights go wrong if they are not;
# - name the four parts of a deep-learning library, and find each of them in this one.

# %% [markdown]
# ## Why
#
# In lesson 04 you derived the backward pass of one network by hand. Add a layer, or connect one twice, and you
# derive again. Libraries such as TensorFlow and Theano describe a network by a graph instead (K, "Building a DL
# Library"), and get the derivation from the graph.

# %%
import inspect

import numpy as np

from course_lib import checks, data, figures, nn
from course_lib import reference as ops
from course_lib.nn import graph

# %% [markdown]
# ## The smallest example by hand
#
# Take $J = (x\,w)\,(x + w)$ at $x = 3$, $w = 2$. Give the steps names: $u = x\,w$, $v = x + w$, $J = u\,v$. As a
# picture this is a **graph**: boxes called **nodes**, and arrows called **edges** (K, "Computation Graph"). A node
# without an incoming edge is a given value, a **leaf**. A node with incoming edges is a function of the nodes they
# come from, its **parents**; it is their **child**. The last node, whose derivatives we want, is the **goal**.

# %%
x_node, w_node = graph.variable(3.0, "x"), graph.variable(2.0, "w")
u_node, v_node = x_node * w_node, x_node + w_node
diamond = u_node * v_node
u_node.name, v_node.name, diamond.name = "u", "v", "J"
figures.show(
    figures.graphs.draw(diamond, rows={"J": 0.5}),
    alt="x and w both have edges to u = x * w and to v = x + w; u and v have edges to J = u * v.",
    caption="Values are used along the arrows: x and w are each used twice.",
)

# %% [markdown]
# These lines computed nothing, they built a graph: the library's class of nodes defines what `*` and `+` mean between
# nodes. Roads that part and meet again are called a **diamond**. By hand: forward, $u = 6$, $v = 5$, $J = 30$.
# Backward, each edge has a slope. $\partial J/\partial u = v = 5$ and $\partial J/\partial v = u = 6$. Two roads lead
# from $x$ to $J$, and lesson 04's rule says: multiply along a road, add over the roads.
#
# $$\frac{\partial J}{\partial x} = 5\,w + 6 \cdot 1 = 16, \quad \frac{\partial J}{\partial w} = 5\,x + 6 \cdot 1 = 21$$

# %%
def formula(x, w):
    return (x * w) * (x + w)

by_x = (formula(3 + 1e-6, 2) - formula(3 - 1e-6, 2)) / 2e-6
by_w = (formula(3, 2 + 1e-6) - formula(3, 2 - 1e-6)) / 2e-6
checks.check_close([by_x, by_w], [16, 21], rtol=1e-6)
print(f"measured {by_x:.4f} {by_w:.4f}")

# %% [markdown]
# Step through the whole calculation. Forward, a node is computed when all its parents are. Backward, once its own
# gradient is complete, it sends each parent a **share**: that gradient times the slope of the edge. Watch $x$ and $w$
# in the last two steps: they receive two shares, and keep the sum.

# %%
figures.graphs.walk_stepper(diamond, rows={"J": 0.5})

# %% [markdown]
# ## Build it: a node
#
# K asks a node to know two things: how to compute its value, and its derivative with respect to each parent (K,
# "Computation Graph"). So a node holds two small functions. `compute` takes the parents' values. `shares` takes the
# node's own gradient and the parents' values, and returns what each parent receives. Parents are given when the node
# is made and never changed.

# %%
class Node:
    def __init__(self, value=None, name="", op="", parents=(), compute=None, shares=None):
        self.value, self.grad = value, None
        self.name, self.op, self.parents = name, op, parents
        self.compute, self.shares = compute, shares

# %% [markdown]
# Two operations to begin with. For $a\,b$ the slopes are $b$ and $a$; for $a + b$ both are 1.
# `lambda g, a, b: (g * b, g * a)` takes three values and returns a pair. Calling `times` computes nothing; it writes
# down what to compute.

# %%
def times(a, b, name=""):
    return Node(name=name, op="*", parents=(a, b),
                compute=lambda a, b: a * b, shares=lambda g, a, b: (g * b, g * a))

def plus(a, b, name=""):
    return Node(name=name, op="+", parents=(a, b),
                compute=lambda a, b: a + b, shares=lambda g, a, b: (g, g))

# %% [markdown]
# ## Build it: an order
#
# A **topological order** is a list of all nodes in which parents stand before their children. Walking it, whatever
# a node needs is already there. To make one: before you write a node down, write down its parents; and write no
# node twice, which is what the set `seen` is for.

# %%
def order_of(goal):
    order, seen = [], set()

    def visit(node):
        if node not in seen:
            seen.add(node)
            for parent in node.parents:
                visit(parent)
            order.append(node)

    visit(goal)
    return order

# %% [markdown]
# ## Build it: forward and backward
#
# Forward: loop over the order and compute. Backward: loop over the *reversed* order, and give each parent its share
# (K, "Computations for a CG"). Reversed, all children of a node come before it, so its gradient is complete when
# its turn comes. The plus sign in the last line is where roads meet. (`f(*[a, b])` is `f(a, b)`; `strict=True` makes
# `zip` refuse lists of unequal length; `find_order` can be exchanged, for an experiment below.)

# %%
def forward(goal):
    for node in order_of(goal):
        if node.parents:
            node.value = node.compute(*[p.value for p in node.parents])
    return goal.value

def backward(goal, find_order=order_of):
    order = find_order(goal)
    for node in order:
        node.grad = 0.0
    goal.grad = 1.0
    for node in reversed(order):
        if node.parents:
            shares = node.shares(node.grad, *[p.value for p in node.parents])
            for parent, share in zip(node.parents, shares, strict=True):
                parent.grad = parent.grad + share

# %% [markdown]
# That is the library. Run it on the example, and compare with the numbers by hand. The printed order is one of
# several valid ones: `v` before `u` would do as well, but `J` must be last.

# %%
tiny_x, tiny_w = Node(3.0, name="x"), Node(2.0, name="w")
tiny_J = times(times(tiny_x, tiny_w, "u"), plus(tiny_x, tiny_w, "v"), "J")
forward(tiny_J)
backward(tiny_J)
assert (tiny_J.value, tiny_x.grad, tiny_w.grad) == (30, 16, 21)
print("order:", *[node.name for node in order_of(tiny_J)], "| dJ/dx", tiny_x.grad, "dJ/dw", tiny_w.grad)

# %% [markdown]
# ## Lesson 04's network as a graph
#
# Nothing in the loops says that values are single numbers. With three more operations, each with the backward rule
# of lesson 04, they carry matrices. The graph knows nothing of layers, and nobody derives anything for the whole
# network. (The comma in `(z,)` makes a tuple of one.)

# %%
f, f_prime = ops.ACTIVATIONS["sigmoid"]

def product(a, b, name=""):  # (n, k) @ (k, m)
    return Node(name=name, op="@", parents=(a, b),
                compute=lambda a, b: a @ b, shares=lambda g, a, b: (g @ b.T, a.T @ g))

def sigmoid(z, name=""):
    return Node(name=name, op="sigmoid", parents=(z,), compute=f, shares=lambda g, z: (g * f_prime(z),))

def half_squared_sum(o, y, name=""):
    return Node(name=name, op="half_squared_sum", parents=(o, y),
                compute=lambda o, y: 0.5 * np.sum((y - o) ** 2),
                shares=lambda g, o, y: (g * (o - y), g * (y - o)))

# %% [markdown]
# The samples are XOR's four rows, the weights those of lesson 04's stepper. On the left of each line stands K's
# letter, on the right what it is made of. From here on the letters are matrices.

# %%
inputs, labels = data.truth_table("xor")
targets = labels[:, None].astype(float)
X, W = Node(inputs, name="X"), Node(np.array([[1.0, -2.0, -1.0], [-1.0, 1.0, 1.0]]), name="W")
W2, Y = Node(np.array([[2.0], [4.0], [-4.0]]), name="W'"), Node(targets, name="Y")

Z = product(X, W, "Z")
A = sigmoid(Z, "A")
G = product(A, W2, "G")
O = sigmoid(G, "O")
J = half_squared_sum(O, Y, "J")

# %% [markdown]
# **Predict:** lesson 04's four lines and this graph compute the same gradients. Do they agree (a) to 6 digits, (b)
# to 12 digits, (c) in every bit? `np.array_equal` allows no difference at all.

# %%
forward(J)
backward(J)
delta1 = -(Y.value - O.value) * f_prime(G.value)
delta2 = (delta1 @ W2.value.T) * f_prime(Z.value)
by_hand = {"W": X.value.T @ delta2, "W'": A.value.T @ delta1}
assert np.array_equal(W.grad, by_hand["W"])
assert np.array_equal(W2.grad, by_hand["W'"])
print("equal in every bit\n", W.grad.round(4))

# %% [markdown]
# (c). The graph does not approximate your derivation, and it does not do another one. In reverse order it arrives
# at the same products of the same matrices: `O` sends $\delta^1$ to `G`, `A` sends $\delta^2$ to `Z`, `Z` sends
# $X^T\delta^2$ to `W`. No magic is left to explain.

# %% [markdown]
# ## The library's version
#
# [`course_lib/nn/graph.py`](../course_lib/nn/graph.py) is the same idea with manners: it refuses missing values,
# values exchanged after the forward pass, and cycles (parents changed by force) with a message, and takes every
# operation of `course_lib.reference` by name. How many lines do you think it has, explanations included? Below, the end
# of `graph.backward`. Compare it with yours: one visit per node, reversed order, one plus sign. (`np.copy` gives each
# node an array of its own.)

# %%
print(len(inspect.getsource(graph).splitlines()), "lines; the last ten of backward:")
print("\n".join(inspect.getsource(graph.backward).splitlines()[-10:]))

# %% [markdown]
# One thing differs. Your `backward` begins by setting every gradient to 0. The library's first three lines clear the
# computed nodes only, so leaves go on adding over several calls; *Backward twice* shows what that is good for.
#
# The network again, in the library's words. `apply` takes an operation's name and finds its forward and backward
# functions, the ones you checked in lesson 04. The gradients must again be lesson 04's to the last bit.

# %%
x, w, w2 = graph.variable(inputs, "X"), graph.variable(W.value, "W"), graph.variable(W2.value, "W'")
z = graph.apply("dense", x, w, name="Z")
a = graph.apply("sigmoid", z, name="A")
g = graph.apply("dense", a, w2, name="G")
o = graph.apply("sigmoid", g, name="O")
y = graph.variable(targets, "Y")
loss = graph.apply("half_squared_sum", o, y, name="J")

# %% [markdown]
# One call forward, one call backward. `forward` returns the goal's value; `backward` leaves a gradient, of the shape
# of the value, in each node: in the right answers `Y` too, although nobody will move them.

# %%
print("J =", round(graph.forward(loss), 4))
graph.backward(loss)
assert np.array_equal(w.grad, by_hand["W"])
assert np.array_equal(w2.grad, by_hand["W'"])
print("order:", *[node.name for node in graph.topological_order(loss)])

# %% [markdown]
# ## See it run
#
# The same walk as before, now with matrices. Below each value stands its gradient, `dZ` below `Z`, of the same shape;
# dashed cells wait. `Y` pulls the other way than `O`: look at the signs of `dY` and `dO`.

# %%
figures.graphs.walk_stepper(loss)

# %% [markdown]
# ## What one plus sign is worth
#
# In that network every node is used once, so the plus sign had nothing to add. Now use one twice. A **skip
# connection** adds a layer's input to its output: $S = A + H$ with $H = f(A V)$, $V$ of shape $(3, 3)$. `A` now has
# two children, `P` $= A V$ and `S`.

# %%
V = Node(np.array([[1.0, 0.5, -1.0], [-0.5, 1.0, 0.5], [2.0, -1.0, 1.0]]), name="V")
P = product(A, V, "P")
H = sigmoid(P, "H")
S = plus(A, H, "S")
skip_J = half_squared_sum(sigmoid(product(S, W2, "G"), "O"), Y, "J")
forward(skip_J)
backward(skip_J)
right = {node: node.grad for node in order_of(skip_J)}

# %% [markdown]
# Check it before you break it: the measured gradients of the three weight matrices. `numerical_gradient` calls a
# function with a changed array; ours puts the array into the node and runs the graph.

# %%
def measured_gradient(node):
    def loss_with(value):
        node.value = value
        return forward(skip_J)

    kept = node.value
    result = checks.numerical_gradient(loss_with, kept)
    node.value = kept
    forward(skip_J)
    return result

for node in (W, V, W2):
    checks.check_close(right[node], measured_gradient(node), rtol=1e-6, atol=1e-9)

# %% [markdown]
# **Predict:** write `parent.grad = share` instead of adding, so that the last share wins. Which of the three weight
# gradients go wrong? (a) all of them (b) `V` only, the weights inside the skip (c) `W'` only, after the node that
# is used twice (d) `W` only, before it.

# %%
def backward_without_sum(goal):
    goal.grad = 1.0
    for node in reversed(order_of(goal)):
        if node.parents:
            shares = node.shares(node.grad, *[p.value for p in node.parents])
            for parent, share in zip(node.parents, shares, strict=True):
                parent.grad = share  # the plus sign is missing

backward_without_sum(skip_J)
wrong = [node.name for node in right if not np.allclose(node.grad, right[node])]
print("wrong weights:", [name for name in wrong if name in ("W", "V", "W'")])

# %% [markdown]
# (d). Deltas flow backward, so a mistake at `A` spoils what lies *before* `A` and nothing else. The network would
# still train: `V` and `W'` learn, `W` follows a wrong gradient. No error is raised, and a falling loss hides
# it; a gradient check finds it. Here is every node whose gradient is wrong:

# %%
figures.show(
    figures.graphs.draw(skip_J, wrong=wrong),
    alt=f"Wrong: {', '.join(wrong)}, which are the node A, used twice, and what lies before it.",
    caption="A is used twice and lost one of its two shares. All gradients computed from A's are wrong too.",
)

# %% [markdown]
# ## What goes wrong: one visit per path
#
# Now the opposite mistake. Leave out the set `seen`, and a node is written into the order once for every road that
# leads to it. It looks harmless: parents still stand before children.

# %%
def order_by_path(goal):
    order = []

    def visit(node):
        for parent in node.parents:
            visit(parent)
        order.append(node)

    visit(goal)
    return order

# %% [markdown]
# Take $J = a + a$ with $a = 3x$, so $\partial J/\partial x = 6$. The node `a` stands in the list twice. On its
# first visit its gradient is already complete, 2, and it sends its share; on the second visit it sends the same
# share again.

# %%
leaf = Node(5.0, name="x")
shared = times(leaf, Node(3.0), "a")
double = plus(shared, shared, "J")
forward(double)
backward(double)
print("each node once:", leaf.grad)
backward(double, order_by_path)
print("once per path: ", leaf.grad, "| order:", *[node.name or "3" for node in order_by_path(double)])
assert leaf.grad == 12

# %% [markdown]
# Doubled, and the price is worse than the error. Chain such doublings: $s_1 = s_0 + s_0$, $s_2 = s_1 + s_1$, and so
# on. Each step is one node.
#
# **Predict:** after 16 steps the graph has 17 nodes. How many visits does each version make: 17, 32, 256, or more
# than 100,000?

# %%
def ladder(steps):
    node = Node(1.0)
    for _ in range(steps):
        node = plus(node, node)
    return node

rungs = [1, 2, 4, 8, 12, 16]
by_node = [len(order_of(ladder(n))) for n in rungs]
by_path = [len(order_by_path(ladder(n))) for n in rungs]
for n, few, many in zip(rungs, by_node, by_path, strict=True):
    print(f"{n:>2} steps: {few:>3} visits once per node, {many:>7,} once per path")

# %% [markdown]
# 17 once per node, 131,071 once per path: every step doubles the number of paths, which makes $2^{n+1} - 1$ visits. A
# deep network with skip connections is such a ladder, and no computer would finish one of a hundred steps. **One visit
# per node, in an order that waits for all children**, makes the cost proportional to the number of edges.

# %%
assert by_path == [2 ** (n + 1) - 1 for n in rungs]
figures.show(
    figures.plots.curves({"once per node": by_node, "once per path": by_path}, x=rungs, log=True,
                         xlabel="steps of the ladder", ylabel="visits (logarithmic)"),
    alt=f"With {rungs[-1]} steps, one visit per node makes {by_node[-1]} visits, "
    f"one visit per path {by_path[-1]:,}.",
    caption="On a logarithmic scale a straight line is a doubling at every step.",
)

# %% [markdown]
# ## A long chain
#
# Your `visit` calls itself for each parent. Python limits how deeply calls may nest, to a thousand or a few
# thousand. A recurrent network, which applies one layer again for every word of a text, makes far longer chains.
# Build one of 10,000 additions, and try.

# %%
chain, step = Node(0.0), Node(0.5)
for _ in range(10_000):
    chain = plus(chain, step)
try:
    forward(chain)
except RecursionError as error:
    print(type(error).__name__)

# %% [markdown]
# The library keeps the open nodes in a list of its own instead of Python's call stack; a list can grow as long as
# memory lasts. The node `step` is used 10,000 times, so its gradient is a sum of 10,000 shares of 1.

# %%
chain, step = graph.variable(0.0), graph.variable(0.5)
long = chain
for _ in range(10_000):
    long = long + step
print("value", graph.forward(long), "nodes", len(graph.topological_order(long)))
graph.backward(long)
print("gradients", float(chain.grad), float(step.grad))
assert (chain.grad, step.grad) == (1, 10_000)

# %% [markdown]
# ## Backward twice
#
# What should a second `backward` do: replace the gradients, as yours does, or add to them? In the library, leaves
# **add up** until `zero_grad`. Without `zero_grad`, each training step would use the sum of all gradients so far;
# forgetting it is a common bug.

# %%
graph.zero_grad(loss)
graph.backward(loss)
first = w.grad.copy()
graph.backward(loss)
assert np.array_equal(w.grad, 2 * first)
graph.zero_grad(loss)
graph.backward(loss)
assert np.array_equal(w.grad, first)
print("second call: doubled; after zero_grad: as the first")

# %% [markdown]
# Why is adding useful? Because a sum over samples can be taken in parts. Two graphs, each with two of the four
# samples, share the leaves `w` and `w2`. Two backward passes leave the gradient of all four. If a batch does not
# fit into memory, this is how to train with it.

# %%
def network_loss(rows):
    hidden = graph.apply("sigmoid", graph.apply("dense", graph.variable(inputs[rows]), w))
    output = graph.apply("sigmoid", graph.apply("dense", hidden, w2))
    return graph.apply("half_squared_sum", output, targets[rows])

graph.zero_grad(loss)
for half in (network_loss(slice(0, 2)), network_loss(slice(2, 4))):
    graph.forward(half)
    graph.backward(half)
checks.check_close(w.grad, first, rtol=1e-12)

# %% [markdown]
# ## From the graph to a library
#
# K lists what a deep-learning library must offer (K, "Building a DL Library"). Here is where each of them lives in
# this course:
#
# | K asks for | here |
# |---|---|
# | constructs to specify a network | `nn.Dense`, `nn.Sigmoid`, ... and `nn.Sequential` |
# | routines for forward, backward, gradients | `net.forward`, `net.backward`, `net.gradients` |
# | routines for training and testing | `nn.train`, `nn.evaluate` |
# | room for parallel and distributed passes | batches that split, and `ops`, an exchangeable backend |
#
# `Sequential` is a chain of layers. A chain needs no search: the list of layers is its topological order, and
# backward is the list reversed.

# %%
print("\n".join(inspect.getsource(nn.Sequential.backward).splitlines()))

# %% [markdown]
# Lesson 04's network a third time, as layers. We put its weights in place of the random ones; `[...] =` writes into
# the existing array. Then one forward, one backward, and the same bits. (`"0.w"` is the `w` of layer 0.)

# %%
rng = np.random.default_rng(0)
net = nn.Sequential(
    nn.Dense(2, 3, rng=rng, bias=False, dtype=np.float64), nn.Sigmoid(),
    nn.Dense(3, 1, rng=rng, bias=False, dtype=np.float64), nn.Sigmoid(),
)
net[0].params["w"][...] = W.value
net[2].params["w"][...] = W2.value

_, cache = ops.half_squared_sum_forward(net.forward(inputs), targets)
net.backward(ops.half_squared_sum_backward(cache))
assert np.array_equal(net.gradients()["0.w"], by_hand["W"])
assert np.array_equal(net.gradients()["2.w"], by_hand["W'"])
print(net)

# %% [markdown]
# ### Training and testing
#
# Two interleaved half moons that no line separates, 400 points to train on and 400 fresh ones to test with.
# `nn.train` does what you did by hand in lesson 04: forward, loss, backward, step, over mini-batches (O,
# "Stochastic gradient descent"). The loss is lesson 03's cross-entropy; it takes the scores of the last layer and
# makes the probabilities itself (lesson 06). Another machine may get a point or two more or less.

# %% tags=["nbval-ignore-output"]
train_set = data.two_moons(400, noise=0.15, rng=np.random.default_rng(1))
test_set = data.two_moons(400, noise=0.15, rng=np.random.default_rng(2))
moons = nn.Sequential(nn.Dense(2, 16, rng=rng), nn.ReLU(), nn.Dense(16, 2, rng=rng))
nn.train(moons, train_set, epochs=40, batch_size=20, lr=0.3, rng=rng)
result = nn.evaluate(moons, *test_set)
print(f"right on {result.accuracy:.1%} of {result.count} test points")

# %% [markdown]
# The picture shows the areas that the trained network assigns, with the test points on top. The border bends around
# both moons; rings mark the test points on its wrong side.

# %%
assert result.accuracy >= 0.95
figures.show(
    figures.plots.decision_plane(*test_set, moons.predict, title="Two moons, test points"),
    alt="A curved border follows the gap between the half moons; hardly a test point lies on its wrong side.",
    caption="No line could do this; the border is bent where the 16 hidden neurons switch on and off.",
)

# %% [markdown]
# ### Room for parallel passes
#
# Two kinds of work can run at the same time. Nodes in one column of the drawings do not depend on each other: `u`
# and `v` of the first example. And samples do not: two workers take half a batch each, and their gradients are
# added, as in *Backward twice*. Below, four workers, one after the other on your machine.

# %%
total = {name: np.zeros_like(p) for name, p in net.parameters().items()}
for row in range(4):  # each worker: its own sample, the same weights
    net.zero_grad()
    _, cache = ops.half_squared_sum_forward(net.forward(inputs[row : row + 1]), targets[row : row + 1])
    net.backward(ops.half_squared_sum_backward(cache))
    for name, gradient in net.gradients().items():
        total[name] += gradient
checks.check_close(total["0.w"], by_hand["W"], rtol=1e-12)
checks.check_close(total["2.w"], by_hand["W'"], rtol=1e-12)

# %% [markdown]
# ## Where the lecture is loose
#
# **A derivative per node, or a share per edge?** K's backward rule says: at each node, compute the derivative of the
# goal with respect to the tail of each incoming edge, the node that it comes from (K, "Computations for a CG"). Read
# literally, that is the whole derivative, once per edge. What one edge brings is a *share*. A node with several
# outgoing edges has the sum of its shares, and the slide does not mention the sum. In the first example:

# %%
share_u, _ = u_node.local_gradients(u_node.grad)  # what u sends to x (and to w)
share_v, _ = v_node.local_gradients(v_node.grad)
print("shares of x:", float(share_u), "and", float(share_v), " derivative:", float(x_node.grad))
assert share_u + share_v == x_node.grad == 16

# %% [markdown]
# ## Try it
#
# - In `backward`, loop over `order` instead of `reversed(order)`. What are the gradients of the first example, and
#   why?
# - Give the tiny library a `relu` with its shares, and put it into the skip network in place of one sigmoid.
#   Measure its gradients.
# - Share a weight: use `W2` in the skip network for two products. Which gradient is now a sum, and does
#   `backward_without_sum` get it right?

# %% [markdown]
# ## Check yourself
#
# **1.** Instead of searching, someone gives each node a number when it is made, and sorts by that number. Is this a
# topological order? Always, or does it depend on a rule that this page states?
#
# <details><summary>Answer</summary>
#
# Yes, always, because parents are given when a node is made and never changed. So they exist before it and have
# smaller numbers; sorted, parents stand before children, and that is all that is asked. If parents could be attached
# later, it would be wrong: a parent could be younger than its child. The search does one thing more: it leaves out
# nodes that the goal does not depend on.
#
# </details>

# %% [markdown]
# **2.** Without the sum, `W` of the skip network was wrong, `V` and `W'` right. Now the input batch `X` is used
# twice instead: once in $XW$, once in a direct product $XU$ that is added to $G$. Which weight gradients are wrong
# without the sum? Would a gradient check of all weights notice the missing plus sign?
#
# <details><summary>Answer</summary>
#
# None. Only the gradient of $X$ itself meets twice, and nothing lies before $X$. The gradients of $W$ and $U$ are
# computed from those of $Z$ and of the product, which each have one child. So the mistake is there, and a check of the
# weights passes; one that includes the input does not.
#
# </details>

# %% [markdown]
# **3.** A training loop calls `graph.forward`, `graph.backward` and a step, and never `zero_grad`. What does the
# third step use as its gradient? When is adding up what you want?
#
# <details><summary>Answer</summary>
#
# The sum of the three gradients so far: the first, taken at the first weights, the second and the third. The steps
# grow and point to where the loss fell before. Adding is what you want when the parts belong to one step: pieces of
# a batch that does not fit into memory, or the samples of several workers.
#
# </details>
