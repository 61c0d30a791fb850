"""Training in BF16 and FP16: what is rounded and what is not, the loss scale, and that backends agree."""

import copy

import numpy as np
import pytest

from course_lib import cuda, fast, nn, reference
from course_lib.nn.precision import GROW_AFTER, LARGEST, START, LossScale, Precision, RoundedOps
from course_lib.reference.formats import round_to
from tests.backends import on_each_backend


def small_net(ops=fast, seed=0, dtype=np.float32):
    rng = np.random.default_rng(seed)
    layers = nn.Dense(6, 8, rng=rng, dtype=dtype), nn.ReLU(), nn.Dense(8, 3, rng=rng, dtype=dtype)
    return nn.Sequential(*layers, ops=ops)


def small_data(rows=64):
    rng = np.random.default_rng(1)
    x = rng.standard_normal((rows, 6)).astype(np.float32)
    return x, np.argmax(x[:, :3] + 0.1 * rng.standard_normal((rows, 3)), axis=1)


def trained(ops=fast, epochs=3, lr=0.1, **options):
    net = small_net(ops)
    rng = np.random.default_rng(2)
    history = nn.train(net, small_data(), epochs=epochs, batch_size=16, lr=lr, rng=rng, progress=False, **options)
    return {name: ops.to_host(p).copy() for name, p in net.parameters().items()}, history


class Spy:
    """A backend that keeps what its dense layers were given and gave."""

    LOSSES = fast.LOSSES

    def __init__(self):
        self.seen = []

    def __getattr__(self, name):
        return getattr(fast, name)

    def dense_forward(self, x, w, b=None):
        self.seen += [x, w, b]
        return fast.dense_forward(x, w, b)

    def dense_backward(self, dz, cache, need_dx=True):
        self.seen += [dz]
        return fast.dense_backward(dz, cache, need_dx)


@pytest.mark.parametrize("name", ["bf16", "fp16", "e4m3"])
def test_layers_compute_with_rounded_numbers_and_weights_stay_float32(name):
    spy = Spy()
    net = small_net(spy)
    before = {k: p.copy() for k, p in net.parameters().items()}
    x, _ = small_data()
    with nn.rounded(net, name):
        out = net.forward(x)
        net.backward_parameters(np.full_like(out, np.float32(0.1)))
    for array in (*spy.seen, out, *net.gradients().values()):
        np.testing.assert_array_equal(round_to(array, name), array)
    assert len(spy.seen) == 8
    for k, p in net.parameters().items():
        np.testing.assert_array_equal(p, before[k])
        if k.endswith("w"):
            assert np.any(round_to(p, name) != p)
    assert all(layer.ops is spy for layer in net)


def test_sums_within_an_operation_are_float32():
    net = nn.Sequential(nn.Dense(4096, 1, rng=np.random.default_rng(0)), ops=reference)
    net[0].params["w"][:] = 1
    with nn.rounded(net, "bf16"):
        assert net.forward(np.ones((1, 4096), np.float32)) == 4096  # a sum in BF16 would stop at 256


@pytest.mark.parametrize("name", ["bf16", "fp16"])
def test_a_step_that_is_too_small_for_the_format_still_changes_the_master_weight(name):
    net = small_net()
    before = net[0].params["w"].copy()
    data = small_data()
    nn.train(net, data, epochs=1, batch_size=64, lr=1e-4, rng=np.random.default_rng(0), progress=False, precision=name)
    after = net[0].params["w"]
    assert np.mean(after != before) > 0.9
    assert np.mean(round_to(after, name) != round_to(before, name)) < 0.3


@on_each_backend
@pytest.mark.parametrize(("name", "loose"), [("bf16", 0.05), ("fp16", 0.01)])
def test_training_ends_near_that_of_float32(ops, name, loose):
    exact, _ = trained(ops)
    found, history = trained(ops, precision=name)
    for key, p in found.items():
        assert p.dtype == np.float32
        assert 0 < np.max(np.abs(p - exact[key])) < loose
    assert history.loss[-1] < history.loss[0]


def test_float32_is_what_it_was_before_bit_for_bit():
    plain, _ = trained()
    named, history = trained(precision="float32")
    for key, p in plain.items():
        np.testing.assert_array_equal(named[key], p)
    assert (history.loss_scale, history.skipped) == ([1.0] * 3, 0)


@pytest.mark.parametrize("name", ["bf16", "fp16"])
def test_the_device_trains_as_the_host_does(name):
    host, told = trained(reference, epochs=2, precision=name)
    device, same = trained(cuda, epochs=2, precision=name)
    for key, p in host.items():
        np.testing.assert_allclose(device[key], p, rtol=0, atol=2e-3)
    assert same.loss_scale == told.loss_scale
    assert same.skipped == told.skipped


def test_convolutions_pools_and_dropout_train_in_small_formats_too():
    rng = np.random.default_rng(0)
    layers = [
        nn.Conv2d(1, 4, 3, rng=rng), nn.Tanh(), nn.MaxPool(2), nn.Conv2d(4, 4, 2, rng=rng), nn.Sigmoid(),
        nn.AveragePool(2), nn.Flatten(), nn.Dropout(0.2, rng=rng), nn.Dense(16, 3, rng=rng),
    ]  # fmt: skip
    net = nn.Sequential(*layers)
    x = rng.standard_normal((40, 1, 12, 12)).astype(np.float32)
    y = rng.integers(0, 3, 40)
    history = nn.train(net, (x, y), epochs=30, batch_size=20, lr=0.5, rng=rng, progress=False, precision="bf16")
    assert history.loss[-1] < history.loss[0] - 0.05


def tiny_gradients(loss_scale):
    """The gradient of the first weights, of a loss so small that FP16 cannot hold its gradients."""
    net = small_net()
    precision = Precision(net, "fp16", loss_scale)
    x, _ = small_data()
    with precision.rounding():
        out = net.forward(x)
    assert precision.backward(np.full_like(out, np.float32(1e-8)))
    return net.gradients()["0.w"].copy()


def test_without_a_scale_small_gradients_become_zero_and_with_it_they_do_not():
    assert not tiny_gradients(1.0).any()
    scaled = tiny_gradients(2.0**16)
    net = small_net()
    x, _ = small_data()
    out = net.forward(x)
    net.backward_parameters(np.full_like(out, np.float32(1e-8)))
    exact = net.gradients()["0.w"]
    np.testing.assert_allclose(scaled, exact, rtol=0.02, atol=np.abs(exact).max() * 1e-2)


def test_an_overflow_leaves_the_step_out_and_halves_the_scale():
    net = small_net()
    before = copy.deepcopy(net.parameters())
    precision = Precision(net, "fp16", "auto")
    x, _ = small_data()
    with precision.rounding():
        out = net.forward(x)
    assert precision.backward(np.ones_like(out)) is False  # 1 * 65,536 is beyond FP16
    assert (precision.scale.value, precision.scale.skipped) == (START / 2, 1)
    data = x, np.zeros(len(x), int)
    options = {"epochs": 1, "batch_size": 64, "lr": 0.1, "rng": np.random.default_rng(0), "progress": False}
    history = nn.train(net, data, **options, precision="fp16", loss_scale=1e9)
    assert history.skipped == 1
    for key, p in net.parameters().items():
        np.testing.assert_array_equal(p, before[key])


def test_a_scale_that_adapts_is_halved_and_doubled_between_its_limits():
    scale = LossScale("auto")
    for _ in range(GROW_AFTER - 1):
        scale.update(True)
    assert scale.value == START
    scale.update(True)
    assert scale.value == 2 * START
    scale.update(False)
    for _ in range(GROW_AFTER - 1):  # counting begins anew
        scale.update(True)
    assert scale.value == START
    for _ in range(40):
        scale.update(False)
    assert (scale.value, scale.skipped) == (1, 41)
    for _ in range(40 * GROW_AFTER):
        scale.update(True)
    assert scale.value == LARGEST


def test_a_scale_that_was_given_stays():
    scale = LossScale(1024)
    for finite in (False, *[True] * 2 * GROW_AFTER):
        scale.update(finite)
    assert (scale.value, scale.skipped) == (1024, 1)


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"precision": "half"}, ValueError, "precision is 'half'; it must be one of float32, bf16, fp16"),
        ({"precision": "fp16", "loss_scale": 0}, ValueError, "loss_scale"),
        ({"precision": "fp16", "loss_scale": "big"}, ValueError, 'a number above 0, or "auto"'),
        ({"precision": "float32", "loss_scale": 8.0}, ValueError, "loses nothing"),
    ],
)
def test_what_does_not_fit_is_refused_before_the_first_step(options, error, says):
    with pytest.raises(error, match=says):
        trained(**options)


def test_master_weights_of_float64_are_refused():
    net = small_net(dtype=np.float64)
    with pytest.raises(ValueError, match=r"0.w is float64; precision='bf16' keeps its master weights in float32"):
        Precision(net, "bf16")


def test_layers_get_their_backend_back_after_an_error():
    net = small_net()
    with pytest.raises(ValueError, match=r"x is \(2, 5\)"), nn.rounded(net, "bf16"):
        net.forward(_seen(net, np.zeros((2, 5), np.float32)))
    assert all(layer.ops is fast for layer in net)


def _seen(net, x):
    assert all(isinstance(layer.ops, RoundedOps) for layer in net)
    return x


def test_a_scale_begins_and_grows_as_it_is_told_and_train_takes_it():
    scale = LossScale("auto", start=8, grow_after=2)
    for _ in range(4):
        scale.update(True)
    assert scale.value == 32
    assert nn.LossScale is LossScale
    net, data = small_net(), small_data()
    options = {"batch_size": 64, "lr": 0.1, "rng": np.random.default_rng(0), "progress": False}
    history = nn.train(net, data, epochs=4, **options, precision="fp16", loss_scale=LossScale(start=8, grow_after=2))
    assert history.loss_scale == [8, 16, 16, 32]


@pytest.mark.parametrize("given", [{"start": 0.5}, {"start": 2.0**25}, {"start": np.nan}, {"grow_after": 0}])
def test_a_scale_that_cannot_begin_or_grow_is_refused(given):
    with pytest.raises(ValueError, match=next(iter(given))):
        LossScale("auto", **given)
