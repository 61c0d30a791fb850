"""Two threads at one address with nothing between them: also where the numbers happen to come out right."""

import math

import numpy as np
from numba import cuda, float32, int32

from tests.simt.corpus import broken, finding, floats, ints, minus_ones, nans, some

N = 64
BARRIER, SYNCWARP, ATOMIC = "cuda.syncthreads()", "cuda.syncwarp()", "cuda.atomic"
OWN_ELEMENT = "Give each thread an element of its own", "as cuda.grid(1) does?", ATOMIC
SAME_NUMBER = ("the same number", "Both threads wrote the same number, but two threads must not", *OWN_ELEMENT)
READ_FIRST = "Read into a variable", "then write"


# ------------------------------------------------------------------------------------------- counters and flags


@broken(
    2, 32, lambda: (floats(64, start=1), np.zeros(1, np.int32)),
    finding("race", "count", index=0, phase=0, says=ATOMIC),
)  # fmt: skip
def count_positive(x, count):
    i = cuda.grid(1)
    if x[i] > 0:
        count[0] += 1  # bad


@broken(
    1, 64, lambda: (floats(64, start=-2), np.zeros(1, np.int32)),
    advice=(finding("same value", "flag", thread=1, block=0, index=0, phase=0, other="thread 0", says=SAME_NUMBER),),
)  # fmt: skip
def flag_negative(x, flag):
    i = cuda.grid(1)
    if x[i] < 0:
        flag[0] = 1  # bad


@broken(
    1, 64, lambda: (ints(64) % 8, np.zeros(8, np.int32)),
    finding("race", "hist", block=0, phase=0, says=ATOMIC),
)  # fmt: skip
def histogram_without_atomics(x, hist):
    i = cuda.grid(1)
    hist[x[i]] += 1  # bad


@broken(
    2, 64, lambda: (some(128), np.full(1, -9, np.float32)),
    finding("race", "best", index=0, phase=0, says=ATOMIC),
)  # fmt: skip
def best_score(x, best):
    i = cuda.grid(1)
    best[0] = max(best[0], x[i])  # bad


@broken(
    1, 64, lambda: (ints(64) % 3, np.zeros(1, np.int32)),
    finding("race", "s", thread=1, block=0, index=0, phase=0, other="thread 0", says=BARRIER),
)  # fmt: skip
def counter_set_to_zero_without_barrier(x, count):
    s = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        s[0] = 0
    if x[t] > 0:
        cuda.atomic.add(s, 0, 1)  # bad
    cuda.syncthreads()
    if t == 0:
        count[0] = s[0]


@broken(
    1, 64, lambda: (ints(64), minus_ones(1)),
    finding("race", "s", block=0, index=0, phase=1, says=ATOMIC),
)  # fmt: skip
def shared_counter_without_atomics(x, count):
    s = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        s[0] = 0
    cuda.syncthreads()
    s[0] += 1  # bad
    cuda.syncthreads()
    if t == 0:
        count[0] = s[0]


@broken(
    2, 32, lambda: (some(64), np.full(1, 7, np.float32)),
    finding("race", "loss", index=0, phase=0, says="launch"),
)  # fmt: skip
def loss_set_to_zero_in_the_kernel(x, loss):
    i = cuda.grid(1)
    if i == 0:
        loss[0] = float32(0)
    cuda.atomic.add(loss, 0, x[i] * x[i])  # bad


@broken(
    1, 64, lambda: (np.zeros(1, np.int32), minus_ones(64)),
    finding("race", "arrived", block=0, index=0, phase=0, says=ATOMIC),
)  # fmt: skip
def tickets_read_without_atomics(arrived, out):
    i = cuda.grid(1)
    cuda.atomic.add(arrived, 0, 1)
    out[i] = arrived[0]  # bad


@broken(
    1, 64, lambda: (ints(64) % 8, minus_ones(64)),
    finding("race", "bins", block=0, phase=1, says=BARRIER),
)  # fmt: skip
def histogram_read_while_others_add(x, out):
    bins = cuda.shared.array(8, int32)
    t = cuda.threadIdx.x
    if t < 8:
        bins[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(bins, x[t], 1)
    out[t] = bins[x[t]]  # bad


# ------------------------------------------------------------------------------------------- gradients


@broken(
    1, 32, lambda: (some(32, 4), some(32, seed=1), np.zeros(4, np.float32)),
    finding("race", "dw", block=0, index=0, phase=0, says=ATOMIC),
)  # fmt: skip
def weight_gradient_one_thread_per_sample(x, dz, dw):
    i = cuda.grid(1)
    if i < x.shape[0]:
        for k in range(x.shape[1]):
            dw[k] += x[i, k] * dz[i]  # bad


@broken(
    1, 4, lambda: (some(4), np.array([0, 2, 2, 5], np.int32), np.zeros(8, np.float32)),
    finding("race", "dx", block=0, index=2, phase=0, says=ATOMIC),
)  # fmt: skip
def pool_backward_with_overlapping_windows(dy, mask, dx):
    i = cuda.grid(1)
    if i < dy.size:
        dx[mask[i]] += dy[i]  # bad


# ------------------------------------------------------------------------------------------- in place


@broken(
    1, N, lambda: (ints(N), minus_ones(N)),
    finding("race", "s", block=0, says=(*READ_FIRST, BARRIER)),
)  # fmt: skip
def cumulative_sum_in_place(x, y):
    s = cuda.shared.array(N, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    step = 1
    while step < N:
        if t >= step:
            s[t] += s[t - step]  # bad
        cuda.syncthreads()
        step *= 2
    y[t] = s[t]


@broken(
    2, 32, lambda: (some(64),),
    finding("race", "x", phase=0, says=("launch",)),
)  # fmt: skip
def blur_in_place(x):
    i = cuda.grid(1)
    if 0 < i < x.size - 1:
        x[i] = (x[i - 1] + x[i] + x[i + 1]) / float32(3)  # bad


@broken(
    1, (8, 8), lambda: (some(8, 8),),
    finding("race", "A", thread=(1, 0), block=0, phase=0, other="thread (0, 1)", says=(*READ_FIRST, BARRIER)),
)  # fmt: skip
def transpose_in_place(A):
    col, row = cuda.grid(2)
    if row < A.shape[0] and col < A.shape[1]:
        A[col, row] = A[row, col]  # bad


def one_array_twice():
    x = some(64)
    return x, x


@broken(
    1, 64, one_array_twice,
    finding("race", "y", block=0, phase=0, says=(*READ_FIRST, BARRIER)),
)  # fmt: skip
def shift_into_the_same_array(x, y):
    i = cuda.grid(1)
    if i + 1 < x.size:
        y[i] = x[i + 1]  # bad


# ------------------------------------------------------------------------------------------- two owners


@broken(
    2, 64, lambda: (ints(128), minus_ones(1)),
    finding("race", "total", thread=0, block=1, index=0, other="of block 0", says=OWN_ELEMENT),
)  # fmt: skip
def every_block_writes_its_sum_to_one_element(x, total):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = 32
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        total[0] = s[0]  # bad


@broken(
    2, 32, lambda: (ints(64), minus_ones(64)),
    advice=(
        finding("same value", "y", thread=0, block=1, index=0, phase=0, other="thread 0 of block 0", says=SAME_NUMBER),
    ),
)  # fmt: skip
def index_without_the_block(x, y):
    i = cuda.threadIdx.x
    y[i] = 2 * x[i]  # bad


@broken(
    1, 32, lambda: (ints(32), minus_ones(16)),
    finding("race", "y", thread=1, block=0, index=0, phase=0, other="thread 0", says=OWN_ELEMENT),
)  # fmt: skip
def pool_with_a_thread_for_each_input(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i // 2] = x[i]  # bad


@broken(
    1, (6, 4), lambda: (ints(4, 6), minus_ones(24)),
    finding("race", "y", thread=(0, 1), block=0, index=4, phase=0, other="thread (4, 0)",
            says=(OWN_ELEMENT[0], "as cuda.grid(2) does?")),
)  # fmt: skip
def flat_index_with_height_for_width(A, y):
    col, row = cuda.grid(2)
    if row < A.shape[0] and col < A.shape[1]:
        y[row * A.shape[0] + col] = A[row, col]  # bad


@broken(
    2, 32, lambda: (ints(128), minus_ones(128)),
    advice=(finding("same value", "y", thread=0, index=32, phase=0, says=SAME_NUMBER),),
)  # fmt: skip
def stride_of_one_block(x, y):
    i = cuda.grid(1)
    while i < x.size:
        y[i] = 2 * x[i]  # bad
        i += cuda.blockDim.x


@broken(
    2, 32, lambda: (ints(128), minus_ones(128)),
    advice=(finding("same value", "y", phase=0, says=SAME_NUMBER),),
)  # fmt: skip
def stride_of_the_number_of_blocks(x, y):
    i = cuda.grid(1)
    while i < x.size:
        y[i] = 2 * x[i]  # bad
        i += cuda.gridDim.x


@broken(
    2, 32, lambda: (some(64), np.zeros(64, np.float32), nans(64)),
    finding("race", "h", thread=0, block=1, index=31, other="thread 31 of block 0", says="launch"),
)  # fmt: skip
def two_layers_in_one_launch(x, h, y):
    i = cuda.grid(1)
    h[i] = max(x[i], float32(0))
    cuda.syncthreads()
    if i > 0:
        y[i] = h[i] + h[i - 1]  # bad


@broken(
    4, 32, lambda: (ints(128), minus_ones(4), np.zeros(1, np.int32), minus_ones(1)),
    finding("race", "partial", thread=0, block=3, index=0, other="thread 0 of block 0", says="launch"),
)  # fmt: skip
def last_block_without_a_fence(x, partial, tickets, out):
    ticket = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        partial[cuda.blockIdx.x] = x[cuda.grid(1)]
        ticket[0] = cuda.atomic.add(tickets, 0, 1)
    cuda.syncthreads()
    if ticket[0] == cuda.gridDim.x - 1 and t == 0:
        total = 0
        for b in range(cuda.gridDim.x):
            total += partial[b]  # bad
        out[0] = total


# ------------------------------------------------------------------------------------------- missing barriers


@broken(
    1, 64, lambda: (some(64), nans(64)),
    finding("race", "s", thread=0, block=0, index=63, phase=0, other="thread 63", says=BARRIER),
)  # fmt: skip
def reverse_without_barrier(x, y):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    y[t] = s[63 - t]  # bad


@broken(
    1, 64, lambda: (some(64), nans(64)),
    finding("race", "s", thread=1, block=0, index=0, phase=0, other="thread 0", says=BARRIER),
)  # fmt: skip
def mean_handed_out_without_barrier(x, y):
    s = cuda.shared.array(1, float32)
    t = cuda.threadIdx.x
    if t == 0:
        total = float32(0)
        for k in range(x.size):
            total += x[k]
        s[0] = total
    y[t] = x[t] - s[0]  # bad


@broken(
    1, 64, lambda: (some(64, 128), some(128), nans(64)),
    finding("race", "xs", block=0, phase=1, says=BARRIER),
)  # fmt: skip
def matrix_vector_without_second_barrier(A, x, y):
    xs = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    acc = float32(0)
    for m in range(2):
        xs[t] = x[m * 64 + t]  # bad
        cuda.syncthreads()
        for k in range(64):
            acc += A[t, m * 64 + k] * xs[k]
    y[t] = acc


@broken(
    1, (8, 8), lambda: (some(8, 8), some(8, 8, seed=1), nans(8, 8)),
    finding("race", "As", thread=(1, 0), block=0, phase=0, other="thread (0, 0)", says=BARRIER),
    finding("race", "Bs", thread=(0, 1), block=0, phase=0, other="thread (0, 0)", says=BARRIER),
)  # fmt: skip
def product_without_first_barrier(A, B, C):
    As = cuda.shared.array((8, 8), float32)
    Bs = cuda.shared.array((8, 8), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    As[ty, tx] = A[ty, tx]
    Bs[ty, tx] = B[ty, tx]
    acc = float32(0)
    for k in range(8):
        acc += As[ty, k] * Bs[k, tx]  # bad
    C[ty, tx] = acc


@broken(
    1, 64, lambda: (some(64, 128), some(128), nans(64)),
    finding("race", "xs", thread=1, block=0, phase=1, other="thread 0", says=BARRIER),
)  # fmt: skip
def double_buffer_read_where_it_is_filled(A, x, y):
    xs = cuda.shared.array((2, 32), float32)
    t = cuda.threadIdx.x
    if t < 32:
        xs[0, t] = x[t]
    cuda.syncthreads()
    acc = float32(0)
    for m in range(4):
        other = (m + 1) % 2
        if m < 3 and t < 32:
            xs[other, t] = x[(m + 1) * 32 + t]
        for k in range(32):
            acc += A[t, m * 32 + k] * xs[other, k]  # bad
        cuda.syncthreads()
    y[t] = acc


@broken(
    2, 64, lambda: (some(2, 64), nans(2, 64)),
    finding("race", "s", thread=0, block=0, index=0, phase=7, says=BARRIER),
)  # fmt: skip
def softmax_reuses_its_buffer(z, p):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    row = cuda.blockIdx.x
    s[t] = z[row, t]
    cuda.syncthreads()
    step = 32
    while step > 0:
        if t < step:
            s[t] = max(s[t], s[t + step])
        cuda.syncthreads()
        step //= 2
    e = math.exp(z[row, t] - s[0])
    s[t] = e  # bad
    cuda.syncthreads()
    step = 32
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    p[row, t] = e / s[0]


@broken(
    1, 64, lambda: (some(2, 64), nans(2, 64)),
    finding("race", "row", block=0, phase=1, says=BARRIER),
)  # fmt: skip
def shared_array_in_a_loop_taken_for_a_new_one(x, y):
    t = cuda.threadIdx.x
    for m in range(2):
        row = cuda.shared.array(64, float32)
        row[t] = x[m, t]  # bad
        cuda.syncthreads()
        y[m, t] = row[63 - t]


@broken(
    1, 128, lambda: (ints(128), minus_ones(1)),
    finding("race", "s", block=0, phase=1, says=BARRIER),
)  # fmt: skip
def reduction_without_barrier_in_the_loop(x, total):
    s = cuda.shared.array(128, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    step = 64
    while step > 0:
        if t < step:
            s[t] += s[t + step]  # bad
        step //= 2
    if t == 0:
        total[0] = s[0]


# ------------------------------------------------------------------------------------------- within a warp


@broken(
    1, 64, lambda: (ints(64), minus_ones(1)),
    finding("race", "s", thread=0, block=0, index=16, phase=1, other="thread 16", says=SYNCWARP, mark="# bad: 16"),
    finding("race", "s", thread=0, block=0, index=8, phase=1, other="thread 8", says=SYNCWARP, mark="# bad: 8"),
    finding("race", "s", thread=0, block=0, index=4, phase=1, other="thread 4", says=SYNCWARP, mark="# bad: 4"),
    finding("race", "s", thread=0, block=0, index=2, phase=1, other="thread 2", says=SYNCWARP, mark="# bad: 2"),
    finding("race", "s", thread=0, block=0, index=1, phase=1, other="thread 1", says=SYNCWARP, mark="# bad: 1"),
)  # fmt: skip
def last_warp_unrolled_without_syncwarp(x, total):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    if t < 32:
        s[t] += s[t + 32]
    if t < 16:
        s[t] += s[t + 16]  # bad: 16
    if t < 8:
        s[t] += s[t + 8]  # bad: 8
    if t < 4:
        s[t] += s[t + 4]  # bad: 4
    if t < 2:
        s[t] += s[t + 2]  # bad: 2
    if t < 1:
        s[t] += s[t + 1]  # bad: 1
        total[0] = s[0]


@broken(
    1, 64, lambda: (ints(64), minus_ones(64)),
    finding("race", "s", thread=0, block=0, index=63, phase=0, other="thread 63", says=BARRIER),
)  # fmt: skip
def syncwarp_taken_for_a_barrier(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncwarp()
    y[t] = s[63 - t]  # bad


@broken(
    1, 32, lambda: (ints(32), minus_ones(32)),
    finding("race", "s", block=0, phase=0, says=(*READ_FIRST, SYNCWARP)),
)  # fmt: skip
def warp_shift_without_second_syncwarp(x, y):
    s = cuda.shared.array(33, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    if t == 0:
        s[32] = 0
    cuda.syncwarp()
    s[t] = s[t + 1]  # bad
    cuda.syncwarp()
    y[t] = s[t]
