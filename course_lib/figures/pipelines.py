"""A job in pieces to play with: one stream or three, room for more or fewer pieces, a wait that may be left out.

The page's script counts as `streams.simulate` does with the requests of `pipeline_requests`; a test compares the two.
Source: H, "Mini-Batching May be Needed to Fill GPU" (read next, compute present, write previous).
"""

from course_lib.streams import read_compute_write, simulate

from .engine_rows import stream_rows
from .live import live

PIECES, MOST, SLOTS = 8, 20, 3
"""Pieces of the job; the most microseconds of a stage, and the most slots, that the sliders offer."""


def pipeline(read=10, compute=12, write=8, *, slots=2, streams=3, pinned=True, waits=True):
    """Return a figure in which the reader sets the times of a job in 8 pieces, its streams, and its memory.

    Parameters
    ----------
    read, compute, write : int
        Microseconds for a piece at first, 1 to 20.
    slots : int
        Pieces that the card has room for, 1 to 3.
    streams : 1 or 3
        All in one, or one for each stage.
    pinned : bool
    waits : bool
        Whether a piece is read only when the one whose place it takes has been computed.

    Returns
    -------
    figures.Live

    ValueError for a number that is not on offer. Source: H, "Mini-Batching May be Needed to Fill GPU".
    """
    for name, value, most in (("read", read, MOST), ("compute", compute, MOST), ("write", write, MOST),
                              ("slots", slots, SLOTS)):  # fmt: skip
        if not (isinstance(value, int) and 1 <= value <= most):
            raise ValueError(f"{name} is {value!r}; it must be a whole number from 1 to {most}.")
    if streams not in (1, 3):
        raise ValueError(f"streams is {streams!r}; it must be 1 or 3.")
    data = {
        "pieces": PIECES, "times": [read, compute, write], "most": MOST, "slots": slots, "mostSlots": SLOTS,
        "streams": [1, 3].index(streams), "pinned": pinned, "waits": waits,
    }  # fmt: skip
    run = simulate(read_compute_write(read, compute, write, slots=slots, pinned=pinned),
                   pipeline_requests(PIECES, slots, streams=streams, waits=waits))  # fmt: skip
    return live("pipeline", data, title="Read the next, compute this one, write the last", static=stream_rows(run))


def pipeline_requests(pieces, slots, *, streams=3, waits=True):
    """Return the requests of a host that reads, computes and writes so many pieces, for `streams.simulate`.

    Parameters
    ----------
    pieces, slots : int
    streams : 1 or 3
    waits : bool
        False: pieces are read without waiting until the one in their place has been computed.

    No errors. Source: H, "Mini-Batching May be Needed to Fill GPU".
    """
    if streams == 1:
        return [(stage, k, "one") for k in range(pieces) for stage in ("read", "compute", "write")]
    requests = []
    for k in range(pieces):
        if k >= slots and waits:
            requests.append(("wait", f"computed {k - slots}", "reads"))
        requests += [("read", k, "reads"), ("record", f"read {k}", "reads"), ("wait", f"read {k}", "computes")]
        if k >= slots:
            requests.append(("wait", f"written {k - slots}", "computes"))
        requests += [("compute", k, "computes"), ("record", f"computed {k}", "computes")]
        requests += [("wait", f"computed {k}", "writes"), ("write", k, "writes"), ("record", f"written {k}", "writes")]
    return requests
