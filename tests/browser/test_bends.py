"""The curve of lesson 02 in a page: bends added by mouse and by keys, and counted as Python does."""

import numpy as np
import pytest

from course_lib import figures
from course_lib.figures import bends

from .drive import drive_live
from .pages import (
    HTML,
    assert_fits_a_phone,
    assert_no_text_leaves_its_drawing,
    caption,
    data,
    page_with,
    press,
    root,
)

X = np.linspace(0, 1, bends.GRID + 1)
MORE, FEWER = "bend where it misses most", "take the last one away"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return page_with(tmp_path_factory.mktemp("site"), {"curve": figures.bend_by_bend()})


def agrees(page):
    """What the script says of its network is what Python says of it. Returns the bends."""
    now = data(page, "curve")
    values = np.round(bends.CURVES[now["curve"]](X), 5)
    places = [int(k) for k in now["bends"].split(",") if k]
    _, w2, _ = bends.network_through(values, places)
    np.testing.assert_allclose([float(v) for v in now["w2"].split(",")], w2, atol=1e-3)
    assert int(now["neurons"]) == len(w2) == len(places) + 1
    miss = bends.worst_place(values, places)[1]
    assert float(now["miss"]) == pytest.approx(miss, abs=1e-4)
    assert f"largest miss {miss:.2f}" in caption(page, "curve") or abs(100 * miss % 1 - 0.5) < 0.02
    return places


@pytest.mark.parametrize("name", bends.CURVES)
def test_the_button_puts_each_bend_where_python_does(page, name):
    press(page, "curve", name)
    values = np.round(bends.CURVES[name](X), 5)
    assert agrees(page) == []
    for n in range(2, 9):
        press(page, "curve", MORE)
        assert agrees(page) == bends.bent(values, n)
    press(page, "curve", FEWER)
    assert agrees(page) == bends.bent(values, 7)


def test_a_bend_stands_where_the_reader_clicks(page):
    press(page, "curve", "a hill")
    svg = root(page, "curve").locator(".course-live-stage svg")
    svg.scroll_into_view_if_needed()
    box = svg.bounding_box()
    page.mouse.click(box["x"] + 40 + 0.5 * (box["width"] - 52), box["y"] + 60)
    (place,) = agrees(page)
    assert abs(place - bends.GRID / 2) <= 1
    page.mouse.click(box["x"] + 40 + 0.5 * (box["width"] - 52), box["y"] + 60)
    assert agrees(page) == [place], "twice at one place is one bend"
    assert caption(page, "curve").startswith("There is a bend already.")


def test_keys_move_the_pointer_and_bend_there(page):
    press(page, "curve", "a wave")
    pad = root(page, "curve").locator(".course-live-stage [tabindex='0']")
    pad.focus()
    before = int(data(page, "curve")["at"])
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert agrees(page) == [before + 2]
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Space")
    assert agrees(page) == [before + 2, before]
    page.keyboard.press("Backspace")
    assert agrees(page) == [before + 2]
    assert pad.evaluate("e => e === document.activeElement")
    assert pad.evaluate("e => parseFloat(getComputedStyle(e).outlineWidth)") >= 2


def test_there_is_a_last_neuron_and_then_the_button_rests(page):
    press(page, "curve", "a jump")
    button = root(page, "curve").get_by_role("button", name=MORE, exact=True)
    for _ in range(bends.MOST + 3):
        button.click(force=True)
    assert len(agrees(page)) == bends.MOST - 1
    assert button.get_attribute("aria-disabled") == "true"
    before = root(page, "curve").locator(".course-live-stage").evaluate_all(HTML)
    button.click(force=True)
    assert root(page, "curve").locator(".course-live-stage").evaluate_all(HTML) == before


def test_it_is_driven_as_every_figure_of_a_lesson_is(page):
    drive_live(root(page, "curve"))


@pytest.mark.parametrize("width", [900, 400, 320])
def test_its_text_is_readable_and_inside_at_every_width(page, width):
    for _ in range(3):
        press(page, "curve", MORE)
    assert_fits_a_phone(page, width)
    assert_no_text_leaves_its_drawing(page, width)
