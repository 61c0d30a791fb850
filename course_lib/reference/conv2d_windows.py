"""Convolution, vectorised: all windows as one view, and one sum over channel and mask.

The formula in one line of NumPy, y[b, m, h, v] = sum over c, p, q of windows[b, c, h, v, p, q] w[m, c, p, q],
and the same line for images of one and of three dimensions, as in H's table of inputs.

Source: H, "Sequential Code: Forward Convolutional Layer" and "Example Convolution Inputs".
"""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from course_lib.reference.conv2d_check import check_conv2d, check_upstream
from course_lib.reference.conv_sizes import output_size
from course_lib.reference.im2col import sliding_windows
from course_lib.validate import as_float, require_count


def conv2d_forward_windows(x, w, b=None, stride=1, pad=0):
    """Return (y, cache) for x (B, C, H, W), w (M, C, K_h, K_w), b (M,): y (B, M, H_out, W_out).

    ValueError as `conv2d_forward`. Source: H, "Sequential Code: Forward Convolutional Layer".
    """
    x, w, b, stride, pad, _ = check_conv2d(x, w, b, stride, pad)
    y = np.einsum("bchvpq,mcpq->bmhv", sliding_windows(x, w.shape[2:], stride, pad), w, optimize=True)
    if b is not None:
        y = y + b[:, None, None]
    return y, (x, w, b is not None, stride, pad)


def conv2d_backward_windows(dy, cache):
    """Return (dx, dw, db), the two gradients as convolutions; shapes of x, w, b.

    dw: the input's windows, weighted by dy. dx: a full convolution of dy, spread out by the stride, with
    the mask turned by 180 degrees. ValueError if dy (B, M, H_out, W_out) does not have the shape of y.
    Source: H, "Back-propagation dE/dX for a convolutional layer".
    """
    x, w, has_bias, (s_h, s_w), (p_h, p_w) = cache
    dy = check_upstream(dy, x.shape, w.shape, (s_h, s_w), (p_h, p_w))
    windows = sliding_windows(x, w.shape[2:], (s_h, s_w), (p_h, p_w))
    dw = np.einsum("bmhv,bchvpq->mcpq", dy, windows, optimize=True)
    B, M, H_out, W_out = dy.shape
    K_h, K_w = w.shape[2:]
    H, W = x.shape[2] + 2 * p_h, x.shape[3] + 2 * p_w  # the padded image
    spread = np.zeros((B, M, H + K_h - 1, W + K_w - 1), dtype=dy.dtype)
    spread[:, :, K_h - 1 : K_h - 1 + s_h * H_out : s_h, K_w - 1 : K_w - 1 + s_w * W_out : s_w] = dy
    flipped = w[:, :, ::-1, ::-1]
    dx = np.einsum("bmhvpq,mcpq->bchv", sliding_windows(spread, (K_h, K_w), (1, 1), (0, 0)), flipped, optimize=True)
    dx = dx[:, :, p_h : p_h + x.shape[2], p_w : p_w + x.shape[3]]
    return dx, dw, dy.sum(axis=(0, 2, 3)) if has_bias else None


def conv1d_forward(x, w, b=None, stride=1, pad=0):
    """Return (y, cache) for signals x (B, C, L), w (M, C, K), b (M,): y (B, M, L_out).

    ValueError if shapes do not fit. Source: H, "Example Convolution Inputs" (audio, skeleton data).
    """
    return _convnd_forward(x, w, b, stride, pad, "L")


def conv1d_backward(dy, cache):
    """Return (dx, dw, db) of the shapes of x, w, b for dy (B, M, L_out), else ValueError. Source: H."""
    return _convnd_backward(dy, cache)


def conv3d_forward(x, w, b=None, stride=1, pad=0):
    """Return (y, cache) for volumes x (B, C, D, H, W), w (M, C, K_d, K_h, K_w), b (M,): y (B, M, D_out, H_out, W_out).

    ValueError if shapes do not fit. Source: H, "Example Convolution Inputs" (medical images, video).
    """
    return _convnd_forward(x, w, b, stride, pad, "DHW")


def conv3d_backward(dy, cache):
    """Return (dx, dw, db) of the shapes of x, w, b for dy (B, M, D_out, H_out, W_out), else ValueError. Source: H."""
    return _convnd_backward(dy, cache)


def _convnd_forward(x, w, b, stride, pad, axes):
    n = len(axes)
    x, w = as_float("x", x, ndim=n + 2, min_rows=1), as_float("w", w, ndim=n + 2)
    stride, pad = require_count("stride", stride), require_count("pad", pad, minimum=0)
    if x.shape[1] != w.shape[1]:
        raise ValueError(f"x is {x.shape} and w is {w.shape}; x.shape[1] must equal w.shape[1], the input maps.")
    for size, mask, name in zip(x.shape[2:], w.shape[2:], axes, strict=True):
        output_size(size, mask, stride, pad, name=name)
    y = np.einsum(_formula("bc{o}{k},mc{k}->bm{o}", n), _windows(x, w.shape[2:], stride, pad), w, optimize=True)
    if b is not None:
        b = as_float("b", b, ndim=1)
        if b.shape[0] != w.shape[0]:
            raise ValueError(
                f"w is {w.shape} and b is {b.shape}; b must hold one number for each output map, w.shape[0]."
            )
        y = y + b.reshape(-1, *[1] * n)
    return y, (x, w, b is not None, stride, pad)


def _convnd_backward(dy, cache):
    x, w, has_bias, stride, pad = cache
    n, masks = x.ndim - 2, w.shape[2:]
    places = tuple(1 + (s - k + 2 * pad) // stride for s, k in zip(x.shape[2:], masks, strict=True))
    dy = as_float("dy", dy, ndim=n + 2)
    if dy.shape != (x.shape[0], w.shape[0], *places):
        raise ValueError(f"dy is {dy.shape}; it must have the shape of y, {(x.shape[0], w.shape[0], *places)}.")
    dw = np.einsum(_formula("bm{o},bc{o}{k}->mc{k}", n), dy, _windows(x, masks, stride, pad), optimize=True)
    full = [s + 2 * pad + k - 1 for s, k in zip(x.shape[2:], masks, strict=True)]
    spread = np.zeros((*dy.shape[:2], *full), dtype=dy.dtype)
    at = tuple(slice(k - 1, k - 1 + stride * o, stride) for k, o in zip(masks, places, strict=True))
    spread[(slice(None), slice(None), *at)] = dy
    flipped = np.flip(w, axis=tuple(range(2, 2 + n)))
    dx = np.einsum(_formula("bm{o}{k},mc{k}->bc{o}", n), _windows(spread, masks, 1, 0), flipped, optimize=True)
    inside = tuple(slice(pad, pad + s) for s in x.shape[2:])
    return dx[(slice(None), slice(None), *inside)], dw, dy.sum(axis=(0, *range(2, 2 + n))) if has_bias else None


def _windows(x, masks, stride, pad):
    """The view of all windows for any number of image axes: (B, C, places..., masks...)."""
    n = len(masks)
    x = np.pad(x, [(0, 0), (0, 0)] + [(pad, pad)] * n)
    every = slice(None, None, stride)
    return sliding_window_view(x, masks, axis=tuple(range(2, 2 + n)))[(slice(None), slice(None), *[every] * n)]


def _formula(text, n):
    """Fill in one letter for each place axis {o} and each mask axis {k}."""
    return text.format(o="xyz"[:n], k="pqr"[:n])
