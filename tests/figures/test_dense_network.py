"""The drawing of a dense network: what it writes is what the network's costs are."""

import re
from urllib.parse import unquote

import numpy as np
import pytest

from course_lib import nn
from course_lib.figures.dense_network import MOST, drawing

from .pages import read_svg


def texts(picture):
    return [element.text for element in read_svg(picture.src).iter() if element.tag.endswith("text")]


def mlp(*sizes, **options):
    return nn.models.mlp(sizes, rng=np.random.default_rng(0), **options)


@pytest.mark.parametrize("sizes", [(784, 128, 10), (3, 5, 4, 2), (2, 1), (6, 7, 8, 9, 10), (11, 10, 9)])
def test_every_number_comes_from_the_costs(sizes):
    net = mlp(*sizes)
    said = texts(drawing(net))
    costs = [cost for cost in net.costs((sizes[0],)) if cost.trainable]
    assert [f"({size},)" for size in sizes] == [text for text in said if text.startswith("(")]
    for cost in costs:
        assert f"{cost.trainable:,}" in said
        assert f"{cost.multiply_adds:,}" in said
    assert said.count("ReLU") == len(sizes) - 2
    assert f"{sum(cost.trainable for cost in costs):,} trainable numbers in all" in drawing(net).alt


def test_the_network_of_the_lesson_has_101770_parameters():
    alt = drawing(mlp(784, 128, 10)).alt
    assert "784 to 128 to 10: 100,480 trainable numbers and 100,352 multiply-adds, then 1,290 trainable" in alt
    assert "101,770 trainable numbers in all" in alt


def test_other_activations_are_named():
    assert "Tanh" in texts(drawing(mlp(4, 3, 2, activation="tanh")))
    assert "Softmax" in texts(drawing(nn.Sequential(*mlp(4, 3, 2), nn.Softmax())))


@pytest.mark.parametrize("size", [1, MOST, MOST + 1, 500])
def test_small_layers_are_drawn_neuron_by_neuron_and_large_ones_with_a_gap(size):
    circles = unquote(drawing(mlp(size, 2)).src).count("<circle")
    assert circles == 2 + (size if size <= MOST else 8 + 3)


def test_the_image_the_answer_and_the_label_are_told():
    net = mlp(16, 3)
    image = np.linspace(0, 1, 16).reshape(4, 4)
    drawn = drawing(net, image=image, probabilities=np.array([0.001, 0.9985, 0.0005]), label=2, caption="c")
    assert drawn.alt.endswith("It reads the image as 1, with >99 %, and the label is 2.")
    assert {">99 %", "<1 %"} <= set(texts(drawn))
    assert drawn.caption == "c"
    sure = drawing(net, probabilities=np.array([0.0, 1.0, 0.0]), label=1)
    assert "100 %" in texts(sure)
    ink = len(re.findall("h25", unquote(drawing(net, image=np.ones((4, 4))).src)))
    assert ink == 16, "one square a pixel"
    assert "h25" not in unquote(drawing(net, image=np.zeros((4, 4))).src)


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        (lambda: drawing(nn.Sequential(nn.ReLU())), "the first layer is ReLU"),
        (lambda: drawing(nn.models.lenet5(rng=np.random.default_rng(0))), "the first layer is Conv2d"),
        (lambda: drawing(mlp(2, 2, 2, 2, 2, 2)), "5 dense layers are too many"),
        (lambda: drawing(mlp(4, 2), image=np.ones((3, 3))), r"the image has \(3, 3\) pixels and the network takes 4"),
        (lambda: drawing(mlp(4, 2), probabilities=np.ones(3) / 3), "3 probabilities for 2 outputs"),
        (lambda: drawing(mlp(4, 11), probabilities=np.ones(11) / 11), "11 probabilities for 11 outputs; at most 10"),
        (
            lambda: drawing(nn.Sequential(*mlp(4, 2), nn.RadialBasis(np.ones((3, 2))))),
            "RadialBasis.* is neither a dense layer nor an activation",
        ),
    ],
)
def test_what_has_no_place_in_the_drawing_is_refused(draw, said):
    with pytest.raises(ValueError, match=said):
        draw()
