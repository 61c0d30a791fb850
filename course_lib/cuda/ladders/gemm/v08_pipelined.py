"""Everything in flight at once: copies of the next tiles, reads of the next fragments, multiply-adds of these.

Asynchronous copies bring tiles into one stage of shared memory while another one is used, without a register on the
way and with one barrier a tile. A thread has 8 x 16 results instead of 8 x 8, which takes a quarter fewer reads of
shared memory for each multiply-add, and reads what it needs for k + 1 before it multiplies for k. Blocks that run at
the same time lie together in C, so that they find each other's rows and columns in the L2 cache. Source: NVIDIA,
"CUTLASS: Efficient GEMM in CUDA" (software pipelining, threadblock rasterisation); "PTX ISA", "cp.async".
"""

import functools

from numba import cuda, float32

from course_lib.cuda.intrinsics import (
    cp_async4,
    cp_async4_part,
    cp_async16,
    cp_async16_part,
    cp_async_commit,
    cp_async_wait0,
    cp_async_wait1,
    ld4,
    nonneg,
)
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.gemm.product import product
from course_lib.cuda.ladders.gemm.quads import quads, rows_are_wide
from course_lib.cuda.unroll import unroll

BM, BN, BK = 128, 256, 32
"""A block's tile of C, and how deep the tiles of A and B are."""
WM, WN = 64, 64
"""A warp's part of it: 8 x 4 lanes with 8 x 16 results, groups of four rows and of four columns."""
STEP = 16
"""Turns of k that are written out; a barrier comes after BK turns."""
BAND = 8
"""Rows of blocks that are worked on together, column by column."""

TM, TN = WM // 8, WN // 4
WARPS_N = BN // WN
THREADS = 32 * (BM // WM) * WARPS_N
LDA = BM + 4
"""Numbers from row to row of As, which lies transposed: 8 x 4 lanes that bring 8 k of 4 rows hit 32 different banks."""
SIZE_A, SIZE_B = BK * LDA, BK * BN
FIRST_B = 2 * SIZE_A
SHARED_BYTES = 4 * 2 * (SIZE_A + SIZE_B)
"""Two stages of As and of Bs: more than the 48 KiB that a kernel gets without asking, so it is asked for at launch."""
RESULTS, TWO_M, TWO_N = TM * TN, 2 * TM, 2 * TN
GROUPS_M, GROUPS_N = TM // 4, TN // 4
DOWN_A = THREADS // 8
"""Rows of A that the block brings at once, 8 numbers of each."""
TURNS_A, TURNS_K = BM // DOWN_A, BK // 8


@jit(device=True, forceinline=True)
def _read(s, at, across, groups, x, to):
    """x[to + 4 g + i] = number i of this lane's group g, which lies `across` numbers after group g - 1."""
    for g in range(groups):
        i = to + 4 * g
        x[i], x[i + 1], x[i + 2], x[i + 3] = ld4(s, nonneg(at + g * across))


@jit(device=True, forceinline=True)
def _multiply(acc, a, from_a, b, from_b):
    """acc += outer product: down one column and up the next, so that one operand of two always stays where it is."""
    for j in range(TN):
        for n in range(TM):
            i = n if j % 2 == 0 else TM - 1 - n
            acc[i * TN + j] += a[from_a + i] * b[from_b + j]


@functools.cache
def _bring(width, whole):
    """Return the device function that begins to copy the tiles at k0 to a stage; outside of A and B there are zeros."""
    copy_part = cp_async16_part if width == 4 else cp_async4_part
    ACROSS = BN // width  # copies for a row of Bs
    DOWN_B = THREADS // ACROSS
    TURNS_B = BK // DOWN_B

    @jit(device=True, forceinline=True)
    def bring(s, stage, A, B, row0, col0, k0, M, N, K):
        t = nonneg(cuda.threadIdx.x)
        r, c = row0 + t // 8, k0 + t % 8
        to, start = stage * SIZE_A + t % 8 * LDA + t // 8, r * K + c
        for p in range(TURNS_A):
            for q in range(TURNS_K):
                i, j = to + q * 8 * LDA + p * DOWN_A, start + p * DOWN_A * K + q * 8
                if whole:
                    cp_async4(s, nonneg(i), A, nonneg(j))
                else:
                    cp_async4_part(s, nonneg(i), A, nonneg(j), 1 if r + p * DOWN_A < M and c + q * 8 < K else 0)
        r, c = k0 + t // ACROSS, col0 + t % ACROSS * width
        to, start = FIRST_B + stage * SIZE_B + t // ACROSS * BN + t % ACROSS * width, r * N + c
        for p in range(TURNS_B):
            i, j = to + p * DOWN_B * BN, start + p * DOWN_B * N
            if whole:
                cp_async16(s, nonneg(i), B, nonneg(j))
            else:
                copy_part(s, nonneg(i), B, nonneg(j), width if r + p * DOWN_B < K and c < N else 0)

    return bring


@functools.cache
def _kernel(wide, whole):
    """Return the kernel for B and C with `wide` rows or any; `whole`: all tiles are complete, no guards."""
    bring, (_, store) = _bring(4 if wide else 1, whole), quads(wide)

    @jit(cache=True, launch_bounds=THREADS)
    def _gemm_v08(A, B, C):
        # who am I
        s = cuda.shared.array(0, float32, 16)  # two stages of As, then two of Bs
        acc = cuda.local.array(RESULTS, float32)
        a = cuda.local.array(TWO_M, float32)  # fragments for this k, and for the next
        b = cuda.local.array(TWO_N, float32)
        M, K, N = nonneg(A.shape[0]), nonneg(A.shape[1]), nonneg(B.shape[1])
        block = nonneg(cuda.blockIdx.x)
        across = (N + BN - 1) // BN
        first = block // (BAND * across) * BAND  # row of blocks
        high = min((M + BM - 1) // BM - first, BAND)
        inside = block % (BAND * across)
        row0, col0 = (first + inside % high) * BM, inside // high * BN
        warp, lane = nonneg(cuda.threadIdx.x) // 32, nonneg(cuda.threadIdx.x) % 32
        row = warp // WARPS_N * WM + lane // 2 % 8 * 4  # v07's lanes
        col = warp % WARPS_N * WN + (lane // 16 * 2 + lane % 2) * 4
        for i in range(RESULTS):
            acc[i] = float32(0)
        # fill both stages, and read the fragments for k = 0
        for stage in range(2):
            bring(s, stage, A, B, row0, col0, stage * BK, M, N, K)
            cp_async_commit()
        cp_async_wait1()
        cuda.syncthreads()
        at_a, at_b = row, FIRST_B + col
        _read(s, at_a, 32, GROUPS_M, a, 0)
        _read(s, at_b, 16, GROUPS_N, b, 0)
        stage = 0
        for k0 in range(0, K, STEP):
            for k in unroll(STEP):
                if k == STEP - 1 and (k0 + STEP) % BK != 0:
                    at_a, at_b = at_a + STEP * LDA, at_b + STEP * BN
                elif k == STEP - 1:  # this stage is read: go over to the other one, and fill this one anew
                    cp_async_wait0()
                    cuda.syncthreads()
                    if k0 + STEP + BK < K:
                        bring(s, stage, A, B, row0, col0, k0 + STEP + BK, M, N, K)
                    cp_async_commit()
                    stage = 1 - stage
                    at_a, at_b = stage * SIZE_A + row, FIRST_B + stage * SIZE_B + col
                _read(s, at_a + (k + 1) % STEP * LDA, 32, GROUPS_M, a, (k + 1) % 2 * TM)
                _read(s, at_b + (k + 1) % STEP * BN, 16, GROUPS_N, b, (k + 1) % 2 * TN)
                _multiply(acc, a, k % 2 * TM, b, k % 2 * TN)
        # write
        for i in range(TM):
            r = row0 + row + i // 4 * 32 + i % 4
            for g in range(GROUPS_N):
                j = i * TN + 4 * g
                store(C, r, col0 + col + g * 16, acc[j], acc[j + 1], acc[j + 2], acc[j + 3])

    return _gemm_v08


def gemm_v08_pipelined(A, B, C):
    """Write A @ B into C: A (M, K), B (K, N), C (M, N), of any size, float32 on the device.

    Raises TypeError and ValueError for operands that `product` refuses. Source: K, Z = X W.
    """
    A, B, C, M, N, K = product(A, B, C)
    wide = rows_are_wide(B, C)
    whole = wide and M % BM == 0 and N % BN == 0 and K % BK == 0 and K >= 2 * BK
    _kernel(wide, whole)[-(-M // BM) * -(-N // BN), THREADS, 0, SHARED_BYTES](A, B, C)


def traffic(M, N, K):
    """Return {counter: value} that the SIMT executor must count, for M, N, K multiples of 128, 256, 32. No errors.

    Source: each element of A is copied N / BN times, alone, and each of B M / BM times, four to a request of a thread;
    a warp reads its 8 + 16 numbers for each k, four to a request, and once more after the last k.
    """
    a, b = M * K * (N // BN), K * N * (M // BM)
    warps = (M // WM) * (N // WN)
    return {
        "global_load_bytes": 4 * (a + b),
        "global_load_requests": a // 32 + b // (4 * 32),
        "shared_load_requests": warps * (K + 1) * (TM + TN) // 4,
        "shared_load_conflicts": 0,
        "shared_store_conflicts": 0,
        "flops": 2 * M * N * K,
    }
