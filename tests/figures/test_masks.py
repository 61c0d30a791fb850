"""The explorer of masks: its presets are what they are called, and its picture needs no script."""

import numpy as np
import pytest

from course_lib import data, figures
from course_lib import reference as ops
from course_lib.figures.masks import apply_mask, gallery_images, preset_masks


@pytest.mark.parametrize("size", [3, 5])
def test_blur_keeps_even_grey_and_edge_masks_answer_0_to_it(size):
    even = np.full((9, 9), 0.5)
    for name, mask in preset_masks(size).items():
        keeps = {"blur": 1, "sharpen": 1, "emboss": 1}.get(name, 0)
        np.testing.assert_allclose(apply_mask(even, mask), 0.5 * keeps, atol=1e-12)


def test_a_mask_of_three_in_a_frame_of_zeros_does_the_same():
    image = gallery_images()["a lighthouse"]
    for name in ("vertical edges", "horizontal edges", "sharpen", "emboss"):
        three, five = (apply_mask(image, preset_masks(k)[name], pad=k // 2) for k in (3, 5))
        np.testing.assert_allclose(three, five, atol=1e-12)


def test_vertical_edges_see_vertical_bars_and_horizontal_edges_horizontal_ones():
    bar = np.zeros((9, 9))
    bar[:, 4:] = 1
    masks = preset_masks(3)
    assert np.abs(apply_mask(bar, masks["vertical edges"])).max() == 4
    assert not apply_mask(bar, masks["horizontal edges"]).any()
    assert not apply_mask(bar.T, masks["vertical edges"]).any()


def test_a_one_right_of_the_middle_moves_the_picture_left():
    image = gallery_images()["a digit"]
    mask = np.zeros((3, 3))
    mask[1, 2] = 1
    np.testing.assert_array_equal(apply_mask(image, mask, pad=1)[:, :-1], image[:, 1:])


@pytest.mark.parametrize("size", [2, 4, 7])
def test_other_sizes_are_refused(size):
    with pytest.raises(ValueError, match=f"size is {size}; .* write 3 or 5"):
        preset_masks(size)


def test_only_one_map_and_one_mask():
    with pytest.raises(ValueError, match=r"image is \(1, 4, 4\) and mask \(3, 3\)"):
        apply_mask(np.ones((1, 4, 4)), np.ones((3, 3)))
    with pytest.raises(ValueError, match="fits nowhere"):
        apply_mask(np.ones((2, 2)), np.ones((3, 3)))


def test_the_scene_is_the_same_every_time_in_hundredths_with_soft_and_hard_places():
    scene = data.scene()
    np.testing.assert_array_equal(scene, data.scene())
    np.testing.assert_array_equal(scene, scene.round(2))
    assert scene.shape == (48, 48)
    assert (scene.min() >= 0, scene.max() <= 1) == (True, True)
    edges = np.abs(ops.conv2d_forward(scene[None, None], preset_masks(3)["vertical edges"][None, None])[0])
    assert np.median(edges) < 0.3 < 2 < edges.max()


def test_the_figure_is_the_same_every_time_and_says_what_is_found():
    figure = figures.mask_explorer()
    assert figure.html == figures.mask_explorer().html
    assert "edges turn white on one side and black on the other" in figure.static.alt
    assert [one["name"] for one in figure.data["images"]] == list(gallery_images())
    for one, image in zip(figure.data["images"], gallery_images().values(), strict=True):
        np.testing.assert_array_equal(np.array(one["pixels"]) / 100, image)
