"""The key of sheet 06, training an MLP: hidden cases, and wrong answers with what they must be told.

Source: the course's own.
"""

import numpy as np

from course_lib.checks.exercise import Case
from course_lib.checks.values import Seeded
from course_lib.data import load_digits
from course_lib.grading.keys import Key, Mutant, Part


def _scores(rng, shapes):
    return [Case((3 * rng.normal(size=shape), float(tau))) for shape, tau in shapes]


def _crowds(rng, shapes):
    votes = [rng.integers(0, 9, size=shape) for shape in shapes]
    return [Case((2 * rng.normal(size=v.shape), v + (v.sum(axis=1, keepdims=True) == 0))) for v in votes]


def _valleys(rng, sizes):
    return [
        Case((rng.normal(size=n), rng.uniform(0.1, 8, size=n), float(rng.uniform(0.05, 0.2)), momentum, steps))
        for n, momentum, steps in sizes
    ]


def _losses(rng, lengths):
    falling = [(2 / (1 + np.arange(n)) + rng.uniform(0, 0.5, size=n)).round(2).tolist() for n in lengths]
    return [Case((losses, patience)) for losses in falling for patience in (1, 2, 4)]


def _readings(rng, sizes):
    cases = []
    for n, names in sizes:
        labels, answers = rng.choice(names, n), rng.choice(names, n)
        answers = np.where(rng.uniform(size=n) < 0.5, labels, answers)
        cases.append(Case((labels, answers, [int(name) for name in names])))
    return cases


def _start(rng, sizes, scale):
    w1, w2 = (rng.normal(size=shape) * scale for shape in (sizes[:2], sizes[1:]))
    return w1, rng.normal(size=sizes[1]) * scale, w2, rng.normal(size=sizes[2]) * scale


def _clouds(rng, shapes):
    """Points around three or more centres, other sizes of everything, last batches that are smaller."""
    cases = []
    for n, d, hidden, classes, batch_size, epochs in shapes:
        y, y_new = rng.integers(classes, size=n), rng.integers(classes, size=9)
        centres = 2 * rng.normal(size=(classes, d))
        x, x_new = (centres[labels] + rng.normal(size=(len(labels), d)) for labels in (y, y_new))
        start = _start(rng, (d, hidden, classes), 0.5)
        cases.append(Case((x, y, x_new, y_new, start, 0.1, 0.8, batch_size, epochs, Seeded(int(rng.integers(99))))))
    return cases


def _dead(case):
    """The same samples, and a hidden neuron without weights and bias: its sum is exactly 0 for all of them."""
    w1, b1, w2, b2 = case.args[4]
    w1, b1 = w1.copy(), b1.copy()
    w1[:, 0], b1[0] = 0, 0
    return Case((*case.args[:4], (w1, b1, w2, b2), *case.args[5:]))


def _digits(rng):
    digits = load_digits(3)
    x, x_new = digits.x_train[:1010].astype(float), digits.x_test[:300].astype(float)
    start = _start(rng, (784, 20, 10), 0.05)
    return [Case((x, digits.y_train[:1010], x_new, digits.y_test[:300], start, 0.1, 0.9, 50, 4, Seeded(8)))]


LOOP = """def train_mlp(x, y, x_new, y_new, params, lr, momentum, batch_size, epochs, rng):
    params = [p.copy() for p in params]
    velocities = [np.zeros_like(p) for p in params]
    w1, b1, w2, b2 = params
    for _ in range(epochs):
        order = rng.permutation(len(x))
        for start in range(0, len(x), batch_size):
            batch = order[start:start + batch_size]
            z = x[batch] @ w1 + b1
            a = np.maximum(z, 0)
            g = a @ w2 + b2
            dg = (ops.softmax(g) - np.eye(len(b2))[y[batch]]) / len(batch)
            da = dg @ w2.T
            dz = da * (z > 0)
            gradients = (x[batch].T @ dz, dz.sum(axis=0), a.T @ dg, dg.sum(axis=0))
            for p, v, gradient in zip(params, velocities, gradients):
                v *= momentum
                v -= lr * gradient
                p += v
    scores = np.maximum(x_new @ w1 + b1, 0) @ w2 + b2
    return params, np.mean(scores.argmax(axis=1) == y_new)
"""
"""A right loop without the library; each wrong one differs from it in one place."""


def _loop(old, new):
    if old not in LOOP:
        raise ValueError(f"{old!r} is not in the loop.")
    return LOOP.replace(old, new)


KEYS = (
    Key(
        "06.1",
        parts=(
            Part("other shapes", 2, lambda rng: _scores(rng, [((3, 5), 2.5), ((5, 2), 0.5), ((1, 10), 1.5)])),
            Part(
                "large scores, one class",
                1,
                lambda rng: [
                    Case((np.array([[1000.0, 998.0, -3000.0], [-5000.0, -5001.0, -5003.0]]), 2.0)),
                    Case((np.array([[4000, 4001], [0, 9000]]), 0.5)),
                    Case((np.array([[3.0], [-800.0]]), 4.0)),
                ],
            ),
        ),
        mutants=(
            Mutant(
                "no shift",
                """def soften(z, tau):
    powers = np.exp(z / tau)
    return powers / powers.sum(axis=1, keepdims=True)""",
                "All powers of a row overflow, or are 0",
            ),
            Mutant(
                "shift before tau",
                """def soften(z, tau):
    powers = np.exp(z / tau - z.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)""",
                "first divide by tau, then subtract",
            ),
            Mutant(
                "one maximum for all",
                """def soften(z, tau):
    z = z / tau
    powers = np.exp(z - z.max())
    return powers / powers.sum(axis=1, keepdims=True)""",
                "each row needs its own maximum",
            ),
            Mutant(
                "maxima of the columns",
                """def soften(z, tau):
    z = z / tau
    powers = np.exp(z - z.max(axis=0))
    return powers / powers.sum(axis=1, keepdims=True)""",
                "The maximum of each column was subtracted",
            ),
            Mutant(
                "subtracts the smallest",
                """def soften(z, tau):
    z = z / tau
    powers = np.exp(z - z.min(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)""",
                "Less than the row's largest was subtracted",
            ),
            Mutant(
                "subtracts the mean",
                """def soften(z, tau):
    z = z / tau
    powers = np.exp(z - z.mean(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)""",
                "so that powers still overflow: subtract the largest",
            ),
            Mutant(
                "not divided",
                """def soften(z, tau):
    z = z / tau
    return np.exp(z - z.max(axis=1, keepdims=True))""",
                "These are the powers",
            ),
            Mutant(
                "logarithms",
                """def soften(z, tau):
    z = z / tau
    z = z - z.max(axis=1, keepdims=True)
    return z - np.log(np.exp(z).sum(axis=1, keepdims=True))""",
                "These are the logarithms",
            ),
            Mutant(
                "times tau",
                """def soften(z, tau):
    powers = np.exp((z - z.max(axis=1, keepdims=True)) * tau)
    return powers / powers.sum(axis=1, keepdims=True)""",
                "divided by tau, not multiplied",
            ),
            Mutant(
                "divides the powers",
                """def soften(z, tau):
    powers = np.exp(z - z.max(axis=1, keepdims=True)) / tau
    return powers / powers.sum(axis=1, keepdims=True)""",
                "The temperature has no effect",
            ),
            Mutant(
                "columns",
                """def soften(z, tau):
    powers = np.exp((z - z.max(axis=0)) / tau)
    return powers / powers.sum(axis=0)""",
                "not each column",
            ),
            Mutant(
                "whole batch",
                """def soften(z, tau):
    powers = np.exp((z - z.max()) / tau)
    return powers / powers.sum()""",
                "not the whole batch",
            ),
            Mutant(
                "the library's",
                """def soften(z, tau):
    return ops.softmax(z / tau)""",
                "which is to be written here without it",
            ),
            Mutant(
                "divides in place",
                """def soften(z, tau):
    z /= tau
    powers = np.exp(z - z.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)""",
                "changes an argument in place",
            ),
            Mutant(
                "no columns kept",
                """def soften(z, tau):
    powers = np.exp((z.T - z.max(axis=1)).T / tau)
    return powers / powers.sum(axis=1)""",
                "raises ValueError",
            ),
        ),
    ),
    Key(
        "06.2",
        parts=(
            Part("other shapes", 2, lambda rng: _crowds(rng, [(4, 3), (2, 6), (7, 2)])),
            Part(
                "ties, single votes, whole numbers",
                1,
                lambda rng: [
                    Case((np.array([[1, -2, 3]]), np.array([[1, 1, 0]]))),
                    Case((np.array([[0.5, 0.0], [3.0, -3.0], [0.0, 1.0]]), np.array([[1, 0], [5, 5], [0, 20]]))),
                ],
            ),
        ),
        mutants=(
            Mutant(
                "counts for shares",
                """def crowd_gradient(z, votes):
    return (ops.softmax(z.astype(float)) - votes) / len(z)""",
                "Votes are counts",
            ),
            Mutant(
                "sum for mean",
                """def crowd_gradient(z, votes):
    return ops.softmax(z.astype(float)) - votes / votes.sum(axis=1, keepdims=True)""",
                "this is the gradient of their sum",
            ),
            Mutant(
                "mean over classes too",
                """def crowd_gradient(z, votes):
    return (ops.softmax(z.astype(float)) - votes / votes.sum(axis=1, keepdims=True)) / z.size""",
                "not over images and classes",
            ),
            Mutant(
                "majority",
                """def crowd_gradient(z, votes):
    k = ops.softmax(z.astype(float))
    k[np.arange(len(z)), votes.argmax(axis=1)] -= 1
    return k / len(z)""",
                "Only the class with most votes was used",
            ),
            Mutant(
                "one total for all",
                """def crowd_gradient(z, votes):
    return (ops.softmax(z.astype(float)) - votes / votes.sum()) / len(z)""",
                "they were divided by that of all images",
            ),
            Mutant(
                "totals of the columns",
                """def crowd_gradient(z, votes):
    return (ops.softmax(z.astype(float)) - votes / votes.sum(axis=0)) / len(z)""",
                "the totals of the classes, the columns",
            ),
            Mutant(
                "totals not kept as a column",
                """def crowd_gradient(z, votes):
    return (ops.softmax(z.astype(float)) - votes / votes.sum(axis=1)) / len(z)""",
                "keep the totals as a column",
            ),
            Mutant(
                "softmax down the columns",
                """def crowd_gradient(z, votes):
    powers = np.exp(z.astype(float))
    return (powers / powers.sum(axis=0) - votes / votes.sum(axis=1, keepdims=True)) / len(z)""",
                "Softmax goes row by row",
            ),
            Mutant(
                "stops at the probabilities",
                """def crowd_gradient(z, votes):
    return -votes / votes.sum(axis=1, keepdims=True) / ops.softmax(z.astype(float)) / len(z)""",
                "go on through softmax to the scores",
            ),
            Mutant(
                "diagonal of the Jacobian",
                """def crowd_gradient(z, votes):
    k, q = ops.softmax(z.astype(float)), votes / votes.sum(axis=1, keepdims=True)
    return (-q / k) * k * (1 - k) / len(z)""",
                "Every score acts on all probabilities",
            ),
            Mutant(
                "mean over votes",
                """def crowd_gradient(z, votes):
    return (ops.softmax(z.astype(float)) - votes / votes.sum(axis=1, keepdims=True)) / votes.sum()""",
                "this divides by the number of votes",
            ),
            Mutant(
                "images weighted by their votes",
                """def crowd_gradient(z, votes):
    return (votes.sum(axis=1, keepdims=True) * ops.softmax(z.astype(float)) - votes) / votes.sum()""",
                "Every image counts once",
            ),
            Mutant(
                "sum over votes",
                """def crowd_gradient(z, votes):
    return (votes.sum(axis=1, keepdims=True) * ops.softmax(z.astype(float)) - votes) / len(z)""",
                "An image with more votes weighs more here",
            ),
            Mutant(
                "wrong sign",
                """def crowd_gradient(z, votes):
    return (votes / votes.sum(axis=1, keepdims=True) - ops.softmax(z.astype(float))) / len(z)""",
                "It has the wrong sign.",
            ),
            Mutant(
                "whole numbers into softmax",
                """def crowd_gradient(z, votes):
    k = (np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)).astype(int)
    return (k - votes / votes.sum(axis=1, keepdims=True)) / len(z)""",
                "result[0, 0] is 0, expected 0.665",
            ),
        ),
    ),
    Key(
        "06.3",
        parts=(
            Part("other valleys", 2, lambda rng: _valleys(rng, [(3, 0.9, 6), (1, 0.3, 9), (5, 0.8, 3)])),
            Part(
                "no momentum, no steps, whole numbers",
                1,
                lambda rng: [
                    *_valleys(rng, [(2, 0.0, 5), (4, 0.9, 0)]),
                    Case((np.array([3, -5, 7]), np.array([1, 2, 4]), 0.1, 0.9, 5)),
                ],
            ),
        ),
        mutants=(
            Mutant(
                "moves first",
                """def valley(w, curvature, lr, momentum, steps):
    v, path = np.zeros(len(w)), [w]
    for _ in range(steps):
        gradient = curvature * w
        w = w + v
        v = momentum * v - lr * gradient
        path.append(w)
    return np.array(path, dtype=float)""",
                "it moved by the one of the step before",
            ),
            Mutant(
                "dampened gradient",
                """def valley(w, curvature, lr, momentum, steps):
    v, path = np.zeros(len(w)), [w]
    for _ in range(steps):
        v = momentum * v - (1 - momentum) * lr * curvature * w
        w = w + v
        path.append(w)
    return np.array(path, dtype=float)""",
                "not with lr (1 - momentum)",
            ),
            Mutant(
                "velocity begins anew",
                """def valley(w, curvature, lr, momentum, steps):
    path = [w]
    for _ in range(steps):
        v = np.zeros(len(w))
        v = momentum * v - lr * curvature * w
        w = w + v
        path.append(w)
    return np.array(path, dtype=float)""",
                "is the velocity kept from step to step?",
            ),
            Mutant(
                "climbs",
                """def valley(w, curvature, lr, momentum, steps):
    v, path = np.zeros(len(w)), [w]
    for _ in range(steps):
        v = momentum * v + lr * curvature * w
        w = w + v
        path.append(w)
    return np.array(path, dtype=float)""",
                "This climbs",
            ),
            Mutant(
                "writes into the start",
                """def valley(w, curvature, lr, momentum, steps):
    v, path = np.zeros(len(w)), [w]
    for _ in range(steps):
        v = momentum * v - lr * curvature * w
        w += v
        path.append(w)
    return np.array(path, dtype=float)""",
                "changes argument 1 in place",
            ),
            Mutant(
                "the same array in every row",
                """def valley(w, curvature, lr, momentum, steps):
    w, v = w.astype(float), np.zeros(len(w))
    path = [w]
    for _ in range(steps):
        v = momentum * v - lr * curvature * w
        w += v
        path.append(w)
    return np.array(path)""",
                "the same array was stored again and again",
            ),
            Mutant(
                "without the start",
                """def valley(w, curvature, lr, momentum, steps):
    v, path = np.zeros(len(w)), []
    for _ in range(steps):
        v = momentum * v - lr * curvature * w
        w = w + v
        path.append(w)
    return np.array(path, dtype=float)""",
                "The start is missing: it is the first row.",
            ),
            Mutant(
                "gradient of the start",
                """def valley(w, curvature, lr, momentum, steps):
    v, path, gradient = np.zeros(len(w)), [w], curvature * w
    for _ in range(steps):
        v = momentum * v - lr * gradient
        w = w + v
        path.append(w)
    return np.array(path, dtype=float)""",
                "this is always that of the start",
            ),
            Mutant(
                "rates exchanged",
                """def valley(w, curvature, lr, momentum, steps):
    v, path = np.zeros(len(w)), [w]
    for _ in range(steps):
        v = lr * v - momentum * curvature * w
        w = w + v
        path.append(w)
    return np.array(path, dtype=float)""",
                "lr and momentum are exchanged",
            ),
            Mutant(
                "twice the gradient",
                """def valley(w, curvature, lr, momentum, steps):
    v, path = np.zeros(len(w)), [w]
    for _ in range(steps):
        v = momentum * v - lr * 2 * curvature * w
        w = w + v
        path.append(w)
    return np.array(path, dtype=float)""",
                "the 2 of the square cancels the half",
            ),
            Mutant(
                "the loss for its gradient",
                """def valley(w, curvature, lr, momentum, steps):
    v, path = np.zeros(len(w)), [w]
    for _ in range(steps):
        v = momentum * v - lr * 0.5 * curvature * w ** 2
        w = w + v
        path.append(w)
    return np.array(path, dtype=float)""",
                "This goes along the loss",
            ),
            Mutant(
                "no curvature",
                """def valley(w, curvature, lr, momentum, steps):
    v, path = np.zeros(len(w)), [w]
    for _ in range(steps):
        v = momentum * v - lr * w
        w = w + v
        path.append(w)
    return np.array(path, dtype=float)""",
                "The curvature is left out",
            ),
            Mutant(
                "looks ahead",
                """def valley(w, curvature, lr, momentum, steps):
    v, path = np.zeros(len(w)), [w]
    for _ in range(steps):
        v = momentum * v - lr * curvature * (w + momentum * v)
        w = w + v
        path.append(w)
    return np.array(path, dtype=float)""",
                "the lesson's rule takes it where w is",
            ),
            Mutant(
                "keeps the velocities",
                """def valley(w, curvature, lr, momentum, steps):
    v, path = np.zeros(len(w)), [w]
    for _ in range(steps):
        v = momentum * v - lr * curvature * w
        w = w + v
        path.append(v)
    return np.array(path, dtype=float)""",
                "These are the velocities",
            ),
            Mutant(
                "a path of whole numbers",
                """def valley(w, curvature, lr, momentum, steps):
    path, v = np.zeros((steps + 1, len(w)), dtype=w.dtype), np.zeros(len(w))
    path[0] = w
    for t in range(steps):
        v = momentum * v - lr * curvature * path[t]
        path[t + 1] = path[t] + v
    return path.astype(float)""",
                "An array of whole numbers keeps no fractions",
            ),
            Mutant(
                "only the end",
                """def valley(w, curvature, lr, momentum, steps):
    v = np.zeros(len(w))
    for _ in range(steps):
        v = momentum * v - lr * curvature * w
        w = w + v
    return w.astype(float)""",
                "This is the end of the path",
            ),
            Mutant(
                "a column for each moment",
                """def valley(w, curvature, lr, momentum, steps):
    v, path = np.zeros(len(w)), [w]
    for _ in range(steps):
        v = momentum * v - lr * curvature * w
        w = w + v
        path.append(w)
    return np.array(path, dtype=float).T""",
                "Each row is one moment",
            ),
        ),
    ),
    Key(
        "06.4",
        parts=(
            Part("other sizes", 2, lambda rng: [Case((n, size, Seeded(n))) for n, size in ((12, 4), (17, 5), (9, 1))]),
            Part(
                "a single batch",
                1,
                lambda rng: [Case((3, 8, Seeded(2))), Case((1, 1, Seeded(3))), Case((5, 5, Seeded(4)))],
            ),
        ),
        mutants=(
            Mutant(
                "drops the rest",
                """def batches(n, batch_size, rng):
    order = rng.permutation(n)
    return [order[i * batch_size:(i + 1) * batch_size] for i in range(n // batch_size)]""",
                "The last samples are left out",
            ),
            Mutant(
                "not shuffled",
                """def batches(n, batch_size, rng):
    return [np.arange(start, min(start + batch_size, n)) for start in range(0, n, batch_size)]""",
                "The samples stand in their old order.",
            ),
            Mutant(
                "equal pieces",
                """def batches(n, batch_size, rng):
    return np.array_split(rng.permutation(n), -(-n // batch_size))""",
                "these were made equally long",
            ),
            Mutant(
                "a draw for each batch",
                """def batches(n, batch_size, rng):
    return [rng.permutation(n)[:min(batch_size, n - start)] for start in range(0, n, batch_size)]""",
                "samples come twice or never",
            ),
            Mutant(
                "batch_size batches",
                """def batches(n, batch_size, rng):
    return np.array_split(rng.permutation(n), batch_size)""",
                "not how many batches there are",
            ),
            Mutant(
                "slices end too early",
                """def batches(n, batch_size, rng):
    order = rng.permutation(n)
    return [order[start:batch_size] for start in range(0, n, batch_size)]""",
                "A slice ends where the next batch begins",
            ),
            Mutant(
                "filled up",
                """def batches(n, batch_size, rng):
    order = rng.permutation(n)
    return [order[max(min(start, n - batch_size), 0):][:batch_size] for start in range(0, n, batch_size)]""",
                "The last batch is filled up",
            ),
            Mutant(
                "overlapping",
                """def batches(n, batch_size, rng):
    order = rng.permutation(n)
    return [order[start:start + batch_size] for start in range(n)]""",
                "The batches overlap",
            ),
            Mutant(
                "a generator",
                """def batches(n, batch_size, rng):
    order = rng.permutation(n)
    for start in range(0, n, batch_size):
        yield order[start:start + batch_size]""",
                "result is a generator, expected a list. Make a list of it",
            ),
        ),
    ),
    Key(
        "06.5",
        parts=(
            Part("longer trainings", 2, lambda rng: _losses(rng, [12, 20, 9])),
            Part(
                "edge cases",
                1,
                lambda rng: [
                    Case(([0.7], 1)),
                    Case(([0.7, 0.7], 1)),
                    Case(([0.1, 0.2, 0.3], 5)),
                    Case(([0.5, 0.6, 0.55, 0.5, 0.1], 3)),
                    Case(([3, 2, 2, 1, 1, 1], 2)),
                ],
            ),
        ),
        mutants=(
            Mutant(
                "compares with the epoch before",
                """def stop_early(val_losses, patience):
    failed = 0
    for i in range(1, len(val_losses)):
        failed = 0 if val_losses[i] < val_losses[i - 1] else failed + 1
        if failed == patience:
            run = val_losses[:i + 1]
            return len(run), run.index(min(run))
    return len(val_losses), val_losses.index(min(val_losses))""",
                "not with the epoch before",
            ),
            Mutant(
                "as low is better",
                """def stop_early(val_losses, patience):
    best = 0
    for i, loss in enumerate(val_losses):
        if loss <= val_losses[best]:
            best = i
        if i - best == patience:
            return i + 1, val_losses.index(val_losses[best])
    return len(val_losses), val_losses.index(val_losses[best])""",
                "only as low as the lowest is not better",
            ),
            Mutant(
                "one epoch too many",
                """def stop_early(val_losses, patience):
    best = 0
    for i, loss in enumerate(val_losses):
        if loss < val_losses[best]:
            best = i
        if i - best > patience:
            return i + 1, best
    return len(val_losses), best""",
                "one epoch more than there is patience for",
            ),
            Mutant(
                "best of all",
                """def stop_early(val_losses, patience):
    best = 0
    for i, loss in enumerate(val_losses):
        if loss < val_losses[best]:
            best = i
        if i - best == patience:
            return i + 1, val_losses.index(min(val_losses))
    return len(val_losses), best""",
                "looked for among those that were run",
            ),
            Mutant(
                "position for number",
                """def stop_early(val_losses, patience):
    best = 0
    for i, loss in enumerate(val_losses):
        if loss < val_losses[best]:
            best = i
        if i - best == patience:
            break
    return i, best""",
                "the position of the last one is one less",
            ),
            Mutant(
                "failures in all",
                """def stop_early(val_losses, patience):
    best, failed = 0, 0
    for i in range(1, len(val_losses)):
        if val_losses[i] < val_losses[best]:
            best = i
        else:
            failed += 1
        if failed == patience:
            return i + 1, best
    return len(val_losses), best""",
                "Failures count only in a row",
            ),
            Mutant(
                "exchanged",
                """def stop_early(val_losses, patience):
    best = 0
    for i, loss in enumerate(val_losses):
        if loss < val_losses[best]:
            best = i
        if i - best == patience:
            return best, i + 1
    return best, len(val_losses)""",
                "The two numbers are exchanged",
            ),
            Mutant(
                "best from 1",
                """def stop_early(val_losses, patience):
    best = 0
    for i, loss in enumerate(val_losses):
        if loss < val_losses[best]:
            best = i
        if i - best == patience:
            return i + 1, best + 1
    return len(val_losses), best + 1""",
                "The best epoch is counted from 0",
            ),
            Mutant(
                "the lowest loss",
                """def stop_early(val_losses, patience):
    best = 0
    for i, loss in enumerate(val_losses):
        if loss < val_losses[best]:
            best = i
        if i - best == patience:
            return i + 1, val_losses[best]
    return len(val_losses), val_losses[best]""",
                "not that loss",
            ),
            Mutant(
                "the latest of equals",
                """def stop_early(val_losses, patience):
    best = latest = 0
    for i, loss in enumerate(val_losses):
        if loss < val_losses[best]:
            best = i
        if loss <= val_losses[best]:
            latest = i
        if i - best == patience:
            return i + 1, latest
    return len(val_losses), latest""",
                "the earliest is the best",
            ),
            Mutant(
                "one epoch too few",
                """def stop_early(val_losses, patience):
    best = 0
    for i, loss in enumerate(val_losses):
        if loss < val_losses[best]:
            best = i
        if i - best == max(patience - 1, 1):
            return i + 1, best
    return len(val_losses), best""",
                "one epoch less than there is patience for",
            ),
            Mutant(
                "never stops",
                """def stop_early(val_losses, patience):
    return len(val_losses), val_losses.index(min(val_losses))""",
                "That is the end of the list",
            ),
        ),
    ),
    Key(
        "06.6",
        parts=(
            Part(
                "other classes",
                2,
                lambda rng: _readings(rng, [(40, [5, 2, 7]), (60, [9, 0, 4, 1, 30]), (25, [1, 0])]),
            ),
            Part(
                "empty classes, one class",
                1,
                lambda rng: [
                    Case((np.array([4, 4]), np.array([6, 6]), [6, 4, 5])),
                    Case((np.array([2, 2, 2]), np.array([2, 2, 2]), [2])),
                    Case((np.array([0, 2]), np.array([2, 0]), [2, 1, 0])),
                ],
            ),
        ),
        mutants=(
            Mutant(
                "answers in rows",
                """def per_class(labels, answers, names):
    counts = np.array([[np.sum((labels == b) & (answers == a)) for b in names] for a in names])
    return counts, np.diag(counts) / np.maximum(counts.sum(axis=1), 1)""",
                "these are the other way round",
            ),
            Mutant(
                "share of what was read",
                """def per_class(labels, answers, names):
    counts = np.array([[np.sum((labels == a) & (answers == b)) for b in names] for a in names])
    return counts, np.diag(counts) / np.maximum(counts.sum(axis=0), 1)""",
                "not of those that were read as it",
            ),
            Mutant(
                "share of all",
                """def per_class(labels, answers, names):
    counts = np.array([[np.sum((labels == a) & (answers == b)) for b in names] for a in names])
    return counts, np.diag(counts) / counts.sum()""",
                "not of all images",
            ),
            Mutant(
                "sorted classes",
                """def per_class(labels, answers, names):
    names = np.unique(names)
    counts = np.array([[np.sum((labels == a) & (answers == b)) for b in names] for a in names])
    return counts, np.diag(counts) / np.maximum(counts.sum(axis=1), 1)""",
                "Rows and columns stand in the order of names.",
            ),
            Mutant(
                "0 divided by 0",
                """def per_class(labels, answers, names):
    counts = np.array([[np.sum((labels == a) & (answers == b)) for b in names] for a in names])
    return counts, np.diag(counts) / counts.sum(axis=1)""",
                "A class without images divides 0 by 0",
            ),
            Mutant(
                "exchanged",
                """def per_class(labels, answers, names):
    counts = np.array([[np.sum((labels == a) & (answers == b)) for b in names] for a in names])
    return np.diag(counts) / np.maximum(counts.sum(axis=1), 1), counts""",
                "first the counts, then the shares",
            ),
            Mutant(
                "shares of wrong answers",
                """def per_class(labels, answers, names):
    counts = np.array([[np.sum((labels == a) & (answers == b)) for b in names] for a in names])
    return counts, 1 - np.diag(counts) / np.maximum(counts.sum(axis=1), 1)""",
                "These are the shares of wrong answers.",
            ),
            Mutant(
                "percentages",
                """def per_class(labels, answers, names):
    counts = np.array([[np.sum((labels == a) & (answers == b)) for b in names] for a in names])
    return counts, 100 * np.diag(counts) / np.maximum(counts.sum(axis=1), 1)""",
                "these are percentages",
            ),
            Mutant(
                "labels as positions",
                """def per_class(labels, answers, names):
    counts = np.zeros((len(names), len(names)), dtype=int)
    for label, answer in zip(labels, answers):
        counts[label, answer] += 1
    return counts, np.diag(counts) / np.maximum(counts.sum(axis=1), 1)""",
                "raises IndexError",
            ),
            Mutant(
                "counts each pair once",
                """def per_class(labels, answers, names):
    place = {name: i for i, name in enumerate(names)}
    counts = np.zeros((len(names), len(names)), dtype=int)
    counts[[place[n] for n in labels], [place[n] for n in answers]] += 1
    return counts, np.diag(counts) / np.maximum(counts.sum(axis=1), 1)""",
                "Each pair of label and answer is counted once",
            ),
        ),
    ),
    Key(
        "06.7",
        parts=(
            Part(
                "other networks",
                2,
                lambda rng: [
                    *_clouds(rng, [(11, 3, 5, 4, 4, 3), (8, 5, 2, 3, 3, 4), (7, 1, 6, 2, 10, 5)]),
                    *map(_dead, _clouds(rng, [(9, 4, 3, 3, 4, 2)])),
                ],
            ),
            Part("real digits", 2, _digits),
        ),
        mutants=(
            Mutant(
                "velocities begin in each epoch",
                _loop(
                    "        order = rng",
                    "        velocities = [np.zeros_like(p) for p in params]\n        order = rng",
                ),
                "here they begin again in each",
            ),
            Mutant(
                "not shuffled",
                _loop("rng.permutation(len(x))", "np.arange(len(x))"),
                "here they keep theirs",
            ),
            Mutant(
                "shuffled once",
                _loop(
                    "    for _ in range(epochs):\n        order = rng.permutation(len(x))\n",
                    "    order = rng.permutation(len(x))\n    for _ in range(epochs):\n",
                ),
                "the first one was used again",
            ),
            Mutant(
                "drops the rest",
                _loop("range(0, len(x), batch_size)", "range(0, len(x) - batch_size + 1, batch_size)"),
                "The last, smaller batch was left out.",
            ),
            Mutant(
                "sum for mean",
                _loop(" / len(batch)", ""),
                "The steps are batch_size times too long",
            ),
            Mutant(
                "no momentum",
                _loop("v *= momentum", "v *= 0"),
                "That is training without momentum.",
            ),
            Mutant(
                "accuracy of the training samples",
                _loop("x_new @ w1", "x @ w1").replace("== y_new", "== y"),
                "The accuracy is that on the training samples.",
            ),
            Mutant(
                "trains what it was given",
                _loop("[p.copy() for p in params]", "list(params)"),
                "changes argument 5 in place",
            ),
            Mutant(
                "no slope of ReLU",
                _loop("dz = da * (z > 0)", "dz = da"),
                "The slope of ReLU is missing on the way back.",
            ),
            Mutant(
                "exchanged",
                _loop("return params, np.mean(scores.argmax(axis=1) == y_new)", "return accuracy, params").replace(
                    "    return", "    accuracy = np.mean(scores.argmax(axis=1) == y_new)\n    return"
                ),
                "The two are exchanged",
            ),
            Mutant(
                "number of right answers",
                _loop("np.mean(scores.argmax(axis=1) == y_new)", "np.sum(scores.argmax(axis=1) == y_new)"),
                "this is the number of right answers",
            ),
            Mutant(
                "a percentage",
                _loop("np.mean(scores", "100 * np.mean(scores"),
                "this is a percentage",
            ),
            Mutant(
                "no softmax",
                _loop("ops.softmax(g)", "g"),
                "the scores themselves stand in the place of k",
            ),
            Mutant(
                "climbs",
                _loop("v -= lr * gradient", "v += lr * gradient"),
                "This climbs",
            ),
            Mutant(
                "mean of the bias gradients",
                _loop("dz.sum(axis=0), a.T @ dg, dg.sum(axis=0)", "dz.mean(axis=0), a.T @ dg, dg.mean(axis=0)"),
                "The gradient of a bias is the sum over the batch",
            ),
            Mutant(
                "dampened gradient",
                _loop("v -= lr * gradient", "v -= lr * (1 - momentum) * gradient"),
                "not with lr (1 - momentum)",
            ),
            Mutant(
                "a slope at 0",
                _loop("(z > 0)", "(z >= 0)"),
                "The slope of ReLU at 0 exactly counts as 0",
            ),
            Mutant(
                "steps before it is back",
                _loop(
                    "            da = dg @ w2.T\n",
                    "            for p, v, gradient in zip(params[2:], velocities[2:], (a.T @ dg, dg.sum(axis=0))):\n"
                    "                v *= momentum\n"
                    "                v -= lr * gradient\n"
                    "                p += v\n"
                    "            da = dg @ w2.T\n",
                ).replace("zip(params, velocities, gradients)", "zip(params[:2], velocities[:2], gradients[:2])"),
                "w2 has made its step before the gradients went back",
            ),
            Mutant(
                "always divides by batch_size",
                _loop(" / len(batch)", " / batch_size"),
                "the last batch may have fewer than batch_size",
            ),
        ),
    ),
)
"""In the order of the sheet."""
