"""The gradient of several maps in a page: chosen by mouse and by keys, with the sums of the reference."""

import json

import numpy as np
import pytest

from course_lib import figures
from course_lib import reference as ops
from course_lib.figures.map_gradients import lines_of, map_gradients

from .pages import assert_no_text_leaves_its_drawing, caption, data, page_with, root

SHAPES = {
    "lesson": ((2, 2, 3, 3), (3, 2, 2, 2), (2, 3, 2, 2)),
    "ragged": ((3, 1, 2, 4), (2, 1, 1, 3), (3, 2, 2, 2)),
    "one": ((1, 1, 1, 1), (1, 1, 1, 1), (1, 1, 1, 1)),
}
KINDS = ("x", "w", "dy")

# Clicks each cell of a figure and returns the figure's data after it.
CLICK_ALL = """name => {
    const root = document.querySelector(`#${name} .course-live`), found = [];
    for (const k of [0, 1, 2]) {
        const pad = () => root.querySelectorAll("[tabindex='0']")[k], count = pad().querySelectorAll("[data-place]").length;
        for (let i = 0; i < count; i++) {
            const cell = pad().querySelectorAll("[data-place]")[i], place = cell.getAttribute("data-place");
            cell.dispatchEvent(new Event("click"));
            const marks = [0, 1, 2].map(j => [...root.querySelectorAll("[tabindex='0']")[j].querySelectorAll("[data-mark]")]
                .map(e => [e.getAttribute("data-place"), e.getAttribute("data-mark")]));
            const lines = [...root.querySelectorAll(".course-live-stage p")].map(p => p.textContent);
            found.push({...root.dataset, place, marks, lines});
        }
    }
    return found;
}"""  # noqa: E501


def arrays(name):
    rng = np.random.default_rng(5)
    return [rng.integers(-3, 5, shape).astype(float) for shape in SHAPES[name]]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    made = {name: figures.gradient_explorer(*arrays(name), at=(0, 0, 0, 0)) for name in SHAPES}
    return page_with(tmp_path_factory.mktemp("site"), made)


@pytest.mark.parametrize("name", SHAPES)
def test_a_click_on_any_number_shows_the_references_sum_and_its_terms(page, name):
    x, w, dy = arrays(name)
    maps = map_gradients(x, w, dy)
    y, cache = ops.conv2d_forward_loops(x, w)
    dx, dw, _ = ops.conv2d_backward_loops(dy, cache)
    right = {"x": dx, "w": dw, "dy": y}
    found = page.evaluate(CLICK_ALL, name)
    assert len(found) == x.size + w.size + dy.size
    for shown in found:
        kind, place = shown["kind"], tuple(map(int, shown["place"].split()))
        assert shown["chosen"] == shown["place"]
        assert float(shown["total"]) == right[kind][place]
        assert json.loads(shown["parts"]) == list(maps.sums(kind, place).values())
        terms = maps.terms(kind, place)
        assert [(g, tuple(a), tuple(b)) for g, a, b in json.loads(shown["terms"])] == [
            (t.group, t.first, t.second) for t in terms
        ]
        marked = dict(
            zip(KINDS, ({tuple(map(int, p.split())): m for p, m in each} for each in shown["marks"]), strict=True)
        )
        one, two = maps.factors(kind)
        (rest,) = set(KINDS) - {one, two}
        assert marked[rest] == {}, "the chosen array takes no part"
        for t in terms:
            assert marked[one][t.first] == marked[two][t.second], "a pair has one letter"
        assert len(marked[one]) == len(marked[two]) == len(terms)
        written = [f"{part}: {products} = {value}" for part, products, value in lines_of(maps, kind, place)]
        assert shown["lines"][1:-1] == written


def test_arrow_keys_go_through_all_maps_of_an_array_and_stop_at_its_ends(page):
    pads = root(page, "lesson").locator("[tabindex='0']")
    assert pads.count() == 3
    for k, (kind, shape) in enumerate(zip(KINDS, SHAPES["lesson"], strict=True)):
        pads.nth(k).focus()
        page.keyboard.press("Home")
        rows, columns, H, W = shape
        seen = set()
        for _ in range(rows * H):
            for _ in range(columns * W):
                shown = data(page, "lesson")
                assert shown["kind"] == kind
                seen.add(shown["chosen"])
                page.keyboard.press("ArrowRight")
            for _ in range(columns * W):
                page.keyboard.press("ArrowLeft")
            page.keyboard.press("ArrowDown")
        assert len(seen) == int(np.prod(shape))
        page.keyboard.press("End")
        last = data(page, "lesson")["chosen"]
        assert last == " ".join(str(n - 1) for n in shape)
        page.keyboard.press("ArrowDown")
        assert data(page, "lesson")["chosen"] == last
        assert pads.nth(k).evaluate("e => e === document.activeElement"), "the focus is lost"
        assert pads.nth(k).evaluate("e => parseFloat(getComputedStyle(e).outlineWidth)") >= 2


def test_buttons_go_from_pixel_to_weight_to_output_and_the_caption_says_what_is_added(page):
    figure = root(page, "lesson")
    for button, kind, said in (
        ("a weight", "w", "added up for each image"),
        ("an output", "dy", "times the weight to each marked pixel"),
        ("a pixel", "x", "added up for each output map"),
    ):
        node = figure.get_by_role("button", name=button, exact=True)
        node.click()
        assert data(page, "lesson")["kind"] == kind
        assert node.get_attribute("aria-pressed") == "true"
        assert said in caption(page, "lesson")


@pytest.mark.parametrize("width", [400, 320])
def test_on_a_phone_nothing_is_cut_and_text_is_readable(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    page.wait_for_timeout(200)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for svg in page.locator(".course-live-stage svg").all():
        box = svg.bounding_box()
        assert box["x"] + box["width"] <= width
    sizes = page.evaluate(
        """() => [...document.querySelectorAll('.course-live-stage text')].map(
            t => parseFloat(getComputedStyle(t).fontSize))"""
    )
    assert min(sizes) >= 11


def test_no_text_leaves_its_drawing_or_its_cell(page):
    for width in (900, 400):
        assert_no_text_leaves_its_drawing(page, width, slack=1)
