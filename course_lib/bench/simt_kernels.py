"""Twelve kernels in Numba-CUDA's language, of the kinds that the lessons write, to time the SIMT executor with.

Source: the course's own; the parallel patterns of NVIDIA's "CUDA C++ Programming Guide" and of Kirk and Hwu,
"Programming Massively Parallel Processors". Plain functions: each executor decorates or reads them as it needs.
"""

import math

from numba import cuda, float32

T = 16
"""Side of a tile of the matrix product."""

BLOCK = 128
"""Threads of a block in kernels with one axis that share memory: a constant, as the sizes of shared arrays are."""

WITH_EDGES = BLOCK + 2
"""Elements that a block's threads and their two neighbours need; Numba wants a size as one number or name."""

K = 5
"""Side of the convolution's mask."""


def vector_add(a, b, c):
    """c (n) = a + b, a thread for each element."""
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


def axpy_grid_stride(alpha, x, y):
    """y (n) += alpha x, fewer threads than elements."""
    for i in range(cuda.grid(1), y.size, cuda.gridsize(1)):
        y[i] += alpha * x[i]


def product_naive(A, B, C):
    """C (M, N) = A @ B, a thread for each element, everything from global memory."""
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc


def product_tiled(A, B, C):
    """C (M, N) = A @ B through shared tiles; M, N and K are multiples of T."""
    As = cuda.shared.array((T, T), float32)
    Bs = cuda.shared.array((T, T), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = float32(0)
    for m in range(A.shape[1] // T):
        As[ty, tx] = A[row, m * T + tx]
        Bs[ty, tx] = B[m * T + ty, col]
        cuda.syncthreads()
        for k in range(T):
            acc += As[ty, k] * Bs[k, tx]
        cuda.syncthreads()
    C[row, col] = acc


def transpose_tile(A, B):
    """B (n, n) = A.T through a shared tile whose columns all lie in one bank; n is a multiple of 32."""
    tile = cuda.shared.array((32, 32), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    col, row = cuda.grid(2)
    tile[ty, tx] = A[row, col]
    cuda.syncthreads()
    B[cuda.blockIdx.x * 32 + ty, cuda.blockIdx.y * 32 + tx] = tile[tx, ty]


def transpose_padded(A, B):
    """B (n, n) = A.T through a shared tile with a column to spare; n is a multiple of 32."""
    tile = cuda.shared.array((32, 33), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    col, row = cuda.grid(2)
    tile[ty, tx] = A[row, col]
    cuda.syncthreads()
    B[cuda.blockIdx.x * 32 + ty, cuda.blockIdx.y * 32 + tx] = tile[tx, ty]


def block_sum(x, sums):
    """sums (blocks) of BLOCK elements each of x (n), by halves."""
    partial = cuda.shared.array(BLOCK, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    partial[t] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    half = BLOCK // 2
    while half > 0:
        if t < half:
            partial[t] += partial[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = partial[0]


def histogram(x, counts):
    """counts (bins) of the whole numbers of x (n), by atomic additions."""
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(counts, x[i], 1)


def softmax_rows(x, y):
    """y (B, D) = softmax of each row of x, a block of BLOCK threads for a row."""
    partial = cuda.shared.array(BLOCK, float32)
    t = cuda.threadIdx.x
    row = cuda.blockIdx.x
    largest = x[row, 0]
    for j in range(t, x.shape[1], BLOCK):
        largest = max(largest, x[row, j])
    partial[t] = largest
    cuda.syncthreads()
    half = BLOCK // 2
    while half > 0:
        if t < half:
            partial[t] = max(partial[t], partial[t + half])
        cuda.syncthreads()
        half //= 2
    largest = partial[0]
    cuda.syncthreads()
    total = float32(0)
    for j in range(t, x.shape[1], BLOCK):
        total += math.exp(x[row, j] - largest)
    partial[t] = total
    cuda.syncthreads()
    half = BLOCK // 2
    while half > 0:
        if t < half:
            partial[t] += partial[t + half]
        cuda.syncthreads()
        half //= 2
    for j in range(t, x.shape[1], BLOCK):
        y[row, j] = math.exp(x[row, j] - largest) / partial[0]


def max_pool(x, y):
    """y (B, C, H / 2, W / 2) = the largest of each 2x2 of x (B, C, H, W)."""
    col, row, plane = cuda.grid(3)
    if col < y.shape[3] and row < y.shape[2] and plane < y.shape[0] * y.shape[1]:
        b = plane // y.shape[1]
        c = plane % y.shape[1]
        best = x[b, c, 2 * row, 2 * col]
        for i in range(2):
            for j in range(2):
                best = max(best, x[b, c, 2 * row + i, 2 * col + j])
        y[b, c, row, col] = best


def conv2d_direct(x, w, y):
    """y (B, M, H_out, W_out) = x (B, C, H, W) with masks w (M, C, K, K), a thread for each output element."""
    col, row, plane = cuda.grid(3)
    if col < y.shape[3] and row < y.shape[2] and plane < y.shape[0] * y.shape[1]:
        b = plane // y.shape[1]
        m = plane % y.shape[1]
        acc = float32(0)
        for c in range(x.shape[1]):
            for p in range(K):
                for q in range(K):
                    acc += x[b, c, row + p, col + q] * w[m, c, p, q]
        y[b, m, row, col] = acc


def stencil(x, y):
    """y (n) = x[i - 1] + 2 x[i] + x[i + 1] through shared memory, zeros beyond the ends."""
    tile = cuda.shared.array(WITH_EDGES, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t + 1] = x[i] if i < x.size else float32(0)
    if t == 0:
        tile[0] = x[i - 1] if 0 < i <= x.size else float32(0)
        tile[BLOCK + 1] = x[i + BLOCK] if i + BLOCK < x.size else float32(0)
    cuda.syncthreads()
    if i < y.size:
        y[i] = tile[t] + float32(2) * tile[t + 1] + tile[t + 2]
