"""What `course bench gpu` measures: one piece of work, who does it, and how far a result may lie from the exact one.

Source: the course's own; the bound of rounding is that of `checks.product_tolerance`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

READABLE, FLOAT32, THREE_TF32, TF32, FFT, BF16 = "readable", "float32", "3xTF32", "TF32", "FFT", "BF16"
"""Kinds of players: without single machine instructions (intrinsics), with them, on tensor cores with float32's
precision, and with TF32's; those that convolve by Fourier transforms, in float32; and those that take BF16 numbers."""

UNIT = 2.0**-24
"""Half the distance of 1 to the next float32."""

OPERANDS_OFF = 2 * 2.0**-11
"""A TF32 number keeps 10 bits behind the point: a product of two of them is off by up to so much of its size."""


@dataclass(frozen=True)
class Player:
    """Somebody who does the work.

    Attributes
    ----------
    calls : tuple of function
        Without arguments; each enqueues the work once and returns its outputs. Several, on different arrays, where
        work is bound by memory: nothing is then found in a cache.
    kind : str
        "readable", "float32", "3xTF32", "TF32", "FFT" or "BF16"; for a rival the precision.

    Source: the course's own.
    """

    calls: tuple[Callable, ...]
    kind: str = FLOAT32


@dataclass(frozen=True)
class Work:
    """A piece of work on arrays that lie on the device.

    Attributes
    ----------
    flops, bytes : float
        Operations, and the bytes that must at least be moved: each operand once.
    terms : int
        How many products or numbers a result is the sum of; 0 for work that does not round, which must be exact.
    exact : function
        exact(sizes=False) -> tuple of float64 arrays, one for each output; with sizes=True of the operands' sizes.
    ours : dict of str to function
        {rung or operation: function that makes its `Player`}: one that cannot be made does not stop the others.
    rivals : dict of str to Player or function
        {name: its Player, or a function that makes it}: ValueError where it is not for these sizes.
    rival : dict of str to str or tuple of str
        {kind: the rival that ours of this kind are compared with, or several: the fastest}; empty where there is none.

    Source: the course's own.
    """

    flops: float
    bytes: float
    terms: int
    exact: Callable
    ours: dict[str, Callable]
    rivals: dict[str, Player | Callable] = field(default_factory=dict)
    rival: dict[str, str | tuple[str, ...]] = field(default_factory=dict)

    @property
    def makers(self):
        """Return {name: function that makes its `Player`} of ours and then of the rivals. No errors."""
        return self.ours | {n: p if callable(p) else lambda p=p: p for n, p in self.rivals.items()}


@dataclass(frozen=True)
class Error:
    """How far a result lies from the exact one: `relative` to its largest number, and as a share of what is allowed.

    Source: the course's own.
    """

    relative: float
    share: float

    @property
    def fits(self):
        """Whether the result is right; NaN is not."""
        return self.share <= 1


EVEN_ERRORS = {FLOAT32: 1e-5, TF32: 5e-3, BF16: 5e-3}
"""What the result of a rival, or of ours by Fourier transforms, may differ by, as a share of the largest number. Errors
of transforms are as large where sums are small as elsewhere, which is not wrong; cuDNN takes them where they pay. A
rival's result of BF16 numbers is rounded to BF16."""


def evenly_right(relative, kind):
    """Return whether an error, as a share of the largest number, is small enough. No errors."""
    return relative <= EVEN_ERRORS.get(kind, EVEN_ERRORS[FLOAT32])


def allowed(terms, kind):
    """Return what a result may differ by, as a share of the sum of its terms' sizes.

    4 sqrt(terms) 2^-24, as in `checks.product_tolerance`, and for TF32 what its operands lose; operands in BF16 are
    what they are. No errors.

    Source: the course's own.
    """
    return 4 * math.sqrt(terms) * UNIT + (OPERANDS_OFF if kind == TF32 else 0)


def judge(outputs, exact, sizes, terms, kind, backend):
    """Return the `Error` of a result, the largest of its arrays'.

    Parameters
    ----------
    outputs : tuple of device arrays (...)
    exact, sizes : tuple of arrays (...) of `backend`, float64
        What `Work.exact` returns.
    terms : int
    kind : str
        The player's.
    backend : module
        `with_torch` or `with_numpy`; its `distance` compares on the device or on the host.

    No errors but ValueError if there are more outputs than exact ones. Source: the course's own.
    """
    relative, shares = [0.0], [0.0]
    for found, wanted, size in zip(outputs, exact, sizes, strict=True):
        far, largest, worst = backend.distance(found, wanted, size)
        relative.append(far / largest if largest else far)
        shares.append(worst / allowed(terms, kind) if terms else (0.0 if far == 0 else math.inf))
    return Error(*(math.nan if any(map(math.isnan, v)) else max(v) for v in (relative, shares)))
