"""Whether a launch on the SIMT executor stops at its first hazard.

Source: the course's own.
"""

from contextlib import contextmanager

_collecting = False


def on_error():
    """Return what the SIMT executor does at a hazard now, "raise" or "collect". No errors."""
    return "collect" if _collecting else "raise"


@contextmanager
def collect_hazards():
    """Inside `with gpu.collect_hazards():`, a launch on the SIMT executor goes on after a hazard.

    `kernel.report.hazards` then lists all of them. On other devices it does nothing. No errors.
    Source: the course's own.
    """
    global _collecting
    before, _collecting = _collecting, True
    try:
        yield
    finally:
        _collecting = before
