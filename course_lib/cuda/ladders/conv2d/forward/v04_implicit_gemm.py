"""Unroll while loading: the matrix is only thought of, so its writes and reads of global memory are gone.

The product is v03's, but over the pixels of all images side by side, and a thread that stages an element of the
unrolled matrix works out which pixel that is. What v03 wrote, and read back for each tile of maps, is x itself now,
which is K_h K_w times smaller and stays in the caches.

Source: H, "Strategies for Lab 7", 3, "Conceptual Unrolling May Help Performance".
"""

import numpy as np

from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.conv2d.forward.checks import check_launch
from course_lib.cuda.numba_cuda import cuda, float32

TILE = 16


@jit(cache=True)
def _conv2d_forward_v04(x, rows, b, biased, K_h, K_w, s_h, s_w, p_h, p_w, W_out, y):
    weights = cuda.shared.array((TILE, TILE), float32)
    pixels = cuda.shared.array((TILE, TILE), float32)
    B, _, H, W = x.shape
    M, depth = rows.shape
    width = y.shape[2]
    ty, tx = cuda.threadIdx.y, cuda.threadIdx.x
    col, m = cuda.blockIdx.x * TILE + tx, cuda.blockIdx.y * TILE + ty

    n, pixel = col // width, col % width  # the image, and the place in it
    top, left = pixel // W_out * s_h - p_h, pixel % W_out * s_w - p_w
    acc = float32(0)
    for start in range(0, depth, TILE):
        weight, value = float32(0), float32(0)
        if m < M and start + tx < depth:
            weight = rows[m, start + tx]
        k = np.uint32(start + ty)  # a machine divides 32 bits without a sign several times faster than 64 with one
        line, q = k // K_w, k % K_w
        c, p = line // K_h, line % K_h
        row, v = top + np.int32(p), left + np.int32(q)
        if n < B and k < depth and 0 <= row < H and 0 <= v < W:
            value = x[n, c, row, v]
        weights[ty, tx] = weight
        pixels[ty, tx] = value
        cuda.syncthreads()
        for k in range(TILE):
            acc += weights[ty, k] * pixels[k, tx]
        cuda.syncthreads()
    if m < M and n < B:
        if biased:
            acc += b[m]
        y[n, m, pixel] = acc


def conv2d_forward_v04_implicit_gemm(x, w, b, y, stride=(1, 1), pad=(0, 0)):
    """Write x (B, C, H, W) convolved with w (M, C, K_h, K_w), plus b (M,) or None, into y (B, M, H_out, W_out).

    Errors: TypeError and ValueError as `check_launch`. Source: H, "Strategies for Lab 7", 3.
    """
    biased = b is not None
    x, w, b, y, s = check_launch(x, w, b, y, stride, pad)
    width = s.H_out * s.W_out
    grid = -(-s.B * width // TILE), -(-s.M // TILE)
    _conv2d_forward_v04[grid, (TILE, TILE)](
        x, w.reshape(s.M, s.depth), b, biased, np.uint32(s.K_h), np.uint32(s.K_w), s.s_h, s.s_w, s.p_h, s.p_w, s.W_out,
        y.reshape(s.B, s.M, width),
    )  # fmt: skip


def traffic(s):
    """Return what the executor counts, M, C K_h K_w and B H_out W_out whole tiles, no padding, with a bias.

    No errors. Source: the course's own.
    """
    warps = s.B * s.M * s.H_out * s.W_out // 32
    steps = s.depth // TILE
    return {
        "global_load_requests": warps * (2 * steps + 1),
        "global_store_requests": warps,
        "global_store_bytes": warps * 128,
        "shared_load_requests": warps * 2 * s.depth,
        "shared_load_conflicts": 0,
        "flops": s.B * s.M * s.H_out * s.W_out * (2 * s.depth + 1),
    }
