"""What lesson 03 promises: every fact of its syllabus row, its surprises and its errata, from its own numbers."""

import contextlib
import io
import runpy
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from course_lib import checks
from course_lib import reference as ops
from course_lib.figures.descent import EXTENT
from course_lib.figures.surfaces import (
    RAVINE,
    SURFACES,
    descend,
    ending,
    foothills_gradient,
    ravine_gradient,
    steps_along_gradient,
)

SCRIPT = Path(__file__).parents[2] / "notebooks" / "03_loss_and_gradient_descent.py"


@pytest.fixture(scope="module")
def lesson():
    """The names that the lesson's cells leave behind; its code runs once, as a plain script."""
    with contextlib.redirect_stdout(io.StringIO()):
        return runpy.run_path(str(SCRIPT))


def test_hand_example_loss_and_slope(lesson):
    assert lesson["loss"](1.0) == 5
    assert lesson["slope"](1.0) == -5
    assert lesson["loss"](2.0) == 2.5
    assert lesson["slope"](2.0) == 0


def test_gradient_by_hand_equals_numerical_gradient(lesson):
    X, y = lesson["X"], lesson["answers"]
    w = np.array([0.3, 0.1, -0.2])
    by_loops = lesson["gradient_by_loops"](X, y, w)
    measured = checks.numerical_gradient(lambda w: ops.half_squared_sum_forward(X @ w, y)[0], w)
    np.testing.assert_allclose(by_loops, measured, rtol=1e-6)
    np.testing.assert_allclose(by_loops, X.T @ (X @ w - y), rtol=1e-12)


def test_library_loops_and_measurement_are_one_gradient(lesson):
    by_loops = lesson["gradient_by_loops"](lesson["X"], lesson["answers"], np.array([0.3, 0.1, -0.2]))
    np.testing.assert_allclose(lesson["dw"], by_loops, rtol=1e-12)
    np.testing.assert_allclose(lesson["by_measuring"], by_loops, rtol=1e-6)


def test_the_absolute_difference_pulls_alike_near_and_far():
    """Its slope is 1 or -1 however large the mistake, and it does not shrink towards the goal."""
    for error in (-7.0, -1e-3, 1e-3, 7.0):
        slope = checks.numerical_gradient(lambda o: abs(float(o[0])), np.array([error]))[0]
        assert slope == pytest.approx(np.sign(error), rel=1e-6)


def test_quadratic_cost_is_half_squared_sum_over_n():
    o, y = np.random.default_rng(0).standard_normal((2, 7, 3))
    assert ops.quadratic_cost_forward(o, y)[0] == pytest.approx(ops.half_squared_sum_forward(o, y)[0] / 7, rel=1e-14)


def test_count_of_wrong_answers_has_no_slope_anywhere(lesson):
    places, counts, losses = lesson["places"], lesson["wrong_answers"], lesson["smooth_loss"]
    slopes = [[(f(b + 1e-6) - f(b - 1e-6)) / 2e-6 for b in places] for f in (counts, losses)]
    assert np.count_nonzero(slopes[0]) == 0, "level almost everywhere"
    assert np.count_nonzero(slopes[1]) == len(places)
    assert len({counts(b) for b in places}) > 2, "with jumps"


def test_lowest_loss_is_not_where_the_fewest_answers_are_wrong(lesson):
    places, wrong, smooth = lesson["places"], lesson["wrong_answers"], lesson["smooth_loss"]
    lowest = places[np.argmin([smooth(b) for b in places])]
    assert round(lowest, 1) == -2.5
    assert wrong(lowest) == 2
    assert min(wrong(b) for b in places) == 1


def test_accuracy_falls_while_the_loss_falls_at_every_step(lesson):
    losses, right = lesson["losses"], lesson["right"]
    assert np.all(np.diff(losses) < 0)
    assert (right[0], min(right), right[-1]) == (7, 4, 6)
    assert losses[-1] < 0.26 * losses[0]
    assert lesson["lowest_of_all"] < losses[-1]


def test_even_the_least_squares_line_has_fewer_right_answers(lesson):
    assert lesson["right_answers"](lesson["w_best"], lesson["b_best"]) == 6


def test_moving_the_far_sample_close_brings_the_right_answers_back(lesson):
    """The first suggestion of "Try it"."""
    x, y = lesson["far_x"].copy(), lesson["far_y"]
    x[-1] = 6
    w, b = ops.linear_regression_fit(x, y)
    assert np.all((ops.linear_regression_predict(x, w, b) >= 0.5) == y)


# ------------------------------------------------------------------------------------------------ why minus


def test_by_hand_the_gradient_of_two_weights_is_minus_5_minus_4_and_its_square_41(lesson):
    gradient = lesson["gradient2"](lesson["at"])
    assert gradient.tolist() == [-5, -4]
    assert gradient @ gradient == 41
    np.testing.assert_allclose(gradient, checks.numerical_gradient(lesson["loss2"], lesson["at"]), rtol=1e-6)


def test_the_linear_estimate_holds_for_any_small_change_and_any_point(lesson):
    """dJ is the sum of (dJ/dw_j) dw_j, up to the square of the change: for random points and directions."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        at, change = rng.normal(size=2), rng.normal(size=2)
        for size in (1e-3, 1e-4):
            real = lesson["loss2"](at + size * change) - lesson["loss2"](at)
            assert abs(real - size * np.sum(lesson["gradient2"](at) * change)) < 20 * size**2 * (change @ change)


def test_the_estimate_is_lr_times_41_and_its_gap_shrinks_with_the_square(lesson):
    lr, promised, came, gap = (np.array(column) for column in zip(*lesson["estimates"], strict=True))
    np.testing.assert_allclose(promised, -41 * lr, rtol=1e-12)
    np.testing.assert_allclose(came, promised + gap, rtol=1e-12)
    np.testing.assert_allclose(gap, 138.5 * lr**2, rtol=1e-6)
    assert np.all(came < 0)
    assert np.all(came > promised), "it falls less than promised"
    assert gap[:2].round(5).tolist() == [1.385, 0.01385]
    assert gap[2] == pytest.approx(0.0001385, rel=1e-6)


def test_a_small_step_against_the_gradient_goes_down_wherever_there_is_a_gradient():
    for surface, (height, gradient) in SURFACES.items():
        for p in np.random.default_rng(1).uniform(-3, 3, (50, 2)):
            g = gradient(p)
            assert height(p - 1e-3 * g) < height(p), (surface, p)
            assert height(p + 1e-3 * g) > height(p), (surface, p)


def test_no_direction_goes_down_faster_than_minus_the_gradient(lesson):
    """The steepest way down, of 360 tiny steps of one length."""
    angles = np.radians(np.arange(360))
    changes = [lesson["loss2"](lesson["at"] + 1e-4 * np.array([np.cos(a), np.sin(a)])) for a in angles]
    assert abs(np.argmin(changes) - np.degrees(np.arctan2(4, 5))) <= 0.5


def test_descended_regression_equals_closed_form(lesson):
    exact = [lesson["w_exact"], lesson["b_exact"]]
    np.testing.assert_allclose(lesson["theta"], exact, rtol=1e-9)
    w, b, _ = ops.linear_regression_descend(lesson["x200"], lesson["y200"], lr=0.5, steps=300)
    np.testing.assert_allclose([w[0], b], exact, rtol=1e-9)


def test_a_small_step_ends_in_the_dent_for_ever_and_a_larger_one_arrives(lesson):
    """The belief of the page, broken: with every small rate, from every start left of the dent or in it."""
    loss, slope = lesson["dented"], lesson["dented_slope"]
    for w in np.linspace(-2, 4, 31):
        measured = (loss(w + 1e-6) - loss(w - 1e-6)) / 2e-6
        assert slope(w) == pytest.approx(measured, rel=1e-5, abs=1e-8)

    def walk(lr, w, steps=3000):
        for _ in range(steps):
            w = w - lr * slope(w)
        return w

    for start in (-1.5, -1.0, 0.0):
        for lr in (0.01, 0.02, 0.05, 0.09):
            end = walk(lr, start)
            assert end == pytest.approx(0.0837, abs=1e-4)
            assert abs(slope(end)) < 1e-9, "so no number of further steps helps"
        for lr in (0.2, 0.3, 0.5, 1.0, 1.5, 1.8):
            assert walk(lr, start) == pytest.approx(2, abs=1e-9)
    assert loss(0.0837) == pytest.approx(0.92, abs=0.005)
    assert (slope(0.0837 + 1e-5) - slope(0.0837 - 1e-5)) / 2e-5 == pytest.approx(20, abs=0.5)
    assert (slope(2 + 1e-5) - slope(2 - 1e-5)) / 2e-5 == pytest.approx(1, abs=1e-6)
    assert abs(walk(2.02, -1.0, 1000)) > 1e9


def test_the_best_compromise_in_the_ravine_is_two_over_the_sum_of_the_curvatures():
    def slower(lr):
        return np.abs(1 - lr * RAVINE).max()

    best = 2 / RAVINE.sum()
    assert round(best, 2) == 1.48
    assert min(np.linspace(0.01, 2, 2000), key=slower) == pytest.approx(best, abs=1e-3)
    assert slower(best) == pytest.approx(0.852, abs=5e-4), "15 % a step"


def test_a_smaller_rate_finds_no_better_valley_and_loses_in_every_budget(lesson):
    rows = lesson["landscape"]
    assert rows[0.1, 1000][:4] == rows[1.2, 1000][:4] == [11, 12, 2, 0]
    assert rows[0.02, 100][0] == 1
    assert rows[0.02, 100][3] == 11
    means = [rows[lr, 100][-1] for lr in (0.02, 0.1, 1.2)]
    assert means == sorted(means, reverse=True)


@pytest.mark.parametrize("lr", [0.02, 0.2, 0.38, 0.4, 0.402])
def test_each_step_multiplies_the_distance_by_one_minus_lr_h(lesson, lr):
    distance = lesson["descend"](lr, 30) - 2
    np.testing.assert_allclose(distance, -((1 - 5 * lr) ** np.arange(31)), rtol=1e-9, atol=1e-12)


def test_best_rate_arrives_in_one_step_and_twice_it_oscillates_exactly(lesson):
    assert lesson["descend"](0.2, 1)[-1] == 2
    path = lesson["descend"](0.4, 10_001)
    assert np.all(path[::2] == 1)
    assert np.all(path[1::2] == 3)


def test_slightly_more_than_twice_the_best_rate_diverges_slowly(lesson):
    distance = np.abs(lesson["descend"](0.402, 1000) - 2)
    assert np.all(np.diff(distance) > 0)
    assert distance[10] < 1.11
    assert distance[1000] > 20_000
    np.testing.assert_allclose(distance[1:] / distance[:-1], 1.01, rtol=1e-9)  # 1 % farther away after each step


def test_the_ravine_has_one_factor_per_direction():
    at = {lr: descend(ravine_gradient, (2.0, 2.0), lr, 20)[-1] for lr in (0.8, 1.6, 1.65)}
    for lr, end in at.items():
        np.testing.assert_allclose(end, 2 * (1 - lr * RAVINE) ** 20, rtol=1e-9)
    assert at[0.8][0] == pytest.approx(0.377, abs=5e-4)
    assert descend(ravine_gradient, (2.0, 2.0), 0.8, 1)[-1][1] == 0
    assert at[1.6][1] == 2
    assert at[1.65][1] > 6


def test_ten_times_too_small_is_as_slow_as_1_9_times_too_large(lesson):
    small, large = np.abs(lesson["descend"](0.02, 50) - 2), np.abs(lesson["descend"](0.38, 50) - 2)
    np.testing.assert_allclose(small, large, rtol=1e-9)


def test_the_limit_of_a_sum_over_all_samples_is_exact_and_of_random_batches_a_guide(lesson):
    X, y, excess, run_epoch = (lesson[name] for name in ("X200", "y200", "excess", "run_epoch"))
    assert lesson["h"] == pytest.approx(1.01, abs=0.005)
    assert np.mean(X[:, 1] ** 2) == 1, "the bias's input is always 1"
    for share, small in ((0.99, True), (1.01, False)):
        theta = np.zeros(2)
        for _ in range(1000):
            theta = theta - share * 2 / (200 * lesson["h"]) * X.T @ (X @ theta - y)
        assert bool(excess(theta) < 1e-6) == small
    summed = {}
    for size in (20, 21, 22):
        theta, rng = np.zeros(2), np.random.default_rng(1)
        for _ in range(3):
            theta = run_epoch(theta, X, y, size, 0.1, rng, average=False)
        summed[size] = excess(theta)
    assert 2 / lesson["h"] < 0.1 * 21, "21 lies beyond the guide"
    assert summed[21] < 0.1 < 100 < summed[22]
    assert 2 / (0.1 * lesson["h"]) == pytest.approx(19.8, abs=0.05)


def test_newton_arrives_in_one_step_and_the_best_steps_along_the_gradient_take_many(lesson):
    np.testing.assert_allclose(lesson["newton"], [-1, 5], rtol=1e-9)
    assert lesson["loss2"](lesson["newton"]) < 1e-20
    assert lesson["best_along"] == pytest.approx(41 / 277)
    after = {r: lesson["loss2"](lesson["at"] - r * lesson["g"]) for r in np.linspace(0.1, 0.2, 201)}
    assert min(after, key=after.get) == pytest.approx(lesson["best_along"], abs=3e-4)
    assert lesson["counted"] == 17
    with pytest.raises(RuntimeError, match="after 5 steps"):
        steps_along_gradient(lesson["loss2"], lesson["gradient2"], lesson["H"], lesson["at"], below=-1, most=5)


def test_newton_may_go_up_to_a_saddle():
    def height(p):
        return p[0] ** 2 - p[1] ** 2

    p, g, H = np.array([0.0, 1.0]), np.array([0.0, -2.0]), np.diag([2.0, -2.0])
    there = p - np.linalg.solve(H, g)
    assert there.tolist() == [0, 0]
    assert height(there) > height(p)


def test_what_newton_costs_in_100_000_dimensions():
    d = 100_000
    assert (d * d, d * d * 8 / 1e9, d * 8 / 1e6) == (10**10, 80, 0.8)
    assert d**3 / 3 == pytest.approx(3e14, rel=0.15)


def test_25_starts_end_in_four_kinds_of_places(lesson):
    ends = [ending(p) for p in lesson["paths"][-1]]
    assert Counter(ends) == {"deepest minimum": 9, "local minimum": 10, "saddle": 2, "plateau": 4}


def test_saddle_is_left_after_the_least_nudge(lesson):
    walks = lesson["walks"]
    assert walks["on the mirror line"].min() > 0.7
    assert walks["0.000001 beside it"][-1] < 0.4
    assert walks["on the plateau"][100] > 0.99
    assert walks["on the plateau"][-1] < 0.4


def test_two_layer_network_starts_at_a_saddle(lesson):
    loss, x, y = lesson["two_layer_loss"], lesson["x"], lesson["y"]
    np.testing.assert_array_equal(checks.numerical_gradient(loss, np.zeros(2)), 0)
    for weights in ((0.0, 0.2), (0.2, 0.0)):  # a gradient is zero when the other weight is
        gradient = checks.numerical_gradient(loss, np.array(weights))
        np.testing.assert_array_equal(gradient != 0, np.array(weights) == 0)
    table = [round(loss(np.array(w)), 3) for w in ((0.1, 0.1), (0.0, 0.0), (0.1, -0.1))]
    assert table == [12.401, 12.5, 12.599]
    for u, v in ((1e-3, 1e-3), (1e-3, -1e-3)):
        assert loss(np.array([u, v])) - loss(np.zeros(2)) == pytest.approx(-u * v * np.sum(x * y), rel=1e-3)


def test_neurons_that_start_equal_get_equal_gradients(lesson):
    """The main reason not to start at zero."""
    rng = np.random.default_rng(0)
    for u, v in rng.standard_normal((20, 2)):
        g = checks.numerical_gradient(lesson["two_layer_loss"], np.array([u, u, v, v]))
        np.testing.assert_allclose(g[[0, 2]], g[[1, 3]], rtol=1e-6, atol=1e-7)


def test_small_gradient_stops_on_the_highest_ground(lesson):
    assert np.count_nonzero(lesson["done"]) == 4
    assert lesson["foothills"](lesson["starts"][lesson["done"]]).min() > 0.998


def test_mini_batch_gradients_average_to_the_whole_one(lesson):
    X, y = lesson["X200"], lesson["y200"]
    np.testing.assert_allclose(np.mean(lesson["at_zero"], axis=0), -X.T @ y / 200, rtol=1e-12)


def test_race_of_batch_sizes(lesson):
    curves = lesson["curves"]
    assert min(curves, key=lambda name: curves[name][0]) == "batches of 1"
    same_rate = [name for name in curves if name != lesson["late"]]
    assert len(same_rate) == 3
    assert min(same_rate, key=lambda name: curves[name][-1]) == "batches of 20"
    assert max(curves["batches of 1"][1:]) > 5 * curves["batches of 1"][0]  # it jitters


def test_a_smaller_rate_helps_late(lesson):
    """What is true in the belief."""
    curves, late = lesson["curves"], lesson["late"]
    assert curves[late][:5] == curves["batches of 1"][:5]
    assert all(curves[late][9] < curve[9] / 5 for name, curve in curves.items() if name != late)
    assert max(curves[late][5:]) < min(curves["batches of 1"][5:])
    early = {name: round(curve[0], 4) for name, curve in curves.items()}
    assert (early["batches of 1"], round(curves["batches of 20"][9], 4)) == (0.0008, 0.0005)
    assert (round(curves["batches of 1"][9], 3), round(curves[late][9], 5)) == (0.006, 0.00006)


def test_sum_makes_the_batch_size_a_learning_rate(lesson):
    X, y, run_epoch, excess = (lesson[name] for name in ("X200", "y200", "run_epoch", "excess"))

    def after(batch_size, lr, average):
        theta, rng = np.zeros(2), np.random.default_rng(1)
        for _ in range(3):
            theta = run_epoch(theta, X, y, batch_size, lr, rng, average)
        return theta

    np.testing.assert_allclose(after(10, 0.1, False), after(10, 1.0, True), rtol=1e-9)
    assert excess(after(10, 0.1, False)) < 0.1
    assert excess(after(5, 0.1, False)) > 10 * excess(after(5, 0.1, True))  # it trains, but no better than the mean
    for size in (2, 5, 10):
        assert excess(after(size, 0.1, False)) > excess(after(size, 0.1, True)), "it learns, but ends higher"
    assert 11.5 < excess(after(5, 0.1, False)) / excess(after(5, 0.1, True)) < 12.5
    assert excess(after(50, 0.1, False)) > 1e6
    assert excess(after(50, 0.1, True)) < excess(np.zeros(2))
    assert 10 < 2 / (0.1 * lesson["h"]) < 50


def test_erratum_5_the_whole_difference_is_squared(lesson):
    x, y = lesson["x"], lesson["y"]
    literal = [float(np.sum(0.5 * (y - (w * x) ** 2))) for w in (1.0, 2.0, 3.0, 100.0)]
    assert literal == [1.0, -6.5, -19.0, -24996.5]
    assert ops.half_squared_sum_forward(100 * x, y)[0] == 24012.5


def test_erratum_5_no_mean_is_taken(lesson):
    x, y = lesson["x"], lesson["y"]
    assert ops.half_squared_sum_forward(x, y)[0] == np.mean((y - x) ** 2) == 5
    assert ops.quadratic_cost_forward(x[:, None], y[:, None])[0] == 2.5
    x, y = np.tile(x, 2), np.tile(y, 2)
    assert ops.half_squared_sum_forward(x, y)[0] == 10
    assert ops.quadratic_cost_forward(x[:, None], y[:, None])[0] == 2.5
    assert np.mean((y - x) ** 2) == 5


def test_answers_of_try_it(lesson):
    x, y = lesson["far_x"].copy(), lesson["far_y"]
    right = {}
    for far in (10.5, 10.6, 10.7, 12):
        x[-1] = far
        w, b = ops.linear_regression_fit(x, y)
        right[far] = int(np.sum((ops.linear_regression_predict(x, w, b) >= 0.5) == y))
    assert right == {10.5: 7, 10.6: 7, 10.7: 6, 12: 6}
    for start in ((1.0, 0.5), (2.0, -0.3), (1.4, 0.2)):
        assert ending(descend(foothills_gradient, start, 1.6, 2000)[-1]) == "deepest minimum"
    for start in ((-1.0, 1.4), (-2.0, -1.5), (-1.5, 0.5)):
        assert ending(descend(foothills_gradient, start, 1.6, 2000)[-1]) == "on the way", "it jumps for ever"
    still = descend(ravine_gradient, (-2.75, 0.0), 1.65, 100)
    assert np.all(np.diff(np.abs(still[:, 0])) < 0)
    out = np.flatnonzero(np.abs(descend(ravine_gradient, (-2.75, 0.25), 1.65, 100)[:, 1]) > EXTENT)[0]
    assert out == 43


def test_answers_of_the_self_check():
    assert 0.01 * (3**2 + 4**2) == 0.25
    a, b = -np.log(0.51), -np.log([0.99, 0.99, 0.40])
    assert (round(a, 2), round(b.mean(), 2), *b.round(2)) == (0.67, 0.31, 0.01, 0.01, 0.92)
    w = {lr: (1 - 8 * lr) ** 3 for lr in (0.125, 0.25, 0.2525)}
    assert [round(v, 2) for v in w.values()] == [0, -1, -1.06]
    assert round(1.02**2, 2) == 1.04
