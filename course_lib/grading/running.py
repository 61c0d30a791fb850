"""A notebook that runs: its cells in a box, and the box again after it was ended, without the cell that did it.

Source: the course's own.
"""

import base64
import dataclasses
import time

from course_lib.checks.judge import Outcome
from course_lib.checks.moments import FIRST, MOMENTS, last_mentions
from course_lib.checks.values import ValueProblem, decode, encode
from course_lib.grading.definitions import only_definitions
from course_lib.grading.notebook import defines
from course_lib.grading.replies import BoxEnded
from course_lib.grading.sandbox import Box

MOST_KILLED = 6
"""Cells that may end the process before the notebook is given up."""

END = "end"
"""When all cells were run."""

STOPPED = "TimeoutError: it "
"""How the box begins the error of what was stopped; an answer's own TimeoutError has other words."""


class Budget:
    """The processor's seconds that the calls of one question may use. Source: the course's own."""

    def __init__(self, seconds):
        self.seconds = self.left = seconds

    def use(self, seconds):
        """Take seconds off; what a box claims is at least nothing. No errors. Source: the course's own."""
        self.left -= max(0.0, seconds)


class Running:
    """The cells of a notebook, run when the first answer is called.

    Parameters
    ----------
    cells : sequence of notebook_file.Cell
    answers : dict of {str: str}
        Exercise id -> function, of all that may be called.
    level : str
    limits : Limits
    end : float
        When the time of the submission is over, by `time.monotonic`.
    hidden : sequence of str
        Folders that no answer may see: the keys.
    files : sequence of (str, bytes)
        What was handed in beside the notebook: name relative to it, and content.

    Source: the course's own.
    """

    def __init__(self, cells, answers, level, limits, end, hidden=(), files=()):
        self.cells, self.answers, self.level, self.limits, self.end = list(cells), answers, level, limits, end
        self.hidden, self.files = hidden, files
        self._checked = last_mentions(answers, [cell.source for cell in cells])
        self.errors, self.notes, self.box = {}, [], None
        self._served, self._enders = set(), set()
        self.boxes = self.output_bytes = self._killed = 0
        self._given_up = ""

    def moments(self, id):
        """Return the moments at which an answer was taken, of `moments.MOMENTS` in that order; NoBox as `call`.

        Source: the course's own.
        """
        if not self.box and not self._given_up:
            self._boot()
        if self._given_up or time.monotonic() >= self.end:
            return ()
        try:
            said = self._asked({"do": "moments", "id": id}, self.limits.call)["changed"]
        except BoxEnded:
            self.close()
            return ()
        return tuple(moment for moment in MOMENTS if moment in said)

    def call(self, id, case, budget, moment=FIRST):
        """Return the `Outcome` of an answer for a case.

        Parameters
        ----------
        id : str
            Of `answers`.
        case : Case
        budget : Budget
            Of the question.
        moment : str
            Of `moments.MOMENTS`, as the answer was then; or `END`, as it is after the last cell.

        NoBox if no box can be started. Source: the course's own.
        """
        if self.box and not self.box.is_quiet():
            self.close()  # what an earlier call left behind is not this one's fault
        outcome, ended = self._once(id, case, budget, moment)
        others = self._served - {id}
        if ended and others and id not in self._enders:  # another answer may have done it: again, without them
            self.close()
            budget.left = budget.seconds
            outcome, ended = self._once(id, case, budget, moment)
        if ended and self._served == {id}:
            self._enders.add(id)
        return outcome

    def _once(self, id, case, budget, moment):
        """Return (outcome, whether it ended the box)."""
        if not self.box and not self._given_up:
            self._boot()
        if self._given_up:
            return Outcome(not_called=self._given_up), False
        self._served.add(id)
        if time.monotonic() >= self.end:
            return Outcome(not_called=self._over()), False
        seconds = min(self.limits.call, budget.left)
        if seconds <= 0:
            return Outcome(not_called=f"the {budget.seconds:g} s for the question are used up"), False
        function = self.answers[id]
        request = {"do": "call", "id": id, "function": function, "at": moment}
        try:
            reply = self._asked({**request, "args": [encode(a) for a in case.args]}, seconds)
            value = decode(reply["value"]) if reply["value"] is not None else None
        except BoxEnded as error:
            self.close()
            budget.use(seconds)
            return self._stopped(str(error), seconds), True
        except ValueProblem as problem:
            return Outcome(error=f"ValueError: {problem}"), False
        error = reply["error"]
        budget.use(seconds if error.startswith(STOPPED) else min(reply["seconds"], seconds))
        if error == f"NameError: name {function!r} is not defined":
            error = self._why_missing(function)
        if error:
            return self._stopped(error, seconds), False
        return Outcome(value, "", tuple(reply["changed"])), False

    def _stopped(self, error, seconds):
        """Return the outcome of a call that failed: one that was stopped does not end, or has used up its time."""
        if not error.startswith(STOPPED):
            return Outcome(error=error)
        if seconds < self.limits.call:
            says = f"of the {self.limits.question:g} s for the question {seconds:.2g} s were left"
            return Outcome(not_called=f"{says}, and it did not end in them")
        return Outcome(stopped=seconds)

    def _asked(self, request, seconds):
        return self.box.ask({**request, "limit": round(seconds, 1)}, seconds)

    def _boot(self):
        """Start a box and run the cells; after a kill start again without what killed it."""
        while not self._given_up:
            self.box = Box(self.level, self.limits, self.hidden)
            self.boxes += 1
            self._served = set()
            if self._prepared() and self._cells_ran():
                return

    def _prepared(self):
        """Put the files beside the notebook, and name the answers; return whether the box is still there."""
        files = [[name, base64.b64encode(content).decode("ascii")] for name, content in self.files]
        try:
            if files and (error := self._asked({"do": "files", "files": files}, self.limits.call)["error"]):
                self._note(f"the files beside the notebook could not be put there: {error}")
            self._asked({"do": "watch", "answers": self.answers}, self.limits.call)
        except BoxEnded as ended:
            self.close()
            self._given_up = f"the box ended before the first cell: {ended}"
            return False
        return True

    def _cells_ran(self):
        """Run the cells; return whether the box is still there, or the notebook is given up."""
        budget, late = Budget(self.limits.cells), False
        for number, cell in enumerate(self.cells):
            if time.monotonic() >= self.end:
                self.close()
                self._given_up = self._over()
                return True
            if budget.left <= 0 and late:
                break
            if budget.left <= 0:
                used = f"the {self.limits.cells:g} s for all cells are used up"
                self._note(f"{used}; of {cell.name} and those below only the definitions are run.")
                budget, late = Budget(self.limits.call), True
            if late:
                cell = dataclasses.replace(cell, source=only_definitions(cell.source))
            if problem := self._ended_by(number, cell, budget):
                self.close()
                self._killed += 1
                if self._killed >= MOST_KILLED:
                    self._given_up = f"{problem}, in {cell.name}; {MOST_KILLED} cells did so"
                return False
        return True

    def _ended_by(self, number, cell, budget):
        """Run a cell; return why it ended the box, "" if it did not."""
        if not cell.source.strip():
            return ""
        seconds = min(self.limits.cell, budget.left)
        try:
            later = [id for id, last in self._checked.items() if last > number]
            reply = self._asked({"do": "cell", "name": cell.name, "source": cell.source, "later": later}, seconds)
        except BoxEnded as ended:
            self._shorten(number, cell, str(ended))
            return str(ended)
        error = reply["error"]
        budget.use(seconds if error.startswith(STOPPED) else min(reply["seconds"], seconds))
        for note in reply["notes"]:
            self._note(f"{note}.")
        if error:
            self.errors.setdefault(cell.name, error)
            if not cell.is_check:
                self._note(f"{cell.name} stopped: {error}")
            if error.startswith(STOPPED):
                self._shorten(number, cell, error)
        return ""

    def _shorten(self, number, cell, error):
        """In the next box, only define what the cell defines; if that was done already, leave it out."""
        rest = only_definitions(cell.source)
        rest = rest if rest.strip() != cell.source.strip() else ""
        self.cells[number] = dataclasses.replace(cell, source=rest)
        self.errors[cell.name] = error
        left = "only its definitions are run" if rest else "it was skipped"
        self._note(f"{cell.name} did not end by itself ({error}); when the notebook starts again, {left}.")

    def _note(self, text):
        if text not in self.notes and len(self.notes) < 20:
            self.notes.append(text)

    def _why_missing(self, function):
        for cell in self.cells:
            if cell.name in self.errors and (defines(cell.source, function) or not cell.source):
                return f"NameError: {function} is not defined, as {cell.name} stopped: {self.errors[cell.name]}"[:300]
        return f"NameError: {function} is not defined in this notebook"

    def _over(self):
        return f"the {self.limits.submission:g} s for the whole notebook are used up"

    def stop(self):
        """End the box and start none again. No errors. Source: the course's own."""
        self._given_up = "the grader gave up"
        self.close()

    def close(self):
        """End the box, if there is one, and count what it printed. No errors. Source: the course's own."""
        box, self.box = self.box, None
        if box:
            if not box.close():
                self._note("a process of this answer could not be ended; look for it on the grading machine.")
            self.output_bytes += box.output_bytes
