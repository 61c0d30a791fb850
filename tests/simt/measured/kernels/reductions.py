"""Reductions, votes, softmax, histograms and pooling (lesson 13)."""

import math

import numpy as np
from numba import cuda, float32, int32

from tests.simt.measured.cases import empty, integers, launch

FULL = 0xFFFFFFFF  # all lanes of a warp


def reduce_modulo(x, y):
    s = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = 1
    while step < cuda.blockDim.x:
        if t % (2 * step) == 0:
            s[t] += s[t + step]
        cuda.syncthreads()
        step *= 2
    if t == 0:
        y[cuda.blockIdx.x] = s[0]


def reduce_interleaved(x, y):
    s = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = 1
    while step < cuda.blockDim.x:
        k = 2 * step * t
        if k < cuda.blockDim.x:
            s[k] += s[k + step]
        cuda.syncthreads()
        step *= 2
    if t == 0:
        y[cuda.blockIdx.x] = s[0]


def reduce_sequential(x, y):
    s = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = cuda.blockDim.x // 2
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        y[cuda.blockIdx.x] = s[0]


def _sums_of_blocks(rng):
    x = integers(rng, 1024)
    return (x, empty(4)), {1: x.reshape(4, 256).sum(1)}


@launch(reduce_modulo, grid=4, block=256)
def _(rng):
    return _sums_of_blocks(rng)


@launch(reduce_interleaved, grid=4, block=256)
def _(rng):
    return _sums_of_blocks(rng)


@launch(reduce_sequential, grid=4, block=256)
def _(rng):
    return _sums_of_blocks(rng)


def reduce_first_add(x, y):
    s = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * 512 + t
    s[t] = x[i] + x[i + 256]
    cuda.syncthreads()
    step = 128
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        y[cuda.blockIdx.x] = s[0]


@launch(reduce_first_add, grid=2, block=256)
def _(rng):
    x = integers(rng, 1024)
    return (x, empty(2)), {1: x.reshape(2, 512).sum(1)}


def reduce_shuffle(x, y):
    s = cuda.shared.array(8, float32)
    t = cuda.threadIdx.x
    value = x[cuda.grid(1)]
    offset = 16
    while offset > 0:
        value += cuda.shfl_down_sync(FULL, value, offset)
        offset //= 2
    if t % 32 == 0:
        s[t // 32] = value
    cuda.syncthreads()
    if t < 32:
        value = s[t] if t < 8 else float32(0)
        offset = 4
        while offset > 0:
            value += cuda.shfl_down_sync(FULL, value, offset)
            offset //= 2
        if t == 0:
            y[cuda.blockIdx.x] = value


@launch(reduce_shuffle, grid=4, block=256)
def _(rng):
    return _sums_of_blocks(rng)


def reduce_atomic(x, y):
    total = float32(0)
    i = cuda.grid(1)
    while i < x.size:
        total += x[i]
        i += cuda.gridsize(1)
    offset = 16
    while offset > 0:
        total += cuda.shfl_down_sync(FULL, total, offset)
        offset //= 2
    if cuda.laneid == 0:
        cuda.atomic.add(y, 0, total)


@launch(reduce_atomic, grid=2, block=128)
def _(rng):
    x = integers(rng, 700)
    return (x, np.zeros(1, np.float32)), {1: x.sum(keepdims=True)}


def scan_block(x, y):
    s = cuda.shared.array((2, 128), float32)
    t = cuda.threadIdx.x
    s[0, t] = x[cuda.grid(1)]
    cuda.syncthreads()
    now = 0
    step = 1
    while step < 128:
        value = s[now, t]
        if t >= step:
            value += s[now, t - step]
        s[1 - now, t] = value
        cuda.syncthreads()
        now = 1 - now
        step *= 2
    y[cuda.grid(1)] = s[now, t]


@launch(scan_block, grid=2, block=128)
def _(rng):
    x = integers(rng, 256)
    return (x, empty(256)), {1: x.reshape(2, 128).cumsum(1).reshape(-1)}


def matrix_vector(A, x, y):
    lane = cuda.laneid
    row = cuda.blockIdx.x * 4 + cuda.threadIdx.x // 32
    if row < A.shape[0]:
        total = float32(0)
        k = lane
        while k < A.shape[1]:
            total += A[row, k] * x[k]
            k += 32
        offset = 16
        while offset > 0:
            total += cuda.shfl_down_sync(FULL, total, offset)
            offset //= 2
        if lane == 0:
            y[row] = total


@launch(matrix_vector, grid=6, block=128)
def _(rng):
    A, x = integers(rng, 22, 90), integers(rng, 90)
    return (A, x, empty(22)), {2: A @ x}


def ballot_count(x, counts):
    i = cuda.grid(1)
    votes = cuda.ballot_sync(FULL, x[i] > float32(0))
    if cuda.laneid == 0:
        counts[i // 32] = cuda.popc(votes)


@launch(ballot_count, grid=2, block=128)
def _(rng):
    x = integers(rng, 256)
    return (x, np.full(8, -1, np.int32)), {1: (x.reshape(8, 32) > 0).sum(1).astype(np.int32)}


def softmax_rows(x, y):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    row = cuda.blockIdx.x
    most = float32(-math.inf)
    k = t
    while k < x.shape[1]:
        most = max(most, x[row, k])
        k += 64
    s[t] = most
    cuda.syncthreads()
    step = 32
    while step > 0:
        if t < step:
            s[t] = max(s[t], s[t + step])
        cuda.syncthreads()
        step //= 2
    most = s[0]
    cuda.syncthreads()
    total = float32(0)
    k = t
    while k < x.shape[1]:
        total += math.exp(x[row, k] - most)
        k += 64
    s[t] = total
    cuda.syncthreads()
    step = 32
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    total = s[0]
    k = t
    while k < x.shape[1]:
        y[row, k] = math.exp(x[row, k] - most) / total
        k += 64


@launch(softmax_rows, grid=5, block=64, tolerance=2e-6)
def _(rng):
    x = integers(rng, 5, 100)
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    return (x, empty(5, 100)), {1: (e / e.sum(1, keepdims=True)).astype(np.float32)}


def softmax_cross_entropy(z, labels, loss, dz):
    i = cuda.grid(1)
    if i < z.shape[0]:
        most = z[i, 0]
        for k in range(1, z.shape[1]):
            most = max(most, z[i, k])
        total = float32(0)
        for k in range(z.shape[1]):
            total += math.exp(z[i, k] - most)
        label = labels[i]
        loss[i] = math.log(total) - (z[i, label] - most)
        for k in range(z.shape[1]):
            share = math.exp(z[i, k] - most) / total
            dz[i, k] = share - float32(1) if k == label else share


@launch(softmax_cross_entropy, grid=2, block=32, tolerance=2e-5)
def _(rng):
    z, labels = integers(rng, 50, 10), rng.integers(0, 10, 50).astype(np.int32)
    e = np.exp(z.astype(np.float64) - z.max(1, keepdims=True))
    share, rows = e / e.sum(1, keepdims=True), np.arange(50)
    loss = -np.log(share[rows, labels])
    share[rows, labels] -= 1
    return (z, labels, empty(50), empty(50, 10)), {2: loss.astype(np.float32), 3: share.astype(np.float32)}


def histogram_global(pixels, counts):
    i = cuda.grid(1)
    if i < pixels.size:
        cuda.atomic.add(counts, pixels[i] // 16, 1)


def histogram_shared(pixels, counts):
    s = cuda.shared.array(16, int32)
    t = cuda.threadIdx.x
    if t < 16:
        s[t] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < pixels.size:
        cuda.atomic.add(s, pixels[i] // 16, 1)
    cuda.syncthreads()
    if t < 16:
        cuda.atomic.add(counts, t, s[t])


def _histogram(rng):
    pixels = rng.integers(0, 256, 1000).astype(np.uint8)
    return (pixels, np.zeros(16, np.int32)), {1: np.bincount(pixels // 16, minlength=16).astype(np.int32)}


@launch(histogram_global, grid=8, block=128)
def _(rng):
    return _histogram(rng)


@launch(histogram_shared, grid=8, block=128)
def _(rng):
    return _histogram(rng)


def max_pool(x, y, place):
    i = cuda.grid(1)
    if i < y.size:
        h_out, w_out = y.shape[1], y.shape[2]
        n, h, w = i // (h_out * w_out), i // w_out % h_out, i % w_out
        most = x[n, 2 * h, 2 * w]
        where = 0
        for k in range(1, 4):
            value = x[n, 2 * h + k // 2, 2 * w + k % 2]
            if value > most:
                most = value
                where = k
        y[n, h, w] = most
        place[n, h, w] = where


@launch(max_pool, grid=3, block=64)
def _(rng):
    x = integers(rng, 4, 13, 15)
    windows = x[:, :12, :14].reshape(4, 6, 2, 7, 2).transpose(0, 1, 3, 2, 4).reshape(4, 6, 7, 4)
    place = np.full((4, 6, 7), -1, np.int32)
    return (x, empty(4, 6, 7), place), {1: windows.max(-1), 2: windows.argmax(-1).astype(np.int32)}


def max_pool_backward(dy, place, dx):
    i = cuda.grid(1)
    if i < dx.size:
        h_in, w_in = dx.shape[1], dx.shape[2]
        n, h, w = i // (h_in * w_in), i // w_in % h_in, i % w_in
        value = float32(0)
        inside = h // 2 < dy.shape[1] and w // 2 < dy.shape[2]
        if inside and place[n, h // 2, w // 2] == h % 2 * 2 + w % 2:
            value = dy[n, h // 2, w // 2]
        dx[n, h, w] = value


@launch(max_pool_backward, grid=5, block=128)
def _(rng):
    dy, place = integers(rng, 3, 6, 7), rng.integers(0, 4, (3, 6, 7)).astype(np.int32)
    dx = np.zeros((3, 13, 15), np.float32)
    n, h, w = np.indices(dy.shape)
    dx[n, 2 * h + place // 2, 2 * w + place % 2] = dy
    return (dy, place, empty(3, 13, 15)), {2: dx}


def average_pool(x, y):
    w, h = cuda.grid(2)
    n = cuda.blockIdx.z
    if h < y.shape[1] and w < y.shape[2]:
        total = float32(0)
        for p in range(4):
            for q in range(4):
                total += x[n, 2 * h + p, 2 * w + q]
        y[n, h, w] = total * float32(0.0625)


@launch(average_pool, grid=(1, 2, 3), block=(16, 8))
def _(rng):
    x = integers(rng, 3, 26, 30)
    windows = np.lib.stride_tricks.sliding_window_view(x, (4, 4), axis=(1, 2))[:, ::2, ::2]
    return (x, empty(3, 12, 14)), {1: windows.sum((-1, -2)) / 16}
