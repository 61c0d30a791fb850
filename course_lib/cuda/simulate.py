"""The SIMT executor beside any device: what would this launch cost, and is it right?

Source: the course's own.
"""

import inspect

import numpy as np

from course_lib.cuda.array_checks import check_arguments, check_border_array
from course_lib.cuda.choice import SIMULATOR, DeviceError
from course_lib.cuda.device import choice, executor, to_device
from course_lib.cuda.kernel import Kernel
from course_lib.cuda.launch_checks import check_launch, check_shared
from course_lib.cuda.recording import record_launches


def simulate(kernel, grid, block, *arguments, shared=0, on_error="raise"):
    """Run a kernel on the SIMT executor, on copies of its arguments, and return the simt.Report.

    Works beside a GPU too, and leaves every array as it is: a kernel is examined, its results are thrown away. An
    array that is passed twice is one array there as well.

    Parameters
    ----------
    kernel : Kernel
        Made by @gpu.jit, or by Numba's @cuda.jit.
    grid, block : int or tuple of one to three ints >= 1
    *arguments
        Device arrays (...), host arrays (...), and numbers, one for each parameter.
    shared : int
        Bytes of dynamic shared memory of a block.
    on_error : "raise" or "collect"
        Stop at the first hazard, or list all of them in the report.

    Raises
    ------
    LaunchError, TypeError
        As a launch; simt.KernelError and simt.HazardFound for what goes wrong inside the kernel.
    DeviceError
        If Numba's simulator is switched on: it replaces the part of Numba that the executor asks for types.

    Source: the course's own.
    """
    if choice().device == SIMULATOR:
        raise DeviceError("gpu.simulate needs Numba without its simulator", "Start Python with COURSE_DEVICE=simt.")
    from course_lib import simt
    from course_lib.cuda.on_simt import Simt

    if not isinstance(kernel, Kernel) and type(kernel) is not _numbas_kernel():
        raise TypeError(
            f"gpu.simulate got a {type(kernel).__name__}; its first argument is a kernel, made with @gpu.jit or "
            "@cuda.jit: gpu.simulate(kernel, grid, block, ...)."
        )
    grid, block = check_launch(grid, block)
    shared = check_shared(shared, Simt.shared_limit)
    twins = twins_of(arguments, "gpu.simulate")
    check_arguments(kernel.__name__, tuple(inspect.signature(kernel.py_func).parameters), twins, Simt())
    return simt.run(kernel, grid, block, twins, shared=shared, on_error=on_error)


def simulate_launches(launcher, *arguments):
    """Call a function that launches kernels, and return the simt.Report of each of its launches, in order.

    For functions such as `course_lib.cuda.relu_forward` or a ladder's rung, which choose grid and block themselves.
    They run on this process's device first; each launch is then walked by the executor, with what the arrays hold
    afterwards.

    Parameters
    ----------
    launcher : function
        Takes device arrays.
    *arguments
        Host arrays (...) are copied to the device first; the rest is passed as it is.

    Raises
    ------
    LaunchError, TypeError, DeviceError
        As the launches, and as `simulate`.

    Source: the course's own.
    """
    given = [to_device(a) if isinstance(a, np.ndarray) else a for a in arguments]
    with record_launches() as launches:
        launcher(*given)
    return [simulate(one.kernel, one.grid, one.block, *one.arguments, shared=one.shared) for one in launches]


def _numbas_kernel():
    """Return the class of what @cuda.jit makes."""
    from numba.cuda.dispatcher import CUDADispatcher

    return CUDADispatcher


def twins_of(arguments, function):
    """Return arguments for the executor: device arrays of their own for arrays (...), numbers as they are.

    An array that is passed twice is one array there as well; `function` is what a message calls the caller.

    Raises
    ------
    TypeError, ValueError
        For an array that no device takes.

    Source: the course's own.
    """
    shadows, copies = {}, {}
    return tuple(_twin(a, shadows, copies, function) for a in arguments)


def _twin(value, shadows, copies, function):
    """Return a device array of its own for the executor; numbers stay. `shadows` and `copies` begin empty."""
    from course_lib.simt.arrays import DeviceArray

    if id(value) not in shadows:
        if isinstance(value, DeviceArray):
            twin = _twin_of(value, copies)
        elif executor().owns(value):
            twin = DeviceArray(executor().copy_out(value, 0))
        elif isinstance(value, np.ndarray):
            check_border_array(function, value, executor(), copied_in=True)
            twin = DeviceArray.copy_of(value)
        else:
            return value
        shadows[id(value)] = twin
    return shadows[id(value)]


def _twin_of(array, copies):
    """Return a DeviceArray with the same numbers and strides; twins share memory as their originals do."""
    flat = _copied(array.allocation, copies)
    numbers = _same_part(array.numbers, array.allocation, flat)
    if array.written is None:
        return type(array)(numbers, None, flat)
    marks = array.written if array.written.base is None else array.written.base
    return type(array)(numbers, _same_part(array.written, marks, _copied(marks, copies)), flat)


def _copied(whole, copies):
    key = whole.__array_interface__["data"][0], whole.dtype
    if key not in copies:
        copies[key] = whole.ravel(order="K").copy()
    return copies[key]


def _same_part(view, whole, flat):
    """Return the part of `flat` (a flat copy of `whole`) that `view` is of `whole`."""
    offset = view.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    return np.ndarray(view.shape, view.dtype, buffer=flat, offset=offset if view.size else 0, strides=view.strides)
