"""The mask that a reader types, in a page: every sum is the library's, by mouse, by keys and by typing."""

import itertools

import numpy as np
import pytest

from course_lib import figures
from course_lib.figures.masks import apply_mask, gallery_images, preset_masks

from .pages import HTML, caption, data, opened, page_with, root

MASKS = [*preset_masks(3), "your own"]


@pytest.fixture(scope="module")
def made():
    return {"masks": figures.mask_explorer()}


@pytest.fixture(scope="module")
def built(made, tmp_path_factory):
    return page_with(tmp_path_factory.mktemp("site"), made)


def press(page, name):
    root(page, "masks").get_by_role("button", name=name, exact=True).click()


def press_in(page, group, name):
    chosen = root(page, "masks").get_by_role("group", name=group, exact=True)
    chosen.get_by_role("button", name=name, exact=True).click()


def sums(page):
    return np.array(page.locator("#masks [data-live]").evaluate("node => node.sums"))


def cell(page, row, column):
    return root(page, "masks").get_by_role("textbox", name=f"weight, row {row}, column {column}", exact=True)


def outputs(page):
    return root(page, "masks").get_by_role("group", name="Output: arrow keys choose a number")


def test_the_figure_is_drawn_and_every_button_changes_it(page, made):
    figure = root(page, "masks")
    assert figure.get_attribute("aria-label") == made["masks"].title
    assert figure.locator("figure:visible").count() == 0
    shown = figure.locator(".course-live-stage,.course-live-caption")
    for node in figure.locator("button").all():
        before, pressed = shown.evaluate_all(HTML), node.get_attribute("aria-pressed") == "true"
        node.click()
        assert pressed or shown.evaluate_all(HTML) != before, node.inner_text()


def test_every_preset_at_every_stride_and_padding_gives_the_librarys_numbers(page):
    for name, image in gallery_images().items():
        press(page, name)
        for size, mask in itertools.product((3, 5), MASKS[:-1]):
            press(page, f"{size} × {size}")
            press(page, mask)
            for stride, padding in ((1, "zeros"), (2, "none"), (3, "zeros")):
                press_in(page, "stride", str(stride))
                press_in(page, "padding", padding)
                pad = (size - 1) // 2 if padding == "zeros" else 0
                wanted = apply_mask(image, preset_masks(size)[mask], stride, pad)
                np.testing.assert_allclose(sums(page), wanted, rtol=1e-12, atol=1e-12)
                assert data(page, "masks")["shape"] == f"{wanted.shape[0]} {wanted.shape[1]}"


@pytest.mark.parametrize("size", [3, 5])
def test_a_typed_mask_is_applied_at_once(page, size):
    rng = np.random.default_rng(size)
    mask = rng.integers(-9, 10, (size, size)) / 4
    press(page, f"{size} × {size}")
    for p, q in np.ndindex(mask.shape):
        cell(page, p, q).fill(f"{mask[p, q]:g}")
    assert data(page, "masks")["mask"] == "your own"
    wanted = apply_mask(gallery_images()["a digit"], mask, 1, (size - 1) // 2)
    np.testing.assert_allclose(sums(page), wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("text", "value"),
    [("1/9", 1 / 9), ("−0.5", -0.5), ("0,25", 0.25), ("+2", 2), (" 3. ", 3), (".5", 0.5), ("-1/4", -0.25)],
)
def test_numbers_are_read_as_people_write_them(page, text, value):
    press(page, "your own")
    cell(page, 1, 1).fill(text)
    np.testing.assert_allclose(sums(page), value * gallery_images()["a digit"], rtol=1e-12, atol=1e-12)
    assert data(page, "masks")["wrong"] == "0"


@pytest.mark.parametrize("text", ["", "x", "1e9", "1/0", "1/2/3", "--1", "Infinity", "12345", "1 2", "/", "-"])
def test_what_is_no_number_counts_as_0_and_is_told(page, text):
    press(page, "your own")
    cell(page, 1, 1).fill(text)
    assert cell(page, 1, 1).get_attribute("aria-invalid") == "true"
    assert caption(page, "masks").startswith("No number in row 1, column 1: counted as 0.")
    assert not sums(page).any()
    cell(page, 1, 1).fill("1")
    assert cell(page, 1, 1).get_attribute("aria-invalid") == "false"
    assert "No number" not in caption(page, "masks")


def test_arrow_keys_walk_over_the_outputs_and_show_the_sum_of_the_products(page):
    image, mask = gallery_images()["a digit"], preset_masks(3)["vertical edges"]
    wanted = apply_mask(image, mask, 1, 1)
    outputs(page).focus()
    page.keyboard.press("Home")
    for key, (h, v) in (("ArrowRight", (0, 1)), ("ArrowDown", (1, 1)), ("ArrowLeft", (1, 0)), ("ArrowUp", (0, 0)),
                        ("ArrowUp", (0, 0)), ("End", (27, 27)), ("ArrowRight", (27, 27))):  # fmt: skip
        page.keyboard.press(key)
        assert data(page, "masks")["chosen"] == f"{h} {v}"
        np.testing.assert_allclose(float(data(page, "masks")["sum"]), wanted[h, v], rtol=1e-12, atol=1e-12)
    assert "Hatched: 5 of the 9 are zeros of the padding." in root(page, "masks").inner_text()


def test_the_mouse_chooses_the_output_that_it_points_at_and_the_window_on_the_image(page):
    press(page, "a lighthouse")
    canvases = root(page, "masks").locator("canvas")
    image, mask = gallery_images()["a lighthouse"], preset_masks(3)["vertical edges"]
    box = canvases.nth(1).bounding_box()
    page.mouse.move(box["x"] + box["width"] * 20.5 / 48, box["y"] + box["height"] * 30.5 / 48)
    assert data(page, "masks")["chosen"] == "30 20"
    window = image[29:32, 19:22]
    np.testing.assert_allclose(float(data(page, "masks")["sum"]), (window * mask).sum(), atol=1e-12)
    texts = root(page, "masks").locator(".course-live-stage svg text").all_text_contents()
    told = [f"{round(float(v), 2):g}".replace("-", "−") for v in window.ravel()]
    assert texts[:9] == told
    box = canvases.nth(0).bounding_box()  # with its frame of zeros: 50 pixels
    page.mouse.click(box["x"] + box["width"] * 11.5 / 50, box["y"] + box["height"] * 41.5 / 50)
    assert data(page, "masks")["chosen"] == "40 10"


def test_a_typed_mask_survives_a_look_at_the_presets_and_grows_with_zeros(page):
    cell(page, 0, 0).fill("7")
    press(page, "blur")
    press(page, "your own")
    assert cell(page, 0, 0).input_value() == "7"
    press(page, "5 × 5")
    assert (cell(page, 0, 0).input_value(), cell(page, 1, 1).input_value()) == ("0", "7")


def test_typing_keeps_the_place_in_the_field(page):
    field = cell(page, 1, 2)
    field.click()
    page.keyboard.press("Control+A")
    page.keyboard.type("-12")
    assert field.input_value() == "-12"
    page.keyboard.press("Tab")
    assert cell(page, 2, 0).evaluate("node => node === document.activeElement")


def test_on_a_phone_nothing_is_wider_than_the_page_and_text_is_readable(browser, built):
    with opened(browser, built) as page:
        page.set_viewport_size({"width": 400, "height": 800})
        press(page, "5 × 5")
        stage = root(page, "masks").locator(".course-live-stage")
        assert stage.evaluate("node => node.scrollWidth <= node.clientWidth")
        size = "all => all.map(node => parseFloat(getComputedStyle(node).fontSize))"
        assert min(stage.locator("text,input,p,div").evaluate_all(size)) >= 11
