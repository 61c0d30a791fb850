"""The network with nine numbers: what its presets give, what it is worth without a bend, and what it refuses."""

import itertools

import numpy as np
import pytest

from course_lib import data, figures
from course_lib.figures import xor_networks as nets
from tests.figures.pages import read_svg, svg_texts

STEPS = np.arange(-nets.MOST, nets.MOST + nets.STEP / 2, nets.STEP)


def test_the_corners_are_the_truth_table():
    x, y = data.truth_table("xor")
    np.testing.assert_array_equal(nets.CORNERS, x)
    np.testing.assert_array_equal(nets.LABELS, y)


@pytest.mark.parametrize(
    ("preset", "outputs", "right"),
    [
        ("your turn", [-1, 0, 0, 1], 1),
        ("XOR solved", [0, 1, 1, 0], 4),
        ("one line only", [0, 1, 1, 2], 3),
        ("no activation", [2, 1, 1, 0], 3),
        ("two steps", [0, 1, 1, 0], 4),
    ],
)
def test_each_preset_gives_what_its_name_says(preset, outputs, right):
    numbers, between = nets.PRESETS[preset]
    np.testing.assert_array_equal(nets.forward(numbers, between, nets.CORNERS)[1], outputs)
    assert nets.right(numbers, between).sum() == right
    assert set(numbers) <= set(STEPS)  # a slider can stand there


def test_without_an_activation_three_numbers_do_the_same_and_never_more_than_three_corners_are_right():
    rng = np.random.default_rng(0)
    for numbers in rng.choice(STEPS, (500, 9)):
        u1, u2, c = nets.three_numbers(numbers)
        x = rng.normal(size=(20, 2))
        np.testing.assert_allclose(nets.forward(numbers, "none", x)[1], x @ [u1, u2] + c, rtol=1e-9, atol=1e-9)
        assert nets.right(numbers, "none").sum() <= 3


@pytest.mark.parametrize("between", ["ReLU", "step"])
def test_one_hidden_neuron_is_never_enough(between):
    grid = np.arange(-3, 3.1, 1)
    for w1, w2, b, v, c in itertools.product(grid, grid, grid, (-2, -1, 1, 2), np.arange(-1, 2.1, 0.5)):
        assert nets.right((w1, w2, b, 0, 0, 0, v, 0, c), between).sum() <= 3


def test_the_distance_of_the_two_inputs_is_another_solution():
    numbers = (1, -1, 0, -1, 1, 0, 1, 1, 0)
    x = np.random.default_rng(1).normal(size=(50, 2))
    np.testing.assert_allclose(nets.forward(numbers, "ReLU", x)[1], np.abs(x[:, 0] - x[:, 1]), rtol=1e-12)
    hidden, _ = nets.forward(numbers, "ReLU", nets.CORNERS)
    np.testing.assert_array_equal(hidden, [[0, 0], [0, 1], [1, 0], [0, 0]])
    assert nets.right(numbers, "ReLU").all()


def inside(polygons, x):
    """Whether a point lies in one of the convex polygons, whatever way round they run."""
    for p in polygons:
        if len(p) > 2:
            a, b = p, np.roll(p, -1, axis=0)
            a, b = (v[np.any(a != b, axis=1)] for v in (a, b))  # a corner on the line may stand twice
            turn = (b[:, 0] - a[:, 0]) * (x[1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (x[0] - a[:, 0])
            if (turn > 0).all() or (turn < 0).all():
                return True
    return False


@pytest.mark.parametrize("between", nets.BETWEEN)
def test_the_shaded_part_is_where_the_output_is_above_one_half(between):
    rng = np.random.default_rng(2)
    level = [np.zeros(9), np.array([0, 0, 1, 0, 0, -1, 1, 1, 0]), np.array([0, 0, 0, 1, 1, 0, 1, 1, 0])]
    for numbers in [*rng.choice(STEPS, (60, 9)), *level]:
        points = rng.uniform(nets.LOW, nets.HIGH, (40, 2))
        answers = nets.forward(numbers, between, points)[1] > 0.5
        polygons = nets._answered_1(numbers, between)
        assert [inside(polygons, p) for p in points] == answers.tolist(), numbers


def test_the_static_picture_states_the_finding_and_fits_a_phone():
    made = figures.nine_numbers("no activation")
    assert "without an activation" in made.static.alt
    assert "\u22121" not in made.static.alt
    assert "2, 1, 1, 0 as outputs: 3 of 4 answers are right" in made.static.alt
    assert made.static.drawn[0] == 400
    assert "hidden space" in svg_texts(read_svg(made.static.src))
    assert made.html == figures.nine_numbers("no activation").html


def test_a_figure_that_asks_does_not_tell_what_is_missing():
    asks = figures.nine_numbers("your turn", presets=(), between=("none",), explains=False)
    assert "1 of 4 answers are right" in asks.static.alt
    for spoiler in ("activation", "ReLU", "bend"):
        assert spoiler not in asks.static.alt + asks.static.caption + asks.title


@pytest.mark.parametrize("start", nets.PRESETS)
def test_every_start_is_drawn(start):
    assert figures.nine_numbers(start).data["start"] == start


def test_wrong_calls_say_what_there_is():
    with pytest.raises(ValueError, match=r"no preset 'XOR' .* there are your turn, XOR solved"):
        figures.nine_numbers("XOR")
    with pytest.raises(ValueError, match=r"no preset 'XOR solved' for none; there are your turn, no activation"):
        figures.nine_numbers("XOR solved", between=("none",))
    with pytest.raises(ValueError, match="has 8 numbers; it takes nine"):
        nets.forward(range(8), "ReLU", nets.CORNERS)
    with pytest.raises(ValueError, match="'relu' cannot stand between the layers; there are none, ReLU, step"):
        nets.forward(range(9), "relu", nets.CORNERS)
    with pytest.raises(ValueError, match="NaN"):
        nets.forward([np.nan] * 9, "ReLU", nets.CORNERS)
