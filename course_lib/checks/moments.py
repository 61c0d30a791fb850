"""When an answer is taken: where its check stands, as in a notebook that is run from the top.

Names that later cells give again (a constant of another exercise, a helper, a variable called `sum`) then cost nothing.
An answer may be taken at three moments, which are tried in this order until its public part is right: a notebook whose
checks all pass, or passed once, keeps what they showed; and an answer that was repaired below its check counts too.

Source: the course's own.
"""

import re
import sys

import course_lib.checks

FIRST, LAST, DEFINED = "first check", "last check", "last definition"
MOMENTS = (FIRST, LAST, DEFINED)
"""An answer's first check, or as long as there is none its last definition; its last check, if there are several; and
a definition below its checks, which nobody has checked."""


def last_mentions(ids, sources):
    """Return {id: number of the last text}, -1 for none, that has an exercise's id in quotes, as its check has.

    Lines that are remarks do not count. No errors. Source: the course's own.
    """
    last = {}
    for id in ids:
        quoted = re.compile(rf"""^[^#\n]*["']{re.escape(id)}["']""", re.MULTILINE)
        numbers = (n for n in range(len(sources) - 1, -1, -1) if id in sources[n] and quoted.search(sources[n]))
        last[id] = next(numbers, -1)
    return last


class Moments:
    """Watches the names of the answers while cells are run.

    Parameters
    ----------
    answers : dict of {str: str}
        Exercise id -> name of its function.
    names : dict
        The notebook's.
    take : callable
        take(id, moment, answer), called when one of `MOMENTS` is there, for what may be one of several times.

    Source: the course's own.
    """

    def __init__(self, answers, names, take):
        self._answers, self._names, self._take = answers, names, take
        self._seen, self._checked = {}, set()

    def after_cell(self, later=()):
        """Take the answers that a cell has defined and not checked, but for ids in `later`, whose checks are to come.

        What `take` raises passes through. Source: the course's own.
        """
        for id, function in self._answers.items():
            answer = self._names.get(function)
            if id not in later and callable(answer) and answer is not self._seen.get(id):
                self._seen[id] = answer
                self._take(id, DEFINED if id in self._checked else FIRST, answer)

    def check(self, id, answer):
        """Stand for `checks.check` in a cell: take this answer here. It returns None, always.

        Source: the course's own.
        """
        if id in self._answers and callable(answer):
            moment = LAST if id in self._checked else FIRST
            self._seen[id] = answer
            self._checked.add(id)
            self._take(id, moment, answer)
            print(f"{id}: it is looked at here.")  # a cell may read what is printed

    def install(self):
        """Put `check` in the place of the course's own, for notebooks that import it. No errors."""
        course_lib.checks.check = self.check
        sys.modules["course_lib.checks.check"].check = self.check
