"""The executor's walk, looked at: an `Evaluator` that says which statement begins, and for whom.

Source: the course's own. A launch that is not traced uses neither class of this module, and pays nothing for them.
"""

from course_lib.simt.evaluate import Evaluator
from course_lib.simt.machine import Machine


class Walker(Evaluator):
    """An `Evaluator` that tells the machine's recorder of each statement and of each turn of a loop.

    Source: the course's own.
    """

    called = None

    def run(self, mask):
        """Run the body for the lanes of `mask`, as an `Evaluator`; its end is the end of its last step."""
        self.called = mask
        result = super().run(mask)
        self.machine.recorder.leave(self)
        return result

    def _statement(self, node, mask):
        self.machine.recorder.begin(self, node, mask)
        return super()._statement(node, mask)

    def _loop(self, node, mask, items):
        return super()._loop(node, mask, items if isinstance(items, Turns) else Turns(self, node, items))


class Turns:
    """The turns of a loop (`iteration`); each is a step of its own. Source: the course's own."""

    def __init__(self, e, node, items):
        self.e, self.node, self.items = e, node, items

    def more(self, active):
        """Return whether lanes go round once more."""
        self.e.machine.recorder.begin(self.e, self.node, active, turn=True)
        return self.items.more(active)

    def begin(self, active):
        """Begin a turn."""
        self.items.begin(active)

    def advance(self, active):
        """End a turn."""
        self.items.advance(active)

    def copy(self):
        """Return an own one, for lanes that go on alone."""
        return Turns(self.e, self.node, self.items.copy())


class Cold:
    """In place of `alone.handover.Heat`: no loop is handed over to compiled code, which shows no steps.

    Source: the course's own.
    """

    def take_over(self, e, frame, active, watch):
        """Do no turns."""
        return 0


class WatchedMachine(Machine):
    """A `Machine` that tells its recorder of accesses, branches, barriers and findings.

    Source: the course's own.
    """

    def __init__(self, recorder, *arguments, **options):
        super().__init__(*arguments, **options)
        self.recorder, self.heat = recorder, Cold()

    def begin(self, lanes):
        """Start a batch of blocks."""
        super().begin(lanes)
        self.recorder.batch(self, lanes)

    def _enter(self, way, view, place, shift, node, width=1):
        super()._enter(way, view, place, shift, node, width)
        self.recorder.touch(way, view.memory, place.cells + shift, place.stay, width)

    def _write(self, view, cells, values, mask, node, sure=False):
        super()._write(view, cells, values, mask, node, sure)
        self.recorder.wrote(view.memory, cells, values, mask)

    def atomic(self, view, indices, value, expected, combine, what, mask, node):
        """Let lanes change elements one after the other; return the old numbers."""
        old = super().atomic(view, indices, value, expected, combine, what, mask, node)
        self.recorder.changed(view.memory, old)
        return old

    def branch(self, line, mask, condition):
        """Count a branch of the active warps."""
        super().branch(line, mask, condition)
        self.recorder.branch(mask, condition)

    def barrier(self, mask, line):
        """All threads of a block wait for each other."""
        super().barrier(mask, line)
        self.recorder.barrier("block")

    def pass_warps(self, mask):
        """Enter that the lanes of a mask passed a barrier of their warps."""
        super().pass_warps(mask)
        self.recorder.barrier("warp")

    def grid_barrier(self, mask, line):
        """All threads of the grid wait for each other."""
        super().grid_barrier(mask, line)
        self.recorder.barrier("grid")

    def found(self, kind, line, message, fix, **facts):
        """Enter a hazard."""
        try:
            super().found(kind, line, message, fix, **facts)
        finally:  # it may stop the run
            self.recorder.found(kind, line, message, fix, self.function, **facts)
