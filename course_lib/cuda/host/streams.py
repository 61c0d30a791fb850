"""Streams and events of a device that does everything in order: all work is done when a launch or a copy returns.

Names, parameters and results are Numba's. An event keeps the time of the host's clock.
Source: Numba's documentation, "Streams" and "Events".
"""

import asyncio
import itertools
import time
import warnings
from contextlib import contextmanager

from course_lib.cuda.choice import DeviceError

_handles = itertools.count(1_024, 16)


class Stream:
    """A stream, in which there is nothing to wait for. Source: Numba's documentation, "Streams"."""

    def __init__(self, name="CUDA stream", handle=None, external=False):
        self.handle = next(_handles) if handle is None else handle
        self.name, self.external = name, external

    def __int__(self):
        return self.handle

    def __repr__(self):
        return f"<{self.name}>" if self.handle < 3 else f"<{self.name} {self.handle}>"

    def synchronize(self):
        """Wait for the work that was enqueued: it is done. No errors."""

    @contextmanager
    def auto_synchronize(self):
        """Wait at the end of a `with` block. No errors."""
        yield self

    def add_callback(self, callback, arg=None):
        """Call `callback(stream, 0, arg)` when the work so far is done: now. Its exception becomes a warning."""
        try:
            callback(self, 0, arg)
        except Exception as error:
            warnings.warn(f"Exception in stream callback: {error}", stacklevel=2)

    def async_done(self):
        """Return an awaitable, whose result is the stream; RuntimeError outside of a running event loop."""
        done = asyncio.get_running_loop().create_future()
        done.set_result(self)
        return done


DEFAULT, LEGACY, PER_THREAD = (
    Stream(f"{name} CUDA stream", handle)
    for handle, name in enumerate(("Default", "Legacy default", "Per-thread default"))
)


def stream():
    """Return a new stream. No errors. Source: Numba's documentation, "Streams"."""
    return Stream()


def default_stream():
    """Return the default stream. No errors."""
    return DEFAULT


def legacy_default_stream():
    """Return the legacy default stream. No errors."""
    return LEGACY


def per_thread_default_stream():
    """Return the default stream of this thread. No errors."""
    return PER_THREAD


def external_stream(ptr):
    """Return a stream for a handle of another library. No errors."""
    return Stream("External CUDA stream", int(ptr), external=True)


class Event:
    """A point in time of a stream. Source: Numba's documentation, "Events"."""

    def __init__(self, timing=True):
        self.timing, self.time = timing, None

    def record(self, stream=0):
        """Take the time: all work before is done. No errors."""
        self.time = time.perf_counter()

    def query(self):
        """Return whether the work before the event is done: it is. No errors."""
        return True

    def synchronize(self):
        """Wait for the event. No errors."""

    def wait(self, stream=0):
        """Let a stream wait for the event. No errors."""

    def elapsed_time(self, evtend):
        """Return the milliseconds until another event; DeviceError as `event_elapsed_time`."""
        return event_elapsed_time(self, evtend)


def event(timing=True):
    """Return a new event; without `timing` it keeps no time. No errors. Source: Numba's documentation, "Events"."""
    return Event(timing)


def event_elapsed_time(evtstart, evtend):
    """Return the milliseconds between two events, by the host's clock.

    Raises
    ------
    DeviceError
        If one was not recorded, or was made with timing=False.

    Source: Numba's documentation, "Events".
    """
    for each in (evtstart, evtend):
        if each.time is None or not each.timing:
            why = "was made with timing=False" if not each.timing else "was not recorded"
            raise DeviceError(f"an event {why} and has no time", "Write event = cuda.event(); event.record() first.")
    return 1e3 * (evtend.time - evtstart.time)
