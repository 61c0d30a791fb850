"""Input checks shared by the whole library: the one place that words an error.

Every message names the invariant, the values that were found, and the fix.
"""

import numbers

import numpy as np

KINDS = {"U": "text", "S": "text", "O": "Python objects", "c": "complex numbers", "M": "dates", "m": "times"}
"""What an array of a dtype's kind holds, in words."""


class NotFiniteError(ValueError, FloatingPointError):
    """NaN or infinity where numbers are needed: in data, or in what a network made of them.

    It is a ValueError and a FloatingPointError, so that either word catches it. Source: the course's own.
    """


def require_finite(name, array):
    """Raise NotFiniteError if `array` (n, ...) holds NaN or infinity, with the first row that does."""
    finite = np.isfinite(array)
    if not finite.all():
        place = tuple(int(i) for i in np.argwhere(~finite)[0])
        where = f"row {place[0]} of {name} holds" if place else f"{name} is"
        raise NotFiniteError(f"{where} NaN or infinity ({array[place]}); remove or fill such rows first.")


def as_array(name, value):
    """Return `value` as NumPy makes an array of it, unless something of it would be lost without a word.

    Raises
    ------
    ValueError
        If rows differ in length, or a masked array hides entries: NumPy would take what lies behind the mask.
    """
    try:
        array = np.asarray(value)
    except ValueError as error:  # rows of unequal length
        raise ValueError(f"{name} is not a rectangular array: {error}") from None
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        place = tuple(int(i) for i in np.argwhere(np.ma.getmaskarray(value))[0])
        where = f"row {place[0]} of {name} holds masked entries" if place else f"{name} is masked"
        raise ValueError(
            f"{where}, which would be computed with. Remove such rows, or fill them: {name}.filled(0) has 0 there."
        )
    return array


def as_float(name, value, *, ndim=None, min_rows=0):
    """Return `value` as an array of floats, without a copy where it is one already.

    Parameters
    ----------
    name : str
        What the caller calls the value; used in the error message.
    value : array_like
        float32 and float64 are kept, integers and booleans become float64.
    ndim : int or tuple of int, optional
        Allowed number of axes.
    min_rows : int
        Least allowed length of the first axis; 1 refuses an empty batch.

    Raises
    ------
    TypeError
        If the values are not real numbers of these types.
    ValueError
        If the number of axes or of rows is wrong, or entries are masked.
    """
    array = as_array(name, value)
    if array.dtype.kind in "iub":
        array = array.astype(np.float64)
    if array.dtype not in (np.float32, np.float64):
        raise TypeError(
            f"{name} has dtype {array.dtype}; it must be float32 or float64 (integers are converted). "
            + (
                f"Convert it first: {name}.astype(np.float32)."
                if array.dtype.kind == "f"
                else f"It holds {KINDS.get(array.dtype.kind, 'no numbers')}: make real numbers of them first."
            )
        )
    if ndim is not None:
        allowed = (ndim,) if isinstance(ndim, int) else tuple(ndim)
        if array.ndim not in allowed:
            wanted = " or ".join(str(n) for n in allowed)
            fix = f" For one sample, write {name}[None, :]; for one column, {name}[:, None]."
            raise ValueError(
                f"{name} has shape {array.shape}, {array.ndim} axes; it must have {wanted}."
                + (fix if allowed == (2,) and array.ndim == 1 else "")
            )
    if min_rows and array.ndim == 0:
        raise ValueError(f"{name} is one number, {array}; it must have rows, one for each sample.")
    if min_rows and array.shape[0] < min_rows:
        raise ValueError(
            f"{name} has shape {array.shape}: the batch is empty; it needs at least {min_rows} row(s). "
            "Check the slice or the filter that made it."
        )
    return array


def require_same_shape(name_a, a, name_b, b):
    """Raise ValueError unless arrays `a` and `b` have equal shapes (nothing is broadcast silently)."""
    if a.shape != b.shape:
        hint = ""
        if a.size == b.size:
            hint = f" They hold equally many values: reshape {name_b} to {a.shape}."
        raise ValueError(f"{name_a} is {a.shape} and {name_b} is {b.shape}; the shapes must be equal.{hint}")


def require_product(name_x, x, name_w, w):
    """Raise ValueError unless the matrix product x @ w exists: x.shape[1] == w.shape[0]."""
    if x.shape[1] != w.shape[0]:
        hint = f" Did you mean {name_w}.T?" if x.shape[1] == w.shape[1] else ""
        raise ValueError(
            f"{name_x} is {x.shape} and {name_w} is {w.shape}; {name_x}.shape[1] must equal {name_w}.shape[0].{hint}"
        )


def as_labels(name, value, *, rows=None, classes=None):
    """Return class numbers as an int64 vector (B,).

    Raises
    ------
    TypeError
        If the values are not integers.
    ValueError
        If the shape is not (rows,), a label lies outside 0 .. classes - 1, or is NaN, or is masked.
    """
    array = as_array(name, value)
    if array.dtype.kind == "O" and array.ndim == 0:  # None, a set, a dictionary, a generator
        raise TypeError(
            f"{name} is {type(value).__name__}; labels are a list or an array of integers, the number of each "
            "sample's class."
        )
    if array.shape == (0,):
        array = array.astype(np.int64)  # np.asarray([]) is float64
    one_hot = array.ndim == 2 and array.shape[1] > 1  # the argmax of a single column is 0 in every row
    column = f"{name}[:, 0]" if array.ndim == 2 else name
    if array.dtype.kind == "f":
        require_finite(name, array)
    if array.dtype.kind not in "iu":
        fix = f"{name}.argmax(axis=1)" if one_hot else f"{column}.astype(np.int64)"
        held = "one-hot rows" if one_hot else "whole numbers"
        if array.dtype.kind in "USO" and not one_hot:  # names of classes
            fix, held = f"np.unique({column}, return_inverse=True)[1]", "names of classes"
        raise TypeError(
            f"{name} has dtype {array.dtype} and shape {array.shape}; labels are integers, the number of each sample's "
            f"class. Write {fix} if it holds {held}."
        )
    if array.ndim != 1 or (rows is not None and array.shape[0] != rows):
        wanted = "(B,)" if rows is None else f"({rows},), one label for each row"
        fix = ""
        if array.ndim == 2 and rows in (None, array.shape[0]):
            if one_hot:
                fix = f" Write {name}.argmax(axis=1) if it holds one-hot rows."
            else:
                fix = f" Write {column}: one axis, not a column."
        raise ValueError(f"{name} has shape {array.shape}; it must be {wanted}.{fix}")
    if classes is not None and array.size:
        bad = np.flatnonzero((array < 0) | (array >= classes))
        if bad.size:
            i = int(bad[0])
            raise ValueError(
                f"{name}[{i}] is {array[i]}; with {classes} classes a label lies in 0 .. {classes - 1}. "
                f"{bad.size} label(s) are out of range"
                + (": was the network built with too few outputs?" if array[i] > 0 else ": labels count from 0.")
            )
    if array.dtype == np.uint64 and array.size and array.max() > np.iinfo(np.int64).max:
        raise ValueError(f"{name} holds {array.max()}; labels count the classes from 0, and there are not so many.")
    return array.astype(np.int64, copy=False)


def require_probabilities(name, k, tolerance=1e-3):
    """Raise ValueError unless every row of k (B, C) holds probabilities: numbers >= 0 that sum to 1.

    The tolerance is for rounding, and for a gradient check, which moves single probabilities by about 1e-6.
    """
    sums = k.sum(axis=1)
    with np.errstate(invalid="ignore"):
        good = (np.abs(sums - 1) <= tolerance) & (k.min(axis=1) >= -tolerance)  # False for NaN
    if not good.all():
        i = int(np.argmin(good))
        raise ValueError(
            f"row {i} of {name} sums to {sums[i]:.4g}, its least value is {k[i].min():.4g}; a row of probabilities "
            f"holds numbers >= 0 and sums to 1 (within {tolerance:g}). Make them of scores by softmax({name}); in a "
            "network, put nn.Softmax() last."
        )


def require_choice(name, value, allowed):
    """Raise ValueError unless `value` is one of the names in `allowed`."""
    if value not in allowed:
        raise ValueError(f"{name} is {value!r}; it must be one of {', '.join(allowed)}.")


def require_some(name, things):
    """Raise ValueError if `things` is empty: nothing can be drawn of nothing."""
    if len(things) == 0:
        raise ValueError(f"{name} is empty; it must hold at least one entry. Check what made it.")


def require_number(name, value):
    """Return `value` as float; raise TypeError unless it is one real number."""
    array = np.asarray(value)
    if array.ndim or array.dtype.kind not in "iuf":
        what = f"of shape {array.shape}" if array.ndim else repr(value)
        raise TypeError(f"{name} is {what}; it must be one number.")
    return float(array)


def require_positive(name, value, *, zero=False):
    """Return `value` as float; raise unless it is a finite number > 0 (or >= 0 with `zero`)."""
    if isinstance(value, bool) or not isinstance(value, (numbers.Real, np.number)):
        raise TypeError(f"{name} is {value!r}; it must be a number.")
    try:
        value = float(value)
    except OverflowError:  # a whole number of Python's beyond all floats
        value = float("inf")
    if not np.isfinite(value) or value < 0 or (value == 0 and not zero):
        raise ValueError(f"{name} is {value:g}; it must be a finite number {'>= 0' if zero else '> 0'}.")
    return value


def require_count(name, value, *, minimum=1):
    """Return `value` as int; raise unless it is a whole number >= minimum."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} is {value!r}; it must be a whole number.")
    if value < minimum:
        raise ValueError(f"{name} is {value}; it must be >= {minimum}.")
    return int(value)


def require_rng(rng):
    """Return `rng`; raise TypeError unless it is a numpy Generator (the course has no global seed)."""
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng is {rng!r}; it must be a numpy.random.Generator. Write rng=np.random.default_rng(0).")
    return rng
