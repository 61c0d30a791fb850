"""The harness of lesson 10: climbs that stop one by one, changes of a given length, how rough a mask is."""

import numpy as np
import pytest

from course_lib import nn
from course_lib.lesson import climb_each, random_changes, relative_roughness


@pytest.fixture(scope="module")
def net():
    net = nn.Sequential(nn.Flatten(), nn.Dense(9, 4, rng=np.random.default_rng(0), dtype=np.float64))
    net[1].params["w"] *= 3
    return net


@pytest.fixture
def starts():
    return np.random.default_rng(1).random((5, 1, 3, 3))


def test_each_image_is_kept_as_it_was_when_it_arrived(net, starts):
    goals, target = np.array([0, 1, 2, 3, 0]), np.log(0.4)
    images, taken = climb_each(net, goals, starts, lambda x, log_k: log_k > target, lr=0.05)
    assert len(set(taken.tolist())) > 1
    for i in range(5):
        alone = nn.maximise(net, int(goals[i]), starts[i : i + 1], steps=int(taken[i]), lr=0.05)
        np.testing.assert_allclose(images[i], alone.image[0], atol=1e-12)
        assert alone.history[-1, 0] > target
        assert taken[i] == 1 or alone.history[-2, 0] <= target


def test_until_sees_the_images_and_the_start_stays(net, starts):
    before = starts.copy()
    images, taken = climb_each(net, 2, starts, lambda x, log_k: net.predict(x) == 2, lr=0.05)
    assert (net.predict(images) == 2).all()
    assert taken.min() >= 1
    np.testing.assert_array_equal(starts, before)


def test_who_does_not_arrive_is_as_it_was_at_the_end_and_took_no_steps(net, starts):
    images, taken = climb_each(net, 0, starts, lambda x, log_k: np.arange(5) == 3, steps=4)
    assert taken.tolist() == [0, 0, 0, 1, 0]
    end = nn.maximise(net, 0, starts, steps=4)
    np.testing.assert_allclose(images[[0, 1, 2, 4]], end.image[[0, 1, 2, 4]])


def test_random_changes_have_the_length_that_was_asked_for_and_stay_images():
    images = (np.random.default_rng(2).random((6, 1, 12, 12)) ** 4).astype(np.float32)
    lengths = np.linspace(0.1, 2, 6)
    changed = random_changes(images, lengths, rng=np.random.default_rng(3))
    assert changed.dtype == np.float32
    assert (changed.min(), changed.max()) >= (0, 0)
    assert changed.max() <= 1
    found = np.sqrt(((changed - images) ** 2).sum(axis=(1, 2, 3)))
    np.testing.assert_allclose(found, lengths, rtol=0.02)
    again = random_changes(images, lengths, rng=np.random.default_rng(4))
    assert np.abs(again - changed).max() > 0.01


@pytest.mark.parametrize(("lengths", "text"), [(0, "holds 0"), (np.nan, "holds nan"), (100, "should change by 100")])
def test_lengths_that_no_change_can_have_are_refused(lengths, text):
    with pytest.raises(ValueError, match=text):
        random_changes(np.full((1, 4, 4), 0.5), lengths, rng=np.random.default_rng(0))


def test_roughness_is_1_for_noise_and_does_not_depend_on_strength():
    masks = np.random.default_rng(0).standard_normal((2000, 5, 5))
    assert relative_roughness(masks) == pytest.approx(1, abs=0.02)
    assert relative_roughness(7 * masks[:9]) == pytest.approx(relative_roughness(masks[:9]))
    ramp = np.tile(np.arange(5.0), (1, 5, 1))
    assert relative_roughness(ramp) == pytest.approx(1 / (2 * np.sqrt(2)))
    with pytest.raises(ValueError, match="spread"):
        relative_roughness(np.ones((2, 3, 3)))
    with pytest.raises(ValueError, match="K and L"):
        relative_roughness(np.ones((3, 3)))
