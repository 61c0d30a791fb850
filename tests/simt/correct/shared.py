"""A block that shares: barriers where they are needed, and only there."""

import numpy as np
from numba import cuda, float32, int32

from tests.simt.corpus import correct, ints, minus_ones, nans, some

N = 64


@correct(1, 33, lambda: (ints(33), minus_ones(33)), lambda x, y: {1: x[::-1]})
def reverse_in_a_block_of_33(x, y):
    s = cuda.shared.array(33, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    y[t] = s[32 - t]


@correct(
    1, N, lambda: (ints(N),), lambda x: {0: np.convolve(x, [1, 1, 1], "same")},
)  # fmt: skip
def stencil_in_place_with_a_barrier(x):
    i = cuda.grid(1)
    value = x[i]
    if i > 0:
        value += x[i - 1]
    if i + 1 < x.size:
        value += x[i + 1]
    cuda.syncthreads()
    x[i] = value


@correct(1, (8, 8), lambda: (ints(8, 8),), lambda A: {0: A.T})
def transpose_in_place_with_a_barrier(A):
    col, row = cuda.grid(2)
    value = A[row, col]
    cuda.syncthreads()
    A[col, row] = value


@correct(1, N, lambda: (ints(N), minus_ones(N)), lambda x, y: {1: np.cumsum(x)})
def cumulative_sum_with_two_barriers(x, y):
    s = cuda.shared.array(N, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    step = 1
    while step < N:
        left = s[t - step] if t >= step else int32(0)
        cuda.syncthreads()
        s[t] += left
        cuda.syncthreads()
        step *= 2
    y[t] = s[t]


@correct(1, N, lambda: (ints(N), minus_ones(N)), lambda x, y: {1: np.cumsum(x)})
def cumulative_sum_with_two_buffers(x, y):
    s = cuda.shared.array((2, N), int32)
    t = cuda.threadIdx.x
    now = 0
    s[now, t] = x[t]
    cuda.syncthreads()
    step = 1
    while step < N:
        s[1 - now, t] = s[now, t] + s[now, t - step] if t >= step else s[now, t]
        now = 1 - now
        cuda.syncthreads()
        step *= 2
    y[t] = s[now, t]


@correct(1, N // 2, lambda: (ints(N), minus_ones(N)), lambda x, y: {1: np.cumsum(x) - x})
def cumulative_sum_of_blelloch(x, y):
    s = cuda.shared.array(N, int32)
    t = cuda.threadIdx.x
    s[2 * t] = x[2 * t]
    s[2 * t + 1] = x[2 * t + 1]
    step = 1
    while step < N:
        cuda.syncthreads()
        k = (2 * t + 2) * step - 1
        if k < N:
            s[k] += s[k - step]
        step *= 2
    cuda.syncthreads()  # not needed
    if t == 0:
        s[N - 1] = 0
    while step > 1:
        step //= 2
        cuda.syncthreads()
        k = (2 * t + 2) * step - 1
        if k < N:
            left = s[k - step]
            s[k - step] = s[k]
            s[k] += left
    cuda.syncthreads()  # not needed
    y[2 * t] = s[2 * t]
    y[2 * t + 1] = s[2 * t + 1]


@correct(
    1, N // 2, lambda: (np.random.default_rng(0).permutation(N).astype(np.int32), minus_ones(N)),
    lambda x, y: {1: np.sort(x)},
)  # fmt: skip
def bitonic_sort(x, y):
    s = cuda.shared.array(N, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    s[t + N // 2] = x[t + N // 2]
    size = 2
    while size <= N:
        step = size // 2
        while step > 0:
            cuda.syncthreads()
            k = 2 * t - (t & (step - 1))
            rising = (k & size) == 0
            a, b = s[k], s[k + step]
            if (a > b) == rising:
                s[k] = b
                s[k + step] = a
            step //= 2
        size *= 2
    cuda.syncthreads()
    y[t] = s[t]
    y[t + N // 2] = s[t + N // 2]


@correct(
    1, 16, lambda: (np.random.default_rng(1).permutation(33).astype(np.int32),), lambda x: {0: np.sort(x)},
)  # fmt: skip
def odd_even_sort_in_global_memory(x):
    t = cuda.threadIdx.x
    for turn in range(x.size):
        k = 2 * t + turn % 2
        if k + 1 < x.size and x[k] > x[k + 1]:
            x[k], x[k + 1] = x[k + 1], x[k]
        cuda.syncthreads()


@correct(
    2, 64, lambda: (ints(100), minus_ones(100)), lambda x, y: {1: np.convolve(x, [1, 1, 1], "same")},
)  # fmt: skip
def halo_loaded_with_guards(x, y):
    s = cuda.shared.array(66, int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t + 1] = x[i] if i < x.size else int32(0)
    if t == 0:
        s[0] = x[i - 1] if i > 0 else int32(0)
    if t == cuda.blockDim.x - 1:
        s[t + 2] = x[i + 1] if i + 1 < x.size else int32(0)
    cuda.syncthreads()
    if i < x.size:
        y[i] = s[t] + s[t + 1] + s[t + 2]


@correct(
    4, 64, lambda: (ints(64), minus_ones(256)), lambda x, y: {1: np.r_[x[::-1], x[::-1], -1 + 0 * x, -1 + 0 * x]},
)  # fmt: skip
def whole_blocks_return_before_the_barrier(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    if cuda.blockIdx.x >= 2:
        return
    s[t] = x[t]
    cuda.syncthreads()
    y[cuda.grid(1)] = s[63 - t]


@correct(
    3, 32, lambda: (np.array([0, 5, 0], np.int32), ints(96), minus_ones(96)),
    lambda n, x, y: {2: np.r_[x[:32], x[63:31:-1], x[64:]]},
)  # fmt: skip
def barrier_in_a_branch_of_the_whole_block(n, x, y):
    s = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    value = x[i]
    if n[cuda.blockIdx.x] > 0:
        s[t] = value
        cuda.syncthreads()
        value = s[31 - t]
    y[i] = value


@correct(
    3, 32, lambda: (np.array([2, 0, 3], np.int32), ints(96), minus_ones(96)),
    lambda n, x, y: {2: np.concatenate([np.roll(x[32 * b : 32 * b + 32], -n[b]) for b in range(3)])},
)  # fmt: skip
def barrier_in_a_loop_as_long_for_the_whole_block(n, x, y):
    s = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i]
    cuda.syncthreads()
    for _ in range(n[cuda.blockIdx.x]):
        right = s[(t + 1) % 32]
        cuda.syncthreads()
        s[t] = right
        cuda.syncthreads()
    y[i] = s[t]


@correct(1, 64, lambda: (ints(64), minus_ones(64)), lambda x, y: {1: np.full(64, 63)})
def loop_until_the_whole_block_is_done(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    changed = 1
    while cuda.syncthreads_or(changed) != 0:
        other = s[(t + 1) % 64]
        changed = 1 if other > s[t] else 0
        cuda.syncthreads()
        if changed != 0:
            s[t] = other
    y[t] = s[t]


@correct(1, 64, lambda: (ints(64), minus_ones(64)), lambda x, y: {1: np.full(64, 43)})
def count_of_the_whole_block(x, y):
    t = cuda.threadIdx.x
    y[t] = cuda.syncthreads_count(1 if x[t] > 20 else 0)


@correct(
    1, 8, lambda: (np.array([0, 1, 2, 3, 0, 1, 2, 3], np.int32), minus_ones(8)), lambda x, y: {1: x[::-1]},
)  # fmt: skip
def loop_with_break_ends_before_the_barrier(x, y):
    s = cuda.shared.array(8, int32)
    t = cuda.threadIdx.x
    k = 0
    while True:
        if k == x[t]:
            break
        k += 1
    s[t] = k
    cuda.syncthreads()
    y[t] = s[7 - t]


@correct(1, 64, lambda: (ints(3), minus_ones(3, 64)), lambda x, y: {1: np.repeat(x, 64).reshape(3, 64)})
def one_writer_many_readers(x, y):
    s = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    for k in range(3):
        if t == 0:
            s[0] = x[k]
        cuda.syncthreads()
        y[k, t] = s[0]
        cuda.syncthreads()


@correct(
    2, 32, lambda: (ints(64), minus_ones(64)), lambda x, y: {1: np.r_[np.roll(x[:32], -1), np.roll(x[32:], -1)]},
)  # fmt: skip
def handed_on_in_global_memory_within_a_block(x, y):
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    first = i - t
    y[i] = x[i]
    cuda.syncthreads()
    neighbour = y[first + (t + 1) % cuda.blockDim.x]
    cuda.syncthreads()
    y[i] = neighbour


@correct(1, 32, lambda: (ints(32, 8), minus_ones(32)), lambda A, y: {1: A.sum(1)})
def own_column_of_shared_memory_without_a_barrier(A, y):
    s = cuda.shared.array((8, 32), int32)
    t = cuda.threadIdx.x
    for k in range(8):
        s[k, t] = A[t, k]
    total = 0
    for k in range(8):
        total += s[k, t]
    y[t] = total


@correct(
    1, 64, lambda: (ints(64), minus_ones(2, 64)), lambda x, y: {1: [x[::-1], (x * x)[::-1]]}, shared=64 * 4 * 2,
)  # fmt: skip
def dynamic_shared_memory_in_two_halves(x, y):
    both = cuda.shared.array(0, int32)
    values = both[:64]
    squares = both[64:]
    t = cuda.threadIdx.x
    values[t] = x[t]
    squares[t] = x[t] * x[t]
    cuda.syncthreads()
    y[0, t] = values[63 - t]
    y[1, t] = squares[63 - t]


@correct(1, 64, lambda: (ints(64), minus_ones(64)), lambda x, y: {1: 2 * x[::-1]})
def one_buffer_for_two_purposes_with_barriers(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    value = s[63 - t]
    cuda.syncthreads()  # not needed
    s[63 - t] = value + value
    cuda.syncthreads()  # not needed
    y[t] = s[63 - t]


@cuda.jit(device=True)
def exchange(s, t, value):
    s[t] = value
    cuda.syncthreads()
    other = s[t ^ 1]
    cuda.syncthreads()
    return other


@correct(1, 64, lambda: (ints(64), minus_ones(64)), lambda x, y: {1: x})
def barrier_in_a_function_that_all_call(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    there = exchange(s, t, x[t])
    y[t] = exchange(s, t, there)


@correct(
    1, 64, lambda: (some(64, 128), some(128), nans(64)), lambda A, x, y: {2: A @ x},
)  # fmt: skip
def matrix_vector_with_two_buffers(A, x, y):
    xs = cuda.shared.array((2, 32), float32)
    t = cuda.threadIdx.x
    if t < 32:
        xs[0, t] = x[t]
    cuda.syncthreads()
    acc = float32(0)
    for m in range(4):
        now = m % 2
        if m < 3 and t < 32:
            xs[1 - now, t] = x[(m + 1) * 32 + t]
        for k in range(32):
            acc += A[t, m * 32 + k] * xs[now, k]
        cuda.syncthreads()
    y[t] = acc


@correct(
    1, (4, 3, 2), lambda: (ints(2, 3, 4), minus_ones(2, 3, 4)), lambda x, y: {1: x[::-1, ::-1, ::-1]},
)  # fmt: skip
def block_of_three_axes_turned_around(x, y):
    s = cuda.shared.array((2, 3, 4), int32)
    i, j, k = cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z
    s[k, j, i] = x[k, j, i]
    cuda.syncthreads()
    y[k, j, i] = s[1 - k, 2 - j, 3 - i]


@correct(
    4, 32, lambda: (ints(128), minus_ones(128), minus_ones(128)), lambda x, h, y: {1: 2 * x, 2: 2 * x[::-1]},
)  # fmt: skip
def grid_barrier_orders_blocks(x, h, y):
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    h[i] = 2 * x[i]
    grid.sync()
    y[i] = h[x.size - 1 - i]
