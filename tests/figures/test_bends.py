"""Curves met bend by bend, and rings fenced in: what the networks put out is what the pictures say."""

import numpy as np
import pytest

from course_lib import figures
from course_lib.figures import bends
from course_lib.reference import relu

X = np.linspace(0, 1, bends.GRID + 1)
VALUES = {name: f(X) for name, f in bends.CURVES.items()}


@pytest.mark.parametrize("name", VALUES)
def test_the_network_meets_the_curve_at_both_ends_and_at_each_bend_and_is_straight_between(name):
    values, rng = VALUES[name], np.random.default_rng(0)
    for n in (0, 1, 2, 5, 11):
        places = rng.choice(np.arange(1, bends.GRID), n, replace=False)
        knots = np.array([0, *sorted(places), bends.GRID])
        out = bends.drawn(values, places)
        np.testing.assert_allclose(out, np.interp(X, X[knots], values[knots]), atol=1e-12)
        b1, w2, b2 = bends.network_through(values, places)
        np.testing.assert_allclose(relu(X[:, None] + b1) @ w2 + b2, out)
        assert len(b1) == len(w2) == n + 1


@pytest.mark.parametrize("name", VALUES)
def test_bends_where_it_misses_most_leave_less_than_a_hundredth(name):
    misses = [bends.worst_place(VALUES[name], bends.bent(VALUES[name], n))[1] for n in (4, 8, bends.MOST)]
    assert misses[0] > misses[1] > misses[2]
    assert misses[2] < 0.01


def test_the_worst_place_is_where_the_distance_is_largest():
    k, miss = bends.worst_place(VALUES["a wave"], [])
    assert k == bends.GRID // 4  # the top of the wave, above the straight line from end to end
    assert miss == pytest.approx(0.38)


def test_the_static_picture_states_the_misses():
    made = figures.bend_by_bend("a wave")
    assert "1, 2, 4 and 8 ReLU neurons" in made.static.alt
    misses = [bends.worst_place(VALUES["a wave"], bends.bent(VALUES["a wave"], n))[1] for n in (1, 2, 4, 8)]
    assert ", ".join(f"{m:.2f}" for m in misses) in made.static.alt
    assert made.html == figures.bend_by_bend("a wave").html


@pytest.mark.parametrize("places", [[0], [bends.GRID], [5, 5], [-1]])
def test_a_bend_that_cannot_be_is_refused(places):
    with pytest.raises(ValueError, match="they must differ, from 1 to 199"):
        bends.network_through(VALUES["a hill"], places)


def test_an_unknown_curve_is_refused():
    with pytest.raises(ValueError, match="no curve 'a cliff'; there are a wave, a hill, a jump"):
        figures.bend_by_bend("a cliff")


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_a_fence_leaves_1_inside_of_all_its_lines_and_falls_outside(n):
    rng = np.random.default_rng(n)
    x = rng.uniform(-3, 3, (500, 2))
    w1, b1, w2, b2 = bends.fence(n)
    np.testing.assert_allclose(np.linalg.norm(w1, axis=0), 1)
    inside = (x @ w1 + b1 <= 0).all(axis=1)
    out = bends.fence_output(x, n)
    np.testing.assert_array_equal(out[inside], 1)
    assert (out[~inside] < 1).all()
    np.testing.assert_allclose(out, relu(x @ w1 + b1) @ w2 + b2)


def test_five_folds_separate_the_ring_from_the_disc_and_three_do_not():
    x, y = bends.ring(200, np.random.default_rng(5))
    radius = np.hypot(*x.T)
    assert radius[y == 1].max() <= 1 < 1.6 <= radius[y == 0].min()
    right = {n: np.mean((bends.fence_output(x, n) > 0.5) == y) for n in (1, 3, 5)}
    assert right[1] < right[3] < 0.95
    assert right[5] == 1
    assert len(bends.fences(x, y).axes) == 4
