"""Inputs on one scale: every feature with mean 0 and standard deviation 1, measured on the training data alone.

Source: LeCun, Bottou, Orr and Mueller (1998), "Efficient BackProp", section 4.3, "Normalizing the Inputs".
"""

from dataclasses import dataclass

import numpy as np

from course_lib.validate import as_float, require_finite


@dataclass(frozen=True, eq=False)
class Standardiser:
    """What `fit_standardiser` measured: `apply` subtracts the mean and divides by the scale, `undo` goes back.

    Attributes
    ----------
    mean, scale : float64 arrays (1, ...)
        One number for each feature; the scale is the standard deviation, and 1 for a feature that is constant.

    Source: LeCun et al. (1998), "Efficient BackProp", section 4.3.
    """

    mean: np.ndarray
    scale: np.ndarray

    def apply(self, x):
        """Return (x - mean) / scale, of x's shape and dtype; x (n, ...) has the features that were measured.

        TypeError if x holds no real numbers, ValueError if its features are others, or NaN or infinity.
        """
        x = self._fitting(x)
        return ((x - self.mean) / self.scale).astype(x.dtype)

    def undo(self, x):
        """Return x * scale + mean, of x's shape and dtype; errors as `apply`."""
        x = self._fitting(x)
        return (x * self.scale + self.mean).astype(x.dtype)

    def _fitting(self, x):
        x = as_float("x", x)
        fits = x.ndim == self.mean.ndim and all(m in (1, n) for m, n in zip(self.mean.shape, x.shape, strict=True))
        if not fits:
            measured = ", ".join(["n", *("any" if m == 1 else str(m) for m in self.mean.shape[1:])])
            raise ValueError(
                f"x is {x.shape}; this standardiser was fitted to arrays ({measured}). For one sample, write x[None]."
            )
        require_finite("x", x)
        return x


def fit_standardiser(x, axis=0):
    """Measure mean and standard deviation of the training data, and return the `Standardiser` for all data.

    Parameters
    ----------
    x : (n, ...) array, n >= 1
        The training data and nothing else: what is measured on test data has seen the test.
    axis : int or tuple of int
        Axes to measure over. 0: each column, or pixel, is a feature. (0, 2, 3): each colour of images (B, C, H, W).
        (0, 1): all columns of (n, D) together, one mean and one scale.

    Returns
    -------
    Standardiser

    Raises
    ------
    TypeError
        If x does not hold real numbers, or axis no whole numbers.
    ValueError
        If x is empty or holds NaN or infinity, its numbers are too large to be squared, or axis leaves out the samples.

    Notes
    -----
    Source: LeCun et al. (1998), "Efficient BackProp", section 4.3.
    """
    x = as_float("x", x, min_rows=1)
    axes = axis if isinstance(axis, tuple) else (axis,)
    if not all(isinstance(a, int) and not isinstance(a, bool) for a in axes):
        raise TypeError(f"axis is {axis!r}; it must be a whole number or a tuple of them, such as 0 or (0, 2, 3).")
    if 0 not in axes or not all(0 <= a < x.ndim for a in axes) or len(set(axes)) < len(axes):
        raise ValueError(
            f"axis is {axis!r} and x is {x.shape}; it must hold 0, the axis of the samples, and may hold "
            "others of x's, each once."
        )
    if x.size == 0:
        raise ValueError(f"x has shape {x.shape}: it holds no features; every size must be at least 1.")
    require_finite("x", x)
    numbers = x.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        mean, sd = numbers.mean(axis=axes, keepdims=True), numbers.std(axis=axes, keepdims=True)
    if not (np.isfinite(mean).all() and np.isfinite(sd).all()):
        raise ValueError(f"x reaches {np.abs(numbers).max():.3g}, too large to be squared; divide it by that first.")
    # Asked of the numbers themselves: the mean of equal numbers is rounded, and the deviation from it not quite 0.
    constant = (numbers.min(axis=axes, keepdims=True) == numbers.max(axis=axes, keepdims=True)) | (sd == 0)
    first = numbers[tuple(slice(0, 1) if a in axes else slice(None) for a in range(x.ndim))]
    return Standardiser(np.where(constant, first, mean), np.where(constant, 1.0, sd))
