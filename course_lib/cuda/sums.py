"""Sums over a warp and over a block that every thread gets, and sums of what the blocks of a launch found.

The order of the additions is fixed by the sizes, so that equal input gives equal bits.

Source: NVIDIA, "CUDA C++ Programming Guide", "Warp Shuffle Functions"; "Faster Parallel Reductions on Kepler".
"""

import numpy as np

from course_lib import gpu
from course_lib.cuda.jit import jit
from course_lib.cuda.numba_cuda import cuda, float32

THREADS, WARPS = 256, 8
"""Threads of a block that sums, at most, and its warps."""


@jit(device=True)
def warp_total(value):
    """Return the sum of the 32 lanes' numbers, in every lane: partners 16, 8, 4, 2, 1 lanes away."""
    step = 16
    while step > 0:
        value += cuda.shfl_xor_sync(0xFFFFFFFF, value, step)
        step //= 2
    return value


@jit(device=True)
def warp_largest(value):
    """Return the largest of the 32 lanes' numbers, in every lane."""
    step = 16
    while step > 0:
        value = max(value, cuda.shfl_xor_sync(0xFFFFFFFF, value, step))
        step //= 2
    return value


@jit(device=True)
def block_total(value, s):
    """Return the sum over the block in every thread; s (WARPS,) is shared memory, all threads must call it."""
    value = warp_total(value)
    t = cuda.threadIdx.x
    if t % 32 == 0:
        s[t // 32] = value
    cuda.syncthreads()
    total = s[0]
    for warp in range(1, cuda.blockDim.x // 32):
        total += s[warp]
    cuda.syncthreads()  # everybody has read s: it may be used again
    return total


@jit(device=True)
def block_largest(value, s):
    """Return the largest number of the block in every thread; as `block_total`."""
    value = warp_largest(value)
    t = cuda.threadIdx.x
    if t % 32 == 0:
        s[t // 32] = value
    cuda.syncthreads()
    largest = s[0]
    for warp in range(1, cuda.blockDim.x // 32):
        largest = max(largest, s[warp])
    cuda.syncthreads()
    return largest


FEW, SLICES = 2048, 64
"""Rows that one block adds up alone; of more rows, this many blocks take a slice each, and then one adds theirs."""


@jit(cache=True)
def _add_up(parts, out):
    """out[slice, column] = the sum of the slice's rows of parts[:, column]: a block for each slice and column."""
    s = cuda.shared.array(WARPS, float32)
    part, column = cuda.blockIdx.x, cuda.blockIdx.y
    rows = -(-parts.shape[0] // out.shape[0])
    total = float32(0)
    for i in range(part * rows + cuda.threadIdx.x, min(parts.shape[0], (part + 1) * rows), THREADS):
        total += parts[i, column]
    total = block_total(total, s)
    if cuda.threadIdx.x == 0:
        out[part, column] = total


def add_up(parts):
    """Return the sums of the columns of a device array (blocks, n): a device array (1, n). No errors.

    Source: the course's own.
    """
    while parts.shape[0] > 1:
        out = gpu.empty((SLICES if parts.shape[0] > FEW else 1, parts.shape[1]), np.float32)
        _add_up[tuple(out.shape), THREADS](parts, out)
        parts = out
    return parts


def read_sums(parts):
    """Return the sums of the columns of a device array (blocks, n) as n floats: `add_up` and ONE copy. No errors.

    Source: the course's own.
    """
    return [float(total) for total in gpu.to_host(add_up(parts))[0]]
