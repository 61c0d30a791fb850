"""One page with every picture of a launch: moved by mouse and by keys, and counting as Python does."""

import json

import numpy as np
import pytest
from numba import cuda, float32

from course_lib import simt
from course_lib.simt.show.address_ruler import access_map, both_counts, linear
from tests.simt import kernels, reports
from tests.simt.test_memory_map import EVERY_GLOBAL, EVERY_SHARED

from .pages import HTML, SWEEP, assert_fits_a_phone, caption, data, page_with, root


def doubled(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = 2 * a[i]


def filled_3d(out):
    x, y, z = cuda.grid(3)
    if z < out.shape[0] and y < out.shape[1] and x < out.shape[2]:
        out[z, y, x] = 1


def stencil(a, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    out[t] = s[63 - t]


def in_a_branch(a, out):
    t = cuda.threadIdx.x
    if t < 20:
        cuda.syncthreads()
    out[t] = a[t]


def matrices(rows, columns):
    return np.zeros((rows, 8), np.float32), np.zeros((8, columns), np.float32), np.zeros((rows, columns), np.float32)


def every_picture():
    """Return {name: figure} of one of each kind."""
    guarded = reports.run(doubled, 10, 64, reports.vectors(600))
    flat = reports.run(kernels.product_naive, (3, 2), (16, 16), matrices(20, 40))
    deep = reports.run(filled_3d, (2, 2, 3), (8, 4, 2), (np.zeros((5, 7, 13), np.float32),))
    tile = reports.transpose()
    raced, missed = (reports.run(k, 1, 64, reports.vectors(64)) for k in (stencil, in_a_branch))
    rungs = [reports.product(k, n) for k, n in ((kernels.product_naive, 64), (kernels.product_tiled, 128))]
    return {
        "roofline": simt.roofline_picture(rungs, "H100", ["naive", "tiled"]),
        "race": raced.race_picture(), "barrier": missed.race_picture(),
        "launch": guarded.launch_map(), "launch 2-D": flat.launch_map(), "launch 3-D": deep.launch_map(),
        "ruler": simt.address_ruler(),
        "tile": tile.access_map(array="tile", way="load"), "walks": simt.walks(),
        "occupancy": simt.occupancy_calculator(), "schedule": simt.schedule(),
    }  # fmt: skip


@pytest.fixture(scope="module")
def made():
    return every_picture()


@pytest.fixture(scope="module")
def built(made, tmp_path_factory):
    return page_with(tmp_path_factory.mktemp("site"), made)


# ------------------------------------------------------------------------------------------------ all of them


def test_every_figure_is_drawn_has_a_name_and_hides_its_static_picture(page, made):
    assert page.locator(".course-live").count() == len(made)
    assert page.locator(".course-live > figure:visible").count() == 0
    for name, one in made.items():
        assert root(page, name.replace(" ", "-")).get_attribute("aria-label") == one.title
        assert len(caption(page, name.replace(" ", "-"))) > 40


def test_every_slider_and_button_changes_what_is_drawn(page, made):
    for name in made:
        figure = root(page, name.replace(" ", "-"))
        shown = figure.locator(".course-live-stage,.course-live-caption")
        for node in figure.locator("input[type=range]").all():
            before = shown.evaluate_all(HTML)
            node.focus()
            node.press("ArrowRight" if int(node.input_value()) < int(node.get_attribute("max")) else "ArrowLeft")
            assert shown.evaluate_all(HTML) != before, f"{name}: a slider"
        for node in figure.locator("button").all():
            before = shown.evaluate_all(HTML)
            pressed = node.get_attribute("aria-pressed") == "true"
            node.click()
            assert pressed or shown.evaluate_all(HTML) != before, f"{name}: {node.inner_text()}"


def test_every_part_that_takes_the_focus_shows_it_has_a_name_and_follows_arrows(page):
    pads = page.locator(".course-live-stage [tabindex='0']")
    assert pads.count() >= 6
    for pad in pads.all():
        assert len(pad.get_attribute("aria-label")) > 10
        pad.focus()
        page.keyboard.press("ArrowLeft")
        before = pad.inner_html()
        page.keyboard.press("Home")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        assert pad.inner_html() != before or pad.locator("rect").count() < 3
        assert pad.evaluate("e => e === document.activeElement"), "the focus is lost"
        assert pad.evaluate("e => parseFloat(getComputedStyle(e).outlineWidth)") >= 2


@pytest.mark.parametrize("width", [400, 320])
def test_nothing_is_wider_than_a_phone_and_its_text_is_readable(page, width):
    assert_fits_a_phone(page, width)


# ------------------------------------------------------------------------------------------------ launch map


def test_a_block_is_chosen_by_mouse_and_by_keys(page):
    assert data(page, "launch")["block"] == "9"
    grid, lanes = (root(page, "launch").locator("[tabindex='0']").nth(k) for k in range(2))
    grid.focus()
    page.keyboard.press("ArrowLeft")
    assert data(page, "launch")["block"] == "8"
    assert "at work" in caption(page, "launch")
    page.keyboard.press("End")
    assert "blockIdx 9, threadIdx 24: warp 0, lane 24." in root(page, "launch").inner_text()
    assert data(page, "launch")["idle"] == "true"
    lanes.focus()
    page.keyboard.press("ArrowDown")
    assert data(page, "launch")["lane"] == "56"
    assert "9 × 64 + 56 = 632" in root(page, "launch").inner_text()
    grid.locator("rect").first.click()
    assert data(page, "launch")["block"] == "0"
    assert "touched memory" in root(page, "launch").inner_text()


def test_the_axis_order_is_said_and_threads_can_lie_as_their_axes_do(page):
    figure = root(page, "launch-2-D")
    assert "x is the last axis of an array: this thread's element is a[16, 40]." in figure.inner_text()
    figure.get_by_role("button", name="by x and y").click()
    lanes = figure.locator("[tabindex='0']").nth(1)
    lanes.focus()
    before = int(data(page, "launch-2-D")["lane"])
    page.keyboard.press("ArrowDown")
    assert int(data(page, "launch-2-D")["lane"]) == before + 16


def test_in_three_axes_a_slider_chooses_the_layer_and_the_index_is_in_the_arrays_order(page):
    figure = root(page, "launch-3-D")
    assert data(page, "launch-3-D")["block"] == "11"
    assert "this thread's element is a[4, 4, 13]." in figure.inner_text()
    figure.locator("input[type=range]").fill("0")
    assert data(page, "launch-3-D")["block"] == "3"
    assert "z = blockIdx.z × blockDim.z + threadIdx.z = 0 × 2 + 0 = 0" in figure.inner_text()


# ------------------------------------------------------------------------------------------------ address ruler


def test_the_ruler_counts_as_the_executor_for_every_stride_offset_and_size(page):
    for size in (1, 2, 4, 8):
        root(page, "ruler").get_by_role("button", name=str(size), exact=True).click()
        offsets = 0, 1, 5, 31
        settings = [(stride, offsets[(stride + size) % 4]) for stride in range(34)] + [(1, o) for o in offsets]
        for (stride, offset), shown in zip(settings, page.evaluate(SWEEP, ["ruler", settings]), strict=True):
            moved, turns = both_counts(linear(stride, offset, size))
            found = {k: int(shown[k]) for k in ("sectors", "wavefronts", "moved", "used")}
            true = {"sectors": moved.sectors, "wavefronts": turns.wavefronts, "moved": moved.moved, "used": moved.used}
            assert found == true, (size, stride, offset)


def test_recorded_accesses_of_every_kind_are_counted_as_the_executor_counts_them(page):
    for name, (access, *_) in {**EVERY_GLOBAL, **EVERY_SHARED}.items():
        page.set_content(f"<div id='one'>{access_map(reports.report_with(access)).html}</div>")
        moved, turns = both_counts(access)
        shown = data(page, "one")
        assert (int(shown["sectors"]), int(shown["used"])) == (moved.sectors, moved.used), name
        assert int(shown["wavefronts"]) == turns.wavefronts, name


def test_one_column_of_padding_takes_the_conflicts_away(page):
    assert data(page, "tile")["wavefronts"] == "32"
    slider = root(page, "tile").locator("input[type=range]").first
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert data(page, "tile")["wavefronts"] == "1"
    assert data(page, "tile")["sectors"] == "32"
    assert "rows of 32 + 1" in caption(page, "tile")


def test_the_column_walk_fetches_eight_times_the_sectors(page):
    root(page, "walks").locator("input[type=range]").fill("32")
    assert data(page, "walks")["row"] == "128 4096"
    assert data(page, "walks")["column"] == "1024 4096"


# ------------------------------------------------------------------------------------------------ races and barriers


def test_a_race_is_tried_in_both_orders_and_with_a_barrier(page):
    figure = root(page, "race")
    assert "reads what it wrote" in caption(page, "race")
    figure.get_by_role("button", name="the other order").click()
    assert "reads the old s[63]" in caption(page, "race")
    assert figure.locator("[data-barrier]").count() == 0
    figure.locator("[tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    assert figure.locator("[data-barrier]").text_content() == "cuda.syncthreads(): all wait here"
    assert "reads the new number" in caption(page, "race")
    assert "next phase: 1 barrier passed" in figure.locator("svg").text_content()


def test_a_barrier_shows_who_comes_and_all_do_outside_of_the_branch(page):
    assert (data(page, "barrier")["lane"], data(page, "barrier")["state"]) == ("20", "1")
    root(page, "barrier").locator("[tabindex='0']").focus()
    page.keyboard.press("ArrowLeft")
    assert "Thread 19 comes to the barrier." in caption(page, "barrier")
    root(page, "barrier").get_by_role("button", name="outside of the branch").click()
    page.keyboard.press("End")
    assert "all 64 threads" in caption(page, "barrier")


# ------------------------------------------------------------------------------------------------ occupancy


def test_the_calculator_agrees_with_occupancy_on_hundreds_of_settings(page, made):
    every = made["occupancy"].data["every"]
    places = {name: range(0, len(values), step) for (name, values), step in zip(every.items(), (4, 9, 60), strict=True)}
    settings = [(t, r, s) for t in places["threads"] for r in places["registers"] for s in places["shared"]]
    refused = 0
    for device in ("H100", "T4", "RTX 4090"):
        root(page, "occupancy").get_by_role("button", name=device, exact=True).click()
        for place, shown in zip(settings, page.evaluate(SWEEP, ["occupancy", settings]), strict=True):
            threads, registers, shared = (every[name][k] for name, k in zip(every, place, strict=True))
            try:
                held = simt.occupancy(device, threads, shared, registers)
            except ValueError:
                refused += 1
                assert shown["refused"] == "true", (device, threads, registers, shared)
                continue
            assert json.loads(shown["limits"]) == held.limits, (device, threads, registers, shared)
            assert (int(shown["blocks"]), int(shown["warps"])) == (held.blocks, held.warps)
            assert shown["by"] == ",".join(held.limited_by)
    assert 100 < refused < 2 * len(settings)


def test_the_calculators_caption_gives_the_reason(page):
    assert caption(page, "occupancy").startswith("Occupancy 100 %: 8 blocks of 8 warps on an SM. The limit is threads")
    slider = root(page, "occupancy").locator("input[type=range]").nth(1)
    slider.focus()
    page.keyboard.press("End")
    assert "The limit is registers" in caption(page, "occupancy")


# ------------------------------------------------------------------------------------------------ scheduling


def test_more_warps_fill_the_slots_and_the_clock_says_what_happens(page, made):
    shares = made["schedule"].data["shares"]
    figure = root(page, "schedule")
    for warps in (1, 2, 8, 32):
        figure.get_by_role("button", name=f"{warps} warp{'s' * (warps > 1)}", exact=True).click()
        assert data(page, "schedule")["share"] == str(shares[warps - 1])
        assert caption(page, "schedule").startswith(f"{warps} warp")
    assert figure.locator("input[type=range]").input_value() == "32"
    figure.locator("[tabindex='0']").focus()
    page.keyboard.press("End")
    assert "no warp issues: all wait" in caption(page, "schedule")
    page.keyboard.press("Home")
    assert "At clock 0 warp 0 issues, 31 more could, 0 wait." in caption(page, "schedule")
    assert "A model: one scheduler" in caption(page, "schedule")


# ------------------------------------------------------------------------------------------------ roofline


def test_a_dot_says_its_intensity_its_roof_and_what_moves_it(page, made):
    figure, cards = root(page, "roofline"), {c["name"]: c for c in made["roofline"].data["cards"]}
    assert caption(page, "roofline") == cards["H100"]["dots"][0]["says"]
    figure.locator("[tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    assert caption(page, "roofline") == cards["H100"]["dots"][1]["says"]
    figure.get_by_role("button", name="T4").click()
    assert caption(page, "roofline") == cards["T4"]["dots"][1]["says"]
    large = figure.locator("circle[r='9']")
    large.hover()
    assert caption(page, "roofline") == cards["T4"]["dots"][0]["says"]
