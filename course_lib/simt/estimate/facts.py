"""What is known of a launch before a card is named: counts of one block, and the arrays that it touches.

Source: the course's own.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from course_lib.simt.estimate.executions import merged_by_line


@dataclass
class Facts:
    """A launch in numbers; all counts are means of a block.

    Attributes
    ----------
    kernel : str
    blocks, threads, shared_bytes : int
        Of the grid, and of a block.
    registers : int or None
        Of a thread; None where nothing was compiled.
    load, store : dict
        As `sample.Requests`: requests, sectors, lines, wavefronts, partial, missed. `load` may have "ahead" too: those
        of the missed sectors which `pipes.ahead` says nobody stands still for.
    shared_requests, shared_wavefronts : float
    atomics, atomic_rounds : float
        Requests, and further rounds because lanes meant the same element.
    shared_atomics : bool
        Whether all of them are in shared memory.
    barriers, shuffles : float
        Of a warp.
    instructions : dict of str to float
        Of a warp, by unit (`pipes`); only "source" where nothing was compiled.
    clocks, global_waits, shared_waits, shuffle_waits : float
        As `pipes.waits`; of a warp.
    arrays : dict of str to list
        {array: [its bytes, sectors that a block's loads miss in L1, sectors that a block stores]}.
    walked : int
        Blocks that were walked.

    Source: the course's own.
    """

    kernel: str
    blocks: int
    threads: int
    shared_bytes: int
    registers: int | None = None
    load: dict = field(default_factory=dict)
    store: dict = field(default_factory=dict)
    shared_requests: float = 0
    shared_wavefronts: float = 0
    atomics: float = 0
    atomic_rounds: float = 0
    shared_atomics: bool = False
    barriers: float = 0
    shuffles: float = 0
    instructions: dict = field(default_factory=dict)
    clocks: float = 0
    global_waits: float = 0
    shared_waits: float = 0
    shuffle_waits: float = 0
    arrays: dict = field(default_factory=dict)
    walked: int = 0

    @property
    def warps(self):
        """Of a block."""
        return -(-self.threads // 32)


def facts_of(report, watch, code=None, found=()):
    """Return the `Facts` of a launch, from what `sample` returns and, where a compiler is, the launch's `Code`.

    `found` are the code's stretches. No errors. Source: the course's own.
    """
    blocks, threads = math.prod(report.grid), math.prod(report.block)
    walked = report.sampled[0] if report.sampled else blocks
    warps, t = -(-threads // 32), report.total
    merged = merged_by_line(found, report) if found else {}
    spared = sum(_spared(line, merged, report) for line in report.lines)
    spaces = {use.space for use in report.arrays.values()}
    names = {name: use for name, use in report.arrays.items() if use.space == "global"}
    facts = Facts(
        report.kernel, blocks, threads, report.shared_bytes,
        load={k: v / walked for k, v in vars(watch.ways["load"]).items()},
        store={k: v / walked for k, v in vars(watch.ways["store"]).items()},
        shared_requests=(t.shared_load_requests + t.shared_store_requests) / walked,
        shared_wavefronts=(t.shared_load_wavefronts + t.shared_store_wavefronts - spared) / walked,
        atomics=t.atomic_requests / walked, atomic_rounds=t.atomic_serialised / walked,
        shared_atomics="shared" in spaces and not watch.atomics,
        barriers=t.barriers / walked / warps, shuffles=t.warp_operations / walked / warps,
        instructions={"source": t.instructions / walked / warps},
        arrays={
            name: [
                int(math.prod(use.shape)) * np.dtype(use.dtype).itemsize, watch.missed.get(name, 0) / walked,
                watch.stored.get(name, 0) / walked,
            ]
            for name, use in names.items()
        },
        walked=walked,
    )  # fmt: skip
    if code:
        facts.registers, facts.clocks = code.registers, code.clocks
        facts.load["ahead"] = code.ahead * facts.load["missed"]
        facts.instructions = facts.instructions | code.instructions
        facts.global_waits, facts.shared_waits, facts.shuffle_waits = (
            code.global_waits, code.shared_waits, code.shuffle_waits,
        )  # fmt: skip
    return facts


def _spared(line, merged, report):
    """Return the wavefronts of a line's shared loads that a compiler spares by loading neighbours at once."""
    times, c = merged.get(line.number, 1), line.counters
    if times <= 1 or not c.shared_load_wavefronts:
        return 0
    places = [a for a in report.accesses if (a.line, a.space, a.way) == (line.number, "shared", "load")]
    words = [len(np.unique(np.asarray(a.address)[np.asarray(a.thread) < 32] // 4)) for a in places]
    share = max(1 / times, min(1.0, float(np.mean(words)) / 32)) if words else 1.0
    return c.shared_load_wavefronts * (1 - share)
