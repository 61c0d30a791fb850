"""Advice of a report: one entry for each cause, with all its lines, and what it says helps does help."""

import json
import re

import numpy as np
import pytest

from course_lib import simt
from course_lib.checks.kernel_costs import advice_of
from course_lib.simt.float64_causes import float64_causes, whole_sums
from course_lib.simt.gather import gathered, lines_in_words, where
from course_lib.simt.hazards import IMPORTANCE, by_importance
from course_lib.simt.machine import HazardFound, Machine
from course_lib.simt.show.display import html
from course_lib.simt.show.text import text
from tests.simt import reports
from tests.simt.text import function


def machine_that_found(**options):
    machine = Machine((1, 1, 1), (32, 1, 1), steps=100, **options)
    machine.enter(None)
    return machine


def test_advice_of_the_machine_stops_no_run_and_stands_beside_a_hazard_of_the_same_place():
    machine = machine_that_found(on_error="raise")
    machine.found("race", 3, "two threads did.", "Do not.", array="a", severity="advice")
    machine.found("race", 3, "two threads did.", "Do not.", array="a", severity="advice", count=2)
    with pytest.raises(HazardFound, match="line 3"):
        machine.found("race", 3, "two threads did.", "Do not.", array="a")
    assert [(h.severity, h.count) for h in machine.hazards.values()] == [("advice", 3)]


def test_every_kind_has_its_place_in_the_order():
    found = [simt.Hazard(kind, 1, "m.", "f.") for kind in reversed(IMPORTANCE)]
    assert [h.kind for h in by_importance(found)] == list(IMPORTANCE)
    assert {"same value", "early return", "unwritten memory", "race"} <= set(IMPORTANCE)


# ---------------------------------------------------------------------------------------------- lines in words


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ([3], "line 3"), ([5, 3], "lines 3 and 5"), ([3, 4], "lines 3 and 4"), ([3, 4, 5], "lines 3 to 5"),
        ([9, 3, 4, 5, 12], "lines 3 to 5, 9 and 12"), ([3, 3], "line 3"), ([1, 2, 4, 5], "lines 1, 2, 4 and 5"),
    ],
)  # fmt: skip
def test_line_numbers_are_said_in_words(numbers, words):
    assert lines_in_words(numbers) == words


@pytest.mark.parametrize(
    ("lines", "counts", "words"),
    [
        ([14, 12, 15], [2048, 64, 32], "lines 12, 14 and 15 (most in line 14: 2,048)"),
        ([12, 14, 15], [64, 64, 32], "lines 12, 14 and 15 (most in lines 12 and 14: 64 each)"),
        ([12, 14], [64, 64], "lines 12 and 14"),
        ([12], [64], "line 12"),
    ],
)
def test_a_finding_says_all_its_lines_and_which_counts_most(lines, counts, words):
    h = simt.Hazard("float64", lines[0], "m.", "f.", sum(counts), details={"lines": lines, "counts": counts})
    assert where(h) == words
    assert str(h).startswith(f"{words}: m. ")


def test_entries_of_one_kind_and_array_become_one_and_others_stay():
    def found(line, count, array="a", function="kernel", kind="same value"):
        return simt.Hazard(kind, line, f"m{line}.", "f.", count, array, {"phase": line}, "advice", function)

    first, other, third, fourth = gathered(
        [found(3, 2), found(4, 5), found(3, 1, "b"), found(9, 1, function="g"), found(4, 1, kind="race"), found(7, 5)]
    )
    assert (first.line, first.message, first.count) == (4, "m4.", 12)
    assert first.details == {"phase": 4, "lines": [4, 7, 3], "counts": [5, 5, 2]}
    assert [(h.array, h.function, h.kind) for h in (other, third, fourth)] == [
        ("b", "kernel", "same value"), ("a", "g", "same value"), ("a", "kernel", "race"),
    ]  # fmt: skip


def test_equal_writes_in_several_lines_are_one_piece_of_advice_for_each_array():
    kernel = function("""
        def kernel(flag, other):
            i = cuda.grid(1)
            if i % 2:
                flag[0] = 1
            flag[0] = 1
            other[0] = 2
    """)
    report = simt.run(kernel, 2, 32, (np.zeros(1, np.int32), np.zeros(1, np.int32)))
    flag, other = report.advice
    assert (flag.kind, flag.array, flag.details["lines"]) == ("same value", "flag", [5, 4])
    assert (other.kind, other.array, other.line) == ("same value", "other", 6)
    assert flag.count == sum(flag.details["counts"])
    assert where(flag).startswith("lines 4 and 5 (most in line 5: ")
    assert "ADVICE same value, lines 4 and 5" in text(report)
    assert "Advice: same value" in html(report)
    assert report.hazards == []


# ---------------------------------------------------------------------------------------------- float64

MANY_FLOAT64 = "def kernel(a, out):\n    i = cuda.grid(1)\n    s = 0.0\n" + "".join(
    f"    s += a[i] * {k}.5\n" for k in range(27)
)


def float64_report(body):
    return reports.run(function(body), 2, 32, reports.vectors(64))


def test_27_lines_of_float64_are_one_piece_of_advice_with_all_its_lines():
    report = float64_report(f"{MANY_FLOAT64}    out[i] = s")
    (advice,) = report.advice
    assert (advice.kind, advice.line, advice.count) == ("float64", 4, 27 * 2 * 64)
    assert advice.details == {"lines": list(range(4, 31)), "counts": [128] * 27}
    for shown in (text(report), html(report)):
        assert shown.count("operations in float64, and no array") == 1
        assert "lines 4 to 30" in shown
    marked = [n for n, line in enumerate(text(report).splitlines()) if line.strip().startswith(">")]
    assert len(marked) == 27
    assert json.loads(json.dumps(report.to_dict()))["advice"][0]["details"]["lines"] == advice.details["lines"]


def test_a_function_of_the_kernel_has_advice_of_its_own():
    report = float64_report("""
        @cuda.jit(device=True)
        def twice(x):
            return 2.0 * x

        def kernel(a, out):
            i = cuda.grid(1)
            out[i] = twice(a[i]) * 0.5
    """)
    assert [(h.function, h.kind) for h in report.advice] == [("twice", "float64"), ("kernel", "float64")]
    assert [re.search(r"Write (.*?):", h.fix).group(1) for h in report.advice] == [
        f"float32(2.0) in line {report.advice[0].line}", f"float32(0.5) in line {report.advice[1].line}",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "numbers", "better"),
    [
        ("s = 0.0\n    s += a[i]\n    out[i] = s", ["float32(0.0) in line 3"],
         "s = float32(0.0)\n    s += a[i]\n    out[i] = s"),
        ("out[i] = a[i] * 0.5 + -1.5", ["float32(0.5) in line 3", "float32(-1.5) in line 3"],
         "out[i] = a[i] * float32(0.5) + float32(-1.5)"),
        ("out[i] = a[i] if a[i] > 0 else 0.01 * a[i]", ["float32(0.01) in line 3"],
         "out[i] = a[i] if a[i] > 0 else float32(0.01) * a[i]"),
        ("out[i] = a[i] * float32(0.5) * 1e-3", ["float32(0.001) in line 3"],
         "out[i] = a[i] * float32(0.5) * float32(0.001)"),
    ],
)  # fmt: skip
def test_advice_names_the_numbers_that_make_it_float64_and_float32_there_takes_it_away(body, numbers, better):
    (advice,) = float64_report(f"def kernel(a, out):\n    i = cuda.grid(1)\n    {body}").advice
    for number in numbers:
        assert number in advice.fix
    assert advice.fix.count("float32(") == len(numbers)
    assert float64_report(f"def kernel(a, out):\n    i = cuda.grid(1)\n    {better}").advice == []


@pytest.mark.parametrize(
    ("body", "said", "better"),
    [
        ("out[i] = a[i] * g", "Pass np.float32(g): the argument g is float64", "out[i] = a[i] * g"),
        ("s = 1.0 / g\n    out[i] = a[i] * s", "Pass np.float32(g) and write float32(1.0) in line 3",
         "s = float32(1.0) / g\n    out[i] = a[i] * s"),
        ("s = g\n    for k in range(n):\n        s = s * h\n    out[i] = a[i] * s",
         "Pass np.float32(g) and np.float32(h): the argument g is float64",
         "s = g\n    for k in range(n):\n        s = s * h\n    out[i] = a[i] * s"),
    ],
)  # fmt: skip
def test_advice_names_the_arguments_that_make_it_float64_and_passing_float32_takes_it_away(body, said, better):
    def advice(text, number):
        kernel = function(f"def kernel(a, out, g, h, n):\n    i = cuda.grid(1)\n    {text}")
        return simt.run(kernel, 2, 32, (*reports.vectors(64), number(2), number(3), 2)).advice

    (found,) = advice(body, float)
    assert found.kind == "float64"
    assert said in found.fix
    assert advice(better, np.float32) == []


def test_argument_that_a_function_has_by_the_same_name_is_not_blamed():
    kernel = function("""
        @cuda.jit(device=True)
        def twice(g):
            return g * 2.0

        def kernel(a, out, g):
            i = cuda.grid(1)
            out[i] = twice(a[i])
            if g < 0:
                out[i] = 0
    """)
    (found, *_) = simt.run(kernel, 2, 32, (*reports.vectors(64), 2.0)).advice
    assert found.fix.startswith("Write float32(2.0)")


@pytest.mark.parametrize("body", ["out[i] = a[i] / i", "out[i] = math.sqrt(i)", "out[i] = a[i] * i"])
def test_advice_without_a_number_to_name_says_what_else_makes_float64(body):
    (advice,) = float64_report(f"def kernel(a, out):\n    i = cuda.grid(1)\n    {body}").advice
    assert "convert them first, float32(n)" in advice.fix


@pytest.mark.parametrize(
    ("body", "said", "better"),
    [
        ("s = 0\n    s += a[i]\n    out[i] = s", "Begin s with float32(0) in line 3: s begins with a whole number, and",
         "s = float32(0)\n    s += a[i]\n    out[i] = s"),
        ("n = 0\n    s = int(n)\n    s = s + a[i]\n    out[i] = s", "Begin s with float32(0) in line 4: s begins",
         "n = 0\n    s = float32(0)\n    s = s + a[i]\n    out[i] = s"),
        ("s = 0\n    s += 0.5 * a[i]\n    out[i] = s", "Write float32(0.5) in line 4 and begin s with float32(0) in",
         "s = float32(0)\n    s += float32(0.5) * a[i]\n    out[i] = s"),
        ("out[i] = sum(a[i:])", "Add up in a loop, in a variable that begins with float32(0), instead of by sum():",
         "s = float32(0)\n    for k in range(i, a.size):\n        s += a[k]\n    out[i] = s"),
    ],
)  # fmt: skip
def test_a_sum_that_begins_with_a_whole_number_is_told_to_begin_with_float32(body, said, better):
    (advice,) = float64_report(f"def kernel(a, out):\n    i = cuda.grid(1)\n    {body}").advice
    assert advice.fix.startswith(said)
    assert "functions of math" not in advice.fix
    assert float64_report(f"def kernel(a, out):\n    i = cuda.grid(1)\n    {better}").advice == []


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_an_array_of_doubles_wants_float64(dtype):
    kernel = function("def kernel(out):\n    i = cuda.grid(1)\n    x = i * 0.5")
    try:
        assert simt.run(kernel, 1, 4, (np.zeros(4, dtype),)).advice == []
    except TypeError:
        assert dtype is np.complex128  # an array of them is refused


def test_a_text_that_is_no_function_names_no_numbers():
    assert float64_causes({}, []) == ([], [])
    assert float64_causes({3: "x = (1.0"}, [3], ["x"]) == ([], [])
    assert whole_sums({3: "x = (1"}, [3]) == []


# ---------------------------------------------------------------------------------------------- global memory


@pytest.mark.parametrize(
    ("guard", "index", "branch"),
    [
        ("i % 4 == 1", "i", True), ("i % 5 == 1", "i", True), ("i % 8 < 2", "i + 5", True),
        ("i % 4 == 1", "i * 8", False), ("i % 2 == 0", "i * 4", False), ("i >= 0", "(i * 37) % 256", False),
    ],
)  # fmt: skip
def test_few_threads_of_a_warp_in_a_branch_are_not_told_to_touch_neighbours(guard, index, branch):
    kernel = function(f"def kernel(out):\n    i = cuda.grid(1)\n    if {guard}:\n        out[{index}] = 1")
    report = simt.run(kernel, 1, 256, (np.zeros(2048, np.float32),))
    (advice,) = [h for h in report.advice if h.kind == "uncoalesced"]
    assert advice.fix.startswith("The threads that come here touch neigh" if branch else "Let neighbouring")


def test_uncoalesced_is_advice_once_for_an_array_and_way_with_its_lines():
    kernel = function("""
        def kernel(A, out):
            row = cuda.grid(1)
            s = float32(0)
            for k in range(A.shape[1]):
                s += A[row, k]
            s -= A[row, 0]
            for k in range(2):
                out[row, k] = s
            out[row, 2] = A[row, 1]
    """)
    report = reports.run(kernel, 8, 32, (np.ones((256, 16), np.float32), np.zeros((256, 16), np.float32)))
    loads, stores = report.advice
    assert (loads.array, loads.details["way"], loads.details["lines"]) == ("A", "load", [5, 6, 9])
    assert (stores.array, stores.details["way"], stores.details["lines"]) == ("out", "store", [8, 9])
    assert loads.details["counts"] == [128, 8, 8]
    assert (loads.count, stores.count) == (144, 24)
    assert where(loads) == "lines 5, 6 and 9 (most in line 5: 128)"
    assert loads.message == "the loads of A use 12% of the bytes they move: 32 sectors of 32 bytes for each warp."
    said = advice_of(report)
    assert said["global_load_sectors"].startswith("Lines 5, 6 and 9 (most in line 5: 128): the loads of A use")
    assert said["global_store_sectors"].startswith("Lines 8 and 9 (most in line 8: 16): the stores of out use")


@pytest.mark.parametrize(
    ("array", "index", "said"),
    [
        (np.zeros(4096, np.float32), "8 * i", "here they touch elements 8 apart."),
        (np.zeros(4096, np.float32), "4095 - 8 * i", "here they touch elements 8 apart."),
        (np.zeros(4096, np.float32), "(i * i * 97) % 512 * 8", "touch neighbouring elements."),
        (np.zeros((256, 16), np.float32), "i, 3", "neighbouring elements (the last axis)."),
        (np.zeros((16, 256), np.float32, order="F"), "3, i", "do not lie row by row (it is in Fortran order"),
        (np.zeros((16, 512), np.float32)[:, ::2].T, "i, 3", "neighbour"),
    ],
)
def test_what_to_do_fits_how_the_array_lies(array, index, said):
    kernel = function(f"def kernel(a):\n    i = cuda.grid(1)\n    x = a[{index}]")
    found = simt.run(kernel, 8, 32, (array,)).advice
    assert said in " ".join(h.fix for h in found) or not found


# ---------------------------------------------------------------------------------------------- bank conflicts

TRANSPOSE = """
def kernel(out):
    tile = cuda.shared.array({shape}, {dtype})
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tile[ty, tx] = {dtype}(1)
    cuda.syncthreads()
    out[ty, tx] = tile[tx, ty]
"""
OF_A_THREAD = """
def kernel(out):
    tile = cuda.shared.array({shape}, {dtype})
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    t = ty * cuda.blockDim.x + tx
    for k in range(4):
        tile[t, k] = {dtype}(k)
    out[ty, tx] = tile[t, 1] + tile[t, 2]
"""
THREE_AXES = """
def kernel(out):
    tile = cuda.shared.array({shape}, {dtype})
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    for k in range(2):
        tile[tx, k, ty] = {dtype}(k)
    out[ty, tx] = tile[tx, 1, ty]
"""


def bank_report(body, shape, dtype, block):
    kernel = function(body.format(shape=shape, dtype=dtype))
    out = np.zeros((block[1], block[0]), dtype)
    return simt.run(kernel, 8, block, (out,), races=False)


def bank_advice(report):
    return [h for h in report.advice if h.kind == "bank conflicts"]


def conflicts(report):
    return report.total.shared_load_conflicts + report.total.shared_store_conflicts


@pytest.mark.parametrize(
    ("body", "shape", "dtype", "block", "padded"),
    [
        (TRANSPOSE, (32, 32), "float32", (32, 32), (32, 33)),
        (TRANSPOSE, (32, 32), "int32", (32, 32), (32, 33)),
        (TRANSPOSE, (32, 32), "float64", (32, 32), (32, 33)),
        (TRANSPOSE, (16, 16), "float64", (16, 16), None),
        (TRANSPOSE, (32, 32), "int16", (32, 32), None),
        (TRANSPOSE, (64, 64), "uint8", (32, 32), None),
        (TRANSPOSE, (32, 48), "float32", (32, 32), (32, 49)),
        (OF_A_THREAD, (256, 4), "float32", (32, 8), (256, 5)),
        (OF_A_THREAD, (128, 8), "float64", (32, 4), (128, 9)),
        (OF_A_THREAD, (256, 16), "int32", (32, 8), (256, 17)),
        (THREE_AXES, (32, 4, 32), "float32", (32, 32), None),
        (THREE_AXES, (16, 2, 16), "float32", (16, 16), None),
    ],
)
def test_the_padding_that_is_advised_is_the_tiles_own_and_takes_the_conflicts_away(body, shape, dtype, block, padded):
    report = bank_report(body, shape, dtype, block)
    found = bank_advice(report)
    assert found
    assert conflicts(report) > 0
    for h in found:
        wide = re.search(r"with shape (\([\d, ]+\)) instead of (\([\d, ]+\)) there is no bank conflict\.", h.fix)
        assert wide, h.fix
        assert "Pad the array's" in h.fix
        assert wide[2] == str(shape)
        assert padded is None or wide[1] == str(padded)
        assert conflicts(bank_report(body, wide[1], dtype, block)) == 0


@pytest.mark.parametrize(
    ("shape", "dtype", "block", "said"),
    [
        ((16, 16), "float32", (16, 16), r"shape \(16, 18\) instead .* takes 86% of its .* away, \(16, 17\) 71%\."),
        ((8, 8), "float32", (8, 8), r"Padding \(8, 8\) does not help\."),
        ((16, 16), "int32", (16, 16), r"\(16, 18\)"),
    ],
)  # fmt: skip
def test_where_a_warp_has_several_rows_padding_does_not_do_it_all_and_other_columns_do(shape, dtype, block, said):
    report = bank_report(TRANSPOSE, shape, dtype, block)
    (found,) = bank_advice(report)
    assert re.search(said, found.fix), found.fix
    for other, share in re.findall(r"(?:shape|,) (\(\d+, \d+\)).*? (\d+)%", found.fix):
        left = conflicts(bank_report(TRANSPOSE, other, dtype, block))
        assert f"{1 - left / conflicts(report):.0%}" == f"{share}%"
    n = shape[1]
    assert f"[row, column ^ row % {n}]" in found.fix
    swizzled = TRANSPOSE.replace("tile[ty, tx]", f"tile[ty, tx ^ ty % {n}]").replace(
        "tile[tx, ty]", f"tile[tx, ty ^ tx % {n}]"
    )
    assert conflicts(bank_report(swizzled, shape, dtype, block)) == 0


def test_no_smaller_padding_would_do():
    (found,) = bank_advice(bank_report(TRANSPOSE, (16, 16), "float64", (16, 16)))
    advised = int(re.search(r"with shape \(16, (\d+)\)", found.fix)[1])
    for width in range(16, advised):
        assert conflicts(bank_report(TRANSPOSE, (16, width), "float64", (16, 16))) > 0


def test_a_padding_that_does_not_fit_is_not_advised():
    body = """
        def kernel(out):
            tile = cuda.shared.array((384, 32), float32)
            t = cuda.threadIdx.x
            for k in range(32):
                tile[t, k] = float32(k)
            out[t] = tile[t, 3]
    """
    for h in bank_advice(simt.run(function(body), 8, 384, (np.zeros(384, np.float32),), races=False)):
        assert "(384, 33)" not in h.fix
        assert "Another order of the axes has none: the element [a, b] as [b, a], with shape (32, 384)." in h.fix
    turned = body.replace("(384, 32)", "(32, 384)").replace("[t, k]", "[k, t]").replace("[t, 3]", "[3, t]")
    assert conflicts(simt.run(function(turned), 8, 384, (np.zeros(384, np.float32),), races=False)) == 0


@pytest.mark.parametrize("apart", [2, 4, 16, 32])
def test_a_flat_array_with_a_stride_is_told_the_stride_and_one_that_helps(apart):
    body = """
        def kernel():
            s = cuda.shared.array({size}, float32)
            i = cuda.threadIdx.x
            s[i * {apart}] = float32(1)
    """
    found = bank_advice(simt.run(function(body.format(apart=apart, size=32 * apart)), 8, 32, ()))[0]
    assert f"touch elements {apart} apart" in found.fix
    assert "Pad" not in found.fix
    other = int(re.search(r"or elements (\d+) apart", found.fix)[1])
    assert conflicts(simt.run(function(body.format(apart=other, size=32 * other)), 8, 32, ())) == 0


def test_a_flat_tile_gets_longer_rows():
    body = """
        def kernel(out):
            s = cuda.shared.array({size}, float32)
            tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
            s[ty * {row} + tx] = float32(1)
            cuda.syncthreads()
            out[ty, tx] = s[tx * {row} + ty]
    """

    def run(row, n):
        kernel = function(body.format(size=n * row, row=row))
        return simt.run(kernel, 8, (n, n), (np.zeros((n, n)),), races=False)

    (found,) = bank_advice(run(32, 32))
    assert "(32 rows of 33 elements have no bank conflict)" in found.fix
    assert conflicts(run(33, 32)) == 0
    (found,) = bank_advice(run(16, 16))
    assert "(16 rows of 18 elements have 86% fewer bank conflicts)" in found.fix
    assert round(conflicts(run(18, 16)) / conflicts(run(16, 16)), 2) == 0.14


def test_a_stride_that_grows_gets_no_number_that_would_help_in_one_turn_only():
    kernel = function("""
        def kernel(x, total):
            s = cuda.shared.array(256, float32)
            t = cuda.threadIdx.x
            s[t] = x[t]
            cuda.syncthreads()
            step = 1
            while step < 256:
                k = 2 * step * t
                if k + step < 256:
                    s[k] += s[k + step]
                cuda.syncthreads()
                step *= 2
            if t == 0:
                total[0] = s[0]
    """)
    found = bank_advice(simt.run(kernel, 1, 256, (np.ones(256, np.float32), np.zeros(1, np.float32))))
    assert {h.array for h in found} == {"s"}
    for h in found:
        assert "whenever this line runs" in h.fix
        assert "apart" not in h.fix
        assert "Pad" not in h.fix


def test_where_no_order_and_no_padding_helps_it_says_so():
    kernel = function("""
        def kernel(out):
            s = cuda.shared.array((64, 32), float32)
            t = cuda.threadIdx.x
            s[t, (t * t * 7) % 32] = float32(1)
            s[t // 2 * 2, (t % 2) * 16] = float32(1)
    """)
    for h in bank_advice(simt.run(kernel, 8, 32, (np.zeros(1),), races=False)):
        assert re.search(r"takes \d+% of its bank conflicts away|does not help|no bank conflict", h.fix)


def test_bank_conflicts_are_advice_once_for_an_array_and_way_with_its_lines():
    (stores, loads) = sorted(bank_advice(bank_report(OF_A_THREAD, (256, 16), "float32", (32, 8))), key=lambda h: h.line)
    assert (stores.details["way"], stores.details["lines"]) == ("store", [6])
    assert (loads.details["way"], loads.details["lines"]) == ("load", [7])
    assert loads.count == loads.details["counts"][0]
    assert loads.message.startswith("the loads of tile take 16 turns instead of one:")
    (doubles, _) = bank_advice(bank_report(OF_A_THREAD, (128, 16), "float64", (32, 4)))
    assert "take 32 turns instead of 2:" in doubles.message


def test_an_array_of_many_axes_is_looked_at_without_trying_everything():
    kernel = function("""
        def kernel(out):
            s = cuda.shared.array((32, 2, 2, 2, 2, 2, 2, 2), float32)
            t = cuda.threadIdx.x
            s[t, 1, 0, 1, 0, 1, 0, 1] = float32(1)
    """)
    (found,) = bank_advice(simt.run(kernel, 8, 32, (np.zeros(1),), races=False))
    assert "Another order of the axes has none" in found.fix
