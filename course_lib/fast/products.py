"""Matrix products: one BLAS thread for a small one, blocks of rows on several threads for a large one.

Source: the course's choice. BLAS would start all its threads for a product of ten microseconds, and its threads
wait by spinning: with another program on one of two cores, the dense layers of LeNet-5 took a thousand times longer.
"""

import functools

import numpy as np
from threadpoolctl import ThreadpoolController

from course_lib.fast.threads import share

BLOCKS = 8
"""Blocks of rows of a shared product: always as many, so that its bits do not depend on the number of threads."""

LARGE = 20_000_000
"""Multiply-adds from which a product is shared."""


def one_blas_thread():
    """Return a context, for `with`, in which NumPy's products use one thread; training runs in it.

    No arguments, no errors; where the BLAS cannot be told, nothing changes. Source: the course's choice.
    """
    return _blas().limit(limits=1, user_api="blas")


def product(a, b):
    """Return a @ b for a (M, K) and b (K, N). No errors but NumPy's own. Source: K, Z = X W."""
    M, K, N = *a.shape, b.shape[1]
    if M * K * N < LARGE or M < BLOCKS:
        return a @ b
    out = np.empty((M, N), np.result_type(a, b))
    cuts = [M * i // BLOCKS for i in range(BLOCKS + 1)]
    with one_blas_thread():
        share(functools.partial(_rows, a, b, out, cuts), BLOCKS, M * K * N)
    return out


def _rows(a, b, out, cuts, first, last):
    for i in range(first, last):
        np.matmul(a[cuts[i] : cuts[i + 1]], b, out=out[cuts[i] : cuts[i + 1]])


@functools.cache
def _blas():
    """The BLAS that NumPy has loaded. Finding it takes a while, setting its threads a few microseconds."""
    return ThreadpoolController()
