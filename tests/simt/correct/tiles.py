"""Tiles: transposes, products, convolutions and pooling, also where sizes do not fit."""

import numpy as np
from numba import cuda, float32, int32
from numpy.lib.stride_tricks import sliding_window_view

from tests.simt.corpus import correct, empty, ints, minus_ones, nans, some

T = 8
PADDED = T + 1
K = 3
HALO = T + K - 1
MASK = np.array([[1, 2, 1], [0, 0, 0], [-1, -2, -1]], np.float32)


@correct((2, 3), (32, 8), lambda: (ints(70, 50), minus_ones(50, 70)), lambda A, C: {1: A.T})
def transpose_of_ragged_tiles(A, C):
    tile = cuda.shared.array((32, 33), int32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col = cuda.blockIdx.x * 32 + tx
    for k in range(0, 32, 8):
        row = cuda.blockIdx.y * 32 + ty + k
        if row < A.shape[0] and col < A.shape[1]:
            tile[ty + k, tx] = A[row, col]
    cuda.syncthreads()
    row = cuda.blockIdx.y * 32 + tx
    for k in range(0, 32, 8):
        col = cuda.blockIdx.x * 32 + ty + k
        if row < A.shape[0] and col < A.shape[1]:
            C[col, row] = tile[tx, ty + k]


@correct((3, 3), (T, T), lambda: (ints(24, 24),), lambda A: {0: A.T})
def transpose_in_place_by_pairs_of_tiles(A):
    above = cuda.shared.array((T, PADDED), int32)
    below = cuda.shared.array((T, PADDED), int32)
    bx, by = cuda.blockIdx.x, cuda.blockIdx.y
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    if by > bx:
        return
    above[ty, tx] = A[by * T + ty, bx * T + tx]
    below[ty, tx] = A[bx * T + ty, by * T + tx]
    cuda.syncthreads()
    A[bx * T + ty, by * T + tx] = above[tx, ty]
    if bx != by:
        A[by * T + ty, bx * T + tx] = below[tx, ty]


@correct(
    (2, 3), (T, T), lambda: (some(17, 13), some(13, 9, seed=1), nans(17, 9)), lambda A, B, C: {2: A @ B},
)  # fmt: skip
def product_of_ragged_tiles(A, B, C):
    As = cuda.shared.array((T, T), float32)
    Bs = cuda.shared.array((T, T), float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    acc = float32(0)
    for m in range((A.shape[1] + T - 1) // T):
        As[ty, tx] = A[row, m * T + tx] if row < A.shape[0] and m * T + tx < A.shape[1] else float32(0)
        Bs[ty, tx] = B[m * T + ty, col] if m * T + ty < B.shape[0] and col < B.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(T):
            acc += As[ty, k] * Bs[k, tx]
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc


@correct(
    (2, 2), (T, T), lambda: (some(16, 32), some(32, 16, seed=1), nans(16, 16)), lambda A, B, C: {2: A @ B},
)  # fmt: skip
def product_with_two_buffers(A, B, C):
    As = cuda.shared.array((2, T, T), float32)
    Bs = cuda.shared.array((2, T, T), float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    turns = A.shape[1] // T
    As[0, ty, tx] = A[row, tx]
    Bs[0, ty, tx] = B[ty, col]
    cuda.syncthreads()
    acc = float32(0)
    for m in range(turns):
        now = m % 2
        if m + 1 < turns:
            As[1 - now, ty, tx] = A[row, (m + 1) * T + tx]
            Bs[1 - now, ty, tx] = B[(m + 1) * T + ty, col]
        for k in range(T):
            acc += As[now, ty, k] * Bs[now, k, tx]
        cuda.syncthreads()
    C[row, col] = acc


@correct(
    1, (4, 4), lambda: (some(8, 8), some(8, 8, seed=1), empty(8, 8)), lambda A, B, C: {2: A @ B},
)  # fmt: skip
def product_with_register_tiles(A, B, C):
    As = cuda.shared.array((8, 8), float32)
    Bs = cuda.shared.array((8, 8), float32)
    acc = cuda.local.array((2, 2), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    for i in range(2):
        for j in range(2):
            acc[i, j] = 0
            As[2 * ty + i, 2 * tx + j] = A[2 * ty + i, 2 * tx + j]
            Bs[2 * ty + i, 2 * tx + j] = B[2 * ty + i, 2 * tx + j]
    cuda.syncthreads()
    for k in range(8):
        for i in range(2):
            for j in range(2):
                acc[i, j] += As[2 * ty + i, k] * Bs[k, 2 * tx + j]
    for i in range(2):
        for j in range(2):
            C[2 * ty + i, 2 * tx + j] = acc[i, j]


def _convolved(x, w, y):
    return {2: np.einsum("ijkl,kl->ij", sliding_window_view(x, (K, K)), w)}


@correct((2, 2), (T, T), lambda: (some(15, 13), some(K, K, seed=1), nans(13, 11)), _convolved)
def convolution_with_a_halo_loaded_by_few(x, w, y):
    tile = cuda.shared.array((HALO, HALO), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = cuda.blockIdx.y * T, cuda.blockIdx.x * T
    for i in range(ty, HALO, T):
        for j in range(tx, HALO, T):
            inside = top + i < x.shape[0] and left + j < x.shape[1]
            tile[i, j] = x[top + i, left + j] if inside else float32(0)
    cuda.syncthreads()
    if top + ty < y.shape[0] and left + tx < y.shape[1]:
        acc = float32(0)
        for p in range(K):
            for q in range(K):
                acc += w[p, q] * tile[ty + p, tx + q]
        y[top + ty, left + tx] = acc


@correct(
    (2, 2), (T, T), lambda: (some(13, 11), nans(13, 11)),
    lambda x, y: {1: np.einsum("ijkl,kl->ij", sliding_window_view(np.pad(x, 1), (K, K)), MASK)},
)  # fmt: skip
def convolution_with_padding_and_a_constant_mask(x, y):
    w = cuda.const.array_like(MASK)
    col, row = cuda.grid(2)
    if row < y.shape[0] and col < y.shape[1]:
        acc = float32(0)
        for p in range(K):
            for q in range(K):
                i, j = row + p - 1, col + q - 1
                if 0 <= i < x.shape[0] and 0 <= j < x.shape[1]:
                    acc += w[p, q] * x[i, j]
        y[row, col] = acc


@correct(
    (2, 1, 2), (4, 4, 2), lambda: (some(2, 3, 6, 6), some(2, 3, K, K, seed=1), nans(2, 2, 4, 4)),
    lambda x, w, y: {2: np.einsum("bcijkl,mckl->bmij", sliding_window_view(x, (K, K), (2, 3)), w)},
)  # fmt: skip
def convolution_with_a_block_for_maps_and_images(x, w, y):
    B, M = y.shape[0], y.shape[1]
    col = cuda.threadIdx.x
    row = cuda.threadIdx.y
    m = cuda.blockIdx.x
    b = cuda.blockIdx.z * cuda.blockDim.z + cuda.threadIdx.z
    if b < B and m < M:
        acc = float32(0)
        for c in range(x.shape[1]):
            for p in range(K):
                for q in range(K):
                    acc += x[b, c, row + p, col + q] * w[m, c, p, q]
        y[b, m, row, col] = acc


@correct(
    1, (4, 4), lambda: (np.random.default_rng(2).permutation(81).reshape(9, 9).astype(np.int32), minus_ones(4, 4),
                        minus_ones(4, 4)),
    lambda x, y, mask: {
        1: x[:8, :8].reshape(4, 2, 4, 2).max((1, 3)),
        2: x[:8, :8].reshape(4, 2, 4, 2).transpose(0, 2, 1, 3).reshape(4, 4, 4).argmax(2),
    },
)  # fmt: skip
def pool_with_a_mask(x, y, mask):
    col, row = cuda.grid(2)
    best, place = x[2 * row, 2 * col], 0
    for k in range(1, 4):
        value = x[2 * row + k // 2, 2 * col + k % 2]
        if value > best:
            best, place = value, k
    y[row, col] = best
    mask[row, col] = place


@correct(
    1, (3, 3), lambda: (ints(3, 3, start=1), ints(3, 3) % 4, np.zeros((6, 6), np.int32)),
    lambda dy, mask, dx: {
        2: (dy[:, :, None] * (mask[:, :, None] == np.arange(4))).reshape(3, 3, 2, 2).transpose(0, 2, 1, 3).reshape(6, 6)
    },
)  # fmt: skip
def pool_backward_with_windows_apart(dy, mask, dx):
    col, row = cuda.grid(2)
    k = mask[row, col]
    dx[2 * row + k // 2, 2 * col + k % 2] += dy[row, col]


@correct(
    2, 32, lambda: (some(6, 6), nans(9, 16)),
    lambda x, columns: {1: sliding_window_view(x, (K, K)).reshape(16, 9).T},
)  # fmt: skip
def unrolled_input(x, columns):
    W_out = x.shape[1] - K + 1
    for n in range(cuda.grid(1), columns.size, cuda.gridsize(1)):
        tap, place = n // columns.shape[1], n % columns.shape[1]
        columns[tap, place] = x[place // W_out + tap // K, place % W_out + tap % K]


@correct((1, 2), (T, T), lambda: (some(16, 20), nans(16)), lambda A, y: {1: A.sum(1)})
def row_sums_by_a_tile_of_threads(A, y):
    s = cuda.shared.array((T, T), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row = cuda.blockIdx.y * T + ty
    total = float32(0)
    for k in range(tx, A.shape[1], T):
        total += A[row, k]
    s[ty, tx] = total
    cuda.syncthreads()
    step = T // 2
    while step > 0:
        if tx < step:
            s[ty, tx] += s[ty, tx + step]
        cuda.syncthreads()
        step //= 2
    if tx == 0:
        y[row] = s[ty, 0]
