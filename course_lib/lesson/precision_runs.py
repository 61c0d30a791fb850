"""The experiments of lesson 17: training in small formats, the gradients on their way back, products and pruning.

Source: P. Micikevicius et al., "Mixed Precision Training" (2018); S. Han et al. (2015); A. Mishra et al. (2021).
"""

import copy
from dataclasses import dataclass

import numpy as np

from course_lib import nn
from course_lib import reference as ops
from course_lib.nn.init import glorot_normal
from course_lib.nn.pruning import Pruned, prune
from course_lib.reference.formats import split

HIDDEN = (64,) * 6
"""Hidden layers of the deep network: with sigmoids, so that gradients shrink on their way through it."""


@dataclass(frozen=True)
class PrecisionRun:
    """One training: its `History`, the accuracy on test data, and which share of the first layer's weights changed.

    Source: the course's own.
    """

    history: nn.History
    accuracy: float
    moved: float


def deep_sigmoid(rng, dtype=np.float32):
    """Return an MLP of six hidden layers of 64 sigmoids for digits. No errors. Source: the course's own."""
    return nn.models.mlp((784, *HIDDEN, 10), rng=rng, activation="sigmoid", init=glorot_normal, dtype=dtype)


def precision_runs(digits, ways, *, epochs=100, lr=0.02, seed=1):
    """Train the deep network with Adam on all training digits at once, one time for each way; equal first weights.

    Parameters
    ----------
    digits : data with x_train, y_train, x_test, y_test
    ways : dict
        Name -> options of `nn.train`, such as {"precision": "fp16", "loss_scale": 1}.
    epochs, lr, seed

    Returns
    -------
    dict of str to PrecisionRun

    Errors as `nn.train`. Source: Micikevicius et al. (2018), 3.2.
    """
    found = {}
    for name, options in ways.items():
        net = deep_sigmoid(np.random.default_rng(seed))
        before = net[0].params["w"].copy()
        history = nn.train(
            net, digits, epochs=epochs, batch_size=len(digits.x_train), lr=lr, optimiser=nn.Adam(net),
            rng=np.random.default_rng(seed), progress=False, **options,
        )  # fmt: skip
        accuracy = nn.evaluate(net, digits.x_test, digits.y_test).accuracy
        used = np.any(digits.x_train != 0, axis=0)  # weights of pixels that are never inked get no gradient
        found[name] = PrecisionRun(history, accuracy, float(np.mean((net[0].params["w"] != before)[used])))
    return found


def returning_gradients(digits, *, seed=1):
    """Return {layer: gradients (B, units)} that come back to each dense layer in the first step, in float64.

    Of the network and the batch of `precision_runs`. No errors. Source: Micikevicius et al. (2018), figure 3.
    """
    net = deep_sigmoid(np.random.default_rng(seed), dtype=np.float64)
    for layer in net:
        layer.use(ops)
    scores = net.forward(digits.x_train.astype(np.float64))
    _, cache = ops.softmax_cross_entropy_forward(scores, digits.y_train)
    back, found = ops.softmax_cross_entropy_backward(cache), {}
    for layer in reversed(net.layers):
        if isinstance(layer, nn.Dense):
            found[len(HIDDEN) + 1 - len(found)] = back
        back = layer.backward(back)
    return {f"layer {n}": found[n] for n in sorted(found)}


def split_products(A, B, name, parts):
    """Return (C, products): A @ B from numbers of a format, each of A and B cut into `parts`; small products left out.

    Of part i of A and part j of B only those with i + j < parts are multiplied, the smallest first. Errors as `split`.

    Parameters
    ----------
    A : (M, K) float32 array
    B : (K, N) float32 array
    name : str
    parts : int >= 1

    Returns
    -------
    C : (M, N) float32 array
    products : int

    Source: Ootomo and Yokota (2022).
    """
    left, right = split(A, name, parts), split(B, name, parts)
    pairs = sorted(((i, j) for i in range(parts) for j in range(parts - i)), key=lambda p: -sum(p))
    C = np.zeros((A.shape[0], B.shape[1]), np.float32)
    for i, j in pairs:
        C += left[i] @ right[j]
    return C, len(pairs)


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
