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
from course_lib.grading.from_spreadsheet import Ids, Unclear, find_question, read_points


@dataclass(frozen=True)
class Manual:
    """Points that an instructor gives a question, and why. Source: the course's own."""

    points: Fraction
    comment: str


def read_manual(path: Path, students, most: Mapping[str, Fraction]) -> dict[tuple[str, str], Manual]:
    """Read a CSV with the columns student, question, points and, as wanted, comment, exact; no points: not graded yet.

    A file that went through a spreadsheet is read as what it was before: 6.8 is 06.8, 12345 is 0012345, and
    0.333333333 with 1/3 in the column `exact` is 1/3.

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
    lines: dict[tuple[str, str], int] = {}
    ids = Ids(students)
    for row in read_csv(path, ("student", "question", "points"), ("comment", "exact")):
        where = f"{path}, line {row.line}"
        student = student_in(where, row.cells["student"], ids)
        question = _question(where, row.cells["question"], most)
        if not row.cells["points"].strip():
            continue
        points = _number(where, "points", row.cells["points"], row.cells["exact"], question)
        if points > most[question]:
            given = row.cells["points"].strip()
            raise BadTable(f"{where}: {given} points for question {question}, which has 0 to {most[question]}.")
        if (student, question) in found:
            before = f"is there already, in line {lines[student, question]}"
            raise BadTable(f"{where}: question {question} of {student!r} {before}. Take one of the lines out.")
        lines[student, question] = row.line
        found[student, question] = Manual(points, row.cells["comment"].strip())
    return found


def read_late(path: Path, students, sheets) -> dict[tuple[str, str], Fraction]:
    """Read a CSV with the column student, hours or days late and, if there are several sheets, sheet.

    Returns {(student, sheet): hours}; without a sheet the line is for all of them. Raises `BadTable`, which names the
    line. Source: the course's own.
    """
    found: dict[tuple[str, str], Fraction] = {}
    ids = Ids(students)
    for row in read_csv(path, ("student",), ("hours", "days", "sheet")):
        where = f"{path}, line {row.line}"
        student = student_in(where, row.cells["student"], ids)
        given = [unit for unit in ("hours", "days") if row.cells[unit].strip()]
        if len(given) != 1:
            raise BadTable(f"{where}: {' and '.join(given) or 'no time'}; give hours or days, one of the two.")
        hours = read_hours(where, given[0], row.cells[given[0]])
        put_for_sheets(found, where, student, row.cells["sheet"], sheets, hours)
    return found


def put_for_sheets(found, where: str, student: str, named: str, sheets, value) -> None:
    """Put a line's value in {(student, sheet): value}, for the sheet that it names, or for all; else `BadTable`.

    Source: the course's own.
    """
    named = named.strip()
    if named and named not in sheets:
        raise BadTable(f"{where}: no sheet {named!r} is graded here; there are {', '.join(sheets)}.")
    for sheet in [named] if named else sheets:
        if (student, sheet) in found:
            raise BadTable(f"{where}: {student!r} is there already for {sheet}. Take one of the lines out.")
        found[student, sheet] = value


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


def read_hours(where: str, unit: str, text: str) -> Fraction:
    """Return the hours of a number of "days" or "hours"; `BadTable` if it is none. Source: the course's own."""
    return _number(where, unit, text) * (24 if unit == "days" else 1)


def student_in(where: str, id: str, ids: Ids) -> str:
    """Return the id that is meant; `BadTable`, which begins with `where`, if there is none.

    Source: the course's own.
    """
    try:
        found = ids.find(id)
    except Unclear as error:
        raise BadTable(f"{where}: student {error}") from None
    if not found:
        raise BadTable(f"{where}: no student {id!r} among the {len(ids.ids)} graded. Write the id as in grades.csv.")
    return found


def _question(where: str, text: str, most: Mapping[str, Fraction]) -> str:
    try:
        found = find_question(text, most)
    except Unclear as error:
        raise BadTable(f"{where}: question {error}") from None
    if not found:
        raise BadTable(f"{where}: no question {text.strip()!r} is graded here; there are {', '.join(most)}.")
    return found


def _number(where: str, what: str, text: str, exact: str = "", question: str = "") -> Fraction:
    try:
        return read_points(text, exact, question)
    except ValueError as error:
        raise BadTable(f"{where}: {what} is {text.strip()!r}; it {error}.") from None
