"""Figures of lesson 05: a computation graph drawn by topological depth, and walked forward and backward.

Works on `course_lib.nn.graph`; `draw` also on any nodes with `parents`, `op`, `name`, `value` and `grad`.
"""

from itertools import pairwise

import numpy as np

from course_lib.nn import graph

from . import style
from .picture import picture
from .svg import LABEL, Svg, text_width

CELL = (40, 20)  # pixels of one number of a matrix
# Least width and height of a box, gap across, gap down.
SIZES = {"compact": (66, 50, 26, 22), "full": (108, 70, 30, 26), "matrices": (80, 70, 22, 24)}
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
    return Drawing(goal, rows or {}, size).draw(known=every, grads=shown, wrong=set(wrong))


def walk_frames(goal, *, rows=None, drawing=None):
    """Return the pictures of one forward and one backward pass over a `course_lib.nn.graph`.

    One frame a node: forward it takes its value; backward it sends each parent its share of the gradient. Leaves keep
    what they hold afterwards as after one `graph.backward`. `drawing(goal, rows, size, without)` makes the drawing; by
    default it goes from left to right.
    """
    graph.zero_grad(goal)
    graph.forward(goal)
    order = graph.topological_order(goal)
    graph.backward(goal)
    drawing = (drawing or Drawing)(goal, rows or {}, "full", without=[id(n) for n in order if n.grad is None])
    known = {id(n) for n in order if n.is_leaf}
    grads = dict.fromkeys((id(n) for n in order), None)
    leaves = ", ".join(n.name for n in order if n.is_leaf)
    frames = []

    def show(active, what, why, sending=False):
        frames.append(_frame(drawing, known, grads, active, what, why, sending))

    given = "Nodes without an incoming edge have a value; all others wait."
    show(None, f"Given are the leaves: {leaves}.", given)
    for node in (n for n in order if not n.is_leaf):
        known = known | {id(node)}
        had = f"Its {_count(node.parents, 'parent')} had a value, so it could be computed."
        show(node, f"Forward: {node.name} = {formula(node)} = {_short(node.value)}.", had)
    grads = grads | {id(goal): np.ones(np.shape(goal.value))}
    show(goal, f"Backward begins: d{goal.name}/d{goal.name} = 1.", "The goal changes one to one with itself.")
    for node in (n for n in reversed(order) if not n.is_leaf):
        shares = node.local_gradients(grads[id(node)])
        grads, told = dict(grads), []
        for parent, share in zip(node.parents, shares, strict=False):
            if share is None:
                continue
            before = grads[id(parent)]
            grads[id(parent)] = share if before is None else before + share
            told.append(_told(parent, before, share, grads[id(parent)]))
        sent = f"Backward: {node.name} sends along its incoming edges: {'; '.join(told)}."
        show(node, sent, "Its own gradient was complete.", sending=True)
    return frames


def formula(node):
    """Return how a node reads, such as "X @ W"; "" for a leaf."""
    names = [p.name for p in node.parents]
    if not names:
        return ""
    if node.op in ("+", "-", "*", "/", "@") and len(names) == 2:
        return f"{names[0]} {node.op} {names[1]}"
    if node.op == "-" or node.op.startswith("**"):  # of one parent
        return f"-{names[0]}" if node.op == "-" else f"{names[0]}{node.op}"
    return FORMULAS[node.op].format(*names) if node.op in FORMULAS else f"{node.op}({', '.join(names)})"


class Drawing:
    """Where the boxes of one graph stand; draws it in any state."""

    cell = CELL
    head = 20  # pixels of the line above a matrix that says how it is computed

    def __init__(self, goal, rows, size, without=()):
        """`without`: ids of nodes that never get a gradient, so no room is drawn for one."""
        self.goal, self.order, self.without = goal, graph.topological_order(goal), set(without)
        numbers = all(np.ndim(n.value) == 0 for n in self.order if n.value is not None)
        self.size = size if size == "compact" or numbers else "matrices"
        _, _, across, down = SIZES[self.size]
        column = columns(goal)
        self.row, taken = {}, {}
        for node in sorted(self.order, key=lambda n: not n.parents):  # computed nodes first: they are the top row
            free = taken.setdefault(column[id(node)], 0)
            self.row[id(node)] = rows.get(node.name, free)
            taken[column[id(node)]] += 1
        self.long = [(p, n) for n in self.order for p in n.parents if column[id(n)] - column[id(p)] > 1]
        self.top = 34 if self.long else 12
        widths, heights = {}, {}  # of each column; of each row, where halves count for the row above
        for node in self.order:
            wide, high = self._extent(node)
            c, r = column[id(node)], int(self.row[id(node)])
            widths[c], heights[r] = max(wide, widths.get(c, 0)), max(high, heights.get(r, 0))
        lefts = np.cumsum([8] + [widths[c] + across for c in range(max(widths))])
        tops = np.cumsum([self.top] + [heights.get(r, 0) + down for r in range(max(heights) + 1)])
        self.place, self.extent = {}, {}
        for node in self.order:
            c, r = column[id(node)], self.row[id(node)]
            self.place[id(node)] = (float(lefts[c]), float(np.interp(r, range(len(tops)), tops)))
            self.extent[id(node)] = (widths[c], self._extent(node)[1])
        self.span = 8 + max(self.place[id(n)][0] + self.extent[id(n)][0] for n in self.order)
        self.depth = 12 + max(self.place[id(n)][1] + self.extent[id(n)][1] for n in self.order)

    def _extent(self, node):
        """The width and height that the box of a node needs."""
        wide, high, *_ = SIZES[self.size]
        if self.size == "compact":
            return max(wide, text_width(formula(node)) + 18), high
        if np.ndim(node.value) < 2:
            words = [f"{word} {v:.4g}" for word, v in (("value", node.value), ("gradient", node.grad)) if v is not None]
            return max(wide, *(text_width(w) + 28 for w in words)), high + 16 * (self.size == "matrices")
        rows, cols = np.shape(node.value)
        wide = max(wide, cols * CELL[0] + 14, text_width(_gradient_of(node) + f" {rows, cols}") + 28)
        parts = 1 if id(node) in self.without else 2
        return wide, 20 + parts * (LABEL + rows * CELL[1] + 8)

    def draw(self, *, known, grads, active=None, sending=False, wrong=()):
        """Return the `Svg`: values of the nodes in `known`, gradients of those in `grads`, the step at `active`.

        No errors. Source: the course's own.
        """
        svg = Svg(self.span, self.depth)
        for node in self.order:
            for k, parent in enumerate(node.parents):
                self._edge(svg, parent, node, k, known, active, sending)
        for node in self.order:
            self._box(svg, node, known, grads, node is active, node.name in wrong)
        return svg

    def points(self, parent, node, k):
        """The corners of the edge from a parent to the node whose k-th parent it is."""
        (x1, y1), (x2, y2) = self.place[id(parent)], self.place[id(node)]
        (wide1, high1), (wide2, high2) = self.extent[id(parent)], self.extent[id(node)]
        shift = 18 * (k - (len(node.parents) - 1) / 2)
        start = (x1 + wide1, y1 + high1 / 2 + (shift if node.parents.count(parent) > 1 else 0))
        points = [start, (x2, y2 + high2 / 2 + shift)]
        if self.size == "matrices":  # tall boxes: the arrow stays near the row of its parent
            start = min(start[1], y1 + 56)
            points = [(x1 + wide1, start), (x2, min(max(start + shift, y2 + 12), y2 + high2 - 12))]
        if (parent, node) in self.long and y1 == y2:  # over the boxes in between
            middle, lane = x1 + wide1 / 2, self.top - 18
            points = [(middle, y1), (middle, lane), (x2 + wide2 / 2, lane), (x2 + wide2 / 2, y2)]
        return points

    def _edge(self, svg, parent, node, k, known, active, sending):
        points = self.points(parent, node, k)
        colour, line = (style.MUTED, 1.5) if id(node) in known else ("idle", 1.2)
        if node is active:
            colour, line = ("gradient", 3) if sending else ("data", 3) if active.value is not None else (colour, line)
        if node is active and sending:
            points = points[::-1]
        for (a, b), (c, d) in pairwise(points[:-1]):
            svg.line(a, b, c, d, stroke=colour, line=line)
        svg.arrow(*points[-2], *points[-1], stroke=colour, line=line, head=9)

    def title(self, node):
        """What stands above the value of a node."""
        return node.name

    def next_place(self, node, left, top, box):
        """Left and top of what is drawn after the matrix in `box`: its gradient stands below it."""
        return left, box.bottom + 8

    def _box(self, svg, node, known, grads, active, wrong):
        (x, y), (width, height) = self.place[id(node)], self.extent[id(node)]
        ready, role = id(node) in known, role_of(node, self.goal)
        fill = style.tint("hazard" if wrong else role, 0.3 if wrong else 0.12) if ready else style.PAPER
        if self.size == "matrices":
            fill = style.PAPER  # the cells are tinted
        svg.rect(
            x,
            y,
            width,
            height,
            fill=fill,
            stroke="hazard" if wrong else role if ready else "idle",
            line=3 if active or wrong else 1.2,
            dashed=not ready,
            radius=8,
        )
        if active:
            svg.rect(x - 3, y - 3, width + 6, height + 6, line=2, radius=10)
        if self.size == "compact":
            self.names(svg, node, x, y, width, wrong)
            return
        value, gradient = (node.value if ready else None), grads[id(node)]
        if np.ndim(node.value) < 2:
            self._numbers(svg, node, x, y, value, gradient, role)
        else:
            self._matrices(svg, node, x, y, value, gradient, role)

    def names(self, svg, node, x, y, width, wrong):
        """What a compact box says: its name, and below it how it is computed, or that it is wrong."""
        title, low = ("✗ " if wrong else "") + node.name, 18 if node.parents or wrong else 29
        svg.text(x + width / 2, y + low, title, anchor="middle", bold=True)
        svg.text(x + width / 2, y + 37, "wrong" if wrong else formula(node), anchor="middle", fill=style.MUTED)

    def _numbers(self, svg, node, x, y, value, gradient, role):
        svg.text(x + 7, y + 16, node.name, bold=True)
        below = 16 * (self.size == "matrices")  # a formula that is longer than its box is wide has a line of its own
        if node.parents:
            place = (x + 7, y + 33) if below else (x + 13 + 9 * len(node.name), y + 16)
            svg.text(*place, f"= {formula(node)}", fill=style.MUTED)
        for k, (word, number, colour) in enumerate((("value", value, role), ("gradient", gradient, "gradient"))):
            text = "" if number is None else f"{float(number):.4g}".replace("-", "−")
            top = y + 25 + below + 20 * k
            svg.rect(x + 7, top, 9, 9, fill=colour if text else style.PAPER, stroke=colour)
            svg.text(x + 21, top + 9, f"{word} {text}", fill=style.INK if text else style.MUTED)

    def _matrices(self, svg, node, x, y, value, gradient, role):
        if self.head:
            svg.text(x + 7, y + 16, f"= {formula(node)}" if node.parents else "given", fill=style.MUTED)
        parts = [(self.title(node), value, role)]
        if id(node) not in self.without:
            parts.append((_gradient_of(node), gradient, "gradient"))
        top, left = y + self.head, x + 7
        for name, numbers, colour in parts:
            shown = node.value if numbers is None else numbers
            whole = colour != "gradient" and np.all(shown == np.round(shown))
            box = svg.matrix(
                shown,
                left,
                top,
                name=name,
                role=colour,
                fmt="{:.0f}" if whole else "{:.2f}",
                empty=numbers is None,
                cell=self.cell,
            )
            left, top = self.next_place(node, left, top, box)


def _gradient_of(node):
    return f"d{node.name}"


def role_of(node, goal):
    """Return the colour role of a node: weights by their names, targets and the goal as output, the rest as data."""
    if node is goal or node.name[:1] in ("Y", "y", "O"):
        return "output"
    return "weight" if not node.parents and node.name[:1] in ("W", "V", "w", "b") else "data"


def _frame(drawing, known, grads, active, what, why, sending=False):
    svg = drawing.draw(known=known, grads=grads, active=active, sending=sending)
    return picture(svg, alt=_state(drawing, known, grads, active, sending), caption=f"{what} {why}")


def _state(drawing, known, grads, active, sending):
    """What a frame shows, in words: how much is known, and the numbers (of matrices only the latest)."""
    done = {k for k, g in grads.items() if g is not None}
    alt = f"{len(known)} of {len(drawing.order)} values and {len(done)} gradients are known: "
    if all(np.ndim(n.value) == 0 for n in drawing.order):
        return (
            alt
            + "; ".join(
                f"{n.name} = {_short(n.value)}" + (f" with gradient {_short(grads[id(n)])}" if id(n) in done else "")
                for n in drawing.order
                if id(n) in known
            )
            + "."
        )
    latest = [n for n in drawing.order if n.is_leaf] if active is None else [active]
    pairs = [(n.name, n.value) for n in latest]
    if sending or id(drawing.goal) in done:
        latest = [p for p in active.parents if id(p) in done] if sending else [active]
        pairs = [(_gradient_of(n), grads[id(n)]) for n in latest]
    return alt + "; ".join(f"{name} is {_numbers_of(value)}" for name, value in pairs) + "."


def _numbers_of(value):
    return ", ".join(
        "[" + " ".join(f"{v:.4g}" if v == round(v) else f"{v:.2f}" for v in row) + "]" for row in np.atleast_2d(value)
    )


def _told(parent, before, share, total):
    if np.ndim(share) == 0:
        return f"{parent.name} gets {_short(share)}" + (
            "" if before is None else f", in all {_short(before)} + {_short(share)} = {_short(total)}"
        )
    return f"{parent.name} gets {_short(share)}" + ("" if before is None else ", added to what it has")


def _short(value):
    return f"{float(value):.4g}" if np.ndim(value) == 0 else f"a matrix {np.shape(value)}"


def _count(things, word):
    return f"{len(things)} {word}{'' if len(things) == 1 else 's'}"
