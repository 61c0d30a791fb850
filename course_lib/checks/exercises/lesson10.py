"""The exercises of lesson 10: show a mask, find what a place sees, cover, climb, compare, and move scales around.

Right values are in `lesson10_values`, usual mistakes in `lesson10_mistakes`.

Source: Owens, "Visualizing what ConvNets learn", "Understanding Neural Networks Through Deep Visualization".
"""

import numpy as np

from course_lib.checks.exercise import Case, Exercise
from course_lib.checks.exercises import lesson10_mistakes as mistakes
from course_lib.checks.exercises.lesson10_values import balanced, climbed, field, nearest, occluded, shown
from course_lib.checks.values import Named

LENET_C3 = [(5, 1, 0), (2, 2, 0), (5, 1, 0)]  # C1, S2, C3: (mask, stride, padding)

_random = np.random.default_rng(10)

EXERCISES = (
    Exercise(
        id="10.1", function="for_display", title="Masks as grey levels", points=2, level="warm-up",
        concept="one scale for all masks, with 0 in the middle", source='Owens, "Visualizing what ConvNets learn"',
        lines=4, section="One neuron that looks at pixels",
        expect=shown,
        cases=(
            Case((np.array([[[-1.0, 2.0]], [[0.0, 4.0]]]),), "two masks of 1 x 2"),
            Case((np.array([[[2, -6], [1, 0]]]),), "whole numbers, the strongest one negative"),
        ),
        causes=mistakes.DISPLAY,
    ),
    Exercise(
        id="10.2", function="receptive_rows", title="Which pixels does it see?", points=3, level="core",
        concept="the receptive field of a place in a layer", source='Owens, "Visualizing what ConvNets learn"', lines=6,
        section="What excites a map most?",
        expect=field,
        cases=(
            Case((LENET_C3, 3), "C1, S2, C3 of LeNet-5"),
            Case(([(3, 1, 1)], 0), "one convolution with padding"),
            Case(([(3, 2, 1), (4, 3, 0)], 2), "two layers with stride"),
        ),
        causes=mistakes.FIELD,
    ),
    Exercise(
        id="10.3", function="occlusion_map", title="Cover it with every grey", points=3, level="core",
        concept="what an answer rests on, whatever covers it", source="the course's own", lines=9,
        section="Question one answer: cover it and see",
        expect=occluded,
        cases=(
            Case((Named("numpy.sum"), np.array([[1.0, 2, 4], [8, 16, 32]]), 2, [4.0, 2.0, 10.0, 3.0]),
                 "2 x 3 pixels, the sum"),
            Case((Named("numpy.max"), np.array([[0.1, 0.9, 0.3, 0.2], [0.4, 0.2, 0.8, 0.1], [0.7, 0.1, 0.2, 0.6]]), 2,
                  [0.5, 0.85, 0.0]), "3 x 4 pixels, the largest"),
            Case((Named("numpy.std"), np.array([[0.0, 1.0], [0.5, 0.5], [0.25, 0.0]]), 1, [2.0, 0.5]),
                 "3 x 2, the spread"),
        ),
        causes=mistakes.OCCLUSION,
        instead_of=("occlusion",),
    ),
    Exercise(
        id="10.4", function="climb", title="Climb within the space of images", points=3, level="core",
        concept="gradient ascent on the input, with a prior and a clip",
        source='Owens, "Understanding Neural Networks Through Deep Visualization"', lines=9,
        section="An image that maximises a neuron",
        expect=climbed, rtol=1e-7, atol=1e-9,
        cases=(
            Case((np.array([0.5, 0.5]), np.eye(2), 0, 1, 0.02**0.5, 0.0), "one step, by hand"),
            Case((np.array([0.95, 0.5, 0.4]), np.array([[2.0, 0, 1], [-1, 1, 0.5], [0, 1, -3]]), 0, 3, 0.2, 0.1),
                 "three steps with a decay"),
        ),
        causes=mistakes.CLIMB,
        instead_of=("maximise", "input_gradient", "softmax_cross_entropy_backward"),
    ),
    Exercise(
        id="10.5", function="neighbours", title="Neighbours in feature space", points=2, level="core",
        concept="which images look alike to a layer", source='Owens, "Visualizing what ConvNets learn"', lines=3,
        section="What a layer takes for alike: a map",
        expect=nearest,
        cases=(
            Case((np.array([[0.0, 0.0], [4.0, 1.0]]), np.array([[3.0, 0.0], [1.0, 1.0], [4.0, 4.0], [0.0, 3.0]]), 3),
                 "two images, a bank of four"),
            Case((_random.normal(size=(3, 5)), _random.normal(size=(6, 5)) + 1, 2), "five features"),
        ),
        causes=mistakes.NEIGHBOURS,
    ),
    Exercise(
        id="10.6", function="equal_strength", title="Equally strong masks, the same network", points=3, level="stretch",
        concept="a mask has no scale of its own", source='Owens, "Visualizing what ConvNets learn"', lines=4,
        section="Try it",
        expect=balanced,
        cases=(
            Case((np.array([[[[3.0, 4.0]]], [[[0.0, -2.0]]]]), np.array([10.0, 1.0]),
                  np.array([[[[1.0]], [[2.0]]], [[[-1.0]], [[7.0]]]])), "masks of length 5 and 2"),
            Case((_random.normal(size=(3, 2, 2, 3)), _random.normal(size=3), _random.normal(size=(3, 3, 2, 2))),
                 "3 maps to 3 maps"),
        ),
        causes=mistakes.STRENGTH,
    ),
)  # fmt: skip
