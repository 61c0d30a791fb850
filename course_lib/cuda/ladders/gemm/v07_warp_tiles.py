"""A compact part of the tile for each warp, 64 x 32, instead of lanes that reach across the whole tile.

For each k a warp then wants 64 numbers of As and 32 of Bs, where v06 wants 16 and 128, and lanes next to each other
share them in pairs. The executor counts nothing less: requests, bytes and conflicts stay what they were. On a GPU it
is worth little by itself, but a warp with a place of its own is what the next rung builds on. Source: NVIDIA, "CUTLASS:
Efficient GEMM in CUDA" (warp tiles); siboehm, "How to Optimize a CUDA Matmul Kernel".
"""

import functools

from course_lib.cuda.intrinsics import ld4, nonneg, st4
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.gemm.checks import check_gemm
from course_lib.cuda.ladders.gemm.quads import quads, rows_are_wide
from course_lib.cuda.numba_cuda import cuda, float32, uint32
from course_lib.cuda.unroll import unroll

BM, BN, BK = 128, 128, 16
WM, WN = 64, 32
"""A warp's part of the block's tile: 8 x 4 lanes with 8 x 8 results each."""
TM, TN = 8, 8
WARPS_N = BN // WN
THREADS = 32 * (BM // WM) * WARPS_N
LDA = BM + 4
HALF_M, HALF_N = WM // 2, WN // 2
QUADS_A, QUADS_B = BK // 4, BN // 4
DOWN_A, DOWN_B = THREADS // QUADS_A, THREADS // QUADS_B
LOADS_A, LOADS_B = BM // DOWN_A, BK // DOWN_B


@functools.cache
def _kernel(wide):
    load, store = quads(wide)

    @jit(cache=True, launch_bounds=(THREADS, 2))
    def _gemm_v07(A, B, C):
        # who am I
        As = cuda.shared.array((BK, LDA), float32, alignment=16)
        Bs = cuda.shared.array((BK, BN), float32, alignment=16)
        acc = cuda.local.array((TM, TN), float32)
        a = cuda.local.array(TM, float32)
        b = cuda.local.array(TN, float32)
        t = nonneg(cuda.threadIdx.x)
        block, across = uint32(cuda.blockIdx.x), uint32(uint32(B.shape[1] + BN - 1) // uint32(BN))
        row0, col0 = uint32(block // across) * BM, uint32(block % across) * BN
        warp, lane = t // 32, t % 32
        down = lane // 2 % 8  # lanes 0 and 1 share their rows, lanes 0 and 2 their columns
        across = lane // 16 * 2 + lane % 2
        row, col = warp // WARPS_N * WM + down * 4, warp % WARPS_N * WN + across * 4
        a_row, a_k = t // QUADS_A, t % QUADS_A * 4
        b_k, b_col = t // QUADS_B, t % QUADS_B * 4
        for i in range(TM):
            for j in range(TN):
                acc[i, j] = float32(0)
        for k0 in range(0, A.shape[1], BK):
            # stage; A is transposed on the way
            for p in range(LOADS_A):
                r = a_row + p * DOWN_A
                a[0], a[1], a[2], a[3] = load(A, row0 + r, k0 + a_k)
                for q in range(4):
                    As[nonneg(a_k + q), nonneg(r)] = a[q]
            for p in range(LOADS_B):
                r = b_k + p * DOWN_B
                b[0], b[1], b[2], b[3] = load(B, k0 + r, col0 + b_col)
                st4(Bs, nonneg(r * BN + b_col), b[0], b[1], b[2], b[3])
            cuda.syncthreads()
            # compute
            for k in unroll(BK):
                a[0], a[1], a[2], a[3] = ld4(As, nonneg(k * LDA + row))
                a[4], a[5], a[6], a[7] = ld4(As, nonneg(k * LDA + row + HALF_M))
                b[0], b[1], b[2], b[3] = ld4(Bs, nonneg(k * BN + col))
                b[4], b[5], b[6], b[7] = ld4(Bs, nonneg(k * BN + col + HALF_N))
                for i in range(TM):
                    for j in range(TN):
                        acc[i, j] += a[i] * b[j]
            cuda.syncthreads()
        # write
        for i in range(TM):
            r = row0 + row + i // 4 * HALF_M + i % 4
            store(C, r, col0 + col, acc[i, 0], acc[i, 1], acc[i, 2], acc[i, 3])
            store(C, r, col0 + col + HALF_N, acc[i, 4], acc[i, 5], acc[i, 6], acc[i, 7])

    return _gemm_v07


def gemm_v07_warp_tiles(A, B, C):
    """Write A @ B into C: A (M, K), B (K, N), C (M, N), of any size, float32 on the device.

    Raises TypeError and ValueError for operands that `check_gemm` refuses. Source: K, Z = X W.
    """
    A, B, C, M, N, _ = check_gemm(A, B, C)
    _kernel(rows_are_wide(A, B, C))[-(-M // BM) * -(-N // BN), THREADS](A, B, C)


def traffic(M, N, K):
    """Return {counter: value} that the SIMT executor must count, for M, N multiples of 128 and K of 16. No errors.

    Source: v06's; only which lane reads what has changed.
    """
    bytes_ = 4 * (M * K * (N // BN) + K * N * (M // BM))
    return {
        "global_load_bytes": bytes_,
        "global_load_requests": bytes_ // (16 * 32),
        "global_store_requests": M * N // (4 * 32),
        "shared_load_requests": M * N * K // 32 * (TM + TN) // 4 // (TM * TN),
        "shared_load_conflicts": 0,
        "flops": 2 * M * N * K,
    }
