"""Exercises of lesson 07: what a mask sees, where it slides, which matrix it is, and what it costs.

Right values are in `lesson07_values`, usual mistakes in `lesson07_mistakes`.

Source: lectures of Dey, Hwu and Owens, as each exercise names them.
"""

import numpy as np

from course_lib import reference as ops
from course_lib.checks.exercise import Case, Exercise
from course_lib.checks.exercises import lesson07_mistakes as mistakes
from course_lib.checks.exercises.lesson07_values import chain, conv1d, matrix, never_seen, panorama, weights

# ---------------------------------------------------------------------------------------------- 07.1, sizes

SIZES = Exercise(
    id="07.1",
    function="sizes",
    title="Sizes through a network",
    points=2,
    level="warm-up",
    concept="output sizes with mask, stride and padding",
    source='Dey, "Convolution Layer: Spatial Transformations"',
    lines=5,
    expect=chain(ops.output_size),
    cases=(
        Case((28, [(5, 1, 2), (2, 2, 0), (5, 1, 0), (2, 2, 0), (5, 1, 0)]), "LeNet-5"),
        Case((8, [(3, 2, 0)]), "one pixel is left over"),
        Case((10, [(3, 2, 1), (3, 2, 1)]), "padding 1, twice"),
    ),
    causes=mistakes.SIZES,
    instead_of=("output_size",),
)  # fmt: skip

# ---------------------------------------------------------------------------------------------- 07.2, unseen

UNSEEN = Exercise(
    id="07.2",
    function="unseen_columns",
    title="The columns that no window sees",
    points=3,
    level="core",
    concept="what a stride leaves out, at the end and between windows",
    source='Dey, "Stride"; the floor is the course\'s own',
    lines=6,
    expect=never_seen,
    cases=(
        Case((8, 3, 2, 0), "the lesson's bar in the last column"),
        Case((8, 3, 2, 1), "what is left over is padding"),
        Case((8, 2, 3, 0), "gaps between the windows"),
        Case((11, 3, 4, 1), "gaps, and padding at both ends"),
        Case((10, 3, 3, 1), "the last window ends with the padding"),
    ),
    causes=mistakes.UNSEEN,
    instead_of=("col2im",),
)

# ---------------------------------------------------------------------------------------------- 07.3, one direction

SKELETON = Exercise(
    id="07.3",
    function="conv1d",
    title="A skeleton in motion",
    points=3,
    level="core",
    concept="one direction, several maps, stride and padding, by loops",
    source='Hwu, "Example Convolution Inputs"',
    lines=10,
    expect=conv1d,
    cases=(
        Case((np.array([[1, 4, 2, 2]]), np.array([[[-1, 1]]]), 1, 0), "the lesson's first example"),
        Case((np.array([[1.0, 4, 2, 2]]), np.array([[[-1.0, 1]]]), 2, 1), "stride 2, padding 1"),
        Case(
            (
                np.array([[1.0, 2, 0, 3, 1], [0, -1, 4, 1, 2]]),
                np.array([[[1.0, 2, 0], [0, 1, -1]], [[3, 0, 1], [1, 1, 2]], [[0, 0, 1], [2, 0, 0]]]),
                2,
                0,
            ),
            "2 angles, 3 output maps",
        ),
    ),
    causes=mistakes.SKELETON,
    instead_of=(
        "conv1d_forward",
        "conv2d_forward",
        "conv2d_forward_loops",
        "conv2d_forward_windows",
        "convolve",
        "correlate",
        "fftconvolve",
        "convolve1d",
        "correlate1d",
    ),
)

# ---------------------------------------------------------------------------------------------- 07.4, a ring

PANORAMA = Exercise(
    id="07.4",
    function="panorama",
    title="A picture without left and right ends",
    points=4,
    level="core",
    concept="two directions and several maps by loops; equivariance without a border",
    source='Hwu, "Sequential Code: Forward Convolutional Layer"; the ring is the course\'s own',
    lines=9,
    expect=panorama,
    cases=(
        Case((np.array([[[1, 4, 2, 2]]]), np.array([[[-1, 1]]])), "one row"),
        Case((np.array([[[1.0, 2, 0], [0, 1, 3], [2, 5, 0]]]), np.array([[[1.0, 0], [2, -1]]])), "one map"),
        Case(
            (np.arange(24.0).reshape(2, 3, 4) ** 2, np.array([[[1.0, -2, 3]], [[0, 4, 1]]])),
            "2 maps, 3 rows, 4 columns, masks of 1 row",
        ),
    ),
    causes=mistakes.PANORAMA,
    instead_of=("conv2d_forward", "conv2d_forward_loops", "conv2d_forward_windows"),
)

# ---------------------------------------------------------------------------------------------- 07.5, a matrix

MATRIX = Exercise(
    id="07.5",
    function="as_dense",
    title="The matrix inside a convolution",
    points=4,
    level="stretch",
    concept="a convolution as a dense layer with zeros and shared weights",
    source='Owens, "Convolutional Neural Networks"; the matrix is the course\'s own',
    lines=7,
    expect=matrix,
    cases=(
        Case((np.array([[-1.0, 1]]), 1, 4, 1), "one row of 4 pixels, mask (-1, 1)"),
        Case((np.array([[1, 2], [3, 4]]), 3, 3, 1), "3 x 3 pixels"),
        Case((np.array([[1.0, 2], [3, 4], [5, 6]]), 5, 4, 2), "5 x 4 pixels, stride 2"),
        Case((np.array([[2.0, -1]]), 2, 4, 1), "2 rows of 4 pixels, outputs of 2 x 3"),
    ),
    causes=mistakes.MATRIX,
    instead_of=("conv2d_forward", "conv2d_forward_loops", "conv2d_forward_windows", "as_matrix", "im2col"),
)  # fmt: skip

# ---------------------------------------------------------------------------------------------- 07.6, counting

COUNTS = Exercise(
    id="07.6",
    function="numbers_to_learn",
    title="Dense, local, shared: what is to be learned",
    points=2,
    level="warm-up",
    concept="parameters of a convolution against a dense layer",
    source='Hwu, "Fully Connected Layers Not Always Useful"',
    lines=5,
    expect=weights,
    cases=(
        Case((1, 1, 4, 1, 1, 2), "4 pixels in a row, mask of 2"),
        Case((1, 32, 32, 6, 5, 5), "LeNet-5's first layer, C1"),
        Case((3, 9, 8, 2, 3, 2), "3 maps of 9 x 8, 2 output maps"),
    ),
    causes=mistakes.COUNTS,
)

# ---------------------------------------------------------------------------------------------- 07.7, flipping

POLYNOMIALS = Exercise(
    id="07.7",
    function="multiply",
    title="Two dice, and why mathematicians flip",
    points=3,
    level="core",
    concept="flipping or not: convolution and cross-correlation",
    source='Owens, "Convolutional Neural Networks"; the dice are the course\'s own',
    lines=3,
    expect=lambda a, b: np.convolve(np.asarray(a, float), np.asarray(b, float)),
    cases=(
        Case((np.array([1.0, 2]), np.array([3.0, 5])), "(1 + 2X)(3 + 5X)"),
        Case((np.array([0.5, 0.25, 0.25]), np.array([0.1, 0.9])), "a die with 0, 1, 2 and a bent coin"),
        Case((np.array([1.0, 0, 4]), np.array([2.0, 1, 0, -3])), "sizes 3 and 4"),
    ),
    causes=mistakes.POLYNOMIALS,
    instead_of=("convolve", "correlate", "fftconvolve", "polymul", "poly1d", "Polynomial"),
)

EXERCISES = (SIZES, UNSEEN, SKELETON, PANORAMA, MATRIX, COUNTS, POLYNOMIALS)
"""In the order of the sheet."""
