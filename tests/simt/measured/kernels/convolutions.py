"""Convolutions and their gradients (lesson 15)."""

import numpy as np
from numba import cuda, float32

from tests.simt.measured.cases import empty, integers, launch

T = 16  # side of a tile
MASKS = np.random.default_rng(3).integers(-3, 4, (4, 2, 3, 3)).astype(np.float32)  # (M, C, K, K)
C1_MASKS = np.random.default_rng(5).integers(-3, 4, (6, 5, 5)).astype(np.float32)  # LeNet-5's first layer


def conv_basic(x, w, y):
    m = cuda.blockIdx.x
    tiles = (y.shape[3] + 3) // 4
    h = cuda.blockIdx.y // tiles * 4 + cuda.threadIdx.y
    v = cuda.blockIdx.y % tiles * 4 + cuda.threadIdx.x
    n = cuda.blockIdx.z
    if h < y.shape[2] and v < y.shape[3]:
        acc = float32(0)
        for c in range(x.shape[1]):
            for p in range(w.shape[2]):
                for q in range(w.shape[3]):
                    acc += x[n, c, h + p, v + q] * w[m, c, p, q]
        y[n, m, h, v] = acc


def convolve(x, w):
    """Return y (B, M, H_out, W_out) of x (B, C, H, W) and w (M, C, K, K)."""
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], axis=(2, 3))
    return np.einsum("nchwpq,mcpq->nmhw", windows, w)


@launch(conv_basic, grid=(4, 4, 2), block=(4, 4))
def _(rng):
    x, w = integers(rng, 2, 3, 10, 10), integers(rng, 4, 3, 3, 3)
    return (x, w, empty(2, 4, 8, 8)), {2: convolve(x, w)}


def conv_tiled(x, w, y):
    tile = cuda.shared.array((18, 18), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    m = cuda.blockIdx.x
    tiles = (y.shape[3] + 15) // 16
    h0 = cuda.blockIdx.y // tiles * 16
    v0 = cuda.blockIdx.y % tiles * 16
    n = cuda.blockIdx.z
    acc = float32(0)
    for c in range(x.shape[1]):
        for i in range(ty, 18, 16):
            for j in range(tx, 18, 16):
                inside = h0 + i < x.shape[2] and v0 + j < x.shape[3]
                tile[i, j] = x[n, c, h0 + i, v0 + j] if inside else float32(0)
        cuda.syncthreads()
        for p in range(3):
            for q in range(3):
                acc += tile[ty + p, tx + q] * w[m, c, p, q]
        cuda.syncthreads()
    if h0 + ty < y.shape[2] and v0 + tx < y.shape[3]:
        y[n, m, h0 + ty, v0 + tx] = acc


@launch(conv_tiled, grid=(2, 4, 2), block=(16, 16))
def _(rng):
    x, w = integers(rng, 2, 2, 24, 27), integers(rng, 2, 2, 3, 3)
    return (x, w, empty(2, 2, 22, 25)), {2: convolve(x, w)}


def conv_constant(x, y):
    w = cuda.const.array_like(MASKS)
    v, h = cuda.grid(2)
    m = cuda.blockIdx.z % 4
    n = cuda.blockIdx.z // 4
    if h < y.shape[2] and v < y.shape[3]:
        acc = float32(0)
        for c in range(2):
            for p in range(3):
                for q in range(3):
                    acc += x[n, c, h + p, v + q] * w[m, c, p, q]
        y[n, m, h, v] = acc


@launch(conv_constant, grid=(2, 2, 8), block=(16, 16))
def _(rng):
    x = integers(rng, 2, 2, 24, 27)
    return (x, empty(2, 4, 22, 25)), {1: convolve(x, MASKS)}


def conv_implicit_product(x, w, y):
    As = cuda.shared.array((T, T), float32)
    Bs = cuda.shared.array((T, T), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    col, m = cuda.grid(2)
    n = cuda.blockIdx.z
    rows = w.shape[1] * 9
    cols = y.shape[2] * y.shape[3]
    acc = float32(0)
    for r0 in range(0, rows, T):
        r = r0 + tx
        As[ty, tx] = w[m, r // 9, r // 3 % 3, r % 3] if m < w.shape[0] and r < rows else float32(0)
        r = r0 + ty
        value = float32(0)
        if r < rows and col < cols:
            value = x[n, r // 9, col // y.shape[3] + r // 3 % 3, col % y.shape[3] + r % 3]
        Bs[ty, tx] = value
        cuda.syncthreads()
        for k in range(T):
            acc += As[ty, k] * Bs[k, tx]
        cuda.syncthreads()
    if m < w.shape[0] and col < cols:
        y[n, m, col // y.shape[3], col % y.shape[3]] = acc


@launch(conv_implicit_product, grid=(7, 1, 2), block=(16, 16))
def _(rng):
    x, w = integers(rng, 2, 2, 12, 13), integers(rng, 4, 2, 3, 3)
    return (x, w, empty(2, 4, 10, 11)), {2: convolve(x, w)}


def conv_register(x, w, y):
    tile = cuda.shared.array((18, 18), float32)
    acc = cuda.local.array(4, float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    v0 = cuda.blockIdx.x * 16
    h0 = cuda.blockIdx.y * 16
    n = cuda.blockIdx.z
    for m in range(4):
        acc[m] = float32(0)
    for c in range(x.shape[1]):
        e = ty * 16 + tx
        while e < 324:
            i, j = e // 18, e % 18
            inside = h0 + i < x.shape[2] and v0 + j < x.shape[3]
            tile[i, j] = x[n, c, h0 + i, v0 + j] if inside else float32(0)
            e += 256
        cuda.syncthreads()
        for p in range(3):
            for q in range(3):
                value = tile[ty + p, tx + q]
                for m in range(4):
                    acc[m] += value * w[m, c, p, q]
        cuda.syncthreads()
    if h0 + ty < y.shape[2] and v0 + tx < y.shape[3]:
        for m in range(4):
            y[n, m, h0 + ty, v0 + tx] = acc[m]


@launch(conv_register, grid=(2, 2, 2), block=(16, 16))
def _(rng):
    x, w = integers(rng, 2, 2, 24, 27), integers(rng, 4, 2, 3, 3)
    return (x, w, empty(2, 4, 22, 25)), {2: convolve(x, w)}


def conv_c1(x, y):
    w = cuda.const.array_like(C1_MASKS)
    tile = cuda.shared.array((8, 32), float32)
    t = cuda.threadIdx.x
    h0 = cuda.blockIdx.x * 4
    n = cuda.blockIdx.y
    tile[t // 32, t % 32] = x[n, h0 + t // 32, t % 32]
    tile[t // 32 + 4, t % 32] = x[n, h0 + t // 32 + 4, t % 32]
    cuda.syncthreads()
    if t < 112:
        h, v = t // 28, t % 28
        s0 = s1 = s2 = s3 = s4 = s5 = float32(0)
        for p in range(5):
            for q in range(5):
                value = tile[h + p, v + q]
                s0 += value * w[0, p, q]
                s1 += value * w[1, p, q]
                s2 += value * w[2, p, q]
                s3 += value * w[3, p, q]
                s4 += value * w[4, p, q]
                s5 += value * w[5, p, q]
        y[n, 0, h0 + h, v] = s0
        y[n, 1, h0 + h, v] = s1
        y[n, 2, h0 + h, v] = s2
        y[n, 3, h0 + h, v] = s3
        y[n, 4, h0 + h, v] = s4
        y[n, 5, h0 + h, v] = s5


@launch(conv_c1, grid=(7, 2), block=128)
def _(rng):
    x = integers(rng, 2, 32, 32)
    return (x, empty(2, 6, 28, 28)), {1: convolve(x[:, None], C1_MASKS[:, None])}


def im2col(x, columns):
    i = cuda.grid(1)
    h_out, w_out = x.shape[1] - 2, x.shape[2] - 2
    if i < x.shape[0] * h_out * w_out:
        c, h, v = i // (h_out * w_out), i // w_out % h_out, i % w_out
        for p in range(3):
            for q in range(3):
                columns[c * 9 + p * 3 + q, h * w_out + v] = x[c, h + p, v + q]


def unroll(x):
    """Return columns (C * 9, H_out * W_out) of x (C, H, W)."""
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(1, 2))
    return windows.transpose(0, 3, 4, 1, 2).reshape(x.shape[0] * 9, -1)


@launch(im2col, grid=3, block=128)
def _(rng):
    x = integers(rng, 3, 11, 13)
    return (x, empty(27, 99)), {1: unroll(x)}


def col2im(columns, dx):
    i = cuda.grid(1)
    if i < dx.size:
        h_in, w_in = dx.shape[1], dx.shape[2]
        c, h, v = i // (h_in * w_in), i // w_in % h_in, i % w_in
        total = float32(0)
        for p in range(3):
            for q in range(3):
                if 0 <= h - p < h_in - 2 and 0 <= v - q < w_in - 2:
                    total += columns[c * 9 + p * 3 + q, (h - p) * (w_in - 2) + v - q]
        dx[c, h, v] = total


@launch(col2im, grid=4, block=128)
def _(rng):
    columns = integers(rng, 27, 99)
    dx = np.zeros((3, 11, 13), np.float32)
    for p in range(3):
        for q in range(3):
            dx[:, p : p + 9, q : q + 11] += columns.reshape(3, 3, 3, 9, 11)[:, p, q]
    return (columns, empty(3, 11, 13)), {1: dx}


def conv_backward_data(dy, w, dx):
    v, h = cuda.grid(2)
    c = cuda.blockIdx.z
    if h < dx.shape[1] and v < dx.shape[2]:
        acc = float32(0)
        for m in range(dy.shape[0]):
            for p in range(w.shape[2]):
                for q in range(w.shape[3]):
                    if 0 <= h - p < dy.shape[1] and 0 <= v - q < dy.shape[2]:
                        acc += dy[m, h - p, v - q] * w[m, c, p, q]
        dx[c, h, v] = acc


@launch(conv_backward_data, grid=(1, 2, 2), block=(16, 8))
def _(rng):
    dy, w = integers(rng, 3, 9, 11), integers(rng, 3, 2, 3, 3)
    padded = np.pad(dy, ((0, 0), (2, 2), (2, 2)))[None]
    dx = convolve(padded, np.ascontiguousarray(w.transpose(1, 0, 2, 3)[:, :, ::-1, ::-1]))[0]
    return (dy, w, empty(2, 11, 13)), {2: dx}


def conv_backward_weights(x, dy, dw):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    m = cuda.blockIdx.x
    c = cuda.blockIdx.y
    p, q = cuda.blockIdx.z // 3, cuda.blockIdx.z % 3
    total = float32(0)
    k = t
    while k < dy.shape[1] * dy.shape[2]:
        h, v = k // dy.shape[2], k % dy.shape[2]
        total += x[c, h + p, v + q] * dy[m, h, v]
        k += 64
    s[t] = total
    cuda.syncthreads()
    step = 32
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        dw[m, c, p, q] = s[0]


@launch(conv_backward_weights, grid=(3, 2, 9), block=64)
def _(rng):
    x, dy = integers(rng, 2, 11, 13), integers(rng, 3, 9, 11)
    windows = np.lib.stride_tricks.sliding_window_view(x, (9, 11), axis=(1, 2))
    return (x, dy, empty(3, 2, 3, 3)), {2: np.einsum("cpqhw,mhw->mcpq", windows, dy)}


def bias_add(y, b):
    i = cuda.grid(1)
    if i < y.size:
        w_out, h_out, maps = y.shape[3], y.shape[2], y.shape[1]
        n, m = i // (maps * h_out * w_out), i // (h_out * w_out) % maps
        y[n, m, i // w_out % h_out, i % w_out] += b[m]


@launch(bias_add, grid=6, block=128)
def _(rng):
    y, b = integers(rng, 2, 5, 8, 9), integers(rng, 5)
    return (y.copy(), b), {0: y + b[:, None, None]}


def bias_gradient(dy, db):
    m = cuda.blockIdx.x
    total = float32(0)
    k = cuda.threadIdx.x
    while k < dy.shape[1]:
        total += dy[m, k]
        k += cuda.blockDim.x
    cuda.atomic.add(db, m, total)


@launch(bias_gradient, grid=5, block=64)
def _(rng):
    dy = integers(rng, 5, 150)
    return (dy, np.zeros(5, np.float32)), {1: dy.sum(1)}
