"""A walk along the rows of a matrix and one down its columns, side by side: sectors fetched against bytes used.

Source: NVIDIA, "CUDA C++ Programming Guide", "Device Memory Accesses"; counted with `traffic`, without a cache.
"""

import numpy as np

from course_lib import figures
from course_lib.figures import style
from course_lib.simt.lanes import WARP
from course_lib.simt.show.map_sheet import IN_VAIN
from course_lib.simt.show.panel import EDGE, WIDTH, WORKED, Panel
from course_lib.simt.show.wording import count, percent
from course_lib.simt.traffic import SECTOR, global_traffic

CELL = 5.6


def walks(itemsize=4):
    """Return a picture of a warp on a (32, 32) matrix: once its lanes lie along a row, once down a column.

    The reader moves through the 32 accesses of each walk. Both read the same elements in the end.

    Parameters
    ----------
    itemsize : 2, 4 or 8
        Bytes of an element.

    Returns
    -------
    figures.Live

    Raises
    ------
    ValueError
        For another size.

    Source: the course's own.
    """
    if itemsize not in (2, 4, 8):
        raise ValueError(f"itemsize is {itemsize!r}; it must be 2, 4 or 8 bytes.")
    both = {way: walk_counts(way, itemsize) for way in ("row", "column")}
    data = {"itemsize": itemsize, **both}
    title = "Row walk and column walk: the same elements, other sectors"
    return figures.live("walks", data, title=title, static=_static(both, itemsize))


def walk_counts(way, itemsize):
    """Return (sectors, bytes used) of one access of a walk, way "row" or "column".

    No errors are raised. Source: the course's own.
    """
    lane = np.arange(WARP, dtype=np.int64)
    cell = lane if way == "row" else lane * WARP
    _, sectors, used = global_traffic(np.zeros(WARP, np.int64), cell, 0, 0, itemsize)
    return int(sectors), int(used)


def _static(both, itemsize):
    s = Panel(WIDTH, 262)
    per = SECTOR // itemsize
    for k, (way, (sectors, used)) in enumerate(both.items()):
        x = EDGE + k * 200
        s.text(x, 18, f"one {way}", bold=True)
        boxes = [(x, 28 + k * CELL, WARP * CELL, CELL) for k in range(WARP)]
        boxes += [(x + k * CELL, 28, CELL, WARP * CELL) for k in range(WARP)]
        touched = {(0, c) for c in range(WARP)} if way == "row" else {(r, 0) for r in range(WARP)}
        moved = {(r, c // per * per + i) for r, c in touched for i in range(per)}
        s.cells(boxes, fill="none", stroke=style.GRID)
        for cells, fill in ((moved, IN_VAIN), (touched, WORKED)):
            s.cells([(x + c * CELL, 28 + r * CELL, CELL, CELL) for r, c in sorted(cells)], fill=fill)
        s.text(x, 226, f"{count(sectors, 'sector')} for {used} bytes")
        s.text(x, 242, f"{percent(used / (SECTOR * sectors))} of them used")
    row, column = (SECTOR * sectors for sectors, _ in both.values())
    says = (
        f"A warp that reads a row of a matrix moves {row:,} bytes; one that reads a column moves {column:,} bytes for "
        f"the same number of elements, {column / row:.3g} times as many: of each sector of 32 bytes it uses {itemsize}."
    )
    return figures.picture(s, alt=says, caption=says)
