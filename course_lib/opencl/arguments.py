"""What a launch is made of on the host's side, arrays and built kernels, and what OpenCL would refuse.

Source: Khronos, "The OpenCL Specification", "clEnqueueNDRangeKernel", "Memory Objects".
"""

import math
from dataclasses import dataclass, field

import numpy as np

from course_lib.opencl.launches import value_argument


@dataclass(frozen=True)
class Array:
    """Numbers in a buffer of a `Session`, row by row: what OpenCL itself does not know of a buffer.

    Attributes
    ----------
    shape : tuple of int
    dtype : numpy.dtype
    buffer : object
        pyopencl's Buffer.
    session : Session

    Source: the course's own.
    """

    shape: tuple
    dtype: np.dtype
    buffer: object = field(repr=False)
    session: object = field(repr=False)

    @property
    def size(self):
        """How many numbers it holds."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class Built:
    """A kernel that was built, with the text and the options that it was built from. Source: the course's own."""

    kernel: object = field(repr=False)
    text: str = field(repr=False)
    options: tuple
    name: str


def check_launch(session, kernel, global_size, local_size, arguments):
    """Return the arguments as pyopencl takes them; raise unless the launch is one that OpenCL can carry out.

    Raises
    ------
    TypeError
        For sizes that are no tuples of whole numbers; a host array, an array of another session, a number of Python's.
    ValueError
        For sizes of different lengths, a global size that is no multiple of the local size, a group that is too large.

    Source: Khronos, "The OpenCL Specification", "clEnqueueNDRangeKernel".
    """
    for name, sizes in (("global_size", global_size), ("local_size", local_size)):
        if not isinstance(sizes, tuple) or not all(isinstance(n, int | np.integer) for n in sizes):
            raise TypeError(f"{name} is {sizes!r}; it must be a tuple of whole numbers such as (1024,).")
        if not 1 <= len(sizes) <= 3 or min(sizes) < 1:
            raise ValueError(f"{name} is {sizes}; it has one to three sizes, each >= 1.")
    if len(global_size) != len(local_size):
        raise ValueError(f"global_size {global_size} and local_size {local_size} have different numbers of axes.")
    if any(g % n for g, n in zip(global_size, local_size, strict=True)):
        up = tuple(-(-g // n) * n for g, n in zip(global_size, local_size, strict=True))
        raise ValueError(
            f"global_size {global_size} is no multiple of local_size {local_size}, so the last work-groups would not "
            f"be full. Launch {up} work-items, and let the kernel guard those without work."
        )
    if math.prod(local_size) > session.device.max_work_group_size:
        raise ValueError(
            f"local_size {local_size} is {math.prod(local_size):,} work-items; this device has at most "
            f"{session.device.max_work_group_size:,} in a group. Choose smaller groups."
        )
    return [_given(session, kernel.name, place, argument) for place, argument in enumerate(arguments)]


def _given(session, kernel, place, argument):
    what = f"argument {place} of {kernel}"
    if isinstance(argument, np.ndarray):
        raise TypeError(f"{what} is a host array; copy it first: session.to_device(...).")
    if isinstance(argument, Array):
        if argument.session is not session:
            raise TypeError(f"{what} lies in another session's context; copy it over: to_host there, to_device here.")
        return argument.buffer
    if isinstance(argument, session.cl.LocalMemory):
        return argument
    try:
        value_argument(argument)
    except TypeError as error:
        raise TypeError(str(error).replace("an argument", what, 1)) from None
    return argument
