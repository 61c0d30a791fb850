"""A dense network drawn from what it is: its layers, their shapes, what they hold and what they cost.

Source: Dey, "Multilayer Perceptron / FeedForward Network".
"""

import numpy as np

from course_lib.nn.layers import Dense

from . import style
from .picture import picture
from .svg import Svg

WIDTH, TOP, STEP, SIDE = 400, 48, 20, 100
MOST = 10
"""Neurons of a layer that are drawn one by one; of a larger layer, the first and the last four."""

SHADES = 10
"""Levels of ink of the image at the input."""


def drawing(net, *, image=None, probabilities=None, label=None, caption=""):
    """Return a `Picture` of a network of dense layers: a column for each, and what lies between two columns.

    Everything that is written comes from `net.costs`: sizes, trainable numbers, multiply-adds for one sample.

    Parameters
    ----------
    net : nn.Sequential
        Dense layers, and activations between them, which are named below the column.
    image : (H, W) array in [0, 1], optional
        Drawn as the input; it has as many pixels as the network has inputs.
    probabilities : (C,) array, optional
        What the network answered: bars beside its C <= 10 outputs.
    label : int, optional
        The right answer to the image.
    caption : str

    Raises
    ------
    ValueError
        No dense layer at the front, a layer that is neither dense nor an activation, more than four dense layers, or
        an image or probabilities that do not fit the network.

    Source: the course's own.
    """
    columns = _columns(net)
    inputs, outputs = columns[0][0], columns[-1][0]
    if image is not None and np.size(image) != inputs:
        raise ValueError(f"the image has {np.shape(image)} pixels and the network takes {inputs} numbers.")
    if probabilities is not None and not (len(probabilities) == outputs <= MOST):
        raise ValueError(f"there are {len(probabilities)} probabilities for {outputs} outputs; at most {MOST} fit.")
    shown = [_shown(size) for size, *_ in columns]
    room = max(STEP * max(shown), SIDE if image is not None else 0)
    middle, below = TOP + room / 2, TOP + room
    svg = Svg(WIDTH, below + 82)
    right = WIDTH - (96 if probabilities is not None else 34)
    places = np.linspace(58, right, len(columns))
    spots = [middle + STEP * (np.arange(count) - (count - 1) / 2) for count in shown]
    if image is not None:
        spots[0] = middle + np.linspace(-0.46, 0.46, shown[0]) * SIDE  # rows of the image
    for k in range(1, len(columns)):
        start = 50 if k == 1 and image is not None else 7
        _edges(svg, places[k - 1] + start, spots[k - 1], places[k] - 7, spots[k])
        _costs(svg, (places[k - 1] + places[k]) / 2, below + 38, columns[k])
    for k, (size, _, _, activation) in enumerate(columns):
        name = "input" if k == 0 else "output" if k == len(columns) - 1 else "hidden"
        svg.text(places[k], 18, name, anchor="middle", bold=True)
        svg.text(places[k], 34, f"({size},)", anchor="middle")
        if k == 0 and image is not None:
            _image(svg, np.asarray(image), places[0] - SIDE / 2, middle - SIDE / 2, SIDE)
        else:
            _neurons(svg, places[k], spots[k], "data" if k < len(columns) - 1 else "output", size)
        if activation:
            svg.text(places[k], below + 16, activation, anchor="middle")
    svg.text(8, below + 74, "bold: trainable numbers; below: multiply-adds", fill=style.MUTED)
    if probabilities is not None:
        _bars(svg, places[-1] + 12, spots[-1], np.asarray(probabilities), label)
    return picture(svg, alt=_alt(columns, probabilities, label), caption=caption)


def _columns(net):
    """Return [(size, trainable, multiply-adds, name of the activation)], the inputs first."""
    if not isinstance(net[0], Dense):
        raise ValueError(f"the first layer is {net[0].describe()}; the drawing begins with a dense layer.")
    columns = [[net[0].n_in, 0, 0, ""]]
    for layer, cost in zip(net, net.costs((net[0].n_in,)), strict=True):
        if isinstance(layer, Dense):
            columns.append([cost.output_shape[0], cost.trainable, cost.multiply_adds, ""])
        elif cost.trainable or cost.output_shape != (columns[-1][0],):
            raise ValueError(f"{cost.layer} is neither a dense layer nor an activation; there is no place for it.")
        else:
            columns[-1][3] = " ".join(filter(None, [columns[-1][3], cost.layer.split("(")[0]]))
    if len(columns) > 5:
        raise ValueError(f"{len(columns) - 1} dense layers are too many for the drawing; it has room for four.")
    return columns


def _shown(size):
    """Return how many places a column has: one a neuron, or nine of which the middle one stands for all others."""
    return size if size <= MOST else 9


def _edges(svg, x1, tails, x2, heads):
    steps = [f"M{x1:.1f} {t:.1f}L{x2:.1f} {h:.1f}" for t in tails for h in heads]
    svg.path(steps, stroke=style.tint("weight", 0.55), line=0.7)


def _costs(svg, x, y, column):
    """What lies between two columns: trainable numbers, and below them the multiply-adds of one sample."""
    _, trainable, multiply_adds, _ = column
    svg.text(x, y, f"{trainable:,}", anchor="middle", bold=True)
    svg.text(x, y + 16, f"{multiply_adds:,}", anchor="middle")


def _neurons(svg, x, spots, role, size):
    for i, y in enumerate(spots):
        if size > MOST and i == len(spots) // 2:
            for dot in (-6, 0, 6):  # those that are left out
                svg.circle(x, y + dot, 1.5, fill=style.INK, stroke="none")
        else:
            svg.circle(x, y, 7, fill=style.tint(role, 0.35), stroke=role, line=1.5)


def _image(svg, image, x, y, side):
    pixel = side / len(image)
    levels = np.rint(image * SHADES).astype(int)
    for level in range(1, SHADES + 1):
        grey = f"{255 - round(level * 255 / SHADES):02X}"
        squares = [
            f"M{x + j * pixel:.2f} {y + i * pixel:.2f}h{pixel:.2f}v{pixel:.2f}h-{pixel:.2f}Z"
            for i, j in np.argwhere(levels == level)
        ]
        if squares:
            svg.path(squares, fill=f"#{grey * 3}")
    svg.rect(x, y, side, side, stroke="idle")


def _bars(svg, x, spots, probabilities, label):
    best = int(probabilities.argmax())
    for i, (y, k) in enumerate(zip(spots, probabilities, strict=True)):
        svg.text(x, y + 4, str(i), bold=i in (best, label))
        role = "output" if i == label else "hazard" if i == best else "idle"
        svg.rect(x + 12, y - 6, 22, 12, fill=style.PAPER, stroke=style.GRID)
        if 22 * k >= 0.1:
            svg.rect(x + 12, y - 6, 22 * float(k), 12, fill=role, stroke="none")
        if i in (best, label):
            svg.text(x + 38, y + 4, _percent(k))


def _percent(share):
    """A probability as a whole percentage; only 1 is "100 %" and only 0 is "0 %"."""
    rounded = round(100 * float(share))
    if rounded == 100 and share < 1:
        return ">99 %"
    return "<1 %" if rounded == 0 and share > 0 else f"{rounded} %"


def _alt(columns, probabilities, label):
    sizes = " to ".join(str(size) for size, *_ in columns)
    parts = ", then ".join(f"{held:,} trainable numbers and {macs:,} multiply-adds" for _, held, macs, _ in columns[1:])
    total = sum(trainable for _, trainable, *_ in columns)
    said = f"A dense network, {sizes}: {parts}; {total:,} trainable numbers in all."
    if probabilities is not None:
        best = int(np.argmax(probabilities))
        right = "" if label is None else f", and the label is {label}"
        said += f" It reads the image as {best}, with {_percent(probabilities[best])}{right}."
    return said
