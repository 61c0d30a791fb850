"""Sums of what the blocks of a launch found: of any number of rows, exact on whole numbers, the same each time."""

import numpy as np
import pytest
from numba import float32

from course_lib import gpu
from course_lib.cuda.numba_cuda import cuda
from course_lib.cuda.sums import FEW, SLICES, THREADS, WARPS, add_up, block_largest, block_total, read_sums


@pytest.mark.parametrize("rows", [1, 2, 7, 255, 257, FEW, FEW + 1, FEW + SLICES + 3])
@pytest.mark.parametrize("columns", [1, 2, 3])
def test_columns_are_added_up(rows, columns):
    parts = np.random.default_rng(rows).integers(-9, 10, (rows, columns)).astype(np.float32)
    out = add_up(gpu.to_device(parts))
    assert tuple(out.shape) == (1, columns)
    np.testing.assert_array_equal(gpu.to_host(out)[0], parts.sum(0, np.float64))
    assert read_sums(gpu.to_device(parts)) == parts.sum(0, np.float64).tolist()


def test_the_order_of_additions_is_fixed_by_the_size():
    parts = gpu.to_device(np.random.default_rng(0).standard_normal((FEW + 5, 2), np.float32))
    assert len({gpu.to_host(add_up(parts)).tobytes() for _ in range(3)}) == 1


@gpu.jit
def _several(x, out):
    s = cuda.shared.array(WARPS, float32)
    value = x[cuda.threadIdx.x]
    total, twice = block_total(value, s), block_total(float32(2) * value, s)
    out[cuda.threadIdx.x] = total + twice + block_largest(value, s) + block_largest(-value, s)


def test_the_sums_and_extremes_of_a_block_may_follow_each_other():
    x = np.random.default_rng(1).integers(-9, 10, THREADS).astype(np.float32)
    out = gpu.empty(THREADS, np.float32)
    _several[1, THREADS](gpu.to_device(x), out)  # the executor would stop at a race
    np.testing.assert_array_equal(gpu.to_host(out), 3 * x.sum() + x.max() - x.min())
