"""The layer as a matrix, lesson 07: filled with any weights it is the library's convolution, and drawn as it is."""

import numpy as np
import pytest

from course_lib import figures
from course_lib import reference as ops
from course_lib.figures import convolution_matrix, style

from .pages import read_svg, svg_texts


@pytest.mark.parametrize(
    ("mask", "size", "pad", "stride"),
    [((3, 3), (4, 4), 0, 1), ((3, 3), (5, 4), 1, 1), ((2, 3), (5, 7), 1, 2), ((1, 1), (2, 2), 0, 1)],
)
def test_the_matrix_with_any_weights_filled_in_is_the_convolution(mask, size, pad, stride):
    rng = np.random.default_rng(0)
    numbers = convolution_matrix.as_matrix(mask, size, pad, stride)
    w, x = rng.standard_normal(mask), rng.standard_normal(size)
    filled = np.concatenate([[0.0], w.ravel()])[numbers]
    y, _ = ops.conv2d_forward(x[None, None], w[None, None], stride=stride, pad=pad)
    np.testing.assert_allclose(filled @ x.ravel(), y.ravel(), rtol=1e-12, atol=1e-12)


def test_the_drawing_names_every_weight_in_its_cell():
    numbers = convolution_matrix.as_matrix((3, 3), (4, 4))
    words = svg_texts(
        read_svg(
            figures.picture(
                convolution_matrix.matrix_of_weights(numbers, ["O5", "O6", "O9", "O10"]),
                alt="The layer as a matrix of weights",
            ).src
        )
    )
    for k in range(9):
        assert words.count(f"A{k}") == 4
    assert words.count("0") == 28 + 1  # the zeros, and pixel 0
    assert words[words.index("I") - 16 : words.index("I")] == [f"{k}" for k in range(16)]
    assert "A9" not in words, "the page counts from 0"
    assert words[:2] == ["T (4, 16): 36 cells hold the same 9 weights,", "28 are 0"]


def test_every_cell_with_a_weight_keeps_its_frame():
    """Zeros are drawn first, so that no light frame covers a dark one."""
    numbers = convolution_matrix.as_matrix((3, 3), (4, 4))
    drawn = convolution_matrix.matrix_of_weights(numbers, ["O5", "O6", "O9", "O10"]).to_svg()
    assert drawn.rindex(f"stroke='{style.GRID}'") < drawn.index(f"stroke='{style.INK}'")


@pytest.mark.parametrize("mask", [(1, 1), (2, 2), (3, 3), (5, 5), (2, 3)])
def test_both_drawings_use_one_shade_per_weight_and_neighbours_differ_clearly(mask):
    kinds = mask[0] * mask[1]
    shades = convolution_matrix._weight_shades(kinds)
    assert len(set(shades)) == kinds + 1
    if mask[0] == mask[1] > 1:
        grid = np.reshape(shades[1:], mask)
        pairs = zip(grid[:, :-1].ravel(), grid[:, 1:].ravel(), strict=True)
        assert min(style.contrast(a, b) for a, b in pairs) > 1.2
    if mask == (3, 3):
        drawn = convolution_matrix.matrix_of_weights(convolution_matrix.as_matrix(mask, (4, 4)), list("abcd")).to_svg()
        assert all(drawn.count(f"fill='{shade}'") >= 4 for shade in shades[1:])


def test_bands_give_zero_and_every_weight_its_own_shade():
    numbers = convolution_matrix.as_matrix((3, 3), (6, 6), pad=1)
    fig = convolution_matrix.bands(numbers, "T")
    assert [text.get_text() for text in fig.axes[1].texts] == [f"A{k}" for k in range(9)]
    drawn = np.asarray(fig.axes[0].images[0].get_array())
    assert len(np.unique(drawn)) == 10
    assert all(len(np.unique(drawn[numbers == k])) == 1 for k in range(10))
    figures.picture(fig, alt="Slanting lines of equal weights")
