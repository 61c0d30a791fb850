"""Everything in flight at once: copies for the tile after next, reads of the next fragments, multiply-adds of this one.

Asynchronous copies bring tiles into one half of shared memory while the other half is used, without a register on the
way and with one barrier a tile; 16 x 8 results a thread instead of 8 x 8 take a third fewer reads of shared memory for
each multiply-add; blocks that run together lie together in C, so that they find each other's rows and columns in the
L2 cache. Source: NVIDIA, "CUTLASS: Efficient GEMM in CUDA" (software pipelining, rasterisation); "PTX ISA", "cp.async".
"""

import functools

from numba import cuda, float32

from course_lib.cuda.intrinsics import (
    cp_async4_part,
    cp_async16,
    cp_async16_part,
    cp_async_commit,
    cp_async_wait0,
    cp_async_wait1,
    ld4,
    nonneg,
    st4,
)
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.gemm.product import product
from course_lib.cuda.operands import aligned
from course_lib.cuda.unroll import unroll

BM, BN, BK = 128, 128, 16
"""A block's tile of C, and the depth of the tiles of A and B."""
WM, WN = 64, 64
"""A warp's part of it. Its 8 x 4 lanes have 8 rows that lie 8 apart, and 4 groups of 4 columns that lie 16 apart."""
STAGES = 2
BAND = 8
"""Block rows that are worked on together, column by column."""

TM, TN = WM // 8, WN // 4
WARPS_N = BN // WN
THREADS = 32 * (BM // WM) * WARPS_N
LDA = BK + 4
"""Numbers from row to row of As: 8 rows' groups of 4 numbers begin in different banks, and at multiples of 16 bytes."""
SIZE_A, SIZE_B = BM * LDA, BK * BN
FIRST_B = STAGES * SIZE_A
SHARED = STAGES * (SIZE_A + SIZE_B)
RESULTS, FRAGMENT_A, FRAGMENT_B = TM * TN, TM * 4, TN
TWO_A, TWO_B = 2 * FRAGMENT_A, 2 * FRAGMENT_B
GROUPS_N = TN // 4


@jit(device=True, forceinline=True)
def _read_a(s, i, a, o):
    """a[o + 4 m + q] = number q of four neighbours in k, of this lane's row m: one access for four turns of k."""
    for m in range(TM):
        j = o + 4 * m
        a[j], a[j + 1], a[j + 2], a[j + 3] = ld4(s, nonneg(i + m * 8 * LDA))


@jit(device=True, forceinline=True)
def _read_b(s, i, b, o):
    """b[o + n] = this lane's number n of a row of Bs."""
    for n in range(GROUPS_N):
        j = o + 4 * n
        b[j], b[j + 1], b[j + 2], b[j + 3] = ld4(s, nonneg(i + n * 16))


@jit(device=True, forceinline=True)
def _multiply(acc, a, oa, b, ob):
    for m in range(TM):
        for n in range(TN):
            acc[m * TN + n] += a[oa + 4 * m] * b[ob + n]


@functools.cache
def _kernel(width, whole):
    """Return the kernel that copies `width` numbers at once; `whole`: all tiles are complete, no guards."""
    copy_part = cp_async16_part if width == 4 else cp_async4_part
    ACROSS_A, ACROSS_B = BK // width, BN // width  # copies for a row of As, of Bs
    DOWN_A, DOWN_B = THREADS // ACROSS_A, THREADS // ACROSS_B  # rows that the block copies at once
    TURNS_A, TURNS_B = BM // DOWN_A, BK // DOWN_B

    @jit(device=True, forceinline=True)
    def bring(s, stage, A, B, row0, col0, k0, M, N, K):
        """Begin to copy the tiles at k0 into a stage; outside of A and B there are zeros."""
        t = nonneg(cuda.threadIdx.x)
        r, c = t // ACROSS_A, t % ACROSS_A * width
        to, start = stage * SIZE_A + r * LDA + c, (row0 + r) * K + k0 + c
        for p in range(TURNS_A):
            if whole:
                cp_async16(s, nonneg(to + p * DOWN_A * LDA), A, nonneg(start + p * DOWN_A * K))
            else:
                n = width if row0 + r + p * DOWN_A < M and k0 + c < K else 0
                copy_part(s, nonneg(to + p * DOWN_A * LDA), A, nonneg(start + p * DOWN_A * K), n)
        r, c = t // ACROSS_B, t % ACROSS_B * width
        to, start = FIRST_B + stage * SIZE_B + r * BN + c, (k0 + r) * N + col0 + c
        for p in range(TURNS_B):
            if whole:
                cp_async16(s, nonneg(to + p * DOWN_B * BN), B, nonneg(start + p * DOWN_B * N))
            else:
                n = width if k0 + r + p * DOWN_B < K and col0 + c < N else 0
                copy_part(s, nonneg(to + p * DOWN_B * BN), B, nonneg(start + p * DOWN_B * N), n)

    @jit(cache=True, launch_bounds=(THREADS, 256 // THREADS))
    def _gemm_v08(A, B, C):
        # who am I
        s = cuda.shared.array(SHARED, float32, 16)  # all stages of As, then all of Bs
        acc = cuda.local.array(RESULTS, float32)
        a = cuda.local.array(TWO_A, float32)  # for this group of four k, and for the next
        b = cuda.local.array(TWO_B, float32)  # for this k, and for the next
        M, K, N = nonneg(A.shape[0]), nonneg(A.shape[1]), nonneg(B.shape[1])
        block = nonneg(cuda.blockIdx.x)
        blocks_m, blocks_n = (M + BM - 1) // BM, (N + BN - 1) // BN
        first = block // (BAND * blocks_n) * BAND
        high = min(blocks_m - first, BAND)
        inside = block % (BAND * blocks_n)
        row0, col0 = (first + inside % high) * BM, inside // high * BN
        t = nonneg(cuda.threadIdx.x)
        row = t // 32 // WARPS_N * WM + t % 32 // 4
        col = t // 32 % WARPS_N * WN + t % 4 * 4
        for i in range(RESULTS):
            acc[i] = float32(0)
        # fill all stages, and the fragments for k = 0
        for stage in range(STAGES):
            bring(s, stage, A, B, row0, col0, stage * BK, M, N, K)
            cp_async_commit()
        cp_async_wait1()
        cuda.syncthreads()
        at_a, at_b = row * LDA, FIRST_B + col
        _read_a(s, at_a, a, 0)
        _read_b(s, at_b, b, 0)
        stage = 0
        for k0 in range(0, K, BK):
            for k in unroll(BK):
                if k == BK - 1:  # all fragments of this stage are read: go over to the next one, and fill this anew
                    cp_async_wait0()
                    cuda.syncthreads()
                    if k0 + STAGES * BK < K:
                        bring(s, stage, A, B, row0, col0, k0 + STAGES * BK, M, N, K)
                    cp_async_commit()
                    stage = 1 - stage
                    at_a, at_b = row * LDA + stage * SIZE_A, FIRST_B + col + stage * SIZE_B
                # read ahead what the next turn needs, while this one multiplies
                if k % 4 == 3:
                    _read_a(s, at_a + (k + 1) % BK, a, (k // 4 + 1) % 2 * FRAGMENT_A)
                _read_b(s, at_b + (k + 1) % BK * BN, b, (k + 1) % 2 * FRAGMENT_B)
                _multiply(acc, a, k // 4 % 2 * FRAGMENT_A + k % 4, b, k % 2 * FRAGMENT_B)
        # write
        for m in range(TM):
            r = row0 + row + 8 * m
            for n in range(GROUPS_N):
                c, i = col0 + col + 16 * n, m * TN + 4 * n
                if width == 4:
                    if whole or (r < M and c < N):
                        st4(C, nonneg(r * N + c), acc[i], acc[i + 1], acc[i + 2], acc[i + 3])
                else:
                    for q in range(4):
                        if r < M and c + q < N:
                            C[r, c + q] = acc[i + q]

    return _gemm_v08


def gemm_v08_pipelined(A, B, C):
    """Write A @ B into C: A (M, K), B (K, N), C (M, N), of any size, float32 on the device.

    Raises TypeError and ValueError for operands that `product` refuses. Source: K, Z = X W.
    """
    A, B, C, M, N, K = product(A, B, C)
    wide = K % 4 == 0 and N % 4 == 0 and aligned(A, B, C)
    whole = wide and M % BM == 0 and N % BN == 0 and K % BK == 0 and K >= STAGES * BK
    _kernel(4 if wide else 1, whole)[-(-M // BM) * -(-N // BN), THREADS](A, B, C)


def traffic(M, N, K):
    """Return {counter: value} that the SIMT executor must count, for whole tiles. No errors.

    Source: each element of A is copied N / BN times and each of B M / BM times.
    """
    return {
        "global_load_bytes": 4 * (M * K * (N // BN) + K * N * (M // BM)),
        "shared_load_conflicts": 0,
        "flops": 2 * M * N * K,
    }
