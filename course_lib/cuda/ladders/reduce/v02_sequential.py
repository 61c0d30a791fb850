"""Threads that add stand side by side; a block's divergent branches fall from 48 to 6, shared loads from 95 to 25.

In step s the first s threads add the number s places on. Whole warps drop out, instead of lanes of all warps, and
neighbours still touch neighbouring words: no bank conflicts either.

Source: M. Harris, "Optimizing Parallel Reduction in CUDA", "Sequential Addressing".
"""

from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.reduce.counts import tree_traffic
from course_lib.cuda.ladders.reduce.passes import check_reduce, passes
from course_lib.cuda.numba_cuda import cuda, float32

THREADS = 256


@jit(cache=True)
def _reduce_v02(x, out):
    s = cuda.shared.array(THREADS, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)

    s[t] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()

    step = THREADS // 2
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2

    if t == 0:
        out[cuda.blockIdx.x] = s[0]


def reduce_v02_sequential(x, out):
    """Write the sum of x (...) into out (1,); errors as `check_reduce`. Source: Harris, "Sequential Addressing"."""
    passes(_reduce_v02, *check_reduce(x, out), THREADS, THREADS)


def traffic(n):
    """Return what the executor counts for n numbers: 4, 2 and 1 warps add, then one that diverges, five times."""
    return tree_traffic(n, a_block=THREADS, adding=4 + 2 + 1 + 5, diverging=5)
