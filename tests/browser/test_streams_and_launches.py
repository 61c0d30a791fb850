"""The figures of lesson 16 in a page: moved by mouse and by keys, and counting as Python does."""

import itertools
import json

import pytest

from course_lib import figures
from course_lib.figures.pipelines import PIECES, pipeline_requests
from course_lib.figures.step_rows import breakpoint_of
from course_lib.streams import read_compute_write, simulate, two_rows

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

KERNELS = {B: [(1.5 + (k % 5) * B / 60) * 1e-6 for k in range(23)] for B in (1, 16, 64, 1024)}
NAMES = [f"kernel {k}, of layer {k // 4}, forward" for k in range(23)]


@pytest.fixture(scope="module")
def made():
    return {
        "launches": figures.launch_rows(KERNELS, NAMES, costs={"measured": 17e-6, "in a graph": 1.3e-6}),
        "pipeline": figures.pipeline(),
    }


@pytest.fixture(scope="module")
def built(made, tmp_path_factory):
    return page_with(tmp_path_factory.mktemp("site"), made)


def test_each_control_changes_what_is_shown(page, made):
    assert page.locator(".course-live > figure:visible").count() == 0
    for name, one in made.items():
        figure = root(page, name)
        assert figure.get_attribute("aria-label") == one.title
        shown = figure.locator(".course-live-stage,.course-live-caption")
        for node in figure.locator("input[type=range]").all():
            before = shown.evaluate_all(HTML)
            node.focus()
            node.press("ArrowRight" if int(node.input_value()) < int(node.get_attribute("max")) else "ArrowLeft")
            assert shown.evaluate_all(HTML) != before, f"{name}: a slider"
    for name, buttons in (("launches", ["measured", "in a graph"]),
                          ("pipeline", ["one", "three", "pageable", "pinned", "do not wait", "wait"])):  # fmt: skip
        shown = root(page, name).locator(".course-live-stage,.course-live-caption")
        for button in buttons:
            before = shown.evaluate_all(HTML)
            press(page, name, button)
            assert shown.evaluate_all(HTML) != before, f"{name}: {button}"


def test_launches_and_pieces_are_chosen_by_keys(page, made):
    for name in made:
        pad = root(page, name).locator(".course-live-stage [tabindex='0']")
        assert pad.count() == 1
        assert len(pad.get_attribute("aria-label")) > 10
        pad.focus()
        page.keyboard.press("Home")
        assert data(page, name)["chosen"] == "0"
        before = pad.inner_html()
        page.keyboard.press("ArrowRight")
        assert data(page, name)["chosen"] == "1"
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


def test_the_step_counts_as_python_does_at_every_setting(page, made):
    given = made["launches"].data
    settings = list(itertools.product(range(len(given["sizes"])), range(len(given["costs"]))))
    for (b, c), shown in zip(settings, page.evaluate(SWEEP, ["launches", settings]), strict=True):
        size, cost = given["sizes"][b], given["costs"][c]
        rows = two_rows(given["kernels"][b], cost)
        end, busy, late, turn, *span = json.loads(shown["numbers"])
        assert (end, busy, late) == pytest.approx((rows.end, rows.busy, rows.waits)), (size, cost)
        kernels = dict(zip(given["sizes"], given["kernels"], strict=True))
        assert turn == (breakpoint_of(kernels, cost) or 0)
        assert span == pytest.approx(rows.spans[int(shown["chosen"])])


def test_the_step_says_which_of_the_two_bounds_it(page):
    press(page, "launches", "measured")
    assert "bound by its launches. From B = 1,024 on the kernels take longer." in caption(page, "launches")
    press(page, "launches", "in a graph")
    assert "bound by its kernels. At every batch size shown the kernels take longer." in caption(page, "launches")


def test_the_button_of_what_a_launch_costs_is_marked_until_the_slider_moves(page):
    pressed = root(page, "launches").locator("button[aria-pressed=true]")
    press(page, "launches", "measured")
    assert pressed.all_inner_texts() == ["measured"]
    root(page, "launches").locator("input[type=range]").nth(1).press("ArrowRight")
    assert pressed.all_inner_texts() == []


@pytest.mark.parametrize("streams", ["one", "three"])
@pytest.mark.parametrize("memory", ["pinned", "pageable"])
@pytest.mark.parametrize("waiting", ["wait", "do not wait"])
def test_the_pipeline_counts_as_python_does(page, streams, memory, waiting):
    for button in (streams, memory, waiting):
        root(page, "pipeline").get_by_role("button", name=button, exact=True).click()
    times = (1, 4, 9, 20)
    settings = [(*t, slots) for t in itertools.product(times, times, times) for slots in (1, 2, 3)]
    wrong_somewhere = False
    for setting, shown in zip(settings, page.evaluate(SWEEP, ["pipeline", settings]), strict=True):
        *stages, slots = setting
        many, waits = {"one": 1, "three": 3}[streams], waiting == "wait"
        run = simulate(read_compute_write(*stages, slots=slots, pinned=memory == "pinned"),
                       pipeline_requests(PIECES, slots, streams=many, waits=waits))  # fmt: skip
        written = [span.end for span in run.spans if span.stage == "write"]
        assert json.loads(shown["numbers"]) == [run.end, *written], setting
        read = [sorted(run.read["compute", k]) for k in range(PIECES)]
        assert json.loads(shown["wrong"]) == read, setting
        wrong_somewhere = wrong_somewhere or any(r != [k] for k, r in enumerate(read))
    assert wrong_somewhere == (streams == "three" and memory == "pinned" and waiting == "do not wait")
