"""What can go wrong in a launch, and the memory's memory that finds it out.

Source: NVIDIA, "CUDA C++ Programming Guide", "Synchronization Functions" and "Memory Fence Functions". Two accesses
to one address **race** if they come from two threads, at least one writes, they are not both atomic, and no barrier
lies between them. Whether the numbers came out right does not matter: another card, another day, another order.

A thread's number is 1,024 times its block's plus its own in the block, so that shifts give block and warp.
"""

from dataclasses import dataclass, field

import numpy as np

from course_lib.fast.compile import inlined, kernel
from course_lib.simt.gather import where

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
        return f"{where(self)}: {self.message}{times} {self.fix}"


IMPORTANCE = (
    "out of bounds", "raised", "misaligned", "barrier not reached", "warp operation not reached", "unset variable", "race",
    "unwritten memory", "negative index", "division by zero", "never written", "same value", "early return", "float64",
    "uncoalesced", "bank conflicts",
)  # fmt: skip
"""Kinds of findings; what can make another finding comes first."""


def by_importance(hazards):
    """Return a list of hazards, most important first, and within a kind by line."""
    return sorted(hazards, key=lambda h: (IMPORTANCE.index(h.kind), h.line))


class Shadow:
    """For each element of a memory: who wrote it last, who has read it since, and in which phase.

    `phase` of an access is the number of barriers its block has passed, `sync` the number of `syncwarp`s its warp
    has passed. `records` has the rows below, a column for each element; threads are their numbers plus one, so that 0
    is nobody.
    The records of atomic operations exist from the first of them on. Source: the course's own.
    """

    def __init__(self, size):
        self.size = size
        self.forget()

    def forget(self):
        """Forget all accesses: a barrier of the whole grid orders them with all that follow."""
        self.records = np.zeros((ROWS, self.size), np.int32)
        self.atomics = np.zeros((ATOMIC_ROWS, 0), np.int32)

    def expect_atomics(self):
        """Make room for records of atomic operations."""
        if not self.atomics.size:
            self.atomics = np.zeros((ATOMIC_ROWS, self.size), np.int32)


(
    WRITER, WRITE_PHASE, WRITE_SYNC, WRITE_LINE, WRITE_CLOCK,
    READER, READ_PHASE, READ_SYNC, READ_LINE,
    READERS,  # how many different ones since the phase began, as far as they alternate
    SEVERAL_WARPS,
    EARLIER,  # the last reader that is not READER
    STRANGER,  # a reader of another block than the last reader's
    ROWS,
) = range(14)  # fmt: skip
LAST, LAST_PHASE, LAST_SYNC, OTHER, OTHER_PHASE, OTHER_SYNC, ATOMIC_LINE, ATOMIC_ROWS = range(8)
"""The last atomic operation on an element, and the last one of another thread than that."""

WROTE, READ, COUNTED = range(3)
"""What the other thread of a race did."""


@kernel
def note_reads(cell, thread, phase, sync, line, clock, order, records, atomics):
    """Enter reads of thread[i] on cell[i].

    Returns (number of races, the first one's place in `cell`, the other thread, its line, what it did).
    """
    races, first, other, other_line, did = 0, -1, -1, -1, WROTE
    for i in range(cell.size):
        c, t = cell[i], thread[i] + 1
        writer = records[WRITER, c]
        if writer and _unordered(
            t,
            phase[i],
            sync[i],
            writer,
            records[WRITE_PHASE, c],
            records[WRITE_SYNC, c],
            records[WRITE_CLOCK, c],
            order,
        ):
            races += 1
            if first < 0:
                first, other, other_line = i, writer - 1, records[WRITE_LINE, c]
        elif atomics.size:
            k = _atomic_opponent(t, phase[i], sync[i], atomics, c, order)
            if k:
                races += 1
                if first < 0:
                    first, other, other_line, did = i, k - 1, atomics[ATOMIC_LINE, c], COUNTED
        last = records[READER, c]
        if last == 0:
            records[READERS, c] = 1
        else:
            other_block = (last - 1) >> BLOCK != (t - 1) >> BLOCK
            one_warp = (last - 1) >> WARP == (t - 1) >> WARP
            if other_block:
                records[STRANGER, c] = last  # a write is unordered with that for good
            synced = one_warp and not records[SEVERAL_WARPS, c] and records[READ_SYNC, c] != sync[i]
            if other_block or synced or records[READ_PHASE, c] != phase[i]:  # a barrier orders what was before it
                records[READERS, c], records[SEVERAL_WARPS, c] = 1, 0
            elif last != t:
                records[READERS, c] += 1
                records[EARLIER, c] = last
                if not one_warp:
                    records[SEVERAL_WARPS, c] = 1
        records[READER, c], records[READ_LINE, c] = t, line
        records[READ_PHASE, c], records[READ_SYNC, c] = phase[i], sync[i]
    return races, first, other, other_line, did


@kernel
def note_writes(cell, thread, phase, sync, line, clock, order, records, atomics):
    """Enter writes; return as `note_reads`. Each pair of a writer with another writer or a reader counts."""
    races, first, other, other_line, did = 0, -1, -1, -1, WROTE
    for i in range(cell.size):
        c, t = cell[i], thread[i] + 1
        pairs, opponent, its_line, what = _opponents(records, c, t, phase[i], sync[i], order)
        if atomics.size and not (pairs and what == WROTE):
            k = _atomic_opponent(t, phase[i], sync[i], atomics, c, order)
            if k:
                pairs, opponent, its_line, what = pairs + 1, k, atomics[ATOMIC_LINE, c], COUNTED
        if pairs:
            races += pairs
            if first < 0:
                first, other, other_line, did = i, opponent - 1, its_line, what
        (
            records[WRITER, c],
            records[WRITE_PHASE, c],
            records[WRITE_SYNC, c],
            records[WRITE_LINE, c],
            records[WRITE_CLOCK, c],
        ) = t, phase[i], sync[i], line, clock
    return races, first, other, other_line, did


@kernel
def note_atomics(cell, thread, phase, sync, line, clock, order, records, atomics):
    """Enter atomic operations; return as `note_reads`. Among themselves they do not race."""
    races, first, other, other_line, did = 0, -1, -1, -1, WROTE
    for i in range(cell.size):
        c, t = cell[i], thread[i] + 1
        pairs, opponent, its_line, what = _opponents(records, c, t, phase[i], sync[i], order)
        if pairs:
            races += pairs
            if first < 0:
                first, other, other_line, did = i, opponent - 1, its_line, what
        if atomics[LAST, c] != t:
            atomics[OTHER, c], atomics[OTHER_PHASE, c], atomics[OTHER_SYNC, c] = (
                atomics[LAST, c],
                atomics[LAST_PHASE, c],
                atomics[LAST_SYNC, c],
            )
        atomics[LAST, c], atomics[LAST_PHASE, c], atomics[LAST_SYNC, c], atomics[ATOMIC_LINE, c] = (
            t,
            phase[i],
            sync[i],
            line,
        )
    return races, first, other, other_line, did


@inlined
def _opponents(records, c, t, phase, sync, order):
    """Return (how many plain accesses nothing orders with a write of thread t, one's thread, its line, what it did)."""
    pairs, opponent, its_line, what = 0, 0, -1, WROTE
    if _written_unordered(records, c, t, phase, sync, order):
        pairs, opponent, its_line = 1, records[WRITER, c], records[WRITE_LINE, c]
    count, reader = 0, records[READER, c]
    if reader and ((reader - 1) >> BLOCK != (t - 1) >> BLOCK or records[READ_PHASE, c] == phase):
        one_warp = not records[SEVERAL_WARPS, c] and (reader - 1) >> WARP == (t - 1) >> WARP
        if not (one_warp and records[READ_SYNC, c] != sync):
            count = records[READERS, c] - 1 if reader == t or records[READERS, c] > 1 else records[READERS, c]
            reader = records[EARLIER, c] if reader == t else reader
    if count <= 0 and records[STRANGER, c] and (records[STRANGER, c] - 1) >> BLOCK != (t - 1) >> BLOCK:
        count, reader = 1, records[STRANGER, c]
    if count > 0:
        pairs += count
        if not opponent:
            opponent, its_line, what = reader, records[READ_LINE, c], READ
    return pairs, opponent, its_line, what


@inlined
def _written_unordered(records, c, t, phase, sync, order):
    """Whether somebody wrote and nothing orders that with an access of thread t now."""
    return records[WRITER, c] and _unordered(
        t,
        phase,
        sync,
        records[WRITER, c],
        records[WRITE_PHASE, c],
        records[WRITE_SYNC, c],
        records[WRITE_CLOCK, c],
        order,
    )


@inlined
def _atomic_opponent(t, phase, sync, atomics, c, order):
    """Return the thread of an atomic operation that nothing orders with a plain access of thread t, or 0."""
    if atomics[LAST, c] and _unordered(
        t, phase, sync, atomics[LAST, c], atomics[LAST_PHASE, c], atomics[LAST_SYNC, c], 0, order
    ):
        return atomics[LAST, c]
    if atomics[OTHER, c] and _unordered(
        t, phase, sync, atomics[OTHER, c], atomics[OTHER_PHASE, c], atomics[OTHER_SYNC, c], 0, order
    ):
        return atomics[OTHER, c]
    return np.int32(0)


@inlined
def _unordered(t, phase, sync, other, other_phase, other_sync, clock, order):
    """Whether nothing orders an access of thread t with an earlier one, at `clock`, of another thread."""
    if t == other:
        return False
    if (t - 1) >> BLOCK != (other - 1) >> BLOCK:
        return not (order.size and _handed_over(order, (t - 1) >> BLOCK, (other - 1) >> BLOCK, clock))
    if phase != other_phase:
        return False
    return not ((t - 1) >> WARP == (other - 1) >> WARP and sync != other_sync)


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
