"""The block that is done last adds up the others' sums, and loads take 16 bytes; load requests fall to a quarter.

Each block writes its sum, lets a fence see to it that everybody can read it, and then draws a ticket; who draws the
last one knows that all sums are there. They are added in the blocks' order, whichever block does it: the result is the
same each time. The tickets count round to 0 by themselves, ready for the next launch.

Source: NVIDIA, CUDA samples, "threadFenceReduction"; "CUDA C++ Programming Guide", "Memory Fence Functions".
"""

import functools

import numpy as np

from course_lib import gpu
from course_lib.cuda.elementwise import TILE, tiles, whole_tiles
from course_lib.cuda.intrinsics import ld4, nonneg
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.reduce.block_sum import THREADS, WARPS, block_sum
from course_lib.cuda.ladders.reduce.counts import one_pass_traffic
from course_lib.cuda.ladders.reduce.passes import check_reduce
from course_lib.cuda.numba_cuda import cuda, float32, int32

BLOCKS = 1056
"""Blocks at most: as many as an H200 runs at once, 8 on each of its 132 multiprocessors."""


@jit(cache=True)
def _reduce_v06(x, whole, sums, tickets, out):
    s, last = cuda.shared.array(WARPS, float32), cuda.shared.array(1, int32)
    t, b, blocks = nonneg(cuda.threadIdx.x), nonneg(cuda.blockIdx.x), nonneg(cuda.gridDim.x)

    total = float32(0)
    for first in range(b * TILE, whole, blocks * TILE):
        p, q, r, u = ld4(x, first + 4 * t)
        total += (p + q) + (r + u)
    for i in range(whole + b * THREADS + t, x.size, blocks * THREADS):
        total += x[i]

    total = block_sum(total, s)
    if t == 0:
        sums[b] = total
        cuda.threadfence()  # my sum before my ticket
        last[0] = cuda.atomic.inc(tickets, 0, np.uint32(blocks - 1)) == blocks - 1
    cuda.syncthreads()

    if last[0]:  # the same for all threads of the block
        cuda.threadfence()  # their tickets before their sums
        total = float32(0)
        for i in range(t, blocks, THREADS):
            total += sums[i]
        total = block_sum(total, s)
        if t == 0:
            out[0] = total


@functools.cache
def _scratch():
    """Return room for the blocks' sums, and the tickets, which are 0 between launches: one of each for a process."""
    return gpu.empty(BLOCKS, np.float32), gpu.to_device(np.zeros(1, np.uint32))


def reduce_v06_one_pass(x, out):
    """Write the sum of x (...) into out (1,); errors as `check_reduce`.

    Launches share their tickets, so two of them must not run at the same time in two streams. Source: NVIDIA, CUDA
    samples, "threadFenceReduction".
    """
    x, out = check_reduce(x, out)
    try:
        _reduce_v06[min(BLOCKS, tiles(x.size)), THREADS](x, whole_tiles(x.size, x), *_scratch(), out)
    except BaseException:  # stopped halfway, with tickets drawn
        _scratch.cache_clear()
        raise


def traffic(n):
    """Return what the executor counts for n numbers: one request for 128 of them, and the last block's second round."""
    return one_pass_traffic(n, tile=TILE, blocks=min(BLOCKS, tiles(n)))
