"""Sums over all ranks of arrays that lie on a device, by way of the host: where the engine knows no devices.

A step on a device enqueues what it wants summed and goes on; `NcclWorld` has the same names and keeps all of it on the
device. Here each array is copied to the host, summed there, and copied back.

Source: the course's own.
"""

import numpy as np

from course_lib import gpu


class HostSums:
    """What a step on a device asks for its sums, by a World that exchanges NumPy arrays.

    Parameters
    ----------
    world : World

    Source: the course's own.
    """

    def __init__(self, world):
        self.world = world

    def start(self, arrays, flag=None, stream=None):
        """Sum device arrays (...) over all ranks, in place, after what the stream has.

        A flag (1,) int32 becomes 1 if that of any rank is.

        Errors as `World.all_reduce`. Source: the course's own.
        """
        if stream is not None:
            stream.synchronize()
        for array in arrays:
            host = gpu.to_host(array)
            with np.errstate(over="ignore", invalid="ignore"):
                self.world.all_reduce(host)
            gpu.overwrite(array, host)
        if flag is not None:
            host = gpu.to_host(flag)
            self.world.all_reduce(host)
            gpu.overwrite(flag, np.minimum(host, 1))

    def finish(self, stream=None):
        """Let the stream, or the default one, go on after the sums; return a mark for `wait`. No errors."""

    def wait(self, mark):
        """Return when the device has come to a mark, or to an event; RankError if it does not."""
        if mark is not None:
            mark.synchronize()
