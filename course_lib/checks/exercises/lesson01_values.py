"""Right values of the exercises of lesson 01, by the library, and by the steps of its runs.

Options are what the usual mistakes in `lesson01_mistakes` do otherwise.
"""

import math

import numpy as np

from course_lib import reference as ops


def line(x, y):
    """Return (w, b) of the line of least squares."""
    w, b = ops.linear_regression_fit(x[:, None], y)
    return float(w[0]), b


def corrections(z, y, size, zero_answers_1=True):
    """Return how many corrections of `size` turn a score z right; unless `zero_answers_1`, a score of 0 answers 0."""
    if y == 1:
        return max(0, math.ceil(-z / size) if zero_answers_1 else math.floor(-z / size) + 1)
    return max(0, math.floor(z / size) + 1 if zero_answers_1 else math.ceil(z / size))


def margin(x, y, w):
    """Return the least distance from the line of w, negative if a sample is on its wrong side."""
    heights = x @ (w[:-1] / np.linalg.norm(w[:-1])) + w[-1] / np.linalg.norm(w[:-1])
    return min(np.min(heights[y == 1], initial=np.inf), -np.max(heights[y == 0], initial=-np.inf))


def held_weights(x, y, lr, epochs):
    """Return all weights that a run holds, in order, and how many samples each gets wrong."""
    fit = ops.perceptron_fit(x, y, lr=lr, epochs=epochs)
    held = [np.zeros(x.shape[1] + 1), *(step.w_after for step in fit.steps)]
    return held, [int(np.sum(ops.perceptron_predict(x, w) != y)) for w in held]


def pocket(x, y, lr, epochs):
    """Return the first of the best weights that a run holds, and how many samples they get wrong."""
    held, wrong = held_weights(x, y, lr, epochs)
    return held[wrong.index(min(wrong))], min(wrong)


def run_states(x, y, order):
    """Return a run of the perceptron, and its weights at the end of each epoch."""
    fit = ops.perceptron_fit(x, y, order=order, epochs=400)
    return fit, [tuple(step.w_after) for step in fit.steps[len(y) - 1 :: len(y)]]


def fate(x, y, order):
    """Return (True, epochs) of a run that ends, else (False, the length of its cycle)."""
    fit, states = run_states(x, y, order)
    if fit.converged:
        return True, fit.epochs
    return False, states[::-1].index(states[-1], 1)
