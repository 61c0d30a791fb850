"""Adam by its paper's formulas, weight decay by its gradient, and what either refuses."""

import numpy as np
import pytest

from course_lib.checks import numerical_gradient
from tests.backends import on_each_backend

FLOATS = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def rng(seed=0):
    return np.random.default_rng(seed)


def adam(ops, steps, decay=0.0, *, grad=lambda w: w, start=(3.0, -2.0), dtype=np.float64, lr=0.1, **options):
    """Return the parameter after each step, from a start of one axis or more."""
    w = np.array(start, dtype)
    m, v, seen = np.zeros_like(w), np.zeros_like(w), []
    for step in range(1, steps + 1):
        ops.adam_step([w], [np.asarray(grad(w), dtype)], lr, [m], [v], step, weight_decay=[decay], **options)
        seen.append(w.copy())
    return np.array(seen)


@on_each_backend
@pytest.mark.parametrize("decay", [0.0, 0.3])
def test_steps_are_the_papers_written_out(ops, decay):
    """Algorithm 1 of Kingma and Ba, with sums in place of running means: m_t = (1 - b1) sum b1^(t - i) g_i."""
    gradients, w, expected = rng().standard_normal((5, 2)), np.array([3.0, -2.0]), []
    for t in range(1, 6):
        weights1, weights2 = ([beta ** (t - i) for i in range(1, t + 1)] for beta in (0.8, 0.95))
        mean = np.average(gradients[:t], axis=0, weights=weights1)  # bias correction makes a weighted mean of it
        square = np.average(gradients[:t] ** 2, axis=0, weights=weights2)
        w = w * (1 - 0.1 * decay) - 0.1 * mean / (np.sqrt(square) + 1e-6)
        expected.append(w)
    left = iter(gradients)
    found = adam(ops, 5, decay, grad=lambda w: next(left), beta1=0.8, beta2=0.95, eps=1e-6)
    np.testing.assert_allclose(found, expected, rtol=1e-13)


@on_each_backend
@FLOATS
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_the_first_step_is_lr_whatever_the_gradients_size(ops, dtype, size):
    """Without the correction of the bias it would be sqrt(10) times as long."""
    (w,) = adam(ops, 1, grad=lambda w: [size, -size], dtype=dtype, eps=1e-14)
    np.testing.assert_allclose(w, [3 - 0.1, -2 + 0.1], rtol=1e-6)
    assert w.dtype == dtype


@on_each_backend
def test_decay_shrinks_a_parameter_whatever_its_gradient(ops):
    still = adam(ops, 3, 0.5, grad=lambda w: 0 * w)
    np.testing.assert_allclose(still, np.array([3.0, -2.0]) * 0.95 ** np.arange(1, 4)[:, None], rtol=1e-14)


@on_each_backend
def test_decay_in_a_step_of_sgd_is_the_gradient_of_half_the_squares(ops):
    w, g, decay = rng(1).standard_normal((3, 4)), rng(2).standard_normal((3, 4)), 0.3
    slope = numerical_gradient(lambda w: np.sum(g * w) + decay / 2 * np.sum(w * w), w)
    moved, with_velocity, v = w.copy(), w.copy(), np.ones_like(w)
    ops.sgd_step([moved], [g], 0.1, weight_decay=decay)
    ops.sgd_step([with_velocity], [g], 0.1, 0.5, [v], decay)
    np.testing.assert_allclose(moved, w - 0.1 * slope, atol=1e-9)
    np.testing.assert_allclose(v, 0.5 - 0.1 * slope, atol=1e-9)
    np.testing.assert_allclose(with_velocity, w + v, rtol=1e-14)


@on_each_backend
def test_one_number_decays_weights_and_no_biases(ops):
    arrays = [np.ones(s) for s in [(3,), (2, 3), (2, 1, 3, 3)]]
    zeros = [np.zeros_like(a) for a in arrays]
    ops.sgd_step(arrays, zeros, 0.5, weight_decay=1.0)
    assert [a.flat[0] for a in arrays] == [1, 0.5, 0.5]
    ops.adam_step(arrays, zeros, 0.5, *[[np.zeros_like(a) for a in arrays] for _ in "mv"], 1, weight_decay=1.0)
    assert [a.flat[0] for a in arrays] == [1, 0.25, 0.25]
    ops.sgd_step(arrays, zeros, 0.5, weight_decay=[1.0, 0, 0])  # who wants it says so
    assert [a.flat[0] for a in arrays] == [0.5, 0.25, 0.25]


@on_each_backend
@pytest.mark.parametrize("turn", [np.transpose, lambda a: a[::-1], lambda a: np.repeat(a, 2, axis=1)[:, ::2]])
def test_arrays_in_any_order_of_memory_are_changed_in_place(ops, turn):
    w, g = rng(1).standard_normal((4, 6)), rng(2).standard_normal((4, 6))
    plain, m, v = w.copy(), np.zeros_like(w), np.zeros_like(w)
    turned = turn(w.copy())
    back, gradient = turned.copy(), turn(g).copy()
    ops.adam_step([turned], [gradient], 0.1, [np.zeros_like(turned)], [np.zeros_like(turned)], 1)
    ops.adam_step([back], [gradient], 0.1, [np.zeros_like(back)], [np.zeros_like(back)], 1)
    np.testing.assert_allclose(turned, back, rtol=1e-14)
    ops.adam_step([plain], [g], 0.1, [m], [v], 1)
    np.testing.assert_allclose(turn(plain), back, rtol=1e-14)


@on_each_backend
def test_nan_in_a_gradient_stays_in_its_place_and_nothing_at_all_is_no_error(ops):
    (w,) = adam(ops, 1, grad=lambda w: [np.nan, 1.0])
    assert np.isnan(w).tolist() == [True, False]
    ops.adam_step([], [], 0.1, [], [], 1)
    ops.adam_step([np.zeros((0, 3))], [np.zeros((0, 3))], 0.1, [np.zeros((0, 3))], [np.zeros((0, 3))], 1)


def _arrays(**changed):
    found = {name: [np.ones((2, 2))] for name in ("params", "grads", "first_moments", "second_moments")}
    return {**found, "lr": 0.1, "step": 1, **changed}


WRONG = [
    ({"lr": 0}, ValueError, "lr is 0"),
    ({"lr": np.nan}, ValueError, "lr is nan"),
    ({"step": 0}, ValueError, "step is 0; it must be >= 1"),
    ({"step": 1.0}, TypeError, "step is 1.0; it must be a whole number"),
    ({"beta1": 1}, ValueError, "beta1 is 1; it must be below 1"),
    ({"beta2": -0.1}, ValueError, "beta2 is -0.1"),
    ({"eps": 0}, ValueError, "eps is 0"),
    ({"weight_decay": -1}, ValueError, "weight_decay is -1"),
    ({"weight_decay": np.nan}, ValueError, "weight_decay is nan"),
    ({"weight_decay": "all"}, TypeError, "weight_decay is 'all'; it must be a number"),
    ({"weight_decay": [0.1, 0.1]}, ValueError, "weight_decay holds 2 numbers for 1 parameters"),
    ({"weight_decay": [None]}, TypeError, r"weight_decay\[0\] is None"),
    ({"weight_decay": 10}, ValueError, r"lr \* weight_decay is 1; it must be below 1"),
    ({"params": np.ones((2, 2))}, TypeError, r"adam_step\(\[w\], \[dw\], lr, \[m\], \[v\], step\)"),
    ({"params": [np.ones((2, 2), int)]}, TypeError, r"params\[0\] is int64; it must be a float array"),
    ({"grads": [None]}, TypeError, r"grads\[0\] is NoneType.*without a gradient"),
    ({"grads": [np.ones((2, 3))]}, ValueError, r"params\[0\] is \(2, 2\) and grads\[0\] is \(2, 3\)"),
    ({"first_moments": [None]}, TypeError, r"first_moments\[0\] is NoneType"),
    ({"second_moments": []}, ValueError, "1 parameters, 1 gradients, 1 first_moments and 0 second_moments"),
    ({"params": [np.ones((2, 2), np.float32)], "eps": 1e-60}, ValueError, "eps is 1e-60, which is 0 in float32"),
]


@on_each_backend
@pytest.mark.parametrize(("changed", "error", "says"), WRONG)
def test_what_cannot_be_right_is_refused_and_nothing_changes(ops, changed, error, says):
    arguments = _arrays(**changed)
    before = [np.copy(a) for a in arguments["params"]]
    with pytest.raises(error, match=says):
        ops.adam_step(**arguments)
    for a, b in zip(arguments["params"], before, strict=True):
        np.testing.assert_array_equal(a, b)


@on_each_backend
@pytest.mark.parametrize(("decay", "error", "says"), [
    (-1, ValueError, "weight_decay is -1"), ([0.1], ValueError, "1 numbers for 2 parameters"),
    (20, ValueError, r"lr \* weight_decay is 2; it must be below 1, or a step turns the weights over"),
])  # fmt: skip
def test_a_decay_that_cannot_be_right_is_refused_by_a_step_of_sgd_too(ops, decay, error, says):
    with pytest.raises(error, match=says):
        ops.sgd_step([np.ones((2, 2)), np.ones(2)], [np.ones((2, 2)), np.ones(2)], 0.1, weight_decay=decay)


@on_each_backend
def test_one_array_for_both_moments_is_refused(ops):
    w, g, m = np.ones((3, 2, 2))
    with pytest.raises(ValueError, match="share memory"):
        ops.adam_step([w], [g], 0.1, [m], [m], 1)
