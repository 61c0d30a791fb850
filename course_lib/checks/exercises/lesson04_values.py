"""Right values of the exercises of lesson 04, by the library, by measuring, and by a step into the complex plane.

Options are what the usual mistakes in `lesson04_mistakes` do otherwise.
"""

import numpy as np

from course_lib import reference as ops
from course_lib.checks.gradients import numerical_gradient


def neuron(h, o, t, slope=None, error=1.0):
    """Return (n + 1,), the slopes of the weights and of the bias; `slope` in place of the sigmoid's."""
    inputs = np.append(np.asarray(h, dtype=float), 1.0)
    upstream = np.array([error * (o - t)])
    return inputs * (ops.sigmoid_backward(upstream, np.array([o])) if slope is None else upstream * slope)


def counts(sizes, batch, with_dx=False, biases=True, base=1, sides=1, partners=2):
    """Return the multiplications of a pass forward, of one backward, and of finite differences."""
    forward = batch * int(np.trace(np.outer(sizes, sizes), offset=1))  # neighbours only
    backward = partners * forward - (0 if with_dx or partners < 2 else batch * sizes[0] * sizes[1])
    parameters = forward // batch + (sum(sizes[1:]) if biases else 0)
    return forward, backward, (sides * parameters + base) * forward


def tanh_sigmoid(X, Y, W2, A, O, divide=None, hidden=None, squashed=True):
    """Return (dW, dW2), and with the wrong divisor, hidden slope, or no slope at the output, what a mistake returns."""
    n = len(X) if divide is None else divide(O)
    output = ops.sigmoid_backward((O - Y) / n, np.asarray(O, dtype=float)) if squashed else (O - Y) / n
    through = np.einsum("bc,mc->bm", output, W2)
    inner = ops.tanh_backward(through, np.asarray(A, dtype=float)) if hidden is None else through * hidden(A)
    return np.einsum("bd,bm->dm", X, inner), np.einsum("bm,bc->mc", A, output)


def places(difference, most=1e-4):
    """Return [(row, column), ...] of the differences above `most`."""
    return [tuple(place) for place in np.argwhere(difference > most).tolist()]


def measured(f, x):
    """Return the gradient of f at x by central differences."""
    return numerical_gradient(f, np.asarray(x, dtype=float))


def tied(X, W, encoder=True, decoder=True):
    """Return slopes by a step into the complex plane, for the uses of W that are asked for: exact, no chain rule."""
    slopes = np.empty(W.shape)
    for place in np.ndindex(W.shape):
        step = np.zeros(W.shape, dtype=complex)
        step[place] = 1e-30j
        out = np.tanh(X @ (W + encoder * step)) @ (W + decoder * step).T
        slopes[place] = 0.5e30 * np.sum((out - X) ** 2).imag
    return slopes
