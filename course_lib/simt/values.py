"""What expressions compute with: a NumPy scalar where all lanes agree, else a vector with a number per lane.

Source: the course's own. Every value has a dtype, and every operation casts first, as Numba would (`types`).
"""

import numpy as np

from course_lib.simt import types
from course_lib.simt.memory import View


def is_number(value):
    """Return whether a value is a number or a boolean, of one lane or of all."""
    return isinstance(value, np.number | np.bool_ | np.ndarray)


def apply(function, numpy_function, *values):
    """Return numpy_function(*values) with arguments and result of the dtypes that Numba gives `function`.

    Raises
    ------
    types.NoSuchOperation
        If Numba has no such operation, or a value is not a number.
    """
    for value in values:
        if not is_number(value):
            raise types.NoSuchOperation(f"{describe(value)} is no number that could be computed with.")
    result, arguments = types.signature(function, *(v.dtype for v in values))
    cast_values = [cast(v, dtype) for v, dtype in zip(values, arguments, strict=True)]
    return cast(numpy_function(*cast_values), result)


def cast(value, dtype):
    """Return a value as another dtype; without a copy where it has it already."""
    return value if value.dtype == dtype else value.astype(dtype)


def merge(old, new, mask):
    """Return a variable after lanes of `mask` were given `new`; the others keep `old`. Types unify as in Numba.

    Raises
    ------
    types.NoSuchOperation
        If the two have no common type.
    """
    if mask.bits is None:
        return new
    if isinstance(old, tuple) and isinstance(new, tuple) and len(old) == len(new):
        return tuple(merge(a, b, mask) for a, b in zip(old, new, strict=True))
    if isinstance(old, View) and isinstance(new, View):
        if old.memory is new.memory and old.shape == new.shape and old.strides == new.strides:
            offsets = np.where(mask.bits, new.offset, old.offset)
            return View(old.memory, offsets, old.shape, old.strides, old.name)
        raise types.NoSuchOperation(
            f"One variable cannot be {describe(old)} in some threads and {describe(new)} in others."
        )
    if not is_number(old) or not is_number(new):
        if old is new:
            return new
        raise types.NoSuchOperation(
            f"One variable cannot be {describe(old)} in some threads and {describe(new)} in others."
        )
    dtype = types.unify(old.dtype, new.dtype) if old.dtype != new.dtype else new.dtype
    if np.ndim(old) == np.ndim(new) == 0 and cast(old, dtype) == cast(new, dtype):
        return cast(new, dtype)
    return np.where(mask.bits, cast(new, dtype), cast(old, dtype))


def describe(value):
    """Return how a message names a value."""
    if isinstance(value, View):
        return f"an array {value.shape} of {value.dtype}"
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}"
    if is_number(value):
        return f"a {value.dtype}"
    return f"{value!r}"
