"""Shuffles, and atomic additions by how many lanes and warps mean the same element.

Source: the course's own.
"""

import numpy as np

from course_lib import gpu
from course_lib.cuda.numba_cuda import cuda, float32, uint32
from course_lib.cuda.unroll import unroll
from tools.microbench.runs import Run

THREADS, BATCH, BINS = 256, 8, 1024
FULL = 0xFFFFFFFF


@gpu.jit
def _shuffle(x, turns, y):
    a, b = x[cuda.threadIdx.x % 32], x[1]
    for _ in range(turns):
        for _i in unroll(BATCH):
            a = cuda.shfl_xor_sync(FULL, a, 1)
            b = cuda.shfl_xor_sync(FULL, b, 2)
    y[cuda.grid(1)] = a + b


@gpu.jit
def _atomic(y, by_lane, by_warp, by_turn, mask, turns):
    warp = uint32(cuda.grid(1)) // uint32(32)
    start = uint32(cuda.threadIdx.x % 32 * by_lane + warp * by_warp)
    for i in range(turns):
        cuda.atomic.add(y, uint32(start + uint32(i) * by_turn) & mask, float32(1))


@gpu.jit
def _atomic_shared(by_lane, turns, y):
    s = cuda.shared.array(BINS, float32)
    for i in range(cuda.threadIdx.x, BINS, cuda.blockDim.x):
        s[i] = float32(0)
    cuda.syncthreads()
    start = uint32(cuda.threadIdx.x * by_lane)
    for i in range(turns):
        cuda.atomic.add(s, uint32(start + uint32(i)) % uint32(BINS), float32(1))
    cuda.syncthreads()
    y[cuda.grid(1)] = s[cuda.threadIdx.x]


def runs(tiny):
    """Return {name: `Run`}; `tiny` for a smoke test. Source: the course's own."""
    blocks, turns = (1, 2) if tiny else (132 * 8, 256)
    warps = blocks * THREADS // 32
    x = gpu.to_device(np.zeros(32, np.float32))
    y = gpu.to_device(np.zeros(1 << 22, np.float32))
    few = 1 if tiny else 4
    ways = {
        "all lanes of all warps one element": (0, 0, 0, 0, few),
        "the lanes of a warp one element, each warp its own": (0, 32, 0, -1, 8 * few),
        "lanes neighbours, all warps the same 32 elements": (1, 0, 0, -1, few),
        "lanes neighbours, all warps the same 256 elements": (1, 32, 32, 255, 2 * few),
        "lanes neighbours, each warp its own elements": (1, 32, 32, -1, 32 * few),
        "lanes in 32 sectors, each warp its own elements": (8, 256, 1, -1, 4 * few),
    }
    found = {}
    for who, grid, threads in (("one warp", 1, 32), ("all warps", blocks, THREADS)):
        work = grid * threads // 32 * 2 * BATCH * turns
        found[f"shuffle, {who}"] = Run(lambda g=grid, t=threads: _shuffle[g, t](x, turns, y), work, "requests")
    for name, (lane, warp, turn, mask, count) in ways.items():
        mask = uint32(y.size - 1 if mask < 0 else mask)
        found[f"atomic sum: {name}"] = Run(
            lambda a=lane, b=warp, c=turn, m=mask, n=count: _atomic[blocks, THREADS](
                y, uint32(a), uint32(b), uint32(c), m, n
            ),
            warps * count, "requests",
        )  # fmt: skip
    for by_lane, name in ((0, "one element"), (1, "neighbours")):
        found[f"atomic sum in shared memory: lanes {name}"] = Run(
            lambda a=by_lane: _atomic_shared[blocks, THREADS](uint32(a), turns, y), warps * turns, "requests"
        )
    return found
