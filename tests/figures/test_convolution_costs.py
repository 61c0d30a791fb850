"""Bars are as long as their bytes on one scale; crossings lie where the times are equal."""

import re

import numpy as np
import pytest

from course_lib import figures
from course_lib.figures.convolution_costs import bytes_, crossings
from tests.figures.pages import read_svg, svg_texts

ROWS = [
    ("basic", {"input": 4e6, "output": 1e6}),
    ("unrolled", {"input": 1e6, "unrolled, written": 20e6, "unrolled, read": 20e6, "output": 1e6}),
]


def test_every_part_is_said_and_the_most_and_the_least():
    made = figures.data_movement(ROWS)
    assert made.alt.startswith("unrolled moves most, 42 MB; basic moves least, 5 MB: 8.4 to 1.")
    assert "unrolled, written 20 MB, unrolled, read 20 MB" in made.alt
    texts = svg_texts(read_svg(made.src))
    assert texts.count("20 MB") == 2
    assert "42 MB" in texts
    assert "weights" not in texts, "nobody moves weights here, so the key has none"


def test_bars_are_on_one_scale():
    paths = [p.get("d") for p in read_svg(figures.data_movement(ROWS).src).iter("{http://www.w3.org/2000/svg}path")]
    wide = [float(found[1]) for d in paths if (found := re.fullmatch(r"M[\d.]+ [\d.]+v18h([\d.]+)v-18z", d))]
    bars = wide[:6]
    assert bars[0] / bars[1] == pytest.approx(4, rel=0.02)
    assert bars[3] == bars[4]
    assert bars[3] / bars[0] == pytest.approx(5, rel=0.02)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "rows is empty"),
        ([("a", {"masks": 1.0})], "a has the kinds .'masks'.; the kinds are input, weights"),
        ([("a", {"input": -1.0})], "input of a"),
        ([("a", {"input": 0})], "a moves no bytes"),
    ],
)
def test_rows_that_cannot_be_drawn_are_refused(rows, message):
    with pytest.raises(ValueError, match=message):
        figures.data_movement(rows)


@pytest.mark.parametrize(("value", "text"), [(999, "999 B"), (18_816, "18.8 kB"), (2.5e6, "2.5 MB"), (3e9, "3 GB")])
def test_bytes_are_written_by_powers_of_a_thousand(value, text):
    assert bytes_(value) == text


def test_power_laws_cross_where_they_are_equal():
    k = np.array([3, 5, 7, 11, 15])
    assert crossings(k, k**2.0, np.full(5, 49.0)) == pytest.approx([7])
    assert crossings(k, k**2.0, np.full(5, 64.0)) == pytest.approx([8])
    assert crossings(k, k**2.0, np.full(5, 9.0)) == pytest.approx([3])
    assert crossings(k, k**2.0, np.full(5, 1.0)) == []
    assert crossings(k, np.array([1.0, 3, 1, 3, 1]), np.full(5, 2.0)) == pytest.approx(
        crossings(k, np.full(5, 2.0), np.array([1.0, 3, 1, 3, 1]))
    )
    assert crossings(k, np.full(5, np.nan), k) == []


def test_each_panel_says_whether_and_where_the_methods_cross():
    k = [3, 5, 7, 11]
    made = figures.crossing(
        k, {64: {"direct": [n * n for n in k], "FFT": [36.0] * 4}, 256: {"direct": [1.0] * 4, "FFT": [None, 2, 2, 2]}},
        where="a card",
    )  # fmt: skip
    assert made.alt == (
        "Time against the mask, a card: image 64: direct and FFT cross at K = 6.0. "
        "image 256: direct and FFT do not cross, direct is faster throughout."
    )


@pytest.mark.parametrize(
    ("masks", "seconds", "message"),
    [
        ([3, 5], {}, "seconds is empty"),
        ([5, 3], {64: {"a": [1, 1], "b": [1, 1]}}, "above 0 and rising"),
        ([3, 5], {64: {"a": [1, 1]}}, "the same two or three"),
        ([3, 5], {64: {"a": [1, 1], "b": [1, 1]}, 128: {"a": [1, 1], "c": [1, 1]}}, "image 128 has the methods"),
        ([3, 5], {64: {"a": [1], "b": [1, 1]}}, "1 times for 2 masks"),
        ([3, 5], {64: {"a": [1, 0], "b": [1, 1]}}, "they must be above 0, or None"),
    ],
)
def test_times_that_cannot_be_compared_are_refused(masks, seconds, message):
    with pytest.raises(ValueError, match=message):
        figures.crossing(masks, seconds)
