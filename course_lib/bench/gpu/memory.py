"""Work that is bound by memory, against a copy of as many bytes on the device: ladders and single operations.

Everything comes twice, on arrays of its own, together larger than any L2 cache. Source: the course's own.
"""

import functools
import importlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from course_lib import gpu, reference
from course_lib.bench.gpu.players import ladder, players, replayed
from course_lib.bench.gpu.work import FLOAT32, READABLE, Player, Work
from course_lib.cuda.ladders.conv2d.backward_weights.parts import bias_gradient

COPY, OPERATION = "copy", "operation"
SETS = 2
"""Sets of arrays that are walked in turns."""

FLOAT = 4
"""Bytes."""


def against_copy(backend, count):
    """Return {"copy": Player} that reads and writes `count` bytes in all. No errors. Source: the course's own."""
    pairs = [[backend.nan(max(1, count // (2 * FLOAT))) for _ in "xy"] for _ in range(SETS)]
    return {COPY: Player(tuple(_copy(backend, x, y) for x, y in pairs))}


def _copy(backend, x, y):
    copy = backend.copy_call(x, y)

    def call():
        copy()
        return ()

    return call


def _sets(host):
    return [gpu.to_device(host) for _ in range(SETS)]


def transpose(backend, rng, M, N):
    """Return the `Work` of transposing x (M, N). Errors as the launchers'. Source: K, "Matrix transpose"."""
    xs = _sets(rng.standard_normal((M, N), np.float32))

    def make(rung):
        ys = [backend.nan((N, M)) for _ in xs]
        return [(lambda x=x, y=y: rung.launch(x, y), (y,)) for x, y in zip(xs, ys, strict=True)]

    return Work(
        flops=0,
        bytes=2 * FLOAT * M * N,
        terms=0,
        exact=lambda sizes=False: backend.transposed(backend.double(xs[0], sizes)),
        ours=players([rung for rung in ladder("transpose") if rung.takes(M, N)], make),
        rivals=against_copy(backend, 2 * FLOAT * M * N),
        rival={READABLE: COPY, FLOAT32: COPY},
    )


def bias_sums(backend, rng, B, M, side):
    """Return the `Work` of a convolution's bias gradient, from dy (B, M, side, side). Errors as the launcher's.

    Source: H, "Calculating dE/dW".
    """
    host = rng.standard_normal((B, M, side, side), np.float32)
    dys = _sets(host)

    def exact(sizes=False):
        return (backend.exact_of((np.abs(host) if sizes else host).sum((0, 2, 3), np.float64)),)

    def make():
        dbs = [backend.nan((M,)) for _ in dys]
        calls = [replayed(lambda dy=dy, db=db: bias_gradient(dy, db), (db,)) for dy, db in zip(dys, dbs, strict=True)]
        return Player(tuple(calls), FLOAT32)

    moved = FLOAT * host.size
    return Work(host.size, moved, B * side**2, exact, {OPERATION: make}, against_copy(backend, moved), {FLOAT32: COPY})


def reduce(backend, rng, n):
    """Return the `Work` of adding up x (n,). Errors as the launchers'. Source: M. Harris, "Optimizing Reduction"."""
    xs = _sets(rng.standard_normal(n, np.float32))

    def make(rung):
        outs = [backend.nan((1,)) for _ in xs]
        return [(lambda x=x, out=out: rung.launch(x, out), (out,)) for x, out in zip(xs, outs, strict=True)]

    return Work(
        flops=n,
        bytes=FLOAT * n,
        terms=n,
        exact=lambda sizes=False: backend.total(backend.double(xs[0], sizes)),
        ours=players(ladder("reduce"), make),
        rivals=against_copy(backend, FLOAT * n),
        rival={READABLE: COPY, FLOAT32: COPY},
    )


@dataclass(frozen=True)
class Operation:
    """An operation of `course_lib.cuda`, which has the same name and arguments in the reference.

    Attributes
    ----------
    inputs : function
        inputs(rng, n) -> list of host arrays; whole numbers stay whole.
    run : function
        run(ops, *inputs) -> tuple of the arrays that hold the result, for either backend `ops`.
    before : function, optional
        before(ops, *inputs) -> what `run` gets instead of the inputs, such as the cache of a way forward; not timed.
    numbers : float
        float32 numbers that must be read and written for each one of the first input.
    terms : int
        As in `Work`.
    sizes : function, optional
        sizes(*inputs) -> the sums of the terms' sizes; the sizes of the results unless given.

    Source: the course's own.
    """

    inputs: Callable
    run: Callable
    numbers: float
    terms: int = 0
    sizes: Callable | None = None
    before: Callable | None = None

    def prepared(self, ops, inputs):
        """Return what `run` gets after the backend. Errors as the operation's. Source: the course's own."""
        return self.before(ops, *inputs) if self.before else inputs


def operation(backend, rng, what, n):
    """Return the `Work` of an `Operation` of n images or rows. Errors as the operation's. Source: the course's own."""
    hosts = what.inputs(rng, n)
    moved = int(FLOAT * what.numbers * hosts[0].size)

    def exact(sizes=False):
        wide = [a if a.dtype.kind in "iu" else a.astype(np.float64) for a in hosts]
        known = sizes and what.sizes
        results = what.sizes(*wide) if known else what.run(reference, *what.prepared(reference, wide))
        return tuple(backend.exact_of(np.abs(r) if sizes else r) for r in results)

    def make():
        return Player(tuple(_again(backend, what, [gpu.to_device(a) for a in hosts]) for _ in range(SETS)), FLOAT32)

    return Work(0, moved, what.terms, exact, {OPERATION: make}, against_copy(backend, moved), {FLOAT32: COPY})


def _again(backend, what, inputs):
    ops = importlib.import_module("course_lib.cuda")
    inputs, outputs = what.prepared(ops, inputs), []
    call = replayed(lambda: outputs.extend(what.run(ops, *inputs)), outputs)
    for array in outputs:
        if not any(array is given for given in inputs):  # else it is changed in place
            backend.spoil(array)
    return call


def _normal(count, *shape):
    return lambda rng, n: [rng.standard_normal((n, *shape), np.float32) for _ in range(count)]


def _rows(rng, n):
    return [rng.standard_normal((n, 10), np.float32), rng.integers(0, 10, n).astype(np.int32)]


def _sgd(ops, p, g, v):
    ops.sgd_step([p], [g], 0.01, 0.9, [v])
    return p, v


def _sgd_sizes(p, g, v):
    step = 0.01 * np.abs(g) + 0.9 * np.abs(v)
    return np.abs(p) + step, step


def _moments(rng, n):
    p, g, m, v = (rng.standard_normal(n, np.float32) for _ in range(4))
    return [p, g, m, v * v]


def _adam(ops, p, g, m, v):
    ops.adam_step([p], [g], 0.01, [m], [v], step=10)
    return p, m, v


def _adam_sizes(p, g, m, v):
    grown, m, v = (1 - 0.9**10, 1 - 0.999**10), 0.9 * np.abs(m) + 0.1 * np.abs(g), 0.999 * v + 0.001 * g * g
    return np.abs(p) + 0.01 * m / grown[0] / np.sqrt(v / grown[1]), m, v


def _means(x):
    return (reference.average_pool_forward(np.abs(x), 2)[0],)


def _pooled(rng, n):
    return [rng.standard_normal((n, 6, 28, 28), np.float32), rng.standard_normal((n, 6, 14, 14), np.float32)]


def _before_pooling_back(forward, *window):
    return lambda ops, x, dy: (dy, getattr(ops, forward)(x, *window)[1])


OVERLAPPING = (3, 2)
"""AlexNet's windows: of 3 x 3 pixels, two apart."""


def _pooled_overlapping(rng, n):
    return [rng.standard_normal((n, 96, 55, 55), np.float32), rng.standard_normal((n, 96, 27, 27), np.float32)]


def _overlapping_back(kind, numbers):
    """Return the `Operation` of a gradient of overlapping windows; a pixel adds up at the most four of them."""
    forward, back = f"{kind}_pool_forward", f"{kind}_pool_backward"

    def sizes(x, dy):
        _, cache = getattr(reference, forward)(x, *OVERLAPPING)
        return (getattr(reference, back)(np.abs(dy), cache),)

    return Operation(
        _pooled_overlapping,
        lambda ops, dy, cache: (getattr(ops, back)(dy, cache),),
        numbers,
        4,
        sizes,
        _before_pooling_back(forward, *OVERLAPPING),
    )


def _entry(size, n, what, small=7):
    return size, functools.partial(operation, what=what), dict(n=n), dict(n=small)


MAPS, ALEXNET = "10,000 x 6 x 28 x 28", "128 x 96 x 55 x 55"
MEMORY = {
    "transpose": ("8,192 x 8,192", transpose, dict(M=8192, N=8192), dict(M=256, N=128)),
    "transpose of odd sizes": ("8,191 x 8,193", transpose, dict(M=8191, N=8193), dict(M=65, N=37)),
    "reduce": ("2^26", reduce, dict(n=2**26), dict(n=1000)),
    "ReLU": _entry("2^26", 2**26, Operation(_normal(1), lambda ops, z: ops.relu_forward(z)[:1], 2)),
    "ReLU backward": _entry("2^26", 2**26, Operation(_normal(2), lambda ops, da, z: (ops.relu_backward(da, z),), 3)),
    "max pooling": _entry(
        MAPS, 10_000, Operation(_normal(1, 6, 28, 28), lambda ops, x: ops.max_pool_forward(x, 2)[:1], 1.5)
    ),
    "average pooling": _entry(
        MAPS,
        10_000,
        Operation(_normal(1, 6, 28, 28), lambda ops, x: ops.average_pool_forward(x, 2)[:1], 1.25, 4, _means),
    ),
    "max pooling backward": _entry(
        MAPS,
        10_000,
        Operation(
            _pooled,
            lambda ops, dy, cache: (ops.max_pool_backward(dy, cache),),
            1.5,
            before=_before_pooling_back("max_pool_forward", 2),
        ),
    ),
    "average pooling backward": _entry(
        MAPS,
        10_000,
        Operation(
            _pooled,
            lambda ops, dy, cache: (ops.average_pool_backward(dy, cache),),
            1.25,
            before=_before_pooling_back("average_pool_forward", 2),
        ),
    ),
    "overlapping max pooling backward": _entry(ALEXNET, 128, _overlapping_back("max", 1 + 2 * 27**2 / 55**2), small=1),
    "overlapping average pooling backward": _entry(
        ALEXNET, 128, _overlapping_back("average", 1 + 27**2 / 55**2), small=1
    ),
    "bias gradient": (MAPS, bias_sums, dict(B=10_000, M=6, side=28), dict(B=7, M=6, side=28)),
    "SGD with momentum": _entry("2^26", 2**26, Operation(_normal(3), _sgd, 5, 4, _sgd_sizes)),
    "Adam": _entry("2^26", 2**26, Operation(_moments, _adam, 7, 8, _adam_sizes)),
    "dropout": _entry("2^26", 2**26, Operation(_normal(1), lambda ops, x: ops.dropout_forward(x, 0.5, 7)[:1], 2)),
    "softmax cross-entropy": _entry(
        "2^22 x 10", 2**22, Operation(_rows, lambda ops, z, y: ops.softmax_cross_entropy_forward(z, y)[1][:1], 2.1, 100)
    ),
}
"""Name -> (size to read, maker, sizes, small sizes)."""
