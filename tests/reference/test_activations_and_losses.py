"""Values one can work out by hand, and identities the lectures state."""

import numpy as np
import pytest

from course_lib import reference as ops
from course_lib.checks import check_op_gradients, numerical_gradient

from ..backends import on_each_backend


def test_values_by_hand():
    z = np.array([-2.0, 0.0, 3.0])
    np.testing.assert_array_equal(ops.heaviside(z), [0, 1, 1])
    np.testing.assert_array_equal(ops.relu(z), [0, 0, 3])
    np.testing.assert_array_equal(ops.relu_prime(z), [0, 0, 1])
    np.testing.assert_array_equal(ops.leaky_relu(z, 0.5), [-1, 0, 3])
    np.testing.assert_array_equal(ops.leaky_relu_prime(z, 0.5), [0.5, 0.5, 1])
    np.testing.assert_array_equal(ops.identity(z), z)
    np.testing.assert_allclose(ops.sigmoid(z), 1 / (1 + np.exp(-z)))
    np.testing.assert_allclose(ops.softplus(z), np.log(1 + np.exp(z)))
    np.testing.assert_allclose(ops.tanh(z), np.tanh(z))


@pytest.mark.parametrize("name", [n for n in ops.ACTIVATIONS if n != "heaviside"])
def test_f_prime_is_the_derivative_of_f(name):
    f, f_prime = ops.ACTIVATIONS[name]
    z = np.linspace(-4, 4, 40)
    np.testing.assert_allclose(f_prime(z), numerical_gradient(lambda v: np.sum(f(v)), z), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["tanh", "scaled_tanh"])
def test_where_a_bounded_activation_is_as_large_as_it_gets_its_slope_is_exactly_0(name, dtype):
    """However products and sums are joined: a slope of -3e-8 times an infinite gradient would be infinite, not NaN."""
    z = dtype([200, -200])
    assert np.array_equal(getattr(ops, f"{name}_prime")(z), [0, 0])
    _, cache = getattr(ops, f"{name}_forward")(z)
    assert np.array_equal(getattr(ops, f"{name}_backward")(dtype([1, 1]), cache), [0, 0])


def test_scaled_tanh_is_1_at_1_and_bends_most_there():  # LeCun et al. (1998), appendix A
    np.testing.assert_allclose(ops.scaled_tanh(np.array([-1.0, 0.0, 1.0])), [-1, 0, 1], atol=1e-5)
    z = np.linspace(-4, 4, 41)
    np.testing.assert_allclose(ops.scaled_tanh(z), 1.7159 * np.tanh(2 * z / 3), rtol=1e-14)
    measured = numerical_gradient(lambda v: np.sum(ops.scaled_tanh(v)), z)
    np.testing.assert_allclose(ops.scaled_tanh_prime(z), measured, rtol=1e-5, atol=1e-8)
    z = np.linspace(-4, 4, 8001)
    slope = ops.scaled_tanh_prime(z)
    assert slope.max() == pytest.approx(1.7159 * 2 / 3)
    assert abs(z[np.abs(np.gradient(slope, z)).argmax()]) == pytest.approx(1, abs=0.02)  # the largest |f''|


def test_softplus_prime_is_the_sigmoid():  # H
    z = np.linspace(-50, 50, 101)
    np.testing.assert_array_equal(ops.softplus_prime(z), ops.sigmoid(z))


def test_softmax_jacobian_is_k_delta_minus_k():  # H
    k = ops.softmax(np.array([1.0, -0.5, 2.0]))
    expected = [[k[i] * ((i == m) - k[m]) for m in range(3)] for i in range(3)]
    np.testing.assert_allclose(ops.softmax_jacobian(k), expected, rtol=1e-14)
    dk = np.array([[0.3, -2.0, 0.7]])
    np.testing.assert_allclose(ops.softmax_backward(dk, k[None])[0], dk[0] @ ops.softmax_jacobian(k), rtol=1e-13)


def test_softmax_does_not_depend_on_a_shift_and_needs_a_class():
    z = np.array([[1.0, 2.0, 3.0]])
    np.testing.assert_allclose(ops.softmax(z), ops.softmax(z + 1e4), rtol=1e-10)
    with pytest.raises(ValueError, match="at least one class"):
        ops.softmax(np.zeros((3, 0)))


def test_half_squared_sum_has_no_mean_and_squares_the_whole_difference():  # K, erratum 5
    o, y = np.array([[0.5], [2.0]]), np.array([[1.0], [4.0]])
    assert ops.half_squared_sum_forward(o, y)[0] == 0.5 * (0.25 + 4)
    assert ops.quadratic_cost_forward(o, y)[0] == (0.25 + 4) / (2 * 2)


def test_a_single_number_has_no_batch_to_average_over():
    with pytest.raises(ValueError, match="rows of a batch"):
        ops.quadratic_cost_forward(1.0, 2.0)


def test_hwus_two_errors():  # H
    k, labels = np.array([[0.1, 0.2, 0.7], [0.5, 0.5, 0.0]]), np.array([2, 0])
    np.testing.assert_allclose(ops.one_minus_probability_forward(k, labels)[0], (0.3 + 0.5) / 2)
    np.testing.assert_allclose(ops.expected_squared_distance_forward(k, labels)[0], (0.1 * 4 + 0.2 + 0.5) / 2)


def test_cross_entropy_is_the_mean_log_probability():
    z, labels = np.array([[1.0, 2.0, 0.5], [0.0, 0.0, 0.0]]), np.array([1, 2])
    expected = -np.mean(np.log(ops.softmax(z)[[0, 1], labels]))
    np.testing.assert_allclose(ops.softmax_cross_entropy_forward(z, labels)[0], expected, rtol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cross_entropy_is_exact_for_logits_of_ten_thousand(dtype):
    z = np.array([[1e4, 0.0, -1e4], [-1e4, 1e4, 0.0]], dtype=dtype)
    loss, cache = ops.softmax_cross_entropy_forward(z, np.array([0, 0]))
    assert loss == 1e4  # (0 + 20,000) / 2
    np.testing.assert_array_equal(ops.softmax_cross_entropy_backward(cache), [[0, 0, 0], [-0.5, 0.5, 0]])


def test_owens_network_gives_his_numbers():  # O, "Inference"
    x = np.array([[0.5, 0.9, -0.3]])
    hidden = np.array([[1, -2, 2], [2, 1, -4], [1, -1, 0.0]]).T
    output = np.array([[-3, 1, -3], [0, 1, 2.0]]).T
    z, _ = ops.dense_forward(x, hidden)
    np.testing.assert_allclose(z, [[-1.9, 3.1, -0.4]], rtol=1e-12)
    a = ops.sigmoid(z)
    np.testing.assert_array_equal(np.round(a, 2), [[0.13, 0.96, 0.40]])
    np.testing.assert_array_equal(np.round(ops.sigmoid(ops.dense_forward(a, output)[0]), 2), [[0.35, 0.85]])


def test_softplus_keeps_its_tail():
    z = np.array([-40.0, -100.0])  # 1 + e^-40 is 1 in float64, its logarithm must not be 0
    np.testing.assert_allclose(ops.softplus(z), np.exp(z), rtol=1e-12)


@on_each_backend
def test_relu_sends_nothing_back_at_zero(ops):  # the convention of K's kernel: in > 0
    for name in ("relu", "leaky_relu"):
        _, cache = getattr(ops, f"{name}_forward")(np.array([0.0, -0.0]))
        expected = 0.0 if name == "relu" else 0.01
        np.testing.assert_array_equal(getattr(ops, f"{name}_backward")(np.ones(2), cache), expected)


def test_booleans_are_numbers():
    np.testing.assert_array_equal(ops.sigmoid(np.array([True, False])), ops.sigmoid(np.array([1.0, 0.0])))


@pytest.mark.parametrize("loss", ops.LOSSES)
def test_a_backward_pass_can_be_repeated(loss):
    """No backward step may write into the cache, or the second call gives something else."""
    p = np.array([[0.2, 0.5, 0.3], [0.1, 0.1, 0.8]])
    target = np.zeros_like(p) if loss in ("half_squared_sum", "quadratic_cost") else np.array([0, 2])
    _, cache = getattr(ops, f"{loss}_forward")(p, target)
    first = getattr(ops, f"{loss}_backward")(cache).copy()
    np.testing.assert_array_equal(getattr(ops, f"{loss}_backward")(cache), first)


PROBABILITY_LOSSES = ("one_minus_probability", "expected_squared_distance")


@pytest.mark.parametrize("loss", PROBABILITY_LOSSES)
@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([2.0, 1.0, -1.0], r"row 1 of k sums to 2, its least value is -1; .*softmax\(k\)"),
        ([1.5, -0.25, -0.25], "sums to 1, its least value is -0.25"),
        ([20.0, 30.0, 50.0], "sums to 100"),
        ([0.2, 0.2, 0.2], "sums to 0.6"),
        ([np.nan, 0.5, 0.5], "sums to nan"),
        ([np.inf, 0.0, 0.0], "sums to inf"),
    ],
)
def test_what_is_no_row_of_probabilities_is_refused(loss, row, message):
    with pytest.raises(ValueError, match=message):
        getattr(ops, f"{loss}_forward")(np.array([[0.2, 0.5, 0.3], row]), [0, 2])


@pytest.mark.parametrize("loss", PROBABILITY_LOSSES)
@pytest.mark.parametrize("eps", [1e-6, 1e-4])
def test_probabilities_may_be_rounded_and_moved_by_a_gradient_check(loss, eps):
    forward, backward = getattr(ops, f"{loss}_forward"), getattr(ops, f"{loss}_backward")
    labels = np.array([0, 2])
    for k in (np.array([[0.2, 0.5, 0.3], [0.1, 0.1, 0.8]]), np.eye(3)[[0, 1]]):  # 0 - eps is below 0
        check_op_gradients(forward, backward, [k, labels], rng=np.random.default_rng(0), eps=eps)
        measured = numerical_gradient(lambda v: forward(v, labels)[0], k, eps=eps)
        np.testing.assert_allclose(measured, backward(forward(k, labels)[1]), atol=1e-8)
    forward(ops.softmax(np.random.default_rng(0).normal(size=(2, 1000)).astype(np.float32)), labels)
    forward(np.float32([[1 / 3] * 3] * 2).round(3), labels)
