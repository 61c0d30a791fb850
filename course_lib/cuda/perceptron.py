"""The perceptron on the device: `course_lib.reference.perceptron`'s names, for float32 device arrays.

Learning goes sample by sample, each with the weights that the one before left: one block shows a whole epoch, its
threads share the weighted sum.

Source: K, slides "Perceptron: Linear Binary Classifier" and "Perceptron Algorithm".
"""

import numpy as np

from course_lib import gpu
from course_lib.cuda.arrays import copy_of, to_backend, zeros
from course_lib.cuda.device import empty
from course_lib.cuda.jit import jit
from course_lib.cuda.numba_cuda import cuda, float32, int64
from course_lib.cuda.operands import operand
from course_lib.cuda.sums import THREADS, WARPS, block_total
from course_lib.reference.perceptron import PerceptronFit, PerceptronStep, epoch_order
from course_lib.validate import as_labels, require_count, require_finite, require_positive

LANES = 64
"""Threads of the block that learns."""


def add_bias_input(x):
    """Return x with one more column of ones: the bias becomes an ordinary weight.

    x (n, d) float32 device array, else TypeError or ValueError; returns (n, d + 1). Source: K, "Perceptron Algorithm".
    """
    x = operand("x", x, ndim=2)
    out = empty((x.shape[0], x.shape[1] + 1), np.float32)
    _with_bias[-(-out.size // THREADS), THREADS](x, float32(1), out)
    return out


def perceptron_predict(x, w):
    """Return heaviside(w . [x, 1]) for every row: (n,) int64 device array of 0 and 1.

    x (n, d) and w (d + 1,), the bias last, are float32 device arrays, else TypeError or ValueError. A sum that is NaN
    gives 0: the reference refuses NaN, which would cost a copy back here.
    Source: K, "Perceptron: Linear Binary Classifier".
    """
    x, w = operand("x", x, ndim=2), operand("w", w, ndim=1)
    _check_weights(x, w)
    y_hat = empty((x.shape[0],), np.int64)
    _predict[-(-y_hat.size // THREADS), THREADS](x, w, y_hat)
    return y_hat


def perceptron_fit(x, y, lr=1.0, epochs=100, order=None, w=None, bias=True):
    """Learn by K's rule, w += (y - y_hat) * lr * x after each sample: a launch an epoch.

    The record is the reference's. Its weights are a device array; its steps, which are for people, hold host arrays:
    after each epoch its answers and weights are copied to the host, and that is how many mistakes were made.

    Parameters
    ----------
    x : (n, d) float32 device array
    y : (n,) int device array of 0 and 1
    lr : float > 0
    epochs : int >= 1
    order : (n,) host array of int or numpy.random.Generator, optional
        As in the reference.
    w : (d + 1,) float32 device array, optional
        Where to start; zeros unless given. It is not changed. Its last entry, the bias, is 0 without a bias.
    bias : bool

    Returns
    -------
    PerceptronFit

    Raises
    ------
    TypeError, ValueError
        If arrays are not the device's, shapes do not fit, x or w holds NaN or infinity, a label is not 0 or 1, `order`
        is not a permutation of whole numbers, or `w` holds a bias and there is to be none.

    Source: K, "Perceptron Algorithm".
    """
    x = operand("x", x, ndim=2)
    y = operand("y", y, shape=(x.shape[0],), dtype=(np.int64, np.int32))
    lr, epochs = require_positive("lr", lr), require_count("epochs", epochs)
    labels = as_labels("y", gpu.to_host(y), rows=x.shape[0], classes=2)  # the records need them on the host anyway
    require_finite("x", gpu.to_host(x))
    if w is not None:
        _check_weights(x, operand("w", w, ndim=1))
    w = zeros((x.shape[1] + 1,)) if w is None else copy_of(w)
    before = gpu.to_host(w)
    require_finite("w", before)
    if not bias and before[-1] != 0:
        raise ValueError(
            f"w[-1], the bias, is {before[-1]:g}; with bias=False it must be 0. Set it to 0, or bias=True."
        )
    inputs = empty((x.shape[0], x.shape[1] + 1), np.float32)
    _with_bias[-(-inputs.size // THREADS), THREADS](x, float32(bool(bias)), inputs)
    answers, weights = empty((x.shape[0],), np.int64), empty(tuple(inputs.shape), np.float32)
    steps, mistakes = [], []
    for epoch in range(epochs):
        shown = np.array(epoch_order(order, len(labels)), np.int64)
        _epoch[1, LANES](inputs, y, to_backend(shown), np.float32(lr), w, answers, weights)
        y_hats, after = gpu.to_host(answers), gpu.to_host(weights)
        wrong = y_hats != labels[shown]
        for i, y_hat, missed, w_after in zip(shown, y_hats, wrong, after, strict=True):
            w_next = w_after if missed else before  # steps without a mistake share theirs
            steps.append(PerceptronStep(epoch, int(i), int(y_hat), before, w_next))
            before = w_next
        mistakes.append(int(wrong.sum()))
        if mistakes[-1] == 0:
            break
    return PerceptronFit(w, mistakes[-1] == 0, len(mistakes), mistakes, steps)


def _check_weights(x, w):
    if w.shape[0] != x.shape[1] + 1:
        raise ValueError(
            f"x is {x.shape} and w is {w.shape}; w must be ({x.shape[1] + 1},): one weight a column, then the bias."
        )


@jit(cache=True)
def _with_bias(x, one, out):
    i = cuda.grid(1)
    if i < out.size:
        row, j = i // out.shape[1], i % out.shape[1]
        value = one
        if j < x.shape[1]:
            value = x[row, j]
        out[row, j] = value


@jit(cache=True)
def _predict(x, w, y_hat):
    i = cuda.grid(1)
    if i < y_hat.size:
        total = w[x.shape[1]]
        for j in range(x.shape[1]):
            total += x[i, j] * w[j]
        y_hat[i] = int64(1) if total >= float32(0) else int64(0)


@jit(cache=True)
def _epoch(inputs, y, order, lr, w, answers, weights):
    s = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    for step in range(order.size):
        i = order[step]
        total = float32(0)
        for j in range(t, w.size, LANES):
            total += inputs[i, j] * w[j]
        total = block_total(total, s)
        y_hat = int64(1) if total >= float32(0) else int64(0)
        change = lr * float32(int64(y[i]) - y_hat)  # the same in all threads
        for j in range(t, w.size, LANES):
            if change != float32(0):
                w[j] += change * inputs[i, j]
            weights[step, j] = w[j]
        if t == 0:
            answers[step] = y_hat
