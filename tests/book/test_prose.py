"""The front door takes a title and a sentence from a lesson's own text, and says nothing that is not in it."""

from __future__ import annotations

import pytest
from nbformat.v4 import new_notebook, new_output

from course_lib.book.front_door import Entry, front_door
from course_lib.book.outside import outside_requests
from course_lib.book.prose import Drawing, first_picture, first_sentence, promise, title_of
from tests.cli.course import code, text


def test_the_title_is_the_first_heading_or_the_name():
    assert title_of(new_notebook(cells=[text("no\n\n# `Yes`\n"), text("# Later")]), "x") == "Yes"
    assert title_of(new_notebook(cells=[code("# not this")]), "x") == "x"


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("# Title\n\nOne sentence. Another.", "One sentence."),
        ("# Title\n\nA line\nthat goes (see 3.5), **to here**. More.", "A line that goes (see 3.5), **to here**."),
        ("# T\n\n<p>html</p>\n\n- a list\n\n![a](b.png)\n\n| a |\n|---|\n\n$$x$$\n\nIs it prose? Yes.", "Is it prose?"),
        ("# T\n\n<details><summary>About</summary>\n\nFolded.\n\n</details>\n\nOpen.", "Open."),
        ("# T\n\nA [link](02_b.ipynb), a note<sup>1</sup>, *softly.* More.", "A link, a note, *softly.*"),
        ("# T\n\nIt never ends", "It never ends"),
        ("# T", ""),
    ],
)  # fmt: skip
def test_the_sentence_is_the_first_of_the_first_paragraph_that_is_prose(source, sentence):
    assert first_sentence(new_notebook(cells=[code("'code'"), text(source)])) == sentence


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("- count the [weights](01_a.ipynb) of\n  a layer;\n- more.", "Count the weights of a layer."),
        ("- count the weights.<sup>1</sup>\n\nThen prose.", "Count the weights."),
        ("Nothing at all.", "It begins."),
    ],
)
def test_the_promise_is_the_first_thing_one_will_be_able_to_do_else_the_first_sentence(source, sentence):
    notebook = new_notebook(cells=[text("# T\n\nIt begins. Then."), text(f"## You will be able to\n\n{source}")])
    assert promise(notebook) == sentence


@pytest.mark.parametrize(
    ("source", "drawing"),
    [
        ("data:image/svg+xml,%3Csvg%20x=%27&amp;%27/%3E", Drawing(b"<svg x='&'/>", "svg", 'A "dot"')),
        ("data:image/png;base64,AAEC", Drawing(b"\x00\x01\x02", "png", 'A "dot"')),
        ("elsewhere.png", None),
    ],
)
def test_the_picture_is_the_first_of_an_output_with_its_alt_text(source, drawing):
    cell = code("show()")
    html = f'<p>Text</p><img alt="A &quot;dot&quot;" src="{source}" width="3">'
    cell.outputs = [new_output("stream", text="no"), new_output("display_data", {"text/html": html})]
    assert first_picture(new_notebook(cells=[text("# T"), cell])) == drawing


def test_a_picture_at_the_front_door_is_fetched_late_and_keeps_its_alt_text():
    page = front_door([Entry("notebooks/01_a", "A", picture="pictures/01_a.svg", alt='Two "dots"\n\n```')], [])
    img = '<img class="course-lesson" loading="lazy" src="pictures/01_a.svg" alt="Two &quot;dots&quot; ```">'
    assert f"  ```{{raw}} html\n  {img}\n  ```" in page


def test_the_front_door_links_lessons_and_sheets_and_names_what_stopped():
    lessons = [
        Entry("notebooks/01_a", "First <b>", "One.", "exercises/01_a"),
        Entry("notebooks/02_b", "Two", stopped=True),
    ]
    page = front_door(lessons, [Entry("exercises/01_a", "Sheet one"), Entry("exercises/extra", "More")])
    assert "- [First \\<b\\>](notebooks/01_a.ipynb)\n\n  One.\n\n  [Exercises](exercises/01_a.ipynb)" in page
    assert "- [Two](notebooks/02_b.ipynb)\n\n  **The last run of this lesson stopped before its end.**" in page
    assert "- [More](exercises/extra.ipynb)" in page
    assert "[Sheet one]" not in page, "it stands with its lesson"


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
def test_whatever_a_browser_would_fetch_is_found(html):
    assert len(outside_requests(html)) == 1


def test_a_link_to_click_is_no_request():
    assert outside_requests('<a href="https://example.org">x</a><img src="data:image/png;base64,x">') == []
