"""Elements, rows and slices: what a subscript means, for all lanes at once.

Source: Numba's documentation, "Supported Python features in CUDA Python" (arrays have strides, as on a device).
"""

import ast
import itertools
from typing import NamedTuple

import numpy as np

from course_lib.simt.either import Either
from course_lib.simt.iteration import Indices
from course_lib.simt.literals import is_from_outside
from course_lib.simt.memory import View
from course_lib.simt.parts import sizes, taken
from course_lib.simt.records import Records, is_record
from course_lib.simt.values import cast, describe, is_number, join
from course_lib.simt.vocabulary import Nothing


class Slice(NamedTuple):
    """The bounds of a slice, each None or a whole number per lane. Source: Numba's documentation, "Arrays"."""

    start: object
    stop: object
    step: object


EVERYTHING = Slice(None, None, None)
PARTS = {Slice, Nothing}
"""Classes of what stands in an index and picks no one place of an axis."""


class Elements(Records):
    """The part of an `Evaluator` that knows subscripts. Source: the course's own."""

    def load(self, view, indices, mask, node):
        """Return the elements that the lanes mean; a View where indices are missing."""
        if type(view) is Either:
            return view.load(self, indices, mask, node)
        return self.machine.load(view, indices, mask, node)

    def store(self, view, indices, value, mask, node):
        """Write a value, a number or one per lane, to the elements that the lanes mean."""
        if type(view) is Either:
            return view.store(self, indices, value, mask, node)
        if view.dtype.names and len(indices) == view.ndim:
            return self.store_record(view, indices, value, mask, node)
        if len(indices) < view.ndim:
            return self._fill(node, view, indices, value, mask)
        return self.machine.store(view, indices, value, mask, node)

    def _of_Subscript(self, node, mask):
        owner = self._value(node.value, mask)
        if isinstance(owner, tuple):
            return self._part(node, owner, mask)
        if type(owner) is Indices and owner.flat:
            return owner.item(self, self._value(node.slice, mask), mask, node)
        view, indices = self._place(node, mask, owner)
        if not PARTS.isdisjoint(map(type, indices)):
            return taken(self._slice(node, view, indices, mask), node)
        if not indices and view.ndim:
            return view  # a field of all records
        found = self.load(view, indices, mask, node)
        return found if len(indices) == view.ndim else taken(found, node)

    def _of_Slice(self, node, mask):
        return self._bounds(node, mask)

    # ------------------------------------------------------------------------------------------- tuples

    def _part(self, node, owner, mask):
        """Return a part of a tuple, or a tuple of some of them."""
        n = len(owner)
        if isinstance(node.slice, ast.Slice):
            bounds = self._bounds(node.slice, mask, of_tuple=True)
            if any(b is not None and np.ndim(b) for b in bounds):
                raise self._error(node, "the bounds of a tuple's slice are the same in all threads.")
            return owner[slice(*(None if b is None else int(b) for b in bounds))]
        index = self._value(node.slice, mask)
        if not is_number(index) or index.dtype.kind not in "iub":
            raise self._error(node, f"{describe(index)} is no index of a tuple; an index is a whole number.")
        if not np.ndim(index) and not self.typing:
            if not -n <= int(index) < n:
                raise self._error(node, f"a tuple of {n} needs an index from 0 to {n - 1}, not {int(index)}.")
            return self._as_static(node, owner[int(index)])
        if self.typing and not np.ndim(index) and is_from_outside(node.slice, self.source):
            if not -n <= int(index) < n:
                raise self._error(node, f"a tuple of {n} needs an index from 0 to {n - 1}, not {int(index)}.")
            return self._as_static(node, owner[int(index)])
        return self._as_static(node, self._chosen(node, owner, index, mask))

    def _chosen(self, node, owner, index, mask):
        """Return the part of a tuple that each lane means: all parts have one type."""
        n, result = len(owner), owner[0] if owner else None
        if not owner:
            raise self._error(node, "a tuple without parts has no element.")
        if self.typing:
            for part in owner[1:]:
                result = join(result, part)
            return result
        here = index[mask.index]
        if ((here < -n) | (here >= n)).any():
            bad = int(np.flatnonzero((here < -n) | (here >= n))[0])
            lane = self.machine.lane_of(mask, bad)
            self.machine.found(
                "out of bounds", node.lineno,
                f"{self.lanes.name(lane)} uses index {here[bad]} on a tuple of {n} (0 to {n - 1}).",
                f"Guard the line: if 0 <= ... < {n}.", lane=lane, index=int(here[bad]),
            )  # fmt: skip
        index = np.where(index < 0, index + n, index)
        for k, part in enumerate(owner[1:], 1):
            result = self._both(result, part, mask.where(index == k))
        return result

    # ------------------------------------------------------------------------------------------- arrays

    def _place(self, node, mask, view=None):
        """Return (view, indices) of a subscript, or of a field of a record: that has no indices."""
        view = self._value(node.value, mask) if view is None else view
        if isinstance(node, ast.Attribute):
            if not is_record(view):
                raise self._error(node, f"{ast.unparse(node)} cannot be assigned to.")
            return self.field(view, node.attr, node), []
        if isinstance(view, View) and view.dtype.names and not isinstance(node.slice, ast.Slice | ast.Tuple):
            found = self.field_of(view, self._value(node.slice, mask), node)
            if found is not None:
                return found, []
        if not isinstance(view, View):
            raise self._error(node, f"{describe(view)} has no elements.")
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        indices, stretched, plain = [], False, True
        for part in parts:
            if type(part) is ast.Constant and part.value is Ellipsis:
                plain = False
                if stretched:
                    raise self._error(node, "an index has one ... at the most.")
                stretched = True
                missing = view.ndim + 1 - sum(not _is_none(p) for p in parts)
                indices += [EVERYTHING] * max(0, missing)
                continue
            index = self._bounds(part, mask) if isinstance(part, ast.Slice) else self._value(part, mask)
            if _is_plain(index):
                indices.append(index)
                continue
            plain = False
            more = list(index) if isinstance(index, tuple) and not isinstance(index, Slice) else [index]
            indices += [self.from_end(part, i, view, len(indices) + k) for k, i in enumerate(more)]
        if plain and len(indices) <= view.ndim:
            return view, indices
        return view, self.checked(node, view, indices)

    def checked(self, node, view, indices):
        """Return the indices of an access, if they are whole numbers and not too many."""
        for index in indices:
            if not (type(index) in PARTS or (is_number(index) and index.dtype.kind in "iu")):
                hint = " Divide with //, or use int(...)."
                if is_number(index) and index.dtype.kind == "b":
                    hint = " Write int32(...) around the condition."
                raise self._error(node, f"{describe(index)} is no index; an index is a whole number.{hint}")
        given = len(indices)
        if given > view.ndim:
            given -= sum(isinstance(i, Nothing) for i in indices)
        if given > view.ndim:
            takes = "1 index" if view.ndim == 1 else f"{view.ndim} indices"
            raise self._error(node, f"{view.name} is {sizes(view)} and takes {takes}, not {given}.")
        return indices

    def from_end(self, node, index, view, axis):
        """Return an index; one written as a negative number, such as a[-1], is meant to count from the end."""
        size = view.shape[axis] if axis < view.ndim else 0
        below = is_number(index) and not np.ndim(index) and index.dtype.kind == "i" and index < 0
        if below and is_from_outside(node, self.source) and np.all(-np.int64(index) <= size):
            return np.asarray(size).astype(np.int64)[()] + np.int64(index)
        return index

    def _bounds(self, node, mask, of_tuple=False):
        """Return a Slice; of an array Numba takes floats too, and rounds them towards 0."""
        values = [None if v is None else self._value(v, mask) for v in (node.lower, node.upper, node.step)]
        values = [None if isinstance(v, Nothing) else v for v in values]
        if self.machine.undefined:
            self.machine.use(tuple(values), mask)
        for k, value in enumerate(values):
            if value is None or (is_number(value) and value.dtype.kind in "iu"):
                continue
            if of_tuple or not is_number(value) or value.dtype.kind not in "fb":
                fix = "whole numbers" if of_tuple else "numbers"
                raise self._error(node, f"{describe(value)} is no bound of a slice; use {fix}.")
            values[k] = cast(value, np.dtype(np.int64))
        if values[2] is not None and (np.ndim(values[2]) or values[2] == 0):
            if not self.typing:
                raise self._error(node, "the step of a slice is a whole number other than 0, the same in all threads.")
            values[2] = np.int64(1)
        return Slice(*values)

    def _slice(self, node, view, indices, mask):
        """Return the View of a part of an array: numbers pick one place of an axis, slices a stretch of it."""
        offset, shape, strides = np.broadcast_to(view.offset, self.lanes.count).astype(np.int64), [], []
        axis = 0
        given = [*indices, *[EVERYTHING] * (view.ndim - sum(not isinstance(i, Nothing) for i in indices))]
        for index in given:
            if isinstance(index, Nothing):
                shape.append(1)
                strides.append(0)
                continue
            size, stride = view.shape[axis], view.strides[axis]
            axis += 1
            if not isinstance(index, Slice):
                row = self.machine.load(view.part(0, (size, 1), (1, 1)), [index], mask, node)
                offset = offset + row.offset * stride
                continue
            start, length, step = _stretch(index, size)
            offset = offset + start * stride
            lengths = np.broadcast_to(length, self.lanes.count)[mask.index]
            shape.append(int(lengths[0]) if lengths.size and (lengths == lengths[0]).all() else
                         size if not lengths.size else np.broadcast_to(length, self.lanes.count))  # fmt: skip
            strides.append(stride * step)
        return view.part(offset, shape, strides)

    def _fill(self, node, view, indices, value, mask):
        """Write a number to all elements of a part of an array, or a tuple's numbers to those of a row."""
        part = self._slice(node, view, indices, mask)
        if isinstance(value, tuple) and all(map(is_number, value)) and part.ndim == 1:
            return self._give_parts(node, part, value, mask)
        if not is_number(value) and not (view.dtype.names and is_record(value)):
            raise self._error(
                node, f"{describe(value)} cannot be given to a part of {view.name}: Numba gives it one number, or a "
                "row the numbers of a tuple. Write the loop, element by element.",
            )  # fmt: skip
        most = [int(np.max(s, initial=0)) for s in part.shape]
        if self.typing:
            return self.store(part, [np.int64(0)] * part.ndim, value, mask, node)
        for index in itertools.product(*map(range, most)):
            here = mask
            for i, size in zip(index, part.shape, strict=True):
                here = here.where(i < size) if np.ndim(size) else here
            self.machine.step(node.lineno, here)
            self.store(part, [np.int64(i) for i in index], value, here, node)

    def _give_parts(self, node, row, values, mask):
        """Write a tuple's numbers to the elements of a row, which has as many."""
        if not self.typing and np.any(np.broadcast_to(row.shape[0], self.lanes.count)[mask.index] != len(values)):
            raise self._error(node, f"{describe(values)} is given to {row.name}, a row of {sizes(row)[0]} elements.")
        for i, value in enumerate(values):
            self.machine.store(row, [np.int64(i)], value, mask, node)


def _stretch(index, size):
    """Return (first place, how many, step) of a slice as Python takes it: from the end if negative, and inside."""
    step = 1 if index.step is None else int(index.step)
    size = np.asarray(size).astype(np.int64)
    low, high = (0, size) if step > 0 else (-1, size - 1)

    def bound(given, default):
        if given is None:
            return default
        given = np.asarray(given).astype(np.int64)
        return np.clip(np.where(given < 0, given + size, given), low, high)

    first, end = (np.int64(0), high) if step > 0 else (high, np.int64(-1))
    start = bound(index.start, first)
    distance = (bound(index.stop, end) - start) * (1 if step > 0 else -1)
    return start, np.maximum(0, -(-distance // abs(step)))[()], step


def _is_plain(index):
    """Return whether an index is nothing but whole numbers per lane, or one that does not count from the end."""
    if type(index) is np.int64:
        return index >= 0
    return type(index) is np.ndarray and index.ndim == 1 and index.dtype.kind in "iu"


def _is_none(node):
    return isinstance(node, ast.Constant) and node.value is None
