"""Tensor cores with the exactness of float32: each number cut into two parts for TF32, three products instead of one.

TF32 keeps 10 of the 23 bits of a fraction. Let `big` be x cut to that, and `small` = x - big, exactly, of which the
tensor core keeps 11 bits; then a b is nearly a_small b_big + a_big b_small + a_big b_big. Left out are small times
small, 2^-20 of a b at most, and those last bits, 2^-21 for a and for b: together at most about 2^-19, which is what a
float32 sum of 32 products may lose by rounding.

Tensor cores add float32 numbers, but cut off instead of rounding, so a long sum shrinks: over K = 4096 it loses ten
times what rounding loses. Here a warp's sums stay in the tensor core for FLUSH products in k; then they are added to
sums in shared memory by ordinary additions, which round, and begin at zero again. Each thread has its own places there.

The transposed product and the places of tiles are those of `mma_tiles`. Source: NVIDIA, CUTLASS, example
"27_ampere_3xtf32_fast_accurate_tensorop_gemm"; H. Ootomo and R. Yokota, "Recovering single precision accuracy from
Tensor Cores while surpassing the FP32 theoretical peak performance" (2022).
"""

import functools

from course_lib.cuda.device import executor
from course_lib.cuda.intrinsics import chop_tf32, cp_async_commit, cp_async_wait1, ld4, mma_tf32, nonneg, st4
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.gemm.mma_tiles import Tiles, launch_tiles, make_pieces
from course_lib.cuda.numba_cuda import cuda, float32, uint32
from course_lib.cuda.unroll import unroll

FLUSH = 256
"""Products in k that are added in tensor cores before their sum leaves them: a multiple of BK."""

LARGE = Tiles(BM=128, BN=128, BK=16, WM=64, WN=64, STAGES=3, blocks=2, sums=True)
SMALL = Tiles(BM=64, BN=128, BK=16, WM=32, WN=64, STAGES=3, blocks=1, sums=True)
"""For cards with less than 112 KiB of shared memory for a block."""


@functools.cache
def make_gemm_v09(tiles, width, whole):
    """Return the kernel (A, B, C), as `make_pieces`; tiles.STAGES is 3. No errors. Source: NVIDIA, CUTLASS."""
    place, bring, read_a, _, read_b, write = make_pieces(tiles, width, whole)
    BK, STAGE, END = tiles.BK, tiles.stage, tiles.STAGES * tiles.stage
    AHEAD = tiles.STAGES - 1
    ROWS, COLUMNS, STEPS = tiles.WM // 8, tiles.WN // 16, tiles.BK // 8  # tensor-core operations of a warp, each way
    RESULTS, OPERANDS_A = ROWS * COLUMNS * 4, ROWS * 2
    FOURS, APART = RESULTS // 4, 4 * tiles.threads
    LAST = FLUSH - BK

    @jit(device=True, forceinline=True)
    def multiply(acc, o, b, a):
        """Add 16 columns of B, operand b[0] to b[3], times all rows of the warp, operands a, to acc[o] and on."""
        for i in range(ROWS):
            n = o + 4 * i
            acc[n], acc[n + 1], acc[n + 2], acc[n + 3] = mma_tf32(
                (b[0], b[1], b[2], b[3]), (a[2 * i], a[2 * i + 1]), (acc[n], acc[n + 1], acc[n + 2], acc[n + 3])
            )

    @jit(cache=True, launch_bounds=(tiles.threads, tiles.blocks))
    def _gemm_v09(A, B, C):
        # who am I
        s = cuda.shared.array(0, float32, 16)  # all stages, then the sums
        acc = cuda.local.array(RESULTS, float32)
        big_a = cuda.local.array(OPERANDS_A, uint32)
        small_a = cuda.local.array(OPERANDS_A, uint32)
        big_b = cuda.local.array(4, uint32)
        small_b = cuda.local.array(4, uint32)
        row0, col0, wm, wn = place(C.shape[0], C.shape[1])
        K = A.shape[1]
        own = END + 4 * nonneg(cuda.threadIdx.x)
        for i in range(RESULTS):
            acc[i] = float32(0)
        for i in range(FOURS):
            st4(s, nonneg(own + i * APART), float32(0), float32(0), float32(0), float32(0))
        # fill all stages but one
        for p in range(AHEAD):
            bring(s, p * STAGE, A, B, row0, col0, p * BK)
            cp_async_commit()
        stage, free = 0, AHEAD * STAGE
        for k0 in range(0, K, BK):
            cp_async_wait1()  # my copies to this stage are there,
            cuda.syncthreads()  # everybody's are, and nobody reads the stage that was used last
            if k0 + AHEAD * BK < K:
                bring(s, free, A, B, row0, col0, k0 + AHEAD * BK)
            cp_async_commit()
            for step in unroll(STEPS):
                for i in range(ROWS):
                    x, y = read_a(s, stage, step, wm, i)
                    big_a[2 * i], small_a[2 * i] = chop_tf32(x)
                    big_a[2 * i + 1], small_a[2 * i + 1] = chop_tf32(y)
                for j in range(COLUMNS):
                    w, x, y, z = read_b(s, stage, step, wn, j)
                    big_b[0], small_b[0] = chop_tf32(w)
                    big_b[1], small_b[1] = chop_tf32(x)
                    big_b[2], small_b[2] = chop_tf32(y)
                    big_b[3], small_b[3] = chop_tf32(z)
                    multiply(acc, 4 * ROWS * j, small_b, big_a)  # small products first
                    multiply(acc, 4 * ROWS * j, big_b, small_a)
                    multiply(acc, 4 * ROWS * j, big_b, big_a)
            free = stage
            stage = stage + STAGE if stage + STAGE < END else 0
            # let the sums out of the tensor cores
            if k0 % FLUSH == LAST or k0 + BK >= K:
                for i in range(FOURS):
                    w, x, y, z = ld4(s, nonneg(own + i * APART))
                    n = 4 * i
                    st4(s, nonneg(own + i * APART), w + acc[n], x + acc[n + 1], y + acc[n + 2], z + acc[n + 3])
                for i in range(RESULTS):
                    acc[i] = float32(0)
        # write
        for j in range(COLUMNS):
            for i in range(ROWS):
                acc[0], acc[1], acc[2], acc[3] = ld4(s, nonneg(own + (j * ROWS + i) * APART))
                write(C, acc, 0, row0 + wm + 8 * i, col0 + wn + 16 * j)

    return _gemm_v09


def tiles_here():
    """Return the Tiles that fit into this device's shared memory. No errors. Source: the course's own."""
    return LARGE if LARGE.shared_bytes <= executor().shared_limit else SMALL


def gemm_v09_3xtf32(A, B, C):
    """Write A @ B into C, as exact as in float32: A (M, K), B (K, N), C (M, N), of any size.

    An infinity in A or B gives NaN in C: the rest of an infinity is none. Raises TypeError and ValueError for operands
    that `check_gemm` refuses, and DeviceError as `launch_tiles`. Source: NVIDIA, CUTLASS; Ootomo and Yokota (2022).
    """
    launch_tiles(make_gemm_v09, tiles_here(), A, B, C)


def traffic(M, N, K):
    """Return {counter: value} that the SIMT executor must count, for whole tiles. No errors.

    Source: each element of A is copied N / BN times and each of B M / BM times; three products, and a sum each FLUSH k.
    """
    tiles = tiles_here()
    return {
        "global_load_bytes": 4 * (M * K * (N // tiles.BN) + K * N * (M // tiles.BM)),
        "shared_load_conflicts": 0,
        "shared_store_conflicts": 0,
        "flops": 3 * 2 * M * N * K + M * N * -(-K // FLUSH),
    }
