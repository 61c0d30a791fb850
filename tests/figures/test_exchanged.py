"""The grids of a convolution of several maps: what is framed and written is what is convolved and added."""

import re

import numpy as np
import pytest

from course_lib import reference as ops
from course_lib.figures import picture
from course_lib.figures.exchanged import exchanged_axes, sum_of

from .pages import read_svg, svg_texts

RNG = np.random.default_rng(0)


def titles(B, C, M):
    drawn = picture(exchanged_axes(B, C, M), alt="Three products of grids whose entries are maps.")
    return [text for text in svg_texts(read_svg(drawn.src)) if re.match(r"(forward|dx|dw): ", text)]


def value(sum_, arrays, **options):
    """What a written sum is worth; each term convolves one map with one mask."""
    total = 0
    for term in sum_.split(" + "):
        a, b = (re.fullmatch(r"([a-z]+)(\d)(\d)", name).groups() for name in term.split(" \N{ASTERISK OPERATOR} "))
        one, other = (arrays[name][int(i), int(j)] for name, i, j in (a, b))
        if b[0] == "w" and options:
            other = other[::-1, ::-1]
        total = total + ops.conv2d_forward(one[None, None], other[None, None], **options)[0][0, 0]
    return total


@pytest.mark.parametrize(("B", "C", "M"), [(2, 2, 3), (3, 1, 2), (1, 3, 2), (2, 3, 3)])
def test_every_written_sum_is_the_entry_that_it_names(B, C, M):
    x, w = RNG.standard_normal((B, C, 6, 5)), RNG.standard_normal((M, C, 3, 2))
    y, cache = ops.conv2d_forward(x, w)
    dy = RNG.standard_normal(y.shape)
    dx, dw, _ = ops.conv2d_backward(dy, cache)
    arrays = {"x": x, "w": w, "dy": dy, "y": y, "dx": dx, "dw": dw}
    written = titles(B, C, M)
    assert [text.split(":")[0] for text in written] == ["forward", "dx", "dw"]
    for text, options in zip(written, ({}, {"pad": (2, 1)}, {}), strict=True):
        entry, sum_ = text.split(": ")[1].split(" = ")
        name, i, j = re.fullmatch(r"([a-z]+)(\d)(\d)", entry).groups()
        np.testing.assert_allclose(value(sum_, arrays, **options), arrays[name][int(i), int(j)], atol=1e-12)


def test_a_sum_has_a_term_for_each_pair_of_its_two_rows():
    assert (
        sum_of([["a", "b"]], [["c", "d"], ["e", "f"]], 0, 1) == "a \N{ASTERISK OPERATOR} e + b \N{ASTERISK OPERATOR} f"
    )


def test_the_drawing_fits_a_phone():
    assert exchanged_axes(3, 3, 3).width <= 400


@pytest.mark.parametrize("sizes", [(0, 1, 1), (1, 4, 1), (1, 1, 9)])
def test_sizes_that_a_phone_has_no_room_for_are_refused(sizes):
    with pytest.raises(ValueError, match="each must be 1 to 3"):
        exchanged_axes(*sizes)
