"""Arrays and copies between host and device, asked of the driver at once where there is nothing to find out.

Numba makes three new views of the device array before each copy into it, to compare their strides with the host's. That
is Python for most of the 98 microseconds that asking took on an H200's host, where the driver's own call took 2, and
this way takes 9 (results/steps.h200.json, "asking for a copy"). Two arrays in row-major order with as many bytes need
no comparison. Anything else goes Numba's way.

Source: NVIDIA, "CUDA Driver API", "Memory Management" (cuMemcpyHtoDAsync, cuMemcpyDtoHAsync).
"""

import threading

from numba.cuda.cudadrv.devicearray import DeviceNDArray

from course_lib.cuda.numba_cuda import cuda


class ThinCopies:
    """Copy one run of memory into another; both methods return whether they did, or leave all as it is.

    RuntimeError if the driver refuses a copy. Source: NVIDIA, "CUDA Driver API", "Memory Management".
    """

    def __init__(self):
        from cuda.bindings import driver  # it comes with NVIDIA's package, which a machine without a card may lack

        self.driver, self.threads = driver, threading.local()

    def empty(self, shape, dtype, stream=0):
        """Return a device array in row-major order, with whatever is in that memory. Errors of Numba's."""
        self._attach()
        steps, step = [], dtype.itemsize
        for size in reversed(shape):
            steps.append(step)
            step *= size
        return DeviceNDArray(shape, tuple(reversed(steps)), dtype, stream=stream)

    def takes(self, array):
        """Return whether a device array is one run of memory in row-major order, and not empty. No errors."""
        return type(array) is DeviceNDArray and array.size > 0 and array.is_c_contiguous()

    def to_device(self, array, host, stream):
        """Copy a host array of the same shape and dtype into a device array, enqueued in a stream, or now (0)."""
        if not (self.takes(array) and host.flags.c_contiguous):
            return False
        there, here, size = array.device_ctypes_pointer.value, host.__array_interface__["data"][0], host.nbytes
        if handle := self._handle(array, stream):
            self._checked(self.driver.cuMemcpyHtoDAsync(there, here, size, handle))
        else:
            self._checked(self.driver.cuMemcpyHtoD(there, here, size))
        return True

    def to_host(self, array, host, stream):
        """Copy a device array into a host array of the same shape and dtype, as `to_device`."""
        if not (self.takes(array) and host.flags.c_contiguous):
            return False
        there, here, size = array.device_ctypes_pointer.value, host.__array_interface__["data"][0], host.nbytes
        if handle := self._handle(array, stream):
            self._checked(self.driver.cuMemcpyDtoHAsync(here, there, size, handle))
        else:
            self._checked(self.driver.cuMemcpyDtoH(here, there, size))
        return True

    def _handle(self, array, stream):
        """The driver's handle of a stream, or of the one that the array was made in; None for the default one."""
        self._attach()
        stream = stream or array.stream
        return self.driver.CUstream(int(stream.handle)) if stream else None

    def _attach(self):
        """Give a thread the device's context before its first request, as the driver asks."""
        if not hasattr(self.threads, "ready"):
            cuda.current_context()
            self.threads.ready = True

    def _checked(self, answer):
        if answer[0]:
            raise RuntimeError(f"the driver refuses a copy: {answer[0].name}.")
