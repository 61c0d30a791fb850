"""Stochastic gradient descent, plain or with momentum: the only operation that works in place.

Source: K, "Minimizing Loss Function" and O, "Stochastic gradient descent": w -> w - lr dC/dw.
Momentum is the course's addition.
"""

import numpy as np
from numpy.lib.array_utils import byte_bounds

from course_lib.validate import require_positive, require_same_shape


def sgd_step(params, grads, lr, momentum=0.0, velocities=None):
    """Move every parameter against its gradient, in place.

    v = momentum * v - lr * gradient;  parameter += v. With momentum 0 this is K's and O's rule.

    Parameters
    ----------
    params, grads : sequences of arrays
        Pairs of equal shape; the arrays in `params` are changed.
    lr : float > 0
    momentum : float in [0, 1)
    velocities : sequence of arrays, optional
        One for each parameter, zeros at the start, changed in place; required when momentum > 0. With momentum 0
        they forget what they held: each becomes this step, -lr * gradient.

    Raises
    ------
    ValueError
        If the numbers of arrays or their shapes differ, or lr or momentum is out of range.
    TypeError
        If a parameter is not a floating-point array, which cannot hold a small step.

    Source: O, "Stochastic gradient descent"; K, erratum: the step is minus lr times the gradient.
    """
    lr, momentum, params, grads, velocities = check_sgd(params, grads, lr, momentum, velocities)
    for p, g, v in zip(params, grads, velocities, strict=True):
        if v is None:
            p -= lr * g
        else:
            v *= momentum
            v -= lr * g
            p += v


def check_sgd(params, grads, lr, momentum, velocities):
    """Return (lr, momentum, params, grads, velocities), three lists of equal length; errors as `sgd_step`."""
    lr, momentum = require_positive("lr", lr), require_positive("momentum", momentum, zero=True)
    if momentum >= 1:
        raise ValueError(f"momentum is {momentum:g}; it must be below 1, or old steps never fade.")
    if momentum and velocities is None:
        raise ValueError("momentum > 0 needs velocities: pass [np.zeros_like(p) for p in params] and keep it.")
    if isinstance(params, np.ndarray | dict):
        hint = "sgd_step([w], [dw], lr)" if isinstance(params, np.ndarray) else "params.values() and grads.values()"
        raise TypeError(f"params is a {type(params).__name__}; it must be a sequence of arrays: {hint}.")
    params, grads = list(params), list(grads)
    velocities = [None] * len(params) if velocities is None else list(velocities)
    if not len(params) == len(grads) == len(velocities):
        raise ValueError(
            f"{len(params)} parameters, {len(grads)} gradients and {len(velocities)} velocities; "
            "there must be one of each."
        )
    # All checks come before the first change: an error leaves every parameter as it was.
    for i, (p, g, v) in enumerate(zip(params, grads, velocities, strict=True)):
        for name, array in (("params", p), ("grads", g), ("velocities", v)):
            if array is None and name == "velocities":
                continue
            if not isinstance(array, np.ndarray) or array.dtype.kind not in ("f" if name != "grads" else "fiub"):
                kind = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
                raise TypeError(
                    f"{name}[{i}] is {kind}; it must be a float array."
                    + (" Leave parameters without a gradient out of both lists." if array is None else "")
                )
            if name != "grads" and not array.flags.writeable:
                raise ValueError(f"{name}[{i}] is read-only, so it cannot be changed in place; pass a copy.")
            if array.shape != p.shape:
                require_same_shape(f"params[{i}]", p, f"{name}[{i}]", array)
    if _overlap(params + [v for v in velocities if v is not None], grads):
        raise ValueError(
            "two of the arrays share memory: every parameter, velocity and gradient must be its own; "
            "[np.zeros_like(p)] * 2 is one array twice, write [np.zeros_like(p) for p in params]."
        )
    return lr, momentum, params, grads, velocities


def _overlap(changed, read):
    """Whether one of the `changed` arrays shares memory with another array of either list."""
    spans = [(*byte_bounds(a), i < len(changed), a) for i, a in enumerate([*changed, *read])]
    reaching = []  # in the order of their addresses, only a few arrays can reach into the next one
    for span in sorted(spans, key=lambda span: span[0]):
        start, _, changes, array = span
        reaching = [r for r in reaching if r[1] > start]
        if any((changes or r[2]) and np.shares_memory(array, r[3]) for r in reaching):
            return True
        reaching.append(span)
    return False
