"""What a message costs: a link has a latency and a bandwidth, or a curve that was measured.

The time of S bytes is latency + S / bandwidth; S / bandwidth of it the link is busy, and the next message waits. Real
engines change their way of sending with the size, and caches overflow: then a curve through measured times is truer
than one line.

Source: R. Hockney (1994), "The Communication Challenge for MPP" (latency and bandwidth); A. Alexandrov et al. (1995),
"LogGP" (what a sender waits for, and what it does not).
"""

from bisect import bisect_left
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from course_lib.validate import require_positive


@dataclass(frozen=True)
class Curve:
    """Seconds by bytes: straight lines between measured points, and the last line goes on beyond them.

    Attributes
    ----------
    points : tuple of (bytes, seconds)
        By rising bytes; below the first one its seconds hold.

    Raises
    ------
    ValueError
        If there is no point, or bytes do not rise, or seconds are negative.

    Source: the course's own.
    """

    points: tuple

    def __post_init__(self):
        if not self.points:
            raise ValueError("points is empty; a curve goes through at least one measured (bytes, seconds).")
        for (a, _), (b, _) in pairwise(self.points):
            if not a < b:
                raise ValueError(
                    f"points go from {a:g} to {b:g} bytes; they must rise. Sort them, and keep one a size."
                )
        if min(seconds for _, seconds in self.points) < 0:
            raise ValueError(f"points hold negative seconds: {self.points}.")

    def __call__(self, nbytes):
        """Return the seconds for a number of bytes. No errors."""
        if nbytes <= self.points[0][0] or len(self.points) == 1:
            return self.points[0][1]
        last = len(self.points) - 1
        place = min(last, bisect_left(self.points, nbytes, key=lambda point: point[0]))
        (a, s), (b, t) = self.points[place - 1], self.points[place]
        return max(0.0, s + (t - s) * (nbytes - a) / (b - a))


NOTHING = Curve(((0, 0.0),))
"""What costs nothing."""


@dataclass(frozen=True)
class Link:
    """One direction of a wire between a device and a switch, between two switches, or between two cores.

    Attributes
    ----------
    name : str
    latency : float >= 0
        Seconds until the first byte arrives, software included.
    bandwidth : float > 0
        Bytes a second.
    busy_curve : Curve, optional
        Seconds for which a message of so many bytes keeps the link busy, instead of bytes / bandwidth.
    both_curve : Curve, optional
        The same while an equal message comes the other way, where that differs: two cores share their memory.

    TypeError or ValueError for a latency or bandwidth that is none. Source: Hockney (1994).
    """

    name: str
    latency: float
    bandwidth: float
    busy_curve: Curve | None = None
    both_curve: Curve | None = None

    def __post_init__(self):
        require_positive(f"latency of {self.name}", self.latency, zero=True)
        require_positive(f"bandwidth of {self.name}", self.bandwidth)

    def busy(self, nbytes, both=False):
        """Return the seconds for which a message of `nbytes` keeps this link from others. No errors."""
        curve = self.both_curve if both and self.both_curve else self.busy_curve
        return curve(nbytes) if curve else nbytes / self.bandwidth

    def seconds(self, nbytes, both=False):
        """Return the seconds from the send to the arrival of a message alone on the link. No errors."""
        return self.latency + self.busy(nbytes, both)

    def times(self, count):
        """Return a link of `count` such wires side by side: the latency of one, the bandwidth of all. No errors."""
        return replace(self, name=f"{count} x {self.name}", bandwidth=count * self.bandwidth)


NVLINK = Link("NVLink", 4e-6, 450e9)
INFINIBAND = Link("InfiniBand 400 Gb/s", 6e-6, 50e9)
ETHERNET_100 = Link("Ethernet 100 Gb/s", 20e-6, 12.5e9)
ETHERNET_10 = Link("Ethernet 10 Gb/s", 30e-6, 1.25e9)
"""Bandwidths are those of the data sheets (NVLink 4 of one H100 or H200, one direction), latencies what libraries for
messages need about, software included: orders of magnitude to think with. `calibrate` has measured ones."""


@dataclass(frozen=True)
class Costs:
    """What a device needs beside sending, by bytes: to add an array to another, and to write into a new one at first.

    A system hands out a large new array page by page, when it is written into: when the first message comes. Where all
    devices add at once, as in a ring, those that share a memory may need `both_add` instead of `add`.
    Source: the course's own.
    """

    add: Curve = NOTHING
    fresh: Curve = NOTHING
    both_add: Curve | None = None

    def adding(self, nbytes, both=False):
        """Return the seconds in which a device adds an array of `nbytes`; `both`: while others do so. No errors."""
        return (self.both_add if both and self.both_add else self.add)(nbytes)


FREE = Costs()
"""A device that adds as fast as bytes come: NCCL's kernels do both in one pass."""


def line(points):
    """Return (latency, bandwidth) of the line through measured (bytes, seconds), by least squares of relative errors.

    Parameters
    ----------
    points : sequence of (bytes, seconds), two at least

    Raises
    ------
    ValueError
        If there are fewer than two sizes, or times fall with the size.

    Source: Hockney (1994).
    """
    sizes, seconds = np.array(points, float).reshape(-1, 2).T
    if len(set(sizes)) < 2:
        raise ValueError(f"there are {len(set(sizes))} sizes; a line has two unknowns, so measure two sizes at least.")
    design = np.stack([1 / seconds, sizes / seconds], axis=1)
    latency, each = np.linalg.lstsq(design, np.ones(len(sizes)), rcond=None)[0]
    if each <= 0:
        raise ValueError("larger messages took less time; measure again on an idle machine.")
    return max(float(latency), 0.0), 1 / float(each)
