"""Partial sums and the kernel that adds them up in a fixed order: what makes a long sum parallel and repeatable.

Atomic additions would do it in one kernel, in an order that differs from run to run, and with it the last bits. Here
each block writes what it has to a row of its own, and a second kernel adds the rows up, always the same way.

Source: the course's own; H, "Parallelism in a Convolution Layer" ("need atomic operations or tree reduction").
"""

import functools

import numpy as np

from course_lib import gpu
from course_lib.cuda.intrinsics import ld4, nonneg
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.reduce.block_sum import THREADS, WARPS, block_sum
from course_lib.cuda.numba_cuda import cuda, float32, uint32
from course_lib.cuda.operands import aligned

COLUMNS, SLICES = 32, 8
"""Numbers of a block of the second kernel, and threads that share the rows of one number."""

BLOCKS = 1056
"""Blocks that add up a bias gradient, at least; not the card's choice, so that all cards add alike."""


@jit(cache=True)
def _add_parts(sums, out):
    """out[k] = sum of sums[:, k]: thread row e adds rows e, e + SLICES, ...; then row 0 adds the SLICES sums."""
    s = cuda.shared.array((SLICES, COLUMNS), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    k = cuda.blockIdx.x * COLUMNS + tx
    total = float32(0)
    if k < out.size:
        for part in range(ty, sums.shape[0], SLICES):
            total += sums[part, k]
    s[ty, tx] = total
    cuda.syncthreads()
    if ty == 0 and k < out.size:
        for e in range(1, SLICES):
            total += s[e, tx]
        out[k] = total


def add_parts(sums, out):
    """Write out (...) = the sum of the rows of sums (parts, out.size), in the same order each time.

    No errors of its own. Source: the course's own.
    """
    _add_parts[-(-out.size // COLUMNS), (COLUMNS, SLICES)](sums, out.reshape(out.size))


@functools.cache
def _bias_parts(WIDE):
    """Return the kernel of a bias gradient's partial sums: a block for each part of the images and each map.

    sums[part, m] = sum of dy[b, m] over the part's images b. WIDE: loads of 16 bytes, where maps begin at a multiple.
    """
    STEP = 4 if WIDE else 1

    @jit(cache=True)
    def _bias_parts(dy, per, sums):
        s = cuda.shared.array(WARPS, float32)
        t, part, m = nonneg(cuda.threadIdx.x), nonneg(cuda.blockIdx.x), nonneg(cuda.blockIdx.y)
        images, steps = min(per, dy.shape[0] - part * per), uint32(dy.shape[2] // STEP)
        total = float32(0)
        for i in range(t, images * steps, THREADS):
            b = part * per + uint32(i) // steps
            o = (b * dy.shape[1] + m) * dy.shape[2] + uint32(i) % steps * STEP
            if WIDE:
                p, q, r, u = ld4(dy, o)
                total += (p + q) + (r + u)
            else:
                total += dy[b, m, uint32(i) % steps]
        total = block_sum(total, s)
        if t == 0:
            sums[part, m] = total

    return _bias_parts


def bias_gradient(dy, db):
    """Write db (M,) = the sum of dy (B, M, H_out, W_out) over images and places; nothing where db is None.

    No errors of its own: the launchers check. Source: H, "Calculating dE/dW" (a bias is a weight whose input is 1).
    """
    if db is None:
        return
    B, M, H_out, W_out = dy.shape
    per = -(-B // min(B, -(-BLOCKS // M)))  # images of a part
    sums = gpu.empty((-(-B // per), M), np.float32)
    kernel = _bias_parts(H_out * W_out % 4 == 0 and aligned(dy))
    kernel[tuple(sums.shape), THREADS](dy.reshape(B, M, H_out * W_out), per, sums)
    add_parts(sums, db)
