"""The exercises on losses and descent: what each asks, and how an answer is judged.

Right values are in `lesson03_values`, usual mistakes in `lesson03_mistakes`.

Source: Dey, "Loss Function" and "Minimizing Loss Function"; Owens, "How good is our network?" and "Stochastic gradient
descent"; Hwu, "Choosing an Error Function".
"""

import numpy as np

from course_lib.checks.exercise import Case, Exercise
from course_lib.checks.exercises import lesson03_mistakes as mistakes
from course_lib.checks.exercises.lesson03_values import (
    best_rate,
    measures,
    merged,
    opinions,
    robust_gradient,
    steps_to_arrive,
)

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
        expect=measures,
        cases=(
            Case(
                (np.array([[1, 2], [0, -1], [3, 5]]), np.array([[4, 3], [0, 1], [3, 3]])),
                "by hand: the squares are 9, 1, 0, 4, 0, 4",
            ),
            Case((np.array([[1.5]]), np.array([[-1.0]])), "one sample, one output"),
        ),
        causes=mistakes.MEASURES,
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
        expect=robust_gradient,
        cases=(
            Case((_FAR, np.array([0, 4, 1]), np.array([1, 0]), 3.0), "by hand: errors 1, -2, 5 pull with 1, -2, 3"),
            Case(
                (np.array([[1.0, 2.0], [3.0, -1.0]]), np.array([10.0, -4.0]), np.array([1.0, 1.0]), 0.5),
                "errors -7 and 6: far on both sides",
            ),
        ),
        causes=mistakes.ROBUST,
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
        expect=opinions,
        cases=(
            Case((_GUESSES, np.array([0, 2, 0, 0, 1])), "three right; the right classes have 0.51, 0.5, 0.1, 0.4, 0.4"),
            Case((np.array([[0.125, 0.875]]), np.array([1])), "one sample"),
        ),
        causes=mistakes.OPINIONS,
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
        expect=steps_to_arrive,
        cases=(
            Case((4.0, 0.05, 8.0, 3.0), "a fifth is lost at each step: 8, 6.4, 5.12, 4.1, 3.28, 2.62"),
            Case((4.0, 0.375, 8.0, 1.0), "it halves and changes sides: 8, -4, 2, -1"),
            Case((4.0, 0.5, 1.0, 0.25), "2 / h: from side to side for ever"),
            Case((4.0, 0.25, 1.0, 0.001), "1 / h: one step"),
            Case((4.0, 3.0, 1.0, 2.0), "near enough before the first step"),
        ),
        causes=mistakes.ARRIVAL,
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
        expect=merged,
        cases=(
            Case(
                (np.array([[1, 2, -1], [4, -1, 0]]), np.array([2, 1])),
                "by hand: (2 * 1 + 4) / 3, (2 * 2 - 1) / 3, -2 / 3",
            ),
            Case((np.array([[0.5], [2.0], [-3.0]]), np.array([4, 1, 5])), "three parts, one weight"),
        ),
        causes=mistakes.MERGED,
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
        expect=best_rate,
        cases=(
            Case((np.array([1.0, 5.0]),), "lr = 1/3: a third of either distance is lost"),
            Case((np.array([1.25, 0.1]),), "the lesson's ravine"),
            Case((np.array([1.6, 1.0, 4.0]),), "lr = 2/5"),
            Case((np.array([5.0]),), "one direction: there in one step"),
        ),
        causes=mistakes.RATE,
        parts=("lr", "r"),
        atol=1e-9,
    ),
)
