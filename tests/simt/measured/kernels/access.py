"""Access patterns: coalescing, shared memory and its banks, local memory, transposes (lesson 12)."""

import numpy as np
from numba import cuda, float32, float64, int8

from tests.simt.measured.cases import empty, integers, launch

T = 16  # side of a tile


def copy_stride(x, stride, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = x[i * stride]


def _strided(stride):
    def make(rng):
        x = integers(rng, 256 * stride)
        return (x, stride, empty(256)), {2: x[::stride]}

    return make


for _stride in (2, 8, 32):
    launch(copy_stride, grid=2, block=128, name=f"copy_stride_{_stride}")(_strided(_stride))


def copy_offset(x, offset, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = x[i + offset]


@launch(copy_offset, grid=4, block=128)
def _(rng):
    x = integers(rng, 501)
    return (x, 1, empty(500)), {2: x[1:]}


def store_stride(x, stride, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i * stride] = x[i]


@launch(store_stride, grid=2, block=128)
def _(rng):
    x, y = integers(rng, 256), empty(256 * 3)
    expected = y.copy()
    expected[::3] = x
    return (x, 3, y), {2: expected}


def copy_rows(x, y):
    col, row = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        y[row, col] = x[row, col]


@launch(copy_rows, grid=(3, 7), block=(32, 8))
def _(rng):
    x = integers(rng, 50, 70)
    return (x, empty(50, 70)), {1: x}


def copy_columns(x, y):
    row, col = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        y[row, col] = x[row, col]


@launch(copy_columns, grid=(2, 9), block=(32, 8))
def _(rng):
    x = integers(rng, 50, 70)
    return (x, empty(50, 70)), {1: x}


@launch(copy_rows, grid=(3, 7), block=(32, 8), name="copy_fortran")
def _(rng):
    x = np.asfortranarray(integers(rng, 50, 70))
    return (x, empty(50, 70)), {1: x}


def row_sums(x, y):
    row = cuda.grid(1)
    if row < x.shape[0]:
        total = float32(0)
        for k in range(x.shape[1]):
            total += x[row, k]
        y[row] = total


@launch(row_sums, grid=2, block=64)
def _(rng):
    x = integers(rng, 100, 20)
    return (x, empty(100)), {1: x.sum(1)}


def column_sums(x, y):
    col = cuda.grid(1)
    if col < x.shape[1]:
        total = float32(0)
        for k in range(x.shape[0]):
            total += x[k, col]
        y[col] = total


@launch(column_sums, grid=2, block=64)
def _(rng):
    x = integers(rng, 20, 100)
    return (x, empty(100)), {1: x.sum(0)}


def shared_stride(x, stride, y):
    s = cuda.shared.array(1024, float32)
    t = cuda.threadIdx.x
    s[t * stride % 1024] = x[cuda.grid(1)]
    cuda.syncthreads()
    y[cuda.grid(1)] = s[t * stride % 1024]


def _shared_stride(rng, stride):
    x = integers(rng, 64)
    return (x, stride, empty(64)), {2: x}


@launch(shared_stride, grid=2, block=32, name="shared_stride_2")
def _(rng):
    return _shared_stride(rng, 2)


@launch(shared_stride, grid=2, block=32, name="shared_stride_12")
def _(rng):
    return _shared_stride(rng, 12)


@launch(shared_stride, grid=2, block=32, name="shared_stride_31")
def _(rng):
    return _shared_stride(rng, 31)


def shared_float64(x, stride, y):
    s = cuda.shared.array(512, float64)
    t = cuda.threadIdx.x
    s[t * stride % 512] = x[cuda.grid(1)]
    cuda.syncthreads()
    y[cuda.grid(1)] = s[t * stride % 512]


def _shared_float64(rng, stride):
    x = integers(rng, 64).astype(np.float64)
    return (x, stride, np.full(64, np.nan)), {2: x}


@launch(shared_float64, grid=2, block=32, name="shared_float64_1")
def _(rng):
    return _shared_float64(rng, 1)


@launch(shared_float64, grid=2, block=32, name="shared_float64_4")
def _(rng):
    return _shared_float64(rng, 4)


def shared_bytes(x, y):
    s = cuda.shared.array(256, int8)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    y[t] = s[t * 4 % 256 + t // 64]


@launch(shared_bytes, grid=1, block=256)
def _(rng):
    x, t = rng.integers(-100, 100, 256).astype(np.int8), np.arange(256)
    return (x, np.full(256, 101, np.int8)), {1: x[t * 4 % 256 + t // 64]}


def dynamic_shared_reverse(x, y):
    s = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    y[cuda.grid(1)] = s[cuda.blockDim.x - 1 - t]


@launch(dynamic_shared_reverse, grid=3, block=128, shared=512)
def _(rng):
    x = integers(rng, 384)
    return (x, empty(384)), {1: x.reshape(3, 128)[:, ::-1].reshape(-1)}


def median_of_5(x, y):
    window = cuda.local.array(5, float32)
    i = cuda.grid(1)
    if i < y.size:
        for k in range(5):
            value = x[i + k]
            j = k
            while j > 0 and window[j - 1] > value:
                window[j] = window[j - 1]
                j -= 1
            window[j] = value
        y[i] = window[2]


@launch(median_of_5, grid=2, block=64)
def _(rng):
    x = integers(rng, 124)
    return (x, empty(120)), {1: np.median(np.lib.stride_tricks.sliding_window_view(x, 5), axis=1)}


def transpose_naive(A, C):
    x, y = cuda.grid(2)
    if y < A.shape[0] and x < A.shape[1]:
        C[x, y] = A[y, x]


@launch(transpose_naive, grid=(2, 3), block=(32, 32))
def _(rng):
    A = integers(rng, 70, 50)
    return (A, empty(50, 70)), {1: A.T}


def transpose_tile(A, C):
    tile = cuda.shared.array((32, 32), float32)
    x, y = cuda.grid(2)
    tile[cuda.threadIdx.y, cuda.threadIdx.x] = A[y, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * 32 + cuda.threadIdx.x
    y = cuda.blockIdx.x * 32 + cuda.threadIdx.y
    C[y, x] = tile[cuda.threadIdx.x, cuda.threadIdx.y]


@launch(transpose_tile, grid=(4, 4), block=(32, 32))
def _(rng):
    A = integers(rng, 128, 128)
    return (A, empty(128, 128)), {1: A.T}


def transpose_padded(A, C):
    tile = cuda.shared.array((32, 33), float32)
    x, y = cuda.grid(2)
    if y < A.shape[0] and x < A.shape[1]:
        tile[cuda.threadIdx.y, cuda.threadIdx.x] = A[y, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * 32 + cuda.threadIdx.x
    y = cuda.blockIdx.x * 32 + cuda.threadIdx.y
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = tile[cuda.threadIdx.x, cuda.threadIdx.y]


@launch(transpose_padded, grid=(2, 3), block=(32, 32))
def _(rng):
    A = integers(rng, 70, 50)
    return (A, empty(50, 70)), {1: A.T}


def transpose_coarsened(A, C):
    tile = cuda.shared.array((32, 33), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    x = cuda.blockIdx.x * 32 + tx
    y = cuda.blockIdx.y * 32 + ty
    for r in range(0, 32, 8):
        if y + r < A.shape[0] and x < A.shape[1]:
            tile[ty + r, tx] = A[y + r, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * 32 + tx
    y = cuda.blockIdx.x * 32 + ty
    for r in range(0, 32, 8):
        if y + r < C.shape[0] and x < C.shape[1]:
            C[y + r, x] = tile[tx, ty + r]


@launch(transpose_coarsened, grid=(2, 3), block=(32, 8))
def _(rng):
    A = integers(rng, 70, 50)
    return (A, empty(50, 70)), {1: A.T}


def stencil_1d(x, y):
    s = cuda.shared.array(132, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t + 2] = x[i + 2]
    if t < 2:
        s[t] = x[i]
        s[t + 130] = x[i + 130]
    cuda.syncthreads()
    total = float32(0)
    for k in range(5):
        total += s[t + k]
    y[i] = total


@launch(stencil_1d, grid=3, block=128)
def _(rng):
    x = integers(rng, 3 * 128 + 4)
    return (x, empty(3 * 128)), {1: np.lib.stride_tricks.sliding_window_view(x, 5).sum(1)}
