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
from course_lib.reference.optim import check_decay, require_one_each
from course_lib.validate import require_positive


@jit(device=True)
def weighted(a, x, b, y):
    """Return a x + b y, b y rounded first: left to itself, a compiler takes either product, in each kernel anew.

    A step that is recorded and one that is not must round alike.
    """
    return cuda.fma(a, x, b * y)


@jit(device=True)
def _move(w, dw, lr, decay, whole):
    t, first = nonneg(cuda.threadIdx.x), nonneg(cuda.blockIdx.x) * TILE
    if first < whole:
        i = first + 4 * t
        w0, w1, w2, w3 = ld4(w, i)
        g0, g1, g2, g3 = ld4(dw, i)
        g0, g1, g2, g3 = g0 + decay * w0, g1 + decay * w1, g2 + decay * w2, g3 + decay * w3
        st4(w, i, w0 - lr * g0, w1 - lr * g1, w2 - lr * g2, w3 - lr * g3)
    else:
        for i in range(first + t, min(first + TILE, w.size), THREADS):
            weight = w[i]
            w[i] = weight - lr * (dw[i] + decay * weight)


@jit(device=True)
def _move_on(w, dw, v, lr, momentum, decay, whole):
    t, first = nonneg(cuda.threadIdx.x), nonneg(cuda.blockIdx.x) * TILE
    if first < whole:
        i = first + 4 * t
        w0, w1, w2, w3 = ld4(w, i)
        g0, g1, g2, g3 = ld4(dw, i)
        g0, g1, g2, g3 = g0 + decay * w0, g1 + decay * w1, g2 + decay * w2, g3 + decay * w3
        v0, v1, v2, v3 = ld4(v, i)
        v0, v1, v2, v3 = (
            weighted(momentum, v0, -lr, g0),
            weighted(momentum, v1, -lr, g1),
            weighted(momentum, v2, -lr, g2),
            weighted(momentum, v3, -lr, g3),
        )
        st4(v, i, v0, v1, v2, v3)
        st4(w, i, w0 + v0, w1 + v1, w2 + v2, w3 + v3)
    else:
        for i in range(first + t, min(first + TILE, w.size), THREADS):
            weight = w[i]
            step = weighted(momentum, v[i], -lr, dw[i] + decay * weight)
            v[i] = step
            w[i] = weight + step


@jit(cache=True)
def _sgd(w, dw, lr, decay, whole):
    _move(w, dw, lr, decay, whole)


@jit(cache=True)
def _sgd_momentum(w, dw, v, lr, momentum, decay, whole):
    _move_on(w, dw, v, lr, momentum, decay, whole)


@jit(cache=True)
def _sgd_planned(w, dw, now, decay, whole):
    if now[0] > 0:  # NaN is not
        _move(w, dw, now[0], decay, whole)


@jit(cache=True)
def _sgd_momentum_planned(w, dw, v, now, momentum, decay, whole):
    if now[0] > 0:
        _move_on(w, dw, v, now[0], momentum, decay, whole)


def sgd_step(params, grads, lr, momentum=0.0, velocities=None, weight_decay=0.0):
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
    weight_decay : float >= 0, or a sequence of them, one for each parameter
        The gradient becomes gradient + weight_decay * parameter: that of the loss plus half the sum of squares (L2).
        One number holds for arrays (a, b, ...) of two axes or more; those of one axis, the biases, are left alone.

    Raises
    ------
    ValueError
        If the numbers of arrays or their shapes differ, two of them share memory, lr, momentum or weight_decay is out
        of range, or lr * weight_decay is not below 1, which would turn the weights over.
    TypeError
        If one of them is not a float32 device array.

    Source: O, "Stochastic gradient descent"; K, erratum: the step is minus lr times the gradient. The decay: Loshchilov
    and Hutter (2019), "Decoupled Weight Decay Regularization", algorithm 1.
    """
    lr, momentum, params, grads, velocities = check_sgd(params, grads, lr, momentum, velocities)
    decays = check_decay(weight_decay, params, lr)
    for p, g, v, decay in zip(params, grads, velocities, decays, strict=True):
        if v is None:
            rates, whole = (np.float32(lr), np.float32(decay)), whole_tiles(p.size, p, g)
            _sgd[tiles(p.size), THREADS](flat(p), flat(g), *rates, whole)
        else:
            rates, whole = (np.float32(lr), np.float32(momentum), np.float32(decay)), whole_tiles(p.size, p, g, v)
            _sgd_momentum[tiles(p.size), THREADS](flat(p), flat(g), flat(v), *rates, whole)


def sgd_step_planned(params, grads, now, momentum, velocities, decays):
    """As `sgd_step`, with the learning rate in a device array, for a step that is recorded: one launch for each.

    Parameters
    ----------
    params, grads : sequences of float32 device arrays
    now : float32 device array (1,)
        The learning rate. Where it is NaN, nothing changes.
    momentum : float in [0, 1)
    velocities : sequence of float32 device arrays, or None for momentum 0
    decays : sequence of float >= 0
        The weight decay of each parameter.

    TypeError and ValueError as `sgd_step`; rates are not looked at. Source: O, "Stochastic gradient descent".
    """
    _, momentum, params, grads, velocities = check_sgd(params, grads, 1.0, momentum, velocities)
    for p, g, v, decay in zip(params, grads, velocities, decays, strict=True):
        if v is None:
            _sgd_planned[tiles(p.size), THREADS](flat(p), flat(g), now, np.float32(decay), whole_tiles(p.size, p, g))
        else:
            rates, whole = (np.float32(momentum), np.float32(decay)), whole_tiles(p.size, p, g, v)
            _sgd_momentum_planned[tiles(p.size), THREADS](flat(p), flat(g), flat(v), now, *rates, whole)


def check_sgd(params, grads, lr, momentum, velocities):
    """Return (lr, momentum, params, grads, velocities), three lists of equal length; errors as `sgd_step`."""
    lr, momentum = require_positive("lr", lr), require_positive("momentum", momentum, zero=True)
    if momentum >= 1:
        raise ValueError(f"momentum is {momentum:g}; it must be below 1, or old steps never fade.")
    if momentum and velocities is None:
        raise ValueError("momentum > 0 needs velocities: pass an array of zeros for each parameter, and keep it.")
    return lr, momentum, *check_arrays(params, grads, "sgd_step([w], [dw], lr)", velocities=velocities)


def check_arrays(params, grads, call, **states):
    """Return (params, grads, *states), lists of equal length, checked before the first launch.

    `states` are what a step keeps for each parameter, in place, by name; None for one that is left out. `call` shows
    how the step is called. Errors as `sgd_step`.
    """
    for name, arrays in {"params": params, "grads": grads, **states}.items():
        if executor().owns(arrays) or isinstance(arrays, np.ndarray | dict):
            raise TypeError(f"{name} is a {type(arrays).__name__}; it must be a sequence of device arrays: {call}.")
    params, grads = list(params), list(grads)
    kept = {name: [None] * len(params) if given is None else list(given) for name, given in states.items()}
    require_one_each(params, grads, kept)
    # All checks come before the first launch: an error leaves every parameter as it was.
    for i, p in enumerate(params):
        params[i] = operand(f"params[{i}]", p)
        for name, arrays in {"grads": grads, **kept}.items():
            if arrays[i] is not None or states.get(name, 0) is not None:
                arrays[i] = operand(f"{name}[{i}]", arrays[i], shape=tuple(p.shape))
    _check_memory(params + [a for arrays in kept.values() for a in arrays if a is not None], grads)
    return params, grads, *kept.values()


def _check_memory(changed, read):
    """Raise ValueError if one of the `changed` arrays shares memory with another array of either list."""
    spans = [(*_span(a), i < len(changed)) for i, a in enumerate([*changed, *read])]
    reaching = []  # in the order of their addresses, only a few arrays can reach into the next one
    for start, stop, changes in sorted(spans):
        reaching = [r for r in reaching if r[0] > start]
        if any(changes or r[1] for r in reaching):
            raise ValueError(
                "two of the arrays share memory: every parameter, gradient and state must be its own; "
                "[zeros] * 2 is one array twice, make one for each parameter."
            )
        reaching.append((stop, changes))


def _span(array):
    """Return where a contiguous device array begins and ends, in bytes."""
    numbers = getattr(array, "numbers", None)  # the SIMT executor's
    start = executor().address(array) if numbers is None else numbers.__array_interface__["data"][0]
    return start, start + array.size * 4
