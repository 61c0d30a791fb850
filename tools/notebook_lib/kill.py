"""The kill table: each exercise's solution, stub and wrong answers, judged as by the grader, without its box."""

from __future__ import annotations

import io
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from course_lib.checks.calling import error_text, outcome_here
from course_lib.checks.forbidden import forbidden_use
from course_lib.checks.judge import NOT_STARTED
from course_lib.checks.registry import sheet
from course_lib.grading.keys import Key, PartResult, load_keys, parts_of, score
from course_lib.grading.questions import run_part
from notebook_lib.sheets import cells_of, read_sheet, stub_of

SECONDS = 60
"""Of one answer; wrong ones may never end."""


class OutOfTime(BaseException):
    """An answer took longer than `SECONDS`; no Exception, so that nothing of the answer's catches it."""


@dataclass(frozen=True)
class Row:
    """One answer of an exercise: who, its points, what it was told, and what is wrong with that ("" if nothing)."""

    id: str
    answer: str
    points: Fraction
    of: int
    says: str
    problem: str


def kill_rows(name: str, solutions: Path) -> Iterator[Row]:
    """Judge all answers of a sheet: the script is solutions/<name>.py, the key is in solutions/keys."""
    notebook, keys = read_sheet(solutions / f"{name}.py"), load_keys(str(solutions / "keys"), name)
    cells = cells_of(notebook, "exercise")
    setup = sheet_names(notebook, name)
    for exercise in sheet(name).exercises:
        if exercise.kind != "text":
            yield from _rows(exercise, keys.get(exercise.id), cells[exercise.id], setup)


def sheet_names(notebook: NotebookNode, name: str) -> dict[str, Any]:
    """What a sheet's cells define, checks and kernels left out; they are run, and what they print is dropped."""
    kernels = {exercise.id: exercise.function for exercise in sheet(name).exercises if exercise.kind == "kernel"}
    named = re.compile(rf"\b({'|'.join(kernels.values())})\b") if kernels else None
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in notebook.cells:
        part = cell.metadata.get("course", {})
        if cell.cell_type == "code" and part.get("role") != "check" and part.get("id") not in kernels:
            if named and named.search(cell.source):  # it uses a kernel, and there is none here
                continue
            with redirect_stdout(io.StringIO()):
                exec(compile(cell.source, name, "exec"), names)
    return names


def _rows(exercise: Any, key: Key | None, cell: NotebookNode, setup: dict) -> Iterator[Row]:
    if (
        key is None
        or len(key.parts) < 2
        or len(key.mutants) < 4
        or len({m.says for m in key.mutants}) < len(key.mutants)
    ):
        yield Row(exercise.id, "key", Fraction(0), exercise.points, "", "needs 2 parts, 4 mutants with own messages")
    if key is None:
        return
    parts = parts_of(exercise, key)
    results = run_answer(exercise, parts, cell.source, setup)
    points = _points(exercise, results)
    told = _told(results)
    yield Row(
        exercise.id, "solution", points, exercise.points, told, "" if points == exercise.points else "not full marks"
    )
    results = run_answer(exercise, parts, stub_of(cell, exercise), setup)
    points, told = _points(exercise, results), _told(results)
    if "broken" in cell.metadata["course"]:
        problem = "" if key.untouched and key.untouched in told else f"not told {key.untouched!r}"
    else:
        problem = "" if all(r.cause == NOT_STARTED for r in results) else "not told that it is not written yet"
    yield Row(exercise.id, "stub", points, exercise.points, told, problem if points == 0 else "not 0")
    for mutant in key.mutants:
        results = run_answer(exercise, parts, mutant.text, setup)
        points, told = _points(exercise, results), _told(results)
        heard = any(mutant.says in r.says for r in results if not r.passed)
        problem = "" if heard else f"not told {mutant.says!r}"
        yield Row(
            exercise.id,
            mutant.name,
            points,
            exercise.points,
            told,
            "survives" if points == exercise.points else problem,
        )


def _points(exercise: Any, results: list[PartResult]) -> Fraction:
    return score(exercise.points, results, getattr(exercise, "required", ()))


def _told(results: list[PartResult]) -> str:
    return next((r.says for r in results if not r.passed), "")


def run_answer(exercise: Any, parts: list, text: str, setup: dict) -> list[PartResult]:
    """The results of all parts for an answer's cell, run in this process: for answers of our own only."""
    if says := forbidden_use(exercise, text):
        return [PartResult(*part[:3], False, says, "uses the library's") for part in parts]
    namespace = dict(setup)
    if exercise.kind == "function":
        try:
            exec(compile(text, f"answer {exercise.id}", "exec"), namespace)
        except Exception as error:
            return [PartResult(*part[:3], False, error_text(error), type(error).__name__) for part in parts]
    return [_part(exercise, part, text, namespace) for part in parts]


def _part(exercise: Any, part: tuple, text: str, namespace: dict) -> PartResult:
    try:
        with _limited():
            return run_part(exercise, part, lambda case: outcome_here(exercise, case, text, namespace))
    except OutOfTime:
        return PartResult(*part[:3], False, f"{exercise.function} does not end.", "does not end")


@contextmanager
def _limited() -> Iterator[None]:
    def stop(number: int, frame: Any) -> None:
        raise OutOfTime

    if not hasattr(signal, "SIGALRM"):  # Windows
        yield
        return
    old = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, old)
