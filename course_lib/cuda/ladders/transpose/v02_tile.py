"""A block turns a tile in shared memory, so that writes are neighbours too: 4 sectors a request instead of 32.

A thread reads x where its neighbours read, and writes y where they write; in between, another thread's number. The
price: reading a column of the tile, all 32 lanes want the same bank, 31 conflicts a request.

Source: M. Harris, "An Efficient Matrix Transpose in CUDA C/C++", "Coalesced Transpose Via Shared Memory".
"""

from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.transpose.checks import TILE, check_transpose, in_slices
from course_lib.cuda.ladders.transpose.counts import tile_traffic
from course_lib.cuda.numba_cuda import cuda, float32


@jit(cache=True)
def _transpose_v02(x, y):
    tile = cuda.shared.array((TILE, TILE), float32)
    R, C = x.shape
    top, left = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y

    if top + ty < R and left + tx < C:
        tile[ty, tx] = x[top + ty, left + tx]
    cuda.syncthreads()

    if left + ty < C and top + tx < R:
        y[left + ty, top + tx] = tile[tx, ty]


def transpose_v02_tile(x, y):
    """Write x (R, C) transposed into y (C, R); errors as `check_transpose`. Source: Harris, "Coalesced Transpose"."""
    for grid, *slices in in_slices(*check_transpose(x, y)):
        _transpose_v02[grid, (TILE, TILE)](*slices)


def traffic(R, C):
    """Return what the executor counts for x (R, C): a column of a tile lies in one bank, and is read row by row."""
    return tile_traffic(R, C, padded=False)
