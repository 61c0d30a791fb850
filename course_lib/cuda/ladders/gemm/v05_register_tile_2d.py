"""A square of TM x TN results for each thread: 8 + 8 numbers from shared memory feed 64 multiply-adds.

Requests to shared memory fall from 1 + 1 / 8 to 1 / 8 + 1 / 8 for each multiply-add of a warp, and the block's tile of
128 x 128 halves the bytes from global memory once more. This is the readable one: plain Numba, without an intrinsic.

Two things make the machine code good. As lies transposed, so that the four neighbours a thread wants are neighbours in
memory, and one instruction brings them (`alignment=16`). And indices are uint32: for a signed index that might be
negative Numba adds code that counts from the end. Source: H, "Strategies for Lab 7", 4 (joint register-shared tiling);
siboehm, "How to Optimize a CUDA Matmul Kernel".
"""

from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.gemm.checks import check_gemm
from course_lib.cuda.numba_cuda import cuda, float32, uint32
from course_lib.cuda.unroll import unroll

BM, BN, BK = 128, 128, 16
TM, TN = 8, 8
THREADS_N = BN // TN
THREADS = BM // TM * THREADS_N
LDA = BM + 4
"""Numbers from row to row of As: the threads that write a column of it hit different banks."""
HALF_M, HALF_N = BM // 2, BN // 2
"""A thread has four rows in each half of the tile, and four columns: its neighbours' are next to them."""
LOADS_A, LOADS_B = BM * BK // THREADS, BK * BN // THREADS
DOWN_A, DOWN_B = THREADS // BK, THREADS // BN


@jit(cache=True, launch_bounds=(THREADS, 2))
def _gemm_v05(A, B, C):
    # who am I
    As = cuda.shared.array((BK, LDA), float32, alignment=16)
    Bs = cuda.shared.array((BK, BN), float32, alignment=16)
    acc = cuda.local.array((TM, TN), float32)
    a = cuda.local.array(TM, float32)
    b = cuda.local.array(TN, float32)
    M, K, N = uint32(A.shape[0]), uint32(A.shape[1]), uint32(B.shape[1])
    t = uint32(cuda.threadIdx.x)
    block, across = uint32(cuda.blockIdx.x), uint32(uint32(N + uint32(BN - 1)) // uint32(BN))
    row0, col0 = uint32(block // across * uint32(BM)), uint32(block % across * uint32(BN))
    ty, tx = uint32(t // uint32(THREADS_N) * uint32(4)), uint32(t % uint32(THREADS_N) * uint32(4))
    a_row, a_k = uint32(t // uint32(BK)), uint32(t % uint32(BK))  # what this thread brings first
    b_k, b_col = uint32(t // uint32(BN)), uint32(t % uint32(BN))
    for i in range(TM):
        for j in range(TN):
            acc[i, j] = float32(0)
    for start in range(0, A.shape[1], BK):
        k0 = uint32(start)
        # stage
        for p in range(LOADS_A):
            r, k = uint32(a_row + uint32(p * DOWN_A)), uint32(k0 + a_k)
            As[a_k, r] = A[uint32(row0 + r), k] if uint32(row0 + r) < M and k < K else float32(0)
        for p in range(LOADS_B):
            r, c = uint32(b_k + uint32(p * DOWN_B)), uint32(col0 + b_col)
            Bs[r, b_col] = B[uint32(k0 + r), c] if uint32(k0 + r) < K and c < N else float32(0)
        cuda.syncthreads()
        # compute
        for k in unroll(BK):
            for i in range(4):
                a[i], a[i + 4] = As[k, uint32(ty + uint32(i))], As[k, uint32(ty + uint32(i + HALF_M))]
                b[i], b[i + 4] = Bs[k, uint32(tx + uint32(i))], Bs[k, uint32(tx + uint32(i + HALF_N))]
            for i in range(TM):
                for j in range(TN):
                    acc[i, j] += a[i] * b[j]
        cuda.syncthreads()
    # write
    for i in range(TM):
        r = uint32(row0 + ty + uint32(i // 4 * HALF_M + i % 4))
        for j in range(TN):
            c = uint32(col0 + tx + uint32(j // 4 * HALF_N + j % 4))
            if r < M and c < N:
                C[r, c] = acc[i, j]


def gemm_v05_register_tile_2d(A, B, C):
    """Write A @ B into C: A (M, K), B (K, N), C (M, N), of any size, float32 on the device.

    Raises TypeError and ValueError for operands that `check_gemm` refuses. Source: K, Z = X W.
    """
    A, B, C, M, N, _ = check_gemm(A, B, C)
    _gemm_v05[-(-M // BM) * -(-N // BN), THREADS](A, B, C)


def traffic(M, N, K):
    """Return {counter: value} that the SIMT executor must count, for M, N multiples of 128 and K of 16. No errors.

    Source: each element of A is loaded N / BN times and each of B M / BM times; for each k a thread reads TM numbers
    of As and TN of Bs, and these are single reads to the executor.
    """
    return {
        "global_load_bytes": 4 * (M * K * (N // BN) + K * N * (M // BM)),
        "shared_load_requests": M * N * K // 32 * (TM + TN) // (TM * TN),
        "flops": 2 * M * N * K,
    }
