"""A prediction hides its answer in JupyterLab and in pages, and opens it by mouse and by keyboard."""

import copy
from pathlib import Path

import nbformat
import pytest
from notebook_lib.clean import clean
from notebook_lib.fresh_kernel import run_in_fresh_kernel
from notebook_lib.scripts import read_script

from course_lib.lesson import predict
from tests.book.site import site_of

from .lab import Watched
from .test_stepper_script import DETACHED, LIKE_JUPYTERLAB

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "tests" / "notebooks" / "sample" / "11_two_rules.py"
BILLIONS = "3,906,250,000"
HTML = predict("How many?", ["two", "three"], "three", reveals=2).html
MYST = """<details class="admonition hide above-input"><summary>Show code cell source</summary>x</details>
<details class="admonition hide below-input"><summary>Show code cell output</summary><div class="cell_output">3</div>
</details><details><summary>Answer</summary>no</details>
<details class="reveal"><summary>Why</summary>because</details>
<details class="reveal"><summary>Later</summary>not yet</details>"""


@pytest.fixture(scope="module")
def sample():
    """The sample lesson as the build leaves it: folded by its metadata, outputs stored."""
    notebook = read_script(SAMPLE)
    run_in_fresh_kernel(notebook, ROOT, store_widget_state=False)
    return clean(notebook)


@pytest.fixture
def opened(lab, server):
    """Open a notebook in the one JupyterLab; it is closed after the test, and the browser has complained of nothing."""
    names = []

    def open_notebook(notebook, name):
        nbformat.write(notebook, server.root / name)
        names.append(name)
        return lab.open(name)

    yield open_notebook
    for name in names:
        lab.close()
        (server.root / name).unlink()
    lab.assert_quiet()


@pytest.fixture
def page(browser):
    page = browser.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    page.close()
    assert errors == []


def ready(scope, count=2):
    """The predictions in `scope`, with their buttons."""
    scope.locator(".course-predict-live").nth(count - 1).wait_for()
    return [scope.locator(".course-predict").nth(i) for i in range(count)]


def marks(prediction):
    """What stands beside the choices."""
    return [radio.locator("b").all_inner_texts() for radio in prediction.get_by_role("radio").all()]


def test_stored_outputs_are_folded_until_the_reader_chooses(opened, server, sample):
    server.trust(sample)
    panel = opened(sample, "stored.ipynb")
    first, second = ready(panel)
    table, why = panel.locator(".course-table"), panel.locator("details.reveal")
    assert table.count() == 0
    assert panel.locator(".jp-OutputPlaceholder").count() == 2
    assert not panel.locator(".jp-OutputPlaceholder .jp-PlaceholderText").first.is_visible(), "it tells the output"
    assert why.get_attribute("open") is None
    assert why.locator("summary").inner_text() == "Folded until you have chosen above"
    assert marks(first) == [[], [], []]

    first.get_by_role("radio", name="(a)").click()
    table.wait_for()
    assert BILLIONS in table.inner_text()
    assert why.get_attribute("open") is not None
    assert marks(first) == [["✗ not this one, your choice"], [], ["✓ right"]]
    status = first.get_by_role("status").inner_text()
    assert status == f"You chose (a) 62,500. Right is (c) {BILLIONS}. What was folded below is open."
    assert panel.locator(".jp-OutputPlaceholder").count() == 1, "the other prediction's output is open too"
    assert marks(second) == [[], []]

    first.get_by_role("radio", name="(b)").click(force=True)  # decided is decided
    assert marks(first) == [["✗ not this one, your choice"], [], ["✓ right"]]
    give = second.get_by_role("button", name="Show me")
    give.press("Enter")
    panel.locator(".jp-OutputPlaceholder").wait_for(state="detached")
    assert marks(second) == [[], ["✓ right"]]


def test_what_run_all_unfolds_is_covered_until_the_keys_choose(lab, opened, sample):
    fresh = copy.deepcopy(sample)
    for cell in fresh.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    panel = opened(fresh, "run.ipynb")
    lab.run_all()
    first, second = ready(panel)
    covers = panel.get_by_role("button", name="Folded until you have chosen")
    covers.nth(1).wait_for()
    table, cells = panel.locator(".course-table"), panel.locator(".jp-Cell").count()
    assert not table.is_visible()

    radios = first.get_by_role("radio")
    radios.nth(0).focus()
    for key, at in (("ArrowDown", 1), ("ArrowRight", 2), ("ArrowDown", 0), ("ArrowUp", 2)):
        lab.page.keyboard.press(key)
        assert radios.nth(at).evaluate("e => e === document.activeElement"), f"{key} does not go to choice {at}"
    assert not table.is_visible(), "to move is not yet to choose"
    assert [radio.get_attribute("tabindex") for radio in radios.all()] == ["-1", "-1", "0"]
    ring = radios.nth(2).evaluate("e => getComputedStyle(e).outlineWidth")
    assert ring == "3px"
    lab.page.keyboard.press("Space")
    table.wait_for()
    assert marks(first) == [[], [], ["✓ right, your choice"]]
    assert radios.nth(2).get_attribute("aria-checked") == "true"
    assert panel.locator(".jp-Cell").count() == cells, "a key was a command of JupyterLab"
    assert covers.count() == 1

    covers.click()  # by hand, undecided
    lab.page.wait_for_timeout(200)
    assert covers.count() == 0
    assert marks(second) == [[], []]


def test_a_failed_cell_is_not_covered(lab, opened, sample):
    broken = copy.deepcopy(sample)
    measured = next(cell for cell in broken.cells if "weights.confirm" in cell.source)
    measured.source, measured.metadata = "1 / 0", {"tags": ["raises-exception"]}
    panel = opened(broken, "fails.ipynb")
    lab.run_all()
    panel.get_by_text("ZeroDivisionError").first.wait_for()
    lab.page.wait_for_timeout(200)
    assert panel.get_by_text("ZeroDivisionError").first.is_visible()


def test_notes_lead_to_their_source_and_back(opened, server, sample):
    server.trust(sample)
    panel = opened(sample, "notes.ipynb")
    note = panel.get_by_role("link", name="3", exact=True)
    assert note.get_attribute("title") == "NVIDIA: CUDA C++ Programming Guide, Thread Hierarchy"
    seen = """e => { const {top, bottom} = e.getBoundingClientRect(); return bottom > 0 && top < innerHeight; }"""
    source = panel.get_by_role("listitem").filter(has_text="NVIDIA: CUDA C++ Programming Guide, Thread Hierarchy")
    note.click()
    panel.page.wait_for_function(seen, arg=source.element_handle())
    source.get_by_role("link").click()
    panel.page.wait_for_function(seen, arg=note.element_handle())


def test_an_untrusted_notebook_shows_question_and_choices_as_text(opened, sample):
    untrusted = copy.deepcopy(sample)
    untrusted.cells[0].source += " "  # another text than the one that was signed
    panel = opened(untrusted, "untrusted.ipynb")
    asked = panel.locator(".course-predict").first
    asked.wait_for()
    assert asked.get_by_role("button").count() == 0
    assert "(b) a hundred million" in asked.inner_text()
    assert "right" not in asked.inner_text().lower()


def test_a_page_of_the_site_folds_and_opens_the_same_by_mouse_and_by_keys(browser, sample, tmp_path):
    site = site_of(tmp_path, l11_two_rules=sample)
    watched = Watched(browser, f"{site.out.as_uri()}/")
    watched.page.set_viewport_size({"width": 400, "height": 800})
    watched.page.goto(site.page("notebooks/11_two_rules").as_uri())
    first, second = ready(watched.page)
    table, why = watched.page.locator(".course-table"), watched.page.locator("details.reveal")
    folded = watched.page.locator("details.below-input")
    shut = folded.evaluate_all("all => all.filter(e => !e.open).length")
    assert not table.is_visible()
    assert first.evaluate("e => e.scrollWidth <= e.clientWidth"), "the choices do not fit a phone"
    first.get_by_role("radio", name="(c)").click()
    assert table.is_visible()
    assert why.get_attribute("open") is not None
    assert folded.evaluate_all("all => all.filter(e => !e.open).length") == shut - 1, "the other prediction's output"
    second.get_by_role("radio").first.focus()
    watched.page.keyboard.press("ArrowDown")
    watched.page.keyboard.press("Enter")
    assert folded.evaluate_all("all => all.filter(e => !e.open).length") == shut - 2
    watched.assert_quiet()
    watched.page.close()


def test_paper_has_question_choices_and_answers(page):
    page.set_content(HTML + MYST)
    (asked,) = ready(page, 1)
    closed = page.locator("details:not([open])")
    before = closed.count()
    assert not asked.get_by_text("Answer: (b) three").is_visible()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert closed.count() == 0
    assert asked.get_by_text("Answer: (b) three").is_visible()
    assert asked.get_by_role("radio").count() == 2
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert closed.count() == before


@pytest.mark.parametrize("way", [LIKE_JUPYTERLAB, DETACHED], ids=["copied script", "detached"])
def test_in_a_page_the_next_folds_open_and_no_other(page, way):
    page.evaluate(way, HTML)
    (asked,) = ready(page, 1)
    page.evaluate("html => document.body.insertAdjacentHTML('beforeend', html)", MYST)
    asked.get_by_role("radio", name="(b)").click()
    opened = page.locator("details").evaluate_all("all => all.map(e => e.open)")
    assert opened == [False, True, False, True, False]


def test_the_title_of_a_fold_is_told_when_it_is_opened_and_not_before(page, tmp_path):
    page.set_content(HTML + MYST)
    ready(page, 1)
    why, answer = page.locator("details.reveal").first, page.get_by_text("Answer", exact=True)
    assert why.locator("summary").inner_text() == "Folded until you have chosen above"
    assert answer.is_visible(), "a fold that no prediction opens keeps its title"
    (tmp_path / "saved.html").write_text(page.content(), encoding="utf-8")
    for opens in (
        lambda: page.get_by_role("radio").first.click(),
        lambda: why.locator("summary").press("Enter"),  # by hand, undecided
    ):
        page.goto((tmp_path / "saved.html").as_uri())
        ready(page, 1)
        opens()
        page.wait_for_function("document.querySelector('details.reveal summary').textContent === 'Why'")
        assert why.get_attribute("open") is not None


def test_a_page_saved_by_the_browser_can_be_answered(page, tmp_path):
    page.set_content(HTML + MYST)
    ready(page, 1)
    (tmp_path / "saved.html").write_text(page.content(), encoding="utf-8")
    page.goto((tmp_path / "saved.html").as_uri())
    (asked,) = ready(page, 1)
    assert asked.get_by_role("radio").count() == 2
    asked.get_by_role("button", name="Show me").click()
    assert marks(asked) == [[], ["✓ right"]]
    assert asked.get_by_role("status").evaluate("e => e === document.activeElement")


def test_a_cell_that_jupyterlab_brings_to_the_page_later_is_opened_then(page):
    """With windowing "full", cells out of view are not on the page."""
    cell = '<div class="jp-Cell {}" data-windowed-list-index="{}"><div class="jp-MarkdownOutput">{}</div></div>'
    page.set_content(f'<div class="jp-NotebookPanel">{cell.format("jp-CodeCell", 0, HTML)}</div>')
    (asked,) = ready(page, 1)
    asked.get_by_role("radio", name="(b)").click()
    add = "html => document.querySelector('.jp-NotebookPanel').insertAdjacentHTML('beforeend', html)"
    for n in (2, 1):
        fold = '<details class="reveal"><summary>Why</summary>because</details>'
        page.evaluate(add, cell.format("jp-MarkdownCell", n, fold))
    page.wait_for_function("document.querySelectorAll('details[open]').length === 2")


def test_without_scripts_question_and_choices_are_text_and_folds_open_by_hand(browser):
    page = browser.new_page(java_script_enabled=False)
    page.set_content(HTML + MYST)
    assert page.get_by_text("(a) two").is_visible()
    assert page.get_by_role("button").count() == 0
    assert not page.get_by_text("Answer: (b)").is_visible()
    page.get_by_text("Why").click()
    assert page.get_by_text("because").is_visible()
    page.close()
