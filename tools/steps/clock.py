"""Times by the host's clock, from the first call until the device is done, as rows of a benchmark.

Source: the course's own.
"""

import time

import numpy as np

from course_lib import gpu


def summary(seconds, calls=1):
    """Return {"median", "lower", "upper", "rounds", "calls"} of seconds a call; lower and upper are 20 and 80 %."""
    median, lower, upper = (float(q) for q in np.quantile(seconds, (0.5, 0.2, 0.8)))
    return {"median": median, "lower": lower, "upper": upper, "rounds": len(seconds), "calls": calls}


def timed(call, *, rounds=9, calls=1, wait=gpu.synchronize):
    """Return the `summary` of so many rounds of so many calls, after one round that is not counted."""
    found = []
    for _ in range(rounds + 1):
        wait()
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        wait()
        found.append((time.perf_counter() - begin) / calls)
    return summary(found[1:], calls)


def row(case, size, timings, **more):
    """Return a row as `course bench gpu` writes them."""
    return {"case": case, "size": size, "flops": 0.0, "bytes": 0.0, "timings": timings, **more}
