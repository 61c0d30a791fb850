"""Linear regression and the perceptron: known answers, limits, and clear errors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib import data
from course_lib import reference as ops


@settings(max_examples=30, deadline=None)
@given(n=st.integers(6, 40), d=st.integers(1, 5), seed=st.integers(0, 999))
def test_closed_form_finds_the_plane_that_made_the_data(n, d, seed):
    rng = np.random.default_rng(seed)
    x, w, b = rng.standard_normal((n + d, d)), rng.standard_normal(d), rng.standard_normal()
    fitted_w, fitted_b = ops.linear_regression_fit(x, x @ w + b)
    np.testing.assert_allclose(fitted_w, w, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(fitted_b, b, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("d", [1, 3])
def test_descent_ends_where_the_closed_form_is(d):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((50, d))
    y = x @ np.arange(1.0, d + 1) - 0.5 + 0.3 * rng.standard_normal(50)
    w, b, history = ops.linear_regression_descend(x, y, lr=0.2, steps=500)
    closed_w, closed_b = ops.linear_regression_fit(x, y)
    np.testing.assert_allclose(w, closed_w, rtol=1e-9)
    np.testing.assert_allclose(b, closed_b, rtol=1e-9)
    assert history.shape == (501,)
    assert (np.diff(history) <= 1e-15).all()
    np.testing.assert_allclose(history[-1], np.mean((ops.linear_regression_predict(x, w, b) - y) ** 2) / 2)


def test_descent_starts_where_it_is_told_and_keeps_the_start():
    w0 = np.array([2.0])
    w, b, history = ops.linear_regression_descend([[1.0]], [1.0], 0.1, 0, w=w0, b=1.0)
    assert (w[0], b, len(history), w0[0]) == (2.0, 1.0, 1, 2.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ops.linear_regression_fit(np.ones((3, 1)), np.ones(2)), "one y for each row"),
        (lambda: ops.linear_regression_fit(np.ones((0, 1)), np.ones(0)), "the batch is empty"),
        (lambda: ops.linear_regression_predict(np.ones((3, 2)), np.ones(3), 0), "one weight for each column"),
        (lambda: ops.linear_regression_descend(np.ones((3, 2)), np.ones(3), 0.1, 1, w=np.ones(3)), "one weight"),
        (lambda: ops.linear_regression_descend(np.ones((3, 2)), np.ones(3), np.inf, 1), "lr is inf"),
        (lambda: ops.linear_regression_descend(np.ones((3, 2)), np.ones(3), 0.1, -1), "steps is -1"),
    ],
)
def test_regression_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("name", ["and", "or", "nand"])
@pytest.mark.parametrize("seed", range(5))
def test_the_perceptron_learns_every_separable_table_in_any_order(name, seed):  # K
    x, y = data.truth_table(name)
    fit = ops.perceptron_fit(x, y, order=np.random.default_rng(seed))
    assert fit.converged
    assert fit.mistakes_per_epoch[-1] == 0
    np.testing.assert_array_equal(ops.perceptron_predict(x, fit.w), y)


@pytest.mark.parametrize("name", ["xor", "parity3"])
@pytest.mark.parametrize("lr", [1.0, 0.25])
def test_it_never_learns_xor_or_parity(name, lr):  # K, H
    x, y = data.truth_table(name)
    fit = ops.perceptron_fit(x, y, lr=lr, epochs=300)
    assert not fit.converged
    assert min(fit.mistakes_per_epoch) >= 1
    assert fit.epochs == 300


def test_each_step_is_the_lectures_rule():
    x, y = data.truth_table("nand")
    fit = ops.perceptron_fit(x, y, lr=0.5)
    inputs, w = ops.add_bias_input(x), np.zeros(3)
    for step in fit.steps:
        np.testing.assert_array_equal(step.w_before, w)
        assert step.y_hat == int(inputs[step.index] @ w >= 0)
        w = w + (y[step.index] - step.y_hat) * 0.5 * inputs[step.index]
        np.testing.assert_array_equal(step.w_after, w)
    np.testing.assert_array_equal(fit.w, w)
    assert len(fit.steps) == 4 * fit.epochs


def test_without_a_bias_nand_is_impossible():
    x, y = data.truth_table("nand")
    fit = ops.perceptron_fit(x, y, bias=False, epochs=200)
    assert not fit.converged
    assert fit.w[-1] == 0


def test_a_fixed_order_is_followed_and_the_start_is_kept():
    x, y = data.truth_table("and")
    w0 = np.array([1.0, 1.0, 1.0])
    fit = ops.perceptron_fit(x, y, order=[3, 1, 0, 2], w=w0, epochs=1)
    assert [s.index for s in fit.steps] == [3, 1, 0, 2]
    np.testing.assert_array_equal(w0, 1)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x, y: ops.perceptron_fit(x, y + 1), ValueError, "with 2 classes a label lies in 0 .. 1"),
        (lambda x, y: ops.perceptron_fit(x, y, order=[0, 0, 1, 2]), ValueError, "must hold each of 0 .. 3 once"),
        (lambda x, y: ops.perceptron_fit(x, y, w=np.ones(2)), ValueError, r"w must be \(3,\)"),
        (lambda x, y: ops.perceptron_fit(x, y, bias=False, w=[1.0, 1.0, 2.0]), ValueError, r"w\[-1\], the bias, is 2"),
        (lambda x, y: ops.perceptron_fit(x, y, order=[0.0, 1.0, 2.0, 3.0]), TypeError, "order has dtype float64"),
        (lambda x, y: ops.perceptron_fit(x[:2], y[:2], order=[False, True]), TypeError, "order has dtype bool"),
        (lambda x, y: ops.perceptron_fit(x, y, epochs=0), ValueError, "epochs is 0"),
        (lambda x, y: ops.perceptron_fit(x, y, epochs=2.5), TypeError, "epochs is 2.5"),
        (lambda x, y: ops.perceptron_fit(x[:0], y[:0]), ValueError, "the batch is empty"),
        (lambda x, y: ops.perceptron_predict(x, np.ones(2)), ValueError, r"w must be \(3,\)"),
    ],
)
def test_perceptron_errors(call, error, message):
    with pytest.raises(error, match=message):
        call(*data.truth_table("and"))


def test_descent_does_not_change_its_start():
    w0 = np.array([2.0, -1.0])
    ops.linear_regression_descend(np.eye(2), np.ones(2), 0.1, 5, w=w0)
    np.testing.assert_array_equal(w0, [2, -1])


def test_a_first_epoch_without_a_mistake_is_the_last():
    x, y = data.truth_table("and")
    fit = ops.perceptron_fit(x, y, w=np.array([1.0, 1.0, -1.5]))
    assert (fit.epochs, fit.converged, fit.mistakes_per_epoch) == (1, True, [0])


def test_a_generator_draws_a_new_order_every_epoch():
    x, y = data.truth_table("xor")
    fit = ops.perceptron_fit(x, y, order=np.random.default_rng(3), epochs=6)
    orders = {tuple(step.index for step in fit.steps[4 * e : 4 * e + 4]) for e in range(6)}
    assert all(sorted(order) == [0, 1, 2, 3] for order in orders)
    assert len(orders) > 1


@pytest.mark.parametrize("bad", [np.inf, np.nan])
def test_a_fit_with_a_value_that_is_no_number_names_its_row(bad):
    x = np.arange(6.0)[:, None]
    x[4, 0] = bad
    with pytest.raises(ValueError, match="row 4 of x holds NaN or infinity"):
        ops.linear_regression_fit(x, np.ones(6))


def test_without_a_bias_a_start_is_kept_and_the_answers_are_those_of_its_weights():
    x, y = data.truth_table("or")
    fit = ops.perceptron_fit(x, y, bias=False, w=np.array([2.0, -1.0, 0.0]), epochs=50)
    assert fit.w[-1] == 0
    assert not np.array_equal(fit.steps[0].w_before, np.zeros(3))
    assert fit.steps[-1].y_hat == ops.perceptron_predict(x, fit.steps[-1].w_before)[fit.steps[-1].index]


@pytest.mark.parametrize("b", ["1", None, [1.0, 2.0, 3.0], np.ones((3, 1)), 1j, True, [0.5]])
def test_a_bias_is_one_number(b):
    x = np.ones((3, 1))
    for call in (
        lambda: ops.linear_regression_predict(x, [1.0], b),
        lambda: ops.linear_regression_descend(x, np.ones(3), 0.1, 1, b=b),
    ):
        with pytest.raises(TypeError, match=r"b is .*; it must be one number"):
            call()


def test_a_bias_may_be_any_real_number():
    for b in (2, np.float32(2), np.int64(2), np.array(2.0)):
        np.testing.assert_array_equal(ops.linear_regression_predict([[1.0]], [1.0], b), [3])
