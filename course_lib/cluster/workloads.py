"""What a device has to do in a step of training: how long it computes, and when which gradients are ready.

A step of R rows is a forward pass, a backward pass, and an update. The backward pass computes two products for each one
of the forward pass (for the inputs and for the weights), so it takes two thirds of both; within it, a layer takes its
share of the multiply-adds, last layer first.

LeNet-5's times were measured on a card. For the larger networks they are made of two measured rates: all products as
quick as a large one of this course, and the update as quick as that of 2^26 numbers. Real layers are smaller and
slower; so for these the network has to be quicker than it would have to be.

Source: A. Krizhevsky, I. Sutskever and G. Hinton (2012), "ImageNet Classification" (AlexNet); A. Radford et al.
(2019), "Language Models are Unsupervised Multitask Learners" (GPT-2); J. Kaplan et al. (2020), "Scaling Laws for Neural
Language Models" (a transformer's parameters and multiply-adds).
"""

import json
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from course_lib.cluster.links import Curve
from course_lib.lesson.measurements import results_folder
from course_lib.validate import require_count, require_some

BACKWARD = 2 / 3
"""Share of the backward pass in forward and backward."""

BUCKET_BYTES = 25 << 20
"""Bytes from which a bucket is full. PyTorch's choice; that of `course_lib.parallel` suits processors."""


@dataclass(frozen=True)
class Layer:
    """A layer with parameters: how many, and multiply-adds for one row. Source: the course's own."""

    name: str
    parameters: int
    macs: float


@dataclass(frozen=True)
class Workload:
    """A network to train, on one kind of device.

    Attributes
    ----------
    name : str
    layers : tuple of Layer
        From the first to the last.
    compute : Curve
        Seconds of forward and backward pass by rows.
    update : float
        Seconds of the optimiser's step.
    row : str
        What a row is: "image", "text of 1,024 tokens".
    says : str
        Where the times come from.

    Source: the course's own.
    """

    name: str
    layers: tuple
    compute: Curve
    update: float = 0.0
    row: str = "image"
    says: str = ""

    def __post_init__(self):
        require_some("layers", self.layers)

    @property
    def parameters(self):
        """How many numbers are trained."""
        return sum(layer.parameters for layer in self.layers)

    @property
    def nbytes(self):
        """Bytes of all gradients, in float32."""
        return 4 * self.parameters

    def seconds(self, rows):
        """Return the seconds of a step of so many rows on one device. No errors. Source: the course's own."""
        return self.compute(rows) + self.update

    def buckets(self, bucket_bytes=BUCKET_BYTES):
        """Return (bytes, share of forward and backward pass after which they are ready) of each bucket, in order.

        TypeError or ValueError unless bucket_bytes is a whole number >= 1. Source: Li et al. (2020).
        """
        require_count("bucket_bytes", bucket_bytes)
        macs, done, found, held = sum(layer.macs for layer in self.layers), 0.0, [], 0
        for layer in reversed(self.layers):
            held, done = held + 4 * layer.parameters, done + layer.macs
            if held >= bucket_bytes or layer is self.layers[0]:
                found.append((held, 1 - BACKWARD + BACKWARD * done / macs))
                held = 0
        return tuple(found)


def layers_of(net, shape):
    """Return the layers of a network with parameters, for inputs (1, *shape).

    Parameters
    ----------
    net : Sequential
    shape : tuple of int
        Of one row.

    Raises
    ------
    ValueError
        If the network does not take such rows.

    Source: the course's own.
    """
    x, found = np.zeros((1, *shape), np.float32), []
    for layer in net:
        x = layer.forward(x)
        if layer.params:
            numbers = sum(p.size for p in layer.params.values())
            found.append(Layer(layer.describe(), numbers, layer.params["w"].size * x[0, 0].size))
    return tuple(found)


def _results(name):
    return json.loads((results_folder() / name).read_text(encoding="utf-8"))["rows"]


@lru_cache
def lenet5(card="h200"):
    """Return LeNet-5's `Workload`: recorded steps by batch, as results/steps.<card>.json has them; update included.

    FileNotFoundError without that file, StopIteration without that case. Source: the course's own.
    """
    from course_lib import nn

    row = next(r for r in _results(f"steps.{card}.json") if r["case"] == "steps of LeNet-5 by batch")
    took = {int(k.split(", ")[1]): t["median"] for k, t in row["timings"].items() if k.startswith("recorded")}
    net = nn.models.lenet5(rng=np.random.default_rng(0))
    says = f"steps measured on one {card.upper()}, by batch"
    return Workload("LeNet-5", layers_of(net, (1, 32, 32)), Curve(tuple(sorted(took.items()))), says=says)


@lru_cache
def rates(card="h200"):
    """Return (multiply-adds a second of a large product, seconds a parameter of an update).

    Both are from results/gpu.<card>.json: the product is this course's quickest of 8,192 x 8,192 in TF32, the update
    SGD with momentum. FileNotFoundError without that file, StopIteration without those cases. Source: the course's own.
    """
    rows = _results(f"gpu.{card}.json")
    product = next(r for r in rows if r["case"] == "gemm 8192")
    update = next(r for r in rows if r["case"] == "SGD with momentum")
    ours = min(t["median"] for name, t in product["timings"].items() if name.startswith("v"))
    return product["flops"] / 2 / ours, update["timings"]["operation"]["median"] / 2**26


def computed(name, layers, row="image", card="h200"):
    """Return the `Workload` of layers whose times were not measured, by `rates`.

    Parameters
    ----------
    name : str
    layers : tuple of Layer
    row, card : str

    Errors as `rates`: FileNotFoundError without measurements. Source: the course's own.
    """
    speed, each = rates(card)
    macs, parameters = sum(layer.macs for layer in layers), sum(layer.parameters for layer in layers)
    passes = Curve(((0, 0.0), (1, 3 * macs / speed)))
    says = f"computed from a large product and an update measured on one {card.upper()}"
    return Workload(name, tuple(layers), passes, each * parameters, row, says)


@lru_cache
def alexnet(card="h200"):
    """Return AlexNet's `Workload`: 61 million parameters, most of them in dense layers. Errors as `rates`.

    Source: Krizhevsky, Sutskever and Hinton (2012), section 3.5.
    """
    convolutions = [(96, 3, 11, 55), (256, 48, 5, 27), (384, 256, 3, 13), (384, 192, 3, 13), (256, 192, 3, 13)]
    layers = [
        Layer(f"conv {k + 1}", M * (C * K * K + 1), M * C * K * K * side * side)
        for k, (M, C, K, side) in enumerate(convolutions)
    ]
    sizes = (256 * 6 * 6, 4096, 4096, 1000)
    layers += [Layer(f"dense {k + 6}", (D + 1) * H, D * H) for k, (D, H) in enumerate(pairwise(sizes))]
    return computed("AlexNet", tuple(layers), card=card)


@lru_cache
def transformer(name="GPT-2", blocks=48, width=1600, vocabulary=50_257, tokens=1024, card="h200"):
    """Return a language model's `Workload`; unless told otherwise GPT-2's largest, of 1.5 thousand million parameters.

    A block has 12 width^2 parameters, each used once a token, and attention compares tokens with tokens. The embedding
    is used again for the scores.

    Parameters
    ----------
    name : str
    blocks, width, vocabulary, tokens : int
        Tokens are those of one text, which is a row.
    card : str

    Raises
    ------
    TypeError, ValueError
        If a size is no whole number >= 1. Others as `rates`.

    Source: Radford et al. (2019); Kaplan et al. (2020), table 1.
    """
    for what, size in (("blocks", blocks), ("width", width), ("vocabulary", vocabulary), ("tokens", tokens)):
        require_count(what, size)
    inner = Layer("block", 12 * width**2, tokens * (12 * width**2 + 2 * tokens * width))
    first = Layer("embedding", vocabulary * width, 0.0)  # looked up: no product
    last = Layer("scores", 0, tokens * vocabulary * width)
    return computed(name, (first, *[inner] * blocks, last), f"text of {tokens:,} tokens", card)
