"""What an answer rests on: slopes are those of finite differences, and covering is what a plain loop does."""

import numpy as np
import pytest

from course_lib import nn


def lenet(classic=False):
    return nn.models.lenet5(rng=np.random.default_rng(0), classic=classic, dtype=np.float64)


@pytest.fixture(scope="module")
def net():
    return lenet()


@pytest.fixture
def images():
    return np.random.default_rng(1).random((3, 1, 32, 32))


@pytest.mark.parametrize("classic", [False, True])
def test_saliency_is_the_slope_of_the_score_along_any_direction(images, classic):
    net, labels = lenet(classic), np.array([3, 0, 3])
    direction, h = np.random.default_rng(3).standard_normal(images.shape), 2e-8  # small: no ReLU may switch
    up, down = (nn.class_scores(net, images + s * h * direction, labels) for s in (1, -1))
    slope = (nn.saliency(net, images, labels) * direction).sum(axis=(1, 2, 3))
    np.testing.assert_allclose(slope, (up - down) / (2 * h), rtol=1e-5, atol=1e-6)


def test_a_single_pixel_moves_the_score_as_its_saliency_says(net, images):
    slopes, h = nn.saliency(net, images[:1], 7), 1e-7
    for r, c in ((0, 0), (15, 20), (31, 31), (9, 4)):
        more = images[:1].copy()
        more[0, 0, r, c] += h
        rise = nn.class_scores(net, more, 7) - nn.class_scores(net, images[:1], 7)
        np.testing.assert_allclose(rise / h, slopes[0, 0, r, c], rtol=1e-4, atol=1e-6)


def test_the_score_of_a_class_is_the_networks_output_and_minus_a_distance(net, images):
    out = net.forward(images)
    np.testing.assert_allclose(nn.class_scores(net, images, [1, 9, 0]), out[[0, 1, 2], [1, 9, 0]])
    classic = lenet(classic=True)
    np.testing.assert_allclose(nn.class_scores(classic, images, 4), -classic.forward(images)[:, 4])


@pytest.mark.parametrize("setting", [
    {"size": 5, "fill": 0.5, "stride": 2},
    {"size": 31, "fill": 0.0, "stride": 1},
    {"size": 7, "fill": 1.0, "stride": 9, "opacity": 0.3},
])  # fmt: skip
def test_occlusion_is_what_a_plain_loop_finds(net, images, setting):
    labels, size, stride = np.array([2, 5, 5]), setting["size"], setting["stride"]
    share, places = setting.get("opacity", 1.0), range(0, 32 - size + 1, stride)
    expected = np.zeros((3, len(places), len(places)))
    for b, ((i, r), (j, c)) in ((b, two) for b in range(3) for two in _pairs(places)):
        one = images[b : b + 1].copy()
        for row in range(r, r + size):
            for column in range(c, c + size):
                one[0, 0, row, column] = (1 - share) * one[0, 0, row, column] + share * setting["fill"]
        expected[b, i, j] = net.forward(images[b : b + 1])[0, labels[b]] - net.forward(one)[0, labels[b]]
    before = images.copy()
    np.testing.assert_allclose(nn.occlusion(net, images, labels, **setting), expected, atol=1e-9)
    np.testing.assert_array_equal(images, before)


def _pairs(places):
    return [(row, column) for row in enumerate(places) for column in enumerate(places)]


def test_many_places_go_through_in_parts_and_give_the_same(net, images, monkeypatch):
    whole = nn.occlusion(net, images, 1, size=9, stride=4)
    monkeypatch.setattr("course_lib.nn.evidence.BATCH", 5)
    np.testing.assert_allclose(nn.occlusion(net, images, 1, size=9, stride=4), whole, rtol=1e-9)


def test_a_square_of_colour_covers_all_maps():
    net = nn.models.cnn_color(rng=np.random.default_rng(0), dtype=np.float64)
    x = np.random.default_rng(2).random((1, 3, 32, 32))
    covered = x.copy()
    covered[0, :, 4:10, 8:14] = 0.25
    fall = nn.occlusion(net, x, 6, size=6, fill=0.25, stride=4)
    np.testing.assert_allclose(fall[0, 1, 2], (net.forward(x) - net.forward(covered))[0, 6], atol=1e-9)
    assert nn.saliency(net, x, 6).shape == x.shape


def test_what_slopes_promise_comes_true_for_a_square_that_hardly_covers(net, images):
    slopes = nn.saliency(net, images, 3)
    promise = nn.promised_fall(images, slopes, size=6, fill=0.5, stride=3)
    thin = nn.occlusion(net, images, 3, size=6, fill=0.5, stride=3, opacity=1e-6)
    np.testing.assert_allclose(thin / 1e-6, promise, rtol=1e-3, atol=1e-5)
    full = nn.occlusion(net, images, 3, size=6, fill=0.5, stride=3)
    assert np.abs(full - promise).max() > 1e-3  # a whole square is no small change


def test_the_promise_is_a_sum_over_the_square():
    x, slopes = np.random.default_rng(4).random((2, 2, 2, 5, 6))
    promise = nn.promised_fall(x, slopes, size=3, fill=0.25, stride=2)
    assert promise.shape == (2, 2, 2)
    np.testing.assert_allclose(promise[1, 1, 0], (slopes * (x - 0.25))[1, :, 2:5, 0:3].sum())


def test_weights_and_gradients_are_left_alone(net, images):
    net.zero_grad()
    net.backward(np.ones_like(net.forward(images)))
    kept = {name: g.copy() for name, g in net.gradients().items()}
    nn.saliency(net, images, [1, 2, 3])
    nn.occlusion(net, images, 1, size=20, stride=6)
    for name, g in net.gradients().items():
        np.testing.assert_array_equal(g, kept[name])


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"labels": 10}, ValueError, "10 classes"),
        ({"labels": [1, 2]}, ValueError, r"\(2,\)|2 labels|3"),
        ({"labels": 0.5}, TypeError, "integers"),
        ({"size": 33}, ValueError, "size is 33 and the images are 32 x 32"),
        ({"size": 0}, ValueError, "size is 0"),
        ({"stride": 0}, ValueError, "stride is 0"),
        ({"opacity": 1.5}, ValueError, "opacity is 1.5"),
        ({"opacity": 0}, ValueError, "opacity is 0"),
        ({"fill": np.nan}, ValueError, "fill"),
        ({"x": np.zeros((2, 1024))}, ValueError, "x"),
        ({"x": np.zeros((0, 1, 32, 32))}, ValueError, "empty"),
    ],
)
def test_what_does_not_fit_is_named(net, images, change, error, text):
    arguments = {"x": images, "labels": 3, "size": 5} | change
    with pytest.raises(error, match=text):
        nn.occlusion(net, **arguments)


def test_a_promise_needs_a_slope_for_each_pixel(images):
    with pytest.raises(ValueError, match="a slope for each pixel"):
        nn.promised_fall(images, images[:2], size=5)
    with pytest.raises(ValueError, match="must fit on the image"):
        nn.promised_fall(images, images, size=40)


def test_a_class_needs_rows_of_scores(images):
    net = nn.Sequential(nn.Conv2d(1, 2, 5, rng=np.random.default_rng(0), dtype=np.float64))
    with pytest.raises(ValueError, match="a class needs"):
        nn.saliency(net, images, 0)
