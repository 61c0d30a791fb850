"""Usual mistakes in the exercises of lesson 06b that leave a recognisable value, and what is said of each."""

import numpy as np

from course_lib.checks.exercise import Cause
from course_lib.checks.exercises.lesson06b_values import (
    adam,
    decayed,
    deviation,
    dropped,
    examined,
    fan_in,
    rates,
    standardised,
)


def _fan_out(shape):
    return shape[1] if len(shape) == 2 else shape[0] * int(np.prod(shape[2:]))


DEVIATION = (
    Cause(
        "That counts the outputs which an input reaches; in the forward pass a sum grows with the inputs that "
        "reach one output.",
        lambda shape: deviation(shape, _fan_out),
    ),
    Cause("That is the variance; the deviation is its root.", lambda shape: 2 / fan_in(shape)),
    Cause(
        "ReLU sets half of the sums to 0; the 2 under the root makes up for that.",
        lambda shape: deviation(shape, over=1.0),
    ),
    Cause(
        "That is the compromise with the way back, 2/(n_in + n_out); asked is the way forward.",
        lambda shape: deviation(shape, lambda s: fan_in(s) + _fan_out(s)),
    ),
    Cause(
        "An output of a convolution sees K_h times K_w pixels of every input map; only the maps were counted.",
        lambda shape: deviation(shape, lambda s: s[0] if len(s) == 2 else s[1]),
    ),
    Cause(
        "An output of a convolution sees every input map; only the mask's pixels were counted.",
        lambda shape: deviation(shape, lambda s: s[0] if len(s) == 2 else int(np.prod(s[2:]))),
    ),
    Cause(
        "M, the first number, counts the maps that come out; the inputs of one output are the others.",
        lambda shape: deviation(shape, lambda s: s[0]),
    ),
    Cause(
        "The last number of a mask's shape was left out; it is the first one that does not count.",
        lambda shape: deviation(shape, lambda s: int(np.prod(s[:-1]))),
    ),
)


def _scaled(x_train, x_new, scale):
    """Both minus the means of the first, divided by scale(deviations), which is never 0."""
    mean, sd = np.mean(x_train, axis=0), np.std(x_train, axis=0)
    divisor = scale(np.asarray(x_train, dtype=float), sd)
    divisor = np.where(divisor == 0, 1.0, divisor)
    return (x_train - mean) / divisor, (x_new - mean) / divisor


STANDARDISE = (
    Cause(
        "The new data were standardised by their own mean and deviation; they must get those of the training "
        "data, or the network sees other numbers than it was trained on.",
        lambda x, new: standardised(x, new, fit=(x, new)),
    ),
    Cause(
        "Mean and deviation were measured on training and new data together; the new ones must have no say.",
        lambda x, new: standardised(x, new, fit=(np.concatenate([x, new]),) * 2),
    ),
    Cause(
        "Each feature, a column, has a mean and a deviation of its own.",
        lambda x, new: standardised(x, new, axis=(0, 1)),
    ),
    Cause(
        "Divide by the standard deviation, not by the variance.",
        lambda x, new: _scaled(x, new, lambda _, sd: sd**2),
    ),
    Cause(
        "The deviation here is the root of the mean square, with n and not n - 1 (ddof=0).",
        lambda x, new: _scaled(x, new, lambda a, _: a.std(axis=0, ddof=min(1, len(a) - 1))),
    ),
    *(
        Cause(
            "A small number was added to every deviation; only those that are 0 may be replaced, by 1.",
            lambda x, new, eps=eps: _scaled(x, new, lambda _, sd: sd + eps),
        )
        for eps in (1e-8, 1e-7, 1e-6, 1e-5, 1e-12)
    ),
)


def _decoupled(params, gradients, velocities, lr, momentum, decay):
    own, kept = decayed(params, gradients, velocities, lr, momentum, 0.0)
    return [p - (lr * decay * w if np.ndim(w) > 1 else 0) for p, w in zip(own, params, strict=True)], kept


def _pulls(factor):
    """`decayed` with another decay, such as twice or minus that."""
    return lambda p, g, v, lr, momentum, decay: _signed(p, g, v, lr, momentum, factor * decay)


def _signed(params, gradients, velocities, lr, momentum, decay):
    pulled = [g + decay * w if np.ndim(w) > 1 else g for g, w in zip(gradients, params, strict=True)]
    return decayed(params, pulled, velocities, lr, momentum, 0.0)


def _old_velocity(params, gradients, velocities, lr, momentum, decay):
    _, kept = decayed(params, gradients, velocities, lr, momentum, decay)
    return [p + v for p, v in zip(params, velocities, strict=True)], kept


DECAYED = (
    Cause(
        "The biases decay too; only weights do, the arrays with two axes.",
        lambda *args: decayed(*args, biases=True),
    ),
    Cause(
        "The weights were shrunk beside the step. Here the decay is part of the gradient, so it goes through "
        "the velocity.",
        _decoupled,
    ),
    Cause("The pull goes the wrong way: weights must become smaller by it.", _pulls(-1)),
    Cause("The pull is decay times w; a factor 2 is too much.", _pulls(2)),
    Cause("There is no pull at all: is decay used?", _pulls(0)),
    Cause("A parameter has to move by its new velocity; it moved by the old one.", _old_velocity),
)


def _safe(rate):
    return 1 / rate if rate else 1.0


DROPOUT = (
    Cause(
        "What stays must be divided by 1 - rate, or the next layer's sums are smaller in training than in use.",
        lambda x, dy, u, rate, training: dropped(x, dy, u, rate, training, 1.0, 1.0),
    ),
    Cause(
        "In use nothing is scaled: what stayed in training has been made larger already.",
        lambda x, dy, u, rate, training: dropped(x, dy, u, rate, training, used=1 - rate),
    ),
    Cause(
        "In use nothing is scaled; here the factor of training was applied.",
        lambda x, dy, u, rate, training: dropped(x, dy, u, rate, training, used=1 / (1 - rate)),
    ),
    Cause(
        "A number is dropped with the chance rate, so it stays where u is at least rate; these are the others.",
        lambda x, dy, u, rate, training: dropped(x, dy, u, rate, training, flip=True),
    ),
    Cause(
        "What stays must be divided by 1 - rate, the chance to stay, not by rate.",
        lambda x, dy, u, rate, training: dropped(x, dy, u, rate, training, _safe(rate), _safe(rate)),
    ),
    Cause(
        "On the way back, where y was dropped no gradient passes; dy went through unchanged.",
        lambda x, dy, u, rate, training: (dropped(x, dy, u, rate, training)[0], dy),
    ),
    Cause(
        "y is x / (1 - rate) where it stays, so its slope is 1 / (1 - rate): dx needs the factor too.",
        lambda x, dy, u, rate, training: dropped(x, dy, u, rate, training, dx_factor=1.0),
    ),
    Cause(
        "On the way back the zeros are missing: use the same places as on the way there.",
        lambda x, dy, u, rate, training: (
            dropped(x, dy, u, rate, training)[0],
            dy / (1 - rate) if training else dy,
        ),
    ),
    Cause(
        "In use nothing is dropped: return x and dy as they are.",
        lambda x, dy, u, rate, training: dropped(x, dy, u, rate, True),
    ),
    Cause(
        "Where u equals rate the number stays: u >= rate.",
        lambda x, dy, u, rate, training: dropped(x, dy, np.where(u == rate, -1.0, u), rate, training),
    ),
)


def _adam_otherwise(w, gradients, lr, beta1, beta2, eps, corrected=(True, True), step=None, square=np.square):
    """The path with weights of the past written out, and the step or a correction of a mistake."""
    g = np.asarray(gradients, dtype=float)
    path = [np.array(w, dtype=float)]
    for t in range(1, len(g) + 1):
        moments = []
        for beta, values, right in zip((beta1, beta2), (g[:t], square(g[:t])), corrected, strict=True):
            shares = (1 - beta) * beta ** np.arange(t - 1, -1, -1)
            moments.append(shares @ values / (1 - beta**t if right else 1))
        m, v = moments
        with np.errstate(all="ignore"):
            path.append(path[-1] - lr * (m / (np.sqrt(v) + eps) if step is None else step(m, v, eps)))
    return np.array(path)


def _kept_corrected(w, gradients, lr, beta1, beta2, eps):
    path, m, v = [np.array(w, dtype=float)], np.zeros(len(w)), np.zeros(len(w))
    for t, g in enumerate(np.asarray(gradients, dtype=float), start=1):
        m = (beta1 * m + (1 - beta1) * g) / (1 - beta1**t)
        v = (beta2 * v + (1 - beta2) * g * g) / (1 - beta2**t)
        path.append(path[-1] - lr * m / (np.sqrt(v) + eps))
    return np.array(path)


ADAM = (
    Cause(
        "m and v begin at 0 and are too small at first; divide them by 1 - beta1^t and 1 - beta2^t.",
        lambda *args: _adam_otherwise(*args, corrected=(False, False)),
    ),
    Cause(
        "v is not corrected: divide it by 1 - beta2^t.",
        lambda *args: _adam_otherwise(*args, corrected=(True, False)),
    ),
    Cause(
        "m is not corrected: divide it by 1 - beta1^t.",
        lambda *args: _adam_otherwise(*args, corrected=(False, True)),
    ),
    Cause(
        "The small number is added to the root, not to what is under it.",
        lambda *args: _adam_otherwise(*args, step=lambda m, v, eps: m / np.sqrt(v + eps)),
    ),
    Cause(
        "m' is divided by the root of v'; the root is missing.",
        lambda *args: _adam_otherwise(*args, step=lambda m, v, eps: m / (v + eps)),
    ),
    Cause(
        "v is the mean of the squares of the gradients; here the gradients were not squared.",
        lambda *args: _adam_otherwise(*args, square=np.asarray, step=lambda m, v, eps: m / (np.sqrt(np.abs(v)) + eps)),
    ),
    Cause("Steps count from 1; here the first one is 2.", lambda *args: adam(*args, first=2)),
    Cause(
        "This climbs: a weight moves against its gradient.",
        lambda *args: _adam_otherwise(*args, step=lambda m, v, eps: -m / (np.sqrt(v) + eps)),
    ),
    Cause(
        "Only the last gradient counts: are m and v kept from step to step?",
        lambda *args: _adam_otherwise(*args[:3], 0.0, 0.0, args[5]),
    ),
    Cause(
        "The corrected means belong to the step alone; here they were kept, and corrected again in the next.",
        _kept_corrected,
    ),
    Cause(
        "beta1 and beta2 are exchanged: beta1 belongs to m, beta2 to v.",
        lambda w, gradients, lr, beta1, beta2, eps: adam(w, gradients, lr, beta2, beta1, eps),
    ),
)

RATES = (
    Cause(
        "The climb begins at 0, a step that moves nothing; step k has (k + 1)/warm of the rate.",
        lambda steps, warm, lr: rates(steps, warm, lr, climb=lambda k, warm: k / warm),
    ),
    Cause(
        "The fall is counted from the first step; it begins when the warm-up is over.",
        lambda steps, warm, lr: rates(steps, warm, lr, share=lambda k, steps, warm: k / steps),
    ),
    Cause(
        "The fall takes steps - warm steps; this one is drawn out over all of them.",
        lambda steps, warm, lr: rates(steps, warm, lr, share=lambda k, steps, warm: (k - warm) / steps),
    ),
    Cause(
        "The last step would have the rate 0 and move nothing; 0 belongs to the step after the last.",
        lambda steps, warm, lr: rates(
            steps, warm, lr, share=lambda k, steps, warm: (k - warm) / max(steps - warm - 1, 1)
        ),
    ),
    Cause(
        "That is a whole cosine, down and up again; half of one goes from pi times 0 to pi times 1.",
        lambda steps, warm, lr: rates(steps, warm, lr, share=lambda k, steps, warm: 2 * (k - warm) / (steps - warm)),
    ),
    Cause(
        "A straight line down; asked is half a cosine.",
        lambda steps, warm, lr: np.where(
            np.arange(steps) < warm,
            lr * (np.arange(steps) + 1) / max(warm, 1),
            lr * (1 - (np.arange(steps) - warm) / (steps - warm)),
        ),
    ),
    Cause(
        "1 + cos goes from 2 to 0; halve it, so that the fall begins at lr.",
        lambda steps, warm, lr: rates(steps, warm, lr) * np.where(np.arange(steps) < warm, 1, 2),
    ),
    Cause(
        "NumPy's cosine takes radians: half a turn is pi, not 180.",
        lambda steps, warm, lr: rates(
            steps, warm, lr, share=lambda k, steps, warm: 180 / np.pi * (k - warm) / (steps - warm)
        ),
    ),
)

EXAMINE = (
    Cause(
        "The spread here is the root mean square; that is the standard deviation, which takes the mean off.",
        lambda outputs: examined(outputs, spread=np.std),
    ),
    Cause("The root is missing: that is the mean square.", lambda o: examined(o, spread=lambda a: np.mean(a**2))),
    Cause(
        "The mean is missing: the sum of squares grows with the size of the layer.",
        lambda outputs: examined(outputs, spread=np.linalg.norm),
    ),
    Cause(
        "That is the mean size; the spread squares, takes the mean, and then the root.",
        lambda outputs: examined(outputs, spread=lambda a: np.mean(np.abs(a))),
    ),
    Cause(
        "That is the share of numbers that are 0. A unit is dead only where it is 0 for every sample.",
        lambda outputs: examined(outputs, dead=lambda a: np.mean(a == 0)),
    ),
    Cause(
        "That is the share of units that are 0 for some sample; a dead one is 0 for every sample.",
        lambda outputs: examined(outputs, dead=lambda a: np.mean(np.any(a == 0, axis=0))),
    ),
    Cause(
        "Samples are rows and units are columns; these are the samples for which all units are 0.",
        lambda outputs: examined(outputs, dead=lambda a: np.mean(np.all(a == 0, axis=1))),
    ),
    Cause(
        "That counts the dead units; asked is their share of the layer.",
        lambda outputs: examined(outputs, dead=lambda a: float(np.sum(np.all(a == 0, axis=0)))),
    ),
    Cause(
        "The verdict is turned round: it fades where the last layer's spread is the smaller one.",
        lambda outputs: examined(outputs, turn=True),
    ),
    Cause(
        "The verdict compares the last layer with the first, not with the one before it.",
        lambda outputs: examined(outputs, ends=lambda s: s[-2:] if len(s) > 1 else (s[0], s[0])),
    ),
)
