"""Device memory that is given back is kept for the next array of its size: asking the driver anew takes far longer.

An operation allocates its result at each call, and a training step has dozens of them. The driver needs 10 to 1,000
microseconds for one allocation, and to free memory it waits for the whole device; most kernels of a small network are
done in 5. Source: Numba's documentation, "External Memory Management (EMM) Plugin interface".

Memory may be handed out again while the kernel that used it last is still waiting in the queue: whatever the next owner
does is enqueued behind it. That is true of one stream. Once there are several, the pool enqueues a barrier: one byte of
the block is set in the default stream, which waits for all streams, as they wait for it. The host goes on.
"""

from collections import defaultdict

from numba.cuda import HostOnlyCUDAMemoryManager, MemoryPointer
from numba.cuda.cudadrv import driver

BREADTH = 256 << 20
"""Bytes that a recorded graph takes before it uses a block twice: whoever gets it waits until its readers are done."""

SMALLEST = 512
"""Bytes. Sizes are rounded up to a multiple of this, and above 1 MiB to a multiple of an eighth of a power of two."""


class Pool(driver.GetIpcHandleMixin, HostOnlyCUDAMemoryManager):
    """Numba's manager of device memory, with a list of free blocks for each size. Source: Numba's documentation."""

    interface_version = 1
    several_streams = False
    """Whether this process has made a stream: then a barrier comes before a block is used again."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.free, self.recording = defaultdict(list), None

    def initialize(self):
        """Numba calls this when the first context begins."""
        if self.deallocations.memory_capacity == driver._SizeNotSet:
            self.deallocations.memory_capacity = self.get_memory_info().total

    def memalloc(self, size):
        """Return a MemoryPointer to at least `size` bytes; CudaAPIError if the card has no more."""
        block, graph, free = rounded(size), self.recording, self.free
        address = self._kept(block) or self._new(block)

        def give_back():  # what a recorded graph uses stays its own, as long as it may be replayed
            home = free if graph is None or graph.over else graph.free
            home[block].append(address)

        return MemoryPointer(self.context, address, size, finalizer=give_back)

    def _kept(self, block):
        if self.recording is not None and (address := self.recording.again(block)) is not None:
            return address
        if not self.free[block]:
            return None
        address = self.free[block].pop()
        if self.several_streams and self.recording is None:
            driver.driver.cuMemsetD8Async(address, 0, 1, 0)
        return address

    def _new(self, block):
        try:
            return driver.driver.cuMemAlloc(block)
        except driver.CudaAPIError:
            if self.recording is not None:  # nothing may be freed then
                raise
            self.release()  # blocks of other sizes may be what is missing
            return driver.driver.cuMemAlloc(block)

    def release(self):
        """Give all free blocks back to the driver, when the device has done everything."""
        driver.driver.cuCtxSynchronize()
        for addresses in self.free.values():
            while addresses:
                driver.driver.cuMemFree(addresses.pop())

    def get_memory_info(self):
        """Return (free, total) bytes of the card, as the driver counts them: free blocks of the pool are taken."""
        free, total = driver.driver.cuMemGetInfo()
        return driver.MemoryInfo(free=free, total=total)

    def reset(self):
        """The context ends, and with it all memory; arrays that still live give theirs back to a list nobody reads."""
        super().reset()
        self.free, self.recording = defaultdict(list), None


class GraphMemory:
    """The free blocks of a recorded graph; when it is `over`, they are the pool's again. Source: the course's own."""

    def __init__(self, pool):
        self.home, self.free, self.over, self.taken = pool.free, defaultdict(list), False, 0

    def again(self, block):
        """Return a block of this size that was given back, the one that has been free the longest; None for a new one.

        No errors.
        """
        if self.taken >= BREADTH and self.free[block]:
            return self.free[block].pop(0)
        self.taken += block
        return None

    def end(self):
        """The graph will not be replayed any more."""
        self.over = True
        for block, addresses in self.free.items():
            self.home[block].extend(addresses)
        self.free = defaultdict(list)


def rounded(size):
    """Return how many bytes an allocation of `size` bytes gets. No errors. Source: the course's own.

    At most 511 bytes more, or above 1 MiB an eighth, and few different sizes, so that blocks fit again.
    """
    step = SMALLEST
    if size > 1 << 20:
        step = 1 << (size - 1).bit_length() - 4
    return max(SMALLEST, -(-size // step) * step)
