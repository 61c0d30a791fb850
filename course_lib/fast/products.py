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


def product(a, b):
    """Return a @ b for a (M, K) and b (K, N). No errors but NumPy's own. Source: K, Z = X W."""
    work = a.shape[0] * a.shape[1] * b.shape[1]
    with _blas().limit(limits=1, user_api="blas"):
        if work < LARGE or a.shape[0] < BLOCKS:
            return a @ b
        out = np.empty((a.shape[0], b.shape[1]), np.result_type(a, b))
        cuts = [a.shape[0] * i // BLOCKS for i in range(BLOCKS + 1)]
        share(functools.partial(_rows, a, b, out, cuts), BLOCKS, work)
        return out


def _rows(a, b, out, cuts, first, last):
    for i in range(first, last):
        np.matmul(a[cuts[i] : cuts[i + 1]], b, out=out[cuts[i] : cuts[i + 1]])


@functools.cache
def _blas():
    """The BLAS that NumPy has loaded. Finding it takes a while, setting its threads a few microseconds."""
    return ThreadpoolController()
