"""Time many launches in turns, and note each with the work that it did: medians, spread, and the rate.

Source: the course's own; `course_lib.bench.gpu.timing` says how a GPU is timed.
"""

import time
from dataclasses import asdict, dataclass

from course_lib import gpu
from course_lib.bench.timing import Timing


@dataclass(frozen=True)
class Run:
    """A launch to be timed: `call` does it once, and with that `work` things of the kind `unit`.

    A list of calls is walked in turns. Source: the course's own.
    """

    call: object
    work: float
    unit: str


def measured(runs, timer, rounds):
    """Return {name: {"median", "lower", "upper", "rounds", "calls", "work", "unit"}} of {name: `Run`}; seconds a call.

    timer(calls, rounds=...) -> {name: Timing}. Errors as the launches'. Source: the course's own.
    """
    timings = timer({name: run.call for name, run in runs.items()}, rounds=rounds)
    return {n: {**asdict(t), "work": runs[n].work, "unit": runs[n].unit} for n, t in timings.items()}


def by_the_hosts_clock(rivals, *, rounds=1):
    """Return {name: Timing} of one call each: for a smoke test without a GPU, where times mean nothing.

    Source: the course's own.
    """
    found = {}
    for name, calls in rivals.items():
        start = time.perf_counter()
        for call in calls if isinstance(calls, list | tuple) else [calls]:
            call()
        gpu.synchronize()
        seconds = time.perf_counter() - start
        found[name] = Timing(seconds, seconds, seconds, rounds, 1)
    return found
