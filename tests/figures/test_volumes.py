"""A drawn network has the sizes, costs and receptive fields of the network itself, whatever network it is."""

import base64

import numpy as np
import pytest

from course_lib import data, figures, nn
from course_lib.figures.lenet import NAMES
from course_lib.figures.network_layers import network_layers
from course_lib.figures.volumes import GAP, LETTER, SIGN, layout
from tests.figures.pages import read_svg, svg_texts

F64 = {"dtype": np.float64}


def rng(seed=0):
    return np.random.default_rng(seed)


NETS = {
    "today": (lambda: nn.models.lenet5(rng=rng(), **F64), (1, 32, 32)),
    "classic": (lambda: nn.models.lenet5(rng=rng(), classic=True, **F64), (1, 32, 32)),
    "colour": (lambda: nn.models.cnn_color(rng=rng(), **F64), (3, 32, 32)),
    "ragged": (
        lambda: nn.Sequential(
            nn.Conv2d(2, 3, (3, 2), stride=(2, 1), pad=(1, 0), rng=rng(), **F64), nn.LeakyReLU(),
            nn.AveragePool((2, 3), (1, 2)), nn.Conv2d(3, 4, 2, pad=1, rng=rng(), **F64), nn.Flatten(),
            nn.Dense(4 * 6 * 5, 5, rng=rng(), **F64),
        ),
        (2, 12, 11),
    ),
    "dense": (lambda: nn.Sequential(nn.Flatten(), nn.Dense(12, 4, rng=rng(), **F64), nn.Tanh()), (1, 3, 4)),
}  # fmt: skip
on_each_net = pytest.mark.parametrize("name", NETS)


def outputs(net, x):
    """Return what comes out of each layer that computes, with its activation: the image first."""
    found = [x]
    for layer in net:
        x = layer.forward(x)
        if isinstance(layer, nn.layers.Activation):
            found[-1] = x
        elif not isinstance(layer, nn.Flatten):
            found.append(x)
    return found


@on_each_net
def test_boxes_have_the_shapes_and_costs_of_the_network(name):
    make, shape = NETS[name]
    net = make()
    layers, found = network_layers(net, shape), outputs(net, rng(1).random((1, *shape)))
    assert [v.maps * v.rows * v.columns for v in layers] == [a.size for a in found]
    for v, array in zip(layers, found, strict=True):
        if array.ndim == 4:
            assert (1, v.maps, v.rows, v.columns) == array.shape
    costs = net.costs(shape)
    assert sum(v.parameters for v in layers) == sum(c.trainable for c in costs)
    assert sum(v.multiply_adds for v in layers) == sum(c.multiply_adds for c in costs)


@on_each_net
def test_a_unit_depends_on_no_pixel_outside_its_receptive_field_and_on_its_edges(name):
    """Random weights, and activations that let everything through, so that what reaches a unit changes it."""
    make, shape = NETS[name]
    net = make()
    layers, image = network_layers(net, shape), rng(2).random((1, *shape))
    before = outputs(net, image)
    for i, v in enumerate(layers):
        if i == 0 or v.rows * v.columns == 1:
            assert v.seen == ((*v.unit, 1, 1) if i == 0 else (0, 0, *shape[1:]))
            continue
        top, left, rows, columns = v.seen
        outside = np.ones(shape[1:], dtype=bool)
        outside[top : top + rows, left : left + columns] = False
        other = image + 10 * outside
        h, w = v.unit
        np.testing.assert_array_equal(outputs(net, other)[i][..., h, w], before[i][..., h, w])
        for edge in (np.s_[0], np.s_[-1], np.s_[:, 0], np.s_[:, -1]):
            inside, changes = np.zeros(shape[1:]), False
            inside[top : top + rows, left : left + columns][edge] = 1000
            for sign in (1, -1):  # a maximum or a ReLU may hide one of them
                unit = outputs(net, image + sign * inside)[i][..., h, w]
                changes |= not np.array_equal(unit, before[i][..., h, w])
            assert changes, (v.name, edge)


def test_fields_of_lenet_by_hand():
    make, shape = NETS["today"]
    layers = network_layers(make(), shape, NAMES)
    assert [v.name for v in layers] == ["input", *NAMES]
    assert [v.seen[2:] for v in layers[:6]] == [(1, 1), (5, 5), (6, 6), (14, 14), (16, 16), (32, 32)]
    assert [v.window[2:] for v in layers[1:]] == [(5, 5), (2, 2), (5, 5), (2, 2), (5, 5), (1, 1), (1, 1)]
    assert [v.shape_text for v in layers] == ["1@32", "6@28", "6@14", "16@10", "16@5", "120", "84", "10"]


@on_each_net
def test_maps_are_those_of_the_image_to_a_255th(name):
    make, shape = NETS[name]
    net, image = make(), rng(3).random(shape)
    maps = figures.network_volumes(net, shape, image=image).data["maps"]
    found = outputs(net, image[None].astype(np.float32))
    for told, array in zip(maps, found, strict=True):
        bytes_ = np.frombuffer(base64.b64decode(told["bytes"]), dtype=np.uint8)
        step = (told["high"] - told["low"]) / 255
        np.testing.assert_allclose(told["low"] + step * bytes_, array.ravel(), atol=0.5 * step + 0.006)
    best = net.predict(image[None].astype(np.float32))[0]
    assert maps[-1]["answer"] == best


def test_the_colour_network_with_its_maps_is_small_enough_for_a_page():
    net = nn.models.cnn_color(rng=rng())
    image = data.colour_shapes(1, rng=rng())[0][0]
    assert len(figures.network_volumes(net, (3, 32, 32), image=image).html) <= 100_000
    assert len(figures.network_volumes(nn.models.lenet5(rng=rng()), (1, 32, 32), image=image[:1]).html) <= 60_000


def test_the_alternative_text_states_the_finding_and_the_picture_the_chosen_layers_numbers():
    make, shape = NETS["today"]
    figure = figures.network_volumes(make(), shape, names=NAMES, chosen="C5")
    assert "Most parameters: C5, 78 % of all. Most multiply-adds: C3, 58 % of all." in figure.static.alt
    texts = svg_texts(read_svg(figure.static.src))
    assert "parameters: 48,120 (78 % of all)" in texts
    assert "multiply-adds: 48,000 (12 % of all)" in texts
    assert {"16@10", "120", "84", "C5"} <= set(texts)
    silent = figures.network_volumes(make(), shape, names=NAMES, costs=False)
    assert "multiply" not in str(silent.static.alt) + str(silent.data)[: str(silent.data).find("'geometry'")].replace(
        "'multiply_adds'", ""
    )
    assert "maps shrink from 32 x 32 to single numbers" in silent.static.alt


def test_what_is_said_of_each_layer():
    make, shape = NETS["classic"]
    said = [v["says"] for v in figures.network_volumes(make(), shape, names=NAMES).data["layers"]]
    assert said[0] == "input: 1 map of 32 x 32, the image."
    assert said[3] == (
        "C3: 16 maps of 10 x 10, 2.5 % of the parameters and 46 % of the multiply-adds. "
        "Each weight is used at 100 places."
    )
    assert said[5].endswith("Each weight is used at 1 place.")
    assert said[7] == "OUTPUT: 10 numbers, 0 % of the parameters and 0.3 % of the multiply-adds."


@on_each_net
def test_boxes_and_labels_do_not_overlap(name):
    make, shape = NETS[name]
    layers = network_layers(make(), shape)
    for width in (352, 384, 620):
        scale, height, places = layout(layers, width)
        ends = 0
        for v, (x, y) in zip(layers, places, strict=True):
            wide = max(3, v.columns * scale) + 0.5 * 0.35 * scale * v.maps
            label = max(LETTER * len(v.name), LETTER * len(v.shape_text) + SIGN * ("@" in v.shape_text))
            left, right = min(x, x + wide / 2 - label / 2), max(x + wide, x + wide / 2 + label / 2)
            assert ends <= left + 1e-9
            assert y >= 0
            ends = right + GAP / 2
        assert ends - GAP / 2 <= width + 1e-6
        assert height < 400


def test_bad_input_is_refused():
    make, shape = NETS["today"]
    net = make()
    with pytest.raises(ValueError, match=r"shape is \(32, 32\); it must be \(C, H, W\)"):
        figures.network_volumes(net, (32, 32))
    with pytest.raises(ValueError, match="there are 2 names and 7 layers"):
        figures.network_volumes(net, shape, names=["a", "b"])
    with pytest.raises(ValueError, match="chosen is 'C9'; the layers are input, C1"):
        figures.network_volumes(net, shape, names=NAMES, chosen="C9")
    with pytest.raises(ValueError, match=r"image is \(32, 32\); it must be \(1, 32, 32\)"):
        figures.network_volumes(net, shape, image=np.zeros((32, 32)))
    with pytest.raises(ValueError, match="all numbers must be finite"):
        figures.network_volumes(net, shape, image=np.full(shape, np.nan))
    with pytest.raises(ValueError, match="there are 0 names"):
        figures.network_volumes(nn.Sequential(nn.ReLU()), shape)
    big = nn.Sequential(nn.Conv2d(1, 100, 3, rng=rng()))
    with pytest.raises(ValueError, match="a page takes 70,000"):
        figures.network_volumes(big, shape, image=np.zeros(shape))
    long = nn.Sequential(*(nn.Conv2d(1, 1, 1, rng=rng()) for _ in range(12)))
    with pytest.raises(ValueError, match=r"13 boxes .* do not fit into 384 pixels"):
        figures.network_volumes(long, shape)

    class Odd(nn.Layer):
        def forward(self, x):
            return x

    with pytest.raises(TypeError, match="Odd cannot be drawn as a box"):
        figures.network_volumes(nn.Sequential(Odd()), shape)


def test_equal_networks_make_equal_figures():
    make, shape = NETS["colour"]
    one, two = (figures.network_volumes(make(), shape, image=rng(4).random(shape)).html for _ in range(2))
    assert one == two
