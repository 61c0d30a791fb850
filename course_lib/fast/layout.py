"""How images lie in memory: the image number counts fastest.

Source: the course's choice. To the caller a batch is (B, C, H, W), as everywhere. In memory the same pixel
of all images lies side by side. One SIMD instruction then does the same step for 8 or 16 images, whatever
the width of the image, and a layer hands its output to the next without moving it.
(Lesson 12 meets the same idea on a GPU, where the threads of a warp should read neighbouring addresses.)
"""

import math

import numpy as np

from course_lib.fast.compile import kernel

CACHE_LINE = 64
"""Bytes. A 64-byte load that starts on such a border touches one cache line, any other touches two."""

TILE = 16


def empty(shape, dtype):
    """Return an array of this shape, or size, with undefined values, that begins on a cache line's border.

    No errors but NumPy's own. Source: the course's choice; unaligned loads were measured 25-60 % slower.
    """
    shape = (shape,) if isinstance(shape, int) else shape
    size = math.prod(shape) * np.dtype(dtype).itemsize
    raw = np.empty(size + CACHE_LINE, dtype=np.uint8)
    start = -raw.ctypes.data % CACHE_LINE
    return raw[start : start + size].view(dtype).reshape(shape)


def images_last(x):
    """Return x (B, C, H, W) as (C, H, W, B), contiguous; without a copy where it lies like that already.

    No errors. Source: the course's choice.
    """
    turned = x.transpose(1, 2, 3, 0)
    if turned.flags.c_contiguous:
        return turned
    out = empty(turned.shape, x.dtype)
    _turn(np.ascontiguousarray(x).reshape(x.shape[0], -1), out.reshape(-1, x.shape[0]))
    return out


def lies_images_last(x):
    """Return whether x is a batch (B, C, H, W) of which the image number counts fastest in memory.

    No errors. Source: the course's choice.
    """
    return x.ndim == 4 and x.transpose(1, 2, 3, 0).flags.c_contiguous


def images_first(y):
    """Return y (C, H, W, B) as the caller sees it, (B, C, H, W): a view. No errors. Source: the course's choice."""
    return y.transpose(3, 0, 1, 2)


@kernel
def _turn(x, out):
    """out (P, B) = x (B, P) transposed, tile by tile: a tile's lines stay in the cache until they are used up."""
    B, P = x.shape
    for top in range(0, P, TILE):
        for left in range(0, B, TILE):
            for i in range(top, min(top + TILE, P)):
                for j in range(left, min(left + TILE, B)):
                    out[i, j] = x[j, i]
