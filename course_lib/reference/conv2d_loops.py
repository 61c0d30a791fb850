"""Convolution as the lecture writes it: seven loops, one multiplication in the middle.

For reading and for tiny inputs. `conv2d_forward` and `conv2d_backward` give the same numbers fast.
What is called convolution here, as in every deep-learning library, does not flip the mask.

Source: H, "Sequential Code: Forward Convolutional Layer", "Calculating dE/dX" and "Calculating dE/dW".
H's listings use one name for the image width and the weights; here they are W and w.
"""

import numpy as np

from course_lib.reference.conv2d_check import check_conv2d, check_upstream


def conv2d_forward_loops(x, w, b=None, stride=1, pad=0):
    """Return (y, cache), y[b, m, h, v] = b[m] + sum over c, p, q of x[b, c, h S + p, v S + q] w[m, c, p, q].

    x (B, C, H, W), w (M, C, K_h, K_w), b (M,) or None; stride and pad one int or a pair (rows, columns);
    returns y (B, M, H_out, W_out). Shapes that do not fit: ValueError, as `conv2d_forward`.
    Source: H, "Sequential Code: Forward Convolutional Layer".
    """
    x, w, bias, (s_h, s_w), (p_h, p_w), (H_out, W_out) = check_conv2d(x, w, b, stride, pad)
    B, C = x.shape[:2]
    M, _, K_h, K_w = w.shape
    padded = np.pad(x, ((0, 0), (0, 0), (p_h, p_h), (p_w, p_w)))
    y = np.zeros((B, M, H_out, W_out), dtype=np.result_type(x, w))
    for image in range(B):
        for m in range(M):  # each output map
            for h in range(H_out):
                for v in range(W_out):  # each output value
                    for c in range(C):  # sum over the input maps
                        for p in range(K_h):
                            for q in range(K_w):  # and over the mask
                                y[image, m, h, v] += padded[image, c, h * s_h + p, v * s_w + q] * w[m, c, p, q]
    if bias is not None:
        y += bias[:, None, None]
    return y, (x, w, bias is not None, (s_h, s_w), (p_h, p_w))


def conv2d_backward_loops(dy, cache):
    """Return (dx, dw, db) for dy (B, M, H_out, W_out), each of the shape of x, w, b (db None without b).

    Every product of the forward pass x * w -> y sends dy * w to dx and dy * x to dw, at the same places.
    ValueError if dy does not have the shape of y. Source: H, "Calculating dE/dX", "Calculating dE/dW".
    """
    x, w, has_bias, (s_h, s_w), (p_h, p_w) = cache
    dy = check_upstream(dy, x.shape, w.shape, (s_h, s_w), (p_h, p_w))
    padded = np.pad(x, ((0, 0), (0, 0), (p_h, p_h), (p_w, p_w)))
    dpadded, dw = np.zeros_like(padded), np.zeros_like(w)
    B, M, H_out, W_out = dy.shape
    _, C, K_h, K_w = w.shape
    for image in range(B):
        for m in range(M):
            for h in range(H_out):
                for v in range(W_out):
                    for c in range(C):
                        for p in range(K_h):
                            for q in range(K_w):
                                row, col = h * s_h + p, v * s_w + q
                                dpadded[image, c, row, col] += dy[image, m, h, v] * w[m, c, p, q]
                                dw[m, c, p, q] += dy[image, m, h, v] * padded[image, c, row, col]
    dx = dpadded[:, :, p_h : p_h + x.shape[2], p_w : p_w + x.shape[3]].copy()
    return dx, dw, dy.sum(axis=(0, 2, 3)) if has_bias else None
