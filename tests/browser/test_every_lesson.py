"""Each lesson as its reader meets it, as a page and in JupyterLab: every prediction opens, axe-core finds nothing bad.

Nothing is run: what the notebooks store is what is looked at. Explorers, which ask Python, no lesson has now; that they
work, test_widgets shows.
"""

import re
from pathlib import Path

import nbformat
import pytest

from tests.book.site import site_of

from .drive import drive_live, drive_stepper
from .lab import Watched
from .test_site import CUT

LESSONS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("[0-9]*.ipynb"))
BAD = {"serious", "critical"}
LOOKS = ("light", 1200), ("dark", 400)
"""What lessons are looked at in turn: all have one style sheet, and what narrows them is tested on each."""

ONE_OF_EACH = """() => {
    const seen = new Set();
    for (const word of document.querySelectorAll('.highlight span:not(:has(span))')) {
        if (seen.has(word.className)) word.replaceWith(...word.childNodes);
        else seen.add(word.className);
    }
}"""
"""Leaves one word of each kind in all code, which has two thirds of a page's elements: axe looks at each of them."""

each = pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """All lessons with the outputs that they store, as one site."""
    notebooks = {f"l{path.stem}": nbformat.read(path, as_version=4) for path in LESSONS}
    site = site_of(tmp_path_factory.mktemp("site"), **notebooks)
    missing = [problem for problem in site.problems if "target not found: '../" not in problem.text]
    assert missing == []  # of what the lessons lead to, only the pages are there
    return site


@pytest.fixture
def lesson(browser, site, path):
    """A lesson's page in the browser, wide; it complains of nothing and asks no other host for anything."""
    watched = Watched(browser, f"{site.out.as_uri()}/")
    watched.page.goto(site.page(f"notebooks/{path.stem}").as_uri())
    yield watched.page
    watched.assert_quiet()
    watched.page.close()


def answer(prediction, by_keys):
    """Choose the last choice: by the mouse, or by keys alone. Return what is said and how many folds it names."""
    radios = prediction.get_by_role("radio")
    assert radios.count() >= 2
    if by_keys:
        radios.first.focus()
        prediction.page.keyboard.press("ArrowUp")
        assert radios.last.evaluate("e => e === document.activeElement"), "the keys do not go round"
        prediction.page.keyboard.press("Enter")
    else:
        radios.last.click()
    marks = prediction.locator("[data-mark]").evaluate_all("all => all.map(e => e.dataset.mark)")
    assert marks.count("right") == 1
    return prediction.get_by_role("status").inner_text()


def asked(notebook):
    """Return how many predictions a notebook stores."""
    return sum("course-predict" in str(cell.get("outputs", "")) for cell in notebook.cells)


@each
def test_every_prediction_of_a_page_hides_its_answer_until_it_is_chosen(lesson, path):
    predictions = lesson.locator(".course-predict")
    assert predictions.count() == asked(nbformat.read(path, as_version=4))
    for i, prediction in enumerate(predictions.all()):
        prediction.get_by_role("radio").first.wait_for()
        shut = lesson.locator("details:not([open])").count()
        said = answer(prediction, by_keys=i % 2)
        assert said.startswith("You chose"), said
        opened = shut - lesson.locator("details:not([open])").count()
        assert opened >= 1, f"prediction {i + 1} opens nothing: {said}"
        assert lesson.locator(".course-covered").count() == 0


@each
def test_every_live_figure_of_a_page_moves_by_keys_and_mouse(lesson):
    for figure in lesson.locator(".course-live").all():
        figure.evaluate("e => { for (let d = e; d = d.closest('details:not([open])');) d.open = true; }")
        drive_live(figure)


@each
def test_axe_finds_nothing_bad_on_a_page_and_a_phone_cuts_nothing(browser, site, path):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="pip install .[test]").Axe()
    scheme, width = LOOKS[LESSONS.index(path) % 2]
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.goto(site.page(f"notebooks/{path.stem}").as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(e => { e.open = true; })")
    page.evaluate("document.getAnimations().forEach(a => a.finish())")  # what opens fades in: half seen, it is pale
    page.evaluate(ONE_OF_EACH)
    # It knows no rule for formulas, which are a third of a page's elements.
    found = axe.run(page, context={"exclude": [["math"]]}, options={"resultTypes": ["violations"]})
    bad = [v for v in found.response["violations"] if v["impact"] in BAD]
    assert [(v["id"], v["help"], [node["html"][:200] for node in v["nodes"][:3]]) for v in bad] == []
    page.reload()
    page.evaluate("document.querySelectorAll('details').forEach(e => { e.open = true; })")
    page.set_viewport_size({"width": 400, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    assert page.evaluate(CUT) == []
    page.close()


@each
def test_all_that_moves_in_a_lesson_works_in_jupyterlab(lab, server, path):
    """It is in the notebook: it works as soon as that is trusted, and nothing is run."""
    notebook = nbformat.read(path, as_version=4)
    kept = ("course-predict", "course-live", "course-stepper")
    steppers = sum(holds(cell, kept[2:]) for cell in notebook.cells)
    # To set all formulas takes most of the time; what a prediction folds stays, since it counts its folds.
    notebook.cells = [
        cell
        for cell in notebook.cells
        if 'class="reveal"' in cell.source or (cell.cell_type == "code" and (hidden(cell) or holds(cell, kept)))
    ]
    server.trust(notebook)
    nbformat.write(notebook, server.root / path.name)
    panel = lab.open(path.name)
    try:
        for i, prediction in enumerate(panel.locator(".course-predict").all()):
            prediction.scroll_into_view_if_needed()
            prediction.get_by_role("radio").first.wait_for()
            folds = panel.locator(".jp-OutputPlaceholder, details.reveal:not([open])")
            folded = folds.count()
            assert answer(prediction, by_keys=i % 2 == 0).startswith("You chose")
            assert folds.count() < folded, f"prediction {i + 1} opens nothing"
        for figure in panel.locator(".course-live").all():
            figure.scroll_into_view_if_needed()
            figure.locator(".course-live-caption").wait_for(state="attached")
            drive_live(figure)
        assert panel.locator(".course-stepper").count() >= steppers
        for stepper in panel.locator(".course-stepper").all():
            drive_stepper(stepper)
        lab.assert_quiet()
    finally:
        lab.close()
        (server.root / path.name).unlink()


def hidden(cell):
    """Whether a prediction folds the cell's output."""
    return "hide-output" in cell.metadata.get("tags", [])


def holds(cell, classes):
    """Whether a cell's stored output has an element of one of these classes."""
    return any(re.search(rf"class=\W*{name}\b", str(cell.get("outputs", ""))) for name in classes)
