"""Usual mistakes in the exercises of lesson 01 that leave a recognisable value, and what is said of each."""

import math

import numpy as np

from course_lib import reference as ops
from course_lib.checks.exercise import Cause
from course_lib.checks.exercises.lesson01_values import (
    corrections,
    fate,
    held_weights,
    line,
    margin,
    pocket,
    run_states,
)


def _line_of_slope(x, y, w):
    return w, np.mean(y) - w * np.mean(x)


def _line_of_x_from_y(x, y):
    return _line_of_slope(x, y, line(y, x)[0])


def _bias_and_slope(x, y):
    return line(x, y)[::-1]


LINE = (
    Cause("The two numbers are swapped: return the slope w first, then b.", _bias_and_slope),
    Cause(
        "The slope is the one of a line through the origin: subtract the means of x and of y in both sums.",
        lambda x, y: _line_of_slope(x, y, np.dot(x, y) / np.dot(x, x)),
    ),
    Cause(
        "This slope predicts x from y: look at what is squared below the fraction bar.",
        _line_of_x_from_y,
    ),
    Cause(
        "One sum was divided by n and the other by n - 1 (np.cov and np.var differ in that). Take both sums undivided.",
        lambda x, y: _line_of_slope(x, y, line(x, y)[0] * len(x) / (len(x) - 1)),
    ),
    Cause(
        "The bias has the wrong sign: at the mean of x the line must be at the mean of y.",
        lambda x, y: (line(x, y)[0], -line(x, y)[1]),
    ),
)

CORRECTIONS = (
    Cause(
        "The number is right, and it is a float. Corrections are counted: begin with n = 0 and add 1 for each.",
        lambda z, x, y, lr: float(corrections(z, y, lr * (float(np.sum(np.square(x))) + 1))),
    ),
    Cause(
        "The bias learns too: its input is 1 in every sample, and belongs into x . x.",
        lambda z, x, y, lr: corrections(z, y, lr * float(np.sum(np.square(x)))),
    ),
    Cause(
        "The learning rate scales every correction; it was left out.",
        lambda z, x, y, lr: corrections(z, y, float(np.sum(np.square(x))) + 1),
    ),
    Cause(
        "Look at a score of exactly 0: the answer to it is 1.",
        lambda z, x, y, lr: corrections(z, y, lr * (float(np.sum(np.square(x))) + 1), zero_answers_1=False),
    ),
    Cause(
        "A correction moves the score by lr times x . x, the sum of the squares, and not by its root.",
        lambda z, x, y, lr: corrections(z, y, lr * math.sqrt(float(np.sum(np.square(x))) + 1)),
    ),
    Cause(
        "This counts how often the sample is shown; the last time it is right and nothing is corrected.",
        lambda z, x, y, lr: corrections(z, y, lr * (float(np.sum(np.square(x))) + 1)) + 1,
    ),
)


def _distances(x, w):
    return np.abs(ops.add_bias_input(x) @ w) / np.linalg.norm(w[:-1])


MARGIN = (
    Cause(
        "A sample on the wrong side counts negative, and here no distance is.",
        lambda x, y, w: np.min(_distances(x, w)),
    ),
    Cause(
        "The bias moves the line and does not tilt it: it has no place in the root.",
        lambda x, y, w: margin(x, y, w) * np.linalg.norm(w[:-1]) / np.linalg.norm(w),
    ),
    Cause(
        "This is a score and no distance yet: the same line with doubled weights must have the same margin.",
        lambda x, y, w: margin(x, y, w) * np.linalg.norm(w[:-1]),
    ),
    Cause(
        "Samples of label 0 are right where the score is negative: their sign must be turned.",
        lambda x, y, w: margin(x, np.ones_like(y), w),
    ),
    Cause(
        "A label of 0 as a factor makes the distance 0, whatever it was.",
        lambda x, y, w: np.min(y * (ops.add_bias_input(x) @ w)) / np.linalg.norm(w[:-1]),
    ),
)


def _without_start(x, y, lr, epochs):
    held, wrong = held_weights(x, y, lr, epochs)
    held = [w for w in held if w.any()]
    wrong = [int(np.sum(ops.perceptron_predict(x, w) != y)) for w in held]
    return held[wrong.index(min(wrong))], min(wrong)


def _last_of_equals(x, y, lr, epochs):
    held, wrong = held_weights(x, y, lr, epochs)
    return held[::-1][wrong[::-1].index(min(wrong))], min(wrong)


def _last_weights(x, y, lr, epochs):
    held, wrong = held_weights(x, y, lr, epochs)
    return held[-1], wrong[-1]


def _not_copied(x, y, lr, epochs):
    held, wrong = held_weights(x, y, lr, epochs)
    return held[-1], min(wrong)


def _start_alone(x, y, lr, epochs):
    held, wrong = held_weights(x, y, lr, epochs)
    return held[0], wrong[0]


def _bias_first(x, y, lr, epochs):
    w, wrong = pocket(x, y, lr, epochs)
    return np.roll(w, 1), wrong


def _ends_of_epochs(x, y, lr, epochs):
    held, wrong = held_weights(x, y, lr, epochs)
    held, wrong = held[:: len(y)], wrong[:: len(y)]
    return held[wrong.index(min(wrong))], min(wrong)


POCKET = (
    Cause(
        "These are the right weights with the bias in front: the column of ones comes last, and the bias with it.",
        _bias_first,
    ),
    Cause(
        "These are the last weights of the run, with the number that belongs to better ones: "
        "was the array in the pocket changed after it was put there?",
        _not_copied,
    ),
    Cause("These are the last weights of the run; return the best that it held.", _last_weights),
    Cause(
        "Among equally good weights the first stay in the pocket; these came later.",
        _last_of_equals,
    ),
    Cause("The weights of the start are weights too: they are in the pocket first.", _without_start),
    Cause(
        "The pocket was looked at only after whole epochs; the best weights may come in the middle of one.",
        _ends_of_epochs,
    ),
    Cause("These are still the zeros of the start; the run held better weights later.", _start_alone),
)


def _without_bias(x, y, order):
    fit = ops.perceptron_fit(x, y, order=order, epochs=100, bias=False)
    states = [tuple(step.w_after) for step in fit.steps[len(y) - 1 :: len(y)]]
    return (True, fit.epochs) if fit.converged else (False, states[::-1].index(states[-1], 1))


def _stops_at_a_repeat(x, y, order):
    learned, _ = fate(x, y, order)
    return (False, 1) if learned else None


def _first_return(x, y, order):
    _, states = run_states(x, y, order)
    return next(i + 1 for i, state in enumerate(states) if state in states[:i])


FATE = (
    Cause(
        "Weights that stay as they are can mean two things: ask first whether the epoch had a mistake.",
        _stops_at_a_repeat,
    ),
    Cause(
        "The epoch without a mistake counts too: it was run.",
        lambda x, y, order: (fate(x, y, order)[0], fate(x, y, order)[1] - 1),
    ),
    Cause(
        "This is the epoch in which the weights came back; the length is counted from where they were before.",
        lambda x, y, order: (False, _first_return(x, y, order)),
    ),
    Cause(
        "The samples were shown in the order of their rows; show them in the given order.",
        lambda x, y, order: fate(x, y, np.sort(order)),
    ),
    Cause("The result is that of a run without a bias: is the bias input there?", _without_bias),
    Cause("Cycles can be longer than one epoch; compare with all earlier epochs.", lambda x, y, order: (False, 0)),
)
