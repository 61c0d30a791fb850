"""Mixed precision: layers compute with numbers of a small format, weights are kept and changed in float32.

A backend is wrapped: what goes into an operation of a layer and what comes out of it is rounded, as it would be if it
lay in memory in that format. So activations, the gradients that come back and the gradients of the weights have few
digits; sums within an operation are float32, as tensor cores make them; and the loss is float32. The weights
themselves, the **master weights**, stay float32: a step is often too small to change a number of few digits.

FP16 has few exponents, too, and small gradients become zero in it. So the loss is multiplied by a **loss scale**, and
with it every gradient; before the step the gradients are divided by it again, in float32. If it was too large, and a
gradient infinite, the step is left out.

Source: P. Micikevicius et al., "Mixed Precision Training" (2018), sections 3.1 to 3.3.
"""

from contextlib import contextmanager, nullcontext

import numpy as np

from course_lib.reference.formats import FORMATS
from course_lib.validate import require_choice, require_count, require_positive

TRAINED = ("float32", "bf16", "fp16")
"""What `train` takes."""

START, LARGEST, GROW_AFTER = 2.0**16, 2.0**24, 200
"""Of a loss scale that adapts: the first that is tried, the largest, and after how many good steps it is doubled."""


class RoundedOps:
    """A backend whose layer operations round what goes in and what comes out; losses and all else are as they were.

    Parameters
    ----------
    ops : module
    name : str
        A name of `FORMATS`, else ValueError.

    Source: Micikevicius et al. (2018), 3.
    """

    def __init__(self, ops, name):
        require_choice("precision", name, tuple(FORMATS))
        self.ops, self.format = ops, name

    def __getattr__(self, name):
        value = getattr(self.ops, name)
        stem, _, way = name.rpartition("_")
        if way in ("forward", "backward") and stem not in self.ops.LOSSES:
            value = self._rounded(value)
            setattr(self, name, value)  # found at once next time
        return value

    def _rounded(self, operation):
        def rounded(*arguments, **options):
            arguments = [self._round(a, ()) for a in arguments]
            result = operation(*arguments, **options)
            # What is kept for the way back is rounded, too; what went in is already.
            return self._round(result, arguments)

        return rounded

    def _round(self, value, known):
        if isinstance(value, tuple) and type(value) is tuple:
            return tuple(self._round(v, known) for v in value)
        is_array = hasattr(value, "dtype") and len(value.shape) > 0 and 0 not in value.shape
        if not is_array or np.dtype(value.dtype).kind != "f" or any(value is k for k in known):
            return value
        return self.ops.round_to(value, self.format)


@contextmanager
def rounded(net, precision):
    """Within `with nn.rounded(net, "bf16"):` the layers of a network compute in a format; its weights stay as they are.

    Parameters
    ----------
    net : Sequential
        Its parameters must be float32.
    precision : str
        A name of `course_lib.reference.formats.FORMATS`, such as "bf16", "fp16", "e4m3"; "float32" changes nothing.

    Raises
    ------
    ValueError
        If there is no such format, or the network computes in float64.

    Source: Micikevicius et al. (2018), 3.1.
    """
    require_choice("precision", precision, tuple(FORMATS))
    if precision == "float32":
        yield net
        return
    for name, parameter in net.parameters().items():
        if parameter.dtype != np.float32:
            raise ValueError(
                f"{name} is {parameter.dtype}; precision={precision!r} keeps its master weights in float32. Build the "
                "layers with dtype=np.float32."
            )
    ops = RoundedOps(net.ops, precision)
    before = [layer.ops for layer in net]
    for layer in net:
        layer.ops = ops
    try:
        yield net
    finally:
        for layer, was in zip(net, before, strict=True):
            layer.ops = was


class LossScale:
    """What the loss is multiplied by: a number that stays, or one that finds itself.

    The second kind is halved when a gradient overflows, and doubled after `grow_after` steps without; between 1 and
    2^24.

    Parameters
    ----------
    scale : float > 0, or "auto"
    start : float from 1 to 2^24
        What "auto" tries first.
    grow_after : int >= 1

    Attributes
    ----------
    value : float
    skipped : int
        Steps that were left out.

    Raises
    ------
    TypeError, ValueError
        If scale is neither, or start or grow_after out of range.

    Source: Micikevicius et al. (2018), 3.2; NVIDIA, "Train With Mixed Precision", "Choosing a Scaling Factor".
    """

    def __init__(self, scale="auto", *, start=START, grow_after=GROW_AFTER):
        self.adapts = isinstance(scale, str) and scale == "auto"
        if isinstance(scale, str) and not self.adapts:
            raise ValueError(f'loss_scale is {scale!r}; it must be a number above 0, or "auto".')
        if not 1 <= require_positive("start", start) <= LARGEST:
            raise ValueError(f"start is {start:g}; a loss scale that adapts lies between 1 and {LARGEST:,.0f}.")
        self.value = float(start) if self.adapts else require_positive("loss_scale", scale)
        self.grow_after = require_count("grow_after", grow_after)
        self.skipped, self._good = 0, 0

    def update(self, finite):
        """Take notice of a step whose gradients were all finite, or not."""
        self._good = self._good + 1 if finite else 0
        self.skipped += not finite
        if not self.adapts:
            return
        if not finite:
            self.value = max(self.value / 2, 1.0)
        elif self._good == self.grow_after:
            self.value, self._good = min(self.value * 2, LARGEST), 0


class Precision:
    """The format that a network is trained in, and its loss scale: what `train` asks in every step.

    Parameters
    ----------
    net : Sequential
    name : str
        "float32", "bf16" or "fp16".
    loss_scale : float > 0, "auto", LossScale, or None
        None is "auto" for "fp16", and 1 else.

    Raises
    ------
    TypeError, ValueError
        If they are not of that kind, or float32 is given a loss scale other than 1.

    Source: Micikevicius et al. (2018).
    """

    def __init__(self, net, name="float32", loss_scale=None):
        require_choice("precision", name, TRAINED)
        self.net, self.name = net, name
        if loss_scale is None:
            loss_scale = "auto" if name == "fp16" else 1.0
        self.scale = loss_scale if isinstance(loss_scale, LossScale) else LossScale(loss_scale)
        if name == "float32" and self.scale.value != 1:
            raise ValueError(f"loss_scale is {loss_scale!r}; precision='float32' loses nothing: leave the scale out.")
        with rounded(net, name):  # a network of float64 is refused before the first step
            pass

    def rounding(self):
        """Return the context in which the network computes in the format."""
        return nullcontext() if self.name == "float32" else rounded(self.net, self.name)

    def backward(self, dout, back=None):
        """Go back from dE/d output, with the scale; leave gradients without it. Return whether a step may follow.

        `back` is what goes back through the network, its own `backward_parameters` unless given.
        """
        net, ops, scale = self.net, self.net.ops, self.scale.value
        back = back or net.backward_parameters
        if self.name == "float32":
            back(dout)
            return True
        if scale != 1:
            dout = ops.copy_of(dout)
            ops.scale_by(dout, scale)
        with self.rounding(), np.errstate(over="ignore", invalid="ignore"):
            back(dout)
        gradients = list(net.gradients().values())
        finite = ops.all_finite(gradients)
        if finite and scale != 1:
            for gradient in gradients:
                ops.scale_by(gradient, 1 / scale)
        self.scale.update(finite)
        return finite
