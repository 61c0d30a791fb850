"""What the steps of an epoch leave on the device until the host asks, and what the host tells them beforehand.

A step that is recorded talks to nobody: its batch, its learning rate and its place in the epoch lie in device arrays
before it begins, and its loss stays in one. The host enqueues a whole epoch and looks once, at the end. A loss that is
no finite number must not wait so long: the device itself then keeps every later step from changing a weight.

Source: the course's own.
"""

import math

import numpy as np

from course_lib import gpu
from course_lib.cuda.elementwise import flat
from course_lib.cuda.jit import jit
from course_lib.cuda.numba_cuda import cuda, float32
from course_lib.cuda.operands import operand
from course_lib.cuda.sums import THREADS, WARPS, block_total
from course_lib.validate import require_choice

RIGHT_BY = ("highest", "lowest", "half")
"""How a row's class is found: the highest or the lowest of its numbers, or, of a single one, its side of 1/2."""

FOUND = ("loss", "bad_labels", "right", "endless")
"""What is known of a step: the sum of its rows' losses, labels out of range, rows with the right class, and how many
outputs were NaN or infinite."""


class StepLog:
    """The steps of an epoch: what each needs, and what came of it.

    Parameters
    ----------
    steps : int >= 1
        The most of an epoch.
    numbers : int >= 1
        How many numbers a step is told, such as its learning rate.

    Attributes
    ----------
    now : float32 device array (numbers,)
        Those of this step, NaN after a step that went wrong: an optimiser then leaves all as it is.
    place : int32 device array (2,)
        How many steps were noted, and 1 if one of them went wrong.

    Source: the course's own.
    """

    def __init__(self, steps, numbers):
        self.plan = gpu.to_device(np.zeros((steps, numbers), np.float32))
        self.found = gpu.to_device(np.zeros((steps, len(FOUND)), np.float32))
        self.now = gpu.to_device(np.zeros(numbers, np.float32))
        self.place = gpu.to_device(np.zeros(2, np.int32))

    def begin(self, plan):
        """Go back to the first step; plan (steps, numbers) float32 is what each step will be told."""
        gpu.overwrite(self.plan, plan)
        gpu.overwrite(self.place, np.zeros(2, np.int32))

    def note(self, scores, labels, sums, turn, right_by="highest"):
        """Write down what came of this step, say what it may do, and go on to the next; one launch.

        Parameters
        ----------
        scores : float32 device array (B, C)
        labels : int device array (B,)
        sums : float32 device array (1, 2)
            The sum of the losses, and the number of labels out of range.
        turn : int32 device array (1,)
            Counts the batches of this shape.
        right_by : str
            One of `RIGHT_BY`.

        ValueError for another `right_by`. Source: the course's own.
        """
        require_choice("right_by", right_by, RIGHT_BY)
        operand("scores", scores, ndim=2)
        arrays = scores, labels, sums, self.plan, self.found, self.now, self.place, turn
        _note[1, THREADS](*arrays, RIGHT_BY.index(right_by))

    def heed(self):
        """Let an optimiser leave all as it is if `place[1]` says so, which other ranks may have set; one launch.

        No errors. Source: the course's own.
        """
        _heed[1, 32](self.now, self.place)

    def read(self, steps):
        """Return what came of the first `steps` steps, (steps, 4), see `FOUND`: one copy, which waits for the device.

        No errors. Source: the course's own.
        """
        return gpu.to_host(self.found)[:steps]


@jit(device=True)
def _best(scores, row, sign):
    """The first place of the largest number of sign * a row, as NumPy's argmax; NaN is told elsewhere."""
    best, at = sign * scores[row, 0], 0
    for j in range(1, scores.shape[1]):
        value = sign * scores[row, j]
        if value > best:
            best, at = value, j
    return at


@jit(cache=True)
def _note(scores, labels, sums, plan, found, now, place, turn, right_by):
    s = cuda.shared.array(WARPS, float32)
    t, C = cuda.threadIdx.x, scores.shape[1]
    right, endless = float32(0), float32(0)
    for row in range(t, scores.shape[0], THREADS):
        for j in range(C):
            if not math.isfinite(scores[row, j]):
                endless += float32(1)
        if right_by == 2:
            at = 1 if scores[row, 0] >= float32(0.5) else 0
        else:
            at = _best(scores, row, float32(1) if right_by == 0 else float32(-1))
        if at == labels[row]:
            right += float32(1)
    right, endless = block_total(right, s), block_total(endless, s)
    if t == 0:
        step = place[0]
        fine = endless == float32(0) and sums[0, 1] == float32(0) and math.isfinite(sums[0, 0])
        found[step, 0], found[step, 1], found[step, 2], found[step, 3] = sums[0, 0], sums[0, 1], right, endless
        if not fine:
            place[1] = 1
        for k in range(plan.shape[1]):
            now[k] = plan[step, k] if place[1] == 0 else float32(math.nan)
        place[0] = step + 1
        turn[0] += 1


@jit(cache=True)
def _heed(now, place):
    k = cuda.threadIdx.x
    if k < now.size and place[1] != 0:
        now[k] = float32(math.nan)


def take_batch(ring, labels, turn, x, y):
    """Copy the batch whose turn it is, turn[0] modulo its batches, out of a ring of batches; one launch.

    Parameters
    ----------
    ring : float32 device array (n, B, ...)
    labels : int device array (n, B)
    turn : int32 device array (1,)
    x : float32 device array (B, ...)
    y : int device array (B,)

    No errors of its own. Source: the course's own.
    """
    rows = ring.reshape(ring.shape[0], x.size)
    _take[-(-max(x.size // 4, 1) // THREADS), THREADS](rows, labels, turn, flat(x), y)


@jit(cache=True)
def _take(ring, labels, turn, x, y):
    batch = turn[0] % ring.shape[0]
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        x[i] = ring[batch, i]
    for i in range(cuda.grid(1), y.size, cuda.gridsize(1)):
        y[i] = labels[batch, i]
