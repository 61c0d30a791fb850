"""What the lanes of a trace read and wrote in a statement, and what changed in the shared memory of their block.

Source: the course's own. Elements are numbered row by row, whatever their array's strides are.
"""

import numpy as np

from course_lib.simt.lanes import WARP
from course_lib.simt.trace.lane_states import in_slice
from course_lib.simt.trace.packing import packed
from course_lib.simt.traffic import global_traffic, shared_traffic


class Touch:
    """One access of some lanes to elements of a memory; `width` of them each, if it is a wide one.

    Source: the course's own.
    """

    def __init__(self, way, memory, lanes, cells, width, cost):
        self.way, self.memory, self.width, self.cost = way, memory, width, cost
        self.lanes = np.repeat(lanes, width)
        self.cells = (cells[:, None] + np.arange(width)).ravel()
        self.values = memory.cells[self.cells] if way == "load" else None
        self.parts = []

    @property
    def size(self):
        """Numbers that it takes to write it down."""
        return 3 * self.cells.size

    def plain(self, touches):
        """Return it as JSON can hold it."""
        if self.values is None and len(self.parts) == self.width:
            self.values = np.stack(self.parts, 1).ravel()
        out = {"a": touches.number_of(self.memory), "way": self.way, "at": packed(_flat(self.memory, self.cells))}
        out["who"] = packed(self.lanes)
        if self.values is not None:
            out["v"] = packed(self.values)
        if self.cost is not None:
            out["cost"] = self.cost
        return out


class Touches:
    """The accesses of the statement in progress. Source: the course's own."""

    def __init__(self, machine, lanes, block):
        self.machine, self.lanes, self.block = machine, lanes, block
        self.now, self.arrays, self.shared, self.last = [], [], {}, None

    def enter(self, way, memory, cells, mask, width):
        """Enter an access of the lanes of a mask: lane number i touches cells[i]."""
        part, who = in_slice(mask, self.lanes)
        self.last = memory, cells, mask
        if who.size:
            cost = self._cost(way, memory, who, cells[part], width)
            self.now.append(Touch(way, memory, who, cells[part], width, cost))

    def _cost(self, way, memory, who, cells, width):
        """Return the sectors of a global access, the rounds of a shared one; None where nothing is counted."""
        if way == "atomic" or memory.space not in ("global", "shared") or memory.split > 1 or width > 1:
            return None
        lies = (memory.base, memory.part if memory.copies > 1 else 0, memory.dtype.itemsize, memory.pitch)
        warp, lane = (who // WARP).astype(np.int32), (who % WARP).astype(np.int32)
        if memory.space == "global":
            return int(global_traffic(warp, cells, *lies)[1])
        return int(shared_traffic(warp, lane, cells, *lies)[1])

    def wrote(self, memory, cells, values, mask):
        """Enter that lane number i of a mask wrote values[i] to cells[i]."""
        part, who = in_slice(mask, self.lanes)
        open_ = next((t for t in self.now if t.memory is memory and t.way == "store" and len(t.parts) < t.width), None)
        if who.size and open_ is not None and who.size * open_.width == open_.lanes.size:
            open_.parts.append(np.asarray(values)[part])
        if memory.space == "shared":
            self._changed_in_block(memory, cells, mask)

    def changed(self, memory, old):
        """Enter what an atomic operation gave the lanes, the old numbers; it is the last access that was entered."""
        _, cells, mask = self.last
        if self.now and self.now[-1].memory is memory and self.now[-1].way == "atomic":
            self.now[-1].values = old[self.lanes][self.now[-1].lanes]
        if memory.space == "shared":
            self._changed_in_block(memory, cells, mask)

    def _changed_in_block(self, memory, cells, mask):
        part, threads = in_slice(mask, self.block)
        known = self.shared.setdefault(id(memory), (memory, {}))[1]
        known.update(zip(cells[part].tolist(), threads.tolist(), strict=True))

    def taken(self):
        """Return the accesses so far, and forget them."""
        taken, self.now = self.now, []
        return taken

    def shared_changes(self):
        """Return what the block's threads wrote to shared arrays since the last call, and who."""
        found = []
        for memory, writers in self.shared.values():
            if writers:
                cells = np.array(sorted(writers))
                found.append({
                    "a": self.number_of(memory), "at": packed(_flat(memory, cells)),
                    "v": packed(memory.cells[cells]), "by": packed([writers[c] for c in cells.tolist()]),
                })  # fmt: skip
        self.shared = {}
        return found

    def number_of(self, memory):
        """Return the number of a memory in the list of arrays."""
        for i, known in enumerate(self.arrays):
            if known is memory:
                return i
        self.arrays.append(memory)
        return len(self.arrays) - 1

    def table(self):
        """Return the arrays as JSON can hold them, no two of one name."""
        found, names = [], {}
        for memory in self.arrays:
            names[memory.name] = times = names.get(memory.name, 0) + 1
            name = memory.name if times == 1 else f"{memory.name} ({times})"
            size = memory.dtype.itemsize
            found.append({"name": name, "space": memory.space, "shape": list(memory.shape), "dtype": memory.dtype.name,
                          "bank": memory.base // 4 % 32 if memory.space == "shared" else 0, "bytes": size})  # fmt: skip
        return found


def _flat(memory, cells):
    """Return which elements of an array lie in cells, counted row by row."""
    if not memory.shape:
        return np.zeros(cells.size, np.int64)
    index = memory.index_of(cells)
    return np.ravel_multi_index(tuple(np.asarray(i, np.int64) for i in index), memory.shape)
