"""The convolution layer as matrix products: unroll, multiply, fold back. The library's default.

    y  = w_rows @ cols            (M, C K_h K_w) @ (C K_h K_w, B H_out W_out)
    dw = dy_rows @ cols^T
    dx = fold(w_rows^T @ dy_rows)

`cols` is `im2col` of all images side by side, so that a layer is one product, not one for each image.
Unrolling copies a pixel up to K_h K_w times, so it is done for a few images, or a few rows of one
large image, at a time: `BLOCK` bounds the copy whatever the batch.

Source: H, "Matrix Multiplication for a Convolution Layer"; K, "Convolution and Matrix Multiplication".
"""

import numpy as np

from course_lib.reference.conv2d_check import check_conv2d, check_upstream
from course_lib.reference.im2col import sliding_windows

BLOCK = 4_000_000
"""Most numbers that are unrolled at once (16 MB in float32)."""


def conv2d_forward(x, w, b=None, stride=1, pad=0):
    """Return (y, cache) with y[b, m, h, v] = b[m] + sum over c, p, q of x[b, c, h S + p, v S + q] w[m, c, p, q].

    Parameters
    ----------
    x : (B, C, H, W) array, B >= 1
        Images of C maps.
    w : (M, C, K_h, K_w) array
        One mask for each pair of output and input map.
    b : (M,) array, optional
    stride, pad : int or pair (rows, columns)
        Zeros are added on both sides.

    Returns
    -------
    y : (B, M, H_out, W_out) array
        H_out = 1 + floor((H - K_h + 2 pad) / stride), W_out alike.
    cache : tuple
        What `conv2d_backward` needs; the unrolled matrix is not kept.

    Raises
    ------
    TypeError
        If values are not real numbers, or sizes not whole numbers.
    ValueError
        If the batch is empty, channels differ, or the mask fits nowhere.

    Source: H, "Sequential Code: Forward Convolutional Layer"; K, "Convolution Layer: Spatial Transformations".
    """
    x, w, b, stride, pad, (H_out, W_out) = check_conv2d(x, w, b, stride, pad)
    B, M = x.shape[0], w.shape[0]
    padded, rows = _pad(x, pad), w.reshape(M, -1)
    y = np.empty((B, M, H_out, W_out), dtype=np.result_type(x, w))
    for images, lines in _blocks(B, H_out, rows.shape[1] * W_out):
        cols = _unroll(_window_rows(padded[images], lines, stride, w), w.shape[2:], stride)
        block = (rows @ cols).reshape(M, -1, lines.stop - lines.start, W_out)
        y[images, :, lines] = block.transpose(1, 0, 2, 3)
    if b is not None:
        y += b[:, None, None]
    return y, (x, w, b is not None, stride, pad)


def conv2d_backward(dy, cache, need_dx=True):
    """Return (dx, dw, db), each of the shape of x, w, b; db is None where there was no b.

    Parameters
    ----------
    dy : (B, M, H_out, W_out) array
        dE/dy.
    cache : tuple
        From `conv2d_forward`.
    need_dx : bool
        False leaves dx out (it is None then): the first layer of a network has nobody to hand it to.

    Raises
    ------
    ValueError
        If dy does not have the shape of y.

    Source: H, "Calculating dE/dW" and "Calculating dE/dX".
    """
    x, w, has_bias, stride, pad = cache
    dy = check_upstream(dy, x.shape, w.shape, stride, pad)
    B, M, H_out, W_out = dy.shape
    padded, rows = _pad(x, pad), w.reshape(M, -1)
    drows = np.zeros(rows.shape, np.result_type(dy, x))
    dpadded = np.zeros_like(padded, dtype=np.result_type(dy, w)) if need_dx else None
    for images, lines in _blocks(B, H_out, rows.shape[1] * W_out):
        seen = _window_rows(padded[images], lines, stride, w)
        dy_rows = dy[images, :, lines].transpose(1, 0, 2, 3).reshape(M, -1)
        drows += dy_rows @ _unroll(seen, w.shape[2:], stride).T
        if not need_dx:
            continue
        # Neighbouring blocks of rows share pixels at the seam, and _fold adds to what is there.
        places = (seen.shape[0], lines.stop - lines.start, W_out)
        _fold(rows.T @ dy_rows, _window_rows(dpadded[images], lines, stride, w), places, w.shape[2:], stride)
    (p_h, p_w), (_, _, H, W) = pad, x.shape
    dx = dpadded[:, :, p_h : p_h + H, p_w : p_w + W] if need_dx else None
    return dx, drows.reshape(w.shape), dy.sum(axis=(0, 2, 3)) if has_bias else None


def _pad(x, pad):
    return np.pad(x, ((0, 0), (0, 0), (pad[0], pad[0]), (pad[1], pad[1]))) if any(pad) else x


def _unroll(x, mask, stride):
    """Return the windows of x (B, C, H, W) as columns (C K_h K_w, B H_out W_out): this copy is the unrolling."""
    windows = sliding_windows(x, mask, stride, (0, 0))  # (B, C, H_out, W_out, K_h, K_w)
    return windows.transpose(1, 4, 5, 0, 2, 3).reshape(x.shape[1] * mask[0] * mask[1], -1)


def _fold(cols, dx, places, mask, stride):
    """Add columns (C K_h K_w, B H_out W_out) to the pixels of dx (B, C, H, W) that they were copied from."""
    B, H_out, W_out = places
    cols = cols.reshape(dx.shape[1], *mask, B, H_out, W_out)
    for p in range(mask[0]):  # one mask position at a time: its windows never overlap, so += loses nothing
        for q in range(mask[1]):
            rows, columns = slice(p, p + stride[0] * H_out, stride[0]), slice(q, q + stride[1] * W_out, stride[1])
            dx[:, :, rows, columns] += cols[:, p, q].transpose(1, 0, 2, 3)


def _window_rows(padded, lines, stride, w):
    """The input rows that the output rows `lines` look at, as a view."""
    return padded[:, :, lines.start * stride[0] : (lines.stop - 1) * stride[0] + w.shape[2]]


def _blocks(B, H_out, numbers_a_row):
    """Cut the work into pairs (slice of images, slice of output rows) of at most BLOCK unrolled numbers."""
    rows = min(H_out, max(1, BLOCK // numbers_a_row))
    images = max(1, BLOCK // (numbers_a_row * H_out)) if rows == H_out else 1
    for b in range(0, B, images):
        for h in range(0, H_out, rows):
            yield slice(b, min(b + images, B)), slice(h, min(h + rows, H_out))
