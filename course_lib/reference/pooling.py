"""Pooling: the largest value, or the mean, of every window of every map.

Source: K, "Pooling Layer" and "Pooling Kernel" (the winner index, K's argmax mask; the first of equal values wins);
O, "Max-Pooling"; H, "Subsampling Layers in LeNet-5" (an average with two trainable numbers a map).
"""

import numpy as np

from course_lib.reference.conv_sizes import output_size, pair
from course_lib.validate import as_float


def max_pool_forward(x, size=2, stride=None, pad=0):
    """Return (y, cache): the largest value of every window.

    Parameters
    ----------
    x : (B, C, H, W) array, B >= 1
    size : int or pair (rows, columns)
        F in the lecture.
    stride : int or pair, optional
        `size` unless given: windows side by side.
    pad : int or pair
        Rows and columns added outside; their value is -infinity, so that they never win.

    Returns
    -------
    y : (B, C, H_out, W_out) array
        H_out = 1 + floor((H - size + 2 pad) / stride).
    cache : tuple
        With the winner index: for each output the place of its value in the map, row * W + column; of
        equal values the first one, as in K's kernel.

    Raises
    ------
    TypeError, ValueError
        If axes or sizes do not fit, or the padding is so wide that a window sees nothing else.

    Source: K, "Pooling Layer: Spatial Transformations", "Pooling Kernel".
    """
    x, size, stride, pad = check_pool(x, size, stride, pad)
    W = x.shape[3]
    padded = np.pad(x, ((0, 0), (0, 0), (pad[0],) * 2, (pad[1],) * 2), constant_values=-np.inf) if any(pad) else x
    rows, columns = _places(padded.shape, size, stride)
    # One array for each position in the window; copied, because comparing neighbours in memory is much faster.
    seen = [values.copy() for values in _positions(padded, size, stride, rows, columns)]
    y = seen[0].copy()
    for values in seen[1:]:
        np.maximum(y, values, out=y)
    # The first position that holds the largest value is the number of positions before it that do not.
    odd = np.isnan(y).any()  # NaN is the largest of its window, and equals nothing
    before = np.ones(y.shape, dtype=bool)
    first = np.zeros(y.shape, dtype=np.uint8 if len(seen) < 256 else np.int64)
    for values in seen[:-1]:
        before &= ~((values == y) | np.isnan(values)) if odd else values != y
        first += before
    inside = (np.arange(size[0])[:, None] * W + np.arange(size[1])).ravel()  # from a window's corner to its positions
    corner = (np.arange(rows)[:, None] * stride[0] - pad[0]) * W + np.arange(columns) * stride[1] - pad[1]
    mask = corner + inside.take(first)
    if any(pad) and not np.isfinite(y).all():
        # Where all pixels are -infinity, padding equals them: the nearest pixel of the image takes its place.
        row = np.arange(rows)[:, None] * stride[0] - pad[0] + first // size[1]
        column = np.arange(columns) * stride[1] - pad[1] + first % size[1]
        mask = np.clip(row, 0, x.shape[2] - 1) * W + np.clip(column, 0, W - 1)
    return y, (x.shape, mask)


def max_pool_backward(dy, cache):
    """Return dx (B, C, H, W): each dy goes to the one input that was the largest.

    Where windows overlap, an input that won twice receives the sum. ValueError if dy does not have the
    shape of y (B, C, H_out, W_out). Source: K, "Pooling Kernel" (the mask).
    """
    shape, mask = cache
    dy = check_pool_upstream(dy, mask.shape)
    B, C, H, W = shape
    # The place in the whole array, so that one bincount adds up whatever meets there.
    place = mask.reshape(B * C, -1) + np.arange(B * C)[:, None] * (H * W)
    dx = np.bincount(place.ravel(), weights=dy.ravel(), minlength=B * C * H * W)
    return dx.astype(dy.dtype).reshape(shape)


def average_pool_forward(x, size=2, stride=None, pad=0):
    """Return (y, cache): the mean of every window; padding counts as zeros.

    Arguments, shapes and errors (ValueError) as `max_pool_forward`: x (B, C, H, W), y (B, C, H_out, W_out).
    Source: K, "Pooling Layer" (average pooling); H, "Subsampling Layers in LeNet-5".
    """
    x, size, stride, pad = check_pool(x, size, stride, pad)
    padded = np.pad(x, ((0, 0), (0, 0), (pad[0],) * 2, (pad[1],) * 2)) if any(pad) else x
    rows, columns = _places(padded.shape, size, stride)
    total = np.zeros((*x.shape[:2], rows, columns), dtype=x.dtype)
    for seen in _positions(padded, size, stride, rows, columns):
        total += seen
    return total / x.dtype.type(size[0] * size[1]), (x.shape, size, stride, pad)


def average_pool_backward(dy, cache):
    """Return dx (B, C, H, W): each dy is shared equally by the inputs of its window.

    ValueError if dy does not have the shape of y (B, C, H_out, W_out). Source: K, "Pooling Layer".
    """
    shape, (F_h, F_w), (s_h, s_w), (p_h, p_w) = cache
    B, C, H, W = shape
    H_out, W_out = output_size(H, F_h, s_h, p_h), output_size(W, F_w, s_w, p_w, name="W")
    dy = check_pool_upstream(dy, (B, C, H_out, W_out)) / (F_h * F_w)
    dx = np.zeros((B, C, H + 2 * p_h, W + 2 * p_w), dtype=dy.dtype)
    for seen in _positions(dx, (F_h, F_w), (s_h, s_w), H_out, W_out):
        seen += dy  # a view: adds to dx
    return dx[:, :, p_h : p_h + H, p_w : p_w + W]


def subsample_forward(x, w, b, size=2):
    """Return (y, cache), y = w[c] * (sum of each window) + b[c]: LeNet-5's S layers, two numbers a map.

    x (B, C, H, W), w and b (C,); windows of `size` side by side; returns y (B, C, H_out, W_out).
    ValueError if shapes do not fit. Source: H, "Subsampling Layers in LeNet-5".
    """
    x, w, b = check_subsample(x, w, b)
    means, cache = average_pool_forward(x, size)
    sums = means * x.dtype.type(np.prod(pair(size, "size")))
    return w[:, None, None] * sums + b[:, None, None], (w, sums, cache)


def subsample_backward(dy, cache):
    """Return (dx, dw, db) of the shapes of x, w, b, for dy (B, C, H_out, W_out), else ValueError.

    Source: H, "Subsampling Layers in LeNet-5"; K, "Chain Rule".
    """
    w, sums, pool_cache = cache
    dy = check_pool_upstream(dy, sums.shape)
    size = pool_cache[1]
    dsums = dy * w[:, None, None]
    dx = average_pool_backward(dsums, pool_cache) * dsums.dtype.type(size[0] * size[1])
    return dx, (dy * sums).sum(axis=(0, 2, 3)), dy.sum(axis=(0, 2, 3))


def flatten_forward(x):
    """Return (x as (B, D), cache), one row an image, the last axis fastest; ValueError for an empty batch.

    Source: K, "Convolutional Neural Network" (the volume is flattened before the fully connected layer).
    """
    x = as_float("x", x, min_rows=1)
    return x.reshape(x.shape[0], -1), x.shape


def flatten_backward(dy, cache):
    """Return dy (B, D) in the shape of x (B, ...); ValueError if the numbers do not match. Source: K."""
    dy = as_float("dy", dy, ndim=2)
    if dy.shape != (cache[0], int(np.prod(cache[1:]))):
        raise ValueError(f"dy is {dy.shape}; it must be {(cache[0], int(np.prod(cache[1:])))}, x {cache} in rows.")
    return dy.reshape(cache)


def _places(shape, size, stride):
    return 1 + (shape[2] - size[0]) // stride[0], 1 + (shape[3] - size[1]) // stride[1]


def _positions(padded, size, stride, rows, columns):
    """For each position in the window, row by row: what all windows see there, as a view (B, C, rows, columns)."""
    for p in range(size[0]):
        for q in range(size[1]):
            yield padded[:, :, p : p + stride[0] * rows : stride[0], q : q + stride[1] * columns : stride[1]]


def check_pool(x, size, stride, pad):
    """Return (x, size, stride, pad), the last three as pairs; TypeError or ValueError as `max_pool_forward`."""
    x = as_float("x", x, ndim=4, min_rows=1)
    size, pad = pair(size, "size"), pair(pad, "pad", minimum=0)
    stride = size if stride is None else pair(stride, "stride")
    if pad[0] >= size[0] or pad[1] >= size[1]:
        raise ValueError(f"pad is {pad} and size is {size}; pad must be smaller, or a window lies outside the image.")
    output_size(x.shape[2], size[0], stride[0], pad[0], name="H")
    output_size(x.shape[3], size[1], stride[1], pad[1], name="W")
    return x, size, stride, pad


def check_subsample(x, w, b):
    """Return (x, w, b) as floats; raise ValueError unless w and b hold one number for each map of x (B, C, H, W)."""
    x = as_float("x", x, ndim=4, min_rows=1)
    w, b = as_float("w", w, ndim=1), as_float("b", b, ndim=1)
    if w.shape[0] != x.shape[1] or b.shape != w.shape:
        raise ValueError(
            f"x is {x.shape}, w is {w.shape}, b is {b.shape}; w and b hold one number a map, {x.shape[1]}."
        )
    return x, w, b


def check_pool_upstream(dy, shape):
    """Return dy as floats; raise ValueError unless it has the shape of y."""
    dy = as_float("dy", dy, ndim=4)
    if dy.shape != tuple(shape):
        raise ValueError(f"dy is {dy.shape}; it must have the shape of y, {tuple(shape)}.")
    return dy
