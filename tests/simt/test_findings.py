"""Findings that depend on the order of things: who read last, what a warp ordered, what is out of bounds."""

import numpy as np

from course_lib import simt
from tests.simt import kernels
from tests.simt.test_hazards import ints, one_finding
from tests.simt.text import function


def test_chained_comparison_does_not_look_at_what_it_does_not_need():
    kernel = function("""
        def kernel(a, out):
            i = cuda.grid(1)
            if 0 < i < a[i - 1]:
                out[i] = 1
    """)
    out = np.zeros(3, int)
    report = simt.run(kernel, 1, 3, (np.array([5, 0, 5]), out), on_error="collect")
    np.testing.assert_array_equal(out, [0, 1, 0])
    assert report.hazards == []


def test_reads_of_another_block_race_with_a_write_in_whatever_order_they_come():
    hazard = one_finding(kernels.stencil_in_place_other_order, 64, 1, (ints(64), ints(64)))
    assert (hazard.kind, hazard.array) == ("race", "a")


def test_atomic_on_unwritten():
    h = one_finding(kernels.atomic_on_unwritten, 1, 64, (ints(64), ints(64)))
    assert h.kind == "unwritten memory"


def test_warp_shift_is_correct():
    assert simt.run(kernels.warp_shift, 1, 64, (ints(64), ints(64)), on_error="collect").hazards == []


def test_fmod():
    out = np.zeros(1)
    simt.run(function("def kernel(out):\n    out[0] = math.fmod(5.5, 2.0)"), 1, 1, (out,))
    assert out[0] == 1.5


def test_store_out_of_bounds_changes_nothing_and_is_no_race():
    kernel = function("def kernel(out):\n    i = cuda.grid(1)\n    out[i] = i + 1")
    out = np.zeros(5, int)
    report = simt.run(kernel, 1, 8, (out,), on_error="collect")
    np.testing.assert_array_equal(out, [1, 2, 3, 4, 5])
    assert [h.kind for h in report.hazards] == ["out of bounds"]
