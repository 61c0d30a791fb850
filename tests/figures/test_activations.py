"""The pictures of lesson 02: six functions with their slopes, a cell, and the drawings of layers."""

import re

import numpy as np
import pytest

from course_lib import data, figures
from course_lib import reference as ops
from course_lib.figures import activations, neurons, style
from tests.figures.pages import read_svg, svg_texts

ROWS = np.array([[1.0, -2.0, 2.0], [2.0, 1.0, -4.0], [1.0, -1.0, 0.0]])
ROWS_OUT = np.array([[-3.0, 1.0, -3.0], [0.0, 1.0, 2.0]])


def test_the_picture_has_a_panel_with_formulas_for_each_function():
    made = figures.picture(activations.curves(), alt="six functions with their slopes")
    texts = svg_texts(read_svg(made.src))
    assert set(activations.NAMES) == set(activations.FORMULAS) == set(ops.ACTIVATIONS) - {"identity"}
    for name, shown in activations.NAMES.items():
        assert shown in texts
        f, slope = activations.FORMULAS[name]
        assert f"f = {f}" in texts
        assert f"f' = {slope}" in texts
    assert made.drawn[0] == 400  # so that its text stays readable on a phone


FORMULAS = {
    "heaviside": (lambda z: 1.0 * (z >= 0), lambda z, f: 0 * z),
    "sigmoid": (lambda z: 1 / (1 + np.exp(-z)), lambda z, f: f * (1 - f)),
    "tanh": (lambda z: (np.exp(z) - np.exp(-z)) / (np.exp(z) + np.exp(-z)), lambda z, f: 1 - f**2),
    "relu": (lambda z: np.where(z > 0, z, 0), lambda z, f: np.where(z > 0, 1, 0)),
    "leaky_relu": (lambda z: np.where(z > 0, z, 0.3 * z), lambda z, f: np.where(z > 0, 1, 0.3)),
    "softplus": (lambda z: np.log(1 + np.exp(z)), lambda z, f: ops.sigmoid(z)),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_each_formula_that_the_picture_writes_is_the_librarys(name):
    z = np.linspace(-4, 4, 81)
    f, slope = activations.value_and_slope(name, z, 0.3)
    np.testing.assert_allclose(FORMULAS[name][0](z), f, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(FORMULAS[name][1](z, f), slope, rtol=1e-12, atol=1e-12)


def test_network_shows_the_lectures_numbers():
    text = neurons.network(np.array([0.5, 0.9, -0.3]), [ROWS.T, ROWS_OUT.T], ops.sigmoid).to_svg()
    for number in ("0.13", "0.96", "0.40", "0.35", "0.85", "z = \u22121.90", "z = 3.10", "z = \u22120.40"):
        assert f">{number}<" in text
    assert "hidden (3,)" in text


def test_each_weight_stands_nearest_to_the_neuron_that_it_belongs_to():
    text = neurons.network(np.array([0.5, 0.9, -0.3]), [ROWS.T, ROWS_OUT.T], ops.sigmoid).to_svg()
    written = re.findall(r"<text x='([\d.]+)' y='([\d.]+)' text-anchor='middle'>(\u2212?\d)</text>", text)
    left = sorted((float(y), w) for x, y, w in written if float(x) < 200)  # the hidden layer's, from above
    weights = [float(w.replace("\u2212", "-")) for _, w in left]
    np.testing.assert_array_equal(np.reshape(weights, (3, 3)), ROWS)
    assert np.diff([y for y, _ in left]).min() > 15  # a line of text each
    groups = np.reshape([y for y, _ in left], (3, 3))
    assert (groups[1:, 0] - groups[:-1, 2]).min() > 1.5 * np.diff(groups).max(), "three groups, not one column"


def test_only_a_negative_weight_is_dashed():
    text = neurons.network(np.array([0.5, 0.9, -0.3]), [ROWS.T, ROWS_OUT.T], ops.sigmoid).to_svg()
    negative = np.sum(ROWS < 0) + np.sum(ROWS_OUT < 0)
    assert len(re.findall(r"<line[^>]*stroke-dasharray", text)) == negative


def test_no_edge_is_drawn_over_a_node_or_its_number():
    text = neurons.network(np.array([0.5, 0.9, -0.3]), [ROWS.T, ROWS_OUT.T], ops.sigmoid).to_svg()
    assert text.rindex("<line") < text.index("<circle")


def test_collapse_shows_all_three_products_with_shapes():
    x, _ = data.truth_table("xor")
    w, w_out = np.array([[1.0, 1.0], [1.0, 1.0], [0.0, -1.0]]), np.array([[1.0], [-2.0]])
    text = neurons.collapse(ops.add_bias_input(x), w, w_out).to_svg()
    for shape, count in (("(4, 3)", 3), ("(3, 2)", 2), ("(2, 1)", 2), ("(3, 1)", 1), ("(4, 1)", 3)):
        assert text.count(shape) == count


def test_the_cell_and_its_model_name_their_parts():
    texts = svg_texts(read_svg(figures.picture(neurons.cell(), alt="a nerve cell and its model").src))
    assert {"axon", "bias b", "cell body", "synapses and dendrites", "z", "f", "a", "w3"} <= set(texts)


def strokes():
    """The curves of the picture: {(panel, colour): list of (k, 2) arrays of pixels}; panels row by row."""
    found = {}
    for tag in re.findall(r"<polyline[^>]*>", activations.curves().to_svg()):
        points = np.array([p.split(",") for p in re.search(r"points='([^']*)'", tag)[1].split()], float)
        panel = 2 * int(points[0, 1] // (activations.TALL + 66)) + int(points[0, 0] > 199)
        found.setdefault((panel, re.search(r"stroke='([^']*)'", tag)[1]), []).append(points)
    return found


@pytest.mark.parametrize("name", activations.NAMES)
def test_a_curve_is_whole_where_the_function_is_and_broken_where_it_jumps(name):
    """Otherwise an upright line would show values that the function never takes."""
    parts = {"heaviside": (2, 1), "relu": (1, 2), "leaky_relu": (1, 2)}.get(name, (1, 1))
    drawn, panel = strokes(), list(activations.NAMES).index(name)
    function, slope = drawn[panel, style.colour("data")], drawn[panel, style.colour("gradient")]
    assert (len(function), len(slope)) == parts
    unit = activations.TALL / (activations.HIGH - activations.LOW)  # pixels of one unit, upwards
    for points in function + slope:
        assert np.abs(np.diff(points[:, 1])).max() < 0.03 * unit + 0.11
    assert sum(map(len, slope)) == 321
