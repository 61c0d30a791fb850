"""The network that chains layers: the output of one is the input of the next.

Source: K, "Building a DL Library".
"""

from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from course_lib import fast
from course_lib.nn.finite import require_finite_outputs
from course_lib.nn.layers import Dense, Layer
from course_lib.nn.portable import Portable
from course_lib.validate import require_finite


@dataclass(frozen=True)
class LayerCost:
    """What one layer costs one sample: its name, output shape, trainable numbers, multiply-adds.

    Source: H, "Fully Connected Layers Not Always Useful" (weights counted).
    """

    layer: str
    output_shape: tuple
    trainable: int
    multiply_adds: int


class Sequential(Portable):
    """Layers in a chain: the output of one is the input of the next.

    Parameters
    ----------
    *layers : Layer
    ops : module
        The backend every layer computes with: `course_lib.fast` unless given, for a CPU; `course_lib.reference`
        has the same operations as the lectures' formulas, `course_lib.cuda` as kernels: the layers' parameters are
        then copied to the device, and `forward` and `backward` take and return device arrays.

    Raises
    ------
    TypeError
        If something is not a layer, or a layer appears twice.
    ValueError
        If the sizes of neighbouring Dense layers do not fit.

    Source: K, "Building a DL Library".
    """

    def __init__(self, *layers, ops=fast):
        for i, layer in enumerate(layers):
            if not isinstance(layer, Layer):
                hint = " Did you forget the brackets, as in nn.ReLU()?" if isinstance(layer, type) else ""
                if isinstance(layer, list | tuple):
                    hint = " Write nn.Sequential(*layers), with a star, for a list of layers."
                raise TypeError(f"layers[{i}] is {layer!r}; it must be a layer such as nn.Dense or nn.ReLU.{hint}")
        if not layers:
            raise TypeError("a network needs at least one layer.")
        if len({id(layer) for layer in layers}) != len(layers):
            raise TypeError("one layer object appears twice; each place needs a layer of its own.")
        if not hasattr(ops, "dense_forward"):
            raise TypeError(f"ops is {ops!r:.60}; it must be a backend, a module such as course_lib.fast.")
        width = None
        for i, layer in enumerate(layers):
            if isinstance(layer, Dense):
                if width is not None and layer.n_in != width:
                    raise ValueError(
                        f"layers[{i}] is {layer.describe()}, but {width} values reach it; use nn.Dense({width}, ...)."
                    )
                width = layer.n_out
        self.layers, self.ops = tuple(layers), ops
        for layer in layers:
            layer.use(ops)

    def __len__(self):
        return len(self.layers)

    def __iter__(self):
        return iter(self.layers)

    def __getitem__(self, i):
        return self.layers[i]

    def __repr__(self):
        return f"Sequential({', '.join(layer.describe() for layer in self.layers)})"

    def forward(self, x):
        """Return the last layer's output for a batch x (B, n_in)."""
        for layer in self.layers:
            x = layer.forward(x)
        return x

    def backward(self, dout):
        """Run the chain backwards from dE/d output; gradients add up in the layers; returns dE/dx."""
        for layer in reversed(self.layers):
            dout = layer.backward(dout)
        return dout

    def backward_parameters(self, dout):
        """As `backward`, but leave out dE/dx, which training does not need."""
        for layer in reversed(self.layers[1:]):
            dout = layer.backward(dout)
        self.layers[0].backward_parameters(dout)

    @contextmanager
    def training(self, first_row=0):
        """Within `with net.training():` layers behave as in training: `Dropout` drops. Outside they do not.

        `first_row` is where the rows begin in their batch, for who computes a part of it.
        """
        before = [(layer.training, layer.first_row) for layer in self.layers]
        for layer in self.layers:
            layer.training, layer.first_row = True, first_row
        try:
            yield self
        finally:
            for layer, was in zip(self.layers, before, strict=True):
                layer.training, layer.first_row = was

    def zero_grad(self):
        """Set every gradient to zero."""
        for layer in self.layers:
            layer.zero_grad()

    def renew_grad(self):
        """As `zero_grad`, before a backward pass: the next gradients replace the old ones where a layer can do that."""
        for layer in self.layers:
            layer.renew_grad()

    def parameters(self):
        """Return {"0.w": array, "0.b": array, ...}: place in the chain, then the layer's own name."""
        return {f"{i}.{name}": p for i, layer in enumerate(self.layers) for name, p in layer.params.items()}

    def gradients(self):
        """Return the gradients under the same names and with the same shapes as `parameters`."""
        return {f"{i}.{name}": g for i, layer in enumerate(self.layers) for name, g in layer.grads.items()}

    def fixed(self):
        """Return the layers' `fixed` under the same names as `parameters`; those without fixed numbers are left out."""
        return {f"{i}.{name}": m for i, layer in enumerate(self.layers) for name, m in layer.fixed().items()}

    def classes(self, out):
        """Return each row's class (B,) from outputs (B, C) on the host: the highest, or the lowest of distances.

        NotFiniteError, a ValueError, if the outputs hold NaN or infinity: argmax would make up a class.
        """
        out = np.asarray(out)
        require_finite("the outputs", out)
        return self.best(out)

    def best(self, out):
        """As `classes`, for outputs (B, C) that are known to be finite."""
        if out.ndim == 2 and out.shape[1] == 1:  # one output says how much it is class 1
            return (out[:, 0] >= 0.5).astype(np.int64)
        return np.argmin(out, axis=-1) if self.layers[-1].smaller_is_better else np.argmax(out, axis=-1)

    def predict(self, x):
        """Return the predicted class for each row of a batch x on the host: (B,) int64, on the host.

        NotFiniteError, a ValueError and a FloatingPointError, if x, the weights or the outputs hold NaN or infinity.
        """
        out = self.ops.to_host(self.forward(self.ops.to_backend(x)))
        require_finite_outputs(self, x, out)
        return self.best(out)

    def costs(self, shape):
        """Return one `LayerCost` a layer for a sample of this shape, such as (1, 32, 32).

        Raises
        ------
        ValueError
            If a layer does not fit the output of the one before it.
        """
        rows = []
        for layer in self.layers:
            out = layer.output_shape(shape)
            rows.append(LayerCost(layer.describe(), out, layer.trainable(), layer.multiply_adds(shape)))
            shape = out
        return rows

    def summary(self, shape=None):
        """Return a table: layers, parameters, how many numbers they hold.

        With the shape of one sample, such as (1, 32, 32), also each layer's output shape and
        multiply-adds. ValueError if a layer does not fit the output of the one before it.
        """
        if shape is None:
            rows = [("layer", "parameters", "numbers")]
            for layer in self.layers:
                shapes = ", ".join(f"{name} {p.shape}" for name, p in layer.params.items()) or "-"
                rows.append((layer.describe(), shapes, f"{layer.trainable():,}"))
            rows.append(("total", "", f"{sum(layer.trainable() for layer in self.layers):,}"))
        else:
            costs = self.costs(shape)
            rows = [("layer", "output", "trainable", "multiply-adds")]
            rows += [(c.layer, str(c.output_shape), f"{c.trainable:,}", f"{c.multiply_adds:,}") for c in costs]
            totals = sum(c.trainable for c in costs), sum(c.multiply_adds for c in costs)
            rows.append(("total", "", f"{totals[0]:,}", f"{totals[1]:,}"))
        return _table(rows, right=("numbers", "trainable", "multiply-adds"))


def _table(rows, right):
    """Line up columns: those named in `right` end together, the others start together."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [
        "  ".join(
            f"{cell:>{w}}" if title in right else f"{cell:<{w}}"
            for cell, w, title in zip(row, widths, rows[0], strict=True)
        )
        for row in rows
    ]
    return "\n".join(line.rstrip() for line in lines)
