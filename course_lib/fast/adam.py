"""Adam in one pass over memory: `course_lib.reference.adam`'s step, for speed.

Source: Kingma and Ba (2015), algorithm 1; Loshchilov and Hutter (2019), algorithm 2. NumPy walks over the arrays a
dozen times, and each time through memory where a layer is larger than the cache.
"""

import math

import numpy as np

from course_lib.fast.compile import kernel
from course_lib.fast.threads import share
from course_lib.reference.adam import CALL, adam_update, check_adam, check_eps, kernel_constants
from course_lib.reference.optim import check_arrays, check_decay

COST = 16
"""Multiply-adds of a convolution that take as long as one number here."""


def adam_step(
    params, grads, lr, first_moments, second_moments, step, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.0
):
    """Move every parameter by Adam's rule, in place; with a weight decay by AdamW's: as the reference's `adam_step`.

    params, grads, first_moments and second_moments are sequences of arrays (...) of equal shapes. Arrays of one dtype
    that lie row by row take the compiled way, others NumPy's.

    Raises
    ------
    TypeError, ValueError
        As the reference's.

    Source: Kingma and Ba (2015), algorithm 1; Loshchilov and Hutter (2019), algorithm 2.
    """
    numbers = check_adam(lr, step, beta1, beta2, eps)
    lists = check_arrays(params, grads, CALL, first_moments=first_moments, second_moments=second_moments)
    check_eps(eps, [p.dtype for p in lists[0]])
    for p, g, m, v, decay in zip(*lists, check_decay(weight_decay, lists[0], lr), strict=True):
        real = p.dtype.type
        if all(a.flags.c_contiguous and a.dtype == p.dtype and real in (np.float32, np.float64) for a in (p, g, m, v)):
            rows = (a.reshape(-1) for a in (p, g, m, v))  # views
            share(_adam, p.size, COST * p.size, *rows, *kernel_constants(real, decay, *numbers))
        else:
            adam_update(p, g, m, v, decay, *numbers)


@kernel
def _adam(first, last, w, dw, m, v, beta1, new1, beta2, new2, grow, eps, rate, shrink):
    w, dw, m, v = w[first:last], dw[first:last], m[first:last], v[first:last]
    for i in range(w.size):
        m[i] = beta1 * m[i] + new1 * dw[i]
        v[i] = beta2 * v[i] + new2 * dw[i] * dw[i]
        w[i] = shrink * w[i] - rate * m[i] / (math.sqrt(grow * v[i]) + eps)
