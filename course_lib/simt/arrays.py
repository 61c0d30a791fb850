"""Arrays on the device that the executor plays: numbers, and which of them somebody has written.

Source: Numba's documentation, "Memory management".
"""


class DeviceArray:
    """An array in the executor's global memory. Source: Numba's documentation, "Memory management"."""

    def __init__(self, numbers, written=None, allocation=None):
        self.numbers, self.written = numbers, written
        self.allocation = numbers if allocation is None else allocation
