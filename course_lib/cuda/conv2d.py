"""The convolution layer on the device: `course_lib.reference.conv2d`'s names, for float32 device arrays.

Each direction climbs its ladder in `ladders.conv2d` to v06, the highest rung that computes in float32 throughout: a
kernel that is made for the layer's shape, when the shape is first seen. Which rungs above it are taken, where, and for
which layers, `ladders.conv2d.chosen` says. Source: H, "Sequential Code: Forward Convolutional
Layer", "Calculating dE/dX", "Calculating dE/dW"; K, "Convolution Layer: Spatial Transformations".
"""

import numpy as np

from course_lib import gpu
from course_lib.cuda.capability import compute_capability
from course_lib.cuda.dense import column_sums
from course_lib.cuda.ladders.conv2d.backward_data.v06_specialised import conv2d_backward_data_v06_specialised
from course_lib.cuda.ladders.conv2d.backward_weights.v06_specialised import conv2d_backward_weights_v06_specialised
from course_lib.cuda.ladders.conv2d.chosen import chosen
from course_lib.cuda.ladders.conv2d.forward import LADDER
from course_lib.cuda.ladders.conv2d.forward.checks import check_conv2d, sizes_of
from course_lib.cuda.ladders.rung import rungs_for
from course_lib.cuda.operands import operand
from course_lib.cuda.products import product

FEW = 512
"""Images up to which the weights' gradient of a mask that covers them is one product: its sums are as long."""

HIGHEST = 6
"""The highest rung that forward takes of itself: v07 multiplies on tensor cores, which do not round as float32 does."""


def conv2d_forward(x, w, b=None, stride=1, pad=0):
    """Return (y, cache), y the convolution of x with w, plus b.

    y[n, m, h, v] = b[m] + sum over c, p, q of x[n, c, h S + p - P, v S + q - P] w[m, c, p, q], with S the stride and P
    the padding.

    Parameters
    ----------
    x : (B, C, H, W) float32 device array, B >= 1
        Images of C maps.
    w : (M, C, K_h, K_w) float32 device array
        One mask for each pair of output and input map.
    b : (M,) float32 device array, optional
    stride, pad : int or pair (rows, columns)
        Zeros are added on both sides.

    Returns
    -------
    y : (B, M, H_out, W_out) device array
        H_out = 1 + floor((H - K_h + 2 pad) / stride), W_out alike.
    cache : tuple
        What `conv2d_backward` needs: x and w themselves, no copies.

    Raises
    ------
    TypeError
        If one is not a float32 device array, or sizes are not whole numbers.
    ValueError
        If the batch is empty, an array has gaps, channels differ, or the mask fits nowhere.

    Source: H, "Sequential Code: Forward Convolutional Layer"; K, "Convolution Layer: Spatial Transformations".
    """
    x, w, b, s = check_conv2d(x, w, b, stride, pad)
    stride, pad = (s.s_h, s.s_w), (s.p_h, s.p_w)
    y = gpu.empty((s.B, s.M, s.H_out, s.W_out), np.float32)
    for_any = rungs_for(LADDER)  # a rung for one layer may freeze its masks, and training changes them
    runs_here = [rung for rung in for_any if rung.number <= HIGHEST and rung.least_cc <= compute_capability()]
    launch = chosen("forward", s) or runs_here[-1].launch
    launch(x, w, b, y, stride, pad)
    return y, (x, w, b is not None, stride, pad)


def conv2d_backward(dy, cache, need_dx=True):
    """Return (dx, dw, db), each of the shape of x, w, b; db is None where there was no b.

    Parameters
    ----------
    dy : (B, M, H_out, W_out) float32 device array
        dE/dy.
    cache : tuple
        From `conv2d_forward`.
    need_dx : bool
        False leaves dx out (it is None then): the first layer of a network has nobody to hand it to.

    Raises
    ------
    TypeError
        If dy is not a float32 device array.
    ValueError
        If dy does not have the shape of y, or has gaps.

    No sum depends on who comes first: two runs agree to the last bit. What v06 does not take, such as another stride
    than 1, goes to v03's matrix products. For dx, v03 was the fastest rung for any shape when v01, v02 and v03 were
    timed on an H200; they still divided at each mask position then, and have not been timed since. By instructions, v02
    and v03 are about equal at 16 output maps, and v03 is ahead above. For dw, v03 loads 16 times less than v02.

    Where a mask covers the whole image, as in LeNet-5's C5, the layer is a dense one, and its gradients are two matrix
    products; for dx v03 would make one for each image.

    Source: H, "Calculating dE/dW" and "Calculating dE/dX".
    """
    x, w, has_bias, stride, pad = cache
    if tuple(x.shape[2:]) == tuple(w.shape[2:]) and pad == (0, 0):
        return _dense_backward(dy, x, w, has_bias, need_dx)
    dw, db = _weight_gradients(dy, x, w, has_bias, stride, pad)
    dx = gpu.empty(x.shape, np.float32) if need_dx else None
    if need_dx:
        s = sizes_of(x.shape, w.shape, stride, pad)
        launch = chosen("backward_data", s) or conv2d_backward_data_v06_specialised
        launch(dy, w, dx, stride, pad)
    return dx, dw, db


def _weight_gradients(dy, x, w, has_bias, stride, pad):
    dw = gpu.empty(w.shape, np.float32)
    db = gpu.empty(w.shape[0], np.float32) if has_bias else None
    conv2d_backward_weights_v06_specialised(dy, x, dw, db, stride, pad)
    return dw, db


def _dense_backward(dy, x, w, has_bias, need_dx):
    """As `conv2d_backward`, for masks that cover the image: y (B, M, 1, 1) is x (B, D) times w (M, D) turned over."""
    B, M = x.shape[0], w.shape[0]
    dy = operand("dy", dy, shape=(B, M, 1, 1))
    rows, masks, dz = x.reshape((B, x.size // B)), w.reshape((M, w.size // M)), dy.reshape((B, M))
    if B > FEW:
        dw, db = _weight_gradients(dy, x, w, has_bias, (1, 1), (0, 0))
    else:
        dw, db = product(dz, rows, A_turned=True).reshape(w.shape), column_sums(dz) if has_bias else None
    return product(dz, masks).reshape(x.shape) if need_dx else None, dw, db
