"""What the sheets of GPU exercises share: whole numbers as inputs, and how many blocks a launch needs.

Source: the course's own.
"""

import numpy as np


def whole(seed, *shape, low=-9, high=9):
    """Return (...) float32 whole numbers: sums of them are exact in any order. No errors.

    Source: the course's own.
    """
    return np.random.default_rng(seed).integers(low, high, shape, endpoint=True).astype(np.float32)


def up(n, block):
    """Return how many blocks n elements need. No errors. Source: the course's own."""
    return -(-n // block)
