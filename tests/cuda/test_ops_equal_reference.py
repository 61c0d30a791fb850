"""Every operation on the device gives what the reference gives: exactly on small whole numbers, or rounded."""

import inspect
import subprocess
import sys

import numpy as np
import pytest

from course_lib import cuda, gpu, reference
from course_lib.checks import product_tolerance
from course_lib.cuda import products
from course_lib.cuda.choice import GPU
from tests.cases import all_of
from tests.cuda.op_cases import CASES, OTHERS, labels, names, probabilities, put, run, shuffles, whole
from tests.gpu.devices import DEVICE, needs_warps

EXCEPTIONS = dict.fromkeys(
    ("conv2d_winograd_forward", "conv2d_winograd_backward"),
    "It shows where multiplications can be saved and what that costs in rounding; the ladders have no such rung.",
)
"""Names of the reference that the device does not have, and why."""

MORE = {
    "RecordedSteps", "StepLog", "adam_plan", "adam_step_planned", "sgd_step_planned", "softmax_cross_entropy_sums",
}  # fmt: skip
"""What the device has besides, for a recorded step: a loss without the copy to the host, rates that lie in an array."""

OF_PROBABILITIES = ("one_minus_probability", "expected_squared_distance")


def each(cases):
    """Parametrise a test by `case`."""
    marked = [pytest.param(c, id=str(c), marks=[needs_warps] if shuffles(c) else []) for c in cases]
    return pytest.mark.parametrize("case", marked)


exact, rounded = each(c for c in CASES if c.exact), each(c for c in CASES if not c.exact)
again = each(CASES if DEVICE == GPU else {c.op: c for c in CASES}.values())
"""On a card the order of sums is its own; the executor's is given, and one case of each operation shows that."""


def normal(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape)


def rounding(want, terms=1, steps=8):
    """How far float32 may stray: `steps` roundings of a number of size `want`, and of sums of `terms` numbers."""
    return (steps + 4 * np.sqrt(terms)) * 2.0**-24 * np.maximum(np.abs(want), np.max(np.abs(want), initial=1e-30))


def test_the_device_has_every_name_of_the_reference():
    assert set(reference.__all__) - set(cuda.__all__) == set(EXCEPTIONS)
    assert set(cuda.__all__) - set(reference.__all__) == MORE
    assert set(cuda.__all__) <= set(dir(cuda))


@all_of("name", [n for n in reference.__all__ if n not in EXCEPTIONS])
def test_functions_take_the_same_arguments(name):
    ours, its = getattr(cuda, name), getattr(reference, name)
    if inspect.isfunction(its):
        assert inspect.signature(ours) == inspect.signature(its)
    elif isinstance(its, dict):
        assert list(ours) == list(its)
    elif isinstance(its, tuple):
        assert ours == its


def test_every_operation_has_a_case():
    on_host = {"PerceptronFit", "PerceptronStep", "digit_prototypes", "output_size", "replication", "unseen"}
    tables = {"ACTIVATIONS", "LOSSES"}
    assert {n for c in CASES for n in names(c)} | set(OTHERS) == set(cuda.__all__) - on_host - tables - MORE


def test_importing_the_package_loads_nothing_and_chooses_no_device():
    code = (
        "import sys; from course_lib import cuda; cuda.__all__; print('numba' in sys.modules, 'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"'course_lib.cuda' has no attribute 'gelu'"):
        _ = cuda.gelu


@exact
def test_small_whole_numbers_come_out_exactly(case):
    for got, want in zip(run(cuda, case), run(reference, case), strict=True):
        np.testing.assert_array_equal(got, want)
        assert want is None or got.dtype == want.dtype or not want.ndim


@rounded
def test_other_functions_come_out_within_rounding(case):
    for got, want in zip(run(cuda, case), run(reference, case, np.float64), strict=True):
        np.testing.assert_array_less(np.abs(got - want), rounding(want, case.arguments[0].size) + 1e-30, strict=False)


@again
def test_the_bits_are_the_same_in_every_run(case):
    for one, other in zip(run(cuda, case, upstream=normal), run(cuda, case, upstream=normal), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("B", "D", "M"), [(5, 70, 3), (33, 17, 40), (600, 3, 2)])
def test_a_dense_layer_of_random_numbers_is_within_the_products_tolerance(B, D, M):
    x, w, b, dz = (normal(i, *s).astype(np.float32) for i, s in enumerate([(B, D), (D, M), (M,), (B, M)]))
    z, cache = cuda.dense_forward(*put(cuda, (x, w, b)))
    with_ones = np.hstack([x, np.ones((B, 1), np.float32)]), np.vstack([w, b])
    for got, (left, right) in zip(
        (z, *cuda.dense_backward(*put(cuda, (dz,)), cache)),
        (with_ones, (dz, w.T), (x.T, dz), (np.ones((1, B), np.float32), dz)),
        strict=True,
    ):
        off = np.abs(cuda.to_host(got).reshape(len(left), -1) - left.astype(float) @ right.astype(float))
        assert (off <= product_tolerance(left, right)).all()
    assert cuda.dense_backward(*put(cuda, (dz,)), cache, need_dx=False)[0] is None


@pytest.mark.parametrize(
    ("A_turned", "B_turned", "bias"),
    [(False, False, False), (False, True, True), (True, False, True), (True, True, False)],  # each pair of two
)
@pytest.mark.parametrize("busy", [0, 256], ids=["v08", "v07"])
def test_large_products_go_up_the_ladder_and_are_the_same(busy, A_turned, B_turned, bias, monkeypatch):
    M, N, K = 20, 24, 40
    A, B, b = whole(1, M, K), whole(2, K, N), whole(3, N)
    monkeypatch.setattr(products, "LARGE", 1)
    monkeypatch.setattr(products, "LEAST_SIDE", 1)
    monkeypatch.setattr(products, "BUSY", busy)
    given = (np.ascontiguousarray(a.T) if turned else a for a, turned in ((A, A_turned), (B, B_turned)))
    C = products.product(*put(cuda, given), gpu.to_device(b) if bias else None, A_turned=A_turned, B_turned=B_turned)
    np.testing.assert_array_equal(gpu.to_host(C), A @ B + (b if bias else 0))


def test_blocks_of_a_product_lie_along_x_where_a_grid_is_long(monkeypatch):
    grids = []

    class Recorder:
        def __getitem__(self, launch):
            grids.append(launch[0])
            return lambda *operands: None

    monkeypatch.setattr(products, "_tiled", lambda *kind: Recorder())
    b = gpu.empty(2**20 + 1, np.float32)
    products.product(gpu.empty((17, 1), np.float32), b.reshape((1, b.size)))
    assert grids == [2 * (2**16 + 1)]


def test_softmax_and_its_loss_survive_any_scores():
    z = np.array([[1e4, 0, -1e4], [-1e4, -1e4, -1e4], [3e38, -3e38, 0]], np.float32)
    y = np.array([0, 1, 2])
    value, (k, _) = cuda.softmax_cross_entropy_forward(*put(cuda, (z[:2], y[:2])))
    expected, (its, _) = reference.softmax_cross_entropy_forward(z[:2], y[:2])
    assert value == pytest.approx(expected, rel=1e-6)
    np.testing.assert_allclose(cuda.to_host(k), its, rtol=1e-6)
    np.testing.assert_array_equal(cuda.to_host(cuda.softmax(cuda.to_backend(z)))[2], [1, 0, 0])
    z[0, 1] = np.nan
    k = cuda.to_host(cuda.softmax(cuda.to_backend(z)))
    assert np.isnan(k).tolist() == [[True] * 3, [False] * 3, [False] * 3]


@all_of("C", [3, 40, 1030])
@all_of("bad", [-1, "C", 2**40, -(2**40)])
@all_of(
    "op", ["softmax_cross_entropy", "rbf_loss", "one_minus_probability", "expected_squared_distance"]
)
def test_a_label_out_of_range_is_named_and_never_used(op, bad, C):
    k, y = probabilities(1, 5, C), labels(2, 5, C)
    y[3] = C if bad == "C" else bad
    with pytest.raises(ValueError, match=r"labels\[3\] is .*a label lies in 0 .. "):
        getattr(cuda, f"{op}_forward")(*put(cuda, (k, y)))


@pytest.mark.parametrize("C", [5, 40, 1100])
def test_rows_with_a_bad_label_add_nothing_to_the_sum_of_losses(C):
    z, y = normal(3, 6, C), np.array([0, C, 2, -1, 4, 1])
    good = [0, 2, 4, 5]
    sums, _ = cuda.softmax_cross_entropy_sums(*put(cuda, (z, y)))
    want, _ = reference.softmax_cross_entropy_forward(z[good], y[good])
    found = gpu.to_host(sums)
    np.testing.assert_allclose(found[0, 0], want * len(good), rtol=1e-5)
    assert found[0, 1] == 2


@pytest.mark.parametrize("op", OF_PROBABILITIES)
@pytest.mark.parametrize(("column", "value"), [(0, 0.9), (1, -0.2), (1, np.nan)])
def test_rows_that_are_no_probabilities_are_named(op, column, value):
    k = np.full((300, 4), 0.25, np.float32)
    k[260, column] = value
    with pytest.raises(ValueError, match=r"row 260 of k sums to .*softmax"):
        getattr(cuda, f"{op}_forward")(*put(cuda, (k, labels(1, 300, 4))))


@pytest.mark.parametrize("C", [1, 3, 10, 16])
def test_scores_that_begin_anywhere_have_the_same_softmax(C):
    z = whole(1, 131, C)
    apart = gpu.to_device(np.concatenate([[0], z.ravel()]).astype(np.float32))[1:].reshape(131, C)
    expected = cuda.to_host(cuda.softmax(cuda.to_backend(z)))
    np.testing.assert_array_equal(cuda.to_host(cuda.softmax(apart)), expected)


def test_the_loss_can_stay_on_the_device():
    z, y = put(cuda, (whole(1, 300, 10), labels(2, 300, 10)))
    sums, cache = cuda.softmax_cross_entropy_sums(z, y)
    value, its = cuda.softmax_cross_entropy_forward(z, y)
    total, bad = gpu.to_host(sums)[0]
    assert float(total) / 300 == value
    assert bad == 0
    np.testing.assert_array_equal(gpu.to_host(cache[0]), gpu.to_host(its[0]))


@pytest.mark.parametrize(("n", "d"), [(1, 1), (5, 1), (40, 3), (300, 4), (2, 3)])
def test_linear_regression_in_closed_form(n, d):
    x = normal(1, n, d).astype(np.float32)
    y = (x @ np.arange(1, d + 1) + 2 + 0.1 * normal(2, n)).astype(np.float32)
    w, b = cuda.linear_regression_fit(*put(cuda, (x, y)))
    expected, at = reference.linear_regression_fit(x.astype(float), y.astype(float))
    np.testing.assert_allclose(gpu.to_host(w), expected, rtol=2e-5, atol=2e-5)
    assert b == pytest.approx(at, rel=2e-5, abs=2e-5)


def test_linear_regression_takes_the_shortest_of_several_answers():
    x = np.stack([np.arange(6), 2 * np.arange(6), np.zeros(6)], 1).astype(np.float32)
    w, b = cuda.linear_regression_fit(*put(cuda, (x, 3 * x[:, 0] + 1)))
    np.testing.assert_allclose(gpu.to_host(w), [0.6, 1.2, 0], atol=1e-6)
    assert b == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("start", [None, (1.0, -2.0, 0.5)])
def test_linear_regression_by_descent(start):
    x, y = whole(1, 300, 3) / 4, whole(2, 300)
    w0 = None if start is None else np.array(start, np.float32)
    on_device = None if w0 is None else gpu.to_device(w0)
    w, b, history = cuda.linear_regression_descend(*put(cuda, (x, y)), 0.1, 7, on_device, b=0.25)
    x, y = x.astype(float), y.astype(float)
    expected, at, its = reference.linear_regression_descend(
        x, y, 0.1, 7, None if start is None else np.array(start), 0.25
    )
    np.testing.assert_allclose(gpu.to_host(w), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(gpu.to_host(history), its, rtol=1e-5)
    assert b == pytest.approx(at, rel=1e-5)
    if start is not None:
        np.testing.assert_array_equal(gpu.to_host(on_device), w0)
    assert gpu.to_host(cuda.linear_regression_descend(*put(cuda, (whole(1, 5, 1), whole(2, 5))), 0.1, 0)[2]).shape == (
        1,
    )


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("where", [0, 1])
def test_linear_regression_refuses_what_is_no_number(bad, where):
    data = [whole(1, 300, 2), whole(2, 300)]
    data[where][299] = bad
    for fit, more in ((cuda.linear_regression_fit, ()), (cuda.linear_regression_descend, (0.1, 2))):
        with pytest.raises(ValueError, match="NaN or infinity; remove"):
            fit(*put(cuda, data), *more)


@pytest.mark.parametrize("order", [None, "reversed", "drawn"])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("start", [False, True])
def test_the_perceptron_learns_step_by_step_as_the_reference(order, bias, start):
    x = whole(1, 20, 2)
    y = (x @ np.array([1, 2], np.float32) > 0).astype(np.int64)
    w = np.array([1, -1, 0], np.float32) if start else None
    fits = []
    for ops in (cuda, reference):
        shown = {None: None, "reversed": np.arange(20)[::-1], "drawn": np.random.default_rng(0)}[order]
        fits.append(ops.perceptron_fit(*put(ops, (x, y)), epochs=5, order=shown, w=put(ops, (w,))[0], bias=bias))
    ours, its = fits
    np.testing.assert_array_equal(gpu.to_host(ours.w), its.w)
    assert (ours.converged, ours.epochs) == (its.converged, its.epochs)
    assert ours.mistakes_per_epoch == its.mistakes_per_epoch
    for one, other in zip(ours.steps, its.steps, strict=True):
        assert (one.epoch, one.index, one.y_hat) == (other.epoch, other.index, other.y_hat)
        np.testing.assert_array_equal(one.w_before, other.w_before)
        np.testing.assert_array_equal(one.w_after, other.w_after)


def test_the_perceptron_refuses_what_the_reference_refuses():
    x, y = put(cuda, (whole(1, 4, 2), np.array([0, 1, 2, 1])))
    with pytest.raises(ValueError, match=r"y\[2\] is 2"):
        cuda.perceptron_fit(x, y)
    y = cuda.to_backend(np.array([0, 1, 0, 1]))
    with pytest.raises(ValueError, match="must hold each of 0"):
        cuda.perceptron_fit(x, y, order=[0, 0, 1, 2])
    with pytest.raises(ValueError, match="bias=False it must be 0"):
        cuda.perceptron_fit(x, y, w=cuda.to_backend(np.ones(3, np.float32)), bias=False)
    with pytest.raises(ValueError, match="the bias"):
        cuda.perceptron_predict(x, cuda.to_backend(np.ones(2, np.float32)))


def test_sums_and_copies_in_place():
    a, b = whole(1, 5, 7), whole(2, 5, 7)
    total, part = put(cuda, (a, b))
    kept = cuda.copy_of(total)
    cuda.accumulate(total, part)
    np.testing.assert_array_equal(gpu.to_host(total), a + b)
    np.testing.assert_array_equal(gpu.to_host(kept), a)
    cuda.assign(total, kept)
    np.testing.assert_array_equal(gpu.to_host(total), a)
    cuda.assign(total, b)
    np.testing.assert_array_equal(gpu.to_host(total), b)
    cuda.fill_zero(total)
    assert not gpu.to_host(total).any()
    assert cuda.to_backend(total) is total
    np.testing.assert_array_equal(gpu.to_host(cuda.to_backend(np.asfortranarray(a))), a)


@pytest.mark.parametrize("given", [np.zeros(3), np.zeros(3, np.float16), np.zeros(3, bool), [1.0], None, 3.0])
def test_what_a_network_copies_is_float32_or_labels(given):
    with pytest.raises(TypeError, match=r"float32"):
        cuda.to_backend(given)
