"""Lesson 06: what must come out, in the lesson's own numbers, in the library, and on its page."""

import inspect
import re

import numpy as np
import pytest

from course_lib import checks, data, nn
from course_lib import reference as ops
from course_lib.figures.valleys import steps_to_bottom
from course_lib.lesson import pushes
from course_lib.lesson.whole_batch import steps_until
from course_lib.nn import models


def test_softmax_by_hand(lesson, printed, prose):
    np.testing.assert_allclose(lesson["k"], [0.665, 0.245, 0.090], atol=5e-4)
    assert "sum 11.107 -> [0.665 0.245 0.09 ]" in printed
    source = inspect.getsource(ops.softmax)
    for line in ("e = np.exp(z - z.max(axis=-1, keepdims=True))", "return e / e.sum(axis=-1, keepdims=True)"):
        assert line in source
        assert line in prose


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


def test_the_expected_squared_distance_gets_stuck_in_the_middle_whatever_the_step(lesson):
    for cross_entropy, squared in zip(lesson["trials"][::2], lesson["trials"][1::2], strict=True):
        assert cross_entropy[3] > 0.8
        assert squared[3] < 0.5
        assert set(squared[4].split()) <= set("234567")
    assert [trial[1:3] for trial in lesson["trials"][::2]] == [(0.1, 0.9), (0.01, 0.0)]
    costs = [np.mean([(j - T) ** 2 for T in range(10)]) for j in range(10)]
    assert sorted(np.argsort(costs)[:2]) == [4, 5], "the cheapest answers while nothing is known"
    assert max((j - T) ** 2 for j in range(10) for T in range(10)) == 81


def test_an_internship_has_691200_labels(printed):
    assert "691,200 labels in an internship" in printed
    assert "13.9 hours for 5,000 digits" in printed
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
    assert "With momentum 0.9, even a rate of 3.5 gets there." in prose


def test_the_answers_of_try_it_on_the_valley():
    def best(lr):
        found = {round(mu, 2): steps_to_bottom((-9, 1.5), lr, round(mu, 2)) for mu in np.arange(0, 0.99, 0.02)}
        least = min(n for n in found.values() if n is not None)
        return least, [mu for mu, n in found.items() if n == least]

    assert best(1.9) == (31, [0.76, 0.78])
    assert best(3.5) == (39, [0.78])
    assert [steps_to_bottom((-9, 0), lr, 0.0) for lr in (2.0, 4.0)] == [149, 74]


def test_momentum_allows_the_network_a_step_that_plain_descent_cannot_take(lesson):
    table = {row[0]: row[1:] for row in lesson["valley"]}
    for length in (0.4, 0.8):
        plain, _, momentum, _ = table[length]
        assert int(plain) == pytest.approx(int(momentum), rel=0.25)
    for length in (1.6, 2.0, 4.0):
        assert table[length][0] == "never"
        assert table[length][1] > 10
    counts = [int(row[2]) for row in table.values()]
    assert counts == sorted(counts, reverse=True), "momentum gets faster with every longer step"


@pytest.mark.parametrize("seed", [1, 2])
def test_other_starts_agree_about_the_long_step(seed):
    digits = data.load_digits(0)

    def descent(lr, momentum):
        net = models.mlp(rng=np.random.default_rng(seed))
        x, y = digits.x_train[:1000], digits.y_train[:1000]
        return steps_until(net, x, y, lr=lr, momentum=momentum, below=0.1, most=120)

    assert descent(2.0, 0.0).steps is None
    assert descent(2.0, 0.0).rises > 10
    assert descent(0.2, 0.9).steps < 60


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
    best = history.best_epoch + 1
    assert (lesson["wrong"][best] & lesson["wrong"][-1]).sum() > lesson["wrong"][-1].sum() / 2
    assert lesson["sure"][-1] > lesson["sure"][best]


def test_20_epochs_have_more_right_answers_than_the_epoch_of_the_lowest_loss(lesson):
    assert lesson["accuracies"][-1][1] > lesson["validated"]
    assert lesson["stopped"].stopped_early
    assert lesson["stopped"].epochs < 30


def test_the_best_of_1000_guessers_looks_twice_as_good_as_chance(printed):
    assert "best of 1,000: 20% on validation, 9.6% on test" in printed


def test_mlps_reach_93_percent_on_test_digits_with_full_training_accuracy(lesson):
    assert min(*lesson["fitted_all"], *lesson["fitted"]) >= 0.999
    assert min(lesson["test_all"]) >= 0.93
    assert max(lesson["test_all"]) < 0.97
    assert len(lesson["nets"]) == 5


def test_800_more_digits_gain_more_than_the_spread_explains(lesson, shown):
    """What the page says of the gain is what the five starts support, not one pair of numbers."""
    gain = lesson["gain"]
    np.testing.assert_allclose(gain, 100 * (lesson["test_all"] - lesson["test"]), rtol=1e-12)
    assert gain.mean() > 2 * gain.std(ddof=1) / np.sqrt(5)
    assert 0.3 < gain.mean() < 1.3
    assert re.search(r"800 more digits gain [\d.]+ points on average; the single gains go from", shown)
    assert np.sqrt(0.95 * 0.05 / 1000) == pytest.approx(0.007, abs=5e-4)


def test_validation_is_below_test_by_what_luck_of_the_split_can_do(lesson):
    assert (lesson["test"] > lesson["validation"]).all()
    uncertain = np.hypot(np.sqrt(0.92 * 0.08 / 800), np.sqrt(0.945 * 0.055 / 1000))
    assert (lesson["test"] - lesson["validation"]).mean() < 2 * uncertain


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


def test_the_device_agrees_with_the_formulas_in_scores_loss_and_all_gradients(lesson, shown):
    names = ["scores", "loss", *(f"gradient of {n}" for n in ("0.w", "0.b", "2.w", "2.b"))]
    assert list(lesson["agree"]) == names
    assert all(lesson["agree"].values())
    for name in names:
        assert re.search(rf"{re.escape(name)} +yes\n", shown + "\n")
    scores = lesson["by_formula"]["scores"]
    np.testing.assert_allclose(scores, lesson["net"].forward(lesson["digits"].x_test[: len(scores)]), atol=1e-3)
    assert len(scores) in (64, 1000)
    assert np.abs(lesson["by_formula"]["gradient of 0.w"]).max() > 1e-4, "zeros would agree with anything"


def test_two_of_the_disputed_labels_are_among_the_40_that_the_judges_doubt(lesson):
    assert {747, 2464} <= set(lesson["doubtful"].tolist())
    assert (np.sort(lesson["own"])[:40] == lesson["own"][lesson["doubtful"]]).all()


def test_a_t_is_read_as_a_1_and_white_on_black_is_worse_than_guessing(lesson):
    assert lesson["k_others"][5].argmax() == 1
    assert lesson["k_others"][5, 1] > 0.9
    assert lesson["white_on_black"] < 0.10


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
        '06b "Making it train"',
    ],
)
def test_what_the_sources_hold_is_told(prose, said):
    assert said in prose


def test_words_that_readers_stumbled_over_are_gone(prose):
    for word in ("rightly", "explain half a point", "In the end only", "by what it lacks of 1"):
        assert word not in prose
