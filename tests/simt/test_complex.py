"""Complex numbers in a kernel: typed as in Numba, computed as in Python, counted as real operations."""

import cmath
import operator

import numba
import numpy as np
import pytest
from numba import cuda

from course_lib import simt
from tests.simt.text import function

Z = np.array([1 + 2j, -0.5 + 0.25j, 3 - 1j, -2 - 2j])
W = np.array([0.5 - 1j, 2 + 2j, -1 + 0.5j, 1 + 0j])
OUTSIDE = {"cmath": cmath, "operator": operator, "complex64": numba.complex64, "complex128": numba.complex128}


def run(expression, z=Z, w=W, out=None, **outside):
    """Run out[i] = expression of z and w of each lane; return (out, report)."""
    out = np.zeros(len(z), np.complex128) if out is None else out
    text = f"def kernel(zs, ws, out):\n    i = cuda.grid(1)\n    z, w = zs[i], ws[i]\n    out[i] = {expression}"
    report = simt.run(function(text, **OUTSIDE, **outside), 1, len(z), (z, w, out))
    return out, report


ARITHMETIC = ["z + w", "z - w", "z * w", "z / w", "-z", "+z", "z + 2", "2.5 * z", "1j * z", "z - 1j", "z * z + w",
              "z.conjugate()", "z == w", "z != w", "abs(z)", "z.real", "z.imag", "not z", "complex(z.real, 3)",
              "complex(z)", "z if z.real > 0 else w", "z or w", "operator.mul(z, w)", "complex(1, 2)"]  # fmt: skip


@pytest.mark.parametrize("expression", ARITHMETIC)
def test_arithmetic_is_pythons(expression):
    want = [
        eval(expression, {"z": z, "w": w, "operator": operator}) for z, w in zip(Z.tolist(), W.tolist(), strict=True)
    ]
    np.testing.assert_allclose(run(expression)[0], np.array(want, np.complex128), rtol=4e-16)


OF_CMATH = ["acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "log", "log10", "sin", "sinh",
            "sqrt", "tan", "tanh", "phase"]  # fmt: skip


@pytest.mark.parametrize("name", OF_CMATH)
def test_function_of_cmath_is_pythons(name):
    want = [getattr(cmath, name)(z) for z in Z.tolist()]
    np.testing.assert_allclose(run(f"cmath.{name}(z)")[0], want, rtol=1e-14)
    if name not in ("acosh", "cosh", "log10", "sinh", "tanh", "phase"):  # those take complex numbers only
        want = [getattr(cmath, name)(z.real / 4) for z in Z.tolist()]
        np.testing.assert_allclose(run(f"cmath.{name}(z.real / 4)")[0], want, rtol=1e-14)


def test_polar_and_rect_turn_into_each_other():
    np.testing.assert_allclose(run("cmath.rect(cmath.polar(z)[0], cmath.polar(z)[1])")[0], Z, rtol=1e-15)
    np.testing.assert_allclose(
        run("cmath.log(z, 2 * w)")[0], [cmath.log(z, 2 * w) for z, w in zip(Z, W, strict=True)], rtol=1e-14
    )


@pytest.mark.parametrize("name", ["isnan", "isinf", "isfinite"])
def test_question_of_cmath_asks_both_parts(name):
    z = np.array([1j, np.nan, 1j * np.inf, 3])
    np.testing.assert_array_equal(run(f"cmath.{name}(z)", z)[0], [getattr(cmath, name)(v) for v in z.tolist()])


@pytest.mark.parametrize("expression", ["z ** w", "z ** 2", "z ** 0", "z ** 0.5", "pow(z, w)", "z ** -1"])
def test_power_goes_by_polar_coordinates(expression):
    want = [eval(expression, {"z": z, "w": w}) for z, w in zip(Z.tolist(), W.tolist(), strict=True)]
    np.testing.assert_allclose(run(expression)[0], want, rtol=1e-13, atol=1e-15)


def test_power_of_zero():
    z = np.array([0j, 0j, 1j])
    np.testing.assert_array_equal(run("z ** w", z, np.array([0j, 2j, 1j]))[0], [1, 0, 0])  # the last as in Numba


TYPES = [
    ("z * w", "complex64", "complex64", "complex64"), ("z * w", "complex64", "float32", "complex64"),
    ("z * w", "complex64", "float64", "complex128"), ("z + w", "complex64", "int32", "complex128"),
    ("z * 1j", "complex64", "complex64", "complex128"), ("z * 2", "complex64", "complex64", "complex128"),
    ("z.real", "complex64", "complex64", "float32"), ("abs(z)", "complex64", "complex64", "float32"),
    ("complex(z, w)", "float32", "float32", "complex64"), ("complex(z, w)", "float32", "int32", "complex128"),
    ("complex(z)", "complex64", "complex64", "complex128"), ("complex64(z)", "complex128", "float32", "complex64"),
    ("z.imag", "int32", "int32", "int32"), ("z.conjugate()", "float32", "float32", "float32"),
    ("cmath.sqrt(z)", "float32", "float32", "complex64"), ("cmath.tanh(z)", "complex64", "complex64", "complex128"),
    ("np.conj(z)", "complex64", "complex64", "complex64"), ("z ** 2", "complex64", "complex64", "complex128"),
    ("bool(z)", "complex64", "complex64", "bool"),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "z", "w", "result"), TYPES)
def test_result_has_numbas_type(expression, z, w, result, monkeypatch):
    machine, stored = simt.run.__globals__["Machine"], []
    store = machine.store

    def recording(self, view, indices, value, *rest):
        stored.append(value.dtype)
        return store(self, view, indices, value, *rest)

    monkeypatch.setattr(machine, "store", recording)
    run(expression, np.ones(2, z), np.ones(2, w))
    assert set(map(str, stored)) == {result}


FLOPS = {"z + w": 2, "z - w": 2, "z * w": 6, "z / w": 9, "z.real * w.imag": 1, "z * w + z": 8, "abs(z)": 4}


@pytest.mark.parametrize("expression", FLOPS)
def test_operation_counts_as_so_many_of_real_numbers(expression):
    assert run(expression)[1].total.flops == 4 * FLOPS[expression] == run(expression)[1].total.float64_flops
    single = run(expression, Z.astype(np.complex64), W.astype(np.complex64), np.zeros(4, np.complex64))[1].total
    assert (single.flops, single.float64_flops) == (4 * FLOPS[expression], 0)


REFUSED = {
    "z < w": "no order", "max(z, w)": "no order", "z // w": "has no //", "z % w": "has no %", "int(z)": "has no int",
    "float(z)": "has no float", "np.float32(z)": "cannot become a float32", "round(z)": "has no round",
    "math.sqrt(z)": "has no sqrt", "~z": "has no invert", "complex(z, w)": "real numbers",
    "divmod(z, w)": "has no divmod", "cuda.selp(True, z, w)": "none for complex",
    "cmath.phase(1.0)": "takes a complex number", "z.nothing": "no nothing",
    "cuda.shfl_sync(-1, z, 0)": "complex128", "complex(real=z)": "positional only", "z & w": "has no &",
    "print(z)": "cannot be printed",
}  # fmt: skip


@pytest.mark.parametrize("expression", REFUSED)
def test_what_numba_has_not_for_complex_numbers_is_refused_with_its_line(expression):
    with pytest.raises(simt.KernelError, match=rf"line 4: .*({REFUSED[expression]})"):
        run(expression)


def test_complex_number_cannot_be_stored_among_floats():
    with pytest.raises(simt.KernelError, match="line 4: a complex128 cannot become a float64"):
        run("z", out=np.zeros(4))


def test_atomic_operation_has_no_complex_numbers():
    kernel = function("def kernel(zs):\n    cuda.atomic.add(zs, 0, 1j)")
    with pytest.raises(simt.KernelError, match="array of complex128, for which Numba has no atomic add"):
        simt.run(kernel, 1, 1, (Z.copy(),))


def test_mandelbrot_as_everybody_writes_it():
    @cuda.jit(device=True)
    def steps(x, y, most):
        c = complex(x, y)
        z = 0.0j
        for i in range(most):
            z = z * z + c
            if z.real * z.real + z.imag * z.imag >= 4:
                return i
        return most

    @cuda.jit
    def kernel(image, most):
        col, row = cuda.grid(2)
        if row < image.shape[0] and col < image.shape[1]:
            image[row, col] = steps(-2 + 3 * col / image.shape[1], -1 + 2 * row / image.shape[0], most)

    image = np.zeros((20, 30), np.int32)
    report = simt.run(kernel, (4, 3), (8, 8), (image, 20))
    for row in range(20):
        for col in range(30):
            z, c, n = 0j, complex(-2 + 3 * col / 30, -1 + 2 * row / 20), 0
            while n < 20 and abs(z := z * z + c) ** 2 < 4:
                n += 1
            assert image[row, col] == n
    assert report.hazards == []


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_numbers_in_shared_and_local_memory_and_the_bytes_that_they_move(dtype):
    kernel = function(f"""
        def kernel(zs, out):
            s = cuda.shared.array(32, np.{dtype.__name__})
            v = cuda.local.array(2, np.{dtype.__name__})
            i = cuda.threadIdx.x
            s[i] = zs[i]
            v[0] = 3
            v[1] += 1j if i < 0 else v[0]
            cuda.syncthreads()
            out[i] = s[31 - i] + v[0]
    """.replace("+=", "="))  # fmt: skip
    z, out = (np.arange(32) * (1 + 2j)).astype(dtype), np.zeros(32, dtype)
    report = simt.run(kernel, 1, 32, (z, out))
    np.testing.assert_array_equal(out, z[::-1] + 3)
    size = np.dtype(dtype).itemsize
    assert report.total.global_load_sectors == report.total.global_store_sectors == size
    assert report.shared_bytes == 32 * size
    assert report.total.shared_load_wavefronts == size // 4  # 32 banks give 128 bytes at a time
    assert report.total.shared_load_conflicts == 0


def test_scalars_and_constants_are_complex():
    w, t = 1 - 1j, (2j, np.complex64(3))
    kernel = function("def kernel(out, c):\n    out[0] = c * W\n    out[1] = T[0] + T[1]\n    out[2] = A[1]\n"
                      "    out[3] = cmath.infj.imag", W=w, T=t, A=np.array([1, 5j]), **OUTSIDE)  # fmt: skip
    out = np.zeros(4, np.complex128)
    simt.run(kernel, 1, 1, (out, 2 + 3j))
    np.testing.assert_array_equal(out, [(2 + 3j) * w, 3 + 2j, 5j, np.inf])
    simt.run(kernel, 1, 1, (out, np.complex64(1j)))
    assert out[0] == 1j * w


def test_text_has_complex_constants_and_types():
    source = simt.read("""
import cmath
import numpy as np
from numba import cuda, complex64, types
W = 1j * (2 - 1j) + complex(1, 1)
T = (W, 2.5)
D = types.complex128

@cuda.jit
def kernel(out):
    v = cuda.local.array(1, D)
    v[0] = complex64(W) * T[1]
    out[0] = v[0] + cmath.sqrt(-4)
""")
    out = np.zeros(1, np.complex128)
    simt.run(source, 1, 1, (out,))
    assert out[0] == (1j * (2 - 1j) + 1 + 1j) * 2.5 + 2j


@pytest.mark.parametrize("body", [
    "out[i] = zs.sum()", "out[i] = zs.mean() + zs.var() + zs.prod()", "out[i] = sum(zs)",
    "zs[1:] = 3 - 1j\n    out[i] = zs[i]",
    "for z in zs:\n        out[i] += z", "zs.real[i] = 5\n    out[i] = zs[i]", "out[i] = zs[i] in (1 + 2j, 3 + 0j)",
    "z = zs[i]\n    z += 1\n    z *= 1j\n    out[i] = z", "out[i] = (1 + 2j).imag + 1j.imag + complex(1, 2).imag",
])  # fmt: skip
def test_arrays_of_complex_numbers_can_do_what_others_can(body):
    kernel = function(f"def kernel(zs, out):\n    i = cuda.grid(1)\n    {body}")
    ours, out, theirs, want = Z.copy(), np.zeros(1, complex), Z.copy(), np.zeros(1, complex)
    simt.run(kernel, 1, 1, (ours, out))
    exec(body.replace("\n    ", "\n"), {"zs": theirs, "out": want, "i": 0})
    np.testing.assert_allclose(out, want, rtol=1e-14)
    np.testing.assert_array_equal(ours, theirs)


def test_lanes_that_are_switched_off_keep_their_complex_number():
    kernel = function("""
        def kernel(zs, out):
            i = cuda.grid(1)
            z = 2.5
            if i % 2:
                z = zs[i] * 2
            k = 0
            while abs(z) < 20:
                z *= 1j + 1
                k += 1
            out[i] = z
    """)
    out = np.zeros(4, np.complex128)
    simt.run(kernel, 1, 4, (Z, out))
    want = [2 * v if i % 2 else 2.5 + 0j for i, v in enumerate(Z.tolist())]
    for i in range(4):
        while abs(want[i]) < 20:
            want[i] *= 1 + 1j
    np.testing.assert_allclose(out, want, rtol=1e-15)


@pytest.mark.parametrize(
    "name", ["np.complex64", "numba.complex128", "numba.c8", "numba.types.c16", "np.csingle", "cuda.complex64"]
)
def test_complex_type_has_many_names(name):
    size = 16 if name.endswith(("128", "c16")) else 8
    out, _ = run(f"{name}(0.1) + cuda.local.array(1, {name}).size - 1", numba=numba)
    assert out[0] == pytest.approx(np.complex64(0.1) if size == 8 else 0.1, rel=1e-12)
