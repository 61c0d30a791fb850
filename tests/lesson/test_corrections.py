"""How often a perceptron corrects itself, and the bound: counted, compared, refused where it says nothing."""

import numpy as np
import pytest

from course_lib import data
from course_lib.lesson import corrections, lines
from course_lib.reference import add_bias_input, perceptron_fit, perceptron_predict


def clouds(n, gap, rng):
    """Return two groups of n points each in three dimensions, `gap` apart along the first."""
    x = rng.normal(size=(2 * n, 3))
    y = np.repeat([0, 1], n)
    x[:, 0] = np.where(y == 1, 1, -1) * (gap / 2 + np.abs(x[:, 0]))
    return x, y


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("gap", [0.1, 0.5, 2.0])
def test_no_order_needs_more_corrections_than_the_bound(seed, gap):
    rng = np.random.default_rng(seed)
    x, y = clouds(15, gap, rng)
    u = corrections.separator(x, y)
    _, _, most = corrections.bound(x, y, u)
    for run in lines.random_orders(x, y, 5, rng, epochs=5000):
        assert run.converged
        assert 0 < corrections.made(run) <= most


@pytest.mark.parametrize("name", ["nand", "and", "or"])
def test_the_separator_has_nearly_the_widest_margin_and_length_1(name):
    x, y = data.truth_table(name)
    u = corrections.separator(x, y)
    np.testing.assert_array_equal(perceptron_predict(x, u), y)
    assert np.linalg.norm(u) == pytest.approx(1)
    grid = np.random.default_rng(0).normal(size=(20_000, 3))
    grid /= np.linalg.norm(grid, axis=1, keepdims=True)
    widest = (corrections.signed(x, y) @ grid.T).min(axis=0).max()
    assert corrections.bound(x, y, u)[1] >= 0.99 * widest


def test_the_bound_of_nand_by_hand_does_not_depend_on_the_length_of_u():
    x, y = data.truth_table("nand")
    for scale in (0.1, 1, 7):
        found = corrections.bound(x, y, scale * np.array([-2.0, -2.0, 3.0]))
        np.testing.assert_allclose(found, [np.sqrt(3), 1 / np.sqrt(17), 51])


def test_the_bound_grows_with_the_square_of_a_narrower_gap():
    x = np.array([[1.0], [-1.0]])
    y = np.array([1, 0])
    wide, narrow = (corrections.bound(x * g, y, np.array([1.0, 0.0])) for g in (1, 0.1))
    assert wide[1] / narrow[1] == pytest.approx(10)
    assert narrow[2] / wide[2] == pytest.approx(100 * (1.01 / 2))  # R^2 is 1 + g^2


def test_each_correction_moves_ahead_by_the_margin_and_lengthens_the_square_by_r_squared_at_most():
    x, y = clouds(20, 0.3, np.random.default_rng(3))
    u = corrections.separator(x, y)
    longest, margin, _ = corrections.bound(x, y, u)
    fit = perceptron_fit(x, y, epochs=5000)
    along, lengths = corrections.progress(fit, u)
    assert len(along) == len(lengths) == corrections.made(fit) + 1
    assert (along[0], lengths[0]) == (0, 0)
    assert np.diff(along).min() >= margin - 1e-12
    assert np.diff(lengths**2).max() <= longest**2 + 1e-9


def test_what_is_added_is_the_sample_or_its_negative_with_the_bias_input():
    x, y = data.truth_table("xor")
    moves = corrections.signed(x, y)
    np.testing.assert_array_equal(moves, add_bias_input(x) * np.array([[-1], [1], [1], [-1]]))


def test_where_no_line_separates_there_is_neither_a_separator_nor_a_bound():
    x, y = data.truth_table("xor")
    with pytest.raises(ValueError, match="no weights separate the two groups after 50 steps"):
        corrections.separator(x, y, steps=50)
    with pytest.raises(ValueError, match="smallest score on its own side is -1; it must be above 0"):
        corrections.bound(x, y, np.array([0.0, 0.0, 1.0]))
    nand = data.truth_table("nand")
    with pytest.raises(ValueError, match="smallest score on its own side is 0"):
        corrections.bound(*nand, np.array([-2.0, -1.0, 2.0]))


def test_a_crowd_keeps_the_gap_and_needs_no_more_than_the_bound():
    rng = np.random.default_rng(2)
    x, y = data.blobs(3000, centers=[(0, 0), (3, 0)], spread=0.5, rng=rng)
    line = np.array([2.0, 0.0, -3.0])  # x1 = 1.5
    apart = np.abs(x[:, 0] - 1.5) >= 0.4
    apart &= (x[:, 0] > 1.5) == y
    _, _, most = corrections.bound(x[apart], y[apart], line)
    rows = corrections.in_crowds(x, y, line, (20, 500), rng, gap=0.4, runs=4)
    assert [n for n, _, _ in rows] == [20, 500]
    assert all(0 < mean <= highest <= most for _, mean, highest in rows)
    with pytest.raises(ValueError, match=f"{apart.sum()} samples leave the gap free, 3000 are asked for"):
        corrections.in_crowds(x, y, line, (3000,), rng, gap=0.4)
