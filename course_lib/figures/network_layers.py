"""What the boxes of a drawn network are: for each layer its shape, costs, window and receptive field, from the network.

Source: the sizes are counted by `course_lib.nn`; the receptive field is traced back window by window, the course's own.
"""

from dataclasses import asdict, dataclass

import numpy as np

from course_lib import nn
from course_lib.nn.layers import Activation

KINDS = {
    nn.Conv2d: "convolution", nn.MaxPool: "max pooling", nn.AveragePool: "average pooling",
    nn.Subsample: "subsampling", nn.Dense: "dense layer", nn.RadialBasis: "distances",
}  # fmt: skip
SHORT = {"convolution": "conv", "max pooling": "pool", "average pooling": "pool", "subsampling": "pool"}

PASSIVE = (Activation, nn.Flatten, nn.Dropout)
"""Layers that belong to the one before them."""


@dataclass(frozen=True)
class Volume:
    """The output of a layer, with the activation behind it.

    Attributes
    ----------
    name, kind : str
        Such as "C1" and "convolution"; the image itself is the "input".
    maps, rows, columns : int
    parameters, multiply_adds : int
        Of the layer, for one image.
    unit : (row, column)
        The number in the middle of a map, to which `window` and `seen` belong.
    window : (top, left, rows, columns)
        What the unit's mask covers of the layer before, without padding; all of it for a dense layer.
    seen : (top, left, rows, columns)
        The pixels of the image on which the unit can depend: its receptive field, without padding.

    Source: the course's own.
    """

    name: str
    kind: str
    maps: int
    rows: int
    columns: int
    parameters: int
    multiply_adds: int
    unit: tuple
    window: tuple
    seen: tuple

    @property
    def shape_text(self):
        """Such as "6@28", "6@28x30" or, for single numbers, "84"."""
        if self.rows == self.columns == 1:
            return f"{self.maps}"
        return f"{self.maps}@{self.rows}" + ("" if self.rows == self.columns else f"x{self.columns}")

    @property
    def words(self):
        """Such as "6 maps of 28 x 28", or "84 numbers"."""
        if self.rows == self.columns == 1:
            return f"{self.maps} numbers"
        return f"{self.maps} map{'' if self.maps == 1 else 's'} of {self.rows} x {self.columns}"


def network_layers(net, shape, names=None):
    """Return a `Volume` for the image and for each layer that computes something, in their order.

    Activations, Flatten and Dropout belong to the layer before them.

    Parameters
    ----------
    net : Sequential
        Of convolutions, poolings, dense layers and distances.
    shape : (C, H, W)
        Of one image.
    names : sequence of str, optional
        Of the layers; "conv1", "pool1", "dense1", ... and "output" unless given.

    Raises
    ------
    ValueError
        A shape that has not three sizes or that the network does not take; names that are not one for each layer; a
        network without a layer that computes.
    TypeError
        A kind of layer that is not drawn.

    Source: the course's own.
    """
    if len(shape) != 3:
        raise ValueError(f"shape is {tuple(shape)}; it must be (C, H, W), the maps, rows and columns of one image.")
    costs, found = net.costs(tuple(shape)), []
    C, H, W = shape
    found.append(_volume("input", "input", (C, H, W), 0, 0, Field.of_pixels(), (H, W), None))
    field = Field.of_pixels()
    for layer, cost in zip(net, costs, strict=True):
        if isinstance(layer, PASSIVE):
            continue
        kind = next((text for kind, text in KINDS.items() if isinstance(layer, kind)), None)
        if kind is None:
            known = ", ".join(k.__name__ for k in KINDS)
            raise TypeError(f"{layer.describe()} cannot be drawn as a box; these can: {known}.")
        before = found[-1]
        if kind in SHORT:
            mask = _pair(layer.mask if kind == "convolution" else layer.size)
            stride = mask if kind == "subsampling" else _pair(layer.stride)
            pad = (0, 0) if kind == "subsampling" else _pair(layer.pad)
            window = mask, stride, pad
            field = field.through(*window)
        else:
            window, field = None, None
        sizes = (*cost.output_shape, 1, 1)[:3]
        found.append(_volume("", kind, sizes, cost.trainable, cost.multiply_adds, field, (H, W), (window, before)))
    names = _names([v.kind for v in found[1:]]) if names is None else list(names)
    if len(names) != len(found) - 1 or not names:
        raise ValueError(f"there are {len(names)} names and {len(found) - 1} layers that compute; give one for each.")
    return [found[0], *(_named(v, str(n)) for v, n in zip(found[1:], names, strict=True))]


@dataclass(frozen=True)
class Field:
    """Which pixels a unit (h, v) sees: from step * h + start on, `size` of them; pairs for rows and columns.

    Source: the course's own.
    """

    step: tuple
    start: tuple
    size: tuple

    @classmethod
    def of_pixels(cls):
        """Each pixel sees itself."""
        return cls((1, 1), (0, 0), (1, 1))

    def through(self, mask, stride, pad):
        """Return the field of a layer behind: its window begins at stride * h - pad and has `mask` units."""
        axes = range(2)
        return Field(
            tuple(self.step[i] * stride[i] for i in axes),
            tuple(self.start[i] - self.step[i] * pad[i] for i in axes),
            tuple(self.size[i] + self.step[i] * (mask[i] - 1) for i in axes),
        )

    def at(self, unit, sizes):
        """Return (top, left, rows, columns) of what the unit sees of an image (H, W), without padding."""
        return _cut([self.step[i] * unit[i] + self.start[i] for i in range(2)], self.size, sizes)


def _names(kinds):
    counts, found = {}, []
    for kind in kinds:
        short = SHORT.get(kind, "dense")
        counts[short] = counts.get(short, 0) + 1
        found.append(f"{short}{counts[short]}")
    return [*found[:-1], "output"] if found else []


def _named(volume, name):
    return Volume(**(asdict(volume) | {"name": name}))


def _pair(size):
    return (size, size) if np.ndim(size) == 0 else tuple(size)


def _cut(start, size, sizes):
    top, left = (max(0, s) for s in start)
    ends = [min(n, s + k) for s, k, n in zip(start, size, sizes, strict=True)]
    return (top, left, ends[0] - top, ends[1] - left)


def _volume(name, kind, sizes, parameters, multiply_adds, field, image, behind):
    maps, rows, columns = (int(n) for n in sizes)
    unit = (rows // 2, columns // 2)
    seen = (0, 0, *image) if field is None else field.at(unit, image)
    window = (*unit, 1, 1)
    if behind:
        layer, before = behind
        window = (0, 0, before.rows, before.columns)
        if layer:
            mask, stride, pad = layer
            window = _cut([stride[i] * unit[i] - pad[i] for i in range(2)], mask, (before.rows, before.columns))
    return Volume(name, kind, maps, rows, columns, int(parameters), int(multiply_adds), unit, window, seen)
