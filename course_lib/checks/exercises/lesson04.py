"""Exercises of lesson 04, backpropagation, with their public cases.

Right values are in `lesson04_values`, usual mistakes in `lesson04_mistakes`.

Source: K, "Chain Rule" and "Computing gradient w.r.t W"; O, "Backpropagation Example" and "Backpropagation".
"""

import numpy as np

from course_lib.checks.exercise import Case, Exercise
from course_lib.checks.exercises import lesson04_mistakes as mistakes
from course_lib.checks.exercises.lesson04_values import counts, measured, neuron, places, tanh_sigmoid, tied
from course_lib.checks.values import Named

EXERCISES = (
    Exercise(
        id="04.1",
        function="neuron_gradients",
        title="All the weights of one output neuron",
        points=2,
        level="warm-up",
        concept="the delta is shared; the bias is the weight of an input that is always 1",
        source='O, "Backpropagation Example"',
        lines=2,
        expect=neuron,
        cases=(
            Case((np.array([0.13, 0.96, 0.40]), 0.35, 0.9), "the slide's numbers, 0.9 is wanted"),
            Case((np.array([1.0, -2.0]), 0.8, 0.0), "0 is wanted"),
        ),
        causes=mistakes.NEURON,
    ),
    Exercise(
        id="04.2",
        function="multiplications",
        title="What a gradient costs",
        points=2,
        level="warm-up",
        concept="backward is at most twice forward; finite differences pay a forward pass a parameter",
        source='K, "Computing gradient w.r.t W"; the counts are the course\'s own',
        lines=5,
        expect=counts,
        cases=(
            Case(([2, 3, 1], 4), "XOR's network of the lesson"),
            Case(([784, 128, 10], 64), "the digit network"),
        ),
        causes=mistakes.COSTS,
    ),
    Exercise(
        id="04.3",
        function="backward_from_outputs",
        title="A backward pass that kept only A and O",
        points=3,
        level="core",
        concept="two products in the right order, a slope from the output, a mean over the batch",
        source='K, "Computing gradient w.r.t W"; O, "How good is our network?"',
        lines=4,
        expect=tanh_sigmoid,
        cases=(
            Case(
                (np.array([[2.0]]), np.array([[1.0]]), np.array([[3.0]]), np.array([[0.5]]), np.array([[0.8]])),
                "one sample, one neuron in each layer",
            ),
            Case(
                (
                    np.array([[1, 2], [0, -1], [3, 1]]),
                    np.array([[1], [0], [0]]),
                    np.array([[2.0], [-1.0]]),
                    np.array([[0.5, -0.2], [0.1, 0.6], [-0.4, 0.3]]),
                    np.array([[0.7], [0.4], [0.2]]),
                ),
                "3 samples, 2 inputs, 2 hidden, 1 output",
            ),
            Case(
                (
                    np.array([[1, -2], [2, 1]]),
                    np.array([[1, 0, 0, 1], [0, 1, 0, 0]]),
                    np.array([[1.0, -0.5, 2.0, 0.0], [0.5, 1.0, -1.0, 2.0], [-2.0, 0.5, 1.0, -1.0]]),
                    np.array([[0.5, -0.2, 0.8], [-0.4, 0.6, 0.3]]),
                    np.array([[0.7, 0.4, 0.2, 0.6], [0.1, 0.8, 0.5, 0.3]]),
                ),
                "2 samples, 2 inputs, 3 hidden, 4 outputs",
            ),
        ),
        causes=mistakes.BACKWARD,
        section="Two slips that NumPy lets pass",
        instead_of=("sigmoid_backward", "tanh_backward", "dense_backward"),
    ),
    Exercise(
        id="04.4",
        function="wrong_entries",
        title="A gradient check that says where",
        points=3,
        level="core",
        concept="central differences, one entry at a time, and what makes them lie",
        source='O, "Backpropagation Example"; the check is the course\'s own',
        lines=9,
        expect=lambda f, x, gradient: places(np.abs(measured(f, x) - gradient)),
        cases=(
            Case(
                (Named("numpy.prod"), np.array([[1, 2], [3, 4]]), np.array([[24, 12], [8, 7]])),
                "whole numbers, the last entry is wrong",
            ),
            Case(
                (Named("numpy.linalg.norm"), np.array([[3.0, 0.0, 4.0]]), np.array([[0.6, 0.1, -0.8]])),
                "the right gradient is 0.6, 0, 0.8",
            ),
            Case((Named("numpy.sum"), np.array([[0.5], [-2.0]]), np.array([[1.0], [1.0]])), "all right"),
        ),
        causes=mistakes.CHECKED,
        instead_of=("numerical_gradient", "check_op_gradients"),
    ),
    Exercise(
        id="04.5",
        function="tied_gradient",
        title="One matrix, two layers",
        points=4,
        level="stretch",
        concept="a weight that is used twice has two paths to the loss",
        source='K, "Computing gradient w.r.t W"; the network is the course\'s own',
        lines=5,
        expect=tied,
        cases=(
            Case((np.array([[2.0]]), np.array([[0.5]])), "one number: the value is about -1.913"),
            Case(
                (
                    np.array([[1, 0, -1], [2, 1, 0], [0, 1, 3], [1, -2, 1]]),
                    np.array([[0.5, -1.0], [1.0, 0.25], [-0.5, 0.75]]),
                ),
                "4 samples, 3 inputs, 2 hidden",
            ),
        ),
        causes=mistakes.TIED,
        rtol=1e-11,  # a measured gradient is further off
    ),
)
"""In the order of the sheet."""
