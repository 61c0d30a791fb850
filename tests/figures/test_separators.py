"""The line to drag of lesson 01 and the pictures of two digits: what they say and what they refuse."""

import numpy as np
import pytest

from course_lib import data
from course_lib.figures import digit_pair, picture, style
from course_lib.figures.separators import line_to_drag, of_length_one
from course_lib.lesson.lines import widest_line

X, Y = data.blobs(30, centers=[(1.0, 1.0), (3.0, 2.5)], spread=0.5, rng=np.random.default_rng(7))


def test_the_static_picture_says_mistakes_and_both_margins():
    figure = line_to_drag(X, Y, (-0.3, 1.0, -1.2))
    assert "a line that gets 5 of them wrong" in figure.static.alt
    assert "the perceptron's has a margin of 0.30, the widest one of 0.51" in figure.static.alt
    np.testing.assert_allclose(figure.data["lines"]["widest"], widest_line(X, Y))
    assert figure.html == line_to_drag(X, Y, (-0.3, 1.0, -1.2)).html, "the same bytes for the same data"


def test_weights_of_length_one_are_the_same_line():
    np.testing.assert_allclose(of_length_one([3, 4, -5]), [0.6, 0.8, -1])
    for w in ([0, 0, 1], [1, 2], [np.nan, 1, 0]):
        with pytest.raises(ValueError, match="w"):
            of_length_one(w)


@pytest.mark.parametrize(("x", "y", "start", "says"), [
    (np.zeros((61, 2)), np.zeros(61, int), (1, 0, 0), "61 points"),
    (*data.truth_table("xor"), (1, 0, -0.5), "no line separates"),
    (X, Y, (0, 0, 1), "no line"),
    (X, Y, (1, 0, 50), "outside of the picture"),
])  # fmt: skip
def test_what_cannot_be_drawn_is_refused(x, y, start, says):
    with pytest.raises(ValueError, match=says):
        line_to_drag(x, y, start)


def test_negative_weights_have_a_mark_besides_their_colour():
    w = np.zeros(17)
    w[3], w[5] = -2, 2
    fig = digit_pair.weight_images([w], ["one"], side=4)
    np.testing.assert_array_equal(fig.axes[0].collections[0].get_offsets(), [[3, 0]])
    assert fig.axes[0].get_xlabel() == "\u22122 to 2"
    assert picture(fig, alt="one weight below zero and one above").width > 100


def test_the_mistake_has_a_frame_and_a_cross():
    fig = digit_pair.front_door(np.zeros((20, 28, 28)), np.ones((28, 28)), "a 9, read as a 4")
    large = fig.axes[-1]
    assert len(fig.axes) == 21
    assert large.get_title().startswith("\N{BALLOT X}")
    assert large.spines["left"].get_edgecolor()[:3] == pytest.approx(
        [int(style.colour("hazard")[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    )


def test_outputs_by_step_says_the_means_and_the_right_answers_of_each_step():
    x, y = np.array([[1.0, 0, 0, 0, 1], [0, 1.0, 0, 0, 1]]), np.array([0, 1])
    walk = np.array([[0, 0, 0, 0, 0], [0, 0.75, 0, 0, -0.25]])
    first, last = digit_pair.outputs_by_step(walk, x, y, [0, 1], title="t", side=2).frames
    assert first.caption == "After 0 steps: mean output of 4s 0.00, of 9s 0.00; 1 of 2 right."
    assert last.caption == "After 1 step: mean output of 4s \u22120.25, of 9s 0.50; 2 of 2 right."


@pytest.mark.parametrize("draw", [
    lambda: digit_pair.front_door(np.zeros((0, 28, 28)), np.ones((28, 28)), "a 9"),
    lambda: digit_pair.weight_images([], []),
    lambda: digit_pair.outputs_by_step(np.zeros((2, 5)), np.ones((0, 5)), [], [0, 1], title="t", side=2),
    lambda: digit_pair.outputs_by_step(np.zeros((2, 5)), np.ones((3, 5)), [0, 1, 1], [], title="t", side=2),
    lambda: digit_pair.weight_images([np.zeros(785)], []),
])  # fmt: skip
def test_nothing_to_draw_is_refused(draw):
    with pytest.raises(ValueError, match=r"empty|1 weights and 0 titles"):
        draw()
