"""What a network asks of its arrays, on the device: `course_lib.reference.arrays`' names.

Source: the course's own. `to_backend` and `to_host` are the border; the others are launches and copy nothing across it,
except that `assign` takes host arrays too, and then copies them to the device first.
"""

import numpy as np

from course_lib.cuda.device import empty, executor, to_device
from course_lib.cuda.device import to_host as copy_to_host
from course_lib.cuda.elementwise import apply, flat, like
from course_lib.cuda.jit import jit
from course_lib.cuda.numba_cuda import cuda, float32
from course_lib.cuda.operands import operand
from course_lib.validate import require_same_shape

THREADS = 256
"""Threads of a block."""


def to_backend(host):
    """Copy a host array (...) to the device; a device array comes back as it is.

    Raises
    ------
    TypeError
        If it is neither, or not of float32, int32 or int64: numbers are not converted silently.

    Source: the course's own.
    """
    if executor().owns(host):
        return host
    if isinstance(host, np.ndarray) and host.dtype not in (np.float32, np.int32, np.int64):
        raise TypeError(
            f"the array has dtype {host.dtype}; course_lib.cuda computes in float32, with labels of int32 or int64. "
            "Convert on the host: x.astype(np.float32); build layers with dtype=np.float32."
        )
    if isinstance(host, np.ndarray):
        host = host.reshape(-1).reshape(host.shape)  # row by row, axes of length 1 too, whose stride may be anything
    return to_device(host)


def to_host(array):
    """Copy a device array (...) to the host, when all that was launched before is done.

    Raises TypeError if it is no device array. Source: the course's own.
    """
    return copy_to_host(array)


def zeros(shape):
    """Return a float32 device array (...) of zeros; errors as `empty`, TypeError or ValueError.

    Source: the course's own.
    """
    array = empty(shape, np.float32)
    fill_zero(array)
    return array


def zeros_like(array):
    """Return float32 zeros of the shape of a device array (...), else TypeError. Source: the course's own."""
    return zeros(tuple(operand("array", array).shape))


def copy_of(array):
    """Return a copy of a device array (...) on the device, of any dtype; TypeError if it is none.

    Source: the course's own.
    """
    array = operand("array", array, dtype=getattr(array, "dtype", np.float32), empty=True)
    new = empty(tuple(array.shape), array.dtype)
    _launch(_copy, array, new)
    return new


def fill_zero(array):
    """Set every number of a float32 device array (...) to zero, in place; else TypeError. Source: the course's own."""
    _launch(_zero, operand("array", array, empty=True))


def assign(array, values):
    """Overwrite a float32 device array (...) in place by `values` of the same shape, on the host or the device.

    Raises TypeError or ValueError if dtype or shape do not fit. Source: the course's own.
    """
    array, values = operand("array", array), operand("values", to_backend(values))
    require_same_shape("array", array, "values", values)
    if values is not array:
        _launch(_copy, values, array)


def accumulate(total, part):
    """Add `part` to `total` in place; float32 device arrays (...) of one shape, else TypeError or ValueError.

    Source: K, "Chain Rule" (where paths meet, gradients are added).
    """
    total, part = _two("total", total, "part", part)
    apply(_sum, total, total, part)


def keep_where(mask, a):
    """Return a where the mask is not 0, else 0, also for NaN and infinity.

    Both are float32 device arrays (...) of one shape, else TypeError or ValueError. Source: the course's own.
    """
    mask, a = _two("mask", mask, "a", a)
    out = like(a)
    apply(_kept, out, mask, a)
    return out


def _two(name_a, a, name_b, b):
    a, b = operand(name_a, a), operand(name_b, b)
    require_same_shape(name_a, a, name_b, b)
    return a, b


def _launch(kernel, *arrays):
    if arrays[0].size:
        kernel[-(-arrays[0].size // THREADS), THREADS](*map(flat, arrays))


@jit(device=True)
def _sum(a, b, number):
    return a + b


@jit(device=True)
def _kept(mask, a, number):
    return a if mask != float32(0) else float32(0)


@jit(cache=True)
def _zero(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = float32(0)


@jit(cache=True)
def _copy(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i]
