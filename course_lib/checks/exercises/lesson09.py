"""The exercises of lesson 09: what a layer costs, C3's table, subsampling, distances; the project is a small LeNet.

Right values are in `lesson09_values`, usual mistakes in `lesson09_mistakes`.

Source: Hwu, "Convolution Layers in LeNet-5" and the slides after it.
"""

import numpy as np

from course_lib import data
from course_lib.checks.exercise import Case, Exercise, TextQuestion
from course_lib.checks.exercises import lesson09_mistakes as mistakes
from course_lib.checks.exercises.lesson09_values import (
    ablated,
    cost,
    dealt,
    distances,
    feature_maps,
    in_rows,
    plan,
    read,
    subsampled,
)
from course_lib.data.small_lenet import small_lenet

TABLE = np.array([[True, False, True], [True, True, False]])  # two output maps, each sees two of three

DIGITS = data.load_digits(seed=0)
NET = small_lenet()
SOME = DIGITS.images("test")[[1, 2]].astype(float)
LAST = np.arange(900, 940)  # forty of the test digits
_random = np.random.default_rng(9)

EXERCISES = (
    Exercise(
        id="09.1", function="conv_cost", title="What a layer with a table costs", points=2, level="warm-up",
        concept="parameters and multiply-adds", source='Hwu, "Convolution Layers in LeNet-5"', lines=4,
        expect=cost,
        cases=(
            Case((TABLE, 2, 3, 5), "4 connections, 2 x 2 masks, 3 x 5 pixels"),
            Case((np.ones((6, 1), dtype=bool), 5, 32, 32), "C1 of LeNet-5"),
        ),
        causes=mistakes.COST,
    ),
    Exercise(
        id="09.2", function="partial_conv", title="C3 with its masks in a row", points=3, level="core",
        concept="a convolution with a connection table", source='Hwu, "Convolution Layers in LeNet-5"', lines=8,
        expect=lambda x, masks, table, b: dealt(x, masks, table, b, in_rows(table)),
        cases=(
            Case((np.array([[[1.0, 2]], [[3, 5]], [[7, 11]]]), np.array([[[2.0]], [[10]], [[100]], [[1000]]]), TABLE,
                  np.array([0.5, -0.5])), "masks of 1 x 1, by hand"),
            Case((_random.normal(size=(3, 4, 6)), _random.normal(size=(4, 3, 3)), TABLE, np.array([0.25, -2.0])),
                 "masks of 3 x 3"),
        ),
        causes=mistakes.PARTIAL,
    ),
    Exercise(
        id="09.3", function="subsample_gradients", title="Training the two numbers of S2", points=3, level="stretch",
        concept="the gradients of subsampling with a coefficient", source='Hwu, "Subsampling Layers in LeNet-5"',
        lines=6,
        expect=subsampled,
        cases=(
            Case((np.array([[[[3.0]]]]), np.array([[[[1.0, 2], [4, 8]]]]), np.array([5.0])), "one window, by hand"),
            Case((_random.normal(size=(2, 3, 2, 1)), _random.normal(size=(2, 3, 4, 2)), np.array([0.25, -1.0, 2.0])),
                 "2 images of 3 maps"),
            Case((np.array([[[[0.5, -1.5]]]]), np.array([[[[1, 2, 0, 3], [4, 0, 1, 1]]]]), np.array([1])),
                 "pixels and a weight that are whole numbers"),
        ),
        causes=mistakes.SUBSAMPLE,
        instead_of=("subsample_backward", "subsample_forward", "average_pool_backward", "Subsample"),
    ),
    Exercise(
        id="09.4", function="read_by_distance", title="Reading by distance, with a way to say no", points=2,
        level="core", concept="the radial-basis output", source='Hwu, "OUTPUT Layer in LeNet-5"', lines=3,
        expect=lambda f6, prototypes, limit: read(distances(f6, prototypes), limit),
        cases=(
            Case((np.array([[0.5, 1.0], [-1.0, 0.0], [9.0, 9.0]]), np.array([[1.0, 1], [-1, 1], [-1, -1]]), 1.0),
                 "three pictures of two pixels"),
            Case((_random.normal(size=(4, 5)) * np.array([[0.5], [2], [2], [4]]), np.sign(_random.normal(size=(3, 5))),
                  7.0), "4 pictures of five pixels"),
            Case((np.array([[0.0, 0.0], [2.5, 2.0]]), np.array([[2.0, 2], [3, 0], [6, 6]]), 10.0),
                 "prototypes of unequal length"),
        ),
        causes=mistakes.READ,
        instead_of=("rbf_forward", "RadialBasis"),
    ),
    Exercise(
        id="09.5", function="plan", title="Project: the plan of a network", points=2, level="project",
        concept="sizes, parameters and work, layer after layer", source='Hwu, "Convolution Layers in LeNet-5"',
        lines=14,
        expect=plan,
        cases=(
            Case(([("conv", 4, 5), ("pool", 2), ("conv", 8, 5), ("pool", 2), ("dense", 10)], (1, 28, 28)),
                 "the small LeNet"),
            Case(([("conv", 2, 3), ("pool", 2), ("dense", 3)], (3, 7, 10)), "3 maps of 7 x 10"),
            Case(([("dense", 6), ("dense", 4)], (2, 3, 5)), "two dense layers"),
        ),
        causes=mistakes.PLAN,
    ),
    Exercise(
        id="09.6", function="feature_maps", title="Project: two stages forward", points=3, level="project",
        concept="the forward pass of a convolutional network", source='Hwu, "Convolution Layers in LeNet-5"', lines=14,
        expect=feature_maps,
        cases=(
            Case((np.arange(0.0, 108, 3).reshape(1, 6, 6) % 18, np.array([[[[1.0]]], [[[-1.0]]]]), np.array([0.0, 3.0]),
                  np.array([[[[1.0, 0], [2, 0]], [[0.0, 0], [0, 3]]]]), np.array([-5.0])), "small masks, to trace"),
            Case((SOME, *NET[:4]), "two digits, the small LeNet"),
        ),
        causes=mistakes.MAPS,
        instead_of=("conv2d_forward", "conv2d_forward_loops", "conv2d_forward_windows", "max_pool_forward", "im2col",
                    "conv3d_forward", "Conv2d", "MaxPool", "Sequential"),
    ),
    Exercise(
        id="09.7", function="ablation", title="Project: what is each map worth?", points=3, level="project",
        concept="counting mistakes, with and without a part", source='Hwu, "Convolution Layers in LeNet-5"', lines=8,
        expect=ablated,
        cases=(
            Case((np.array([[4.0, 1], [3, 1], [1, 3], [3, 3]]).reshape(4, 2, 1, 1), np.eye(2), np.array([0.0, 0.5]),
                  np.array([0, 0, 0, 1])), "4 images, 2 maps of one pixel, by hand"),
            Case((feature_maps(DIGITS.images("test")[LAST], *NET[:4]), *NET[4:], DIGITS.y_test[LAST]),
                 "40 digits, the small LeNet"),
        ),
        causes=mistakes.ABLATION,
    ),
    TextQuestion(
        id="09.8", title="Project: read your own counts", points=2, level="project",
        concept="what an ablation says", source='Hwu, "Convolution Layers in LeNet-5"',
    ),
)  # fmt: skip
