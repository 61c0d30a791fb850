"""A page of the site shows what the notebook shows, folds what it folds, and asks no other host for anything."""

from __future__ import annotations

import base64
import re

import pytest
from nbformat.v4 import new_output

from course_lib import book
from course_lib.cli.clean import WIDGET_VIEW
from course_lib.cli.folder import list_lessons
from tests.book.site import need_sphinx, site_of
from tests.cli.course import code, make_course, text

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
TABLE = "<table><tr><th scope='col'>n</th></tr><tr><td>7</td></tr></table>"


def _with(cell, *outputs):
    cell.outputs = list(outputs)
    return cell


def _html(html, **more):
    return new_output("display_data", {"text/html": html, "text/plain": "plain", **more})


FIRST = [
    text("# 01 · The first\n\nIt begins here. And goes on.\n\n$x^2$ costs 5 $ and\n% no comment\n\n$$\\sum_i x_i$$"),
    text("| a |\n|---|\n| $y_1$ |\n\n`$code$`\n\n" + TABLE),
    text("<details>\n<summary>Answer, $s_1$</summary>\n\nIt is **$z_1$**.\n\n- a list\n\n</details>\n\nAfter."),
    text("\\begin{align} a &= b \\end{align}\n\nA note.<sup>2</sup>"),
    _with(code("print('folded code')", "hide-input"), new_output("stream", text="open output\n")),
    _with(code("print('open code')", "hide-output"), new_output("stream", text="folded output\n")),
    _with(code("explore()"), _html('<img alt="static">', **{WIDGET_VIEW: {"model_id": "abc"}})),
    _with(code("show()"), new_output("display_data", {"text/latex": "$u_1$", "text/plain": "u"})),
    _with(code("1 / 0", "raises-exception"), new_output("error", ename="ZeroDivisionError", evalue="division by zero",
          traceback=["\x1b[31mZeroDivisionError\x1b[39m: division by zero"])),
    text("[next](02_second.ipynb) [part](02_second.ipynb#a-part) [file](../course_lib/x.py)\n"
         "[not here](03_third.ipynb) [web](https://example.org/) ![a pixel](pixel.png)"),
]  # fmt: skip
SECOND = [
    text("# 02 · The second\n\n## A part\n\n[back](01_first.ipynb), [its sheet](../exercises/02_second.ipynb)"),
    text("- [Exercises for this lesson](../exercises/02_second.ipynb)\n- Previous: [01 · The first](01_first.ipynb)"),
]
SHEETS = {
    "01_first": [text("# Sheet 1\n\nOf [the lesson](../notebooks/01_first.ipynb)."), code("check('01.1', f)")],
    "02_second": [text("# Sheet 2")],
    "03_third": [text("# Sheet 3")],
    "extra": [text("# Extra")],
}  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Two lessons with their sheets; a third lesson has no page yet."""
    need_sphinx()
    folder = tmp_path_factory.mktemp("book")
    first = site_of(folder, l01_first=FIRST, l02_second=SECOND, sheets=SHEETS)
    (first.root / "course_lib" / "x.py").touch()
    (first.root / "notebooks" / "03_third.ipynb").touch()
    (first.root / "notebooks" / "pixel.png").write_bytes(PIXEL)
    every = [lesson for lesson in list_lessons(first.root) if lesson.number != "03"]
    return type(first)(first.root, first.out, book.build_site(first.out, first.root, every))


@pytest.fixture(scope="module")
def lesson(site):
    """The article of the first lesson."""
    return site.text("notebooks/01_first")


def _links(text):
    return dict((label, href) for href, label in re.findall(r'<a [^>]*href="([^"]+)"[^>]*>(?:<[^>]+>)*([^<]+)', text))


def test_nothing_is_wrong_and_nothing_is_asked_of_another_host(site):
    assert site.problems == []
    for page in site.out.rglob("*.html"):
        assert book.outside_requests(page.read_text(encoding="utf-8")) == [], page
    for sheet in (site.out / "_static").glob("*.css"):
        assert book.outside_requests(sheet.read_text(encoding="utf-8")) == [], sheet


def test_a_page_has_language_and_title_and_no_script_for_formulas(site):
    page = site.page("notebooks/01_first").read_text(encoding="utf-8")
    assert '<html lang="en"' in page
    assert "<title>01 · The first" in page
    scripts = re.findall(r'<script[^>]*\bsrc="([^"]+)"', page)
    assert any("course.js" in script for script in scripts)
    assert not any(name in script.lower() for script in scripts for name in ("mathjax", "require", "widget"))
    assert "course.css" in page
    assert (site.out / "_static" / "maths.woff2").stat().st_size > 10_000


def test_formulas_are_mathml_in_text_tables_summaries_folded_answers_and_outputs(lesson):
    assert lesson.count("<math") == 7
    assert "$code$" in lesson
    assert "costs 5 $ and\n% no comment" in lesson, "Markdown as JupyterLab reads it, without the signs of MyST"


def test_a_folded_answer_stays_folded(lesson):
    folded = re.search(r"<details>(.*?)</details>", lesson, re.DOTALL)[1]
    assert "<strong>" in folded
    assert "a list" in folded
    assert "After." not in folded


def test_a_cell_tagged_hide_input_folds_its_code_and_shows_its_output(lesson):
    fold = re.search(r"<details[^>]*>(?:(?!</details>).)*folded code.*?</details>", lesson, re.DOTALL)[0]
    assert "Show the code" in fold
    assert "open output" not in fold
    assert "open" not in re.match(r"<details[^>]*>", fold)[0]
    assert "open output" in lesson


def test_a_cell_tagged_hide_output_shows_its_code_and_folds_its_output(lesson):
    fold = re.search(r"<details[^>]*>(?:(?!</details>).)*folded output.*?</details>", lesson, re.DOTALL)[0]
    assert "Show the output" in fold
    assert "open code" not in fold
    assert "open code" in lesson


def test_the_static_figure_shows_in_place_of_the_widget(lesson):
    assert '<img alt="static">' in lesson
    assert "model_id" not in lesson


def test_an_error_is_shown_without_the_codes_of_a_terminal(lesson):
    assert "traceback" in lesson
    assert "\x1b" not in lesson
    assert "division by zero" in re.sub(r"<[^>]+>", "", lesson)


def test_a_raised_number_and_a_table_of_raw_html_are_kept_and_the_table_scrolls(lesson):
    assert "<sup>2</sup>" in lesson
    assert f'<div class="course-scroll">{TABLE}' in lesson


def test_links_lead_to_pages_and_files_of_the_course_are_plain_text(lesson):
    links = _links(lesson)
    assert links["next"] == "02_second.html"
    assert links["part"] == "02_second.html#a-part"
    assert links["web"] == "https://example.org/"
    assert not {"file", "not here"} & set(links)
    assert "file not here" in " ".join(re.sub(r"<[^>]+>", " ", lesson).split())


def test_pictures_named_in_the_text_travel_with_the_page(site, lesson):
    source = re.search(r'<img alt="a pixel" [^>]*src="([^"]+)"', lesson)[1]
    assert (site.out / "notebooks" / source).read_bytes() == PIXEL


def test_a_lesson_leads_to_its_sheet_unless_it_does_so_itself_and_back(site, lesson):
    assert _links(lesson)["Exercises for this lesson"] == "../exercises/01_first.html"
    second = _links(site.text("notebooks/02_second"))
    assert second["its sheet"] == "../exercises/02_second.html"
    assert "Exercises for this lesson" not in second
    sheet = site.text("exercises/01_first")
    assert _links(sheet)["the lesson"] == "../notebooks/01_first.html"
    assert "exercises/01_first.ipynb" in sheet, "it says where to work on it"


def test_the_last_cell_of_a_lesson_says_nothing_twice(tmp_path):
    ways = "- [Exercises for this lesson](../exercises/01_a.ipynb)\n- Next: [B](02_b.ipynb)"
    site = site_of(tmp_path, sheets={"01_a": [text("# Sheet")]}, l01_a=[text("# A"), text(ways)], l02_b=[text("# B")])
    assert site.problems == []
    article = site.text("notebooks/01_a")
    assert article.count("Exercises for this lesson") == 1
    assert "Next:" not in article
    assert _links(article)["Exercises for this lesson"] == "../exercises/01_a.html"


def test_the_front_door_has_a_picture_of_a_lesson_as_a_file_of_its_own(tmp_path):
    cell = _with(code("show()"), _html('<img alt="A red dot" src="data:image/svg+xml,%3Csvg/%3E">'))
    site = site_of(tmp_path, l01_a=[text("# A"), cell])
    assert '<img class="course-lesson" loading="lazy" src="pictures/01_a.svg" alt="A red dot">' in site.text("index")
    assert (site.out / "pictures" / "01_a.svg").read_bytes() == b"<svg/>"


def test_previous_and_next_lead_through_lessons_and_not_into_sheets(site):
    def ways(name):
        page = site.page(name).read_text(encoding="utf-8")
        return {kind: re.search(rf'class="{kind}-\w+"\s+href="([^"]+)"', page) for kind in ("left", "right")}

    found = {name: {k: m and m[1] for k, m in ways(name).items()} for name in
             ("index", "notebooks/01_first", "notebooks/02_second", "exercises/01_first")}  # fmt: skip
    assert found["index"]["right"] == "notebooks/01_first.html"
    assert found["notebooks/01_first"] == {"left": "../index.html", "right": "02_second.html"}
    assert found["notebooks/02_second"] == {"left": "01_first.html", "right": None}
    assert found["exercises/01_first"] == {"left": None, "right": "02_second.html"}


def test_the_front_door_has_titles_sentences_and_sheets_and_no_build_times(site):
    index = site.text("index")
    links = _links(index)
    assert links["01 · The first"] == "notebooks/01_first.html"
    assert links["Extra"] == "exercises/extra.html"
    assert "It begins here." in index
    assert "And goes on." not in index
    assert "make lab" in re.sub(r"<[^>]+>", "", index)
    assert not re.search(r"\d s\b|seconds", index)
    assert not site.page("exercises/03_third").exists(), "its lesson has no page"


def test_a_formula_and_a_link_that_lead_nowhere_are_problems_of_their_cell(tmp_path):
    links = "Text. $\\nosuch$ and [gone](99_gone.ipynb)"
    bad = [text("# A"), code("1"), text(links), text("<b>$\\northis$</b>\n\n<div>$\\raw$</div>")]
    assert {str(problem) for problem in site_of(tmp_path, l01_a=bad).problems} == {
        "notebooks/01_a, cell 3: cannot convert $\\nosuch$: unknown \\nosuch",
        "notebooks/01_a, cell 3: 'myst' cross-reference target not found: '99_gone.ipynb'",
        "notebooks/01_a, cell 4: cannot convert $\\northis$: unknown \\northis",
        "notebooks/01_a, cell 4: cannot convert $\\raw$: unknown \\raw",
    }


def test_a_page_that_asks_another_host_is_a_problem(tmp_path):
    cell = _with(code("show()"), _html('<img alt="a" src="https://example.org/x.png">'))
    (problem,) = site_of(tmp_path, l01_a=[text("# A"), cell]).problems
    assert str(problem) == "notebooks/01_a: the page asks https://example.org/x.png"


def test_a_lesson_that_stopped_says_so_on_its_page_and_at_the_front_door(tmp_path):
    stopped = "cell 2 (In [1])\nline 1: a * b * c\nNameError: a"
    site = site_of(tmp_path, stopped=stopped, l01_a=[text("# A\n\nText."), code("a * b * c")])
    assert site.problems == []
    said = re.sub(r"<[^>]+>", "", site.text("notebooks/01_a"))
    assert "did not reach its end" in said
    assert "line 1: a * b * c\nNameError: a" in said
    assert "stopped before its end" in site.text("index")


def test_a_notebook_without_a_title_is_called_by_its_name(tmp_path):
    site = site_of(tmp_path, l01_a=[code("1"), text("Text. $\\nosuch$")])
    assert "<h1>01_a" in site.text("notebooks/01_a")
    assert [(p.page, p.cell) for p in site.problems] == [("notebooks/01_a", 2)], "counted as in the notebook"


def test_the_page_of_a_lesson_that_the_course_has_no_more_goes(tmp_path):
    site = site_of(tmp_path, l01_a=[text("# A")], l02_b=[text("# B")])
    other = site.out / "notes.html"
    other.write_text("not ours", encoding="utf-8")
    (site.root / "notebooks" / "02_b.ipynb").unlink()
    assert book.build_site(site.out, site.root, list_lessons(site.root)) == []
    assert [page.name for page in (site.out / "notebooks").glob("*.html")] == ["01_a.html"]
    assert other.exists()


def test_without_sphinx_the_way_to_get_it_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr("course_lib.book.build.importlib.util.find_spec", lambda name: None)
    root = make_course(tmp_path / "c", l01_a=[text("# A")])
    with pytest.raises(book.BookError, match=r"sphinx, .*pip install -e '\.\[book\]', .*make html"):
        book.build_site(tmp_path / "out", root, list_lessons(root))
