"""A line between two groups of points that the reader drags, with its mistakes and its margin counted as it moves.

Source: Rosenblatt (1958) for the line; Vapnik, "The Nature of Statistical Learning Theory", for its margin.
"""

import numpy as np

from course_lib.lesson.lines import widest_line
from course_lib.reference import add_bias_input, perceptron_fit, perceptron_predict
from course_lib.validate import as_float, as_labels

from . import style
from .half_plane import boundary
from .live import live
from .perceptron import box_around, draw_plane
from .picture import picture

MOST = 60
"""Points that a finger can tell apart on a phone."""


def of_length_one(w):
    """Return weights (3,) of the same line and answers whose w1, w2 have length 1: scores are then distances.

    ValueError where w1 and w2 are both 0: that is no line. Source: the course's own.
    """
    w = as_float("w", w, ndim=1)
    length = np.hypot(w[0], w[1]) if w.shape == (3,) else 0
    if not length > 0:
        raise ValueError(f"w is {w.tolist()}; it must be (w1, w2, b) with w1 and w2 not both 0, else there is no line.")
    return w / length


def line_to_drag(x, y, start, *, title="Put the line between the two groups"):
    """Return a figure of labelled points and a line to drag by its ends, turn and shift, with mistakes and margin.

    Two buttons set the line that a perceptron ends at, shown the points in their order, and the widest of all lines.

    Parameters
    ----------
    x : (n, 2) array, n <= 60
    y : (n,) array of 0 and 1, both present; some line separates them
    start : (3,) array
        w1, w2, b of the line at the beginning.

    Returns
    -------
    figures.Live

    Raises
    ------
    ValueError
        Too many points, groups that no line separates, a start that is no line or lies outside of the picture.

    Source: the course's own.
    """
    x, y = as_float("x", x, ndim=2, min_rows=2), as_labels("y", y, rows=len(x), classes=2)
    if len(x) > MOST:
        raise ValueError(f"there are {len(x)} points; {MOST} at most can be told apart. Take fewer.")
    widest, start = widest_line(x, y), of_length_one(start)
    fit = perceptron_fit(x, y)
    low, high = box_around(x)
    if boundary(start, low, high) is None:
        raise ValueError(f"the line {start.tolist()} lies outside of the picture, from {low} to {high}; move it in.")
    lines = {"start": start, "perceptron": of_length_one(fit.w), "widest": widest}
    data = {
        "x": np.round(x, 4).tolist(), "y": y.tolist(), "low": np.round(low, 4).tolist(),
        "high": np.round(high, 4).tolist(), "lines": {name: w.tolist() for name, w in lines.items()},
        "best": round(_margin(x, widest), 4),
    }  # fmt: skip
    return live("separator", data, title=title, static=_static(x, y, lines, low, high))


def _margin(x, w):
    return float(np.min(np.abs(add_bias_input(x) @ w)))


def _static(x, y, lines, low, high):
    return picture(
        _drawn(x, y, lines["start"], low, high),
        alt=f"{len(y)} points in two groups, filled for label 1, hollow for label 0, and a line that gets "
        f"{int(np.sum(perceptron_predict(x, lines['start']) != y))} of them wrong. Lines without a mistake exist: the "
        f"perceptron's has a margin of {_margin(x, lines['perceptron']):.2f}, the widest one of "
        f"{_margin(x, lines['widest']):.2f}.",
        caption="Green: the perceptron answers 1. Ring and cross: answered wrongly.",
    )


@style.styled
def _drawn(x, y, w, low, high):
    fig, ax = style.new_figure(5.4, 4.6)
    draw_plane(ax, x, y, w, low=low, high=high, size=40)
    return fig
