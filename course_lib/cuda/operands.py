"""What a launcher asks of an array before a kernel gets it: on the device, float32, row by row without gaps.

Source: the course's own. A kernel that was compiled for such arrays reads anything else as garbage, without a word; so
every launcher checks first, and copies nothing on its own.
"""

import numpy as np

from course_lib.cuda.array_checks import OTHERS
from course_lib.cuda.device import executor

LEAST_ALIGNMENT = 16
"""Bytes: the widest access needs an address that is a multiple of this."""


def operand(name, array, *, shape=None, ndim=None, dtype=np.float32, empty=False):
    """Return a device array that a kernel can take as it is.

    Parameters
    ----------
    name : str
        What the launcher calls it.
    array : device array (...)
    shape : tuple of int or None, optional
        What its shape must be; None in it stands for any size.
    ndim : int or tuple of int, optional
        Allowed number of axes.
    dtype : numpy dtype or tuple of them
    empty : bool
        Whether it may have no elements.

    Raises
    ------
    TypeError
        If it is a host array, of another device, or of another dtype.
    ValueError
        If it has another shape, no elements, or is not C-contiguous.

    Source: the course's own.
    """
    device = executor()
    if not device.owns(array):
        raise TypeError(f"{name} {_not_there(name, array, device)}")
    array = device.as_array(array)
    allowed = dtype if isinstance(dtype, tuple) else (dtype,)
    if np.dtype(array.dtype) not in [np.dtype(d) for d in allowed]:
        wanted = " or ".join(np.dtype(d).name for d in allowed)
        raise TypeError(
            f"{name} has dtype {array.dtype}; kernels of this course compute in {wanted}. Convert on the host, "
            f"before the copy: gpu.to_device({name}.astype(np.{np.dtype(allowed[0]).name}))."
        )
    _check_shape(name, array, shape, ndim)
    if not empty and array.size == 0:
        raise ValueError(f"{name} has shape {tuple(array.shape)}: it is empty. Every size must be at least 1.")
    if not is_contiguous(array):
        raise ValueError(
            f"{name} has shape {tuple(array.shape)} and strides {tuple(array.strides)} bytes, not row by row without "
            f"gaps (a slice, a transpose, or Fortran order). Copy on the host: "
            f"gpu.to_device(np.ascontiguousarray({name}))."
        )
    return array


def _not_there(name, array, device):
    if isinstance(array, np.ndarray):
        return f"is a host array. Copy it to the device first, {name} = gpu.to_device({name}): nothing copies silently."
    kind = type(array).__name__
    if kind in OTHERS:
        return f"is a {kind}, an array of another device; this process runs on: {device.name}. Use gpu.to_device here."
    return f"is a {kind}; it must be a device array: gpu.to_device(...) or gpu.empty(...)."


def _check_shape(name, array, shape, ndim):
    found = tuple(array.shape)
    if ndim is not None and len(found) not in (ndim if isinstance(ndim, tuple) else (ndim,)):
        wanted = " or ".join(map(str, ndim if isinstance(ndim, tuple) else (ndim,)))
        raise ValueError(f"{name} has shape {found}, {len(found)} axes; it must have {wanted}.")
    if shape is not None:
        fits = len(shape) == len(found) and all(w is None or w == f for w, f in zip(shape, found, strict=True))
        if not fits:
            wanted = ", ".join("any" if w is None else str(w) for w in shape) + ("," if len(shape) == 1 else "")
            raise ValueError(f"{name} is {found}; its shape must be ({wanted}).")


def is_contiguous(array):
    """Return whether a device array (...) lies row by row without gaps. No errors. Source: NumPy, "C-contiguous"."""
    expected = np.dtype(array.dtype).itemsize
    for size, stride in zip(reversed(array.shape), reversed(array.strides), strict=True):
        if size > 1 and stride != expected:
            return array.size == 0
        expected *= size
    return True


def aligned(*arrays):
    """Return whether all device arrays (...) begin at a multiple of 16 bytes, as wide accesses need.

    No errors. Source: NVIDIA, "CUDA C++ Programming Guide", "Device Memory Accesses".
    """
    return all(executor().address(a) % LEAST_ALIGNMENT == 0 for a in arrays)
