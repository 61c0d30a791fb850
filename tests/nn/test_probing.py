"""Probing: the layers' own outputs, gradients to the input, and an ascent that leaves the network as it was."""

import numpy as np
import pytest

from course_lib import nn
from course_lib import reference as ops


@pytest.fixture(scope="module")
def net():
    return nn.models.lenet5(rng=np.random.default_rng(0), dtype=np.float64)


@pytest.fixture
def images():
    return np.random.default_rng(1).random((3, 1, 32, 32))


def test_feature_maps_are_the_outputs_of_every_layer(net, images):
    found = nn.feature_maps(net, images)
    assert [name for name, _ in found] == [layer.describe() for layer in net]
    x = images
    for layer, (_, values) in zip(net, found, strict=True):
        x = layer.forward(x)
        np.testing.assert_array_equal(values, x)
    assert [v.shape[1:] for _, v in found[:4]] == [(6, 28, 28), (6, 28, 28), (6, 14, 14), (16, 10, 10)]


def test_feature_maps_are_copies(net, images):
    first = nn.feature_maps(net, images)[0][1]
    kept = first.copy()
    nn.feature_maps(net, 1 - images)
    np.testing.assert_array_equal(first, kept)


@pytest.mark.parametrize("classic", [False, True])
@pytest.mark.parametrize(("unit", "layer"), [(3, None), (np.array([1, 0, 9]), None), ((2, 5, 7), 3), (4, 11)])
def test_gradient_is_that_of_finite_differences(images, unit, layer, classic):
    net = nn.models.lenet5(rng=np.random.default_rng(2), classic=classic, dtype=np.float64)
    rng = np.random.default_rng(3)
    direction, h = rng.standard_normal(images.shape), 2e-8  # small: no ReLU or pooling window may switch
    value, dx = nn.input_gradient(net, images, unit, layer=layer)
    up, down = (nn.input_gradient(net, images + s * h * direction, unit, layer=layer)[0] for s in (1, -1))
    expected = (up - down) / (2 * h)
    np.testing.assert_allclose((dx * direction).sum(axis=(1, 2, 3)), expected, rtol=1e-5, atol=1e-6)
    assert value.shape == (3,)


def test_the_value_of_a_class_is_its_log_probability_and_of_a_place_the_number_there(net, images):
    k = ops.softmax(net.forward(images))
    np.testing.assert_allclose(nn.input_gradient(net, images, 3)[0], np.log(k[:, 3]))
    classes = np.array([7, 0, 2])
    np.testing.assert_allclose(nn.input_gradient(net, images, classes)[0], np.log(k[np.arange(3), classes]))
    c3 = nn.feature_maps(net, images)[3][1]
    np.testing.assert_allclose(nn.input_gradient(net, images, (2, 5, 7), layer=3)[0], c3[:, 2, 5, 7])


def test_of_distances_the_near_class_is_likely(images):
    net = nn.models.lenet5(rng=np.random.default_rng(0), classic=True, dtype=np.float64)
    value, _ = nn.input_gradient(net, images, 3)
    np.testing.assert_allclose(value, np.log(ops.softmax(-net.forward(images))[:, 3]))


def test_a_place_in_c3_sees_fourteen_by_fourteen_pixels(net, images):
    _, dx = nn.input_gradient(net, images, (0, 4, 3), layer=3)
    seen = np.argwhere(dx.any(axis=(0, 1)))
    assert (seen.min(axis=0) >= [8, 6]).all()
    assert (seen.max(axis=0) <= [21, 19]).all()
    assert len(seen) > 100


def test_weights_gradients_and_start_are_left_alone(net, images):
    net.zero_grad()
    net.backward(np.ones_like(net.forward(images)))
    gradients = {name: g.copy() for name, g in net.gradients().items()}
    weights = {name: p.copy() for name, p in net.parameters().items()}
    start = images.copy()
    nn.maximise(net, 3, images, steps=2)
    nn.maximise(net, (0, 1, 2), images, steps=2, layer=3)
    with pytest.raises(ValueError, match="unit"):
        nn.maximise(net, 10, images, steps=2)
    for name, g in net.gradients().items():
        np.testing.assert_array_equal(g, gradients[name])
        np.testing.assert_array_equal(net.parameters()[name], weights[name])
    np.testing.assert_array_equal(images, start)
    net.zero_grad()


def test_the_goal_rises_and_history_holds_every_step(net, images):
    up = nn.maximise(net, 3, images, steps=25, lr=0.2)
    assert up.history.shape == (26, 3)
    assert up.steps == 25
    assert (up.history[-1] > up.history[0]).all()
    np.testing.assert_allclose(up.history[-1], nn.input_gradient(net, up.image, 3)[0])
    assert up.image.min() >= 0
    assert up.image.max() <= 1


def test_a_step_has_the_length_lr_and_the_direction_of_the_gradient(net, images):
    up = nn.maximise(net, 5, images, steps=1, lr=0.3, clip=None)
    moved = up.image - images
    np.testing.assert_allclose(np.sqrt((moved**2).sum(axis=(1, 2, 3))), 0.3)
    _, dx = nn.input_gradient(net, images, 5)
    np.testing.assert_allclose(moved / 0.3, dx / np.sqrt((dx**2).sum(axis=(1, 2, 3), keepdims=True)))


def test_images_of_a_batch_do_not_influence_each_other(net, images):
    together = nn.maximise(net, np.array([1, 2, 3]), images, steps=4).image
    for i in range(3):
        np.testing.assert_allclose(nn.maximise(net, i + 1, images[i : i + 1], steps=4).image[0], together[i])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_type_of_the_start_is_kept(images, dtype):
    net = nn.models.lenet5(rng=np.random.default_rng(0), dtype=dtype)
    assert nn.maximise(net, 0, images.astype(dtype), steps=1, prior=nn.blur(0.1)).image.dtype == dtype


def test_prior_comes_after_the_step_and_clip_after_the_prior(net, images):
    black = nn.maximise(net, 3, images, steps=2, prior=lambda x: 0 * x + 7)
    np.testing.assert_array_equal(black.image, 1)
    free = nn.maximise(net, 3, images, steps=2, prior=lambda x: 0 * x + 7, clip=None)
    np.testing.assert_array_equal(free.image, 7)
    other = nn.maximise(net, 3, images, steps=2, prior=lambda x: 0 * x - 7, clip=(-1, 1))
    np.testing.assert_array_equal(other.image, -1)


def test_on_step_counts_from_one_and_can_end_the_ascent(net, images):
    calls = []

    def on_step(step, x, value):
        calls.append((step, x.shape, value.shape))
        return step == 3

    up = nn.maximise(net, 3, images, steps=10, on_step=on_step)
    assert calls == [(s, images.shape, (3,)) for s in (1, 2, 3)]
    assert up.steps == 3


def test_decay_shrinks_and_blur_keeps_the_sum_inside(images):
    np.testing.assert_allclose(nn.decay(0.1)(images), 0.9 * images)
    dot = np.zeros((1, 1, 5, 5))
    dot[0, 0, 2, 2] = 1
    expected = np.zeros((5, 5))
    expected[2, 2], expected[1, 2], expected[3, 2], expected[2, 1], expected[2, 3] = 0.6, 0.1, 0.1, 0.1, 0.1
    np.testing.assert_allclose(nn.blur(0.4)(dot)[0, 0], expected)
    grey = np.full((1, 1, 4, 4), 0.3)
    np.testing.assert_allclose(nn.blur(0.7)(grey), grey)
    np.testing.assert_array_equal(nn.blur(0)(images), images)


def test_a_closed_relu_is_refused_with_the_fix(net, images):
    closed = nn.models.lenet5(rng=np.random.default_rng(0), dtype=np.float64)
    closed[0].params["b"][...] = -100
    with pytest.raises(ValueError, match="take the layer before it"):
        nn.maximise(closed, (0, 3, 3), images, steps=1, layer=1)
    assert nn.maximise(closed, (0, 3, 3), images, steps=1, layer=0).steps == 1


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"layer": 12, "unit": 0}, ValueError, "has 12 layers"),
        ({"layer": -1, "unit": 0}, ValueError, "layer is -1"),
        ({"layer": 3, "unit": 2}, ValueError, r"\(16, 10, 10\)"),
        ({"layer": 3, "unit": (0, 10, 0)}, ValueError, r"\(0, 10, 0\)"),
        ({"layer": 3, "unit": (0, 1.5, 0)}, TypeError, "whole number"),
        ({"unit": 10}, ValueError, "10 classes"),
        ({"unit": np.array([1, 2])}, ValueError, r"\(3,\)"),
        ({"unit": 0.5}, TypeError, "integers"),
        ({"steps": 0}, ValueError, "steps is 0"),
        ({"lr": 0}, ValueError, "lr is 0"),
        ({"lr": np.inf}, ValueError, "finite"),
        ({"clip": (1, 0)}, ValueError, "low must be below high"),
        ({"clip": 1}, TypeError, "pair"),
        ({"prior": lambda x: x[0]}, ValueError, "keep the shape"),
        ({"start": np.zeros((0, 1, 32, 32))}, ValueError, "empty"),
    ],
)
def test_what_does_not_fit_is_named(net, images, change, error, text):
    arguments = {"unit": 3, "start": images, "steps": 2} | change
    with pytest.raises(error, match=text):
        nn.maximise(net, **arguments)


def test_a_class_needs_rows_of_scores(images):
    net = nn.Sequential(nn.Conv2d(1, 2, 5, rng=np.random.default_rng(0), dtype=np.float64))
    with pytest.raises(ValueError, match="Name a layer"):
        nn.maximise(net, 0, images, steps=1)


def test_infinity_is_reported(images):
    net = nn.Sequential(nn.Flatten(), nn.Dense(1024, 2, rng=np.random.default_rng(0), dtype=np.float64))
    net[1].params["b"][...] = np.inf
    with pytest.raises(FloatingPointError, match="after 0 steps"):
        nn.maximise(net, 0, images, steps=2, layer=1)


@pytest.mark.parametrize("make", [nn.decay, nn.blur])
@pytest.mark.parametrize("value", [-0.1, 1.1, np.nan])
def test_priors_refuse_shares_outside_zero_to_one(make, value):
    with pytest.raises(ValueError, match=r"must"):
        make(value)
