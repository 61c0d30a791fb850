"""LeNet-5's output layer on the device: squared distances to prototypes, and their loss.

`course_lib.reference.rbf`'s names, for float32 device arrays; labels and the loss's copy as in
`course_lib.cuda.losses`.

Source: H, "OUTPUT Layer in LeNet-5" (Radial Basis Functions); LeCun et al. (1998), cited by H.
"""

import numpy as np

from course_lib.cuda.device import empty
from course_lib.cuda.elementwise import like
from course_lib.cuda.jit import jit
from course_lib.cuda.losses import by_label, mean_loss, rows_and_labels, softmax_loss
from course_lib.cuda.numba_cuda import cuda, float32
from course_lib.cuda.operands import operand
from course_lib.cuda.sums import warp_total
from course_lib.reference.rbf import digit_prototypes  # noqa: F401  a table on the host, as there
from course_lib.validate import require_number

WARPS = 4
"""Warps of a block."""


def rbf_forward(x, w):
    """Return (y, cache), y[b, i] = sum over j of (x[b, j] - w[i, j])^2: a warp for each y.

    x (B, D), and one prototype a row, w (C, D), float32 device arrays, else TypeError or ValueError; returns y (B, C).
    Source: H, "OUTPUT Layer in LeNet-5".
    """
    x, w = operand("x", x, ndim=2), operand("w", w, ndim=2)
    if x.shape[1] != w.shape[1]:
        raise ValueError(f"x is {x.shape} and w is {w.shape}; a prototype must be as long as a row of x.")
    y = empty((x.shape[0], w.shape[0]), np.float32)
    _rbf[-(-y.size // WARPS), 32 * WARPS](x, w, y)
    return y, (x, w)


def rbf_backward(dy, cache):
    """Return (dx, dw) of the shapes of x (B, D) and w (C, D), for dy (B, C), else TypeError or ValueError.

    Source: K, "Chain Rule".
    """
    x, w = cache
    dy = operand("dy", dy, shape=(x.shape[0], w.shape[0]))
    dx, dw = like(x), like(w)
    _rbf_dx[-(-x.size // 128), 128](x, w, dy, dx)
    _rbf_dw[-(-w.size // 128), 128](x, w, dy, dw)
    return dx, dw


def rbf_loss_forward(y, labels, j=0.1):
    """E = mean of y[T] + ln(e^-j + sum over i of e^-y[i]); returns (float, cache).

    It is the softmax cross-entropy of -y with one class more, of score -j, which is nobody's.
    y (B, C) distances, labels (B,) int in 0 .. C - 1, device arrays, else TypeError or ValueError.
    Source: LeCun et al. (1998), section II.C, cited by H.
    """
    y, labels = rows_and_labels("y", y, labels)
    parts, share = softmax_loss(y, labels, np.float32(-1), np.float32(-require_number("j", j)))
    return mean_loss(parts, labels, y.shape), (share, labels)


def rbf_loss_backward(cache):
    """dE/dy = (onehot(T) - e^-y / (e^-j + sum e^-y)) / B; returns (B, C). No errors. Source: as the forward."""
    return by_label(_too_little, *cache)


@jit(device=True)
def _too_little(share, d):
    return float32(1) - share if d == 0 else -share


@jit(cache=True)
def _rbf(x, w, y):
    warp, lane = cuda.grid(1) // 32, cuda.threadIdx.x % 32
    if warp < y.size:  # the same for all lanes of a warp
        b, i = warp // y.shape[1], warp % y.shape[1]
        total = float32(0)
        for j in range(lane, x.shape[1], 32):
            difference = x[b, j] - w[i, j]
            total += difference * difference
        total = warp_total(total)
        if lane == 0:
            y[b, i] = total


@jit(cache=True)
def _rbf_dx(x, w, dy, dx):
    at = cuda.grid(1)
    if at < dx.size:
        b, j = at // dx.shape[1], at % dx.shape[1]
        total = float32(0)
        for i in range(w.shape[0]):
            total += float32(2) * dy[b, i] * (x[b, j] - w[i, j])
        dx[b, j] = total


@jit(cache=True)
def _rbf_dw(x, w, dy, dw):
    at = cuda.grid(1)
    if at < dw.size:
        i, j = at // dw.shape[1], at % dw.shape[1]
        total = float32(0)
        for b in range(x.shape[0]):
            total += float32(2) * dy[b, i] * (w[i, j] - x[b, j])
        dw[i, j] = total
