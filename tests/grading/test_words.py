"""An answer in words is found wherever a student wrote it, in every sheet, and an untouched sheet has none."""

import copy
import json
import re

import pytest

from course_lib.checks.registry import SHEETS, sheet
from course_lib.grading import words
from course_lib.grading.notebook import read_answers
from tests.setup.project import ROOT

QUESTIONS = [(name, e) for name in SHEETS for e in sheet(name).exercises if e.kind == "text"]
ANSWER = "The test digits decided nothing.\n\n## What I tried\n\n1. more neurons, 97 %\n2. a smaller rate"
SAYS = re.sub(r"\W+", " ", ANSWER)


def cells_of(name):
    return json.loads((ROOT / "exercises" / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]


def places(cells, exercise):
    """Return the numbers of the question's cell and of the one for its answer."""
    grade_id = f"answer-{exercise.id.replace('.', '-')}"
    answer = next(i for i, c in enumerate(cells) if grade_id in json.dumps(c["metadata"]))
    question = max(i for i in range(answer) if f"## {exercise.id}" in "".join(cells[i]["source"]))
    return question, answer


def cell(kind, source):
    return {"cell_type": kind, "source": source, "metadata": {}}


def in_its_cell(cells, question, answer):
    cells[answer]["source"] = ANSWER


def without_metadata(cells, question, answer):
    in_its_cell(cells, question, answer)
    for one in cells:
        one["metadata"] = {}


def other_metadata(cells, question, answer):
    in_its_cell(cells, question, answer)
    cells[answer]["metadata"] = {"nbgrader": {"grade_id": "cell-4f1c9a"}, "id": "xyz"}


def in_a_new_cell_below(cells, question, answer):
    cells.insert(answer + 1, cell("markdown", ANSWER))


def below_without_metadata(cells, question, answer):
    in_a_new_cell_below(cells, question, answer)
    for one in cells:
        one["metadata"] = {}


def in_two_cells(cells, question, answer):
    first, _, rest = ANSWER.partition("\n\n")
    cells[answer]["source"] = first
    cells.insert(answer + 1, cell("markdown", rest))


def below_the_stub(cells, question, answer):
    cells[answer]["source"] = f"*Your answer here.*\n\n{ANSWER}"


def in_the_questions_cell(cells, question, answer):
    cells[question]["source"] = "".join(cells[question]["source"]) + f"\n\n{ANSWER}"
    del cells[answer]


def in_the_questions_cell_above_the_stub(cells, question, answer):
    cells[question]["source"] = "".join(cells[question]["source"]) + f"\n\n{ANSWER}"
    cells[answer]["metadata"] = {}


def in_a_code_cell(cells, question, answer):
    cells[answer] = cell("code", ANSWER)


def as_comments(cells, question, answer):
    cells[answer] = cell("code", "\n".join(f"# {line}" for line in ANSWER.split("\n")))


def as_a_string(cells, question, answer):
    cells[answer] = cell("code", f'"""\n{ANSWER}\n"""')


def in_a_raw_cell(cells, question, answer):
    cells[answer] = cell("raw", ANSWER)


def with_code_between(cells, question, answer):
    without_metadata(cells, question, answer)
    cells.insert(answer, cell("code", "x = 1\nprint(x)"))
    cells.append(cell("code", "import numpy as np"))


def number_cut(cells, question, answer):
    without_metadata(cells, question, answer)
    source = "".join(cells[question]["source"])
    cells[question]["source"] = re.sub(r"## 0?(\d+)\.(\d+)", r"### Exercise \1.\2", source, count=1)


def title_only(cells, question, answer):
    without_metadata(cells, question, answer)
    cells[question]["source"] = re.sub(r"## [\d.]+ · ", "<h2>", "".join(cells[question]["source"]), count=1)


def question_deleted(cells, question, answer):
    in_its_cell(cells, question, answer)
    del cells[question]


def renumbered(cells, question, answer):
    number = re.search(r"## (\w+\.\d+)", "".join(cells[question]["source"]))[1]
    cells[:] = [cell("markdown", "# My notebook"), cell("markdown", f"Answer to {number}:\n\n{ANSWER}")]


def twice_its_id(cells, question, answer):
    first, _, rest = ANSWER.partition("\n\n")
    cells[answer]["source"] = first
    cells.insert(answer + 1, {**copy.deepcopy(cells[answer]), "source": rest})


def the_question_last(cells, question, answer):
    without_metadata(cells, question, answer)
    moved = cells[question : answer + 1]
    del cells[question : answer + 1]
    cells[3:3] = moved


SHAPES = [in_its_cell, without_metadata, other_metadata, in_a_new_cell_below, below_without_metadata, in_two_cells,
          below_the_stub, in_the_questions_cell, in_the_questions_cell_above_the_stub, in_a_code_cell, as_comments,
          as_a_string, in_a_raw_cell, with_code_between, number_cut, title_only, question_deleted, renumbered,
          twice_its_id, the_question_last]  # fmt: skip


def text_of(name, exercise, cells):
    content = json.dumps({"cells": cells, "nbformat": 4, "metadata": {}}).encode()
    return read_answers([(f"{name}.ipynb", content)], sheet(name)).texts[exercise.id]


@pytest.mark.parametrize("change", SHAPES, ids=lambda change: change.__name__)
def test_an_answer_is_found_where_it_stands(change):
    for name, exercise in QUESTIONS:
        cells = cells_of(name)
        change(cells, *places(cells, exercise))
        found = re.sub(r"\W+", " ", text_of(name, exercise, cells)).strip()
        assert SAYS.strip() in found, (exercise.id, found)
        assert change is renumbered or found == SAYS.strip(), exercise.id


def test_an_untouched_sheet_has_no_answer_with_metadata_or_without():
    for name, exercise in QUESTIONS:
        cells = cells_of(name)
        assert text_of(name, exercise, cells) == ""
        for one in cells:
            one["metadata"] = {}
        assert text_of(name, exercise, cells) == ""


@pytest.mark.parametrize("change", SHAPES, ids=lambda change: change.__name__)
def test_where_the_sheet_is_not_at_hand_nothing_of_an_answer_is_lost(change, monkeypatch, tmp_path):
    monkeypatch.setattr(words, "SHEETS", tmp_path)
    words._given.cache_clear()
    known = (in_the_questions_cell_above_the_stub,)  # only the sheet's own text tells it from the question
    for name, exercise in QUESTIONS:
        cells = cells_of(name)
        change(cells, *places(cells, exercise))
        found = re.sub(r"\W+", " ", text_of(name, exercise, cells)).strip()
        assert change in known or SAYS.strip() in found, exercise.id
    words._given.cache_clear()


def test_the_answer_ends_where_another_exercise_begins():
    name, exercise = QUESTIONS[0]
    cells = cells_of(name)
    the_question_last(cells, *places(cells, exercise))
    found = text_of(name, exercise, cells)
    assert found == ANSWER
    cells[5]["source"] += "\n\n### As in 06.6 the confusion shows\n\nfour and nine"
    assert text_of(name, exercise, cells).endswith("four and nine")


LONG = ("#" * 300_000, "- \n" * 60_000, "a\n---\n" * 40_000, "**a" * 60_000, "06.8 " * 40_000)


@pytest.mark.parametrize("source", LONG, ids=range(5))
def test_long_texts_are_read(source):
    name, exercise = QUESTIONS[0]
    cells = cells_of(name)
    cells.append(cell("markdown", source))
    cells.append(cell("code", source))
    assert isinstance(text_of(name, exercise, cells), str)
    assert text_of(name, exercise, cells_of(name)) == text_of(name, exercise, cells[:-2])  # it changed none above
