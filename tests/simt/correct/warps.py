"""Lanes of one warp: shuffles, votes and shared memory with syncwarp, also in warps that are not full."""

import numpy as np
from numba import cuda, int32

from tests.simt.corpus import correct, ints, minus_ones

FULL = 0xFFFFFFFF


@correct(1, 64, lambda: (ints(64), minus_ones(2)), lambda x, out: {1: [x[:32].sum(), x[32:].sum()]})
def warp_sum_in_shared_memory(x, out):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    lane = t % 32
    s[t] = x[t]
    cuda.syncwarp()
    step = 16
    while step > 0:
        if lane < step:
            s[t] += s[t + step]
        cuda.syncwarp()
        step //= 2
    if lane == 0:
        out[t // 32] = s[t]


@correct(1, 64, lambda: (ints(64), minus_ones(64)), lambda x, y: {1: np.r_[np.roll(x[:32], -3), np.roll(x[32:], -3)]})
def warp_rotation_in_shared_memory(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    first = t - t % 32
    s[t] = x[t]
    for _ in range(3):
        cuda.syncwarp()
        right = s[first + (t + 1) % 32]
        cuda.syncwarp()
        s[t] = right
    y[t] = s[t]


@correct(2, 64, lambda: (ints(128), minus_ones(128)), lambda x, y: {1: np.repeat(x.reshape(4, 32).sum(1), 32)})
def butterfly(x, y):
    i = cuda.grid(1)
    value = x[i]
    step = 16
    while step > 0:
        value += cuda.shfl_xor_sync(FULL, value, step)
        step //= 2
    y[i] = value


@correct(1, 64, lambda: (ints(64), minus_ones(64)), lambda x, y: {1: np.r_[np.cumsum(x[:32]), np.cumsum(x[32:])]})
def cumulative_sum_by_shuffles(x, y):
    t = cuda.threadIdx.x
    value = x[t]
    step = 1
    while step < 32:
        left = cuda.shfl_up_sync(FULL, value, step)
        if cuda.laneid >= step:
            value += left
        step *= 2
    y[t] = value


@correct(1, 64, lambda: (ints(64), minus_ones(64)), lambda x, y: {1: x - np.repeat(x[[0, 32]], 32)})
def first_lane_told_to_all(x, y):
    t = cuda.threadIdx.x
    y[t] = x[t] - cuda.shfl_sync(FULL, x[t], 0)


@correct(1, 32, lambda: (ints(32), minus_ones(1)), lambda x, out: {1: [x[:16].sum()]})
def half_a_warp_with_its_own_mask(x, out):
    t = cuda.threadIdx.x
    if t < 16:
        total = x[t]
        step = 8
        while step > 0:
            total += cuda.shfl_xor_sync(0x0000FFFF, total, step)
            step //= 2
        if t == 0:
            out[0] = total


@correct(
    1, 32, lambda: (ints(32), minus_ones(32)), lambda x, y: {1: np.where(x % 2 == 0, 2 * ((x + 2) % 32), -1)},
)  # fmt: skip
def even_lanes_with_their_own_mask(x, y):
    t = cuda.threadIdx.x
    if t % 2 == 0:
        y[t] = cuda.shfl_sync(0x55555555, 2 * x[t], (t + 2) % 32)


@correct(1, 33, lambda: (ints(33), minus_ones(2)), lambda x, out: {1: [x[:32].sum(), 32]})
def block_of_33_with_a_mask_for_its_last_warp(x, out):
    t = cuda.threadIdx.x
    total = x[t]
    if t < 32:
        step = 16
        while step > 0:
            total += cuda.shfl_xor_sync(FULL, total, step)
            step //= 2
    if t % 32 == 0:
        out[t // 32] = total


@correct(1, 40, lambda: (ints(40), minus_ones(40)), lambda x, y: {1: np.where(x < 32, 27, 8)})
def votes_of_a_warp_that_is_not_full(x, y):
    t = cuda.threadIdx.x
    y[t] = cuda.popc(cuda.ballot_sync(FULL if t < 32 else 0xFF, x[t] > 4))


@correct(1, 64, lambda: (ints(64), minus_ones(2, 64)), lambda x, y: {1: [x >= 32, x < 32]})
def whole_warps_vote(x, y):
    t = cuda.threadIdx.x
    y[0, t] = 1 if cuda.all_sync(FULL, x[t] >= 32) else 0
    y[1, t] = 1 if cuda.any_sync(FULL, x[t] == 3) else 0


@correct(
    2, 64, lambda: (ints(100), minus_ones(4)), lambda x, out: {1: [16, 16, 16, 2]},
)  # fmt: skip
def guard_voted_on_before_the_branch(x, out):
    i = cuda.grid(1)
    there = cuda.ballot_sync(FULL, i < x.size)
    if i < x.size:
        odd = cuda.ballot_sync(there, x[i] % 2 == 1)
        if cuda.laneid == 0:
            out[i // 32] = cuda.popc(odd)


@correct(
    2, 64, lambda: (ints(100), minus_ones(4)), lambda x, out: {1: [16, 16, 16, 2]},
    decide="CUDA asks only the lanes of the mask that have not ended to take part",
)  # fmt: skip
def vote_after_others_have_returned(x, out):
    i = cuda.grid(1)
    if i >= x.size:
        return
    odd = cuda.ballot_sync(FULL, x[i] % 2 == 1)
    if cuda.laneid == 0:
        out[i // 32] = cuda.popc(odd)


@correct(1, 64, lambda: (ints(64), minus_ones(64)), lambda x, y: {1: np.r_[x[31::-1], x[:31:-1]]})
def warps_work_apart_in_one_array(x, y):
    s = cuda.shared.array((2, 32), int32)
    t = cuda.threadIdx.x
    warp, lane = t // 32, t % 32
    s[warp, lane] = x[t]
    cuda.syncwarp()
    y[t] = s[warp, 31 - lane]


@correct(1, 64, lambda: (ints(64), minus_ones(64)), lambda x, y: {1: np.where(x < 32, x[::-1] - 32, x)})
def one_warp_works_while_the_other_waits(x, y):
    s = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    value = x[t]
    if t < 32:
        s[t] = value
        cuda.syncwarp()
        value = s[31 - t]
    cuda.syncthreads()  # not needed
    y[t] = value
