"""The network with nine numbers in a page: moved by mouse and by keys, and counting as Python does."""

import json

import numpy as np
import pytest

from course_lib import figures
from course_lib.figures import xor_networks as nets

from .drive import drive_live
from .pages import HTML, caption, page_with, root


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    made = {
        "full": figures.nine_numbers("XOR solved"),
        "locked": figures.nine_numbers("your turn", presets=(), between=("none",), explains=False),
    }
    return page_with(tmp_path_factory.mktemp("site"), made)


def press(page, button, name="full"):
    root(page, name).get_by_role("button", name=button, exact=True).click()


def state(page, name="full"):
    """What the script writes down of itself: {name: number, list of numbers or text}."""
    found = root(page, name).evaluate("e => ({...e.dataset})")
    return {k: v if k == "act" else json.loads(f"[{v}]") for k, v in found.items() if k != "live"}


def agrees(page, name="full"):
    """The script's numbers are Python's, for its nine numbers as they stand."""
    now = state(page, name)
    hidden, o = nets.forward(now["numbers"], now["act"], nets.CORNERS)
    np.testing.assert_allclose(now["outputs"], o, atol=5.1e-5)
    np.testing.assert_allclose(now["hidden"], hidden.ravel(), atol=5.1e-5)
    assert now["right"] == [nets.right(now["numbers"], now["act"]).sum()]
    np.testing.assert_allclose(now["at"], nets.forward(now["numbers"], now["act"], [now["probe"]])[1], atol=5.1e-5)
    if now["act"] == "none":
        np.testing.assert_allclose(now["three"], nets.three_numbers(now["numbers"]), atol=5.1e-5)


@pytest.mark.parametrize("preset", nets.PRESETS)
def test_each_preset_is_pressed_and_counts_as_python_does(page, preset):
    press(page, preset)
    now = state(page)
    assert now["numbers"] == list(nets.PRESETS[preset][0])
    assert now["act"] == nets.PRESETS[preset][1]
    agrees(page)
    right = now["right"][0]
    assert caption(page, "full").startswith(f"{right} of 4 right" + (": this is XOR." if right == 4 else "."))
    pressed = root(page, "full").get_by_role("button", name=preset, exact=True)
    assert pressed.get_attribute("aria-pressed") == "true"
    crosses = root(page, "full").locator("svg path[stroke-width='3']").count()
    assert crosses == 2 * (4 - right)  # one in each panel


def test_every_slider_moves_its_own_number_by_keys(page):
    press(page, "your turn")
    press(page, "ReLU")
    sliders = root(page, "full").locator("input[type=range]")
    assert sliders.count() == 9
    for i in range(9):
        before = state(page)["numbers"]
        sliders.nth(i).focus()
        page.keyboard.press("ArrowRight")
        after = state(page)["numbers"]
        assert [k for k in range(9) if after[k] != before[k]] == [i]
        assert after[i] == before[i] + nets.STEP
        agrees(page)


def test_the_readers_own_solution_is_found_with_sliders(page):
    press(page, "your turn")
    press(page, "ReLU")
    for i, value in enumerate((1, -1, 0, -1, 1, 0, 1, 1, 0)):
        root(page, "full").locator("input[type=range]").nth(i).fill(str(value))
    agrees(page)
    assert caption(page, "full").startswith("4 of 4 right: this is XOR.")


def test_hundreds_of_numbers_are_counted_as_python_does(page):
    rng = np.random.default_rng(3)
    steps = np.arange(-nets.MOST, nets.MOST + nets.STEP / 2, nets.STEP)
    for between in nets.BETWEEN:
        press(page, between)
        for numbers in rng.choice(steps, (12, 9)):
            root(page, "full").evaluate(
                """(e, values) => e.querySelectorAll('input[type=range]').forEach((node, i) => {
                    node.value = values[i];
                    node.dispatchEvent(new Event('input', {bubbles: true}));
                })""",
                numbers.tolist(),
            )
            agrees(page)


@pytest.mark.parametrize("preset", nets.PRESETS)
def test_the_shaded_part_of_the_map_is_where_the_output_is_above_one_half(page, preset):
    press(page, preset)
    numbers, between = nets.PRESETS[preset]
    points = np.random.default_rng(4).uniform(nets.LOW, nets.HIGH, (80, 2))
    inside = root(page, "full").evaluate(
        """(e, points) => {
            const svg = e.querySelector('.course-live-stage svg'), W = svg.viewBox.baseVal.width;
            const gap = W < 480 ? 30 : 44, side = (W - 2 * gap - 8) / 2, top = 176;
            const shaded = [...svg.querySelectorAll('polygon')].slice(0, -1);  // the last one is the hidden space
            return points.map(([x, y]) => {
                const p = svg.createSVGPoint();
                [p.x, p.y] = [gap - 8 + (x + .5) / 2 * side, top + (1 - (y + .5) / 2) * side];
                return shaded.some(s => s.isPointInFill(p));
            });
        }""",
        points.tolist(),
    )
    assert inside == (nets.forward(numbers, between, points)[1] > 0.5).tolist()


def test_the_point_walks_by_keys_and_jumps_by_mouse(page):
    pad = root(page, "full").locator(".course-live-stage [tabindex='0']")
    pad.focus()
    page.keyboard.press("Home")
    assert state(page)["probe"] == [0, 0]
    walk = {"ArrowRight": [0.125, 0], "ArrowUp": [0.125, 0.125], "ArrowLeft": [0, 0.125], "End": [1, 1]}
    for key, to in walk.items():
        page.keyboard.press(key)
        assert state(page)["probe"] == to
        agrees(page)
    assert pad.evaluate("e => e === document.activeElement")
    assert pad.evaluate("e => parseFloat(getComputedStyle(e).outlineWidth)") >= 2
    svg = pad.locator("svg")
    svg.scroll_into_view_if_needed()
    box = svg.bounding_box()
    page.mouse.click(box["x"] + 60, box["y"] + 176 + 60)
    x, y = state(page)["probe"]
    assert (x, y) != (1, 1)
    assert -0.5 <= x < 0.5 < y <= 1.5
    agrees(page)


def test_the_locked_one_has_no_bend_keeps_the_best_and_gives_nothing_away(page):
    assert root(page, "locked").locator("button").count() == 0
    assert caption(page, "locked") == "1 of 4 right. Your best so far: 1 of 4."
    sliders = root(page, "locked").locator("input[type=range]")
    for i, value in enumerate((1, 1, 0, 1, 1, -1, 1, -2, 0)):
        sliders.nth(i).fill(str(value))
    agrees(page, "locked")
    assert caption(page, "locked") == "3 of 4 right. Your best so far: 3 of 4."
    sliders.nth(8).fill("3")
    assert caption(page, "locked").endswith("Your best so far: 3 of 4.")


def test_every_control_has_a_name_and_changes_the_picture(page):
    figure = root(page, "full")
    names = ["hidden neuron 1", "hidden neuron 2", "the output"]
    assert [figure.get_by_role("group", name=name).locator("input").count() for name in names] == [3, 3, 3]
    shown = figure.locator(".course-live-stage")
    for button in (*nets.BETWEEN, *list(nets.PRESETS)[::-1]):
        before = shown.evaluate_all(HTML)
        pressed = figure.get_by_role("button", name=button, exact=True)
        still = pressed.get_attribute("aria-pressed") == "true"
        pressed.focus()
        page.keyboard.press("Enter")
        assert still or shown.evaluate_all(HTML) != before, button


@pytest.mark.parametrize("name", ["full", "locked"])
def test_each_is_driven_as_every_figure_of_a_lesson_is(page, name):
    drive_live(root(page, name))


@pytest.mark.parametrize("width", [900, 400, 320])
def test_its_text_is_readable_and_inside_at_every_width(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    page.wait_for_timeout(200)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for preset in nets.PRESETS:
        press(page, preset)
        found = page.evaluate(
            """() => [...document.querySelectorAll('.course-live-stage text')].map(t => {
                const svg = t.ownerSVGElement, a = t.getBoundingClientRect(), b = svg.getBoundingClientRect();
                const size = parseFloat(getComputedStyle(t).fontSize) * b.width / svg.viewBox.baseVal.width;
                const out = a.width && (a.left < b.left - 2 || a.right > b.right + 2 || a.bottom > b.bottom + 2);
                return [size, out ? t.textContent : ''];
            })"""
        )
        assert min(size for size, _ in found) >= 11
        assert {text for _, text in found} == {""}, preset
