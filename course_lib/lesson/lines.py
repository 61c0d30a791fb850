"""What lesson 01 asks of a perceptron's runs and of lines between two groups: cycles, orders, grids, the widest line.

Weights are (d + 1,) arrays with the bias last, as `course_lib.reference.perceptron_fit` makes them.
"""

from itertools import permutations, product

import numpy as np

from course_lib.reference import perceptron_fit
from course_lib.validate import as_float, as_labels, require_count, require_finite


def cycle_of(fit):
    """Return (entered, length) of the cycle of a run that was shown its samples in one fixed order, or None.

    Both count epochs, from 1: the weights at the end of epoch `entered` are the first to come back, `length` epochs
    later. None where no weights came back within the epochs that were run. A run that converged ends with an epoch
    without a change, so it has a "cycle" of length 1: ask `fit.converged` first.

    Parameters
    ----------
    fit : PerceptronFit
        Made with a fixed order, else the return of weights means nothing.

    Source: the course's own.
    """
    samples = len(fit.steps) // fit.epochs
    first_seen = {}
    for epoch, step in enumerate(fit.steps[samples - 1 :: samples], start=1):
        state = tuple(step.w_after)
        if state in first_seen:
            return first_seen[state], epoch - first_seen[state]
        first_seen[state] = epoch
    return None


def all_orders(x, y, epochs=100):
    """Return the runs of a perceptron on x (n, d), y (n,) in every one of the n! orders, n <= 6.

    ValueError for more samples. Source: the course's own.
    """
    if len(y) > 6:
        raise ValueError(f"{len(y)} samples have too many orders to try all; take 6 samples at most, or random_orders.")
    return [perceptron_fit(x, y, epochs=epochs, order=order) for order in permutations(range(len(y)))]


def random_orders(x, y, n, rng, epochs=100):
    """Return `n` runs of a perceptron on x (m, d), y (m,), each in a fixed order of its own that `rng` draws.

    ValueError, TypeError for an `n` below 1 and as `perceptron_fit`. Source: the course's own.
    """
    return [perceptron_fit(x, y, epochs=epochs, order=rng.permutation(len(y))) for _ in range(require_count("n", n))]


def to_the_nearest(x_new, y_new, x, y, towards=None):
    """Return how far each new sample lies from the nearest known sample with the same label, (m,).

    Parameters
    ----------
    x_new, x : (m, d), (n, d) arrays
    y_new, y : (m,), (n,) arrays of 0 and 1
    towards : (d + 1,) array, optional
        Weights and bias of a cut: only the part of the step from known to new at right angles to it is returned. It is
        positive where the step leads to the side of the other label, negative where it leads away from there.

    Raises
    ------
    ValueError
        A label of a new sample that no known sample has; another number of inputs.

    Source: the course's own.
    """
    x, x_new = as_float("x", x, ndim=2, min_rows=1), as_float("x_new", x_new, ndim=2, min_rows=1)
    y, y_new = as_labels("y", y, rows=len(x), classes=2), as_labels("y_new", y_new, rows=len(x_new), classes=2)
    if x.shape[1] != x_new.shape[1] or not set(y_new) <= set(y):
        raise ValueError(
            f"new samples have {x_new.shape[1]} inputs and labels {np.unique(y_new).tolist()}, known ones {x.shape[1]} "
            f"and {np.unique(y).tolist()}; give as many inputs, and known samples of every label."
        )
    ways = []
    for sample, label in zip(x_new, y_new, strict=True):
        way = x[y == label] - sample
        ways.append(way[np.linalg.norm(way, axis=1).argmin()])
    if towards is None:
        return np.linalg.norm(ways, axis=1)
    w = np.asarray(towards)[:-1]
    return np.where(y_new == 1, 1, -1) * (ways @ w) / np.linalg.norm(w)  # a way leads from new to known


def widest_line(x, y):
    """Return the line (3,) with the widest margin between two groups of points in a plane, its weights of length 1.

    In a plane the widest margin is decided by two points of different groups, or by two of one group and one of the
    other. So every direction that joins two points, and every one at right angles to such a joint, is tried.

    Parameters
    ----------
    x : (n, 2) array
    y : (n,) array of 0 and 1, both present

    Raises
    ------
    ValueError
        Not two inputs, only one label, or no line that separates the two groups.

    Source: Vapnik, "The Nature of Statistical Learning Theory", section 5.4 (the optimal separating hyperplane).
    """
    x = as_float("x", x, ndim=2, min_rows=2)
    y = as_labels("y", y, rows=len(x), classes=2)
    require_finite("x", x)
    if x.shape[1] != 2 or len(np.unique(y)) != 2:
        raise ValueError(f"x is {x.shape} with labels {np.unique(y).tolist()}; it takes two inputs and both labels.")
    one, zero = x[y == 1], x[y == 0]
    joints = [b - a for a, b in product(zero, one)]
    edges = [b - a for group in (one, zero) for a, b in product(group, group)]
    normals = np.array(joints + [(-edge[1], edge[0]) for edge in edges])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = normals / np.where(lengths > 0, lengths, 1)  # points that coincide give 0, and 0 separates nothing
    low, high = (one @ normals.T).min(axis=0), (zero @ normals.T).max(axis=0)
    best = np.argmax(low - high)
    if low[best] <= high[best]:
        raise ValueError("no line separates the two groups, so none has a margin; move the groups apart.")
    return np.array([*normals[best], -(low[best] + high[best]) / 2])
