"""Copies and launches on the SIMT executor: no GPU needed, every launch reported and checked.

Source: the course's own.
"""

import numpy as np
from numpy.lib.array_utils import byte_bounds

from course_lib import simt
from course_lib.cuda.collect import on_error
from course_lib.cuda.graph import rerun
from course_lib.cuda.host.streams import Event, Stream
from course_lib.simt.arrays import DeviceArray


class Simt:
    """The SIMT executor as a device: see `course_lib.cuda.device`, which calls these. Source: the course's own."""

    name = "SIMT executor (no GPU)"
    kinds = "biuf"
    tuples = False
    shared_limit = 227 * 1024  # of an H100 or H200, which have the most
    reports = True
    records = False
    recording = None

    def owns(self, value):
        """Return whether a value is an array of this device."""
        return isinstance(value, DeviceArray)

    def as_array(self, value):
        """Return an array of this device: itself."""
        return value

    def address(self, array):
        """Return where an array begins, in bytes from its allocation, whose address is a multiple of 256."""
        return array.numbers.__array_interface__["data"][0] - byte_bounds(array.allocation)[0]

    def copy_in(self, host, stream):
        """Return a device array with the numbers and the layout of a host array."""
        return DeviceArray.copy_of(host)

    def copy_out(self, array, stream, out=None):
        """Return a host array with the numbers of a device array: `out`, if that is given."""
        host = array.copy_to_host()
        if out is None:
            return host
        out[...] = host
        return out

    def pinned(self, shape, dtype):
        """Return a host array."""
        return np.empty(shape, dtype)

    def overwrite(self, array, host, stream):
        """Copy a host array into a device array of the same shape and dtype."""
        array.fill_from(host)

    def record(self, function, priority=None, first=True):
        """Return (what a graph's call does, what the function returned); nothing is recorded here: it is run again."""
        return rerun(function, first)

    def empty(self, shape, dtype):
        """Return a device array whose elements count as never written."""
        return DeviceArray.empty(shape, dtype)

    def synchronize(self):
        """Wait for nothing: a launch returns when it is done."""

    def stream(self, priority=0):
        """Return a stream."""
        return Stream()

    def event(self):
        """Return an event."""
        return Event()

    def launcher(self, kernel, grid, block, stream, shared):
        """Return a function of the arguments that launches `kernel` and keeps the report in it."""

        def launch(*arguments):
            kernel.last_report = None
            kernel.last_report = simt.run(
                kernel, grid, block, arguments, shared=shared, on_error=on_error(), show=print
            )

        return launch
