"""What can be wrong with grid, block, stream and shared memory, worded once for every device.

Source: NVIDIA, "CUDA C++ Programming Guide", "Compute Capabilities". A driver answers a bad launch with a number; here
it gets a sentence with the fix. Nothing in this module needs Numba.
"""

import numbers

import numpy as np

MAX_THREADS = 1024
MAX_BLOCK = (1024, 1024, 64)
MAX_GRID = (2**31 - 1, 65535, 65535)


class LaunchError(ValueError):
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
                raise LaunchError(f"{name} is {sizes}; along {axis} a GPU takes at most {limit:,}.")
    return grid, block


def _triple(value, name):
    values = value if isinstance(value, tuple | list) else (value,)
    if any(isinstance(v, float | np.floating) for v in values):
        raise LaunchError(
            f"{name} is {value!r}; it must be whole numbers. / gives a float: write n // 256, or -(-n // 256), which "
            "rounds up."
        )
    whole = all(isinstance(v, numbers.Integral) and not isinstance(v, bool | np.bool_) for v in values)
    if not 1 <= len(values) <= 3 or not whole:
        raise LaunchError(f"{name} is {value!r}; it must be one to three whole numbers >= 1, such as 128 or (16, 16).")
    if any(v < 1 for v in values):
        hint = " Is there no data, or did n // 256 round down? Write -(-n // 256)." if name == "grid" else ""
        raise LaunchError(f"{name} is {value!r}; every size must be >= 1.{hint}")
    return (*(int(v) for v in values), 1, 1)[:3]


def check_shared(count, limit):
    """Return the bytes of dynamic shared memory as int.

    Raises
    ------
    LaunchError
        If it is no whole number, negative, or above `limit`, the device's bytes a block.

    Source: NVIDIA, "CUDA C++ Programming Guide", "Shared Memory".
    """
    if not isinstance(count, numbers.Integral) or isinstance(count, bool):
        raise LaunchError(f"shared_bytes is {count!r}; it must be a whole number of bytes, size * itemsize.")
    if not 0 <= count <= limit:
        raise LaunchError(f"shared_bytes is {count:,}; a block has 0 to {limit:,} bytes. Use smaller tiles.")
    return int(count)


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
