"""Softmax on the device: `course_lib.reference.probabilities`' names, for float32 device arrays.

Every function raises TypeError for what is not a float32 device array, ValueError for an empty one or one with gaps.

Source: H, "Use Softmax to Produce Probabilities" and "Softmax Derivatives Needed to Train".
"""

import numpy as np

from course_lib.cuda.device import empty
from course_lib.cuda.elementwise import flat, like
from course_lib.cuda.jit import jit
from course_lib.cuda.numba_cuda import cuda, float32
from course_lib.cuda.operands import operand
from course_lib.cuda.row_kernels import NOTHING, choose
from course_lib.cuda.sums import warp_total
from course_lib.validate import require_same_shape

ONE = np.float32(1)


def softmax(z):
    """k[i] = e^z[i] / sum_j e^z[j] along the last axis; the largest z of a row is subtracted first: no overflow.

    z (..., C), C >= 1, else ValueError; returns k (..., C). Source: H, "Use Softmax to Produce Probabilities".
    """
    z = operand("z", z)
    if z.ndim == 0:
        raise ValueError("z is a single number; softmax needs at least one class on the last axis.")
    k = like(z)
    rows, out = as_rows(z), as_rows(k)
    kernel, blocks, threads = choose(rows, out, False)
    kernel[blocks, threads](rows, flat(out), ONE, NOTHING, out, out)  # no labels, no loss: those two stay untouched
    return k


def softmax_forward(z):
    """Return (k, cache), the probabilities k (..., C) of scores z (..., C), else ValueError; the cache is k.

    Source: H, "Use Softmax to Produce Probabilities".
    """
    k = softmax(z)
    return k, k


def softmax_backward(dk, cache):
    """Return dz (..., C) with dz[m] = k[m] (dk[m] - sum_i dk[i] k[i]): a warp a row.

    dk (..., C) of the shape of k, else ValueError. Source: H, "Softmax Derivatives Needed to Train".
    """
    dk = operand("dk", dk)
    require_same_shape("dk", dk, "k", cache)
    dz = like(dk)
    rows = as_rows(dk)
    _softmax_backward[-(-rows.shape[0] // 4), 128](rows, as_rows(cache), as_rows(dz))
    return dz


def softmax_jacobian(k):
    """dk[i]/dz[m] = k[i] (delta_im - k[m]) for one vector of probabilities.

    k (C,), else ValueError; returns (C, C). Source: H, "Softmax Derivatives Needed to Train".
    """
    k = operand("k", k, ndim=1)
    out = empty((k.size, k.size), np.float32)
    side = -(-k.size // 16)
    _softmax_jacobian[(side, side), (16, 16)](k, out)
    return out


def as_rows(z):
    """Return a device array (..., C) as (rows, C): a view. No errors. Source: the course's own."""
    C = tuple(z.shape)[-1]  # the simulator's shapes do not count from their end
    return z.reshape((z.size // C, C))


@jit(cache=True)
def _softmax_backward(dk, k, dz):
    lane, row = cuda.threadIdx.x % 32, cuda.blockIdx.x * 4 + cuda.threadIdx.x // 32
    if row < k.shape[0]:  # the same for all lanes of a warp
        dot = float32(0)
        for i in range(lane, k.shape[1], 32):
            dot += dk[row, i] * k[row, i]
        dot = warp_total(dot)
        for m in range(lane, k.shape[1], 32):
            dz[row, m] = k[row, m] * (dk[row, m] - dot)


@jit(cache=True)
def _softmax_jacobian(k, out):
    m, i = cuda.grid(2)
    if i < k.size and m < k.size:
        delta = float32(1) if i == m else float32(0)
        out[i, m] = k[i] * (delta - k[m])
