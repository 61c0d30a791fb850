"""Lanes pass numbers from register to register; a block's shared loads fall from 25 to 1, barriers from 9 to 1.

A shuffle needs no shared memory and no barrier: the 32 lanes of a warp are together anyway. One word a warp is left for
shared memory, and one barrier.

Source: NVIDIA, "Faster Parallel Reductions on Kepler"; M. Harris, "Optimizing Parallel Reduction in CUDA".
"""

from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.reduce.block_sum import THREADS, WARPS, block_sum
from course_lib.cuda.ladders.reduce.counts import shuffle_traffic
from course_lib.cuda.ladders.reduce.passes import check_reduce, passes
from course_lib.cuda.numba_cuda import cuda, float32


@jit(cache=True)
def _reduce_v04(x, out):
    s = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * (2 * THREADS) + t

    total = x[i] if i < x.size else float32(0)
    if i + THREADS < x.size:
        total += x[i + THREADS]

    total = block_sum(total, s)
    if t == 0:
        out[cuda.blockIdx.x] = total


def reduce_v04_warp_shuffle(x, out):
    """Write the sum of x (...) into out (1,); errors as `check_reduce`. Source: NVIDIA, "Warp Shuffle Functions"."""
    passes(_reduce_v04, *check_reduce(x, out), 2 * THREADS, THREADS)


def traffic(n):
    """Return what the executor counts for n numbers: `block_sum` in each block of each pass."""
    counts, blocks = shuffle_traffic(n, -(-n // (2 * THREADS)))
    while blocks > 1:
        more, blocks = shuffle_traffic(blocks, -(-blocks // (2 * THREADS)))
        counts = {name: counts[name] + more[name] for name in counts}
    return counts
