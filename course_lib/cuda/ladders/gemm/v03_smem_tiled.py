"""Tiles in shared memory: a block brings T x T numbers of A and of B once, and each of them is used T times.

The bytes loaded from global memory fall to 2 M N K / T numbers, T = 32 times less than one thread for each element
asks for. Source: H, "Tiled Matrix Multiplication 2x2 example" (reuse by tiles); K, Z = X W; NVIDIA, "CUDA C++
Programming Guide", "Shared Memory".
"""

from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.gemm.checks import check_gemm, check_grid
from course_lib.cuda.numba_cuda import cuda, float32

T = 32
"""Side of a tile; a block has T * T threads."""


@jit(cache=True)
def _gemm_v03(A, B, C):
    # who am I
    As = cuda.shared.array((T, T), float32)
    Bs = cuda.shared.array((T, T), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    M, K = A.shape
    N = B.shape[1]
    acc = float32(0)
    for k0 in range(0, K, T):
        # stage: one number of each tile; zeros outside add nothing
        As[ty, tx] = A[row, k0 + tx] if row < M and k0 + tx < K else float32(0)
        Bs[ty, tx] = B[k0 + ty, col] if k0 + ty < K and col < N else float32(0)
        cuda.syncthreads()  # the tiles are complete
        # compute
        for k in range(T):
            acc += As[ty, k] * Bs[k, tx]
        cuda.syncthreads()  # nobody reads them any more
    # write
    if row < M and col < N:
        C[row, col] = acc


def gemm_v03_smem_tiled(A, B, C):
    """Write A @ B into C: A (M, K), B (K, N), C (M, N), M at most 2,097,120, float32 on the device.

    Raises TypeError and ValueError for operands that `check_gemm` refuses, ValueError as `check_grid`. Source: K,
    Z = X W.
    """
    A, B, C, M, N, _ = check_gemm(A, B, C)
    check_grid("rows", M, T)
    _gemm_v03[(-(-N // T), -(-M // T)), (T, T)](A, B, C)


def traffic(M, N, K):
    """Return {counter: value} that the SIMT executor must count, for M, N, K multiples of T = 32. No errors.

    Source: each element of A is loaded N / T times and each of B M / T times, together 2 M N K / T numbers.
    """
    return {
        "global_load_bytes": 4 * 2 * M * N * K // T,
        "global_load_requests": 2 * M * N * K // T // 32,
        "shared_load_requests": 2 * M * N * K // 32,
        "shared_load_conflicts": 0,
        "flops": 2 * M * N * K,
    }
