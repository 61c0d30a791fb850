"""A computation graph drawn from top to bottom, as narrow as a phone: one row a depth, given matrices at the right."""

import numpy as np

from course_lib.nn import graph

from . import style
from .graphs import Drawing, columns, formula, walk_frames
from .stepper import stepper
from .svg import LABEL, text_width

ACROSS, DOWN = 8, 17  # gap between boxes side by side; between rows
MOST = 412  # pixels; a wider row stacks the gradients of its right boxes below their values
LANE = 24  # room at the left for edges that jump over rows
LOW, ROW = 28, 16  # height of a box with names only; of a matrix row


def draw_down(goal, *, wrong=()):
    """Return a drawing of names and formulas from top to bottom, with the nodes named in `wrong` marked.

    `goal` is any node with `parents`, `op`, `name`, `value` and `grad`. No errors but those of a cycle.
    Source: the course's own.
    """
    order = graph.topological_order(goal)
    drawing = DownDrawing(goal, {}, "compact")
    return drawing.draw(known={id(n) for n in order}, grads={id(n): n.grad for n in order}, wrong=set(wrong))


def walk_down(goal):
    """Return the stepper of one forward and one backward pass over a graph of matrices, drawn from top to bottom.

    `goal` is a `course_lib.nn.graph` node of two-dimensional values; the last may be a single number. No errors but
    those of `graph.forward` and `graph.backward`. Source: the course's own.
    """
    frames = walk_frames(goal, drawing=DownDrawing)
    return stepper(frames, title="Forward in topological order, backward in reverse")


class DownDrawing(Drawing):
    """Places the boxes of a graph below each other; a gradient stands beside its value, where there is room."""

    cell = (36, ROW)
    head = 0  # how a node is computed stands beside its name

    def __init__(self, goal, rows, size, without=()):
        self.goal, self.order, self.without = goal, graph.topological_order(goal), set(without)
        self.size = "compact" if size == "compact" else "matrices"
        rank, across = columns(goal), {}
        for node in sorted(self.order, key=lambda n: not n.parents):  # computed nodes first: they are the left column
            across.setdefault(rank[id(node)], []).append(node)
        self.long = [(p, n) for n in self.order for p in n.parents if rank[id(n)] - rank[id(p)] > 1]
        self.place, self.extent, self.stacked = {}, {}, set()
        left, top = 4 + (LANE if self.long else 0), 8
        for _, line in sorted(across.items()):
            if left + sum(self._size(n)[0] + ACROSS for n in line) > MOST:
                self.stacked |= {id(n) for n in line[1:]}
            x = left
            for node in line:
                self.place[id(node)], self.extent[id(node)] = (x, top), self._size(node)
                x += self.extent[id(node)][0] + ACROSS
            top += max(self.extent[id(n)][1] for n in line) + DOWN
        self.span = 4 + max(self.place[id(n)][0] + self.extent[id(n)][0] for n in self.order)
        self.depth = top - DOWN + 10

    def _size(self, node):
        """Width and height of a box."""
        if self.size == "compact":
            return max(60, text_width(self._line(node, wrong=True)) + 16), LOW
        if np.ndim(node.value) < 2:
            return text_width(self.title(node)) + 230, LOW
        (own, high), (gradient, _) = self._part(node, self.title(node)), self._part(node, f"d{node.name}")
        if id(node) in self.without:
            return own + 8, high + 6
        return (max(own, gradient) + 8, 2 * high + 6) if id(node) in self.stacked else (own + gradient + 8, high + 6)

    def _part(self, node, name):
        """Width and height that a value, or its gradient, takes below its name."""
        rows, cols = np.shape(node.value)
        return max(cols * self.cell[0], text_width(f"{name} {rows, cols}") + 14) + 3, LABEL + rows * ROW + 6

    def title(self, node):
        """Its name, and how it is computed."""
        return self._line(node, wrong=False)

    def next_place(self, node, left, top, box):
        """A gradient stands at the right of its value, or below it in a box that is stacked."""
        wide, high = self._part(node, self.title(node))
        return (left, top + high) if id(node) in self.stacked else (left + wide, top)

    def points(self, parent, node, k):
        """From the bottom of the parent straight down where that meets the node, else to its nearest part."""
        (x1, y1), (x2, y2) = self.place[id(parent)], self.place[id(node)]
        (wide1, high1), (wide2, high2) = self.extent[id(parent)], self.extent[id(node)]
        if (parent, node) in self.long and x1 == x2:
            lane = x1 - LANE + 6
            return [(x1, y1 + high1 / 2), (lane, y1 + high1 / 2), (lane, y2 + high2 / 2), (x2, y2 + high2 / 2)]
        twice = 18 * (k - 0.5) if node.parents.count(parent) > 1 else 0
        start = x1 + min(wide1, wide2, 120) / 2 + twice if x1 == x2 else x1 + min(wide1 / 2, 40)
        return [(start, y1 + high1), (min(max(start, x2 + 12), x2 + wide2 - 12), y2)]

    def _line(self, node, *, wrong):
        text = node.name + (f" = {formula(node)}" if node.parents else "")
        return f"✗ {text}, wrong" if wrong else text

    def _numbers(self, svg, node, x, y, value, gradient, role):
        svg.text(x + 7, y + 18, self.title(node), bold=True)
        left = x + 20 + text_width(self.title(node))
        for word, number, colour in (("value", value, role), ("gradient", gradient, "gradient")):
            text = "" if number is None else f"{float(number):.4g}".replace("-", "−")
            svg.rect(left, y + 9, 9, 9, fill=colour if text else style.PAPER, stroke=colour)
            svg.text(left + 14, y + 18, f"{word} {text}", fill=style.INK if text else style.MUTED)
            left += 98

    def names(self, svg, node, x, y, width, wrong):
        """One line: the name, and how it is computed."""
        text = self._line(node, wrong=wrong)
        svg.text(x + width / 2, y + 18, text, anchor="middle", bold=wrong, fill=style.INK)
