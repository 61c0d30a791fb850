"""An all-reduce, message by message, for lesson 18: by one rank, by a tree, in a ring.

Source: P. Patarasuk and X. Yuan (2009); R. Thakur, R. Rabenseifner and W. Gropp (2005).
"""

from course_lib.simt.show.panel import EDGE, WIDTH, Panel
from course_lib.validate import require_choice, require_count, require_some

from . import style
from .live import live
from .picture import picture

SAID = {"ring": "ring", "tree": "tree", "all_to_one": "all to one"}
MOST = 8
STOPPED = 2
"""The rank that can be stopped."""


def rounds(by, size):
    """Return the messages of an all-reduce, a list of rounds; those of a round are on their way at the same time.

    A message is (source, to, part, adds): the number of the part of the array, -1 for all of it, and whether the
    receiver adds it to its own or takes it instead. ValueError, TypeError: no such way, size no whole number >= 2.
    Source: as the module.
    """
    require_choice("by", by, tuple(SAID))
    n = require_count("size", size, minimum=2)
    if by == "ring":
        scatter = [[(r, (r + 1) % n, (r - s) % n, True) for r in range(n)] for s in range(n - 1)]
        return scatter + [[(r, (r + 1) % n, (r - s + 1) % n, False) for r in range(n)] for s in range(n - 1)]
    if by == "all_to_one":
        return [[(r, 0, -1, True)] for r in range(1, n)] + [[(0, r, -1, False)] for r in range(1, n)]
    distances = [2**k for k in range((n - 1).bit_length())]
    up = [[(r + d, r, -1, True) for r in range(0, n - d, 2 * d)] for d in distances]
    return up + [[(r, r + d, -1, False) for r in range(d) if r + d < n] for d in distances]


def holdings(by, size, steps):
    """Return who holds what after some rounds: for each rank and part of the array a list of ranks in its sum.

    (size, size) list of lists of sets. ValueError if a number is added twice. Source: the course's own.
    """
    held = [[{rank} for _ in range(size)] for rank in range(size)]
    for messages in rounds(by, size)[:steps]:
        before = [[set(part) for part in parts] for parts in held]
        for source, to, part, adds in messages:
            for p in range(size) if part < 0 else [part]:
                if adds and before[source][p] & held[to][p]:
                    raise ValueError(f"{by}: rank {to} adds something twice.")
                held[to][p] = before[source][p] | held[to][p] if adds else before[source][p]
    return held


def waiting(by, size, steps, stopped):
    """Return the ranks that wait in vain after some rounds if the rank `stopped` sends nothing: a set. No errors.

    A rank that waits sends nothing more, so others come to wait for it. Source: the course's own.
    """
    still = set()
    for messages in rounds(by, size)[:steps]:
        silent = still | {stopped}
        still |= {to for source, to, *_ in messages if source in silent and to != stopped}
    return still


def all_reduce_steps(sizes=(4, 8)):
    """Return a figure that steps through an all-reduce of several ranks in three ways.

    Parameters
    ----------
    sizes : sequence of int
        Numbers of ranks to choose from, 3 to 8; the first is shown first. Rank 2 can be stopped.

    ValueError or TypeError for others. Source: as the module.
    """
    require_some("the numbers of ranks", sizes)
    for size in sizes:
        if not STOPPED < require_count("size", size) <= MOST:
            raise ValueError(f"size is {size}; must be 3 to {MOST}, as more ranks cannot be read on a phone.")
    plans = {str(size): {by: rounds(by, size) for by in SAID} for size in sizes}
    data = {"sizes": list(sizes), "ways": list(SAID), "said": list(SAID.values()), "plans": plans, "stopped": STOPPED}
    title = "Each rank has numbers, and wants the sums over all"
    return live("reduce_steps", data, title=title, static=_static(sizes[0]))


def _static(size):
    done = size - 1  # rounds of the ring until each rank has the whole sum of a part
    held, cell = holdings("ring", size, done), min(40, (WIDTH - 2 * EDGE) // size)
    p = Panel(WIDTH, 60 + size * 22 + 20)
    p.text(EDGE, 16, f"a ring of {size}, after {done} of {2 * done} steps", bold=True)
    for rank, parts in enumerate(held):
        x = EDGE + rank * (cell + 8)
        p.text(x + cell / 2, 38, f"rank {rank}" if size <= 6 else str(rank), anchor="middle")
        for k, who in enumerate(parts):
            full = len(who) == size
            fill = style.tint("output", 0.7) if full else style.tint("data", 0.1 + 0.5 * len(who) / size)
            p.rect(x, 46 + 22 * k, cell, 20, fill=fill, stroke="ink" if full else "idle")
            p.text(x + cell / 2, 46 + 22 * k + 14, str(len(who)), anchor="middle", bold=full)
    p.text(EDGE, 60 + size * 22 + 8, "a row is a part of the array; how many ranks are in it", fill=style.MUTED)
    says = (
        f"In a ring of {size} ranks, after {done} steps each rank has the whole sum of one part of the array. "
        f"{done} more steps, and each has all of it: {2 * done} steps, in which each rank sends {2 * done} parts."
    )
    return picture(p, alt=says, caption=says)
