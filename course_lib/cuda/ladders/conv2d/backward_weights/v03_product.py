"""Im2col, then one matrix product: dw is dy's rows times the unrolled images, a sum over images and places.

    dw_rows = sum over images of dy_rows @ cols^T       (M, H_out W_out) @ (H_out W_out, C K_h K_w)

A block owns a tile of 16 x 16 weights and a part of the images: a number that it brings serves 16 weights, so loads
fall 16 times below a block a weight; the price is writing cols, K_h K_w times the size of x. Images go in groups, so
that cols stays below `MOST` numbers, and the parts keep their sums from group to group. There are fewer parts where dw
is large: then its tiles alone keep a card busy.

Source: H, "We can picture this computation in a more familiar way", "Matrix Multiplication for a Convolution Layer".
"""

import numpy as np

from course_lib import gpu
from course_lib.cuda.intrinsics import nonneg
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.conv2d.backward_data.checks import check_backward_weights, products
from course_lib.cuda.ladders.conv2d.backward_data.seen import whole
from course_lib.cuda.ladders.conv2d.backward_weights.parts import add_parts, bias_gradient
from course_lib.cuda.numba_cuda import cuda, float32

TILE, THREADS = 16, 256
MOST = 2**25
"""Numbers of cols at a time: 128 MiB."""
MOST_PARTS, MOST_SUMS = 64, 2**22
"""Parts that the images are cut into, and numbers of all their sums: 16 MiB, unless one dw has more."""


@jit(cache=True)
def _unroll_v03(x, cols, first, K_h, K_w, W_out, s_h, s_w, p_h, p_w):
    """cols[i, (c, p, q), (row, column)] = the pixel of image first + i that it stands for, 0 in the padding.

    A thread copies what one output sees of one map. It divides once, to find its place, and counts from there.
    """
    H, W = x.shape[2], x.shape[3]
    o, c, i = nonneg(cuda.grid(1)), nonneg(cuda.blockIdx.y), nonneg(cuda.blockIdx.z)
    if o < cols.shape[2]:
        i_out = whole(o, W_out)
        top, left = i_out * s_h - p_h, (o - i_out * W_out) * s_w - p_w
        k = c * K_h * K_w
        for row in range(top, top + K_h):
            for col in range(left, left + K_w):
                value = float32(0)
                if row >= 0 and row < H and col >= 0 and col < W:
                    value = x[first + i, c, nonneg(row), nonneg(col)]
                cols[i, nonneg(k), o] = value
                k += 1


@jit(cache=True)
def _product_v03(dy_rows, cols, sums, first, images):
    """sums[part] += dy_rows[first + i] @ cols[i]^T over i = part, part + parts, ...; the first group begins at 0."""
    ys = cuda.shared.array((TILE, TILE), float32)
    xs = cuda.shared.array((TILE, TILE), float32)
    M, places, taps = dy_rows.shape[1], dy_rows.shape[2], cols.shape[1]
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    part, m0, k0 = cuda.blockIdx.x, cuda.blockIdx.y * TILE, cuda.blockIdx.z * TILE
    m, k = m0 + ty, k0 + tx
    total = float32(0)
    if first > 0 and m < M and k < taps:
        total = sums[part, m * taps + k]
    for i in range(part, images, sums.shape[0]):
        for o0 in range(0, places, TILE):
            o = o0 + tx
            ys[ty, tx] = dy_rows[first + i, m, o] if m < M and o < places else float32(0)
            xs[tx, ty] = cols[i, k0 + ty, o] if k0 + ty < taps and o < places else float32(0)
            cuda.syncthreads()
            for e in range(TILE):
                total += ys[ty, e] * xs[e, tx]
            cuda.syncthreads()
    if m < M and k < taps:
        sums[part, m * taps + k] = total


def conv2d_backward_weights_v03_product(dy, x, dw, db=None, stride=(1, 1), pad=(0, 0)):
    """Write dw (M, C, K_h, K_w), db (M,) or None, from dy (B, M, H_out, W_out), x (B, C, H, W), float32 device arrays.

    stride, pad: int or pair (rows, columns). TypeError unless float32 device arrays; ValueError if one is empty or has
    gaps, or shapes do not fit. Source: H, "Calculating dE/dW".
    """
    dy, x, dw, db, n = check_backward_weights(dy, x, dw, db, stride, pad)
    places = n.H_out * n.W_out
    group = min(n.B, 65535, max(1, MOST // (n.depth * places)))
    parts = _parts(n, group)
    dy_rows = dy.reshape(n.B, n.M, places)
    cols, sums = gpu.empty((group, n.depth, places), np.float32), gpu.empty((parts, n.M * n.depth), np.float32)
    tiles = parts, -(-n.M // TILE), -(-n.depth // TILE)
    for first in range(0, n.B, group):
        images = min(group, n.B - first)
        unroll = _unroll_v03[(-(-places // THREADS), n.C, images), THREADS]
        unroll(x, cols, first, n.K_h, n.K_w, n.W_out, n.s_h, n.s_w, n.p_h, n.p_w)
        _product_v03[tiles, (TILE, TILE)](dy_rows, cols, sums, first, images)
    add_parts(sums, dw)
    bias_gradient(dy, db)


def _parts(n, group):
    """Return how many parts a group of images is cut into: by sizes alone, so that all cards add alike."""
    return min(group, MOST_PARTS, max(1, MOST_SUMS // (n.M * n.depth)))


def traffic(n):
    """Return what the two kernels before the last sum are counted for, Sizes n, if all images are one group.

    No errors. Source: the course's own.
    """
    places, parts = n.H_out * n.W_out, _parts(n, n.B)
    tiles_m, tiles_k, tiles_o = -(-n.M // TILE), -(-n.depth // TILE), -(-places // TILE)
    brought = n.B * places * (n.M * tiles_k + n.depth * tiles_m) + products(n) // n.M
    return {
        "global_load_bytes": 4 * brought,
        "global_store_bytes": 4 * (n.B * n.depth * places + parts * n.M * n.depth),
        "barriers": n.B * tiles_m * tiles_k * tiles_o * 2 * (THREADS // 32),
    }
