"""Locks: what threads do while they hold one is in order, one thread after the other.

Source: NVIDIA, "CUDA C++ Programming Guide", "Atomic Functions" and "Memory Fence Functions"; Savage et al., "Eraser"
(which lock guards an element). A thread takes a lock when its compare-and-swap or exchange changes the element, and
gives it back with an atomic operation on the same element, after a fence. An element that is only touched by holders
of one lock has no race.
"""

import numpy as np

NOBODY, NO_LOCK = -1, -2


class Locks:
    """The part of a `Machine` that knows who holds a lock. Source: the course's own."""

    def forget_locks(self, count):
        """Begin with `count` lanes that hold nothing."""
        self.holder, self.lock_numbers = {}, {}  # (memory, cell) -> lane, and the lock's number
        self.held, self.fenced = np.zeros(count, np.int64), np.zeros(count, np.bool_)
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
                    self.held[lane], self.fenced[lane] = number, True
                else:  # no lock lets two in
                    self.leaky.add(number)

    def _give_back(self, place, lane):
        if not self.fenced[lane]:
            self.leaky.add(self.lock_numbers[place])
        self.holder[place], self.held[lane] = NOBODY, 0

    def guarded(self, memory, cells, mask, writes):
        """Return which of the cells are only touched by holders of the lock that each lane holds; enter this access."""
        lock = self.held[mask.index]
        if self.leaky:
            lock = np.where(np.isin(lock, list(self.leaky)), 0, lock)
        if memory.guard is None:
            memory.guard = np.zeros(memory.cells.size, np.int64)
        safe = (lock != 0) & (memory.guard[cells] == lock)
        memory.guard[cells] = lock
        if writes:
            self.fenced[mask.index] = False
        return safe
