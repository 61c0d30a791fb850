"""What an array knows of itself, and its bytes as numbers of another type: a.nbytes, a.strides, a.view(int32), z.real.

Source: Numba's documentation, "Supported NumPy features" (array attributes).
"""

import math

import numpy as np

from course_lib.simt.functions import FUNCTIONS, function
from course_lib.simt.memory import Memory, View, row_major
from course_lib.simt.values import describe
from course_lib.simt.vocabulary import Cast, register


def attribute_of_array(view, name):
    """Return what an array's attribute is, None if it is none of these."""
    if name == "itemsize":
        return np.int64(view.dtype.itemsize)
    if name == "nbytes":
        return np.asarray(view.size).astype(np.int64)[()] * np.int64(view.dtype.itemsize)
    if name == "strides":
        return tuple(np.int64(s * view.memory.pitch) for s in view.strides)
    if name == "real" and view.dtype.kind != "c":
        return view
    if name in ("real", "imag") and view.dtype.kind == "c":
        return _over(_part(view.memory, name), view, 1)
    return None


def _over(memory, view, ratio):
    """Return the View of a memory's numbers that lie where those of a view lie, `ratio` cells for each."""
    found = View(memory, view.offset * ratio, view.shape, [s * ratio for s in view.strides], view.name, view.writable)
    found.there = view.there
    return found


def _part(memory, name):
    if name not in memory.fields:
        numbers = getattr(memory.cells, name)
        its = Memory(
            f"{memory.name}.{name}", memory.space, numbers, shape=memory.shape, strides=memory.strides,
            base=memory.base + (numbers.itemsize if name == "imag" else 0), copies=memory.copies,
            written=memory.written,
        )  # fmt: skip
        its.pitch = memory.pitch
        memory.fields[name] = its
    return memory.fields[name]


@function("array.view")
def _view(e, mask, node, array, dtype):
    if not isinstance(dtype, Cast) or dtype.dtype.names or array.dtype.names:
        raise TypeError("it takes a type of numbers, such as np.int32")
    old, new = array.dtype.itemsize, dtype.dtype.itemsize
    whole = not any(np.ndim(s) for s in array.shape) and array.memory.pitch == old
    if not array.ndim or not whole or tuple(array.strides) != tuple(row_major(array.shape)):
        raise TypeError(f"{array.name} does not lie row by row without gaps; its bytes are no array of another type")
    last, starts = array.shape[-1] * old, np.asarray(array.offset) * old
    if last % new or (starts % new).any():
        raise TypeError(f"a row of {array.name} has {last} bytes, or begins where no {dtype.dtype} of {new} bytes can")
    found = View(_as(array.memory, dtype.dtype), (starts // new)[()], (*array.shape[:-1], last // new), ())
    found.strides, found.there = tuple(row_major(found.shape)), array.there
    found.name, found.writable = array.name, array.writable
    return found


def _as(memory, dtype):
    """Return the memory that has the same bytes as numbers of another dtype: of one size, who wrote them counts too."""
    if dtype == memory.dtype:
        return memory
    key = str(dtype)
    if key not in memory.fields:
        size, new = memory.dtype.itemsize, dtype.itemsize
        cells = memory.cells[: memory.cells.size * size // new * new // size].view(dtype)
        rows = len(memory.shape) > 0 and tuple(memory.strides) == tuple(row_major(memory.shape))
        fits = rows and memory.shape[-1] * size % new == 0
        shape = (*memory.shape[:-1], memory.shape[-1] * size // new) if fits else (cells.size // memory.copies,)
        its = Memory(
            f"{memory.name}.view({key})", memory.space, cells, shape=shape, strides=row_major(shape),
            base=memory.base, copies=memory.copies, written=memory.written if new == size else True,
        )  # fmt: skip
        if new == size:
            its.shadow = memory.shadow
            its.may_change = memory.may_change = True  # each may write what the other reads
        else:  # from here on nobody follows which bytes were written
            memory.written[...] = memory.all_written = True
        memory.fields[key] = its
    return memory.fields[key]


@function("array.item")
def _item(e, mask, node, array):
    if any(np.ndim(s) for s in array.shape) or (math.prod(array.shape) != 1 and not e.typing):
        raise TypeError(f"{describe(array)} has not one element, but others")
    return e.load(array, [np.int64(0)] * array.ndim, mask, node)


@function("np.shape")
def _shape(e, mask, node, array):
    return tuple(np.asarray(s).astype(np.int64)[()] for s in _array(array).shape)


@function("np.size")
def _size(e, mask, node, array):
    return np.asarray(_array(array).size).astype(np.int64)[()]


def _array(value):
    if not isinstance(value, View):
        raise TypeError(f"{describe(value)} is no array")
    return value


register(path for path in FUNCTIONS if path.startswith("np."))
