"""Functions of CUDA's `libdevice` beyond the usual floats: several results, bits, whole numbers, conversions by name.

Source: Numba's documentation, "libdevice functions"; NVIDIA, "libdevice User's Guide". The numbers are NumPy's: a last
bit may differ from a card's. Sums, products and roots that round up, down or to zero are not here.
"""

import math

import numpy as np
from numba.cuda import libdevice

from course_lib.simt.arithmetic import _brev, _clz, _ffs, _popc, fused, math_function
from course_lib.simt.functions import FUNCTIONS
from course_lib.simt.types import MATH, ieee_remainder
from course_lib.simt.values import cast
from course_lib.simt.vocabulary import PATHS

I4, I8, F4, F8 = (np.dtype(name) for name in ("int32", "int64", "float32", "float64"))


def _bits(x, dtype):
    return np.asarray(x).view(dtype)[()]


def _unsigned(act):
    """Return a function of whole numbers that takes their bits as numbers without a sign."""

    def compute(*values):
        bits = [np.asarray(v).view(f"u{v.dtype.itemsize}") for v in values]
        return act(*bits).astype(bits[0].dtype).view(values[0].dtype)[()]

    return compute


def _high(a, b):
    """Return the upper half of the product of two whole numbers of 32 bits."""
    return ((a.astype(np.int64) * b.astype(np.int64)) >> 32).astype(I4)


def _high_unsigned(a, b):
    """Return the upper half of the product of two numbers without a sign, of 32 or 64 bits."""
    half = np.array(4 * a.itemsize, a.dtype)[()]
    low = np.array((1 << int(half)) - 1, a.dtype)[()]
    a0, a1, b0, b1 = a & low, a >> half, b & low, b >> half
    middle = a1 * b0 + (a0 * b0 >> half)
    other = a0 * b1 + (middle & low)
    return a1 * b1 + (middle >> half) + (other >> half)


def _high64(a, b):
    high = _unsigned(_high_unsigned)(a, b)
    return high - np.where(a < 0, b, 0) - np.where(b < 0, a, 0)


def _24(value):
    return np.right_shift(np.left_shift(value, 8), 8)


def _byte_perm(x, y, selector):
    """Return four of the eight bytes of x and y, picked by four bits each; the highest of them repeats the sign."""
    both = x.astype(np.uint64) | (y.astype(np.uint64) << np.uint64(32))
    out = np.zeros_like(both)
    for k in range(4):
        pick = (selector >> np.uint32(4 * k)).astype(np.uint64)
        byte = both >> ((pick & np.uint64(7)) * np.uint64(8)) & np.uint64(255)
        byte = np.where(pick & np.uint64(8), np.where(byte & np.uint64(128), np.uint64(255), np.uint64(0)), byte)
        out |= byte << np.uint64(8 * k)
    return out


def _hiloint2double(high, low):
    bits = (np.asarray(high).astype(np.int64) << 32) | np.asarray(low).view(np.uint32).astype(np.int64)
    return _bits(bits, np.float64)


def _quotient(x, y):
    """Return (the IEEE remainder, the lowest bits of the quotient, with its sign)."""
    rest = ieee_remainder(x, y)
    n = np.rint((x.astype(np.longdouble) - rest) / y)
    return rest, cast(np.fmod(n, 8).astype(np.float64), I4)


def _exponent(x):
    """Return floor(log2(abs(x))), as float; infinite for 0 and infinity."""
    _, e = np.frexp(x)
    return np.where(x == 0, -np.inf, np.where(np.isfinite(x), e - 1, np.abs(x))).astype(x.dtype)[()]


def _pi(function):
    """Return a function of x * pi, exact where x is a multiple of 1/2."""

    def compute(x):
        turn = np.fmod(x.astype(np.longdouble), 2)
        exact = np.array([0, 1, 0, -1])[(np.rint(2 * turn).astype(np.int64) + (function is np.cos)) % 4]
        return np.where(np.rint(2 * turn) == 2 * turn, exact, function(turn * np.longdouble(np.pi))).astype(x.dtype)[()]

    return compute


def _round(x):
    return np.trunc(x + np.copysign(x.dtype.type(0.5), x))


SEVERAL = {
    "sincos": lambda x: (np.sin(x), np.cos(x)), "sincospi": lambda x: (_pi(np.sin)(x), _pi(np.cos)(x)),
    "modf": np.modf, "frexp": np.frexp, "remquo": _quotient,
}  # fmt: skip
"""Functions with two results, for float64; with f at the end, for float32."""

FLOATS = {
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "erf": MATH[math.erf], "erfc": MATH[math.erfc],
    "tgamma": MATH[math.gamma], "lgamma": MATH[math.lgamma], "remainder": ieee_remainder, "nextafter": np.nextafter,
    "nearbyint": np.rint, "rcbrt": lambda x: 1 / np.cbrt(x), "logb": _exponent, "sinpi": _pi(np.sin),
    "cospi": _pi(np.cos), "ldexp": np.ldexp, "scalbn": np.ldexp, "powi": np.power, "ilogb": lambda x: cast(
        _exponent(x), I4), "normcdf": lambda x: MATH[math.erfc](-x / np.sqrt(x.dtype.type(2))) / x.dtype.type(2),
    "llrint": lambda x: cast(np.rint(x), I8), "llround": lambda x: cast(_round(x), I8),
}  # fmt: skip

WHOLE = {
    "abs": np.abs, "llabs": np.abs, "min": np.minimum, "max": np.maximum, "llmin": np.minimum, "llmax": np.maximum,
    "umin": _unsigned(np.minimum), "umax": _unsigned(np.maximum), "ullmin": _unsigned(np.minimum),
    "ullmax": _unsigned(np.maximum), "popc": _popc, "popcll": _popc, "clz": _clz, "clzll": _clz, "ffs": _ffs,
    "ffsll": _ffs, "brev": lambda x: _brev(x).view(x.dtype), "brevll": lambda x: _brev(x).view(x.dtype),
    "mulhi": _high, "mul64hi": _high64, "umulhi": _unsigned(_high_unsigned), "umul64hi": _unsigned(_high_unsigned),
    "mul24": lambda a, b: _24(a) * _24(b), "umul24": _unsigned(lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF)),
    "sad": lambda x, y, z: np.maximum(x, y) - np.minimum(x, y) + z,
    "usad": _unsigned(lambda x, y, z: np.maximum(x, y) - np.minimum(x, y) + z),
    "hadd": lambda x, y: (x.astype(np.int64) + y) >> 1, "rhadd": lambda x, y: (x.astype(np.int64) + y + 1) >> 1,
    "uhadd": _unsigned(lambda x, y: (x.astype(np.uint64) + y) >> np.uint64(1)),
    "urhadd": _unsigned(lambda x, y: (x.astype(np.uint64) + y + np.uint64(1)) >> np.uint64(1)),
    "byte_perm": _unsigned(_byte_perm),
}  # fmt: skip
"""Functions of int32 and int64; those that begin with u take the bits as numbers without a sign."""

BITS = {
    "double_as_longlong": lambda x: _bits(x, np.int64), "longlong_as_double": lambda x: _bits(x, np.float64),
    "float_as_int": lambda x: _bits(x, np.int32), "int_as_float": lambda x: _bits(x, np.float32),
    "double2hiint": lambda x: _bits(_bits(x, np.int64) >> 32, np.int64).astype(I4),
    "double2loint": lambda x: _bits(x, np.int64).astype(I4), "hiloint2double": _hiloint2double,
    "float2half_rn": lambda x: _bits(x.astype(np.float16), np.int16), "half2float": lambda x: _bits(x, np.float16),
    "signbitd": np.signbit, "signbitf": np.signbit, "isnand": np.isnan, "isnanf": np.isnan, "isinfd": np.isinf,
    "isinff": np.isinf, "isfinited": np.isfinite, "finitef": np.isfinite,
    "fast_sincosf": SEVERAL["sincos"],
}  # fmt: skip

NEAREST = {
    "fadd_rn": np.add, "fsub_rn": np.subtract, "fmul_rn": np.multiply, "fdiv_rn": np.divide, "fmaf_rn": fused,
    "fsqrt_rn": np.sqrt, "frcp_rn": np.reciprocal, "dadd_rn": np.add, "dmul_rn": np.multiply, "ddiv_rn": np.divide,
    "fma_rn": fused, "dsqrt_rn": np.sqrt, "drcp_rn": np.reciprocal, "frsqrt_rn": lambda x: 1 / np.sqrt(x),
}  # fmt: skip
"""Operations that round to the nearest number, as those of Python do."""

ROUNDED = {"rn": np.rint, "rd": np.floor, "ru": np.ceil, "rz": np.trunc}


def _to_whole(rounded, kind):
    """Return a conversion of floats to whole numbers; Numba gives those without a sign the type of the others."""
    dtype = np.dtype(kind)
    return lambda x: np.asarray(cast(rounded(x), dtype)).view(f"i{dtype.itemsize}")[()]


def _from_bits(kind, to):
    return lambda x: np.asarray(x).view(kind).astype(to)[()]


CONVERSIONS = {
    f"{name}2{whole}_{how}": _to_whole(rounded, kind)
    for name in ("float", "double")
    for whole, kind in (("int", "i4"), ("uint", "u4"), ("ll", "i8"), ("ull", "u8"))
    for how, rounded in ROUNDED.items()
} | {
    f"{whole}2{name}_rn": _from_bits(kind, to)
    for whole, kind in (("int", "i4"), ("uint", "u4"), ("ll", "i8"), ("ull", "u8"))
    for name, to in (("float", F4), ("double", F8))
} | {"double2float_rn": lambda x: x.astype(F4)}  # fmt: skip

for _name, _numpy in {
    **SEVERAL, **FLOATS, **{f"{n}f": f for n, f in (SEVERAL | FLOATS).items()}, **WHOLE, **BITS, **NEAREST,
    **CONVERSIONS,
}.items():  # fmt: skip
    if hasattr(libdevice, _name):
        _what = getattr(libdevice, _name)
        FUNCTIONS[f"libdevice.{_name}"] = math_function(_what, _numpy)
        PATHS[id(_what)] = (_what, f"libdevice.{_name}")
