"""FP16 and BF16 products by Hopper's tensor cores: both operands straight from shared memory, no register in between.

Numbers of 16 bits may lie either way in shared memory: K-major, as A does row by row, or transposed, as B does. A bit
of the instruction and a descriptor (`course_lib.cuda.swizzle`) say so. So consumers have nothing to do but to wait for
a stage, hand over four products of 16 k, and wait for those before. A block computes 128 x 256 of C, two groups of four
warps 64 x 256 each. B's tile lies in four slices of 64 columns, 128 bytes a row.

Products of 16-bit numbers are exact in float32, and their sums are float32: integers that fit come out exactly. It is
no rung of the ladder, which takes float32. Source: NVIDIA, "PTX ISA", "wgmma.mma_async"; NVIDIA, "CUTLASS".
"""

import functools

import numpy as np

from course_lib import gpu
from course_lib.cuda import hopper
from course_lib.cuda.capability import has_hopper
from course_lib.cuda.choice import DeviceError
from course_lib.cuda.hopper import (
    mbarrier_wait,
    shared_address,
    wgmma_commit,
    wgmma_fence,
    wgmma_wait0,
    wgmma_wait1,
)  # fmt: skip
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.gemm.checks import check_gemm
from course_lib.cuda.ladders.gemm.hopper_tiles import (
    GROUP,
    REGISTERS,
    Stages,
    launch,
    make_pieces,
    registers,
    start_of,
)  # fmt: skip
from course_lib.cuda.numba_cuda import cuda, float32, uint32, uint64
from course_lib.cuda.operands import LEAST_ALIGNMENT, aligned
from course_lib.cuda.swizzle import K_MAJOR, ROW, descriptor
from course_lib.cuda.tensor_map import tensor_maps
from course_lib.cuda.unroll import unroll

STAGES = Stages(BM=128, BN=256, BK=64, STAGES=4, size=2)


@functools.cache
def make_gemm_half(stages, kind, pairs):
    """Return the kernel (A, B, C, maps) with these Stages; kind: "f16" or "bf16"; pairs: as `make_pieces`.

    No errors. Source: NVIDIA, "PTX ISA", "wgmma.mma_async".
    """
    pieces = make_pieces(stages, pairs)
    count, place, make_barriers, produce = pieces[:4]
    write, release, leave = pieces.write, pieces.release, pieces.leave
    CLUSTER, BN, BK, STAGES, STAGE = stages.cluster, stages.BN, stages.BK, stages.STAGES, stages.stage
    FULL, AT_B = stages.barrier("full"), stages.at_b
    RESULTS, EIGHTS, STEPS = BN // 2, BN // 8, BK // 16
    THREADS, CONSUMERS = stages.threads, GROUP * stages.consumers
    LEFT, RIGHT = uint64(K_MAJOR), uint64(descriptor(0, leading=stages.slice))
    wgmma = getattr(hopper, f"wgmma_{kind}_n{BN}")
    give_registers, take_registers = registers(*REGISTERS[stages.consumers])

    @jit(cache=True, launch_bounds=(THREADS, 1), cluster=CLUSTER)
    def _gemm_half(A, B, C, maps):
        # who am I
        s = cuda.shared.array(0, float32, 1024)
        acc = cuda.local.array(RESULTS, float32)
        M, N, K = C.shape[0], C.shape[1], A.shape[1]
        base, thread = shared_address(s, 0), cuda.threadIdx.x
        make_barriers(base)
        if thread >= CONSUMERS:
            give_registers()
            if thread == CONSUMERS:
                produce(base, maps, M, N, K)
        else:
            take_registers()
            mine = uint32(thread >> 7) * uint32(64 * ROW)
            stage, parity, last = uint32(0), uint32(0), uint32(0)
            for i in range(RESULTS):
                acc[i] = float32(0)
            for tile in range(cuda.blockIdx.x // CLUSTER, count(M, N), cuda.gridDim.x // CLUSTER):
                row0, col0 = place(tile, M, N)
                for k0 in range(0, K, BK):
                    mbarrier_wait(base + uint32(FULL) + stage * uint32(8), parity)
                    at = base + stage * uint32(STAGE)
                    left, right = LEFT | start_of(at + mine), RIGHT | start_of(at + uint32(AT_B))
                    wgmma_fence()
                    for step in unroll(STEPS):  # the first product of a tile of C forgets the sums of the last one
                        wgmma(acc, 0, left + uint64(2 * step), right + uint64(128 * step), uint32(k0 + step))
                    wgmma_commit()
                    wgmma_wait1()  # the products before these are done
                    if k0 > 0:
                        release(base, last)
                    last = stage
                    stage += uint32(1)
                    if stage == uint32(STAGES):
                        stage, parity = uint32(0), parity ^ uint32(1)
                wgmma_wait0()
                release(base, last)
                # write
                row, col = row0 + 16 * (thread >> 5) + ((thread & 31) >> 2), col0 + 2 * (thread & 3)
                for j in unroll(EIGHTS):
                    write(C, row, col + 8 * j, acc[4 * j], acc[4 * j + 1])
                    write(C, row + 8, col + 8 * j, acc[4 * j + 2], acc[4 * j + 3])
        leave()

    return _gemm_half


KINDS = {"float16": "f16", "uint16": "bf16"}


def gemm_half_tma(A, B, C, stages=STAGES):
    """Write A @ B into C: A (M, K), B (K, N) of 16 bits, C (M, N) float32, of any size.

    Parameters
    ----------
    A, B : device arrays (M, K), (K, N)
        Both float16, or both uint16: bit patterns of BF16. Rows that begin at no multiple of 16 bytes are copied first.
    C : device array (M, N)
        float32; overwritten by the product.
    stages : Stages

    Raises
    ------
    TypeError, ValueError
        For operands that `check_gemm` refuses, or of two kinds.
    DeviceError
        Without a GPU of compute capability 9.0: no rung of the ladder takes 16-bit numbers.

    Source: NVIDIA, "PTX ISA", "wgmma.mma_async".
    """
    if not has_hopper():
        raise DeviceError(
            "products of 16-bit numbers are for compute capability 9.0", "Take float32 arrays and gemm_v10_tf32 here."
        )
    A, B, C, _, N, _ = check_gemm(A, B, C, dtype=(np.float16, np.uint16))
    if np.dtype(A.dtype) != np.dtype(B.dtype):
        raise TypeError(f"A is {A.dtype} and B is {B.dtype}; both must be float16, or both uint16 (BF16).")
    kind = KINDS[np.dtype(A.dtype).name]
    A, B = _padded(A), _padded(B)
    maps = tensor_maps((A, "uint16", stages.box_a, stages.BK), (B, "uint16", stages.BK, ROW // 2))
    pairs = N % 2 == 0 and aligned(C)
    launch(make_gemm_half(stages, kind, pairs), stages, A, B, C, maps)


def _padded(x):
    """Return a matrix of two-byte numbers whose rows begin at multiples of 16 bytes: x, or a copy with zeros."""
    rows, columns = x.shape
    eights = LEAST_ALIGNMENT // 2
    if columns % eights == 0 and aligned(x):
        return x
    wide = gpu.empty((rows, -(-columns // eights) * eights), x.dtype)
    copy_rows[-(-wide.size // 256), 256](x, wide)
    return wide


@jit(cache=True)
def copy_rows(x, y):
    """Copy the rows of x to those of y, which are longer, and fill up with zeros."""
    i = cuda.grid(1)
    if i < y.size:
        row, column = i // y.shape[1], i % y.shape[1]
        if column < x.shape[1]:
            y[row, column] = x[row, column]
        else:
            y[row, column] = 0
