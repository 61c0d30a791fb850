"""Networks of the course, ready to train."""

from itertools import pairwise

import numpy as np

from course_lib import fast, reference
from course_lib.nn.conv_layers import Conv2d, Flatten, MaxPool, RadialBasis, Subsample
from course_lib.nn.layers import Dense, LeakyReLU, ReLU, ScaledTanh, Sigmoid, Softplus, Tanh
from course_lib.nn.sequential import Sequential

ACTIVATION_LAYERS = {
    "relu": ReLU,
    "leaky_relu": LeakyReLU,
    "sigmoid": Sigmoid,
    "tanh": Tanh,
    "scaled_tanh": ScaledTanh,
    "softplus": Softplus,
}
"""Name -> layer class, for `mlp`."""


def mlp(sizes=(784, 128, 10), *, rng, activation="relu", ops=fast, **dense_options):
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
    TypeError, ValueError
        If sizes is no sequence, there are fewer than two, or the activation is unknown.

    Source: K, "Multilayer Perceptron / FeedForward Network".
    """
    if np.ndim(sizes) != 1:
        raise TypeError(f"sizes is {sizes!r:.60}; it must be a sequence of whole numbers, such as (784, 128, 10).")
    if len(sizes) < 2:
        raise ValueError(f"sizes is {tuple(sizes)}; a network needs at least an input and an output size.")
    if activation not in ACTIVATION_LAYERS:
        raise ValueError(f"activation is {activation!r}; it must be one of {', '.join(ACTIVATION_LAYERS)}.")
    layers = []
    for n_in, n_out in pairwise(sizes):
        layers += [Dense(n_in, n_out, rng=rng, **dense_options), ACTIVATION_LAYERS[activation]()]
    return Sequential(*layers[:-1], ops=ops)


C3_CONNECTIONS = (
    (0, 1, 2), (1, 2, 3), (2, 3, 4), (3, 4, 5), (4, 5, 0), (5, 0, 1),
    (0, 1, 2, 3), (1, 2, 3, 4), (2, 3, 4, 5), (3, 4, 5, 0), (4, 5, 0, 1), (5, 0, 1, 2),
    (0, 1, 3, 4), (1, 2, 4, 5), (0, 2, 3, 5),
    (0, 1, 2, 3, 4, 5),
)  # fmt: skip
"""Which of S2's six maps each of C3's sixteen sees: all runs of three, all runs of four (around the end),
three pairs of neighbouring pairs, and one that sees all. Table I of LeCun et al. (1998), cited by H."""


def c3_table():
    """Return `C3_CONNECTIONS` as a (16, 6) bool array, for `Conv2d(connections=...)`. No errors. Source: H."""
    table = np.zeros((16, 6), dtype=bool)
    for m, maps in enumerate(C3_CONNECTIONS):
        table[m, list(maps)] = True
    return table


def lenet5(*, rng, classic=False, scaled=False, ops=fast, dtype=np.float32):
    """Return LeNet-5 for images (B, 1, 32, 32): 28x28 digits with two pixels of padding all around.

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws the weights.
    classic : bool
        False: today's variant, with ReLU, max pooling, all connections, and ten scores for the softmax
        cross-entropy. True: the lecture's: tanh, trainable subsampling, C3's connection table, and
        distances to ten pictures of digits, for the loss "rbf_loss"; 60,000 trainable numbers.
    scaled : bool
        Of the classic variant: 1.7159 tanh(2 z / 3) for each tanh, as in the paper of 1998, so that F6 can reach the
        pictures' pixels of -1 and 1.
    ops : module
        The backend.
    dtype : numpy.float32 or numpy.float64

    Returns
    -------
    Sequential

    Raises
    ------
    TypeError
        If rng is not a Generator.
    ValueError
        If scaled is asked for without classic: today's variant has no tanh.

    Source: H, "Convolution Layers in LeNet-5" and the four slides after it; LeCun et al. (1998), appendix A.
    """
    if scaled and not classic:
        raise ValueError("scaled=True needs classic=True; today's LeNet-5 has ReLU and no tanh.")
    o, squash = {"rng": rng, "dtype": dtype}, ScaledTanh if scaled else Tanh
    if not classic:
        return Sequential(
            Conv2d(1, 6, 5, **o), ReLU(), MaxPool(2),  # C1 6@28x28, S2 6@14x14
            Conv2d(6, 16, 5, **o), ReLU(), MaxPool(2),  # C3 16@10x10, S4 16@5x5
            Conv2d(16, 120, 5, **o), ReLU(), Flatten(),  # C5 120@1x1
            Dense(120, 84, **o), ReLU(), Dense(84, 10, **o),  # F6, output
            ops=ops,
        )  # fmt: skip
    layers = [
        Conv2d(1, 6, 5, **o), squash(), Subsample(6, dtype=dtype), squash(),
        Conv2d(6, 16, 5, connections=c3_table(), **o), squash(), Subsample(16, dtype=dtype), squash(),
        Conv2d(16, 120, 5, **o), squash(), Flatten(),
        Dense(120, 84, **o), squash(), RadialBasis(reference.digit_prototypes()),
    ]  # fmt: skip
    for layer in layers:  # tanh passes the signal at half He's variance
        if "w" in layer.params and not isinstance(layer, Subsample):
            layer.params["w"] *= np.sqrt(0.5).astype(dtype)
    return Sequential(*layers, ops=ops)


def cnn_color(*, rng, classes=10, ops=fast, dtype=np.float32):
    """Return a small network for colour images (B, 3, 32, 32): K's input, convolution, ReLU, pooling, dense.

    Parameters
    ----------
    rng : numpy.random.Generator
    classes : int >= 1
    ops : module
    dtype : numpy.float32 or numpy.float64

    Returns
    -------
    Sequential

    Raises
    ------
    TypeError, ValueError
        If rng is not a Generator or classes is not a whole number >= 1.

    Source: K, "Convolutional Neural Network", "End to End CNN" (3 x 32 x 32).
    """
    o = {"rng": rng, "dtype": dtype}
    return Sequential(
        Conv2d(3, 16, 3, pad=1, **o), ReLU(), MaxPool(2),  # 16@16x16
        Conv2d(16, 32, 3, pad=1, **o), ReLU(), MaxPool(2),  # 32@8x8
        Flatten(), Dense(32 * 8 * 8, 64, **o), ReLU(), Dense(64, classes, **o),
        ops=ops,
    )  # fmt: skip
