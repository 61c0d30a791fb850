"""What Hopper's rungs share: the sizes of a block's work, the ring of stages, and which lane holds which element.

Four warps, a *group*, multiply together. The right operand of such a product lies in shared memory and is read from
there by the tensor cores themselves; a *descriptor*, a number of 64 bits, says where and how (`course_lib.cuda.swizzle`
draws it). For TF32 it must lie so that the sum runs along the bytes (*K-major*). A does, row by row; B does not. So the
TF32 rungs compute the transposed product, C.T = B.T @ A.T, as `mma_tiles` does: `right` is A.T as A lies, and `left`,
64 columns of B, comes from registers, where any order will do. With g = lane // 4 and q = lane % 4, a lane holds

    r[h] = left[16 warp + g + 8 (h % 2), q + 4 (h // 2)]        of eight k, for a group's warps 0 to 3
    acc[4 j + 2 h + e] = result[16 warp + g + 8 h, 8 j + 2 q + e]

Which column of B is which row of `left` is free to choose. Rows g and g + 8 are neighbours in B, so that one `ld2`
brings two elements; and the pairs are dealt out so that the 16 lanes which read together never meet in a bank. B's tile
lies in *slices* of 32 columns, 128 bytes a row, and its groups of four floats change places as A's do: group x of row r
lies at x ^ (r % 8). In a slice, lane (g, q) of warp w takes the group 4 (g // 2 % 2) + g // 4 + 2 (w % 2).

From v12 on a block has two kinds of warps: consumers multiply, one thread of another group, the producer, has tiles
copied. Tiles go through a ring of stages in shared memory; each stage has barriers that count:

    full    the producer arrives, and says how many bytes come; its phase is over when they are there
    free    each warp of the consumers arrives when its products of the stage are done
    ready   (v13) two warps arrive when the small parts of A lie beside A

All sides count the same stages in the same order, over all tiles of C that a block works on: while consumers write one
tile of C, the first stages of the next are on their way.

Source: NVIDIA, "PTX ISA", "Asynchronous Warpgroup Level Matrix Instructions"; NVIDIA, "CUTLASS", "Efficient GEMM in
CUDA" (warp specialization, persistent kernels).
"""

import functools
from dataclasses import dataclass
from typing import NamedTuple

from course_lib.cuda import hopper
from course_lib.cuda.capability import has_hopper, multiprocessors
from course_lib.cuda.hopper import (
    cluster_rank,
    cluster_sync,
    mbarrier_arrive,
    mbarrier_arrive_at,
    mbarrier_expect,
    mbarrier_init,
    mbarrier_wait,
    mbarriers_ready,
    tensor_map_fence,
    tma_load,
    tma_load_to_all,
)
from course_lib.cuda.intrinsics import nonneg, st2
from course_lib.cuda.jit import DeviceFunction, jit
from course_lib.cuda.ladders.gemm.checks import check_gemm
from course_lib.cuda.numba_cuda import cuda, uint32, uint64
from course_lib.cuda.operands import aligned
from course_lib.cuda.swizzle import ROW
from course_lib.cuda.tensor_map import WORDS, tensor_maps
from course_lib.cuda.unroll import unroll

GROUP = 128
"""Threads of four warps, which multiply together."""

BARRIERS = ("full", "free", "ready")
"""Of each stage, 8 bytes each."""

REGISTERS = {2: (56, 224), 3: (32, 160)}
"""Consumers -> registers of a thread of the producer's group and of the consumers': 65,536 in all at most."""


@dataclass(frozen=True)
class Stages:
    """Sizes of a block's work, in elements of `size` bytes.

    Attributes
    ----------
    BM, BN, BK : int
        A block computes BM x BN of C at a time, from tiles of A and B that are BK deep.
    STAGES : int
        Pairs of tiles in shared memory: some are used, the others are on their way.
    consumers : int
        Groups of four warps that multiply.
    size : int
        Bytes of an element of A and B.
    band : int
        Rows of blocks that are worked on together, column by column: their part of B stays in the L2 cache.
    copies : int
        Tiles of A in a stage: 2 where its small parts lie there too.
    cluster : int
        Blocks that work on neighbouring tiles of C: 1, or 2 that share the larger one of their tiles of A and B.

    Source: NVIDIA, "CUTLASS: Efficient GEMM in CUDA".
    """

    BM: int
    BN: int
    BK: int
    STAGES: int
    consumers: int = 2
    size: int = 4
    band: int = 8
    copies: int = 1
    cluster: int = 1

    @property
    def shares_a(self):
        """Return whether the blocks of a cluster lie side by side, and share A's tile; else B's. No errors."""
        return self.cluster > 1 and self.tile_a >= self.tile_b

    @property
    def shares_b(self):
        """Return whether the blocks of a cluster lie one above the other, and share B's tile. No errors."""
        return self.cluster > 1 and not self.shares_a

    @property
    def down(self):
        """Return the rows of C that a cluster computes at a time. No errors."""
        return self.BM * (self.cluster if self.shares_b else 1)

    @property
    def across(self):
        """Return the columns of C that a cluster computes at a time. No errors."""
        return self.BN * (self.cluster if self.shares_a else 1)

    @property
    def box_a(self):
        """Return the rows of A that one copy brings. No errors."""
        return self.BM // (self.cluster if self.shares_a else 1)

    @property
    def threads(self):
        """Return the threads of a block with a group that copies. No errors."""
        return GROUP * (self.consumers + 1)

    @property
    def tile_a(self):
        """Return the bytes of a tile of A. No errors."""
        return self.BM * self.BK * self.size

    @property
    def tile_b(self):
        """Return the bytes of a tile of B. No errors."""
        return self.BN * self.BK * self.size

    @property
    def at_b(self):
        """Return where B's tile begins in a stage, in bytes. No errors."""
        return self.copies * self.tile_a

    @property
    def slice(self):
        """Return the bytes of a slice of B's tile: BK rows of 128 bytes. No errors."""
        return self.BK * ROW

    @property
    def stage(self):
        """Return the bytes of a stage. No errors."""
        return self.at_b + self.tile_b

    def barrier(self, name):
        """Return where the barriers of this name begin, in bytes, for all stages. KeyError for an unknown name."""
        return self.STAGES * (self.stage + 8 * {n: i for i, n in enumerate(BARRIERS)}[name])

    @property
    def shared_bytes(self):
        """Return the bytes of shared memory of a block. No errors."""
        return self.STAGES * (self.stage + 8 * len(BARRIERS))

    def copied(self, M, N, K):
        """Return the bytes that blocks have copied for C (M, N) = A (M, K) @ B (K, N), whole tiles. No errors.

        Source: each element of A is copied once for each cluster across, N / BN without clusters, and each of B once
        for each one down.
        """
        return self.size * (M * K * (N // self.across) + K * N * (M // self.down))


@jit(device=True, forceinline=True)
def start_of(address):
    """Return the part of a descriptor that says where an operand starts, by its address in shared memory.

    An address also has the block's number in its cluster, in bits that are other fields of a descriptor.
    """
    return uint64((address & uint32(0x3FFFF)) >> uint32(4))


class Pieces(NamedTuple):
    """The device functions of a kernel, as `make_pieces` describes them. Source: the course's own."""

    count: DeviceFunction
    place: DeviceFunction
    make_barriers: DeviceFunction
    produce: DeviceFunction
    my_column: DeviceFunction
    my_place: DeviceFunction
    write: DeviceFunction
    write_transposed: DeviceFunction
    release: DeviceFunction
    leave: DeviceFunction


@functools.cache
def make_pieces(stages, pairs):
    """Return the `Pieces` of a kernel with these `Stages`; pairs: whether rows of C begin at pairs of floats.

    No errors. Source: NVIDIA, "PTX ISA", "cp.async.bulk.tensor".
    """
    BM, BN, BK, BAND, STAGES, STAGE = stages.BM, stages.BN, stages.BK, stages.band, stages.STAGES, stages.stage
    FULL, FREE, READY = (stages.barrier(name) for name in BARRIERS)
    CLUSTER, DOWN, RIGHT, BOX = stages.cluster, stages.down, stages.across, stages.box_a
    SHARES_A, SHARES_B, ALL = stages.shares_a, stages.shares_b, (1 << stages.cluster) - 1
    ARRIVALS, BYTES = 4 * stages.consumers * CLUSTER, stages.tile_a + stages.tile_b
    AT_B, SLICE, ACROSS = stages.at_b, stages.slice, ROW // stages.size
    SLICES, EIGHTS = BN // ACROSS, BM // 8
    MY_SLICES = SLICES // CLUSTER if SHARES_B else SLICES

    @jit(device=True, forceinline=True)
    def count(M, N):
        """Return how many tiles of C clusters have to compute."""
        return (M + DOWN - 1) // DOWN * ((N + RIGHT - 1) // RIGHT)

    @jit(device=True, forceinline=True)
    def place(tile, M, N):
        """Return row0, col0 of this block's part of a cluster's tile, by the tile's number."""
        blocks_m, blocks_n = (M + DOWN - 1) // DOWN, (N + RIGHT - 1) // RIGHT
        first = tile // (BAND * blocks_n) * BAND
        high = min(blocks_m - first, BAND)
        inside = tile % (BAND * blocks_n)
        row0, col0 = (first + inside % high) * DOWN, inside // high * RIGHT
        if SHARES_A:
            col0 += cluster_rank() * BN
        if SHARES_B:
            row0 += cluster_rank() * BM
        return row0, col0

    @jit(device=True, forceinline=True)
    def make_barriers(base):
        """Make the barriers of all stages; the whole block, or cluster, waits until they are there."""
        if cuda.threadIdx.x == 0:
            for i in range(STAGES):
                mbarrier_init(base + uint32(FULL + 8 * i), 1)
                mbarrier_init(base + uint32(FREE + 8 * i), ARRIVALS)
                mbarrier_init(base + uint32(READY + 8 * i), 2)
            mbarriers_ready()
        cuda.syncthreads()
        if CLUSTER > 1:
            cluster_sync()

    @jit(device=True, forceinline=True)
    def bring(to, maps, k0, row0, col0, full):
        """Have the tiles of A and B at k0 copied to a stage; what is shared, each block copies a part of to all."""
        if SHARES_A:
            part = cluster_rank()
            tma_load_to_all(to + part * uint32(BOX * ROW), maps, 0, k0, row0 + part * BOX, full, ALL)
        else:
            tma_load(to, maps, 0, k0, row0, full)
        for i in unroll(MY_SLICES):
            if SHARES_B:
                j = cluster_rank() * MY_SLICES + i
                tma_load_to_all(to + uint32(AT_B) + uint32(j * SLICE), maps, WORDS, col0 + ACROSS * j, k0, full, ALL)
            else:
                tma_load(to + uint32(AT_B + i * SLICE), maps, WORDS, col0 + ACROSS * i, k0, full)

    @jit(device=True, forceinline=True)
    def produce(base, maps, M, N, K):
        """Have all tiles copied that this block needs, as stages become free: what the one producing thread does."""
        tensor_map_fence(maps, 0)
        tensor_map_fence(maps, WORDS)
        stage, parity = uint32(0), uint32(0)
        for tile in range(cuda.blockIdx.x // CLUSTER, count(M, N), cuda.gridDim.x // CLUSTER):
            row0, col0 = place(tile, M, N)
            for k0 in range(0, K, BK):
                full = base + uint32(FULL) + stage * uint32(8)
                mbarrier_wait(base + uint32(FREE) + stage * uint32(8), parity ^ uint32(1))
                mbarrier_expect(full, BYTES)
                bring(base + stage * uint32(STAGE), maps, k0, row0, col0, full)
                stage += uint32(1)
                if stage == uint32(STAGES):
                    stage, parity = uint32(0), parity ^ uint32(1)

    @jit(device=True, forceinline=True)
    def release(base, stage):
        """Say for this warp that its products of a stage are done, to all producers that copy to it."""
        if CLUSTER > 1:
            if cuda.threadIdx.x & 31 < CLUSTER:
                mbarrier_arrive_at(base + uint32(FREE) + stage * uint32(8), cuda.threadIdx.x & 31)
        elif cuda.threadIdx.x & 31 == 0:
            mbarrier_arrive(base + uint32(FREE) + stage * uint32(8))

    @jit(device=True, forceinline=True)
    def leave():
        """Stay until nobody of the cluster copies to this block or arrives at its barriers any more."""
        if CLUSTER > 1:
            cluster_sync()

    @jit(device=True, forceinline=True)
    def my_column():
        """Return the first of this lane's two columns of B, within the block's tile."""
        thread = cuda.threadIdx.x
        warp, g = thread >> 5, (thread & 31) >> 2
        return 32 * (warp >> 1) + 4 * (4 * ((g >> 1) & 1) + (g >> 2) + 2 * (warp & 1)) + 2 * (g & 1)

    @jit(device=True, forceinline=True)
    def my_place():
        """Return where this lane's first element of `left` lies in a stage, in floats: row q, its first column."""
        q, column = cuda.threadIdx.x & 3, my_column()
        x = (column & 31) >> 2  # of the eight groups of four floats
        return uint32(AT_B // 4 + (column >> 5) * (SLICE // 4) + q * 32 + (x ^ q) * 4 + (column & 3))

    @jit(device=True, forceinline=True)
    def write(C, row, col, x, y):
        """Write two neighbours of a row of C, as far as they lie in C."""
        if row < C.shape[0]:
            if pairs:
                if col < C.shape[1]:
                    st2(C, nonneg(row * C.shape[1] + col), x, y)
            else:
                if col < C.shape[1]:
                    C[row, col] = x
                if col + 1 < C.shape[1]:
                    C[row, col + 1] = y

    @jit(device=True, forceinline=True)
    def write_transposed(C, acc, row0, col0):
        """Write this lane's sums of the transposed product to the block's tile of C."""
        row, col = row0 + 2 * (cuda.threadIdx.x & 3), col0 + my_column()
        for j in unroll(EIGHTS):
            write(C, row + 8 * j, col, acc[4 * j], acc[4 * j + 2])
            write(C, row + 8 * j + 1, col, acc[4 * j + 1], acc[4 * j + 3])

    return Pieces(count, place, make_barriers, produce, my_column, my_place, write, write_transposed, release, leave)


def registers(down, up):
    """Return the intrinsics that give registers of a group back, and take them. AttributeError for other numbers."""
    return getattr(hopper, f"registers_down{down}"), getattr(hopper, f"registers_up{up}")


def fits(A, B, C):
    """Return whether rows of A, B and C begin at multiples of 16 bytes. No errors."""
    return A.shape[1] % 4 == 0 and B.shape[1] % 4 == 0 and aligned(A, B, C)


def launch_float32(make, stages, kind, otherwise, A, B, C):
    """Launch the kernel make(stages) for C = A @ B in float32, or `otherwise` where it cannot be had.

    That is: on another card or without one, or where rows begin at no multiple of 16 bytes. kind: of `tensor_maps`.

    Raises
    ------
    TypeError, ValueError
        For operands that `check_gemm` refuses.
    DeviceError
        As `tensor_maps`, and as `otherwise`.

    Source: the course's own.
    """
    if not has_hopper():
        return otherwise(A, B, C)
    A, B, C, *_ = check_gemm(A, B, C)
    if not fits(A, B, C):
        return otherwise(A, B, C)
    maps = tensor_maps((A, kind, stages.box_a, stages.BK), (B, kind, stages.BK, ROW // 4))
    return launch(make(stages), stages, A, B, C, maps)


def launch(kernel, stages, A, B, C, maps):
    """Launch a kernel (A, B, C, maps): a block for each multiprocessor, or fewer. Errors as any launch.

    A and B are read through their maps; as arguments they say so to a graph, which orders launches by those.
    """
    tiles = -(-C.shape[0] // stages.down) * -(-C.shape[1] // stages.across)
    blocks = stages.cluster * min(tiles, multiprocessors() // stages.cluster)
    kernel[blocks, stages.threads, 0, stages.shared_bytes](A, B, C, maps)
