"""One layer only, the lecture's own kernel for LeNet-5's C1: 1 map of 32 x 32, 6 masks of 5 x 5, 6 maps of 28 x 28.

Since v05: all sizes are constants, no edge is ragged, and the weights come from constant memory, so that a pixel read
from shared memory serves 6 products, and a weight needs no access to shared memory. A block of 128 threads computes 4
rows of all 6 output maps: it loads 8 rows of the input, two elements a thread, and then 112 = 4 x 28 threads each keep
6 sums, one for each map. 7 blocks make an image. Every thread loads every weight, which is fine with constant memory:
all want the same one at the same time.

Source: H, "Specialization for the LeNet-5 C1 Layer", "Block Organization", "Shared Tile", "Pseudo-Code for LeNet-5 C1".
"""

import functools
from dataclasses import replace

import numpy as np

from course_lib import gpu
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.conv2d.forward.checks import Sizes, check_launch
from course_lib.cuda.numba_cuda import cuda, float32

THREADS, COMPUTING, BLOCKS = 128, 112, 7
MOST_IMAGES = 65_535
"""Blocks in the grid's Y direction; with more images, a block takes every 65,535th."""
C1 = Sizes(B=0, C=1, H=32, W=32, M=6, K_h=5, K_w=5, s_h=1, s_w=1, p_h=0, p_w=0, H_out=28, W_out=28)
"""The layer, whatever the number of images."""


@functools.lru_cache(maxsize=8)
def make(frozen):
    """Return the kernel for masks (6, 1, 5, 5), given as bytes of float32. No errors of its own."""
    MASKS = np.frombuffer(frozen, np.float32).reshape(6, 5, 5)

    @jit
    def _conv2d_forward_v05b(x, b, biased, y):
        masks = cuda.const.array_like(MASKS)
        tile = cuda.shared.array((8, 32), float32)
        acc = cuda.local.array(6, float32)
        tx, top = cuda.threadIdx.x, cuda.blockIdx.x * 4
        row, col = tx // 32, tx % 32
        h, v = tx // 28, tx % 28
        for n in range(cuda.blockIdx.y, x.shape[0], cuda.gridDim.y):
            for m in range(6):
                acc[m] = b[m] if biased else float32(0)
            tile[row, col] = x[n, 0, top + row, col]
            tile[row + 4, col] = x[n, 0, top + row + 4, col]
            cuda.syncthreads()
            if tx < COMPUTING:
                for p in range(5):
                    for q in range(5):
                        pixel = tile[h + p, v + q]
                        for m in range(6):
                            acc[m] += pixel * masks[m, p, q]
                for m in range(6):
                    y[n, m, top + h, v] = acc[m]
            cuda.syncthreads()  # nobody may overwrite a tile that others still read

    return _conv2d_forward_v05b


def is_c1(s):
    """Return whether Sizes are those of C1, whatever B is. No errors. Source: H, "LeNet-5"."""
    return replace(s, B=0) == C1


def conv2d_forward_v05b_c1_layer(x, w, b, y, stride=(1, 1), pad=(0, 0)):
    """Write C1's output into y (B, 6, 28, 28), from x (B, 1, 32, 32), w (6, 1, 5, 5) and b (6,) or None.

    The masks are constants of the kernel: other weights are another kernel, as in v02.

    Errors: TypeError and ValueError as `check_launch`; ValueError for any other layer.
    Source: H, "Specialization for the LeNet-5 C1 Layer".
    """
    biased = b is not None
    x, w, b, y, s = check_c1(x, w, b, y, stride, pad)
    kernel = make(gpu.to_host(w).tobytes())
    kernel[(BLOCKS, min(s.B, MOST_IMAGES)), THREADS](x, b, biased, y)


def check_c1(x, w, b, y, stride, pad):
    """Return what `check_launch` does for arrays of C1; its errors, and ValueError for any other layer (...).

    Source: the course's own.
    """
    x, w, b, y, s = check_launch(x, w, b, y, stride, pad)
    if not is_c1(s):
        raise ValueError(
            f"x is {tuple(x.shape)}, w is {tuple(w.shape)}, stride {(s.s_h, s.s_w)} and pad {(s.p_h, s.p_w)}; this "
            "kernel is for LeNet-5's C1 alone, x (B, 1, 32, 32) and w (6, 1, 5, 5) with stride 1 and no padding. "
            "Use conv2d_forward_v06_specialised."
        )
    return x, w, b, y, s


def traffic(s):
    """Return what the executor counts for Sizes of C1 with a bias: a pixel is loaded 56/32 times, a weight never.

    No errors. Source: the course's own.
    """
    blocks = BLOCKS * s.B
    computing = -(-COMPUTING // 32)  # the last warp of 4 has 16 threads that compute
    return {
        "global_load_requests": blocks * 4 * (2 + 6),
        "global_load_bytes": blocks * (4 * 8 * 32 + 4 * 4 * 6),
        "global_store_requests": blocks * computing * 6,
        "global_store_bytes": blocks * COMPUTING * 6 * 4,
        "shared_load_requests": blocks * computing * 25,
        "constant_load_requests": blocks * computing * 25 * 6,
        "constant_load_wavefronts": blocks * computing * 25 * 6,
        "flops": 2 * blocks * COMPUTING * 25 * 6,
    }
