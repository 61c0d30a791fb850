"""Numbers from memory that nobody has written: followed until something is done with them.

Source: J. Seward and N. Nethercote, "Using Valgrind to detect undefined value errors with bit-precision" (2005). A
thread outside of a matrix may well add up what stands beside its tile, as long as it stores nothing. So a read of
unwritten memory is a finding only when the number decides something: an index, a branch, a vote, a store to global
memory, an atomic operation. Stored in shared or local memory, it makes that element unwritten again.
"""

import ast
import weakref

import numpy as np

from course_lib.simt.findings import element, index_in

MOST_FOLLOWED = 10_000
"""Values of one statement that are remembered with what they were computed from."""

SINKS = ("cuda.syncthreads_", "cuda.ballot", "cuda.all_", "cuda.any_", "cuda.eq_", "cuda.match_", "print")
SINKS += ("range", "intrinsic.mma", "intrinsic.ldmatrix")
"""Functions, by the beginning of their names, that do something with every number they are given."""


class Unwritten:
    """The reads of unwritten elements of one array in one line: for each lane the first one, and how many.

    Source: the course's own.
    """

    def __init__(self, function, line, view, count):
        self.function, self.line, self.name, self.memory = function, line, view.name, view.memory
        self.cell, self.phase, self.reads = np.zeros(count, np.int64), np.zeros(count, np.int32), np.zeros(count, int)
        self.turn, self.turns = np.zeros(count, np.int64), 0

    def add(self, lanes, cells, phase):
        """Enter that lanes[i] reads cells[i]."""
        self.turns += 1
        new = self.reads[lanes] == 0
        first = lanes[new]
        self.cell[first], self.phase[first], self.turn[first] = cells[new], phase[first], self.turns
        self.reads[lanes] += 1


class Undefined:
    """The part of a `Machine` that follows numbers from unwritten memory.

    `undefined` has an entry for each vector over lanes that has such a number: {Unwritten: for each lane the lane
    that read it, plus one, or 0}. It is empty in nearly every launch. `trail` has the values with such a number that
    the expressions of the current statement gave, each with its lanes.

    Source: the course's own.
    """

    def follow_nothing(self):
        """Begin a batch of blocks."""
        self.undefined, self.trail, self.unwritten = {}, [], {}

    # ------------------------------------------------------------------------------------------- reading and writing

    def _read_unwritten(self, value, view, cells, mask, node, missing):
        """Remember of a vector that lanes of a mask read it from `cells`, and that `missing` of these are unwritten."""
        lanes = np.arange(self.lanes.count)[mask.index][missing]
        cells, parts, memory = cells[missing], {}, view.memory
        fresh = np.ones(lanes.size, np.bool_)
        for unwritten, who in (memory.tainted or {}).items():
            own = who[cells]
            if own.any():
                parts[unwritten] = self._over(lanes, own)
                fresh &= own == 0
        if fresh.any():
            key = self.function, node.lineno, view.name
            if key not in self.unwritten:
                self.unwritten[key] = Unwritten(*key[:2], view, self.lanes.count)
            self.unwritten[key].add(lanes[fresh], cells[fresh], self.phase)
            parts[self.unwritten[key]] = self._over(lanes[fresh], lanes[fresh] + 1)
        self._enter_undefined(value, parts)
        self.trail.append((value, mask))

    def _over(self, lanes, numbers):
        out = np.zeros(self.lanes.count, np.int64)
        out[lanes] = numbers
        return out

    def _store_undefined(self, view, cells, value, mask):
        """A number from unwritten memory is used in global memory; elsewhere its element becomes unwritten."""
        parts, memory = self._parts(value), view.memory
        if memory.space == "global":
            self.use(value, mask)
            return
        if not parts:
            return
        memory.tainted = memory.tainted or {}
        bad = np.zeros(cells.size, np.bool_)
        for unwritten in {**memory.tainted, **parts}:
            own = parts[unwritten][mask.index] if unwritten in parts else np.zeros(cells.size, np.int64)
            memory.tainted.setdefault(unwritten, np.zeros(memory.cells.size, np.int64))[cells] = own
            bad |= own > 0
        if bad.any():
            memory.written[cells[bad]] = False
            for other in (memory, *(v.memory for v in self.shared.values())):
                if other.written is memory.written:
                    other.all_written = False

    # ------------------------------------------------------------------------------------------- computing

    def _parts(self, value):
        entry = self.undefined.get(id(value)) if type(value) is np.ndarray else None
        return entry[1] if entry else {}

    def _enter_undefined(self, value, parts):
        if type(value) is np.ndarray and value.ndim:
            book, key = self.undefined, id(value)
            book[key] = weakref.ref(value, lambda _: book.pop(key, None)), parts

    def is_undefined(self, value):
        """Return whether a lane's number in a value, or in a part of a tuple, comes from unwritten memory."""
        return any(map(self.is_undefined, value)) if isinstance(value, tuple) else bool(self._parts(value))

    def follow(self, value, sources):
        """Enter that a value, or a tuple of them, was computed from [(value, its lanes)], if nothing is known of it."""
        if isinstance(value, tuple):
            for part in value:
                self.follow(part, sources)
        elif id(value) not in self.undefined:
            parts = {}
            for source, mask in sources:
                for one in source if isinstance(source, tuple) else [source]:
                    for unwritten, who in self._parts(one).items():
                        own = who if mask is None or mask.bits is None else np.where(mask.bits, who, 0)
                        parts[unwritten] = np.maximum(parts[unwritten], own) if unwritten in parts else own
            if any(who.any() for who in parts.values()):
                self._enter_undefined(value, parts)

    def follow_merge(self, value, old, new, mask):
        """Enter that a value is `new` in the lanes of a mask and `old` in the others."""
        if isinstance(value, tuple):
            for part, before, after in zip(value, old, new, strict=True):
                self.follow_merge(part, before, after, mask)
        elif value is not old and value is not new and mask.bits is not None:
            before, after = self._parts(old), self._parts(new)
            parts = {u: np.where(mask.bits, after.get(u, 0), before.get(u, 0)) for u in {**before, **after}}
            self._enter_undefined(value, {u: who for u, who in parts.items() if who.any()})

    def follow_lanes(self, value, source, lanes):
        """Enter that each lane has the number that lane lanes[i] has in `source`."""
        self._enter_undefined(value, {u: who[lanes] for u, who in self._parts(source).items()})

    def follow_expression(self, node, value, mask, start):
        """Enter what an expression gave: it was computed from what is in the trail from `start` on."""
        sources = self.trail[start:]
        del self.trail[start:]
        if not isinstance(node, ast.Subscript | ast.Name | ast.Tuple):  # of these it is known already
            self.follow(value, sources)
        if self.is_undefined(value) and len(self.trail) < MOST_FOLLOWED:
            self.trail.append((value, mask))

    def is_final(self, value):
        """Enter that all is known of a value: what a function returns hangs on nothing but that."""
        for part in value if isinstance(value, tuple) else [value]:
            if id(part) not in self.undefined:
                self._enter_undefined(part, {})

    # ------------------------------------------------------------------------------------------- findings

    def use(self, value, mask):
        """Something hangs on a value in the lanes of a mask: numbers from unwritten memory are a finding now."""
        for part in value if isinstance(value, tuple) else [value]:
            for unwritten, who in self._parts(part).items():
                used = np.unique(who[mask.index])
                self._tell(unwritten, used[used > 0] - 1, "error")
        if self.trail and self.trail[-1][0] is value:
            self.trail.pop()

    def use_all(self, path, values, mask):
        """A function got some values: a vote or a print uses them."""
        if path.startswith(SINKS):
            for value in values:
                self.use(value, mask)

    def tell_unused(self):
        """At the end of a batch: what was read and never used is advice."""
        for unwritten in self.unwritten.values():
            known = ("unwritten memory", unwritten.function, unwritten.line, unwritten.name, "error") in self.hazards
            self._tell(unwritten, np.flatnonzero(unwritten.reads), "advice" if not known else None)
        self.follow_nothing()

    def _tell(self, unwritten, lanes, severity):
        lanes = lanes[unwritten.reads[lanes] > 0]
        if not lanes.size:
            return
        lane, count = int(lanes[np.argmin(unwritten.turn[lanes])]), int(unwritten.reads[lanes].sum())
        unwritten.reads[lanes] = 0
        if severity is None:
            return
        memory, now = unwritten.memory, (self.function, self.phase)
        self.function, self.phase = unwritten.function, unwritten.phase
        index = index_in(memory, unwritten.cell[lane])
        fix = (
            "The number is not used, so nothing depends on it; write before you read all the same, or guard the read."
            if severity == "advice" else
            "Write it before: gpu.empty gives an array with whatever was there." if memory.space == "global" else
            f"{memory.space.capitalize()} memory begins with whatever was there: write before you read."
        )  # fmt: skip
        try:
            self.found(
                "unwritten memory", unwritten.line,
                f"{self.lanes.name(lane)} reads {element(unwritten.name, index)}, which nobody has written yet.", fix,
                array=unwritten.name, lane=lane, count=count, index=index, severity=severity,
            )  # fmt: skip
        finally:
            self.function, self.phase = now
