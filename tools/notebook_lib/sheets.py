"""A sheet of exercises: its script read as a notebook, with solutions for the instructor or with stubs for students."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from nbformat import NotebookNode

from course_lib.checks.registry import sheet
from notebook_lib.scripts import read_script

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
BROKEN_BEGIN, BROKEN_END = "### BEGIN BROKEN", "### END BROKEN"
TEXT_BEGIN, TEXT_END = "<!-- BEGIN SOLUTION -->", "<!-- END SOLUTION -->"
ROLES = ("exercise", "check", "answer")
YOUR_ANSWER = "*Your answer here.*"


class SheetError(ValueError):
    """A sheet's script is not as a sheet must be; the message says which cell and why."""


def read_sheet(path: Path) -> NotebookNode:
    """The script as an unexecuted notebook; cells have ``metadata.course = {"role": ..., "id": ...}`` where they have a
    role, and of an answer to repair also ``"broken"``, the lines that students get instead of the solution.

    Raises SheetError where a role is not one, an exercise's cell has not exactly one marked region, or broken lines are
    not as `apart` says.
    """
    notebook, cells = read_script(path), jupytext.read(path, fmt="py:percent").cells
    for cell, raw in zip(notebook.cells, cells, strict=False):  # a list of sources may have been added
        roles = [(role, raw.metadata[role]) for role in ROLES if role in raw.metadata]
        if len(roles) > 1:
            raise SheetError(f"{path.name}: a cell has the roles {roles}; one is enough.")
        for role, id in roles:
            cell.metadata["course"] = {"role": role, "id": str(id)}
            if role == "exercise":
                solution_lines(cell.source, str(id))
                cell.source, broken = apart(cell.source, str(id))
                cell.metadata["course"] |= {"broken": broken} if broken else {}
        if BROKEN_BEGIN in cell.source or BROKEN_END in cell.source:
            raise SheetError(f"{path.name}: {BROKEN_BEGIN!r} or {BROKEN_END!r} in a cell that is no exercise's.")
    return notebook


def cells_of(notebook: NotebookNode, role: str) -> dict[str, NotebookNode]:
    """{id: cell} of the cells with a role."""
    found = [
        (c.metadata["course"]["id"], c) for c in notebook.cells if c.metadata.get("course", {}).get("role") == role
    ]
    return dict(found)


def solution_lines(source: str, id: str) -> tuple[int, int]:
    """First and last line number, from 0, of the marked region, markers included."""
    lines = [line.strip() for line in source.splitlines()]
    if lines.count(BEGIN) != 1 or lines.count(END) != 1 or lines.index(BEGIN) > lines.index(END):
        raise SheetError(f"exercise {id}: its cell needs one {BEGIN!r} and one {END!r} below it.")
    return lines.index(BEGIN), lines.index(END)


def solution_of(source: str, id: str) -> str:
    """The lines between the markers."""
    first, last = solution_lines(source, id)
    return "\n".join(source.splitlines()[first + 1 : last])


def apart(source: str, id: str) -> tuple[str, str]:
    """The cell as instructors get it, and the broken lines that stand above its solution, "" if there are none.

    Raises SheetError unless there is one region of broken lines at most, with something in it, which ends in the line
    above the solution and differs from that.
    """
    lines = source.splitlines()
    marks = [line.strip() for line in lines]
    if BROKEN_BEGIN not in marks and BROKEN_END not in marks:
        return source, ""
    where = f"exercise {id}: its cell"
    if marks.count(BROKEN_BEGIN) != 1 or marks.count(BROKEN_END) != 1:
        raise SheetError(f"{where} needs one {BROKEN_BEGIN!r} and one {BROKEN_END!r}, or neither.")
    first, last = marks.index(BROKEN_BEGIN), marks.index(BROKEN_END)
    if marks[last + 1 : last + 2] != [BEGIN] or first > last:
        raise SheetError(f"{where} must have its broken lines directly above {BEGIN!r}, {BROKEN_BEGIN!r} first.")
    broken = lines[first + 1 : last]
    if not "".join(broken).strip() or "\n".join(broken) == solution_of(source, id):
        raise SheetError(f"{where} has broken lines that are empty, or equal to the solution.")
    return "\n".join([*lines[:first], *lines[last + 1 :]]), "\n".join(broken)


def stub_of(cell: NotebookNode, exercise: Any) -> str:
    """The source of an exercise's cell of `read_sheet` as students get it."""
    return stub(cell.source, exercise, cell.metadata["course"].get("broken", ""))


def stub(source: str, exercise: Any, broken: str = "") -> str:
    """The cell as students get it: instead of the marked lines the broken ones, or if there are none the number of
    lines, and an error that names the exercise.
    """
    lines, (first, last) = source.splitlines(), solution_lines(source, exercise.id)
    if broken:
        return "\n".join([*lines[:first], broken, *lines[last + 1 :]])
    indent = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
    about = f"{indent}# About {exercise.lines} line{'s' if exercise.lines > 1 else ''}."
    return "\n".join([*lines[:first], about, f'{indent}raise NotImplementedError("{exercise.id}")', *lines[last + 1 :]])


def text_stub(source: str) -> str:
    """A text answer's cell as students get it."""
    begin, end = source.find(TEXT_BEGIN), source.find(TEXT_END)
    if begin < 0 or end < begin:
        raise SheetError(f"a text answer needs {TEXT_BEGIN} and {TEXT_END}.")
    return (source[:begin] + source[end + len(TEXT_END) :]).strip() or YOUR_ANSWER


def with_grading(notebook: NotebookNode, name: str) -> NotebookNode:
    """Write nbgrader's metadata (schema version 3) into the cells that have a role, and the sheet's name."""
    exercises = {exercise.id: exercise for exercise in sheet(name).exercises}
    for cell in notebook.cells:
        part = cell.metadata.pop("course", None)
        if part is None:
            continue
        role, id = part["role"], part["id"]
        if id not in exercises:
            raise SheetError(f"{name}: a cell is {role} of {id}; the sheet has {', '.join(exercises)}.")
        grade = role != "exercise"
        cell.metadata["nbgrader"] = {
            "grade": grade, "grade_id": f"{role}-{id.replace('.', '-')}", "locked": role == "check",
            "schema_version": 3, "solution": role != "check", "task": False,
        } | ({"points": exercises[id].points} if grade else {}) | {"cell_type": cell.cell_type}  # fmt: skip
    notebook.metadata["course_sheet"] = name
    return notebook


def student_version(notebook: NotebookNode, name: str) -> NotebookNode:
    """The sheet as students get it: stubs, no outputs, nothing of a solution."""
    exercises = {exercise.id: exercise for exercise in sheet(name).exercises}
    student = nbformat.from_dict(notebook)
    for cell in student.cells:
        role = cell.metadata.get("course", {}).get("role")
        if role == "exercise":
            cell.source = stub_of(cell, exercises[cell.metadata["course"]["id"]])
        elif role == "answer":
            cell.source = text_stub(cell.source)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return with_grading(student, name)


HEADING = re.compile(r"^## (\S+) · (.+)\n+\*(\d+) points?, ([a-z-]+)\.", re.MULTILINE)


def sheet_problems(notebook: NotebookNode, name: str) -> list[str]:
    """What in a sheet's text is not as the registry says; empty if all is well."""
    problems, stated = [], {}
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and (match := HEADING.search(cell.source)):
            stated[match[1]] = (*match.groups(), cell.source.count("<details>"), cell.source.count("</details>"))
    tasks, checks, answers = (cells_of(notebook, role) for role in ROLES)
    for exercise in sheet(name).exercises:
        wanted = (exercise.id, exercise.title, str(exercise.points), exercise.level, 3, 3)
        if exercise.kind == "text":
            wanted = wanted[:4] + stated.get(exercise.id, wanted)[4:]
        if stated.get(exercise.id) != wanted:
            problems.append(f"{exercise.id}: the statement has {stated.get(exercise.id)}, the registry {wanted}")
        if exercise.kind == "text":
            problems += [] if exercise.id in answers else [f"{exercise.id}: no cell for the answer"]
            continue
        if exercise.id not in tasks or exercise.id not in checks:
            problems.append(f"{exercise.id}: no cell with exercise= or none with check=")
            continue
        if checks[exercise.id].source.strip() != f'check("{exercise.id}", {exercise.function})':
            problems.append(f"{exercise.id}: its check is {checks[exercise.id].source!r}")
        count = len([x for x in solution_of(tasks[exercise.id].source, exercise.id).splitlines() if x.strip()])
        if not exercise.lines / 2 <= count <= 2 * exercise.lines:
            problems.append(f"{exercise.id}: {count} lines of solution, the stub says roughly {exercise.lines}")
    known = {exercise.id for exercise in sheet(name).exercises}
    problems += [f"{id}: in the sheet, not in the registry" for id in sorted({*tasks, *checks, *answers} - known)]
    return problems
