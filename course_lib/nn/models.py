"""Networks of the course, ready to train."""

from itertools import pairwise

from course_lib import reference
from course_lib.nn.layers import Dense, LeakyReLU, ReLU, Sequential, Sigmoid, Softplus, Tanh

ACTIVATION_LAYERS = {
    "relu": ReLU,
    "leaky_relu": LeakyReLU,
    "sigmoid": Sigmoid,
    "tanh": Tanh,
    "softplus": Softplus,
}
"""Name -> layer class, for `mlp`."""


def mlp(sizes=(784, 128, 10), *, rng, activation="relu", ops=reference, **dense_options):
    """Return a multilayer perceptron: Dense layers with an activation after each but the last.

    Parameters
    ----------
    sizes : sequence of int
        Inputs, hidden layers, outputs; at least two numbers.
    rng : numpy.random.Generator
        Draws the weights.
    activation : str
        A key of `ACTIVATION_LAYERS`.
    ops : module
        The backend.
    dense_options
        Passed to each Dense, such as dtype=np.float64.

    Returns
    -------
    Sequential
        Its output are scores; softmax is part of the loss.

    Raises
    ------
    ValueError
        If there are fewer than two sizes or the activation is unknown.

    Source: K, "Multilayer Perceptron / FeedForward Network".
    """
    if len(sizes) < 2:
        raise ValueError(f"sizes is {tuple(sizes)}; a network needs at least an input and an output size.")
    if activation not in ACTIVATION_LAYERS:
        raise ValueError(f"activation is {activation!r}; it must be one of {', '.join(ACTIVATION_LAYERS)}.")
    layers = []
    for n_in, n_out in pairwise(sizes):
        layers += [Dense(n_in, n_out, rng=rng, **dense_options), ACTIVATION_LAYERS[activation]()]
    return Sequential(*layers[:-1], ops=ops)
