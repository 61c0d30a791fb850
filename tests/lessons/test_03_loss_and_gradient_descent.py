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
    landmarks,
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
    """On a few digits and at weights that are not zero, where both kinds have errors."""
    X, y = lesson["X"][:12, 150:220], lesson["answers"][:12]
    w = np.random.default_rng(0).standard_normal(70)
    by_loops = lesson["gradient_by_loops"](X, y, w)
    measured = checks.numerical_gradient(lambda w: ops.half_squared_sum_forward(X @ w, y)[0], w)
    np.testing.assert_allclose(by_loops, measured, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(by_loops, X.T @ (X @ w - y), rtol=1e-12, atol=1e-12)


def test_library_loops_and_measurement_are_one_gradient(lesson):
    by_loops = lesson["by_loops"]
    assert by_loops.shape == (785,)
    np.testing.assert_allclose(lesson["dw"], by_loops, rtol=1e-12)
    np.testing.assert_allclose(lesson["by_measuring"], by_loops, rtol=1e-6, atol=1e-6)
    assert 2 * 785 == 1570, "readings of the digits that measuring takes"


def test_the_first_step_is_an_average_9_and_the_second_a_9_minus_a_4(lesson):
    walk, pair, X = lesson["walk"], lesson["pair"], lesson["X"]
    first, second = walk[1] - walk[0], walk[2] - walk[1]
    np.testing.assert_allclose(first, 0.02 * 0.5 * X[pair.y == 1].mean(axis=0), rtol=1e-12, atol=1e-15)
    outputs = X @ walk[1]
    four, nine = (outputs[pair.y == k].mean() for k in (0, 1))
    assert (round(four, 1), round(nine, 2)) == (0.4, 0.46)
    errors = [(outputs - lesson["answers"])[pair.y == k].mean() for k in (0, 1)]
    assert (round(errors[0], 1), round(errors[1], 2)) == (0.4, -0.54)
    assert (second[:-1] > 1e-4).sum() > 1.5 * (second[:-1] < -1e-4).sum(), "most of the image is orange"
    assert second.min() < -0.1 * second.max() < 0 < second.max()
    fours, nines = (X[pair.y == k].mean(axis=0) for k in (0, 1))
    assert np.corrcoef(second, nines - fours)[0, 1] > 0.8
    assert lesson["first_step"].answer == "an average 9"


def test_the_digits_have_one_steep_direction_and_it_is_the_average_digit(lesson):
    X, curvatures = lesson["X"], lesson["curvatures"]
    assert round(curvatures[-1], 1) == 43.8
    assert 7 < curvatures[-1] / curvatures[-2] < 7.5, "seven times as steep as the next"
    steepest, mean = np.linalg.eigh(X.T @ X / 800)[1][:, -1], X.mean(axis=0)
    assert abs(steepest @ mean) / np.linalg.norm(mean) > 0.999
    apart = np.subtract(*(X[lesson["pair"].y == k].mean(axis=0) for k in (1, 0)))
    assert round(apart @ (X.T @ X / 800) @ apart / (apart @ apart), 1) == 3.9, "from the average 4 to the average 9"
    np.testing.assert_allclose(lesson["steepest"], np.abs(steepest), atol=1e-6)


def test_two_over_h_is_the_limit_for_785_weights(lesson):
    h = lesson["curvatures"][-1]
    assert round(2 / h, 4) == 0.0456
    assert round(1 - 0.05 * 43.8, 2) == -1.19
    loss, walks = lesson["digit_loss"], lesson["digit_walks"]
    assert loss(walks[0.04][200]) < 0.6 * loss(walks[0.004][200]) < loss(np.zeros(785)) < loss(walks[0.05][1])
    assert 29 <= np.log10(loss(walks[0.05][200])) < 30, "thirty digits"
    for share, falls in ((0.99, True), (1.01, False)):
        end = descend(lesson["digit_gradient"], np.zeros(785), share * 2 / h, 200)[-1]
        assert bool(loss(end) < 0.25) == falls
    rates, after = lesson["many_rates"], lesson["after_steps"]["after 200 steps"]
    well_below = rates < 0.99 * 2 / h
    assert np.all(np.diff(after[well_below]) < 0), "nearly up to the limit, larger is better after 200 steps"
    assert after[rates > 1.001 * 2 / h].min() > 10 * after[well_below].max()
    assert np.any(np.isclose(rates, 2 / h)), "so that no line climbs far before the limit"
    best = [rates[np.argmin(losses)] for losses in lesson["after_steps"].values()]
    assert np.round(best, 3).tolist() == [0.04, 0.044, 0.045], "the best rate moves towards the limit"
    assert best[-1] < 2 / h
    assert after[np.isclose(rates, 0.04)] == pytest.approx(loss(walks[0.04][200]), rel=1e-6)
    right = lesson["digits_right"]
    assert right(walks[0.04][200]) > right(walks[0.004][200]) > 700


def test_the_curvature_along_a_direction_is_the_mean_square_of_what_it_adds_to_the_outputs(lesson):
    X, H = lesson["X"], lesson["H_digits"]
    darkest, bias = np.zeros((2, 785))
    darkest[np.argmax(lesson["average"][:-1])] = bias[-1] = 1
    found = []
    for direction in (lesson["apart"], lesson["average"], bias, darkest):
        unit = direction / np.linalg.norm(direction)
        found.append(unit @ H @ unit)
        assert found[-1] == pytest.approx(np.mean((X @ unit) ** 2))
    assert found[1] > 0.99 * lesson["curvatures"][-1] > 5 * max(found[0], *found[2:]), "of the four choices"
    assert lesson["steep"].answer == "the average of all digits"


def test_close_to_the_limit_of_the_ravine_a_smaller_rate_may_be_faster():
    """So only far below 2/h a smaller one costs time, as the last table says."""
    ends = [abs(descend(ravine_gradient, (2.0, 2.0), lr, 20)[-1][1]) for lr in (1.55, 2 / 1.35)]
    assert ends[0] > 5 * ends[1]


def test_all_outputs_jump_together_and_the_two_kinds_move_apart(lesson):
    """With 0.04: the mean of all outputs is too high, too low, ...; the two kinds' means part step by step."""
    y, outputs = lesson["pair"].y, lesson["digit_walks"][0.04] @ lesson["X"].T
    assert round(1 - 0.04 * 43.8, 2) == -0.75
    above = outputs[1:7].mean(axis=1) > 0.5
    np.testing.assert_array_equal(above, [True, False, True, False, True, False])
    apart = outputs[:, y == 1].mean(axis=1) - outputs[:, y == 0].mean(axis=1)
    assert np.all(np.diff(apart[1::2]) > 0)
    assert np.all(np.diff(apart[::2]) > 0)
    assert apart[200] > 0.7


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
    assert wrong(lowest) == 4
    assert min(wrong(b) for b in places) == 3


def test_accuracy_falls_while_the_loss_falls_at_every_step(lesson):
    losses, right = lesson["losses"], lesson["right"]
    assert np.all(np.diff(losses) < 0)
    assert (right[0], min(right), right[-1]) == (7, 4, 6)
    assert losses[-1] < 0.26 * losses[0]
    assert lesson["lowest_of_all"] < losses[-1]


def test_even_the_least_squares_line_has_fewer_right_answers(lesson):
    assert lesson["right_answers"](lesson["w_best"], lesson["b_best"]) == 6


def test_moving_the_far_sample_close_brings_the_right_answers_back(lesson):
    """A suggestion of "Try it"."""
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
    bottom = lesson["bottom"]
    assert walk(0.01, bottom) == pytest.approx(bottom, abs=1e-4)
    walks = lesson["walks_with_dent"]
    assert walks[0.05][-1] == pytest.approx(0.084, abs=5e-4)
    assert [lr for lr, path in walks.items() if abs(path[-1] - 2) < 1e-9] == [0.5, 1.5]


def test_the_best_compromise_in_the_ravine_is_two_over_the_sum_of_the_curvatures():
    def slower(lr):
        return np.abs(1 - lr * RAVINE).max()

    best = 2 / RAVINE.sum()
    assert round(best, 2) == 1.48
    assert min(np.linspace(0.01, 2, 2000), key=slower) == pytest.approx(best, abs=1e-3)
    assert slower(best) == pytest.approx(0.852, abs=5e-4), "15 % a step"
    k = RAVINE.max() / RAVINE.min()
    assert k == pytest.approx(12.5)
    assert slower(best) == pytest.approx((k - 1) / (k + 1), rel=1e-12)
    for k in (2.0, 7.0, 100.0):  # of every ratio, not only of this one
        curvatures = np.array([3.0, 3.0 * k])
        assert np.abs(1 - 2 / curvatures.sum() * curvatures).max() == pytest.approx((k - 1) / (k + 1), rel=1e-12)


def test_a_smaller_rate_finds_no_better_valley_and_loses_in_every_budget(lesson):
    rows = lesson["landscape"]
    assert rows[0.1, 1000][:4] == rows[1.2, 1000][:4] == [11, 12, 2, 0]
    assert rows[0.02, 100][0] == 1
    assert rows[0.02, 100][3] == 11
    arrived = [rows[lr, 100][0] + rows[lr, 100][1] for lr in (0.02, 0.1, 1.2)]
    assert arrived == sorted(arrived)


def test_both_rates_lead_every_single_walk_to_the_same_place(lesson):
    """Walk by walk, not only by the counts; with 0.02, eleven walks are still on the plateau after 100 steps."""
    ends = [descend(foothills_gradient, lesson["starts"], lr, 1000)[-1] for lr in (0.1, 1.2)]
    assert [ending(p) for p in ends[0]] == [ending(p) for p in ends[1]]
    np.testing.assert_allclose(*ends, atol=1e-3)


def test_dents_hold_rates_below_1_4_and_1_7():
    """The curvature at the bottom of each dent, measured from the gradient."""
    limits = {}
    for kind in ("deepest minimum", "local minimum"):
        p, eye = landmarks()[kind][0], 1e-5 * np.eye(2)
        H = np.array([(foothills_gradient(p + e) - foothills_gradient(p - e)) / 2e-5 for e in eye])
        limits[kind] = round(2 / np.linalg.eigvalsh(H)[-1], 1)
    assert limits == {"deepest minimum": 1.7, "local minimum": 1.4}
    heights = [round(float(SURFACES["foothills"][0](landmarks()[kind][0])), 2) for kind in limits]
    assert heights == [0.05, 0.39]


def test_one_line_joins_the_linear_estimate_and_two_over_h():
    """For parabolas of any curvature: dJ = -lr s^2 (1 - lr h / 2), a fall exactly below 2/h, half kept at 1/h."""
    rng = np.random.default_rng(0)
    for h, w in zip(rng.uniform(0.1, 20, 50), rng.normal(size=50), strict=True):
        s = h * w
        for share in (0.1, 0.5, 0.99, 1.01, 3.0):
            lr = share * 2 / h
            change = h * (w - lr * s) ** 2 / 2 - h * w**2 / 2
            assert change == pytest.approx(-lr * s**2 * (1 - lr * h / 2), rel=1e-9)
            assert (change < 0) == (share < 1)
            if share == 0.5:
                assert change == pytest.approx(-lr * s**2 / 2, rel=1e-9)


def test_the_first_step_of_the_map_gives_more_than_it_promises():
    """0.398 promised, 0.405 given: the ground bends downward along the step there."""
    height, gradient = SURFACES["foothills"]
    p = np.array([0.6, 0.8])
    g = gradient(p)
    assert round(1.2 * g @ g, 3) == 0.398
    assert round(height(p) - height(p - 1.2 * g), 3) == 0.405
    assert (gradient(p + 1e-5 * g) - gradient(p - 1e-5 * g)) @ g < 0


def test_a_step_points_downhill_and_may_still_end_higher(lesson):
    """At 0.402 the first step goes down the slope, and ends higher than it began."""
    path = lesson["descend"](0.402, 1)
    assert path[1] - path[0] > 0 > lesson["slope"](path[0])
    assert lesson["loss"](path[1]) > lesson["loss"](path[0])


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
    assert round(distance[10], 2) == 1.10
    assert round(distance[1000], -3) == 21_000
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
    np.testing.assert_array_equal(checks.numerical_gradient(loss, np.zeros(4)), 0)
    for u, v in ((1e-3, 1e-3), (1e-3, -1e-3)):  # down one way, up another
        moved = loss(np.array([u, 0, v, 0])) - loss(np.zeros(4))
        assert moved == pytest.approx(-u * v * np.sum(x * y), rel=1e-3)


def test_neurons_that_start_equal_get_equal_gradients(lesson):
    """The main reason not to start at zero."""
    rng = np.random.default_rng(0)
    for u, v in rng.standard_normal((20, 2)):
        g = checks.numerical_gradient(lesson["two_layer_loss"], np.array([u, u, v, v]))
        np.testing.assert_allclose(g[[0, 2]], g[[1, 3]], rtol=1e-6, atol=1e-7)


def test_small_gradient_stops_on_the_highest_ground(lesson):
    starts = lesson["starts"]
    done = np.linalg.norm(foothills_gradient(starts), axis=1) < 0.01
    assert sorted(map(tuple, starts[done])) == [(-3, -3), (-3, 3), (3, -3), (3, 3)]
    height = SURFACES["foothills"][0]
    assert height(starts[done]).min() > 0.998
    assert height(starts[done]).min() > height(starts[~done]).max()


def test_mini_batch_gradients_average_to_the_whole_one(lesson):
    X, y = lesson["X"], lesson["answers"]
    batches = np.random.default_rng(1).permutation(800).reshape(40, 20)
    each = [-X[batch].T @ y[batch] / 20 for batch in batches]
    np.testing.assert_allclose(np.mean(each, axis=0), lesson["whole"], rtol=1e-12, atol=1e-15)


def test_noise_of_a_mini_batch_falls_with_the_root_of_its_size(lesson):
    X, y, noise = lesson["X"], lesson["answers"], lesson["noise"]
    one_by_one = -X * y[:, None] - lesson["whole"]
    spread = np.mean(np.sum(one_by_one**2, axis=1))  # of single samples
    for m in (1, 4, 16):
        drawn_once = (800 - m) / 799  # a batch has no digit twice
        assert noise(m) == pytest.approx(np.sqrt(spread / m * drawn_once), rel=0.05)
    for m in (1, 4):
        assert 0.45 < noise(4 * m) / noise(m) < 0.55, "four times as many samples, half the noise"


def test_race_of_batch_sizes(lesson):
    curves, races = lesson["curves"], lesson["races"]
    same_rate = [f"batches of {size}" for size in (800, 20, 1)]
    assert min(same_rate, key=lambda name: curves[name][0]) == "batches of 1"
    assert min(same_rate, key=lambda name: curves[name][-1]) == "batches of 20"
    ones, twenties = (races[size][0][:, -1] for size in (1, 20))
    assert [round(v, 3) for v in (ones.min(), ones.max())] == [0.018, 0.065]
    assert 0.022 < twenties.min() < twenties.max() < 0.026, "all ten close together"
    assert round(curves["batches of 800"][9], 3) == 0.088, "far behind"
    misread = {size: round(float(np.mean(races[size][1]))) for size in (20, 1)}
    assert misread == {20: 12, 1: 22}
    assert {size: -(-800 // size) for size in (800, 20, 1)} == {800: 1, 20: 40, 1: 800}, "steps of an epoch"


def test_in_single_runs_luck_may_hide_who_leads(lesson):
    """After ten epochs, batches of 20 lead batches of 1 in some of the ten runs, and not in all."""
    ones, twenties = (lesson["races"][size][0][:, -1] for size in (1, 20))
    assert 3 <= np.sum(twenties < ones) <= 7


def test_a_smaller_rate_helps_late(lesson):
    """What is true in the belief: best are large steps first and small ones at the end."""
    curves, late = lesson["curves"], lesson["late"]
    np.testing.assert_array_equal(curves[late][:5], curves["batches of 1"][:5])
    assert all(curves[late][9] < 0.75 * curve[9] for name, curve in curves.items() if name != late)
    assert lesson["slower"][:, 5:].max() < lesson["races"][1][0][:, 5:].mean(axis=0).min(), "the jumps stop"
    assert np.mean(lesson["misread_late"]) > np.mean(lesson["misread_always"]), "on new digits it is no better"


def test_the_middle_of_the_jumps_is_far_lower_than_the_walk_and_than_the_slow_walk(lesson):
    """With 0.01 the loss hides how far the walk has come; with 0.001 it looks ahead from the second epoch on."""
    curves, middle = lesson["curves"], lesson["middle"].mean(axis=0)
    large, small = curves["batches of 1"], curves["batches of 1, lr 0.001"]
    assert np.all(small[1:] < large[1:])
    assert np.all(middle[1:] < 0.75 * small[1:])
    assert (round(middle[4], 3), round(large[4], 3), int(1000 * small[4])) == (0.015, 0.031, 22)
    assert 0 < curves[lesson["late"]][5] - middle[5] < 0.1 * large[5], "one epoch of small steps, and the noise is gone"
    again = lesson["run_epoch"](np.zeros(785), 1, 0.01, np.random.default_rng(0))
    assert lesson["digit_loss"](again) == pytest.approx(lesson["races"][1][0][0, 0], rel=1e-9), "the same walks"


def test_sum_makes_the_batch_size_a_learning_rate(lesson):
    run_epoch, rows = lesson["run_epoch"], lesson["rows"]
    w = {}
    for lr, average in ((0.005, False), (0.025, True)):
        w[average] = run_epoch(np.zeros(785), 5, lr, np.random.default_rng(1), average)
    np.testing.assert_allclose(w[False], w[True], rtol=1e-9, atol=1e-12)
    assert max(rows[2][0], rows[5][0]) < 0.05
    assert min(rows[size][0] for size in (10, 20, 50)) > 1e6
    assert max(averaged for _, averaged in rows.values()) < 0.1
    assert 5 < 2 / (0.005 * lesson["curvatures"][-1]) < 10


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
    for far in (10.4, 10.5, 10.65, 10.7, 12):
        x[-1] = far
        best = ops.linear_regression_fit(x, y)
        walked = ops.linear_regression_descend(x, y, lr=0.02, steps=500, w=np.array([0.2]), b=0.0)[:2]
        right[far] = [int(np.sum((ops.linear_regression_predict(x, *line) >= 0.5) == y)) for line in (best, walked)]
    assert right == {10.4: [7, 7], 10.5: [7, 6], 10.65: [7, 6], 10.7: [6, 6], 12: [6, 6]}
    for start in ((1.0, 0.5), (2.0, -0.3), (1.4, 0.2)):
        assert ending(descend(foothills_gradient, start, 1.6, 2000)[-1]) == "deepest minimum"
    for start in ((-1.0, 1.4), (-2.0, -1.5), (-1.5, 0.5)):
        assert ending(descend(foothills_gradient, start, 1.6, 2000)[-1]) == "on the way", "it jumps for ever"
    still = descend(ravine_gradient, (-2.75, 0.0), 1.65, 100)
    assert np.all(np.diff(np.abs(still[:, 0])) < 0)
    out = np.flatnonzero(np.abs(descend(ravine_gradient, (-2.75, 0.25), 1.65, 100)[:, 1]) > EXTENT)[0]
    assert out == 43
    assert 2.0 - 8 * 0.25 == 0, "the down arrow, eight times"


def test_answers_of_the_self_check():
    assert 0.01 * (3**2 + 4**2) == 0.25
    a, b = -np.log(0.51), -np.log([0.99, 0.99, 0.40])
    assert (round(a, 2), round(b.mean(), 2), *b.round(2)) == (0.67, 0.31, 0.01, 0.01, 0.92)
    w = {lr: (1 - 8 * lr) ** 3 for lr in (0.125, 0.25, 0.2525)}
    assert [round(v, 2) for v in w.values()] == [0, -1, -1.06]
    assert round(1.02**2, 2) == 1.04
