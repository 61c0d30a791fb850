"""simt.empty: an array that nobody has filled, and that remembers it, on every machine."""

import numpy as np
import pytest
from numba import cuda, float32

from course_lib import gpu, simt


@gpu.jit
def first_half(y):
    i = cuda.grid(1)
    if i < y.size // 2:
        y[i] = float32(1)


@pytest.mark.parametrize("shape", [8, (8,), (np.int64(2), 4)])
def test_its_shape_is_a_number_or_a_tuple(shape):
    made = simt.empty(shape)
    assert made.shape == (tuple(shape) if isinstance(shape, tuple) else (shape,))
    assert made.dtype == np.float32
    assert not made.written.any()


def test_a_run_fills_it_in_place_and_says_what_is_left():
    y = simt.empty(8)
    report = simt.run(first_half, 1, 8, (y,), on_error="collect")
    np.testing.assert_array_equal(y.numbers, [1] * 4 + [np.nan] * 4)
    assert [(h.kind, h.count) for h in report.advice] == [("never written", 4)]


def test_gpu_simulate_takes_it_and_leaves_it_as_it_is():
    y = simt.empty(8)
    report = gpu.simulate(first_half, 1, 8, y)
    assert [h.kind for h in report.advice] == ["never written"]
    assert np.isnan(y.numbers).all()
