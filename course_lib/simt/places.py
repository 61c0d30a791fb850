"""Which elements of an array the lanes mean with their indices, and the finding where there is no such element.

Source: Numba's documentation, "Memory management" (arrays on a device have strides; an index below 0 counts from the
end). A GPU does not look whether an index is inside: it touches whatever lies there.
"""

import numpy as np

from course_lib.simt.masks import Mask
from course_lib.simt.memory import step

NO_OFFSET = np.zeros(0, np.int64)


class Places:
    """The part of a `Machine` that turns indices into cells of a memory. Source: the course's own."""

    def active(self, value, mask):
        """Return an array with the number that each active lane has."""
        if np.ndim(value) == 0:
            return np.full(mask.count, value)
        return value if mask.bits is None else value[mask.index]

    def _cells(self, view, indices, mask, node):
        """Return (the memory's cells that the active lanes mean, the lanes that stay): out of bounds is a finding.

        Lanes with an index out of bounds touch nothing, and leave the mask of this access.
        """
        offset, shift, inside = NO_OFFSET, 0, None
        if np.ndim(view.offset):
            offset = self.active(view.offset, mask).astype(np.int64, copy=False)
        else:
            shift = int(view.offset)
        for axis, index in enumerate(indices):
            size, stride = view.shape[axis], view.strides[axis]
            if np.ndim(size):  # a slice that has another length in each thread
                offset, inside = self._own_sizes(view, axis, index, offset, inside, mask, node)
                continue
            if np.ndim(index) == 0 and 0 <= index < size:  # the same in all lanes
                shift += int(index) * stride
                continue
            index = self.active(index, mask).astype(np.int64, copy=False)
            offset, outside, negative, n = step(offset, shift, index, size, stride)
            shift = 0
            if outside >= 0:
                self._bad_index("out of bounds", view, axis, int(index[outside]), mask, outside, node, n)
                good = (index >= -size) & (index < size)
                inside = good if inside is None else inside & good
            elif negative >= 0:
                self._bad_index("negative index", view, axis, int(index[negative]), mask, negative, node, n)
        if not offset.size:
            offset = np.full(mask.count, shift, np.int64)
        elif shift:
            offset = offset + shift
        if inside is None:
            return offset, mask
        stay = np.zeros(self.lanes.count, np.bool_)
        stay[np.arange(self.lanes.count)[mask.index][inside]] = True
        return offset[inside], Mask(self.lanes, stay)

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
        self.found(
            kind, node.lineno, message, fix, array=view.name, lane=lane, count=count, index=index, axis=axis, size=size
        )
