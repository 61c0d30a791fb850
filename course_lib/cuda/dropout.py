"""Dropout on the device, one launch each way: `course_lib.reference.dropout`'s functions, with the same places.

Source: Srivastava et al. (2014), "Dropout: A Simple Way to Prevent Neural Networks from Overfitting"; the chance is a
counter, Steele, Lea and Flood (2014), "Fast Splittable Pseudorandom Number Generators". Each thread computes the random
bits of its own numbers, so no mask goes through memory.
"""

import numpy as np

from course_lib.cuda.elementwise import THREADS, TILE, flat, like, tiles, whole_tiles
from course_lib.cuda.intrinsics import ld4, nonneg, st4
from course_lib.cuda.jit import jit
from course_lib.cuda.numba_cuda import cuda, float32, uint64
from course_lib.cuda.operands import operand
from course_lib.reference.dropout import ALL, GAMMA, MIX1, MIX2, check_dropout


def dropout_forward(x, rate, seed):
    """Return (y, cache): y is 0 with chance `rate`, else x / (1 - rate), in one launch.

    Parameters
    ----------
    x : (...) float32 device array
    rate : float in [0, 1)
        Chance to be dropped. It is rounded to a multiple of 2^-32.
    seed : int, 0 <= seed < 2^64
        Equal seeds drop equal places of equal shapes; take another one in every step and every layer. A recorded
        launch (`gpu.record`) repeats the one it was given.

    Returns
    -------
    y : device array of x's shape
    cache : tuple

    Raises
    ------
    TypeError
        If x is not a float32 device array, or seed is no whole number.
    ValueError
        If x is empty or has gaps, or rate or seed is out of range.

    Source: Srivastava et al. (2014), section 4.
    """
    keep, seed = check_dropout(rate, seed)
    x = operand("x", x)
    return _launched(x, keep, seed), (keep, seed, tuple(x.shape))


def dropout_backward(dy, cache):
    """Return dx: 0 where y was dropped, else dy / (1 - rate), in one launch; no mask was stored.

    dy (...) of the shape of y, else ValueError; returns (...). Source: Srivastava et al. (2014), section 5.1.
    """
    keep, seed, shape = cache
    return _launched(operand("dy", dy, shape=shape), keep, seed)


def _launched(x, keep, seed):
    y = like(x)
    numbers = np.uint64(seed), np.uint64(keep), np.float32(ALL / keep)
    _dropout[tiles(x.size), THREADS](flat(x), *numbers, whole_tiles(x.size, x, y), flat(y))
    return y


@jit(device=True)
def _kept(x, i, seed, keep, scale):
    z = seed + (uint64(i) + uint64(1)) * uint64(GAMMA)  # whole numbers of 64 bits, which wrap around
    z = (z ^ (z >> uint64(30))) * uint64(MIX1)
    z = (z ^ (z >> uint64(27))) * uint64(MIX2)
    z = z ^ (z >> uint64(31))
    return x * scale if (z >> uint64(32)) < keep else float32(0)


@jit(cache=True)
def _dropout(x, seed, keep, scale, whole, y):
    t, first = nonneg(cuda.threadIdx.x), nonneg(cuda.blockIdx.x) * TILE
    if first < whole:
        i = first + 4 * t
        a, b, c, d = ld4(x, i)
        a, b = _kept(a, i, seed, keep, scale), _kept(b, i + 1, seed, keep, scale)
        c, d = _kept(c, i + 2, seed, keep, scale), _kept(d, i + 3, seed, keep, scale)
        st4(y, i, a, b, c, d)
    else:
        for i in range(first + t, min(first + TILE, y.size), THREADS):
            y[i] = _kept(x[i], i, seed, keep, scale)
