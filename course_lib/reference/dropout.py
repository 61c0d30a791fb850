"""Dropout: in training, numbers are set to zero by chance, and the others grow so that the mean stays.

Source: Srivastava et al. (2014), "Dropout: A Simple Way to Prevent Neural Networks from Overfitting"; scaled in
training instead of in use, "inverted dropout", as in their section 10. The chance is a counter: number i of an array
gets the i-th number of SplitMix64 (Steele, Lea and Flood, 2014, "Fast Splittable Pseudorandom Number Generators"). So
no mask is stored, the way back makes it again, and every backend drops the same numbers.
"""

import numpy as np

from course_lib.validate import as_float, require_count, require_positive, require_same_shape

ALL = 2**32
"""A number stays if its 32 random bits, read as a whole number, are below its share of so many."""

GAMMA, MIX1, MIX2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
"""SplitMix64's step from one state to the next, and the factors that mix its bits."""


def dropout_forward(x, rate, seed):
    """Return (y, cache): y is 0 with chance `rate`, else x / (1 - rate).

    Parameters
    ----------
    x : (...) array
    rate : float in [0, 1)
        Chance to be dropped. It is rounded to a multiple of 2^-32.
    seed : int, 0 <= seed < 2^64
        Equal seeds drop equal places of equal shapes; take another one in every step and every layer.

    Returns
    -------
    y : array of x's shape
        A number that is dropped is 0 even if it was NaN or infinity.
    cache : tuple

    Raises
    ------
    TypeError
        If x does not hold real numbers, or seed is no whole number.
    ValueError
        If rate or seed is out of range; in use, when nothing is dropped, leave the call out.

    Source: Srivastava et al. (2014), section 4.
    """
    keep, seed = check_dropout(rate, seed)
    x = as_float("x", x)
    return _dropped(x, keep, seed), (keep, seed, x.shape)


def dropout_backward(dy, cache):
    """Return dx: 0 where y was dropped, else dy / (1 - rate).

    dy (...) of the shape of y, else ValueError; returns (...). Source: Srivastava et al. (2014), section 5.1.
    """
    keep, seed, shape = cache
    return _dropped(check_upstream(dy, shape), keep, seed)


def check_dropout(rate, seed):
    """Return (how many of 2^32 stay, seed) as whole numbers; errors as `dropout_forward`."""
    rate, seed = require_positive("rate", rate, zero=True), require_count("seed", seed, minimum=0)
    keep = round((1 - rate) * ALL)
    if keep < 1:
        raise ValueError(f"rate is {rate:.12g}; it must be below 1, or nothing stays. Usual are 0.1 to 0.5.")
    if seed >= 2**64:
        raise ValueError(f"seed is {seed}; it must be below 2^64: int(rng.integers(2**63)) draws one.")
    return keep, seed


def later_seed(seed, count):
    """Return the seed whose first number is number `count` of `seed`'s: for a part of an array, as of the whole one.

    No errors. Source: Steele, Lea and Flood (2014): a state is a sum of equal steps.
    """
    return (seed + count * GAMMA) % 2**64


def check_upstream(dy, shape):
    """Return dy as floats; raise ValueError unless it has the `shape` of y (...)."""
    dy = as_float("dy", dy)
    if dy.shape != shape:
        require_same_shape("dy", dy, "y", np.empty(shape, bool))
    return dy


def stays(count, keep, seed):
    """Return which of `count` numbers stay: bool (count,). No errors. Source: Steele, Lea and Flood (2014)."""
    z = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(GAMMA) + np.uint64(seed)  # wraps around at 2^64
    z = (z ^ (z >> np.uint64(30))) * np.uint64(MIX1)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(MIX2)
    z ^= z >> np.uint64(31)
    return (z >> np.uint64(32)) < np.uint64(keep)


def _dropped(x, keep, seed):
    """Return x (...), scaled where it stays, and 0 elsewhere."""
    return np.where(stays(x.size, keep, seed).reshape(x.shape), x * x.dtype.type(ALL / keep), x.dtype.type(0))
