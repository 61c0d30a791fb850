"""Write down what public checks need: students get the results of public cases, and no code that computes others.

`python -m course_lib.grading.public_checks` prints the records of all sheets; `public_checks` runs it in a course
folder, with one BLAS thread, so that the same folder gives the same bytes. `checks.recorded` reads them.

Source: the course's own.
"""

import contextlib
import json
import subprocess
import sys
import warnings
from dataclasses import fields
from pathlib import Path

import numpy as np

from course_lib.checks.exercise import TextQuestion
from course_lib.checks.recorded import CODE, IMPOSSIBLE, NoForm, packed, recorded_exercises
from course_lib.checks.registry import MODULES, SHEETS, sheet
from course_lib.checks.values import resolve
from course_lib.cli.kernel import kernel_environment

COMPUTED = ("expect", "cases", "causes", "requires", "launch", "budget")
"""Attributes of an exercise that are, or hold, functions; the others are facts."""

PUBLIC_MODULES = ("__init__.py", "kernel_inputs.py", "launches.py")
PUBLIC_ENDING = "_launches.py"
"""Modules of `checks.exercises` that compute no right value: students get them as they are."""

INSTRUCTORS = ("course_lib/checks/exercises/", "course_lib/grading/selftest/")
"""Folders of what computes right values, of exercises and of the grader's own trials."""

PATIENCE = 600.0
"""Seconds for computing all results; it takes a few."""


class RecordError(ValueError):
    """A public case cannot be written down; the message says which, and why. Source: the course's own."""


def stays_here(name):
    """Return whether a file of the course folder, such as "course_lib/gpu.py", computes right values. No errors.

    Source: the course's own.
    """
    file = name.rpartition("/")[2]
    public = file in PUBLIC_MODULES or file.endswith((PUBLIC_ENDING, ".json"))
    return name.startswith(INSTRUCTORS[1]) or (name.startswith(INSTRUCTORS[0]) and not public)


def public_checks(course):
    """Return {path in the course folder: bytes}, a record for each sheet, by the folder's own exercises.

    RecordError if they cannot be computed, or a case cannot be written down. Source: the course's own.
    """
    course = Path(course).resolve()
    environment = kernel_environment() | {"PYTHONPATH": str(course), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            [sys.executable, "-m", __name__], cwd=course, env=environment, timeout=PATIENCE, check=False,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, encoding="utf-8",
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise RecordError(f"the results of the public cases were not there after {PATIENCE:g} s.") from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        raise RecordError(f"the results of the public cases could not be computed: {last}")
    return {f"{INSTRUCTORS[0]}{MODULES[name]}.json": text.encode() for name, text in json.loads(done.stdout).items()}


def record(exercises):
    """Return the text of the record of a sheet's exercises, in order.

    RecordError names the exercise and the case that has no such form. Source: the course's own.
    """
    text = '{"exercises": [\n' + ",\n".join(_lines(_record(exercise)) for exercise in exercises) + "\n]}\n"
    for exercise, read in zip(exercises, recorded_exercises(text), strict=True):
        if _facts(exercise) != _facts(read):
            raise RecordError(f"{exercise.id}: its facts are not the same when they are read again.")
    return text


def _lines(found):
    """Return an exercise's record as JSON, its facts in one line and each case in one."""
    cases = found.pop("cases", None)
    try:
        text = json.dumps(found, ensure_ascii=False)
    except TypeError as error:
        id = found["facts"]["id"]
        raise RecordError(f"{id}: a fact of it is no text, number or tuple of them: {error}.") from error
    if cases is None:
        return text
    return text[:-1] + ', "cases": [\n ' + ",\n ".join(json.dumps(c, ensure_ascii=False) for c in cases) + "\n]}"


def _facts(exercise):
    return {f.name: getattr(exercise, f.name) for f in fields(exercise) if f.init and f.name not in COMPUTED}


def _record(exercise):
    found = {"kind": exercise.kind, "facts": _facts(exercise)}
    if isinstance(exercise, TextQuestion):
        return found
    found["causes"] = [cause.says for cause in exercise.causes]
    for part in ("launch", "requires"):
        if (function := getattr(exercise, part, None)) is not None:
            found[part] = _name(exercise, part, function)
    return found | {"cases": [_case(exercise, case) for case in exercise.cases]}


def _name(exercise, part, function):
    """Return "module:function" of code that students get."""
    name = f"{function.__module__}:{function.__qualname__}"
    file = f"{function.__module__.replace('.', '/')}.py"
    if not function.__module__.startswith(CODE) or stays_here(file) or not function.__qualname__.isidentifier():
        raise RecordError(
            f"{exercise.id}: its {part} is {name}, which students do not get. Put it at the top level of a module "
            f"of {CODE.rstrip('.')} whose name ends in {PUBLIC_ENDING}; nothing there may compute a right value."
        )
    return name


def _case(exercise, case):
    """Return a case with its results, as JSON data."""

    def result(function):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return packed(function(*map(resolve, case.args)))

    def mistaken(cause):
        try:
            return result(cause.wrong)
        except NoForm:
            raise
        except Exception:  # as the judge takes it
            return IMPOSSIBLE

    try:
        row = {"note": case.note, "args": packed(tuple(case.args)), "right": result(exercise.expect)}
        row["wrong"] = [mistaken(cause) for cause in exercise.causes]
        if (budget := getattr(exercise, "budget", None)) is not None:
            row["most"] = packed(budget(*case.args))
    except Exception as error:
        raise RecordError(f"{exercise.id} ({case.note}): {error}") from error
    return row


def main():
    """Print {sheet: record} as JSON and return the exit status; what cannot be recorded is said in the last line.

    Source: the course's own.
    """
    try:
        with contextlib.redirect_stdout(sys.stderr):  # whatever an import may print
            found = {name: record(sheet(name).exercises) for name in SHEETS}
    except RecordError as error:
        print(str(error).replace("\n", " "), file=sys.stderr)
        return 1
    json.dump(found, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
