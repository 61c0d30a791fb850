"""Which elements of an array the lanes mean with their indices, and the finding where there is no such element.

Source: Numba's documentation, "Memory management" (arrays on a device have strides; an index below 0 counts from the
end). A GPU does not look whether an index is inside: it touches whatever lies there.
"""

import numpy as np

from course_lib.simt.masks import Mask
from course_lib.simt.memory import step

NO_OFFSET = np.zeros(0, np.int64)
MOST_PLACES = 64
"""Places in the text whose last cells are kept."""


class Place:
    """The cells that an access means, up to a shift that is the same in all lanes, and what is known of them.

    A loop that goes on with `tile[row, k]` means the same cells in each turn, k further on: `row` is the same vector,
    and no vector is ever changed. So the cells, and what they cost, are computed once.

    Attributes
    ----------
    cells : (active lanes,) int64 array
        The lowest is 0.
    stay : Mask
        The lanes that have a cell; lanes with an index out of bounds have none.
    base : int
        The shift without the indices that are the same in all lanes.

    Source: the course's own.
    """

    __slots__ = ("base", "cells", "costs", "every", "indices", "marked", "mask", "rows", "stay", "view")

    def __init__(self, view, indices, mask, cells, base, stay):
        self.view, self.indices, self.mask = view, indices, mask
        self.cells, self.base, self.stay = cells, base, stay
        self.every, self.costs, self.marked, self.rows = None, {}, {}, {}

    def shift(self, view, indices, mask):
        """Return how far on the cells of an access lie, or -1 if they are other cells, or not all inside."""
        if self.mask.bits is not mask.bits or not _same_view(self.view, view):
            return -1
        shift = self.base
        for k, index in enumerate(indices):
            vector = self.indices[k]
            if vector is None:
                if index.ndim or not 0 <= index < view.shape[k]:
                    return -1
                shift += int(index) * view.strides[k]
            elif vector is not index:
                return -1
        return shift

    def over_lanes(self):
        """Return the cells as a vector over all lanes; lanes that have none get 0."""
        if self.stay.bits is None:
            return self.cells
        if self.every is None:
            self.every = np.zeros(self.stay.lanes.count, np.int64)
            self.every[self.stay.index] = self.cells
        return self.every


def _same_view(a, b):
    if a is b:
        return True
    if a.memory is not b.memory or a.offset is not b.offset or a.strides != b.strides:
        return False
    return all(type(m) is int and type(n) is int and m == n for m, n in zip(a.shape, b.shape, strict=True))


class Places:
    """The part of a `Machine` that turns indices into cells of a memory. Source: the course's own."""

    def active(self, value, mask):
        """Return an array with the number that each active lane has."""
        if np.ndim(value) == 0:
            return np.full(mask.count, value)
        return value if mask.bits is None else value[mask.index]

    def _place(self, view, indices, mask, node):
        """Return (the Place of an access, its shift): out of bounds is a finding.

        Lanes with an index out of bounds touch nothing, and leave the mask of this access.
        """
        if self.undefined:
            self.use(tuple(indices), mask)
        if view.there is not None:
            mask = mask.where(view.there)
        known = self.places.get(id(node))
        if known is not None:
            shift = known.shift(view, indices, mask)
            if shift >= 0:
                return known, shift
        offset, shift, vectors = NO_OFFSET, 0, []
        inside, regular = None, True
        if np.ndim(view.offset):
            offset = self.active(view.offset, mask).astype(np.int64, copy=False)
        else:
            shift = int(view.offset)
        base = shift
        for axis, index in enumerate(indices):
            size, stride = view.shape[axis], view.strides[axis]
            if np.ndim(size):  # a slice that has another length in each thread
                offset, inside = self._own_sizes(view, axis, index, offset, inside, mask, node)
                regular = False
                continue
            if np.ndim(index) == 0 and 0 <= index < size:  # the same in all lanes
                shift += int(index) * stride
                vectors.append(None)
                continue
            vectors.append(index)
            index = self.active(index, mask).astype(np.int64, copy=False)
            offset, outside, negative, n = step(offset, 0, index, size, stride)
            if outside >= 0:
                self._bad_index("out of bounds", view, axis, int(index[outside]), mask, outside, node, n)
                good = (index >= -size) & (index < size)
                inside = good if inside is None else inside & good
            elif negative >= 0:
                self._bad_index("negative index", view, axis, int(index[negative]), mask, negative, node, n)
            regular &= outside < 0 and negative < 0
        if not offset.size:
            offset = np.zeros(mask.count, np.int64)
        stay = mask
        if inside is not None:
            bits = np.zeros(self.lanes.count, np.bool_)
            bits[np.arange(self.lanes.count)[mask.index][inside]] = True
            offset, stay = offset[inside], Mask(self.lanes, bits)
        lowest = int(offset.min()) if offset.size else 0
        if lowest:
            offset = offset - lowest
        place = Place(view, vectors, mask, offset, base + lowest, stay)
        if regular:
            if len(self.places) >= MOST_PLACES:
                self.places.clear()
            self.places[id(node)] = place
        return place, shift + lowest

    def _own_sizes(self, view, axis, index, offset, inside, mask, node):
        """Return (offset, lanes inside) after an axis whose size is a number per lane."""
        index, size = self.active(index, mask).astype(np.int64, copy=False), self.active(view.shape[axis], mask)
        good = (index >= -size) & (index < size)
        for kind, wrong in (("out of bounds", ~good), ("negative index", good & (index < 0))):
            if wrong.any():
                at = int(wrong.argmax())
                self._bad_index(kind, view, axis, int(index[at]), mask, at, node, np.count_nonzero(wrong))
        if not good.all():
            inside = good if inside is None else inside & good
        step = np.where(index < 0, index + size, index) * view.strides[axis]
        return (offset if offset.size else 0) + step, inside

    def _bad_index(self, kind, view, axis, index, mask, at, node, count):
        lane, size = self.lane_of(mask, at), view.shape[axis]
        size = int(size[lane]) if np.ndim(size) else size
        where = f"axis {axis} of {view.name}" if view.ndim > 1 else view.name
        if kind == "out of bounds":
            last = f"(0 to {size - 1})" if size else "(none)"
            message = f"{self.lanes.name(lane)} uses index {index} on {where}, which has {size} elements {last}."
            bound = f"{view.name}.shape[{axis}]" if view.ndim > 1 else f"{view.name}.size"
            guard = "0 <= ..." if index < 0 else "..."
            fix = f"Guard the line: if {guard} < {bound}. A GPU would touch something else, without a word."
        else:
            message = f"{self.lanes.name(lane)} uses index {index} on {where}: it counts from the end, element "
            message += f"{index + size}."
            fix = "If that is not what you mean, guard the index from below as well: if 0 <= index."
        ring = kind == "negative index" and self.source.text.wraps(node, axis)
        self.found(
            kind, node.lineno, message, fix, array=view.name, lane=lane, count=count, index=index, axis=axis, size=size,
            severity="advice" if ring else "error",
        )  # fmt: skip
