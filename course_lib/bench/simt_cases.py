"""The launches of `course bench simt`: for each kernel its arrays of small whole numbers, grid and block.

Source: the course's own. Two processes make the same arrays here, each for itself, and compare what comes out.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from course_lib.bench import simt_kernels as kernels
from course_lib.bench.simt_kernels import BLOCK, K, T


@dataclass(frozen=True)
class Launch:
    """A kernel with all that a launch needs; `outputs` says which arguments are results.

    Source: the course's own.
    """

    kernel: Callable
    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: tuple
    outputs: tuple[int, ...] = (-1,)

    def results(self):
        """Return the output arrays, as they are now."""
        return [self.arguments[i] for i in self.outputs]


@dataclass(frozen=True)
class Case:
    """A kernel to time: its name, its size n, what is of this size, and how to make its `Launch`.

    Source: the course's own.
    """

    name: str
    size: int
    shape: str
    make: Callable
    rtol: float = 0.0
    """0: results are equal exactly. The exponential function differs in its last bit between libraries."""

    def launch(self, size=None):
        """Return the `Launch` of this size; the same arrays in every process."""
        return self.make(size or self.size, np.random.default_rng(0))


def _whole(rng, *shape):
    return rng.integers(-4, 5, shape).astype(np.float32)


def _empty(*shape):
    return np.full(shape, np.nan, np.float32)


def _blocks(count, size):
    return -(-count // size)


def _vector_add(n, rng):
    return Launch(
        kernels.vector_add, (_blocks(n, BLOCK),), (BLOCK,), (_whole(rng, n), _whole(rng, n), _empty(n))
    )  # fmt: skip


def _axpy(n, rng):
    return Launch(kernels.axpy_grid_stride, (4,), (BLOCK,), (np.float32(2), _whole(rng, n), _whole(rng, n)))


def _product(kernel):
    def make(n, rng):
        return Launch(kernel, (_blocks(n, T),) * 2, (T, T), (_whole(rng, n, n), _whole(rng, n, n), _empty(n, n)))

    return make


def _transpose(kernel):
    def make(n, rng):
        return Launch(kernel, (_blocks(n, 32),) * 2, (32, 32), (_whole(rng, n, n), _empty(n, n)))

    return make


def _block_sum(n, rng):
    return Launch(kernels.block_sum, (_blocks(n, BLOCK),), (BLOCK,), (_whole(rng, n), _empty(_blocks(n, BLOCK))))


def _histogram(n, rng):
    x = rng.integers(0, 16, n).astype(np.int32)
    return Launch(kernels.histogram, (_blocks(n, BLOCK),), (BLOCK,), (x, np.zeros(16, np.int32)))


def _softmax(rows, rng):
    return Launch(kernels.softmax_rows, (rows,), (BLOCK,), (_whole(rng, rows, 1000), _empty(rows, 1000)))


def _max_pool(n, rng):
    x, y = _whole(rng, 2, 4, n, n), _empty(2, 4, n // 2, n // 2)
    return Launch(kernels.max_pool, (_blocks(n // 2, 8), _blocks(n // 2, 8), 8), (8, 8), (x, y))


def _conv2d(n, rng):
    out = n - K + 1
    x, w, y = _whole(rng, 1, 3, n, n), _whole(rng, 4, 3, K, K), _empty(1, 4, out, out)
    return Launch(kernels.conv2d_direct, (_blocks(out, 8), _blocks(out, 8), 4), (8, 8), (x, w, y))


def _stencil(n, rng):
    return Launch(kernels.stencil, (_blocks(n, BLOCK),), (BLOCK,), (_whole(rng, n), _empty(n)))


TILED = "tiled product"

CASES = {
    case.name: case
    for case in (
        Case("vector add", 10_000, "{n:,} elements", _vector_add),
        Case("axpy, grid-stride", 200_000, "{n:,} elements", _axpy),
        Case("naive product", 64, "{n} x {n}", _product(kernels.product_naive)),
        Case(TILED, 64, "{n} x {n}", _product(kernels.product_tiled)),
        Case("transpose, tile", 64, "{n} x {n}", _transpose(kernels.transpose_tile)),
        Case("transpose, padded", 64, "{n} x {n}", _transpose(kernels.transpose_padded)),
        Case("block sums", 1_500, "{n:,} elements", _block_sum),
        Case("histogram, atomics", 20_000, "{n:,} elements", _histogram),
        Case("softmax", 4, "{n} rows of 1,000", _softmax, rtol=1e-6),
        Case("max pooling", 32, "2 x 4 x {n} x {n}", _max_pool),
        Case("convolution 5x5", 28, "3 x {n} x {n}", _conv2d),
        Case("stencil", 1_500, "{n:,} elements", _stencil),
    )
}
"""The twelve cases by name, each of a size that Numba's simulator runs in seconds."""
