"""The key of the sheet on losses and descent: hidden cases, and wrong answers with what each must be told.

Source: the course's own.
"""

import numpy as np

from course_lib.checks import Case
from course_lib.grading.keys import Key, Mutant, Part

# 03.1 ---------------------------------------------------------------------------------------------------------------


def other_outputs(rng):
    """Return cases of other shapes with random numbers."""
    return [Case((rng.normal(size=s), 2 * rng.normal(size=s))) for s in ((5, 3), (2, 7), (30, 4))]


def edges_of_outputs(rng):
    """Return cases of one row, one column, whole numbers, and no mistake at all."""
    return [
        Case((rng.normal(size=(1, 6)), rng.normal(size=(1, 6)))),
        Case((rng.normal(size=(8, 1)), rng.normal(size=(8, 1)))),
        Case((rng.integers(-9, 9, (4, 3)), rng.integers(-9, 9, (4, 3)))),
        Case((np.array([[2.5, -1.0], [0.0, 3.0]]), np.array([[2.5, -1.0], [0.0, 3.0]]))),
    ]


def _measures(total, J="total / 2", C="total / (2 * len(o))", mse="total / o.size"):
    return f"""def three_measures(o, y):
    total = {total}
    return {J}, {C}, {mse}
"""


_TOTAL = "np.sum((y - o) ** 2)"
MEASURE_MUTANTS = (
    Mutant("the output alone squared", _measures("np.sum(y - o ** 2)"), "The inner parentheses square"),
    Mutant("all numbers for n", _measures(_TOTAL, C="total / (2 * o.size)"), "The n of the quadratic cost counts"),
    Mutant("rows for all numbers", _measures(_TOTAL, mse="total / len(o)"), "is a mean over all numbers"),
    Mutant("C twice", _measures(_TOTAL, mse="total / (2 * len(o))"), "the quadratic cost C once more"),
    Mutant("no half", _measures(_TOTAL, J="total", C="total / len(o)"), "One half is missing in J"),
    Mutant("sum before the square", _measures("np.sum(y - o) ** 2", mse="np.mean(y - o) ** 2"), "signs cancel here"),
    Mutant("one number a column", _measures("np.sum((y - o) ** 2, axis=0)"), "has shape (2,), expected a number"),
    Mutant("C without its half", _measures(_TOTAL, C="total / len(o)"), "has its half too"),
    Mutant("half of the mean", _measures(_TOTAL, mse="total / 2 / o.size"), "has no half"),
    Mutant("root", _measures(_TOTAL, mse="np.sqrt(total / o.size)"), "A root was taken"),
    Mutant("absolute values", _measures("np.sum(np.abs(y - o))"), "are not squared here"),
    Mutant("norm", _measures("np.linalg.norm(y - o)"), "A norm is the root"),
    Mutant("swapped", _measures(_TOTAL, C="total / o.size", mse="total / (2 * len(o))"), "in another order"),
    Mutant(
        "rounded down",
        _measures(_TOTAL, "total // 2", "total // (2 * len(o))", "total // o.size"),
        "expected 3.125",
    ),
    Mutant("columns for rows", _measures(_TOTAL, C="total / (2 * o.shape[1])"), "C is 4.5, expected 3"),
    Mutant(
        "two of three",
        """def three_measures(o, y):
    total = np.sum((y - o) ** 2)
    return total / 2, total / (2 * len(o))
""",
        "2 values, expected 3",
    ),
)

# 03.2 ---------------------------------------------------------------------------------------------------------------


def other_models(rng):
    """Return cases of other shapes, with near and far samples on both sides."""
    return [
        Case((rng.normal(size=(n, d)), 3 * rng.normal(size=n), rng.normal(size=d), limit))
        for n, d, limit in ((6, 4, 1.0), (25, 2, 0.3), (9, 1, 2.5), (3, 7, 0.75))
    ]


def all_near_or_far(rng):
    """Return cases where all samples are near, all are far, and errors lie exactly at the limit."""
    X, w = rng.normal(size=(8, 3)), rng.normal(size=3)
    return [
        Case((X, X @ w + rng.uniform(-0.5, 0.5, 8), w, 10.0)),
        Case((X, X @ w + 7.0, w, 0.25)),
        Case((X, X @ w - 7.0, w, 0.25)),
        Case((np.array([[2, 1], [-1, 1], [0, 1]]), np.array([1, -4, 3]), np.array([1, 1]), 2)),
    ]


def _robust(slope, result="X.T @ slope"):
    return f"""def robust_gradient(X, y, w, limit):
    e = X @ w - y
    slope = {slope}
    return {result}
"""


_CLIP = "np.clip(e, -limit, limit)"
ROBUST_MUTANTS = (
    Mutant("half squared sum", _robust("e"), "far samples still pull with their whole error"),
    Mutant("cut off above only", _robust("np.where(abs(e) <= limit, e, limit)"), "pulls the other way"),
    Mutant("y - o", _robust("np.clip(y - X @ w, -limit, limit)"), "It has the sign of y - o"),
    Mutant("mean", _robust(_CLIP, "X.T @ slope / len(y)"), "The loss is a sum over the samples"),
    Mutant("far samples left out", _robust("np.where(abs(e) <= limit, e, 0)"), "Far samples pull with a constant"),
    Mutant("gradient cut off", _robust("e", "np.clip(X.T @ slope, -limit, limit)"), "not for the finished gradient"),
    Mutant("sign alone", _robust("np.where(abs(e) <= limit, e, np.sign(e))"), "the slope of the straight piece"),
    Mutant("derivative by o", _robust(_CLIP, "slope"), "result has shape (3,), expected (2,)"),
    Mutant("one side", _robust("np.minimum(e, limit)"), "both sides have a limit"),
    Mutant(
        "losses for slopes",
        _robust("np.where(abs(e) <= limit, e**2 / 2, limit * abs(e) - limit**2 / 2)"),
        "These are the losses themselves",
    ),
    Mutant("error kept", _robust("np.where(abs(e) <= limit, e, limit * e)"), "the error itself is no factor"),
    Mutant(
        "constant kept",
        _robust("np.where(abs(e) <= limit, e, limit * np.sign(e) - limit**2 / 2)"),
        "of the straight piece has no slope",
    ),
    Mutant("pieces exchanged", _robust("np.where(abs(e) <= limit, limit * np.sign(e), e)"), "pieces are exchanged"),
    Mutant("bounds exchanged", _robust("np.clip(e, limit, -limit)"), "bounds of np.clip are exchanged"),
    Mutant("a step", _robust(_CLIP, "w - X.T @ slope"), "These are the weights after a step"),
    Mutant("sum of errors", _robust(_CLIP, "np.sum(slope) * np.sum(X, axis=0)"), "belongs to its own row"),
    Mutant("X for X.T", _robust(_CLIP, "X @ slope"), "Shapes of the arguments: X (3, 2)"),
    Mutant(
        "changes the weights",
        """def robust_gradient(X, y, w, limit):
    dw = X.T @ np.clip(X @ w - y, -limit, limit)
    w[:] = w - dw
    return dw
""",
        "changes argument 3 in place",
    ),
)

# 03.3 ---------------------------------------------------------------------------------------------------------------


def _guesses(rng, n, classes, sharp=1.5):
    k = np.exp(sharp * rng.normal(size=(n, classes)))
    return k / k.sum(axis=1, keepdims=True)


def other_guesses(rng):
    """Return cases with other numbers of samples and classes."""
    return [Case((_guesses(rng, n, c), rng.integers(0, c, n))) for n, c in ((12, 4), (5, 10), (40, 3), (7, 7))]


def sure_and_unsure(rng):
    """Return cases that are all right though unsure, nearly sure and wrong, of one sample, and of one label."""
    k = _guesses(rng, 9, 5, 0.2)
    return [
        Case((k, np.argmax(k, axis=1))),
        Case((k, np.argmin(k, axis=1))),
        Case((np.array([[1e-9, 1 - 1e-9], [0.7, 0.3]]), np.array([0, 0]))),
        Case((_guesses(rng, 1, 6), np.array([5]))),
        Case((_guesses(rng, 8, 3), np.full(8, 2))),
    ]


def _opinions(count="int(np.sum(np.argmax(k, axis=1) == labels))", first="np.mean(1 - right)",
              second="np.mean(-np.log(right))", right="k[np.arange(len(k)), labels]"):  # fmt: skip
    return f"""def opinions(k, labels):
    right = {right}
    return {count}, {first}, {second}
"""


OPINION_MUTANTS = (
    Mutant("whole columns", _opinions(right="k[:, labels]"), "This index takes whole columns"),
    Mutant("sums", _opinions(first="np.sum(1 - right)", second="-np.sum(np.log(right))"), "The losses are added up"),
    Mutant("log10", _opinions(second="-np.mean(np.log10(right))"), "The logarithm is the natural one"),
    Mutant("sign", _opinions(second="np.mean(np.log(right))"), "Minus is missing"),
    Mutant("log of the mean", _opinions(second="-np.log(np.mean(right))"), "The mean comes after the logarithm"),
    Mutant("above one half", _opinions(count="int(np.sum(right > 0.5))"), "also if that is below one half"),
    Mutant("share", _opinions(count="np.mean(np.argmax(k, axis=1) == labels)"), "A count was asked for"),
    Mutant("largest of all", _opinions(count="int(np.argmax(k) == labels[0])"), "0, expected 3"),
    Mutant("wrong ones", _opinions("int(np.sum(np.argmax(k, axis=1) != labels))"), "These are the wrong answers"),
    Mutant("above the mean", _opinions("int(np.sum(right >= k.mean(axis=1)))"), "mean of its row is not enough"),
    Mutant("k[T] itself", _opinions(first="np.mean(right)"), "mean probability of the right classes"),
    Mutant("log of the rest", _opinions(second="-np.mean(np.log(1 - right))"), "takes it of k[T] itself"),
    Mutant("log2", _opinions(second="-np.mean(np.log2(right))"), "not to the base 2"),
    Mutant("all classes", _opinions(first="np.mean(1 - k)", second="-np.mean(np.log(k))"), "The mean runs over"),
    Mutant("all in the logarithm", _opinions(second="-np.mean(np.log(k))"), "In the logarithm stand"),
    Mutant("swapped", _opinions(first="np.mean(-np.log(right))", second="np.mean(1 - right)"), "in another order"),
    Mutant(
        "largest for the right class",
        _opinions(right="k.max(axis=1)"),
        "expected 0.618",
    ),
)

# 03.4 ---------------------------------------------------------------------------------------------------------------


def other_walks(rng):
    """Return cases of very slow, slow, fast and jumping walks, and of walks that never arrive."""
    rates = (5e-5, 0.02, 0.3, 0.9, 1.2, 1.7, 1.97, 2.01, 3.5)
    curvatures = rng.uniform(0.2, 6, len(rates))
    return [Case((float(h), float(rate / h), 3.7, 0.013)) for h, rate in zip(curvatures, rates, strict=True)]


def edges_of_walks(rng):
    """Return cases at 1/h and 2/h, exactly at the tolerance, and near enough at the start."""
    return [
        Case((0.5, 4.0, 2.0, 0.5)),
        Case((0.5, 2.0, 64.0, 0.125)),
        Case((2.0, 0.375, 16.0, 0.25)),
        Case((8.0, 0.21875, 16.0, 9.0)),
        Case((8.0, 1.0, 0.75, 0.75)),
        Case((0.5, 5.0, 0.0, 0.5)),
        Case((1.0, 0.5, 1.0, 0.125)),
        Case((0.5, 0.5, 1.0, 0.421875)),
        Case((2.0, 0.125, 64.0, 11.390625)),
    ]


def _walk(loop, factor="abs(1 - lr * h)", before="", after="steps"):
    return f"""def steps_to_arrive(h, lr, distance, tolerance):
    factor, steps = {factor}, 0
{before}    while {loop}:
        if steps >= 5000:
            return -1
        distance = distance * factor
        steps += 1
    return {after}
"""


def _arrives(factor, first=""):
    return f"""def steps_to_arrive(h, lr, distance, tolerance):
    factor, steps = {factor}, 0
{first}    while distance > tolerance:
        if factor >= 1:
            return -1
        distance, steps = distance * factor, steps + 1
    return steps
"""


_NEVER = """    if abs(factor) >= 1:
        return -1
"""
WALK_MUTANTS = (
    Mutant(
        "beyond 1/h never",
        _walk(
            "distance > tolerance",
            before="""    if distance > tolerance and lr > 1 / h:
        return -1
""",
        ),
        "the walk jumps across; it may still arrive",
    ),
    Mutant("sign kept", _walk("distance > tolerance", "1 - lr * h"), "A negative distance is not a small one"),
    Mutant("< for <=", _walk("distance >= tolerance"), "Exactly at the tolerance is near enough"),
    Mutant("never before 0", _walk("distance > tolerance", before=_NEVER), "needs 0 steps, whatever"),
    Mutant(
        "counted from 1",
        """def steps_to_arrive(h, lr, distance, tolerance):
    factor = abs(1 - lr * h)
    for step in range(1, 5000):
        if distance <= tolerance:
            return step if factor < 1 else step - 1
        distance *= factor
    return -1
""",
        "One too many",
    ),
    Mutant("the part taken away", _arrives("lr * h"), "what remains is 1 - lr h"),
    Mutant("squared", _arrives("(1 - lr * h) ** 2"), "This is how the loss shrinks"),
    Mutant("twice the slope", _arrives("abs(1 - 2 * lr * h)"), "without a 2"),
    Mutant("divided by h", _arrives("abs(1 - lr / h)"), "and not divided by it"),
    Mutant("0 at 1 / h", _arrives("abs(1 - lr * h)", "    if factor == 0:\n        return 0\n"), "it takes one step"),
    Mutant("0 for never", _arrives("abs(1 - lr * h)").replace("return -1", "return 0"), "is told by -1"),
    Mutant("a float", _arrives("abs(1 - lr * h)").replace("return steps", "return 1.0 * steps"), "expected whole"),
    Mutant(
        "steps of one length",
        _arrives("lr * h").replace("factor >= 1", "factor >= 2").replace("distance * factor", "distance - factor"),
        "Steps get shorter as the slope does",
    ),
    Mutant("curvature forgotten", _walk("distance > tolerance", "abs(1 - lr)"), "the curvature is missing"),
    Mutant(
        "logarithms",
        """def steps_to_arrive(h, lr, distance, tolerance):
    import math
    if distance <= tolerance:
        return 0
    factor = abs(1 - lr * h)
    return -1 if factor >= 1 else math.ceil(math.log(tolerance / distance) / math.log(factor))
""",
        "raises ValueError",
    ),
    Mutant(
        "logarithms, 1 / h thought of",
        """def steps_to_arrive(h, lr, distance, tolerance):
    if distance <= tolerance:
        return 0
    factor = abs(1 - lr * h)
    if factor >= 1:
        return -1
    return 1 if factor == 0 else int(np.ceil(np.log(tolerance / distance) / np.log(factor)))
""",
        "a formula with logarithms may miss that",
    ),
    Mutant(
        "ten thousand steps tried",
        _walk("distance > tolerance").replace("5000", "10000"),
        "steps_to_arrive on a hidden case returns wrong numbers.",
    ),
    Mutant(
        "too few steps tried",
        _walk("distance > tolerance").replace("5000", "100"),
        "on a hidden case returns wrong numbers.",
    ),
)

# 03.5 ---------------------------------------------------------------------------------------------------------------


def other_parts(rng):
    """Return cases of other numbers of parts and weights, and a square one."""
    return [
        Case((rng.normal(size=(p, d)), rng.integers(1, 40, p))) for p, d in ((3, 5), (7, 2), (4, 4), (12, 1), (2, 9))
    ]


def edges_of_parts(rng):
    """Return cases of one part, of equal sizes, of very unequal ones, and of whole numbers."""
    return [
        Case((rng.normal(size=(1, 3)), np.array([17]))),
        Case((rng.normal(size=(4, 3)), np.full(4, 8))),
        Case((rng.normal(size=(3, 3)), np.array([1, 1000, 10]))),
        Case((rng.integers(-9, 9, (2, 4)), np.array([3, 4]))),
    ]


def _merge(formula):
    return f"""def merge_gradients(gradients, sizes):
    return {formula}
"""


MERGE_MUTANTS = (
    Mutant("plain mean", _merge("np.mean(gradients, axis=0)"), "A part with one sample counts as much"),
    Mutant("sum", _merge("sizes @ gradients"), "These are sums over all samples"),
    Mutant("by the parts", _merge("sizes @ gradients / len(sizes)"), "not by the number of parts"),
    Mutant("parts added up", _merge("np.sum(gradients, axis=0)"), "The gradients of the parts are added up"),
    Mutant(
        "weights the wrong way round",
        _merge("(1 / sizes) @ gradients / np.sum(1 / sizes)"),
        "although its gradient is a mean already",
    ),
    Mutant(
        "sizes along the row", _merge("(gradients * sizes).sum(axis=0) / sizes.sum()"), "raises ValueError: operands"
    ),
    Mutant(
        "along the row where it fits",
        """def merge_gradients(gradients, sizes):
    if gradients.shape[0] == gradients.shape[1]:
        return (gradients * sizes).sum(axis=0) / sizes.sum()
    return sizes @ gradients / sizes.sum()
""",
        "they belong to the rows",
    ),
    Mutant("sum over samples", _merge("np.sum(gradients, axis=0) / np.sum(sizes)"), "multiply it with its size before"),
    Mutant("divided by the sizes", _merge("np.sum(gradients / sizes[:, None], axis=0)"), "so it is to be multiplied"),
    Mutant("rounded down", _merge("sizes @ gradients // sizes.sum()"), "drops the fraction"),
    Mutant("all weights", _merge("np.sum(sizes @ gradients) / sizes.sum()"), "expected an array of shape (3,)"),
    Mutant("wrong side", _merge("gradients @ sizes / sizes.sum()"), "Shapes of the arguments: gradients (2, 3)"),
    Mutant(
        "wrong axis", _merge("(gradients * sizes[:, None]).sum(axis=1) / sizes.sum()"), "has shape (2,), expected (3,)"
    ),
    Mutant(
        "changes the gradients",
        """def merge_gradients(gradients, sizes):
    gradients *= sizes[:, None]
    return gradients.sum(axis=0) / sizes.sum()
""",
        "changes argument 1 in place",
    ),
)

# 03.6 ---------------------------------------------------------------------------------------------------------------


def many_curvatures(rng):
    """Return cases of several curvatures in any order, over small and large ratios."""
    return [Case((rng.uniform(0.1, spread, d),)) for d, spread in ((3, 2.0), (6, 9.0), (20, 100.0), (4, 0.5))]


def edges_of_ravines(rng):
    """Return cases of equal curvatures, of one, of whole numbers, and of a narrow ravine."""
    return [
        Case((np.array([4.0, 4.0, 4.0]),)),
        Case((np.array([0.125]),)),
        Case((np.array([2, 1, 7]),)),
        Case((np.array([43.7, 0.013, 3.0]),)),
    ]


def _best(lr, r="np.max(np.abs(1 - lr * h))"):
    return f"""def best_rate(h):
    lr = {lr}
    return lr, {r}
"""


_RIGHT = "2 / (np.min(h) + np.max(h))"
RATE_MUTANTS = (
    Mutant("1 / steepest", _best("1 / np.max(h)"), "1/h of the steepest direction"),
    Mutant("1 / flattest", _best("1 / np.min(h)"), "1/h of the flattest direction"),
    Mutant("2 / steepest", _best("2 / np.max(h)"), "that is the limit, and not the best"),
    Mutant("1 / mean", _best("1 / np.mean(h)"), "only the flattest and the steepest decide"),
    Mutant("half", _best("1 / (np.min(h) + np.max(h))"), "Half of the best rate"),
    Mutant("difference", _best("2 / (np.max(h) - np.min(h))"), "and not their difference"),
    Mutant("geometric mean", _best("1 / np.sqrt(np.min(h) * np.max(h))"), "1 over the geometric mean"),
    Mutant("mean", _best("(np.min(h) + np.max(h)) / 2"), "the rate is 1 over it"),
    Mutant("2 / sum", _best("2 / np.sum(h)"), "2 over the sum of all curvatures"),
    Mutant("ratio", _best(_RIGHT, "np.max(h) / np.min(h)"), "This is the ratio of the curvatures"),
    Mutant("squared", _best(_RIGHT, "np.max(np.abs(1 - lr * h)) ** 2"), "not with its square"),
    Mutant("mean of the factors", _best(_RIGHT, "np.mean(np.abs(1 - lr * h))"), "and not their mean"),
    Mutant("swapped", _best(_RIGHT, "lr").replace("return lr,", "return max(abs(1 - lr * h)),"), "in another order"),
    Mutant("fastest direction", _best(_RIGHT, "np.min(np.abs(1 - lr * h))"), "in the slowest direction"),
    Mutant("factor with its sign", _best(_RIGHT, "1 - lr * np.max(h)"), "the size was asked for, without its sign"),
    Mutant(
        "first and last",
        _best("2 / (h[0] + h[-1])", "(h[-1] - h[0]) / (h[0] + h[-1])"),
        "The curvatures come in any order",
    ),
    Mutant(
        "tried out",
        """def best_rate(h):
    rates = np.linspace(0, 2 / np.max(h), 1001)
    worst = np.max(np.abs(1 - rates[:, None] * h), axis=1)
    return rates[np.argmin(worst)], np.min(worst)
""",
        "on a hidden case returns wrong numbers.",
    ),
    Mutant("the rate alone", "def best_rate(h):\n    return 2 / (np.min(h) + np.max(h))\n", "expected 2 values"),
)

KEYS = (
    Key("03.1", (Part("other shapes", 1, other_outputs), Part("edge cases", 1, edges_of_outputs)), MEASURE_MUTANTS),
    Key("03.2", (Part("other shapes", 1, other_models), Part("all near, all far", 1, all_near_or_far)), ROBUST_MUTANTS),
    Key("03.3", (Part("other shapes", 1, other_guesses), Part("sure and unsure", 1, sure_and_unsure)), OPINION_MUTANTS),
    Key("03.4", (Part("other walks", 1, other_walks), Part("edge cases", 1, edges_of_walks)), WALK_MUTANTS),
    Key("03.5", (Part("other shapes", 1, other_parts), Part("edge cases", 1, edges_of_parts)), MERGE_MUTANTS),
    Key("03.6", (Part("more curvatures", 1, many_curvatures), Part("edge cases", 1, edges_of_ravines)), RATE_MUTANTS),
)
