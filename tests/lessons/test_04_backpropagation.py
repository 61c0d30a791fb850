"""Lesson 04: what must come out, in the library, in the lesson's own numbers and on its page."""

import re
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest

from course_lib import checks, data
from course_lib import reference as ops
from course_lib.figures.deltas import delta_values

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
NAME = "04_backpropagation"


def test_the_gradient_of_the_slide_is_minus_0_0163(lesson, printed):
    h = ops.sigmoid(np.array([0.5, 0.9, -0.3]) @ np.array([1.0, -2, 2]))
    o = lesson["o"][0]
    gradient = h * (o - 0.9) * o * (1 - o)
    assert lesson["dJ_dw"] == pytest.approx(gradient, rel=1e-12)
    assert round(gradient, 4) == -0.0163
    assert "= -0.0163" in printed
    assert lesson["measured"] == pytest.approx(lesson["dJ_dw"], rel=1e-6)


def test_matrix_loop_and_measured_gradients_agree(lesson):
    X, Y, W, W2 = (lesson[name] for name in ("X", "Y", "W", "W2"))
    values = lesson["forward"](X, W, W2)
    dW, dW2 = lesson["backward"](X, Y, W2, *values)
    assert (dW.shape, dW2.shape) == (W.shape, W2.shape)
    for ours, loops in zip((dW, dW2), lesson["backward_loops"](X, Y, W2, *values), strict=True):
        np.testing.assert_allclose(ours, loops, rtol=1e-12)
    measured = checks.numerical_gradient(lambda w: lesson["loss"](w, W2), W)
    np.testing.assert_allclose(dW, measured, rtol=1e-6, atol=1e-9)


def test_one_example_goes_from_a_weight_to_a_layer_to_a_batch(lesson, printed):
    """The first row of the batch is the sample of the drawing, and the network stays the same."""
    np.testing.assert_array_equal(lesson["X"][0], lesson["x"])
    np.testing.assert_array_equal(lesson["Y"][0], lesson["y"])
    np.testing.assert_allclose(lesson["O"][0], lesson["o"], rtol=1e-12)
    v = delta_values(*(lesson[n] for n in ("x", "W", "W2", "y")))
    np.testing.assert_allclose(lesson["dW_x"], v["dw"], rtol=1e-12)
    np.testing.assert_allclose(lesson["dW2_x"], v["dw2"], rtol=1e-12)
    assert lesson["dW_x"].size + lesson["dW2_x"].size == 15
    assert round(lesson["dW_x"][0, 1], 5) == -0.00064
    for numbers in ("[ 0.5  0.9 -0.3]", str(lesson["W"]), str(lesson["W2"])):
        assert numbers in printed


def test_shapes_catch_a_slip_only_when_the_wrong_sizes_clash(lesson, printed, prose):
    (B, D), (M, C) = lesson["X"].shape, lesson["W2"].shape
    assert (B, D, M, C) == (4, 3, 3, 2)
    assert (lesson["X"] @ lesson["W"].T).shape == (B, M), "the wrong product raises nothing"
    column, answers = lesson["O"][:, :1], lesson["Y"][:, 0]
    assert (column - answers).shape == (4, 4)
    assert len({*column.shape, answers.ndim}) == 2, "(4, 1) and (4,): no two sizes of one axis agree by chance"
    assert "Shapes catch a slip only when the wrong sizes clash" in prose
    assert "shapes: (4, 1) (4,) difference: (4, 4)" in printed
    assert np.sum((column - answers) ** 2) > 3 * np.sum((column[:, 0] - answers) ** 2)


def test_equal_weights_stay_equal_so_xor_is_not_learned():
    """The first thing to try: hidden neurons that start equal get equal gradients."""
    x, y = data.truth_table("xor")
    w, b, w2, b2 = np.ones((2, 8)), np.zeros(8), np.ones((8, 1)), np.zeros(1)
    for _ in range(300):
        z, c1 = ops.dense_forward(x, w, b)
        a, c2 = ops.sigmoid_forward(z)
        g, c3 = ops.dense_forward(a, w2, b2)
        o, c4 = ops.sigmoid_forward(g)
        da, dw2, db2 = ops.dense_backward(ops.sigmoid_backward(o - y[:, None], c4), c3)
        _, dw, db = ops.dense_backward(ops.sigmoid_backward(da, c2), c1)
        ops.sgd_step((w, b, w2, b2), (dw, db, dw2, db2), 2.0)
    np.testing.assert_allclose(w, w[:, :1] * np.ones((1, 8)), rtol=1e-9)
    assert list((o.ravel() > 0.5).astype(int)) != list(y)


class _Counting(np.ndarray):
    """An array that counts the multiplications of the matrix products it takes part in."""

    count = 0

    def __matmul__(self, other):
        return self._product(self, other)

    def __rmatmul__(self, other):
        return self._product(other, self)

    @staticmethod
    def _product(left, right):
        _Counting.count += left.shape[0] * left.shape[1] * right.shape[1]
        return (np.asarray(left) @ np.asarray(right)).view(_Counting)


def _counted(work):
    _Counting.count = 0
    result = work()
    return _Counting.count, result


def test_the_counts_of_the_page_are_those_of_an_instrumented_product(lesson):
    """The lesson counts by shapes; here the lesson's own functions run on arrays that count."""
    x, y, w, w2 = (lesson[n] for n in ("Xd", "Yd", "Wd", "W2d"))
    x, w, w2 = (v.view(_Counting) for v in (x, w, w2))
    forward, (z, a, g, o) = _counted(lambda: lesson["forward"](x, w, w2))
    a, f_g, f_z = a.view(_Counting), np.asarray(ops.sigmoid_prime(g)), np.asarray(ops.sigmoid_prime(z))

    def backward():
        delta1 = (-(y - np.asarray(o)) * f_g).view(_Counting)
        delta2 = (np.asarray(delta1 @ w2.T) * f_z).view(_Counting)
        return a.T @ delta1, x.T @ delta2, delta2

    needed, (_, dw, delta2) = _counted(backward)
    dx_cost, _ = _counted(lambda: delta2 @ w.T)
    np.testing.assert_allclose(dw, lesson["backward"](lesson["Xd"], y, np.asarray(w2), z, a, g, o)[0], rtol=1e-9)
    assert (forward, needed, needed + dx_cost) == (lesson["one_forward"], lesson["needed"], lesson["every"])
    assert needed + dx_cost == 2 * forward


@pytest.mark.parametrize(("layers", "ratio"), [(1, 1.0), (2, 1.5), (10, 1.9)])
def test_equal_layers_cost_2l_minus_1_over_l_without_dx(layers, ratio):
    products = [64 * d * m for d, m in pairwise([128] * (layers + 1))]
    assert (2 * sum(products) - products[0]) / sum(products) == pytest.approx(ratio)
    assert (2 * layers - 1) / layers == pytest.approx(ratio)


def test_the_factors_printed_by_hand_give_the_printed_result(lesson, printed):
    """A reader who multiplies the printed numbers gets the printed product."""
    factors = [round(float(lesson[name]), 4) for name in ("error", "slope", "incoming")]
    assert "{:.4f} * {:.4f} * {:.4f} =".format(*factors) in printed
    assert round(float(np.prod(factors)), 4) == round(float(lesson["dJ_dw"]), 4)


def test_elementwise_steps_are_several_hundred_times_fewer(lesson):
    per_pass = 64 * (128 + 10)
    assert lesson["one_forward"] / per_pass > 500


def test_a_plain_sum_passes_three_wrong_softmax_backwards_and_a_random_one_rejects_them(lesson):
    assert len(lesson["wrong"]) == 3
    for seed in range(20):
        z = 2 * np.random.default_rng(seed).standard_normal((3, 4))
        for backward in lesson["wrong"].values():
            np.testing.assert_allclose(backward(np.ones_like(z), ops.softmax(z)), 0, atol=1e-14)
            lesson["plain_sum_check"](backward)
            with pytest.raises(checks.GradientMismatch):
                checks.check_op_gradients(ops.softmax_forward, backward, [z], rng=np.random.default_rng(seed))
        checks.check_op_gradients(ops.softmax_forward, ops.softmax_backward, [z], rng=np.random.default_rng(seed))


def test_every_operation_is_among_the_checked_ones(lesson, printed):
    modules = (ops.activations, ops.probabilities, ops.dense, ops.losses)  # those of lessons 01-06
    backwards = {n.removesuffix("_backward") for m in modules for n in vars(m) if n.endswith("_backward")}
    assert set(lesson["cases"]) == backwards - {"scaled_tanh"}, "that one is lesson 09's"
    assert f"no gradient differs: of {len(lesson['cases'])} operations, and of the digit network" in printed


def test_ten_forward_passes_check_the_digit_network_with_its_input(lesson, prose):
    entries = lesson["parameters"] + lesson["Xd"].size
    assert 2 * (4 + 1) == 10
    assert f"entry by entry it would be {2 * entries:,}" in " ".join(prose.split())


def test_all_digits_and_the_slides_digits_differ_in_the_fifth_place(lesson, prose):
    assert round(lesson["dJ_dw"], 5) == -0.01631
    assert round(0.13 * (0.35 - 0.9) * 0.35 * (1 - 0.35), 5) == -0.01627
    assert "has $-0.01627$. With all digits it is $-0.01631$" in prose


def test_roads_add_as_the_linear_estimate_says(lesson, shown, prose):
    """The slopes through O1 alone, through O2 alone, and both: measured in the lesson, computed here."""
    through = lesson["delta_g"] * lesson["W2"][1]
    assert [f"{v:.4f}" for v in through] == ["-0.1254", "0.0944"]
    assert lesson["both"] == pytest.approx(through.sum(), rel=1e-5)
    for name, value in (("O1 only", through[0]), ("O2 only", through[1]), ("both", through.sum())):
        assert re.search(rf"{name} +{value:.4f}", shown)
    assert "is $-0.1254$, and through O2 it is $+0.0944$" in prose
    other = [through[0] * through[1], through.mean(), through.sum(), through[0]]
    for value in other:
        assert f"{value:.4f}".replace("-", "−") in (Path(NOTEBOOKS) / f"{NAME}.py").read_text("utf-8")


@pytest.mark.parametrize("biases", [0.0, 0.7])
def test_loop_equations_and_library_are_the_same_with_biases(lesson, biases):
    X, Y, W, W2 = (lesson[name] for name in ("X", "Y", "W", "W2"))
    b, b2 = np.full(3, biases), np.full(2, -biases)
    Z, c1 = ops.dense_forward(X, W, b)
    A, c2 = ops.sigmoid_forward(Z)
    G, c3 = ops.dense_forward(A, W2, b2)
    O, c4 = ops.sigmoid_forward(G)
    dA, lib_dW2, lib_db2 = ops.dense_backward(ops.sigmoid_backward(O - Y, c4), c3)
    _, lib_dW, lib_db = ops.dense_backward(ops.sigmoid_backward(dA, c2), c1)
    library = (lib_dW, lib_db, lib_dW2, lib_db2)
    (dW, db), (dW2, db2) = lesson["backward_all"](Y, [W, W2], lesson["forward_all"](X, [W, W2], [b, b2]))
    one = [lesson["bp_one_sample"](X[i], Y[i], W.T, b, W2.T, b2) for i in range(len(X))]
    added = [sum(parts).T for parts in zip(*one, strict=True)]
    for loop, batch, by_sample in zip((dW, db, dW2, db2), library, added, strict=True):
        np.testing.assert_allclose(loop, batch, rtol=1e-12)
        np.testing.assert_allclose(loop, by_sample, rtol=1e-12)


@pytest.mark.parametrize("sizes", [(2, 1), (2, 3, 1), (2, 5, 4, 3), (2, 1, 1, 1, 2)])
def test_the_loop_over_layers_is_right_for_any_number_of_them(lesson, sizes):
    rng = np.random.default_rng(1)
    X, Y = rng.standard_normal((6, 2)), rng.uniform(size=(6, sizes[-1]))
    weights, biases = lesson["random_network"](sizes, rng)
    biases = [b + rng.standard_normal(b.shape) for b in biases]
    grads = lesson["backward_all"](Y, weights, lesson["forward_all"](X, weights, biases))

    def loss(at, which, value):
        changed = [list(weights), list(biases)]
        changed[which][at] = value
        return 0.5 * np.sum((lesson["forward_all"](X, *changed)[-1] - Y) ** 2)

    for at, pair in enumerate(grads):
        for which, (ours, now) in enumerate(zip(pair, (weights[at], biases[at]), strict=True)):
            measured = checks.numerical_gradient(lambda v, at=at, which=which: loss(at, which, v), now)
            np.testing.assert_allclose(ours, measured, rtol=1e-5, atol=1e-9)


def test_the_loop_over_layers_is_as_short_as_the_page_says(prose):
    """Without its definitions' blank lines."""
    text = (NOTEBOOKS / f"{NAME}.py").read_text("utf-8")
    body = text[text.index("def forward_all") : text.index("# %%", text.index("def forward_all"))]
    lines = [line for line in body.splitlines() if line.strip()]
    words = {13: "Thirteen", 14: "Fourteen", 15: "Fifteen"}[len(lines)]
    assert f"{words} lines, and they are all" in prose


def test_gradients_shrink_towards_the_first_of_six_layers(lesson):
    """In each of the twenty networks the first is smaller than the last; the geometric means rise layer by layer."""
    assert len(lesson["layer_sizes"]) == 6
    assert np.all(np.diff(lesson["layer_sizes"]) > 0)
    assert lesson["layer_sizes"][0] < lesson["layer_sizes"][-1] / 20
    assert max(sizes[0] / sizes[-1] for sizes in lesson["by_scale"][1.0]) < 0.5, "with room on every machine"


def test_no_size_of_the_weights_cures_it_and_the_open_paths_say_why(lesson):
    shrinking, paths = lesson["shrinking"], lesson["paths_open"]
    assert round(shrinking[1.0]) == 43
    assert min(shrinking.values()) == shrinking[3.0] > 3
    assert 1000 < shrinking[0.3] < shrinking[20.0]
    assert shrinking[20.0] > 10 * shrinking[1.0] > 10 * shrinking[10.0] > 10 * shrinking[3.0]
    assert (8**5, 3**5, 20**5) == (32_768, 243, 3_200_000)
    assert paths[0.3].min() == 8**5
    assert paths[1.0].mean() > 0.75 * 8**5, "most paths are open"
    assert round(8**5 / paths[3.0].mean()) == 36, "one in 36"
    assert [int(np.sum(paths[scale].max(axis=1) == 0)) for scale in (1.0, 3.0, 10.0, 20.0)] == [0, 0, 10, 17]
    for scale in (3.0, 10.0, 20.0):
        each = [sizes[-1] / sizes[0] for sizes in lesson["by_scale"][scale]]
        assert min(each) < 1 < 20 < max(each), "in one network it grows, in another it shrinks"
    assert min(each) < 1 / 20 < 1e8 < max(each), "how different they are with 20"
    steep = {scale: share_of_steep(lesson, scale) for scale in (3.0, 20.0)}
    assert 0.4 < steep[3.0] < 0.55, "about half"
    assert 1 / 14 < steep[20.0] < 1 / 11, "one in twelve"
    assert round(8**5 / 12**5, 1) == 0.1
    assert lesson["depth"].answer == "with 3 it is less than 43 times smaller, with 20 more"


def share_of_steep(lesson, scale):
    """How many of the hidden sigmoids of the twenty networks have a slope of 0.05 or more."""
    shares = []
    for seed in range(20):
        weights, biases = lesson["random_network"]((3, 8, 8, 8, 8, 8, 2), np.random.default_rng(seed), scale)
        hidden = lesson["forward_all"](lesson["X"], weights, biases)[1:-1]
        shares.append(np.mean([A * (1 - A) >= 0.05 for A in hidden]))
    return np.mean(shares)


def test_a_stretched_loss_is_silent_and_a_backward_pass_by_hand_is_not(lesson):
    X, answers = lesson["X"], lesson["Y"][:, 0]
    weights, biases = lesson["random_network"]((3, 8, 1), np.random.default_rng(0))
    values = lesson["forward_all"](X, weights, biases)
    assert np.isfinite(0.5 * np.sum((values[-1] - answers) ** 2))
    with pytest.raises(ValueError, match="matmul"):
        lesson["backward_all"](answers, weights, values)


def test_open_paths_are_those_whose_every_sigmoid_is_steep(lesson):
    """Counted one by one, for one sample of one network."""
    weights, biases = lesson["random_network"]((3, 8, 8, 8, 8, 8, 2), np.random.default_rng(0), 3.0)
    slopes = [A[0] * (1 - A[0]) for A in lesson["forward_all"](lesson["X"], weights, biases)[1:-1]]
    steep = [[bool(s >= 0.05) for s in layer] for layer in slopes]
    counted = sum(all(path) for path in product(*steep))
    assert counted == lesson["open_paths"](0, 3.0)[0]


def test_a_plain_sum_rejects_other_slips(lesson):
    """The sum forgotten, and softmax taken for a sigmoid: with equal upstream gradients they do not give 0."""
    for backward in (lambda dP, P: P * dP, lambda dP, P: P * (1 - P) * dP):
        assert lesson["verdict"](lesson["plain_sum_check"], backward) == "rejected"


def test_the_table_of_what_each_hidden_neuron_hears_is_the_sum_before_its_own_slope(lesson):
    a, shares = lesson["a"], lesson["shares"]
    np.testing.assert_allclose(shares.sum(axis=1) * a * (1 - a), lesson["delta_z"], rtol=1e-12)
    assert list(shares.sum(axis=1) < 0) == [False, True, False]
    assert lesson["W2"][0, 0] < 0 > lesson["W2"][2, 0], "H1 and H3 push O1 down"
    assert lesson["o"][0] < lesson["y"][0], "and O1 wants to rise"


def test_a_sum_over_64_with_rate_0_02_is_a_mean_with_1_28(lesson):
    assert 64 * 0.02 == 1.28
    weights, biases = lesson["random_network"]((2, 3, 1), np.random.default_rng(0))
    x, y = np.random.default_rng(1).uniform(size=(2, 64, 2))
    values = lesson["forward_all"](x, weights, biases)
    delta = (values[-1] - y[:, :1]) * values[-1] * (1 - values[-1])
    summed = lesson["backward_all"](y[:, :1], weights, values)[-1][0]
    np.testing.assert_allclose(0.02 * summed, 1.28 * np.mean(values[-2][:, :, None] * delta[:, None, :], axis=0))


def test_both_tables_of_the_six_layers_give_the_same_ratio(lesson, shown):
    ratio = lesson["layer_sizes"][-1] / lesson["layer_sizes"][0]
    assert lesson["shrinking"][1.0] == pytest.approx(ratio)
    assert re.search(rf"\n +1 +{ratio:.0f} +[\d,]+ +0\n", shown)


def test_the_bold_rule_gives_every_gradient_delta_times_what_comes_in(lesson, prose):
    assert "a weight's gradient is the delta at its end times what comes in at its beginning" in prose
    np.testing.assert_allclose(lesson["dW_x"], lesson["x"][:, None] * lesson["delta_z"][None, :], rtol=1e-12)
    np.testing.assert_allclose(lesson["dW2_x"], lesson["a"][:, None] * lesson["delta_g"][None, :], rtol=1e-12)


def test_a_tiny_error_in_one_of_many_slopes_hides_below_the_tolerance_and_a_larger_one_does_not(lesson):
    def off_by(error):
        def backward(dout, cache):
            slopes = ops.sigmoid_backward(dout, cache)
            slopes = slopes.copy()
            slopes[0, 0] += error
            return slopes

        return backward

    z = np.random.default_rng(0).standard_normal((100, 1000))
    for error, caught in ((1e-9, False), (10.0, True)):
        try:
            checks.check_op_gradients(ops.sigmoid_forward, off_by(error), [z], rng=np.random.default_rng(0))
            found = False
        except checks.GradientMismatch:
            found = True
        assert found == caught


def test_the_right_softmax_of_the_page_is_the_librarys(lesson):
    rng = np.random.default_rng(0)
    dP, P = rng.standard_normal((5, 7)), ops.softmax(rng.standard_normal((5, 7)))
    np.testing.assert_allclose(lesson["backwards"]["right"](dP, P), ops.softmax_backward(dP, P), rtol=1e-12)


def test_a_slope_can_be_had_from_the_value_of_tanh_and_relu_and_not_of_a_square():
    """The answer of the first question."""
    z = np.array([-2.0, -0.5, 0.7, 3.0])
    np.testing.assert_allclose(ops.ACTIVATIONS["tanh"][1](z), 1 - np.tanh(z) ** 2)
    np.testing.assert_array_equal(ops.ACTIVATIONS["relu"][1](z), ops.relu(z) > 0)
    assert (-2.0) ** 2 == 2.0**2, "one value"
    assert 2 * -2.0 != 2 * 2.0, "two slopes"


def test_the_two_samples_of_class_0_lie_on_each_other_after_the_training(lesson):
    after, labels = lesson["after"], lesson["labels"]
    assert np.abs(np.diff(after[labels == 0], axis=0)).max() < 0.02, "so there are three marks"


def test_the_batches_of_an_epoch_are_those_of_lesson_06(lesson):
    assert len(lesson["digits"].y_train) == 4000
    assert -(-4000 // 64) == 63


def test_the_loop_of_the_page_reads_digits(lesson, printed):
    """What closes the page: 630 steps, and nine in ten new digits are read."""
    assert 0.86 < lesson["share"] < 0.92
    assert "of 1,000 new digits, after 630 steps" in printed
    assert sum(w.size + b.size for w, b in zip(*lesson["reads"], strict=True)) == 101_770


def test_each_hidden_neurons_line_parts_one_sample_of_class_1_from_the_rest(lesson):
    x, labels = lesson["X_xor"], lesson["labels"]
    fires = x @ lesson["w_hidden"] + lesson["b_hidden"] > 0  # (4 samples, 2 neurons)
    assert fires.sum(axis=0).tolist() == [1, 1]
    np.testing.assert_array_equal(fires.any(axis=1), labels == 1)
    (_, w2), (_, b2) = lesson["start"]
    assert (lesson["before"] @ w2 + b2 > 0).all(), "before, all four lie on the side of class 1"


@pytest.mark.parametrize("name", ["xor", "parity3"])
def test_an_mlp_gets_every_row_right(lesson, name):
    x, y = data.truth_table(name)
    assert np.abs(lesson["forward_all"](x, *lesson["trained"][name])[-1].ravel() - y).max() < 0.1


def test_two_hidden_neurons_put_the_classes_where_one_line_separates_them(lesson):
    """After the training the zeros share a corner and each one has another; before it, all four are a crowd."""
    after, before, labels = lesson["after"], lesson["before"], lesson["labels"]
    zeros, ones = after[labels == 0], after[labels == 1]
    assert np.abs(zeros[0] - zeros[1]).max() < 0.1
    assert np.linalg.norm(ones[0] - ones[1]) > 0.7
    across = [before[labels == k][1] - before[labels == k][0] for k in (0, 1)]
    meet = np.linalg.solve(np.column_stack([across[0], -across[1]]), before[labels == 1][0] - before[labels == 0][0])
    assert ((meet > 0.1) & (meet < 0.9)).all(), "the two classes lie crosswise, so no line separates them"
    (_, w2), (_, b2) = lesson["trained_two"]
    assert list((after @ w2 + b2 > 0).ravel().astype(int)) == list(labels), "the output's own line"
    assert lesson["losses"][0] > 0.4
    assert lesson["losses"][-1] < 0.05


def test_a_scale_of_a_hundredth_makes_the_hidden_deltas_a_hundred_times_smaller(lesson):
    X, Y = lesson["X_xor"], lesson["Y_xor"]
    found = []
    for scale in (1.0, 0.01):
        weights = [np.zeros((2, 8)), scale * np.random.default_rng(0).standard_normal((8, 1))]  # a = 1/2 everywhere
        values = lesson["forward_all"](X, weights, [np.zeros(8), np.zeros(1)])
        delta_G = (values[-1] - Y) * values[-1] * (1 - values[-1])
        found.append(np.abs(delta_G @ weights[1].T * values[1] * (1 - values[1])).mean() / np.abs(delta_G).mean())
    assert found[0] / found[1] == pytest.approx(100)


def test_the_scale_of_the_first_weights_decides(lesson, shown):
    assert lesson["solved"] == {0.01: 0, 0.1: 5, 1.0: 5}
    steps = lesson["needed_steps"]
    assert steps[0.01] == []
    assert max(steps[1.0]) < 200
    assert 900 < min(steps[0.1]) < max(steps[0.1]) < 2700
    assert 5 < np.median(steps[0.1]) / np.median(steps[1.0]) < 15, "about ten times as many"
    assert re.search(r"0\.01 +0 +not in 3,000\n +0\.1 +5 +[\d,]+ to [\d,]+\n +1 +5 +\d+ to \d+", shown)
    assert lesson["start_scale"].answer == "about ten times as many"


def test_a_small_start_stays_where_all_outputs_are_a_half(lesson, prose):
    """With room: at the end the loss is that of saying 0.5 four times, not just above the limit."""
    xor = lesson["X_xor"], lesson["Y_xor"]
    *net, losses = lesson["train"](*xor, (2, 8, 1), 2.0, 20_000, np.random.default_rng(0), 0.01)
    assert f"{losses[-1]:.6f}" == "0.500000"
    assert "after 20,000 steps the loss is still 0.500000" in prose
    hidden, out = lesson["forward_all"](lesson["X_xor"], *net)[1:]
    np.testing.assert_allclose(out, 0.5, atol=0.02)
    np.testing.assert_allclose(hidden, 0.5, atol=0.05)
    _, w2 = net[0]
    assert np.abs(w2).max() < 0.1


def test_the_answer_on_the_number_of_hidden_neurons_with_ten_seeds(lesson, prose):
    solved = {}
    for hidden in (2, 4):
        runs = []
        for seed in range(10):
            xor, rng = (lesson["X_xor"], lesson["Y_xor"]), np.random.default_rng(seed)
            *net, _ = lesson["train"](*xor, (2, hidden, 1), 2.0, 1500, rng)
            out = lesson["forward_all"](lesson["X_xor"], *net)[-1].ravel()
            runs.append(np.array_equal(out > 0.5, lesson["labels"] == 1))
        solved[hidden] = sum(runs)
    assert solved == {2: 8, 4: 10}
    assert "8 of 10 with 2, all ten with 4 and with 8" in prose


def test_a_neuron_whose_outgoing_weights_are_zero_gets_no_delta_and_comes_back(lesson):
    w2 = lesson["W2"].copy()
    w2[1] = 0
    v = delta_values(lesson["x"], lesson["W"], w2, lesson["y"])
    assert v["delta_z"][1] == 0
    assert (v["dw"][:, 1] == 0).all()
    assert (np.abs(v["dw2"][1]) > 0.05).all()


def test_the_backward_pass_costs_twice_the_forward_pass_with_dx_and_1_01_times_without(lesson, printed, prose):
    assert lesson["every"] == 2 * lesson["one_forward"]
    assert round(lesson["needed"] / lesson["one_forward"], 2) == 1.01
    assert "with dX 2.00, without it 1.01" in printed
    assert "share of the first layer: 98.7%" in printed
    assert "Here the first layer is 98.7 % of the work, so backward costs only about one forward pass" in prose


def test_finite_differences_cost_a_hundred_thousand_forward_passes(lesson, shown):
    parameters = sum(d * m + m for d, m in pairwise((784, 128, 10)))
    assert parameters == lesson["parameters"] == 101_770
    assert lesson["costs"]["one-sided differences"] == 101_771 * lesson["one_forward"]
    assert lesson["costs"]["central differences"] == 203_540 * lesson["one_forward"]
    assert lesson["costs"]["forward + backward"] == lesson["one_forward"] + lesson["needed"]
    assert lesson["costs"]["the same with dX"] == 3 * lesson["one_forward"]
    for name, passes in (("forward \\+ backward", "2\\.01"), ("the same with dX", "3"),
                         ("one-sided differences", "101,771"), ("central differences", "203,540")):  # fmt: skip
        assert re.search(rf"{name} +{passes}\n", shown)


def test_a_direction_finds_what_every_entry_would(lesson):
    assert lesson["along"] == pytest.approx(np.sum(lesson["dZ"] * lesson["V"]), rel=1e-6)
    np.testing.assert_allclose(lesson["dZ"], lesson["by_entry"], atol=1e-8)
    wrong = lesson["dZ"].copy()
    wrong[1, 2] += 0.01
    assert abs(np.sum(wrong * lesson["V"]) - lesson["along"]) > 1e-4, "one wrong slope shows in the one number"


def test_the_table_of_both_checks_is_true(lesson, shown):
    assert lesson["verdicts"] == {"right": ["passes", "passes"]} | {n: ["passes", "rejected"] for n in lesson["wrong"]}
    for name in lesson["wrong"]:
        assert re.search(rf"{name} +passes +rejected", shown)


def test_erratum_6_the_other_order_is_another_number_or_no_product(lesson):
    with pytest.raises(ValueError, match="matmul"):
        (lesson["delta_G"] @ lesson["W2"].T) @ ops.sigmoid_prime(lesson["Z"])
    with pytest.raises(ValueError, match=r"\(3,3\) \(4,3\)"):
        lesson["X"].T @ lesson["delta_G"] @ lesson["W2"].T * ops.sigmoid_prime(lesson["Z"])
    assert lesson["left_to_right"][0, 1] > 5e-4 > -5e-4 > lesson["truth"][0, 1], "for H2 the sign is wrong"
    np.testing.assert_allclose(lesson["right_order"], lesson["truth"], rtol=1e-6, atol=1e-9)


def test_erratum_6_the_step_is_minus_the_gradient(lesson):
    W, W2, dW, dW2 = (lesson[name] for name in ("W", "W2", "dW", "dW2"))
    before, minus, plus = (lesson["loss"](W + s * dW, W2 + s * dW2) for s in (0, -0.5, 0.5))
    assert minus < before < plus


def test_stepping_w2_before_delta_is_not_the_gradient(lesson):
    too_late, _ = lesson["backward"](*(lesson[n] for n in ("X", "Y")), lesson["W2"] - 0.5 * lesson["dW2"],
                                     *(lesson[n] for n in "ZAGO"))  # fmt: skip
    assert not np.allclose(lesson["dW"], too_late, rtol=1e-3)


def test_the_mean_has_the_gradient_of_the_sum_divided_by_n(lesson):
    O, Y = lesson["O"], lesson["Y"]
    of_mean = ops.quadratic_cost_backward(ops.quadratic_cost_forward(O, Y)[1])
    of_sum = ops.half_squared_sum_backward(ops.half_squared_sum_forward(O, Y)[1])
    np.testing.assert_allclose(of_mean, of_sum / len(O), rtol=1e-12)


def test_a_sigmoid_that_forgets_its_upstream_gradient_passes_with_ones_and_fails_with_r(lesson):
    def forgets(dout, a):
        return a * (1 - a)

    z = lesson["Z_any"]
    ones = checks.numerical_gradient(lambda v: ops.sigmoid(v).sum(), z)
    np.testing.assert_allclose(forgets(np.ones_like(z), ops.sigmoid(z)), ones, rtol=1e-6)
    with pytest.raises(checks.GradientMismatch):
        checks.check_op_gradients(ops.sigmoid_forward, forgets, [z], rng=np.random.default_rng(0))


def test_the_figure_at_the_top_shows_the_numbers_of_the_text(lesson, shown):
    v = delta_values(*(lesson[n] for n in ("x", "W", "W2", "y")))
    assert round(v["dw2"][0, 0], 4) == -0.0163
    assert v["J"] == pytest.approx(0.5 * np.sum((lesson["o"] - lesson["y"]) ** 2), rel=1e-12)
    assert f"J = {v['J']:.4f}" in shown
    np.testing.assert_allclose(v["delta_g"], lesson["delta_g"], rtol=1e-12)
    assert v["delta_z"][1] == pytest.approx(lesson["delta_h2"], rel=1e-12)
