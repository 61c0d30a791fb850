"""One thread has whole tiles copied, by a unit of its own (TMA), while eight warps do nothing but multiply.

In the rung below all threads copy, so all of them count, wait and meet at a barrier for every tile. Here the block's
warps have roles. One thread of the last group, the producer, says "this box of A to there" and a unit fetches it, puts
each 16 bytes where the swizzle wants them, fills up with zeros outside of the matrix, rounds float32 to TF32 on the
way, and counts the bytes at a barrier in shared memory. The consumers wait for that barrier alone. No barrier stops the
block: the ring of stages (`hopper_tiles`) is all that they have to do with each other. The producer gives most of its
registers back and the consumers take them (`setmaxnreg`).

A block stays: there is one for each multiprocessor, and it goes on to its next tile of C. So the next tile's stages
fill up while this one is written.

Source: NVIDIA, "PTX ISA", "cp.async.bulk.tensor", "mbarrier", "setmaxnreg"; NVIDIA, "CUTLASS: Efficient GEMM in CUDA".
"""

import functools

from course_lib.cuda import hopper
from course_lib.cuda.hopper import (
    mbarrier_wait,
    shared_address,
    wgmma_commit,
    wgmma_fence,
    wgmma_wait0,
    wgmma_wait1,
)  # fmt: skip
from course_lib.cuda.intrinsics import float_bits, ld2
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.gemm import v10_tf32
from course_lib.cuda.ladders.gemm.hopper_tiles import (
    GROUP,
    REGISTERS,
    Stages,
    launch_float32,
    make_pieces,
    registers,
    start_of,
)  # fmt: skip
from course_lib.cuda.ladders.gemm.v10_tf32 import GROW, gemm_v10_tf32
from course_lib.cuda.numba_cuda import cuda, float32, uint32, uint64
from course_lib.cuda.swizzle import K_MAJOR
from course_lib.cuda.unroll import unroll

STAGES = Stages(BM=256, BN=128, BK=32, STAGES=4)


@functools.cache
def make_gemm_v12(stages, grows=False, steps=2):
    """Return the kernel (A, B, C, maps).

    Parameters
    ----------
    stages : Stages
    grows : bool
        Whether B grows as in v10, instead of being rounded by TMA.
    steps : int
        Products of eight k that are handed over together: 1 or 2, so that a stage takes an even number of turns, and
        the registers that the last products read are never those that are loaded next.

    No errors. Source: NVIDIA, "PTX ISA", "wgmma.mma_async".
    """
    pieces = make_pieces(stages, True)
    count, place, make_barriers, produce = pieces[:4]
    my_place, _, write_transposed, release, leave = pieces[-5:]
    CLUSTER, BM, BK, STAGES, STAGE = stages.cluster, stages.BM, stages.BK, stages.STAGES, stages.stage
    FULL = stages.barrier("full")
    RESULTS, STEPS, PARTS, ROWS, HELD = BM // 2, steps, BK // (8 * steps), 2 * steps, 8 * steps
    THREADS, CONSUMERS = stages.threads, GROUP * stages.consumers
    DESCRIPTOR = uint64(K_MAJOR)
    wgmma = getattr(hopper, f"wgmma_tf32_n{BM}")
    give_registers, take_registers = registers(*REGISTERS[stages.consumers])

    @jit(cache=True, launch_bounds=(THREADS, 1), cluster=CLUSTER)
    def _gemm_v12(A, B, C, maps):
        # who am I
        s = cuda.shared.array(0, float32, 1024)
        acc = cuda.local.array(RESULTS, float32)
        r = cuda.local.array(HELD, uint32)  # the left operand of some steps of eight k, and of the next ones
        M, N, K = C.shape[0], C.shape[1], A.shape[1]
        base, thread = shared_address(s, 0), cuda.threadIdx.x
        make_barriers(base)
        if thread >= CONSUMERS:
            give_registers()
            if thread == CONSUMERS:
                produce(base, maps, M, N, K)
        else:
            take_registers()
            mine = my_place()
            stage, parity, last = uint32(0), uint32(0), uint32(0)
            for i in range(RESULTS):
                acc[i] = float32(0)
            for tile in range(cuda.blockIdx.x // CLUSTER, count(M, N), cuda.gridDim.x // CLUSTER):
                row0, col0 = place(tile, M, N)
                for k0 in range(0, K, BK):
                    mbarrier_wait(base + uint32(FULL) + stage * uint32(8), parity)
                    right = DESCRIPTOR | start_of(base + stage * uint32(STAGE))
                    at = stage * uint32(STAGE // 4) + mine
                    for part in unroll(PARTS):
                        o = part % 2 * 4 * STEPS
                        for h in unroll(ROWS):  # rows q and q + 4 of each eight k
                            x, y = ld2(s, (at ^ uint32(h % 2 * 16)) + uint32((8 * STEPS * part + 4 * h) * 32))
                            r[o + 2 * h] = float_bits(x * GROW if grows else x)
                            r[o + 2 * h + 1] = float_bits(y * GROW if grows else y)
                        wgmma_fence()
                        for step in unroll(STEPS):  # the first product of a tile of C forgets the sums of the last one
                            k = STEPS * part + step
                            wgmma(acc, 0, r, o + 4 * step, right + uint64(2 * k), uint32(k0 + k))
                        wgmma_commit()
                        wgmma_wait1()  # the products before these are done, and their registers mine again
                        if part == 0 and k0 > 0:
                            release(base, last)
                    last = stage
                    stage += uint32(1)
                    if stage == uint32(STAGES):
                        stage, parity = uint32(0), parity ^ uint32(1)
                wgmma_wait0()
                release(base, last)
                # write
                write_transposed(C, acc, row0, col0)
        leave()

    return _gemm_v12


def gemm_v12_tma_tf32(A, B, C):
    """Write A @ B into C, with three to four correct digits: A (M, K), B (K, N), C (M, N), of any size.

    It is for GPUs of compute capability 9.0, and rows that begin at multiples of 16 bytes (K and N multiples of 4).
    Anything else v10 gets: another card, none, other rows. Raises as `launch_float32`.

    Source: NVIDIA, "PTX ISA", "cp.async.bulk.tensor".
    """
    return launch_float32(make_gemm_v12, STAGES, "tf32", gemm_v10_tf32, A, B, C)


traffic = v10_tf32.traffic
"""What the SIMT executor counts is v10's work: it has no wgmma. A card's blocks have `STAGES.copied` bytes copied."""
