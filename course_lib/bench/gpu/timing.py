"""Time kernels on a GPU, rivals in turns: with the device's own clock, and the host always ahead of it.

Source: NVIDIA, "CUDA C++ Programming Guide", "Events". A launch only enqueues work, so a clock on the host times the
enqueuing. Events are marks in the queue, and the device notes when it passes them. If the host is slower than the
device, gaps between kernels are timed too; so a kernel that only waits goes first, until all is enqueued.
"""

import itertools
import time

import numpy as np

from course_lib.bench.timing import Timing
from course_lib.cuda.choice import GPU, DeviceError
from course_lib.cuda.device import choice
from course_lib.cuda.jit import jit
from course_lib.cuda.numba_cuda import cuda

MOST_SECONDS, LEAST_ROUNDS = 0.5, 3
"""A rival that takes long has fewer rounds: as many as fit into so many seconds, but at least three."""

MOST_CALLS = 400
"""Calls between two events; the queue of a device holds about 1,000 launches, and a rival may launch several."""


@jit(cache=True)
def _wait(microseconds):
    """Keep the device busy for about so long: each sleep may be anything from 0 to twice as long as asked for."""
    for _ in range(microseconds):
        cuda.nanosleep(1000)


def time_in_turns(rivals, *, rounds=20, block=0.01):
    """Return {name: Timing} of functions that enqueue work on the default stream.

    Each round gives every rival one block of calls, and begins with another rival, so that a slow spell of the machine
    hits all of them. One call before each block is not counted, unless a call lasts longer than MOST_SECONDS. Rivals
    that take long have fewer rounds.

    Parameters
    ----------
    rivals : dict of str to function, or to a list of functions
        Without arguments. A list is walked in turns: give each function data of its own, together more than the cache
        holds, where work is bound by memory.
    rounds : int >= 1
    block : float
        Seconds that a block of calls should last.

    Raises
    ------
    DeviceError
        Without a GPU.

    Source: the course's own.
    """
    if choice().device != GPU:
        raise DeviceError("kernels are timed on a GPU, and there is none here", "Run `course bench simt` instead.")
    rivals = {n: list(f) if isinstance(f, list | tuple) else [f] for n, f in rivals.items()}
    cycles = {name: itertools.cycle(functions) for name, functions in rivals.items()}
    plans = {name: _plan(cycles[name], len(functions), block, rounds) for name, functions in rivals.items()}
    seconds = {name: [] for name in rivals}
    names = list(rivals)
    for r in range(rounds):
        for name in names[r % len(names) :] + names[: r % len(names)]:
            count, host, turns = plans[name]
            if len(seconds[name]) < turns:
                seconds[name].append(_block(cycles[name], count, host))
    return {
        name: Timing(*(float(q) for q in np.quantile(s, (0.5, 0.2, 0.8))), len(s), plans[name][0])
        for name, s in seconds.items()
    }


def _plan(cycle, least, block, rounds):
    """Return (how many calls a block has, host seconds that enqueuing one takes, how many rounds)."""
    next(cycle)()  # compile
    cuda.synchronize()
    begin = time.perf_counter()
    next(cycle)()
    host = time.perf_counter() - begin
    cuda.synchronize()
    begin_to_end = time.perf_counter() - begin
    if begin_to_end > MOST_SECONDS:
        return 1, 0, min(rounds, LEAST_ROUNDS)
    for _ in range(least):  # touch all data
        next(cycle)()
    once = _block(cycle, 1 if begin_to_end > MOST_SECONDS / 10 else 3, host)
    count = max(1, min(MOST_CALLS, round(block / max(once, 1e-7))))
    turns = int(MOST_SECONDS / (once * (count + 1)))
    return count, host, max(min(rounds, LEAST_ROUNDS), min(rounds, turns))


def _block(cycle, count, host):
    """Return seconds a call on the device, over `count` calls; with no host seconds nothing comes before them."""
    start, stop = cuda.event(), cuda.event()
    if host:
        ahead = min(100_000, int(2e6 * host * (count + 1)) + 20)
        _wait[1, 1](ahead)
        next(cycle)()
    start.record()
    for _ in range(count):
        next(cycle)()
    stop.record()
    stop.synchronize()
    return start.elapsed_time(stop) / 1000 / count
