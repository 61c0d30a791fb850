"""Masks times an unrolled matrix that is there, sums in registers: rung v05's product without its index arithmetic.

What `v05_register_tiled` works out, the pixel of each element, stands in `cols` already. So a thread loads cols[n, k,
place], and the rest is v05: the same tiles, the same sums a thread, the columns of all images side by side.

Source: H, "Strategies for Lab 7", 2 and 4.
"""

import functools

from course_lib.cuda.intrinsics import nonneg
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.conv2d.forward.v05_register_tiled import BK, THREADS, shape_for
from course_lib.cuda.numba_cuda import cuda, float32
from course_lib.cuda.unroll import unroll


@functools.cache
def make(BM, BN, TM, TN):
    """Return the kernel whose blocks compute BM maps x BN columns, TM x TN a thread. No errors."""
    A_SIZE, SUMS, ACROSS, STEP = BK * BM, TM * TN, BN // TN, THREADS // BN

    @jit(cache=True)
    def _rows_times_cols_registers(rows, cols, first, y):
        weights = cuda.shared.array((BK, BM), float32)
        pixels = cuda.shared.array((BK, BN), float32)
        acc = cuda.local.array(SUMS, float32)
        w_reg, x_reg = cuda.local.array(TM, float32), cuda.local.array(TN, float32)
        B, depth, width = cols.shape
        M = rows.shape[0]
        t = nonneg(cuda.threadIdx.x)
        first_col, first_map = nonneg(cuda.blockIdx.x) * BN, nonneg(cuda.blockIdx.y) * BM
        mine = t % BN  # the one column of the matrix of which this thread stages every STEP-th element
        n, place = (first_col + mine) // width, (first_col + mine) % width
        tn, tm = t % ACROSS, t // ACROSS
        for i in range(SUMS):
            acc[i] = float32(0)

        for start in range(0, depth, BK):
            for i in range(t, A_SIZE, THREADS):
                k, m = i % BK, i // BK
                weight = float32(0)
                if first_map + m < M and start + k < depth:
                    weight = rows[first_map + m, start + k]
                weights[k, m] = weight
            for k in range(t // BN, BK, STEP):
                value = float32(0)
                if n < B and start + k < depth:
                    value = cols[n, start + k, place]
                pixels[k, mine] = value
            cuda.syncthreads()
            for k in unroll(BK):
                for i in range(TM):
                    w_reg[i] = weights[k, tm * TM + i]
                for j in range(TN):
                    x_reg[j] = pixels[k, tn + j * ACROSS]
                for i in range(TM):
                    for j in range(TN):
                        acc[i * TN + j] += w_reg[i] * x_reg[j]
            cuda.syncthreads()

        for j in range(TN):
            at = first_col + tn + j * ACROSS
            image, place = at // width, at % width
            if image < B:
                for i in range(TM):
                    m = first_map + tm * TM + i
                    if m < M:
                        y[first + image, m, place] = acc[i * TN + j]

    return _rows_times_cols_registers


def rows_times_cols(rows, cols, first, y):
    """Write rows (M, depth) times each of cols (images, depth, width) into y[first:], which is (B, M, width).

    No errors: the caller has checked. Source: H, "Strategies for Lab 7", 2 and 4.
    """
    (images, _, width), M = cols.shape, rows.shape[0]
    BM, BN, TM, TN = shape_for(M)
    make(BM, BN, TM, TN)[(-(-images * width // BN), -(-M // BM)), THREADS](rows, cols, first, y)
