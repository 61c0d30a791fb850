"""A training step that n devices share, for lesson 18: what computing takes, and what the sum of gradients takes.

Source: R. Hockney (1994), latency and rate of a message; Patarasuk and Yuan (2009), the ring; the course's own.
"""

from course_lib.cluster import Cluster, step
from course_lib.simt.show.panel import EDGE, WIDTH, Panel
from course_lib.validate import require_choice, require_count, require_some

from . import style
from .live import live
from .picture import picture

DEVICES = (1, 2, 4, 8, 16, 32, 64)


def shared_step(workload, links, batches, start=1):
    """Return a figure in which the reader gives a training step more devices.

    Parameters
    ----------
    workload : cluster.workloads.Workload
        Its steps are measured; its gradients are summed when the backward pass is done, in a ring or by a tree.
    links : sequence of cluster.Link
        The first is shown first.
    batches : sequence of int
        Rows of all devices together to choose from; the first is shown first.
    start : int
        Devices at the beginning, one of `DEVICES`.

    Raises
    ------
    TypeError, ValueError
        Without links or batches; a batch for which nothing was measured; another start.

    Source: the course's own.
    """
    require_some("the links", links)
    require_some("the batches", batches)
    require_choice("start", str(start), [str(n) for n in DEVICES])
    most, _ = workload.compute.points[-1]
    for batch in batches:
        if require_count("a batch", batch) > most:
            raise ValueError(f"a batch has {batch:,} rows; {workload.name} was measured with at most {most:,}.")
    data = {
        "points": [[rows, round(1e6 * s, 3)] for rows, s in workload.compute.points],
        "bytes": workload.nbytes,
        "devices": list(DEVICES),
        "start": DEVICES.index(start),
        "batches": list(batches),
        "links": [
            {"name": link.name, "latency": round(1e6 * link.latency, 6), "rate": link.bandwidth / 1e6}
            for link in links
        ],
        "ways": ["ring", "tree"],
        "about": f"{workload.says[:1].upper()}{workload.says[1:]}; the sum: by formula." if workload.says else "",
    }
    static = _static(workload, batches[0], start, links[0])
    return live("shared_step", data, title="Give a training step more devices", static=static)


def shared(workload, batch, devices, link, by="ring"):
    """Return (compute, exchange) of a step whose batch so many devices share, in seconds, one after the other.

    Errors as `cluster.step`. Source: the course's own.
    """
    cluster = Cluster(devices, per_host=devices, inside=link)
    one = step(cluster, workload, batch / devices, by=by, overlap=False, bucket_bytes=workload.nbytes)
    return one.compute, one.waits


def _static(workload, batch, start, link):
    p, right = Panel(WIDTH, 30 + 34 * len(DEVICES)), WIDTH - EDGE
    steps = {n: shared(workload, batch, n, link) for n in DEVICES}
    alone, most = sum(steps[1]), max(map(sum, steps.values()))
    p.text(EDGE, 16, f"batch {batch:,}; {link.name}; a ring", bold=True)
    for k, (n, (compute, exchange)) in enumerate(steps.items()):
        y, wide = 26 + 34 * k, (right - EDGE) / most
        took = compute + exchange
        p.text(EDGE, y + 12, f"{n} device{'s' * (n > 1)}: {1e6 * took:,.0f} µs, {alone / took:.1f} times as fast")
        p.rect(EDGE, y + 16, max(compute * wide, 1), 12, fill=style.tint("data", 0.75))
        if exchange:
            p.rect(EDGE + compute * wide, y + 16, max(exchange * wide, 1), 12, fill=style.tint("gradient", 0.6))
    n = start
    says = (
        f"With {link.name} and {n} device{'s' * (n > 1)} a step on {batch:,} images takes {1e6 * sum(steps[n]):,.0f} "
        f"microseconds, {1e6 * steps[n][1]:,.0f} of them for the sum of gradients."
    )
    rest = "; ".join(f"{m}: {1e6 * sum(s):,.0f}" for m, s in steps.items())
    return picture(p, alt=f"{says} Microseconds by devices: {rest}.", caption=says)
