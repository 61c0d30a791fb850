"""A thread moves one number; a warp reads neighbours, and writes to rows far apart: 32 sectors a request.

Each of the 32 sectors has 32 bytes, of which 4 are used: the memory moves eight times what was asked for.

Source: M. Harris, "An Efficient Matrix Transpose in CUDA C/C++"; the course's own.
"""

from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.transpose.checks import TILE, check_transpose, in_slices
from course_lib.cuda.ladders.transpose.counts import naive_traffic
from course_lib.cuda.numba_cuda import cuda


@jit(cache=True)
def _transpose_v01(x, y):
    R, C = x.shape
    col, row = cuda.grid(2)
    if row < R and col < C:
        y[col, row] = x[row, col]


def transpose_v01_naive(x, y):
    """Write x (R, C) transposed into y (C, R); errors as `check_transpose`. Source: Harris, "Naive Transpose"."""
    for grid, *slices in in_slices(*check_transpose(x, y)):
        _transpose_v01[grid, (TILE, TILE)](*slices)


def traffic(R, C):
    """Return what the executor counts for x (R, C): a sector for each number written."""
    return naive_traffic(R, C)
