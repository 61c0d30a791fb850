"""Layers: what a network is made of.

Source: K, "Building a DL Library". A layer keeps its parameters and what its backward pass needs;
all mathematics is in `ops`, a module such as `course_lib.fast` or `course_lib.reference`.

Gradients add up: `backward` adds to what a layer holds until `zero_grad`. Only two places of the
library accumulate: the layers, and the leaves of a graph (`graph.py`). A training step needs no sum: after `renew_grad`
the next gradients take the place of the old ones.

Parameters and gradients lie where `ops` computes: on the device for `course_lib.cuda`. A layer is made on the host,
and `use` brings its parameters there.
"""

import numpy as np

from course_lib import fast
from course_lib.nn.init import drawn, he_normal
from course_lib.nn.portable import Portable
from course_lib.validate import require_count


class Layer(Portable):
    """Base of all layers: `forward`, `backward`, and two dictionaries with the same keys.

    Source: K, "Building a DL Library".
    """

    smaller_is_better = False
    """True for an output layer whose right class has the smallest value, such as a distance."""

    training = False
    """True within `with net.training():`; only layers that behave otherwise in training look at it."""

    first_row = 0
    """Where the rows that come begin in their batch: a rank of several computes a part of it."""

    _renewed = frozenset()
    """Names of gradients that the next one replaces."""

    def __init__(self):
        self.params, self.grads, self.ops, self.cache = {}, {}, fast, None

    def use(self, ops):
        """Compute with another backend from now on: parameters and gradients are copied there if need be."""
        if ops is self.ops:
            return
        for arrays in (self.params, self.grads):
            for name, array in arrays.items():
                arrays[name] = ops.to_backend(self.ops.to_host(array))
        self.ops, self.cache = ops, None

    def forward(self, x):
        """Return the layer's output for a batch x, and remember what `backward` needs."""
        raise NotImplementedError(f"{type(self).__name__} must define forward(x).")

    def backward(self, dout):
        """Add the parameters' gradients to `grads` and return the gradient of the input."""
        raise NotImplementedError(f"{type(self).__name__} must define backward(dout).")

    def backward_parameters(self, dout):
        """As `backward`, where nobody needs the gradient of the input: a layer that can leaves it out."""
        self.backward(dout)

    def zero_grad(self):
        """Set every gradient to zero."""
        self._renewed = frozenset()
        for g in self.grads.values():
            self.ops.fill_zero(g)

    def renew_grad(self):
        """As `zero_grad`, before a backward pass: a layer that can lets the next gradients replace the old ones.

        That spares two walks over each gradient, one that sets it to zero and one that adds to zero.
        """
        self.zero_grad()

    def output_shape(self, shape):
        """Return the shape of one sample's output for one sample's input `shape`; the same unless overridden."""
        return tuple(shape)

    def multiply_adds(self, shape):
        """Return the multiply-adds of one sample's forward pass; 0 unless overridden."""
        return 0

    def trainable(self):
        """Return how many numbers training changes."""
        return sum(p.size for p in self.params.values())

    def fixed(self):
        """Return {name: bool array of the shape of params[name]}, True where training keeps a number as it is.

        A name is left out if all its numbers are trained, as they are unless overridden. The gradient is 0 there.
        """
        return {}

    def describe(self):
        """Return a short text for `Sequential.summary`."""
        return type(self).__name__

    def _add_gradient(self, name, part):
        """Add a new array to a gradient, or take it for the gradient, if that is to be renewed."""
        old = self.grads[name]
        if name not in self._renewed:
            self.ops.accumulate(old, part)
            return
        self._renewed -= {name}
        if getattr(part, "dtype", None) == old.dtype and tuple(part.shape) == tuple(old.shape):
            self.grads[name] = part
        else:  # a gradient keeps the parameter's dtype
            self.ops.fill_zero(old)
            self.ops.accumulate(old, part)

    def _take_cache(self):
        if self.cache is None:
            raise RuntimeError(f"{self.describe()}: backward before forward; call forward(x) first.")
        return self.cache


class Weighted(Layer):
    """Base of layers with weights "w" and perhaps a bias "b", whose operation can leave out dx.

    `_gradients(dout, need_dx)` returns (dx, dw, db), db None without a bias. Source: K, "Building a DL Library".
    """

    def backward(self, dout, need_dx=True):
        """Add dw and db to `grads`, return dx of the input's shape, or None without `need_dx`."""
        dx, dw, db = self._gradients(dout, need_dx)
        self._add_gradient("w", dw)
        if db is not None:
            self._add_gradient("b", db)
        return dx

    def backward_parameters(self, dout):
        """Add dw and db to `grads`."""
        self.backward(dout, need_dx=False)

    def renew_grad(self):
        """Let the next gradients replace the old ones; set them to zero if a subclass has a backward of its own."""
        if type(self).backward is Weighted.backward:
            self._renewed = frozenset(self.grads)
        else:
            self.zero_grad()


class Dense(Weighted):
    """z = x w + b, with w (n_in, n_out) and b (n_out,).

    Parameters
    ----------
    n_in, n_out : int >= 1
    rng : numpy.random.Generator
        Draws the weights. The bias starts at 0.
    bias : bool
    init : function, optional
        init(rng, shape, n_in, n_out) makes the weights, such as those of `nn.init`; normal with variance 2 / n_in
        unless given, which keeps the size of the signal through ReLU layers (He et al., 2015).
    dtype : numpy.float32 or numpy.float64

    Raises
    ------
    TypeError, ValueError
        If a size, the generator, init or the dtype is not of that kind.

    Source: O, "Matrix Formulation"; K, Z = X W.
    """

    def __init__(self, n_in, n_out, *, rng, bias=True, init=he_normal, dtype=np.float32):
        super().__init__()
        self.n_in, self.n_out = require_count("n_in", n_in), require_count("n_out", n_out)
        if np.dtype(dtype) not in (np.float32, np.float64):
            raise TypeError(f"dtype is {np.dtype(dtype)}; it must be float32 or float64.")
        self.params["w"] = drawn(init, rng, (n_in, n_out), n_in, n_out).astype(dtype)
        if bias:
            self.params["b"] = np.zeros(n_out, dtype=dtype)
        self.grads = {name: np.zeros_like(p) for name, p in self.params.items()}

    def forward(self, x):
        """Return z (B, n_out) for x (B, n_in)."""
        z, self.cache = self.ops.dense_forward(x, self.params["w"], self.params.get("b"))
        return z

    def _gradients(self, dout, need_dx):
        return self.ops.dense_backward(dout, self._take_cache(), need_dx)

    def output_shape(self, shape):
        """Return (n_out,) for a sample (n_in,); ValueError if it has another shape."""
        if tuple(shape) != (self.n_in,):
            hint = " Put nn.Flatten() before it." if len(shape) > 1 else ""
            raise ValueError(f"{self.describe()} gets samples of shape {tuple(shape)}; it takes ({self.n_in},).{hint}")
        return (self.n_out,)

    def multiply_adds(self, shape):
        """Return n_in * n_out, the multiply-adds of one sample."""
        return self.n_in * self.n_out

    def describe(self):
        """Return e.g. "Dense 784 -> 128"."""
        return f"Dense {self.n_in} -> {self.n_out}" + ("" if "b" in self.params else " (no bias)")


class Activation(Layer):
    """An elementwise layer without parameters; `op` names it in `ops`, `options` go to its forward.

    Source: K, "Activation Functions".
    """

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


class ScaledTanh(Activation):
    """1.7159 tanh(2 z / 3), as in the LeNet-5 of 1998. Source: LeCun et al. (1998), appendix A."""

    op = "scaled_tanh"


class Softplus(Activation):
    """ln(1 + e^z). Source: H, "Today's Choice: ReLU"."""

    op = "softplus"


class Softmax(Activation):
    """Scores to probabilities, row by row; not needed before the softmax cross-entropy. Source: H."""

    op = "softmax"
