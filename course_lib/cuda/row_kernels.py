"""Softmax of the rows of a matrix, with each row's loss where labels are given: three kernels, by the row's length.

Up to 32 classes, a thread takes a row: a block stages 128 rows in shared memory, so that its loads and stores are of
neighbouring numbers although a thread's own are not. Up to 1,024, a warp takes a row and keeps it in registers. Above,
a block takes a row and walks over it three times.

All of them compute k = softmax of sign * z, with e^extra as one more term of the sum. The softmax has sign 1 and extra
-infinity, which adds nothing; the radial basis loss has sign -1. With LOSS, a row's loss is -ln k[T]; what a label out
of range would read is not read, but counted.

Source: H, "Use Softmax to Produce Probabilities"; NVIDIA, "CUDA C++ Programming Guide", "Warp Shuffle Functions".
"""

import functools
import math

import numpy as np

from course_lib.cuda.intrinsics import ld4, nonneg, st4
from course_lib.cuda.jit import jit
from course_lib.cuda.numba_cuda import cuda, float32, int64
from course_lib.cuda.operands import aligned
from course_lib.cuda.sums import WARPS, block_largest, block_total, warp_largest, warp_total
from course_lib.cuda.unroll import unroll

SHORT, MIDDLE = 32, 1024
"""Longest rows that a thread and a warp take."""

ROWS = 128
"""Rows, and threads, of a block that gives each thread a row."""

BLOCK_WARPS = ROWS // 32
"""Its warps."""

NOTHING = np.float32(-np.inf)
"""An exponent that adds nothing to a sum: e^NOTHING is 0."""


@functools.cache
def by_threads(C, WIDE, LOSS):
    """Return the kernel for rows of C <= SHORT numbers; blocks of ROWS threads, one a row. No errors.

    WIDE: z and k begin at a multiple of 16 bytes. A thread has all its loads on their way before it waits for the
    first. Where C is a multiple of 4, rows in shared memory are one number longer, so that neighbouring threads find
    theirs in different banks; four neighbours of z then lie in one row.
    """
    PAD = int(C % 4 == 0)
    PITCH = C + PAD
    SIZE = ROWS * PITCH
    LOADS = -(-C // 4)  # of 16 bytes, of a thread
    HELD = 4 * LOADS

    @jit(cache=True)
    def _softmax_by_threads(z, labels, sign, extra, k, parts):
        tile, s = cuda.shared.array(SIZE, float32, 16), cuda.shared.array((BLOCK_WARPS, 2), float32)
        q, v = cuda.local.array(HELD, float32), cuda.local.array(C, float32)
        t, first = nonneg(cuda.threadIdx.x), nonneg(cuda.blockIdx.x) * ROWS
        rows = min(ROWS, z.shape[0] - first)
        whole = rows * C // 4 * 4 if WIDE else 0

        T = int64(-1)
        if LOSS and t < rows:
            T = int64(labels[first + t])
        for n in unroll(LOADS):
            i = 4 * (t + n * ROWS)
            if i < whole:
                q[4 * n], q[4 * n + 1], q[4 * n + 2], q[4 * n + 3] = ld4(z, first * C + i)
        for n in unroll(LOADS):
            i = 4 * (t + n * ROWS)
            if i < whole and PAD:
                at = i + i // C
                tile[at], tile[at + 1] = q[4 * n], q[4 * n + 1]
                tile[at + 2], tile[at + 3] = q[4 * n + 2], q[4 * n + 3]
            elif i < whole:
                st4(tile, i, q[4 * n], q[4 * n + 1], q[4 * n + 2], q[4 * n + 3])
        for i in range(whole + t, rows * C, ROWS):
            tile[i + PAD * (i // C)] = z[first + i // C, i % C]
        cuda.syncthreads()

        loss, bad = float32(0), float32(0)
        if t < rows:
            at = t * PITCH
            best = extra
            for j in unroll(C):
                v[j] = sign * tile[at + j]
                best = max(best, v[j])
            right = float32(0)
            if 0 <= T < C:
                right = sign * tile[at + T]
            elif LOSS:
                bad = float32(1)
            total = math.exp(extra - best)
            for j in unroll(C):
                v[j] = math.exp(v[j] - best)
                total += v[j]
            share = float32(1) / total  # one division a row
            for j in unroll(C):
                tile[at + j] = v[j] * share
            if LOSS and bad == float32(0):
                loss = math.log(total) - (right - best)
        if LOSS:
            loss, bad = warp_total(loss), warp_total(bad)
            if t % 32 == 0:
                s[t // 32, 0], s[t // 32, 1] = loss, bad
        cuda.syncthreads()

        for n in unroll(LOADS):
            i = 4 * (t + n * ROWS)
            if i < whole and PAD:
                at = i + i // C
                st4(k, first * C + i, tile[at], tile[at + 1], tile[at + 2], tile[at + 3])
            elif i < whole:
                a, b, c, d = ld4(tile, i)
                st4(k, first * C + i, a, b, c, d)
        for i in range(whole + t, rows * C, ROWS):
            k[first + i // C, i % C] = tile[i + PAD * (i // C)]
        if LOSS and t < 2:
            total = float32(0)
            for warp in range(BLOCK_WARPS):
                total += s[warp, t]
            parts[cuda.blockIdx.x, t] = total

    return _softmax_by_threads


@functools.cache
def by_warps(N, LOSS):
    """Return the kernel for rows of up to 32 N numbers; blocks of 4 warps, one a row. No errors."""

    @jit(cache=True)
    def _softmax_by_warps(z, labels, sign, extra, k, parts):
        v, s = cuda.local.array(N, float32), cuda.shared.array(WARPS, float32)
        C = z.shape[1]
        lane, row = cuda.threadIdx.x % 32, cuda.blockIdx.x * 4 + cuda.threadIdx.x // 32

        loss, bad = float32(0), float32(0)
        if row < z.shape[0]:  # the same for all lanes of a warp
            best = extra
            for n in unroll(N):
                v[n] = NOTHING
                if lane + 32 * n < C:
                    v[n] = sign * z[row, lane + 32 * n]
                    best = max(best, v[n])
            best = warp_largest(best)
            total = float32(0)
            for n in unroll(N):
                if lane + 32 * n < C:
                    v[n] = math.exp(v[n] - best)
                    total += v[n]
            total = warp_total(total) + math.exp(extra - best)
            share = float32(1) / total
            for n in unroll(N):
                if lane + 32 * n < C:
                    k[row, lane + 32 * n] = v[n] * share
            if LOSS and lane == 0:
                T = int64(labels[row])
                if 0 <= T < C:
                    loss = math.log(total) - (sign * z[row, T] - best)
                else:
                    bad = float32(1)
        if LOSS:
            loss, bad = block_total(loss, s), block_total(bad, s)
            if cuda.threadIdx.x == 0:
                parts[cuda.blockIdx.x, 0], parts[cuda.blockIdx.x, 1] = loss, bad

    return _softmax_by_warps


@functools.cache
def by_blocks(LOSS):
    """Return the kernel for rows of any length; a block a row. No errors."""

    @jit(cache=True)
    def _softmax_by_blocks(z, labels, sign, extra, k, parts):
        s = cuda.shared.array(WARPS, float32)
        C, row, t, threads = z.shape[1], cuda.blockIdx.x, cuda.threadIdx.x, cuda.blockDim.x

        best = extra
        for j in range(t, C, threads):
            best = max(best, sign * z[row, j])
        best = block_largest(best, s)
        total = float32(0)
        for j in range(t, C, threads):
            total += math.exp(sign * z[row, j] - best)
        total = block_total(total, s) + math.exp(extra - best)
        share = float32(1) / total
        for j in range(t, C, threads):
            k[row, j] = math.exp(sign * z[row, j] - best) * share
        if LOSS and t == 0:
            T = int64(labels[row])
            if 0 <= T < C:
                parts[row, 0], parts[row, 1] = math.log(total) - (sign * z[row, T] - best), float32(0)
            else:
                parts[row, 0], parts[row, 1] = float32(0), float32(1)

    return _softmax_by_blocks


def choose(z, k, LOSS):
    """Return (kernel, blocks, threads) for device arrays z and k (rows, C). No errors. Source: the course's own."""
    rows, C = z.shape
    if C <= SHORT:
        return by_threads(C, aligned(z, k), LOSS), -(-rows // ROWS), ROWS
    if C <= MIDDLE:
        N = 1 << (-(-C // 32) - 1).bit_length()  # the next power of two, so that there are few kernels
        return by_warps(N, LOSS), -(-rows // 4), 128
    return by_blocks(LOSS), rows, 256
