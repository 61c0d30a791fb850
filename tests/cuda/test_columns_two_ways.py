"""Both mappings of threads to the unrolled matrix make the same one, with the same requests and another effort."""

from dataclasses import asdict

import numpy as np
import pytest

from course_lib import gpu, reference
from course_lib.cuda.columns import THREADS, im2col
from course_lib.cuda.columns_by_elements import im2col_by_elements, threads, traffic
from tests.cases import all_of
from tests.gpu.devices import needs_simt

WAYS = {"a number each": im2col_by_elements, "a window each": im2col}
CASES = [  # x, mask, stride, pad
    ((1, 1, 1, 1), (1, 1), (1, 1), (0, 0)),
    ((2, 3, 7, 9), (3, 2), (1, 1), (0, 0)),
    ((1, 2, 9, 11), (5, 3), (2, 3), (1, 2)),
    ((3, 1, 17, 5), (3, 5), (2, 2), (2, 0)),
    ((2, 6, 14, 14), (5, 5), (1, 1), (0, 0)),
]


@all_of("way", WAYS)
@all_of(("x", "mask", "stride", "pad"), CASES)
def test_a_mapping_makes_the_references_matrix(way, x, mask, stride, pad):
    host = np.arange(1, 1 + np.prod(x), dtype=np.float32).reshape(x)
    found = WAYS[way](gpu.to_device(host), mask, stride, pad)
    np.testing.assert_array_equal(gpu.to_host(found), reference.im2col(host, mask, stride, pad))


@needs_simt
def test_requests_are_the_formulas_and_windows_take_fewer_threads_and_fewer_instructions():
    shape, mask = (2, 2, 12, 12), (5, 5)
    x, totals = gpu.to_device(np.ones(shape, np.float32)), {}
    for way, unroll in WAYS.items():
        (report,) = gpu.simulate_launches(unroll, x, mask)
        totals[way] = asdict(report.total)
        expected = traffic(shape, mask)
        assert expected == {name: totals[way][name] for name in expected}
    count = threads(shape, mask)
    assert count["a number each"] == 25 * count["a window each"]
    assert 1.5 * totals["a window each"]["instructions"] < totals["a number each"]["instructions"]


@needs_simt
def test_the_operation_has_a_thread_for_each_window():
    shape, mask = (2, 3, 12, 12), (5, 5)
    (report,) = gpu.simulate_launches(im2col, gpu.to_device(np.ones(shape, np.float32)), mask)
    launched = np.prod(report.grid) * np.prod(report.block)
    assert threads(shape, mask)["a window each"] <= launched < threads(shape, mask)["a window each"] + THREADS


@pytest.mark.parametrize("way", WAYS)
def test_what_cannot_be_unrolled_is_refused(way):
    with pytest.raises(ValueError, match="it fits nowhere"):
        WAYS[way](gpu.to_device(np.ones((1, 1, 4, 4), np.float32)), 5)
    with pytest.raises(TypeError, match="float64"):
        WAYS[way](gpu.to_device(np.ones((1, 1, 4, 4))), 3)
    with pytest.raises(TypeError, match="to_device"):
        WAYS[way](np.ones((1, 1, 4, 4), np.float32), 3)
