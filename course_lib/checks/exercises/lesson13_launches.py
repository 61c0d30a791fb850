"""How the kernels of lesson 13 are launched to be judged; no right value is computed here, students get it.

Source: the course's own.
"""

import numpy as np

from course_lib.checks.exercises.kernel_inputs import up
from course_lib.checks.kernels import output

WIDTH, FOUR, PER_BLOCK = 128, 4, 256
"""Threads of a block in the trees; elements of a thread, and of its block of 64 threads, where work is coarsened."""

WARP = 32


def warps_of(x):
    """Return how many blocks of one warp are launched. No errors. Source: the course's own."""
    return 3 if x.size % 2 else 5  # no step that is a constant is right for both


def grid_sum(kernel, x):
    """Launch a kernel and return (1,), which begins with 0.

    Errors as the kernel's. Source: the course's own.
    """
    total = output(1, begins=0)
    kernel[warps_of(x), WARP](x, total)
    return total


def by_block(kernel, x):
    """Launch a kernel and return (blocks,) results, one for each block of 128.

    Errors as the kernel's. Source: the course's own.
    """
    out = output(up(x.size, WIDTH))
    kernel[up(x.size, WIDTH), WIDTH](x, out)
    return out


def fused(kernel, z, bias, slope, factor):
    """Launch a kernel and return (R, C) results, by blocks of 32 x 4.

    Errors as the kernel's. Source: the course's own.
    """
    rows, columns = z.shape
    out = output(z.shape)
    kernel[(up(columns, 32), up(rows, 4)), (32, 4)](z, bias, slope, factor, out)
    return out


def row_losses(kernel, z, labels):
    """Launch a kernel and return (N,) losses, by blocks of two warps, one a row.

    Errors as the kernel's. Source: the course's own.
    """
    loss = output(z.shape[0])
    kernel[up(z.shape[0], 2), 2 * WARP](z, labels, loss)
    return loss


def max_pool(kernel, x, size, stride, pad):
    """Launch a kernel and return the maxima (C, H_out, W_out) and their places, by two blocks or three.

    Errors as the kernel's. Source: the course's own.
    """
    C, H, W = x.shape
    shape = C, (H + 2 * pad - size) // stride + 1, (W + 2 * pad - size) // stride + 1
    y, mask = output(shape), output(shape, np.int32)
    kernel[2 if pad else 3, WARP](x, size, stride, pad, y, mask)
    return y, mask


def squares(kernel, x):
    """Launch a kernel and return (blocks,) sums, one for each 256 elements.

    Errors as the kernel's. Source: the course's own.
    """
    sums = output(up(x.size, PER_BLOCK))
    kernel[up(x.size, PER_BLOCK), PER_BLOCK // FOUR](x, sums)
    return sums
