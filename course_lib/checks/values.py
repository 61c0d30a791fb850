"""Values as JSON and back: what crosses the border between an answer and who judges it.

An object counts by the value that it holds as one of the plain kinds: a defaultdict by its entries, a named tuple by
its parts, a float of a class of its own by its number. That value is read by the base class itself, so nothing that
the object says of itself (an `__eq__` that is always true, a `__float__` of its own) takes part. What holds no such
value becomes `Opaque`. Arrays travel as dtype, shape and bytes. Nothing is ever pickled.

Source: the course's own; the rule for students is in ANSWERS.md.
"""

import base64
import importlib
import math
import sys
from collections import deque
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType

import numpy as np

MOST_DEEP, MOST_ITEMS, MOST_BYTES = 20, 200_000, 64 << 20
"""Of one value: levels of lists in lists, entries in all, bytes of an array."""

KINDS = "biufc"
"""Kinds of dtype that arrays and NumPy's scalars may have."""

LIBRARIES = ("numpy", "math", "course_lib.reference", "course_lib.nn", "course_lib.data")
"""Where `Named` things may come from."""


class ValueProblem(ValueError):
    """What came is no value in this form; the message says why. Source: the course's own."""


@dataclass(frozen=True)
class Opaque:
    """A returned object that is no plain value: only the name of its type is known. Source: the course's own."""

    type_name: str


@dataclass(frozen=True)
class Named:
    """An argument that is a function or class of a library, by its name: Named("numpy.sin").

    Source: the course's own.
    """

    name: str


@dataclass(frozen=True)
class Seeded:
    """An argument that is a fresh random generator, numpy.random.default_rng(seed). Source: the course's own."""

    seed: int


def resolve(argument):
    """Return what an answer is called with: the named thing, a fresh generator, a copy of an array.

    ValueProblem for a name outside of `LIBRARIES`. Source: the course's own.
    """
    if type(argument) is Seeded:
        return np.random.default_rng(argument.seed)
    if type(argument) is Named:
        module, _, name = argument.name.rpartition(".")
        if not any(module == known or module.startswith(known + ".") for known in LIBRARIES):
            raise ValueProblem(f"{argument.name!r} is not from {', '.join(LIBRARIES)}.")
        return getattr(importlib.import_module(module), name)
    if type(argument) in (list, tuple):
        return type(argument)(resolve(a) for a in argument)
    if type(argument) is dict:
        return {k: resolve(v) for k, v in argument.items()}
    return argument.copy() if isinstance(argument, np.ndarray) else argument


def encode(value):
    """Return a value as plain JSON data; what has no form there becomes {"t": "opaque", ...}.

    No errors but those of objects that break NumPy's own rules for their class.

    Source: the course's own.
    """
    return _encode(value, 0, [MOST_ITEMS])


def _encode(value, depth, left):
    # issubclass asks the known class, never the object's own: __class__, a metaclass and ABCs have no say.
    kind = type(value)
    left[0] -= 1
    if left[0] < 0 or depth > MOST_DEEP:
        return _opaque(f"{_name(kind)} with too much in it")
    if value is None or kind is bool:
        return {"t": "plain", "v": value}
    if issubclass(kind, str):
        return {"t": "plain", "v": str.__str__(value)}
    if issubclass(kind, int):
        return {"t": "int", "v": hex(int.__index__(value))}  # any size, without Python's limit on decimal digits
    if issubclass(kind, np.ndarray):
        return _encode_array(value, kind, depth, left)
    if issubclass(kind, np.generic):  # before float: np.float64 is one
        return _encode_scalar(value, kind)
    if issubclass(kind, float):
        return {"t": "float", "v": float.__float__(value).hex()}
    if issubclass(kind, complex):
        return _encode_scalar(np.complex128(complex.__complex__(value)), np.complex128)
    for base, name in SEQUENCES:
        if issubclass(kind, base):
            items = islice(base.__iter__(value), left[0] + 1)
            return {"t": name, "v": [_encode(item, depth + 1, left) for item in items]}
    if issubclass(kind, dict):
        pairs = islice(dict.items(value), left[0] + 1)
        return {"t": "dict", "v": [[_encode(part, depth + 1, left) for part in pair] for pair in pairs]}
    if kind is MappingProxyType:
        return _encode(MappingProxyType.copy(value), depth + 1, left)
    if kind is Named:
        return {"t": "named", "v": value.name}
    if kind is Seeded:
        return {"t": "seeded", "v": value.seed}
    number = _as_float(value, kind)
    return _opaque(_name(kind)) if number is None else {"t": "float", "v": number.hex()}


SEQUENCES = ((tuple, "tuple"), (list, "list"), (range, "list"), (deque, "list"))
"""What has an order and can be read again and again -> what it crosses the border as."""


def _opaque(text):
    return {"t": "opaque", "v": text}


def _name(kind):
    return type.__dict__["__name__"].__get__(kind)[:80]  # a metaclass may have a __name__ of its own


def _encode_array(value, kind, depth, left):
    """Encode the numbers of an array of any class; texts and objects as lists of what they are."""
    array = np.ndarray.view(value, np.ndarray)
    masked = sys.modules.get("numpy.ma")  # whoever has such an array has loaded it
    if masked and issubclass(kind, masked.MaskedArray) and (hidden := int(masked.getmaskarray(value).sum())):
        return _opaque(f"masked array, in which {hidden} of {array.size} numbers are masked")
    if array.dtype.kind in KINDS and array.nbytes <= MOST_BYTES:
        text = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")
        return {"t": "array", "dtype": array.dtype.str, "shape": list(array.shape), "v": text}
    if array.dtype.kind in "OU" and array.size <= left[0]:
        if not array.shape:
            return _encode(array.item(), depth + 1, left)
        return {"t": "list", "v": [_encode(item, depth + 1, left) for item in array]}
    return _opaque(f"{_name(kind)} of {array.dtype}")


def _encode_scalar(value, kind):
    dtype = np.generic.dtype.__get__(value)
    if dtype.kind not in KINDS:
        return _opaque(_name(kind))
    return {"t": "scalar", "dtype": dtype.str, "v": base64.b64encode(np.generic.tobytes(value)).decode("ascii")}


def _as_float(value, kind):
    """Return a Fraction or a Decimal as the nearest float, None of anything else and of what no float holds."""
    fractions, decimal = sys.modules.get("fractions"), sys.modules.get("decimal")
    try:
        if fractions and type.__subclasscheck__(fractions.Fraction, kind):  # it is an ABC: whoever registers is none
            above, below = fractions.Fraction.numerator.fget(value), fractions.Fraction.denominator.fget(value)
            return above / below if type(above) is type(below) is int else None
        if decimal and issubclass(kind, decimal.Decimal):
            return decimal.Decimal.__float__(value)
    except (ArithmeticError, ValueError, AttributeError):
        pass
    return None


def decode(data):
    """Return the value of JSON data, or `Opaque`; ValueProblem for anything that `encode` does not write.

    Source: the course's own.
    """
    return _decode(data, 0, [MOST_ITEMS])


def _decode(data, depth, left):
    left[0] -= 1
    if type(data) is not dict or depth > MOST_DEEP or left[0] < 0:
        raise ValueProblem(f"a value is a JSON object, at most {MOST_DEEP} deep, with {MOST_ITEMS} entries at most.")
    kind, content = data.get("t"), data.get("v")
    if kind == "plain" and (content is None or type(content) in (bool, str)):
        return content
    if kind in ("int", "float") and type(content) is str:
        try:
            return int(content, 16) if kind == "int" else float.fromhex(content)
        except (ValueError, OverflowError) as error:
            raise ValueProblem(f"{content[:40]!r} is no {kind}.") from error
    if kind in ("list", "tuple") and type(content) is list:
        items = [_decode(item, depth + 1, left) for item in content]
        return items if kind == "list" else tuple(items)
    if kind == "dict" and type(content) is list and all(type(p) is list and len(p) == 2 for p in content):
        return _dict([[_decode(part, depth + 1, left) for part in pair] for pair in content])
    if kind == "named" and type(content) is str:
        return Named(content)
    if kind == "seeded" and type(content) is int:
        return Seeded(content)
    if kind == "array":
        return _array(data.get("dtype"), data.get("shape"), content)
    if kind == "scalar":
        return _array(data.get("dtype"), [], content)[()]
    if kind == "opaque" and type(content) is str:
        return Opaque(content[:120])
    raise ValueProblem(f"there is no kind of value {str(kind)[:40]!r} with such content.")


def _dict(pairs):
    try:
        return dict(pairs)
    except TypeError as error:
        raise ValueProblem(f"a dict has a key that cannot be one: {str(error)[:80]}.") from error


def _array(dtype, shape, content):
    if type(dtype) is not str or type(content) is not str or type(shape) is not list or len(shape) > 32:
        raise ValueProblem("an array is a dtype, a list of at most 32 sizes, and base64 text.")
    if not all(type(n) is int and n >= 0 for n in shape):
        raise ValueProblem(f"{str(shape)[:80]} is no shape.")
    try:
        kind = np.dtype(dtype)
        raw = base64.b64decode(content, validate=True)
    except (TypeError, ValueError, SyntaxError) as error:
        raise ValueProblem(f"an array of {dtype[:40]!r} cannot be read: {str(error)[:80]}.") from error
    if kind.kind not in KINDS or len(raw) > MOST_BYTES or math.prod(shape) * kind.itemsize != len(raw):
        raise ValueProblem(f"{len(raw)} bytes of {dtype[:40]!r} are no array of shape {str(shape)[:80]}.")
    try:
        return np.frombuffer(raw, kind).reshape(shape).copy()
    except ValueError as error:  # 0 elements, and sizes whose product NumPy cannot hold
        raise ValueProblem(f"{str(shape)[:80]} is no shape.") from error
