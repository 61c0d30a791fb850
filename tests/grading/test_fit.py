"""How well a notebook fits a sheet: the course's own sheets, solutions and lessons, and what students make of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from course_lib.checks.registry import SHEETS, sheet
from course_lib.grading.fit import NONE, Fit, fit, is_lesson
from course_lib.grading.keys import load_keys
from course_lib.grading.notebook_file import read_file
from tests.grading.handed_in import SHEET, lesson, notebook, scratch

ROOT = Path(__file__).resolve().parents[2]


def cells(content):
    return read_file("x.ipynb", content)[0]


def fit_of(folder, name):
    return fit(cells((ROOT / folder / f"{name}.ipynb").read_bytes()), sheet(name).exercises)


@pytest.mark.parametrize("name", SHEETS)
def test_a_solved_sheet_is_before_the_untouched_one_and_that_before_the_lesson(name):
    exercises = sheet(name).exercises
    solved, untouched = fit_of("solutions", name), fit_of("exercises", name)
    assert solved == Fit(len(exercises), len(exercises))
    assert untouched.held == len(exercises)
    to_mend = [key for key in load_keys(ROOT / "solutions" / "keys", name).values() if key.untouched]
    assert untouched.answered == len(to_mend)  # a broken answer that is handed out is there from the start
    if (ROOT / "notebooks" / f"{name}.ipynb").exists():
        assert fit_of("notebooks", name) == NONE < untouched < solved


def test_every_lesson_is_told_from_every_sheet():
    assert all(is_lesson(cells(path.read_bytes())) for path in (ROOT / "notebooks").glob("*.ipynb"))
    assert not any(is_lesson(cells(path.read_bytes())) for path in (ROOT / "exercises").glob("*.ipynb"))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (notebook(), Fit(5, 5)),
        (notebook(3), Fit(3, 5)),
        (notebook(0), Fit(0, 5)),
        (notebook(metadata=False), Fit(5, 5)),
        (notebook(2, stubs=False, metadata=False), Fit(2, 2)),
        (notebook(2, stubs=False, metadata=False, title="# 01 · The perceptron"), Fit(2, 2)),  # written into the lesson
        (lesson(), NONE),
        (scratch(), NONE),
    ],
)
def test_answers_count_before_places_for_them(content, expected):
    assert fit(cells(content), sheet(SHEET).exercises) == expected


@pytest.mark.parametrize(
    ("body", "answered"),
    [
        ('    raise NotImplementedError("01.1")', 0),
        ('    """Words, "quoted"."""\n    # About 4 lines.\n    raise NotImplementedError("01.1")', 0),
        ("    raise NotImplementedError('01.1')", 0),
        ('    w = 1\n    raise NotImplementedError("01.1")', 1),
        ("    pass", 1),
        ('    raise ValueError("01.1")', 1),
        ('    raise NotImplementedError("01.2")', 1),
    ],
)
def test_a_stub_is_what_was_handed_out_and_nothing_else(body, answered):
    cell = {"cell_type": "code", "source": f"def fit_line(x, y):\n{body}", "metadata": {}}
    content = json.dumps({"cells": [cell]}).encode()
    assert fit(cells(content), sheet(SHEET).exercises).answered == answered
