"""libdevice, float16 by name, and intrinsics with a twin: they compute, are typed as in Numba, and are counted."""

import numpy as np
import pytest
from numba import cuda
from numba.cuda import libdevice
from numba.cuda.libdevice import rsqrtf

from course_lib import simt
from course_lib.simt.library import FAST, FLOATS, HALVES, twin
from tests.cases import all_of
from tests.simt.text import function

HALF = np.array([0.25, 1.5, 2.0, 4.0], np.float16)


def run(text, out, *arrays, **outside):
    names = ", ".join("abc"[: len(arrays)])
    kernel = function(f"def kernel(out, {names}):\n    i = cuda.grid(1)\n    out[i] = {text}", **outside)
    return simt.run(kernel, 1, out.size, (out, *arrays))


@all_of("name", [*FLOATS, *(f"{name}f" for name in FLOATS), *FAST])
def test_function_of_libdevice_computes_as_numpy_in_its_precision(name):
    dtype = np.float32 if name.endswith("f") else np.float64
    numpy_function = {**FLOATS, **{f"{n}f": f for n, f in FLOATS.items()}, **FAST}[name]
    count = {"atan2": 2, "pow": 2, "fmod": 2, "hypot": 2, "fmax": 2, "fmin": 2, "copysign": 2, "fdim": 2, "fma": 3,
             "fast_powf": 2, "fast_fdividef": 2}  # fmt: skip
    n = count.get(name, count.get(name.removesuffix("f"), 1))
    arrays = [np.array([0.3, 0.5, 0.9, 1.0], dtype), np.array([2.0, 0.25, -1.0, 1.0], dtype), np.full(4, 2, dtype)][:n]
    out = np.zeros(4, dtype)
    report = run(f"libdevice.{name}({', '.join(f'{x}[i]' for x in 'abc'[:n])})", out, *arrays, libdevice=libdevice)
    np.testing.assert_array_equal(out, numpy_function(*arrays).astype(dtype))
    assert report.total.float64_flops == (4 if dtype == np.float64 else 0)


def test_function_of_libdevice_can_be_imported_by_name():
    out = np.zeros(1, np.float32)
    run("rsqrtf(a[i])", out, np.array([4], np.float32), rsqrtf=rsqrtf)
    assert out[0] == 0.5


def test_round_of_libdevice_goes_away_from_zero():
    out = np.zeros(4)
    run("libdevice.round(a[i])", out, np.array([0.5, 1.5, -2.5, 2.4]), libdevice=libdevice)
    np.testing.assert_array_equal(out, [1, 2, -3, 2])


@pytest.mark.parametrize("name", HALVES)
def test_function_of_fp16_computes_in_float16(name):
    two = ("hadd", "hsub", "hmul", "hdiv", "hmax", "hmin", "heq", "hne", "hge", "hgt", "hle", "hlt")
    n = 3 if name == "hfma" else 2 if name in two else 1
    arrays, out = [HALF, HALF[::-1].copy(), HALF][:n], np.zeros(4, np.float16)
    run(f"cuda.fp16.{name}({', '.join(f'{x}[i]' for x in 'abc'[:n])})", out, *arrays)
    np.testing.assert_array_equal(out, HALVES[name](*arrays).astype(np.float16))


def test_unknown_function_of_libdevice_is_refused_with_its_line():
    with pytest.raises(simt.KernelError, match=r"line 3: libdevice\.nothing is not among"):
        run("libdevice.nothing(a[i])", np.zeros(1), np.ones(1), libdevice=libdevice)


def test_intrinsic_has_a_twin_that_kernels_call_in_its_place():
    @cuda.jit(device=True)
    def double(x):
        raise AssertionError("never called here")

    @twin(double, "double_of_test")
    def _double(e, mask, node, value):
        e.machine.count(node.lineno, mask, value.dtype)
        return value + value

    out = np.zeros(4)
    report = run("double(a[i])", out, np.arange(4.0), double=double)
    np.testing.assert_array_equal(out, [0, 2, 4, 6])
    assert report.total.flops == 4
    with pytest.raises(simt.KernelError, match=r"intrinsic\.double_of_test"):
        run("double(a[i], 1)", out, np.arange(4.0), double=double)
    with pytest.raises(ValueError, match="already"):
        twin(print, "double_of_test")
