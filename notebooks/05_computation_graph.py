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
# You write down what a network does, and PyTorch hands you the gradients of all its weights. How does it know them?
# Most people suspect algebra: a program that is given the formula of the network and differentiates it. On this page
# you write the program yourself, in some seventy short lines, and there is no such algebra in it. It needs only the
# derivative of each single operation. Numbers travel along arrows, once forward and once back, and by the end of the
# page your engine tells handwritten threes from eights.
#
# Below, J is to be computed from x and w. Press Play: from left to right each box gets its value, and then, from right
# to left, its **gradient**, which says how fast J grows with that box. Move x and w, and play it again.

# %% tags=["hide-input"]
import numpy as np

from course_lib import checks, data, figures
from course_lib import reference as ops
from course_lib.lesson import listing, predict, recorded_gradients, table
from course_lib.nn import graph

x_leaf, w_leaf = graph.variable(3.0, "x"), graph.variable(2.0, "w")
u_node, v_node = x_leaf * w_leaf, x_leaf + w_leaf
diamond = u_node * v_node
u_node.name, v_node.name, diamond.name = "u", "v", "J"
figures.graph_explorers.explorer(diamond, choice=False, finished=False,
                                  title="J = (x · w) · (x + w): values forward, gradients backward")

# %% [markdown]
# ## You will be able to
#
# - draw a formula as a graph, and put its nodes into an order in which they can be computed;
# - write an engine that finds every gradient of such a graph, biases included, and train a network with it;
# - say where gradients must be added, and which weights go wrong if they are not;
# - read a training loop in PyTorch, and say what each of its lines does in your engine.

# %% [markdown]
# <details><summary>About this page</summary>
#
# It follows three slides of Prof. Dey's lecture 56 at IIT Kharagpur, "Computation Graph", "Computations for a CG" and
# "Building a DL Library", and a further topic that Prof. Owens only names, networks of other topologies. You need
# lesson 04. PyTorch appears as a text to read, with the numbers that it gave; nothing here imports it. Reading and
# trying takes about 60 minutes, the optional part 3 more.
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
# does $J$ grow with $u$? With slope $v = 5$. And with $v$? With slope $u = 6$. From $x$, two paths lead to $J$, one
# through $u$ and one through $v$, and lesson 04 told us what to do: multiply along a path, add over the paths.
#
# $$\frac{\partial J}{\partial x} = 5\,w + 6 \cdot 1 = 16, \quad \frac{\partial J}{\partial w} = 5\,x + 6 \cdot 1 = 21$$
#
# Paths that split and rejoin form a **diamond**. Keep 16 and 21 in mind: your engine will have to find them.

# %% [markdown]
# ## Build it: a node that takes notes
#
# Now in Python. A node has to know two things: how to compute its value, and its derivative with respect to each
# parent.[^Dey "Computation Graph"] So it keeps two small functions. `compute` takes the parents' values. `shares` takes
# the node's own gradient `g` as well, and returns what each parent is sent, its **share**: `g` times the slope of the
# edge. (`lambda a, b: a + b` is a function without a name, which takes a and b and returns their sum.)
#
# Python lets a class say what `+` and `*` mean between its objects: `a * b` calls `a.__mul__(b)`. Ours computes nothing
# yet. It makes a new node, which notes down its parents and its two functions.

# %%
class Node:
    def __init__(self, value=None, name="", op="", parents=(),
                 compute=None, shares=None):
        self.value, self.grad, self.name, self.op = value, None, name, op
        self.parents, self.compute, self.shares = parents, compute, shares

    def __add__(self, other):
        return Node(op="+", parents=(self, other),
                    compute=lambda a, b: a + b,
                    shares=lambda g, a, b: (g, g))

    def __sub__(self, other):
        return Node(op="-", parents=(self, other),
                    compute=lambda a, b: a - b,
                    shares=lambda g, a, b: (g, -g))

    def __mul__(self, other):
        return Node(op="*", parents=(self, other),
                    compute=lambda a, b: a * b,
                    shares=lambda g, a, b: (g * b, g * a))

    def __truediv__(self, other):
        return Node(op="/", parents=(self, other),
                    compute=lambda a, b: a / b,
                    shares=lambda g, a, b: (g / b, -g * a / b**2))

# %% [markdown]
# So you write a formula as you always do, and get a graph:

# %%
x, w = Node(3.0, "x"), Node(2.0, "w")
J = (x * w) * (x + w)
print("J is made by", J.op, "from nodes made by",
      *[parent.op for parent in J.parents])
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
# share.[^Dey "Computations for a CG"] In reverse, all children of a node come before it, so every share has arrived
# when its turn comes. One thing is open: what does a node do with a share that arrives? The argument `receive` decides
# that, and we begin with the simplest idea: keep it. (`find_order` is a parameter so that we can break it later.)

# %%
def forward(goal):
    for node in order_of(goal):
        if node.parents:
            node.value = node.compute(*[p.value for p in node.parents])
    return goal.value

def keep(node, share):
    node.grad = share

def backward(goal, receive, find_order=order_of):
    order = find_order(goal)
    for node in order:
        node.grad = 0.0
    goal.grad = np.ones_like(goal.value)  # 1, in the goal's shape
    for node in reversed(order):
        if node.parents:
            values = [p.value for p in node.parents]
            shares = node.shares(node.grad, *values)
            for parent, share in zip(node.parents, shares):
                receive(parent, share)

# %% [markdown]
# Does it find what we found by hand? For this graph `order_of` gives x, w, u, v, J, as in the figure.

# %% tags=["hide-input"]
# A prediction.
kept = predict(
    "By hand, dJ/dx is 16. Walk through `reversed(order)` with a pencil. What does `backward(J, keep)` leave in "
    "`x.grad`?",
    [6, 10, 16, 60],
    answer=10,
    reveals=2,
)
kept

# %% tags=["hide-output"]
print("J =", forward(J))
backward(J, keep)
print("dJ/dx =", x.grad, " dJ/dw =", w.grad)

# %% [markdown]
# <details class="reveal"><summary>The second share replaced the first</summary>
#
# First `v` has its turn, and sends `x` a share of 6. Then comes `u` and sends 10, and the 6 is lost. By hand we *added*
# the two. Wherever a node has several children, its gradient is the sum of the shares that they send.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was computed.
kept.confirm(int(x.grad))

# %% [markdown]
# So a node must add what arrives. That is why `backward` began by setting every gradient to 0.

# %%
def add(node, share):
    node.grad = node.grad + share

backward(J, add)
print("dJ/dx =", x.grad, " dJ/dw =", w.grad)

# %% [markdown]
# Sixteen and 21. That is the whole engine: fewer than sixty lines, sixteen of them for the four operations. In the
# figure you can now choose between both ways, and see which gradients go wrong, and by how much.

# %% tags=["hide-input"]
# The diamond again, with a choice.
figures.graph_explorers.explorer(diamond, title="The same graph: add the shares, or keep the last")

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
# Neither loop mentions the formula of $J$. Each node knew its own slopes, and the loops did the rest. So it should work
# for a program, too. Take one that Heron of Alexandria described some two thousand years ago. Guess $y$, then replace
# it by the mean of $y$ and $x / y$, and again. It settles at the square root of $x$, although its text has neither a
# root nor a power:

# %%
def heron(x, rounds):
    half, y = Node(0.5), x
    for _ in range(rounds):
        y = half * (y + x / y)
    return y

# %% [markdown]
# Two rounds that begin at 9 give 5, then 3.4, and are not yet at 3. The root of $x$ has the slope 1/6 at 9, which is
# 0.1667. What is the derivative of an unfinished loop? (A pencil helps: the first round makes $(x + 1)/2$ of $x$.)

# %% tags=["hide-input"]
# A prediction.
program = predict(
    "What does backward find for x after these two rounds?",
    ["0.1", "0.1667", "0.26", "0.5"],
    answer="0.26",
    reveals=2,
)
program

# %% tags=["hide-output"]
slopes = []
for rounds in (1, 2, 3, 4, 6):
    nine = Node(9.0, "x")
    root = heron(nine, rounds)
    forward(root)
    backward(root, add)
    slopes.append((rounds, root.value, nine.grad))
table(slopes, ["rounds", "y", "dy/dx"],
      formats={"y": ".6f", "dy/dx": ".6f"})

# %% [markdown]
# <details class="reveal"><summary>It differentiated what was computed</summary>
#
# The first round has the slope 0.5. In the second, $y$ counts twice, as a summand and under the fraction bar, and $x$
# once by itself: $0.25 - 0.09 + 0.10 = 0.26$. Only as the value settles at 3 does the slope settle at 1/6. The graph
# holds what the program *did*: additions, divisions and products, one after the other. Of the loop only the operations
# are left. Differentiating those is called **automatic differentiation**. It does not nudge and measure, so there is no
# nudge to choose, too large or too small. And it does not transform formulas.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was computed.
program.confirm(f"{slopes[1][2]:.2f}")

# %% [markdown]
# Without names for intermediate results a formula grows very fast. Put each round into the next until only $x$ and
# numbers are left, and count how often $x$ is written. In the graph, each round adds three nodes, because every result
# is shared:

# %% tags=["hide-input"]
# How long the formula is, and how large the graph.
def copies_of(node, leaf):
    counts = {}
    for n in order_of(node):
        counts[n] = int(n is leaf) + sum(counts[p] for p in n.parents)
    return counts[node]

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
# Nothing in the two loops says that values are single numbers. With three more operations the same engine carries
# matrices. Their shares are lesson 04's rules. What that lesson called $\delta_Z$, the gradient that arrives at $Z =
# XW$, is `g` here, at every node. Its shares are $g\,W^T$ for $X$ and $X^T g$ for $W$.

# %%
f, f_prime = ops.ACTIVATIONS["sigmoid"]

def product(a, b):  # (n, k) @ (k, m)
    return Node(op="@", parents=(a, b),
                compute=lambda a, b: a @ b,
                shares=lambda g, a, b: (g @ b.T, a.T @ g))

def sigmoid(z):
    return Node(op="sigmoid", parents=(z,), compute=f,  # (z,): a tuple of one
                shares=lambda g, z: (g * f_prime(z),))

def half_squared_sum(o, y):
    return Node(op="half_squared_sum", parents=(o, y),
                compute=lambda o, y: 0.5 * np.sum((y - o) ** 2),
                shares=lambda g, o, y: (g * (o - y), g * (y - o)))

Node.__matmul__ = product  # a class can be given a method later: now `a @ b` is a node

# %% [markdown]
# The letters are lesson 04's, the sizes are smaller: two inputs, three hidden neurons, one output. The samples are the
# four rows of XOR, and the weights are chosen by hand.

# %%
inputs, labels = data.truth_table("xor")
targets = labels[:, None].astype(float)
X, Y = Node(inputs), Node(targets)
W = Node(np.array([[1.0, -2.0, -1.0], [-1.0, 1.0, 1.0]]))
W2 = Node(np.array([[2.0], [4.0], [-4.0]]))

# %% [markdown]
# Five lines make the network, as you would write them on paper.

# %%
Z = X @ W
A = sigmoid(Z)
G = A @ W2
O = sigmoid(G)
loss = half_squared_sum(O, Y)

# %% [markdown]
# For such a network, lesson 04 derived the gradients of both matrices by hand. The engine knows no network, only single
# operations. Compare them to the last bit:

# %%
forward(loss)
backward(loss, add)
delta_G = -(Y.value - O.value) * f_prime(G.value)
delta_Z = (delta_G @ W2.value.T) * f_prime(Z.value)
by_hand = {"W": X.value.T @ delta_Z, "W2": A.value.T @ delta_G}
print("W  in every bit:", np.array_equal(W.grad, by_hand["W"]))
print("W2 in every bit:", np.array_equal(W2.grad, by_hand["W2"]))

# %% [markdown]
# It is your derivation, one operation at a time. Walking back, the engine computes the same products of the same
# matrices:
#
# - `O` sends $\delta_G$ to `G`, and `G` sends `W2` its gradient;
# - `A` sends $\delta_Z$ to `Z`, and `Z` sends $X^T\delta_Z$ to `W`.
#
# Add a layer, and you write a line or two more; nobody derives anything again.

# %% [markdown]
# Here is the same walk as in the first figure, now with matrices. Beside each value, or below it, stands its gradient,
# of the same shape. `dY` is `-dO`, because the loss knows only their difference.

# %% tags=["hide-input"]
# The network as a graph of the library, which the figure walks through.
x_node, w_node, w2_node = (graph.variable(node.value, name) for node, name in ((X, "X"), (W, "W"), (W2, "W2")))
hidden = graph.apply("sigmoid", graph.apply("dense", x_node, w_node, name="Z"), name="A")
out = graph.apply("sigmoid", graph.apply("dense", hidden, w2_node, name="G"), name="O")
figures.graphs_down.walk_down(graph.apply("half_squared_sum", out, graph.variable(targets, "Y"), name="J"))

# %% [markdown]
# ## A bias: one row for all samples
#
# What is missing is a bias. Let $Z = X W + b$ with three numbers in `b`, one for each hidden neuron. NumPy adds them
# to each of the four rows of $X W$, which is called **broadcasting**. Our `+` knows nothing of that: we wrote it with
# single numbers in mind. Look up its two shares, and what `add` does with a share, before you answer.

# %% tags=["hide-input"]
# A prediction.
broadcast = predict(
    "`X @ W` has the shape (4, 3), `b` has (3,), and the gradient that arrives at their sum has the sum's shape. "
    "What is in `b.grad` after `backward`?",
    ["three numbers, the sums over the samples", "three numbers, which belong to the last sample only",
     "twelve numbers, of shape (4, 3)", "nothing, because an error is raised on the way"],
    answer="twelve numbers, of shape (4, 3)",
    reveals=2,
)  # fmt: skip
broadcast

# %% tags=["hide-output"]
b = Node(np.array([0.5, -0.5, 0.0]))
biased = half_squared_sum(sigmoid(sigmoid(X @ W + b) @ W2), Y)
forward(biased)
backward(biased, add)
twelve = b.grad
print("b", b.value.shape, "  b.grad", twelve.shape)

# %% [markdown]
# <details class="reveal"><summary>Four shares side by side</summary>
#
# Each sample uses the bias once. So four paths lead from it to the loss, and their shares stand side by side, one in
# each row, instead of being added. It raises no error. Worse: after one step `b - lr * b.grad`, the bias itself would
# have the shape (4, 3), a bias of its own for each sample.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was computed.
broadcast.confirm(f"twelve numbers, of shape {twelve.shape}")

# %% [markdown]
# The rule is the old one: paths add. Whatever broadcasting has repeated on the way forward is summed on the way back,
# so that a gradient always has the shape of its value. NumPy repeats in two ways. An array with too few axes, such as
# `b`, is repeated along a new axis in front, here the axis of the samples. And an axis of length 1 is repeated as often
# as the other array needs. We put both into `add`, once for all operations:

# %%
def add(node, share):
    while np.ndim(share) > np.ndim(node.value):  # a new axis in front
        share = share.sum(axis=0)
    for axis, size in enumerate(np.shape(node.value)):
        if size == 1:                            # may have been repeated
            share = share.sum(axis=axis, keepdims=True)
    node.grad = node.grad + share

backward(biased, add)
print("b.grad", b.grad.shape, "is the sum over the rows:",
      np.allclose(b.grad, twelve.sum(axis=0)))

# %% tags=["hide-input"]
# The engine's gradient of the bias is the one that is measured by nudging.
def loss_with_bias(value):
    b.value = value
    return forward(biased)

bias_start = b.value
checks.check_close(b.grad, checks.numerical_gradient(loss_with_bias, bias_start), rtol=1e-6, atol=1e-9)
b.value = bias_start
_ = forward(biased)

# %% [markdown]
# ## What one plus sign is worth
#
# In lesson 04's network every node is used once, so `keep` would have done there. Now use one twice. A **skip
# connection** adds what went into a layer to what comes out of it: $S = A + H$, where $H = f(A V)$. It is one of the
# many other topologies that a graph allows,[^Owens "More advanced stuff"] and networks of more than a hundred layers
# are built this way.[^He "Deep Residual Learning for Image Recognition"] `A` now has two children, `P` $= A V$ and `S`.

# %%
V = Node(np.array([[1.0, 0.5, -1.0],
                   [-0.5, 1.0, 0.5],
                   [2.0, -1.0, 1.0]]))
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
backward(skip_loss, add)
right = {node: node.grad for node in order_of(skip_loss)}

# %% tags=["hide-input"]
# Names for the picture, and the check: the measured gradients of the three weight matrices.
for name, node in dict(X=X, Y=Y, W=W, W2=W2, V=V, Z=Z, A=A, P=P, H=H, S=S, G=G, O=O, J=skip_loss).items():
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

for node in (W, V, W2):
    checks.check_close(right[node], measured_gradient(node), rtol=1e-6, atol=1e-9)

# %% [markdown]
# Now break it, and let nodes `keep` the last share as in the first attempt. Only one node is used twice, so only one
# sum is lost. How far does the damage reach? Here is the network once more:

# %% tags=["hide-input"]
# The skip network, before anything is broken.
figures.show(
    figures.graphs_down.draw_down(skip_loss),
    alt="X and W lead to Z, Z to A. From A one edge leads to P, where V comes in, and on to H; another leads to S, "
    "where H comes in. S and W2 lead to G, G to O, O and Y to the loss J.",
    caption="The skip network: A has two children, P and S.",
)

# %% tags=["hide-input"]
# A prediction.
plus = predict(
    "With `backward(skip_loss, keep)`, which weights get a wrong gradient?",
    ["all three", "V and W2, which the signal meets after A", "V alone, whose path the skip bypasses",
     "W alone, which the signal meets before A"],
    answer="W alone, which the signal meets before A",
    reveals=3,
)  # fmt: skip
plus

# %% tags=["hide-output"]
backward(skip_loss, keep)
wrong = [node.name for node in right
         if not np.allclose(node.grad, right[node])]
print("wrong weights:",
      *[name for name in wrong if name in ("W", "V", "W2")])

# %% tags=["hide-input", "hide-output"]
# Every node whose gradient is wrong.
figures.show(
    figures.graphs_down.draw_down(skip_loss, wrong=wrong),
    alt=f"Wrong: {', '.join(wrong)}, which are the node A, used twice, and what it was computed from.",
    caption="A is used twice and lost one of its two shares. Every gradient that is computed from A's is wrong too.",
)

# %% [markdown]
# <details class="reveal"><summary>A mistake travels backward only</summary>
#
# Gradients flow from the goal to the leaves, so a mistake at `A` spoils what `A` was computed from, and nothing else.
# `V` and `W2` still get the right gradients for the weights as they are now; only that of `W` is wrong. No error is
# raised.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was computed.
wrong_weights = [name for name in wrong if name in ("W", "V", "W2")]
plus.confirm("W alone, which the signal meets before A" if wrong_weights == ["W"] else str(wrong_weights))

# %% [markdown]
# Would you notice when you train? Here are 200 steps with a learning rate of 0.5, once with `add`, once with `keep`:

# %% tags=["hide-input"]
# The loss of the skip network while it learns, right and wrong.
lr, starts, curves = 0.5, {weight: weight.value for weight in (W, V, W2)}, {}
for receive in (add, keep):
    curves[receive.__name__] = []
    for _ in range(201):
        curves[receive.__name__].append(forward(skip_loss))
        backward(skip_loss, receive)
        for weight in starts:
            weight.value = weight.value - lr * weight.grad
    for weight, start in starts.items():
        weight.value = start
table([(name, *(losses[step] for step in (0, 10, 50, 200))) for name, losses in curves.items()],
      ["shares", "loss at the start", "after 10 steps", "after 50", "after 200"],
      formats={name: ".3f" for name in ("loss at the start", "after 10 steps", "after 50", "after 200")})

# %% [markdown]
# The loss falls in both, only more slowly in one, and who knows how fast it ought to fall? That makes the bug hard to
# spot in a training curve. A gradient check shows it at once.

# %% [markdown]
# ## What if a node is visited twice?
#
# Now the opposite mistake: the set `seen` is left out. Then a node is written into the order once for every path that
# leads from it to the goal. It looks harmless: parents still stand before their children.

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
backward(double, add)
print("each node once:", leaf.grad)
backward(double, add, order_by_path)
print("once per path: ", leaf.grad)

# %% [markdown]
# The node `a` stands in the list twice. At its first turn in the reversed list its gradient is complete, and it sends
# its share. At its second turn it sends the same share again, and the answer doubles. And what does it cost? Chain such
# doublings: $s_1 = s_0 + s_0$, $s_2 = s_1 + s_1$, and so on, one node for each step.

# %% tags=["hide-input"]
# A prediction.
paths = predict(
    "After 16 such steps the graph has 17 nodes. How many visits does `order_by_path` make?",
    [17, 152, 65536, 131071],
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
table(list(zip(rungs, by_node, by_path)),
      ["steps", "visits, once per node", "visits, once per path"])

# %% [markdown]
# <details class="reveal"><summary>Every step doubles the paths</summary>
#
# A visit to $s_{n}$ makes two to $s_{n-1}$, which is $2^{n+1} - 1$ visits in all. $n$ skip connections in a row make
# $2^n$ paths, too; with a hundred of them no computer would finish. It is the same explosion as in Heron's formula:
# written out, a subexpression is repeated once per path. **One visit per node, in an order that waits for all
# children**, takes time proportional to the number of edges.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was counted.
paths.confirm(by_path[-1])

# %% [markdown]
# ## Why backward, and not forward?
#
# The chain rule does not say where to begin. We could as well start at the front. Let one leaf move with speed 1, and
# all others stand still. Walk through the graph in the usual order, and compute the speed of each node, up to the
# goal's. This is **forward mode**. The slopes are the same; only the direction is different.

# %% tags=["hide-input"]
# A prediction.
modes = predict(
    "A network that reads digits has 784 inputs, 101,770 weights and one loss. Backward finds the gradient of all "
    "weights in one walk. How many walks does forward mode need for it?",
    [1, 2, 784, 101770],
    answer=101770,
    reveals=2,
)
modes

# %% tags=["hide-output", "hide-input"]
# Walks of both kinds, by the rule; it is tried on fifty leaves below.
weights = 784 * 128 + 128 + 128 * 10 + 10
table(
    [(f"one loss, by {weights:,} weights", weights, 1),
     ("784 pixels, by one dial for the brightness of all", 1, 784)],
    ["what is differentiated", "walks forward", "walks back"],
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>One number at the end, many at the beginning</summary>
#
# A walk in forward mode says what *one* number does to all outputs, so each of the 101,770 weights needs its own. A
# walk backward says what all inputs do to *one* output. Learning has a single number at its end, the
# loss, and as many inputs as there are weights, so backward needs a hundred thousand times fewer walks. The price is
# memory, because the values of the forward pass must be kept until the way back. With one input and many outputs it is
# the other way round.
#
# </details>

# %% [markdown]
# Try it with your nodes. As long as they hold single numbers, the shares of a gradient of 1 are the edges' slopes.

# %%
def forward_mode(goal, leaf):
    order = order_of(goal)
    speed = {node: float(node is leaf) for node in order}
    for node in order:
        if node.parents:
            values = [p.value for p in node.parents]
            slopes = node.shares(1.0, *values)
            speed[node] = sum(slope * speed[p]
                              for slope, p in zip(slopes, node.parents))
    return speed[goal]

leaves = [Node(value) for value in np.linspace(-1.0, 1.0, 50)]
total = leaves[0]
for one in leaves[1:]:
    total = total * one + one
forward(total)
by_forward = [forward_mode(total, one) for one in leaves]
backward(total, add)
by_backward = [one.grad for one in leaves]
print(f"{len(by_forward)} walks forward, 1 backward: the same derivatives:",
      np.allclose(by_forward, by_backward, rtol=1e-12))

# %% tags=["hide-input"]
# The answer, by the rule that the fifty leaves agree with: one walk forward finds one number.
modes.confirm(weights // np.size(by_forward[0]))

# %% [markdown]
# ## Train with your own engine
#
# Your engine can do enough by now to learn something. Take two half moons, which no straight line separates. The
# network has a hidden layer with tanh, one output with sigmoid, and biases in both. `train` returns a function that
# answers 0 or 1 for new points.

# %%
def tanh(z):
    return Node(op="tanh", parents=(z,), compute=np.tanh,
                shares=lambda g, z: (g * (1 - np.tanh(z) ** 2),))

def train(points, answers, hidden, lr, steps, rng):
    n = points.shape[1]
    W = Node(rng.standard_normal((n, hidden)) / np.sqrt(n))
    W2 = Node(rng.standard_normal((hidden, 1)) / np.sqrt(hidden))
    b, b2 = Node(np.zeros(hidden)), Node(np.zeros(1))

    def network(x):
        return sigmoid(tanh(x @ W + b) @ W2 + b2)

    wanted = Node(answers[:, None].astype(float))
    loss = half_squared_sum(network(Node(points)), wanted)
    for _ in range(steps):
        forward(loss)
        backward(loss, add)
        for weight in (W, b, W2, b2):
            weight.value = weight.value - lr * weight.grad

    def answer(fresh):
        return (forward(network(Node(fresh)))[:, 0] > 0.5).astype(int)

    return answer

# %% [markdown]
# Training is this loop and no more: forward, backward, a step for each weight. Mind the learning rate. Our loss is a
# *sum* over the samples, so its gradient grows with their number, as lesson 03 warned. With 400 points, 0.05 on the sum
# is the same step as 20 on the mean. For the digits below the rate has to be much smaller, with twice as many samples
# and 784 inputs instead of two. Four hundred points to learn from, four hundred fresh ones to be tested on:

# %%
moons = data.two_moons(400, noise=0.15, rng=np.random.default_rng(1))
fresh = data.two_moons(400, noise=0.15, rng=np.random.default_rng(2))
tell_moons = train(*moons, hidden=16, lr=0.05, steps=500,
                   rng=np.random.default_rng(0))

# %% tags=["hide-input", "nbval-ignore-output"]
# The border that it found.
share_of_moons = np.mean(tell_moons(fresh[0]) == fresh[1])
figures.show(
    figures.plots.decision_plane(*fresh, tell_moons, title="Two moons, fresh points", below=True),
    alt="A curved border follows the gap between the half moons; hardly a fresh point lies on its wrong side.",
    caption=f"{np.sum(tell_moons(fresh[0]) == fresh[1])} of {len(fresh[1])} fresh points are right; rings mark the "
    "others.",
)

# %% [markdown]
# And now what this course set out to do: read a handwritten digit. The engine does not care that a point has 784
# numbers instead of two, so give it images: threes and eights, 400 of each to learn from, 100 of each to be tested on.
# Not a line of the engine changes; only the rate and the number of steps are chosen anew.

# %%
digits = data.load_digits()
seen = np.isin(digits.y_train, (3, 8))
unseen = np.isin(digits.y_test, (3, 8))
read = train(digits.x_train[seen].astype(float), digits.y_train[seen] == 8,
             hidden=16, lr=0.003, steps=200, rng=np.random.default_rng(0))

# %% tags=["hide-input", "nbval-ignore-output"]
# How well it reads, and what it misread.
images, truth = digits.x_test[unseen], (digits.y_test[unseen] == 8).astype(int)
said = read(images)
share_of_digits = np.mean(said == truth)
misread = np.flatnonzero(said != truth)[:8]
figures.show(
    figures.plots.image_grid(images[misread].reshape(-1, 28, 28), cols=4, wrong=np.ones(len(misread), bool),
                             titles=[f"{(3, 8)[truth[i]]} read as {(3, 8)[said[i]]}" for i in misread]),
    alt="Some of the threes and eights that the engine's network misread; several are hard for people too.",
    caption=f"Read correctly: {share_of_digits:.1%} of 200 images it had never seen. Here are some of the others.",
)  # fmt: skip

# %% tags=["continued", "nbval-ignore-output"]
print(f"moons:  {np.sum(tell_moons(fresh[0]) == fresh[1])} of {len(fresh[1])} fresh points right")
print(f"digits: {np.sum(said == truth)} of {len(truth)} fresh threes and eights right; guessing gets {len(truth) // 2}")

# %% tags=["hide-input"]
# What the text says of both must be true on every machine.
assert share_of_moons > 0.95
assert share_of_digits > 0.9

# %% [markdown]
# More than nine in ten, where guessing gets five, with an engine that you could write down again.

# %% [markdown]
# ## The same in PyTorch
#
# Is it what PyTorch computes? The course does not need PyTorch, so its numbers were recorded: a script,
# [`tools/record_torch.py`](../tools/record_torch.py), ran graphs of this page there and kept the gradients. This one
# has both things that went wrong above, a bias and a node that is used twice:
#
# <details><summary>A text to read: the skip network with a bias, in PyTorch</summary>
#
# ```python
# X, Y = torch.tensor(inputs), torch.tensor(targets)
# W, b, V, W2 = (torch.tensor(start, requires_grad=True) for start in starts)
# A = torch.sigmoid(X @ W + b)
# S = A + torch.sigmoid(A @ V)
# loss = 0.5 * (torch.sigmoid(S @ W2) - Y).square().sum()
# loss.backward()
# ```
#
# `starts` are the numbers that the four weights begin with.
#
# </details>

# %%
with_skip = sigmoid(X @ W + b)
summed = with_skip + sigmoid(with_skip @ V)
third = half_squared_sum(sigmoid(summed @ W2), Y)
forward(third)
backward(third, add)
ours = {"W": W.grad, "b": b.grad, "V": V.grad, "W2": W2.grad}

# %% tags=["hide-input", "nbval-ignore-output"]
# The recorded gradients beside ours; the last bits of a difference are the machine's.
recorded = recorded_gradients()
recorded_beside = []
for name, grad in ours.items():
    theirs = recorded.gradients[f"network, {name}"]
    first, their_first, furthest = np.ravel(grad)[0], np.ravel(theirs)[0], float(np.abs(grad - theirs).max())
    recorded_beside.append((name, f"{first:.9f}", f"{their_first:.9f}", f"{furthest:.1e}"))
    checks.check_close(grad, theirs, rtol=1e-13, atol=1e-15)
table(recorded_beside, ["of", "ours, first number", "PyTorch's", "largest difference"],
      align="lrrr", caption=f"Recorded with PyTorch {recorded.version} on {recorded.date}, in float64.")

# %% [markdown]
# The same numbers, but for the rounding of the last of their sixteen digits. And here is the training loop, to be read.
# See how many of its lines you have written yourself today.
#
# <details><summary>A text to read: the training loop in PyTorch</summary>
#
# ```python
# import torch
#
# x, y = torch.tensor(points), torch.tensor(answers[:, None], dtype=torch.float64)
# w, b, w2, b2 = (torch.tensor(start, requires_grad=True) for start in starts)
# optimizer = torch.optim.SGD([w, b, w2, b2], lr=lr)
# for _ in range(steps):
#     output = torch.sigmoid(torch.tanh(x @ w + b) @ w2 + b2)
#     loss = 0.5 * (output - y).square().sum()
#     optimizer.zero_grad()
#     loss.backward()
#     optimizer.step()
# ```
#
# `points` and `answers` are those of `train`, and `starts` the four arrays that it begins with.
#
# </details>

# %% tags=["hide-input"]
# Line by line.
table(
    [("requires_grad=True", "nothing: your engine finds the gradient of every Node, X and Y too"),
     ("x @ w, torch.tanh(...)", "__matmul__ and tanh: a node that notes its parents; PyTorch computes it at once"),
     ("output = ..., loss = ... in the loop", "forward(loss); PyTorch makes a new graph in each step"),
     ("optimizer.zero_grad()", "node.grad = 0.0 at the beginning of backward"),
     ("loss.backward()", "the reversed order, the shares, and the plus sign"),
     ("optimizer.step()", "weight.value = weight.value - lr * weight.grad")],
    ["in PyTorch", "in your engine"],
    align="ll",
)  # fmt: skip

# %% [markdown]
# Two things differ. PyTorch computes each line as it is written, and takes its notes while doing so. You first wrote
# the graph down and then ran it, as Theano and the first TensorFlow did.[^Dey "Building a DL Library"] So in PyTorch an
# `if` can ask for a value, and in your engine it cannot, since nothing is computed yet. And in PyTorch, clearing is a
# call of its own, `zero_grad`. Why keep old gradients at all?

# %% [markdown]
# ## A second call
#
# This course has a grown-up version of your engine, [`course_lib/nn/graph.py`](../course_lib/nn/graph.py). It finds the
# same gradients, and clears old ones as PyTorch does, by a call of its own:

# %%
w, w2 = graph.variable(W.value, "W"), graph.variable(W2.value, "W2")
hidden = graph.apply("sigmoid", graph.variable(inputs, "X") @ w)
out = graph.apply("sigmoid", hidden @ w2)
goal = graph.apply("half_squared_sum", out, targets, name="J")
graph.forward(goal)
graph.backward(goal)
print("as by hand, in every bit:", np.array_equal(w.grad, by_hand["W"]))

# %% [markdown]
# Now leave that call, `zero_grad`, out on purpose, and call `backward` twice. What happens then can be read from the
# end of the library's `backward`. (A leaf is a node without parents, here `w`; `hidden` is a node in between.)

# %% tags=["hide-input"]
# The lines of the library's backward that touch gradients.
listing(graph.backward, "The end of the library's backward: which gradients does it clear, and to which does it add?",
        start="# Values are there")

# %% tags=["hide-input"]
# A prediction.
twice = predict(
    "`graph.backward(goal)` is called a second time, without `zero_grad` in between. What do `w.grad` and "
    "`hidden.grad` hold then?",
    ["both what they held before", "both twice the gradient", "w.grad twice the gradient, hidden.grad what it held",
     "w.grad four times the gradient, hidden.grad twice"],
    answer="w.grad twice the gradient, hidden.grad what it held",
    reveals=2,
)  # fmt: skip
twice

# %% tags=["hide-output"]
first, between = w.grad.copy(), hidden.grad.copy()
graph.backward(goal)
print("second call, w by the first:     ", np.unique(w.grad / first))
print("second call, hidden by the first:", np.unique(hidden.grad / between))
graph.zero_grad(goal)
graph.backward(goal)
print("after zero_grad, w by the first: ", np.unique(w.grad / first))

# %% [markdown]
# <details class="reveal"><summary>A common bug, and a good use</summary>
#
# Nodes in between are cleared in each call. Otherwise old gradients would be sent on a second time. Leaves are not: to
# them `parent.grad + g` adds. Forget `zero_grad` in a training loop, and each step uses the sum of all gradients so
# far. No error tells you, and in PyTorch's loops none does either. (A second call on the *same* graph it refuses,
# unless you say `retain_graph=True`.) But adding has its good use: a sum over samples can be taken in parts. If a batch
# does not fit into memory, send it through in pieces, call `backward` after each, and make one step at the end. This is
# for a loss that is a sum, as ours is. If the loss is a mean, $p$ equal pieces give $p$ times the gradient; divide it
# by $p$.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was computed.
graph.zero_grad(goal)
graph.backward(goal)
graph.backward(goal)
doubled = np.array_equal(w.grad, 2 * first) and np.array_equal(hidden.grad, between)
twice.confirm(twice.answer if doubled else "another multiple")

# %% [markdown]
# Try that at once. Two graphs, each with two of the four samples, share the leaves `w` and `w2`:

# %%
def loss_of(rows):
    hidden = graph.apply("sigmoid", graph.variable(inputs[rows]) @ w)
    out = graph.apply("sigmoid", hidden @ w2)
    return graph.apply("half_squared_sum", out, targets[rows])

graph.zero_grad(goal)
for half in (loss_of(slice(0, 2)), loss_of(slice(2, 4))):
    graph.forward(half)
    graph.backward(half)
print("two halves make the whole gradient:",
      np.allclose(w.grad, first, rtol=1e-12))

# %% [markdown]
# In the same way, two workers can take one half each, with the same weights, and add their gradients.

# %% [markdown]
# ## Optional: a long chain
#
# <details><summary>Ten thousand nodes</summary>
#
# One weakness of your engine remains. `visit` calls itself for each parent, and Python limits how deeply calls may
# nest, to a thousand or a few thousand. A recurrent network applies one layer again for every word of a text, and that
# makes longer chains. The library keeps the nodes that are still open in a list of its own, which can grow as long as
# memory lasts. Below, `step` is used 10,000 times, so its gradient is the sum of 10,000 shares of 1.
#
# </details>

# %%
chain, step = Node(0.0), Node(0.5)
for _ in range(10_000):
    chain = chain + step
try:
    forward(chain)
except RecursionError as error:
    print("yours:", type(error).__name__)

start, step = graph.variable(0.0), graph.variable(0.5)
chain = start
for _ in range(10_000):
    chain = chain + step
print("the library's:", graph.forward(chain), "from",
      f"{len(graph.topological_order(chain)):,} nodes")
graph.backward(chain)
print("gradients:", float(start.grad), "and", float(step.grad))

# %% [markdown]
# ## Try it
#
# - In `backward`, loop over `order` instead of `reversed(order)`. What are the gradients of the first example, and why?
#   <details><summary>Answer</summary>
#
#   `x` and `w` get 0. The leaves come first, and they have no parents to send anything to. Then `u` and `v` send shares
#   of a gradient that is still 0. `J` comes last, and gives `u` and `v` their 5 and 6 when their turn is over.
#
#   </details>
# - Give `b` the shape (1, 3), then (1,), then make it a plain `Node(0.5)`. What is the shape of its gradient each time,
#   and what was added up?
#   <details><summary>Answer</summary>
#
#   The shape of `b` each time. With (1, 3) it is the sum over the four samples, as before, in a row. The other two are
#   one bias for all three neurons and all four samples, so all twelve shares are added.
#
#   </details>

# %% [markdown]
# - Give your engine a `relu` with its share, and put it into the skip network in place of the *second* sigmoid, the one
#   of `H`. Nudge weights by a millionth to see whether their gradients are right. Then put it in place of the *first*,
#   that of `A`, and look at `W[0, 0]`.
#   <details><summary>Answer</summary>
#
#   `compute=lambda z: np.maximum(z, 0)` and `shares=lambda g, z: (g * (z > 0),)`. In the second place, all gradients
#   agree with what is measured. In the first, the engine finds −0.0002 for `W[0, 0]`, and a nudge to both sides 0.2873.
#   Neither is a slip. For the sample (1, 1), the first column of `W` gives 1 − 1 = 0, and there a ReLU has a corner.
#   (The third column gives −1 + 1, and is no better off. The second one agrees.) To the right the slope is 0.5747, to
#   the left −0.0002; the engine takes the left one, the nudge finds their mean. (In the row of (0, 0) every `z` is 0,
#   too. No nudge of `W` moves it, so it does no harm.) Check a gradient where no nudge moves a `z` across 0.
#
#   </details>

# %% [markdown]
# <details><summary>For those who know the lectures</summary>
#
# Prof. Dey's slide "Computations for a CG" says of the backward pass: compute "the derivative of the final goal node
# with respect to each incoming edge's tail node". Read literally, that is a whole derivative for each edge. What one
# edge brings is a *share*, and a node with several outgoing edges has the sum of its shares. In the first figure, x
# gets 6 and 10, and its derivative is 16.
#
# The slide "Building a DL Library" asks four things of a library: ways to specify a network, routines for its passes,
# routines for training and testing, and room for passes that run in parallel. You have built the first three in small,
# and the two halves show the fourth.
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
# **2.** Without the sum, `W` of the skip network was wrong, `V` and `W2` right. Now the input batch `X` is used twice
# instead: once in $X W$, once in a direct product $X U$ that is added to $G$. Which weight gradients are wrong
# without the sum? Would a gradient check of all weights notice?
#
# <details><summary>Answer</summary>
#
# None of them is wrong. Only the gradient of $X$ itself is a sum of two shares, and $X$ is a leaf, computed from
# nothing. The gradients of $W$ and $U$ come from nodes that have one child each. So the mistake is there, and a check
# of the weights passes; only one that includes the input would find it.
#
# </details>

# %% [markdown]
# **3.** A training loop calls `graph.forward`, `graph.backward` and a step, and never `zero_grad`. What does the third
# step use as its gradient? When is adding up what you want?
#
# <details><summary>Answer</summary>
#
# The sum of three gradients: those at the first, the second and the third weights. The steps grow, and include
# outdated directions. Adding is what you want when the parts belong to one step: pieces of a batch that does not fit
# into memory, or the samples of several workers.
#
# </details>
