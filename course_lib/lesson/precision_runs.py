"""The experiments of lesson 17: training in small formats, the gradients on their way back, and pruning.

Source: P. Micikevicius et al., "Mixed Precision Training" (2018); S. Han et al. (2015); A. Mishra et al. (2021).
"""

import copy
from dataclasses import dataclass

import numpy as np

from course_lib import nn
from course_lib import reference as ops
from course_lib.nn.init import glorot_normal
from course_lib.nn.optimisers import Followed
from course_lib.nn.pruning import Pruned, prune
from course_lib.reference.formats import round_to

HIDDEN = (64,) * 6
"""Hidden layers of the deep network: with sigmoids, so that gradients shrink on their way through it."""

EPOCHS, LARGE_STEPS = 150, 75


def falling_rate(step):
    """Return the learning rate of a step: 0.01 at first, and 0.0003 from `LARGE_STEPS` on. No errors.

    Source: the course's own.
    """
    return 0.01 if step < LARGE_STEPS else 0.0003


@dataclass(frozen=True, eq=False)
class PrecisionRun:
    """One training: its `History`, the accuracy on test data, and which shares of the weights changed.

    Attributes
    ----------
    history : nn.History
    accuracy : float
    moved : float
        Share of the first layer's weights that are not what they were before the training.
    late : float
        Share of all weights that changed in the last epoch.
    reached : (epochs, layers) array
        Shares of each layer's weights that got a gradient other than zero.

    Source: the course's own.
    """

    history: nn.History
    accuracy: float
    moved: float
    late: float
    reached: np.ndarray


class WithoutMaster(Followed):
    """An optimiser whose network keeps its weights in a small format: another's step, then all parameters are rounded.

    Parameters
    ----------
    optimiser : Optimiser
        What makes the steps; what it remembers stays float32.
    name : str
        A name of `course_lib.reference.formats.FORMATS`.

    TypeError if optimiser is none. Source: Micikevicius et al. (2018), 3.1: what they advise against.
    """

    def __init__(self, optimiser, name):
        super().__init__(optimiser)
        self.format = name

    def follow(self):
        """Round all parameters."""
        for parameter in self.net.parameters().values():
            parameter[...] = round_to(parameter, self.format)


def deep_sigmoid(rng, dtype=np.float32):
    """Return an MLP of six hidden layers of 64 sigmoids for digits. No errors. Source: the course's own."""
    return nn.models.mlp((784, *HIDDEN, 10), rng=rng, activation="sigmoid", init=glorot_normal, dtype=dtype)


def precision_runs(digits, ways, *, epochs=EPOCHS, lr=falling_rate, seed=1):
    """Train the deep network with Adam on all training digits at once, one time for each way; equal first weights.

    Parameters
    ----------
    digits : data with x_train, y_train, x_test, y_test
    ways : dict
        Name -> options of `nn.train`, such as {"precision": "fp16", "loss_scale": 1}; and "kept": the name of a format
        in which the weights are kept, where they should not be float32.
    epochs : int
        Steps, too: an epoch is one batch.
    lr : float > 0, or function step -> rate
    seed : int

    Returns
    -------
    dict of str to PrecisionRun

    Errors as `nn.train`. Source: Micikevicius et al. (2018), 3.1 and 3.2.
    """
    return {name: _run(digits, dict(options), epochs, lr, seed) for name, options in ways.items()}


def _run(digits, options, epochs, lr, seed):
    net, kept = deep_sigmoid(np.random.default_rng(seed)), options.pop("kept", None)
    optimiser = nn.Adam(net) if kept is None else WithoutMaster(nn.Adam(net), kept)
    first, before_last, reached = net[0].params["w"].copy(), [], []
    inked = np.any(digits.x_train != 0, axis=0)  # weights of pixels that are never inked get no gradient

    def remember(epoch, history):
        gradients = [layer.grads["w"] for layer in _dense(net)]
        reached.append([float(np.mean(g != 0)) for g in (gradients[0][inked], *gradients[1:])])
        if epoch == epochs - 2:
            before_last.extend(layer.params["w"].copy() for layer in _dense(net))

    history = nn.train(
        net, digits, epochs=epochs, batch_size=len(digits.x_train), lr=lr, optimiser=optimiser, on_epoch=remember,
        rng=np.random.default_rng(seed), progress=False, **options,
    )  # fmt: skip
    moved = float(np.mean((net[0].params["w"] != first)[inked]))
    changed = [layer.params["w"] != w for layer, w in zip(_dense(net), before_last, strict=False)]
    if changed:
        changed[0] = changed[0][inked]
    late = float(np.mean(np.concatenate([c.ravel() for c in changed]))) if changed else 0.0
    accuracy = nn.evaluate(net, digits.x_test, digits.y_test).accuracy
    return PrecisionRun(history, accuracy, moved, late, np.array(reached))


def _dense(net):
    return [layer for layer in net.layers if isinstance(layer, nn.Dense)]


def returning_gradients(digits, *, seed=1):
    """Return {"sums z": ..., "weights": ...}, each {layer: gradients}, of the dense layers in the first step, float64.

    Of the network and the batch of `precision_runs`: for the sums one gradient a neuron and image (B, units), for the
    weights (inputs, units). No errors. Source: Micikevicius et al. (2018), figure 3.
    """
    net = deep_sigmoid(np.random.default_rng(seed), dtype=np.float64)
    for layer in net:
        layer.use(ops)
    scores = net.forward(digits.x_train.astype(np.float64))
    _, cache = ops.softmax_cross_entropy_forward(scores, digits.y_train)
    back, sums = ops.softmax_cross_entropy_backward(cache), []
    for layer in reversed(net.layers):
        if isinstance(layer, nn.Dense):
            sums.insert(0, back)
        back = layer.backward(back)
    weights = [layer.grads["w"] for layer in _dense(net)]
    found = {"sums z": sums, "weights": weights}
    return {of: {f"layer {n}": g for n, g in enumerate(each, start=1)} for of, each in found.items()}


def pruned_runs(net, digits, rules, *, epochs=3, lr=0.05, seed=0):
    """Prune copies of a trained network; return {name: (share of weights left, accuracy at once, accuracy after more)}.

    Parameters
    ----------
    net : Sequential
    digits : data with x_train, y_train, x_test, y_test
    rules : dict
        Name -> w -> mask, as `nn.pruning.prune` takes it.
    epochs, lr, seed
        Of the training after that, in which what is zero stays zero.

    Errors as `nn.train`. Source: Han et al. (2015), section 3.
    """
    found = {}
    for name, rule in rules.items():
        smaller = copy.deepcopy(net)
        masks = prune(smaller, rule)
        left = sum(float(m.sum()) for m in masks.values()) / sum(m.size for m in masks.values())
        at_once = nn.evaluate(smaller, digits.x_test, digits.y_test).accuracy
        optimiser = Pruned(nn.SGD(smaller, momentum=0.9), masks)
        nn.train(
            smaller, digits, epochs=epochs, batch_size=64, lr=lr, optimiser=optimiser,
            rng=np.random.default_rng(seed), progress=False,
        )  # fmt: skip
        found[name] = left, at_once, nn.evaluate(smaller, digits.x_test, digits.y_test).accuracy
    return found
