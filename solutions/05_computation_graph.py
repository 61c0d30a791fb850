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
# # 05 · Exercises: the computation graph
#
# These exercises belong to lesson 05. Graphs are plain lists and dicts of names here, so that nothing stands between
# you and the idea: an order, a walk forward, a walk back, a sum. The warm-up takes about five minutes, core exercises
# ten to twenty, the last one half an hour.
#
# Write your code in place of `raise NotImplementedError`, run the cell, then run the `check` below it: it calls your
# function, and says at the first wrong value what was expected. Arguments must stay as they are.

# %%
import numpy as np

from course_lib.checks import check

# %% [markdown]
# ## 05.1 · Who stands too early?
#
# *2 points, warm-up. Trains: what makes a list a topological order. (Dey, "Computation Graph")*
#
# `parents` is a dict: the name of each node and the list of its parents' names, `[]` for a leaf. `order` is a list
# that names every node exactly once. A node stands **too early** if at least one of its parents comes later in `order`.
#
# Return the list of the nodes that stand too early, in the order in which they stand there. A topological order gives
# `[]`. For `{"x": [], "a": ["x"], "J": ["a", "x"]}` and `["J", "x", "a"]` the answer is `["J"]`: `a` stands after `x`,
# as it should.
#
# <details><summary>Hint 1</summary>
#
# Walk through `order` and remember whom you have met.
#
# </details>
# <details><summary>Hint 2</summary>
#
# At each node, ask for every parent whether you have met it already. One that you have not is enough.
#
# </details>
# <details><summary>Hint 3</summary>
#
# Keep a set `seen`. For each name: if `any(p not in seen for p in parents[name])`, note the name. In both cases, add
# the name to `seen`.
#
# </details>

# %% exercise="05.1"
def too_early(parents, order):
    """Return the list of the names in order that stand before one of their parents."""
    ### BEGIN SOLUTION
    seen, early = set(), []
    for name in order:
        if any(p not in seen for p in parents[name]):
            early.append(name)
        seen.add(name)
    return early
    ### END SOLUTION

# %% check="05.1"
check("05.1", too_early)

# %% [markdown]
# ## 05.2 · An order without recursion
#
# *3 points, core. Trains: finding a topological order by asking who is ready. (Dey, "Computations for a CG")*
#
# The lesson's search calls itself, and fails on long chains. Here is another way. A node is **ready** if it is not in
# the list yet and all its parents are. Begin with an empty list; take one ready node, append it, and look again, until
# nobody is ready. Of several ready nodes take the first in Python's order of texts, the one that `min` gives.
#
# `parents` is a dict as in 05.1; a node may have the same parent twice, as in $a + a$. Return the list of names. Nodes
# that wait for each other, and all that need them, never become ready: leave them out. For
# `{"m": [], "z": [], "a": ["m"], "b": ["a"]}` the order is `["m", "a", "b", "z"]`: `z` is ready from the beginning, but
# there is always somebody before it in the alphabet.
# Graphs have up to a thousand nodes.
#
# <details><summary>Hint 1</summary>
#
# The two sentences above, "A node is ready if" and "Begin with", are the algorithm. Write them down as a loop.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Inside `while True`, build the list of all names that are ready. If it is empty, return. For speed, ask a set, not the
# list, who is done.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `ready = [n for n in parents if n not in done and all(p in done for p in parents[n])]`, with the set `done`. If
# there are any, `min(ready)` is next: append it to the list and add it to the set.
#
# </details>

# %% exercise="05.2"
def computing_order(parents):
    """Return the names in an order in which they can be computed; of several that are ready, the smallest first."""
    ### BEGIN SOLUTION
    order, done = [], set()
    while True:
        ready = [name for name, needs in parents.items() if name not in done and done.issuperset(needs)]
        if not ready:
            return order
        order.append(min(ready))
        done.add(order[-1])
    ### END SOLUTION

# %% check="05.2"
check("05.2", computing_order)

# %% [markdown]
# ## 05.3 · Every gradient of a formula
#
# *4 points, core. Trains: values forward, shares backward. (Dey, "Computations for a CG")*
#
# `values` is a dict of the leaves, a name and a number each. `steps` is a list of tuples `(name, op, a, b)`, in
# topological order: the node `name` is `a op b`, where `op` is one of `"+"`, `"-"`, `"*"`, `"/"`, and `a` and `b` are
# names of leaves or of earlier steps, perhaps the same one twice. There is at least one step; the last one is the goal
# $J$.
#
# Return a dict with the derivative of $J$ with respect to every node: all leaves, all steps, $J$ itself (1), and 0 for
# nodes that do not lead to $J$. Values may be whole numbers; nothing is divided by 0. Measured
# derivatives are not exact enough. The lesson's diamond is
# `values = {"x": 3, "w": 2}`, `steps = [("u", "*", "x", "w"), ("v", "+", "x", "w"), ("J", "*", "u", "v")]`; it gives
# `{"x": 16, "w": 21, "u": 5, "v": 6, "J": 1}`.
#
# <details><summary>Hint 1</summary>
#
# Two loops over `steps`. The first computes all values, the second runs in reverse and hands out shares.
#
# </details>
# <details><summary>Hint 2</summary>
#
# The shares of $a$ and $b$ from a node with gradient $g$: for `+` they are $g$ and $g$, for `*` they are $g\,b$ and
# $g\,a$. For `-`, which sign has each? For `/`, differentiate $a/b$ by $a$ and by $b$.
#
# </details>
# <details><summary>Hint 3</summary>
#
# Begin with a dict of zeros for all names, and 1 for the last step's. For each step in `reversed(steps)`, let `g` be
# its gradient and `p, q` the values of its parents. `/` sends `g / q` and `-g * p / q**2`. Use `+=` for both, one
# after the other, so that `a` and `b` may be the same node.
#
# </details>

# %% exercise="05.3"
def gradients(values, steps):
    """Return {name: dJ/dname} for all leaves and steps; J is the last step."""
    ### BEGIN SOLUTION
    v = dict(values)
    for name, op, a, b in steps:
        p, q = v[a], v[b]
        v[name] = p + q if op == "+" else p - q if op == "-" else p * q if op == "*" else p / q
    grad = dict.fromkeys(v, 0.0)
    grad[steps[-1][0]] = 1.0
    for name, op, a, b in reversed(steps):
        g, p, q = grad[name], v[a], v[b]
        shares = {"+": (g, g), "-": (g, -g), "*": (g * q, g * p)}.get(op) or (g / q, -g * p / q**2)
        grad[a] += shares[0]
        grad[b] += shares[1]
    return grad
    ### END SOLUTION

# %% check="05.3"
check("05.3", gradients)

# %% [markdown]
# ## 05.4 · One visit a node, one visit a path
#
# *3 points, core. Trains: what a walk without `seen` costs. (Dey, "Computations for a CG"; the count is the
# course's own)*
#
# The lesson's `order_by_path` visits a node once for every path from the goal to it. You count these visits without
# making them. `steps` is a list of pairs `(name, list of parents)` in topological order, leaves with `[]`; the last
# pair is the goal. A node may name the same parent twice: that makes two paths.
#
# Return a tuple of two whole numbers: the visits of a walk from the goal back that visits each node **once**, and those
# of one that visits it once per **path**. Both count the goal and the leaves; neither meets nodes that do not lead to
# the goal. $J = a + a$ with $a$ made of one leaf is `[("x", []), ("a", ["x"]), ("J", ["a", "a"])]` and gives `(3, 5)`:
# `J`, and twice `a` and `x`. A chain may have thousands of nodes, a ladder more than $10^{18}$ visits; your function
# must still be done at once.
#
# <details><summary>Hint 1</summary>
#
# How many visits does a walk make that starts at a leaf? At a node whose parents' walks make 5 and 7 visits?
#
# </details>
# <details><summary>Hint 2</summary>
#
# The second number, forward: a walk from a node visits the node itself, and then makes the walk of each entry in its
# list of parents. Parents come first in `steps`, so their numbers are known: no function has to call itself.
#
# </details>
# <details><summary>Hint 3</summary>
#
# `count[name] = 1 + sum(count[p] for p in parents)` in a loop over `steps`. For the first number, start with the set
# of the goal's name and run through `reversed(steps)`: if a name is in the set, its parents join the set.
#
# </details>

# %% exercise="05.4"
def visits(steps):
    """Return (visits once per node, visits once per path) of a walk from the last of the steps to the leaves."""
    ### BEGIN SOLUTION
    count, needed = {}, {steps[-1][0]}
    for name, parents in steps:
        count[name] = 1 + sum(count[parent] for parent in parents)
    for name, parents in reversed(steps):
        if name in needed:
            needed.update(parents)
    return len(needed), count[steps[-1][0]]
    ### END SOLUTION

# %% check="05.4"
check("05.4", visits)

# %% [markdown]
# ## 05.5 · Broadcasting is a node used many times
#
# *3 points, stretch. Trains: sums over uses that nobody wrote down. (Dey, "Computations for a CG"; broadcasting is the
# course's addition)*
#
# In $Z + b$ with $Z$ $(B, M)$ and $b$ $(M,)$, NumPy repeats $b$ for every row: each number of $b$ is used $B$ times. A
# graph whose nodes carry arrays must send $b$ a share of $b$'s shape. `g` is the gradient of the result of an addition,
# and `shape`, a tuple, the shape of one of its two parents, which NumPy **broadcast** to the shape of `g`: missing axes
# were put in front, axes of size 1 were repeated.
#
# Return the share of that parent, an array of shape `shape`: each of its numbers receives the sum of `g` over all
# places where it was used. For `g = [[1, 2, 3], [40, 50, 60]]`: shape `(3,)` gives `[41, 52, 63]`, shape `(2, 1)` gives
# `[[6], [150]]`, shape `(2, 3)` gives `g`, and shape `()` the single number 156.
#
# <details><summary>Hint 1</summary>
#
# There are two kinds of repeated axes: those that `shape` does not have, and those that have size 1 in `shape` and
# more in `g`. Sum over both.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Summing over the first axis as long as there are too many axes deals with the first kind. For the second,
# `sum(axis=..., keepdims=True)` keeps the axis, with size 1.
#
# </details>
# <details><summary>Hint 3</summary>
#
# As long as `g.ndim` is larger than `len(shape)`, replace `g` by its sum over axis 0. Then, for each axis whose size in
# `shape` is 1, sum over it with `keepdims=True`. A sum over an axis of size 1 changes nothing, so you need not ask for
# the size in `g`.
#
# </details>

# %% exercise="05.5"
def share_of(g, shape):
    """Return the share, an array of the given shape, of a parent that was broadcast to the shape of g and added."""
    ### BEGIN SOLUTION
    while g.ndim > len(shape):
        g = g.sum(axis=0)
    for axis, size in enumerate(shape):
        if size == 1:
            g = g.sum(axis=axis, keepdims=True)
    return np.array(g)
    ### END SOLUTION

# %% check="05.5"
check("05.5", share_of)
