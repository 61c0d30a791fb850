"""What lesson 02 says, proved from the library, and the numbers that its built page prints."""

import re
from pathlib import Path

import nbformat
import numpy as np
import pytest

from course_lib import data
from course_lib import reference as ops
from course_lib.checks import check_close, numerical_gradient
from course_lib.checks.close import Mismatch

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "02_neurons_and_layers.ipynb"
X = np.array([[0.5, 0.9, -0.3]])
ROWS = np.array([[1.0, -2.0, 2.0], [2.0, 1.0, -4.0], [1.0, -1.0, 0.0]])
ROWS_OUT = np.array([[-3.0, 1.0, -3.0], [0.0, 1.0, 2.0]])


@pytest.fixture(scope="module")
def outputs():
    return [o for cell in nbformat.read(NOTEBOOK, as_version=4).cells for o in cell.get("outputs", [])]


def test_the_lectures_inference():
    z, _ = ops.dense_forward(X, ROWS.T)
    a, _ = ops.sigmoid_forward(z)
    o = ops.sigmoid(ops.dense_forward(a, ROWS_OUT.T)[0])
    np.testing.assert_allclose(z, [[-1.9, 3.1, -0.4]], rtol=1e-12)
    np.testing.assert_array_equal(a.round(2), [[0.13, 0.96, 0.40]])
    np.testing.assert_array_equal(o.round(2), [[0.35, 0.85]])


def test_rows_and_columns_are_one_transposition_apart():
    np.testing.assert_allclose(ROWS @ X[0], (X @ ROWS.T)[0], rtol=1e-12)


@pytest.mark.parametrize("name", ops.ACTIVATIONS)
def test_every_slope_is_the_measured_one(name):
    f, f_prime = ops.ACTIVATIONS[name]
    z = np.linspace(-5, 5, 40)  # 0, where some have a kink or a jump, is not among them
    check_close(f_prime(z), numerical_gradient(lambda v: f(v).sum(), z), rtol=1e-6, atol=1e-8)


def test_slopes_that_the_page_names():
    z = np.linspace(-8, 8, 3201)
    np.testing.assert_array_equal(ops.softplus_prime(z), ops.sigmoid(z))
    assert ops.sigmoid_prime(z).max() == 0.25
    assert ops.sigmoid_prime(np.array(4.0)) == pytest.approx(0.0177, abs=5e-5)
    assert 0.25**10 < 1e-6
    assert np.all(ops.heaviside_prime(z) == 0)


@pytest.mark.parametrize("seed", range(20))
def test_three_linear_layers_are_one_matrix_to_1e_15(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(1000, 8))
    w1, w2, w3 = (rng.normal(size=(8, 8)) for _ in range(3))
    three, one = ((x @ w1) @ w2) @ w3, x @ (w1 @ w2 @ w3)
    assert np.abs(three - one).max() <= 1e-15 * np.abs(three).max()


def test_xor_needs_the_relu():
    x, y = data.truth_table("xor")
    x = ops.add_bias_input(x)
    w, w_out = np.array([[1.0, 1.0], [1.0, 1.0], [0.0, -1.0]]), np.array([[1.0], [-2.0]])
    np.testing.assert_array_equal((ops.relu(x @ w) @ w_out)[:, 0], y)
    np.testing.assert_array_equal(w @ w_out, [[-1], [-1], [2]])
    np.testing.assert_array_equal(x @ w @ w_out, x @ (w @ w_out))
    assert np.sum(x @ w < 0) == 1  # the ReLU acts on one number
    np.testing.assert_array_equal((ops.leaky_relu(x @ w, 1.0) @ w_out)[:, 0], [2, 1, 1, 0])


def test_steps_pass_the_wall_too_but_their_slope_is_zero():
    x, y = data.truth_table("xor")
    total = x.sum(axis=1)
    np.testing.assert_array_equal(ops.heaviside(total - 1) - ops.heaviside(total - 2), y)
    assert np.all(ops.heaviside_prime(total - 1) == 0)


def test_two_layers_with_biases_are_one_with_another_bias():
    rng = np.random.default_rng(0)
    x, w1, b1, w2, b2 = (rng.integers(-3, 4, size=s) for s in ((9, 4), (4, 5), (5,), (5, 2), (2,)))
    np.testing.assert_array_equal((x @ w1 + b1) @ w2 + b2, x @ (w1 @ w2) + (b1 @ w2 + b2))


def test_the_page_shows_how_small_the_rounding_is(outputs):
    shown = re.search(r"largest difference: (\S+) of", "".join(o.get("text", "") for o in outputs))
    assert 0 < float(shown[1]) <= 1e-15


def test_no_single_matrix_comes_near_a_network_with_a_bend():
    rng = np.random.default_rng(0)
    x = ops.add_bias_input(rng.normal(size=(1000, 4)))
    w, w_out = rng.normal(size=(5, 8)), rng.normal(size=(8, 3))
    rest = {}
    for name in ("identity", "relu", "tanh"):
        network = ops.ACTIVATIONS[name][0](x @ w) @ w_out
        nearest = np.linalg.lstsq(x, network)[0]
        rest[name] = np.linalg.norm(network - x @ nearest) / np.linalg.norm(network)
    assert rest["identity"] < 1e-14
    assert min(rest["relu"], rest["tanh"]) > 0.4


def test_one_batch_product_is_the_loop_over_samples():
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(50, 7)), rng.normal(size=(7, 4))
    np.testing.assert_allclose(ops.dense_forward(x, w)[0], [row @ w for row in x], rtol=1e-12, atol=1e-12)


def test_transposed_square_weights_pass_silently_and_others_do_not():
    wrong = ops.dense_forward(X, ROWS)[0]
    np.testing.assert_allclose(wrong, [[2.0, 0.2, -2.6]], rtol=1e-12)
    with pytest.raises(Mismatch, match=r"is 2, expected -1\.9"):
        check_close(wrong, [[-1.9, 3.1, -0.4]])
    with pytest.raises(ValueError, match=r"Did you mean w\.T\?"):
        ops.dense_forward(X, ROWS_OUT)


def test_a_tensor_core_does_128_operations_a_clock():
    multiply_adds = sum(1 for _ in np.ndindex(4, 4, 4))
    assert multiply_adds == 64
    assert 80 * 8 * 2 * multiply_adds * 1.53e9 / 1e12 == pytest.approx(125, abs=0.5)


def test_the_activation_belongs_after_the_weighted_sum():
    assert ops.sigmoid(ROWS[0] @ X[0]).round(2) == 0.13
    assert (ROWS[0] @ ops.sigmoid(X[0])).round(2) == 0.05


@pytest.mark.parametrize("line", [
    "z = -1.9, a = 0.13",
    "pre-activations [-1.9  3.1 -0.4]  activations [0.13 0.96 0.4 ]",
    "W' (3, 2)  G (1, 2)  O (1, 2) [[0.35 0.85]]",
    "sigmoid: largest slope 0.2500, slope at 4 0.0177",
    "labels [0 1 1 0]  with ReLU [0. 1. 1. 0.]  without [2. 1. 1. 0.]",
    "labels [0 1 1 0]  two perceptrons [0. 1. 1. 0.]  slopes of the first [0. 0. 0. 0.]",
    "identity beyond any one matrix: 0% of the output",
    "relu     beyond any one matrix: 51% of the output",
    "wrong: [[ 2.   0.2 -2.6]] (1, 3)",
    "64 multiply-adds = 128 floating-point operations",
    "64 per clock: 62.7 TFLOP/s",
    "128 per clock: 125.3 TFLOP/s",
])
def test_the_page_prints(outputs, line):
    assert any(line in o.get("text", "") for o in outputs)


def test_the_page_shows_both_failures(outputs):
    errors = [o.evalue for o in outputs if o.output_type == "error"]
    assert len(errors) == 2
    assert "Did you mean w.T?" in errors[0]
    assert "expected -1.9" in errors[1]
