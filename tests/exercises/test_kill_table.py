"""Each solution has full marks, each stub 0 and a friendly word, each wrong answer is rejected with its own message."""

import pytest
from notebook_lib.kill import kill_rows
from notebook_lib.sheets import read_sheet, sheet_problems

from course_lib.checks.exercise import LEVELS
from course_lib.checks.registry import SHEETS, sheet
from tests.setup.project import ROOT

SOLUTIONS = ROOT / "solutions"
LESSONS = [name for name in SHEETS if name[0].isdigit()]
each_sheet = pytest.mark.parametrize("name", SHEETS)


@each_sheet
def test_answers_get_what_they_deserve(name):
    rows = list(kill_rows(name, SOLUTIONS))
    assert [f"{row.id} {row.answer}: {row.problem}; told: {row.says}" for row in rows if row.problem] == []
    by_hand = [e.id for e in sheet(name).exercises if e.kind == "text"]
    judged = {row.id for row in rows}
    assert judged == {e.id for e in sheet(name).exercises} - set(by_hand)
    for id in judged:
        answers = [row.answer for row in rows if row.id == id]
        assert answers[:2] == ["solution", "stub"]
        assert len(answers) >= 6


@each_sheet
def test_a_sheet_says_what_the_registry_says(name):
    assert sheet_problems(read_sheet(SOLUTIONS / f"{name}.py"), name) == []


def test_there_are_enough_exercises_of_every_kind():
    kinds = {name: [e.kind for e in sheet(name).exercises] for name in SHEETS}
    assert min(len(kinds[name]) - kinds[name].count("text") for name in LESSONS) >= 3
    assert sum(kinds[name].count("function") for name in LESSONS) >= 36
    assert sum(kinds[name].count("kernel") for name in SHEETS) >= 8
    for name in ("06_training_an_mlp", "09_lenet5"):
        assert [e.kind for e in sheet(name).exercises if e.level == "project"].count("function") >= 3
        assert any(e.kind == "text" for e in sheet(name).exercises)


def test_every_lesson_has_a_warm_up_and_known_levels():
    for name in LESSONS:
        levels = {e.level for e in sheet(name).exercises}
        assert "warm-up" in levels, name
        assert levels <= set(LEVELS)


def test_ids_are_in_order_and_names_of_functions_are_used_once_a_sheet():
    for name in SHEETS:
        exercises = sheet(name).exercises
        numbers = [int(e.id.removeprefix(f"{name.split('_')[0]}.")) for e in exercises]
        assert numbers == (list(range(1, len(numbers) + 1)) if name in LESSONS else sorted(set(numbers))), name
        functions = [e.function for e in exercises if e.kind != "text"]
        assert len(set(functions)) == len(functions)
