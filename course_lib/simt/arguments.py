"""A launch's arguments as a kernel sees them: numbers, and arrays in global memory.

Source: Numba's documentation, "Memory management". Arrays that overlap on the host lie in one memory, so that a race
between two names of one array is found.
"""

import numpy as np
from numpy.lib.array_utils import byte_bounds
from numpy.lib.stride_tricks import as_strided

from course_lib.simt.arrays import is_device_array
from course_lib.simt.memory import Memory, View
from course_lib.simt.records import are_records
from course_lib.simt.types import computes_with, literal
from course_lib.simt.values import MOST_PARTS, too_long
from course_lib.simt.vocabulary import Nothing

ALIGNMENT = 256
"""Bytes. A device gives every allocation an address that is a multiple of this."""

RECORDS = (np.void, np.record, np.recarray)
"""NumPy's classes of a record, which is taken by reference, and of an array of records."""


def views(names, arguments):
    """Return the values of a kernel's parameters: numbers typed as Numba types them, and Views of the arrays.

    Raises
    ------
    TypeError
        If an argument is neither an array nor a number, its dtype is none that a kernel computes with, its strides
        are not whole elements, or two arrays share memory and differ in dtype.
    """
    values = {}
    arrays = {}
    for name, argument in _flat_names(names, arguments):
        if is_device_array(argument) or type(argument) is np.ndarray:
            arrays[name] = argument
        elif any(type(argument) is kind for kind in RECORDS):
            arrays[name] = np.asarray(argument).view(np.ndarray)
        elif argument is None:
            values[name] = Nothing()
        else:
            values[name] = _number(name, argument)
    base = ALIGNMENT
    for group in _overlapping(arrays):
        memory, found = _memory(group, base)
        base += -(-(memory.cells.nbytes + ALIGNMENT) // ALIGNMENT) * ALIGNMENT
        values |= found
    return [_together(name, argument, values) for name, argument in zip(names, arguments, strict=True)]


def _flat_names(names, arguments):
    """Yield (name, argument) of all arguments; those in a tuple are called t[0], t[1] ..."""
    for name, argument in zip(names, arguments, strict=True):
        if type(argument) is not tuple:
            yield name, argument
        elif too_long(argument):
            raise TypeError(f"{name} is a tuple of more than {MOST_PARTS} parts; pass an array.")
        else:
            yield from _flat_names([f"{name}[{i}]" for i in range(len(argument))], argument)


def _together(name, argument, values):
    if type(argument) is not tuple:
        return values[name]
    return tuple(_together(f"{name}[{i}]", part, values) for i, part in enumerate(argument))


def parts_of(values):
    """Return the values of parameters, and those in tuples, in a row."""
    return [p for v in values for p in (parts_of(v) if isinstance(v, tuple) else [v])]


def _number(name, argument):
    try:
        return literal(argument)
    except TypeError as error:
        mro = type.__dict__["__mro__"].__get__(type(argument))  # asked of `type`, not of the argument's class
        hint = "np.asarray(...) of it" if any(c is np.ndarray for c in mro) else "an array or a number"
        raise TypeError(f"{name}: {error} Pass {hint}.") from None


def numbers_of(argument):
    """Return the ndarray behind an argument that is an array."""
    return argument.numbers if is_device_array(argument) else argument


def _overlapping(arrays):
    """Return lists of (name, argument) whose bytes overlap, each list from the lowest address on."""
    spans = []
    for name, argument in arrays.items():
        array = numbers_of(argument)
        if not (computes_with(array.dtype) or are_records(array.dtype)):
            raise TypeError(
                f"{name} is an array of {array.dtype}; a kernel computes with booleans, whole numbers and floats of "
                f"at most 8 bytes, with complex numbers of two, and with records of these. Convert it, for example "
                f"{name}.astype(np.float32)."
            )
        if any(s % array.itemsize for s in array.strides):
            raise TypeError(f"{name} has strides {array.strides} bytes; they must be multiples of {array.itemsize}.")
        low, high = byte_bounds(array) if array.size else (0, 0)
        _check_owned(name, array, low, high)
        spans.append((low, high, name, argument))
    groups, end = [], -1
    for low, high, name, argument in sorted(spans, key=lambda span: span[:2]):
        if high > low and low < end:
            groups[-1].append((name, argument))
        else:
            groups.append([(name, argument)])
        end = max(end, high)
    order = list(arrays)  # a report does not depend on where the host put its arrays
    return sorted(groups, key=lambda group: min(order.index(name) for name, _ in group))


def _check_owned(name, array, low, high):
    """An array with forged strides reaches beyond the memory that it was made from."""
    owner = array
    while isinstance(getattr(owner, "base", None), np.ndarray):
        owner = owner.base
    inner = getattr(getattr(owner, "base", None), "base", None)  # as_strided hides its array behind an object
    owner = inner if isinstance(inner, np.ndarray) else owner
    first, last = byte_bounds(owner) if owner.size else (0, 0)
    if high > low and owner is not array and not (first <= low and high <= last):
        raise TypeError(f"{name} reaches beyond its memory: its strides do not fit to it. Pass np.array({name}).")


def _memory(group, base):
    """Return (the memory that holds the arrays of a group, {name: its View})."""
    arrays = {name: numbers_of(argument) for name, argument in group}
    together = " and ".join(arrays)
    if len({a.dtype for a in arrays.values()}) > 1:
        raise TypeError(
            f"{together} share memory and are {' and '.join(str(a.dtype) for a in arrays.values())}; pass arrays of "
            "one dtype, or copies."
        )
    (name, first), size = group[0], numbers_of(group[0][1]).itemsize
    bounds = [byte_bounds(a) for a in arrays.values() if a.size]
    low = min((b[0] for b in bounds), default=0)
    count = (max((b[1] for b in bounds), default=0) - low) // size
    if any(a.flags.writeable for a in arrays.values()) and not arrays[name].flags.writeable:
        raise TypeError(f"{together} share memory and {name} is read-only; pass a copy of one of them.")
    written = True
    if is_device_array(first):
        base += (low - byte_bounds(first.allocation)[0]) % ALIGNMENT  # a slice begins where it lies
        written = True if first.written is None else _flat(first.written, count)
    first_place = arrays[name].__array_interface__["data"], arrays[name].shape, arrays[name].strides
    alone = all((a.__array_interface__["data"], a.shape, a.strides) == first_place for a in arrays.values())
    # else the elements of several arrays in one memory are counted through
    shape, strides = (arrays[name].shape, _steps(arrays[name])) if alone else ((count,), (1,))
    memory = Memory(
        together, "global", _flat(arrays[name], count), shape=shape, strides=strides, base=base, written=written
    )
    found = {}
    for each, a in arrays.items():
        start = (a.__array_interface__["data"][0] - low) // size if a.size else 0
        found[each] = View(memory, np.int64(start), a.shape, _steps(a), each, a.flags.writeable)
    return memory, found


def _steps(array):
    return tuple(s // array.itemsize for s in array.strides)


def _flat(array, count):
    """Return the `count` elements from the array's lowest address on, as one run: the same numbers, no copy."""
    corner = tuple(slice(-1, None) if s < 0 else slice(0, 1) for s in array.strides)
    lowest = array[(*corner, ...)] if array.size else array.reshape(-1)[:0]  # ...: a view also without axes
    return as_strided(lowest.reshape(-1), (count,), (array.itemsize,), writeable=array.flags.writeable)
