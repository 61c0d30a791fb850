"""A student's final result for a sheet: what the grader found, with points by hand and the penalty for being late.

The result of the grader stays as it is on disk; this is made from it anew in every run. Source: the course's own.
"""

from __future__ import annotations

from fractions import Fraction

from course_lib.grading.adjust import LateRule

NOTHING = "nothing handed in"


def missing(student: str, sheet: str, questions: list[dict], notes=(), reason: str = "", refused: bool = False) -> dict:
    """Return the result of a student of whom there is nothing to grade: no points for each of the sheet's questions.

    Parameters
    ----------
    student, sheet : str
    questions : list of dict
        The sheet's, without points.
    notes : sequence of str
    reason : str
        Why there is nothing; "" for "nothing was handed in".
    refused : bool
        Whether something was handed in that cannot be read: the status is then "unreadable".

    No errors. Source: the course's own.
    """
    status, says = "unreadable" if refused else NOTHING, reason or "Nothing was handed in for this sheet."
    return {
        **{"student": student, "sheet": sheet, "status": status, "says": says},
        **{"level": "", "key": "", "versions": {}, "seconds": 0.0, "output_bytes": 0, "boxes": 0, "notes": list(notes)},
        **{"questions": [{**question, "lost": [reason] if reason else []} for question in questions], "points": "0"},
        **{"of": sum(question["of"] for question in questions), "files": [], "answers": {}},
    }


def empty_questions(exercises, says: str = "") -> list[dict]:
    """Return a result's questions without a point, for a sheet's exercises. No errors. Source: the course's own."""
    return [
        {
            **{"id": one.id, "title": one.title, "kind": one.kind, "points": "0", "of": one.points, "seconds": 0.0},
            **{"parts": [], "lost": [says] if says else []},
        }
        for one in exercises
    ]


def finish(
    result: dict, manual=None, hours: Fraction | None = None, rule: LateRule | None = None, notes=(), questions=()
) -> dict:
    """Return a copy of a result with what is added by hand.

    Parameters
    ----------
    result : dict
        As the grader makes it; it is not changed.
    manual : mapping of {(student, question): Manual}
    hours : Fraction, optional
        How late it was handed in, by the instructor's list.
    rule : LateRule, optional
        What that costs.
    notes : sequence of str
        Put before the grader's own notes.
    questions : list of dict
        Taken where the grader has none, as it failed.

    The copy has `earned` (the sum), `penalty`, `total` (fractions as texts), `late` (a sentence or ""), `open` (the
    number of questions that wait for points by hand), and `manual` in each question ("" or a sentence). No errors.

    Source: the course's own.
    """
    manual = manual or {}
    done, waiting, earned = [], 0, Fraction(0)
    for question in result["questions"] or questions:
        given = manual.get((result["student"], question["id"]))
        question = {**question, "manual": "", "open": False, "lost": list(question.get("lost", ()))}
        if given:
            was = Fraction(question["points"])
            by_hand = question["kind"] == "text"
            question["manual"] = "Graded by hand" if by_hand else f"Corrected by hand, from {decimal(was)}"
            question["manual"] += f": {given.comment}" if given.comment else "."
            question["points"] = str(given.points)
            if by_hand or given.points == question["of"]:
                question["lost"] = []
        elif question["kind"] == "text" and result["status"] not in (NOTHING, "broken"):
            question["open"] = True
        waiting += question["open"]
        earned += Fraction(question["points"])
        done.append(question)
    off, units = rule.off(hours) if rule and hours else (Fraction(0), 0)
    penalty = earned * off
    says = ""
    if rule and hours:
        says = f"{_long(hours)} late, {units} {rule.unit}{'s' * (units != 1)} begun: "
        says += f"{decimal(off * 100)}% of {decimal(earned)} points are taken off, {decimal(penalty)}."
    return {
        **result,
        **{"questions": done, "notes": [*notes, *result["notes"]], "earned": str(earned), "penalty": str(penalty)},
        **{"total": str(earned - penalty), "late": says, "open": waiting, "of": sum(q["of"] for q in done)},
    }


def _long(hours: Fraction) -> str:
    """Return "30 hours", or with minutes where the hours are not whole: they come from a clock then."""
    if hours.denominator == 1:
        return f"{hours} hours"
    whole, minutes = divmod(max(1, round(hours * 60)), 60)
    return f"{whole} h {minutes} min"


def decimal(value, places: int = 4) -> str:
    """Return a number as a decimal of at most `places` places: 3/2 is "1.5", 4/3 is "1.3333". No errors.

    Source: the course's own.
    """
    value = Fraction(value)
    scaled = round(value * 10**places)
    whole, rest = divmod(abs(scaled), 10**places)
    text = f"{whole}.{rest:0{places}d}".rstrip("0").rstrip(".")
    return f"-{text}" if scaled < 0 else text


def is_exact(value, places: int = 4) -> bool:
    """Return whether `decimal` shows the whole number. No errors. Source: the course's own."""
    return (Fraction(value) * 10**places).denominator == 1
