"""Launches that keep what Numba finds out anew each time, and give the driver the rest.

Before a kernel starts, Numba asks each argument for its type, and makes an object of each number that the kernel gets
of it: seven for an array of one axis. With three arrays that takes 28 microseconds, on a host where the driver's own
call takes 6. For a device array these numbers never change: here they are written down once, beside the array.

Anything unusual (tuples, complex numbers, another library's arrays) goes Numba's way, and so does the first launch with
arguments of new types, which compiles. Source: NVIDIA, "CUDA Driver API", "cuLaunchKernel"; Numba's
documentation, "CUDA Kernel API".
"""

import ctypes
from array import array

import numpy as np
from numba.cuda.cudadrv.devicearray import DeviceNDArray

from course_lib.cuda.writes import written

NUMBERS = {
    "bool": ctypes.c_bool, "float32": ctypes.c_float, "float64": ctypes.c_double,
    **{f"{sign}int{bits}": getattr(ctypes, f"c_{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)},
}  # fmt: skip
"""How a kernel gets a number of each of Numba's types."""

SIMPLE = (bool, float, *(np.dtype(letter).type for letter in "?bhilqBHILQfd"))
"""Python's and NumPy's numbers whose Numba type hangs on their class alone."""

FITS = range(-(1 << 63), 1 << 63)
"""Whole numbers of Python that a kernel gets as int64."""


class ThinLaunch:
    """Launch a kernel with one configuration; called as `own` is, Numba's own launcher of the same configuration.

    Raises what Numba raises, and RuntimeError if the driver refuses a launch.
    Source: NVIDIA, "CUDA Driver API", "cuLaunchKernel".
    """

    def __init__(self, own, shared):
        from cuda.bindings import driver  # it comes with NVIDIA's package, which a machine without a card may lack

        self.own, self.dispatcher, self.launch = own, own.dispatcher, driver.cuLaunchKernel
        self.configuration = (*own.griddim, *own.blockdim, shared, driver.CUstream(int(own.stream.handle)))
        self.ready = {}

    def __call__(self, *arguments):
        described = _described(arguments)
        if described is None:
            return self.own(*arguments)
        key, addresses, numbers = described
        found = self.ready.get(key)
        if found is None:
            self.own(*arguments)
            if key not in self.ready:
                self.ready[key] = self._prepared(key, arguments)
            return None
        function, makers = found
        kept = _place(numbers, makers, addresses)
        (error,) = self.launch(function, *self.configuration, array("Q", addresses), 0)
        if error:
            raise RuntimeError(f"the driver refuses to launch {self.dispatcher.__name__}: {error.name}.")
        del kept  # the driver has copied them
        return None

    def _prepared(self, key, arguments):
        """Return (the driver's function, how its numbers are made); None if Numba does more than launch it."""
        types = tuple(map(self.dispatcher.typeof_pyval, arguments))
        compiled = self.dispatcher.overloads.get(types)
        if compiled is None or compiled.debug or compiled.cooperative or compiled.extensions:
            return None
        makers = [NUMBERS[str(t)] for t, k in zip(types, key, strict=True) if isinstance(k, type)]
        return driver_function(compiled), makers


class RecordedLaunch(ThinLaunch):
    """As ThinLaunch, but each call adds a launch to a recording, a `GraphNodes`. Errors as there.

    Source: NVIDIA, "CUDA Driver API", "Graph Management".
    """

    def __init__(self, own, shared, kernel, recording):
        super().__init__(own, shared)
        self.shared, self.kernel, self.recording = shared, kernel, recording

    def __call__(self, *arguments):
        own, described = self.own, _described(arguments)
        found = None if described is None else self._prepared(described[0], arguments)
        if found is None:
            place = own.griddim, own.blockdim
            self.recording.add_other(lambda stream: self.dispatcher[(*place, stream, self.shared)](*arguments))
            return
        _, addresses, numbers = described
        kept = _place(numbers, found[1], addresses)
        may_write = written(self.kernel)
        uses = [(*_reach(a), i in may_write) for i, a in enumerate(arguments) if type(a) is DeviceNDArray and a.size]
        self.recording.add_kernel(found[0], own.griddim, own.blockdim, self.shared, addresses, uses)
        del kept


def _described(arguments):
    """Return (what tells types apart, where the arguments lie, [(place among them, number)]); None for the unusual."""
    key, addresses, numbers = [], [], []
    for argument in arguments:
        kind = type(argument)
        if kind is DeviceNDArray:
            fields = _fields(argument)
            key.append(fields.kind)
            addresses += fields.addresses
        elif kind in SIMPLE or (kind is int and argument in FITS):
            key.append(kind)
            numbers.append((len(addresses), argument))
            addresses.append(0)
        else:
            return None
    return tuple(key), addresses, numbers


def _place(numbers, makers, addresses):
    """Fill in where the numbers lie; they lie there as long as what is returned lives."""
    kept = []
    for (place, value), make in zip(numbers, makers, strict=True):
        kept.append(make(value))
        addresses[place] = ctypes.addressof(kept[-1])
    return kept


def _reach(of):
    """Return (start, stop) of the bytes of device memory that an array's elements lie in."""
    start = of.device_ctypes_pointer.value
    steps = [(size - 1) * stride for size, stride in zip(of.shape, of.strides, strict=True)]
    return start + sum(s for s in steps if s < 0), start + sum(s for s in steps if s > 0) + of.dtype.itemsize


def driver_function(compiled):
    """Return the driver's handle of a compiled kernel; RuntimeError if the driver has none."""
    from cuda.bindings import driver

    handle = compiled._codelibrary.get_cufunc().handle
    if isinstance(handle, driver.CUkernel):
        error, handle = driver.cuKernelGetFunction(handle)
        if error:
            raise RuntimeError(f"the driver gives no function of the kernel: {error.name}.")
    return handle


class _Fields:
    """What a kernel gets of an array: two pointers that are none, sizes, address, shape, strides, each in 8 bytes."""

    __slots__ = ("addresses", "kind", "memory")

    def __init__(self, of):
        dtype, size, strides = of.dtype, of.size, of.strides
        values = (0, 0, size, dtype.itemsize, of.device_ctypes_pointer.value or 0, *of.shape, *strides)
        self.memory = (ctypes.c_int64 * len(values))(*values)
        if dtype.kind in "biuf" and of.is_c_contiguous() and not (size and 0 in strides):
            self.kind = dtype.num, len(strides)  # what tells such types apart; to ask Numba takes 40 microseconds
        else:
            self.kind = of._numba_type_._code  # the same number for equal types
        start = ctypes.addressof(self.memory)
        self.addresses = [start + 8 * k for k in range(len(values))]


def _fields(of):
    try:
        return of._course_fields
    except AttributeError:
        of._course_fields = _Fields(of)
        return of._course_fields
