"""Softmax: scores to probabilities, its Jacobian, and its backward step.

Source: H, "Use Softmax to Produce Probabilities" and "Softmax Derivatives Needed to Train".
"""

import numpy as np

from course_lib.validate import as_float, require_same_shape


def softmax(z):
    """k[i] = e^z[i] / sum_j e^z[j] along the last axis: positive numbers that sum to 1.

    The largest z of a row is subtracted first: it cancels in the fraction, and no power overflows.

    z (..., C) real numbers, else TypeError; C >= 1, else ValueError; returns k (..., C).
    Source: H, "Use Softmax to Produce Probabilities".
    """
    z = as_float("z", z)
    if z.ndim == 0 or z.shape[-1] == 0:
        raise ValueError(f"z has shape {z.shape}; softmax needs at least one class on the last axis.")
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def softmax_jacobian(k):
    """dk[i]/dz[m] = k[i] (delta_im - k[m]) for one vector of probabilities.

    k (C,), else ValueError; returns (C, C). Source: H, "Softmax Derivatives Needed to Train".
    """
    k = as_float("k", k, ndim=1)
    return np.diag(k) - np.outer(k, k)


def softmax_forward(z):
    """Return (k, cache), the probabilities k (..., C) of scores z (..., C); the cache is k.

    TypeError or ValueError as `softmax`. Source: H, "Use Softmax to Produce Probabilities".
    """
    k = softmax(z)
    return k, k


def softmax_backward(dk, cache):
    """Return dz (..., C): the Jacobian above, times dk, without ever building the matrix.

    sum_i dk[i] k[i] (delta_im - k[m])  =  k[m] (dk[m] - sum_i dk[i] k[i])

    dk (..., C) of the shape of k, else ValueError; returns (..., C).
    Source: H, "Softmax Derivatives Needed to Train".
    """
    k, dk = cache, as_float("dk", dk)
    require_same_shape("dk", dk, "k", k)
    return k * (dk - (dk * k).sum(axis=-1, keepdims=True))
