"""Figures of lesson 10: what is drawn is what the network holds, and captions say what the numbers say."""

import numpy as np
import pytest

from course_lib import nn
from course_lib import reference as ops
from course_lib.figures import convnets

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
def test_the_table_holds_every_mask_in_its_place(M, C, K):
    w = np.random.default_rng(2).standard_normal((M, C, K, K))
    (sheet,) = drawn(convnets.mask_table(w))
    assert sheet.shape == (C * (K + 1) - 1, M * (K + 1) - 1)
    assert np.ma.count(np.ma.masked_invalid(sheet)) == w.size
    for m, c in np.ndindex(M, C):
        part = sheet[c * (K + 1) : c * (K + 1) + K, m * (K + 1) : m * (K + 1) + K]
        np.testing.assert_allclose(part, w[m, c], atol=np.abs(w).max() * SHADE)


@pytest.mark.parametrize("maps", [None, [4, 1]])
def test_maps_have_one_scale_for_all_images(net, images, maps):
    found = nn.feature_maps(net, images[:2, None])[1][1]
    fig = convnets.maps_of(images[:2], found, maps=maps)
    chosen = [0, 1, 2, 3, 4, 5] if maps is None else maps
    titles = [ax.get_title(loc="center") for ax in fig.axes if ax.get_title(loc="center")]
    assert titles == ["input", *(f"map {m}" for m in chosen)]
    columns = len(chosen) + 1
    for j, m in enumerate(chosen, start=1):
        assert fig.axes[j].images[0].get_clim() == fig.axes[columns + j].images[0].get_clim()
        assert fig.axes[j].images[0].get_clim()[1] == pytest.approx(found[:, m].max())
    np.testing.assert_allclose(drawn(fig)[columns], images[1], atol=SHADE)


def test_silent_maps_and_masks_can_be_drawn():
    assert drawn(convnets.maps_of(np.zeros((1, 32, 32)), np.zeros((1, 2, 10, 10))))
    assert drawn(convnets.mask_table(np.zeros((2, 1, 3, 3))))
    assert drawn(convnets.mask_rows({"nothing": np.zeros((2, 3, 3))}))


@pytest.mark.parametrize(
    ("k", "labels", "text"), [(8, [3] * 8, "1 different digit "), (3, [1, 7, 1], "2 different digits ")]
)
def test_patches_come_with_their_values_and_labels(net, k, labels, text):
    patches = np.random.default_rng(3).random((k, 14, 14))
    values = np.linspace(9, 5, k)
    shown = convnets.excited(net[3].params["w"][4], patches, values, np.array(labels), 4)
    assert text in shown.alt
    assert "Map 4" in shown.alt
    assert "9.0 down to 5.0" in shown.caption


def test_rows_may_have_gaps_and_different_lengths(images):
    fig = convnets.image_rows({"all": images, "some": [images[0], None, images[2]]}, [f"'{d}'" for d in range(10)])
    assert len(drawn(fig)) == 12
    np.testing.assert_allclose(drawn(fig)[-1], images[2], atol=SHADE)


@pytest.mark.parametrize("goal", [0, 3, 9])
def test_frames_say_what_the_network_says(net, images, goal):
    steps = [0, 4, 9]
    frames = convnets.climb_frames(net, list(images[:3]), steps, goal)
    k = ops.softmax(net.forward(images[:3, None]))
    assert len({read_png(f.src).size for f in frames}) == 1
    assert "changed by 0.00" in frames[0].alt
    for i, frame in enumerate(frames):
        assert f"After {steps[i]} steps" in frame.alt
        assert convnets._percent(k[i, goal]) in frame.alt
        change = np.sqrt(np.mean((images[i] - images[0]) ** 2))
        assert f"{change:.2f}" in frame.caption
        others = np.delete(np.arange(10), goal)
        assert f"next is '{others[k[i][others].argmax()]}'" in frame.caption


def test_the_climb_is_a_stepper_that_stands_at_its_end(net, images):
    steps = convnets.climb(net, list(images[:3]), [0, 1, 2], 5)
    assert len(steps.frames) == 3
    assert steps.frames[steps.static].alt.startswith("After 2 steps")
    assert "'5'" in steps.title


def test_rounding_never_makes_sure_what_is_not():
    assert convnets._percent(1 - 1e-6) == "over 99.9 %"
    assert convnets._percent(1) == "100.0 %"
    assert convnets._percent(0.999) == "99.9 %"
    assert convnets._percent(0.1064) == "10.6 %"
    assert convnets._percent(1e-9) == "under 0.1 %"
    assert convnets._percent(0) == "0.0 %"


@pytest.mark.parametrize("reach", [0.5, 3, 400])
def test_what_lies_outside_is_shown_in_the_middle_and_cut_off_on_the_left(reach):
    image = np.random.default_rng(4).uniform(-reach, reach, (32, 32))
    real = np.random.default_rng(5).random(5000)
    fig = convnets.outside(image, real)
    left, middle, right = fig.axes[:3]
    assert left.images[0].get_clim() == (0, 1)
    assert middle.images[0].get_clim() == pytest.approx((-np.abs(image).max(), np.abs(image).max()))
    for bars in right.containers:
        assert sum(bar.get_height() for bar in bars) == pytest.approx(100)
    assert [text.get_text() for text in right.get_legend().get_texts()] == ["real digits", "this image"]
