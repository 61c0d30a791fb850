"""What declared types do: choose a signature for the values at hand, and convert them, or say what does not fit.

A launch converts numbers as C does, whole numbers to the low bits; a call of a device function converts as a cast in a
kernel does. Of several signatures the one with the fewest and the safest conversions is taken, by Numba's own table.
Source: Numba's documentation, "CUDA Kernel API" and "Device functions".
"""

import functools

import numpy as np
from numba.np.numpy_support import from_dtype

from course_lib.simt.memory import View
from course_lib.simt.records import is_record
from course_lib.simt.signature_text import NotDeclared, Signature, Type
from course_lib.simt.types import _context
from course_lib.simt.values import cast, describe, is_number

FIX = "Pass what is declared, or leave the signature out: then types are found at the launch."


def at_launch(name, parameters, signatures, values):
    """Return a launch's values as the chosen one of `signatures` declares them; NotDeclared if none fits."""
    chosen = _choose(name, signatures, values)
    fitted = zip(parameters, chosen.parameters, values, strict=True)
    return [_fit(f"{name}: {p}", declared, value, _as_c_does) for p, declared, value in fitted]


def at_call(name, parameters, signatures, values):
    """Return (a device function's arguments as declared, the declared result); NotDeclared if none fits."""
    chosen = _choose(name, signatures, values)
    fitted = zip(parameters, chosen.parameters, values, strict=True)
    return [_fit(f"{name}: {p}", declared, value, cast) for p, declared, value in fitted], chosen.returns


def result_of(value, returns):
    """Return what a device function gives: its result, converted to the declared Type."""
    if type(returns) is Type and is_number(value) and returns.is_number:
        return cast(value, returns.dtype)
    return None if returns == "void" else value


def _as_c_does(value, dtype):
    if value.dtype.kind in "fc" and dtype.kind in "iub":
        raise NotDeclared(f"is declared as {dtype} and got {value}, which is no whole number.")
    if value.dtype.kind == "c" and dtype.kind != "c":
        raise NotDeclared(f"is declared as {dtype} and got a complex number.")
    return value.astype(dtype)


def _fit(what, declared, value, convert):
    if type(declared) is tuple:
        if not isinstance(value, tuple) or len(value) != len(declared):
            raise NotDeclared(f"{what} is declared as a tuple of {len(declared)} and got {describe(value)}. {FIX}")
        parts = zip(declared, value, strict=True)
        return tuple(_fit(f"{what}[{i}]", d, v, convert) for i, (d, v) in enumerate(parts))
    if declared.is_number and is_number(value):
        try:
            return convert(value, declared.dtype)
        except NotDeclared as error:
            raise NotDeclared(f"{what} {error} {FIX}") from None
    wrong = _array_differs(declared, value)
    if wrong:
        raise NotDeclared(f"{what} is declared as {declared} and got {wrong}. {FIX}")
    return value


def _array_differs(declared, value):
    """Return what an array or a record is that a declared type does not take, "" for one that it takes."""
    if is_record(value) and not declared.ndim and value.dtype == declared.dtype:
        return ""
    if not isinstance(value, View) or not declared.ndim:
        return describe(value).rstrip(",")
    if value.ndim != declared.ndim:
        return f"an array with {value.ndim} axes"
    if value.dtype != declared.dtype:
        return f"an array of {value.dtype}"
    if declared.layout in "CF" and declared.layout not in layouts(value):
        order = "row by row" if declared.layout == "C" else "column by column"
        return f"an array that does not lie {order} without gaps"
    return ""


def layouts(view):
    """Return in which layouts a View lies: of "C" (row by row) and "F" (column by column) without gaps."""
    found = ""
    for layout, axes in (("C", range(view.ndim - 1, -1, -1)), ("F", range(view.ndim))):
        step, fits = 1, True
        for axis in axes:
            fits &= view.shape[axis] == 1 or view.strides[axis] == step
            step *= view.shape[axis]
        found += layout if fits or not view.size else ""
    return found


# ------------------------------------------------------------------------------------------- several signatures


def _choose(name, signatures, values):
    if len(signatures) == 1:
        if len(signatures[0].parameters) != len(values):
            raise NotDeclared(f"{name} declares {signatures[0]} and got {len(values)} values. {FIX}")
        return signatures[0]
    costs = [(_cost(each, values), each) for each in signatures]
    possible = sorted((cost for cost, _ in costs if cost is not None))
    listed = " or ".join(map(str, signatures[:8]))
    given = ", ".join(describe(v).rstrip(",") for v in values)
    if not possible:
        raise NotDeclared(f"{name} declares {listed}; none takes {given}. {FIX}")
    best = [each for cost, each in costs if cost == possible[0]]
    if len(best) > 1:
        raise NotDeclared(f"{name} declares {' and '.join(map(str, best))}, which take {given} equally well. {FIX}")
    return best[0]


def _cost(given: Signature, values):
    """Return (unsafe, safe, promoting) conversions that a signature needs, None if it cannot take the values."""
    counts = [0, 0, 0]
    if len(given.parameters) != len(values):
        return None
    for declared, value in zip(given.parameters, values, strict=True):
        if type(declared) is Type and declared.is_number and is_number(value):
            place = _conversion(value.dtype, declared.dtype)
            if place is None:
                return None
            if place < 3:
                counts[place] += 1
        elif type(declared) is tuple:
            if not isinstance(value, tuple) or len(value) != len(declared):
                return None
        elif _array_differs(declared, value):
            return None
        elif declared.layout == "A" and layouts(value):
            counts[1] += 1
    return tuple(counts)


@functools.cache
def _conversion(given, declared):
    """Return 0 for an unsafe, 1 for a safe, 2 for a promoting conversion, 3 for none at all, None if impossible."""
    found = _context().can_convert(from_dtype(np.dtype(given)), from_dtype(np.dtype(declared)))
    return None if found is None else {"unsafe": 0, "safe": 1, "promote": 2, "exact": 3}[found.name]
