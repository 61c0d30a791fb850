"""`check("04.2", my_function)`: the public check of an exercise, at once and offline.

A wrong answer shows a card and raises `CheckFailed`. Only what is displayed can be HTML, so the card is displayed; only
an exception stops "Run all" and is seen by graders, so one is raised too, and IPython prints one line for it, since it
has `_render_traceback_`, IPython's own way for that. Outside of a notebook nothing is displayed, and the exception
says the same in a sentence.

Source: the course's own.
"""

import sys

from course_lib.checks.calling import call_here
from course_lib.checks.card import card_of
from course_lib.checks.forbidden import forbidden_use
from course_lib.checks.judge import NOT_STARTED, judge
from course_lib.checks.live_text import live_text
from course_lib.checks.origin import own_calls
from course_lib.checks.registry import find, sheet_of

_SOLVED = set()
"""Ids of the exercises that were solved in this process."""


class CheckFailed(AssertionError):
    """An answer is not right yet; the message says where, and what was expected. Source: the course's own."""

    short = ""
    """What IPython prints below a card that was displayed."""

    def _render_traceback_(self):
        return [f"{type(self).__name__}: {self.short or self}"]


def check(id, answer):
    """Run the public check of an exercise and print how far the sheet is.

    Parameters
    ----------
    id : str
        Such as "04.2".
    answer : function, or kernel
        What you wrote; for a kernel, the name below @gpu.jit.

    Raises
    ------
    CheckFailed
        With the first call that is wrong, what was expected, and the usual cause; a notebook shows them as a card. So
        it does with an answer that has not ended after `time_limit.SECONDS`.
    LookupError
        If there is no such exercise.
    TypeError
        If the answer is no function, or the exercise is answered in words.

    Source: the course's own.
    """
    exercise = find(id)
    if exercise.kind == "text":
        raise TypeError(f"{id} is answered in words; there is nothing to check.")
    if not callable(answer) and not hasattr(answer, "py_func"):
        raise TypeError(f"{id} needs {exercise.function} itself, without brackets; got {type(answer).__name__}.")
    for case in exercise.cases:
        finding = judge(exercise, case, _run(exercise, answer, case))
        if finding is not None:
            _SOLVED.discard(id)
            raise _failed(exercise, finding) from None
    if exercise.instead_of and (says := forbidden_use(exercise, live_text(exercise.function, answer))):
        _SOLVED.discard(id)
        raise CheckFailed(f"{id}: right, but {says}")
    _SOLVED.add(id)
    progress = _progress(sheet_of(id).exercises)
    print(f"{id} {exercise.title}: right in all {len(exercise.cases)} public cases. {progress}")


def _progress(exercises):
    """Return how many of a sheet's exercises are solved; those in words nobody can check here."""
    mine = [e.id for e in exercises if e.kind != "text"]
    solved, words = sum(i in _SOLVED for i in mine), len(exercises) - len(mine)
    if not words:
        return f"Solved: {solved} of {len(mine)}."
    return f"Solved: {solved} of the {len(mine)} that are checked here; {words} more to answer in words."


def _failed(exercise, finding):
    """Show a card where there is a notebook, and return the exception."""
    error = CheckFailed(f"{exercise.id}: {finding.says}")
    if _in_ipython():
        from IPython.display import display

        display(card_of(exercise, finding, own_calls()))
        state = "written" if finding.cause == NOT_STARTED else "right"
        error.short = f"{exercise.id} is not {state} yet; the card above says more."
    return error


def _in_ipython():
    """Return whether IPython runs this; it is not loaded to find out."""
    return "IPython" in sys.modules and sys.modules["IPython"].get_ipython() is not None


def _run(exercise, answer, case):
    if exercise.kind == "kernel":
        from course_lib.checks.kernels import run_here  # the executor is loaded only where a kernel is checked

        return run_here(exercise, answer, case)
    return call_here(answer, case)
