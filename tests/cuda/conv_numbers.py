"""Numbers for tests of convolutions: whole ones, whose sums are exact in any order, normal ones, and an infinity."""

import numpy as np

from course_lib.reference.conv2d import conv2d_forward


def whole_numbers(*shape, seed=0):
    """Small whole numbers: any order of adding them up is exact."""
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float32)


def normal(*shape, seed=0):
    """Normal numbers of this shape."""
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


def with_an_infinity(x_shape, w_shape, pad):
    """Return (x, w, y, seen): whole numbers, one of x infinite; y without that one; which outputs look at it."""
    x, w = whole_numbers(*x_shape), whole_numbers(*w_shape, seed=1)
    w[w == 0] = 1
    y, _ = conv2d_forward(x, w, None, 1, pad)
    x[0, 1, x.shape[2] // 2, x.shape[3] // 2] = np.inf
    with np.errstate(invalid="ignore"):
        seen = ~np.isfinite(conv2d_forward(x, w, None, 1, pad)[0])
    return x, w, y, seen
