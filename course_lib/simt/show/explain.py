"""The picture that explains a finding of a report, for the report itself and for cards of checks.

Source: the course's own.
"""

from course_lib.simt.show.bounds_picture import KINDS, bounds_picture
from course_lib.simt.show.memory_map import memory_map
from course_lib.simt.show.race_picture import BARRIERS, RACES, drawable, race_picture

ACCESSES = ("misaligned", "uncoalesced", "bank conflicts", "loads")
"""Kinds of findings that the memory map of their access explains."""


def picture_of(report, hazard):
    """Return a `figures.Picture` that explains a finding of a report, None if there is none.

    The array's end for an index out of bounds, two threads and an element for a race, the threads of a block for a
    barrier, and the memory map of the access for what memory moves in vain.

    Parameters
    ----------
    report : simt.Report
    hazard : simt.hazards.Hazard
        One of its hazards or its advice.

    No errors. Source: the course's own.
    """
    if hazard.kind in RACES + BARRIERS:
        return race_picture(report, hazard).static if drawable(hazard) else None
    if hazard.kind in KINDS and {"index", "size", "thread", "block"} <= hazard.details.keys():
        return bounds_picture(report, hazard)
    if hazard.kind not in ACCESSES or not hazard.array:
        return None
    way = hazard.details.get("way")
    for wanted in ((hazard.line, hazard.array, way), (None, hazard.array, way), (None, hazard.array, None)):
        try:
            return memory_map(report, *wanted)
        except ValueError:  # no thread was inside of the array there, or the picture would be too large
            continue
    return None
