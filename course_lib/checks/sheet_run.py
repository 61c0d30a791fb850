"""`python -m course_lib.checks.sheet_run FILE [SHEET]`: run a sheet's cells, then all its public checks.

What `course check` starts, so that nothing of an open notebook's session takes part. It runs your own file without a
sandbox; the grader does the same inside of one.

Source: the course's own.
"""

import contextlib
import io
import os
import sys
import types
from pathlib import Path

from course_lib.checks.calling import call_here, error_text, outcome_here
from course_lib.checks.card import card_of
from course_lib.checks.forbidden import forbidden_use
from course_lib.checks.judge import DOES_NOT_END, NOT_STARTED, Outcome, judge
from course_lib.checks.moments import MOMENTS, Moments, last_mentions
from course_lib.checks.notebook_cells import NotebookCells
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
    tasks = [e for e in sheet.exercises if e.kind != "text"]
    folder = path.resolve().parent
    os.chdir(folder)  # as Jupyter does
    run = _Run(tasks, Definitions([cell.source for cell in answers.cells]))
    run.cells(answers.cells)
    right = sum(run.told(exercise, folder) for exercise in tasks)
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


class _Run:
    """A notebook's cells, run from the top, with each answer checked where it counts."""

    def __init__(self, tasks, definitions):
        self.tasks = {exercise.id: exercise for exercise in tasks}
        self.definitions, self.found = definitions, {}
        module = types.ModuleType("__main__")
        sys.modules["__main__"] = module
        sys.path.insert(0, "")
        self.notebook = NotebookCells(module)
        functions = {e.id: e.function for e in tasks if e.kind == "function"}
        self.moments = Moments(functions, self.notebook.names, self._check)
        self.moments.install()

    def cells(self, cells):
        """Run the cells in one namespace, as a notebook does; a cell that fails is told, and the next one is run."""
        checked = last_mentions(self.tasks, [cell.source for cell in cells])
        for number, cell in enumerate(cells):
            told = len(self.notebook.notes)
            try:
                with contextlib.redirect_stdout(io.StringIO()), TimeLimit(CELL_SECONDS):
                    self.notebook.run(cell.source, cell.name)
            except TimeUp:
                print(f"note: {cell.name} does not end; it was stopped after {CELL_SECONDS:g} s.", flush=True)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # of SystemExit and asyncio's CancelledError too, only the cell ends
                if not cell.is_check:
                    print(f"note: {cell.name} raises {error_text(error)}", flush=True)
            for note in self.notebook.notes[told:]:
                print(f"note: {note}.", flush=True)
            self.moments.after_cell([id for id, last in checked.items() if last > number])

    def _check(self, id, moment, answer):
        """Run the public part of an answer as the notebook is now, unless it was right, or endless, before."""
        exercise, called, found = self.tasks[id], [], self.found.setdefault(id, {})
        if any(result.passed or (result.cause == DOES_NOT_END and its is answer) for result, _, its in found.values()):
            return

        def outcome_of(case):
            called[:] = [case, call_here(answer, case)]
            return called[1]

        with contextlib.redirect_stdout(io.StringIO()):
            found[moment] = (run_part(exercise, (PUBLIC, False, 1, exercise.cases), outcome_of), called, answer)

    def _result(self, exercise):
        """Return (result, [case, outcome]) of an exercise after the last cell."""
        if exercise.kind == "kernel":
            text, called, numbers = self.definitions.answer(exercise), [], self.definitions.numbers(exercise)

            def outcome_of(case):
                called[:] = [case, outcome_here(exercise, case, text, {}, numbers)]
                return called[1]

            return run_part(exercise, (PUBLIC, False, 1, exercise.cases), outcome_of), called
        found = self._best(exercise.id)
        if found is None:
            missing = Outcome(error=f"NameError: there is no function {exercise.function}")
            called = [exercise.cases[0], missing]
            return run_part(exercise, (PUBLIC, False, 1, exercise.cases[:1]), lambda case: missing), called
        if not found[0].passed and found[0].cause not in (NOT_STARTED, DOES_NOT_END):
            if exercise.function in self.notebook.names:  # it may use what a cell below defines
                self._check(exercise.id, "end", self.notebook.names[exercise.function])
            found = end if (end := self.found[exercise.id].get("end")) and end[0].passed else found
        return found[:2]

    def _best(self, id):
        """Return what was found at the moment at which an answer was right, or at the last one; None if at none."""
        found = [self.found.get(id, {})[moment] for moment in MOMENTS if moment in self.found.get(id, {})]
        return next((one for one in found if one[0].passed), found[-1] if found else None)

    def told(self, exercise, folder):
        """Print how an exercise went, with a card where it is wrong, and return whether it is right."""
        if reason := forbidden_use(exercise, self.definitions.answer(exercise)):
            print(f"not yet  {exercise.id} {exercise.title}\n         {reason}", flush=True)
            return False
        result, called = self._result(exercise)
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


def _stay(leave=os._exit):
    """Let `os._exit` in a cell end this cell, not what is to be said of the sheet; a process of a cell still ends."""
    own = os.getpid()

    def end(status):
        if os.getpid() == own:
            raise SystemExit(status)
        leave(status)

    os._exit = end


if __name__ == "__main__":
    _stay()
    sys.exit(main(*sys.argv[1:]))
