"""When a loop is handed over to compiled code, and back.

Source: the course's own. Compiling takes about a second, as long as some thousand turns of a walk; so a loop is handed
over when that many have been walked, or are sure to come.
"""

from course_lib.simt.alone.account import enter
from course_lib.simt.alone.compiled import Turns, code_of
from course_lib.simt.alone.loop import Translation
from course_lib.simt.alone.writer import NotPlain, NotYet
from course_lib.simt.iteration import Counting
from course_lib.simt.source import KernelError

HOT = 4_000
"""Turns, with those of loops inside, after which a loop is handed over; a `for` that has four times as many before it
goes at once."""

AGAIN = 200
"""Turns after which a loop is handed over whose code is there already."""

CHEAP = 16
"""Steps of compiled turns that use up one step of the launch's budget: they take far less than one that is walked."""

MOST_TURNS = 1 << 16
"""Turns at once of a loop that reads arrays: then others go on whom it may wait for."""

MOST_PAUSE = 1 << 14
"""Turns that are walked at the most before compiled code is tried again, after a turn that was unusual."""


class Heat:
    """The loops of a launch that one lane walks alone: which were compiled, and which cannot be.

    Source: the course's own.
    """

    def __init__(self):
        self.known, self.never = set(), set()

    def take_over(self, e, frame, active, watch):
        """Do turns of a loop whose only lane is that of `active`, if it is time; return how many were done."""
        frame.turn += 1
        _warm(e, 1)
        if frame.pause:
            frame.pause -= 1
            return 0
        node = id(e.source), id(frame.node)  # functions of one text, made with other values, share its nodes
        enough = AGAIN if node in self.known else HOT
        if frame.heat < enough and not (frame.turn == 2 and _left(frame, e, active) > 4 * enough):
            return 0
        if node in self.never or not _is_quiet(e.machine):
            return 0
        try:
            return self._run(e, frame, active, watch)
        except NotYet:
            frame.pause = AGAIN
        except NotPlain:
            self.never.add(node)
        return 0

    def _run(self, e, frame, active, watch):
        machine, total = e.machine, 0
        if frame.turns_of is None or frame.turns_of[0].mask is not active or not frame.turns_of[0].refreshed():
            frame.turns_of = _compiled(e, frame, active)
        translation, code = frame.turns_of
        most = MOST_TURNS if watch.asks else 1 << 40
        while total < most:
            turns = Turns(code, translation, most - total, machine.budget * CHEAP)
            total += turns.count
            if turns.count:
                machine.budget = turns.steps // CHEAP
                enter(machine, turns, active)
            if turns.count == 0 or (turns.site.size < 1000 and turns.count < 1000):
                break
        if total:
            for name, value in turns.values.items():
                e._set(name, value, active)
            if turns.i is not None:
                frame.items.i = turns.i
            watch.turned(total)
            self.known.add((id(e.source), id(frame.node)))
            _warm(e, total)
        frame.missed = 0 if total else frame.missed + 1
        frame.pause = min(MOST_PAUSE, 1 << frame.missed)
        return total


def _compiled(e, frame, active):
    """Return (the Translation of a loop, its code); NotPlain if there is none."""
    try:
        translation = Translation(e, frame, active)
        return translation, code_of(translation)
    except KernelError:  # of something that no turn has come to yet
        raise NotPlain("an error in the text") from None


def _warm(e, turns):
    """Turns of an inner loop are turns of those around it, which are handed over as a whole where they can be."""
    while e is not None:
        for each in e.loops:
            each.heat += turns
        e = e.caller


def _left(frame, e, active):
    """Return how many turns a `for` over a range has before it, 0 if that is not known."""
    items = frame.items
    if type(items) is not Counting:
        return 0
    lane = e.machine.lane_of(active, 0)
    i, stop, step = (int(v[lane]) if getattr(v, "ndim", 0) else int(v) for v in (items.i, items.stop, items.step))
    return max(0, (stop - i) // step) if step else 0


def _is_quiet(machine):
    """Return whether nothing goes on that turns of one lane have to look at: locks, numbers from unwritten memory."""
    return not (machine.holder or machine.undefined)
