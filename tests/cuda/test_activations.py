"""Activation functions on the device equal the reference's, at odd sizes and at the edges."""

import numpy as np
import pytest

from course_lib import gpu, reference
from course_lib.cuda import activations as ops
from tests.cases import all_of
from tests.cuda.counted import counted
from tests.cuda.unfit import KINDS, unfit
from tests.gpu.devices import needs_numba

SHAPES = [(1,), (7, 13), (1024,), (2, 3, 5, 7), (2500,)]
NAMES = (*reference.ACTIVATIONS, "scaled_tanh")
EDGES = [0.0, -0.0, 1e-38, -1e-38, 1e-45, 88.0, -88.0, 90.0, -90.0, 104.0, -104.0, 3e38, -3e38, np.inf, -np.inf, np.nan]
WITH_BACKWARD = [n for n in NAMES if hasattr(reference, f"{n}_backward")]
EXACT = ("heaviside", "identity", "relu", "leaky_relu")
"""Functions without a power: the same operations give the same bits."""

each_name = pytest.mark.parametrize("name", NAMES)
each_shape = pytest.mark.parametrize("shape", SHAPES, ids=str)
each_pair = pytest.mark.parametrize("name", WITH_BACKWARD)


def pair(module, name):
    """Return (f, f')."""
    return getattr(module, name), getattr(module, f"{name}_prime")


def some(shape, seed=0):
    z = (4 * np.random.default_rng(seed).standard_normal(shape)).astype(np.float32)
    z.flat[::5] = 0
    return z


def assert_equal(name, found, expected, scale=1):
    """Powers of a card and of NumPy differ in their last two bits; `scale` is what results are multiplied by."""
    assert found.dtype == expected.dtype == np.float32
    if name in EXACT:
        np.testing.assert_array_equal(found, expected)
    else:
        np.testing.assert_allclose(found, expected, rtol=2e-6, atol=4e-7 * scale)


@each_name
@each_shape
def test_function_and_derivative_equal_the_references(name, shape):
    z = some(shape)
    for ours, theirs in zip(pair(ops, name), pair(reference, name), strict=True):
        a = ours(gpu.to_device(z))
        assert tuple(a.shape) == shape
        assert_equal(name, gpu.to_host(a), theirs(z))


@each_name
def test_edges_are_the_references(name):
    z = np.array(EDGES, np.float32)
    with np.errstate(all="ignore"):
        for ours, theirs in zip(pair(ops, name), pair(reference, name), strict=True):
            assert_equal(name, gpu.to_host(ours(gpu.to_device(z))), theirs(z))


@each_pair
def test_a_gradient_of_nan_or_infinity_goes_where_it_goes_in_the_reference(name):
    """Every edge above meets every edge before: where a mask closes, 0 comes out, not NaN."""
    z, da = (m.ravel() for m in np.meshgrid(*[np.array(EDGES, np.float32)] * 2))
    with np.errstate(all="ignore"):
        _, cache = getattr(ops, f"{name}_forward")(gpu.to_device(z))
        dz = gpu.to_host(getattr(ops, f"{name}_backward")(gpu.to_device(da), cache))
        expected = getattr(reference, f"{name}_backward")(da, getattr(reference, f"{name}_forward")(z)[1])
        if name in EXACT:
            np.testing.assert_array_equal(dz, expected)
        else:
            np.testing.assert_array_equal(np.isfinite(dz), np.isfinite(expected))
    if name == "relu":
        np.testing.assert_array_equal(dz[~(z > 0)], 0)


@each_pair
@each_shape
def test_forward_and_backward_equal_the_references(name, shape):
    z, da = some(shape), some(shape, 1)
    a, cache = getattr(ops, f"{name}_forward")(gpu.to_device(z))
    dz = getattr(ops, f"{name}_backward")(gpu.to_device(da), cache)
    expected, its_cache = getattr(reference, f"{name}_forward")(z)
    assert_equal(name, gpu.to_host(a), expected)
    assert_equal(
        name, gpu.to_host(dz), getattr(reference, f"{name}_backward")(da, its_cache), np.abs(da).max(initial=1)
    )


@each_pair
def test_backward_at_the_edges_is_the_references(name):
    z, da = (a.ravel().copy() for a in np.meshgrid(np.float32(EDGES), np.float32([1, -2, 0, np.inf, np.nan])))
    _, cache = getattr(ops, f"{name}_forward")(gpu.to_device(z))
    with np.errstate(all="ignore"):
        expected = getattr(reference, f"{name}_backward")(da, getattr(reference, f"{name}_forward")(z)[1])
    assert_equal(name, gpu.to_host(getattr(ops, f"{name}_backward")(gpu.to_device(da), cache)), expected)


@pytest.mark.parametrize("slope", [0.0, 0.2, 1.0, -0.5])
def test_leaky_relu_takes_its_slope(slope):
    z, da = some((7, 13)), some((7, 13), 1)
    a, cache = ops.leaky_relu_forward(gpu.to_device(z), slope)
    expected, its_cache = reference.leaky_relu_forward(z, slope)
    np.testing.assert_array_equal(gpu.to_host(a), expected)
    dz = ops.leaky_relu_backward(gpu.to_device(da), cache)
    np.testing.assert_array_equal(gpu.to_host(dz), reference.leaky_relu_backward(da, its_cache))
    np.testing.assert_array_equal(
        gpu.to_host(ops.leaky_relu_prime(gpu.to_device(z), slope)), reference.leaky_relu_prime(z, slope)
    )


def test_relu_keeps_nan_and_its_derivative_at_0_is_0():
    z = gpu.to_device(np.float32([np.nan, 0, -0.0, -1, 2]))
    np.testing.assert_array_equal(gpu.to_host(ops.relu(z)), np.float32([np.nan, 0, 0, 0, 2]))
    np.testing.assert_array_equal(gpu.to_host(ops.relu_prime(z)), np.float32([0, 0, 0, 0, 1]))


def test_array_that_begins_anywhere_is_taken():
    z = some(2101)
    part = gpu.to_device(z)[1:]
    np.testing.assert_array_equal(gpu.to_host(ops.relu(part)), reference.relu(z[1:]))
    da = gpu.to_device(some(2100, 1))
    np.testing.assert_array_equal(
        gpu.to_host(ops.relu_backward(da, part)), reference.relu_backward(some(2100, 1), z[1:])
    )


def test_input_stays_as_it_was():
    z, da = some((7, 13)), some((7, 13), 1)
    on_device = gpu.to_device(z), gpu.to_device(da)
    ops.relu_backward(on_device[1], ops.relu_forward(on_device[0])[1])
    np.testing.assert_array_equal(gpu.to_host(on_device[0]), z)
    np.testing.assert_array_equal(gpu.to_host(on_device[1]), da)


@needs_numba
@pytest.mark.parametrize("n", [1, 33, 1024, 3000])
def test_every_number_is_read_and_written_once_in_float32(n):
    whole, rest = divmod(n, 1024)
    requests = whole * 8 + -(-rest // 32)
    for launch, arrays in ((ops.relu, 1), (ops.sigmoid, 1), (ops.relu_backward, 2)):
        counts, hazards = counted(launch, *(gpu.to_device(some(n, seed)) for seed in range(arrays)))
        assert counts["global_load_requests"] == arrays * requests
        assert counts["global_load_bytes"] == 4 * arrays * n
        assert counts["global_store_requests"] == requests
        assert counts["global_store_bytes"] == 4 * n
        assert (counts["float64_flops"], hazards) == (0, [])


@each_name
@all_of("kind", KINDS)
def test_array_that_does_not_fit_is_refused(name, kind):
    z, error = unfit(kind, some((6, 4)))
    for function in pair(ops, name):
        with pytest.raises(error, match=r"^z "):
            function(z)


@each_pair
@all_of("kind", KINDS)
def test_upstream_gradient_that_does_not_fit_is_refused(name, kind):
    _, cache = getattr(ops, f"{name}_forward")(gpu.to_device(some((6, 4))))
    da, error = unfit(kind, some((6, 4)))
    with pytest.raises(error, match=r"^da "):
        getattr(ops, f"{name}_backward")(da, cache)
    with pytest.raises(ValueError, match=r"da is \(4, 6\) and z is \(6, 4\)"):
        getattr(ops, f"{name}_backward")(gpu.to_device(some((4, 6))), cache)
