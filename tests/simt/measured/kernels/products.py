"""Matrix products, rung by rung (lesson 14)."""

from numba import cuda, float32

from tests.simt.measured.cases import empty, integers, launch

T = 16  # side of a tile
BM, BN, BK, TM, TN = 32, 32, 8, 4, 4  # register tiles, named as in the lesson


def product_naive(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc


def product_uncoalesced(A, B, C):
    row, col = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc


def product_tiled(A, B, C):
    As = cuda.shared.array((T, T), float32)
    Bs = cuda.shared.array((T, T), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = float32(0)
    for m in range((A.shape[1] + T - 1) // T):
        k = m * T + tx
        As[ty, tx] = A[row, k] if row < A.shape[0] and k < A.shape[1] else float32(0)
        k = m * T + ty
        Bs[ty, tx] = B[k, col] if k < B.shape[0] and col < B.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(T):
            acc += As[ty, k] * Bs[k, tx]
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc


def product_double_buffered(A, B, C):
    As = cuda.shared.array((2, T, T), float32)
    Bs = cuda.shared.array((2, T, T), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = float32(0)
    tiles = A.shape[1] // T
    As[0, ty, tx] = A[row, tx]
    Bs[0, ty, tx] = B[ty, col]
    cuda.syncthreads()
    now = 0
    for m in range(tiles):
        if m + 1 < tiles:
            As[1 - now, ty, tx] = A[row, (m + 1) * T + tx]
            Bs[1 - now, ty, tx] = B[(m + 1) * T + ty, col]
        for k in range(T):
            acc += As[now, ty, k] * Bs[now, k, tx]
        cuda.syncthreads()
        now = 1 - now
    C[row, col] = acc


def product_register_1d(A, B, C):
    As = cuda.shared.array((BM, BK), float32)
    Bs = cuda.shared.array((BK, BN), float32)
    acc = cuda.local.array(TM, float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    t = ty * BN + tx
    row = cuda.blockIdx.y * BM
    col = cuda.blockIdx.x * BN
    for i in range(TM):
        acc[i] = float32(0)
    for k0 in range(0, A.shape[1], BK):
        r, k = row + t // BK, k0 + t % BK
        As[t // BK, t % BK] = A[r, k] if r < A.shape[0] and k < A.shape[1] else float32(0)
        k, c = k0 + ty, col + tx
        Bs[ty, tx] = B[k, c] if k < B.shape[0] and c < B.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(BK):
            b = Bs[k, tx]
            for i in range(TM):
                acc[i] += As[ty * TM + i, k] * b
        cuda.syncthreads()
    for i in range(TM):
        r = row + ty * TM + i
        if r < C.shape[0] and col + tx < C.shape[1]:
            C[r, col + tx] = acc[i]


def product_register_2d(A, B, C):
    As = cuda.shared.array((BM, BK), float32)
    Bs = cuda.shared.array((BK, BN), float32)
    acc = cuda.local.array((TM, TN), float32)
    a = cuda.local.array(TM, float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    t = ty * 8 + tx
    row = cuda.blockIdx.y * BM
    col = cuda.blockIdx.x * BN
    for i in range(TM):
        for j in range(TN):
            acc[i, j] = float32(0)
    for k0 in range(0, A.shape[1], BK):
        for e in range(t, BM * BK, 64):
            r, k = row + e // BK, k0 + e % BK
            As[e // BK, e % BK] = A[r, k] if r < A.shape[0] and k < A.shape[1] else float32(0)
            k, c = k0 + e // BN, col + e % BN
            Bs[e // BN, e % BN] = B[k, c] if k < B.shape[0] and c < B.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(BK):
            for i in range(TM):
                a[i] = As[ty + 8 * i, k]
            for j in range(TN):
                b = Bs[k, tx + 8 * j]
                for i in range(TM):
                    acc[i, j] += a[i] * b
        cuda.syncthreads()
    for i in range(TM):
        for j in range(TN):
            r, c = row + ty + 8 * i, col + tx + 8 * j
            if r < C.shape[0] and c < C.shape[1]:
                C[r, c] = acc[i, j]


def _product(rng, M, N, K):
    A, B = integers(rng, M, K), integers(rng, K, N)
    return (A, B, empty(M, N)), {2: A @ B}


@launch(product_naive, grid=(4, 5), block=(16, 16))
def _(rng):
    return _product(rng, 70, 50, 33)


@launch(product_uncoalesced, grid=(5, 4), block=(16, 16))
def _(rng):
    return _product(rng, 70, 50, 33)


@launch(product_tiled, grid=(8, 8), block=(16, 16), name="product_tiled_128")
def _(rng):
    return _product(rng, 128, 128, 128)


@launch(product_tiled, grid=(4, 5), block=(16, 16), name="product_tiled_ragged")
def _(rng):
    return _product(rng, 70, 50, 33)


@launch(product_double_buffered, grid=(4, 4), block=(16, 16))
def _(rng):
    return _product(rng, 64, 64, 64)


@launch(product_register_1d, grid=(2, 3), block=(32, 8))
def _(rng):
    return _product(rng, 70, 50, 33)


@launch(product_register_2d, grid=(2, 3), block=(8, 8))
def _(rng):
    return _product(rng, 70, 50, 33)
