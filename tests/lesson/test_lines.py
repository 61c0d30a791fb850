"""What lesson 01 asks of runs and lines: cycles, orders, grids, truth tables that fit, the widest line."""


import numpy as np
import pytest

from course_lib import data
from course_lib.lesson import lines, two_digits
from course_lib.reference import add_bias_input, perceptron_fit, perceptron_predict


def margin(x, w):
    return np.min(np.abs(add_bias_input(x) @ w)) / np.linalg.norm(w[:-1])


@pytest.mark.parametrize(("table", "seed", "length"), [("parity3", None, 1), ("parity3", 6, 3), ("xor", None, 1)])
def test_a_cycle_has_the_length_after_which_the_weights_return(table, seed, length):
    x, y = data.truth_table(table)
    order = np.arange(len(y)) if seed is None else np.random.default_rng(seed).permutation(len(y))
    fit = perceptron_fit(x, y, order=order)
    entered, found = lines.cycle_of(fit)
    assert found == length
    states = [tuple(step.w_after) for step in fit.steps[len(y) - 1 :: len(y)]]
    assert states[entered - 1] == states[entered - 1 + length]
    assert len(set(states[: entered - 1 + length])) == entered - 1 + length, "an earlier return"


def test_a_run_whose_weights_do_not_come_back_has_no_cycle():
    assert lines.cycle_of(perceptron_fit(*data.truth_table("xor"), epochs=2)) is None


def test_all_orders_are_different_and_refused_where_they_are_too_many():
    x, y = data.truth_table("nand")
    shown = {tuple(step.index for step in run.steps[:4]) for run in lines.all_orders(x, y)}
    assert len(shown) == 24
    with pytest.raises(ValueError, match="7 samples have too many orders"):
        lines.all_orders(np.eye(7), np.ones(7, int))


def test_random_orders_are_the_generators():
    x, y = data.truth_table("nand")
    runs = lines.random_orders(x, y, 5, np.random.default_rng(3))
    rng = np.random.default_rng(3)
    for run in runs:
        np.testing.assert_array_equal([step.index for step in run.steps[:4]], rng.permutation(4))
    with pytest.raises(ValueError, match="n is 0"):
        lines.random_orders(x, y, 0, rng)


@pytest.mark.parametrize("seed", range(8))
def test_no_line_of_many_directions_has_a_wider_margin_than_the_widest(seed):
    rng = np.random.default_rng(seed)
    x, y = data.blobs(12, centers=[(0, 0), (3, 1)], spread=0.5, rng=rng)
    widest = lines.widest_line(x, y)
    np.testing.assert_array_equal(perceptron_predict(x, widest), y)
    assert np.hypot(*widest[:2]) == pytest.approx(1)
    angles = np.linspace(0, 2 * np.pi, 7201)
    normals = np.stack([np.cos(angles), np.sin(angles)])
    best = ((x[y == 1] @ normals).min(axis=0) - (x[y == 0] @ normals).max(axis=0)).max() / 2
    assert best <= margin(x, widest) + 1e-12
    assert margin(x, widest) - best < 1e-3


def test_the_widest_line_of_nand_is_the_one_between_the_samples():
    w = lines.widest_line(*data.truth_table("nand"))
    np.testing.assert_allclose(w / -w[0], [-1, -1, 1.5], atol=1e-12)


@pytest.mark.parametrize(("x", "y", "says"), [
    (data.truth_table("xor")[0], [0, 1, 1, 0], "no line separates"),
    (np.array([[0.0, 0], [0, 0]]), [0, 1], "no line separates"),
    (np.eye(2), [1, 1], "both labels"),
    (np.eye(3), [0, 1, 1], "two inputs"),
])  # fmt: skip
def test_what_has_no_widest_line_is_refused(x, y, says):
    with pytest.raises(ValueError, match=says):
        lines.widest_line(x, np.array(y))


def test_two_digits_are_black_and_white_and_labelled():
    digits, pair = data.load_digits(), two_digits(4, 9)
    assert (pair.x.shape, pair.x_new.shape, pair.grey.shape) == ((800, 784), (200, 784), (200, 28, 28))
    assert set(np.unique(pair.x)) == set(np.unique(pair.x_new)) == {0.0, 1.0}
    assert (pair.y.sum(), pair.y_new.sum()) == (400, 100)
    np.testing.assert_array_equal(pair.y, (digits.y_train[np.isin(digits.y_train, (4, 9))] == 9).astype(int))
    np.testing.assert_array_equal(pair.x_new, pair.grey.reshape(200, 784) >= 0.5)
    i = np.flatnonzero(pair.y_new == 1)[0]
    assert pair.said(i) == "a 9, read as a 4"
    assert two_digits(8, 3).said(np.flatnonzero(two_digits(8, 3).y_new == 0)[0]) == "an 8, read as a 3"


@pytest.mark.parametrize("names", [(4, 4), (4, 10), (-1, 3)])
def test_digits_that_are_no_pair_are_refused(names):
    with pytest.raises(ValueError, match="two different ones of 0"):
        two_digits(*names)


def test_the_way_to_the_nearest_of_the_same_label_is_the_median_and_ignores_the_other_label():
    x, y = np.array([[0.0, 0.0], [10.0, 0.0], [3.0, 4.0]]), np.array([0, 1, 0])
    new, labels = np.array([[9.0, 0.0], [10.0, 2.0], [0.0, 0.0]]), np.array([0, 1, 1])
    # nearest of the same label: (3, 4) at sqrt(52); (10, 0) at 2; (10, 0) at 10
    ways = lines.to_the_nearest(new, labels, x, y)
    assert np.median(ways) == pytest.approx(np.sqrt(52))
    level = lines.to_the_nearest(new, labels, x, y, towards=np.array([0.0, 2.0, 5.0]))  # a level cut: rises count
    upright = lines.to_the_nearest(new, labels, x, y, towards=np.array([-3.0, 0.0, 1.0]))
    np.testing.assert_allclose(np.hypot(level, upright), ways)
    np.testing.assert_allclose(level, [-4, -2, 0])  # label 0 is below the cut, label 1 above: both steps lead away
    np.testing.assert_allclose(upright, [-6, 0, -10])  # label 0 is to the right of the cut, label 1 to its left
    with pytest.raises(ValueError, match="known samples of every label"):
        lines.to_the_nearest(new, labels, x[[0, 2]], y[[0, 2]])
    with pytest.raises(ValueError, match="new samples have 1 inputs"):
        lines.to_the_nearest(new[:, :1], labels, x, y)


def test_a_step_that_leads_to_the_side_of_the_other_label_is_positive():
    x, y = np.array([[0.0, 0.0], [0.0, 4.0]]), np.array([0, 1])
    new, labels = np.array([[5.0, 1.5], [5.0, 3.0], [0.0, 6.0]]), np.array([0, 1, 1])
    steps = lines.to_the_nearest(new, labels, x, y, towards=np.array([0.0, 3.0, -6.0]))  # the cut is x2 = 2
    np.testing.assert_allclose(steps, [1.5, 1, -2])
