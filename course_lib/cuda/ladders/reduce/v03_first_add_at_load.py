"""A thread adds two numbers while it loads them; a block does twice as much, so all counters but the loads halve.

In v02 half of the threads never add anything. Here every thread does, before the tree begins.

Source: M. Harris, "Optimizing Parallel Reduction in CUDA", "First Add During Load".
"""

from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.reduce.counts import tree_traffic
from course_lib.cuda.ladders.reduce.passes import check_reduce, passes
from course_lib.cuda.numba_cuda import cuda, float32

THREADS = 256


@jit(cache=True)
def _reduce_v03(x, out):
    s = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * (2 * THREADS) + t

    total = x[i] if i < x.size else float32(0)
    if i + THREADS < x.size:
        total += x[i + THREADS]
    s[t] = total
    cuda.syncthreads()

    step = THREADS // 2
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2

    if t == 0:
        out[cuda.blockIdx.x] = s[0]


def reduce_v03_first_add_at_load(x, out):
    """Write the sum of x (...) into out (1,); errors as `check_reduce`. Source: Harris, "First Add During Load"."""
    passes(_reduce_v03, *check_reduce(x, out), 2 * THREADS, THREADS)


def traffic(n):
    """Return what the executor counts for n numbers: v02's tree, for 512 numbers a block."""
    return tree_traffic(n, a_block=2 * THREADS, adding=4 + 2 + 1 + 5, diverging=5)
