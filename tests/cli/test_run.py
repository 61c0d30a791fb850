"""`course run` executes lessons in order, reports the first failing cell, and hands what came of it to the site."""

from __future__ import annotations

import re

import nbformat
import pytest
from typer.testing import CliRunner

from course_lib import book
from course_lib.cli import app
from course_lib.cli.clean import WIDGET_VIEW, clean_outputs
from course_lib.cli.execute import Failure, Outcome, execute, failing_line
from tests.cli.course import code, make_course, text

needs_pages = pytest.mark.skipif(
    bool(book.missing_packages()), reason="what makes pages is not installed (pip install .[book])"
)
GOOD = [text("# Good one"), code("import os\nprint('progress', os.environ['COURSE_PROGRESS'])")]
BAD = [
    text("# Bad one"),
    code("1 / 0", "raises-exception"),
    code("def half(x):\n    return x / 0"),
    code("a = 1\nb = half(a)  # here"),
    code("print('never ' + 'run')"),
]


def _run(root, *arguments):
    return CliRunner().invoke(app, ["run", "--folder", str(root), "--out", str(root / "out"), *arguments])


@pytest.fixture
def no_kernel(monkeypatch):
    """Lessons end at once, those with BAD's cells at its fourth: for tests of what is written, not of the run."""

    def executed(notebook, folder, *, timeout, on_cell):
        bad = any("half(a)" in cell.source for cell in notebook.cells)
        return Outcome(0.1, Failure(4, 3, "line 2", "ZeroDivisionError", "division by zero") if bad else None)

    monkeypatch.setattr("course_lib.cli.execute.execute", executed)  # imported where it is called


@needs_pages
def test_lessons_run_in_order_and_become_pages_with_an_index(tmp_path):
    stale = code("print(6 * 7)")
    stale.outputs = [nbformat.v4.new_output("stream", text="an old output")]
    root = make_course(tmp_path / "c", l02_b=[text("# Second"), stale], l01_a=GOOD)
    result = _run(root)
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert [line.split()[:2] for line in lines[:2]] == [["01_a", "ok"], ["02_b", "ok"]]
    assert "2 of 2 ok" in result.output
    assert "\x1b" not in result.output, "plain text where there is no terminal"
    first, second = (_page(root, name).read_text() for name in ("01_a", "02_b"))
    assert "progress 0" in first
    assert "42" in second
    assert "an old output" not in second
    assert _index(root) == {"01_a": "Good one", "02_b": "Second"}
    assert nbformat.read(root / "notebooks" / "02_b.ipynb", 4).cells[1].outputs[0].text == "an old output"


@needs_pages
def test_a_failing_cell_is_reported_with_its_line_and_the_other_lessons_still_run(tmp_path):
    root = make_course(tmp_path / "c", l01_bad=BAD, l02_good=GOOD)
    result = _run(root)
    assert result.exit_code == 1
    page = _page(root, "01_bad")
    for line in (
        "lesson 01, cell 4 (In [3])",
        "line 2: b = half(a)  # here",
        "ZeroDivisionError: division by zero",
        f"lesson 01 did not reach its end; the page up to there: {page}",
    ):
        assert line in result.output.splitlines()
    assert "1 of 2 ok" in result.output
    assert "ZeroDivisionError" in page.read_text()
    assert "never run" not in page.read_text()
    assert "did not reach its end" in page.read_text()
    assert _page(root, "02_good").exists()


@needs_pages
def test_fail_fast_stops_at_the_first_failing_lesson(tmp_path):
    root = make_course(tmp_path / "c", l01_bad=[code("raise ValueError")], l02_good=GOOD)
    result = _run(root, "--fail-fast")
    assert result.exit_code == 1
    assert "ValueError: no message" in result.output
    assert "0 of 2 ok" in result.output
    assert not _page(root, "02_good").exists()


@needs_pages
def test_only_the_named_lessons_run(no_kernel, tmp_path):
    root = make_course(tmp_path / "c", l01_a=[code("1")], l02_b=[code("2")], l03_c=[code("3")])
    assert _run(root, "3").exit_code == 0
    assert [path.name for path in (root / "out" / "notebooks").iterdir()] == ["03_c.html"]


def test_an_unknown_lesson_lists_what_there_is(tmp_path):
    root = make_course(tmp_path / "c", l01_a=[], l02_b=[])
    result = _run(root, "07")
    assert result.exit_code == 2
    assert "no lesson 07. There are: 01 a, 02 b" in result.output


def test_a_folder_that_is_no_course_and_does_not_exist_falls_back_or_fails_clearly(tmp_path):
    (tmp_path / "out").write_text("a file, where a folder is wanted")
    root = make_course(tmp_path / "c", l01_a=[])
    result = CliRunner().invoke(app, ["run", "--folder", str(root), "--out", str(tmp_path / "out")])
    assert (result.exit_code, "course run:" in result.output) == (2, True)


@needs_pages
def test_a_formula_that_cannot_be_shown_makes_the_run_fail(tmp_path):
    root = make_course(tmp_path / "c", l01_a=[text(r"# A" "\n\n" r"$\nosuch$")])
    result = _run(root)
    assert result.exit_code == 1
    assert r"notebooks/01_a, cell 1: cannot convert $\nosuch$: unknown \nosuch" in result.output.splitlines()


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        ("import time\ntime.sleep(60)", "Timeout", "longer than 1 s"),
        ("import os\nos._exit(3)", "DeadKernel", "killed its kernel"),
        ("x = (", "SyntaxError", "line 1"),
    ],
)
def test_a_cell_that_hangs_or_ends_the_kernel_is_a_failure_not_a_crash(tmp_path, source, error, message):
    notebook = nbformat.v4.new_notebook(cells=[code("1"), code(source)])
    outcome = execute(notebook, tmp_path, timeout=1 if error == "Timeout" else 60)
    assert (outcome.failure.cell, outcome.failure.error) == (2, error)
    assert message in outcome.failure.message


def test_a_kernel_that_never_starts_is_a_failure_before_the_first_cell(tmp_path, monkeypatch):
    async def never(folder, log):
        log.write(b"Address already in use")
        raise RuntimeError("Kernel died before replying to kernel_info")

    monkeypatch.setattr("course_lib.cli.execute.start_kernel", never)
    outcome = execute(nbformat.v4.new_notebook(cells=[code("1")]), tmp_path, timeout=60)
    assert str(outcome.failure).splitlines() == [
        "before the first cell",
        "DeadKernel: the kernel does not start: Kernel died before replying to kernel_info; "
        "it left: Address already in use",
    ]


def test_an_output_widget_does_not_stop_the_run(tmp_path):
    cells = [code("import ipywidgets\nwith ipywidgets.Output():\n    print(1)")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    assert execute(notebook, tmp_path, timeout=60).failure is None


def test_the_failing_line_is_found_with_colours_and_may_be_unknown():
    traceback = "\x1b[36mCell\x1b[39m\x1b[36m \x1b[39m\x1b[32mIn[7]\x1b[39m\x1b[32m, line 2\x1b[39m"
    assert failing_line("a\n  b()", traceback, 7) == "line 2: b()"
    assert failing_line("a\n  b()", traceback, 8) == ""
    assert failing_line("a", traceback, 7) == ""


@needs_pages
def test_fail_fast_goes_on_after_a_good_lesson(no_kernel, tmp_path):
    root = make_course(tmp_path / "c", l01_good=GOOD, l02_bad=BAD, l03_good=GOOD)
    result = _run(root, "--fail-fast")
    assert result.exit_code == 1
    assert [line.split()[0] for line in result.output.splitlines() if line.startswith("0")][:2] == ["01_good", "02_bad"]
    assert list(_index(root)) == ["01_good", "02_bad"]


@needs_pages
def test_a_title_is_text_in_the_index(no_kernel, tmp_path):
    root = make_course(tmp_path / "c", l01_a=[text("# 1 < 2 & <b>more</b>"), code("1")])
    assert _run(root).exit_code == 0
    assert _index(root) == {"01_a": "1 &lt; 2 &amp; &lt;b&gt;more&lt;/b&gt;"}


def test_cells_after_a_failing_one_keep_no_old_output(tmp_path):
    later = code("print(2)")
    later.outputs = [nbformat.v4.new_output("stream", text="old")]
    notebook = nbformat.v4.new_notebook(cells=[code("1 / 0"), later])
    assert execute(notebook, tmp_path, timeout=60).failure.cell == 1
    assert later.outputs == []


def test_a_kernel_of_another_environment_is_not_taken(tmp_path, monkeypatch):
    spec = tmp_path / "kernels" / "python3"
    spec.mkdir(parents=True)
    (spec / "kernel.json").write_text('{"argv": ["false"], "display_name": "Python 3", "language": "python"}')
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    notebook = nbformat.v4.new_notebook(cells=[code("print(1)")])
    assert execute(notebook, tmp_path, timeout=60).failure is None


def test_an_output_loses_the_widget_and_keeps_the_figure():
    outputs = [
        nbformat.v4.new_output("display_data", data={WIDGET_VIEW: {"model_id": "a"}, "text/html": "<img>"}),
        nbformat.v4.new_output("display_data", data={WIDGET_VIEW: {"model_id": "a"}}),
        nbformat.v4.new_output("stream", text="a"),
        nbformat.v4.new_output("stream", text="b"),
    ]
    figure, stream = clean_outputs(outputs)
    assert figure.data == {"text/html": "<img>"}
    assert stream.text == "ab"


def _page(root, name):
    return root / "out" / "notebooks" / f"{name}.html"


def _links(page):
    """The lessons that a page's text links to."""
    article = page.read_text().partition("<article")[2].partition("</article>")[0]
    return re.findall(r'href="(?:notebooks/)?(\d\d_\w+)\.html', article)


def _index(root):
    """{lesson: title} of the first page, in its order."""
    article = (root / "out" / "index.html").read_text().partition("<article")[2].partition("</article>")[0]
    found = re.findall(r'href="notebooks/(\w+)\.html"><span[^>]*>(.*?)</span></a>', article)
    return dict(found)


@needs_pages
def test_a_run_of_one_lesson_keeps_what_the_others_said(no_kernel, tmp_path):
    root = make_course(tmp_path / "c", l01_a=GOOD, l02_b=BAD, l03_c=[text("# Third"), code("3")])
    assert _run(root).exit_code == 1
    assert _index(root) == {"01_a": "Good one", "02_b": "Bad one", "03_c": "Third"}
    kept = _page(root, "03_c").read_text()
    repaired = nbformat.v4.new_notebook(cells=[text("# Repaired"), code("1")])
    nbformat.write(repaired, root / "notebooks" / "02_b.ipynb")
    nbformat.write(nbformat.v4.new_notebook(cells=[text("# Not run")]), root / "notebooks" / "01_a.ipynb")
    result = _run(root, "02")
    assert result.exit_code == 0
    assert "did not reach its end" not in result.output
    assert _index(root) == {"01_a": "Good one", "02_b": "Repaired", "03_c": "Third"}
    assert _page(root, "03_c").read_text() == kept.replace("Bad one", "Repaired")


@needs_pages
def test_after_fail_fast_no_link_is_dead_until_the_other_lesson_has_run(no_kernel, tmp_path):
    good = [*GOOD, text("[the one after the next](03_c.ipynb)")]
    root = make_course(tmp_path / "c", l01_a=good, l02_b=[*BAD, text("[next](03_c.ipynb)")], l03_c=GOOD)
    assert _run(root, "--fail-fast").exit_code == 1
    assert (_links(_page(root, "01_a")), _links(_page(root, "02_b"))) == ([], [])
    assert _run(root, "03").exit_code == 0
    assert (_links(_page(root, "01_a")), _links(_page(root, "02_b"))) == (["03_c"], ["03_c"])


def test_without_what_makes_pages_lessons_are_run_and_the_way_to_pages_is_said(no_kernel, tmp_path, monkeypatch):
    monkeypatch.setattr("course_lib.book.missing_packages", lambda: ["sphinx", "myst_nb"])
    root = make_course(tmp_path / "c", l01_a=GOOD, l02_b=BAD)
    result = _run(root, "01")
    assert result.exit_code == 0
    assert "1 of 1 ok" in result.output
    assert "no pages: they are made by packages that are not here (sphinx, myst_nb)." in result.output
    assert "pip install -e '.[book]'" in result.output
    assert "make html" in result.output
    assert not (root / "out" / "index.html").exists()
    assert _run(root, "02").exit_code == 1, "a lesson that fails, fails"
