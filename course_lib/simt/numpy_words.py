"""NumPy's functions of numbers: np.sin(x), np.maximum(x, y), np.isnan(x) ..., as many as Numba knows for CUDA.

Source: Numba's documentation, "Supported NumPy features in CUDA Python". np.sqrt, np.exp, np.abs and others that Numba
has for a CPU only are no words here, and a message says what to write instead.
"""

import numpy as np

from course_lib.simt import types
from course_lib.simt.complexes import part_of
from course_lib.simt.functions import FUNCTIONS, function
from course_lib.simt.limits import limits_of
from course_lib.simt.values import cast, describe, is_number
from course_lib.simt.vocabulary import register

OF_ONE = (
    "acos", "acosh", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "asin", "asinh", "atan", "atanh",
    "bitwise_invert", "bitwise_not", "cos", "cosh", "deg2rad", "degrees", "invert", "isnan", "log", "log10", "log2",
    "logical_not", "rad2deg", "radians", "sin", "sinh", "tan", "tanh",
)  # fmt: skip
OF_TWO = (
    "arctan2", "atan2", "bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor",
    "divide", "equal", "fmax", "fmin", "greater", "greater_equal", "hypot", "left_shift", "less", "less_equal",
    "logical_and", "logical_or", "logical_xor", "maximum", "minimum", "not_equal", "right_shift", "true_divide",
)  # fmt: skip
NOT_COUNTED = ("fmax", "fmin", "maximum", "minimum")


def _entry(ufunc, flops):
    """Return the entry for a function of NumPy: it computes in the type of its result, if that is no truth."""

    def act(e, mask, node, *values):
        result = types.signature(ufunc, *(_number(v).dtype for v in values))[0]
        if result.kind != "b":
            values = [cast(v, result) for v in values]
        e.machine.count(node.lineno, mask, result, flops)
        return cast(ufunc(*values), result)

    return act


for _name in (*OF_ONE, *OF_TWO):
    if hasattr(np, _name):
        FUNCTIONS[f"np.{_name}"] = _entry(getattr(np, _name), 0 if _name in NOT_COUNTED else 1)


@function("np.conj")
def _conjugate(e, mask, node, value):
    """Numba gives a boolean the type int8 here, and no other number another one."""
    value = _number(value)
    return np.conjugate(cast(value, np.dtype(np.int8)) if value.dtype == np.bool_ else value)


FUNCTIONS["np.conjugate"] = _conjugate


@function("np.real")
def _real(e, mask, node, value):
    return part_of(_with_parts(value), "real")


@function("np.imag")
def _imag(e, mask, node, value):
    return part_of(_with_parts(value), "imag")


@function("np.angle")
def _angle(e, mask, node, value, deg=None):
    """Return the angle as float64, in degrees if `deg`; it is computed in the number's own precision."""
    value = _with_parts(value)
    part = np.float32 if value.dtype in (np.complex64, np.float32, np.int16, np.int8, np.uint8) else np.float64
    e.machine.count(node.lineno, mask, np.dtype(part))
    angle = np.arctan2(*(cast(part_of(value, name), np.dtype(part)) for name in ("imag", "real"))).astype(np.float64)[
        ()
    ]
    return angle if deg is None else np.where(e._as_bool(deg, node), angle * float(180 / np.pi), angle)[()]


@function("np.sinc")
def _sinc(e, mask, node, value):
    value = _number(value)
    x = cast(value, np.dtype(np.complex128 if value.dtype.kind == "c" else np.float64)) * np.pi
    e.machine.count(node.lineno, mask, x.dtype, 3)
    return np.where(x == 0, x.dtype.type(1), np.sin(x) / np.where(x == 0, x.dtype.type(1), x))[()]


def _limits(word):
    def act(e, mask, node, value):
        return limits_of(word, getattr(value, "dtype", None))

    return act


FUNCTIONS["np.finfo"], FUNCTIONS["np.iinfo"] = _limits("finfo"), _limits("iinfo")


@function("np.isscalar")
def _isscalar(e, mask, node, value):
    return np.bool_(is_number(value))


def _with_parts(value):
    if _number(value).dtype == np.bool_:
        raise TypeError("a bool has no real and no imaginary part")
    return value


def _number(value):
    if not is_number(value):
        raise TypeError(f"{describe(value)} is no number")
    return value


register(path for path in FUNCTIONS if path.startswith("np."))
