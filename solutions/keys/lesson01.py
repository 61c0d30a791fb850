"""The key of the sheet on the perceptron: hidden cases, and wrong answers with what each must be told.

Source: the course's own.
"""

import numpy as np

from course_lib.checks import Case
from course_lib.grading.keys import Key, Mutant, Part

BITS3 = np.array([[i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(8)])
BITS4 = np.array([[i >> k & 1 for k in range(4)] for i in range(16)])
PARITY3, PARITY4 = BITS3.sum(axis=1) % 2, BITS4.sum(axis=1) % 2
NAND = np.array([1, 1, 1, 0])


def table(number, bits):
    """Return the labels (2^bits,) of the truth table with this number."""
    return np.array([number >> k & 1 for k in range(2**bits)])


# 01.1 ---------------------------------------------------------------------------------------------------------------


def many_points(rng):
    """Return cases of 3, 8 and 40 random points."""
    return [Case((rng.normal(size=n) * 3 + 1, rng.normal(size=n) - 2)) for n in (3, 8, 40)]


def edges_of_lines(rng):
    """Return cases with whole numbers, with a level line, and far away from 0."""
    return [
        Case((np.array([4, -1, 7, 2, 2]), np.array([0, 5, -3, 1, 4]))),
        Case((np.array([1.5, -2.0, 0.25, 6.0]), np.full(4, -1.5))),
        Case((50 + rng.normal(size=12), rng.normal(size=12) - 200)),
    ]


LINE_MUTANTS = (
    Mutant(
        "b before w",
        """def fit_line(x, y):
    dx, dy = x - x.mean(), y - y.mean()
    w = (dx @ dy) / (dx @ dx)
    return y.mean() - w * x.mean(), w
""",
        "The two numbers are swapped: return the slope w first",
    ),
    Mutant(
        "moves the points in place",
        """def fit_line(x, y):
    at, height = np.mean(x), np.mean(y)
    x -= at
    w = np.sum(x * (y - height)) / np.sum(x * x)
    return w, height - w * at
""",
        "Work on a copy that can",
    ),
    Mutant(
        "through the origin",
        """def fit_line(x, y):
    w = np.sum(x * y) / np.sum(x * x)
    return w, np.mean(y) - w * np.mean(x)
""",
        "a line through the origin",
    ),
    Mutant(
        "x from y",
        """def fit_line(x, y):
    dx, dy = x - x.mean(), y - y.mean()
    w = (dx @ dy) / (dy @ dy)
    return w, y.mean() - w * x.mean()
""",
        "predicts x from y",
    ),
    Mutant(
        "cov by n - 1, var by n",
        """def fit_line(x, y):
    w = np.cov(x, y)[0, 1] / np.var(x)
    return w, y.mean() - w * x.mean()
""",
        "divided by n and the other by n - 1",
    ),
    Mutant(
        "sign of the bias",
        """def fit_line(x, y):
    dx, dy = x - x.mean(), y - y.mean()
    w = (dx @ dy) / (dx @ dx)
    return w, w * x.mean() - y.mean()
""",
        "The bias has the wrong sign",
    ),
    Mutant(
        "line through first and last point",
        """def fit_line(x, y):
    w = (y[-1] - y[0]) / (x[-1] - x[0])
    return w, np.mean(y) - w * np.mean(x)
""",
        "on a hidden case returns wrong numbers",
    ),
    Mutant(
        "the slope alone",
        """def fit_line(x, y):
    dx, dy = x - x.mean(), y - y.mean()
    return (dx @ dy) / (dx @ dx)
""",
        "expected 2 values",
    ),
    Mutant(
        "the library's fit",
        """def fit_line(x, y):
    w, b = np.polyfit(x, y, 1)
    return w, b
""",
        "uses polyfit",
    ),
)

# 01.2 ---------------------------------------------------------------------------------------------------------------


def other_samples(rng):
    """Return cases with 1 to 6 inputs and both labels."""
    return [
        Case((float(rng.normal() * 30), rng.normal(size=d), label, float(lr)))
        for d, label, lr in ((1, 1, 0.3), (1, 0, 0.7), (3, 0, 0.1), (4, 1, 0.05), (6, 0, 2.0), (6, 1, 0.01))
        for _ in range(2)
    ]


def scores_of_zero(rng):
    """Return cases whose scores are, or become, exactly 0; and inputs that are all 0."""
    return [
        Case((0.0, np.array([2, 1]), 1, 1.0)),
        Case((0.0, np.array([2, 1]), 0, 1.0)),
        Case((6.0, np.array([1.0, -1.0]), 0, 0.5)),
        Case((-12.0, np.array([1, 1, 1]), 1, 0.25)),
        Case((-3.25, np.array([0, 0]), 1, 1.0)),
        Case((3.0, np.array([0]), 0, 1.5)),
        Case((-50_000.0, np.array([3, 0]), 1, 0.25)),
    ]


CORRECTION_MUTANTS = (
    Mutant(
        "bias input forgotten",
        """def corrections_needed(z, x, y, lr):
    size, count = lr * np.sum(x * x), 0
    while int(z >= 0) != y and count < 10_000:
        z += (2 * y - 1) * size
        count += 1
    return count
""",
        "The bias learns too",
    ),
    Mutant(
        "learning rate forgotten",
        """def corrections_needed(z, x, y, lr):
    count = 0
    while int(z >= 0) != y:
        z += (2 * y - 1) * (x @ x + 1)
        count += 1
    return count
""",
        "The learning rate scales",
    ),
    Mutant(
        "> for >=",
        """def corrections_needed(z, x, y, lr):
    count = 0
    while int(z > 0) != y:
        z += (2 * y - 1) * lr * (x @ x + 1)
        count += 1
    return count
""",
        "a score of exactly 0",
    ),
    Mutant(
        "length for its square",
        """def corrections_needed(z, x, y, lr):
    count = 0
    while int(z >= 0) != y:
        z += (2 * y - 1) * lr * np.sqrt(x @ x + 1)
        count += 1
    return count
""",
        "and not by its root",
    ),
    Mutant(
        "counts the shows",
        """def corrections_needed(z, x, y, lr):
    shows = 1
    while int(z >= 0) != y:
        z += (2 * y - 1) * lr * (x @ x + 1)
        shows += 1
    return shows
""",
        "how often the sample is shown",
    ),
    Mutant(
        "right as a float",
        """def corrections_needed(z, x, y, lr):
    count = 0.0
    while int(z >= 0) != y:
        z += (2 * y - 1) * lr * (x @ x + 1)
        count += 1
    return count
""",
        "The number is right, and it is a float",
    ),
    Mutant(
        "ceil for both labels",
        """def corrections_needed(z, x, y, lr):
    if int(z >= 0) == y:
        return 0
    return int(np.ceil(abs(z) / (lr * (x @ x + 1))))
""",
        "on a hidden case returns wrong numbers. Look at a score of exactly 0",
    ),
    Mutant(
        "ten thousand at most",
        """def corrections_needed(z, x, y, lr):
    count = 0
    while int(z >= 0) != y and count < 10_000:
        z += (2 * y - 1) * lr * (x @ x + 1)
        count += 1
    return count
""",
        "corrections_needed on a hidden case returns wrong numbers.",
    ),
    Mutant(
        "label 0 never asked",
        """def corrections_needed(z, x, y, lr):
    return max(0, int(np.ceil(-z / (lr * (x @ x + 1)))))
""",
        "(label 0): result is 0, expected 2",
    ),
    Mutant(
        "a quotient",
        """def corrections_needed(z, x, y, lr):
    return 0 if int(z >= 0) == y else abs(z) / (lr * (x @ x + 1))
""",
        "expected whole numbers",
    ),
)

# 01.3 ---------------------------------------------------------------------------------------------------------------


def other_dimensions(rng):
    """Return cases in 1, 3 and 7 dimensions with random labels."""
    return [
        Case((rng.normal(size=(n, d)), rng.integers(0, 2, n), rng.normal(size=d + 1)))
        for n, d in ((4, 1), (9, 3), (20, 7))
    ]


def right_lines(rng):
    """Return cases where every sample is on its side, one with a sample on the line, and one class alone."""
    cases = []
    for d in (2, 4):
        x, w = rng.normal(size=(11, d)), rng.normal(size=d + 1)
        cases.append(Case((x, (x @ w[:-1] + w[-1] >= 0).astype(int), w)))
    cases.append(Case((np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), NAND, np.array([-2, -1, 2]))))
    cases.append(Case((np.array([[2.0, -1.0, 3.0]]), np.array([0]), np.array([1.0, 2.0, -2.0, 0.5]))))
    return cases


MARGIN_MUTANTS = (
    Mutant(
        "the lesson's margin",
        """def margin(x, y, w):
    return np.min(np.abs(x @ w[:-1] + w[-1])) / np.linalg.norm(w[:-1])
""",
        "on the wrong side counts negative",
    ),
    Mutant(
        "bias in the norm",
        """def margin(x, y, w):
    z = x @ w[:-1] + w[-1]
    return np.min(np.where(y == 1, z, -z)) / np.linalg.norm(w)
""",
        "it has no place in the root",
    ),
    Mutant(
        "not divided",
        """def margin(x, y, w):
    z = x @ w[:-1] + w[-1]
    return np.min(np.where(y == 1, z, -z))
""",
        "a score and no distance",
    ),
    Mutant(
        "labels not used",
        """def margin(x, y, w):
    return np.min(x @ w[:-1] + w[-1]) / np.linalg.norm(w[:-1])
""",
        "their sign must be turned",
    ),
    Mutant(
        "labels as factors",
        """def margin(x, y, w):
    return np.min(y * (x @ w[:-1] + w[-1])) / np.linalg.norm(w[:-1])
""",
        "as a factor makes the distance 0",
    ),
    Mutant(
        "two inputs only",
        """def margin(x, y, w):
    z = x[:, 0] * w[0] + x[:, 1] * w[1] + w[2]
    return np.min((2 * y - 1) * z) / np.hypot(w[0], w[1])
""",
        "on a hidden case raises IndexError",
    ),
    Mutant(
        "all distances",
        """def margin(x, y, w):
    z = x @ w[:-1] + w[-1]
    return np.where(y == 1, z, -z) / np.linalg.norm(w[:-1])
""",
        "result has shape (3,), expected a number",
    ),
)

# 01.4 ---------------------------------------------------------------------------------------------------------------


def overlapping(rng):
    """Return cases without a right line: small whole numbers, so that every sum is exact."""
    return [
        Case((rng.integers(-4, 5, (n, d)), rng.integers(0, 2, n), lr, epochs))
        for n, d, lr, epochs in ((9, 1, 0.5, 3), (12, 2, 1.0, 5), (15, 4, 0.25, 4), (10, 3, 2.0, 6), (14, 2, 1.0, 3))
    ]


def edges_of_pockets(rng):
    """Return cases of one class, sample or epoch, of parity, of a learned table, and with the best in epoch 38."""
    late = np.array([[-1, 3], [5, 4], [2, -5], [-5, 1], [2, 3], [2, 4], [-1, 0], [3, -4], [5, -3], [4, 5], [1, 1]])
    return [
        Case((late, np.array([1, 0, 0, 1, 1, 1, 0, 1, 1, 0, 1]), 1.0, 40)),
        Case((np.array([[2, -3]]), np.array([1]), 1.0, 3)),
        Case((np.array([[2, -3]]), np.array([0]), 0.5, 1)),
        Case((BITS3, PARITY3, 1.0, 12)),
        Case((BITS3, (BITS3.sum(axis=1) >= 2).astype(int), 1.0, 30)),
        Case((BITS3, 1 - PARITY3, 0.5, 7)),
        Case((np.array([[1.0, 2.0], [3.0, -1.0], [-2.0, 2.0], [0.0, 1.0]]), np.array([0, 1, 0, 0]), 1.0, 1)),
    ]


def _pocket_cell(start, after, result="best, fewest", update="w = w + (y[i] - y_hat) * lr * inputs[i]"):
    return f"""def train_with_pocket(x, y, lr, epochs):
    inputs = np.hstack([x, np.ones((len(x), 1))])
    w = np.zeros(inputs.shape[1])
    {start}
    for _ in range(epochs):
        for i in range(len(y)):
            y_hat = int(inputs[i] @ w >= 0)
            if y_hat != y[i]:
                {update}
{after}
    return {result}
"""


_START = "best, fewest = w, int(np.sum((inputs @ w >= 0) != y))"
_INNER = """                mistakes = int(np.sum((inputs @ w >= 0) != y))
                if mistakes < fewest:
                    best, fewest = w, mistakes"""

POCKET_MUTANTS = (
    Mutant(
        "pocket not copied",
        _pocket_cell(_START, _INNER, update="w += (y[i] - y_hat) * lr * inputs[i]"),
        "was the array in the pocket changed",
    ),
    Mutant(
        "last weights",
        _pocket_cell("pass", "                pass", "w, int(np.sum((inputs @ w >= 0) != y))"),
        "These are the last weights of the run; return",
    ),
    Mutant(
        "<= for <",
        _pocket_cell(_START, _INNER.replace("mistakes < fewest", "mistakes <= fewest")),
        "the first stay in the pocket",
    ),
    Mutant(
        "start not counted",
        _pocket_cell("best, fewest = w, len(y) + 1", _INNER),
        "weights of the start are weights too",
    ),
    Mutant(
        "after epochs only",
        _pocket_cell(
            _START,
            """        mistakes = int(np.sum((inputs @ w >= 0) != y))
        if mistakes < fewest:
            best, fewest = w, mistakes""",
        ),
        "only after whole epochs",
    ),
    Mutant(
        "every epoch begins with the pocket",
        _pocket_cell(_START, _INNER + "\n        w = best"),
        "These are still the zeros of the start",
    ),
    Mutant(
        "five epochs at most",
        _pocket_cell(_START, _INNER).replace("range(epochs)", "range(min(epochs, 5))"),
        "on a hidden case returns wrong numbers.",
    ),
    Mutant(
        "bias first",
        _pocket_cell(_START, _INNER).replace("[x, np.ones((len(x), 1))]", "[np.ones((len(x), 1)), x]"),
        "the right weights with the bias in front",
    ),
    Mutant(
        "changes the inputs",
        """def train_with_pocket(x, y, lr, epochs):
    y[y == 0] = -1
    w, best, fewest = np.zeros(x.shape[1] + 1), np.zeros(x.shape[1] + 1), np.sum(y == -1)
    return best, fewest
""",
        "changes argument 2 in place",
    ),
)

# 01.5 ---------------------------------------------------------------------------------------------------------------


def long_cycles(rng):
    """Return cases that never end, with cycles of 1 to 5 epochs."""
    return [
        Case((BITS3, PARITY3, np.random.default_rng(1).permutation(8))),
        Case((BITS3, PARITY3, np.random.default_rng(6).permutation(8))),
        Case((BITS4, PARITY4, np.random.default_rng(2).permutation(16))),
        Case((BITS4, PARITY4, np.random.default_rng(5).permutation(16))),
        Case((np.array([[1], [2], [3]]), np.array([0, 1, 0]), np.array([2, 0, 1]))),
    ]


def learned_tables(rng):
    """Return cases that are learned, in 1 to 12 epochs, in several orders; the last one takes 363."""
    majority = (BITS3.sum(axis=1) >= 2).astype(int)
    return [
        Case((BITS3, majority, np.array([7, 2, 0, 5, 1, 6, 4, 3]))),
        Case((BITS3, table(31, 3), np.arange(8))),
        Case((BITS3, table(93, 3), np.arange(8)[::-1].copy())),
        Case((BITS3, np.ones(8, dtype=int), np.arange(8))),
        Case((np.array([[3, -2], [-1, 4]]), np.array([0, 1]), np.array([1, 0]))),
        Case((np.array([[18], [19]]), np.array([0, 1]), np.array([1, 0]))),
    ]


def _fate_cell(ending, order="order", before=""):
    return f"""def fate(x, y, order):
    inputs = np.hstack([x, np.ones((len(x), 1))])
    w, seen, last = np.zeros(inputs.shape[1]), {{}}, None
    for epoch in range(1, 300):
        mistakes = 0
        for i in {order}:
            y_hat = int(inputs[i] @ w >= 0)
            w = w + (y[i] - y_hat) * inputs[i]
            mistakes += int(y_hat != y[i])
        state = tuple(w)
{ending}
        last = state
    return False, 0
"""


_LEARNED = """        if mistakes == 0:
            return True, epoch
"""
_CYCLE = """        if state in seen:
            return False, epoch - seen[state]
        seen[state] = epoch"""

FATE_MUTANTS = (
    Mutant("states before mistakes", _fate_cell(_CYCLE), "ask first whether the epoch had a mistake"),
    Mutant(
        "epochs from 0",
        _fate_cell(_LEARNED.replace("epoch\n", "epoch - 1\n") + _CYCLE),
        "The epoch without a mistake counts too",
    ),
    Mutant(
        "number of the epoch for the length",
        _fate_cell(_LEARNED + _CYCLE.replace("epoch - seen[state]", "epoch")),
        "This is the epoch in which the weights came back",
    ),
    Mutant(
        "order not used",
        _fate_cell(_LEARNED + _CYCLE, order="range(len(y))"),
        "in the order of their rows",
    ),
    Mutant(
        "cycles of one epoch only",
        _fate_cell(
            _LEARNED
            + """        if state == last:
            return False, 1"""
        ),
        "(a cycle of three epochs): result[1] is 0, expected 3. Cycles can be longer than one epoch",
    ),
    Mutant(
        "a hundred epochs at most",
        """def fate(x, y, order):
    inputs = np.hstack([x, np.ones((len(x), 1))])
    w, seen = np.zeros(inputs.shape[1]), {}
    for epoch in range(1, 101):
        mistakes = 0
        for i in order:
            y_hat = int(inputs[i] @ w >= 0)
            w = w + (y[i] - y_hat) * inputs[i]
            mistakes += int(y_hat != y[i])
        if mistakes == 0:
            return True, epoch
        if tuple(w) in seen:
            return False, epoch - seen[tuple(w)]
        seen[tuple(w)] = epoch
""",
        "on a hidden case returns None.",
    ),
    Mutant(
        "weights as keys",
        _fate_cell(_LEARNED + _CYCLE).replace("state = tuple(w)", "state = w"),
        "TypeError: unhashable type",
    ),
    Mutant(
        "bias forgotten",
        _fate_cell(_LEARNED + _CYCLE).replace("np.hstack([x, np.ones((len(x), 1))])", "x"),
        "is the bias input there",
    ),
)

KEYS = (
    Key("01.1", (Part("more points", 1, many_points), Part("edge cases", 1, edges_of_lines)), LINE_MUTANTS),
    Key("01.2", (Part("other samples", 1, other_samples), Part("scores of 0", 1, scores_of_zero)), CORRECTION_MUTANTS),
    Key("01.3", (Part("other dimensions", 1, other_dimensions), Part("right lines", 1, right_lines)), MARGIN_MUTANTS),
    Key("01.4", (Part("overlapping classes", 1, overlapping), Part("edge cases", 1, edges_of_pockets)), POCKET_MUTANTS),
    Key("01.5", (Part("runs that never end", 1, long_cycles), Part("learned tables", 1, learned_tables)), FATE_MUTANTS),
)
