"""Adam on the device, in one pass over memory: one launch a parameter reads and writes every number once.

Source: Kingma and Ba (2015), "Adam: A Method for Stochastic Optimization", algorithm 1; Loshchilov and Hutter (2019),
"Decoupled Weight Decay Regularization", algorithm 2 (AdamW).
"""

import math

import numpy as np

from course_lib.cuda.elementwise import THREADS, TILE, flat, tiles, whole_tiles
from course_lib.cuda.intrinsics import ld4, nonneg, st4
from course_lib.cuda.jit import jit
from course_lib.cuda.numba_cuda import cuda
from course_lib.cuda.optim import check_arrays, weighted
from course_lib.reference.adam import CALL, check_adam, check_eps, kernel_constants
from course_lib.reference.optim import check_decay


def adam_step(
    params, grads, lr, first_moments, second_moments, step, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.0
):
    """Move every parameter by Adam's rule, in place; with a weight decay by AdamW's: one launch for each.

    m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2;  parameter -= lr weight_decay parameter;
    parameter -= lr m' / (sqrt(v') + eps), where m' = m / (1 - beta1^step) and v' = v / (1 - beta2^step).

    Parameters
    ----------
    params, grads : sequences of float32 device arrays
        Pairs of equal shape; the arrays in `params` are changed.
    lr : float > 0
    first_moments, second_moments : sequences of float32 device arrays
        m and v, one of each for each parameter, zeros at the start, changed in place.
    step : int >= 1
        The number of this step, counted from 1. A recorded launch (`gpu.record`) repeats the one it was given.
    beta1, beta2 : float in [0, 1)
    eps : float > 0
    weight_decay : float >= 0, or a sequence of them, one for each parameter
        Decoupled: the parameter shrinks by lr * weight_decay, whatever its gradient. One number holds for arrays
        (a, b, ...) of two axes or more; those of one axis, the biases, are left alone.

    Raises
    ------
    ValueError
        If the numbers of arrays or their shapes differ, two of them share memory, or a number is out of range.
    TypeError
        If one of them is not a float32 device array, or step is not a whole number.

    Source: Kingma and Ba (2015), algorithm 1; Loshchilov and Hutter (2019), algorithm 2.
    """
    numbers = check_adam(lr, step, beta1, beta2, eps)
    lists = check_arrays(params, grads, CALL, first_moments=first_moments, second_moments=second_moments)
    check_eps(eps, [np.float32])
    for p, g, m, v, decay in zip(*lists, check_decay(weight_decay, lists[0], lr), strict=True):
        constants = kernel_constants(np.float32, decay, *numbers)
        _adam[tiles(p.size), THREADS](*map(flat, (p, g, m, v)), *constants, whole_tiles(p.size, p, g, m, v))


def adam_plan(lr, step, beta1, beta2, eps, decay):
    """Return the numbers of a step that change from step to step, (4,) float32: what `adam_step_planned` reads.

    1 / (1 - beta2^step), lr / (1 - beta1^step), 1 - lr decay, and 1 for what does not decay. TypeError and ValueError
    as `adam_step`.
    Source: Kingma and Ba (2015), section 2, the end (a more efficient order).
    """
    constants = kernel_constants(np.float32, decay, *check_adam(lr, step, beta1, beta2, eps))
    return np.array([constants[4], *constants[6:], 1], np.float32)


def adam_step_planned(params, grads, now, first_moments, second_moments, beta1, beta2, eps, decays):
    """As `adam_step`, with what changes from step to step in a device array, for a step that is recorded.

    Parameters
    ----------
    params, grads, first_moments, second_moments : sequences of float32 device arrays
    now : float32 device array (4,)
        What `adam_plan` gives. Where it is NaN, nothing changes.
    beta1, beta2 : float in [0, 1)
    eps : float > 0
    decays : sequence of bool
        Whether each parameter decays.

    TypeError and ValueError as `adam_step`; the numbers in `now` are not looked at.
    Source: Kingma and Ba (2015), algorithm 1.
    """
    lists = check_arrays(params, grads, CALL, first_moments=first_moments, second_moments=second_moments)
    check_eps(eps, [np.float32])
    constants = tuple(map(np.float32, (beta1, 1 - beta1, beta2, 1 - beta2)))
    for p, g, m, v, decay in zip(*lists, decays, strict=True):
        arrays, whole = map(flat, (p, g, m, v)), whole_tiles(p.size, p, g, m, v)
        _adam_planned[tiles(p.size), THREADS](*arrays, *constants, now, 2 if decay else 3, np.float32(eps), whole)


@jit(device=True)
def _moved(w, m, v, grow, eps, rate, shrink):
    return cuda.fma(w, shrink, -(rate * m / (math.sqrt(grow * v) + eps)))


@jit(device=True)
def _step(w, dw, m, v, beta1, new1, beta2, new2, grow, eps, rate, shrink, whole):
    t, first = nonneg(cuda.threadIdx.x), nonneg(cuda.blockIdx.x) * TILE
    if first < whole:
        i = first + 4 * t
        w0, w1, w2, w3 = ld4(w, i)
        g0, g1, g2, g3 = ld4(dw, i)
        m0, m1, m2, m3 = ld4(m, i)
        v0, v1, v2, v3 = ld4(v, i)
        m0, m1, m2, m3 = (
            weighted(beta1, m0, new1, g0),
            weighted(beta1, m1, new1, g1),
            weighted(beta1, m2, new1, g2),
            weighted(beta1, m3, new1, g3),
        )
        v0, v1, v2, v3 = (
            weighted(beta2, v0, new2 * g0, g0),
            weighted(beta2, v1, new2 * g1, g1),
            weighted(beta2, v2, new2 * g2, g2),
            weighted(beta2, v3, new2 * g3, g3),
        )
        st4(m, i, m0, m1, m2, m3)
        st4(v, i, v0, v1, v2, v3)
        w0 = _moved(w0, m0, v0, grow, eps, rate, shrink)
        w1 = _moved(w1, m1, v1, grow, eps, rate, shrink)
        w2 = _moved(w2, m2, v2, grow, eps, rate, shrink)
        w3 = _moved(w3, m3, v3, grow, eps, rate, shrink)
        st4(w, i, w0, w1, w2, w3)
    else:
        for i in range(first + t, min(first + TILE, w.size), THREADS):
            g = dw[i]
            mean, square = weighted(beta1, m[i], new1, g), weighted(beta2, v[i], new2 * g, g)
            m[i], v[i] = mean, square
            w[i] = _moved(w[i], mean, square, grow, eps, rate, shrink)


@jit(cache=True)
def _adam(w, dw, m, v, beta1, new1, beta2, new2, grow, eps, rate, shrink, whole):
    _step(w, dw, m, v, beta1, new1, beta2, new2, grow, eps, rate, shrink, whole)


@jit(cache=True)
def _adam_planned(w, dw, m, v, beta1, new1, beta2, new2, now, shrink, eps, whole):
    if now[1] > 0:  # NaN is not
        _step(w, dw, m, v, beta1, new1, beta2, new2, now[0], eps, now[1], now[shrink], whole)
