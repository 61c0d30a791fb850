"""Rows that begin anywhere: each row of y is cut where a sector begins, so no sector is written in two parts.

Memory moves sectors of 32 bytes. Where the length of y's rows is no multiple of 8 numbers, each row begins elsewhere in
a sector, and the straight edge of v04's tile goes through their middle: of five sectors that a warp writes, two are
written in part, by it and by another block. The L2 cache takes a part more slowly than a whole sector: 3.9 clocks of an
SM instead of 1.9 on an H200 (tools/microbench/stores.py).

Here the edge of a tile is a staircase: in each row of y it lies where a sector begins. Rows of x at the edge are read
by two blocks that run at the same time: the L2 cache has them. A column of x's tile lies in shared memory as it will
lie in y, from the cut on, so that four numbers leave in one access:

    column c of the tile      rows top - back(c), ..., top - back(c) + DOWN - 1 of x
    back(c)                   how far behind a cut y's row would begin, (c R) % CUT
    in shared memory          from c DOWN + c // CUT CUT on

CUT neighbouring columns have CUT different back(c) where R is odd, so a warp that brings a row of x meets no bank
twice. Addresses are counted with 32 bits, and nothing is divided but once a block.

Source: NVIDIA, "CUDA C++ Best Practices Guide", "Coalesced Access to Global Memory"; the course's own.
"""

import functools

import numpy as np

from course_lib.cuda.device import executor
from course_lib.cuda.elementwise import flat
from course_lib.cuda.intrinsics import ld4, st4
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.transpose.checks import check_transpose
from course_lib.cuda.ladders.transpose.counts import staircase_traffic, vector_traffic
from course_lib.cuda.ladders.transpose.v04_coarsened import transpose_v04_coarsened
from course_lib.cuda.numba_cuda import cuda, float32
from course_lib.cuda.operands import aligned
from course_lib.cuda.unroll import unroll

DOWN, WIDTH, THREADS, CUT = 64, 64, 512, 8
"""Rows and columns of x that a tile has, threads of a block, numbers of a sector."""

MOST = 2**31
"""Elements; the kernel counts them with 32 bits."""


@functools.cache
def tiles(DOWN, WIDTH, THREADS, CUT):
    """Return the kernel for tiles of x, DOWN x WIDTH, both multiples of 32, that are cut at multiples of CUT numbers.

    CUT is 8, a sector; 16 or 32, half a line of 128 bytes or a whole one. THREADS is a multiple of WIDTH. No errors.

    Source: the course's own.
    """
    ROWS, WARPS, ACROSS = THREADS // WIDTH, THREADS // 32, DOWN // 32
    READS, VECTORS = -(-(DOWN + CUT - 1) // ROWS), WIDTH * DOWN // (4 * THREADS)
    SIZE, INSIDE, LENGTH = WIDTH * DOWN + WIDTH // CUT * CUT, np.uint32(CUT - 1), np.uint32(DOWN)

    @jit(cache=True)
    def _transpose_v05(x, y, R, C, across, begin):
        """x and y flat; `across` tiles side by side; y begins `begin` numbers behind a line."""
        tile, held = cuda.shared.array(SIZE, float32, 16), cuda.local.array(READS, float32)
        b, t = np.uint32(cuda.blockIdx.x), np.uint32(cuda.threadIdx.x)
        part = np.uint32(b // across)
        left, top = np.uint32((b - part * across) * WIDTH), np.uint32(part * DOWN)

        tx, ty = np.uint32(t % WIDTH), np.uint32(t // WIDTH)
        col, row = np.uint32(left + tx), np.uint32(top + ty - CUT)  # rows above the first one are large numbers
        slot, at = np.uint32(tx * DOWN + tx // CUT * CUT), np.uint32(row * C + col)
        place = np.uint32(ty - CUT + (np.uint32(col * R + begin) & INSIDE))  # behind the cut
        rows = R if col < C else np.uint32(0)
        for k in unroll(READS):
            inside = CUT <= k * ROWS <= DOWN - ROWS or np.uint32(place + k * ROWS) < LENGTH  # or another tile's
            wanted = inside and np.uint32(row + k * ROWS) < rows
            held[k] = x[np.uint32(at + k * ROWS * C)] if wanted else float32(0)
        for k in unroll(READS):
            if CUT <= k * ROWS <= DOWN - ROWS or np.uint32(place + k * ROWS) < LENGTH:
                tile[np.uint32(slot + place + k * ROWS)] = held[k]
        cuda.syncthreads()

        warp, r, q = np.uint32(t // 32), np.uint32(t % 32 // 8), np.uint32(t % 8 * 4)
        for k in unroll(VECTORS):
            piece = np.uint32(warp + k * WARPS)  # of 4 rows of y and 32 columns
            c, p = np.uint32(piece // ACROSS * 4 + r), np.uint32(piece % ACROSS * 32 + q)
            if np.uint32(left + c) < C:
                first = np.uint32((left + c) * R)  # of a row of y
                i = np.uint32(top + p - (np.uint32(first + begin) & INSIDE))
                n0, n1, n2, n3 = ld4(tile, np.uint32(c * DOWN + c // CUT * CUT + p))
                if i < R and np.uint32(i + 3) < R:
                    st4(y, np.uint32(first + i), n0, n1, n2, n3)
                else:
                    if i < R:
                        y[np.uint32(first + i)] = n0
                    if np.uint32(i + 1) < R:
                        y[np.uint32(first + i + 1)] = n1
                    if np.uint32(i + 2) < R:
                        y[np.uint32(first + i + 2)] = n2
                    if np.uint32(i + 3) < R:
                        y[np.uint32(first + i + 3)] = n3

    return _transpose_v05


def in_tiles(x, y, down=DOWN, width=WIDTH, threads=THREADS, cut=CUT):
    """Write x (R, C) transposed into y (C, R), which the caller has checked, of fewer than 2^31 elements.

    down, width, threads, cut : int, as `tiles`. No errors. Source: the course's own.
    """
    (R, C), across = x.shape, -(-x.shape[1] // width)
    begin = executor().address(y) // 4 % 32
    numbers = (np.uint32(n) for n in (R, C, across, begin))
    tiles(down, width, threads, cut)[across * -(-(R + cut - 1) // down), threads](flat(x), flat(y), *numbers)


def transpose_v05_ragged_rows(x, y):
    """Write x (R, C) transposed into y (C, R); errors as `check_transpose`. Source: NVIDIA, "Coalesced Access".

    Where rows begin at multiples of 16 bytes, v04 does it, four numbers an access.
    """
    x, y = check_transpose(x, y)
    if (not ragged(*x.shape) and aligned(x, y)) or x.size >= MOST:
        transpose_v04_coarsened(x, y)
    else:
        in_tiles(x, y)


def ragged(R, C):
    """Return whether rows of x (R, C) or of its transpose begin elsewhere than at multiples of 16 bytes. No errors."""
    return R % 4 != 0 or C % 4 != 0


def traffic(R, C):
    """Return what the executor counts for x (R, C)."""
    return staircase_traffic(R, C, DOWN, WIDTH, THREADS, CUT) if ragged(R, C) else vector_traffic(R, C)
