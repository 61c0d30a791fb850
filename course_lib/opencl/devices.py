"""Which OpenCL devices this machine has, which of them compute, and which one the course takes.

Source: Khronos, "The OpenCL Specification", "Platform Model"; pyopencl's documentation, "OpenCL Runtime: Platforms,
Devices and Contexts".
"""

import functools
import os
import warnings
from dataclasses import dataclass, field

INSTALL = (
    'On Linux: python -m pip install "pyopencl[pocl]" brings one that computes on the CPU; if that CPU is newer than '
    'the package, Debian\'s pocl-opencl-icd with pyopencl does. "pyopencl[oclgrind]" brings a simulator. Drivers of '
    "GPUs bring their own device."
)
"""How one gets a device, for messages."""

TRIAL = "__kernel void trial(__global int *x) { x[get_global_id(0)] = 42 + get_global_id(0); }"


class NoDevice(RuntimeError):
    """There is no OpenCL device that computes; the message says why, and how to get one. Source: the course's own."""


class BuildError(RuntimeError):
    """The device's compiler refused a program; the message is what it said. Source: the course's own."""


@dataclass(frozen=True)
class Device:
    """What the course wants to know of a device.

    Attributes
    ----------
    name, platform, version : str
        As the driver gives them; the version is OpenCL's.
    kind : str
        "GPU", "CPU", "simulator" or "other".
    units : int
        Compute units: cores of a CPU, multiprocessors of a GPU.
    group : int
        The most work-items in a work-group.
    local_bytes, global_bytes : int
        Local memory of a work-group, and the device's global memory.
    out_of_order : bool
        Whether a queue may begin a command before the one ahead of it has ended.
    trouble : str
        Why it does not compute; "" if it does.
    handle : object
        pyopencl's own object.

    Source: Khronos, "The OpenCL Specification", "Querying Devices".
    """

    name: str
    platform: str
    version: str
    kind: str
    units: int
    group: int
    local_bytes: int
    global_bytes: int
    out_of_order: bool
    trouble: str = ""
    handle: object = field(default=None, compare=False, repr=False)


def find_devices(environ=None):
    """Return the `Device`s of this machine, those that compute first, and of these the fastest kind first.

    Parameters
    ----------
    environ : mapping, optional
        Environment variables; default: the process's own. COURSE_OPENCL=off hides all devices; any other text keeps
        those in whose name or platform it occurs.

    Returns
    -------
    tuple of Device
        Empty without pyopencl. No errors: a device that does not compute says so in `trouble`.

    Source: pyopencl's documentation, "Platforms, Devices and Contexts".
    """
    wanted = (os.environ if environ is None else environ).get("COURSE_OPENCL", "").lower()
    if wanted == "off":
        return ()
    return tuple(d for d in _all_devices() if wanted in f"{d.name} {d.platform}".lower())


def pick(environ=None):
    """Return the `Device` that the course computes on: the first of `find_devices`.

    Raises
    ------
    NoDevice
        If none computes. The message names pyopencl, the devices' troubles, or COURSE_OPENCL, and how to get one.

    Source: the course's own.
    """
    found = find_devices(environ)
    if found and not found[0].trouble:
        return found[0]
    raise NoDevice(f"no OpenCL device: {why_none(environ)}. {INSTALL}")


def why_none(environ=None):
    """Return, in words, why `pick` finds no device, such as "pyopencl is not installed". No errors.

    Source: the course's own.
    """
    wanted = (os.environ if environ is None else environ).get("COURSE_OPENCL", "")
    if wanted == "off":
        return "COURSE_OPENCL=off hides them"
    every = _all_devices()
    found = find_devices(environ)
    if not every:
        return _trouble_with_pyopencl() or "pyopencl is installed, and finds no platform"
    if not found:
        return f"COURSE_OPENCL={wanted} is in the name of none of {', '.join(d.name for d in every)}"
    if any(not d.trouble for d in found):
        return "this session is the recording's, although a device computes"
    return "; ".join(f"{d.name} does not compute ({d.trouble})" for d in found)


@functools.cache
def _all_devices():
    try:
        import pyopencl as cl

        handles = [device for platform in cl.get_platforms() for device in platform.get_devices()]
    except Exception:  # no pyopencl, no platform, or a driver that raises whatever it likes
        return ()
    found = [_described(cl, handle) for handle in handles]
    order = ("GPU", "CPU", "other", "simulator")
    return tuple(sorted(found, key=lambda d: (bool(d.trouble), order.index(d.kind))))


def _described(cl, handle):
    platform = handle.platform.name.strip()
    kind = "other"
    if "oclgrind" in platform.lower():
        kind = "simulator"
    elif handle.type & cl.device_type.GPU:
        kind = "GPU"
    elif handle.type & cl.device_type.CPU:
        kind = "CPU"
    version = handle.version.partition("HSTR")[0].strip()  # PoCL says its compiler's target behind
    return Device(
        handle.name.strip(), platform, version, kind, handle.max_compute_units,
        handle.max_work_group_size, handle.local_mem_size, handle.global_mem_size,
        bool(handle.queue_properties & cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE),
        _trouble(cl, handle), handle,
    )  # fmt: skip


def _trouble(cl, handle):
    """Let the device compile and run a kernel; return "" or the first telling line of what went wrong."""
    import numpy as np

    try:
        context = cl.Context([handle])
        queue = cl.CommandQueue(context)
        x = np.zeros(4, np.int32)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what a compiler says beside
            program = cl.Program(context, TRIAL).build()
        buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, x.nbytes)
        cl.Kernel(program, "trial")(queue, x.shape, None, buffer)
        cl.enqueue_copy(queue, x, buffer)
    except Exception as error:  # whatever a driver raises
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        telling = [line for line in lines if line.startswith("error:")] or lines or [type(error).__name__]
        return telling[0]
    return "" if x.tolist() == [42, 43, 44, 45] else f"a trial gave {x.tolist()} for [42, 43, 44, 45]"


def _trouble_with_pyopencl():
    try:
        import pyopencl  # noqa: F401
    except Exception as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name == "pyopencl"
        return "pyopencl is not installed" if missing else f"pyopencl cannot be imported ({error})"
    return ""
