"""What an access costs: requests, sectors, bank conflicts, by line; and what each array and each place in the text did.

Source: NVIDIA, "CUDA C++ Programming Guide", "Device Memory Accesses" and "Shared Memory".
"""

import numpy as np

from course_lib.simt.counters import Access, ArrayUse
from course_lib.simt.traffic import distinct_and_most, global_traffic, mark, shared_traffic

MOST_PLACES = 256
"""Places in the text of which the first access is kept."""


class Costs:
    """The part of a `Machine` that counts accesses. Source: the course's own."""

    def _enter(self, way, view, cells, mask, node, width=1):
        """Count one access of the active lanes, and keep the first one of each place in the text.

        A wide access touches `width` elements from each cell on, as one request: it counts as one of larger elements.
        """
        if not self.counting:
            return
        memory, c = view.memory, self.counters[node.lineno]
        c.instructions += mask.warps
        c.lanes += mask.count
        for k in range(width):
            self._use(way, memory, cells + k if k else cells)
        warp, first = self.lanes.warp[mask.index], cells
        part, size = memory.part if memory.copies > 1 else 0, view.dtype.itemsize * width
        if width > 1:
            part, cells = _larger_elements(cells, part, width)
        lies = (memory.base, part, size, memory.pitch * width)
        if way == "atomic":
            requests, _, rounds = distinct_and_most(warp, cells, *lies)
            c.atomic_requests += requests
            c.atomic_serialised += rounds - requests
        elif memory.space == "global":
            self._count_global(c, way, global_traffic(warp, cells, *lies), view, node)
        elif memory.space == "shared":
            traffic = shared_traffic(warp, self.lanes.lane[mask.index], cells, *lies)
            self._count_shared(c, way, traffic, size, view, node)
        elif memory.space == "constant":
            requests, distinct, _ = distinct_and_most(warp, cells, *lies)
            c.constant_load_requests += requests
            c.constant_load_wavefronts += distinct
        elif way == "load":
            c.local_load_requests += mask.warps
        else:
            c.local_store_requests += mask.warps
        key = (self.function, node.lineno, node.col_offset, view.name, way)
        if key not in self.accesses and self.lanes.first == 0 and len(self.accesses) < MOST_PLACES:
            self._keep(key, view, first, mask, width)

    def _use(self, way, memory, cells):
        if memory.loaded.size:
            if way != "store":
                memory.loads += cells.size
                mark(cells, memory.loaded)
            if way != "load":
                memory.stores += cells.size
                mark(cells, memory.stored)

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
        memory = view.memory
        wide = width > 1
        if first and not (wide and (not memory.shape or memory.shape[-1] % width)):  # else it has no map
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
            use.distinct_loaded += int(np.count_nonzero(memory.loaded))
            use.distinct_stored += int(np.count_nonzero(memory.stored))


def _larger_elements(cells, part, width):
    """Return (part, cells) counted in elements that are `width` times as large; each part begins with one."""
    if not part:
        return 0, cells // width
    larger = -(-part // width)
    return larger, cells // part * larger + cells % part // width
