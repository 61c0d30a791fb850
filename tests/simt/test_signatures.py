"""A signature declares types: numbers are converted to them, arrays must have them, and its text is only parsed."""

import numba
import numpy as np
import pytest
from numba import boolean, cuda, float32, float64, int32, int64, types, void
from numba.cuda import dispatcher

from course_lib import gpu, simt
from course_lib.simt.signature_text import Type, parsed
from course_lib.simt.signatures import NotDeclared, signatures

FLAG = 0x00100000


@gpu.jit("void(int32[:], int32)")
def leading_zeros(out, x):
    out[cuda.grid(1)] = cuda.clz(x)


@gpu.jit("int32(int32, int32)", device=True)
def pack(r, g):
    return ((r & 0xFF) << 8) | (g & 0xFF)


@gpu.jit("float32(float32)", device=True)
def half(x):
    return x / 2


@gpu.jit(["float32(float32, float32)", "int64(int64, int64)"], device=True)
def twice_typed(a, b):
    return a / b


@gpu.jit([void(int32[:]), void(float32[:])])
def count_up(a):
    a[cuda.grid(1)] += 1


def run(kernel, *arguments, threads=4):
    return simt.run(kernel, 1, threads, arguments)


def test_a_number_is_converted_to_the_declared_type_before_the_kernel_begins():
    out = np.zeros(4, np.int32)
    run(leading_zeros, out, FLAG)
    np.testing.assert_array_equal(out, 11)  # of an int64 it would be 43


def test_a_launch_of_gpu_jit_honours_the_signature_too():
    if gpu.device_name() != "SIMT executor (no GPU)":
        pytest.skip("on a GPU Numba itself converts")
    out = gpu.to_device(np.zeros(4, np.int32))
    leading_zeros[1, 4](out, FLAG)
    np.testing.assert_array_equal(gpu.to_host(out), 11)


def test_a_whole_number_keeps_its_low_bits_as_in_c():
    @gpu.jit("void(int32[:], int32)")
    def copy(out, x):
        out[cuda.grid(1)] = x

    out = np.zeros(4, np.int32)
    run(copy, out, 2**32 + 7)
    np.testing.assert_array_equal(out, 7)


def test_a_device_function_converts_what_it_gets():
    @gpu.jit
    def kernel(a, out):
        i = cuda.grid(1)
        out[i] = pack(a[i], a[i])

    out = np.zeros(4, np.int32)
    run(kernel, np.arange(4, dtype=np.float32), out)
    np.testing.assert_array_equal(out, np.arange(4) << 8 | np.arange(4))


def test_a_device_function_converts_what_it_returns():
    @gpu.jit
    def kernel(out, third):
        i = cuda.grid(1)
        out[i] = half(1 / 3) * 2
        third[i] = 1 / 3

    out, third = np.zeros((2, 4))
    run(kernel, out, third)
    np.testing.assert_array_equal(out, np.float32(1 / 3))
    np.testing.assert_array_equal(third, 1 / 3)


def test_of_several_signatures_the_nearest_one_is_taken():
    @gpu.jit
    def kernel(out, a, b):
        out[0] = twice_typed(a[0], a[1])
        out[1] = twice_typed(b[0], b[1])

    out = np.zeros(2)
    run(kernel, out, np.array([7, 2], np.float32), np.array([7, 2]), threads=1)
    np.testing.assert_array_equal(out, [3.5, 3])
    for dtype in (np.int32, np.float32):
        a = np.zeros(4, dtype)
        run(count_up, a)
        np.testing.assert_array_equal(a, 1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((np.zeros(4, np.int64), 3), ["leading_zeros: out is declared as int32[:]", "int64"]),
        ((np.zeros((4, 1), np.int32), 3), ["out is declared as int32[:]", "2 axes"]),
        ((np.zeros(4, np.int32), 3.5), ["x is declared as int32", "3.5", "no whole number"]),
        ((np.zeros(4, np.int32), np.zeros(4, np.int32)), ["x is declared as int32", "array"]),
        ((3, 3), ["out is declared as int32[:]", "int64"]),
    ],
)
def test_what_does_not_fit_is_told_by_name_and_type(arguments, words):
    with pytest.raises(TypeError) as error:
        run(leading_zeros, *arguments)
    for word in words:
        assert word in str(error.value)


def test_an_array_without_a_matching_signature_is_told_which_there_are():
    with pytest.raises(TypeError, match=r"void\(int32\[:\]\) or void\(float32\[:\]\); none takes a, an array"):
        run(count_up, np.zeros(4))


@pytest.mark.parametrize("declared", ["void(float32[:, ::1])", "void(float32[::1, :])"])
def test_a_declared_layout_must_be_the_arrays(declared):
    @gpu.jit(declared)
    def kernel(a):
        i = cuda.grid(1)
        a[i, 0] = 1

    order, other = ("C", "F") if declared.endswith("::1])") else ("F", "C")
    run(kernel, np.zeros((4, 4), np.float32, order=order))
    with pytest.raises(TypeError, match="without gaps"):
        run(kernel, np.zeros((4, 4), np.float32, order=other))


@pytest.mark.parametrize("align", [False, True])
def test_a_record_may_be_declared(align):
    dtype = np.dtype([("x", np.float32), ("y", np.float64), ("n", np.int8)], align=align)
    other = np.dtype([("x", np.float32), ("y", np.float32)])
    record = numba.from_dtype(dtype)

    @gpu.jit(float64(record), device=True)
    def both(p):
        return p.x + p.y

    @gpu.jit(void(float64[:], record))
    def kernel(out, p):
        out[0] = both(p)

    given, out = np.zeros(1, dtype), np.zeros(1)
    given["x"], given["y"] = 1, 2
    run(kernel, out, given[0], threads=1)
    assert out == 3
    with pytest.raises(NotDeclared, match="p is declared as a record of x, y, n and got p, a record of x, y"):
        run(kernel, out, np.zeros(1, other)[0], threads=1)
    with pytest.raises(NotDeclared, match="p is declared as a record of x, y, n and got an int64"):
        run(kernel, out, 2, threads=1)


def test_every_way_of_writing_a_signature_means_the_same():
    want = signatures("void(float32[:, ::1], int32, boolean)")
    assert signatures("(f4[:,::1], i4, b1)")[0].parameters == want[0].parameters
    assert signatures(void(float32[:, ::1], int32, boolean)) == want
    assert signatures((float32[:, ::1], int32, boolean))[0].parameters == want[0].parameters
    assert signatures([void(float32[:, ::1], int32, boolean)]) == want
    assert str(want[0]) == "void(float32[:, ::1], int32, boolean)"
    assert signatures("float64(UniTuple(int64, 2))", device=True) == signatures(
        float64(types.UniTuple(int64, 2)), device=True
    )
    assert parsed("i8(u1)").returns == Type(np.dtype("int64"))


def test_numbas_own_parser_reads_the_same_names():
    from numba.core.sigutils import normalize_signature

    from course_lib.simt.signature_text import TYPES

    for name, dtype in TYPES.items():
        (numbas,), _ = normalize_signature(f"void({name})")
        assert numba.np.numpy_support.as_dtype(numbas) == dtype


@pytest.mark.parametrize(
    "text",
    [
        "", "int32", "void(", "void(foo)", "void(int32[0])", "void(int32[1:])", "void(int32[::2])",
        "void(float32[None])",
        "__import__('os').system('echo')", "void(__import__('os'))", "(lambda: int32)()", "void(int32[:])(int32)",
        "void(x=int32)", "void(*int32)", "[int32 for i in (1,)]", "void(int32.__class__)", "void(types.int32)",
        "void(int32[:][:])", "void(void)", "void(" + "(" * 500 + "int32" + ")" * 500 + ")",
        "void(" + "int32," * 3000 + ")",
        "void(int32" + "[:]" * 500 + ")", "void(UniTuple(int32, 10**9))", "void(UniTuple(UniTuple(int32, 64), 64))",
        "void(int32[" + ":," * 9 + "])", "void(int32[::1, ::1])", "void(int32[:, ::1, :])",
    ],
)  # fmt: skip
def test_a_text_that_is_no_signature_is_told_and_nothing_of_it_is_evaluated(text):
    with pytest.raises(NotDeclared):
        signatures(text)
    with pytest.raises(NotDeclared):
        gpu.jit(text)


def test_a_kernel_declares_as_many_types_as_it_has_parameters_and_returns_nothing():
    with pytest.raises(TypeError, match=r"kernel has 1 parameters, and void\(int32\[:\], int32\) declares 2"):

        @gpu.jit("void(int32[:], int32)")
        def kernel(a):
            a[0] = 1

    with pytest.raises(TypeError, match=r"returns nothing: write void\(int32\[:\]\)"):

        @gpu.jit("int32(int32[:])")
        def other(a):
            a[0] = 1


# ------------------------------------------------------------- where NVIDIA's compiler is not, and nothing was compiled

COPY = "void(int32[:], int32)"
COPIES = [COPY, "void(float32[:], float32)"]
ROW = int32[:]


@pytest.fixture
def lazy(monkeypatch):
    """A `cuda.jit` that declares types and compiles nothing, as people make it where no compiler is."""
    for name in ("compile", "compile_device", "disable_compile"):
        monkeypatch.setattr(dispatcher.CUDADispatcher, name, lambda *arguments, **options: None)


def uncompiled():
    """Return kernels that write clz(x), each with its types declared in another way."""

    @cuda.jit("void(int32[:], int32)")
    def text(out, x):
        out[cuda.grid(1)] = cuda.clz(x)

    @cuda.jit("(i4[::1], i4)", fastmath=True)
    def tuple_in_a_text(out, x):
        out[cuda.grid(1)] = cuda.clz(x)

    @cuda.jit(["void(float32[:], int32)", "void(int32[:], int32)"])
    def list_of_texts(out, x):
        out[cuda.grid(1)] = cuda.clz(x)

    @cuda.jit(void(int32[:], int32))
    def types_called(out, x):
        out[cuda.grid(1)] = cuda.clz(x)

    @cuda.jit([void(numba.float32[:], int32), types.void(types.Array(int32, 1, "A"), types.i4)][1])
    def computed(out, x):
        out[cuda.grid(1)] = cuda.clz(x)

    @cuda.jit([void(numba.float32[:], int32), types.void(types.int32[:], numba.types.i4)])
    def list_of_types(out, x):
        out[cuda.grid(1)] = cuda.clz(x)

    @cuda.jit((int32[:], int32))
    def tuple_of_types(out, x):
        out[cuda.grid(1)] = cuda.clz(x)

    @cuda.jit(void(ROW, int32))
    def types_with_names(out, x):
        out[cuda.grid(1)] = cuda.clz(x)

    @cuda.jit(COPY)
    def name_of_a_text(out, x):
        out[cuda.grid(1)] = cuda.clz(x)

    @cuda.jit(COPIES)
    def name_of_a_list(out, x):
        out[cuda.grid(1)] = cuda.clz(x)

    @jit_by_another_name("void(int32[:],     int32)")
    def another_name_of_jit(out, x):
        out[cuda.grid(1)] = cuda.clz(x)

    return [v for v in locals().values() if v is not computed], computed


jit_by_another_name = cuda.jit


def test_a_signature_is_read_from_the_decorator_where_nothing_was_compiled(lazy):
    kernels, computed = uncompiled()
    assert len(kernels) == 10
    for kernel in kernels:
        out = np.zeros(4, np.int32)
        run(kernel, out, FLAG)
        np.testing.assert_array_equal(out, 11, kernel.py_func.__name__)
    out = np.zeros(4, np.int32)
    run(computed, out, FLAG)
    np.testing.assert_array_equal(out, 43)  # what is computed is not looked at: an int64, as without a signature


def test_a_device_function_that_was_not_compiled_converts_too(lazy):
    @cuda.jit("int32(int32, int32)", device=True)
    def packed(r, g):
        return ((r & 0xFF) << 8) | (g & 0xFF)

    @cuda.jit([types.float32(types.float32)], device=True)
    def halved(x):
        return x / 2

    @cuda.jit(float64(types.UniTuple(int32, 2)), device=True)
    def first(pair):
        return pair[0]

    @cuda.jit
    def kernel(a, out, half):
        i = cuda.grid(1)
        out[i] = packed(a[i], a[i]) + first((a[i], 1.5))
        half[i] = halved(1 / 3)

    a, out, third = np.arange(4, dtype=np.float32) + np.float32(0.5), np.zeros(4, np.int32), np.zeros(4)
    run(kernel, a, out, third)
    np.testing.assert_array_equal(out, (np.arange(4) << 8 | np.arange(4)) + np.arange(4))
    np.testing.assert_array_equal(third, np.float32(1 / 3) / 2)


def test_arrays_are_checked_where_nothing_was_compiled(lazy):
    (kernel, *_), _ = uncompiled()
    with pytest.raises(TypeError, match=r"text: out is declared as int32\[:\]"):
        run(kernel, np.zeros(4), 3)


def test_a_decorator_with_a_name_that_is_no_type_declares_nothing(lazy):
    local = "void(int32[:], int32)"  # of the function around: not among the names that a kernel's function has

    @cuda.jit(local)
    def kernel(out, x):
        out[cuda.grid(1)] = cuda.clz(x)

    out = np.zeros(4, np.int32)
    run(kernel, out, FLAG)
    np.testing.assert_array_equal(out, 43)


def test_a_number_of_types_that_does_not_fit_is_told(lazy):
    @cuda.jit("void(int32[:])")
    def kernel(out, x):
        out[cuda.grid(1)] = x

    with pytest.raises(simt.KernelError, match=r"kernel has 2 parameters, and void\(int32\[:\]\) declares 1 types"):
        run(kernel, np.zeros(4, np.int32), 3)


TEXT = """
from numba import cuda, int32, void, float32
import numba
@cuda.jit("float32(float32)", device=True)
def half(x):
    return x / 2
@cuda.jit({})
def kernel(out, third, x):
    i = cuda.grid(1)
    out[i] = cuda.clz(x)
    third[i] = half(1 / 3) * 2
"""


@pytest.mark.parametrize(
    "declared",
    [
        '"void(int32[:], float64[:], int32)"', "void(int32[:], numba.float64[:], int32)",
        "(int32[:], numba.float64[:], int32)", '["void(int32[:], float64[:], int32)"]',
    ],
)  # fmt: skip
def test_a_text_may_declare_types_too(declared):
    out, third = np.zeros(4, np.int32), np.zeros(4)
    run(simt.read(TEXT.format(declared)), out, third, FLAG)
    np.testing.assert_array_equal(out, 11)
    np.testing.assert_array_equal(third, np.float32(1 / 3))


@pytest.mark.parametrize("declared", ['"void(int32[:])"', "open('x')", "half", '"void(__import__)"', "f'{out}'"])
def test_a_text_with_another_decorator_is_refused_with_its_line(declared):
    with pytest.raises(simt.KernelError, match=r"^line \d+: "):
        simt.read(TEXT.format(declared))
