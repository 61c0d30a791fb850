"""No thread meets another: guards, strides, own elements, own variables, layouts, several launches."""

import math

import numpy as np
from numba import cuda, float32, int32

from tests.simt.corpus import correct, empty, floats, ints, minus_ones, nans, some

POLYNOMIAL = np.array([3, -2, 0, 1], np.float32)


@correct(2, 32, lambda: (some(40), nans(40)), lambda x, y: {1: np.where(x > 0, x, x * np.float32(0.25))})
def leaky_relu_with_early_return(x, y):
    i = cuda.grid(1)
    if i >= x.size:
        return
    value = x[i]
    if value > 0:
        y[i] = value
        return
    y[i] = value * float32(0.25)


@correct(3, 32, lambda: (some(90),), lambda x: {0: np.maximum(x, 0) * 3 + 1})
def several_steps_in_place(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = max(x[i], float32(0))
        x[i] *= float32(3)
        x[i] += float32(1)


@correct(3, 32, lambda: (some(90), empty(90)), lambda x, y: {1: x + x})
def own_element_read_after_own_write(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i]
        y[i] = y[i] + y[i]


@correct(2, 32, lambda: (ints(333), minus_ones(333)), lambda x, y: {1: 2 * x})
def grid_stride_with_for(x, y):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        y[i] = 2 * x[i]


@correct(3, 16, lambda: (ints(333), empty(333, dtype=np.int32)), lambda x, y: {1: 2 * x})
def grid_stride_with_while(x, y):
    i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    while i < x.size:
        y[i] = 2 * x[i]
        i += cuda.blockDim.x * cuda.gridDim.x


@correct((2, 2), (8, 4), lambda: (ints(13, 21), minus_ones(13, 21)), lambda A, C: {1: A + 1})
def grid_stride_in_two_axes(A, C):
    x, y = cuda.grid(2)
    dx, dy = cuda.gridsize(2)
    for row in range(y, A.shape[0], dy):
        for col in range(x, A.shape[1], dx):
            C[row, col] = A[row, col] + 1


@correct(2, 32, lambda: (ints(40), minus_ones(40)), lambda x, y: {1: np.roll(x, 1) + np.roll(x, -1)})
def neighbours_on_a_ring(x, y):
    i = cuda.grid(1)
    n = x.size
    if i < n:
        y[i] = x[(i + n - 1) % n] + x[(i + 1) % n]


@correct(2, 32, lambda: (ints(40), minus_ones(40)), lambda x, y: {1: np.convolve(x, [1, 1, 1], "same")})
def neighbours_with_conditional_expressions(x, y):
    i = cuda.grid(1)
    if i < x.size:
        left = x[i - 1] if i > 0 else int32(0)
        right = x[i + 1] if i + 1 < x.size else int32(0)
        y[i] = left + x[i] + right


@correct(2, 32, lambda: (ints(10), minus_ones(40)), lambda x, y: {1: np.full(40, x.sum())})
def one_table_read_by_all(x, y):
    i = cuda.grid(1)
    if i < y.size:
        total = 0
        for k in range(x.size):
            total += x[k]
        y[i] = total


@correct(2, 32, lambda: (ints(201), minus_ones(201)), lambda x, y: {1: x})
def four_neighbours_each(x, y):
    first = 4 * cuda.grid(1)
    for k in range(first, min(first + 4, x.size)):
        y[k] = x[k]


@correct(2, 32, lambda: (ints(64), minus_ones(128)), lambda x, y: {1: np.stack([x, -x], 1).ravel()})
def interleaved_pairs(x, y):
    i = cuda.grid(1)
    y[2 * i] = x[i]
    y[2 * i + 1] = -x[i]


@correct(1, 40, lambda: (ints(40),), lambda x: {0: x[::-1]})
def swap_with_the_mirror(x):
    i = cuda.grid(1)
    if i < x.size // 2:
        left, right = x[i], x[x.size - 1 - i]
        x[i] = right
        x[x.size - 1 - i] = left


@correct(
    1, (8, 8), lambda: (ints(8, 8),), lambda A: {0: A.T},
)  # fmt: skip
def transpose_in_place_by_pairs(A):
    col, row = cuda.grid(2)
    if row < col:
        above, below = A[row, col], A[col, row]
        A[row, col] = below
        A[col, row] = above


def _median_input():
    return np.random.default_rng(3).permutation(42).astype(np.int32), minus_ones(40)


@correct(
    2, 32, _median_input,
    lambda x, y: {1: np.median(np.lib.stride_tricks.sliding_window_view(x, 3), axis=1).astype(np.int32)},
)  # fmt: skip
def median_by_sorting_a_local_array(x, y):
    window = cuda.local.array(3, int32)
    i = cuda.grid(1)
    if i < y.size:
        for k in range(3):
            value = x[i + k]
            j = k
            while j > 0 and window[j - 1] > value:
                window[j] = window[j - 1]
                j -= 1
            window[j] = value
        y[i] = window[1]


@correct(
    1, 8, lambda: (np.random.default_rng(5).permutation(48).reshape(8, 6).astype(np.int32),),
    lambda A: {0: np.sort(A, axis=1)},
)  # fmt: skip
def insertion_sort_of_own_row(A):
    i = cuda.grid(1)
    for k in range(1, A.shape[1]):
        value = A[i, k]
        j = k - 1
        while j >= 0 and A[i, j] > value:
            A[i, j + 1] = A[i, j]
            j -= 1
        A[i, j + 1] = value


@correct(1, 8, lambda: (ints(8), minus_ones(8)), lambda x, y: {1: np.where(x > 3, x, 10 - x)})
def variable_set_in_both_branches(x, y):
    i = cuda.grid(1)
    if x[i] > 3:  # noqa: SIM108
        value = x[i]
    else:
        value = 10 - x[i]
    y[i] = value


@correct(1, 8, lambda: (ints(8), minus_ones(8)), lambda x, y: {1: np.where(x > 3, 2 * x, -1)})
def variable_set_and_used_under_the_same_condition(x, y):
    i = cuda.grid(1)
    if x[i] > 3:
        value = 2 * x[i]
    if x[i] > 3:
        y[i] = value


@correct(1, 8, lambda: (ints(8, start=1), minus_ones(8)), lambda x, y: {1: 10 * (x - 1)})
def variable_set_in_a_loop_with_turns(n, y):
    i = cuda.grid(1)
    for k in range(n[i]):
        last = 10 * k
    y[i] = last


@correct(1, 8, lambda: (ints(8), minus_ones(8)), lambda x, y: {1: [0, 1, 4, 4, 16, 16, 16, 16]})
def variable_set_before_a_break(x, y):
    i = cuda.grid(1)
    power = 1
    while True:
        square = power * power
        if power > x[i]:
            break
        power *= 2
    y[i] = square // 4


@correct(
    1, 32, lambda: (ints(32), minus_ones(32)),
    lambda x, y: {1: [sum(k for k in range(v, -1, -1) if k % 3) for v in x]},
)  # fmt: skip
def loop_that_counts_down_and_skips(x, y):
    i = cuda.grid(1)
    total = 0
    for k in range(x[i], -1, -1):
        if k % 3 == 0:
            continue
        total += k
    y[i] = total


@correct(
    1, 16, lambda: (floats(16), nans(16)),
    lambda x, y: {1: 3 + x * (-2 + x * (0 + x * 1))},
)  # fmt: skip
def polynomial_in_constant_memory(x, y):
    c = cuda.const.array_like(POLYNOMIAL)
    i = cuda.grid(1)
    value = float32(0)
    for k in range(c.size - 1, -1, -1):
        value = value * x[i] + c[k]
    y[i] = value


@cuda.jit(device=True)
def clamp(value, low, high):
    if value < low:
        return low
    if value > high:
        return high
    return value


@cuda.jit(device=True)
def shade(value):
    return clamp(value, int32(2), int32(9)), value % int32(3)


@correct(2, 16, lambda: (ints(30), minus_ones(2, 30)), lambda x, y: {1: [np.clip(x, 2, 9), x % 3]})
def device_functions_that_call_each_other(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[0, i], y[1, i] = shade(x[i])


@correct(
    (2, 1, 2), (4, 3, 2), lambda: (ints(4, 3, 7), minus_ones(4, 3, 7)), lambda x, y: {1: x * 2},
)  # fmt: skip
def volume_in_blocks_of_three_axes(x, y):
    col, row, plane = cuda.grid(3)
    if plane < x.shape[0] and row < x.shape[1] and col < x.shape[2]:
        y[plane, row, col] = 2 * x[plane, row, col]


@correct(
    (2, 2), (4, 4), lambda: (ints(16, 24)[::2, 1::3], np.asfortranarray(minus_ones(8, 8))), lambda A, C: {1: A},
)  # fmt: skip
def strided_input_and_fortran_output(A, C):
    col, row = cuda.grid(2)
    C[row, col] = A[row, col]


@correct(
    1, (8, 4), lambda: (np.broadcast_to(floats(8), (4, 8)), nans(4, 8)), lambda x, y: {1: x + x},
)  # fmt: skip
def one_row_read_as_many(x, y):
    col, row = cuda.grid(2)
    y[row, col] = x[row, col] + x[row, col]


@correct(
    2, 32, lambda: (some(40, 3), nans(40)), lambda x, y: {1: x[:, 0] + 10 * x[:, 1] + 100 * x[:, 2]},
)  # fmt: skip
def row_of_a_matrix_as_an_array(x, y):
    i = cuda.grid(1)
    if i < y.size:
        point = x[i]
        y[i] = point[0] + float32(10) * point[1] + float32(100) * point[2]


def _three_steps(x, y):
    for _ in range(3):
        x, y = x + np.r_[0, x[:-1]], x
    return {0: y, 1: x}


@correct(2, 32, lambda: (ints(64, start=1), minus_ones(64)), _three_steps, launches=((0, 1), (1, 0), (0, 1)))
def three_launches_back_and_forth(x, y):
    i = cuda.grid(1)
    y[i] = x[i] + (x[i - 1] if i > 0 else 0)


@correct(
    2, 32, lambda: (np.array([0.5, 2, 0, -1] * 16, np.float32), nans(64)),
    lambda x, y: {1: [1 if v == 0.5 else np.sqrt(np.float32(v)) if v >= 0 else -1 for v in x]},
)  # fmt: skip
def dangerous_values_never_computed(x, y):
    i = cuda.grid(1)
    value = x[i]
    if value >= 0 and value != float32(0.5):
        y[i] = math.sqrt(value)
    else:
        y[i] = float32(1) if value > 0 else float32(-1)


@correct(2, 32, lambda: (ints(64) % 4, minus_ones(64)), lambda n, y: {1: [12 // v if v else 0 for v in n]})
def division_only_where_the_divisor_is_not_zero(n, y):
    i = cuda.grid(1)
    y[i] = 12 // n[i] if n[i] != 0 else 0


@correct(
    1, 8, lambda: (some(8, 4) / np.float32(2), nans(8)), lambda x, y: {1: x.sum(1)}, float64=True,
)  # fmt: skip
def sum_begun_with_a_whole_number(x, y):
    i = cuda.grid(1)
    total = 0
    for k in range(x.shape[1]):
        total += x[i, k]
    y[i] = total


@correct(2, 32, lambda: (ints(64), minus_ones(1)), lambda x, y: {1: [7]})
def one_thread_writes_for_all(x, y):
    i = cuda.grid(1)
    if i == 7:
        y[0] = x[i]
