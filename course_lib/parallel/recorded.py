"""Recorded steps shared among ranks: what a rank computes is recorded, and sums go between the recordings.

A step has three kinds of parts. The first recording goes forward and back through the last layers, to the end of a
bucket; one more goes on to the end of each further bucket; the last makes the optimiser's step. Between them the host
enqueues the sum of a bucket beside the next recording, so that both run at once, and never waits within an epoch.

Source: S. Li et al. (2020), "PyTorch Distributed", section 3.2; NVIDIA, "CUDA C++ Programming Guide", "CUDA Graphs".
"""

import numpy as np

from course_lib.nn.recorded import RecordedEpochs
from course_lib.parallel.buckets import buckets_of
from course_lib.parallel.parts import part

BUCKET_BYTES = 4 << 20
"""Bytes from which a bucket is full: at 300 GB/s as long on their way as a sum takes that is nearly empty, 10 us."""


class RecordedTogether(RecordedEpochs):
    """Epochs of recorded steps of one training, on one of several ranks.

    Parameters
    ----------
    task : Task
        Of whose training `nn.recorded.why_not` says "".
    world : World
    bucket_bytes : int >= 1, optional

    Source: the course's own.
    """

    def __init__(self, task, world, bucket_bytes=None):
        self.net, self.optimiser, self.world, self.sums = task.net, task.optimiser, world, world.device_sums()
        self.rows, self.batch_size, self.loss = len(task.x), task.batch_size, task.loss
        self.in_order = task.augment is not None
        self.sizes = [min(self.batch_size, self.rows - first) for first in range(0, self.rows, self.batch_size)]
        self.log = self.net.ops.StepLog(len(self.sizes), len(self.optimiser.plan(1.0)))
        self.flag = self.log.place[1:2]
        self.ends = [self._place_of(bucket.layers[-1]) for bucket in buckets_of(self.net, bucket_bytes or BUCKET_BYTES)]
        self.steps = self.net.ops.RecordedSteps(
            [self._step, *(self._back for _ in self.ends[1:]), self._update],
            task.x.shape[1:], in_order=self.in_order, after=self._between, wait=self.sums.wait,
        )  # fmt: skip
        self.mark, self.weight, self.turn = None, 1.0, 0

    def run(self, rates, fill):
        """Train an epoch; return (losses, right rows) as `RecordedEpochs.run`, of all ranks' rows, on all ranks.

        Parameters
        ----------
        rates : list of float
            The learning rate of each batch.
        fill : function (batch, rows, x, y)
            Writes rows, a slice of those of batch number `batch`, into host arrays x (n, ...) float32 and y (n,) int64;
            in several threads at once, unless data are made batch by batch.

        Errors of `fill`, and RankError as `World`. Source: the course's own.
        """
        self.log.begin(np.stack([self.optimiser.plan(rate, ahead) for ahead, rate in enumerate(rates)]))
        whole = self.rows // self.batch_size
        for first, count in ((0, whole), (whole, len(self.sizes) - whole)):
            if count:
                self._run(first, count, fill)
        self.sums.wait(self.mark)  # the log's copy would wait for a lost rank for ever
        return self._result(self.log.read(len(self.sizes)))

    def _run(self, first, count, fill):
        mine = part(self.sizes[first], self.world.rank, self.world.size, self.loss)
        size, self.weight = mine.rows.stop - mine.rows.start, mine.weight

        def fill_mine(start, x, y):
            done = 0
            while done < len(y):  # a range of my rows may reach over several batches
                batch, within = divmod(start + done, size)
                n = min(size - within, len(y) - done)
                rows = slice(mine.rows.start + within, mine.rows.start + within + n)
                fill(first + batch, rows, x[done : done + n], y[done : done + n])
                done += n

        self.steps.run(count * size, size, fill_mine, kind=first)

    def _result(self, log):
        """Sum what came of the steps over all ranks; end with the first step that went wrong on one of them."""
        weights = [part(n, self.world.rank, self.world.size, self.loss).weight > 0 for n in self.sizes]
        found = np.array([(total, right, 0) for total, _, right, _ in log], np.float64) * np.array(weights)[:, None]
        found[:, 2] = [bool(endless) or not np.isfinite(total) for total, _, _, endless in log]
        found[found[:, 2] > 0, 0] = 0
        self.world.all_reduce(found)
        losses, right = [], []
        for (total, correct, bad), size in zip(found, self.sizes, strict=True):
            losses.append(np.nan if bad else float(total) / size)
            right.append(round(correct))
            if bad:
                break
            self.optimiser.steps += 1
        return losses, right

    # -------------------------------------------------------------------------------------------- parts of a step

    def _step(self, x, y, turn):
        ops = self.net.ops
        self.dout, self.at, self.turn = self._forward(x, y, turn), len(self.net), 0
        if self.weight != 1:
            self.dout = ops.copy_of(self.dout)
            ops.scale_by(self.dout, self.weight)
        return self._back()

    def _back(self):
        """Go back to the end of the next bucket; return its gradients."""
        end, gradients = self.ends[self.turn], []
        while self.at > end:
            self.at -= 1
            layer = self.net[self.at]
            self.dout = layer.backward(self.dout) if self.at else layer.backward_parameters(self.dout)
            gradients += layer.grads.values()
        self.turn += 1
        return gradients

    def _update(self):
        self.log.heed()  # a rank whose loss is no number keeps all from stepping
        self.optimiser.step_planned(self.log.now)

    def _between(self, place, gradients, stream):
        """Enqueue the sum of a bucket; after the last one let the stream wait for all."""
        if gradients is None:
            return
        last = place == len(self.ends) - 1
        self.sums.start(gradients, self.flag if last else None, stream)
        if last:
            self.mark = self.sums.finish(stream)

    def _place_of(self, layer):
        return next(place for place, other in enumerate(self.net) if other is layer)
