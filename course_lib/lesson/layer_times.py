"""How long each layer of a network takes, for several networks in turns, and the steps of an unrolled convolution.

Source: the course's own.
"""

from time import perf_counter

import numpy as np

from course_lib import fast, nn
from course_lib.figures.network_layers import PASSIVE
from course_lib.reference.im2col import sliding_windows
from course_lib.validate import require_count


def layer_times(nets, x, names, *, runs=9):
    """Return {net: {layer: seconds}}: the least time of each layer's forward pass, its activation included.

    The least of the runs, because all that disturbs a run, such as new memory or other programs, only adds to it. The
    networks take turns, so that a slow moment of the machine hits them alike. All compute on one thread.

    Parameters
    ----------
    nets : dict of str to Sequential
        Of one architecture, on the host.
    x : array (B, ...)
    names : sequence of str
        One for each layer that computes; activations and Flatten belong to the layer before them.
    runs : int >= 1

    Raises
    ------
    ValueError
        No network; names that are not one for each layer.

    Source: the course's own.
    """
    runs = require_count("runs", runs)
    if not nets:
        raise ValueError("nets is empty; give at least one network by name.")
    for called, net in nets.items():
        active = sum(not isinstance(layer, PASSIVE) for layer in net)
        if active != len(names):
            raise ValueError(f"{called} has {active} layers that compute and there are {len(names)} names.")
    threads, taken = fast.threads(), {called: np.zeros((runs, len(names))) for called in nets}
    try:
        fast.set_threads(1)
        with fast.one_blas_thread():
            for run in range(runs):
                for called, net in nets.items():
                    _clock(net, x, taken[called][run])
    finally:
        fast.set_threads(threads)
    return {
        called: dict(zip(names, map(float, seconds.min(axis=0)), strict=True))
        for called, seconds in taken.items()
    }


def unrolled_times(net, x, names, *, runs=9):
    """Return {layer: (copying, product)}: the least seconds of two steps of each convolution that is done by unrolling.

    Copying puts the windows into the columns of a matrix, as `reference.conv2d_forward` does for a small batch; the
    product multiplies the masks by that matrix. On one thread.

    Parameters
    ----------
    net : Sequential
        On the host; its convolutions have stride 1 and no padding.
    x : array (B, ...)
    names : sequence of str
        One for each convolution.
    runs : int >= 1

    Raises
    ------
    ValueError
        Names that are not one for each convolution.

    Source: the course's own.
    """
    runs = require_count("runs", runs)
    found = []
    for layer in net:
        if isinstance(layer, nn.Conv2d):
            found.append((x, layer.params["w"].reshape(layer.c_out, -1), layer.mask))
        x = layer.forward(x)
    if len(found) != len(names):
        raise ValueError(f"there are {len(found)} convolutions and {len(names)} names.")
    least = np.full((len(found), 2), np.inf)
    with fast.one_blas_thread():
        for _ in range(runs):
            for i, (images, masks, size) in enumerate(found):
                begin = perf_counter()
                windows = sliding_windows(images, size, (1, 1), (0, 0)).transpose(1, 4, 5, 0, 2, 3)
                columns = windows.reshape(masks.shape[1], -1)
                middle = perf_counter()
                masks @ columns
                least[i] = np.minimum(least[i], (middle - begin, perf_counter() - middle))
    return {name: tuple(map(float, seconds)) for name, seconds in zip(names, least, strict=True)}


def _clock(net, x, seconds):
    """Add each layer's time to its place in `seconds`."""
    place = -1
    for layer in net:
        place += not isinstance(layer, PASSIVE)
        start = perf_counter()
        x = layer.forward(x)
        seconds[max(place, 0)] += perf_counter() - start
