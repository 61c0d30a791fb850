"""What the gates compile: every rung of every ladder, and every operation, with the arguments of some launches.

Sizes are small, since nothing is run: some that fit 16-byte accesses and some ragged ones, which are other kernels.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from course_lib import gpu
from course_lib.cuda.ladders.rung import Rung

CCS = ((7, 5), (8, 0), (9, 0))
"""Compute capabilities: Turing, Ampere, Hopper."""


@dataclass(frozen=True)
class Entry:
    """One thing to compile: a function without arguments that launches, once for each of some sizes; a rung or None."""

    name: str
    calls: tuple[Callable, ...]
    rung: Rung | None = None

    @property
    def ccs(self):
        """The compute capabilities that it must compile for."""
        return [cc for cc in CCS if self.rung is None or cc >= self.rung.least_cc]


def zeros(*shape, dtype=np.float32):
    """Return a device array of zeros."""
    return gpu.to_device(np.zeros(shape, dtype))


def _products(M, N, K):
    return zeros(M, K), zeros(K, N), zeros(M, N)


CONVOLUTIONS = (  # B, C, H, W, M, K, stride, pad: LeNet-5's two, a residual network's, a ragged one with stride
    (2, 1, 32, 32, 6, 5, 1, 0),
    (2, 6, 14, 14, 16, 5, 1, 0),
    (1, 64, 8, 8, 64, 3, 1, 1),
    (2, 3, 9, 7, 5, 3, 2, 1),
)


def _out(B, C, H, W, M, K, stride, pad):
    return B, M, (H + 2 * pad - K) // stride + 1, (W + 2 * pad - K) // stride + 1


def _forward(*sizes):
    B, C, H, W, M, K, stride, pad = sizes
    return zeros(B, C, H, W), zeros(M, C, K, K), zeros(M), zeros(*_out(*sizes)), stride, pad


def _backward_data(*sizes):
    B, C, H, W, M, K, stride, pad = sizes
    return zeros(*_out(*sizes)), zeros(M, C, K, K), zeros(B, C, H, W), stride, pad


def _backward_weights(*sizes):
    B, C, H, W, M, K, stride, pad = sizes
    return zeros(*_out(*sizes)), zeros(B, C, H, W), zeros(M, C, K, K), zeros(M), stride, pad


LADDERS = {
    "gemm": (_products, ((256, 256, 256), (130, 150, 67))),
    "conv2d.forward": (_forward, CONVOLUTIONS),
    "conv2d.backward_data": (_backward_data, CONVOLUTIONS),
    "conv2d.backward_weights": (_backward_weights, CONVOLUTIONS),
    "reduce": (lambda n: (zeros(n), zeros(1)), ((100_000,), (1001,))),
    "transpose": (lambda M, N: (zeros(M, N), zeros(N, M)), ((256, 128), (65, 37))),
}
"""Ladder -> (how to make a launcher's arguments from sizes, the sizes)."""


def rungs():
    """Return an `Entry` for each rung of each ladder."""
    return [
        Entry(f"{ladder}/{rung.name}", tuple(_call(rung, make, s) for s in sizes), rung)
        for ladder, (make, sizes) in LADDERS.items()
        for rung in importlib.import_module(f"course_lib.cuda.ladders.{ladder}").LADDER
    ]


def _call(rung, make, sizes):
    return lambda: rung.launch(*make(*sizes))


def _elementwise(ops, name):
    x = zeros(5000)
    y, cache = getattr(ops, f"{name}_forward")(x)
    getattr(ops, f"{name}_backward")(y, cache)


def _functions(ops):
    for f, derivative in ops.ACTIVATIONS.values():
        f(zeros(5000))
        derivative(zeros(5000))


def _loss(ops, name, labels):
    k = zeros(40, 10)
    _, cache = getattr(ops, f"{name}_forward")(k, zeros(40, dtype=np.int64) if labels else zeros(40, 10))
    getattr(ops, f"{name}_backward")(cache)


def _softmax(ops):
    k, cache = ops.softmax_forward(zeros(40, 10))
    ops.softmax_backward(k, cache)


def _dense(ops):
    z, cache = ops.dense_forward(zeros(64, 784), zeros(784, 128), zeros(128))
    ops.dense_backward(z, cache)


def _conv2d(ops):
    for stride, pad in ((1, 0), (2, 1)):
        y, cache = ops.conv2d_forward(zeros(2, 6, 14, 14), zeros(16, 6, 5, 5), zeros(16), stride, pad)
        ops.conv2d_backward(y, cache)


def _pool(ops, name):
    for size, stride, pad in ((2, None, 0), (3, 2, 1)):
        y, cache = getattr(ops, f"{name}_forward")(zeros(2, 6, 28, 28), size, stride, pad)
        getattr(ops, f"{name}_backward")(y, cache)


def _subsample(ops):
    y, cache = ops.subsample_forward(zeros(2, 6, 28, 28), zeros(6), zeros(6))
    ops.subsample_backward(y, cache)


def _unroll(ops):
    shape = (2, 6, 14, 14)
    ops.col2im(ops.im2col(zeros(*shape), 5), shape, 5)


def _sgd(ops):
    ops.sgd_step([zeros(784, 128), zeros(7)], [zeros(784, 128), zeros(7)], 0.1)
    ops.sgd_step([zeros(784, 128)], [zeros(784, 128)], 0.1, 0.9, [zeros(784, 128)])


OPERATIONS = {
    **{name: (_elementwise, name) for name in ("sigmoid", "tanh", "identity", "relu", "leaky_relu", "softplus")},
    "activation functions": (_functions,),
    **{name: (_loss, name, False) for name in ("half_squared_sum", "quadratic_cost")},
    **{
        name: (_loss, name, True)
        for name in ("one_minus_probability", "expected_squared_distance", "softmax_cross_entropy")
    },
    "softmax": (_softmax,),
    "dense": (_dense,),
    "conv2d": (_conv2d,),
    **{name: (_pool, name) for name in ("max_pool", "average_pool")},
    "subsample": (_subsample,),
    "im2col": (_unroll,),
    "sgd_step": (_sgd,),
}
"""Operation -> (function that launches all of its kernels, its arguments after `ops`)."""


def operations():
    """Return an `Entry` for each operation, forward and backward together."""
    ops = importlib.import_module("course_lib.cuda")
    return [Entry(f"ops/{name}", (lambda f=f, rest=rest: f(ops, *rest),)) for name, (f, *rest) in OPERATIONS.items()]
