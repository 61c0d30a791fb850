"""A card of sheet 09 names one cause only: what two mistakes return is not the same where they are first seen."""

import numpy as np
import pytest

from course_lib.checks.exercises.lesson09 import EXERCISES

CAUSED = [e for e in EXERCISES if getattr(e, "causes", ())]


def text(value):
    """Return a value as text, so that tuples of arrays can be compared."""
    if isinstance(value, tuple | list):
        return "(" + ", ".join(text(v) for v in value) + ")"
    return np.array2string(np.round(np.asarray(value, dtype=float), 9), threshold=10**6)


def results(exercise, case):
    """Return {cause: what it returns} of a case, without causes that cannot be computed there."""
    found = {}
    for number, cause in enumerate(exercise.causes):
        try:
            found[number, cause.says] = text(cause.wrong(*case.args))
        except (ValueError, IndexError):
            continue
    return found


@pytest.mark.parametrize("exercise", CAUSED, ids=lambda e: e.id)
def test_each_cause_shows_in_a_public_case_and_there_it_is_the_only_one(exercise):
    shown = set()
    for case in exercise.cases:
        right, found = text(exercise.expect(*case.args)), results(exercise, case)
        for cause, value in found.items():
            if value == right or cause in shown:
                continue
            shown.add(cause)
            others = [t for (n, t), v in found.items() if v == value and t != cause[1]]
            assert not others, f"{exercise.id}, {case.note}: {cause[1]!r} and {others} return the same"
    assert shown == {(n, c.says) for n, c in enumerate(exercise.causes)}, "a cause shows in no public case"
