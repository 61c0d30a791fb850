"""Pictures of layers: a neuron, a network with its numbers, and the collapse of layers without activation."""

import numpy as np

from course_lib.reference import relu

from . import style
from .svg import Svg, text_width

RADIUS = 22


def network(x, layers, activation):
    """Return a drawing of a small network: the value in every node, the weight on every edge.

    Parameters
    ----------
    x : (D,) array
        The input values.
    layers : list of (D, M) array
        Weights, one column for each neuron.
    activation : callable
        Applied to every weighted sum.
    """
    sizes = [len(x), *(np.shape(w)[1] for w in layers)]
    tall, step = max(sizes) * 112 + 40, 300 / max(1, len(layers))
    svg = Svg(400, tall)
    columns = [[(42 + step * k, 40 + (tall - 40) * (i + 0.5) / n) for i in range(n)] for k, n in enumerate(sizes)]
    for k, title in enumerate(["inputs", *["hidden"] * (len(layers) - 1), "outputs"]):
        svg.text(columns[k][0][0], 20, f"{title} ({sizes[k]},)", anchor="middle", bold=True)
    for k, w in enumerate(layers):  # all edges first: no number of a node is crossed by one
        _edges(svg, columns[k], columns[k + 1], np.asarray(w, float))
    values = np.asarray(x, float)
    _nodes(svg, columns[0], values, "data")
    for k, w in enumerate(layers):
        sums = values @ np.asarray(w, float)
        values = activation(sums)
        _nodes(svg, columns[k + 1], values, "output" if k == len(layers) - 1 else "data", sums)
    return svg


def _nodes(svg, places, values, role, sums=None):
    for i, (cx, cy) in enumerate(places):
        svg.circle(cx, cy, RADIUS, fill=style.tint(role, 0.25), stroke=role, line=2)
        svg.text(cx, cy + 4, _short(values[i]), anchor="middle", bold=True)
        if sums is not None:
            text = f"z = {_short(sums[i])}"
            left = cx - 14  # not under the whole circle: to its left stand the weights of the edges that enter
            svg.rect(left - 2, cy + RADIUS + 3, text_width(text) + 4, 16, fill=style.PAPER, stroke="none")
            svg.text(left, cy + RADIUS + 15, text)


def _edges(svg, tails, heads, w):
    labels = []
    for i, (hx, hy) in enumerate(heads):
        for j, (tx, ty) in enumerate(tails):
            weight = w[j, i]
            way = np.array([hx - tx, hy - ty]) / np.hypot(hx - tx, hy - ty)
            start, end = np.array([tx, ty]) + RADIUS * way, np.array([hx, hy]) - RADIUS * way
            if weight == 0:
                svg.line(*start, *end, stroke="idle", line=1)  # dashes mean a negative weight
            else:
                svg.line(*start, *end, stroke="weight", line=1 + abs(weight), dashed=weight < 0)
            near = np.array([tx, ty]) + 0.8 * np.array([hx - tx, hy - ty])  # the neuron that the weight belongs to
            labels.append((near, f"{weight:g}".replace("-", "\u2212")))
    for (px, py), text in labels:
        wide = text_width(text) + 4
        svg.rect(px - wide / 2, py - 8, wide, 16, fill=style.PAPER, stroke="none")
        svg.text(px, py + 4.3, text, anchor="middle")


def collapse(x, w, w_out):
    """Return a drawing: two layers with ReLU, the same two without, and the one matrix that equals the latter."""
    z = x @ w
    svg = Svg(400, 516)
    first = [("X", x, "data"), ("W\u2081", w, "weight"), ("Z", z, "data")]
    last = ("W\u2082", w_out, "weight")
    with_relu = [*first, ("relu(Z)", relu(z), "data"), last, ("O", relu(z) @ w_out, "output")]
    without = [*first, last, ("O", z @ w_out, "output")]
    one = [("X", x, "data"), ("W\u2081 W\u2082", w @ w_out, "weight"), ("O", x @ (w @ w_out), "output")]
    shown = {
        "With ReLU: Z = X W\u2081, O = relu(Z) W\u2082": with_relu,
        "Without: Z = X W\u2081, O = Z W\u2082": without,
        "One matrix does the same: O = X (W\u2081 W\u2082)": one,
    }
    for top, (title, row) in zip((0, 172, 344), shown.items(), strict=True):
        svg.text(8, top + 18, title, bold=True, size=14)
        if top:
            svg.line(8, top, 392, top, stroke=style.GRID)
        _row(svg, row, top + 98)
    return svg


CELL = 24


def _row(svg, row, middle):
    """Draw matrices (name, values, role) centred on one height, and an arrow from each to the next."""
    gap = min(60, (384 - CELL * sum(np.shape(v)[1] for _, v, _ in row)) / (len(row) - 1))
    left, before = 8, None
    for name, values, role in row:
        high, wide = np.multiply(np.shape(values), CELL)
        top = middle - high / 2
        svg.text(left + wide / 2, top - 6, name, anchor="middle", bold=True)
        svg.text(left + wide / 2, top + high + 15, f"{np.shape(values)}", anchor="middle", fill=style.MUTED)
        for (i, j), value in np.ndenumerate(values):
            x, y = left + j * CELL, top + i * CELL
            svg.rect(x, y, CELL, CELL, fill=style.tint(role), stroke=role)
            svg.text(x + CELL / 2, y + 16.3, f"{value + 0.0:g}".replace("-", "\u2212"), anchor="middle")
        if before:
            svg.arrow(before + 3, middle, left - 3, middle, stroke=style.MUTED, line=1, head=6)
        before, left = left + wide, left + wide + gap


def cell():
    """Return a drawing: a nerve cell above, and below it the sum and the function that model it."""
    svg = Svg(400, 260)
    svg.text(8, 18, "a nerve cell", bold=True)
    for y in (48, 76, 104):
        svg.line(20, y, 150, 76, stroke="data", line=3)
        svg.circle(20, y, 5, fill="weight", stroke="weight")
    svg.text(32, 124, "synapses and dendrites", fill=style.MUTED)
    svg.circle(170, 76, 26, fill=style.tint("data", 0.25), stroke="data", line=2)
    svg.text(170, 44, "cell body", anchor="middle", fill=style.MUTED)
    svg.arrow(196, 76, 380, 76, stroke="output", line=3)
    svg.text(288, 66, "axon", anchor="middle", fill=style.MUTED)
    svg.text(8, 158, "its model", bold=True)
    for k, y in enumerate((182, 210, 238)):
        svg.text(8, y + 4, f"x{k + 1}")
        svg.line(26, y, 146, 210, stroke="data", line=1.5)
        svg.rect(48, y + (210 - y) * 0.28 - 8, 24, 16, fill=style.PAPER, stroke="none")  # its line stops here
        svg.text(60, y + (210 - y) * 0.28 + 4, f"w{k + 1}", anchor="middle", fill=style.INK)
    svg.line(170, 164, 170, 184, stroke="weight", line=2)
    svg.text(178, 176, "bias b")
    svg.circle(170, 210, 26, fill=style.tint("data", 0.25), stroke="data", line=2)
    svg.text(170, 214, "z", anchor="middle", bold=True)
    svg.arrow(196, 210, 262, 210, line=1.5)
    svg.rect(264, 190, 44, 40, stroke="output", line=2)
    svg.text(286, 214, "f", anchor="middle", bold=True)
    svg.arrow(308, 210, 362, 210, stroke="output", line=1.5)
    svg.text(368, 214, "a", bold=True)
    return svg


def _short(value):
    return f"{value:.2f}".replace("-", "\u2212")
