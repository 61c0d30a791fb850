"""What lesson 01 says, proved from the library, and the numbers that its built page shows."""

from itertools import permutations, product

import numpy as np
import pytest

from course_lib import data
from course_lib import reference as ops
from course_lib.checks.registry import sheet
from course_lib.lesson import corrections, lines, two_digits

from .conftest import NOTEBOOKS


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
        assert lines.cycle_of(fit)[1] == 1
    grid = product(np.linspace(-2, 2, 9), repeat=3)
    assert max(np.sum(ops.perceptron_predict(x, np.array(w)) == y) for w in grid) == 3


def test_on_xor_six_orders_pass_through_a_line_with_three_right_and_none_rests_there():
    x, y = data.truth_table("xor")
    most, rests = [], []
    for order in permutations(range(4)):
        fit = ops.perceptron_fit(x, y, order=order, epochs=100)
        held = [np.sum(ops.perceptron_predict(x, step.w_after) == y) for step in fit.steps]
        most.append(max(held))
        rests.append(min(held[-4:]) >= 3)
    assert most[0] == 2, "the order of the rows"
    assert (most.count(3), max(most)) == (6, 3)
    assert not any(rests), "no order rests at a line with three right"


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
        lengths.append(lines.cycle_of(fit)[1])
    assert lengths == [1, 3]


def test_without_the_bias_input_nand_is_impossible():
    x, y = data.truth_table("nand")
    fit = ops.perceptron_fit(x, y, bias=False, epochs=100)
    assert not fit.converged
    assert all(step.w_after[2] == 0 for step in fit.steps)
    assert (fit.mistakes_per_epoch[0], set(fit.mistakes_per_epoch[1:])) == (1, {3})  # at the moment each is shown
    assert np.sum(ops.perceptron_predict(x, fit.w) != y) == 2  # with the last weights
    assert np.max([np.sum(((x @ w) >= 0) == y) for w in product(np.linspace(-2, 2, 9), repeat=2)]) == 3
    assert np.sum(((x @ (-2, 1)) >= 0) == y) == 3


def test_descent_ends_at_the_closed_form():
    rng = np.random.default_rng(1)
    x, y = data.line(30, slope=2, intercept=-1, noise=0.4, rng=rng)
    w, b = ops.linear_regression_fit(x, y)
    w_steps, b_steps, history = ops.linear_regression_descend(x, y, lr=0.5, steps=200)
    np.testing.assert_allclose([*w_steps, b_steps], [*w, b], rtol=1e-6)
    assert np.all(np.diff(history) <= 1e-12)
    w, b = ops.linear_regression_fit(np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 2.0, 1.0]))
    np.testing.assert_allclose([*w, b], [0.5, 0.5])


def test_the_slide_that_drops_the_bias_changes_the_answer_to_one_sample_from_0_to_minus_2():
    x, y = data.truth_table("nand")
    w = ops.perceptron_fit(x, y).w
    np.testing.assert_array_equal(ops.perceptron_predict(x, w), y)
    assert (w @ [1, 0, 1], w[:2] @ [1, 0]) == (0, -2)


def test_after_any_rows_half_of_the_tables_that_agree_say_1_in_the_next(lesson):
    assert lesson["votes"] == [(k, 2 ** (8 - k), 2 ** (7 - k)) for k in range(8)]


def test_a_billion_images_are_2_to_the_30_and_cover_2_to_the_minus_8162_of_the_table(prose):
    assert abs(2**30 / 1e9 - 1) < 0.08
    assert 2 ** (32 * 32 * 8) == 2**30 * 2**8162
    assert "a fraction of $2^{-8162}$" in prose
    assert "0 %" not in prose.replace("100 %", "").replace("90 %", "")


# ------------------------------------------------------------------------------------------------ the two digits


@pytest.fixture(scope="module")
def pair():
    return two_digits(4, 9)


@pytest.fixture(scope="module")
def reader(pair):
    return ops.perceptron_fit(pair.x, pair.y)


def misread(digits, fit):
    return np.flatnonzero(ops.perceptron_predict(digits.x_new, fit.w) != digits.y_new)


def test_800_digits_are_learned_in_twelve_epochs_and_11_of_200_new_ones_are_misread_most_of_them_4s(pair, reader):
    assert (len(pair.y), len(pair.y_new)) == (800, 200)
    assert (reader.converged, reader.epochs) == (True, 12)
    np.testing.assert_array_equal(ops.perceptron_predict(pair.x, reader.w), pair.y)
    wrong = misread(pair, reader)
    assert (len(wrong), np.sum(pair.y_new[wrong] == 0)) == (11, 8)
    assert pair.said(wrong[0]) == "a 4, read as a 9"


def test_its_first_mistake_is_a_4_and_leaves_that_4_as_a_negative(pair, reader):
    first = next(step for step in reader.steps if step.w_after is not step.w_before)
    assert pair.y[first.index] == 0
    np.testing.assert_array_equal(first.w_after[:-1], -pair.x[first.index])


def test_a_weight_counts_the_misread_9s_with_ink_there_minus_the_misread_4s(pair, reader):
    wrong = [step.index for step in reader.steps if step.w_after is not step.w_before]
    assert len(wrong) == sum(reader.mistakes_per_epoch) == 289
    nines = sum(pair.x[i] for i in wrong if pair.y[i] == 1)
    fours = sum(pair.x[i] for i in wrong if pair.y[i] == 0)
    np.testing.assert_array_equal(reader.w[:-1], nines - fours)
    at = np.unravel_index(np.argmax(reader.w[:-1]), (28, 28))
    assert at[0] < 10 < at[1] < 18, "the largest weight is at the top, in the middle"
    assert len(set(wrong)) < len(wrong), "a digit is misread in several epochs, and counts each time"


def test_the_digits_give_the_same_weights_with_every_order_of_summation(pair, reader):
    assert np.array_equal(reader.w, np.round(reader.w)), "whole numbers, so all sums are exact"


def test_3_and_8_are_harder_and_0_and_1_are_easier():
    counts = {}
    for names in ((3, 8), (0, 1)):
        digits = two_digits(*names)
        fit = ops.perceptron_fit(digits.x, digits.y)
        counts[names] = fit.converged, fit.epochs, len(misread(digits, fit))
    assert counts == {(3, 8): (True, 16, 17), (0, 1): (True, 3, 2)}
    zero_one = two_digits(0, 1)
    middle = zero_one.x.reshape(-1, 28, 28)[:, 13:15, 13:15].mean(axis=(1, 2))
    assert middle[zero_one.y == 0].mean() < 0.05 < 0.6 < middle[zero_one.y == 1].mean()


def test_neither_the_order_nor_a_wide_margin_makes_the_reader_of_digits_better(lesson, pair, reader):
    margins, misses = lesson["digit_margins"], lesson["misses"]
    for w in (*lesson["hyperplanes"], lesson["together"]):
        np.testing.assert_array_equal(ops.perceptron_predict(pair.x, w), pair.y)
    assert (len(misses), misses[:20].min(), misses[:20].max(), misses[20]) == (21, 7, 14, 11)
    assert misses[20] == len(misread(pair, reader))
    assert margins[20] == pytest.approx(0.31, abs=5e-3)
    assert margins[20] > 4 * margins[:20].max()
    expected = 200 * np.mean(misses) / 200
    assert 3 <= np.sqrt(expected * (1 - expected / 200)) < 4, "three or four more or less are chance"


def test_the_4_at_the_top_was_bad_luck_and_three_digits_fool_every_reader(lesson, pair, reader):
    wrong, first = lesson["wrong_new"], lesson["first"]
    assert pair.y_new[first] == 0
    assert (wrong[:20, first].sum(), wrong[20, first]) == (10, False)
    all_22 = np.vstack([wrong, ops.perceptron_predict(pair.x_new, reader.w) != pair.y_new])
    assert (all_22.all(axis=0).sum(), all_22.sum(axis=1).min()) == (3, 7)


def test_hardly_a_new_point_but_one_new_digit_in_four_steps_farther_towards_the_cut_than_the_margin(lesson, pair):
    across, wide, wrong = lesson["across"], lesson["wide"], lesson["wrong_new"][20]
    assert np.mean(across["points"] > wide["points"]) == pytest.approx(0.016, abs=5e-4)
    unprotected = across["digits"] > wide["digits"]
    assert (unprotected.sum(), wrong.sum(), (wrong & unprotected).sum()) == (53, 11, 11)
    widest_wrong = ops.perceptron_predict(lesson["new_points"], lesson["widest"]) != lesson["new_labels"]
    assert (across["points"][widest_wrong] > wide["points"]).all(), "who is misread is unprotected"
    assert round(wide["digits"], 2) == 0.31
    scores = np.abs(ops.add_bias_input(pair.x) @ lesson["hyperplanes"][20])
    distances = scores / np.linalg.norm(lesson["hyperplanes"][20][:-1])
    assert np.mean(distances > 1.01 * wide["digits"]) > 0.5, "most old digits keep more than the margin away"
    assert round(np.median(lesson["steps"]["digits"]) ** 2) == 42  # pixels that differ
    assert np.median(lesson["steps"]["points"]) < wide["points"]


def test_more_examples_leave_a_third_of_the_mistakes_and_the_sum_of_the_orders_is_a_little_better(lesson, pair):
    means = [mean for _, mean in lesson["rows"]]
    assert (np.diff(means) < 0).all()
    assert 0.3 < means[4] / means[0] < 0.4
    assert 9.5 < lesson["misses"][:20].mean() < 10
    assert means[5] == 8
    for some in [np.random.default_rng(s).permutation(800)[:50] for s in range(5)]:
        assert ops.perceptron_fit(pair.x[some], pair.y[some]).converged
    digits = two_digits(3, 8)
    runs = lines.random_orders(digits.x, digits.y, 20, np.random.default_rng(1))
    counts = [np.sum(ops.perceptron_predict(digits.x_new, run.w) != digits.y_new) for run in runs]
    of_sum = np.sum(ops.perceptron_predict(digits.x_new, sum(run.w for run in runs)) != digits.y_new)
    assert min(counts) < of_sum < np.mean(counts) - 1


def test_3000_points_drawn_freely_overlap(lesson):
    """A point of label 1 within a triangle of points of label 0: whatever line has these on one side has it there."""
    x, y = lesson["new_points"][:3000], lesson["new_labels"][:3000]
    zero, one = x[y == 0], x[y == 1]
    deepest = one[one.sum(axis=1).argmin()]
    a, b, c = zero[(zero @ [1, 1]).argmax()], zero[(zero @ [1, -1]).argmax()], zero[(zero @ [-1, 0]).argmax()]
    inside = np.linalg.solve(np.column_stack([b - a, c - a]), deepest - a)
    assert inside.min() > 0
    assert inside.sum() < 1


# ------------------------------------------------------------------------------------------------ lines and margins


def test_order_decides_between_one_wrong_point_in_ten_and_one_in_170(lesson):
    worst, best = min(lesson["shares"]), max(lesson["shares"])
    assert 9.5 < 1 / (1 - worst) < 10.5
    assert 160 < 1 / (1 - best) < 180
    assert 0.085 < best - worst < 0.095
    margins = [lesson["margin"](lesson["points"], lesson[name]) for name in ("worst", "best")]
    widest = lesson["margin"](lesson["points"], lesson["widest"])
    assert 0.98 < margins[1] / widest <= 1
    assert all(run.converged for run in lesson["runs"])


def test_the_middle_samples_exchanged_give_the_mirror_image_of_nands_run(lesson):
    mirrored = [1, 0, 2]
    steps = zip(lesson["fit"].steps, lesson["other"].steps, strict=True)
    assert all(np.array_equal(a.w_after[mirrored], b.w_after) for a, b in steps)
    np.testing.assert_array_equal(lesson["other"].w, [-1, -2, 2])


def test_line_b_has_the_narrower_margin_keeps_farther_from_both_centres_and_does_better(lesson):
    a, b = lesson["wider"], lesson["narrower"]
    margins, shares = lesson["margins"], lesson["shares"]
    centres = ops.add_bias_input(np.array(lesson["clouds"]["centers"]))
    near = {k: np.sort(np.abs(centres @ lesson["runs"][k].w)) / np.linalg.norm(lesson["runs"][k].w[:2]) for k in (a, b)}
    assert margins[a] > 2 * margins[b]
    assert (near[b] > near[a]).all()
    assert [round(shares[k], 3) for k in (b, a)] == [0.982, 0.955]
    inputs = np.abs(ops.add_bias_input(lesson["points"]) @ lesson["runs"][b].w)
    assert np.sum(inputs < margins[a] * np.linalg.norm(lesson["runs"][b].w[:2])) == 1, "a single point lies near B"


def test_of_50_lines_the_wider_margin_is_better_in_three_pairs_of_four_with_exceptions(lesson):
    margins, shares = lesson["margins"], lesson["shares"]
    assert len(margins) == len(shares) == 50
    assert 0.7 < lesson["agree"] < 0.8
    assert np.sum(margins > 0.35) == 4
    assert (shares[margins > 0.35] > 0.985).all()
    assert np.sum(margins < 0.1) == 18
    assert 0.90 < shares[margins < 0.1].min() < shares[margins < 0.1].max() < 0.975


def test_the_points_of_the_drag_figure_are_those_of_the_50_runs(lesson):
    np.testing.assert_array_equal(lesson["drawn"], lesson["points"])
    np.testing.assert_array_equal(lesson["said"], lesson["labels"])


def test_the_crowd_hardly_matters_to_the_corrections(lesson):
    (_, few, _), _, (n, many, most) = lesson["needed"]
    assert n == 3000
    assert few < many < 2 * few
    assert most < 50


def test_no_run_of_the_page_makes_more_corrections_than_the_theorem_allows(lesson):
    made = [max(counted) for *_, counted in lesson["tasks"]]
    assert made == [12, 31, 351]
    most = [k for *_, k in lesson["bounds"]]
    np.testing.assert_allclose(most, [51, 612, 1915], rtol=2e-3)
    assert all(a < b for a, b in zip(made, most, strict=True))


def test_the_margin_of_the_proof_is_narrower_than_that_of_the_plane(lesson):
    x, y = data.truth_table("nand")
    line = np.array([-1.0, -1.0, 1.5])
    assert round(corrections.bound(x, y, line)[1], 2) == 0.24
    assert round(lesson["margin"](x, line), 2) == 0.35


@pytest.mark.parametrize("start", [(5.0, -3.0, 0.5), (-40.0, 7.0, 30.0)])
def test_from_another_start_the_run_stays_between_a_floor_and_a_ceiling_that_begin_there(start):
    x, y = data.truth_table("nand")
    u = np.array([-2, -2, 3]) / np.sqrt(17)
    fit = ops.perceptron_fit(x, y, w=np.array(start), epochs=1000)
    assert fit.converged
    longest, gamma, _ = corrections.bound(x, y, u)
    along, lengths = corrections.progress(fit, u)
    k = np.arange(len(along))
    assert (along >= u @ start + gamma * k - 1e-9).all()
    assert (lengths <= np.sqrt(np.dot(start, start) + longest**2 * k) + 1e-9).all()
    assert (np.sqrt(np.dot(start, start) + longest**2 * k) <= np.linalg.norm(start) + longest * np.sqrt(k) + 1e-9).all()


def test_the_crowds_first_row_and_the_50_orders_are_different_experiments(lesson):
    (_, _, most), *_ = lesson["needed"]
    assert most == 24
    assert max(lesson["tasks"][1][3]) == 31


@pytest.mark.parametrize("name", ["xor", "no_bias"])
def test_weights_that_come_back_with_a_mistake_between_prove_that_a_run_never_ends(lesson, name):
    run = lesson[name]
    entered, length = lines.cycle_of(run)
    assert sum(run.mistakes_per_epoch[entered : entered + length]) > 0
    n = len(run.steps) // run.epochs
    ends = [tuple(step.w_after) for step in run.steps[n - 1 :: n]]
    assert all(a == b for a, b in zip(ends[entered - 1 :], ends[entered - 1 + length :], strict=False))


def test_a_run_that_has_converged_repeats_its_weights_without_a_mistake(lesson):
    entered, length = lines.cycle_of(lesson["fit"])
    assert sum(lesson["fit"].mistakes_per_epoch[entered : entered + length]) == 0


def test_nand_never_needs_more_than_51_corrections_and_its_run_stays_between_floor_and_ceiling(lesson):
    x, y = data.truth_table("nand")
    u = np.array([-2, -2, 3]) / np.sqrt(17)
    np.testing.assert_allclose(ops.add_bias_input(x) @ u * np.sqrt(17), [3, 1, 1, -1])
    longest, gamma, most = corrections.bound(x, y, u)
    np.testing.assert_allclose([longest**2, 1 / gamma**2, most], [3, 17, 51])
    along, lengths = corrections.progress(lesson["fit"], u)
    k = np.arange(len(along))
    assert k[-1] == corrections.made(lesson["fit"]) == 10
    assert (along >= gamma * k - 1e-12).all()
    assert (lengths <= longest * np.sqrt(k) + 1e-12).all()
    assert (along <= lengths + 1e-12).all()


def test_the_third_epoch_on_xor_ends_where_it_began(lesson):
    steps = lesson["xor"].steps
    np.testing.assert_array_equal([s.w_after for s in steps[4:12]], [
        (-1, 0, -1), (-1, 1, 0), (0, 1, 1), (-1, 0, 0), (-1, 0, -1), (-1, 1, 0), (0, 1, 1), (-1, 0, 0),
    ])  # fmt: skip
    assert lesson["xor"].mistakes_per_epoch[:3] == [3, 3, 4]
    assert np.sum(ops.perceptron_predict(lesson["x_xor"], np.array([-1.0, 0, 0])) == lesson["y_xor"]) == 2


def test_a_learning_rate_only_scales_weights_that_start_at_zero_and_another_start_gives_another_line():
    x, y = data.truth_table("nand")
    for lr in (0.5, 8.0):
        fit = ops.perceptron_fit(x, y, lr=lr)
        np.testing.assert_array_equal(fit.w, lr * np.array([-2, -1, 2]))
        assert fit.epochs == 6
    w = ops.perceptron_fit(x, y, w=np.array([5.0, -3.0, 0.5])).w
    np.testing.assert_array_equal(w, [-2, -1, 2.5])
    assert np.min(np.abs(ops.add_bias_input(x) @ w)) / np.hypot(*w[:2]) == pytest.approx(0.22, abs=5e-3)


def test_thirty_noisy_points_give_nearly_the_line(lesson):
    np.testing.assert_allclose([*lesson["w_line"], lesson["b_line"]], [2, -1], atol=0.1)
    squares = [np.sum((w * np.ones(3) + (1 - w) - [0, 1, 2]) ** 2) for w in (-5, 0, 1, 7)]
    assert len(set(squares)) == 1, "where all x are equal, many lines are equally good"


def test_the_loop_on_the_page_is_the_librarys(lesson):
    for name in ("nand", "and", "or"):
        x, y = data.truth_table(name)
        w, epochs = lesson["train"](x, y, lr=1.0, epochs=100)
        fit = ops.perceptron_fit(x, y)
        np.testing.assert_array_equal(w, fit.w)
        assert epochs == fit.epochs
    assert lesson["train"](*data.truth_table("xor"), lr=1.0, epochs=5)[1] is None


# ------------------------------------------------------------------------------------------------ the page


@pytest.mark.parametrize("line", [
    "weights [-2. -1.  2.]  epochs 6",
    "mistakes per epoch: [1, 3, 3, 2, 1, 0]  corrections: 10",
    "digits (800, 784)  weights (785,)  converged True",
    "mistakes per epoch [104, 43, 30, 23, 16, 10, 15, 22, 8, 9, 9, 0]",
    "189 of 200 new digits are read correctly: 94.5%",
    "in the order 00, 10, 01, 11: [-1. -2.  2.]",
    "margin of the learned line:       0.00",
    "margin of the line x1 + x2 = 1.5: 0.35",
    "Of two lines the one with the wider margin does better in 74% of all pairs.",
    "the best of 81 pairs of weights: 3 of 4",
    "training: converged False  mistakes in the last epochs [3, 3, 3]",
    "its answers [1 0 0 0]  labels [1 1 1 0]",
    "the 4 is misread in 10 of the 20 orders, but not with the wide margin",
    "by all of them: 3",
    "XOR: the weights of epoch 2 are back after 1 epoch(s), with 4 mistakes between",
])  # fmt: skip
def test_the_page_prints(printed, line):
    assert line in printed


@pytest.mark.parametrize("row", [
    "4 16 8", "7 2 1", "nand (\u22122, \u22121, 2) 6 yes", "and (2, 1, \u22123) 6 yes", "or (1, 1, \u22121) 4 yes",
    "(\u22122, \u22121, 2) 12", "(\u22121, \u22122, 2) 12", "1 (\u22121, 0, \u22121) 3",
    "2 (\u22121, 0, 0) 3", "5 (\u22121, 0, 0) 4", "(1, 1) 0 2 1 (\u22121, 0, 0)",
    "NAND 4 1.73 0.24 51 12", "points 30 4.52 0.18 612 31", "digits 800 13.67 0.31 1,915 351",
    "A 0.28 95.5%", "B 0.12 98.2%", "points 0.51 1.6%", "digits 0.31 26.5%", "800, sum of 20 orders 8.0",
])  # fmt: skip
def test_a_table_of_the_page_has_the_row(shown, row):
    assert row in [" ".join(line.split()) for line in shown.splitlines()]


@pytest.mark.parametrize("kind", [
    "classification", "regression", "transcription", "translation", "structured output", "anomaly detection",
    "variant calling", "synthesis",
])  # fmt: skip
def test_kinds_of_tasks_are_folded(prose, kind):
    fold = prose.split("Reading digits is one kind of task")[1].split("</details>")[0]
    assert f"**{kind}**" in fold


@pytest.mark.parametrize("words", [
    "Use it where a mistake is cheap", "described the perceptron in 1958", "Rosenblatt", "In 1969", "Minsky",
    "In **training** the program finds numbers, called **weights**", "In **inference** the weights stay fixed",
    "28 \\times 28 = 784",
])  # fmt: skip
def test_the_page_tells(prose, words):
    assert words in prose


def test_a_wrong_answer_has_one_name_and_a_change_of_weights_another(prose):
    before, after = prose.split("When the answer is a number")
    page = before + after.split("How many corrections can it need?")[1]
    assert "differs from the label is a **mistake**" in page
    assert "a **correction**" in page
    assert "error" not in page, "an error is a difference of numbers, and comes with regression"


def test_each_exercise_leads_to_a_section_of_the_lesson():
    script = (NOTEBOOKS / "01_perceptron.py").read_text(encoding="utf-8").splitlines()
    for exercise in sheet("01_perceptron").exercises:
        assert f"# ## {exercise.section}" in script, exercise.id
