"""Layers for images: convolution, pooling, trainable subsampling, flatten, and LeNet-5's output.

Source: K, "Convolutional Neural Network" (the layers a CNN is made of); H, LeNet-5's C, S and OUTPUT layers.
Shapes are (B, C, H, W): images, maps, rows, columns.
"""

import numpy as np

from course_lib.nn.init import drawn, he_normal
from course_lib.nn.layers import Layer, Weighted
from course_lib.reference.conv_sizes import output_size, pair
from course_lib.validate import require_count


class Conv2d(Weighted):
    """Convolution of `c_in` maps to `c_out` maps, w (c_out, c_in, K_h, K_w), b (c_out,).

    Parameters
    ----------
    c_in, c_out : int >= 1
    mask : int or pair (rows, columns)
        Size of the mask.
    rng : numpy.random.Generator
        Draws the weights.
    stride, pad : int or pair
    bias : bool
    connections : (c_out, c_in) array of bool, optional
        Which input maps each output map sees; the other weights are 0 and stay 0. H: the table of C3,
        which breaks the symmetry between the maps.
    init : function, optional
        init(rng, shape, n_in, n_out) makes the weights, such as those of `nn.init`; normal with variance 2 / n_in
        unless given, n_in the inputs of one output.
    dtype : numpy.float32 or numpy.float64

    Raises
    ------
    TypeError, ValueError
        If a size, the table, the generator, init or the dtype is not of that kind.

    Source: K, "Convolution Layer: Parameters and Hyper-parameters"; H, "Convolution Layers in LeNet-5".
    """

    def __init__(
        self, c_in, c_out, mask, *, rng, stride=1, pad=0, bias=True, connections=None, init=he_normal, dtype=np.float32
    ):
        super().__init__()
        self.c_in, self.c_out = require_count("c_in", c_in), require_count("c_out", c_out)
        self.mask, self.stride = pair(mask, "mask"), pair(stride, "stride")
        self.pad = pair(pad, "pad", minimum=0)
        if np.dtype(dtype) not in (np.float32, np.float64):
            raise TypeError(f"dtype is {np.dtype(dtype)}; it must be float32 or float64.")
        self.connections, self._kept = self._table(connections), None
        # Of one output its inputs, of one input its outputs, for each map: masks times connected maps.
        n_in, n_out = (self.connections.sum(axis=a, keepdims=True)[..., None, None] * self._taps() for a in (1, 0))
        w = drawn(init, rng, (c_out, c_in, *self.mask), n_in, n_out)
        self.params["w"] = (w * self.connections[:, :, None, None]).astype(dtype)
        if bias:
            self.params["b"] = np.zeros(c_out, dtype=dtype)
        self.grads = {name: np.zeros_like(p) for name, p in self.params.items()}

    def _taps(self):
        return self.mask[0] * self.mask[1]

    def _table(self, connections):
        if connections is None:
            return np.ones((self.c_out, self.c_in), dtype=bool)
        table = np.asarray(connections)
        if table.shape != (self.c_out, self.c_in) or table.dtype != bool:
            raise ValueError(
                f"connections is {table.dtype} of shape {table.shape}; it must be bool, one row for each of the "
                f"{self.c_out} output maps and one column for each of the {self.c_in} input maps."
            )
        if not table.any(axis=1).all():
            raise ValueError(
                f"output map {int(np.argmin(table.any(axis=1)))} sees no input map; give each at least one."
            )
        return table

    def forward(self, x):
        """Return y (B, c_out, H_out, W_out) for x (B, c_in, H, W)."""
        y, self.cache = self.ops.conv2d_forward(x, self.params["w"], self.params.get("b"), self.stride, self.pad)
        return y

    def _gradients(self, dout, need_dx):
        dx, dw, db = self.ops.conv2d_backward(dout, self._take_cache(), need_dx)
        if not self.connections.all():
            dw = self.ops.keep_where(self._kept_weights(), dw)
        return dx, dw, db

    def _kept_weights(self):
        """1 where a weight is trained and 0 elsewhere, of the shape of w, where the backend computes."""
        if self._kept is None:
            table = self.connections[:, :, None, None].astype(self.params["w"].dtype)
            self._kept = self.ops.to_backend(np.broadcast_to(table, self.params["w"].shape).copy())
        return self._kept

    def fixed(self):
        """Return the weights that the connection table leaves out: {"w": bool (c_out, c_in, K_h, K_w)}, {} if none."""
        if self.connections.all():
            return {}
        return {"w": np.broadcast_to(~self.connections[:, :, None, None], self.params["w"].shape)}

    def __getstate__(self):
        return {**super().__getstate__(), "_kept": None}

    def use(self, ops):
        """As `Layer.use`; the connection table follows."""
        self._kept = None
        super().use(ops)

    def output_shape(self, shape):
        """Return (c_out, H_out, W_out) for an image (c_in, H, W); ValueError if it does not fit."""
        C, H, W = _image(shape, self)
        if self.c_in != C:
            raise ValueError(f"{self.describe()} gets {C} maps; use nn.Conv2d({C}, {self.c_out}, ...).")
        H_out = output_size(H, self.mask[0], self.stride[0], self.pad[0], name="H")
        return self.c_out, H_out, output_size(W, self.mask[1], self.stride[1], self.pad[1], name="W")

    def trainable(self):
        """Return the number of weights that training changes: those of the connection table, and the bias."""
        return int(self.connections.sum()) * self.mask[0] * self.mask[1] + (self.c_out if "b" in self.params else 0)

    def multiply_adds(self, shape):
        """Return the multiply-adds of one image (c_in, H, W), without the bias."""
        _, H_out, W_out = self.output_shape(shape)
        return int(self.connections.sum()) * self.mask[0] * self.mask[1] * H_out * W_out

    def describe(self):
        """Return e.g. "Conv2d 6 -> 16, 5x5"."""
        extra = f", stride {self.stride[0]}x{self.stride[1]}" if self.stride != (1, 1) else ""
        extra += f", pad {self.pad[0]}x{self.pad[1]}" if self.pad != (0, 0) else ""
        return f"Conv2d {self.c_in} -> {self.c_out}, {self.mask[0]}x{self.mask[1]}{extra}"


class _Pool(Layer):
    op = ""

    def __init__(self, size=2, stride=None, pad=0):
        super().__init__()
        self.size, self.pad = pair(size, "size"), pair(pad, "pad", minimum=0)
        self.stride = self.size if stride is None else pair(stride, "stride")

    def forward(self, x):
        """Return y (B, C, H_out, W_out) for x (B, C, H, W)."""
        y, self.cache = getattr(self.ops, f"{self.op}_forward")(x, self.size, self.stride, self.pad)
        return y

    def backward(self, dout):
        """Return dx (B, C, H, W)."""
        return getattr(self.ops, f"{self.op}_backward")(dout, self._take_cache())

    def output_shape(self, shape):
        """Return (C, H_out, W_out) for an image (C, H, W); ValueError if it does not fit."""
        C, H, W = _image(shape, self)
        H_out = output_size(H, self.size[0], self.stride[0], self.pad[0], name="H")
        return C, H_out, output_size(W, self.size[1], self.stride[1], self.pad[1], name="W")

    def describe(self):
        """Return e.g. "MaxPool 2x2"."""
        return f"{type(self).__name__} {self.size[0]}x{self.size[1]}"


class MaxPool(_Pool):
    """The largest value of each window. Source: K, "Pooling Layer"."""

    op = "max_pool"


class AveragePool(_Pool):
    """The mean of each window. Source: K, "Pooling Layer"."""

    op = "average_pool"


class Subsample(Layer):
    """w[c] * (sum of each window) + b[c]: two trainable numbers a map.

    Parameters
    ----------
    maps : int >= 1
    size : int or pair
        Windows side by side.
    dtype : numpy.float32 or numpy.float64

    Starts as an average: w = 1 / (numbers in a window), b = 0.

    Source: H, "Subsampling Layers in LeNet-5".
    """

    def __init__(self, maps, size=2, *, dtype=np.float32):
        super().__init__()
        self.maps, self.size = require_count("maps", maps), pair(size, "size")
        if np.dtype(dtype) not in (np.float32, np.float64):  # integers would round 1/4 to 0
            raise TypeError(f"dtype is {np.dtype(dtype)}; it must be float32 or float64.")
        self.params["w"] = np.full(maps, 1 / (self.size[0] * self.size[1]), dtype=dtype)
        self.params["b"] = np.zeros(maps, dtype=dtype)
        self.grads = {name: np.zeros_like(p) for name, p in self.params.items()}

    def forward(self, x):
        """Return y (B, C, H_out, W_out) for x (B, C, H, W)."""
        y, self.cache = self.ops.subsample_forward(x, self.params["w"], self.params["b"], self.size)
        return y

    def backward(self, dout):
        """Add dw and db to `grads`, return dx (B, C, H, W)."""
        dx, dw, db = self.ops.subsample_backward(dout, self._take_cache())
        self._add_gradient("w", dw)
        self._add_gradient("b", db)
        return dx

    def renew_grad(self):
        """Let the next gradients replace the old ones; set them to zero if a subclass has a backward of its own."""
        if type(self).backward is Subsample.backward:
            self._renewed = frozenset(self.grads)
        else:
            self.zero_grad()

    def output_shape(self, shape):
        """Return (C, H_out, W_out) for an image (C, H, W); ValueError if it does not fit."""
        C, H, W = _image(shape, self)
        if self.maps != C:
            raise ValueError(f"{self.describe()} gets {C} maps; use nn.Subsample({C}, ...).")
        H_out = output_size(H, self.size[0], self.size[0], name="H")
        return C, H_out, output_size(W, self.size[1], self.size[1], name="W")

    def multiply_adds(self, shape):
        """Return the multiplications of one image (C, H, W): one for each output."""
        return int(np.prod(self.output_shape(shape)))

    def describe(self):
        """Return e.g. "Subsample 6 maps, 2x2"."""
        return f"Subsample {self.maps} maps, {self.size[0]}x{self.size[1]}"


class Flatten(Layer):
    """(B, C, H, W) to (B, C H W), for the fully connected layers. Source: K, "Convolutional Neural Network"."""

    def forward(self, x):
        """Return x with one row an image."""
        y, self.cache = self.ops.flatten_forward(x)
        return y

    def backward(self, dout):
        """Return dout in the shape of x."""
        return self.ops.flatten_backward(dout, self._take_cache())

    def output_shape(self, shape):
        """Return (C H W,) for an image (C, H, W)."""
        return (int(np.prod(shape)),)


class RadialBasis(Layer):
    """Squared distance of each row to fixed prototypes w (C, D): LeNet-5's output, the smaller the better.

    Parameters
    ----------
    prototypes : (C, D) array
        Kept as they are; they are not trained.

    Source: H, "OUTPUT Layer in LeNet-5".
    """

    smaller_is_better = True

    def __init__(self, prototypes):
        super().__init__()
        self.prototypes, self._there = np.asarray(prototypes), {}

    def __getstate__(self):
        return {**super().__getstate__(), "_there": {}}

    def use(self, ops):
        """As `Layer.use`; the prototypes follow."""
        self._there = {}
        super().use(ops)

    def forward(self, x):
        """Return the distances y (B, C) for x (B, D)."""
        kind = np.dtype(x.dtype)
        if kind not in self._there:
            self._there[kind] = self.ops.to_backend(self.prototypes.astype(kind, copy=False))
        y, self.cache = self.ops.rbf_forward(x, self._there[kind])
        return y

    def backward(self, dout):
        """Return dx (B, D)."""
        return self.ops.rbf_backward(dout, self._take_cache())[0]

    def output_shape(self, shape):
        """Return (C,) for a row (D,); ValueError if it is not as long as the prototypes."""
        if tuple(shape) != self.prototypes.shape[1:]:
            raise ValueError(
                f"RadialBasis gets rows of shape {tuple(shape)}; its prototypes are {self.prototypes.shape}."
            )
        return (self.prototypes.shape[0],)

    def multiply_adds(self, shape):
        """Return the multiply-adds of one row: one for each number of each prototype."""
        return self.prototypes.size

    def describe(self):
        """Return e.g. "RadialBasis 84 -> 10"."""
        return f"RadialBasis {self.prototypes.shape[1]} -> {self.prototypes.shape[0]}"


def _image(shape, layer):
    if len(shape) != 3:
        raise ValueError(f"{layer.describe()} gets {tuple(shape)}; it takes images (C, H, W): put it before Flatten.")
    return shape
