"""What lesson 06b asks of a network that will not learn: its signals layer by layer, and the loss at rising rates."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from course_lib import nn
from course_lib.nn.layers import Activation
from course_lib.validate import require_count, require_positive, require_rng

from .measurements import results_folder


@dataclass(frozen=True)
class Signal:
    """How a batch passes one hidden layer of a network. Made by `signals`.

    Attributes
    ----------
    layer : int
        The hidden layer's number, counted from 1 at the input.
    output, gradient : float
        Root mean square of what leaves the layer, and of the loss's slopes with respect to the layer's weights.
    idle : float
        The share of its units that are 0 for every sample: with ReLU they get no gradient at all.
    saturated : float
        The share of its outputs beyond -0.95 or 0.95: with tanh the slope is below 0.1 there.

    Source: the course's own.
    """

    layer: int
    output: float
    gradient: float
    idle: float
    saturated: float


def signals(net, x, y):
    """Send a batch forward and the loss's gradient back, and return a `Signal` for each hidden layer.

    Parameters
    ----------
    net : Sequential
        Dense layers, each but the last followed by an activation. Its parameters stay as they are; its gradients
        become those of this batch.
    x : (B, D) array
    y : (B,) int array of labels

    Raises
    ------
    ValueError
        If a hidden layer is anything else.

    Source: the signal in both directions, layer by layer, is looked at as in Glorot and Bengio (2010).
    """
    hidden = list(net)[1:-1:2]
    if len(net) % 2 == 0 or not all(isinstance(a, Activation) for a in hidden):
        raise ValueError(f"the network is {net}; it must be Dense layers with an activation after each but the last.")
    ops = net.ops
    outputs = [a for _, a in nn.feature_maps(net, x)]
    net.zero_grad()
    _, cache = ops.softmax_cross_entropy_forward(net.forward(ops.to_backend(x)), ops.to_backend(y))
    net.backward_parameters(ops.softmax_cross_entropy_backward(cache))
    slopes = {name: ops.to_host(g) for name, g in net.gradients().items()}
    return [
        Signal(k + 1, rms(a), rms(slopes[f"{2 * k}.w"]), float((a == 0).all(0).mean()), float((abs(a) > 0.95).mean()))
        for k, a in enumerate(outputs[1:-1:2])
    ]


def rms(values):
    """Return the root mean square of an array (...), as a float. No errors. Source: the course's own."""
    return float(np.sqrt(np.mean(np.square(values, dtype=np.float64))))


def rate_range(net, data, *, rng, lowest=1e-4, highest=10.0, steps=120, batch_size=64, momentum=0.9):
    """Train with a rate that grows by the same factor at every batch; return (rates, losses), arrays (n,).

    The losses are those of the batches before their steps. It ends before `steps` where a loss is four times the first
    one, or no number. The network is spent afterwards: make a new one.

    Parameters
    ----------
    net : Sequential
    data : pair (x, y)
        x (n, D), y (n,) int labels; batches are drawn from it anew each time.
    rng : numpy.random.Generator
    lowest, highest : float > 0
    steps, batch_size : int >= 1
    momentum : float in [0, 1)

    Raises
    ------
    TypeError, ValueError
        If an argument is not of that kind, or highest is not above lowest.

    Source: Smith (2017), "Cyclical Learning Rates for Training Neural Networks", where it is called the LR range test.
    """
    require_rng(rng)
    lowest, highest = require_positive("lowest", lowest), require_positive("highest", highest)
    if not lowest < highest:
        raise ValueError(f"lowest is {lowest:g} and highest {highest:g}; the rate must grow.")
    rates = np.geomspace(lowest, highest, require_count("steps", steps))
    (x, y), ops, losses = data, net.ops, []
    optimiser = nn.SGD(net, momentum=momentum)
    for rate in rates:
        batch = rng.integers(len(x), size=require_count("batch_size", batch_size))
        out = net.forward(ops.to_backend(x[batch]))
        finite = np.isfinite(ops.to_host(out)).all()
        loss, cache = ops.softmax_cross_entropy_forward(out, ops.to_backend(y[batch])) if finite else (np.inf, None)
        losses.append(float(loss))
        if not loss < 4 * losses[0]:
            break
        net.zero_grad()
        net.backward_parameters(ops.softmax_cross_entropy_backward(cache))
        optimiser.step(rate)
    return rates[: len(losses)], np.array(losses)


@dataclass(frozen=True)
class Runs:
    """Trainings that differ in nothing but their seed, as `tools/measure_training.py` wrote them down.

    Attributes
    ----------
    name : str
    training, test : tuple of float
        Accuracy on the training and on the test digits in per cent, one number for each seed.

    Source: the course's own.
    """

    name: str
    training: tuple
    test: tuple

    @property
    def mean(self):
        """The mean accuracy on the test digits, in per cent."""
        return float(np.mean(self.test))

    @property
    def spread(self):
        """The least and the greatest accuracy on the test digits, such as "92.3 to 93.5"."""
        return f"{min(self.test):.1f} to {max(self.test):.1f}"


def training_runs(part, *, folder=None):
    """Return {name: `Runs`} of a part of `results/training.json`: "scales", "inputs", "rules" or "few".

    FileNotFoundError without that file, LookupError where it has no such part. Source: the course's own.
    """
    return {row["name"]: Runs(row["name"], tuple(row["training"]), tuple(row["test"])) for row in _part(part, folder)}


def sick_curves(*, folder=None):
    """Return {name: (loss on the training digits, loss on validation digits)}, before training and after each epoch.

    FileNotFoundError without `results/training.json`. Source: the course's own.
    """
    return {row["name"]: (row["training"], row["validation"]) for row in _part("curves", folder)}


def xor_runs(*, folder=None):
    """Return {name: (solved, of)}: how many of so many trainings ended with XOR solved.

    FileNotFoundError without `results/training.json`. Source: the course's own.
    """
    return {row["name"]: (row["solved"], row["of"]) for row in _part("xor", folder)}


def waking_epochs(*, folder=None):
    """Return, for five seeds, the epoch in which the loss of lesson 06b's patient first fell below 2.25.

    FileNotFoundError without `results/training.json`. Source: the course's own.
    """
    return [row["awake"] for row in _part("waiting", folder)]


def _part(part, folder):
    file = (results_folder() if folder is None else Path(folder)) / "training.json"
    if not file.is_file():
        raise FileNotFoundError("there is no results/training.json; tools/measure_training.py --out writes it.")
    parts = json.loads(file.read_text(encoding="utf-8"))["parts"]
    if part not in parts:
        raise LookupError(f"results/training.json has no part {part!r}; there are {', '.join(parts)}.")
    return parts[part]
