"""More examples from the ones there are: the same digit, moved by a pixel or two, is the same digit.

Source: H, "Inputs and Labels May be Biased" (more versions of an input); the method is the course's choice.
"""

from functools import partial

import numpy as np

from course_lib.validate import as_float, require_count, require_rng


def random_shifts(most=2):
    """Return a function augment(x, rng) that moves every image by up to `most` pixels on each axis.

    x is (B, C, H, W); what moves in from outside is 0. Pass it to `nn.train(..., augment=...)`.

    Raises
    ------
    TypeError, ValueError
        If `most` is not a whole number >= 0, or x has other axes.

    Source: H, "Inputs and Labels May be Biased"; the method is the course's choice.
    """
    return partial(_moved, require_count("most", most, minimum=0))  # a partial can be pickled, a function in here not


def _moved(most, x, rng):
    """Return a moved copy of x (B, C, H, W)."""
    x, rng = as_float("x", x, ndim=4), require_rng(rng)
    B, _, H, W = x.shape
    padded = np.pad(x, ((0, 0), (0, 0), (most, most), (most, most)))
    down, right = rng.integers(0, 2 * most + 1, (2, B, 1))
    rows, columns = down + np.arange(H), right + np.arange(W)  # (B, H), (B, W)
    image = np.arange(B)[:, None, None]
    # Advanced indices on both sides of a slice put the maps last; move them back.
    return np.moveaxis(padded[image, :, rows[:, :, None], columns[:, None, :]], 3, 1)
