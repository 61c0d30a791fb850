"""Unrolling with a thread for each number of the matrix, to compare with `columns.im2col`, where it has a window.

Here every thread works out the address of one number, and divides several times for it. Neighbouring threads take
neighbouring places in both, so each step of a warp reads 32 pixels side by side and writes 32 numbers of one row: the
requests are the same. An H200 unrolls C1 of LeNet-5 for 10,000 images in 3,754 µs by numbers and in 472 by windows
(results/lessons.h200.json).

Source: K, "Im2Col Operation" and its kernel, which goes by windows; the course's own.
"""

import numpy as np

from course_lib.cuda.columns import THREADS, unrolled_sizes
from course_lib.cuda.device import empty
from course_lib.cuda.jit import jit
from course_lib.cuda.numba_cuda import cuda, float32
from course_lib.cuda.operands import operand


@jit(cache=True)
def _im2col_by_elements(x, K_h, K_w, s_h, s_w, p_h, p_w, H_out, W_out, cols):
    i = cuda.grid(1)
    if i < cols.size:
        rows, places = cols.shape[1], cols.shape[2]
        image, r, place = i // (rows * places), i // places % rows, i % places
        c, p, q = r // (K_h * K_w), r // K_w % K_h, r % K_w
        row, column = place // W_out * s_h + p - p_h, place % W_out * s_w + q - p_w
        seen = float32(0)  # the padding
        if 0 <= row < x.shape[2] and 0 <= column < x.shape[3]:
            seen = x[image, c, row, column]
        cols[image, r, place] = seen


def im2col_by_elements(x, mask, stride=1, pad=0):
    """Return the unrolled input, (B, C K_h K_w, H_out W_out), as `columns.im2col` does: another mapping to threads.

    Parameters
    ----------
    x : (B, C, H, W) float32 device array
    mask, stride, pad : int or pair (rows, columns)

    Raises
    ------
    TypeError, ValueError
        If x is not a float32 device array, has other axes, or the mask does not fit.

    Source: K, "Im2Col Operation".
    """
    x = operand("x", x, ndim=4)
    sizes, (rows, places) = unrolled_sizes(x.shape, mask, stride, pad)
    cols = empty((x.shape[0], rows, places), np.float32)
    _im2col_by_elements[-(-cols.size // THREADS), THREADS](x, *sizes, cols)
    return cols


def traffic(shape, mask):
    """Return what the executor counts for either mapping: x (B, C, H, W), stride 1, no padding, a mask (K_h, K_w).

    The matrix has B C K_h K_w places numbers; each is read and written once, by warps of 32 neighbours. Exact where
    32 divides the places: else the last warp of a row, and with windows of a map, goes on in the next one.

    No errors. Source: the course's own.
    """
    (B, C, H, W), (K_h, K_w) = shape, mask
    numbers = B * C * K_h * K_w * (H - K_h + 1) * (W - K_w + 1)
    return {
        "global_load_requests": numbers // 32,
        "global_load_bytes": 4 * numbers,
        "global_store_requests": numbers // 32,
        "global_store_sectors": numbers // 8,
        "global_store_bytes": 4 * numbers,
    }


def threads(shape, mask):
    """Return {"a number each": threads, "a window each": threads} that unroll x (B, C, H, W), stride 1, no padding.

    No errors. Source: the course's own.
    """
    (B, C, H, W), (K_h, K_w) = shape, mask
    windows = B * C * (H - K_h + 1) * (W - K_w + 1)
    return {"a number each": windows * K_h * K_w, "a window each": windows}
