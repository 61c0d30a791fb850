"""What cannot be drawn is refused by name, and what can be drawn of nothing says so: no bare IndexError."""

from types import SimpleNamespace

import numpy as np
import pytest

from course_lib import data, figures, nn
from course_lib import reference as ops
from course_lib.figures import descent, losses, perceptron, plots, training

NONE = np.zeros((0, 2))
X, Y = data.truth_table("and")


@pytest.mark.parametrize(
    ("name", "draw"),
    [
        ("images", lambda: training.gallery([], [])),
        ("images", lambda: plots.image_grid([])),
        ("series", lambda: plots.curves({})),
        ("x", lambda: plots.decision_plane(NONE, [], lambda p: np.zeros(len(p), int))),
        ("steps", lambda: perceptron.cycle([], X, Y)),
        ("fits", lambda: perceptron.lines_seen([], X, Y, [])),
        ("x", lambda: perceptron.orders(np.zeros((0, 2)), [], np.ones(3), np.ones(3))),
        ("x", lambda: perceptron.fitted_line(np.zeros((0, 1)), [], [1.0], 0.0)),
        ("paths", lambda: descent.parabola_paths(np.square, 0.0, {})),
        ("paths", lambda: descent.endings_map(np.zeros((0, 1, 2)))),
        ("walks", lambda: descent.waiting({})),
        ("curves", lambda: descent.race({})),
        ("losses", lambda: descent.rates_and_losses(np.ones(3), {}, 2.0)),
        ("loss", lambda: losses.staircase([], [], [])),
        ("x", lambda: losses.samples_and_loss([], [], (1.0, 2.0), lambda w: (0.0, 0.0))),
        ("losses", lambda: losses.loss_against_accuracy(X[:, 0], Y, ((1, 0), (0, 1)), [], [])),
    ],
)
def test_empty_input_is_refused_by_its_name(name, draw):
    with pytest.raises(ValueError, match=f"^{name} is empty; it must hold at least one entry"):
        draw()


@pytest.mark.parametrize("values", [np.zeros((0, 3)), np.zeros((3, 0)), [], np.ones(3), np.ones((2, 2, 2)), 1.0])
def test_a_matrix_has_rows_and_columns(values):
    with pytest.raises(ValueError, match=r"is empty|it must have 2"):
        plots.matrix(values)


def test_no_mistakes_is_a_picture_that_says_so():
    none = np.zeros(0, np.int64)
    fig = training.mistakes(np.zeros((7, 28, 28)), nn.Mistakes(none, none, none, none.astype(float)))
    assert [t.get_text() for t in fig.axes[0].texts] == ["No mistakes: all 7 images are answered correctly."]
    figures.picture(fig, alt="A line that says that there are no mistakes")


def test_learning_curves_ask_for_validation_values():
    for history in (nn.History(), nn.History(loss=[1.0], accuracy=[0.5])):
        with pytest.raises(ValueError, match=r"History\(.* holds no validation values.*validation=0\.2"):
            training.learning_curves(history)


def test_a_run_without_a_mistake_has_no_jumps():
    fit = ops.perceptron_fit(X, Y, w=np.array([1.0, 1.0, -1.5]))
    with pytest.raises(ValueError, match=r"no mistake in 1 epoch\(s\).*start it from other weights"):
        perceptron.jumps(fit, X, Y)


def test_one_panel_is_enough():
    fit = ops.perceptron_fit(X, Y)
    assert len(perceptron.cycle(fit.steps[:1], X, Y).axes) == 1
    assert len(perceptron.lines_seen([fit], X, Y, ["only"]).axes) == 1
    one = SimpleNamespace(steps=fit.steps[:1], epochs=1)
    assert len(perceptron.jumps(one, X, Y).axes) == 2


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: training.gallery(np.zeros((3, 28, 28)), ["a"]), "3 images and 1 texts"),
        (lambda: plots.image_grid(np.zeros((3, 28, 28)), ["a"]), "3 images and 1 titles"),
        (lambda: plots.image_grid(np.zeros((3, 28, 28)), wrong=[True]), "3 images and 1 wrong"),
        (lambda: plots.image_grid(np.zeros((3, 784))), r"images has shape \(3, 784\)"),
        (lambda: training.confusion([[0.5, 0.5], [0, 1]]), "counts holds 0.5; it must hold whole numbers >= 0"),
        (lambda: training.confusion([[1, -2], [0, 1]]), "counts holds -2"),
        (lambda: training.confusion([[np.nan, 0.0], [0.0, 1.0]]), "counts holds nan"),
        (lambda: training.confusion([[1, 2, 3], [0, 1, 2]]), r"counts has shape \(2, 3\)"),
        (lambda: training.confusion([1, 2]), "it must have 2"),
        (lambda: training.confusion(np.zeros((0, 0))), "is empty"),
        (lambda: plots.decision_plane(X, Y + 0.5, lambda p: np.zeros(len(p), int)), "y holds .*classes are whole"),
        (lambda: plots.decision_plane(X, Y, lambda p: p[:, 0]), "predict holds .*classes are whole"),
    ],
)
def test_what_does_not_fit_is_named(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()
