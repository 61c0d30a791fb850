"""Figures of lesson 03: the surfaces are what they say, and every picture can be drawn over the whole range."""

import numpy as np
import pytest

from course_lib import checks, figures
from course_lib.figures import Picture, descent, descent_live, losses, surfaces


@pytest.mark.parametrize("name", surfaces.SURFACES)
def test_gradient_of_each_surface_is_its_derivative(name):
    height, gradient = surfaces.SURFACES[name]
    for p in np.random.default_rng(0).uniform(-3, 3, size=(20, 2)):
        checks.check_close(gradient(p), checks.numerical_gradient(height, p), rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("name", surfaces.SURFACES)
def test_a_batch_of_points_gives_what_single_points_give(name):
    height, gradient = surfaces.SURFACES[name]
    p = np.random.default_rng(1).uniform(-3, 3, size=(3, 4, 2))
    assert height(p).shape == (3, 4)
    assert gradient(p).shape == p.shape
    np.testing.assert_allclose(height(p)[1, 2], height(p[1, 2]), rtol=1e-14)
    np.testing.assert_allclose(gradient(p)[1, 2], gradient(p[1, 2]), rtol=1e-14, atol=1e-16)


def curvatures(p, eps=1e-4):
    """Eigenvalues of the second derivatives of `foothills`, measured from its gradient."""
    gradient = surfaces.foothills_gradient
    return np.linalg.eigvalsh(np.array([(gradient(p + e) - gradient(p - e)) / (2 * eps) for e in eps * np.eye(2)]))


def test_landmarks_are_level_and_are_what_they_are_called():
    marks = surfaces.landmarks()
    assert [len(marks[name]) for name in ("deepest minimum", "local minimum", "saddle")] == [1, 2, 1]
    for name, places in marks.items():
        for p in places:
            assert np.linalg.norm(surfaces.foothills_gradient(p)) < 1e-12
            assert list(np.sign(curvatures(p))) == ([-1, 1] if name == "saddle" else [1, 1])
    deepest, local = (surfaces.foothills(marks[name]) for name in ("deepest minimum", "local minimum"))
    assert deepest[0] < local.min() - 0.3
    np.testing.assert_allclose(local[0], local[1], rtol=1e-12)


def test_a_rate_exists_that_only_the_wide_dent_can_hold():
    """The explorer asks for it: above 2/h of the narrow dents, below 2/h of the wide one, on the slider's grid."""
    marks = surfaces.landmarks()
    wide, narrow = (2 / curvatures(marks[name][0])[-1] for name in ("deepest minimum", "local minimum"))
    assert narrow < 1.6 < wide
    beside = surfaces.descend(surfaces.foothills_gradient, marks["local minimum"][0] + 0.1, 1.6, 100)[-1]
    assert surfaces.ending(beside) == "on the way"
    held = surfaces.descend(surfaces.foothills_gradient, marks["deepest minimum"][0] + 0.1, 1.6, 100)[-1]
    assert surfaces.ending(held) == "deepest minimum"


def test_the_mirror_line_is_never_left():
    path = surfaces.descend(surfaces.foothills_gradient, (-2.0, 0.0), 0.4, 1000)
    assert np.all(path[:, 1] == 0)
    assert surfaces.ending(path[-1]) == "saddle"


def test_ending_names_every_kind_of_place():
    names = [surfaces.ending(np.array(p)) for p in ((1.4, 0), (-1.29, -1.19), (-1.21, 0), (3, 3), (0.5, 0.5))]
    assert names == ["deepest minimum", "local minimum", "saddle", "plateau", "on the way"]


def test_descend_keeps_start_and_shape():
    start = np.ones((5, 2))
    path = surfaces.descend(surfaces.ravine_gradient, start, 0.5, 3)
    assert path.shape == (4, 5, 2)
    np.testing.assert_array_equal(path[0], start)
    np.testing.assert_array_equal(start, 1)
    np.testing.assert_array_equal(surfaces.descend(surfaces.ravine_gradient, start, 0.5, 0), start[None])


def test_ravine_oscillates_exactly_at_two_over_its_curvature():
    path = surfaces.descend(surfaces.ravine_gradient, (0.0, 2.0), 1.6, 1001)
    np.testing.assert_array_equal(path[:, 1], 2.0 * (-1.0) ** np.arange(1002))


ENDS = [((0.05, 1, -3.0, 3.0), (2.5, 100, 3.0, -3.0)), ((0.05, 100, 3.0, 3.0), (2.5, 1, -3.0, -3.0))]
CORNERS = [(surface, *ends) for surface, pair in zip(surfaces.SURFACES, ENDS, strict=True) for ends in pair]


@pytest.mark.parametrize(("surface", "lr", "steps", "u", "v"), CORNERS)
def test_explorer_draws_at_the_ends_of_every_slider(surface, lr, steps, u, v):
    drawn = descent.learning_rate_picture(surface, lr, steps, u, v)
    assert isinstance(drawn, Picture)
    assert len(drawn.alt) > 60
    assert f"learning rate {lr:g}" in drawn.caption
    assert "nan" not in drawn.caption
    assert "inf" not in drawn.caption


def test_explorer_says_what_happened():
    say = descent.learning_rate_picture
    assert "exactly as far out as at the start" in say("ravine", 1.6, 40, -2.0, 2.0).caption
    assert "It has left the map" in say("ravine", 2.5, 40, -2.0, 2.0).caption
    assert "no step raises it" in say("ravine", 0.5, 40, -2.0, 2.0).caption
    assert "It ends at: local minimum" in say("foothills", 0.4, 100, -1.5, 1.5).caption
    assert "It ends at: plateau" in say("foothills", 0.4, 20, 3.0, 3.0).caption
    assert "It is still on the way" in say("foothills", 0.05, 1, 0.0, 1.0).caption


def test_pictures_are_the_same_size_for_every_setting():
    drawn = [descent.learning_rate_picture(surface, 1.0, 5, 1.0, 1.0) for surface in surfaces.SURFACES]
    sizes = {(p.width, p.height) for p in drawn}
    assert len(sizes) == 1


def test_endings_map_counts_each_kind():
    starts = np.array([[1.5, 0.5], [1.0, 0.0], [-1.5, 1.0], [3.0, 3.0]])
    drawn = descent.endings_map(surfaces.descend(surfaces.foothills_gradient, starts, 0.4, 100), caption="c")
    assert "2 deepest minimum, 1 local minimum, 1 plateau" in drawn.alt
    assert "4 descents" in drawn.alt
    assert drawn.caption == "c"


def test_plain_pictures_state_their_numbers():
    x, y = np.array([1.0, 2.0]), np.array([4.0, 3.0])

    def loss(w):
        return 0.5 * np.sum((y - w * x) ** 2), np.sum((w * x - y) * x)

    drawn = losses.samples_and_loss(x, y, (1.0, 2.0), loss)
    assert "at w = 1 it is 5 with the slope -5, at w = 2 it is lowest, 2.5" in drawn.alt
    drawn = losses.staircase(np.arange(4.0), [3, 1, 1, 2], [0.9, 0.4, 0.5, 0.8])
    assert "between 1 and 3" in drawn.alt
    assert "between 0.40 and 0.90" in drawn.alt
    assert "at b = 1.0, the count is 1." in drawn.alt
    walks = {"a": np.array([1.0, 3.0]), "b": np.array([1.0, 2.0])}
    drawn = descent.parabola_paths(lambda w: (w - 2) ** 2, 2.0, walks, caption="c < d")
    assert "a: in 1 steps the distance from the lowest point goes from 1 to 1." in drawn.alt
    assert "b: in 1 steps the distance from the lowest point goes from 1 to 0." in drawn.alt
    assert drawn.caption == "c < d"
    rates = np.array([0.1, 0.2, 0.3, 0.4])
    drawn = descent.rates_and_losses(rates, {"after 5 steps": [0.9, 0.4, 0.2, 1e9]}, 0.35, caption="c")
    assert "up to the limit 0.3500: after 5 steps: from 0.9 to 0.2, lowest at 0.3. Beyond" in drawn.alt
    lines = ((1.0, -1.0), (0.1, 0.25))
    drawn = losses.loss_against_accuracy(np.arange(4.0), np.array([0, 0, 1, 1]), lines, [3, 2, 1], [4, 3, 3])
    assert "until 1 of 4 samples is on the wrong side" in drawn.alt
    assert "from 4 to 3 and end at 3" in drawn.alt


def test_waiting_says_when_each_walk_has_fallen():
    drawn = descent.waiting({"a": np.array([1.0, 0.4, 0.3]), "b": np.ones(3)}, caption="c")
    assert "Loss over 2 steps. First step with a loss below 0.5: a: 1; b: never." in drawn.alt
    assert drawn.caption == "c"


def test_race_names_the_winners_and_takes_a_continued_run():
    drawn = descent.race({"slow": [0.9, 0.2, 0.1], "fast": [0.5, 0.6, 0.4], "late": [0.6, 0.01]})
    assert "over 3 epochs. Lowest after one epoch: fast. Lowest after 3: late." in drawn.alt


def test_the_walk_in_the_page_refuses_what_its_sliders_do_not_have():
    for wrong in (
        dict(surface="hill"), dict(start=(0, 3.5)), dict(start=(float("nan"), 0)), dict(lr=0), dict(lr=3.0),
        dict(steps=101), dict(steps=-1),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=next(iter(wrong))):
            figures.walk_downhill(**wrong)
    with pytest.raises(TypeError, match="steps"):
        figures.walk_downhill(steps=1.5)


def test_the_walk_in_the_page_has_a_static_picture_that_states_the_gradient():
    one = figures.walk_downhill("ravine", start=(-2.0, 2.0), lr=1.6, steps=5)
    assert "the gradient, (-0.2, 2.5)" in one.static.alt
    assert one.data["lands"][one.data["land"]]["name"] == "ravine"
    assert one.html == figures.walk_downhill("ravine", start=(-2.0, 2.0), lr=1.6, steps=5).html


@pytest.mark.parametrize("name", surfaces.SURFACES)
def test_map_levels_rise_and_cover_the_whole_map(name):
    levels = descent.map_levels(name)
    assert np.all(np.diff(levels) > 0)
    assert len(levels) == len(descent.map_tints()) + 1
    line = np.linspace(-descent.EXTENT, descent.EXTENT, 97)
    heights = surfaces.SURFACES[name][0](np.stack(np.meshgrid(line, line), axis=-1))
    assert levels[0] <= heights.min()
    assert levels[-1] >= heights.max() - 1e-12


def test_the_promise_is_minus_lr_times_the_squared_gradient():
    for name, (height, gradient) in surfaces.SURFACES.items():
        p = np.array([0.7, -1.1])
        promised, came = descent_live.promise(name, p, 0.3)
        assert promised == pytest.approx(-0.3 * np.sum(gradient(p) ** 2), rel=1e-14)
        assert came == height(p - 0.3 * gradient(p)) - height(p)


def test_linear_estimate_says_what_was_predicted_and_what_came():
    alt = losses.linear_estimate(lambda p: p @ p, lambda p: 2 * p, (1.0, 2.0), 0.1, caption="c").alt
    assert "(2, 4)" in alt
    assert "predicts −2 and the loss changes by −1.8" in alt


def test_the_far_sample_lies_inside_its_picture(monkeypatch):
    """The error that drives everything is seen: the axis reaches over the first line at the far sample."""
    x, y = np.array([0.0, 1, 15]), np.array([0, 0, 1])
    drawn = []
    monkeypatch.setattr(losses, "picture", lambda figure, alt, caption: drawn.append(figure) or alt)
    alt = losses.loss_against_accuracy(x, y, ((0.2, 0.0), (0.06, 0.2)), np.array([1.0, 0.5]), [3, 2])
    low, high = next(ax.get_ylim() for ax in drawn[0].axes if ax.get_ylabel() == "y, o")
    assert low < 0
    assert high > 3
    assert "The sample at x = 15 lies 2 from the first line" in alt
