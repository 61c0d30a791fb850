"""Linear regression: the line (or plane) with the least squares, in closed form and by descent.

Source: K, slides "Linear Regression": f(x) = w x + b, and y = w_1 x_1 + ... + w_n x_n + b.
"""

import numpy as np

from course_lib.validate import as_float, require_count, require_finite, require_number, require_positive


def linear_regression_predict(x, w, b):
    """Return x w + b for every row of x.

    Parameters
    ----------
    x : (n, d) array
    w : (d,) array
    b : float

    Returns
    -------
    (n,) array

    Raises
    ------
    TypeError, ValueError
        If w does not hold one weight for each column of x, or b is not one number.

    Source: K, slide "Linear Regression".
    """
    require_number("b", b)
    x, w = as_float("x", x, ndim=2), as_float("w", w, ndim=1)
    if x.shape[1] != w.shape[0]:
        raise ValueError(f"x is {x.shape} and w is {w.shape}; w must hold one weight for each column of x.")
    return x @ w + b


def linear_regression_fit(x, y):
    """Return the weights that minimise the sum of squares, in closed form.

    The bias is one more weight, on an input that is always 1. Setting the gradient of
    1/2 ||X w - y||^2 to zero gives the normal equations X^T X w = X^T y; `numpy.linalg.lstsq`
    solves them without squaring the condition number.

    Parameters
    ----------
    x : (n, d) array, n >= 1
    y : (n,) array

    Returns
    -------
    w : (d,) array
    b : float

    Raises
    ------
    ValueError
        If x and y differ in rows, or there is none.

    Source: K, slide "Linear Regression".
    """
    x, y = _check(x, y)
    ones = np.ones((x.shape[0], 1), dtype=x.dtype)
    solution = np.linalg.lstsq(np.hstack([x, ones]), y, rcond=None)[0]
    return solution[:-1], float(solution[-1])


def linear_regression_descend(x, y, lr, steps, w=None, b=0.0):
    """Fit by gradient descent on the mean of the half squares, J = 1/2n sum (x w + b - y)^2.

    Parameters
    ----------
    x : (n, d) array, n >= 1
    y : (n,) array
    lr : float > 0
        Learning rate.
    steps : int >= 0
    w, b : (d,) array and float, optional
        Where to start; zeros unless given. They are not changed.

    Returns
    -------
    w : (d,) array
    b : float
    history : (steps + 1,) array
        J before the first step and after each one.

    Raises
    ------
    TypeError, ValueError
        If shapes differ, there is no row, b is not one number, or lr or steps is out of range.

    Source: K, slides "Linear Regression" and "Gradient Descent".
    """
    x, y = _check(x, y)
    lr, steps = require_positive("lr", lr), require_count("steps", steps, minimum=0)
    w = np.zeros(x.shape[1], dtype=x.dtype) if w is None else as_float("w", w, ndim=1).copy()
    if w.shape[0] != x.shape[1]:
        raise ValueError(f"x is {x.shape} and w is {w.shape}; w must hold one weight for each column of x.")
    n, b, history = x.shape[0], require_number("b", b), []
    for _ in range(steps):
        error = x @ w + b - y
        history.append(error @ error / (2 * n))
        w -= lr * (x.T @ error) / n  # dJ/dw = 1/n X^T (X w + b - y)
        b -= lr * float(error.mean())  # dJ/db = 1/n sum (X w + b - y)
    error = x @ w + b - y
    history.append(error @ error / (2 * n))
    return w, b, np.array(history)


def _check(x, y):
    x, y = as_float("x", x, ndim=2, min_rows=1), as_float("y", y, ndim=1)
    if x.shape[0] != y.shape[0]:
        raise ValueError(f"x is {x.shape} and y is {y.shape}; there must be one y for each row of x.")
    for name, array in (("x", x), ("y", y)):  # with infinity in it, LAPACK's least squares never returns
        require_finite(name, array)
    return x, y
