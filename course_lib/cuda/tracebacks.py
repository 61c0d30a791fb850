"""Tracebacks that end where the reader's own lines end: a mistake in a kernel is not looked for in the executor.

A launch raises what is found in a kernel from one line of its own, and a notebook leaves that line out as well.
COURSE_TRACEBACK=full shows all of them. Source: the course's own; IPython's hook `_render_traceback_`.
"""

import os
import types
from pathlib import Path

OURS = str(Path(__file__).parents[1])
"""The folder of course_lib."""


def full():
    """Return whether the environment asks for whole tracebacks. No errors. Source: the course's own."""
    return os.environ.get("COURSE_TRACEBACK") == "full"


class OneLine(Exception):
    """An error of the reader's kernel or launch, not of the executor: its traceback is short. Source: the course's."""

    def _render_traceback_(self):
        """Return the lines that a notebook shows."""
        from IPython import get_ipython

        lines = self.__traceback__ if full() else outside(self.__traceback__)
        return get_ipython().InteractiveTB.structured_traceback(type(self), self, lines, tb_offset=1)


def outside(traceback, ours=OURS):
    """Return a traceback without the frames of course_lib; the whole one if no other is left. No errors."""
    kept, each = [], traceback
    while each is not None:
        if not each.tb_frame.f_code.co_filename.startswith(ours):
            kept.append(each)
        each = each.tb_next
    shown = None
    for each in reversed(kept):
        shown = types.TracebackType(shown, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return shown or traceback


def shortened(error):
    """Return an error to be raised anew, without the lines that led to it if it is a `OneLine`. No errors."""
    return error.with_traceback(None) if isinstance(error, OneLine) and not full() else error
