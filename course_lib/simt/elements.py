"""Elements, rows and slices: what a subscript means, for all lanes at once.

Source: Numba's documentation, "Supported Python features in CUDA Python" (arrays have strides, as on a device).
"""

import ast
from typing import NamedTuple

import numpy as np

from course_lib.simt.memory import View
from course_lib.simt.values import describe, is_number


class Slice(NamedTuple):
    """The bounds of a slice, each None or a whole number per lane. Source: Numba's documentation, "Arrays"."""

    start: object
    stop: object
    step: object


def _clipped(index, size):
    """Return a bound of a slice as Python takes it: from the end if negative, and inside of the axis."""
    index = np.asarray(index).astype(np.int64)
    return np.clip(np.where(index < 0, index + size, index), 0, size)


class Elements:
    """The part of an `Evaluator` that knows subscripts. Source: the course's own."""

    def _of_Subscript(self, node, mask):
        owner = self._value(node.value, mask)
        if isinstance(owner, tuple):
            index = self._value(node.slice, mask)
            whole = is_number(index) and not np.ndim(index) and index.dtype.kind in "iub"
            if not whole or not -len(owner) <= int(index) < len(owner):
                raise self._error(node, f"a tuple of {len(owner)} needs one constant index below {len(owner)}.")
            return self._as_static(node, owner[int(index)])
        view, indices = self._place(node, mask, owner)
        if any(isinstance(i, Slice) for i in indices):
            return self._slice(node, view, indices, mask)
        return self.machine.load(view, indices, mask, node)

    def _place(self, node, mask, view=None):
        """Return (view, indices) of a subscript."""
        view = self._value(node.value, mask) if view is None else view
        if not isinstance(view, View):
            raise self._error(node, f"{describe(view)} has no elements.")
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        indices = []
        for part in parts:
            index = self._bounds(part, mask) if isinstance(part, ast.Slice) else self._value(part, mask)
            indices += list(index) if isinstance(index, tuple) and not isinstance(index, Slice) else [index]
        for index in indices:
            if not isinstance(index, Slice) and (not is_number(index) or index.dtype.kind not in "iub"):
                raise self._error(
                    node, f"{describe(index)} is no index; an index is a whole number. Divide with //, or use int(...)."
                )
        if len(indices) > view.ndim:
            takes = "1 index" if view.ndim == 1 else f"{view.ndim} indices"
            raise self._error(node, f"{view.name} is {view.shape} and takes {takes}, not {len(indices)}.")
        return view, indices

    def _bounds(self, node, mask):
        values = [None if v is None else self._value(v, mask) for v in (node.lower, node.upper, node.step)]
        for value in values:
            if value is not None and (not is_number(value) or value.dtype.kind not in "iu"):
                raise self._error(node, f"{describe(value)} is no bound of a slice; use whole numbers.")
        if values[2] is not None and (np.ndim(values[2]) or values[2] < 1):
            raise self._error(node, "the step of a slice is a whole number >= 1, the same in all threads.")
        return Slice(*values)

    def _slice(self, node, view, indices, mask):
        """Return the View of a part of an array: numbers pick one place of an axis, slices a stretch of it."""
        offset, shape, strides = np.broadcast_to(view.offset, self.lanes.count).astype(np.int64), [], []
        for axis, size in enumerate(view.shape):
            index, stride = indices[axis] if axis < len(indices) else Slice(None, None, None), view.strides[axis]
            if not isinstance(index, Slice):
                row = self.machine.load(view.part(0, (size, 1), (1, 1)), [index], mask, node)
                offset = offset + row.offset * stride
                continue
            start = np.int64(0) if index.start is None else _clipped(index.start, size)
            stop = np.int64(size) if index.stop is None else _clipped(index.stop, size)
            step = 1 if index.step is None else int(index.step)
            lengths = np.broadcast_to(np.maximum(0, -(-(stop - start) // step)), self.lanes.count)[mask.index]
            if lengths.size and (lengths != lengths[0]).any():
                raise self._error(node, "a slice has the same length in all threads.")
            offset = offset + start * stride
            shape.append(int(lengths[0]) if lengths.size else size)
            strides.append(stride * step)
        return view.part(offset, shape, strides)
