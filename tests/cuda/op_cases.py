"""Every operation of the backend with arguments that it takes: one table for all tests that go through all of them."""

from dataclasses import dataclass, field

import numpy as np

from course_lib import reference


@dataclass(frozen=True)
class Case:
    """An operation and what it is called with.

    Attributes
    ----------
    op : str
        A name of the backend; with `pair`, without its ending _forward.
    arguments : tuple
        Host arrays and numbers; arrays go to the backend first.
    pair : bool
        Whether `op`_forward(...) gives (out, cache) and `op`_backward takes them.
    exact : bool
        Whether on small whole numbers the result is exact in float32.
    options : dict
        Named arguments.
    """

    op: str
    arguments: tuple
    pair: bool = True
    exact: bool = True
    options: dict = field(default_factory=dict)

    def __str__(self):
        shapes = ",".join(str(a.shape).replace(" ", "") for a in self.arguments if isinstance(a, np.ndarray))
        rest = [str(a) for a in (*self.arguments, *self.options.values()) if not isinstance(a, np.ndarray)]
        return "-".join([self.op, shapes, *rest]).replace(" ", "")


def whole(seed, *shape):
    """Small whole numbers as float32 (...)."""
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float32)


def labels(seed, rows, classes, dtype=np.int64):
    return np.random.default_rng(seed).integers(0, classes, rows).astype(dtype)


def probabilities(seed, *shape):
    return reference.softmax(whole(seed, *shape))


ELEMENTWISE = ("identity", "relu", "leaky_relu", "sigmoid", "tanh", "scaled_tanh", "softplus")
FUNCTIONS = ("heaviside", *ELEMENTWISE)
SQUARES = ("half_squared_sum", "quadratic_cost")
ROUNDED = ("sigmoid", "tanh", "scaled_tanh", "softplus")
MATRICES = [(1, 1, 1), (7, 13, 9), (17, 5, 33), (20, 40, 3)]
WINDOWS = [(1, 1, 0), (3, 1, 1), ((2, 3), (2, 1), (1, 2)), (2, 3, 0)]

CASES = [
    *(Case(op, (whole(1, *s),), exact=op not in ROUNDED) for op in ELEMENTWISE for s in [(7,), (2, 3, 5)]),
    *(Case(op, (whole(1, 5, 7),), False, op not in ROUNDED) for op in FUNCTIONS),
    *(Case(f"{op}_prime", (whole(1, 5, 7),), False, op not in ROUNDED) for op in FUNCTIONS),
    *(Case("dropout", (whole(1, *s), rate, 7)) for s, rate in [((7,), 0.5), ((41, 60), 0.75), ((3, 2, 5), 0)]),
    *(Case("dense", (whole(1, B, D), whole(2, D, M), *b)) for B, D, M in MATRICES for b in [(), (whole(3, M),)]),
    *(
        Case("softmax", (whole(1, *s),), exact=False)
        for s in [(1, 1), (5,), (3, 2, 10), (130, 3), (131, 8), (4, 33), (2, 1030)]
    ),
    Case("softmax", (whole(1, 4, 6),), False, False),
    Case("softmax_jacobian", (whole(1, 18),), False),
    *(Case(op, (whole(1, *s), whole(2, *s))) for op in SQUARES for s in [(1, 1), (8, 71)]),
    *(
        Case(op, (probabilities(1, B, C), labels(2, B, C)), exact=False)
        for op in ("one_minus_probability", "expected_squared_distance")
        for B, C in [(1, 1), (7, 10), (300, 3)]
    ),
    *(
        Case("softmax_cross_entropy", (whole(1, B, C), labels(2, B, C, kind)), exact=False)
        for B, C, kind in [(1, 1, "i8"), (7, 10, "i4"), (300, 3, "i8"), (9, 40, "i4"), (2, 1030, "i8")]
    ),
    *(Case("rbf", (whole(1, B, D), whole(2, C, D))) for B, D, C in MATRICES),
    Case("rbf_loss", (np.abs(whole(1, 7, 10)), labels(2, 7, 10)), exact=False),
    Case("rbf_loss", (np.abs(whole(1, 5, 35)), labels(2, 5, 35), 0.5), exact=False),
    *(
        Case(op, (whole(1, 2, 3, 5, 6), whole(2, 4, 3, *(m if isinstance(m, tuple) else (m, m))), *b, *(s, p)))
        for op in ("conv2d", "conv2d_loops", "conv2d_windows")
        for m, s, p in WINDOWS
        for b in [(whole(3, 4),), (None,)]
    ),
    *(
        Case("conv2d", (whole(1, B, 2, *m), whole(2, 4, 2, *m), b, s, 0))  # masks that cover the image
        for B, m, s in [(3, (4, 5), 1), (1, (2, 2), 2), (513, (1, 2), 1)]
        for b in (whole(3, 4), None)
    ),
    *(
        Case("conv2d_fft", (whole(1, 2, 3, 5, 6), whole(2, 4, 3, *m), whole(3, 4), *(s, p)), exact=False)
        for m, s, p in [((3, 3), 1, 1), ((2, 3), (2, 1), (1, 2))]
    ),
    *(Case("conv1d", (whole(1, 2, 3, 9), whole(2, 4, 3, 3), whole(3, 4), s, p)) for s, p in [(1, 0), (2, 1)]),
    *(Case("conv3d", (whole(1, 2, 2, 4, 5, 3), whole(2, 3, 2, 3, 2, 3), None, s, p)) for s, p in [(1, 0), (2, 1)]),
    *(Case("im2col", (whole(1, 2, 3, 5, 6), m, s, p), False) for m, s, p in WINDOWS),
    Case("col2im", (whole(1, 2, 18, 16), (2, 3, 5, 6), (2, 3), (1, 1), 0), False),
    Case("col2im", (whole(1, 2, 27, 6), (2, 3, 5, 6), 3, (2, 3), 1), False),
    *(Case("max_pool", (whole(1, 2, 3, 6, 8), *window)) for window in [(2,), (3, 2), ((2, 3), 1, (1, 0))]),
    *(Case("average_pool", (4 * whole(1, 2, 3, 6, 8), 2, *stride)) for stride in [(), (1,), (2, 1)]),
    Case("subsample", (whole(1, 2, 3, 6, 8), whole(2, 3), whole(3, 3), 2)),
    Case("flatten", (whole(1, 2, 3, 2, 5),)),
    Case("add_bias_input", (whole(1, 7, 3),), False),
    Case("perceptron_predict", (whole(1, 40, 3), whole(2, 4)), False),
    Case("linear_regression_predict", (whole(1, 40, 3), whole(2, 3), 2.0), False),
    *(Case("round_to", (whole(1, 5, 7), name), False) for name in ("float32", "tf32", "bf16", "e5m2")),
    *(
        Case("round_to", (whole(1, 5, 7), name), False, options={"saturate": s})
        for name in ("fp16", "e4m3")
        for s in (False, True)
    ),
    Case("keep_where", (whole(1, 5, 7), whole(2, 5, 7)), False),
    Case("zeros_like", (whole(1, 5, 7),), False),
    Case("copy_of", (whole(1, 5, 7),), False),
]
"""One entry an operation and shape; names as in the reference."""

SHUFFLES = {
    "conv1d", "conv2d_fft", "conv2d_loops", "conv2d_windows", "conv3d", "expected_squared_distance", "half_squared_sum",
    "one_minus_probability", "quadratic_cost", "rbf", "rbf_loss", "softmax", "softmax_cross_entropy", "subsample",
}  # fmt: skip
"""Operations with a kernel that adds up or turns tiles by the lanes of a warp, forward or backward; conv2d does for its
bias."""

OTHERS = {
    "linear_regression_fit": (whole(1, 40, 3), whole(2, 40)),
    "linear_regression_descend": (whole(1, 40, 3), whole(2, 40), 0.01, 3),
    "perceptron_fit": (whole(1, 12, 3), labels(2, 12, 2)),
    "accumulate": (whole(1, 5, 7), whole(2, 5, 7)),
    "assign": (whole(1, 5, 7), whole(2, 5, 7)),
    "fill_zero": (whole(1, 5, 7),),
    "scale_by": (whole(1, 5, 7), 0.5),
    "all_finite": None,  # takes a list: tests/cuda/test_precision.py
    "sgd_step": None,  # tests/cuda/test_optim.py
    "adam_step": None,  # tests/cuda/test_adam.py
    "to_host": (whole(1, 5, 7),),
    "to_backend": None,  # takes host arrays
}
"""Operations that return something else than arrays, or change theirs; each has a test of its own."""


def names(case):
    """Return the names in the backend that a case calls; those of convolution loops end in _loops."""
    if not case.pair:
        return (case.op,)
    stem, _, form = case.op.partition("_") if case.op.endswith(("_loops", "_windows")) else (case.op, "", "")
    return tuple(f"{stem}_{way}" + (f"_{form}" if form else "") for way in ("forward", "backward"))


def shuffles(case):
    """Return whether one of a case's kernels needs the lanes of a warp together."""
    return case.op in SHUFFLES or (case.op == "conv2d" and case.arguments[2] is not None)


def put(ops, arguments, real=np.float32):
    """Return arguments as `ops` takes them: arrays in the backend, floats as `real`."""
    kinds = [a.astype(real) if isinstance(a, np.ndarray) and a.dtype.kind == "f" else a for a in arguments]
    return tuple(ops.to_backend(a) if isinstance(a, np.ndarray) else a for a in kinds)


def run(ops, case, real=np.float32, upstream=None):
    """Return [output, gradients ...] of a case as host arrays; `upstream` (seed -> array) makes dE/d output."""
    arguments = put(ops, case.arguments, real)
    if not case.pair:
        return [ops.to_host(getattr(ops, case.op)(*arguments, **case.options))]
    forward, backward = (getattr(ops, name) for name in names(case))
    out, cache = forward(*arguments, **case.options)
    if case.op in ops.LOSSES:
        return [np.asarray(out), ops.to_host(backward(cache))]
    dout = (upstream or whole)(9, *out.shape)
    grads = backward(*put(ops, (dout,), real), cache)
    grads = grads if isinstance(grads, tuple) else (grads,)
    return [np.asarray(ops.to_host(out)), *(g if g is None else ops.to_host(g) for g in grads)]
