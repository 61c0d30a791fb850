"""Context, queue and programs in one object: what is the same in every OpenCL host program.

Source: Khronos, "The OpenCL Specification", "Execution Model"; pyopencl's documentation.
"""

import contextlib
import importlib
import math
import os
import warnings

import numpy as np

from course_lib.opencl import recorded
from course_lib.opencl.answers import Kept, answers
from course_lib.opencl.api import device
from course_lib.opencl.arguments import Array, Built, check_launch
from course_lib.opencl.devices import BuildError, NoDevice
from course_lib.opencl.findings import compiler_said, understood
from course_lib.opencl.launches import UNSET, load_recording
from course_lib.opencl.on_device import look_for_mistakes
from course_lib.opencl.texts import text_of
from course_lib.validate import as_array


class Session:
    """A context with one device, a queue that measures, and the programs that were built in it.

    Parameters
    ----------
    on : object, optional
        pyopencl's device; the one of `opencl.device()` unless given.
    out_of_order : bool
        Whether the queue may begin a command before the one ahead of it has ended. A device without such queues gets
        one in order, which is right as well.

    Source: Khronos, "The OpenCL Specification", "Contexts", "Command-Queues".
    """

    def __init__(self, on=None, *, out_of_order=False):
        self.device = device() if on is None else on
        cl = self.cl = recorded if isinstance(self.device, recorded.Device) else importlib.import_module("pyopencl")
        self.context = cl.Context([self.device])
        flags = cl.command_queue_properties.PROFILING_ENABLE
        loose = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
        if out_of_order and self.device.queue_properties & loose:
            flags |= loose
        self.queue = cl.CommandQueue(self.context, properties=flags)
        self._kernels = {}

    def to_device(self, array):
        """Copy a host array into a buffer and return the `Array`.

        Raises
        ------
        TypeError
            If it is no NumPy array, or holds no numbers.
        ValueError
            If it is empty, or its numbers do not lie side by side, row by row.

        Source: pyopencl's documentation, "Buffer".
        """
        if not isinstance(array, np.ndarray):
            fix = "it is there already" if isinstance(array, Array) else "make it one: np.array(..., np.float32)"
            raise TypeError(f"to_device got a {type(array).__name__}; it takes a NumPy array: {fix}.")
        array = as_array("array", array)
        if array.dtype.kind not in "iuf" or not array.dtype.isnative:
            raise TypeError(f"the array has dtype {array.dtype}; kernels take numbers: .astype(np.float32).")
        if not array.size:
            raise ValueError(f"the array has shape {array.shape} and no numbers; OpenCL has no buffer of 0 bytes.")
        if not array.flags.c_contiguous:
            raise ValueError(
                f"the array has shape {array.shape} and strides {array.strides} bytes; a buffer is one run of memory, "
                "row by row. Write np.ascontiguousarray(array)."
            )
        flags = self.cl.mem_flags
        buffer = self.cl.Buffer(self.context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=array)
        return Array(array.shape, array.dtype, buffer, self)

    def empty(self, shape, dtype=np.float32):
        """Return an `Array` without numbers yet: NaN in float32, so that what no kernel writes shows.

        ValueError if a size is not a whole number >= 1.
        Source: pyopencl's documentation, "Buffer".
        """
        shape = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
        if not all(isinstance(n, int | np.integer) and n >= 1 for n in shape) or not shape:
            raise ValueError(f"the shape is {shape}; every size must be a whole number >= 1.")
        dtype, flags = np.dtype(dtype), self.cl.mem_flags
        nothing = np.full(math.prod(shape) * dtype.itemsize, UNSET, np.uint8)
        buffer = self.cl.Buffer(self.context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=nothing)
        return Array(tuple(int(n) for n in shape), dtype, buffer, self)

    def to_host(self, array, after=()):
        """Return a NumPy array with the numbers of an `Array`, once the events `after` have happened: it blocks.

        TypeError if it is no Array. Source: pyopencl's documentation, "enqueue_copy".
        """
        if not isinstance(array, Array):
            raise TypeError(f"to_host got a {type(array).__name__}; it takes an array of this session.")
        out = np.empty(array.shape, array.dtype)
        self.cl.enqueue_copy(self.queue, out, array.buffer, wait_for=list(after) or None)
        return out

    def kernel(self, name, text=None, **constants):
        """Build a program and return one of its kernels; built once for each text and constants.

        Parameters
        ----------
        name : str
            The kernel's name in the text.
        text : str, optional
            OpenCL C; unless given, the course's file that has such a kernel.
        **constants
            Written into the text when it is built: TILE=16 is the compiler's option -D TILE=16.

        Raises
        ------
        LookupError
            If the course has no such kernel.
        BuildError
            If the compiler refuses the text, with what it said.
        NoDevice
            Without a device, for a program that is not recorded.

        Source: Khronos, "The OpenCL Specification", "Program Objects".
        """
        text = text_of(name) if text is None else text
        options = tuple(f"-D{key}={value}" for key, value in sorted(constants.items()))
        place = (text, options, name)
        if place not in self._kernels:
            program = self._built(text, options)
            self._kernels[place] = Built(self.cl.Kernel(program, name), text, options, name)
        return self._kernels[place]

    def launch(self, kernel, global_size, local_size, *arguments, after=()):
        """Put a kernel into the queue and return its event.

        Parameters
        ----------
        kernel : Built
            As `kernel` returns it.
        global_size : tuple of int
            Work-items along x, y, z; not work-groups.
        local_size : tuple of int
            Work-items of a work-group along the same axes.
        *arguments
            Arrays of this session and NumPy's numbers.
        after : sequence of events
            What must have happened before; a queue in order needs none for its own commands.

        Raises
        ------
        TypeError, ValueError
            As `check_launch`.
        NoDevice
            Without a device, for a launch that is not recorded.

        Source: Khronos, "The OpenCL Specification", "clEnqueueNDRangeKernel".
        """
        given = check_launch(self, kernel, global_size, local_size, arguments)
        return kernel.kernel(self.queue, global_size, local_size, *given, wait_for=list(after) or None)

    def findings(self, kernel, global_size, local_size, *arguments):
        """Let a simulator run a launch on copies, and return the `Finding`s: races, indices out of bounds and the like.

        Errors as `launch`; NoDevice without Oclgrind, for a launch that is not recorded. Source: Price and
        McIntosh-Smith, "Oclgrind" (2015).
        """
        given = check_launch(self, kernel, global_size, local_size, arguments)
        if self.cl is not recorded:
            given = [self._copied(a) if isinstance(a, Array) else g for a, g in zip(arguments, given, strict=True)]
        program = recorded.Program(self.context, kernel.text)
        program.options = kernel.options
        launch = recorded.described(program, kernel.name, global_size, local_size, given)
        lines = answers().findings(launch) if self.cl is recorded else _mistakes(launch)
        return understood(lines, kernel.text, axes=len(global_size))

    def flush(self):
        """Hand the queue's commands to the device and return at once. No errors. Source: pyopencl's documentation."""
        self.queue.flush()

    def finish(self):
        """Wait until all commands of the queue have ended. No errors. Source: pyopencl's documentation."""
        self.queue.finish()

    def _built(self, text, options):
        try:
            with warnings.catch_warnings(), _silent():
                warnings.simplefilter("ignore")  # a compiler may say something about every program
                return self.cl.Program(self.context, text).build(list(options))
        except self.cl.Error as error:
            if isinstance(error, BuildError):  # the recording's
                raise
            raise BuildError(compiler_said(str(error))) from None  # pyopencl's names folders of this machine

    def _copied(self, array):
        return recorded.Buffer(self.context, recorded.mem_flags.COPY_HOST_PTR, hostbuf=self.to_host(array))


@contextlib.contextmanager
def _silent():
    """Let nobody write to standard error: some compilers do, beside the message of the error."""
    kept = os.dup(2)
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _mistakes(launch):
    try:
        return look_for_mistakes(launch)
    except NoDevice:  # a device, but no simulator: the page's own launches were looked at
        return Kept(load_recording()).findings(launch)


def recorded_session():
    """Return a `Session` on the recorded device, also where a real one computes: other devices may give other numbers.

    Its launches are NotRecorded but for the lesson's. Source: the course's own.
    """
    return Session(recorded.get_platforms()[0].get_devices()[0])
