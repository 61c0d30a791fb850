"""The map of digits: what is written into the page is what the library computes, in 100 KB."""

import json

import numpy as np
import pytest

from course_lib import nn
from course_lib import reference as ops
from course_lib.figures.digit_maps import (
    ALPHABET,
    MOST,
    SIZE,
    digit_map,
    first_of_each,
    pairs,
    shades,
    wide_numbers,
)


@pytest.fixture(scope="module")
def net():
    return nn.models.lenet5(rng=np.random.default_rng(0))


@pytest.fixture(scope="module")
def digits():
    rng = np.random.default_rng(1)
    x = np.zeros((90, 1, 32, 32), dtype=np.float32)
    x[:, 0, 8:24, 10:22] = rng.random((90, 16, 12)) ** 3
    return x, np.arange(90) % 10, rng.standard_normal((90, 2))


@pytest.fixture(scope="module")
def figure(net, digits):
    return digit_map(net, *digits)


def steps(text):
    return np.array([ALPHABET.index(character) for character in text])


def test_shades_pairs_and_wide_numbers_can_be_read_again():
    values = np.linspace(-2, 2, 64)
    np.testing.assert_array_equal(steps(shades(values, -2, 2)), np.arange(64))
    np.testing.assert_array_equal(steps(shades([-9, 9], -2, 2)), [0, 63])
    image = np.random.default_rng(2).random((4, 6))
    both = steps(pairs(image))
    np.testing.assert_array_equal(np.stack([both // 8, both % 8], axis=1).ravel(), np.round(7 * image).ravel())
    assert wide_numbers([0, 63, 64, 4095]) == "AAA/BA//"


def test_the_digits_shown_are_the_first_of_each_label_and_the_surest_mistakes():
    labels = np.array([0, 1, 0, 1, 0, 1, 2])
    answers = np.array([0, 2, 0, 1, 1, 0, 0])
    sure = np.array([1, 0.5, 1, 1, 0.7, 0.9, 0.6])
    assert first_of_each(labels, answers, sure, each=1, mistakes=2) == [0, 1, 6, 5, 4]
    assert first_of_each(labels, answers, sure, each=1, mistakes=3) == [0, 1, 6, 5, 4]  # 6 is there already
    assert first_of_each(labels, answers, sure, each=0, mistakes=9) == [5, 4, 6, 1]
    assert first_of_each(labels, labels, sure, each=1) == [0, 1, 6]


def test_every_digits_pictures_are_the_librarys_numbers(net, digits, figure):
    x, labels, _ = digits
    k = ops.softmax(net.forward(x).astype(float))
    answers = k.argmax(axis=1)
    shown = figure.data
    assert shown["labels"] == "".join(map(str, labels))
    assert shown["answers"] == "".join(map(str, answers))
    assert shown["chosen"] == first_of_each(labels, answers, k.max(axis=1))
    for i, one, permille in zip(shown["chosen"], shown["digits"], shown["permille"], strict=True):
        slopes = nn.saliency(net, x[i : i + 1], int(answers[i]))[0, 0]
        inside = slopes[2:-2, 2:-2]
        drawn = (2 * steps(one["slopes"]) / 63 - 1).reshape(28, 28)
        np.testing.assert_allclose(drawn, inside / np.abs(inside).max(), atol=0.51 * 2 / 63)
        falls = nn.occlusion(net, x[i : i + 1], int(answers[i]), size=SIZE, stride=2)[0]
        drawn = (2 * steps(one["falls"]) / 63 - 1).reshape(falls.shape)
        np.testing.assert_allclose(drawn, falls / np.abs(falls).max(), atol=0.51 * 2 / 63)
        assert one["fall"] == round(falls.max(), 1)
        assert one["share"] == round(100 * np.abs(slopes)[x[i, 0] > 0.1].sum() / np.abs(slopes).sum())
        promised = nn.promised_fall(x[i : i + 1], slopes[None, None], size=SIZE, stride=2)[0]
        assert one["agree"] == pytest.approx(np.corrcoef(falls.ravel(), promised.ravel())[0, 1], abs=0.006)
        np.testing.assert_allclose(np.array(permille) / 1000, k[i], atol=0.0006)


def test_places_fill_the_map_and_keep_their_order(digits, figure):
    wide = steps(figure.data["places"]).reshape(-1, 2, 2) @ [64, 1]
    assert wide.min(axis=0).tolist() == [0, 0]
    assert wide.max(axis=0).tolist() == [4095, 4095]
    points = digits[2]
    np.testing.assert_allclose(wide / 4095, (points - points.min(axis=0)) / np.ptp(points, axis=0), atol=1e-3)


def test_the_most_digits_and_a_thousand_points_take_at_most_100_kb(net):
    rng = np.random.default_rng(3)
    x = rng.random((1000, 1, 32, 32)).astype(np.float32)
    figure = digit_map(net, x, np.arange(1000) % 10, rng.standard_normal((1000, 2)), chosen=range(1, MOST + 1))
    assert len(json.dumps(figure.data)) <= 100_000


def test_the_static_picture_says_what_is_found(digits, figure):
    share = np.mean([one["share"] for one in figure.data["digits"]])
    assert f"{share:.0f} % of it on ink on average" in figure.static.alt
    alone = nn.neighbour_accuracy(digits[2], digits[1])
    assert f"has the same label for {alone:.0%} of the digits" in figure.static.alt


def test_blank_images_and_points_in_one_place_can_be_shown(net):
    x = np.zeros((3, 1, 32, 32), dtype=np.float32)
    figure = digit_map(net, x, [0, 1, 2], np.ones((3, 2)))
    assert figure.data["first"] == len(figure.data["chosen"]) - 1
    assert [one["share"] for one in figure.data["digits"]] == [0, 0, 0]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"chosen": []}, "chosen has 0 numbers"),
        ({"chosen": [1, 1]}, "chosen has 2 numbers, 1 of them different"),
        ({"chosen": [90]}, "each below 90"),
        ({"chosen": range(61)}, "chosen has 61 numbers"),
        ({"chosen": [1, 2], "first": 3}, "first is 3"),
        ({"points": np.ones((90, 3))}, r"points is \(90, 3\)"),
        ({"x": np.ones((90, 1, 28, 28))}, r"x is \(90, 1, 28, 28\)"),
        ({"labels": np.full(90, 10)}, "10"),
    ],
)
def test_what_does_not_fit_is_named(net, digits, change, text):
    arguments = dict(zip(("x", "labels", "points"), digits, strict=True)) | change
    with pytest.raises(ValueError, match=text):
        digit_map(net, **arguments)
