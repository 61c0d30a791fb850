"""Points given by hand and days late, read from an instructor's CSV files; each line is checked before anything counts.

Source: the course's own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from course_lib.grading.csvfile import BadTable, read_csv
from course_lib.grading.roster import same_student


@dataclass(frozen=True)
class Manual:
    """Points that an instructor gives a question, and why. Source: the course's own."""

    points: Fraction
    comment: str


def read_manual(path: Path, students, most: Mapping[str, Fraction]) -> dict[tuple[str, str], Manual]:
    """Read a CSV with the columns student, question, points and, as wanted, comment; no points: not graded yet.

    Parameters
    ----------
    path : Path
    students : collection of str
        The ids that there are.
    most : mapping
        {question's id: points that it can have}; 0 <= points <= most.

    Raises `BadTable`, which names the line. Source: the course's own.
    """
    found: dict[tuple[str, str], Manual] = {}
    for row in read_csv(path, ("student", "question", "points"), ("comment",)):
        where = f"{path}, line {row.line}"
        student = _student(where, row.cells["student"], students)
        question = row.cells["question"].strip()
        if question not in most:
            raise BadTable(f"{where}: no question {question!r} is graded here; there are {', '.join(most)}.")
        if not row.cells["points"].strip():
            continue
        points = _number(where, "points", row.cells["points"])
        if points > most[question]:
            given = row.cells["points"].strip()
            raise BadTable(f"{where}: {given} points for question {question}, which has 0 to {most[question]}.")
        if (student, question) in found:
            raise BadTable(f"{where}: question {question} of {student!r} is there already. Take one of the lines out.")
        found[student, question] = Manual(points, row.cells["comment"].strip())
    return found


def read_late(path: Path, students, sheets) -> dict[tuple[str, str], Fraction]:
    """Read a CSV with the column student, hours or days late and, if there are several sheets, sheet.

    Returns {(student, sheet): hours}; without a sheet the line is for all of them. Raises `BadTable`, which names the
    line. Source: the course's own.
    """
    found: dict[tuple[str, str], Fraction] = {}
    for row in read_csv(path, ("student",), ("hours", "days", "sheet")):
        where = f"{path}, line {row.line}"
        student = _student(where, row.cells["student"], students)
        given = [unit for unit in ("hours", "days") if row.cells[unit].strip()]
        if len(given) != 1:
            raise BadTable(f"{where}: {' and '.join(given) or 'no time'}; give hours or days, one of the two.")
        hours = _number(where, given[0], row.cells[given[0]]) * (24 if given[0] == "days" else 1)
        named = row.cells["sheet"].strip()
        if named and named not in sheets:
            raise BadTable(f"{where}: no sheet {named!r} is graded here; there are {', '.join(sheets)}.")
        for sheet in [named] if named else sheets:
            if (student, sheet) in found:
                raise BadTable(f"{where}: {student!r} is there already for {sheet}. Take one of the lines out.")
            found[student, sheet] = hours
    return found


@dataclass(frozen=True)
class LateRule:
    """What being late costs: a share of the points reached for each day or hour begun, up to a share.

    Attributes
    ----------
    share : Fraction
        Of the points reached, for each unit of time that has begun.
    hours : int
        The unit: 24, 1 or 168.
    most : Fraction
        The largest share that is taken off, 1 if no limit is given.
    grace : Fraction
        Hours that cost nothing and are not counted.

    Source: the course's own.
    """

    share: Fraction
    hours: int
    most: Fraction = Fraction(1)
    grace: Fraction = Fraction(0)

    def off(self, late: Fraction) -> tuple[Fraction, int]:
        """Return the share taken off for being `late` hours late, and the units that have begun. No errors."""
        units = max(0, math.ceil((late - self.grace) / self.hours))
        return min(self.share * units, self.most), units

    @property
    def unit(self) -> str:
        """ "day", "hour" or "week"."""
        return {24: "day", 1: "hour", 168: "week"}[self.hours]


def read_rule(text: str) -> LateRule:
    """Read a rule such as "10%/day,max 50%" or "1%/hour,max 100%,grace 2 hours".

    `BadTable` shows how a rule is written. Source: the course's own.
    """
    first, *rest = [part.strip().lower() for part in text.split(",")]
    number = r"(\d{1,3}(?:\.\d{1,4})?)"
    found = re.fullmatch(rf"{number}\s*%\s*/\s*(day|hour|week)", first)
    options = {}
    for part in rest:
        if limit := re.fullmatch(rf"max\s+{number}\s*%", part):
            options["most"] = Fraction(limit[1]) / 100
        elif grace := re.fullmatch(rf"grace\s+{number}\s*(hour|day)s?", part):
            options["grace"] = Fraction(grace[1]) * (24 if grace[2] == "day" else 1)
        else:
            found = None
    if not found or not 0 < Fraction(found[1]) <= 100 or options.get("most", 0) > 1:
        raise BadTable(
            f"the rule for late work is {text!r}; it is a share from 0% to 100% for each day, hour or week begun, and, "
            "as wanted, the most and a time of grace: 10%/day,max 50%,grace 2 hours"
        )
    return LateRule(Fraction(found[1]) / 100, {"day": 24, "hour": 1, "week": 168}[found[2]], **options)


def _student(where: str, id: str, students) -> str:
    found = same_student(id, students)
    if not found:
        raise BadTable(f"{where}: no student {id!r} among the {len(students)} graded. Write the id as in grades.csv.")
    return found


def _number(where: str, what: str, text: str) -> Fraction:
    """Read 2, 2.5, 2,5 or 5/2; nothing below zero, and nothing that is no number."""
    plain = text.strip().replace(",", ".")
    if not re.fullmatch(r"\d{1,6}(\.\d{1,6})?|\d{1,6}/0*[1-9]\d{0,5}", plain):
        raise BadTable(
            f"{where}: {what} is {text.strip()!r}; it must be a number such as 2, 2.5 or 5/2, not below zero."
        )
    return Fraction(plain)
