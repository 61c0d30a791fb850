"""A launch as a map: its grid of blocks, the warps of a block, the lanes of a warp, and which of them a guard kept out.

Source: NVIDIA, "CUDA C++ Programming Guide", "Thread Hierarchy". Which threads touched memory is what the executor
wrote down (`Report.worked`); numbers of threads go by x first, then y, then z, and 32 in a row are a warp.
"""

import math

import numpy as np

from course_lib import figures
from course_lib.figures import style
from course_lib.simt.lanes import WARP
from course_lib.simt.show.panel import EDGE, IDLE_FILL, WIDTH, WORKED, Panel, wrapped
from course_lib.simt.show.wording import count, sizes

UNKNOWN = style.tint("thread", 0.2)
CELL, LANE, MOST_COLUMNS, MOST_ROWS, MOST_WARPS = 30, 10.5, 10, 5, 8
"""Pixels of a block and of a lane in the static picture, and how many it draws."""


def launch_map(report):
    """Return a picture of a launch in which the reader goes from the grid to a block, a warp and a lane.

    A lane shows `blockIdx`, `threadIdx`, its place in the whole grid, and whether it touched memory; one that a guard
    kept out is grey and hatched. Of a large grid it shows a window, and says how large the grid is. Where nothing was
    written down (more than 65,536 threads, no counters), no lane is called idle.

    Returns
    -------
    figures.Live

    Source: the course's own. No errors are raised.
    """
    idle = idle_threads(report)
    data = {
        "grid": list(report.grid), "block": list(report.block), "kernel": report.kernel, "idle": _hex(idle),
        "first": first_block(report, idle), "says": finding(report, idle),
    }  # fmt: skip
    return figures.live("launch_map", data, title=f"{report.kernel}: who is who in this launch", static=_static(report))


def idle_threads(report):
    """Return (blocks, threads) bool, which threads touched no memory; None where that is not known.

    No errors are raised. Source: the course's own.
    """
    if report.worked is None or not report.worked.any():
        return None
    return ~report.worked.reshape(math.prod(report.grid), math.prod(report.block))


def first_block(report, idle):
    """Return the number of the block to look at first: the last one with busy and with idle threads, else the first.

    No errors are raised. Source: the course's own.
    """
    if idle is None:
        return 0
    mixed = np.flatnonzero(idle.any(axis=1) & ~idle.all(axis=1))
    return int(mixed[-1]) if mixed.size else 0


def finding(report, idle):
    """Return the launch in a sentence, such as "10 blocks of 64 threads: 640 threads, 40 lanes idle.".

    No errors are raised. Source: the course's own.
    """
    blocks, threads = math.prod(report.grid), math.prod(report.block)
    text = f"{count(blocks, 'block')} of {count(threads, 'thread')}: {count(blocks * threads, 'thread')}"
    if elements := _elements(report):
        text += f", {count(elements, 'element')}"
    if idle is None:
        return f"{text}. Idle lanes were not recorded."
    lanes = int(idle.sum())
    if not lanes:
        return f"{text}; every one of them touched memory."
    return f"{text}, {count(lanes, 'lane')} idle: no memory access, because a guard kept {_them(lanes)} out."


def _elements(report):
    """Elements of what the launch wrote, or 0 where that is not one number."""
    written = {use.distinct_stored for use in report.arrays.values() if use.space == "global" and use.distinct_stored}
    return written.pop() if len(written) == 1 else 0


def _them(n):
    return "it" if n == 1 else "them"


def _hex(idle):
    """Return the flags of each block as hexadecimal digits, four threads each, the first of them the highest bit."""
    if idle is None:
        return None
    packed = np.packbits(idle, axis=1)
    return [row.tobytes().hex() if row.any() else "" for row in packed]


# ------------------------------------------------------------------------------------------------ static picture


def _static(report):
    idle = idle_threads(report)
    at = first_block(report, idle)
    threads, warps = math.prod(report.block), -(-math.prod(report.block) // WARP)
    rows = min(MOST_ROWS, math.prod(report.grid[1:]))
    says = finding(report, idle)
    notes = wrapped(axis_note(report.grid, report.block))
    height = 30 + rows * CELL + 24 + 22 + min(warps, MOST_WARPS) * (LANE + 4) + 42 + 16 * len(notes)
    s = Panel(WIDTH, height, title=f"Launch of {report.kernel}", desc=says)
    size = f": {sizes(report.grid)}" if max(report.grid[1:]) > 1 else ""
    s.text(EDGE, 18, f"Grid of {count(math.prod(report.grid), 'block')}{size}", bold=True)
    y = _grid(s, report, idle, at, rows, 28)
    s.text(EDGE, y + 16, f"Block {brief(_split(at, report.grid), report.grid)}: {count(warps, 'warp')}, 32 lanes each",
           bold=True)  # fmt: skip
    fill = WORKED if idle is not None else UNKNOWN
    y = _lanes(s, idle[at] if idle is not None else np.zeros(threads, np.bool_), warps, y + 24, fill)
    known = [(WORKED, False, "touched memory"), (IDLE_FILL, True, "idle: kept out by a guard")]
    y = s.key(known if idle is not None else [(UNKNOWN, False, "a thread")], EDGE, y + 6)
    for line in notes:
        s.text(EDGE, y + 12, line, fill=style.MUTED)
        y += 16
    alt = f"Launch of {report.kernel}, grid {sizes(report.grid)}, block {sizes(report.block)}. {says}"
    return figures.picture(s, alt=alt, caption=says)


def axis_note(grid, block):
    """Return which axis of an array x is, in a sentence.

    No errors are raised. Source: the course's own.
    """
    if max(grid[1:] + block[1:]) == 1:
        return "Threads are numbered along x, and x runs along the last axis of an array."
    order = "a[z, y, x]" if max(grid[2], block[2]) > 1 else "a[y, x]"
    return f"x is the last axis of an array: {order}. Lanes are numbered along x first, then y."


def _grid(s, report, idle, at, rows, y):
    """Draw the first blocks of the first rows, and the block that is shown below; returns the y below."""
    gx, total = report.grid[0], math.prod(report.grid[1:])
    there = sorted({*range(rows), at // gx})[-rows:] if at // gx >= rows else range(rows)
    left = EDGE + 32 * (total > 1)
    for row in there:
        numbers = list(range(gx))
        if gx > MOST_COLUMNS:
            kept = {at % gx, gx - 1} if at // gx == row else {gx - 1}
            numbers = [*range(MOST_COLUMNS - 3), None, *sorted(k for k in kept if k >= MOST_COLUMNS - 3)]
        if total > 1:
            name = f"y {row}" if report.grid[2] == 1 else f"{row // report.grid[1]}, {row % report.grid[1]}"
            s.text(EDGE, y + 17, name, fill=style.MUTED)
        for column, number in enumerate(numbers):
            x = left + column * (CELL + 5)
            if number is None:
                s.text(x + CELL / 2, y + 18, "\N{HORIZONTAL ELLIPSIS}", anchor="middle")
                continue
            block = row * gx + number
            share = idle[block].mean() if idle is not None else 0
            s.cells([(x, y, CELL, CELL - 4)], fill=WORKED if idle is not None else UNKNOWN)
            if share:
                deep = (CELL - 4) * share
                s.cells([(x, y + CELL - 4 - deep, CELL, deep)], fill=style.PAPER, hatched=True)
            if block == at:
                s.rect(x - 1, y - 1, CELL + 2, CELL - 2, line=2.5)
            s.text(x + CELL / 2, y + 17, str(number), anchor="middle")
        y += CELL
    more = total - rows
    s.text(EDGE, y + 12, f"{count(more, 'row')} more" if more else "", fill=style.MUTED)
    return y + 16 * bool(more)


def _lanes(s, idle, warps, y, fill):
    left = EDGE + 48
    for warp in range(min(warps, MOST_WARPS)):
        own = idle[warp * WARP : (warp + 1) * WARP]
        boxes = [(left + lane * LANE, y, LANE - 1.5, LANE) for lane in range(own.size)]
        s.text(EDGE, y + 10, f"warp {warp}", fill=style.MUTED)
        s.cells([b for b, off in zip(boxes, own, strict=True) if not off], fill=fill)
        s.cells([b for b, off in zip(boxes, own, strict=True) if off], fill=IDLE_FILL, hatched=True)
        y += LANE + 4
    if warps > MOST_WARPS:
        s.text(EDGE, y + 12, f"{warps - MOST_WARPS} more warps", fill=style.MUTED)
        y += 16
    return y


def _split(number, axes):
    x, y, _ = axes
    return number % x, number // x % y, number // (x * y)


def brief(triple, axes):
    """Return a triple as far as its axes go, "3" or "(3, 0)". No errors are raised. Source: the course's own."""
    last = max(i for i in range(3) if i == 0 or axes[i] > 1) + 1
    return str(triple[0]) if last == 1 else str(tuple(triple[:last]))
