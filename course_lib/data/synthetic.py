"""Small made-up data: truth tables (lectures K and H), points for regression, and two-dimensional classes.

Everything random takes `rng`, a `numpy.random.Generator`: the same seed gives the same points.
Classes are balanced (their counts differ by at most one) and come in shuffled order.
"""

import numpy as np

from .errors import check_amount, check_array, check_count, check_number, check_rng

# One output a row, rows in binary counting order: for two inputs 00, 01, 10, 11; for three 000, 001, ... 111.
_TRUTH = {
    "and": (0, 0, 0, 1),
    "or": (0, 1, 1, 1),
    "nand": (1, 1, 1, 0),
    "xor": (0, 1, 1, 0),
    "parity3": (0, 1, 1, 0, 1, 0, 0, 1),
}


def truth_table(name):
    """The whole truth table of a logic function, as labelled data.

    Parameters
    ----------
    name : str
        "and", "or", "nand", "xor" (two inputs) or "parity3" (three inputs, 1 where an odd number is 1).

    Returns
    -------
    x : (2^n, n) float64
        One input combination a row, in binary counting order, the first input being the most significant bit.
    y : (2^n,) int64
        The function's value, 0 or 1.

    Raises
    ------
    ValueError
        For any other name; the message lists the known ones.

    Notes
    -----
    Source: lecture K uses NAND (a perceptron learns it) and XOR (it cannot); lecture H uses the three-input
    parity 001, 010, 100, 111 -> 1 and treats a truth table as labelled data.
    """
    if not isinstance(name, str) or name not in _TRUTH:
        raise ValueError(f"there is no truth table {name!r}; the known names are {', '.join(_TRUTH)}")
    y = np.array(_TRUTH[name], dtype=np.int64)
    inputs = len(y).bit_length() - 1
    bits = np.arange(len(y))[:, None] >> np.arange(inputs)[::-1]
    return (bits & 1).astype(np.float64), y


def line(n, *, slope, intercept, noise, rng):
    """Noisy points on a line, for regression with one input: y = slope x + intercept + noise.

    Parameters
    ----------
    n : int >= 1
        Number of points.
    slope, intercept : float
        The line that a regression should find again.
    noise : float >= 0
        Standard deviation of the normal noise added to y.
    rng : numpy.random.Generator

    Returns
    -------
    x : (n, 1) float64, uniform in [-1, 1)
    y : (n,) float64

    Raises
    ------
    TypeError, ValueError
        If `n`, a number or `rng` is out of its range; the message names the value.

    Notes
    -----
    Source: lecture K, linear regression as the first learning algorithm.
    """
    w, b = [check_number("slope", slope)], check_number("intercept", intercept)
    return plane(n, w=w, b=b, noise=noise, rng=rng)


def plane(n, *, w, b, noise, rng):
    """Noisy points on a (hyper)plane, for regression with several inputs: y = x w + b + noise.

    Parameters
    ----------
    n : int >= 1
        Number of points.
    w : (d,) array_like of float
        One slope for each input.
    b : float
        The value at x = 0.
    noise : float >= 0
        Standard deviation of the normal noise added to y.
    rng : numpy.random.Generator

    Returns
    -------
    x : (n, d) float64, uniform in [-1, 1)
    y : (n,) float64

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range; the message names the value.

    Notes
    -----
    Source: lecture K, linear regression in several dimensions.
    """
    n, w, b = check_count("n", n), check_array("w", w, (None,)), check_number("b", b)
    noise, rng = check_amount("noise", noise), check_rng(rng)
    x = rng.uniform(-1, 1, size=(n, len(w)))
    return x, x @ w + b + noise * rng.standard_normal(n)


def blobs(n, *, centers, spread, rng):
    """Round clouds of points, one class around each centre.

    Parameters
    ----------
    n : int >= 1
        Number of points in all.
    centers : (C, 2) array_like of float
        Centre of each class; class c gets label c.
    spread : float >= 0
        Standard deviation of the points around their centre, in each coordinate.
    rng : numpy.random.Generator

    Returns
    -------
    x : (n, 2) float64
    y : (n,) int64 in 0..C-1

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range; the message names the value.

    Source: the course's own.
    """
    n, centers = check_count("n", n), check_array("centers", centers, (None, 2))
    spread, rng = check_amount("spread", spread), check_rng(rng)
    y = balanced_labels(n, len(centers), rng)
    return centers[y] + spread * rng.standard_normal((n, 2)), y


def two_moons(n, *, noise, rng):
    """Two half circles that reach into each other: no straight line separates them.

    Parameters
    ----------
    n : int >= 1
        Number of points in all.
    noise : float >= 0
        Standard deviation of the noise in each coordinate; the half circles have radius 1.
    rng : numpy.random.Generator

    Returns
    -------
    x : (n, 2) float64, without noise in [-1, 2] x [-0.5, 1]
    y : (n,) int64, 0 for the upper moon, 1 for the lower

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range; the message names the value.

    Source: the course's own.
    """
    n, noise, rng = check_count("n", n), check_amount("noise", noise), check_rng(rng)
    y = balanced_labels(n, 2, rng)
    angle = rng.uniform(0, np.pi, size=n)
    upper = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    x = np.where(y[:, None] == 0, upper, (1, 0.5) - upper)
    return x + noise * rng.standard_normal((n, 2)), y


def rings(n, *, noise, rng):
    """A ring inside a ring: the label depends on the distance from the origin alone.

    Parameters
    ----------
    n : int >= 1
        Number of points in all.
    noise : float >= 0
        Standard deviation of the noise in each coordinate; the rings have radius 0.5 and 1.
    rng : numpy.random.Generator

    Returns
    -------
    x : (n, 2) float64
    y : (n,) int64, 0 for the inner ring, 1 for the outer

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range; the message names the value.

    Source: the course's own.
    """
    n, noise, rng = check_count("n", n), check_amount("noise", noise), check_rng(rng)
    y = balanced_labels(n, 2, rng)
    x = _polar(np.where(y == 0, 0.5, 1.0), rng.uniform(0, 2 * np.pi, size=n))
    return x + noise * rng.standard_normal((n, 2)), y


def spirals(n, *, classes=2, noise, rng):
    """Interleaved spiral arms, one class an arm: hard for a small network.

    Parameters
    ----------
    n : int >= 1
        Number of points in all.
    classes : int >= 2
        Number of arms.
    noise : float >= 0
        Standard deviation of the noise in each coordinate; the arms end at radius 1 after one turn.
    rng : numpy.random.Generator

    Returns
    -------
    x : (n, 2) float64
    y : (n,) int64 in 0..classes-1

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range; the message names the value.

    Source: the course's own.
    """
    n, classes = check_count("n", n), check_count("classes", classes, least=2)
    noise, rng = check_amount("noise", noise), check_rng(rng)
    y = balanced_labels(n, classes, rng)
    radius = rng.uniform(0.1, 1, size=n)
    x = _polar(radius, 2 * np.pi * (radius + y / classes))
    return x + noise * rng.standard_normal((n, 2)), y


def balanced_labels(n, classes, rng):
    """Return n labels (n,) int64 in 0 .. classes - 1, each as often as the others (one more at most), shuffled."""
    return rng.permutation(np.arange(n, dtype=np.int64) % classes)


def _polar(radius, angle):
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
