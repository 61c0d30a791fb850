"""The line of lesson 01 in a page: dragged, turned and shifted, with mistakes and margin as Python."""

import numpy as np
import pytest

from course_lib import data as samples
from course_lib.figures.separators import line_to_drag, of_length_one
from course_lib.lesson.lines import widest_line
from course_lib.reference import add_bias_input, perceptron_fit

from .pages import HTML, SWEEP, assert_fits_a_phone, caption, data, page_with, press, root

X, Y = samples.blobs(30, centers=[(1.0, 1.0), (3.0, 2.5)], spread=0.5, rng=np.random.default_rng(7))
START = (-0.3, 1.0, -1.2)
NAND = samples.truth_table("nand")


@pytest.fixture(scope="module")
def made():
    return {"clouds": line_to_drag(X, Y, START), "nand": line_to_drag(*NAND, (0, 1, -0.5))}


@pytest.fixture(scope="module")
def built(made, tmp_path_factory):
    return page_with(tmp_path_factory.mktemp("site"), made)


def shown_line(page, name="clouds"):
    """Return what the figure says: weights (3,), mistakes, margin."""
    found = data(page, name)
    return np.array([float(v) for v in found["w"].split()]), int(found["mistakes"]), float(found["margin"])


def counted(w, x=X, y=Y):
    """Return mistakes and the distance of the nearest point, as the library counts them."""
    z = add_bias_input(x) @ w
    return int(np.sum((z >= 0) != y)), np.min(np.abs(z)) / np.hypot(w[0], w[1])


def grip(page, k):
    """Return the middle of an end of the line, in pixels of the window."""
    box = root(page, "clouds").locator(f"circle[data-grip='{k}'][r='9']").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_it_is_drawn_and_each_control_changes_what_is_shown(page, made):
    assert page.locator(".course-live").count() == len(made)
    assert page.locator(".course-live > figure:visible").count() == 0
    for name in made:
        shown = root(page, name).locator(".course-live-stage,.course-live-caption")
        for node in root(page, name).locator("input[type=range]").all():
            before = shown.evaluate_all(HTML)
            node.focus()
            node.press("ArrowRight")
            assert shown.evaluate_all(HTML) != before
        for node in root(page, name).locator("button").all():
            before = shown.evaluate_all(HTML)
            node.click()
            assert shown.evaluate_all(HTML) != before, node.inner_text()


def test_the_line_begins_where_it_was_put_and_counts_as_python(page):
    w, mistakes, margin = shown_line(page)
    np.testing.assert_allclose(w, of_length_one(np.array(START)), atol=2e-6)
    assert mistakes == counted(w)[0] == 5
    assert "Mistakes: 5 of 30." in caption(page, "clouds")
    np.testing.assert_allclose(margin, counted(w)[1], atol=1e-3)


def test_mistakes_and_margin_are_pythons_for_hundreds_of_lines(page):
    settings = [(turn, shift) for turn in range(0, 360, 11) for shift in (-30, -9, 0, 4, 21)]
    right = 0
    for shown in page.evaluate(SWEEP, ["clouds", settings]):
        w = np.array([float(v) for v in shown["w"].split()])
        mistakes, margin = counted(w)
        if margin > 2e-4:  # the page has the points with four digits
            assert int(shown["mistakes"]) == mistakes
        np.testing.assert_allclose(float(shown["margin"]), margin, atol=2e-4)
        right += mistakes == 0
    assert right > 3


def test_an_end_is_dragged_by_the_mouse_and_mistakes_follow(page):
    x0, y0 = grip(page, 0)
    other = grip(page, 1)
    page.mouse.move(x0, y0)
    page.mouse.down()
    page.mouse.move(x0 + 40, y0 - 60, steps=5)
    page.mouse.up()
    w, mistakes, _ = shown_line(page)
    assert mistakes == counted(w)[0]
    assert np.abs(w - of_length_one(np.array(START))).max() > 0.05
    np.testing.assert_allclose(grip(page, 0), (x0 + 40, y0 - 60), atol=2)
    np.testing.assert_allclose(grip(page, 1), other, atol=2)
    page.mouse.move(x0, y0 + 100)  # let go: it stays
    np.testing.assert_array_equal(shown_line(page)[0], w)


def test_the_reader_can_separate_the_groups_by_the_mouse_alone(page):
    box = root(page, "clouds").locator(".course-live-stage svg").bounding_box()
    ends = {0: (0.28, 0.15), 1: (0.9, 0.93)}
    for k, (fx, fy) in sorted(ends.items(), reverse=True):
        page.mouse.move(*grip(page, k))
        page.mouse.down()
        page.mouse.move(box["x"] + fx * box["width"], box["y"] + fy * box["height"], steps=8)
        page.mouse.up()
    w, mistakes, margin = shown_line(page)
    if mistakes == len(X):
        press(page, "clouds", "Swap the sides")
        w, mistakes, margin = shown_line(page)
    assert mistakes == counted(w)[0] == 0
    assert f"Margin: {margin:.2f}; the widest line has" in caption(page, "clouds")


def test_the_buttons_put_the_perceptrons_and_the_widest_line(page):
    for button, line in (
        ("The perceptron's line", of_length_one(perceptron_fit(X, Y).w)),
        ("The widest line", widest_line(X, Y)),
    ):
        press(page, "clouds", button)
        w, mistakes, margin = shown_line(page)
        np.testing.assert_allclose(w, line, atol=2e-6)
        assert mistakes == 0
        np.testing.assert_allclose(margin, counted(line)[1], atol=2e-4)
    assert "That is this one." in caption(page, "clouds")
    press(page, "nand", "The perceptron's line")
    assert (data(page, "nand")["mistakes"], float(data(page, "nand")["margin"])) == ("0", 0), "a score of 0 answers 1"


def test_keys_turn_and_shift_it_and_show_the_focus(page):
    pad = root(page, "clouds").locator("[tabindex='0']")
    assert len(pad.get_attribute("aria-label")) > 10
    pad.focus()
    assert pad.evaluate("e => parseFloat(getComputedStyle(e).outlineWidth)") >= 2
    page.keyboard.press("Home")
    first = pad.inner_html()
    for there, back in (("ArrowRight", "ArrowLeft"), ("ArrowUp", "ArrowDown")):
        page.keyboard.press(there)
        assert pad.inner_html() != first
        page.keyboard.press(back)
        assert pad.inner_html() == first
    page.keyboard.press("End")
    assert shown_line(page)[1] == 0
    assert pad.evaluate("e => e === document.activeElement"), "the focus is lost"


def test_the_line_never_leaves_the_picture(page):
    root(page, "clouds").locator("[tabindex='0']").focus()
    for key in ("ArrowUp", "ArrowDown"):
        for _ in range(60):
            page.keyboard.press(key)
        assert root(page, "clouds").locator("line[stroke-width='3']").count() == 1
        x, y = grip(page, 0)
        box = root(page, "clouds").locator(".course-live-stage svg").bounding_box()
        assert box["x"] <= x <= box["x"] + box["width"]
        assert box["y"] <= y <= box["y"] + box["height"]


@pytest.mark.parametrize("width", [400, 320])
def test_nothing_is_wider_than_a_phone_and_its_text_is_readable(page, width):
    assert_fits_a_phone(page, width)
