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
from course_lib.figures.surfaces import RAVINE, SURFACES, descend, ravine_gradient, steps_along_gradient

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
    assert np.count_nonzero(lesson["slopes"](lesson["wrong_answers"])) == 0
    assert np.count_nonzero(lesson["slopes"](lesson["smooth_loss"])) == 200


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


def test_even_the_least_squares_line_has_fewer_right_answers(lesson):
    assert lesson["right_answers"](lesson["w_best"], lesson["b_best"]) == 6


def test_moving_the_far_sample_close_brings_the_right_answers_back(lesson):
    """The first suggestion of "Try it"."""
    x, y = lesson["far_x"].copy(), lesson["far_y"]
    x[-1] = 6
    w, b = ops.linear_regression_fit(x, y)
    assert np.all((ops.linear_regression_predict(x, w, b) >= 0.5) == y)


def test_three_losses_rank_the_opinions_as_the_text_says(lesson):
    T, k = lesson["T"], {name: k[None] for name, k in lesson["opinions"].items()}
    np.testing.assert_allclose([v.sum() for v in k.values()], 1, rtol=1e-12)
    one = {n: ops.one_minus_probability_forward(v, T)[0] for n, v in k.items()}
    two = {n: ops.expected_squared_distance_forward(v, T)[0] for n, v in k.items()}
    three = {n: ops.softmax_cross_entropy_forward(np.log(v), T)[0] for n, v in k.items()}
    for loss in (one, three):
        assert loss["sure of 4"] == pytest.approx(loss["sure of 9"]) == pytest.approx(loss["2 or 4"])
        assert loss["no idea"] < loss["sure of 4"]
    assert two["sure of 4"] < two["no idea"] < two["sure of 9"]
    assert two["no idea"] == pytest.approx(10.5)
    assert two["sure of 4"] == pytest.approx(1.95)
    assert two["sure of 4"] < 2 * two["sure of 3"]
    assert three["sure of 9"] == pytest.approx(-np.log(lesson["opinions"]["sure of 9"][3]))


def test_cross_entropy_pushes_100_times_as_hard_at_one_hundredth():
    def slope(p):
        return (-np.log(p + 1e-8) + np.log(p - 1e-8)) / 2e-8

    assert slope(0.01) == pytest.approx(-100, rel=1e-4)
    assert slope(0.01) / slope(1.0) == pytest.approx(100, rel=1e-4)


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


def test_the_promise_is_lr_times_41_and_its_gap_shrinks_with_the_square(lesson):
    lr, promised, came, gap = (np.array(column) for column in zip(*lesson["promises"], strict=True))
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
    assert abs(np.argmin(lesson["changes"]) - lesson["downhill"]) <= 0.5
    assert lesson["downhill"] == pytest.approx(np.degrees(np.arctan2(4, 5)))


def test_descended_regression_equals_closed_form(lesson):
    exact = [lesson["w_exact"][0], lesson["b_exact"]]
    x, y = lesson["x40"], lesson["y40"]
    w, b, _ = ops.linear_regression_descend(x, y, lr=0.5, steps=300)
    np.testing.assert_allclose([w[0], b], exact, rtol=1e-9)
    X, theta = ops.add_bias_input(x), np.zeros(2)
    for _ in range(300):
        theta = theta - 0.5 * X.T @ (X @ theta - y) / len(X)
    np.testing.assert_allclose(theta, exact, rtol=1e-9)


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


def test_largest_curvature_sets_the_limit_in_two_dimensions(lesson):
    x, y, limit = lesson["far_x"], lesson["far_y"], lesson["limit"]
    assert round(lesson["curvatures"][1] / lesson["curvatures"][0]) == 76
    below = ops.linear_regression_descend(x, y, lr=0.99 * limit, steps=500)[2]
    above = ops.linear_regression_descend(x, y, lr=1.01 * limit, steps=500)[2]
    assert below[-1] < below[0]
    assert above[-1] > 1000 * above[0]


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
    assert Counter(lesson["ends"]) == {"deepest minimum": 9, "local minimum": 10, "saddle": 2, "plateau": 4}


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
    assert loss((0.1, 0.1)) < loss((0.0, 0.0)) < loss((0.1, -0.1))
    for u, v in ((1e-3, 1e-3), (1e-3, -1e-3)):
        assert loss((u, v)) - loss((0, 0)) == pytest.approx(-u * v * np.sum(x * y), rel=1e-3)


def test_tiny_random_weights_do_not_leave_the_saddle_in_time():
    """XOR with lesson 04's network, ten starts at once: solved at a standard deviation of 1 and 0.1, not at 0.01."""
    x = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    y = np.array([[0.0], [1], [1], [0]])
    solved = {}
    for sd in (1, 0.1, 0.01):
        drawn = [np.random.default_rng(seed) for seed in range(10)]
        W, W2 = (sd * np.stack([rng.standard_normal(shape) for rng in drawn]) for shape in ((2, 8), (8, 1)))
        b, b2 = np.zeros((10, 1, 8)), np.zeros((10, 1, 1))
        for _ in range(3000):
            a = ops.sigmoid(x @ W + b)
            o = ops.sigmoid(a @ W2 + b2)
            delta2 = (o - y) * o * (1 - o)
            delta = delta2 @ W2.transpose(0, 2, 1) * a * (1 - a)
            for parameter, slope in ((W2, a.transpose(0, 2, 1) @ delta2), (b2, delta2.sum(1, keepdims=True)),
                                     (W, x.T @ delta), (b, delta.sum(1, keepdims=True))):  # fmt: skip
                parameter -= 2.0 * slope
        o = ops.sigmoid(ops.sigmoid(x @ W + b) @ W2 + b2)
        solved[sd] = int(np.sum(np.all(np.abs(o - y) < 0.1, axis=(1, 2))))
    assert solved == {1: 10, 0.1: 10, 0.01: 0}


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
    assert min(same_rate, key=lambda name: curves[name][-1]) == "batches of 20"
    assert max(curves["batches of 1"][1:]) > 5 * curves["batches of 1"][0]  # it jitters


def test_a_smaller_rate_helps_late(lesson):
    """The true core of the second belief."""
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
