"""Share units of work among threads.

Source: the course's choice. Threads help where there is enough to do, and must not hurt where another
program keeps a core busy: whoever is free takes the next piece, nobody waits for a piece not begun.
"""

import contextlib
import itertools
import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor

from threadpoolctl import threadpool_limits

from course_lib.validate import require_count

WORTH_SHARING = 10_000_000
"""Multiply-adds, or what takes as long, below which one thread is quicker: waking another takes 50 to 100 us."""

PIECES = 4
"""Pieces for each thread: fewer would leave one thread waiting, more would call too often."""


def _default():
    """OMP_NUM_THREADS where it is set, else the CPUs this process may use."""
    wanted = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_threads = _default()
_pool = None


def threads():
    """Return how many threads a large operation uses: OMP_NUM_THREADS, else the CPUs of this process.

    No arguments, no errors. Source: the course's choice.
    """
    return _threads


def set_threads(count):
    """Use `count` threads from now on, in `course_lib.fast` and in NumPy's own matrix products.

    Raises
    ------
    TypeError, ValueError
        If count is not a whole number >= 1.

    Source: the course's choice.
    """
    global _threads, _pool
    count = require_count("count", count)
    threadpool_limits(count)
    if count != _threads and _pool is not None:
        _pool.shutdown()
        _pool = None
    _threads = count


@contextlib.contextmanager
def sharing(most):
    """Within `with sharing(1):` an operation uses at most so many threads: where others compute beside it.

    TypeError or ValueError if `most` is not a whole number >= 1. Source: the course's choice.
    """
    global _threads
    before, _threads = _threads, min(_threads, require_count("most", most))
    try:
        yield
    finally:
        _threads = before


def share(kernel, units, work, *arguments):
    """Call kernel(first, last, *arguments) over ranges that together cover 0 ... units - 1.

    Each unit must write its own part of the result, whole: then it does not matter which thread does it.
    `work` is the number of multiply-adds of all units, or of those that would take as long.
    Errors of the kernel are passed on. Source: the course's choice.
    """
    global _pool
    helpers = min(_threads, units) - 1
    if helpers < 1 or work < WORTH_SHARING:
        kernel(0, units, *arguments)
        return
    if _pool is None:
        _pool = ThreadPoolExecutor(_threads - 1, thread_name_prefix="course-fast")
    pieces = min(units, PIECES * (helpers + 1))
    cuts = [units * i // pieces for i in range(pieces + 1)]
    left = deque(itertools.pairwise(cuts))

    def take_pieces():
        while left:
            try:
                first, last = left.popleft()
            except IndexError:  # the other thread took the last one between the two lines
                return
            kernel(first, last, *arguments)

    waiting = [_pool.submit(take_pieces) for _ in range(helpers)]
    take_pieces()
    for helper in waiting:
        if not helper.cancel():  # one that has not begun has nothing left to do
            helper.result()
