"""An index that is not in its array: too large, negative, or along the wrong axis."""

import math

import numpy as np
from numba import cuda, float32, int32

from tests.simt.corpus import broken, finding, floats, ints, minus_ones, nans

T = 16
WEIGHTS = np.array([0.25, 0.5, 0.25], np.float32)


@broken(
    2, 32, lambda: (floats(40), nans(40)),
    finding("out of bounds", "x", thread=8, block=1, index=40, says=("40 elements (0 to 39)", "x.size")),
    finding("out of bounds", "y", thread=8, block=1, index=40, says=("40 elements (0 to 39)", "y.size")),
)  # fmt: skip
def relu_without_guard(x, y):
    i = cuda.grid(1)
    y[i] = max(x[i], float32(0))  # bad


@broken(
    2, 32, lambda: (floats(40), nans(40)),
    finding("out of bounds", "x", thread=8, block=1, index=40, says="40 elements (0 to 39)"),
)  # fmt: skip
def load_before_guard(x, y):
    i = cuda.grid(1)
    value = x[i]  # bad
    if i < y.size:
        y[i] = max(value, float32(0))


@broken(
    2, 32, lambda: (np.float32(2), floats(40), floats(40)),
    finding("out of bounds", "x", thread=8, block=1, index=40, says="40 elements (0 to 39)"),
    finding("out of bounds", "y", thread=8, block=1, index=40, says="40 elements (0 to 39)"),
)  # fmt: skip
def saxpy_guard_off_by_one(a, x, y):
    i = cuda.grid(1)
    if i <= y.size:
        y[i] = a * x[i] + y[i]  # bad


@broken(
    1, 8, lambda: (floats(9), nans(5)),
    finding("out of bounds", "x", thread=4, block=0, index=9, says="9 elements (0 to 8)"),
)  # fmt: skip
def pool_last_window_is_cut(x, y):
    i = cuda.grid(1)
    if i < y.size:
        best = x[2 * i]
        for k in range(1, 2):
            best = max(best, x[2 * i + k])  # bad
        y[i] = best


@broken(
    1, 8, lambda: (floats(10), floats(3), nans(8)),
    finding("out of bounds", "w", thread=0, block=0, index=3, says="3 elements (0 to 2)"),
    finding("out of bounds", "x", thread=7, block=0, index=10, says="10 elements (0 to 9)"),
)  # fmt: skip
def convolution_one_tap_too_many(x, w, y):
    i = cuda.grid(1)
    if i < y.size:
        acc = float32(0)
        for k in range(w.size + 1):
            acc += w[k] * x[i + k]  # bad
        y[i] = acc


@broken(
    2, 32, lambda: (floats(40), nans(40)),
    finding("out of bounds", "x", thread=0, block=0, index=40, says="40 elements (0 to 39)"),
)  # fmt: skip
def reverse_off_by_one(x, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = x[x.size - i]  # bad


@broken(
    1, (10, 6), lambda: (floats(6, 10), nans(6, 10)),
    finding("out of bounds", "A", thread=(6, 0), block=0, index=6, axis=0, says=("axis 0 of A", "A.shape[0]")),
    finding("out of bounds", "C", thread=(6, 0), block=0, index=6, axis=0, says=("axis 0 of C", "C.shape[0]")),
)  # fmt: skip
def scale_with_swapped_axes(A, C):
    row, col = cuda.grid(2)
    C[row, col] = A[row, col] * float32(2)  # bad


@broken(
    1, (8, 8), lambda: (floats(6, 4), nans(6, 4)),
    finding("out of bounds", "A", thread=(4, 0), block=0, index=4, axis=1, says=("axis 1 of A", "A.shape[1]")),
    finding("out of bounds", "C", thread=(4, 0), block=0, index=4, axis=1, says=("axis 1 of C", "C.shape[1]")),
)  # fmt: skip
def guard_compares_the_wrong_axis(A, C):
    col, row = cuda.grid(2)
    if col < C.shape[0] and row < C.shape[1]:
        C[row, col] = A[row, col] * float32(2)  # bad


@broken(
    1, (10, 4), lambda: (floats(4, 10), nans(4, 10)),
    finding("out of bounds", "C", thread=(4, 0), block=0, index=4, axis=0, says=("axis 0 of C", "4 elements")),
)  # fmt: skip
def transposed_output(A, C):
    col, row = cuda.grid(2)
    if row < A.shape[0] and col < A.shape[1]:
        C[col, row] = A[row, col]  # bad


@broken(
    2, 32, lambda: (floats(40), nans(40)),
    finding("negative index", "x", thread=0, block=0, index=-1, says=("counts from the end", "element 39")),
)  # fmt: skip
def difference_with_left_neighbour(x, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = x[i] - x[i - 1]  # bad


@broken(
    1, (6, 6), lambda: (floats(6, 6), floats(3, 3), nans(6, 6)),
    finding("negative index", "x", thread=(0, 0), block=0, index=-1, axis=0, says=("axis 0 of x", "element 5")),
    finding("out of bounds", "x", thread=(5, 0), block=0, index=6, axis=1, says=("axis 1 of x", "x.shape[1]")),
)  # fmt: skip
def convolution_without_padding(x, w, y):
    col, row = cuda.grid(2)
    if row < y.shape[0] and col < y.shape[1]:
        acc = float32(0)
        for i in range(3):
            for j in range(3):
                acc += w[i, j] * x[row + i - 1, col + j - 1]  # bad
        y[row, col] = acc


@broken(
    2, 32, lambda: (floats(64), nans(64)),
    finding("negative index", "x", thread=0, block=0, index=-1, says="counts from the end", mark="# bad: left"),
    finding("out of bounds", "x", thread=31, block=1, index=64, says="64 elements (0 to 63)", mark="# bad: right"),
)  # fmt: skip
def halo_outside_of_the_image(x, y):
    s = cuda.shared.array(34, float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    s[t + 1] = x[i]
    if t == 0:
        s[0] = x[i - 1]  # bad: left
    if t == cuda.blockDim.x - 1:
        s[t + 2] = x[i + 1]  # bad: right
    cuda.syncthreads()
    y[i] = s[t] + s[t + 1] + s[t + 2]


@broken(
    1, 4, lambda: (np.full((4, 10), 0.5, np.float32), np.array([3, -1, 9, 0], np.int32), nans(4)),
    finding("negative index", "p", thread=1, block=0, index=-1, axis=1, says=("axis 1 of p", "element 9")),
)  # fmt: skip
def loss_of_a_missing_label(p, labels, loss):
    i = cuda.grid(1)
    if i < loss.size:
        loss[i] = -math.log(p[i, labels[i]])  # bad


@broken(
    1, 32, lambda: (np.linspace(0, 1, 11, dtype=np.float32), np.zeros(10, np.int32)),
    finding("out of bounds", "hist", thread=10, block=0, index=10, says="10 elements (0 to 9)"),
)  # fmt: skip
def histogram_of_the_largest_value(x, hist):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(hist, int(x[i] * float32(10)), 1)  # bad


@broken(
    1, (32, 8), lambda: (floats(8, 32), nans(8, 32)),
    finding(
        "out of bounds", "tile", thread=(16, 0), block=0, index=16, axis=1, says="axis 1 of tile", mark="# bad: in"
    ),
    finding(
        "out of bounds", "tile", thread=(16, 0), block=0, index=16, axis=1, says="16 elements (0 to 15)",
        mark="# bad: out",
    ),
)  # fmt: skip
def tile_smaller_than_the_block(A, C):
    tile = cuda.shared.array((T, T), float32)
    col, row = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    tile[ty, tx] = A[row, col]  # bad: in
    cuda.syncthreads()
    C[row, col] = tile[ty, tx]  # bad: out


@broken(
    1, (16, 16), lambda: (floats(16, 8), floats(8, 16), nans(16, 16)),
    finding("out of bounds", "A", thread=(0, 0), block=0, index=8, axis=1, says=("axis 1 of A", "A.shape[1]")),
    finding("out of bounds", "B", thread=(0, 0), block=0, index=8, axis=0, says=("axis 0 of B", "B.shape[0]")),
)  # fmt: skip
def product_k_from_the_grid(A, B, C):
    col, row = cuda.grid(2)
    acc = float32(0)
    for k in range(cuda.gridsize(1)):
        acc += A[row, k] * B[k, col]  # bad
    C[row, col] = acc


@broken(
    1, 8, lambda: (floats(8, 5), nans(8)),
    finding("out of bounds", "best", thread=0, block=0, index=4, says="4 elements (0 to 3)"),
)  # fmt: skip
def local_array_one_too_short(x, y):
    best = cuda.local.array(4, float32)
    i = cuda.grid(1)
    if i < y.size:
        for k in range(x.shape[1]):
            best[k] = x[i, k]  # bad
        y[i] = best[0]


@broken(
    2, 32, lambda: (floats(50), nans(48)),
    finding("out of bounds", "y", thread=16, block=1, index=48, says="48 elements (0 to 47)"),
)  # fmt: skip
def guard_of_another_array(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i]  # bad


@broken(
    1, 8, lambda: (floats(12), nans(8)),
    finding("out of bounds", "w", thread=0, block=0, index=3, says="3 elements (0 to 2)"),
)  # fmt: skip
def constant_mask_too_short(x, y):
    w = cuda.const.array_like(WEIGHTS)
    i = cuda.grid(1)
    if i < y.size:
        acc = float32(0)
        for k in range(5):
            acc += w[k] * x[i + k]  # bad
        y[i] = acc


@broken(
    1, 8, lambda: (floats(12), nans(8)),
    finding("out of bounds", "WEIGHTS", thread=0, block=0, index=3, says="3 elements (0 to 2)"),
)  # fmt: skip
def global_mask_too_short(x, y):
    i = cuda.grid(1)
    if i < y.size:
        acc = float32(0)
        for k in range(5):
            acc += WEIGHTS[k] * x[i + k]  # bad
        y[i] = acc


@broken(
    1, 64, lambda: (ints(64), minus_ones(64)),
    finding("out of bounds", "s", thread=32, block=0, index=32, says=("32 elements (0 to 31)",), mark="# bad: in"),
    finding("out of bounds", "s", thread=0, block=0, index=63, says=("32 elements (0 to 31)",), mark="# bad: out"),
    shared=32 * 4,
)  # fmt: skip
def dynamic_shared_too_small(x, y):
    s = cuda.shared.array(0, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]  # bad: in
    cuda.syncthreads()
    y[t] = s[63 - t]  # bad: out
