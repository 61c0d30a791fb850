"""How the kernels of lesson 11 are launched to be judged; no right value is computed here, students get it.

Source: the course's own.
"""

import numpy as np

from course_lib.checks.exercises.kernel_inputs import up
from course_lib.checks.kernels import output

TILE = 4
"""Sides of a tile of outputs, as in the lecture's example."""


def add(kernel, a, b):
    """Launch a kernel and return (N,) sums, by a block more than N needs.

    Errors as the kernel's. Source: the course's own.
    """
    c = output(a.size)
    kernel[up(a.size, 64) + 1, 64](a, b, c)
    return c


def leaky(kernel, x, slope):
    """Launch a kernel and return (N,) results; no step that is a constant is right for both launches.

    Errors as the kernel's. Source: the course's own.
    """
    y = output(x.size)
    kernel[(2, 64) if x.size % 2 == 0 else (3, 32)](x, slope, y)  # no step that is a constant is right for both
    return y


def row_sum(kernel, x):
    """Launch a kernel and return (R,) sums, by a block more than R needs.

    Errors as the kernel's. Source: the course's own.
    """
    s = output(x.shape[0])
    kernel[up(x.shape[0], 32) + 1, 32](x, s)
    return s


def brighten(kernel, image, gain):
    """Launch a kernel and return (R, C) results, by blocks of 16 x 8.

    Errors as the kernel's. Source: the course's own.
    """
    rows, columns = image.shape
    out = output(image.shape)
    kernel[(up(columns, 16), up(rows, 8)), (16, 8)](image, gain, out)
    return out


def number(kernel, M, H_out, W_out):
    """Launch a kernel and return (M, H_out, W_out) numbers, by a block a tile.

    Errors as the kernel's. Source: the course's own.
    """
    y = output((M, H_out, W_out), np.int32)
    kernel[(M, up(H_out, TILE) * up(W_out, TILE)), (TILE, TILE)](y)
    return y


def alternate(kernel, a, b):
    """Launch a kernel and return (N,) results, by blocks of 64.

    Errors as the kernel's. Source: the course's own.
    """
    y = output(a.size)
    kernel[a.size // 64, 64](a, b, y)
    return y
