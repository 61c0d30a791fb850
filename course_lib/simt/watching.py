"""Whether a loop only waits: turns in which nothing changes, neither in memory nor in its variables.

Source: NVIDIA, "CUDA C++ Programming Guide", "Independent Thread Scheduling". The walk is deterministic: a turn that
leaves everything as it was will do so for ever, until another thread changes what is waited for.
"""

import ast

import numpy as np

from course_lib.simt.vocabulary import Cast, Word
from course_lib.simt.waiting import PATIENCE


class Watch:
    """One loop on its way, watched from its second turn on, if it may wait.

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
    """Return (whether a loop may wait, the names that it sets).

    It may wait if how often it goes round hangs on what it reads from memory, or on what it calls: its test does, or a
    test in front of a way out; by a value, or because a name in it is given its value where another such test says so.
    """
    if id(node) not in source.asking:
        walk = source.text.below
        body = [n for statement in node.body for n in walk(statement)]
        tests = [n for n in body if isinstance(n, ast.If | ast.While)]
        ways_out = [t.test for t in tests if any(isinstance(n, ast.Break | ast.Return) for n in walk(t))]
        ways_out += [node.test] if isinstance(node, ast.While) else []
        asked = _asked(source, body, tests) if ways_out else set()
        asks = any(_asks(source, test, asked) for test in ways_out)
        names = {n.id for n in (*body, *ways_out) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        source.asking[id(node)] = asks, sorted(names)
    return source.asking[id(node)]


def _asked(source, body, tests):
    """Return the names that hang on memory or on calls, by their values or by where they are set."""
    asked, before = set(), None
    while asked != before:
        before = set(asked)
        for n in body:
            if isinstance(n, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.For):
                value = n.iter if isinstance(n, ast.For) else n.value
                if value is not None and _asks(source, value, asked):
                    asked |= _set_by(source, n)
        for test in tests:
            if _asks(source, test.test, asked):
                asked |= _set_by(source, test)
    return asked


def _set_by(source, node):
    return {n.id for n in source.text.below(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _asks(source, node, asked):
    """Whether an expression reads memory, calls something that may, or has a name that hangs on that."""
    for n in source.text.below(node):
        if isinstance(n, ast.Name) and n.id in asked:
            return True
        if isinstance(n, ast.Subscript) and not (isinstance(n.value, ast.Attribute) and n.value.attr == "shape"):
            return True
        if isinstance(n, ast.Call) and not _only_computes(source, n.func):
            return True
    return False


def _only_computes(source, function):
    """Whether a call is one of a cast, of `math`, or of another word that has nothing to do with memory."""
    root = function
    while isinstance(root, ast.Attribute):
        root = root.value
    meaning = source.meanings.get(root.id) if isinstance(root, ast.Name) else None
    path = ast.unparse(function) if isinstance(function, ast.Attribute) else ""
    return isinstance(meaning, Cast) or (isinstance(meaning, Word) and not meaning.path.startswith("cuda")) or (
        isinstance(meaning, Word) and path.startswith("cuda.") and path.removeprefix("cuda.") in COMPUTES
    )  # fmt: skip


COMPUTES = ("grid", "gridsize", "fma", "popc", "clz", "ffs", "brev", "cbrt", "selp")
