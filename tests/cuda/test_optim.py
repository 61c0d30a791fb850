"""Steps of gradient descent on the device equal the reference's, change only what they should, and refuse the rest."""

import numpy as np
import pytest

from course_lib import gpu, reference
from course_lib.cuda import optim as ops
from tests.cuda.counted import counted
from tests.cuda.unfit import KINDS, unfit
from tests.gpu.devices import needs_numba

SHAPES = [(1,), (7, 13), (1024,), (6, 1, 5, 5), (2051,)]


def some(seed, shapes=SHAPES, *, whole=False):
    rng = np.random.default_rng(seed)
    draw = (lambda s: rng.integers(-8, 9, s)) if whole else rng.standard_normal
    return [np.asarray(draw(s), np.float32) for s in shapes]


def on_device(arrays):
    return [gpu.to_device(a) for a in arrays]


def on_host(arrays):
    return [gpu.to_host(a) for a in arrays]


def assert_all_equal(found, expected, **tolerance):
    for f, e in zip(found, expected, strict=True):
        assert f.dtype == np.float32
        (np.testing.assert_allclose if tolerance else np.testing.assert_array_equal)(f, e, **tolerance)


def test_plain_steps_equal_the_references():
    params, grads = some(0), some(1)
    ours = on_device(params)
    for _ in range(3):
        assert ops.sgd_step(ours, on_device(grads), 0.1) is None
        reference.sgd_step(params, grads, 0.1)
    assert_all_equal(on_host(ours), params, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("momentum", [0.0, 0.5, 0.9])
def test_steps_with_velocities_equal_the_references(momentum):
    params, grads, velocities = some(0), some(1), some(2)
    ours, its = on_device(params), on_device(velocities)
    for _ in range(3):
        ops.sgd_step(ours, on_device(grads), 0.1, momentum, its)
        reference.sgd_step(params, grads, 0.1, momentum, velocities)
    assert_all_equal(on_host(ours), params, rtol=2e-6, atol=1e-6)
    assert_all_equal(on_host(its), velocities, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("momentum", [0.0, 0.5])
@pytest.mark.parametrize("decay", [0.25, [0.5, 0.0, 0.25, 0.0, 1.0]])
def test_steps_with_weight_decay_equal_the_references(decay, momentum):
    params, grads, velocities = some(0), some(1), some(2) if momentum else None
    ours, its = on_device(params), on_device(velocities) if momentum else None
    for _ in range(3):
        ops.sgd_step(ours, on_device(grads), 0.1, momentum, its, decay)
        reference.sgd_step(params, grads, 0.1, momentum, velocities, decay)
    assert_all_equal(on_host(ours), params, rtol=2e-6, atol=1e-6)


def test_one_number_for_the_decay_leaves_arrays_of_one_axis_alone():
    params = some(0)
    ours = on_device(params)
    ops.sgd_step(ours, on_device([np.zeros_like(p) for p in params]), 0.5, 0.0, None, 1.0)
    assert_all_equal(on_host(ours), [p / 2 if p.ndim > 1 else p for p in params])


def test_steps_in_powers_of_two_are_exact():
    params, grads, velocities = some(0, whole=True), some(1, whole=True), some(2, whole=True)
    ours, its = on_device(params), on_device(velocities)
    ops.sgd_step(ours, on_device(grads), 0.25, 0.5, its)
    reference.sgd_step(params, grads, 0.25, 0.5, velocities)
    assert_all_equal(on_host(ours), params)
    assert_all_equal(on_host(its), velocities)


def test_gradients_stay_as_they_were_and_nan_goes_through():
    p, g = some(0), some(1)
    g[1][3, 3] = np.nan
    ours, its = on_device(p), on_device(g)
    ops.sgd_step(ours, its, 0.5)
    assert_all_equal(on_host(its), g)
    assert [np.isnan(a).sum() for a in on_host(ours)] == [0, 1, 0, 0, 0]


def test_parameters_that_begin_anywhere_are_changed_there_only():
    w, g, v = some(0, [(2101,)] * 3)
    ours, velocity = gpu.to_device(w), gpu.to_device(v)
    ops.sgd_step([ours[1:]], [gpu.to_device(g[1:])], 0.5)
    ops.sgd_step([ours[1:]], [gpu.to_device(g[1:])], 0.5, 0.5, [velocity[1:]])
    expected, its = w.copy(), v.copy()
    reference.sgd_step([expected[1:]], [g[1:]], 0.5)
    reference.sgd_step([expected[1:]], [g[1:]], 0.5, 0.5, [its[1:]])
    np.testing.assert_allclose(gpu.to_host(ours), expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(gpu.to_host(velocity), its, rtol=1e-6, atol=1e-6)
    assert gpu.to_host(ours)[0] == w[0]
    assert gpu.to_host(velocity)[0] == v[0]


@needs_numba
def test_a_step_reads_and_writes_every_number_once():
    n = 3000
    p, g, v = on_device(some(0, [(n,)] * 3))
    for launch, reads, writes in (
        (lambda *a: ops.sgd_step([a[0]], [a[1]], 0.1), 2, 1),
        (lambda *a: ops.sgd_step([a[0]], [a[1]], 0.1, 0.9, [a[2]]), 3, 2),
    ):
        counts, hazards = counted(launch, p, g, v)
        assert counts["global_load_bytes"] == 4 * reads * n
        assert counts["global_store_bytes"] == 4 * writes * n
        assert (counts["float64_flops"], hazards) == (0, [])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("which", ["params", "grads", "velocities"])
def test_array_that_does_not_fit_is_refused_before_anything_changes(which, kind):
    good = some(0, [(6, 4), (6, 4)])
    arrays = {name: on_device(good) for name in ("params", "grads", "velocities")}
    arrays[which][1], error = unfit(kind, good[1])
    first = arrays["params"][0]
    with pytest.raises(error, match=r"^\w+\[1\] "):
        ops.sgd_step(arrays["params"], arrays["grads"], 0.1, 0.9, arrays["velocities"])
    np.testing.assert_array_equal(gpu.to_host(first), good[0])


def test_shapes_and_numbers_of_arrays_must_agree():
    p, g = on_device(some(0, [(6, 4)])), on_device(some(1, [(4, 6)]))
    with pytest.raises(ValueError, match=r"grads\[0\] is \(4, 6\); its shape must be \(6, 4\)"):
        ops.sgd_step(p, g, 0.1)
    with pytest.raises(ValueError, match="1 parameters, 0 gradients and 1 velocities"):
        ops.sgd_step(p, [], 0.1)


def test_two_arrays_in_the_same_memory_are_refused():
    w, g = on_device(some(0, [(64,)] * 2))
    with pytest.raises(ValueError, match="share memory"):
        ops.sgd_step([w, w], [g, g], 0.1)
    with pytest.raises(ValueError, match="share memory"):
        ops.sgd_step([w], [w], 0.1)
    with pytest.raises(ValueError, match="share memory"):
        ops.sgd_step([w[:40], w[30:]], [g[:40], g[30:]], 0.1)
    ops.sgd_step([w[:30], w[30:]], [g[:30], g[:34]], 0.1)  # gradients are only read


@pytest.mark.parametrize(("arguments", "error", "says"), [
    ((0.0,), ValueError, "lr is 0"), ((-1.0,), ValueError, "lr is -1"), (("a",), TypeError, "lr is 'a'"),
    ((float("nan"),), ValueError, "lr is nan"), ((0.1, 1.0), ValueError, "momentum is 1; it must be below 1"),
    ((0.1, -0.1), ValueError, "momentum is -0.1"), ((0.1, 0.9), ValueError, "momentum > 0 needs velocities"),
])  # fmt: skip
def test_rates_out_of_range_are_refused(arguments, error, says):
    with pytest.raises(error, match=says):
        ops.sgd_step(on_device(some(0)), on_device(some(1)), *arguments)


def test_one_array_instead_of_a_sequence_is_refused():
    w, g = on_device(some(0, [(6, 4)] * 2))
    with pytest.raises(TypeError, match=r"params is a .*; it must be a sequence of device arrays"):
        ops.sgd_step(w, [g], 0.1)
    with pytest.raises(TypeError, match="grads is a dict"):
        ops.sgd_step([w], {"w": g}, 0.1)
