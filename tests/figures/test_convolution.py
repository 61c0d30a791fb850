"""Figures of lesson 07: what they draw is what the library computes, over every setting of the sliders."""

import itertools

import numpy as np
import pytest

from course_lib import figures
from course_lib import reference as ops
from course_lib.figures import convolution
from tests.cases import all_of

from .pages import read_svg, svg_texts

SETTINGS = list(itertools.product((5, 8, 12), (1, 3, 5), (1, 2, 3, 4), (0, 1, 2)))


def maps(c=3, h=3, w=3, k=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(-2, 4, (c, h, w)), rng.integers(-2, 4, (c, k, k))


@pytest.mark.parametrize(
    ("sizes", "stride"), [((3, 3, 3, 2), 1), ((1, 4, 5, 3), 1), ((2, 5, 5, 2), 2), ((1, 2, 2, 2), 1)]
)
def test_a_frame_for_each_map_at_each_place_and_all_of_one_size(sizes, stride):
    x, w = maps(*sizes)
    y = ops.conv2d_forward(x[None], w[None], stride=stride)[0][0, 0]
    frames = convolution.slide_frames(x, w, stride)
    assert len(frames) == y.size * len(x)
    assert len({(f.width, f.height) for f in frames}) == 1
    assert frames[0].width <= 840


@pytest.mark.parametrize("stride", [1, 2])
def test_the_last_map_of_each_place_shows_the_librarys_output(stride):
    x, w = maps(3, 5, 5, 2)
    y = ops.conv2d_forward(x[None], w[None], stride=stride)[0][0, 0]
    frames = convolution.slide_frames(x, w, stride)
    for k, (h, v) in enumerate(np.ndindex(y.shape)):
        last = frames[3 * k + 2]
        assert last.alt.endswith(f"y[{h}, {v}] is now {y[h, v]:g}.")
        assert "is finished" in last.caption
        headline = svg_texts(read_svg(last.src))[0]
        assert headline.startswith(f"y[{h}, {v}] = ")
        assert headline.endswith(f"= {y[h, v]:g}".replace("-", "\N{MINUS SIGN}"))


def test_frames_fill_y_and_never_empty_it_again():
    dashed = [f.src.count("stroke='%23999999'") for f in convolution.slide_frames(*maps())]
    firsts = dashed[::3]  # the first map of each place: products of two maps and later outputs are empty
    assert firsts == sorted(firsts, reverse=True)
    assert dashed[-1] == 0


def test_a_single_map_reads_without_a_sum_of_sums():
    frames = convolution.slide_frames(np.array([[[1, 2]]]), np.array([[[3]]]))
    assert [svg_texts(read_svg(f.src))[0] for f in frames] == ["y[0, 0] = 3", "y[0, 1] = 6"]


def test_the_stepper_shows_a_finished_output_without_scripts_and_is_the_same_every_time():
    stepper = convolution.slide_stepper(*maps())
    assert "y[0, 0] is finished" in stepper.frames[stepper.static].caption
    assert stepper.html == convolution.slide_stepper(*maps()).html


def test_no_frame_is_without_a_sum_and_a_number_in_y():
    for frame in convolution.slide_frames(*maps()):
        texts = svg_texts(read_svg(frame.src))
        assert texts[0].startswith("y[")
        assert any(text.startswith("sum ") for text in texts)


@pytest.mark.parametrize("answers", [[7, 7, 2, 3], [0, 0]])
def test_the_digit_read_again_has_an_answer_above_each_shift(answers):
    figure = convolution.read_again(np.zeros((len(answers), 5, 5)), answers)
    assert [ax.get_title()[1:-1] for ax in figure.axes] == [str(a) for a in answers]
    assert [ax.get_xlabel() for ax in figure.axes][:2] == ["as it is", "moved by 1"]
    torn = convolution.read_again(np.zeros((len(answers), 9, 5)), answers, list("abcd")[: len(answers)])
    assert [ax.get_xlabel() for ax in torn.axes][:2] == ["a", "b"]


def test_best_places_number_the_masks_on_one_scale_and_write_no_sums():
    sums = np.zeros((2, 2, 12, 12))
    sums[0, 0, 5, 6] = sums[0, 1, 8, 8] = sums[1, :, 3, 3] = 7
    fig = convolution.best_places(np.zeros((2, 8, 8)), np.stack([np.eye(5), -3 * np.eye(5)]), sums, [4, 9])
    titles = [ax.get_title(loc="center") for ax in fig.axes[:6]]
    assert titles == ["mask 4", "", "", "mask 9", "", ""]
    assert {fig.axes[k].images[0].get_clim() for k in (0, 3)} == {(-3.0, 3.0)}
    assert fig.axes[1].patches[0].get_xy() == (6 - 5 + 0.5, 5 - 5 + 0.5)


@all_of(("size", "mask", "stride", "pad"), SETTINGS)
def test_visits_are_those_of_windows_counted_one_by_one(size, mask, stride, pad):
    count = np.zeros((size + 2 * pad,) * 2, dtype=int)
    for h in range(0, size + 2 * pad - mask + 1, stride):
        for v in range(0, size + 2 * pad - mask + 1, stride):
            count[h : h + mask, v : v + mask] += 1
    np.testing.assert_array_equal(convolution.visits(size, mask, stride, pad), count)
    lost = convolution.never_seen(size, mask, stride, pad)
    np.testing.assert_array_equal(lost, count[pad : pad + size, pad : pad + size] == 0)


@all_of(("size", "mask", "stride", "pad"), SETTINGS)
def test_exactly_the_pixels_with_a_cross_have_no_gradient_and_no_influence(size, mask, stride, pad):
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((1, 1, size, size)), rng.uniform(1, 2, (1, 1, mask, mask))
    lost = convolution.never_seen(size, mask, stride, pad)
    y, cache = ops.conv2d_forward(x, w, stride=stride, pad=pad)
    changed, _ = ops.conv2d_forward(x + 100 * lost, w, stride=stride, pad=pad)
    np.testing.assert_array_equal(changed, y)
    dx, _, _ = ops.conv2d_backward(np.ones_like(y), cache)
    np.testing.assert_array_equal(dx[0, 0] == 0, lost)


@all_of(("size", "mask", "stride", "pad"), SETTINGS)
def test_the_explorers_picture_says_what_it_shows_on_one_sheet(size, mask, stride, pad):
    picture = convolution.coverage(size, mask, stride, pad)
    lost = int(convolution.never_seen(size, mask, stride, pad).sum())
    words = svg_texts(read_svg(picture.src))
    assert words[1].endswith(f"= {ops.output_size(size, mask, stride, pad)}")
    assert words[2] == (f"{lost} of {size * size} pixels are never seen" if lost else "every pixel is seen")
    assert ("never seen" in picture.alt) == bool(lost)
    assert ("cross" in picture.caption) == bool(lost)
    assert picture.drawn[0] == 392
    assert ("dashed 0: padding" in words) == (pad > 0)


def test_the_caption_tells_edge_from_gaps():
    assert "at the lower and right edge" in convolution.coverage(8, 3, 2).caption
    assert "between" not in convolution.coverage(8, 3, 2).caption
    assert "between the windows" in convolution.coverage(8, 1, 3).caption
    assert "edge" in convolution.coverage(8, 1, 3).caption  # windows at 0, 3, 6; column 7 is left
    assert "between" not in convolution.coverage(5, 3, 4).caption  # one window only
    assert "1 at the end, is padding" in convolution.coverage(8, 3, 2, 1).caption


def test_moved_maps_share_one_scale_and_mark_the_first_column_of_ink():
    image = np.zeros((8, 8))
    image[2:5, 3] = 1
    fig = convolution.moved_maps(image, np.roll(image, 2, axis=1), image - 0.5, 2 * image, 2)
    assert [list(ax.get_xticks()) for ax in fig.axes[:4]] == [[2.5], [2.5], [4.5], [4.5]]  # where the lines stand
    assert [ax.get_xticklabels()[0].get_text() for ax in fig.axes[:4]] == ["3", "3", "5", "5"]
    assert {ax.images[0].get_clim() for ax in fig.axes[1:4:2]} == {(-2.0, 2.0)}
    figures.picture(fig, alt="An image, its map, and both moved")
