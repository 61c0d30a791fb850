"""Memory of the device: `cuda.to_device`, `cuda.device_array` and what else makes or pins arrays.

Every function has Numba's name, parameters and results. Source: Numba's documentation, "Memory management".
"""

import contextlib

import numpy as np
from numba.cuda.api import _contiguous_strides_like_array as strides_like
from numba.cuda.api import _order_like_array as order_like
from numba.cuda.api_util import prepare_shape_strides_dtype
from numba.cuda.cudadrv import devicearray as numbas

from course_lib.cuda.host.arrays import DeviceNDArray
from course_lib.cuda.host.refused import NeedsGPU
from course_lib.simt.arrays import DeviceArray


class MappedNDArray(np.ndarray):
    """A host array in memory that the device shares: kernels use it in place. Source: Numba's class of this name."""

    stream = 0

    def copy_to_host(self, ary=None, stream=0):
        """Return a copy, or fill `ary`; errors as `DeviceNDArray.copy_to_host`."""
        return DeviceNDArray.like(np.asarray(self)).copy_to_host(ary, stream)

    def copy_to_device(self, ary, stream=0):
        """Overwrite all numbers; errors as `DeviceNDArray.copy_to_device`."""
        DeviceNDArray.like(np.asarray(self)).copy_to_device(ary, stream)


class ManagedNDArray(MappedNDArray):
    """A host array in managed memory, which the device shares. Source: Numba's of this name."""


def to_device(obj, stream=0, copy=True, to=None):
    """Copy an array, or what NumPy makes an array of, to the device; into the array `to` if it is given.

    Raises
    ------
    ValueError
        If the array has gaps.

    Source: Numba's documentation, "Memory management".
    """
    if to is not None:
        if copy:
            to.copy_to_device(obj, stream=stream)
        return to
    if is_device_array(obj):
        return obj
    host = np.array(obj, copy=None, subok=True)
    numbas.sentry_contiguous(host)
    return copy_of(host, stream) if copy else empty_like(host, stream)


def copy_of(host, stream=0):
    """Return a device array with the numbers and the order of a contiguous host array. No errors."""
    made = DeviceArray.copy_of(host)
    return DeviceNDArray(made.numbers, made.written, made.allocation, stream)


def empty_like(host, stream=0):
    """Return a device array that nobody wrote yet, with the order of a contiguous host array. No errors."""
    return device_array(host.shape, host.dtype, host.strides, stream=stream)


def is_device_array(obj):
    """Return whether an object is an array of this device. No errors. Source: the course's own."""
    return isinstance(obj, DeviceArray | MappedNDArray)


def device_array(shape, dtype=np.float64, strides=None, order="C", stream=0):
    """Return a device array with whatever is in that memory: a kernel that reads it is told. Errors as Numba's."""
    shape, strides, dtype = _prepared(shape, dtype, strides, order)
    if 0 in shape or strides == prepare_shape_strides_dtype(shape, None, dtype, "C")[1]:
        made = DeviceArray.empty(shape, dtype)
        return DeviceNDArray(made.numbers, made.written, made.allocation, stream)
    count = 1 + sum((n - 1) * abs(s) // dtype.itemsize for n, s in zip(shape, strides, strict=True))
    flat = DeviceArray.empty((count,), dtype)
    steps = [s // dtype.itemsize for s in strides]
    return DeviceNDArray(
        _strided(flat.numbers, shape, steps), _strided(flat.written, shape, steps), flat.numbers, stream
    )


def _prepared(shape, dtype, strides, order):
    shape = int(shape) if isinstance(shape, np.integer) else shape
    shape = shape if isinstance(shape, int) else tuple(int(n) for n in shape)
    return prepare_shape_strides_dtype(shape, strides, np.dtype(dtype), order)


def _strided(flat, shape, steps):
    return np.ndarray(shape, flat.dtype, buffer=flat, strides=[s * flat.itemsize for s in steps])


def device_array_like(ary, stream=0):
    """Return a `device_array` with the shape, dtype and order of another array. No errors."""
    return _like(device_array, ary, stream=stream)


def _like(make, ary, **options):
    of = ary.numbers if isinstance(ary, DeviceArray) else ary
    return make(of.shape, of.dtype, strides_like(of), order=order_like(of), **options)


def _host(shape, dtype, strides, order):
    shape, strides, dtype = _prepared(shape, dtype, strides, order)
    ends = sum((n - 1) * s for n, s in zip(np.atleast_1d(shape).tolist() if shape != () else (), strides, strict=True))
    return np.ndarray(shape, dtype, buffer=np.empty(max(0, ends + dtype.itemsize), np.byte), strides=strides)


def pinned_array(shape, dtype=np.float64, strides=None, order="C"):
    """Return a host array, which without a GPU needs no pinning. Errors as Numba's."""
    return _host(shape, dtype, strides, order)


def pinned_array_like(ary):
    """Return a `pinned_array` with the shape, dtype and order of another array. No errors."""
    return _like(pinned_array, ary)


def mapped_array(shape, dtype=np.float64, strides=None, order="C", stream=0, portable=False, wc=False):
    """Return a host array that kernels use in place. Errors as Numba's."""
    return _host(shape, dtype, strides, order).view(MappedNDArray)


def mapped_array_like(ary, stream=0, portable=False, wc=False):
    """Return a `mapped_array` with the shape, dtype and order of another array. No errors."""
    return _like(mapped_array, ary, stream=stream, portable=portable, wc=wc)


def managed_array(shape, dtype=np.float64, strides=None, order="C", stream=0, attach_global=True):
    """Return a host array that kernels use in place. Errors as Numba's."""
    return _host(shape, dtype, strides, order).view(ManagedNDArray)


@contextlib.contextmanager
def pinned(*arylist):
    """Pin host arrays within a `with` block: nothing to do here. No errors."""
    yield


@contextlib.contextmanager
def mapped(*arylist, **kws):
    """Give device arrays that are the host arrays themselves, one alone or a list. No errors."""
    arrays = [DeviceNDArray.like(np.asarray(ary), stream=kws.get("stream", 0)) for ary in arylist]
    yield arrays[0] if len(arrays) == 1 else arrays


def is_cuda_array(obj):
    """Return whether an object is an array in a device's memory. No errors."""
    return is_device_array(obj) or hasattr(obj, "__cuda_array_interface__")


def as_cuda_array(obj, sync=True):
    """Return a device array with the memory of another one; TypeError for what is none, NeedsGPU for a GPU's."""
    if isinstance(obj, DeviceArray):
        return DeviceNDArray(obj.numbers, obj.written, obj.allocation)
    if isinstance(obj, MappedNDArray):
        return DeviceNDArray.like(np.asarray(obj))
    if not is_cuda_array(obj):
        raise TypeError("*obj* doesn't implement the cuda array interface.")
    raise NeedsGPU(f"a {type(obj).__name__} lies in a GPU's memory")


def _auto_device(ary, stream=0, copy=True):
    return (ary, False) if is_device_array(ary) else (to_device(ary, stream, copy), True)
