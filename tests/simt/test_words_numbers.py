"""round, divmod, sum, the functions of `operator` and the rest of libdevice: results and types as Numba's."""

import operator

import numba
import numpy as np
import pytest
from numba.cuda import libdevice
from numba.cuda.libdevicefuncs import create_signature, functions
from numba.np.numpy_support import as_dtype

from course_lib import simt
from course_lib.simt.functions import FUNCTIONS
from tests.cases import all_of
from tests.simt.text import function

OUTSIDE = {"operator": operator, "libdevice": libdevice}


def run(expression, out, *arrays, scalars=(), **outside):
    """Run out[i] = expression of a[i], b[i], c[i] and the numbers n, m; return out."""
    names, numbers = "abc"[: len(arrays)], "nm"[: len(scalars)]
    parts = "\n".join(f"    {n} = {n}_in[i]" for n in names)
    text = f"def kernel(out, {', '.join([*(f'{n}_in' for n in names), *numbers])}):\n    i = cuda.grid(1)\n{parts}\n"
    kernel = function(f"{text}    out[i] = {expression}", **OUTSIDE, **outside)
    simt.run(kernel, 1, out.size, (out, *arrays, *scalars))
    return out


# ------------------------------------------------------------------------------------------------------------- round

NUMBERS = np.concatenate([np.random.default_rng(0).normal(0, 10.0**k, 200) for k in range(-4, 5)])
TIES = np.array([0.5, 1.5, 2.5, -0.5, 0.125, 0.375, 12.5, 2.675, 1e15 + 0.5, 0.0, -0.0])


@numba.njit
def _rounded(x, digits):
    return [round(each, digits) for each in x]


@pytest.mark.parametrize("digits", [0, 1, 2, 5, 9, -1, -3])
def test_round_to_decimals_is_numbas(digits):
    x = np.concatenate([NUMBERS, TIES])[:1000]
    np.testing.assert_array_equal(run("round(a, n)", np.zeros(x.size), x, scalars=(digits,)), _rounded(x, digits))


def test_round_of_float32_is_float32_and_computed_in_float64():
    x = NUMBERS[:512].astype(np.float32)
    got = run("round(a, 2)", np.zeros(x.size), x)
    np.testing.assert_array_equal(got, np.array(_rounded(x.astype(np.float64), 2)).astype(np.float32))


def test_round_leaves_what_is_too_large_not_finite_or_not_a_number():
    x = np.array([np.finfo(np.float64).max, np.inf, -np.inf, np.nan, 1.25])
    np.testing.assert_array_equal(run("round(a, 12)", np.zeros(5), x), [*x[:4], 1.25])


def test_round_to_decimals_takes_a_number_of_each_thread():
    got = run("round(a, b)", np.zeros(4), np.full(4, 1234.5678), np.array([0, 2, -2, 9]))
    np.testing.assert_array_equal(got, [1235, 1234.57, 1200, 1234.5678])


def test_round_beyond_64_bits_is_cut_off_as_the_instruction_does():
    assert run("round(a, 2)", np.zeros(1), np.array([1e30]))[0] == 2.0**63 / 100


@pytest.mark.parametrize(("dtype", "result"), [("int32", "float64"), ("uint8", "float32"), ("float16", "float32")])
def test_round_to_decimals_of_other_types_has_numbas_type(dtype, result):
    assert simt.types.signature(round, dtype, "int64")[0] == result


# ------------------------------------------------------------------------------------------------------ divmod, sum


@pytest.mark.parametrize(
    ("a", "b"), [("int32", "int32"), ("int8", "int64"), ("float32", "float32"), ("int32", "float64")]
)
def test_divmod_gives_quotient_and_rest_with_the_sign_of_the_divisor(a, b):
    x, y = np.array([7, -7, 7, -7, 0, 6], a), np.array([2, 2, -2, -2, 5, 3], b)
    got = run("divmod(a, b)[0] * 100 + divmod(a, b)[1]", np.zeros(6), x, y)
    np.testing.assert_array_equal(got, [p // q * 100 + p % q for p, q in zip(x.tolist(), y.tolist(), strict=True)])


def test_divmod_by_zero_is_a_finding():
    kernel = function("def kernel(out, a):\n    q, r = divmod(7, a[0])\n    out[0] = q + r")
    report = simt.run(kernel, 1, 1, (np.zeros(1), np.zeros(1, np.int32)), on_error="collect")
    assert {h.kind for h in report.hazards} == {"division by zero"}


def test_sum_of_a_tuple_begins_with_a_whole_number_and_widens_as_numbas():
    x = np.array([1, 2, 3], np.float32)
    np.testing.assert_array_equal(run("sum((a, a, b))", np.zeros(3), x, x), 3 * x)
    np.testing.assert_array_equal(run("sum((i, i + 1), 10)", np.zeros(3), x), [11, 13, 15])
    tenth = np.array([0.1], np.float32)
    one = run("sum((a, a, a))", np.zeros(1), tenth)[0]
    assert one == 3 * np.float64(tenth[0])  # in float64
    narrow = run("sum((a, a, a), float32(0))", np.zeros(1), tenth)[0]
    assert narrow == tenth[0] + tenth[0] + tenth[0] != one


# ---------------------------------------------------------------------------------------------------------- operator

OF_TWO = [
    path for path in sorted(FUNCTIONS) if path.startswith("operator.")
    and path not in ("operator.getitem", "operator.neg", "operator.pos", "operator.invert", "operator.not_")
]  # fmt: skip


@pytest.mark.parametrize("path", OF_TWO)
def test_operator_of_two_as_a_function_is_pythons(path):
    x, y = np.array([7, -7, 6, 0]), np.array([2, 3, 2, 1])
    act = getattr(operator, path.partition(".")[2])
    np.testing.assert_array_equal(run(f"{path}(a, b)", np.zeros(4), x, y), list(map(act, x.tolist(), y.tolist())))


@pytest.mark.parametrize("name", ["neg", "pos", "invert", "not_"])
def test_operator_of_one_as_a_function_is_pythons(name):
    x = np.array([7, -7, 0, 1])
    want = list(map(getattr(operator, name), x.tolist()))
    np.testing.assert_array_equal(run(f"operator.{name}(a)", np.zeros(4), x), want)


def test_operator_is_known_under_another_name():
    np.testing.assert_array_equal(run("add(a, 1)", np.zeros(3), np.arange(3), add=operator.add), [1, 2, 3])
    source = simt.read(
        "from operator import mul\nimport operator as op\ndef kernel(a):\n    a[0] = mul(op.add(2, 3), 4)\n"
    )
    a = np.zeros(1)
    simt.run(source, 1, 1, (a,))
    assert a[0] == 20


def test_operator_getitem_is_an_access():
    kernel = function("def kernel(out, a):\n    out[0] = operator.getitem(a, 1)", operator=operator)
    out = np.zeros(1)
    assert simt.run(kernel, 1, 1, (out, np.arange(3.0))).total.global_load_requests == 1
    assert out[0] == 1


# --------------------------------------------------------------------------------------------------------- libdevice

ALL = {name.removeprefix("__nv_"): create_signature(*declared) for name, declared in functions.items()}


def _dtypes(found):
    return tuple(map(as_dtype, found)) if hasattr(found, "types") else (as_dtype(found),)


@all_of("name", [name for name in ALL if f"libdevice.{name}" in FUNCTIONS])
def test_function_of_libdevice_takes_and_gives_the_types_that_it_declares(name):
    arguments = [np.array([1, 2, 3], as_dtype(t)) for t in ALL[name].args]
    names, results = "abc"[: len(arguments)], _dtypes(ALL[name].return_type)
    got = ", ".join(f"r{k}" for k in range(len(results)))
    text = [
        f"def kernel({', '.join(names)}, {', '.join(f'o{k}' for k in range(len(results)))}):",
        "    i = cuda.grid(1)",
    ]
    text += [f"    {got} = libdevice.{name}({', '.join(f'{n}[i]' for n in names)})"]
    text += [f"    o{k}[i] = r{k}" for k in range(len(results))]
    outs = [np.zeros(3, dtype) for dtype in results]
    report = simt.run(function("\n".join(text), **OUTSIDE), 1, 3, (*arguments, *outs))
    assert report.hazards == []
    assert all(np.isfinite(out).all() for out in outs) or name.startswith(("atanh", "acosh", "asin", "acos", "int_as"))
    assert simt.types.signature(getattr(libdevice, name), *(a.dtype for a in arguments))[0] in (results, results[0])


LIBDEVICE = {
    "sincosf(a)[0]": np.sin, "sincosf(a)[1]": np.cos, "modf(a)[0]": lambda x: np.modf(x)[0],
    "modf(a)[1]": np.trunc, "frexp(a)[1]": lambda x: np.frexp(x)[1], "sincospi(a)[1]": lambda x: np.cos(np.pi * x),
    "sinpif(a)": lambda x: np.sin(np.pi * x), "normcdf(a)": lambda x: [0.9937903346742238, 0.00620966532577614, 0.5],
    "float2int_rd(a)": np.floor, "float2int_ru(a)": np.ceil, "float2int_rz(a)": np.trunc, "double2ll_rn(a)": np.rint,
    "llround(a)": lambda x: [3, -3, 0], "logb(a)": lambda x: [1, 1, -np.inf], "powi(a, 3)": lambda x: x**3,
    "remquo(a, 1.0)[0]": lambda x: [0.5, -0.5, 0], "remquo(a, 1.0)[1]": lambda x: [2, -2, 0],
    "float_as_int(a)": lambda x: x.astype(np.float32).view(np.int32), "rcbrt(a)": lambda x: 1 / np.cbrt(x),
    "double_as_longlong(a)": lambda x: x.view(np.int64), "isnand(a / 0 * 0)": lambda x: [1, 1, 1],
}  # fmt: skip


@pytest.mark.parametrize("call", LIBDEVICE)
def test_function_of_libdevice_gives_what_its_guide_says(call):
    x = np.array([2.5, -2.5, 0.0])
    with np.errstate(all="ignore"):
        want = np.asarray(LIBDEVICE[call](x), np.float64)
    rtol = 1e-6 if "f(" in call else 1e-14
    np.testing.assert_allclose(run(f"libdevice.{call}", np.zeros(3), x), want, rtol=rtol, atol=rtol)


WHOLE = {
    "mulhi(a, b)": lambda a, b: a * b >> 32, "mul64hi(a * 2**40, b * 2**40)": lambda a, b: (a * b << 80) >> 64,
    "umulhi(a, b)": lambda a, b: ((a % 2**32) * (b % 2**32) >> 32) - (2**32 if (a % 2**32) * (b % 2**32) >> 63 else 0),
    "hadd(a, b)": lambda a, b: (a + b) >> 1, "rhadd(a, b)": lambda a, b: (a + b + 1) >> 1,
    "sad(a, b, 5)": lambda a, b: abs(a - b) + 5, "mul24(a, b)": lambda a, b: a * b, "min(a, b)": min,
    "umax(a, b)": lambda a, b: max(a, b, key=lambda v: v % 2**32), "llabs(a)": lambda a, b: abs(a),
    "byte_perm(a, b, 0x3210)": lambda a, b: a, "byte_perm(a, b, 0x7654)": lambda a, b: b,
    "byte_perm(0x11223344, 0x55667788, 0x0123)": lambda a, b: 0x44332211,
    "ffsll(a)": lambda a, b: (a & -a).bit_length(),
}  # fmt: skip


@pytest.mark.parametrize("call", WHOLE)
def test_function_of_libdevice_of_whole_numbers_gives_what_its_guide_says(call):
    a, b = np.array([7, -7, 100_000, -1], np.int32), np.array([3, 5, 77, 2], np.int32)
    if call.startswith("mul24"):
        a = a % 1000
    want = [WHOLE[call](int(x), int(y)) for x, y in zip(a, b, strict=True)]
    np.testing.assert_array_equal(run(f"libdevice.{call}", np.zeros(4), a, b), want)


def test_double_is_put_together_from_its_halves():
    x = np.array([1.5, -2.25e300, 0.0])
    got = run("libdevice.hiloint2double(libdevice.double2hiint(a), libdevice.double2loint(a))", np.zeros(3), x)
    np.testing.assert_array_equal(got, x)


def test_half_is_known_by_its_bits():
    x = np.array([1.5, -0.25, 6e4], np.float32)
    got = run("libdevice.half2float(libdevice.float2half_rn(a))", np.zeros(3), x)
    np.testing.assert_array_equal(got, x.astype(np.float16).astype(float))
