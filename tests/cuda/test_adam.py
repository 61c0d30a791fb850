"""Adam's steps on the device equal the reference's, go over memory once, and refuse what cannot be right."""

import numpy as np
import pytest

from course_lib import fast, gpu, reference
from course_lib.cuda import adam as ops
from tests.cuda.counted import counted
from tests.cuda.test_optim import assert_all_equal, on_device, on_host, some
from tests.cuda.unfit import KINDS, unfit
from tests.gpu.devices import needs_numba

DECAYS = [0.0, 0.1, [0.5, 0.0, 0.25, 0.0, 1.0]]


def moments(params):
    return [np.zeros_like(p) for p in params], [np.zeros_like(p) for p in params]


@pytest.mark.parametrize("decay", DECAYS)
def test_steps_equal_the_references_and_the_fast_ones(decay):
    """The numbers of a step are of size 1 and a step is 0.1, so a few roundings are 1e-6 in every one of them."""
    params, ours, others = some(0), some(0), some(0)
    state, its, theirs = moments(params), [on_device(m) for m in moments(params)], moments(params)
    ours = on_device(ours)
    for step in (1, 2, 3):
        grads = some(step)
        assert ops.adam_step(ours, on_device(grads), 0.1, *its, step, weight_decay=decay) is None
        fast.adam_step(others, grads, 0.1, *theirs, step, weight_decay=decay)
        reference.adam_step(params, grads, 0.1, *state, step, weight_decay=decay)
    for found in (on_host(ours), others):
        assert_all_equal(found, params, rtol=1e-6, atol=1e-6)
    for expected, on_card, compiled in zip(state, its, theirs, strict=True):
        assert_all_equal(on_host(on_card), expected, rtol=1e-6, atol=1e-7)
        assert_all_equal(compiled, expected, rtol=1e-6, atol=1e-7)


def test_nan_stays_in_its_place_and_gradients_stay_as_they_were():
    params, grads = some(0), some(1)
    grads[1][3, 3] = np.nan
    ours, its = on_device(params), on_device(grads)
    ops.adam_step(ours, its, 0.1, *map(on_device, moments(params)), 1)
    assert_all_equal(on_host(its), grads)
    assert [np.isnan(a).sum() for a in on_host(ours)] == [0, 1, 0, 0, 0]


def test_without_a_gradient_nothing_moves():
    params = some(0)
    ours, zeros = on_device(params), moments(params)[0]
    ops.adam_step(ours, on_device(zeros), 0.1, *map(on_device, moments(params)), 1)
    assert_all_equal(on_host(ours), params)


def test_parameters_that_begin_anywhere_are_changed_there_only():
    w, g = some(0, [(2101,)] * 2)
    ours, m, v = on_device([w, *moments([w])[0], *moments([w])[1]])
    ops.adam_step([ours[1:]], on_device([g[1:]]), 0.1, [m[1:]], [v[1:]], 1)
    expected, (first,), (second,) = w.copy(), *moments([w])
    reference.adam_step([expected[1:]], [g[1:]], 0.1, [first[1:]], [second[1:]], 1)
    for found, wanted in ((ours, expected), (m, first), (v, second)):
        np.testing.assert_allclose(gpu.to_host(found), wanted, rtol=1e-6, atol=1e-6)
    assert gpu.to_host(ours)[0] == w[0]


@needs_numba
def test_a_step_is_one_pass_over_memory():
    n = 3000
    p, g, m, v = on_device(some(0, [(n,)] * 4))
    v = gpu.to_device(np.ones(n, np.float32))
    counts, hazards = counted(lambda *a: ops.adam_step([a[0]], [a[1]], 0.1, [a[2]], [a[3]], 1), p, g, m, v)
    assert counts["global_load_bytes"] == 4 * 4 * n
    assert counts["global_store_bytes"] == 4 * 3 * n
    assert (counts["float64_flops"], hazards) == (0, [])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("which", ["params", "grads", "first_moments", "second_moments"])
def test_array_that_does_not_fit_is_refused_before_anything_changes(which, kind):
    good = some(0, [(6, 4), (6, 4)])
    arrays = {name: on_device(good) for name in ("params", "grads", "first_moments", "second_moments")}
    arrays[which][1], error = unfit(kind, good[1])
    with pytest.raises(error, match=r"^\w+\[1\] "):
        ops.adam_step(**arrays, lr=0.1, step=1)
    np.testing.assert_array_equal(gpu.to_host(arrays["params"][0]), good[0])


def test_arrays_in_the_same_memory_and_missing_ones_are_refused():
    w, g, m = on_device(some(0, [(64,)] * 3))
    with pytest.raises(ValueError, match="share memory"):
        ops.adam_step([w], [g], 0.1, [m], [m], 1)
    with pytest.raises(ValueError, match="1 parameters, 1 gradients, 1 first_moments and 0 second_moments"):
        ops.adam_step([w], [g], 0.1, [m], [], 1)
    with pytest.raises(TypeError, match=r"first_moments is a .*: adam_step\(\[w\], \[dw\], lr, \[m\], \[v\], step\)"):
        ops.adam_step([w], [g], 0.1, m, [m], 1)
    with pytest.raises(TypeError, match=r"first_moments\[0\] is a NoneType"):
        ops.adam_step([w], [g], 0.1, [None], [m], 1)


def test_an_eps_that_float32_does_not_have_is_refused():
    w, g, m, v = ([a] for a in on_device(some(0, [(64,)] * 4)))
    with pytest.raises(ValueError, match="eps is 1e-50, which is 0 in float32"):
        ops.adam_step(w, g, 0.1, m, v, 1, eps=1e-50)
