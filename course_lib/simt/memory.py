"""Memories and the arrays that live in them: global, shared, local and constant.

Source: NVIDIA, "CUDA C++ Programming Guide", "Memory Hierarchy". A memory is one flat run of numbers; an array is a
place in it with a shape and strides, as on a device. Shared memory exists once per block, local memory once per lane.
"""

import math

import numpy as np
from numpy.lib.array_utils import byte_bounds
from numpy.lib.stride_tricks import as_strided

from course_lib.fast.compile import kernel
from course_lib.simt.hazards import Shadow

ALIGNMENT = 256
"""Bytes. A device gives every allocation an address that is a multiple of this."""


class Memory:
    """A flat run of numbers with a name, a space and a base address in bytes.

    Source: NVIDIA, "CUDA C++ Programming Guide", "Memory Hierarchy".
    """

    def __init__(self, name, space, cells, base=0, writable=True, written=True):
        self.name, self.space, self.cells, self.base, self.writable = name, space, cells, base, writable
        self.shadow = Shadow(cells.size, written) if space in ("global", "shared") else None
        self.written = self.shadow.written if self.shadow else np.full(cells.size, written, np.bool_)

    @property
    def dtype(self):
        """The dtype of its numbers."""
        return self.cells.dtype


class View:
    """An array as a kernel sees it: a memory, an offset (a number, or one per lane), a shape, and strides in elements.

    Source: Numba's documentation, "Memory management" (arrays on a device have strides).
    """

    def __init__(self, memory, offset, shape, strides, name=None):
        self.memory, self.offset, self.shape, self.strides = memory, offset, tuple(shape), tuple(strides)
        self.name = name or memory.name

    @property
    def ndim(self):
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self):
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def dtype(self):
        """The dtype of its elements."""
        return self.memory.dtype


def global_view(array, name, base):
    """Return the View of a host array that plays an array in global memory: the same numbers, no copy.

    The memory reaches from the array's first byte to its last, so strided and reversed arrays work as on a device.

    Raises
    ------
    TypeError
        If the strides are not whole elements.
    """
    if any(s % array.itemsize for s in array.strides):
        raise TypeError(f"{name} has strides {array.strides} bytes; they must be multiples of {array.itemsize}.")
    low, high = byte_bounds(array) if array.size else (0, 0)
    start = array.__array_interface__["data"][0]
    count = (high - low) // array.itemsize
    corner = tuple(
        slice(-1, None) if s < 0 else slice(0, 1) for s in array.strides
    )  # the element with the lowest address
    lowest = array[(*corner, ...)] if array.size else array.reshape(-1)[:0]  # ...: a view also without axes
    cells = as_strided(lowest.reshape(-1), (count,), (array.itemsize,), writeable=array.flags.writeable)
    memory = Memory(name, "global", cells, base, writable=array.flags.writeable)
    return View(
        memory, np.int64((start - low) // array.itemsize), array.shape, [s // array.itemsize for s in array.strides]
    )


def block_view(name, shape, dtype, blocks, block, base):
    """Return the View of a shared array: one copy for each of `blocks` blocks, lane i in block[i]."""
    size = math.prod(shape)
    memory = Memory(name, "shared", np.zeros(blocks * size, dtype), base, written=False)
    return View(memory, block.astype(np.int64) * size, shape, _row_major(shape))


def lane_view(name, shape, dtype, lanes):
    """Return the View of a local array: one copy for each of `lanes` lanes."""
    size = math.prod(shape)
    memory = Memory(name, "local", np.zeros(lanes * size, dtype), written=False)
    return View(memory, np.arange(lanes, dtype=np.int64) * size, shape, _row_major(shape))


def _row_major(shape):
    strides = [1]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * size)
    return strides


@kernel
def step(offset, index, size, stride, inside):
    """Return (offset + index * stride per lane, first lane that is outside, first lane that is negative), else -1.

    A negative index counts from the end, as in Numba. Lanes that are outside become False in `inside` (L,).
    """
    out = np.empty(index.size, np.int64)
    outside = negative = -1
    for i in range(index.size):
        k = index[i]
        if k < 0:
            k += size
            if negative < 0:
                negative = i
        if k < 0 or k >= size:
            if outside < 0:
                outside = i
            inside[i] = False
        out[i] = offset[i] + k * stride
    return out, outside, negative
