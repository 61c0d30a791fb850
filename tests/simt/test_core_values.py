"""What a variable is after branches and loops, what costs a word of advice, and how an error is worded."""

import math

import numpy as np
import pytest
from numba import cuda

from course_lib import simt
from tests.simt.text import function

HEAD = """
    def kernel(xs, out):
        i = cuda.grid(1)
"""


def run(lines, out=None, *, block=8, **outside):
    """Run statements of a kernel with i, xs = 0, 10, 20 ... and out; return (out, report)."""
    out = np.zeros(block) if out is None else out
    text = HEAD + "\n".join("        " + line for line in lines.split("\n"))
    report = simt.run(function(text, **outside), 1, block, (np.arange(block) * 10, out), on_error="collect")
    return out, report


def refused(lines, **outside):
    with pytest.raises(simt.KernelError) as raised:
        run(lines, **outside)
    return raised.value


# -------------------------------------------------------------------------------------------- what paths leave behind


@cuda.jit(device=True)
def _one(x):
    return 1


@cuda.jit(device=True)
def _two(x):
    return 2


@pytest.mark.parametrize(("a", "b"), [("float32", "int32"), ("math.sin", "math.cos"), ("one", "two"),
                                      ("cuda.threadIdx", "cuda.blockIdx")])  # fmt: skip
@pytest.mark.parametrize("text", [
    "if i > 3:\n    f = {}\nelse:\n    f = {}", "f = {} if i > 3 else {}", "f = {}\nif i > 3:\n    f = {}",
    "f = {}\nfor k in range(2):\n    if i == k:\n        f = {}", "f = {}\nfor k in range(i):\n    f = {}",
])  # fmt: skip
def test_function_or_type_cannot_be_one_in_some_threads_and_another_in_others(text, a, b):
    use = "\nout[i] = f.x" if "Idx" in a else "\nout[i] = f(1)"
    assert "One variable cannot be" in str(refused(text.format(a, b) + use, one=_one, two=_two))
    out, report = run(text.format(a, a) + use, one=_one, two=_two)
    assert report.hazards == []
    expected = {"float32": 1, "math.sin": math.sin(1), "one": 1, "cuda.threadIdx": np.arange(8)}[a]
    np.testing.assert_allclose(out, expected * np.ones(8), rtol=1e-15)


def test_variable_of_a_branch_can_be_another_array_or_function_later_in_it():
    out, report = run("""if i > 3:
    f = one
    row = xs
    x = f(0) + row[i]
    f = two
    row = out
    row[i] = x + f(0)""", one=_one, two=_two)  # fmt: skip
    np.testing.assert_array_equal(out, [0, 0, 0, 0, 43, 53, 63, 73])
    assert report.hazards == []


def test_array_of_another_type_cannot_be_one_in_some_threads_and_another_in_others():
    error = refused("if i > 3:\n    s = xs\nelse:\n    s = out\ny = s[0]")
    assert "One variable cannot be xs, an array (8,) of int64" in str(error)


def test_row_of_one_array_may_differ_between_threads():
    out, report = run("""s = cuda.local.array((2, 3), int32)
for k in range(2):
    for m in range(3):
        s[k, m] = 10 * k + m
row = s[0]
if i > 3:
    row = s[1]
out[i] = row[i % 3]""")
    np.testing.assert_array_equal(out, [0, 1, 2, 0, 11, 12, 10, 11])
    assert report.hazards == []


def test_tuple_is_merged_part_by_part():
    out, _ = run("p = (1, 2.5)\nif i > 3:\n    p = (i, 0.5)\nout[i] = p[0] + p[1]")
    np.testing.assert_array_equal(out, [3.5] * 4 + [4.5, 5.5, 6.5, 7.5])
    assert "a tuple of 3 on one path and a tuple of 2" in str(
        refused("p = (1, 2)\nif i > 3:\n    p = (1, 2, 3)\nx = p[0]")
    )
    # no lane takes (1, 0.5), and yet p[0] + p[1] is float64
    out, report = run("p = (1, 2)\nif i > 30:\n    p = (1, 0.5)\nout[i] = p[0] + p[1]")
    assert report.line(6).counters.float64_flops == 8


def test_truth_with_a_minus_is_a_whole_number():
    out, _ = run("out[i] = -(i > 3) * 2")
    np.testing.assert_array_equal(out, [0] * 4 + [-2] * 4)


@cuda.jit(device=True)
def _whole_or_half(x):
    if x > 100:
        return 0.5
    return 1


def test_device_function_returns_the_type_that_holds_all_its_returns():
    # No lane takes 0.5, and yet the result is float64: line 3 adds 8 times in float64, before it is stored as int.
    out, report = run("out[i] = whole_or_half(i) + 1", np.zeros(8, np.int64), whole_or_half=_whole_or_half)
    assert report.line(3).counters.float64_flops == 8
    np.testing.assert_array_equal(out, 2)


def test_else_of_a_loop_is_looked_at_though_nobody_comes_there():
    error = refused("while True:\n    break\nelse:\n    x = [1]\nout[i] = 1")
    assert error.line == 6


def test_else_of_a_loop_decides_a_variables_type_and_runs_where_no_break_did():
    # x is an int after the break and 0.5 after the else: float64 everywhere, so that x + 1 is 8 operations in float64.
    out, report = run("""for k in range(3):
    x = 1
    if i == k:
        break
else:
    x = 0.5
out[i] = x + 1""")
    np.testing.assert_array_equal(out, [2, 2, 2, 1.5, 1.5, 1.5, 1.5, 1.5])
    assert report.line(9).counters.float64_flops == 8


def test_slice_with_a_step_and_bounds_per_thread():
    kernel = function("""
        def kernel(a, out):
            i = cuda.grid(1)
            part = a[i:i + 5:2]
            out[i] = part[0] + 100 * part[2] + 10000 * part.size
    """)
    out = np.zeros(4)
    simt.run(kernel, 1, 4, (np.arange(10), out))
    np.testing.assert_array_equal(out, [30000 + i + 100 * (i + 4) for i in range(4)])


def test_slices_end_where_the_array_ends_and_begin_from_the_end_if_negative():
    kernel = function("""
        def kernel(a, out):
            out[0] = a[7:20].size
            out[1] = a[-3:].size
            out[2] = a[-3:][0]
            out[3] = a[8:2].size
            out[4] = a[:-2:3].size
            out[5] = a[-30:4].size
    """)
    out = np.zeros(6)
    simt.run(kernel, 1, 1, (np.arange(10), out))
    a = np.arange(10)
    np.testing.assert_array_equal(out, [3, 3, 7, 0, a[:-2:3].size, 4])


# ---------------------------------------------------------------------------------------------------------- advice


def kinds(kernel, grid, *arguments, block=32):
    return [h.kind for h in simt.run(kernel, grid, block, arguments, races=False).advice]


@pytest.mark.parametrize(
    ("dtype", "index", "blocks", "advised"),
    [
        (np.float32, "i", 8, False), (np.float32, "2 * i", 8, True), (np.float32, "2 * i", 7, False),  # half is used
        (np.float32, "i + 1", 8, False), (np.float32, "0", 8, False), (np.float64, "i", 8, False),
        (np.int8, "4 * i", 8, True), (np.int8, "3 * i", 8, False),  # 4 sectors of 32 bytes for 32 bytes, and 3
        (np.float32, "i // 8 * 8", 8, True), (np.float64, "i // 2 * 3", 8, True),
    ],
)  # fmt: skip
def test_advice_on_sectors_begins_at_8_requests_4_sectors_and_half_of_the_bytes(dtype, index, blocks, advised):
    kernel = function(f"def kernel(a, out):\n    i = cuda.grid(1)\n    x = a[{index}]")
    got = kinds(kernel, blocks, np.zeros(1100, dtype), np.zeros(1))
    assert got == (["uncoalesced"] if advised else [])


@pytest.mark.parametrize(("index", "blocks", "advised"), [("i", 8, False), ("i * 2", 8, True), ("i * 2", 7, False),
                                                          ("i * 32", 8, True)])  # fmt: skip
def test_advice_on_banks_begins_at_8_requests_of_two_turns(index, blocks, advised):
    kernel = function(f"""
        def kernel():
            s = cuda.shared.array(1024, float32)
            i = cuda.threadIdx.x
            s[{index}] = float32(1)
    """)
    report = simt.run(kernel, blocks, 32, ())
    assert [h.kind for h in report.advice] == (["bank conflicts"] if advised else [])
    if advised:
        turns = {"i * 2": 2, "i * 32": 32}[index]
        assert report.advice[0].count == blocks * (turns - 1)
        assert f"take {turns} turns" in report.advice[0].message


def test_advice_on_float64_counts_its_operations_and_is_silent_where_an_array_is_float64():
    kernel = function("def kernel(a):\n    i = cuda.grid(1)\n    a[i] = a[i] * 0.5 + 1.0")
    (advice,) = simt.run(kernel, 1, 4, (np.zeros(4, np.float32),)).advice
    assert (advice.kind, advice.count, advice.line) == ("float64", 8, 3)
    assert simt.run(kernel, 1, 4, (np.zeros(4),)).advice == []


# ---------------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("cuda.grid(4)", "cuda.grid: it takes a constant whole number from 1 to 3."),
        ("cuda.grid(1.0)", "cuda.grid: it takes a constant whole number from 1 to 3."),
        ("xs < 3", "xs, an array (8,) of int64, and an int64 cannot be compared."),
        ("cuda.grid()", "cuda.grid: missing a required argument: 'ndim'."),
        ("cuda.syncthreads(1)", "cuda.syncthreads: too many positional arguments."),
        ("round(1.5, xs)", "round: xs, an array (8,) of int64, is no number."),
        ("round(1.5, 'a')", "round: the text 'a' is no number."),
        ("max(1)", "max: it takes at least two numbers."),
        ("len(3)", "len: an int64 has no length."),
        ("cuda.atomic.add(xs, (0, 0), 1)", "cuda.atomic.add: xs is (8,) and takes 1 whole numbers as index."),
        ("cuda.shfl_sync(1.5, i, 0)", "cuda.shfl_sync: a float64 is no mask; use 0xffffffff for all lanes of a warp."),
        ("math.sqrt(xs)", "math.sqrt: xs, an array (8,) of int64, is no number."),
        ("xs[0.5]", "a float64 is no index; an index is a whole number. Divide with //, or use int(...)."),
        ("xs[0, 0]", "xs is (8,) and takes 1 index, not 2."),
        ("(1, 2)[2]", "a tuple of 2 needs an index from 0 to 1, not 2."),
        ("2 ** (i - 1)", "a whole number to a negative power is no whole number; use float32(...)."),
    ],
)  # fmt: skip
def test_error_says_what_is_wrong_in_its_line(call, says):
    error = refused(f"y = {call}")
    assert (error.line, str(error)) == (3, f"line 3: {says}")


def test_tuple_has_at_most_64_parts():
    simt.run(function(f"def kernel():\n    x = ({'1, ' * 62})"), 1, 1, ())
    with pytest.raises(simt.KernelError, match="at most 64"):
        simt.run(function(f"def kernel():\n    x = ({'1, ' * 65})"), 1, 1, ())
    with pytest.raises(simt.KernelError, match="at most 64"):
        simt.run(function(f"def kernel():\n    x = ({'1, ' * 40}) + ({'1, ' * 40})"), 1, 1, ())


def test_tuples_are_added():
    out, _ = run("p = (1, i) + (3,)\nout[i] = p[0] + 10 * p[1] + 100 * p[2]")
    np.testing.assert_array_equal(out, 301 + 10 * np.arange(8))


@cuda.jit(device=True)
def _endless(n):
    return _endless(n - 1) if n > 0 else _endless(n)


@cuda.jit(device=True)
def _factorial(n):
    return n * _factorial(n - 1) if n > 1 else 1


def test_conditional_expression_that_calls_its_function_on_both_sides_never_ends():
    assert "calls itself on every path" in str(refused("out[i] = endless(i)", endless=_endless))
    out, _ = run("out[i] = factorial(i)", factorial=_factorial)
    np.testing.assert_array_equal(out, [math.factorial(i) for i in range(8)])


def test_part_of_a_tuple_that_cannot_be_one_thing_is_an_error_where_it_is_read():
    error = refused("p = (1, 2)\nif i > 3:\n    p = (1, xs)\nout[i] = p[1]")
    assert (error.line, "One variable cannot be" in str(error)) == (6, True)


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("float32", "int32", 0), ("float64", "int32", -(2**31)), ("float32", "int64", -(2**63)),
        ("float64", "int64", -(2**63)), ("float32", "uint32", 0), ("float64", "uint32", 2**31),
        ("np.float16", "int32", -(2**31)),
    ],
)  # fmt: skip
def test_nan_as_a_whole_number_is_0_or_the_highest_bit_where_64_bits_come_in_or_go_out(source, target, expected):
    out, _ = run(f"out[i] = {target}({source}(math.nan))")
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(("value", "target", "expected"), [
    ("2.9", "int32", 2), ("-2.9", "int32", -2), ("3e9", "int32", 2**31 - 1), ("-3e9", "int32", -(2**31)),
    ("-1.5", "uint32", 0), ("5e9", "uint32", 2**32 - 1), ("math.inf", "int64", 2**63 - 1),
    ("2147483647.5", "int32", 2**31 - 1),
    ("2147483648.0", "int32", 2**31 - 1), ("2147483646.5", "int32", 2**31 - 2),
])  # fmt: skip
def test_float_as_a_whole_number_loses_its_fraction_and_stops_at_the_ends(value, target, expected):
    out, _ = run(f"out[i] = {target}({value})", np.zeros(8, np.float64))
    np.testing.assert_array_equal(out, float(expected))
