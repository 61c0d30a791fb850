"""Dropout in one pass over memory: `course_lib.reference.dropout`'s functions, for speed, with the same places.

Source: Srivastava et al. (2014), section 4; Steele, Lea and Flood (2014).
"""

import numpy as np

from course_lib.fast.compile import kernel
from course_lib.fast.layout import empty
from course_lib.fast.threads import share
from course_lib.reference.dropout import ALL, GAMMA, MIX1, MIX2, check_dropout, check_upstream
from course_lib.validate import as_float

COST = 16
"""Multiply-adds of a convolution that take as long as one number here."""

_GAMMA, _MIX1, _MIX2, _ONE = np.uint64(GAMMA), np.uint64(MIX1), np.uint64(MIX2), np.uint64(1)
_30, _27, _31, _32 = (np.uint64(n) for n in (30, 27, 31, 32))


def dropout_forward(x, rate, seed):
    """Return (y, cache): y is 0 with chance `rate`, else x / (1 - rate); the reference's places and numbers.

    x (...) real numbers, else TypeError; a rate or a seed out of range is a ValueError. Source: Srivastava et al.
    (2014), section 4.
    """
    keep, seed = check_dropout(rate, seed)
    x = as_float("x", x)
    return _dropped(x, keep, seed), (keep, seed, x.shape)


def dropout_backward(dy, cache):
    """Return dx: 0 where y was dropped, else dy / (1 - rate).

    dy (...) of the shape of y, else ValueError; returns (...). Source: Srivastava et al. (2014), section 5.1.
    """
    keep, seed, shape = cache
    return _dropped(check_upstream(dy, shape), keep, seed)


def _dropped(x, keep, seed):
    x = np.ascontiguousarray(x)
    y = empty(x.size, x.dtype)
    numbers = np.uint64(seed), np.uint64(keep), x.dtype.type(ALL / keep)
    share(_dropout, x.size, COST * x.size, x.reshape(-1), *numbers, y)
    return y.reshape(x.shape)


@kernel
def _dropout(first, last, x, seed, keep, scale, y):
    x, y = x[first:last], y[first:last]
    before = seed + np.uint64(first) * _GAMMA
    for i in range(x.size):
        z = before + (np.uint64(i) + _ONE) * _GAMMA  # whole numbers of 64 bits, which wrap around
        z = (z ^ (z >> _30)) * _MIX1
        z = (z ^ (z >> _27)) * _MIX2
        z ^= z >> _31
        y[i] = x[i] * scale if (z >> _32) < keep else 0
