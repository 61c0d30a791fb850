"""The exercises on the perceptron: what each asks, and how an answer is judged.

Right values are in `lesson01_values`, usual mistakes in `lesson01_mistakes`.

Source: Dey, "Linear Regression" and "Perceptron Algorithm"; Hwu, "Many Problems Have Systematic Solutions".
"""

import numpy as np

from course_lib.checks.exercise import Case, Exercise
from course_lib.checks.exercises import lesson01_mistakes as mistakes
from course_lib.checks.exercises.lesson01_values import corrections, fate, line, margin, pocket

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
        expect=line,
        cases=(
            Case((np.array([1, 3, 5]), np.array([6, 1, 2])), "by hand: w = -8/8, b = 3 + 3"),
            Case((np.array([-2.0, 0.5]), np.array([1.0, -4.0])), "two points: the line through both"),
        ),
        causes=mistakes.LINE,
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
        expect=lambda z, x, y, lr: corrections(z, y, lr * (float(np.sum(np.square(x))) + 1)),
        cases=(
            Case((-9.0, np.array([1, 0]), 1, 1.0), "scores -9, -7, -5, -3, -1, 1"),
            Case((-6.0, np.array([1, 1]), 1, 0.5), "the fourth correction makes the score exactly 0"),
            Case((3.0, np.array([1, 1]), 0, 1.0), "label 0"),
            Case((2.0, np.array([4, -3]), 1, 1.0), "right already"),
        ),
        causes=mistakes.CORRECTIONS,
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
        expect=margin,
        cases=(
            Case((_TWO_SIDES, np.array([1, 0, 0]), np.array([3, 4, -5])), "distances 1.6, 1, 0.8, all right"),
            Case((_TWO_SIDES, np.array([1, 1, 0]), np.array([3, 4, -5])), "the second sample is on the wrong side"),
        ),
        causes=mistakes.MARGIN,
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
        expect=pocket,
        cases=(
            Case((_XOR, np.array([1, 1, 1, 0]), 1.0, 10), "NAND"),
            Case((_OVERLAP, np.array([1, 0, 0, 1]), 0.5, 2), "the best weights are held in the middle of an epoch"),
            Case((_XOR, np.array([0, 1, 1, 0]), 1.0, 10), "XOR: nothing is better than the zeros of the start"),
        ),
        causes=mistakes.POCKET,
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
        expect=fate,
        cases=(
            Case((_XOR, np.array([1, 0, 1, 1]), np.array([0, 2, 1, 3])), "1 where x1 >= x2; row 2 before row 1"),
            Case((_XOR, np.array([1, 1, 1, 0]), np.array([0, 1, 2, 3])), "NAND"),
            Case((_XOR, np.array([0, 1, 1, 0]), np.array([0, 1, 2, 3])), "XOR"),
            Case((np.array([[1], [2], [4]]), np.array([0, 1, 0]), np.array([0, 1, 2])), "a cycle of three epochs"),
        ),
        causes=mistakes.FATE,
        instead_of=("perceptron_fit", "cycle_of"),
    ),
)
