"""What a trained network reacts to: the output of every layer, and images that raise one of its numbers.

Source: O, "Understanding Neural Networks Through Deep Visualization" (an image that activates one neuron, and why
it needs a prior). Training moves the weights and keeps the image; here the image moves and the weights stay.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from course_lib.nn.sequential import Sequential
from course_lib.validate import NotFiniteError, as_float, as_labels, require_count, require_positive


@dataclass(frozen=True, eq=False)
class Ascent:
    """Result of `maximise`: where the images ended, and how the goal rose.

    Attributes
    ----------
    image : array of start's shape (B, ...)
    history : (steps + 1, B) float64 array
        The goal of every image before the first step and after each one.

    Source: O, "Understanding Neural Networks Through Deep Visualization".
    """

    image: np.ndarray
    history: np.ndarray

    @property
    def steps(self):
        """Number of steps taken."""
        return len(self.history) - 1


def feature_maps(net, x):
    """Return the output of every layer for a batch x, in order: [("Conv2d 1 -> 6, 5x5", (B, 6, 28, 28) array), ...].

    Parameters
    ----------
    net : Sequential
    x : (B, C, H, W) or (B, D) array, B >= 1

    Raises
    ------
    TypeError, ValueError
        If x is not an array of floats, is empty, or does not fit the first layer.

    Source: O, "Visualizing what ConvNets learn"; H calls the outputs of a convolution feature maps.
    """
    x = net.ops.to_backend(as_float("x", x, min_rows=1))
    found = []
    for layer in net:
        x = layer.forward(x)
        found.append((layer.describe(), net.ops.to_host(x).copy()))
    return found


def input_gradient(net, x, unit, *, layer=None):
    """Return how large one unit is for each row of x, (B,) float64, and its gradient to x, of x's shape (B, ...).

    Parameters
    ----------
    net : Sequential
        Its weights and gradients are as before when the function returns.
    x : (B, C, H, W) or (B, D) array
    unit : int, or tuple such as (m, h, w), or (B,) int array
        Without `layer`: a class, and its log-probability (after softmax) is differentiated; one for all rows, or
        one for each row. With `layer`: the place of one number in the output of that layer for one sample.
    layer : int, optional
        Position of a layer in the net, 0 for the first.

    Returns
    -------
    value : (B,) float64 array
    dx : array of x's shape

    Raises
    ------
    TypeError, ValueError
        If x, unit or layer do not fit the network; the message names the values.

    Source: O, "Understanding Neural Networks Through Deep Visualization".
    """
    x = as_float("x", x, min_rows=1)
    part = net
    if layer is not None:
        if require_count("layer", layer, minimum=0) >= len(net):
            raise ValueError(f"layer is {layer}; the network has {len(net)} layers, so it must be <= {len(net) - 1}.")
        part = Sequential(*net.layers[: layer + 1], ops=net.ops)
    ops = net.ops
    kept = {name: ops.copy_of(g) for name, g in net.gradients().items()}
    try:
        out = ops.to_host(part.forward(ops.to_backend(x)))
        value, dout = _log_probability(net, out, unit) if layer is None else _one_number(out, unit)
        dx = ops.to_host(part.backward(ops.to_backend(dout)))
    finally:
        for name, g in net.gradients().items():
            ops.assign(g, kept[name])
    return value, dx


def maximise(net, unit, start, *, steps, lr=0.25, layer=None, prior=None, clip=(0, 1), on_step=None):
    """Change images step by step so that one unit of the network becomes large: gradient ascent on the input.

    Each step goes lr along the gradient scaled to length 1, then comes the prior, then the clip.

    Parameters
    ----------
    net : Sequential
        Its weights and gradients are as before when the function returns.
    unit : int, tuple or (B,) int array
        A class, or with `layer` a place in the output of that layer; see `input_gradient`.
    start : (B, C, H, W) or (B, D) array
        Images to start from; they are not changed.
    steps : int >= 1
    lr : float > 0
        Length of one step: the square root of the summed squares of all pixel changes.
    layer : int, optional
    prior : callable, optional
        prior(images) returns images of the same shape, more like what is expected: `decay(0.02)`, `blur(0.1)`.
    clip : pair (low, high) or None
        Range of a pixel; None lets the image leave the space of images.
    on_step : callable, optional
        on_step(step, images, values) after each step, steps counted from 1; a true return value ends the ascent.

    Returns
    -------
    Ascent
        An image whose gradient is 0, in float32 for example once its probability is 1, moves no further, except
        by the prior.

    Raises
    ------
    TypeError, ValueError
        If arguments do not fit; or if at the start the gradient is 0 for every image, so that there is no way up.
    NotFiniteError (a ValueError and a FloatingPointError)
        If the unit or its gradient is no longer a finite number.

    Source: O, "Understanding Neural Networks Through Deep Visualization".
    """
    images = as_float("start", start, min_rows=1).copy()
    steps, lr = require_count("steps", steps), require_positive("lr", lr)
    if clip is not None:
        low, high = _range(clip)
    value, dx = input_gradient(net, images, unit, layer=layer)
    if not dx.any():
        raise ValueError(
            "the gradient of the unit is 0 at the start, so no small step changes it. Behind a ReLU that is closed: "
            "take the layer before it, or start from another image."
        )
    history = [value]
    for step in range(1, steps + 1):
        if not (np.isfinite(value).all() and np.isfinite(dx).all()):
            raise NotFiniteError(
                f"the unit or its gradient is not finite after {step - 1} steps with lr={lr:g}; "
                "use a smaller lr or a clip."
            )
        length = np.sqrt(np.sum(np.square(dx, dtype=np.float64), axis=tuple(range(1, dx.ndim)), keepdims=True))
        moved = images + lr * dx / np.where(length > 0, length, 1)
        if prior is not None:
            moved = np.asarray(prior(moved))
            if moved.shape != images.shape:
                raise ValueError(f"prior returned shape {moved.shape} for {images.shape}; it must keep the shape.")
        if clip is not None:
            moved = np.clip(moved, low, high)
        images = moved.astype(images.dtype)
        value, dx = input_gradient(net, images, unit, layer=layer)
        history.append(value)
        if on_step is not None and on_step(step, images, value):
            break
    return Ascent(images, np.array(history))


def decay(rate):
    """Return a prior that shrinks every pixel: x <- (1 - rate) x. It expects images of little ink.

    x is an array of any shape (B, ...).

    Raises
    ------
    TypeError, ValueError
        If rate does not lie in 0 .. 1.

    Source: O, "Understanding Neural Networks Through Deep Visualization" (a prior); this one is the course's choice.
    """
    return partial(_faded, _share("rate", rate))


def blur(share):
    """Return a prior that mixes each pixel with its four neighbours: x <- (1 - share) x + share * their mean.

    It expects neighbours to be alike. x is (B, C, H, W); outside the edge the edge is repeated.

    Raises
    ------
    TypeError, ValueError
        If share does not lie in 0 .. 1, or images without rows and columns arrive.

    Source: O, "Understanding Neural Networks Through Deep Visualization" (a prior); this one is the course's choice.
    """
    return partial(_blurred, _share("share", share))


def _faded(rate, images):
    return (1 - rate) * images


def _blurred(share, images):
    """Return the images (B, C, H, W), a little smoother."""
    p = np.pad(as_float("images", images, ndim=4), ((0, 0), (0, 0), (1, 1), (1, 1)), mode="edge")
    around = p[..., :-2, 1:-1] + p[..., 2:, 1:-1] + p[..., 1:-1, :-2] + p[..., 1:-1, 2:]
    return (1 - share) * images + share / 4 * around


def _log_probability(net, out, unit):
    if out.ndim != 2:
        raise ValueError(
            f"the network's output is {out.shape}; a class needs (B, classes). Name a layer for other units."
        )
    sign = -1 if net.layers[-1].smaller_is_better else 1  # of distances, the near is likely
    labels = np.full(len(out), unit) if np.ndim(unit) == 0 else unit
    labels = as_labels("unit", labels, rows=len(out), classes=out.shape[1])
    z = sign * out.astype(np.float64)
    z = z - z.max(axis=1, keepdims=True)
    log_k = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    rows = np.arange(len(out))
    dz = -np.exp(log_k)
    dz[rows, labels] += 1  # d log k_c / dz_i = (i == c) - k_i
    return log_k[rows, labels], (sign * dz).astype(out.dtype)


def _one_number(out, unit):
    place = unit if isinstance(unit, tuple) else (unit,)
    if not all(isinstance(i, (int, np.integer)) and not isinstance(i, bool) for i in place):
        raise TypeError(f"unit is {unit!r}; with a layer it must be a whole number or a tuple of them.")
    shape = out.shape[1:]
    if len(place) != len(shape) or not all(0 <= i < n for i, n in zip(place, shape, strict=True)):
        raise ValueError(
            f"unit is {unit!r} and that layer's output for one sample is {shape}; it must have {len(shape)} "
            f"number(s), each >= 0 and below the shape's."
        )
    dout = np.zeros_like(out)
    dout[:, *place] = 1
    return out[:, *place].astype(np.float64), dout


def _range(clip):
    if not isinstance(clip, (tuple, list)) or len(clip) != 2:
        raise TypeError(f"clip is {clip!r}; it must be a pair (low, high), or None for no limits.")
    low, high = clip
    if not low < high:
        raise ValueError(f"clip is {clip!r}; low must be below high, as in (0, 1).")
    return low, high


def _share(name, value):
    value = require_positive(name, value, zero=True)
    if value > 1:
        raise ValueError(f"{name} is {value:g}; it must lie in 0 .. 1.")
    return value
