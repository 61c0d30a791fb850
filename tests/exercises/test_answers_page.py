"""ANSWERS.md, the page for students, says what the checks do: each of its examples is tried."""

import json
import re
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction

import numpy as np
import pytest

from course_lib.checks.calling import call_answer
from course_lib.checks.card import card_of
from course_lib.checks.exercise import Case, Exercise
from course_lib.checks.judge import Outcome, judge
from course_lib.checks.values import decode
from course_lib.grading.release import FILES, README
from tests.setup.project import ROOT

NAMES = {
    "np": np, "Fraction": Fraction, "Decimal": Decimal, "deque": deque, "defaultdict": defaultdict,
    "OrderedDict": OrderedDict, "Counter": Counter, "Level": IntEnum("Level", {"HIGH": 3}),
    "Triple": namedtuple("Triple", "a b c"),
}  # fmt: skip


def _rows():
    """Yield (expected, [what counts], [(what does not, words)]) of the page's table, as expressions."""
    for line in (ROOT / "ANSWERS.md").read_text(encoding="utf-8").splitlines():
        if not line.startswith("| ") or line.startswith("| expected"):
            continue
        expected, also, wrong = (cell.strip() for cell in line[1:-1].split("|"))
        refused = [re.fullmatch(r"`([^`]+)`: (.+)", part).groups() for part in wrong.split("<br>")]
        yield re.search(r"`(.+)`", expected)[1], re.findall(r"`([^`]+)`", also), refused


ROWS = list(_rows())


def finding(returned, expected):
    """Return what a check says of an expression's value where that of another one is due, as after the box."""
    exercise = Exercise("00.1", "f", "t", 1, "core", "c", "s", 1, lambda: eval(expected, NAMES), (Case(()),))
    value, error, _ = call_answer(lambda: eval(returned, NAMES), ())
    assert not error
    found = judge(exercise, exercise.cases[0], Outcome(decode(json.loads(json.dumps(value)))))
    return found and (found, exercise)


@pytest.mark.parametrize(("expected", "returned"), [(e, v) for e, also, _ in ROWS for v in [e, *also]])
def test_what_the_page_says_counts_does(expected, returned):
    assert finding(returned, expected) is None


@pytest.mark.parametrize(("expected", "returned", "words"), [(e, *pair) for e, _, no in ROWS for pair in no])
def test_what_the_page_says_does_not_count_does_not_and_is_told_in_its_words(expected, returned, words):
    found, exercise = finding(returned, expected)
    assert words in found.says
    assert str(card_of(exercise, found))  # it can be shown


def test_the_page_has_a_row_for_each_kind_that_an_exercise_expects():
    kinds = {type(eval(expected, NAMES)) for expected, *_ in ROWS}
    assert kinds == {float, int, bool, str, list, tuple, dict, np.ndarray, type(None)}
    assert sum(len(also) for _, also, _ in ROWS) >= 30


def test_students_get_the_page_and_are_led_to_it():
    assert "ANSWERS.md" in FILES
    assert "ANSWERS.md" in README
    for document in ("README.md", "INSTRUCTORS.md"):
        assert "(ANSWERS.md)" in (ROOT / document).read_text(encoding="utf-8")
