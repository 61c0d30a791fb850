"""How a kernel reads and writes memory, and what is wrong with it.

Source: NVIDIA, "CUDA C++ Programming Guide", "Device Memory Accesses" and "Shared Memory".
"""

import numpy as np

from course_lib.simt.costs import Costs
from course_lib.simt.findings import RaceFindings
from course_lib.simt.locks import Locks
from course_lib.simt.masks import Mask
from course_lib.simt.operations import CAS, EXCH
from course_lib.simt.places import Places
from course_lib.simt.races import CHANGED, EQUAL, note_atomics, note_reads, note_writes
from course_lib.simt.shadow import Waiting
from course_lib.simt.source import KernelError
from course_lib.simt.undefined import Undefined
from course_lib.simt.values import cast, describe, is_number


class MemoryAccess(Places, Costs, RaceFindings, Undefined, Locks):
    """The half of a `Machine` that reads and writes. Source: the course's own."""

    def load(self, view, indices, mask, node):
        """Return the elements that the lanes mean, a vector over lanes; a View where indices are missing."""
        if len(indices) < view.ndim or view.dtype.names:
            return self._row(view, indices, mask, node) if indices else view
        place, shift = self._place(view, indices, mask, node)
        memory = view.memory
        self._enter("load", view, place, shift, node)
        self._note_reads(view, place.cells, shift, place.stay, node)
        if place.stay.bits is mask.bits and place.cells.size:  # other lanes read something that nobody looks at
            out = _gather(memory.cells, place.over_lanes(), shift)
        else:
            out = np.zeros(self.lanes.count, memory.dtype)
            out[place.stay.index] = _gather(memory.cells, place.cells, shift)
        if memory.may_change:
            self.last_load = out, memory, place, shift
        if not memory.all_written:
            self._look_for_unwritten(out, view, place.cells + shift, place.stay, node)
        return out

    def store(self, view, indices, value, mask, node):
        """Write the value of each active lane to the element it means; of two lanes, the higher one wins."""
        if len(indices) < view.ndim:
            raise KernelError(
                f"{view.name} is {view.shape}; a store needs {view.ndim} indices, not {len(indices)}.", node.lineno
            )
        if not is_number(value):
            raise KernelError(f"{describe(value)} cannot be stored in {view.name}.", node.lineno)
        self._check_writable(view, node)
        place, shift = self._place(view, indices, mask, node)
        self._enter("store", view, place, shift, node)
        given, value = value, cast(value, view.dtype)
        sure = np.ndim(value) == 0 or self._own_numbers(value, view.memory, place, shift)
        self._write(view, place.cells + shift, self.active(value, place.stay), place.stay, node, sure)
        if self.undefined:
            self._store_undefined(view, place.cells + shift, given, place.stay)

    def _own_numbers(self, value, memory, place, shift):
        """Return in which lanes a value was read from the element that it is stored in."""
        loaded, its_memory, its_place, its_shift = self.last_load
        if loaded is not value or its_memory is not memory or its_place.view.memory is not memory:
            return False
        bits = its_place.stay.bits
        there = (
            its_place.over_lanes() + its_shift
            if bits is None
            else np.where(bits, its_place.over_lanes() + its_shift, -1)
        )
        return self.active(there, place.stay) == place.cells + shift

    def _write(self, view, cells, values, mask, node, sure=False):
        """Write values[i] to cells[i], and enter that; `mask` has the lanes.

        `sure` says whether the text makes sure that a number which is there already is there whatever the numbers are.
        """
        memory = view.memory
        if memory.shadow is None or not self.races:
            self.changes += 1
            memory.cells[cells] = values
            memory.wrote(cells)
        else:
            changed = memory.put(cells, values)
            self.changes += bool(changed.any())
            self._note_writes(
                view, cells, mask, np.where(changed, CHANGED, EQUAL - np.int8(sure)).astype(np.int8), node
            )

    def atomic(self, view, indices, value, expected, combine, what, mask, node):
        """Let `combine` (`atomics`) do the operation `what` lane by lane; return the old numbers."""
        self._check_writable(view, node)
        place, shift = self._place(view, indices, mask, node)
        memory, mask, cells = view.memory, place.stay, place.cells + shift
        memory.compared |= expected is not None
        self._enter("atomic", view, place, shift, node)
        self._check_written(view, cells, mask, node)
        if self.undefined:
            self.use((value, expected), mask)
        if memory.shadow and self.races:
            self._note_atomics(view, cells, mask, node)
            self._hand_over(memory, cells, mask)
        values = np.ascontiguousarray(self.active(cast(value, view.dtype), mask))
        if expected is not None:
            expected = np.ascontiguousarray(self.active(cast(expected, view.dtype), mask))
        before = np.empty(cells.size, view.dtype)
        combine(memory.cells, cells, values, values if expected is None else expected, what, before)
        self.changes += not self.watching or not np.array_equal(before, memory.cells[cells], equal_nan=True)
        if what in (CAS, EXCH):
            self.note_locks(memory, cells, mask, before, expected, values, what == CAS)
        old = np.zeros(self.lanes.count, view.dtype)
        old[mask.index] = before
        memory.wrote(cells)
        return old

    def _row(self, view, indices, mask, node):
        place, shift = self._place(view, indices, mask, node)
        if shift not in place.rows:
            offset = np.zeros(self.lanes.count, np.int64)
            offset[place.stay.index] = place.cells + shift
            if len(place.rows) == MOST_ROWS:
                place.rows.clear()
            row = view.part(offset, view.shape[len(indices) :], view.strides[len(indices) :])
            if place.stay.bits is not mask.bits:  # lanes with an index out of bounds have no row
                row.there = place.stay.bits
            place.rows[shift] = row
        return place.rows[shift]

    # ------------------------------------------------------------------------------------------- who touched what

    def _note_reads(self, view, cells, shift, mask, node):
        memory = view.memory
        if memory.shadow is None or not self.races or not memory.may_change:
            return
        self.clock += 1
        if not self.holder and memory.shadow.quiet and (self.even or memory.space == "global"):
            read = Waiting(cells, shift, mask, self.number, self.phase, self.sync, node.lineno, self.clock)
            memory.shadow.keep_read(read, self.order, self.block_bits)
            return
        memory.shadow.settle(self.order, self.block_bits)
        memory.shadow.expect_reads()
        self._note(note_reads, "reads", view, cells + shift, mask, node, memory.compared)

    def _note_writes(self, view, cells, mask, changed, node):
        self.clock += 1
        shadow = self._not_quiet(view.memory)
        shadow.expect_writes(changed)
        self._note(note_writes, "writes", view, cells, mask, node, changed)

    def _note_atomics(self, view, cells, mask, node):
        self.clock += 1
        self._not_quiet(view.memory).expect_atomics()
        self._note(note_atomics, "changes with cuda.atomic", view, cells, mask, node, view.memory.compared)

    def settled(self, memory, changed):
        """Return the Shadow of a memory, ready for reads, and for writes that do `changed` to what was there."""
        shadow = memory.shadow
        shadow.settle(self.order, self.block_bits)
        shadow.expect_reads()
        if changed.size:
            shadow.quiet = False
            shadow.expect_writes(changed)
        return shadow

    def _not_quiet(self, memory):
        memory.shadow.settle(self.order, self.block_bits)
        memory.shadow.quiet = False
        return memory.shadow

    def _note(self, note, verb, view, cells, mask, node, last):
        if self.holder and note is not note_atomics:
            safe = self.guarded(view.memory, cells, mask, note is note_writes)
            if safe.any():
                stay = np.zeros(self.lanes.count, np.bool_)
                stay[np.arange(self.lanes.count)[mask.index][safe]] = True
                self._note_some(note, None, view, cells[safe], Mask(self.lanes, stay), node, _of(last, safe))
                cells, mask, last = cells[~safe], mask.where(~stay), _of(last, ~safe)
        if cells.size:
            self._note_some(note, verb, view, cells, mask, node, last)

    def _note_some(self, note, verb, view, cells, mask, node, last):
        i, shadow, group = mask.index, view.memory.shadow, ()
        if note is note_writes:
            group = (shadow.group(mask, self.number) if mask.has_gaps and (last != CHANGED).any() else 0,)
        races, *first, real = note(
            cells, self.number[i], self.phase[i], self.sync[i], node.lineno, self.clock, self.order, shadow.books,
            self.block_bits, last, *group,
        )  # fmt: skip
        if races and verb:  # else a lock orders them
            self._race(verb, view, mask, cells, *map(int, first), int(races), int(real), node)

    # ------------------------------------------------------------------------------------------- what is wrong

    def _check_writable(self, view, node):
        if view.memory.space == "constant":
            raise KernelError(f"{view.name} is constant memory; a kernel only reads it.", node.lineno)
        if not view.writable:
            raise KernelError(f"{view.name} is read-only; copy it, or write to another array.", node.lineno)
        view.memory.may_change = True

    def _look_for_unwritten(self, value, view, cells, mask, node):
        """Follow a value that lanes of a mask read, as far as nobody has written it."""
        missing = ~view.memory.written[cells]
        if missing.any():
            self._read_unwritten(value, view, cells, mask, node, missing)

    def _check_written(self, view, cells, mask, node):
        """Lanes of a mask read elements and use them at once: what nobody has written is a finding."""
        if not view.memory.all_written:
            value = np.zeros(self.lanes.count)
            self._look_for_unwritten(value, view, cells, mask, node)
            self.use(value, mask)

    def _hand_over(self, memory, cells, mask):
        """Enter that blocks which fenced before release their writes, and meet those that did so earlier."""
        if not self.order.size:
            return
        self.budget -= mask.count // 12  # lane by lane in Python
        blocks = self.lanes.block[mask.index] + self.lanes.first
        for cell, block in zip(cells.tolist(), blocks.tolist(), strict=True):
            self.atomic_number += 1
            place = (memory.base << 24) + cell
            released = self.fence_clock[block]
            self.order[block] = (place, self.atomic_number if released else 0, released, place, self.atomic_number)


MOST_ROWS = 64
"""Rows of a place that are kept."""


def _of(value, lanes):
    return value[lanes] if np.ndim(value) else value


def _gather(numbers, cells, shift):
    there = numbers[shift:] if shift else numbers
    return there.take(cells) if there.flags.c_contiguous else there[cells]
