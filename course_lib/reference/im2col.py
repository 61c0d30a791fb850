"""Unrolling: every window of an image becomes a column of a matrix (im2col), and back (col2im).

Source: K, "Im2Col Operation"; H, "Reorganize Input X for Matrix Multiplication" and "Analyzing the
Amount of Input Replication". A pixel is copied once for each window that contains it.
"""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from course_lib.reference.conv_sizes import output_size, pair
from course_lib.validate import as_float


def im2col(x, mask, stride=1, pad=0):
    """Return the unrolled input, (B, C K_h K_w, H_out W_out): one column for each place of the mask.

    Parameters
    ----------
    x : (B, C, H, W) array
    mask, stride, pad : int or pair (rows, columns)

    Raises
    ------
    TypeError, ValueError
        If x has other axes, or the mask does not fit.

    Source: K, "Im2Col Operation"; H, "Matrix Multiplication for a Convolution Layer".
    """
    x, mask = as_float("x", x, ndim=4, min_rows=1), pair(mask, "mask")
    windows = sliding_windows(x, mask, pair(stride, "stride"), pair(pad, "pad", minimum=0))
    B, C, H_out, W_out, K_h, K_w = windows.shape
    # Reordering a view makes the copy: this line is the unrolling, and what it costs.
    return windows.transpose(0, 1, 4, 5, 2, 3).reshape(B, C * K_h * K_w, H_out * W_out)


def col2im(cols, shape, mask, stride=1, pad=0):
    """Add every column of `cols` back to the pixels it was copied from: the transpose of `im2col`.

    Parameters
    ----------
    cols : (B, C K_h K_w, H_out W_out) array
    shape : (B, C, H, W)
        Shape of the image.
    mask, stride, pad : int or pair (rows, columns)

    Returns
    -------
    (B, C, H, W) array
        A pixel that stood in n columns receives the sum of n numbers, one that no window saw is 0.

    Raises
    ------
    TypeError, ValueError
        If the sizes do not belong together.

    Source: H, "Calculating dE/dX".
    """
    cols = as_float("cols", cols, ndim=3)
    B, C, H, W = shape
    (K_h, K_w), (s_h, s_w), (p_h, p_w) = pair(mask, "mask"), pair(stride, "stride"), pair(pad, "pad", minimum=0)
    H_out = output_size(H, K_h, s_h, p_h, name="H")
    W_out = output_size(W, K_w, s_w, p_w, name="W")
    if cols.shape != (B, C * K_h * K_w, H_out * W_out):
        raise ValueError(
            f"cols is {cols.shape}; unrolling {tuple(shape)} with mask {(K_h, K_w)}, stride {(s_h, s_w)} and "
            f"pad {(p_h, p_w)} gives {(B, C * K_h * K_w, H_out * W_out)}."
        )
    cols = cols.reshape(B, C, K_h, K_w, H_out, W_out)
    image = np.zeros((B, C, H + 2 * p_h, W + 2 * p_w), dtype=cols.dtype)
    for p in range(K_h):  # one mask position at a time: its windows never overlap, so += loses nothing
        for q in range(K_w):
            rows, columns = slice(p, p + s_h * H_out, s_h), slice(q, q + s_w * W_out, s_w)
            image[:, :, rows, columns] += cols[:, :, p, q]
    return image[:, :, p_h : p_h + H, p_w : p_w + W]


def replication(x_shape, mask, stride=1, pad=0):
    """Return the number of unrolled elements divided by the number of elements of x (B, C, H, W).

    Raises TypeError or ValueError as `im2col`. Source: H, "Analyzing the Amount of Input Replication".
    """
    _, C, H, W = x_shape
    (K_h, K_w), (s_h, s_w), (p_h, p_w) = pair(mask, "mask"), pair(stride, "stride"), pair(pad, "pad", minimum=0)
    places = output_size(H, K_h, s_h, p_h, name="H") * output_size(W, K_w, s_w, p_w, name="W")
    return C * K_h * K_w * places / (C * H * W)


def sliding_windows(x, mask, stride, pad):
    """Return a view (B, C, H_out, W_out, K_h, K_w) of every window of x: no pixel is copied but the padding.

    x (B, C, H, W); mask, stride and pad are pairs. ValueError if the mask does not fit.
    Source: K, "Convolution Layer" (the mask slides over the image).
    """
    (K_h, K_w), (s_h, s_w), (p_h, p_w) = mask, stride, pad
    output_size(x.shape[2], K_h, s_h, p_h, name="H")
    output_size(x.shape[3], K_w, s_w, p_w, name="W")
    if p_h or p_w:
        x = np.pad(x, ((0, 0), (0, 0), (p_h, p_h), (p_w, p_w)))
    return sliding_window_view(x, (K_h, K_w), axis=(2, 3))[:, :, ::s_h, ::s_w]
