"""What can go wrong in a launch, and the memory's memory that finds it out.

Source: NVIDIA, "CUDA C++ Programming Guide", "Synchronization Functions" and "Memory Fence Functions". Two accesses
to one address **race** if they come from two threads, at least one writes, they are not both atomic, and no barrier
lies between them. Whether the numbers came out right does not matter: another card, another day, another order.

A thread's number is 1,024 times its block's plus its own in the block, so that shifts give block and warp.
"""

from dataclasses import dataclass, field

import numpy as np

from course_lib.fast.compile import kernel

NOBODY = -1
BLOCK, WARP = 10, 5
"""Bits of a thread's number below those of its block, and below those of its warp."""


@dataclass
class Hazard:
    """One finding: what kind, where, who, and what to do. `severity` is "error" or "advice".

    `details` has `thread` and `block` as triples (x, y, z), `phase` (barriers that the block had passed), and, where
    they apply, `index`, `other_thread`, `other_block`, `other_line`. Source: the course's own.
    """

    kind: str
    line: int
    message: str
    fix: str
    count: int = 1
    array: str = ""
    details: dict = field(default_factory=dict)
    severity: str = "error"
    function: str = ""

    def __str__(self):
        times = f" ({self.count:,} times)" if self.count > 1 else ""
        return f"line {self.line}: {self.message}{times} {self.fix}"


IMPORTANCE = (
    "out of bounds", "barrier not reached", "warp operation not reached", "unset variable", "race", "unwritten memory",
    "negative index", "division by zero", "never written", "float64", "uncoalesced", "bank conflicts",
)  # fmt: skip
"""Kinds of findings; what can make another finding comes first."""


def by_importance(hazards):
    """Return a list of hazards, most important first, and within a kind by line."""
    return sorted(hazards, key=lambda h: (IMPORTANCE.index(h.kind), h.line))


class Shadow:
    """For each element of a memory: who wrote it last, who has read it since, and in which phase.

    `phase` of an access is the number of barriers its block has passed, `sync` the number of `syncwarp`s its warp
    has passed. The records of atomic operations exist from the first of them on. Source: the course's own.
    """

    def __init__(self, size):
        self.size = size
        self.forget()

    def forget(self):
        """Forget all accesses: a barrier of the whole grid orders them with all that follow."""
        size = self.size
        self.writer, self.reader = np.full(size, NOBODY, np.int64), np.full(size, NOBODY, np.int64)
        self.readers = np.zeros(size, np.int32)  # distinct ones since the phase began, as far as they alternate
        self.several_warps = np.zeros(size, np.bool_)
        self.stranger = np.full(size, NOBODY, np.int64)  # a reader of another block than the last reader's
        self.when = np.zeros((size, 5), np.int32)  # phase, sync of last write, last read; write's clock
        self.line = np.zeros((size, 2), np.int32)
        self.atomics = np.full((0, 2), NOBODY, np.int64)  # the last atomic's thread, and the last other one's
        self.atomics_when = np.zeros((0, 5), np.int32)  # phase and sync of the two; the last one's line

    def expect_atomics(self):
        """Make room for records of atomic operations."""
        if not self.atomics.size:
            self.atomics = np.full((self.size, 2), NOBODY, np.int64)
            self.atomics_when = np.zeros((self.size, 5), np.int32)

    @property
    def records(self):
        """The arrays that `note_reads`, `note_writes` and `note_atomics` take last."""
        return (
            self.writer, self.reader, self.readers, self.several_warps, self.stranger, self.when, self.line,
            self.atomics, self.atomics_when,
        )  # fmt: skip


@kernel
def note_reads(
    cell, thread, phase, sync, line, clock, order, writer, reader, readers, several_warps, stranger, when, lines,
    atomics, atomics_when,
):  # fmt: skip
    """Enter reads; return (number of races, the first one's place in `cell`, the other thread, its line)."""
    races, first, other, other_line = 0, -1, -1, -1
    for i in range(cell.size):
        c, t = cell[i], thread[i]
        if writer[c] >= 0 and _unordered(t, phase[i], sync[i], writer[c], when[c, 0], when[c, 1], when[c, 4], order):
            races += 1
            if first < 0:
                first, other, other_line = i, writer[c], lines[c, 0]
        elif atomics.size:
            k = _atomic_opponent(t, phase[i], sync[i], c, atomics, atomics_when, order)
            if k >= 0:
                races += 1
                if first < 0:
                    first, other, other_line = i, atomics[c, k], atomics_when[c, 4]
        last = reader[c]
        if last < 0:
            readers[c] = 1
        else:
            other_block = last >> BLOCK != t >> BLOCK
            if other_block:
                stranger[c] = last  # a write is unordered with that for good
            one_warp = last >> WARP == t >> WARP
            # syncwarp orders one warp's readers, a barrier one block's
            if other_block or when[c, 2] != phase[i] or (one_warp and not several_warps[c] and when[c, 3] != sync[i]):
                readers[c], several_warps[c] = 1, False
            elif last != t:
                readers[c] += 1
                several_warps[c] |= not one_warp
        reader[c], when[c, 2], when[c, 3], lines[c, 1] = t, phase[i], sync[i], line
    return races, first, other, other_line


@kernel
def note_writes(
    cell, thread, phase, sync, line, clock, order, writer, reader, readers, several_warps, stranger, when, lines,
    atomics, atomics_when,
):  # fmt: skip
    """Enter writes; return as `note_reads`. Each pair of a writer with another writer or a reader counts."""
    races, first, other, other_line = 0, -1, -1, -1
    for i in range(cell.size):
        c, t = cell[i], thread[i]
        pairs, opponent, its_line = 0, NOBODY, -1
        if writer[c] >= 0 and _unordered(t, phase[i], sync[i], writer[c], when[c, 0], when[c, 1], when[c, 4], order):
            pairs, opponent, its_line = 1, writer[c], lines[c, 0]
        elif atomics.size:
            k = _atomic_opponent(t, phase[i], sync[i], c, atomics, atomics_when, order)
            if k >= 0:
                pairs, opponent, its_line = 1, atomics[c, k], atomics_when[c, 4]
        count, reading = _readers(c, t, phase[i], sync[i], reader, readers, several_warps, stranger, when)
        if count > 0:
            pairs += count
            if opponent < 0:
                opponent, its_line = reading, lines[c, 1]
        if pairs:
            races += pairs
            if first < 0:
                first, other, other_line = i, opponent, its_line
        writer[c], when[c, 0], when[c, 1], when[c, 4], lines[c, 0] = t, phase[i], sync[i], clock, line
    return races, first, other, other_line


@kernel
def note_atomics(
    cell, thread, phase, sync, line, clock, order, writer, reader, readers, several_warps, stranger, when, lines,
    atomics, atomics_when,
):  # fmt: skip
    """Enter atomic operations; return as `note_reads`. Among themselves they do not race."""
    races, first, other, other_line = 0, -1, -1, -1
    for i in range(cell.size):
        c, t = cell[i], thread[i]
        pairs, opponent, its_line = 0, NOBODY, -1
        if writer[c] >= 0 and _unordered(t, phase[i], sync[i], writer[c], when[c, 0], when[c, 1], when[c, 4], order):
            pairs, opponent, its_line = 1, writer[c], lines[c, 0]
        count, reading = _readers(c, t, phase[i], sync[i], reader, readers, several_warps, stranger, when)
        if count > 0:
            pairs += count
            if opponent < 0:
                opponent, its_line = reading, lines[c, 1]
        if pairs:
            races += pairs
            if first < 0:
                first, other, other_line = i, opponent, its_line
        if atomics[c, 0] != t:
            atomics[c, 1] = atomics[c, 0]
            atomics_when[c, 2], atomics_when[c, 3] = atomics_when[c, 0], atomics_when[c, 1]
        atomics[c, 0], atomics_when[c, 0], atomics_when[c, 1], atomics_when[c, 4] = t, phase[i], sync[i], line
    return races, first, other, other_line


@kernel
def _readers(c, t, phase, sync, reader, readers, several_warps, stranger, when):
    """Return (how many readers nothing orders with a write of thread t, one of them)."""
    count, reading = 0, reader[c]
    if reading >= 0 and (reading >> BLOCK != t >> BLOCK or when[c, 2] == phase):
        one_warp = not several_warps[c] and reading >> WARP == t >> WARP
        if not (one_warp and when[c, 3] != sync):
            count = readers[c] - 1 if reading == t or readers[c] > 1 else readers[c]
    if count <= 0 and stranger[c] >= 0 and stranger[c] >> BLOCK != t >> BLOCK:
        count, reading = 1, stranger[c]
    return count, reading


@kernel
def _atomic_opponent(t, phase, sync, c, atomics, atomics_when, order):
    """Return which of the two recorded atomic operations nothing orders with a plain access of thread t, or -1."""
    for k in range(2):
        if atomics[c, k] >= 0:
            when = atomics_when[c, 2 * k], atomics_when[c, 2 * k + 1]
            if _unordered(t, phase, sync, atomics[c, k], when[0], when[1], 0, order):
                return k
    return -1


@kernel
def _unordered(t, phase, sync, other, other_phase, other_sync, clock, order):
    """Whether nothing orders an access of thread t with an earlier one, at `clock`, of another thread."""
    if t == other:
        return False
    if t >> BLOCK != other >> BLOCK:
        return not (order.size and _handed_over(order, t >> BLOCK, other >> BLOCK, clock))
    if phase != other_phase:
        return False
    return not (t >> WARP == other >> WARP and sync != other_sync)


RELEASED_AT, RELEASED_NUMBER, RELEASED_CLOCK, ACQUIRED_AT, ACQUIRED_NUMBER = range(5)
"""Columns of `order`, a row for each block: on which element and as the how-manieth atomic operation it released its
writes until a clock (a fence and then an atomic), and on which it last met those of others."""


@kernel
def _handed_over(order, block, other, clock):
    """Whether block `other` wrote, fenced and counted up an element on which `block` counted later.

    So the last block of a reduction knows that the others are done.
    """
    return (
        order[other, RELEASED_NUMBER] > 0
        and order[block, ACQUIRED_AT] == order[other, RELEASED_AT]
        and order[block, ACQUIRED_NUMBER] > order[other, RELEASED_NUMBER]
        and clock <= order[other, RELEASED_CLOCK]
    )
