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
# # 05 · The computation graph: the engine inside every framework
#
# PyTorch, TensorFlow, JAX: you write down what a network does, and the gradients of all its weights come back. Each of
# them is built around the same small idea, and on this page you turn it into an engine that learns to read handwritten
# digits. Most people suspect algebra in there: a program that is given the formula of the network and differentiates
# it. But no formula of the network is needed, only the slope of each operation. Numbers travel along arrows, once
# forward and once back.
#
# Move x or w, or press Play and watch both walks.

# %% tags=["hide-input"]
import numpy as np

from course_lib import checks, data, figures, nn
from course_lib import reference as ops
from course_lib.lesson import listing, predict, table
from course_lib.nn import graph

x_leaf, w_leaf = graph.variable(3.0, "x"), graph.variable(2.0, "w")
u_node, v_node = x_leaf * w_leaf, x_leaf + w_leaf
diamond = u_node * v_node
u_node.name, v_node.name, diamond.name = "u", "v", "J"
figures.graph_explorers.explorer(diamond, title="J = (x · w) · (x + w): values forward, gradients backward")

# %% [markdown]
# ## You will be able to
#
# - draw a formula as a graph, and put its nodes into an order in which they can be computed;
# - write an engine that finds every gradient of such a graph, and train a network with it;
# - say where gradients must be added, and which weights go wrong if they are not;
# - read a training loop in PyTorch, and say what each of its lines does in your engine.

# %% [markdown]
# <details><summary>About this page</summary>
#
# It follows three slides of Prof. Dey's lecture 56 at IIT Kharagpur, "Computation Graph", "Computations for a CG" and
# "Building a DL Library", and a further topic that Prof. Owens only names, networks of other topologies. You need
# lesson 04. PyTorch appears as a text to read; nothing here imports it. Reading and trying takes about 60 minutes.
#
# </details>

# %% [markdown]
# ## One example by hand
#
# The picture is a **graph**: boxes called **nodes**, and arrows called **edges**.[^Dey "Computation Graph"] A node
# that no edge leads to is a given value, a **leaf**. Every other node is a function of the nodes that its edges come
# from, its **parents**; it is their **child**. The last node, whose derivatives we want, is the **goal**.
#
# Read it from left to right: $u = x\,w = 6$ and $v = x + w = 5$, so $J = u\,v = 30$. Then from right to left. How fast
# does $J$ grow with $u$? With slope $v = 5$. And with $v$? With slope $u = 6$. From $x$, two roads lead to $J$, and
# lesson 04 told us what to do: multiply along a road, add over the roads.
#
# $$\frac{\partial J}{\partial x} = 5\,w + 6 \cdot 1 = 16, \quad \frac{\partial J}{\partial w} = 5\,x + 6 \cdot 1 = 21$$
#
# Roads that part and meet again are called a **diamond**. Go back to the figure, choose *keep the last* instead of *add
# the shares*, and see which nodes are wrong. A good part of this page is about that one choice.

# %% [markdown]
# ## Build it: a node that takes notes
#
# Now without the library. A node has to know two things: how to compute its value, and its derivative with respect to
# each parent.[^Dey "Computation Graph"] So it keeps two small functions. `compute` takes the parents' values. `shares`
# takes the node's own gradient `g` as well, and returns what each parent is sent: `g` times the slope of the edge.
#
# Python lets a class say what `+` and `*` mean between its objects: `a * b` calls `a.__mul__(b)`. Ours computes nothing
# yet. It makes a new node, which notes down its parents and its two functions.

# %%
class Node:
    def __init__(self, value=None, name="", op="", parents=(), compute=None, shares=None):
        self.value, self.grad = value, None
        self.name, self.op, self.parents = name, op, parents
        self.compute, self.shares = compute, shares

    def __add__(self, other):
        return Node(op="+", parents=(self, other),
                    compute=lambda a, b: a + b, shares=lambda g, a, b: (g, g))

    def __sub__(self, other):
        return Node(op="-", parents=(self, other),
                    compute=lambda a, b: a - b, shares=lambda g, a, b: (g, -g))

    def __mul__(self, other):
        return Node(op="*", parents=(self, other),
                    compute=lambda a, b: a * b, shares=lambda g, a, b: (g * b, g * a))

    def __truediv__(self, other):
        return Node(op="/", parents=(self, other),
                    compute=lambda a, b: a / b, shares=lambda g, a, b: (g / b, -g * a / b**2))

# %% [markdown]
# So you write a formula as you always do, and get a graph:

# %%
x, w = Node(3.0, "x"), Node(2.0, "w")
J = (x * w) * (x + w)
print("J is made by", J.op, "from nodes made by", *[parent.op for parent in J.parents])
print("its value so far:", J.value)

# %% [markdown]
# ## Build it: an order
#
# Before a node can be computed, its parents must be. A **topological order** is a list of all nodes in which parents
# stand before their children; walk along it, and whatever a node needs is already there. It is easily made. Before you
# write a node down, write down its parents. And write no node twice: the set `seen` is there for that.

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
# Forward: loop over the order and compute. Backward: loop over the *reversed* order, and send each parent its
# share.[^Dey "Computations for a CG"] In reverse, all children of a node come before it, so its gradient is complete
# when its turn comes. The plus sign in the last line is where roads meet. (`find_order` can be exchanged, which we
# shall need for an experiment.)

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
# That is the whole engine: fewer than fifty lines, twelve of them for the four operations. It should find 16 and 21.

# %%
print("J =", forward(J))
backward(J)
print("dJ/dx =", x.grad, " dJ/dw =", w.grad)

# %% tags=["hide-input"]
# The engine's answers are those by hand, and those measured by nudging.
def nudged(a, b):
    return (a * b) * (a + b)

by_x = (nudged(3 + 1e-6, 2) - nudged(3 - 1e-6, 2)) / 2e-6
by_w = (nudged(3, 2 + 1e-6) - nudged(3, 2 - 1e-6)) / 2e-6
checks.check_close([x.grad, w.grad], [16, 21], rtol=0)
checks.check_close([by_x, by_w], [16, 21], rtol=1e-6)

# %% [markdown]
# ## The derivative of a program
#
# Nothing in there knew the formula of $J$. Each node knew its own slope, and a loop did the rest. So it should not
# matter whether there *is* a formula. Take a loop that Heron of Alexandria described some two thousand years ago. Guess
# $y$, then replace it by the mean of $y$ and $x / y$, and again. It settles at $\sqrt x$, although the text of this
# program has neither a root nor a power:

# %%
def heron(x, rounds):
    half, y = Node(0.5), x
    for _ in range(rounds):
        y = half * (y + x / y)
    return y

# %% [markdown]
# Six rounds, begun at 9, and forward gives the 3 that we expect.

# %%
nine = Node(9.0, "x")
root = heron(nine, rounds=6)
print(f"{forward(root):.6f}")

# %% [markdown]
# So far, so ordinary. But what is the derivative of a loop?

# %% tags=["hide-input"]
# A prediction.
program = predict(
    "Nobody has told the engine that this loop takes a square root. What does `backward(root)` leave in `nine.grad`?",
    ["nothing of use: a loop has no derivative", "0.5, the slope of the last step alone",
     "0.166667, the slope 1/(2√x) of the square root", "3, the value that was found"],
    answer="0.166667, the slope 1/(2√x) of the square root",
    reveals=2,
)  # fmt: skip
program

# %% tags=["hide-output"]
backward(root)
print(f"{nine.grad:.6f}")

# %% [markdown]
# <details class="reveal"><summary>It differentiated what was computed</summary>
#
# $1 / (2\sqrt 9) = 1/6$. The graph holds what the program *did*: additions, divisions and products, one after the
# other, with their numbers. `for`, `if` and function calls have left no trace, so they cannot be in the way. This is
# called **automatic differentiation**, and it is neither of its two relatives. It does not nudge and measure, so there
# is no nudge to choose, too large or too small. And it does not transform formulas.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was computed.
program.confirm(f"{nine.grad:.6f}, the slope 1/(2√x) of the square root")

# %% [markdown]
# Written out as a formula, this would not even fit here. Put each round into the next until only $x$ and numbers are
# left, and count how often $x$ is written. In the graph, each round adds three nodes.

# %%
def copies_of(node, leaf):
    counts = {}
    for n in order_of(node):
        counts[n] = int(n is leaf) + sum(counts[p] for p in n.parents)
    return counts[node]

# %% [markdown]
# Try it for 1 round up to 50:

# %%
lengths = []
for rounds in (1, 2, 5, 10, 50):
    leaf = Node(9.0)
    goal = heron(leaf, rounds)
    lengths.append((rounds, len(order_of(goal)), copies_of(goal, leaf)))
table(lengths, ["rounds", "nodes in the graph", "times x is written in the formula"])

# %% [markdown]
# Fifty rounds are 152 nodes, or a formula in which $x$ appears two quadrillion times.

# %% [markdown]
# ## Lesson 04's network as a graph
#
# Nothing in the two loops says that values are single numbers. With three more operations, each with the backward rule
# of lesson 04, the same engine carries matrices. A class can be given a method later, so we hand ours the operator `@`
# now. (The comma in `(z,)` makes a tuple of one.)

# %%
f, f_prime = ops.ACTIVATIONS["sigmoid"]

def product(a, b):  # (n, k) @ (k, m)
    return Node(op="@", parents=(a, b),
                compute=lambda a, b: a @ b, shares=lambda g, a, b: (g @ b.T, a.T @ g))

def sigmoid(z):
    return Node(op="sigmoid", parents=(z,), compute=f, shares=lambda g, z: (g * f_prime(z),))

def half_squared_sum(o, y):
    return Node(op="half_squared_sum", parents=(o, y),
                compute=lambda o, y: 0.5 * np.sum((y - o) ** 2),
                shares=lambda g, o, y: (g * (o - y), g * (y - o)))

Node.__matmul__ = product

# %% [markdown]
# The samples are the four rows of XOR, and the weights those of lesson 04.

# %%
inputs, labels = data.truth_table("xor")
targets = labels[:, None].astype(float)
X, Y = Node(inputs), Node(targets)
W1 = Node(np.array([[1.0, -2.0, -1.0], [-1.0, 1.0, 1.0]]))
W2 = Node(np.array([[2.0], [4.0], [-4.0]]))

# %% [markdown]
# Five lines make the network, as you would write them on paper.

# %%
Z = X @ W1
A = sigmoid(Z)
G = A @ W2
O = sigmoid(G)
loss = half_squared_sum(O, Y)

# %% [markdown]
# Now the engine meets an old acquaintance.

# %% tags=["hide-input"]
# A prediction.
bits = predict(
    "Lesson 04 derived two formulas for the gradients of this network. The engine knows no network, only single "
    "operations. How far do the two agree?",
    ["to 6 digits or so", "to 12 digits or so", "in every bit"],
    answer="in every bit",
    reveals=2,
)
bits

# %% tags=["hide-output"]
forward(loss)
backward(loss)
delta1 = -(Y.value - O.value) * f_prime(G.value)
delta2 = (delta1 @ W2.value.T) * f_prime(Z.value)
by_hand = {"W1": X.value.T @ delta2, "W2": A.value.T @ delta1}
print("W1 in every bit:", np.array_equal(W1.grad, by_hand["W1"]))
print("W2 in every bit:", np.array_equal(W2.grad, by_hand["W2"]))

# %% [markdown]
# <details class="reveal"><summary>The same products, met on the way</summary>
#
# The graph does not approximate your derivation, and it does not do another one. Walking back, it comes by the same
# products of the same matrices: `O` sends $\delta^1$ to `G`, `A` sends $\delta^2$ to `Z`, and `Z` sends $X^T\delta^2$
# to `W1`. Add a layer, and you write a line or two more; nobody derives anything again.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was computed.
same_bits = np.array_equal(W1.grad, by_hand["W1"]) and np.array_equal(W2.grad, by_hand["W2"])
bits.confirm("in every bit" if same_bits else "to 12 digits or so")

# %% [markdown]
# Here is the same walk as in the first figure, now with matrices. Below each value stands its gradient, of the same
# shape. `Y` pulls the other way than `O`: look at the signs of `dY` and `dO`.

# %% tags=["hide-input"]
# The network as a graph of the library, which the figure walks through.
x, w1, w2 = graph.variable(inputs, "X"), graph.variable(W1.value, "W1"), graph.variable(W2.value, "W2")
hidden = graph.apply("sigmoid", graph.apply("dense", x, w1, name="Z"), name="A")
out = graph.apply("sigmoid", graph.apply("dense", hidden, w2, name="G"), name="O")
figures.graphs.walk_stepper(graph.apply("half_squared_sum", out, graph.variable(targets, "Y"), name="J"))

# %% [markdown]
# ## What one plus sign is worth
#
# In that network every node is used once, so the plus sign had nothing to add. Now use one twice. A **skip
# connection** adds what went into a layer to what comes out of it: $S = A + H$, where $H = f(A V)$. It is one of the
# many other topologies that a graph allows,[^Owens "More advanced stuff"] and networks of more than a hundred layers
# are built this way.[^He "Deep Residual Learning for Image Recognition"] `A` now has two children, `P` $= A V$ and `S`.

# %%
V = Node(np.array([[1.0, 0.5, -1.0], [-0.5, 1.0, 0.5], [2.0, -1.0, 1.0]]))
P = A @ V
H = sigmoid(P)
S = A + H
G = S @ W2
O = sigmoid(G)
skip_loss = half_squared_sum(O, Y)

# %% [markdown]
# Run it, and keep the gradients: they are right, for a check by measuring agrees with them.

# %%
forward(skip_loss)
backward(skip_loss)
right = {node: node.grad for node in order_of(skip_loss)}

# %% tags=["hide-input"]
# Names for the picture, and the check: the measured gradients of the three weight matrices.
for name, node in dict(X=X, Y=Y, W1=W1, W2=W2, V=V, Z=Z, A=A, P=P, H=H, S=S, G=G, O=O, J=skip_loss).items():
    node.name = name

def measured_gradient(node):
    """Return the gradient of `skip_loss`, measured number by number."""

    def loss_with(value):
        node.value = value
        return forward(skip_loss)

    kept = node.value
    result = checks.numerical_gradient(loss_with, kept)
    node.value = kept
    forward(skip_loss)
    return result

for node in (W1, V, W2):
    checks.check_close(right[node], measured_gradient(node), rtol=1e-6, atol=1e-9)

# %% [markdown]
# Now break it: the same loop with `=` in place of the sum, so that the last share wins.

# %%
def backward_without_sum(goal):
    goal.grad = 1.0
    for node in reversed(order_of(goal)):
        if node.parents:
            shares = node.shares(node.grad, *[p.value for p in node.parents])
            for parent, share in zip(node.parents, shares, strict=True):
                parent.grad = share  # the plus sign is missing

# %% [markdown]
# Only one node is used twice, so only one sum is lost. How far does the damage reach?

# %% tags=["hide-input"]
# A prediction.
plus = predict(
    "Which weights get a wrong gradient?",
    ["all three", "only V, the weights inside the skip", "only W2, behind the node that is used twice",
     "only W1, in front of it"],
    answer="only W1, in front of it",
    reveals=3,
)  # fmt: skip
plus

# %% tags=["hide-output"]
backward_without_sum(skip_loss)
wrong = [node.name for node in right if not np.allclose(node.grad, right[node])]
print("wrong weights:", *[name for name in wrong if name in ("W1", "V", "W2")])

# %% tags=["hide-input", "hide-output"]
# Every node whose gradient is wrong.
figures.show(
    figures.graphs.draw(skip_loss, wrong=wrong),
    alt=f"Wrong: {', '.join(wrong)}, which are the node A, used twice, and what lies before it.",
    caption="A is used twice and lost one of its two shares. Every gradient that is computed from A's is wrong too.",
)

# %% [markdown]
# <details class="reveal"><summary>A mistake travels backward only</summary>
#
# Gradients flow from the goal to the leaves, so a mistake at `A` spoils what lies in front of `A` and nothing else.
# That makes it a nasty one. No error is raised, `V` and `W2` learn as they should, the loss falls, and only `W1`
# follows a wrong gradient. You would not see it in a training curve. A gradient check shows it at once.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was computed.
wrong_weights = [name for name in wrong if name in ("W1", "V", "W2")]
plus.confirm("only W1, in front of it" if wrong_weights == ["W1"] else str(wrong_weights))

# %% [markdown]
# ## One visit a node, or one a path
#
# Now the opposite mistake: the set `seen` is left out. Then a node is written into the order once for every path that
# leads to it. It looks harmless, for parents still stand before their children.

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
# A test with $J = a + a$, where $a = 3x$. The slope is 6.

# %%
leaf = Node(5.0, "x")
a = leaf * Node(3.0)
double = a + a
forward(double)
backward(double)
print("each node once:", leaf.grad)
backward(double, order_by_path)
print("once per path: ", leaf.grad)

# %% [markdown]
# The node `a` stands in the list twice. On its first visit its gradient is already
# complete, and it sends its share; on the second it sends the same share again. Doubled, and the price is worse than
# the error. Chain such doublings: $s_1 = s_0 + s_0$, $s_2 = s_1 + s_1$, and so on, one node for each step.

# %% tags=["hide-input"]
# A prediction.
paths = predict(
    "After 16 such steps the graph has 17 nodes. How many visits does `order_by_path` make?",
    [17, 32, 256, 131071],
    answer=131071,
    reveals=2,
)
paths

# %% tags=["hide-output"]
def ladder(steps):
    node = Node(1.0)
    for _ in range(steps):
        node = node + node
    return node

rungs = [1, 2, 4, 8, 12, 16]
by_node = [len(order_of(ladder(n))) for n in rungs]
by_path = [len(order_by_path(ladder(n))) for n in rungs]
table(list(zip(rungs, by_node, by_path, strict=True)), ["steps", "visits, once per node", "visits, once per path"])

# %% [markdown]
# <details class="reveal"><summary>Every step doubles the paths</summary>
#
# That makes $2^{n+1} - 1$ visits. A deep network with skip connections is such a ladder, and no computer would ever
# finish one of a hundred steps. It is the same explosion as in Heron's formula: a text written out has a copy for every
# path. **One visit per node, in an order that waits for all children**, costs as much as there are edges.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was counted.
paths.confirm(by_path[-1])

# %% [markdown]
# ## Why backward, and not forward?
#
# The chain rule does not say where to begin. We could as well start at a leaf, say that it moves with speed 1, and ask
# in the usual order how fast each node then moves. This is **forward mode**. It needs no new slopes; `node.shares(1.0,
# ...)` is the slope of each edge.

# %%
def forward_mode(goal, leaf):
    order = order_of(goal)
    speed = {node: float(node is leaf) for node in order}
    for node in order:
        if node.parents:
            slopes = node.shares(1.0, *[p.value for p in node.parents])
            speed[node] = sum(s * speed[p] for s, p in zip(slopes, node.parents, strict=True))
    return speed[goal]

# %% [markdown]
# A test with fifty leaves, multiplied and added in turn:

# %%
leaves = [Node(value) for value in np.linspace(-1.0, 1.0, 50)]
total = leaves[0]
for one in leaves[1:]:
    total = total * one + one
forward(total)
by_forward = [forward_mode(total, one) for one in leaves]
backward(total)
print("the same fifty derivatives:", np.allclose(by_forward, [one.grad for one in leaves], rtol=1e-12))

# %% [markdown]
# Both find all fifty derivatives. They differ in how often they walk through the graph.

# %% tags=["hide-input"]
# A prediction.
modes = predict(
    "A network that reads digits has 101,770 weights and one loss. How many walks through its graph does forward mode "
    "need for the whole gradient? Backward needs 1, besides the computing of the values.",
    [1, 2, 785, 101770],
    answer=101770,
    reveals=2,
)
modes

# %% tags=["hide-output", "hide-input"]
# Walks of both kinds: forward mode was called once for each leaf above.
weights = 784 * 128 + 128 + 128 * 10 + 10
table(
    [("the fifty leaves above", len(leaves), 1, len(by_forward), 1),
     ("a network that reads digits, its loss", weights, 1, weights, 1),
     ("one dial, and every pixel of an image that it changes", 1, 784, 1, 784)],
    ["what is differentiated", "inputs", "outputs", "walks in forward mode", "walks backward"],
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>One number at the end, many at the beginning</summary>
#
# A walk in forward mode says what *one* input does to all outputs. A walk backward says what all inputs do to *one*
# output. Learning has a single number at its end, the loss, and as many inputs as there are weights, so backward needs
# a hundred thousand times fewer walks. The price is memory, because the values of the forward pass must be kept until
# the way back. With one input and many outputs it is the other way round.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was counted: a walk for each input.
modes.confirm(weights * len(by_forward) // len(leaves))

# %% [markdown]
# ## Train with your own engine
#
# Your engine can do enough by now to learn something. Take two half moons, which no straight line separates. The
# network has a hidden layer with tanh and one output with sigmoid. A column of ones beside the inputs gives each hidden
# neuron its bias, as one more weight.

# %%
def tanh(z):
    return Node(op="tanh", parents=(z,), compute=np.tanh, shares=lambda g, z: (g * (1 - np.tanh(z) ** 2),))

def with_ones(points):
    return np.column_stack([points, np.ones(len(points))])

# %% [markdown]
# Then training. `train` returns a function that answers 0 or 1 for new points.

# %%
def train(points, answers, hidden, lr, steps, rng):
    X, Y = Node(with_ones(points)), Node(answers[:, None].astype(float))
    W1 = Node(rng.standard_normal((points.shape[1] + 1, hidden)) / np.sqrt(points.shape[1] + 1))
    W2 = Node(rng.standard_normal((hidden, 1)) / np.sqrt(hidden))
    loss = half_squared_sum(sigmoid(tanh(X @ W1) @ W2), Y)
    for _ in range(steps):
        forward(loss)
        backward(loss)
        for weight in (W1, W2):
            weight.value = weight.value - lr * weight.grad

    def answer(points):
        return (forward(sigmoid(tanh(Node(with_ones(points)) @ W1) @ W2))[:, 0] > 0.5).astype(int)

    return answer

# %% [markdown]
# Forward, backward, a step for each weight: the loop is all that training is. Four hundred points to learn from, four
# hundred fresh ones to be tested on:

# %%
moons = data.two_moons(400, noise=0.15, rng=np.random.default_rng(1))
fresh = data.two_moons(400, noise=0.15, rng=np.random.default_rng(2))
tell_moons = train(*moons, hidden=16, lr=0.05, steps=500, rng=np.random.default_rng(0))

# %% tags=["hide-input", "nbval-ignore-output"]
# The border that it found.
share_of_moons = np.mean(tell_moons(fresh[0]) == fresh[1])
figures.show(
    figures.plots.decision_plane(*fresh, tell_moons, title="Two moons, fresh points"),
    alt="A curved border follows the gap between the half moons; hardly a fresh point lies on its wrong side.",
    caption=f"Right on {share_of_moons:.1%} of the fresh points; rings mark the others.",
)

# %% [markdown]
# And now what this course set out to do: read a handwritten digit. The engine does not care that a point has 784
# numbers instead of two, so give it images: threes and eights, 400 of each to learn from, 100 of each to be tested on.
# Not a line of it changes.

# %%
digits = data.load_digits()
seen, unseen = np.isin(digits.y_train, (3, 8)), np.isin(digits.y_test, (3, 8))
read = train(digits.x_train[seen].astype(float), digits.y_train[seen] == 8, hidden=16, lr=0.003, steps=200,
             rng=np.random.default_rng(0))  # fmt: skip

# %% tags=["hide-input", "nbval-ignore-output"]
# How well it reads, and what it misread.
images, truth = digits.x_test[unseen], (digits.y_test[unseen] == 8).astype(int)
said = read(images)
share_of_digits = np.mean(said == truth)
misread = np.flatnonzero(said != truth)[:8]
figures.show(
    figures.plots.image_grid(images[misread].reshape(-1, 28, 28), [f"read as {(3, 8)[said[i]]}" for i in misread],
                             cols=8, wrong=np.ones(len(misread), bool)),
    alt="Some of the threes and eights that the engine's network misread; several are hard for people too.",
    caption=f"Read correctly: {share_of_digits:.1%} of 200 images it had never seen. Here are some of the others.",
)  # fmt: skip

# %% tags=["hide-input"]
# What the text says of both must be true on every machine.
assert share_of_moons > 0.95
assert share_of_digits > 0.9

# %% [markdown]
# More than nine in ten, with an engine of which you know every line.

# %% [markdown]
# ## The same in PyTorch
#
# Here is the same training in PyTorch, to be read and not to be run: the course does not need PyTorch. See how many of
# its lines you have written yourself today.
#
# <details><summary>A text to read: the training loop in PyTorch (nothing here imports it)</summary>
#
# ```python
# import torch
#
# x, y = torch.tensor(points), torch.tensor(answers)
# w1 = torch.tensor(start1, requires_grad=True)
# w2 = torch.tensor(start2, requires_grad=True)
# optimizer = torch.optim.SGD([w1, w2], lr=lr)
# for _ in range(steps):
#     loss = 0.5 * (torch.sigmoid(torch.tanh(x @ w1) @ w2) - y).square().sum()
#     optimizer.zero_grad()
#     loss.backward()
#     optimizer.step()
# ```
#
# </details>

# %% tags=["hide-input"]
# Line by line.
table(
    [("requires_grad=True", "a Node that is a leaf; x and y are plain arrays, which get no gradient"),
     ("x @ w1, torch.tanh(...)", "__matmul__ and tanh: a node that notes its parents; PyTorch computes it at once"),
     ("loss = ... inside the loop", "forward(loss); PyTorch makes a new graph in each step"),
     ("optimizer.zero_grad()", "node.grad = 0.0 at the beginning of backward"),
     ("loss.backward()", "the reversed order, the shares, and the plus sign"),
     ("optimizer.step()", "weight.value = weight.value - lr * weight.grad")],
    ["in PyTorch", "in your engine"],
    align="ll",
)  # fmt: skip

# %% [markdown]
# Two things differ. PyTorch computes each line as it is written, and takes its notes while doing so. You first wrote
# the graph down and then ran it, as Theano and the first TensorFlow did.[^Dey "Building a DL Library"] And setting the
# gradients back is a call of its own there, `zero_grad` (today it drops the arrays, which comes to the same). Why would
# anybody want that?

# %% [markdown]
# ## Backward twice
#
# This course has a grown-up version of your engine, [`course_lib/nn/graph.py`](../course_lib/nn/graph.py). It explains
# itself at length, refuses what cannot be right (a missing value, a graph that runs in a circle), and knows all
# operations of the library by name. The core is yours, as its last lines show. It keeps PyTorch's custom: `backward`
# adds to what the leaves already hold, until `zero_grad`.

# %%
x, w1, w2 = graph.variable(inputs, "X"), graph.variable(W1.value, "W1"), graph.variable(W2.value, "W2")
hidden = graph.apply("sigmoid", x @ w1)
out = graph.apply("sigmoid", hidden @ w2)
goal = graph.apply("half_squared_sum", out, targets, name="J")
graph.forward(goal)
graph.backward(goal)
print("lesson 04's gradients, in every bit:", np.array_equal(w1.grad, by_hand["W1"]))
listing(graph.backward, "The last lines of the library's backward", start="for node in reversed(order)")

# %% [markdown]
# The fold holds the lines that you know. Now make the mistake that everybody makes once.

# %% tags=["hide-input"]
# A prediction.
twice = predict(
    "`graph.backward(goal)` is called a second time, without `zero_grad` in between. What does `w1.grad` hold then?",
    ["the same as before", "twice the gradient", "four times the gradient", "zeros"],
    answer="twice the gradient",
    reveals=2,
)
twice

# %% tags=["hide-output"]
first = w1.grad.copy()
graph.backward(goal)
print("second call, divided by the first:", np.unique(w1.grad / first))
graph.zero_grad(goal)
graph.backward(goal)
print("after zero_grad:                  ", np.unique(w1.grad / first))

# %% [markdown]
# <details class="reveal"><summary>A common bug, and a good use</summary>
#
# Forget `zero_grad` in a training loop, and each step uses the sum of all gradients so far. No error tells you, in
# PyTorch neither. (A second `backward` on the *same* graph it refuses, unless told to retain it; in a training loop
# each round makes a new one.) But adding has its good use: a sum over samples can be taken in parts. If a batch does
# not fit into memory, send it through in pieces, call `backward` after each, and make one step at the end.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was computed.
graph.zero_grad(goal)
graph.backward(goal)
graph.backward(goal)
twice.confirm("twice the gradient" if np.array_equal(w1.grad, 2 * first) else "the same as before")

# %% [markdown]
# Try that at once. Two graphs, each with two of the four samples, share the leaves `w1` and `w2`:

# %%
def loss_of(rows):
    hidden = graph.apply("sigmoid", graph.variable(inputs[rows]) @ w1)
    return graph.apply("half_squared_sum", graph.apply("sigmoid", hidden @ w2), targets[rows])

graph.zero_grad(goal)
for half in (loss_of(slice(0, 2)), loss_of(slice(2, 4))):
    graph.forward(half)
    graph.backward(half)
print("two halves make the whole gradient:", np.allclose(w1.grad, first, rtol=1e-12))

# %% [markdown]
# ## A long chain
#
# One weakness of yours remains. `visit` calls itself for each parent, and Python limits how deeply calls may nest, to a
# thousand or a few thousand. A recurrent network applies one layer again for every word of a text, and that makes far
# longer chains. Here is one of 10,000 additions.

# %%
chain, step = Node(0.0), Node(0.5)
for _ in range(10_000):
    chain = chain + step
try:
    forward(chain)
except RecursionError as error:
    print("yours:", type(error).__name__)

# %% [markdown]
# The library keeps the nodes that are still open in a list of its own, and a list can grow as long as memory lasts:

# %%
start, step = graph.variable(0.0), graph.variable(0.5)
chain = start
for _ in range(10_000):
    chain = chain + step
print("the library's:", graph.forward(chain), "from", f"{len(graph.topological_order(chain)):,} nodes")
graph.backward(chain)
print("gradients:", float(start.grad), "and", float(step.grad))

# %% [markdown]
# The node `step` is used 10,000 times, so its gradient is the sum of 10,000 shares of 1.

# %% [markdown]
# ## From the engine to a library
#
# Four things are asked of a deep-learning library.[^Dey "Building a DL Library"] You have met the core of each:

# %% tags=["hide-input"]
# What is asked, and where it is.
table(
    [("constructs to specify a network", "nn.Dense, nn.Sigmoid, ... and nn.Sequential"),
     ("routines for forward, backward, gradients", "net.forward, net.backward, net.gradients"),
     ("routines for training and testing", "nn.train, nn.evaluate: your loop, over mini-batches"),
     ("room for parallel and distributed passes", "batches that split; ops, a backend that can be exchanged")],
    ["what is asked for", "in this course"],
    align="ll",
)  # fmt: skip

# %% [markdown]
# `Sequential` is the simplest of all graphs, a chain of layers. A chain needs no search: the list of layers *is* its
# topological order, and backward is the list reversed. Here is lesson 04's network a third time, as layers, with its
# weights in place of the random ones. (`"0.w"` is the `w` of layer 0, and `[...] =` writes into the array.)

# %%
rng = np.random.default_rng(0)
net = nn.Sequential(
    nn.Dense(2, 3, rng=rng, bias=False, dtype=np.float64), nn.Sigmoid(),
    nn.Dense(3, 1, rng=rng, bias=False, dtype=np.float64), nn.Sigmoid(),
)  # fmt: skip
net[0].params["w"][...] = W1.value
net[2].params["w"][...] = W2.value

# %% [markdown]
# One walk forward, one walk back:

# %%
_, cache = ops.half_squared_sum_forward(net.forward(inputs), targets)
net.backward(ops.half_squared_sum_backward(cache))
print("lesson 04's gradients, in every bit:", np.array_equal(net.gradients()["0.w"], by_hand["W1"]))

# %% [markdown]
# And the room for parallel passes? Nodes of one column of a drawing do not wait for each other, as `u` and `v` in the
# first figure. Nor do samples: four workers can take one each, with the same weights, and their gradients are added,
# as those of the two halves were. Here they work one after the other; from lesson 11 on it will be thousands at a time.

# %%
total = np.zeros_like(by_hand["W1"])
for row in range(4):  # each worker: its own sample, the same weights
    net.zero_grad()
    _, cache = ops.half_squared_sum_forward(net.forward(inputs[row : row + 1]), targets[row : row + 1])
    net.backward(ops.half_squared_sum_backward(cache))
    total += net.gradients()["0.w"]
print("four workers find the whole gradient:", np.allclose(total, by_hand["W1"], rtol=1e-12))

# %% [markdown]
# ## Try it
#
# Here is a neuron with its loss, $J = \frac12 (y - \sigma(x\,w + b))^2$. Only one road leads from each node to the
# goal, so every gradient is a product of slopes, and nothing has to be added.

# %% tags=["hide-input"]
# A neuron to play with.
x_in, w_in = graph.variable(2.0, "x"), graph.variable(-1.0, "w")
b_in, y_in = graph.variable(1.5, "b"), graph.variable(1.0, "y")
p_node = x_in * w_in
z_node = p_node + b_in
o_node = graph.apply("sigmoid", z_node, name="o")
neuron_loss = graph.apply("half_squared_sum", o_node, y_in, name="J")
p_node.name, z_node.name = "p", "z"
figures.graph_explorers.explorer(neuron_loss, title="One neuron and its loss")

# %% [markdown]
# - Find a setting with $y = 1$ in which the loss is almost as large as it can be, and the gradients of $x$, $w$ and $b$
#   are almost 0. What has happened? <details><summary>Answer</summary>
#
#   Make $z$ strongly negative, for instance with $x = 4$, $w = -4$. Then $o$ is almost 0, where it should be 1. But the
#   slope of $\sigma$, which is $o(1 - o)$, is almost 0 as well, and on the way back everything is multiplied by it. The
#   neuron is badly wrong, and cannot learn: it is saturated.
#
#   </details>
# - In `backward`, loop over `order` instead of `reversed(order)`. What are the gradients of the first example, and why?
#   <details><summary>Answer</summary>
#
#   `x` and `w` get 0. The leaves come first, and they have no parents to send anything to. Then `u` and `v` send shares
#   of a gradient that is still 0. `J` comes last, and gives `u` and `v` their 5 and 6 when their turn is over.
#
#   </details>
# - Give your engine a `relu` with its share, put it into the skip network in place of one sigmoid, and measure its
#   gradients. <details><summary>Answer</summary>
#
#   `compute=lambda z: np.maximum(z, 0)` and `shares=lambda g, z: (g * (z > 0),)`. `measured_gradient` agrees as long as
#   no `z` is closer to 0 than the nudge.
#
#   </details>

# %% [markdown]
# <details><summary>For those who know the lectures</summary>
#
# Prof. Dey's slide "Computations for a CG" says of the backward pass: compute "the derivative of the final goal node
# with respect to each incoming edge's tail node". Read literally, that is a whole derivative for each edge. What one
# edge brings is a *share*. A node with several outgoing edges has the sum of its shares, and the slide does not mention
# the sum: it is the plus sign of this page. In the first figure, x gets 6 and 10, and its derivative is 16.
#
# The slide "Building a DL Library" names TensorFlow and Theano. Theano is no longer developed, and since its version 2
# TensorFlow, too, computes as you write.
#
# </details>

# %% [markdown]
# ## Check yourself
#
# **1.** Instead of searching, someone gives each node a number when it is made, and sorts by that number. Is this a
# topological order? Always, or does it depend on a rule that this page keeps?
#
# <details><summary>Answer</summary>
#
# Yes, as long as parents are given when a node is made and never changed. Then they exist before it and have smaller
# numbers, and nothing more is asked. If parents could be attached later, a parent might be younger than its child. The
# search does one thing more: it leaves out nodes that the goal does not depend on.
#
# </details>

# %% [markdown]
# **2.** Without the sum, `W1` of the skip network was wrong, `V` and `W2` right. Now the input batch `X` is used twice
# instead: once in $X W_1$, once in a direct product $X U$ that is added to $G$. Which weight gradients are wrong
# without the sum? Would a gradient check of all weights notice?
#
# <details><summary>Answer</summary>
#
# None of them is wrong. Only the gradient of $X$ itself is a sum of two shares, and nothing lies in front of $X$. The
# gradients of $W_1$ and $U$ come from nodes that have one child each. So the mistake is there, and a check of the
# weights passes; only one that includes the input would find it.
#
# </details>

# %% [markdown]
# **3.** A training loop calls `graph.forward`, `graph.backward` and a step, and never `zero_grad`. What does the third
# step use as its gradient? When is adding up what you want?
#
# <details><summary>Answer</summary>
#
# The sum of three gradients: those at the first, the second and the third weights. The steps grow, and point to where
# the loss used to fall. Adding is what you want when the parts belong to one step: pieces of a batch that does not fit
# into memory, or the samples of several workers.
#
# </details>
