"""The part of pyopencl that the lesson uses, for machines without an OpenCL device: launches answer from a recording.

Platform, device, context, queue, program, kernel, buffer, event have pyopencl's names and signatures. Buffers hold
their numbers, so copies are real. A launch is looked up by its text, sizes and arguments, all of them; one that no
device has ever made for us cannot be answered, and `NotRecorded` says how to get a device. Nothing is computed here.

Source: pyopencl's documentation, "OpenCL Runtime"; the recording is the course's own.
"""

import types

import numpy as np

from course_lib.opencl.answers import answers
from course_lib.opencl.devices import BuildError
from course_lib.opencl.launches import UNSET, Launch, load_recording, unpack, value_argument

Error = BuildError
mem_flags = types.SimpleNamespace(READ_WRITE=1, WRITE_ONLY=2, READ_ONLY=4, USE_HOST_PTR=8, COPY_HOST_PTR=32)
command_queue_properties = types.SimpleNamespace(OUT_OF_ORDER_EXEC_MODE_ENABLE=1, PROFILING_ENABLE=2)
device_type = types.SimpleNamespace(CPU=2, GPU=4, ALL=0xFFFFFFFF)

COPY_TIMES = 250, 500, 1000
"""Nanoseconds from queued to submit, start and end that a copy has on the recorded clock."""


class Platform:
    """A platform of the recording, which has two, of one device each. Source: pyopencl's documentation, "Platform"."""

    name, vendor, version = "Recorded launches", "the course", "recorded"

    def __init__(self, place=0):
        self.place = place

    def get_devices(self, device_type=None):
        """Return [its recorded device]. No errors. Source: pyopencl's documentation, "Platform.get_devices"."""
        return [Device(self)]

    def __repr__(self):
        return f"<Platform {self.name!r}>"


class Device:
    """A device that made recorded launches; place 0 made most. Source: pyopencl's documentation, "Device"."""

    def __init__(self, platform):
        facts = load_recording().second if platform.place else load_recording().device
        self.platform, self.place = platform, platform.place
        self.name = f"recording of {facts.get('name', 'no device')}"
        self.version = facts.get("version", "recorded")
        self.queue_properties = command_queue_properties.PROFILING_ENABLE
        if facts.get("out_of_order"):
            self.queue_properties |= command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
        self.max_compute_units = facts.get("units", 0)
        self.max_work_group_size = facts.get("group", 1024)
        self.local_mem_size = facts.get("local_bytes", 32768)
        self.global_mem_size = facts.get("global_bytes", 0)

    def __repr__(self):
        return f"<Device {self.name!r}>"


def get_platforms():
    """Return the recording's two platforms. No errors. Source: pyopencl's documentation, "get_platforms"."""
    return [Platform(0), Platform(1)]


class Context:
    """Devices that share buffers and programs. Source: pyopencl's documentation, "Context"."""

    def __init__(self, devices):
        self.devices = list(devices)


class CommandQueue:
    """Takes commands for one device; here each is answered at once. Source: pyopencl, "CommandQueue"."""

    def __init__(self, context, device=None, properties=0):
        self.context, self.device = context, device or context.devices[0]
        self.properties = properties or 0
        self.now = 0

    def finish(self):
        """Wait until every command has ended. No errors. Source: pyopencl's documentation."""

    def flush(self):
        """Hand the commands to the device. No errors. Source: pyopencl's documentation."""


class Buffer:
    """Bytes on the device; those that nobody has written are NaN in float32. Source: pyopencl's documentation."""

    def __init__(self, context, flags, size=0, hostbuf=None):
        if hostbuf is not None and not flags & mem_flags.COPY_HOST_PTR:
            raise ValueError("hostbuf is given without the flag COPY_HOST_PTR; add it, | cl.mem_flags.COPY_HOST_PTR")
        self.context = context
        if hostbuf is None:
            self.content = np.full(size, UNSET, np.uint8)
        else:
            self.content = np.frombuffer(np.ascontiguousarray(hostbuf).tobytes(), np.uint8).copy()
        if not self.content.size:
            raise ValueError("a buffer has no bytes; OpenCL allows none of size 0")
        self.size = self.content.size


class LocalMemory:
    """So many bytes of local memory for each work-group. Source: pyopencl's documentation, "LocalMemory"."""

    def __init__(self, size):
        self.size = int(size)


class Event:
    """A command that was queued, with its four times. Source: pyopencl's documentation, "Event"."""

    def __init__(self, queue, times=COPY_TIMES):
        names = ("queued", "submit", "start", "end")
        at = (queue.now, *(queue.now + t for t in times))
        self.profile = types.SimpleNamespace(**dict(zip(names, at, strict=True)))
        queue.now = at[-1]

    def wait(self):
        """Wait until the command has ended. No errors. Source: pyopencl's documentation, "Event.wait"."""


def wait_for_events(events):
    """Wait until all have ended. No errors. Source: pyopencl's documentation."""


def enqueue_copy(queue, dest, src, *, wait_for=None, is_blocking=True):
    """Copy an array into a buffer, a buffer into an array, or a buffer into another; return the Event.

    ValueError if dest is smaller than src. Source: pyopencl's documentation, "Transfers".
    """
    content = src.content if isinstance(src, Buffer) else np.frombuffer(np.ascontiguousarray(src).tobytes(), np.uint8)
    room = dest.size if isinstance(dest, Buffer) else dest.nbytes
    if isinstance(dest, Buffer) and room < content.size:
        raise ValueError(f"the buffer has {room} bytes, and {content.size} are copied into it")
    if isinstance(dest, Buffer):
        dest.content[: content.size] = content
    else:
        dest.reshape(-1).view(np.uint8)[...] = content[:room]
    return Event(queue)


class Program:
    """A text, and what the compiler made of it. Source: pyopencl's documentation, "Program"."""

    def __init__(self, context, text):
        self.context, self.text, self.options = context, text, ()

    def build(self, options=(), **_):
        """Compile; returns the program. BuildError if the compiler once refused it; NotRecorded if it never saw it.

        Source: pyopencl's documentation, "Program.build".
        """
        self.options = tuple(options.split() if isinstance(options, str) else options)
        if said := answers().build(self.text, self.options):
            raise BuildError(said)
        return self


class Kernel:
    """One function of a program. Source: pyopencl's documentation, "Kernel"."""

    def __init__(self, program, name):
        self.program, self.function_name = program, name

    def __call__(self, queue, global_size, local_size, *arguments, global_offset=None, wait_for=None):
        """Launch it; the buffers hold afterwards what the device once wrote. Returns the Event.

        NotRecorded if no device made this very launch. Source: pyopencl's documentation, "Kernel.__call__".
        """
        launch = described(self.program, self.function_name, global_size, local_size, arguments, global_offset,
                           device=getattr(queue.device, "place", 0))  # fmt: skip
        made = answers().launch(launch)
        for place, packed in made["writes"].items():
            arguments[int(place)].content[...] = np.frombuffer(unpack(packed), np.uint8)
        return Event(queue, made["times"])


def described(program, name, global_size, local_size, arguments, global_offset=None, device=0):
    """Return the `Launch` of a kernel with buffers of this module, numbers and local memory.

    TypeError for arguments that are none of these. Source: the course's own.
    """
    told, seen = [], []
    for place, argument in enumerate(arguments):
        if isinstance(argument, Buffer):
            first = next((p for p, other in seen if other is argument), place)
            seen.append((place, argument))
            told.append(("buffer", first, argument.content.tobytes()))
        elif isinstance(argument, LocalMemory):
            told.append(("local", argument.size))
        else:
            told.append(value_argument(argument))
    sizes = tuple(None if s is None else tuple(int(n) for n in s) for s in (global_size, local_size, global_offset))
    return Launch(program.text, program.options, name, sizes, tuple(told), device)
