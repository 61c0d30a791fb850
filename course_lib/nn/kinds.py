"""Which kind of numbers a graph computes with: NumPy's rules, and integers as float64.

- An array keeps its kind, and a plain Python number takes the kind of the array it meets: float32 * 2.0 is float32
  (NumPy's promotion rules, NEP 50). NumPy's own numbers, such as np.float64(2), count as arrays.
- Integers and booleans are computed with as float64, as everywhere in the library: they would wrap around (uint8), and
  a small step of one cannot be told.
- A gradient has the shape and the kind of the value that it belongs to; for integers it is float64.

Source: the course's own; NumPy, "NEP 50: Promotion rules for Python scalars".
"""

import numpy as np


def plain(value):
    """Return whether a value is a number of Python's own, whose kind is that of what it meets. No errors.

    Source: NumPy, "NEP 50".
    """
    return type(value) in (bool, int, float)


def real(value):
    """Return a value (...) as arithmetic takes it: floats as they are, integers and booleans as float64.

    Raises
    ------
    TypeError
        If it holds anything but real numbers.

    Source: the course's own.
    """
    if plain(value):
        return float(value)
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise TypeError(
            f"a node holds {value!r:.60} of dtype {array.dtype}; a graph computes with real numbers: floats, integers "
            "or booleans."
        )
    return value if array.dtype.kind == "f" else array.astype(np.float64)


def gradient_for(value, gradient):
    """Return a gradient in the kind of the value (...) that it belongs to. No errors. Source: the course's own."""
    dtype = getattr(value, "dtype", None)
    return gradient if dtype is None or dtype.kind != "f" else np.asarray(gradient, dtype=dtype)


def unbroadcast(gradient, shape):
    """Sum a gradient over the axes along which its value, of shape (...), was repeated (a bias added to every row).

    No errors. Source: K, "Chain Rule" (where paths meet, gradients are added).
    """
    gradient = np.asarray(gradient)
    while gradient.ndim > len(shape):
        gradient = gradient.sum(axis=0)
    axes = tuple(i for i, n in enumerate(shape) if n == 1 and gradient.shape[i] != 1)
    return gradient.sum(axis=axes, keepdims=True) if axes else gradient
