"""The pictures of lesson 01: geometry over many lines, one frame for every step, and texts that say what is drawn."""

from urllib.parse import unquote

import numpy as np
import pytest
from matplotlib.figure import Figure

from course_lib import data, figures
from course_lib import reference as ops
from course_lib.figures import convergence, perceptron, perceptron_steps
from course_lib.figures import half_plane as geometry
from tests.cases import all_of

LOW, HIGH = np.array([-0.6, -0.6]), np.array([1.6, 1.6])


def weights():
    """Many lines: random ones, axis-parallel ones, ones outside the box, and none at all."""
    rng = np.random.default_rng(0)
    special = [(0, 0, 1), (0, 0, -1), (0, 0, 0), (1, 0, -0.5), (0, -1, 0.5), (1, 1, 9), (-1, -1, -9), (1, 0, 0.6)]
    return [np.array(w, float) for w in special] + list(rng.normal(size=(60, 3)))


def area(corners):
    x, y = np.reshape(corners, (-1, 2)).T
    return abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2


@all_of("w", weights(), ids=str)
def test_half_plane_and_its_complement_tile_the_box(w):
    inside, outside = (geometry.half_plane(s * w, LOW, HIGH) for s in (1, -1))
    expected = np.prod(HIGH - LOW) * (2 if np.all(w == 0) else 1)  # a score of 0 counts as 1, for both signs
    np.testing.assert_allclose(area(inside) + area(outside), expected, atol=1e-9)
    assert np.all(inside @ w[:2] + w[2] >= -1e-9)


@all_of("w", weights(), ids=str)
def test_boundary_lies_on_the_line_and_on_the_edge_of_the_box(w):
    ends = geometry.boundary(w, LOW, HIGH)
    if ends is None:
        corners = np.array([(a, b) for a in (LOW[0], HIGH[0]) for b in (LOW[1], HIGH[1])])
        scores = corners @ w[:2] + w[2]
        assert np.all(scores >= -1e-9) or np.all(scores <= 1e-9)
    else:
        np.testing.assert_allclose(ends @ w[:2] + w[2], 0, atol=1e-9)
        on_edge = np.isclose(ends, LOW).any(axis=1) | np.isclose(ends, HIGH).any(axis=1)
        assert on_edge.all()


@pytest.mark.parametrize("name", ["nand", "and", "or", "xor"])
@pytest.mark.parametrize("lr", [0.5, 1.0])
def test_one_frame_a_step_and_all_of_one_size(name, lr):
    x, y = data.truth_table(name)
    fit = ops.perceptron_fit(x, y, lr=lr, epochs=6)
    frames = perceptron_steps.training_frames(fit, x, y, lr=lr)
    assert len(frames) == len(fit.steps)
    assert len({(f.width, f.height) for f in frames}) == 1
    for frame, step in zip(frames, fit.steps, strict=True):
        assert ("right" in frame.caption) == (step.y_hat == y[step.index])
        assert perceptron.vector(step.w_before) in frame.alt
        assert "(3,)" in unquote(frame.src)
    figures.stepper(frames, title="fits into one widget")


def test_a_wrong_frame_shows_the_arithmetic_of_the_update():
    x, y = data.truth_table("nand")
    fit = ops.perceptron_fit(x, y)
    text = unquote(perceptron_steps.training_frames(fit, x, y)[7].src)
    assert "(\u22121)\u00b71 + 0\u00b71 + 1\u00b71 = 0" in text
    assert "(0 \u2212 1) \u00b7 1 \u00b7 (1, 1, 1) = (\u22121, \u22121, \u22121)" in text


def test_plots_return_figures():
    rng = np.random.default_rng(1)
    x, y = data.truth_table("nand")
    fit = ops.perceptron_fit(x, y)
    points, labels = data.blobs(20, centers=[(1, 1), (3, 2.5)], spread=0.3, rng=rng)
    run = ops.perceptron_fit(points, labels)
    xl, yl = data.line(10, slope=2, intercept=-1, noise=0.1, rng=rng)
    made = [
        perceptron.fitted_line(xl, yl, *ops.linear_regression_fit(xl, yl)),
        perceptron.orders(points, labels, run.w, run.w),
        perceptron.jumps(run, points, labels),
        perceptron.cycle(fit.steps[:4], x, y),
        perceptron.lines_seen([fit, fit], x, y, ["a", "b"]),
        convergence.squeeze(np.arange(4) / 2, np.sqrt(np.arange(4)), 1.5, 0.25),
        convergence.margins([0.1, 0.2], [0.9, 1.0], (0.3, 0.99)),
        *(perceptron.score_plane(x, y, w) for w in [*weights()[:8], fit.w]),
    ]
    for fig in made:
        assert isinstance(fig, Figure)
        figures.picture(fig, alt="a picture that fits the limit of its size")


def test_vector_writes_a_real_minus_and_no_negative_zero():
    assert perceptron.vector([-1, -0.0, 2.5]) == "(\u22121, 0, 2.5)"


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_the_cycle_says_where_a_line_is_not_to_be_seen():
    x, y = data.truth_table("xor")
    steps = ops.perceptron_fit(x, y, epochs=9).steps[-4:]
    for ax, step in zip(perceptron.cycle(steps, x, y).axes, steps, strict=True):
        missing = geometry.boundary(step.w_before, LOW, HIGH) is None
        assert texts(ax) == (["(line outside\nthe picture)"] if missing else [])


def test_the_jumps_start_without_a_line():
    points, labels = data.blobs(20, centers=[(1, 1), (3, 2.5)], spread=0.3, rng=np.random.default_rng(1))
    fig = perceptron.jumps(ops.perceptron_fit(points, labels), points, labels)
    assert [fig.axes[k].get_title(loc="left") for k in (0, 2)] == ["Mistake 1", "Mistake 2"]
    dashed = [[line for line in fig.axes[k].lines if line.get_linestyle() == "--"] for k in (0, 2)]
    assert [len(found) for found in dashed] == [0, 1]


def test_two_lines_have_their_names_and_centres_are_marked():
    points, labels = data.blobs(20, centers=[(1, 1), (3, 2.5)], spread=0.3, rng=np.random.default_rng(1))
    w = ops.perceptron_fit(points, labels).w
    (ax,) = perceptron.orders(points, labels, w, -w, names=("A", "B"), centres=[(1, 1), (3, 2.5)]).axes
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["label 1", "label 0", "A", "B"]
    np.testing.assert_array_equal(ax.collections[-1].get_offsets(), [(1, 1), (3, 2.5)])
    (plain,) = perceptron.orders(points, labels, w, -w).axes
    assert len(plain.collections) == len(ax.collections) - 1


def test_lines_seen_are_darker_the_later_and_wrong_samples_are_ringed():
    x, y = data.truth_table("nand")
    fit = ops.perceptron_fit(x, y, bias=False, epochs=20)
    with_bias, without = perceptron.lines_seen([ops.perceptron_fit(x, y), fit], x, y, ["a", "b"]).axes
    dashed = [line.get_color() for line in with_bias.lines if line.get_linestyle() == "--"]
    blue = [int(colour[5:], 16) for colour in dashed]  # falls from pale to full orange
    assert len(dashed) > 3
    assert blue == sorted(blue, reverse=True)
    rings = [c for c in without.collections if len(c.get_facecolor()) == 0]
    np.testing.assert_array_equal(rings[0].get_offsets(), x[ops.perceptron_predict(x, fit.w) != y])
