"""Figures of lesson 05: a computation graph drawn by topological depth, and walked forward and backward.

Works on `course_lib.nn.graph`; `draw` also on any nodes with `parents`, `op`, `name`, `value` and `grad`.
"""

from itertools import pairwise

import numpy as np

from course_lib.nn import graph

from . import style
from .picture import picture
from .stepper import stepper
from .svg import Svg

CELL = 11  # pixels of one number in a matrix that is drawn without digits
SIZES = {"full": (108, 104, 30, 26), "compact": (66, 50, 26, 22)}  # box width, height, gap across, gap down
FORMULAS = {"dense": "{} @ {}", "sigmoid": "σ({})", "half_squared_sum": "½Σ({}−{})²"}


def columns(goal):
    """Return {id(node): column}: computed nodes one right of their furthest parent, leaves just before their use."""
    order = graph.topological_order(goal)
    column = {}
    for node in order:
        if node.parents:
            column[id(node)] = 1 + max(column.get(id(p), 0) for p in node.parents)
    for leaf in (n for n in order if not n.parents):
        users = [column[id(n)] for n in order if any(p is leaf for p in n.parents)]
        column[id(leaf)] = min(users, default=1) - 1
    return column


def draw(goal, *, rows=None, wrong=(), size="compact"):
    """Return a drawing of the graph that ends in `goal`, left to right by topological depth.

    Parameters
    ----------
    goal : Node
    rows : dict, optional
        Name -> row (0 is the top; halves allowed), where the default order of a column is not wanted.
    wrong : iterable of str
        Names of nodes to mark as wrong.
    size : "compact" or "full"
        Names only, or with values and gradients.
    """
    every = {id(n) for n in graph.topological_order(goal)}
    shown = {id(n): n.grad for n in graph.topological_order(goal)}
    return _Drawing(goal, rows or {}, size).draw(known=every, grads=shown, wrong=set(wrong))


def walk_frames(goal, *, rows=None):
    """Return the pictures of one forward and one backward pass over a `course_lib.nn.graph`.

    One frame a node: forward it takes its value; backward it sends each parent its share of the gradient. Leaves keep
    what they hold afterwards as after one `graph.backward`.
    """
    drawing = _Drawing(goal, rows or {}, "full")
    graph.zero_grad(goal)
    graph.forward(goal)
    order = graph.topological_order(goal)
    known = {id(n) for n in order if n.is_leaf}
    grads = dict.fromkeys((id(n) for n in order), None)
    leaves = ", ".join(n.name for n in order if n.is_leaf)
    frames = [_frame(drawing, known, grads, None, f"Given are the leaves: {leaves}.",
                     "Nodes without an incoming edge have a value; all others wait.")]
    for node in (n for n in order if not n.is_leaf):
        known = known | {id(node)}
        frames.append(_frame(drawing, known, grads, node,
                             f"Forward: {node.name} = {formula(node)} = {_short(node.value)}.",
                             f"Its {_count(node.parents, 'parent')} had a value, so it could be computed."))
    grads = grads | {id(goal): np.ones(np.shape(goal.value))}
    frames.append(_frame(drawing, known, grads, goal, f"Backward begins: d{goal.name}/d{goal.name} = 1.",
                         "The goal changes one to one with itself."))
    for node in (n for n in reversed(order) if not n.is_leaf):
        shares = node.local_gradients(grads[id(node)])
        grads, told = dict(grads), []
        for parent, share in zip(node.parents, shares, strict=False):
            if share is None:
                continue
            before = grads[id(parent)]
            grads[id(parent)] = share if before is None else before + share
            told.append(_told(parent, before, share, grads[id(parent)]))
        frames.append(_frame(drawing, known, grads, node, f"Backward: {node.name} sends along its incoming edges: "
                             f"{'; '.join(told)}.", "Its own gradient was complete.", sending=True))
    graph.backward(goal)
    return frames


def walk_stepper(goal, *, rows=None):
    """Return the stepper of `walk_frames`."""
    return stepper(walk_frames(goal, rows=rows), title="Forward in topological order, backward in reverse")


def formula(node):
    """Return how a node reads, such as "X @ W"; "" for a leaf."""
    names = [p.name for p in node.parents]
    if not names:
        return ""
    if node.op in "+-*@" and len(names) == 2:
        return f"{names[0]} {node.op} {names[1]}"
    return FORMULAS[node.op].format(*names) if node.op in FORMULAS else f"{node.op}({', '.join(names)})"


class _Drawing:
    """Where the boxes of one graph stand; draws it in any state."""

    def __init__(self, goal, rows, size):
        self.goal, self.order, self.size = goal, graph.topological_order(goal), size
        self.width, self.height, across, down = SIZES[size]
        if size == "full" and all(np.ndim(n.value) == 0 for n in self.order if n.value is not None):
            self.height = 70
        column = columns(goal)
        self.row, taken = {}, {}
        for node in sorted(self.order, key=lambda n: not n.parents):  # computed nodes first: they are the top row
            free = taken.setdefault(column[id(node)], 0)
            self.row[id(node)] = rows.get(node.name, free)
            taken[column[id(node)]] += 1
        self.long = [(p, n) for n in self.order for p in n.parents if column[id(n)] - column[id(p)] > 1]
        self.top = 34 if self.long else 12
        self.place = {k: (8 + c * (self.width + across), self.top + self.row[k] * (self.height + down))
                      for k, c in column.items()}
        self.span = 16 + max(x for x, _ in self.place.values()) + self.width
        self.depth = max(y for _, y in self.place.values()) + self.height + 12

    def draw(self, *, known, grads, active=None, sending=False, wrong=()):
        svg = Svg(self.span, self.depth)
        for node in self.order:
            for k, parent in enumerate(node.parents):
                self._edge(svg, parent, node, k, known, active, sending)
        for node in self.order:
            self._box(svg, node, known, grads, node is active, node.name in wrong)
        return svg

    def _edge(self, svg, parent, node, k, known, active, sending):
        (x1, y1), (x2, y2) = self.place[id(parent)], self.place[id(node)]
        shift = 18 * (k - (len(node.parents) - 1) / 2)
        start = (x1 + self.width, y1 + self.height / 2 + (shift if node.parents.count(parent) > 1 else 0))
        points = [start, (x2, y2 + self.height / 2 + shift)]
        if (parent, node) in self.long and y1 == y2:  # over the boxes in between
            middle, lane = x1 + self.width / 2, self.top - 18
            points = [(middle, y1), (middle, lane), (x2 + self.width / 2, lane), (x2 + self.width / 2, y2)]
        colour, line = (style.MUTED, 1.5) if id(node) in known else ("idle", 1.2)
        if node is active:
            colour, line = ("gradient", 3) if sending else ("data", 3) if active.value is not None else (colour, line)
        if node is active and sending:
            points = points[::-1]
        for (a, b), (c, d) in pairwise(points[:-1]):
            svg.line(a, b, c, d, stroke=colour, line=line)
        svg.arrow(*points[-2], *points[-1], stroke=colour, line=line, head=9)

    def _box(self, svg, node, known, grads, active, wrong):
        x, y = self.place[id(node)]
        ready, role = id(node) in known, role_of(node, self.goal)
        fill = style.tint("hazard" if wrong else role, 0.3 if wrong else 0.12) if ready else style.PAPER
        svg.rect(x, y, self.width, self.height, fill=fill, stroke="hazard" if wrong else role if ready else "idle",
                 line=3 if active or wrong else 1.2, dashed=not ready, radius=8)
        if active:
            svg.rect(x - 3, y - 3, self.width + 6, self.height + 6, line=2, radius=10)
        if self.size == "compact":
            title, low = ("✗ " if wrong else "") + node.name, 18 if node.parents or wrong else 29
            svg.text(x + self.width / 2, y + low, title, anchor="middle", bold=True)
            svg.text(x + self.width / 2, y + 37, "wrong" if wrong else formula(node), anchor="middle", fill=style.MUTED)
            return
        svg.text(x + 7, y + 16, node.name, bold=True)
        if node.parents:
            svg.text(x + 13 + 9 * len(node.name), y + 16, f"= {formula(node)}", fill=style.MUTED)
        self._numbers(svg, x, y, node.value if ready else None, np.shape(node.value), role, 0)
        self._numbers(svg, x, y, grads[id(node)], np.shape(node.value), "gradient", 1)

    def _numbers(self, svg, x, y, value, shape, role, place):
        if len(shape) < 2:
            word = ("value", "gradient")[place]
            text = "" if value is None else f"{float(value):.4g}".replace("-", "−")
            svg.rect(x + 7, y + 25 + 20 * place, 9, 9, fill=role if text else style.PAPER, stroke=role)
            svg.text(x + 21, y + 34 + 20 * place, f"{word} {text}", fill=style.INK if text else style.MUTED)
            return
        left = x + 7 + place * (self.width / 2 - 3)
        biggest = 1.0 if value is None else float(np.abs(value).max()) or 1.0
        for i, j in np.ndindex(shape):
            at = (left + j * CELL, y + 24 + i * CELL, CELL, CELL)
            if value is None:
                svg.rect(*at, fill=style.PAPER, stroke=style.GRID)
            else:
                svg.rect(*at, fill=style.tint(role, 0.12 + 0.78 * abs(value[i, j]) / biggest), stroke=role)
        if value is not None:
            svg.text(left, y + 24 + shape[0] * CELL + 15, f"{shape}")


def role_of(node, goal):
    """Return the colour role of a node: weights by their names, targets and the goal as output, the rest as data."""
    if node is goal or node.name[:1] in ("Y", "y", "O"):
        return "output"
    return "weight" if not node.parents and node.name[:1] in ("W", "V", "w", "b") else "data"


def _frame(drawing, known, grads, active, what, why, sending=False):
    svg = drawing.draw(known=known, grads=grads, active=active, sending=sending)
    done = sum(g is not None for g in grads.values())
    alt = f"{what} {len(known)} of {len(drawing.order)} values and {done} gradients are known."
    return picture(svg, alt=alt, caption=f"{what} {why}")


def _told(parent, before, share, total):
    if np.ndim(share) == 0:
        return f"{parent.name} gets {_short(share)}" + ("" if before is None else f", in all {_short(before)} + "
                                                        f"{_short(share)} = {_short(total)}")
    return f"{parent.name} gets {_short(share)}" + ("" if before is None else ", added to what it has")


def _short(value):
    return f"{float(value):.4g}" if np.ndim(value) == 0 else f"a matrix {np.shape(value)}"


def _count(things, word):
    return f"{len(things)} {word}{'' if len(things) == 1 else 's'}"
