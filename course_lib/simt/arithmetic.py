"""The functions of numbers that a kernel may call: math, conversions, extremes, bits.

Source: Numba's documentation, "Supported Python features in CUDA Python" and "CUDA Kernel API".
"""

import math

import numpy as np
from numba import cuda

from course_lib.simt import types
from course_lib.simt.functions import FUNCTIONS, function
from course_lib.simt.memory import View
from course_lib.simt.reductions import extreme_of_array
from course_lib.simt.values import apply, cast, describe, is_number
from course_lib.simt.vocabulary import register


def math_function(what, numpy_function, flops=1):
    """Return the entry for a function of numbers that Numba knows as `what` and NumPy as `numpy_function`."""

    def compute(e, mask, node, *values):
        for value in values:
            if not is_number(value):
                raise TypeError(f"{describe(value)} is no number")
        result = apply(what, numpy_function, *values)
        if numpy_function is fused and result.dtype == np.float64:
            e.machine.budget -= mask.count // 3  # lane by lane in Python
        dtype = (result[0] if type(result) is tuple else result).dtype
        parts = 4 if what is abs and values[0].dtype.kind == "c" else 0  # two squares, their sum and its root
        e.machine.count(node.lineno, mask, dtype, parts if what in NO_ARITHMETIC else flops)
        return result

    return compute


NO_ARITHMETIC = (
    abs, math.fabs, math.floor, math.ceil, math.trunc, math.copysign, math.isnan, math.isinf, math.isfinite,
    math.frexp, math.ldexp, math.modf, math.nextafter,
)  # fmt: skip
"""They look at bits, or cut them off; nobody counts them as floating-point operations, nor minimum and maximum."""


def fused(a, b, c):
    """Return a * b + c with one rounding, for vectors of one dtype."""
    if a.dtype == np.float64:
        return np.vectorize(_exact_fma, otypes=[np.float64])(a, b, c)
    return (a.astype(np.float64) * b.astype(np.float64) + c.astype(np.float64)).astype(a.dtype)


def _exact_fma(a, b, c):
    """Multiply and add with one rounding; the product of two float64 numbers fits into a fraction of whole numbers."""
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return a * b + c
    (an, ad), (bn, bd), (cn, cd) = (float(v).as_integer_ratio() for v in (a, b, c))
    try:
        return (an * bn * cd + cn * ad * bd) / (ad * bd * cd)
    except OverflowError:
        return a * b + c


def _float(e, mask, node, value):
    if type(value) is not str:
        return _conversion(float)(e, mask, node, value)
    try:
        return np.float64(float(value))  # such as "inf": a constant for Numba too
    except ValueError:
        raise TypeError(f"{describe(value)} is no number") from None


def _conversion(what):
    def convert(e, mask, node, value):
        if not is_number(value):
            raise TypeError(f"{describe(value)} is no number")
        return cast(value, types.signature(what, value.dtype)[0])

    return convert


@function("bool")
def _bool(e, mask, node, value):
    if not is_number(value):
        raise TypeError(f"{describe(value)} is neither true nor false")
    return value != 0


@function("cuda.selp")
def _selp(e, mask, node, condition, yes, no):
    if not all(map(is_number, (condition, yes, no))):
        raise TypeError("it takes a condition and two numbers")
    dtype = types.unify(yes.dtype, no.dtype)
    if dtype.kind == "c":
        raise TypeError("Numba has none for complex numbers; write yes if condition else no")
    return np.where(condition != 0, cast(yes, dtype), cast(no, dtype))[()]


def _extreme(what, numpy_function):
    def compute(e, mask, node, *values):
        values = values[0] if len(values) == 1 and isinstance(values[0], tuple) else values
        if len(values) == 1 and isinstance(values[0], View) and values[0].ndim == 1:
            return extreme_of_array(e, mask, node, values[0], np.less if what is min else np.greater)
        other = [v for v in values if not is_number(v)]
        if len(values) < 2 or other:
            none = f"; {describe(other[0])} is none" if len(values) > 1 else ""
            raise TypeError(f"it takes at least two numbers{none}")
        result = values[0]
        if any(value.dtype.kind == "c" for value in values):
            raise TypeError("complex numbers have no order; compare their absolute values")
        for value in values[1:]:
            dtype = types.signature(what, result.dtype, value.dtype)[0]
            result = numpy_function(cast(result, dtype), cast(value, dtype))
            e.machine.count(node.lineno, mask)
        return result

    return compute


def _bits_of(value):
    return np.asarray(value).view(f"uint{8 * value.dtype.itemsize}")


def _popc(x):
    return np.bitwise_count(_bits_of(x))[()]


def _clz(x):
    x, width = _bits_of(x), 8 * x.dtype.itemsize
    zeros = np.full(x.shape, width, np.int64)
    for k in range(width):  # the highest bit that is set wins: it comes last
        zeros = np.where((x >> x.dtype.type(k)) & x.dtype.type(1), width - 1 - k, zeros)
    return zeros


def _ffs(x):
    bits = _bits_of(x)
    lowest = bits & (~bits + bits.dtype.type(1))
    return np.where(bits == 0, 0, 8 * x.dtype.itemsize - _clz(lowest))


def _brev(x):
    bits, width = _bits_of(x), 8 * x.dtype.itemsize
    out = np.zeros_like(bits)
    for k in range(width):
        out |= ((bits >> bits.dtype.type(k)) & bits.dtype.type(1)) << bits.dtype.type(width - 1 - k)
    return out


FUNCTIONS |= {
    "int": _conversion(int),
    "float": _float,
    "min": _extreme(min, np.fmin),
    "max": _extreme(max, np.fmax),
    "abs": math_function(abs, np.abs),
    "cuda.fma": math_function(cuda.fma, fused, flops=2),
    "cuda.cbrt": math_function(cuda.cbrt, np.cbrt),
    "cuda.popc": math_function(cuda.popc, _popc),
    "cuda.clz": math_function(cuda.clz, _clz),
    "cuda.ffs": math_function(cuda.ffs, _ffs),
    "cuda.brev": math_function(cuda.brev, _brev),
    **{f"math.{f.__name__}": math_function(f, numpy_function) for f, numpy_function in types.MATH.items()},
}


@function("pow")
def _pow(e, mask, node, base, exponent):
    return e.power(base, exponent, mask, node)


register(FUNCTIONS)
