"""What an array does with all of its elements: sum, mean, argmax ..., and other shapes of it: transpose, reshape.

Source: Numba's documentation, "Supported NumPy features" (array methods). A thread goes over the elements one after the
other, in row-major order, and rounds after each: that is what Numba makes of it, and what it costs.
"""

import itertools

import numpy as np

from course_lib.simt import types
from course_lib.simt.calls import Method
from course_lib.simt.complexes import part_of
from course_lib.simt.functions import FUNCTIONS, ZERO, function
from course_lib.simt.iteration import Indices, has_items, item_of, length_of
from course_lib.simt.memory import View, row_major
from course_lib.simt.values import cast, describe, is_number


def _array(value):
    if not isinstance(value, View) or value.dtype.kind not in "iufcb":
        raise TypeError(f"{describe(value)} is no array of numbers")
    return value


def _elements(e, mask, node, view):
    """Yield (lanes, number) for each element of an array: of the lanes whose array has it."""
    most = [int(np.max(s, initial=0)) for s in view.shape]
    for index in itertools.product(*map(range, [min(m, 1) for m in most] if e.typing else most)):
        here = mask
        for i, size in zip(index, view.shape, strict=True):
            here = here.where(np.broadcast_to(i < size, e.lanes.count)) if np.ndim(size) else here
        e.machine.step(node.lineno, here)
        yield here, e.load(view, [np.int64(i) for i in index], here, node)


def _fold(e, mask, node, view, start, name):
    """Return the elements combined by an operator, one after the other, beginning with `start`."""
    total = start
    for here, number in _elements(e, mask, node, view):
        new = e._binary(name, total, number, here, node)
        dtype = types.unify(total.dtype, new.dtype) if total.dtype != new.dtype else new.dtype
        total = e._both(cast(total, dtype), cast(new, dtype), here)
    return total


def _whole(dtype):
    """Return the dtype of a sum: whole numbers are added in 64 bits."""
    return np.dtype({"b": "int64", "i": "int64", "u": "uint64"}.get(dtype.kind, dtype))


def _sum(e, mask, node, array):
    view = _array(array)
    return _fold(e, mask, node, view, _whole(view.dtype).type(0), "Add")


def _prod(e, mask, node, array):
    view = _array(array)
    return _fold(e, mask, node, view, _whole(view.dtype).type(1), "Mult")


def _mean(e, mask, node, array):
    view = _array(array)
    return e._binary("Div", _sum(e, mask, node, view), _size(view), mask, node)


def _var(e, mask, node, array):
    view, mean = _array(array), _mean(e, mask, node, array)
    total = np.float64(0)
    for here, number in _elements(e, mask, node, view):
        apart = e._binary("Sub", number, mean, here, node)
        square = part_of(e._binary("Mult", apart, np.conjugate(apart), here, node), "real")
        new = e._binary("Add", total, square, here, node)
        total = e._both(cast(total, new.dtype), new, here)
    return e._binary("Div", total, _size(view), mask, node)


def _std(e, mask, node, array):
    return e._binary("Pow", _var(e, mask, node, array), np.float64(0.5), mask, node)


def _truth(ends):
    def decide(e, mask, node, array):
        result = np.bool_(not ends)
        for here, number in _elements(e, mask, node, _array(array)):
            truth = number != 0
            result = e._both(result, (result | truth) if ends else (result & truth), here)
        return result

    return decide


def _argument(better):
    def find(e, mask, node, array):
        view = _array(array)
        best, place = None, np.int64(0)
        for at, (here, number) in enumerate(_elements(e, mask, node, view)):
            e.machine.count(node.lineno, here)
            if best is None:
                best = number
            else:
                wins = better(number, best) | (np.isnan(number) & ~np.isnan(best))
                place = e._both(place, np.where(wins, np.int64(at), place), here)
                best = e._both(best, np.where(wins, number, best), here)
        if best is None:
            raise TypeError("an array without elements has no extreme")
        return place

    return find


def extreme_of_array(e, mask, node, view, better):
    """Return what Python's min or max gives for an array of one axis: the first of the best elements."""
    best = None
    for here, number in _elements(e, mask, node, _array(view)):
        e.machine.count(node.lineno, here)
        best = number if best is None else e._both(best, np.where(better(number, best), number, best), here)
    if best is None:
        raise TypeError("an array without elements has no extreme")
    return best


def _size(view):
    return np.asarray(view.size).astype(np.int64)[()]


for _name, _act in {
    "sum": _sum, "prod": _prod, "mean": _mean, "var": _var, "std": _std, "any": _truth(True), "all": _truth(False),
    "argmax": _argument(np.greater), "argmin": _argument(np.less),
}.items():  # fmt: skip
    FUNCTIONS[f"array.{_name}"] = FUNCTIONS[f"np.{_name}"] = _act


@function("sum")
def _builtin_sum(e, mask, node, values, start=ZERO):
    """Python's sum: it begins with a whole number, so that a sum of float32 is float64."""
    if not has_items(values):
        raise TypeError(f"{describe(values)} has no items to add")
    if isinstance(values, View):
        return _fold(e, mask, node, _array(values), start, "Add")
    total, length = start, length_of(values)
    for turn in range(int(np.max(length, initial=0)) if not e.typing else 1):
        here = mask.where(np.broadcast_to(turn < length, e.lanes.count)) if np.ndim(length) else mask
        e.machine.step(node.lineno, here)
        new = e._binary("Add", total, item_of(values, e, turn, here, node), here, node)
        dtype = types.unify(total.dtype, new.dtype) if total.dtype != new.dtype else new.dtype
        total = e._both(cast(total, dtype), cast(new, dtype), here)
    return total


@function("array.fill")
def _fill(e, mask, node, array, value):
    if not is_number(value):
        raise TypeError(f"{describe(value)} is no number")
    e._fill(node, _array(array), [], value, mask)


@function("array.transpose")
def _transpose(e, mask, node, array):
    view = array
    return view.part(view.offset, view.shape[::-1], view.strides[::-1])


@function("array.reshape")
def _reshape(e, mask, node, array, *shape):
    shape = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
    if any(np.ndim(s) for s in (*array.shape, *shape)) or not all(is_number(s) and s.dtype.kind in "iu" for s in shape):
        raise TypeError("the sizes are whole numbers, the same in all threads")
    sizes = [int(s) for s in shape]
    known = int(np.prod([s for s in sizes if s >= 0], dtype=np.int64))
    if sizes.count(-1) == 1 and known and array.size % known == 0:
        sizes[sizes.index(-1)] = array.size // known
    if not e.typing and (min(sizes, default=1) < 0 or int(np.prod(sizes, dtype=np.int64)) != array.size):
        raise TypeError(f"{array.name} is {array.shape}, {array.size} elements, and cannot become {tuple(sizes)}")
    if tuple(array.strides) != tuple(row_major(array.shape)) and array.size:
        raise TypeError(f"{array.name} is not contiguous in row-major order; reshape copies nothing")
    return array.part(array.offset, [max(s, 0) for s in sizes], row_major(sizes))


@function("np.ndindex")
def _ndindex(e, mask, node, *shape):
    shape = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
    if not shape or not all(is_number(s) and s.dtype.kind in "iu" for s in shape):
        raise TypeError("it takes the sizes of a shape, whole numbers")
    return Indices(tuple(shape))


@function("np.ndenumerate")
def _ndenumerate(e, mask, node, array):
    return Indices(tuple(_array(array).shape), array)


def attribute(view, name):
    """Return what an array's attribute means: another view of it, its elements, or a method; None if nothing."""
    if name == "T":
        return view.part(view.offset, view.shape[::-1], view.strides[::-1])
    if name == "flat":
        return Indices(tuple(view.shape), view, flat=True)
    return Method(view, name) if f"array.{name}" in FUNCTIONS else None
