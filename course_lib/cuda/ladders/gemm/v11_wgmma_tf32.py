"""Tensor cores that read shared memory themselves: four warps multiply together, 64 x 8 by 8 x 256 at once.

In the rung below every operand of a product goes through registers: a warp loads 64 x 16 and 16 x 64 numbers for 32
products. Hopper's `wgmma` takes its right operand from shared memory, where a descriptor says it lies; one instruction
of 128 threads is 128 clocks of work for the tensor cores, and goes on by itself while the threads do something else.
Threads still copy the tiles, still load the left operand (`hopper_tiles` says why), and wait for products in groups.

Two memories meet here that do not see each other at once: what a thread writes and what asynchronous units read.
`shared_to_async` makes one's writes seen by the other; `wgmma_fence` does the same for registers.

TF32 is cut off, not rounded: B grows by half to one unit of its last digit before, as in v10.

Source: NVIDIA, "PTX ISA", "Asynchronous Warpgroup Level Matrix Instructions"; NVIDIA, "CUTLASS: Efficient GEMM in
CUDA".
"""

import functools

from course_lib.cuda import hopper
from course_lib.cuda.capability import has_hopper
from course_lib.cuda.hopper import shared_address, shared_to_async, wgmma_commit, wgmma_fence, wgmma_wait0, wgmma_wait1
from course_lib.cuda.intrinsics import (
    cp_async16,
    cp_async16_part,
    cp_async_commit,
    cp_async_wait1,
    cp_async_wait2,
    float_bits,
    ld2,
    nonneg,
)  # fmt: skip
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.gemm import v10_tf32
from course_lib.cuda.ladders.gemm.checks import check_gemm
from course_lib.cuda.ladders.gemm.hopper_tiles import Stages, fits, make_pieces, start_of
from course_lib.cuda.ladders.gemm.v10_tf32 import GROW, gemm_v10_tf32
from course_lib.cuda.numba_cuda import cuda, float32, uint32, uint64
from course_lib.cuda.swizzle import K_MAJOR
from course_lib.cuda.unroll import unroll

STAGES = Stages(BM=256, BN=128, BK=32, STAGES=4)
THREADS = 256


@functools.cache
def make_gemm_v11(stages, whole):
    """Return the kernel (A, B, C) with these Stages; whole: whether all tiles are complete.

    No errors. Source: NVIDIA, "PTX ISA", "wgmma.mma_async".
    """
    pieces = make_pieces(stages, True)
    place, my_place, write_transposed = pieces.place, pieces.my_place, pieces.write_transposed
    BM, BN, BK, STAGES, RESULTS, HALVES = (
        stages.BM,
        stages.BN,
        stages.BK,
        stages.STAGES,
        stages.BM // 2,
        stages.BK // 16,
    )
    STAGE, AT_B, SLICE = stages.stage // 4, stages.at_b // 4, stages.slice // 4  # in floats
    END, AHEAD = STAGES * STAGE, STAGES - 1
    ACROSS = BN // 4
    DOWN_A, DOWN_B = THREADS // 8, THREADS // ACROSS
    TURNS_A, TURNS_B = BM // DOWN_A, BK // DOWN_B
    DESCRIPTOR = uint64(K_MAJOR)
    wgmma = getattr(hopper, f"wgmma_tf32_n{BM}")

    @jit(device=True, forceinline=True)
    def bring(s, to, A, B, row0, col0, k0):
        """Begin to copy the tiles of A and B at k0 to s[to] and on; outside of A and B there are zeros."""
        M, K, N = A.shape[0], A.shape[1], B.shape[1]
        t = nonneg(cuda.threadIdx.x)
        r, x = t >> 3, t & 7
        i, j = (row0 + r) * K + k0 + 4 * x, to + r * 32 + (x ^ (r & 7)) * 4
        for p in range(TURNS_A):
            if whole:
                cp_async16(s, nonneg(j + p * DOWN_A * 32), A, nonneg(i + p * DOWN_A * K))
            else:
                n = 4 if row0 + r + p * DOWN_A < M and k0 + 4 * x < K else 0
                cp_async16_part(s, nonneg(j + p * DOWN_A * 32), A, nonneg(i + p * DOWN_A * K), n)
        r, x = t // ACROSS, t % ACROSS
        i = (k0 + r) * N + col0 + 4 * x
        j = to + AT_B + (x >> 3) * SLICE + r * 32 + ((x ^ r) & 7) * 4
        for p in range(TURNS_B):
            if whole:
                cp_async16(s, nonneg(j + p * DOWN_B * 32), B, nonneg(i + p * DOWN_B * N))
            else:
                n = 4 if k0 + r + p * DOWN_B < K and col0 + 4 * x < N else 0
                cp_async16_part(s, nonneg(j + p * DOWN_B * 32), B, nonneg(i + p * DOWN_B * N), n)

    @jit(cache=True, launch_bounds=(THREADS, 1))
    def _gemm_v11(A, B, C):
        # who am I
        s = cuda.shared.array(0, float32, 1024)
        acc = cuda.local.array(RESULTS, float32)
        r = cuda.local.array(16, uint32)  # the left operand of two steps of eight k, and of the next two
        row0, col0 = place(nonneg(cuda.blockIdx.x), C.shape[0], C.shape[1])
        base, mine, K = shared_address(s, 0), my_place(), A.shape[1]
        for i in range(RESULTS):
            acc[i] = float32(0)
        # fill all stages but one
        for p in range(AHEAD):
            bring(s, p * STAGE, A, B, row0, col0, p * BK)
            cp_async_commit()
        cp_async_wait2()
        shared_to_async()
        cuda.syncthreads()
        stage, free = 0, AHEAD * STAGE
        for k0 in range(0, K, BK):
            right = DESCRIPTOR | start_of(base + uint32(4 * stage))
            at = uint32(stage) + mine
            for half in unroll(HALVES):
                for h in unroll(4):  # rows q and q + 4 of two times eight k
                    x, y = ld2(s, (at ^ uint32(h % 2 * 16)) + uint32((16 * half + 4 * h) * 32))
                    r[8 * (half % 2) + 2 * h] = float_bits(x * GROW)
                    r[8 * (half % 2) + 2 * h + 1] = float_bits(y * GROW)
                wgmma_fence()
                for step in unroll(2):
                    wgmma(acc, 0, r, 8 * (half % 2) + 4 * step, right + uint64(4 * half + 2 * step), 1)
                wgmma_commit()
                wgmma_wait1()  # the products before these are done, and their registers mine again
            # while the last products go on: the next stage is there, and nobody reads the one before this one
            cp_async_wait1()
            shared_to_async()
            cuda.syncthreads()
            if k0 + AHEAD * BK < K:
                bring(s, free, A, B, row0, col0, k0 + AHEAD * BK)
            cp_async_commit()
            free = stage
            stage = stage + STAGE if stage + STAGE < END else 0
        wgmma_wait0()
        # write
        write_transposed(C, acc, row0, col0)

    return _gemm_v11


def gemm_v11_wgmma_tf32(A, B, C):
    """Write A @ B into C, with three to four correct digits: A (M, K), B (K, N), C (M, N), of any size.

    It is for GPUs of compute capability 9.0, and rows that begin at multiples of 16 bytes (K and N multiples of 4).
    Anything else v10 gets: another card, none, other rows.

    Raises
    ------
    TypeError, ValueError
        For operands that `check_gemm` refuses.
    DeviceError
        As v10 on an old card.

    Source: NVIDIA, "PTX ISA", "wgmma.mma_async".
    """
    if not has_hopper():
        return gemm_v10_tf32(A, B, C)
    A, B, C, M, N, K = check_gemm(A, B, C)
    if not fits(A, B, C):
        return gemm_v10_tf32(A, B, C)
    whole = M % STAGES.BM == 0 and N % STAGES.BN == 0 and K % STAGES.BK == 0 and K >= STAGES.STAGES * STAGES.BK
    blocks = -(-M // STAGES.BM) * -(-N // STAGES.BN)
    return make_gemm_v11(STAGES, whole)[blocks, THREADS, 0, STAGES.STAGES * STAGES.stage](A, B, C)


traffic = v10_tf32.traffic
"""What the SIMT executor counts is v10's work: it has no wgmma. A card's blocks have `STAGES.copied` bytes copied."""
