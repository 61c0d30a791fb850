"""The geometry of one perceptron with two inputs inside a box: which part answers 1, and the line at its edge."""

import numpy as np


def half_plane(w, low, high):
    """Return the corners of the part of a box where w1 x1 + w2 x2 + b >= 0.

    Parameters
    ----------
    w : (3,) array
        w1, w2, b.
    low, high : (2,) array
        Opposite corners of the box.

    Returns
    -------
    (k, 2) array
        The corners in order, without the first one repeated; k is 0 where the whole box answers 0.
    """
    w = np.asarray(w, float)
    (x0, y0), (x1, y1) = low, high
    box = np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], float)
    score = box @ w[:2] + w[2]
    kept = []
    for i in range(4):
        j = (i + 1) % 4
        if score[i] >= 0:
            kept.append(box[i])
        if (score[i] >= 0) != (score[j] >= 0):  # the edge crosses the line
            t = score[i] / (score[i] - score[j])
            kept.append(box[i] + t * (box[j] - box[i]))
    return np.array(kept).reshape(-1, 2)


def boundary(w, low, high):
    """Return the two ends (2, 2) of the line w1 x1 + w2 x2 + b = 0 inside the box, or None where there is none."""
    w, low, high = np.asarray(w, float), np.asarray(low, float), np.asarray(high, float)
    length = np.hypot(w[0], w[1])
    if length == 0:
        return None
    normal = w[:2] / length
    along = np.array([-normal[1], normal[0]])
    centre = (low + high) / 2
    foot = centre - (centre @ normal + w[2] / length) * normal  # the point of the line nearest to the centre
    first, last = -np.inf, np.inf
    for k in range(2):
        if along[k] == 0:
            if not low[k] <= foot[k] <= high[k]:
                return None
            continue
        ends = sorted(((low[k] - foot[k]) / along[k], (high[k] - foot[k]) / along[k]))
        first, last = max(first, ends[0]), min(last, ends[1])
    return None if first >= last else np.array([foot + first * along, foot + last * along])
