"""Winograd's convolution with masks of 3 x 3: 16 multiplications for 4 outputs instead of 36, or 36 for 16, not 144.

    tile of y = A^T ( (G g G^T) * (B^T d B) ) A,   g a mask (3, 3), d a tile of the input (T + 2, T + 2), y's (T, T)

In the middle * is a product number by number; around it are additions and, for T = 4, products with small constants.
Sums over input maps are taken in the middle, so that for each of the (T + 2)^2 places there is one matrix product.

Numbers grow on the way in and cancel on the way out, and rounding errors with them. A bound for each output is
4 sqrt(C + 6 + 6) u times the same formula with absolute values everywhere, u = 2^-24 in float32, 2^-53 in float64: of
the C + 12 sums and products on a number's way each rounds once (`course_lib.checks.product_tolerance` says why their
square root). With random numbers the error is about that of the plain sum for T = 2, and some 5 times that for T = 4:
the constants of T = 4 go up to 8. A neural network does not notice; larger tiles would lose more than they save.

Source: S. Winograd, "Arithmetic Complexity of Computations"; A. Lavin and S. Gray, "Fast Algorithms for Convolutional
Neural Networks".
"""

import numpy as np

from course_lib.reference.conv2d import conv2d_backward
from course_lib.reference.conv2d_check import check_conv2d

MATRICES = {
    2: (
        ((1, 0, -1, 0), (0, 1, 1, 0), (0, -1, 1, 0), (0, 1, 0, -1)),
        ((1, 0, 0), (1 / 2, 1 / 2, 1 / 2), (1 / 2, -1 / 2, 1 / 2), (0, 0, 1)),
        ((1, 1, 1, 0), (0, 1, -1, -1)),
    ),
    4: (
        (
            (4, 0, -5, 0, 1, 0), (0, -4, -4, 1, 1, 0), (0, 4, -4, -1, 1, 0), (0, -2, -1, 2, 1, 0),
            (0, 2, -1, -2, 1, 0), (0, 4, 0, -5, 0, 1),
        ),
        (
            (1 / 4, 0, 0), (-1 / 6, -1 / 6, -1 / 6), (-1 / 6, 1 / 6, -1 / 6), (1 / 24, 1 / 12, 1 / 6),
            (1 / 24, -1 / 12, 1 / 6), (0, 0, 1),
        ),
        ((1, 1, 1, 1, 1, 0), (0, 1, -1, 2, -2, 0), (0, 1, 1, 4, 4, 0), (0, 1, -1, 8, -8, 1)),
    ),
}  # fmt: skip
"""T -> (B^T, G, A^T). Source: A. Lavin and S. Gray, sections 4.1 and 4.3."""


def conv2d_winograd_forward(x, w, b=None, pad=0, tile=2):
    """Return (y, cache) as `conv2d_forward` with stride 1, with fewer multiplications.

    Parameters
    ----------
    x : (B, C, H, W) array, B >= 1
    w : (M, C, 3, 3) array
    b : (M,) array, optional
    pad : int or pair (rows, columns)
    tile : 2 or 4
        Rows and columns of y that are computed at a time.

    Returns
    -------
    y : (B, M, H - 2 + 2 pad, W - 2 + 2 pad) array
    cache : tuple

    Raises
    ------
    TypeError
        If values are not real numbers, or sizes not whole numbers.
    ValueError
        As `conv2d_forward`; if the masks are not 3 x 3, or tile is neither 2 nor 4.

    Source: A. Lavin and S. Gray, "Fast Algorithms for Convolutional Neural Networks".
    """
    if type(tile) is not int or tile not in MATRICES:
        raise ValueError(f"tile is {tile!r}; it must be one of {', '.join(map(str, MATRICES))}.")
    x, w, b, stride, pad, (H_out, W_out) = check_conv2d(x, w, b, 1, pad)
    if w.shape[2:] != (3, 3):
        raise ValueError(f"w is {w.shape}, masks of {w.shape[2:]}; they must be (3, 3). Use conv2d_forward for others.")
    y = _tiled(x, w, MATRICES[tile], pad, (H_out, W_out))
    if b is not None:
        y += b[:, None, None]
    return y, (x, w, b is not None, stride, pad)


def conv2d_winograd_backward(dy, cache, need_dx=True):
    """Return (dx, dw, db) of the shapes of x, w, b for dy (B, M, H_out, W_out): the gradients of `conv2d_forward`.

    It is one function, computed in two ways, so its gradients are `conv2d_backward`'s. ValueError as there.

    Source: H, "Calculating dE/dW" and "Calculating dE/dX".
    """
    return conv2d_backward(dy, cache, need_dx)


def _tiled(x, w, matrices, pad, size):
    """Return y (B, M, *size), by tiles; the matrices as in MATRICES."""
    kind = np.result_type(x, w)
    BT, G, AT = (np.array(m, kind) for m in matrices)
    T, (B, C), M = len(AT), x.shape[:2], w.shape[0]
    down, across = (-(-n // T) for n in size)
    behind = [n * T + 2 - have - p for n, have, p in zip((down, across), x.shape[2:], pad, strict=True)]
    padded = np.pad(x, ((0, 0), (0, 0), *((p, more) for p, more in zip(pad, behind, strict=True))))
    tiles = np.lib.stride_tricks.sliding_window_view(padded, (T + 2, T + 2), axis=(2, 3))
    tiles = tiles[:, :, : down * T : T, : across * T : T]  # (B, C, down, across, T + 2, T + 2)
    masks = (G @ w @ G.T).reshape(M, C, -1).transpose(2, 0, 1)
    pixels = (BT @ tiles @ BT.T).transpose(4, 5, 1, 0, 2, 3).reshape((T + 2) ** 2, C, -1)
    sums = (masks @ pixels).reshape(T + 2, T + 2, M, B, down, across).transpose(3, 2, 4, 5, 0, 1)
    y = (AT @ sums @ AT.T).transpose(0, 1, 2, 4, 3, 5).reshape(B, M, down * T, across * T)
    return np.ascontiguousarray(y[:, :, : size[0], : size[1]])
