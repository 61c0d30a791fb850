"""Right values of the exercises of lesson 02, in other ways than the sheet asks for.

Options are what the usual mistakes in `lesson02_mistakes` do otherwise.
"""

import functools

import numpy as np


def dead(X, W, b):
    """Return which neurons of a layer answer 0 to every sample."""
    return np.array([max(sum(x * W[:, j]) + b[j] for x in X) <= 0 for j in range(len(b))])


def orientation(W, x, z, agree=None):
    """Return which products of W and x are z; `agree` compares them."""
    agree = agree or functools.partial(np.allclose, rtol=0, atol=1e-9)
    fits = (bool(agree(W @ x, z)), bool(agree(x @ W, z)))
    return {(True, True): "both", (True, False): "rows", (False, True): "columns", (False, False): "neither"}[fits]


def inference(X, layers, f):
    """Return (n, m), what layers whose neurons are rows of weights make of n samples."""
    columns = X.T
    for rows in layers:
        columns = f(rows @ columns)
    return columns.T


def swish_slope(z):
    """Return the slope of swish, by tanh."""
    t = np.tanh(z / 2)
    return (1 + t) / 2 + z * (1 - t**2) / 4


def run_layers(X, weights, biases):
    """Return what layers without activations make of X."""
    for W, b in zip(weights, biases, strict=True):
        X = X @ W + b
    return X


def one_layer(weights, biases):
    """Return (W, b) of the layer that does what all of them do."""
    inputs = len(weights[0])
    b = run_layers(np.zeros(inputs), weights, biases)
    return run_layers(np.eye(inputs), weights, biases) - b, b


def folding(t):
    """Return (b, c): the bias, and the weights by which ReLUs that fold at 0, 1, 2, ... pass through all t[s]."""
    sums, folds = np.arange(1, len(t)), np.arange(len(t) - 1)
    heights = np.maximum(sums[:, None] - folds, 0)
    return float(t[0]), np.linalg.solve(heights, np.asarray(t[1:], dtype=float) - t[0])
