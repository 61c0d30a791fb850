"""An NDRange with its work-groups, for lesson 19: choose sizes, and read off any work-item's ids.

The ids are counted in the page's script; a test compares them with what OpenCL's own kernel `ids` writes.
Source: Khronos, "The OpenCL Specification", "Mapping work-items onto an NDRange".
"""

from course_lib.opencl.operations import round_up
from course_lib.simt.show.panel import EDGE, IDLE_FILL, WIDTH, Panel
from course_lib.validate import require_count

from . import style
from .live import live
from .picture import picture

MOST, SIDES = 16, (1, 2, 4, 8)
"""The largest array along an axis, and the sizes of a work-group along one."""


def ndrange_explorer(columns=10, rows=6, group=(4, 4)):
    """Return a figure of a launch over an array (rows, columns), with work-groups of group = (along x, along y).

    Raises
    ------
    ValueError, TypeError
        For sizes that are no whole numbers from 1 to 16, or a group that has no side of 1, 2, 4 or 8.

    Source: Khronos, "The OpenCL Specification", "Execution Model".
    """
    columns, rows = require_count("columns", columns), require_count("rows", rows)
    if max(columns, rows) > MOST or any(side not in SIDES for side in group):
        raise ValueError(f"the array is {rows} x {columns}, the group {group}; sizes go to {MOST}, sides are {SIDES}.")
    data = {"columns": columns, "rows": rows, "group": list(group), "most": MOST, "sides": list(SIDES)}
    return live("ndrange", data, title="Who is who in an NDRange", static=_static(columns, rows, group))


def _static(columns, rows, group):
    (lx, ly), (gx, gy) = group, (round_up(columns, group[0]), round_up(rows, group[1]))
    cell, left, top = min(24, (WIDTH - 40) / gx), 30, 24
    s = Panel(WIDTH, top + gy * cell + 34)
    for odd in (0, 1):
        boxes = [
            (left + i * cell, top + j * cell, cell - 1, cell - 1)
            for j in range(rows)
            for i in range(columns)
            if (i // lx + j // ly) % 2 == odd
        ]
        s.cells(boxes, fill=style.tint("thread", 0.55 if odd else 0.25))
    idle = [(i, j) for j in range(gy) for i in range(gx) if i >= columns or j >= rows]
    s.cells([(left + i * cell, top + j * cell, cell - 1, cell - 1) for i, j in idle], fill=IDLE_FILL, hatched=True)
    for j in range(0, gy, ly):
        for i in range(0, gx, lx):
            s.rect(left + i * cell - 0.5, top + j * cell - 0.5, lx * cell, ly * cell, line=1.5)
    for i in range(gx):
        s.text(left + (i + 0.5) * cell, 16, f"{i}", anchor="middle", fill=style.MUTED)
    for j in range(gy):
        s.text(left - 6, top + (j + 0.5) * cell + 4, f"{j}", anchor="end", fill=style.MUTED)
    groups = gx // lx * (gy // ly)
    says = (
        f"An NDRange of {gx} x {gy} work-items in {groups} work-groups of {lx} x {ly} over {rows} rows and {columns} "
        f"columns: {len(idle)} work-items have no number. The group's id times its size plus the local id is the "
        "global id, along each axis."
    )
    s.text(EDGE, top + gy * cell + 22, f"{gx} × {gy} work-items, {groups} groups; hatched: without a number")
    return picture(s, alt=says, caption=says)
