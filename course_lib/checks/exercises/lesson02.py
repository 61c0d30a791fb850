"""The exercises on neurons and layers: what each asks, how an answer is judged, and the mistakes that have a name.

Source: Owens, "Inference" and "Matrix Formulation"; Dey, "Feedforward propagation"; Hwu, "Today's Choice: ReLU".
"""

import functools

import numpy as np

from course_lib import reference as ops
from course_lib.checks.exercise import Case, Cause, Exercise
from course_lib.checks.values import Named

# 02.1 ---------------------------------------------------------------------------------------------------------------


def _dead(X, W, b):
    return np.array([max(sum(x * W[:, j]) + b[j] for x in X) <= 0 for j in range(len(b))])


# 02.2 ---------------------------------------------------------------------------------------------------------------


def _orientation(W, x, z, agree=None):
    agree = agree or functools.partial(np.allclose, rtol=0, atol=1e-9)
    fits = (bool(agree(W @ x, z)), bool(agree(x @ W, z)))
    return {(True, True): "both", (True, False): "rows", (False, True): "columns", (False, False): "neither"}[fits]


def _swapped(W, x, z):
    return {"rows": "columns", "columns": "rows"}.get(_orientation(W, x, z), "")


# 02.3 ---------------------------------------------------------------------------------------------------------------


def _inference(X, layers, f):
    columns = X.T
    for rows in layers:
        columns = f(rows @ columns)
    return columns.T


def _untransposed(X, layers, f):
    for rows in layers:
        X = f(X @ (rows if X.shape[1] == rows.shape[0] else rows.T))
    return X


def _inputs_squashed(X, layers, f):
    for rows in layers:
        X = f(X) @ rows.T
    return X


def _last_without(X, layers, f):
    return _inference(X, layers[:-1], f) @ layers[-1].T


# 02.4 ---------------------------------------------------------------------------------------------------------------


def _swish_slope(z):
    t = np.tanh(z / 2)
    return (1 + t) / 2 + z * (1 - t**2) / 4


# 02.5 ---------------------------------------------------------------------------------------------------------------


def _run_layers(X, weights, biases):
    for W, b in zip(weights, biases, strict=True):
        X = X @ W + b
    return X


def _one_layer(weights, biases):
    inputs = len(weights[0])
    b = _run_layers(np.zeros(inputs), weights, biases)
    return _run_layers(np.eye(inputs), weights, biases) - b, b


def _reversed(weights, biases):
    return 1.0 * functools.reduce(np.matmul, weights[::-1]), _one_layer(weights, biases)[1]


def _bias_through_product(weights, biases, first):
    """Return (W, b) where b is multiplied by the product of all matrices so far, with the next one in it if `first`."""
    W, b = weights[0], biases[0]
    for W_next, b_next in zip(weights[1:], biases[1:], strict=True):
        grown = W @ W_next
        W, b = grown, b @ (grown if first else W) + b_next
    return W, 1.0 * b


# 02.6 ---------------------------------------------------------------------------------------------------------------


def _folds(t):
    sums, folds = np.arange(1, len(t)), np.arange(len(t) - 1)
    heights = np.maximum(sums[:, None] - folds, 0)
    return float(t[0]), np.linalg.solve(heights, np.asarray(t[1:], dtype=float) - t[0])


# --------------------------------------------------------------------------------------------------------------------

_LESSON_ROWS = np.array([[1.0, -2.0, 2.0], [2.0, 1.0, -4.0], [1.0, -1.0, 0.0]])
_LESSON_ROWS_OUT = np.array([[-3.0, 1.0, -3.0], [0.0, 1.0, 2.0]])
_LESSON_INPUT = np.array([0.5, 0.9, -0.3])

EXERCISES = (
    Exercise(
        id="02.1",
        function="dead_neurons",
        title="Which neurons are dead?",
        points=1,
        level="warm-up",
        concept="pre-activations of a batch, the slope of ReLU",
        source='Hwu, "Today\'s Choice: ReLU"',
        lines=2,
        expect=_dead,
        cases=(
            Case(
                (
                    np.array([[1, 2], [3, -1], [0, 1]]),
                    np.array([[1, -1, 0, -1], [0, 3, -2, 0]]),
                    np.array([-3, 0, 0, 0]),
                ),
                "neuron 0 has z = -2, 0, -3",
            ),
            Case(
                (np.array([[2.0, -1.0]]), np.array([[-1.0], [2.0]]), np.array([5.0])), "one sample, one neuron, z = 1"
            ),
        ),
        causes=(
            Cause(
                "At z = 0 the slope of ReLU is 0, by the lesson's convention: such a sample moves nothing.",
                lambda X, W, b: np.all(X @ W + b < 0, axis=0),
            ),
            Cause(
                "One sample with a negative z does not kill a neuron; all of them must.",
                lambda X, W, b: np.any(X @ W + b <= 0, axis=0),
            ),
            Cause("The bias is missing in z.", lambda X, W, b: np.all(X @ W <= 0, axis=0)),
            Cause(
                "A neuron is not dead because its mean z is negative: one sample above 0 is enough to move it.",
                lambda X, W, b: np.mean(X @ W + b, axis=0) <= 0,
            ),
            Cause(
                "The bias belongs inside of the ReLU: it is added before anything is cut off at 0.",
                lambda X, W, b: np.all(np.maximum(X @ W, 0) + b <= 0, axis=0),
            ),
            Cause("True and False are exchanged: these are the living neurons.", lambda X, W, b: ~_dead(X, W, b)),
            Cause(
                "The rows of W were taken for neurons: here one column of W belongs to one neuron.",
                lambda X, W, b: _dead(X, W.T, b),
            ),
        ),
    ),
    Exercise(
        id="02.2",
        function="orientation",
        title="Rows or columns?",
        points=2,
        level="core",
        concept="rows and columns as neurons, and how to find a wrong transposition",
        source='Owens, "Matrix Formulation"; Dey, "Feedforward propagation"',
        lines=6,
        expect=_orientation,
        cases=(
            Case((_LESSON_ROWS, _LESSON_INPUT, np.array([-1.9, 3.1, -0.4])), "the lesson's hidden layer"),
            Case((_LESSON_ROWS.T, _LESSON_INPUT, np.array([-1.9, 3.1, -0.4])), "the same with columns"),
            Case(
                (np.array([[4, 1, 2], [1, 0, -1], [3, -1, 5]]), np.array([0, 1, 0]), np.array([1, 0, -1])),
                "the input picks row 1 and column 1",
            ),
            Case((_LESSON_ROWS, _LESSON_INPUT, np.array([-1.9, 3.1, 0.4])), "the last sign is wrong"),
            Case((_LESSON_ROWS, _LESSON_INPUT, np.array([-1.9, 3.10001, -0.4])), "one number is off by 0.00001"),
        ),
        causes=(
            Cause("The two words are exchanged: a matrix of rows stands on the left of x.", _swapped),
            Cause(
                "Products of decimal numbers are rounded: compare with a tolerance, not for equality.",
                lambda W, x, z: _orientation(W, x, z, np.array_equal),
            ),
            Cause(
                "The tolerance is wider than 1e-9: np.allclose has one of its own, unless you set both rtol and atol.",
                lambda W, x, z: _orientation(W, x, z, np.allclose),
            ),
            Cause(
                "Where both products fit, the sample cannot tell; ask for that before you decide.",
                lambda W, x, z: "rows" if _orientation(W, x, z) == "both" else "",
            ),
            Cause(
                "That the one does not fit does not yet mean that the other does.",
                lambda W, x, z: "columns" if _orientation(W, x, z) == "neither" else "",
            ),
            Cause(
                "Every pre-activation must fit, and not only the first.",
                lambda W, x, z: _orientation(W, x, z, lambda got, wanted: np.isclose(got[0], wanted[0])),
            ),
            Cause(
                'The four words are "rows", "columns", "both" and "neither", to the letter.',
                lambda W, x, z: {"rows": "row", "columns": "column"}.get(_orientation(W, x, z), ""),
            ),
            Cause(
                'The four words are "rows", "columns", "both" and "neither", in small letters.',
                lambda W, x, z: _orientation(W, x, z).capitalize(),
            ),
            Cause(
                "A sum, or a norm, can fit by accident: compare element by element.",
                lambda W, x, z: _orientation(W, x, z, lambda got, wanted: np.isclose(got.sum(), wanted.sum())),
            ),
        ),
    ),
    Exercise(
        id="02.3",
        function="inference",
        title="Inference from rows",
        points=2,
        level="core",
        concept="inference layer by layer, a batch as rows",
        source='Owens, "Inference" and "What this means computationally"',
        lines=4,
        expect=_inference,
        cases=(
            Case(
                (np.array([[1.0, -2], [3, 1]]), [np.array([[2, 3]]), np.array([[-1], [4]])], Named("numpy.abs")),
                "by hand: sums -4 and 9, outputs 4, 16 and 9, 36",
            ),
            Case(
                (_LESSON_INPUT[None], [_LESSON_ROWS, _LESSON_ROWS_OUT], Named("course_lib.reference.sigmoid")),
                "the lesson's network",
            ),
            Case(
                (np.array([[0.5, 0.9, -0.3], [1, 0, 0]]), [_LESSON_ROWS], Named("course_lib.reference.relu")),
                "the lesson's hidden layer with ReLU, two samples",
            ),
        ),
        causes=(
            Cause(
                "The activation functions are applied to the inputs of each layer; they belong to the weighted sums.",
                _inputs_squashed,
            ),
            Cause("The last layer has an activation function too.", _last_without),
            Cause(
                "A square matrix was used as it came: one row is one neuron there too, so it must be transposed.",
                _untransposed,
            ),
            Cause(
                "There is no activation function in it.",
                lambda X, layers, f: _inference(X, layers, lambda z: z),
            ),
            Cause(
                "The activation function was applied at the end only; without one in between, "
                "the layers are one matrix.",
                lambda X, layers, f: f(_inference(X, layers, lambda z: z)),
            ),
        ),
    ),
    Exercise(
        id="02.4",
        function="swish_slope",
        title="A slope that is not in the picture",
        points=2,
        level="core",
        concept="derivatives of activation functions",
        source='Hwu, "Sigmoid/Logistic Function"; swish is the course\'s addition',
        lines=2,
        expect=_swish_slope,
        cases=(
            Case((np.array([-2.0, 0.0, 3.0]),), "the slope at 0 is 1/2"),
            Case((np.array([[1, -1], [4, -6]]),), "whole numbers, two axes"),
            Case((np.array([-800.0, 800.0]),), "far from zero: 0 and 1"),
        ),
        causes=(
            Cause(
                "The first factor, z, has a slope too: the product rule has two terms.",
                lambda z: z * ops.sigmoid_prime(z),
            ),
            Cause(
                "The second factor, the sigmoid, has a slope too: the product rule has two terms.",
                lambda z: ops.sigmoid(z),
            ),
            Cause(
                "The slope of a product is not the product of the slopes.",
                lambda z: ops.sigmoid_prime(z),
            ),
            Cause(
                "In f(z) (1 - f(z)) the letter f is the sigmoid, and not the whole function.",
                lambda z: ops.sigmoid(z) + z * (z * ops.sigmoid(z)) * (1 - z * ops.sigmoid(z)),
            ),
            Cause("This is the function itself; its slope was asked for.", lambda z: z * ops.sigmoid(z)),
        ),
        rtol=1e-11,
        instead_of=("numerical_gradient", "gradient", "sigmoid_backward"),
    ),
    Exercise(
        id="02.5",
        function="collapse",
        title="Many layers without activation are one",
        points=2,
        level="core",
        concept="layers without activation functions, order of matrix products, shapes",
        source='Owens, "Matrix Formulation"; Dey, "Feedforward propagation"',
        lines=4,
        expect=_one_layer,
        cases=(
            Case(
                (
                    [np.array([[1, 2], [0, 1]]), np.array([[1, 0], [3, 1]])],
                    [np.array([1, -2]), np.array([0, 5])],
                ),
                "two square layers",
            ),
            Case(
                ([np.array([[1, 2]]), np.array([[3], [4]])], [np.array([1, -1]), np.array([5])]),
                "by hand: W = 3 + 8, b = 3 - 4 + 5",
            ),
        ),
        causes=(
            Cause("The matrices are multiplied in the wrong order: X meets the first layer first.", _reversed),
            Cause(
                "The biases are added up as they are; what the first one adds still passes through the later layers.",
                lambda weights, biases: (_one_layer(weights, biases)[0], 1.0 * functools.reduce(np.add, biases)),
            ),
            Cause(
                "Only the last bias is in it; the earlier ones reach the output too.",
                lambda weights, biases: (_one_layer(weights, biases)[0], 1.0 * biases[-1]),
            ),
            Cause(
                "The last bias is missing.",
                lambda weights, biases: (
                    _one_layer(weights, biases)[0],
                    _one_layer(weights, biases)[1] - biases[-1],
                ),
            ),
            Cause(
                "A bias passes through the layers after its own, and not through its own layer.",
                lambda weights, biases: (
                    _one_layer(weights, biases)[0],
                    functools.reduce(
                        lambda b, layer: (b + layer[1]) @ layer[0], zip(weights, biases, strict=True), 0.0
                    ),
                ),
            ),
            Cause(
                "The bias is multiplied by the product of all matrices so far; it passes through the next one alone.",
                lambda weights, biases: _bias_through_product(weights, biases, first=True),
            ),
            Cause(
                "The bias is multiplied by the matrices before it; it passes through the one that comes next.",
                lambda weights, biases: _bias_through_product(weights, biases, first=False),
            ),
            Cause(
                "Only the first two layers are in it; the list may be of any length.",
                lambda weights, biases: _one_layer(weights[:2], biases[:2]),
            ),
        ),
    ),
    Exercise(
        id="02.6",
        function="fold",
        title="Any truth table that only counts",
        points=3,
        level="stretch",
        concept="what a hidden layer of ReLUs can do that one matrix cannot",
        source='Hwu, "Many Problems Have Systematic Solutions" and "Today\'s Choice: ReLU"',
        lines=3,
        expect=_folds,
        cases=(
            Case((np.array([0, 1, 0]),), "XOR, as in the lesson"),
            Case((np.array([0, 1, 0, 1]),), "parity of three inputs"),
            Case((np.array([1, 1, 0]),), "NAND"),
        ),
        causes=(
            Cause(
                "These are the slopes of the pieces. A ReLU stays on: the next one must only add the change of slope.",
                lambda t: (float(t[0]), 1.0 * np.diff(t)),
            ),
            Cause(
                "Right if the first value were 0. Before the first fold the output is level at t[0], and not at 0.",
                lambda t: (float(t[0]), np.diff(np.concatenate([[0.0], t]), 2)),
            ),
            Cause(
                "The bias is missing: with all inputs 0 every ReLU gives 0, and the output must be t[0].",
                lambda t: (0.0, _folds(t)[1]),
            ),
            Cause(
                "These are the values themselves; the ReLUs of all smaller sums are still on, and add up.",
                lambda t: (float(t[0]), 1.0 * (t[1:] - t[0])),
            ),
            Cause(
                "The signs of the weights are turned.",
                lambda t: (float(t[0]), -_folds(t)[1]),
            ),
        ),
        instead_of=("solve", "lstsq", "inv"),
    ),
)
