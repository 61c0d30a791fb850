"""Where a value differs from the right one, as a `Difference` with the kind of mistake and its numbers apart.

Source: the course's own.
"""

from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np

from course_lib.checks.close import TRANSPOSED, Mismatch, check_close, is_transpose, usual_cause
from course_lib.checks.values import Opaque

MOST_ORDERED = 4
"""Results of which every order is tried."""


@dataclass(frozen=True)
class Difference:
    """One difference: `kind` gives no numbers away, `detail` does, `hint` begins with a space or is "".

    `place` leads to it: numbers of entries, keys, and the index of an array's element as a tuple; () for the whole.

    Source: the course's own.
    """

    kind: str
    detail: str
    hint: str = ""
    place: tuple = ()

    def text(self, reveal):
        """Return it as a sentence after the name of a call. No errors. Source: the course's own."""
        return f": {self.detail}" if reveal else f" returns {self.kind}."


def difference(value, expected, rtol, atol, name="result", parts=()):
    """Return None if a decoded value equals the expected one, else the first `Difference`.

    Whole numbers, truth values and texts must be equal, floats within atol + rtol |expected|. A list does for a tuple,
    a whole number for a float. `parts` are what the values of an expected tuple are called. TypeError if
    `expected` is of no kind that an exercise may return.

    Source: the course's own.
    """
    if isinstance(value, Opaque):
        return Difference(
            "something that is no plain value", f"{name} is a {value.type_name}, expected {_kind(expected)}."
        )
    if value is None and expected is not None:
        return Difference("None", f"{name} is None, expected {_kind(expected)}.", " Is there a return?")
    if expected is None or isinstance(expected, str):
        return None if type(value) is type(expected) and value == expected else _other(value, expected, name)
    if isinstance(expected, list | tuple):
        return _sequence(value, expected, rtol, atol, name, parts)
    if isinstance(expected, dict):
        return _dict(value, expected, rtol, atol, name)
    if type(expected) is int and abs(expected) >= 2**63:  # no dtype holds it
        return None if type(value) is int and value == expected else _other(value, expected, name)
    return _numbers(value, np.asarray(expected), rtol, atol, name)


def _kind(expected):
    if isinstance(expected, np.ndarray):
        return f"an array of shape {expected.shape}"
    if isinstance(expected, tuple):
        return f"{len(expected)} values"
    names = {bool: "True or False", int: "a whole number", float: "a number", str: "a text", list: "a list"}
    return names.get(type(expected), "a number" if isinstance(expected, np.generic) else f"a {type(expected).__name__}")


def _other(value, expected, name):
    return Difference("another value", f"{name} is {_text(value)}, expected {_text(expected)}.")


def _text(value):
    try:
        with np.printoptions(legacy="1.25"):  # 9.0, not np.float64(9.0)
            text = repr(value)
    except ValueError:  # Python writes out no whole number of more than 4,300 digits
        text = "a number of thousands of digits"
    return text if len(text) <= 80 else text[:77] + "..."


def _sequence(value, expected, rtol, atol, name, parts):
    listed = f" ({', '.join(parts)})" if parts else ""
    if not isinstance(value, list | tuple):
        return Difference("another kind of value", f"{name} is {_kind(value)}, expected {_kind(expected)}{listed}.")
    if len(value) != len(expected):
        detail = f"{name} is {_text(value)}: {_count(value)}, expected {len(expected)}{listed}."
        return Difference("another number of values", detail)
    for i, pair in enumerate(zip(value, expected, strict=True)):
        if found := difference(*pair, rtol, atol, parts[i] if parts else f"{name}[{i}]"):
            if isinstance(expected, tuple) and _other_order(value, expected, rtol, atol):
                found = replace(found, hint=" These are the right values in another order.")
            return replace(found, place=(i, *found.place))
    return None


def _other_order(value, expected, rtol, atol):
    """Return whether a few results are those that were expected, but not in their order."""
    return len(value) <= MOST_ORDERED and any(
        all(difference(*pair, rtol, atol) is None for pair in zip(order, expected, strict=True))
        for order in permutations(value)
    )


def _count(values):
    return f"{len(values)} value" + ("s" if len(values) != 1 else "")


def _dict(value, expected, rtol, atol, name):
    if not isinstance(value, dict) or value.keys() != expected.keys():
        got = (
            sorted(k[:80] if type(k) is str else _text(k) for k in value)[:20]
            if isinstance(value, dict)
            else _kind(value)
        )
        return Difference("other keys", f"{name} has {got}, expected the keys {sorted(map(str, expected))}.")
    for key in expected:
        if found := difference(value[key], expected[key], rtol, atol, f"{name}[{key!r}]"):
            return replace(found, place=(key, *found.place))
    return None


def _numbers(value, expected, rtol, atol, name):
    if expected.dtype.kind not in "biufc":
        raise TypeError(f"an exercise cannot expect {expected.dtype}; numbers, texts, lists, tuples, dicts, None.")
    if expected.shape and not isinstance(value, np.ndarray):
        return Difference("another kind of value", f"{name} is {_kind(value)}, expected {_kind(expected)}.")
    if not isinstance(value, bool | int | float | complex | np.generic | np.ndarray):
        return Difference("another kind of value", f"{name} is {_kind(value)}, expected {_kind(expected[()])}.")
    got = _array_of(value)
    if got is None:
        return Difference("a number that is too large", f"{name} is {_text(value)}, expected {expected}.")
    if got.shape != expected.shape:
        hint = TRANSPOSED if is_transpose(got, expected) else ""
        detail = f"{name} has shape {got.shape}, expected {expected.shape}."
        return Difference(f"an array of another shape than expected ({got.ndim} axes of {expected.ndim})", detail, hint)
    if (got.dtype.kind == "b") != (expected.dtype.kind == "b"):
        wanted = "True or False" if expected.dtype.kind == "b" else "numbers, not truth values"
        return Difference(f"{got.dtype} where {wanted} is expected", f"{name} is {got.dtype}, expected {wanted}.")
    if expected.dtype.kind in "iu" and got.dtype.kind not in "iu":
        detail = f"{name} is {got.dtype}, expected whole numbers ({expected.dtype})."
        return Difference("floats where whole numbers are expected", detail)
    if expected.dtype.kind in "biu":
        rtol = atol = 0.0
    try:
        check_close(got, expected, rtol=rtol, atol=atol, name=name)
    except Mismatch as error:
        as_floats = [a.astype(np.float64) if a.dtype.kind in "biu" else a for a in (got, expected)]
        first, _, rest = str(error).partition("; ")
        place = (error.index,) if error.index else ()
        count = f"; {rest.split(' element')[0]} numbers are wrong." if got.size > 1 else "."
        if expected.dtype.kind == "b":
            return Difference("a wrong truth value", first + count.replace("numbers", "values"), place=place)
        return Difference("wrong numbers", first + count, usual_cause(*as_floats), place)
    return None


def _array_of(value):
    """Return a number or an array as an array of numbers, None for a whole number that no dtype holds."""
    array = np.asarray(value)
    return array if array.dtype.kind in "biufc" else None
