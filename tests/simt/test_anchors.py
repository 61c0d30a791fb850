"""Counters that were measured with Nsight Compute on an H200 are met exactly; results equal NumPy's."""

import sys

import numpy as np
import pytest

from course_lib import simt
from tests.simt import kernels
from tests.simt.kernels import T


def small_integers(rng, *shape):
    """Return (...) float32 whole numbers, so that sums in any order are exact."""
    return rng.integers(-4, 5, shape).astype(np.float32)


def product(kernel, n, **options):
    rng = np.random.default_rng(n)
    A, B = small_integers(rng, n, n), small_integers(rng, n, n)
    C = np.full((n, n), np.nan, np.float32)
    report = simt.run(kernel, (n // T, n // T), (T, T), (A, B, C), **options)
    np.testing.assert_array_equal(C, A @ B)
    return report


def counters(report):
    t = report.total
    return {
        "global loads": (t.global_load_requests, t.global_load_sectors),
        "global stores": (t.global_store_requests, t.global_store_sectors),
        "bank conflicts": (t.shared_load_conflicts, t.shared_store_conflicts),
    }


def test_tiled_product_of_128_has_the_measured_traffic():
    assert counters(product(kernels.product_tiled, 128)) == {
        "global loads": (8_192, 32_768),
        "global stores": (512, 2_048),
        "bank conflicts": (0, 0),
    }


def test_naive_product_of_128_has_the_measured_traffic():
    assert counters(product(kernels.product_naive, 128)) == {
        "global loads": (131_072, 262_144),
        "global stores": (512, 2_048),
        "bank conflicts": (0, 0),
    }


@pytest.mark.parametrize(("kernel", "conflicts"), [(kernels.transpose_tile, 15_872), (kernels.transpose_padded, 0)])
def test_transpose_of_128_has_the_measured_traffic_and_conflicts_only_without_padding(kernel, conflicts):
    A = np.arange(128 * 128, dtype=np.float32).reshape(128, 128)
    C = np.full_like(A, np.nan)
    report = simt.run(kernel, (4, 4), (32, 32), (A, C))
    np.testing.assert_array_equal(C, A.T)
    assert counters(report) == {
        "global loads": (512, 2_048),
        "global stores": (512, 2_048),
        "bank conflicts": (conflicts, 0),
    }


def test_tiled_product_of_32_without_the_second_barrier_has_30_720_racing_pairs():
    report = product(kernels.product_no_second_barrier, 32, on_error="collect")
    assert {(h.kind, h.array, h.count) for h in report.hazards} == {("race", "As", 15_360), ("race", "Bs", 15_360)}


@pytest.mark.parametrize("n", [32, 64])
def test_loads_of_the_tiled_product_follow_the_lecture_2_n_cubed_over_t(n):
    assert product(kernels.product_tiled, n).total.global_load_bytes == 2 * n**3 // T * 4


@pytest.mark.parametrize("n", [16, 48])
def test_floating_point_operations_of_a_product_are_2_n_cubed_in_float32(n):
    total = product(kernels.product_tiled, n).total
    assert (total.flops, total.float64_flops) == (2 * n**3, 0)


@pytest.mark.parametrize(("M", "N", "K"), [(1, 1, 1), (7, 13, 9), (17, 5, 33), (16, 32, 48)])
@pytest.mark.parametrize("kernel", [kernels.product_naive, kernels.product_ragged])
def test_product_of_any_size_equals_numpy_and_has_no_finding(kernel, M, N, K):
    rng = np.random.default_rng(0)
    A, B = small_integers(rng, M, K), small_integers(rng, K, N)
    C = np.full((M, N), np.nan, np.float32)
    report = simt.run(kernel, (-(-N // T), -(-M // T)), (T, T), (A, B, C))
    np.testing.assert_array_equal(C, A @ B)
    assert report.hazards == []


def test_counters_do_not_depend_on_how_many_blocks_run_at_once(monkeypatch):
    once = product(kernels.product_tiled, 64).to_dict()
    monkeypatch.setattr(sys.modules["course_lib.simt.run"], "BATCH_LANES", T * T)
    assert product(kernels.product_tiled, 64).to_dict() == once
