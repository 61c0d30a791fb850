"""The kernels of tests/simt/measured at sizes that fill a card: the same text, larger arrays.

Left out are one that all blocks of a larger grid would do over again (shared_bytes), and doubles. Numbers are small
whole ones, repeated: no time depends on them but that of histograms and of lists that are followed.
Source: the course's own.
"""

from dataclasses import dataclass

import numpy as np

N = 2**25
"""Elements of a vector: 128 MiB of float32, more than any L2 cache with its inputs and outputs."""
SIDE = 8192
"""Of a matrix that is copied or transposed."""


@dataclass(frozen=True)
class Large:
    """A launch: the case's name in tests/simt/measured, grid, block, dynamic shared bytes, and arguments.

    `make(zeros)` returns the arguments on the host; `zeros(shape, dtype)` makes arrays whose numbers do not matter.
    Source: the course's own.
    """

    case: str
    grid: tuple
    block: tuple
    make: object
    shared: int = 0

    @property
    def kernel(self):
        """The function, as the measured case has it."""
        from tests.simt.measured.kernels import CASES

        return CASES[self.case].kernel


def noise(shape, dtype=np.float32):
    """Return whole numbers from -4 to 4 (of unsigned types: any), a pattern that is repeated. No errors."""
    rng = np.random.default_rng(7)
    low, high = (0, 256) if dtype == np.uint8 else (-4, 5)
    return np.resize(rng.integers(low, high, 65521).astype(dtype), shape)


def _vectors(*dtypes, n=N, more=()):
    """Return a maker of vectors of n elements, the numbers `more` after the first ones."""

    def make(zeros):
        return [*(zeros(n, d) for d in dtypes), *more]

    return make


def _of(*parts):
    """Return a maker of arguments: (shape, dtype) or shape as an array, anything else as it is."""

    def make(zeros):
        return [zeros(p, np.float32) if isinstance(p, tuple) else p(zeros) if callable(p) else p for p in parts]

    return make


def _typed(shape, dtype):
    return lambda zeros: zeros(shape, dtype)


F32, F64 = np.float32, np.float64


def _lists(zeros):
    rng = np.random.default_rng(7)
    first = np.resize(rng.integers(0, 60, 65521).astype(np.int32), N // 4)
    return [first, (np.arange(60) // 2).astype(np.int32), noise(60), zeros(N // 4, F32)]


def _ragged(zeros):
    rng = np.random.default_rng(7)
    return [np.resize(rng.integers(0, 9, 65521).astype(np.int32), N // 4), zeros((9, N // 4), F32), zeros(N // 4, F32)]


def _labels(zeros):
    rng = np.random.default_rng(7)
    labels = np.resize(rng.integers(0, 10, 65521).astype(np.int32), N // 10)
    return [zeros((N // 10, 10), F32), labels, zeros(N // 10, F32), zeros((N // 10, 10), F32)]


def _histogram(zeros):
    return [noise(N, np.uint8), np.zeros(16, np.int32)]


def _pooling_back(zeros):
    place = np.resize(np.random.default_rng(7).integers(0, 4, 65521).astype(np.int32), (N // 784, 14, 14))
    return [zeros((N // 784, 14, 14), F32), place, zeros((N // 784, 28, 28), F32)]


def _fortran(zeros):
    return [zeros((SIDE, SIDE), F32).T, zeros((SIDE, SIDE), F32)]


def _matrix(grid, block, name):
    return Large(name, grid, block, _of((SIDE, SIDE), (SIDE, SIDE)))


def _vector(name, *dtypes, block=128, each=1, n=N, more=(), shared=0):
    return Large(name, (-(-n // (block * each)),), (block,), _vectors(*dtypes, n=n, more=more), shared)


def _strided(stride, n=N // 4):
    return Large(f"copy_stride_{stride}", (n // 128,), (128,), _of((n * stride,), stride, (n,)))


def _banks(name, stride, dtype=F32):
    return Large(name, (N // 128,), (128,), _of(_typed(N, dtype), stride, _typed(N, dtype)))


def _sums(name, each=256):
    return Large(name, (N // each,), (256,), _of((N,), (N // each,)))


def _product(name, n, tile, block):
    return Large(name, (n // tile, n // tile), block, _of((n, n), (n, n), (n, n)))


IMAGES, MAPS = 1024, (64, 64)
X, W, Y = (IMAGES, 2, *MAPS), (4, 2, 3, 3), (IMAGES, 4, 62, 62)
ROWS, TALL = 2**16, 2**16

LARGE = {
    entry.case: entry
    for entry in (
        _vector("vector_add", F32, F32, F32),
        Large("relu_leaky", (N // 256,), (256,), _of((N,), F32(0.5), (N,))),
        Large("grid_stride", (132 * 16,), (96,), _of(F32(3), (N,), (N,))),
        _vector("coarsened_add", F32, F32, F32, block=64, each=4),
        _vector("divergent_branch", F32, F32, F32),
        Large("divergent_loop", (N // 4 // 64,), (64,), _lists),
        _vector("device_function", F32, F32, F32),
        Large("partial_warps", (N // 33,), (33,), _of((N,), (N,))),
        Large("bias_relu", (SIDE // 32, SIDE // 4), (32, 4), _of((SIDE, SIDE), (SIDE,), (SIDE, SIDE))),
        _vector("sgd_momentum", F32, F32, F32, more=(F32(0.25), F32(0.5))),
        _vector("add_float64", F64, F64, F64),
        _vector("uint8_to_float", np.uint8, F32),
        _vector("float_to_int8", F32, np.int8),
        _vector("float16_to_float32", np.float16, F32),
        Large("grid_3d", (64, 128, 64), (8, 4, 2), _of((129, 512, 512), (128, 512, 512))),
        _strided(2),
        _strided(8),
        _strided(32),
        Large("copy_offset", (N // 128,), (128,), _of((N + 1,), 1, (N,))),
        Large("store_stride", (N // 128,), (128,), _of((N,), 3, (3 * N,))),
        _matrix((SIDE // 32, SIDE // 8), (32, 8), "copy_rows"),
        _matrix((SIDE // 32, SIDE // 8), (32, 8), "copy_columns"),
        Large("copy_fortran", (SIDE // 32, SIDE // 8), (32, 8), _fortran),
        Large("row_sums", (N // 64 // 64,), (64,), _of((N // 64, 64), (N // 64,))),
        Large("column_sums", (N // 64 // 64,), (64,), _of((64, N // 64), (N // 64,))),
        *(_banks(f"shared_stride_{s}", s) for s in (2, 12, 31)),
        *(_banks(f"shared_float64_{s}", s, F64) for s in (1, 4)),
        _vector("dynamic_shared_reverse", F32, F32, shared=512),
        Large("median_of_5", (N // 4 // 64,), (64,), _of((N // 4 + 4,), (N // 4,))),
        _matrix((SIDE // 32, SIDE // 32), (32, 32), "transpose_naive"),
        _matrix((SIDE // 32, SIDE // 32), (32, 32), "transpose_tile"),
        _matrix((SIDE // 32, SIDE // 32), (32, 32), "transpose_padded"),
        _matrix((SIDE // 32, SIDE // 32), (32, 8), "transpose_coarsened"),
        Large("stencil_1d", (N // 128,), (128,), _of((N + 4,), (N,))),
        _sums("reduce_modulo"),
        _sums("reduce_interleaved"),
        _sums("reduce_sequential"),
        _sums("reduce_first_add", 512),
        _sums("reduce_shuffle"),
        Large("reduce_atomic", (132 * 16,), (128,), _of((N,), (1,))),
        _vector("scan_block", F32, F32),
        Large("matrix_vector", (ROWS // 4,), (128,), _of((ROWS, 512), (512,), (ROWS,))),
        Large("ballot_count", (N // 128,), (128,), _of((N,), _typed(N // 32, np.int32))),
        Large("softmax_rows", (ROWS,), (64,), _of((ROWS, 512), (ROWS, 512))),
        Large("softmax_cross_entropy", (N // 10 // 32 + 1,), (32,), _labels),
        Large("histogram_global", (N // 128,), (128,), _histogram),
        Large("histogram_shared", (N // 128,), (128,), _histogram),
        Large(
            "max_pool",
            (N // 64,),
            (64,),
            _of((N // 196, 28, 28), (N // 196, 14, 14), _typed((N // 196, 14, 14), np.int32)),
        ),
        Large("max_pool_backward", (N // 128,), (128,), _pooling_back),
        Large("average_pool", (8, 16, 1024), (16, 8), _of((1024, 258, 258), (1024, 128, 128))),
        _product("product_naive", 2048, 16, (16, 16)),
        _product("product_uncoalesced", 1024, 16, (16, 16)),
        _product("product_tiled_128", 2048, 16, (16, 16)),
        _product("product_double_buffered", 2048, 16, (16, 16)),
        _product("product_register_1d", 2048, 32, (32, 8)),
        _product("product_register_2d", 2048, 32, (8, 8)),
        Large("conv_basic", (4, 256, IMAGES), (4, 4), _of(X, W, Y)),
        Large("conv_tiled", (4, 16, IMAGES), (16, 16), _of(X, W, Y)),
        Large("conv_constant", (4, 4, 4 * IMAGES), (16, 16), _of(X, Y)),
        Large("conv_implicit_product", (241, 1, IMAGES), (16, 16), _of(X, W, Y)),
        Large("conv_register", (4, 4, IMAGES), (16, 16), _of(X, W, Y)),
        Large("conv_c1", (7, 10_000), (128,), _of((10_000, 32, 32), (10_000, 6, 28, 28))),
        Large("im2col", (TALL * 3 * 30 // 128,), (128,), _of((3, TALL + 2, 32), (27, TALL * 30))),
        Large("col2im", (TALL * 3 * 32 // 128,), (128,), _of((27, (TALL - 2) * 30), (3, TALL, 32))),
        Large("conv_backward_data", (256, 512, 2), (16, 8), _of((3, 4094, 4094), (3, 2, 3, 3), (2, 4096, 4096))),
        Large("conv_backward_weights", (32, 32, 9), (64,), _of((32, 130, 130), (32, 128, 128), (32, 32, 3, 3))),
        Large("bias_add", (N // 128,), (128,), _of((N // 320, 5, 8, 8), (5,))),
        Large("bias_gradient", (1024,), (64,), _of((1024, N // 1024), (1024,))),
        _vector("same_load_twice", F32, F32),
        _vector("unused_load", F32, F32, F32),
        Large("load_in_a_loop", (N // 128,), (128,), _of((N,), 5, (N,))),
        Large("ragged_rows", (N // 4 // 64,), (64,), _ragged),
    )
}
"""By the measured case's name."""
