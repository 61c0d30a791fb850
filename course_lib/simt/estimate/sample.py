"""Count a launch by some of its blocks: what each one does to the memory, and what the L1 cache keeps of it.

A launch that fills a card has more threads than can be walked. Its blocks are alike, so some of them, spread over the
grid, stand for all. Each is walked alone, as on a card, where the next block goes to another SM. A walk in lock-step
also has an order of accesses, so a small model of the L1 cache can say which loads it answers.

Source: the course's own.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from course_lib.fast.compile import kernel as compiled
from course_lib.simt.run import run
from course_lib.simt.traffic import SECTOR, shared_traffic

LINE = 128
BLOCKS = 4
"""Blocks that are walked unless asked for more or fewer; threads of all of them together."""
THREADS = 4096


@dataclass
class Requests:
    """What the global accesses of one way, "load" or "store", are like; sums over the blocks that were walked.

    Attributes
    ----------
    requests, sectors : int
    lines : int
        Lines of 128 bytes that a request touches, each once.
    wavefronts : int
        Turns that 32 banks of 4 bytes need, as in shared memory.
    partial : int
        Sectors that a store writes in part.
    missed : int
        Sectors of loads that the L1 cache does not have.
    distinct : int
        Different sectors of each block, added up.

    Source: the course's own.
    """

    requests: int = 0
    sectors: int = 0
    lines: int = 0
    wavefronts: int = 0
    partial: int = 0
    missed: int = 0
    distinct: int = 0


@dataclass
class Watch:
    """Gets every access to global memory of a walk; see `sample`.

    Attributes
    ----------
    l1_bytes : int
        What one block has of the L1 cache.
    ways : dict of str to Requests
        For "load" and "store"; an atomic operation is neither.
    missed : dict of str to int
        {array: sectors of loads that miss L1}, and `stored` {array: sectors that are written}.

    Source: the course's own.
    """

    l1_bytes: int
    ways: dict = field(default_factory=lambda: {"load": Requests(), "store": Requests()})
    missed: dict = field(default_factory=dict)
    stored: dict = field(default_factory=dict)
    stream: list = field(default_factory=list)
    names: list = field(default_factory=list)
    atomics: int = 0

    def begin(self):
        """End the block before: its loads go through the cache."""
        if self.stream:
            sectors = np.concatenate(self.stream)
            array = np.repeat(np.arange(len(self.stream)), [s.size for s in self.stream])
            distinct, number = np.unique(sectors, return_inverse=True)
            line, line_number = np.unique(sectors // (LINE // SECTOR), return_inverse=True)
            miss = through_cache(number, line_number, distinct.size, line.size, max(1, self.l1_bytes // LINE))
            self.ways["load"].distinct += distinct.size
            self.ways["load"].missed += int(miss.sum())
            for name, count in zip(self.names, np.bincount(array, miss, len(self.stream)), strict=True):
                self.missed[name] = self.missed.get(name, 0) + int(count)
        self.stream, self.names = [], []

    def note(self, way, memory, cells, warp, lane, size):
        """Count one access of the active lanes: lane[i] of warp[i] touches `size` bytes from cells[i] on."""
        if way == "atomic":
            self.atomics += 1
            return
        use = self.ways[way]
        address = memory.base + cells * memory.pitch
        requests, lines, partial, sectors = shape_of(warp, address, size)
        use.requests += requests
        use.sectors += sectors.size
        use.lines += lines
        use.wavefronts += shared_traffic(warp, lane, cells, memory.base, 0, size, memory.pitch)[1]
        if way == "load":
            self.stream.append(sectors)
            self.names.append(memory.name)
        else:
            use.partial += partial
            self.stored[memory.name] = self.stored.get(memory.name, 0) + sectors.size


@compiled
def shape_of(warp, address, size):
    """Return (requests, lines, sectors touched in part, sectors) of one access; lanes of a warp are neighbours.

    warp (L,) ascending, address (L,) of the `size` bytes that each lane touches. Each request has its sectors once.
    """
    most = (size + 62) // 32
    found, held = np.empty(warp.size * most, np.int64), np.zeros(warp.size * most, np.int64)
    seen = np.empty(32, np.int64)
    requests = lines = partial = count = 0
    i = 0
    while i < warp.size:
        requests += 1
        begin, this, elements = count, warp[i], 0
        while i < warp.size and warp[i] == this:
            here, known = address[i], False
            i += 1
            for k in range(elements):
                known |= seen[k] == here
            if known:
                continue
            seen[elements] = here
            elements += 1
            for sector in range(here >> 5, ((here + size - 1) >> 5) + 1):
                k = count - 1
                while k >= begin and found[k] != sector:
                    k -= 1
                if k < begin:
                    k, found[count], held[count] = count, sector, 0
                    count += 1
                held[k] += min(here + size, (sector + 1) << 5) - max(here, sector << 5)
        for k in range(begin, count):
            partial += held[k] < 32
            new = True
            for m in range(begin, k):
                new &= found[m] >> 2 != found[k] >> 2
            lines += new
    return requests, lines, partial, found[:count].copy()


@compiled
def through_cache(sector, line, sectors, lines, room):
    """Return (n,) bool: which accesses miss a cache of `room` lines.

    sector, line (n,): which one of so many is accessed. A line is gone after as many other lines came as there is room
    for, counted from its last use; its sectors come one by one.
    """
    miss = np.zeros(sector.size, np.bool_)
    used, filled = np.full(lines, -1, np.int64), np.full(sectors, -1, np.int64)
    came = generation = 0
    born = np.zeros(lines, np.int64)
    for i in range(sector.size):
        s, at = sector[i], line[i]
        if used[at] < 0 or came - used[at] >= room:
            came += 1
            generation += 1
            born[at] = generation
        used[at] = came
        if filled[s] < 0 or filled[s] != born[at]:
            miss[i] = True
            filled[s] = born[at]
    return miss


def sample(kernel, grid, block, arguments, *, shared=0, l1_bytes=32 * 1024, blocks=None, steps=3_000_000):
    """Return (report, watch) of a launch of which some blocks are walked; `report.sampled` says how many.

    Parameters
    ----------
    kernel, grid, block, arguments, shared
        As `simt.run` takes them. Outputs are wrong where nobody walked.
    l1_bytes : int
        What a block has of the L1 cache: its part of what is not shared memory.
    blocks : int, optional
        How many are walked; unless given, as many as have some thousand threads together.
    steps : int
        The most statements of a block, as `simt.run` counts them.

    Errors as `simt.run`'s, but for hazards, which the report has. Source: the course's own.
    """
    total = math.prod(grid if isinstance(grid, tuple | list) else (grid,))
    threads = math.prod(block if isinstance(block, tuple | list) else (block,))
    few = min(total, blocks or max(2, min(BLOCKS, THREADS // threads)))
    only = sorted({0, *(int((i + 0.5) * total / (few - 1)) for i in range(few - 1))}) if few < total else range(total)
    watch = Watch(l1_bytes)
    report = run(
        kernel,
        grid,
        block,
        tuple(arguments),
        shared=shared,
        on_error="collect",
        races=False,
        only=only,
        watch=watch,
        steps=steps,
    )
    watch.begin()
    return report, watch
