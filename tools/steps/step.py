"""A network on the device, a batch in arrays that stay, and one step of training: forward, loss, backward, update.

Source: the course's own.
"""

import numpy as np

from course_lib import cuda as ops
from course_lib import gpu, nn

LR, MOMENTUM = 1e-4, 0.9

SHAPES = {"LeNet-5": (1, 32, 32), "MLP 784-128-10": (784,), "tiny": (6,)}
"""Network -> shape of one input."""


def network(name, backend=ops, seed=0):
    """Return the network of this name, with the weights of this seed. KeyError for another name."""
    rng = np.random.default_rng(seed)
    if name == "LeNet-5":
        return nn.models.lenet5(rng=rng, ops=backend)
    return nn.models.mlp({"MLP 784-128-10": (784, 128, 10), "tiny": (6, 4, 10)}[name], rng=rng, ops=backend)


def images(name, count):
    """Return (x (count, ...), labels (count,)) of seed 1: small numbers, as those of digits are."""
    rng = np.random.default_rng(1)
    return rng.random((count, *SHAPES[name]), np.float32), rng.integers(0, 10, count)


class Step:
    """A call trains once on what lies in `x` and `labels`, and returns the sums of the losses (1, 2)."""

    def __init__(self, net, x, labels, lr=LR):
        self.lr = lr
        self.net, self.x, self.labels = net, gpu.to_device(x), gpu.to_device(labels)
        self.params, self.grads = (list(each.values()) for each in (net.parameters(), net.gradients()))
        self.velocities = [ops.zeros_like(p) for p in self.params]

    def __call__(self, note=lambda name: None):
        out = self.x
        for i, layer in enumerate(self.net):
            note(f"{i} {layer.describe()}, forward")
            out = layer.forward(out)
        note("loss, forward")
        sums, cache = ops.softmax_cross_entropy_sums(out, self.labels)
        note("gradients to zero")
        self.net.zero_grad()
        note("loss, backward")
        slope = ops.softmax_cross_entropy_backward(cache)
        for i, layer in reversed(list(enumerate(self.net))):
            note(f"{i} {layer.describe()}, backward")
            slope = layer.backward(slope) if i else layer.backward_parameters(slope)
        note("update")
        ops.sgd_step(self.params, self.grads, self.lr, MOMENTUM, self.velocities)
        return sums
