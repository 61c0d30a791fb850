"""Stochastic gradient descent, plain or with momentum: the only operation that works in place.

Source: K, "Minimizing Loss Function" and O, "Stochastic gradient descent": w -> w - lr dC/dw.
Momentum is the course's addition.
"""

import numpy as np
from numpy.lib.array_utils import byte_bounds

from course_lib.validate import require_positive, require_same_shape


def sgd_step(params, grads, lr, momentum=0.0, velocities=None, weight_decay=0.0):
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
    weight_decay : float >= 0, or a sequence of them, one for each parameter
        The gradient becomes gradient + weight_decay * parameter: that of the loss plus half the sum of squares (L2).
        One number holds for arrays (a, b, ...) of two axes or more; those of one axis, the biases, are left alone.

    Raises
    ------
    ValueError
        If the numbers of arrays or their shapes differ, lr, momentum or weight_decay is out of range, or
        lr * weight_decay is not below 1, which would turn the weights over.
    TypeError
        If a parameter is not a floating-point array, which cannot hold a small step.

    Source: O, "Stochastic gradient descent"; K, erratum: the step is minus lr times the gradient. The decay: Loshchilov
    and Hutter (2019), "Decoupled Weight Decay Regularization", algorithm 1.
    """
    lr, momentum, params, grads, velocities = check_sgd(params, grads, lr, momentum, velocities)
    decays = check_decay(weight_decay, params, lr)
    for p, g, v, decay in zip(params, grads, velocities, decays, strict=True):
        slope = g + decay * p if decay else g
        if v is None:
            p -= lr * slope
        else:
            v *= momentum
            v -= lr * slope
            p += v


def check_sgd(params, grads, lr, momentum, velocities):
    """Return (lr, momentum, params, grads, velocities), three lists of equal length; errors as `sgd_step`."""
    lr, momentum = require_positive("lr", lr), require_positive("momentum", momentum, zero=True)
    if momentum >= 1:
        raise ValueError(f"momentum is {momentum:g}; it must be below 1, or old steps never fade.")
    if momentum and velocities is None:
        raise ValueError("momentum > 0 needs velocities: pass [np.zeros_like(p) for p in params] and keep it.")
    return lr, momentum, *check_arrays(params, grads, "sgd_step([w], [dw], lr)", velocities=velocities)


def check_decay(weight_decay, params, lr):
    """Return the weight decay of each parameter as a list of floats; errors as `sgd_step`.

    `params` are arrays (...) of any backend: one number holds for those of two axes or more.
    """
    if np.ndim(weight_decay) == 0:
        number = require_positive("weight_decay", weight_decay, zero=True)
        decays = [number if p.ndim > 1 else 0.0 for p in params]
    else:
        decays = [require_positive(f"weight_decay[{i}]", d, zero=True) for i, d in enumerate(weight_decay)]
        if len(decays) != len(params):
            raise ValueError(
                f"weight_decay holds {len(decays)} numbers for {len(params)} parameters; there must be one of each, or "
                "a single number for all weights."
            )
    if decays and lr * max(decays) >= 1:
        raise ValueError(
            f"lr * weight_decay is {lr * max(decays):g}; it must be below 1, or a step turns the weights over. Usual "
            "are 1e-4 to 1e-1 for weight_decay."
        )
    return decays


def check_arrays(params, grads, call, **states):
    """Return (params, grads, *states), lists of equal length, checked before the first change.

    `states` are what a step keeps for each parameter, in place, by name; None for one that is left out. `call` shows
    how the step is called. Errors as `sgd_step`.
    """
    if isinstance(params, np.ndarray | dict):
        hint = call if isinstance(params, np.ndarray) else "params.values() and grads.values()"
        raise TypeError(f"params is a {type(params).__name__}; it must be a sequence of arrays: {hint}.")
    params, grads = list(params), list(grads)
    kept = {name: [None] * len(params) if given is None else list(given) for name, given in states.items()}
    require_one_each(params, grads, kept)
    # All checks come before the first change: an error leaves every parameter as it was.
    for i, p in enumerate(params):
        for name, arrays in {"params": params, "grads": grads, **kept}.items():
            if arrays[i] is None and states.get(name, 0) is None:
                continue
            _check_array(f"{name}[{i}]", arrays[i], name == "grads", f"params[{i}]", p)
    if _overlap(params + [a for arrays in kept.values() for a in arrays if a is not None], grads):
        raise ValueError(
            "two of the arrays share memory: every parameter, gradient and state must be its own; "
            "[np.zeros_like(p)] * 2 is one array twice, write [np.zeros_like(p) for p in params]."
        )
    return params, grads, *kept.values()


def require_one_each(params, grads, kept):
    """Raise ValueError unless there is one array of each kind for each parameter; `kept` is {name: list}."""
    counts = {"parameters": len(params), "gradients": len(grads), **{name: len(a) for name, a in kept.items()}}
    if len(set(counts.values())) > 1:
        *first, last = [f"{count} {name}" for name, count in counts.items()]
        raise ValueError(f"{', '.join(first)} and {last}; there must be one of each.")


def _check_array(name, array, only_read, its_name, parameter):
    """Raise unless an array can take part in a step of a parameter of its shape (...)."""
    if not isinstance(array, np.ndarray) or array.dtype.kind not in ("fiub" if only_read else "f"):
        kind = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
        raise TypeError(
            f"{name} is {kind}; it must be a float array."
            + (" Leave parameters without a gradient out of both lists." if array is None else "")
        )
    if not only_read and not array.flags.writeable:
        raise ValueError(f"{name} is read-only, so it cannot be changed in place; pass a copy.")
    if array.shape != parameter.shape:
        require_same_shape(its_name, parameter, name, array)


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
