"""Builtins and operators as functions of numbers: round, divmod, sum, operator.add.

Source: Numba's documentation, "Supported Python features in CUDA Python"; the rounding is that of Numba's CUDA target.
"""

import numpy as np

from course_lib.simt import types
from course_lib.simt.expressions import NUMPY
from course_lib.simt.functions import FUNCTIONS, function
from course_lib.simt.memory import View
from course_lib.simt.values import apply, cast, describe, is_number
from course_lib.simt.vocabulary import register

EXACT_POWER = 22
"""The largest power of 10 that a float64 holds exactly."""


@function("round")
def _round(e, mask, node, value, digits=None):
    if not is_number(value) or not (digits is None or is_number(digits)):
        raise TypeError(f"{describe(value if digits is None else digits)} is no number")
    if digits is None:
        return cast(np.rint(value), types.signature(round, value.dtype)[0])
    result, (dtype, whole) = types.signature(round, value.dtype, digits.dtype)
    e.machine.count(node.lineno, mask, np.dtype(np.float64), 2)
    return cast(round_to(cast(value, dtype), cast(digits, whole).astype(np.int64)), result)


def round_to(x, digits):
    """Return x rounded to so many decimals, as float64; x itself where x * 10**digits is too large.

    As Numba's CUDA target computes it, after CPython's fallback: a half goes to the even neighbour, and the whole
    number between has 64 bits, beyond which a GPU takes the largest.
    """
    x, least = x.astype(np.float64), np.float64(0.5)
    more = np.maximum(digits - EXACT_POWER, 0)
    by, by_more = np.power(10.0, np.abs(digits) - more), np.power(10.0, more)
    by, by_more = np.where(more > 0, by_more, by), np.where(more > 0, 1e22, 1.0)
    up = digits >= 0
    scaled = np.where(up, (x * by) * by_more, x / by)
    whole = _nearest(scaled)
    whole = np.where(np.abs(scaled - whole) == least, 2.0 * _nearest(scaled / 2.0), whole)
    rounded = np.where(up, (whole / by_more) / by, whole * by)
    return np.where(np.isfinite(x) & ~(up & np.isinf(scaled)), rounded, x)[()]


def _nearest(x):
    return cast(np.rint(x), np.dtype(np.int64)).astype(np.float64)


@function("divmod")
def _divmod(e, mask, node, a, b):
    _, dtypes = types.signature(divmod, *(_dtype(v) for v in (a, b)))
    a, b = (cast(v, dtype) for v, dtype in zip((a, b), dtypes, strict=True))
    return e._binary("FloorDiv", a, b, mask, node), e._binary("Mod", a, b, mask, node)


def _dtype(value):
    if not is_number(value):
        raise TypeError(f"{describe(value)} is no number")
    return value.dtype


def _binary(name):
    def act(e, mask, node, a, b):
        return e._binary(name, a, b, mask, node)

    return act


def _other(what, numpy_function):
    def act(e, mask, node, *values):
        e.machine.count(node.lineno, mask)
        return apply(what, numpy_function, *values)

    return act


@function("operator.not_")
def _not(e, mask, node, value):
    return ~e._as_bool(value, node)


@function("operator.getitem")
def _getitem(e, mask, node, array, index):
    if not isinstance(array, View) or not is_number(index) or index.dtype.kind not in "iub":
        raise TypeError("it takes an array and a whole number")
    return e.machine.load(array, [index], mask, node)


WORDS = {
    "Add": "add", "Sub": "sub", "Mult": "mul", "Div": "truediv", "FloorDiv": "floordiv", "Mod": "mod", "Pow": "pow",
    "LShift": "lshift", "RShift": "rshift", "BitAnd": "and_", "BitOr": "or_", "BitXor": "xor",
}  # fmt: skip
"""What the module `operator` calls the operations of two numbers; its iadd is the same for numbers, and so on."""

for _name, _word in WORDS.items():
    FUNCTIONS[f"operator.{_word}"] = FUNCTIONS[f"operator.i{_word.rstrip('_')}"] = _binary(_name)
for _name, _what in (*types.COMPARE.items(), *types.UNARY.items()):
    if _name in NUMPY:
        FUNCTIONS[f"operator.{_what.__name__}"] = _other(_what, NUMPY[_name])
FUNCTIONS["operator.not_"] = _not
register(path for path in FUNCTIONS if path.startswith("operator."))
