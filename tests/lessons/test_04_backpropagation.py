"""Lesson 04: what must come out, in the library, in the lesson's own numbers and on its page."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from course_lib import checks, data
from course_lib import reference as ops

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
NAME = "04_backpropagation"


def test_the_gradient_of_the_slide_is_minus_0_0163(lesson, printed):
    h = ops.sigmoid(np.array([0.5, 0.9, -0.3]) @ np.array([1.0, -2, 2]))
    o = lesson["output"][0]
    gradient = h * (o - 0.9) * o * (1 - o)
    assert lesson["dJ_dw"] == pytest.approx(gradient, rel=1e-12)
    assert round(gradient, 4) == -0.0163
    assert "= -0.0163" in printed


def test_all_digits_and_the_slides_digits_differ_in_the_fifth_place(lesson, printed):
    assert round(lesson["dJ_dw"], 5) == -0.01631
    assert round(0.13 * (0.35 - 0.9) * 0.35 * (1 - 0.35), 5) == -0.01627
    assert lesson["measured"] == pytest.approx(lesson["dJ_dw"], rel=1e-6)
    assert "slide's digits -0.01627, with all digits -0.01631" in printed


def test_matrix_loop_and_measured_gradients_agree(lesson):
    X, Y, W, W2 = (lesson[name] for name in ("X", "Y", "W", "W2"))
    values = lesson["forward"](X, W, W2)
    dW, dW2 = lesson["backward"](X, Y, W2, *values)
    assert (dW.shape, dW2.shape) == (W.shape, W2.shape)
    for ours, loops in zip((dW, dW2), lesson["backward_loops"](X, Y, W2, *values), strict=True):
        np.testing.assert_allclose(ours, loops, rtol=1e-12)
    measured = checks.numerical_gradient(lambda w: lesson["loss"](w, W2), W)
    np.testing.assert_allclose(dW, measured, rtol=1e-6, atol=1e-9)


def test_the_four_sizes_are_different_so_that_no_wrong_shape_can_hide(lesson):
    sizes = {*lesson["X"].shape, *lesson["W2"].shape}
    assert len(sizes) == 4


@pytest.mark.parametrize("biases", [0.0, 0.7])
def test_bp1_to_bp4_added_over_samples_are_the_matrix_form_with_biases(lesson, biases):
    X, Y, W, W2 = (lesson[name] for name in ("X", "Y", "W", "W2"))
    b, b2 = np.full(3, biases), np.full(1, -biases)
    _, batch = lesson["gradients"](X, Y, W, b, W2, b2)
    one = [lesson["bp_one_sample"](X[i], Y[i], W.T, b, W2.T, b2) for i in range(len(X))]
    for ours, theirs in zip(batch, (sum(parts) for parts in zip(*one, strict=True)), strict=True):
        np.testing.assert_allclose(ours, theirs.T, rtol=1e-12)


@pytest.mark.parametrize("name", ["xor", "parity3"])
def test_an_mlp_gets_every_row_right(lesson, name):
    x, y = data.truth_table(name)
    assert np.abs(lesson["predict"](lesson["trained"][name], x) - y).max() < 0.1


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_training_has_margin_other_seeds_succeed_too(lesson, seed):
    for name in ("xor", "parity3"):
        x, y = data.truth_table(name)
        params = lesson["train"](x, y[:, None], 8, 2.0, 3000, np.random.default_rng(seed))
        assert np.abs(lesson["predict"](params, x) - y).max() < 0.1


def test_equal_weights_stay_equal_so_xor_is_not_learned():
    """The first thing to try: hidden neurons that start equal get equal gradients."""
    x, y = data.truth_table("xor")
    w, b, w2, b2 = np.ones((2, 8)), np.zeros(8), np.ones((8, 1)), np.zeros(1)
    for _ in range(300):
        z, c1 = ops.dense_forward(x, w, b)
        a, c2 = ops.sigmoid_forward(z)
        g, c3 = ops.dense_forward(a, w2, b2)
        o, c4 = ops.sigmoid_forward(g)
        da, dw2, db2 = ops.dense_backward(ops.sigmoid_backward(o - y[:, None], c4), c3)
        _, dw, db = ops.dense_backward(ops.sigmoid_backward(da, c2), c1)
        ops.sgd_step((w, b, w2, b2), (dw, db, dw2, db2), 2.0)
    np.testing.assert_allclose(w, w[:, :1] * np.ones((1, 8)), rtol=1e-9)
    assert list((o.ravel() > 0.5).astype(int)) != list(y)


class _Counting(np.ndarray):
    """An array that counts the multiplications of the matrix products it takes part in."""

    count = 0

    def __matmul__(self, other):
        return self._product(self, other)

    def __rmatmul__(self, other):
        return self._product(other, self)

    @staticmethod
    def _product(left, right):
        _Counting.count += left.shape[0] * left.shape[1] * right.shape[1]
        return (np.asarray(left) @ np.asarray(right)).view(_Counting)


def _counted(work):
    _Counting.count = 0
    result = work()
    return _Counting.count, result


def test_the_counts_of_the_page_are_those_of_an_instrumented_product(lesson):
    """The lesson counts by shapes; here the lesson's own functions run on arrays that count."""
    x, y, w, w2 = (lesson[n] for n in ("Xd", "Yd", "Wd", "W2d"))
    x, w, w2 = (v.view(_Counting) for v in (x, w, w2))
    forward, (z, a, g, o) = _counted(lambda: lesson["forward"](x, w, w2))
    a, f_g, f_z = a.view(_Counting), np.asarray(ops.sigmoid_prime(g)), np.asarray(ops.sigmoid_prime(z))

    def backward():
        delta1 = (-(y - np.asarray(o)) * f_g).view(_Counting)
        delta2 = (np.asarray(delta1 @ w2.T) * f_z).view(_Counting)
        return a.T @ delta1, x.T @ delta2, delta2

    needed, (_, dw, delta2) = _counted(backward)
    dx_cost, _ = _counted(lambda: delta2 @ w.T)
    np.testing.assert_allclose(dw, lesson["backward"](lesson["Xd"], y, np.asarray(w2), z, a, g, o)[0], rtol=1e-9)
    assert (forward, needed, needed + dx_cost) == (lesson["one_forward"], lesson["needed"], lesson["every"])
    assert needed + dx_cost == 2 * forward


def test_the_backward_pass_costs_twice_the_forward_pass_with_dx_and_1_01_times_without(lesson, printed):
    assert lesson["every"] == 2 * lesson["one_forward"]
    assert round(lesson["needed"] / lesson["one_forward"], 2) == 1.01
    assert "backward / forward = 1.01, with dX 2.00" in printed


@pytest.mark.parametrize(("layers", "ratio"), [(1, 1.0), (2, 1.5), (10, 1.9)])
def test_equal_layers_cost_2l_minus_1_over_l_without_dx(layers, ratio):
    products = [64 * d * m for d, m in pairwise([128] * (layers + 1))]
    assert (2 * sum(products) - products[0]) / sum(products) == pytest.approx(ratio)
    assert (2 * layers - 1) / layers == pytest.approx(ratio)


def test_the_factors_printed_by_hand_give_the_printed_result(lesson, printed):
    """A reader who multiplies the printed numbers gets the printed product."""
    factors = [round(float(lesson[name]), 4) for name in ("error", "slope", "incoming")]
    assert "{:.4f} * {:.4f} * {:.4f} =".format(*factors) in printed
    assert round(float(np.prod(factors)), 4) == round(float(lesson["dJ_dw"]), 4)


def test_elementwise_steps_are_several_hundred_times_fewer(lesson):
    per_pass = 64 * (128 + 10)
    assert lesson["one_forward"] / per_pass > 500


def test_finite_differences_cost_a_hundred_thousand_forward_passes(lesson, printed):
    parameters = sum(d * m + m for d, m in pairwise((784, 128, 10)))
    assert parameters == lesson["parameters"] == 101_770
    assert lesson["costs"]["one-sided differences"] == 101_771 * lesson["one_forward"]
    assert lesson["costs"]["central differences"] == 203_540 * lesson["one_forward"]
    assert lesson["costs"]["forward + backward"] == lesson["one_forward"] + lesson["needed"]
    assert lesson["costs"]["the same with dX"] == 3 * lesson["one_forward"]
    for multiple in ("2.01", "3.00", "101,771.00", "203,540.00"):
        assert f" {multiple} forward passes" in printed


def test_a_plain_sum_passes_three_wrong_softmax_backwards_and_a_random_one_rejects_them(lesson):
    assert len(lesson["wrong"]) == 3
    for seed in range(20):
        z = 2 * np.random.default_rng(seed).standard_normal((3, 4))
        for backward in lesson["wrong"].values():
            np.testing.assert_allclose(backward(np.ones_like(z), ops.softmax(z)), 0, atol=1e-14)
            lesson["plain_sum_check"](backward)
            with pytest.raises(checks.GradientMismatch):
                checks.check_op_gradients(ops.softmax_forward, backward, [z], rng=np.random.default_rng(seed))
        checks.check_op_gradients(ops.softmax_forward, ops.softmax_backward, [z], rng=np.random.default_rng(seed))


def test_every_operation_is_among_the_checked_ones(lesson, printed):
    modules = (ops.activations, ops.probabilities, ops.dense, ops.losses)  # those of lessons 01-06
    backwards = {n.removesuffix("_backward") for m in modules for n in vars(m) if n.endswith("_backward")}
    assert set(lesson["cases"]) == backwards
    assert f"{len(backwards)} operations checked" in printed


def test_erratum_6_the_other_order_is_another_number_or_no_product(lesson, printed):
    with pytest.raises(ValueError, match="matmul"):
        (lesson["delta1"] @ lesson["W2"].T) @ ops.sigmoid_prime(lesson["Z"])
    assert np.abs(lesson["left_to_right"] - lesson["truth"]).max() > 0.01
    np.testing.assert_allclose(lesson["right_order"], lesson["truth"], rtol=1e-6, atol=1e-9)
    assert "left to right" in printed


def test_erratum_6_the_step_is_minus_the_gradient(lesson, printed):
    assert lesson["minus"] < lesson["before"] < lesson["plus"]
    assert "after minus" in printed


def test_stepping_w2_before_delta2_is_not_the_gradient(lesson):
    assert not np.allclose(lesson["too_late"], lesson["dW"], rtol=1e-3)
