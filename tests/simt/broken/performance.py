"""Right answers, slowly: what the executor advises."""

import math

import numpy as np
from numba import cuda, float32

from tests.simt.corpus import broken, finding, floats, ints, nans, some

FLOAT64 = ("float64", "float32(")


@broken(
    1, 32, lambda: (some(8, 32), nans(32)),
    advice=(finding("float64", says=FLOAT64),),
)  # fmt: skip
def accumulator_is_float64(A, y):
    col = cuda.grid(1)
    acc = 0.0
    for k in range(A.shape[0]):
        acc += A[k, col]  # bad
    y[col] = acc


@broken(
    2, 32, lambda: (some(64), nans(64)),
    advice=(finding("float64", says=FLOAT64),),
)  # fmt: skip
def leaky_relu_with_a_float64_slope(x, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = x[i] if x[i] > 0 else 0.01 * x[i]  # bad


@broken(
    2, 32, lambda: (some(64), nans(64)),
    advice=(finding("float64", says=("float64", "128 operations", "float32(")),),
)  # fmt: skip
def quotient_of_two_whole_numbers(x, y):
    i = cuda.grid(1)
    scale = 1 / x.size  # bad
    if i < y.size:
        y[i] = x[i] * scale


@broken(
    2, 32, lambda: (ints(64), nans(64)),
    advice=(finding("float64", says=FLOAT64),),
)  # fmt: skip
def square_root_of_a_whole_number(x, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = math.sqrt(x[i])  # bad


@broken(
    (2, 8), (32, 8), lambda: (floats(64, 64), nans(64, 64)),
    advice=(
        finding("uncoalesced", "A", says=("loads", "32 sectors", "12%", "neighbour")),
        finding("uncoalesced", "C", says=("stores", "32 sectors", "12%", "neighbour")),
    ),
)  # fmt: skip
def copy_with_rows_along_x(A, C):
    row, col = cuda.grid(2)
    if row < A.shape[0] and col < A.shape[1]:
        C[row, col] = A[row, col]  # bad


@broken(
    1, 64, lambda: (some(64, 64), nans(64)),
    advice=(finding("uncoalesced", "A", says="neighbour"),),
)  # fmt: skip
def sum_of_a_row_by_each_thread(A, y):
    row = cuda.grid(1)
    acc = float32(0)
    for k in range(A.shape[1]):
        acc += A[row, k]  # bad
    y[row] = acc


@broken(
    2, 256, lambda: (floats(512 * 8), nans(512)),
    advice=(finding("uncoalesced", "particles", says="neighbour"),),
)  # fmt: skip
def one_field_of_an_array_of_structures(particles, y):
    i = cuda.grid(1)
    y[i] = particles[8 * i]  # bad


@broken(
    2, 32, lambda: (np.asfortranarray(floats(64, 64)), nans(64)),
    advice=(finding("uncoalesced", "A", says="neighbour"),),
)  # fmt: skip
def column_sums_of_a_fortran_matrix(A, y):
    col = cuda.grid(1)
    acc = float32(0)
    for k in range(A.shape[0]):
        acc += A[k, col]  # bad
    y[col] = acc


@broken(
    (2, 2), (32, 32), lambda: (floats(64, 64), nans(64, 64)),
    advice=(finding("bank conflicts", "tile", says=("32 turns", "Pad", "(32, 33)")),),
)  # fmt: skip
def transpose_through_a_tile_without_padding(A, C):
    tile = cuda.shared.array((32, 32), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    col, row = cuda.grid(2)
    tile[ty, tx] = A[row, col]
    cuda.syncthreads()
    C[cuda.blockIdx.x * 32 + ty, cuda.blockIdx.y * 32 + tx] = tile[tx, ty]  # bad


@broken(
    1, 256, lambda: (some(256), nans(1)),
    advice=(finding("bank conflicts", "s", says="bank"),),
)  # fmt: skip
def reduction_with_growing_strides(x, total):
    s = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    step = 1
    while step < 256:
        k = 2 * step * t
        if k + step < 256:
            s[k] += s[k + step]  # bad
        cuda.syncthreads()
        step *= 2
    if t == 0:
        total[0] = s[0]
