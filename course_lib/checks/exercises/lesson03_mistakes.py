"""Usual mistakes in the exercises of lesson 03 that leave a recognisable value, and what is said of each."""

import math

import numpy as np

from course_lib.checks.exercise import Cause
from course_lib.checks.exercises.lesson03_values import (
    best_rate,
    measures,
    merged,
    opinions,
    pulled,
    robust_gradient,
    steps_to_arrive,
)


def _made_of(total, o, J=2, C=2):
    """The three measures, made from another sum than that of the squares, or with other factors."""
    return float(total) / J, float(total) / C / len(o), float(total) / o.size


MEASURES = (
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
        lambda o, y: (measures(o, y)[0], measures(o, y)[0] / o.size, measures(o, y)[2]),
    ),
    Cause(
        "The mean squared error is a mean over all numbers, and not over the rows only.",
        lambda o, y: (*measures(o, y)[:2], 2 * measures(o, y)[0] / len(o)),
    ),
    Cause(
        "The last number is the quadratic cost C once more: it is the mean squared error for two outputs only.",
        lambda o, y: (*measures(o, y)[:2], measures(o, y)[1]),
    ),
    Cause(
        "One half is missing in J, and in the C that was made from it.",
        lambda o, y: (2 * measures(o, y)[0], 2 * measures(o, y)[1], measures(o, y)[2]),
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
        lambda o, y: (measures(o, y)[0], 2 * measures(o, y)[1], measures(o, y)[2]),
    ),
    Cause(
        "The mean squared error has no half: it is the mean of the squares and nothing else.",
        lambda o, y: (*measures(o, y)[:2], measures(o, y)[2] / 2),
    ),
    Cause(
        "A root was taken at the end. The mean squared error stays squared.",
        lambda o, y: (*measures(o, y)[:2], math.sqrt(measures(o, y)[2])),
    ),
    Cause(
        "The differences are not squared here: their absolute values are added up.",
        lambda o, y: _made_of(np.sum(np.abs(y - o)), o),
    ),
    Cause(
        "A norm is the root of the sum of squares. Here the sum itself is wanted.",
        lambda o, y: _made_of(math.sqrt(np.sum((y - o) ** 2.0)), o),
    ),
)


def _losses(e, limit):
    return np.where(np.abs(e) <= limit, e**2 / 2, limit * np.abs(e) - limit**2 / 2)


ROBUST = (
    Cause(
        "This is the gradient of the half squared sum: far samples still pull with their whole error.",
        lambda X, y, w, limit: pulled(X, X @ w - y),
    ),
    Cause(
        "A far sample below the answer pulls the other way: its slope is the negative limit.",
        lambda X, y, w, limit: pulled(X, np.where(np.abs(X @ w - y) <= limit, X @ w - y, limit)),
    ),
    Cause(
        "It has the sign of y - o; the derivative of the error by o is +1 for o - y.",
        lambda X, y, w, limit: -robust_gradient(X, y, w, limit),
    ),
    Cause(
        "The loss is a sum over the samples, and no mean: nothing is divided by n.",
        lambda X, y, w, limit: robust_gradient(X, y, w, limit) / len(y),
    ),
    Cause(
        "Far samples pull with a constant strength; only their loss is a straight line, not zero.",
        lambda X, y, w, limit: pulled(X, np.where(np.abs(X @ w - y) <= limit, X @ w - y, 0)),
    ),
    Cause(
        "The limit holds for the error of each sample, and not for the finished gradient.",
        lambda X, y, w, limit: np.clip(pulled(X, X @ w - y), -limit, limit),
    ),
    Cause(
        "Far samples pull with the limit itself: the slope of the straight piece.",
        lambda X, y, w, limit: pulled(X, np.where(np.abs(X @ w - y) <= limit, X @ w - y, np.sign(X @ w - y))),
    ),
    Cause(
        "Errors above the limit are cut off, errors far below zero are not: both sides have a limit.",
        lambda X, y, w, limit: pulled(X, np.minimum(X @ w - y, limit)),
    ),
    Cause(
        "These are the losses themselves; their slopes were to be multiplied with the inputs.",
        lambda X, y, w, limit: pulled(X, _losses(X @ w - y, limit)),
    ),
    Cause(
        "The slope of L |e| is L or -L: the error itself is no factor of it any more.",
        lambda X, y, w, limit: pulled(X, np.where(np.abs(X @ w - y) <= limit, X @ w - y, limit * (X @ w - y))),
    ),
    Cause(
        "The constant - L² / 2 of the straight piece has no slope.",
        lambda X, y, w, limit: pulled(
            X,
            np.where(np.abs(X @ w - y) <= limit, X @ w - y, limit * np.sign(X @ w - y) - limit**2 / 2),
        ),
    ),
    Cause(
        "The two pieces are exchanged: near samples pull with their error, far ones with the limit.",
        lambda X, y, w, limit: pulled(X, np.where(np.abs(X @ w - y) <= limit, limit * np.sign(X @ w - y), X @ w - y)),
    ),
    Cause(
        "The bounds of np.clip are exchanged: the lower one comes first.",
        lambda X, y, w, limit: pulled(X, np.full(len(y), -1.0 * limit)),
    ),
    Cause(
        "These are the weights after a step; the gradient was asked for.",
        lambda X, y, w, limit: w - robust_gradient(X, y, w, limit),
    ),
    Cause(
        "The errors were added up before they met the inputs: each error belongs to its own row of X.",
        lambda X, y, w, limit: np.sum(np.clip(X @ w - y, -limit, limit)) * np.sum(1.0 * X, axis=0),
    ),
)


def _other_opinions(k, labels, *, count=None, first=None, second=None):
    """The right answer with some of its three values exchanged."""
    own = k[np.arange(len(k)), labels]
    right = opinions(k, labels)
    parts = (count(k, own) if count else right[0], first(own) if first else right[1])
    return (*parts, second(own) if second else right[2])


OPINIONS = (
    Cause(
        "This index takes whole columns: for each sample one number is wanted, from its own row.",
        lambda k, labels: (
            opinions(k, labels)[0],
            float(np.mean(1 - k[:, labels])),
            float(-np.mean(np.log(k[:, labels]))),
        ),
    ),
    Cause(
        "The losses are added up; their mean over the samples was asked for.",
        lambda k, labels: (
            opinions(k, labels)[0],
            len(k) * opinions(k, labels)[1],
            len(k) * opinions(k, labels)[2],
        ),
    ),
    Cause(
        "The logarithm is the natural one.",
        lambda k, labels: (*opinions(k, labels)[:2], opinions(k, labels)[2] / math.log(10)),
    ),
    Cause(
        "Minus is missing: the logarithm of a probability is negative, the loss is not.",
        lambda k, labels: (*opinions(k, labels)[:2], -opinions(k, labels)[2]),
    ),
    Cause(
        "The mean comes after the logarithm: the loss of one sample is the logarithm of its own probability.",
        lambda k, labels: (*opinions(k, labels)[:2], -math.log(1 - opinions(k, labels)[1])),
    ),
    Cause(
        "Right is where the right class has the largest of the probabilities, also if that is below one half.",
        lambda k, labels: (
            int(np.sum(k[np.arange(len(k)), labels] > 0.5)),
            *opinions(k, labels)[1:],
        ),
    ),
    Cause(
        "A count was asked for, and this is a share.",
        lambda k, labels: (opinions(k, labels)[0] / len(k), *opinions(k, labels)[1:]),
    ),
    Cause(
        "These are the wrong answers; the right ones were to be counted.",
        lambda k, labels: _other_opinions(k, labels, count=lambda k, own: len(k) - opinions(k, labels)[0]),
    ),
    Cause(
        "Above the mean of its row is not enough: the right class needs the largest probability of all.",
        lambda k, labels: _other_opinions(k, labels, count=lambda k, own: int(np.sum(own >= np.mean(k, axis=1)))),
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
            opinions(k, labels)[0],
            float(np.mean(1 - k)),
            float(-np.mean(np.log(k))),
        ),
    ),
    Cause(
        "In the logarithm stand the probabilities of all classes; only the right class of each row counts.",
        lambda k, labels: (*opinions(k, labels)[:2], float(-np.mean(np.log(k)))),
    ),
)


def _counted(size, distance, tolerance, never=-1):
    """Steps of a walk whose distance is multiplied by `size`, or loses it where it is a negative number."""
    with np.errstate(over="ignore", invalid="ignore"):
        n = np.arange(20_000.0)
        near = (distance * size**n if size >= 0 else distance + size * n) <= tolerance
    return int(np.argmax(near)) if near.any() else never


def _one_more(h, lr, distance, tolerance):
    steps = steps_to_arrive(h, lr, distance, tolerance)
    return steps + 1 if lr * h < 2 and steps >= 0 else steps


ARRIVAL = (
    Cause(
        "Beyond 1/h the factor is negative, and the walk jumps across; it may still arrive. Take its size.",
        lambda h, lr, distance, tolerance: (
            0 if distance <= tolerance else -1 if lr * h > 1 else steps_to_arrive(h, lr, distance, tolerance)
        ),
    ),
    Cause(
        "A negative distance is not a small one: compare the size of the distance with the tolerance.",
        lambda h, lr, distance, tolerance: (
            0 if distance <= tolerance else 1 if lr * h > 1 else steps_to_arrive(h, lr, distance, tolerance)
        ),
    ),
    Cause(
        "Exactly at the tolerance is near enough; a formula with logarithms may miss that.",
        lambda h, lr, distance, tolerance: steps_to_arrive(h, lr, distance, tolerance * (1 - 1e-12)),
    ),
    Cause(
        "A walk that is near enough at the start needs 0 steps, whatever the learning rate.",
        lambda h, lr, distance, tolerance: -1 if lr * h >= 2 else steps_to_arrive(h, lr, distance, tolerance),
    ),
    Cause(
        "One too many: the start is step 0.",
        _one_more,
    ),
    Cause(
        "The factor of a step is 1 - lr h; the curvature is missing here.",
        lambda h, lr, distance, tolerance: steps_to_arrive(1.0, lr, distance, tolerance),
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
        lambda h, lr, distance, tolerance: max(0, steps_to_arrive(h, lr, distance, tolerance)),
    ),
    Cause(
        "At 1/h the walk arrives, and it takes one step to do so.",
        lambda h, lr, distance, tolerance: 0 if lr * h == 1 else steps_to_arrive(h, lr, distance, tolerance),
    ),
)

MERGED = (
    Cause(
        "A part with one sample counts as much as a large one here: weigh each part with its size.",
        lambda gradients, sizes: np.mean(gradients, axis=0),
    ),
    Cause(
        "These are sums over all samples; their mean was asked for.",
        lambda gradients, sizes: merged(gradients, sizes) * np.sum(sizes),
    ),
    Cause(
        "Divide by the number of samples, and not by the number of parts.",
        lambda gradients, sizes: merged(gradients, sizes) * np.sum(sizes) / len(sizes),
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
        lambda gradients, sizes: np.floor(merged(gradients, sizes)),
    ),
    Cause(
        "The numbers of all weights were added up too; each weight has a gradient of its own.",
        lambda gradients, sizes: float(np.sum(merged(gradients, sizes))),
    ),
)


def _with_rate(curvatures, lr):
    return float(lr), float(np.max(np.abs(1 - lr * np.asarray(curvatures))))


RATE = (
    Cause(
        "1/h of the steepest direction: it arrives at once, and the flat one has to wait. A larger rate is worth it.",
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
        "The rate is right. The factor is the size of 1 - lr h in the slowest direction, and not in the fastest.",
        lambda h: (best_rate(h)[0], float(np.min(np.abs(1 - best_rate(h)[0] * h)))),
    ),
    Cause(
        "The curvatures come in any order: the first need not be the smallest.",
        lambda h: (2 / (h[0] + h[-1]), (h[-1] - h[0]) / (h[0] + h[-1])),
    ),
    Cause(
        "The rate is right. Of the factor the size was asked for, without its sign.",
        lambda h: (best_rate(h)[0], -best_rate(h)[1]),
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
        lambda h: (best_rate(h)[0], float(np.max(h) / np.min(h))),
    ),
    Cause(
        "The rate is right. This is how the loss shrinks; the distance shrinks with r, not with its square.",
        lambda h: (best_rate(h)[0], best_rate(h)[1] ** 2),
    ),
    Cause(
        "The rate is right. Of the factors the largest was asked for, and not their mean.",
        lambda h: (best_rate(h)[0], float(np.mean(np.abs(1 - best_rate(h)[0] * np.asarray(h))))),
    ),
)
