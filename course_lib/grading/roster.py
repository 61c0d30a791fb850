"""Who is in the class: ids as they are, with names and what gradebooks want to know.

Source: the course's own.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from course_lib.grading.csvfile import BadTable, read_csv
from course_lib.grading.from_spreadsheet import ROUNDED, as_text, is_rounded, rows_of
from course_lib.grading.pick import Submission

if TYPE_CHECKING:
    from course_lib.grading.submissions import Collected

COLUMNS = ("name", "email", "sis_id", "login", "section")


@dataclass(frozen=True)
class Student:
    """A student: the id that files and tables use, kept exactly, and what a roster says. Source: the course's own."""

    id: str
    name: str = ""
    email: str = ""
    sis_id: str = ""
    login: str = ""
    section: str = ""


MOST_LINES = 5
"""Who is in no roster and has a line each."""


def read_roster(path: Path) -> dict[str, Student]:
    """Read a CSV with the column `student` (the id) and, as wanted, `COLUMNS`; {id: Student} in its order.

    `BadTable` names the line of an empty or repeated id. Source: the course's own.
    """
    students: dict[str, Student] = {}
    for row in read_csv(path, ("student",), COLUMNS):
        id = _id(row.cells["student"])
        if is_rounded(id) and "e+" in id.lower():
            raise BadTable(f"{path}, line {row.line}: student {id!r} {ROUNDED}")
        if not id.strip():
            raise BadTable(f"{path}, line {row.line}: the student's id is empty. Each line of a roster has one.")
        if id in students:
            raise BadTable(f"{path}, line {row.line}: student {id!r} is there already. Take one of the lines out.")
        students[id] = Student(id, *(row.cells[column].strip() for column in COLUMNS))
    return students


def _id(written: str) -> str:
    """Return an id as it is, but for what a spreadsheet puts around a text."""
    return as_text(written) if written[:1] in "'=" and as_text(written) != written else written.strip("\ufeff")


def with_roster(found: Collected, roster: dict[str, Student]) -> Collected:
    """Return what was collected with the students of a roster first, in its order, and their names.

    An id is found in its composed form too, and one whose leading zeros a spreadsheet took away gets them back where
    one student alone can be meant: nobody is there twice. Who is in no roster comes after, with a line that says it.
    No errors. Source: the course's own.
    """
    forms = {unicodedata.normalize("NFC", id): id for id in found.students}
    zeros = rows_of(roster, found.students)
    written: dict[str, str] = {}  # id of the submissions -> id of the tables
    students: dict[str, Student] = {}
    problems, strangers = [], []
    for id, row in roster.items():
        form = unicodedata.normalize("NFC", id)
        theirs = zeros.get(id) or forms.get(form) or forms.get(form.strip())
        if id in zeros:
            problems.append(f"the roster's {id} is taken for {theirs}: a spreadsheet took its leading zeros away")
        if theirs and (id in zeros or form not in forms):  # zeros or spaces apart, the files' id is the true one
            row = replace(row, id=theirs)
        elif theirs:
            written[theirs] = id
        if met := found.students.get(theirs):
            more = dict(name=row.name or met.name, email=row.email or met.email, section=row.section or met.section)
            row = replace(row, **more)
        students[row.id] = row
    for id, student in found.students.items():
        if written.get(id, id) not in students:
            students[id] = student
            strangers.append(id)
    problems += _strange(strangers, students, [id for id in roster if id not in found.students])
    there = {(written.get(one.student, one.student), one.sheet): one for one in found.submissions}
    submissions = []
    for id in students:
        for sheet in found.sheets:
            one = there.get((id, sheet)) or Submission(id, sheet)
            submissions.append(one if one.student == id else replace(one, student=id))
    return replace(found, students=students, submissions=submissions, problems=[*found.problems, *problems])


def _strange(strangers: list[str], students: dict[str, Student], absent: list[str]) -> list[str]:
    """Say who is not in the roster: a line each, or one for many, as the roster then has other ids than the files."""
    if len(strangers) <= MOST_LINES:
        lines = [f"{id} is not in the roster, and is graded too" for id in strangers]
    else:
        few = ", ".join(strangers[:MOST_LINES])
        more = f" and {len(strangers) - MOST_LINES} more"
        lines = [f"{len(strangers)} who handed in are not in the roster, and are graded too: {few}{more}"]
    names = {students[id].name.casefold(): id for id in absent if id in students and students[id].name}
    for id in strangers:
        if other := names.get(students[id].name.casefold()):
            lines.append(
                f"{students[id].name} is {id} in what was handed in and {other} in the roster, and has two rows: the "
                "roster's column student holds the ids of grades.csv"
            )
            break
    return lines
