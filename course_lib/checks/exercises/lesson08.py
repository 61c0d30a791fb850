"""Exercises of lesson 08: bias, maps and pooling, unrolling, and the gradients of a convolution.

Right values are in `lesson08_values`, usual mistakes in `lesson08_mistakes`.

Source: Hwu, Dey and Owens, as each exercise names them.
"""

import numpy as np

from course_lib.checks.exercise import Case, Exercise
from course_lib.checks.exercises import lesson08_mistakes as mistakes
from course_lib.checks.exercises.lesson08_values import (
    bias_gradient,
    input_gradient,
    mix,
    pool,
    route,
    rows,
    unrolled,
    weight_gradient,
)

IMAGE = np.array([[0, 2, 1, 0], [0, 3, 2, 1], [1, 1, 0, 2], [2, 1, 0, 3]])
DY = np.array([[2, 3, 4], [3, 3, 3], [5, 1, 1]])
"""The lesson's pencil example."""

CONVOLUTIONS = tuple(f"conv2d_{way}{form}" for way in ("forward", "backward") for form in ("", "_loops", "_windows"))

# ---------------------------------------------------------------------------------------------- 08.1, bias

BIAS = Exercise(
    id="08.1",
    function="bias_gradient",
    title="One bias, many places",
    points=2,
    level="warm-up",
    concept="the gradient of a bias that a whole map shares",
    source='Hwu, "Calculating dE/dW"; the bias is the course\'s own',
    lines=1,
    expect=bias_gradient,
    cases=(
        Case((DY[None, None],), "the lesson's dy"),
        Case((np.array([[[[1.0, 2]], [[10.0, 20]], [[0, -3]]], [[[4.0, 8]], [[40.0, 80]], [[5, 5]]]]),),
             "2 images, 3 maps"),
    ),
    causes=mistakes.BIAS,
    instead_of=CONVOLUTIONS,
)  # fmt: skip

# ---------------------------------------------------------------------------------------------- 08.2, maps

MIX = Exercise(
    id="08.2",
    function="mix",
    title="A mask of one pixel",
    points=3,
    level="core",
    concept="several maps and a bias: what a 1 x 1 convolution can do",
    source='Dey, "Convolution Layer"',
    lines=2,
    expect=mix,
    cases=(
        Case((np.array([[[[1, 2, 3]], [[10, 20, 40]]]]), np.array([[1, 1], [2, 0], [0, -1]]), np.array([0, 5, 7])),
             "1 image of 1 x 3 pixels, 2 maps in, 3 out"),
        Case((np.arange(12.0).reshape(1, 2, 2, 3) ** 2, np.array([[0.5, 0.25], [1, -2]]), np.array([1.0, -1])),
             "2 maps in, 2 out"),
    ),
    causes=mistakes.MIX,
    instead_of=CONVOLUTIONS,
)  # fmt: skip

# ---------------------------------------------------------------------------------------------- 08.3, pooling

POOL = Exercise(
    id="08.3",
    function="max_pool",
    title="Who won, and where",
    points=3,
    level="core",
    concept="max pooling with the winner index",
    source='Dey, "Pooling Layer", "Pooling Kernel"; Owens, "Max-Pooling"',
    lines=9,
    expect=pool,
    cases=(
        Case((np.array([[1.0, 0, 2, 2], [1, 3, 0, 1]]), 2, 2), "the lesson's example"),
        Case((np.array([[-1, -7, -5], [-4, -2, -8], [-9, -6, -3]]), 2, 1), "negative numbers, overlapping windows"),
        Case((np.array([[5.0, 1, 0, 7, 2], [3, 6, 4, 0, 8], [9, 2, 1, 3, 9], [0, 0, 9, 1, 4], [1, 2, 3, 4, 9]]), 3, 2),
             "F 3, stride 2"),
    ),
    causes=mistakes.POOL,
    instead_of=("max_pool_forward",),
)  # fmt: skip

# ---------------------------------------------------------------------------------------------- 08.4, pooling backward

ROUTE = Exercise(
    id="08.4",
    function="max_pool_gradient",
    title="Back to the winners",
    points=3,
    level="core",
    concept="max pooling backward, with windows that overlap",
    source='Dey, "Pooling Kernel"',
    lines=6,
    expect=route,
    cases=(
        Case((np.array([[[5, 7]]]), np.array([[[5, 2]]]), (1, 2, 4)), "the lesson's example"),
        Case((np.array([[[2.0, 3, 7]]]), np.array([[[5, 5, 2]]]), (1, 2, 4)), "a pixel that won twice"),
        Case((np.array([[[1.0, -2]], [[4, 8]], [[0.5, 3]]]), np.array([[[0, 5]], [[4, 4]], [[3, 2]]]), (3, 2, 3)),
             "3 maps of 2 x 3"),
    ),
    causes=mistakes.ROUTE,
    instead_of=("max_pool_backward",),
)  # fmt: skip

# ---------------------------------------------------------------------------------------------- 08.5, replication

UNROLLED = Exercise(
    id="08.5",
    function="unrolled",
    title="What unrolling costs",
    points=2,
    level="warm-up",
    concept="shapes of the matrix product and the replication factor",
    source='Hwu, "Analyzing the Amount of Input Replication"',
    lines=4,
    expect=unrolled,
    cases=(
        Case((3, 3, 3, 2, 2, 1), "the lecture's small layer"),
        Case((1, 32, 32, 6, 5, 1), "LeNet-5's C1"),
        Case((2, 7, 5, 4, 3, 2), "7 x 5 pixels, stride 2"),
    ),
    causes=mistakes.UNROLLED,
    instead_of=("im2col",),
)  # fmt: skip

# ---------------------------------------------------------------------------------------------- 08.6, unrolling

IM2ROW = Exercise(
    id="08.6",
    function="windows_as_rows",
    title="Windows as samples",
    points=4,
    level="core",
    concept="unrolling, in the order of lesson 04",
    source='Dey, "Im2Col Operation"; H, "Reorganize Input X for Matrix Multiplication"',
    lines=8,
    expect=rows,
    cases=(
        Case((np.array([[[1, 2, 3], [4, 5, 6]]]), 2, 2, 1), "1 map of 2 x 3"),
        Case((np.array([[[1.0, 2, 3], [4, 5, 6]], [[7, 8, 9], [10, 11, 12]]]), 1, 2, 1), "2 maps of 2 x 3"),
        Case((np.arange(35.0).reshape(1, 5, 7), 3, 2, 2), "5 x 7 pixels 0, 1, 2, ..., stride 2"),
    ),
    causes=mistakes.IM2ROW,
    instead_of=("im2col",),
)  # fmt: skip

# ---------------------------------------------------------------------------------------------- 08.7, dE/dX

INPUT = Exercise(
    id="08.7",
    function="input_gradient",
    title="The full convolution, several maps",
    points=4,
    level="core",
    concept="dE/dX as a full convolution with the flipped mask",
    source='Hwu, "Back-propagation dE/dX for a convolutional layer"',
    lines=3,
    expect=input_gradient,
    cases=(
        Case((np.array([[[[1, 10], [3, -2]], [[100, 0], [7, 4]]]]),
              np.array([[[[1, 2], [3, 4]], [[5, 6], [7, 8]]], [[[-1, 0], [2, -3]], [[0, 1], [4, -2]]]])),
             "2 maps in, 2 out"),
        Case((DY[None, None], np.array([[[[1, 2], [3, 4]]]])), "the lesson's pencil"),
        Case((np.array([[[[1.0, -2]]]]), np.array([[[[1.0, 2, 5], [3, 0, 4]], [[0, 1, 0], [7, 1, 2]]]])),
             "2 maps in, 1 out, masks 2 x 3"),
    ),
    causes=mistakes.INPUT,
    instead_of=(*(name for name in CONVOLUTIONS if "backward" in name), "col2im"),
)  # fmt: skip

# ---------------------------------------------------------------------------------------------- 08.8, symmetry

HIDES = Exercise(
    id="08.8",
    function="hides_the_flip",
    title="Masks on which a test is blind",
    points=2,
    level="warm-up",
    concept="test data in which no symmetry hides a mistake",
    source='Hwu, "Back-propagation dE/dX for a convolutional layer"; the test is the course\'s own',
    lines=1,
    expect=lambda w: not np.any(w - np.rot90(w, 2, axes=(2, 3))),
    cases=(
        Case((np.array([[[[1, 2, 1], [2, 4, 2], [1, 2, 1]]]]),), "the lesson's blur"),
        Case((np.array([[[[1, 2], [3, 4]]], [[[5, 6], [7, 8]]]]),), "two masks"),
        Case((np.array([[[[1, 2], [3, 4]]]]),), "the lesson's pencil"),
        Case((np.array([[[[1.0, 2], [1, 2]]]]),), "equal rows"),
        Case((np.array([[[[1.0, 1], [2, 2]]]]),), "equal columns"),
        Case((np.array([[[[1.0, 2], [2, 5]]]]),), "equal to its transpose"),
        Case((np.array([[[[1.0, 2, 3], [3, 2, 1]]]]),), "turned by 180 degrees it is the same"),
        Case((np.array([[[[1.0, 2], [2, 1]]], [[[1, 2], [3, 1]]]]),), "two output maps"),
    ),
    causes=mistakes.HIDES,
)  # fmt: skip

# -------------------------------------------------------------------------------------------- 08.9, dE/dW

STRIDED = Exercise(
    id="08.9",
    function="weight_gradient",
    title="dE/dW with a stride",
    points=4,
    level="stretch",
    concept="the gradient of a shared weight, with pixels that nobody saw",
    source='Hwu, "Calculating dE/dW"; the stride is the course\'s own',
    lines=5,
    expect=weight_gradient,
    cases=(
        Case((DY, IMAGE, (2, 2), 1), "the lesson's pencil, stride 1"),
        Case((np.array([[5.0, 6], [7, 8]]), IMAGE, (2, 2), 2), "the same image, stride 2"),
        Case((np.array([[1.0, 10]]), np.array([[1.0, 2, 3, 4, 5, 6], [7, 8, 9, 0, 1, 3]]), (2, 1), 3),
             "mask 2 x 1, stride 3: columns that nobody sees"),
    ),
    causes=mistakes.STRIDED,
    instead_of=tuple(name for name in CONVOLUTIONS if "backward" in name),
)  # fmt: skip

EXERCISES = (BIAS, MIX, POOL, ROUTE, UNROLLED, IM2ROW, INPUT, HIDES, STRIDED)
"""In the order of the sheet."""
