"""Rounding to small formats, scaling, and whether all is finite, on the device: the reference's names.

Source: IEEE 754-2008, 4.3.1; P. Micikevicius et al., "Mixed Precision Training" (2018), section 3.2.
"""

import functools
import math

import numpy as np

from course_lib import gpu
from course_lib.cuda.arrays import copy_of, zeros
from course_lib.cuda.elementwise import apply, flat, like
from course_lib.cuda.intrinsics import bits_float, float_bits
from course_lib.cuda.jit import jit
from course_lib.cuda.numba_cuda import cuda, float32, uint32
from course_lib.cuda.operands import operand
from course_lib.reference.formats import find_format

THREADS, BLOCKS = 256, 1024
"""Threads of a block, and blocks at most, where a thread looks at several numbers."""


def round_to(x, name, *, saturate=False):
    """Return x (...) rounded to a format, halves to even, as float32 on the device: `formats.round_to`, one launch.

    Raises TypeError for what is no float32 device array, and ValueError for an unknown format or an empty array.
    Source: IEEE 754-2008, 4.3.1.
    """
    form, x = find_format(name), operand("x", x)
    if form.fraction_bits == 23:
        return copy_of(x)
    out = like(x)
    apply(_rounding(name, bool(saturate)), out, x)
    return out


def scale_by(a, factor):
    """Multiply a float32 device array (...) by a number, in place; else TypeError.

    Source: Micikevicius et al. (2018), 3.2 (unscale the gradients before the update).
    """
    a = operand("a", a)
    apply(_scaled, a, a, number=factor)


def all_finite(arrays):
    """Return whether no number of these float32 device arrays, (...) each, is NaN or infinite: one copy of a number.

    Raises TypeError if one is none. Source: Micikevicius et al. (2018), 3.2 (skip the update after an overflow).
    """
    found = zeros((1,))
    for i, array in enumerate(arrays):
        array = flat(operand(f"arrays[{i}]", array))
        _count_others[min(-(-array.size // THREADS), BLOCKS), THREADS](array, found)
    return not gpu.to_host(found)[0]


@functools.cache
def _rounding(name, saturate):
    """Return the device function that rounds one number: `formats.round_to` says why each step."""
    form = find_format(name)
    drop = 23 - form.fraction_bits
    DROP, LESS = np.uint32(drop), np.uint32(2 ** (drop - 1) - 1)
    ONE, KEPT = np.uint32(1), np.uint32(2**32 - 2**drop)
    NARROW = form.exponent_bits < 8
    NORMAL, MAGIC = (np.float32(v if NARROW else 0) for v in (form.smallest_normal, 1.5 * 2.0**23 * form.smallest))
    LARGEST = np.float32(form.largest)
    BEYOND = LARGEST if saturate else np.float32(np.inf if form.infinity else np.nan)

    @jit(device=True)
    def rounded(x, number):
        bits = float_bits(x)
        out = bits_float(uint32(uint32(bits + LESS + uint32(uint32(bits >> DROP) & ONE)) & KEPT))
        if NARROW and abs(x) < NORMAL:
            out = math.copysign(float32(x + MAGIC) - MAGIC, x)
        if math.isinf(x) or abs(out) > LARGEST:
            out = math.copysign(BEYOND, x)
        return x if math.isnan(x) else out

    return rounded


@jit(device=True)
def _scaled(x, number):
    return x * number


@jit(cache=True)
def _count_others(x, found):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        if not math.isfinite(x[i]):
            cuda.atomic.add(found, 0, float32(1))
