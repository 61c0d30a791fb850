"""What one answer of a network rests on: the slope of its score at every pixel, and what covering a square does.

Source: the course's own. The first is lesson 03's gradient, taken with respect to the image; the second needs none.
"""

import numpy as np

from course_lib.nn.probing import input_gradient
from course_lib.validate import as_float, as_labels, require_count, require_number, require_positive

BATCH = 1024
"""Covered images that go through the network at once: a bound on memory."""


def class_scores(net, x, labels):
    """Return the score of one class for each row of x, (B,) float64; of distances, minus the distance.

    Parameters
    ----------
    net : Sequential
        Its output is (B, classes).
    x : (B, C, H, W) or (B, D) array
    labels : int or (B,) int array
        A class for all rows, or one for each row.

    Raises
    ------
    TypeError, ValueError
        If x or labels do not fit the network.

    Source: the course's own.
    """
    x, out, labels = _answered(net, x, labels)
    return _sign(net) * out[np.arange(len(out)), labels].astype(np.float64)


def saliency(net, x, labels):
    """Return the gradient of each row's class score with respect to its pixels, an array of x's shape.

    The number at a pixel says how fast the score would rise if a little ink were added there.

    Parameters
    ----------
    net : Sequential
        Its output is (B, classes); its weights and gradients are as before when the function returns.
    x : (B, C, H, W) or (B, D) array
    labels : int or (B,) int array
        A class for all rows, or one for each row.

    Raises
    ------
    TypeError, ValueError
        If x or labels do not fit the network.

    Source: the course's own.
    """
    x, _out, labels = _answered(net, x, labels)
    dx = np.empty_like(x)
    for label in np.unique(labels):
        rows = labels == label
        dx[rows] = _sign(net) * input_gradient(net, x[rows], int(label), layer=len(net) - 1)[1]
    return dx


def occlusion(net, x, labels, *, size, fill=0.5, stride=1, opacity=1.0):
    """Return how far each row's class score falls when a square of its image is covered, (B, rows, columns) float64.

    The number at [b, i, j] belongs to the square whose upper left pixel is (stride i, stride j). It is negative where
    the score rises.

    Parameters
    ----------
    net : Sequential
        Its output is (B, classes).
    x : (B, C, H, W) array
        The images; they are not changed.
    labels : int or (B,) int array
        A class for all rows, or one for each row.
    size : int >= 1
        Side of the square, in pixels; it is moved over all places at which it lies wholly on the image.
    fill : float
        What the square is painted with, in all maps.
    stride : int >= 1
        Pixels from one place to the next.
    opacity : float, above 0 and at most 1
        How much of the pixel the square hides: pixels become (1 - opacity) * pixel + opacity * fill.

    Raises
    ------
    TypeError, ValueError
        If x or labels do not fit the network, or the square does not fit on the image.

    Source: the course's own.
    """
    x = as_float("x", x, ndim=4, min_rows=1)
    size, stride = require_count("size", size), require_count("stride", stride)
    fill, opacity = _finite("fill", fill), require_positive("opacity", opacity)
    if opacity > 1:
        raise ValueError(f"opacity is {opacity:g}; it must lie above 0 and be at most 1, which covers wholly.")
    H, W = x.shape[2:]
    if size > min(H, W):
        raise ValueError(f"size is {size} and the images are {H} x {W}; a square must fit on the image.")
    whole = class_scores(net, x, labels)
    labels = np.broadcast_to(labels, len(x))
    rows, columns = 1 + (H - size) // stride, 1 + (W - size) // stride
    places = [(b, i * stride, j * stride) for b, i, j in np.ndindex(len(x), rows, columns)]
    fall = np.empty(len(places))
    for start in range(0, len(places), BATCH):
        part = places[start : start + BATCH]
        which = np.array([b for b, _, _ in part])
        covered = x[which]  # a copy
        for image, (_, r, c) in zip(covered, part, strict=True):
            square = image[:, r : r + size, c : c + size]
            square[...] = (1 - opacity) * square + opacity * fill
        fall[start : start + BATCH] = whole[which] - class_scores(net, covered, labels[which])
    return fall.reshape(len(x), rows, columns)


def promised_fall(x, slopes, *, size, fill=0.5, stride=1):
    """Return what slopes say that `occlusion` will find, (B, rows, columns): sum of slope * (pixel - fill) per square.

    Parameters
    ----------
    x : (B, C, H, W) array
    slopes : array of x's shape
        What `saliency` returns.
    size, fill, stride
        As in `occlusion`. With an opacity, multiply the result by it.

    Raises
    ------
    TypeError, ValueError
        If the shapes differ, or the square does not fit on the image.

    Source: lesson 03's linear estimate, dE = sum of (dE/dx) dx.
    """
    x, slopes = as_float("x", x, ndim=4, min_rows=1), as_float("slopes", slopes, ndim=4, min_rows=1)
    if x.shape != slopes.shape:
        raise ValueError(f"x is {x.shape} and slopes is {slopes.shape}; there must be a slope for each pixel.")
    size, stride = require_count("size", size), require_count("stride", stride)
    if size > min(x.shape[2:]):
        raise ValueError(f"size is {size} and the images are {x.shape[2:]}; a square must fit on the image.")
    terms = (slopes.astype(np.float64) * (x - _finite("fill", fill))).sum(axis=1)
    windows = np.lib.stride_tricks.sliding_window_view(terms, (size, size), axis=(1, 2))
    return windows[:, ::stride, ::stride].sum(axis=(3, 4))


def _finite(name, value):
    value = require_number(name, value)
    if not np.isfinite(value):
        raise ValueError(f"{name} is {value:g}; it must be a finite number, such as 0.5 for grey.")
    return value


def _answered(net, x, labels):
    """The checked images, what the network answers, and a checked class for each."""
    x = as_float("x", x, min_rows=1)
    out = net.ops.to_host(net.forward(net.ops.to_backend(x)))
    return x, out, _labels(net, out, labels)


def _labels(net, out, labels):
    if out.ndim != 2:
        raise ValueError(f"the network's output is {out.shape}; a class needs (B, classes).")
    labels = np.full(len(out), labels) if np.ndim(labels) == 0 else labels
    return as_labels("labels", labels, rows=len(out), classes=out.shape[1])


def _sign(net):
    return -1 if net.layers[-1].smaller_is_better else 1  # of distances, the near is likely
