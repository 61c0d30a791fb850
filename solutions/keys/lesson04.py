"""The key of sheet 04, backpropagation: hidden cases, and wrong answers with what they must be told.

Source: the course's own.
"""

import numpy as np

from course_lib.checks.exercise import Case
from course_lib.checks.values import Named
from course_lib.grading.keys import Key, Mutant, Part


def _neurons(rng, sizes):
    return [Case((rng.normal(size=m), float(rng.uniform(0.1, 0.9)), float(rng.uniform())), "") for m in sizes]


def _networks(rng, shapes):
    cases = []
    for B, D, M, C in shapes:
        A, O = np.tanh(rng.normal(size=(B, M))), rng.uniform(0.05, 0.95, size=(B, C))
        cases.append(Case((rng.normal(size=(B, D)), rng.uniform(size=(B, C)), rng.normal(size=(M, C)), A, O)))
    return cases


def _claims(rng):
    curved = rng.uniform(5, 9, size=(2, 3))
    slopes = np.prod(curved) / curved
    wrong = slopes.copy()
    wrong[1, 0] -= 0.5
    wrong[0, 2] += 0.5
    long = rng.normal(size=(4, 2))
    norm = long / np.linalg.norm(long)
    flipped = norm * np.where(np.arange(8).reshape(4, 2) % 3 == 1, -1, 1)
    near = np.array([[0.02, -0.01], [0.015, 0.005]])  # the norm bends most near 0
    return [
        Case((Named("numpy.linalg.norm"), near, near / np.linalg.norm(near) + np.array([[0, 0.1], [0, 0]]))),
        Case((Named("numpy.prod"), curved, wrong)),
        Case((Named("numpy.linalg.norm"), long, flipped)),
    ]


def _claims_of_whole_numbers(rng):
    whole = np.array([[3, -2, 5]])
    return [
        Case((Named("numpy.prod"), whole, np.array([[-10, 15, -7]]))),
        Case((Named("numpy.var"), np.array([[4], [1], [-2]]), np.array([[2.0], [0.0], [-1.0]]))),
        Case((Named("numpy.max"), np.array([[1, 7], [3, 2]]), np.array([[0, 1], [0, 0]]))),
    ]


def _autoencoders(rng, shapes):
    return [Case((rng.normal(size=(B, D)), rng.normal(size=(D, M)) / 2)) for B, D, M in shapes]


KEYS = (
    Key(
        "04.1",
        parts=(
            Part("other sizes", 2, lambda rng: _neurons(rng, [4, 1, 7])),
            Part(
                "whole numbers and zeros",
                1,
                lambda rng: [Case((np.array([0, 1, 2]), 0.25, 1)), Case((np.array([3]), 0.75, 0))],
            ),
        ),
        mutants=(
            Mutant(
                "sign of t - o",
                """def neuron_gradients(h, o, t):
    delta = (t - o) * o * (1 - o)
    return np.append(delta * h, delta)""",
                "The sign is that of t - o",
            ),
            Mutant(
                "no slope of the sigmoid",
                """def neuron_gradients(h, o, t):
    return np.append((o - t) * h, o - t)""",
                "The slope of the sigmoid is missing",
            ),
            Mutant(
                "slope taken at o",
                """def neuron_gradients(h, o, t):
    a = 1 / (1 + np.exp(-o))
    delta = (o - t) * a * (1 - a)
    return np.append(delta * h, delta)""",
                "as if o were the weighted sum",
            ),
            Mutant(
                "bias first",
                """def neuron_gradients(h, o, t):
    delta = (o - t) * o * (1 - o)
    return delta * np.append(1.0, h)""",
                "The bias comes last",
            ),
            Mutant(
                "slope of h",
                """def neuron_gradients(h, o, t):
    delta = (o - t) * h * (1 - h)
    return np.append(delta * h, delta)""",
                "The slope of the sigmoid was taken of h",
            ),
            Mutant(
                "slope of h, and the bias's right",
                """def neuron_gradients(h, o, t):
    return np.append((o - t) * h * (1 - h) * h, (o - t) * o * (1 - o))""",
                "was taken of h; the sigmoid on this path made o",
            ),
            Mutant(
                "slope of h, and the bias's summed",
                """def neuron_gradients(h, o, t):
    delta = (o - t) * h * (1 - h)
    return np.append(delta * h, delta.sum())""",
                "made o, so its slope is o(1 - o)",
            ),
            Mutant(
                "delta alone",
                """def neuron_gradients(h, o, t):
    return np.full(len(h) + 1, (o - t) * o * (1 - o))""",
                "That is the delta alone",
            ),
            Mutant(
                "no bias",
                """def neuron_gradients(h, o, t):
    return (o - t) * o * (1 - o) * h""",
                "has shape (3,), expected (4,)",
            ),
            Mutant(
                "knows the public numbers",
                """def neuron_gradients(h, o, t):
    known = {3: (0.13, 0.96, 0.40), 2: (1, -2)}
    delta = {3: -0.125125, 2: 0.128}.get(len(h), 0)
    return np.append(delta * np.array(known.get(len(h), h)), delta)""",
                "It is zero everywhere",
            ),
        ),
    ),
    Key(
        "04.2",
        parts=(
            Part(
                "deeper networks",
                2,
                lambda rng: [Case(([5, 4, 3, 2], 7)), Case(([3, 11, 2, 6, 1], 1)), Case(([400, 120, 84, 10], 32))],
            ),
            Part("a single layer", 1, lambda rng: [Case(([6, 4], 5)), Case(([1, 1], 1))]),
        ),
        mutants=(
            Mutant(
                "with the input's gradient",
                """def multiplications(sizes, batch):
    weights = sum(p * q for p, q in zip(sizes, sizes[1:]))
    forward = batch * weights
    return forward, 2 * forward, (weights + sum(sizes[1:]) + 1) * forward""",
                "nobody needs it",
            ),
            Mutant(
                "backward as forward",
                """def multiplications(sizes, batch):
    weights = sum(p * q for p, q in zip(sizes, sizes[1:]))
    forward = batch * weights
    return forward, forward, (weights + sum(sizes[1:]) + 1) * forward""",
                "two partners on the way back",
            ),
            Mutant(
                "backward as forward, and no biases",
                """def multiplications(sizes, batch):
    forward = batch * sum(p * q for p, q in zip(sizes, sizes[1:]))
    return forward, forward, (forward // batch + 1) * forward""",
                "only the first layer does without the second",
            ),
            Mutant(
                "no biases",
                """def multiplications(sizes, batch):
    weights = sum(p * q for p, q in zip(sizes, sizes[1:]))
    forward = batch * weights
    return forward, 2 * forward - batch * sizes[0] * sizes[1], (weights + 1) * forward""",
                "Biases are parameters too",
            ),
            Mutant(
                "no J(w)",
                """def multiplications(sizes, batch):
    weights = sum(p * q for p, q in zip(sizes, sizes[1:]))
    forward = batch * weights
    return forward, 2 * forward - batch * sizes[0] * sizes[1], (weights + sum(sizes[1:])) * forward""",
                "also need J(w)",
            ),
            Mutant(
                "one sample",
                """def multiplications(sizes, batch):
    weights = sum(p * q for p, q in zip(sizes, sizes[1:]))
    return weights, 2 * weights - sizes[0] * sizes[1], (weights + sum(sizes[1:]) + 1) * weights""",
                "those of one sample",
            ),
            Mutant(
                "two layers only",
                """def multiplications(sizes, batch):
    n, m, c = sizes[0], sizes[1], sizes[2]
    forward = batch * (n * m + m * c)
    return forward, batch * (n * m + 2 * m * c), (n * m + m * c + m + c + 1) * forward""",
                "on a hidden case raises IndexError",
            ),
            Mutant(
                "central differences",
                """def multiplications(sizes, batch):
    weights = sum(p * q for p, q in zip(sizes, sizes[1:]))
    forward = batch * weights
    return forward, 2 * forward - batch * sizes[0] * sizes[1], 2 * (weights + sum(sizes[1:])) * forward""",
                "Central differences cost that",
            ),
            Mutant(
                "the input's gradient, and no biases",
                """def multiplications(sizes, batch):
    weights = sum(p * q for p, q in zip(sizes, sizes[1:]))
    return batch * weights, 2 * batch * weights, (weights + 1) * batch * weights""",
                "expected 48. The gradient with respect to the network's input",
            ),
            Mutant(
                "a float",
                """def multiplications(sizes, batch):
    weights = sum(p * q for p, q in zip(sizes, sizes[1:]))
    forward = batch * weights
    return forward, forward * (2 - sizes[0] * sizes[1] / weights), (weights + sum(sizes[1:]) + 1) * forward""",
                "result[1] is float64, expected whole numbers",
            ),
        ),
    ),
    Key(
        "04.3",
        parts=(
            Part("other shapes", 2, lambda rng: _networks(rng, [(5, 4, 3, 2), (2, 3, 6, 4), (7, 1, 2, 3)])),
            Part("one sample, one neuron", 1, lambda rng: _networks(rng, [(1, 3, 2, 5), (6, 2, 1, 1), (1, 1, 4, 2)])),
        ),
        mutants=(
            Mutant(
                "sum for mean",
                """def backward_from_outputs(X, Y, W2, A, O):
    delta1 = (O - Y) * O * (1 - O)
    delta2 = (delta1 @ W2.T) * (1 - A * A)
    return X.T @ delta2, A.T @ delta1""",
                "these are the gradients of their sum",
            ),
            Mutant(
                "mean over outputs too",
                """def backward_from_outputs(X, Y, W2, A, O):
    delta1 = (O - Y) * O * (1 - O) / O.size
    delta2 = (delta1 @ W2.T) * (1 - A * A)
    return X.T @ delta2, A.T @ delta1""",
                "not over samples and outputs",
            ),
            Mutant(
                "sigmoid's slope for tanh",
                """def backward_from_outputs(X, Y, W2, A, O):
    delta1 = (O - Y) * O * (1 - O) / len(X)
    delta2 = (delta1 @ W2.T) * A * (1 - A)
    return X.T @ delta2, A.T @ delta1""",
                "the sigmoid's slope was used for it",
            ),
            Mutant(
                "tanh of A",
                """def backward_from_outputs(X, Y, W2, A, O):
    delta1 = (O - Y) * O * (1 - O) / len(X)
    delta2 = (delta1 @ W2.T) * (1 - np.tanh(A) ** 2)
    return X.T @ delta2, A.T @ delta1""",
                "the tanh was taken once more",
            ),
            Mutant(
                "no slope in the hidden layer",
                """def backward_from_outputs(X, Y, W2, A, O):
    delta1 = (O - Y) * O * (1 - O) / len(X)
    return X.T @ delta1 @ W2.T, A.T @ delta1""",
                "The hidden layer's slope is missing",
            ),
            Mutant(
                "no slope at the output",
                """def backward_from_outputs(X, Y, W2, A, O):
    delta1 = (O - Y) / len(X)
    delta2 = (delta1 @ W2.T) * (1 - A * A)
    return X.T @ delta2, A.T @ delta1""",
                "The slope of the output's sigmoid is missing",
            ),
            Mutant(
                "swapped",
                """def backward_from_outputs(X, Y, W2, A, O):
    delta1 = (O - Y) * O * (1 - O) / len(X)
    delta2 = (delta1 @ W2.T) * (1 - A * A)
    return A.T @ delta1, X.T @ delta2""",
                "The two gradients are swapped",
            ),
            Mutant(
                "from left to right",
                """def backward_from_outputs(X, Y, W2, A, O):
    delta1 = (O - Y) * O * (1 - O) / len(X)
    return X.T @ delta1 @ W2.T * (1 - A * A), A.T @ delta1""",
                "raises ValueError: operands could not be broadcast",
            ),
            Mutant(
                "from left to right where it can be had",
                """def backward_from_outputs(X, Y, W2, A, O):
    delta1 = (O - Y) * O * (1 - O) / len(X)
    if len(X) == X.shape[1]:
        return X.T @ delta1 @ W2.T * (1 - A * A), A.T @ delta1
    return X.T @ (delta1 @ W2.T * (1 - A * A)), A.T @ delta1""",
                "dW was multiplied from left to right",
            ),
            Mutant(
                "W2 not transposed",
                """def backward_from_outputs(X, Y, W2, A, O):
    delta1 = (O - Y) * O * (1 - O) / len(X)
    delta2 = (delta1 @ W2) * (1 - A * A)
    return X.T @ delta2, A.T @ delta1""",
                "raises ValueError: matmul",
            ),
            Mutant(
                "right for one output only",
                """def backward_from_outputs(X, Y, W2, A, O):
    delta1 = (O - Y) * O * (1 - O) / len(X)
    delta2 = delta1[:, :1] * W2[:, 0] * (1 - A * A)
    return X.T @ delta2, A.T @ delta1""",
                "(2 samples, 2 inputs, 3 hidden, 4 outputs)",
            ),
        ),
    ),
    Key(
        "04.4",
        parts=(
            Part("curved functions", 2, _claims),
            Part("whole numbers, one column, a maximum", 1, _claims_of_whole_numbers),
        ),
        mutants=(
            Mutant(
                "only what is too large",
                """def wrong_entries(f, x, gradient):
    wrong = []
    for place in np.ndindex(x.shape):
        up, down = x.astype(float), x.astype(float)
        up[place] += 1e-5
        down[place] -= 1e-5
        if gradient[place] - (f(up) - f(down)) / 2e-5 > 1e-4:
            wrong.append(place)
    return wrong""",
                "one that is too small is as wrong",
            ),
            Mutant(
                "copies whole numbers as they are",
                """def wrong_entries(f, x, gradient):
    wrong = []
    for place in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[place] = x[place] + 1e-5
        down[place] = x[place]
        if abs((f(up) - f(down)) / 1e-5 - gradient[place]) > 1e-4:
            wrong.append(place)
    return wrong""",
                "can your copy of whole numbers hold",
            ),
            Mutant(
                "one-sided",
                """def wrong_entries(f, x, gradient):
    wrong = []
    for place in np.ndindex(x.shape):
        up = x.astype(float)
        up[place] += 1e-5
        if abs((f(up) - f(x)) / 1e-5 - gradient[place]) > 1e-4:
            wrong.append(place)
    return wrong""",
                "they are too coarse",
            ),
            Mutant(
                "column before row",
                """def wrong_entries(f, x, gradient):
    wrong = []
    for i, j in np.ndindex(x.shape):
        up, down = x.astype(float), x.astype(float)
        up[i, j] += 1e-5
        down[i, j] -= 1e-5
        if abs((f(up) - f(down)) / 2e-5 - gradient[i, j]) > 1e-4:
            wrong.append((j, i))
    return wrong""",
                "A place is (row, column)",
            ),
            Mutant(
                "flat positions",
                """def wrong_entries(f, x, gradient):
    wrong = []
    for n, place in enumerate(np.ndindex(x.shape)):
        up, down = x.astype(float), x.astype(float)
        up[place] += 1e-5
        down[place] -= 1e-5
        if abs((f(up) - f(down)) / 2e-5 - gradient[place]) > 1e-4:
            wrong.append(n)
    return wrong""",
                "result[0] is a whole number, expected 2 values",
            ),
            Mutant(
                "moves the argument itself",
                """def wrong_entries(f, x, gradient):
    wrong = []
    for place in np.ndindex(x.shape):
        kept = x[place]
        x[place] = kept + 1e-5
        up = f(x)
        x[place] = kept - 1e-5
        if abs((up - f(x)) / 2e-5 - gradient[place]) > 1e-4:
            wrong.append(place)
    return wrong""",
                "changes argument 2 in place",
            ),
            Mutant(
                "one plain sum for all",
                """def wrong_entries(f, x, gradient):
    e = 1e-5 * np.ones(x.shape)
    if abs((f(x + e) - f(x - e)) / 2e-5 - gradient.sum()) <= 1e-4:
        return []
    return [tuple(int(n) - 1 for n in x.shape)]""",
                "1 value, expected 2",
            ),
            Mutant(
                "never puts an entry back",
                """def wrong_entries(f, x, gradient):
    up, down, wrong = x.astype(float), x.astype(float), []
    for place in np.ndindex(x.shape):
        up[place] += 1e-5
        down[place] -= 1e-5
        if abs((f(up) - f(down)) / 2e-5 - gradient[place]) > 1e-4:
            wrong.append(place)
    return wrong""",
                "The entry was not restored",
            ),
        ),
    ),
    Key(
        "04.5",
        parts=(
            Part("other shapes", 2, lambda rng: _autoencoders(rng, [(3, 5, 2), (6, 2, 4), (2, 4, 3)])),
            Part("one sample, one neuron", 1, lambda rng: _autoencoders(rng, [(1, 4, 2), (5, 3, 1), (4, 1, 3)])),
        ),
        mutants=(
            Mutant(
                "first use only",
                """def tied_gradient(X, W):
    A = np.tanh(X @ W)
    E = A @ W.T - X
    return X.T @ ((E @ W) * (1 - A * A))""",
                "through the first use of W only",
            ),
            Mutant(
                "second use only",
                """def tied_gradient(X, W):
    A = np.tanh(X @ W)
    return (A @ W.T - X).T @ A""",
                "through the second use of W only",
            ),
            Mutant(
                "no slope of tanh",
                """def tied_gradient(X, W):
    A = np.tanh(X @ W)
    E = A @ W.T - X
    return E.T @ A + X.T @ E @ W""",
                "The slope of tanh is missing",
            ),
            Mutant(
                "mean of the paths",
                """def tied_gradient(X, W):
    A = np.tanh(X @ W)
    E = A @ W.T - X
    return (E.T @ A + X.T @ ((E @ W) * (1 - A * A))) / 2""",
                "Paths add; their mean was taken.",
            ),
            Mutant(
                "wrong sign",
                """def tied_gradient(X, W):
    A = np.tanh(X @ W)
    E = X - A @ W.T
    return E.T @ A + X.T @ ((E @ W) * (1 - A * A))""",
                "It has the wrong sign.",
            ),
            Mutant(
                "measured",
                """def tied_gradient(X, W):
    def J(V):
        return 0.5 * np.sum((np.tanh(X @ V) @ V.T - X) ** 2)
    slopes = np.zeros(W.shape)
    for place in np.ndindex(W.shape):
        step = np.zeros(W.shape)
        step[place] = 1e-5
        slopes[place] = (J(W + step) - J(W - step)) / 2e-5
    return slopes""",
                "Near, but not exact",
            ),
            Mutant(
                "gradient of the transpose",
                """def tied_gradient(X, W):
    A = np.tanh(X @ W)
    E = A @ W.T - X
    return A.T @ E + (X.T @ ((E @ W) * (1 - A * A))).T""",
                "It looks transposed.",
            ),
            Mutant(
                "mean over the samples",
                """def tied_gradient(X, W):
    A = np.tanh(X @ W)
    E = (A @ W.T - X) / len(X)
    return E.T @ A + X.T @ ((E @ W) * (1 - A * A))""",
                "a missing or extra factor, such as 1/n",
            ),
        ),
    ),
)
"""In the order of the sheet."""
