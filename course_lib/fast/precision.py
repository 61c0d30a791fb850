"""Rounding to small formats in two passes over memory: `course_lib.reference.formats.round_to`, for speed.

Training in a small format rounds whatever goes in and out of a layer; NumPy walks over it a dozen times.

Source: IEEE 754-2008, 4.3.1.
"""

import math

import numpy as np

from course_lib.fast.compile import exact
from course_lib.fast.threads import share
from course_lib.reference import formats
from course_lib.reference.formats import find_format
from course_lib.validate import as_float

COST = 16
"""Multiply-adds of a convolution that take as long as one number here."""


def round_to(x, name, *, saturate=False):
    """Return x (...) rounded to a format, halves to even, as float32: as the reference's `round_to`, in x's own order.

    Raises
    ------
    TypeError, ValueError
        As the reference's.

    Source: IEEE 754-2008, 4.3.1.
    """
    form, x = find_format(name), as_float("x", x)
    if x.dtype != np.float32 or x.ndim == 0 or form.fraction_bits == 23:
        return formats.round_to(x, name, saturate=saturate)
    out = np.empty_like(x)  # where numbers lie side by side in x, they do in out
    if out.strides != x.strides:
        return formats.round_to(x, name, saturate=saturate)
    rows, rounded = x.ravel(order="K"), out.ravel(order="K")
    if not np.shares_memory(rounded, out):
        return formats.round_to(x, name, saturate=saturate)
    drop, narrow = 23 - form.fraction_bits, form.exponent_bits < 8
    normal, magic = (form.smallest_normal, 1.5 * 2.0**23 * form.smallest) if narrow else (0.0, 0.0)
    beyond = form.largest if saturate else np.inf if form.infinity else np.nan
    numbers = (np.float32(v) for v in (normal, magic, form.largest, beyond))
    bits, rounded_bits = rows.view(np.uint32), rounded.view(np.uint32)
    share(_round, x.size, COST * x.size, rows, bits, np.uint32(drop), *numbers, rounded, rounded_bits)
    return out


@exact
def _round(first, last, x, bits, drop, normal, magic, largest, beyond, out, out_bits):
    x, bits, out, out_bits = x[first:last], bits[first:last], out[first:last], out_bits[first:last]
    one, less = np.uint32(1), np.uint32((1 << (drop - 1)) - 1)
    kept = np.uint32(~np.uint32((1 << drop) - 1))
    for i in range(x.size):
        b = bits[i]
        out_bits[i] = np.uint32(np.uint32(b + less + np.uint32(np.uint32(b >> drop) & one)) & kept)
    for i in range(x.size):
        v, y = x[i], out[i]
        if abs(v) < normal:
            y = math.copysign(np.float32(np.float32(v + magic) - magic), v)
        if abs(v) == np.float32(np.inf) or abs(y) > largest:
            y = math.copysign(beyond, v)
        out[i] = v if v != v else y
