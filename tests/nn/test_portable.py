"""Networks, and what belongs to them, go through copy and pickle, and work in another process."""

import copy
import pickle
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

from course_lib import cuda, fast, nn, reference

EVERY_BACKEND = pytest.mark.parametrize(
    "ops", [reference, fast, pytest.param(cuda, marks=pytest.mark.slow)], ids=["reference", "fast", "cuda"]
)


def rng(seed=0):
    return np.random.default_rng(seed)


def net_of_every_layer(ops=fast):
    """Each kind of layer once, with what it holds besides its parameters."""
    return nn.Sequential(
        nn.Conv2d(1, 2, 3, rng=rng()), nn.ReLU(), nn.MaxPool(2), nn.Tanh(), nn.Subsample(2),
        nn.Conv2d(2, 2, 2, rng=rng(), connections=np.array([[True, False], [True, True]])), nn.LeakyReLU(0.1),
        nn.AveragePool(1), nn.Sigmoid(), nn.Softplus(), nn.Flatten(), nn.Dense(8, 4, rng=rng()),
        nn.RadialBasis(np.sign(rng(1).standard_normal((3, 4)))), ops=ops,
    )  # fmt: skip


X, Y = rng(2).random((4, 1, 14, 14), dtype=np.float32), np.arange(4) % 3


def trained(net):
    nn.train(net, (X, Y), epochs=1, batch_size=2, lr=0.01, rng=rng(), loss="rbf_loss", progress=False)
    return [net.ops.to_host(p).copy() for p in net.parameters().values()]


def gone_through(kind, thing):
    return pickle.loads(pickle.dumps(thing, protocol=int(kind))) if kind.isdigit() else copy.deepcopy(thing)


@EVERY_BACKEND
@pytest.mark.parametrize("kind", ["2", "4", "5", "deepcopy"])
def test_a_network_comes_back_with_equal_weights_and_trains_to_equal_bits(ops, kind):
    net = net_of_every_layer(ops)
    trained(net)  # caches, gradients and masks are filled
    other = gone_through(kind, net)
    assert other.ops is ops
    assert all(layer.ops is ops for layer in other)
    assert repr(other) == repr(net)
    for name, p in net.parameters().items():
        np.testing.assert_array_equal(ops.to_host(other.parameters()[name]), ops.to_host(p))
        np.testing.assert_array_equal(ops.to_host(other.gradients()[name]), ops.to_host(net.gradients()[name]))
        assert other.parameters()[name] is not p
    for one, two in zip(trained(net), trained(other), strict=True):
        np.testing.assert_array_equal(one, two)


def test_a_pickled_network_needs_a_forward_pass_before_a_backward_one():
    net = net_of_every_layer()
    out = net.forward(X)
    with pytest.raises(RuntimeError, match="backward before forward"):
        gone_through("5", net).backward(np.ones_like(out))
    net.backward(np.ones_like(out))


def test_a_network_works_in_another_process():
    """What joblib and multiprocessing do: the other side knows nothing but the pickle."""
    net = net_of_every_layer()
    code = "import pickle, sys; net, x = pickle.load(sys.stdin.buffer); print(net.predict(x).tolist())"
    root = Path(__file__).parents[2]
    told = subprocess.run(
        [sys.executable, "-c", code],
        input=pickle.dumps((net, X)),
        capture_output=True,
        check=True,
        cwd=root,
        timeout=300,
    )
    assert told.stdout.decode().strip() == str(net.predict(X).tolist())


def test_a_backend_that_has_no_name_elsewhere_is_told():
    net = nn.models.mlp((2, 3), rng=rng())
    net.use = net.ops = types.SimpleNamespace(**vars(reference))
    with pytest.raises(TypeError, match=r"cannot be pickled: no module of that name.*nn\.save_weights\(net, path\)"):
        pickle.dumps(net)


@pytest.mark.parametrize("kind", ["4", "5", "deepcopy"])
def test_what_belongs_to_a_network_comes_back_too(kind):
    net = nn.models.mlp((4, 5, 3), rng=rng())
    x, y = rng().random((6, 4), dtype=np.float32), np.arange(6) % 3
    history = nn.train(net, (x, y), epochs=2, batch_size=3, lr=0.1, rng=rng(), progress=False)
    assert gone_through(kind, history) == history
    assert gone_through(kind, nn.evaluate(net, x, y)) == nn.evaluate(net, x, y)
    assert gone_through(kind, net.costs((4,))) == net.costs((4,))
    mistakes = nn.worst_mistakes(net, x, y)
    np.testing.assert_array_equal(gone_through(kind, mistakes).index, mistakes.index)
    images = rng().random((2, 1, 6, 6), dtype=np.float32)
    shift = nn.random_shifts(2)
    np.testing.assert_array_equal(gone_through(kind, shift)(images, rng(3)), shift(images, rng(3)))
    for prior in (nn.decay(0.1), nn.blur(0.2)):
        np.testing.assert_array_equal(gone_through(kind, prior)(images), prior(images))


def test_a_shallow_copy_shares_its_arrays():
    net = nn.models.mlp((2, 3), rng=rng())
    assert copy.copy(net).layers is net.layers
    assert copy.copy(net[0]).params is net[0].params
    leaf = nn.graph.variable(np.ones(2))
    assert copy.copy(leaf).value is leaf.value
