"""What is written down of a memory's accesses, and of which reads that can wait.

Source: the course's own. Reads among themselves never race. So while nobody writes to a memory, its reads are only
kept as they are, and most of them are never looked at: a barrier of all threads orders them with all that follows.
"""

from typing import NamedTuple

import numpy as np

from course_lib.simt.races import (
    ATOMIC_COLUMNS,
    GROUP,
    KEPT,
    READ_COLUMNS,
    SAME_COLUMNS,
    WRITE_COLUMNS,
    WRITER,
    Books,
    note_reads,
)  # fmt: skip

MOST_WAITING = 2**22
"""Cells of reads that are kept for a memory before they are written down."""

MOST_READS = 4096
"""How many reads are kept for a memory before they are written down."""

MOST_GROUPS = 64
"""Groups of threads with gaps that are told apart, of those that write one number together."""


class Waiting(NamedTuple):
    """A read by the lanes of a mask, as it was: vectors over lanes are replaced at a barrier, never changed.

    Source: the course's own.
    """

    cells: np.ndarray
    shift: int
    mask: object
    number: np.ndarray
    phase: np.ndarray
    sync: np.ndarray
    line: int
    clock: int


class Shadow:
    """For each element of a memory: who wrote it last, who has read it since, and in which phase (`races`).

    `quiet` says that nobody has written since a barrier that orders all that was before; then reads wait.

    Source: the course's own.
    """

    def __init__(self, size):
        self.size = size
        self.forget()

    def forget(self):
        """Forget all accesses: a barrier of the whole grid orders them with all that follow."""
        none = np.zeros((0, 1), np.int32)
        self.books = Books(none, none, none, none, np.zeros((0, 1), np.bool_), np.zeros(0, np.int64))
        self.group_of = {}
        self.drop_reads()

    def _expect(self, book, columns):
        if not getattr(self.books, book).size:
            self.books = self.books._replace(**{book: np.zeros((self.size, columns), np.int32)})

    def expect_reads(self):
        """Make room for records of reads."""
        self._expect("reads", READ_COLUMNS)

    def expect_writes(self, changed=None):
        """Make room for records of writes, of which `changed` says what each does to what was there (`races`)."""
        self._expect("writes", WRITE_COLUMNS)
        if changed is not None and not self.books.same.size and (changed == KEPT).any():
            self._expect("same", SAME_COLUMNS)

    def expect_atomics(self):
        """Make room for records of atomic operations."""
        self._expect("atomics", ATOMIC_COLUMNS)

    def group(self, mask, number):
        """Return the number of the group of a mask's lanes, whose threads are not in a row; 0 if there are too many."""
        if id(mask) not in self.group_of:
            if len(self.books.groups) == MOST_GROUPS:
                self._keep_groups(np.unique(self.books.writes[:, GROUP]) - 1)
            groups, begins = self.books.groups, self.books.begins
            if len(groups) == MOST_GROUPS:
                return 0
            there = number[mask.index]
            own = np.zeros((len(groups) + 1, max(groups.shape[1], int(there[-1] - there[0]) + 1)), np.bool_)
            own[:-1, : groups.shape[1]] = groups
            own[-1, there - there[0]] = True
            self.books = self.books._replace(groups=own, begins=np.append(begins, there[0]))
            self.group_of[id(mask)] = mask, len(own)  # with the mask itself, so that it keeps its id
        return self.group_of[id(mask)][1]

    def _keep_groups(self, used):
        """Forget the groups but those of these rows: the others fill no element any more."""
        used = used[used >= 0]
        new = np.zeros(MOST_GROUPS + 1, np.int32)  # by the number before
        new[used + 1] = np.arange(1, used.size + 1)
        self.books.writes[:, GROUP] = new[self.books.writes[:, GROUP]]
        self.books = self.books._replace(groups=self.books.groups[used], begins=self.books.begins[used])
        self.group_of = {at: (mask, int(new[k])) for at, (mask, k) in self.group_of.items() if new[k]}

    def writers(self):
        """Return (size,) the number of the thread that wrote each element last, plus one; (0,) if nobody wrote."""
        return self.books.writes[:, WRITER].copy() if self.books.writes.size else np.zeros(0, np.int32)

    # ------------------------------------------------------------------------------------------- reads that wait

    def drop_reads(self):
        """A barrier of all threads orders what was before it with all that follows."""
        self.waiting, self.kept, self.waiting_cells, self.quiet = [], set(), 0, True

    def keep_read(self, read, order, bits):
        """Keep a read for later, in case somebody writes."""
        self.waiting.append(read)
        if id(read.cells) not in self.kept:
            self.kept.add(id(read.cells))
            self.waiting_cells += read.cells.size
        if self.waiting_cells > MOST_WAITING or len(self.waiting) > MOST_READS:
            self.settle(order, bits)

    def settle(self, order, bits):
        """Write down the reads that wait, in their order: somebody is about to write."""
        if not self.waiting:
            return
        self.expect_reads()
        for cells, shift, mask, number, phase, sync, line, clock in self.waiting:
            i = mask.index
            note_reads(cells + shift, number[i], phase[i], sync[i], line, clock, order, self.books, bits, False)
        self.waiting, self.kept, self.waiting_cells = [], set(), 0
