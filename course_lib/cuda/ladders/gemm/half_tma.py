"""FP16 or BF16 products by Hopper's tensor cores: both operands straight from shared memory, where TMA has put them.

Source: NVIDIA, "PTX ISA", "wgmma.mma_async".
"""

import functools

import numpy as np

from course_lib import gpu
from course_lib.cuda import hopper
from course_lib.cuda.hopper import (
    mbarrier_arrive, mbarrier_expect, mbarrier_wait, shared_address, tensor_map_fence, tma_load, wgmma_commit,
    wgmma_fence, wgmma_wait0, wgmma_wait1,
)  # fmt: skip
from course_lib.cuda.capability import has_hopper
from course_lib.cuda.choice import DeviceError
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.gemm.checks import check_gemm
from course_lib.cuda.ladders.gemm.hopper_tiles import Stages, launch, make_pieces, make_write
from course_lib.cuda.numba_cuda import cuda, float32, uint8, uint32, uint64
from course_lib.cuda.operands import LEAST_ALIGNMENT, aligned
from course_lib.cuda.tensor_map import tensor_maps
from course_lib.cuda.unroll import unroll

STAGES = Stages(BM=128, BN=256, BK=64, STAGES=4, size=2)


@functools.cache
def make_gemm_half(stages, kind, pairs):
    """Return the kernel (A, B, C, maps). No errors. Source: NVIDIA, CUTLASS."""
    place, make_barriers = make_pieces(stages)
    write = make_write(pairs)
    BM, BN, BK, STAGES, STAGE = stages.BM, stages.BN, stages.BK, stages.STAGES, stages.stage
    TILE_A, FULL, FREE = stages.tile_a, stages.barriers, stages.barriers + 8 * stages.STAGES
    COLUMNS, STEPS, BYTES, RESULTS = BN // 64, BK // 16, stages.stage, BN // 2
    SLICE = BK * 128  # bytes of 64 columns of B's tile
    THREADS, CONSUMERS = stages.threads, 128 * stages.consumers
    FOURS = RESULTS // 4
    changes = stages.producers == 128
    registers_down, registers_up = (
        (hopper.registers_down40, hopper.registers_up232)
        if stages.consumers == 2
        else (hopper.registers_down32, hopper.registers_up160)
    )
    wgmma = getattr(hopper, f"wgmma_{kind}_n{BN}")
    DESC_A = uint64((1 << 62) | (64 << 32) | (1 << 16))
    DESC_B = uint64((1 << 62) | (64 << 32) | ((SLICE >> 4) << 16))

    @jit(cache=True, launch_bounds=(THREADS, 1))
    def _gemm_half(A, B, C, maps):
        s = cuda.shared.array(0, uint8, 1024)
        acc = cuda.local.array(RESULTS, float32)
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
                        for j in unroll(COLUMNS):
                            tma_load(to + uint32(TILE_A + j * SLICE), maps, 16, col0 + 64 * j, k0, full)
                        stage += uint32(1)
                        if stage == uint32(STAGES):
                            stage, parity = uint32(0), parity ^ uint32(1)
        else:  # consumers
            if changes:
                registers_up()
            group = thread // 128
            warp, g, q = thread // 32 % 4, thread % 32 // 4, thread % 4
            for i in range(RESULTS):
                acc[i] = float32(0)
            last = uint32(0)
            for tile in range(cuda.blockIdx.x, tiles, cuda.gridDim.x):
                row0, col0 = place(tile, M, N)
                for k0 in range(0, K, BK):
                    mbarrier_wait(base + uint32(FULL) + stage * uint32(8), parity)
                    at = base + stage * uint32(STAGE)
                    left = DESC_A | uint64((at + uint32(group) * uint32(64 * 128)) >> uint32(4))
                    right = DESC_B | uint64((at + uint32(TILE_A)) >> uint32(4))
                    wgmma_fence()
                    for step in unroll(STEPS):
                        wgmma(acc, 0, left + uint64(2 * step), right + uint64(128 * step), uint32(k0 + step))
                    wgmma_commit()
                    wgmma_wait1()
                    if k0 > 0 and thread % 32 == 0:  # the products before these are done
                        mbarrier_arrive(base + uint32(FREE) + last * uint32(8))
                    last = stage
                    stage += uint32(1)
                    if stage == uint32(STAGES):
                        stage, parity = uint32(0), parity ^ uint32(1)
                wgmma_wait0()
                if thread % 32 == 0:
                    mbarrier_arrive(base + uint32(FREE) + last * uint32(8))
                row = row0 + 64 * group + 16 * warp + g
                col = col0 + 2 * q
                for j in unroll(FOURS):
                    write(C, row, col + 8 * j, acc[4 * j], acc[4 * j + 1])
                    write(C, row + 8, col + 8 * j, acc[4 * j + 2], acc[4 * j + 3])

    return _gemm_half


KINDS = {"float16": "f16", "uint16": "bf16"}


def gemm_half_tma(A, B, C, stages=STAGES):
    """Write A @ B into C: A (M, K) and B (K, N) both float16, or both BF16 as uint16 bits; C (M, N) float32."""
    if not has_hopper():
        raise DeviceError("products by four warps are Hopper's (compute capability 9.0)", "Use gemm_v10_tf32 here.")
    A, B, C, M, N, K = check_gemm(A, B, C, dtype=(np.float16, np.uint16))
    if np.dtype(A.dtype) != np.dtype(B.dtype):
        raise TypeError(f"A is {A.dtype} and B is {B.dtype}; both must be float16, or both uint16 (BF16).")
    kind = KINDS[np.dtype(A.dtype).name]
    A, B = _padded(A), _padded(B)
    maps = tensor_maps((A, "uint16", stages.BM, stages.BK), (B, "uint16", stages.BK, 64))
    pairs = N % 2 == 0 and aligned(C)
    launch(make_gemm_half(stages, kind, pairs), stages, A, B, C, maps)


def _padded(x):
    """Return a matrix of two-byte numbers whose rows begin at multiples of 16 bytes: x, or a copy with zeros."""
    rows, columns = x.shape
    eights = LEAST_ALIGNMENT // 2
    if columns % eights == 0 and aligned(x):
        return x
    wide = gpu.empty((rows, -(-columns // eights) * eights), np.uint16)
    copy_rows[-(-wide.size // 256), 256](x.view(np.uint16), wide)
    return wide


@jit(cache=True)
def copy_rows(x, y):
    """Copy the rows of x to those of y, which are longer, and fill up with zeros."""
    i = cuda.grid(1)
    if i < y.size:
        row, column = i // y.shape[1], i % y.shape[1]
        y[row, column] = x[row, column] if column < x.shape[1] else 0
