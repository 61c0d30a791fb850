"""A notebook that runs: its cells in a box, and the box again after it was ended, without the cell that did it.

Source: the course's own.
"""

import dataclasses
import time

from course_lib.checks.judge import Outcome
from course_lib.checks.values import ValueProblem, decode, encode
from course_lib.grading.definitions import only_definitions
from course_lib.grading.notebook import defines
from course_lib.grading.replies import BoxEnded
from course_lib.grading.sandbox import Box

MOST_KILLED = 6
"""Cells that may end the process before the notebook is given up."""


class Running:
    """The cells of a notebook, run when the first answer is called.

    Parameters
    ----------
    cells : sequence of notebook_file.Cell
    level : str
    limits : Limits
    end : float
        When the time of the submission is over, by `time.monotonic`.
    hidden : sequence of str
        Folders that no answer may see: the keys.

    `lost` are the seconds that answers may have cost others: they are no question's own.

    Source: the course's own.
    """

    def __init__(self, cells, level, limits, end, hidden=()):
        self.cells, self.level, self.limits, self.end = list(cells), level, limits, end
        self.hidden = hidden
        self.errors, self.notes, self.box = {}, [], None
        self._served, self._enders, self.lost = set(), set(), 0.0
        self.boxes = self.output_bytes = self._killed = 0
        self._given_up = ""

    def call(self, function, case, end):
        """Return the `Outcome` of an answer for a case.

        Parameters
        ----------
        function : str
        case : Case
        end : float
            When the time of the question is over.

        NoBox if no box can be started. Source: the course's own.
        """
        if self.box and not self.box.is_quiet():
            self.close()  # what an earlier call left behind is not this one's fault
        began = time.monotonic()
        outcome, ended = self._once(function, case, end)
        others = self._served - {function}
        if ended and others and function not in self._enders:  # another answer may have done it: again, without them
            self.close()
            lost = time.monotonic() - began
            self.lost += lost
            outcome, ended = self._once(function, case, end + lost)
        if ended and self._served == {function}:
            self._enders.add(function)
        return outcome

    def _once(self, function, case, end):
        """Return (outcome, whether it ended the box)."""
        if not self.box and not self._given_up:
            self._boot()
        if self._given_up:
            return Outcome(error=self._given_up), False
        self._served.add(function)
        seconds = min(self.limits.call, min(end, self.end) - time.monotonic())
        if seconds <= 0:
            return Outcome(error=self._over(end)), False
        request = {"do": "call", "function": function, "limit": round(seconds, 1)}
        try:
            reply = self.box.ask({**request, "args": [encode(a) for a in case.args]}, seconds)
            value = decode(reply["value"]) if reply["value"] is not None else None
        except BoxEnded as error:
            self.close()
            return Outcome(error=str(error)), True
        except ValueProblem as problem:
            return Outcome(error=f"ValueError: {problem}"), False
        error = reply["error"]
        if error == f"NameError: name {function!r} is not defined":
            error = self._why_missing(function)
        return Outcome(value, error, tuple(reply["changed"])), False

    def _boot(self):
        """Start a box and run the cells; after a kill start again without what killed it."""
        while not self._given_up:
            self.box = Box(self.level, self.limits, self.hidden)
            self.boxes += 1
            self._served = set()
            for number, cell in enumerate(self.cells):
                seconds = min(self.limits.cell, self.end - time.monotonic())
                if seconds <= 0:
                    self.close()
                    self._given_up = self._over(self.end)
                    return
                if problem := self._ended_by(number, cell, seconds):
                    self.close()
                    self._killed += 1
                    if self._killed >= MOST_KILLED:
                        self._given_up = f"{problem}, in {cell.name}; {MOST_KILLED} cells did so"
                        return
                    break
            else:
                return

    def _ended_by(self, number, cell, seconds):
        """Run a cell; return why it ended the box, "" if it did not."""
        if not cell.source.strip():
            return ""
        request = {"do": "cell", "name": cell.name, "source": cell.source, "limit": round(seconds, 1)}
        try:
            error = self.box.ask(request, seconds)["error"]
        except BoxEnded as ended:
            self._shorten(number, cell, str(ended))
            return str(ended)
        if error:
            self.errors.setdefault(cell.name, error)
            self._note(f"{cell.name} stopped: {error}")
            if error.startswith("TimeoutError: it ran longer"):
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

    def _over(self, end):
        which, seconds = ("question", self.limits.question)
        if end >= self.end:
            which, seconds = ("whole notebook", self.limits.submission)
        return f"TimeoutError: the {seconds:g} s for the {which} are used up"

    def stop(self):
        """End the box and start none again. No errors. Source: the course's own."""
        self._given_up = "TimeoutError: the grader gave up"
        self.close()

    def close(self):
        """End the box, if there is one, and count what it printed. No errors. Source: the course's own."""
        box, self.box = self.box, None
        if box:
            if not box.close():
                self._note("a process of this answer could not be ended; look for it on the grading machine.")
            self.output_bytes += box.output_bytes
