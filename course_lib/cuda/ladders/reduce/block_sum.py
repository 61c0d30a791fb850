"""The sum of one number of each thread of a block: registers first, then one word of shared memory a warp.

Source: NVIDIA, "Faster Parallel Reductions on Kepler" (block reduce); "CUDA C++ Programming Guide", "Warp Shuffle
Functions".
"""

from course_lib.cuda.jit import jit
from course_lib.cuda.numba_cuda import cuda, float32

THREADS, WARPS = 256, 8
"""Threads of a block, and its warps."""


@jit(device=True)
def warp_sum(total):
    """Return in lane 0 the sum of the 32 lanes' numbers: each takes that of the lane 16 on, then 8, 4, 2, 1."""
    step = 16
    while step > 0:
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, step)
        step //= 2
    return total


@jit(device=True)
def block_sum(total, s):
    """Return in thread 0 the sum of all threads' numbers; s (WARPS,) is shared memory. All threads must call it."""
    t = cuda.threadIdx.x
    total = warp_sum(total)
    if t % 32 == 0:
        s[t // 32] = total
    cuda.syncthreads()
    if t < 32:
        total = warp_sum(s[t] if t < WARPS else float32(0))
    return total
