"""The convolution layer without unrolling: `course_lib.reference.conv2d`'s functions, for speed.

Source: H, "Sequential Code: Forward Convolutional Layer"; K, "Convolution Layer: Spatial Transformations".
Images are turned so that the image number counts fastest (`layout`), then `conv2d_kernels` does the sums.
Where the mask covers the whole image there is one place, and the layer is a matrix product (LeNet-5's C5).
"""

import numpy as np

from course_lib.fast import conv2d_kernels
from course_lib.fast.layout import empty, images_first, images_last
from course_lib.fast.products import product
from course_lib.fast.threads import share
from course_lib.reference.conv2d_check import check_conv2d, check_upstream


def conv2d_forward(x, w, b=None, stride=1, pad=0):
    """Return (y, cache) as `reference.conv2d_forward`: x (B, C, H, W), w (M, C, K_h, K_w), y (B, M, H_out, W_out).

    Raises TypeError and ValueError as there. In memory the images of y lie side by side.
    Source: H, "Sequential Code: Forward Convolutional Layer".
    """
    x, w, b, stride, pad, (H_out, W_out) = check_conv2d(x, w, b, stride, pad)
    dtype, M, B = np.result_type(x, w), w.shape[0], x.shape[0]
    images = _pad(images_last(x.astype(dtype, copy=False)), pad)
    w = w.astype(dtype, copy=False)
    if _one_place(images, w):
        y = product(w.reshape(M, -1), images.reshape(-1, B))
        if b is not None:
            y += b[:, None]
        y = y.reshape(M, 1, 1, B)
    else:
        # The kernel takes maps in pairs: an odd last one gets a partner of zeros.
        y = empty((_even(M), H_out, W_out, B), dtype)
        bias = _rows(np.zeros(M) if b is None else b, _even(M), dtype)
        work = w.size * H_out * W_out * B
        units = _even(M) // 2 * H_out
        share(conv2d_kernels.forward, units, work, images, _rows(w, _even(M), dtype), bias, y, stride)
    return images_first(y[:M]), (images, w, b is not None, stride, pad, x.shape)


def conv2d_backward(dy, cache, need_dx=True):
    """Return (dx, dw, db) as `reference.conv2d_backward`, of the shapes of x, w, b, for dy (B, M, H_out, W_out).

    Raises ValueError if dy does not have the shape of y.
    Source: H, "Calculating dE/dW" and "Calculating dE/dX".
    """
    images, w, has_bias, stride, pad, shape = cache
    dy = images_last(check_upstream(dy, shape, w.shape, stride, pad))
    (M, H_out, W_out, B), (_, C, H, W) = dy.shape, shape
    db = dy.reshape(M, -1).sum(axis=1) if has_bias else None
    dtype = np.result_type(dy, w)
    images, w, dy = (a.astype(dtype, copy=False) for a in (images, w, dy))
    if _one_place(images, w):
        rows, dx = dy.reshape(M, B), None
        dw = product(rows, images.reshape(-1, B).T).reshape(w.shape)
        if need_dx:
            dx = product(w.reshape(M, -1).T, rows).reshape(images.shape)
            dx = images_first(dx[:, pad[0] : pad[0] + H, pad[1] : pad[1] + W])
        return dx, dw, db
    work = w.size * H_out * W_out * B
    dw = np.empty((_even(M), *w.shape[1:]), w.dtype)
    units = _even(M) // 2 * -(-w[0].size // conv2d_kernels.TAPS)
    share(conv2d_kernels.weight_gradient, units, work, images, dy, dw, stride)
    if not need_dx:
        return None, dw[:M], db
    dx = empty((_even(C), H, W, B), w.dtype)
    turned = _rows(w.transpose(1, 2, 3, 0), _even(C), w.dtype)
    share(conv2d_kernels.input_gradient, _even(C) // 2 * H, work, dy, turned, dx, stride, pad)
    return images_first(dx[:C]), dw[:M], db


def _even(n):
    return n + n % 2


def _rows(array, rows, dtype):
    """`array`, contiguous, with rows of zeros added up to `rows`."""
    if len(array) == rows:
        return np.ascontiguousarray(array, dtype=dtype)
    longer = np.zeros((rows, *array.shape[1:]), dtype)
    longer[: len(array)] = array
    return longer


def _pad(images, pad):
    """Zeros around images (C, H, W, B)."""
    if not any(pad):
        return images
    C, H, W, B = images.shape
    padded = empty((C, H + 2 * pad[0], W + 2 * pad[1], B), images.dtype)
    padded[...] = 0
    padded[:, pad[0] : pad[0] + H, pad[1] : pad[1] + W] = images
    return padded


def _one_place(images, w):
    return images.shape[1:3] == w.shape[2:]
