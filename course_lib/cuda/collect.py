"""Whether a launch on the SIMT executor stops at its first hazard.

Source: the course's own.
"""

from contextlib import contextmanager
from contextvars import ContextVar

_collecting = ContextVar("_collecting", default=False)


def on_error():
    """Return what the SIMT executor does at a hazard now, "raise" or "collect". No errors."""
    return "collect" if _collecting.get() else "raise"


@contextmanager
def collect_hazards():
    """Inside `with gpu.collect_hazards():`, a launch on the SIMT executor goes on after a hazard.

    `kernel.report.hazards` then lists all of them. On other devices it does nothing, nor in other threads.
    No errors. Source: the course's own.
    """
    before = _collecting.get()
    _collecting.set(True)
    try:
        yield
    finally:
        _collecting.set(before)
