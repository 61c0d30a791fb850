"""The kernels of LeNet-5's subsampling layers, y = w[c] * (sum of a window) + b[c], and of their two gradients a map.

Source: H, "Subsampling Layers in LeNet-5". Arrays are flat, and sizes uint32, as in `pool_forward`.
"""

import functools

import numpy as np

from course_lib import gpu
from course_lib.cuda.elementwise import flat
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.reduce.block_sum import THREADS, WARPS, block_sum
from course_lib.cuda.numba_cuda import cuda, float32
from course_lib.cuda.pool_forward import place

PARTS = 64
"""Blocks that share a map's sums, at the most."""


@functools.cache
def forward(size):
    """Return the kernel for windows of `size` side by side. No errors. Source: H, "Subsampling Layers in LeNet-5"."""
    F_h, F_w = size

    @jit(cache=True)
    def _subsample(x, w, b, H, W, H_out, W_out, y, sums):
        i = np.uint32(cuda.grid(1))
        if i < y.size:
            m, h, v = place(i, H_out, W_out)
            at = np.uint32((m * H + h * F_h) * W + v * F_w)
            total = float32(0)
            for p in range(F_h):
                for q in range(F_w):
                    total += x[np.uint32(at + p * W + q)]
            c = np.uint32(m % np.uint32(w.size))
            sums[i] = total
            y[i] = w[c] * total + b[c]

    return _subsample


@functools.cache
def backward(size):
    """Return the kernel in which a thread writes w[c] * dy to the pixels of its window; 0 to a rest at the end.

    `count` threads, `down` x `across` for each map. No errors. Source: K, "Chain Rule".
    """
    F_h, F_w = size

    @jit(cache=True)
    def _subsample_back(dy, w, H, W, H_out, W_out, down, across, count, dx):
        i = np.uint32(cuda.grid(1))
        if i < count:
            m, h, v = place(i, down, across)
            d = float32(0)
            if h < H_out and v < W_out:
                d = w[np.uint32(m % np.uint32(w.size))] * dy[np.uint32((m * H_out + h) * W_out + v)]
            for p in range(F_h):
                for q in range(F_w):
                    row, column = np.uint32(h * F_h + p), np.uint32(v * F_w + q)
                    if row < H and column < W:
                        dx[np.uint32((m * H + row) * W + column)] = d

    return _subsample_back


@jit(cache=True)
def _sums_of_maps(dy, sums, C, area, count, dw_parts, db_parts):
    """Block (p, c) adds up its part of map c's numbers, over all images: of dy, and of dy times the windows' sums."""
    s_w, s_b = cuda.shared.array(WARPS, float32), cuda.shared.array(WARPS, float32)
    p, c, t = cuda.blockIdx.x // C, cuda.blockIdx.x % C, cuda.threadIdx.x
    parts = cuda.gridDim.x // C

    dw, db = float32(0), float32(0)
    for j in range(p * THREADS + t, count, parts * THREADS):
        image = np.uint32(np.uint32(j) // area)
        i = np.uint32((image * C + c) * area + (j - image * area))
        dw += dy[i] * sums[i]
        db += dy[i]

    dw, db = block_sum(dw, s_w), block_sum(db, s_b)
    if t == 0:
        dw_parts[cuda.blockIdx.x], db_parts[cuda.blockIdx.x] = dw, db


@jit(cache=True)
def _sums_of_parts(dw_parts, db_parts, dw, db):
    """Thread c adds up the parts of map c, in their order."""
    C, c = dw.size, cuda.grid(1)
    if c < C:
        total_w, total_b = float32(0), float32(0)
        for i in range(c, dw_parts.size, C):
            total_w += dw_parts[i]
            total_b += db_parts[i]
        dw[c], db[c] = total_w, total_b


def sums_of_maps(dy, sums, dw, db):
    """Write for each map c the sum of dy * sums into dw[c], and that of dy into db[c]; dy, sums (B, C, H_out, W_out).

    dw, db (C,). No errors of its own. Source: K, "Chain Rule".
    """
    C, area = dy.shape[1], dy.shape[2] * dy.shape[3]
    count = dy.size // C
    parts = min(PARTS, -(-count // (8 * THREADS)))
    dw_parts, db_parts = gpu.empty(parts * C, np.float32), gpu.empty(parts * C, np.float32)
    _sums_of_maps[parts * C, THREADS](flat(dy), flat(sums), C, np.uint32(area), count, dw_parts, db_parts)
    _sums_of_parts[-(-C // THREADS), THREADS](dw_parts, db_parts, dw, db)
