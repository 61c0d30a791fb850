"""The pictures of lesson 02: the explorer over its whole range, and the drawings of layers."""

import re
from urllib.parse import unquote

import numpy as np
import pytest
from matplotlib.figure import Figure

from course_lib import data, figures
from course_lib import reference as ops
from course_lib.figures import activations, neurons, style

ZS, SLOPES = np.arange(-4, 4.01, 0.25), np.arange(0, 1.01, 0.05)
ROWS = np.array([[1.0, -2.0, 2.0], [2.0, 1.0, -4.0], [1.0, -1.0, 0.0]])
ROWS_OUT = np.array([[-3.0, 1.0, -3.0], [0.0, 1.0, 2.0]])


def drawn(name, z, slope):
    picture = figures.picture(activations.explorer(name, z, slope), **activations.explorer_texts(name, z, slope))
    return picture, unquote(picture.src)


@pytest.mark.parametrize("name", activations.NAMES)
def test_the_explorer_draws_every_position_of_both_sliders_at_one_size(name):
    sizes = {(p.width, p.height) for p, _ in (drawn(name, z, s) for z in ZS[::2] for s in SLOPES[::10])}
    assert len(sizes) == 1


@pytest.mark.parametrize("name", activations.NAMES)
def test_every_control_changes_the_picture(name):
    assert len({drawn(name, z, 0.2)[1] for z in ZS}) == len(ZS)
    assert len({drawn(name, 1.5, s)[1] for s in SLOPES}) == len(SLOPES)
    assert drawn(name, 1.5, 0.2)[1] != drawn("sigmoid" if name != "sigmoid" else "tanh", 1.5, 0.2)[1]


@pytest.mark.parametrize("name", activations.NAMES)
def test_the_texts_say_the_librarys_numbers(name):
    for z in ZS:
        caption = activations.explorer_texts(name, z, 0.3)["caption"].replace("\u2212", "-")
        written = [float(v) for v in re.findall(r"-?\d+\.\d\d", caption)]
        np.testing.assert_allclose(written, [z, *activations.value_and_slope(name, z, 0.3)], atol=0.0051)


def test_the_dropdown_offers_every_function_and_begins_with_sigmoid():
    assert activations.CHOICES[0] == ("sigmoid", "sigmoid")
    assert {name for _, name in activations.CHOICES} == set(activations.NAMES) == set(ops.ACTIVATIONS) - {"identity"}


def test_gallery_has_a_panel_for_each_function():
    fig = activations.gallery()
    assert [ax.get_title(loc="left") for ax in fig.axes] == list(activations.NAMES.values())


def test_network_shows_the_lectures_numbers():
    text = neurons.network(np.array([0.5, 0.9, -0.3]), [ROWS, ROWS_OUT], ops.sigmoid).to_svg()
    for number in ("0.13", "0.96", "0.40", "0.35", "0.85", "z = \u22121.90", "z = 3.10", "z = \u22120.40"):
        assert f">{number}<" in text
    assert "hidden layer (3,)" in text


def test_each_weight_stands_nearest_to_the_neuron_that_it_belongs_to():
    text = neurons.network(np.array([0.5, 0.9, -0.3]), [ROWS, ROWS_OUT], ops.sigmoid).to_svg()
    written = re.findall(r"<text x='([\d.]+)' y='([\d.]+)' text-anchor='middle'>(\u2212?\d)</text>", text)
    left = sorted((float(y), w) for x, y, w in written if float(x) < 305)  # the hidden layer's, from above
    weights = [float(w.replace("\u2212", "-")) for _, w in left]
    np.testing.assert_array_equal(np.reshape(weights, (3, 3)), ROWS)
    assert np.diff([y for y, _ in left]).min() > 15  # a line of text each


def test_a_measured_ratio_has_few_digits():
    assert [neurons.times(v) for v in (2.64, 9.97, 37.2, 223.8, 1234.5)] == ["2.6", "10.0", "37", "220", "1200"]


def test_collapse_shows_all_three_products_with_shapes():
    x, _ = data.truth_table("xor")
    w, w_out = np.array([[1.0, 1.0], [1.0, 1.0], [0.0, -1.0]]), np.array([[1.0], [-2.0]])
    text = neurons.collapse(ops.add_bias_input(x), w, w_out).to_svg()
    for shape, count in (("(4, 3)", 3), ("(3, 2)", 2), ("(2, 1)", 2), ("(3, 1)", 1), ("(4, 1)", 3)):
        assert text.count(shape) == count


@pytest.mark.parametrize("times", [([0.7, 18.0], [0.003, 1.7]), ([0.5, 5.0], [0.01, 10.0]), ([1.0, 1.0], [1.0, 1.0])])
def test_race_and_outputs_are_figures_that_fit(times):
    x, y = data.truth_table("xor")
    w, w_out = np.array([[1.0, 1.0], [1.0, 1.0], [0.0, -1.0]]), np.array([[1.0], [-2.0]])
    for fig in (neurons.race(["small", "large"], *times), neurons.outputs(x, y, w, w_out)):
        assert isinstance(fig, Figure)
        figures.picture(fig, alt="a picture that fits the limit of its size")


def strokes(name, slope):
    """The curves of the explorer: {(colour, panel): list of (k, 2) arrays of pixels}; panel 0 is f, 1 is f'."""
    found = {}
    for tag in re.findall(r"<polyline[^>]*>", activations.explorer(name, 1.5, slope).to_svg()):
        points = np.array([p.split(",") for p in re.search(r"points='([^']*)'", tag)[1].split()], float)
        key = re.search(r"stroke='([^']*)'", tag)[1], int(points[0, 0] > 340)
        found.setdefault(key, []).append(points)
    return found


@pytest.mark.parametrize("name", activations.NAMES)
def test_a_curve_is_whole_where_the_function_is_and_broken_where_it_jumps(name):
    """Otherwise an upright line would show values that the function never takes."""
    for slope in SLOPES:
        kink = 1 if slope > 0.99 else 2  # leaky ReLU's slope jumps from `slope` to 1
        parts = {"heaviside": (2, 1), "relu": (1, 2), "leaky_relu": (1, kink)}.get(name, (1, 1))
        drawn = strokes(name, slope)
        data_blue, vermilion, idle = (style.colour(role) for role in ("data", "gradient", "idle"))
        assert (len(drawn[data_blue, 0]), len(drawn[vermilion, 1])) == parts
        if name != "leaky_relu":
            assert (len(drawn[idle, 0]), len(drawn[idle, 1])) == (1, kink)
        for (_, panel), curves in drawn.items():
            unit = activations.PANEL / (5.5, 1.5)[panel]  # pixels of one unit, upwards
            for points in curves:
                assert np.abs(np.diff(points[:, 1])).max() < 0.03 * unit
        assert sum(len(points) for points in drawn[vermilion, 1]) == 321
