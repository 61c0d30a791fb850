"""Figures of lesson 10: what is drawn is what the network holds, and captions say what the numbers say."""

import numpy as np
import pytest
from matplotlib.collections import PathCollection

from course_lib import figures, nn
from course_lib import reference as ops
from course_lib.figures import convnets
from course_lib.figures.picture import LARGEST

from .pages import read_png

SHADE = 1 / convnets.GREYS


@pytest.fixture(scope="module")
def net():
    return nn.models.lenet5(rng=np.random.default_rng(0))


@pytest.fixture
def images():
    return np.random.default_rng(1).random((10, 32, 32), dtype=np.float32)


def drawn(fig):
    """The arrays of all images of a figure, colour bars left out."""
    return [ax.images[0].get_array() for ax in fig.axes if ax.images]


def scales(fig):
    return {ax.images[0].get_clim() for ax in fig.axes if ax.images}


def test_masks_stand_in_rows_on_one_scale_around_zero(net):
    before = net[0].params["w"][:, 0]
    fig = convnets.mask_rows({"start": before, "end": 3 * before})
    shown = drawn(fig)
    assert len(shown) == 12
    assert len(scales(fig)) == 1
    low, high = scales(fig).pop()
    assert low == -high
    assert high == pytest.approx(3 * np.abs(before).max())
    np.testing.assert_allclose(shown[0], before[0], atol=high * SHADE)
    np.testing.assert_allclose(shown[11], 3 * before[5], atol=high * SHADE)


@pytest.mark.parametrize(("M", "C", "K"), [(16, 6, 5), (1, 1, 1), (3, 2, 4)])
def test_the_table_holds_every_mask_in_its_place_and_the_digit_above(images, M, C, K):
    w = np.random.default_rng(2).standard_normal((M, C, K, K))
    fig = convnets.digit_and_masks(images[0], w, 7, 0.93)
    image, sheet = drawn(fig)
    np.testing.assert_allclose(image, images[0], atol=SHADE)
    assert sheet.shape == (C * (K + 1) - 1, M * (K + 1) - 1)
    assert np.ma.count(np.ma.masked_invalid(sheet)) == w.size
    for m, c in np.ndindex(M, C):
        part = sheet[c * (K + 1) : c * (K + 1) + K, m * (K + 1) : m * (K + 1) + K]
        np.testing.assert_allclose(part, w[m, c], atol=np.abs(w).max() * SHADE)
    assert any("7, with 93.0 %" in text.get_text() for ax in fig.axes for text in ax.texts)


def test_what_an_image_was_asked_stands_below_it_with_a_dash_on_what_speaks_against():
    images = np.random.default_rng(3).random((2, 4, 4))
    slopes = np.zeros((2, 4, 4))
    slopes[0, 1, 2], slopes[0, 3, 0], slopes[1, 0, 0] = 2, -1, -5
    covered = np.zeros((2, 2, 2))
    covered[0, 1, 0], covered[1, 0, 1] = -3, 3
    fig = convnets.answers_of({"digit": images, "slopes": slopes, "covered": covered}, ["one", "two"], square=(2, 2))
    shown = drawn(fig)
    np.testing.assert_allclose(shown[1], images[1], atol=SHADE)
    np.testing.assert_allclose(shown[2], slopes[0], atol=2 * SHADE)
    np.testing.assert_allclose(shown[3], slopes[1], atol=5 * SHADE)
    dashes = [c.get_offsets().tolist() for ax in fig.axes for c in ax.collections if type(c) is PathCollection]
    assert dashes == [[[0.5, 2.5]], []]  # the square of rows 2 and 3, columns 0 and 1 has its middle there
    assert {(ax.get_xlim(), ax.get_ylim()) for ax in fig.axes} == {((-0.5, 3.5), (3.5, -0.5))}
    assert len({tuple(np.round(ax.get_position().size, 4)) for ax in fig.axes}) == 1  # one size in all rows


def test_a_square_is_drawn_around_its_middle():
    left, right, bottom, top = convnets.middles((14, 14), 5, 2)
    cell = (right - left) / 14
    assert (left + cell / 2, left + 13.5 * cell) == (2, 28)  # the middles of the first and last square of 5 in 32
    assert (top, bottom) == (left, right)


def test_every_figure_is_as_wide_as_a_phone(net, images):
    w, maps = net[3].params["w"], nn.feature_maps(net, images[:2, None])[1][1]
    made = [
        convnets.mask_rows({"a": w[:6, 0]}), convnets.digit_and_masks(images[0], w, 3, 0.5),
        convnets.maps_of(images[:2], maps, title="Behind C1"), convnets.image_rows({"a": images}, list("0123456789")),
        convnets.before_after(net, images[0], images[1], 3, steps=12), convnets.outside(images[0], images),
        convnets.answers_of({"a": images[:3], "b": images[:3]}, list("abc")),
        convnets._draw_excited(w[:2], np.zeros((2, 8, 14, 14)), np.zeros((2, 8), int), [3, 12]),
    ]  # fmt: skip
    assert max(fig.get_size_inches()[0] for fig in made) <= convnets.WIDTH + 1e-9 <= 400 / 96
    assert convnets.painted(net, images[0], 3).drawn[0] <= 400


def test_figures_stand_larger_in_a_wide_column_and_images_touch_their_row(images):
    fig = convnets.image_rows({"one": images[:6], "two": images[:6]}, list("abcdef"))
    sides = {tuple(np.round(ax.get_position().size * fig.get_size_inches(), 3)) for ax in fig.axes}
    assert len(sides) == 1  # the last row is no larger than the others
    assert min(sides)[0] > 0.5
    shown = figures.picture(fig, alt="Twelve images in two rows, all alike.")
    assert shown.width == round(convnets.WIDTH * 96 * LARGEST) <= 640  # letters of 12 pixels become 17 at most


@pytest.mark.parametrize("maps", [None, [4, 1]])
def test_maps_have_one_scale_for_all_images(net, images, maps):
    found = nn.feature_maps(net, images[:2, None])[1][1]
    fig = convnets.maps_of(images[:2], found, maps=maps, title="Behind C1")
    chosen = [0, 1, 2, 3, 4, 5] if maps is None else maps
    titles = [ax.get_title(loc="center") for ax in fig.axes if ax.get_title(loc="center")]
    assert titles == ["input", *map(str, chosen)]
    assert fig.get_suptitle() == "Behind C1"
    columns = len(chosen) + 1
    for j, m in enumerate(chosen, start=1):
        assert fig.axes[j].images[0].get_clim() == fig.axes[columns + j].images[0].get_clim()
        assert fig.axes[j].images[0].get_clim()[1] == pytest.approx(found[:, m].max())
    np.testing.assert_allclose(drawn(fig)[columns], images[1], atol=SHADE)


def test_silent_maps_and_masks_can_be_drawn():
    assert drawn(convnets.maps_of(np.zeros((1, 32, 32)), np.zeros((1, 2, 10, 10)), title="Silent"))
    assert drawn(convnets.digit_and_masks(np.zeros((4, 4)), np.zeros((2, 1, 3, 3)), 0, 1))
    assert drawn(convnets.mask_rows({"nothing": np.zeros((2, 3, 3))}))


@pytest.mark.parametrize(
    ("labels", "texts"),
    [([[3] * 8, [1, 7] * 4], ("1 different digit;", "2 different digits.")), ([[1, 7, 1]], ("2 different digits.",))],
)
def test_patches_come_with_their_values_and_labels(net, labels, texts):
    labels = np.array(labels)
    maps = list(range(4, 4 + len(labels)))
    patches = np.random.default_rng(3).random((*labels.shape, 14, 14))
    values = np.tile(np.linspace(9, 5, labels.shape[1]), (len(labels), 1))
    shown = convnets.excited(net[3].params["w"][maps], patches, values, labels, maps)
    for text in texts:
        assert text in shown.alt
    assert "Map 4" in shown.alt
    assert shown.caption.count("9.0 down to 5.0") == len(maps)


def test_the_drawing_holds_every_mask_and_every_patch_with_its_digit(net):
    w, patches = net[3].params["w"][[2, 9]], np.random.default_rng(3).random((2, 3, 14, 14))
    fig = convnets._draw_excited(w, patches, [[5, 6, 7], [8, 9, 0]], [2, 9])
    shown = drawn(fig)
    assert len(shown) == 2 * 6 + 2 * 3
    np.testing.assert_allclose(shown[6 + 3 + 1], w[1, 1], atol=np.abs(w).max() * SHADE)
    np.testing.assert_allclose(shown[-1], patches[1, 2], atol=SHADE)
    assert [ax.get_xlabel() for ax in fig.axes if ax.get_xlabel()] == ["5", "6", "7", "8", "9", "0"]
    titles = [part.get_suptitle() for part in fig.subfigs]
    assert titles == ["map 2: its masks", "what excites it most", "map 9: its masks", "what excites it most"]


def test_rows_may_have_gaps_and_different_lengths(images):
    fig = convnets.image_rows({"all": images, "some": [images[0], None, images[2]]}, [f"'{d}'" for d in range(10)])
    assert len(drawn(fig)) == 12
    np.testing.assert_allclose(drawn(fig)[-1], images[2], atol=SHADE)


@pytest.mark.parametrize("goal", [0, 3, 9])
def test_start_and_end_of_a_climb_stand_side_by_side(net, images, goal):
    fig = convnets.before_after(net, images[0], images[1], goal, steps=7)
    k = ops.softmax(net.forward(images[:2, None]))
    left, right, change = fig.axes
    np.testing.assert_allclose(left.images[0].get_array(), images[0], atol=SHADE)
    np.testing.assert_allclose(right.images[0].get_array(), images[1], atol=SHADE)
    reach = np.abs(images[1] - images[0]).max()
    np.testing.assert_allclose(change.images[0].get_array(), images[1] - images[0], atol=2 * reach * SHADE)
    assert change.images[0].get_clim() == pytest.approx((-reach, reach))
    for ax, share in ((left, k[0]), (right, k[1])):
        assert ax.get_xlabel() == f"'{goal}': {convnets.percent(share[goal])}"
    assert "7 steps" in right.get_title(loc="center")


def test_a_climb_that_did_not_move_can_be_drawn(net, images):
    assert drawn(convnets.before_after(net, images[0], images[0], 3, steps=0))


@pytest.mark.parametrize("goal", [0, 3, 9])
def test_a_painted_image_says_what_the_network_says(net, images, goal):
    shown = convnets.painted(net, images[2], goal)
    k = ops.softmax(net.forward(images[2:3, None]))[0]
    others = np.delete(np.arange(10), goal)
    assert f"'{goal}' has {convnets.percent(k[goal])}" in shown.alt
    assert f"next is '{others[k[others].argmax()]}'" in shown.caption
    assert read_png(shown.src).size == read_png(convnets.painted(net, images[3], goal).src).size


def test_rounding_never_makes_sure_what_is_not():
    assert convnets.percent(1 - 1e-6) == "over 99.9 %"
    assert convnets.percent(1) == "100.0 %"
    assert convnets.percent(0.999) == "99.9 %"
    assert convnets.percent(0.1064) == "10.6 %"
    assert convnets.percent(1e-9) == "under 0.1 %"
    assert convnets.percent(0) == "0.0 %"


@pytest.mark.parametrize("reach", [0.5, 3, 400])
def test_what_lies_outside_is_shown_in_the_middle_and_cut_off_on_the_left(reach):
    image = np.random.default_rng(4).uniform(-reach, reach, (32, 32))
    real = np.random.default_rng(5).random(5000)
    fig = convnets.outside(image, real)
    left, middle, right = fig.axes[:3]
    assert left.images[0].get_clim() == (0, 1)
    assert middle.images[0].get_clim() == pytest.approx((-np.abs(image).max(), np.abs(image).max()))
    edges = [bar.get_x() for bar in right.containers[0]]
    assert np.isclose(edges, 0).any()
    assert reach > 100 or np.isclose(edges, 1).any() or np.isclose(edges[-1] + right.containers[0][-1].get_width(), 1)
    for bars in right.containers:
        assert sum(bar.get_height() for bar in bars) == pytest.approx(100)
    assert [text.get_text() for text in right.get_legend().get_texts()] == ["this image", "real digits"]
