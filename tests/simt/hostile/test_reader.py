"""A kernel read from a text does what the same kernel does as a function; constants are what Python makes of them."""

import numpy as np
import pytest

from course_lib import simt
from tests.simt.hostile import test_fuzz
from tests.simt.measured import cases

TEXT = '''"""A text as a student hands it in."""
import math
import numpy as np
from numba import cuda, float32, int32 as i32
from numba.cuda import grid, threadIdx
from math import sqrt
from course_lib import gpu

T = 16
TWICE: int = T * 2
SIZE = (T + 2, T)
HALF = np.float32(0.5)
REAL = float32
W = np.array([[1, -2], [3, 4]], np.float32)
A, B = 3, (1 << 40) // 7


@gpu.jit(device=True)
def scaled(x: float32):
    return x * HALF + other(x)


@cuda.jit(device=True, inline=True)
def other(x):
    return float32(A)


@gpu.jit
def kernel(a: float32[:], out):
    i = grid(1)
    s = cuda.shared.array(SIZE, REAL)
    w = cuda.const.array_like(W)
    s[1, threadIdx.x] = scaled(a[i])
    out[i] = s[1, threadIdx.x] + sqrt(float32(TWICE + A + 1)) + w[0, 1] + i32(B % 5)
'''


def test_text_with_imports_constants_and_device_functions():
    a, out = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
    report = simt.run(simt.read(TEXT), 1, 16, (a, out))
    np.testing.assert_array_equal(out, a / 2 + 3 + 6 - 2 + ((1 << 40) // 7) % 5)
    last = TEXT.count("\n")
    assert report.line(last).text == TEXT.split("\n")[last - 1]
    assert report.line(last).counters.global_store_requests == 1


SMALL = [name for name, case in sorted(cases.LAUNCHES.items()) if test_fuzz.is_small(case)]


@pytest.mark.parametrize("name", SMALL)
def test_text_and_function_give_the_same_report(name):
    case = cases.LAUNCHES[name]
    head, text = test_fuzz.text_of(case.kernel)
    ours, theirs = case.arguments()[0], case.arguments()[0]
    read = simt.run(simt.read(head + text, case.kernel.__name__), case.grid, case.block, ours, shared=case.shared)
    function = simt.run(case.kernel, case.grid, case.block, theirs, shared=case.shared)
    assert read.total == function.total
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("7 // 2", 3), ("-7 % 3", 2), ("2 ** 10", 1024), ("1 / 4", 0.25), ("2 ** -1", 0.5), ("~5 & 0xFF", 250),
        ("(1, 2, 3)[-1]", 3), ("min(3, 2.5)", 2.5), ("int(7.9)", 7), ("math.sqrt(9)", 3.0), ("not 3", False),
        ("np.int8(3) + 1", 4), ("2 ** 63", 2**63), ("-2 ** 63", -(2**63)), ("((1, 2) + (3,))[2]", 3),
        ("1e308 * 10", np.inf),
        ("np.float32(0.1)", np.float32(0.1)), ("True + True", 2), ("max(1, 2) << 3", 16), ("math.pi", np.pi),
    ],
)  # fmt: skip
def test_constant_is_what_python_makes_of_it(expression, value):
    text = f"import math\nimport numpy as np\nfrom numba import cuda\nX = {expression}\ndef k(out):\n    out[0] = X\n"
    out = np.zeros(1, np.uint64 if value == 2**63 else np.float64)
    simt.run(simt.read(text), 1, 1, (out,))
    assert out[0] == value


def test_kernel_is_chosen_by_name():
    text = "def first(a):\n    a[0] = 1\ndef second(a):\n    a[0] = 2\n"
    with pytest.raises(simt.KernelError, match="first, second"):
        simt.read(text)
    with pytest.raises(simt.KernelError, match="there is no kernel third"):
        simt.read(text, "third")
    out = np.zeros(1)
    simt.run(simt.read(text, "second"), 1, 1, (out,))
    assert out[0] == 2


def test_device_function_is_no_kernel():
    text = "from numba import cuda\n@cuda.jit(device=True)\ndef f(x):\n    return x\ndef k(a):\n    a[0] = f(1)\n"
    assert simt.read(text).name == "k"
    with pytest.raises(simt.KernelError, match="no kernel f as a device function only"):
        simt.read(text, "f")


def test_undecorated_function_cannot_be_called():
    text = "def f(x):\n    return x\ndef k(a):\n    a[0] = f(1)\n"
    with pytest.raises(
        simt.KernelError, match=r"line 4: f is a Python function; decorate it with @gpu.jit\(device=True\)"
    ):
        simt.run(simt.read(text, "k"), 1, 1, (np.zeros(1),))


def test_last_value_of_a_name_counts_as_in_python():
    out = np.zeros(1)
    simt.run(simt.read("T = 1\ndef k(a):\n    a[0] = T\nT = 2\n"), 1, 1, (out,))
    assert out[0] == 2


def test_import_of_several_names_is_read_one_by_one():
    text = """import math, cmath, os
from numba import cuda, boolean, njit, vectorize
from numpy import float32, load

@njit
def half(x):
    return x / 2

def k(out):
    b = boolean(1)
    out[cuda.grid(1)] = half(math.sqrt(float32(16))) + b
"""
    with pytest.raises(simt.KernelError, match="os cannot be imported"):
        simt.read(text, "k")
    out = np.zeros(1)
    simt.run(simt.read(text, "k", skip=True), 1, 1, (out,))
    np.testing.assert_array_equal(out, [3])
    with pytest.raises(simt.KernelError, match=r"vectorize is nothing that a kernel can use"):
        simt.run(simt.read(text.replace("b = boolean(1)", "b = vectorize(1)"), "k", skip=True), 1, 1, (out,))
