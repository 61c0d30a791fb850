"""The dense layer with products that do not wait for threads: `course_lib.reference.dense`'s functions, for speed.

Source: K, Z = X W and the gradients X^T delta, delta W^T; O, "Matrix Formulation".
"""

from course_lib.fast.products import product
from course_lib.reference.dense import check_dense, check_dense_upstream


def dense_forward(x, w, b=None):
    """Return (z, cache) as `reference.dense_forward`: x (B, D), w (D, M), b (M,), z (B, M).

    Raises TypeError and ValueError as there. Source: K, Z = X W; O, "Matrix Formulation".
    """
    x, w, b = check_dense(x, w, b)
    z = product(x, w)
    if b is not None:
        z = z + b
    return z, (x, w, b is not None)


def dense_backward(dz, cache, need_dx=True):
    """Return (dx, dw, db) as `reference.dense_backward`, of the shapes of x, w, b, for dz (B, M).

    Raises ValueError if dz does not have the shape of z.
    Source: K, dJ/dW' = A^T delta1 and delta1 W'^T; O, BP3 for the bias.
    """
    x, w, has_bias = cache
    dz = check_dense_upstream(dz, x, w)
    dx = product(dz, w.T) if need_dx else None
    return dx, product(x.T, dz), dz.sum(axis=0) if has_bias else None
