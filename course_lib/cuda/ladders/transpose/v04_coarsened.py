"""A thread moves several numbers, four an access where rows allow it; load and store requests fall to a quarter.

A thread of v03 asks for 4 bytes and then waits; here it asks for 32 before it waits, which keeps memory busy. Eight
lanes read 128 bytes of a row, a warp four rows: the number of column 4 q + j of row r goes to bank (4 q + j + r) % 32,
another one for each lane; the same holds on the way out.

Source: M. Harris, "An Efficient Matrix Transpose in CUDA C/C++" (several rows a thread); V. Volkov, "Better Performance
at Lower Occupancy"; the course's own.
"""

from course_lib.cuda.intrinsics import ld4, nonneg, st4
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.transpose.checks import check_transpose, in_slices
from course_lib.cuda.ladders.transpose.counts import tile_traffic, vector_traffic
from course_lib.cuda.numba_cuda import cuda, float32
from course_lib.cuda.operands import aligned
from course_lib.cuda.unroll import unroll

THREADS, SIDE, ROWS = 512, 64, 8
"""Threads of a block and the side of its tile, measured on an H200; rows of threads, where numbers go one by one."""

WARPS, VECTORS = THREADS // 32, SIDE * SIDE // (4 * THREADS)
S = SIDE + 1
SIZE = SIDE * S


@jit(cache=True)
def _transpose_v04(x, y):
    """For R and C that are multiples of 4."""
    tile = cuda.shared.array(SIZE, float32)  # element (row, col) of x's tile at col * S + row
    R, C = nonneg(x.shape[0]), nonneg(x.shape[1])
    b, t, across = nonneg(cuda.blockIdx.x), nonneg(cuda.threadIdx.x), (C + SIDE - 1) // SIDE
    top, left = b // across * SIDE, b % across * SIDE
    warp, r, q = t // 32, t % 32 // 8, t % 8 * 4

    for k in unroll(VECTORS):
        part = warp + k * WARPS  # of 4 rows and 32 columns, two of them side by side
        row, col = part // 2 * 4 + r, part % 2 * 32 + q
        if top + row < R and left + col < C:
            at = col * S + row
            tile[at], tile[at + S], tile[at + 2 * S], tile[at + 3 * S] = ld4(x, (top + row) * C + left + col)
    cuda.syncthreads()

    for k in unroll(VECTORS):
        part = warp + k * WARPS
        row, col = part // 2 * 4 + r, part % 2 * 32 + q  # of y's tile
        if left + row < C and top + col < R:
            at = row * S + col
            st4(y, (left + row) * R + top + col, tile[at], tile[at + 1], tile[at + 2], tile[at + 3])


@jit(cache=True)
def _transpose_v04_any(x, y):
    """Eight numbers a thread, one an access: where rows do not begin at multiples of 16 bytes."""
    tile = cuda.shared.array((SIDE, S), float32)
    R, C = nonneg(x.shape[0]), nonneg(x.shape[1])
    top, left = nonneg(cuda.blockIdx.y) * SIDE, nonneg(cuda.blockIdx.x) * SIDE
    tx, ty = nonneg(cuda.threadIdx.x), nonneg(cuda.threadIdx.y)

    for k in range(0, SIDE, ROWS):
        if top + ty + k < R and left + tx < C:
            tile[ty + k, tx] = x[top + ty + k, left + tx]
    cuda.syncthreads()

    for k in range(0, SIDE, ROWS):
        if left + ty + k < C and top + tx < R:
            y[left + ty + k, top + tx] = tile[tx, ty + k]


def transpose_v04_coarsened(x, y):
    """Write x (R, C) transposed into y (C, R); errors as `check_transpose`. Source: Volkov; Harris."""
    x, y = check_transpose(x, y)
    R, C = x.shape
    if R % 4 == 0 and C % 4 == 0 and aligned(x, y):
        _transpose_v04[-(-R // SIDE) * -(-C // SIDE), THREADS](x, y)
    else:
        for grid, *slices in in_slices(x, y, SIDE):
            _transpose_v04_any[grid, (SIDE, ROWS)](*slices)


def traffic(R, C):
    """Return what the executor counts for x (R, C)."""
    return vector_traffic(R, C) if R % 4 == 0 and C % 4 == 0 else tile_traffic(R, C, padded=True)
