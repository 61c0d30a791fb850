"""The bounds of `course_lib.checks.fft_tolerance` for a convolution's results, for the tests of all its forms."""

import numpy as np

from course_lib.checks import fft_tolerance


def bounds(x, w, dy, points, dtype, parts=1):
    """Return how far (y, dx, dw) may lie from the exact ones, each to be compared with (n, maps, rows, columns).

    `parts`: tiles of an image, whose products dw adds up too.
    """
    x2, w2, dy2 = (np.sqrt((a.astype(np.float64) ** 2).sum(axis=(2, 3))) for a in (x, w, dy))
    sums = (x2 @ w2.T, x.shape[1]), (dy2 @ w2, w.shape[0]), (dy2.T @ x2, x.shape[0] * parts)
    return [fft_tolerance(norms, points, terms, dtype)[:, :, None, None] + 1e-300 for norms, terms in sums]
