"""A network as boxes in a page: chosen by mouse and keys, laid out as in Python, with the maps of an image."""

import json

import numpy as np
import pytest

from course_lib import data as sets
from course_lib import figures, nn
from course_lib.figures.lenet import NAMES
from course_lib.figures.network_layers import network_layers
from course_lib.figures.volumes import layout

from .pages import assert_fits_a_phone, assert_no_text_leaves_its_drawing, caption, data, page_with, press, root

GREYS = """root => [...root.querySelectorAll('canvas')].map(c => {
    const pixels = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
    return new Set(pixels).size;
})"""


def rng():
    return np.random.default_rng(0)


def nets():
    return {
        "lenet": (nn.models.lenet5(rng=rng()), (1, 32, 32), NAMES, sets.load_digits(seed=0).images("test")[0]),
        "colour": (nn.models.cnn_color(rng=rng()), (3, 32, 32), None, sets.colour_shapes(1, rng=rng())[0][0]),
        "bare": (nn.models.lenet5(rng=rng(), classic=True), (1, 32, 32), NAMES, None),
    }


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    made = {}
    for name, (net, shape, names, image) in nets().items():
        image = np.pad(image, 2)[None] if name == "lenet" else image
        made[name] = figures.network_volumes(net, shape, names=names, image=image, costs=name != "bare")
    return page_with(tmp_path_factory.mktemp("site"), made)


@pytest.mark.parametrize("name", ["lenet", "colour", "bare"])
def test_a_click_on_a_box_its_button_and_the_arrow_keys_choose_a_layer(page, name):
    net, shape, names, _ = nets()[name]
    layers = network_layers(net, shape, names)
    figure, boxes = root(page, name), root(page, name).locator("[tabindex='0']").first
    for i, v in enumerate(layers):
        figure.locator(f"[data-layer='{i}']").dispatch_event("click")
        shown = data(page, name)
        assert (shown["name"], shown["shape"], shown["seen"]) == (v.name, v.shape_text, " ".join(map(str, v.seen)))
    for v in layers[::-1]:
        press(page, name, v.name)
        assert caption(page, name).startswith(f"{v.name}: {v.words}")
        assert figure.get_by_role("button", name=v.name, exact=True).get_attribute("aria-pressed") == "true"
    boxes.focus()
    page.keyboard.press("Home")
    seen = [data(page, name)["name"]]
    for _ in layers:
        page.keyboard.press("ArrowRight")
        seen.append(data(page, name)["name"])
    assert seen == [v.name for v in layers] + [layers[-1].name], "the keys stop at the last layer"
    page.keyboard.press("ArrowLeft")
    assert data(page, name)["name"] == layers[-2].name
    page.keyboard.press("End")
    assert data(page, name)["name"] == layers[-1].name
    assert boxes.evaluate("e => e === document.activeElement"), "the focus is lost"
    assert boxes.evaluate("e => parseFloat(getComputedStyle(e).outlineWidth)") >= 2


@pytest.mark.parametrize("width", [900, 400])
def test_boxes_stand_where_the_static_picture_has_them(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    page.wait_for_timeout(200)
    for name, (net, shape, names, _) in nets().items():
        layers = network_layers(net, shape, names)
        stage = root(page, name).locator(".course-live-stage").evaluate("e => e.clientWidth")
        scale, _, places = layout(layers, stage - 16)
        shown = data(page, name)
        assert float(shown["scale"]) == scale
        np.testing.assert_allclose(json.loads(shown["places"]), places, atol=1e-6)


def test_costs_are_told_only_where_they_are_asked_for(page):
    press(page, "lenet", "C5")
    rows = root(page, "lenet").locator("tr").all_inner_texts()
    assert [row.split("\t") for row in rows] == [
        ["output", "120 numbers (convolution)"], ["parameters", "48,120 (78 % of all)"],
        ["multiply-adds", "48,000 (12 % of all)"], ["one number sees", "32 x 32 of 32 x 32 pixels"],
    ]  # fmt: skip
    assert "Each weight is used at 1 place." in caption(page, "lenet")
    press(page, "bare", "C5")
    assert "parameters" not in root(page, "bare").inner_text()


def test_each_layer_shows_the_images_maps_with_a_frame_around_what_a_number_sees(page):
    for name in ("lenet", "colour"):
        net, shape, names, _ = nets()[name]
        layers = network_layers(net, shape, names)
        for v in layers[:-1]:
            press(page, name, v.name)
            sizes = root(page, name).evaluate(GREYS)
            assert len(sizes) == (1 if v is layers[0] else 2)
            assert min(sizes) > 2, f"{v.name}: a canvas is empty"
            label = root(page, name).locator("canvas").first.get_attribute("aria-label")
            assert f"a frame around {v.seen[2]} x {v.seen[3]} pixels" in label
        press(page, name, layers[-1].name)
        assert root(page, name).locator("canvas").count() == 1
        told = root(page, name).locator(".course-live-stage span:has(span)").all_inner_texts()
        assert len(told) == 10
    assert root(page, "bare").locator("canvas").count() == 0


@pytest.mark.parametrize("width", [400, 320])
def test_on_a_phone_nothing_is_cut_and_text_is_readable(page, width):
    assert_fits_a_phone(page, width)
    for name, (net, shape, names, _) in nets().items():
        for v in network_layers(net, shape, names):
            press(page, name, v.name)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            for canvas in root(page, name).locator("canvas").all():
                box = canvas.bounding_box()
                assert box["x"] + box["width"] <= width


def test_no_text_leaves_its_drawing(page):
    for width in (900, 400):
        assert_no_text_leaves_its_drawing(page, width)
