"""In whatever form a right value is returned, each exercise takes it, or none does, as ANSWERS.md says."""

import numpy as np
import pytest

from course_lib.checks.card import card_of
from course_lib.checks.exercise import Case
from course_lib.checks.judge import Outcome, judge
from course_lib.checks.values import decode, encode
from tests.exercises.returned_values import FLOAT32, FORMS, returned, right_values, wrong

VALUES = list(right_values())
KINDS = {"01.1", "01.4", "02.1", "02.2", "03.3", "04.4", "05.2", "05.3", "06.4", "07.1", "08.8", "09.2",
         "09.5", "12.6"}  # fmt: skip
"""Exercises that together expect each kind of value."""


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of np.matrix
def test_a_form_of_a_right_value_counts_in_all_exercises_or_in_none(form):
    tried = []
    for exercise, arguments, right in VALUES:
        value, has_it = returned(form, right)
        if has_it:
            tried.append(exercise.id)
            assert (wrong(exercise, arguments, right, value) is None) == form.counts, exercise.id
    assert tried


def test_float32_counts_unless_digits_are_missing_and_then_it_is_said():
    said = 0
    for exercise, arguments, right in VALUES:
        value, has_it = returned(FLOAT32, right)
        if has_it and (found := wrong(exercise, arguments, right, value)) is not None:
            said += 1
            assert found.kind == "wrong numbers"
            assert "float32, which keeps about 7 digits: compute in float64" in found.hint, exercise.id
    assert said > 10


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of np.matrix
def test_every_form_that_is_refused_can_be_shown_on_a_card_and_told_without_its_numbers(form):
    for exercise, arguments, right in (v for v in VALUES if v[0].id in KINDS):
        value, has_it = returned(form, _spoiled(right))
        if not has_it:
            continue
        outcome, case = Outcome(decode(encode(value))), Case(tuple(arguments))
        found = judge(exercise, case, outcome)
        assert found is not None, exercise.id
        card = str(card_of(exercise, found))
        assert "Got" in card
        hidden = judge(exercise, case, outcome, reveal=False)
        assert "712345" not in hidden.says


def _spoiled(value):
    """Return a value of the same form whose first number is another one."""
    if isinstance(value, np.ndarray):
        value = value.copy()
        value[(0,) * value.ndim] = ~value.flat[0] if value.dtype == bool else 712345
        return value
    if isinstance(value, list | tuple):
        return type(value)([_spoiled(value[0]), *value[1:]]) if value else type(value)([712345])
    if isinstance(value, dict):
        return {key: 712345.5 for key in value}
    return value + "x" if isinstance(value, str) else not value if isinstance(value, bool) else type(value)(712345)
