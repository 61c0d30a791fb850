"""What the SIMT executor must count for the rungs of this ladder: their formulas, in one place.

A warp is 32 threads of one row. A row of numbers need not begin at a sector's edge, so the sectors of a request are
counted, not calculated: how many stretches of 8 numbers a run of flat indices touches. Source: the course's own.
"""

import numpy as np

from course_lib.cuda.ladders.transpose.checks import TILE

SECTOR = 8
"""float32 of a sector."""


def naive_traffic(R, C):
    """Return {counter: value} for v01 and x (R, C): y is written a column at a time, each number in another sector.

    Rows of y of up to 7 numbers lie closer than a sector, and share some. No errors. Source: the course's own.
    """
    requests, read = _rows(R, C, TILE)
    written = sum(
        len({(col * R + row) // SECTOR for col in range(left, min(left + TILE, C))})
        for row in range(R)
        for left in range(0, C, TILE)
    )
    return _counts(requests, read, requests, written)


def tile_traffic(R, C, *, padded):
    """Return {counter: value} for a tile of 32 x 32 and x (R, C).

    A warp that reads k words of one column of the tile needs k turns, as they all lie in one bank, or one turn with
    padding. No errors. Source: the course's own.
    """
    loads, read = _rows(R, C, TILE)
    stores, written = _rows(C, R, TILE)
    conflicts = 0 if padded else sum(min(TILE, R - top) - 1 for top in range(0, R, TILE)) * C
    return _counts(loads, read, stores, written, shared_stores=loads, shared_loads=stores, conflicts=conflicts)


def vector_traffic(R, C):
    """Return {counter: value} for v04, R and C multiples of 4: a request has 4 rows of 32 numbers, 4 a thread.

    No errors. Source: the course's own.
    """
    loads, read = _blocks(R, C)
    stores, written = _blocks(C, R)
    return _counts(loads, read, stores, written, shared_stores=4 * loads, shared_loads=4 * stores)


def staircase_traffic(R, C, down, width, threads, cut):
    """Return {counter: value} for v05 with tiles of x (R, C), down x width, cut at multiples of `cut`; y begins at one.

    A warp reads 32 columns of a row, and writes 4 rows of y, 32 numbers of each, 4 a thread; one by one where a row of
    y begins or ends within the four. No errors. Source: the course's own.
    """
    tops, rows, sum_of = range(0, R + cut - 1, down), threads // width, dict.fromkeys(_counts(0, 0, 0, 0), 0)

    def add(kind, touched, there):
        """Count the requests of warps, there (warps, 32), and the sectors with the numbers `touched`."""
        warp, _ = np.nonzero(there)
        sum_of[f"global_{kind}_requests"] += int(there.any(1).sum())
        sum_of[f"global_{kind}_sectors"] += len(np.unique(np.stack((warp, touched[there] // SECTOR)), axis=1).T)

    col = np.arange(-(-C // width) * width)
    back, slot = col * R % cut, col % width * down + col % width // cut * cut
    for top in tops:
        for k in range(-(-(down + cut - 1) // rows) * rows):
            row, place = top - cut + k, k - cut + back
            kept = (place >= 0) & (place < down)
            add("load", (row * C + col).reshape(-1, 32), (kept & (col < C) & (0 <= row < R)).reshape(-1, 32))
            banks = (col // 32 * 32 + (slot + place) % 32)[kept]
            most = np.bincount(banks, minlength=len(col)).reshape(-1, 32).max(1)
            sum_of["shared_store_requests"] += int((most > 0).sum())
            sum_of["shared_store_conflicts"] += int((most - 1)[most > 0].sum())
    c = np.arange(-(-C // 4) * 4)[:, None]
    for begin in (top + p for top in tops for p in range(0, down, 32)):
        i = begin + np.arange(0, 32, 4) - c * R % cut  # of y's row
        whole = (c < C) & (i >= 0) & (i + 4 <= R)
        add("store", (c * R + i).reshape(-1, 32), whole.reshape(-1, 32))
        for j in i, i + 1, i + 2, i + 3:
            add("store", (c * R + j).reshape(-1, 32), ((c < C) & ~whole & (j >= 0) & (j < R)).reshape(-1, 32))
    return sum_of | {"shared_load_requests": len(tops) * down // 32 * (len(c) // 4)}


def _rows(R, C, width):
    """Return (requests, sectors) of an array (R, C) that is walked in stretches of `width` along its rows."""
    requests = sectors = 0
    for row in range(R):
        for left in range(0, C, width):
            first, last = row * C + left, row * C + min(left + width, C) - 1
            requests, sectors = requests + 1, sectors + last // SECTOR - first // SECTOR + 1
    return requests, sectors


def _blocks(R, C):
    """Return (requests, sectors) of an array (R, C) that is walked in parts of 4 rows and 32 columns."""
    requests = sectors = 0
    for top in range(0, R, 4):
        for left in range(0, C, 32):
            touched = {
                (row * C + col) // SECTOR for row in range(top, top + 4) for col in range(left, min(left + 32, C), 4)
            }
            requests, sectors = requests + 1, sectors + len(touched)
    return requests, sectors


def _counts(loads, read, stores, written, *, shared_stores=0, shared_loads=0, conflicts=0):
    return {
        "global_load_requests": loads,
        "global_load_sectors": read,
        "global_store_requests": stores,
        "global_store_sectors": written,
        "shared_store_requests": shared_stores,
        "shared_store_conflicts": 0,
        "shared_load_requests": shared_loads,
        "shared_load_conflicts": conflicts,
    }
