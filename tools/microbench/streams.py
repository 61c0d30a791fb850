"""Reading, writing and copying: from DRAM, from the L2 cache, by few warps and by many, by whole lines and by sectors.

Source: Little's law, as in Volkov, "Understanding Latency Hiding on GPUs" (2016), for the copies by few warps.
"""

import numpy as np

from course_lib import gpu
from course_lib.cuda.numba_cuda import cuda, float32, uint32
from course_lib.cuda.unroll import unroll
from tools.microbench.runs import Run

FLOAT, MIB = 4, 2**20
THREADS = 256
BATCH = 8
"""Loads that a thread has in flight."""


@gpu.jit
def _copy(x, y):
    i = uint32(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
    if i < x.size:
        y[i] = x[i]


@gpu.jit
def _copy_loop(x, y):
    """One load in flight for each thread: the next one waits until the last one's number is stored."""
    i = uint32(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
    step = uint32(cuda.gridDim.x * cuda.blockDim.x)
    n = uint32(x.size)
    while i < n:
        y[i] = x[i]
        i = uint32(i + step)


@gpu.jit
def _read(x, turns, shift, mask, stride, never, y):
    """Each block reads BATCH pieces a turn, of the piece that another block read the turn before: L1 cannot help."""
    start = uint32((cuda.blockIdx.x * THREADS + cuda.threadIdx.x) * stride)
    step = uint32(cuda.gridDim.x * THREADS * stride)
    total = float32(0)
    for _ in range(turns):
        for k in unroll(BATCH):
            total += x[uint32(start + uint32(k) * step) & mask]
        start = uint32(start + shift)
    if total == never:
        y[0] = total


@gpu.jit
def _write(y, turns, shift, mask):
    start = uint32(cuda.blockIdx.x * THREADS + cuda.threadIdx.x)
    step = uint32(cuda.gridDim.x * THREADS)
    for _ in range(turns):
        for k in unroll(BATCH):
            y[uint32(start + uint32(k) * step) & mask] = float32(k)
        start = uint32(start + shift)


def runs(tiny):
    """Return {name: `Run`}; `tiny` for a smoke test. Source: the course's own."""
    n = 4096 if tiny else 1 << 28
    x, y = (gpu.to_device(np.zeros(n, np.float32)) for _ in "xy")
    out = gpu.to_device(np.zeros(1, np.float32))
    never, blocks = float32(7), 2 if tiny else 132 * 8
    found = {f"copy, {n * FLOAT // MIB} MiB": Run(lambda: _copy[n // THREADS, THREADS](x, y), 2 * FLOAT * n, "bytes")}
    few = n if tiny else n // 8
    less_x, less_y = x[:few], y[:few]
    for warps in (4,) if tiny else (1, 2, 4, 8, 16, 32, 64):
        threads, each = 32 * min(warps, 8), max(1, warps // 8)
        grid = 1 if tiny else 132 * each
        found[f"copy by {warps} warps of each SM, one load in flight"] = Run(
            lambda g=grid, t=threads: _copy_loop[g, t](less_x, less_y), 2 * FLOAT * few, "bytes"
        )
    for mib in (0,) if tiny else (4, 16, 32, 64, 1024):
        mask = uint32(n - 1 if tiny else mib * MIB // FLOAT - 1)
        turns = 2 if tiny else 64
        shift = uint32(blocks * THREADS * BATCH + 97 * THREADS)
        name = f"{mib} MiB"
        for stride in (1, 2, 8, 16):
            what = "read" if stride == 1 else f"read one float32 of {stride}"
            found[f"{what}, {name}"] = Run(
                lambda t=turns, s=shift, m=mask, d=stride: _read[blocks, THREADS](
                    x, t, s, m, uint32(d), never, out
                ),
                blocks * THREADS * BATCH * turns * min(stride, 8) // 8, "sectors",
            )  # fmt: skip
        found[f"write, {name}"] = Run(
            lambda t=turns, s=shift, m=mask: _write[blocks, THREADS](y, t, s, m),
            blocks * THREADS * BATCH * turns // 8, "sectors",
        )  # fmt: skip
    return found
