"""Copies between host and device, from usual memory and from pinned, small and large. Source: the course's own."""

import time

import numpy as np

from course_lib import gpu
from tools.steps.clock import row, summary

SIZES = [4096 * 4**k for k in range(8)]
"""Bytes: 4 KiB to 64 MiB."""


def rows(tiny):
    """Yield one row; times are until the copy is done, and for "returns" until the host may go on."""
    stream, timings = gpu.stream(), {}
    for size in SIZES[:1] if tiny else SIZES:
        there = gpu.empty(size // 4, np.float32)
        for kind, host in (("pageable", np.ones(size // 4, np.float32)), ("pinned", gpu.pinned(size // 4, np.float32))):
            host[...] = 1
            ways = {
                f"to the device, {kind}": lambda h=host, t=there: gpu.overwrite(t, h, stream),
                f"to the host, {kind}": lambda h=host, t=there: gpu.to_host(t, stream, out=h),
            }
            for way, copy in ways.items():
                done, returned = _copy(copy, stream, 3 if tiny or size > 2**24 else 15)
                timings[f"{way}, {size}"], timings[f"{way}, returns, {size}"] = done, returned
    yield row("copies", f"{SIZES[0]:,} to {SIZES[-1]:,} bytes", timings)
    yield calls(64, 20 if tiny else 200)


def calls(images, count):
    """The row of what the host needs to ask for a copy of a batch from pinned memory, by who asks."""
    stream = gpu.stream()
    there, host = gpu.empty((images, 1, 32, 32), np.float32), gpu.pinned((images, 1, 32, 32), np.float32)
    host[...] = 1
    ways = {
        "gpu.overwrite": lambda: gpu.overwrite(there, host, stream),
        "gpu.to_device": lambda: gpu.to_device(host, stream),
        "gpu.to_host": lambda: gpu.to_host(there, stream, out=host),
        "gpu.empty": lambda: gpu.empty(host.shape, host.dtype),
        "event.record": (event := gpu.event()) and (lambda: event.record(stream)),
        "event.wait": lambda: event.wait(stream),
    }
    if hasattr(there, "copy_to_device"):
        ways["Numba's copy_to_device"] = lambda: there.copy_to_device(host, stream=stream)
        from cuda.bindings import driver

        address, here = there.device_ctypes_pointer.value, host.ctypes.data
        handle = driver.CUstream(int(stream.handle))
        ways["the driver's cuMemcpyHtoDAsync"] = lambda: driver.cuMemcpyHtoDAsync(address, here, host.nbytes, handle)
    timings = {}
    for way, call in ways.items():
        found = []
        for _ in range(count):
            stream.synchronize()
            begin = time.perf_counter()
            call()
            found.append(time.perf_counter() - begin)
        timings[way] = summary(found[count // 10 :])
    return row("asking for a copy", f"{host.nbytes:,} bytes, pinned", timings)


def _copy(copy, stream, rounds):
    done, returned = [], []
    for _ in range(rounds + 1):
        stream.synchronize()
        begin = time.perf_counter()
        copy()
        returned.append(time.perf_counter() - begin)
        stream.synchronize()
        done.append(time.perf_counter() - begin)
    return summary(done[1:]), summary(returned[1:])
