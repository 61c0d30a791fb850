"""No finding on a hidden case says what an answer was given, whatever the answer calls its errors."""

import builtins

import pytest

from course_lib.checks.exercise import Case, Exercise, KernelExercise
from course_lib.checks.judge import KNOWN_ERRORS, Outcome, judge

FACTS = ("00.1", "f", "t", 1, "core", "c", "s", 1, lambda x: x, (Case((1,)),))
FUNCTION, KERNEL = Exercise(*FACTS), KernelExercise(*FACTS)


def said(exercise, error, reveal=False):
    finding = judge(exercise, Case((1,)), Outcome(error=error), reveal)
    return f"{finding.says} {finding.cause}"


@pytest.mark.parametrize("error", ["X918273: y", "918273", "KernelError: 918273", "ValueError: 918273", "Ends918273"])
def test_an_error_of_an_answers_own_is_not_named_on_a_hidden_case(error):
    assert "918273" not in said(FUNCTION, error)


@pytest.mark.parametrize("name", ["ZeroDivisionError", "RecursionError", "ProcessEnded", "NameError", "LinAlgError"])
def test_a_known_error_is_named(name):
    assert f"raises {name}." in said(FUNCTION, f"{name}: 918273")


def test_an_answer_cannot_choose_among_all_errors_that_there_are():
    names = [name for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, Exception)]
    told = {said(FUNCTION, f"{name}: 918273") for name in [*names, *KNOWN_ERRORS]}
    assert len(told) <= 20  # a few bits of a hidden part


def test_a_public_case_tells_all_and_a_statistic_only_known_names():
    assert "raises X918273: y." in said(FUNCTION, "X918273: y", reveal=True)
    assert judge(FUNCTION, Case((1,)), Outcome(error="X918273: y")).cause == "another error"


def test_what_is_wrong_with_a_kernels_text_is_told_on_hidden_cases_too():
    assert "line 3: no import here" in said(KERNEL, "KernelError: line 3: no import here")
