"""The device that is not there: its name says so, its limits are an H200's, there is one of it.

Names, parameters and results are Numba's. Source: Numba's documentation, "Device management".
"""

import contextlib
import functools
from typing import NamedTuple

from course_lib.cuda.host import attributes, streams
from course_lib.cuda.host.refused import NeedsGPU

NAME = "SIMT executor (no GPU)"


class MemoryInfo(NamedTuple):
    """Bytes of a device's memory. Source: Numba's of this name."""

    free: int
    total: int


class ComputeCapability(NamedTuple):
    """Which generation of devices it is. Source: Numba's of this name."""

    major: int
    minor: int


class Device:
    """The device with the number 0; its attributes are those of `attributes`. Source: Numba's "Device management"."""

    id, name, uuid = 0, NAME, "GPU-00000000-0000-0000-0000-000000000000"
    compute_capability = ComputeCapability(*attributes.CAPABILITY)
    supports_float16 = supports_bfloat16 = True
    attributes = attributes.ATTRIBUTES

    def __getattr__(self, name):
        if name not in attributes.ATTRIBUTES:
            raise AttributeError(f"{NAME} has no device attribute {name}; it has {', '.join(attributes.ATTRIBUTES)}.")
        return attributes.ATTRIBUTES[name]

    def get_device_identity(self):
        """Return where the device is plugged in: nowhere, zeros. No errors."""
        return {"pci_domain_id": 0, "pci_bus_id": 0, "pci_device_id": 0}

    def get_primary_context(self):
        """Return its Context. No errors."""
        return CONTEXT

    def reset(self):
        """Forget what the device holds: it holds nothing by itself. No errors."""

    def __enter__(self):
        return None

    def __exit__(self, *error):
        return None

    def __repr__(self):
        return f"<CUDA device 0 '{NAME}'>"

    def __str__(self):
        return "<Managed Device 0>"


DEVICE = Device()


class Context:
    """The context of the device: it makes streams and events, and knows the memory. Source: Numba's of this name."""

    device = DEVICE

    def get_memory_info(self):
        """Return the MemoryInfo of an H200 that is empty. No errors."""
        return MemoryInfo(attributes.MEMORY_BYTES, attributes.MEMORY_BYTES)

    def synchronize(self):
        """Wait for the device: it is done. No errors."""

    push = pop = reset = prepare_for_use = synchronize

    @contextlib.contextmanager
    def defer_cleanup(self):
        """Free no memory within a `with` block. No errors."""
        yield

    create_stream = staticmethod(streams.stream)
    get_default_stream = staticmethod(streams.default_stream)
    get_legacy_default_stream = staticmethod(streams.legacy_default_stream)
    get_per_thread_default_stream = staticmethod(streams.per_thread_default_stream)
    create_external_stream = staticmethod(streams.external_stream)
    create_event = staticmethod(streams.event)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        raise NeedsGPU(f"a context's {name} needs a GPU")

    def __repr__(self):
        return f"<CUDA context of device 0, {NAME}>"


CONTEXT = Context()


class _Devices:
    """All devices: the one. Source: Numba's documentation, "Device management"."""

    lst = (DEVICE,)
    current = DEVICE

    def __getitem__(self, devnum):
        return self.lst[devnum]

    def __iter__(self):
        return iter(self.lst)

    def __len__(self):
        return len(self.lst)

    def __str__(self):
        return ", ".join(map(str, self.lst))


gpus = _Devices()


def is_available():
    """Return True: kernels can be launched, on the SIMT executor. No errors."""
    return True


def is_supported_version():
    """Return True. No errors."""
    return True


def cuda_error():
    """Return None: nothing failed. No errors."""
    return None


def current_context(devnum=None):
    """Return the Context of a device; IndexError for another number than 0."""
    return gpus[devnum or 0].get_primary_context()


def get_current_device():
    """Return the Device. No errors."""
    return DEVICE


def select_device(device_id):
    """Return the Device with this number; IndexError for another one than 0."""
    return gpus[device_id]


def list_devices():
    """Return all devices. No errors."""
    return gpus


def close():
    """Let go of the device. No errors."""


def synchronize():
    """Wait until the device has done everything: a launch returns when it is done. No errors."""


def require_context(fn):
    """Return a function that makes sure of a context before it calls `fn`: there always is one. No errors."""

    @functools.wraps(fn)
    def with_context(*args, **kws):
        return fn(*args, **kws)

    return with_context


@contextlib.contextmanager
def defer_cleanup():
    """Free no memory within a `with` block. No errors."""
    yield


@contextlib.contextmanager
def profiling():
    """Profile within a `with` block: there is no profiler, a kernel's report says more. No errors."""
    yield


def profile_start():
    """Start a profiler: there is none. No errors."""


def profile_stop():
    """Stop a profiler: there is none. No errors."""


def detect():
    """Print the devices as Numba does, and return True. No errors."""
    print(f"Found {len(gpus)} CUDA devices")
    print(f"id {DEVICE.id}    {DEVICE.name:>20} {'[SUPPORTED]':>40}")
    for key, value in (
        ("Compute Capability", "{}.{}".format(*DEVICE.compute_capability)),
        ("PCI Device ID", DEVICE.PCI_DEVICE_ID),
        ("PCI Bus ID", DEVICE.PCI_BUS_ID),
        ("UUID", DEVICE.uuid),
        ("Watchdog", "Disabled"),
        ("FP32/FP64 Performance Ratio", DEVICE.SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO),
    ):
        print(f"{key:>40}: {value}")
    print("Summary:")
    print(f"\t{len(gpus)}/{len(gpus)} devices are supported")
    return True


class _Runtime:
    """What `cuda.runtime` answers. Source: Numba's documentation, "CUDA Runtime"."""

    is_supported_version = staticmethod(is_supported_version)
    supported_versions = (attributes.RUNTIME,)

    def get_version(self):
        """Return the version of CUDA whose H200 the answers are of. No errors."""
        return attributes.RUNTIME


runtime = _Runtime()
