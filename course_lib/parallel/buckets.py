"""Gradients on their way while the backward pass goes on: buckets of layers, last layer first.

The gradient of the last layer is ready long before that of the first. So gradients are gathered into buckets in the
order in which they are made, and as soon as a bucket is full its sum over all ranks begins, in a thread of its own,
while the main one computes the layers before. At the end of the pass only the last bucket is still under way.

Source: S. Li et al. (2020), "PyTorch Distributed: Experiences on Accelerating Data Parallel Training", section 3.2.
"""

import queue
import threading

import numpy as np

from course_lib.validate import require_count

BUCKET_BYTES = 128 << 10
"""Bytes from which a bucket is full. Few messages are quicker than many; one alone has nothing to hide behind."""


class Bucket:
    """Neighbouring layers' gradients in one array, flat (count,), with a place for each.

    Source: Li et al. (2020), 3.2.3.
    """

    def __init__(self, dtype):
        self.dtype, self.layers, self.places, self.count = dtype, [], [], 0

    @property
    def nbytes(self):
        """How many bytes its gradients have."""
        return self.count * self.dtype.itemsize

    def take(self, layer):
        """Add a layer's gradients; no errors."""
        self.layers.append(layer)
        for name, gradient in layer.grads.items():
            self.places.append((layer, name, slice(self.count, self.count + gradient.size), tuple(gradient.shape)))
            self.count += gradient.size


def buckets_of(net, bucket_bytes=BUCKET_BYTES):
    """Return the buckets of a network's layers, in the order of the backward pass; each is of one dtype.

    TypeError or ValueError unless bucket_bytes is a whole number >= 1 and there are gradients, of each layer in one
    dtype. Source: Li et al. (2020), 3.2.3.
    """
    bucket_bytes, buckets = require_count("bucket_bytes", bucket_bytes), []
    for layer in reversed(list(net)):
        kinds = {np.dtype(g.dtype) for g in layer.grads.values()}
        if len(kinds) > 1:
            names = ", ".join(sorted(map(str, kinds)))
            raise TypeError(f"{layer.describe()} has gradients of {names}; they must be of one dtype.")
        for kind in kinds:  # a layer without parameters is in no bucket
            if not buckets or buckets[-1].dtype != kind or buckets[-1].nbytes >= bucket_bytes:
                buckets.append(Bucket(kind))
            buckets[-1].take(layer)
    if not buckets:
        raise ValueError("the network has no parameters, so there is nothing to train together.")
    return buckets


class Exchange:
    """The sum of a network's gradients over all ranks, step by step, behind its backward pass.

    Parameters
    ----------
    world : World
    net : Sequential
    bucket_bytes : int >= 1
    overlap : bool
        False: one bucket after another when the backward pass is done, to compare with.

    Source: Li et al. (2020), 3.2.
    """

    def __init__(self, world, net, bucket_bytes=BUCKET_BYTES, overlap=True):
        self.world, self.net, self.buckets = world.channel(), net, buckets_of(net, bucket_bytes)
        self.last = {id(bucket.layers[-1]): bucket for bucket in self.buckets}
        for bucket in self.buckets:
            # One number more: a rank whose outputs are not finite says so in the last bucket.
            extra = 1 if bucket is self.buckets[-1] else 0
            bucket.flat = np.zeros(bucket.count + extra, bucket.dtype)
        self.full, self.summed, self.error = queue.SimpleQueue(), queue.SimpleQueue(), None
        self.thread = None
        if overlap and world.overlaps and world.size > 1:
            self.thread = threading.Thread(target=self._run, name=f"gradients of {world}", daemon=True)
            self.thread.start()

    def backward(self, dout):
        """Go back through the network from dE/d output, and leave the sums over all ranks in its gradients.

        None for dout says that this rank has no finite outputs; then, on all ranks, gradients are left as they are.

        Parameters
        ----------
        dout : (B, ...) array where the network computes, or None

        Returns
        -------
        int
            How many ranks had no finite outputs.

        Raises
        ------
        RankError
            As `World.all_reduce`.

        Source: Li et al. (2020), algorithm 1.
        """
        absent, flag = dout is None, self.buckets[-1].flat[-1:]
        flag[0] = absent
        for place, layer in reversed(list(enumerate(self.net))):
            if not absent:
                dout = layer.backward(dout) if place else layer.backward_parameters(dout)
            if (bucket := self.last.get(id(layer))) is not None:
                self._gather(bucket, absent)
                self.full.put(bucket) if self.thread else self._sum(bucket)
        for _ in self.buckets if self.thread else ():
            self._await()
        bad = round(float(flag[0]))
        if not bad:
            for bucket in self.buckets:
                self._spread(bucket)
        return bad

    def close(self):
        """Let the thread end. No errors."""
        self.full.put(None)

    def _gather(self, bucket, absent):
        if absent:
            bucket.flat[: bucket.count] = 0
            return
        for layer, name, place, shape in bucket.places:
            bucket.flat[place].reshape(shape)[...] = self.net.ops.to_host(layer.grads[name])

    def _spread(self, bucket):
        """Let each layer's gradient be its place in the bucket, or on a device a copy of it."""
        for layer, name, place, shape in bucket.places:
            layer.grads[name] = self.net.ops.to_backend(bucket.flat[place].reshape(shape))

    def _await(self):
        error = self.summed.get()
        if error is not None:
            raise error

    def _sum(self, bucket):
        with np.errstate(over="ignore", invalid="ignore"):  # told by who looks at the sums, such as a loss scale
            self.world.all_reduce(bucket.flat)

    def _run(self):
        """Sum bucket after bucket, in a thread of its own; an error is handed to the main one."""
        while (bucket := self.full.get()) is not None:
            try:
                self._sum(bucket)
                self.summed.put(None)
            except BaseException as error:
                self.summed.put(error)
                return
