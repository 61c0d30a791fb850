"""Time rivals side by side: in turns, so that whatever slows the machine down slows all of them.

Source: the course's choice.
"""

import contextlib
import time
from dataclasses import dataclass

import numpy as np

from course_lib.validate import require_count, require_positive

BLOCK_SECONDS = 0.002
"""A block of calls lasts at least this long, so that reading the clock does not count."""

PAUSE_SECONDS = 0.003
"""Before each block. Threads of the rival before may go on spinning for a while, and would take a core."""


@dataclass(frozen=True)
class Timing:
    """Seconds per call: the median over the rounds, and two quantiles as its spread (quartiles; on a GPU 20 and 80 %).

    Source: the course's choice.
    """

    median: float
    lower: float
    upper: float
    rounds: int
    calls: int


def interleave(rivals, *, rounds=30, block=BLOCK_SECONDS, pause=PAUSE_SECONDS, around=None, slow=()):
    """Return {name: Timing} for `rivals`, {name: function without arguments}.

    Each round gives every rival one block of calls, each time beginning with another one. A call that is
    not counted comes before each block.

    Parameters
    ----------
    rivals : dict of str to callable
        One with a method `seconds(calls)` makes so many calls and times them itself, as another process does.
    rounds : int >= 1
    block, pause : float >= 0
        Seconds.
    around : dict of str to callable, optional
        For a rival's name what makes the context (for `with`) of its calls; entering it is not timed.
    slow : collection of str
        Rivals that take so long that a block is one call, with no other call before it.

    Raises
    ------
    TypeError, ValueError
        If rounds is not a whole number >= 1, or a time is negative.

    Source: the course's choice.
    """
    rounds = require_count("rounds", rounds)
    block, pause = require_positive("block", block, zero=True), require_positive("pause", pause, zero=True)
    context = {name: (around or {}).get(name, contextlib.nullcontext) for name in rivals}
    calls = {name: 1 if name in slow else _calls(f, block, context[name]) for name, f in rivals.items()}
    seconds = {name: [] for name in rivals}
    names = list(rivals)
    for r in range(rounds):
        for name in names[r % len(names) :] + names[: r % len(names)]:
            time.sleep(pause)
            with context[name]():
                if name not in slow:
                    rivals[name]()
                seconds[name].append(_block(rivals[name], calls[name]) / calls[name])
    return {
        name: Timing(*(float(q) for q in np.quantile(s, (0.5, 0.25, 0.75))), rounds, calls[name])
        for name, s in seconds.items()
    }


def _block(function, calls):
    if hasattr(function, "seconds"):
        return function.seconds(calls)
    start = time.perf_counter()
    for _ in range(calls):
        function()
    return time.perf_counter() - start


def _calls(function, block, context):
    """How many calls fill a block, by the fastest of three."""
    with context():
        function()
        once = min(_block(function, 1) for _ in range(3))
    return max(1, round(block / max(once, 1e-7)))
