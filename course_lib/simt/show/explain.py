"""The picture that explains a finding of a report, for cards of checks: the memory map of the access it speaks of.

Source: the course's own.
"""

from dataclasses import replace

import numpy as np

from course_lib.simt.show.memory_map import memory_map

OUTSIDE = ("out of bounds", "negative index")

ACCESSES = (*OUTSIDE, "misaligned", "uncoalesced", "bank conflicts", "loads")
"""Kinds of findings that a memory map explains."""


def picture_of(report, hazard):
    """Return a `figures.Picture` that explains a finding of a report, None if there is none.

    Parameters
    ----------
    report : simt.Report
    hazard : simt.hazards.Hazard
        One of its hazards or its advice.

    No errors. Source: the course's own.
    """
    if hazard.kind not in ACCESSES or not hazard.array:
        return None
    way = hazard.details.get("way")
    for wanted in ((hazard.line, hazard.array, way), (None, hazard.array, way), (None, hazard.array, None)):
        try:
            picture = memory_map(report, *wanted)
        except ValueError:  # no thread was inside of the array there, or the picture would be too large
            continue
        return _with_outside(picture, hazard) if hazard.kind in OUTSIDE else picture
    return None


def _with_outside(picture, hazard):
    """Say what the map cannot draw: the threads that have no element."""
    said = f"Drawn are the threads that stay inside of {hazard.array}; {hazard.count:,} accesses do not"
    at = hazard.details.get("index")
    said += f", such as the one to index {', '.join(map(str, np.atleast_1d(at)))}." if at is not None else "."
    return replace(picture, alt=f"{picture.alt} {said}", caption=said)
