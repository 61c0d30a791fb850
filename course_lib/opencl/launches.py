"""What a launch consists of, under which key it is kept, and the file of launches that a device once made.

Without an OpenCL device the lesson's launches answer from that file (`recorded`); tools/measure_opencl.py writes it.
Source: the course's own.
"""

import base64
import functools
import hashlib
import json
import zlib
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

UNSET = 0xFF
"""Memory that nobody has written holds this byte everywhere, four of which are NaN in float32."""


def recording_file():
    """Return the path of the recorded launches, beside this module. No errors. Source: the course's own."""
    return Path(__file__).with_name("recorded_launches.json")


@dataclass(frozen=True)
class Launch:
    """A kernel's launch: text, build options, name, sizes, and arguments.

    Attributes
    ----------
    text, options, kernel
        The program's text, what it was built with (a tuple of str), the kernel's name.
    sizes : tuple
        Global size, local size or None, global offset or None: tuples of int.
    arguments : tuple
        ("buffer", place, bytes) for memory, place being the first argument with the same memory; ("value", dtype,
        bytes) for a number; ("local", size) for local memory.
    device : int
        0, or 1 for a launch that the recording's second device made.

    Source: Khronos, "The OpenCL Specification", "clEnqueueNDRangeKernel".
    """

    text: str
    options: tuple
    kernel: str
    sizes: tuple
    arguments: tuple
    device: int = 0

    @property
    def key(self):
        """A name made of all of it: equal launches have equal keys."""
        told = [part if isinstance(part, bytes) else str(part).encode() for a in self.arguments for part in a]
        head = [self.text, self.options, self.kernel, self.sizes, len(self.arguments)]
        head = json.dumps(head + [self.device] * bool(self.device)).encode()
        whole = b"\0".join(hashlib.sha256(part).digest() for part in (head, *told))
        return hashlib.sha256(whole).hexdigest()[:24]


def build_key(text, options):
    """Return the name under which a build is kept. No errors. Source: the course's own."""
    return hashlib.sha256(json.dumps([text, list(options)]).encode()).hexdigest()[:24]


@dataclass
class Recording:
    """Launches that a device made: by their key what each wrote and how long it took; builds; and the device's facts.

    Attributes
    ----------
    device : dict
        As `devices.Device`, without its handle; date and processor beside.
    builds : dict
        Key of a build -> "" or what the compiler said when it failed.
    launches : dict
        Key -> {"writes": {place of the argument: packed bytes}, "times": nanoseconds from queued to submit, start and
        end}.
    findings : dict
        Key -> lines that a simulator wrote of this launch, packed.
    second : dict
        As `device`, of the device that made the launches of device 1.

    Source: the course's own.
    """

    device: dict = field(default_factory=dict)
    builds: dict = field(default_factory=dict)
    launches: dict = field(default_factory=dict)
    findings: dict = field(default_factory=dict)
    second: dict = field(default_factory=dict)

    def save(self, path=None):
        """Write it as JSON; OSError if that fails. Source: the course's own."""
        text = json.dumps(asdict(self), indent=1, sort_keys=True)
        (recording_file() if path is None else Path(path)).write_text(text + "\n", encoding="utf-8")


@functools.cache
def load_recording(path=None):
    """Return the `Recording` of a file, by default the course's own; an empty one if there is none.

    ValueError of JSON if the file is damaged. Source: the course's own.
    """
    file = recording_file() if path is None else Path(path)
    return Recording(**json.loads(file.read_text(encoding="utf-8"))) if file.is_file() else Recording()


def pack(content):
    """Return bytes as text for JSON, compressed. No errors. Source: RFC 1950, RFC 4648."""
    return base64.b64encode(zlib.compress(bytes(content), 9)).decode()


def unpack(text):
    """Return the bytes of a text that `pack` made; zlib.error or binascii.Error of another. Source: as `pack`."""
    return zlib.decompress(base64.b64decode(text))


def value_argument(value):
    """Return a number as an argument of a `Launch`; TypeError if it is Python's own, whose width nobody knows.

    Source: pyopencl's documentation, "Kernel.set_arg".
    """
    if isinstance(value, np.generic):
        return ("value", value.dtype.str, value.tobytes())
    if isinstance(value, bool | int | float):
        fix = "np.int32" if isinstance(value, int) else "np.float32"
        raise TypeError(
            f"an argument is {value!r}, a number of Python's. OpenCL copies its bytes to the kernel, and the kernel's "
            f"text says how many there are: write {fix}({value!r})."
        )
    raise TypeError(f"an argument is a {type(value).__name__}; a kernel takes buffers and NumPy's numbers.")
