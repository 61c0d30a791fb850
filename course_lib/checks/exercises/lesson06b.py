"""Exercises of lesson 06b, making it train: public cases, and the usual mistakes.

Source: He et al. (2015); LeCun et al. (1998); Kingma and Ba (2015); Loshchilov and Hutter (2017, 2019); Srivastava et
al. (2014).
"""

import numpy as np

from course_lib import reference as ops
from course_lib.checks.exercise import Case, Cause, Exercise, TextQuestion
from course_lib.data import fit_standardiser


def _fan_in(shape):
    return shape[0] if len(shape) == 2 else int(np.prod(shape[1:]))


def _fan_out(shape):
    return shape[1] if len(shape) == 2 else shape[0] * int(np.prod(shape[2:]))


def _deviation(shape, count=_fan_in, over=2.0):
    return float(np.sqrt(over / count(shape)))


def _standardised(x_train, x_new, fit=None, axis=0):
    """Both, by the numbers of the first; `fit` other arrays that a mistake measures."""
    of = fit or (x_train, x_train)
    arrays = [np.asarray(a, dtype=float) for a in (x_train, x_new)]
    rules = [fit_standardiser(np.asarray(a, dtype=float), axis=axis) for a in of]
    return tuple(rule.apply(a) for rule, a in zip(rules, arrays, strict=True))


def _scaled(x_train, x_new, scale):
    """Both minus the means of the first, divided by scale(deviations), which is never 0."""
    mean, sd = np.mean(x_train, axis=0), np.std(x_train, axis=0)
    divisor = scale(np.asarray(x_train, dtype=float), sd)
    divisor = np.where(divisor == 0, 1.0, divisor)
    return (x_train - mean) / divisor, (x_new - mean) / divisor


def _decayed(params, gradients, velocities, lr, momentum, decay, biases=False):
    """One step by the library, on copies; `biases`: they decay too."""
    own, kept = ([np.array(a, dtype=float) for a in arrays] for arrays in (params, velocities))
    decays = [decay if biases or p.ndim > 1 else 0.0 for p in own]
    ops.sgd_step(own, [np.asarray(g, dtype=float) for g in gradients], lr, momentum, kept, decays)
    return own, kept


def _decoupled(params, gradients, velocities, lr, momentum, decay):
    own, kept = _decayed(params, gradients, velocities, lr, momentum, 0.0)
    return [p - (lr * decay * w if np.ndim(w) > 1 else 0) for p, w in zip(own, params, strict=True)], kept


def _pulls(factor):
    """`_decayed` with another decay, such as twice or minus that."""
    return lambda p, g, v, lr, momentum, decay: _signed(p, g, v, lr, momentum, factor * decay)


def _signed(params, gradients, velocities, lr, momentum, decay):
    pulled = [g + decay * w if np.ndim(w) > 1 else g for g, w in zip(gradients, params, strict=True)]
    return _decayed(params, pulled, velocities, lr, momentum, 0.0)


def _old_velocity(params, gradients, velocities, lr, momentum, decay):
    _, kept = _decayed(params, gradients, velocities, lr, momentum, decay)
    return [p + v for p, v in zip(params, velocities, strict=True)], kept


def _dropped(x, dy, u, rate, training, y_factor=None, dx_factor=None, flip=False, used=1.0):
    """(y, dx); factors of what stays, 1 / (1 - rate) unless given; `used` multiplies in use."""
    if not training:
        return x * used, dy * used
    stays = (np.asarray(u) < rate) if flip else (np.asarray(u) >= rate)
    usual = 1 / (1 - rate)
    factors = [usual if f is None else f for f in (y_factor, dx_factor)]
    return tuple(np.where(stays, a * f, 0.0) for a, f in zip((x, dy), factors, strict=True))


def _safe(rate):
    return 1 / rate if rate else 1.0


def _adam(w, gradients, lr, beta1, beta2, eps, first=1):
    """The path by the library's step, one call a row; `first`: the number of the first step."""
    path = [np.array(w, dtype=float)]
    m, v = np.zeros(len(w)), np.zeros(len(w))
    for t, gradient in enumerate(np.asarray(gradients, dtype=float), start=first):
        moved = path[-1].copy()
        ops.adam_step([moved], [gradient], lr, [m], [v], t, beta1, beta2, eps)
        path.append(moved)
    return np.array(path)


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


def _rates(steps, warm, lr, climb=lambda k, warm: (k + 1) / warm, share=None):
    k = np.arange(steps)
    share = share or (lambda k, steps, warm: (k - warm) / (steps - warm))
    with np.errstate(all="ignore"):
        later = lr * np.cos(np.pi / 2 * share(k, steps, warm)) ** 2
        return np.where(k < warm, lr * climb(k, max(warm, 1)), later)


def _examined(outputs, spread=None, dead=None, turn=False, ends=None):
    spread = spread or (lambda a: np.linalg.norm(a) / np.sqrt(a.size))
    dead = dead or (lambda a: 1 - np.count_nonzero(np.any(a != 0, axis=0)) / a.shape[1])
    arrays = [np.asarray(a, dtype=float) for a in outputs]
    spreads = np.array([spread(a) for a in arrays])
    first, last = ends(spreads) if ends else (spreads[0], spreads[-1])
    ratio = first / last if turn and last else last / first
    verdict = "fades" if ratio < 0.1 else "explodes" if ratio > 10 else "arrives"
    return spreads, np.array([dead(a) for a in arrays]), verdict


_OUTPUTS = [
    np.array([[3.0, 0.0, 4.0], [0.0, 0.0, 0.0]]),
    np.array([[0.0, 0.0], [0.3, 0.4]]),
]
_LAYER = (np.array([[1.0, -2.0], [0.5, 4.0]]), np.array([1.0, -1.0]))
_SLOPES = (np.array([[0.2, 0.4], [-0.1, 0.0]]), np.array([0.3, 0.0]))
_STILL = (np.zeros((2, 2)), np.zeros(2))

EXERCISES = (
    Exercise(
        id="06b.1",
        function="deviation",
        title="How large may a weight be?",
        points=2,
        level="warm-up",
        concept="the weights' deviation follows from the number of inputs of one output",
        source="He et al. (2015)",
        lines=3,
        expect=_deviation,
        cases=(
            Case(((784, 128),), "a dense layer, 784 inputs"),
            Case(((6, 1, 5, 5),), "a convolution, one map in"),
            Case(((16, 6, 5, 5),), "a convolution, six maps in"),
        ),
        causes=(
            Cause(
                "That counts the outputs which an input reaches; in the forward pass a sum grows with the inputs that "
                "reach one output.",
                lambda shape: _deviation(shape, _fan_out),
            ),
            Cause("That is the variance; the deviation is its root.", lambda shape: 2 / _fan_in(shape)),
            Cause(
                "ReLU sets half of the sums to 0; the 2 under the root makes up for that.",
                lambda shape: _deviation(shape, over=1.0),
            ),
            Cause(
                "That is the compromise with the way back, 2/(n_in + n_out); asked is the way forward.",
                lambda shape: _deviation(shape, lambda s: _fan_in(s) + _fan_out(s)),
            ),
            Cause(
                "An output of a convolution sees K_h times K_w pixels of every input map; only the maps were counted.",
                lambda shape: _deviation(shape, lambda s: s[0] if len(s) == 2 else s[1]),
            ),
            Cause(
                "An output of a convolution sees every input map; only the mask's pixels were counted.",
                lambda shape: _deviation(shape, lambda s: s[0] if len(s) == 2 else int(np.prod(s[2:]))),
            ),
            Cause(
                "M, the first number, counts the maps that come out; the inputs of one output are the others.",
                lambda shape: _deviation(shape, lambda s: s[0]),
            ),
            Cause(
                "The last number of a mask's shape was left out; it is the first one that does not count.",
                lambda shape: _deviation(shape, lambda s: int(np.prod(s[:-1]))),
            ),
        ),
        section="How large must a weight be? Three lines",
        instead_of=("he_normal",),
    ),
    Exercise(
        id="06b.2",
        function="standardise",
        title="One scale for all features",
        points=3,
        level="core",
        concept="means and deviations of the training data alone, and features that are constant",
        source="LeCun et al. (1998)",
        lines=4,
        expect=_standardised,
        cases=(
            Case((np.array([[1.0, 20.0], [3.0, 40.0]]), np.array([[2.0, 50.0]])), "two features, by hand"),
            Case(
                (np.array([[1, 5, 0], [2, 5, 8], [6, 5, 4]]), np.array([[3, 5, 4], [3, 7, 4]])),
                "whole numbers; the second feature is constant",
            ),
        ),
        causes=(
            Cause(
                "The new data were standardised by their own mean and deviation; they must get those of the training "
                "data, or the network sees other numbers than it was trained on.",
                lambda x, new: _standardised(x, new, fit=(x, new)),
            ),
            Cause(
                "Mean and deviation were measured on training and new data together; the new ones must have no say.",
                lambda x, new: _standardised(x, new, fit=(np.concatenate([x, new]),) * 2),
            ),
            Cause(
                "Each feature, a column, has a mean and a deviation of its own.",
                lambda x, new: _standardised(x, new, axis=(0, 1)),
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
        ),
        section="The scale of the inputs",
        parts=("the training data", "the new data"),
        instead_of=("fit_standardiser",),
    ),
    Exercise(
        id="06b.3",
        function="decayed_step",
        title="A step with momentum and weight decay",
        points=3,
        level="core",
        concept="the decay is part of the gradient, and of the weights' only",
        source="Loshchilov and Hutter (2019)",
        lines=6,
        expect=_decayed,
        cases=(
            Case((list(_LAYER), list(_SLOPES), list(_STILL), 0.5, 0.9, 0.1), "the first step"),
            Case(
                (
                    list(_LAYER),
                    list(_SLOPES),
                    [np.array([[0.1, 0.0], [-0.2, 0.4]]), np.array([1.0, 2.0])],
                    0.1,
                    0.5,
                    1.0,
                ),
                "velocities that are not 0",
            ),
        ),
        causes=(
            Cause(
                "The biases decay too; only weights do, the arrays with two axes.",
                lambda *args: _decayed(*args, biases=True),
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
        ),
        section="Two brakes against learning by heart",
        parts=("the parameters", "the velocities"),
        instead_of=("sgd_step",),
    ),
    Exercise(
        id="06b.4",
        function="dropout",
        title="Dropout, there and back",
        points=3,
        level="core",
        concept="the same places and the same factor on both ways, and nothing at all in use",
        source="Srivastava et al. (2014)",
        lines=4,
        expect=_dropped,
        cases=(
            Case(
                (
                    np.array([[1.0, 2.0, 3.0, 4.0]]),
                    np.array([[10.0, 20.0, 30.0, 40.0]]),
                    np.array([[0.9, 0.3, 0.5, 0.7]]),
                    0.5,
                    True,
                ),
                "in training, a rate of 0.5",
            ),
            Case(
                (
                    np.array([[1.0, -2.0], [3.0, 4.0]]),
                    np.array([[1.0, 1.0], [1.0, 2.0]]),
                    np.array([[0.1, 0.3], [0.7, 0.2]]),
                    0.2,
                    True,
                ),
                "in training, a rate of 0.2; u = 0.2 stays",
            ),
            Case(
                (np.array([[1.0, 2.0]]), np.array([[5.0, 7.0]]), np.array([[0.1, 0.9]]), 0.5, False),
                "in use",
            ),
        ),
        causes=(
            Cause(
                "What stays must be divided by 1 - rate, or the next layer's sums are smaller in training than in use.",
                lambda x, dy, u, rate, training: _dropped(x, dy, u, rate, training, 1.0, 1.0),
            ),
            Cause(
                "In use nothing is scaled: what stayed in training has been made larger already.",
                lambda x, dy, u, rate, training: _dropped(x, dy, u, rate, training, used=1 - rate),
            ),
            Cause(
                "In use nothing is scaled; here the factor of training was applied.",
                lambda x, dy, u, rate, training: _dropped(x, dy, u, rate, training, used=1 / (1 - rate)),
            ),
            Cause(
                "A number is dropped with the chance rate, so it stays where u is at least rate; these are the others.",
                lambda x, dy, u, rate, training: _dropped(x, dy, u, rate, training, flip=True),
            ),
            Cause(
                "What stays must be divided by 1 - rate, the chance to stay, not by rate.",
                lambda x, dy, u, rate, training: _dropped(x, dy, u, rate, training, _safe(rate), _safe(rate)),
            ),
            Cause(
                "On the way back, where y was dropped no gradient passes; dy went through unchanged.",
                lambda x, dy, u, rate, training: (_dropped(x, dy, u, rate, training)[0], dy),
            ),
            Cause(
                "y is x / (1 - rate) where it stays, so its slope is 1 / (1 - rate): dx needs the factor too.",
                lambda x, dy, u, rate, training: _dropped(x, dy, u, rate, training, dx_factor=1.0),
            ),
            Cause(
                "On the way back the zeros are missing: use the same places as on the way there.",
                lambda x, dy, u, rate, training: (
                    _dropped(x, dy, u, rate, training)[0],
                    dy / (1 - rate) if training else dy,
                ),
            ),
            Cause(
                "In use nothing is dropped: return x and dy as they are.",
                lambda x, dy, u, rate, training: _dropped(x, dy, u, rate, True),
            ),
            Cause(
                "Where u equals rate the number stays: u >= rate.",
                lambda x, dy, u, rate, training: _dropped(x, dy, np.where(u == rate, -1.0, u), rate, training),
            ),
        ),
        section="Two brakes against learning by heart",
        parts=("y", "dx"),
        instead_of=("dropout_forward", "dropout_backward", "Dropout"),
    ),
    Exercise(
        id="06b.5",
        function="adam_path",
        title="The path of Adam",
        points=4,
        level="stretch",
        concept="two running means, both corrected, and where the small number stands",
        source="Kingma and Ba (2015)",
        lines=9,
        expect=_adam,
        cases=(
            Case(
                (np.array([0.0, 0.0]), np.array([[3.0, -3000.0]]), 0.01, 0.9, 0.999, 1e-8),
                "one step: both weights move by lr",
            ),
            Case(
                (np.array([1, 2]), np.array([[4, 1], [-2, 1], [1, 1]]), 0.5, 0.5, 0.8, 0.1),
                "three steps, whole numbers, a large eps",
            ),
        ),
        causes=(
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
                lambda *args: _adam_otherwise(
                    *args, square=np.asarray, step=lambda m, v, eps: m / (np.sqrt(np.abs(v)) + eps)
                ),
            ),
            Cause("Steps count from 1; here the first one is 2.", lambda *args: _adam(*args, first=2)),
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
                lambda w, gradients, lr, beta1, beta2, eps: _adam(w, gradients, lr, beta2, beta1, eps),
            ),
        ),
        section="A step of its own for every weight: Adam",
        instead_of=("adam_step", "Adam"),
    ),
    Exercise(
        id="06b.6",
        function="rates",
        title="A rate that climbs and falls",
        points=2,
        level="warm-up",
        concept="a schedule: a straight line up, half a cosine down, and what is counted from where",
        source="Loshchilov and Hutter (2017)",
        lines=4,
        expect=_rates,
        cases=(
            Case((8, 4, 0.1), "half of the steps warm up"),
            Case((4, 0, 1.0), "no warm-up"),
            Case((9, 3, 0.6), "three of nine"),
        ),
        causes=(
            Cause(
                "The climb begins at 0, a step that moves nothing; step k has (k + 1)/warm of the rate.",
                lambda steps, warm, lr: _rates(steps, warm, lr, climb=lambda k, warm: k / warm),
            ),
            Cause(
                "The fall is counted from the first step; it begins when the warm-up is over.",
                lambda steps, warm, lr: _rates(steps, warm, lr, share=lambda k, steps, warm: k / steps),
            ),
            Cause(
                "The fall takes steps - warm steps; this one is drawn out over all of them.",
                lambda steps, warm, lr: _rates(steps, warm, lr, share=lambda k, steps, warm: (k - warm) / steps),
            ),
            Cause(
                "The last step would have the rate 0 and move nothing; 0 belongs to the step after the last.",
                lambda steps, warm, lr: _rates(
                    steps, warm, lr, share=lambda k, steps, warm: (k - warm) / max(steps - warm - 1, 1)
                ),
            ),
            Cause(
                "That is a whole cosine, down and up again; half of one goes from pi times 0 to pi times 1.",
                lambda steps, warm, lr: _rates(
                    steps, warm, lr, share=lambda k, steps, warm: 2 * (k - warm) / (steps - warm)
                ),
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
                lambda steps, warm, lr: _rates(steps, warm, lr) * np.where(np.arange(steps) < warm, 1, 2),
            ),
            Cause(
                "NumPy's cosine takes radians: half a turn is pi, not 180.",
                lambda steps, warm, lr: _rates(
                    steps, warm, lr, share=lambda k, steps, warm: 180 / np.pi * (k - warm) / (steps - warm)
                ),
            ),
        ),
        section="The learning rate: let it rise until it breaks",
    ),
    Exercise(
        id="06b.7",
        function="examine",
        title="Examine the layers",
        points=3,
        level="core",
        concept="the spread of a layer, its dead units, and what both say about a start",
        source="the course's own",
        lines=7,
        expect=_examined,
        cases=(
            Case((_OUTPUTS,), "two layers, two samples"),
            Case(
                ([np.array([[1.0, 0.0], [1.0, 2.0]]), np.array([[0.0, 0.0], [0.0, 0.0]])],),
                "the second layer is silent",
            ),
            Case(([np.array([[0, 1]]), np.array([[6, 0]]), np.array([[20, 30]])],), "one sample, whole numbers"),
        ),
        causes=(
            Cause(
                "The spread here is the root mean square; that is the standard deviation, which takes the mean off.",
                lambda outputs: _examined(outputs, spread=np.std),
            ),
            Cause(
                "The root is missing: that is the mean square.", lambda o: _examined(o, spread=lambda a: np.mean(a**2))
            ),
            Cause(
                "The mean is missing: the sum of squares grows with the size of the layer.",
                lambda outputs: _examined(outputs, spread=np.linalg.norm),
            ),
            Cause(
                "That is the mean size; the spread squares, takes the mean, and then the root.",
                lambda outputs: _examined(outputs, spread=lambda a: np.mean(np.abs(a))),
            ),
            Cause(
                "That is the share of numbers that are 0. A unit is dead only where it is 0 for every sample.",
                lambda outputs: _examined(outputs, dead=lambda a: np.mean(a == 0)),
            ),
            Cause(
                "That is the share of units that are 0 for some sample; a dead one is 0 for every sample.",
                lambda outputs: _examined(outputs, dead=lambda a: np.mean(np.any(a == 0, axis=0))),
            ),
            Cause(
                "Samples are rows and units are columns; these are the samples for which all units are 0.",
                lambda outputs: _examined(outputs, dead=lambda a: np.mean(np.all(a == 0, axis=1))),
            ),
            Cause(
                "That counts the dead units; asked is their share of the layer.",
                lambda outputs: _examined(outputs, dead=lambda a: float(np.sum(np.all(a == 0, axis=0)))),
            ),
            Cause(
                "The verdict is turned round: it fades where the last layer's spread is the smaller one.",
                lambda outputs: _examined(outputs, turn=True),
            ),
            Cause(
                "The verdict compares the last layer with the first, not with the one before it.",
                lambda outputs: _examined(outputs, ends=lambda s: s[-2:] if len(s) > 1 else (s[0], s[0])),
            ),
        ),
        section="Third and fourth: the signal, layer by layer",
        parts=("the spreads", "the shares of dead units", "the verdict"),
    ),
    TextQuestion(
        id="06b.8",
        title="Four patients",
        points=2,
        level="core",
        concept="which examination comes first, and what its result rules out",
        source="the course's own",
    ),
)
"""In the order of the sheet."""
