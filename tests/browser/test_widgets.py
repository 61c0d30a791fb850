"""In a real JupyterLab every control works by mouse, and each kind by keyboard; nothing leaves the machine."""

from pathlib import Path

import nbformat
import pytest
from notebook_lib.fresh_kernel import run_in_fresh_kernel

from course_lib.figures.explore import WIDGET_VIEW
from tests.book.site import site_of

from .demo import broken_notebook, demo_notebook
from .drive import assert_readable, drive_everything, drive_explorer
from .lab import Watched

KINDS = ("stepper", "explore", "live")
"""Of what a reader can move in a lesson."""

ROOT = Path(__file__).resolve().parents[2]
LESSONS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))


@pytest.fixture(scope="module")
def built():
    """The demo notebook as the build leaves it: run, without views of widgets."""
    notebook = demo_notebook()
    run_in_fresh_kernel(notebook, ROOT, store_widget_state=False)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            assert output.output_type != "stream", output
            output.get("data", {}).pop(WIDGET_VIEW, None)
    return notebook


@pytest.fixture
def opened(lab, server):
    """Open notebooks in the one JupyterLab; each is closed and its folder emptied after the test."""
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


@pytest.fixture(scope="module")
def demo_run(lab, server):
    """The name of the demo notebook in the one JupyterLab: open, and run once for all tests of its controls."""
    nbformat.write(demo_notebook(), server.root / "demo.ipynb")
    lab.open("demo.ipynb")
    lab.run_all()
    return "demo.ipynb"


@pytest.fixture
def demo(lab, demo_run):
    """The demo notebook in front of the others, both steppers at their first step."""
    panel = lab.open(demo_run)
    for i in range(2):
        panel.locator(".course-stepper").nth(i).get_by_role("slider").press("Home")
    yield panel
    lab.assert_quiet()


def test_every_control_of_the_framework_works(demo):
    assert drive_everything(demo) == (2, 1)


def test_the_same_stepper_twice_moves_alone(demo):
    one, two = (demo.locator(".course-stepper").nth(i) for i in range(2))
    assert one.get_attribute("data-stepper") == two.get_attribute("data-stepper")
    one.get_by_role("button", name="Last step").click()
    assert one.locator(".course-count").inner_text() == "step 7 of 7"
    assert two.locator(".course-count").inner_text() == "step 1 of 7"


def test_keys_on_a_control_leave_the_notebook_alone(lab, demo):
    panel = demo
    cells = panel.locator(".jp-Cell").count()
    explorer = panel.locator(".course-explore")
    explorer.locator("figure img").wait_for()
    for control in (
        panel.locator(".course-stepper").first.get_by_role("button", name="Next step"),
        panel.locator(".course-stepper").first.get_by_role("slider"),
        explorer.locator(".noUi-handle").first,
        explorer.locator("select"),
        explorer.locator("input[type=checkbox]"),
    ):
        control.focus()
        for key in ("a", "b", "d", "d", "ArrowDown", "ArrowUp"):  # in command mode: new cells, no cell, another cell
            lab.page.keyboard.press(key)
        assert panel.locator(".jp-Cell").count() == cells, control
        assert control.evaluate("e => e === document.activeElement"), f"{control} loses the focus"


def test_controls_of_an_explorer_have_names(demo):
    explorer = demo.locator(".course-explore")
    explorer.get_by_role("slider", name="learning rate", exact=True).wait_for()
    assert explorer.get_by_role("slider", name="steps", exact=True).count() == 1
    assert explorer.get_by_role("combobox", name="start").count() == 1
    assert explorer.get_by_role("checkbox", name="momentum").count() == 1
    assert explorer.get_by_role("textbox", name="steps, type a value").count() == 1
    assert explorer.locator("[aria-live=polite] figure img").count() == 1


def test_an_error_in_draw_is_shown_where_the_student_looks(lab, opened):
    panel = opened(broken_notebook(), "broken.ipynb")
    lab.run_all()
    handle = panel.locator(".course-explore .noUi-handle")
    handle.press("ArrowRight")
    panel.locator("img[alt*='variant 2']").wait_for()
    handle.press("ArrowRight")
    shown = panel.locator(".course-explore [role=alert]")
    shown.wait_for()
    assert "draw(n=3) failed" in shown.inner_text()
    assert "ValueError: n may not be 3 <here>" in shown.inner_text()
    handle.press("ArrowLeft")
    panel.locator("img[alt*='variant 2']").wait_for()
    with pytest.raises(AssertionError, match="n may not be 3 <here>"):
        drive_explorer(panel.locator(".course-explore"))


def test_a_control_without_effect_is_found(lab, opened):
    notebook = broken_notebook()
    notebook.cells[-1].source = (
        "figures.explore(lambda on: figures.picture(figures.Svg(90, 40), alt='An empty white rectangle'),\n"
        "                title='Nothing moves', on=False)"
    )
    panel = opened(notebook, "idle.ipynb")
    lab.run_all()
    with pytest.raises(AssertionError, match="the picture never changes"):
        drive_explorer(panel.locator(".course-explore"))


def test_unrun_and_untrusted_shows_static_figures(lab, opened, built):
    panel = opened(built, "unrun.ipynb")
    panel.locator(".course-explore-static img").wait_for()
    assert panel.locator(".course-stepper img").count() == 2
    assert panel.locator(".course-controls").count() == 0, "a script of an untrusted notebook ran"
    assert panel.get_by_text("Step 7 of 7.").count() == 2
    assert panel.get_by_text("learning rate (0.1 to 2)").count() == 1
    assert_readable(panel)


@pytest.fixture(scope="module")
def exported(built, tmp_path_factory):
    """The demo notebook as a page of a site: its address."""
    site = site_of(tmp_path_factory.mktemp("site"), l00_demo=built)
    assert site.problems == []
    return site.page("notebooks/00_demo").as_uri()


def test_exported_page_works_by_keyboard_and_loads_nothing(browser, exported):
    watched = Watched(browser, exported.partition("notebooks/")[0])
    watched.page.goto(exported)
    scope = watched.page.locator("article")
    assert drive_everything(scope) == (2, 0)
    assert_readable(scope)
    watched.assert_quiet()
    watched.page.close()


def test_exported_page_is_readable_without_scripts(browser, exported):
    watched = Watched(browser, exported.partition("notebooks/")[0], java_script_enabled=False)
    watched.page.goto(exported)
    article = watched.page.locator("article")
    assert article.locator(".course-stepper figure img").count() == 2
    assert article.get_by_role("button").count() == 0
    assert article.get_by_text("Step 7 of 7.").count() == 2
    watched.page.close()


def cells_with(notebook, kind):
    """Return the cells with a kind of widget: a stepper with its frames, a live figure, or an explorer, which asks."""
    return [cell for cell in notebook.cells if f"course-{kind}" in str(cell.get("outputs", ""))]


def test_a_lesson_has_one_interactive_widget_at_least():
    """The pages from 91 on are for looking things up; a lesson is to be played with."""
    notebooks = {path.stem: nbformat.read(path, as_version=4) for path in LESSONS if path.stem < "90"}
    assert [n for n, book in notebooks.items() if not any(cells_with(book, kind) for kind in KINDS)] == []
