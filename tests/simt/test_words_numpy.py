"""NumPy's functions of numbers in a kernel, and the names of types: those that Numba has for CUDA, typed as there."""

from importlib import util

import numba
import numpy as np
import pytest
from numba.core.target_extension import target_override
from numba.cuda.descriptor import cuda_target
from numba.np.numpy_support import as_dtype

from course_lib import simt
from course_lib.simt import types
from course_lib.simt.functions import FUNCTIONS
from course_lib.simt.numpy_words import OF_ONE, OF_TWO
from tests.cases import all_of
from tests.simt.text import function

FLOATS = np.array([0.25, 0.5, 0.75, 1.0])
WHOLE = np.array([3, 1, 2, 5], np.int32)


def run(expression, *arrays, out=None):
    names = "abc"[: len(arrays)]
    out = np.zeros(len(arrays[0])) if out is None else out
    text = f"def kernel(out, {', '.join(names)}):\n    i = cuda.grid(1)\n    out[i] = {expression}"
    simt.run(function(text, numba=numba), 1, len(out), (out, *arrays))
    return out


@all_of("name", [name for name in OF_ONE if hasattr(np, name)])
@all_of("dtype", [np.float32, np.float64, np.int32, np.uint8])
def test_function_of_one_is_numpys(name, dtype):
    whole = name.startswith(("bitwise", "invert"))
    if whole and dtype in (np.float32, np.float64):
        with pytest.raises(simt.KernelError, match=f"line 3: .*(has no|no .*loop).*{dtype.__name__}|has no"):
            run(f"np.{name}(a[i])", FLOATS.astype(dtype))
        return
    x = (FLOATS if np.dtype(dtype).kind == "f" else WHOLE).astype(dtype)
    result = types.signature(getattr(np, name), dtype)[0]
    with np.errstate(all="ignore"):
        want = getattr(np, name)(x if whole or result == np.bool_ else x.astype(result)).astype(result)
    np.testing.assert_array_equal(run(f"np.{name}(a[i])", x), want.astype(np.float64))


@all_of("name", [name for name in OF_TWO if hasattr(np, name)])
def test_function_of_two_is_numpys(name):
    x, y = (
        (WHOLE, np.array([1, 2, 3, 1], np.int32))
        if "bitwise" in name or "shift" in name
        else (FLOATS, FLOATS[::-1].copy())
    )
    np.testing.assert_array_equal(run(f"np.{name}(a[i], b[i])", x, y), getattr(np, name)(x, y))


def test_words_of_numpy_are_those_that_numba_has_for_cuda():
    """Of each function of one or two numbers in NumPy, Numba's own table says whether a kernel may call it."""
    if util.find_spec("numba_cuda"):
        pytest.skip("NVIDIA's numba-cuda types all functions of NumPy, and says only later that it has none")
    context = cuda_target.typing_context
    types.signature(min, "int32", "int32")  # the table is complete from now on
    newer = {"conj", "conjugate", "isnan", "divide", "true_divide"}  # in NVIDIA's numba-cuda only
    for name, ufunc in vars(np).items():
        if isinstance(ufunc, np.ufunc) and ufunc.nout == 1:
            knows = False
            for dtype in (numba.float64, numba.int32):
                try:
                    with target_override("cuda"):
                        knows |= context.resolve_function_type(ufunc, (dtype,) * ufunc.nin, {}) is not None
                except (numba.core.errors.TypingError, NotImplementedError, KeyError):
                    continue
            assert (f"np.{name}" in FUNCTIONS) == (knows or name in newer), name


@pytest.mark.parametrize(("expression", "dtypes", "result"), [
    ("np.maximum", ("int32", "uint32"), "int64"), ("np.maximum", ("uint8", "int8"), "int16"),
    ("np.maximum", ("int32", "float32"), "float32"), ("np.divide", ("int16", "int16"), "float32"),
    ("np.divide", ("int32", "int32"), "float64"), ("np.divide", ("complex64", "complex64"), "complex64"),
    ("np.sin", ("uint8",), "float32"), ("np.sin", ("int64",), "float64"), ("np.isnan", ("float32",), "bool"),
    ("np.left_shift", ("int32", "int32"), "int32"), ("np.logical_and", ("int32", "float64"), "bool"),
])  # fmt: skip
def test_result_has_the_type_of_numpys_rules_in_numba(expression, dtypes, result):
    assert types.signature(getattr(np, expression[3:]), *dtypes)[0] == result


def test_parts_and_angles_of_numbers():
    z = np.array([1 + 2j, -1j, -3, 0.5])
    np.testing.assert_array_equal(run("np.real(a[i]) + 10 * np.imag(a[i])", z), z.real + 10 * z.imag)
    np.testing.assert_array_equal(run("np.angle(a[i])", z), np.angle(z))
    np.testing.assert_array_equal(run("np.angle(a[i])", z.real.copy()), np.angle(z.real))
    np.testing.assert_allclose(run("np.sinc(a[i])", z.real.copy()), np.sinc(z.real), rtol=1e-15, atol=1e-16)
    np.testing.assert_array_equal(run("np.isscalar(a[i]) + 2 * np.isscalar(a)", z), [1] * 4)
    np.testing.assert_array_equal(run("abs(np.conj(a[i]) - np.conjugate(a[i]))", z), [0] * 4)


INSTEAD = {
    "np.sqrt(a[i])": "Write math.sqrt", "np.exp(a[i])": "Write math.exp", "np.abs(a[i])": r"Write abs\(x\)",
    "np.floor(a[i])": "Write math.floor", "np.power(a[i], 2)": r"Write x \*\* y", "np.sign(a[i])": "math.copysign",
    "np.isinf(a[i])": "Write math.isinf", "np.add(a[i], 1)": r"Write x \+ y", "np.round(a[i])": "Write round",
    "np.absolute(a[i])": r"Write abs\(x\)", "np.mod(a[i], 2)": "Write x % y", "np.square(a[i])": r"Write x \* x",
}  # fmt: skip


@pytest.mark.parametrize("expression", INSTEAD)
def test_function_that_numba_has_for_a_cpu_only_says_what_to_write(expression):
    with pytest.raises(simt.KernelError, match=rf"line 3: .*{INSTEAD[expression]}"):
        run(expression, FLOATS)


@pytest.mark.parametrize("bits", [("float32", "int32"), ("int64", "float64"), ("uint8", "int8"), ("float16", "uint16")])
def test_view_of_a_number_has_the_same_bits(bits):
    x = np.array([1, 2, 3, 255], bits[0]) if bits[0] == "uint8" else np.array([1.5, -2, 3e4, 0], bits[0])
    np.testing.assert_array_equal(run(f"a[i].view(np.{bits[1]})", x), x.view(bits[1]).astype(float))


def test_view_of_a_number_does_not_change_its_size():
    with pytest.raises(simt.KernelError, match=r"line 3: number\.view: the bits of a float32 are not those of a int64"):
        run("a[i].view(np.int64)", FLOATS.astype(np.float32))


NAMED = {
    "numba.types.int8": 300, "numba.b1": 300, "numba.byte": 300, "np.intc": 3.9, "np.double": 0.1, "numba.f4": 0.1,
    "numba.types.uint16": 70000, "np.half": 0.1, "np.longlong": 3.9, "numba.boolean": 0,
}  # fmt: skip


@pytest.mark.parametrize("name", NAMED)
def test_type_has_many_names(name):
    module, _, word = name.rpartition(".")
    thing = getattr({"np": np, "numba": numba, "numba.types": numba.types}[module], word)
    dtype = np.dtype(thing) if module == "np" else as_dtype(thing)
    text = f"""
        def kernel(out):
            out[0] = {name}({NAMED[name]})
            out[1] = thing({NAMED[name]})
            s = cuda.shared.array(1, thing)
            s[0] = 1
            out[2] = s[0]
    """
    kernel = function(text, numba=numba, thing=thing)
    out = np.zeros(3)
    report = simt.run(kernel, 1, 1, (out,))
    want = float(np.array(NAMED[name]).astype(np.int64 if dtype.kind in "iu" else dtype).astype(dtype))
    np.testing.assert_array_equal(out, [want, want, 1])
    assert report.shared_bytes == -(-dtype.itemsize // 16) * 16 or report.shared_bytes == dtype.itemsize


@pytest.mark.parametrize("line", [
    "from numba import types", "import numba.types as types", "from numba.core import types",
    "import numba.core.types as types",
    "from numba.types import float32 as f, int8\nimport numba.types as types",
])  # fmt: skip
def test_text_takes_types_from_numba(line):
    body = "    s = cuda.shared.array(2, types.i4)\n    s[0] = F(2.5)\n    out[0] = s[0] + boolean(3)\n"
    source = simt.read(f"{line}\nfrom numba import cuda, boolean\nF = types.float32\ndef kernel(out):\n{body}")
    out = np.zeros(1)
    simt.run(source, 1, 1, (out,))
    assert out[0] == 3
