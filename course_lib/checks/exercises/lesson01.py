"""The exercises on the perceptron: what each asks, how an answer is judged, and the mistakes that have a name.

Source: Dey, "Linear Regression" and "Perceptron Algorithm"; Hwu, "Many Problems Have Systematic Solutions".
"""

import math

import numpy as np

from course_lib import reference as ops
from course_lib.checks.exercise import Case, Cause, Exercise

# 01.1 ---------------------------------------------------------------------------------------------------------------


def _line(x, y):
    w, b = ops.linear_regression_fit(x[:, None], y)
    return float(w[0]), b


def _line_of_slope(x, y, w):
    return w, np.mean(y) - w * np.mean(x)


def _line_of_x_from_y(x, y):
    return _line_of_slope(x, y, _line(y, x)[0])


def _bias_and_slope(x, y):
    return _line(x, y)[::-1]


# 01.2 ---------------------------------------------------------------------------------------------------------------


def _corrections(z, y, size, zero_answers_1=True):
    if y == 1:
        return max(0, math.ceil(-z / size) if zero_answers_1 else math.floor(-z / size) + 1)
    return max(0, math.floor(z / size) + 1 if zero_answers_1 else math.ceil(z / size))


# 01.3 ---------------------------------------------------------------------------------------------------------------


def _margin(x, y, w):
    heights = x @ (w[:-1] / np.linalg.norm(w[:-1])) + w[-1] / np.linalg.norm(w[:-1])
    return min(np.min(heights[y == 1], initial=np.inf), -np.max(heights[y == 0], initial=-np.inf))


def _distances(x, w):
    return np.abs(ops.add_bias_input(x) @ w) / np.linalg.norm(w[:-1])


# 01.4 ---------------------------------------------------------------------------------------------------------------


def _held(x, y, lr, epochs):
    """All weights that a run holds, in order, and how many samples each gets wrong."""
    fit = ops.perceptron_fit(x, y, lr=lr, epochs=epochs)
    held = [np.zeros(x.shape[1] + 1), *(step.w_after for step in fit.steps)]
    return held, [int(np.sum(ops.perceptron_predict(x, w) != y)) for w in held]


def _pocket(x, y, lr, epochs):
    held, wrong = _held(x, y, lr, epochs)
    return held[wrong.index(min(wrong))], min(wrong)


def _without_start(x, y, lr, epochs):
    held, wrong = _held(x, y, lr, epochs)
    held = [w for w in held if w.any()]
    wrong = [int(np.sum(ops.perceptron_predict(x, w) != y)) for w in held]
    return held[wrong.index(min(wrong))], min(wrong)


def _last_of_equals(x, y, lr, epochs):
    held, wrong = _held(x, y, lr, epochs)
    return held[::-1][wrong[::-1].index(min(wrong))], min(wrong)


def _last_weights(x, y, lr, epochs):
    held, wrong = _held(x, y, lr, epochs)
    return held[-1], wrong[-1]


def _not_copied(x, y, lr, epochs):
    held, wrong = _held(x, y, lr, epochs)
    return held[-1], min(wrong)


def _start_alone(x, y, lr, epochs):
    held, wrong = _held(x, y, lr, epochs)
    return held[0], wrong[0]


def _bias_first(x, y, lr, epochs):
    w, wrong = _pocket(x, y, lr, epochs)
    return np.roll(w, 1), wrong


def _ends_of_epochs(x, y, lr, epochs):
    held, wrong = _held(x, y, lr, epochs)
    held, wrong = held[:: len(y)], wrong[:: len(y)]
    return held[wrong.index(min(wrong))], min(wrong)


# 01.5 ---------------------------------------------------------------------------------------------------------------


def _states(x, y, order):
    fit = ops.perceptron_fit(x, y, order=order, epochs=400)
    return fit, [tuple(step.w_after) for step in fit.steps[len(y) - 1 :: len(y)]]


def _fate(x, y, order):
    fit, states = _states(x, y, order)
    if fit.converged:
        return True, fit.epochs
    return False, states[::-1].index(states[-1], 1)


def _without_bias(x, y, order):
    fit = ops.perceptron_fit(x, y, order=order, epochs=100, bias=False)
    states = [tuple(step.w_after) for step in fit.steps[len(y) - 1 :: len(y)]]
    return (True, fit.epochs) if fit.converged else (False, states[::-1].index(states[-1], 1))


def _stops_at_a_repeat(x, y, order):
    learned, _ = _fate(x, y, order)
    return (False, 1) if learned else None


def _first_return(x, y, order):
    _, states = _states(x, y, order)
    return next(i + 1 for i, state in enumerate(states) if state in states[:i])


# --------------------------------------------------------------------------------------------------------------------

_TWO_SIDES = np.array([[3, 1], [0, 0], [-1, 1]])
_XOR = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
_OVERLAP = np.array([[2, -1], [-2, 0], [-2, 3], [-2, 1]])

EXERCISES = (
    Exercise(
        id="01.1",
        function="fit_line",
        title="The line of least squares",
        points=1,
        level="warm-up",
        concept="linear regression in closed form",
        section="When the answer is a number",
        source='Dey, "Linear Regression"',
        lines=4,
        expect=_line,
        cases=(
            Case((np.array([1, 3, 5]), np.array([6, 1, 2])), "by hand: w = -8/8, b = 3 + 3"),
            Case((np.array([-2.0, 0.5]), np.array([1.0, -4.0])), "two points: the line through both"),
        ),
        causes=(
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
                "One sum was divided by n and the other by n - 1 (np.cov and np.var differ in that). "
                "Take both sums undivided.",
                lambda x, y: _line_of_slope(x, y, _line(x, y)[0] * len(x) / (len(x) - 1)),
            ),
            Cause(
                "The bias has the wrong sign: at the mean of x the line must be at the mean of y.",
                lambda x, y: (_line(x, y)[0], -_line(x, y)[1]),
            ),
        ),
        instead_of=("linear_regression_fit", "lstsq", "polyfit", "linregress"),
    ),
    Exercise(
        id="01.2",
        function="corrections_needed",
        title="How often must it be shown?",
        points=2,
        level="core",
        concept="what one correction does to the score",
        section="Learning by hand",
        source='Dey, "Perceptron Algorithm"',
        lines=6,
        expect=lambda z, x, y, lr: _corrections(z, y, lr * (float(np.sum(np.square(x))) + 1)),
        cases=(
            Case((-9.0, np.array([1, 0]), 1, 1.0), "scores -9, -7, -5, -3, -1, 1"),
            Case((-6.0, np.array([1, 1]), 1, 0.5), "the fourth correction makes the score exactly 0"),
            Case((3.0, np.array([1, 1]), 0, 1.0), "label 0"),
            Case((2.0, np.array([4, -3]), 1, 1.0), "right already"),
        ),
        causes=(
            Cause(
                "The number is right, and it is a float. Corrections are counted: begin with n = 0 and add 1 for each.",
                lambda z, x, y, lr: float(_corrections(z, y, lr * (float(np.sum(np.square(x))) + 1))),
            ),
            Cause(
                "The bias learns too: its input is 1 in every sample, and belongs into x . x.",
                lambda z, x, y, lr: _corrections(z, y, lr * float(np.sum(np.square(x)))),
            ),
            Cause(
                "The learning rate scales every correction; it was left out.",
                lambda z, x, y, lr: _corrections(z, y, float(np.sum(np.square(x))) + 1),
            ),
            Cause(
                "Look at a score of exactly 0: the answer to it is 1.",
                lambda z, x, y, lr: _corrections(z, y, lr * (float(np.sum(np.square(x))) + 1), zero_answers_1=False),
            ),
            Cause(
                "A correction moves the score by lr times x . x, the sum of the squares, and not by its root.",
                lambda z, x, y, lr: _corrections(z, y, lr * math.sqrt(float(np.sum(np.square(x))) + 1)),
            ),
            Cause(
                "This counts how often the sample is shown; the last time it is right and nothing is corrected.",
                lambda z, x, y, lr: _corrections(z, y, lr * (float(np.sum(np.square(x))) + 1)) + 1,
            ),
        ),
    ),
    Exercise(
        id="01.3",
        function="margin",
        title="A margin with a sign",
        points=2,
        level="core",
        concept="score, distance from the line, margin",
        section="Does it find the best line?",
        source='Dey, "Perceptron: Linear Binary Classifier"',
        lines=4,
        expect=_margin,
        cases=(
            Case((_TWO_SIDES, np.array([1, 0, 0]), np.array([3, 4, -5])), "distances 1.6, 1, 0.8, all right"),
            Case((_TWO_SIDES, np.array([1, 1, 0]), np.array([3, 4, -5])), "the second sample is on the wrong side"),
        ),
        causes=(
            Cause(
                "A sample on the wrong side counts negative, and here no distance is.",
                lambda x, y, w: np.min(_distances(x, w)),
            ),
            Cause(
                "The bias moves the line and does not tilt it: it has no place in the root.",
                lambda x, y, w: _margin(x, y, w) * np.linalg.norm(w[:-1]) / np.linalg.norm(w),
            ),
            Cause(
                "This is a score and no distance yet: the same line with doubled weights must have the same margin.",
                lambda x, y, w: _margin(x, y, w) * np.linalg.norm(w[:-1]),
            ),
            Cause(
                "Samples of label 0 are right where the score is negative: their sign must be turned.",
                lambda x, y, w: _margin(x, np.ones_like(y), w),
            ),
            Cause(
                "A label of 0 as a factor makes the distance 0, whatever it was.",
                lambda x, y, w: np.min(y * (ops.add_bias_input(x) @ w)) / np.linalg.norm(w[:-1]),
            ),
        ),
    ),
    Exercise(
        id="01.4",
        function="train_with_pocket",
        title="A perceptron with a pocket",
        points=3,
        level="core",
        concept="the learning rule, and what it does where no line is right",
        section="The loop",
        source='Dey, "Perceptron Algorithm" and "XOR?"',
        lines=14,
        expect=_pocket,
        cases=(
            Case((_XOR, np.array([1, 1, 1, 0]), 1.0, 10), "NAND"),
            Case((_OVERLAP, np.array([1, 0, 0, 1]), 0.5, 2), "the best weights are held in the middle of an epoch"),
            Case((_XOR, np.array([0, 1, 1, 0]), 1.0, 10), "XOR: nothing is better than the zeros of the start"),
        ),
        causes=(
            Cause(
                "These are the right weights with the bias in front: the column of ones comes last, "
                "and the bias with it.",
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
        ),
        instead_of=("perceptron_fit",),
    ),
    Exercise(
        id="01.5",
        function="fate",
        title="A run that knows when it will never end",
        points=3,
        level="stretch",
        concept="convergence, cycles of the weights",
        section="What no line can do: XOR",
        source='Dey, "Perceptron Algorithm"; Hwu, "Many Problems Have Systematic Solutions"',
        lines=16,
        expect=_fate,
        cases=(
            Case((_XOR, np.array([1, 0, 1, 1]), np.array([0, 2, 1, 3])), "1 where x1 >= x2; row 2 before row 1"),
            Case((_XOR, np.array([1, 1, 1, 0]), np.array([0, 1, 2, 3])), "NAND"),
            Case((_XOR, np.array([0, 1, 1, 0]), np.array([0, 1, 2, 3])), "XOR"),
            Case((np.array([[1], [2], [4]]), np.array([0, 1, 0]), np.array([0, 1, 2])), "a cycle of three epochs"),
        ),
        causes=(
            Cause(
                "Weights that stay as they are can mean two things: ask first whether the epoch had a mistake.",
                _stops_at_a_repeat,
            ),
            Cause(
                "The epoch without a mistake counts too: it was run.",
                lambda x, y, order: (_fate(x, y, order)[0], _fate(x, y, order)[1] - 1),
            ),
            Cause(
                "This is the epoch in which the weights came back; the length is counted from where they were before.",
                lambda x, y, order: (False, _first_return(x, y, order)),
            ),
            Cause(
                "The samples were shown in the order of their rows; show them in the given order.",
                lambda x, y, order: _fate(x, y, np.sort(order)),
            ),
            Cause("The result is that of a run without a bias: is the bias input there?", _without_bias),
            Cause(
                "Cycles can be longer than one epoch; compare with all earlier epochs.", lambda x, y, order: (False, 0)
            ),
        ),
        instead_of=("perceptron_fit", "cycle_of"),
    ),
)
