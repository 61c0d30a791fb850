"""Locks: what threads do while they hold one is in order, one thread after the other.

Source: NVIDIA, "CUDA C++ Programming Guide", "Atomic Functions" and "Memory Fence Functions"; Savage et al., "Eraser"
(which lock guards an element). A thread takes a lock when its compare-and-swap or exchange changes the element, and
gives it back with an atomic operation on the same element, after a fence. An element that is only touched by holders
of one lock has no race; which lock that is, its accesses show: what all of their holders held.
"""

import numpy as np

from course_lib.simt.races import READ_PHASE, READER, WRITE_PHASE, WRITER

NOBODY, NO_LOCK = -1, -2


class Locks:
    """The part of a `Machine` that knows who holds a lock. Source: the course's own."""

    def forget_locks(self, count):
        """Begin with `count` lanes that hold nothing."""
        self.holder, self.lock_numbers = {}, {}  # (memory, cell) -> lane, and the lock's number
        self.held, self.fenced = {}, np.zeros(count, np.bool_)  # lane -> numbers of its locks
        self.leaky = set()  # locks that were given back without a fence

    def note_locks(self, memory, cells, mask, before, expected, value, swap):
        """Note which lanes took or gave back a lock by an atomic operation.

        `before` has the old numbers; with `swap` those that equal `expected` were changed, else all were.
        """
        lanes = np.arange(self.lanes.count)[mask.index]
        acted = before == expected if swap else np.ones(before.shape, np.bool_)
        for at in np.flatnonzero(acted).tolist():
            lane, place = int(lanes[at]), (id(memory), int(cells[at]))
            holder = self.holder.get(place, NOBODY)
            if holder == lane:
                self._give_back(place, lane)
            elif before[at] != value[at]:  # somebody else's, or nobody's
                self.holder[place] = lane if holder == NOBODY else NO_LOCK
                number = self.lock_numbers.setdefault(place, len(self.lock_numbers) + 1)
                if holder == NOBODY:
                    self.held[lane] = self.held.get(lane, frozenset()) | {number}
                    self.fenced[lane] = True
                else:  # no lock lets two in
                    self.leaky.add(number)

    def _give_back(self, place, lane):
        number = self.lock_numbers[place]
        if not self.fenced[lane]:
            self.leaky.add(number)
        self.holder[place] = NOBODY
        self.held[lane] = self.held.get(lane, frozenset()) - {number}

    def _untouched(self, memory, cells, mask):
        """Return which cells nobody but the lane itself has touched since its block's last barrier."""
        own, phase = self.number[mask.index] + 1, self.phase[mask.index]
        good = np.ones(cells.shape, np.bool_)
        for book, who, when in ((memory.shadow.books.writes, WRITER, WRITE_PHASE),
                                (memory.shadow.books.reads, READER, READ_PHASE)):  # fmt: skip
            if book.size:
                other, bits = book[cells, who], self.block_bits
                ordered = ((other - 1) >> bits == (own - 1) >> bits) & (book[cells, when] != phase)
                good &= (other == 0) | (other == own) | ordered
        return good

    def guarded(self, memory, cells, mask, writes):
        """Return which of the cells only holders of a lock have touched that this lane holds too; enter this access."""
        lanes = np.arange(self.lanes.count)[mask.index]
        guards, safe = memory.guards, np.zeros(cells.shape, np.bool_)
        holding = np.isin(lanes, [lane for lane, locks in self.held.items() if locks])
        if guards:
            for cell in cells[~holding & np.isin(cells, list(guards))].tolist():
                guards.pop(cell, None)
        at = np.flatnonzero(holding)
        self.budget -= at.size // 8  # lane by lane in Python
        fresh = self._untouched(memory, cells, mask)
        for k in at.tolist():
            locks, cell = self.held[int(lanes[k])] - self.leaky, int(cells[k])
            common = guards.get(cell, frozenset()) & locks
            safe[k] = bool(common)
            if common or fresh[k]:
                guards[cell] = common or locks
            else:
                guards.pop(cell, None)
        if writes:
            self.fenced[mask.index] = False
        return safe
