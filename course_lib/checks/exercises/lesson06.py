"""Exercises of lesson 06, training an MLP, with their public cases.

Right values are in `lesson06_values`, usual mistakes in `lesson06_mistakes`.

Source: Hwu, "Softmax Derivatives Needed to Train" and "Output is a Probability for Each Category"; Owens, "Stochastic
gradient descent".
"""

import itertools

import numpy as np

from course_lib import reference as ops
from course_lib.checks.exercise import Case, Exercise, TextQuestion
from course_lib.checks.exercises import lesson06_mistakes as mistakes
from course_lib.checks.exercises.lesson06_values import batches, crowd, per_class, stop, trained, valley
from course_lib.checks.values import Seeded
from course_lib.data import load_digits


def _start(rng, sizes, scale):
    layers = [(rng.normal(size=(n, m)) * scale, np.zeros(m)) for n, m in itertools.pairwise(sizes)]
    return tuple(p for layer in layers for p in layer)


def _digits(fit, new, hidden, seed=0):
    """Images and labels of the first `fit` training and `new` test digits, and weights to begin with."""
    digits = load_digits(seed)
    x, x_new = (part.astype(float) for part in (digits.x_train[:fit], digits.x_test[:new]))
    start = _start(np.random.default_rng(seed), [784, hidden, 10], 0.05)
    return x, digits.y_train[:fit], x_new, digits.y_test[:new], start


_POINTS = np.array([[0.5, 1.0], [-1.0, 0.5], [2.0, -1.0], [0.0, 1.5], [1.0, 1.0]])
_KINDS = np.array([1, 0, 1, 0, 1])
_WEIGHTS = (
    np.array([[1.0, -0.5, 0.3], [0.5, 1.0, -1.0]]),
    np.array([0.1, -0.2, 0.3]),
    np.array([[0.5, -1.0], [1.0, 0.25], [-0.5, 0.75]]),
    np.array([0.2, -0.1]),
)
_SILENT = (_WEIGHTS[0] * [0, 1, 1], _WEIGHTS[1] * [0, 1, 1], *_WEIGHTS[2:])
"""The same weights, but those of the first hidden neuron are 0."""

EXERCISES = (
    Exercise(
        id="06.1",
        function="soften",
        title="A softmax that is less sure",
        points=2,
        level="warm-up",
        concept="softmax row by row, shifted so that no power overflows",
        source='Hwu, "Use Softmax to Produce Probabilities"; the temperature is the course\'s addition',
        section="What goes wrong: softmax as the formula says it",
        lines=3,
        expect=lambda z, tau: ops.softmax(np.asarray(z, dtype=float) / tau),
        cases=(
            Case((np.array([[2, 1, 0]]), 1.0), "the lesson's scores: 0.665, 0.245, 0.09"),
            Case((np.array([[2.0, 1.0, 0.0], [0.0, 0.0, 3.0]]), 2.0), "two images, twice as warm"),
            Case((np.array([[3000, 3001], [-4000, -3000]]), 0.5), "scores in the thousands"),
        ),
        causes=mistakes.SOFTEN,
        instead_of=("softmax", "softmax_forward"),
    ),
    Exercise(
        id="06.2",
        function="crowd_gradient",
        title="When the crowd disagrees",
        points=3,
        level="core",
        concept="the fused gradient where the right answer is itself a row of probabilities",
        source='Hwu, "Output is a Probability for Each Category" and "Softmax Derivatives Needed to Train"',
        section="The cross-entropy has a short gradient",
        lines=3,
        expect=crowd,
        cases=(
            Case((np.array([[2.0, 1.0, 0.0]]), np.array([[0, 10, 0]])), "all ten say class 1, as in the lesson"),
            Case((np.array([[0, 0], [1, 0]]), np.array([[6, 4], [1, 3]])), "two images; 10 votes, then 4"),
        ),
        causes=mistakes.CROWD,
        instead_of=("softmax_cross_entropy_backward", "softmax_backward"),
    ),
    Exercise(
        id="06.3",
        function="valley",
        title="Momentum in a narrow valley",
        points=3,
        level="core",
        concept="the velocity: what is added, and in which order",
        source='Owens, "Stochastic gradient descent"; momentum is the course\'s addition',
        section="Mini-batches and momentum",
        lines=8,
        expect=valley,
        cases=(
            Case((np.array([8.0]), np.array([1.0]), 0.5, 0.5, 2), "by hand: 8, 4, 0"),
            Case((np.array([1, -2]), np.array([1.0, 10.0]), 0.15, 0.9, 4), "ten times as steep in one direction"),
        ),
        causes=mistakes.VALLEY,
        instead_of=("sgd_step",),
    ),
    Exercise(
        id="06.4",
        function="batches",
        title="Project: the batches of an epoch",
        points=1,
        level="project",
        concept="every sample once an epoch, in a new order",
        source='Owens, "Stochastic gradient descent"',
        section="The loop",
        lines=2,
        expect=batches,
        cases=(
            Case((6, 2, Seeded(0)), "three batches of two"),
            Case((7, 3, Seeded(1)), "the last batch has one sample"),
        ),
        causes=mistakes.BATCHES,
    ),
    Exercise(
        id="06.5",
        function="stop_early",
        title="Project: when to stop",
        points=2,
        level="project",
        concept="early stopping: the best so far, and for how long",
        source='Owens, "Stochastic gradient descent"; early stopping is the course\'s addition',
        section="When to stop",
        lines=8,
        expect=stop,
        cases=(
            Case(([0.9, 0.6, 0.7, 0.4, 0.5, 0.3], 2), "two failures, but not in a row: the list ends first"),
            Case(([0.9, 0.5, 0.4, 0.6, 0.5, 0.7, 0.3, 0.8, 0.9, 0.2], 2), "two epochs fail to get below 0.4"),
            Case(([0.8, 0.5, 0.5, 0.5, 0.5, 0.4], 3), "as low is not lower"),
        ),
        causes=mistakes.STOP,
    ),
    Exercise(
        id="06.6",
        function="per_class",
        title="Project: which mistakes?",
        points=2,
        level="project",
        concept="a confusion matrix, and a share of right answers for each class",
        source='Dey, "Supervised Learning Workflow"; the confusion matrix is the course\'s addition',
        section="Which mistakes?",
        lines=6,
        expect=per_class,
        cases=(
            Case((np.array([3, 8, 8, 8, 3]), np.array([3, 8, 3, 3, 3]), [3, 8]), "two of three 8s are read as 3"),
            Case((np.array([9, 4, 9, 4, 4]), np.array([7, 4, 9, 9, 4]), [9, 4, 7]), "there is no 7 among the labels"),
        ),
        causes=mistakes.PER_CLASS,
        instead_of=("confusion_matrix",),
    ),
    Exercise(
        id="06.7",
        function="train_mlp",
        title="Project: the training loop",
        points=4,
        level="project",
        concept="forward, loss, backward, velocity, step: on real digits",
        source='Owens, "Stochastic gradient descent"; Dey, "Training Using Backpropagation"',
        section="The loop",
        lines=20,
        expect=trained,
        cases=(
            Case(
                (_POINTS[:4], _KINDS[:4], _POINTS[1:], _KINDS[1:], _WEIGHTS, 0.5, 0.5, 2, 2, Seeded(0)),
                "4 points, 2 batches, 2 epochs",
            ),
            Case(
                (_POINTS, _KINDS, _POINTS[:3], _KINDS[:3], _WEIGHTS, 0.2, 0.9, 2, 3, Seeded(1)),
                "5 points, the last batch has one",
            ),
            Case(
                (_POINTS, _KINDS, _POINTS[:3], _KINDS[:3], _SILENT, 0.2, 0.5, 3, 2, Seeded(2)),
                "a hidden neuron whose sum is 0 for every point",
            ),
            Case(
                (*_digits(1000, 400, 16), 0.1, 0.9, 50, 5, Seeded(0)),
                "1,000 real digits; a right loop names 87.75 % of 400 new ones",
            ),
        ),
        causes=mistakes.TRAINING,
        rtol=1e-6,
        atol=1e-9,
        instead_of=("mlp", "Sequential"),
    ),
    TextQuestion(
        id="06.8",
        title="Project: what is your number worth?",
        points=1,
        level="project",
        concept="what each part of the data may decide",
        source='Dey, "Supervised Learning Workflow"; Owens, "Stochastic gradient descent"',
    ),
)
"""In the order of the sheet."""
