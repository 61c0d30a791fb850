"""The figures of lessons 14 and 15 in a page: moved by mouse and by keys, and counting as Python does."""

import itertools
import json

import pytest

from course_lib import figures
from course_lib.figures.halos import halo_tile
from course_lib.figures.product_tiles import ladder_tiles, product_tile

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

LADDER_POINTS = [
    ("v02", 0.25, 5.0e12, "neighbouring threads take neighbouring columns"),
    ("v03", 8.0, 7.5e12, "tiles in shared memory"),
    ("v04", 16.0, 16.0e12, "eight results a thread"),
    ("v05", 32.0, 45.0e12, "eight by eight results a thread"),
]


def every_figure():
    """Return {name: figure} of one of each kind."""
    return {
        "tiles": figures.tile_explorer(device="H200"),
        "ragged": figures.tile_explorer(1000, 70, 33, "T4", **ladder_tiles()["v04 column"]),
        "climb": figures.climb(LADDER_POINTS, "h200", rival=("cuBLAS", 52e12)),
        "halo": figures.halo_explorer(),
        "halo-ragged": figures.halo_explorer(9, 7, 5, 3, padding=False, at=(4, 2)),
    }


@pytest.fixture(scope="module")
def made():
    return every_figure()


@pytest.fixture(scope="module")
def built(made, tmp_path_factory):
    return page_with(tmp_path_factory.mktemp("site"), made)


# ------------------------------------------------------------------------------------------------ all of them


def test_every_figure_is_drawn_and_each_control_changes_what_is_shown(page, made):
    assert page.locator(".course-live").count() == len(made)
    assert page.locator(".course-live > figure:visible").count() == 0
    for name, one in made.items():
        figure = root(page, name)
        assert figure.get_attribute("aria-label") == one.title
        assert len(caption(page, name)) > 40
        shown = figure.locator(".course-live-stage,.course-live-caption")
        for node in figure.locator("input[type=range]").all():
            before = shown.evaluate_all(HTML)
            node.focus()
            node.press("ArrowRight" if int(node.input_value()) < int(node.get_attribute("max")) else "ArrowLeft")
            assert shown.evaluate_all(HTML) != before, f"{name}: a slider"
        for node in figure.locator("button").all():
            if node.get_attribute("aria-disabled") == "true":
                continue
            before = shown.evaluate_all(HTML)
            still = node.get_attribute("aria-pressed") == "true"
            node.click()
            assert still or shown.evaluate_all(HTML) != before, f"{name}: {node.inner_text()}"


def test_every_part_that_takes_the_focus_shows_it_has_a_name_and_follows_arrows(page, made):
    pads = page.locator(".course-live-stage [tabindex='0']")
    assert pads.count() >= len(made)
    for pad in pads.all():
        assert len(pad.get_attribute("aria-label")) > 10
        pad.focus()
        page.keyboard.press("Home")
        before = pad.inner_html()
        page.keyboard.press("ArrowRight")
        assert pad.inner_html() != before
        page.keyboard.press("ArrowLeft")
        assert pad.inner_html() == before
        assert pad.evaluate("e => e === document.activeElement"), "the focus is lost"
        assert pad.evaluate("e => parseFloat(getComputedStyle(e).outlineWidth)") >= 2


@pytest.mark.parametrize("width", [400, 320])
def test_nothing_is_wider_than_a_phone_and_its_text_is_readable(page, width):
    assert_fits_a_phone(page, width)


def test_no_text_leaves_its_drawing(page):
    for width in (900, 400):
        assert_no_text_leaves_its_drawing(page, width)


# ------------------------------------------------------------------------------------------------ tiles of a product


def numbers(t):
    """Return what the script writes down of a `ProductTile`, in its order."""
    blocks, waves = (0, 0) if t.refused else (t.held.blocks, t.waves)
    return [
        t.threads, t.blocks, t.global_loads, t.shared_bytes, t.registers, t.loads_per_product, t.intensity,
        t.load_ceiling, t.attainable, blocks, waves,
    ]  # fmt: skip


@pytest.mark.parametrize(("name", "device"), [("tiles", "H200"), ("ragged", "T4"), ("ragged", "RTX 4090")])
def test_the_explorer_counts_as_python_does_on_hundreds_of_choices(page, made, name, device):
    given = made[name].data
    press(page, name, device)
    size, every = [given[k] for k in "MNK"], given["every"]
    places = [range(len(every[k])) for k in ("BM", "BN", "BK", "TM", "TN")]
    settings = [place for k, place in enumerate(itertools.product(*places)) if k % 23 == 0]
    seen = set()
    for way, shared in (("straight from global", False), ("through shared memory", True)):
        press(page, name, way)
        for place, shown in zip(settings, page.evaluate(SWEEP, [name, settings]), strict=True):
            sizes = {k: every[k][at] for k, at in zip(("BM", "BN", "BK", "TM", "TN"), place, strict=True)}
            t = product_tile(*size, **sizes, shared=shared, device=device)
            assert shown["why"] == (t.refused[0] if t.refused else ""), sizes
            seen.add(shown["why"])
            if shown["why"] != "tile":  # a block without a whole thread has no numbers
                assert json.loads(shown["numbers"]) == pytest.approx(numbers(t), rel=1e-12), sizes
    assert seen >= {"", "tile", "threads", "registers", "launch"}


def test_a_rung_sets_its_tiles_and_the_caption_names_the_limit(page):
    assert "8 FLOP for each byte asked for; the ridge of the H200 is at 13.9" in caption(page, "tiles")
    assert "8.36 TFLOP/s: the limit is reading operands." in caption(page, "tiles")
    press(page, "tiles", "v05 square")
    assert "serves 128 multiply-adds, one of B 128: 32 FLOP" in caption(page, "tiles")
    assert "the limit is arithmetic" in caption(page, "tiles")
    press(page, "tiles", "v02 coalesced")
    assert "serves 1 multiply-add, one of B 1: 0.25 FLOP" in caption(page, "tiles")


def test_an_impossible_choice_says_why(page):
    sliders = root(page, "tiles").locator("input[type=range]")
    sliders.nth(0).focus()
    page.keyboard.press("End")
    assert "Not possible: 256 × 32 outputs at 1 × 1 a thread are 8,192 threads" in caption(page, "tiles")
    assert data(page, "tiles")["why"] == "threads"


def test_a_thread_of_the_block_is_chosen_by_keys_and_by_mouse(page):
    press(page, "tiles", "v05 square")
    pad = root(page, "tiles").locator("[tabindex='0']")
    pad.focus()
    page.keyboard.press("ArrowDown")
    assert data(page, "tiles")["thread"] == "16"
    page.keyboard.press("End")
    assert data(page, "tiles")["thread"] == "255"
    box = pad.locator("rect[style*=pointer]").bounding_box()
    page.mouse.click(box["x"] + box["width"] * 3.5 / 16, box["y"] + 5)
    assert data(page, "tiles")["thread"] == "3"


# ------------------------------------------------------------------------------------------------ the climb


def test_the_reader_climbs_rung_by_rung_by_keys_and_by_mouse(page, made):
    dots = made["climb"].data["dots"]
    assert caption(page, "climb") == dots[0]["says"]
    assert root(page, "climb").locator("svg path").count() == 0
    root(page, "climb").locator("[tabindex='0']").focus()
    for k in (1, 2, 3):
        page.keyboard.press("ArrowRight")
        assert caption(page, "climb") == dots[k]["says"]
        assert root(page, "climb").locator("svg path").count() == k, "an arrow for each step"
    page.keyboard.press("ArrowRight")
    assert data(page, "climb")["rung"] == "3", "there is nothing above the top"
    root(page, "climb").locator("circle").first.click()
    assert data(page, "climb")["rung"] == "0"
    press(page, "climb", "Top")
    assert data(page, "climb")["name"] == "v05"
    press(page, "climb", "Previous rung")
    assert data(page, "climb")["name"] == "v04"


# ------------------------------------------------------------------------------------------------ a tile with its halo


@pytest.mark.parametrize("name", ["halo", "halo-ragged"])
def test_every_output_loads_and_every_input_is_used_as_python_counts(page, made, name):
    """Walk over both maps by keys, in each setting on offer."""
    given = made[name].data
    left, right = (root(page, name).locator("[tabindex='0']").nth(k) for k in range(2))
    for K, T, padding in itertools.product(given["masks"], given["tiles"], (False, True)):
        for group, place in (("mask", given["masks"].index(K)), ("tile", given["tiles"].index(T))):
            page.locator(f"#{name} [aria-label={group}] button").nth(place).click()
        press(page, name, "zeros" if padding else "none")
        t = halo_tile(given["H"], given["W"], K, T, padding)
        right.focus()
        page.keyboard.press("End")
        last = tuple(n - 1 for n in t.out)
        for p, q in ((last[0], last[1]), (last[0], last[1] - 1)):
            shown = data(page, name)
            assert (shown["view"], shown["chosen"]) == ("output", f"{p} {q}")
            block = p // T, q // T
            assert int(shown["loaded"]) == t.loaded(*block)
            assert int(shown["zeros"]) == t.loads - t.loaded(*block)
            assert int(shown["accesses"]) == len(t.outputs(*block)) * K * K
            page.keyboard.press("ArrowLeft")
        left.focus()
        page.keyboard.press("Home")
        for h in range(t.H):
            shown = data(page, name)
            assert (shown["view"], shown["chosen"]) == ("input", f"{h} 0")
            assert sorted(map(tuple, json.loads(shown["used"]))) == t.consumers(h, 0)
            assert int(shown["blocks"]) == len(t.loading_blocks(h, 0))
            page.keyboard.press("ArrowDown")


def test_a_click_on_an_input_writes_its_gradient_term_by_term(page):
    left = root(page, "halo").locator("[tabindex='0']").nth(0)
    left.locator("rect[style*=pointer]").first.click()
    text = root(page, "halo").inner_text()
    assert "dx[0, 0] = dy[0, 0]·w[1, 1] + dy[0, 1]·w[1, 0] + dy[1, 0]·w[0, 1] + dy[1, 1]·w[0, 0]" in text
    assert "x[0, 0] is used by 4 outputs and loaded by 1 block." in caption(page, "halo")


def test_cells_show_the_loading_thread_or_how_often_they_are_used(page):
    left = root(page, "halo").locator("[tabindex='0']").nth(0)
    t = halo_tile()
    threads = sorted(str(t.thread(i, j)) for i in range(6) for j in range(6))
    uses = sorted(map(str, t.uses(1, 1).ravel()))
    frame = ["0"] * (100 - 64 - 11)  # zeros of the frame outside of the tile
    shown = lambda: sorted(left.locator("text").all_text_contents()[1:])  # noqa: E731
    assert shown() == sorted(threads + frame)
    press(page, "halo", "uses in the block")
    assert shown() == sorted(uses + frame)
