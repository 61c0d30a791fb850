"""Sums of what the blocks of a launch found: of any number of rows, exact on whole numbers, the same each time."""

import numpy as np
import pytest

from course_lib import gpu
from course_lib.cuda.sums import FEW, SLICES, add_up, read_sums


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
