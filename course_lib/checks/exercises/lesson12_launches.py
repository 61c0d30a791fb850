"""How the kernels of lesson 12 are launched to be judged; no right value is computed here, students get it.

Source: the course's own.
"""

from course_lib.checks.exercises.kernel_inputs import up
from course_lib.checks.kernels import output

SIDE, FOUR, BLOCK = 32, 4, 64
"""Sides of a tile; elements of a thread and threads of a block in the copy."""


def copy(kernel, x):
    """Launch a kernel and return (N,) copies, by blocks of 64 threads that have four elements each.

    Errors as the kernel's. Source: the course's own.
    """
    y = output(x.size)
    kernel[up(x.size, FOUR * BLOCK), BLOCK](x, y)
    return y


def turn(kernel, x):
    """Launch a kernel and return (C, R) results, by a block a tile of 32 x 32.

    Errors as the kernel's. Source: the course's own.
    """
    rows, columns = x.shape
    y = output((columns, rows))
    kernel[(up(columns, SIDE), up(rows, SIDE)), (SIDE, SIDE)](x, y)
    return y


def tile_sums(kernel, x):
    """Launch a kernel and return (R,) sums, by a block a tile of 32 rows.

    Errors as the kernel's. Source: the course's own.
    """
    s = output(x.shape[0])
    kernel[up(x.shape[0], SIDE), SIDE](x, s)
    return s
