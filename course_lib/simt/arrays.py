"""An array in device memory, for a machine without a GPU: numbers that only a kernel and an explicit copy can reach.

Source: Numba's documentation, "Memory management". It does what Numba's device array does and no more: it has a shape
and strides, its slices are views, and the host sees its numbers only after a copy. It also knows which elements were
ever written, so that the executor finds a kernel that reads the others.
"""

import math

import numpy as np

GARBAGE = 0xA5
"""Byte that fills new whole numbers: what they begin with looks like nothing that a kernel would write."""

NO_NUMBERS = "a device array has no numbers on the host. Copy it first: gpu.to_host(array)."
NO_ELEMENTS = "the host cannot {} single elements of a device array. Copy it first: gpu.to_host(array)."


class DeviceArray:
    """Numbers in the memory of a device that is not there.

    Parameters
    ----------
    numbers : ndarray (...)
        The array itself, or a strided view of an allocation.
    written : bool ndarray (...) or None
        Of the same shape, with the same strides in elements: which elements have a value. None: all of them.
    allocation : ndarray or None
        The whole allocation that `numbers` is a part of. None: `numbers` is all of it.

    No errors. Source: Numba's documentation, "Memory management".
    """

    def __init__(self, numbers, written=None, allocation=None):
        self.numbers, self.written = numbers, written
        self.allocation = numbers if allocation is None else allocation

    @classmethod
    def copy_of(cls, host):
        """Return a device array (...) with the numbers and the strides of a host array that is contiguous.

        Row-major (C) and column-major (Fortran) order are kept, and so are axes of stride 0, which stay one element.
        """
        if host.size == 0:
            return cls(np.empty_like(host, subok=False))
        core = host[tuple(0 if s == 0 else slice(None) for s in host.strides)]
        flat = np.array(core, order="K", subok=False).ravel(order="K")
        return cls(np.ndarray(host.shape, host.dtype, buffer=flat, strides=host.strides), None, flat)

    @classmethod
    def empty(cls, shape, dtype):
        """Return a device array of garbage that counts as never written: NaN, or whole numbers of odd bytes."""
        dtype = np.dtype(dtype)
        flat = np.empty(math.prod(shape), dtype)
        if dtype.kind in "fc":
            flat.fill(np.nan)
        elif dtype.kind == "b":
            flat.fill(True)
        elif dtype.names:  # a record counts as written, as a whole
            flat.view(np.uint8).fill(GARBAGE)
            return cls(flat.reshape(shape), None, flat)
        else:
            flat.view(np.uint8).fill(GARBAGE)
        return cls(flat.reshape(shape), np.zeros(shape, np.bool_), flat)

    @property
    def shape(self):
        """Sizes of the axes."""
        return self.numbers.shape

    @property
    def dtype(self):
        """dtype of the elements."""
        return self.numbers.dtype

    @property
    def strides(self):
        """Bytes from an element to the next one, for each axis."""
        return self.numbers.strides

    @property
    def ndim(self):
        """Number of axes."""
        return self.numbers.ndim

    @property
    def size(self):
        """Number of elements."""
        return self.numbers.size

    @property
    def nbytes(self):
        """Bytes of all elements."""
        return self.numbers.nbytes

    def copy_to_host(self, ary=None, stream=0):
        """Return a copy (...) on the host, or fill the host array `ary` of equal shape (Numba's name for to_host)."""
        if ary is None:
            return self.numbers.copy(order="K")
        np.copyto(ary, self.numbers, casting="equiv")
        return ary

    def fill_from(self, host):
        """Overwrite all numbers by those of a host array (...) of the same shape and dtype."""
        np.copyto(self.numbers, host, casting="equiv")
        if self.written is not None:
            self.written[...] = True

    def reshape(self, *shape):
        """Return a view of another shape (...) of as many elements.

        Raises
        ------
        NotImplementedError
            If the array is not contiguous: that would take a copy, as in Numba.
        """
        shape = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
        if not self.numbers.flags.c_contiguous:
            raise NotImplementedError(
                f"the array {self.shape} with strides {self.strides} bytes is not contiguous in row-major order; "
                "reshape makes a view, never a copy. Reshape on the host, before gpu.to_device."
            )
        written = None if self.written is None else self.written.reshape(shape)
        return DeviceArray(self.numbers.reshape(shape), written, self.allocation)

    def __getitem__(self, index):
        parts = index if isinstance(index, tuple) else (index,)
        whole = [isinstance(p, int | np.integer) and not isinstance(p, bool) for p in parts]
        if all(whole) and len(parts) == self.ndim:
            raise TypeError(NO_ELEMENTS.format("read"))
        if not all(w or isinstance(p, slice) for w, p in zip(whole, parts, strict=True)):
            raise TypeError(f"a device array is indexed by whole numbers and slices, not by {index!r}.")
        if any(isinstance(p, slice) and p.step is not None and p.step < 1 for p in parts):
            raise ValueError("a device array cannot be reversed: a slice's step must be >= 1, as in Numba.")
        written = None if self.written is None else self.written[index]
        return DeviceArray(self.numbers[index], written, self.allocation)

    def __setitem__(self, index, value):
        raise TypeError("the host cannot write into a device array. Write a kernel, or copy anew: gpu.to_device(...).")

    def __len__(self):
        if not self.ndim:
            raise TypeError("an array without axes has no length.")
        return self.shape[0]

    def __array__(self, dtype=None, copy=None):
        raise TypeError(NO_NUMBERS)

    def __array_ufunc__(self, *arguments, **options):
        raise TypeError(NO_NUMBERS)

    def __repr__(self):
        return f"<device array {self.shape} of {self.dtype}, on the SIMT executor>"


KINDS = [DeviceArray]
"""The classes of device arrays, exactly these; that of Numba's names enters itself (`course_lib.cuda.host.arrays`)."""


def is_device_array(value):
    """Return whether a value is a device array. No errors. Source: the course's own."""
    return any(type(value) is kind for kind in KINDS)


def empty(shape, dtype=np.float32):
    """Return a DeviceArray (...) that nobody has filled, for `simt.run` and `gpu.simulate` on any machine.

    `gpu.empty` gives an array of the GPU where there is one, and such an array does not remember who wrote what.

    Parameters
    ----------
    shape : int or tuple of int
    dtype : dtype

    No errors but NumPy's. Source: the course's own.
    """
    return DeviceArray.empty((shape,) if np.ndim(shape) == 0 else tuple(shape), dtype)
