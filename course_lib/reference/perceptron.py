"""The perceptron: a weighted sum, a step, and a rule that learns from mistakes.

Source: K, slides "Perceptron: Linear Binary Classifier" and "Perceptron Algorithm".
"""

from dataclasses import dataclass, field

import numpy as np

from course_lib.reference.activations import heaviside
from course_lib.validate import as_float, as_labels, require_count, require_finite, require_positive


@dataclass(frozen=True, eq=False)
class PerceptronStep:
    """One sample shown to the perceptron: which one, what it answered, the weights before and after.

    w_before and w_after are (d + 1,) arrays of their own. Source: K, "Perceptron Algorithm".
    """

    epoch: int
    index: int
    y_hat: int
    w_before: np.ndarray = field(repr=False)
    w_after: np.ndarray = field(repr=False)


@dataclass(frozen=True, eq=False)
class PerceptronFit:
    """What `perceptron_fit` returns.

    Attributes
    ----------
    w : (d + 1,) array
        Weights, the bias last; without a bias its place holds 0.
    converged : bool
        True if one whole epoch passed without a mistake.
    epochs : int
        Epochs run, the one without a mistake included.
    mistakes_per_epoch : list of int
    steps : list of PerceptronStep
        One for every sample shown, in order.

    Source: K, "Perceptron Algorithm".
    """

    w: np.ndarray
    converged: bool
    epochs: int
    mistakes_per_epoch: list
    steps: list = field(repr=False)


def add_bias_input(x):
    """Return x with one more column of ones: the bias becomes an ordinary weight.

    x (n, d), else ValueError; returns (n, d + 1).
    Source: K, "Perceptron Algorithm": x = [x1 .. xn, 1], w = [w1 .. wn, b].
    """
    x = as_float("x", x, ndim=2)
    return np.hstack([x, np.ones((x.shape[0], 1), dtype=x.dtype)])


def perceptron_predict(x, w):
    """Return heaviside(w . [x, 1]) for every row: (n,) int64 of 0 and 1.

    Parameters
    ----------
    x : (n, d) array
    w : (d + 1,) array
        The bias is the last entry.

    Raises
    ------
    ValueError
        If w does not have one entry more than x has columns, or one of them holds NaN or infinity.

    Source: K, "Perceptron: Linear Binary Classifier".
    """
    x, w = as_float("x", x, ndim=2), as_float("w", w, ndim=1)
    if w.shape[0] != x.shape[1] + 1:
        raise ValueError(
            f"x is {x.shape} and w is {w.shape}; w must be ({x.shape[1] + 1},): one weight a column, then the bias."
        )
    require_finite("x", x)
    require_finite("w", w)
    return heaviside(add_bias_input(x) @ w).astype(np.int64)


def perceptron_fit(x, y, lr=1.0, epochs=100, order=None, w=None, bias=True):
    """Learn by K's rule: after each sample, w += (y - y_hat) * lr * x.

    A right answer changes nothing, since y - y_hat is 0. Training stops after an epoch without a
    mistake, or after `epochs` of them.

    Parameters
    ----------
    x : (n, d) array, n >= 1
    y : (n,) array of 0 and 1
    lr : float > 0
    epochs : int >= 1
    order : (n,) array of int or numpy.random.Generator, optional
        A fixed order in which to show the samples, or a generator that shuffles every epoch.
        As given unless set.
    w : (d + 1,) array, optional
        Where to start; zeros unless given. It is not changed. Its last entry, the bias, is 0 without a bias.
    bias : bool
        False leaves the bias input out: the line must then pass through the origin.

    Returns
    -------
    PerceptronFit

    Raises
    ------
    TypeError, ValueError
        If shapes do not fit, x or w holds NaN or infinity, a label is not 0 or 1, `order` is not a permutation of whole
        numbers, or `w` holds a bias and there is to be none.

    Source: K, "Perceptron Algorithm".
    """
    x = as_float("x", x, ndim=2, min_rows=1)
    y = as_labels("y", y, rows=x.shape[0], classes=2)
    require_finite("x", x)
    lr, epochs = require_positive("lr", lr), require_count("epochs", epochs)
    inputs = add_bias_input(x)
    if not bias:
        inputs[:, -1] = 0
    w = np.zeros(inputs.shape[1]) if w is None else as_float("w", w, ndim=1).copy()
    if w.shape[0] != inputs.shape[1]:
        raise ValueError(f"x is {x.shape} and w is {w.shape}; w must be ({inputs.shape[1]},), the bias last.")
    require_finite("w", w)
    if not bias and w[-1] != 0:
        raise ValueError(f"w[-1], the bias, is {w[-1]:g}; with bias=False it must be 0. Set it to 0, or bias=True.")
    steps, mistakes = [], []
    for epoch in range(epochs):
        mistakes.append(0)
        for i in epoch_order(order, len(y)):
            y_hat = int(heaviside(inputs[i] @ w))
            w_before = w
            if y_hat != y[i]:
                w = w + (y[i] - y_hat) * lr * inputs[i]  # a new array: steps without a mistake share theirs
                mistakes[-1] += 1
            steps.append(PerceptronStep(epoch, int(i), y_hat, w_before, w))
        if mistakes[-1] == 0:
            break
    return PerceptronFit(w, mistakes[-1] == 0, len(mistakes), mistakes, steps)


def epoch_order(order, n):
    """Return the numbers 0 .. n - 1 in the order of one epoch; TypeError or ValueError as `perceptron_fit`.

    Returns (n,) whole numbers. Source: K, "Perceptron Algorithm".
    """
    if order is None:
        return range(n)
    if isinstance(order, np.random.Generator):
        return order.permutation(n)
    order = np.asarray(order)
    if order.dtype.kind not in "iu":
        raise TypeError(f"order has dtype {order.dtype}; it must hold whole numbers. Write order.astype(np.int64).")
    if order.shape != (n,) or not np.array_equal(np.sort(order), np.arange(n)):
        raise ValueError(f"order is {order.tolist()}; it must hold each of 0 .. {n - 1} once, or be a Generator.")
    return order
