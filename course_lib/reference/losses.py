"""Loss functions and their gradients: how wrong is the output, and which way is better.

Source: K, "Loss Function" (half squared sum); O, "How good is our network?" (quadratic cost);
H, "Choosing an Error Function" (1 - k[T], expected squared distance). Each pair is
`x_forward(prediction, target) -> (loss, cache)` and `x_backward(cache) -> dprediction`,
with dprediction of the prediction's shape. The loss is a float.
"""

import numpy as np

from course_lib.reference.probabilities import softmax
from course_lib.validate import as_float, as_labels, require_probabilities, require_same_shape

LOSSES = (
    "half_squared_sum",
    "quadratic_cost",
    "one_minus_probability",
    "expected_squared_distance",
    "softmax_cross_entropy",
    "rbf_loss",
)
"""Names of the losses: operations that return one number, and whose backward needs no upstream gradient."""


def half_squared_sum_forward(o, y):
    """J = 1/2 sum (y - o)^2 over all elements.

    K calls it "mean squared error", but takes no mean; and it is the whole difference that is squared.

    o, y (...) of equal shape and not empty, else ValueError; returns (float, cache).
    Source: K, "Loss Function".
    """
    o, y = _same(o, y)
    difference = o - y
    return float(0.5 * np.sum(difference * difference)), difference


def half_squared_sum_backward(cache):
    """dJ/do = o - y; returns (...), the shape of o. No errors. Source: K, "Chain Rule"."""
    return cache


def quadratic_cost_forward(a, y):
    """C = 1/(2n) sum ||y - a||^2 over a batch of n rows.

    a, y (n, C) of equal shape, n >= 1, else ValueError; returns (float, cache).
    Source: O, "How good is our network?".
    """
    a, y = _same(a, y)
    if a.ndim == 0:
        raise ValueError("a is a single number; the quadratic cost averages over the rows of a batch (n, C).")
    difference = a - y
    return float(np.sum(difference * difference) / (2 * len(a))), difference


def quadratic_cost_backward(cache):
    """dC/da = (a - y) / n; returns (n, C). No errors. Source: O, "Find the global minimum"."""
    return cache / len(cache)


def one_minus_probability_forward(k, labels):
    """E = mean of 1 - k[T]: the probability not given to the right class.

    k (B, C) rows of probabilities, >= 0 with sum 1 (within 0.001); labels (B,) int in 0 .. C - 1; B >= 1; else
    ValueError; returns (float, cache).
    Source: H, "Choosing an Error Function".
    """
    k, labels = _rows(k, labels)
    require_probabilities("k", k)
    return float(np.mean(1 - k[np.arange(len(k)), labels])), (k, labels)


def one_minus_probability_backward(cache):
    """dE/dk: -1/B at each row's right class, 0 elsewhere; returns (B, C). No errors. Source: H."""
    k, labels = cache
    dk = np.zeros_like(k)
    dk[np.arange(len(k)), labels] = -1 / len(k)
    return dk


def expected_squared_distance_forward(k, labels):
    """E = mean of sum_j k[j] (j - T)^2: how far, in class numbers, the guess lies from the truth.

    Only for classes that are numbers, such as digits: mistaking 3 for 4 costs 1, for 9 it costs 36.
    k (B, C) rows of probabilities, >= 0 with sum 1 (within 0.001); labels (B,) int in 0 .. C - 1; B >= 1; else
    ValueError; returns (float, cache).
    Source: H, "Choosing an Error Function".
    """
    k, labels = _rows(k, labels)
    require_probabilities("k", k)
    distance = ((np.arange(k.shape[1])[None, :] - labels[:, None]) ** 2).astype(k.dtype)  # (B, C)
    return float(np.mean(np.sum(k * distance, axis=1))), distance


def expected_squared_distance_backward(cache):
    """dE/dk = (j - T)^2 / B; returns (B, C). No errors. Source: H, "Choosing an Error Function"."""
    return cache / len(cache)


def softmax_cross_entropy_forward(z, labels):
    """E = mean of -ln softmax(z)[T]: how surprised the network is by the right class.

    ln softmax(z)[T] = z[T] - max - ln sum_j e^(z[j] - max): the probability itself is never formed,
    so scores of 10,000 neither overflow nor turn into ln 0.

    z (B, C) scores, labels (B,) int in 0 .. C - 1, B >= 1, else ValueError; returns (float, cache).
    Source: H, "Use Softmax to Produce Probabilities"; the cross-entropy is the course's addition.
    """
    z, labels = _rows(z, labels, name="z")
    shifted = z - z.max(axis=1, keepdims=True)
    log_k = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return float(-np.mean(log_k[np.arange(len(z)), labels])), (softmax(z), labels)


def softmax_cross_entropy_backward(cache):
    """dE/dz = (k - onehot(T)) / B; returns (B, C). No errors.

    The softmax Jacobian and the 1/k of the logarithm cancel. Source: H, "Softmax Derivatives Needed to Train".
    """
    k, labels = cache
    dz = k.copy()
    dz[np.arange(len(k)), labels] -= 1
    return dz / len(k)


def _same(prediction, target):
    prediction, target = as_float("prediction", prediction), as_float("target", target)
    require_same_shape("prediction", prediction, "target", target)
    if prediction.size == 0:
        raise ValueError(f"prediction has shape {prediction.shape}: the batch is empty; a loss needs values.")
    return prediction, target


def _rows(prediction, labels, name="k"):
    prediction = as_float(name, prediction, ndim=2, min_rows=1)
    return prediction, as_labels("labels", labels, rows=prediction.shape[0], classes=prediction.shape[1])
