"""`python -m course_lib.checks.sheet_run FILE [SHEET]`: run a sheet's cells, then all its public checks.

What `course check` starts, so that nothing of an open notebook's session takes part. It runs your own file without a
sandbox; the grader does the same inside of one.

Source: the course's own.
"""

import contextlib
import io
import linecache
import sys
from pathlib import Path

from course_lib.checks.calling import error_text, outcome_here
from course_lib.checks.card import card_of
from course_lib.checks.forbidden import forbidden_use
from course_lib.checks.judge import NOT_STARTED, judge
from course_lib.checks.registry import SHEETS
from course_lib.checks.registry import sheet as sheet_named
from course_lib.checks.time_limit import TimeLimit, TimeUp
from course_lib.grading.definitions import Definitions
from course_lib.grading.keys import PUBLIC
from course_lib.grading.notebook import defines, read_answers
from course_lib.grading.questions import run_part
from course_lib.grading.sheet_names import Names

_NAMES = Names(SHEETS)

CELL_SECONDS = 60.0
"""For one cell of the sheet: some of a project's own cells train a network."""


def main(file, name=""):
    """Print a line for each exercise of a notebook and return the exit status. No errors for what the notebook does.

    Source: the course's own.
    """
    path = Path(file)
    content = path.read_bytes()
    if name and not (name := _sheet_called(asked := name)):
        print(f"There is no sheet {asked}; there are {', '.join(SHEETS)}.")
        return 2
    named = bool(name)
    name = name or _NAMES.in_text(path.name) or _NAMES.in_cells(content)
    if not name:
        print(f"{path.name} is no sheet: its name should be one of {', '.join(SHEETS)}. Or say which: --sheet NAME.")
        return 2
    sheet = sheet_named(name)
    answers = read_answers(((path.name, content),), sheet)
    if answers.status != "graded":
        print(f"{path.name}: {answers.says}")
        return 2
    if not named and not _is_about(sheet, answers, content):
        print(
            f"{path.name} has the name of a sheet, but not its exercises; a lesson is called like its sheet. "
            f"The sheet is exercises/{name}.ipynb. If this is it, say so: --sheet {name}"
        )
        return 2
    for note in answers.notes:
        print(f"note: {note}")
    namespace, definitions = _run(answers.cells), Definitions([cell.source for cell in answers.cells])
    tasks = [e for e in sheet.exercises if e.kind != "text"]
    right = sum(_tell(exercise, namespace, definitions, path.parent) for exercise in tasks)
    print(f"{right} of {len(tasks)} are right in the public check.")
    return 0 if right == len(tasks) else 1


def _sheet_called(name):
    """Return the sheet of a name or of a number such as "01", "" if there is none."""
    return next((s for s in SHEETS if name in (s, s.split("_")[0])), "")


def _is_about(sheet, answers, content):
    """Return whether a file speaks of a sheet's exercises, or defines half of their functions, as no lesson does."""
    functions = [e.function for e in sheet.exercises if e.kind != "text"]
    found = sum(any(defines(cell.source, function) for cell in answers.cells) for function in functions)
    return _NAMES.in_cells(content) == sheet.name or 2 * found >= len(functions)


def _run(cells):
    """Run the cells in one namespace, as a notebook does; a cell that fails is told, and the next one is run."""
    namespace = {"__name__": "__main__"}
    for cell in cells:
        linecache.cache[cell.name] = (len(cell.source), None, cell.source.splitlines(keepends=True), cell.name)
        try:
            with contextlib.redirect_stdout(io.StringIO()), TimeLimit(CELL_SECONDS):
                exec(compile(cell.source, cell.name, "exec"), namespace)
        except (Exception, SystemExit) as error:
            print(f"note: {cell.name} raises {error_text(error)}", flush=True)
        except TimeUp:
            print(f"note: {cell.name} does not end; it was stopped after {CELL_SECONDS:g} s.", flush=True)
    return namespace


def _tell(exercise, namespace, definitions, folder):
    """Check an exercise, print how it went, with a card where it is wrong, and return whether it is right."""
    text = definitions.answer(exercise)
    if reason := forbidden_use(exercise, text):
        print(f"not yet  {exercise.id} {exercise.title}\n         {reason}", flush=True)
        return False
    called = []

    def outcome_of(case):
        called[:] = [case, outcome_here(exercise, case, text, namespace)]
        return called[1]

    with contextlib.redirect_stdout(io.StringIO()):
        result = run_part(exercise, (PUBLIC, False, 1, exercise.cases), outcome_of)
    if result.passed:
        print(f"right    {exercise.id} {exercise.title}", flush=True)
    elif result.cause == NOT_STARTED:
        print(f"to do    {exercise.id} {exercise.title}", flush=True)
    else:
        print(f"not yet  {_lines(exercise, result, called, folder)}", flush=True)
    return result.passed


def _lines(exercise, result, called, folder):
    """Return the card of what `run_part` found wrong, or its words where the value is too odd to be shown."""
    try:
        finding = judge(exercise, *called)
        return str(card_of(exercise, finding, folder=folder)).replace("\n", "\n  ")
    except Exception:
        return f"{exercise.id} {exercise.title}\n         {result.says}"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
