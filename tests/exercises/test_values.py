"""Values cross the border by what they hold, whatever comes back is a value or a `ValueProblem`."""

import json
import sys
import types
from collections import OrderedDict, defaultdict, deque, namedtuple
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from course_lib.checks.values import Named, Opaque, Seeded, ValueProblem, decode, encode, resolve

NUMBERS = st.one_of(
    *(
        hnp.arrays(dtype, hnp.array_shapes(min_dims=0, min_side=0))
        for dtype in ("<f8", "<f4", "<i8", "?", "<c16", "<u2")
    )
)
PLAIN = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text())
VALUES = st.recursive(
    st.one_of(PLAIN, NUMBERS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.lists(inner, max_size=4).map(tuple), st.dictionaries(PLAIN, inner, max_size=4)
    ),
    max_leaves=12,
)


def same(one, other):
    """Return whether two values are equal in type and bits."""
    if type(one) is not type(other):
        return False
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return len(one) == len(other) and all(map(same, [*one, *one.values()], [*other, *other.values()]))
    if isinstance(one, np.ndarray | np.generic):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    return one == other or (one != one and other != other)


@given(VALUES)
def test_a_value_comes_back_as_it_was(value):
    assert same(decode(json.loads(json.dumps(encode(value)))), value)


class Everything:
    __class__ = float

    def __eq__(self, other):
        return True


class Kind(type):
    """A class that says it is every other one."""

    __name__ = property(lambda cls: 3)
    __mro__ = property(lambda cls: (cls, float, object))
    __hash__ = type.__hash__

    def __eq__(cls, other):
        return True

    def __subclasscheck__(cls, other):
        return True

    def __instancecheck__(cls, other):
        return True


class Bare(np.generic):
    pass


@pytest.mark.parametrize(
    "value",
    [
        Everything(), Kind("Odd", (), {"__float__": lambda self: 1.0})(), np.array([np.datetime64("2020-01-01")]),
        np.zeros(2, "i4,f4"), np.ma.masked_array([1.0, 2.0], [False, True]), np.ma.masked, (i for i in "ab"), {1},
        {}.keys(), iter([1]), len, b"a", np.bytes_(b"a"), Enum("Color", "RED").RED, Decimal("sNaN"),
        Fraction(10**400), object(), float,
    ],
    ids=lambda value: type(value).__qualname__,
)  # fmt: skip
def test_what_only_looks_like_a_value_is_opaque(value):
    assert isinstance(decode(json.loads(json.dumps(encode(value)))), Opaque)


def test_who_registers_as_a_number_is_none():
    class Registered:
        _numerator, _denominator = 1, 1

    Fraction.register(Registered)
    assert decode(encode(Registered())) == Opaque("Registered")


def lies(base, *names):
    """Return a subclass in which every method that could tell its value tells another one or fails."""

    def fails(self, *args):
        raise AssertionError("a method of the answer's own was asked")

    kind = type("Liar", (base,), {name: fails for name in names})
    kind.__eq__, kind.__hash__ = (lambda self, other: True), lambda self: 0
    return kind


TOLD = ("__float__", "__int__", "__index__", "__str__", "__repr__", "__iter__", "__len__", "__getitem__", "__bool__",
        "__complex__", "hex", "items", "keys", "values", "get", "__array__", "__array_ufunc__", "tobytes", "tolist",
        "view", "dtype", "shape", "size", "__reduce__", "__format__", "__trunc__")  # fmt: skip


@pytest.mark.parametrize(
    ("base", "value"),
    [
        (float, 1.5), (int, 7), (str, "a"), (complex, 1 + 2j), (list, [1, [2.0]]), (tuple, (1, "b")),
        (dict, {"a": 1, 2: 3.0}), (OrderedDict, {"a": 1}), (defaultdict, {}), (deque, [1, 2]), (np.float64, 2.5),
        (np.float32, 0.5), (np.int64, 3), (np.str_, "c"),
    ],
)  # fmt: skip
def test_an_object_of_its_own_class_counts_by_the_value_that_it_inherits(base, value):
    kind = lies(base, *TOLD)
    mine = kind() if value == {} else kind(value)
    got = decode(json.loads(json.dumps(encode(mine))))
    assert got == value
    assert type(got).__module__ in ("builtins", "numpy")


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of np.matrix
def test_an_array_of_its_own_class_counts_by_its_numbers():
    array = np.arange(6.0).reshape(2, 3)
    assert same(decode(encode(array.view(lies(np.ndarray, *TOLD)))), array)
    assert same(decode(encode(np.matrix(array))), array)
    assert same(decode(encode(np.ma.masked_array(array))), array)


def test_what_holds_plain_values_counts_by_them():
    pair = namedtuple("Pair", "w b")
    for value, plain in [
        (pair(1, 2.0), (1, 2.0)), (range(3), [0, 1, 2]), (IntEnum("Level", "LOW").LOW, 1), (Fraction(1, 3), 1 / 3),
        (Decimal("0.1"), 0.1), (np.array(["a", "b"]), ["a", "b"]), (np.array("a"), "a"),
        (np.array([1, 2.5, "c", None], object), [1, 2.5, "c", None]), (types.MappingProxyType({"a": 1}), {"a": 1}),
        ({np.str_("a"): np.True_}, {"a": True}), (1 + 0j, 1 + 0j),
    ]:  # fmt: skip
        assert decode(json.loads(json.dumps(encode(value)))) == plain


def test_an_array_that_holds_itself_ends():
    array = np.empty(2, object)
    array[:] = [array, 1]
    assert "too much in it" in json.dumps(encode(array))


def test_modules_that_a_cell_has_replaced_do_no_harm(monkeypatch):
    monkeypatch.setitem(sys.modules, "fractions", types.SimpleNamespace(Fraction=Kind("Fraction", (), {})))
    monkeypatch.setitem(sys.modules, "decimal", None)
    assert isinstance(decode(encode(object())), Opaque)
    assert decode(encode(2.5)) == 2.5


def test_what_is_too_deep_or_too_much_is_opaque():
    deep = []
    for _ in range(30):
        deep = [deep]
    assert "opaque" in json.dumps(encode(deep))
    assert "opaque" in json.dumps(encode([0] * 300_000))


@pytest.mark.parametrize(
    "data",
    [
        None, 3, [], {}, {"t": "plain", "v": 3}, {"t": "int", "v": "zz"}, {"t": "float", "v": 1.0},
        {"t": "list", "v": {}},
        {"t": "dict", "v": [[1, 2]]}, {"t": "dict", "v": [[{"t": "list", "v": []}, {"t": "plain", "v": None}]]},
        {"t": "array", "dtype": "O", "shape": [1], "v": "AAAAAAAAAAA="},
        {"t": "array", "dtype": "<f8", "shape": [2], "v": "AAAAAAAAAAA="},
        {"t": "array", "dtype": "<f8", "shape": [-1], "v": "AAAAAAAAAAA="},
        {"t": "array", "dtype": "<f8", "shape": [True], "v": "AAAAAAAAAAA="},
        {"t": "array", "dtype": "<f8,<f8", "shape": [1], "v": "AAAA"},
        {"t": "array", "dtype": "<f8", "shape": [1], "v": "!"},
        {"t": "array", "dtype": "<f8", "shape": [2**70, 0], "v": ""}, {"t": "no such kind", "v": 1},
    ],
    ids=str,
)  # fmt: skip
def test_what_encode_never_writes_is_refused(data):
    with pytest.raises(ValueProblem):
        decode(data)


def test_arguments_are_resolved_to_copies_functions_and_fresh_generators():
    array = np.arange(3)
    (copy,) = resolve((array,))
    copy[0] = 9
    assert array[0] == 0
    assert resolve(Named("numpy.sin")) is np.sin
    assert resolve([Seeded(3)])[0].random() == np.random.default_rng(3).random()
    with pytest.raises(ValueProblem, match=r"'os\.system' is not from numpy"):
        resolve(Named("os.system"))
