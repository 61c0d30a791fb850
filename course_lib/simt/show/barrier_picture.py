"""A barrier that not all threads of a block reach: who comes, who does not, and who has left the kernel.

Source: the course's own; NVIDIA, "CUDA C++ Programming Guide", "Synchronization Functions". The threads are those
that the executor recorded with the finding, for the first block where it happened.
"""

import math

import numpy as np

from course_lib import figures
from course_lib.figures import style
from course_lib.simt.gather import where
from course_lib.simt.lanes import WARP
from course_lib.simt.show.launch_map import LANE, brief
from course_lib.simt.show.map_sheet import cut
from course_lib.simt.show.panel import EDGE, IDLE_FILL, WIDTH, WORKED, Panel
from course_lib.simt.show.wording import count

COMES, MISSES, LEFT = range(3)
MISSING_FILL = style.tint("hazard", 0.5)


def barrier_picture(report, hazard):
    """Return a picture of a barrier that some threads do not reach; the reader moves it out of the branch.

    Parameters
    ----------
    report : Report
    hazard : Hazard
        Of the kind "barrier not reached" or "early return", of a block's barrier.

    Returns
    -------
    figures.Live

    Raises
    ------
    ValueError
        If the finding does not say which threads came.

    Source: the course's own.
    """
    if "came" not in hazard.details:
        raise ValueError(f"this finding ({hazard.kind}) does not say which threads came: there is nothing to draw.")
    state = states(report, hazard)
    block = brief(hazard.details["block"], report.grid)
    text = next((x.text.strip() for x in report.lines if (x.function, x.number) == (hazard.function, hazard.line)), "")
    says, misses = barrier_says(state, block, hazard.line), bool((state == MISSES).any())
    moved = "outside of the branch" if misses else "without the early return"
    data = {
        "states": "".join(map(str, state)), "line": int(hazard.line), "text": text, "block": block, "says": says,
        "ways": ["as it stands", moved],
        "moved": f"{moved[0].upper()}{moved[1:]} all {state.size} threads of block {block} reach the barrier, and all "
        "go on together. Guard the loads and stores instead.",
        "waits": misses,
    }  # fmt: skip
    title = f"{report.kernel}, {where(hazard)}: who comes to the barrier?"
    return figures.live("barrier", data, title=title, static=_static(state, block, hazard, text, says))


def states(report, hazard):
    """Return (threads,) int: COMES, MISSES or LEFT for each thread of the block that a finding is about.

    No errors are raised. Source: the course's own.
    """
    state = np.full(math.prod(report.block), MISSES)
    for name, value in (("came", COMES), ("returned", LEFT)):
        for first, last in hazard.details[name]:
            state[first : last + 1] = value
    return state


def barrier_says(state, block, line):
    """Return in a sentence or two who comes and who does not. No errors are raised. Source: the course's own."""
    came, missing, left = (int(np.count_nonzero(state == s)) for s in (COMES, MISSES, LEFT))
    text = f"{count(came, 'thread')} of block {block} come{'s' * (came == 1)} to the barrier in line {line}"
    if missing:
        text += f", {missing} {'do' if missing != 1 else 'does'} not: those that came wait for them"
    gone = f" {count(left, 'thread')} {'have' if left != 1 else 'has'} left the kernel; for those nobody waits."
    return f"{text}.{gone * bool(left)}"


def _static(state, block, hazard, text, says):
    warps = -(-state.size // WARP)
    shown = min(warps, 12)
    s = Panel(WIDTH, 92 + shown * (LANE + 4) + 16 * (warps > shown))
    s.text(EDGE, 18, f"Block {block} at the barrier", bold=True)
    s.text(EDGE, 36, cut(f"line {hazard.line}: {text}", 56), fill=style.MUTED)
    y, left = 46, EDGE + 48
    for warp in range(shown):
        own = state[warp * WARP : (warp + 1) * WARP]
        s.text(EDGE, y + 10, f"warp {warp}", fill=style.MUTED)
        boxes = np.array([(left + lane * LANE, y, LANE - 1.5, LANE) for lane in range(own.size)])
        s.cells(boxes[own == COMES].tolist(), fill=WORKED)
        s.cells(boxes[own == LEFT].tolist(), fill=IDLE_FILL, hatched=True)
        s.cells(boxes[own == MISSES].tolist(), fill=MISSING_FILL, stroke=style.INK)
        for x, top, wide, high in boxes[own == MISSES].tolist():
            s.line(x + 2, top + high / 2, x + wide - 2, top + high / 2, line=1.5)
        y += LANE + 4
    if warps > shown:
        s.text(EDGE, y + 12, f"{warps - shown} more warps", fill=style.MUTED)
        y += 16
    items = [(WORKED, False, "comes")] + [(MISSING_FILL, False, "does not come (\N{EN DASH})")] * bool(
        (state == MISSES).any()
    )
    items += [(IDLE_FILL, True, "has left")] * bool((state == LEFT).any())
    s.key(items, EDGE, y + 10)
    return figures.picture(s, alt=says, caption=says)
