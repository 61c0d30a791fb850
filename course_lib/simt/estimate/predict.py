"""A predicted time, or the reason why there is none: a small launch, an unknown card, operations without a rate.

Source: the course's own.
"""

from course_lib.simt.estimate.devices import find_device
from course_lib.simt.estimate.model import time_of
from course_lib.simt.estimate.rates import rates_of

MEETING = 5
"""Clocks that an atomic operation on an element waits for the one before, about (tools/microbench/warps)."""


def time_or_reason(facts, device, *, alone=True):
    """Return (Prediction, "") of a launch on a device, or (None, why nothing is predicted).

    Parameters
    ----------
    facts : Facts
    device : str or Device
    alone : bool
        False for one of several launches of a call: a small one among them is no reason, its time is that of a launch.

    ValueError for an unknown device, or a block that it cannot run. Source: the course's own.
    """
    d, rates = find_device(device), rates_of(device)
    if rates is None:
        return None, f"the rates of the {d.name} are not measured (python -m tools.microbench measures a card)"
    found = time_of(facts, d)
    if alone and facts.blocks < d.sms:
        return None, (
            f"{f'{facts.blocks:,} blocks do' if facts.blocks != 1 else '1 block does'} not fill the {d.sms} SMs of the "
            f"{d.name}: some idle, and starting the kernel, "
            f"{1e6 * rates.launch:.1f} µs, may well take longer than its work"
        )
    if alone and found.seconds < 2 * rates.launch:
        return None, (
            f"the work would take less time than starting a kernel does, {1e6 * rates.launch:.1f} µs on the {d.name}: "
            "a larger launch says more"
        )
    meeting = (facts.atomics + facts.atomic_rounds) * facts.blocks * MEETING / (d.clock * 1e9)
    if facts.atomics and not facts.shared_atomics and meeting > found.seconds / 5:
        return None, "how long atomic operations in global memory wait for each other depends on which of them meet"
    return found, ""
