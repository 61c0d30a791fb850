"""The picture that explains a finding of a report, for cards of checks: the memory map of the access it speaks of.

Source: the course's own.
"""

from course_lib.simt.show.memory_map import memory_map

ACCESSES = ("out of bounds", "negative index", "misaligned", "uncoalesced", "bank conflicts", "loads")
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
            return memory_map(report, *wanted)
        except ValueError:  # no thread was inside of the array there, or the picture would be too large
            continue
    return None
