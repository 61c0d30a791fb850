"""Right values of the exercises of lesson 06b, by the library where it has them.

Options are what the usual mistakes in `lesson06b_mistakes` do otherwise.
"""

import numpy as np

from course_lib import reference as ops
from course_lib.data import fit_standardiser


def fan_in(shape):
    """Return how many inputs an output has."""
    return shape[0] if len(shape) == 2 else int(np.prod(shape[1:]))


def deviation(shape, count=fan_in, over=2.0):
    """Return the deviation of weights: the root of `over` by a count."""
    return float(np.sqrt(over / count(shape)))


def standardised(x_train, x_new, fit=None, axis=0):
    """Return both, by the numbers of the first; `fit`: other arrays that a mistake measures."""
    of = fit or (x_train, x_train)
    arrays = [np.asarray(a, dtype=float) for a in (x_train, x_new)]
    rules = [fit_standardiser(np.asarray(a, dtype=float), axis=axis) for a in of]
    return tuple(rule.apply(a) for rule, a in zip(rules, arrays, strict=True))


def decayed(params, gradients, velocities, lr, momentum, decay, biases=False):
    """Return what one step by the library makes of copies; `biases`: they decay too."""
    own, kept = ([np.array(a, dtype=float) for a in arrays] for arrays in (params, velocities))
    decays = [decay if biases or p.ndim > 1 else 0.0 for p in own]
    ops.sgd_step(own, [np.asarray(g, dtype=float) for g in gradients], lr, momentum, kept, decays)
    return own, kept


def dropped(x, dy, u, rate, training, y_factor=None, dx_factor=None, flip=False, used=1.0):
    """Return (y, dx); factors of what stays, 1 / (1 - rate) unless given; `used` multiplies in use."""
    if not training:
        return x * used, dy * used
    stays = (np.asarray(u) < rate) if flip else (np.asarray(u) >= rate)
    usual = 1 / (1 - rate)
    factors = [usual if f is None else f for f in (y_factor, dx_factor)]
    return tuple(np.where(stays, a * f, 0.0) for a, f in zip((x, dy), factors, strict=True))


def adam(w, gradients, lr, beta1, beta2, eps, first=1):
    """Return the path by the library's step, one call a row; `first`: the number of the first step."""
    path = [np.array(w, dtype=float)]
    m, v = np.zeros(len(w)), np.zeros(len(w))
    for t, gradient in enumerate(np.asarray(gradients, dtype=float), start=first):
        moved = path[-1].copy()
        ops.adam_step([moved], [gradient], lr, [m], [v], t, beta1, beta2, eps)
        path.append(moved)
    return np.array(path)


def rates(steps, warm, lr, climb=lambda k, warm: (k + 1) / warm, share=None):
    """Return the rate of each step: a climb, then a quarter of a squared cosine."""
    k = np.arange(steps)
    share = share or (lambda k, steps, warm: (k - warm) / (steps - warm))
    with np.errstate(all="ignore"):
        later = lr * np.cos(np.pi / 2 * share(k, steps, warm)) ** 2
        return np.where(k < warm, lr * climb(k, max(warm, 1)), later)


def examined(outputs, spread=None, dead=None, turn=False, ends=None):
    """Return the spread of each layer, its share of dead neurons, and the verdict."""
    spread = spread or (lambda a: np.linalg.norm(a) / np.sqrt(a.size))
    dead = dead or (lambda a: 1 - np.count_nonzero(np.any(a != 0, axis=0)) / a.shape[1])
    arrays = [np.asarray(a, dtype=float) for a in outputs]
    spreads = np.array([spread(a) for a in arrays])
    first, last = ends(spreads) if ends else (spreads[0], spreads[-1])
    ratio = first / last if turn and last else last / first
    verdict = "fades" if ratio < 0.1 else "explodes" if ratio > 10 else "arrives"
    return spreads, np.array([dead(a) for a in arrays]), verdict
