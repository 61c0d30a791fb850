"""What can go wrong in a launch, and the memory's memory that finds it out.

Source: NVIDIA, "CUDA C++ Programming Guide", "Synchronization Functions" and "Memory Fence Functions". Two accesses
to one address **race** if they come from two threads, at least one writes, neither is atomic, and no barrier lies
between them. Whether the numbers came out right does not matter: another card, another day, another order.
"""

from dataclasses import dataclass, field

import numpy as np

from course_lib.fast.compile import kernel

NOBODY = -1


@dataclass
class Hazard:
    """One finding: what kind, where, who, and what to do. Source: the course's own."""

    kind: str
    line: int
    message: str
    fix: str
    count: int = 1
    array: str = ""
    details: dict = field(default_factory=dict)

    def __str__(self):
        times = f" ({self.count:,} times)" if self.count > 1 else ""
        return f"line {self.line}: {self.message}{times} {self.fix}"


class Shadow:
    """For each element of a memory: who wrote it last, who has read it since, and in which phase.

    `phase` of an access is the number of barriers its block has passed, `sync` the number of `syncwarp`s its warp
    has passed; `thread` counts through the whole grid. Source: the course's own.
    """

    def __init__(self, size, written):
        self.writer = np.full(size, NOBODY, np.int64)
        self.reader = np.full(size, NOBODY, np.int64)
        self.readers = np.zeros(size, np.int64)  # distinct ones since the phase began, as far as they alternate
        self.several_warps = np.zeros(size, np.bool_)
        self.stranger = np.full(size, NOBODY, np.int64)  # a reader of another block than the last reader's
        self.when = np.zeros((size, 4), np.int64)  # phase and sync of the last write, of the last read
        self.line = np.zeros((size, 2), np.int64)
        self.written = np.full(size, written, np.bool_)


@kernel
def note_reads(cell, thread, phase, sync, line, threads, writer, reader, readers, several_warps, stranger, when, lines):
    """Enter reads; return (number of races, the first one's place in `cell`, the other thread, its line)."""
    races, first, other, other_line = 0, -1, -1, -1
    for i in range(cell.size):
        c, t = cell[i], thread[i]
        if writer[c] >= 0 and _unordered(t, phase[i], sync[i], writer[c], when[c, 0], when[c, 1], threads):
            races += 1
            if first < 0:
                first, other, other_line = i, writer[c], lines[c, 0]
        same_phase = reader[c] >= 0 and reader[c] // threads == t // threads and when[c, 2] == phase[i]
        one_warp = same_phase and not several_warps[c] and _warp(reader[c], threads) == _warp(t, threads)
        if not same_phase or (one_warp and when[c, 3] != sync[i]):  # syncwarp orders one warp's readers
            readers[c], several_warps[c] = 1, False
        elif reader[c] != t:
            readers[c] += 1
            several_warps[c] |= _warp(reader[c], threads) != _warp(t, threads)
        if reader[c] >= 0 and reader[c] // threads != t // threads:
            stranger[c] = reader[c]  # a write is unordered with that for good
        reader[c], when[c, 2], when[c, 3], lines[c, 1] = t, phase[i], sync[i], line
    return races, first, other, other_line


@kernel
def note_writes(
    cell, thread, phase, sync, line, threads, writer, reader, readers, several_warps, stranger, when, lines
):
    """Enter writes; return as `note_reads`. Each pair of a writer with another writer or a reader counts."""
    races, first, other, other_line = 0, -1, -1, -1
    for i in range(cell.size):
        c, t = cell[i], thread[i]
        block, pairs, opponent, its_line = t // threads, 0, NOBODY, -1
        if writer[c] >= 0 and _unordered(t, phase[i], sync[i], writer[c], when[c, 0], when[c, 1], threads):
            pairs, opponent, its_line = 1, writer[c], lines[c, 0]
        readers_now = 0
        if reader[c] >= 0 and (reader[c] // threads != block or when[c, 2] == phase[i]):
            one_warp = reader[c] // threads == block and not several_warps[c]
            one_warp &= _warp(reader[c], threads) == _warp(t, threads)
            if not (one_warp and when[c, 3] != sync[i]):
                readers_now = readers[c] - 1 if reader[c] == t or readers[c] > 1 else readers[c]
        reading = reader[c]
        if readers_now <= 0 and stranger[c] >= 0 and stranger[c] // threads != block:
            readers_now, reading = 1, stranger[c]
        if readers_now > 0:
            pairs += readers_now
            if opponent < 0:
                opponent, its_line = reading, lines[c, 1]
        if pairs:
            races += pairs
            if first < 0:
                first, other, other_line = i, opponent, its_line
        writer[c], when[c, 0], when[c, 1], lines[c, 0] = t, phase[i], sync[i], line
    return races, first, other, other_line


@kernel
def _unordered(t, phase, sync, other, other_phase, other_sync, threads):
    """Whether nothing orders an access of thread t with an earlier one of another thread."""
    if t == other:
        return False
    if t // threads != other // threads:
        return True
    if phase != other_phase:
        return False
    return not (_warp(t, threads) == _warp(other, threads) and sync != other_sync)


@kernel
def _warp(t, threads):
    return t % threads // 32
