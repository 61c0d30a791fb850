"""What a launch would take on a named device: a predicted time, or why there is none; and its work beside the roofline.

Source: Williams, Waterman, Patterson, "Roofline" (2009); the time is `model`'s, its rates are measured (`rates`).
"""

from dataclasses import dataclass
from math import inf, prod, sqrt

import numpy as np

from course_lib.simt.estimate.by_source import guesses
from course_lib.simt.estimate.devices import Device, find_device
from course_lib.simt.estimate.model import PARTS
from course_lib.simt.estimate.occupancy import Occupancy, occupancy
from course_lib.simt.estimate.predict import time_or_reason
from course_lib.simt.estimate.rates import rates_of
from course_lib.simt.estimate.roofline import roofline
from course_lib.simt.show.wording import count

SECTOR = 32
"""Bytes: the least that global memory moves."""


@dataclass(frozen=True)
class Bound:
    """What a launch would take. Bytes are bytes; `least` and `most` are seconds, None where nothing is predicted.

    Source: Williams, Waterman, Patterson, "Roofline" (2009).
    """

    kernel: str
    device: Device
    occupancy: Occupancy
    blocks: int
    flops: int
    dram_bytes: int
    sector_bytes: int
    least: float | None = None
    most: float | None = None
    limit: str = ""
    reason: str = ""
    """Why nothing is predicted, "" where something is."""
    compiled: bool = False
    """Whether the instructions are those of machine code."""

    @property
    def seconds(self):
        """The middle of the range, in ratios; None where nothing is predicted."""
        return None if self.least is None else sqrt(self.least * self.most)

    @property
    def busiest(self):
        """How many blocks the busiest SM gets, side by side as far as it has room, else one after the other."""
        return -(-self.blocks // self.device.sms)

    @property
    def busy_sms(self):
        """As if so many SMs worked all the time: fewer than there are where some run out of blocks before others."""
        return self.blocks / self.busiest

    @property
    def intensity(self):
        """FLOP per byte that has to cross the border to DRAM."""
        return self.flops / self.dram_bytes if self.dram_bytes else inf

    @property
    def sector_intensity(self):
        """FLOP per byte of the sectors that warps ask for: what is left of the intensity where no cache helps."""
        return self.flops / self.sector_bytes if self.sector_bytes else inf

    def __str__(self):
        d, sms = self.device, min(self.blocks, self.device.sms)
        return "\n".join([
            f"{self.kernel} on {d.name}: {self._time()}",
            f"{self.flops:,} floating-point operations, {self.dram_bytes:,} bytes that must move: "
            f"{_intensity(self.intensity)}, and {_intensity(self.sector_intensity)} of all sectors asked for. "
            f"The ridge of {d.name} is at {roofline(d).ridge:.1f} (float32).",
            f"The grid has {count(self.blocks, 'block')} for {d.sms} SMs: {count(sms, 'SM')} "
            f"{'gets' if sms == 1 else 'get'} work, the busiest one {count(self.busiest, 'block')}; "
            f"an SM has room for {self.occupancy.blocks:,} at a time.",
        ])  # fmt: skip

    def _time(self):
        if self.reason:
            return f"no time is predicted. {self.reason[0].upper()}{self.reason[1:]}."
        by = "the compiled code" if self.compiled else "the source, whose machine instructions are a guess"
        wide = self.most > 1.1 * self.least
        time = (
            f"between {duration(self.least)} and {duration(self.most)}" if wide else f"about {duration(self.seconds)}"
        )
        rates = rates_of(self.device).source
        return f"predicted {time}, by {by}. The limit is {PARTS[self.limit]}. The card's rates are measured: {rates}."


def predict(report, device):
    """Return the `Bound` of a launch on a device, from its report alone.

    Parameters
    ----------
    report : Report
        Of `simt.run`, with counters.
    device : str or Device
        A name of `DEVICES`.

    Raises
    ------
    ValueError
        For an unknown device, a block that it cannot run, or a report without counters.

    Source: Williams, Waterman, Patterson, "Roofline" (2009); `model`.
    """
    d = find_device(device)
    if not report.total.instructions:
        raise ValueError(f"the report of {report.kernel} has no counters; run it with counters=True.")
    return bound_of(report, d, guesses(report))


def bound_of(report, device, facts, compiled=False):
    """Return the `Bound` of a report with the least and the most that it asks for, as `Facts`; errors as `predict`.

    Source: the course's own.
    """
    d, t = find_device(device), report.total
    threads = prod(report.block)
    held = occupancy(d, threads, report.shared_bytes, facts[0].registers)
    walked = report.sampled[0] / report.sampled[1] if report.sampled else 1
    sectors = t.global_load_sectors + t.global_store_sectors
    if report.sampled:
        moved = sum(min(size, (m + s) * facts[0].blocks * SECTOR) for size, m, s in facts[0].arrays.values())
    else:
        moved = sum(_moved(use) for use in report.arrays.values() if use.space == "global")
    found = [time_or_reason(f, d) for f in facts]
    reason = next((why for _, why in found if why), "")
    times = {} if reason else dict(least=found[0][0].seconds, most=found[-1][0].seconds, limit=found[-1][0].limit)
    if times:
        times["least"], times["most"] = sorted((times["least"], times["most"]))
    return Bound(
        report.kernel, d, held, prod(report.grid), round(t.flops / walked), int(moved),
        round(sectors * SECTOR / walked),
        reason=reason, compiled=compiled, **times,
    )  # fmt: skip


def duration(seconds):
    """Return a time in words: "3.2 µs". No errors. Source: the course's own."""
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def _moved(use):
    """Bytes of whole sectors, as if the elements lay side by side; each element read, and each one written, once."""
    size = np.dtype(use.dtype).itemsize
    return sum(-(-n * size // SECTOR) * SECTOR for n in (use.distinct_loaded, use.distinct_stored))


def _intensity(value):
    return "no byte" if value == inf else f"{value:.3g} FLOP/byte"
