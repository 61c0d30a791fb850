"""Accesses of 8 and 16 bytes, and asynchronous copies: one request for several neighbouring elements.

Source: NVIDIA, "CUDA C++ Programming Guide", "Device Memory Accesses" (size and alignment); "PTX ISA", "cp.async".
Indices are flat, as the machine's are: elements of an array that lies row by row without gaps.
"""

import numpy as np

from course_lib.simt.access import MemoryAccess
from course_lib.simt.masks import Mask
from course_lib.simt.memory import View, row_major
from course_lib.simt.places import Place
from course_lib.simt.races import CHANGED
from course_lib.simt.values import cast, describe, is_number


class WideAccess(MemoryAccess):
    """The part of a `Machine` that touches several elements at once. Source: the course's own."""

    def load_wide(self, view, index, width, mask, node):
        """Return `width` vectors over lanes: the elements from flat `index` on."""
        cells, mask = self._first_cells(view, index, width, mask, node)
        self._enter("load", view, _at(view, cells, mask), 0, node, width)
        return tuple(self._read(view, cells + k, mask, node) for k in range(width))

    def _read(self, view, cells, mask, node):
        self._note_reads(view, cells, 0, mask, node)
        out = np.zeros(self.lanes.count, view.dtype)
        out[mask.index] = view.memory.cells[cells]
        if not view.memory.all_written:
            self._look_for_unwritten(out, view, cells, mask, node)
        return out

    def store_wide(self, view, index, values, mask, node):
        """Write the values, one vector for each element, from flat `index` on."""
        self._check_writable(view, node)
        width = len(values)
        cells, mask = self._first_cells(view, index, width, mask, node)
        self._enter("store", view, _at(view, cells, mask), 0, node, width)
        for k, value in enumerate(values):
            self._write(view, cells + k, self.active(cast(value, view.dtype), mask), mask, node)
            if self.undefined:
                self._store_undefined(view, cells + k, value, mask)

    def copy_async(self, to, i, view, j, width, count, mask, node):
        """Begin to copy `count` of `width` elements from view.flat[j] to to.flat[i]; zeros fill the rest."""
        if not isinstance(to, View) or to.memory.space != "shared":
            raise TypeError("it copies into shared memory: its first argument is a shared array")
        if not isinstance(view, View) or view.memory.space != "global":
            raise TypeError("it copies from global memory: its third argument is an array of the launch")
        count = np.broadcast_to(count, self.lanes.count)
        if not mask.empty and not ((count[mask.index] >= 0) & (count[mask.index] <= width)).all():
            raise TypeError(f"the number of elements to copy must lie in 0 to {width}")
        values = np.zeros((self.lanes.count, width), to.dtype)
        reads = mask.where(count > 0)
        if not reads.empty:
            cells, some = self._first_cells(view, j, width, reads, node, count)
            self._enter("load", view, _at(view, cells, some), 0, node, width)
            lane = np.arange(self.lanes.count)[some.index]
            for k in range(width):
                there = count[lane] > k
                if there.any():
                    bits = np.zeros(self.lanes.count, np.bool_)
                    bits[lane[there]] = True
                    values[:, k] = number = self._read(view, cells[there] + k, Mask(self.lanes, bits), node)
                    self.use(number, mask)
        cells, mask = self._first_cells(to, i, width, mask, node)
        self._enter("store", to, _at(to, cells, mask), 0, node, width)
        if to.memory.shadow and self.races:  # from now on nobody else may touch it
            for k in range(width):
                self._note_writes(to, cells + k, mask, np.full(cells.size, CHANGED, np.int8), node)
        lane = np.arange(self.lanes.count)[mask.index]
        self.copies.ask(to, lane, cells, values[lane])

    def wait_async(self, newest, mask, node):
        """Let the copies of all groups but the `newest` arrive."""
        for view, lane, cells, values in self.copies.arrived(mask, newest):
            bits = np.zeros(self.lanes.count, np.bool_)
            bits[lane] = True
            order = np.argsort(lane, kind="stable")
            for k in range(values.shape[1]):
                self._write(view, cells[order] + k, values[order, k], Mask(self.lanes, bits), node)

    def _first_cells(self, view, index, width, mask, node, count=None):
        """Return (cell of each lane's first element, the lanes that stay); outside or misaligned is a finding."""
        if not isinstance(view, View):
            raise TypeError(f"{describe(view)} is no array")
        if not is_number(index) or index.dtype.kind not in "iu":
            raise TypeError(f"{describe(index)} is no whole number")
        steps = zip(view.strides, row_major(view.shape), view.shape, strict=True)
        if any(step != whole for step, whole, size in steps if size > 1):
            raise TypeError(f"{view.name} does not lie row by row without gaps; its index would be flat")
        if self.undefined:
            self.use((index, count), mask)
        index = self.active(index, mask).astype(np.int64, copy=False)
        needed = width if count is None else count[mask.index]
        good = (index >= 0) & (index + needed <= view.size)
        if not good.all():
            self._outside(view, index, width, mask, node, int(np.argmin(good)), int(np.count_nonzero(~good)))
        offset = self.active(view.offset, mask).astype(np.int64, copy=False)
        cells = offset + index
        self._check_promised(view, width * view.dtype.itemsize, node)
        part = view.memory.part if view.memory.copies > 1 else 0
        within = cells % part if part else cells
        size = width * view.dtype.itemsize
        fits = (view.memory.base + within * view.dtype.itemsize) % size == 0
        if not (fits | ~good).all():
            at = int(np.argmin(fits | ~good))
            lane = self.lane_of(mask, at)
            self.found(
                "misaligned", node.lineno,
                f"{self.lanes.name(lane)} touches {size} bytes at once from {view.name}[{index[at]}] on, counted flat, "
                f"at an address that is no multiple of {size}.",
                f"Use an index that is a multiple of {width}, in an array that begins at such an address: pad its "
                "rows, or take single elements. A GPU stops the kernel there.", array=view.name, lane=lane,
                count=int(np.count_nonzero(~(fits | ~good))), index=int(index[at]),
            )  # fmt: skip
            good &= fits
        if good.all():
            return cells, mask
        stay = np.zeros(self.lanes.count, np.bool_)
        stay[np.arange(self.lanes.count)[mask.index][good]] = True
        return cells[good], Mask(self.lanes, stay)

    def _check_promised(self, view, size, node):
        """A shared or local array begins where the compiler likes, unless its alignment is written down."""
        if view.memory.space in ("shared", "local") and view.memory.alignment < size:
            self.found(
                "misaligned", node.lineno,
                f"{view.name} is touched {size} bytes at once, and begins at a multiple of {view.memory.alignment} "
                "bytes only, for all that is promised.",
                f"Write alignment={size} where it is made: cuda.{view.memory.space}.array(..., alignment={size}).",
                array=view.name,
            )  # fmt: skip

    def _outside(self, view, index, width, mask, node, at, count):
        lane = self.lane_of(mask, at)
        self.found(
            "out of bounds", node.lineno,
            f"{self.lanes.name(lane)} touches {width} elements from flat index {index[at]} of {view.name} on, which "
            f"has {view.size} elements.",
            f"Guard the line: if 0 <= i and i + {width} <= {view.name}.size. A GPU would touch something else, without "
            "a word.", array=view.name, lane=lane, count=count, index=int(index[at]), size=view.size,
        )  # fmt: skip


def _at(view, cells, mask):
    return Place(view, (), mask, cells, 0, mask)
