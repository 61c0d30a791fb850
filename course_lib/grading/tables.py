"""The grades as CSV: one row a student, one column a question.

grades.csv begins with a byte order mark, because people open it in Excel, which else takes UTF-8 for Latin-1; pandas
and Python's "utf-8-sig" read it as well. The files for other systems (`presets`) have none. Points are decimals; where
four places do not show them whole, the last column has the fraction.

Source: the course's own.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from pathlib import Path

from course_lib.grading.csvfile import BadTable, read_csv, write_csv
from course_lib.grading.final import decimal, is_exact
from course_lib.grading.from_spreadsheet import Ids, Unclear, find_question


def by_student(results: list[dict]) -> dict[str, dict[str, dict]]:
    """Sort final results: {student: {sheet: result}}, in their order. No errors. Source: the course's own."""
    found: dict[str, dict[str, dict]] = defaultdict(dict)
    for result in results:
        found[result["student"]][result["sheet"]] = result
    return dict(found)


def grade_rows(results: list[dict], students: dict, sheets) -> list[list[str]]:
    """Return the rows of grades.csv, the head first.

    Columns: student, name, email, a question each, and a sheet's status, level, late penalty; then total, of, exact.
    With more than one sheet the three carry its name. A cell is empty where there are no points yet: a text question
    that waits, and a submission for which the grader failed. No errors. Source: the course's own.
    """
    handed = by_student(results)
    questions = {sheet: _questions(results, sheet) for sheet in sheets}
    head = ["student", "name", "email"]
    for sheet in sheets:
        mark = f" {sheet}" if len(sheets) > 1 else ""
        head += [*questions[sheet], f"status{mark}", f"level{mark}", f"late penalty{mark}"]
    rows = [[*head, "total", "of", "exact"]]
    for id, student in students.items():
        row, exact, total, of = [id, student.name, student.email], [], Fraction(0), Fraction(0)
        for sheet in sheets:
            result = handed.get(id, {}).get(sheet)
            if result is None:
                row += [""] * (len(questions[sheet]) + 3)
                continue
            shown = {question["id"]: question for question in result["questions"]}
            broken = result["status"] == "broken"
            for name in questions[sheet]:
                question = shown.get(name)
                unknown = broken and not (question and question["manual"])
                row.append("" if unknown else points_cell(question, exact))
            row += [result["status"], result["level"], _exactly("late penalty", result["penalty"], exact)]
            total += Fraction(result["total"])
            of += result["of"]
        broken = any(result["status"] == "broken" for result in handed.get(id, {}).values())
        unknown = broken or len(handed.get(id, {})) < len(sheets)
        row += ["" if unknown else _exactly("total", total, exact), decimal(of), "; ".join(exact)]
        rows.append(row)
    return rows


def write_grades(folder: Path, results: list[dict], students: dict, sheets) -> Path:
    """Write grades.csv into a folder and return its path; OSError if that fails. Source: the course's own."""
    write_csv(folder / "grades.csv", grade_rows(results, students, sheets), excel=True)
    return folder / "grades.csv"


BY_HAND = ("student", "question", "points", "comment", "answer")


def write_by_hand(folder: Path, results: list[dict]) -> Path | None:
    """Write by_hand.csv, the answers that wait for points, ready for `--manual`; None and no file if there are none.

    Lines that somebody filled in are kept, and a file that cannot be read is left alone: nobody's work is lost.
    OSError if it cannot be written. Source: the course's own.
    """
    path = folder / "by_hand.csv"
    try:
        old = read_csv(path, BY_HAND[:3], BY_HAND[3:]) if path.exists() else []
    except BadTable:
        return path
    ids, questions = Ids(result["student"] for result in results), _all_questions(results)
    kept = {
        at: [*at, *list(row.cells.values())[2:]]
        for row in old
        if _filled_in(row) and (at := _place(row, ids, questions))
    }
    waiting = {
        (result["student"], one["id"]): [
            result["student"],
            one["id"],
            "",
            "",
            _answer(result, one["id"]),
        ]
        for result in results
        for one in result["questions"]
        if one["open"]
    }
    if not kept and not waiting:
        path.unlink(missing_ok=True)
        return None
    write_csv(path, [list(BY_HAND), *{**waiting, **kept}.values()], excel=True)
    return path


def _all_questions(results: list[dict]) -> list[str]:
    return list(dict.fromkeys(one["id"] for result in results for one in result["questions"]))


def _place(row, ids: Ids, questions: list[str]) -> tuple[str, str]:
    """Return a line's student and question as they were before a spreadsheet had the file, else as they stand there."""
    student, question = row.cells["student"], row.cells["question"]
    try:
        return ids.find(student) or student, find_question(question, questions) or question
    except Unclear:
        return student, question


def _answer(result: dict, id: str) -> str:
    return str(result["answers"].get(id, ""))[:20_000]  # a cell of a spreadsheet holds 32,767 letters


def _filled_in(row) -> bool:
    return bool(row.cells["points"].strip() or row.cells["comment"].strip())


def points_cell(question: dict | None, exact: list[str]) -> str:
    """Return a question's points as a cell, "" where they are not known yet; a fraction is put in `exact`. No errors.

    Source: the course's own.
    """
    if question is None or question["open"]:
        return ""
    return _exactly(question["id"], question["points"], exact)


def _exactly(name: str, value, exact: list[str]) -> str:
    if not is_exact(value):
        exact.append(f"{name} = {Fraction(value)}")
    return decimal(value)


def _questions(results: list[dict], sheet: str) -> list[str]:
    found: dict[str, None] = {}
    for result in results:
        if result["sheet"] == sheet:
            found.update(dict.fromkeys(question["id"] for question in result["questions"]))
    return list(found)
