"""TF32 products by Hopper's tensor cores: TMA and roles; the left operand B.T from registers, A from shared memory.

Source: NVIDIA, "PTX ISA", "wgmma.mma_async".
"""

import functools

from course_lib.cuda import hopper
from course_lib.cuda.hopper import (
    mbarrier_arrive, mbarrier_expect, mbarrier_wait, shared_address, tensor_map_fence, tma_load, wgmma_commit,
    wgmma_fence, wgmma_wait0, wgmma_wait1,
)  # fmt: skip
from course_lib.cuda.intrinsics import float_bits, ld2, nonneg
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.gemm.hopper_tiles import Stages, make_pieces, make_write
from course_lib.cuda.numba_cuda import cuda, float32, uint32, uint64
from course_lib.cuda.unroll import unroll

STAGES = Stages(BM=256, BN=128, BK=32, STAGES=4)


@functools.cache
def make_gemm_tf32(stages, grow, pairs):
    """Return the kernel (A, B, C, maps). No errors. Source: NVIDIA, CUTLASS."""
    place, make_barriers = make_pieces(stages)
    write = make_write(pairs)
    BM, BN, BK, STAGES, STAGE = stages.BM, stages.BN, stages.BK, stages.STAGES, stages.stage
    TILE_A, FULL, FREE = stages.tile_a, stages.barriers, stages.barriers + 8 * stages.STAGES
    BYTES, RESULTS = stages.stage, BM // 2
    SLICE = BK * 128  # bytes of 32 columns of B's tile
    SLICES = BN // 32
    THREADS, CONSUMERS = stages.threads, 128 * stages.consumers
    EIGHTS = RESULTS // 4
    HALVES = BK // 16  # two steps of eight k at a time
    GROW = float32(1 + 2.0**-11 if grow else 1)
    grows = bool(grow)
    changes = stages.producers == 128
    registers_down, registers_up = (
        (hopper.registers_down40, hopper.registers_up232)
        if stages.consumers == 2
        else (hopper.registers_down32, hopper.registers_up160)
    )
    wgmma = getattr(hopper, f"wgmma_tf32_n{BM}")
    DESC = uint64((1 << 62) | (64 << 32) | (1 << 16))

    @jit(cache=True, launch_bounds=(THREADS, 1))
    def _gemm_tf32(A, B, C, maps):
        s = cuda.shared.array(0, float32, 1024)
        acc = cuda.local.array(RESULTS, float32)
        r = cuda.local.array(16, uint32)
        base = shared_address(s, 0)
        M, N, K = C.shape[0], C.shape[1], A.shape[1]
        tiles = (M + BM - 1) // BM * ((N + BN - 1) // BN)
        thread = cuda.threadIdx.x
        make_barriers(base)
        stage, parity = uint32(0), uint32(0)
        if thread >= CONSUMERS:  # producers: one thread has everything copied
            if changes:
                registers_down()
            if thread == CONSUMERS:
                tensor_map_fence(maps, 0)
                tensor_map_fence(maps, 16)
                for tile in range(cuda.blockIdx.x, tiles, cuda.gridDim.x):
                    row0, col0 = place(tile, M, N)
                    for k0 in range(0, K, BK):
                        full = base + uint32(FULL) + stage * uint32(8)
                        to = base + stage * uint32(STAGE)
                        mbarrier_wait(base + uint32(FREE) + stage * uint32(8), parity ^ uint32(1))
                        mbarrier_expect(full, BYTES)
                        tma_load(to, maps, 0, k0, row0, full)
                        for j in unroll(SLICES):
                            tma_load(to + uint32(TILE_A + j * SLICE), maps, 16, col0 + 32 * j, k0, full)
                        stage += uint32(1)
                        if stage == uint32(STAGES):
                            stage, parity = uint32(0), parity ^ uint32(1)
        else:  # consumers
            if changes:
                registers_up()
            group = thread // 128
            warp, g, q = thread // 32 % 4, thread % 32 // 4, thread % 4
            # of the 32 columns of a slice, this lane's two: groups of four floats, turned over by the row
            x = 4 * ((g >> 1) & 1) + (g >> 2) + 2 * (warp & 1)
            mine = uint32(TILE_A // 4 + (2 * group + (warp >> 1)) * (SLICE // 4) + q * 32 + (x ^ q) * 4 + 2 * (g & 1))
            column = 64 * group + 32 * (warp >> 1) + 4 * x + 2 * (g & 1)
            for i in range(RESULTS):
                acc[i] = float32(0)
            last = uint32(0)
            for tile in range(cuda.blockIdx.x, tiles, cuda.gridDim.x):
                row0, col0 = place(tile, M, N)
                for k0 in range(0, K, BK):
                    mbarrier_wait(base + uint32(FULL) + stage * uint32(8), parity)
                    right = DESC | uint64((base + stage * uint32(STAGE)) >> uint32(4))
                    at = stage * uint32(STAGE // 4) + mine
                    for half in unroll(HALVES):
                        for h in unroll(4):  # rows q and q + 4 of two steps of eight k
                            place_ = (at ^ uint32(h % 2 * 16)) + uint32((16 * half + 4 * h) * 32)
                            v, w = ld2(s, place_)
                            r[8 * (half % 2) + 2 * h] = float_bits(v * GROW) if grows else float_bits(v)
                            r[8 * (half % 2) + 2 * h + 1] = float_bits(w * GROW) if grows else float_bits(w)
                        wgmma_fence()
                        for step in unroll(2):
                            wgmma(
                                acc,
                                0,
                                r,
                                8 * (half % 2) + 4 * step,
                                right + uint64(4 * half + 2 * step),
                                uint32(k0 + 2 * half + step),
                            )
                        wgmma_commit()
                        wgmma_wait1()
                        if half == 0:
                            if k0 > 0 and thread % 32 == 0:  # the products of the last stage are done
                                mbarrier_arrive(base + uint32(FREE) + last * uint32(8))
                            last = stage
                    stage += uint32(1)
                    if stage == uint32(STAGES):
                        stage, parity = uint32(0), parity ^ uint32(1)
                wgmma_wait0()
                if thread % 32 == 0:
                    mbarrier_arrive(base + uint32(FREE) + last * uint32(8))
                for j in unroll(EIGHTS):
                    row = row0 + 8 * j + 2 * q
                    write(C, row, col0 + column, acc[4 * j], acc[4 * j + 2])
                    write(C, row + 1, col0 + column, acc[4 * j + 1], acc[4 * j + 3])

    return _gemm_tf32
