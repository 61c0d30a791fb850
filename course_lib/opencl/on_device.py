"""Carry out a `Launch` on a real device, and on a simulator that says what is wrong with it.

Source: pyopencl's documentation, "OpenCL Runtime"; J. Price and S. McIntosh-Smith, "Oclgrind: An Extensible OpenCL
Device Simulator" (2015).
"""

import contextlib
import os
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from course_lib.opencl.devices import NoDevice, find_devices

LOOK_FOR = {"OCLGRIND_DATA_RACES": "1", "OCLGRIND_UNINITIALIZED": "1", "OCLGRIND_MAX_ERRORS": "1000000"}
"""What Oclgrind reports beside accesses out of bounds. It counts errors over the whole process, up to a limit."""


@dataclass(frozen=True)
class Made:
    """What a launch did: contents of its buffers by the argument's place, and the four times in nanoseconds.

    Source: the course's own.
    """

    contents: dict
    times: tuple


def carry_out(cl, handle, launch):
    """Launch on pyopencl's device `handle` and return what it `Made`; buffers are made of the arguments' bytes.

    Errors of pyopencl are passed on. Source: pyopencl's documentation, "Kernel".
    """
    context = cl.Context([handle])
    queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = cl.Program(context, launch.text).build(list(launch.options))
    kernel, flags = cl.Kernel(program, launch.kernel), cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    given, memory = [], {}
    for place, (kind, *told) in enumerate(launch.arguments):
        if kind == "buffer":
            first, content = told
            if first == place:
                memory[place] = cl.Buffer(context, flags, hostbuf=np.frombuffer(content, np.uint8))
            given.append(memory[first])
        elif kind == "local":
            given.append(cl.LocalMemory(*told))
        else:
            given.append(np.frombuffer(told[1], np.dtype(told[0]))[0])
    global_size, local_size, offset = launch.sizes
    event = kernel(queue, global_size, local_size, *given, global_offset=offset)
    event.wait()
    contents = {}
    for place, buffer in memory.items():
        content = np.empty(buffer.size, np.uint8)
        cl.enqueue_copy(queue, content, buffer)
        contents[place] = content.tobytes()
    p = event.profile
    return Made(contents, tuple(int(t - p.queued) for t in (p.submit, p.start, p.end)))


def simulator():
    """Return the `Device` of Oclgrind; NoDevice if it is not here, with how to get it. Source: the course's own."""
    found = [d for d in find_devices({}) if d.kind == "simulator" and not d.trouble]
    if found:
        return found[0]
    raise NoDevice(
        'to look for mistakes needs the simulator Oclgrind: python -m pip install "pyopencl[oclgrind]" (Linux).'
    )


def look_for_mistakes(launch):
    """Return the lines that Oclgrind writes of a `Launch`, as it writes them.

    NoDevice without Oclgrind; errors of pyopencl are passed on. Source: Price and McIntosh-Smith (2015).
    """
    import pyopencl as cl

    handle = simulator().handle
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        with _environment(LOOK_FOR | {"OCLGRIND_LOG": str(log)}):
            carry_out(cl, handle, launch)
        return log.read_text(encoding="utf-8", errors="replace").splitlines() if log.is_file() else []


@contextlib.contextmanager
def _environment(values):
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
