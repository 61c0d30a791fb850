"""What expressions compute with: a NumPy scalar where all lanes agree, else a vector with a number per lane.

Source: the course's own. Every value has a dtype, and every operation casts first, as Numba would (`types`).
"""

import numpy as np

from course_lib.simt import types
from course_lib.simt.bundles import Bundle
from course_lib.simt.either import Either, either
from course_lib.simt.memory import View
from course_lib.simt.parts import is_no_number, named

NUMBERS = (np.ndarray, np.number, np.bool_)


def is_number(value):
    """Return whether a value is a number or a boolean, of one lane or of all."""
    return isinstance(value, NUMBERS)


def apply(function, numpy_function, *values):
    """Return numpy_function(*values) with arguments and result, or results, of the dtypes that Numba gives `function`.

    Raises
    ------
    types.NoSuchOperation
        If Numba has no such operation, or a value is not a number.
    """
    for value in values:
        if not isinstance(value, NUMBERS):
            if isinstance(value, View) and value.ndim:
                raise types.NoSuchOperation(is_no_number(value))
            hint = ""
            if getattr(value, "path", "") in ("cuda.threadIdx", "cuda.blockIdx", "cuda.blockDim", "cuda.gridDim"):
                hint = f" Write {value.path}.x."
            raise types.NoSuchOperation(f"{describe(value)} is no number that could be computed with.{hint}")
    if len(values) == 2:
        a, b = values
        result, (first, second) = types.signature(function, a.dtype, b.dtype)
        found = numpy_function(a if a.dtype is first else cast(a, first), b if b.dtype is second else cast(b, second))
    else:
        result, arguments = types.signature(function, *[v.dtype for v in values])
        if len(values) == 1 and arguments[0] == np.bool_ != result:  # -True: the bits of a whole number count
            arguments = (result,)
        found = numpy_function(*[cast(v, d) for v, d in zip(values, arguments, strict=True)])
    if type(result) is tuple:
        return tuple(cast(part, dtype) for part, dtype in zip(found, result, strict=True))
    return found if found.dtype is result else cast(found, result)


def cast(value, dtype):
    """Return a value as another dtype, as a GPU converts; without a copy where it has it already."""
    if value.dtype == dtype:
        return value
    if value.dtype.kind == "c" and dtype.kind not in "cb":
        raise types.NoSuchOperation(f"a {value.dtype} cannot become a {dtype}. Take its part z.real, or abs(z).")
    if value.dtype.kind == "f" and dtype.kind in "iu":
        return _whole(value, dtype)
    return value.astype(dtype)


def _whole(value, dtype):
    """Cut off the fraction; a number that does not fit becomes the nearest that does.

    As the instruction `cvt` does it (PTX ISA, "cvt"), seen on an H200: types of less than 32 bits take the low bits of
    16; NaN becomes 0, or only the highest bit where 64 bits come in or go out; float16 is rounded, not cut.
    """
    if dtype.itemsize < 2:
        return _whole(value, np.dtype(f"{dtype.kind}2")).astype(dtype)
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    wide = value.astype(np.float64)
    number = np.rint(wide) if value.dtype == np.float16 else np.trunc(wide)
    fits = np.clip(np.nan_to_num(number, nan=0.0, posinf=np.inf, neginf=-np.inf), float(low), _below(float(high) + 1.0))
    out = np.where(number >= float(high) + 1.0, dtype.type(high), fits.astype(dtype))
    if 8 in (value.dtype.itemsize, dtype.itemsize) or value.dtype == np.float16:
        highest = np.array(1 << (8 * dtype.itemsize - 1), f"u{dtype.itemsize}").view(dtype)
        out = np.where(np.isnan(wide), highest, out)
    return out[()]


def _below(number):
    return np.nextafter(number, 0.0)


def remainder(a, b):
    """Return a % b of floats as a GPU computes it: a - b * trunc(a / b), fused, and with the sign of b."""
    whole = np.trunc(a / b)
    rest = (a.astype(np.longdouble) - whole.astype(np.longdouble) * b.astype(np.longdouble)).astype(a.dtype)
    rest = np.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)
    return np.where(rest == 0, np.copysign(rest, b), rest)[()]


def merge(old, new, mask):
    """Return a variable after lanes of `mask` were given `new`; the others keep `old`, in a dtype that holds both.

    Raises
    ------
    types.NoSuchOperation
        If the two have no common type.
    """
    if mask.bits is None:
        return new
    if isinstance(old, tuple) and isinstance(new, tuple) and len(old) == len(new):
        return tuple(merge(a, b, mask) for a, b in zip(old, new, strict=True))
    if isinstance(old, Bundle) and isinstance(new, Bundle) and old.tag == new.tag:
        return new.replaced(merge(old.parts, new.parts, mask))
    if isinstance(old, View) and isinstance(new, View):
        if old is new:
            return new
        if _alike(old, new):
            return new.part(np.where(mask.bits, new.offset, old.offset), new.shape, new.strides)
        if old.dtype == new.dtype and old.ndim == new.ndim:
            return either(old, new, mask.bits)
    if not is_number(old) or not is_number(new):
        if type(old) is type(new) and not isinstance(old, tuple | View) and old == new:
            return new
        raise types.NoSuchOperation(
            f"One variable cannot be {describe(old)} in some threads and {describe(new)} in others."
        )
    dtype = types.unify(old.dtype, new.dtype) if old.dtype != new.dtype else new.dtype
    if np.ndim(old) == np.ndim(new) == 0 and cast(old, dtype) == cast(new, dtype):
        return cast(new, dtype)
    return np.where(mask.bits, cast(new, dtype), cast(old, dtype))


def _alike(a, b):
    sizes = (*a.shape, *b.shape)
    if type(a) is Either or type(b) is Either or any(np.ndim(s) for s in sizes):
        return False
    return a.memory is b.memory and a.shape == b.shape and a.strides == b.strides


class Conflict:
    """What a variable is that was given things of different kinds on two paths. Source: the course's own."""

    def __init__(self, why):
        self.why = why


def join(a, b):
    """Return what a variable is after two paths met, one of which gave it a, the other b; types unify as in Numba."""
    if a is b:
        return a
    if is_number(a) and is_number(b):
        try:
            dtype = a.dtype if a.dtype == b.dtype else types.unify(a.dtype, b.dtype)
        except types.NoSuchOperation as error:
            return Conflict(str(error))
        return cast(a if np.ndim(a) else b, dtype)
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return tuple(join(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, Bundle) and isinstance(b, Bundle) and a.tag == b.tag:
        return a.replaced(join(a.parts, b.parts))
    if isinstance(a, View) and isinstance(b, View) and a.dtype == b.dtype and a.ndim == b.ndim:
        if a.memory is not b.memory:  # a store may mean either
            a.memory.may_change = b.memory.may_change = True
        return a
    if type(a) is Conflict or (type(a) is type(b) and not isinstance(a, tuple | View) and a == b):
        return a
    return Conflict(f"One variable cannot be {describe(a)} on one path and {describe(b)} on another.")


def kind(value):
    """Return what decides the types that come out of a value: its dtype, or an array's dtype and number of axes."""
    if is_number(value):
        return value.dtype
    if isinstance(value, tuple):
        return tuple(kind(v) for v in value)
    if isinstance(value, View):
        return ("array", value.dtype, value.ndim)
    if isinstance(value, Bundle):
        return type(value), value.tag
    return type(value)


MOST_PARTS = 64
"""Of a tuple, counted with those of the tuples in it."""


def too_long(value, most=MOST_PARTS):
    """Return whether a tuple has more than `most` parts; no more than these are looked at."""
    waiting, count = [value], 0
    while waiting and count <= most:
        part = waiting.pop()
        if type(part) is tuple:
            waiting.extend(part[: most + 1])
            count += 1
        count += 1
    return count > most


def describe(value, as_number=True):
    """Return how a message names a value; `as_number`: a number was wanted, so a row is told how to write one."""
    if isinstance(value, View):
        if value.dtype.names and not value.ndim:
            return f"{value.name}, a record of {', '.join(value.dtype.names)},"
        return named(value, as_number)
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}"
    if type(value) is str:
        return f"the text {value[:40]!r}"
    if is_number(value):
        return f"{'an' if value.dtype.kind == 'i' else 'a'} {value.dtype}"
    return getattr(value, "path", None) or f"a {type(value).__name__}"
