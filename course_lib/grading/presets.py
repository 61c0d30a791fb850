"""The grades as other systems import them: Canvas, Moodle, nbgrader.

Source: Canvas's gradebook import, Moodle's offline grading worksheet, nbgrader 0.9's export: their column names.
"""

from __future__ import annotations

from pathlib import Path

from course_lib.grading.csvfile import write_csv
from course_lib.grading.final import decimal
from course_lib.grading.tables import by_student

PRESETS = ("canvas", "moodle", "nbgrader")
NBGRADER = (
    *("assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email"),
    *("raw_score", "late_submission_penalty", "score", "max_score"),
)


def write_preset(name: str, folder: Path, results: list[dict], students: dict, sheets) -> list[Path]:
    """Write the files of a preset and return their paths: grades_<name>.csv, for Moodle one a sheet.

    A submission for which the grader failed has an empty grade, so that an import leaves alone what is there.
    LookupError for another name; OSError if a file cannot be written. Source: the three systems' own.
    """
    if name not in PRESETS:
        raise LookupError(f"there is no preset {name!r}; there are {', '.join(PRESETS)}.")
    rows = {"canvas": canvas_rows, "nbgrader": nbgrader_rows}
    tables = {f"grades_{name}.csv": rows[name](results, students, sheets)} if name in rows else {}
    if name == "moodle":
        tables = {f"grades_moodle_{sheet}.csv": moodle_rows(results, students, sheet) for sheet in sheets}
    for file, table in tables.items():
        write_csv(folder / file, table)
    return [folder / file for file in tables]


def canvas_rows(results: list[dict], students: dict, sheets) -> list[list[str]]:
    """Return the rows that Canvas imports: its five columns, one a sheet, and the row with the points possible.

    Rename a sheet's column to the assignment's own, with its number, "Sheet 4 (1234)". No errors.
    Source: Canvas's gradebook import.
    """
    handed = by_student(results)
    most = {sheet: next((decimal(r["of"]) for r in results if r["sheet"] == sheet), "") for sheet in sheets}
    rows = [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *sheets]]
    rows.append(["    Points Possible", "", "", "", "", *most.values()])
    for id, student in students.items():
        grades = [_grade(handed.get(id, {}).get(sheet)) for sheet in sheets]
        number = id if id.isdecimal() else ""
        sis = student.sis_id or ("" if number else id)
        rows.append([student.name or id, number, sis, student.login, student.section, *grades])
    return rows


def moodle_rows(results: list[dict], students: dict, sheet: str) -> list[list[str]]:
    """Return the rows for Moodle: of a grading worksheet (identifier) and of the gradebook (ID number, email).

    No errors. Source: Moodle's offline grading worksheet.
    """
    handed = by_student(results)
    rows = [["Identifier", "Full name", "ID number", "Email address", "Grade", "Maximum Grade"]]
    for id, student in students.items():
        result = handed.get(id, {}).get(sheet)
        identifier = f"Participant {id}" if id.isdecimal() else ""
        number = student.sis_id or ("" if identifier else id)
        most = decimal(result["of"]) if result else ""
        rows.append([identifier, student.name, number, student.email, _grade(result), most])
    return rows


def nbgrader_rows(results: list[dict], students: dict, sheets) -> list[list[str]]:
    """Return the rows as `nbgrader export` writes them, one a student and sheet. No errors.

    Source: nbgrader 0.9, its CSV export's columns.
    """
    rows = [list(NBGRADER)]
    handed = by_student(results)
    for sheet in sheets:
        for id, student in students.items():
            result = handed.get(id, {}).get(sheet)
            if result is None:
                continue
            first, _, last = student.name.rpartition(" ")
            scores = [decimal(result["earned"]), decimal(result["penalty"]), decimal(result["total"])]
            if result["status"] == "broken":
                scores = ["", "", ""]
            rows.append([sheet, "", "", id, last, first, student.email, *scores, decimal(result["of"])])
    return rows


def _grade(result: dict | None) -> str:
    if result is None or result["status"] == "broken":
        return ""
    return decimal(result["total"])
