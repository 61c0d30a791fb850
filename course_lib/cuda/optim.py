"""Stochastic gradient descent on the device, plain or with momentum: the only operation that works in place.

Source: K, "Minimizing Loss Function" and O, "Stochastic gradient descent": w -> w - lr dC/dw. Momentum is the course's
addition.
"""

import numpy as np

from course_lib.cuda.device import executor
from course_lib.cuda.elementwise import THREADS, TILE, flat, tiles, whole_tiles
from course_lib.cuda.intrinsics import ld4, nonneg, st4
from course_lib.cuda.jit import jit
from course_lib.cuda.numba_cuda import cuda
from course_lib.cuda.operands import operand
from course_lib.validate import require_positive


@jit(cache=True)
def _sgd(w, dw, lr, whole):
    t, first = nonneg(cuda.threadIdx.x), nonneg(cuda.blockIdx.x) * TILE
    if first < whole:
        i = first + 4 * t
        w0, w1, w2, w3 = ld4(w, i)
        g0, g1, g2, g3 = ld4(dw, i)
        st4(w, i, w0 - lr * g0, w1 - lr * g1, w2 - lr * g2, w3 - lr * g3)
    else:
        for i in range(first + t, min(first + TILE, w.size), THREADS):
            w[i] -= lr * dw[i]


@jit(cache=True)
def _sgd_momentum(w, dw, v, lr, momentum, whole):
    t, first = nonneg(cuda.threadIdx.x), nonneg(cuda.blockIdx.x) * TILE
    if first < whole:
        i = first + 4 * t
        w0, w1, w2, w3 = ld4(w, i)
        g0, g1, g2, g3 = ld4(dw, i)
        v0, v1, v2, v3 = ld4(v, i)
        v0, v1, v2, v3 = (
            v0 * momentum - lr * g0,
            v1 * momentum - lr * g1,
            v2 * momentum - lr * g2,
            v3 * momentum - lr * g3,
        )
        st4(v, i, v0, v1, v2, v3)
        st4(w, i, w0 + v0, w1 + v1, w2 + v2, w3 + v3)
    else:
        for i in range(first + t, min(first + TILE, w.size), THREADS):
            step = v[i] * momentum - lr * dw[i]
            v[i] = step
            w[i] += step


def sgd_step(params, grads, lr, momentum=0.0, velocities=None):
    """Move every parameter against its gradient, in place: one launch for each.

    v = momentum * v - lr * gradient;  parameter += v. With momentum 0 this is K's and O's rule.

    Parameters
    ----------
    params, grads : sequences of float32 device arrays
        Pairs of equal shape; the arrays in `params` are changed.
    lr : float > 0
    momentum : float in [0, 1)
    velocities : sequence of float32 device arrays, optional
        One for each parameter, zeros at the start, changed in place; required when momentum > 0. With momentum 0
        they forget what they held: each becomes this step, -lr * gradient.

    Raises
    ------
    ValueError
        If the numbers of arrays or their shapes differ, two of them share memory, or lr or momentum is out of range.
    TypeError
        If one of them is not a float32 device array.

    Source: O, "Stochastic gradient descent"; K, erratum: the step is minus lr times the gradient.
    """
    lr, momentum, params, grads, velocities = check_sgd(params, grads, lr, momentum, velocities)
    for p, g, v in zip(params, grads, velocities, strict=True):
        if v is None:
            _sgd[tiles(p.size), THREADS](flat(p), flat(g), np.float32(lr), whole_tiles(p.size, p, g))
        else:
            rates, whole = (np.float32(lr), np.float32(momentum)), whole_tiles(p.size, p, g, v)
            _sgd_momentum[tiles(p.size), THREADS](flat(p), flat(g), flat(v), *rates, whole)


def check_sgd(params, grads, lr, momentum, velocities):
    """Return (lr, momentum, params, grads, velocities), three lists of equal length; errors as `sgd_step`."""
    lr, momentum = require_positive("lr", lr), require_positive("momentum", momentum, zero=True)
    if momentum >= 1:
        raise ValueError(f"momentum is {momentum:g}; it must be below 1, or old steps never fade.")
    if momentum and velocities is None:
        raise ValueError("momentum > 0 needs velocities: pass an array of zeros for each parameter, and keep it.")
    for name, arrays in (("params", params), ("grads", grads), ("velocities", velocities)):
        if executor().owns(arrays) or isinstance(arrays, np.ndarray | dict):
            raise TypeError(
                f"{name} is a {type(arrays).__name__}; it must be a sequence of device arrays: sgd_step([w], [dw], lr)."
            )
    params, grads = list(params), list(grads)
    velocities = [None] * len(params) if velocities is None else list(velocities)
    if not len(params) == len(grads) == len(velocities):
        raise ValueError(
            f"{len(params)} parameters, {len(grads)} gradients and {len(velocities)} velocities; "
            "there must be one of each."
        )
    # All checks come before the first launch: an error leaves every parameter as it was.
    for i, p in enumerate(params):
        params[i] = operand(f"params[{i}]", p)
        grads[i] = operand(f"grads[{i}]", grads[i], shape=tuple(p.shape))
        if velocities[i] is not None:
            velocities[i] = operand(f"velocities[{i}]", velocities[i], shape=tuple(p.shape))
    _check_memory(params + [v for v in velocities if v is not None], grads)
    return lr, momentum, params, grads, velocities


def _check_memory(changed, read):
    """Raise ValueError if one of the `changed` arrays shares memory with another array of either list."""
    spans = [(*_span(a), i < len(changed)) for i, a in enumerate([*changed, *read])]
    reaching = []  # in the order of their addresses, only a few arrays can reach into the next one
    for start, stop, changes in sorted(spans):
        reaching = [r for r in reaching if r[0] > start]
        if any(changes or r[1] for r in reaching):
            raise ValueError(
                "two of the arrays share memory: every parameter, velocity and gradient must be its own; "
                "[zeros] * 2 is one array twice, make one for each parameter."
            )
        reaching.append((stop, changes))


def _span(array):
    """Return where a contiguous device array begins and ends, in bytes."""
    numbers = getattr(array, "numbers", None)  # the SIMT executor's
    start = executor().address(array) if numbers is None else numbers.__array_interface__["data"][0]
    return start, start + array.size * 4
