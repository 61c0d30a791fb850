"""The grades as other systems import them: Canvas, Moodle, nbgrader.

What an empty grade does differs: Moodle's worksheet importer passes over it, its gradebook importer and Canvas would
take away the grade that is there. So whoever has no grade yet has an empty cell in the first and no line in the others.
Source: Moodle's mod/assign/feedback/offline/importgradeslib.php and locallib.php, grade/import/csv; Canvas's
lib/gradebook_importer.rb; nbgrader 0.9's export. Read in their sources; no file was tried in a Moodle or a Canvas.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from course_lib.grading.csvfile import write_csv
from course_lib.grading.filled import fill_gradebook, fill_worksheet, gradebook_table
from course_lib.grading.final import decimal
from course_lib.grading.tables import by_student

PRESETS = ("canvas", "moodle", "nbgrader")
NBGRADER = (
    *("assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email"),
    *("raw_score", "late_submission_penalty", "score", "max_score"),
)
WORKSHEET = (
    *("Identifier", "Full name", "ID number", "Email address", "Status", "Grade", "Maximum Grade"),
    *("Grade can be changed", "Last modified (submission)", "Last modified (grade)"),
)
"""Moodle's own columns but "Feedback comments": an empty one would take the comments away that stand there."""

NEVER = ""
"""No time of a last change, as for a grade never given: Moodle then leaves alone a grade that stands there already."""


def write_preset(
    name: str, folder: Path, results: list[dict], students: dict, sheets, numbers: Collection[str] = ()
) -> list[Path]:
    """Write the files of a preset and return their paths: grades_<name>.csv, for Moodle two a sheet.

    A submission for which the grader failed has no grade, so that an import leaves alone what is there. Moodle's
    gradebook file is written only if a student has an e-mail address or an ID number: by these it finds them; and its
    worksheet only for `numbers`, the ids that came in the platform's own export.
    LookupError for another name; OSError if a file cannot be written. Source: the three systems' own.
    """
    if name not in PRESETS:
        raise LookupError(f"there is no preset {name!r}; there are {', '.join(PRESETS)}.")
    tables = {}
    if name == "nbgrader":
        tables["grades_nbgrader.csv"] = nbgrader_rows(results, students, sheets)
    elif name == "canvas":
        tables["grades_canvas.csv"] = canvas_rows(results, students, sheets, numbers)
    else:
        for sheet in sheets:
            tables[f"grades_moodle_{sheet}.csv"] = moodle_rows(results, students, sheet, numbers)
            tables[f"grades_moodle_gradebook_{sheet}.csv"] = moodle_gradebook_rows(results, students, sheet)
        tables = {file: table for file, table in tables.items() if len(table) > 1}
    for file, table in tables.items():
        write_csv(folder / file, table)
    return [folder / file for file in tables]


def canvas_rows(results: list[dict], students: dict, sheets, numbers: Collection[str] = ()) -> list[list[str]]:
    """Return the rows that Canvas imports: its five columns, one a sheet, and the row with the points possible.

    Rename a sheet's column to the assignment's own, with its number, "Sheet 4 (1234)", or fill in Canvas's own file
    (`fill_gradebook`). A student without a grade for one of the sheets has no row. `numbers` are the ids that came in
    Canvas's export and are its own; any other is taken for a SIS ID. No errors.
    Source: Canvas's gradebook import.
    """
    handed = by_student(results)
    most = {sheet: next((decimal(r["of"]) for r in results if r["sheet"] == sheet), "") for sheet in sheets}
    rows = [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *sheets]]
    rows.append(["    Points Possible", "", "", "", "", *most.values()])
    for id, student in students.items():
        grades = [_grade(handed.get(id, {}).get(sheet)) for sheet in sheets]
        number = id if id in numbers else ""
        sis = student.sis_id or ("" if number else id)
        if all(grades):
            rows.append([student.name or id, number, sis, student.login, student.section, *grades])
    return rows


def moodle_rows(results: list[dict], students: dict, sheet: str, numbers: Collection[str] = ()) -> list[list[str]]:
    """Return the rows of Moodle's offline grading worksheet, those of `WORKSHEET`.

    Moodle finds a student by the identifier alone, so who did not come in Moodle's export (`numbers`) has no row. No
    errors. Source: Moodle's importer.
    """
    handed = by_student(results)
    rows = [list(WORKSHEET)]
    for id, student in students.items():
        if id in numbers:
            result = handed.get(id, {}).get(sheet)
            most = decimal(result["of"]) if result else ""
            who = [f"Participant {id}", student.name, student.sis_id, student.email]
            rows.append([*who, "", _grade(result), most, "Yes", NEVER, NEVER])
    return rows


def moodle_gradebook_rows(results: list[dict], students: dict, sheet: str) -> list[list[str]]:
    """Return the rows for Moodle's gradebook (Grades, Import, CSV file): mapped by e-mail address or ID number.

    No errors. Source: Moodle's grade/import/csv.
    """
    handed = by_student(results)
    rows = [["Full name", "ID number", "Email address", sheet]]
    for id, student in students.items():
        number = student.sis_id or ("" if id.isdecimal() else id)
        grade = _grade(handed.get(id, {}).get(sheet))
        if grade and (student.email or student.sis_id):
            rows.append([student.name, number, student.email, grade])
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


def write_filled(folder: Path, results, students, sheets, numbers, worksheets, gradebook, columns):
    """Fill in the tables that came from the platforms; return the paths written and a line for each thing to know.

    Parameters
    ----------
    folder : Path
    results : list of dict
        Final results.
    students : dict of {id: Student}
    sheets : sequence of str
    numbers : collection of str
        The ids that came in the platform's own export.
    worksheets : dict of {sheet: Path}
        Moodle's.
    gradebook : Path, optional
        Canvas's.
    columns : dict of {sheet: str}
        How the gradebook calls a sheet, where its name does not tell.

    `BadTable` if one is not what it is taken for, OSError if one cannot be written. Source: the course's own.
    """
    grades = {sheet: {r["student"]: _grade(r) for r in results if r["sheet"] == sheet} for sheet in sheets}
    written, says = [], []
    for sheet, path in worksheets.items():
        out = folder / f"moodle_worksheet_{sheet}.csv"
        most = next((decimal(r["of"]) for r in results if r["sheet"] == sheet), "")
        says += fill_worksheet(path, out, grades[sheet], students, numbers, most)
        written.append(out)
    if gradebook:
        out = folder / "canvas_gradebook.csv"
        says += fill_gradebook(gradebook, out, grades, {sheet: _called(sheet, columns) for sheet in sheets})
        written.append(out)
    return written, says


def check_gradebook(path: Path, sheets, columns: dict[str, str]) -> None:
    """Raise `BadTable` if a file is no gradebook of Canvas with a column for each sheet. Source: the course's own."""
    gradebook_table(path, {sheet: _called(sheet, columns) for sheet in sheets})


def _called(sheet: str, columns: dict[str, str]) -> tuple[str, ...]:
    """Return how an assignment may be called that is this sheet: "04_backpropagation", "backpropagation", "Sheet 4"."""
    if sheet in columns:
        return (columns[sheet],)
    number, _, topic = sheet.partition("_")
    if not number.isdecimal():
        return (sheet,)
    return (sheet, topic, f"sheet {int(number)}", f"sheet {number}", f"exercise sheet {int(number)}", number)


def _grade(result: dict | None) -> str:
    if result is None or result["status"] == "broken":
        return ""
    return decimal(result["total"])
