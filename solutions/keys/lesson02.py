"""The key of the sheet on neurons and layers: hidden cases, and wrong answers with what each must be told.

Source: the course's own.
"""

from itertools import pairwise

import numpy as np

from course_lib.checks import Case, Named
from course_lib.grading.keys import Key, Mutant, Part

RELU, SIGMOID = Named("course_lib.reference.relu"), Named("course_lib.reference.sigmoid")
TANH, IDENTITY = Named("numpy.tanh"), Named("course_lib.reference.identity")

# 02.1 ---------------------------------------------------------------------------------------------------------------


def larger_layers(rng):
    """Return cases of random layers, wide, tall and square, with dead and living neurons in each."""
    return [
        Case((rng.normal(size=(B, D)), rng.normal(size=(D, M)), rng.normal(size=M) - 1.5 * np.sqrt(D)))
        for B, D, M in ((8, 3, 12), (25, 6, 9), (5, 4, 4), (40, 1, 7))
    ]


def zeros_and_ones(rng):
    """Return cases with pre-activations of exactly 0, of one sample, and of one neuron."""
    return [
        Case((rng.integers(-1, 2, (4, 3)), rng.integers(-1, 2, (3, 10)), np.full(10, -2))),
        Case((np.array([[0, 0], [0, 0]]), np.array([[1, -1, 2], [3, -3, 1]]), np.array([0, 1, -1]))),
        Case((np.array([[1.0, -2.0, 0.5]]), np.array([[2.0], [1.0], [0.0]]), np.array([0.0]))),
        Case((np.array([[1, 2], [2, 1]]), np.array([[-2, -3, 1, 1], [-1, -1, -4, 0]]), np.array([3, 5, 2, 1]))),
    ]


DEAD_MUTANTS = (
    Mutant(
        "< for <=",
        """def dead_neurons(X, W, b):
    return np.all(X @ W + b < 0, axis=0)
""",
        "At z = 0 the slope of ReLU is 0",
    ),
    Mutant(
        "any for all",
        """def dead_neurons(X, W, b):
    return np.any(X @ W + b <= 0, axis=0)
""",
        "One sample with a negative z",
    ),
    Mutant(
        "bias forgotten",
        """def dead_neurons(X, W, b):
    return np.all(X @ W <= 0, axis=0)
""",
        "The bias is missing",
    ),
    Mutant(
        "bias after the ReLU",
        """def dead_neurons(X, W, b):
    return np.all(np.maximum(X @ W, 0) + b <= 0, axis=0)
""",
        "The bias belongs inside of the ReLU",
    ),
    Mutant(
        "mean",
        """def dead_neurons(X, W, b):
    return (X @ W + b).mean(axis=0) <= 0
""",
        "because its mean z is negative",
    ),
    Mutant(
        "wrong axis",
        """def dead_neurons(X, W, b):
    return np.all(X @ W + b <= 0, axis=1)
""",
        "result has shape (3,), expected (4,)",
    ),
    Mutant(
        "living neurons",
        """def dead_neurons(X, W, b):
    return np.any(X @ W + b > 0, axis=0)
""",
        "these are the living neurons",
    ),
    Mutant(
        "numbers of the neurons",
        """def dead_neurons(X, W, b):
    return np.flatnonzero(np.all(X @ W + b <= 0, axis=0))
""",
        "result has shape (2,), expected (4,)",
    ),
    Mutant(
        "rows where they fit",
        """def dead_neurons(X, W, b):
    W = W.T if W.shape[0] == W.shape[1] else W
    return np.all(X @ W + b <= 0, axis=0)
""",
        "one column of W belongs to one neuron",
    ),
)

# 02.2 ---------------------------------------------------------------------------------------------------------------


def clear_cases(rng):
    """Return random cases that fit one form: large and small ones, whole numbers and fractions."""
    cases = []
    for n in (2, 3, 7):
        W, x = rng.normal(size=(n, n)), rng.normal(size=n)
        cases += [Case((W, x, W @ x)), Case((W, x, x @ W))]
    W, x = rng.integers(-5, 6, (4, 4)) / 10, rng.integers(-9, 10, 4) / 10
    return [*cases, Case((W, x, np.round(W @ x, 2))), Case((W, x, np.round(x @ W, 2)))]


def doubtful_cases(rng):
    """Return cases that fit both forms or none, some of them nearly."""
    W, x = rng.normal(size=(3, 3)), rng.normal(size=3)
    right = W @ x
    V = W + W.T
    return [
        Case((V, x, V @ x)),
        Case((np.array([[2.5]]), np.array([4.0]), np.array([10.0]))),
        Case((W, x, right[[1, 2, 0]])),
        Case((W, x, right + np.array([0.01, 0.02, 0.01]))),
        Case((W, x, right[[0, 2, 1]])),
        Case((W, x, right + np.array([5e-9, 0, 0]))),
        Case((W, x, (x @ W) * (1 - 1e-7))),
        Case((W, np.zeros(3), np.zeros(3))),
        Case((W, x, (x @ W)[[0, 2, 1]])),
    ]


def _orientation_cell(agree, ending):
    return f"""def orientation(W, x, z):
    def agree(a, b):
        return {agree}
    rows, columns = agree(W @ x, z), agree(x @ W, z)
{ending}
"""


_ALL_CLOSE = "np.allclose(a, b, rtol=0, atol=1e-9)"
_FOUR = """    if rows and columns:
        return "both"
    if rows:
        return "rows"
    return "columns" if columns else "neither\""""

ORIENTATION_MUTANTS = (
    Mutant("== for close", _orientation_cell("np.array_equal(a, b)", _FOUR), "compare with a tolerance"),
    Mutant(
        "exchanged",
        _orientation_cell(_ALL_CLOSE, _FOUR).replace(
            "agree(W @ x, z), agree(x @ W, z)", "agree(x @ W, z), agree(W @ x, z)"
        ),
        "The two words are exchanged",
    ),
    Mutant(
        "rows first",
        _orientation_cell(
            _ALL_CLOSE,
            """    if rows:
        return "rows"
    if columns:
        return "columns"
    return "neither\"""",
        ),
        "the sample cannot tell",
    ),
    Mutant(
        "no neither",
        _orientation_cell(
            _ALL_CLOSE,
            """    if rows and columns:
        return "both"
    return "rows" if rows else "columns\"""",
        ),
        "does not yet mean that the other does",
    ),
    Mutant("first element only", _orientation_cell("abs(a[0] - b[0]) < 1e-9", _FOUR), "not only the first"),
    Mutant("sums", _orientation_cell("abs(a.sum() - b.sum()) < 1e-9", _FOUR), "can fit by accident"),
    Mutant("NumPy's own tolerance", _orientation_cell("np.allclose(a, b)", _FOUR), "unless you set both rtol and atol"),
    Mutant(
        "a loose tolerance",
        _orientation_cell("np.allclose(a, b, atol=0.1)", _FOUR),
        "The tolerance is wider than 1e-9",
    ),
    Mutant(
        "a tolerance of 1e-6",
        _orientation_cell("np.allclose(a, b, rtol=0, atol=1e-6)", _FOUR),
        "on a hidden case returns another value.",
    ),
    Mutant(
        "row for rows",
        _orientation_cell(_ALL_CLOSE, _FOUR.replace('"rows"', '"row"').replace('"columns"', '"column"')),
        "to the letter",
    ),
    Mutant(
        "capital letters",
        _orientation_cell(_ALL_CLOSE, _FOUR.replace('"rows"', '"Rows"').replace('"columns"', '"Columns"')),
        "in small letters",
    ),
    Mutant(
        "a truth value",
        """def orientation(W, x, z):
    return np.allclose(W @ x, z)
""",
        "result is True, expected 'rows'",
    ),
)

# 02.3 ---------------------------------------------------------------------------------------------------------------


def _network(rng, sizes, samples, f):
    layers = [rng.normal(size=(m, d)) for d, m in pairwise(sizes)]
    return Case((rng.normal(size=(samples, sizes[0])), layers, f))


def other_networks(rng):
    """Return cases of one to four layers with several activation functions."""
    return [
        _network(rng, (4, 3), 5, TANH),
        _network(rng, (2, 5, 3), 4, SIGMOID),
        _network(rng, (6, 2, 4, 3), 1, RELU),
        _network(rng, (3, 4, 2, 5, 1), 7, TANH),
    ]


def square_networks(rng):
    """Return cases in which every product fits in both forms, and one of single neurons."""
    return [
        _network(rng, (3, 3, 3), 3, SIGMOID),
        _network(rng, (4, 4, 4, 4), 4, TANH),
        _network(rng, (2, 2), 2, IDENTITY),
        _network(rng, (1, 1, 1), 6, RELU),
    ]


INFERENCE_MUTANTS = (
    Mutant(
        "transposed only where it does not fit",
        """def inference(X, layers, f):
    for W in layers:
        X = f(X @ W if X.shape[1] == W.shape[0] else X @ W.T)
    return X
""",
        "A square matrix was used as it came",
    ),
    Mutant(
        "never transposed",
        """def inference(X, layers, f):
    for W in layers:
        X = f(X @ W)
    return X
""",
        "Is one of them to be transposed (.T)? Shapes of the arguments: X (2, 2), layers [(1, 2), (2, 1)].",
    ),
    Mutant(
        "never transposed, by number",
        """def inference(X, layers, f):
    A = X
    for i in range(len(layers)):
        A = f(A @ layers[i])
    return A
""",
        "the last size of the left array must equal the first one of the right",
    ),
    Mutant(
        "inputs squashed",
        """def inference(X, layers, f):
    for W in layers:
        X = f(X) @ W.T
    return X
""",
        "applied to the inputs of each layer",
    ),
    Mutant(
        "last layer without",
        """def inference(X, layers, f):
    for W in layers[:-1]:
        X = f(X @ W.T)
    return X @ layers[-1].T
""",
        "The last layer has an activation function too",
    ),
    Mutant(
        "no activation",
        """def inference(X, layers, f):
    for W in layers:
        X = X @ W.T
    return X
""",
        "There is no activation function in it",
    ),
    Mutant(
        "activation at the end only",
        """def inference(X, layers, f):
    for W in layers:
        X = X @ W.T
    return f(X)
""",
        "applied at the end only",
    ),
    Mutant(
        "samples as columns",
        """def inference(X, layers, f):
    A = X.T
    for W in layers:
        A = f(W @ A)
    return A
""",
        "It is the transpose of what was expected",
    ),
    Mutant(
        "two layers only",
        """def inference(X, layers, f):
    A = f(X @ layers[0].T)
    return f(A @ layers[1].T)
""",
        "raises IndexError: list index out of range",
    ),
)

# 02.4 ---------------------------------------------------------------------------------------------------------------


def other_places(rng):
    """Return cases of random numbers in several shapes."""
    return [Case((3 * rng.normal(size=shape),)) for shape in ((20,), (3, 4), (2, 1, 5))] + [Case((np.array(0.75),))]


def far_from_zero(rng):
    """Return cases with numbers whose powers overflow, and with whole numbers."""
    return [
        Case((np.array([-800.0, 800.0, -30.0, 30.0, 0.0]),)),
        Case((np.arange(-6, 7),)),
        Case((np.array([[-745.5], [710.25]]),)),
    ]


SWISH_MUTANTS = (
    Mutant(
        "first term forgotten",
        """def swish_slope(z):
    s = 1 / (1 + np.exp(-z))
    return z * s * (1 - s)
""",
        "The first factor, z, has a slope too",
    ),
    Mutant(
        "second term forgotten",
        """def swish_slope(z):
    return 1 / (1 + np.exp(-z))
""",
        "The second factor, the sigmoid, has a slope too",
    ),
    Mutant(
        "product of the slopes",
        """def swish_slope(z):
    s = 1 / (1 + np.exp(-z))
    return 1 * s * (1 - s)
""",
        "not the product of the slopes",
    ),
    Mutant(
        "f for the sigmoid",
        """def swish_slope(z):
    s = 1 / (1 + np.exp(-z))
    f = z * s
    return s + z * f * (1 - f)
""",
        "and not the whole function",
    ),
    Mutant(
        "the function",
        """def swish_slope(z):
    return z / (1 + np.exp(-z))
""",
        "This is the function itself",
    ),
    Mutant(
        "e^z above and below",
        """def swish_slope(z):
    s = np.exp(z) / (1 + np.exp(z))
    return s + z * s * (1 - s)
""",
        "There are NaN or infinite values",
    ),
    Mutant(
        "measured",
        """def swish_slope(z):
    f = lambda v: v / (1 + np.exp(-v))
    return (f(z + 1e-3) - f(z - 1e-3)) / 2e-3
""",
        "result[0] is -0.090784221",
    ),
    Mutant(
        "one number only",
        """import math

def swish_slope(z):
    s = 1 / (1 + math.exp(-z))
    return s + z * s * (1 - s)
""",
        "raises TypeError: only",
    ),
)

# 02.5 ---------------------------------------------------------------------------------------------------------------


def _stack(rng, *sizes):
    pairs = list(pairwise(sizes))
    return Case(([rng.normal(size=pair) for pair in pairs], [rng.normal(size=m) for _, m in pairs]))


def other_stacks(rng):
    """Return cases of two to five layers of changing sizes."""
    return [_stack(rng, 3, 5, 2), _stack(rng, 4, 1, 6, 3), _stack(rng, 2, 3, 4, 5, 2), _stack(rng, 1, 2, 1, 2, 1, 3)]


def square_stacks(rng):
    """Return cases where a wrong order fits too, and one single layer."""
    return [_stack(rng, 3, 3, 3, 3), _stack(rng, 2, 2, 2, 2, 2), _stack(rng, 4, 2), _stack(rng, 3, 3)]


COLLAPSE_MUTANTS = (
    Mutant(
        "wrong order",
        """def collapse(weights, biases):
    W, b = weights[0], biases[0]
    for V, c in zip(weights[1:], biases[1:]):
        b = b @ V + c
        W = V @ W
    return W, b
""",
        "multiplied in the wrong order",
    ),
    Mutant(
        "biases added up",
        """def collapse(weights, biases):
    W = weights[0]
    for V in weights[1:]:
        W = W @ V
    return W, sum(biases)
""",
        "The biases are added up as they are",
    ),
    Mutant(
        "last bias only",
        """def collapse(weights, biases):
    W = weights[0]
    for V in weights[1:]:
        W = W @ V
    return W, biases[-1]
""",
        "Only the last bias is in it",
    ),
    Mutant(
        "last bias forgotten",
        """def collapse(weights, biases):
    W, b = weights[0], np.zeros(len(weights[0]))
    b = np.zeros(weights[0].shape[1])
    for V, c in zip(weights[1:], biases[:-1]):
        W, b = W @ V, (b + c) @ V
    return W, b
""",
        "The last bias is missing",
    ),
    Mutant(
        "two layers",
        """def collapse(weights, biases):
    if len(weights) == 1:
        return weights[0], biases[0]
    return weights[0] @ weights[1], biases[0] @ weights[1] + biases[1]
""",
        "Only the first two layers are in it",
    ),
    Mutant(
        "bias through its own layer",
        """def collapse(weights, biases):
    W, b = np.eye(len(weights[0])), np.zeros(len(weights[0]))
    for V, c in zip(weights, biases):
        W = W @ V
        b = (b + c) @ V if len(c) == len(V) else b @ V + c
    return W, b
""",
        "and not through its own layer",
    ),
    Mutant(
        "changes the biases",
        """def collapse(weights, biases):
    W, b = weights[-1], biases[-1]
    for V, c in zip(weights[-2::-1], biases[-2::-1]):
        b += c @ W
        W = V @ W
    return W, b
""",
        "changes argument 2 in place",
    ),
    Mutant(
        "bias through all matrices",
        """def collapse(weights, biases):
    W, b = weights[0], biases[0]
    for V, c in zip(weights[1:], biases[1:]):
        W = W @ V
        b = b @ W + c
    return W, b
""",
        "The bias is multiplied by the product of all matrices so far",
    ),
    Mutant(
        "bias through the matrices before",
        """def collapse(weights, biases):
    W, b = weights[0], biases[0]
    for V, c in zip(weights[1:], biases[1:]):
        b = b @ W + c
        W = W @ V
    return W, b
""",
        "The bias is multiplied by the matrices before it",
    ),
    Mutant(
        "bias as a row",
        """def collapse(weights, biases):
    W, b = weights[0], biases[0][None, :]
    for V, c in zip(weights[1:], biases[1:]):
        W, b = W @ V, b @ V + c
    return W, b
""",
        "result[1] has shape (1, 2), expected (2,)",
    ),
)

# 02.6 ---------------------------------------------------------------------------------------------------------------


def other_tables(rng):
    """Return cases of parity and majority of more inputs, and of a table with fractions."""
    return [
        Case((np.array([0, 1, 0, 1, 0, 1]),)),
        Case((np.array([0, 0, 0, 1, 1, 1]),)),
        Case((np.array([0.0, 0.5, -1.25, 2.0, 7.5]),)),
        Case((np.concatenate([[0.0], rng.normal(size=9)]),)),
    ]


def tables_from_one(rng):
    """Return cases whose first value is not 0, and the shortest one."""
    return [
        Case((np.array([3, -2]),)),
        Case((np.array([1, 0, 1, 0, 1]),)),
        Case((rng.normal(size=7),)),
        Case((np.array([2.5, 2.5, 2.5, 2.5]),)),
    ]


FOLD_MUTANTS = (
    Mutant(
        "slopes",
        """def fold(t):
    return t[0], np.diff(t)
""",
        "These are the slopes of the pieces",
    ),
    Mutant(
        "level at 0 before",
        """def fold(t):
    return t[0], np.diff(np.concatenate([[0], t]), 2)
""",
        "Right if the first value were 0",
    ),
    Mutant(
        "bias 0",
        """def fold(t):
    return 0.0, np.diff(np.diff(t), prepend=0)
""",
        "with all inputs 0 every ReLU",
    ),
    Mutant(
        "values",
        """def fold(t):
    return t[0], t[1:] - t[0]
""",
        "These are the values themselves",
    ),
    Mutant(
        "signs",
        """def fold(t):
    return t[0], -np.diff(np.diff(t), prepend=0)
""",
        "The signs of the weights are turned",
    ),
    Mutant(
        "first weight forgotten",
        """def fold(t):
    return t[0], np.diff(t, 2)
""",
        "result[1] has shape (1,), expected (2,)",
    ),
    Mutant(
        "alternating tables only",
        """def fold(t):
    n = len(t) - 1
    c = np.array([2.0 * (-1) ** k for k in range(n)])
    c[0] = t[1] - t[0]
    return (t[0], c) if t[1] != t[0] else (t[0], np.array([0.0] + [-1.0] * (n - 1)))
""",
        "on a hidden case returns wrong numbers.",
    ),
    Mutant(
        "solved by a routine",
        """def fold(t):
    n = len(t) - 1
    H = np.maximum(np.arange(1, n + 1)[:, None] - np.arange(n), 0)
    return t[0], np.linalg.solve(H, t[1:] - t[0])
""",
        "uses solve",
    ),
)

KEYS = (
    Key("02.1", (Part("larger layers", 1, larger_layers), Part("edge cases", 1, zeros_and_ones)), DEAD_MUTANTS),
    Key("02.2", (Part("clear cases", 1, clear_cases), Part("doubtful cases", 1, doubtful_cases)), ORIENTATION_MUTANTS),
    Key(
        "02.3", (Part("other shapes", 1, other_networks), Part("square shapes", 1, square_networks)), INFERENCE_MUTANTS
    ),
    Key("02.4", (Part("other shapes", 1, other_places), Part("far from zero", 1, far_from_zero)), SWISH_MUTANTS),
    Key("02.5", (Part("other shapes", 1, other_stacks), Part("square shapes", 1, square_stacks)), COLLAPSE_MUTANTS),
    Key("02.6", (Part("other tables", 1, other_tables), Part("first value not 0", 1, tables_from_one)), FOLD_MUTANTS),
)
