"""Dropout drops what its counter says, keeps the mean, passes gradients the same way, and refuses other rates."""

import numpy as np
import pytest

from course_lib import fast, reference
from course_lib.checks import check_op_gradients
from tests.backends import on_each_backend

from .strategies import LAYOUTS, lay_out


def rng(seed=0):
    return np.random.default_rng(seed)


def splitmix64(state):
    """One number of SplitMix64 in Python's whole numbers, and the next state."""
    state = (state + 0x9E3779B97F4A7C15) % 2**64
    z = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    return z ^ z >> 31, state


def test_the_generator_written_out_is_splitmix64():
    """The first number for the state 1234567, as in the test vectors of Rosetta Code and of its C source."""
    assert splitmix64(1234567)[0] == 6457827717110365317


@on_each_backend
@pytest.mark.parametrize("seed", [0, 5, 2**64 - 1])
@pytest.mark.parametrize("rate", [0.0, 0.25, 0.5, 0.9])
def test_what_stays_is_what_the_generator_says_number_by_number(ops, rate, seed):
    x = rng(1).standard_normal((3, 5, 4)).astype(np.float32)
    expected, state = [], seed
    for number in x.ravel():
        bits, state = splitmix64(state)
        stays = bits >> 32 < round((1 - rate) * 2**32)
        expected.append(number * np.float32(1 / (1 - rate)) if stays else 0)
    np.testing.assert_allclose(ops.dropout_forward(x, rate, seed)[0].ravel(), expected, rtol=1e-7)


@on_each_backend
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rate_0_changes_nothing(ops, dtype):
    x = rng(1).standard_normal((7, 9)).astype(dtype)
    y, cache = ops.dropout_forward(x, 0, 3)
    np.testing.assert_array_equal(y, x)
    np.testing.assert_array_equal(ops.dropout_backward(x, cache), x)
    assert y.dtype == dtype
    assert not np.shares_memory(x, y)


@on_each_backend
@pytest.mark.parametrize("rate", [0.1, 0.5, 0.99])
def test_the_share_and_the_mean_are_as_promised(ops, rate):
    """Within five standard deviations of n draws: of a share sqrt(rate (1 - rate) / n)."""
    n = 200_000
    sd = np.sqrt(rate * (1 - rate) / n)
    masks = np.stack([ops.dropout_forward(np.ones(n), rate, seed)[0] for seed in range(4)])
    for mask in masks:
        assert abs(np.mean(mask == 0) - rate) < 5 * sd
        assert abs(np.mean(mask) - 1) < 5 * sd / (1 - rate)
    correlation = np.corrcoef([*masks, np.roll(masks[0], 1)])  # of seeds that follow each other, and of neighbours
    np.testing.assert_array_less(np.abs(correlation - np.eye(5)), 5 / np.sqrt(n))


@on_each_backend
@pytest.mark.parametrize("shape", [(1, 1), (7, 13), (2, 3, 5, 4)])
@pytest.mark.parametrize("rate", [0.0, 0.3, 0.9])
def test_the_gradient_is_that_of_the_same_places(ops, shape, rate):
    x = rng(1).standard_normal(shape)
    check_op_gradients(ops.dropout_forward, ops.dropout_backward, [x, rate, 11], rng=rng(2))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_layout_in_memory_decides_nothing(layout):
    x = rng(1).standard_normal((4, 3, 5, 6))
    expected = reference.dropout_forward(x, 0.5, 3)[0]
    for ops in (reference, fast):
        y, cache = ops.dropout_forward(lay_out(x, layout), 0.5, 3)
        np.testing.assert_array_equal(y, expected)
        np.testing.assert_array_equal(ops.dropout_backward(lay_out(x, layout), cache), expected)


@on_each_backend
def test_what_is_dropped_is_0_even_where_it_was_no_number(ops):
    for bad in (np.nan, np.inf):
        y = ops.dropout_forward(np.full(1000, bad), 0.5, 3)[0]
        dropped = ops.dropout_forward(np.ones(1000), 0.5, 3)[0] == 0
        np.testing.assert_array_equal(y, np.where(dropped, 0, bad))


def test_threads_that_share_the_numbers_drop_the_same():
    x, before = np.ones(1_000_000, np.float32), fast.threads()
    try:
        fast.set_threads(3)
        shared = fast.dropout_forward(x, 0.3, 9)[0]
    finally:
        fast.set_threads(before)
    np.testing.assert_array_equal(shared, reference.dropout_forward(x, 0.3, 9)[0])


@on_each_backend
def test_nothing_gives_nothing_and_whole_numbers_become_floats(ops):
    assert ops.dropout_forward(np.zeros((0, 3)), 0.5, 1)[0].shape == (0, 3)
    assert ops.dropout_forward(np.ones(4, np.int32), 0.5, 1)[0].dtype == np.float64
    assert ops.dropout_forward([1.0, 2.0], 0.5, 1)[0].shape == (2,)
    assert ops.dropout_forward(2.0, 0, 1)[0] == 2


@on_each_backend
def test_a_rate_just_below_1_keeps_something_and_1_is_refused(ops):
    y = ops.dropout_forward(np.ones(1000), 1 - 2.0**-32, 1)[0]
    assert set(np.unique(y)) <= {0, 2.0**32}
    with pytest.raises(ValueError, match="rate is 1; it must be below 1, or nothing stays"):
        ops.dropout_forward(np.ones(3), 1, 1)
    with pytest.raises(ValueError, match=r"rate is 0\.999999999999; it must be below 1"):
        ops.dropout_forward(np.ones(3), 1 - 2.0**-40, 1)


@on_each_backend
@pytest.mark.parametrize(("arguments", "error", "says"), [
    ((np.ones(3), -0.1, 1), ValueError, "rate is -0.1"),
    ((np.ones(3), np.nan, 1), ValueError, "rate is nan"),
    ((np.ones(3), "half", 1), TypeError, "rate is 'half'; it must be a number"),
    ((np.ones(3), 0.5, -1), ValueError, "seed is -1; it must be >= 0"),
    ((np.ones(3), 0.5, 2**64), ValueError, r"it must be below 2\^64"),
    ((np.ones(3), 0.5, 1.0), TypeError, "seed is 1.0; it must be a whole number"),
    ((np.ones(3, complex), 0.5, 1), TypeError, "x has dtype complex128"),
    ((np.ones(3, np.float16), 0.5, 1), TypeError, "x has dtype float16"),
    ((["a"], 0.5, 1), TypeError, "x has dtype"),
])  # fmt: skip
def test_what_cannot_be_dropped_is_refused(ops, arguments, error, says):
    with pytest.raises(error, match=says):
        ops.dropout_forward(*arguments)


@on_each_backend
def test_an_upstream_gradient_of_another_shape_is_refused(ops):
    _, cache = ops.dropout_forward(np.ones((2, 3)), 0.5, 1)
    with pytest.raises(ValueError, match=r"dy is \(3, 2\) and y is \(2, 3\)"):
        ops.dropout_backward(np.ones((3, 2)), cache)
