"""The dense layer: every output sees every input. For a batch it is one matrix product.

Source: K, Z = X W and the gradients X^T delta, delta W^T; O, "Matrix Formulation" and BP1-BP4 (the bias).
"""

from course_lib.validate import as_float, require_product


def dense_forward(x, w, b=None):
    """Return (z, cache) with z = x w + b.

    Parameters
    ----------
    x : (B, D) array, B >= 1
        One sample a row.
    w : (D, M) array
        One column a neuron.
    b : (M,) array, optional
        K's layers have none; O's have one.

    Returns
    -------
    z : (B, M) array
    cache : tuple
        What `dense_backward` needs.

    Raises
    ------
    ValueError
        If the batch is empty or the shapes do not fit.

    Source: K, Z = X W; O, "Matrix Formulation".
    """
    x, w, b = check_dense(x, w, b)
    z = x @ w
    if b is not None:
        z = z + b
    return z, (x, w, b is not None)


def dense_backward(dz, cache, need_dx=True):
    """Return (dx, dw, db), each of the shape of x, w, b; db is None where there was no b.

    Parameters
    ----------
    dz : (B, M) array
        dE/dz.
    cache : tuple
        From `dense_forward`.
    need_dx : bool
        False leaves dx out (it is None then): the first layer of a network has nobody to hand it to.

    Raises
    ------
    ValueError
        If dz does not have the shape of z.

    Source: K, dJ/dW' = A^T delta1 and delta1 W'^T; O, BP3 for the bias.
    """
    x, w, has_bias = cache
    dz = check_dense_upstream(dz, x, w)
    dx = dz @ w.T if need_dx else None  # (B, M)(M, D): how much each input mattered
    dw = x.T @ dz  # (D, B)(B, M): summed over the batch by the product
    db = dz.sum(axis=0) if has_bias else None
    return dx, dw, db


def check_dense(x, w, b):
    """Return (x, w, b) as floats; errors as `dense_forward`: x (B, D), w (D, M), b (M,) or None."""
    x, w = as_float("x", x, ndim=2, min_rows=1), as_float("w", w, ndim=2)
    require_product("x", x, "w", w)
    if b is not None:
        b = as_float("b", b, ndim=1)
        if b.shape[0] != w.shape[1]:
            raise ValueError(f"w is {w.shape} and b is {b.shape}; b must hold one number for each column of w.")
    return x, w, b


def check_dense_upstream(dz, x, w):
    """Return dz as floats; raise ValueError unless it has the shape of z = x w."""
    dz = as_float("dz", dz, ndim=2)
    if dz.shape != (x.shape[0], w.shape[1]):
        raise ValueError(f"dz is {dz.shape}; it must have the shape of z, ({x.shape[0]}, {w.shape[1]}).")
    return dz
