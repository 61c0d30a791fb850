"""Records: elements with fields, p[i].x and p[i]['x'], each field an array of its own whose numbers lie a record apart.

Source: Numba's documentation, "Structured scalars" and "Array types"; NVIDIA, "CUDA C++ Programming Guide", "Size and
Alignment Requirement". A record of a variable is a place in memory, not a copy. Where its dtype was made without
align=True, the compiler must expect every address: it reads and writes a field byte by byte.
"""

import itertools
import math

import numpy as np
from numpy.lib.stride_tricks import as_strided

from course_lib.simt.either import Either
from course_lib.simt.memory import Memory, View, row_major
from course_lib.simt.types import computes_with
from course_lib.simt.values import describe, is_number

MOST_FIELDS = 64


def are_records(dtype):
    """Return whether a dtype is one of records that a kernel can have: with names, in the host's byte order."""
    return dtype.names is not None and 0 < len(dtype.names) <= MOST_FIELDS and not dtype.hasobject and dtype.isnative


def is_record(value):
    """Return whether a value is one record, or one per lane."""
    return isinstance(value, View) and value.dtype.names is not None and not value.ndim


def field(view, name):
    """Return the View of a field of one record or of an array of them; TypeError if there is no such field."""
    if type(view) is Either:
        return Either([(bits, field(each, name)) for bits, each in view.parts])
    if view.fields is None:
        view.fields = {}
    if name in view.fields:
        return view.fields[name]
    if name not in view.dtype.names:
        raise TypeError(f"{view.name} has records with the fields {', '.join(view.dtype.names)}, and no {name}")
    memory, ratio = _memory(view.memory, name)
    nested = view.dtype[name].shape
    step = view.dtype[name].base.itemsize * ratio // view.memory.pitch if nested else 1
    strides = [s * ratio for s in view.strides] + [s * step for s in row_major(nested)[: len(nested)]]
    found = View(memory, view.offset * ratio, (*view.shape, *nested), strides, f"{view.name}.{name}", view.writable)
    found.there = view.there
    view.fields[name] = found
    return found


def _memory(memory, name):
    """Return (the Memory of a field of all records of a memory, its cells for each record).

    The cells of a field are one for each record. Those of a field that is an array lie closer, so that one step goes
    to the next number: the largest step that fits into a record a whole number of times.
    """
    (dtype, offset), nested = memory.dtype.fields[name][:2], memory.dtype[name].shape
    size, count = dtype.base.itemsize, memory.cells.size
    pitch = math.gcd(memory.pitch, size) if nested else memory.pitch
    ratio = memory.pitch // pitch
    if name not in memory.fields:
        if not (computes_with(dtype.base) or are_records(dtype.base)):
            raise TypeError(f"the field {name} of {memory.name} is {dtype.base}, with which a kernel does not compute")
        numbers = memory.cells[name]
        if nested:  # the last record of a global array ends with its last number; others have a spare one behind them
            last = ratio if memory.copies > 1 else (math.prod(nested) - 1) * size // pitch + 1
            cells = (count - 1) * ratio + last if count else 0
            numbers = as_strided(numbers, (cells,), (pitch,), writeable=numbers.flags.writeable)
        step = size // pitch if nested else 1
        its = Memory(
            f"{memory.name}.{name}", memory.space, numbers, base=memory.base + offset, copies=memory.copies,
            written=memory.all_written, shape=(*memory.shape, *nested),
            strides=[s * ratio for s in memory.strides] + [s * step for s in row_major(nested)[: len(nested)]],
        )  # fmt: skip
        its.pitch, its.split = pitch, 1 if memory.dtype.isalignedstruct and memory.split == 1 else size
        memory.fields[name] = its
    return memory.fields[name], ratio


class Records:
    """The part of an `Evaluator` that knows fields. Source: the course's own."""

    def field(self, view, name, node):
        """Return the View of a field, which is told to be read byte by byte if it is; an error if there is none."""
        try:
            found = field(view, name)
        except TypeError as error:
            raise self._error(node, f"{error}.") from None
        memory = found.memory
        leaf = memory.dtype.names is None  # a record in a record is not read: its fields are
        if memory.split > 1 and leaf and not self.typing and view.memory.name not in self.machine.told:
            self.machine.told.add(view.memory.name)
            self.machine.found(
                "unaligned record", node.lineno,
                f"{view.name} has records that are not aligned, so a field of {memory.split} bytes takes "
                f"{memory.split} requests, one for each byte.",
                "Make their dtype with np.dtype([...], align=True): then a field is read at once.", array=view.name,
                severity="advice",
            )  # fmt: skip
        return found

    def field_of(self, view, index, node):
        """Return the field that an index names, such as p['x'], or None if it is an index of another kind."""
        if type(index) is str:
            return self.field(view, index, node)
        if is_record(view) and is_number(index) and not np.ndim(index) and index.dtype.kind in "iu":
            if not 0 <= index < len(view.dtype.names):
                raise self._error(node, f"{view.name} has {len(view.dtype.names)} fields, and no number {index}.")
            return self.field(view, view.dtype.names[int(index)], node)
        return None

    def store_record(self, view, indices, value, mask, node):
        """Copy a record, field by field, to the one that the lanes mean."""
        if not is_record(value) or value.dtype != view.dtype:
            raise self._error(node, f"{describe(value)} is no record of {view.name}; write its fields one by one.")
        self._copy(self.load(view, indices, mask, node) if view.ndim else view, value, mask, node)

    def _copy(self, to, value, mask, node):
        for name in to.dtype.names:
            there, given = self.field(to, name, node), self.field(value, name, node)
            for index in itertools.product(*map(range, there.shape)):
                index = [np.int64(i) for i in index]
                number = self.load(given, index, mask, node)
                if is_record(number):
                    self._copy(self.load(there, index, mask, node), number, mask, node)
                else:
                    self.store(there, index, number, mask, node)
