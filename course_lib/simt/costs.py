"""What an access costs: requests, sectors, bank conflicts, by line; and what each array and each place in the text did.

Source: NVIDIA, "CUDA C++ Programming Guide", "Device Memory Accesses" and "Shared Memory".
"""

import numpy as np

from course_lib.simt.counters import Access, ArrayUse
from course_lib.simt.traffic import SECTOR, WORD, distinct_and_most, global_traffic, shared_traffic

MOST_PLACES = 256
"""Places in the text of which the first access is kept."""


MOST_SHIFTS = 1024
"""Shifts of a place of which it is remembered that its elements are marked."""


class Costs:
    """The part of a `Machine` that counts accesses. Source: the course's own."""

    def _enter(self, way, view, place, shift, node, width=1):
        """Count one access of the active lanes, and keep the first one of each place in the text.

        A wide access touches `width` elements from each cell on, as one request: it counts as one of larger elements.
        """
        if not self.counting:
            return
        memory, mask, c = view.memory, place.stay, self.counters[node.lineno]
        if self.worked is not None and memory.space != "local":
            self.note_work(place.mask)
        c.instructions += mask.warps
        c.lanes += mask.count
        self._use(way, memory, place, shift, width)
        traffic = self._traffic(way, memory, place, shift, width)
        if way == "atomic":
            requests, _, rounds = traffic
            c.atomic_requests += requests
            c.atomic_serialised += rounds - requests
        elif memory.space == "global":
            self._count_global(c, way, traffic, view, node)
        elif memory.space == "shared":
            size = view.dtype.itemsize * width if memory.split == 1 else 1
            self._count_shared(c, way, traffic, size, view, node)
        elif memory.space == "constant":
            requests, distinct, _ = traffic
            c.constant_load_requests += requests
            c.constant_load_wavefronts += distinct
        elif way == "load":
            c.local_load_requests += mask.warps * memory.split
        else:
            c.local_store_requests += mask.warps * memory.split
        if self.watch and memory.space == "global":
            index = mask.index
            self.watch.note(
                way, memory, place.cells + shift, self.lanes.warp[index], self.lanes.lane[index],
                view.dtype.itemsize * width,
            )  # fmt: skip
        if self.lanes.first == 0:
            key = (self.function, node.lineno, node.col_offset, view.name, way)
            if key not in self.accesses and len(self.accesses) < MOST_PLACES:
                self._keep(key, view, place.cells + shift, mask, width)

    def note_work(self, mask):
        """Enter, once for a mask, that its threads touched memory: the others are those that a guard kept out."""
        if not mask.noted:
            mask.noted = True
            first = self.lanes.first * self.threads
            self.worked[first : first + self.lanes.count][mask.index] = True

    def keep_first(self, key, view, cells, mask):
        """Keep an access to `cells` by the lanes of a mask, if it is the first one of its place."""
        if key not in self.accesses and len(self.accesses) < MOST_PLACES:
            self._keep(key, view, cells, mask, 1)

    def _traffic(self, way, memory, place, shift, width):
        """Return what the loops of `traffic` count, once for a place and what its shift means to the hardware.

        All lanes shifted by whole sectors touch as many sectors; by whole words, as many banks.
        """
        if way != "atomic" and memory.space == "local":
            return None
        grain = 1 if way == "atomic" else {"global": SECTOR, "shared": WORD}.get(memory.space, 1)
        key = way == "atomic", width, shift * memory.pitch % grain
        if key not in place.costs:
            cells, part, size = place.cells + shift, memory.part if memory.copies > 1 else 0, memory.dtype.itemsize
            if width > 1:
                part, cells = _larger_elements(cells, part, width)
            lies = (memory.base, part, size * width, memory.pitch * width)
            warp = self.lanes.warp[place.stay.index]
            if way == "atomic" or memory.space == "constant":
                place.costs[key] = distinct_and_most(warp, cells, *lies)
            elif memory.space == "global":
                place.costs[key] = global_traffic(warp, cells, *lies)
            else:
                place.costs[key] = shared_traffic(warp, self.lanes.lane[place.stay.index], cells, *lies)
            if memory.split > 1 and way != "atomic":  # byte by byte: as many requests, each of the same sectors
                requests, moved, *used = place.costs[key]
                place.costs[key] = requests * memory.split, moved * memory.split, *used
        return place.costs[key]

    def _use(self, way, memory, place, shift, width):
        if not memory.loaded.size:
            return
        if way != "store":
            memory.loads += width * place.cells.size
            self._mark(memory.loaded, place, shift, width)
        if way != "load":
            memory.stores += width * place.cells.size
            self._mark(memory.stored, place, shift, width)

    def _mark(self, marks, place, shift, width):
        """Enter once for a place and a shift which elements were touched, as long as there are some that were not."""
        if marks.full:
            return
        done = place.marked.setdefault(id(marks), set())
        for k in range(shift, shift + width):
            if k not in done:
                if len(done) == MOST_SHIFTS:
                    done.clear()
                done.add(k)
                marks.enter(place.cells, k)

    def _count_global(self, c, way, traffic, view, node):
        requests, sectors, used = traffic
        if way == "load":
            c.global_load_requests += requests
            c.global_load_sectors += sectors
            c.global_load_bytes += used
        else:
            c.global_store_requests += requests
            c.global_store_sectors += sectors
            c.global_store_bytes += used
        self._add_site(way, view, node, requests, sectors, used)

    def _count_shared(self, c, way, traffic, size, view, node):
        requests, wavefronts = traffic
        conflicts = max(0, wavefronts - requests * max(1, size // 4))
        if way == "load":
            c.shared_load_requests += requests
            c.shared_load_wavefronts += wavefronts
            c.shared_load_conflicts += conflicts
        else:
            c.shared_store_requests += requests
            c.shared_store_wavefronts += wavefronts
            c.shared_store_conflicts += conflicts
        self._add_site(way, view, node, requests, conflicts, 0)

    def _add_site(self, way, view, node, requests, cost, used):
        """Add up what one array costs in one line: advice names both."""
        key = (self.function, node.lineno, view.name, view.memory.space, way)
        site = self.sites.setdefault(key, [0, 0, 0])
        site[0] += requests
        site[1] += cost
        site[2] += used

    def _keep(self, key, view, cells, mask, width):
        first = int(np.searchsorted(self.lanes.block[mask.index], 1))
        memory, wide = view.memory, width > 1
        odd = memory.base % memory.dtype.itemsize or memory.pitch % memory.dtype.itemsize  # a field out of step
        if first and not odd and not (wide and (not memory.shape or memory.shape[-1] % width)):  # else it has no map
            index, cells = memory.index_of(cells[:first]), cells[:first]
            elements = np.ravel_multi_index(index, memory.shape) if index else np.zeros(first, np.int64)
            shape = (*memory.shape[:-1], memory.shape[-1] // width) if wide else memory.shape
            address = memory.base + (cells % memory.part if memory.copies > 1 else cells) * memory.pitch
            function, line, column, name, way = key
            thread = self.lanes.thread[mask.index][:first].astype(np.int64)
            self.accesses[key] = Access(
                function, line, column, name, memory.space, way, shape, memory.dtype.itemsize * width,
                self.lanes.block_dim, thread, elements.astype(np.int64) // width, address,
            )  # fmt: skip

    def collect_uses(self, memories):
        """Add up how often arrays were touched."""
        for memory in memories:
            use = self.uses.setdefault(
                memory.name, ArrayUse(memory.name, memory.space, str(memory.dtype), tuple(memory.shape))
            )
            use.loads += memory.loads
            use.stores += memory.stores
            use.distinct_loaded += memory.loaded.count
            use.distinct_stored += memory.stored.count


def _larger_elements(cells, part, width):
    """Return (part, cells) counted in elements that are `width` times as large; each part begins with one."""
    if not part:
        return 0, cells // width
    larger = -(-part // width)
    return larger, cells // part * larger + cells % part // width
