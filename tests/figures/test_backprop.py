"""Figures of lesson 04: the numbers drawn are the library's, on all kinds of sizes."""

import itertools
import re
from urllib.parse import unquote

import numpy as np
import pytest

from course_lib import reference as ops
from course_lib.figures import backprop


def sample(b=4, d=2, m=3, c=1, seed=0):
    rng = np.random.default_rng(seed)
    shapes = ((b, d), (d, m), (m, c), (b, c))
    return [rng.standard_normal(s) for s in shapes]


@pytest.mark.parametrize("sizes", [(4, 2, 3, 1), (1, 1, 1, 1), (2, 3, 1, 2), (5, 1, 2, 3)])
def test_every_gradient_has_the_shape_of_its_matrix_and_agrees_with_the_formulas(sizes):
    x, w, w2, y = sample(*sizes)
    values = backprop.matrices(x, w, w2, y)
    for upper, lower, _ in itertools.chain(*backprop.BANDS):
        if lower in backprop.BACKWARD:
            assert values[upper].shape == values[lower].shape
    a, o = ops.sigmoid(x @ w), ops.sigmoid(ops.sigmoid(x @ w) @ w2)
    delta_g = -(y - o) * o * (1 - o)
    delta_z = (delta_g @ w2.T) * a * (1 - a)
    np.testing.assert_allclose(values["dW2"], a.T @ delta_g, rtol=1e-12)
    np.testing.assert_allclose(values["dW"], x.T @ delta_z, rtol=1e-12)


@pytest.mark.parametrize("activation", ["sigmoid", "tanh", "relu"])
def test_frames_fill_forward_then_backward_and_stay_one_size(activation):
    frames = backprop.backprop_frames(*sample(), activation=activation)
    assert len(frames) == 1 + len(backprop.FORWARD) + len(backprop.BACKWARD) == 12
    assert len({(f.width, f.height) for f in frames}) == 1
    assert frames[0].drawn[0] <= 420
    dashed = [f.src.count("stroke='%23999999'") for f in frames]
    assert dashed == sorted(dashed, reverse=True)
    assert dashed[-1] == 0


def test_frames_name_the_shapes_of_each_product_in_the_order_of_the_formula():
    frames = backprop.backprop_frames(*sample())
    heads = {f.alt.split(":")[1].split("=")[0].strip(): f for f in frames[1:]}
    assert "(3, 4) @ (4, 1) → (3, 1)" in _text(heads["dW2"])
    assert "(4, 1) @ (1, 3) → (4, 3)" in _text(heads["dA"])
    assert "(4, 3) * (4, 3) → (4, 3)" in _text(heads["δZ"])
    assert "(2, 4) @ (4, 3) → (2, 3)" in _text(heads["dW"])


def test_alternative_texts_hold_the_numbers_that_were_computed():
    args = sample()
    frames, values = backprop.backprop_frames(*args), backprop.matrices(*args)
    for frame, name in zip(frames[1:], [*backprop.FORWARD, *backprop.BACKWARD], strict=True):
        places = 3 if name in backprop.BACKWARD else 2
        assert f"{values[name].ravel()[0]:.{places}f}" in frame.alt


def test_stepper_shows_the_finished_pass_without_scripts():
    stepper = backprop.backprop_stepper(*sample())
    assert stepper.static in (-1, 11)
    assert stepper.html == backprop.backprop_stepper(*sample()).html


@pytest.mark.parametrize("marked", [[], [(1, 0, 0)], [(0, 0, 1), (1, 1, 0), (1, 1, 1)]])
def test_path_diagram_draws_marked_edges_and_what_they_reach_as_arrows(marked):
    x, hidden, output = np.array([0.5, 0.9, -0.3]), np.array([0.1, 0.9, 0.4]), np.array([0.3, 0.8])
    svg = backprop.path_diagram(x, hidden, output, np.ones((3, 3)), -np.ones((3, 2)), marked)
    text = svg.to_svg()
    reached = {j for layer, _, j in marked if layer == 1}  # these outputs have an arrow to the loss
    assert text.count("<path") == len(marked) + len(reached)
    assert text.count("w = ") == len(marked)
    assert text.count("<circle") == 8
    assert text.count(">loss J<") == 1


@pytest.mark.parametrize("top", [0.01, 0.2, 3.0])
def test_check_scatter_has_a_panel_per_candidate_with_one_scale_on_both_axes(top):
    measured = top * np.array([1.0, -0.7, 0.3])
    pairs = {"right": (measured, measured), "swapped": (measured, -5 * measured)}
    fig = backprop.check_scatter({"ones": {name: (0 * measured,) * 2 for name in pairs}, "random": pairs})
    assert [ax.get_title(loc="left") for ax in fig.axes] == ["right", "swapped"]
    for ax, (_, computed) in zip(fig.axes, pairs.values(), strict=True):
        assert ax.get_xlim() == ax.get_ylim()
        assert ax.get_aspect() == 1
        diagonal, ones, random = ax.lines
        np.testing.assert_array_equal(*diagonal.get_data())
        np.testing.assert_array_equal(ones.get_ydata(), 0)
        np.testing.assert_array_equal(random.get_data(), (measured, computed))
        assert np.abs(computed).max() < ax.get_ylim()[1]


def test_a_matrix_and_its_gradient_are_drawn_with_cells_of_one_width():
    last = _text(backprop.backprop_frames(np.eye(4, 2), np.ones((2, 3)), np.ones((3, 1)), np.ones((4, 1)))[-1])
    cells = re.findall(r"<rect x='[\d.]+' y='[\d.]+' width='([\d.]+)' height='22'", last)
    assert set(cells) == {"24", "37", "50"}
    assert cells.count("24") == 8  # X, which has no gradient
    assert cells.count("50") == 1  # J, which is none


def test_a_small_slope_is_drawn_with_three_places_and_no_leading_zero():
    x, w, w2, y = sample(4, 3, 3, 2)
    values = backprop.matrices(x, w, w2, y)
    last = _text(backprop.backprop_frames(x, w, w2, y)[-1])
    shown = re.findall(r">(−?[\d.]+)</text>", last)
    for name in backprop.BACKWARD:
        for v in values[name].ravel():
            text = f"{abs(v):.3f}".removeprefix("0") if abs(v) < 0.9995 else f"{abs(v):.2f}"
            assert ("−" * bool(v < 0 and float(f"{v:.3f}") != 0) + text) in shown


def test_the_sheet_of_the_lesson_fits_a_phone():
    """Three inputs, three hidden neurons, two outputs, with inputs of one place: text stays readable at 400 px."""
    x = np.array([[0.5, 0.9, -0.3], [1, 0, 0.5], [-0.5, 0.2, 1], [0, 1, -1]])
    frames = backprop.backprop_frames(x, np.ones((3, 3)), np.ones((3, 2)), np.full((4, 2), 0.1))
    assert frames[0].drawn[0] <= 420


def test_no_formula_stands_in_the_line_of_another():
    """The formula below a gradient of the first row, and the one above a matrix of the second, keep their distance."""
    text = _text(backprop.backprop_frames(*sample(4, 3, 3, 2))[-1])
    rules = {rule for rule, *_ in (backprop.FORWARD | backprop.BACKWARD).values()}
    heights = sorted({float(y) for y, words in re.findall(r"<text[^>]* y='([\d.]+)'[^>]*>([^<]*)<", text)
                      if words.replace("&#x27;", "'") in rules})  # fmt: skip
    assert len(heights) >= 4
    assert min(np.diff(heights)) >= 14


def test_frames_count_from_one_like_the_stepper():
    for number, frame in enumerate(backprop.backprop_frames(*sample()), 1):
        assert frame.alt.startswith(f"Step {number}: ")


def _text(picture):
    return unquote(picture.src)


def test_learning_shows_the_loss_and_every_sample_before_and_after():
    losses, labels = np.linspace(1, 0, 50), np.array([0, 1, 1, 0])
    before, after = np.full((4, 2), 0.5), np.eye(4, 2)
    fig = backprop.learning(losses, before, after, labels)
    first, second, curve = fig.axes
    np.testing.assert_array_equal(curve.lines[0].get_ydata(), losses)
    for ax, hidden in ((first, before), (second, after)):
        drawn = [np.column_stack(line.get_data()) for line in ax.lines]
        for k, points in enumerate(drawn):
            np.testing.assert_array_equal(points, hidden[labels == k])
        assert len({line.get_marker() for line in ax.lines}) == 2, "classes are told apart without colour"
        zeros, ones = ax.lines
        assert zeros.get_markerfacecolor() == "none", "a sample of class 1 shows through"
        assert zeros.get_zorder() > ones.get_zorder()
        assert zeros.get_markersize() > 1.5 * ones.get_markersize()


def test_the_learned_plane_is_narrow_and_keeps_its_key():
    x, labels = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])
    fig = backprop.learned_plane(x, labels, lambda p: (p[:, 0] > 0.5).astype(int))
    assert fig.get_size_inches()[0] <= 4.2
    assert fig.axes[0].get_legend() is None
    assert "right answer: class 0" in [t.get_text() for t in fig.legends[0].get_texts()]


def test_the_lines_of_neurons_are_drawn_where_their_sums_are_zero():
    """A neuron of each slope: one nearly level, one nearly upright; and the shaded side in the hidden plane."""
    x, labels = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])
    lines = [("H1", np.array([0.5, 2.0]), -1.0), ("H2", np.array([3.0, 0.2]), -1.5)]
    fig = backprop.learned_plane(x, labels, lambda p: (p[:, 0] > 0.5).astype(int), lines)
    drawn = [line for line in fig.axes[0].lines if "its sum is 0" in str(line.get_label())]
    assert len(drawn) == 2
    for line, (_, w, b) in zip(drawn, lines, strict=True):
        np.testing.assert_allclose(np.column_stack(line.get_data()) @ w + b, 0, atol=1e-12)
    halves = [(np.array([1.0, 1.0]), -0.5), (np.array([1.0, 1.0]), 5.0)]  # cut by its line; shaded all over
    fig = backprop.learning(np.ones(3), np.eye(4, 2), np.eye(4, 2), labels, halves)
    cut, whole = fig.axes[:2]
    assert len(cut.collections) == 2
    assert len(whole.collections) == 1


def test_what_a_step_reads_has_a_rim_and_no_dashes():
    texts = [_text(frame) for frame in backprop.backprop_frames(*sample())]
    rims = [text.count(f"fill='{backprop.USED}'") for text in texts]
    sources = [len(sources) for _, *sources in (backprop.FORWARD | backprop.BACKWARD).values()]
    assert rims == [0, *sources]
    assert "stroke-dasharray" in texts[0], "not computed yet"
    assert "stroke-dasharray" not in texts[-1], "all is computed, although two matrices are read"
