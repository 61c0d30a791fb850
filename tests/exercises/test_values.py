"""Values cross the border by their exact types, whatever comes back is a value or a `ValueProblem`."""

import json

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


class Liar(float):
    def __eq__(self, other):
        return True

    __hash__ = float.__hash__


class Everything:
    __class__ = float

    def __eq__(self, other):
        return True


class Array(np.ndarray):
    pass


@pytest.mark.parametrize(
    "value",
    [
        Liar(1),
        Everything(),
        np.zeros(3).view(Array),
        np.array([object()]),
        np.array(["a"]),
        (i for i in "ab"),
        {1},
        len,
    ],
    ids=[
        "float subclass",
        "claims to be a float",
        "array subclass",
        "objects",
        "texts",
        "generator",
        "set",
        "function",
    ],
)
def test_what_only_looks_like_a_value_is_opaque(value):
    assert isinstance(decode(encode(value)), Opaque)


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
