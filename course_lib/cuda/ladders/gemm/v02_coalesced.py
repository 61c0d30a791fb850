"""The column on the fast axis: the threads of a warp read neighbours in B, and the same element of A.

A request for B touches 4 sectors and uses all of each, a request for A one: 5 sectors where v01 moves 33. Source:
NVIDIA, "CUDA C++ Best Practices Guide", "Coalesced Access to Global Memory".
"""

from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.gemm.checks import check_gemm, check_grid
from course_lib.cuda.numba_cuda import cuda, float32

BLOCK = 32, 8
"""Threads of a block: a warp is 32 columns of one row."""


@jit(cache=True)
def _gemm_v02(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc


def gemm_v02_coalesced(A, B, C):
    """Write A @ B into C: A (M, K), B (K, N), C (M, N), M at most 524,280, float32 on the device.

    Raises TypeError and ValueError for operands that `check_gemm` refuses, ValueError as `check_grid`. Source: K,
    Z = X W.
    """
    A, B, C, M, N, _ = check_gemm(A, B, C)
    check_grid("rows", M, BLOCK[1])
    _gemm_v02[(-(-N // BLOCK[0]), -(-M // BLOCK[1])), BLOCK](A, B, C)


def traffic(M, N, K):
    """Return {counter: value} that the SIMT executor must count, for N a multiple of 32 and M of 8. No errors.

    Source: a warp's request for A touches one sector, for B four.
    """
    pairs = M * N * K // 32
    return {
        "global_load_requests": 2 * pairs,
        "global_load_sectors": (1 + 4) * pairs,
        "global_store_sectors": M * N // 8,
        "flops": 2 * M * N * K,
    }
