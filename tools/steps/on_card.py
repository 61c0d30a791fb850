"""Steps whose batches never leave the card: all images lie there, and each recorded step gathers its own rows.

Source: the course's own.
"""

import numpy as np
from numba import cuda

from course_lib import gpu

THREADS = 256


@gpu.jit(cache=True)
def gather(pool, pool_labels, order, turn, x, labels):
    """x (B, D), labels (B,) = rows of pool (n, D): those whose numbers stand in `order` where this turn's begin."""
    first = turn[0] * x.shape[0]
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        x[i // x.shape[1], i % x.shape[1]] = pool[order[first + i // x.shape[1]], i % x.shape[1]]
    for i in range(cuda.grid(1), labels.size, cuda.gridsize(1)):
        labels[i] = pool_labels[order[first + i]]


@gpu.jit(cache=True)
def next_turn(turn):
    """turn (1,) counts batches."""
    turn[0] += 1


class OnCard:
    """Epochs of recorded steps on images that lie on the card; `step` is a `Step` of the batch's size.

    An epoch has as many batches as are whole. Source: the course's own.
    """

    def __init__(self, step, pool, pool_labels):
        self.step, self.rows = step, len(pool_labels)
        self.pool, self.pool_labels = pool.reshape(self.rows, -1), pool_labels
        self.batch = len(step.labels)
        self.batches = self.rows // self.batch
        self.x = step.x.reshape(self.batch, -1)
        self.order = gpu.to_device(np.arange(self.rows, dtype=np.int32))
        self.turn = gpu.to_device(np.zeros(1, np.int32))
        self.graph = gpu.record(self._once)

    def _once(self):
        grid = max(1, self.x.size // (4 * THREADS))
        gather[grid, THREADS](self.pool, self.pool_labels, self.order, self.turn, self.x, self.step.labels)
        sums = self.step()
        next_turn[1, 1](self.turn)
        return sums

    def begin(self, order):
        """Begin an epoch: the rows come in this order, (n,)."""
        gpu.overwrite(self.order, order.astype(np.int32))
        gpu.overwrite(self.turn, np.zeros(1, np.int32))

    def epoch(self, rng):
        """Train one epoch, and wait for its end."""
        self.begin(rng.permutation(self.rows))
        for _ in range(self.batches):
            self.graph()
        gpu.synchronize()
