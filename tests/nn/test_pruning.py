"""Masks drop the smallest weights; 2:4 is compressed and comes back; pruned weights stay zero in training."""

import pickle

import numpy as np
import pytest

from course_lib import cuda, nn
from course_lib.nn.pruning import Pruned, compress, expand, magnitude_mask, prune, two_of_four_mask


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("share", [0, 0.25, 0.5, 0.9])
def test_the_smallest_share_is_dropped(share):
    w = normal(8, 5)
    mask = magnitude_mask(w, share)
    assert mask.sum() == 40 - round(share * 40)
    assert share == 0 or np.abs(w[mask == 0]).max() <= np.abs(w[mask == 1]).min()
    assert mask.dtype == w.dtype


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_two_of_each_four_along_the_axis_stay_and_they_are_the_largest(axis):
    w = normal(8, 12)
    mask = two_of_four_mask(w, axis)
    groups, kept = (np.moveaxis(a, axis, -1).reshape(-1, 4) for a in (np.abs(w), mask))
    np.testing.assert_array_equal(kept.sum(axis=1), 2)
    np.testing.assert_array_equal(np.sort(groups * kept, axis=1)[:, 2:], np.sort(groups, axis=1)[:, 2:])


def test_of_equals_the_first_stay_in_fours_and_go_by_magnitude():
    assert two_of_four_mask(np.ones(4, np.float32)).tolist() == [1, 1, 0, 0]
    assert magnitude_mask(np.ones(4, np.float32), 0.5).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("axis", [0, 1])
def test_what_is_compressed_is_half_as_long_and_comes_back(axis):
    w = normal(8, 12)
    w *= two_of_four_mask(w, axis)
    w[0] = 0  # fours with fewer than two
    values, places = compress(w, axis)
    assert values.shape == places.shape == ((4, 12) if axis == 0 else (8, 6))
    assert places.dtype == np.uint8
    assert places.max() == 3
    np.testing.assert_array_equal(expand(values, places, axis), w)
    pairs = np.moveaxis(places, axis, -1).reshape(-1, 2)
    assert np.all(pairs[:, 0] < pairs[:, 1])


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="3 numbers of four are not 0"):
        compress(np.array([1, 2, 3, 0], np.float32))
    with pytest.raises(ValueError, match="axis 0 of w has 6 numbers"):
        two_of_four_mask(normal(6, 4))
    for share in (1, -0.1, np.nan):
        with pytest.raises(ValueError, match="share"):
            magnitude_mask(normal(3), share)
    with pytest.raises(TypeError, match="optimiser"):
        Pruned(nn.SGD, {})


@pytest.mark.parametrize("ops", [None, cuda])
def test_pruned_weights_stay_zero_while_the_others_learn(ops):
    rng = np.random.default_rng(0)
    net = nn.Sequential(nn.Dense(8, 4, rng=rng), nn.ReLU(), nn.Dense(4, 3, rng=rng), **({"ops": ops} if ops else {}))
    masks = prune(net, two_of_four_mask)
    assert set(masks) == {"0.w", "2.w"}
    before = {k: net.ops.to_host(p).copy() for k, p in net.parameters().items()}
    x, y = normal(32, 8), np.arange(32) % 3
    optimiser = Pruned(nn.SGD(net, momentum=0.9), masks)
    nn.train(net, (x, y), epochs=2, batch_size=16, lr=0.1, rng=rng, optimiser=optimiser, progress=False)
    assert optimiser.steps == 4
    for name, p in net.parameters().items():
        p = net.ops.to_host(p)
        if name in masks:
            np.testing.assert_array_equal(p == 0, net.ops.to_host(masks[name]) == 0)
        assert np.any(p != before[name])


def test_what_follows_another_optimiser_keeps_saves_and_copies_its_memory(tmp_path):
    def trained(steps):
        net = nn.Sequential(nn.Dense(4, 4, rng=np.random.default_rng(0)))
        optimiser = Pruned(nn.Adam(net), prune(net, two_of_four_mask))
        for _ in range(steps):
            net[0].grads["w"][...] = np.arange(1, 17, dtype=np.float32).reshape(4, 4)
            optimiser.step(0.1)
        return net, optimiser

    (net, optimiser), (_, loaded) = trained(3), trained(0)
    nn.save_optimiser(optimiser, tmp_path / "memory.npz")
    nn.load_optimiser(loaded, tmp_path / "memory.npz")
    copied = pickle.loads(pickle.dumps(optimiser))
    for kept in (loaded, copied):
        assert kept.steps == kept.inner.steps == 3
        for a, b in zip(kept.state["second_moments"], optimiser.state["second_moments"], strict=True):
            np.testing.assert_array_equal(a, b)
    copied.net[0].grads["w"][...] = net[0].grads["w"]
    copied.step(0.1)
    optimiser.step(0.1)
    np.testing.assert_array_equal(copied.net[0].params["w"], net[0].params["w"])
