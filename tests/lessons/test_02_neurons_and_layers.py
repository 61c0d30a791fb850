"""What lesson 02 says, proved from the library, and the numbers that its built page prints."""

import re

import numpy as np
import pytest

from course_lib import data
from course_lib import reference as ops
from course_lib.checks import check_close, numerical_gradient
from course_lib.checks.close import Mismatch
from course_lib.figures import activations, bends
from course_lib.figures import xor_networks as nets

from .conftest import NOTEBOOKS

X = np.array([[0.5, 0.9, -0.3]])
ROWS = np.array([[1.0, -2.0, 2.0], [2.0, 1.0, -4.0], [1.0, -1.0, 0.0]])
ROWS_OUT = np.array([[-3.0, 1.0, -3.0], [0.0, 1.0, 2.0]])


def lines_of(text):
    return [line.split() for line in text.splitlines()]


# ------------------------------------------------------------------------------------------------ a network by hand


def test_the_lectures_inference(lesson):
    np.testing.assert_array_equal(lesson["rows_1"], ROWS)
    np.testing.assert_array_equal(lesson["rows_2"], ROWS_OUT)
    z, _ = ops.dense_forward(X, ROWS.T)
    a, _ = ops.sigmoid_forward(z)
    o = ops.sigmoid(ops.dense_forward(a, ROWS_OUT.T)[0])
    np.testing.assert_allclose(z, [[-1.9, 3.1, -0.4]], rtol=1e-12)
    np.testing.assert_array_equal(a.round(2), [[0.13, 0.96, 0.40]])
    np.testing.assert_array_equal(o.round(2), [[0.35, 0.85]])
    np.testing.assert_array_equal(lesson["o"].round(2), [0.35, 0.85])


def test_rows_and_columns_are_one_transposition_apart():
    np.testing.assert_allclose(ROWS @ X[0], (X @ ROWS.T)[0], rtol=1e-12)


def test_one_batch_product_is_the_loop_over_samples():
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(50, 7)), rng.normal(size=(7, 4))
    np.testing.assert_allclose(ops.dense_forward(x, w)[0], [row @ w for row in x], rtol=1e-12, atol=1e-12)


def test_a_sample_with_a_single_one_shows_a_row_of_the_columns_matrix(shown):
    np.testing.assert_array_equal(np.eye(3) @ ROWS.T, ROWS.T)
    assert "[[-1.9  3.1 -0.4]\n [ 1.   2.   1. ]\n [-2.   1.  -1. ]\n [ 2.  -4.   0. ]]" in shown


def test_a_network_for_digits_has_so_many_weights_and_reads_nothing_untrained(lesson, shown, prose):
    assert 784 * 128 + 128 * 10 == 101_632
    assert "784 · 128 + 128 · 10 = 101,632 weights" in prose
    assert 0.08 < lesson["right"].mean() < 0.12
    assert "101,632 weights" in shown
    assert "reads about one digit in ten" in prose
    assert 28**2 == 784
    np.testing.assert_array_equal(np.bincount(data.load_digits(seed=0).y_test), [100] * 10)
    digits = data.load_digits(seed=0)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        w1, w2 = rng.normal(size=(784, 128)) / 28, rng.normal(size=(128, 10))
        hidden = ops.sigmoid(digits.x_test @ w1)
        answers = (hidden @ w2).argmax(axis=1)
        assert 0.04 < np.mean(answers == digits.y_test) < 0.2
        assert np.bincount(answers).max() > 800
        assert np.mean((hidden > 0.3) & (hidden < 0.7)) > 0.97
    assert np.mean((lesson["hidden"] > 0.3) & (lesson["hidden"] < 0.7)) > 0.97, "nearly all"
    assert lesson["commonest"] > 800


# ------------------------------------------------------------------------------------------------ without a bend


@pytest.mark.parametrize("seed", range(20))
def test_three_linear_layers_are_one_matrix_to_1e_15(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(1000, 8))
    w1, w2, w3 = (rng.normal(size=(8, 8)) for _ in range(3))
    three, one = ((x @ w1) @ w2) @ w3, x @ (w1 @ w2 @ w3)
    assert np.abs(three - one).max() <= 1e-15 * np.abs(three).max()


def test_the_page_shows_how_small_the_rounding_is(shown):
    found = re.search(r"largest difference: (\S+) of", shown)
    assert 0 < float(found[1]) <= 1e-15


def test_a_narrow_middle_takes_something_away(lesson, shown):
    assert np.linalg.matrix_rank(lesson["product"]) == 2
    assert "shape (8, 8)  independent rows: 2" in shown


@pytest.mark.parametrize("spoiler", ["bend", "single layer", "without activation"])
def test_neither_title_nor_objectives_tell_what_the_page_asks(prose, spoiler):
    first = prose.split("About this page")[0]
    assert spoiler not in first


def test_two_layers_with_biases_are_one_with_another_bias():
    rng = np.random.default_rng(0)
    x, w1, b1, w2, b2 = (rng.integers(-3, 4, size=s) for s in ((9, 4), (4, 5), (5,), (5, 2), (2,)))
    np.testing.assert_array_equal((x @ w1 + b1) @ w2 + b2, x @ (w1 @ w2) + (b1 @ w2 + b2))


def test_nobody_gets_beyond_three_of_four_without_a_bend_and_three_can_be_reached(shown):
    rng = np.random.default_rng(1)
    steps = np.arange(-nets.MOST, nets.MOST + nets.STEP / 2, nets.STEP)
    right = [nets.right(numbers, "none").sum() for numbers in rng.choice(steps, (2000, 9))]
    assert max(right) == 3
    assert "1 of 4 answers are right" in shown  # where the figure at the top begins


# ------------------------------------------------------------------------------------------------ with one


def test_xor_needs_the_relu(shown):
    x, y = data.truth_table("xor")
    x = ops.add_bias_input(x)
    w, w_out = np.array([[1.0, 1.0], [1.0, 1.0], [0.0, -1.0]]), np.array([[1.0], [-2.0]])
    np.testing.assert_array_equal((ops.relu(x @ w) @ w_out)[:, 0], y)
    np.testing.assert_array_equal(w @ w_out, [[-1], [-1], [2]])
    np.testing.assert_array_equal(x @ w @ w_out, x @ (w @ w_out))
    np.testing.assert_array_equal(np.argwhere(x @ w < 0), [[0, 1]])  # the ReLU acts on one number, of the input (0, 0)
    assert (x @ w)[0, 1] == -1
    for corner in (["0", "0", "0", "0", "2"], ["0", "1", "1", "1", "1"], ["1", "1", "0", "0", "0"]):
        assert corner in lines_of(shown)


def test_the_nine_numbers_are_this_network_and_put_two_corners_on_one_place():
    numbers, between = nets.PRESETS["XOR solved"]
    w, w_out = np.array([[1, 1], [1, 1], [0, -1]]), np.array([1, -2])
    assert (list(numbers), between) == ([*w[:, 0], *w[:, 1], *w_out, 0], "ReLU")
    hidden, _ = nets.forward(numbers, between, nets.CORNERS)
    np.testing.assert_array_equal(hidden, [[0, 0], [1, 0], [1, 0], [2, 1]])


def test_before_the_relu_the_corners_lie_on_one_line_with_label_1_in_the_middle_and_after_it_they_do_not():
    numbers, _ = nets.PRESETS["XOR solved"]
    before = nets.forward(numbers, "none", nets.CORNERS)[0]
    after = nets.forward(numbers, "ReLU", nets.CORNERS)[0]
    np.testing.assert_array_equal(before, [[0, -1], [1, 0], [1, 0], [2, 1]])  # (0, 1) and (1, 0) together already
    np.testing.assert_array_equal(before[0] + before[3], 2 * before[1])  # the middle, whose label is 1
    assert list(nets.LABELS) == [0, 1, 1, 0]
    np.testing.assert_array_equal(np.argwhere(before != after), [[0, 1]])
    assert np.linalg.det(after[[1, 3]] - after[0]) != 0, "no longer on one line"


def test_the_whole_plane_ends_up_on_one_broken_line():
    x = np.random.default_rng(0).uniform(-0.5, 1.5, (500, 2))
    h1, h2 = nets.forward(*nets.PRESETS["XOR solved"], x)[0].T
    np.testing.assert_allclose(h2, ops.relu(h1 - 1), atol=1e-12)


def test_one_hidden_neuron_is_enough_for_xor_with_another_bend():
    x, y = data.truth_table("xor")
    np.testing.assert_array_equal(np.abs(x @ [1, -1]), y)


def test_each_output_of_a_deep_network_without_activation_is_one_score():
    rng = np.random.default_rng(3)
    a, b, c = (rng.integers(-3, 4, (8, 8)) for _ in range(3))
    x = rng.integers(-3, 4, (20, 8))
    for k in range(8):
        np.testing.assert_array_equal((x @ a @ b @ c)[:, k], x @ (a @ b @ c)[:, k])


def test_on_the_diagonal_the_second_neuron_switches_on_half_way():
    t = np.linspace(0, 1, 101)
    hidden, _ = nets.forward(*nets.PRESETS["XOR solved"], np.column_stack([t, t]))
    assert (hidden[t <= 0.5, 1] == 0).all()
    assert (hidden[t > 0.5, 1] > 0).all()


def test_two_steps_do_it_and_a_small_move_changes_nothing():
    numbers, between = nets.PRESETS["two steps"]
    before = nets.forward(numbers, between, nets.CORNERS)[1]
    np.testing.assert_array_equal(before, nets.LABELS)
    for k in range(6):  # the weights and biases of the hidden neurons
        for move in (-0.25, 0.25):
            moved = np.add(numbers, move * (np.arange(9) == k))
            np.testing.assert_array_equal(nets.forward(moved, between, nets.CORNERS)[1], before)
        far = [np.add(numbers, move * (np.arange(9) == k)) for move in (-1.5, 1.5)]
        assert any((nets.forward(n, between, nets.CORNERS)[1] != before).any() for n in far)
    assert np.all(ops.heaviside_prime(np.linspace(-3, 3, 50)) == 0)


# ------------------------------------------------------------------------------------------------ how much bends do


def test_twice_the_bends_leave_a_quarter_of_the_miss(lesson):
    misses = lesson["misses"]
    assert misses[8] == pytest.approx(0.027, abs=5e-4)
    for n in (8, 16):
        assert 0.22 < misses[2 * n] / misses[n] < 0.3


def test_over_a_parabola_half_the_width_is_a_quarter_of_the_bulge():
    bulge = {width: width**2 / 2 - (width / 2) ** 2 for width in (1, 1 / 2)}
    assert bulge == {1: 1 / 4, 1 / 2: 1 / 16}


def test_the_quarter_holds_for_short_pieces_and_more_pieces_are_not_always_better(lesson):
    misses = lesson["misses"]
    assert (round(misses[4] / misses[8], 1), round(misses[16] / misses[32], 1)) == (3.0, 3.9)
    x = np.linspace(0, 1, 2001)
    one = np.abs(lesson["network_through"](lesson["wave"], 1)(x) - lesson["wave"](x)).max()
    assert misses[2] == pytest.approx(one), "two equal pieces miss the wave by as much as one"


def test_the_buttons_rule_is_worse_than_equal_pieces_with_4_5_and_6_neurons_and_with_5_both_can_be_beaten():
    wave = bends.CURVES["a wave"](np.linspace(0, 1, bends.GRID + 1))
    for n in (4, 5, 6):
        equal = [round(k * bends.GRID / n) for k in range(1, n)]
        assert bends.worst_place(wave, equal)[1] < bends.worst_place(wave, bends.bent(wave, n))[1]
    assert [round(bends.worst_place(wave, bends.bent(wave, n))[1], 2) for n in (1, 2, 3)] == [0.38, 0.52, 0.11]
    place, _ = bends.worst_place(wave, bends.bent(wave, 2))
    assert place > bends.bent(wave, 2)[0], "the first bend lifts the piece to its right over the valley"
    choices = (bends.bent(wave, 5), [40, 80, 120, 160], [36, 63, 137, 164])
    found = [bends.worst_place(wave, places)[1] for places in choices]
    np.testing.assert_allclose(found, [0.080, 0.069, 0.035], atol=5e-4)


def test_the_border_of_a_fence_runs_outside_of_its_folds_and_cuts_the_corners():
    straight = np.array([[0.0, 1.1], [0.0, 1.1 + 0.24], [0.0, 1.1 + 0.26]])  # over the first fold, at height 1.1
    assert list(bends.fence_output(straight, 3) > 0.5) == [True, True, False]
    x = np.random.default_rng(0).uniform(-2, 2, (200, 2))
    for n in (1, 2, 3, 5):
        w, b, _, _ = bends.fence(n)
        beyond = x @ w + b  # d_k, since the columns of w have length 1
        np.testing.assert_allclose(np.linalg.norm(w, axis=0), 1)
        np.testing.assert_allclose(bends.fence_output(x, n), 1 - 2 * np.maximum(beyond, 0).sum(axis=1))
    corner = 2 * 1.1 * np.array([np.cos(np.pi / 6), np.sin(np.pi / 6)])  # where two of the three folds meet
    out = corner / np.linalg.norm(corner)
    assert bends.fence_output((corner + 0.24 * out)[None], 3)[0] == pytest.approx(1 - 2 * 2 * 0.24 / 2)
    tips = 2 * (1.1 + 0.25)  # where the border's sides would meet if they were not cut
    assert bends.fence_output((tips * out)[None], 3)[0] < 0.5


def test_the_pages_recipe_meets_the_curve_at_its_ends_and_changes_the_slope_by_v(lesson):
    network = lesson["network_through"](np.sqrt, 5)
    ends = np.linspace(0, 1, 6)
    np.testing.assert_allclose(network(ends), np.sqrt(ends), atol=1e-12)
    middles = (ends[1:] + ends[:-1]) / 2
    np.testing.assert_allclose(network(middles), (np.sqrt(ends[1:]) + np.sqrt(ends[:-1])) / 2, atol=1e-12)


def test_three_folds_make_a_blunt_triangle_and_five_keep_disc_and_ring_apart(lesson):
    np.testing.assert_allclose([*lesson["shares"].values()], [0.59, 0.70, 0.85, 1.0], atol=0.005)


# ------------------------------------------------------------------------------------------------ slopes


@pytest.mark.parametrize("name", ops.ACTIVATIONS)
def test_every_slope_is_the_measured_one(name, shown):
    f, f_prime = ops.ACTIVATIONS[name]
    z = np.linspace(-5, 5, 40)  # 0, where some have a kink or a jump, is not among them
    check_close(f_prime(z), numerical_gradient(lambda v: f(v).sum(), z), rtol=1e-6, atol=1e-8)
    if name not in activations.NAMES:
        assert name == "identity", "the page's table has the six of its text"
        return
    called = activations.NAMES[name].split()
    (row,) = (line[len(called) :] for line in lines_of(shown) if line[: len(called)] == called and line[-1] == "yes")
    np.testing.assert_allclose(
        [float(v) for v in row[:4]], f_prime(np.array([-2.0, -0.5, 0.3, 1.7])), rtol=0, atol=5.01e-3
    )


def test_slopes_that_the_page_names(shown):
    z = np.linspace(-8, 8, 3201)
    np.testing.assert_array_equal(ops.softplus_prime(z), ops.sigmoid(z))
    assert ops.sigmoid_prime(z).max() == 0.25
    assert ops.sigmoid_prime(np.array(4.0)) == pytest.approx(0.0177, abs=5e-5)
    assert 0.9e-6 < 0.25**10 < 1e-6  # "a factor of a millionth at best"
    assert "largest slope 0.2500, at 4 0.0177\nten of the largest multiplied: 9.5e-07" in shown
    assert ops.relu_prime(np.array([0.0])) == 0
    assert ops.relu_prime(np.array([0.1])) == 1
    np.testing.assert_array_equal(ops.leaky_relu_prime(np.array([-1.0])), [0.01])


def test_relus_date_is_that_of_its_papers_and_hwus_stands_in_the_folded_box(prose):
    page, box = prose.split("For those who know the lectures")
    for told in ("Fukushima used such units in 1969", "In 2010 Nair and Hinton", "in 2011 Glorot", "in 2012 AlexNet"):
        assert told in page
    assert "2017" not in page
    assert "2017" in box.split("Check yourself")[0]


def test_step_and_tanh_are_credited_with_what_the_lectures_contain(prose):
    assert '"Activation Functions"' not in prose.split("For those who know the lectures")[0]
    assert "Dey names the step, `heaviside`, without a formula" in prose
    assert "Tanh is in none of the three lectures" in prose


def test_the_brain_is_told_with_its_sources(prose):
    for title in ("Biological Inspiration", "Neural Networks Model Human Neural Activity",
                  "Brains Evolve Architecturally to Learn Faster"):  # fmt: skip
        assert f'"{title}"' in prose


@pytest.mark.parametrize("cell", ["matrix_rank", "ValueError as error", "diff(y, 2)"])
def test_no_visible_code_tells_the_answer_of_a_prediction(cell):
    script = (NOTEBOOKS / "02_neurons_and_layers.py").read_text(encoding="utf-8")
    for part in script.split("# %%")[1:]:
        if cell in part:
            assert "hide-input" in part.splitlines()[0]


def test_gradient_descent_has_its_name(prose):
    assert "called **gradient descent**" in prose
    assert "follows slopes" not in prose


# ------------------------------------------------------------------------------------------------ what goes wrong


def test_transposed_square_weights_pass_silently_and_others_do_not(lesson, shown):
    np.testing.assert_allclose(ops.dense_forward(X, ROWS)[0], [[2.0, 0.2, -2.6]], rtol=1e-12)
    np.testing.assert_allclose(lesson["wrong"], [[2.0, 0.2, -2.6]], rtol=1e-12)
    assert not np.allclose(np.sort(lesson["wrong"]), np.sort(lesson["due"])), "not the right numbers in another order"
    with pytest.raises(Mismatch, match=r"is 2, expected -1\.9"):
        check_close(lesson["wrong"], [[-1.9, 3.1, -0.4]])
    with pytest.raises(ValueError, match=r"Did you mean w\.T\?"):
        ops.dense_forward(X, ROWS_OUT)
    assert "w is (2, 3); x.shape[1] must equal w.shape[0]. Did you mean w.T?" in shown
    assert "first layer:  [[ 2.   0.2 -2.6]]  should be [[-1.9  3.1 -0.4]]" in shown


def test_the_activation_belongs_after_the_weighted_sum():
    assert ops.sigmoid(ROWS[0] @ X[0]).round(2) == 0.13
    assert (ROWS[0] @ ops.sigmoid(X[0])).round(2) == 0.05


# ------------------------------------------------------------------------------------------------ the folded answers


def test_leaky_relu_is_a_perceptron_at_one():
    x, _ = data.truth_table("xor")
    w, w_out = np.array([[1.0, 1.0], [1.0, 1.0], [0.0, -1.0]]), np.array([[1.0], [-2.0]])
    z = ops.add_bias_input(x) @ w
    for slope in (0.1, 0.25, 0.5, 1.0):
        np.testing.assert_allclose((ops.leaky_relu(z, slope) @ w_out)[:, 0], [2 * slope, 1, 1, 0])
    np.testing.assert_array_equal(ops.leaky_relu(z, 1.0), z)


@pytest.mark.parametrize("row", ["1 2 2 3", "2 4 4 5", "3 6 8 7", "5 10 32 11", "10 20 1,024 21"])
def test_the_page_counts_the_pieces_of_tents(shown, row):
    assert row.split() in lines_of(shown)


@pytest.mark.parametrize("n", [1, 2, 6, 20])
def test_one_layer_of_n_neurons_has_n_plus_1_pieces_at_most(n):
    rng = np.random.default_rng(n)
    x = np.linspace(0, 1, 2**12 + 1)
    for _ in range(5):
        places = rng.choice(np.arange(1, 2**12, 2**4), n, replace=False) / 2**12
        y = ops.relu(x[:, None] - places) @ rng.integers(1, 5, n)
        assert 1 + np.count_nonzero(np.abs(np.diff(y, 2)) > 1e-9) == n + 1


def test_tents_multiply_their_bends(lesson):
    x = np.linspace(0, 1, 2**10 + 1)  # every bend is one of these
    y = x
    for layers in range(1, 7):
        y = ops.relu(2 * y) - ops.relu(4 * y - 2)
        pieces = 1 + np.count_nonzero(np.diff(y, 2))
        assert pieces == 2**layers
        if layers <= 3:
            assert lesson["pieces"][layers - 1] == pieces
    assert [2 ** (n // 2) for n in (6, 10, 20)] == [8, 32, 1024]


@pytest.mark.parametrize("seed", range(20))
def test_tanh_hardly_bends_small_numbers(seed):
    rng = np.random.default_rng(seed)
    x = 0.001 * rng.normal(size=(1000, 8))
    w1, w2, w3 = (rng.normal(size=(8, 8)) for _ in range(3))
    three, one = np.tanh(np.tanh(x @ w1) @ w2) @ w3, x @ (w1 @ w2 @ w3)
    assert 0 < np.abs(three - one).max() < 2e-3 * np.abs(three).max()


def test_the_answers_of_check_yourself():
    assert 784 * 128 + 128 * 64 + 64 * 10 == 109_184
    assert 784 * 10 == 7_840
    below = np.linspace(-6, -1, 20)
    assert (ops.relu_prime(below) == 0).all()
    assert (ops.leaky_relu_prime(below) > 0).all()
    for f_prime in (ops.softplus_prime, ops.sigmoid_prime, ops.tanh_prime):
        assert (f_prime(below) > 0).all()
        assert (f_prime(np.array([-6.0])) < 0.01).all()
    w, b = np.arange(9.0).reshape(3, 3), np.ones(3)
    np.testing.assert_array_equal(np.zeros(3) @ w + b, np.zeros(3) @ w.T + b)  # an input of zeros cannot tell


def test_the_sheet_speaks_of_sections_and_names_that_the_lesson_has(lesson):
    text = " ".join((NOTEBOOKS.parent / "solutions" / "02_neurons_and_layers.py").read_text(encoding="utf-8").split())
    script = (NOTEBOOKS / "02_neurons_and_layers.py").read_text(encoding="utf-8")
    sections = re.findall(r"""lesson's section "([^"]+)\"""", text.replace("# ", ""))
    assert sections
    assert all(f"# ## {name}" in script for name in sections), sections
    x, rows_1, rows_2 = np.array([[0.5, 0.9, -0.3]]), lesson["rows_1"], lesson["rows_2"]
    assert "`rows_1` and `rows_2` of the lesson" in text
    np.testing.assert_array_equal(ops.sigmoid(ops.sigmoid(x @ rows_1.T) @ rows_2.T).round(2), [[0.35, 0.85]])


@pytest.mark.parametrize("line", [
    "z = -1.9, a = 0.13",
    "pre-activations [-1.9  3.1 -0.4]",
    "activations     [0.13 0.96 0.4 ]",
    "hidden [0.13 0.96 0.4 ]  outputs [0.35 0.85]",
    "[[0.35 0.85]]",
])
def test_the_page_prints(printed, line):
    assert line in printed
