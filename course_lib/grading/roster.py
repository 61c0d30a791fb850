"""Who is in the class: ids as they are, with names and what gradebooks want to know.

Source: the course's own.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from pathlib import Path

from course_lib.grading.csvfile import BadTable, read_csv

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


def read_roster(path: Path) -> dict[str, Student]:
    """Read a CSV with the column `student` (the id) and, as wanted, `COLUMNS`; {id: Student} in its order.

    `BadTable` names the line of an empty or repeated id. Source: the course's own.
    """
    students: dict[str, Student] = {}
    for row in read_csv(path, ("student",), COLUMNS):
        id = row.cells["student"]
        if not id.strip():
            raise BadTable(f"{path}, line {row.line}: the student's id is empty. Each line of a roster has one.")
        if id in students:
            raise BadTable(f"{path}, line {row.line}: student {id!r} is there already. Take one of the lines out.")
        students[id] = Student(id, *(row.cells[column].strip() for column in COLUMNS))
    return students


def same_student(id: str, students) -> str:
    """Return the id of `students` that is written as `id`, in whatever Unicode form a system stored it; "" if none.

    No errors. Source: Unicode annex 15.
    """
    if id in students:
        return id
    wanted = unicodedata.normalize("NFC", id.strip())
    return next((other for other in students if unicodedata.normalize("NFC", other) == wanted), "")
