"""Everything in flight at once: copies of the next tiles, reads of the next numbers, multiply-adds of these.

Asynchronous copies bring tiles into one stage of shared memory while another one is used, without a register on the
way and with one barrier a tile. A thread has 8 x 16 results instead of 8 x 8, which takes a quarter fewer reads of
shared memory for each multiply-add, and reads what it needs for k + 1 before it multiplies for k. Blocks that run at
the same time lie together in C, so that they find each other's rows and columns in the L2 cache.

As is transposed by copies of single numbers, so that one read brings four rows of one k. They land in registers of
both parities; with four k of one row a multiply-add often finds its operands in the same half of the register file,
and has to wait. Source: NVIDIA, "CUTLASS: Efficient GEMM in CUDA" (software pipelining, threadblock rasterisation);
"PTX ISA", "cp.async"; Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking".
"""

import functools

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
from course_lib.cuda.ladders.gemm.checks import check_capability, check_gemm
from course_lib.cuda.ladders.gemm.quads import quads, rows_are_wide
from course_lib.cuda.numba_cuda import cuda, float32
from course_lib.cuda.unroll import unroll

BM, BN, BK = 64, 128, 16
"""A block's tile of C, and how deep the tiles of A and B are."""
WM, WN = 64, 64
"""A warp's part of it: 8 x 4 lanes with 8 x 16 results, groups of four rows and of four columns."""
BLOCKS = 4
"""Blocks of two warps that share a multiprocessor: while one waits at its barrier, three go on."""
BAND = 8
"""Rows of blocks that are worked on together, column by column."""

TM, TN = WM // 8, WN // 4
WARPS_N = BN // WN
THREADS = 32 * (BM // WM) * WARPS_N
LDA = BM + 4
"""Numbers from row to row of As, which lies transposed: 8 x 4 lanes that bring 8 k of 4 rows hit 32 different banks."""
SIZE_A, SIZE_B = BK * LDA, BK * BN
FIRST_B = 2 * SIZE_A
SHARED = 2 * (SIZE_A + SIZE_B)
"""Two stages of As, then two of Bs."""
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
    ACROSS = min(BN // width, THREADS)  # copies for a row of Bs that go at once
    DOWN_B = THREADS // ACROSS
    TURNS_B, TURNS_N, NEXT = BK // DOWN_B, BN // width // ACROSS, ACROSS * width

    @jit(device=True, forceinline=True)
    def bring(s, stage, A, B, from_a, from_b, rows, columns, left, K, N):
        """from_a, from_b: this thread's first numbers; rows, columns, left: how far A, B and k go on from there."""
        t = nonneg(cuda.threadIdx.x)
        to = stage * SIZE_A + t % 8 * LDA + t // 8
        for p in range(TURNS_A):
            for q in range(TURNS_K):
                i, j = to + p * DOWN_A + q * 8 * LDA, from_a + p * DOWN_A * K + q * 8
                if whole:
                    cp_async4(s, nonneg(i), A, nonneg(j))
                else:
                    cp_async4_part(s, nonneg(i), A, nonneg(j), 1 if p * DOWN_A < rows and t % 8 + q * 8 < left else 0)
        to = FIRST_B + stage * SIZE_B + t // ACROSS * BN + t % ACROSS * width
        for p in range(TURNS_B):
            for q in range(TURNS_N):
                i, j = to + p * DOWN_B * BN + q * NEXT, from_b + p * DOWN_B * N + q * NEXT
                if whole:
                    cp_async16(s, nonneg(i), B, nonneg(j))
                else:
                    n = width if t // ACROSS + p * DOWN_B < left and q * NEXT < columns else 0
                    copy_part(s, nonneg(i), B, nonneg(j), n)

    return bring, ACROSS


@functools.cache
def _kernel(wide, whole):
    """Return the kernel for B and C with `wide` rows or any; `whole`: all tiles are complete, no guards."""
    width = 4 if wide else 1
    (bring, ACROSS), (_, store) = _bring(width, whole), quads(wide)

    @jit(cache=True, launch_bounds=(THREADS, BLOCKS))
    def _gemm_v08(A, B, C):
        # who am I
        s = cuda.shared.array(SHARED, float32, alignment=16)
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
        t = nonneg(cuda.threadIdx.x)
        warp, lane = t // 32, t % 32
        row = warp // WARPS_N * WM + lane // 2 % 8 * 4  # v07's lanes
        col = warp % WARPS_N * WN + (lane // 16 * 2 + lane % 2) * 4
        for i in range(RESULTS):
            acc[i] = float32(0)
        # fill both stages, and read the fragments for k = 0
        a_row, b_col = row0 + t // 8, col0 + t % ACROSS * width
        from_a, from_b = a_row * K + t % 8, t // ACROSS * N + b_col
        for stage in range(2):
            bring(s, stage, A, B, from_a, from_b, M - a_row, N - b_col, K - stage * BK, K, N)
            cp_async_commit()
            from_a, from_b = from_a + BK, from_b + BK * N
        cp_async_wait1()
        cuda.syncthreads()
        at_a, at_b = row, FIRST_B + col
        _read(s, at_a, 32, GROUPS_M, a, 0)
        _read(s, at_b, 16, GROUPS_N, b, 0)
        stage = 0
        for k0 in range(0, K, BK):
            for k in unroll(BK):
                if k == BK - 1:  # this stage is read: go over to the other one, and fill this one anew
                    cp_async_wait0()
                    cuda.syncthreads()
                    if k0 + 2 * BK < K:
                        bring(s, stage, A, B, from_a, from_b, M - a_row, N - b_col, K - k0 - 2 * BK, K, N)
                        from_a, from_b = from_a + BK, from_b + BK * N
                    cp_async_commit()
                    stage = 1 - stage
                    at_a, at_b = stage * SIZE_A + row, FIRST_B + stage * SIZE_B + col
                _read(s, at_a + (k + 1) % BK * LDA, 32, GROUPS_M, a, (k + 1) % 2 * TM)
                _read(s, at_b + (k + 1) % BK * BN, 16, GROUPS_N, b, (k + 1) % 2 * TN)
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

    Raises TypeError and ValueError for operands that `check_gemm` refuses, and DeviceError below compute capability
    8.0, where no copy is asynchronous. Source: K, Z = X W.
    """
    check_capability("copies to shared memory are asynchronous")
    A, B, C, M, N, K = check_gemm(A, B, C)
    wide = rows_are_wide(B, C)
    whole = wide and M % BM == 0 and N % BN == 0 and K % BK == 0 and K >= 2 * BK
    _kernel(wide, whole)[-(-M // BM) * -(-N // BN), THREADS](A, B, C)


def traffic(M, N, K):
    """Return {counter: value} that the SIMT executor must count, for M, N, K multiples of 64, 128, 32. No errors.

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
