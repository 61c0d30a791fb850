"""Every layer, forward and all gradients, against PyTorch: another implementation, by other people."""

import itertools

import numpy as np
import pytest

from course_lib import nn
from course_lib.checks import product_tolerance

from ..backends import on_each_backend

torch = pytest.importorskip("torch", reason="PyTorch, an optional extra (pip install .[torch]), is not here")
F = torch.nn.functional

on_each_type = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def normal(seed, *shape, dtype=np.float64):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def with_torch(function, arrays, dout=None):
    """Return (out, [gradients of arrays]) of a PyTorch function, for the upstream gradient `dout` (None for a loss)."""
    leaves = [torch.from_numpy(np.array(a)).requires_grad_() for a in arrays]
    out = function(*leaves)
    out.backward(None if dout is None else torch.from_numpy(np.array(dout)))
    return out.detach().numpy(), [leaf.grad.numpy() for leaf in leaves]


def assert_close(got, want, factor=1):
    """Float64 within 1e-10. Float32 within `factor` roundings of the largest number: the sums here are short."""
    assert got.dtype == want.dtype
    allowed = 1e-10 if want.dtype == np.float64 else factor * 2.0**-23 * max(1, np.abs(want).max(initial=0))
    np.testing.assert_allclose(got, want, rtol=0, atol=allowed)


def assert_same_sums(got, want, magnitude, terms):
    """As `product_tolerance`, twice, since both round: `magnitude` is the same sum of absolute values."""
    unit = product_tolerance(np.ones((1, terms)), np.ones((terms, 1)), got.dtype)[0, 0] / terms
    assert got.dtype == want.dtype
    allowed = 1e-10 if want.dtype == np.float64 else 2 * unit * magnitude + 1e-30
    assert np.all(np.abs(got.astype(np.float64) - want) <= allowed), np.abs(got - want).max()


def check_convolution(forward, backward, torch_function, x, w, b, stride, pad):
    """Compare y, dx, dw and db; the magnitudes are PyTorch's own results for absolute values in float64."""
    arrays = [a for a in (x, w, b) if a is not None]
    y, cache = forward(x, w, b, stride, pad)
    dy = normal(3, *y.shape, dtype=y.dtype)
    dx, dw, db = backward(dy, cache)

    def function(x, w, b=None):
        return torch_function(x, w, b, stride=stride, padding=pad)

    want, gradients = with_torch(function, arrays, dy)
    size, sizes = with_torch(function, [np.abs(a).astype(np.float64) for a in arrays], np.abs(dy).astype(np.float64))
    taps, places = w[0].size + 1, dy.size // dy.shape[1]
    assert_same_sums(y, want, size, taps)
    for got, grad, magnitude, terms in zip(
        (dx, dw, db), gradients, sizes, (w.size // w.shape[1], places, places), strict=False
    ):
        assert_same_sums(got, grad, magnitude, terms)
    assert (db is None) == (b is None)


@on_each_backend
@on_each_type
@pytest.mark.parametrize(("stride", "pad"), list(itertools.product((1, 2, 3, (2, 1), (1, 3)), (0, 1, 2, (1, 0)))))
def test_conv2d(ops, dtype, stride, pad):
    cases = [  # B, C, H, W, M, mask
        (1, 1, 5, 5, 1, (1, 1)),
        (1, 3, 7, 9, 2, (3, 3)),
        (5, 2, 9, 6, 3, (2, 5)),
        (4, 6, 14, 14, 16, (5, 5)),
        (3, 2, 11, 8, 5, (5, 3)),
        (7, 16, 5, 5, 12, (5, 5)),
    ]
    for (B, C, H, W, M, mask), bias in itertools.product(cases, (True, False)):
        x, w = normal(0, B, C, H, W, dtype=dtype), normal(1, M, C, *mask, dtype=dtype)
        b = normal(2, M, dtype=dtype) if bias else None
        check_convolution(ops.conv2d_forward, ops.conv2d_backward, F.conv2d, x, w, b, stride, pad)


@on_each_type
@pytest.mark.parametrize("form", ["loops", "windows"])
def test_the_other_forms_of_conv2d(form, dtype):
    from course_lib import reference

    forward, backward = (getattr(reference, f"conv2d_{way}_{form}") for way in ("forward", "backward"))
    x, w, b = normal(0, 2, 2, 5, 6, dtype=dtype), normal(1, 3, 2, 3, 2, dtype=dtype), normal(2, 3, dtype=dtype)
    for stride, pad in ((1, 0), (2, 1), ((1, 2), (2, 0))):
        check_convolution(forward, backward, F.conv2d, x, w, b, stride, pad)


@on_each_backend
@on_each_type
@pytest.mark.parametrize(("stride", "pad"), list(itertools.product((1, 2, 3), (0, 1, 2))))
@pytest.mark.parametrize("n", [1, 3])
def test_conv1d_and_conv3d(ops, dtype, n, stride, pad):
    shape, mask = ((11,), (4,)) if n == 1 else ((5, 7, 4), (2, 3, 1))
    forward, backward = getattr(ops, f"conv{n}d_forward"), getattr(ops, f"conv{n}d_backward")
    for B, bias in itertools.product((1, 4), (True, False)):
        x, w = normal(0, B, 2, *shape, dtype=dtype), normal(1, 3, 2, *mask, dtype=dtype)
        b = normal(2, 3, dtype=dtype) if bias else None
        check_convolution(forward, backward, getattr(F, f"conv{n}d"), x, w, b, stride, pad)


POOLS = [(2, None, 0), (2, 1, 1), (3, 2, 1), ((3, 2), (1, 2), (1, 0)), ((1, 4), 3, (0, 2)), (5, 5, 2)]


@on_each_backend
@on_each_type
@pytest.mark.parametrize(("size", "stride", "pad"), POOLS)
@pytest.mark.parametrize("kind", ["max_pool", "average_pool"])
@pytest.mark.parametrize("shape", [(1, 1, 7, 9), (5, 3, 10, 11)])
def test_pooling(ops, dtype, kind, shape, size, stride, pad):
    """Without ties. PyTorch's average counts padding as zeros too (count_include_pad) and rounds sizes down."""
    x = (np.random.default_rng(0).permutation(int(np.prod(shape))).reshape(shape) / 7 - 3).astype(dtype)
    assert len(np.unique(x)) == x.size
    y, cache = getattr(ops, f"{kind}_forward")(x, size, stride, pad)
    dy = normal(1, *y.shape, dtype=dtype)
    function = F.max_pool2d if kind == "max_pool" else F.avg_pool2d
    want, (dx,) = with_torch(lambda x: function(x, size, stride, pad), [x], dy)
    np.testing.assert_array_equal(y, want) if kind == "max_pool" else assert_close(y, want, 4)
    assert_close(getattr(ops, f"{kind}_backward")(dy, cache), dx, 4)


@on_each_backend
def test_of_tied_values_the_first_wins_in_pytorch_too(ops):
    """On a CPU both keep the value they saw first. (Of several NaN they need not agree.)"""
    x = np.random.default_rng(0).integers(0, 3, (4, 2, 9, 8)).astype(np.float64)
    for size, stride, pad in POOLS:
        y, cache = ops.max_pool_forward(x, size, stride, pad)
        dy = normal(1, *y.shape)
        want, (dx,) = with_torch(lambda x, o=(size, stride, pad): F.max_pool2d(x, *o), [x], dy)
        np.testing.assert_array_equal(y, want)
        assert_close(ops.max_pool_backward(dy, cache), dx)


@on_each_backend
@on_each_type
def test_subsampling_is_an_average_with_two_numbers_a_map(ops, dtype):
    x, w, b = normal(0, 5, 3, 9, 7, dtype=dtype), normal(1, 3, dtype=dtype), normal(2, 3, dtype=dtype)
    for size in (2, 3, (2, 3)):
        y, cache = ops.subsample_forward(x, w, b, size)
        dy = normal(3, *y.shape, dtype=dtype)
        n = int(np.prod(np.broadcast_to(size, 2)))

        def function(x, w, b, size=size, n=n):
            return w[:, None, None] * (n * F.avg_pool2d(x, size)) + b[:, None, None]

        want, gradients = with_torch(function, [x, w, b], dy)
        assert_close(y, want, 8)
        for got, grad in zip(ops.subsample_backward(dy, cache), gradients, strict=True):
            assert_close(got, grad, 16)  # w's and b's are sums over 60 places


@on_each_backend
@on_each_type
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("B", "D", "M"), [(1, 1, 1), (7, 13, 9), (64, 120, 84)])
def test_dense(ops, dtype, bias, B, D, M):
    arrays = [normal(0, B, D, dtype=dtype), normal(1, D, M, dtype=dtype)] + [normal(2, M, dtype=dtype)] * bias
    z, cache = ops.dense_forward(*arrays)
    dz = normal(3, *z.shape, dtype=dtype)

    def function(x, w, b=None):
        return F.linear(x, w.T, b)

    want, gradients = with_torch(function, arrays, dz)
    size, sizes = with_torch(function, [np.abs(a).astype(np.float64) for a in arrays], np.abs(dz).astype(np.float64))
    assert_same_sums(z, want, size, D + 1)
    for got, grad, magnitude, terms in zip(ops.dense_backward(dz, cache), gradients, sizes, (M, B, B), strict=bias):
        assert_same_sums(got, grad, magnitude, terms)


ACTIVATIONS = {
    "relu": F.relu,
    "leaky_relu": F.leaky_relu,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "softplus": F.softplus,
    "softmax": lambda z: F.softmax(z, dim=1),
    "identity": lambda z: z * 1,
}


@on_each_backend
@on_each_type
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(ops, dtype, name):
    z = 3 * normal(0, 40, 7, dtype=dtype)
    z[0, 0] = 0  # both send nothing back at ReLU's kink
    assert z.max() < 20  # beyond, PyTorch's softplus is z itself, also in float64
    a, cache = getattr(ops, f"{name}_forward")(z)
    da = normal(1, *z.shape, dtype=dtype)
    want, (dz,) = with_torch(ACTIVATIONS[name], [z], da)
    assert_close(a, want, 4)
    assert_close(getattr(ops, f"{name}_backward")(da, cache), dz, 4)


@on_each_backend
@on_each_type
@pytest.mark.parametrize("scale", [1, 100])
def test_softmax_cross_entropy(ops, dtype, scale):
    z, labels = scale * normal(0, 50, 10, dtype=dtype), np.random.default_rng(1).integers(0, 10, 50)
    loss, cache = ops.softmax_cross_entropy_forward(z, labels)
    want, (dz,) = with_torch(lambda z: F.cross_entropy(z, torch.from_numpy(labels)), [z])
    assert_close(np.asarray(loss, dtype), want, 16)
    assert_close(ops.softmax_cross_entropy_backward(cache), dz, 4)


@on_each_backend
def test_the_losses_with_targets(ops):
    o, y = normal(0, 6, 4), normal(1, 6, 4)
    for name, factor in (("half_squared_sum", 1), ("quadratic_cost", 1 / 6)):
        loss, cache = getattr(ops, f"{name}_forward")(o, y)
        want, (do,) = with_torch(lambda o, f=factor: f * 0.5 * F.mse_loss(o, torch.from_numpy(y), reduction="sum"), [o])
        assert_close(np.asarray(loss), want)
        assert_close(getattr(ops, f"{name}_backward")(cache), do)


@on_each_backend
@on_each_type
@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_sgd_follows_the_same_path(ops, dtype, momentum):
    """v = m v - lr g, p += v (here) and v = m v + g, p -= lr v (PyTorch) are one path while lr stays the same."""
    target, p = normal(0, 5, 4, dtype=dtype), normal(1, 5, 4, dtype=dtype)
    leaf = torch.from_numpy(p.copy()).requires_grad_()
    optimizer = torch.optim.SGD([leaf], lr=0.1, momentum=momentum)
    velocities = [np.zeros_like(p)] if momentum else None
    for _ in range(20):
        ops.sgd_step([p], [(p - target) ** 3], 0.1, momentum, velocities)
        optimizer.zero_grad()
        ((leaf - torch.from_numpy(target)) ** 4 / 4).sum().backward()
        optimizer.step()
        assert_close(p, leaf.detach().numpy(), 32)


def lenet5_of_torch(net):
    """The same network of PyTorch's own layers, with copies of the weights (a dense layer's w turned)."""
    layers = []
    for layer in net:
        if isinstance(layer, nn.Conv2d):
            layers.append(torch.nn.Conv2d(layer.c_in, layer.c_out, layer.mask))
            weight = layer.params["w"]
        elif isinstance(layer, nn.Dense):
            layers.append(torch.nn.Linear(layer.n_in, layer.n_out))
            weight = layer.params["w"].T
        else:
            layers.append(
                {"ReLU": torch.nn.ReLU(), "MaxPool": torch.nn.MaxPool2d(2), "Flatten": torch.nn.Flatten()}[
                    type(layer).__name__
                ]
            )
            continue
        layers[-1].weight.data = torch.from_numpy(weight.copy())
        layers[-1].bias.data = torch.from_numpy(layer.params["b"].copy())
    return torch.nn.Sequential(*layers)


@on_each_backend
@on_each_type
def test_steps_of_lenet5(ops, dtype):
    """Equal weights give equal losses, gradients and, after three steps with momentum, equal weights."""
    rng = np.random.default_rng(0)
    net = nn.models.lenet5(rng=rng, ops=ops, dtype=dtype)
    other = lenet5_of_torch(net)
    optimizer = torch.optim.SGD(other.parameters(), lr=0.01, momentum=0.9)
    x, labels = rng.random((32, 1, 32, 32)).astype(dtype), rng.integers(0, 10, 32)
    velocities = [np.zeros_like(p) for p in net.parameters().values()]
    for _ in range(3):
        loss, cache = ops.softmax_cross_entropy_forward(net.forward(x), labels)
        net.zero_grad()
        net.backward_parameters(ops.softmax_cross_entropy_backward(cache))
        ops.sgd_step(net.parameters().values(), net.gradients().values(), 0.01, 0.9, velocities)
        optimizer.zero_grad()
        want = F.cross_entropy(other(torch.from_numpy(x)), torch.from_numpy(labels))
        want.backward()
        optimizer.step()
        assert_close(np.asarray(loss, dtype), want.detach().numpy(), 64)
        for name, values in (("grad", net.gradients()), ("data", net.parameters())):
            for (key, mine), theirs in zip(values.items(), other.parameters(), strict=True):
                theirs = getattr(theirs, name).numpy()
                theirs = theirs.T if mine.ndim == 2 else theirs
                # Roundings pass through five layers, each a sum of up to 400 terms: 4 sqrt(400) of them.
                scale = max(np.abs(theirs).max(), 0.01)
                allowed = 1e-10 if dtype == np.float64 else 80 * 5 * 2.0**-24 * scale
                np.testing.assert_allclose(mine, theirs, rtol=0, atol=allowed, err_msg=f"{name} of {key}")
