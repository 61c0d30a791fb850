"""The shared plots draw what they are given, and become small pictures."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from course_lib import figures
from course_lib.figures import plots, style

RNG = np.random.default_rng(0)
X = np.vstack([RNG.normal(-1, 0.5, (20, 2)), RNG.normal(1, 0.5, (20, 2))])
Y = np.repeat([0, 1], 20)


def small(fig):
    p = figures.picture(fig, alt="A figure that a test has drawn")
    assert p.width <= 8.6 * 96
    return len(p.src)


def by_sum(points):
    return (points.sum(axis=1) > 0).astype(int)


def test_decision_plane_draws_each_class_with_its_own_marker_and_rings_the_wrong_points():
    def predict(points):
        return (points.sum(axis=1) > 2).astype(int)

    fig = plots.decision_plane(X, Y, predict, title="t", labels=["no", "yes"], axes=("a", "b"))
    (ax,) = fig.axes
    wrong = predict(X) != Y
    assert 0 < wrong.sum() < len(X)
    assert {t.get_text() for t in ax.get_legend().get_texts()} == {
        "right answer: no",
        "right answer: yes",
        f"answered wrongly: {wrong.sum()}",
        "area: no is answered",
        "area: yes is answered",
    }
    for k, line in enumerate(ax.lines[:2]):
        np.testing.assert_array_equal(line.get_xydata(), X[k == Y])
        assert line.get_marker() == style.class_cue(k).marker
    np.testing.assert_array_equal(ax.lines[2].get_xydata(), X[wrong])
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title(loc="left")) == ("a", "b", "t")
    assert small(fig) < 60_000


def test_decision_plane_without_a_wrong_point_draws_no_ring():
    (ax,) = plots.decision_plane(X, by_sum(X), by_sum, resolution=40).axes
    assert len(ax.lines) == 2


@pytest.mark.parametrize(
    "predict", [lambda p: np.zeros(len(p), int), lambda p: np.minimum((p[:, 0] + 3) // 2, 2).astype(int)]
)
def test_decision_plane_with_one_region_or_three(predict):
    small(plots.decision_plane(X, Y, predict, resolution=40))


def test_plots_can_be_drawn_into_given_axes():
    fig, axes = style.new_figure(8, 3, 1, 2)
    assert plots.decision_plane(X, Y, by_sum, resolution=40, ax=axes[0]) is fig
    assert plots.curves({"a": [1, 2]}, ax=axes[1]) is fig


def test_curves_differ_in_colour_and_line():
    fig = plots.curves(
        {"a": [3, 2, 1], "b": ([0.0, 0.5], [1, 2]), "c": np.ones(50)}, roles={"c": "hazard"}, ylabel="loss"
    )
    lines = fig.axes[0].lines
    assert [line.get_label() for line in lines] == ["a", "b", "c"]
    np.testing.assert_array_equal(lines[0].get_xdata(), [0, 1, 2])
    np.testing.assert_array_equal(lines[1].get_xdata(), [0, 0.5])
    assert to_hex(lines[2].get_color()) == style.colour("hazard").lower()
    assert lines[0].get_marker() == style.cue(0).marker
    assert lines[2].get_marker() in (None, "None")
    assert small(fig) < 40_000


def test_curves_on_a_logarithmic_axis():
    assert plots.curves({"a": [1, 10]}, x=[1, 2], log=True).axes[0].get_yscale() == "log"


def test_image_grid_marks_the_wrong_ones_by_more_than_colour():
    fig = plots.image_grid(RNG.random((12, 28, 28)), range(12), cols=5, title="Digits", wrong=np.arange(12) == 3)
    titles = [ax.get_title() for ax in fig.axes[:12]]
    assert titles[3] == "\N{BALLOT X} 3"
    assert titles[4] == "4"
    assert len(fig.axes) == 15
    assert small(fig) < 100_000


def test_image_grid_takes_colour_images_and_no_titles():
    small(plots.image_grid(RNG.random((3, 3, 8, 8))))


@pytest.mark.parametrize("options", [{"role": role} for role in style.COLOURS] + [{"diverging": True}])
def test_numbers_of_a_matrix_are_readable_on_their_cells(options):
    values = np.arange(-6, 6).reshape(3, 4)
    ax = plots.matrix(values, **options).axes[0]
    assert [t.get_text() for t in ax.texts] == [str(v) for v in values.ravel()]
    for text, value in zip(ax.texts, values.ravel(), strict=True):
        cell = ax.images[0].to_rgba(value)[:3]
        assert style.contrast(text.get_color(), cell) >= 3.9


def test_matrix_writes_its_shape():
    fig = plots.matrix(np.eye(3), title="Confusion", labels=list("abc"), xlabel="predicted", ylabel="label")
    ax = fig.axes[0]
    assert ax.get_title(loc="left") == "Confusion (3, 3)"
    assert [t.get_text() for t in ax.get_xticklabels()] == ["a", "b", "c"]


def test_large_matrices_have_a_colour_bar_instead_of_numbers():
    fig = plots.matrix(RNG.normal(size=(28, 28)), diverging=True)
    assert len(fig.axes) == 2
    assert not fig.axes[0].texts
    low, high = fig.axes[0].images[0].get_clim()
    assert low == -high
    small(fig)


def test_an_all_zero_matrix_can_be_drawn():
    small(plots.matrix(np.zeros((2, 2))))


@pytest.mark.parametrize(("low", "high"), [(-1, 1), (-1.0, 1.0), (0.0, 1.0), (False, True), (-2, -1)])
def test_decision_plane_draws_every_point_whatever_its_two_labels_are(low, high):
    y = np.where(Y == 1, high, low)
    (ax,) = plots.decision_plane(X, y, lambda p: np.where(by_sum(p) == 1, high, low), resolution=40).axes
    assert [len(line.get_xdata()) for line in ax.lines] == [20, 20]
    for k, line in enumerate(ax.lines):
        np.testing.assert_array_equal(line.get_xydata(), X[k == Y])
        assert line.get_marker() == style.class_cue(k).marker
    assert f"area: class {int(low)} is answered" in [t.get_text() for t in ax.get_legend().get_texts()]
    drawn = [to_hex(c) for part in ax.collections for c in part.get_facecolor()]
    assert {style.class_cue(k).region.lower() for k in (0, 1)} <= set(drawn)


def test_decision_plane_names_the_labels_in_rising_order():
    y = np.where(Y == 1, 1, -1)
    (ax,) = plots.decision_plane(X, y, lambda p: np.full(len(p), 1), labels=["no", "yes"], resolution=40).axes
    texts = [t.get_text() for t in ax.get_legend().get_texts()]
    assert texts[:3] == ["right answer: no", "right answer: yes", "answered wrongly: 20"]
