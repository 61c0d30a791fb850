"""The machine that a kernel runs on: barriers, budgets, counters and findings of one launch.

Source: NVIDIA, "CUDA C++ Programming Guide", "Memory Hierarchy" and "Synchronization Functions". How memory is read
and written is in `access`.
"""

import math
from collections import defaultdict

import numpy as np

from course_lib.cuda.launch_checks import SHARED_BYTES
from course_lib.simt.alone.handover import Heat
from course_lib.simt.copies import AsyncCopies
from course_lib.simt.counters import Counters
from course_lib.simt.hazards import Hazard
from course_lib.simt.lanes import block_bits
from course_lib.simt.masks import Mask
from course_lib.simt.memory import block_view, constant_view, lane_view
from course_lib.simt.source import KernelError
from course_lib.simt.values import is_number
from course_lib.simt.wide import WideAccess

LOCAL_BYTES = 512 * 1024
"""The most of a thread's local arrays."""

BATCHES = 16
"""A launch may take so many times the steps of a batch: what does not end, ends soon; large launches go on."""

MOST_WORKERS = 65_536
"""Threads of a launch up to which it is kept which of them touched memory at all."""

LANES_A_STEP = 1024
"""A statement of more lanes than this uses more than one step of the budget."""


class HazardFound(KernelError):
    """The first hazard of a run that stops at hazards; `.hazard` has the details. Source: the course's own."""

    def __init__(self, hazard):
        super().__init__(f"{hazard.message} {hazard.fix}", hazard.line)
        self.hazard = hazard


class Machine(WideAccess):
    """Barriers, budgets, counters and findings of one launch.

    Source: the course's own.
    """

    def __init__(self, grid, block, *, on_error="collect", steps, shared=0, counting=True, races=True):
        self.block_bits = block_bits(math.prod(block))
        self.threads, self.on_error, self.counting = math.prod(block), on_error, counting
        self.steps, self.total, self.granted, self.budget = steps, BATCHES * steps, 0, 0
        self.races = races
        self.dynamic_bytes = shared
        self.counters_of, self.hazards, self.uses, self.accesses = {}, {}, {}, {}
        self.printed, self.sampled = [], None  # lines of `print`; (blocks that were counted, all) if not all were
        self.watch = None  # told of each access to global memory (`estimate.sample`)
        self.sites = {}  # (function, line, array, space, way) -> (requests, sectors or conflicts, bytes)
        self.tables, self.cooperative = None, False
        self.source, self.sources, self.labels = None, {}, {}
        self.turns = []  # [line, turns] of each loop that runs, outermost first
        self.clock = self.atomic_number = 0
        self.order = np.zeros((0, 5), np.int64)
        self.blocks = math.prod(grid)
        self.constants = {}
        self.memories, self.static_bytes, self.local_bytes = [], 0, 0
        self.not_printed, self.show, self.filtering = 0, None, False
        self.watching = self.changes = self.ahead = 0  # of loops that may wait for others, and what changed in memory
        self.heat = Heat()  # of loops that one lane walks alone
        few = counting and math.prod(grid) * self.threads <= MOST_WORKERS
        self.worked = np.zeros(math.prod(grid) * self.threads, np.bool_) if few else None  # touched memory (`costs`)
        self.told = set()  # arrays of records that were found to be read byte by byte

    def begin(self, lanes):
        """Start a batch of blocks: fresh shared memory, no barrier passed."""
        self.total -= self.granted - self.budget
        self.granted = self.budget = min(self.steps, self.total)
        self.lanes, self.shared, self.local = lanes, {}, {}
        self.last_load = None, None, None, 0
        self.follow_nothing()
        self.places, self.even = {}, True  # whether all threads of a block have passed as many barriers
        self.static_bytes = self.local_bytes = self.static_cells = 0
        self.phase, self.sync = np.zeros(lanes.count, np.int32), np.zeros(lanes.count, np.int32)
        self.copies = AsyncCopies(lanes.count)
        self.number = ((lanes.first + lanes.block) << self.block_bits) + lanes.thread
        self.exited, self._running, self.filtering = np.zeros(lanes.count, np.bool_), None, False
        self.forget_locks(lanes.count)
        self.away, self.parked = np.zeros(lanes.count, np.bool_), []

    def enter(self, source):
        """Count for the lines of `source` from now on; return the Source before."""
        before, self.source = self.source, source
        self.function = self.labels.get(id(source))
        if source is not None and self.function is None:
            names = [s.name for s in self.sources.values()]
            times = names.count(source.name)
            self.function = f"{source.name} ({times + 1})" if times else source.name
            self.labels[id(source)] = self.function
            self.sources[self.function] = source
        self.counters = self.counters_of.setdefault(self.function, defaultdict(Counters))
        return before

    def types_of(self, source, arguments):
        """Return which type the names and branches of a function have, for arguments of these types."""
        return self.tables.of(source, arguments)

    def step(self, line, mask, weight=1):
        """Count a statement; KernelError when the budget is used up."""
        self.budget -= weight * (1 + mask.count // LANES_A_STEP)
        if self.budget < 0:
            if self.turns:
                line = max(self.turns, key=lambda loop: loop[1])[0]
            who = "" if mask.empty else f" Still in it: {self.lanes.name(self.lane_of(mask, 0))}."
            raise KernelError(
                f"the kernel does not come to an end within {self.granted:,} steps, the most that are walked. Does "
                "the loop change what it waits for? A thread cannot wait for another thread of its warp, except at a "
                f"barrier. If the loop is only long, take a smaller size.{who}", line,
            )  # fmt: skip

    def count(self, line, mask, dtype=None, flops=1):
        """Count one operation of the active lanes; a floating-point one by its dtype."""
        if not self.counting:
            return
        c = self.counters[line]
        c.instructions += mask.warps
        c.lanes += mask.count
        if dtype is not None and dtype.kind in "fc":
            c.flops += flops * mask.count
            if dtype.itemsize == (8 if dtype.kind == "f" else 16):
                c.float64_flops += flops * mask.count
            elif dtype.itemsize == 2:
                c.float16_flops += flops * mask.count

    def branch(self, line, mask, condition):
        """Count a branch of the active warps, and those that went both ways; `condition` is one for all or a vector."""
        if self.counting:
            self.counters[line].branches += mask.warps
            if np.ndim(condition):
                self.counters[line].divergent_branches += mask.divergent_warps(condition)

    def lane_of(self, mask, at):
        """Return the lane that is the active lane number `at` of a mask."""
        return int(at) if mask.bits is None else int(mask.index[at])

    def found(self, kind, line, message, fix, *, array="", lane=None, count=1, severity="error", **details):
        """Enter a hazard, once for a kind, line and array; stop the run if it stops at them; advice stops no run."""
        if lane is not None:
            thread, block = self.lanes.place(lane)
            details |= {"thread": thread, "block": block, "phase": int(self.phase[lane])}
        hazard = Hazard(kind, line, message, fix, int(count), array, details, severity, self.function)
        if self.on_error == "raise" and severity == "error":
            raise HazardFound(hazard)
        known = self.hazards.setdefault((kind, self.function, line, array, severity), hazard)
        if known is not hazard:
            known.count += int(count)

    def check_divisor(self, left, right, mask, line):
        """A whole number divided by zero has no defined result on a GPU."""
        if is_number(right) and right.dtype.kind in "iub" and is_number(left) and left.dtype.kind in "iub":
            zero = right == 0
            if not zero.any():
                return
            zero = np.broadcast_to(zero, self.lanes.count)[mask.index]
            if zero.any():
                lane = self.lane_of(mask, zero.argmax())
                self.found(
                    "division by zero", line, f"{self.lanes.name(lane)} divides a whole number by 0.",
                    "A GPU gives some number and no error; test the divisor first.", lane=lane,
                    count=np.count_nonzero(zero),
                )  # fmt: skip

    # ------------------------------------------------------------------------------------------- arrays of a kernel

    def allocate(self, evaluator, space, shape, dtype, node):
        """Return the View of a shared array (one per block) or a local one (per lane), the same at each visit."""
        key = (
            id(evaluator.source),
            node.lineno,
            node.col_offset,
            evaluator.depth if space == "local" else 0,
            shape,
            dtype,
        )
        made, size = self.shared if space == "shared" else self.local, math.prod(shape) * dtype.itemsize
        if key not in made:
            if space == "shared":
                base, self.static_bytes = self.static_bytes, self.static_bytes + -(-size // 16) * 16
                self.static_cells += math.prod(shape) * len(dtype.names or "1")
                self._check_bytes("block's shared arrays", self.static_bytes, SHARED_BYTES, "tiles", node.lineno)
                made[key] = block_view(
                    f"(shared array of line {node.lineno})", shape, dtype, self.lanes.blocks, self.lanes.block, base
                )
            else:
                self.local_bytes += size
                self._check_bytes("thread's local arrays", self.local_bytes, LOCAL_BYTES, "arrays", node.lineno)
                made[key] = lane_view(f"(local array of line {node.lineno})", shape, dtype, self.lanes.count)
        return made[key]

    def _check_bytes(self, what, size, most, smaller, line):
        if size > most:
            more = " More is possible as dynamic shared memory." if "shared" in what else ""
            raise KernelError(
                f"the {what} take {size:,} bytes; at most {most:,} are there. Use smaller {smaller}.{more}", line
            )

    def dynamic(self, dtype, line):
        """Return the View of the block's dynamic shared memory; all of them lie in the same bytes."""
        count = self.dynamic_bytes // dtype.itemsize
        if not count:
            raise KernelError(
                f"the launch gives {self.dynamic_bytes} bytes of dynamic shared memory, no room for a {dtype}; say how "
                "many bytes in the launch: kernel[grid, block, stream, bytes](...).", line,
            )  # fmt: skip
        made = [view for key, view in self.shared.items() if key[0] == "dynamic"]
        if made and made[0].dtype.itemsize != dtype.itemsize:
            raise KernelError(
                f"dynamic shared memory is used as {made[0].dtype} and as {dtype}; use types of one size here.", line
            )
        key = ("dynamic", dtype)
        if key not in self.shared:
            name = "(dynamic shared memory)"
            base = self.tables.machine.static_bytes  # behind the static arrays
            view = block_view(name, (count,), dtype, self.lanes.blocks, self.lanes.block, base)
            view.memory.alignment = 16
            if made:  # other numbers, the same bytes
                view.memory.cells = made[0].memory.cells.view(dtype)
                view.memory.shadow, view.memory.written = made[0].memory.shadow, made[0].memory.written
            self.shared[key] = view
        return self.shared[key]

    def constant(self, array, line):
        """Return the View of an array from outside in constant memory; KernelError if it is too large."""
        key = id(array.array)
        if key not in self.constants:
            if array.array.nbytes > 64 * 1024:
                raise KernelError(
                    f"{array.name} has {array.array.nbytes:,} bytes; constant memory has 65,536. Pass it to the "
                    "kernel.",
                    line,
                )
            base = sum(-(-v.memory.cells.nbytes // 256) * 256 for v in self.constants.values())
            self.constants[key] = constant_view(array.name, array.array, base)
        return self.constants[key]

    # ------------------------------------------------------------------------------------------- barriers

    def barrier(self, mask, line):
        """All threads of a block wait for each other; one that is not there is a finding."""
        if self.counting:
            self.counters[line].barriers += mask.warps
        if mask.bits is not None:
            there = np.bincount(self.lanes.block[mask.index], minlength=self.lanes.blocks)
            left = np.bincount(self.lanes.block[self.exited], minlength=self.lanes.blocks)
            broken = np.flatnonzero((there > 0) & (there + left < self.lanes.threads))
            if broken.size:
                self._absent(mask, line, int(broken[0]), int(there[broken[0]]), broken.size)
            early = (there > 0) & (left > 0)
            if early.any() and not broken.size:
                self._left_early(mask, line, int(early.argmax()), int(left[early].sum()))
        self._pass(mask)

    def _pass(self, mask):
        """Enter that the lanes of a mask passed a barrier; reads that wait are forgotten where nobody is left behind.

        The vectors of phases are replaced, never changed: reads that wait keep those of their time.
        """
        self.phase = self.phase + (1 if mask.bits is None else mask.bits)
        behind = None if mask.bits is None else ~(mask.bits | self.exited)
        if behind is not None and behind.any():
            left = np.bincount(self.lanes.block[behind], minlength=self.lanes.blocks)
            self.even &= not left[self.lanes.block[mask.index]].any()
        elif self.even:
            for memory in (m for view in self.shared.values() for m in view.memory.family):
                memory.shadow.drop_reads()

    def pass_warps(self, mask):
        """Enter that the lanes of a mask passed a barrier of their warps."""
        self.sync = self.sync + (1 if mask.bits is None else mask.bits)

    def _absent(self, mask, line, block, there, count):
        away = (self.lanes.block == block) & ~mask.bits
        missing = int(np.flatnonzero(away & ~self.exited)[0])
        others = int(np.count_nonzero(away & self.exited))
        left = f" {others} have returned already; for those nobody waits." if others else ""
        self.found(
            "barrier not reached", line,
            f"{self.lanes.name(missing)} does not come to this barrier, {there} of {self.lanes.threads} threads "
            f"do.{left}",
            "Move the barrier out of the branch or loop: all threads of the block that have not returned must reach "
            "it; else those that wait hang, or go on only when the others have left the kernel.",
            lane=missing, count=count, **self._threads_at("barrier not reached", mask, line, block),
        )  # fmt: skip

    def _threads_at(self, kind, mask, line, block):
        """Return which threads of a block come, and which have returned, as runs of numbers; nothing the next time."""
        if any(key[:4] == (kind, self.function, line, "") for key in self.hazards):
            return {}
        own = slice(block * self.threads, (block + 1) * self.threads)
        came = np.zeros(self.lanes.count, np.bool_)
        came[mask.index] = True
        return {"came": _runs(came[own]), "returned": _runs(self.exited[own] & ~came[own])}

    def _left_early(self, mask, line, block, count):
        gone = int(np.flatnonzero((self.lanes.block == block) & self.exited)[0])
        self.found(
            "early return", line, f"{self.lanes.name(gone)} has returned before this barrier.",
            "The hardware waits for the threads that have not returned, so the others go on. Cleaner is to let all "
            "threads come here and to guard their loads and stores: a returned thread helps to load no tile.",
            lane=gone, count=count, severity="advice", **self._threads_at("early return", mask, line, block),
        )  # fmt: skip

    def grid_barrier(self, mask, line):
        """All threads of the grid wait for each other: what was done before is ordered with all that follows."""
        if self.counting:
            self.counters[line].barriers += mask.warps
        if mask.count < self.lanes.count:
            missing = int(np.flatnonzero(~mask.bits)[0])
            there = int(np.unique(self.lanes.block[mask.index]).size)
            self.found(
                "barrier not reached", line,
                f"{self.lanes.name(missing)} does not come to this barrier of the whole grid; threads of {there} of "
                f"{self.blocks} blocks do.",
                "All threads of all blocks must reach it: move it out of the branch or loop.", lane=missing,
            )  # fmt: skip
        for memory in self.memories:
            if memory.shadow:
                memory.shadow.forget()
        self._pass(mask)

    def fence(self, mask):
        """Blocks hand their writes over to others: a fence, and then an atomic operation (`hazards`)."""
        self.fenced[mask.index] = True
        if not self.order.size:
            self.order = np.zeros((self.blocks, 5), np.int64)
            self.fence_clock = np.zeros(self.blocks, np.int64)
        self.fence_clock[np.unique(self.lanes.block[mask.index]) + self.lanes.first] = self.clock

    def leave(self, mask):
        """The lanes of a mask are done with the kernel."""
        self.exited[mask.index] = True
        self._running = None

    def stop(self, mask):
        """The lanes of a mask raised an exception: they leave the kernel from wherever they are."""
        self.leave(mask)
        self.filtering = True

    def running_ballots(self):
        """Return (warps,) int64: for each warp the bits of its lanes that have not returned."""
        if self._running is None:
            self._running = Mask(self.lanes, ~self.exited).ballots(np.True_)
        return self._running


def _runs(bits):
    """Return [[first, last], ...] of the places where `bits` (n,) bool holds."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], bits.astype(np.int8), [0]])))
    return [[int(a), int(b) - 1] for a, b in edges.reshape(-1, 2)]
