"""How much of what a card could do: a player's speed as a share of the roofline.

Source: Williams, Waterman, Patterson, "Roofline" (2009); `simt.estimate`; for tensor cores NVIDIA's data sheets of the
A100 (156 TFLOPS) and of the H100 and H200 (989 with sparsity, so half of it), TF32; BF16 is twice as fast.
"""

from dataclasses import dataclass

from course_lib.bench.gpu.work import BF16, TF32
from course_lib.simt.estimate.devices import DEVICES
from course_lib.simt.estimate.roofline import roofline

TENSOR_PEAK = {"A100": 156e12, "H100": 494.5e12, "H200": 494.5e12}
"""FLOP/s with TF32 operands."""

FASTER = {TF32: 1, BF16: 2}
"""Kind of operands -> times that speed."""


@dataclass(frozen=True)
class Roof:
    """The lines over a card's speeds: peaks of float32 and TF32 in FLOP/s (None if unknown), bandwidth in bytes/s.

    Source: Williams, Waterman, Patterson, "Roofline" (2009).
    """

    name: str
    peak: float
    tensor_peak: float | None
    bandwidth: float

    def seconds(self, flops, moved, kind="float32"):
        """Return the least seconds for so many operations and bytes; None on tensor cores that are not in the table."""
        peak = self.peak if kind not in FASTER else self.tensor_peak and FASTER[kind] * self.tensor_peak
        return None if peak is None else max(flops / peak, moved / self.bandwidth)


def roof_of(gpu):
    """Return the `Roof` of a card by its driver's name, such as "NVIDIA H200"; None if the table lacks it.

    No errors. Source: `simt.estimate.devices`.
    """
    name = next((n for n in sorted(DEVICES, key=len, reverse=True) if n in gpu), None)
    if name is None:
        return None
    line = roofline(name)
    return Roof(name, line.peak, TENSOR_PEAK.get(name), line.bandwidth)
