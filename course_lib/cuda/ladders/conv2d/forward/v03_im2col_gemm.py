"""Unroll the input into a matrix and multiply with a tiled product: loads of a pixel fall TILE-fold, stores rise.

    y = w_rows @ cols        (M, C K_h K_w) @ (C K_h K_w, H_out W_out), for each image

In the product, a tile in shared memory serves TILE output maps or TILE pixels at once. The price is the matrix: it
holds a pixel up to K_h K_w times, and is written to global memory and read again.

Source: H, "Strategies for Lab 7", 2, "Matrix Multiplication for a Convolution Layer"; K, "Im2Col Operation".
"""

import numpy as np

from course_lib import gpu
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.conv2d.forward.checks import check_launch
from course_lib.cuda.numba_cuda import cuda, float32

TILE, THREADS = 16, 256
UNROLLED = 16_000_000
"""Most numbers that are unrolled at once (64 MB), unless one image has more."""


@jit(cache=True)
def _im2col(x, first, K_h, K_w, s_h, s_w, p_h, p_w, W_out, cols):
    """cols[n, k, pixel] = the k-th number that a pixel of y[first + n] is made of. One thread, one number."""
    images, depth, pixels = cols.shape
    H, W = x.shape[2], x.shape[3]
    i = cuda.grid(1)
    if i < images * depth * pixels:
        pixel, k, n = i % pixels, i // pixels % depth, i // pixels // depth
        c, p, q = k // (K_h * K_w), k // K_w % K_h, k % K_w
        row, col = pixel // W_out * s_h + p - p_h, pixel % W_out * s_w + q - p_w
        value = float32(0)
        if 0 <= row < H and 0 <= col < W:
            value = x[first + n, c, row, col]
        cols[n, k, pixel] = value


@jit(cache=True)
def _rows_times_cols(rows, cols, b, biased, first, y):
    """y[first + n] = rows @ cols[n] + b, tile by tile; y is (B, M, H_out W_out)."""
    weights = cuda.shared.array((TILE, TILE), float32)
    pixels = cuda.shared.array((TILE, TILE), float32)
    M, depth = rows.shape
    width = cols.shape[2]
    ty, tx = cuda.threadIdx.y, cuda.threadIdx.x
    across = (width + TILE - 1) // TILE
    n = cuda.blockIdx.x // across
    col, m = cuda.blockIdx.x % across * TILE + tx, cuda.blockIdx.y * TILE + ty
    acc = float32(0)
    for start in range(0, depth, TILE):
        weight, pixel = float32(0), float32(0)
        if m < M and start + tx < depth:
            weight = rows[m, start + tx]
        if col < width and start + ty < depth:
            pixel = cols[n, start + ty, col]
        weights[ty, tx] = weight
        pixels[ty, tx] = pixel
        cuda.syncthreads()
        for k in range(TILE):
            acc += weights[ty, k] * pixels[k, tx]
        cuda.syncthreads()
    if m < M and col < width:
        if biased:
            acc += b[m]
        y[first + n, m, col] = acc


def conv2d_forward_v03_im2col_gemm(x, w, b, y, stride=(1, 1), pad=(0, 0)):
    """Write x (B, C, H, W) convolved with w (M, C, K_h, K_w), plus b (M,) or None, into y (B, M, H_out, W_out).

    A few images at a time, so that the unrolled matrix stays below `UNROLLED` numbers.

    Errors: TypeError and ValueError as `check_launch`. Source: H, "Matrix Multiplication for a Convolution Layer".
    """
    biased = b is not None
    x, w, b, y, s = check_launch(x, w, b, y, stride, pad)
    width = s.H_out * s.W_out
    rows, out = w.reshape(s.M, s.depth), y.reshape(s.B, s.M, width)
    images = min(s.B, max(1, UNROLLED // (s.depth * width)))
    for first in range(0, s.B, images):
        count = min(images, s.B - first)
        cols = gpu.empty((count, s.depth, width), np.float32)
        _im2col[-(-cols.size // THREADS), THREADS](x, first, s.K_h, s.K_w, s.s_h, s.s_w, s.p_h, s.p_w, s.W_out, cols)
        grid = count * -(-width // TILE), -(-s.M // TILE)
        _rows_times_cols[grid, (TILE, TILE)](rows, cols, b, biased, first, out)


def traffic(s):
    """Return what the executor counts over both launches, all sizes whole tiles, no padding, with a bias.

    No errors. Source: the course's own.
    """
    warps = s.B * s.M * s.H_out * s.W_out // 32
    steps = s.depth // TILE
    copied = s.B * s.depth * s.H_out * s.W_out // 32
    return {
        "global_load_requests": copied + warps * (2 * steps + 1),
        "global_store_requests": copied + warps,
        "global_store_bytes": (copied + warps) * 128,
        "shared_load_requests": warps * 2 * s.depth,
        "shared_load_conflicts": 0,
        "flops": s.B * s.M * s.H_out * s.W_out * (2 * s.depth + 1),
    }
