"""A fixed number of blocks walks over all numbers; barriers and shared traffic no longer grow with n.

A thread adds up every 262,144th number in a register; only then do the blocks reduce, 1,024 at the most. A second
launch of one block adds up their sums: two launches for any n. An atomic addition into out would save the second
launch, and make the last bits depend on the order in which blocks come; atomics are exact for whole numbers only.

Source: M. Harris, "Optimizing Parallel Reduction in CUDA", "Multiple Adds / Thread"; NVIDIA, "Grid-Stride Loops".
"""

import numpy as np

from course_lib import gpu
from course_lib.cuda.intrinsics import nonneg
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.reduce.block_sum import THREADS, WARPS, block_sum
from course_lib.cuda.ladders.reduce.counts import shuffle_traffic
from course_lib.cuda.ladders.reduce.passes import check_reduce
from course_lib.cuda.numba_cuda import cuda, float32

BLOCKS = 1024


@jit(cache=True)
def _reduce_v05(x, out):
    s = cuda.shared.array(WARPS, float32)

    total = float32(0)
    # nonneg: without the promise Numba adds, at each x[i], what a negative index would need: 3 times the instructions
    for i in range(nonneg(cuda.grid(1)), x.size, nonneg(cuda.gridsize(1))):
        total += x[i]

    total = block_sum(total, s)
    if cuda.threadIdx.x == 0:
        out[cuda.blockIdx.x] = total


def reduce_v05_grid_stride(x, out):
    """Write the sum of x (...) into out (1,); errors as `check_reduce`. Source: NVIDIA, "Grid-Stride Loops"."""
    x, out = check_reduce(x, out)
    blocks = min(BLOCKS, -(-x.size // THREADS))
    if blocks == 1:
        _reduce_v05[1, THREADS](x, out)
        return
    sums = gpu.empty(blocks, np.float32)
    _reduce_v05[blocks, THREADS](x, sums)
    _reduce_v05[1, THREADS](sums, out)


def traffic(n):
    """Return what the executor counts for n numbers: one pass, and one of a single block if there were several."""
    counts, blocks = shuffle_traffic(n, min(BLOCKS, -(-n // THREADS)))
    if blocks > 1:
        more, _ = shuffle_traffic(blocks, 1)
        counts = {name: counts[name] + more[name] for name in counts}
    return counts
