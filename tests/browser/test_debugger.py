"""The step debugger, the strip and the tree in a page: moved by mouse and keys, they show what the trace has."""

import re

import numpy as np
import pytest

from course_lib import gpu
from course_lib.simt.trace.lane_states import MEANINGS
from course_lib.simt.trace.strip import rows_of
from tests.simt import traced


def numbers(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def zeros(*shape):
    return np.zeros(shape, np.float32)


MAKE = {
    "transpose": lambda: gpu.trace(
        traced.transposed[(2, 2), (32, 32)], numbers(64, 64), zeros(64, 64), block=(1, 0), warp=3
    ),
    "race": lambda: gpu.trace(traced.racy[1, 64], numbers(64), zeros(64)),
    "divergence": lambda: gpu.trace(traced.branches[1, 32], numbers(32), zeros(32)),
    "calls": lambda: gpu.trace(traced.calls[1, 32], numbers(32), zeros(32)),
    "reduction": lambda: gpu.trace(traced.block_sum[1, 256], numbers(256), zeros(1), warp=None),
}


@pytest.fixture(scope="module", params=["transpose", "race", "divergence", "calls"])
def trace(request):
    return MAKE[request.param]()


@pytest.fixture(scope="module")
def reduction():
    return MAKE["reduction"]()


@pytest.fixture
def page(browser):
    page = browser.new_page(viewport={"width": 900, "height": 900})
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    page.close()
    assert errors == []


def html_of(figure):
    return f"<body>{figure._repr_mimebundle_()['text/html']}</body>"


def button(page, name):
    return page.get_by_role("button", name=name, exact=True)


def caption(page):
    return page.locator(".course-live-caption").inner_text()


def step_of(page):
    return int(re.match(r"Step (\d+) of", caption(page))[1]) - 1


def assert_shows(page, trace, number):
    """Every lane, every number and the line are those of step `number` of the trace."""
    step = trace.steps[number]
    assert caption(page) == f"Step {number + 1} of {len(trace)}, {' '.join(step.words.split())}"
    assert page.locator(".cd-now").inner_text().split()[-1] in step.text
    heads = page.locator(".cd-lanes th[scope=col]")
    titles = heads.evaluate_all("nodes => nodes.map(n => n.title)")
    x, y, _ = trace.block
    first = 32 * trace.warps[0]
    threads = [(first + k) % x if y == 1 else ((first + k) % x, (first + k) // x) for k in range(32)]
    assert titles == [
        f"lane {k}, thread {threads[k]}: {MEANINGS[letter]}" for k, letter in enumerate(step.states[:32])
    ]
    kinds = heads.evaluate_all("nodes => nodes.map(n => n.className.split(' ')[0])")
    assert [kind in ("cd-on", "cd-bar") for kind in kinds] == step.active[:32].tolist()
    rows = page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll('.cd-lanes tr')].flatMap(row => {
            const name = row.cells[0].textContent;
            return name === 'lane' ? [] : [[name + '@' + row.closest('table').rows[0].cells[1].title.match(/\\d+/)[0],
                [...row.cells].slice(1).map(c => c.textContent)]];
        }))"""
    )
    tables = page.locator("table.cd-lanes").count()
    across = 32 // tables
    for name, value in step.variables.items():
        if np.ndim(value) == 1 and f"{name}@0" in rows:
            shown = [c for first in range(0, 32, across) for c in rows[f"{name}@{first}"]]
            for k, text in enumerate(shown):
                if np.ma.getmaskarray(value)[k]:
                    assert text == ""
                else:
                    np.testing.assert_allclose(float(text.replace("\N{MINUS SIGN}", "-")), value[k], rtol=1e-3)


# ------------------------------------------------------------------------------------------------ the debugger


def test_it_begins_at_the_telling_step_and_goes_everywhere_by_mouse(page, trace):
    page.set_content(html_of(trace))
    assert_shows(page, trace, trace.telling)
    button(page, "First").click()
    assert_shows(page, trace, 0)
    for number in range(1, len(trace)):
        button(page, "Next").click()
        assert_shows(page, trace, number)
    button(page, "Previous").click()
    assert_shows(page, trace, len(trace) - 2)
    button(page, "Last").click()
    assert_shows(page, trace, len(trace) - 1)
    assert button(page, "Next").get_attribute("aria-disabled") == "true"


def test_it_goes_everywhere_by_keys(page, trace):
    page.set_content(html_of(trace))
    stage = page.locator(".course-live-stage")
    for where in (stage, button(page, "Next"), page.get_by_role("slider")):
        where.focus()
        for key, number in (
            ("Home", 0), ("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", len(trace) - 1),
            ("ArrowRight", len(trace) - 1),
        ):  # fmt: skip
            page.keyboard.press(key)
            assert step_of(page) == number, f"{key} on {where}"
            assert where.evaluate("e => e === document.activeElement"), f"{key} takes the focus away"
    button(page, "First").focus()
    page.keyboard.press("Enter")
    assert_shows(page, trace, 0)
    button(page, "Next").press("Space")
    assert_shows(page, trace, 1)
    assert stage.evaluate("e => { e.focus({focusVisible: true}); return getComputedStyle(e).outlineStyle; }") == "solid"


def test_it_jumps_to_the_next_change_of_lanes_and_the_next_finding(page, trace):
    page.set_content(html_of(trace))
    page.locator(".course-live-stage").press("Home")
    changes = [k for k in range(1, len(trace)) if (trace.steps[k].active != trace.steps[k - 1].active).any()]
    for number in changes:
        button(page, "Next change of lanes").click()
        assert step_of(page) == number
    assert button(page, "Next change of lanes").get_attribute("aria-disabled") == "true"
    page.locator(".course-live-stage").press("Home")
    for number in [k for k, s in enumerate(trace.steps) if s.findings and k]:
        button(page, "Next finding").click()
        assert_shows(page, trace, number)
        assert trace.steps[number].findings[0].fix in page.locator(".cd-note").inner_text()
    assert button(page, "Next finding").get_attribute("aria-disabled") == "true"


def test_shared_memory_shows_the_lanes_that_touch_it_and_the_numbers(page):
    trace = MAKE["transpose"]()
    page.set_content(html_of(trace))
    told = page.locator(".course-live-stage svg title").all_text_contents()
    assert len(told) == 1024
    assert told[5 * 32 + 3] == "tile[5,3] = 355; read by lane 5"
    assert told[5 * 32 + 4] == "tile[5,4] = 356"
    assert page.locator("svg text").all_text_contents()[-32:] == [str(k) for k in range(32)]
    page.get_by_role("button", name="values", exact=True).click()
    assert "355" in page.locator("svg text").all_text_contents()
    button(page, "First").click()
    for _ in range(5):
        button(page, "Next").click()
    told = page.locator(".course-live-stage svg title").all_text_contents()
    assert told[3 * 32 + 7] == "tile[3,7] = 231; written by lane 7"
    assert told[9 * 32 + 7] == "tile[9,7] = 615; written by thread 295"


def test_lines_with_findings_and_their_lanes_are_marked_by_more_than_colour(page):
    page.set_content(html_of(MAKE["race"]()))
    assert page.locator(".cd-now").inner_text().startswith("\u26a0")
    marked = page.locator(".cd-lanes th.cd-bad")
    assert marked.all_text_contents() == ["0"]
    assert page.locator(".cd-lanes td.cd-bad").count() >= 1
    widths = marked.evaluate("e => getComputedStyle(e).boxShadow")
    assert "2px" in widths


def test_variables_are_chosen_by_buttons(page):
    trace = MAKE["divergence"]()
    page.set_content(html_of(trace))
    button(page, "Last").click()
    names = page.locator("tr th[scope=row]")
    assert "acc" in names.all_text_contents()
    button(page, "acc").press("Enter")
    assert "acc" not in names.all_text_contents()
    assert button(page, "acc").get_attribute("aria-pressed") == "false"
    button(page, "acc").click()
    assert "acc" in names.all_text_contents()
    page.set_content(html_of(trace.watch("n")))
    button(page, "Last").click()
    shown = [name for name in names.all_text_contents() if name in ("t", "acc", "k", "n")]
    assert set(shown) == {"n"}


def test_each_warp_of_a_block_can_be_looked_at(page, reduction):
    page.set_content(html_of(reduction))
    button(page, "First").click()
    for _ in range(7):
        button(page, "Next").click()
    active = page.locator(".cd-lanes th.cd-on")
    assert active.count() == 32
    button(page, "5").click()
    assert active.count() == 0
    assert page.locator(".cd-lanes th.cd-off").count() == 32


@pytest.mark.parametrize("width", [400, 700, 1200])
def test_it_fits_the_page_and_stays_legible(page, trace, width):
    page.set_viewport_size({"width": width, "height": 800})
    page.set_content(html_of(trace))
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    sizes = page.evaluate(
        """() => [...document.querySelectorAll('.course-live-stage *')].filter(e => e.textContent.trim()
            && ![...e.children].length && e.getClientRects().length && !['title', 'STYLE'].includes(e.tagName))
            .map(e => parseFloat(getComputedStyle(e).fontSize))"""
    )
    assert min(sizes) >= 11
    cut = page.evaluate(
        """() => [...document.querySelectorAll('.cd-lanes td, .cd-lanes th')]
            .filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.textContent)"""
    )
    assert cut == []
    across = page.locator("table.cd-lanes").first.bounding_box()
    assert across["x"] + across["width"] <= width + 1, "the lanes have to be scrolled"


def test_without_a_script_the_telling_step_is_a_picture(browser, trace):
    page = browser.new_page(java_script_enabled=False)
    page.set_content(html_of(trace))
    image = page.locator("figure img")
    assert image.get_attribute("alt").endswith(" ".join(trace.steps[trace.telling].words.split()))
    assert image.is_visible()
    page.close()


def test_a_page_saved_by_the_browser_is_alive_again(page, trace, tmp_path):
    page.set_content(html_of(trace))
    button(page, "First").click()
    saved = tmp_path / "saved.html"
    saved.write_text(page.content(), encoding="utf-8")
    page.goto(saved.as_uri())
    assert button(page, "Next").count() == 1
    page.locator(".course-live-stage").press("Home")
    button(page, "Next").click()
    assert_shows(page, trace, 1)


# ------------------------------------------------------------------------------------------------ the strip


def test_the_strip_reveals_line_by_line_and_counts(page):
    trace = MAKE["divergence"]()
    rows = rows_of(trace)
    page.set_content(html_of(trace.walk()))
    cells = page.locator(".course-live-stage svg title")
    for number in range(1, len(rows) + 1):
        assert cells.count() == 32 * number
        told = cells.all_text_contents()[-32:]
        assert told == [
            f"lane {k}, line {rows[number - 1]['line']}: {MEANINGS[c]}" for k, c in enumerate(rows[number - 1]["state"])
        ]
        idle = sum(32 - r["active"] for r in rows[:number])
        assert f"{idle} of {32 * number} lane slots idle" in caption(page)
        page.locator(".course-live-stage").press("ArrowRight")
    page.keyboard.press("Home")
    assert cells.count() == 32
    button(page, "Next").click()
    assert cells.count() == 64
    button(page, "Next line with idle lanes").click()
    assert cells.count() == 96
    button(page, "All").press("Enter")
    assert cells.count() == 32 * len(rows)


# ------------------------------------------------------------------------------------------------ the tree


def test_the_tree_goes_level_by_level_and_into_a_part(page, reduction):
    page.set_content(html_of(reduction.tree()))
    assert caption(page).startswith("Level 1, line")
    assert "128 lanes in 4 warps; lane 0 puts s[0] and s[128] into s[0]." in caption(page)
    nodes = page.locator(".course-live-stage svg rect title")
    assert nodes.count() == 128
    page.locator(".course-live-stage").press("ArrowRight")
    assert nodes.count() == 128 + 64
    assert "64 lanes in 2 warps" in caption(page)
    button(page, "All").click()
    assert nodes.count() == 255
    assert "12 times a warp issues the instruction" in caption(page)
    button(page, "32 elements").click()
    assert nodes.count() == 32 * 3 + 31
    assert nodes.all_text_contents()[-1] == "lane 0 (warp 0): s[0] + s[1] into s[0]"
    page.get_by_role("slider", name="from").press("End")
    page.set_viewport_size({"width": 400, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
