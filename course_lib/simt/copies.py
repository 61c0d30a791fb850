"""Asynchronous copies: what a thread has asked for, and what has arrived.

Source: NVIDIA, "PTX ISA", "cp.async", "cp.async.commit_group" and "cp.async.wait_group". A copy's numbers are in shared
memory only when its thread has waited for the group, so a kernel that forgets to wait reads what was there before.
"""

import numpy as np


class AsyncCopies:
    """The copies under way of all lanes. Source: NVIDIA, "PTX ISA", "Asynchronous copy"."""

    def __init__(self, count):
        self.groups = np.zeros(count, np.int64)  # how many each lane has committed
        self.under_way = []  # [view, lane, cells, values (lanes, width), group]

    def ask(self, view, lane, cells, values):
        """Enter that lane[i] copies values[i] to the cells from cells[i] on."""
        self.under_way.append([view, lane, cells, values, self.groups[lane]])

    def commit(self, mask):
        """What the lanes asked for since the last commit is a group."""
        self.groups[mask.index] += 1

    def arrived(self, mask, newest):
        """Yield (view, lane, cells, values) of what has arrived when lanes wait for all groups but the `newest`."""
        waits = np.zeros(self.groups.size, np.bool_)
        waits[mask.index] = True
        left = []
        for view, lane, cells, values, group in self.under_way:
            done = waits[lane] & (group < self.groups[lane] - newest)
            if done.any():
                yield view, lane[done], cells[done], values[done]
            if not done.all():
                stay = ~done
                left.append([view, lane[stay], cells[stay], values[stay], group[stay]])
        self.under_way = left
