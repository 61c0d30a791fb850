"""Exercises of lesson 06b, making it train, with their public cases.

Right values are in `lesson06b_values`, usual mistakes in `lesson06b_mistakes`.

Source: He et al. (2015); LeCun et al. (1998); Kingma and Ba (2015); Loshchilov and Hutter (2017, 2019); Srivastava et
al. (2014).
"""

import numpy as np

from course_lib.checks.exercise import Case, Exercise, TextQuestion
from course_lib.checks.exercises import lesson06b_mistakes as mistakes
from course_lib.checks.exercises.lesson06b_values import (
    adam,
    decayed,
    deviation,
    dropped,
    examined,
    rates,
    standardised,
)

_OUTPUTS = [
    np.array([[3.0, 0.0, 4.0], [0.0, 0.0, 0.0]]),
    np.array([[0.0, 0.0], [0.3, 0.4]]),
]
_LAYER = (np.array([[1.0, -2.0], [0.5, 4.0]]), np.array([1.0, -1.0]))
_SLOPES = (np.array([[0.2, 0.4], [-0.1, 0.0]]), np.array([0.3, 0.0]))
_STILL = (np.zeros((2, 2)), np.zeros(2))

EXERCISES = (
    Exercise(
        id="06b.1",
        function="deviation",
        title="How large may a weight be?",
        points=2,
        level="warm-up",
        concept="the weights' deviation follows from the number of inputs of one output",
        source="He et al. (2015)",
        lines=3,
        expect=deviation,
        cases=(
            Case(((784, 128),), "a dense layer, 784 inputs"),
            Case(((6, 1, 5, 5),), "a convolution, one map in"),
            Case(((16, 6, 5, 5),), "a convolution, six maps in"),
        ),
        causes=mistakes.DEVIATION,
        section="How large must a weight be? Three lines",
        instead_of=("he_normal",),
    ),
    Exercise(
        id="06b.2",
        function="standardise",
        title="One scale for all features",
        points=3,
        level="core",
        concept="means and deviations of the training data alone, and features that are constant",
        source="LeCun et al. (1998)",
        lines=4,
        expect=standardised,
        cases=(
            Case((np.array([[1.0, 20.0], [3.0, 40.0]]), np.array([[2.0, 50.0]])), "two features, by hand"),
            Case(
                (np.array([[1, 5, 0], [2, 5, 8], [6, 5, 4]]), np.array([[3, 5, 4], [3, 7, 4]])),
                "whole numbers; the second feature is constant",
            ),
        ),
        causes=mistakes.STANDARDISE,
        section="The scale of the inputs",
        parts=("the training data", "the new data"),
        instead_of=("fit_standardiser",),
    ),
    Exercise(
        id="06b.3",
        function="decayed_step",
        title="A step with momentum and weight decay",
        points=3,
        level="core",
        concept="the decay is part of the gradient, and of the weights' only",
        source="Loshchilov and Hutter (2019)",
        lines=6,
        expect=decayed,
        cases=(
            Case((list(_LAYER), list(_SLOPES), list(_STILL), 0.5, 0.9, 0.1), "the first step"),
            Case(
                (
                    list(_LAYER),
                    list(_SLOPES),
                    [np.array([[0.1, 0.0], [-0.2, 0.4]]), np.array([1.0, 2.0])],
                    0.1,
                    0.5,
                    1.0,
                ),
                "velocities that are not 0",
            ),
        ),
        causes=mistakes.DECAYED,
        section="Two brakes against learning by heart",
        parts=("the parameters", "the velocities"),
        instead_of=("sgd_step",),
    ),
    Exercise(
        id="06b.4",
        function="dropout",
        title="Dropout, there and back",
        points=3,
        level="core",
        concept="the same places and the same factor on both ways, and nothing at all in use",
        source="Srivastava et al. (2014)",
        lines=4,
        expect=dropped,
        cases=(
            Case(
                (
                    np.array([[1.0, 2.0, 3.0, 4.0]]),
                    np.array([[10.0, 20.0, 30.0, 40.0]]),
                    np.array([[0.9, 0.3, 0.5, 0.7]]),
                    0.5,
                    True,
                ),
                "in training, a rate of 0.5",
            ),
            Case(
                (
                    np.array([[1.0, -2.0], [3.0, 4.0]]),
                    np.array([[1.0, 1.0], [1.0, 2.0]]),
                    np.array([[0.1, 0.3], [0.7, 0.2]]),
                    0.2,
                    True,
                ),
                "in training, a rate of 0.2; u = 0.2 stays",
            ),
            Case(
                (np.array([[1.0, 2.0]]), np.array([[5.0, 7.0]]), np.array([[0.1, 0.9]]), 0.5, False),
                "in use",
            ),
        ),
        causes=mistakes.DROPOUT,
        section="Two brakes against learning by heart",
        parts=("y", "dx"),
        instead_of=("dropout_forward", "dropout_backward", "Dropout"),
    ),
    Exercise(
        id="06b.5",
        function="adam_path",
        title="The path of Adam",
        points=4,
        level="stretch",
        concept="two running means, both corrected, and where the small number stands",
        source="Kingma and Ba (2015)",
        lines=9,
        expect=adam,
        cases=(
            Case(
                (np.array([0.0, 0.0]), np.array([[3.0, -3000.0]]), 0.01, 0.9, 0.999, 1e-8),
                "one step: both weights move by lr",
            ),
            Case(
                (np.array([1, 2]), np.array([[4, 1], [-2, 1], [1, 1]]), 0.5, 0.5, 0.8, 0.1),
                "three steps, whole numbers, a large eps",
            ),
        ),
        causes=mistakes.ADAM,
        section="A step of its own for every weight: Adam",
        instead_of=("adam_step", "Adam"),
    ),
    Exercise(
        id="06b.6",
        function="rates",
        title="A rate that climbs and falls",
        points=2,
        level="warm-up",
        concept="a schedule: a straight line up, half a cosine down, and what is counted from where",
        source="Loshchilov and Hutter (2017)",
        lines=4,
        expect=rates,
        cases=(
            Case((8, 4, 0.1), "half of the steps warm up"),
            Case((4, 0, 1.0), "no warm-up"),
            Case((9, 3, 0.6), "three of nine"),
        ),
        causes=mistakes.RATES,
        section="The learning rate: let it rise until it breaks",
    ),
    Exercise(
        id="06b.7",
        function="examine",
        title="Examine the layers",
        points=3,
        level="core",
        concept="the spread of a layer, its dead units, and what both say about a start",
        source="the course's own",
        lines=7,
        expect=examined,
        cases=(
            Case((_OUTPUTS,), "two layers, two samples"),
            Case(
                ([np.array([[1.0, 0.0], [1.0, 2.0]]), np.array([[0.0, 0.0], [0.0, 0.0]])],),
                "the second layer is silent",
            ),
            Case(([np.array([[0, 1]]), np.array([[6, 0]]), np.array([[20, 30]])],), "one sample, whole numbers"),
        ),
        causes=mistakes.EXAMINE,
        section="Third and fourth: the signal, layer by layer",
        parts=("the spreads", "the shares of dead units", "the verdict"),
    ),
    TextQuestion(
        id="06b.8",
        title="Four patients",
        points=2,
        level="core",
        concept="which examination comes first, and what its result rules out",
        source="the course's own",
    ),
)
"""In the order of the sheet."""
