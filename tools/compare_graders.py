"""Grade the same submissions with `course grade`, nbgrader and otter-grader in one run; seconds a submission.

python tools/compare_graders.py --nbgrader PYTHON --otter PYTHON [--count 20] [--sheet 01_perceptron]

PYTHON is the interpreter of an environment that has the rival (pip install nbgrader, pip install otter-grader) and
course_lib; a rival that is not named is left out. All run the sheet's solved notebook, once a student. The rivals run
the public checks; `course grade` runs the hidden parts too, in its sandbox.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from course_lib.checks.registry import sheet as sheet_named

ROOT = Path(__file__).resolve().parents[1]
console = Console(highlight=False)


def main(
    nbgrader: Annotated[Path | None, typer.Option(help="Python with nbgrader.")] = None,
    otter: Annotated[Path | None, typer.Option(help="Python with otter-grader.")] = None,
    count: Annotated[int, typer.Option(min=1, help="Submissions.")] = 20,
    sheet: Annotated[str, typer.Option(help="Which sheet.")] = "01_perceptron",
) -> None:
    """Time the graders one after the other on equal submissions."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        students = [f"student{n:02d}" for n in range(count)]
        ways = {
            f"course grade, {n} at a time": lambda n=n: _course(folder / f"ours{n}", students, sheet, n) for n in (1, 2)
        }
        if nbgrader:
            ways["nbgrader"] = lambda: _nbgrader(folder / "nbgrader", students, sheet, nbgrader)
        if otter:
            ways["otter-grader"] = lambda: _otter(folder / "otter", students, sheet, otter)
        table, first = Table(title=f"{count} equal submissions of {sheet}", title_justify="left"), None
        for column in ("grader", "seconds a submission", "times ours, 1 at a time", "points given"):
            table.add_column(column, justify="left" if column == "grader" else "right")
        for name, run in ways.items():
            seconds, points = run()
            first = first or seconds
            table.add_row(name, f"{seconds / count:.2f}", f"{seconds / first:.1f}", points)
    console.print(table)


def _submit(folder: Path, students: list[str], sheet: str, below: str = "") -> None:
    for student in students:
        place = folder / student / below
        place.mkdir(parents=True)
        shutil.copy(ROOT / "solutions" / f"{sheet}.ipynb", place / f"{sheet}.ipynb")


def _timed(command: list, folder: Path) -> tuple[float, str]:
    begin = time.perf_counter()
    path = f"{Path(command[0]).parent}{os.pathsep}{os.environ['PATH']}"  # nbgrader starts alembic by its name
    done = subprocess.run(
        [str(part) for part in command], cwd=folder, env=os.environ | {"PATH": path},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    seconds = time.perf_counter() - begin
    if done.returncode:
        said = (done.stdout + done.stderr)[-3000:]
        raise SystemExit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{said}")
    return seconds, done.stdout


def _course(folder: Path, students: list[str], sheet: str, jobs: int) -> tuple[float, str]:
    _submit(folder / "submissions", students, sheet)
    command = [Path(sys.executable).parent / "course", "grade", "submissions", "-o", "out", "--jobs", jobs,
               "--keys", ROOT / "solutions" / "keys"]  # fmt: skip
    seconds, _ = _timed(command, folder)
    rows = [json.loads(file.read_text(encoding="utf-8")) for file in (folder / "out").rglob("results/*.json")]
    return seconds, _points({str(row["points"]) for row in rows if "points" in row}, len(rows), sheet)


def _points(found: set[str], count: int, sheet: str) -> str:
    return f"{', '.join(sorted(found))} of {sheet_named(sheet).points}, {count} times"


def _nbgrader(folder: Path, students: list[str], sheet: str, python: Path) -> tuple[float, str]:
    source = folder / "source" / sheet
    source.mkdir(parents=True)
    shutil.copy(ROOT / "solutions" / f"{sheet}.ipynb", source / f"{sheet}.ipynb")
    (folder / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'course'\n")
    _timed([python, "-m", "nbgrader", "generate_assignment", sheet], folder)
    _submit(folder / "submitted", students, sheet, below=sheet)
    seconds, _ = _timed([python, "-m", "nbgrader", "autograde", sheet], folder)
    _timed([python, "-m", "nbgrader", "export"], folder)
    lines = (folder / "grades.csv").read_text(encoding="utf-8").splitlines()
    scores = [line.split(",")[lines[0].split(",").index("score")] for line in lines[1:]]
    return seconds, _points(set(scores), len(scores), sheet)


def _otter(folder: Path, students: list[str], sheet: str, python: Path) -> tuple[float, str]:
    tests = folder / "tests"
    tests.mkdir(parents=True)
    for exercise in sheet_named(sheet).exercises:
        if exercise.kind == "text":
            continue
        call = f"check({exercise.id!r}, {exercise.function})"
        code = f">>> import contextlib, io\n>>> with contextlib.redirect_stdout(io.StringIO()):\n...     {call}\n"
        case = {"code": code, "hidden": False, "locked": False}
        suite = {"cases": [case], "scored": True, "setup": "", "teardown": "", "type": "doctest"}
        name = f"q{exercise.id.replace('.', '_')}"
        test = {"name": name, "points": exercise.points, "suites": [suite]}
        (tests / f"{name}.py").write_text(f"OK_FORMAT = True\n\ntest = {test!r}\n")
    _timed([python, "-m", "otter", "generate", "-t", "tests", "-o", "autograder.zip", "--no-environment"], folder)
    _submit(folder / "submitted", students, sheet)
    seconds, scores = 0.0, []
    for student in students:
        file = folder / "submitted" / student / f"{sheet}.ipynb"
        command = [python, "-m", "otter", "run", "-a", folder / "autograder.zip", "--no-logo", "-o", ".", file]
        took, _ = _timed(command, file.parent)
        seconds += took
        results = json.loads((file.parent / "results.json").read_text(encoding="utf-8"))
        scores.append(f"{sum(t.get('score', 0) for t in results['tests']):g}")
    return seconds, _points(set(scores), len(scores), sheet)


if __name__ == "__main__":
    typer.run(main)
