"""Three products as in v09, by Hopper's tensor cores: one group of warps copies and cuts, two multiply and add.

C is nearly A_small B_big + A_big B_small + A_big B_big, as v09 says. The left operand, B, is cut by the threads that
load it into registers. Of A, in shared memory, tensor cores see the highest 19 bits of each number: as it lies it is
A_big. A_small has to be written beside it: two warps of the producer's group do that, number by number. That needs no
knowledge of the layout, since both tiles have the same one; it takes one more barrier, `ready`.

Long sums shrink, since tensor cores cut off what does not fit (v09). So after FLUSH products in k the sums leave: they
are added to sums in registers by ordinary additions, which round, and begin anew. Two sets of sums want twice the
registers: a group computes 64 x 128 of C.T instead of 64 x 256, which costs nothing where the right operand is read
anew for every product anyway. While one group of consumers adds, the other one keeps the tensor cores busy.

Source: NVIDIA, CUTLASS, example "27_ampere_3xtf32_fast_accurate_tensorop_gemm"; H. Ootomo and R. Yokota, "Recovering
single precision accuracy from Tensor Cores while surpassing the FP32 theoretical peak performance" (2022).
"""

import functools

from course_lib.cuda import hopper
from course_lib.cuda.hopper import (
    mbarrier_arrive,
    mbarrier_wait,
    rest_tf32,
    shared_address,
    shared_to_async,
    wgmma_commit,
    wgmma_fence,
    wgmma_wait0,
    wgmma_wait1,
)  # fmt: skip
from course_lib.cuda.intrinsics import chop_tf32, ld2, ld4, st4
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.gemm import v09_3xtf32
from course_lib.cuda.ladders.gemm.hopper_tiles import (
    GROUP,
    REGISTERS,
    Stages,
    launch_float32,
    make_pieces,
    registers,
    start_of,
)  # fmt: skip
from course_lib.cuda.ladders.gemm.v09_3xtf32 import gemm_v09_3xtf32
from course_lib.cuda.numba_cuda import cuda, float32, uint32, uint64
from course_lib.cuda.swizzle import K_MAJOR
from course_lib.cuda.unroll import unroll

STAGES = Stages(BM=128, BN=128, BK=32, STAGES=4, copies=2)

FLUSH = 64
"""Products in k that are added in tensor cores before their sum leaves them: a multiple of BK."""


@functools.cache
def make_gemm_v13(stages, flush=FLUSH, apart=False):
    """Return the kernel (A, B, C, maps).

    Parameters
    ----------
    stages : Stages
    flush : int
        As FLUSH.
    apart : bool
        Whether the two groups of consumers let their sums out at different times.

    No errors. Source: NVIDIA, "PTX ISA", "wgmma.mma_async".
    """
    pieces = make_pieces(stages, True)
    count, place, make_barriers, produce = pieces[:4]
    my_place, _, write_transposed, release, leave = pieces[-5:]
    CLUSTER, BM, BK, STAGES, STAGE = stages.cluster, stages.BM, stages.BK, stages.STAGES, stages.stage
    FULL, READY = stages.barrier("full"), stages.barrier("ready")
    SMALL, RESULTS, STEPS = stages.tile_a, BM // 2, BK // 8
    THREADS, CONSUMERS, CUTTERS = stages.threads, GROUP * stages.consumers, GROUP * stages.consumers + 64
    TURNS = stages.tile_a // 4096  # of 64 threads, four times 16 bytes each
    FLUSH, LAST, APART = flush, flush - BK, BK if apart else 0
    DESCRIPTOR = uint64(K_MAJOR)
    wgmma = getattr(hopper, f"wgmma_tf32_n{BM}")
    give_registers, take_registers = registers(*REGISTERS[stages.consumers])

    @jit(device=True, forceinline=True)
    def cut(s, base, M, N, K):
        """Write the small parts of A beside A in each stage: what two warps do."""
        stage, parity = uint32(0), uint32(0)
        for _ in range(cuda.blockIdx.x // CLUSTER, count(M, N), cuda.gridDim.x // CLUSTER):
            for _ in range(0, K, BK):
                mbarrier_wait(base + uint32(FULL) + stage * uint32(8), parity)
                at = stage * uint32(STAGE // 4) + uint32(cuda.threadIdx.x & 63) * uint32(4)
                for turn in range(TURNS):
                    i = at + uint32(turn) * uint32(1024)
                    for p in unroll(4):
                        w, x, y, z = ld4(s, i + uint32(256 * p))
                        rests = rest_tf32(w), rest_tf32(x), rest_tf32(y), rest_tf32(z)
                        st4(s, i + uint32(256 * p + SMALL // 4), rests[0], rests[1], rests[2], rests[3])
                shared_to_async()
                cuda.syncwarp()
                if cuda.threadIdx.x & 31 == 0:
                    mbarrier_arrive(base + uint32(READY) + stage * uint32(8))
                stage += uint32(1)
                if stage == uint32(STAGES):
                    stage, parity = uint32(0), parity ^ uint32(1)

    @jit(cache=True, launch_bounds=(THREADS, 1), cluster=CLUSTER)
    def _gemm_v13(A, B, C, maps):
        # who am I
        s = cuda.shared.array(0, float32, 1024)
        acc = cuda.local.array(RESULTS, float32)
        total = cuda.local.array(RESULTS, float32)
        r = cuda.local.array(16, uint32)  # big and small parts of `left`, of eight k and of the next eight
        M, N, K = C.shape[0], C.shape[1], A.shape[1]
        base, thread = shared_address(s, 0), cuda.threadIdx.x
        make_barriers(base)
        if thread >= CONSUMERS:
            give_registers()
            if thread == CONSUMERS:
                produce(base, maps, M, N, K)
            elif thread >= CUTTERS:
                cut(s, base, M, N, K)
        else:
            take_registers()
            mine = my_place()
            stage, parity, last, held, shift = uint32(0), uint32(0), uint32(0), uint32(0), 0
            if APART:
                shift = cuda.shfl_sync(0xFFFFFFFF, thread // GROUP * APART, 0)  # the same for a warp, as all can see
            for i in range(RESULTS):
                acc[i] = float32(0)
            for tile in range(cuda.blockIdx.x // CLUSTER, count(M, N), cuda.gridDim.x // CLUSTER):
                row0, col0 = place(tile, M, N)
                for i in range(RESULTS):
                    total[i] = float32(0)
                for k0 in range(0, K, BK):
                    mbarrier_wait(base + uint32(FULL) + stage * uint32(8), parity)
                    mbarrier_wait(base + uint32(READY) + stage * uint32(8), parity)
                    right = DESCRIPTOR | start_of(base + stage * uint32(STAGE))
                    rests = right + uint64(SMALL // 16)
                    at = stage * uint32(STAGE // 4) + mine
                    for step in unroll(STEPS):
                        o = 8 * (step % 2)
                        for h in unroll(2):  # rows q and q + 4
                            x, y = ld2(s, (at ^ uint32(h * 16)) + uint32((8 * step + 4 * h) * 32))
                            r[o + 2 * h], r[o + 2 * h + 4] = chop_tf32(x)
                            r[o + 2 * h + 1], r[o + 2 * h + 5] = chop_tf32(y)
                        wgmma_fence()  # small products first; the first one after a flush forgets the sums
                        wgmma(acc, 0, r, o + 4, right + uint64(2 * step), held + uint32(step))
                        wgmma(acc, 0, r, o, rests + uint64(2 * step), 1)
                        wgmma(acc, 0, r, o, right + uint64(2 * step), 1)
                        wgmma_commit()
                        wgmma_wait1()  # the products before these are done, and their registers mine again
                        if step == 0 and held > uint32(0):
                            release(base, last)
                    last = stage
                    held += uint32(1)  # stages whose products the tensor cores' sums hold
                    stage += uint32(1)
                    if stage == uint32(STAGES):
                        stage, parity = uint32(0), parity ^ uint32(1)
                    # let the sums out of the tensor cores
                    if (k0 + shift) % FLUSH == LAST or k0 + BK >= K:
                        wgmma_wait0()
                        held = uint32(0)
                        release(base, last)
                        for i in range(RESULTS):
                            total[i] += acc[i]
                # write
                write_transposed(C, total, row0, col0)
        leave()

    return _gemm_v13


def gemm_v13_tma_3xtf32(A, B, C):
    """Write A @ B into C, as exact as in float32: A (M, K), B (K, N), C (M, N), of any size.

    It is for GPUs of compute capability 9.0, and rows that begin at multiples of 16 bytes (K and N multiples of 4).
    Anything else v09 gets: another card, none, other rows. An infinity in A or B gives NaN in C: the rest of an
    infinity is none. Raises as `launch_float32`.

    Source: NVIDIA, CUTLASS; Ootomo and Yokota (2022).
    """
    return launch_float32(make_gemm_v13, STAGES, "float32", gemm_v09_3xtf32, A, B, C)


traffic = v09_3xtf32.traffic
"""What the SIMT executor counts is v09's work: it has no wgmma. A card's blocks have `STAGES.copied` bytes copied."""
