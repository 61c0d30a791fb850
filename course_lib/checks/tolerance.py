"""How far two results may lie apart that differ only by rounding: the one home of such bounds, with their reasons."""

import numpy as np

from course_lib.validate import as_float, require_count, require_product


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


def fft_tolerance(norms, points, terms=1, dtype=np.float32):
    """Return how far a convolution by Fourier transforms of `points` numbers may lie from the exact one.

    u (3 log2(points) + 4 sqrt(terms)) norms, where `norms` is the sum of |x|_2 |w|_2 over what is added up as
    frequencies. A transform has log2(points) stages, and each rounds once a number, by at most u times what it holds.
    There are three transforms: of x, of w, and back. With Parseval's rule, |X|_2 = sqrt(points) |x|_2, and Cauchy's
    inequality, an error of u |X|_2 in X or of u |W|_2 in W moves no result by more than u |x|_2 |w|_2; and so does a
    stage of the inverse, since the numbers that a result is made of add up to at most |x|_2 |w|_2 at each stage. Then
    `terms` products are added up: 4 sqrt(terms) as in `product_tolerance`. That a stage is a product and two sums, up
    to five roundings at worst, is left out, since roundings go up as often as down: usual errors are 1/20 of this.

    Parameters
    ----------
    norms : (...) array
        For y: sum over c of |x[b, c]|_2 |w[m, c]|_2. dx and dw alike.
    points : int >= 2
        Rows times columns of a transform.
    terms : int >= 1
        Products that are added up in one frequency.
    dtype : numpy.float32 or numpy.float64
        What was computed in.

    Returns
    -------
    (...) float64 array

    Raises
    ------
    TypeError, ValueError
        If dtype is none of these, or a number is not a whole one or too small.

    Source: the course's own; N. J. Higham, "Accuracy and Stability of Numerical Algorithms", section 24.1, for one
    transform.
    """
    norms = as_float("norms", norms).astype(np.float64)
    points, terms = require_count("points", points, minimum=2), require_count("terms", terms)
    if np.dtype(dtype) not in (np.float32, np.float64):
        raise TypeError(f"dtype is {np.dtype(dtype)}; it must be float32 or float64.")
    return np.finfo(dtype).eps / 2 * (3 * np.log2(points) + 4 * np.sqrt(terms)) * norms
