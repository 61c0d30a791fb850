"""Layers for images, LeNet-5 and its costs: sizes, gradients, the connection table, what is refused."""

import numpy as np
import pytest

from course_lib import nn
from course_lib.checks import check_network_gradients
from course_lib.nn.models import C3_CONNECTIONS, c3_table


def rng(seed=0):
    return np.random.default_rng(seed)


def small_net(*layers, inputs, classes=3):
    dense = nn.Dense(inputs, classes, rng=rng(9), dtype=np.float64)
    return nn.Sequential(*layers, nn.Flatten(), dense)


F64 = {"dtype": np.float64}


@pytest.mark.parametrize(
    ("layers", "inputs"),
    [
        ((nn.Conv2d(2, 3, 3, rng=rng(), **F64), nn.Tanh()), 3 * 5 * 4),
        ((nn.Conv2d(2, 3, (2, 3), rng=rng(), stride=(2, 1), pad=(1, 0), bias=False, **F64), nn.Tanh()), 3 * 4 * 4),
        ((nn.MaxPool(2),), 2 * 3 * 3),
        ((nn.MaxPool(3, stride=2, pad=1),), 2 * 4 * 3),
        ((nn.AveragePool((2, 3)), nn.Sigmoid()), 2 * 3 * 2),
        ((nn.Subsample(2, **F64), nn.Tanh()), 2 * 3 * 3),
        ((nn.Conv2d(2, 2, 3, rng=rng(), connections=[[True, False], [True, True]], **F64), nn.Tanh()), 2 * 5 * 4),
    ],
)
def test_gradients_of_every_image_layer_and_its_announced_shape(layers, inputs):
    net = small_net(*layers, inputs=inputs)
    x = rng(1).permutation(4 * 2 * 7 * 6).reshape(4, 2, 7, 6) / 100.0
    shape = (2, 7, 6)
    for layer in net:
        x_out = layer.forward(x if layer is net[0] else x_out)  # noqa: F821 - set in the first round
        shape = layer.output_shape(shape)
        assert shape == x_out.shape[1:]
    if any(isinstance(layer, nn.Conv2d) and not layer.connections.all() for layer in net):
        _check_only_connected(net, x)
    check_network_gradients(net, x, np.array([0, 1, 2, 0]), rng=rng(3))


def _check_only_connected(net, x):
    """A weight outside the table has no gradient, though the loss would change with it."""
    out = net.forward(x)
    net.zero_grad()
    net.backward(rng(2).standard_normal(out.shape))
    missing = ~net[0].connections
    assert np.all(net.gradients()["0.w"][missing] == 0)
    assert np.all(net.gradients()["0.w"][net[0].connections] != 0)
    assert np.all(net.parameters()["0.w"][missing] == 0)


def test_a_masked_weight_stays_zero_in_training():
    net = nn.models.lenet5(rng=rng(), classic=True)
    x, y = rng(1).random((8, 1, 32, 32), dtype=np.float32), np.arange(8)
    nn.train(net, (x, y), epochs=2, batch_size=4, lr=0.01, momentum=0.9, rng=rng(), loss="rbf_loss", progress=False)
    assert np.all(net[4].params["w"][~c3_table()] == 0)


def test_classic_lenet5_has_sixty_thousand_parameters():  # H
    net = nn.models.lenet5(rng=rng(), classic=True)
    costs = {cost.layer: cost for cost in net.costs((1, 32, 32))}
    assert costs["Conv2d 6 -> 16, 5x5"].trainable == 1516
    assert costs["Conv2d 6 -> 16, 5x5"].output_shape == (16, 10, 10)
    assert sum(cost.trainable for cost in net.costs((1, 32, 32))) == 60_000
    assert "60,000" in net.summary((1, 32, 32))
    assert np.array(C3_CONNECTIONS, dtype=object).shape == (16,)
    assert c3_table().sum() == 60


def test_todays_lenet5_sizes():
    net = nn.models.lenet5(rng=rng())
    shapes = [cost.output_shape for cost in net.costs((1, 32, 32))]
    assert shapes == [
        (6, 28, 28), (6, 28, 28), (6, 14, 14), (16, 10, 10), (16, 10, 10), (16, 5, 5),
        (120, 1, 1), (120, 1, 1), (120,), (84,), (84,), (10,),
    ]  # fmt: skip
    assert sum(cost.trainable for cost in net.costs((1, 32, 32))) == 61_706
    assert net.forward(np.zeros((2, 1, 32, 32), np.float32)).shape == (2, 10)


def test_the_same_layers_run_on_colour_images():  # K
    net = nn.models.cnn_color(rng=rng())
    assert net.costs((3, 32, 32))[-1].output_shape == (10,)
    assert net.forward(np.zeros((2, 3, 32, 32), np.float32)).shape == (2, 10)


@pytest.mark.parametrize(("classic", "scaled"), [(False, False), (True, False), (True, True)])
def test_gradients_of_lenet5(classic, scaled):
    net = nn.models.lenet5(rng=rng(), classic=classic, scaled=scaled, dtype=np.float64)
    loss = "rbf_loss" if classic else "softmax_cross_entropy"
    x, labels = rng(1).standard_normal((2, 1, 32, 32)), np.array([3, 7])
    out = net.forward(x)
    _, cache = getattr(net.ops, f"{loss}_forward")(out, labels)
    net.zero_grad()
    dx = net.backward(getattr(net.ops, f"{loss}_backward")(cache))
    direction = rng(2).standard_normal(x.shape)
    ends = [getattr(net.ops, f"{loss}_forward")(net.forward(x + e * direction), labels)[0] for e in (1e-6, -1e-6)]
    np.testing.assert_allclose((ends[0] - ends[1]) / 2e-6, np.sum(dx * direction), rtol=1e-5)


def test_only_the_activation_differs_between_the_two_classic_ones():
    plain, scaled = (nn.models.lenet5(rng=rng(), classic=True, scaled=s) for s in (False, True))
    for ours, its in zip(plain.parameters().values(), scaled.parameters().values(), strict=True):
        np.testing.assert_array_equal(ours, its)
    kinds = [(type(a), type(b)) for a, b in zip(plain, scaled, strict=True) if type(a) is not type(b)]
    assert kinds == 6 * [(nn.Tanh, nn.ScaledTanh)]
    with pytest.raises(ValueError, match="scaled=True needs classic=True"):
        nn.models.lenet5(rng=rng(), scaled=True)


def test_distances_are_predicted_by_the_smallest():
    net = nn.Sequential(nn.RadialBasis(np.array([[0.0, 0.0], [3.0, 0.0]])))
    np.testing.assert_array_equal(net.predict(np.array([[0.5, 0.0], [2.0, 0.0]])), [0, 1])
    assert net[0].multiply_adds((2,)) == 4


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: nn.Conv2d(1, 2, 3, rng=0), TypeError, r"numpy\.random\.Generator"),
        (lambda: nn.Conv2d(1, 2, 3, rng=rng(), dtype=int), TypeError, "float32 or float64"),
        (lambda: nn.Subsample(2, dtype=int), TypeError, "float32 or float64"),
        (lambda: nn.Conv2d(1, 2, 0, rng=rng()), ValueError, "mask is 0"),
        (lambda: nn.Conv2d(2, 1, 3, rng=rng(), connections=[[True]]), ValueError, "one row for each of the 1 output"),
        (lambda: nn.Conv2d(1, 1, 3, rng=rng(), connections=[[False]]), ValueError, "sees no input map"),
        (lambda: nn.Conv2d(1, 1, 3, rng=rng()).output_shape((2, 9, 9)), ValueError, r"use nn.Conv2d\(2, 1"),
        (lambda: nn.Conv2d(1, 1, 9, rng=rng()).output_shape((1, 5, 5)), ValueError, "it fits nowhere"),
        (lambda: nn.MaxPool(2).output_shape((25,)), ValueError, "put it before Flatten"),
        (lambda: nn.Subsample(3).output_shape((2, 4, 4)), ValueError, r"use nn.Subsample\(2"),
        (lambda: nn.Dense(4, 2, rng=rng()).output_shape((1, 2, 2)), ValueError, r"Put nn.Flatten\(\) before it"),
        (lambda: nn.RadialBasis(np.ones((2, 3))).output_shape((4,)), ValueError, "its prototypes are"),
    ],
)
def test_refused_image_layers(build, error, message):
    with pytest.raises(error, match=message):
        build()


def test_descriptions():
    assert nn.Conv2d(1, 6, 5, rng=rng(), stride=2, pad=1).describe() == "Conv2d 1 -> 6, 5x5, stride 2x2, pad 1x1"
    assert [layer.describe() for layer in (nn.MaxPool(2), nn.AveragePool((2, 3)), nn.Subsample(6))] == [
        "MaxPool 2x2",
        "AveragePool 2x3",
        "Subsample 6 maps, 2x2",
    ]
    assert nn.RadialBasis(np.ones((10, 84))).describe() == "RadialBasis 84 -> 10"
    assert nn.Subsample(6).multiply_adds((6, 28, 28)) == 6 * 14 * 14


def test_random_shifts_move_whole_images_and_fill_with_zeros():
    x = np.zeros((50, 2, 9, 9))
    x[:, 0, 4, 4], x[:, 1, 4, 5] = 1, 2
    moved = nn.random_shifts(2)(x, rng())
    assert moved.shape == x.shape
    seen = set()
    for image in moved:
        (r,), (c,) = np.nonzero(image[0])
        np.testing.assert_array_equal(np.argwhere(image[1]), [[r, c + 1]])  # both maps move together
        assert image.sum() == 3
        seen.add((int(r) - 4, int(c) - 4))
    assert len(seen) > 15
    assert max(max(abs(a), abs(b)) for a, b in seen) == 2
    edge = np.ones((20, 1, 3, 3))
    assert nn.random_shifts(1)(edge, rng()).sum() < edge.sum()
    np.testing.assert_array_equal(nn.random_shifts(0)(x, rng()), x)
    with pytest.raises(ValueError, match="most is -1"):
        nn.random_shifts(-1)
    with pytest.raises(ValueError, match="it must have 4"):
        nn.random_shifts(1)(np.ones((2, 9)), rng())


def test_augmentation_is_used_in_training_only():
    seen = []

    def augment(x, generator):
        seen.append((len(x), generator))
        return x

    x, y = rng(1).random((10, 1, 8, 8), dtype=np.float32), np.arange(10) % 2
    net = nn.Sequential(nn.Flatten(), nn.Dense(64, 2, rng=rng()))
    generator = rng(4)
    nn.train(
        net, (x, y), epochs=2, batch_size=4, lr=0.1, rng=generator, augment=augment, validation=(x, y), progress=False
    )
    assert [n for n, _ in seen] == [4, 4, 2] * 2
    assert all(g is generator for _, g in seen)
