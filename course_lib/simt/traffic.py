"""What one access of all warps costs the hardware: sectors of global memory, wavefronts of shared memory.

Source: NVIDIA, "CUDA C++ Programming Guide", "Device Memory Accesses" and "Shared Memory"; Nsight Compute's
documentation, "Memory Tables". The loops follow the hardware: warp by warp, and lane by lane.
"""

import numpy as np

from course_lib.fast.compile import kernel

SECTOR = 32
"""Bytes: what global memory moves at the least."""

BANKS, WORD = 32, 4
"""Shared memory has 32 banks; a bank gives one word of 4 bytes at a time."""


@kernel
def global_traffic(warp, cell, base, part, size, pitch=0):
    """Return (requests, sectors, bytes used) of one access: lanes of warp[i] touch the `size` bytes of cell[i].

    warp (L,) ascending, cell (L,) int64, only the active lanes. Cells lie one after the other from address `base` on,
    or, if `part` > 0, those of each stretch of `part` cells do. A warp's access is one request; it moves every
    sector that one of its lanes touches, once. Bytes used are those of distinct elements. A field of a record begins
    every `pitch` bytes, 0 being `size`.
    """
    requests = sectors = elements = start = 0
    pitch = pitch or size
    seen, used = np.empty(64, np.int64), np.empty(32, np.int64)
    i = 0
    while i < warp.size:
        requests += 1
        count = distinct = 0
        highest, last, this = np.int64(-1), np.int64(-1), warp[i]
        while i < warp.size and warp[i] == this:
            if part and not start <= cell[i] < start + part:  # the next block's; a division each time would be slow
                start = cell[i] // part * part
            address = base + (cell[i] - start) * pitch
            i += 1
            if address == highest:  # the same element as the lane before, mostly
                continue
            known = False
            if address > highest:  # none touched it before
                highest = address
            else:
                for k in range(distinct):
                    known |= used[k] == address
            if not known:
                used[distinct] = address
                distinct += 1
                for sector in range(address >> 5, ((address + size - 1) >> 5) + 1):
                    known = sector == last
                    if not known and sector < last:
                        for k in range(count):
                            known |= seen[k] == sector
                    if not known:
                        seen[count] = sector
                        count += 1
                        last = max(last, sector)
        sectors += count
        elements += distinct
    return requests, sectors, elements * size


@kernel
def shared_traffic(warp, lane, cell, base, part, size, pitch=0):
    """Return (requests, wavefronts) of one access to shared memory: lane[i] of warp[i] at cell[i] (`global_traffic`).

    A wavefront reads at most one word from each bank; lanes that want the same word share it. Elements of 8 bytes
    go half a warp at a time, so that an access without conflicts takes two. Conflicts are the wavefronts beyond that.
    """
    requests = wavefronts = start = 0
    pitch = pitch or size
    groups = 1 if size <= WORD else size // WORD
    words, count = np.empty((BANKS, 32), np.int64), np.empty(BANKS, np.int64)
    i = 0
    while i < warp.size:
        end = i
        while end < warp.size and warp[end] == warp[i]:
            end += 1
        requests += 1
        j = i
        for group in range(groups):
            lowest, highest, begin = np.int64(2**62), np.int64(-1), j
            while j < end and lane[j] * groups // 32 == group:
                if part and not start <= cell[j] < start + part:
                    start = cell[j] // part * part
                address = base + (cell[j] - start) * pitch
                lowest, highest = min(lowest, address), max(highest, address)
                j += 1
            if (highest + size - 1) // WORD - lowest // WORD < BANKS:  # no bank has two of these words
                wavefronts += 1
                continue
            count[:] = 0
            most = 1
            for m in range(begin, j):
                address = base + (cell[m] - start) * pitch
                for word in range(address // WORD, (address + size - 1) // WORD + 1):
                    bank, known = word % BANKS, False
                    for k in range(count[bank]):
                        known |= words[bank, k] == word
                    if not known:
                        words[bank, count[bank]] = word
                        count[bank] += 1
                        most = max(most, count[bank])
            wavefronts += most
        i = end
    return requests, wavefronts


@kernel
def distinct_and_most(warp, cell, base, part, size, pitch=0):
    """Return (requests, distinct addresses, most lanes of one address), the last two added up over warps.

    Constant memory gives a warp one address at a time; atomic operations on one address go one after the other.
    """
    requests = distinct = rounds = start = 0
    pitch = pitch or size
    seen, times = np.empty(32, np.int64), np.empty(32, np.int64)
    i = 0
    while i < warp.size:
        requests += 1
        end, count, most = i, 0, 0
        while end < warp.size and warp[end] == warp[i]:
            if part and not start <= cell[end] < start + part:
                start = cell[end] // part * part
            address = base + (cell[end] - start) * pitch
            k = 0
            while k < count and seen[k] != address:
                k += 1
            if k == count:
                seen[k], times[k] = address, 0
                count += 1
            times[k] += 1
            most = max(most, times[k])
            end += 1
        distinct += count
        rounds += most
        i = end
    return requests, distinct, rounds


@kernel
def mark(cell, marks):
    """Enter that the elements in `cell` were touched."""
    for c in cell:
        marks[c] = True
