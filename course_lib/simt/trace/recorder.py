"""What is kept of a launch for a trace: the steps of some warps of one block, as plain numbers and texts.

Source: the course's own. A *step* is one statement for the lanes that are active in it, the test of an `if`, or one
turn of a loop (its test, and the new value of its variable). It ends where the next one of the same function begins;
what a called function does lies between two steps of the line that calls it.
"""

import ast
import math

import numpy as np

from course_lib.simt.lanes import WARP
from course_lib.simt.trace.lane_states import ACTIVE, BARRIER, NONE, bits_of, states
from course_lib.simt.trace.packing import packed
from course_lib.simt.trace.touches import Touches
from course_lib.simt.trace.variables import Variables
from course_lib.simt.trace.walker import Walker, WatchedMachine

MOST_NUMBERS = 400_000
"""Numbers that a trace holds at the most."""

MOST_ELSEWHERE = 20
"""Findings of other blocks that are kept."""

SMALLER = "Take a smaller input, or follow another block or warp: gpu.trace(..., block=, warp=)."


class Enough(Exception):
    """The trace is as long as it may be: the run ends here. Source: the course's own."""


class Recorder:
    """Watches one launch, and keeps the steps of the warps `first_warp` ... of block number `block`.

    Source: the course's own.
    """

    walker = Walker

    def __init__(self, block, first_warp, warps, most):
        self.block, self.first_warp, self.warps, self.most = block, first_warp, warps, most
        self.steps, self.frames, self.elsewhere, self.stack = [], [], [], []
        self.on, self.numbers, self.full, self.machine_, self.touches = False, 0, None, None, None

    def machine(self, *arguments, **options):
        """Return the machine of the launch."""
        self.machine_ = WatchedMachine(self, *arguments, **options)
        return self.machine_

    def batch(self, machine, lanes):
        """A batch of blocks begins: look at it if it has the block."""
        self.finish()
        self.on = lanes.first <= self.block < lanes.first + lanes.blocks
        if not self.on:
            return
        start = (self.block - lanes.first) * lanes.threads
        first = start + self.first_warp * WARP
        self.lanes = slice(first, min(first + self.warps * WARP, start + lanes.threads))
        self.whole_block = slice(start, start + lanes.threads)
        self.of_launch, self.calls = lanes, {}
        self.touches = Touches(machine, self.lanes, self.whole_block)

    # ------------------------------------------------------------------------------------------- steps begin and end

    def begin(self, e, node, mask, turn=False):
        """A statement begins, or a turn of a loop."""
        if not self.on or _says_nothing(node):
            return
        top = self.stack[-1] if self.stack else None
        if turn and top is not None and top.e is e and top.node is node and not top.turn:
            top.turn = True  # the first turn belongs to the step in which the loop begins
            return
        self._end_of(e)
        if id(e) not in self.calls:
            self.calls[id(e)] = call = _Call(e, self.lanes, len(self.frames))
            start = call.variables.changes(bits_of(e.alive, self.lanes))
            self.frames.append({"function": e.machine.function, "start": start})
            self.numbers += 32 * len(start)
        active = bits_of(mask, self.lanes)
        letters = states(e, active, self.lanes) if active.any() else ""
        self.stack.append(_Pending(e, node, active, letters, turn))

    def leave(self, e):
        """A function has come to its end."""
        if self.on:
            self._end_of(e)
            self.calls.pop(id(e), None)

    def finish(self):
        """Nothing more comes of this batch."""
        while self.stack:
            self._end(self.stack.pop())
        self.on = False

    def _end_of(self, e):
        """End what is in progress in a function, and in those that it called."""
        while any(p.e is e for p in self.stack):
            self._end(self.stack.pop())

    def _end(self, p):
        p.touches += self.touches.taken()
        if not p.active.any():
            if p.found:
                self._keep(p, {"state": NONE * p.active.size})
            return
        for caller in self.stack:
            if not caller.called and caller.active.any():
                caller.called = True
                self._keep(caller, {"kind": "call"})
        self._keep(p, {})

    def _keep(self, p, more):
        if self.full:
            return
        self._has_room()
        node, call = p.node, self.calls[id(p.e)]
        step = {"line": node.lineno, "frame": call.number, "kind": _kind(node, p), "state": p.letters} | more
        if step["kind"] != "call":
            step["set"] = call.variables.changes(p.active)
        if p.barrier:
            step["barrier"] = p.barrier
            step["state"] = step["state"].replace(ACTIVE, BARRIER)
        if p.yes is not None and step["kind"] in ("if", "loop"):
            step["yes"] = packed(np.flatnonzero(p.yes))
        touched, p.touches = p.touches, []
        step["touch"] = [t.plain(self.touches) for t in touched]
        step["shared"] = self.touches.shared_changes()
        step["found"], p.found = list(p.found.values()), {}
        self.steps.append({k: v for k, v in step.items() if v not in ("", [], {}) or k == "state"})
        self.numbers += 32 * (1 + len(step.get("set", ()))) + sum(t.size for t in touched)
        self.numbers += sum(len(c["at"]) for c in step["shared"])

    def _has_room(self):
        """Raise Enough if nothing more may be kept; the last step says so."""
        if len(self.steps) >= self.most:
            self.full = f"The trace ends here: {self.most:,} steps are kept. {SMALLER}"
        elif self.numbers > MOST_NUMBERS:
            self.full = f"The trace ends here: it holds {self.numbers:,} numbers, at most {MOST_NUMBERS:,}. {SMALLER}"
        if self.full:
            found = _end_finding(self.full, self.steps[-1]["line"], "end of the trace", "advice")
            self.steps[-1].setdefault("found", []).append(found)
            raise Enough

    # ------------------------------------------------------------------------------------------- what a step did

    def touch(self, way, memory, cells, mask, width):
        """Lanes of a mask read or write."""
        if self.on and self.stack:
            self.touches.enter(way, memory, cells, mask, width)

    def wrote(self, memory, cells, values, mask):
        """Lanes of a mask wrote values to cells."""
        if self.on:
            self.touches.wrote(memory, cells, values, mask)

    def changed(self, memory, old):
        """An atomic operation is done, and gave the lanes the old numbers."""
        if self.on:
            self.touches.changed(memory, old)

    def branch(self, mask, condition):
        """Lanes of a mask go where `condition` holds, or do not."""
        if self.on and self.stack:
            p = self.stack[-1]
            true = condition if np.ndim(condition) == 0 else condition[self.lanes]
            p.yes = bits_of(mask, self.lanes) & true

    def barrier(self, kind):
        """The statement in progress is a barrier of the "block", the "warp" or the "grid"."""
        if self.on and self.stack:
            self.stack[-1].barrier = kind

    def found(self, kind, line, message, fix, function, *, array="", lane=None, count=1, severity="error", **details):
        """Something is wrong in the statement in progress."""
        finding = {
            "kind": kind, "line": line, "message": message, "fix": fix, "function": function or "", "array": array,
            "count": int(count), "severity": severity, "lane": None, "other": None,
        }  # fmt: skip
        if not (self.on and self.stack):
            if len(self.elsewhere) < MOST_ELSEWHERE:
                self.elsewhere.append(finding)
            return
        if lane is not None and self.lanes.start <= lane < self.lanes.stop:
            finding["lane"] = int(lane) - self.lanes.start
        other, block = details.get("other_thread"), details.get("other_block")
        if other and block == self.of_launch.block_triple(self.block):
            x, y, _ = self.of_launch.block_dim
            at = self.whole_block.start + other[0] + x * (other[1] + y * other[2]) - self.lanes.start
            if 0 <= at < self.lanes.stop - self.lanes.start:
                finding["other"] = at
        index = details.get("index")
        if isinstance(index, tuple):
            finding["index"] = list(map(int, index))
        self.stack[-1].found.setdefault((kind, line, array, severity), finding)

    def stop(self, error):
        """An error has ended the run: it is what the last step says."""
        finding = _end_finding(str(error), error.line, "the run ends", "error")
        if not self.stack:
            self.steps.append({"line": finding["line"], "frame": -1, "kind": "stop", "state": "", "found": [finding]})
            return
        last = next((p for p in reversed(self.stack) if finding["line"] in p.e.source.lines), self.stack[-1])
        frame = self.calls[id(last.e)].number
        finding["function"] = self.frames[frame]["function"]
        for p in self.stack:  # a hazard that stopped the run is said once
            p.found = {key: f for key, f in p.found.items() if f["message"] not in finding["message"]}
        letters = last.letters or NONE * last.active.size
        if last is self.stack[-1] and last.node.lineno == finding["line"]:
            last.found["stop"] = finding
            self.stack = [last]
            self.finish()
            return
        self.stack = self.stack[-1:]
        self.finish()
        stop = {"line": finding["line"], "frame": frame, "kind": "stop", "state": letters, "found": [finding]}
        self.steps.append(stop)


class _Pending:
    """A step in progress."""

    def __init__(self, e, node, active, letters, turn):
        self.e, self.node, self.active, self.letters, self.turn = e, node, active, letters, turn
        self.touches, self.found, self.yes, self.barrier, self.called = [], {}, None, "", False


class _Call:
    """One call of a function."""

    def __init__(self, e, lanes, number):
        self.e, self.number, self.variables = e, number, Variables(e, lanes)  # e is kept, so that its id is its own


def _says_nothing(node):
    docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return docstring or isinstance(node, ast.FunctionDef | ast.Global)


KINDS = {
    ast.If: "if", ast.For: "loop", ast.While: "loop", ast.Return: "return", ast.Break: "break",
    ast.Continue: "continue",
}  # fmt: skip


def _kind(node, p):
    return KINDS.get(type(node), "")


def _end_finding(message, line, kind, severity):
    return {
        "kind": kind, "line": line or 0, "message": message, "fix": "", "function": "", "array": "", "count": 1,
        "severity": severity, "lane": None, "other": None,
    }  # fmt: skip


def warps_of(block):
    """Return how many warps a block (x, y, z) has. No errors."""
    return -(-math.prod(block) // WARP)
