"""The memory's memory: who touched each element last, and whether anything orders the next access with that.

Source: NVIDIA, "CUDA C++ Programming Guide", "Synchronization Functions" and "Memory Fence Functions". Two accesses
to one address **race** if they come from two threads, at least one writes, they are not both atomic, and no barrier
lies between them. Whether the numbers came out right does not matter: another card, another day, another order. One
kind of race is told apart: a write of what was there already, bit by bit, gives the same in any order. And who reads
what all threads filled in, that thread among them, reads its own number (`_fill`).

A thread's number is its block's, shifted by `bits`, plus its own in the block, so that shifts give block and warp.
"""

from typing import NamedTuple

import numpy as np

from course_lib.fast.compile import inlined, kernel
from course_lib.simt.ordering import WARP, ordered_in_block, unordered


class Books(NamedTuple):
    """What is written down of each element, an int32 row for each; no rows where nothing had to be written down yet.

    Threads are their numbers plus one, so that 0 is nobody. `groups` are of stores whose threads are not in a row: a
    bool for each thread from number `begins` of the group on. Source: the course's own.
    """

    writes: np.ndarray
    reads: np.ndarray
    atomics: np.ndarray
    same: np.ndarray
    groups: np.ndarray
    begins: np.ndarray


(
    WRITER, WRITE_PHASE, WRITE_SYNC, WRITE_LINE, WRITE_CLOCK,
    FIRST,  # who began a fill that WRITER ended, see `_fill`; or 0
    GROUP,  # which of the groups they are of, plus one; or 0: all threads from FIRST to WRITER
    WRITE_COLUMNS,
) = range(8)  # fmt: skip
(
    READER, READ_PHASE, READ_SYNC, READ_LINE,
    READERS,  # how many different ones since the phase began, as far as they alternate
    SEVERAL_WARPS,
    EARLIER,  # the last reader that is not READER
    STRANGER,  # a reader of another block than the last reader's
    READ_COLUMNS,
) = range(9)  # fmt: skip
LAST, LAST_PHASE, LAST_SYNC, OTHER, OTHER_PHASE, OTHER_SYNC, ATOMIC_LINE, ATOMIC_COLUMNS = range(8)
"""The last atomic operation on an element, and the last one of another thread than that."""

SAME, CHANGER, CHANGE_PHASE, CHANGE_SYNC, CHANGE_LINE, CHANGE_CLOCK, SAME_COLUMNS = range(7)
"""Whether the last write was one that is KEPT, and then the last one that did."""

KEPT, EQUAL, CHANGED = range(3)
"""What a write does to the bits that are there: nothing, whatever the numbers are; nothing, with these numbers; or
it changes them."""

WROTE, READ, COUNTED = range(3)
"""What the other thread of a race did."""


@kernel
def note_reads(cell, thread, phase, sync, line, clock, order, books, bits, excused):
    """Enter reads of thread[i] on cell[i].

    `phase` of an access is the number of barriers its block has passed, `sync` the number of `syncwarp`s its warp
    has passed. `excused` says that races with atomic operations do not matter. Returns (number of races, the place in
    `cell` of the first one that matters, or else of the first one, the other thread, its line, what it did, how many
    races matter).
    """
    races, real, first, other, other_line, did = 0, 0, -1, -1, -1, WROTE
    writes, reads, atomics, same, groups, begins = books
    for i in range(cell.size):
        c, t = np.uintp(cell[i]), thread[i] + 1
        calm = atomics.size == 0
        if calm and writes.size:
            w = writes[c, WRITER]
            calm = (
                w == 0
                or w == t
                or ordered_in_block(t, phase[i], sync[i], w, writes[c, WRITE_PHASE], writes[c, WRITE_SYNC], bits)
            )
        if not calm:
            race, matters, opponent, its_line, what = _judge_read(
                writes, atomics, same, groups, begins, c, t, phase[i], sync[i], order, bits, excused
            )
            if race:
                if first < 0 or (matters and not real):
                    first, other, other_line, did = i, opponent - 1, its_line, what
                races += 1
                real += matters
        last = reads[c, READER]
        if last == 0:
            reads[c, READERS] = 1
        else:
            other_block = (last - 1) >> bits != (t - 1) >> bits
            one_warp = (last - 1) >> WARP == (t - 1) >> WARP
            if other_block:
                reads[c, STRANGER] = last  # a write is unordered with that for good
            synced = one_warp and not reads[c, SEVERAL_WARPS] and reads[c, READ_SYNC] != sync[i]
            if other_block or synced or reads[c, READ_PHASE] != phase[i]:  # a barrier orders what was before it
                reads[c, READERS], reads[c, SEVERAL_WARPS] = 1, 0
            elif last != t:
                reads[c, READERS] += 1
                reads[c, EARLIER] = last
                if not one_warp:
                    reads[c, SEVERAL_WARPS] = 1
        reads[c, READER], reads[c, READ_LINE] = t, line
        reads[c, READ_PHASE], reads[c, READ_SYNC] = phase[i], sync[i]
    return races, first, other, other_line, did, real


@kernel
def _judge_read(writes, atomics, same, groups, begins, c, t, phase, sync, order, bits, excused):
    """Return (whether a read has a race, whether it matters, the other thread, its line, what it did)."""
    if writes.size and _written_unordered(writes, c, t, phase, sync, order, bits):
        opponent, its_line = writes[c, WRITER], writes[c, WRITE_LINE]
        if _filled(writes, groups, begins, c, t) and not (atomics.size and atomics[c, LAST]):
            return False, False, np.int32(0), np.int32(-1), WROTE
        writes[c, FIRST] = 0
        if not same.size or not same[c, SAME]:
            return True, True, opponent, its_line, WROTE
        changer = same[c, CHANGER]
        if changer and unordered(
            t,
            phase,
            sync,
            changer,
            same[c, CHANGE_PHASE],
            same[c, CHANGE_SYNC],
            same[c, CHANGE_CLOCK],
            order,
            bits,
        ):
            return True, True, changer, same[c, CHANGE_LINE], WROTE
        return True, False, opponent, its_line, WROTE
    if atomics.size:
        k = _atomic_opponent(t, phase, sync, atomics, c, order, bits)
        if k:
            return True, not excused, k, atomics[c, ATOMIC_LINE], COUNTED
    return False, False, np.int32(0), np.int32(-1), WROTE


@kernel
def note_writes(cell, thread, phase, sync, line, clock, order, books, bits, changed, group):
    """Enter writes of a group of threads, 0 if they are in a row; return as `note_reads`.

    Each pair of a writer with another writer or a reader counts.
    changed[i] is CHANGED if the write stores other bits than were there; else races with other writes do not matter.
    It is KEPT if the text makes sure of that: then races with reads do not matter either.
    """
    races, real, first, other, other_line, did = 0, 0, -1, -1, -1, WROTE
    writes, reads, atomics, same, groups, begins = books
    before = np.int64(0)  # the thread before this one in the group
    for i in range(cell.size):
        c, t = np.uintp(cell[i]), thread[i] + 1
        w = writes[c, WRITER]
        calm = fresh = (
            atomics.size == 0
            and (w == 0 or ((w - 1) >> bits == (t - 1) >> bits and writes[c, WRITE_PHASE] != phase[i]))
            and _unread(reads, c, t, phase[i], bits)
        )
        begun, fills = t, False
        if not fresh:
            calm = atomics.size == 0 and (
                w == 0
                or w == t
                or ordered_in_block(t, phase[i], sync[i], w, writes[c, WRITE_PHASE], writes[c, WRITE_SYNC], bits)
            )
            if calm and reads.size:
                r = reads[c, READER]
                if r:  # no other thread's read that no barrier orders with this
                    own = (r == t and reads[c, READERS] == 1) or reads[c, READ_PHASE] != phase[i]
                    calm = own and not reads[c, STRANGER] and (r - 1) >> bits == (t - 1) >> bits
            begun = 0
            if changed[i] != CHANGED and writes[c, FIRST]:
                begun, fills = _fill(
                    writes, reads, atomics, groups, begins, c, t, phase[i], sync[i], clock, bits, group > 0, before
                )
        if not calm:
            pairs, matters, opponent, its_line, what = _judge_write(
                writes, reads, atomics, c, t, phase[i], sync[i], order, bits, changed[i], fills
            )
            if pairs:
                if first < 0 or (matters and not real):
                    first, other, other_line, did = i, opponent - 1, its_line, what
                races += pairs
                if matters:
                    real += pairs
        if same.size:
            kept = changed[i] == KEPT
            if kept and not same[c, SAME]:
                same[c, CHANGER] = 0
                if writes[c, WRITER]:
                    same[c, CHANGER], same[c, CHANGE_PHASE] = writes[c, WRITER], writes[c, WRITE_PHASE]
                    same[c, CHANGE_SYNC], same[c, CHANGE_LINE] = writes[c, WRITE_SYNC], writes[c, WRITE_LINE]
                    same[c, CHANGE_CLOCK] = writes[c, WRITE_CLOCK]
            same[c, SAME] = kept
        writes[c, WRITER], writes[c, WRITE_PHASE], writes[c, WRITE_SYNC] = t, phase[i], sync[i]
        writes[c, FIRST], writes[c, GROUP] = begun, group
        before = t
        writes[c, WRITE_LINE], writes[c, WRITE_CLOCK] = line, clock
    return races, first, other, other_line, did, real


@kernel
def _judge_write(writes, reads, atomics, c, t, phase, sync, order, bits, changed, fills):
    """Return (how many races a write has, whether they matter, one's other thread, its line, what it did)."""
    pairs, opponent, its_line, what, readers, reader = _opponents(writes, reads, c, t, phase, sync, order, bits)
    matters = pairs > 0 and (changed == CHANGED or (readers > 0 and changed != KEPT and not fills))
    if matters and changed != CHANGED and what == WROTE:
        opponent, its_line, what = reader, reads[c, READ_LINE], READ
    if atomics.size and not (pairs and what == WROTE):
        k = _atomic_opponent(t, phase, sync, atomics, c, order, bits)
        if k:
            pairs, opponent, its_line, what = pairs + 1, k, atomics[c, ATOMIC_LINE], COUNTED
            matters = True
    return pairs, matters, opponent, its_line, what


@kernel
def _fill(writes, reads, atomics, groups, begins, c, t, phase, sync, clock, bits, has_gaps, before):
    """Return (who began the fill of an element that thread t goes on with, or 0; whether only its threads read it).

    In a fill, threads next to each other, or one after the other in a group with gaps (`before` is the one before t),
    write one number by one store, and since the last barrier nobody wrote another number, nor read one before. Each of
    them then reads its own number, whatever the order. One that comes later, by another store, may have the same
    number by chance: the fill is then that thread's alone.
    """
    first, w = writes[c, FIRST], writes[c, WRITER]
    if (w - 1) >> bits != (t - 1) >> bits or writes[c, WRITE_PHASE] != phase or (atomics.size and atomics[c, LAST]):
        return 0, False
    at_once = writes[c, WRITE_CLOCK] == clock and (w <= t <= w + 1 or (has_gaps and w == before))
    fills = (_filled(writes, groups, begins, c, t) or at_once) and writes[c, WRITE_SYNC] == sync
    if not _unread(reads, c, t, phase, bits):
        other_block = (reads[c, READER] - 1) >> bits != (t - 1) >> bits
        fills = fills and not other_block and not reads[c, STRANGER] and reads[c, READ_SYNC] == sync
        if not fills:
            return 0, False
    return (first if at_once else t), fills


@inlined
def _filled(writes, groups, begins, c, t):
    """Whether thread t is one of those that filled an element."""
    if not 0 < writes[c, FIRST] <= t <= writes[c, WRITER]:
        return False
    g = writes[c, GROUP] - 1
    if g < 0:
        return True
    k = t - 1 - begins[g]
    return 0 <= k < groups.shape[1] and groups[g, k]


@inlined
def _unread(reads, c, t, phase, bits):
    """Whether nobody has read an element since the last barrier of thread t's block."""
    return (
        reads.size == 0
        or reads[c, READER] == 0
        or (
            (reads[c, READER] - 1) >> bits == (t - 1) >> bits
            and reads[c, READ_PHASE] != phase
            and reads[c, STRANGER] == 0
        )
    )


@kernel
def note_atomics(cell, thread, phase, sync, line, clock, order, books, bits, excused):
    """Enter atomic operations; return as `note_reads`. Among themselves they do not race.

    `excused` says that races with reads only do not matter.
    """
    races, real, first, other, other_line, did = 0, 0, -1, -1, -1, WROTE
    writes, reads, atomics, _, _, _ = books
    for i in range(cell.size):
        c, t = np.uintp(cell[i]), thread[i] + 1
        pairs, opponent, its_line, what, _, _ = _opponents(writes, reads, c, t, phase[i], sync[i], order, bits)
        if pairs:
            matters = not excused or what == WROTE
            if first < 0 or (matters and not real):
                first, other, other_line, did = i, opponent - 1, its_line, what
            races += pairs
            if matters:
                real += pairs
        if atomics[c, LAST] != t:
            atomics[c, OTHER], atomics[c, OTHER_PHASE] = atomics[c, LAST], atomics[c, LAST_PHASE]
            atomics[c, OTHER_SYNC] = atomics[c, LAST_SYNC]
        atomics[c, LAST], atomics[c, LAST_PHASE], atomics[c, LAST_SYNC] = t, phase[i], sync[i]
        atomics[c, ATOMIC_LINE] = line
    return races, first, other, other_line, did, real


@inlined
def _opponents(writes, reads, c, t, phase, sync, order, bits):
    """Return what nothing orders with a write of thread t.

    (How many plain accesses, one's thread, its line, what it did; how many of them are reads, one's thread.)
    """
    pairs, opponent, its_line, what = 0, 0, -1, WROTE
    if writes.size and _written_unordered(writes, c, t, phase, sync, order, bits):
        pairs, opponent, its_line = 1, writes[c, WRITER], writes[c, WRITE_LINE]
    count, reader = 0, 0
    if reads.size:
        reader = reads[c, READER]
        if reader and ((reader - 1) >> bits != (t - 1) >> bits or reads[c, READ_PHASE] == phase):
            one_warp = not reads[c, SEVERAL_WARPS] and (reader - 1) >> WARP == (t - 1) >> WARP
            if not (one_warp and reads[c, READ_SYNC] != sync):
                count = reads[c, READERS] - 1 if reader == t or reads[c, READERS] > 1 else reads[c, READERS]
                reader = reads[c, EARLIER] if reader == t else reader
        if count <= 0 and reads[c, STRANGER] and (reads[c, STRANGER] - 1) >> bits != (t - 1) >> bits:
            count, reader = 1, reads[c, STRANGER]
        if count > 0:
            pairs += count
            if not opponent:
                opponent, its_line, what = reader, reads[c, READ_LINE], READ
    return pairs, opponent, its_line, what, count, reader


@inlined
def _written_unordered(writes, c, t, phase, sync, order, bits):
    """Whether somebody wrote and nothing orders that with an access of thread t now."""
    return writes[c, WRITER] and unordered(
        t,
        phase,
        sync,
        writes[c, WRITER],
        writes[c, WRITE_PHASE],
        writes[c, WRITE_SYNC],
        writes[c, WRITE_CLOCK],
        order,
        bits,
    )


@inlined
def _atomic_opponent(t, phase, sync, atomics, c, order, bits):
    """Return the thread of an atomic operation that nothing orders with a plain access of thread t, or 0."""
    if atomics[c, LAST] and unordered(
        t, phase, sync, atomics[c, LAST], atomics[c, LAST_PHASE], atomics[c, LAST_SYNC], 0, order, bits
    ):
        return atomics[c, LAST]
    if atomics[c, OTHER] and unordered(
        t, phase, sync, atomics[c, OTHER], atomics[c, OTHER_PHASE], atomics[c, OTHER_SYNC], 0, order, bits
    ):
        return atomics[c, OTHER]
    return np.int32(0)
