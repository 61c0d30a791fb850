"""Compare two arrays and, where they differ, say where, by how much, and what it may mean."""

import numpy as np

TRANSPOSED = " It looks transposed."
ZERO = " It is zero everywhere: was it computed, or only allocated?"


class Mismatch(AssertionError):
    """Two results that should agree do not; the message says where and by how much.

    `index` is that of the first wrong element, a tuple; None where shapes differ. Source: the course's own.
    """

    def __init__(self, message, index=None):
        super().__init__(message)
        self.index = index


def check_close(actual, expected, *, rtol=1e-7, atol=0.0, name="result"):
    """Raise `Mismatch` unless `actual` equals `expected` within atol + rtol * |expected|, element by element.

    Parameters
    ----------
    actual, expected : array_like
        Equal shapes; nothing is broadcast.
    rtol, atol : float >= 0
    name : str
        What the message calls the array.

    Raises
    ------
    Mismatch
        With the first wrong element. NaN equals nothing, not even NaN.

    Source: the course's own.
    """
    actual, expected = np.asarray(actual), np.asarray(expected)
    if actual.shape != expected.shape:
        hint = TRANSPOSED if is_transpose(actual, expected) else ""
        raise Mismatch(f"{name} has shape {actual.shape}, expected {expected.shape}.{hint}")
    if actual.dtype.kind not in "biufc" or expected.dtype.kind not in "biufc":
        raise TypeError(f"{name} is {actual.dtype} and expected is {expected.dtype}; both must be numbers.")
    given, wanted = actual, expected
    # Integers as floats: differences of small ones wrap around (uint8: 0 - 255 is 1), and booleans have none.
    actual, expected = (a.astype(np.float64) if a.dtype.kind in "biu" else a for a in (actual, expected))
    with np.errstate(invalid="ignore"):
        good = np.abs(actual - expected) <= atol + rtol * np.abs(expected)
        good &= np.isfinite(actual) & np.isfinite(expected)  # "<= infinity" holds for everything
        good |= np.isinf(actual) & (actual == expected)
    if rtol == atol == 0:
        good &= given == wanted  # floats do not tell large whole numbers apart
    wrong = np.argwhere(~good)
    if len(wrong) == 0:
        return
    where = tuple(int(i) for i in wrong[0])
    got, want = _shown(given[where], 9), _shown(wanted[where], 9)
    if got == want:
        got, want = _shown(given[where], 17), _shown(wanted[where], 17)
    place = f"{name}[{', '.join(map(str, where))}]" if where else name
    raise Mismatch(
        f"{place} is {got}, expected {want}; {len(wrong)} of {actual.size} element(s) differ by more than "
        f"rtol={rtol:g}, atol={atol:g}.{usual_cause(actual, expected)}",
        where,
    )


def _shown(number, digits):
    """Return True or False, a whole number with all its digits, or a float with so many."""
    return str(number) if number.dtype.kind in "biu" else f"{number:.{digits}g}"


def usual_cause(actual, expected):
    """Name the mistakes that leave a recognisable trace, as " It ..."; "" where others would leave the same one.

    actual, expected are float arrays of one shape that differ. No errors. Source: the course's own.
    """
    if not np.isfinite(actual).all():
        return " There are NaN or infinite values: look for a division by zero, a log of 0 or an overflow."
    if _alike(actual, expected) or not np.isfinite(expected).all():
        return ""  # only rounding, or no number to compare with
    if actual.size > 1 and not actual.any():
        return ZERO
    if _alike(actual, -expected):
        return " It has the wrong sign."
    if actual.ndim == 2 and actual.shape[0] == actual.shape[1] and _alike(actual, expected.T):
        return " It is the transpose of what was expected."
    nonzero = expected != 0
    if nonzero.sum() > 1 and not np.any(actual[~nonzero]):  # one number is always some factor times another
        ratios = actual[nonzero] / expected[nonzero]
        if _alike(ratios, np.full_like(ratios, ratios[0])):
            return f" It is {ratios[0]:.4g} times what was expected: a missing or extra factor, such as 1/n."
    return ""


def is_transpose(actual, expected):
    """Return whether arrays of numbers, of different shapes, have each other's numbers transposed. No errors.

    Source: the course's own.
    """
    if actual.ndim < 2 or actual.shape != expected.shape[::-1] or not actual.size:
        return False
    numbers = actual.dtype.kind in "biuf" and expected.dtype.kind in "biuf"
    return numbers and _alike(actual.T.astype(np.float64), expected.astype(np.float64))


def _alike(one, other):
    """Equal but for rounding, measured by the largest number: tiny numbers are not all alike."""
    return np.abs(one - other).max() <= 1e-5 * np.abs(other).max()
