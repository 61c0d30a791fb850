"""Unrolling on the device: every window of an image becomes a column of a matrix (im2col), and back (col2im).

`course_lib.reference.im2col`'s names, for float32 device arrays. Both are written from the side of the result. In
im2col a thread copies one window of one input map, K_h K_w numbers of a column: it works out once where the window
begins, and walks through it. (The convolution ladder's v03 gives each number a thread: as many requests, and many times
the divisions.) col2im gathers what belongs to its pixel, in a fixed order, so no two threads add to one place.

Source: K, "Im2Col Operation" and its kernel; H, "Reorganize Input X for Matrix Multiplication", "Calculating dE/dX".
"""

import numpy as np

from course_lib.cuda.device import empty
from course_lib.cuda.elementwise import flat
from course_lib.cuda.jit import jit
from course_lib.cuda.numba_cuda import cuda, float32
from course_lib.cuda.operands import operand
from course_lib.reference.conv_sizes import output_size, pair

THREADS = 256
"""Threads of a block."""


def im2col(x, mask, stride=1, pad=0):
    """Return the unrolled input, (B, C K_h K_w, H_out W_out): one column for each place of the mask.

    Parameters
    ----------
    x : (B, C, H, W) float32 device array
    mask, stride, pad : int or pair (rows, columns)

    Raises
    ------
    TypeError, ValueError
        If x is not a float32 device array, has other axes, or the mask does not fit.

    Source: K, "Im2Col Operation"; H, "Matrix Multiplication for a Convolution Layer".
    """
    x = operand("x", x, ndim=4)
    sizes, (rows, places) = unrolled_sizes(x.shape, mask, stride, pad)
    cols = empty((x.shape[0], rows, places), np.float32)
    _im2col[-(-x.shape[0] * x.shape[1] * places // THREADS), THREADS](x, *sizes, cols)
    return cols


def col2im(cols, shape, mask, stride=1, pad=0):
    """Add every column of `cols` back to the pixels it was copied from: the transpose of `im2col`.

    Parameters
    ----------
    cols : (B, C K_h K_w, H_out W_out) float32 device array
    shape : (B, C, H, W)
    mask, stride, pad : int or pair (rows, columns)

    Returns
    -------
    (B, C, H, W) device array

    Raises
    ------
    TypeError, ValueError
        If cols is not a float32 device array, or the sizes do not belong together.

    Source: H, "Calculating dE/dX".
    """
    cols = operand("cols", cols, ndim=3)
    sizes, (rows, places) = unrolled_sizes(shape, mask, stride, pad)
    if tuple(cols.shape) != (shape[0], rows, places):
        raise ValueError(
            f"cols is {tuple(cols.shape)}; unrolling {tuple(shape)} with mask {pair(mask, 'mask')}, stride "
            f"{pair(stride, 'stride')} and pad {pair(pad, 'pad', minimum=0)} gives {(shape[0], rows, places)}."
        )
    x = empty(tuple(shape), np.float32)
    _col2im[-(-x.size // THREADS), THREADS](flat(cols), *sizes, x)
    return x


def unrolled_sizes(shape, mask, stride, pad):
    """Return ((K_h, K_w, s_h, s_w, p_h, p_w, H_out, W_out), (rows, columns) of the unrolled matrix).

    Errors: TypeError and ValueError as `output_size` and `pair`. Source: K, "Im2Col Operation".
    """
    (K_h, K_w), (s_h, s_w), (p_h, p_w) = pair(mask, "mask"), pair(stride, "stride"), pair(pad, "pad", minimum=0)
    H_out = output_size(shape[2], K_h, s_h, p_h, name="H")
    W_out = output_size(shape[3], K_w, s_w, p_w, name="W")
    return (K_h, K_w, s_h, s_w, p_h, p_w, H_out, W_out), (shape[1] * K_h * K_w, H_out * W_out)


@jit(cache=True)
def _im2col(x, K_h, K_w, s_h, s_w, p_h, p_w, H_out, W_out, cols):
    i = cuda.grid(1)
    C, places = x.shape[1], H_out * W_out
    if i < cols.shape[0] * C * places:
        image, c, place = i // (C * places), i // places % C, i % places  # neighbours in a warp store neighbours
        top, left = place // W_out * s_h - p_h, place % W_out * s_w - p_w
        for p in range(K_h):
            for q in range(K_w):
                row, column = top + p, left + q
                seen = float32(0)  # the padding
                if 0 <= row < x.shape[2] and 0 <= column < x.shape[3]:
                    seen = x[image, c, row, column]
                cols[image, (c * K_h + p) * K_w + q, place] = seen


@jit(cache=True)
def _col2im(cols, K_h, K_w, s_h, s_w, p_h, p_w, H_out, W_out, x):
    i = cuda.grid(1)
    if i < x.size:
        H, W = x.shape[2], x.shape[3]
        plane, row, column = i // (H * W), i // W % H, i % W
        total = float32(0)
        for p in range(K_h):
            h = row + p_h - p  # the window's first row, if the stride leads there
            for q in range(K_w):
                v = column + p_w - q
                if h >= 0 and v >= 0 and h % s_h == 0 and v % s_w == 0 and h // s_h < H_out and v // s_w < W_out:
                    total += cols[((plane * K_h + p) * K_w + q) * H_out * W_out + h // s_h * W_out + v // s_w]
        x[plane // x.shape[1], plane % x.shape[1], row, column] = total
