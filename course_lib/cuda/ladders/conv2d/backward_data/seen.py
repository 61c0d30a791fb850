"""Which outputs saw a pixel: along each axis a run of neighbours, found once by division and then counted through.

Output i saw row h through mask row p if i S + p = h + P. With 0 <= p < K that leaves i from (h + P - K + 1) / S,
rounded up, to (h + P) / S, rounded down, and p falls by S from one i to the next: no remainder, and nothing to ask for
each mask position. Both ends may lie outside of dy.

Source: H, "Calculating dE/dX"; the course's own.
"""

import numpy as np

from course_lib.cuda.jit import jit
from course_lib.cuda.numba_cuda import cuda

TILE = 16


@jit(device=True)
def whole(a, b):
    """Return a // b for a >= 0, b > 0: a machine divides 32 bits without a sign several times faster than 64 with."""
    return np.int64(np.uint32(a) // np.uint32(b))


@jit(device=True)
def first_and_last(row, mask, stride):
    """Return the first and the last output that can have seen `row`, counted with the padding; some may not exist."""
    first = whole(row - mask + stride + mask * stride, stride) - mask  # mask strides more, so that nothing is negative
    return first, whole(row, stride)


@jit(device=True)
def corner(W):
    """Return the first row and column of this block's tile of pixels; tiles of an image are counted along Z."""
    across = whole(W + TILE - 1, TILE)
    down = whole(cuda.blockIdx.z, across)
    return down * TILE, (cuda.blockIdx.z - down * across) * TILE
