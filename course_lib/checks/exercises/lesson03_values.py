"""Right values of the exercises of lesson 03, by the library, or by trying and halving where a formula is asked for.

Options are what the usual mistakes in `lesson03_mistakes` do otherwise.
"""

import numpy as np

from course_lib import reference as ops


def measures(o, y):
    """Return half the squared sum, the quadratic cost and the mean squared error."""
    mean_squared_error = 4 * float(np.mean(np.var([o, y], axis=0)))  # two numbers lie half their distance from the mean
    return ops.half_squared_sum_forward(o, y)[0], ops.quadratic_cost_forward(o, y)[0], mean_squared_error


def robust_gradient(X, y, w, limit):
    """Return the gradient where errors beyond `limit` pull no harder than it."""
    e = X @ w - y
    return pulled(X, (np.abs(e + limit) - np.abs(e - limit)) / 2)


def pulled(X, e):
    """Return the gradient in which sample i pulls with e[i]."""
    return 1.0 * (X.T @ e)


def opinions(k, labels):
    """Return how many answers are right, and the two losses."""
    one_minus = ops.one_minus_probability_forward(k, labels)[0]
    cross_entropy = ops.softmax_cross_entropy_forward(np.log(k), labels)[0]
    return int(np.sum(np.argsort(k, axis=1)[:, -1] == labels)), one_minus, cross_entropy


def steps_to_arrive(h, lr, distance, tolerance):
    """Return how many steps bring the distance within the tolerance, -1 if none do."""
    with np.errstate(over="ignore", invalid="ignore"):
        near = distance * np.abs(1 - lr * h) ** np.arange(200_000.0) <= tolerance
    return int(np.argmax(near)) if near.any() else -1


def merged(gradients, sizes):
    """Return the mean of the gradients of all samples, by those of batches."""
    samples = np.repeat(gradients, sizes, axis=0)
    return samples.mean(axis=0)


def best_rate(curvatures):
    """Return (lr, r). The worst of |1 - lr h| falls, then rises with lr: halve the interval in which it turns."""
    h = [float(np.min(curvatures)), float(np.max(curvatures))]
    low, high = 0.0, 2 / h[1]
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if 1 - middle * h[0] > middle * h[1] - 1 else (low, middle)
    return low, abs(1 - low * h[0])
