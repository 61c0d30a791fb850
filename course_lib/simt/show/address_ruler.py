"""One access of a warp on a ruler of addresses: 32 lanes onto sectors, and beside them onto the 32 banks.

Source: NVIDIA, "CUDA C++ Programming Guide", "Device Memory Accesses" and "Shared Memory". The same addresses are
counted both ways, since what is cheap for global memory may be dear for shared memory, and the other way round. The
page's script counts as `traffic` does; a test compares the two.
"""

import numpy as np

from course_lib import figures
from course_lib.figures import style
from course_lib.simt.counters import Access
from course_lib.simt.lanes import WARP
from course_lib.simt.show.map_numbers import GlobalAccess, SharedAccess
from course_lib.simt.show.map_sheet import IN_VAIN
from course_lib.simt.show.memory_map import choose
from course_lib.simt.show.panel import EDGE, WIDTH, WORKED, Panel
from course_lib.simt.show.wording import count, percent, shape
from course_lib.simt.traffic import BANKS, SECTOR, WORD
from course_lib.validate import require_count

LINE = 128
"""Bytes of a cache line, and of all banks together: a shift by so many changes neither count."""

MOST_STRIDE, MOST_OFFSET, MOST_PADDING = 33, 32, 8
SIZES = 1, 2, 4, 8
CELL, STACK = 12, 8
"""Pixels of a lane in the static picture, and rows of the banks that it draws."""


def address_ruler(stride=1, offset=0, itemsize=4):
    """Return a picture of a warp that reads element `offset + stride * lane`; the reader moves both.

    Parameters
    ----------
    stride : int, 0 to 33
        Elements from one lane's to the next lane's.
    offset : int, 0 to 32
        The element that lane 0 reads.
    itemsize : 1, 2, 4 or 8
        Bytes of an element.

    Returns
    -------
    figures.Live

    Raises
    ------
    TypeError, ValueError
        A number that is no whole one, or outside these ranges.

    Source: the course's own; the anchor is a drawing of lanes and sectors side by side.
    """
    for name, value, most in (("stride", stride, MOST_STRIDE), ("offset", offset, MOST_OFFSET)):
        if require_count(name, value, minimum=0) > most:
            raise ValueError(f"{name} is {value}; it must be 0 to {most}, so that the ruler fits on a page.")
    if itemsize not in SIZES:
        raise ValueError(f"itemsize is {itemsize!r}; it must be 1, 2, 4 or 8 bytes.")
    access = linear(stride, offset, itemsize)
    data = {
        "way": "stride", "stride": stride, "offset": offset, "itemsize": itemsize, "lanes": list(range(WARP)),
        "strides": list(range(MOST_STRIDE + 1)), "sizes": list(SIZES),
    }  # fmt: skip
    title = "Addresses of a warp: which sectors, which banks?"
    head = f"A warp reads a[{offset} + {stride} * lane]"
    return figures.live("address_ruler", data, title=title, static=_static(access, head))


def access_map(report, line=None, array=None, way=None, *, warp=0):
    """Return the address ruler of one access of a kernel, from the addresses that were recorded.

    The reader changes stride and offset, or the padding of a shared array with several axes, and sees both counters
    move: sectors of global memory, wavefronts of shared memory.

    Parameters
    ----------
    report, line, array, way, warp
        As in `memory_map.memory_map`.

    Returns
    -------
    figures.Live

    Raises
    ------
    ValueError
        If no recorded access fits (the message lists what there is), or the block has no such warp.

    Source: the course's own.
    """
    chosen = choose(report, line, array, way)
    n = GlobalAccess(chosen, warp)
    base = int(n.address.min()) // LINE * LINE
    tile = chosen.space == "shared" and len(chosen.shape) > 1
    apart = set(np.diff(n.address).tolist()) if np.all(np.diff(n.thread) == 1) else {None}
    step = apart.pop() if len(apart) == 1 else None
    stride = step // chosen.itemsize if step is not None and step >= 0 and step % chosen.itemsize == 0 else 1
    first = int(n.address[0]) // chosen.itemsize % (LINE // chosen.itemsize)
    data = {
        "way": "tile" if tile else "recorded", "stride": stride, "offset": min(first, MOST_OFFSET),
        "itemsize": chosen.itemsize, "lanes": (n.thread % WARP).tolist(), "address": (n.address - base).tolist(),
        "strides": sorted({*range(MOST_STRIDE + 1), stride}), "sizes": [chosen.itemsize], "space": chosen.space,
    }  # fmt: skip
    if tile:  # rows of the last axis; padding makes each of them longer
        columns = int(chosen.shape[-1])
        start = int((n.address - n.element * n.itemsize).min()) % LINE
        data |= {"row": (n.element // columns).tolist(), "column": (n.element % columns).tolist(), "start": start,
                 "columns": columns, "shape": [int(k) for k in chosen.shape]}  # fmt: skip
    verb = {"load": "loads from", "store": "stores to", "atomic": "changes atomically"}[chosen.way]
    head = f"Line {chosen.line} {verb} {chosen.array} {shape(chosen.shape)}"
    title = f"{report.kernel}, line {chosen.line}: the addresses of {chosen.array}"
    return figures.live("address_ruler", data, title=title, static=_static(chosen, head, warp))


def linear(stride, offset, itemsize):
    """Return the `Access` of a warp whose lane k reads element offset + stride * k of an array.

    No errors are raised. Source: the course's own.
    """
    thread = np.arange(WARP)
    element = offset + stride * thread
    size = int(element.max()) + 1
    return Access("", 0, 0, "a", "global", "load", (size,), itemsize, (WARP, 1, 1), thread, element, element * itemsize)


def both_counts(access, warp=0):
    """Return (the access as one to global memory, the same addresses as one to shared memory).

    Raises
    ------
    ValueError
        If the block has no such warp.

    Source: the course's own.
    """
    return GlobalAccess(access, warp), SharedAccess(access, warp)


# ------------------------------------------------------------------------------------------------ static picture


def _static(access, head, warp=0):
    moved, turns = both_counts(access, warp)
    rows = min(STACK, turns.wavefronts)
    s = Panel(WIDTH, 190 + rows * 11 + 16 * (turns.wavefronts > rows))
    s.text(EDGE, 18, head if len(head) < 52 else head[:51] + "\N{HORIZONTAL ELLIPSIS}", bold=True)
    lanes = (moved.thread % WARP).tolist()
    s.cells([(EDGE + CELL * k, 46, CELL - 1, CELL) for k in lanes], fill=WORKED)
    for k in range(0, WARP, 8):
        s.text(EDGE + CELL * k, 42, f"lane {k}" if k == 0 else k, fill=style.MUTED)
    places = _sectors(s, moved, 112)
    for k, address in zip(lanes, moved.address.tolist(), strict=True):
        s.line(EDGE + CELL * (k + 0.45), 59, places(address), 111, stroke="thread", line=1)
    s.text(EDGE, 144, f"{count(moved.sectors, 'sector')} of 32 bytes; used {percent(moved.share)}", bold=True)
    s.text(EDGE, 168, f"Banks: {count(turns.wavefronts, 'wavefront')}", bold=True)
    _stack(s, turns, 176, rows)
    if turns.wavefronts > rows:
        s.text(EDGE, 176 + rows * 11 + 14, f"{turns.wavefronts - rows} more", fill=style.MUTED)
    says = ruler_says(moved, turns)
    return figures.picture(s, alt=f"{head}. {says}", caption=says)


def ruler_says(moved, turns):
    """Return what an access needs in both memories, in two sentences.

    No errors are raised. Source: the course's own.
    """
    return (
        f"In global memory: {count(moved.sectors, 'sector')}, {moved.moved:,} bytes moved, {percent(moved.share)} of "
        f"them used. In shared memory the same addresses take {count(turns.wavefronts, 'wavefront')}."
    )


def _sectors(s, n, y):
    """Draw the sectors that are moved, with a gap where some lie between; return where an address lies, x."""
    gaps = [b - a > 1 for a, b in zip(n.touched, n.touched[1:], strict=False)]
    width = min(48, (WIDTH - 2 * EDGE - 5 * sum(gaps)) / len(n.touched))
    at, x = {}, EDGE
    for sector, gap in zip(n.touched, [*gaps, False], strict=True):
        at[sector] = x
        x += width + 5 * gap
    s.cells([(left, y, width - 1, 16) for left in at.values()], fill=IN_VAIN, hatched=True)
    used = sorted({b for a in n.address.tolist() for b in range(a, a + n.itemsize)})
    unit = min(n.itemsize, SECTOR)
    s.cells(
        [(at[b // SECTOR] + b % SECTOR / SECTOR * (width - 1), y, unit / SECTOR * (width - 1), 16)
         for b in used if b % unit == 0],
        fill=WORKED, stroke=style.COLOURS["thread"],
    )  # fmt: skip
    return lambda address: at[address // SECTOR] + (address % SECTOR + n.itemsize / 2) / SECTOR * (width - 1)


def _stack(s, n, y, rows):
    """Draw, for each bank, the words that it has to give one after the other."""
    boxes, wide = [], (WIDTH - 2 * EDGE) / BANKS
    filled = dict.fromkeys(range(BANKS), 0)
    for group in range(n.groups):
        begin = max(filled.values())
        filled = dict.fromkeys(range(BANKS), begin)
        own = n.thread % WARP * n.groups // WARP == group
        for word in sorted({w for a in n.address[own].tolist() for w in n.words(a).tolist()}):
            row = filled[word % BANKS]
            filled[word % BANKS] += 1
            if row < rows:
                boxes.append((EDGE + word % BANKS * wide, y + row * 11, wide - 1, 10))
    every = [(EDGE + b * wide, y + r * 11, wide - 1, 10) for b in range(BANKS) for r in range(rows)]
    s.cells(every, stroke=style.GRID)
    s.cells(boxes, fill=WORKED, stroke=style.COLOURS["thread"])


assert WORD * BANKS == LINE
