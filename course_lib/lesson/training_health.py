"""What lesson 06b asks of a network that will not learn: its signals layer by layer, a checklist, and rising rates."""

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
    weights : float
        Root mean square of the layer's weights.

    Source: the course's own.
    """

    layer: int
    output: float
    gradient: float
    idle: float
    saturated: float
    weights: float

    def step(self, lr):
        """How far one step of the rate lr moves the weights, as a share of their own size: lr * gradient / weights.

        0 where the weights are all 0. No errors. Source: the course's own.
        """
        return lr * self.gradient / self.weights if self.weights else 0.0


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
    weights = {name: ops.to_host(p) for name, p in net.parameters().items()}
    return [
        Signal(
            k + 1, rms(a), rms(slopes[f"{2 * k}.w"]), float((a == 0).all(0).mean()), float((abs(a) > 0.95).mean()),
            rms(weights[f"{2 * k}.w"]),
        )
        for k, a in enumerate(outputs[1:-1:2])
    ]  # fmt: skip


def rms(values):
    """Return the root mean square of an array (...), as a float. No errors. Source: the course's own."""
    return float(np.sqrt(np.mean(np.square(values, dtype=np.float64))))


LOSS_ROOM, FORWARD, STUCK, STEP = 0.5, (0.1, 10), 0.5, (1e-4, 2e-2)
"""Where `examine` draws its lines: distance of the first loss from ln C, last spread by first, share of stuck units,
and the share of themselves by which one step moves the weights. They are the course's own, and part the networks of
lesson 06b which learn in a few epochs from those which do not."""


@dataclass(frozen=True)
class Examination:
    """What the first four points of lesson 06b's checklist found. Made by `examine`.

    Attributes
    ----------
    learned : int
        How many of ten samples the network names after 100 steps with them; 0 where its numbers ran away.
    loss : float
        Before the first step.
    forward : float
        Spread of the last hidden layer's output, by that of the first one's.
    stuck : float
        Of all hidden layers the greatest share of idle units; with tanh, of saturated outputs.
    step : (float, float)
        The least and the greatest `Signal.step` of the hidden layers.
    failed : tuple of int
        The points that it fails, of 1 to 4.

    Source: the course's own.
    """

    learned: int
    loss: float
    forward: float
    stuck: float
    step: tuple
    failed: tuple


def examine(make, data, *, lr, momentum=0.9):
    """Put a network through points 1 to 4 of lesson 06b's checklist, and return an `Examination`.

    Parameters
    ----------
    make : function without arguments
        Returns the untrained network, anew and the same at each call; one that `signals` takes.
    data : pair (x, y)
        x (n, D), y (n,) int labels, n >= 10. The first 10 are learned by heart, the first 200 are sent through.
    lr : float > 0
    momentum : float in [0, 1)

    Raises
    ------
    ValueError
        If there are fewer than ten samples, or the network is of a kind that `signals` refuses.

    Source: the course's own.
    """
    x, y = data
    if len(x) < 10:
        raise ValueError(f"there are {len(x)} samples; ten are learned by heart, so give at least 10.")
    net = make()
    found = signals(net, x[:200], y[:200])
    result, rng = nn.evaluate(net, x, y), np.random.default_rng(0)
    forward = found[-1].output / found[0].output if found[0].output else 0.0
    tanh = any(layer.op == "tanh" for layer in list(net)[1:-1:2])
    stuck = max(s.saturated if tanh else s.idle for s in found)
    steps = [s.step(lr) for s in found]
    classes = net.forward(net.ops.to_backend(x[:1])).shape[1]
    pupil = make()
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            nn.train(pupil, (x[:10], y[:10]), epochs=100, batch_size=10, lr=lr, momentum=momentum, rng=rng,
                     progress=False)  # fmt: skip
        learned = int((pupil.predict(x[:10]) == y[:10]).sum())
    except nn.NotFiniteError:
        learned = 0
    passed = (
        learned == 10,
        abs(result.loss - np.log(classes)) < LOSS_ROOM,
        FORWARD[0] < forward < FORWARD[1] and stuck < STUCK,
        STEP[0] < min(steps) and max(steps) < STEP[1],
    )
    failed = tuple(point for point, well in enumerate(passed, start=1) if not well)
    return Examination(learned, result.loss, forward, stuck, (min(steps), max(steps)), failed)


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
    training, validation : tuple of float
        Accuracy on the training and on the validation digits in per cent, one number for each seed.

    Source: the course's own.
    """

    name: str
    training: tuple
    validation: tuple

    @property
    def mean(self):
        """The mean accuracy on the validation digits, in per cent."""
        return float(np.mean(self.validation))

    @property
    def range(self):
        """The least and the greatest accuracy on the validation digits, such as "92.3 to 93.5"."""
        return f"{min(self.validation):.1f} to {max(self.validation):.1f}"


def training_runs(part, *, folder=None):
    """Return {name: `Runs`} of a part of `results/training.json`: "scales", "inputs", "rules", "search" or "few".

    FileNotFoundError without that file, LookupError where it has no such part. Source: the course's own.
    """
    rows = _part(part, folder)
    return {row["name"]: Runs(row["name"], tuple(row["training"]), tuple(row["validation"])) for row in rows}


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


def warm_up_runs(*, folder=None):
    """Return {name: what each of so many deep networks reads after training at a high rate}, in per cent, by seed.

    0 where a network's numbers ran away. FileNotFoundError without `results/training.json`. Source: the course's own.
    """
    return {row["name"]: tuple(row["reads"]) for row in _part("warming", folder)}


def lead(runs, other):
    """Return (mean, uncertainty) of the lead of some trainings over others, in points, seed by seed.

    The uncertainty is that of the mean: the leads' standard deviation by the root of their number.

    Parameters
    ----------
    runs, other : Runs
        Trainings from the same seeds.

    Raises
    ------
    ValueError
        If one has more seeds than the other, or both have only one.

    Source: the course's own; comparing in pairs is Student's ("The Probable Error of a Mean", 1908).
    """
    leads = [a - b for a, b in zip(runs.validation, other.validation, strict=True)]
    if len(leads) < 2:
        raise ValueError("one seed says nothing about the others; a lead needs two or more.")
    return float(np.mean(leads)), float(np.std(leads, ddof=1) / np.sqrt(len(leads)))


@dataclass(frozen=True)
class Stranger:
    """A network drawn at random, which the checklist was not made from. Made by `strangers`.

    Attributes
    ----------
    name : str
        Its layers, its activation, its weights and its rate.
    failed : tuple of int
        The points of the checklist that it fails, as `Examination.failed`.
    reads : float
        Its accuracy on the validation digits after five epochs, in per cent; 0 where its numbers ran away.
    learns : bool
        Whether that is 80 or more.

    Source: the course's own.
    """

    name: str
    failed: tuple
    reads: float
    learns: bool


def strangers(*, folder=None):
    """Return the networks drawn at random that `tools/measure_training.py` examined and trained, a list of `Stranger`.

    FileNotFoundError without `results/training.json`. Source: the course's own.
    """
    rows = _part("strangers", folder)
    return [Stranger(row["name"], tuple(row["failed"]), row["reads"], row["learns"]) for row in rows]


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
