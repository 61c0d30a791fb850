"""Pooling, for images that lie side by side: `course_lib.reference.pooling`'s functions, for speed.

Source: K, "Pooling Layer" and "Pooling Kernel" (of equal values the first wins); H, "Subsampling Layers in
LeNet-5". The innermost loop runs over the images, so one instruction compares 16 pixels of 16 images.
"""

import numpy as np

from course_lib.fast.compile import kernel
from course_lib.fast.layout import empty, images_first, images_last
from course_lib.fast.threads import share
from course_lib.reference.conv_sizes import output_size
from course_lib.reference.pooling import check_pool, check_pool_upstream, check_subsample

COST = 30
"""Multiply-adds of a convolution that take as long as one pixel here."""


def max_pool_forward(x, size=2, stride=None, pad=0):
    """Return (y, cache) as `reference.max_pool_forward`: x (B, C, H, W), y (B, C, H_out, W_out).

    Raises TypeError and ValueError as there. Source: K, "Pooling Kernel".
    """
    x, size, stride, pad = check_pool(x, size, stride, pad)
    images = images_last(x)
    y = empty(_pooled_shape(images.shape, size, stride, pad), x.dtype)
    place = empty(y.shape, np.uint8 if size[0] * size[1] < 256 else np.int32)
    share(_largest, len(images), COST * images.size, images, y, place, size, stride, pad)
    return images_first(y), (images.shape, place, size, stride, pad)


def max_pool_backward(dy, cache):
    """Return dx (B, C, H, W): each dy (B, C, H_out, W_out) goes to the one input that was the largest.

    ValueError if dy does not have the shape of y. Source: K, "Pooling Kernel" (the mask).
    """
    shape, place, size, stride, pad = cache
    dy = images_last(check_pool_upstream(dy, images_first(place).shape))
    dx = empty(shape, dy.dtype)
    share(_to_largest, shape[0], COST * dx.size, dy, place, dx, size, stride, pad)
    return images_first(dx)


def average_pool_forward(x, size=2, stride=None, pad=0):
    """Return (y, cache) as `reference.average_pool_forward`: x (B, C, H, W), y (B, C, H_out, W_out).

    Raises TypeError and ValueError as there. Source: K, "Pooling Layer".
    """
    x, size, stride, pad = check_pool(x, size, stride, pad)
    sums, shape = _window_sums(x, size, stride, pad)
    sums /= x.dtype.type(size[0] * size[1])
    return images_first(sums), (shape, size, stride, pad)


def average_pool_backward(dy, cache):
    """Return dx (B, C, H, W): each dy (B, C, H_out, W_out) is shared equally by the inputs of its window.

    ValueError if dy does not have the shape of y. Source: K, "Pooling Layer".
    """
    shape, size, stride, pad = cache
    C, H_out, W_out, B = _pooled_shape(shape, size, stride, pad)
    dy = check_pool_upstream(dy, (B, C, H_out, W_out))
    return _to_windows(dy / dy.dtype.type(size[0] * size[1]), *cache)


def subsample_forward(x, w, b, size=2):
    """Return (y, cache) as `reference.subsample_forward`: x (B, C, H, W), w and b (C,), y (B, C, H_out, W_out).

    Raises TypeError and ValueError as there. Source: H, "Subsampling Layers in LeNet-5".
    """
    x, w, b = check_subsample(x, w, b)
    x, size, stride, pad = check_pool(x, size, None, 0)
    sums, shape = _window_sums(x, size, stride, pad)
    y = np.multiply(w[:, None, None, None], sums, dtype=np.result_type(x, w, b))
    y += b[:, None, None, None]
    return images_first(y), (w, sums, (shape, size, stride, pad))


def subsample_backward(dy, cache):
    """Return (dx, dw, db) of the shapes of x, w, b, for dy (B, C, H_out, W_out), else ValueError.

    Source: H, "Subsampling Layers in LeNet-5"; K, "Chain Rule".
    """
    w, sums, windows = cache
    dy = images_last(check_pool_upstream(dy, images_first(sums).shape))
    dx = _to_windows(images_first(dy * w[:, None, None, None]), *windows)
    return dx, (dy * sums).sum(axis=(1, 2, 3)), dy.sum(axis=(1, 2, 3))


def _pooled_shape(shape, size, stride, pad):
    C, H, W, B = shape
    return C, output_size(H, size[0], stride[0], pad[0]), output_size(W, size[1], stride[1], pad[1]), B


def _window_sums(x, size, stride, pad):
    images = images_last(x)
    sums = empty(_pooled_shape(images.shape, size, stride, pad), x.dtype)
    share(_sum, len(images), COST * images.size, images, sums, size, stride, pad)
    return sums, images.shape


def _to_windows(dy, shape, size, stride, pad):
    dx = empty(shape, dy.dtype)
    share(_to_all, shape[0], COST * dx.size, images_last(dy), dx, size, stride, pad)
    return images_first(dx)


@kernel
def _window(size, stride, pad, h, v, H, W):
    """The rows and columns of window (h, v) that lie in the image."""
    top, left = h * stride[0] - pad[0], v * stride[1] - pad[1]
    return max(0, top), min(H, top + size[0]), max(0, left), min(W, left + size[1])


@kernel
def _largest(first, last, x, y, place, size, stride, pad):
    """The largest of each window and its position in it; a unit is one map."""
    (_, H, W, B), (_, H_out, W_out, _) = x.shape, y.shape
    for c in range(first, last):
        for h in range(H_out):
            for v in range(W_out):
                best, where = y[c, h, v], place[c, h, v]
                top, bottom, left, right = _window(size, stride, pad, h, v, H, W)
                for r in range(top, bottom):
                    for s in range(left, right):
                        seen = x[c, r, s]
                        p = (r - h * stride[0] + pad[0]) * size[1] + s - v * stride[1] + pad[1]
                        if r == top and s == left:
                            best[:], where[:] = seen, p
                            continue
                        for i in range(B):
                            if seen[i] > best[i] or (seen[i] != seen[i] and best[i] == best[i]):  # or the first NaN
                                best[i] = seen[i]
                                where[i] = p


@kernel
def _to_largest(first, last, dy, place, dx, size, stride, pad):
    """Add dy to the position that won; a unit is one map."""
    (_, H, W, B), (_, H_out, W_out, _) = dx.shape, dy.shape
    for c in range(first, last):
        dx[c] = 0
        for h in range(H_out):
            for v in range(W_out):
                top, bottom, left, right = _window(size, stride, pad, h, v, H, W)
                for r in range(top, bottom):
                    for s in range(left, right):
                        p = (r - h * stride[0] + pad[0]) * size[1] + s - v * stride[1] + pad[1]
                        for i in range(B):
                            dx[c, r, s, i] += dy[c, h, v, i] if place[c, h, v, i] == p else 0


@kernel
def _sum(first, last, x, y, size, stride, pad):
    """The sum of each window; a unit is one map."""
    (_, H, W, B), (_, H_out, W_out, _) = x.shape, y.shape
    for c in range(first, last):
        y[c] = 0
        for h in range(H_out):
            for v in range(W_out):
                top, bottom, left, right = _window(size, stride, pad, h, v, H, W)
                for r in range(top, bottom):
                    for s in range(left, right):
                        for i in range(B):
                            y[c, h, v, i] += x[c, r, s, i]


@kernel
def _to_all(first, last, dy, dx, size, stride, pad):
    """Add dy to every pixel of its window; a unit is one map."""
    (_, H, W, B), (_, H_out, W_out, _) = dx.shape, dy.shape
    for c in range(first, last):
        dx[c] = 0
        for h in range(H_out):
            for v in range(W_out):
                top, bottom, left, right = _window(size, stride, pad, h, v, H, W)
                for r in range(top, bottom):
                    for s in range(left, right):
                        for i in range(B):
                            dx[c, r, s, i] += dy[c, h, v, i]
