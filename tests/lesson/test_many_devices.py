"""Lesson 18's counts: AlexNet as in its paper, and LeNet-5's backward pass as it was measured."""

import numpy as np
import pytest

from course_lib import nn
from course_lib.lesson import alexnet, backward_layers


def test_alexnet_has_the_papers_sixty_million_parameters():
    layers = alexnet()
    assert [layer.parameters for layer in layers] == [
        34_944, 307_456, 885_120, 663_936, 442_624, 37_752_832, 16_781_312, 4_097_000,
    ]  # fmt: skip
    assert sum(layer.parameters for layer in layers) == 60_965_224


def test_its_streams_meet_in_layer_3_and_in_the_dense_ones():
    found = {layer.name: layer.crosses for layer in alexnet() if layer.crosses}
    assert found == {"3, convolution": 128 * 13 * 13, "6, dense": 128 * 36, "7, dense": 2048, "8, dense": 2048}


@pytest.mark.parametrize("network", ["LeNet-5", "MLP 784-128-10"])
def test_layers_come_last_first_and_have_all_gradients(network):
    layers = backward_layers(network)
    net = (nn.models.lenet5 if network == "LeNet-5" else nn.models.mlp)(rng=np.random.default_rng(0))
    assert sum(layer.nbytes for layer in layers) == sum(p.nbytes for p in net.parameters().values())
    assert layers[0].name.startswith("Dense")
    assert layers[0].name.endswith("-> 10")
    assert all(layer.seconds > 0 for layer in layers)
    for layer, of_net in zip(layers, reversed(list(net)), strict=True):
        assert layer.nbytes == sum(g.nbytes for g in of_net.grads.values())
        assert layer.name.split()[0] == type(of_net).__name__


def test_networks_that_were_not_measured_are_refused():
    with pytest.raises(LookupError, match="'AlexNet' was measured"):
        backward_layers("AlexNet")
