"""The roofline of a device: which speed it allows a kernel, by how much the kernel computes with each byte it moves.

Source: Williams, Waterman, Patterson, "Roofline: an insightful visual performance model for multicore architectures"
(2009). Both lines are straight on logarithmic axes: bandwidth times intensity, and the peak.
"""

from dataclasses import dataclass

import numpy as np

from course_lib.simt.estimate.devices import Device, find_device

DTYPES = ("float32", "float64", "float16")


@dataclass(frozen=True)
class Roofline:
    """The two lines of a roofline plot: operations per second against operations per byte of memory traffic.

    `peak` is FLOP/s, `bandwidth` bytes/s.

    Source: Williams, Waterman, Patterson, "Roofline" (2009).
    """

    device: Device
    dtype: str
    peak: float
    bandwidth: float

    @property
    def ridge(self):
        """FLOP/byte from which on arithmetic is the limit, not memory."""
        return self.peak / self.bandwidth

    def attainable(self, intensity):
        """Return the FLOP/s that are possible at these intensities, FLOP/byte: a number or an array (...)."""
        return np.minimum(self.peak, np.asarray(intensity) * self.bandwidth)


def roofline(device, dtype="float32"):
    """Return the `Roofline` of a device for arithmetic in float32, float64 or float16, without tensor cores.

    Raises
    ------
    ValueError
        For an unknown device or dtype.

    Source: Williams, Waterman, Patterson, "Roofline" (2009); `devices`.
    """
    d = find_device(device)
    if dtype not in DTYPES:
        raise ValueError(f"dtype is {dtype!r}; it must be one of {', '.join(DTYPES)}.")
    return Roofline(d, dtype, getattr(d, f"{dtype}_peak"), d.bandwidth * 1e9)
