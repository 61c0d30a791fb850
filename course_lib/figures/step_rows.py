"""A training step in two rows, the host that launches and the card that runs: which of the two sets the time.

The page's script counts as `streams.two_rows` does; a test compares the two.
Source: NVIDIA, "CUDA C++ Programming Guide", "Asynchronous Concurrent Execution".
"""

from course_lib.simt.show.panel import EDGE, WIDTH, Panel, wrapped
from course_lib.streams.launches import two_rows

from . import style
from .live import live
from .picture import picture

COSTS = (1, 1.5, 2, 3, 4, 6, 8, 10, 12, 16, 20, 30, 42, 60, 90, 130, 180, 250)
"""Microseconds that the slider offers for a launch."""

LEFT, HIGH = 58, 30


def launch_rows(kernels, names, *, batch=64, cost=10e-6, costs=None, about="", title="Who waits for whom?"):
    """Return a figure in which the reader chooses the size of the batch and what a launch costs the host.

    The upper row shows the host enqueuing a step's launches one by one, the lower one the card running their kernels:
    each when it is enqueued and the one before is done. Below, the same time against every size of batch, and the size
    from which the kernels need longer than the launches. It is a model: the host's time is the same for each launch.

    Parameters
    ----------
    kernels : dict of int to sequence of float
        Batch size -> seconds of each kernel of a step, in order.
    names : sequence of str
        Of the kernels at `batch`, with what they belong to.
    batch : int
        The size that is shown first, a key of `kernels`.
    cost : float
        Seconds of a launch at first; the nearest of `COSTS` and `costs` is taken.
    costs : dict of str to float, optional
        What was measured: a name -> seconds a launch. They become buttons.
    about : str
        Where the kernels' times come from, for the caption.
    title : str

    Returns
    -------
    figures.Live

    Raises
    ------
    ValueError
        No batch; a batch that is not among the keys.

    Source: NVIDIA, "CUDA C++ Programming Guide", "Asynchronous Concurrent Execution".
    """
    sizes = sorted(kernels)
    if batch not in kernels:
        raise ValueError(f"batch is {batch}; there are kernels for {', '.join(map(str, sizes))}.")
    buttons = {name: round(1e6 * seconds, 2) for name, seconds in (costs or {}).items()}
    offered = sorted({*map(float, COSTS), *buttons.values()})
    first = min(offered, key=lambda c: abs(c - 1e6 * cost))
    microseconds = {size: [round(1e6 * s, 3) for s in kernels[size]] for size in sizes}
    data = {
        "sizes": sizes, "kernels": [microseconds[s] for s in sizes], "names": list(names), "batch": sizes.index(batch),
        "costs": offered, "cost": offered.index(first), "buttons": buttons,
    }  # fmt: skip
    return live("launch_rows", data, title=title, static=_static(microseconds, batch, first, about))


def breakpoint_of(kernels, cost):
    """Return the least batch size whose kernels together need at least as long as their launches; else None.

    Parameters
    ----------
    kernels : dict of int to sequence of float
    cost : float
        Of a launch, in the same unit.

    No errors. Source: the course's own.
    """
    return next((B for B in sorted(kernels) if sum(kernels[B]) >= cost * len(kernels[B])), None)


def _static(kernels, batch, cost, about):
    rows = two_rows(kernels[batch], cost)
    size = breakpoint_of(kernels, cost)
    turning = f"From B = {size:,} on the kernels" if size else "At no batch size shown do the kernels"
    says = (
        f"B = {batch}: the host needs {cost:.4g} µs for each of {len(rows.spans)} launches, the kernels "
        f"{sum(kernels[batch]):.0f} µs together. A step takes {rows.end:,.0f} µs, and the card works {rows.busy:.0%} "
        f"of it. {turning} take longer than their launches.{f' {about}' * bool(about)}"
    )
    lines = wrapped(says)
    s = Panel(WIDTH, 120)
    span = WIDTH - LEFT - EDGE
    scale = span / rows.end
    for y, label in ((10, "host"), (56, "card")):
        s.text(EDGE, y + HIGH / 2 + 4, label)
    begin = 0.0
    hosts = []
    for when in rows.enqueued:
        hosts.append((LEFT + begin * scale, 10, max(0.4, (when - begin) * scale - 0.6), HIGH))
        begin = when
    s.cells(hosts, fill=style.tint("weight", 0.5), stroke="none")
    s.cells([(LEFT + b * scale, 56, max(0.5, (e - b) * scale), HIGH) for b, e in rows.spans],
            fill=style.COLOURS["thread"], stroke="none")  # fmt: skip
    s.text(LEFT, 106, "0", fill=style.MUTED)
    s.text(WIDTH - EDGE, 106, f"{rows.end:,.0f} µs", anchor="end", fill=style.MUTED)
    return picture(s, alt=" ".join(lines), caption=says)
