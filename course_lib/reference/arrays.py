"""What a network asks of its arrays besides mathematics: where they live, copies, and sums in place.

Source: the course's own. `course_lib.nn` is written against these names, so that it need not know on which side of the
border between host and device its numbers lie. Here that border does not exist: arrays stay where they are.
"""

import numpy as np


def to_backend(host):
    """Return an array (...) as this backend computes with it; here the array itself. No errors.

    Source: the course's own.
    """
    return host


def to_host(array):
    """Return an array (...) of this backend as a NumPy array; here the array itself. No errors.

    Source: the course's own.
    """
    return array


def zeros_like(array):
    """Return zeros of the shape (...) and the dtype of an array. No errors. Source: the course's own."""
    return np.zeros_like(array)


def copy_of(array):
    """Return a copy (...) that shares no memory with the array, and keeps its order. No errors.

    Source: the course's own.
    """
    return array.copy(order="K")


def fill_zero(array):
    """Set every number of an array (...) to zero, in place. No errors. Source: the course's own."""
    array[...] = 0


def assign(array, values):
    """Overwrite an array (...) in place by `values` of the same shape, the host's or this backend's.

    Raises ValueError, as NumPy does, if the shapes do not fit. Source: the course's own.
    """
    array[...] = values


def accumulate(total, part):
    """Add `part` to `total` in place; both (...). Raises ValueError, as NumPy does, if the shapes do not fit.

    Source: K, "Chain Rule" (where paths meet, gradients are added).
    """
    total += part


def keep_where(mask, a):
    """Return a where the mask is not 0, else 0, also for NaN and infinity; both (...), of one shape.

    Raises ValueError, as NumPy does, if the shapes do not fit. Source: the course's own.
    """
    return np.where(mask != 0, a, a.dtype.type(0))
