"""Where a value differs from the right one, as a `Difference` with the kind of mistake and its numbers apart.

Source: the course's own.
"""

from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np

from course_lib.checks.close import TRANSPOSED, Mismatch, check_close, is_transpose, usual_cause
from course_lib.checks.forms import NUMBERS, advice, as_array, as_sequence, too_few_digits
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

    Whole numbers, truth values and texts must be equal, floats within atol + rtol |expected|. A list does for a tuple
    and for an array of its numbers, an array for a list, a whole number for a float; ANSWERS.md has the whole rule.
    `parts` are what the values of an expected tuple are called. TypeError if `expected` is of no kind that an exercise
    may return.

    Source: the course's own.
    """
    if isinstance(value, Opaque):
        detail = f"{name} is a {value.type_name}, expected {_kind(expected)}."
        return Difference("something that is no plain value", detail, advice(value.type_name))
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


def _kind(value):
    if isinstance(value, np.ndarray) and value.shape:
        return f"an array of shape {value.shape}"
    if isinstance(value, tuple):
        return f"{len(value)} values"
    if isinstance(value, np.ndarray | np.generic):
        return {"b": "True or False", "i": "a whole number", "u": "a whole number"}.get(value.dtype.kind, "a number")
    names = {bool: "True or False", int: "a whole number", float: "a number", str: "a text", list: "a list"}
    return names.get(type(value), f"a {type(value).__name__}")


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
    parts_of_it = as_sequence(value)
    whole = Difference("another kind of value", f"{name} is {_kind(value)}, expected {_kind(expected)}{listed}.")
    if parts_of_it is None:
        return whole
    is_array = isinstance(value, np.ndarray)
    if len(parts_of_it) != len(expected):
        what = _kind(value) if is_array else f"{_text(value)}: {_count(value)}"
        return Difference("another number of values", f"{name} is {what}, expected {_count(expected)}{listed}.")
    for i, pair in enumerate(zip(parts_of_it, expected, strict=True)):
        if found := difference(*pair, rtol, atol, parts[i] if parts else f"{name}[{i}]"):
            if is_array and found.kind.startswith(("another kind", "an array")):
                return whole  # an array whose rows are no such parts was not meant to be the list of them
            if isinstance(expected, tuple) and _other_order(parts_of_it, expected, rtol, atol):
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
    if expected.dtype.kind not in NUMBERS:
        raise TypeError(f"an exercise cannot expect {expected.dtype}; numbers, texts, lists, tuples, dicts, None.")
    got = value
    if isinstance(value, list | tuple) and expected.shape:
        try:
            got = as_array(value)
        except ValueError as error:
            return Difference("another kind of value", f"{name} is {_kind(value)} {error}, expected {_kind(expected)}.")
        if got.size == expected.size == 0 and got.shape == expected.shape[: got.ndim]:
            return None  # a list without rows does not show how long they would be
    if wrong := _another_form(got, expected, name):
        return wrong
    got = np.asarray(got)
    if not got.size:
        return None  # whatever its dtype: np.array([]) holds no floats
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
        hint = too_few_digits(got, expected) or usual_cause(*as_floats)
        return Difference("wrong numbers", first + count, hint, place)
    return None


def _another_form(value, expected, name):
    """Return a `Difference` unless a value is a number where one is expected, or an array of the expected shape."""
    if not isinstance(value, np.ndarray if expected.shape else bool | int | float | complex | np.generic | np.ndarray):
        alone = isinstance(value, list | tuple) and len(value) == 1
        hint = f" Return its only entry, {name}[0]." if alone else ""
        return Difference("another kind of value", f"{name} is {_kind(value)}, expected {_kind(expected)}.", hint)
    got = np.asarray(value)
    if got.dtype.kind not in NUMBERS:
        return Difference("a number that is too large", f"{name} is {_text(value)}, expected {expected}.")
    if got.shape and not expected.shape:
        hint = f" Return its only element, {name}[{', '.join('0' * got.ndim)}]." if got.size == 1 else ""
        detail = f"{name} has shape {got.shape}, expected {_kind(expected)}."
        return Difference("an array where a number is expected", detail, hint)
    if got.shape != expected.shape:
        hint = TRANSPOSED if is_transpose(got, expected) else ""
        detail = f"{name} has shape {got.shape}, expected {expected.shape}."
        axes = "" if got.ndim == expected.ndim else ", with more or fewer axes"  # no number: it would tell of an input
        return Difference(f"an array of another shape than expected{axes}", detail, hint)
    return None
