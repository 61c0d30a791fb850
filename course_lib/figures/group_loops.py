"""How a CPU's core runs a work-group, for lesson 19: the work-items are a loop, and a barrier makes two of it.

Source: P. Jääskeläinen et al., "pocl: A Performance-Portable OpenCL Implementation" (2015), on parallel regions between
barriers.
"""

from course_lib.simt.show.panel import EDGE, WIDTH, Panel
from course_lib.validate import require_count

from . import style
from .live import live
from .picture import picture


def wrong_without_barrier(side):
    """Return how many of side x side numbers a core takes from places of the tile that no earlier one has filled.

    Work-item (tx, ty) writes place ty * side + tx and reads tx * side + ty, which is filled if it lies before: so one
    half without the diagonal is wrong, side (side - 1) / 2. TypeError, ValueError unless side is a whole number >= 1.
    Source: as the module.
    """
    side = require_count("side", side)
    return sum(tx * side + ty > ty * side + tx for ty in range(side) for tx in range(side))


def group_loop(side=4):
    """Return a figure that steps through a work-group of side x side work-items, with and without its barrier.

    ValueError unless side is 2 to 6, TypeError unless it is a whole number. Source: as the module.
    """
    side = require_count("side", side, minimum=2)
    if side > 6:
        raise ValueError(f"side is {side}; more than 6 cannot be read on a phone.")
    return live("group_loop", {"side": side}, title="How one core runs a work-group", static=_static(side))


def _static(side):
    wrong, cell, top = wrong_without_barrier(side), 30, 78
    s = Panel(WIDTH, top + side * cell + 34)
    s.text(EDGE, 16, "Without a barrier: one loop", bold=True)
    s.text(EDGE, 36, "for each work-item: tile[ty][tx] = x[…];")
    s.text(EDGE, 54, "y[…] = tile[tx][ty]")
    for ty in range(side):
        for tx in range(side):
            bad = tx * side + ty > ty * side + tx
            x, y = EDGE + tx * cell, top + ty * cell
            s.rect(
                x,
                y,
                cell - 2,
                cell - 2,
                fill=style.tint("hazard" if bad else "output", 0.5 if bad else 0.3),
                stroke="idle",
            )
            s.text(x + cell / 2 - 1, y + cell / 2 + 4, "?" if bad else f"{tx * side + ty}", anchor="middle")
    says = (
        f"A core runs the {side * side} work-items of a group one after the other. Without a barrier, {wrong} of them "
        "read a place of the tile that no earlier one has filled. With a barrier, a first loop fills the tile and a "
        "second one reads it, and all numbers are right."
    )
    s.text(EDGE, top + side * cell + 20, f"y: {wrong} of {side * side} from places not yet filled (?)")
    return picture(s, alt=says, caption=says)
