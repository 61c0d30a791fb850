"""Usual mistakes in the exercises of lesson 04 that leave a recognisable value, and what is said of each."""

import numpy as np

from course_lib import reference as ops
from course_lib.checks.exercise import Cause
from course_lib.checks.exercises.lesson04_values import counts, measured, neuron, places, tanh_sigmoid, tied


def _slopes_of_h(h, o, t, bias):
    """The slope of the sigmoid was taken of the hidden values, those before the weights; the bias's as given."""
    h = np.asarray(h, dtype=float)
    deltas = (o - t) * h * (1 - h)
    return np.append(deltas * h, bias(deltas))


NEURON = (
    Cause(
        "The slope of the sigmoid is missing on the path from J to a weight.",
        lambda h, o, t: neuron(h, o, t, slope=1.0),
    ),
    Cause(
        "The slope was taken as if o were the weighted sum; o is what the sigmoid made of it.",
        lambda h, o, t: neuron(h, o, t, slope=ops.sigmoid_prime(np.array([o]))),
    ),
    *(
        Cause(
            "The slope of the sigmoid was taken of h; the sigmoid on this path made o, so its slope is o(1 - o).",
            lambda h, o, t, bias=bias: _slopes_of_h(h, o, t, bias),
        )
        for bias in (lambda deltas: deltas, np.sum)
    ),
    Cause(
        "The slope of the sigmoid was taken of h; the sigmoid on this path made o, so its slope is o(1 - o).",
        lambda h, o, t: _slopes_of_h(h, o, t, lambda _: (o - t) * o * (1 - o)),
    ),
    Cause(
        "That is the delta alone, for each weight; a weight's slope is delta times the h that it multiplies.",
        lambda h, o, t: np.full(len(h) + 1, neuron(h, o, t)[-1]),
    ),
    Cause(
        "The sign is that of t - o: where o is too large, a larger o makes J larger.",
        lambda h, o, t: neuron(h, o, t, error=-1.0),
    ),
    Cause("The bias comes last, after the weights.", lambda h, o, t: np.roll(neuron(h, o, t), 1)),
)

COSTS = (
    *(
        Cause(
            "The gradient with respect to the network's input is counted; nobody needs it.",
            lambda sizes, batch, also=also: counts(sizes, batch, with_dx=True, **also),
        )
        for also in ({}, {"biases": False}, {"base": 0}, {"biases": False, "base": 0}, {"base": 0, "sides": 2})
    ),
    *(
        Cause(
            "Backward is not as cheap as forward: each product has two partners on the way back, one for its "
            "weights and one for its input; only the first layer does without the second.",
            lambda sizes, batch, also=also: counts(sizes, batch, partners=1, **also),
        )
        for also in ({}, {"biases": False}, {"base": 0}, {"biases": False, "base": 0}, {"base": 0, "sides": 2})
    ),
    Cause(
        "Biases are parameters too, one for each neuron.",
        lambda sizes, batch: counts(sizes, batch, biases=False),
    ),
    Cause(
        "One-sided differences also need J(w), which no weight was moved for.",
        lambda sizes, batch: counts(sizes, batch, base=0),
    ),
    Cause(
        "Central differences cost that; one-sided ones move each parameter once, and compute J(w) once.",
        lambda sizes, batch: counts(sizes, batch, base=0, sides=2),
    ),
    Cause("The counts are those of one sample; a batch has more rows.", lambda sizes, batch: counts(sizes, 1)),
)


def _left_to_right(X, Y, W2, A, O):
    output = ops.sigmoid_backward((O - Y) / len(X), np.asarray(O, dtype=float))
    return (X.T @ output @ W2.T) * (1 - A * A), A.T @ output


BACKWARD = (
    Cause(
        "The cost is a mean over the samples; these are the gradients of their sum.",
        lambda X, Y, W2, A, O: tanh_sigmoid(X, Y, W2, A, O, divide=lambda o: 1),
    ),
    Cause(
        "The mean is over the samples, not over samples and outputs.",
        lambda X, Y, W2, A, O: tanh_sigmoid(X, Y, W2, A, O, divide=lambda o: o.size),
    ),
    Cause(
        "The hidden layer is a tanh, and the sigmoid's slope was used for it.",
        lambda X, Y, W2, A, O: tanh_sigmoid(X, Y, W2, A, O, hidden=lambda a: a * (1 - a)),
    ),
    Cause(
        "A holds tanh(Z) already; the tanh was taken once more.",
        lambda X, Y, W2, A, O: tanh_sigmoid(X, Y, W2, A, O, hidden=lambda a: 1 - np.tanh(a) ** 2),
    ),
    Cause(
        "The slope of the output's sigmoid is missing, at the very beginning of the way back.",
        lambda X, Y, W2, A, O: tanh_sigmoid(X, Y, W2, A, O, squashed=False),
    ),
    Cause(
        "The hidden layer's slope is missing on the way back.",
        lambda X, Y, W2, A, O: tanh_sigmoid(X, Y, W2, A, O, hidden=lambda a: 1.0),
    ),
    Cause(
        "The two gradients are swapped: dW comes first, then dW2.",
        lambda X, Y, W2, A, O: tanh_sigmoid(X, Y, W2, A, O)[::-1],
    ),
    Cause(
        "dW was multiplied from left to right. First delta_G @ W2.T, then element by element the slope of "
        "tanh, and X.T from the left at the end.",
        _left_to_right,
    ),
)


def _one_sided(f, x, step=1e-5):
    moved = np.asarray(x, dtype=float) + step * np.eye(x.size).reshape(x.size, *x.shape)
    return np.array([(f(m) - f(x)) / step for m in moved]).reshape(x.shape)


def _never_put_back(f, x, step=1e-5):
    """The slopes that are measured where every entry stays moved, so that all that were moved before act too."""
    up, down = np.asarray(x, dtype=float).copy(), np.asarray(x, dtype=float).copy()
    slopes = np.empty(x.shape)
    for place in np.ndindex(x.shape):
        up[place] += step
        down[place] -= step
        slopes[place] = (f(up) - f(down)) / (2 * step)
    return slopes


CHECKED = (
    Cause(
        "Only entries that are too large are found; one that is too small is as wrong.",
        lambda f, x, gradient: places(gradient - measured(f, x)),
    ),
    Cause(
        "Every measured slope seems to be 0: can your copy of whole numbers hold x + 0.00001?",
        lambda f, x, gradient: places(np.abs(np.asarray(gradient, dtype=float))),
    ),
    Cause(
        "A place is (row, column), in this order.",
        lambda f, x, gradient: [p[::-1] for p in places(np.abs(measured(f, x) - gradient))],
    ),
    Cause(
        "That is what one-sided differences find; where f is curved, they are too coarse.",
        lambda f, x, gradient: places(np.abs(_one_sided(f, x) - gradient)),
    ),
    Cause(
        "The entry was not restored: each must be moved alone, with all others as they were.",
        lambda f, x, gradient: places(np.abs(_never_put_back(f, x) - gradient)),
    ),
)

TIED = (
    Cause(
        "That is the path through the first use of W only; the output layer uses W as well.",
        lambda X, W: tied(X, W, decoder=False),
    ),
    Cause(
        "That is the path through the second use of W only; the hidden layer uses W as well.",
        lambda X, W: tied(X, W, encoder=False),
    ),
    Cause(
        "The slope of tanh is missing on the longer path.",
        lambda X, W: X.T @ ((np.tanh(X @ W) @ W.T - X) @ W) + tied(X, W, encoder=False),
    ),
    Cause("Near, but not exact: a measured gradient has not all digits. Derive it.", tied),
    Cause("Paths add; their mean was taken.", lambda X, W: tied(X, W) / 2),
)
