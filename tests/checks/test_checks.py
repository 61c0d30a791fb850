"""Checks of the checks: each must reject broken code, and say what is wrong with it."""

import numpy as np
import pytest

from course_lib import fast, nn
from course_lib import reference as ops
from course_lib.checks import (
    GradientMismatch,
    Mismatch,
    check_close,
    check_network_gradients,
    check_op_gradients,
    numerical_gradient,
)

X = np.random.default_rng(7).standard_normal((5, 4))
W = np.random.default_rng(8).standard_normal((4, 3))


def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda dk, k: dk * k, "is wrong"),  # only the diagonal of the Jacobian
        (lambda dk, k: dk * k * (1 - k), "is wrong"),  # the sigmoid's derivative
        (lambda dk, k: -ops.softmax_backward(dk, k), "-1 times"),
        (lambda dk, k: ops.softmax_backward(dk, k) / len(k), "0.2 times"),
        (lambda dk, k: ops.softmax_backward(dk, k).T, "must have args"),
        (lambda dk, k: np.zeros_like(k), "is wrong"),
        (lambda dk, k: np.full_like(k, np.nan), "is nan at"),
        (lambda dk, k: ops.softmax_backward(dk, k) * (1 + 1e-4), "is wrong"),
        (lambda dk, k: None, "has shape None"),
    ],
)
def test_wrong_softmax_backwards_are_rejected(wrong, message):
    with pytest.raises(GradientMismatch, match=message):
        check_op_gradients(ops.softmax_forward, wrong, [X], rng=rng())


def test_one_wrong_element_is_found_and_named():
    def backward(dout, cache):
        dx, dw, db = ops.dense_backward(dout, cache)
        dw[2, 1] += 1
        return dx, dw, db

    with pytest.raises(GradientMismatch, match=r"Worst element dargs\[1\]\[2, 1\]"):
        check_op_gradients(ops.dense_forward, backward, [X, W, np.zeros(3)], rng=rng())


def test_each_argument_of_dense_is_checked():
    for broken in range(3):

        def backward(dout, cache, broken=broken):
            grads = list(ops.dense_backward(dout, cache))
            grads[broken] = grads[broken] * 2
            return tuple(grads)

        with pytest.raises(GradientMismatch, match=rf"args\[{broken}\].*2 times"):
            check_op_gradients(ops.dense_forward, backward, [X, W, np.zeros(3)], rng=rng())


def test_a_large_array_is_checked_too():
    x = np.random.default_rng(0).standard_normal((60, 50))
    with pytest.raises(GradientMismatch, match="3000 elements; check a smaller case"):
        check_op_gradients(ops.tanh_forward, lambda da, a: da, [x], rng=rng())


def test_a_loss_is_called_without_an_upstream_gradient():
    with pytest.raises(GradientMismatch, match="5 times"):
        check_op_gradients(ops.quadratic_cost_forward, lambda cache: cache, [X, np.zeros_like(X)], rng=rng())


@pytest.mark.parametrize(
    ("args", "generator", "message"),
    [
        ([X.astype(np.float32)], rng(), r"args\[0\] is float32; a gradient check needs a float64 array"),
        ([[1.0, 2.0]], rng(), "none of the args is a float64 array"),
        ([X], 0, "rng is 0; it must be a numpy.random.Generator"),
    ],
)
def test_a_check_that_could_not_work_is_refused(args, generator, message):
    with pytest.raises(TypeError, match=message):
        check_op_gradients(ops.tanh_forward, ops.tanh_backward, args, rng=generator)


def test_float32_is_refused_when_asked_for():
    with pytest.raises(TypeError, match="differences drown in float32 rounding"):
        check_op_gradients(ops.tanh_forward, ops.tanh_backward, [X.astype(np.float32)], wrt=[0], rng=rng())
    with pytest.raises(TypeError, match="float64"):
        numerical_gradient(np.sum, X.astype(np.float32))


def test_numerical_gradient_of_a_known_function_and_the_input_is_kept():
    kept = X.copy()
    gradient = numerical_gradient(lambda v: np.sum(v**3), X)
    np.testing.assert_allclose(gradient, 3 * X**2, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(X, kept)
    np.testing.assert_allclose(numerical_gradient(lambda v: float(v) ** 2, np.array(3.0)), 6, rtol=1e-8)


class BrokenDense(nn.Dense):
    def backward(self, dout):
        dx = super().backward(dout)
        self.grads["b"] += 1
        return dx


def test_a_network_with_one_wrong_layer_is_rejected_and_restored():
    labels = np.array([0, 1, 2, 0, 1])
    good = nn.models.mlp((4, 6, 3), rng=rng(), activation="tanh", dtype=np.float64)
    before = {k: v.copy() for k, v in good.parameters().items()}
    check_network_gradients(good, X, labels, rng=rng())
    for name, p in good.parameters().items():
        np.testing.assert_array_equal(p, before[name])
        np.testing.assert_array_equal(good.gradients()[name], 0)
    bad = nn.Sequential(BrokenDense(4, 3, rng=rng(), dtype=np.float64))
    with pytest.raises(GradientMismatch, match=r"gradient of 0\.b is wrong"):
        check_network_gradients(bad, X, labels, rng=rng())
    with pytest.raises(TypeError, match="float64"):
        check_network_gradients(nn.models.mlp((4, 3), rng=rng()), X, labels, rng=rng())


@pytest.mark.parametrize(
    ("actual", "expected", "message"),
    [
        ([1.0, 2.5], [1.0, 2.0], r"result\[1\] is 2.5, expected 2; 1 of 2"),
        ([1.0, np.nan], [1.0, np.nan], "NaN or infinite"),
        ([np.inf], [1.0], "NaN or infinite"),
        ([[1.0, 2.0], [3.0, 4.0]], [[1.0, 3.0], [2.0, 4.0]], "transpose"),
        ([[1.0, 2.0]], [[1.0], [2.0]], "looks transposed"),
        ([-1.0, -2.0], [1.0, 2.0], "wrong sign"),
        ([2.0, 0.0, 4.0], [1.0, 0.0, 2.0], "2 times what was expected"),
        ([0.0, 0.0], [1.0, 2.0], "zero everywhere"),
        ([-1e-12, -2e-12], [1e-12, 2e-12], "wrong sign"),
        ([3e-12, 6e-12], [1e-12, 2e-12], "3 times what was expected"),
        ([[1e-12, 2e-12], [3e-12, 4e-12]], [[1e-12, 3e-12], [2e-12, 4e-12]], "transpose"),
        (1.0, [1.0, 1.0], r"shape \(\), expected \(2,\)"),
    ],
)
def test_check_close_explains(actual, expected, message):
    with pytest.raises(Mismatch, match=message):
        check_close(actual, expected)


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (2.5, 2.0),  # one number is always some factor times another
        ([0.0, 2.5], [0.0, 2.0]),
        ([1e-9], [0.0]),
        ([1e-9, 5e-9], [2e-9, 1e-9]),
        ([[1e-9, 2e-9], [3e-9, 5e-9]], [[1e-9, 7e-9], [2e-9, 4e-9]]),
        ([1e-9, 3e-9], [1.0, 2.0]),  # the ratios are tiny, not equal
        ([1 + 1e-6, 2 + 2e-6], [1.0, 2.0]),  # a factor of 1 is none
        ([[1.0, 2.0], [2.0, 1 + 1e-6]], [[1.0, 2.0], [2.0, 1.0]]),  # a symmetric matrix is its own transpose
        ([1.0, 2.0], [1.0, np.inf]),
    ],
)
def test_check_close_names_no_cause_that_it_cannot_know(actual, expected):
    with pytest.raises(Mismatch, match=r"differ by more than rtol=1e-07, atol=0\.$"):
        check_close(actual, expected)


def test_numbers_that_nine_digits_cannot_tell_apart_are_written_out():
    with pytest.raises(Mismatch, match=r"result is 1\.0000000001, expected 1;"):
        check_close(1 + 1e-10, 1.0, rtol=1e-12)
    with pytest.raises(Mismatch, match=r"result is 0\.333333333, expected 0\.25;"):
        check_close(1 / 3, 0.25)


def test_check_close_accepts_what_is_close():
    check_close([1.0, np.inf, 0.0], [1.0 + 1e-9, np.inf, 0.0])
    check_close(np.zeros((0, 3)), np.zeros((0, 3)))
    check_close(5, 5)


def test_the_tolerances_are_what_they_say():
    check_close(1 + 0.9e-6, 1.0, rtol=1e-6)
    check_close(0.9e-6, 0.0, atol=1e-6)
    for actual, options in ((1 + 1.1e-6, {"rtol": 1e-6}), (1.1e-6, {"atol": 1e-6})):
        with pytest.raises(Mismatch):
            check_close(actual, np.floor(actual), **options)


def test_a_small_gradient_is_not_lost_in_the_allowance_for_rounding():
    with pytest.raises(GradientMismatch):
        check_op_gradients(lambda v: (1.0 + 1e-6 * v, None), lambda dout, cache: 1.5e-6 * dout, [X], rng=rng())


class ForgetsTheInput(nn.Dense):
    def backward(self, dout):
        return 2 * super().backward(dout)


def test_a_wrong_gradient_of_the_input_is_rejected():
    net = nn.Sequential(ForgetsTheInput(4, 3, rng=rng(), dtype=np.float64))
    with pytest.raises(GradientMismatch, match="gradient of x is wrong"):
        check_network_gradients(net, X, np.array([0, 1, 2, 0, 1]), rng=rng())


def test_each_element_is_measured_alone():
    """A forgotten restore would shift the later elements; the products here would show it."""
    x = np.array([2.0, 3.0, 5.0])
    np.testing.assert_allclose(numerical_gradient(np.prod, x, eps=0.5), [15, 10, 6], rtol=1e-12)


@pytest.mark.parametrize(
    ("actual", "expected"),
    [(0.0, np.inf), (-np.inf, np.inf), ([1.0, 2.0], [1.0, np.inf]), (np.uint8([0]), np.uint8([255])), (True, False)],
)
def test_infinity_and_small_integers_are_compared_as_numbers(actual, expected):
    with pytest.raises(Mismatch):
        check_close(actual, expected, atol=0.5)


def test_an_operation_that_writes_into_its_arguments_is_rejected():
    def backward(dout, cache):
        dout *= 0
        return dout

    with pytest.raises(GradientMismatch, match="changed its upstream gradient in place"):
        check_op_gradients(ops.tanh_forward, backward, [X], rng=rng())


def test_a_kink_is_named_and_what_cannot_be_measured_is_refused():
    with pytest.raises(GradientMismatch, match="a kink such as ReLU's at 0"):
        check_op_gradients(ops.relu_forward, ops.relu_backward, [np.zeros((2, 3))], rng=rng())
    with pytest.raises(ValueError, match="cannot be checked"):
        check_op_gradients(lambda v: (ops.sigmoid(v) + 1e9, v), lambda d, c: 0 * d, [X], rng=rng())


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.complex128])
def test_an_argument_of_another_type_beside_float64_is_refused_not_skipped(dtype):
    args = [X, W.astype(dtype), np.zeros(3)]
    with pytest.raises(TypeError, match=r"args\[1\] is .*needs a float64 array"):
        check_op_gradients(lambda x, w, b: ops.dense_forward(x, w.real.astype(float), b), ops.dense_backward, args,
                           rng=rng())  # fmt: skip
    args[1] = args[1].real.astype(np.float32)
    check_op_gradients(ops.dense_forward, ops.dense_backward, args, wrt=[0, 2], rng=rng())  # left out on purpose


@pytest.mark.parametrize("shape", [(0,), (0, 4), (3, 0)])
def test_an_empty_array_is_refused_since_nothing_is_measured(shape):
    with pytest.raises(ValueError, match="there is nothing to check"):
        check_op_gradients(ops.tanh_forward, lambda da, a: da, [np.zeros(shape)], rng=rng())
    with pytest.raises(ValueError, match=r"args\[1\] is empty"):
        check_op_gradients(lambda x, b: (x, None), lambda d, c: (d, np.zeros(shape)), [X, np.zeros(shape)], rng=rng())


def test_an_unknown_loss_lists_those_there_are():
    net = nn.models.mlp((4, 3), rng=rng(), dtype=np.float64)
    with pytest.raises(ValueError, match="loss is 'hinge'; it must be one of half_squared_sum"):
        check_network_gradients(net, X, np.array([0, 1, 2, 0, 1]), rng=rng(), loss="hinge")


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_interrupted_check_leaves_the_parameters_as_they_were(error):
    class Stops(nn.Dense):
        calls = 0

        def forward(self, x):
            self.calls += 1
            if self.calls > 3:  # in the midst of the measurements
                raise error
            return super().forward(x)

    net = nn.Sequential(Stops(4, 3, rng=rng(), dtype=np.float64))
    before = {k: v.copy() for k, v in net.parameters().items()}
    with pytest.raises(error):
        check_network_gradients(net, X, np.array([0, 1, 2, 0, 1]), rng=rng())
    for name, p in net.parameters().items():
        np.testing.assert_array_equal(p, before[name])


@pytest.mark.parametrize("name", ["w", "b"])
@pytest.mark.parametrize("in_place", [True, False])
def test_a_layer_that_overwrites_its_gradients_is_rejected(name, in_place):
    class Overwrites(nn.Dense):
        def backward(self, dout):
            if in_place:
                self.grads[name][...] = 0
            else:
                self.grads[name] = np.zeros_like(self.grads[name])
            return super().backward(dout)

    net = nn.Sequential(nn.Dense(4, 4, rng=rng(), dtype=np.float64), Overwrites(4, 3, rng=rng(), dtype=np.float64))
    with pytest.raises(GradientMismatch, match=rf"must double the gradient of 1\.{name}"):
        check_network_gradients(net, X, np.array([0, 1, 2, 0, 1]), rng=rng())


def test_a_layer_without_a_gradient_for_a_parameter_is_rejected():
    net = nn.Sequential(nn.Dense(4, 3, rng=rng(), dtype=np.float64))
    net[0].params["scale"] = np.ones(3)
    with pytest.raises(GradientMismatch, match=r"gradient of 0\.scale has shape None"):
        check_network_gradients(net, X, np.array([0, 1, 2, 0, 1]), rng=rng())


def test_an_operation_that_returns_nothing_is_refused_though_its_arguments_are_not_empty():
    with pytest.raises(ValueError, match=r"forward returned an empty array \(0, 4\)"):
        check_op_gradients(lambda x: (x[:0], None), lambda d, c: np.zeros_like(X), [X], rng=rng())


class KeepsFirstRow(nn.Dense):
    """Training leaves the first row of w as it is."""

    says_so = True

    def backward(self, dout, need_dx=True):
        dx = super().backward(dout, need_dx)
        self.grads["w"][0] = 0
        return dx

    def fixed(self):
        return {"w": np.arange(self.n_in)[:, None] * np.ones(self.n_out) < 1} if self.says_so else {}


def test_numbers_that_training_keeps_are_not_moved_and_must_have_no_gradient():
    """A gradient of 0 is right for a weight that a table leaves out, though the loss would change with it."""
    labels = np.array([0, 1, 2, 0, 1])
    net = nn.Sequential(KeepsFirstRow(4, 3, rng=rng(), dtype=np.float64), nn.Tanh())
    check_network_gradients(net, X, labels, rng=rng())
    assert net.fixed().keys() == {"0.w"}
    net[0].says_so = False
    with pytest.raises(GradientMismatch, match=r"gradient of 0\.w is wrong.*let the layer's fixed\(\) say so"):
        check_network_gradients(net, X, labels, rng=rng())

    class Moves(KeepsFirstRow):
        def backward(self, dout, need_dx=True):
            return nn.Dense.backward(self, dout, need_dx)

    with pytest.raises(GradientMismatch, match=r"at \[0, 0\], a number that the layer says it keeps"):
        check_network_gradients(nn.Sequential(Moves(4, 3, rng=rng(), dtype=np.float64)), X, labels, rng=rng())

    class WrongElsewhere(KeepsFirstRow):
        def _gradients(self, dout, need_dx):
            dx, dw, db = super()._gradients(dout, need_dx)
            dw[2] *= 2
            return dx, dw, db

    with pytest.raises(GradientMismatch, match=r"gradient of 0\.w is wrong.*Worst element d0\.w\[2, "):
        check_network_gradients(nn.Sequential(WrongElsewhere(4, 3, rng=rng(), dtype=np.float64)), X, labels, rng=rng())


@pytest.mark.parametrize("backend", [ops, fast])
def test_every_network_of_the_course_passes_the_check(backend):
    """The lecture's LeNet-5 too: a table of connections, trainable subsampling, and prototypes that stay."""
    images, labels = rng().standard_normal((2, 1, 32, 32)), np.array([3, 7])
    options = {"rng": rng(), "ops": backend, "dtype": np.float64}
    check_network_gradients(
        nn.models.lenet5(classic=True, **options), images, labels, rng=rng(), loss="rbf_loss", rtol=1e-5
    )
    check_network_gradients(nn.models.lenet5(**options), images, labels, rng=rng(), rtol=1e-5)
    colours = rng().standard_normal((2, 3, 32, 32))
    check_network_gradients(nn.models.cnn_color(**options), colours, labels, rng=rng(), rtol=1e-5)
