"""How often a perceptron corrects its weights, and how often it can at most: Novikoff's bound, with its two halves.

All lengths and margins are those of the samples with their bias input and of weights with their bias: in these d + 1
numbers a line through the plane becomes one through the origin, and the proof needs no case of its own for the bias.

Source: Novikoff, "On Convergence Proofs for Perceptrons" (1962).
"""

import numpy as np

from course_lib.reference import add_bias_input, perceptron_fit
from course_lib.validate import as_float, as_labels, require_count


def signed(x, y):
    """Return what a correction adds to the weights for each sample: [x, 1] for label 1, and minus that for label 0.

    x (n, d), y (n,) of 0 and 1; returns (n, d + 1). Source: Novikoff (1962).
    """
    x = as_float("x", x, ndim=2, min_rows=1)
    y = as_labels("y", y, rows=len(x), classes=2)
    return np.where(y == 1, 1.0, -1.0)[:, None] * add_bias_input(x)


def separator(x, y, steps=3000):
    """Return weights (d + 1,) of length 1 that separate two groups with nearly as wide a margin as any can.

    `steps` times, the sample that stands deepest in the wrong half, or nearest to the border, is added to the weights
    or subtracted; the best of all weights on the way are kept.

    Parameters
    ----------
    x : (n, d) array
    y : (n,) array of 0 and 1
    steps : int

    Raises
    ------
    ValueError
        No weights on the way separate the groups: perhaps none do.

    Source: Krauth and Mezard, "Learning algorithms with optimal stability in neural networks" (1987).
    """
    moves = signed(x, y)
    products = moves @ moves.T
    w, scores = np.zeros(moves.shape[1]), np.zeros(len(moves))
    best, widest = None, 0.0
    for _ in range(require_count("steps", steps)):
        i = int(np.argmin(scores))
        w, scores = w + moves[i], scores + products[i]
        length = np.linalg.norm(w)
        if length > 0 and scores.min() > widest * length:
            best, widest = w / length, scores.min() / length
    if best is None:
        raise ValueError(f"no weights separate the two groups after {steps} steps; take more steps or other groups.")
    return best


def bound(x, y, u):
    """Return (R, margin, most): the longest sample, the margin of `u`, and (R / margin)^2 corrections at the most.

    Parameters
    ----------
    x : (n, d) array
    y : (n,) array of 0 and 1
    u : (d + 1,) array
        Weights, the bias last, that answer every sample correctly with a score that is not 0.

    Raises
    ------
    ValueError
        A sample with a score of 0 or on the wrong side: the theorem says nothing then.

    Source: Novikoff (1962).
    """
    moves = signed(x, y)
    u = as_float("u", u, ndim=1)
    scores = moves @ u
    if not scores.min() > 0:
        raise ValueError(f"the smallest score on its own side is {scores.min():g}; it must be above 0 for all samples.")
    longest, margin = float(np.linalg.norm(moves, axis=1).max()), float(scores.min() / np.linalg.norm(u))
    return longest, margin, (longest / margin) ** 2


def made(fit):
    """Return how many corrections a run made. Source: the course's own."""
    return int(sum(fit.mistakes_per_epoch))


def progress(fit, u):
    """Return (along, lengths), each (k + 1,): u . w and |w| before the first and after each of k corrections.

    u (d + 1,) of length 1. Source: Novikoff (1962).
    """
    ws = [fit.steps[0].w_before, *(step.w_after for step in fit.steps if step.w_after is not step.w_before)]
    return np.array(ws) @ u, np.linalg.norm(ws, axis=1)


def in_crowds(x, y, line, sizes, rng, *, gap, runs=10):
    """Return a row (n, mean, most) for each size: the corrections of `runs` runs on n samples that leave a gap free.

    Only samples on their own side of the line, and at least `gap` from it, are drawn; each run draws its own.

    Parameters
    ----------
    x : (m, d) array
    y : (m,) array of 0 and 1
    line : (d + 1,) array
        Weights, the bias last.
    sizes : sequence of int
    rng : numpy.random.Generator
    gap : float
    runs : int

    Raises
    ------
    ValueError
        More samples are asked for than leave the gap free.

    Source: the course's own.
    """
    line = as_float("line", line, ndim=1)
    apart = np.flatnonzero(signed(x, y) @ line >= gap * np.linalg.norm(line[:-1]))
    if max(sizes) > len(apart):
        raise ValueError(f"{len(apart)} samples leave the gap free, {max(sizes)} are asked for; give more samples.")
    rows = []
    for n in sizes:
        drawn = [rng.permutation(apart)[:n] for _ in range(require_count("runs", runs))]
        counts = [made(perceptron_fit(x[some], y[some], epochs=1000)) for some in drawn]
        rows.append((n, float(np.mean(counts)), max(counts)))
    return rows
