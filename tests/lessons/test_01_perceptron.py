"""What lesson 01 says, proved from the library, and the numbers that its built page prints."""

from itertools import permutations, product

import numpy as np
import pytest

from course_lib import data
from course_lib import reference as ops


def cycle(fit, n):
    """Epoch, counted from 1, whose last weights are the first to come back, and after how many epochs they do."""
    first_seen = {}
    for epoch, step in enumerate(fit.steps[n - 1 :: n], start=1):
        state = tuple(step.w_after)
        if state in first_seen:
            return first_seen[state], epoch - first_seen[state]
        first_seen[state] = epoch
    return None


def right_answers(x, y, values):
    """The most samples that any weights made of `values` answer rightly."""
    grid = np.array(list(product(values, repeat=x.shape[1] + 1)))
    return np.max(np.sum((ops.add_bias_input(x) @ grid.T >= 0) == y[:, None], axis=0))


@pytest.mark.parametrize("name", ["nand", "and", "or"])
def test_every_order_learns_the_separable_tables_exactly(name):
    x, y = data.truth_table(name)
    for order in permutations(range(4)):
        fit = ops.perceptron_fit(x, y, order=order)
        assert fit.converged
        np.testing.assert_array_equal(ops.perceptron_predict(x, fit.w), y)


def test_nand_by_hand():
    x, y = data.truth_table("nand")
    fit = ops.perceptron_fit(x, y)
    np.testing.assert_array_equal([s.y_hat for s in fit.steps[:4]], [1, 1, 1, 1])
    np.testing.assert_array_equal(fit.steps[3].w_after, [-1, -1, -1])
    np.testing.assert_array_equal(fit.w, [-2, -1, 2])
    assert fit.epochs == 6


def test_orders_end_at_two_equally_right_lines_one_of_them_with_margin_zero():
    x, y = data.truth_table("nand")
    ends = [tuple(ops.perceptron_fit(x, y, order=order).w) for order in permutations(range(4))]
    assert sorted(set(ends)) == [(-2, -1, 2), (-1, -2, 2)]
    assert ends.count((-2, -1, 2)) == 12
    assert np.min(np.abs(ops.add_bias_input(x) @ [-2, -1, 2])) == 0
    between = np.array([-1, -1, 1.5])
    np.testing.assert_array_equal(ops.perceptron_predict(x, between), y)
    assert np.min(np.abs(ops.add_bias_input(x) @ between)) / np.sqrt(2) == pytest.approx(0.354, abs=5e-4)


def test_a_correction_moves_the_score_of_its_sample_by_lr_times_x_dot_x():
    rng = np.random.default_rng(0)
    x, y = data.blobs(30, centers=[(1, 1), (2, 2)], spread=0.6, rng=rng)
    fit = ops.perceptron_fit(x, y, lr=0.7, epochs=3)
    inputs = ops.add_bias_input(x)
    for step in fit.steps:
        sample = inputs[step.index]
        change = (step.w_after - step.w_before) @ sample
        np.testing.assert_allclose(change, (y[step.index] - step.y_hat) * 0.7 * (sample @ sample), atol=1e-12)


def test_xor_is_never_learned_and_its_weights_cycle_after_one_epoch_in_every_order():
    x, y = data.truth_table("xor")
    for order in permutations(range(4)):
        fit = ops.perceptron_fit(x, y, order=order, epochs=100)
        assert not fit.converged
        assert set(fit.mistakes_per_epoch[2:]) == {4}
        assert cycle(fit, 4)[1] == 1
    assert right_answers(x, y, np.linspace(-2, 2, 9)) == 3


def test_on_xor_the_perceptron_never_holds_the_best_line():
    x, y = data.truth_table("xor")
    fit = ops.perceptron_fit(x, y, epochs=100)
    assert max(np.sum(ops.perceptron_predict(x, step.w_after) == y) for step in fit.steps) == 2


def test_parity_contains_xor_and_is_never_learned():
    x, y = data.truth_table("parity3")
    assert ["".join(map(str, row)) for row in x[y == 1].astype(int).tolist()] == ["001", "010", "100", "111"]
    x_xor, y_xor = data.truth_table("xor")
    np.testing.assert_array_equal(x[x[:, 2] == 0][:, :2], x_xor)
    np.testing.assert_array_equal(y[x[:, 2] == 0], y_xor)
    lengths = []
    for order in (np.arange(8), np.random.default_rng(6).permutation(8)):
        fit = ops.perceptron_fit(x, y, order=order)
        assert not fit.converged
        lengths.append(cycle(fit, 8)[1])
    assert lengths == [1, 3]


def test_without_the_bias_input_nand_is_impossible():
    x, y = data.truth_table("nand")
    fit = ops.perceptron_fit(x, y, bias=False, epochs=100)
    assert not fit.converged
    assert all(step.w_after[2] == 0 for step in fit.steps)
    assert fit.mistakes_per_epoch[-1] == 3  # at the moment each is shown
    assert np.sum(ops.perceptron_predict(x, fit.w) != y) == 2  # with the last weights
    assert np.max([np.sum(((x @ w) >= 0) == y) for w in product(np.linspace(-2, 2, 9), repeat=2)]) == 3


def test_descent_ends_at_the_closed_form():
    rng = np.random.default_rng(1)
    x, y = data.line(30, slope=2, intercept=-1, noise=0.4, rng=rng)
    w, b = ops.linear_regression_fit(x, y)
    w_steps, b_steps, history = ops.linear_regression_descend(x, y, lr=0.5, steps=200)
    np.testing.assert_allclose([*w_steps, b_steps], [*w, b], rtol=1e-6)
    assert np.all(np.diff(history) <= 1e-12)
    w, b = ops.linear_regression_fit(np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 2.0, 1.0]))
    np.testing.assert_allclose([*w, b], [0.5, 0.5])


def test_the_slide_that_drops_the_bias_changes_an_answer():
    x, y = data.truth_table("nand")
    w = ops.perceptron_fit(x, y).w
    np.testing.assert_array_equal(ops.perceptron_predict(x, w), y)
    assert np.any((x @ w[:2] >= 0) != y)


@pytest.mark.parametrize("line", [
    "2^8192 rows: a number of 2467 digits",
    "weights [-2. -1.  2.]  epochs 6",
    "nand  weights [-2. -1.  2.]  answers [1 1 1 0]  labels [1 1 1 0]",
    "and   weights [ 2.  1. -3.]  answers [0 0 0 1]  labels [0 0 0 1]",
    "or    weights [ 1.  1. -1.]  answers [0 1 1 1]  labels [0 1 1 1]",
    "12 orders end at (-2.0, -1.0, 2.0)",
    "margin of the learned line:      0.000",
    "worst order 90.2%, best order 99.4%",
    "best of 729 lines: 3 of 4 right",
    "best of the 400 that the perceptron held: 2 of 4 right",
    "margins: worst order 0.05, best order 0.51",
    "epoch 2  weights at its end [-1.  0.  0.]  mistakes 3",
    "XOR: cycle entered in epoch 2, length 1 epoch = 4 samples",
    "cycle of 3 epoch(s), last mistakes [6, 4, 6]",
    "answers without bias [1 0 0 0]",
])
def test_the_page_prints(printed, line):
    assert line in printed
