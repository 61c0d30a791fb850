"""Whether a loop only waits: turns in which nothing changes, neither in memory nor in its variables.

Source: NVIDIA, "CUDA C++ Programming Guide", "Independent Thread Scheduling". The walk is deterministic: a turn that
leaves everything as it was will do so for ever, until another thread changes what is waited for.
"""

import ast

import numpy as np

from course_lib.simt.waiting import PATIENCE


class Watch:
    """One loop on its way, watched from its second turn on: a `while`, or a `for` that asks memory.

    Source: the course's own.
    """

    def __init__(self, evaluator, frame):
        self.e, self.frame = evaluator, frame
        self.asks, self.names = _facts(evaluator.source, frame.node)
        self.may_repeat = isinstance(frame.node, ast.While)
        self.before, self.quiet = None, 0

    def nothing_changed(self, active):
        """Return, after a turn, whether the loop waits: nothing has changed, or nobody left for long."""
        if not self.asks or active.empty:
            return False
        machine, e = self.e.machine, self.e
        machine.watching = True
        now = machine.changes, active.count
        if self.before is None or self.before[0] != now:
            self.before, self.quiet = (now, None), 0
            return False
        self.quiet += 1
        if not self.may_repeat:  # a for counts: it ends, but others may be in need before
            return self.quiet % PATIENCE == 0
        values = [e.variables.get(name) for name in self.names]
        same = self.before[1] is not None and all(map(_same, self.before[1], values))
        self.before = (now, values)
        return same or self.quiet % PATIENCE == 0

    def turned(self, turns):
        """Enter compiled turns: if they changed nothing in memory, others go on after the next one."""
        if self.before is not None:
            self.quiet = (self.quiet + turns) // PATIENCE * PATIENCE + PATIENCE - 1
            self.before = self.before[0], None

    def let_others_go_on(self, active):
        """Let lanes elsewhere go on; return the lanes still in the loop. KernelError where that changes nothing."""
        e, machine = self.e, self.e.machine
        same = self.quiet % PATIENCE != 0
        changes, gone = machine.changes, machine.exited.copy()
        if machine.ahead:  # somebody further out will try
            if self.may_repeat and same:
                return e.park(active, self.frame.node)
            return active
        e.others_go_on(self.frame)
        if same and machine.changes == changes and (gone == machine.exited).all():
            raise e.stuck(self.frame.node, active)
        self.before, self.quiet = None, 0
        return active


def _same(a, b):
    if a is b:
        return True
    if isinstance(a, np.ndarray | np.generic) and isinstance(b, np.ndarray | np.generic):
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
    return isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b) and all(map(_same, a, b))


def _facts(source, node):
    """Return (whether a loop reads arrays or calls something, else it waits for nobody; the names that it sets)."""
    if id(node) not in source.asking:
        parts = [n for child in (node.body, [getattr(node, "test", ast.Pass())]) for c in child for n in ast.walk(c)]
        asks = any(isinstance(n, ast.Subscript | ast.Call) for n in parts)
        names = {n.id for n in parts if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        source.asking[id(node)] = asks, sorted(names)
    return source.asking[id(node)]
