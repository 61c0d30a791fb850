"""How the kernels of lesson 15 are launched to be judged; no right value is computed here, students get it.

Source: the course's own.
"""

from course_lib.checks.exercises.kernel_inputs import up
from course_lib.checks.kernels import output

BASIC, TILE, SPAN = 4, 8, 64
"""Threads of a block along each side: of the basic kernel, of tiles in shared memory; and of sums of neighbours."""

C1_OUT, C1_MAPS, C1_ROWS, C1_THREADS = 28, 6, 4, 128
"""LeNet-5's C1: outputs along each side, output maps; rows of outputs of a block, and its threads."""


def basic(kernel, x, w):
    """Launch a kernel and return (B, M, H_out, W_out) results, by a block a tile of 4 x 4.

    Errors as the kernel's. Source: the course's own.
    """
    B, _, H, W = x.shape
    M, _, K, _ = w.shape
    rows, columns = H - K + 1, W - K + 1
    y = output((B, M, rows, columns))
    kernel[(M, up(rows, BASIC) * up(columns, BASIC), B), (BASIC, BASIC)](x, w, y)
    return y


def smooth(kernel, x):
    """Launch a kernel and return (N,) sums, by blocks of 64.

    Errors as the kernel's. Source: the course's own.
    """
    y = output(x.size)
    kernel[up(x.size, SPAN), SPAN](x, y)
    return y


def tiles_of(x, K):
    """Return how many tiles of 8 x 8 outputs a map has, for x (C, H, W). No errors. Source: the course's own."""
    return up(x.shape[1] - K + 1, TILE) * up(x.shape[2] - K + 1, TILE)


def constant_masks(kernel, x, masks):
    """Launch a kernel and return (M, H_out, W_out) results, by a block a tile of 8 x 8 of one map.

    Only the shape of the masks is used: the kernel has them from outside. Errors as the kernel's.
    Source: the course's own.
    """
    M, _, K, _ = masks.shape
    y = output((M, x.shape[1] - K + 1, x.shape[2] - K + 1))
    kernel[(M, tiles_of(x, K)), (TILE, TILE)](x, y)
    return y


def unroll(kernel, x, K):
    """Launch a kernel and return (C K K, H_out W_out) results, by two blocks of 64 threads or three.

    Errors as the kernel's. Source: the course's own.
    """
    C, H, W = x.shape
    cols = output((C * K * K, (H - K + 1) * (W - K + 1)))
    kernel[3 if W % 2 else 2, 64](x, K, cols)  # no step that is a constant is right for both
    return cols


def implicit(kernel, x, rows, K):
    """Launch a kernel and return (M, H_out, W_out) results, by a block a tile of 8 maps and 8 pixels.

    Errors as the kernel's. Source: the course's own.
    """
    y = output((rows.shape[0], x.shape[1] - K + 1, x.shape[2] - K + 1))
    kernel[(up(y.shape[1] * y.shape[2], TILE), up(y.shape[0], TILE)), (TILE, TILE)](x, rows, K, y)
    return y


def c1(kernel, x, masks):
    """Launch a kernel and return (B, 6, 28, 28) results, by 7 blocks of 128 threads an image.

    The kernel has the masks from outside. Errors as the kernel's. Source: Hwu, "Block Organization for LeNet-5 C1
    Layer".
    """
    y = output((x.shape[0], C1_MAPS, C1_OUT, C1_OUT))
    kernel[(C1_OUT // C1_ROWS, x.shape[0]), C1_THREADS](x, y)
    return y


def input_gradient(kernel, dy, w):
    """Launch a kernel and return (C, H, W) results, by a block a tile of 8 x 8 of one input map.

    Errors as the kernel's. Source: the course's own.
    """
    _, C, K, _ = w.shape
    H, W = dy.shape[1] + K - 1, dy.shape[2] + K - 1
    dx = output((C, H, W))
    kernel[(up(W, TILE), up(H, TILE), C), (TILE, TILE)](dy, w, dx)
    return dx
