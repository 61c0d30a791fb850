"""What an array knows of itself, its bytes as another type, its extremes, and the limits of types."""

import numba
import numpy as np
import pytest

from course_lib import simt
from tests.simt.text import function


def run(body, out, **arrays):
    text = f"def kernel(out, {', '.join(arrays)}):\n    i = cuda.grid(1)\n    " + body.replace("\n", "\n    ")
    kernel = function(text, numba=numba)
    report = simt.run(kernel, 1, len(out), (out, *arrays.values()))
    return out, report


@pytest.mark.parametrize("a", [
    np.zeros((2, 3), np.float32), np.zeros((3, 4))[:, ::2], np.zeros((2, 3, 4), np.int16).transpose(2, 0, 1),
    np.zeros(5, np.complex64), np.zeros((2, 2), np.dtype([("x", np.float64), ("y", np.int8)])),
], ids=str)  # fmt: skip
def test_sizes_in_bytes_are_numpys(a):
    strides = ", ".join(f"a.strides[{k}]" for k in range(a.ndim))
    out, _ = run(f"out[i] = (a.itemsize, a.nbytes, a.size, a.ndim, np.size(a), np.shape(a)[0], {strides})[i]",
                 np.zeros(6 + a.ndim), a=a)  # fmt: skip
    np.testing.assert_array_equal(out, [a.itemsize, a.nbytes, a.size, a.ndim, a.size, a.shape[0], *a.strides])


@pytest.mark.parametrize(("old", "new"), [
    ("float32", "int32"), ("int32", "float32"), ("float64", "uint32"), ("uint8", "float32"), ("int16", "int8"),
    ("complex64", "float32"),
])  # fmt: skip
def test_view_has_the_same_bytes(old, new):
    a = np.arange(8, dtype=np.uint8).astype(old) * 3
    want = a.view(new)
    out, _ = run(f"out[i] = a.view(np.{new})[i]", np.zeros(want.size), a=a)
    np.testing.assert_array_equal(out, want)
    run(f"v = a.view(numba.{new})\nv[i] = i", np.zeros(want.size), a=a)
    np.testing.assert_array_equal(a.view(new), np.arange(want.size).astype(new))


def test_view_of_two_axes_and_of_shared_memory():
    a, out = np.arange(8, dtype=np.float32).reshape(2, 4), np.zeros(4)
    body = "v = a.view(np.int64)\ns = cuda.shared.array(4, np.float32)\ns[i] = 1.5 * i\ncuda.syncthreads()\n"
    run(body + "out[i] = v[i // 2, i % 2] + s.view(np.int32)[3 - i]", out, a=a)
    want = a.view(np.int64).ravel() + (1.5 * np.arange(4, dtype=np.float32)).view(np.int32)[::-1]
    np.testing.assert_array_equal(out, want.astype(float))


def test_what_is_written_through_a_view_of_other_sizes_counts_as_written():
    body = (
        "s = cuda.shared.array((2, 2), np.float32)\nif i < 2:\n    s.view(np.float64)[i, 0] = 1.5\ncuda.syncthreads()\n"
    )
    out, report = run(body + "out[i] = s[i // 2, i % 2]", np.zeros(4), a=np.zeros(1))
    np.testing.assert_array_equal(out, np.full(2, 1.5).view(np.float32))
    assert report.hazards == report.advice[1:] == []


def test_accesses_through_a_view_race_with_those_of_the_array():
    with pytest.raises(simt.KernelError, match=r"which thread \d of the same block wrote"):
        run("a[i] = i\nout[i] = a.view(np.int32)[3 - i]", np.zeros(4), a=np.zeros(4, np.float32))


@pytest.mark.parametrize(("body", "says"), [
    ("out[i] = a[:, 0].view(np.int32)[i]", "without gaps"), ("out[i] = a.view(np.float64)[0, i]", "has 12 bytes"),
    ("out[i] = a.view('int32')[0, 0]", "takes a type"), ("out[i] = a.item()", "not one element"),
    ("out[i] = a.astype(np.int32)[0, 0]", "no astype"), ("out[i] = a.copy()[0, 0]", "no copy"),
])  # fmt: skip
def test_what_numba_cannot_do_without_new_memory_is_refused_with_its_line(body, says):
    with pytest.raises(simt.KernelError, match=f"line 3: .*{says}"):
        run(body, np.zeros(2), a=np.zeros((2, 3), np.float32))


def test_parts_of_complex_numbers_are_arrays_that_can_be_changed():
    z, out = np.array([1 + 2j, 3 - 4j]), np.zeros(2)
    _, report = run("out[i] = z.real[i] * 10 + z.imag[i]\nz.imag[i] = 7", out, z=z)
    np.testing.assert_array_equal(out, [12, 26])
    np.testing.assert_array_equal(z, [1 + 7j, 3 + 7j])
    assert (report.arrays["z.real"].loads, report.arrays["z.imag"].stores) == (2, 2)
    run("cuda.atomic.add(z.real, 0, 1.5)", out, z=z)
    assert z[0] == 4 + 7j


def test_item_real_and_extremes_of_an_array():
    a = np.array([4.0, -2, 9, 1])
    out, report = run("out[i] = min(a) + 10 * max(a) + a[1:2].item() + a.real[i]", np.zeros(4), a=a)
    np.testing.assert_array_equal(out, -2 + 90 - 2 + a)
    assert report.arrays["a"].loads == 4 * (4 + 4 + 1 + 1)


LIMITS = [
    "np.finfo(np.float32).max", "np.finfo(np.float64).eps", "np.finfo(numba.float32).tiny", "np.iinfo(np.int32).max",
    "np.iinfo(np.int8).min", "np.finfo(np.float16).bits", "np.finfo(np.float32).min",
]  # fmt: skip


@pytest.mark.parametrize("text", LIMITS)
def test_limits_of_types_are_numpys_in_kernels_and_in_texts(text):
    want = eval(text.replace("numba.", "np."), {"np": np})
    assert run(f"out[i] = {text}", np.zeros(1), a=np.zeros(1))[0][0] == want
    source = simt.read(f"import numba\nimport numpy as np\nBIG = {text}\ndef kernel(out):\n    out[0] = BIG\n")
    out = np.zeros(1)
    simt.run(source, 1, 1, (out,))
    assert out[0] == want


@pytest.mark.parametrize(
    "expression",
    ["np.finfo(np.int32).max", "np.iinfo(np.float32).max", "np.finfo(3).max", "np.finfo(np.float32).dtype"],
)
def test_limit_of_no_type_is_refused_with_its_line(expression):
    with pytest.raises(simt.KernelError, match="line 3"):
        run(f"out[i] = {expression}", np.zeros(1), a=np.zeros(1))


def test_dtype_may_be_a_text():
    body = 's = cuda.shared.array(2, "float32")\nv = cuda.local.array(2, dtype="i2")\ns[i] = 0.1\nv[i] = 70000\n'
    out, report = run(body + "out[i] = s[i] + v[i]", np.zeros(2), a=np.zeros(1))
    np.testing.assert_array_equal(out, [np.float32(0.1) + np.float32(4464)] * 2)
    assert report.arrays["s"].dtype == "float32"


@pytest.mark.parametrize("text", ["'float31'", "'f4,f4'", "'O'", "'S4'", "'object'", "'M8'", "'>f4'"])
def test_text_that_is_no_dtype_is_refused_with_its_line(text):
    with pytest.raises(simt.KernelError, match=r"line 3: .*a dtype"):
        run(f"s = cuda.local.array(2, {text})", np.zeros(1), a=np.zeros(1))
