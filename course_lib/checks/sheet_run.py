"""`python -m course_lib.checks.sheet_run FILE [SHEET]`: run a sheet's cells, then all its public checks.

What `course check` starts, so that nothing of an open notebook's session takes part. It runs your own file without a
sandbox; the grader does the same inside of one.

Source: the course's own.
"""

import contextlib
import io
import sys
from pathlib import Path

from course_lib.checks.calling import error_text, outcome_here
from course_lib.checks.forbidden import forbidden_use
from course_lib.checks.judge import NOT_STARTED
from course_lib.checks.registry import SHEETS
from course_lib.checks.registry import sheet as sheet_named
from course_lib.grading.definitions import Definitions
from course_lib.grading.keys import PUBLIC
from course_lib.grading.notebook import defines, read_answers
from course_lib.grading.questions import run_part
from course_lib.grading.sheet_names import Names

_NAMES = Names(SHEETS)


def main(file, name=""):
    """Print a line for each exercise of a notebook and return the exit status. No errors for what the notebook does.

    Source: the course's own.
    """
    path = Path(file)
    content = path.read_bytes()
    if name and name not in SHEETS:
        print(f"There is no sheet {name}; there are {', '.join(SHEETS)}.")
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
    right = 0
    for exercise in tasks:
        says, cause = _check(exercise, namespace, definitions)
        right += not says
        mark = "right   " if not says else "to do   " if cause == NOT_STARTED else "not yet "
        print(
            f"{mark} {exercise.id} {exercise.title}" + (f"\n         {says}" if says and cause != NOT_STARTED else "")
        )
    print(f"{right} of {len(tasks)} are right in the public check.")
    return 0 if right == len(tasks) else 1


def _is_about(sheet, answers, content):
    """Return whether a file speaks of a sheet's exercises, or defines half of their functions, as no lesson does."""
    functions = [e.function for e in sheet.exercises if e.kind != "text"]
    found = sum(any(defines(cell.source, function) for cell in answers.cells) for function in functions)
    return _NAMES.in_cells(content) == sheet.name or 2 * found >= len(functions)


def _run(cells):
    """Run the cells in one namespace, as a notebook does; a cell that fails is told, and the next one is run."""
    namespace = {"__name__": "__main__"}
    for cell in cells:
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(cell.source, cell.name, "exec"), namespace)
        except (Exception, SystemExit) as error:
            print(f"note: {cell.name} raises {error_text(error)}")
    return namespace


def _check(exercise, namespace, definitions):
    """Return (what to say, its cause), two empty texts if the exercise is right."""
    text = definitions.source(exercise.function)
    if reason := forbidden_use(exercise, text):
        return reason, "uses the library's"
    with contextlib.redirect_stdout(io.StringIO()):
        public = (PUBLIC, False, 1, exercise.cases)
        result = run_part(exercise, public, lambda case: outcome_here(exercise, case, text, namespace))
    return result.says, result.cause


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
