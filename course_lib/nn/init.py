"""Initial weights: how large the numbers are that training begins with.

An initialiser is a function init(rng, shape, n_in, n_out) -> float64 array of `shape`: n_in inputs reach one output,
n_out outputs are reached by one input (numbers, or arrays that NumPy can spread over `shape`). Layers take one as
`init=`; `he_normal` is their default.

Source: He et al. (2015), "Delving Deep into Rectifiers"; Glorot and Bengio (2010), "Understanding the Difficulty of
Training Deep Feedforward Neural Networks".
"""

from functools import partial

import numpy as np

from course_lib.validate import require_positive, require_rng


def he_normal(rng, shape, n_in, n_out):
    """Return weights (...) drawn normal with variance 2 / n_in: through ReLU layers the signal keeps its size.

    Raises TypeError if rng is no Generator. Source: He et al. (2015), equation 10.
    """
    return np.sqrt(2 / n_in) * require_rng(rng).standard_normal(shape)


def glorot_normal(rng, shape, n_in, n_out):
    """Return weights (...) drawn normal with variance 2 / (n_in + n_out): signal and gradient keep their sizes alike.

    For activations of slope 1 at 0, such as tanh. Raises TypeError if rng is no Generator. Source: Glorot and Bengio
    (2010), equation 12; after the first author's given name also called Xavier's.
    """
    return np.sqrt(2 / (n_in + n_out)) * require_rng(rng).standard_normal(shape)


def glorot_uniform(rng, shape, n_in, n_out):
    """Return weights (...) drawn evenly from -r to r with r = sqrt(6 / (n_in + n_out)): `glorot_normal`'s variance.

    Raises TypeError if rng is no Generator. Source: Glorot and Bengio (2010), equation 16.
    """
    return np.sqrt(6 / (n_in + n_out)) * require_rng(rng).uniform(-1, 1, shape)


def normal(sd):
    """Return an initialiser that draws normal weights (...) of standard deviation `sd`, whatever the layer's size.

    Raises TypeError or ValueError if sd is not a number >= 0. Source: the course's own.
    """
    return partial(_normal, require_positive("sd", sd, zero=True))  # a partial can be pickled, a function in here not


def zeros(rng, shape, n_in, n_out):
    """Return zeros (...): every unit of a layer then computes the same, and learns the same.

    Raises TypeError if rng is no Generator. Source: the course's own.
    """
    require_rng(rng)
    return np.zeros(shape)


def drawn(init, rng, shape, n_in, n_out):
    """Return init(rng, shape, n_in, n_out), finite float64 (...), for a layer.

    Raises
    ------
    TypeError, ValueError
        If init is no function, or returns anything but finite real numbers of this shape.

    Source: the course's own.
    """
    if not callable(init):
        raise TypeError(f"init is {init!r:.60}; it must be a function: nn.init.he_normal or nn.init.normal(0.05).")
    try:
        w = np.asarray(init(require_rng(rng), shape, n_in, n_out))
    except TypeError as error:
        if init is normal:
            raise TypeError("init is nn.init.normal itself; say how large, as in nn.init.normal(0.05).") from error
        raise
    if w.shape != tuple(shape) or w.dtype.kind not in "fiu":
        raise ValueError(f"init returned {w.dtype} of shape {w.shape}; it must return real numbers of shape {shape}.")
    if not np.isfinite(w).all():
        raise ValueError("init returned NaN or infinity; weights must be finite to begin with.")
    return w


def _normal(sd, rng, shape, n_in, n_out):
    return sd * require_rng(rng).standard_normal(shape)
