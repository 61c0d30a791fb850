"""Lesson 04's network in a page: forward and back step by step, changed by mouse and keys, with Python's numbers."""

import json

import numpy as np
import pytest

from course_lib import figures
from course_lib.figures.deltas import delta_values

from .pages import HTML, caption, data, page_with, press, root

X, Y = np.array([0.5, 0.9, -0.3]), np.array([0.9, 0.1])
W = np.array([[1, 2, 1], [-2, 1, -1], [2, -4, 0]], dtype=float)
W2 = np.array([[-3, 0], [1, 1], [-3, 2]], dtype=float)
NAMES = ("z", "a", "g", "o", "J", "delta_g", "delta_z", "dw", "dw2")


def small():
    rng = np.random.default_rng(3)
    return rng.normal(size=2), rng.normal(size=(2, 1)), rng.normal(size=(1, 3)), rng.uniform(size=3)


@pytest.fixture(scope="module")
def made():
    return {
        "slides": figures.delta_explorer(X, W, W2, Y),
        "small": figures.delta_explorer(*small(), chosen=(0, 1, 0)),
    }


@pytest.fixture(scope="module")
def built(made, tmp_path_factory):
    return page_with(tmp_path_factory.mktemp("site"), made)


def pad(page, name):
    return root(page, name).locator("[tabindex='0']")


def numbers(page, name):
    return json.loads(data(page, name)["numbers"])


def assert_as_python(page, name, x, w, w2, y):
    shown, values = numbers(page, name), delta_values(x, w, w2, y)
    for what in NAMES:
        np.testing.assert_allclose(shown[what], values[what], rtol=1e-9, atol=1e-12, err_msg=what)


def texts(page, name):
    return pad(page, name).locator("text").all_text_contents()


def test_every_number_is_pythons_in_both_networks(page):
    assert page.locator(".course-live > figure:visible").count() == 0
    assert_as_python(page, "slides", X, W, W2, Y)
    assert_as_python(page, "small", *small())


def test_the_walk_goes_forward_and_then_back_and_shows_what_is_known_so_far(page):
    pad(page, "slides").focus()
    seen = [data(page, "slides")["what"]]
    counts = [len(texts(page, "slides"))]
    for _ in range(17):
        page.keyboard.press("ArrowRight")
        seen.append(data(page, "slides")["what"])
        counts.append(len(texts(page, "slides")))
    assert seen == [
        "given", "hidden 1", "hidden 2", "hidden 3", "output 1", "output 2", "loss", "delta of O 1", "delta of O 2",
        "weights of O 1", "weights of O 2", "delta of H 1", "delta of H 2", "delta of H 3",
        "weights of H 1", "weights of H 2", "weights of H 3", "all",
    ]  # fmt: skip
    assert counts[:6] == [counts[0] + k for k in range(6)], "one value after the other"
    v = delta_values(X, W, W2, Y)
    for gradient in [*v["dw"].ravel(), *v["dw2"].ravel()]:
        assert f"{gradient:.4f}".replace("-", "−").replace("−0.0000", "0.0000") in texts(page, "slides")
    page.keyboard.press("ArrowRight")
    assert data(page, "slides")["step"] == "17", "there is nothing behind the end"
    page.keyboard.press("Home")
    assert len(texts(page, "slides")) == counts[0]


def test_buttons_walk_too_and_are_off_at_the_ends(page):
    back, forth = (root(page, "slides").get_by_role("button", name=n, exact=True) for n in ("Back", "Next"))
    assert back.get_attribute("aria-disabled") == "true"
    press(page, "slides", "All")
    assert forth.get_attribute("aria-disabled") == "true"
    press(page, "slides", "Back")
    assert data(page, "slides")["what"] == "weights of H 3"
    press(page, "slides", "Next")
    assert data(page, "slides")["what"] == "all"
    press(page, "slides", "Start again")
    assert data(page, "slides")["what"] == "given"


def test_the_formula_of_the_step_stands_below_with_its_numbers(page):
    for _ in range(9):
        press(page, "slides", "Next")
    text = root(page, "slides").inner_text()
    assert "H1: 0.1301·(−0.1254) = −0.0163" in text
    assert "Chosen: H1 to O1, slope −0.0163." in caption(page, "slides")
    for _ in range(3):
        press(page, "slides", "Next")
    text = root(page, "slides").inner_text()
    assert "H2: δ = (1·(−0.1254) + 1·0.0944)·0.9569·(1 − 0.9569) = −0.0013" in text
    assert "Paths add." in caption(page, "slides")


@pytest.mark.parametrize("name", ["slides", "small"])
def test_every_number_can_be_chosen_by_keys_and_changed_and_all_others_follow(page, name):
    x, w, w2, y = (np.array(v, dtype=float) for v in ((X, W, W2, Y) if name == "slides" else small()))
    arrays = [(x, i) for i in range(len(x))] + [(w, i) for i in np.ndindex(w.shape)]
    arrays += [(w2, i) for i in np.ndindex(w2.shape)] + [(y, k) for k in range(len(y))]
    press(page, name, "All")
    first = data(page, name)["chosen"]
    slider = root(page, name).locator("input[type=range]")
    chosen = set()
    for _ in arrays:
        pad(page, name).focus()
        page.keyboard.press("ArrowDown")
        chosen.add(data(page, name)["chosen"])
    assert len(chosen) == len(arrays)
    assert data(page, name)["chosen"] == first, "round once"
    while data(page, name)["chosen"] != "input I1":
        pad(page, name).focus()
        page.keyboard.press("ArrowDown")
    for number, (array, place) in enumerate(arrays):
        if number % 3 == 0:
            before = pad(page, name).inner_html()
            slider.focus()
            slider.press("ArrowRight")
            array[place] = float(slider.input_value())
            assert pad(page, name).inner_html() != before
            assert_as_python(page, name, x, w, w2, y)
            assert "J was" in caption(page, name)
        pad(page, name).focus()
        page.keyboard.press("ArrowDown")


def test_a_weight_an_input_and_a_target_are_chosen_by_mouse(page):
    for item, name in ((0, "input I1"), (3, "I1 to H1"), (16, "H3 to O1"), (19, "wanted of O2")):
        pad(page, "slides").locator(f"[data-item='{item}']").click()
        assert data(page, "slides")["chosen"] == name


def test_the_slope_of_the_chosen_number_is_what_a_small_move_finds(page):
    """The fact below the drawing holds for inputs, weights and targets alike."""
    press(page, "slides", "All")
    for item, moved in ((2, 0), (5, 1), (12, 2), (18, 3)):
        pad(page, "slides").locator(f"[data-item='{item}']").click()
        given = [np.array(v, dtype=float) for v in (X, W, W2, Y)]
        flat = {0: 2, 1: item - 3, 2: item - 12, 3: item - 18}[moved]
        losses = []
        for step in (1e-6, -1e-6):
            changed = [v.copy() for v in given]
            changed[moved].ravel()[flat] += step
            losses.append(delta_values(*changed)["J"])
        measured = (losses[0] - losses[1]) / 2e-6
        assert numbers(page, "slides")["slope"] == pytest.approx(measured, rel=1e-5, abs=1e-9)
        assert "run forward again, it changes by" in caption(page, "slides")


def test_a_step_downhill_moves_every_weight_against_its_gradient(page):
    w, w2 = W.copy(), W2.copy()
    for _ in range(3):
        v = delta_values(X, w, w2, Y)
        w, w2 = w - v["dw"], w2 - v["dw2"]
        press(page, "slides", "Step downhill")
        assert_as_python(page, "slides", X, w, w2, Y)
        assert f"from {v['J']:.4f} to" in caption(page, "slides")
    press(page, "slides", "Start again")
    assert_as_python(page, "slides", X, W, W2, Y)


def test_the_focus_shows_and_the_network_has_a_name(page):
    for one in page.locator(".course-live-stage [tabindex='0']").all():
        assert len(one.get_attribute("aria-label")) > 10
        one.focus()
        page.keyboard.press("ArrowRight")
        assert one.evaluate("e => e === document.activeElement"), "the focus is lost"
        assert one.evaluate("e => parseFloat(getComputedStyle(e).outlineWidth)") >= 2


@pytest.mark.parametrize("width", [900, 400, 320])
def test_at_any_width_the_text_is_readable_inside_the_drawing_and_red_numbers_do_not_meet(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    page.wait_for_timeout(200)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for steps in (0, 9, 1, 7):
        for _ in range(steps):
            press(page, "slides", "Next")
        found = root(page, "slides").evaluate(
            """root => {
                const texts = [...root.querySelectorAll('.course-live-stage text')], s = texts[0].ownerSVGElement;
                const scale = s.getBoundingClientRect().width / s.viewBox.baseVal.width, b = s.getBoundingClientRect();
                const boxes = texts.map(t => t.getBoundingClientRect());
                const meet = [];
                boxes.forEach((p, i) => boxes.slice(0, i).forEach((q, j) => {
                    const x = Math.min(p.right, q.right) - Math.max(p.left, q.left);
                    const y = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
                    if (x > 2 && y > 4) meet.push([texts[i].textContent, texts[j].textContent]);
                }));
                return {least: Math.min(...texts.map(t => parseFloat(getComputedStyle(t).fontSize) * scale)), meet,
                    out: texts.filter((t, i) => boxes[i].left < b.left - 2 || boxes[i].right > b.right + 2
                        || boxes[i].bottom > b.bottom + 2).map(t => t.textContent)};
            }"""
        )
        assert found["least"] >= 11
        assert found["out"] == []
        assert found["meet"] == []


def test_each_control_changes_what_is_shown(page, made):
    for name in made:
        figure = root(page, name)
        shown = figure.locator(".course-live-stage,.course-live-caption")
        for button in ("Next", "Step downhill", "Back", "All", "Start again"):
            before = shown.evaluate_all(HTML)
            press(page, name, button)
            assert shown.evaluate_all(HTML) != before, f"{name}: {button}"
