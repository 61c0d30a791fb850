"""Python that a kernel does not have: each refused with its line, and with what to write instead."""

import math

import numpy as np
from numba import cuda, float32, int32

from tests.simt.corpus import broken, finding, floats, ints, minus_ones, nans, refused

NAMES = ["relu", "tanh"]


# ------------------------------------------------------------------------------------------- indices


@broken(1, 8, lambda: (floats(8), nans(4)), refused("KernelError", "float64 is no index", "whole number", "//"))
def index_halved_with_a_slash(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i / 2] = x[i]  # bad


@broken(1, 64, lambda: (ints(64), minus_ones(1)), refused("KernelError", "float64 is no index", "//"))
def reduction_halves_its_step_with_a_slash(x, total):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    step = 32
    while step > 0:
        if t < step:
            s[t] += s[t + step]  # bad
        cuda.syncthreads()
        step = step / 2
    if t == 0:
        total[0] = s[0]


@broken(
    1, (4, 4), lambda: (floats(4, 4), nans(4, 4)),
    refused("KernelError", "A", "(4, 4)", "2 indices, not 3"),
)  # fmt: skip
def image_with_three_indices(A, C):
    col, row = cuda.grid(2)
    C[row, col] = A[0, row, col]  # bad


@broken(
    1, 4, lambda: (floats(4, 4), nans(4, 4)),
    refused("KernelError", "C", "loop", "element by element"),
)  # fmt: skip
def whole_row_stored_at_once(A, C):
    row = cuda.grid(1)
    C[row] = A[row]  # bad


@broken(
    1, (4, 4), lambda: (floats(4, 4), nans(4, 4)),
    refused("KernelError", "tuple of 2", "from 0 to 1, not 2"),
)  # fmt: skip
def third_axis_of_a_matrix(A, C):
    col, row = cuda.grid(2)
    if col < A.shape[2]:  # bad
        C[row, col] = A[row, col]


@broken(1, 8, lambda: (floats(8), nans(8)), refused("KernelError", "x", "(8,)", "[i]"))
def array_used_as_a_number(x, y):
    i = cuda.grid(1)
    y[i] = x * float32(2)  # bad


@broken(
    1, 8, lambda: (floats(8), nans(8)),
    refused("KernelError", "tuple of 2", "math.sqrt"),
)  # fmt: skip
def square_root_of_a_tuple(x, y):
    i = cuda.grid(1)
    y[i] = math.sqrt((x[i], x[i]))  # bad


@broken(
    1, (8, 8), lambda: (floats(8, 8), nans(8, 8)),
    refused("KernelError", "tuple of 2", "compared"),
)  # fmt: skip
def position_not_unpacked(A, C):
    position = cuda.grid(2)
    if position < A.shape[0]:  # bad
        C[position] = A[position]


# ------------------------------------------------------------------------------------------- things of Python


@broken(1, 8, lambda: (floats(8), nans(8)), refused("KernelError", "a list", "cuda.local.array"))
def list_for_the_window(x, y):
    i = cuda.grid(1)
    window = [x[i], x[i]]  # bad
    y[i] = window[0]


@broken(1, 8, lambda: (floats(8, 4), nans(8)), refused("KernelError", "a generator", "loop"))
def sum_of_a_generator(x, y):
    i = cuda.grid(1)
    y[i] = sum(x[i, k] for k in range(4))  # bad


@broken(1, 8, lambda: (floats(8), nans(8)), refused("KernelError", "an f-string", "numbers"))
def print_of_a_formatted_text(x, y):
    i = cuda.grid(1)
    print(f"thread {i}")  # bad
    y[i] = x[i]


@broken(1, 8, lambda: (floats(8), nans(8)), refused("KernelError", "an f-string"))
def formatted_text(x, y):
    i = cuda.grid(1)
    name = f"thread {i}"  # noqa: F841  # bad
    y[i] = x[i]


@broken(1, 8, lambda: (floats(8), nans(8)), refused("KernelError", "try", "if"))
def exception_for_the_guard(x, y):
    i = cuda.grid(1)
    try:  # noqa: SIM105  # bad
        y[i] = x[i]
    except IndexError:
        pass


@broken(1, 8, lambda: (floats(8), nans(8)), refused("KernelError", "np.zeros", "cuda.local.array"))
def zeros_of_numpy(x, y):
    i = cuda.grid(1)
    window = np.zeros(3)  # bad
    y[i] = window[0] + x[i]


@broken(1, 8, lambda: (floats(8, 4), nans(8)), refused("KernelError", "np.max", "loop"))
def maximum_of_numpy(x, y):
    i = cuda.grid(1)
    y[i] = np.max(x[i])  # bad


@broken(1, 8, lambda: (floats(8, 4), nans(8)), refused("KernelError", "max", "loop"))
def method_of_an_array(x, y):
    i = cuda.grid(1)
    y[i] = x[i].max()  # bad


@broken(1, 8, lambda: (floats(8, 8), floats(8), nans(8)), refused("KernelError", "@", "loop"))
def product_with_an_at_sign(A, x, y):
    i = cuda.grid(1)
    y[i] = A[i] @ x  # bad


@broken(1, 8, lambda: (floats(8, 4), nans(8)), refused("KernelError", "range", "no items"))
def loop_over_a_size(x, y):
    i = cuda.grid(1)
    total = float32(0)
    for k in x.shape[1]:  # bad
        total += x[i, k]
    y[i] = total


@broken(1, 8, lambda: (floats(8), nans(8)), refused("KernelError", "NAMES", "list", "arguments"))
def list_from_outside(x, y):
    i = cuda.grid(1)
    y[i] = x[i] * len(NAMES)  # bad


def _slope(x):
    return 0.1 if x < 0 else 1.0


@broken(1, 8, lambda: (floats(8), nans(8)), refused("KernelError", "_slope", "device=True"))
def function_that_is_not_for_the_device(x, y):
    i = cuda.grid(1)
    y[i] = x[i] * _slope(x[i])  # bad


@cuda.jit(device=True)
def factorial(n):  # bad
    return n * factorial(n - 1)


@broken(
    1, 4, lambda: (ints(4), minus_ones(4)),
    refused("KernelError", "factorial", "calls itself", "loop"),
)  # fmt: skip
def recursion_without_an_end(x, y):
    i = cuda.grid(1)
    y[i] = factorial(x[i])


@broken(1, 8, lambda: (floats(8), nans(8)), refused("KernelError", "sigmoid"))
def name_that_nobody_defined(x, y):
    i = cuda.grid(1)
    y[i] = sigmoid(x[i])  # noqa: F821  # bad


@broken(1, 8, lambda: (floats(8), nans(8)), refused("KernelError", "cuda.threadidx", "cuda.threadIdx"))
def word_spelled_wrongly(x, y):
    i = cuda.threadidx.x  # bad
    y[i] = x[i]


# ------------------------------------------------------------------------------------------- numbers


@broken(
    1, 8, lambda: (ints(8), minus_ones(8)),
    finding("division by zero", thread=0, block=0, says=("whole number", "by 0", "divisor")),
)  # fmt: skip
def mean_of_nothing(count, y):
    i = cuda.grid(1)
    y[i] = 100 // count[i]  # bad


@broken(
    1, 8, lambda: (ints(8), minus_ones(8)),
    finding("division by zero", thread=7, block=0, says=("whole number", "by 0", "divisor")),
)  # fmt: skip
def remainder_by_a_size_of_zero(x, y):
    i = cuda.grid(1)
    y[i] = x[i] % (7 - i)  # bad


@broken(
    1, 32, lambda: (ints(32).astype(np.uint8), np.zeros(4, np.uint8)),
    refused("KernelError", "uint8", "int32"),
)  # fmt: skip
def atomics_on_bytes(x, hist):
    i = cuda.grid(1)
    cuda.atomic.add(hist, x[i] % 4, 1)  # bad


@broken(1, 32, lambda: (ints(32), minus_ones(32)), refused("KernelError", "cuda.atomic.add", "first argument", "array"))
def atomics_on_a_variable(x, y):
    i = cuda.grid(1)
    count = 0
    cuda.atomic.add(count, 0, x[i])  # bad
    y[i] = count
