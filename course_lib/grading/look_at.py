"""What an instructor should look at, for the whole class: look_at.csv, and rows for the summary.

Source: the course's own.
"""

from __future__ import annotations

from pathlib import Path

from course_lib.grading.csvfile import write_csv
from course_lib.grading.notices import NOTE

HEAD = ("student", "name", "question", "says")


def look_rows(results: list[dict], students: dict) -> list[list[str]]:
    """Return the rows of look_at.csv without head; what is said of several questions of a student is one row.

    Parameters
    ----------
    results : list of dict
        Final results, with their "notices".
    students : dict of {id: Student}

    No errors. Source: the course's own.
    """
    questions: dict[tuple[str, str], list[str]] = {}
    for result in results:
        for notice in result.get("notices", ()):
            questions.setdefault((result["student"], notice["says"]), []).append(notice["question"])
    rows = []
    for (id, says), asked in questions.items():
        student = students.get(id)
        rows.append([id, student.name if student else "", ", ".join(dict.fromkeys(asked)), says])
    return rows


def write_look_at(folder: Path, results: list[dict], students: dict) -> Path | None:
    """Write look_at.csv into a folder and return its path; None and no file if there is nothing.

    OSError if that fails. Source: the course's own.
    """
    path = folder / "look_at.csv"
    rows = look_rows(results, students)
    if not rows:
        path.unlink(missing_ok=True)
        return None
    write_csv(path, [list(HEAD), *rows, [NOTE]], excel=True)
    return path
