"""Linear regression on the device: `course_lib.reference.linear_regression`'s names, for float32 device arrays.

A lesson's data are a few columns wide, so one block does a whole fit: its threads share the rows, and all of them walk
through the same steps.

Source: K, slides "Linear Regression": f(x) = w x + b; for the closed form Hestenes (1958), the one-sided Jacobi method.
"""

import math

import numpy as np

from course_lib import gpu
from course_lib.cuda.arrays import copy_of, zeros
from course_lib.cuda.device import empty
from course_lib.cuda.jit import jit
from course_lib.cuda.numba_cuda import cuda, float32, int32
from course_lib.cuda.operands import operand
from course_lib.cuda.sums import THREADS, WARPS, block_largest, block_total
from course_lib.validate import NotFiniteError, require_count, require_number, require_positive

SWEEPS = 30
"""Most rounds over all pairs of columns; about six are needed."""

EPS = float(np.finfo(np.float32).eps)


def linear_regression_predict(x, w, b):
    """Return x w + b for every row of x.

    x (n, d) and w (d,) are float32 device arrays, b is a float; returns (n,). TypeError or ValueError if they are not,
    or do not fit. Source: K, slide "Linear Regression".
    """
    b = require_number("b", b)
    x, w = operand("x", x, ndim=2), operand("w", w, ndim=1)
    _check_weights(x, w)
    y = empty((x.shape[0],), np.float32)
    _predict[-(-y.size // THREADS), THREADS](x, w, np.float32(b), y)
    return y


def linear_regression_fit(x, y):
    """Return the weights that minimise the sum of squares, in closed form.

    The bias is one more weight, on an input that is always 1. Pairs of columns of that matrix are rotated until all are
    at right angles; then each column answers for itself how much of y it explains. That is a singular value
    decomposition, as in `numpy.linalg.lstsq`: without squaring the condition number, and with the shortest weights
    where several sets fit equally well. One copy back, for b and the check of the numbers.

    Parameters
    ----------
    x : (n, d) float32 device array
    y : (n,) float32 device array

    Returns
    -------
    w : (d,) device array
    b : float

    Raises
    ------
    TypeError
        If x or y is not a float32 device array.
    ValueError
        If x and y differ in rows, or hold NaN or infinity.

    Source: K, slide "Linear Regression".
    """
    x, y = _check(x, y)
    d = x.shape[1]
    columns, turns = empty((d + 1, x.shape[0]), np.float32), zeros((d + 1, d + 1))
    w, last = empty((d,), np.float32), empty((2,), np.float32)
    _fit[1, THREADS](x, y, columns, turns, w, last)
    b, odd = gpu.to_host(last)
    if odd:
        raise NotFiniteError("x or y holds NaN or infinity; remove or fill such rows first.")
    return w, float(b)


def linear_regression_descend(x, y, lr, steps, w=None, b=0.0):
    """Fit by gradient descent on the mean of the half squares, J = 1/2n sum (x w + b - y)^2: one launch.

    Parameters
    ----------
    x : (n, d) float32 device array
    y : (n,) float32 device array
    lr : float > 0
    steps : int >= 0
    w, b : (d,) float32 device array and float, optional
        Where to start; zeros unless given. They are not changed.

    Returns
    -------
    w : (d,) device array
    b : float
    history : (steps + 1,) device array
        J before the first step and after each one.

    Raises
    ------
    TypeError, ValueError
        If shapes differ, arrays are not float32 device arrays, hold NaN or infinity, or lr or steps is out of range.

    Source: K, slides "Linear Regression" and "Gradient Descent".
    """
    x, y = _check(x, y)
    lr, steps = require_positive("lr", lr), require_count("steps", steps, minimum=0)
    b = require_number("b", b)
    if w is not None:
        _check_weights(x, operand("w", w, ndim=1))
    w = zeros((x.shape[1],)) if w is None else copy_of(w)
    error, history, last = (empty((n,), np.float32) for n in (x.shape[0], steps + 1, 2))
    _descend[1, THREADS](x, y, np.float32(lr), np.float32(b), w, error, history, last)
    b, odd = gpu.to_host(last)
    if odd:
        raise NotFiniteError("x or y holds NaN or infinity; remove or fill such rows first.")
    return w, float(b), history


def _check(x, y):
    x, y = operand("x", x, ndim=2), operand("y", y, ndim=1)
    if x.shape[0] != y.shape[0]:
        raise ValueError(f"x is {x.shape} and y is {y.shape}; there must be one y for each row of x.")
    return x, y


def _check_weights(x, w):
    if x.shape[1] != w.shape[0]:
        raise ValueError(f"x is {x.shape} and w is {w.shape}; w must hold one weight for each column of x.")


@jit(device=True)
def _odd(x, y, s):
    """Return 1 in every thread if x or y holds NaN or infinity, else 0."""
    odd = float32(0)
    for i in range(cuda.threadIdx.x, y.size, THREADS):
        if not math.isfinite(y[i]):
            odd = float32(1)
        for j in range(x.shape[1]):
            if not math.isfinite(x[i, j]):
                odd = float32(1)
    return block_largest(odd, s)


@jit(cache=True)
def _predict(x, w, b, y):
    i = cuda.grid(1)
    if i < y.size:
        total = float32(0)
        for j in range(w.size):
            total += x[i, j] * w[j]
        y[i] = total + b


@jit(cache=True)
def _fit(x, y, columns, turns, w, last):
    s = cuda.shared.array(WARPS, float32)
    t, n, m = cuda.threadIdx.x, x.shape[0], columns.shape[0]
    odd = _odd(x, y, s)
    for j in range(m):
        for i in range(t, n, THREADS):
            columns[j, i] = x[i, j] if j < m - 1 else float32(1)
    for j in range(t, m, THREADS):
        turns[j, j] = float32(1)
    cuda.syncthreads()

    # Turn pairs of columns in their plane until each is at right angles to all others.
    for _ in range(SWEEPS):
        turned = int32(0)
        for p in range(m - 1):
            for q in range(p + 1, m):
                pp, qq, pq = float32(0), float32(0), float32(0)
                for i in range(t, n, THREADS):
                    pp += columns[p, i] * columns[p, i]
                    qq += columns[q, i] * columns[q, i]
                    pq += columns[p, i] * columns[q, i]
                pp, qq, pq = block_total(pp, s), block_total(qq, s), block_total(pq, s)
                if abs(pq) > float32(EPS) * math.sqrt(pp) * math.sqrt(qq):  # the same in all threads
                    turned = int32(1)
                    tau = (qq - pp) / (float32(2) * pq)
                    tangent = float32(1) / (abs(tau) + math.sqrt(float32(1) + tau * tau))
                    if tau < float32(0):
                        tangent = -tangent
                    cosine = float32(1) / math.sqrt(float32(1) + tangent * tangent)
                    sine = tangent * cosine
                    for i in range(t, n, THREADS):
                        a, c = columns[p, i], columns[q, i]
                        columns[p, i], columns[q, i] = cosine * a - sine * c, sine * a + cosine * c
                    for i in range(t, m, THREADS):
                        a, c = turns[i, p], turns[i, q]
                        turns[i, p], turns[i, q] = cosine * a - sine * c, sine * a + cosine * c
        if turned == 0:  # the same in all threads
            break
    cuda.syncthreads()

    largest = float32(0)
    for j in range(m):
        square = float32(0)
        for i in range(t, n, THREADS):
            square += columns[j, i] * columns[j, i]
        largest = max(largest, block_total(square, s))
    cut = float32(EPS) * float32(max(n, m))  # a column shorter than that, beside the longest, is only rounding
    for i in range(t, m - 1, THREADS):
        w[i] = float32(0)
    b = float32(0)
    for j in range(m):
        square, along = float32(0), float32(0)
        for i in range(t, n, THREADS):
            square += columns[j, i] * columns[j, i]
            along += columns[j, i] * y[i]
        square, along = block_total(square, s), block_total(along, s)
        if square > cut * cut * largest:  # the same in all threads
            for i in range(t, m - 1, THREADS):
                w[i] += turns[i, j] * (along / square)
            b += turns[m - 1, j] * (along / square)
    if t == 0:
        last[0], last[1] = b, odd


@jit(cache=True)
def _descend(x, y, lr, b, w, error, history, last):
    s = cuda.shared.array(WARPS, float32)
    t, n, d = cuda.threadIdx.x, x.shape[0], x.shape[1]
    odd = _odd(x, y, s)
    for step in range(history.size):
        squares, total = float32(0), float32(0)
        for i in range(t, n, THREADS):
            e = b - y[i]
            for j in range(d):
                e += x[i, j] * w[j]
            error[i] = e
            squares += e * e
            total += e
        squares, total = block_total(squares, s), block_total(total, s)  # with barriers: nobody reads w any more
        if t == 0:
            history[step] = squares / float32(2 * n)
        if step + 1 < history.size:
            for j in range(d):
                along = float32(0)
                for i in range(t, n, THREADS):
                    along += error[i] * x[i, j]  # a thread's own errors
                along = block_total(along, s)
                if t == 0:
                    w[j] -= lr * along / float32(n)  # dJ/dw = 1/n X^T (X w + b - y)
            b -= lr * total / float32(n)  # dJ/db = 1/n sum (X w + b - y)
            cuda.syncthreads()
    if t == 0:
        last[0], last[1] = b, odd
