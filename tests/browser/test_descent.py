"""The descent of lesson 03 in a page: started by mouse and by keys, and walking as Python does."""

import json

import numpy as np
import pytest

from course_lib import figures
from course_lib.figures.descent import EXTENT
from course_lib.figures.descent_live import promise
from course_lib.figures.surfaces import SURFACES, descend

from .pages import HTML, caption, data, page_with, root


def every_figure():
    """Return {name: figure}: as the lesson shows it, first on either surface."""
    return {
        "hills": figures.walk_downhill(start=(0.5, 1.0)),
        "ravine": figures.walk_downhill("ravine", start=(-2.75, 2.0), lr=1.5, steps=3),
    }


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return page_with(tmp_path_factory.mktemp("site"), every_figure())


def pad(page, name):
    return root(page, name).locator("[tabindex='0']")


def slide(page, name, which, value):
    """Set the slider number `which` (0 learning rate, 1 steps) to a value."""
    node = root(page, name).locator("input[type=range]").nth(which)
    node.evaluate("(e, v) => { e.value = v; e.dispatchEvent(new Event('input', {bubbles: true})); }", str(value))


def choose(page, name, surface):
    root(page, name).get_by_role("button", name=surface, exact=True).click()


def test_it_is_drawn_and_each_control_changes_what_is_shown(page):
    assert page.locator(".course-live > figure:visible").count() == 0
    for name in every_figure():
        assert len(caption(page, name)) > 40
        shown = root(page, name).locator(".course-live-stage,.course-live-caption")
        for node in root(page, name).locator("input[type=range]").all():
            before = shown.evaluate_all(HTML)
            node.focus()
            node.press("ArrowRight")
            assert shown.evaluate_all(HTML) != before
        for node in root(page, name).locator("button").all():
            before = shown.evaluate_all(HTML)
            still = node.get_attribute("aria-pressed") == "true" or node.get_attribute("aria-disabled") == "true"
            node.click()
            assert still or shown.evaluate_all(HTML) != before, node.inner_text()


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("lr", [0.05, 0.8, 1.6, 1.65, 2.5])
def test_it_walks_and_promises_as_python_does(page, surface, lr):
    choose(page, "hills", surface)
    slide(page, "hills", 0, lr)
    for steps in (0, 1, 20, 100):
        slide(page, "hills", 1, steps)
        seen = data(page, "hills")
        height, gradient = SURFACES[surface]
        here = descend(gradient, (0.5, 1.0), lr, steps)[-1]
        np.testing.assert_allclose(json.loads(seen["here"]), here, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(json.loads(seen["gradient"]), gradient(here), rtol=1e-8, atol=1e-9)
        assert float(seen["loss"]) == pytest.approx(height(here), rel=1e-8, abs=1e-9)
        promised, came = promise(surface, here, lr)
        assert float(seen["promised"]) == pytest.approx(-promised, rel=1e-8, abs=1e-9)
        assert float(seen["fall"]) == pytest.approx(-came, rel=1e-8, abs=1e-9)


def test_a_click_and_a_drag_put_the_start_where_the_mouse_is(page):
    image = pad(page, "hills").locator("image")
    box = image.bounding_box()

    def place(u, v):
        right, down = (u + EXTENT) / (2 * EXTENT), (EXTENT - v) / (2 * EXTENT)
        return box["x"] + right * box["width"], box["y"] + down * box["height"]

    page.mouse.click(*place(-1.5, 2.0))
    assert json.loads(data(page, "hills")["start"]) == pytest.approx([-1.5, 2.0], abs=0.051)
    page.mouse.move(*place(0.0, 0.0))
    page.mouse.down()
    page.mouse.move(*place(2.0, -2.5), steps=4)
    assert json.loads(data(page, "hills")["start"]) == pytest.approx([2.0, -2.5], abs=0.051)
    page.mouse.up()
    page.mouse.move(*place(0.0, 0.0))
    assert json.loads(data(page, "hills")["start"]) == pytest.approx([2.0, -2.5], abs=0.051), "follows without a press"


def test_arrow_keys_move_the_start_within_the_map_and_home_puts_it_back(page):
    node = pad(page, "ravine")
    node.focus()
    assert len(node.get_attribute("aria-label")) > 10
    assert node.evaluate("e => parseFloat(getComputedStyle(e).outlineWidth)") >= 2
    for key, start in (("ArrowRight", [-2.5, 2]), ("ArrowUp", [-2.5, 2.25]), ("ArrowLeft", [-2.75, 2.25])):
        page.keyboard.press(key)
        assert json.loads(data(page, "ravine")["start"]) == start
    for _ in range(9):
        page.keyboard.press("ArrowDown")
    assert json.loads(data(page, "ravine")["start"]) == [-2.75, 0], "the mirror line is reached exactly"
    for _ in range(9):
        page.keyboard.press("ArrowLeft")
    assert json.loads(data(page, "ravine")["start"]) == [-EXTENT, 0]
    page.keyboard.press("Home")
    assert json.loads(data(page, "ravine")["start"]) == [-2.75, 2]
    assert node.evaluate("e => e === document.activeElement")


def test_one_step_goes_on_and_the_start_is_found_again(page):
    figure = root(page, "hills")
    for steps in (1, 2, 3):
        figure.get_by_role("button", name="One step").click()
        assert data(page, "hills")["at"] == str(steps)
    assert figure.locator("input[type=range]").nth(1).input_value() == "3"
    figure.get_by_role("button", name="Back to the start").click()
    assert data(page, "hills")["at"] == "0"


def test_the_caption_says_when_a_step_raises_the_loss_or_leaves_the_map(page):
    slide(page, "ravine", 0, 1.65)
    assert "it raises it by" in caption(page, "ravine"), "just above 2 / 1.25"
    slide(page, "ravine", 0, 1.55)
    assert "it lowers it by" in caption(page, "ravine"), "just below it"
    slide(page, "ravine", 0, 2.5)
    slide(page, "ravine", 1, 100)
    assert "it raises it by" in caption(page, "ravine")
    assert "has left the map" in caption(page, "ravine")


@pytest.mark.parametrize("width", [900, 400, 320])
def test_nothing_is_wider_than_the_page_and_its_text_is_readable(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    page.wait_for_timeout(200)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    sizes, outside = page.evaluate(
        """() => { const all = [...document.querySelectorAll('.course-live-stage text')];
            return [all.map(t => parseFloat(getComputedStyle(t).fontSize)), all.filter(t => {
                const a = t.getBoundingClientRect(), b = t.ownerSVGElement.getBoundingClientRect();
                return a.width && (a.left < b.left - 2 || a.right > b.right + 2 || a.bottom > b.bottom + 2);
            }).map(t => t.textContent)]; }"""
    )
    assert min(sizes) >= 11
    assert outside == []


def test_the_arrows_are_the_gradient_and_minus_lr_times_it(page):
    """Measured on the drawing: the step's arrow ends where the walk goes next, at the scale of the map."""
    slide(page, "ravine", 0, 0.8)
    slide(page, "ravine", 1, 0)
    tips = root(page, "ravine").evaluate(
        """e => { const image = e.querySelector('image').getBoundingClientRect(), s = image.width / 6.4;
            const heads = [...e.querySelectorAll('svg svg path')].filter(p => p.getAttribute('stroke-width') === '0');
            return heads.map(p => {
                const [x, y] = p.getAttribute('d').slice(1).split('L')[0].split(' ').map(Number);
                const view = p.ownerSVGElement.viewBox.baseVal;
                return [(x - view.x) / s - 3.2, 3.2 - (y - view.y) / s]; }); }"""
    )
    np.testing.assert_allclose(tips[0], [-2.75 - 0.275, 2.0 + 2.5], atol=0.02)
    np.testing.assert_allclose(tips[1], [-2.75 + 0.8 * 0.275, 2.0 - 0.8 * 2.5], atol=0.02)
