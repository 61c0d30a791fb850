"""Lesson 15's unrolling kernels with indices of 32 bits without a sign, to time them beside the page's, which have 64.

A card divides 64-bit numbers step by step. Numba's own indices have 64 bits; here everything that is divided is cast
to uint32, as the rung `v04_implicit_gemm` does, and K, W_out, depth and places come as np.uint32.

Source: the course's own.
"""

import numpy as np

from course_lib.cuda.jit import jit
from course_lib.cuda.numba_cuda import cuda, float32

TILE = 16


@jit(cache=True)
def unroll_elements_32(x, K, W_out, depth, places, cols):
    """Write cols (B, C K K, places), at most 2^32 - 1 numbers, the windows of x (B, C, H, W): a thread, a number."""
    i = np.uint32(cuda.grid(1))
    if i < cols.size:
        line, place = np.uint32(i // places), np.uint32(i % places)
        n, k = np.uint32(line // depth), np.uint32(line % depth)
        row, q = np.uint32(k // K), np.uint32(k % K)
        c, p = np.uint32(row // K), np.uint32(row % K)
        cols[n, k, place] = x[n, c, np.uint32(place // W_out) + p, np.uint32(place % W_out) + q]


@jit(cache=True)
def unroll_columns_32(x, K, W_out, depth, places, cols):
    """Write cols as `unroll_elements_32` does: a thread, the K K numbers of one window of one map."""
    i = np.uint32(cuda.grid(1))
    if i < x.shape[0] * x.shape[1] * places:
        C = np.uint32(x.shape[1])
        line, place = np.uint32(i // places), np.uint32(i % places)
        n, c = np.uint32(line // C), np.uint32(line % C)
        h, v = np.uint32(place // W_out), np.uint32(place % W_out)
        for p in range(K):
            for q in range(K):
                cols[n, (c * K + p) * K + q, place] = x[n, c, h + p, v + q]


@jit(cache=True)
def implicit_32(x, rows, K, W_out, y):
    """Write y (B, M, places), rows (M, C K K) times the windows of x (B, C, H, W), in blocks of TILE x TILE threads."""
    weights = cuda.shared.array((TILE, TILE), float32)
    pixels = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, m = np.uint32(cuda.blockIdx.x * TILE + tx), cuda.blockIdx.y * TILE + ty
    places = np.uint32(y.shape[2])
    n, place = np.uint32(column // places), np.uint32(column % places)
    h, v = np.uint32(place // W_out), np.uint32(place % W_out)
    total = float32(0)
    for start in range(0, rows.shape[1], TILE):
        weights[ty, tx] = pixels[ty, tx] = float32(0)
        if m < rows.shape[0] and start + tx < rows.shape[1]:
            weights[ty, tx] = rows[m, start + tx]
        k = np.uint32(start + ty)
        line, q = np.uint32(k // K), np.uint32(k % K)
        c, p = np.uint32(line // K), np.uint32(line % K)
        if n < x.shape[0] and k < rows.shape[1]:
            pixels[ty, tx] = x[n, c, h + p, v + q]
        cuda.syncthreads()
        for i in range(TILE):
            total += weights[ty, i] * pixels[i, tx]
        cuda.syncthreads()
    if m < y.shape[1] and n < y.shape[0]:
        y[n, m, place] = total
