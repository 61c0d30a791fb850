"""Usual mistakes in the exercises of lesson 02 that leave a recognisable value, and what is said of each."""

import functools

import numpy as np

from course_lib import reference as ops
from course_lib.checks.exercise import Cause
from course_lib.checks.exercises.lesson02_values import dead, folding, inference, one_layer, orientation

DEAD = (
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
    Cause("True and False are exchanged: these are the living neurons.", lambda X, W, b: ~dead(X, W, b)),
    Cause(
        "The rows of W were taken for neurons: here one column of W belongs to one neuron.",
        lambda X, W, b: dead(X, W.T, b),
    ),
)


def _swapped(W, x, z):
    return {"rows": "columns", "columns": "rows"}.get(orientation(W, x, z), "")


ORIENTATION = (
    Cause("The two words are exchanged: a matrix of rows stands on the left of x.", _swapped),
    Cause(
        "Products of decimal numbers are rounded: compare with a tolerance, not for equality.",
        lambda W, x, z: orientation(W, x, z, np.array_equal),
    ),
    Cause(
        "The tolerance is wider than 1e-9: np.allclose has one of its own, unless you set both rtol and atol.",
        lambda W, x, z: orientation(W, x, z, np.allclose),
    ),
    Cause(
        "Where both products fit, the sample cannot tell; ask for that before you decide.",
        lambda W, x, z: "rows" if orientation(W, x, z) == "both" else "",
    ),
    Cause(
        "That the one does not fit does not yet mean that the other does.",
        lambda W, x, z: "columns" if orientation(W, x, z) == "neither" else "",
    ),
    Cause(
        "Every pre-activation must fit, and not only the first.",
        lambda W, x, z: orientation(W, x, z, lambda got, wanted: np.isclose(got[0], wanted[0])),
    ),
    Cause(
        'The four words are "rows", "columns", "both" and "neither", to the letter.',
        lambda W, x, z: {"rows": "row", "columns": "column"}.get(orientation(W, x, z), ""),
    ),
    Cause(
        'The four words are "rows", "columns", "both" and "neither", in small letters.',
        lambda W, x, z: orientation(W, x, z).capitalize(),
    ),
    Cause(
        "A sum, or a norm, can fit by accident: compare element by element.",
        lambda W, x, z: orientation(W, x, z, lambda got, wanted: np.isclose(got.sum(), wanted.sum())),
    ),
)


def _untransposed(X, layers, f):
    for rows in layers:
        X = f(X @ (rows if X.shape[1] == rows.shape[0] else rows.T))
    return X


def _inputs_squashed(X, layers, f):
    for rows in layers:
        X = f(X) @ rows.T
    return X


def _last_without(X, layers, f):
    return inference(X, layers[:-1], f) @ layers[-1].T


INFERENCE = (
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
        lambda X, layers, f: inference(X, layers, lambda z: z),
    ),
    Cause(
        "The activation function was applied at the end only; without one in between, the layers are one matrix.",
        lambda X, layers, f: f(inference(X, layers, lambda z: z)),
    ),
)

SWISH = (
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
)


def _reversed(weights, biases):
    return 1.0 * functools.reduce(np.matmul, weights[::-1]), one_layer(weights, biases)[1]


def _bias_through_product(weights, biases, first):
    """Return (W, b) where b is multiplied by the product of all matrices so far, with the next one in it if `first`."""
    W, b = weights[0], biases[0]
    for W_next, b_next in zip(weights[1:], biases[1:], strict=True):
        grown = W @ W_next
        W, b = grown, b @ (grown if first else W) + b_next
    return W, 1.0 * b


COLLAPSE = (
    Cause("The matrices are multiplied in the wrong order: X meets the first layer first.", _reversed),
    Cause(
        "The biases are added up as they are; what the first one adds still passes through the later layers.",
        lambda weights, biases: (one_layer(weights, biases)[0], 1.0 * functools.reduce(np.add, biases)),
    ),
    Cause(
        "Only the last bias is in it; the earlier ones reach the output too.",
        lambda weights, biases: (one_layer(weights, biases)[0], 1.0 * biases[-1]),
    ),
    Cause(
        "The last bias is missing.",
        lambda weights, biases: (
            one_layer(weights, biases)[0],
            one_layer(weights, biases)[1] - biases[-1],
        ),
    ),
    Cause(
        "A bias passes through the layers after its own, and not through its own layer.",
        lambda weights, biases: (
            one_layer(weights, biases)[0],
            functools.reduce(lambda b, layer: (b + layer[1]) @ layer[0], zip(weights, biases, strict=True), 0.0),
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
        lambda weights, biases: one_layer(weights[:2], biases[:2]),
    ),
)

FOLD = (
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
        lambda t: (0.0, folding(t)[1]),
    ),
    Cause(
        "These are the values themselves; the ReLUs of all smaller sums are still on, and add up.",
        lambda t: (float(t[0]), 1.0 * (t[1:] - t[0])),
    ),
    Cause(
        "The signs of the weights are turned.",
        lambda t: (float(t[0]), -folding(t)[1]),
    ),
)
