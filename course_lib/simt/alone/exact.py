"""Operations on numbers of one type, bit by bit what the walk's NumPy gives (`values`, `expressions`).

Source: PTX ISA, "cvt" (conversions); NumPy's documentation, "Bitwise operations" and "floor_divide".
"""

import math

import numpy as np

from course_lib.fast.compile import exact


@exact
def floor_divide(a, b):
    """Return a // b of whole numbers of one type, b not 0; the lowest number divided by -1 stays as it is."""
    return -a if b == -1 else a // b


@exact
def modulo(a, b):
    """Return a % b of whole numbers of one type, b not 0."""
    return a - a if b == -1 else a % b


@exact
def left_shift(a, b):
    """Return a << b of 64-bit numbers of one type; 0 beyond 63."""
    return a << b if 0 <= b < 64 else a - a


@exact
def right_shift(a, b):
    """Return a >> b of 64-bit numbers of one type; beyond 63 only the sign is left."""
    return a >> b if 0 <= b < 64 else a >> (a - a + 63)


@exact
def whole64(x):
    """Cut off the fraction of a float and return int64: the nearest that fits; the lowest number for NaN."""
    if math.isnan(x) or x <= -9223372036854775808.0:
        return np.int64(-9223372036854775808)
    return np.int64(9223372036854775807) if x >= 9223372036854775808.0 else np.int64(x)


@exact
def whole32(x, double):
    """Cut off the fraction of a float and return int32; of NaN the lowest number if it has 64 bits, else 0."""
    if math.isnan(x):
        return np.int32(-2147483648) if double else np.int32(0)
    if x <= -2147483648.0:
        return np.int32(-2147483648)
    return np.int32(2147483647) if x >= 2147483647.0 else np.int32(x)


@exact
def smaller(a, b):
    """Return the smaller of two floats; of a NaN and a number the number."""
    return b if math.isnan(a) else a if math.isnan(b) or a <= b else b


@exact
def larger(a, b):
    """Return the larger of two floats; of a NaN and a number the number."""
    return b if math.isnan(a) else a if math.isnan(b) or a >= b else b
