"""Python that Numba lets a kernel use: loops over arrays and tuples, defaults, inner functions, slices."""

# ruff: noqa: E731  a lambda with a name and a closure in a loop are what these kernels are about

import itertools
import math

import numpy as np
from numba import cuda, float32, int32, njit

from tests.simt import text as constants
from tests.simt.corpus import correct, floats, ints, minus_ones, nans, some

WEIGHTS = (1, 2, 3)
LAST = -1


# ------------------------------------------------------------------------------------------- loops


@correct(1, 8, lambda: (some(8, 5), nans(8)), lambda x, y: {1: x @ np.arange(5, dtype=np.float32)})
def enumerate_of_a_row(x, y):
    i = cuda.grid(1)
    total = float32(0)
    for k, value in enumerate(x[i]):
        total += float32(k) * value
    y[i] = total


@correct(1, 8, lambda: (ints(8, 5), ints(5), minus_ones(8)), lambda x, w, y: {2: x @ w})
def zip_of_two_arrays(x, w, y):
    i = cuda.grid(1)
    total = 0
    for a, b in zip(x[i], w):  # noqa: B905
        total += a * b
    y[i] = total


@correct(1, 8, lambda: (ints(8, 5), ints(3), minus_ones(8)), lambda x, w, y: {2: (x[:, :3] * w) @ [1, 2, 3]})
def enumerate_of_a_zip_from_one_on(x, w, y):
    i = cuda.grid(1)
    total = 0
    for k, (a, b) in enumerate(zip(x[i], w), 1):  # noqa: B905  as long as the shorter one
        total += a * b * k
    y[i] = total


@correct(1, 8, lambda: (ints(8, 5), minus_ones(8)), lambda x, y: {1: np.cumsum(x[:, :-1], 1)[:, -1]})
def loop_over_rows_with_break(x, y):
    i = cuda.grid(1)
    for row in x:
        if row[0] != x[i, 0]:
            continue
        total = 0
        for value in row:
            if value == row[-1]:
                break
            total += value
        y[i] = total


@correct(1, 8, lambda: (minus_ones(8),), lambda y: {0: 2 * np.arange(8) + 6})
def loop_over_a_tuple_and_its_parts(y):
    i = cuda.grid(1)
    total = 0
    for weight in WEIGHTS:
        total += weight
    for k in range(2):
        total += (i, i)[k]
    y[i] = total


@correct(1, 8, lambda: (ints(3, 4), minus_ones(8)), lambda a, y: {1: np.full(8, 2 * a.sum() + 4 * (0 + 1 + 2))})
def all_indices_of_an_array(a, y):
    total = 0
    for row, col in np.ndindex(a.shape):
        total += a[row, col]
    for (row, _), _ in np.ndenumerate(a):
        total += row
    for value in a.flat:
        total += value
    y[cuda.grid(1)] = total


@correct(1, 8, lambda: (np.float32(4.7), minus_ones(8)), lambda n, y: {1: np.full(8, 0 + 1 + 2 + 3 + 4)})
def range_of_a_float(n, y):
    total = 0
    numbers = range(math.ceil(n))
    for k in numbers:
        total += k * len(numbers) // 5
    y[cuda.grid(1)] = total


# ------------------------------------------------------------------------------------------- functions


@cuda.jit(device=True)
def scaled(x, factor=3, shift=0):
    return x * factor + shift


@cuda.jit(device=True)
def largest(first, *others):
    best = first
    for other in others:
        best = max(best, other)
    return best


@njit
def halved(x):
    return x // 2


@cuda.jit(device=True)
def applied(function, x):
    return function(x)


tripled = cuda.jit(device=True)(lambda x: 3 * x)


@correct(1, 8, lambda: (ints(8), minus_ones(8)), lambda x, y: {1: 3 * x + (x + 5) + (2 * x + 1) + 7 * x})
def defaults_and_keywords(x, y):
    v = x[cuda.grid(1)]
    y[cuda.grid(1)] = scaled(v) + scaled(v, 1, 5) + scaled(shift=1, x=v, factor=2) + scaled(v, factor=7)


@correct(1, 8, lambda: (ints(8), minus_ones(8)), lambda x, y: {1: np.maximum(x, 4) + 3})
def any_number_of_arguments(x, y):
    pair = (2, 3)
    y[cuda.grid(1)] = largest(x[cuda.grid(1)], 4, 2) + largest(*pair)


@correct(1, 8, lambda: (ints(8), minus_ones(8)), lambda x, y: {1: x // 2 + 3 * x + (x // 2) + (x + 10)})
def functions_of_other_kinds(x, y):
    i = cuda.grid(1)
    shift = 10
    plus = lambda v: v + shift
    y[i] = halved(x[i]) + tripled(x[i]) + applied(halved, x[i]) + plus(x[i])


@correct(1, 8, lambda: (ints(8), minus_ones(8)), lambda x, y: {1: (x + 1) + (x + 2) + x * x})
def function_inside_reads_variables_around_it(x, y):
    i = cuda.grid(1)
    step = 1

    def moved(v):
        return v + step

    def squared(v):
        if v < 0:
            return v * v
        return moved(v) * v - step * v

    total = moved(x[i])
    step = 2
    y[i] = total + moved(x[i]) + squared(x[i])


# ------------------------------------------------------------------------------------------- tuples, None, in


@correct(1, 8, lambda: (ints(8), minus_ones(8)), lambda x, y: {1: np.where((x == 2) | (x == 5), 1, 0) + (x != 3)})
def membership(x, y):
    i = cuda.grid(1)
    y[i] = (1 if x[i] in (2, 5) else 0) + (x[i] not in (3, 100)) + (10 if 99 in x else 0)


@correct(1, 8, lambda: (minus_ones(8),), lambda y: {0: [1 + 5, 2 + 5, 3 + 5, 1, 2, 3, 1, 2]})
def tuples_compared_and_indexed_by_a_thread(y):
    i = cuda.grid(1)
    y[i] = WEIGHTS[i % 3] + (5 if (i, 1) < (3, 0) else 0) + len(WEIGHTS[1:]) - (WEIGHTS[:2] == (1, 2)) - 1


@cuda.jit(device=True)
def with_bias(x, bias=None):
    if bias is None:
        return x
    return x + bias[0]


@correct(1, 8, lambda: (ints(8), ints(1, start=7), minus_ones(8)), lambda x, b, y: {2: 2 * x + 7})
def array_or_none(x, b, y):
    i = cuda.grid(1)
    y[i] = with_bias(x[i]) + with_bias(x[i], b)


@correct(1, 8, lambda: ((ints(8), 3), minus_ones(8)), lambda pair, y: {1: pair[0] * 3})
def tuple_as_an_argument(pair, y):
    i = cuda.grid(1)
    x, factor = pair
    y[i] = x[i] * factor


@correct(1, 8, lambda: (minus_ones(8),), lambda y: {0: np.full(8, 3)})
def name_of_another_module(y):
    y[cuda.grid(1)] = constants.math.floor(constants.math.pi)


# ------------------------------------------------------------------------------------------- arrays


@correct(1, 8, lambda: (floats(6), nans(6), 5), lambda a, b, n: {0: a + 4, 1: a + 5})
def buffers_change_places(a, b, steps):
    i = cuda.grid(1)
    if i >= a.size:
        return
    for _ in range(steps):
        b[i] = a[i] + float32(1)
        a, b = b, a


@correct(2, 8, lambda: (ints(12), ints(12, start=100)), lambda a, b: {
    0: np.where(np.arange(12) % 2, a, -1), 1: np.where(np.arange(12) % 2, -1, b)})  # fmt: skip
def each_thread_chooses_its_array(a, b):
    i = cuda.grid(1)
    if i >= a.size:
        return
    chosen = b if i % 2 else a
    chosen[i] = -len(chosen) // 12


@correct(1, 8, lambda: (np.array([0, 2, 2, 5, 6, 6, 7, 9, 9], np.int32), ints(9), minus_ones(8)), lambda off, x, y: {
    2: [x[a:b].sum() for a, b in itertools.pairwise(off)]})  # fmt: skip
def rows_of_different_lengths(offsets, x, y):
    i = cuda.grid(1)
    mine = x[offsets[i] : offsets[i + 1]]
    total = 0
    for value in mine:
        total += value
    y[i] = total if total == mine.sum() else -2


@correct(1, 8, lambda: (ints(8, 4), minus_ones(8, 4)), lambda x, y: {1: x[:, ::-1] * [1, 1, 1, 0] + [0, 0, 0, 9]})
def slices_backwards_filled_and_from_the_end(x, y):
    i = cuda.grid(1)
    row = x[i][::-1]
    y[i, :] = 5
    for k in range(len(row)):
        y[i, k] = row[k]
    y[i, -1] = 9
    y[i, LAST] += 0


@correct(1, 4, lambda: (ints(4), minus_ones(4, 2)), lambda x, y: {1: np.stack([x * 2 + 1, x + 5], 1)})
def row_gets_the_parts_of_a_tuple(x, y):
    i = cuda.grid(1)
    s = cuda.shared.array((4, 2), int32)
    s[i] = x[i], int32(5)
    pair = cuda.local.array(2, int32)
    pair[:] = (x[i] + 1, x[i] + 0)
    y[i] = (s[i, 0] + pair[0], s[i, 1] + pair[1])


@correct(1, 4, lambda: (ints(4, 3), minus_ones(4), nans(4)), lambda x, y, m: {
    1: x.sum(1) + x.argmax(1) + x.T.sum(0) + x.reshape(2, 6)[1, 2], 2: x.mean(1)}, float64=True)  # fmt: skip
def array_reduces_itself(x, y, m):
    i = cuda.grid(1)
    y[i] = x[i].sum() + x[i].argmax() + x.T[:, i].sum() + x.reshape(2, 6)[1, 2]
    m[i] = x[i].mean()


@correct(1, 8, lambda: (minus_ones(8),), lambda y: {0: np.arange(8)[::-1]})
def shapes_that_the_compiler_computes(y):
    n = 2 * 4
    s = cuda.shared.array(shape=(n, 2 + 1), dtype=int32)
    i = cuda.threadIdx.x
    s[i, 2] = i
    cuda.syncthreads()
    y[i] = s[n - 1 - i, 2]


@correct(1, 8, lambda: (floats(6), nans(6)), lambda x, y: {1: x[::-1]})
def returned_threads_are_not_waited_for(x, y):
    s = cuda.shared.array(8, float32)
    t = cuda.threadIdx.x
    if t >= x.size:
        return
    s[t] = x[t]
    cuda.syncthreads()
    y[t] = s[x.size - 1 - t]


@correct(1, 4, lambda: (ints(4), minus_ones(4)), lambda x, y: {1: x + 1})
def asserts_that_hold_and_prints(x, y):
    i = cuda.grid(1)
    assert x[i] >= 0, "negative"
    if x[i] > 1000:
        raise ValueError("too large")
    if i == 3:
        print("thread", i, x[i])
    y[i] = x[i] + 1
