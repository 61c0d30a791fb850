"""Which device kernels run on, and copies to it and back: the border between host and device.

Source: Numba's documentation, "Memory management". The device is a GPU if Numba finds one, else the SIMT executor;
the environment variable COURSE_DEVICE=gpu|simt|numba-simulator decides otherwise. It is chosen once a process, at the
first launch or copy, and stays. Nothing is copied unless `to_device` or `to_host` is called.
"""

import functools

import numpy as np

from course_lib.cuda.array_checks import check_border_array, check_dtype, check_shape
from course_lib.cuda.choice import GPU, SIMT, DeviceError, choose
from course_lib.cuda.launch_checks import check_priority, check_stream


@functools.cache
def choice():
    """Return this process's Choice; DeviceError as `choose`. Source: the course's own."""
    return choose()


@functools.cache
def executor():
    """Return the object that copies and launches on this process's device; DeviceError as `choose`."""
    device = choice().device
    if device == SIMT:
        from course_lib.cuda.on_simt import Simt as Executor
    elif device == GPU:
        from course_lib.cuda.on_numba import Gpu

        return Gpu(_taken.get("card", 0))
    else:
        from course_lib.cuda.on_numba import Simulator as Executor
    return Executor()


_taken = {}


def take_card(number):
    """Let this process compute on GPU number `number`, counted from 0, instead of the first: for ranks side by side.

    Raises
    ------
    DeviceError
        If there is no GPU, not so many, or another one is in use already: it is chosen once a process.

    Source: Numba's documentation, "Device management".
    """
    if choice().device != GPU:
        raise DeviceError(f"there is no GPU: {choice().reason}", "Compute without one: it needs no number.")
    from course_lib.cuda.numba_cuda import cuda

    if number >= len(cuda.gpus):
        raise DeviceError(
            f"GPU {number} is asked for, and this process sees {len(cuda.gpus)}, counted from 0",
            "Start as many ranks as there are GPUs; CUDA_VISIBLE_DEVICES may hide some.",
        )
    if executor.cache_info().currsize and _taken.get("card", 0) != number:
        raise DeviceError(
            f"GPU {number} is asked for, and this process computes on GPU {_taken.get('card', 0)} already",
            "Choose before the first network or array: parallel.run(work, engine='nccl'), and make them in work.",
        )
    _taken["card"] = number


def device_name():
    """Return the device's name: "NVIDIA H200", "SIMT executor (no GPU)" or "Numba's simulator (no GPU)".

    Raises
    ------
    DeviceError
        If COURSE_DEVICE asks for what is not there.

    Source: the course's own.
    """
    return executor().name


def why():
    """Return why kernels run on this device, as a clause; raise DeviceError as `device_name`. Source: the course's own.

    For example "Numba finds no CUDA GPU (CUDA driver library cannot be found)".
    """
    return choice().reason


def to_device(host, stream=None):
    """Copy an array (...) into the device's memory and return the device array (...).

    Parameters
    ----------
    host : ndarray (...)
        Of numbers or booleans, contiguous in row-major (C) or column-major (Fortran) order; the order is kept, and so
        are the strides 0 of a broadcast array. It may be read-only.
    stream : stream, optional
        Enqueue the copy there, after what was enqueued before; default: copy now.

    Raises
    ------
    TypeError
        If it is not a host array, or its elements are nothing to compute with.
    ValueError
        If the array is a view with gaps.

    Source: Numba's documentation, "Memory management".
    """
    device = executor()
    check_border_array("gpu.to_device", host, device, copied_in=True)
    _no_copy("gpu.to_device", device)
    return device.copy_in(host, check_stream(stream))


def to_host(array, stream=None, out=None):
    """Copy a device array (...) and return the host array (...), when everything launched before is done.

    With a stream, the copy is only enqueued there: read the result after stream.synchronize(). The host goes on at
    once only if the copy goes into pinned memory: out=gpu.pinned(shape, dtype).

    Parameters
    ----------
    array : device array (...)
    stream : stream, optional
    out : ndarray (...), optional
        Where to copy to, in row-major order, and what is returned; default: a new array.

    Raises
    ------
    TypeError
        If it is not an array of this process's device.
    ValueError
        If `out` has another shape, dtype or order, or is read-only.

    Source: Numba's documentation, "Memory management".
    """
    device = executor()
    check_border_array("gpu.to_host", array, device, copied_in=False)
    _no_copy("gpu.to_host", device)
    if out is None:
        return device.copy_out(array, check_stream(stream))
    check_border_array("gpu.to_host, out,", out, device, copied_in=True)
    _check_same("array", array, "out", out)
    if not (out.flags.c_contiguous and out.flags.writeable):
        raise ValueError("gpu.to_host, out, is read-only or not in row-major order; make it by gpu.pinned.")
    return device.copy_out(array, check_stream(stream), out)


def overwrite(array, host, stream=None):
    """Copy a host array (...) into a device array (...) that is there: for inputs of a recorded graph.

    Raises
    ------
    TypeError, ValueError
        If one is on the wrong side, or shapes or dtypes differ.

    Source: Numba's documentation, "Memory management".
    """
    device = executor()
    check_border_array("gpu.overwrite, array,", array, device, copied_in=False)
    check_border_array("gpu.overwrite, host,", host, device, copied_in=True)
    _no_copy("gpu.overwrite", device)
    _check_same("array", array, "host", host)
    device.overwrite(array, np.ascontiguousarray(host), check_stream(stream))


def _check_same(name, array, other, host):
    if tuple(array.shape) != host.shape or np.dtype(array.dtype) != host.dtype:
        raise ValueError(
            f"{name} is {tuple(array.shape)} of {np.dtype(array.dtype)} and {other} is {host.shape} of {host.dtype}; "
            "shape and dtype must be the same."
        )


def _no_copy(function, device):
    """A graph has no copies between host and device: they would happen once, while it is recorded."""
    if device.recording is not None:
        raise DeviceError(
            f"{function} within gpu.record: a copy to or from the host cannot be recorded",
            "Copy before it and after it; feed a recorded step by gpu.overwrite(array, host).",
        )


def empty(shape, dtype):
    """Return a device array (...) in row-major order, with whatever numbers are in that memory.

    There is no default dtype. NumPy's and Numba's is float64, which most cards compute 32 or 64 times slower than
    float32; a course that meant float32 should say so. On the SIMT executor the numbers are NaN (whole numbers: bytes
    0xA5), and a kernel that reads one before any thread wrote it is told.

    Raises
    ------
    TypeError
        If the shape is not whole numbers, or the dtype is nothing to compute with.
    ValueError
        If a size is negative.

    Source: Numba's documentation, "Memory management".
    """
    device = executor()
    dtype = check_dtype(dtype, device.kinds, "the array")
    return device.empty(check_shape(shape), dtype)


def pinned(shape, dtype):
    """Return a host array (...) in page-locked memory, with whatever numbers are there: for copies beside computation.

    Usual memory may be moved or swapped out by the operating system at any time, so the driver copies it in pieces
    through a buffer of its own, and the host waits. What is pinned stays where it is: a card fetches it by itself,
    at full speed, while the host goes on. Fill it like any array, and do not change it before the copy is done. It is
    taken from the memory of the whole machine, so pin what is copied again and again, and no more. Without a GPU it is
    a usual array.

    Raises
    ------
    TypeError, ValueError
        As `empty`.

    Source: NVIDIA, "CUDA C++ Programming Guide", "Page-Locked Host Memory".
    """
    device = executor()
    dtype = check_dtype(dtype, device.kinds, "the array")
    return device.pinned(check_shape(shape), dtype)


def synchronize():
    """Wait until the device has done everything. A launch only enqueues work: before reading a clock, wait.

    No errors but DeviceError. Source: Numba's documentation, "Synchronization".
    """
    executor().synchronize()


def stream(priority=0):
    """Return a new stream: work in one stream is done in order, two streams may run at once.

    `stream.synchronize()` waits for it. Without a GPU everything is done in order, and a stream does nothing. Work in
    the default stream waits for all streams, and they for it.

    Parameters
    ----------
    priority : int
        Blocks of a stream with a lower number begin first, where several streams have some waiting; running ones are
        not stopped. 0 is the lowest, and cards of today know numbers down to -5; beyond, the nearest counts.

    Raises
    ------
    TypeError
        If the priority is no whole number.

    Source: NVIDIA, "CUDA C++ Programming Guide", "Streams" and "Stream Priorities".
    """
    return executor().stream(check_priority(priority))


def event():
    """Return a new event, a mark in a stream.

    `event.record(stream)` sets it behind what was enqueued there; `event.wait(stream)` lets another stream wait for
    it; `event.synchronize()` lets the host wait; `first.elapsed_time(second)` gives the milliseconds between two.
    Without a GPU work is done when it is enqueued, and the time is the host's.
    No errors but DeviceError. Source: Numba's documentation, "Events".
    """
    return executor().event()
