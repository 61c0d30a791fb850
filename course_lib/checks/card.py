"""What a failing check shows: the call, what came back, what was expected, the likely cause, and where to read.

A `Card` is the content; `card_page` makes HTML of it and `card_text` plain text. In a notebook it is displayed, and
IPython prints one line for the exception. The words are the judge's, so a notebook, `course check` and a report of
the grader say the same.

Source: the course's own.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from course_lib.checks.judge import NOT_STARTED, given_of
from course_lib.checks.lesson_link import Lesson, lesson_of
from course_lib.checks.showing import call_of, launch_of, result_of
from course_lib.checks.values import resolve

CODE, PROSE = "code", "prose"
"""How a row's text is set."""


@dataclass(frozen=True)
class Row:
    """A line of a card: what it is, its text, and whether that is code. Source: the course's own."""

    label: str
    text: str
    look: str = CODE


def no_picture():
    """Return None: most failures need no picture. Source: the course's own."""


@dataclass(frozen=True)
class Card:
    """What is shown of an answer that is not right.

    Attributes
    ----------
    title : str
        "07.2 The columns that no window sees · not right yet".
    rows : tuple of Row
    lesson : Lesson or None
    concept : str
        What the exercise trains.
    trace : str
        The student's own lines on the way to the error; folded on a page.
    urgent : bool
        Whether it says that something is wrong; not of a stub.
    draw : callable
        draw() -> figures.Picture or None: what explains the failure of a kernel.

    Source: the course's own.
    """

    title: str
    rows: tuple[Row, ...]
    lesson: Lesson | None
    concept: str
    trace: str = ""
    urgent: bool = True
    draw: Callable = no_picture

    def _repr_mimebundle_(self, include=None, exclude=None):
        from course_lib.checks.card_page import page  # colours come from the figures, which take a moment to load

        return {"text/html": page(self), "text/plain": str(self)}

    def __str__(self):
        from course_lib.checks.card_text import text

        return text(self)

    __repr__ = __str__


def card_of(exercise, finding, trace="", folder="."):
    """Return the `Card` of a finding of a public case.

    Parameters
    ----------
    exercise : Exercise or KernelExercise
    finding : Finding
    trace : str
        Lines that led to the check.
    folder : str or Path
        Of the notebook.

    ValueError for a finding without facts, as those on hidden cases are. Source: the course's own.
    """
    lesson = lesson_of(exercise, folder)
    if finding.cause == NOT_STARTED:
        roughly = f"Roughly {exercise.lines} lines are to be written in place of `raise NotImplementedError`."
        return Card(f"{exercise.id} {exercise.title} · not written yet",
                    (Row("To do", roughly, PROSE),), lesson, exercise.concept, urgent=False)  # fmt: skip
    facts = finding.facts
    if facts is None:
        raise ValueError(f"{exercise.id}: a finding without facts is of a hidden case, which nobody may see.")
    outcome = facts.outcome
    own = outcome.origin.trace if outcome.origin else ""
    trace = "\n".join(filter(None, [trace, own, outcome.error or finding.cause]))
    return Card(f"{exercise.id} {exercise.title} · not right yet", tuple(_rows(exercise, facts)), lesson,
                exercise.concept, trace, draw=lambda: _picture(facts))  # fmt: skip


def _rows(exercise, facts):
    outcome, case = facts.outcome, facts.case
    note = f"# {case.note}\n" if case.note else ""
    yield Row("Call", note + _call(exercise, case, outcome))
    got, expected = _got_and_expected(exercise, facts)
    yield got
    yield expected
    if facts.detail:
        yield Row("Where", facts.detail, PROSE)
    if outcome.hazards and outcome.found:
        yield Row("What to do", outcome.found[0][1].fix, PROSE)
    if facts.why:
        known = not (outcome.hazards or facts.cost or outcome.changed)
        yield Row("Likely cause" if known else "What to do", facts.why, PROSE)


def _call(exercise, case, outcome):
    if outcome.calls:
        return launch_of(exercise.function, *outcome.calls[-1], exercise.arrays_of(case))
    return call_of(exercise.function, given_of(exercise, case))


def _got_and_expected(exercise, facts):
    """Return two rows: values in the same form, or what happened instead in words."""
    outcome = facts.outcome
    if outcome.hazards:
        return Row("Got", _hazard(outcome), PROSE), Row("Expected", "a launch without such a finding", PROSE)
    if facts.cost:
        counter, counted, most = facts.cost
        words = counter.replace("_", " ")
        return (
            Row("Got", f"the right numbers, for {'?' if counted is None else f'{counted:,}'} {words}", PROSE),
            Row("Expected", f"at most {most:,} {words}", PROSE),
        )
    if outcome.changed:
        return (
            Row("Got", f"{outcome.changed[0]} was changed in place", PROSE),
            Row("Expected", "arguments that are as before", PROSE),
        )
    right = _expected(exercise, facts.case)
    label = "For example" if exercise.requires else "Expected"  # several values are right, and this is one of them
    if outcome.stopped or outcome.error:
        what = outcome.error or f"no result: it does not end, and was stopped after {outcome.stopped:g} s"
        at = f"\nin {outcome.origin.place}" if outcome.origin else ""
        return Row("Got", what + at, PROSE), Row(label, result_of(right))
    return (
        Row("Got", result_of(outcome.value, facts.place, right)),
        Row(label, result_of(right, facts.place, outcome.value)),
    )


def _expected(exercise, case):
    with np.errstate(all="ignore"):
        return exercise.expect(*(resolve(a) for a in case.args))


def _hazard(outcome):
    """Return the first hazard as the judge says it, without what to do about it, which gets a row of its own."""
    text = outcome.hazards[0]
    if outcome.found:
        text = text.removesuffix(outcome.found[0][1].fix).rstrip()
    return text[0].upper() + text[1:]


def _picture(facts):
    """Return the picture of the first hazard, or of what costs too much; None for what none explains."""
    from course_lib.simt.show.explain import picture_of

    outcome = facts.outcome
    if outcome.hazards:
        pair = outcome.found[0] if outcome.found else None
    else:
        pair = outcome.causes.get(facts.cost[0]) if facts.cost else None
    return picture_of(*pair) if pair else None
