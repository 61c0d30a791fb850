"""Figures of lesson 17 in a page: bits and rounding as the library has them, whose element it is, a scale's effect."""

import json

import numpy as np
import pytest

from course_lib import figures
from course_lib.cuda.fragments import fragment
from course_lib.figures.descriptors import MODES, ROWS, STARTS, STRIDES, held_at, hexadecimal, numbered, read_at
from course_lib.figures.fragments import KINDS
from course_lib.figures.loss_scales import MOST, ZONES, by_exponent, shares
from course_lib.figures.number_formats import NUMBERS, REACH, in_formats

from .pages import SWEEP, assert_fits_a_phone, assert_no_text_leaves_its_drawing, caption, data, page_with, press, root

GRADIENTS = {
    of: {
        "layer 1": np.random.default_rng(0).standard_normal(5000) * small,
        "layer 2": np.random.default_rng(1).standard_normal(5000) * large,
    }
    for of, small, large in (("sums z", 1e-8, 1e-3), ("weights", 1e-5, 1))
}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    made = {
        "bits": figures.number_bits(),
        "map": figures.fragment_map(),
        "scale": figures.loss_scale(GRADIENTS),
        "word": figures.descriptor_bits(),
        "walk": figures.tile_walk(),
        "grid": figures.systolic_array(np.arange(1, 10).reshape(3, 3), np.arange(9, 0, -1).reshape(3, 3)),
    }
    return page_with(tmp_path_factory.mktemp("site"), made)


@pytest.mark.parametrize("number", NUMBERS)
def test_bits_and_values_of_every_number_are_the_librarys(page, number):
    press(page, "bits", number)
    powers = list(range(-REACH, REACH + 1))
    for power, found in zip(powers, page.evaluate(SWEEP, ["bits", [[p] for p in powers]]), strict=True):
        x = np.float64(np.float32(NUMBERS[number])) * 2.0**power
        assert float(found["number"]) == x
        expected = in_formats(x)
        for name, value, bits in json.loads(found["seen"]):
            assert bits == expected[name][0] or value == "NaN"
            np.testing.assert_equal(float(value.replace("Infinity", "inf")), expected[name][1])


@pytest.mark.parametrize("kind", KINDS)
def test_each_lanes_elements_are_those_of_the_table(page, kind):
    press(page, "map", kind)
    pad = root(page, "map").get_by_role("group", name="Lanes: left and right choose one")
    pad.focus()
    page.keyboard.press("Home")
    for lane in range(32):
        found = data(page, "map")
        assert found["lane"] == str(lane)
        own = json.loads(found["own"])
        for operand in "abc":
            table = fragment(operand, KINDS[kind])
            expected = [
                [r, p, int(table.rows[lane, r, p]), int(table.columns[lane, r, p])]
                for r, p in np.ndindex(table.rows.shape[1:])
            ]
            assert sorted(own[operand]) == expected
        assert f"Lane {lane}: a[0] = A[" in caption(page, "map")
        page.keyboard.press("ArrowRight")
    assert data(page, "map")["lane"] == "0"


def test_an_element_that_is_pointed_at_shows_its_lane(page):
    press(page, "map", "TF32, 16 × 8 × 8")
    box = root(page, "map").locator("svg rect").nth(8 * 9 + 2)  # A[9, 2]
    box.hover()
    assert data(page, "map")["lane"] == str(fragment("a", "tf32").owner(9, 2)[0])


@pytest.mark.parametrize("of", GRADIENTS)
@pytest.mark.parametrize(("title", "form"), [("FP16", "fp16"), ("BF16", "bf16")])
def test_shares_follow_the_scale_as_the_library_counts_them(page, of, title, form):
    press(page, "scale", of)
    press(page, "scale", title)
    histograms = [by_exponent(g) for g in GRADIENTS[of].values()]
    settings = list(range(MOST + 1))
    for power, found in zip(settings, page.evaluate(SWEEP, ["scale", [[p] for p in settings]]), strict=True):
        expected = [[shares(h, power, form)[zone] for zone in ZONES] for h in histograms]
        np.testing.assert_allclose(json.loads(found["shares"]), expected, atol=1e-9)
    assert f"Scale {2**MOST:,}, gradients of {of}. None becomes zero." in caption(page, "scale")
    lost = shares(histograms[1], MOST, form)["overflows"]
    assert ("Some overflow in layer" in caption(page, "scale")) == (lost > 0)


@pytest.mark.parametrize("mode", MODES)
def test_what_a_descriptor_reads_is_what_the_library_says(page, mode):
    press(page, "word", mode)
    settings = [[i, j] for i in range(len(STARTS)) for j in range(len(STRIDES))]
    for (i, j), found in zip(settings, page.evaluate(SWEEP, ["word", settings]), strict=True):
        number = numbered(STARTS[i], STRIDES[j], mode)
        assert found["number"] == hexadecimal(number)
        rows, chunks = held_at(read_at(number))
        np.testing.assert_array_equal(json.loads(found["found"]), np.stack([rows, chunks], axis=-1))
        meant = (rows == np.arange(ROWS)[:, None]) & (chunks == STARTS[i] // 16 + np.arange(2))
        assert int(found["right"]) == meant.all(axis=1).sum()


def test_columns_are_chosen_by_keys_and_by_pointing_and_told_with_their_address(page):
    press(page, "word", "128 bytes")
    page.evaluate(SWEEP, ["word", [[1, len(STRIDES) - 1]]])
    pad = root(page, "word").get_by_role("group", name="Columns of B: up and down choose one")
    pad.focus()
    page.keyboard.press("Home")
    for column in range(ROWS):
        assert data(page, "word")["column"] == str(column)
        page.keyboard.press("ArrowDown")
    assert data(page, "word")["column"] == "0"
    root(page, "word").locator("[data-column='9']").last.hover()
    assert data(page, "word")["column"] == "9"
    assert caption(page, "word") == (
        "All 16 columns of B get k = 8 to 15. Column 9: byte 1,184, bits 4 to 6 turned over by bits 7 to 9: "
        "byte 1,200; there lies chunk 2 of row 9."
    )


@pytest.mark.parametrize("width", [360, 400])
def test_on_a_phone_nothing_is_wider_than_the_page(page, width):
    assert_fits_a_phone(page, width)
    assert_no_text_leaves_its_drawing(page, width)
