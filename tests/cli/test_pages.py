"""A page shows what the notebook shows, and asks no other host for anything."""

from __future__ import annotations

import base64
import re

import pytest
from nbformat.v4 import new_notebook, new_output

from course_lib.cli.clean import WIDGET_VIEW
from course_lib.cli.pages import lesson_page, outside_requests, title_of
from tests.cli.course import code, text

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def _page(folder, *cells, link_of=None):
    page, problems = lesson_page(
        new_notebook(cells=list(cells)), name="01_a", folder=folder, link_of=link_of or {}, nav="<nav>here</nav>"
    )
    return page, problems


def test_a_page_has_language_title_and_navigation_and_loads_nothing(tmp_path):
    page, problems = _page(tmp_path, text("# The *first* lesson\n\n$x^2$"), code("1 + 1"))
    assert '<html lang="en">' in page
    assert "<title>The first lesson</title>" in page
    assert "<nav>here</nav>" in page
    assert problems == []
    assert outside_requests(page) == []
    assert "mathjax" not in page.lower()
    assert "require.js" not in page.lower()


def test_formulas_are_mathml_in_text_in_tables_and_in_folded_answers(tmp_path):
    page, problems = _page(
        tmp_path,
        text("inline $a_1 * b_1 * c_1$ and `$code$`\n\n$$\\sum_i x_i$$\n\n| a |\n|---|\n| $y_1$ |\n"),
        text("<details><summary>Answer</summary>\n\nIt is $z_1$.\n\n</details>\n\n<details>raw $q_1$</details>"),
        text("\\begin{align} a &= b \\end{align}"),
    )
    assert page.count("<math") == 6
    assert "<code>$code$</code>" in page
    assert problems == []


def test_a_folded_answer_stays_folded(tmp_path):
    source = "<details>\n<summary>Answer</summary>\n\nForty-two.\n\n- a list\n\n</details>\n\nAfter."
    page, _ = _page(tmp_path, text(source))
    folded = re.search(r"<details>(.*?)</details>", page, re.DOTALL)[1]
    assert "Forty-two." in folded
    assert "a list" in folded
    assert "After." not in folded


def test_an_unknown_formula_is_a_problem_of_the_page(tmp_path):
    assert "nosuch" in _page(tmp_path, text(r"$\nosuch$"))[1][0]


def test_links_go_to_pages_and_files_of_the_course_become_plain_text(tmp_path):
    page, _ = _page(
        tmp_path,
        text("[next](02_b.ipynb#top) [file](../course_lib/x.py) [web](https://example.org/) [here](#a)"),
        link_of={"02_b.ipynb": "02_b.html"},
    )
    assert 'href="02_b.html#top"' in page
    assert 'href="#a"' in page
    assert 'href="https://example.org/"' in page
    assert "x.py" not in page


def test_the_static_figure_shows_in_place_of_the_widget(tmp_path):
    cell = code("explore()")
    data = {WIDGET_VIEW: {"model_id": "abc"}, "text/html": '<img alt="static">', "text/plain": "static"}
    cell.outputs = [new_output("display_data", data)]
    page, _ = _page(tmp_path, cell)
    assert '<img alt="static"/>' in page
    assert "model_id" not in page
    assert WIDGET_VIEW in cell.outputs[0].data, "the notebook itself is not changed"


def test_a_latex_output_is_mathml(tmp_path):
    cell = code("show()")
    cell.outputs = [new_output("display_data", {"text/latex": "$x_1$", "text/plain": "x"})]
    assert "<math" in _page(tmp_path, cell)[0]


def test_pictures_named_in_the_text_are_put_into_the_page(tmp_path):
    (tmp_path / "pixel.png").write_bytes(PIXEL)
    page, problems = _page(tmp_path, text("![a pixel](pixel.png)"))
    assert 'src="data:image/png;base64,' in page
    assert problems == []


@pytest.mark.parametrize(
    "html",
    [
        '<script src="https://cdn.example/x.js"></script>',
        "<img alt='a' src='http://example/x.png'>",
        "<link rel=stylesheet href=//cdn.example/x.css>",
        "<style>@import 'https://example/x.css'</style>",
        "<style>p { background: url(https://example/x.png) }</style>",
    ],
)
def test_whatever_a_browser_would_fetch_is_found(html, tmp_path):
    assert len(outside_requests(html)) == 1
    _, problems = _page(tmp_path, text(html))
    assert any("the page asks" in problem for problem in problems)


def test_a_link_to_click_is_no_request():
    assert outside_requests('<a href="https://example.org">x</a><img src="data:image/png;base64,x">') == []


def test_the_title_is_the_first_heading_or_the_name():
    assert title_of(new_notebook(cells=[text("no\n\n# `Yes`\n"), text("# Later")]), "x") == "Yes"
    assert title_of(new_notebook(cells=[code("# not this")]), "x") == "x"
