"""The map of digits in a page: a click or a key chooses a digit, and its pictures are the ones that were computed."""

import numpy as np
import pytest

from course_lib import figures, nn
from course_lib import reference as ops
from course_lib.figures.digit_maps import ALPHABET

from .pages import HTML, assert_fits_a_phone, assert_no_text_leaves_its_drawing, caption, data, page_with, press, root


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(1)
    x = np.zeros((90, 1, 32, 32), dtype=np.float32)
    x[:, 0, 8:24, 10:22] = rng.random((90, 16, 12)) ** 3
    net = nn.models.lenet5(rng=np.random.default_rng(0))
    points = rng.standard_normal((90, 2))
    return {"map": figures.digit_map(net, x, np.arange(90) % 10, points)}


@pytest.fixture(scope="module")
def built(made, tmp_path_factory):
    return page_with(tmp_path_factory.mktemp("site"), made)


def steps(text):
    return np.array([ALPHABET.index(character) for character in text])


def place(made, k):
    """Where the k-th chosen digit lies, from 0 to 1."""
    at = made["map"].data["chosen"][k]
    return steps(made["map"].data["places"]).reshape(-1, 2, 2)[at] @ [64, 1] / 4095


def the_map(page):
    return root(page, "map").get_by_role("group", name="Map of digits: arrow keys choose a digit")


def click(page, made, k):
    box, (x, y) = the_map(page).locator("svg").bounding_box(), place(made, k)
    edge = 14
    page.mouse.click(
        box["x"] + edge + x * (box["width"] - 2 * edge), box["y"] + edge + (1 - y) * (box["height"] - 2 * edge)
    )


def pixels(page, n):
    """The colours of the n-th picture, (side, side, 3)."""
    found = (
        root(page, "map")
        .locator("canvas")
        .nth(n)
        .evaluate("c => [c.width, [...c.getContext('2d').getImageData(0, 0, c.width, c.height).data]]")
    )
    return np.array(found[1]).reshape(found[0], found[0], 4)[..., :3]


def test_a_click_on_any_digit_shows_its_own_pictures_and_reading(page, made):
    shown = made["map"].data
    seen = {}
    for k, i in enumerate(shown["chosen"]):
        click(page, made, k)
        now = data(page, "map")
        assert now["chosen"] == str(i)
        assert (now["label"], now["answer"]) == (shown["labels"][i], shown["answers"][i])
        grey = steps(shown["digits"][k]["ink"])
        ink = np.stack([grey // 8, grey % 8], axis=1).reshape(28, 28) / 7
        np.testing.assert_allclose(pixels(page, 0)[..., 0], 255 - ink * (255 - 0x22), atol=1)
        for n, name in ((1, "slopes"), (2, "falls")):  # both in the colours of the static picture
            value = 2 * steps(shown["digits"][k][name]) / 63 - 1
            full = np.array([[int(hexed[j : j + 2], 16) for j in (1, 3, 5)] for hexed in shown["signs"]])
            assert full[0, 0] > full[0, 2]  # orange
            assert full[1, 2] > full[1, 0]  # purple
            expected = 255 + (full[(value < 0).astype(int)] - 255) * np.abs(value)[:, None]
            np.testing.assert_allclose(pixels(page, n).reshape(-1, 3), expected, atol=1)
        said = caption(page, "map")
        assert f"Test digit {i}: a {shown['labels'][i]}, read" in said
        assert f"{shown['digits'][k]['share']} % lies on ink" in said
        seen[said] = k
    assert len(seen) == len(shown["chosen"])


def test_arrow_keys_go_to_a_digit_on_that_side_and_every_key_keeps_the_focus(page, made):
    the_map(page).focus()
    for key, axis, sign in (("ArrowLeft", 0, -1), ("ArrowRight", 0, 1), ("ArrowUp", 1, 1), ("ArrowDown", 1, -1)):
        page.keyboard.press("Home")
        assert data(page, "map")["at"] == "0"
        moved = 0
        for _ in range(40):
            before = int(data(page, "map")["at"])
            page.keyboard.press(key)
            after = int(data(page, "map")["at"])
            if after != before:
                moved += 1
                assert sign * (place(made, after)[axis] - place(made, before)[axis]) > 0
        last = data(page, "map")["at"]
        page.keyboard.press(key)
        assert data(page, "map")["at"] == last, "the border holds"
        assert moved > 0
    page.keyboard.press("End")
    assert data(page, "map")["at"] == str(len(made["map"].data["chosen"]) - 1)
    assert the_map(page).evaluate("e => e === document.activeElement")
    assert the_map(page).evaluate("e => parseFloat(getComputedStyle(e).outlineWidth)") >= 2


def test_buttons_reach_every_digit_and_every_misread_one(page, made):
    shown = made["map"].data
    count = len(shown["chosen"])
    at = []
    for _ in range(count):
        press(page, "map", "next")
        at.append(int(data(page, "map")["at"]))
    assert sorted(at) == list(range(count))
    press(page, "map", "previous")
    assert int(data(page, "map")["at"]) == (at[-1] - 1) % count
    wrong = [k for k, i in enumerate(shown["chosen"]) if shown["labels"][i] != shown["answers"][i]]
    at = []
    for _ in wrong:
        press(page, "map", "next misread")
        at.append(int(data(page, "map")["at"]))
    assert sorted(at) == wrong


def test_the_figure_is_drawn_and_its_static_picture_hidden(page, made):
    figure = root(page, "map")
    assert figure.get_attribute("aria-label") == made["map"].title
    assert figure.locator("figure:visible").count() == 0
    before = figure.locator(".course-live-stage").evaluate_all(HTML)
    press(page, "map", "previous")
    assert figure.locator(".course-live-stage").evaluate_all(HTML) != before


def test_a_misread_digit_has_a_frame_and_not_only_a_colour(page, made):
    shown = made["map"].data
    wrong = sum(shown["labels"][i] != shown["answers"][i] for i in shown["chosen"])
    assert the_map(page).locator("svg rect").count() == 1 + wrong  # one is the map's own


@pytest.mark.parametrize("width", [400, 320])
def test_on_a_phone_nothing_is_cut_and_text_is_readable(page, width):
    assert_fits_a_phone(page, width)
    side = root(page, "map").locator(".course-live-stage")
    assert side.evaluate("node => node.scrollWidth <= node.clientWidth")
    size = "all => all.map(node => parseFloat(getComputedStyle(node).fontSize))"
    assert min(side.locator("text,div,p").evaluate_all(size)) >= 11


def test_no_text_leaves_its_drawing(page):
    for width in (900, 400):
        assert_no_text_leaves_its_drawing(page, width)


def test_probabilities_are_those_of_the_network():
    """The bars: what is written into the page comes from softmax."""
    net = nn.models.lenet5(rng=np.random.default_rng(0))
    x = np.random.default_rng(5).random((2, 1, 32, 32)).astype(np.float32)
    one = figures.digit_map(net, x, [1, 2], np.eye(2), chosen=[1])
    np.testing.assert_allclose(np.array(one.data["permille"][0]) / 1000, ops.softmax(net.forward(x))[1], atol=0.0006)
