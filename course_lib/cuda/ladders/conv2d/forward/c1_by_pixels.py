"""LeNet-5's C1 coarsened the other way: a thread computes four pixels of one map, so that a weight serves four.

H's kernel, the rung v05b, gives a thread one pixel of all six maps, and every thread loads every weight: "coarsened the
wrong way". Here a warp has one map. Its lanes are the columns, and a lane keeps the sums of 4 rows. A weight is loaded
once for 4 products, and a pixel for one; there, a pixel serves 6 products and a weight one. Both tiles are the same.

    a block of 32 x 6 threads     v05b: 4 warps    here: 6 warps
    constant_load_requests        4 x 150          6 x 25
    shared_load_requests          4 x 25           6 x 100

It stands beside the ladder: what it saves in constant memory, which serves 32 lanes at once, it pays in shared memory.

Source: H, "Coarsening Does Not Match Tiling Choices", "Specialization for the LeNet-5 C1 Layer".
"""

import functools

import numpy as np

from course_lib import gpu
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.conv2d.forward.v05b_c1_layer import BLOCKS, MOST_IMAGES, check_c1
from course_lib.cuda.numba_cuda import cuda, float32

MAPS, ROWS, COLUMNS = 6, 4, 28
"""Warps of a block, rows of outputs that it computes, lanes of a warp that compute."""


@functools.lru_cache(maxsize=8)
def make(frozen):
    """Return the kernel for masks (6, 1, 5, 5), given as bytes of float32. No errors of its own."""
    MASKS = np.frombuffer(frozen, np.float32).reshape(6, 5, 5)

    @jit
    def _conv2d_forward_c1_by_pixels(x, b, biased, y):
        masks = cuda.const.array_like(MASKS)
        tile = cuda.shared.array((8, 32), float32)
        acc = cuda.local.array(4, float32)
        v, m, top = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.x * ROWS
        for n in range(cuda.blockIdx.y, x.shape[0], cuda.gridDim.y):
            for row in range(m, 8, MAPS):
                tile[row, v] = x[n, 0, top + row, v]
            for h in range(4):
                acc[h] = b[m] if biased else float32(0)
            cuda.syncthreads()
            if v < COLUMNS:
                for p in range(5):
                    for q in range(5):
                        weight = masks[m, p, q]
                        for h in range(4):
                            acc[h] += weight * tile[h + p, v + q]
                for h in range(4):
                    y[n, m, top + h, v] = acc[h]
            cuda.syncthreads()  # nobody may overwrite a tile that others still read

    return _conv2d_forward_c1_by_pixels


def conv2d_forward_c1_by_pixels(x, w, b, y, stride=(1, 1), pad=(0, 0)):
    """Write C1's output into y (B, 6, 28, 28), from x (B, 1, 32, 32), w (6, 1, 5, 5) and b (6,) or None.

    Errors: TypeError and ValueError as `check_launch`; ValueError for any other layer.
    Source: H, "Coarsening Does Not Match Tiling Choices".
    """
    biased = b is not None
    x, w, b, y, s = check_c1(x, w, b, y, stride, pad)
    make(gpu.to_host(w).tobytes())[(BLOCKS, min(s.B, MOST_IMAGES)), (32, MAPS)](x, b, biased, y)


def traffic(s):
    """Return what the executor counts for Sizes of C1 with a bias: a weight serves 4 products, a pixel one.

    No errors. Source: the course's own.
    """
    blocks = BLOCKS * s.B
    return {
        "global_load_requests": blocks * (8 + MAPS * ROWS),
        "global_load_bytes": blocks * 4 * (8 * 32 + MAPS * ROWS),
        "global_store_requests": blocks * MAPS * ROWS,
        "global_store_bytes": blocks * MAPS * ROWS * COLUMNS * 4,
        "shared_load_requests": blocks * MAPS * 25 * ROWS,
        "constant_load_requests": blocks * MAPS * 25,
        "constant_load_wavefronts": blocks * MAPS * 25,
        "flops": 2 * blocks * MAPS * ROWS * COLUMNS * 25,
    }
