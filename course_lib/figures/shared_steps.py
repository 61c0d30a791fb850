"""A training step that n devices share, for lesson 18: what computing takes, and what the sum of gradients takes.

Source: R. Hockney (1994), latency and rate of a message; Patarasuk and Yuan (2009), the ring; the course's own.
"""

from course_lib.parallel.costs import Link, step_seconds
from course_lib.simt.show.panel import EDGE, WIDTH, Panel
from course_lib.validate import require_choice, require_count, require_some

from . import style
from .live import live
from .picture import picture

DEVICES = (1, 2, 4, 8, 16, 32, 64)


def shared_step(points, nbytes, links, batches, start=1, about=""):
    """Return a figure in which the reader gives a training step more devices.

    Parameters
    ----------
    points : dict of int to float
        Rows -> seconds of a step on one device, as measured.
    nbytes : int
        Bytes of the gradients.
    links : dict of str to (float, float)
        Name -> latency in seconds, and bytes a second; the first is shown first.
    batches : sequence of int
        Rows of all devices together to choose from; the first is shown first.
    start : int
        Devices at the beginning, one of `DEVICES`.
    about : str
        Where the points come from; stands below.

    Raises
    ------
    TypeError, ValueError
        Without links or batches; a batch for which nothing was measured; as `Link`.

    Source: the course's own.
    """
    require_some("the links", links)
    require_some("the batches", batches)
    require_choice("start", str(start), [str(n) for n in DEVICES])
    nbytes = require_count("nbytes", nbytes)
    made = {name: Link(*values) for name, values in links.items()}
    for batch in batches:
        step_seconds(points, batch, 1, nbytes, made[next(iter(made))])  # refuses what was not measured
    data = {
        "points": [[rows, round(1e6 * s, 3)] for rows, s in sorted(points.items())],
        "bytes": nbytes,
        "devices": list(DEVICES),
        "start": DEVICES.index(start),
        "batches": list(batches),
        "links": [
            {"name": n, "latency": round(1e6 * link.latency, 6), "rate": link.rate / 1e6} for n, link in made.items()
        ],
        "about": about,
    }
    first = next(iter(made))
    static = _static(points, batches[0], start, nbytes, made[first], first)
    return live("shared_step", data, title="Give a training step more devices", static=static)


def _static(points, batch, start, nbytes, link, name):
    p, right = Panel(WIDTH, 30 + 34 * len(DEVICES)), WIDTH - EDGE
    steps = {n: step_seconds(points, batch, n, nbytes, link) for n in DEVICES}
    alone, most = sum(steps[1]), max(map(sum, steps.values()))
    p.text(EDGE, 16, f"batch {batch:,}; {name}", bold=True)
    for k, (n, (compute, exchange)) in enumerate(steps.items()):
        y, wide = 26 + 34 * k, (right - EDGE) / most
        took = compute + exchange
        p.text(EDGE, y + 12, f"{n} device{'s' * (n > 1)}: {1e6 * took:,.0f} µs, {alone / took:.1f} times as fast")
        p.rect(EDGE, y + 16, max(compute * wide, 1), 12, fill=style.tint("data", 0.75))
        if exchange:
            p.rect(EDGE + compute * wide, y + 16, max(exchange * wide, 1), 12, fill=style.tint("gradient", 0.6))
    n = start
    says = (
        f"With {name} and {n} device{'s' * (n > 1)} a step on {batch:,} images takes {1e6 * sum(steps[n]):,.0f} "
        f"microseconds, {1e6 * steps[n][1]:,.0f} of them for the sum of gradients."
    )
    rest = "; ".join(f"{m}: {1e6 * sum(s):,.0f}" for m, s in steps.items())
    return picture(p, alt=f"{says} Microseconds by devices: {rest}.", caption=says)
