"""Loads that hit the L1 cache or shared memory: what lines and what banks cost, each by itself.

Lanes that lie 33 words apart need 32 lines but no bank twice; 32 words apart, 32 lines and one bank 32 times.
Source: the course's own.
"""

import numpy as np

from course_lib import gpu
from course_lib.cuda.numba_cuda import cuda, float32, uint32
from course_lib.cuda.unroll import unroll
from tools.microbench.runs import Run

THREADS, BATCH, APART = 1024, 8, 1056
"""Loads of a turn lie APART words from each other."""
STRIDES = (0, 1, 2, 3, 4, 8, 16, 32, 33, 9)
SHARED = 10_240


@gpu.jit
def _global(x, stride, more, turns, y):
    start = uint32(cuda.threadIdx.x % 32 * stride)
    total = float32(0)
    for _ in range(turns):
        for k in unroll(BATCH):
            total += x[uint32(start + uint32(k * APART))]
        start = uint32(start + more)  # 0, which the compiler does not know
    y[cuda.grid(1)] = total


@gpu.jit
def _shared(x, stride, more, turns, y):
    s = cuda.shared.array(SHARED, float32)
    for i in range(cuda.threadIdx.x, SHARED, cuda.blockDim.x):
        s[i] = x[i]
    cuda.syncthreads()
    start = uint32(cuda.threadIdx.x % 32 * stride)
    total = float32(0)
    for _ in range(turns):
        for k in unroll(BATCH):
            total += s[uint32(start + uint32(k * APART))]
        start = uint32(start + more)
    y[cuda.grid(1)] = total


def runs(tiny):
    """Return {name: `Run`}; `tiny` for a smoke test. Source: the course's own."""
    blocks, threads, turns = (1, 64, 2) if tiny else (264, THREADS, 256)
    x = gpu.to_device(np.zeros(SHARED, np.float32))
    y = gpu.to_device(np.zeros(blocks * threads, np.float32))
    found = {}
    for stride in STRIDES:
        few = max(1, turns // max(1, min(stride, 32) // 2))
        for name, kernel in (("L1", _global), ("shared", _shared)):
            requests = blocks * threads // 32 * BATCH * few
            found[f"{name} loads, lanes {stride} words apart"] = Run(
                lambda k=kernel, s=stride, t=few: k[blocks, threads](x, uint32(s), uint32(0), t, y),
                requests, "requests",
            )  # fmt: skip
    return found
