"""A number from memory that nobody has written is a finding when something is done with it, and advice until then."""

import sys

import numpy as np
import pytest
from numba import cuda

from course_lib import simt
from course_lib.simt.arrays import DeviceArray
from tests.simt.text import function

HEAD = """
    def kernel(x, out):
        s, q = cuda.shared.array(64, {dtype}), cuda.shared.array(64, {dtype})
        v = cuda.local.array(4, {dtype})
        i = cuda.threadIdx.x
        if i < 40:
            s[i] = x[i]
        cuda.syncthreads()
"""


def kernel(statements, dtype="float32", **outside):
    lines = "\n".join(f"        {line}" for line in statements.strip("\n").split("\n"))
    return function(HEAD.format(dtype=dtype) + lines + "\n", **outside)


def arrays(dtype):
    return np.arange(64).astype(dtype), np.full(64, 7, dtype)


def findings(statements, dtype="float32", *, block=64, grid=1, **outside):
    """Return ([(array, line, count, first thread)] of errors, and of advice) on unwritten memory."""
    report = simt.run(kernel(statements, dtype, **outside), grid, block, arrays(dtype), on_error="collect")
    return [
        [(h.array, h.line, h.count, h.details["thread"][0]) for h in found if h.kind == "unwritten memory"]
        for found in (report.hazards, report.advice)
    ]


LINE = 8
"""Of the first statement after HEAD."""
FIRST = [("s", LINE, 24, 40)]


def of_reading_line(statements):
    at = next(k for k, line in enumerate(statements.split("\n")) if "s[i]" in line)
    return [("s", LINE + at, 24, 40)]


DTYPES = ["float32", "float64", "int32", "int64", "uint8"]
device = cuda.jit(device=True)(function("def device(a, b):\n    return a", "device"))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("use", [
    "out[i] = s[i]", "y = s[i]\nout[i] = y * 2 + 1", "y = s[i]\nif y > 3:\n    out[i] = 1",
    "y = s[i]\nwhile y > 70:\n    y = 0", "out[int32(s[i]) % 64] = 1", "y = s[i]\nz = -y\nout[i] = abs(z)",
    "y = s[i]\nout[i] = 1 if y > 3 else 2", "y = s[i]\nout[i] = max(y, x[i])", "y = s[i]\nout[i] = float32(y)",
    "y = s[i]\nq[i] = y\ncuda.syncthreads()\nout[i] = q[i]", "y = s[i]\nv[1] = y\nz = v[1]\nout[i] = z",
    "y = s[i]\nfor k in range(2):\n    y += 1\nout[i] = y", "y = s[i]\nout[i] = device(y, x[i])",
    "y, z = s[i], x[i]\ny, z = z, y\nout[i] = z", "s[i] += x[i]\nout[i] = s[i]", "a = (s[i], x[i])\nout[i] = a[0]",
    "y = s[i] if i > 3 else x[i]\nout[i] = y", "y = x[i]\nif i > 3:\n    y = s[i]\nout[i] = y",
    "y = s[i]\nfor k in range(int32(y) % 3):\n    x[i]", "y = s[i] > 3\nz = not y\nif z and i > 70:\n    out[i] = 1",
])  # fmt: skip
def test_number_from_unwritten_memory_that_is_used_is_a_finding_of_the_line_that_read_it(use, dtype):
    assert findings(use, dtype, device=device) == [of_reading_line(use), []]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("drop", [
    "y = s[i]\nif i < 40:\n    out[i] = y", "y = s[i]\ny = x[i]\nout[i] = y", "y = s[i]",
    "y = s[i]\nout[i] = y if i < 40 else x[i]", "y = x[i]\nz = y + s[i]\nif i >= 40:\n    z = 0\nout[i] = z",
    "y = s[i]\nq[i] = y\nq[i] = 1\nout[i] = q[i]", "y = s[i]\nv[1] = y\nv[1] = x[i]\nout[i] = v[1]",
    "y = s[i]\nout[i] = device(x[i], y)", "a = (s[i], x[i])\nout[i] = a[1]",
    "y = s[i] + 1\nif i < 40 and y < 99:\n    out[i] = y",
    "y = s[i]\nfor k in range(3):\n    y = y * 2 + x[k]\nif i < 40:\n    out[i] = y",
])  # fmt: skip
def test_number_from_unwritten_memory_that_is_dropped_is_advice(drop, dtype):
    assert findings(drop, dtype, device=device) == [[], of_reading_line(drop)]


def test_lanes_that_use_their_number_are_the_ones_that_are_named():
    errors, advice = findings("y = s[i]\nif i > 50:\n    out[i] = y")
    assert errors == [("s", LINE, 13, 51)]
    assert advice == []  # one entry for a line and array: the error


def test_number_handed_on_in_a_warp_is_used_where_it_arrives():
    # Lanes 8 to 31 of warp 1 (threads 40 to 63) have nothing; shuffled down by 4, lanes 4 to 27 get it.
    line = "y = s[i]\nz = cuda.shfl_down_sync(0xffffffff, y, 4)\n"
    assert findings(line + "if i < 36:\n    out[i] = z") == [[], FIRST]
    assert findings(line + "if i < 37:\n    out[i] = z") == [[("s", LINE, 1, 40)], []]
    assert findings("y = s[i]\nz = cuda.any_sync(0xffffffff, y > 3)\nq[i] = 1") == [FIRST, []]
    assert findings("y = s[i]\nz = cuda.syncthreads_or(int32(y))\nq[i] = 1") == [FIRST, []]


def test_slice_uses_its_bounds():
    assert findings("y = int32(s[i]) % 3\nz = x[y:]\nq[i] = 1") == [FIRST, []]
    assert findings("y = int32(s[i]) % 3\nz = x[1:]\nq[i] = y") == [[], FIRST]


def test_atomic_operation_uses_its_value_and_its_element():
    assert findings("y = s[i]\ncuda.atomic.add(out, 0, y)")[0] == [FIRST[0]]
    assert findings("cuda.atomic.add(s, 50, x[0])")[0] == [("s", LINE, 64, 0)]


def test_run_that_raises_names_the_line_of_the_read():
    text = kernel("y = s[i]\nz = y + 1\nif i < 41:\n    out[i] = z")
    with pytest.raises(simt.HazardFound) as raised:
        simt.run(text, 1, 64, arrays("float32"))
    h = raised.value.hazard
    assert (h.kind, h.line, h.array, h.count, h.details["index"]) == ("unwritten memory", LINE, "s", 1, (40,))
    assert h.message == "thread 40 of block 0 reads s[40], which nobody has written yet."
    simt.run(kernel("y = s[i]\nif i < 40:\n    out[i] = y"), 1, 64, arrays("float32"))


def test_empty_array_in_global_memory_is_followed_as_well():
    text = "def kernel(a, out):\n    i = cuda.grid(1)\n    y = a[i]\n    if i < {}:\n        out[i] = y"
    for most, severity in ((0, "advice"), (5, "error")):
        a, out = DeviceArray.empty((8,), np.float32), np.zeros(8, np.float32)
        report = simt.run(function(text.format(most)), 2, 4, (a, out), on_error="collect")
        (h,) = [h for h in (*report.hazards, *report.advice) if h.kind == "unwritten memory"]
        assert (h.severity, h.line, h.count) == (severity, 3, most or 8)


def test_number_written_by_another_thread_after_it_was_dropped_is_written():
    assert findings("y = s[i]\ncuda.syncthreads()\ns[63 - i] = 1\ncuda.syncthreads()\nout[i] = s[i]") == [[], FIRST]


@pytest.mark.parametrize("batch", ["all", "one"])
def test_guarded_tiles_of_a_ragged_product_are_no_finding(batch, monkeypatch):
    if batch == "one":
        monkeypatch.setattr(sys.modules["course_lib.simt.run"], "BATCH_LANES", 1)
    product = function("""
        def kernel(A, B, C):
            As, Bs = cuda.shared.array((8, 8), float32), cuda.shared.array((8, 8), float32)
            col, row = cuda.grid(2)
            tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
            acc = float32(0)
            for m in range((A.shape[1] + 7) // 8):
                if row < A.shape[0]:
                    As[ty, tx] = A[row, m * 8 + tx] if m * 8 + tx < A.shape[1] else 0
                if col < B.shape[1]:
                    Bs[ty, tx] = B[m * 8 + ty, col] if m * 8 + ty < B.shape[0] else 0
                cuda.syncthreads()
                for k in range(8):
                    acc += As[ty, k] * Bs[k, tx]
                cuda.syncthreads()
            if row < C.shape[0] and col < C.shape[1]:
                C[row, col] = acc
    """)
    rng = np.random.default_rng(0)
    A, B = rng.integers(-4, 5, (13, 19)).astype(np.float32), rng.integers(-4, 5, (19, 10)).astype(np.float32)
    C = np.full((13, 10), np.nan, np.float32)
    report = simt.run(product, (2, 2), (8, 8), (A, B, C))
    np.testing.assert_array_equal(C, A @ B)
    assert {h.array for h in report.advice if h.kind == "unwritten memory"} == {"As", "Bs"}
