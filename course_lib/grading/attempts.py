"""Which of several attempts counts: the last, the best, or the last before the deadline.

Source: the course's own.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from course_lib.grading.deadline import Lateness
from course_lib.grading.final import decimal
from course_lib.grading.pick import CHOSEN, IF_TWO
from course_lib.grading.store import Store, file_name

RULES = ("last", "best", "before-deadline")


class AttemptStore(Store):
    """The results of attempts that are not the last, several for a student and sheet: told apart by their keys.

    Source: the course's own.
    """

    def get(self, student: str, sheet: str, key: str) -> dict | None:
        """Return the result kept under this key, None if there is none. No errors."""
        return _Keyed(self.folder, key).get(student, sheet, key)

    def put(self, result: dict, key: str) -> None:
        """Keep a result; OSError if the folder cannot be written."""
        _Keyed(self.folder, key).put(result, key)


class _Keyed(Store):
    def __init__(self, folder: Path, key: str):
        self.folder, self.key = folder, key

    def path(self, student: str, sheet: str) -> Path:
        return self.folder / f"{file_name(student)}--{file_name(sheet)}--{self.key[:16]}.json"


def attempts(submission) -> list:
    """Return a `Submission` for each attempt, the one that counts by itself last. No errors.

    Source: the course's own.
    """
    return [*reversed(submission.others), replace(submission, others=())]


def before_deadline(submission, late: Lateness):
    """Return the `Submission` of the last attempt that was in time; the last of all if none was, or no time is known.

    No errors. Source: the course's own.
    """
    tried = attempts(submission)
    if len(tried) == 1:
        return submission
    known = [(one, late.in_time(one, one.entries[0])) for one in tried]
    in_time = [one for one, fits in known if fits]
    if in_time:
        chosen = in_time[-1]
        why = "the last before the deadline"
    else:
        chosen = tried[-1]
        why = "the last; none was in time" if all(fits is False for _, fits in known) else "the last; no time is known"
    return replace(chosen, notes=(_says(tried, chosen, why), *_kept(submission)))


def undecided(line: str, rule: str) -> str:
    """Return a line on who has several notebooks without the one that counts, which another rule decides.

    Other lines stay as they are. No errors. Source: the course's own.
    """
    who, chosen, choice = line.partition(CHOSEN)
    if not chosen or IF_TWO not in choice:
        return line
    return f"{who}{chosen}--attempts {rule} decides, and the report says which one counts.{IF_TWO}"


def best(tried: list[tuple[object, dict]]) -> tuple[object, dict]:
    """Return the (submission, final result) with most points; of several with as many the last.

    The result has a note that says so. No errors. Source: the course's own.
    """
    at = max(range(len(tried)), key=lambda n: (Fraction(tried[n][1]["total"]), n))
    submission, result = tried[at]
    if len(tried) == 1:
        return submission, result
    points = ", ".join(f"{_name(one)}: {decimal(made['total'], 2)}" for one, made in tried)
    notes = [note for note in result["notes"] if CHOSEN not in note]
    says = f"{len(tried)} attempts, all graded ({points}): {_name(submission)} counts, the best."
    return submission, {**result, "notes": [says, *notes]}


def _says(tried: list, chosen, why: str) -> str:
    others = ", ".join(_name(one) for one in tried if one is not chosen)
    return f"{len(tried)} attempts: {_name(chosen)} counts, {why}; not {others}."


def _kept(submission) -> tuple[str, ...]:
    return tuple(note for note in submission.notes if CHOSEN not in note)


def _name(submission) -> str:
    return submission.entries[0].name if submission.entries else "nothing"
