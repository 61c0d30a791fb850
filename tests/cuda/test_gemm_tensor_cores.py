"""The tensor-core rungs: exact on whole numbers of any size, no hazards, and errors as TF32 and float32 promise."""

import numpy as np
import pytest

from course_lib import gpu
from course_lib.cuda.device import executor
from course_lib.cuda.intrinsics import float_bits, mma_tf32
from course_lib.cuda.ladders.gemm import v09_3xtf32, v10_tf32
from course_lib.cuda.ladders.gemm.mma_tiles import Tiles
from course_lib.cuda.ladders.gemm.v09_3xtf32 import gemm_v09_3xtf32, make_gemm_v09
from course_lib.cuda.ladders.gemm.v10_tf32 import gemm_v10_tf32, make_gemm_v10
from course_lib.cuda.numba_cuda import cuda
from course_lib.cuda.recording import record_launches
from tests.cases import all_of
from tests.cuda.unfit import KINDS, unfit
from tests.gpu.devices import nans, needs_warps

SIZES = [(1, 1, 1), (7, 13, 9), (17, 5, 33), (130, 70, 40), (12, 300, 4)]
"""(M, N, K): less than a tile, more than one, rows that begin at multiples of 16 bytes and rows that do not."""
rungs = pytest.mark.parametrize("launch", [gemm_v09_3xtf32, gemm_v10_tf32])


def whole_numbers(M, N, K):
    """Return A (M, K) and B (K, N), float32 whole numbers of up to 8: exact in TF32, and sums of products too."""
    rng = np.random.default_rng(M + N + K)
    return (rng.integers(-8, 9, shape).astype(np.float32) for shape in ((M, K), (K, N)))


def multiplied(launch, A, B):
    """Return what a rung makes of host arrays A (M, K) and B (K, N)."""
    C = nans(A.shape[0], B.shape[1])
    launch(gpu.to_device(A), gpu.to_device(B), C)
    return gpu.to_host(C)


def launched(make, tiles, A, B, width, whole):
    """Return what a kernel with other tiles makes of A and B."""
    C = nans(A.shape[0], B.shape[1])
    blocks = -(-A.shape[0] // tiles.BM) * -(-B.shape[1] // tiles.BN)
    kernel = make(tiles, width, whole)
    kernel[blocks, tiles.threads, 0, tiles.shared_bytes](gpu.to_device(A), gpu.to_device(B), C)
    return gpu.to_host(C)


@needs_warps
@rungs
@pytest.mark.parametrize(("M", "N", "K"), SIZES, ids=str)
def test_whole_numbers_are_multiplied_exactly_and_without_a_hazard_whatever_the_size(launch, M, N, K):
    A, B = whole_numbers(M, N, K)
    with record_launches() as launches:
        np.testing.assert_array_equal(multiplied(launch, A, B), A @ B)
    for report in [one.kernel.report for one in launches] if executor().reports else ():
        assert report.hazards == []
        assert report.total.shared_load_conflicts == 0
        assert report.total.float64_flops == 0


@needs_warps
@rungs
def test_blocks_in_several_bands_meet_nowhere_and_leave_nothing_out(launch):
    A, B = whole_numbers(1030, 260, 4)
    np.testing.assert_array_equal(multiplied(launch, A, B), A @ B)


@needs_warps
@rungs
def test_rows_that_begin_anywhere_are_copied_one_by_one(launch):
    A, B = whole_numbers(8, 8, 8)
    memory, C = gpu.to_device(np.concatenate([[0], A.ravel()]).astype(np.float32)), nans(8, 8)
    launch(memory[1:].reshape(8, 8), gpu.to_device(B), C)
    np.testing.assert_array_equal(gpu.to_host(C), A @ B)


@needs_warps
@pytest.mark.parametrize(
    ("make", "tiles"),
    [
        (make_gemm_v09, v09_3xtf32.SMALL),
        (make_gemm_v09, Tiles(BM=64, BN=64, BK=32, WM=32, WN=32, STAGES=3, blocks=1, sums=True)),
        (make_gemm_v10, Tiles(BM=64, BN=64, BK=32, WM=32, WN=32, STAGES=4, blocks=1)),
        (make_gemm_v10, Tiles(BM=128, BN=128, BK=16, WM=64, WN=64, STAGES=4, blocks=2)),
    ],
)
def test_other_tiles_give_the_same_product(make, tiles):
    A, B = whole_numbers(70, 132, 36)
    np.testing.assert_array_equal(launched(make, tiles, A, B, 4, False), A @ B)
    A, B = whole_numbers(128, 128, 128)
    np.testing.assert_array_equal(launched(make, tiles, A, B, 4, True), A @ B)




def errors(launch, K):
    """Return (largest error of random numbers' product, its tolerance in float32), both relative to |A| @ |B|."""
    rng = np.random.default_rng(K)
    A, B = (rng.standard_normal(shape).astype(np.float32) for shape in ((24, K), (K, 40)))
    exact, scale = A.astype(np.float64) @ B, np.abs(A).astype(np.float64) @ np.abs(B)
    return np.max(np.abs(multiplied(launch, A, B) - exact) / scale), 4 * np.sqrt(K) * 2.0**-24


@needs_warps
@pytest.mark.parametrize("K", [9, 260])
def test_three_products_are_as_exact_as_float32(K):
    error, tolerance = errors(gemm_v09_3xtf32, K)
    np.testing.assert_array_less(error, tolerance + 2.0**-20)  # the products of two small parts are left out


@needs_warps
def test_one_product_has_the_error_of_tf32():
    error, tolerance = errors(gemm_v10_tf32, 100)
    np.testing.assert_array_less(error, 2.0**-10)
    np.testing.assert_array_less(tolerance, error)


@needs_warps
@rungs
@pytest.mark.parametrize("bits", [0x7FFFFFFF, 0xFFFFFFFF, 0x7FC00000], ids=hex)
def test_nan_of_any_bits_stays_nan_in_its_row_or_column_only(launch, bits):
    A, B = whole_numbers(5, 6, 4)
    exact = A @ B
    A[2, 1] = B[3, 4] = np.uint32(bits).view(np.float32)
    exact[2], exact[:, 4] = np.nan, np.nan
    np.testing.assert_array_equal(multiplied(launch, A, B), exact)


@needs_warps
def test_numbers_that_tf32_can_hold_do_not_grow():
    B = (1 + np.arange(1024, dtype=np.float32) / 1024).reshape(1, 1024)
    np.testing.assert_array_equal(multiplied(gemm_v10_tf32, np.ones((1, 1), np.float32), B), B)


@needs_warps
def test_sums_that_leave_tensor_cores_in_time_do_not_shrink():
    A = np.full((1, 2 * v09_3xtf32.FLUSH), 1 + 2.0**-10, np.float32)
    C = multiplied(gemm_v09_3xtf32, A, A.reshape(-1, 1))
    exact = np.sum(A.astype(np.float64) ** 2)
    np.testing.assert_allclose(C, exact, rtol=4 * np.sqrt(A.size) * 2.0**-24)


@rungs
@all_of("kind", KINDS)
@all_of("which", [0, 1, 2])
def test_operands_that_no_kernel_takes_are_refused(launch, kind, which):
    host = np.ones((4, 4), np.float32)
    operands = [gpu.to_device(host) for _ in range(3)]
    operands[which], error = unfit(kind, host)
    with pytest.raises(error):
        launch(*operands)


@rungs
def test_shapes_that_do_not_fit_are_refused(launch):
    with pytest.raises(ValueError, match=r"Did you mean B.T\?"):
        launch(nans(3, 4), nans(5, 4), nans(3, 5))
    with pytest.raises(ValueError, match="C must be"):
        launch(nans(3, 4), nans(4, 5), nans(5, 3))


def test_a_card_with_little_shared_memory_gets_small_tiles(monkeypatch):
    monkeypatch.setattr(executor(), "shared_limit", 99 * 1024)
    tiles = v09_3xtf32.tiles_here()
    assert tiles == v09_3xtf32.SMALL
    assert max(tiles.shared_bytes, v10_tf32.TILES.shared_bytes) <= 99 * 1024


@gpu.jit
def transposed_product(A, B, C):
    """C (8, 16) = A (8, 8) @ B (8, 16) by one warp, as the text of `mma_tiles` says, straight from global memory."""
    g, q = cuda.threadIdx.x // 4, cuda.threadIdx.x % 4
    left = (
        float_bits(B[q, 2 * g]),
        float_bits(B[q, 2 * g + 1]),
        float_bits(B[q + 4, 2 * g]),
        float_bits(B[q + 4, 2 * g + 1]),
    )
    right = float_bits(A[g, q]), float_bits(A[g, q + 4])
    zero = np.float32(0)
    d = mma_tf32(left, right, (zero, zero, zero, zero))
    C[2 * q, 2 * g], C[2 * q, 2 * g + 1] = d[0], d[2]
    C[2 * q + 1, 2 * g], C[2 * q + 1, 2 * g + 1] = d[1], d[3]


@needs_warps
def test_each_lane_holds_the_elements_that_the_text_says():
    A, B = whole_numbers(8, 16, 8)
    C = nans(8, 16)
    transposed_product[1, 32](gpu.to_device(A), gpu.to_device(B), C)
    np.testing.assert_array_equal(gpu.to_host(C), A @ B)
