"""The ladder of matrix products: exact on any size, no hazards, and the traffic that each rung's formula promises."""

import importlib
from pathlib import Path

import numpy as np
import pytest

from course_lib import gpu
from course_lib.cuda.device import executor
from course_lib.cuda.ladders import gemm
from course_lib.cuda.ladders.gemm import checks
from course_lib.cuda.ladders.gemm.checks import check_gemm
from course_lib.cuda.recording import record_launches
from tests.gpu.devices import each_rung

SIZES = [(1, 1, 1), (7, 13, 9), (17, 5, 33), (132, 140, 44), (131, 133, 37)]
"""(M, N, K): ragged in all ways; of the last two, one has rows that are multiples of 16 bytes, and both two blocks."""
WHOLE = 128, 256, 64
"""Whole tiles for every rung."""
WARPS = range(9, 14)
"""Rungs on tensor cores."""
rungs = each_rung(gemm.LADDER, warps=WARPS)
exact_rungs = each_rung([r for r in gemm.LADDER if r.exact], warps=WARPS)


def small_integers(rng, *shape):
    """Return (...) float32 whole numbers, so that sums in any order are exact."""
    return rng.integers(-4, 5, shape).astype(np.float32)


def nans(*shape):
    """Return a device array of NaN that counts as written: what is not computed shows."""
    return gpu.to_device(np.full(shape, np.nan, np.float32))


def multiplied(rung, M, N, K):
    """Launch a rung on small whole numbers and return (what it wrote, what it must be)."""
    rng = np.random.default_rng(M + N + K)
    A, B = small_integers(rng, M, K), small_integers(rng, K, N)
    C = nans(M, N)
    assert rung.launch(gpu.to_device(A), gpu.to_device(B), C) is None
    return gpu.to_host(C), A @ B


@exact_rungs
@pytest.mark.parametrize(("M", "N", "K"), SIZES, ids=lambda n: str(n))
def test_product_of_any_size_equals_numpys_without_a_hazard(rung, M, N, K):
    np.testing.assert_array_equal(*multiplied(rung, M, N, K))


@rungs
def test_product_of_whole_tiles_equals_numpys_and_costs_what_the_formula_says(rung):
    with record_launches() as launches:
        np.testing.assert_array_equal(*multiplied(rung, *WHOLE))
    if executor().reports:
        (report,) = (one.kernel.report for one in launches)
        promised = rung.traffic(*WHOLE)
        assert {name: getattr(report.total, name) for name in promised} == promised
        assert report.hazards == []
        assert report.total.float64_flops == 0


@exact_rungs
def test_operands_that_begin_at_no_multiple_of_16_bytes_are_multiplied_too(rung):
    M, N, K = 12, 16, 20
    rng = np.random.default_rng(0)
    A, B = small_integers(rng, M, K), small_integers(rng, K, N)

    def shifted(x):
        return gpu.to_device(np.append(np.float32(0), x))[1:].reshape(*x.shape)

    C = shifted(np.full((M, N), np.nan, np.float32))
    rung.launch(shifted(A), shifted(B), C)
    np.testing.assert_array_equal(gpu.to_host(C), A @ B)


def test_tiles_of_32_load_32_times_fewer_numbers_than_the_2_m_n_k_of_single_threads():
    M, N, K = WHOLE
    assert gemm.v03_smem_tiled.traffic(M, N, K)["global_load_bytes"] == 4 * 2 * M * N * K // 32


@rungs
def test_operands_that_do_not_fit_are_refused(rung):
    A, B, C = nans(5, 3), nans(3, 4), nans(5, 4)
    with pytest.raises(ValueError, match=r"A.shape\[1\] must equal B.shape\[0\]"):
        rung.launch(A, nans(2, 4), C)
    with pytest.raises(ValueError, match=r"Did you mean B\.T"):
        rung.launch(A, nans(4, 3), C)
    with pytest.raises(ValueError, match=r"C is \(4, 5\)"):
        rung.launch(A, B, nans(4, 5))
    with pytest.raises(ValueError, match="axes"):
        rung.launch(A, B, nans(20))
    with pytest.raises(TypeError, match="B is a host array"):
        rung.launch(A, np.ones((3, 4), np.float32), C)
    for dtype in (np.float64, np.int32):
        with pytest.raises(TypeError, match="A has dtype"):
            rung.launch(gpu.to_device(np.ones((5, 3), dtype)), B, C)
    with pytest.raises(ValueError, match="row by row"):
        rung.launch(A, gpu.to_device(np.asfortranarray(np.ones((3, 4), np.float32))), C)
    np.testing.assert_array_equal(gpu.to_host(C), np.full((5, 4), np.nan))


@rungs
@pytest.mark.parametrize(("M", "N", "K"), [(0, 2, 2), (2, 0, 2), (2, 2, 0)])
def test_a_size_of_zero_is_refused(rung, M, N, K):
    A, B, C = (gpu.empty(shape, np.float32) for shape in ((M, K), (K, N), (M, N)))
    with pytest.raises(ValueError, match="empty"):
        rung.launch(A, B, C)


def test_a_result_in_the_memory_of_an_operand_is_refused():
    A, B = nans(4, 4), nans(4, 4)
    with pytest.raises(ValueError, match="C and A share memory"):
        check_gemm(A, B, A)
    with pytest.raises(ValueError, match="C and B share memory"):
        check_gemm(A, B, B)


def test_every_rung_is_a_file_of_its_name_in_order_and_the_readable_one_has_no_intrinsics():
    assert [rung.number for rung in gemm.LADDER] == list(range(1, len(gemm.LADDER) + 1))
    for rung in gemm.LADDER:
        module = importlib.import_module(f"{gemm.__name__}.{rung.name}")
        assert rung.launch is getattr(module, f"gemm_{rung.name}")
    assert gemm.READABLE in [rung.name for rung in gemm.LADDER]
    assert "intrinsics import" not in Path(getattr(gemm, gemm.READABLE).__file__).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("number", "lines", "most"), [(1, "columns", 8), (2, "rows", 8), (3, "rows", 32), (4, "rows", 64)]
)
def test_a_lower_rung_names_the_side_that_its_grid_cannot_cover(number, lines, most):
    size = 65_535 * most + 1
    M, N = (1, size) if lines == "columns" else (size, 1)
    A, B, C = (gpu.empty(shape, np.float32) for shape in ((M, 1), (1, N), (M, N)))
    with pytest.raises(ValueError, match=rf"C has {size:,} {lines}, .* there may be {size - 1:,} at most\. Take a"):
        gemm.LADDER[number - 1].launch(A, B, C)


@pytest.mark.parametrize("rung", [r for r in gemm.LADDER if r.least_cc == (8, 0)], ids=lambda rung: rung.name)
def test_an_older_card_is_told_which_rung_to_use(rung, monkeypatch):
    monkeypatch.setattr(checks, "compute_capability", lambda: (7, 5))
    with pytest.raises(gpu.DeviceError, match=r"from compute capability 8\.0 on\. Use gemm_v07_warp_tiles here\."):
        rung.launch(nans(4, 4), nans(4, 4), nans(4, 4))
