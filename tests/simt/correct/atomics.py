"""Many threads at one address, one after the other: that is what atomic operations are for."""

import numpy as np
from numba import cuda, int32

from tests.simt.corpus import correct, ints, minus_ones, some

FULL = 0xFFFFFFFF


@correct(3, 32, lambda: (ints(80) % 7, np.zeros(7, np.int32)), lambda x, hist: {1: np.bincount(x)})
def histogram_in_global_memory(x, hist):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(hist, x[i], 1)


@correct(3, 64, lambda: (ints(150) * 7 % 8, np.zeros(8, np.int32)), lambda x, hist: {1: np.bincount(x)})
def histogram_with_a_copy_for_each_block(x, hist):
    s = cuda.shared.array(8, int32)
    t = cuda.threadIdx.x
    if t < 8:
        s[t] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(s, x[i], 1)
    cuda.syncthreads()
    if t < 8:
        cuda.atomic.add(hist, t, s[t])


@correct(2, 32, lambda: (some(64), np.zeros((2, 2), np.float32)), lambda x, out: {1: [[x.sum(), -x.sum()], [4, -4]]})
def sums_and_extremes(x, out):
    i = cuda.grid(1)
    cuda.atomic.add(out, (0, 0), x[i])
    cuda.atomic.sub(out, (0, 1), x[i])
    cuda.atomic.max(out, (1, 0), x[i])
    cuda.atomic.min(out, (1, 1), x[i])


@correct(
    2, 32, lambda: (ints(64) % 5, np.zeros(1, np.int32), minus_ones(64)),
    lambda x, count, out: {1: [(x > 2).sum()], 2: np.r_[x[x > 2], np.full((x <= 2).sum(), -1)]}, unordered=(2,),
)  # fmt: skip
def compaction_with_tickets(x, count, out):
    i = cuda.grid(1)
    if x[i] > 2:
        slot = cuda.atomic.add(count, 0, 1)
        out[slot] = x[i]


@correct(
    2, 64, lambda: (ints(128) % 5, np.zeros(1, np.int32), minus_ones(128)),
    lambda x, count, out: {1: [(x > 2).sum()], 2: np.r_[x[x > 2], np.full((x <= 2).sum(), -1)]}, unordered=(2,),
)  # fmt: skip
def compaction_with_one_ticket_for_each_warp(x, count, out):
    i = cuda.grid(1)
    keep = x[i] > 2
    votes = cuda.ballot_sync(FULL, keep)
    base = 0
    if cuda.laneid == 0:
        base = cuda.atomic.add(count, 0, cuda.popc(votes))
    base = cuda.shfl_sync(FULL, base, 0)
    if keep:
        before = votes & ((1 << cuda.laneid) - 1)
        out[base + cuda.popc(before)] = x[i]


@correct(2, 32, lambda: (ints(64) * 37 % 64, np.zeros(1, np.int32)), lambda x, best: {1: [63]})
def largest_without_a_lock(x, best):
    i = cuda.grid(1)
    seen = int32(0)
    while x[i] > seen:
        before = cuda.atomic.cas(best, 0, seen, x[i])
        if before == seen:
            break
        seen = before


@correct(1, 64, lambda: (ints(64) % 3, minus_ones(64)), lambda x, y: {1: np.bincount(x)[x]})
def counted_then_read_after_a_barrier(x, y):
    s = cuda.shared.array(3, int32)
    t = cuda.threadIdx.x
    if t < 3:
        s[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(s, x[t], 1)
    cuda.syncthreads()
    y[t] = s[x[t]]


@correct(
    2, 32, lambda: (np.array([2, 2, 5, 0] * 16, np.int32), some(64), np.zeros(8, np.float32)),
    lambda mask, dy, dx: {2: np.bincount(mask, dy, 8)},
)  # fmt: skip
def pool_backward_with_overlapping_windows_and_atomics(mask, dy, dx):
    i = cuda.grid(1)
    cuda.atomic.add(dx, mask[i], dy[i])


@correct(
    1, 64, lambda: (np.zeros(1, np.uint32), minus_ones(64)), lambda turn, y: {0: [64], 1: np.arange(64)}, unordered=(1,)
)
def number_drawn_by_each_thread(turn, y):
    t = cuda.threadIdx.x
    y[t] = cuda.atomic.inc(turn, 0, 1000)


@correct(
    1, 32, lambda: (np.full(1, -5, np.int32), minus_ones(33)), lambda box, seen: {1: np.r_[-5, ints(32)]},
    unordered=(1,),
)  # fmt: skip
def parcel_handed_around(box, seen):
    t = cuda.threadIdx.x
    seen[t] = cuda.atomic.exch(box, 0, t)
    cuda.syncthreads()
    if t == 0:
        seen[32] = box[0]


@correct(
    2, 64, lambda: (ints(128) % 4, np.zeros(4, np.int32)), lambda x, hist: {1: np.bincount(x)},
)  # fmt: skip
def histogram_with_one_atomic_for_equal_lanes(x, hist):
    value = x[cuda.grid(1)]
    same = cuda.match_any_sync(FULL, value)
    if cuda.ffs(same) - 1 == cuda.laneid:
        cuda.atomic.add(hist, value, cuda.popc(same))
