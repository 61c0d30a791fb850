"""Errors and argument checks that every data source shares, so that they are worded in one place."""

from numbers import Integral, Real

import numpy as np


class DataFileError(ValueError):
    """A data file is not what it should be: the message says which file, what was found, where to get it.

    Source: the course's own.
    """


class DataFileMissing(DataFileError, FileNotFoundError):
    """A data file or folder does not exist. Also a `FileNotFoundError`, for those who catch that.

    Source: the course's own.
    """


def check_rng(rng):
    """Return `rng`, or raise TypeError if it is not a `numpy.random.Generator`.

    A seed or the old global `np.random` would hide where the randomness of a lesson comes from.
    """
    if not isinstance(rng, np.random.Generator):
        raise TypeError(
            f"rng is {_short(rng)}; it must be a numpy.random.Generator. Did you mean rng=np.random.default_rng(0)?"
        )
    return rng


def check_count(name, value, least=1):
    """Return `value` as an int; TypeError if it is no whole number, ValueError if it is below `least`."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
        raise TypeError(f"{name} is {_short(value)}; it must be a whole number (int) of at least {least}")
    if value < least:
        raise ValueError(f"{name} is {value}; it must be at least {least}")
    return int(value)


def check_amount(name, value):
    """Return `value`, a finite number >= 0 (noise, spread), as a float; else TypeError or ValueError."""
    value = check_number(name, value)
    if value < 0:
        raise ValueError(f"{name} is {value}; it is a standard deviation, so it must be 0 or more")
    return value


def check_number(name, value):
    """Return `value` as a float; TypeError if it is no real number, ValueError if it is infinite or NaN."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(f"{name} is {_short(value)}; it must be one real number")
    if not np.isfinite(value):
        raise ValueError(f"{name} is {value}; it must be finite")
    return float(value)


def check_array(name, value, shape):
    """Return `value` as a finite float64 array whose shape matches `shape` (None: any length of at least 1).

    Raises ValueError that names both shapes.
    """
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as cause:
        raise ValueError(f"{name} is {_short(value)}; it must be numbers of shape {_words(shape)}") from cause
    sizes = zip(array.shape, shape, strict=False)
    if array.ndim != len(shape) or any(size != want if want else size < 1 for size, want in sizes):
        raise ValueError(f"{name} has shape {array.shape}; it must have shape {_words(shape)}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds {array[~np.isfinite(array)][0]}; every number in it must be finite")
    return array


def _words(shape):
    sizes = ["any" if size is None else str(size) for size in shape]
    return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"


def _short(value):
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 60 else text[:57] + '...'}"
