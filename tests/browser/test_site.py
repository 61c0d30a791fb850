"""In a browser a page folds and opens by keyboard, runs its scripts, and loses nothing on a small screen."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from nbformat.v4 import new_output

from course_lib import figures
from course_lib.figures.picture import LARGEST, PNG_SCALE
from course_lib.lesson import predict
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


ASKED = [
    text("# A prediction"),
    _cell("asked", predict("How many?", ["two", "three"], "three", reveals=2).html, "hide-input"),
    _cell("counted()", "<p>the counted three</p>", "hide-output"),
    text('<details class="reveal"><summary>Why</summary>\n\nbecause\n\n</details>'),
]
CONTRAST = """node => {
    const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
    const light = colour => numbers(colour).slice(0, 3).map(c => c / 255)
        .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    let ground = node;
    while (ground && numbers(getComputedStyle(ground).backgroundColor)[3] === 0) ground = ground.parentElement;
    const of = [getComputedStyle(node).color, getComputedStyle(ground || document.body).backgroundColor].map(light);
    return (Math.max(...of) + 0.05) / (Math.min(...of) + 0.05);
}"""


def _printed(words):
    cell = code("print()")
    cell.outputs = [new_output("stream", name="stdout", text=words)]
    return cell


SMALL = figures.Svg(900, 60)
SMALL.text(20, 30, "1")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A site of two lessons; its folder as an address."""
    table = "<table><tr>" + "".join(f"<th scope='col'>column {i}</th>" for i in range(20)) + "</tr></table>"
    cells = [
        text("# A lesson\n\nProse.\n\n$$a + b$$"),
        text(f"Within a line ${WIDE}$ and below\n\n$${WIDE}$$\n\n{table}"),
        text("| " + " | ".join(["a head"] * 15) + " |\n" + "|---" * 15 + "|\n" + "| 1 " * 15 + "|"),
        _cell("f(" + ", ".join(f"argument_{i}" for i in range(20)) + ")", table),
        _cell("ask()", ASK),
        _printed("line 4: thread 0 of block 0 reads what thread 63 of the same block has written, no barrier between"),
        _printed("  ".join(["a head"] * 15)),
        _printed(
            "first:  [1. 2.]  should be [3. 4.], and more\n"
            "second: x is (1, 3) and w is (2, 3); the first number of the one must equal the second number of the other"
        ),
        _cell("picture", figures.picture(SMALL, alt="A number at the left of an empty picture").html),
        _cell("late()", "<p>the hidden result</p>", "hide-output"),
    ]
    site = site_of(tmp_path_factory.mktemp("site"), l01_a=cells, l02_b=ASKED)
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


def test_a_formula_stands_in_the_middle_of_its_column(watched):
    column = watched.page.locator("div.math").first.bounding_box()
    first, last = (watched.page.locator("div.math mi").nth(i).bounding_box() for i in (0, 1))
    middle = (first["x"] + last["x"] + last["width"]) / 2
    assert middle == pytest.approx(column["x"] + column["width"] / 2, abs=4)


def test_a_script_in_an_output_works_by_mouse_and_by_keyboard(watched):
    for use in (lambda button: button.click(), lambda button: button.press("Enter")):
        watched.page.reload()
        ask = watched.page.locator(".ask")
        assert ask.get_by_role("status").inner_text() == "not yet"
        use(ask.get_by_role("button"))
        assert ask.get_by_role("status").inner_text() == "chosen"


def test_a_sentence_in_an_output_wraps_and_columns_scroll(watched):
    watched.page.set_viewport_size({"width": 400, "height": 800})
    said, columns = (watched.page.locator(".cell_output pre", has_text=words) for words in ("thread 0", "a head"))
    assert said.evaluate("e => e.scrollWidth <= e.clientWidth")
    assert columns.evaluate("e => e.scrollWidth > e.clientWidth")
    both = watched.page.locator(".cell_output pre", has_text="second: x is")
    for width in (400, 1200):
        watched.page.set_viewport_size({"width": width, "height": 800})
        assert both.evaluate("e => e.scrollWidth <= e.clientWidth")


def test_a_picture_with_small_letters_keeps_its_size_on_a_phone_and_scrolls(watched):
    picture = watched.page.locator("figure.course-figure img")
    for width, smallest in ((1200, 0), (400, 11)):
        watched.page.set_viewport_size({"width": width, "height": 800})
        watched.page.reload()
        shown = picture.evaluate("e => 12 * e.getBoundingClientRect().width / 900")
        assert shown >= smallest
        assert (shown < 11) == (width == 1200), "it is made larger where it need not be"
    figure = watched.page.locator("figure.course-figure")
    assert figure.evaluate("e => e.scrollWidth > e.clientWidth && e.tabIndex === 0")


def test_a_plot_that_is_larger_on_a_wide_page_fits_a_phone_with_letters_of_11_pixels(browser, tmp_path):
    script = (Path(figures.__file__).parents[1] / "book" / "static" / "course.js").read_text(encoding="utf-8")
    assert re.search(r"LETTERS = (\d+), DOTS = ([\d.]+)", script).groups() == ("12", str(PNG_SCALE))
    fig = Figure(figsize=(3.6, 1))
    made = figures.picture(fig, alt="An empty plot, to be measured on a phone")
    site = site_of(tmp_path, l01_a=[text("# A plot"), _cell("plot", made.html)])
    page = browser.new_page(viewport={"width": 1200, "height": 800})
    page.goto(site.page("notebooks/01_a").as_uri())
    shown = "e => e.getBoundingClientRect().width"
    wide = page.locator("figure img").evaluate(shown)
    page.set_viewport_size({"width": 400, "height": 800})
    page.reload()
    page.wait_for_timeout(200)
    phone = page.locator("figure img").evaluate(shown)
    assert page.locator("figure.course-figure").evaluate("e => e.scrollWidth <= e.clientWidth")
    assert wide == made.width
    assert 12 * LARGEST * phone / made.width >= 11
    page.close()


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


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("way", ["mouse", "keys"])
def test_a_choice_opens_the_output_and_the_reason_and_can_be_read(browser, pages, scheme, way):
    watched = Watched(browser, pages, color_scheme=scheme)
    page = watched.page
    page.goto(f"{pages}notebooks/02_b.html")
    choices, result, why = page.get_by_role("radio"), page.get_by_text("the counted three"), page.get_by_text("because")
    fold = page.locator("details.below-input > summary")
    assert choices.count() == 2
    assert not result.is_visible()
    assert not why.is_visible()
    assert fold.inner_text().strip() == "Show the output"
    assert fold.evaluate("e => e.scrollWidth <= e.clientWidth"), "the words of the fold are cut"
    for part in (*choices.all(), page.get_by_text("How many?"), fold):
        assert part.evaluate(CONTRAST) >= 4.5, part
    if way == "mouse":
        choices.nth(1).click()
    else:
        choices.first.focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Space")
    assert result.is_visible()
    assert why.is_visible()
    assert page.get_by_role("status").inner_text().startswith("You chose (b) three, and that is right.")
    watched.assert_quiet()
    page.close()


def test_search_finds_a_word_of_a_lesson_without_a_server(browser, pages):
    watched = Watched(browser, pages)
    watched.page.goto(f"{pages}search.html?q=prose")
    watched.page.locator("#search-results a", has_text="A lesson").wait_for()
    watched.assert_quiet()
    watched.page.close()
