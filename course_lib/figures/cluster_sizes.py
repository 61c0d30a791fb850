"""How many devices are worth it: devices, link and batch against what is left of each device, for lesson 18.

Source: J. Gustafson (1988), "Reevaluating Amdahl's Law"; all numbers are those of `course_lib.cluster`.
"""

from math import log10

from course_lib.cluster import ETHERNET_10, ETHERNET_100, INFINIBAND, Cluster, knee, scaling
from course_lib.cluster.workloads import alexnet, lenet5, transformer
from course_lib.simt.show.panel import EDGE, WIDTH, Panel, wrapped
from course_lib.validate import require_some

from . import style
from .live import live
from .picture import picture

DEVICES = (*(2**k for k in range(17)), 100_000)
"""Full hosts of 8, or less than one."""

LINKS = {"8 x 400 Gb/s": INFINIBAND.times(8), "100 Gb/s": ETHERNET_100, "10 Gb/s": ETHERNET_10}
"""What leads out of a host."""

SHARED, OWN = tuple(2**k for k in range(6, 17)), tuple(2**k for k in range(11))
"""Rows of one batch for all, and of each device."""

MODES = ("one batch for all", "a batch each")


def grid(workload, links, devices=DEVICES):
    """Return what the explorer shows for one network, {mode: {link: rows by batch of (efficiencies, seconds, waits)}}.

    Parameters
    ----------
    workload : cluster.workloads.Workload
    links : dict of str to Link
    devices : sequence of int

    Returns
    -------
    list
        [mode][link][batch] -> three lists over devices: efficiency in thousandths, seconds of a step, seconds of it
        that wait for sums. Errors as `cluster.scaling`.

    Source: the course's own.
    """
    return [
        [
            [_rows(workload, [Cluster(n, between=link) for n in devices], batch, grow) for batch in (SHARED, OWN)[grow]]
            for link in links.values()
        ]
        for grow in (False, True)
    ]


def _rows(workload, clusters, batch, grow):
    found = scaling(clusters, workload, batch, grow=grow)
    return [
        [round(1000 * efficiency) for _, _, efficiency in found],
        [_short(step.seconds) for _, step, _ in found],
        [_short(step.waits) for _, step, _ in found],
    ]


def _short(seconds):
    return float(f"{seconds:.3g}")


def cluster_explorer(workloads=None, links=None, *, devices=8, batch=4096, title="How many devices are worth it?"):
    """Return a figure in which the reader chooses a network, the link between hosts, a batch and how many devices.

    Parameters
    ----------
    workloads : sequence of cluster.workloads.Workload, optional
        LeNet-5, AlexNet and GPT-2 unless given.
    links : dict of str to Link, optional
        What leads out of a host of 8 devices: `LINKS` unless given.
    devices, batch : int
        Where it begins: of `DEVICES` and `SHARED`.

    Raises
    ------
    ValueError
        Without networks or links, or another beginning.
    FileNotFoundError
        Where the measured times of `cluster.workloads` are missing.

    Source: Gustafson (1988).
    """
    workloads = (lenet5(), alexnet(), transformer()) if workloads is None else tuple(workloads)
    links = LINKS if links is None else links
    require_some("workloads", workloads)
    require_some("links", links)
    for name, value, allowed in (("devices", devices, DEVICES), ("batch", batch, SHARED)):
        if value not in allowed:
            raise ValueError(f"{name} is {value!r}; it must be one of {', '.join(map(str, allowed))}.")
    data = {
        "devices": list(DEVICES),
        "batches": [list(SHARED), list(OWN)],
        "modes": list(MODES),
        "links": list(links),
        "networks": [
            {"name": w.name, "row": w.row, "parameters": w.parameters, "says": w.says, "grid": grid(w, links)}
            for w in workloads
        ],
        "start": [DEVICES.index(devices), SHARED.index(batch)],
    }
    return live("cluster_sizes", data, title=title, static=_static(data))


def _static(data):
    network, link = data["networks"][0], data["links"][0]
    at, row = data["start"]
    efficiencies, seconds, waits = network["grid"][0][0][row]
    devices, batch, n = data["devices"], data["batches"][0][row], data["devices"][at]
    last = knee([(d, e / 1000) for d, e in zip(devices, efficiencies, strict=True)])
    s, top, base, left, right = Panel(WIDTH, 236), 30, 170, 44, WIDTH - EDGE - 8

    def x(count):
        return left + (right - left) * log10(count) / 5

    def y(thousandths):
        return base - (base - top) * thousandths / 1000

    s.text(EDGE, 16, f"{network['name']}, batch {batch:,}, {link} between hosts", bold=True)
    for value in (0, 500, 1000):
        s.line(left, y(value), right, y(value), stroke=style.GRID if value else style.MUTED)
        s.text(left - 5, y(value) + 4, f"{value // 10} %", anchor="end")
    for power in (0, 1, 2, 3, 5):
        s.text(
            x(10**power),
            base + 16,
            f"{10**power:,}",
            anchor="start" if not power else "end" if power == 5 else "middle",
        )
    s.polyline([(x(d), y(e)) for d, e in zip(devices, efficiencies, strict=True)], stroke="data", line=2.5)
    s.circle(x(n), y(efficiencies[at]), 5, fill="output")
    if last is not None:
        s.line(x(last), top, x(last), base, stroke="hazard", dashed=True)
        s.text(x(last) + 5, top + 12, f"knee: {last:,}")
    s.text(EDGE, base + 34, "devices, and what each keeps of its speed", fill=style.MUTED)
    says = (
        f"{n:,} devices: each does {efficiencies[at] / 10:.0f} % of what one alone does. A step takes "
        f"{time(seconds[at])}, {time(waits[at])} of it waiting for sums."
    )
    for k, words in enumerate(wrapped(says)[:2]):
        s.text(EDGE, base + 50 + 14 * k, words)
    alt = (
        f"What share of its speed each of 1 to 100,000 devices keeps when they share a batch of {batch:,} of "
        f"{network['name']}. {says} Up to {last:,} devices it is half or more; further on it falls."
    )
    return picture(s, alt=alt, caption=says)


def time(seconds):
    """Return seconds in words, "1.2 ms". No errors. Source: the course's own."""
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            value = seconds / size
            return f"{value:,.0f} {unit}" if value >= 9.95 else f"{value:.1f} {unit}"
    return "0 µs" if not seconds else f"{seconds / 1e-6:.1f} µs"
