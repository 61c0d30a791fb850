"""Every form of a sum over a block, and what is built from it."""

import numpy as np
from numba import cuda, float32, int32

from tests.simt.corpus import correct, empty, ints, minus_ones, nans, some

N = 128
HALF = N // 2
FULL = 0xFFFFFFFF


def _sums(x, out):
    return {1: [x[k : k + N].sum() for k in range(0, x.size, N)]}


@correct(3, N, lambda: (ints(300), minus_ones(3)), _sums)
def reduction_interleaved_with_remainder(x, out):
    s = cuda.shared.array(N, int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i] if i < x.size else int32(0)
    cuda.syncthreads()
    step = 1
    while step < N:
        if t % (2 * step) == 0:
            s[t] += s[t + step]
        cuda.syncthreads()
        step *= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


@correct(3, N, lambda: (ints(300), minus_ones(3)), _sums)
def reduction_interleaved_with_strided_index(x, out):
    s = cuda.shared.array(N, int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i] if i < x.size else int32(0)
    cuda.syncthreads()
    step = 1
    while step < N:
        k = 2 * step * t
        if k < N:
            s[k] += s[k + step]
        cuda.syncthreads()
        step *= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


@correct(3, N, lambda: (ints(300), minus_ones(3)), _sums)
def reduction_sequential(x, out):
    s = cuda.shared.array(N, int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i] if i < x.size else int32(0)
    cuda.syncthreads()
    step = N // 2
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


@correct(3, N // 2, lambda: (ints(300), minus_ones(3)), _sums)
def reduction_first_sum_while_loading(x, out):
    s = cuda.shared.array(HALF, int32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * N + t
    total = x[i] if i < x.size else int32(0)
    if i + N // 2 < x.size:
        total += x[i + N // 2]
    s[t] = total
    cuda.syncthreads()
    step = N // 4
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


@correct(3, N, lambda: (ints(300), minus_ones(3)), _sums)
def reduction_last_warp_with_syncwarp(x, out):
    s = cuda.shared.array(N, int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i] if i < x.size else int32(0)
    cuda.syncthreads()
    if t < 64:
        s[t] += s[t + 64]
    cuda.syncthreads()
    if t < 32:
        total = s[t] + s[t + 32]
        step = 16
        while step > 0:
            s[t] = total
            cuda.syncwarp()
            total += s[(t + step) % 32]
            cuda.syncwarp()
            step //= 2
        if t == 0:
            out[cuda.blockIdx.x] = total


@correct(3, N, lambda: (ints(300), minus_ones(3)), _sums)
def reduction_by_shuffles(x, out):
    partial = cuda.shared.array(4, int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    total = x[i] if i < x.size else int32(0)
    step = 16
    while step > 0:
        total += cuda.shfl_down_sync(FULL, total, step)
        step //= 2
    if t % 32 == 0:
        partial[t // 32] = total
    cuda.syncthreads()
    if t == 0:
        out[cuda.blockIdx.x] = partial[0] + partial[1] + partial[2] + partial[3]


@correct(2, 64, lambda: (ints(1000), np.zeros(1, np.int32)), lambda x, out: {1: [x.sum()]})
def reduction_with_a_grid_stride_and_an_atomic(x, out):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    total = 0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total += x[i]
    s[t] = total
    cuda.syncthreads()
    step = 32
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        cuda.atomic.add(out, 0, s[0])


@correct(
    4, 32, lambda: (ints(128), empty(4, dtype=np.int32), np.zeros(1, np.int32), minus_ones(1)),
    lambda x, partial, tickets, out: {1: x.reshape(4, 32).sum(1), 2: [4], 3: [x.sum()]},
    decide="the last block knows by its ticket that the others' stores before the fence have happened",
)  # fmt: skip
def last_block_adds_up_the_others(x, partial, tickets, out):
    last = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    total = x[cuda.grid(1)]
    step = 16
    while step > 0:
        total += cuda.shfl_down_sync(FULL, total, step)
        step //= 2
    if t == 0:
        partial[cuda.blockIdx.x] = total
        cuda.threadfence()
        last[0] = cuda.atomic.add(tickets, 0, 1)
    cuda.syncthreads()
    if last[0] == cuda.gridDim.x - 1 and t == 0:
        whole = 0
        for b in range(cuda.gridDim.x):
            whole += partial[b]
        out[0] = whole


@correct(
    3, 64, lambda: (some(3, 64), nans(3, 64)),
    lambda z, p: {1: (z.max(1, keepdims=True) - z) / (z.max(1, keepdims=True) - z).sum(1, keepdims=True)},
)  # fmt: skip
def normalised_by_largest_and_sum(z, p):
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
    value = s[0] - z[row, t]
    cuda.syncthreads()
    s[t] = value
    cuda.syncthreads()
    step = 32
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    p[row, t] = value / s[0]


@correct(
    2, 32, lambda: (some(2, 32), minus_ones(2)), lambda x, where: {1: x.argmax(1)},
)  # fmt: skip
def first_place_of_the_largest(x, where):
    best = cuda.shared.array(32, float32)
    place = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    best[t] = x[cuda.blockIdx.x, t]
    place[t] = t
    cuda.syncthreads()
    step = 16
    while step > 0:
        if t < step:
            other = best[t + step]
            if other > best[t] or (other == best[t] and place[t + step] < place[t]):
                best[t] = other
                place[t] = place[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        where[cuda.blockIdx.x] = place[0]
