"""Every layer's gradient in float64 through either backend, alone (tests/reference) and in the course's networks."""

import itertools

import numpy as np
import pytest

from course_lib import nn
from course_lib.checks import check_network_gradients, check_op_gradients
from tests.cases import all_of

from ..backends import on_each_backend


def rng(seed=0):
    return np.random.default_rng(seed)


@on_each_backend
@all_of(("stride", "pad"), list(itertools.product(itertools.product((1, 2, 3), repeat=2), (0, 1, 2))))
def test_convolution_gradients_for_every_mask(ops, stride, pad):
    for mask, (B, C, M) in zip([(1, 1), (3, 3), (2, 5), (5, 3), (5, 5)], [(1, 1, 1), (1, 3, 2), (3, 2, 3)] * 2):  # noqa: B905
        args = [rng(1).standard_normal((B, C, 7, 9)), rng(2).standard_normal((M, C, *mask)), rng(3).standard_normal(M)]
        check_op_gradients(lambda *a: ops.conv2d_forward(*a, stride, pad), ops.conv2d_backward, args, rng=rng(4))


@on_each_backend
@all_of("shape", [(1, 1, 5, 5), (1, 3, 7, 9), (5, 2, 9, 7)])
@all_of("kind", ["relu", "leaky_relu", "max_pool", "average_pool", "subsample", "covering conv2d"])
def test_gradients_of_the_other_image_layers(ops, kind, shape):
    x = rng(1).permutation(np.prod(shape)).reshape(shape) / 10 - 2.03  # all different, none at ReLU's kink
    forward, backward = (getattr(ops, f"{kind.split()[-1]}_{way}") for way in ("forward", "backward"))
    if kind == "subsample":
        args = [x, rng(2).standard_normal(shape[1]), rng(3).standard_normal(shape[1])]
        check_op_gradients(lambda *a: forward(*a, (3, 2)), backward, args, rng=rng(4))
    elif kind == "covering conv2d":
        args = [x, rng(2).standard_normal((3, *shape[1:])), rng(3).standard_normal(3)]
        check_op_gradients(forward, backward, args, rng=rng(4))
    elif "pool" in kind:
        for size, stride, pad in itertools.product((2, 3, (1, 4)), (1, 2, 3), (0, (0, 1))):
            check_op_gradients(lambda a, o=(size, stride, pad): forward(a, *o), backward, [x], rng=rng(4))
    else:
        check_op_gradients(forward, backward, [x], rng=rng(4))


@on_each_backend
@pytest.mark.parametrize("model", ["lenet5", "cnn_color"])
def test_gradients_of_the_networks(ops, model):
    net = getattr(nn.models, model)(rng=rng(), ops=ops, dtype=np.float64)
    for name, p in net.parameters().items():  # biases of 0 would leave dark corners on ReLU's kink
        if name.endswith("b"):
            p[...] = rng(5).standard_normal(p.shape) / 10
    x = rng(1).standard_normal((3, 1 if model == "lenet5" else 3, 32, 32))
    check_network_gradients(net, x, np.array([3, 7, 0]), rng=rng(3))


@on_each_backend
def test_gradients_of_the_classic_lenet5(ops):
    """Weights outside C3's table have no gradient: only directions within the table are measured."""
    net = nn.models.lenet5(rng=rng(), classic=True, ops=ops, dtype=np.float64)
    x, labels = rng(1).standard_normal((3, 1, 32, 32)), np.array([3, 7, 0])

    def loss():
        return ops.rbf_loss_forward(net.forward(x), labels)

    value, cache = loss()
    net.zero_grad()
    dx = net.backward(ops.rbf_loss_backward(cache))
    places = {**net.parameters(), "x": x}
    gradients = {name: g.copy() for name, g in net.gradients().items()} | {"x": dx}
    table = nn.models.c3_table()[:, :, None, None]
    assert not gradients["4.w"][~np.broadcast_to(table, gradients["4.w"].shape)].any()
    for name, array in places.items():
        direction = rng(2).standard_normal(array.shape) * (table if name == "4.w" else 1)
        ends = []
        for step in (1e-6, -2e-6):
            array += step * direction
            ends.append(loss()[0])
        array += 1e-6 * direction
        np.testing.assert_allclose(
            (ends[0] - ends[1]) / 2e-6, np.sum(gradients[name] * direction), rtol=1e-5, atol=1e-8 * value, err_msg=name
        )


NETWORKS = {
    "lenet5": lambda ops: nn.models.lenet5(rng=rng(), ops=ops),
    "classic lenet5": lambda ops: nn.models.lenet5(rng=rng(), classic=True, ops=ops),
    "cnn_color": lambda ops: nn.models.cnn_color(rng=rng(), ops=ops),
    "mlp": lambda ops: nn.models.mlp((3 * 32, 20, 10), rng=rng(), ops=ops),
    "a first layer without parameters": lambda ops: nn.Sequential(
        nn.Flatten(), nn.Dense(1024, 10, rng=rng()), nn.ReLU(), ops=ops
    ),
    "one layer": lambda ops: nn.Sequential(nn.Dense(96, 10, rng=rng()), ops=ops),
}


@on_each_backend
@pytest.mark.parametrize("name", NETWORKS)
def test_backward_parameters_gives_the_gradients_of_backward(ops, name):
    net = NETWORKS[name](ops)
    shape = (96,) if isinstance(net[0], nn.Dense) else (3 if name == "cnn_color" else 1, 32, 32)
    x = rng(1).standard_normal((5, *shape)).astype(np.float32)
    dout = rng(2).standard_normal(net.forward(x).shape).astype(np.float32)
    assert net.backward(dout).shape == x.shape
    expected = {key: g.copy() for key, g in net.gradients().items()}
    net.zero_grad()
    assert net.backward_parameters(dout) is None
    assert any(g.any() for g in net.gradients().values())
    for key, g in net.gradients().items():
        np.testing.assert_array_equal(g, expected[key])
    net.backward_parameters(dout)
    for key, g in net.gradients().items():  # gradients add up, as in backward
        np.testing.assert_array_equal(g, 2 * expected[key])


@on_each_backend
def test_training_leaves_out_the_gradient_of_the_images(ops, monkeypatch):
    asked = []
    for name in ("conv2d_backward", "dense_backward"):
        original = getattr(ops, name)

        def backward(dout, cache, need_dx=True, *, name=name, original=original):
            asked.append((name, need_dx))
            return original(dout, cache, need_dx)

        monkeypatch.setattr(ops, name, backward)
    net = nn.models.lenet5(rng=rng(), ops=ops)
    x, y = rng(1).random((4, 1, 32, 32), dtype=np.float32), np.arange(4)
    nn.train(net, (x, y), epochs=1, batch_size=4, lr=0.01, rng=rng(), progress=False)
    dense, conv = ("dense_backward", True), ("conv2d_backward", True)
    assert asked == [dense, dense, conv, conv, ("conv2d_backward", False)]


@pytest.mark.parametrize("classic", [False, True])
def test_both_backends_train_to_the_same_weights_but_for_rounding(classic):
    from course_lib import fast, reference

    x, y = rng(1).random((24, 1, 32, 32)), np.arange(24) % 10
    nets = [nn.models.lenet5(rng=rng(), classic=classic, ops=ops, dtype=np.float64) for ops in (reference, fast)]
    loss = "rbf_loss" if classic else "softmax_cross_entropy"
    for net in nets:
        nn.train(
            net, (x, y), epochs=2, batch_size=7, lr=0.001, momentum=0.9, rng=rng(3), loss=loss, progress=False
        )  # fmt: skip
    for one, other in zip(nets[0].parameters().values(), nets[1].parameters().values(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
