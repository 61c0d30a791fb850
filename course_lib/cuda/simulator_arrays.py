"""Shared arrays on Numba's simulator as a card has them: aligned if a kernel asks for it, and several on one line.

The simulator finds an array again by the line that asked for it, so that two on one line are one, and takes no
alignment. Here the place is the instruction. Source: Numba's documentation, "CUDA simulator".
"""

import sys

import numpy as np
from numba.core import types
from numba.cuda.simulator import kernelapi
from numba.np.numpy_support import as_dtype


class SharedArrays(kernelapi.FakeCUDAShared):
    """What `cuda.shared` is within a kernel. Source: Numba's documentation, "CUDA simulator"."""

    def array(self, shape, dtype, alignment=None):
        """Return the array that all threads of the block get at this place; NumPy aligns all to 16 bytes."""
        if shape == 0:  # dynamic shared memory
            return super().array(shape, dtype)
        caller = sys._getframe(1)
        place = caller.f_code, caller.f_lasti
        if place not in self._allocations:
            new = np.empty(shape, as_dtype(dtype) if isinstance(dtype, types.Type) else dtype)
            self._allocations.setdefault(place, new)  # at once: another thread may be here too
        return self._allocations[place]


def install():
    """Let kernels have them from now on. No errors. Source: the course's own."""
    kernelapi.FakeCUDAShared = SharedArrays
