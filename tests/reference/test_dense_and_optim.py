"""The dense layer against sums written out, and the update rule against its formula."""

import numpy as np
import pytest

from course_lib import reference as ops

from ..backends import on_each_backend


@on_each_backend
@pytest.mark.parametrize("shape", [(1, 1, 1), (7, 13, 9), (17, 5, 33)])
def test_dense_is_exact_on_small_integers(ops, shape):
    B, D, M = shape
    rng = np.random.default_rng(0)
    x, w, b = (rng.integers(-4, 5, s).astype(np.float32) for s in ((B, D), (D, M), (M,)))
    z, cache = ops.dense_forward(x, w, b)
    expected = [[sum(x[i, k] * w[k, j] for k in range(D)) + b[j] for j in range(M)] for i in range(B)]
    np.testing.assert_array_equal(z, expected)
    dz = rng.integers(-4, 5, (B, M)).astype(np.float32)
    dx, dw, db = ops.dense_backward(dz, cache)
    np.testing.assert_array_equal(dx, [[sum(dz[i, j] * w[k, j] for j in range(M)) for k in range(D)] for i in range(B)])
    np.testing.assert_array_equal(dw, [[sum(x[i, k] * dz[i, j] for i in range(B)) for j in range(M)] for k in range(D)])
    np.testing.assert_array_equal(db, [sum(dz[i, j] for i in range(B)) for j in range(M)])


@on_each_backend
def test_without_a_bias_there_is_no_gradient_for_it(ops):
    _, cache = ops.dense_forward(np.ones((2, 3)), np.ones((3, 4)))
    assert ops.dense_backward(np.ones((2, 4)), cache)[2] is None


@on_each_backend
@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((np.ones((4, 3)), np.ones((2, 3))), r"x is \(4, 3\) and w is \(2, 3\).*Did you mean w.T"),
        ((np.ones((4, 3)), np.ones((2, 5))), r"x.shape\[1\] must equal w.shape\[0\]\.$"),
        ((np.ones(3), np.ones((3, 2))), r"For one sample, write x\[None, :\]"),
        ((np.ones((4, 3)), np.ones((3, 2)), np.ones(3)), "one number for each column of w"),
        (([[1.0], [1.0, 2.0]], np.ones((1, 1))), "x is not a rectangular array"),
    ],
)
def test_shapes_that_do_not_fit_say_so(ops, args, message):
    with pytest.raises(ValueError, match=message):
        ops.dense_forward(*args)


def test_plain_step_and_momentum_by_hand():
    p, g = np.array([1.0, -2.0]), np.array([0.5, 1.0])
    ops.sgd_step([p], [g], lr=0.1)
    np.testing.assert_allclose(p, [0.95, -2.1], rtol=1e-15)
    v = np.zeros(2)
    ops.sgd_step([p], [g], 0.1, 0.9, [v])
    np.testing.assert_allclose(v, [-0.05, -0.1])
    ops.sgd_step([p], [g], 0.1, 0.9, [v])
    np.testing.assert_allclose(v, [-0.095, -0.19])
    np.testing.assert_allclose(p, [0.95 - 0.05 - 0.095, -2.1 - 0.1 - 0.19])


def test_a_step_keeps_float32():
    p = np.ones(3, np.float32)
    ops.sgd_step([p], [np.ones(3, np.float32)], 0.1, 0.5, [np.zeros(3, np.float32)])
    assert p.dtype == np.float32


@pytest.mark.parametrize(
    ("params", "grads", "options", "error", "message"),
    [
        ([np.ones(2)], [np.ones(3)], {"lr": 0.1}, ValueError, r"params\[1\] is \(2,\) and grads\[1\] is \(3,\)"),
        ([np.ones(2)], [], {"lr": 0.1}, ValueError, "2 parameters, 1 gradients"),
        ([np.ones(2)], [np.ones(2)], {"lr": -1}, ValueError, "lr is -1; it must be a finite number > 0"),
        ([np.ones(2)], [np.ones(2)], {"lr": "big"}, TypeError, "lr is 'big'; it must be a number"),
        ([np.ones(2)], [np.ones(2)], {"lr": 1, "momentum": 1}, ValueError, "must be below 1"),
        ([np.ones(2)], [np.ones(2)], {"lr": 1, "momentum": 0.9}, ValueError, "needs velocities"),
        (
            [np.ones(2)],
            [np.ones(2)],
            {"lr": 1, "momentum": 0.9, "velocities": [np.ones(1)]},
            ValueError,
            r"velocities\[1\] is \(1,\)",
        ),
        ([np.ones(2, int)], [np.ones(2)], {"lr": 1}, TypeError, "must be a float array"),
    ],
)
def test_a_refused_step_changes_nothing(params, grads, options, error, message):
    first = np.full(2, 5.0)
    with pytest.raises(error, match=message):
        ops.sgd_step([first, *params], [np.ones(2), *grads], **_with_velocity(options))
    np.testing.assert_array_equal(first, 5.0)


def _with_velocity(options):
    if "velocities" in options:
        options = {**options, "velocities": [np.zeros(2), *options["velocities"]]}
    return options


@on_each_backend
def test_a_bias_of_another_type_widens_the_result_as_numpy_does(ops):
    z, _ = ops.dense_forward(np.ones((2, 3), np.float32), np.ones((3, 2), np.float32), np.full(2, 1e-9))
    assert z.dtype == np.float64
    np.testing.assert_array_equal(z, 3 + 1e-9)


@on_each_backend
@pytest.mark.parametrize("shape", [(1, 4), (3, 4), (2, 3)])
def test_an_upstream_gradient_of_another_batch_is_refused(ops, shape):
    _, cache = ops.dense_forward(np.ones((2, 3)), np.ones((3, 4)))
    with pytest.raises(ValueError, match=r"it must have the shape of z, \(2, 4\)"):
        ops.dense_backward(np.ones(shape), cache)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ops.sgd_step(np.ones(3), np.ones(3), 0.1), TypeError, r"sgd_step\(\[w\], \[dw\], lr\)"),
        (lambda: ops.sgd_step([np.ones(2)], [None], 0.1), TypeError, r"grads\[0\] is NoneType"),
        (lambda: ops.sgd_step([np.ones(2)] * 2, [np.ones(2), np.ones(2)], 0.1), ValueError, "share memory"),
    ],
)
def test_arguments_that_would_be_changed_wrongly_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_with_momentum_0_velocities_forget_and_hold_this_step():
    """v = 0 v - lr g: old steps must not come back, and the parameter moves as without velocities."""
    g, v, with_v, without = np.array([0.5, 1.0]), np.array([7.0, -7.0]), np.ones(2), np.ones(2)
    ops.sgd_step([with_v], [g], 0.1, 0.0, [v])
    ops.sgd_step([without], [g], 0.1)
    np.testing.assert_array_equal(v, -0.1 * g)
    np.testing.assert_array_equal(with_v, without)
