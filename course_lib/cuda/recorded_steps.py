"""Training steps that run on the device without the host: recorded once, their batches loaded ahead.

Three things are done at once. While the device computes a step, the next batches are on their way to it from pinned
memory, in a stream of their own, and threads of the host gather the batches after these. Batches travel several at a
time, into one half of a ring on the device while the steps read the other half. Events keep the order: a step waits
until its batch is there, a copy until the half is free, the host until its copy is done.

Source: H, "Mini-batching" and "streams" (read the next input, compute this one, write the one before); NVIDIA, "CUDA
C++ Programming Guide", "Asynchronous Concurrent Execution".
"""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise

import numpy as np

from course_lib import gpu
from course_lib.cuda.device import executor
from course_lib.cuda.step_log import take_batch

CHUNK = 4 << 20
"""Bytes that travel at once, about: a copy of that size takes far longer than to ask for it."""

MOST = 64
"""Batches that travel at once, at most."""

THREADS = 4
"""Threads that gather rows: one alone is slower than a card that trains a small network."""


class RecordedSteps:
    """Steps of training, one after another, on batches that a function brings.

    Parameters
    ----------
    step : function (x, y, turn)
        Enqueues one step on a batch that lies in the device arrays x (B, ...) float32 and y (B,) int64, and copies
        nothing to or from the host; it counts turn (1,) int32 up.
    row_shape : tuple of int
        The shape of one row of x.
        A list of functions makes several recordings of a step, of which the later ones get no arguments.
    at_once : int, optional
        Batches that travel together; default: as many as make up CHUNK bytes.
    in_order : bool
        Bring batch after batch, each as a whole; otherwise threads bring parts of them at once, and ahead.
    after : function (place, result, stream), optional
        Called by the host when a step's recording number `place` is enqueued in the stream, with what its function
        returned: it enqueues what cannot be recorded. In the first step of a kind nothing is recorded yet, and all is
        in the default stream, None.
    wait : function (event), optional
        How the host waits for an event; default: event.synchronize().

    Source: H, "streams"; NVIDIA, "CUDA C++ Programming Guide", "Asynchronous Concurrent Execution".
    """

    def __init__(self, step, row_shape, at_once=None, in_order=False, after=None, wait=None):
        self.step, *self.later = step if isinstance(step, list) else [step]
        self.row_shape, self.at_once = tuple(row_shape), 1 if in_order else at_once
        self.after, self.wait = after or _nothing, wait or _synchronized
        self.threads = None if in_order else ThreadPoolExecutor(THREADS)
        self.copies, self.work = gpu.stream(), gpu.stream()
        self.feeds = {}

    @staticmethod
    def worth_it():
        """Return whether this device records: without a GPU a recorded step is only run again. No errors."""
        return executor().records

    def run(self, rows, batch_size, fill, kind=None):
        """Enqueue a step for each batch of `rows` rows; the last batch may be smaller. It does not wait for the device.

        Parameters
        ----------
        rows, batch_size : int >= 1
        fill : function (first, x, y)
            Writes the rows from place `first` on into host arrays x (n, ...) float32 and y (n,) int64.
        kind : optional
            Batches of another kind have recordings of their own, even where they are of one size.

        Errors of `step` and `fill`. Source: the course's own.
        """
        whole, rest = divmod(rows, batch_size)
        if whole:
            self._run(0, whole, batch_size, fill, kind)
        if rest:
            self._run(whole * batch_size, 1, rest, fill, kind)

    def _run(self, first, count, size, fill, kind):
        if (size, kind) not in self.feeds:
            row_bytes = 4 * int(np.prod(self.row_shape))
            fits = max(1, min(MOST, CHUNK // (size * row_bytes)))
            self.feeds[size, kind] = _Feed(self, size, min(count, self.at_once or fits))
        feed = self.feeds[size, kind]
        feed.start_over()
        loads = [(first + k * size, min(feed.at_once, count - k)) for k in range(0, count, feed.at_once)]
        parts = feed.gather(*loads[0], fill)
        for place, (_, batches) in enumerate(loads):
            for gathered in parts:
                gathered()
            feed.send(batches)
            parts = feed.gather(*loads[place + 1], fill) if place + 1 < len(loads) else []
            feed.train(batches, often=count > 1)


class _Feed:
    """Batches of one size: pinned memory for two loads, a ring on the device for as many, and the recorded step."""

    def __init__(self, steps, size, at_once):
        self.steps, self.size, self.at_once = steps, size, at_once
        shape = at_once, size
        self.host = [(gpu.pinned((*shape, *steps.row_shape), np.float32), gpu.pinned(shape, np.int64)) for _ in "01"]
        self.ring = gpu.empty((2 * at_once, size, *steps.row_shape), np.float32)
        self.labels = gpu.empty((2 * at_once, size), np.int64)
        self.x, self.y = gpu.empty((size, *steps.row_shape), np.float32), gpu.empty(size, np.int64)
        self.turn = gpu.to_device(np.zeros(1, np.int32))
        self.arrived, self.used = [gpu.event() for _ in "01"], [gpu.event() for _ in "01"]
        self.graphs, self.gathered, self.sent, self.times = [], 0, 0, 0

    def start_over(self):
        """Let the next load go to the beginning of the ring; what was enqueued before is done first."""
        gpu.overwrite(self.turn, np.zeros(1, np.int32))
        self.gathered = self.sent = 0

    def gather(self, first, batches, fill):
        """Let rows be written into pinned memory; return what waits for that, or, in order, does it."""
        half, self.gathered = self.gathered % 2, self.gathered + 1
        self.steps.wait(self.arrived[half])  # its last copy is done; so it is if there was none
        x, y = (part[:batches] for part in self.host[half])
        x, y = x.reshape(-1, *self.steps.row_shape), y.reshape(-1)
        if not self.steps.threads:
            return [partial(fill, first, x, y)]
        cuts = [len(y) * k // THREADS for k in range(THREADS + 1)]
        parts = [(a, b) for a, b in pairwise(cuts) if a < b]
        return [self.steps.threads.submit(fill, first + a, x[a:b], y[a:b]).result for a, b in parts]

    def send(self, batches):
        """Enqueue the copy of what was gathered."""
        half, copies = self.sent % 2, self.steps.copies
        self.used[half].wait(copies)  # this half of the ring is free
        place = slice(half * self.at_once, half * self.at_once + batches)
        for there, here in zip((self.ring, self.labels), self.host[half], strict=True):
            gpu.overwrite(there[place], here[:batches], copies)
        self.arrived[half].record(copies)

    def train(self, batches, often):
        """Enqueue the steps on what was sent."""
        half, work = self.sent % 2, self.steps.work
        self.sent += 1
        self.arrived[half].wait(work)
        for _ in range(batches):
            self._step(often)
        self.used[half].record(work)

    def _step(self, often):
        """Run a step: recorded, if it is not the only one of its size."""
        self.times += 1
        parts, after, work = [self._once, *self.steps.later], self.steps.after, self.steps.work
        if self.graphs:
            for place, graph in enumerate(self.graphs):
                graph(work)
                after(place, graph.result, work)
        elif len(parts) == 1 and (often or self.times > 1):
            self.graphs.append(gpu.record(self._once))  # its first run is real
        elif self.times > 1:  # all was run before; a part cannot be run twice, without what comes between the parts
            for place, part in enumerate(parts):
                self.graphs.append(gpu.record(part, first=False))
                self.graphs[place](work)
                after(place, self.graphs[place].result, work)
        else:
            for place, part in enumerate(parts):
                after(place, part(), None)

    def _once(self):
        take_batch(self.ring, self.labels, self.turn, self.x, self.y)
        return self.steps.step(self.x, self.y, self.turn)


def _nothing(place, result, stream):
    """What comes after a part of a step unless it is told."""


def _synchronized(event):
    event.synchronize()
