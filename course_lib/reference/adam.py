"""Adam: each number of a parameter gets a step of its own size, from running means of its gradient and its square.

Source: Kingma and Ba (2015), "Adam: A Method for Stochastic Optimization", algorithm 1. Weight decay beside the
gradient: Loshchilov and Hutter (2019), "Decoupled Weight Decay Regularization", algorithm 2 (AdamW).
"""

import numpy as np

from course_lib.reference.optim import check_arrays, check_decay
from course_lib.validate import require_count, require_positive


def adam_step(
    params, grads, lr, first_moments, second_moments, step, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.0
):
    """Move every parameter by Adam's rule, in place; with a weight decay by AdamW's.

    m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2;  parameter -= lr weight_decay parameter;
    parameter -= lr m' / (sqrt(v') + eps), where m' = m / (1 - beta1^step) and v' = v / (1 - beta2^step) undo that
    m and v begin at zero.

    Parameters
    ----------
    params, grads : sequences of arrays
        Pairs of equal shape; the arrays in `params` are changed.
    lr : float > 0
        About how far a number moves in one step.
    first_moments, second_moments : sequences of arrays
        m and v, one of each for each parameter, zeros at the start, changed in place.
    step : int >= 1
        The number of this step, counted from 1.
    beta1, beta2 : float in [0, 1)
    eps : float > 0
        Keeps a parameter without a gradient from 0 / 0.
    weight_decay : float >= 0, or a sequence of them, one for each parameter
        Decoupled: the parameter shrinks by lr * weight_decay, whatever its gradient. One number holds for arrays
        (a, b, ...) of two axes or more; those of one axis, the biases, are left alone.

    Raises
    ------
    ValueError
        If the numbers of arrays or their shapes differ, two of them share memory, or a number is out of range.
    TypeError
        If a parameter or a moment is not a floating-point array, or step is not a whole number.

    Source: Kingma and Ba (2015), algorithm 1; Loshchilov and Hutter (2019), algorithm 2.
    """
    numbers = check_adam(lr, step, beta1, beta2, eps)
    lists = check_arrays(params, grads, CALL, first_moments=first_moments, second_moments=second_moments)
    check_eps(eps, [p.dtype for p in lists[0]])
    for p, g, m, v, decay in zip(*lists, check_decay(weight_decay, lists[0], lr), strict=True):
        adam_update(p, g, m, v, decay, *numbers)


CALL = "adam_step([w], [dw], lr, [m], [v], step)"


def adam_update(p, g, m, v, decay, lr, beta1, beta2, eps, seen1, seen2):
    """Move one parameter p (...) and its moments m and v in place, as `adam_step`, which has checked all. No errors.

    Source: Kingma and Ba (2015), algorithm 1; Loshchilov and Hutter (2019), algorithm 2.
    """
    m *= beta1
    m += (1 - beta1) * g
    v *= beta2
    v += (1 - beta2) * np.square(g)
    if decay:
        p *= 1 - lr * decay
    p -= lr * (m / seen1) / (np.sqrt(v / seen2) + eps)


def check_adam(lr, step, beta1, beta2, eps):
    """Return (lr, beta1, beta2, eps, 1 - beta1^step, 1 - beta2^step) as floats; errors as `adam_step`."""
    lr, eps, step = require_positive("lr", lr), require_positive("eps", eps), require_count("step", step)
    betas = [require_positive(name, beta, zero=True) for name, beta in (("beta1", beta1), ("beta2", beta2))]
    for name, beta in zip(("beta1", "beta2"), betas, strict=True):
        if beta >= 1:
            raise ValueError(f"{name} is {beta:g}; it must be below 1, or the mean never hears of a gradient.")
    return lr, *betas, eps, *(1 - beta**step for beta in betas)


def check_eps(eps, dtypes):
    """Raise ValueError if eps is 0 in one of the dtypes that a step computes in: without a gradient, 0 / 0 is NaN."""
    for dtype in dtypes:
        if np.dtype(dtype).type(eps) == 0:
            raise ValueError(f"eps is {eps:g}, which is 0 in {np.dtype(dtype)}; 1e-8 is usual in float32.")


def kernel_constants(real, decay, lr, beta1, beta2, eps, seen1, seen2):
    """Return what the kernels of other backends compute with, of the type `real`: no division but the last is left.

    (beta1, 1 - beta1, beta2, 1 - beta2, 1 / (1 - beta2^step), eps, lr / (1 - beta1^step), 1 - lr decay). No errors.
    Source: Kingma and Ba (2015), section 2, the end (a more efficient order).
    """
    return tuple(map(real, (beta1, 1 - beta1, beta2, 1 - beta2, 1 / seen2, eps, lr / seen1, 1 - lr * decay)))
