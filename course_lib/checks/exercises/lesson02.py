"""The exercises on neurons and layers: what each asks, and how an answer is judged.

Right values are in `lesson02_values`, usual mistakes in `lesson02_mistakes`.

Source: Owens, "Inference" and "Matrix Formulation"; Dey, "Feedforward propagation"; Hwu, "Today's Choice: ReLU".
"""

import numpy as np

from course_lib.checks.exercise import Case, Exercise
from course_lib.checks.exercises import lesson02_mistakes as mistakes
from course_lib.checks.exercises.lesson02_values import dead, folding, inference, one_layer, orientation, swish_slope
from course_lib.checks.values import Named

_LESSON_ROWS = np.array([[1.0, -2.0, 2.0], [2.0, 1.0, -4.0], [1.0, -1.0, 0.0]])
_LESSON_ROWS_OUT = np.array([[-3.0, 1.0, -3.0], [0.0, 1.0, 2.0]])
_LESSON_INPUT = np.array([0.5, 0.9, -0.3])

EXERCISES = (
    Exercise(
        id="02.1",
        function="dead_neurons",
        title="Which neurons are dead?",
        points=1,
        level="warm-up",
        concept="pre-activations of a batch, the slope of ReLU",
        source='Hwu, "Today\'s Choice: ReLU"',
        lines=2,
        expect=dead,
        cases=(
            Case(
                (
                    np.array([[1, 2], [3, -1], [0, 1]]),
                    np.array([[1, -1, 0, -1], [0, 3, -2, 0]]),
                    np.array([-3, 0, 0, 0]),
                ),
                "neuron 0 has z = -2, 0, -3",
            ),
            Case(
                (np.array([[2.0, -1.0]]), np.array([[-1.0], [2.0]]), np.array([5.0])), "one sample, one neuron, z = 1"
            ),
        ),
        causes=mistakes.DEAD,
    ),
    Exercise(
        id="02.2",
        function="orientation",
        title="Rows or columns?",
        points=2,
        level="core",
        concept="rows and columns as neurons, and how to find a wrong transposition",
        source='Owens, "Matrix Formulation"; Dey, "Feedforward propagation"',
        lines=6,
        expect=orientation,
        cases=(
            Case((_LESSON_ROWS, _LESSON_INPUT, np.array([-1.9, 3.1, -0.4])), "the lesson's hidden layer"),
            Case((_LESSON_ROWS.T, _LESSON_INPUT, np.array([-1.9, 3.1, -0.4])), "the same with columns"),
            Case(
                (np.array([[4, 1, 2], [1, 0, -1], [3, -1, 5]]), np.array([0, 1, 0]), np.array([1, 0, -1])),
                "the input picks row 1 and column 1",
            ),
            Case((_LESSON_ROWS, _LESSON_INPUT, np.array([-1.9, 3.1, 0.4])), "the last sign is wrong"),
            Case((_LESSON_ROWS, _LESSON_INPUT, np.array([-1.9, 3.10001, -0.4])), "one number is off by 0.00001"),
        ),
        causes=mistakes.ORIENTATION,
    ),
    Exercise(
        id="02.3",
        function="inference",
        title="Inference from rows",
        points=2,
        level="core",
        concept="inference layer by layer, a batch as rows",
        source='Owens, "Inference" and "What this means computationally"',
        lines=4,
        expect=inference,
        cases=(
            Case(
                (np.array([[1.0, -2], [3, 1]]), [np.array([[2, 3]]), np.array([[-1], [4]])], Named("numpy.abs")),
                "by hand: sums -4 and 9, outputs 4, 16 and 9, 36",
            ),
            Case(
                (_LESSON_INPUT[None], [_LESSON_ROWS, _LESSON_ROWS_OUT], Named("course_lib.reference.sigmoid")),
                "the lesson's network",
            ),
            Case(
                (np.array([[0.5, 0.9, -0.3], [1, 0, 0]]), [_LESSON_ROWS], Named("course_lib.reference.relu")),
                "the lesson's hidden layer with ReLU, two samples",
            ),
        ),
        causes=mistakes.INFERENCE,
    ),
    Exercise(
        id="02.4",
        function="swish_slope",
        title="A slope that is not in the picture",
        points=2,
        level="core",
        concept="derivatives of activation functions",
        source='Hwu, "Sigmoid/Logistic Function"; swish is the course\'s addition',
        lines=2,
        expect=swish_slope,
        cases=(
            Case((np.array([-2.0, 0.0, 3.0]),), "the slope at 0 is 1/2"),
            Case((np.array([[1, -1], [4, -6]]),), "whole numbers, two axes"),
            Case((np.array([-800.0, 800.0]),), "far from zero: 0 and 1"),
        ),
        causes=mistakes.SWISH,
        rtol=1e-11,
        instead_of=("numerical_gradient", "gradient", "sigmoid_backward"),
    ),
    Exercise(
        id="02.5",
        function="collapse",
        title="Many layers without activation are one",
        points=2,
        level="core",
        concept="layers without activation functions, order of matrix products, shapes",
        source='Owens, "Matrix Formulation"; Dey, "Feedforward propagation"',
        lines=4,
        expect=one_layer,
        cases=(
            Case(
                (
                    [np.array([[1, 2], [0, 1]]), np.array([[1, 0], [3, 1]])],
                    [np.array([1, -2]), np.array([0, 5])],
                ),
                "two square layers",
            ),
            Case(
                ([np.array([[1, 2]]), np.array([[3], [4]])], [np.array([1, -1]), np.array([5])]),
                "by hand: W = 3 + 8, b = 3 - 4 + 5",
            ),
        ),
        causes=mistakes.COLLAPSE,
    ),
    Exercise(
        id="02.6",
        function="fold",
        title="Any truth table that only counts",
        points=3,
        level="stretch",
        concept="what a hidden layer of ReLUs can do that one matrix cannot",
        source='Hwu, "Many Problems Have Systematic Solutions" and "Today\'s Choice: ReLU"',
        lines=3,
        expect=folding,
        cases=(
            Case((np.array([0, 1, 0]),), "XOR, as in the lesson"),
            Case((np.array([0, 1, 0, 1]),), "parity of three inputs"),
            Case((np.array([1, 1, 0]),), "NAND"),
        ),
        causes=mistakes.FOLD,
        instead_of=("solve", "lstsq", "inv"),
    ),
)
