"""What a thread says and where it stops: print, raise and assert.

Source: Numba's documentation, "Supported Python features in CUDA Python" (print, assert, raise) and "Debugging CUDA
Python with the CUDA Simulator". On a GPU a thread that raises stops there, and nobody is told unless the kernel was
compiled with debug=True; here it is a finding.
"""

import ast

import numpy as np

from course_lib.simt.functions import function
from course_lib.simt.memory import View
from course_lib.simt.values import describe, is_number

MOST_PRINTED = 1_000
"""Lines that are kept of a launch: a GPU's buffer for them is limited too."""

MOST_CHARACTERS = 500
"""Of one line."""


class Stops:
    """The part of an `Evaluator` that knows raise and assert. Source: the course's own."""

    def _do_Raise(self, node, mask):
        if node.exc is None or node.cause is not None:
            raise self._error(node, 'raise takes an exception with a text, such as raise ValueError("n is negative").')
        call = node.exc if isinstance(node.exc, ast.Call) else None
        name = call.func if call else node.exc
        texts = [*call.args, *call.keywords] if call else []
        if not isinstance(name, ast.Name) or any(not _is_known_before(t) for t in texts):
            raise self._error(node, "what is raised is an exception with constants only: Numba knows no others.")
        if name.id in self.source.assigned:
            raise self._error(node, f"{name.id} is a variable and no exception, which is what raise takes.")
        if name.id not in self.source.outside:
            raise self._error(node, f"{name.id} is not defined, neither in the kernel nor outside of it.")
        text = ", ".join(str(t.value) for t in texts)
        return self._stop(node, mask, f"raises {name.id}" + (f": {text}" if text else ""))

    def _do_Assert(self, node, mask):
        truth = self._truth(node.test, mask)
        self.machine.count(node.lineno, mask)
        if self.typing:
            return mask
        mask = self._still(mask)
        failed = mask.where(~np.broadcast_to(truth, self.lanes.count))
        if not failed.empty:
            said = node.msg.value if isinstance(node.msg, ast.Constant) else ast.unparse(node.test)
            self._stop(node, failed, f"raises AssertionError: {said}")
        return mask.without(failed)

    def _stop(self, node, mask, what):
        """The lanes of a mask leave the kernel: a finding."""
        if self.typing:
            self.dead = True
            return mask
        if not mask.empty:
            lane = self.machine.lane_of(mask, 0)
            what = what if len(what) < MOST_CHARACTERS else what[:MOST_CHARACTERS] + " ..."
            self.machine.found(
                "raised", node.lineno, f"{self.lanes.name(lane)} {what}.",
                "A GPU stops the thread there and tells nobody, unless the kernel is compiled with debug=True: look "
                "after the launch whether it happened, or test before it.", lane=lane, count=mask.count,
            )  # fmt: skip
            self.machine.stop(mask)
            self.alive = self.alive.without(mask)
        return mask.none()

    def _still(self, mask):
        """Return the lanes of a mask that are still here: not stopped by an exception, not ahead (`waiting`)."""
        machine = self.machine
        if not machine.filtering:
            return mask
        self.alive = self.alive.where(~machine.exited)
        return mask.where(~(machine.exited | machine.away))


def _is_known_before(node):
    return isinstance(node, ast.Constant) or (isinstance(node, ast.keyword) and isinstance(node.value, ast.Constant))


@function("print")
def _print(e, mask, node, *values):
    """Print the values of each active lane, as C's printf does it on a GPU."""
    for value in values:
        if isinstance(value, View) or not _can_print(value):
            raise TypeError(f"{describe(value)} cannot be printed; it takes numbers and texts in quotes")
    e.machine.count(node.lineno, mask)
    if e.typing:
        return
    left = MOST_PRINTED - len(e.machine.printed)
    lanes = np.arange(e.lanes.count)[mask.index]
    e.machine.budget -= min(left, lanes.size) // 8  # lane by lane in Python
    for lane in lanes[: max(0, left)]:
        line = " ".join(_shown(v, lane) for v in values)
        line = line if len(line) <= MOST_CHARACTERS else line[:MOST_CHARACTERS] + " ..."
        e.machine.printed.append(line)
        if e.machine.show:
            e.machine.show(line)
    e.machine.not_printed += max(0, lanes.size - max(0, left))


def _can_print(value):
    if type(value) is tuple:
        return all(map(_can_print, value))
    return type(value) is str or (is_number(value) and value.dtype.kind != "c")


def _shown(value, lane):
    if type(value) is str:
        return value
    if type(value) is tuple:
        inner = ", ".join(_shown(v, lane) for v in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    value = value[lane] if np.ndim(value) else value
    if value.dtype.kind == "f":
        return f"{float(value):f}"
    if value.dtype.kind == "c":
        return f"({float(value.real):f}, {float(value.imag):f})"
    return str(value)
