"""The valley of momentum: its walks are the rule, its counts mean what they say, and its picture needs no script."""

import numpy as np
import pytest

from course_lib import checks, figures
from course_lib import reference as ops
from course_lib.figures import valleys


def test_the_walk_is_the_librarys_step_with_momentum():
    for lr, momentum in ((0.5, 0.0), (1.5, 0.9), (3.9, 0.98)):
        p, v = np.array([-9.0, 1.5]), np.zeros(2)
        path = valleys.walk((-9.0, 1.5), lr, momentum, 30)
        np.testing.assert_array_equal(path[0], [-9, 1.5])
        for k in range(1, 31):
            gradient = checks.numerical_gradient(valleys.height, p)
            ops.sgd_step([p], [gradient], lr, momentum, [v])
            np.testing.assert_allclose(path[k], p, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("lr", [0.3, 1.5, 1.9, 2.5, 3.5])
@pytest.mark.parametrize("momentum", [0.0, 0.5, 0.9, 0.98])
def test_at_the_bottom_means_that_the_loss_stays_low(lr, momentum):
    needed = valleys.steps_to_bottom((-9.0, 1.5), lr, momentum)
    with np.errstate(over="ignore", invalid="ignore"):
        losses = valleys.height(valleys.walk((-9.0, 1.5), lr, momentum, valleys.MOST))
    if needed is None:
        assert not losses[-1] < valleys.BOTTOM
    else:
        assert (losses[needed:] < valleys.BOTTOM).all()
        assert not losses[needed - 1] < valleys.BOTTOM


def test_a_walk_that_begins_at_the_bottom_needs_no_step():
    assert valleys.steps_to_bottom((0, 0), 1.5, 0.9) == 0
    assert valleys.steps_to_bottom((0.1, 0.01), 1.5, 0.9) == 0


def test_plain_descent_arrives_below_two_over_the_curvature_only_and_momentum_far_above():
    across = max(valleys.CURVATURE)
    for lr, arrives in ((1.9 / across, True), (2.0 / across, False), (2.1 / across, False)):
        assert (valleys.steps_to_bottom((-9, 1.5), lr, 0.0) is not None) == arrives
        assert valleys.steps_to_bottom((-9, 1.5), lr, 0.9) is not None
    assert valleys.steps_to_bottom((-9, 1.5), 3.7 / across, 0.9) is not None
    assert valleys.steps_to_bottom((-9, 1.5), 3.9 / across, 0.9) is None, "2 (1 + momentum) is the limit"


def test_more_momentum_is_not_always_better():
    needed = {mu: valleys.steps_to_bottom((-9, 1.5), 1.9, mu) for mu in (0, 0.8, 0.9, 0.98)}
    assert needed == {0: 157, 0.8: 35, 0.9: 69, 0.98: 376}


def test_the_picture_without_a_script_states_the_finding():
    static = figures.momentum_valley().static
    assert "without momentum it is at the bottom after 157 steps; with momentum 0.9 it is at the bottom after 69" in (
        static.alt
    )
    assert "without momentum it is never at the bottom" in figures.momentum_valley(lr=2.5).static.alt


def test_every_corner_of_the_sliders_can_be_drawn():
    for lr in valleys.RATES:
        for momentum in valleys.MOMENTA:
            for shown in (0, valleys.SHOWN):
                drawn = figures.momentum_valley(lr=lr, momentum=momentum, shown=shown, start=(10, -2))
                assert f"{shown} steps of each drawn" in drawn.static.alt


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"start": (11, 0)}, r"start is \(11, 0\); the map shows u to 10"),
        ({"start": (0, float("nan"))}, r"start is \(0, nan\)"),
        ({"lr": 0.05}, r"lr is 0.05; the slider goes from 0.1 to 4.0"),
        ({"lr": float("nan")}, "lr is nan"),
        ({"momentum": 1.0}, r"momentum is 1.0; the slider goes from 0.0 to 0.98"),
        ({"shown": 201}, "shown is 201; at most 200"),
        ({"shown": -1}, "shown"),
    ],
)
def test_what_the_sliders_do_not_have_is_refused(given, said):
    with pytest.raises(ValueError, match=said):
        figures.momentum_valley(**given)


@pytest.mark.parametrize("times", [1e-3, 1.0, 1e3])
def test_adams_walk_is_the_librarys_step_and_does_not_see_the_scale_of_the_loss(times):
    p, m, v = np.array([-9.0, 1.5]), np.zeros(2), np.zeros(2)
    path = valleys.adam_walk((-9.0, 1.5), 0.3, 30, times)
    for k in range(1, 31):
        ops.adam_step([p], [times * np.multiply(valleys.CURVATURE, p)], 0.3, [m], [v], step=k)
        np.testing.assert_allclose(path[k], p, rtol=1e-9)
    np.testing.assert_allclose(path, valleys.adam_walk((-9.0, 1.5), 0.3, 30), atol=2e-3)  # epsilon is seen
    np.testing.assert_allclose(path[1] - path[0], [0.3, -0.3], rtol=1e-3)  # alike, however steep


def test_the_scale_of_the_loss_stops_or_breaks_momentum_and_not_adam():
    heavy = {power: valleys.steps_to_bottom((-9, 1.5), 1.9, 0.9, 10.0**power) for power in (-2, 0, 1)}
    assert heavy == {-2: None, 0: 69, 1: None}
    assert {valleys.arrived(valleys.adam_walk((-9, 1.5), 0.3, valleys.MOST, 10.0**k)) for k in range(-3, 4)} == {64}
    alt = figures.adam_valley(power=1).static.alt
    assert "with momentum 0.9 it is never at the bottom; with Adam it is at the bottom after 64 steps" in alt
    assert "the loss times 10" in alt
    with pytest.raises(ValueError, match=r"power is 4; the slider goes from -3 to 3"):
        figures.adam_valley(power=4)
