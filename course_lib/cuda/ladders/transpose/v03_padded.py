"""The tile's rows are one word longer; a column lies in 32 banks then, and conflicts fall from 31 a request to 0.

Word (row, column) lies in bank (33 row + column) % 32 = (row + column) % 32. Nothing else changes; the last column is
never used.

Source: M. Harris, "An Efficient Matrix Transpose in CUDA C/C++", "Shared Memory Bank Conflicts".
"""

from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.transpose.checks import TILE, check_transpose, in_slices
from course_lib.cuda.ladders.transpose.counts import tile_traffic
from course_lib.cuda.numba_cuda import cuda, float32

PADDED = TILE + 1


@jit(cache=True)
def _transpose_v03(x, y):
    tile = cuda.shared.array((TILE, PADDED), float32)
    R, C = x.shape
    top, left = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y

    if top + ty < R and left + tx < C:
        tile[ty, tx] = x[top + ty, left + tx]
    cuda.syncthreads()

    if left + ty < C and top + tx < R:
        y[left + ty, top + tx] = tile[tx, ty]


def transpose_v03_padded(x, y):
    """Write x (R, C) transposed into y (C, R); errors as `check_transpose`. Source: Harris, "Bank Conflicts"."""
    for grid, *slices in in_slices(*check_transpose(x, y)):
        _transpose_v03[grid, (TILE, TILE)](*slices)


def traffic(R, C):
    """Return what the executor counts for x (R, C): as v02, without conflicts."""
    return tile_traffic(R, C, padded=True)
