"""CUDA's vector types and enumerations in a kernel: made, taken apart, passed on, different by thread."""

import enum

import numpy as np
import pytest
from numba import cuda

from course_lib import simt
from course_lib.simt.functions import FUNCTIONS
from course_lib.simt.vector_words import DTYPES, NAMES
from tests.cases import all_of
from tests.simt.text import function


class Color(enum.IntEnum):
    RED = 1
    BLUE = 2


class Kind(enum.Enum):
    A = 1
    B = 2.5


class Mixed(enum.Enum):
    A = 1
    B = "b"


@cuda.jit(device=True)
def total(v):
    return v.x + v.y


@cuda.jit(device=True)
def pair(x):
    return cuda.float32x2(x, x + 1)


@cuda.jit(device=True)
def is_a(kind):
    return kind == Kind.A


def run(body, n=4, **outside):
    text = "def kernel(out):\n    i = cuda.grid(1)\n    " + body.replace("\n", "\n    ")
    out = np.zeros(n)
    kernel = function(text, Color=Color, Kind=Kind, total=total, pair=pair, is_a=is_a, **outside)
    simt.run(kernel, 1, n, (out,))
    return out


@all_of("name", [f"{dtype}x" for dtype in DTYPES] + list(NAMES))
@all_of("length", [1, 2, 3, 4])
def test_vector_has_numbers_of_its_type_by_the_names_of_axes(name, length):
    dtype = np.dtype(NAMES.get(name, name[:-1]))
    values = ", ".join(f"i + {k}.75" for k in range(length))
    got = run(
        f"v = cuda.{name}{length}({values})\nout[i] = " + " + 10 * ".join(f"v.{axis}" for axis in "xyzw"[:length])
    )
    want = sum((10 if k else 1) * (np.arange(4) + k + 0.75).astype(dtype).astype(float) for k in range(length))
    np.testing.assert_array_equal(got, want)
    assert getattr(cuda, f"{name}{length}") is not None
    assert f"cuda.{name}{length}" in FUNCTIONS


def test_vector_is_made_of_shorter_ones():
    got = run("a = cuda.float32x2(1, i)\nb = cuda.float4(a, 3, 4)\nc = cuda.float32x4(0, cuda.float32x3(a, 9))\n"
              "out[i] = b.x + b.y * 10 + b.w * 100 + c.z * 1000 + cuda.float2(a).y")  # fmt: skip
    np.testing.assert_array_equal(got, 401 + 1011 * np.arange(4))


def test_vector_goes_through_functions_tuples_branches_and_loops():
    got = run(
        """
v = pair(i)
if i % 2:
    v = cuda.float32x2(10 * i, 0)
w = v if i < 2 else pair(100)
for k in range(i):
    w = cuda.float32x2(w.x + 1, total(w))
t = (w, 5)
out[i] = total(t[0])
""".strip()
    )
    want = []
    for i in range(4):
        v = (10 * i, 0) if i % 2 else (i, i + 1)
        w = v if i < 2 else (100, 101)
        for _ in range(i):
            w = (w[0] + 1, sum(w))
        want.append(sum(w))
    np.testing.assert_array_equal(got, want)


def test_vector_is_known_under_another_name_and_in_texts():
    np.testing.assert_array_equal(run("out[i] = f4(i, 0, 0, 1).w", f4=cuda.float4), [1] * 4)
    source = simt.read("from numba import cuda\nfrom numba.cuda import int2\ndef kernel(out):\n    v = int2(3, 4)\n"
                       "    out[0] = cuda.uint3(v.x, v.y, 9).z + v.y\n")  # fmt: skip
    out = np.zeros(1)
    simt.run(source, 1, 1, (out,))
    assert out[0] == 13


REFUSED = {
    "v = cuda.float32x2(cuda.int32x2(1, 2))": "an int32x2 is neither", "v = cuda.float32x2(1)": "takes 2 numbers",
    "v = pair(1) + pair(2)": "a float32x2 is no number", "v = pair(1)[0]": "has no elements",
    "v = pair(1) == pair(2)": "cannot be compared", "x, y = pair(1)": "cannot be unpacked", "v = pair(1).z": "has no z",
    "v = pair(1)\nv.x = 3": "cannot be assigned to", "v = cuda.float32x2(1j, 2)": "neither a number",
    "out[i] = pair(1)": "cannot be stored", "s = cuda.shared.array(4, cuda.float32x2)": "a dtype",
    "v = pair(i)\nif i:\n    v = cuda.int32x2(1, 2)\nout[i] = v.x": "cannot be an int32x2",
    "out[i] = Kind.A": "a Kind cannot be stored", "out[i] = Kind.A + 1": "no number", "out[i] = len(Kind)": "no length",
    "out[i] = Kind.A == 1": "cannot be compared", "out[i] = Kind.A < Kind.B": "cannot be compared",
    "k = Kind.C": "no C", "k = Kind(1)": "cannot be called", "k = Color.RED.name": "no name",
    "out[i] = Kind.A == Color.RED": "cannot be compared",
}  # fmt: skip


@pytest.mark.parametrize("body", REFUSED)
def test_what_numba_has_not_for_vectors_and_enumerations_is_refused(body):
    with pytest.raises(simt.KernelError, match=rf"line \d: .*{REFUSED[body]}"):
        run(body)


ENUMS = {
    "out[i] = Color.RED + i": [1, 2, 3, 4], "out[i] = i == Color.BLUE": [0, 0, 1, 0],
    "out[i] = Color.BLUE.value": [2] * 4,
    "out[i] = Kind.A == Kind.B": [0] * 4, "out[i] = (Kind.A != Kind.B) + (Kind.A is Kind.A)": [2] * 4,
    "out[i] = Kind.B.value": [2.5] * 4, "out[i] = Color.RED < Color.BLUE": [1] * 4, "out[i] = is_a(Kind.A)": [1] * 4,
    "out[i] = i in (Color.RED, Color.BLUE)": [0, 1, 1, 0], "out[i] = OWN + 1": [3] * 4,
    "out[i] = OTHER == Kind.B": [1] * 4,
    "k = Kind.A if i > 2 else Kind.B\nout[i] = k == Kind.A": [0, 0, 0, 1],
    "k = Kind.A\nif i % 2:\n    k = Kind.B\nout[i] = is_a(k)": [1, 0, 1, 0],
}  # fmt: skip


@pytest.mark.parametrize("body", ENUMS)
def test_enumeration_means_its_numbers(body):
    np.testing.assert_array_equal(run(body, OWN=Color.BLUE, OTHER=Kind.B), ENUMS[body])


def test_enumeration_of_texts_and_one_with_tricks_is_refused_and_not_asked():
    with pytest.raises(simt.KernelError, match="Mixed is an enumeration of something else"):
        run("out[i] = Mixed.A == Mixed.B", Mixed=Mixed)

    class Tricks(enum.Enum):
        A = 1

        @property
        def __dict__(self):
            raise AssertionError("asked")

    with pytest.raises(simt.KernelError, match="Tricks is an enumeration of something else"):
        run("out[i] = Tricks.A == Tricks.A", Tricks=Tricks)

    class Meta(enum.EnumMeta):
        armed = False

        def __getattribute__(self, name):
            if Meta.armed:
                raise AssertionError("asked")
            return super().__getattribute__(name)

    meta = Meta("meta", (enum.Enum,), enum.EnumMeta.__prepare__("meta", (enum.Enum,)))
    Meta.armed = True
    with pytest.raises(simt.KernelError, match="meta"):
        run("out[i] = meta.A", meta=meta)
