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


def tiles_of(H, W):
    """Return how many tiles of TILE x TILE pixels an image has: one image after the other, along the grid's X.

    No errors. Source: the course's own.
    """
    return -(-H // TILE) * -(-W // TILE)


@jit(device=True)
def image_and_corner(H, W):
    """Return this block's image, and the first row and column of its tile of pixels."""
    across = whole(W + TILE - 1, TILE)
    tiles = whole(H + TILE - 1, TILE) * across
    image = whole(cuda.blockIdx.x, tiles)
    tile = cuda.blockIdx.x - image * tiles
    down = whole(tile, across)
    return image, down * TILE, (tile - down * across) * TILE
