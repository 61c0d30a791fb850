"""One job on two devices: which share each should get, and both at work at the same time.

Source: K, course plan, "OpenCL, heterogeneous computing"; Amdahl (1967) for what cannot be shared.
"""

import threading
import time
from dataclasses import dataclass

from course_lib.validate import require_positive


@dataclass(frozen=True)
class Share:
    """How a job is split: the first device's share, 0 to 1, and the seconds until both are done.

    Source: the course's own.
    """

    first: float
    seconds: float


def best_share(first, second, fixed_first=0.0, fixed_second=0.0):
    """Return the `Share` that ends soonest, if each device's time grows in proportion to its share.

    The first device needs fixed_first + s * first seconds for a share s > 0 of the job, the second one fixed_second +
    (1 - s) * second; a device without a share needs nothing. Both end together where fixed_first + s first =
    fixed_second + (1 - s) second. If that is at no share between 0 and 1, the device that is quicker alone gets all.

    Parameters
    ----------
    first, second : float > 0
        Seconds for the whole job.
    fixed_first, fixed_second : float >= 0
        Seconds before a device begins, whatever its share: copies of weights, launches.

    Raises
    ------
    TypeError, ValueError
        If one is no such number.

    Source: the course's own.
    """
    first, second = require_positive("first", first), require_positive("second", second)
    fixed_first = require_positive("fixed_first", fixed_first, zero=True)
    fixed_second = require_positive("fixed_second", fixed_second, zero=True)
    together_at = (fixed_second + second - fixed_first) / (first + second)
    choices = [Share(0.0, fixed_second + second), Share(1.0, fixed_first + first)]
    if 0 < together_at < 1:
        choices.append(Share(together_at, fixed_first + together_at * first))
    return min(choices, key=lambda share: share.seconds)


@dataclass(frozen=True)
class Done:
    """What a worker returned, and when it began and ended, in seconds from the moment that all were let go.

    Source: the course's own.
    """

    value: object
    start: float
    end: float


def together(*jobs):
    """Call functions without arguments at the same time, each in a thread of its own; return a `Done` for each.

    Two computations really run side by side only where Python's lock is free meanwhile: pyopencl lets go of it while it
    waits, and the compiled loops of `course_lib.fast` and NumPy's products while they compute. The
    first error of a job is raised once all have ended.

    Source: the course's own.
    """
    ready = threading.Barrier(len(jobs) + 1)
    done, errors = [None] * len(jobs), []

    def work(place, job):
        ready.wait()
        start = time.perf_counter()
        try:
            value = job()
        except BaseException as error:
            errors.append(error)
            return
        done[place] = Done(value, start - begun[0], time.perf_counter() - begun[0])

    begun = [0.0]
    threads = [threading.Thread(target=work, args=item) for item in enumerate(jobs)]
    for thread in threads:
        thread.start()
    begun[0] = time.perf_counter()
    ready.wait()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return done
