"""What all rungs of the ladder share: the checks, and the grid. Source: the course's own."""

from course_lib.cuda.operands import operand

TILE = 32
"""Rows and columns of a tile."""

MOST_ROWS = 65_535 * TILE
"""Rows that one grid covers, of tiles of 32 rows or more."""


def check_transpose(x, y):
    """Return (x, y), x (R, C) and y (C, R).

    Raises
    ------
    TypeError
        If one of them is not a float32 device array.
    ValueError
        If they are empty, have gaps, or do not fit.

    Source: the course's own.
    """
    x = operand("x", x, ndim=2)
    return x, operand("y", y, shape=(x.shape[1], x.shape[0]))


def in_slices(x, y, side=TILE):
    """Yield (grid, rows of x, columns of y), as few as there can be: a grid has at most 65,535 blocks on its y axis.

    x (R, C), y (C, R); tiles of side x side. No errors of its own. Source: NVIDIA, "CUDA C++ Programming Guide",
    "Technical Specifications".
    """
    R, C = x.shape
    for top in range(0, R, MOST_ROWS):
        rows = min(MOST_ROWS, R - top)
        part = (x, y) if rows == R else (x[top : top + rows], y[:, top : top + rows])
        yield (-(-C // side), -(-rows // side)), *part
