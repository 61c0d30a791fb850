"""Threads of a launch as lanes of a vector: which thread of which block and warp each lane is.

Source: NVIDIA, "CUDA C++ Programming Guide", "Thread Hierarchy"; H, "Grid and Block". Threads of a block are
numbered with x fastest, and 32 in that order are a warp.
"""

import numpy as np

from course_lib.cuda.launch_checks import LaunchError

WARP = 32
NUMBER_BITS = 31
"""Of the executor: a thread's number, its block's and its own, is a positive int32."""


def block_bits(threads):
    """Return how many bits of a thread's number are its own in a block of `threads`: whole warps, 5 to 10."""
    return max(WARP.bit_length() - 1, (threads - 1).bit_length())


def check_grid(grid, block=(1024, 1, 1)):
    """Raise LaunchError if a grid has more blocks than the executor numbers."""
    blocks, threads = grid[0] * grid[1] * grid[2], block[0] * block[1] * block[2]
    most = (2**NUMBER_BITS - 1) >> block_bits(threads)
    if blocks > most:
        raise LaunchError(
            f"grid is {grid}, {blocks:,} blocks; without a GPU {most:,} of {threads:,} threads are possible. Use fewer "
            "or larger blocks, or let each thread do more."
        )


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
        self.nobody = None  # the empty Mask, once it is made
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
