"""What can be wrong with grid, block, stream and shared memory, worded once for every device.

Source: NVIDIA, "CUDA C++ Programming Guide", "Compute Capabilities". A driver answers a bad launch with a number; here
it gets a sentence with the fix. Nothing in this module needs Numba.
"""

import numbers

import numpy as np

from course_lib.cuda.tracebacks import OneLine

MAX_THREADS = 1024
MAX_BLOCK = (1024, 1024, 64)
MAX_GRID = (2**31 - 1, 65535, 65535)
SHARED_BYTES = 48 * 1024
"""Of a block: static shared arrays, and what every GPU gives as dynamic shared memory."""

WHOLE = (int, *(np.dtype(f"{kind}{bytes}").type for kind in "iu" for bytes in (1, 2, 4, 8)))
"""Classes of whole numbers, exactly these: a subclass may do anything when it is compared."""


class LaunchError(OneLine, ValueError):
    """A launch that no GPU accepts; the message says what to do. Source: the course's own."""


def check_launch(grid, block):
    """Return (grid, block) as triples of int.

    Raises
    ------
    LaunchError
        If a size is no whole number >= 1, or is out of a GPU's limits.

    Source: NVIDIA, "CUDA C++ Programming Guide", "Compute Capabilities".
    """
    grid, block = _triple(grid, "grid"), _triple(block, "block")
    threads = block[0] * block[1] * block[2]
    if threads > MAX_THREADS:
        swapped = grid[0] * grid[1] * grid[2] <= MAX_THREADS
        fix = "Use a smaller block and more blocks, for example 256 or (16, 16)."
        if swapped:
            fix = f"Did you swap grid and block? The order is kernel[grid, block]. If not: {fix[0].lower()}{fix[1:]}"
        raise LaunchError(f"block is {block}, {threads:,} threads; a GPU takes at most {MAX_THREADS:,}. {fix}")
    for name, sizes, most in (("block", block, MAX_BLOCK), ("grid", grid, MAX_GRID)):
        for axis, size, limit in zip("xyz", sizes, most, strict=True):
            if size > limit:
                raise LaunchError(
                    f"{name} is {sizes}; along {axis} a GPU takes at most {limit:,}. Put the long side along x, which "
                    f"takes {most[0]:,}."
                )
    return grid, block


def is_whole(value):
    """Return whether a value is a whole number. Source: the course's own."""
    return any(type(value) is kind for kind in WHOLE)


def _triple(value, name):
    values = tuple(value) if _is_sequence(value) else (value,)
    if any(type(v) is kind for v in values for kind in (float, np.float64, np.float32)):
        raise LaunchError(
            f"{name} is {value!r}; it must be whole numbers >= 1. / gives a float: divide with //, and round up: "
            "(n + 255) // 256."
        )
    if not 1 <= len(values) <= 3 or not all(is_whole(v) for v in values):
        raise LaunchError(
            f"{name} is {_given(value)}; it must be one to three whole numbers >= 1, such as 128 or (16, 16)."
        )
    if any(v < 1 for v in values):
        hint = " Is there no data, or did n // 256 round down? To round up: (n + 255) // 256." if name == "grid" else ""
        raise LaunchError(f"{name} is {value!r}; every number must be >= 1.{hint}")
    if any(v >= 2**63 for v in values):
        raise LaunchError(f"{name} has a number that does not fit into 64 bits.")
    return (*(int(v) for v in values), 1, 1)[:3]


def _is_sequence(value):
    return type(value) is tuple or type(value) is list


def _given(value):
    """How a message shows what was given; an object of a class that is not known here is not asked."""
    known = (*WHOLE, bool, float, str, type(None))
    parts = value if _is_sequence(value) else (value,)
    if len(parts) < 9 and all(any(type(p) is k for k in known) for p in parts):
        return repr(value)[:100]
    return f"a {type.__dict__['__name__'].__get__(type(value))}"


def check_shared(count, limit, device="this device"):
    """Return the bytes of dynamic shared memory as int.

    Raises
    ------
    LaunchError
        If it is no whole number, negative, or above `limit`, the device's bytes a block.

    Source: NVIDIA, "CUDA C++ Programming Guide", "Shared Memory".
    """
    if not is_whole(count):
        raise LaunchError(f"shared_bytes is {_given(count)}; it must be a whole number of bytes, size * itemsize.")
    if not 0 <= count <= limit:
        raise LaunchError(
            f"shared_bytes is {count:,} bytes; a block of {device} has 0 to {limit:,} bytes of dynamic shared memory. "
            "Use smaller tiles."
        )
    return int(count)


def check_priority(priority):
    """Return a priority as an int; raise TypeError unless it is a whole number.

    Source: NVIDIA, "CUDA C++ Programming Guide", "Stream Priorities".
    """
    if not is_whole(priority):
        raise TypeError(f"priority is {priority!r:.60}; it must be a whole number: 0, or below for what is urgent.")
    return int(priority)


def check_stream(stream):
    """Return a stream, or 0 for the default one.

    Raises
    ------
    LaunchError
        If it is a number: it will have been meant as shared_bytes, which come fourth.

    Source: Numba's documentation, "Streams".
    """
    if stream is None or (isinstance(stream, numbers.Number) and stream == 0):
        return 0
    if isinstance(stream, numbers.Number | str | tuple | list | np.ndarray):
        raise LaunchError(
            f"stream is {stream!r}; it must be gpu.stream(), or 0 for the default one. Shared memory comes fourth: "
            "kernel[grid, block, 0, shared_bytes]."
        )
    return stream
