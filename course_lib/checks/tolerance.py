"""How far two results may lie apart that differ only by rounding: the one home of such bounds, with their reasons."""

import numpy as np

from course_lib.validate import as_float, require_product


def product_tolerance(a, b, dtype=np.float32):
    """Return, for each element of a @ b, how far a product computed in `dtype` may lie from the exact one.

    4 sqrt(K) u (|a| @ |b|), where u is half the distance of 1 to the next number: 2^-24 in float32. Each of the
    K multiply-adds rounds once, by at most u times the sum it has reached, and no sum exceeds |a| @ |b|. Roundings go
    up as often as down, so K of them add up like the steps of a random walk, to about sqrt(K) of their size; four
    times that is not reached by chance. A missing product, about 1/K of |a| @ |b|, is larger up to K = 10,000 or so.

    Parameters
    ----------
    a : (M, K) array
    b : (K, N) array
    dtype : numpy.float32 or numpy.float64
        What the sums were computed in.

    Returns
    -------
    (M, N) float64 array

    Raises
    ------
    TypeError
        If a, b or dtype are not of these types.
    ValueError
        If the product does not exist, or K is 0.

    Source: the course's own; the bound K u (|a| @ |b|), without the random walk, is Higham's (2002), section 3.5.
    """
    a, b = as_float("a", a, ndim=2).astype(np.float64), as_float("b", b, ndim=2, min_rows=1).astype(np.float64)
    require_product("a", a, "b", b)
    if np.dtype(dtype) not in (np.float32, np.float64):
        raise TypeError(f"dtype is {np.dtype(dtype)}; it must be float32 or float64.")
    return 4 * np.sqrt(a.shape[1]) * (np.finfo(dtype).eps / 2) * (np.abs(a) @ np.abs(b))
