"""One matrix product makes what every mask position sends back, and col2im adds it to the pixels.

    dcols = w_rows^T @ dy_rows      (C K_h K_w, M) @ (M, H_out W_out) for each image
    dx    = fold(dcols)             a pixel gathers its K_h K_w numbers

All multiply-adds are in one tiled product, a known pattern in which a thread uses each number that it loads several
times. The price is writing and reading dcols, K_h K_w times the size of a map of dy for each input map, whatever M is:
with few output maps v02 does less. Images go in groups, so that dcols stays below `MOST` numbers.

Source: H, "Matrix Multiplication for a Convolution Layer"; K, "Convolution and Matrix Multiplication" (backward).
"""

import numpy as np

from course_lib import gpu
from course_lib.cuda.intrinsics import nonneg
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.conv2d.backward_data.checks import check_backward_data, products
from course_lib.cuda.ladders.conv2d.backward_data.seen import TILE, first_and_last, image_and_corner, tiles_of
from course_lib.cuda.numba_cuda import cuda, float32
from course_lib.cuda.unroll import unroll

THREADS = TILE * TILE
BM, TK, TO = 8, 2, 4
BK, BO, SUMS = TK * TILE, TO * TILE, TK * TO
Y_STEP = THREADS // BO
Y_SHARE = BM // Y_STEP
"""A block's tile of dcols is BK x BO, TK x TO a thread; BM maps at a time. BM BK is THREADS; Y_SHARE rows a thread."""
MOST = 2**25
"""Numbers of dcols at a time: 128 MiB."""


@jit(cache=True)
def _product_v03(w_rows, dy_rows, dcols, first):
    """dcols[i] = w_rows^T @ dy_rows[first + i]: BK x BO numbers a block, TK x TO a thread, BM maps at a time."""
    ws = cuda.shared.array((BM, BK), float32)
    ys = cuda.shared.array((BM, BO), float32)
    acc = cuda.local.array(SUMS, float32)
    w_reg, y_reg = cuda.local.array(TK, float32), cuda.local.array(TO, float32)
    M, taps, places = w_rows.shape[0], w_rows.shape[1], dy_rows.shape[2]
    tx, ty = nonneg(cuda.threadIdx.x), nonneg(cuda.threadIdx.y)
    t = ty * TILE + tx
    i, k0, o0 = nonneg(cuda.blockIdx.z), nonneg(cuda.blockIdx.y) * BK, nonneg(cuda.blockIdx.x) * BO
    for e in range(SUMS):
        acc[e] = float32(0)
    for m0 in range(0, M, BM):
        m, k = m0 + t // BK, k0 + t % BK  # one weight a thread
        ws[t // BK, t % BK] = w_rows[m, k] if m < M and k < taps else float32(0)
        for e in unroll(Y_SHARE):
            m, o = m0 + t // BO + e * Y_STEP, o0 + t % BO
            ys[t // BO + e * Y_STEP, t % BO] = dy_rows[first + i, m, o] if m < M and o < places else float32(0)
        cuda.syncthreads()
        for m in unroll(BM):
            for e in range(TK):
                w_reg[e] = ws[m, ty + e * TILE]
            for f in range(TO):
                y_reg[f] = ys[m, tx + f * TILE]
            for e in range(TK):
                for f in range(TO):
                    acc[e * TO + f] += w_reg[e] * y_reg[f]
        cuda.syncthreads()
    for e in range(TK):
        for f in range(TO):
            k, o = k0 + ty + e * TILE, o0 + tx + f * TILE
            if k < taps and o < places:
                dcols[i, k, o] = acc[e * TO + f]


@jit(cache=True)
def _fold_v03(dcols, dx, first, places, K_h, K_w, H_out, W_out, s_h, s_w, p_h, p_w):
    """Each pixel of images first, first + 1, ... adds up what it was copied to."""
    H, W = dx.shape[2], dx.shape[3]
    i, h0, v0 = image_and_corner(H, W)
    i, c = nonneg(i), nonneg(cuda.blockIdx.y)
    h, v = nonneg(h0 + cuda.threadIdx.y), nonneg(v0 + cuda.threadIdx.x)
    if h < H and v < W:
        first_i, last_i = first_and_last(h + p_h, K_h, s_h)
        first_j, last_j = first_and_last(v + p_w, K_w, s_w)
        first_i, end_i = max(0, first_i), min(H_out, last_i + 1)
        first_j, end_j = max(0, first_j), min(W_out, last_j + 1)
        total = float32(0)
        for row in range(first_i, end_i):
            p, q = h + p_h - row * s_h, v + p_w - first_j * s_w
            at = ((c * K_h + p) * K_w + q) * places + row * W_out + first_j
            for _ in range(first_j, end_j):
                total += dcols[i, nonneg(at)]
                at += 1 - s_w * places
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
    flat = dcols.reshape(group, n.depth * places)
    for first in range(0, n.B, group):
        images = min(group, n.B - first)
        _product_v03[(-(-places // BO), -(-n.depth // BK), images), (TILE, TILE)](w_rows, dy_rows, dcols, first)
        fold = _fold_v03[(images * tiles_of(n.H, n.W), n.C), (TILE, TILE)]
        fold(flat, dx, first, places, n.K_h, n.K_w, n.H_out, n.W_out, n.s_h, n.s_w, n.p_h, n.p_w)


def traffic(n):
    """Return what both kernels are counted for, Sizes n: dcols is written whole, and read where there is a pixel.

    No errors. Source: the course's own.
    """
    places = n.H_out * n.W_out
    tiles_o, tiles_k, tiles_m = -(-places // BO), -(-n.depth // BK), -(-n.M // BM)
    moved = n.B * (n.M * n.depth * tiles_o + n.M * places * tiles_k) + products(n) // n.M
    return {
        "global_load_bytes": 4 * moved,
        "global_store_bytes": 4 * n.B * (n.depth * places + n.C * n.H * n.W),
        "barriers": n.B * tiles_o * tiles_k * tiles_m * 2 * (THREADS // 32),
    }
