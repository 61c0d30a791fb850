"""What Hopper's rungs share: the sizes of a block's tiles, its order of work, and the ring of stages.

A block has one group of four warps that brings tiles (the producers) and two or three that multiply (the consumers).
Tiles go through a ring of stages in shared memory. Each stage has two barriers:

    full    the producer arrives, and says how many bytes come; its phase is over when they are there
    free    each warp of the consumers arrives when its products of the stage are done

Both sides count the same stages in the same order, over all tiles of C that a block works on: while consumers write one
tile, the producer brings the first stages of the next.

Source: NVIDIA, "CUTLASS", "Efficient GEMM in CUDA" (warp specialization, persistent kernels); NVIDIA, "PTX ISA".
"""

import functools
from dataclasses import dataclass
from typing import NamedTuple

from course_lib.cuda.capability import has_hopper, multiprocessors
from course_lib.cuda.hopper import mbarrier_init, mbarriers_ready
from course_lib.cuda.intrinsics import nonneg, st2
from course_lib.cuda.jit import DeviceFunction, jit
from course_lib.cuda.ladders.gemm.checks import check_gemm
from course_lib.cuda.numba_cuda import cuda
from course_lib.cuda.operands import aligned
from course_lib.cuda.tensor_map import tensor_maps

GROUP = 128
"""Threads of four warps, which multiply together."""

ROW = 128
"""Bytes of a row of a tile as it lies in shared memory: what the swizzle turns over."""


@dataclass(frozen=True)
class Stages:
    """Sizes of a block's work, in elements of `size` bytes.

    Attributes
    ----------
    BM, BN, BK : int
        A block computes BM x BN of C at a time, from tiles of A and B that are BK deep.
    STAGES : int
        Pairs of tiles in shared memory.
    consumers : int
        Groups of four warps that multiply.
    size : int
        Bytes of an element.
    band : int
        Rows of blocks that are worked on together, column by column: their part of B stays in the L2 cache.
    copies : int
        Tiles of A in a stage: 2 where its small parts lie there too.
    producers : int
        Threads that are no consumers: a warp, or a group of four warps.

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
    producers: int = GROUP

    @property
    def threads(self):
        """Return the threads of a block. No errors."""
        return GROUP * self.consumers + self.producers

    @property
    def tile_a(self):
        """Return the bytes of a tile of A. No errors."""
        return self.BM * self.BK * self.size

    @property
    def tile_b(self):
        """Return the bytes of a tile of B. No errors."""
        return self.BN * self.BK * self.size

    @property
    def stage(self):
        """Return the bytes of a stage. No errors."""
        return self.copies * self.tile_a + self.tile_b

    @property
    def barriers(self):
        """Return where the barriers begin, in bytes: three of 8 bytes for each stage. No errors."""
        return self.STAGES * self.stage

    @property
    def shared_bytes(self):
        """Return the bytes of shared memory of a block. No errors."""
        return self.barriers + 24 * self.STAGES


class Pieces(NamedTuple):
    """Device functions: `place(tile, M, N)`, `make_barriers(base)`. Source: the course's own."""

    place: DeviceFunction
    make_barriers: DeviceFunction


@functools.cache
def make_pieces(stages):
    """Return the `Pieces` of a kernel with these `Stages`. No errors. Source: the course's own."""
    BM, BN, BAND, STAGES = stages.BM, stages.BN, stages.band, stages.STAGES
    BARRIERS, ARRIVALS = stages.barriers, 4 * stages.consumers
    FREE, READY = BARRIERS + 8 * STAGES, BARRIERS + 16 * STAGES

    @jit(device=True, forceinline=True)
    def place(tile, M, N):
        """Return row0, col0 of a block's tile of C, by its number."""
        blocks_m, blocks_n = (M + BM - 1) // BM, (N + BN - 1) // BN
        first = tile // (BAND * blocks_n) * BAND
        high = min(blocks_m - first, BAND)
        inside = tile % (BAND * blocks_n)
        return (first + inside % high) * BM, inside // high * BN

    @jit(device=True, forceinline=True)
    def make_barriers(base):
        """Make the barriers of all stages; the whole block waits for them."""
        if cuda.threadIdx.x == 0:
            for i in range(STAGES):
                mbarrier_init(base + BARRIERS + 8 * i, 1)
                mbarrier_init(base + FREE + 8 * i, ARRIVALS)
                mbarrier_init(base + READY + 8 * i, 2)
            mbarriers_ready()
        cuda.syncthreads()

    return Pieces(place, make_barriers)


@functools.cache
def make_write(pairs):
    """Return a device function that writes two neighbours in a row of C; pairs: whether rows begin at pairs.

    No errors. Source: the course's own.
    """

    @jit(device=True, forceinline=True)
    def write(C, row, col, x, y):
        if row < C.shape[0]:
            if pairs:
                if col < C.shape[1]:
                    st2(C, nonneg(row * C.shape[1] + col), x, y)
            else:
                if col < C.shape[1]:
                    C[row, col] = x
                if col + 1 < C.shape[1]:
                    C[row, col + 1] = y

    return write


def launch_float32(make, stages, rounding, otherwise, A, B, C):
    """Launch the kernel make(stages, pairs) for C = A @ B in float32, or `otherwise` where Hopper's cannot be had.

    That is: on another card or without one, or where rows of A or B begin at no multiple of 16 bytes. rounding: the
    kind of `tensor_maps`. Raises TypeError and ValueError for operands that `check_gemm` refuses, DeviceError as
    `tensor_maps`. Source: the course's own.
    """
    if not has_hopper():
        return otherwise(A, B, C)
    A, B, C, M, N, K = check_gemm(A, B, C)
    if K % 4 or N % 4 or not aligned(A, B, C):
        return otherwise(A, B, C)
    maps = tensor_maps((A, rounding, stages.BM, stages.BK), (B, rounding, stages.BK, ROW // 4))
    launch(make(stages, True), stages, A, B, C, maps)


def launch(kernel, stages, A, B, C, maps):
    """Launch a kernel (A, B, C, maps): a block for each multiprocessor, or fewer. Errors as any launch."""
    tiles = -(-C.shape[0] // stages.BM) * -(-C.shape[1] // stages.BN)
    kernel[min(tiles, multiprocessors()), stages.threads, 0, stages.shared_bytes](A, B, C, maps)
