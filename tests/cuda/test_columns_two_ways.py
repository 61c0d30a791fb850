"""The operation gives a thread a window, the ladder's v03 a number: the same requests, and another effort."""

from dataclasses import asdict

import numpy as np
import pytest

from course_lib import gpu, reference
from course_lib.cuda.columns import THREADS, im2col, unrolled_sizes
from course_lib.cuda.ladders.conv2d.forward.v03_im2col_gemm import _im2col
from tests.cases import all_of
from tests.gpu.devices import needs_simt

CASES = [  # x, mask, stride, pad
    ((1, 1, 1, 1), (1, 1), (1, 1), (0, 0)),
    ((2, 3, 7, 9), (3, 2), (1, 1), (0, 0)),
    ((1, 2, 9, 11), (5, 3), (2, 3), (1, 2)),
    ((3, 1, 17, 5), (3, 5), (2, 2), (2, 0)),
    ((2, 6, 14, 14), (5, 5), (1, 1), (0, 0)),
]


def by_numbers(x, mask, stride=1, pad=0):
    """Unroll as v03 does before its product."""
    sizes, matrix = unrolled_sizes(x.shape, mask, stride, pad)
    cols = gpu.empty((x.shape[0], *matrix), np.float32)
    _im2col[-(-cols.size // THREADS), THREADS](x, 0, *sizes[:6], sizes[-1], cols)
    return cols


WAYS = {"a number each": by_numbers, "a window each": im2col}


@all_of("way", WAYS)
@all_of(("x", "mask", "stride", "pad"), CASES)
def test_a_mapping_makes_the_references_matrix(way, x, mask, stride, pad):
    host = np.arange(1, 1 + np.prod(x), dtype=np.float32).reshape(x)
    found = WAYS[way](gpu.to_device(host), mask, stride, pad)
    np.testing.assert_array_equal(gpu.to_host(found), reference.im2col(host, mask, stride, pad))


@needs_simt
def test_requests_are_the_same_and_windows_take_fewer_threads_and_fewer_instructions():
    (B, C, H, W), K = (2, 2, 12, 12), 5
    x, totals, threads = gpu.to_device(np.ones((B, C, H, W), np.float32)), {}, {}
    windows = B * C * (H - K + 1) * (W - K + 1)
    for way, unroll in WAYS.items():
        (report,) = gpu.simulate_launches(unroll, x, (K, K))
        totals[way], threads[way] = asdict(report.total), np.prod(report.grid) * np.prod(report.block)
        numbers = windows * K * K  # each is read and written once, by warps of 32 neighbours
        assert totals[way]["global_load_requests"] == totals[way]["global_store_requests"] == numbers // 32
        assert totals[way]["global_load_bytes"] == totals[way]["global_store_bytes"] == 4 * numbers
        assert totals[way]["global_store_sectors"] == numbers // 8
    assert windows <= threads["a window each"] < windows + THREADS
    assert K * K * windows <= threads["a number each"] < K * K * windows + THREADS
    assert 1.5 * totals["a window each"]["instructions"] < totals["a number each"]["instructions"]


def test_what_cannot_be_unrolled_is_refused():
    with pytest.raises(ValueError, match="it fits nowhere"):
        im2col(gpu.to_device(np.ones((1, 1, 4, 4), np.float32)), 5)
    with pytest.raises(TypeError, match="float64"):
        im2col(gpu.to_device(np.ones((1, 1, 4, 4))), 3)
    with pytest.raises(TypeError, match="to_device"):
        im2col(np.ones((1, 1, 4, 4), np.float32), 3)
