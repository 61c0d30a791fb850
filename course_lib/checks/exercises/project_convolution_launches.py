"""How the kernels of the convolution project are launched to be judged; no right value is computed here.

Students get this module. The kernels of the free stage are launched as their own functions say.

Source: H, "Design of a Basic Kernel", "Matrix Multiplication for a Convolution Layer".
"""

from course_lib.checks.exercises.kernel_inputs import up
from course_lib.checks.kernels import output

TILE = 16
"""Threads of a block along x and y in stages 1 to 3."""

MAPS, PIXELS, THREADS = 16, 64, 64
"""Output maps and pixels that a block of stage 4 computes, with so many threads."""

COPYING = 256
"""Threads of a block that unrolls."""

BATCH = 10_000
"""Images that times are predicted for, as in the course's benchmark."""

WALKED = 24
"""Images of which every block is walked: as many groups of 1, 2, 3, 4, 6, 8, 12 or 24 fill them."""

C1_LIMITS = {"basic": 670, "a third": 425, "two thirds": 272, "specialised": 173}
C3_LIMITS = {"basic": 920, "a third": 680, "two thirds": 500, "specialised": 370}
"""Microseconds for `BATCH` images to be below: what is predicted for the key's basic kernel and for its special one,
and two between them, in steps of equal factors."""


def tiled(kernel, x, masks):
    """Launch a kernel and return (B, M, H_out, W_out) results, by a block a tile of 16 x 16 of one map of one image.

    Of the masks only the shape is used. Errors as the kernel's. Source: the course's own.
    """
    B, M, H_out, W_out = shape = results(x, masks.shape[0], masks.shape[2])
    y = output(shape)
    kernel[(M, up(H_out, TILE) * up(W_out, TILE), B), (TILE, TILE)](x, y)
    return y


def unroll(kernel, x, K):
    """Launch a kernel and return (B, C K K, H_out W_out) elements, one by a thread.

    Errors as the kernel's. Source: the course's own.
    """
    B, _, H_out, W_out = results(x, 1, K)
    cols = output((B, x.shape[1] * K * K, H_out * W_out))
    kernel[up(cols.size, COPYING), COPYING](x, K, cols)
    return cols


def product(kernel, rows, cols):
    """Launch a kernel and return (B, M, P) products, by a block a tile of 16 x 16 of one image.

    Errors as the kernel's. Source: the course's own.
    """
    (B, _, P), M = cols.shape, rows.shape[0]
    y = output((B, M, P))
    kernel[(up(P, TILE), up(M, TILE), B), (TILE, TILE)](rows, cols, y)
    return y


def implicit(kernel, x, rows, K):
    """Launch a kernel and return (B, M, H_out, W_out) results, by a block a tile of 16 maps x 16 pixels of one image.

    Errors as the kernel's. Source: the course's own.
    """
    B, M, H_out, W_out = shape = results(x, rows.shape[0], K)
    y = output(shape)
    kernel[(up(H_out * W_out, TILE), up(M, TILE), B), (TILE, TILE)](x, rows, K, y)
    return y


def joint(kernel, x, rows, K):
    """Launch a kernel and return (B, M, H_out, W_out) results, by 64 threads a tile of 16 maps x 64 pixels of an image.

    Errors as the kernel's. Source: the course's own.
    """
    B, M, H_out, W_out = shape = results(x, rows.shape[0], K)
    y = output(shape)
    kernel[(up(H_out * W_out, PIXELS), up(M, MAPS), B), THREADS](x, rows, K, y)
    return y


def free(kernel, x, w, most):
    """Launch a kernel as its own function says and return (B, M, H_out, W_out) results; `most` is for the budget.

    Errors as the kernel's. Source: the course's own.
    """
    y = output(results(x, w.shape[0], w.shape[2]))
    grid, block = kernel.own_launch(x.shape[0])
    kernel[grid, block](x, w, y)
    return y


def results(x, M, K):
    """Return the shape (B, M, H_out, W_out) of a convolution of x (B, C, H, W) with M masks of K x K. No errors.

    Source: the course's own.
    """
    B, _, H, W = x.shape
    return B, M, H - K + 1, W - K + 1
