"""Grade one submission: always a result, whatever was handed in, and no line of it runs in this process.

Source: the course's own.
"""

import functools
import threading
import time
import traceback
from fractions import Fraction

from course_lib.checks.forbidden import forbidden_use
from course_lib.checks.judge import DOES_NOT_END, NOT_CALLED, NOT_STARTED
from course_lib.checks.moments import FIRST
from course_lib.checks.registry import sheet as sheet_named
from course_lib.grading.definitions import Definitions
from course_lib.grading.host_kernels import Kernels
from course_lib.grading.keys import load_keys
from course_lib.grading.levels import best_level
from course_lib.grading.notebook import defines, read_answers
from course_lib.grading.questions import lost_parts, question, run_parts, stand_in, text_question, unheard_parts
from course_lib.grading.running import END, Budget, Running
from course_lib.grading.task import Task, result_key, versions
from course_lib.grading.team import team_name

__all__ = ["Task", "grade"]

SLACK = 60.0
"""Seconds beyond the submission's own after which the grader gives up on itself."""


def grade(task):
    """Return the result of a submission, a dict of plain values.

    Parameters
    ----------
    task : Task

    No errors but KeyboardInterrupt: what fails in the grader itself gives the status "broken". It returns at the
    latest `SLACK` seconds after the limit of the submission. Source: the course's own.
    """
    work = _Work(task)
    thread = threading.Thread(target=work.run, daemon=True)
    try:
        thread.start()
        thread.join(task.limits.submission + SLACK)
        if thread.is_alive():
            work = work.abandoned()
    finally:
        work.close()
    return _writable(work.result)


def _writable(value):
    """Return plain values with texts that can be written in UTF-8: an answer can hold halves of characters."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_writable(k): _writable(v) for k, v in value.items()}
    return [_writable(v) for v in value] if isinstance(value, list) else value


class _Work:
    """One submission on its way to a result."""

    def __init__(self, task):
        self.task, self.started = task, time.monotonic()
        self.end = self.started + task.limits.submission
        self.running, self.kernels = None, None
        self.result = {
            "student": task.student, "sheet": task.sheet, "status": "broken", "says": "It was not finished.",
            "level": task.level, "key": "", "versions": {}, "seconds": 0.0, "output_bytes": 0, "boxes": 0, "notes": [],
            "questions": [], "points": "0", "of": 0, "files": [], "answers": {},
        }  # fmt: skip

    def run(self):
        """Fill in the result."""
        result = self.result
        try:
            self._grade(result)
        except BaseException as error:  # MemoryError and what else the host itself may meet
            last = traceback.format_exception_only(error)[-1].strip()
            result |= {"status": "broken", "says": f"The grader failed: {last}"[:500]}
        finally:
            self.close()
            result["seconds"] = round(time.monotonic() - self.started, 3)

    def _grade(self, result):
        task = self.task
        result["files"] = [str(name) for name, _ in task.files]
        result["versions"], result["key"] = versions(), result_key(task)
        sheet = sheet_named(task.sheet)
        result["of"] = sheet.points
        keys = load_keys(task.keys, task.sheet)
        answers = read_answers(task.files, sheet)
        result["status"], result["says"], result["notes"] = answers.status, answers.says, list(answers.notes)
        faults = []
        if answers.status == "graded":
            self._prepare(sheet, answers, result)
        work = [self._question(exercise, keys.get(exercise.id), answers) for exercise in sheet.exercises]
        for one in work:
            next(one)  # the public parts of all: a later one could tell what an answer saw in a hidden one
        for one in work:
            entry, fault = next(one)
            result["questions"].append(entry)
            faults += [fault] if fault else []
        result["notes"] += stand_in(sheet.exercises, result["questions"])
        if any(getattr(exercise, "batch", 0) for exercise in sheet.exercises):
            result["team"] = team_name([cell.source for cell in answers.cells])
        result["points"] = str(sum((Fraction(q["points"]) for q in result["questions"]), Fraction(0)))
        if faults:
            result |= {"status": "broken", "says": f"The grader failed on {'; '.join(faults)}"[:500]}
        elif answers.status == "graded":
            result["says"] = f"{answers.file} was graded."

    def _prepare(self, sheet, answers, result):
        result["level"] = self.task.level or best_level().letter
        self.definitions = Definitions([cell.source for cell in answers.cells])
        hidden = (self.task.keys,) if self.task.keys else ()
        functions = {e.id: e.function for e in sheet.exercises if e.kind == "function"}
        limits, level = self.task.limits, result["level"]
        self.running = Running(answers.cells, functions, level, limits, self.end, hidden, answers.beside)
        self.kernels = Kernels(self.task, self.end)

    def _question(self, exercise, key, answers):
        """Yield nothing between the public part and the hidden ones, then (entry, the grader's own fault or "")."""
        started = time.monotonic()
        entry, text = self._not_run(exercise, answers, started)
        if entry or exercise.kind == "kernel":  # a kernel is not executed, and keeps nothing
            yield
            started = time.monotonic()
            results, fault = self.kernels.run(exercise, key, text) if not entry else (None, "")
            yield entry or question(exercise, results, started), fault
            return

        budget = Budget(self.task.limits.question)
        results, fault, moment = self._public(exercise, key, budget)
        paused = time.monotonic()
        yield
        started += time.monotonic() - paused
        if results[0].cause in (DOES_NOT_END, NOT_CALLED):  # it would take as long again, and earn nothing
            more, later_fault = unheard_parts(exercise, key, "the public part has no result"), ""
        else:
            called = functools.partial(self.running.call, exercise.id, budget=budget, moment=moment)
            more, later_fault = run_parts(exercise, key, called, hidden=(True,))
        yield question(exercise, results + more, started), fault or later_fault

    def _public(self, exercise, key, budget):
        """Return (results, fault, moment) of the public part, at the first moment at which it is right, or the last."""

        def at(moment):
            called = functools.partial(self.running.call, exercise.id, budget=budget, moment=moment)
            return *run_parts(exercise, key, called, hidden=(False,)), moment

        found = at(FIRST)
        for moment in self.running.moments(exercise.id) if not found[0][0].passed else ():
            if moment != FIRST and not found[0][0].passed and found[0][0].cause != NOT_CALLED:
                found = at(moment)
        if found[0][0].cause not in ("", NOT_STARTED, DOES_NOT_END, NOT_CALLED):
            end = at(END)  # it may use what a cell below defines, as it can in a notebook whose cells were moved
            return end if end[0][0].passed else found
        return found

    def _not_run(self, exercise, answers, started):
        """Return (entry, answer's text) of a question; the entry is None if its answer is to be run."""
        if exercise.kind == "text":
            self.result["answers"][exercise.id] = text = answers.texts.get(exercise.id, "")
            return text_question(exercise, text), text
        if answers.status != "graded":
            return question(exercise, lost_parts(exercise, answers.says), started), ""
        text = self.definitions.answer(exercise) or "\n".join(
            cell.source for cell in answers.cells if defines(cell.source, exercise.function)
        )
        self.result["answers"][exercise.id] = text
        if reason := forbidden_use(exercise, text):
            return question(exercise, lost_parts(exercise, reason), started), text
        return None, text

    def abandoned(self):
        """Return a work with a result of its own, as the thread of this one may still write to its."""
        other = _Work(self.task)
        if self.running:
            self.running.stop()
        if self.kernels:
            self.kernels.close()
        says = f"The grader did not end within {self.task.limits.submission + SLACK:g} s."
        other.result |= {"says": says, "seconds": round(time.monotonic() - self.started, 3)}
        return other

    def close(self):
        """End the boxes. No errors."""
        if self.running:
            self.running.close()
            self.result |= {"boxes": self.running.boxes, "output_bytes": self.running.output_bytes}
            self.result["notes"] += [n for n in self.running.notes if n not in self.result["notes"]]
        if self.kernels:
            self.kernels.close()
