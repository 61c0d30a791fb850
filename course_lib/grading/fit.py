"""How well a notebook fits a sheet: how many of its answers are written in it, and how many have a place in it.

One measure for who picks a student's file and for who reads it. Source: the course's own.
"""

import re
from typing import NamedTuple

_LESSON = re.compile(r"\s*# \d\d[a-z]? · (?!Exercises)")
_UNTOUCHED = ("", "*Your answer here.*", "Your answer here.", "YOUR ANSWER HERE")


class Fit(NamedTuple):
    """Exercises of a sheet that a notebook answers, and those that it has a cell or a function for; more is better.

    Source: the course's own.
    """

    answered: int
    held: int


NONE = Fit(0, 0)
"""Of a notebook that has nothing of the sheet."""


def fit(cells, exercises):
    """Return the `Fit` of a notebook's cells to a sheet's exercises.

    An untouched stub is held, not answered. A lesson has the name of its sheet and may define a function of the same
    name; it has nothing of the sheet. No errors. Source: the course's own.
    """
    answered = {e.id for e in exercises if _is_answered(cells, e)}
    with_a_cell = {e.id for e in exercises for c in cells if is_about(c.grade_id, e.id)}
    if not with_a_cell and len(answered) < 2 and is_lesson(cells):
        return NONE
    defined = {e.id for e in exercises if e.kind != "text" for c in _code(cells) if defines(c.source, e.function)}
    return Fit(len(answered), len(answered | with_a_cell | defined))


def is_lesson(cells):
    """Return whether a notebook begins as a lesson does: "# 01 · ", and not with the exercises. No errors.

    Source: the course's own.
    """
    return next((_LESSON.match(c.source) is not None for c in cells if c.kind == "markdown"), False)


def defines(source, function):
    """Return whether a text seems to define a function or to give its name a value. No errors.

    Source: the course's own.
    """
    return (
        re.search(rf"^[ \t]*(?:(?:async )?def {function}\b|{function}[ \t]*=(?!=))", source, re.MULTILINE) is not None
    )


def is_about(grade_id, id):
    """Return whether a cell's grade_id, which has no dots in nbgrader, ends in an exercise's id: "answer-04-2".

    No errors. Source: the course's own.
    """
    words = re.findall(r"[0-9A-Za-z]+", grade_id)
    wanted = id.split(".")
    return words[-len(wanted) :] == wanted


def _code(cells):
    return (c for c in cells if c.kind == "code")


def _is_answered(cells, exercise):
    if exercise.kind == "text":
        return any(is_about(c.grade_id, exercise.id) and c.source.strip() not in _UNTOUCHED for c in cells)
    return any(defines(c.source, exercise.function) and not _is_stub(c.source, exercise) for c in _code(cells))


def _is_stub(source, exercise):
    """Return whether nothing but words and comments stands between a function's head and the error of the stub."""
    raised = re.search(rf"raise NotImplementedError\([\"']{re.escape(exercise.id)}[\"']\)", source)
    if not raised:
        return False
    head = source.rfind(f"def {exercise.function}", 0, raised.start())
    body = source[source.find(":\n", head) + 1 : raised.start()] if head >= 0 else source[: raised.start()]
    if len(body) > 5_000:  # no stub of ours; and a pattern that looks far is slow on a hostile text
        return False
    body = re.sub(r'"""[^"]*(?:"{1,2}[^"]+)*"""', "", body)
    return not re.sub(r"#[^\n]*", "", body).strip()
