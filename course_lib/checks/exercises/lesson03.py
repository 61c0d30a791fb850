"""The exercises on losses and descent: what each asks, how an answer is judged, and the mistakes that have a name.

Source: Dey, "Loss Function" and "Minimizing Loss Function"; Owens, "How good is our network?" and "Stochastic gradient
descent"; Hwu, "Choosing an Error Function".
"""

import math

import numpy as np

from course_lib import reference as ops
from course_lib.checks.exercise import Case, Cause, Exercise

# 03.1 ---------------------------------------------------------------------------------------------------------------


def _measures(o, y):
    mean_squared_error = 4 * float(np.mean(np.var([o, y], axis=0)))  # two numbers lie half their distance from the mean
    return ops.half_squared_sum_forward(o, y)[0], ops.quadratic_cost_forward(o, y)[0], mean_squared_error


def _made_of(total, o, J=2, C=2):
    """The three measures, made from another sum than that of the squares, or with other factors."""
    return float(total) / J, float(total) / C / len(o), float(total) / o.size


# 03.2 ---------------------------------------------------------------------------------------------------------------


def _robust_gradient(X, y, w, limit):
    e = X @ w - y
    return _pulled(X, (np.abs(e + limit) - np.abs(e - limit)) / 2)


def _losses(e, limit):
    return np.where(np.abs(e) <= limit, e**2 / 2, limit * np.abs(e) - limit**2 / 2)


def _pulled(X, e):
    return 1.0 * (X.T @ e)


# 03.3 ---------------------------------------------------------------------------------------------------------------


def _opinions(k, labels):
    one_minus = ops.one_minus_probability_forward(k, labels)[0]
    cross_entropy = ops.softmax_cross_entropy_forward(np.log(k), labels)[0]
    return int(np.sum(np.argsort(k, axis=1)[:, -1] == labels)), one_minus, cross_entropy


def _other_opinions(k, labels, *, count=None, first=None, second=None):
    """The right answer with some of its three values exchanged."""
    own = k[np.arange(len(k)), labels]
    right = _opinions(k, labels)
    parts = (count(k, own) if count else right[0], first(own) if first else right[1])
    return (*parts, second(own) if second else right[2])


# 03.4 ---------------------------------------------------------------------------------------------------------------


def _steps(h, lr, distance, tolerance):
    with np.errstate(over="ignore", invalid="ignore"):
        near = distance * np.abs(1 - lr * h) ** np.arange(200_000.0) <= tolerance
    return int(np.argmax(near)) if near.any() else -1


def _counted(size, distance, tolerance, never=-1):
    """Steps of a walk whose distance is multiplied by `size`, or loses it where it is a negative number."""
    with np.errstate(over="ignore", invalid="ignore"):
        n = np.arange(20_000.0)
        near = (distance * size**n if size >= 0 else distance + size * n) <= tolerance
    return int(np.argmax(near)) if near.any() else never


def _one_more(h, lr, distance, tolerance):
    steps = _steps(h, lr, distance, tolerance)
    return steps + 1 if lr * h < 2 and steps >= 0 else steps


# 03.5 ---------------------------------------------------------------------------------------------------------------


def _merged(gradients, sizes):
    samples = np.repeat(gradients, sizes, axis=0)
    return samples.mean(axis=0)


# 03.6 ---------------------------------------------------------------------------------------------------------------


def _rate(curvatures):
    """The worst of |1 - lr h| falls, then rises with lr: halve the interval in which it turns."""
    h = [float(np.min(curvatures)), float(np.max(curvatures))]
    low, high = 0.0, 2 / h[1]
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if 1 - middle * h[0] > middle * h[1] - 1 else (low, middle)
    return low, abs(1 - low * h[0])


def _with_rate(curvatures, lr):
    return float(lr), float(np.max(np.abs(1 - lr * np.asarray(curvatures))))


# --------------------------------------------------------------------------------------------------------------------

_FAR = np.array([[1, 1], [2, 1], [6, 1]])
_GUESSES = np.array([[0.51, 0.24, 0.25], [0.25, 0.25, 0.5], [0.1, 0.8, 0.1], [0.4, 0.35, 0.25], [0.5, 0.4, 0.1]])

EXERCISES = (
    Exercise(
        id="03.1",
        function="three_measures",
        title="Three measures of one mistake",
        points=1,
        level="warm-up",
        concept="half squared sum, quadratic cost, mean squared error",
        source='Dey, "Loss Function"; Owens, "How good is our network?"',
        section="Many weights: the formula, with shapes",
        lines=4,
        expect=_measures,
        cases=(
            Case(
                (np.array([[1, 2], [0, -1], [3, 5]]), np.array([[4, 3], [0, 1], [3, 3]])),
                "by hand: the squares are 9, 1, 0, 4, 0, 4",
            ),
            Case((np.array([[1.5]]), np.array([[-1.0]])), "one sample, one output"),
        ),
        causes=(
            Cause(
                "The inner parentheses square the output alone; the whole difference is squared.",
                lambda o, y: (
                    float(np.sum(y - o**2.0)) / 2,
                    float(np.sum(y - o**2.0)) / 2 / len(o),
                    float(np.mean(y - o**2.0)),
                ),
            ),
            Cause(
                "The n of the quadratic cost counts the samples, which are the rows, and not the numbers in the array.",
                lambda o, y: (_measures(o, y)[0], _measures(o, y)[0] / o.size, _measures(o, y)[2]),
            ),
            Cause(
                "The mean squared error is a mean over all numbers, and not over the rows only.",
                lambda o, y: (*_measures(o, y)[:2], 2 * _measures(o, y)[0] / len(o)),
            ),
            Cause(
                "The last number is the quadratic cost C once more: it is the mean squared error for two outputs only.",
                lambda o, y: (*_measures(o, y)[:2], _measures(o, y)[1]),
            ),
            Cause(
                "One half is missing in J, and in the C that was made from it.",
                lambda o, y: (2 * _measures(o, y)[0], 2 * _measures(o, y)[1], _measures(o, y)[2]),
            ),
            Cause(
                "Errors of different signs cancel here: the differences are added up before they are squared.",
                lambda o, y: (
                    float(np.sum(o - y)) ** 2 / 2,
                    float(np.sum(o - y)) ** 2 / 2 / len(o),
                    float(np.mean(o - y)) ** 2,
                ),
            ),
            Cause(
                "The quadratic cost has its half too: divide by twice the number of samples.",
                lambda o, y: (_measures(o, y)[0], 2 * _measures(o, y)[1], _measures(o, y)[2]),
            ),
            Cause(
                "The mean squared error has no half: it is the mean of the squares and nothing else.",
                lambda o, y: (*_measures(o, y)[:2], _measures(o, y)[2] / 2),
            ),
            Cause(
                "A root was taken at the end. The mean squared error stays squared.",
                lambda o, y: (*_measures(o, y)[:2], math.sqrt(_measures(o, y)[2])),
            ),
            Cause(
                "The differences are not squared here: their absolute values are added up.",
                lambda o, y: _made_of(np.sum(np.abs(y - o)), o),
            ),
            Cause(
                "A norm is the root of the sum of squares. Here the sum itself is wanted.",
                lambda o, y: _made_of(math.sqrt(np.sum((y - o) ** 2.0)), o),
            ),
        ),
        parts=("J", "C", "the mean squared error"),
        instead_of=("half_squared_sum_forward", "quadratic_cost_forward", "mean_squared_error"),
    ),
    Exercise(
        id="03.2",
        function="robust_gradient",
        title="A loss that does not run after one sample",
        points=2,
        level="core",
        concept="from a loss to its gradient; what a far sample pulls",
        source='Dey, "Loss Function" and "Minimizing Loss Function"; the loss is the course\'s addition',
        section="Many weights: the formula, with shapes",
        lines=3,
        expect=_robust_gradient,
        cases=(
            Case((_FAR, np.array([0, 4, 1]), np.array([1, 0]), 3.0), "by hand: errors 1, -2, 5 pull with 1, -2, 3"),
            Case(
                (np.array([[1.0, 2.0], [3.0, -1.0]]), np.array([10.0, -4.0]), np.array([1.0, 1.0]), 0.5),
                "errors -7 and 6: far on both sides",
            ),
        ),
        causes=(
            Cause(
                "This is the gradient of the half squared sum: far samples still pull with their whole error.",
                lambda X, y, w, limit: _pulled(X, X @ w - y),
            ),
            Cause(
                "A far sample below the answer pulls the other way: its slope is the negative limit.",
                lambda X, y, w, limit: _pulled(X, np.where(np.abs(X @ w - y) <= limit, X @ w - y, limit)),
            ),
            Cause(
                "It has the sign of y - o; the derivative of the error by o is +1 for o - y.",
                lambda X, y, w, limit: -_robust_gradient(X, y, w, limit),
            ),
            Cause(
                "The loss is a sum over the samples, and no mean: nothing is divided by n.",
                lambda X, y, w, limit: _robust_gradient(X, y, w, limit) / len(y),
            ),
            Cause(
                "Far samples pull with a constant strength; only their loss is a straight line, not zero.",
                lambda X, y, w, limit: _pulled(X, np.where(np.abs(X @ w - y) <= limit, X @ w - y, 0)),
            ),
            Cause(
                "The limit holds for the error of each sample, and not for the finished gradient.",
                lambda X, y, w, limit: np.clip(_pulled(X, X @ w - y), -limit, limit),
            ),
            Cause(
                "Far samples pull with the limit itself: the slope of the straight piece.",
                lambda X, y, w, limit: _pulled(X, np.where(np.abs(X @ w - y) <= limit, X @ w - y, np.sign(X @ w - y))),
            ),
            Cause(
                "Errors above the limit are cut off, errors far below zero are not: both sides have a limit.",
                lambda X, y, w, limit: _pulled(X, np.minimum(X @ w - y, limit)),
            ),
            Cause(
                "These are the losses themselves; their slopes were to be multiplied with the inputs.",
                lambda X, y, w, limit: _pulled(X, _losses(X @ w - y, limit)),
            ),
            Cause(
                "The slope of L |e| is L or -L: the error itself is no factor of it any more.",
                lambda X, y, w, limit: _pulled(
                    X, np.where(np.abs(X @ w - y) <= limit, X @ w - y, limit * (X @ w - y))
                ),
            ),
            Cause(
                "The constant - L² / 2 of the straight piece has no slope.",
                lambda X, y, w, limit: _pulled(
                    X,
                    np.where(np.abs(X @ w - y) <= limit, X @ w - y, limit * np.sign(X @ w - y) - limit**2 / 2),
                ),
            ),
            Cause(
                "The two pieces are exchanged: near samples pull with their error, far ones with the limit.",
                lambda X, y, w, limit: _pulled(
                    X, np.where(np.abs(X @ w - y) <= limit, limit * np.sign(X @ w - y), X @ w - y)
                ),
            ),
            Cause(
                "The bounds of np.clip are exchanged: the lower one comes first.",
                lambda X, y, w, limit: _pulled(X, np.full(len(y), -1.0 * limit)),
            ),
            Cause(
                "These are the weights after a step; the gradient was asked for.",
                lambda X, y, w, limit: w - _robust_gradient(X, y, w, limit),
            ),
            Cause(
                "The errors were added up before they met the inputs: each error belongs to its own row of X.",
                lambda X, y, w, limit: np.sum(np.clip(X @ w - y, -limit, limit)) * np.sum(1.0 * X, axis=0),
            ),
        ),
        instead_of=("numerical_gradient",),
    ),
    Exercise(
        id="03.3",
        function="opinions",
        title="Right answers and two losses",
        points=2,
        level="core",
        concept="number of right answers, 1 - k[T], cross-entropy",
        source='Hwu, "Choosing an Error Function" and "Why Not Use the Intuitive Measure?"',
        section="What the loss does not see",
        lines=4,
        expect=_opinions,
        cases=(
            Case((_GUESSES, np.array([0, 2, 0, 0, 1])), "three right; the right classes have 0.51, 0.5, 0.1, 0.4, 0.4"),
            Case((np.array([[0.125, 0.875]]), np.array([1])), "one sample"),
        ),
        causes=(
            Cause(
                "This index takes whole columns: for each sample one number is wanted, from its own row.",
                lambda k, labels: (
                    _opinions(k, labels)[0],
                    float(np.mean(1 - k[:, labels])),
                    float(-np.mean(np.log(k[:, labels]))),
                ),
            ),
            Cause(
                "The losses are added up; their mean over the samples was asked for.",
                lambda k, labels: (
                    _opinions(k, labels)[0],
                    len(k) * _opinions(k, labels)[1],
                    len(k) * _opinions(k, labels)[2],
                ),
            ),
            Cause(
                "The logarithm is the natural one.",
                lambda k, labels: (*_opinions(k, labels)[:2], _opinions(k, labels)[2] / math.log(10)),
            ),
            Cause(
                "Minus is missing: the logarithm of a probability is negative, the loss is not.",
                lambda k, labels: (*_opinions(k, labels)[:2], -_opinions(k, labels)[2]),
            ),
            Cause(
                "The mean comes after the logarithm: the loss of one sample is the logarithm of its own probability.",
                lambda k, labels: (*_opinions(k, labels)[:2], -math.log(1 - _opinions(k, labels)[1])),
            ),
            Cause(
                "Right is where the right class has the largest of the probabilities, also if that is below one half.",
                lambda k, labels: (
                    int(np.sum(k[np.arange(len(k)), labels] > 0.5)),
                    *_opinions(k, labels)[1:],
                ),
            ),
            Cause(
                "A count was asked for, and this is a share.",
                lambda k, labels: (_opinions(k, labels)[0] / len(k), *_opinions(k, labels)[1:]),
            ),
            Cause(
                "These are the wrong answers; the right ones were to be counted.",
                lambda k, labels: _other_opinions(k, labels, count=lambda k, own: len(k) - _opinions(k, labels)[0]),
            ),
            Cause(
                "Above the mean of its row is not enough: the right class needs the largest probability of all.",
                lambda k, labels: _other_opinions(
                    k, labels, count=lambda k, own: int(np.sum(own >= np.mean(k, axis=1)))
                ),
            ),
            Cause(
                "This is the mean probability of the right classes; the loss is 1 minus that.",
                lambda k, labels: _other_opinions(k, labels, first=lambda own: float(np.mean(own))),
            ),
            Cause(
                "The logarithm is taken of 1 - k[T]; cross-entropy takes it of k[T] itself.",
                lambda k, labels: _other_opinions(k, labels, second=lambda own: float(-np.mean(np.log(1 - own)))),
            ),
            Cause(
                "The logarithm is the natural one, to the base e, and not to the base 2.",
                lambda k, labels: _other_opinions(k, labels, second=lambda own: float(-np.mean(np.log2(own)))),
            ),
            Cause(
                "The mean runs over the probabilities of all classes; only the right class of each row counts.",
                lambda k, labels: (
                    _opinions(k, labels)[0],
                    float(np.mean(1 - k)),
                    float(-np.mean(np.log(k))),
                ),
            ),
            Cause(
                "In the logarithm stand the probabilities of all classes; only the right class of each row counts.",
                lambda k, labels: (*_opinions(k, labels)[:2], float(-np.mean(np.log(k)))),
            ),
        ),
        parts=("the number of right answers", "the mean of 1 - k[T]", "the mean cross-entropy"),
        instead_of=("one_minus_probability_forward", "softmax_cross_entropy_forward"),
    ),
    Exercise(
        id="03.4",
        function="steps_to_arrive",
        title="How many steps?",
        points=2,
        level="core",
        concept="curvature and learning rate",
        source='Dey, "Minimizing Loss Function"; Owens, "Find the global minimum"',
        section="How far should a step go?",
        lines=7,
        expect=_steps,
        cases=(
            Case((4.0, 0.05, 8.0, 3.0), "a fifth is lost at each step: 8, 6.4, 5.12, 4.1, 3.28, 2.62"),
            Case((4.0, 0.375, 8.0, 1.0), "it halves and changes sides: 8, -4, 2, -1"),
            Case((4.0, 0.5, 1.0, 0.25), "2 / h: from side to side for ever"),
            Case((4.0, 0.25, 1.0, 0.001), "1 / h: one step"),
            Case((4.0, 3.0, 1.0, 2.0), "near enough before the first step"),
        ),
        causes=(
            Cause(
                "Beyond 1/h the factor is negative, and the walk jumps across; it may still arrive. Take its size.",
                lambda h, lr, distance, tolerance: (
                    0 if distance <= tolerance else -1 if lr * h > 1 else _steps(h, lr, distance, tolerance)
                ),
            ),
            Cause(
                "A negative distance is not a small one: compare the size of the distance with the tolerance.",
                lambda h, lr, distance, tolerance: (
                    0 if distance <= tolerance else 1 if lr * h > 1 else _steps(h, lr, distance, tolerance)
                ),
            ),
            Cause(
                "Exactly at the tolerance is near enough; a formula with logarithms may miss that.",
                lambda h, lr, distance, tolerance: _steps(h, lr, distance, tolerance * (1 - 1e-12)),
            ),
            Cause(
                "A walk that is near enough at the start needs 0 steps, whatever the learning rate.",
                lambda h, lr, distance, tolerance: -1 if lr * h >= 2 else _steps(h, lr, distance, tolerance),
            ),
            Cause(
                "One too many: the start is step 0.",
                _one_more,
            ),
            Cause(
                "The factor of a step is 1 - lr h; the curvature is missing here.",
                lambda h, lr, distance, tolerance: _steps(1.0, lr, distance, tolerance),
            ),
            Cause(
                "lr h is the part of the distance that a step takes away; what remains is 1 - lr h.",
                lambda h, lr, distance, tolerance: _counted(lr * h, distance, tolerance),
            ),
            Cause(
                "This is how the loss shrinks, with the square of the factor; the distance shrinks with the factor.",
                lambda h, lr, distance, tolerance: _counted((1 - lr * h) ** 2, distance, tolerance),
            ),
            Cause(
                "The slope is h times the distance, without a 2: the half in the loss cancels it.",
                lambda h, lr, distance, tolerance: _counted(abs(1 - 2 * lr * h), distance, tolerance),
            ),
            Cause(
                "The learning rate is multiplied by the curvature, and not divided by it.",
                lambda h, lr, distance, tolerance: _counted(abs(1 - lr / h), distance, tolerance),
            ),
            Cause(
                "Steps get shorter as the slope does: a step is lr h times the distance that is left.",
                lambda h, lr, distance, tolerance: (
                    0 if distance <= tolerance else -1 if lr * h >= 2 else _counted(-lr * h, distance, tolerance)
                ),
            ),
            Cause(
                "A walk that never arrives is told by -1; 0 would say that it is there already.",
                lambda h, lr, distance, tolerance: max(0, _steps(h, lr, distance, tolerance)),
            ),
            Cause(
                "At 1/h the walk arrives, and it takes one step to do so.",
                lambda h, lr, distance, tolerance: 0 if lr * h == 1 else _steps(h, lr, distance, tolerance),
            ),
        ),
    ),
    Exercise(
        id="03.5",
        function="merge_gradients",
        title="The gradient of all, from unequal parts",
        points=2,
        level="core",
        concept="mini-batches, averaging",
        source='Owens, "Stochastic gradient descent"',
        section="Mini-batches and epochs",
        lines=2,
        expect=_merged,
        cases=(
            Case(
                (np.array([[1, 2, -1], [4, -1, 0]]), np.array([2, 1])),
                "by hand: (2 * 1 + 4) / 3, (2 * 2 - 1) / 3, -2 / 3",
            ),
            Case((np.array([[0.5], [2.0], [-3.0]]), np.array([4, 1, 5])), "three parts, one weight"),
        ),
        causes=(
            Cause(
                "A part with one sample counts as much as a large one here: weigh each part with its size.",
                lambda gradients, sizes: np.mean(gradients, axis=0),
            ),
            Cause(
                "These are sums over all samples; their mean was asked for.",
                lambda gradients, sizes: _merged(gradients, sizes) * np.sum(sizes),
            ),
            Cause(
                "Divide by the number of samples, and not by the number of parts.",
                lambda gradients, sizes: _merged(gradients, sizes) * np.sum(sizes) / len(sizes),
            ),
            Cause(
                "The gradients of the parts are added up; the step would grow with their number.",
                lambda gradients, sizes: 1.0 * np.sum(gradients, axis=0),
            ),
            Cause(
                "Each part was divided by its size, although its gradient is a mean already.",
                lambda gradients, sizes: np.sum(gradients / sizes[:, None], axis=0) / np.sum(1 / sizes),
            ),
            Cause(
                "The sizes were paired with the weights of the model; they belong to the rows.",
                lambda gradients, sizes: (gradients * sizes).sum(axis=0) / sizes.sum(),
            ),
            Cause(
                "Each part's gradient is a mean: multiply it with its size before you divide by the number of samples.",
                lambda gradients, sizes: np.sum(gradients, axis=0) / np.sum(sizes),
            ),
            Cause(
                "Each gradient was divided by its size; it is a mean already, so it is to be multiplied.",
                lambda gradients, sizes: np.sum(gradients / sizes[:, None], axis=0),
            ),
            Cause(
                "Rounded down: // drops the fraction.",
                lambda gradients, sizes: np.floor(_merged(gradients, sizes)),
            ),
            Cause(
                "The numbers of all weights were added up too; each weight has a gradient of its own.",
                lambda gradients, sizes: float(np.sum(_merged(gradients, sizes))),
            ),
        ),
    ),
    Exercise(
        id="03.6",
        function="best_rate",
        title="The best rate for a ravine",
        points=3,
        level="stretch",
        concept="several curvatures, one learning rate",
        source='Dey, "Minimizing Loss Function"; Owens, "Find the global minimum"',
        section="How far should a step go?",
        lines=3,
        expect=_rate,
        cases=(
            Case((np.array([1.0, 5.0]),), "lr = 1/3: a third of either distance is lost"),
            Case((np.array([1.25, 0.1]),), "the lesson's ravine"),
            Case((np.array([1.6, 1.0, 4.0]),), "lr = 2/5"),
            Case((np.array([5.0]),), "one direction: there in one step"),
        ),
        causes=(
            Cause(
                "1/h of the steepest direction: it arrives at once, and the flat one has to wait. "
                "A larger rate is worth it.",
                lambda h: _with_rate(h, 1 / np.max(h)),
            ),
            Cause(
                "1/h of the flattest direction: the steepest one sets the limit, 2/h, and this is beyond it.",
                lambda h: _with_rate(h, 1 / np.min(h)),
            ),
            Cause(
                "At 2/h the steepest direction goes from side to side for ever: that is the limit, and not the best.",
                lambda h: _with_rate(h, 2 / np.max(h)),
            ),
            Cause(
                "1 over the mean of all curvatures: only the flattest and the steepest decide, as long as all others "
                "lie between them.",
                lambda h: _with_rate(h, 1 / np.mean(h)),
            ),
            Cause(
                "The rate is right. The factor is the size of 1 - lr h in the slowest direction, and not in the "
                "fastest.",
                lambda h: (_rate(h)[0], float(np.min(np.abs(1 - _rate(h)[0] * h)))),
            ),
            Cause(
                "The curvatures come in any order: the first need not be the smallest.",
                lambda h: (2 / (h[0] + h[-1]), (h[-1] - h[0]) / (h[0] + h[-1])),
            ),
            Cause(
                "The rate is right. Of the factor the size was asked for, without its sign.",
                lambda h: (_rate(h)[0], -_rate(h)[1]),
            ),
            Cause(
                "Half of the best rate: where the two lines cross, lr times the sum of both curvatures is 2.",
                lambda h: _with_rate(h, 1 / (np.min(h) + np.max(h))),
            ),
            Cause(
                "The lines cross where lr times the sum of both curvatures is 2, and not their difference.",
                lambda h: _with_rate(h, 2 / (np.max(h) - np.min(h)) if np.max(h) > np.min(h) else np.inf),
            ),
            Cause(
                "1 over the geometric mean: the lines cross at 1 over the ordinary mean of the two.",
                lambda h: _with_rate(h, 1 / np.sqrt(np.min(h) * np.max(h))),
            ),
            Cause(
                "That is the mean of the two curvatures; the rate is 1 over it.",
                lambda h: _with_rate(h, (np.min(h) + np.max(h)) / 2),
            ),
            Cause(
                "2 over the sum of all curvatures: only the flattest and the steepest decide.",
                lambda h: _with_rate(h, 2 / np.sum(h)),
            ),
            Cause(
                "The rate is right. This is the ratio of the curvatures; the factor r was asked for.",
                lambda h: (_rate(h)[0], float(np.max(h) / np.min(h))),
            ),
            Cause(
                "The rate is right. This is how the loss shrinks; the distance shrinks with r, not with its square.",
                lambda h: (_rate(h)[0], _rate(h)[1] ** 2),
            ),
            Cause(
                "The rate is right. Of the factors the largest was asked for, and not their mean.",
                lambda h: (_rate(h)[0], float(np.mean(np.abs(1 - _rate(h)[0] * np.asarray(h))))),
            ),
        ),
        parts=("lr", "r"),
        atol=1e-9,
    ),
)
