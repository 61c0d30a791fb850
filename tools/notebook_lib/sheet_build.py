"""Script of a sheet -> executed notebook for the instructor, and one with stubs for students; compared with both."""

from __future__ import annotations

from pathlib import Path

from nbformat import NotebookNode

from course_lib.checks.registry import SHEETS
from notebook_lib import clean
from notebook_lib.scripts import Pair, first_difference
from notebook_lib.sheets import read_sheet, student_version, with_grading


def find_sheets(solutions: Path, select: list[str] | None = None) -> list[Pair]:
    """All sheets ``solutions/<name>.py`` with their two notebooks, in order; those selected, as lessons."""
    names = [n for n in SHEETS if not select or any(n.startswith(s) for s in select)]
    exercises = solutions.parent / "exercises"
    found = [Pair(solutions / f"{n}.py", solutions / f"{n}.ipynb", exercises / f"{n}.ipynb") for n in names]
    return [pair for pair in found if pair.script.exists()]


def write_sheet(pair: Pair, executed: NotebookNode) -> None:
    """Write both notebooks of a sheet; cleaning took the cells' roles away, so they come from the script again."""
    sheet = read_sheet(pair.script)
    for cell, fresh in zip(executed.cells, sheet.cells, strict=True):
        cell.metadata.update(fresh.metadata)
    clean.write(with_grading(executed, pair.script.stem), pair.notebook)
    pair.student.parent.mkdir(exist_ok=True)
    clean.write(student_version(sheet, pair.script.stem), pair.student)


def sheet_difference(pair: Pair, built: NotebookNode) -> str | None:
    """What makes the notebooks of a sheet differ from its script, in words; None if nothing."""
    sheet, name = read_sheet(pair.script), pair.script.stem
    student = student_version(sheet, name)
    graded = with_grading(sheet, name)
    if difference := first_difference(graded, built):
        return difference
    for number, (want, have) in enumerate(zip(graded.cells, built.cells, strict=True), start=1):
        if want.metadata != have.metadata:
            return f"cell {number} has metadata {dict(have.metadata)}, the build gives {dict(want.metadata)}"
    if not pair.student.exists():
        return f"there is no exercises/{name}.ipynb"
    if pair.student.read_text(encoding="utf-8") != clean.to_text(student):
        return f"exercises/{name}.ipynb is not what the build gives"
    return None
