"""Gradients on their way while the backward pass goes on, as a line of time, for lesson 18.

Source: S. Li et al. (2020), "PyTorch Distributed: Experiences on Accelerating Data Parallel Training", 3.2.
"""

from dataclasses import dataclass

from course_lib.simt.show.panel import EDGE, WIDTH, Panel
from course_lib.validate import require_count, require_positive, require_some

from . import style
from .live import live
from .picture import picture


@dataclass(frozen=True)
class Backward:
    """A layer on the way back: its name, seconds of its backward pass, and bytes of its gradients.

    Source: the course's own.
    """

    name: str
    seconds: float
    nbytes: int


def sent_when(layers, bucket_bytes, latency, rate):
    """Return (name, start, end) of each sum of gradients, seconds since the backward pass began.

    A bucket takes layers until it has `bucket_bytes` bytes; its sum begins when its last layer is done and the sum
    before it has ended, and takes latency + bytes / rate. TypeError or ValueError unless the numbers are positive.
    Source: Li et al. (2020), 3.2.
    """
    require_count("bucket_bytes", bucket_bytes)
    require_positive("latency", latency, zero=True)
    require_positive("rate", rate)
    done, names, held, free, sums = 0.0, [], 0, 0.0, []
    for place, layer in enumerate(layers):
        done += layer.seconds
        if layer.nbytes:
            names.append(layer.name)
            held += layer.nbytes
        if held and (held >= bucket_bytes or place == len(layers) - 1):
            start = max(done, free)
            free = start + latency + held / rate
            sums.append((" + ".join(names), start, free))
            names, held = [], 0
    return sums


def bucket_timeline(layers, buckets, latency, rates, about=""):
    """Return a figure in which the reader chooses when gradients are sent, and over how quick a link.

    Parameters
    ----------
    layers : sequence of Backward
        In the order of the backward pass: the last layer first.
    buckets : dict of str to int
        Name -> bytes from which a bucket is sent; the first is shown first.
    latency : float
        Seconds of a sum before its bytes count.
    rates : sequence of float
        Bytes a second to choose from, rising.
    about : str
        Where the seconds come from.

    TypeError or ValueError as `sent_when`, and if there is nothing to choose. Source: as the module.
    """
    require_some("the layers", layers)
    require_some("the buckets", buckets)
    require_some("the rates", rates)
    for size in buckets.values():
        sent_when(layers, size, latency, rates[0])
    data = {
        "layers": [[one.name, round(1e6 * one.seconds, 3), one.nbytes] for one in layers],
        "buckets": [[name, size] for name, size in buckets.items()],
        "latency": 1e6 * latency,
        "rates": [round(rate / 1e6, 6) for rate in rates],
        "about": about,
    }
    static = _static(layers, buckets, latency, rates[len(rates) // 2])
    return live("bucket_rows", data, title="When are the gradients on their way?", static=static)


def _static(layers, buckets, latency, rate):
    back = sum(one.seconds for one in layers)
    found = {name: sent_when(layers, size, latency, rate) for name, size in buckets.items()}
    most = max(sums[-1][2] for sums in found.values())
    p, wide = Panel(WIDTH, 46 + 62 * len(found) + 16), (WIDTH - 2 * EDGE) / most
    p.text(EDGE, 16, f"a link of {rate / 1e9:g} GB/s", bold=True)
    for k, (name, sums) in enumerate(found.items()):
        y, x = 26 + 62 * k, EDGE
        p.text(EDGE, y + 12, f"{name}: {1e6 * max(back, sums[-1][2]):,.0f} µs")
        for place, one in enumerate(layers):
            p.rect(x, y + 18, max(one.seconds * wide, 0.5), 14, fill=style.tint("data", (0.35, 0.6)[place % 2]))
            x += one.seconds * wide
        for _, start, end in sums:
            p.rect(EDGE + start * wide, y + 34, max((end - start) * wide, 0.5), 14, fill=style.tint("gradient", 0.6))
    p.text(EDGE, 46 + 62 * len(found), "above: backward pass; below: sums of gradients", fill=style.MUTED)
    says = (
        f"The backward pass takes {1e6 * back:,.0f} microseconds. Until the last gradient is summed it takes "
        + ", ".join(f"{1e6 * max(back, sums[-1][2]):,.0f} ({name})" for name, sums in found.items())
    )
    return picture(p, alt=f"{says}.", caption=f"{says}.")
