"""How a kernel reads and writes memory, and what is wrong with it.

Source: NVIDIA, "CUDA C++ Programming Guide", "Device Memory Accesses" and "Shared Memory".
"""

import numpy as np

from course_lib.simt.costs import Costs
from course_lib.simt.hazards import BLOCK, note_atomics, note_reads, note_writes
from course_lib.simt.lanes import WARP
from course_lib.simt.places import Places
from course_lib.simt.source import KernelError
from course_lib.simt.values import cast, describe, is_number


class MemoryAccess(Places, Costs):
    """The half of a `Machine` that reads and writes. Source: the course's own."""

    def load(self, view, indices, mask, node):
        """Return the elements that the lanes mean, a vector over lanes; a View where indices are missing."""
        if len(indices) < view.ndim:
            return self._row(view, indices, mask, node)
        cells, mask = self._cells(view, indices, mask, node)
        memory = view.memory
        self._enter("load", view, cells, mask, node)
        self._check_written(view, cells, mask, node)
        if memory.shadow and self.races:
            self._note(note_reads, "reads", view, cells, mask, node)
        if mask.bits is None:
            return memory.cells[cells]
        out = np.zeros(self.lanes.count, memory.dtype)
        out[mask.index] = memory.cells[cells]
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
        cells, mask = self._cells(view, indices, mask, node)
        self._enter("store", view, cells, mask, node)
        if view.memory.shadow and self.races:
            self._note(note_writes, "writes", view, cells, mask, node)
        view.memory.cells[cells] = self.active(cast(value, view.dtype), mask)
        self._written(view.memory, cells)

    def atomic(self, view, indices, value, expected, combine, what, mask, node):
        """Let `combine` (`atomics`) do the operation `what` lane by lane; return the old numbers."""
        self._check_writable(view, node)
        cells, mask = self._cells(view, indices, mask, node)
        memory = view.memory
        self._enter("atomic", view, cells, mask, node)
        self._check_written(view, cells, mask, node)
        if memory.shadow and self.races:
            memory.shadow.expect_atomics()
            self._note(note_atomics, "changes with cuda.atomic", view, cells, mask, node)
            self._hand_over(memory, cells, mask)
        values = np.ascontiguousarray(self.active(cast(value, view.dtype), mask))
        if expected is not None:
            expected = np.ascontiguousarray(self.active(cast(expected, view.dtype), mask))
        before = np.empty(cells.size, view.dtype)
        combine(memory.cells, cells, values, values if expected is None else expected, what, before)
        old = np.zeros(self.lanes.count, view.dtype)
        old[mask.index] = before
        self._written(memory, cells)
        return old

    def _row(self, view, indices, mask, node):
        cells, mask = self._cells(view, indices, mask, node)
        offset = np.zeros(self.lanes.count, np.int64)
        offset[mask.index] = cells
        return view.part(offset, view.shape[len(indices) :], view.strides[len(indices) :])

    # ------------------------------------------------------------------------------------------- what is wrong

    def _check_writable(self, view, node):
        if view.memory.space == "constant":
            raise KernelError(f"{view.name} is constant memory; a kernel only reads it.", node.lineno)
        if not view.writable:
            raise KernelError(f"{view.name} is read-only; copy it, or write to another array.", node.lineno)

    def _check_written(self, view, cells, mask, node):
        memory = view.memory
        if memory.all_written:
            return
        written = memory.written[cells]
        if written.all():
            return
        at = int(np.argmin(written))
        lane, index = self.lane_of(mask, at), _index(memory, cells[at])
        begins = (
            "Write it before: gpu.empty gives an array with whatever was there." if memory.space == "global" else
            f"{memory.space.capitalize()} memory begins with whatever was there: write before you read."
        )  # fmt: skip
        self.found(
            "unwritten memory", node.lineno,
            f"{self.lanes.name(lane)} reads {element(memory, view, index)}, which nobody has written yet.", begins,
            array=view.name, lane=lane, count=np.count_nonzero(~written), index=index,
        )  # fmt: skip

    def _written(self, memory, cells):
        memory.touched |= cells.size > 0
        if not memory.all_written:
            memory.written[cells] = True
            memory.look_for_gaps()

    def _note(self, note, verb, view, cells, mask, node):
        self.clock += 1
        shadow = view.memory.shadow
        races, *first = note(
            cells, self.number[mask.index], self.phase[mask.index], self.sync[mask.index], node.lineno, self.clock,
            self.order, shadow.records, shadow.atomics,
        )  # fmt: skip
        if races:
            self._race(verb, view, mask, cells, *map(int, first), int(races), node)

    def _race(self, verb, view, mask, cells, at, other, other_line, did, races, node):
        lane, index = self.lane_of(mask, at), _index(view.memory, cells[at])
        other_block, thread = other >> BLOCK, other & ((1 << BLOCK) - 1)
        same = other_block == int(self.number[lane]) >> BLOCK
        who = self.lanes.name_of(thread, None if same else other_block)
        where = "in this line too" if other_line == node.lineno else f"in line {other_line}"
        one_warp = same and thread // WARP == int(self.lanes.thread[lane]) // WARP
        if not same:
            fix = (
                "Blocks cannot wait for each other: use cuda.atomic, give each block elements of its own, or write in "
                "one launch and read in the next."
            )
        else:
            barrier = "cuda.syncthreads()" + (" (within one warp cuda.syncwarp() is enough)" if one_warp else "")
            fix = _ONE_LINE.get((verb, did)) if other_line == node.lineno else None
            fix = (
                fix or "Put {} between the two, where all threads come by; or use cuda.atomic to count and add."
            ).format(barrier)
            if view.memory.space == "global" and self.blocks > 1:
                fix += " If several blocks touch it, do one of the two in an earlier launch."
        self.found(
            "race", node.lineno,
            f"{self.lanes.name(lane)} {verb} {element(view.memory, view, index)}, which {who} "
            f"{('wrote', 'read', 'changed with cuda.atomic')[did]} {where}, with no barrier between.",
            fix, array=view.name, lane=lane, count=races, index=index, other_line=other_line,
            other_thread=self.lanes.thread_triple(thread), other_block=self.lanes.block_triple(other_block),
        )  # fmt: skip

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


_ONE_LINE = {
    ("writes", 0): "Two threads write one element: give each its own, let one thread write, or use cuda.atomic.",
    ("writes", 1): "Read into a variable, then {}, then write; or use cuda.atomic to count and add.",
}
"""What to do where both accesses of a race stand in one line, by what the one does and what the other did."""


def element(memory, view, index):
    """Return how a message calls an element, such as As[3, 4]."""
    if not index:
        return f"the number in {view.name}"
    return f"{view.name}[{', '.join(map(str, index))}]"


def _index(memory, cell):
    """Return the index of a memory's element as a tuple of ints."""
    return tuple(map(int, memory.index_of(int(cell))))
