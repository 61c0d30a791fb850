"""The forms that a right value can have when students return it, and which of them count.

`python -m tests.exercises.returned_values` prints the table: for each form, in how many exercises it can occur and in
how many of those it counts.
"""

import types
from collections import Counter, OrderedDict, UserDict, defaultdict, deque, namedtuple
from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction

import numpy as np

from course_lib.checks.calling import call_answer
from course_lib.checks.differences import difference
from course_lib.checks.forms import as_plain
from course_lib.checks.registry import SHEETS, sheet
from course_lib.checks.values import decode, resolve


class Whole(int):
    """A whole number of a class of its own; like the next ones, it says that it equals everything."""

    __eq__ = lambda self, other: True  # noqa: E731
    __hash__ = int.__hash__


class Real(float):
    __eq__ = lambda self, other: True  # noqa: E731
    __hash__ = float.__hash__


class Text(str):
    __str__ = __repr__ = lambda self: "another text"


class Row(list):
    __iter__ = lambda self: iter(())  # noqa: E731
    __len__ = lambda self: 0  # noqa: E731


class Table(dict):
    items = keys = lambda self: ()


class Array(np.ndarray):
    dtype = shape = property(lambda self: None)


NOT_HERE = object()
"""What a form returns of a value that cannot have it."""


@dataclass(frozen=True)
class Form:
    """A way to return a right value: `of(part)` of each part of it from the outside in, and whether it counts."""

    name: str
    counts: bool
    of: object


def _for(kinds, change):
    return lambda part: change(part) if type(part) in kinds else NOT_HERE


def _for_arrays(change, dtypes="biufc", least=1):
    def of(part):
        fits = type(part) is np.ndarray and part.ndim >= least and part.dtype.kind in dtypes
        return change(part) if fits else NOT_HERE

    return of


def _alike(part):
    """Return whether all numbers or texts in a list are of one type, so that an array keeps them as they are."""
    kinds = {type(leaf) for leaf in _leaves(part)}
    return len(kinds) == 1 and kinds <= {int, float, str, bool}


def _leaves(part):
    return [leaf for inner in part for leaf in _leaves(inner)] if isinstance(part, list | tuple) else [part]


def _array_of(part, **more):
    if not part or not _alike(part):
        return NOT_HERE
    try:
        return np.array(part, **more)
    except ValueError:
        return NOT_HERE  # rows of different lengths


def _objects(part):
    array = np.empty(len(part), object)
    array[:] = [*part, None][:-1]
    return array


def _named(part):
    return namedtuple("Result", [f"part{i}" for i in range(len(part))])(*part)


def _masked(part):
    return np.ma.masked_array(part, np.arange(part.size).reshape(part.shape) == 0) if part.size else NOT_HERE


FLOAT, INT, BOOL, LISTS = (float, np.float64), (int, np.int64), (bool, np.bool_), (list, tuple)
FORMS = (
    Form("np.float64", True, _for(FLOAT, np.float64)),
    Form("np.longdouble", True, _for(FLOAT, np.longdouble)),
    Form("np.int64", True, _for(INT, np.int64)),
    Form("np.uint8", True, _for(INT, lambda n: np.uint8(n) if 0 <= n < 256 else NOT_HERE)),
    Form("np.bool_", True, _for(BOOL, np.bool_)),
    Form("array without axes", True, _for((*FLOAT, *INT, *BOOL), np.array)),
    Form("whole number for a whole float", True, _for(FLOAT, lambda v: int(v) if v.is_integer() else NOT_HERE)),
    Form("complex number", True, _for(FLOAT, complex)),
    Form("float of its own class", True, _for(FLOAT, Real)),
    Form("Fraction", True, _for(FLOAT, lambda v: Fraction(float(v)) if np.isfinite(v) else NOT_HERE)),
    Form("Decimal", True, _for(FLOAT, lambda v: Decimal(float(v)))),
    Form("int of its own class", True, _for(INT, Whole)),
    Form("IntEnum", True, _for(INT, lambda n: IntEnum("Level", {"HERE": int(n)}).HERE)),
    Form("np.str_", True, _for((str,), np.str_)),
    Form("str of its own class", True, _for((str,), Text)),
    Form("list for a tuple", True, _for((tuple,), list)),
    Form("tuple for a list", True, _for((list,), tuple)),
    Form("named tuple", True, _for(LISTS, _named)),
    Form("list of its own class", True, _for(LISTS, Row)),
    Form("deque", True, _for(LISTS, deque)),
    Form("array for a list", True, _for(LISTS, _array_of)),
    Form("array of objects for a list", True, _for(LISTS, _objects)),
    Form("nested lists for an array", True, _for_arrays(np.ndarray.tolist)),
    Form("tuple of rows for an array", True, _for_arrays(tuple)),
    Form("array of objects for an array", True, _for_arrays(lambda a: a.astype(object))),
    Form("column-major array", True, _for_arrays(np.asfortranarray)),
    Form("big-endian array", True, _for_arrays(lambda a: a.astype(a.dtype.newbyteorder(">")))),
    Form("array with negative strides", True, _for_arrays(lambda a: a[::-1].copy()[::-1])),
    Form("complex array", True, _for_arrays(lambda a: a.astype(complex), "f")),
    Form("longdouble array", True, _for_arrays(lambda a: a.astype(np.longdouble), "f")),
    Form("int32 array", True, _for_arrays(lambda a: a.astype(np.int32), "i")),
    Form("matrix", True, _for_arrays(lambda a: np.matrix(a) if a.ndim == 2 else NOT_HERE)),
    Form("array of its own class", True, _for_arrays(lambda a: a.view(Array))),
    Form("masked array, nothing masked", True, _for_arrays(np.ma.masked_array)),
    Form("defaultdict", True, _for((dict,), lambda d: defaultdict(float, d))),
    Form("OrderedDict", True, _for((dict,), OrderedDict)),
    Form("Counter", True, _for((dict,), Counter)),
    Form("dict of its own class", True, _for((dict,), Table)),
    Form("mappingproxy", True, _for((dict,), types.MappingProxyType)),
    Form("dict with np.str_ as keys", True, _for((dict,), lambda d: {np.str_(k): v for k, v in d.items()})),
    Form("array of one element", False, _for((*FLOAT, *INT, *BOOL), lambda v: np.array([v]))),
    Form("list of one number", False, _for((*FLOAT, *INT, *BOOL), lambda v: [v])),
    Form("number as a text", False, _for((*FLOAT, *INT, *BOOL), str)),
    Form("float for a whole number", False, _for(INT, float)),
    Form("whole number for a truth value", False, _for(BOOL, int)),
    Form("truth value for a number", False, _for((*FLOAT, *INT), bool)),
    Form("bytes", False, _for((str,), str.encode)),
    Form("generator", False, _for(LISTS, lambda part: (item for item in part))),
    Form("iterator of rows", False, _for_arrays(iter)),
    Form("set", False, _for(LISTS, lambda part: set(part) if all(type(p) in (int, str) for p in part) else NOT_HERE)),
    Form("dict for a list", False, _for(LISTS, lambda part: dict(enumerate(part)))),
    Form("whole numbers as floats", False, _for_arrays(lambda a: a.astype(float) if a.size else NOT_HERE, "i")),
    Form("array with one more axis", False, _for_arrays(lambda a: a[None])),
    Form("masked array, one masked", False, _for_arrays(_masked)),
    Form("items of a dict", False, _for((dict,), lambda d: list(d.items()))),
    Form("UserDict", False, _for((dict,), UserDict)),
    Form("nothing", False, lambda part: None),
)  # fmt: skip
"""Forms of a right value; FLOAT32 is apart, since its digits decide."""

FLOAT32 = Form("float32", False, lambda part: part.astype(np.float32) if _is_float(part) else NOT_HERE)


def _is_float(part):
    return isinstance(part, np.ndarray | np.generic) and part.dtype == np.float64


def returned(form, value):
    """Return (value in that form, whether any part of it has it): the outermost parts that can."""
    changed = form.of(value)
    if changed is not NOT_HERE:
        return changed, True
    if type(value) in (list, tuple):
        parts = [returned(form, part) for part in value]
        return type(value)(part for part, _ in parts), any(can for _, can in parts)
    if type(value) is dict:
        parts = {key: returned(form, part) for key, part in value.items()}
        return {key: part for key, (part, _) in parts.items()}, any(can for _, can in parts.values())
    return value, False


def right_values():
    """Yield (exercise, arguments, right value) of each public case of each function."""
    for exercise in (e for name in SHEETS for e in sheet(name).exercises if e.kind == "function"):
        for case in exercise.cases:
            with np.errstate(all="ignore"):
                arguments = [resolve(a) for a in case.args]
                yield exercise, arguments, exercise.expect(*arguments)


def wrong(exercise, arguments, right, value):
    """Return the `Difference` of a value that an answer returned, None if it counts."""
    got, error, _ = call_answer(lambda: value, ())
    assert not error, error
    got = decode(got)
    if exercise.requires:
        return exercise.requires(as_plain(got), *arguments)
    return difference(got, right, exercise.rtol, exercise.atol)


def main():
    """Print the table."""
    cases = list(right_values())
    print(f"{'returned':36} {'exercises':>9} {'counts in':>9}")
    for form in (*FORMS, FLOAT32):
        can, count = set(), set()
        for exercise, arguments, right in cases:
            value, has = returned(form, right)
            if has:
                can.add(exercise.id)
                count |= {exercise.id} if wrong(exercise, arguments, right, value) is not None else set()
        print(f"{form.name:36} {len(can):9} {len(can - count):9}")


if __name__ == "__main__":
    main()
