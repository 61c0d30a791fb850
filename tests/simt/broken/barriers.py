"""A barrier, or a warp operation, to which not all threads come that must."""

import numpy as np
from numba import cuda, float32, int32

from tests.simt.corpus import broken, finding, floats, ints, minus_ones, nans, some

ALL = 0xFFFFFFFF
LOWER = 0x0000FFFF
EVERYONE = "all threads"


@broken(
    2, 64, lambda: (floats(100), nans(100)),
    finding("barrier not reached", thread=36, block=1, phase=0, says=("36 of 64 threads", EVERYONE)),
)  # fmt: skip
def barrier_inside_the_guard(x, y):
    s = cuda.shared.array(64, float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    if i < x.size:
        s[t] = x[i]
        cuda.syncthreads()  # bad
        y[i] = s[t ^ 1]


@broken(
    1, 64, lambda: (ints(64), minus_ones(64)),
    finding("barrier not reached", thread=16, block=0, phase=0, says="16 of 64 threads", mark="# bad: if"),
    finding("barrier not reached", thread=0, block=0, says="48 of 64 threads", mark="# bad: else"),
)  # fmt: skip
def barrier_in_both_branches(x, y):
    t = cuda.threadIdx.x
    if t < 16:
        value = x[t] + 1
        cuda.syncthreads()  # bad: if
    else:
        value = x[t] - 1
        cuda.syncthreads()  # bad: else
    y[t] = value


@broken(
    1, 64, lambda: (ints(100), minus_ones(100)),
    finding("barrier not reached", thread=36, block=0, phase=1, says="36 of 64 threads"),
)  # fmt: skip
def barrier_in_a_ragged_grid_stride_loop(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        s[t] = x[i]
        cuda.syncthreads()  # bad
        y[i] = s[t]


@broken(
    1, 4, lambda: (np.array([2, 0, 1, 3], np.int32), minus_ones(4)),
    finding("barrier not reached", thread=1, block=0, phase=0, says="3 of 4 threads"),
)  # fmt: skip
def barrier_in_a_loop_of_its_own_length(turns, y):
    t = cuda.threadIdx.x
    n = turns[t]
    while n > 0:
        cuda.syncthreads()  # bad
        n -= 1
    y[t] = n


@broken(
    1, 8, lambda: (ints(8), minus_ones(8)),
    finding("barrier not reached", thread=0, block=0, phase=0, says="7 of 8 threads"),
)  # fmt: skip
def break_before_the_barrier(x, y):
    t = cuda.threadIdx.x
    turns = 0
    for k in range(4):
        if x[t] <= k:
            break
        cuda.syncthreads()  # bad
        turns += 1
    y[t] = turns


@broken(
    1, 64, lambda: (ints(64), minus_ones(64)),
    finding("barrier not reached", thread=32, block=0, phase=0, says="32 of 64 threads"),
)  # fmt: skip
def vote_of_the_block_in_a_branch(x, y):
    t = cuda.threadIdx.x
    y[t] = 0
    if t < 32:
        y[t] = cuda.syncthreads_count(1 if x[t] > 10 else 0)  # bad


@cuda.jit(device=True)
def hand_over(s, t, value):
    s[t] = value
    cuda.syncthreads()  # bad
    return s[t ^ 1]


@broken(
    1, 64, lambda: (ints(64), minus_ones(64)),
    finding("barrier not reached", thread=32, block=0, phase=0, says="32 of 64 threads"),
)  # fmt: skip
def barrier_in_a_function_called_in_a_branch(x, y):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    if t < 32:
        y[t] = hand_over(s, t, x[t])


@broken(
    2, 32, lambda: (ints(64), minus_ones(64)),
    finding("barrier not reached", thread=0, block=1, says="blocks"),
)  # fmt: skip
def grid_barrier_of_one_block(x, y):
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    y[i] = x[i]
    if cuda.blockIdx.x == 0:
        grid.sync()  # bad


# ------------------------------------------------------------------------------------------- warps


@broken(
    1, 32, lambda: (ints(32), minus_ones(32)),
    finding("warp operation not reached", thread=0, block=0, says=("cuda.syncwarp", "lane 16", "mask")),
)  # fmt: skip
def syncwarp_in_a_branch(x, y):
    s = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    if t < 16:
        cuda.syncwarp()  # bad
    y[t] = s[t]


@broken(
    1, 64, lambda: (ints(64), minus_ones(64)),
    finding("warp operation not reached", thread=0, block=0, says=("cuda.shfl_down_sync", "lane 16", f"mask {ALL:#x}")),
)  # fmt: skip
def shuffle_in_a_branch(x, y):
    t = cuda.threadIdx.x
    value = x[t]
    if t % 32 < 16:
        value += cuda.shfl_down_sync(ALL, value, 8)  # bad
    y[t] = value


@broken(
    1, 64, lambda: (ints(50), np.zeros(1, np.int32)),
    finding("warp operation not reached", thread=32, block=0, says=("cuda.shfl_xor_sync", "lane 18", f"mask {ALL:#x}")),
)  # fmt: skip
def warp_sum_inside_the_guard(x, total):
    i = cuda.grid(1)
    if i < x.size:
        value = x[i]
        step = 16
        while step > 0:
            value += cuda.shfl_xor_sync(ALL, value, step)  # bad
            step //= 2
        if cuda.laneid == 0:
            cuda.atomic.add(total, 0, value)


@broken(
    1, 32, lambda: (ints(32), minus_ones(32)),
    finding("warp operation not reached", thread=0, block=0, says=("lane 16", "take part")),
)  # fmt: skip
def shuffle_from_a_lane_that_is_not_there(x, y):
    t = cuda.threadIdx.x
    value = x[t]
    if t < 16:
        value += cuda.shfl_down_sync(LOWER, value, 16)  # bad
    y[t] = value


@broken(
    1, 32, lambda: (ints(32), minus_ones(32)),
    finding("warp operation not reached", thread=16, block=0, says=("cuda.ballot_sync", "mask 0x0000ffff")),
)  # fmt: skip
def ballot_without_its_own_lane(x, y):
    t = cuda.threadIdx.x
    y[t] = cuda.popc(cuda.ballot_sync(LOWER, x[t] > 3))  # bad


@broken(
    1, 64, lambda: (ints(64), minus_ones(64)),
    finding("warp operation not reached", thread=1, block=0, says=("cuda.any_sync", "lane 0", "mask")),
)  # fmt: skip
def vote_in_a_loop_of_its_own_length(x, y):
    t = cuda.threadIdx.x
    n = x[t] % 4
    y[t] = 0
    while n > 0:
        if cuda.any_sync(ALL, n == 2):  # bad
            y[t] += 1
        n -= 1


@broken(
    1, 32, lambda: (some(32), nans(32)),
    finding("warp operation not reached", thread=1, block=0, says=("cuda.shfl_sync", "lane 0", f"mask {ALL:#x}")),
)  # fmt: skip
def broadcast_only_the_others_ask_for(x, y):
    t = cuda.threadIdx.x
    value = x[t]
    if t > 0:
        value = cuda.shfl_sync(ALL, value, 0)  # bad
    y[t] = value
