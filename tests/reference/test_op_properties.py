"""Properties that every operation of the library has, whatever its input's shape, type and layout."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib import fast
from course_lib import reference as ops
from course_lib.checks import check_op_gradients
from tests.cases import all_of

from .strategies import LAYOUTS, lay_out, matrices

ELEMENTWISE = ("identity", "leaky_relu", "relu", "scaled_tanh", "sigmoid", "softplus", "tanh")
LABEL_LOSSES = ("one_minus_probability", "expected_squared_distance", "softmax_cross_entropy")
PROBABILITY_LOSSES = LABEL_LOSSES[:2]
TARGET_LOSSES = ("half_squared_sum", "quadratic_cost")


# Dropout, by chance, has properties of its own: test_dropout.
# Operations on images have properties of their own: test_conv2d, test_conv2d_fft, test_pooling_and_rbf.
IMAGE_OPS = {
    "conv1d", "conv2d", "conv2d_fft", "conv2d_winograd", "conv3d", "max_pool", "average_pool", "subsample", "flatten",
    "rbf", "rbf_loss",
}  # fmt: skip


def test_every_operation_of_the_library_is_covered():
    named = {"dense", "dropout", "softmax", *ELEMENTWISE, *LABEL_LOSSES, *TARGET_LOSSES, *IMAGE_OPS}
    assert named == {n.removesuffix("_forward") for n in ops.__all__ if n.endswith("_forward")}
    assert {n.removesuffix("_backward") for n in ops.__all__ if n.endswith("_backward")} == named
    assert set(ops.LOSSES) == {*LABEL_LOSSES, *TARGET_LOSSES, "rbf_loss"}
    assert set(ops.ACTIVATIONS) == {*ELEMENTWISE, "heaviside"} - {"scaled_tanh"}  # which no lecture has


def arguments(op, x, seed=0):
    """Return the arguments that `op` takes when its first one is x (B, D)."""
    rng = np.random.default_rng(seed)
    if op == "dense":
        w = rng.standard_normal((x.shape[1], 3)).astype(x.dtype)
        return [x, w, rng.standard_normal(3).astype(x.dtype)]
    if op in LABEL_LOSSES:
        x = ops.softmax(x) if op in PROBABILITY_LOSSES else x
        return [x, rng.integers(0, x.shape[1], x.shape[0])]
    if op in TARGET_LOSSES:
        return [x, rng.standard_normal(x.shape).astype(x.dtype)]
    return [x]


def run(op, args, ops=ops):
    """Return (out, tuple of gradients) for a random upstream gradient."""
    out, cache = getattr(ops, f"{op}_forward")(*args)
    if op in ops.LOSSES:
        return out, (getattr(ops, f"{op}_backward")(cache),)
    dout = np.random.default_rng(1).standard_normal(out.shape).astype(out.dtype)
    grads = getattr(ops, f"{op}_backward")(dout, cache)
    return out, grads if isinstance(grads, tuple) else (grads,)


ALL_OPS = ("dense", "softmax", *ELEMENTWISE, *LABEL_LOSSES, *TARGET_LOSSES)
ITS_OWN = [op for op in ALL_OPS if getattr(fast, f"{op}_forward") is not getattr(ops, f"{op}_forward")]


def on_every_op(wanted=lambda op: True):
    """Run a test over the reference's operations, and over those that `fast` has of its own."""
    cases = [pytest.param(ops, op, id=op) for op in ALL_OPS if wanted(op)]
    cases += [pytest.param(fast, op, id=f"fast {op}") for op in ITS_OWN if wanted(op)]
    return pytest.mark.parametrize(("ops", "op"), cases)


def test_fast_has_these_of_its_own():
    assert ITS_OWN == ["dense", "leaky_relu", "relu"]


@on_every_op()
@settings(max_examples=40, deadline=None)
@given(x=matrices())
def test_type_and_shape_are_kept(ops, op, x):
    args = arguments(op, x)
    out, grads = run(op, args, ops)
    if op in ops.LOSSES:
        assert type(out) is float
    else:
        assert out.dtype == x.dtype
        assert out.shape == ((x.shape[0], 3) if op == "dense" else x.shape)
    for argument, grad in zip(args, grads, strict=False):
        assert grad.shape == argument.shape
        assert grad.dtype == argument.dtype


@on_every_op()
@settings(max_examples=40, deadline=None)
@given(x=matrices(), layout=st.sampled_from(LAYOUTS))
def test_memory_layout_does_not_matter_and_inputs_are_not_changed(ops, op, x, layout):
    args = arguments(op, np.ascontiguousarray(x))
    kept = [np.array(a) for a in args]
    moved = [lay_out(a, layout) if a.ndim == 2 else a for a in args]
    expected, expected_grads = run(op, args, ops)
    out, grads = run(op, moved, ops)
    rtol = 1e-5 if x.dtype == np.float32 else 1e-13  # BLAS may add in another order for another layout
    np.testing.assert_allclose(out, expected, rtol=rtol, atol=rtol)
    for a, b in zip(grads, expected_grads, strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)
    for a, b in zip(moved, kept, strict=True):
        np.testing.assert_array_equal(a, b)


@on_every_op()
@settings(max_examples=25, deadline=None)
@given(x=matrices(dtype=st.just(np.float64)), seed=st.integers(0, 2**16))
def test_gradients_are_the_derivatives(ops, op, x, seed):
    x = np.array(x)
    x[np.abs(x) < 1e-3] = 0.5  # away from the kinks of ReLU
    wrt = [0] if op in ops.LOSSES else None
    check_op_gradients(
        getattr(ops, f"{op}_forward"),
        getattr(ops, f"{op}_backward"),
        arguments(op, x, seed),
        wrt=wrt,
        rng=np.random.default_rng(seed),
    )


@pytest.mark.parametrize("op", ["dense", *LABEL_LOSSES, *TARGET_LOSSES])
def test_an_empty_batch_is_a_clear_error(op):
    with pytest.raises(ValueError, match="the batch is empty"):
        getattr(ops, f"{op}_forward")(*arguments(op, np.zeros((0, 4))))


@on_every_op()
@all_of("value", [np.zeros((2, 3), complex), np.array([["a", "b"]]), np.zeros((2, 3), np.float16)])
def test_other_types_are_refused_by_name(ops, op, value):
    args = arguments(op, np.ones(value.shape))
    with pytest.raises(TypeError, match=f"has dtype {value.dtype}.*must be float32 or float64"):
        getattr(ops, f"{op}_forward")(value, *args[1:])


@on_every_op()
def test_integers_become_float64(ops, op):
    x = np.array([[1.0, 0.0], [0.0, 1.0]])
    _, *others = arguments(op, x)
    expected, _ = run(op, [x, *others], ops)
    out, _ = run(op, [x.astype(int), *others], ops)
    np.testing.assert_array_equal(out, expected)


@on_every_op(lambda op: op not in ops.LOSSES)
def test_an_upstream_gradient_of_another_shape_is_refused(ops, op):
    out, cache = getattr(ops, f"{op}_forward")(*arguments(op, np.ones((4, 5))))
    with pytest.raises(ValueError, match=r"\(5, 4\)|\(3, 4\)"):
        getattr(ops, f"{op}_backward")(np.ones(out.shape[::-1]), cache)


@pytest.mark.parametrize("op", LABEL_LOSSES)
@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        ([0, 3], ValueError, r"labels\[1\] is 3; with 3 classes a label lies in 0 .. 2"),
        ([0, -1], ValueError, r"labels\[1\] is -1"),
        ([0], ValueError, r"it must be \(2,\), one label for each row"),
        ([[1, 0, 0], [0, 1, 0]], ValueError, "one label for each row"),
        ([0.0, 1.0], TypeError, r"labels are integers.*Write labels.astype\(np.int64\)"),
        ([[1.0, 0.0], [0.0, 1.0]], TypeError, r"Write labels.argmax\(axis=1\) if it holds one-hot rows"),
    ],
)
def test_wrong_labels_are_named(op, labels, error, message):
    with pytest.raises(error, match=message):
        getattr(ops, f"{op}_forward")(np.full((2, 3), 1 / 3), labels)


@pytest.mark.parametrize("op", TARGET_LOSSES)
def test_targets_are_not_broadcast(op):
    with pytest.raises(ValueError, match=r"prediction is \(4, 1\) and target is \(4,\).*reshape target to \(4, 1\)"):
        getattr(ops, f"{op}_forward")(np.ones((4, 1)), np.ones(4))


@settings(max_examples=60, deadline=None)
@given(z=matrices(scale=1e4))
def test_no_activation_overflows(z):
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        for f, f_prime in ops.ACTIVATIONS.values():
            assert np.isfinite(f(z)).all()
            assert np.isfinite(f_prime(z)).all()
        k = ops.softmax(z)
        np.testing.assert_allclose(k.sum(axis=1), 1, rtol=1e-6)
        loss, cache = ops.softmax_cross_entropy_forward(z, np.zeros(len(z), int))
        assert np.isfinite(loss)
        assert np.isfinite(ops.softmax_cross_entropy_backward(cache)).all()
