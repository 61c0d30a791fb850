"""Who answers a launch where pyopencl does not: the course's recording, or a device that is being recorded.

Source: the course's own.
"""

import contextlib

from course_lib.opencl.devices import INSTALL, NoDevice, why_none
from course_lib.opencl.launches import build_key, load_recording, unpack


class NotRecorded(NoDevice):
    """This launch or build needs a device: nobody has recorded it. Source: the course's own."""


def not_recorded(what):
    """Return the error for something that only a device could answer. No errors. Source: the course's own."""
    return NotRecorded(
        f"{what} needs an OpenCL device, and here is none ({why_none()}); only what the page launches as it stands was "
        f"recorded. {INSTALL}"
    )


class Kept:
    """Answers from a `Recording`: what a build said, what a launch wrote. Source: the course's own."""

    def __init__(self, recording):
        self.recording = recording

    def build(self, text, options):
        """Return "" or what the compiler said; NotRecorded if it never saw this. Source: the course's own."""
        said = self.recording.builds.get(build_key(text, options))
        if said is None:
            raise not_recorded("to compile a program of your own")
        return said

    def launch(self, launch):
        """Return what a `Launch` wrote and its times; NotRecorded if no device made it. Source: the course's own."""
        made = self.recording.launches.get(launch.key)
        if made is None:
            raise not_recorded(f"the launch of {launch.kernel} with these numbers")
        return made

    def findings(self, launch):
        """Return the lines that a simulator wrote of a `Launch`; NotRecorded if none ran it. Source: as `launch`."""
        lines = self.recording.findings.get(launch.key)
        if lines is None:
            raise not_recorded(f"to look for mistakes in the launch of {launch.kernel}")
        return unpack(lines).decode().splitlines()


_answers = []


def answers():
    """Return what answers builds and launches: the course's recording, unless `answered_by` gave something else.

    No errors. Source: the course's own.
    """
    return _answers[-1] if _answers else Kept(load_recording())


@contextlib.contextmanager
def answered_by(other):
    """Let `other`, with the methods of `Kept`, answer inside of a `with`: a device that is being recorded.

    No errors. Source: the course's own.
    """
    _answers.append(other)
    try:
        yield
    finally:
        _answers.pop()
