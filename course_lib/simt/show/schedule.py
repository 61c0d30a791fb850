"""Warp scheduling as timelines: the same kernel with few and with many warps on one scheduler.

Source: the course's own; the slots are those of `estimate.scheduling`, a model which says what it leaves out.
"""

from course_lib import figures
from course_lib.figures import style
from course_lib.simt.estimate.devices import find_device
from course_lib.simt.estimate.scheduling import (
    ISSUES,
    READY,
    WAITS,
    latency_of,
    simulate,
    warps_needed,
    work_of,
)  # fmt: skip
from course_lib.simt.show.panel import EDGE, IDLE_FILL, WIDTH, Panel
from course_lib.simt.show.wording import count, percent
from course_lib.validate import require_count

MOST_WARPS, FEW, MOST_SLOTS = 48, 8, 4000
"""Warps of the slider, those that have room for thick rows in a static timeline, and slots of a round."""

BUSY = style.COLOURS["thread"]
MODEL = "A model: one scheduler, every load takes the same time, and a warp waits for each of its loads."


def schedule(report=None, *, warps=(1, 2, 8, 32), compute=None, latency=None, device="H100"):
    """Return timelines of warps that hide each other's waiting; the reader changes their number.

    Parameters
    ----------
    report : Report, optional
        Its instructions from one global load to the next are `compute`.
    warps : sequence of int, 1 to 48
        Numbers of warps that the static picture shows.
    compute : int, optional
        Instructions of a warp up to and with a load; 20 without a report.
    latency : int, optional
        Clocks from a load to its number; by default the device's, from DRAM.
    device : str or Device
        Where the latency comes from.

    Returns
    -------
    figures.Live

    Raises
    ------
    ValueError, TypeError
        Numbers that are no whole ones or too large; a report without loads; a device of unknown latency.

    Source: the course's own.
    """
    for n in (warps := tuple(warps)):
        if require_count("warps", n) > MOST_WARPS:
            raise ValueError(f"warps has {n}; the picture shows 1 to {MOST_WARPS} on one scheduler.")
    if not warps:
        raise ValueError("warps is empty; give one number of warps at least.")
    if compute is None:
        compute = work_of(report) if report is not None else 20
    from_ = "a load takes"
    if latency is None:
        name, latency = latency_of(device)
        from_ = f"on {'an' if find_device(device).name[0] in 'AHR' else 'a'} {name} a load from DRAM takes"
    if require_count("compute", compute) + require_count("latency", latency) > MOST_SLOTS:
        raise ValueError(f"compute is {compute} and latency {latency}; together at most {MOST_SLOTS} slots are drawn.")
    every = [simulate(n, compute, latency) for n in range(1, MOST_WARPS + 1)]
    head = f"{from_} {latency} clocks, and a warp issues {count(compute, 'instruction')} from load to load"
    data = {
        "head": head[0].upper() + head[1:], "model": MODEL, "needed": warps_needed(compute, latency),
        "compute": compute, "latency": latency, "first": warps[min(1, len(warps) - 1)],
        "shares": [round(s.share, 6) for s in every], "slots": int(every[0].states.shape[1]),
        "runs": [_packed(s) for s in every], "static": list(warps),
    }  # fmt: skip
    title = "How many warps hide the waiting?" + (f" {report.kernel} as it is" if report is not None else "")
    return figures.live("schedule", data, title=title, static=_static(warps, every, head))


def _packed(schedule):
    """Return the runs of each warp as text, such as "1x20 0x699": states are digits of `scheduling`."""
    return ["".join(f"{'wir'[state]}{slots}" for state, slots in row) for row in schedule.runs]


def _static(warps, every, head):
    high = {n: 9 if n <= FEW else 4 for n in warps}
    s = Panel(WIDTH, 64 + sum(34 + h * n for n, h in high.items()))
    y = s.key([(BUSY, False, "issues"), (style.PAPER, False, "ready"), (IDLE_FILL, True, "waits for memory")], EDGE, 8)
    for n, h in high.items():
        run = every[n - 1]
        s.text(EDGE, y + 16, f"{count(n, 'warp')}: {percent(run.share)} of the slots issue", bold=True)
        _timeline(s, run, h, y + 22)
        y += h * n + 34
    s.text(EDGE, y + 14, f"time: {run.states.shape[1]:,} clocks from left to right", fill=style.MUTED)
    shares = ", ".join(f"{percent(every[n - 1].share)} with {n}" for n in warps)
    says = (
        f"{head[0].upper()}{head[1:]}. Slots in which an instruction is issued: {shares} "
        f"warp{'s' * (warps[-1] != 1)}. {MODEL}"
    )
    return figures.picture(s, alt=f"Timelines of warps. {says}", caption=says)


def _timeline(s, run, high, y):
    """Draw the waiting as one ground, and what warps do on it: a stroke for each warp's waiting would be too much."""
    wide = WIDTH - 2 * EDGE
    scale, boxes = wide / run.states.shape[1], {WAITS: [], ISSUES: [], READY: []}
    s.cells([(EDGE, y, wide, high * run.warps)], fill=IDLE_FILL, stroke="none", hatched=True)
    for warp, row in enumerate(run.runs):
        x = EDGE
        for state, slots in row:
            boxes[state].append((x, y + high * warp, min(max(0.6, slots * scale), WIDTH - EDGE - x), high))
            x += slots * scale
    s.cells(boxes[READY], fill=style.PAPER, stroke=style.COLOURS["idle"])
    s.cells(boxes[ISSUES], fill=BUSY, stroke="none")
    if high > 4:
        for warp in range(1, run.warps):
            s.line(EDGE, y + high * warp, WIDTH - EDGE, y + high * warp, stroke=style.PAPER, line=2)
