"""Networks: what can be specified, what is refused, and that gradients add up where they should."""

import numpy as np
import pytest

from course_lib import fast, nn, reference
from course_lib.checks import check_network_gradients


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("activation", sorted(nn.models.ACTIVATION_LAYERS))
@pytest.mark.parametrize("sizes", [(1, 1), (3, 1, 2), (5, 7, 3, 4)])
@pytest.mark.parametrize("batch", [1, 6])
def test_gradients_of_every_network(activation, sizes, batch):
    net = nn.models.mlp(sizes, rng=rng(), activation=activation, dtype=np.float64)
    x = rng(1).standard_normal((batch, sizes[0]))
    check_network_gradients(net, x, rng(2).integers(0, sizes[-1], batch), rng=rng(3))


def test_gradients_with_options_and_another_loss():
    layers = (nn.Dense(3, 4, rng=rng(), bias=False, dtype=np.float64), nn.LeakyReLU(0.3))
    net = nn.Sequential(*layers, nn.Dense(4, 2, rng=rng(), dtype=np.float64), nn.Softmax())
    x, labels = rng(1).standard_normal((5, 3)), rng(2).integers(0, 2, 5)
    check_network_gradients(net, x, labels, rng=rng(3), loss="expected_squared_distance")
    check_network_gradients(net, x, np.eye(2)[labels], rng=rng(3), loss="half_squared_sum")


def test_gradients_add_up_until_zero_grad():
    net, x = nn.models.mlp((3, 2), rng=rng()), np.ones((2, 3), np.float32)
    net.forward(x)
    net.backward(np.ones((2, 2), np.float32))
    once = {k: g.copy() for k, g in net.gradients().items()}
    net.backward(np.ones((2, 2), np.float32))
    for name, g in net.gradients().items():
        np.testing.assert_array_equal(g, 2 * once[name])
    net.zero_grad()
    assert all((g == 0).all() for g in net.gradients().values())


def test_names_and_shapes():
    net = nn.models.mlp(rng=rng())
    assert {k: p.shape for k, p in net.parameters().items()} == {
        "0.w": (784, 128),
        "0.b": (128,),
        "2.w": (128, 10),
        "2.b": (10,),
    }
    assert net.gradients().keys() == net.parameters().keys()
    assert "101,770" in net.summary()
    assert repr(net) == "Sequential(Dense 784 -> 128, ReLU, Dense 128 -> 10)"
    assert len(net) == 3
    assert next(iter(net)) is net[0]
    assert net.ops is fast
    assert nn.models.mlp(rng=rng(), ops=reference)[0].ops is reference


def test_the_seed_decides_the_weights():
    a, b, c = (nn.models.mlp((4, 3), rng=rng(s)).parameters()["0.w"] for s in (0, 0, 1))
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)
    assert a.dtype == np.float32


def test_predict_takes_the_highest_score():
    net = nn.Sequential(nn.Dense(2, 3, rng=rng()))
    net[0].params["w"][...] = [[1, 0, 0], [0, 0, 5]]
    np.testing.assert_array_equal(net.predict(np.array([[1, 0], [1, 1]], np.float32)), [0, 2])


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: nn.Sequential(), TypeError, "at least one layer"),
        (lambda: nn.Sequential(nn.ReLU), TypeError, "forget the brackets"),
        (lambda: nn.Sequential("relu"), TypeError, r"layers\[0\] is 'relu'"),
        (lambda: nn.Sequential(*[nn.ReLU()] * 2), TypeError, "appears twice"),
        (
            lambda: nn.Sequential(nn.Dense(2, 3, rng=rng()), nn.ReLU(), nn.Dense(4, 1, rng=rng())),
            ValueError,
            r"layers\[2\] is Dense 4 -> 1, but 3 values reach it; use nn.Dense\(3, ...\)",
        ),
        (lambda: nn.Dense(0, 3, rng=rng()), ValueError, "n_in is 0"),
        (lambda: nn.Dense(2, 3, rng=7), TypeError, "numpy.random.Generator"),
        (lambda: nn.Dense(2, 3, rng=rng(), dtype=int), TypeError, "float32 or float64"),
        (lambda: nn.models.mlp((3,), rng=rng()), ValueError, "at least an input and an output"),
        (lambda: nn.models.mlp((3, 2), rng=rng(), activation="swish"), ValueError, "must be one of relu"),
        (lambda: nn.Dense(2, 2, rng=rng()).backward(np.ones((1, 2))), RuntimeError, "backward before forward"),
        (lambda: nn.Layer().forward(1), NotImplementedError, "Layer must define forward"),
        (lambda: nn.Layer().backward(1), NotImplementedError, "Layer must define backward"),
        (lambda: nn.models.mlp((3, 2), rng=rng()).forward(np.ones((4, 5))), ValueError, r"x is \(4, 5\)"),
    ],
)
def test_refused_networks(build, error, message):
    with pytest.raises(error, match=message):
        build()


def test_a_layer_without_parameters_describes_itself():
    assert nn.Dense(2, 3, rng=rng(), bias=False).describe() == "Dense 2 -> 3 (no bias)"
    assert nn.Tanh().describe() == "Tanh"


def test_weights_start_with_variance_two_over_the_inputs():  # He et al. (2015)
    w = nn.Dense(400, 300, rng=rng()).params["w"]
    np.testing.assert_allclose(w.var(), 2 / 400, rtol=0.02)
    np.testing.assert_allclose(w.mean(), 0, atol=1e-3)


def test_networks_say_what_they_were_given_instead():
    with pytest.raises(TypeError, match=r"nn\.Sequential\(\*layers\), with a star"):
        nn.Sequential([nn.ReLU(), nn.Tanh()])
    with pytest.raises(TypeError, match="ops is 'fast'; it must be a backend"):
        nn.Sequential(nn.ReLU(), ops="fast")
    with pytest.raises(TypeError, match=r"sizes is 4; it must be a sequence of whole numbers"):
        nn.models.mlp(4, rng=np.random.default_rng(0))
    assert nn.Sequential(nn.ReLU()).classes([[1.0, 2.0], [3.0, 0.0]]).tolist() == [1, 0]
