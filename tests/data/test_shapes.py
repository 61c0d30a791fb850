"""Coloured shapes: right format, balanced, repeatable, and told apart by outline rather than by colour."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.data import SHAPE_NAMES, colour_shapes, shapes


@pytest.fixture(scope="module")
def many():
    return colour_shapes(5000, rng=np.random.default_rng(0))


def linear_accuracy(features, labels):
    """Test accuracy of a least-squares classifier on the last fifth."""
    features = np.column_stack([features, np.ones(len(features))]).astype(np.float64)
    split = len(labels) * 4 // 5
    w, *_ = np.linalg.lstsq(features[:split], np.eye(10)[labels[:split]], rcond=None)
    return np.mean(np.argmax(features[split:] @ w, axis=1) == labels[split:])


@settings(deadline=None, max_examples=25)
@given(n=st.integers(1, 40), seed=st.integers(0, 2**32))
def test_any_number_of_shapes_has_the_format_of_cifar_10(n, seed):
    x, y = colour_shapes(n, rng=np.random.default_rng(seed))
    assert x.shape == (n, 3, 32, 32)
    assert x.dtype == np.float32
    assert x.flags.c_contiguous
    assert x.min() >= 0
    assert x.max() <= 1
    assert y.shape == (n,)
    assert y.dtype == np.int64
    counts = np.bincount(y, minlength=10)
    assert len(counts) == 10
    assert counts.max() - counts.min() <= 1


def test_the_same_seed_gives_the_same_pictures_and_another_seed_others():
    first, again, other = (colour_shapes(30, rng=np.random.default_rng(seed)) for seed in (5, 5, 6))
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1], again[1])
    assert not np.array_equal(first[0], other[0])


def test_there_are_ten_names_in_the_order_of_the_labels():
    assert SHAPE_NAMES == (
        "disc", "ring", "square", "triangle", "diamond", "plus", "star", "heart", "crescent", "arrow",
    )  # fmt: skip


def test_colour_alone_does_not_give_the_class(many):
    x, y = many
    assert linear_accuracy(x.mean(axis=(2, 3)), y) < 0.18  # guessing: 0.10
    quantiles = np.sort(x.reshape(len(x), 3, -1), axis=2)[:, :, ::64].reshape(len(x), -1)
    assert linear_accuracy(quantiles, y) < 0.30  # the whole distribution of colours, which knows the shape's area


def test_the_outline_gives_the_class_whatever_the_colours(many):
    # Edges of the grey picture, blurred: a crude feature, but far above guessing, so that there is something to learn.
    x, y = many
    grey = x.mean(axis=1)
    edges = np.abs(np.diff(grey, axis=1))[:, :, 1:] + np.abs(np.diff(grey, axis=2))[:, 1:, :]
    assert linear_accuracy(edges.reshape(len(x), -1), y) > 0.30


def test_shape_and_ground_always_contrast_and_either_is_the_lighter_one(many):
    # The darkest tenth and the lightest tenth of each grey picture are one of shape and ground each.
    grey = np.sort(many[0].mean(axis=1).reshape(5000, -1), axis=1)
    assert (grey[:, -60] - grey[:, 60] > 0.25).all()
    ground_is_light = many[0][:, :, [0, 0, -1, -1], [0, -1, 0, -1]].mean(axis=(1, 2)) > 0.5
    for label in range(10):
        assert 0.4 < ground_is_light[many[1] == label].mean() < 0.6


@pytest.mark.parametrize("name", SHAPE_NAMES)
def test_every_shape_lies_inside_the_picture_and_has_a_fair_size(name):
    labels = np.full(400, SHAPE_NAMES.index(name))
    inside = shapes._coverage(labels, np.random.default_rng(0))
    assert inside.min() == 0
    assert inside.max() == 1
    border = np.concatenate([inside[:, 0], inside[:, -1], inside[:, :, 0], inside[:, :, -1]], axis=1)
    assert border.max() < 0.6  # a soft edge may touch the border; no shape is cut off
    area = inside.sum(axis=(1, 2))
    assert area.min() > 40
    assert area.max() < 512
    rows, columns = np.nonzero(inside.max(axis=0))
    assert rows.max() - rows.min() > 20  # positions vary over the whole picture
    assert columns.max() - columns.min() > 20


@pytest.mark.parametrize("name", SHAPE_NAMES)
def test_no_shape_has_a_seam(name):
    # Shapes made of several pieces must overlap: deep inside, coverage is one everywhere.
    v, u = np.mgrid[-1.2:1.2:481j, -1.2:1.2:481j]
    distance = shapes._OUTLINES[name](u, v)
    inside = distance < 0
    core = inside.copy()
    for shift in itertools.product((-8, 0, 8), repeat=2):  # 0.04 of the radius away from the outline
        core &= np.roll(inside, shift, axis=(0, 1))
    assert core.any()
    assert distance[core].max() < -0.01


@pytest.mark.parametrize("rng", [0, None, np.random, np.random.RandomState(0)])
def test_anything_but_a_generator_is_refused_with_the_fix(rng):
    with pytest.raises(TypeError, match=r"Did you mean rng=np\.random\.default_rng\(0\)\?"):
        colour_shapes(10, rng=rng)


def test_a_bad_count_is_named():
    with pytest.raises(ValueError, match="n is 0; it must be at least 1"):
        colour_shapes(0, rng=np.random.default_rng(0))
    with pytest.raises(TypeError, match=r"n is float 10\.0"):
        colour_shapes(10.0, rng=np.random.default_rng(0))
