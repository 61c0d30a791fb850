"""What lessons do with LeNet-5 more than once: its input, a training in phases, and a layer's share of a network.

Source: the course's own.
"""

import numpy as np

from course_lib import nn


def padded(images, border=2):
    """Return images (n, H, W), or rows (n, 784) of 28 x 28 pixels, as (n, 1, H + 2 border, W + 2 border).

    The border is of zeros, so that the ends of strokes come to the middle of what the numbers of LeNet-5's C3 see.

    Raises
    ------
    ValueError
        Rows of another length than 784; an array with other axes; a border below 0.

    Source: H, "Inputs Inflated to Provide Padding".
    """
    images = np.asarray(images)
    if images.ndim == 2 and images.shape[1] == 28 * 28:
        images = images.reshape(-1, 28, 28)
    if images.ndim != 3:
        raise ValueError(f"images is {images.shape}; it must be (n, H, W), or (n, 784) for digits of 28 x 28.")
    if border < 0:
        raise ValueError(f"border is {border}; it must be 0 or more.")
    return np.pad(images[:, None], ((0, 0), (0, 0), (border, border), (border, border)))


def train_in_phases(net, data, phases, *, rng, batch_size=64, momentum=0.9, **options):
    """Train `net` with one learning rate after another, and return the training loss of every epoch, a list.

    Parameters
    ----------
    net : Sequential
    data : pair (x, y)
    phases : list of (epochs, lr)
    rng : numpy.random.Generator
    batch_size, momentum, options
        As `nn.train`; momentum begins anew with each phase.

    Raises
    ------
    ValueError
        No phase; whatever `nn.train` refuses.

    Source: the course's own.
    """
    phases = list(phases)
    if not phases:
        raise ValueError("phases is empty; give at least one pair (epochs, learning rate), such as [(5, 0.03)].")
    losses = []
    for epochs, lr in phases:
        options |= {"epochs": epochs, "lr": lr, "batch_size": batch_size, "momentum": momentum}
        losses += nn.train(net, data, rng=rng, **options).loss
    return losses


def cost_share(costs, *names):
    """Return (share of the parameters, share of the multiply-adds) that some layers have of a whole network.

    Parameters
    ----------
    costs : dict
        name -> LayerCost, as `figures.lenet.named_costs` gives it.
    names : str
        Keys of it.

    Raises
    ------
    LookupError
        A name that is none of the layers.

    Source: the course's own.
    """
    if unknown := [n for n in names if n not in costs]:
        raise LookupError(f"there is no layer {unknown[0]!r}; the layers are {', '.join(costs)}.")
    totals = [sum(getattr(c, field) for c in costs.values()) for field in ("trainable", "multiply_adds")]
    own = [sum(getattr(costs[n], field) for n in names) for field in ("trainable", "multiply_adds")]
    return tuple(part / whole for part, whole in zip(own, totals, strict=True))
