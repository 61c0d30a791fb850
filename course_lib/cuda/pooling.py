"""Pooling on the device: `course_lib.reference.pooling`'s names, for float32 device arrays.

Source: K, "Pooling Layer" and "Pooling Kernel" (the argmax mask; the first of equal values wins); O, "Max-Pooling"; H,
"Subsampling Layers in LeNet-5".

x is (B, C, H, W), y (B, C, H_out, W_out). Every function raises TypeError for what is not a float32 device array, and
ValueError for an empty one, one with gaps, or sizes that do not fit. Kernels: `pool_forward`, `pool_backward`, and
`pool_overlapping` for gradients of windows that overlap.
"""

import math

import numpy as np

from course_lib import gpu
from course_lib.cuda import pool_backward, pool_forward, pool_overlapping, subsample_kernels
from course_lib.cuda.elementwise import flat, like
from course_lib.cuda.operands import aligned, operand
from course_lib.cuda.pool_bands import bands
from course_lib.reference.conv_sizes import output_size, pair

THREADS = pool_forward.THREADS
MOST = 2**31
"""Elements of an array; the kernels count them with 32 bits."""


def max_pool_forward(x, size=2, stride=None, pad=0):
    """Return (y, cache): the largest value of every window.

    Parameters
    ----------
    x : (B, C, H, W) float32 device array
    size : int or pair (rows, columns)
        F in the lecture.
    stride : int or pair, optional
        `size` unless given: windows side by side.
    pad : int or pair
        Rows and columns added outside, which never win.

    Returns
    -------
    y : (B, C, H_out, W_out) device array
    cache : tuple
        With the argmax mask, an int32 device array (B, C, H_out, W_out): for each output the place of its value in
        the map, row * W + column; of equal values the first one.

    Raises
    ------
    TypeError, ValueError
        If axes or sizes do not fit, or the padding is so wide that a window sees nothing else.

    Source: K, "Pooling Layer: Spatial Transformations", "Pooling Kernel".
    """
    x, size, stride, pad, sizes = check_pool(x, size, stride, pad)
    y = _output(x, sizes)
    mask = gpu.empty(tuple(y.shape), np.int32)
    arguments = (flat(x), *sizes, flat(y), flat(mask))
    if _cover(x.shape, size, stride, pad) and x.shape[3] % 4 == 0 and aligned(x):
        pool_forward.max_forward_twos[_blocks(y.size // 2), THREADS](*arguments)
    else:
        pool_forward.max_forward(size, stride, pad != (0, 0))[_blocks(y.size), THREADS](*arguments)
    return y, (tuple(x.shape), mask, size, stride, pad)


def max_pool_backward(dy, cache):
    """Return dx (B, C, H, W): each dy (B, C, H_out, W_out) goes to the one input that was the largest.

    Where windows overlap, an input that won twice receives the sum, always in the same order. ValueError if dy does not
    have the shape of y. Source: K, "Pooling Kernel" (the mask).
    """
    shape, mask, size, stride, pad = cache
    dy = check_pool_upstream(dy, mask.shape)
    dx = gpu.empty(shape, np.float32)
    arguments = (flat(dy), flat(mask), *_sizes(shape, dy.shape, pad))
    if _cover(shape, size, stride, pad):
        pool_backward.max_pairs[_blocks(dy.size), THREADS](*arguments, flat(dx))
    elif size[0] <= stride[0] and size[1] <= stride[1]:
        *grid, count = _cells(shape, stride, pad)
        pool_backward.max_apart(stride)[_blocks(count), THREADS](*arguments, *grid, count, flat(dx))
    elif cut := bands(shape, size, stride, pad, 2):
        kernel = pool_overlapping.max_bands(size, stride, cut.threads)
        kernel[cut.grid, cut.threads, 0, cut.shared](*arguments, *cut.numbers, flat(dx))
    else:
        pool_backward.max_overlapping(size, stride)[_blocks(dx.size), THREADS](*arguments, flat(dx))
    return dx


def average_pool_forward(x, size=2, stride=None, pad=0):
    """Return (y, cache): the mean of every window; padding counts as zeros.

    Arguments, shapes and errors (ValueError) as `max_pool_forward`: x (B, C, H, W), y (B, C, H_out, W_out).
    Source: K, "Pooling Layer" (average pooling); H, "Subsampling Layers in LeNet-5".
    """
    x, size, stride, pad, sizes = check_pool(x, size, stride, pad)
    y = _output(x, sizes)
    arguments = (flat(x), *sizes, flat(y))
    if _cover(x.shape, size, stride, pad) and x.shape[3] % 4 == 0 and aligned(x):
        pool_forward.average_forward_twos[_blocks(y.size // 2), THREADS](*arguments)
    else:
        pool_forward.average_forward(size, stride, pad != (0, 0))[_blocks(y.size), THREADS](*arguments)
    return y, (tuple(x.shape), size, stride, pad)


def average_pool_backward(dy, cache):
    """Return dx (B, C, H, W): each dy (B, C, H_out, W_out) is shared equally by the inputs of its window.

    ValueError if dy does not have the shape of y. Source: K, "Pooling Layer".
    """
    shape, size, stride, pad = cache
    dy = check_pool_upstream(dy, _out_shape(shape, size, stride, pad))
    dx = gpu.empty(shape, np.float32)
    arguments = (flat(dy), *_sizes(shape, dy.shape, pad))
    if _cover(shape, size, stride, pad):
        pool_backward.average_pairs[_blocks(dy.size), THREADS](*arguments, flat(dx))
    elif size[0] <= stride[0] and size[1] <= stride[1]:
        *grid, count = _cells(shape, stride, pad)
        pool_backward.average_apart(size, stride)[_blocks(count), THREADS](*arguments, *grid, count, flat(dx))
    elif cut := bands(shape, size, stride, pad, 1):
        kernel = pool_overlapping.average_bands(size, stride, cut.threads)
        kernel[cut.grid, cut.threads, 0, cut.shared](*arguments, *cut.numbers, flat(dx))
    else:
        pool_backward.average_overlapping(size, stride)[_blocks(dx.size), THREADS](*arguments, flat(dx))
    return dx


def subsample_forward(x, w, b, size=2):
    """Return (y, cache), y = w[c] * (sum of each window) + b[c]: LeNet-5's S layers, two numbers a map.

    x (B, C, H, W), w and b (C,); windows of `size` side by side; returns y (B, C, H_out, W_out).
    ValueError if shapes do not fit. Source: H, "Subsampling Layers in LeNet-5".
    """
    x, size, stride, pad, sizes = check_pool(x, size, None, 0)
    C = x.shape[1]
    w, b = operand("w", w, shape=(C,)), operand("b", b, shape=(C,))
    y, sums = _output(x, sizes), _output(x, sizes)
    kernel = subsample_kernels.forward(size)
    kernel[_blocks(y.size), THREADS](flat(x), w, b, *sizes[:4], flat(y), flat(sums))
    return y, (w, sums, (tuple(x.shape), size, stride, pad))


def subsample_backward(dy, cache):
    """Return (dx, dw, db) of the shapes of x, w, b, for dy (B, C, H_out, W_out), else ValueError.

    The sums for dw and db are added up in the same order each time. Source: H, "Subsampling Layers in LeNet-5"; K,
    "Chain Rule".
    """
    w, sums, (shape, size, _, pad) = cache
    dy = check_pool_upstream(dy, sums.shape)
    dx = gpu.empty(shape, np.float32)
    *grid, count = _cells(shape, size, pad)
    kernel = subsample_kernels.backward(size)
    kernel[_blocks(count), THREADS](flat(dy), w, *_sizes(shape, dy.shape, pad)[:4], *grid, count, flat(dx))
    dw, db = like(w), like(w)
    subsample_kernels.sums_of_maps(dy, sums, dw, db)
    return dx, dw, db


def flatten_forward(x):
    """Return (x as (B, D), cache), one row an image, the last axis fastest; a view, nothing moves.

    x (B, ...), else ValueError. Source: K, "Convolutional Neural Network" (the volume is flattened before the fully
    connected layer).
    """
    x = operand("x", x)
    if x.ndim < 1:
        raise ValueError("x is one number; it needs a first axis, one entry for each image.")
    return x.reshape(x.shape[0], x.size // x.shape[0]), tuple(x.shape)


def flatten_backward(dy, cache):
    """Return dy (B, D) in the shape of x (B, ...), a view; ValueError if the numbers do not match. Source: K."""
    dy = operand("dy", dy, ndim=2)
    shape = (cache[0], math.prod(cache[1:]))
    if tuple(dy.shape) != shape:
        raise ValueError(f"dy is {tuple(dy.shape)}; it must be {shape}, x {cache} in rows.")
    return dy.reshape(cache)


def check_pool(x, size, stride, pad):
    """Return (x, size, stride, pad, sizes), three pairs and the kernels' sizes; errors as `max_pool_forward`."""
    x = operand("x", x, ndim=4)
    size, pad = pair(size, "size"), pair(pad, "pad", minimum=0)
    stride = size if stride is None else pair(stride, "stride")
    if pad[0] >= size[0] or pad[1] >= size[1]:
        raise ValueError(f"pad is {pad} and size is {size}; pad must be smaller, or a window lies outside the image.")
    out = _out_shape(x.shape, size, stride, pad)
    most = max(x.size, math.prod(out))
    if most >= MOST:
        raise ValueError(f"x is {tuple(x.shape)}; an array here has fewer than {MOST:,} elements. Split the batch.")
    return x, size, stride, pad, _sizes(x.shape, out, pad)


def check_pool_upstream(dy, shape):
    """Return dy; raise TypeError or ValueError unless it is a device array of the shape of y (B, C, H_out, W_out)."""
    dy = operand("dy", dy, ndim=4)
    if tuple(dy.shape) != tuple(shape):
        raise ValueError(f"dy is {tuple(dy.shape)}; it must have the shape of y, {tuple(shape)}.")
    return dy


def _out_shape(shape, size, stride, pad):
    B, C, H, W = shape
    return B, C, output_size(H, size[0], stride[0], pad[0]), output_size(W, size[1], stride[1], pad[1], name="W")


def _sizes(shape, out, pad):
    return tuple(np.uint32(n) for n in (*shape[2:], *out[2:], *pad))


def _output(x, sizes):
    return gpu.empty((*x.shape[:2], int(sizes[2]), int(sizes[3])), np.float32)


def _cover(shape, size, stride, pad):
    """Whether 2 x 2 windows side by side cover maps (.., H, W)."""
    return size == stride == (2, 2) and pad == (0, 0) and shape[2] % 2 == shape[3] % 2 == 0


def _cells(shape, stride, pad):
    """Return how many steps of `stride` cover a map with its padding, down and across, and how many all maps have."""
    down, across = -(-(shape[2] + pad[0]) // stride[0]), -(-(shape[3] + pad[1]) // stride[1])
    return np.uint32(down), np.uint32(across), np.uint32(shape[0] * shape[1] * down * across)


def _blocks(threads):
    return -(-int(threads) // THREADS)
