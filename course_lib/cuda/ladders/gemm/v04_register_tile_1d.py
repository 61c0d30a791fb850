"""A column of TM results for each thread, in registers: a number of Bs that was loaded once is used TM times.

Requests to shared memory fall from 2 to 1 + 1 / TM for each multiply-add of a warp, 1.8 times less with TM = 8; and
the block's tile grows to 64 x 64, which halves the bytes from global memory. Source: H, "Strategies for Lab 7", 4
(joint register-shared tiling); siboehm, "How to Optimize a CUDA Matmul Kernel".
"""

from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.gemm.checks import check_gemm, check_grid
from course_lib.cuda.numba_cuda import cuda, float32

BM, BN, BK = 64, 64, 8
TM = 8
THREADS = BM * BN // TM
"""512: as many as a tile of A, or of B, has numbers, so each thread brings one of each."""


@jit(cache=True)
def _gemm_v04(A, B, C):
    # who am I: a column of the block's tile, and TM rows from `top` on
    As = cuda.shared.array((BM, BK), float32)
    Bs = cuda.shared.array((BK, BN), float32)
    acc = cuda.local.array(TM, float32)
    t = cuda.threadIdx.x
    row0, col0 = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    col, top = t % BN, t // BN * TM
    M, K = A.shape
    N = B.shape[1]
    a_row, a_k = t // BK, t % BK  # what this thread brings
    b_k, b_col = t // BN, t % BN
    for i in range(TM):
        acc[i] = float32(0)
    for k0 in range(0, K, BK):
        # stage
        As[a_row, a_k] = A[row0 + a_row, k0 + a_k] if row0 + a_row < M and k0 + a_k < K else float32(0)
        Bs[b_k, b_col] = B[k0 + b_k, col0 + b_col] if k0 + b_k < K and col0 + b_col < N else float32(0)
        cuda.syncthreads()
        # compute: k outside, so that b stays in a register for TM multiply-adds
        for k in range(BK):
            b = Bs[k, col]
            for i in range(TM):
                acc[i] += As[top + i, k] * b
        cuda.syncthreads()
    # write
    for i in range(TM):
        if row0 + top + i < M and col0 + col < N:
            C[row0 + top + i, col0 + col] = acc[i]


def gemm_v04_register_tile_1d(A, B, C):
    """Write A @ B into C: A (M, K), B (K, N), C (M, N), M at most 4,194,240, float32 on the device.

    Raises TypeError and ValueError for operands that `check_gemm` refuses, ValueError as `check_grid`. Source: K,
    Z = X W.
    """
    A, B, C, M, N, _ = check_gemm(A, B, C)
    check_grid("rows", M, BM)
    _gemm_v04[(-(-N // BN), -(-M // BM)), THREADS](A, B, C)


def traffic(M, N, K):
    """Return {counter: value} that the SIMT executor must count, for M, N multiples of 64 and K of 8. No errors.

    Source: each element of A is loaded N / BN times and each of B M / BM times; for each k a thread reads one number
    of Bs and TM of As.
    """
    return {
        "global_load_bytes": 4 * (M * K * (N // BN) + K * N * (M // BM)),
        "shared_load_requests": M * N * K // 32 * (1 + TM) // TM,
        "shared_load_conflicts": 0,
        "flops": 2 * M * N * K,
    }
