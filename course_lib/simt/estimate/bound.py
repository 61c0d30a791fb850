"""How long a launch takes at best on a named device, and what it waits for: its counted work at the device's rates.

Source: Williams, Waterman, Patterson, "Roofline" (2009), with the rates of `devices`. An estimate: each part of the
GPU is taken to work at its peak and all at the same time, so that the slowest one decides. The counts are the
source's. Of 78 kernels measured on an H200 (tests/simt/measured) arithmetic and global traffic were nearly always the
same on the card, shared wavefronts down to 0.6 of the source's (merged loads), but instructions 0.45 to 19 times as
many: a compiler adds the arithmetic of addresses. Atomics, constant and local memory are left out.
"""

from dataclasses import dataclass
from math import inf, prod

import numpy as np

from course_lib.simt.estimate.devices import Device, find_device
from course_lib.simt.estimate.occupancy import Occupancy, occupancy
from course_lib.simt.estimate.roofline import DTYPES, roofline
from course_lib.simt.show.wording import count

SECTOR, LINE = 32, 128
"""Bytes: the least that global memory moves, and what the L1 cache and shared memory hand over in one clock."""

REASONS = {
    "DRAM": "memory bandwidth: every element that it touches has to come from the memory, or go there, once",
    "L1": "access to global memory: an SM serves one request, or four sectors, in a clock",
    "shared memory": "shared memory: an SM serves one wavefront in a clock, and a bank conflict adds wavefronts",
    "instructions": "issuing instructions: an SM starts four of them, each for a warp, in a clock",
} | {f"{dtype} arithmetic": f"{dtype} arithmetic" for dtype in DTYPES}

BY_SOURCE = {
    "shared memory": "; by the source: a compiler that merges neighbouring loads needs less",
    "instructions": "; by the source: a compiler adds the arithmetic of addresses, often several times as much",
}


@dataclass(frozen=True)
class Bound:
    """What a launch takes at best. `times` is {part of the GPU: seconds}; bytes are bytes.

    Source: Williams, Waterman, Patterson, "Roofline" (2009).
    """

    kernel: str
    device: Device
    occupancy: Occupancy
    blocks: int
    times: dict[str, float]
    flops: int
    dram_bytes: int
    sector_bytes: int
    l2_seconds: float | None
    """If the L1 cache kept nothing, so that all sectors came from L2; None where the rate of L2 is not known."""

    @property
    def seconds(self):
        """The slowest part's time: the launch takes at least this."""
        return max(self.times.values())

    @property
    def limit(self):
        """The name of the slowest part."""
        return max(self.times, key=self.times.get)

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

    @property
    def flops_per_second(self):
        """FLOP/s if the launch takes no longer than `seconds`."""
        return self.flops / self.seconds

    def __str__(self):
        d, sms = self.device, min(self.blocks, self.device.sms)
        lines = [
            f"{self.kernel} on {d.name}: at best {duration(self.seconds)}, an estimate. "
            f"The limit is {REASONS[self.limit]}{BY_SOURCE.get(self.limit, '')}.",
            "Each part alone: " + ", ".join(f"{part} {duration(t)}" for part, t in self.times.items() if t) + ".",
            f"The grid has {count(self.blocks, 'block')} for {d.sms} SMs: {count(sms, 'SM')} "
            f"{'gets' if sms == 1 else 'get'} work, the busiest one {count(self.busiest, 'block')}; "
            f"an SM has room for {self.occupancy.blocks:,} at a time.",
            f"{self.flops:,} floating-point operations, {self.dram_bytes:,} bytes that must move: "
            f"{_intensity(self.intensity)}, and {_intensity(self.sector_intensity)} of all sectors asked for. "
            f"The ridge of {d.name} is at {roofline(d).ridge:.1f} (float32).",
        ]
        if self.l2_seconds is None:
            lines.append(f"The L2 cache is left out: no source says how fast that of the {d.name} is.")
        else:
            lines.append(f"If the L1 cache kept nothing, L2 would need {duration(self.l2_seconds)} for the sectors.")
        lines.append("Not in it: starting the kernel, waiting for the first data, atomics that wait for each other.")
        return "\n".join(lines)


def predict(report, device):
    """Return the `Bound` of a launch on a device, from the counters of its report.

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

    Source: Williams, Waterman, Patterson, "Roofline" (2009); `devices`.
    """
    d, t = find_device(device), report.total
    if not t.instructions:
        raise ValueError(f"the report of {report.kernel} has no counters; run it with counters=True.")
    held = occupancy(d, prod(report.block), report.shared_bytes)
    blocks = prod(report.grid)
    # Blocks are alike and spread evenly: the busiest SM has this share of all work.
    share = -(-blocks // d.sms) / blocks
    clock = share / (d.clock * 1e9)
    float32 = t.flops - t.float64_flops - t.float16_flops
    sectors = t.global_load_sectors + t.global_store_sectors
    lines = max(t.global_load_requests + t.global_store_requests, sectors * SECTOR / LINE)
    wavefronts = t.shared_load_requests + t.shared_load_conflicts + t.shared_store_requests + t.shared_store_conflicts
    dram = sum(_moved(use) for use in report.arrays.values() if use.space == "global")
    times = {
        "DRAM": dram / (d.bandwidth * 1e9),
        "L1": lines * clock,
        "shared memory": wavefronts * clock,
        "instructions": t.instructions / d.instructions_per_clock * clock,
        "float32 arithmetic": float32 / (2 * d.float32_per_clock) * clock,
        "float64 arithmetic": t.float64_flops / (2 * d.float64_per_clock) * clock,
        "float16 arithmetic": t.float16_flops / (2 * d.float16_per_clock) * clock,
    }
    l2 = None if d.l2_bandwidth is None else sectors * SECTOR / (d.l2_bandwidth * 1e9)
    return Bound(report.kernel, d, held, blocks, times, t.flops, dram, sectors * SECTOR, l2)


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
