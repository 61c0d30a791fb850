"""A small graph of numbers that the reader changes: values run forward along its edges, gradients backward.

The page's script computes by itself, as `course_lib.nn.graph` does; works on goals made of its nodes.
"""

import copy
import math

import numpy as np

from course_lib.nn import graph

from . import graphs
from .live import live
from .picture import picture

OPERATIONS = {"+": 2, "-": 2, "*": 2, "sigmoid": 1, "half_squared_sum": 2}
"""What the script can compute and differentiate, and how many parents it takes. Nothing that a leaf's value forbids."""

MOST_COLUMNS, MOST_ROWS = 6, 2
"""What stands side by side on a screen, and on a phone, where columns become rows."""


def explorer(goal, *, limits=(-4.0, 4.0), step=0.5, title="Values forward, gradients backward", choice=True,
             finished=True):  # fmt: skip
    """Return a figure of the graph that ends in `goal`; the reader changes its leaves and walks through both passes.

    Each step computes one value, or sends one share of a gradient along one edge. Where a node is used twice, the
    reader can also let the last share replace the others, and sees which gradients are then wrong, unless `choice` is
    False.

    Parameters
    ----------
    goal : graph.Node
        Of single numbers; each node has a name of its own. Neither its values nor its gradients are changed.
    limits : (float, float)
        Least and greatest value that a leaf can be given.
    step : float > 0
        From one value of a leaf to the next.
    title : str
    choice : bool
        Whether to offer the choice between adding the shares and keeping the last.
    finished : bool
        Whether the figure opens with both walks done; else it opens before the first step.

    Returns
    -------
    figures.Live

    Raises
    ------
    ValueError, TypeError
        A goal that is no node, or a leaf; a value that is no finite number within `limits`, a whole number of steps
        from the least; names that are missing, long or there twice; an operation that is not in `OPERATIONS`; more
        columns or rows than fit, or an edge that jumps over a column.

    Source: Karpathy, "micrograd" (numbers and gradients in the nodes of a drawing); Dey, "Computations for a CG".
    """
    if not isinstance(goal, graph.Node):
        raise TypeError(f"goal is a {type(goal).__name__}; give the last node of a graph, such as x * w + b.")
    if goal.is_leaf:
        raise ValueError(f"{goal!r} is a leaf: nothing is computed. Give the result of an operation.")
    goal = copy.deepcopy(goal)
    order = graph.topological_order(goal)
    _check(order, limits, step)
    graph.zero_grad(goal)
    graph.forward(goal)
    graph.backward(goal)
    place, column = {id(node): i for i, node in enumerate(order)}, graphs.columns(goal)
    across = {}
    for node in order:
        across.setdefault(column[id(node)], []).append(node)
    _check_room(order, column, across)
    rows = {n.name: r + (MOST_ROWS - len(line)) / 2 for line in across.values() for r, n in enumerate(line)}
    if max(map(len, across.values())) == 1:
        rows = dict.fromkeys(rows, 0)
    nodes = [
        {"name": n.name, "op": n.op, "parents": [place[id(p)] for p in n.parents], "column": column[id(n)],
         "row": rows[n.name], "role": graphs.role_of(n, goal)} | ({"value": float(n.value)} if n.is_leaf else {})
        for n in order
    ]  # fmt: skip
    data = {"nodes": nodes, "limits": [float(v) for v in limits], "step": float(step), "choice": bool(choice),
            "finished": bool(finished)}  # fmt: skip
    says = _finding(order, goal)
    static = picture(graphs.draw(goal, rows=rows, size="full"), alt=_alt(order, says), caption=says)
    return live("graph_explorer", data, title=title, static=static)


def shares_of(goal):
    """Return {name: [shares]} of one backward pass: what each node is sent, in the order in which it arrives.

    No errors but those of `graph.forward` and `graph.backward`. Source: the course's own.
    """
    graph.zero_grad(goal)
    graph.forward(goal)
    graph.backward(goal)
    order = graph.topological_order(goal)
    sent = {node.name: [] for node in order}
    for node in (n for n in reversed(order) if not n.is_leaf):
        for parent, share in zip(node.parents, node.local_gradients(node.grad), strict=True):
            sent[parent.name].append(float(share))
    return sent


def _check(order, limits, step):
    low, high = limits
    if not (math.isfinite(low) and math.isfinite(high) and low < high and 0 < step <= high - low):
        raise ValueError(f"limits are {limits} and step is {step}; the first limit must be below the second, step > 0.")
    names = [node.name for node in order]
    for node in order:
        if not (0 < len(node.name) <= 3 and node.name[0].isalpha()) or names.count(node.name) > 1:
            raise ValueError(f"the names are {names}; each node needs its own, of 1 to 3 letters: node.name = 'u'.")
        if node.is_leaf:
            _check_leaf(node, low, high, step)
        elif OPERATIONS.get(node.op) != len(node.parents):
            known = ", ".join(OPERATIONS)
            raise ValueError(f"{node.name} is made by {node.op!r} of {len(node.parents)}; the figure knows {known}.")


def _check_leaf(node, low, high, step):
    if node.value is None or np.ndim(node.value) or not low <= float(node.value) <= high:
        raise ValueError(f"{node.name} is {node.value}; a leaf must be one number from {low:g} to {high:g}.")
    steps = (float(node.value) - low) / step
    if abs(steps - round(steps)) > 1e-9:
        raise ValueError(f"{node.name} is {node.value}; it must be a whole number of steps of {step:g} from {low:g}.")


def _check_room(order, column, across):
    if len(across) > MOST_COLUMNS or max(map(len, across.values())) > MOST_ROWS:
        raise ValueError(
            f"the graph has {len(across)} columns, with up to {max(map(len, across.values()))} nodes in one; a figure "
            f"can show {MOST_COLUMNS} and {MOST_ROWS}. Choose a smaller example."
        )
    for node in order:
        for parent in node.parents:
            if column[id(node)] - column[id(parent)] != 1:
                raise ValueError(
                    f"the edge from {parent.name} to {node.name} jumps over a column, and would lie on other nodes. "
                    "Choose an example in which each node is used in the next step."
                )


def _number(value):
    return f"{float(value):.4g}".replace("-", "−")


def _finding(order, goal):
    leaves = [n for n in order if n.is_leaf]
    found = ", ".join(f"d{goal.name}/d{n.name} = {_number(n.grad)}" for n in leaves)
    given = ", ".join(f"{n.name} = {_number(n.value)}" for n in leaves)
    return f"At {given}, one walk forward gives {goal.name} = {_number(goal.value)}, and one walk back {found}."


def _alt(order, says):
    sent = shares_of(order[-1])
    edges = "; ".join(f"{n.name} = {graphs.formula(n)} = {_number(n.value)}" for n in order if not n.is_leaf)
    meet = [f"{name} gets {' + '.join(map(_number, shares))}" for name, shares in sent.items() if len(shares) > 1]
    return f"{says} {edges}." + (f" Where a node is used twice, shares add up: {'; '.join(meet)}." if meet else "")
