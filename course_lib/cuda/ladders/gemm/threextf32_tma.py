"""3xTF32 products by Hopper's tensor cores, with sums that leave the tensor cores in time.

Source: NVIDIA, "PTX ISA", "wgmma.mma_async".
"""

import functools

from course_lib.cuda import hopper
from course_lib.cuda.hopper import (
    mbarrier_arrive, mbarrier_expect, mbarrier_wait, shared_address, shared_to_async, tensor_map_fence, tma_load,
    wgmma_commit, wgmma_fence, wgmma_wait0, wgmma_wait1,
)  # fmt: skip
from course_lib.cuda.intrinsics import chop_tf32, ld2, ld4, st4
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.gemm.hopper_tiles import Stages, make_pieces, make_write
from course_lib.cuda.numba_cuda import cuda, float32, uint32, uint64
from course_lib.cuda.unroll import unroll

STAGES = Stages(BM=128, BN=128, BK=32, STAGES=4, copies=2)
FLUSH = 64


@functools.cache
def make_gemm_3xtf32(stages, flush, pairs):
    """Return the kernel (A, B, C, maps). No errors. Source: NVIDIA, CUTLASS."""
    place, make_barriers = make_pieces(stages)
    write = make_write(pairs)
    BM, BN, BK, STAGES, STAGE = stages.BM, stages.BN, stages.BK, stages.STAGES, stages.stage
    SMALL, TILE_B = stages.tile_a, 2 * stages.tile_a
    FULL = stages.barriers
    FREE, READY = FULL + 8 * STAGES, FULL + 16 * STAGES
    BYTES, RESULTS = stages.tile_a + stages.tile_b, BM // 2
    SLICE = BK * 128  # bytes of 32 columns of B's tile
    SLICES = BN // 32
    THREADS, CONSUMERS = stages.threads, 128 * stages.consumers
    EIGHTS = RESULTS // 4
    STEPS = BK // 8
    FLUSH = flush
    LAST = FLUSH - BK
    QUADS, TURNS, FOUR = BM * 8 // 64, BM * 8 // 64 // 4, 4
    registers_down, registers_up = hopper.registers_down56, hopper.registers_up224
    wgmma = getattr(hopper, f"wgmma_tf32_n{BM}")
    DESC = uint64((1 << 62) | (64 << 32) | (1 << 16))

    @jit(device=True, forceinline=True)
    def rest(x):
        """Return what TF32 cuts off."""
        big, small = chop_tf32(x)
        return small

    @jit(cache=True, launch_bounds=(THREADS, 1))
    def _gemm_3xtf32(A, B, C, maps):
        s = cuda.shared.array(0, float32, 1024)
        acc = cuda.local.array(RESULTS, float32)
        total = cuda.local.array(RESULTS, float32)
        r = cuda.local.array(16, uint32)
        base = shared_address(s, 0)
        M, N, K = C.shape[0], C.shape[1], A.shape[1]
        tiles = (M + BM - 1) // BM * ((N + BN - 1) // BN)
        thread = cuda.threadIdx.x
        make_barriers(base)
        stage, parity = uint32(0), uint32(0)
        if thread >= CONSUMERS:
            registers_down()
            if thread == CONSUMERS:  # one thread has everything copied
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
                            tma_load(to + uint32(TILE_B + j * SLICE), maps, 16, col0 + 32 * j, k0, full)
                        stage += uint32(1)
                        if stage == uint32(STAGES):
                            stage, parity = uint32(0), parity ^ uint32(1)
            elif thread >= CONSUMERS + 64:  # two warps make the tile of A's small parts
                for tile in range(cuda.blockIdx.x, tiles, cuda.gridDim.x):
                    for k0 in range(0, K, BK):
                        mbarrier_wait(base + uint32(FULL) + stage * uint32(8), parity)
                        at = stage * uint32(STAGE // 4) + uint32(thread & 63) * uint32(4)
                        for turn in range(TURNS):
                            i = at + uint32(turn) * uint32(1024)
                            for p in unroll(FOUR):
                                v, w, x, y = ld4(s, i + uint32(256 * p))
                                st4(s, i + uint32(256 * p + SMALL // 4), rest(v), rest(w), rest(x), rest(y))
                        shared_to_async()
                        cuda.syncwarp()
                        if thread % 32 == 0:
                            mbarrier_arrive(base + uint32(READY) + stage * uint32(8))
                        stage += uint32(1)
                        if stage == uint32(STAGES):
                            stage, parity = uint32(0), parity ^ uint32(1)
        else:  # consumers
            registers_up()
            group = thread // 128
            warp, g, q = thread // 32 % 4, thread % 32 // 4, thread % 4
            x = 4 * ((g >> 1) & 1) + (g >> 2) + 2 * (warp & 1)
            mine = uint32(TILE_B // 4 + (2 * group + (warp >> 1)) * (SLICE // 4) + q * 32 + (x ^ q) * 4 + 2 * (g & 1))
            column = 64 * group + 32 * (warp >> 1) + 4 * x + 2 * (g & 1)
            for i in range(RESULTS):
                acc[i] = float32(0)
            last, held = uint32(0), uint32(0)
            for tile in range(cuda.blockIdx.x, tiles, cuda.gridDim.x):
                row0, col0 = place(tile, M, N)
                for i in range(RESULTS):
                    total[i] = float32(0)
                for k0 in range(0, K, BK):
                    mbarrier_wait(base + uint32(FULL) + stage * uint32(8), parity)
                    mbarrier_wait(base + uint32(READY) + stage * uint32(8), parity)
                    right = DESC | uint64((base + stage * uint32(STAGE)) >> uint32(4))
                    small = DESC | uint64((base + stage * uint32(STAGE) + uint32(SMALL)) >> uint32(4))
                    at = stage * uint32(STAGE // 4) + mine
                    for step in unroll(STEPS):
                        for h in unroll(2):
                            v, w = ld2(s, (at ^ uint32(h * 16)) + uint32((8 * step + 4 * h) * 32))
                            r[8 * (step % 2) + 2 * h], r[8 * (step % 2) + 4 + 2 * h] = chop_tf32(v)
                            r[8 * (step % 2) + 2 * h + 1], r[8 * (step % 2) + 5 + 2 * h] = chop_tf32(w)
                        wgmma_fence()
                        wgmma(acc, 0, r, 8 * (step % 2) + 4, right + uint64(2 * step), uint32(k0 % FLUSH + step))
                        wgmma(acc, 0, r, 8 * (step % 2), small + uint64(2 * step), 1)
                        wgmma(acc, 0, r, 8 * (step % 2), right + uint64(2 * step), 1)
                        wgmma_commit()
                        wgmma_wait1()
                        if step == 0:
                            if held > uint32(0) and thread % 32 == 0:  # the products of the last stage are done
                                mbarrier_arrive(base + uint32(FREE) + last * uint32(8))
                    last, held = stage, uint32(1)
                    if k0 % FLUSH == LAST or k0 + BK >= K:
                        wgmma_wait0()
                        if thread % 32 == 0:
                            mbarrier_arrive(base + uint32(FREE) + last * uint32(8))
                        held = uint32(0)
                        for i in range(RESULTS):
                            total[i] += acc[i]
                    stage += uint32(1)
                    if stage == uint32(STAGES):
                        stage, parity = uint32(0), parity ^ uint32(1)
                for j in unroll(EIGHTS):
                    row = row0 + 8 * j + 2 * q
                    write(C, row, col0 + column, total[4 * j], total[4 * j + 2])
                    write(C, row + 1, col0 + column, total[4 * j + 1], total[4 * j + 3])

    return _gemm_3xtf32
