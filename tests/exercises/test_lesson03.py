"""The causes of sheet 03: where a mistake first shows, it is the one that is named, so none is blamed by chance."""

from pathlib import Path

import numpy as np
import pytest

from course_lib.checks.differences import difference
from course_lib.checks.exercises.lesson03 import EXERCISES


def value_of(cause, case):
    """What an answer with this mistake returns, or None where the mistake is not possible."""
    try:
        with np.errstate(all="ignore"):
            return floats(cause.wrong(*case.args))
    except Exception:
        return None


def floats(value):
    return [floats(v) for v in value] if isinstance(value, tuple | list) else np.asarray(value, dtype=float)


def same(one, other, exercise):
    """As the judge compares an answer with a cause."""
    if one is None or other is None:
        return False
    return difference(one, other, max(exercise.rtol, 1e-9), exercise.atol) is None


@pytest.fixture(scope="module", params=EXERCISES, ids=lambda e: e.id)
def shown(request):
    """An exercise, and {place of a cause: (case where it first shows, places of the causes that fit there)}."""
    exercise, found = request.param, {}
    for case in exercise.cases:
        right, values = floats(exercise.expect(*case.args)), [value_of(cause, case) for cause in exercise.causes]
        for k, mistaken in enumerate(values):
            if k not in found and mistaken is not None and not same(mistaken, right, exercise):
                found[k] = case, [j for j, other in enumerate(values) if same(mistaken, other, exercise)]
    return exercise, found


def test_the_cause_that_is_named_is_the_mistake_that_was_made(shown):
    exercise, found = shown
    says = [cause.says for cause in exercise.causes]
    blamed = [(says[k], says[fitting[0]], case.note) for k, (case, fitting) in found.items() if fitting[0] != k]
    assert blamed == []


def test_every_named_mistake_shows_in_a_public_case(shown):
    exercise, found = shown
    assert [cause.says for k, cause in enumerate(exercise.causes) if k not in found] == []


def test_every_card_names_a_section_that_the_lesson_has():
    lesson = Path(__file__).parents[2] / "notebooks" / "03_loss_and_gradient_descent.py"
    lines = lesson.read_text(encoding="utf-8").splitlines()
    assert [e.id for e in EXERCISES if f"# ## {e.section}" not in lines] == []
