"""What a launch asks of a card, guessed from the source's counts alone: two `Facts`, the least and the most.

Without a compiler nobody knows the machine instructions. Their number is fitted to that of kernels which a card has
counted: 61 of tests/simt/measured, without transposes, reductions and products, no time among them. It was within 1.6
times for the 17 others, so the guess is a range. And without a walk that follows the L1 cache (`sample`) loads miss it
between once for each sector of the arrays and every time.

Source: the course's own; the counts are those of tests/simt/measured/counters.h200.json.
"""

from collections import Counter
from dataclasses import replace

import numpy as np

from course_lib.simt.estimate.facts import facts_of
from course_lib.simt.estimate.sample import SECTOR, Requests, Watch, shape_of
from course_lib.simt.traffic import shared_traffic

WARP, OPERATION, GLOBAL_FIRST, GLOBAL_AGAIN, SHARED_FIRST, SHARED_AGAIN, TOGETHER = 5.7, 1.4, 12.4, 17.2, 4.0, 2.3, 3.7
"""Machine instructions of a warp: as such, for an operation of the source, for the first and for each further request
to global and to shared memory of a place, for a barrier or shuffle."""
RANGE = 1.6
UNROLLED = 4
"""Turns of a loop without barriers whose loads are on their way together, as compilers unroll."""
LATENCY = 4.5
"""Clocks from an instruction to the next one that needs it."""


def guesses(report, watch=None):
    """Return (least, most) as `Facts` of a report; with the `Watch` of a sample its cache is known.

    No errors. Source: the course's own.
    """
    known = watch or seen_by_first_block(report)
    facts = facts_of(report, known)
    blocks = report.sampled[0] if report.sampled else facts.blocks
    number, waits = instructions(report, blocks * facts.warps)
    found = []
    for share in (1 / RANGE, RANGE):
        flops = report.total.flops / 64 / blocks / facts.warps
        units = {
            "all": number * share,
            "fma": min(flops, number * share),
            "integer": max(0.0, number * share - flops) / 2,
        }
        guess = replace(
            facts, instructions=facts.instructions | units, clocks=number * share * LATENCY / 2, global_waits=waits,
            shared_waits=facts.barriers,
        )  # fmt: skip
        if share > 1 and watch is None:  # no load finds anything in L1
            guess.load = guess.load | {"missed": guess.load["sectors"]}
            guess.arrays = {n: [size, _share(report, n) * guess.load["sectors"], stored]
                            for n, (size, _, stored) in guess.arrays.items()}  # fmt: skip
        found.append(guess)
    return tuple(found)


def _share(report, name):
    uses = {n: u.loads for n, u in report.arrays.items() if u.space == "global"}
    return uses[name] / max(1, sum(uses.values()))


def instructions(report, warps):
    """Return (machine instructions of a warp, how often it waits for a load), guessed. No errors."""
    places = Counter((a.function, a.line, a.space) for a in report.accesses)
    number, again, first = WARP, 0.0, 0.0
    for line in report.lines:
        c = line.counters
        number += OPERATION * c.instructions / warps
        for space, one, more in (("global", GLOBAL_FIRST, GLOBAL_AGAIN), ("shared", SHARED_FIRST, SHARED_AGAIN)):
            requests = (getattr(c, f"{space}_load_requests") + getattr(c, f"{space}_store_requests")) / warps
            new = min(requests, places.get((line.function, line.number, space), 1))
            number += one * new + more * (requests - new)
            if space == "global":
                first, again = first + new, again + requests - new
    barriers = report.total.barriers / warps
    number += TOGETHER * (barriers + report.total.warp_operations / warps)
    turns = 1 + again / first if first else 0.0
    return number, max(min(1.0, turns), min(turns, barriers / 2) if barriers else turns / UNROLLED)


def seen_by_first_block(report):
    """Return a `Watch` made of the first block's first accesses and the lines' counts; each sector misses L1 once."""
    watch, shapes = Watch(0), {}
    for a in report.accesses:
        if a.space == "global" and a.way in ("load", "store"):
            order = np.argsort(a.thread, kind="stable")
            thread, address = np.asarray(a.thread)[order], np.asarray(a.address)[order]
            requests, lines, partial, _ = shape_of(thread // 32, address, a.itemsize)
            turns = shared_traffic(thread // 32, thread % 32, address, 0, 0, a.itemsize, 1)[1]
            shapes.setdefault((a.line, a.way), []).append(np.array([requests, lines, turns, partial], float))
    for line in report.lines:
        for way in ("load", "store"):
            requests = getattr(line.counters, f"global_{way}_requests")
            if requests:
                one = sum(shapes.get((line.number, way), [np.array([1, 1, 1, 0])]))
                use, each = watch.ways[way], requests / one[0]
                watch.ways[way] = Requests(
                    use.requests + requests, use.sectors + getattr(line.counters, f"global_{way}_sectors"),
                    use.lines + one[1] * each, use.wavefronts + one[2] * each, use.partial + one[3] * each,
                )  # fmt: skip
    for name, array in report.arrays.items():
        if array.space == "global":
            size = np.dtype(array.dtype).itemsize
            watch.missed[name] = -(-array.distinct_loaded * size // SECTOR)
            watch.stored[name] = -(-array.distinct_stored * size // SECTOR)
    load = watch.ways["load"]
    load.missed = load.distinct = min(load.sectors, sum(watch.missed.values()))
    watch.atomics = report.total.atomic_requests
    return watch
