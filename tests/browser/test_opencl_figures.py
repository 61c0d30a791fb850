"""Lesson 19's figures in a page: shares, ids and loops are counted as Python and OpenCL count them."""

import json

import numpy as np
import pytest

from course_lib import figures
from course_lib.figures.group_loops import wrong_without_barrier
from course_lib.figures.shares_of_two import Pair

from .pages import SWEEP, assert_fits_a_phone, assert_no_text_leaves_its_drawing, caption, data, page_with, press, root

PAIRS = {
    "a card and a CPU": Pair(("Card", "CPU"), (0.01, 0.03), (0.002, 0.0)),
    "two cores": Pair(("OpenCL", "NumPy"), (0.028, 0.0155), (0, 0), ((0.0, 0.0155), (0.5, 0.015), (1.0, 0.028))),
    "near zero": Pair(("OpenCL", "NumPy"), (0.05, 0.01), (0, 0), ((0.0, 0.01), (0.1, 0.0095), (0.5, 0.025)), upto=0.4),
}
CHAINS = {
    "in order": [("A1", "A", 0.0, 0.03), ("A2", "A", 0.03, 0.06), ("B1", "B", 0.06, 0.09), ("B2", "B", 0.09, 0.12)],
    "out of order": [("A1", "A", 0.0, 0.03), ("A2", "A", 0.03, 0.06), ("B1", "B", 0.0, 0.03), ("B2", "B", 0.03, 0.06)],
    "nothing said": [
        ("A1", "A", 0.0, 0.03),
        ("A2", "A", 0.002, 0.03),
        ("B1", "B", 0.03, 0.06),
        ("B2", "B", 0.03, 0.06),
    ],
}


def bars(chain):
    return [dict(zip(("label", "lane", "start", "end"), bar, strict=True)) for bar in chain]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    made = {
        "share": figures.share_explorer(PAIRS),
        "ids": figures.ndrange_explorer(),
        "loop": figures.group_loop(4),
        "queues": figures.queue_timelines({name: bars(chain) for name, chain in CHAINS.items()}),
        "objects": figures.opencl_objects(),
    }
    return page_with(tmp_path_factory.mktemp("site"), made)


@pytest.mark.parametrize("name", PAIRS)
def test_a_share_takes_as_long_as_its_slower_part(page, name):
    press(page, "share", name)
    pair, percents = PAIRS[name], list(range(0, 101, 5))
    for percent, found in zip(percents, page.evaluate(SWEEP, ["share", [[p] for p in percents]]), strict=True):
        s = percent / 100
        expected = [
            1e3 * (fixed + part * t) if part > 0 else 0
            for part, t, fixed in zip((s, 1 - s), pair.seconds, pair.fixed, strict=True)
        ]
        np.testing.assert_allclose(json.loads(found["took"]), expected, atol=1e-9)
        assert float(found["all"]) == pytest.approx(max(expected))


def test_the_lower_picture_ends_at_the_last_share_and_says_which_lines_it_has(page):
    press(page, "share", "near zero")
    words = root(page, "share").locator("svg text").all_text_contents()
    assert {"10 %", "20 %", "30 %", "40 %", "OpenCL", "NumPy", "until both are done"} <= set(words)
    assert "100 %" not in words
    page.evaluate(SWEEP, ["share", [[10]]])
    assert root(page, "share").locator("svg circle").count() == 1
    page.evaluate(SWEEP, ["share", [[80]]])
    assert root(page, "share").locator("svg circle").count() == 0, "that share lies outside"


def test_buttons_give_all_to_the_faster_one_or_half_to_each(page):
    press(page, "share", "a card and a CPU")
    press(page, "share", "all to the faster one")
    assert data(page, "share")["percent"] == "100"
    assert "does nothing" in caption(page, "share")
    press(page, "share", "half and half")
    assert "Card waits 8.0 ms for the other one. The job takes 15 ms, 1.3 times as long" in caption(page, "share")


SIZES = [(10, 6, 4, 4), (16, 3, 8, 1), (5, 9, 2, 8), (1, 1, 1, 1)]


@pytest.mark.parametrize(("columns", "rows", "lx", "ly"), SIZES)
def test_ids_are_those_that_opencl_defines(page, columns, rows, lx, ly):
    page.evaluate(SWEEP, ["ids", [[columns, rows]]])
    for label, side in (("local size x", lx), ("y", ly)):
        root(page, "ids").get_by_role("group", name=label, exact=True).get_by_role("button", name=str(side)).click()
    pad = root(page, "ids").get_by_role("group", name="Work-items: arrow keys choose one")
    pad.focus()
    page.keyboard.press("Home")
    gx, gy = -(-columns // lx) * lx, -(-rows // ly) * ly
    path = [(x, 0) for x in range(gx)] + [(gx - 1, y) for y in range(1, gy)]
    for k, (x, y) in enumerate(path):
        if k:
            page.keyboard.press("ArrowRight" if k < gx else "ArrowDown")
        found = {name: json.loads(data(page, "ids")[name]) for name in ("global", "group", "local", "size")}
        assert found == {"global": [x, y], "group": [x // lx, y // ly], "local": [x % lx, y % ly], "size": [gx, gy]}
        assert data(page, "ids")["works"] == ("true" if x < columns and y < rows else "false")
    assert data(page, "ids")["idle"] == str(gx * gy - columns * rows)
    assert data(page, "ids")["groups"] == str(gx // lx * (gy // ly))


def test_a_work_item_that_is_pointed_at_is_told(page):
    page.evaluate(SWEEP, ["ids", [[10, 6]]])
    root(page, "ids").locator("svg rect").nth(0).click()
    assert data(page, "ids")["global"] == "[0,0]"
    assert "number 0 × 10 + 0 = 0 of the buffer" in caption(page, "ids")


def test_one_loop_is_wrong_beside_the_diagonal_and_two_loops_are_right(page):
    for button, wrong in (("without", wrong_without_barrier(4)), ("with a barrier", 0)):
        press(page, "loop", button)
        assert data(page, "loop")["at"] == "0"
        press(page, "loop", "Next")
        assert "Work-item (0, 0) puts its number into the tile." in caption(page, "loop")
        press(page, "loop", "To the end")
        assert data(page, "loop")["wrong"] == str(wrong)
        assert data(page, "loop")["done"] == "16"
    assert "All numbers are right." in caption(page, "loop")


def test_each_queue_is_drawn_and_told(page):
    for name, chain in CHAINS.items():
        press(page, "queues", name)
        assert float(data(page, "queues")["end"]) == pytest.approx(1e3 * max(end for *_, end in chain))
        assert data(page, "queues")["wrong"] == ("true" if name == "nothing said" else "false")
    assert "A2 and B2 began before what they needed was there." in caption(page, "queues")


@pytest.mark.parametrize("width", [360, 400])
def test_on_a_phone_nothing_is_wider_than_the_page(page, width):
    assert_fits_a_phone(page, width)
    assert_no_text_leaves_its_drawing(page, width)
