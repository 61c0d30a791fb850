"""Layers and the network that chains them: the constructs to specify a network.

Source: K, "Building a DL Library". A layer keeps its parameters and what its backward pass needs;
all mathematics is in `ops`, a module such as `course_lib.reference`.

Gradients add up: `backward` adds to what a layer holds until `zero_grad`. This is the only place
where the library accumulates.
"""

import numpy as np

from course_lib import reference
from course_lib.validate import require_count, require_rng


class Layer:
    """Base of all layers: `forward`, `backward`, and two dictionaries with the same keys."""

    def __init__(self):
        self.params, self.grads, self.ops, self.cache = {}, {}, reference, None

    def forward(self, x):
        """Return the layer's output for a batch x, and remember what `backward` needs."""
        raise NotImplementedError(f"{type(self).__name__} must define forward(x).")

    def backward(self, dout):
        """Add the parameters' gradients to `grads` and return the gradient of the input."""
        raise NotImplementedError(f"{type(self).__name__} must define backward(dout).")

    def zero_grad(self):
        """Set every gradient to zero."""
        for g in self.grads.values():
            g[...] = 0

    def describe(self):
        """Return a short text for `Sequential.summary`."""
        return type(self).__name__

    def _take_cache(self):
        if self.cache is None:
            raise RuntimeError(f"{self.describe()}: backward before forward; call forward(x) first.")
        return self.cache


class Dense(Layer):
    """z = x w + b, with w (n_in, n_out) and b (n_out,).

    Parameters
    ----------
    n_in, n_out : int >= 1
    rng : numpy.random.Generator
        Draws the weights: normal, with variance 2 / n_in, which keeps the size of the signal through
        ReLU layers (He et al., 2015). The bias starts at 0.
    bias : bool
    dtype : numpy.float32 or numpy.float64

    Raises
    ------
    TypeError, ValueError
        If a size, the generator or the dtype is not of that kind.

    Source: O, "Matrix Formulation"; K, Z = X W.
    """

    def __init__(self, n_in, n_out, *, rng, bias=True, dtype=np.float32):
        super().__init__()
        self.n_in, self.n_out = require_count("n_in", n_in), require_count("n_out", n_out)
        if np.dtype(dtype) not in (np.float32, np.float64):
            raise TypeError(f"dtype is {np.dtype(dtype)}; it must be float32 or float64.")
        scale = np.sqrt(2 / n_in)
        self.params["w"] = (scale * require_rng(rng).standard_normal((n_in, n_out))).astype(dtype)
        if bias:
            self.params["b"] = np.zeros(n_out, dtype=dtype)
        self.grads = {name: np.zeros_like(p) for name, p in self.params.items()}

    def forward(self, x):
        """Return z (B, n_out) for x (B, n_in)."""
        z, self.cache = self.ops.dense_forward(x, self.params["w"], self.params.get("b"))
        return z

    def backward(self, dout):
        """Add dw and db to `grads`, return dx (B, n_in) for dout (B, n_out)."""
        dx, dw, db = self.ops.dense_backward(dout, self._take_cache())
        self.grads["w"] += dw
        if db is not None:
            self.grads["b"] += db
        return dx

    def describe(self):
        """Return e.g. "Dense 784 -> 128"."""
        return f"Dense {self.n_in} -> {self.n_out}" + ("" if "b" in self.params else " (no bias)")


class Activation(Layer):
    """An elementwise layer without parameters; `op` names it in `ops`, `options` go to its forward."""

    op = "identity"

    def __init__(self, **options):
        super().__init__()
        self.options = options

    def forward(self, x):
        """Return f(x), shape of x."""
        a, self.cache = getattr(self.ops, f"{self.op}_forward")(x, **self.options)
        return a

    def backward(self, dout):
        """Return dout * f'(x), shape of x."""
        return getattr(self.ops, f"{self.op}_backward")(dout, self._take_cache())


class ReLU(Activation):
    """max(0, z). Source: H, "Today's Choice: ReLU"."""

    op = "relu"


class LeakyReLU(Activation):
    """z where z > 0, else negative_slope * z. Source: K, "RELU Activation Function"."""

    op = "leaky_relu"

    def __init__(self, negative_slope=0.01):
        super().__init__(negative_slope=negative_slope)


class Sigmoid(Activation):
    """1 / (1 + e^-z). Source: O, H."""

    op = "sigmoid"


class Tanh(Activation):
    """Hyperbolic tangent. Source: K, "Activation Functions"."""

    op = "tanh"


class Softplus(Activation):
    """ln(1 + e^z). Source: H, "Today's Choice: ReLU"."""

    op = "softplus"


class Softmax(Activation):
    """Scores to probabilities, row by row; not needed before the softmax cross-entropy. Source: H."""

    op = "softmax"


class Sequential:
    """Layers in a chain: the output of one is the input of the next.

    Parameters
    ----------
    *layers : Layer
    ops : module
        The backend every layer computes with; `course_lib.reference` unless given.

    Raises
    ------
    TypeError
        If something is not a layer, or a layer appears twice.
    ValueError
        If the sizes of neighbouring Dense layers do not fit.

    Source: K, "Building a DL Library".
    """

    def __init__(self, *layers, ops=reference):
        for i, layer in enumerate(layers):
            if not isinstance(layer, Layer):
                hint = " Did you forget the brackets, as in nn.ReLU()?" if isinstance(layer, type) else ""
                raise TypeError(f"layers[{i}] is {layer!r}; it must be a layer such as nn.Dense or nn.ReLU.{hint}")
        if not layers:
            raise TypeError("a network needs at least one layer.")
        if len({id(layer) for layer in layers}) != len(layers):
            raise TypeError("one layer object appears twice; each place needs a layer of its own.")
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
            layer.ops = ops

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

    def zero_grad(self):
        """Set every gradient to zero."""
        for layer in self.layers:
            layer.zero_grad()

    def parameters(self):
        """Return {"0.w": array, "0.b": array, ...}: place in the chain, then the layer's own name."""
        return {f"{i}.{name}": p for i, layer in enumerate(self.layers) for name, p in layer.params.items()}

    def gradients(self):
        """Return the gradients under the same names and with the same shapes as `parameters`."""
        return {f"{i}.{name}": g for i, layer in enumerate(self.layers) for name, g in layer.grads.items()}

    def predict(self, x):
        """Return the class with the highest output for each row: (B,) int64."""
        return np.argmax(self.forward(x), axis=1)

    def summary(self):
        """Return a table: layers, shapes of their parameters, how many numbers they hold."""
        rows = [("layer", "parameters", "numbers")]
        for layer in self.layers:
            shapes = ", ".join(f"{name} {p.shape}" for name, p in layer.params.items()) or "-"
            rows.append((layer.describe(), shapes, f"{sum(p.size for p in layer.params.values()):,}"))
        rows.append(("total", "", f"{sum(p.size for p in self.parameters().values()):,}"))
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        return "\n".join(f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c:>{widths[2]}}".rstrip() for a, b, c in rows)
