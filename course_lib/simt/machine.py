"""The machine that a kernel runs on: memories, barriers, counters and findings of one launch.

Source: NVIDIA, "CUDA C++ Programming Guide", "Memory Hierarchy" and "Synchronization Functions".
"""

import math
from collections import defaultdict

import numpy as np

from course_lib.simt.counters import Counters
from course_lib.simt.hazards import Hazard, note_reads, note_writes
from course_lib.simt.masks import Mask
from course_lib.simt.memory import View, block_view, lane_view, step
from course_lib.simt.source import KernelError
from course_lib.simt.traffic import global_traffic, shared_traffic
from course_lib.simt.values import cast, describe, is_number

SHARED_BYTES = 48 * 1024


class HazardFound(KernelError):
    """The first hazard of a run that stops at hazards; `.hazard` has the details. Source: the course's own."""

    def __init__(self, hazard):
        super().__init__(f"{hazard.message} {hazard.fix}", hazard.line)
        self.hazard = hazard


class Machine:
    """Memories, barriers, counters and findings of one launch.

    Source: the course's own.
    """

    def __init__(self, block, on_error, steps):
        self.threads, self.on_error, self.budget = math.prod(block), on_error, steps
        self.counters, self.hazards = defaultdict(Counters), {}

    def begin(self, lanes):
        """Start a batch of blocks: fresh shared memory, no barrier passed."""
        self.lanes, self.shared, self.shared_bytes = lanes, {}, 0
        self.phase, self.sync = np.zeros(lanes.count, np.int64), np.zeros(lanes.count, np.int64)
        self.number = (lanes.first + lanes.block.astype(np.int64)) * lanes.threads + lanes.thread

    def step(self, line):
        """Count a statement; KernelError when the budget is used up."""
        self.budget -= 1
        if self.budget < 0:
            raise KernelError(
                "the kernel does not come to an end: its steps are used up. Does this loop ever stop?", line
            )

    def count(self, line, mask, dtype=None, flops=1):
        """Count one operation of the active lanes; a floating-point one by its dtype."""
        c = self.counters[line]
        c.instructions += mask.warps
        c.lanes += mask.count
        if dtype is not None and np.dtype(dtype).kind == "f":
            c.flops += flops * mask.count
            c.float64_flops += flops * mask.count if dtype == np.float64 else 0

    def branch(self, line, mask, divergent):
        """Count a branch of the active warps, and those that went both ways."""
        self.counters[line].branches += mask.warps
        self.counters[line].divergent_branches += divergent

    def found(self, kind, line, message, fix, array="", count=1, **details):
        """Enter a hazard, once for a kind, line and array; stop the run if it stops at hazards."""
        hazard = Hazard(kind, line, message, fix, count, array, details)
        if self.on_error == "raise":
            raise HazardFound(hazard)
        known = self.hazards.setdefault((kind, line, array), hazard)
        if known is not hazard:
            known.count += count

    def check_divisor(self, evaluator, left, right, mask, line):
        """A whole number divided by zero has no defined result on a GPU."""
        if is_number(right) and right.dtype.kind in "iub" and is_number(left) and left.dtype.kind in "iub":
            zero = np.broadcast_to(right == 0, self.lanes.count)[mask.index]
            if zero.any():
                lane = np.arange(self.lanes.count)[mask.index][zero.argmax()]
                self.found(
                    "division by zero", line, f"{self.lanes.name(lane)} divides a whole number by 0.",
                    "A GPU gives some number and no error; test the divisor first.",
                )  # fmt: skip

    # ------------------------------------------------------------------------------------------- memory

    def allocate(self, evaluator, space, shape, dtype, line, column):
        """Return a View of a shared array (one per block, the same at each visit) or a local one (per lane)."""
        if space == "local":
            return lane_view(f"(local array of line {line})", shape, dtype, self.lanes.count)
        key = (evaluator.source.name, line, column)
        if key not in self.shared:
            base = self.shared_bytes
            self.shared_bytes += -(-math.prod(shape) * dtype.itemsize // 16) * 16
            if self.shared_bytes > SHARED_BYTES:
                raise KernelError(
                    f"the block's shared arrays take {self.shared_bytes:,} bytes; at most {SHARED_BYTES:,} are there. "
                    "Use smaller tiles.", line,
                )  # fmt: skip
            name = f"(shared array of line {line})"
            self.shared[key] = block_view(name, shape, dtype, self.lanes.blocks, self.lanes.block, base)
        return self.shared[key]

    def cells(self, view, indices, mask, line):
        """Return (the memory's cells that the active lanes mean, the lanes that stay): out of bounds is a finding.

        Lanes with an index out of bounds touch nothing, and leave the mask of this access.
        """
        inside = np.ones(mask.count, np.bool_)
        offset = np.broadcast_to(view.offset, self.lanes.count)[mask.index].astype(np.int64)
        for axis, index in enumerate(indices):
            index = np.broadcast_to(index, self.lanes.count)[mask.index].astype(np.int64)
            size = view.shape[axis]
            offset, outside, negative = step(offset, index, size, view.strides[axis], inside)
            for kind, at in (("out of bounds", outside), ("negative index", negative)):
                if at >= 0 and not (kind == "negative index" and outside >= 0):
                    self._bad_index(kind, view, axis, int(index[at]), size, mask, at, line)
        if inside.all():
            return offset, mask
        stay = np.zeros(self.lanes.count, np.bool_)
        stay[np.arange(self.lanes.count)[mask.index][inside]] = True
        return offset[inside], Mask(self.lanes, stay)

    def _bad_index(self, kind, view, axis, index, size, mask, at, line):
        who = self.lanes.name(self._lane(mask, at))
        where = f"axis {axis} of {view.name}" if view.ndim > 1 else view.name
        if kind == "out of bounds":
            message = f"{who} uses index {index} on {where}, which has {size} elements (0 to {size - 1})."
            fix = "Guard it: if the index is below the size. A GPU would touch something else, without a word."
        else:
            message = f"{who} uses index {index} on {where}: it counts from the end, element {index + size}."
            fix = "If that is not what you mean, guard the index from below as well."
        self.found(kind, line, message, fix, view.name, index=index, axis=axis, size=size)

    def _lane(self, mask, at):
        return int(at) if mask.bits is None else int(mask.index[at])

    def load(self, evaluator, view, indices, mask, line):
        """Return the elements that the lanes mean, a vector over lanes; a View where indices are missing."""
        if len(indices) < view.ndim:
            return self._part(view, indices, mask, line)
        cells, mask = self.cells(view, indices, mask, line)
        self._traffic("load", view, cells, mask, line)
        memory = view.memory
        self._check_written(view, cells, mask, line)
        self._note(note_reads, "reads", view, cells, mask, line)
        if mask.bits is None:
            return memory.cells[cells]
        out = np.zeros(self.lanes.count, memory.dtype)
        out[mask.index] = memory.cells[cells]
        return out

    def _check_written(self, view, cells, mask, line):
        memory = view.memory
        if memory.written.all() or memory.written[cells].all():
            return
        at = int(np.argmin(memory.written[cells]))
        self.found(
            "unwritten memory", line,
            f"{self.lanes.name(self._lane(mask, at))} reads {view.name} where nobody has written yet.",
            f"{memory.space.capitalize()} memory begins with whatever was there: write before you read.", view.name,
        )  # fmt: skip

    def store(self, evaluator, view, indices, value, mask, line):
        """Write the value of each active lane to the element it means; of two lanes, the higher one wins."""
        if len(indices) < view.ndim:
            raise KernelError(
                f"{view.name} is {view.shape}; a store needs {view.ndim} indices, not {len(indices)}.", line
            )
        if not is_number(value):
            raise KernelError(f"{describe(value)} cannot be stored in {view.name}.", line)
        if not view.memory.writable:
            raise KernelError(f"{view.name} is read-only; copy it, or write to another array.", line)
        cells, mask = self.cells(view, indices, mask, line)
        self._traffic("store", view, cells, mask, line)
        self._note(note_writes, "writes", view, cells, mask, line)
        view.memory.cells[cells] = np.broadcast_to(cast(value, view.dtype), self.lanes.count)[mask.index]
        view.memory.written[cells] = True

    def atomic(self, evaluator, view, indices, value, combine, mask, line):
        """Combine each lane's value with its element, one lane after the other; return the old values."""
        if not isinstance(view, View) or len(indices) != view.ndim or not is_number(value):
            raise KernelError("an atomic operation takes an array, an index for each axis, and a number.", line)
        cells, mask = self.cells(view, indices, mask, line)
        if not view.memory.writable:
            raise KernelError(f"{view.name} is read-only; copy it, or write to another array.", line)
        self._check_written(view, cells, mask, line)
        values = np.broadcast_to(cast(value, view.dtype), self.lanes.count)[mask.index]
        old = np.zeros(self.lanes.count, view.dtype)
        before = np.empty(cells.size, view.dtype)
        for i, cell in enumerate(cells):
            before[i] = view.memory.cells[cell]
            view.memory.cells[cell] = combine(before[i], values[i])
        old[mask.index] = before
        view.memory.written[cells] = True
        self.count(line, mask)
        return old

    def _part(self, view, indices, mask, line):
        cells, mask = self.cells(view, indices, mask, line)
        offset = np.zeros(self.lanes.count, np.int64)
        offset[mask.index] = cells
        n = len(indices)
        return View(view.memory, offset, view.shape[n:], view.strides[n:], view.name)

    def _traffic(self, way, view, cells, mask, line):
        memory, c, size = view.memory, self.counters[line], view.dtype.itemsize
        c.instructions += mask.warps
        c.lanes += mask.count
        warp = self.lanes.warp[mask.index]
        if memory.space == "global":
            requests, sectors, used = global_traffic(warp, memory.base + cells * size, size)
            for name, n in (("requests", requests), ("sectors", sectors), ("bytes", used)):
                setattr(c, f"global_{way}_{name}", getattr(c, f"global_{way}_{name}") + int(n))
        elif memory.space == "shared":
            inside = cells % (memory.cells.size // self.lanes.blocks)
            address = memory.base + inside * size
            requests, wavefronts = shared_traffic(warp, self.lanes.lane[mask.index], address, size)
            conflicts = int(wavefronts) - int(requests) * max(1, size // 4)
            setattr(c, f"shared_{way}_requests", getattr(c, f"shared_{way}_requests") + int(requests))
            setattr(c, f"shared_{way}_conflicts", getattr(c, f"shared_{way}_conflicts") + max(0, conflicts))

    def _note(self, note, verb, view, cells, mask, line):
        s = view.memory.shadow
        if s is None or (verb == "reads" and not view.memory.writable):
            return
        races, at, other, other_line = note(
            cells, self.number[mask.index], self.phase[mask.index], self.sync[mask.index], line, self.threads,
            s.writer, s.reader, s.readers, s.several_warps, s.stranger, s.when, s.line,
        )  # fmt: skip
        if races:
            self._race(verb, view, mask, at, other, other_line, races, line)

    def _race(self, verb, view, mask, at, other, other_line, races, line):
        lane = self._lane(mask, at)
        block, thread = divmod(int(other), self.threads)
        same = block == int(self.number[lane]) // self.threads
        what = f"thread {thread} of {'the same block' if same else f'block {block}'} (threads counted in order)"
        did = "wrote" if verb == "reads" or other_line == line else "used"
        self.found(
            "race", line,
            f"{self.lanes.name(lane)} {verb} an element of {view.name} that {what} {did} in line {other_line}, "
            "with no barrier between.",
            "Put cuda.syncthreads() between the two." if same else
            "Blocks cannot wait for each other: use cuda.atomic, or give each block elements of its own.",
            view.name, races, other_line=int(other_line), other_thread=int(other), phase=int(self.phase[lane]),
        )  # fmt: skip

    # ------------------------------------------------------------------------------------------- barriers

    def barrier(self, evaluator, mask, line):
        """All threads of a block wait for each other; one that is not there is a finding."""
        self.counters[line].barriers += mask.warps
        if mask.bits is not None:
            there = np.bincount(self.lanes.block[mask.index], minlength=self.lanes.blocks)
            broken = np.flatnonzero((there > 0) & (there < self.lanes.threads))
            if broken.size:
                missing = int(np.flatnonzero((self.lanes.block == broken[0]) & ~mask.bits)[0])
                self.found(
                    "barrier not reached", line,
                    f"{self.lanes.name(missing)} does not come to this barrier, {there[broken[0]]} of "
                    f"{self.lanes.threads} threads do.",
                    "Move the barrier out of the branch, and do not return before it: all threads must reach it.",
                )  # fmt: skip
        self.phase[mask.index] += 1

    def warp_barrier(self, mask):
        """The lanes of a warp wait for each other."""
        self.sync[mask.index] += 1
