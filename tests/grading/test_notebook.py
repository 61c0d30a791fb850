"""Whatever bytes are handed in, the grader gets cells and notes from them, or a sentence that says why not."""

import json
from types import SimpleNamespace

import pytest

from course_lib.checks.magics import without_magics
from course_lib.grading.definitions import top_level
from course_lib.grading.fit import is_about
from course_lib.grading.notebook import read_answers
from tests.grading.toy_sheet import EXERCISES, NAME, RIGHT, answered, book, code

SHEET = SimpleNamespace(name=NAME, exercises=EXERCISES)
FILE = f"{NAME}.ipynb"


def read(content, name=FILE):
    return read_answers([(name, content)], SHEET)


def sources(answers):
    return [cell.source for cell in answers.cells]


def test_a_sound_notebook_gives_its_code_cells_in_order_and_no_notes():
    answers = read(answered())
    assert sources(answers) == ["import numpy as np\n", *RIGHT.values()]
    assert (answers.status, answers.notes, answers.file) == ("graded", (), FILE)
    assert [cell.name for cell in answers.cells] == ["cell 1", "cell 2", "cell 3", "cell 4"]


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"", "empty"),
        (b" \n\t", "empty"),
        (answered()[:-30], "JSON"),
        (b"%PDF-1.4 \x00\xff", "JSON"),
        (b"[1, 2]", "no notebook"),
        (b"null", "no notebook"),
        (b"{}", "no list of cells"),
        (b'{"cells": 3}', "no list of cells"),
        (b'{"cells": {"0": {}}}', "no list of cells"),
        (b"[" * 200_000, "too deep"),
        (b'{"cells": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "too deep"),
        (b'{"cells": [' + b"9" * 10_000 + b"]}", "JSON"),
        (b'{"a": "' + b"x" * (21 << 20) + b'"}', "MiB"),
    ],
    ids=range(13),
)
def test_a_file_that_is_no_notebook_is_unreadable_and_says_why(content, word):
    answers = read(content)
    assert answers.status == "unreadable"
    assert word in answers.says
    assert FILE in answers.says


@pytest.mark.parametrize("files", [[], [("report.pdf", b"%PDF")], [("notes.txt", b"")]])
def test_without_a_notebook_the_sentence_says_what_is_there(files):
    answers = read_answers(files, SHEET)
    assert answers.status == "no notebook"
    assert (files[0][0] if files else "no file") in answers.says


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_does_not_matter(encoding):
    assert len(read(answered().decode().encode(encoding)).cells) == 4


def test_latin_1_is_read_and_noted():
    content = json.dumps({"cells": [code("s = 'é'")]}, ensure_ascii=False).encode("latin-1")
    answers = read(content)
    assert sources(answers) == ["s = 'é'"]
    assert "Latin-1" in answers.notes[0]


def test_the_old_format_with_worksheets_is_read_and_noted():
    cells = [{"cell_type": "code", "input": ["a = 1\n", "b = 2"]}, {"cell_type": "markdown", "source": "x"}]
    answers = read(json.dumps({"worksheets": [{"cells": cells}, 3, {"cells": 4}]}).encode())
    assert sources(answers) == ["a = 1\nb = 2"]
    assert "format 3" in answers.notes[0]


def test_wrong_types_anywhere_are_passed_over():
    odd = [3, None, [], "x", {}, {"cell_type": 3, "source": 4}, {"cell_type": "code", "source": 4, "metadata": 5}]
    odd += [{"cell_type": "code", "source": ["a", 3, "b"], "metadata": {"nbgrader": 3, "tags": 4}}]
    odd += [
        {"cell_type": "code", "source": "c", "metadata": {"nbgrader": {"grade_id": 3, "grade": "yes"}, "tags": [1]}}
    ]
    assert sources(read(book(*odd))) == ["ab", "c"]


def test_half_a_character_can_be_written_afterwards():
    source = read(b'{"cells": [{"cell_type": "code", "source": "s = \'\\ud800\'"}]}').cells[0].source
    assert source.encode() == b"s = '?'"


def test_check_cells_are_run_where_they_stand_and_known_as_such():
    graded = {"nbgrader": {"grade_id": "test-98-1", "grade": True, "solution": False, "locked": True}}
    by_hand = {"nbgrader": {"grade_id": "hand", "grade": True, "solution": True}}
    answers = read(book(code("check(1)", **graded), code("check(2)", tags=["check:98.2"]), code("a = 1", **by_hand)))
    assert sources(answers) == ["check(1)", "check(2)", "a = 1"]
    assert [cell.is_check for cell in answers.cells] == [True, True, False]


def test_an_answer_that_was_written_into_a_check_cell_is_run():
    answers = read(book(code(RIGHT["double"], tags=["check:98.1"])))
    assert (sources(answers), answers.notes) == ([RIGHT["double"]], ())


def test_an_answer_in_a_text_cell_is_not_run_and_noted():
    answers = read(book({"cell_type": "markdown", "source": RIGHT["double"]}))
    assert answers.cells == ()
    assert "text cell" in answers.notes[0]


def test_a_cell_that_is_there_twice_is_noted():
    answers = read(book(code("def double(x): pass", "answer-98-1"), code(RIGHT["double"], "answer-98-1")))
    assert len(answers.cells) == 2
    assert "more than once" in answers.notes[0]


def test_answers_in_words_are_found_by_their_grade_id():
    cell = {"cell_type": "markdown", "source": "Because.", "metadata": {"nbgrader": {"grade_id": "answer-98-4"}}}
    assert read(book(cell)).texts == {"98.4": "Because."}


@pytest.mark.parametrize(
    ("grade_id", "expected"),
    [("98.4", True), ("answer-98-4", True), ("ex_98_4", True), ("98-41", False), ("198-4", False), ("98-4-a", False)],
)
def test_a_grade_id_is_about_a_question_if_it_ends_in_its_id(grade_id, expected):
    assert is_about(grade_id, "98.4") is expected


def test_of_several_notebooks_the_one_that_fits_the_sheet_is_taken():
    other = book(code("def other(x): pass", "answer-97-1"))
    files = [
        ("a.ipynb", other),
        ("b.ipynb", answered()),
        ("c.ipynb", b"{"),
        (".ipynb_checkpoints/b-checkpoint.ipynb", b""),
    ]
    answers = read_answers(files, SHEET)
    assert answers.file == "b.ipynb"
    notes = " ".join(answers.notes)
    assert "3 files" in notes
    assert FILE in notes
    assert "c.ipynb is no notebook" in notes


def test_a_script_with_cells_is_read_where_there_is_no_notebook():
    script = b"# %% [markdown]\n# # Title\n# %%\nimport numpy as np\n\n# %%\ndef double(x):\n    return 2 * x\n"
    answers = read(script, "answers.py")
    assert len(answers.cells) == 2
    assert "script" in answers.notes[0]


@pytest.mark.parametrize(
    "source", ["\n" * 900_000, "x = = 1\n" + " " * 900_000, "def double" * 90_000, "double " * 90_000]
)
def test_long_cells_are_read(source):  # those that looked at each place again took minutes
    read(book(code(source)))
    without_magics(source)
    top_level(source)
