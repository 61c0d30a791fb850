"""Exercises of lesson 04, backpropagation: public cases, and the usual mistakes.

Source: K, "Chain Rule" and "Computing gradient w.r.t W"; O, "Backpropagation Example" and "Backpropagation".
"""

import numpy as np

from course_lib import reference as ops
from course_lib.checks.exercise import Case, Cause, Exercise
from course_lib.checks.gradients import numerical_gradient
from course_lib.checks.values import Named


def _neuron(h, o, t, slope=None, error=1.0):
    inputs = np.append(np.asarray(h, dtype=float), 1.0)
    upstream = np.array([error * (o - t)])
    return inputs * (ops.sigmoid_backward(upstream, np.array([o])) if slope is None else upstream * slope)


def _slopes_of_h(h, o, t, bias):
    """The slope of the sigmoid was taken of the hidden values, those before the weights; the bias's as given."""
    h = np.asarray(h, dtype=float)
    deltas = (o - t) * h * (1 - h)
    return np.append(deltas * h, bias(deltas))


def _counts(sizes, batch, with_dx=False, biases=True, base=1, sides=1, partners=2):
    forward = batch * int(np.trace(np.outer(sizes, sizes), offset=1))  # neighbours only
    backward = partners * forward - (0 if with_dx or partners < 2 else batch * sizes[0] * sizes[1])
    parameters = forward // batch + (sum(sizes[1:]) if biases else 0)
    return forward, backward, (sides * parameters + base) * forward


def _tanh_sigmoid(X, Y, W2, A, O, divide=None, hidden=None, squashed=True):
    """Return (dW, dW2), and with the wrong divisor, hidden slope, or no slope at the output, what a mistake returns."""
    n = len(X) if divide is None else divide(O)
    output = ops.sigmoid_backward((O - Y) / n, np.asarray(O, dtype=float)) if squashed else (O - Y) / n
    through = np.einsum("bc,mc->bm", output, W2)
    inner = ops.tanh_backward(through, np.asarray(A, dtype=float)) if hidden is None else through * hidden(A)
    return np.einsum("bd,bm->dm", X, inner), np.einsum("bm,bc->mc", A, output)


def _left_to_right(X, Y, W2, A, O):
    output = ops.sigmoid_backward((O - Y) / len(X), np.asarray(O, dtype=float))
    return (X.T @ output @ W2.T) * (1 - A * A), A.T @ output


def _places(difference, most=1e-4):
    return [tuple(place) for place in np.argwhere(difference > most).tolist()]


def _measured(f, x):
    return numerical_gradient(f, np.asarray(x, dtype=float))


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


def _tied(X, W, encoder=True, decoder=True):
    """The slopes by a step into the complex plane, of the uses of W that are asked for: exact, and no chain rule."""
    slopes = np.empty(W.shape)
    for place in np.ndindex(W.shape):
        step = np.zeros(W.shape, dtype=complex)
        step[place] = 1e-30j
        out = np.tanh(X @ (W + encoder * step)) @ (W + decoder * step).T
        slopes[place] = 0.5e30 * np.sum((out - X) ** 2).imag
    return slopes


EXERCISES = (
    Exercise(
        id="04.1",
        function="neuron_gradients",
        title="All the weights of one output neuron",
        points=2,
        level="warm-up",
        concept="the delta is shared; the bias is the weight of an input that is always 1",
        source='O, "Backpropagation Example"',
        lines=2,
        expect=_neuron,
        cases=(
            Case((np.array([0.13, 0.96, 0.40]), 0.35, 0.9), "the slide's numbers, 0.9 is wanted"),
            Case((np.array([1.0, -2.0]), 0.8, 0.0), "0 is wanted"),
        ),
        causes=(
            Cause(
                "The slope of the sigmoid is missing on the path from J to a weight.",
                lambda h, o, t: _neuron(h, o, t, slope=1.0),
            ),
            Cause(
                "The slope was taken as if o were the weighted sum; o is what the sigmoid made of it.",
                lambda h, o, t: _neuron(h, o, t, slope=ops.sigmoid_prime(np.array([o]))),
            ),
            *(
                Cause(
                    "The slope of the sigmoid was taken of h; the sigmoid on this path made o, so its slope is "
                    "o(1 - o).",
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
                lambda h, o, t: np.full(len(h) + 1, _neuron(h, o, t)[-1]),
            ),
            Cause(
                "The sign is that of t - o: where o is too large, a larger o makes J larger.",
                lambda h, o, t: _neuron(h, o, t, error=-1.0),
            ),
            Cause("The bias comes last, after the weights.", lambda h, o, t: np.roll(_neuron(h, o, t), 1)),
        ),
    ),
    Exercise(
        id="04.2",
        function="multiplications",
        title="What a gradient costs",
        points=2,
        level="warm-up",
        concept="backward is at most twice forward; finite differences pay a forward pass a parameter",
        source='K, "Computing gradient w.r.t W"; the counts are the course\'s own',
        lines=5,
        expect=_counts,
        cases=(
            Case(([2, 3, 1], 4), "XOR's network of the lesson"),
            Case(([784, 128, 10], 64), "the digit network"),
        ),
        causes=(
            *(
                Cause(
                    "The gradient with respect to the network's input is counted; nobody needs it.",
                    lambda sizes, batch, also=also: _counts(sizes, batch, with_dx=True, **also),
                )
                for also in ({}, {"biases": False}, {"base": 0}, {"biases": False, "base": 0}, {"base": 0, "sides": 2})
            ),
            *(
                Cause(
                    "Backward is not as cheap as forward: each product has two partners on the way back, one for its "
                    "weights and one for its input; only the first layer does without the second.",
                    lambda sizes, batch, also=also: _counts(sizes, batch, partners=1, **also),
                )
                for also in ({}, {"biases": False}, {"base": 0}, {"biases": False, "base": 0}, {"base": 0, "sides": 2})
            ),
            Cause(
                "Biases are parameters too, one for each neuron.",
                lambda sizes, batch: _counts(sizes, batch, biases=False),
            ),
            Cause(
                "One-sided differences also need J(w), which no weight was moved for.",
                lambda sizes, batch: _counts(sizes, batch, base=0),
            ),
            Cause(
                "Central differences cost that; one-sided ones move each parameter once, and compute J(w) once.",
                lambda sizes, batch: _counts(sizes, batch, base=0, sides=2),
            ),
            Cause("The counts are those of one sample; a batch has more rows.", lambda sizes, batch: _counts(sizes, 1)),
        ),
    ),
    Exercise(
        id="04.3",
        function="backward_from_outputs",
        title="A backward pass that kept only A and O",
        points=3,
        level="core",
        concept="two products in the right order, a slope from the output, a mean over the batch",
        source='K, "Computing gradient w.r.t W"; O, "How good is our network?"',
        lines=4,
        expect=_tanh_sigmoid,
        cases=(
            Case(
                (np.array([[2.0]]), np.array([[1.0]]), np.array([[3.0]]), np.array([[0.5]]), np.array([[0.8]])),
                "one sample, one neuron in each layer",
            ),
            Case(
                (
                    np.array([[1, 2], [0, -1], [3, 1]]),
                    np.array([[1], [0], [0]]),
                    np.array([[2.0], [-1.0]]),
                    np.array([[0.5, -0.2], [0.1, 0.6], [-0.4, 0.3]]),
                    np.array([[0.7], [0.4], [0.2]]),
                ),
                "3 samples, 2 inputs, 2 hidden, 1 output",
            ),
            Case(
                (
                    np.array([[1, -2], [2, 1]]),
                    np.array([[1, 0, 0, 1], [0, 1, 0, 0]]),
                    np.array([[1.0, -0.5, 2.0, 0.0], [0.5, 1.0, -1.0, 2.0], [-2.0, 0.5, 1.0, -1.0]]),
                    np.array([[0.5, -0.2, 0.8], [-0.4, 0.6, 0.3]]),
                    np.array([[0.7, 0.4, 0.2, 0.6], [0.1, 0.8, 0.5, 0.3]]),
                ),
                "2 samples, 2 inputs, 3 hidden, 4 outputs",
            ),
        ),
        causes=(
            Cause(
                "The cost is a mean over the samples; these are the gradients of their sum.",
                lambda X, Y, W2, A, O: _tanh_sigmoid(X, Y, W2, A, O, divide=lambda o: 1),
            ),
            Cause(
                "The mean is over the samples, not over samples and outputs.",
                lambda X, Y, W2, A, O: _tanh_sigmoid(X, Y, W2, A, O, divide=lambda o: o.size),
            ),
            Cause(
                "The hidden layer is a tanh, and the sigmoid's slope was used for it.",
                lambda X, Y, W2, A, O: _tanh_sigmoid(X, Y, W2, A, O, hidden=lambda a: a * (1 - a)),
            ),
            Cause(
                "A holds tanh(Z) already; the tanh was taken once more.",
                lambda X, Y, W2, A, O: _tanh_sigmoid(X, Y, W2, A, O, hidden=lambda a: 1 - np.tanh(a) ** 2),
            ),
            Cause(
                "The slope of the output's sigmoid is missing, at the very beginning of the way back.",
                lambda X, Y, W2, A, O: _tanh_sigmoid(X, Y, W2, A, O, squashed=False),
            ),
            Cause(
                "The hidden layer's slope is missing on the way back.",
                lambda X, Y, W2, A, O: _tanh_sigmoid(X, Y, W2, A, O, hidden=lambda a: 1.0),
            ),
            Cause(
                "The two gradients are swapped: dW comes first, then dW2.",
                lambda X, Y, W2, A, O: _tanh_sigmoid(X, Y, W2, A, O)[::-1],
            ),
            Cause(
                "dW was multiplied from left to right. First delta_G @ W2.T, then element by element the slope of "
                "tanh, and X.T from the left at the end.",
                _left_to_right,
            ),
        ),
        section="Two slips that raise nothing",
        instead_of=("sigmoid_backward", "tanh_backward", "dense_backward"),
    ),
    Exercise(
        id="04.4",
        function="wrong_entries",
        title="A gradient check that says where",
        points=3,
        level="core",
        concept="central differences, one entry at a time, and what makes them lie",
        source='O, "Backpropagation Example"; the check is the course\'s own',
        lines=9,
        expect=lambda f, x, gradient: _places(np.abs(_measured(f, x) - gradient)),
        cases=(
            Case(
                (Named("numpy.prod"), np.array([[1, 2], [3, 4]]), np.array([[24, 12], [8, 7]])),
                "whole numbers, the last entry is wrong",
            ),
            Case(
                (Named("numpy.linalg.norm"), np.array([[3.0, 0.0, 4.0]]), np.array([[0.6, 0.1, -0.8]])),
                "the right gradient is 0.6, 0, 0.8",
            ),
            Case((Named("numpy.sum"), np.array([[0.5], [-2.0]]), np.array([[1.0], [1.0]])), "all right"),
        ),
        causes=(
            Cause(
                "Only entries that are too large are found; one that is too small is as wrong.",
                lambda f, x, gradient: _places(gradient - _measured(f, x)),
            ),
            Cause(
                "Every measured slope seems to be 0: can your copy of whole numbers hold x + 0.00001?",
                lambda f, x, gradient: _places(np.abs(np.asarray(gradient, dtype=float))),
            ),
            Cause(
                "A place is (row, column), in this order.",
                lambda f, x, gradient: [p[::-1] for p in _places(np.abs(_measured(f, x) - gradient))],
            ),
            Cause(
                "That is what one-sided differences find; where f is curved, they are too coarse.",
                lambda f, x, gradient: _places(np.abs(_one_sided(f, x) - gradient)),
            ),
            Cause(
                "The entry was not restored: each must be moved alone, with all others as they were.",
                lambda f, x, gradient: _places(np.abs(_never_put_back(f, x) - gradient)),
            ),
        ),
        instead_of=("numerical_gradient", "check_op_gradients"),
    ),
    Exercise(
        id="04.5",
        function="tied_gradient",
        title="One matrix, two layers",
        points=4,
        level="stretch",
        concept="a weight that is used twice has two paths to the loss",
        source='K, "Computing gradient w.r.t W"; the network is the course\'s own',
        lines=5,
        expect=_tied,
        cases=(
            Case((np.array([[2.0]]), np.array([[0.5]])), "one number: the value is about -1.913"),
            Case(
                (
                    np.array([[1, 0, -1], [2, 1, 0], [0, 1, 3], [1, -2, 1]]),
                    np.array([[0.5, -1.0], [1.0, 0.25], [-0.5, 0.75]]),
                ),
                "4 samples, 3 inputs, 2 hidden",
            ),
        ),
        causes=(
            Cause(
                "That is the path through the first use of W only; the output layer uses W as well.",
                lambda X, W: _tied(X, W, decoder=False),
            ),
            Cause(
                "That is the path through the second use of W only; the hidden layer uses W as well.",
                lambda X, W: _tied(X, W, encoder=False),
            ),
            Cause(
                "The slope of tanh is missing on the longer path.",
                lambda X, W: X.T @ ((np.tanh(X @ W) @ W.T - X) @ W) + _tied(X, W, encoder=False),
            ),
            Cause("Near, but not exact: a measured gradient has not all digits. Derive it.", _tied),
            Cause("Paths add; their mean was taken.", lambda X, W: _tied(X, W) / 2),
        ),
        rtol=1e-11,  # a measured gradient is further off
    ),
)
"""In the order of the sheet."""
