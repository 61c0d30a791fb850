"""One matrix product makes what every mask position sends back, and col2im adds it to the pixels.

    dcols = w_rows^T @ dy_rows      (C K_h K_w, M) @ (M, H_out W_out) for each image
    dx    = fold(dcols)             a pixel gathers its K_h K_w numbers

All multiply-adds are in one tiled product, a known pattern; the price is writing and reading dcols, K_h K_w times the
size of dx. Images go in groups, so that dcols stays below `MOST` numbers.

Source: H, "Matrix Multiplication for a Convolution Layer"; K, "Convolution and Matrix Multiplication" (backward).
"""

import numpy as np

from course_lib import gpu
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.conv2d.backward_data.checks import check_backward_data, products
from course_lib.cuda.numba_cuda import cuda, float32

TILE = 16
MOST = 2**25
"""Numbers of dcols at a time: 128 MiB."""


@jit(cache=True)
def _product_v03(w_rows, dy_rows, dcols, first):
    """dcols[i] = w_rows^T @ dy_rows[first + i]."""
    ws = cuda.shared.array((TILE, TILE), float32)
    ys = cuda.shared.array((TILE, TILE), float32)
    M, taps, places = w_rows.shape[0], w_rows.shape[1], dy_rows.shape[2]
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    i, k, o = cuda.blockIdx.z, cuda.blockIdx.y * TILE + ty, cuda.blockIdx.x * TILE + tx
    total = float32(0)
    for m0 in range(0, M, TILE):
        m = m0 + ty
        kx = cuda.blockIdx.y * TILE + tx
        ws[ty, tx] = w_rows[m, kx] if m < M and kx < taps else float32(0)
        ys[ty, tx] = dy_rows[first + i, m, o] if m < M and o < places else float32(0)
        cuda.syncthreads()
        for e in range(TILE):
            total += ws[e, ty] * ys[e, tx]
        cuda.syncthreads()
    if k < taps and o < places:
        dcols[i, k, o] = total


@jit(cache=True)
def _fold_v03(dcols, dx, first, K_h, K_w, H_out, W_out, s_h, s_w, p_h, p_w):
    """Each pixel of images first, first + 1, ... adds up what it was copied to."""
    H, W = dx.shape[2], dx.shape[3]
    W_grid = (W + TILE - 1) // TILE
    i, c = cuda.blockIdx.x, cuda.blockIdx.y
    h = cuda.blockIdx.z // W_grid * TILE + cuda.threadIdx.y
    v = cuda.blockIdx.z % W_grid * TILE + cuda.threadIdx.x
    if h < H and v < W:
        total = float32(0)
        for p in range(K_h):
            row = h + p_h - p
            if row >= 0 and row % s_h == 0 and row // s_h < H_out:
                for q in range(K_w):
                    col = v + p_w - q
                    if col >= 0 and col % s_w == 0 and col // s_w < W_out:
                        total += dcols[i, (c * K_h + p) * K_w + q, row // s_h * W_out + col // s_w]
        dx[first + i, c, h, v] = total


def conv2d_backward_data_v03_product(dy, w, dx, stride=(1, 1), pad=(0, 0)):
    """Write dx (B, C, H, W) from dy (B, M, H_out, W_out) and w (M, C, K_h, K_w), float32 device arrays.

    stride, pad: int or pair (rows, columns). A pixel that no window saw gets 0. TypeError unless float32 device arrays;
    ValueError if one is empty or has gaps, or shapes do not fit. Source: H, "Calculating dE/dX".
    """
    dy, w, dx, n = check_backward_data(dy, w, dx, stride, pad)
    places = n.H_out * n.W_out
    w_rows, dy_rows = w.reshape(n.M, n.depth), dy.reshape(n.B, n.M, places)
    group = min(n.B, 65535, max(1, MOST // (n.depth * places)))
    dcols = gpu.empty((group, n.depth, places), np.float32)
    tiles = -(-n.H // TILE) * -(-n.W // TILE)
    for first in range(0, n.B, group):
        images = min(group, n.B - first)
        _product_v03[(-(-places // TILE), -(-n.depth // TILE), images), (TILE, TILE)](w_rows, dy_rows, dcols, first)
        fold = _fold_v03[(images, n.C, tiles), (TILE, TILE)]
        fold(dcols, dx, first, n.K_h, n.K_w, n.H_out, n.W_out, n.s_h, n.s_w, n.p_h, n.p_w)


def traffic(n):
    """Return what both kernels are counted for, Sizes n: dcols is written whole, and read where there is a pixel.

    No errors. Source: the course's own.
    """
    places = n.H_out * n.W_out
    tiles_o, tiles_k, tiles_m = -(-places // TILE), -(-n.depth // TILE), -(-n.M // TILE)
    moved = n.B * (n.M * n.depth * tiles_o + n.M * places * tiles_k) + products(n) // n.M
    return {
        "global_load_bytes": 4 * moved,
        "global_store_bytes": 4 * n.B * (n.depth * places + n.C * n.H * n.W),
        "barriers": n.B * tiles_o * tiles_k * tiles_m * 2 * (TILE * TILE // 32),
    }
