"""One value in several forms: a list for an array, an array for a list, and what to say of a form that does not count.

Source: the course's own; the rule for students is in ANSWERS.md.
"""

import numpy as np

NUMBERS = "biufc"
"""Kinds of dtype that are numbers or truth values."""

ADVICE = {
    **dict.fromkeys(
        ("generator", "map", "filter", "zip", "enumerate", "reversed", "dict_keys", "dict_values", "dict_items",
         "list_iterator", "tuple_iterator", "range_iterator", "list_reverseiterator", "chain", "itertools.chain"),
        " Make a list of it: list(...).",
    ),
    **dict.fromkeys(("set", "frozenset"), " A set has no order; make a list of it, such as sorted(...) does."),
    **dict.fromkeys(("function", "method", "builtin_function_or_method"), " Are the brackets of a call missing?"),
    **dict.fromkeys(("bytes", "bytearray"), " Make a text of it: .decode()."),
    "coroutine": " Is there an async before def, or an await missing?",
    "masked array": " Fill what is masked: .filled(...).",
}  # fmt: skip
"""Name of a type that holds no plain value -> what to do."""

FEW_DIGITS = {"e": (3, 2e-3), "f": (7, 1e-5), "F": (7, 1e-5)}
"""Character of a dtype -> decimal digits that it keeps, and how far off results are, as a share of the largest."""


def advice(type_name):
    """Return what to do with a value of a type that is not plain, " Make ...", or "". No errors.

    Source: the course's own.
    """
    return ADVICE.get(type_name.split(",")[0], "")


def as_sequence(value):
    """Return the parts of a list, a tuple or an array as a list or tuple, None of anything else. No errors.

    Source: the course's own.
    """
    if isinstance(value, np.ndarray) and value.shape:
        return list(value)
    return value if isinstance(value, list | tuple) else None


def as_array(value):
    """Return a list or tuple of numbers, nested as the rows of an array are, as this array.

    ValueError in words where it is none. Source: the course's own.
    """
    waiting, numbers = [value], (bool, int, float, complex, np.generic, np.ndarray)
    while waiting:
        part = waiting.pop()
        if isinstance(part, list | tuple):
            waiting += part
        elif not isinstance(part, numbers):
            raise ValueError("with something else than numbers in it")
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError("with rows of different lengths") from None
    if array.dtype.kind not in NUMBERS:
        raise ValueError("with a number that is too large")
    return array


def as_plain(value):
    """Return a value with lists for arrays and Python's own numbers for NumPy's, as far as it has them. No errors.

    Source: the course's own.
    """
    if isinstance(value, list | tuple):
        return type(value)(map(as_plain, value))
    if isinstance(value, dict):
        return {as_plain(k): as_plain(v) for k, v in value.items()}
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def too_few_digits(got, expected):
    """Return " It is float32, ..." if only the digits of such a type make arrays of one shape differ, or "".

    No errors. Source: the course's own; IEEE 754: float32 has 24 binary digits, float16 has 11.
    """
    digits, share = FEW_DIGITS.get(got.dtype.char, (0, 0.0))
    if not digits or expected.dtype.kind not in "fc" or not got.size:
        return ""
    with np.errstate(all="ignore"):
        off = np.abs(got.astype(np.complex128) - expected).max()
        near = off <= share * np.abs(expected).max()  # NaN is not near
    return f" It is {got.dtype}, which keeps about {digits} digits: compute in float64." if near else ""
