"""A thread for each element of C, with the row on the fast axis: the kernel that everybody writes first.

Neighbouring threads read rows of A that lie K numbers apart, so one request of a warp touches 32 sectors of memory
and uses 4 bytes of each 32. Source: K, Z = X W as a sum over k; NVIDIA, "CUDA C++ Best Practices Guide", "Coalesced
Access to Global Memory".
"""

from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.gemm.checks import check_gemm, check_grid
from course_lib.cuda.numba_cuda import cuda, float32

BLOCK = 32, 8
"""Threads of a block: a warp is 32 rows of one column."""


@jit(cache=True)
def _gemm_v01(A, B, C):
    row, col = cuda.grid(2)  # x, the fast axis, counts rows: this is what the next rung mends
    if row < C.shape[0] and col < C.shape[1]:
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc


def gemm_v01_naive(A, B, C):
    """Write A @ B into C: A (M, K), B (K, N), C (M, N), N at most 524,280, float32 on the device.

    Raises TypeError and ValueError for operands that `check_gemm` refuses, ValueError as `check_grid`. Source: K,
    Z = X W.
    """
    A, B, C, M, N, _ = check_gemm(A, B, C)
    check_grid("columns", N, BLOCK[1])
    _gemm_v01[(-(-M // BLOCK[0]), -(-N // BLOCK[1])), BLOCK](A, B, C)


def traffic(M, N, K):
    """Return {counter: value} that the SIMT executor must count, for M, N multiples of 32 and K of 8. No errors.

    Source: a warp's request for A touches 32 sectors, for B one: all its threads want the same element.
    """
    pairs = M * N * K // 32  # each warp loads twice for each k
    return {
        "global_load_requests": 2 * pairs,
        "global_load_sectors": (32 + 1) * pairs,
        "global_store_sectors": M * N,
        "flops": 2 * M * N * K,
    }
