"""The valley of momentum and of Adam in a page: moved by mouse and by keys, and walking as Python does."""

import json

import numpy as np
import pytest

from course_lib import figures
from course_lib.figures import valleys

from .pages import (
    HTML,
    SWEEP,
    assert_fits_a_phone,
    assert_no_text_leaves_its_drawing,
    caption,
    data,
    page_with,
    press,
    root,
)


def every_figure():
    """Return {name: figure}: as the lesson shows it, and with a start on the axis of the valley."""
    return {
        "lesson": figures.momentum_valley(start=(-9, 1.5), lr=1.9, momentum=0.9),
        "axis": figures.momentum_valley(start=(-8, 0), lr=1.9, momentum=0.5, shown=0),
        "adam": figures.adam_valley(shown=10),
    }


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return page_with(tmp_path_factory.mktemp("site"), every_figure())


def maps(page, name):
    return root(page, name).locator("[tabindex='0']")


def start(page, name):
    return json.loads(data(page, name)["start"])


def test_the_drawing_takes_the_place_of_the_picture_and_every_control_changes_it(page):
    assert page.locator(".course-live > figure:visible").count() == 0
    for name in every_figure():
        shown = root(page, name).locator(".course-live-stage,.course-live-caption")
        assert root(page, name).locator("input[type=range]").count() == 3
        for node in root(page, name).locator("input[type=range]").all():
            before = shown.evaluate_all(HTML)
            node.focus()
            node.press("ArrowRight")
            assert shown.evaluate_all(HTML) != before
        for button in ("One step", "Back to the start"):
            before = shown.evaluate_all(HTML)
            press(page, name, button)
            assert shown.evaluate_all(HTML) != before, button


def test_it_counts_and_walks_as_python_does(page):
    settings = [[lr, mu, n] for lr in (0.1, 1.5, 1.9, 2, 2.5, 4) for mu in (0, 0.5, 0.8, 0.9, 0.98) for n in (0, 1, 25)]
    for seen, (lr, mu, n) in zip(page.evaluate(SWEEP, ["lesson", settings]), settings, strict=True):
        walks = [valleys.walk((-9, 1.5), lr, m, n)[-1] for m in (0, mu)]
        np.testing.assert_allclose(json.loads(seen["here"]), walks, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(json.loads(seen["losses"]), [valleys.height(p) for p in walks], rtol=1e-9)
        assert json.loads(seen["plain"]) == valleys.steps_to_bottom((-9, 1.5), lr, 0.0)
        assert json.loads(seen["heavy"]) == valleys.steps_to_bottom((-9, 1.5), lr, mu)


def test_adam_walks_as_python_does_and_as_far_at_any_scale_of_the_loss(page):
    settings = [[power, rate, 10] for power in (-3, -1, 0, 1, 3) for rate in (0.05, 0.3, 2)]
    for seen, (power, rate, n) in zip(page.evaluate(SWEEP, ["adam", settings]), settings, strict=True):
        walks = [valleys.walk((-9, 1.5), 1.9, 0.9, n, 10.0**power), valleys.adam_walk((-9, 1.5), rate, n, 10.0**power)]
        np.testing.assert_allclose(json.loads(seen["here"]), [w[-1] for w in walks], rtol=1e-9, atol=1e-12)
        assert json.loads(seen["plain"]) == valleys.steps_to_bottom((-9, 1.5), 1.9, 0.9, 10.0**power)
        assert json.loads(seen["heavy"]) == valleys.arrived(valleys.adam_walk((-9, 1.5), rate, 1000, 10.0**power))
    page.evaluate(SWEEP, ["adam", [[1, 0.3, 10]]])
    assert "the loss times 10. Momentum 0.9 at the rate 1.9: first step (1.71, −28.5), not at the bottom" in caption(
        page, "adam"
    )
    assert "Adam at the rate 0.30: first step (0.3, −0.3), at the bottom after 64 steps." in caption(page, "adam")


def test_the_caption_tells_both_counts_and_who_never_arrives(page):
    assert "Without momentum: at the bottom after 157 steps." in caption(page, "lesson")
    assert "With momentum 0.90: at the bottom after 69 steps." in caption(page, "lesson")
    page.evaluate(SWEEP, ["lesson", [[2.5, 0.9, 30]]])
    assert "Without momentum: not at the bottom after 1000 steps." in caption(page, "lesson")
    assert "never at the bottom" in maps(page, "lesson").locator("svg").first.text_content()


def test_on_the_axis_of_the_valley_plain_descent_takes_any_rate(page):
    seen = page.evaluate(SWEEP, ["axis", [[4, 0.5, 5]]])[0]
    assert json.loads(seen["plain"]) == valleys.steps_to_bottom((-8, 0), 4, 0.0)
    assert json.loads(seen["plain"]) < 100


@pytest.mark.parametrize("width", [900, 400])
@pytest.mark.parametrize("which", [0, 1])
def test_a_click_and_a_drag_in_either_map_put_the_start_where_the_mouse_is(page, width, which):
    page.set_viewport_size({"width": width, "height": 900})
    page.wait_for_timeout(200)
    box = root(page, "lesson").locator("svg svg > rect:first-child").nth(which).bounding_box()
    reach = valleys.REACH

    def place(u, v):
        right, down = (u + reach[0]) / (2 * reach[0]), (reach[1] - v) / (2 * reach[1])
        return box["x"] + right * box["width"], box["y"] + down * box["height"]

    page.mouse.click(*place(4.0, -1.0))
    assert start(page, "lesson") == pytest.approx([4, -1], abs=0.1)
    page.mouse.move(*place(0.0, 0.0))
    page.mouse.down()
    page.mouse.move(*place(-6.0, 1.8), steps=4)
    assert start(page, "lesson") == pytest.approx([-6, 1.8], abs=0.1)
    page.mouse.up()
    page.mouse.move(*place(0.0, 0.0))
    assert start(page, "lesson") == pytest.approx([-6, 1.8], abs=0.1), "follows without a press"


@pytest.mark.parametrize("width", [900, 400])
def test_arrow_keys_move_the_start_within_the_map_and_home_puts_it_back(page, width):
    page.set_viewport_size({"width": width, "height": 900})
    page.wait_for_timeout(200)
    node = maps(page, "lesson")
    node.focus()
    assert len(node.get_attribute("aria-label")) > 10
    assert node.evaluate("e => parseFloat(getComputedStyle(e).outlineWidth)") >= 2
    for key, place in (("ArrowRight", [-8.5, 1.5]), ("ArrowUp", [-8.5, 1.75]), ("ArrowLeft", [-9, 1.75])):
        page.keyboard.press(key)
        assert start(page, "lesson") == place
    for _ in range(9):
        page.keyboard.press("ArrowLeft")
    assert start(page, "lesson") == [-10, 1.75]
    page.keyboard.press("Home")
    assert start(page, "lesson") == [-9, 1.5]
    assert node.evaluate("e => e === document.activeElement")


def test_one_step_goes_on_and_back_to_the_start(page):
    for shown in (1, 2):
        press(page, "axis", "One step")
        assert data(page, "axis")["shown"] == str(shown)
    assert root(page, "axis").locator("input[type=range]").nth(2).input_value() == "2"
    press(page, "axis", "Back to the start")
    assert data(page, "axis")["shown"] == "0"


def test_the_two_walks_differ_in_more_than_their_colour(page):
    """Circles without momentum, triangles with it: told apart in grey."""
    marks = root(page, "lesson").evaluate(
        """e => [...e.querySelectorAll('svg svg')].map(v => [v.querySelectorAll('circle').length,
            [...v.querySelectorAll('path')].filter(p => p.getAttribute('d').endsWith('Z')).length])"""
    )
    assert marks == [[31, 0], [0, 31]]


@pytest.mark.parametrize("width", [900, 400, 320])
def test_nothing_is_wider_than_the_page_and_its_text_is_readable(page, width):
    assert_fits_a_phone(page, width)
    assert_no_text_leaves_its_drawing(page, width)
