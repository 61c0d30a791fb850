"""The smallest network that can compute XOR: its nine numbers to move, its decision map and its hidden space.

Source: the course's own; the two pictures side by side follow Goodfellow, Bengio, Courville, "Deep Learning" (2016),
section 6.1, "Learning XOR".
"""

import numpy as np

from course_lib import reference as ops
from course_lib.validate import require_finite

from . import style
from .live import live
from .picture import picture
from .svg import Svg

LOW, HIGH = -0.5, 1.5
"""The square of inputs around the four corners."""

MOST, STEP = 3.0, 0.25
"""A number of the network goes from -MOST to MOST in such steps."""

CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
LABELS = np.array([0, 1, 1, 0])

BETWEEN = {"none": ops.identity, "ReLU": ops.relu, "step": ops.heaviside}
"""What may stand behind the two hidden sums."""

PRESETS = {
    "your turn": ((1, 0, -0.5, 0, 1, -0.5, 1, 1, 0), "none"),
    "XOR solved": ((1, 1, 0, 1, 1, -1, 1, -2, 0), "ReLU"),
    "one line only": ((1, 1, 0, 1, 1, -1, 1, 0, 0), "ReLU"),
    "no activation": ((1, 1, 0, 1, 1, -1, 1, -2, 0), "none"),
    "two steps": ((1, 1, -0.5, 1, 1, -1.5, 1, -1, 0), "step"),
}
"""Name -> the nine numbers (w11, w21, b1, w12, w22, b2, v1, v2, c), and what stands behind the hidden sums."""


def forward(numbers, between, x):
    """Return the hidden values (n, 2) and the outputs (n,) of the network with these nine numbers for inputs x (n, 2).

    Parameters
    ----------
    numbers : sequence of 9 float
        For each hidden neuron its two weights and its bias, then the two weights and the bias of the output.
    between : "none", "ReLU" or "step"
    x : (n, 2) array

    Raises
    ------
    ValueError
        Not nine finite numbers, or another name.

    Source: the course's own.
    """
    w = np.asarray(numbers, float)
    require_finite("the nine numbers", w)
    if w.shape != (9,):
        raise ValueError(f"the network has {w.size} numbers; it takes nine: w11, w21, b1, w12, w22, b2, v1, v2, c.")
    if between not in BETWEEN:
        raise ValueError(f"{between!r} cannot stand between the layers; there are {', '.join(BETWEEN)}.")
    x = np.asarray(x, float)
    hidden = BETWEEN[between](x @ w[[[0, 3], [1, 4]]] + w[[2, 5]])
    return hidden, hidden @ w[6:8] + w[8]


def three_numbers(numbers):
    """Return (u1, u2, c) with o = u1 x1 + u2 x2 + c: what the nine numbers are worth without an activation.

    ValueError as `forward`. Source: the course's own.
    """
    _, (at_0, at_2, at_1) = forward(numbers, "none", CORNERS[:3])
    return float(at_1 - at_0), float(at_2 - at_0), float(at_0)


def nine_numbers(start="XOR solved", *, presets=tuple(PRESETS), between=tuple(BETWEEN), explains=True, title=None):
    """Return a network of two inputs, two hidden neurons and one output, whose nine numbers the reader moves.

    Left is the map of its answers over all inputs, right the same four corners as the second layer sees them, in the
    space of the two hidden values. A point can be carried across the map, and its numbers stand in the network.

    Parameters
    ----------
    start : str
        The preset that is shown first.
    presets : sequence of str
        Keys of `PRESETS` that have a button.
    between : sequence of str
        Keys of `BETWEEN` among which the reader chooses; with one there is no choice.
    explains : bool
        Whether the caption says what the activation does; without, it counts the right answers, and the best so far.
    title : str, optional

    Returns
    -------
    figures.Live

    Raises
    ------
    ValueError
        A preset that is unknown or needs an activation that is not offered.

    Source: the course's own.
    """
    for name in (start, *presets):
        if name not in PRESETS or PRESETS[name][1] not in between:
            known = ", ".join(k for k, (_, needs) in PRESETS.items() if needs in between)
            raise ValueError(f"there is no preset {name!r} for {', '.join(between)}; there are {known}.")
    data = {
        "start": start, "presets": {name: [list(PRESETS[name][0]), PRESETS[name][1]] for name in (start, *presets)},
        "buttons": list(presets), "between": list(between), "most": MOST, "step": STEP, "square": [LOW, HIGH],
        "corners": CORNERS.tolist(), "labels": LABELS.tolist(), "explains": bool(explains),
    }  # fmt: skip
    title = title or "Two inputs, two hidden neurons, one output: nine numbers"
    return live("nine_numbers", data, title=title, static=_static(start, explains))


def right(numbers, between):
    """Return (4,) truth values: which corners are answered as XOR asks, where an output above 0.5 means 1.

    ValueError as `forward`. Source: the course's own.
    """
    return (forward(numbers, between, CORNERS)[1] > 0.5) == LABELS


def _static(start, explains):
    numbers, between = PRESETS[start]
    hidden, o = forward(numbers, between, CORNERS)
    svg = Svg(400, 252)
    _panel(svg, 34, [LOW, HIGH], CORNERS, _answered_1(numbers, between), "inputs", ("x1", "x2"))
    reach = [min(-0.5, hidden.min() - 0.5), max(1.5, hidden.max() + 0.5)]
    u = np.append(np.asarray(numbers, float)[6:8], numbers[8] - 0.5)
    _panel(svg, 234, reach, hidden, _cut(_box(*reach), u), "hidden space", ("h1", "h2"))
    svg.text(34, 244, "filled: label 1    hollow: label 0    shaded: answer 1", fill=style.MUTED)
    words = ", ".join(f"{v:g}".replace("-", "\u2212") for v in o)
    count = int(right(numbers, between).sum())
    note = {"none": "without an activation", "ReLU": "with ReLU", "step": "with steps"}[between]
    note = f", {note}," if explains else ""  # a figure that asks must not tell
    fact = f"Two hidden neurons{note} give the four corners {words} as outputs: {count} of 4 answers are right."
    return picture(svg, alt=fact, caption="Left the inputs, right the same corners as the hidden values place them.")


def _panel(svg, left, reach, points, shaded, title, axes):
    side, top, (low, high) = 156, 26, reach

    def place(p):
        u = (np.asarray(p) - low) / (high - low)
        return left + side * u[0], top + side * (1 - u[1])

    svg.text(left, 16, title, bold=True)
    for part in shaded:
        if len(part) > 2:
            svg.polyline([place(p) for p in part], fill=style.tint("output", 0.3), stroke="none")
    for whole in range(int(np.ceil(low)), int(high) + 1):
        (x, _), (_, y) = place((whole, low)), place((low, whole))
        svg.line(x, top, x, top + side, stroke=style.GRID, line=1)
        svg.line(left, y, left + side, y, stroke=style.GRID, line=1)
        svg.text(x, top + side + 15, f"{whole}".replace("-", "\u2212"), anchor="middle")
        svg.text(left - 5, y + 4, f"{whole}".replace("-", "\u2212"), anchor="end")
    svg.rect(left, top, side, side, stroke=style.MUTED)
    for point, label in zip(points, LABELS, strict=True):
        svg.circle(*place(point), 6, fill="data" if label else style.PAPER, stroke="data", line=2)
    svg.text(left + side / 2, top + side + 32, f"{axes[0]} to the right, {axes[1]} upwards", anchor="middle")


def _answered_1(numbers, between):
    """Return the polygons in which the output is above 0.5: the bends cut the square into pieces, each with a plane."""
    w = np.asarray(numbers, float)
    lines = (w[:3], w[3:6])
    pieces = [(_box(LOW, HIGH), ())]
    for a in lines if between != "none" else ():
        pieces = [(part, (*on, side)) for box, on in pieces for part, side in _sides(box, a, between)]
    answered = []
    for box, on in pieces:
        plane = np.array([0.0, 0.0, w[8] - 0.5])
        for i, a in enumerate(lines):
            part = {"none": a, "ReLU": on[i] * a if on else a, "step": np.array([0, 0, on[i] if on else 0])}[between]
            plane += w[6 + i] * part
        answered += _cut(box, plane)
    return answered


def _sides(box, a, between):
    """Return the two parts of a polygon with 1 where a neuron is on and 0 where it is off; one where it has no line."""
    if not np.any(a[:2]):
        return [(box, int(a[2] >= 0 if between == "step" else a[2] > 0))]
    return [(_cut(box, a)[0], 1), (_cut(box, -a)[0], 0)]


def _box(low, high):
    return np.array([(low, low), (high, low), (high, high), (low, high)], float)


def _cut(polygon, a):
    """Return [the part of a convex polygon where a1 x1 + a2 x2 + a3 > 0]."""
    polygon = np.asarray(polygon, float).reshape(-1, 2)
    score, kept = polygon @ np.asarray(a[:2], float) + a[2], []
    for i in range(len(polygon)):
        j = (i + 1) % len(polygon)
        if score[i] > 0:
            kept.append(polygon[i])
        if (score[i] > 0) != (score[j] > 0):
            kept.append(polygon[i] + score[i] / (score[i] - score[j]) * (polygon[j] - polygon[i]))
    return [np.array(kept).reshape(-1, 2)]
