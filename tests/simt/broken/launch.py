"""Launches and kernels' heads that no GPU takes: sizes, shared memory, parameters, results."""

import numpy as np
from numba import cuda, float32, int32

from tests.simt.corpus import broken, floats, ints, minus_ones, nans, refused

SIDE = 112
TABLE = np.arange(4, dtype=np.int32)


@broken(
    1, 2048, lambda: (floats(2048), nans(2048)),
    refused("LaunchError", "block", "2,048 threads", "1,024", "more blocks", mark=None),
)  # fmt: skip
def relu_in_one_block_of_2048(x, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = max(x[i], float32(0))


@broken(
    (2, 2), (64, 32), lambda: (floats(64, 128), nans(64, 128)),
    refused("LaunchError", "(64, 32", "2,048 threads", "1,024", "(16, 16)", mark=None),
)  # fmt: skip
def copy_in_blocks_of_64_by_32(A, C):
    col, row = cuda.grid(2)
    if row < A.shape[0] and col < A.shape[1]:
        C[row, col] = A[row, col]


@broken(
    100 // 256, 256, lambda: (floats(100), nans(100)),
    refused("LaunchError", "grid is 0", ">= 1", "(n + 255) // 256", mark=None),
)  # fmt: skip
def grid_rounded_down_to_nothing(x, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = max(x[i], float32(0))


@broken(
    1024 / 256, 256, lambda: (floats(1024), nans(1024)),
    refused("LaunchError", "grid is 4.0", "whole number", "//", mark=None),
)  # fmt: skip
def grid_divided_with_a_slash(x, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = max(x[i], float32(0))


@broken(
    1, (1, 1, 128), lambda: (floats(128), nans(128)),
    refused("LaunchError", "block", "(1, 1, 128)", "along z", "at most 64", "along x", mark=None),
)  # fmt: skip
def block_along_the_wrong_axis(x, y):
    i = cuda.threadIdx.z
    y[i] = x[i]


@broken(
    (1, 70_000), 32, lambda: (floats(32), nans(70_000)),
    refused("LaunchError", "grid", "along y", "65,535", "along x", mark=None),
)  # fmt: skip
def grid_along_the_wrong_axis(x, y):
    i = cuda.blockIdx.y
    if cuda.threadIdx.x == 0:
        y[i] = x[0]


@broken(
    1, (1, 2, 3, 4), lambda: (floats(24), nans(24)),
    refused("LaunchError", "block is (1, 2, 3, 4)", "one to three", mark=None),
)  # fmt: skip
def block_of_four_axes(x, y):
    i = cuda.threadIdx.x
    y[i] = x[i]


@broken(
    1, (16, 16), lambda: (floats(16, 16), nans(16, 16)),
    refused("KernelError", "50,176 bytes", "49,152", "smaller tile"),
)  # fmt: skip
def static_shared_above_48_kilobytes(A, C):
    tile = cuda.shared.array((SIDE, SIDE), float32)  # bad
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    tile[ty, tx] = A[ty, tx]
    C[ty, tx] = tile[ty, tx]


@broken(
    1, (16, 16), lambda: (floats(16, 16), nans(16, 16)),
    refused("KernelError", "65,536 bytes", "49,152", "smaller tile"),
)  # fmt: skip
def two_tiles_above_48_kilobytes(A, C):
    As = cuda.shared.array((64, 128), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    As[ty, tx] = A[ty, tx]
    Bs = cuda.shared.array((64, 128), float32)  # bad
    Bs[ty, tx] = As[ty, tx]
    C[ty, tx] = Bs[ty, tx]


@broken(
    1, 64, lambda: (floats(64), nans(64)),
    refused("LaunchError", "262,144 bytes", "232,448", "H200", "shared", mark=None),
    shared=256 * 1024,
)  # fmt: skip
def dynamic_shared_above_what_the_device_has(x, y):
    s = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    y[t] = s[t]


@broken(
    1, 64, lambda: (floats(64), nans(64)),
    refused("KernelError", "x.size", "constant", "shared.array(0"),
)  # fmt: skip
def shared_array_as_long_as_the_input(x, y):
    s = cuda.shared.array(x.size, float32)  # bad
    t = cuda.threadIdx.x
    s[t] = x[t]
    y[t] = s[t]


@broken(
    1, 64, lambda: (64, floats(64), nans(64)),
    refused("KernelError", "n", "constant", "shared.array(0"),
)  # fmt: skip
def shared_array_of_an_argument(n, x, y):
    s = cuda.shared.array(n, float32)  # bad
    t = cuda.threadIdx.x
    s[t] = x[t]
    y[t] = s[t]


@broken(
    1, 64, lambda: (floats(64), nans(64)),
    refused("KernelError", "SIDE + 2", "constant", "outside"),
)  # fmt: skip
def shared_array_of_a_sum(x, y):
    s = cuda.shared.array(SIDE + 2, float32)  # bad
    t = cuda.threadIdx.x
    s[t] = x[t]
    y[t] = s[t]


@broken(
    1, 64, lambda: (floats(64), nans(64), np.float32(0.1)),
    refused("TypeError", "takes 2 arguments (x, y) and got 3", mark=None),
)  # fmt: skip
def one_argument_too_many(x, y):
    t = cuda.threadIdx.x
    y[t] = x[t]


@broken(
    1, 64, lambda: ([1.0] * 64, nans(64)),
    refused("TypeError", "x", "list", "array", mark=None),
)  # fmt: skip
def list_as_an_argument(x, y):
    t = cuda.threadIdx.x
    y[t] = x[t]


@broken(
    1, 64, lambda: (floats(64), nans(64)),
    refused("KernelError", "returns nothing", "array"),
)  # fmt: skip
def kernel_that_returns_its_result(x, y):
    t = cuda.threadIdx.x
    y[t] = x[t]
    return y  # bad


@broken(
    1, 64, lambda: (floats(64), nans(64)),
    refused("KernelError", "behind a *", "Numba"),
)  # fmt: skip
def kernel_with_a_named_parameter(x, y, *, slope=0.1):  # bad
    t = cuda.threadIdx.x
    y[t] = x[t] * slope


def _read_only():
    x = ints(64)
    x.flags.writeable = False
    return x, x


@broken(1, 64, _read_only, refused("KernelError", "y", "read-only", "another array"))
def writes_into_a_read_only_array(x, y):
    t = cuda.threadIdx.x
    y[t] = x[t]  # bad


@broken(1, 64, lambda: (ints(64), minus_ones(64)), refused("KernelError", "constant memory", "only reads"))
def writes_into_constant_memory(x, y):
    table = cuda.const.array_like(TABLE)
    t = cuda.threadIdx.x
    if t < 4:
        table[t] = int32(0)  # bad
    y[t] = x[t] + table[t % 4]
