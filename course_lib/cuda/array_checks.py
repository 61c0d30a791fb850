"""What can be wrong with arrays and arguments, worded once for every device.

Source: Numba's documentation, "CUDA Kernel API". Numba copies a host array to the device and back without a word; here
a launch refuses it, and says what to write. Nothing in this module needs Numba.
"""

import numbers

import numpy as np

from course_lib.cuda.launch_checks import LaunchError
from course_lib.validate import as_array

OTHERS = ("DeviceArray", "DeviceNDArray", "FakeCUDAArray")
"""Classes of device arrays, of which a process has one."""


def check_dtype(dtype, kinds, what):
    """Return a dtype; raise TypeError unless kernels compute with it. `kinds`: NumPy's letters of what the device has.

    Source: Numba's documentation, "Numba types".
    """
    dtype = np.dtype(dtype)
    fits = dtype.kind in kinds and dtype.itemsize <= (16 if dtype.kind == "c" else 8)
    if not fits:
        fix = "Convert on the host: .astype(np.float32)."
        if dtype.names:
            fix = f"Make an array of each field: np.ascontiguousarray(array[{dtype.names[0]!r}])."
        elif dtype.kind == "c":
            fix = "Complex numbers need a GPU; pass .real and .imag, each by itself."
        raise TypeError(f"{what} has dtype {dtype}; kernels compute with numbers and booleans of up to 64 bits. {fix}")
    if not dtype.isnative:
        raise TypeError(f"{what} has dtype {dtype}, bytes in foreign order. Convert: .astype({dtype.name!r}).")
    return dtype


def check_shape(shape):
    """Return a shape as a tuple of int; raise TypeError unless of whole numbers, ValueError unless they are >= 0."""
    sizes = shape if isinstance(shape, tuple | list) else (shape,)
    if not all(isinstance(s, numbers.Integral) and not isinstance(s, bool) for s in sizes):
        raise TypeError(f"the shape is {shape!r}; it must be whole numbers. / gives a float: write // instead.")
    if any(s < 0 for s in sizes):
        raise ValueError(f"the shape is {shape!r}; every size must be >= 0.")
    return tuple(int(s) for s in sizes)


def check_border_array(function, array, device, *, copied_in):
    """Raise unless `array` is what is copied: a host array on the way in, one of `device` on the way out.

    Raises
    ------
    TypeError
        If it lies on the other side, is no array, or has a dtype that no kernel takes.
    ValueError
        If a host array has gaps, or masked entries.

    Source: Numba's documentation, "Memory management".
    """
    kind = type(array).__name__
    if not copied_in:
        if isinstance(array, np.ndarray):
            raise TypeError(f"{function} got a host array: it is here already. Leave the copy out.")
        if not device.owns(array):
            raise TypeError(f"{function} got a {kind}; {_not_ours(kind, device)}")
        return
    if device.owns(array):
        raise TypeError(f"{function} got a device array: it is there already. Leave the copy out.")
    if not isinstance(array, np.ndarray):
        fix = _not_ours(kind, device) if kind in OTHERS else "it must be a host array: np.array(..., np.float32)."
        raise TypeError(f"{function} got a {kind}; {fix}")
    array = as_array("array", array)  # without a mask that hides nothing
    check_dtype(array.dtype, device.kinds, "the array")
    core = array[tuple(0 if s == 0 else slice(None) for s in array.strides)] if array.size else array
    if not (core.flags.c_contiguous or core.flags.f_contiguous):
        raise ValueError(
            f"{function} got a view with gaps, shape {array.shape} and strides {array.strides} bytes; it copies one "
            "run of memory. Write np.ascontiguousarray(array), or copy the whole array and slice it on the device."
        )


def _not_ours(kind, device):
    if kind in OTHERS:
        return f"that is an array of another device; this process runs on: {device.name}. Use gpu.to_device here."
    return "it must be a device array: gpu.to_device(...) or gpu.empty(...)."


def check_arguments(kernel, parameters, arguments, device):
    """Raise unless a kernel can be launched with these arguments: device arrays, numbers, and on a GPU tuples.

    Parameters
    ----------
    kernel : str
        The kernel's name.
    parameters : sequence of str
    arguments : tuple
    device : executor
        `owns(array)` says whether an array is the device's; `tuples`: whether it takes them; `kinds` and `name` as
        in `check_border_array`.

    Raises
    ------
    LaunchError
        If there are too many or too few.
    TypeError
        If one is a host array, of another device, or nothing that a kernel takes.

    Source: Numba's documentation, "CUDA Kernel API".
    """
    if len(arguments) != len(parameters):
        raise LaunchError(
            f"{kernel}({', '.join(parameters)}) takes {len(parameters)} argument(s) and got {len(arguments)}."
        )
    for name, argument in zip(parameters, arguments, strict=True):
        if not device.owns(argument):
            _check_value(kernel, name, argument, device)


def _check_value(kernel, name, value, device):
    if isinstance(value, bool | float | np.bool_):
        return
    if isinstance(value, np.ndarray):
        raise TypeError(
            f"{kernel}: {name} is a host array. Copy it to the device first, {name} = gpu.to_device({name}): a copy "
            "hidden in a launch would be timed with it."
        )
    if isinstance(value, int):
        if not -(2**63) <= value < 2**64:
            raise TypeError(f"{kernel}: {name} is {value}, which does not fit into 64 bits.")
    elif isinstance(value, np.generic | complex):
        check_dtype(np.asarray(value).dtype, device.kinds, f"{kernel}: {name}")
    elif isinstance(value, tuple):
        for i, part in enumerate(value):
            if not device.owns(part):
                _check_value(kernel, f"{name}[{i}]", part, device)
        if not device.tuples:
            raise TypeError(
                f"{kernel}: {name} is a tuple; the SIMT executor takes device arrays and numbers. Pass each part as a "
                "parameter of its own."
            )
    elif value is None:
        raise TypeError(f"{kernel}: {name} is None. Does what makes it lack a return?")
    elif type(value).__name__ in OTHERS:
        raise TypeError(f"{kernel}: {name} is a {type(value).__name__}; {_not_ours(type(value).__name__, device)}")
    else:
        takes = f"device arrays, numbers and {'tuples' if device.tuples else 'booleans'}"
        raise TypeError(
            f"{kernel}: {name} is a {type(value).__name__}; a kernel takes {takes}. Make an "
            f"array: gpu.to_device(np.array({name}, np.float32))."
        )
