"""Right values of the exercises of lesson 08, by the library's layers.

Options are what the usual mistakes in `lesson08_mistakes` do otherwise.
"""

import numpy as np

from course_lib import reference as ops


def bias_gradient(dy):
    """Return (M,), the gradient of the bias of a layer of 1 x 1 masks."""
    B, M, H, W = dy.shape
    x, b = np.zeros((B, 1, H, W)), np.zeros(M)
    return ops.conv2d_backward(dy, ops.conv2d_forward(x, np.zeros((M, 1, 1, 1)), b)[1])[2]


def mix(x, w, b):
    """Return what a 1 x 1 convolution makes of x."""
    return ops.conv2d_forward(x, w[:, :, None, None], b)[0]


def pool(x, F, S):
    """Return the largest values of the windows, and their places in the map."""
    y, (_, place) = ops.max_pool_forward(x[None, None], F, S)
    return y[0, 0], place[0, 0]


def route(dy, place, shape):
    """Return (C, H, W), the gradient of max pooling."""
    return ops.max_pool_backward(dy[None], ((1, *shape), place[None]))[0]


def unrolled(C, H, W, M, K, S):
    """Return the shapes of both matrices, and the factor of replication."""
    cols = ops.im2col(np.zeros((1, C, H, W)), K, S)[0]
    return (M, cols.shape[0]), cols.shape, ops.replication((1, C, H, W), K, S)


def rows(x, K_h, K_w, S):
    """Return the windows, one a row."""
    return ops.im2col(x[None], (K_h, K_w), S)[0].T


def input_gradient(dy, w):
    """Return dE/dx by folding back the columns of the matrix product."""
    B, M, h, v = dy.shape
    K_h, K_w = w.shape[2:]
    cols = w.reshape(M, -1).T @ dy.reshape(B, M, -1)
    return ops.col2im(cols, (B, w.shape[1], h + K_h - 1, v + K_w - 1), (K_h, K_w))


def weight_gradient(dy, x, mask, S):
    """Return dE/dw of one map and one mask."""
    cache = ops.conv2d_forward(x[None, None], np.zeros((1, 1, *mask)), stride=S)[1]
    return ops.conv2d_backward(dy[None, None], cache)[1][0, 0]
