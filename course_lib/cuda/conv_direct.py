"""Convolutions of one, two and three dimensions as the lecture writes them, a thread for each result.

The plainest kernels there are, for every shape: no tiles, no shared memory for the operands. A signal is a volume of
one layer and one row, an image one of one layer; so there is one kernel for each of y, dx, dw and db. The fast layer is
`conv2d_forward`; what makes it fast is on the ladder `course_lib.cuda.ladders.conv2d`.

NumPy has two more forms of the 2-D layer, loops and windows; on the device both are this one: a thread's loops walk
over what its window sees.

Source: H, "Sequential Code: Forward Convolutional Layer", "Calculating dE/dX", "Calculating dE/dW" and "Example
Convolution Inputs".
"""

import numpy as np

from course_lib.cuda.arrays import zeros
from course_lib.cuda.device import empty
from course_lib.cuda.elementwise import flat, like
from course_lib.cuda.jit import jit
from course_lib.cuda.numba_cuda import cuda, float32
from course_lib.cuda.operands import operand
from course_lib.cuda.sums import WARPS, block_total
from course_lib.reference.conv_sizes import output_size, pair
from course_lib.validate import require_count

THREADS = 128
"""Threads of a block."""


def conv1d_forward(x, w, b=None, stride=1, pad=0):
    """Return (y, cache) for signals x (B, C, L), w (M, C, K), b (M,): y (B, M, L_out); float32 device arrays.

    TypeError or ValueError if they are not, or do not fit. Source: H, "Example Convolution Inputs".
    """
    stride, pad = require_count("stride", stride), require_count("pad", pad, minimum=0)
    return _forward(x, w, b, (1, 1, stride), (0, 0, pad), "L")


def conv1d_backward(dy, cache):
    """Return (dx, dw, db) of the shapes of x, w, b for dy (B, M, L_out), else TypeError or ValueError. Source: H."""
    return _backward(dy, cache)


def conv2d_forward_loops(x, w, b=None, stride=1, pad=0):
    """Return (y, cache) for x (B, C, H, W), w (M, C, K_h, K_w), b (M,): y (B, M, H_out, W_out), float32 device arrays.

    TypeError or ValueError if they are not, or do not fit.
    Source: H, "Sequential Code: Forward Convolutional Layer".
    """
    return _forward(x, w, b, (1, *pair(stride, "stride")), (0, *pair(pad, "pad", minimum=0)), "HW")


def conv2d_backward_loops(dy, cache):
    """Return (dx, dw, db) of the shapes of x, w, b for dy (B, M, H_out, W_out), else TypeError or ValueError.

    Source: H, "Calculating dE/dX", "Calculating dE/dW".
    """
    return _backward(dy, cache)


def conv2d_forward_windows(x, w, b=None, stride=1, pad=0):
    """Return (y, cache) for x (B, C, H, W), w (M, C, K_h, K_w), b (M,).

    TypeError or ValueError as `conv2d_forward_loops`. Source: H, "Sequential Code: Forward Convolutional Layer".
    """
    return conv2d_forward_loops(x, w, b, stride, pad)


def conv2d_backward_windows(dy, cache):
    """Return (dx, dw, db) for dy (B, M, H_out, W_out); TypeError, ValueError as `conv2d_backward_loops`.

    Source: H, "Back-propagation dE/dX for a convolutional layer".
    """
    return conv2d_backward_loops(dy, cache)


def conv3d_forward(x, w, b=None, stride=1, pad=0):
    """Return (y, cache) for volumes x (B, C, D, H, W), w (M, C, K_d, K_h, K_w), b (M,): y (B, M, D_out, H_out, W_out).

    TypeError or ValueError if they are not float32 device arrays, or do not fit.
    Source: H, "Example Convolution Inputs".
    """
    stride, pad = require_count("stride", stride), require_count("pad", pad, minimum=0)
    return _forward(x, w, b, (stride,) * 3, (pad,) * 3, "DHW")


def conv3d_backward(dy, cache):
    """Return (dx, dw, db) of the shapes of x, w, b for dy (B, M, D_out, H_out, W_out), else TypeError or ValueError.

    Source: H.
    """
    return _backward(dy, cache)


def _forward(x, w, b, stride, pad, axes):
    n = len(axes)
    x, w = operand("x", x, ndim=n + 2), operand("w", w, ndim=n + 2)
    if x.shape[1] != w.shape[1]:
        raise ValueError(f"x is {x.shape} and w is {w.shape}; x.shape[1] must equal w.shape[1], the input maps.")
    if b is not None:
        b = operand("b", b, ndim=1)
        if b.shape[0] != w.shape[0]:
            raise ValueError(
                f"w is {w.shape} and b is {b.shape}; b must hold one number for each output map, w.shape[0]."
            )
    sizes = zip(x.shape[2:], w.shape[2:], stride[3 - n :], pad[3 - n :], axes, strict=True)
    shape = (x.shape[0], w.shape[0], *(output_size(*size[:4], name=size[4]) for size in sizes))
    y = empty(shape, np.float32)
    _conv[-(-y.size // THREADS), THREADS](
        _volume(x), _volume(w), zeros((w.shape[0],)) if b is None else b, *stride, *pad, _volume(y)
    )
    return y, (x, w, b is not None, stride, pad, shape)


def _backward(dy, cache):
    x, w, has_bias, stride, pad, shape = cache
    dy = operand("dy", dy, shape=shape)
    dx, dw = like(x), like(w)
    _conv_dx[-(-dx.size // THREADS), THREADS](_volume(dy), _volume(w), *stride, *pad, _volume(dx))
    _conv_dw[dw.size, THREADS](_volume(dy), _volume(x), *stride, *pad, _volume(dw))
    if not has_bias:
        return dx, dw, None
    db = empty((w.shape[0],), np.float32)
    _conv_db[db.size, THREADS](dy.reshape((shape[0], shape[1], dy.size // (shape[0] * shape[1]))), db)
    return dx, dw, db


def _volume(array):
    """A view with three axes behind the first two."""
    shape = tuple(array.shape)
    return flat(array).reshape((*shape[:2], *(1,) * (5 - len(shape)), *shape[2:]))


@jit(device=True)
def _place(i, array):
    """Return the five indices of element i of an array of five axes."""
    _, N, D, H, W = array.shape
    return i // (N * D * H * W), i // (D * H * W) % N, i // (H * W) % D, i // W % H, i % W


@jit(cache=True)
def _conv(x, w, b, s_d, s_h, s_w, p_d, p_h, p_w, y):
    i = cuda.grid(1)
    if i < y.size:
        image, m, d, h, v = _place(i, y)
        acc = float32(0)
        for c in range(w.shape[1]):
            for r in range(w.shape[2]):
                for p in range(w.shape[3]):
                    for q in range(w.shape[4]):
                        layer, row, column = d * s_d + r - p_d, h * s_h + p - p_h, v * s_w + q - p_w
                        if 0 <= layer < x.shape[2] and 0 <= row < x.shape[3] and 0 <= column < x.shape[4]:
                            acc += x[image, c, layer, row, column] * w[m, c, r, p, q]
        y[image, m, d, h, v] = acc + b[m]


@jit(cache=True)
def _conv_dx(dy, w, s_d, s_h, s_w, p_d, p_h, p_w, dx):
    i = cuda.grid(1)
    if i < dx.size:
        image, c, layer, row, column = _place(i, dx)
        acc = float32(0)
        for m in range(w.shape[0]):
            for r in range(w.shape[2]):
                for p in range(w.shape[3]):
                    for q in range(w.shape[4]):
                        d, h, v = layer + p_d - r, row + p_h - p, column + p_w - q
                        if d >= 0 and h >= 0 and v >= 0 and d % s_d == 0 and h % s_h == 0 and v % s_w == 0:
                            d, h, v = d // s_d, h // s_h, v // s_w
                            if d < dy.shape[2] and h < dy.shape[3] and v < dy.shape[4]:
                                acc += dy[image, m, d, h, v] * w[m, c, r, p, q]
        dx[image, c, layer, row, column] = acc


@jit(cache=True)
def _conv_dw(dy, x, s_d, s_h, s_w, p_d, p_h, p_w, dw):
    s = cuda.shared.array(WARPS, float32)
    m, c, r, p, q = _place(cuda.blockIdx.x, dw)  # a block a weight: its threads share the places
    B, _, D_out, H_out, W_out = dy.shape
    acc = float32(0)
    for i in range(cuda.threadIdx.x, B * D_out * H_out * W_out, THREADS):
        image, d, h, v = i // (D_out * H_out * W_out), i // (H_out * W_out) % D_out, i // W_out % H_out, i % W_out
        layer, row, column = d * s_d + r - p_d, h * s_h + p - p_h, v * s_w + q - p_w
        if 0 <= layer < x.shape[2] and 0 <= row < x.shape[3] and 0 <= column < x.shape[4]:
            acc += dy[image, m, d, h, v] * x[image, c, layer, row, column]
    acc = block_total(acc, s)
    if cuda.threadIdx.x == 0:
        dw[m, c, r, p, q] = acc


@jit(cache=True)
def _conv_db(dy, db):
    s = cuda.shared.array(WARPS, float32)
    m, places = cuda.blockIdx.x, dy.shape[2]
    acc = float32(0)
    for i in range(cuda.threadIdx.x, dy.shape[0] * places, THREADS):
        acc += dy[i // places, m, i % places]
    acc = block_total(acc, s)
    if cuda.threadIdx.x == 0:
        db[m] = acc
