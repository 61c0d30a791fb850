"""A block adds up 256 numbers in shared memory, as a tree; in most warps some lanes add while the others wait.

In step s the threads whose number is a multiple of 2 s add their neighbour s places on. That is the tree as one draws
it, and every warp diverges until its last lane. The blocks' sums are numbers again: the next launch adds them up, until
one is left. No sum depends on who comes first.

Source: M. Harris, "Optimizing Parallel Reduction in CUDA", "Interleaved Addressing"; the course's own.
"""

from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.reduce.counts import tree_traffic
from course_lib.cuda.ladders.reduce.passes import check_reduce, passes
from course_lib.cuda.numba_cuda import cuda, float32

THREADS = 256


@jit(cache=True)
def _reduce_v01(x, out):
    s = cuda.shared.array(THREADS, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)

    s[t] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()

    step = 1
    while step < THREADS:
        if t % (2 * step) == 0:
            s[t] += s[t + step]
        cuda.syncthreads()
        step *= 2

    if t == 0:
        out[cuda.blockIdx.x] = s[0]


def reduce_v01_interleaved(x, out):
    """Write the sum of x (...) into out (1,); errors as `check_reduce`. Source: Harris, "Interleaved Addressing"."""
    passes(_reduce_v01, *check_reduce(x, out), THREADS, THREADS)


def traffic(n):
    """Return what the executor counts for n numbers. Of a step's 8 warps, all add up to step 16; then 4, 2, 1."""
    return tree_traffic(n, a_block=THREADS, adding=5 * 8 + 4 + 2 + 1, diverging=5 * 8 + 4 + 2 + 1)
