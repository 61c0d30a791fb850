"""The dense layer on the device: `course_lib.reference.dense`'s names, for float32 device arrays.

Source: K, Z = X W and the gradients X^T delta, delta W^T; O, "Matrix Formulation" and BP1-BP4 (the bias).
"""

import numpy as np

from course_lib.cuda.device import empty
from course_lib.cuda.jit import jit
from course_lib.cuda.numba_cuda import cuda, float32
from course_lib.cuda.operands import operand
from course_lib.cuda.products import product
from course_lib.validate import require_product

COLUMNS, LANES = 32, 8
"""A block that sums columns: so many of them, and so many threads for each."""

ROWS = 512
"""Rows that one block sums."""


def dense_forward(x, w, b=None):
    """Return (z, cache) with z = x w + b, in one launch, or two where the ladder multiplies.

    Parameters
    ----------
    x : (B, D) float32 device array
    w : (D, M) float32 device array
    b : (M,) float32 device array, optional

    Returns
    -------
    z : (B, M) device array
    cache : tuple

    Raises
    ------
    TypeError
        If one of them is not a float32 device array.
    ValueError
        If the batch is empty or the shapes do not fit.

    Source: K, Z = X W; O, "Matrix Formulation".
    """
    x, w, b = check_dense(x, w, b)
    return product(x, w, b), (x, w, b is not None)


def dense_backward(dz, cache, need_dx=True):
    """Return (dx, dw, db), each of the shape of x, w, b; db is None where there was no b.

    Parameters
    ----------
    dz : (B, M) float32 device array
    cache : tuple
        From `dense_forward`.
    need_dx : bool
        False leaves dx out (it is None then).

    Raises
    ------
    TypeError
        If dz is not a float32 device array.
    ValueError
        If dz does not have the shape of z.

    Source: K, dJ/dW' = A^T delta1 and delta1 W'^T; O, BP3 for the bias.
    """
    x, w, has_bias = cache
    dz = operand("dz", dz, shape=(x.shape[0], w.shape[1]))
    dx = product(dz, w, B_turned=True) if need_dx else None
    return dx, product(x, dz, A_turned=True), column_sums(dz) if has_bias else None


def check_dense(x, w, b):
    """Return (x, w, b); errors as `dense_forward`: x (B, D), w (D, M), b (M,) or None."""
    x, w = operand("x", x, ndim=2), operand("w", w, ndim=2)
    require_product("x", x, "w", w)
    if b is not None:
        b = operand("b", b, ndim=1)
        if b.shape[0] != w.shape[1]:
            raise ValueError(f"w is {w.shape} and b is {b.shape}; b must hold one number for each column of w.")
    return x, w, b


def column_sums(x):
    """Return the sum of each column of a float32 device array (B, M): (M,), the same bits each time. No errors.

    ROWS rows a block, and their sums again, until one row is left. Source: O, BP3.
    """
    while True:
        slices = -(-x.shape[0] // ROWS)
        sums = empty((slices, x.shape[1]), np.float32)
        _column_sums[(-(-x.shape[1] // COLUMNS), slices), (COLUMNS, LANES)](x, sums)
        if slices == 1:
            return sums.reshape(x.shape[1])
        x = sums


@jit(cache=True)
def _column_sums(x, sums):
    parts = cuda.shared.array((LANES, COLUMNS), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col = cuda.blockIdx.x * COLUMNS + tx
    first = cuda.blockIdx.y * ROWS
    total = float32(0)
    if col < x.shape[1]:
        for row in range(first + ty, min(first + ROWS, x.shape[0]), LANES):
            total += x[row, col]
    parts[ty, tx] = total
    cuda.syncthreads()
    if ty == 0 and col < x.shape[1]:
        total = parts[0, tx]
        for lane in range(1, LANES):
            total += parts[lane, tx]
        sums[cuda.blockIdx.y, col] = total
