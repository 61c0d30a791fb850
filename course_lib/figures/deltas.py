"""One sample in a two-layer network: values flow forward, deltas flow back, all of them as numbers on the drawing.

Source: O, "Backpropagation Example", whose network it shows; the idea of numbers in two colours is Stanford's CS231n.
"""

import numpy as np
from matplotlib.colors import to_hex, to_rgb

from course_lib import reference as ops
from course_lib.validate import as_float, require_finite

from . import style
from .live import live
from .picture import picture
from .svg import Svg

MOST = 3
"""Neurons of a layer, at most: more edges than 3 x 3 would write over each other."""

WIDTH, ROW, TOP, HALF, TALL, LEFT, RIGHT = 400, 110, 56, 27, 25, 30, 48
PLACES = {1: (1.0,), 2: (0.1, 1.2), 3: (0.0, 1.0, 2.0)}
"""Heights of a layer's neurons, in rows, by how many there are."""


def delta_values(x, w, w2, y):
    """Return every number of one forward and one backward pass of a sigmoid network without biases.

    Parameters
    ----------
    x, y : arrays (D,), (C,)
        The sample, and what its outputs should be.
    w, w2 : arrays (D, M), (M, C)

    Returns
    -------
    dict
        Arrays z, a (M,), g, o (C,), the number J, deltas delta_g (C,), delta_z (M,), gradients dw (D, M), dw2 (M, C).

    Source: O, "Backpropagation Example"; all computed by `course_lib.reference`.
    """
    z, dense1 = ops.dense_forward(x[None], w)
    a, act1 = ops.sigmoid_forward(z)
    g, dense2 = ops.dense_forward(a, w2)
    o, act2 = ops.sigmoid_forward(g)
    loss, cache = ops.half_squared_sum_forward(o, y[None])
    delta_g = ops.sigmoid_backward(ops.half_squared_sum_backward(cache), act2)
    d_a, dw2, _ = ops.dense_backward(delta_g, dense2)
    delta_z = ops.sigmoid_backward(d_a, act1)
    _, dw, _ = ops.dense_backward(delta_z, dense1)
    rows = dict(z=z[0], a=a[0], g=g[0], o=o[0], delta_g=delta_g[0], delta_z=delta_z[0])
    return rows | dict(J=float(loss), dw=dw, dw2=dw2)


def delta_explorer(x, w, w2, y, *, chosen=(1, 0, 0)):
    """Return a network with its numbers; the reader walks forward and back, and changes any weight, input or target.

    Parameters
    ----------
    x, w, w2, y : arrays (D,), (D, M), (M, C), (C,)
        As `delta_values` takes them; three neurons a layer at the most.
    chosen : (int, int, int)
        The weight that is chosen first: (0, i, j) from input i to hidden neuron j, (1, j, k) from there to output k.

    Returns
    -------
    figures.Live

    Raises
    ------
    ValueError, TypeError
        Shapes that do not fit, values that are not finite, a layer with more than three neurons, a chosen weight that
        there is not.

    Source: O, "Backpropagation Example".
    """
    x, y = as_float("x", x, ndim=1), as_float("y", y, ndim=1)
    w, w2 = as_float("w", w, ndim=2), as_float("w2", w2, ndim=2)
    for name, value in (("x", x), ("w", w), ("w2", w2), ("y", y)):
        require_finite(name, value)
    wanted = ((len(x), w.shape[1]), (w.shape[1], len(y)))
    if (w.shape, w2.shape) != wanted:
        raise ValueError(
            f"w is {w.shape} and w2 is {w2.shape}; x {x.shape} and y {y.shape} need (D, M) and (M, C), here "
            f"{wanted[0]} and {wanted[1]}. Does a column belong to each neuron? Else pass w.T and w2.T."
        )
    sizes = (len(x), w.shape[1], len(y))
    if not all(1 <= n <= MOST for n in sizes):
        raise ValueError(f"the layers have {sizes} neurons; the figure can write the numbers of 1 to {MOST} each.")
    layer, i, j = chosen
    if layer not in (0, 1) or not (0 <= i < sizes[layer] and 0 <= j < sizes[layer + 1]):
        raise ValueError(f"chosen is {chosen}; it must be (layer 0 or 1, from, to) in a network of {sizes} neurons.")
    values = delta_values(x, w, w2, y)
    data = {
        "x": x.tolist(), "y": y.tolist(), "w": w.tolist(), "w2": w2.tolist(), "chosen": [int(n) for n in chosen],
        "places": {str(n): list(at) for n, at in PLACES.items()},
        "value": _deep("output"), "back": _deep("gradient"), "tint": style.tint("gradient", 0.12),
        "green": style.tint("output", 0.2),
    }  # fmt: skip
    title = "Values flow forward, deltas flow back: one sample in a network"
    return live("deltas", data, title=title, static=_static(x, w, w2, y, values))


def _deep(role):
    """A role's colour, dark enough for small text."""
    return to_hex([0.7 * part for part in to_rgb(style.colour(role))])


def _static(x, w, w2, y, v):
    gap = (WIDTH - LEFT - RIGHT) / 2
    places = [
        [(LEFT + k * gap, TOP + ROW * row) for row in PLACES[len(layer)]] for k, layer in enumerate((x, v["a"], y))
    ]
    low = TOP + ROW * 2 + 54
    s = Svg(WIDTH, low + 56)
    loss = (places[2][0][0], low)
    for k, head in enumerate(("input x", "hidden a", "output o")):
        s.text(places[k][0][0] if k else 4, 16, head, anchor="middle" if k else "start", bold=True)
    for cx, cy in places[2]:
        s.polyline([(cx, cy), (WIDTH - 5, cy), (WIDTH - 5, loss[1]), loss], stroke=style.GRID)
    edges = [(0, w, v["dw"]), (1, w2, v["dw2"])]
    for layer, weights, _ in edges:
        for i, j in np.ndindex(weights.shape):
            s.line(*places[layer][i], *places[layer + 1][j], stroke=style.GRID)
    for layer, weights, slopes in edges:
        for i, j in np.ndindex(weights.shape):
            (x1, y1), (x2, y2) = places[layer][i], places[layer + 1][j]
            at = lambda t, x1=x1, y1=y1, x2=x2, y2=y2: (x1 + t * (x2 - x1), y1 + t * (y2 - y1))  # noqa: E731
            cx, cy = at(0.26)
            words = f"{weights[i, j]:g}".replace("-", "−")
            s.rect(cx - 4 * len(words), cy - 8, 8 * len(words), 15, fill=style.PAPER, stroke="none")
            s.text(cx, cy + 4, words, anchor="middle")
            _red(s, x2 - HALF - 4 - 3.55 * len(_number(slopes[i, j], 4)), at(0.715)[1], slopes[i, j])
    for k, (letter, values, deltas) in enumerate(zip("IHO", (x, v["a"], v["o"]), (None, v["delta_z"], v["delta_g"]),
                                                     strict=True)):  # fmt: skip
        for i, (cx, cy) in enumerate(places[k]):
            s.rect(cx - HALF, cy - TALL, 2 * HALF, 2 * TALL, fill=style.tint("output"), stroke="output", radius=9)
            s.text(cx, cy - (12 if k else 4), f"{letter}{i + 1}", anchor="middle", bold=True)
            s.text(cx, cy + (3 if k else 12), _number(values[i], 2), anchor="middle", fill=_deep("output"))
            if deltas is not None:
                s.rect(cx - HALF + 2, cy + 7, 2 * HALF - 4, TALL - 9, fill=style.tint("gradient", 0.12), stroke="none")
                s.text(cx, cy + 19, _number(deltas[i], 4), anchor="middle", fill=_deep("gradient"))
    for (cx, cy), wanted in zip(places[2], y, strict=True):
        s.text(cx + 6, cy + TALL + 16, f"wanted {_number(wanted, 2)}", anchor="middle")
    s.rect(loss[0] - 43, loss[1] - 13, 86, 26, fill=style.tint("output"), stroke="output", radius=5)
    s.text(loss[0], loss[1] + 4, f"J = {v['J']:.4f}", anchor="middle", bold=True)
    s.text(4, s.height - 26, "Green: values, from left to right. Below them and in small boxes,", fill=style.MUTED)
    s.text(4, s.height - 9, "red: δ of each neuron and dJ/dw of each edge, from right to left.", fill=style.MUTED)
    caption = (
        f"One sample: outputs {_list(v['o'], 2)} where {_list(y, 2)} are wanted, J = {v['J']:.4f}. From the deltas of "
        f"the outputs, {_list(v['delta_g'], 4)}, come those of the hidden neurons, {_list(v['delta_z'], 4)}."
    )
    alt = (
        f"{caption} Each gradient of a weight is the value where its edge begins times the delta where it ends: for "
        f"H1 to O1 {_number(v['a'][0], 2)} times {_number(v['delta_g'][0], 4)}, that is {_number(v['dw2'][0, 0], 4)}."
    )
    return picture(s, alt=alt, caption=caption)


def _red(s, cx, cy, value):
    words = _number(value, 4)
    half = 3.55 * len(words) + 1
    s.rect(cx - half, cy - 8, 2 * half, 16, fill=style.tint("gradient", 0.12), stroke="gradient", radius=3)
    s.text(cx, cy + 4.3, words, anchor="middle", fill=_deep("gradient"))


def _number(value, digits):
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def _list(values, digits):
    return " and ".join(", ".join(_number(v, digits) for v in values).rsplit(", ", 1))
