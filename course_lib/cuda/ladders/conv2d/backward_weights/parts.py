"""Partial sums and the kernel that adds them up in a fixed order: what makes a long sum parallel and repeatable.

Atomic additions would do it in one kernel, in an order that differs from run to run, and with it the last bits. Here
each block writes what it has to a row of its own, and a second kernel adds the rows up, always the same way.

Source: the course's own; H, "Parallelism in a Convolution Layer" ("need atomic operations or tree reduction").
"""

import numpy as np

from course_lib import gpu
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.reduce.block_sum import THREADS, WARPS, block_sum
from course_lib.cuda.numba_cuda import cuda, float32

COLUMNS, SLICES = 32, 8
"""Numbers of a block of the second kernel, and threads that share the rows of one number."""

MOST_PARTS = 256
"""Rows of partial sums that a bias gradient has at most; not the card's choice, so that all cards add alike."""


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


@jit(cache=True)
def _bias_parts(dy, sums, lanes):
    """sums[part, m] = sum of dy[b, m] over b = part, part + parts, ...: a block for each part and map.

    `lanes` threads share an image, so that small images keep a block busy too.
    """
    s = cuda.shared.array(WARPS, float32)
    part, m, parts = cuda.blockIdx.x, cuda.blockIdx.y, sums.shape[0]
    team, lane = cuda.threadIdx.x // lanes, cuda.threadIdx.x % lanes
    total = float32(0)
    for b in range(part + team * parts, dy.shape[0], THREADS // lanes * parts):
        for o in range(lane, dy.shape[2], lanes):
            total += dy[b, m, o]
    total = block_sum(total, s)
    if cuda.threadIdx.x == 0:
        sums[part, m] = total


def bias_gradient(dy, db):
    """Write db (M,) = the sum of dy (B, M, H_out, W_out) over images and places; nothing where db is None.

    No errors of its own: the launchers check. Source: H, "Calculating dE/dW" (a bias is a weight whose input is 1).
    """
    if db is None:
        return
    B, M, H_out, W_out = dy.shape
    sums = gpu.empty((min(B, MOST_PARTS), M), np.float32)
    lanes = THREADS if H_out * W_out >= THREADS else 32
    _bias_parts[tuple(sums.shape), THREADS](dy.reshape(B, M, H_out * W_out), sums, lanes)
    add_parts(sums, db)
