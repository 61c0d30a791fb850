"""The key of sheet 06b, making it train: hidden cases, and wrong answers with what they must be told.

Source: the course's own.
"""

import numpy as np

from course_lib.checks.exercise import Case
from course_lib.grading.keys import Key, Mutant, Part


def _features(rng, shapes):
    """Training and new data of other centres and scales, so that no feature is standardised already."""
    cases = []
    for n, m, d in shapes:
        centre, scale = rng.uniform(-9, 9, size=d), rng.uniform(0.5, 20, size=d)
        cases.append(Case(tuple(centre + scale * rng.normal(size=(rows, d)) for rows in (n, m))))
    return cases


def _layers(rng, shapes, options):
    params = [rng.normal(size=shape) for shape in shapes]
    return Case((params, *([rng.normal(size=p.shape) for p in params] for _ in range(2)), *options))


def _drops(rng, settings):
    cases = []
    for shape, rate, training in settings:
        x, dy = rng.normal(size=(2, *shape))
        cases.append(Case((x, dy, rng.uniform(size=shape).round(3), rate, training)))
    return cases


def _paths(rng, settings):
    return [
        Case((rng.normal(size=n), rng.normal(size=(steps, n)) * rng.uniform(0.01, 50, size=n), *options))
        for n, steps, options in settings
    ]


def _networks(rng, settings):
    """Outputs of layers whose spread changes by a factor from one to the next, some of their units dead."""
    cases = []
    for rows, sizes, factor in settings:
        outputs = []
        for k, n in enumerate(sizes):
            a = factor**k * np.maximum(rng.normal(size=(rows, n)), 0)
            a[:, rng.uniform(size=n) < 0.3] = 0
            a[0, 0] += factor**k
            outputs.append(a)
        cases.append(Case((outputs,)))
    return cases


def _changed(text, old, new):
    if old not in text:
        raise ValueError(f"{old!r} is not in the answer.")
    return text.replace(old, new)


STANDARDISE = """def standardise(x_train, x_new):
    mean, sd = x_train.mean(axis=0), x_train.std(axis=0)
    sd = np.where(sd == 0, 1, sd)
    return (x_train - mean) / sd, (x_new - mean) / sd"""

STEP = """def decayed_step(params, gradients, velocities, lr, momentum, decay):
    moved, kept = [], []
    for p, g, v in zip(params, gradients, velocities):
        slope = g + decay * p if p.ndim > 1 else g
        new = momentum * v - lr * slope
        moved.append(p + new)
        kept.append(new)
    return moved, kept"""

ADAM = """def adam_path(w, gradients, lr, beta1, beta2, eps):
    m, v, path = np.zeros(len(w)), np.zeros(len(w)), [w]
    for t, g in enumerate(gradients, start=1):
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g**2
        step = lr * (m / (1 - beta1**t)) / (np.sqrt(v / (1 - beta2**t)) + eps)
        path.append(path[-1] - step)
    return np.array(path, dtype=float)"""

RATES = """def rates(steps, warm, lr):
    k = np.arange(steps)
    climb = (k + 1) / max(warm, 1)
    fall = (1 + np.cos(np.pi * (k - warm) / (steps - warm))) / 2
    return lr * np.where(k < warm, climb, fall)"""

EXAMINE = """def examine(outputs):
    spreads = np.array([np.sqrt(np.mean(a**2)) for a in outputs])
    dead = np.array([(a == 0).all(axis=0).mean() for a in outputs])
    ratio = spreads[-1] / spreads[0]
    return spreads, dead, "fades" if ratio < 0.1 else "explodes" if ratio > 10 else "arrives\""""

DROPOUT = """def dropout(x, dy, u, rate, training):
    if not training:
        return x, dy
    factor = (u >= rate) / (1 - rate)
    return x * factor, dy * factor"""

KEYS = (
    Key(
        "06b.1",
        parts=(
            Part(
                "other layers", 2, lambda rng: [Case((s,)) for s in ((100, 10), (3, 50), (16, 6, 5, 5), (4, 7, 3, 3))]
            ),
            Part(
                "masks that are not square", 1, lambda rng: [Case((s,)) for s in ((8, 3, 1, 7), (5, 2, 4, 3), (1, 1))]
            ),
        ),
        mutants=(
            Mutant(
                "fan-out",
                """def deviation(shape):
    outputs = shape[1] if len(shape) == 2 else shape[0] * np.prod(shape[2:])
    return np.sqrt(2 / outputs)""",
                "grows with the inputs that reach one output",
            ),
            Mutant(
                "no root",
                """def deviation(shape):
    return 2 / (shape[0] if len(shape) == 2 else np.prod(shape[1:]))""",
                "That is the variance",
            ),
            Mutant(
                "no 2",
                """def deviation(shape):
    return np.sqrt(1 / (shape[0] if len(shape) == 2 else np.prod(shape[1:])))""",
                "ReLU sets half of the sums to 0",
            ),
            Mutant(
                "Glorot",
                """def deviation(shape):
    area = np.prod(shape[2:])
    return np.sqrt(2 / (area * (shape[0] + shape[1])))""",
                "compromise with the way back",
            ),
            Mutant(
                "only the maps",
                """def deviation(shape):
    return np.sqrt(2 / (shape[0] if len(shape) == 2 else shape[1]))""",
                "only the maps were counted",
            ),
            Mutant(
                "only the mask",
                """def deviation(shape):
    return np.sqrt(2 / (shape[0] if len(shape) == 2 else shape[2] * shape[3]))""",
                "only the mask's pixels were counted",
            ),
            Mutant(
                "always the first number",
                """def deviation(shape):
    return np.sqrt(2 / shape[0])""",
                "counts the maps that come out",
            ),
            Mutant(
                "all but the last",
                """def deviation(shape):
    return np.sqrt(2 / np.prod(shape[:-1]))""",
                "it is the first one that does not count",
            ),
        ),
    ),
    Key(
        "06b.2",
        parts=(
            Part("other data", 2, lambda rng: _features(rng, [(6, 4, 3), (20, 5, 7), (9, 30, 2)])),
            Part(
                "constant features, one sample",
                1,
                lambda rng: [
                    Case((np.array([[4.0, 0.5], [4.0, 0.25], [4.0, 8.0]]), np.array([[4.5, 1.0], [3.0, 0.5]]))),
                    Case((np.array([[7, -2, 0]]), np.array([[7, 1, 2], [9, -2, 0]]))),
                    Case((np.zeros((3, 2)), np.array([[0.0, 5.0]]))),
                ],
            ),
        ),
        mutants=(
            Mutant(
                "test statistics",
                """def standardise(x_train, x_new):
    def own(x):
        sd = x.std(axis=0)
        return (x - x.mean(axis=0)) / np.where(sd == 0, 1, sd)
    return own(x_train), own(x_new)""",
                "standardised by their own mean and deviation",
            ),
            Mutant(
                "statistics of all",
                """def standardise(x_train, x_new):
    both = np.concatenate([x_train, x_new])
    mean, sd = both.mean(axis=0), both.std(axis=0)
    sd = np.where(sd == 0, 1, sd)
    return (x_train - mean) / sd, (x_new - mean) / sd""",
                "the new ones must have no say",
            ),
            Mutant(
                "divides by 0",
                _changed(STANDARDISE, "    sd = np.where(sd == 0, 1, sd)\n", ""),
                "There are NaN or infinite values",
            ),
            Mutant(
                "one mean for all",
                _changed(STANDARDISE, "x_train.mean(axis=0), x_train.std(axis=0)", "x_train.mean(), x_train.std()"),
                "has a mean and a deviation of its own",
            ),
            Mutant(
                "variance",
                _changed(STANDARDISE, "x_train.std(axis=0)", "x_train.var(axis=0)"),
                "not by the variance",
            ),
            Mutant(
                "n - 1",
                _changed(STANDARDISE, "x_train.std(axis=0)", "x_train.std(axis=0, ddof=1)"),
                "with n and not n - 1",
            ),
            Mutant(
                "a small number added",
                _changed(STANDARDISE, "np.where(sd == 0, 1, sd)", "sd + 1e-8"),
                "only those that are 0 may be replaced",
            ),
            Mutant(
                "samples instead of features",
                """def standardise(x_train, x_new):
    mean, sd = x_train.mean(axis=1, keepdims=True), x_train.std(axis=1, keepdims=True)
    return (x_train - mean) / sd, (x_new - x_new.mean(axis=1, keepdims=True)) / x_new.std(axis=1, keepdims=True)""",
                "the training data[0, 1] is 1, expected -1",
            ),
            Mutant(
                "in place",
                """def standardise(x_train, x_new):
    mean, sd = x_train.mean(axis=0), x_train.std(axis=0)
    x_train -= mean
    x_train /= np.where(sd == 0, 1, sd)
    return x_train, (x_new - mean) / np.where(sd == 0, 1, sd)""",
                "changes argument 1 in place",
            ),
        ),
    ),
    Key(
        "06b.3",
        parts=(
            Part(
                "other layers",
                2,
                lambda rng: [
                    _layers(rng, [(3, 4), (4,), (4, 2), (2,)], (0.1, 0.9, 0.01)),
                    _layers(rng, [(2, 5), (5,)], (0.5, 0.7, 0.2)),
                ],
            ),
            Part(
                "no decay, no momentum, a single row",
                1,
                lambda rng: [
                    _layers(rng, [(1, 3), (3,)], (0.1, 0.9, 0.0)),
                    _layers(rng, [(3, 1), (1,)], (0.2, 0.0, 0.5)),
                    _layers(rng, [(1, 1)], (0.3, 0.5, 0.3)),
                ],
            ),
        ),
        mutants=(
            Mutant(
                "biases decay",
                _changed(STEP, " if p.ndim > 1 else g", ""),
                "The biases decay too",
            ),
            Mutant(
                "beside the step",
                """def decayed_step(params, gradients, velocities, lr, momentum, decay):
    moved, kept = [], []
    for p, g, v in zip(params, gradients, velocities):
        new = momentum * v - lr * g
        moved.append((p * (1 - lr * decay) if p.ndim > 1 else p) + new)
        kept.append(new)
    return moved, kept""",
                "the decay is part of the gradient",
            ),
            Mutant("away from 0", _changed(STEP, "g + decay", "g - decay"), "The pull goes the wrong way"),
            Mutant("twice", _changed(STEP, "decay * p", "2 * decay * p"), "a factor 2 is too much"),
            Mutant(
                "no decay",
                _changed(STEP, "g + decay * p if p.ndim > 1 else g", "g"),
                "There is no pull at all",
            ),
            Mutant("old velocity", _changed(STEP, "p + new", "p + v"), "it moved by the old one"),
            Mutant(
                "in place",
                """def decayed_step(params, gradients, velocities, lr, momentum, decay):
    for p, g, v in zip(params, gradients, velocities):
        v *= momentum
        v -= lr * (g + decay * p if p.ndim > 1 else g)
        p += v
    return params, velocities""",
                "changes argument 1 in place",
            ),
            Mutant(
                "weights only",
                """def decayed_step(params, gradients, velocities, lr, momentum, decay):
    moved, kept = [], []
    for p, g, v in zip(params, gradients, velocities):
        if p.ndim > 1:
            v = momentum * v - lr * (g + decay * p)
            p = p + v
        moved.append(p)
        kept.append(v)
    return moved, kept""",
                "the parameters[1]",
            ),
            Mutant("swapped", _changed(STEP, "return moved, kept", "return kept, moved"), "the parameters[0]"),
        ),
    ),
    Key(
        "06b.4",
        parts=(
            Part(
                "other rates",
                2,
                lambda rng: _drops(rng, [((4, 5), 0.3, True), ((2, 3, 4), 0.8, True), ((3, 4), 0.3, False)]),
            ),
            Part(
                "a rate of 0, numbers at the border",
                1,
                lambda rng: [
                    *_drops(rng, [((3, 3), 0.0, True), ((2, 2), 0.0, False)]),
                    Case(
                        (np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0]), np.array([0.25, 0.0, 0.75]), 0.25, True)
                    ),
                ],
            ),
        ),
        mutants=(
            Mutant(
                "no scaling",
                _changed(DROPOUT, "(u >= rate) / (1 - rate)", "(u >= rate)"),
                "What stays must be divided by 1 - rate, or",
            ),
            Mutant(
                "scaled in use too",
                _changed(DROPOUT, "return x, dy", "return x * (1 - rate), dy * (1 - rate)"),
                "has been made larger already",
            ),
            Mutant(
                "training's factor in use",
                _changed(DROPOUT, "return x, dy", "return x / (1 - rate), dy / (1 - rate)"),
                "here the factor of training was applied",
            ),
            Mutant(
                "drops the others",
                _changed(DROPOUT, "u >= rate", "u < rate"),
                "these are the others",
            ),
            Mutant(
                "divided by rate",
                _changed(DROPOUT, "/ (1 - rate)", "/ rate"),
                "not by rate",
            ),
            Mutant(
                "gradient unchanged",
                _changed(DROPOUT, "dy * factor", "dy"),
                "dy went through unchanged",
            ),
            Mutant(
                "gradient not scaled",
                _changed(DROPOUT, "dy * factor", "dy * (u >= rate)"),
                "dx needs the factor too",
            ),
            Mutant(
                "gradient without zeros",
                _changed(DROPOUT, "dy * factor", "dy / (1 - rate)"),
                "the zeros are missing",
            ),
            Mutant(
                "its own random numbers",
                """def dropout(x, dy, u, rate, training):
    if not training:
        return x, dy
    factor = (np.random.default_rng(0).uniform(size=x.shape) >= rate) / (1 - rate)
    return x * factor, dy * factor""",
                "y[0, 2] is 0, expected 6; 2 of 4",
            ),
            Mutant(
                "drops in use",
                _changed(DROPOUT, "    if not training:\n        return x, dy\n", ""),
                "In use nothing is dropped",
            ),
            Mutant(
                "border dropped",
                _changed(DROPOUT, "u >= rate", "u > rate"),
                "Where u equals rate the number stays",
            ),
        ),
    ),
    Key(
        "06b.5",
        parts=(
            Part(
                "longer paths",
                2,
                lambda rng: _paths(
                    rng,
                    [(3, 8, (0.01, 0.9, 0.999, 1e-8)), (2, 5, (0.3, 0.5, 0.9, 1e-6)), (1, 4, (1.0, 0.9, 0.5, 1e-8))],
                ),
            ),
            Part(
                "gradients of 0, no step, no memory",
                1,
                lambda rng: [
                    Case(
                        (np.array([1.0, -2.0]), np.array([[0.0, 4.0], [0.0, 0.0], [0.0, -1.0]]), 0.1, 0.9, 0.99, 1e-8)
                    ),
                    Case((np.array([3, 4]), np.zeros((0, 2)), 0.1, 0.9, 0.999, 1e-8)),
                    Case((np.array([1.0]), np.array([[2.0], [-3.0]]), 0.1, 0.0, 0.0, 1e-3)),
                ],
            ),
        ),
        mutants=(
            Mutant(
                "no correction",
                _changed(_changed(ADAM, " / (1 - beta1**t)", ""), " / (1 - beta2**t)", ""),
                "m and v begin at 0 and are too small at first",
            ),
            Mutant("v not corrected", _changed(ADAM, " / (1 - beta2**t)", ""), "v is not corrected"),
            Mutant("m not corrected", _changed(ADAM, " / (1 - beta1**t)", ""), "m is not corrected"),
            Mutant(
                "eps inside the root",
                _changed(ADAM, "(np.sqrt(v / (1 - beta2**t)) + eps)", "np.sqrt(v / (1 - beta2**t) + eps)"),
                "not to what is under it",
            ),
            Mutant(
                "no root",
                _changed(ADAM, "np.sqrt(v / (1 - beta2**t))", "v / (1 - beta2**t)"),
                "the root is missing",
            ),
            Mutant(
                "t from 0",
                _changed(ADAM, "start=1", "start=0"),
                "There are NaN or infinite values",
            ),
            Mutant("t from 2", _changed(ADAM, "start=1", "start=2"), "Steps count from 1"),
            Mutant("climbs", _changed(ADAM, "path[-1] - step", "path[-1] + step"), "This climbs"),
            Mutant(
                "no memory",
                _changed(
                    ADAM,
                    "enumerate(gradients, start=1):\n",
                    "enumerate(gradients, start=1):\n        t, m, v = 1, 0, 0\n",
                ),
                "are m and v kept from step to step?",
            ),
            Mutant(
                "not squared",
                _changed(_changed(ADAM, "g**2", "g"), "np.sqrt(v", "np.sqrt(abs(v)"),
                "here the gradients were not squared",
            ),
            Mutant(
                "keeps the corrected ones",
                """def adam_path(w, gradients, lr, beta1, beta2, eps):
    m, v, path = np.zeros(len(w)), np.zeros(len(w)), [w]
    for t, g in enumerate(gradients, start=1):
        m = (beta1 * m + (1 - beta1) * g) / (1 - beta1**t)
        v = (beta2 * v + (1 - beta2) * g**2) / (1 - beta2**t)
        path.append(path[-1] - lr * m / (np.sqrt(v) + eps))
    return np.array(path, dtype=float)""",
                "here they were kept, and corrected again",
            ),
            Mutant(
                "writes into the start",
                _changed(
                    ADAM, "        path.append(path[-1] - step)", "        w -= step\n        path.append(w.copy())"
                ),
                "changes argument 1 in place",
            ),
            Mutant(
                "betas exchanged",
                _changed(ADAM, "lr, beta1, beta2, eps)", "lr, beta2, beta1, eps)"),
                "beta1 and beta2 are exchanged",
            ),
        ),
    ),
    Key(
        "06b.6",
        parts=(
            Part("other lengths", 2, lambda rng: [Case(a) for a in ((12, 5, 0.3), (30, 2, 0.01), (7, 6, 2.0))]),
            Part("no warm-up, one step", 1, lambda rng: [Case(a) for a in ((6, 0, 0.5), (1, 0, 0.1), (2, 1, 1.0))]),
        ),
        mutants=(
            Mutant("climbs from 0", _changed(RATES, "(k + 1) / max", "k / max"), "The climb begins at 0"),
            Mutant(
                "falls from the first step",
                _changed(RATES, "(k - warm) / (steps - warm)", "k / steps"),
                "it begins when the warm-up is over",
            ),
            Mutant("drawn out", _changed(RATES, "/ (steps - warm)", "/ steps"), "drawn out over all of them"),
            Mutant(
                "ends at 0",
                _changed(RATES, "/ (steps - warm)", "/ max(steps - warm - 1, 1)"),
                "0 belongs to the step after the last",
            ),
            Mutant("whole cosine", _changed(RATES, "np.pi *", "2 * np.pi *"), "That is a whole cosine"),
            Mutant(
                "straight down",
                _changed(
                    RATES, "(1 + np.cos(np.pi * (k - warm) / (steps - warm))) / 2", "1 - (k - warm) / (steps - warm)"
                ),
                "A straight line down",
            ),
            Mutant("not halved", _changed(RATES, " / 2", ""), "1 + cos goes from 2 to 0"),
            Mutant(
                "degrees",
                _changed(RATES, "np.pi *", "180 *"),
                "takes radians",
            ),
            Mutant("a share of lr", _changed(RATES, "lr * ", ""), "It is 10 times what was expected"),
        ),
    ),
    Key(
        "06b.7",
        parts=(
            Part(
                "other networks",
                2,
                lambda rng: _networks(
                    rng, [(6, (5, 8, 4), 0.2), (9, (7, 7, 7, 7), 3.0), (4, (3, 6), 1.0), (5, (4, 4, 4, 4, 4), 0.7)]
                ),
            ),
            Part(
                "one layer, near the limits",
                1,
                lambda rng: [
                    Case(([np.array([[0.0, 2.0], [0.0, 2.0]])],)),
                    Case(([np.array([[1.0]]), np.array([[0.11]])],)),
                    Case(([np.array([[1.0]]), np.array([[9.0]])],)),
                    Case(([np.array([[1, 1]]), np.array([[1000, 0]]), np.array([[1, 2]])],)),
                ],
            ),
        ),
        mutants=(
            Mutant(
                "standard deviation",
                _changed(EXAMINE, "np.sqrt(np.mean(a**2))", "a.std()"),
                "which takes the mean off",
            ),
            Mutant("no root", _changed(EXAMINE, "np.sqrt(np.mean(a**2))", "np.mean(a**2)"), "The root is missing"),
            Mutant("no mean", _changed(EXAMINE, "np.mean(a**2)", "np.sum(a**2)"), "The mean is missing"),
            Mutant(
                "share of zeros", _changed(EXAMINE, "(a == 0).all(axis=0)", "(a == 0)"), "share of numbers that are 0"
            ),
            Mutant("zero once", _changed(EXAMINE, ".all(axis=0)", ".any(axis=0)"), "0 for some sample"),
            Mutant("rows", _changed(EXAMINE, "all(axis=0)", "all(axis=1)"), "units are columns"),
            Mutant(
                "counts", _changed(EXAMINE, "all(axis=0).mean()", "all(axis=0).sum() * 1.0"), "That counts the dead"
            ),
            Mutant(
                "turned round",
                _changed(EXAMINE, "spreads[-1] / spreads[0]", "spreads[0] / spreads[-1]"),
                "The verdict is turned round",
            ),
            Mutant(
                "the one before",
                _changed(EXAMINE, "spreads[-1] / spreads[0]", "spreads[-1] / spreads[-2:][0]"),
                "not with the one before it",
            ),
            Mutant(
                "mean size",
                _changed(EXAMINE, "np.sqrt(np.mean(a**2))", "np.mean(np.abs(a))"),
                "That is the mean size",
            ),
        ),
    ),
)
"""In the order of the sheet."""
