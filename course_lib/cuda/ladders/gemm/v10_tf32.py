"""One tensor-core product in TF32 where the rung below needs three: a third of its tensor-core operations.

TF32 keeps 10 of the 23 bits of a fraction. Products of two such numbers are exact, sums are float32; so the rounding of
A and B is what limits C to three or four digits. Tensor cores look at the highest 19 bits of an operand and cut the
rest off, toward zero, so that C would shrink: by 2.7 times the error of cuBLAS, which rounds to the nearest. Rounding
costs as many instructions as there are operands. Here B alone grows, by half to one unit of the last digit that TF32
keeps, before it is cut off: most of what A loses B gains, and the error is 1.3 times that of cuBLAS. Numbers that TF32
can hold stay as they are: m (1 + 2^-11) stays below m plus a unit, for every m from 1 to 2.

What keeps tensor cores busy is what kept multiply-adds busy: 64 x 64 of C for a warp, so that an element from shared
memory is used 8 or 4 times; copies that are several tiles ahead; operands of the next step that are read while this
step multiplies. Source: NVIDIA, "PTX ISA", "mma" and "cvt.rna.tf32"; NVIDIA, "CUTLASS: Efficient GEMM in CUDA".
"""

import functools

from course_lib.cuda.intrinsics import cp_async_commit, cp_async_wait2, cp_async_wait3, float_bits, mma_tf32
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.gemm.mma_tiles import Tiles, launch_tiles, make_pieces
from course_lib.cuda.numba_cuda import cuda, float32, uint32
from course_lib.cuda.unroll import unroll

TILES = Tiles(BM=128, BN=256, BK=16, WM=64, WN=64, STAGES=4, blocks=1)

GROW = float32(1 + 2.0**-11)
"""B is multiplied by this: unlike an addition to the bits, it leaves NaN and infinities what they are."""


@functools.cache
def make_gemm_v10(tiles, width, whole):
    """Return the kernel (A, B, C), as `make_pieces`; tiles.STAGES is 4. No errors. Source: NVIDIA, CUTLASS."""
    place, bring, _, matrix_a, read_b, write = make_pieces(tiles, width, whole)
    BK, STAGES, STAGE, END = tiles.BK, tiles.STAGES, tiles.stage, tiles.STAGES * tiles.stage
    ROWS, COLUMNS, STEPS = tiles.WM // 8, tiles.WN // 16, tiles.BK // 8  # tensor-core operations of a warp, each way
    RESULTS, OPERANDS_A, OPERANDS_B = ROWS * COLUMNS * 4, ROWS * 2, COLUMNS * 4
    PAIRS, TWO_A, TWO_B = ROWS // 2, 2 * OPERANDS_A, 2 * OPERANDS_B

    @jit(device=True, forceinline=True)
    def read(s, stage, step, wm, wn, a, oa, b, ob):
        for i in range(PAIRS):
            n = oa + 4 * i
            a[n], a[n + 1], a[n + 2], a[n + 3] = matrix_a(s, stage, step, wm, i)
        for j in range(COLUMNS):
            n = ob + 4 * j
            w, x, y, z = read_b(s, stage, step, wn, j)
            b[n], b[n + 1] = float_bits(w * GROW), float_bits(x * GROW)
            b[n + 2], b[n + 3] = float_bits(y * GROW), float_bits(z * GROW)

    @jit(device=True, forceinline=True)
    def multiply(acc, a, oa, b, ob):
        for j in range(COLUMNS):
            for i in range(ROWS):
                o, m, n = (j * ROWS + i) * 4, oa + 2 * i, ob + 4 * j
                acc[o], acc[o + 1], acc[o + 2], acc[o + 3] = mma_tf32(
                    (b[n], b[n + 1], b[n + 2], b[n + 3]),
                    (a[m], a[m + 1]),
                    (acc[o], acc[o + 1], acc[o + 2], acc[o + 3]),
                )

    @jit(cache=True, launch_bounds=(tiles.threads, tiles.blocks))
    def _gemm_v10(A, B, C):
        # who am I
        s = cuda.shared.array(0, float32, 16)
        acc = cuda.local.array(RESULTS, float32)
        a = cuda.local.array(TWO_A, uint32)  # for this step of eight k, and for the next
        b = cuda.local.array(TWO_B, uint32)
        row0, col0, wm, wn = place(C.shape[0], C.shape[1])
        K = A.shape[1]
        for i in range(RESULTS):
            acc[i] = float32(0)
        # fill all stages, and the operands of the first step
        for p in range(STAGES):
            bring(s, p * STAGE, A, B, row0, col0, p * BK)
            cp_async_commit()
        cp_async_wait3()
        cuda.syncthreads()
        read(s, 0, 0, wm, wn, a, 0, b, 0)
        stage = 0
        for k0 in range(0, K, BK):
            for step in unroll(STEPS):
                free = stage
                if step == STEPS - 1:  # this stage is read: go over to the next one
                    cp_async_wait2()
                    cuda.syncthreads()
                    stage = stage + STAGE if stage + STAGE < END else 0
                # read ahead what the next step needs, while this one multiplies
                oa, ob = (step + 1) % 2 * OPERANDS_A, (step + 1) % 2 * OPERANDS_B
                read(s, stage, (step + 1) % STEPS, wm, wn, a, oa, b, ob)
                multiply(acc, a, step % 2 * OPERANDS_A, b, step % 2 * OPERANDS_B)
                if step == STEPS - 1:  # fill the stage that is free anew
                    if k0 + STAGES * BK < K:
                        bring(s, free, A, B, row0, col0, k0 + STAGES * BK)
                    cp_async_commit()
        # write
        for j in range(COLUMNS):
            for i in range(ROWS):
                write(C, acc, (j * ROWS + i) * 4, row0 + wm + 8 * i, col0 + wn + 16 * j)

    return _gemm_v10


def gemm_v10_tf32(A, B, C):
    """Write A @ B into C, with three to four correct digits: A (M, K), B (K, N), C (M, N), of any size.

    Numbers of B within 2^-11 of the largest float32 count as infinite. Raises TypeError and ValueError for operands
    that `check_gemm` refuses, and DeviceError as `launch_tiles`. Source: NVIDIA, "PTX ISA", "mma".
    """
    launch_tiles(make_gemm_v10, TILES, A, B, C)


def traffic(M, N, K):
    """Return {counter: value} that the SIMT executor must count, for whole tiles. No errors.

    Source: each element of A is copied N / BN times and each of B M / BM times; a row of warps lets B grow, for eight k
    more than there are, since it reads a step ahead.
    """
    return {
        "global_load_bytes": 4 * (M * K * (N // TILES.BN) + K * N * (M // TILES.BM)),
        "shared_load_conflicts": 0,
        "shared_store_conflicts": 0,
        "flops": 2 * M * N * K + M // TILES.WM * N * (K + 8),
    }
