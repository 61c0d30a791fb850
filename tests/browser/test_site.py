"""In a browser a page folds and opens by keyboard, runs its scripts, and loses nothing on a small screen."""

from __future__ import annotations

import pytest
from nbformat.v4 import new_output

from tests.book.site import site_of
from tests.cli.course import code, text

from .lab import Watched

ASK = (
    '<div class="ask"><button type="button">Yes</button> <span role="status">not yet</span><script>(() => {'
    "const root = document.currentScript.closest('.ask');"
    "root.querySelector('button').addEventListener('click', () => {"
    "root.querySelector('span').textContent = 'chosen'; });})();</script></div>"
)
WIDE = " + ".join(f"x_{{{i}}} y_{{{i}}}" for i in range(20))
CUT = """() => [...document.querySelectorAll('.bd-article *')].filter(part => {
    if (part.getBoundingClientRect().right <= innerWidth + 1 || !part.getBoundingClientRect().width) return false;
    for (let above = part.parentElement; above && !above.matches('.bd-article'); above = above.parentElement)
        if (['auto', 'scroll'].includes(getComputedStyle(above).overflowX)) return false;
    return true;
}).map(part => part.outerHTML.slice(0, 80))"""


def _cell(source, html, *tags):
    cell = code(source, *tags)
    cell.outputs = [new_output("display_data", {"text/html": html, "text/plain": "plain"})]
    return cell


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A site of one lesson; its folder as an address."""
    table = "<table><tr>" + "".join(f"<th scope='col'>column {i}</th>" for i in range(20)) + "</tr></table>"
    cells = [
        text("# A lesson\n\nProse."),
        text(f"Within a line ${WIDE}$ and below\n\n$${WIDE}$$\n\n{table}"),
        text("| " + " | ".join(["a head"] * 15) + " |\n" + "|---" * 15 + "|\n" + "| 1 " * 15 + "|"),
        _cell("f(" + ", ".join(f"argument_{i}" for i in range(20)) + ")", table),
        _cell("ask()", ASK),
        _cell("late()", "<p>the hidden result</p>", "hide-output"),
    ]
    site = site_of(tmp_path_factory.mktemp("site"), l01_a=cells)
    assert site.problems == []
    return f"{site.out.as_uri()}/"


@pytest.fixture
def watched(browser, pages):
    watched = Watched(browser, pages)
    watched.page.goto(f"{pages}notebooks/01_a.html")
    yield watched
    watched.assert_quiet()
    watched.page.close()


def test_a_folded_output_opens_and_closes_by_keyboard(watched):
    summary, result = watched.page.get_by_text("Show the output"), watched.page.get_by_text("the hidden result")
    assert not result.is_visible()
    summary.locator("xpath=ancestor-or-self::summary").focus()
    watched.page.keyboard.press("Enter")
    assert result.is_visible()
    watched.page.keyboard.press("Space")
    assert not result.is_visible()


def test_a_script_in_an_output_works_by_mouse_and_by_keyboard(watched):
    for use in (lambda button: button.click(), lambda button: button.press("Enter")):
        watched.page.reload()
        ask = watched.page.locator(".ask")
        assert ask.get_by_role("status").inner_text() == "not yet"
        use(ask.get_by_role("button"))
        assert ask.get_by_role("status").inner_text() == "chosen"


@pytest.mark.parametrize("width", [400, 1200])
def test_nothing_is_cut_and_what_scrolls_can_be_reached_by_keyboard(watched, width):
    watched.page.set_viewport_size({"width": width, "height": 800})
    watched.page.reload()
    assert watched.page.evaluate("document.documentElement.scrollWidth") <= width
    assert watched.page.evaluate(CUT) == []
    scrollers = watched.page.evaluate(
        "() => [...document.querySelectorAll('.bd-article *')].filter(e => e.scrollWidth > e.clientWidth + 1"
        " && ['auto', 'scroll'].includes(getComputedStyle(e).overflowX)).map(e => e.tabIndex)"
    )
    assert len(scrollers) >= 5
    assert set(scrollers) == {0}


def test_on_paper_everything_is_open_and_folded_again_afterwards(watched):
    result = watched.page.get_by_text("the hidden result")
    watched.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert result.is_visible()
    watched.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert not result.is_visible()


def test_search_finds_a_word_of_a_lesson_without_a_server(browser, pages):
    watched = Watched(browser, pages)
    watched.page.goto(f"{pages}search.html?q=prose")
    watched.page.locator("#search-results a", has_text="A lesson").wait_for()
    watched.assert_quiet()
    watched.page.close()
