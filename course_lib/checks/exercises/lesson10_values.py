"""Right values of the exercises of lesson 10, in closed form, and by the library's loss and layer.

Options are what the usual mistakes in `lesson10_mistakes` do otherwise.
"""

import numpy as np

from course_lib import reference as ops


def shown(w, low=None, high=None):
    """Return the weights as grey values; `low` and `high` become 0 and 1."""
    top = float(np.max(np.abs(w)))
    low, high = (-top if low is None else low), (top if high is None else high)
    return np.interp(w, [low, high], [0.0, 1.0]) if high > low else np.full(w.shape, 0.5)


def field(layers, h, jumps=None, padded=True, reach=1):
    """Return (first, last) in closed form: jump = how many pixels lie between neighbours of the layer below."""
    K, S, P = np.reshape(layers, (-1, 3)).astype(int).T
    jumps = np.cumprod(np.append(1, S)) if jumps is None else jumps
    first = h * jumps[-1] - padded * (P * jumps[:-1]).sum()
    return int(first), int(first + ((K - reach) * jumps[:-1]).sum())


def cover_square(image, size, i, j, fill):
    """Return the image with a square of one grey at (i, j)."""
    row, column = np.indices(image.shape)
    inside = (row - i) // size + 1j * ((column - j) // size)  # 0 on the square, and nowhere else
    return np.where(inside == 0, fill, image)


def occluded(score, image, size, fills, value=lambda whole, covered: whole - covered, keep=np.min, cover=cover_square):
    """Return how far the score falls at each place of a square, as `value`, `keep` and `cover` have it."""
    places = np.subtract(image.shape, size - 1)
    whole = score(image)
    each = [
        keep([value(whole, score(cover(image, size, i, j, fill))) for fill in fills]) for i, j in np.ndindex(*places)
    ]
    return np.array(each, dtype=float).reshape(places)


def climbed(x, w, c, steps, lr, decay, clip=(0, 1), length=np.linalg.norm, goal="probability", order="step first"):
    """Return the image, by the library's loss and layer, with the usual mistakes as options."""
    x, kept = np.asarray(x, dtype=float), None
    for _ in range(steps):
        z, seen = ops.dense_forward(x[None], w)
        down = ops.softmax_cross_entropy_backward(ops.softmax_cross_entropy_forward(z, np.array([c]))[1])
        if goal == "score":
            down = -np.eye(w.shape[1])[[c]]
        if goal == "all scores":  # e_c was not subtracted
            down = down + np.eye(w.shape[1])[[c]]
        if goal == "asked once":
            down = kept = down if kept is None else kept
        dx = ops.dense_backward(down, seen)[0][0]
        step = lr * dx / (length(dx) or 1.0)
        x = (1 - decay) * x - step if order == "decay first" else (1 - decay) * (x - step)
        if order == "decay last":
            x = (1 - decay) * np.clip(x / (1 - decay), *clip) if decay < 1 else 0 * x
        else:
            x = x if clip is None else np.clip(x, *clip)
    return x


def nearest(features, bank, k, far=lambda a, b: ((a - b) ** 2).sum(axis=-1), ties=1):
    """Return (B, k), sorted by (distance, number); ties = -1 puts the larger number first."""
    rows = [far(f.astype(float), bank.astype(float)) for f in features]
    return np.array([sorted(range(len(bank)), key=lambda i, d=d: (d[i], ties * i))[:k] for d in rows])


def strengths(w1, axes=(1, 2, 3)):
    """Return the lengths of masks, 1 where it is 0."""
    lengths = np.sqrt(np.sum(np.square(w1, dtype=float), axis=axes, keepdims=True))
    return np.where(lengths > 0, lengths, 1.0)


def balanced(w1, b1, w3, s=None, bias=1, back=1):
    """Return the network with C1's masks divided by s, and what follows made up for."""
    s = strengths(w1) if s is None else s
    flat = np.broadcast_to(s, (len(w1), 1, 1, 1)).reshape(-1)
    return w1 / s, b1 / flat**bias, w3 * flat[:, None, None] ** back
