"""How the kernels of the GPU warm-up are launched to be judged; no right value is computed here, students get it.

Source: the course's own.
"""

from course_lib.checks.exercises.kernel_inputs import up
from course_lib.checks.kernels import output

TILE, SPAN = 16, 64
"""Threads of a block: of the product along each side, of the smoothing in all."""


def product(kernel, A, B):
    """Launch a kernel and return (M, N) results, by a block a tile of 16 x 16.

    Errors as the kernel's. Source: the course's own.
    """
    C = output((A.shape[0], B.shape[1]))
    kernel[(up(B.shape[1], TILE), up(A.shape[0], TILE)), (TILE, TILE)](A, B, C)
    return C


def convolve(kernel, x, w):
    """Launch a kernel and return (B, M, H_out, W_out) results, by a block a tile of 4 x 4.

    Errors as the kernel's. Source: the course's own.
    """
    B, _, H, W = x.shape
    M, _, K, _ = w.shape
    y = output((B, M, H - K + 1, W - K + 1))
    kernel[(M, up(H - K + 1, 4) * up(W - K + 1, 4), B), (4, 4)](x, w, y)
    return y


def smooth(kernel, x):
    """Launch a kernel and return (N,) sums, by blocks of 64.

    Errors as the kernel's. Source: the course's own.
    """
    y = output(x.size)
    kernel[up(x.size, SPAN), SPAN](x, y)
    return y
