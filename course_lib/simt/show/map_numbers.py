"""What one warp's access needs: sectors of global memory, or wavefronts of shared memory, with who wants what.

Source: NVIDIA, "CUDA C++ Programming Guide", "Device Memory Accesses" and "Shared Memory". Counted with `traffic`,
as in the report, from the addresses of one warp.
"""

import numpy as np

from course_lib.simt.lanes import WARP
from course_lib.simt.show.wording import count, percent
from course_lib.simt.traffic import BANKS, SECTOR, WORD, global_traffic, shared_traffic


class _Access:
    """One warp of an access. `thread` (L,) ascending, `address` (L,) bytes, `element` (L,) row-major numbers."""

    def __init__(self, access, warp):
        warps = np.unique(access.thread // WARP)
        if not 0 <= warp < warps.size:
            raise ValueError(
                f"warp is {warp}; {count(warps.size, 'warp')} of the block take part in line {access.line}: 0 to "
                f"{warps.size - 1}."
            )
        self.access, self.warp = access, int(warps[warp])
        order = np.flatnonzero(access.thread // WARP == self.warp)
        order = order[np.argsort(access.thread[order], kind="stable")]
        self.thread, self.address = access.thread[order], access.address[order]
        self.element, self.itemsize = access.element[order], access.itemsize

    @property
    def threads(self):
        """How many threads of the warp take part, in words."""
        return f"{count(self.thread.size, 'thread')} of warp {self.warp}"

    @property
    def lies(self):
        """The cells, and where they lie, as the functions of `traffic` take them."""
        base = int(self.address[0]) % self.itemsize if self.address.size else 0
        return (self.address - base) // self.itemsize, base, 0, self.itemsize

    def lanes_of(self, keys):
        """Return {key: the threads that have it, ascending}; `keys` (L,) has one for each thread."""
        found = {}
        for key, thread in zip(keys.tolist(), self.thread.tolist(), strict=True):
            found.setdefault(key, []).append(thread)
        return found


class GlobalAccess(_Access):
    """A warp's access to global memory. `sectors`, `used` and `moved` (bytes), `share` used by moved, `fewest` sectors.

    Source: NVIDIA, "CUDA C++ Programming Guide", "Device Memory Accesses".
    """

    def __init__(self, access, warp):
        super().__init__(access, warp)
        one_warp = np.zeros(self.thread.size, np.int64)
        _, self.sectors, self.used = (int(n) for n in global_traffic(one_warp, *self.lies))
        self.moved = SECTOR * self.sectors
        self.share = self.used / self.moved
        self.fewest = -(-self.used // SECTOR)

    @property
    def touched(self):
        """The sectors' numbers (address by 32), ascending: those that are moved."""
        ends = self.address + self.itemsize - 1
        return sorted({s for a, b in zip(self.address, ends, strict=True) for s in range(a // SECTOR, b // SECTOR + 1)})

    @property
    def base(self):
        """The address of element 0 where row-major neighbours are neighbours in memory, else None."""
        first = np.unique(self.address - self.element * self.itemsize)
        return int(first[0]) if first.size == 1 else None

    @property
    def finding(self):
        """What there is to see, in one or two sentences."""
        elements = np.unique(self.address).size
        text = (
            f"{self.threads} touch {count(elements, 'element')} in {count(self.sectors, 'sector')} of {SECTOR} bytes: "
            f"{percent(self.share)} of what is moved is used."
        )
        most = max(len(who) for who in self.lanes_of(self.address).values())
        if most > 1:
            text = f"{text} What several threads want, up to {most} of them, is moved once."
        if self.sectors > self.fewest:
            return f"{text} {count(self.fewest, 'sector')} would hold {_they(elements)}."
        if self.share < 1:
            return f"{text} It is as little as a warp can move for {_they(elements)}."
        return f"{text} Nothing is moved in vain."


class SharedAccess(_Access):
    """A warp's access to shared memory. `wavefronts`, `conflicts`, `wanted` (32,) distinct words of each bank.

    Source: NVIDIA, "CUDA C++ Programming Guide", "Shared Memory".
    """

    def __init__(self, access, warp):
        super().__init__(access, warp)
        self.groups = 1 if self.itemsize <= WORD else self.itemsize // WORD
        lane, one_warp = self.thread % WARP, np.zeros(self.thread.size, np.int64)
        _, wavefronts = shared_traffic(one_warp, lane.astype(np.int64), *self.lies)
        self.wavefronts = int(wavefronts)
        self.conflicts = max(0, self.wavefronts - self.groups)
        self.wanted = np.zeros(BANKS, np.int64)
        for group in range(self.groups):  # elements of 8 bytes go half a warp at a time
            there = lane * self.groups // WARP == group
            words = np.unique(np.array([self.words(a) for a in self.address[there]], np.int64))
            self.wanted = np.maximum(self.wanted, np.bincount(words % BANKS, minlength=BANKS))

    def words(self, address):
        """Return the numbers (address by 4) of the words that an element at `address` lies in."""
        return np.arange(address // WORD, (address + self.itemsize - 1) // WORD + 1)

    @property
    def finding(self):
        """What there is to see, in one or two sentences."""
        words = np.unique([self.words(a) for a in self.address]).size
        most = int(self.wanted.max())
        banks = np.flatnonzero(self.wanted == most)
        text, wavefronts = f"{self.threads} want {count(words, 'word')}", count(self.wavefronts, "wavefront")
        if self.conflicts:
            where = f"bank {banks[0]}" if banks.size == 1 else f"each of {banks.size} banks"
            return (
                f"{text}, {most} of them in {where}. A bank gives one word at a time: "
                f"{wavefronts} one after the other, {count(self.conflicts, 'bank conflict')}."
            )
        if words < self.thread.size and self.groups == 1:
            return f"{text}; threads that want the same word share it: {wavefronts}, no bank conflict."
        return f"{text}, and no bank must give two at a time: {wavefronts}, no bank conflict."


def _they(elements):
    return "it" if elements == 1 else "them"


def label(threads):
    """Return who touches a cell: "7", "0–15" for neighbours, "4×" for four others.

    Source: the course's own.
    """
    if len(threads) == 1:
        return str(threads[0])
    if threads == list(range(threads[0], threads[-1] + 1)):
        return f"{threads[0]}\N{EN DASH}{threads[-1]}"
    return f"{len(threads)}\N{MULTIPLICATION SIGN}"
