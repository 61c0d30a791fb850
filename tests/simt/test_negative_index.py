"""An index below zero that is written as a constant is meant; what it says nothing of is found all the same."""

import numpy as np
import pytest
from numba import cuda

from course_lib import simt
from tests.simt.text import function


def collect(kernel, grid, block, *arguments):
    return simt.run(kernel, grid, block, arguments, on_error="collect")


@pytest.mark.parametrize("statement", [
    "out[i] = a[-1, -2]", "out[i] = a[-K, i * 0 + 2]", "out[i] = a[1 - 3 + L, -2]", "out[i] = a[-1][2]",
    "b[-1] = a[1, 2]\n        cuda.syncwarp()\n        out[i] = b[7]", "out[i] = device(a)",
    "out[i] = a[-1, 1:3][-1]",
])  # fmt: skip
def test_index_below_zero_that_is_written_as_a_constant_is_meant(statement):
    device = function("def device(a):\n    return a[-1, -2]", "device")
    kernel = function(f"""
    def kernel(a, out):
        b, c = cuda.shared.array(8, float64), cuda.shared.array((3, 4), float64)
        i = cuda.threadIdx.x
        b[i], b[i + 4], c[2, i] = 0, 0, 0
        cuda.syncwarp()
        {statement}
    """, K=1, L=1, device=cuda.jit(device=True)(device))  # fmt: skip
    a, out = np.arange(8.0).reshape(2, 4), np.zeros(4)
    found = collect(kernel, 1, 4, a, out).hazards
    assert [str(h) for h in found if h.kind != "race"] == []
    np.testing.assert_array_equal(out, 6.0)


@pytest.mark.parametrize(("statement", "kind"), [
    ("a[-5] = 1", "out of bounds"), ("a[i - 1, -1] = 1", "negative index"), ("a[-1, i - 1] = 1", "negative index"),
    ("a[-1, -5] = 1", "out of bounds"),
])  # fmt: skip
def test_constant_index_says_nothing_of_another_index_and_nothing_of_the_size(statement, kind):
    a = np.zeros((2, 4) if "," in statement else 4)
    (hazard,) = collect(function(f"def kernel(a):\n    for i in range(1):\n        {statement}"), 1, 1, a).hazards
    assert (hazard.kind, hazard.count) == (kind, 1)
