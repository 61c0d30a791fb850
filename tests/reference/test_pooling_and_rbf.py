"""Pooling, subsampling, flatten and the radial-basis output: by hand, against loops, by gradient."""

import itertools

import numpy as np
import pytest

from course_lib import reference as ops
from course_lib.checks import check_op_gradients
from tests.cases import all_of

from ..backends import on_each_backend

CASES = [(2, None, 0), (2, 1, 0), ((3, 2), (1, 2), 1), (3, 2, 1), ((1, 1), None, 0)]


@on_each_backend
def test_owens_max_pooling(ops):  # O
    x = np.array([[1, 0, 2, 2], [1, 3, 0, 1], [2, 2, 0, 1], [2, 0, 2, 1.0]])[None, None]
    y, _ = ops.max_pool_forward(x)
    assert y.shape == (1, 1, 2, 2)
    np.testing.assert_array_equal(y[0, 0], [[3, 2], [2, 2]])


@on_each_backend
def test_of_equal_values_the_first_wins(ops):  # K, "Pooling Kernel"
    y, cache = ops.max_pool_forward(np.array([[[[5.0, 5, 1, 7], [5, 5, 7, 7]]]]))
    np.testing.assert_array_equal(y, [[[[5, 7]]]])
    dx = ops.max_pool_backward(np.array([[[[1.0, 2.0]]]]), cache)
    np.testing.assert_array_equal(dx, [[[[1, 0, 0, 2], [0, 0, 0, 0]]]])


def test_the_argmax_mask_holds_places_in_the_map():  # K, "Pooling Kernel"
    _, (_, mask) = ops.max_pool_forward(np.array([[[[5.0, 5, 1, 7], [5, 5, 7, 7]]]]))
    np.testing.assert_array_equal(mask, [[[[0, 3]]]])


@on_each_backend
@all_of(("size", "stride", "pad"), CASES)
@all_of("shape", [(1, 1, 4, 4), (2, 3, 7, 5)])
@all_of("kind", ["max_pool", "average_pool"])
def test_pooling_against_loops_and_its_gradient(ops, kind, shape, size, stride, pad):
    rng = np.random.default_rng(0)
    x = rng.permutation(np.prod(shape)).reshape(shape) / 7 + 1.0  # all different
    forward, backward = getattr(ops, f"{kind}_forward"), getattr(ops, f"{kind}_backward")
    y, _ = forward(x, size, stride, pad)
    f_h, f_w = (size, size) if isinstance(size, int) else size
    s_h, s_w = (f_h, f_w) if stride is None else ((stride, stride) if isinstance(stride, int) else stride)
    fill, reduce = (-np.inf, np.max) if kind == "max_pool" else (0, np.mean)
    padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)), constant_values=fill)
    for h, v in itertools.product(range(y.shape[2]), range(y.shape[3])):
        window = padded[:, :, h * s_h : h * s_h + f_h, v * s_w : v * s_w + f_w]
        np.testing.assert_allclose(y[:, :, h, v], reduce(window, axis=(2, 3)), rtol=1e-14)
    check_op_gradients(lambda a: forward(a, size, stride, pad), backward, [x], rng=rng)


@on_each_backend
@pytest.mark.parametrize("kind", ["max_pool", "average_pool"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_types_are_kept(ops, kind, dtype):
    y, cache = getattr(ops, f"{kind}_forward")(np.ones((1, 2, 4, 4), dtype))
    assert y.dtype == getattr(ops, f"{kind}_backward")(y, cache).dtype == dtype


@on_each_backend
@pytest.mark.parametrize("kind", ["max_pool", "average_pool"])
@pytest.mark.parametrize(
    ("shape", "options", "message"),
    [
        ((1, 1, 3, 3), {"size": 4}, "H is 3 .* it fits nowhere"),
        ((1, 1, 3, 3), {"size": 2, "pad": 2}, "pad must be smaller"),
        ((0, 1, 3, 3), {}, "the batch is empty"),
        ((1, 1, 0, 3), {}, "H is 0"),
        ((1, 3, 3), {}, "it must have 4"),
        ((1, 1, 3, 3), {"size": 0}, "size is 0"),
    ],
)
def test_pooling_errors(ops, kind, shape, options, message):
    with pytest.raises(ValueError, match=message):
        getattr(ops, f"{kind}_forward")(np.ones(shape), **options)


@on_each_backend
@pytest.mark.parametrize("kind", ["max_pool", "average_pool"])
def test_a_wrong_upstream_shape_is_refused(ops, kind):
    _, cache = getattr(ops, f"{kind}_forward")(np.ones((1, 1, 4, 4)))
    with pytest.raises(ValueError, match="the shape of y"):
        getattr(ops, f"{kind}_backward")(np.ones((1, 1, 4, 4)), cache)


@on_each_backend
def test_subsampling_by_hand_and_gradient(ops):  # H, S2
    x = np.arange(16.0).reshape(1, 1, 4, 4)
    y, _ = ops.subsample_forward(x, np.array([0.5]), np.array([1.0]))
    np.testing.assert_allclose(y[0, 0], [[0.5 * 10 + 1, 0.5 * 18 + 1], [0.5 * 42 + 1, 0.5 * 50 + 1]])
    rng = np.random.default_rng(0)
    args = [rng.standard_normal((2, 3, 5, 4)), rng.standard_normal(3), rng.standard_normal(3)]
    check_op_gradients(ops.subsample_forward, ops.subsample_backward, args, rng=rng)
    with pytest.raises(ValueError, match="one number a map, 3"):
        ops.subsample_forward(args[0], np.ones(2), np.ones(2))
    with pytest.raises(ValueError, match="the shape of y"):
        ops.subsample_backward(np.ones((2, 3, 5, 4)), ops.subsample_forward(*args)[1])


def test_flatten_round_trip():
    x = np.arange(24.0).reshape(2, 3, 2, 2)
    y, cache = ops.flatten_forward(x)
    np.testing.assert_array_equal(y[1], np.arange(12, 24))
    np.testing.assert_array_equal(ops.flatten_backward(y, cache), x)
    with pytest.raises(ValueError, match=r"it must be \(2, 12\)"):
        ops.flatten_backward(y[:1], cache)


def test_radial_basis_distances_loss_and_gradients():
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((4, 5)), rng.standard_normal((3, 5))
    y, cache = ops.rbf_forward(x, w)
    np.testing.assert_allclose(y, [[np.sum((a - b) ** 2) for b in w] for a in x], rtol=1e-12)
    check_op_gradients(ops.rbf_forward, ops.rbf_backward, [x, w], rng=rng)
    labels = np.array([0, 2, 1, 1])
    loss, _ = ops.rbf_loss_forward(y, labels)
    expected = np.mean([y[i, t] + np.log(np.exp(-0.1) + np.exp(-y[i]).sum()) for i, t in enumerate(labels)])
    np.testing.assert_allclose(loss, expected, rtol=1e-12)
    check_op_gradients(ops.rbf_loss_forward, ops.rbf_loss_backward, [y, labels], wrt=[0], rng=rng)
    with pytest.raises(ValueError, match="as long as a row of x"):
        ops.rbf_forward(x, w[:, :4])
    with pytest.raises(ValueError, match="the shapes must be equal"):
        ops.rbf_backward(np.ones((4, 4)), cache)


def test_rbf_loss_is_finite_for_huge_distances():
    with np.errstate(over="raise"):
        loss, cache = ops.rbf_loss_forward(np.array([[1e4, 2e4]]), np.array([0]))
    assert np.isfinite(loss)
    assert np.isfinite(ops.rbf_loss_backward(cache)).all()


def test_the_ten_prototypes_are_pictures_of_minus_and_plus_one():
    w = ops.digit_prototypes()
    assert w.shape == (10, 84)
    assert set(np.unique(w)) == {-1.0, 1.0}
    distances = ((w[:, None] - w[None]) ** 2).sum(axis=2)
    assert distances[~np.eye(10, dtype=bool)].min() >= 16  # at least four pixels apart
