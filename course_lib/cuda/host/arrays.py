"""An array on the device as Numba's `cuda.to_device` gives it: its slices are views, its elements can be asked for.

Unlike `gpu.to_device`, which refuses what copies without a word, this does what Numba does: an element comes to the
host by itself, and NumPy gets a copy. Source: Numba's documentation, "Memory management".
"""

import numpy as np
from numba.cuda.cudadrv import devicearray as numbas

from course_lib.cuda.host.refused import NeedsGPU
from course_lib.simt.arrays import KINDS, DeviceArray


class DeviceNDArray(DeviceArray, numbas.DeviceNDArray):
    """Numbers in the memory of a device that is not there, with the methods of Numba's class of this name.

    `numbers`, `written` and `allocation` are those of a `DeviceArray`; `stream` is the default stream of its copies.
    Source: Numba's documentation, "Memory management".
    """

    def __init__(self, numbers, written=None, allocation=None, stream=0):
        super().__init__(numbers, written, allocation)
        self.stream = stream

    @classmethod
    def like(cls, host, written=None, stream=0):
        """Return an array with the memory of a host array, or of marks as well. No copy, no errors."""
        return cls(host, written, None, stream)

    def viewed(self, view, stream=0):
        """Return the part or the other shape that `view(ndarray)` makes, of the numbers and of the marks."""
        written = None if self.written is None else view(self.written)
        return type(self)(view(self.numbers), written, self.allocation, stream or self.stream)

    # ------------------------------------------------------------------------------------------- what it is

    @property
    def flags(self):
        """Which order the elements lie in, as Numba's: {"C_CONTIGUOUS": ..., "F_CONTIGUOUS": ...}."""
        return {name: bool(self.numbers.flags[name]) for name in ("C_CONTIGUOUS", "F_CONTIGUOUS")}

    @property
    def alloc_size(self):
        """Bytes of the array."""
        return self.numbers.nbytes

    @property
    def gpu_data(self):
        """What holds the memory: the array itself."""
        return self

    def is_c_contiguous(self):
        """Return whether the array lies row by row. No errors."""
        return self.flags["C_CONTIGUOUS"]

    def is_f_contiguous(self):
        """Return whether the array lies column by column. No errors."""
        return self.flags["F_CONTIGUOUS"]

    @property
    def __cuda_array_interface__(self):
        raise AttributeError("an array of the SIMT executor has no address on a GPU that another library could use.")

    @property
    def device_ctypes_pointer(self):
        """A GPU's address, which raises NeedsGPU here."""
        raise NeedsGPU("a device array of the SIMT executor has no address on a GPU")

    def as_cuda_arg(self):
        """Raise NeedsGPU: it would give a GPU's address."""
        return self.device_ctypes_pointer

    def get_ipc_handle(self):
        """Raise NeedsGPU: another process has no access."""
        raise NeedsGPU("a device array of the SIMT executor cannot be shared with another process")

    def bind(self, stream=0):
        """Return the same array with another default stream. No errors."""
        return type(self)(self.numbers, self.written, self.allocation, stream)

    # ------------------------------------------------------------------------------------------- copies

    def copy_to_device(self, ary, stream=0):
        """Overwrite all numbers by those of a host or device array of the same shape and dtype.

        Raises
        ------
        TypeError, ValueError
            As Numba: if dtype, shape or order differ, or one has gaps.
        """
        source = ary.numbers if isinstance(ary, DeviceArray) else ary
        if source.size == 0:
            return
        numbas.sentry_contiguous(self.numbers)
        if source is not ary:
            numbas.sentry_contiguous(source)
        own, core = numbas.array_core(self.numbers), numbas.array_core(source)
        if source is ary:
            core = np.array(core, order="C" if own.flags.c_contiguous else "F", subok=True, copy=None)
        numbas.check_array_compatibility(own, core)
        np.copyto(own.squeeze(), core.squeeze())
        if self.written is not None:
            self.written[...] = True

    def copy_to_host(self, ary=None, stream=0):
        """Return a copy (...) on the host in the same order, or fill the host array `ary`.

        Raises
        ------
        TypeError, ValueError
            As Numba: if dtype, shape or order differ.
        NotImplementedError
            If the array is reversed along an axis.
        """
        if any(s < 0 for s in self.strides):
            raise NotImplementedError(f"D->H copy not implemented for negative strides: {self.strides}")
        if ary is None:
            return self.numbers.copy(order="K")
        numbas.check_array_compatibility(self.numbers, ary)
        np.copyto(ary.reshape(self.shape), self.numbers)
        return ary

    def __array__(self, dtype=None, copy=None):
        return self.copy_to_host() if dtype is None else self.copy_to_host().astype(dtype)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        host = [x.copy_to_host() if isinstance(x, DeviceNDArray) else x for x in inputs]
        return getattr(ufunc, method)(*host, **options)

    # ------------------------------------------------------------------------------------------- views

    def reshape(self, *newshape, **kws):
        """Return a view of another shape, as Numba: the numbers as they lie, in the new one's order "C", "F" or "A".

        Raises
        ------
        NotImplementedError
            If the array has gaps.
        ValueError
            If it has another number of elements.
        """
        shape = newshape[0] if len(newshape) == 1 and isinstance(newshape[0], tuple | list) else newshape
        order = kws.pop("order", "C")
        if kws:
            raise TypeError(f"unknown keyword arguments {list(kws)}")
        if tuple(shape) == self.shape:
            return self.viewed(lambda a: a)
        if not (self.is_c_contiguous() or self.is_f_contiguous()):
            raise NotImplementedError("operation requires copying")
        order = "F" if order == "A" and self.is_f_contiguous() else "C" if order == "A" else order
        return self.viewed(lambda a: _as_it_lies(a).reshape(shape, order=order))

    def ravel(self, order="C", stream=0):
        """Return a view with one axis; NotImplementedError if the array does not lie in this order without gaps."""
        fits = (order in "CA" and self.is_c_contiguous()) or (order in "FA" and self.is_f_contiguous())
        if not fits:
            raise NotImplementedError("ravel on non-contiguous array")
        return self.viewed(_as_it_lies, stream)

    def squeeze(self, axis=None, stream=0):
        """Return a view without axes of size one; ValueError for an axis of another size."""
        return self.viewed(lambda a: a.squeeze(axis), stream)

    def view(self, dtype):
        """Return the same bytes as another dtype; ValueError if they do not fit."""
        dtype = np.dtype(dtype)
        if dtype.itemsize != self.dtype.itemsize and not self.is_c_contiguous():
            raise ValueError("To change to a dtype of a different size, the array must be C-contiguous")
        same = dtype.itemsize == self.dtype.itemsize
        return type(self)(self.numbers.view(dtype), self.written if same else None, self.allocation, self.stream)

    @property
    def T(self):
        """The transposed array, a copy on the device."""
        return self.transpose()

    def transpose(self, axes=None):
        """Return a transposed copy of an array with two axes; NotImplementedError for another one."""
        if axes and tuple(axes) == tuple(range(self.ndim)):
            return self
        if self.ndim != 2:
            raise NotImplementedError("transposing a non-2D DeviceNDArray isn't supported")
        if axes is not None and set(axes) != set(range(self.ndim)):
            raise ValueError(f"invalid axes list {axes!r}")
        written = None if self.written is None else np.ascontiguousarray(self.written.T)
        return type(self)(np.array(self.numbers.T, order="C"), written, None, self.stream)

    def split(self, section, stream=0):
        """Yield views of `section` elements each, the last one shorter; ValueError if it is no run of numbers."""
        if self.ndim != 1:
            raise ValueError("only support 1d array")
        if self.strides[0] != self.dtype.itemsize:
            raise ValueError("only support unit stride")
        for begin in range(0, self.size, section):
            yield self.viewed(lambda a, begin=begin: a[begin : begin + section], stream)

    # ------------------------------------------------------------------------------------------- elements

    def __getitem__(self, item):
        return self.getitem(item)

    def getitem(self, item, stream=0):
        """Return an element on the host, or a part that is a view; IndexError, TypeError for what is no index."""
        self._check_index(item)
        found = self.numbers[item]
        if not isinstance(found, np.ndarray):
            return found
        return found[()] if found.ndim == 0 else self.viewed(lambda a: a[item], stream)

    def __setitem__(self, key, value):
        self.setitem(key, value)

    def setitem(self, key, value, stream=0):
        """Write a number, or an array that is broadcast, into a part; ValueError if the shapes do not fit."""
        self._check_index(key)
        place = self.numbers[key]
        shape = place.shape if isinstance(place, np.ndarray) else ()
        given = value.numbers if isinstance(value, DeviceArray) else np.asarray(value)
        if given is not value and not isinstance(value, DeviceArray):
            numbas.sentry_contiguous(given)
        if given.ndim > len(shape):
            raise ValueError(f"Can't assign {given.ndim}-D array to {len(shape)}-D self")
        given = given.reshape((1,) * (len(shape) - given.ndim) + given.shape)
        for axis, (here, there) in enumerate(zip(shape, given.shape, strict=True)):
            if there not in (1, here):
                raise ValueError(f"Can't copy sequence with size {there} to array axis {axis} with dimension {here}")
        with np.errstate(all="ignore"):
            self.numbers[key] = given.astype(self.dtype, copy=False)
        if self.written is not None:
            self.written[key] = True

    def _check_index(self, index):
        parts = index if isinstance(index, tuple) else (index,)
        if len(parts) > self.ndim:
            raise IndexError(f"a device array of {self.ndim} axes was given {len(parts)} indices.")
        for part in parts:
            whole = isinstance(part, int | np.integer) and not isinstance(part, bool)
            if not whole and not isinstance(part, slice):
                raise TypeError(f"a device array is indexed by whole numbers and slices, as in Numba, not by {part!r}.")

    def __repr__(self):
        return f"<device array {self.shape} of {self.dtype}, on the SIMT executor>"


KINDS.append(DeviceNDArray)  # the executor knows arrays by their exact class


def _as_it_lies(array):
    """Return the elements of an array without gaps as one axis, in the order of the memory."""
    return (array if array.flags.c_contiguous else array.T).reshape(-1)
