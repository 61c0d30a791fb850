"""A network's backward pass, layer by layer, as it was measured on a processor: for lesson 18's buckets.

Source: `results/cpu.amd-epyc.json`, written by `course bench cpu`.
"""

import json

import numpy as np

from course_lib.figures.bucket_rows import Backward
from course_lib.nn import models

from .measurements import results_folder


def backward_layers(network="LeNet-5", processor="amd-epyc"):
    """Return the layers of a measured network, a list of `figures.bucket_rows.Backward`, the last layer first.

    Seconds are those of the course's `fast`, for 64 digits. LookupError if the network was not measured; only LeNet-5
    and "MLP 784-128-10" are. Source: the course's own.
    """
    rows = json.loads((results_folder() / f"cpu.{processor}.json").read_text(encoding="utf-8"))["rows"]
    found = [row for row in rows if row["network"] == network and row["direction"] == "backward"]
    if not found:
        raise LookupError(f"no backward pass of {network!r} was measured on {processor}; course bench cpu does.")
    make = models.lenet5 if network == "LeNet-5" else models.mlp
    sizes = [sum(g.nbytes for g in layer.grads.values()) for layer in make(rng=np.random.default_rng(0))]
    seconds = [row["timings"]["fast"]["median"] for row in found]
    names = [row["part"].partition(" ")[2] for row in found]
    return [Backward(*one) for one in zip(reversed(names), reversed(seconds), reversed(sizes), strict=True)]
