"""Lesson 06b: what a network needs in order to train, in the library, in the lesson's own numbers and on its page."""

import re
from itertools import pairwise
from pathlib import Path

import nbformat
import numpy as np
import pytest

from course_lib import data, nn
from course_lib import reference as ops
from course_lib.figures.doctor import GUESSING, ORDER
from course_lib.figures.signals import HE, flow
from course_lib.lesson import sick_curves, signals, training_runs, waking_epochs, xor_runs

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "06b_making_it_train.ipynb"
DEEP = (784, *[100] * 8, 10)


def accuracy(net):
    digits = data.load_digits()
    return nn.evaluate(net, digits.x_test, digits.y_test).accuracy


def trained(sizes=DEEP, *, seed=0, epochs=3, lr=0.02, **options):
    rng = np.random.default_rng(seed)
    net = nn.models.mlp(sizes, rng=rng, **options)
    nn.train(net, data.load_digits(), epochs=epochs, batch_size=64, lr=lr, momentum=0.9, rng=rng, progress=False)
    return net


# ---------------------------------------------------------------------------------------------------------- the patient


def test_the_patient_guesses_and_is_lesson_06s_network_with_more_layers(lesson, printed):
    assert lesson["DEEP"] == DEEP
    assert sum(n * m for n, m in pairwise(DEEP)) > 100_000
    assert accuracy(lesson["patient"]) == 0.1
    assert "10% of the test digits" in printed
    assert training_runs("scales")["N(0, 0.05^2), momentum 0.9"].mean > 90  # with one hidden layer: nine in ten


def test_after_fifteen_passes_it_still_guesses_and_some_epochs_later_each_patient_wakes_up(printed):
    assert accuracy(trained(init=nn.init.normal(0.05), epochs=15)) == 0.1
    awake = waking_epochs()
    assert len(awake) == 5
    assert all(15 < epoch <= 40 for epoch in awake)
    assert f"the loss leaves ln 10 in epoch {sorted(awake)}" in printed


@pytest.mark.parametrize("seed", range(3))
def test_hes_weights_alone_make_ten_per_cent_ninety(seed):
    assert accuracy(trained(seed=seed, init=nn.init.normal(0.05))) < 0.2
    assert accuracy(trained(seed=seed)) > 0.85


def test_the_patient_learns_of_ten_samples_how_often_each_label_occurs(lesson, printed):
    labels = data.load_digits().y_train[:10]
    assert (labels == 9).sum() == 4
    assert (np.bincount(labels) <= 4).all()
    assert "answers [9 9 9 9 9 9 9 9 9 9]" in printed
    assert "at least 85 % of the test digits: True\nof ten samples by heart: 10" in printed
    net = nn.models.mlp(DEEP, rng=np.random.default_rng(0), init=nn.init.normal(0.05))
    before = {name: p.copy() for name, p in net.parameters().items()}
    ten = data.load_digits().x_train[:10], labels
    rng = np.random.default_rng(0)
    nn.train(net, ten, epochs=100, batch_size=64, lr=0.02, momentum=0.9, rng=rng, progress=False)
    moved = {name: np.abs(p - before[name]).max() for name, p in net.parameters().items()}
    assert moved["16.b"] > 1 > 0.5 > moved["14.b"] > 0.1  # "the biases at its end"
    assert max(moved[f"{2 * layer}.w"] for layer in range(7)) < 0.005
    assert nn.feature_maps(net, ten[0])[-1][1].std(axis=0).max() < 0.001  # "nothing about the images"
    assert (net.predict(data.load_digits().x_test) == 9).all()


def test_the_loss_before_the_first_step_says_how_sure_a_network_is_without_reason(lesson, shown):
    patient, fit, large, huge = (loss for _, _, loss in lesson["starts"])
    assert patient == pytest.approx(np.log(10), abs=5e-4)
    assert np.log(10) < fit < 2.6
    assert 50 < large < 300
    assert 1000 < huge < 9000
    assert re.search(r"the patient +0\.05 +2\.303\n", shown)


def test_each_layer_passes_on_a_third_and_the_gradient_is_a_millionth_or_two_everywhere(lesson):
    found = lesson["found"]
    ratios = [b.output / a.output for a, b in pairwise(found)]
    assert 0.25 < min(ratios) < max(ratios) < 0.4
    assert found[-1].output < 1e-3
    assert all(5e-7 < signal.gradient < 2.5e-6 for signal in found)
    assert all(signal.idle < 0.2 for signal in found)
    healthy = [layer["back"] for layer in flow("ReLU", HE)]
    assert all(1e-3 < slope < 1e-2 for slope in healthy)  # "some thousandths"


def test_a_gradient_of_a_layer_is_what_a_measurement_says(lesson):
    """What `signals` calls the gradient is the root mean square of the measured slopes of a small network."""
    net = nn.models.mlp((4, 3, 3, 2), rng=np.random.default_rng(1), dtype=np.float64, ops=ops)
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(5, 4)), rng.integers(0, 2, size=5)
    for signal, name in zip(signals(net, x, y), ("0.w", "2.w"), strict=True):
        w, slopes = net.parameters()[name], []
        for place in np.ndindex(w.shape):
            losses = []
            for step in (1e-6, -2e-6):
                w[place] += step
                losses.append(nn.evaluate(net, x, y).loss)
            w[place] += 1e-6
            slopes.append((losses[0] - losses[1]) / 2e-6)
        assert signal.gradient == pytest.approx(np.sqrt(np.mean(np.square(slopes))), rel=1e-5)


# ----------------------------------------------------------------------------------------------- size of the weights


@pytest.mark.parametrize(("n", "sd"), [(100, 0.05), (784, 0.05), (400, 0.1), (100, HE)])
def test_one_layer_multiplies_the_spread_by_sd_times_the_root_of_half_n(n, sd):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, n))
    a = np.maximum(x @ (sd * rng.normal(size=(n, 2000))), 0)
    factor = np.sqrt(np.mean(a**2) / np.mean(x**2))
    assert factor == pytest.approx(sd * np.sqrt(n / 2), rel=0.03)


def test_a_sum_is_negative_as_often_as_positive_and_relu_keeps_half_of_the_mean_square():
    z = np.random.default_rng(0).normal(size=(300, 100)) @ np.random.default_rng(1).normal(size=(100, 300))
    assert np.mean(z > 0) == pytest.approx(0.5, abs=0.01)
    assert np.mean(np.maximum(z, 0) ** 2) / np.mean(z**2) == pytest.approx(0.5, abs=0.02)


def test_a_twentieth_happens_to_be_right_for_784_inputs_and_a_third_of_the_signal_for_100(lesson, prose):
    assert round(0.05 * np.sqrt(784 / 2), 2) == 0.99
    assert round(float(np.sqrt(2 / 784)), 3) == 0.051
    assert round(0.05 * np.sqrt(100 / 2), 2) == 0.35
    assert "the factor is 0.99, as $\\sqrt{2/784}$ happens to be 0.051" in prose
    for n, measured in zip(lesson["inputs"], lesson["measured"], strict=True):
        assert measured == pytest.approx(0.05 * np.sqrt(n / 2), rel=0.2)


def test_he_runs_straight_down_and_tanh_saturates_where_relu_explodes():
    relu, tanh = flow("ReLU", HE), flow("tanh", 1.0)
    assert 0.5 < relu[-1]["rms"] / relu[0]["rms"] < 1
    assert 0.5 < relu[-1]["back"] / relu[0]["back"] < 2
    assert flow("ReLU", 1.0)[-1]["rms"] > 1e5
    assert tanh[-1]["rms"] < 1
    assert tanh[-1]["stuck"] > 0.8
    root_1_over_n = flow("tanh", 0.1)
    assert 0.4 < root_1_over_n[-1]["rms"] / root_1_over_n[0]["rms"] < 1


def test_equal_weights_stay_equal_and_zeros_move_the_last_biases_only(lesson, printed):
    assert "weights have moved: True\nunits unlike the first one: 0" in printed
    net = trained((784, 128, 10), init=nn.init.zeros, epochs=1)
    assert [name for name, p in net.parameters().items() if np.any(p != 0)] == ["2.b"]


def test_the_table_of_scales_and_what_is_said_of_it(shown, prose):
    runs = training_runs("scales")
    means = [runs[f"N(0, {sd}^2), momentum 0.9"].mean for sd in (0, 0.001, 0.05, 1, 5)]
    assert means[0] == 10
    assert round(means[1]) == 91
    assert round(means[2]) == 93
    assert 75 < means[3] < 82
    assert 40 < means[4] < 52
    for sd, mean in zip(("0", "0.001", "0.05", "1", "5"), means, strict=True):
        assert re.search(rf"\n{re.escape(sd)} +{mean:.1f} +\d", shown)
    assert "With $\\sigma = 0$ it guesses. With 0.05 it reads 93 %." in prose
    assert re.search(r"\n√\(2/n\), each layer its own +92\.9 ", shown)


def test_xor_is_a_cliff():
    assert [xor_runs()[f"N(0, {sd}^2), inputs 0, 1"] for sd in (0.01, 0.1, 1)] == [(0, 10), (10, 10), (10, 10)]


# ----------------------------------------------------------------------------------------------- inputs, rates, rules


def test_standardised_pixels_lose_nine_points_at_a_rate_and_win_two_at_another(printed):
    runs = training_runs("inputs")

    def mean(way, lr):
        return runs[f"{way}, lr {lr}"].mean

    assert 8.5 < mean("pixels 0 to 1", 0.1) - mean("each pixel standardised", 0.1) < 9.5
    assert 1.5 < mean("each pixel standardised", 0.01) - mean("pixels 0 to 1", 0.01) < 2.5
    assert mean("pixels 0 to 255", 0.1) < 12
    assert "became 356\ntraining images with ink there: 1 of 4,000" in printed


def test_that_pixel_lies_near_the_border(lesson):
    assert lesson["pixel"] % 28 < 4


def test_pixels_255_times_as_large_make_first_sums_and_first_gradients_255_times_as_large():
    rng = np.random.default_rng(0)
    x, w, dz = rng.uniform(size=(5, 4)), rng.normal(size=(4, 3)), rng.normal(size=(5, 3))
    for factor in (255, 10):
        z, cache = ops.dense_forward(factor * x, w)
        np.testing.assert_allclose(z, factor * (x @ w))
        np.testing.assert_allclose(ops.dense_backward(dz, cache)[1], factor * (x.T @ dz))
    assert 255**2 == 65025


def test_the_range_test_is_level_then_falls_then_climbs(lesson):
    rates, losses = lesson["rates"], lesson["losses"]
    assert rates[1] / rates[0] == pytest.approx(1.09, abs=0.005)  # "each with a rate 9 % above the one before"
    smooth = np.convolve(losses, np.full(5, 0.2), "valid")
    best = rates[4:][smooth.argmin()]
    assert 0.03 < best < 0.4
    assert 2 < losses[rates < 5e-4].mean() < 2.8
    assert smooth.min() < 0.8
    assert losses[-1] > 2 * smooth.min()
    assert 120 * 64 / 4000 < 2  # "two epochs"


def test_the_schedule_climbs_20_steps_and_falls_to_0_and_its_trainings_lie_closer(lesson, printed):
    assert lesson["steps"] == 189
    assert "[0.005, 0.055, 0.1, 0.054, 0.0]" in printed
    assert max(lesson["rising_then_falling"]) == pytest.approx(0.1)
    runs = training_runs("rules")
    plain, cosine = runs["momentum 0.9, lr 0.1"], runs["momentum 0.9, warm-up of 20, cosine"]
    assert abs(plain.mean - cosine.mean) < 0.5  # "the mean hardly moves"
    assert np.ptp(cosine.test) < 0.7 * np.ptp(plain.test)


def test_adams_first_step_by_hand_and_its_length_for_any_gradient(printed):
    m, v = 0.1 * 3, 0.001 * 9
    assert (m, v) == pytest.approx((0.3, 0.009))
    assert (m / (1 - 0.9)) / np.sqrt(v / (1 - 0.999)) == pytest.approx(1)
    assert "Adam  [-0.01 -0.01]\nplain [ -0.03 -30.  ]" in printed
    for gradient in (1e-3, 3.0, -3000.0):
        w = np.zeros(1)
        ops.adam_step([w], [np.array([gradient])], 0.01, [np.zeros(1)], [np.zeros(1)], step=1)
        assert w[0] == pytest.approx(-0.01 * np.sign(gradient), rel=1e-4)


def test_where_gradients_keep_changing_their_sign_adam_steps_are_short():
    w, m, v, lengths = np.zeros(1), np.zeros(1), np.zeros(1), []
    for t in range(1, 41):
        before = w.copy()
        ops.adam_step([w], [np.array([1.0 if t % 2 else -1.0])], 0.01, [m], [v], step=t)
        lengths.append(abs(w - before)[0])
    assert max(lengths[-10:]) < 0.1 * 0.01


def test_adam_forgives_a_small_rate_and_is_no_better_at_its_best(shown):
    runs = training_runs("rules")
    best, momentum = runs["Adam, lr 0.01"], runs["momentum 0.9, lr 0.1"]
    assert 0.2 < best.mean - momentum.mean < 0.45  # "a third of a point"
    assert best.mean - momentum.mean < min(np.ptp(best.test), np.ptp(momentum.test))
    sgd, with_momentum, adam = (runs[f"{rule}, lr 0.001"].mean for rule in ("SGD", "momentum 0.9", "Adam"))
    assert sgd < 30 < with_momentum < 80 < 90 < adam
    assert runs["Adam, lr 0.1"].mean < 80
    assert runs["Adam, lr 1"].mean < 20
    assert re.search(r"\nAdam +91\.5 +93\.2 +77\.1 +12\.2", shown)


# ------------------------------------------------------------------------------------------------------------ brakes


def test_dropout_keeps_the_mean_and_weight_decay_makes_weights_small(lesson, printed):
    assert "the mean stays near 1: True" in printed
    spreads = np.array([lesson["spread_of_weights"](decay) for decay in (0, 0.01, 0.1)])
    assert (np.diff(spreads, axis=0) < 0).all()


def test_on_300_digits_the_brakes_change_less_than_a_point_and_the_strongest_costs_three(lesson):
    runs = training_runs("few")
    rows = {kind: runs[f"300 digits, {kind}"] for kind in lesson["kinds"]}
    strong = rows.pop("weight decay 0.1")
    means = [r.mean for r in rows.values()]
    assert max(means) - min(means) < 1.2
    assert max(min(r.test) for r in rows.values()) <= min(max(r.test) for r in rows.values()), "ranges overlap"
    assert rows["plain"].mean - strong.mean == pytest.approx(3, abs=0.5)
    assert round(rows["plain"].mean, 1) == 85.6  # the question says so
    assert min(rows["plain"].training) == 100
    assert round(training_runs("scales")["he_normal, momentum 0.9"].mean) == 93  # the same network, 4,000 digits


def test_the_search_looks_at_validation_digits_and_once_at_the_test(lesson):
    assert lesson["best"] in (0.001, 0.01)
    assert lesson["chosen"] > 0.89
    cells = [cell.source for cell in nbformat.read(NOTEBOOK, as_version=4).cells if cell.cell_type == "code"]
    (search,) = [text for text in cells if "def on_validation" in text]
    assert "validation=0.1" in search
    assert "x_test" not in search


def test_the_spread_between_seeds_is_about_a_point():
    runs = training_runs("scales")
    spreads = [np.ptp(runs[f"{name}, momentum 0.9"].test) for name in ("N(0, 0.05^2)", "he_normal", "glorot_uniform")]
    assert all(0.5 < spread < 2 for spread in spreads)


# ---------------------------------------------------------------------------------------------------------- six curves


def test_each_curve_has_the_signs_that_its_diagnosis_names():
    curves = {name: (np.array(training), np.array(held)) for name, (training, held) in sick_curves().items()}
    training, held = curves["weights too small"]
    assert max(abs(training - GUESSING).max(), abs(held - GUESSING).max()) < 0.02
    training, held = curves["over-fitting"]
    assert training[-1] < 0.05
    assert held[-1] > held.min() > 0.5
    training, held = curves["rate too large"]
    assert (np.diff(training)[2:] > 0.1).sum() >= 3
    training, held = curves["sound"]
    assert (np.diff(training) < 0).all()
    assert held[-1] - training[-1] < 0.3
    assert training[0] - training[3] > 5 * (training[3] - training[-1])
    training, held = curves["weights too large"]
    assert training[0] > 50
    assert training[-1] < 0.1
    assert held[-1] > GUESSING
    training, held = curves["rate too small"]
    assert (np.diff(training) < 0).all()
    assert training[-1] > 1.3
    assert abs(training - held).max() < 0.05


def test_the_folded_table_has_the_patients_in_the_order_of_the_figure(prose):
    for number, name in enumerate(ORDER, start=1):
        assert f"| {number} | {name} |" in prose


# -------------------------------------------------------------------------------------------- answers, sources, links


def test_try_it_tanh_halves_the_signal_where_relu_leaves_a_third():
    relu, tanh = flow("ReLU", 0.05), flow("tanh", 0.05)
    assert (tanh[-1]["rms"] / tanh[0]["rms"]) ** (1 / 7) == pytest.approx(0.5, abs=0.03)
    assert round(tanh[-1]["rms"], 4) == 0.0026
    assert round(relu[-1]["rms"], 4) == 0.0002
    assert 15 < tanh[0]["back"] / relu[0]["back"] < 25
    assert accuracy(trained(activation="tanh", init=nn.init.normal(0.05))) < 0.25
    assert 0.85 < accuracy(trained(activation="tanh", init=nn.init.normal(0.1))) < 0.93


def test_check_yourself():
    assert round(0.1 * np.sqrt(400 / 2), 2) == 1.41
    assert round((0.1 * np.sqrt(200)) ** 5, 1) == 5.7
    assert round(float(np.sqrt(2 / 400)), 3) == 0.071
    assert round(np.log(100), 3) == 4.605


def test_papers_are_named_by_authors_title_and_year_and_the_lecture_by_its_slide():
    cells = nbformat.read(NOTEBOOK, as_version=4).cells
    (sources,) = [cell.source for cell in cells if cell.source.startswith("## Sources")]
    for source in (
        "He et al.: Delving Deep into Rectifiers (2015)",
        "Glorot and Bengio: Understanding the Difficulty of Training Deep Feedforward Neural Networks (2010)",
        "LeCun et al.: Efficient BackProp (1998)",
        "Kingma and Ba: Adam: A Method for Stochastic Optimization (2015)",
        "Loshchilov and Hutter: Decoupled Weight Decay Regularization (2019)",
        "Srivastava et al.: Dropout: A Simple Way to Prevent Neural Networks from Overfitting (2014)",
        "Dey: Neural Networks",
    ):
        assert source in sources


def test_the_page_ends_with_its_sheet_the_lesson_before_and_the_next():
    last = nbformat.read(NOTEBOOK, as_version=4).cells[-1].source
    for place in ("exercises/06b_making_it_train.ipynb", "06_training_an_mlp.ipynb", "07_convolution.ipynb"):
        assert place in last
