"""Pooling on the device equals the reference's: values, masks, gradients, at odd sizes, strides, paddings and edges."""

import numpy as np
import pytest

from course_lib import gpu, reference
from course_lib.cuda import pooling as ops
from tests.cases import all_of
from tests.cuda.counted import counted
from tests.cuda.unfit import KINDS, unfit
from tests.gpu.devices import needs_numba, needs_warps

CASES = [  # shape of x, size, stride, pad
    ((1, 1, 1, 1), 1, None, 0),
    ((1, 1, 2, 2), 2, None, 0),
    ((2, 3, 8, 8), 2, None, 0),
    ((2, 3, 6, 10), 2, None, 0),
    ((2, 1, 7, 8), 2, None, 0),
    ((2, 3, 8, 7), 2, None, 0),
    ((1, 2, 9, 9), 3, None, 0),
    ((1, 2, 7, 13), 3, 2, 0),
    ((2, 2, 7, 9), 3, 2, 1),
    ((2, 1, 6, 6), 2, 1, 0),
    ((1, 3, 5, 8), 2, 3, 0),
    ((1, 3, 8, 8), 2, 2, 1),
    ((1, 3, 7, 5), (3, 2), (1, 2), (2, 1)),
    ((2, 2, 5, 6), (1, 4), (2, 3), (0, 3)),
    ((3, 5, 4, 4), 4, None, 0),
    ((40, 2, 4, 8), 2, None, 0),
]
each_case = pytest.mark.parametrize(("shape", "size", "stride", "pad"), CASES)


def few_values(shape, seed=0):
    """Return small whole numbers with many ties."""
    return np.random.default_rng(seed).integers(-2, 3, shape).astype(np.float32)


def max_pooled(x, *window):
    y, cache = ops.max_pool_forward(gpu.to_device(x), *window)
    return gpu.to_host(y), gpu.to_host(cache[1]), cache


@each_case
def test_max_pooling_and_its_mask_equal_the_references(shape, size, stride, pad):
    x = few_values(shape)
    y, mask, cache = max_pooled(x, size, stride, pad)
    expected, (its_shape, its_mask) = reference.max_pool_forward(x, size, stride, pad)
    np.testing.assert_array_equal(y, expected)
    np.testing.assert_array_equal(mask, its_mask)
    assert (cache[0], mask.dtype) == (its_shape, np.int32)


@each_case
def test_max_pooling_sends_gradients_to_the_winners(shape, size, stride, pad):
    x = few_values(shape)
    y, _, cache = max_pooled(x, size, stride, pad)
    dy = few_values(y.shape, 1)
    dx = gpu.to_host(ops.max_pool_backward(gpu.to_device(dy), cache))
    np.testing.assert_array_equal(
        dx, reference.max_pool_backward(dy, reference.max_pool_forward(x, size, stride, pad)[1])
    )


@each_case
def test_average_pooling_equals_the_references_to_the_last_bit(shape, size, stride, pad):
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    y, _ = ops.average_pool_forward(gpu.to_device(x), size, stride, pad)
    np.testing.assert_array_equal(gpu.to_host(y), reference.average_pool_forward(x, size, stride, pad)[0])


@each_case
def test_average_pooling_shares_gradients(shape, size, stride, pad):
    x = few_values(shape)
    _, cache = ops.average_pool_forward(gpu.to_device(x), size, stride, pad)
    expected, its_cache = reference.average_pool_forward(x, size, stride, pad)
    dy = few_values(expected.shape, 1)
    dx = gpu.to_host(ops.average_pool_backward(gpu.to_device(dy), cache))
    np.testing.assert_allclose(dx, reference.average_pool_backward(dy, its_cache), rtol=1e-6, atol=1e-6)


@all_of(("shape", "size", "stride", "pad"), [c for c in CASES if c[3] != 0 or c[1] == 2])
@all_of("special", [np.nan, np.inf, -np.inf])
def test_max_pooling_of_numbers_that_are_not_finite_is_the_references(special, shape, size, stride, pad):
    x = few_values(shape)
    x[np.random.default_rng(1).random(shape) < 0.4] = special
    y, mask, _ = max_pooled(x, size, stride, pad)
    expected, (_, its_mask) = reference.max_pool_forward(x, size, stride, pad)
    np.testing.assert_array_equal(y, expected)
    np.testing.assert_array_equal(mask, its_mask)


@pytest.mark.parametrize("pad", [0, 1])
def test_where_all_are_minus_infinity_a_pixel_of_the_image_wins(pad):
    x = np.full((1, 1, 6, 6), -np.inf, np.float32)
    _, mask, cache = max_pooled(x, 2, 2, pad)
    np.testing.assert_array_equal(mask, reference.max_pool_forward(x, 2, 2, pad)[1][1])
    dx = gpu.to_host(ops.max_pool_backward(gpu.to_device(np.ones(mask.shape, np.float32)), cache))
    assert dx.sum() == mask.size


def test_pixels_that_no_window_sees_get_no_gradient():
    x = few_values((1, 1, 5, 5))
    for forward, backward in (
        (ops.max_pool_forward, ops.max_pool_backward), (ops.average_pool_forward, ops.average_pool_backward),
    ):  # fmt: skip
        y, cache = forward(gpu.to_device(x), 2)
        dx = gpu.to_host(backward(gpu.to_device(np.ones(y.shape, np.float32)), cache))
        assert not dx[0, 0, 4].any()
        assert not dx[0, 0, :, 4].any()
        assert dx.sum() == 4


def test_array_that_begins_anywhere_is_pooled():
    flat = few_values(1 + 2 * 8 * 8)
    x = flat[1:].reshape(1, 2, 8, 8)
    part = gpu.to_device(flat)[1:].reshape(1, 2, 8, 8)
    y, cache = ops.max_pool_forward(part)
    np.testing.assert_array_equal(gpu.to_host(y), reference.max_pool_forward(x)[0])
    np.testing.assert_array_equal(gpu.to_host(ops.average_pool_forward(part)[0]), reference.average_pool_forward(x)[0])
    dy = few_values(1 + y.size, 2)
    part = gpu.to_device(dy)[1:].reshape(*y.shape)
    its_cache = reference.max_pool_forward(x)[1]
    np.testing.assert_array_equal(
        gpu.to_host(ops.max_pool_backward(part, cache)),
        reference.max_pool_backward(dy[1:].reshape(y.shape), its_cache),
    )


SUBSAMPLE = [((2, 3, 4, 6), 2), ((5, 2, 7, 9), 2), ((1, 1, 1, 1), 1), ((130, 2, 6, 6), 3), ((3, 4, 6, 4), (3, 2))]


@needs_warps  # shuffles add up the two gradients
@pytest.mark.parametrize(("shape", "size"), SUBSAMPLE)
def test_subsampling_equals_the_references(shape, size):
    x, w, b = (few_values(s, i) for i, s in enumerate((shape, shape[1:2], shape[1:2])))
    y, cache = ops.subsample_forward(*map(gpu.to_device, (x, w, b)), size)
    expected, its_cache = reference.subsample_forward(x, w, b, size)
    np.testing.assert_allclose(gpu.to_host(y), expected, rtol=1e-6, atol=2e-6)
    dy = few_values(expected.shape, 3)
    found = ops.subsample_backward(gpu.to_device(dy), cache)
    for ours, theirs in zip(found, reference.subsample_backward(dy, its_cache), strict=True):
        np.testing.assert_allclose(gpu.to_host(ours), theirs, rtol=1e-6, atol=1e-4)


def test_flatten_and_back_are_views():
    x = few_values((3, 2, 4, 5))
    rows, cache = ops.flatten_forward(gpu.to_device(x))
    np.testing.assert_array_equal(gpu.to_host(rows), x.reshape(3, -1))
    np.testing.assert_array_equal(gpu.to_host(ops.flatten_backward(rows, cache)), x)
    with pytest.raises(ValueError, match=r"dy is \(2, 60\); it must be \(3, 40\)"):
        ops.flatten_backward(gpu.to_device(few_values((2, 60))), cache)


@needs_numba
@each_case
def test_no_launch_has_a_hazard_or_computes_in_float64(shape, size, stride, pad):
    x = gpu.to_device(few_values(shape))
    for forward, backward in (
        (ops.max_pool_forward, ops.max_pool_backward), (ops.average_pool_forward, ops.average_pool_backward),
    ):  # fmt: skip
        y, cache = forward(x, size, stride, pad)
        dy = gpu.to_device(few_values(tuple(y.shape)))
        for launch in (lambda: forward(x, size, stride, pad), lambda: backward(dy, cache)):  # noqa: B023
            counts, hazards = counted(launch)
            assert (counts["float64_flops"], counts["atomic_requests"], hazards) == (0, 0, [])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("forward", [ops.max_pool_forward, ops.average_pool_forward, ops.flatten_forward])
def test_image_that_does_not_fit_is_refused(forward, kind):
    x, error = unfit(kind, few_values((2, 3, 4, 6)))
    with pytest.raises(error, match=r"^x "):
        forward(x)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_and_gradients_that_do_not_fit_are_refused(kind):
    x, w = gpu.to_device(few_values((2, 3, 4, 6))), gpu.to_device(few_values((3,)))
    bad, error = unfit(kind, few_values((3,)))
    for arguments in ((bad, w), (w, bad)):
        with pytest.raises(error, match=r"^[wb] "):
            ops.subsample_forward(x, *arguments)
    dy, error = unfit(kind, few_values((2, 3, 2, 3)))
    for backward, cache in (
        (ops.max_pool_backward, ops.max_pool_forward(x)[1]),
        (ops.average_pool_backward, ops.average_pool_forward(x)[1]),
        (ops.subsample_backward, ops.subsample_forward(x, w, w)[1]),
    ):
        with pytest.raises(error, match=r"^dy "):
            backward(dy, cache)


@pytest.mark.parametrize(("arguments", "says"), [
    ((0,), "size is 0"), ((2, 0), "stride is 0"), ((2, None, 2), "pad must be smaller"), ((9,), "fits nowhere"),
    (((2, 2, 2),), "size is"), ((2, None, -1), "pad is -1"),
])  # fmt: skip
def test_windows_that_do_not_fit_are_refused(arguments, says):
    for forward in (ops.max_pool_forward, ops.average_pool_forward):
        with pytest.raises(ValueError, match=says):
            forward(gpu.to_device(few_values((1, 1, 4, 4))), *arguments)


def test_gradient_of_another_shape_is_refused():
    x = gpu.to_device(few_values((1, 2, 4, 4)))
    for forward, backward in (
        (ops.max_pool_forward, ops.max_pool_backward), (ops.average_pool_forward, ops.average_pool_backward),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"dy is \(1, 1, 2, 2\); it must have the shape of y, \(1, 2, 2, 2\)"):
            backward(gpu.to_device(few_values((1, 1, 2, 2))), forward(x)[1])


def test_more_elements_than_32_bits_count_are_refused(monkeypatch):
    monkeypatch.setattr(ops, "MOST", 32)
    with pytest.raises(ValueError, match=r"fewer than 32 elements\. Split the batch"):
        ops.max_pool_forward(gpu.to_device(few_values((1, 2, 4, 4))))
