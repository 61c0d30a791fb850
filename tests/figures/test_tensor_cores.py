"""Lesson 17's figures: what their static pictures say, what they count, and what they refuse."""

import numpy as np
import pytest

from course_lib import figures
from course_lib.figures.fragments import KINDS, held
from course_lib.figures.loss_scales import by_exponent, limits, shares
from course_lib.figures.number_formats import BIASES, NUMBERS, in_formats, said
from course_lib.reference.formats import FORMATS


def test_a_number_in_six_formats_is_told_with_its_error():
    found = in_formats(np.pi)
    assert found["bf16"] == ("0100000001001001", 3.140625)
    assert found["e4m3"] == ("01000101", 3.25)
    assert said(3.140625, np.pi) == "3.140625, off by 0.031 %"
    assert said(1.5, 1.5) == "1.5"
    assert said(0.0, 1e-9) == "0: too small"
    assert said(np.inf, 1e9) == "infinity: too large"
    assert said(np.nan, 1e9) == "NaN: too large, and there is no infinity"


@pytest.mark.parametrize("start", NUMBERS)
def test_the_static_picture_of_bits_fits_a_phone_and_names_every_format(start):
    made = figures.number_bits(start)
    assert made.static.caption.endswith(BIASES)
    assert made.static.drawn[0] <= 400
    for title in ("float32", "TF32", "FP16", "BF16", "FP8 E5M2", "FP8 E4M3"):
        assert f"{title} " in made.static.alt


@pytest.mark.parametrize("kind", KINDS.values())
def test_of_each_operand_every_lane_holds_as_many_elements(kind):
    for operand, matrix in (("a", held("a", kind)), ("b", held("b", kind)), ("c", held("c", kind))):
        count = np.bincount(matrix.ravel() // 8, minlength=32)
        assert len(set(count)) == 1, operand
    made = figures.fragment_map(9, kind)
    assert f"Lane 9 holds {held('a', kind).size // 32} elements of A" in made.static.alt


@pytest.mark.parametrize(("lane", "kind"), [(32, "bf16"), (-1, "bf16"), (0, "fp64"), (0, "a")])
def test_a_lane_or_a_format_that_there_is_not_is_refused(lane, kind):
    with pytest.raises(ValueError, match="lane is"):
        figures.fragment_map(lane, kind)


def test_gradients_are_counted_by_powers_of_two_and_zones_add_up():
    values = np.array([0, 1, 1.99, -2, 0.5, 2.0**-25, 2.0**-26, 1e6])
    histogram = by_exponent(values)
    assert histogram == {0: 0.2857, 1: 0.1429, -1: 0.1429, -25: 0.1429, -26: 0.1429, 19: 0.1429}
    assert limits("fp16") == (-25, -14, 16)
    assert limits("bf16") == (-134, -126, 128)
    assert limits("e4m3") == (-10, -6, 9)
    found = shares(histogram, 0, "fp16")
    assert found["becomes zero"] == 0.1429
    assert found["overflows"] == 0.1429
    assert shares(histogram, 1, "fp16")["becomes zero"] == 0
    assert sum(found.values()) == pytest.approx(1, abs=1e-3)
    with pytest.raises(ValueError, match="not 0"):
        by_exponent(np.zeros(3))
    with pytest.raises(ValueError, match="format is 'fp4'"):
        limits("fp4")


def test_the_static_picture_of_a_scale_says_what_is_lost_without_one():
    made = figures.loss_scale({"one": np.full(10, 1e-9), "two": np.ones(3)})
    assert "one in FP16 without a scale: 100% becomes zero" in made.static.caption
    assert [s["name"] for s in made.data["sets"]] == ["one", "two"]


def test_a_systolic_array_has_a_frame_for_each_beat():
    A, B = np.arange(1, 7).reshape(3, 2), np.ones((2, 4), int)
    made = figures.systolic_array(A, B)
    assert len(made.frames) == 3 + 2 + 4 - 2
    assert made.frames[0].caption == "Beat 1: 1 of 8 cells multiply. No sum is done."
    assert "C[0, 0] = 3 done" in made.frames[1].caption


def test_the_biases_that_the_caption_names_are_those_of_the_formats():
    bias = {name: FORMATS[name].bias for name in ("float32", "tf32", "bf16", "fp16", "e5m2", "e4m3")}
    assert bias == {"float32": 127, "tf32": 127, "bf16": 127, "fp16": 15, "e5m2": 15, "e4m3": 7}
    for words in ("n − 127 (float32, TF32, BF16)", "n − 15 (FP16, E5M2)", "n − 7 (E4M3)"):
        assert words in BIASES
