"""Threads of a launch as lanes of a vector: which thread of which block and warp each lane is.

Source: NVIDIA, "CUDA C++ Programming Guide", "Thread Hierarchy"; H, "Grid and Block". Threads of a block are
numbered with x fastest, and 32 in that order are a warp.
"""

import numpy as np

from course_lib.simt.source import kind_name
from course_lib.simt.types import SCALARS

WARP = 32
MAX_THREADS = 1024
MAX_BLOCK = (1024, 1024, 64)
MAX_GRID = (2**31 - 1, 65535, 65535)
MOST_BLOCKS = 2**20
"""Of the executor: a thread's number has 32 bits."""

SHARED_BYTES = 48 * 1024
"""Of a block: static shared arrays, and what every GPU gives as dynamic shared memory."""


class LaunchError(ValueError):
    """A launch that no GPU accepts. Source: NVIDIA, "CUDA C++ Programming Guide", "Compute Capabilities"."""


def triple(value, name):
    """Return `value`, a whole number or a tuple of one to three, as (x, y, z).

    Raises
    ------
    LaunchError
        If it is something else, or a number is below 1.
    """
    values = tuple(value) if type(value) in (tuple, list) else (value,)
    if not 1 <= len(values) <= 3 or not all(_is_whole(v) for v in values):
        hint = " Divide with //, not with /." if any(type(v) in (float, np.float64) for v in values) else ""
        given = repr(value) if all(type(v) in (int, float, bool) for v in values) else f"of {kind_name(values[0])}"
        raise LaunchError(
            f"{name} is {given[:100]}; it must be one to three whole numbers >= 1, such as 128 or (16, 16).{hint}"
        )
    if any(v < 1 for v in values):
        raise LaunchError(f"{name} is {value!r}; every number must be >= 1; round up: (n + 255) // 256, not n // 256.")
    if any(v >= 2**63 for v in values):
        raise LaunchError(f"{name} has a number that does not fit into 64 bits.")
    return (*(int(v) for v in values), 1, 1)[:3]


def _is_whole(value):
    kind = type(value)
    return kind is int or any(kind is scalar for scalar in SCALARS if np.issubdtype(scalar, np.integer))


def check_launch(grid, block, shared=0, most_shared=SHARED_BYTES):
    """Return (grid, block) as triples.

    Raises
    ------
    LaunchError
        If a size is out of a GPU's limits; the message names the limit and the fix.
    """
    grid, block = triple(grid, "grid"), triple(block, "block")
    threads = block[0] * block[1] * block[2]
    if threads > MAX_THREADS:
        raise LaunchError(
            f"block is {block}, {threads:,} threads; a GPU takes at most {MAX_THREADS:,}. Use a smaller block and "
            "more blocks, for example 256 or (16, 16)."
        )
    for name, sizes, most in (("block", block, MAX_BLOCK), ("grid", grid, MAX_GRID)):
        for axis, size, limit in zip("xyz", sizes, most, strict=True):
            if size > limit:
                raise LaunchError(
                    f"{name} is {sizes}; along {axis} a GPU takes at most {limit:,}. Put the long side along x, "
                    f"which takes {most[0]:,}."
                )
    if grid[0] * grid[1] * grid[2] > MOST_BLOCKS:
        raise LaunchError(
            f"grid is {grid}, {grid[0] * grid[1] * grid[2]:,} blocks; without a GPU {MOST_BLOCKS:,} are possible. Use "
            "larger blocks, or let each thread do more."
        )
    if not _is_whole(shared) or not 0 <= shared <= most_shared:
        raise LaunchError(
            f"the launch asks for {format(shared, ',') if _is_whole(shared) else kind_name(shared)} bytes of dynamic "
            f"shared memory; it must be a whole number from 0 to {most_shared:,}, which an H200 has for a block. Use "
            "smaller tiles."
        )
    return grid, block


class Lanes:
    """The threads of some blocks, one lane each: `count` lanes, numbered block by block, warp by warp.

    Attributes
    ----------
    block, warp, lane, thread : (count,) arrays
        The block's place in this batch, the warp's place in this batch, the lane in the warp 0 ... 31, and the
        thread's number in its block.
    thread_idx, block_idx : triples of (count,) int32 arrays
        As `cuda.threadIdx` and `cuda.blockIdx`.

    Source: NVIDIA, "CUDA C++ Programming Guide", "Thread Hierarchy".
    """

    def __init__(self, grid, block, first, blocks):
        self.grid_dim, self.block_dim, self.first, self.blocks = grid, block, first, blocks
        self.threads = threads = block[0] * block[1] * block[2]
        self.count = blocks * threads
        self.warps_per_block = -(-threads // WARP)
        self.thread = np.tile(np.arange(threads, dtype=np.int32), blocks)
        self.block = np.repeat(np.arange(blocks, dtype=np.int32), threads)
        self.lane = self.thread % WARP
        self.warp = self.block * self.warps_per_block + self.thread // WARP
        self.thread_idx = _split(self.thread, block)
        self.block_idx = _split(np.repeat(np.arange(first, first + blocks, dtype=np.int32), threads), grid)

    def place(self, lane):
        """Return (thread, block) of a lane as triples (x, y, z) of ints."""
        return tuple(tuple(int(axis[lane]) for axis in axes) for axes in (self.thread_idx, self.block_idx))

    def thread_triple(self, number):
        """Return (x, y, z) of thread `number` of a block."""
        return tuple(int(v) for v in _split(number, self.block_dim))

    def block_triple(self, number):
        """Return (x, y, z) of block `number` of the grid."""
        return tuple(int(v) for v in _split(number, self.grid_dim))

    def name(self, lane):
        """Return how a message calls a lane: thread (x, y, z) of block (x, y, z), as far as they have axes."""
        return self.name_of(int(self.thread[lane]), self.first + int(self.block[lane]))

    def name_of(self, thread, block):
        """Return how a message calls thread number `thread` of block number `block`, or of the same block if None."""
        thread = _short(self.thread_triple(thread), self.block_dim)
        where = "the same block" if block is None else f"block {_short(self.block_triple(block), self.grid_dim)}"
        return f"thread {thread} of {where}"


def _split(number, sizes):
    x, y, _ = sizes
    return number % x, number // x % y, number // (x * y)


def _short(values, sizes):
    axes = max(i for i in range(3) if i == 0 or sizes[i] > 1) + 1
    values = values[:axes]
    return str(values[0]) if axes == 1 else str(values)
