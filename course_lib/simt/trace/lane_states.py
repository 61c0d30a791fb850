"""What each lane of a warp does while a statement is walked: a letter for each, and what the letter means.

Source: NVIDIA, "CUDA C++ Programming Guide", "SIMT Architecture"; the course's own.
"""

import numpy as np

from course_lib.simt.waiting import Branch, Loop

ACTIVE, BARRIER, NEXT, SKIPS, DONE, LEFT, TURN, RETURNED, EXITED, WAITS, AWAY, NONE = "abesdlcrxpm-"

MEANINGS = {
    ACTIVE: "active",
    BARRIER: "waits at the barrier",
    NEXT: "waits for the other side of the if",
    SKIPS: "skips the body of the if",
    DONE: "has done its side of the if, and waits",
    LEFT: "has left the loop, and waits",
    TURN: "has ended this turn of the loop, and waits",
    RETURNED: "has returned from the function, and waits",
    EXITED: "has left the kernel",
    WAITS: "waits for other threads",
    AWAY: "is not here",
    NONE: "no such thread",
}
"""What a letter says of a lane."""

RUNNING = ACTIVE + BARRIER
"""Letters of lanes that take part in the statement."""

MASKED = NEXT + SKIPS + DONE + LEFT + TURN + RETURNED + AWAY
"""Letters of lanes that are switched off for now."""


def states(e, active, lanes):
    """Return a letter for each lane of a slice `lanes`; `active` is a bool for each of them. No errors."""
    out = np.full(active.size, AWAY)
    while e is not None:
        for frame in reversed(e.path):  # the innermost says it
            for letter, mask in _parts(frame):
                if mask is not None:
                    out[_bits(mask, lanes) & (out == AWAY)] = letter
        e_alive = _bits(e.alive, lanes)
        if e.caller is not None and e.called is not None:
            out[_bits(e.called, lanes) & ~e_alive & (out == AWAY)] = RETURNED
        machine, e = e.machine, e.caller
    out[machine.away[lanes]] = WAITS
    out[machine.exited[lanes]] = EXITED
    out[active] = ACTIVE
    return "".join(out)


def _parts(frame):
    if isinstance(frame, Branch):
        yield NEXT if frame.node.orelse else SKIPS, frame.other
        yield DONE, frame.done
    elif isinstance(frame, Loop):
        yield TURN, frame.continued
        yield LEFT, frame.finished
        yield LEFT, frame.broken


def _bits(mask, lanes):
    """Return which lanes of a slice are in a Mask."""
    return np.ones(lanes.stop - lanes.start, np.bool_) if mask.bits is None else mask.bits[lanes]


def in_slice(mask, lanes):
    """Return which of the active lanes of a Mask lie in a slice, as a slice of them; and their numbers in `lanes`."""
    if mask.bits is None:
        return lanes, np.arange(lanes.stop - lanes.start)
    low, high = np.searchsorted(mask.index, (lanes.start, lanes.stop))
    return slice(int(low), int(high)), mask.index[low:high] - lanes.start


bits_of = _bits
