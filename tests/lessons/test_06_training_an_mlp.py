"""Lesson 06: what must come out, in the lesson's own numbers, in the library, and on its page."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

from course_lib import checks, data, nn
from course_lib import reference as ops
from course_lib.figures import valleys
from course_lib.figures.valleys import steps_to_bottom
from course_lib.lesson import pushes
from course_lib.lesson.whole_batch import steps_until
from course_lib.nn import models


def test_no_accuracy_says_which_way_to_go(lesson, printed):
    """A count does not change with a small change of a weight, here of each of ten biases; the loss does."""
    assert "the accuracy has changed: False\nthe loss has changed:     True" in printed
    net = models.mlp((784, 128, 10), rng=np.random.default_rng(0))
    before = nn.evaluate(net, lesson["x_fit"], lesson["y_fit"])
    net.parameters()["2.b"][2] += 1e-3  # ten times the change of the page
    after = nn.evaluate(net, lesson["x_fit"], lesson["y_fit"])
    assert after.accuracy == before.accuracy
    assert after.loss > before.loss


def test_softmax_by_hand(lesson, printed, prose):
    np.testing.assert_allclose(lesson["k"], [0.665, 0.245, 0.090], atol=5e-4)
    assert "sum 11.107 -> [0.665 0.245 0.09 ]" in printed
    source = inspect.getsource(ops.softmax)
    for line in ("e = np.exp(z - z.max(axis=-1, keepdims=True))", "return e / e.sum(axis=-1, keepdims=True)"):
        assert line in source
        assert line in prose


def test_of_two_classes_the_one_with_a_score_larger_by_1_is_e_times_as_probable(prose):
    assert "of two classes, the one whose score is larger by 1 is $e \\approx 2.7$ times as probable" in prose
    z = np.random.default_rng(5).normal(size=6)
    z[4] = z[1] + 1
    k = ops.softmax(z)
    assert k[4] / k[1] == pytest.approx(np.e)
    raised = ops.softmax(np.array([3.0, 1, 0]))[0] / ops.softmax(np.array([2.0, 1, 0]))[0]
    assert raised == pytest.approx(1.27, abs=5e-3), "raising a score by 1 does not make its own probability e times"


def test_the_jacobian_of_the_page_is_measured_and_has_the_numbers_of_the_text(lesson, printed, prose):
    k, jacobian = lesson["k"], lesson["jacobian"]
    expected = np.array([[k[i] * ((i == m) - k[m]) for m in range(3)] for i in range(3)])
    np.testing.assert_allclose(jacobian, expected, rtol=1e-12)
    np.testing.assert_allclose(jacobian, lesson["measured"], rtol=1e-6)
    np.testing.assert_allclose(jacobian, ops.softmax_jacobian(k), rtol=1e-12)
    assert "$0.665 \\cdot 0.335 = 0.223$" in prose
    assert "$-0.665 \\cdot 0.245 = -0.163$" in prose
    assert round(0.665 * 0.335, 3) == 0.223 == round(jacobian[0, 0], 3)
    assert round(-0.665 * 0.245, 3) == -0.163 == round(jacobian[0, 1], 3)
    np.testing.assert_allclose(jacobian.sum(axis=0), 0, atol=1e-15)
    np.testing.assert_allclose(jacobian.sum(axis=1), 0, atol=1e-15)
    assert "as measured: True" in printed


def test_softmax_backward_compares_each_slope_with_the_mean_weighted_by_k():
    rng = np.random.default_rng(3)
    k, dk = ops.softmax(rng.normal(size=7)), rng.normal(size=7)
    np.testing.assert_allclose(ops.softmax_backward(dk, k), k * (dk - np.average(dk, weights=k)), rtol=1e-12)
    np.testing.assert_allclose(ops.softmax_backward(dk, k), dk @ ops.softmax_jacobian(k), rtol=1e-10)


def test_the_gradient_of_the_cross_entropy_is_k_minus_y(lesson, printed):
    np.testing.assert_allclose(-1 / lesson["k"][1], -4.09, atol=5e-3)
    assert "dz [ 0.665 -0.755  0.09 ]" in printed
    assert "equal to (k - y) / B: True" in printed
    rng = np.random.default_rng(1)
    z, labels = rng.normal(size=(5, 10)), rng.integers(10, size=5)
    _, cache = ops.softmax_cross_entropy_forward(z, labels)
    expected = (ops.softmax(z) - np.eye(10)[labels]) / 5
    np.testing.assert_allclose(ops.softmax_cross_entropy_backward(cache), expected, rtol=1e-12)
    checks.check_op_gradients(
        ops.softmax_cross_entropy_forward, ops.softmax_cross_entropy_backward, [z, labels], rng=rng
    )


def test_only_the_cross_entropy_pushes_harder_where_the_network_is_sure_and_wrong(lesson, shown):
    push = pushes([0, 12])
    assert [name for name, (first, last) in push.items() if last > first] == ["cross-entropy"]
    assert push["cross-entropy"][1] == pytest.approx(1.41, abs=5e-3)
    assert max(push["1 - k[T]"][1], push["expected squared distance"][1]) < 0.001
    assert re.search(r"1 - k\[T\] +0.272 +0.000009\n", shown)
    assert ops.softmax(np.array([12.0, 0, 0]))[0] > 0.9999
    for name, forward in (
        ("1 - k[T]", ops.one_minus_probability_forward),
        ("expected squared distance", ops.expected_squared_distance_forward),
    ):
        for s in (0.0, 3.0, 12.0):
            by_measuring = checks.numerical_gradient(
                lambda z, f=forward: f(ops.softmax(z[None]), np.array([2]))[0], np.array([s, 0, 0])
            )
            assert np.linalg.norm(by_measuring) == pytest.approx(pushes([s])[name][0], rel=1e-3, abs=1e-9)


def test_at_three_rates_the_expected_squared_distance_gets_stuck_in_the_middle_and_is_sure(lesson, prose):
    crossed, squared = lesson["trials"][::2], lesson["trials"][1::2]
    assert [t[0] for t in crossed] == [t[0] for t in squared] == [0.1, 0.01, 0.001]
    assert min(t[2] for t in crossed[:2]) > 0.8
    for better, worse in zip(crossed, squared, strict=True):
        assert worse[2] < 0.5
        assert worse[2] < better[2] - 0.1
        assert set(worse[3].split(", ")) <= set("3456")
        assert len(worse[3].split(", ")) <= 3
        assert better[3] == "all ten" or better[0] == 0.001
        assert worse[4] > 0.7, "sure of what it answers"
    costs = [np.mean([(j - T) ** 2 for T in range(10)]) for j in range(10)]
    assert costs == [28.5, 20.5, 14.5, 10.5, 8.5, 8.5, 10.5, 14.5, 20.5, 28.5]
    assert "the answer 4 or 5 costs 8.5 on average, 3 or 6 costs 10.5, and 0 or 9 costs 28.5" in prose
    assert max((j - T) ** 2 for j in range(10) for T in range(10)) == 81
    assert "Nothing here says that no other training can succeed" in prose


@pytest.mark.parametrize("lr", [0.1, 0.01])
def test_its_two_answers_are_not_the_cheapest_ones_for_what_it_tells_apart(lr):
    digits = data.load_digits(0)
    x, y = digits.x_train[:3200], digits.y_train[:3200]
    rng = np.random.default_rng(0)
    net = nn.Sequential(*models.mlp((784, 128, 10), rng=rng), nn.Softmax())
    nn.train(net, (x, y), epochs=10, batch_size=64, lr=lr, momentum=0.0, rng=rng, loss="expected_squared_distance",
             progress=False)  # fmt: skip
    answers = net.predict(x)
    assert set(answers.tolist()) == {3, 5}
    for answer, cheapest in ((3, 2), (5, 6)):
        labels = y[answers == answer]
        assert np.argmin([np.mean((j - labels) ** 2) for j in range(10)]) == cheapest
    assert np.mean(answers[y < 4] == 3) > 0.8, "most of the small ones"
    assert np.mean(answers[y > 5] == 5) > 0.9
    together = np.mean((answers - y) ** 2)
    assert together < min(np.mean((j - y) ** 2) for j in range(10)), "two answers cost less than one"


def test_an_internship_has_691200_labels(printed):
    assert "691,200 labels in an internship" in printed
    assert round(16 * 120 * 3600 * 0.1) == 691_200


def test_momentum_lengthens_a_steady_step_tenfold(printed):
    w, v = np.array([0.0]), np.array([0.0])
    for _ in range(200):
        before = w.copy()
        ops.sgd_step([w], [np.array([1.0])], 0.1, 0.9, [v])
    assert (w - before).item() == pytest.approx(-1.0)
    assert "[-0.1   -0.19  -0.271 -0.344] ... -0.995" in printed


def test_the_valley_has_the_counts_of_the_text(lesson, shown, prose):
    assert lesson["needed"] == {0: 157, 0.5: 76, 0.8: 35, 0.9: 69, 0.98: 376}
    assert re.search(r"\n +0.98 +376\n", shown + "\n")
    assert "without momentum it is at the bottom after 157 steps; with momentum 0.9 it is at the bottom after 69" in (
        shown
    )
    assert steps_to_bottom((-9, 1.5), 2.0, 0.0) is None
    assert steps_to_bottom((-9, 1.5), 3.5, 0.9) == 87
    assert [steps_to_bottom((-9, 1.5), lr, 0.9) is None for lr in (3.7, 3.9)] == [False, True], "the limit is 3.8"
    assert "$2(1 + \\mu)$ divided by the curvature, here 3.8, so with momentum 0.9 even a rate of 3.5" in prose
    assert valleys.BOTTOM == 0.001
    assert "the loss stays below 0.001 after 157 steps without momentum, and after 69 with 0.9" in prose


@pytest.mark.parametrize(("mu", "steps", "counted"), [(0.9, 70, 69), (0.98, 363, 376)])
def test_while_it_swings_each_step_leaves_about_the_share_mu_of_the_loss(mu, steps, counted, prose):
    path = valleys.height(valleys.walk((-9, 1.5), 1.9, mu, 500))
    assert path[0] == pytest.approx(1.53, abs=0.005)
    assert round(float(np.log(1530) / -np.log(mu))) == steps
    assert steps_to_bottom((-9, 1.5), 1.9, mu) == counted
    turns = 100  # the mean share over many steps, whatever the phase of the swing
    assert (path[turns + 60 :].max() / path[60:-turns].max()) ** (1 / turns) == pytest.approx(mu, abs=0.01)
    assert "70 with 0.9, 363 with 0.98" in prose


def test_the_answers_of_try_it_on_the_valley():
    def best(lr):
        found = {round(mu, 2): steps_to_bottom((-9, 1.5), lr, round(mu, 2)) for mu in np.arange(0, 0.99, 0.02)}
        least = min(n for n in found.values() if n is not None)
        return least, [mu for mu, n in found.items() if n == least]

    assert best(1.9) == (31, [0.76, 0.78])
    assert best(3.5) == (39, [0.78])
    assert [steps_to_bottom((-9, 0), lr, 0.0) for lr in (2.0, 4.0)] == [149, 74]


def test_a_long_plain_step_silences_the_network_and_momentum_takes_it(lesson, prose):
    needed, silent = lesson["needed_by"], lesson["silent_in"]
    for length in (0.4, 0.8):
        assert needed["plain", length] == pytest.approx(needed["0.9", length], rel=0.25)
        assert needed["gentle", length] == pytest.approx(needed["0.9", length], rel=0.3)
        assert silent["plain", length] < 32
    for length in (1.6, 2.0, 4.0):
        assert needed["plain", length] is None
        assert silent["plain", length] > 64, "most of the 128"
        assert silent["0.9", length] < 32
    for length in (2.0, 4.0):
        assert needed["gentle", length] is None
    counts = [needed["0.9", length] for length in lesson["long_term"]]
    assert counts == sorted(counts, reverse=True), "momentum gets faster with every longer step"
    assert "has not arrived after 200 steps" in prose
    assert "with it, plain descent may arrive at 1.6, too. But at 2.0 and 4.0 it still does not" in prose
    assert "never arrives" not in prose


def test_the_gentle_start_is_that_of_momentum_under_a_steady_gradient(lesson):
    speed, _ = lesson["kinds"]["gentle"]
    w, v = np.array([0.0]), np.array([0.0])
    for step in range(30):
        before = w.copy()
        ops.sgd_step([w], [np.array([1.0])], 0.1, 0.9, [v])
        assert (before - w).item() == pytest.approx(speed(step, 1.0))


@pytest.mark.parametrize("seed", [1, 2])
def test_other_starts_agree_about_the_long_step(seed):
    digits = data.load_digits(0)
    x, y = digits.x_train[:1000], digits.y_train[:1000]

    def descent(lr, momentum):
        net = models.mlp(rng=np.random.default_rng(seed))
        found = steps_until(net, x, y, lr=lr, momentum=momentum, below=0.1, most=120)
        p = net.parameters()
        return found.steps, ((x @ p["0.w"] + p["0.b"]).max(axis=0) <= 0).sum()

    for speed in (2.0, lambda step: 2.0 * (1 - 0.9 ** (step + 1))):
        steps, silent = descent(speed, 0.0)
        assert steps is None
        assert silent > 64
    steps, silent = descent(0.2, 0.9)
    assert steps < 60
    assert silent < 32


def test_steps_until_stops_where_the_loss_is_below_and_says_when_it_never_is():
    digits = data.load_digits(0)
    x, y = digits.x_train[:100], digits.y_train[:100]
    net = models.mlp((784, 8, 10), rng=np.random.default_rng(0))
    found = steps_until(net, x, y, lr=0.1, momentum=0.9, below=0.5, most=100)
    loss = ops.softmax_cross_entropy_forward(net.forward(x), y)[0]
    assert loss < 0.5
    again = models.mlp((784, 8, 10), rng=np.random.default_rng(0))
    assert steps_until(again, x, y, lr=0.1, momentum=0.9, below=0.5, most=found.steps).steps == found.steps
    again = models.mlp((784, 8, 10), rng=np.random.default_rng(0))
    assert steps_until(again, x, y, lr=0.1, momentum=0.9, below=0.5, most=found.steps - 1).steps is None
    start = models.mlp((784, 8, 10), rng=np.random.default_rng(0))
    assert steps_until(start, x, y, lr=0.1, momentum=0.9, below=50, most=5).steps == 0
    with pytest.raises(ValueError, match="below"):
        steps_until(start, x, y, lr=0.1, momentum=0.9, below=0, most=5)


def test_the_loop_of_the_page_is_the_librarys(printed):
    assert "the same weights: True" in printed


def test_training_accuracy_is_full_although_validation_accuracy_is_not(lesson):
    fitted, validated = lesson["accuracies"][-1]
    assert fitted >= 0.999
    assert 0.90 <= validated <= 0.96


def test_overfitting_is_seen_in_the_validation_loss_and_not_in_its_accuracy(lesson):
    history = lesson["history"]
    assert history.val_loss[-1] > 1.05 * min(history.val_loss)
    assert history.val_accuracy[-1] > max(history.val_accuracy) - 0.02


def test_the_curves_measure_both_sets_on_the_same_weights_after_each_epoch(lesson):
    curves = lesson["curves"]
    assert curves.loss[-1] == nn.evaluate(lesson["first"], lesson["x_fit"], lesson["y_fit"]).loss, "the same network"
    assert curves.accuracy[0] > curves.val_accuracy[0], "no mean over an epoch that began with random weights"
    assert len(curves.loss) == len(curves.val_loss) == 20
    np.testing.assert_allclose([validated for _, validated in lesson["accuracies"][1:]], curves.val_accuracy)


def test_the_rise_of_the_loss_comes_from_mistakes_that_are_the_same_at_both_moments(lesson, prose):
    """Measured on the same images: those wrong at both moments; the others together cost less than before."""
    best, again = lesson["best"], lesson["again"]
    y, first, last = lesson["y_val"], lesson["opinions"][lesson["best"]], lesson["opinions"][-1]
    assert (again == ((first.argmax(axis=1) != y) & (last.argmax(axis=1) != y))).all()
    assert again.sum() > lesson["wrong"][-1].sum() / 2
    assert last[again].max(axis=1).mean() > first[again].max(axis=1).mean() + 0.02
    cost = {20: -np.log(last[np.arange(800), y]), best: -np.log(first[np.arange(800), y])}
    for epoch in (best, 20):
        parts = sum(lesson[part][epoch] for part in ("from_again", "from_new", "from_rest"))
        assert parts == pytest.approx(lesson["history"].val_loss[epoch - 1], rel=1e-3)
    assert cost[20][again].sum() > cost[best][again].sum()
    assert cost[20][~again].sum() < cost[best][~again].sum()
    rise = {part: lesson[part][20] - lesson[part][best] for part in ("from_again", "from_new", "from_rest")}
    assert rise["from_again"] > 3 * rise["from_new"]  # "the few new mistakes add little"
    assert rise["from_rest"] < 0
    assert "it is the old mistakes that drive the loss up" in prose


def test_20_epochs_have_more_right_answers_than_the_epoch_of_the_lowest_loss(lesson):
    assert lesson["accuracies"][-1][1] > lesson["validated"]
    assert lesson["stopped"].stopped_early
    assert lesson["stopped"].epochs < 30


def test_the_network_is_surer_than_right_and_after_20_epochs_about_twice_as_much(lesson):
    """What "choose by the loss" is worth: how sure it is on average, against how often it is right."""
    best = lesson["stopped"].best_epoch + 1
    sure = {epoch: lesson["opinions"][epoch].max(axis=1).mean() for epoch in (best, 20)}
    right = {epoch: lesson["accuracies"][epoch][1] for epoch in (best, 20)}
    assert sure[best] > right[best]
    assert 1.5 < (sure[20] - right[20]) / (sure[best] - right[best]) < 3


def test_the_best_of_1000_guessers_looks_twice_as_good_as_chance(printed):
    assert "best of 1,000: 20% on validation, 9.6% on test" in printed
    uncertain = np.sqrt(0.1 * 0.9 / 100)
    assert uncertain == pytest.approx(0.03)
    best = [np.random.default_rng(seed).binomial(100, 0.1, 1000).max() / 100 for seed in range(20)]
    assert (np.mean(best) - 0.1) / uncertain == pytest.approx(3.3, abs=0.4)  # "three uncertainties above the middle"


def test_mlps_reach_93_percent_on_test_digits_with_full_training_accuracy(lesson):
    assert lesson["fitted"].min() >= 0.999
    assert min(lesson["test_all"]) >= 0.93
    assert max(lesson["test_all"]) < 0.97
    every = np.concatenate([lesson["test"], lesson["test_all"]])
    assert 3.5 < 100 * (1 - every).min() <= 100 * (1 - every).max() < 6.5  # "five or six new digits in a hundred"
    first = nn.evaluate(lesson["first"], lesson["digits"].x_test, lesson["digits"].y_test).accuracy
    assert 4.5 < 100 * (1 - first) < 6.5
    assert (16 * -(-4000 // 64), 20 * -(-3200 // 64)) == (1008, 1000)
    assert len(lesson["nets"]) == 5


def test_800_more_digits_gain_more_than_the_spread_explains(lesson, shown):
    """What the page says of the gain is what the five starts support, not one pair of numbers."""
    gain = lesson["gain"]
    np.testing.assert_allclose(gain, 100 * (lesson["test_all"] - lesson["test"]), rtol=1e-12)
    assert gain.mean() > 2 * gain.std(ddof=1) / np.sqrt(5)
    assert 0.3 < gain.mean() < 1.3
    told = re.search(r"800 more digits gain ([\d.]+) points on average, ([\d.]+) times the uncertainty", shown)
    assert float(told[2]) > 2
    assert np.sqrt(0.95 * 0.05 / 1000) == pytest.approx(0.007, abs=5e-4)


def test_validation_is_below_test_by_about_two_uncertainties_of_their_distance(lesson, prose):
    assert (lesson["test"] > lesson["validation"]).all()
    uncertain = np.hypot(np.sqrt(0.92 * 0.08 / 800), np.sqrt(0.945 * 0.055 / 1000))
    assert 100 * uncertain == pytest.approx(1.2, abs=0.05)
    assert 1.2 < (lesson["test"] - lesson["validation"]).mean() / uncertain < 2.5
    assert "and the distance between the two by 1.2. The distance that we found is about twice that" in prose


def test_worst_mistakes_are_made_with_near_certainty(lesson):
    assert len(lesson["worst"].index) == 20
    assert lesson["worst"].confidence[4] > 0.99


def test_disputed_labels_are_in_the_training_set_and_learned_as_they_are(lesson, printed):
    digits = data.load_digits(0)
    assert digits.y_train[[747, 2464, 2367]].tolist() == [7, 4, 2]
    assert digits.y_test[269] == 1
    assert lesson["net"].predict(digits.x_train[[747, 2464, 2367]]).tolist() == [7, 4, 2]
    assert "\n[7 4 2]\n" in printed


def test_shuffled_labels_are_learned_by_heart_and_worth_nothing(lesson, printed):
    assert lesson["on_train"] >= 0.99
    assert lesson["on_new"] < 0.16
    assert "labels that are still right: 10.0%" in printed
    assert lesson["random_labels"].answer == "nearly 100 % and about 10 %"
    runs = lesson["runs"]
    assert [len(runs[kind].accuracy) for kind in ("true", "shuffled")] == [100, 100]
    full = {kind: np.argmax(np.array(run.accuracy) > 0.99) for kind, run in runs.items()}
    assert full["shuffled"] > 3 * full["true"]  # "several times as fast"
    assert runs["true"].accuracy[-1] >= 0.999
    assert runs["true"].val_accuracy[-1] > 0.93
    assert (np.array(runs["true"].accuracy) > 0.999).argmax() < 25, "the alternative text: some twenty epochs"


@pytest.mark.parametrize(("kind", "limit", "first"), [(np.float32, 88.7228, 89), (np.float64, 709.7827, 710)])
def test_where_the_power_of_e_overflows(printed, kind, limit, first):
    with np.errstate(over="ignore"):
        powers = np.exp(np.arange(1000, dtype=kind))
    assert np.flatnonzero(np.isinf(powers))[0] == first
    assert np.log(float(np.finfo(kind).max)) == pytest.approx(limit, abs=1e-3)
    assert f"{kind.__name__}: e^{first} is the first inf; the limit is {limit:.2f}" in printed


def test_sum_of_powers_overflows_before_any_power_and_gives_zeros_without_nan(printed):
    with np.errstate(over="ignore"):
        powers = np.exp(np.array([88.5, 88.5, 0], dtype=np.float32))
        k = powers / powers.sum()
    assert np.isfinite(powers).all()
    np.testing.assert_array_equal(k, 0)
    assert "scores [89, 0, 0]: k = [nan  0.  0.], sum of k = nan" in printed
    assert "scores [88.5, 88.5, 0]: k = [0. 0. 0.], sum of k = 0.0" in printed


def test_library_is_right_at_scores_of_10_000(printed):
    z = np.array([[1e4, 1e4, 0]], dtype=np.float32)
    np.testing.assert_array_equal(ops.softmax(z), [[0.5, 0.5, 0]])
    loss, _ = ops.softmax_cross_entropy_forward(z, np.array([2]))
    assert loss == pytest.approx(1e4 + np.log(2), rel=1e-6)
    assert "scores (10000, 10000, 0): k = [0.5 0.5 0. ], loss for label 2: 10000.69" in printed


def test_pixels_that_are_not_divided_by_255_break_the_formula_in_the_first_batch(lesson):
    assert lesson["broken"] > 32
    assert 100 < lesson["start_loss"] < np.inf


def test_the_device_agrees_with_the_formulas_in_scores_loss_and_all_gradients(lesson, printed):
    names = ["scores", "loss", *(f"gradient of {n}" for n in ("0.w", "0.b", "2.w", "2.b"))]
    assert list(lesson["agree"]) == names
    assert all(lesson["agree"].values())
    assert f"equal to the formulas, within a thousandth of the largest value: {', '.join(names)}\n" in printed
    scores = lesson["by_formula"]["scores"]
    np.testing.assert_allclose(scores, lesson["by_library"].forward(lesson["x_val"][: len(scores)]), atol=1e-3)
    assert len(scores) in (64, 800)
    assert np.abs(lesson["by_formula"]["gradient of 0.w"]).max() > 1e-4, "zeros would agree with anything"


def test_all_disputed_labels_are_among_the_40_that_the_judges_doubt(lesson, prose):
    assert set(lesson["disputed"]) == {747, 2464, 2367} <= set(lesson["doubtful"].tolist())
    assert (np.sort(lesson["own"])[:40] == lesson["own"][lesson["doubtful"]]).all()
    assert "all three are among the 40" in prose


def test_a_t_is_read_as_a_1_and_white_on_black_is_worse_than_guessing(lesson):
    assert lesson["k_others"][5].argmax() == 1
    assert lesson["k_others"][5, 1] > 0.9
    assert lesson["white_on_black"] < 0.10


def test_in_white_on_black_the_ink_of_the_right_digit_speaks_against_it(lesson):
    x, y, net = lesson["digits"].x_test, lesson["digits"].y_test, lesson["net"]
    w, b = net.parameters()["0.w"], net.parameters()["0.b"]
    np.testing.assert_allclose((1 - x) @ w + b, (w.sum(axis=0) + 2 * b) - (x @ w + b), atol=1e-3)
    order = net.forward(1 - x).argsort(axis=1)  # the lowest first
    assert (order[:, :2] == y[:, None]).any(axis=1).mean() > 0.4, "nearly half, where 2 in 10 would be chance"
    assert lesson["among_the_lowest"] == pytest.approx((order[:, :2] == y[:, None]).any(axis=1).mean(), abs=0.01)


def test_the_argument_is_not_interrupted_and_nothing_is_used_before_it_is_explained():
    lines = (Path(__file__).parents[2] / "notebooks" / "06_training_an_mlp.py").read_text(encoding="utf-8")
    places = [lines.index(f"# ## {heading}\n") for heading in (
        "Three parts of the data", "From scores to probabilities, by hand",
        "What goes wrong: softmax as the formula says it", "Which loss, then?", "Mini-batches and momentum", "The loop",
        "What 100 % hides",
        "When to stop", "Why the validation score is not the answer", "Which mistakes?",
        "Who made the labels?", "Are the labels right?", "Labels that mean nothing", "So what does an accuracy tell?",
        "Is that all there is to training?", "Try it",
    )]  # fmt: skip
    assert places == sorted(places)
    opening = lines.index("# Before you read on")
    assert lines.index("x_fit, y_fit", opening) > places[0]
    assert lines.index("momentum", lines.index("# back, and nothing but the factor")) > places[4]


def test_the_predictions_are_not_given_away_before_they_are_asked():
    """By the prose that stands before each question, in the words of the script."""
    script = (Path(__file__).parents[2] / "notebooks" / "06_training_an_mlp.py").read_text(encoding="utf-8")
    before, _, _ = script.partition("more = predict(")
    assert "Which momentum is the best" not in before
    assert "figures.momentum_valley" not in before, "its slider would answer"
    before, _, _ = script.partition("random_labels = predict(")
    assert "runs[kind] = nn.train(memory" not in before
    assert "nothing to understand" not in before
    assert "only stored" not in before
    assert "learning by heart" not in before.lower()
    before, _, _ = script.partition("stuck = predict(")
    assert "middle digit" not in before


@pytest.mark.parametrize(("hidden", "gap"), [(8, (0.09, 0.20)), (1024, (0.05, 0.09))])
def test_the_smallest_network_has_the_largest_gap(lesson, hidden, gap):
    """The answer of "Try it"."""
    rng = np.random.default_rng(0)
    net = models.mlp((784, hidden, 10), rng=rng)
    x, y, x_val, y_val = (lesson[name] for name in ("x_fit", "y_fit", "x_val", "y_val"))
    nn.train(net, (x, y), epochs=20, batch_size=64, lr=0.1, momentum=0.9, rng=rng)
    fitted, validated = (nn.evaluate(net, *part).accuracy for part in ((x, y), (x_val, y_val)))
    low, high = gap
    assert low < fitted - validated < high
    assert 0.05 < np.subtract(*lesson["accuracies"][-1]) < 0.09, "the network of the page"


def test_1000_wrong_labels_cost_little_after_5_epochs_and_much_after_100(lesson):
    """The answer of "Try it"."""
    digits = lesson["digits"]
    rng = np.random.default_rng(0)
    y = digits.y_train.copy()
    y[:1000] = rng.permutation(y[:1000])
    net, right = models.mlp(rng=rng), []
    nn.train(net, (digits.x_train, y), epochs=100, batch_size=64, lr=0.1, momentum=0.9, rng=rng,
             on_epoch=lambda epoch, _: right.append(nn.accuracy(net.predict(digits.x_test), digits.y_test))
             if epoch in (4, 99) else None)  # fmt: skip
    right = lesson["test_all"][0] - np.array(right)
    assert 0.02 < right[0] < 0.09
    assert 0.11 < right[1] < 0.20


def test_erratum_relu_derivative_is_one_dg_dw_is_x_and_the_distance_is_linear_in_k(prose):
    rng = np.random.default_rng(2)
    x, w, labels = rng.normal(size=(4, 3)), rng.normal(size=(3, 5)), np.array([0, 3, 1, 4])
    difference = np.arange(5) - labels[:, None]

    def forward(w):
        g = ops.dense_forward(x, w)[0]
        k = ops.softmax(ops.relu(g))
        return ops.expected_squared_distance_forward(k, labels)[0], (g, k)

    def backward(cache, dk=difference**2 / 4, relu_prime=ops.relu_prime, times=lambda dg: x.T @ dg):
        g, k = cache
        return times(ops.softmax_backward(dk, k) * relu_prime(g))

    checks.check_op_gradients(forward, backward, [w], rng=rng)
    slide = (
        {"relu_prime": ops.relu},
        {"times": lambda dg: np.tile(dg.sum(axis=0) * w.sum(), (3, 1))},
        {"dk": 2 * difference / 4},
    )
    for slip in slide:
        with pytest.raises(checks.GradientMismatch):
            checks.check_op_gradients(forward, lambda cache, s=slip: backward(cache, **s), [w], rng=rng)
    assert "with any one of the slide's it is rejected" in prose


@pytest.mark.parametrize(
    "said",
    [
        "Those are **hyperparameters**,[^Dey \"Neural Networks\"]",
        "labels that can be trusted.[^Hwu \"Many Problems are Still Hard\"]",
        "It still takes human insight to find a structure",
        "they leave all others open.[^Hwu \"Labeled Data Provide a Partial Specification\"]",
        "what the weights are fitted to cannot test them",
        "written by employees of the US Census Bureau and by high school students, and collected by NIST",
        "Momentum is due to Polyak (1964), and the experiment with shuffled labels to Zhang and colleagues",
        "In float32, the power of a score of 89 is inf",
        "while its probabilities for new ones get worse",
        "learned anything about which digit is which",
        "The next lesson, [06b](06b_making_it_train.ipynb)",
    ],
)
def test_what_the_sources_hold_is_told(prose, said):
    assert said in prose


def test_code_that_a_reader_sees_has_no_marks_for_tools():
    script = (Path(__file__).parents[2] / "notebooks" / "06_training_an_mlp.py").read_text(encoding="utf-8")
    visible = [cell for cell in re.split(r"(?m)^# %%", script) if "hide-input" not in cell.split("\n")[0]]
    assert [cell for cell in visible if "fmt: skip" in cell] == []


def test_words_that_readers_stumbled_over_are_gone(prose):
    for word in ("rightly", "explain half a point", "In the end only", "by what it lacks of 1", "Roads add",
                 "at the expense of new", "so the loss is to blame", "last digits only",
                 "makes the probability"):  # fmt: skip
        assert word not in prose
