"""Warps that hide each other's waiting: one scheduler, some warps, and a fixed time until a load's number is there.

A model, on purpose: a real SM has four schedulers with a quarter of its warps each, several loads of a warp on their
way, caches that answer sooner, and instructions that wait for each other. What stays true is Little's law: to keep
the scheduler busy, so many instructions must be at hand as pass while a warp waits.

Source: NVIDIA, "CUDA C++ Programming Guide", "Multiprocessor Level" (latency hiding); Volkov, "Understanding Latency
Hiding on GPUs" (2016); the course's own simulation.
"""

from dataclasses import dataclass

import numpy as np

from course_lib.simt.estimate.devices import find_device
from course_lib.validate import require_count

WAITS, ISSUES, READY = range(3)
"""What a warp does in a slot: it waits for memory; it issues; it could issue, and another warp is chosen."""

LATENCY = {"A100": 550, "H100": 700, "H200": 690, "RTX 4090": 636}
"""Clocks from a load to its number where it comes from DRAM: markdewing/AI_kernels, measured by a pointer chase (the
H200's value on a GH200). Of the others we know no measurement."""


@dataclass(frozen=True, eq=False)
class Schedule:
    """What warps do in the slots of one scheduler. `states` is (warps, slots) uint8 of WAITS, ISSUES and READY.

    Source: the course's own.
    """

    warps: int
    compute: int
    latency: int
    states: np.ndarray

    @property
    def share(self):
        """The share of slots in which an instruction is issued, 0 to 1."""
        return float((self.states == ISSUES).any(axis=0).mean())

    @property
    def runs(self):
        """For each warp its states one after the other, as [state, slots]."""
        return [_runs(row) for row in self.states]


def simulate(warps, compute, latency, rounds=2):
    """Return the `Schedule` of some warps, from the moment when all of them are ready.

    Each warp issues `compute` instructions, one a slot; the last of them is a load, whose number the next one needs,
    so the warp waits until `latency` clocks after the load. The scheduler stays with a warp until it has to wait; then
    it takes the one that has been ready longest, and of several the one with the lowest number.

    Parameters
    ----------
    warps, compute, latency : int >= 1
    rounds : int >= 1
        How many times a warp that is alone goes round: the slots are those of so many rounds.

    Raises
    ------
    TypeError, ValueError
        A number that is no whole one, or below 1.

    Source: the course's own; "greedy, then oldest" is the order of many simulators of GPUs (Rogers and others, 2012).
    """
    for name, value in (("warps", warps), ("compute", compute), ("latency", latency), ("rounds", rounds)):
        require_count(name, value)
    slots = rounds * period(compute, latency)
    states = np.full((warps, slots), WAITS, np.uint8)
    since = np.zeros(warps, np.int64)  # when each warp is, or was, ready again
    slot, chosen = 0, 0
    while slot < slots:
        if since[chosen] > slot:
            chosen = int(since.argmin())  # the first of those that are ready longest
        begin = max(slot, int(since[chosen]))
        states[chosen, since[chosen] : begin] = READY
        states[chosen, begin : begin + compute] = ISSUES
        slot = begin + compute
        since[chosen] = slot - 1 + latency
    for warp in range(warps):
        states[warp, since[warp] :] = READY  # and not chosen before the last slot
    return Schedule(warps, compute, latency, states)


def period(compute, latency):
    """Return the slots of a round of a warp that is alone. No errors are raised. Source: the course's own."""
    return compute - 1 + latency


def warps_needed(compute, latency):
    """Return how many warps keep the scheduler busy all the time: Little's law.

    No errors are raised. Source: Little, "A Proof for the Queuing Formula L = λW" (1961).
    """
    return -(-period(compute, latency) // compute)


def work_of(report):
    """Return the instructions of a warp from one global load to the next, on average, 1 or more.

    Raises
    ------
    ValueError
        For a report without counters, or of a launch that loads nothing from global memory.

    Source: the course's own. Instructions are the source's: a compiler adds the arithmetic of addresses.
    """
    t = report.total
    if not t.global_load_requests:
        raise ValueError(f"{report.kernel} has no counted load from global memory, so its warps wait for none.")
    return max(1, round(t.instructions / t.global_load_requests))


def latency_of(device):
    """Return (the device's name, clocks from a load to its number from DRAM).

    Raises
    ------
    ValueError
        For an unknown device, or one whose latency we know no measurement of.

    Source: `LATENCY`.
    """
    name = find_device(device).name
    if name not in LATENCY:
        raise ValueError(f"no source says the latency of the {name}; give latency=..., or one of {', '.join(LATENCY)}.")
    return name, LATENCY[name]


def _runs(row):
    ends = np.flatnonzero(np.append(np.diff(row), 1)) + 1
    return [[int(row[b - 1]), int(b - a)] for a, b in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)]
